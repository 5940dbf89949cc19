"""Random samples of queries and documents. They depend on a seed and on the ids.

Document splits go back to Voorhees, Samarov and Soboroff, Using replicates in information retrieval
evaluation (2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.core.checks import Integer, check_value
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.seeds import query_key
from rankgauge.data.model import Judgments, encode
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import Qrels, judgments_of
from rankgauge.query_sets.model import QuerySet, SelectionSize


def query_sample(
    queries: Iterable[str],
    *,
    number: int | None = None,
    share: float | None = None,
    seed: int = SEED,
) -> QuerySet:
    """Draw a random sample of queries, without replacement.

    The sample depends on the seed and the ids, not on the order of the ids. With the same seed, a
    larger sample contains the smaller one.

    Parameters
    ----------
    queries : iterable of str
        The ids to draw from.
    number : int, optional
        How many queries to draw. Give exactly one of `number` and `share`.
    share : float, optional
        Which share of the queries to draw.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    QuerySet
        The drawn queries, in their original order.

    Raises
    ------
    RankgaugeError
        If not exactly one of `number` and `share` is given, or if `queries` is one string.

    Examples
    --------
    >>> query_sample(["q1", "q2", "q3", "q4"], share=0.5)
    QuerySet sample: 2 queries
    """
    if (number is None) == (share is None):
        raise RankgaugeError("give exactly one of number and share")
    choice = SelectionSize(number, share)
    seed = check_value("seed", seed, SEEDS)
    if isinstance(queries, str):
        raise RankgaugeError(f"{queries!r} is a single string, expected several query ids")
    ids = list(dict.fromkeys(queries))
    return QuerySet("sample", draw_queries(ids, choice.size(len(ids)), seed))


def draw_queries(queries: Sequence[str], size: int, seed: int) -> tuple[str, ...]:
    """A sample of `size` of these queries, in their order."""
    if size == len(queries):
        return tuple(queries)
    drawn = set(sorted(queries, key=lambda query: query_key(seed, encode(query)))[:size])
    return tuple(query for query in queries if query in drawn)


def document_splits(qrels: Qrels, ways: int = 2, seed: int = SEED) -> tuple[Judgments, ...]:
    """Split judgments at random, with each document of a query in exactly one part.

    The parts of a query differ by at most one judged document. Pooled documents without a judgment
    are also spread over the parts. The part of a document depends on the seed and on the ids of the
    query and the document, not on their order. Every part has all queries, so that scores on the
    parts can be compared; a query may have no document in a part. `evaluate(...,
    unjudged="condensed")` scores each part as if the other documents did not exist.

    Parameters
    ----------
    qrels : judgments
        The judgments, in any form that `evaluate` takes.
    ways : int, default 2
        The number of parts.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    tuple of Judgments
        The parts.

    Examples
    --------
    >>> document_splits({"q1": {"a": 2, "b": 0, "c": 1, "d": 0}, "q2": {"a": 1, "b": 0}})
    (Judgments: 2 queries, 3 judgments, Judgments: 2 queries, 3 judgments)
    """
    ways = check_value("ways", ways, Integer(2))
    seed = check_value("seed", seed, SEEDS)
    judgments = judgments_of(qrels)
    part = np.zeros(len(judgments.grades), dtype=np.int64)
    ids = list(judgments.documents)
    pooled = (~judgments.judged).tolist()
    bounds = judgments.bounds.tolist()
    for q, query in enumerate(judgments.queries):
        keys = {
            row: (pooled[row], query_key(seed, b"%b\0%b" % (query, ids[row])))
            for row in range(bounds[q], bounds[q + 1])
        }
        first = int.from_bytes(query_key(seed, query)[:8], "little")
        for place, row in enumerate(sorted(keys, key=keys.__getitem__)):
            part[row] = (first + place) % ways
    return tuple(
        judgments.part(np.flatnonzero(part == p), f"{judgments.source}, part {p + 1} of {ways}")
        for p in range(ways)
    )

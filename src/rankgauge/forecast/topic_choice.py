"""Which queries to judge deeply: a random query from each of some strata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.seeds import digest, query_key
from rankgauge.data.model import Judgments, encode
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import Qrels, judgments_of
from rankgauge.rankings.lists import segment_count


def choose_queries(
    qrels_or_counts: Qrels | Mapping[str, float],
    m: int,
    seed: int = SEED,
    without: Iterable[str] = (),
) -> tuple[str, ...]:
    """Draw the queries to judge deeply, spread from few to many relevant documents.

    The queries are sorted by their number of relevant documents in the shallow judgments, and
    split into `m` strata. One query is drawn from each stratum.

    Parameters
    ----------
    qrels_or_counts : Judgments, mapping or file
        The shallow judgments, or the number of relevant documents of each query.
    m : int
        Number of queries to draw.
    seed : int, default 0
        Seed of the random number generator.
    without : iterable of str, optional
        Queries that must not be drawn, such as the queries of a pilot. Together with a pilot that
        was drawn with this function, every query still has the same probability. By default, every
        query can be drawn.

    Returns
    -------
    tuple of str
        The ids of the queries.

    Raises
    ------
    RankgaugeError
        If there are fewer than `m` queries to draw from, or if `without` has an unknown query.

    Notes
    -----
    Each of the M queries is drawn with the same probability m/M, even if M is not divisible by m
    (Deville 1998). The draw depends on the seed, the ids and the counts, but not on the order of
    the queries.

    Examples
    --------
    >>> choose_queries({"q1": 3, "q2": 40, "q3": 5, "q4": 31}, 2)
    ('q1', 'q2')
    """
    counts = _counts(qrels_or_counts)
    m = check_value("m", m, Integer(1))
    seed = check_value("seed", seed, SEEDS)
    if isinstance(without, str):
        raise RankgaugeError(f"without={without!r} is a single string, expected a list of queries")
    for topic in set(without):
        if counts.pop(topic, None) is None:
            raise RankgaugeError(f"without: no query {topic!r}, expected queries to choose from")
    if m > len(counts):
        raise RankgaugeError(
            f"m={m}, expected at most {len(counts)}, the number of queries to choose from"
        )
    keys = {topic: query_key(seed, encode(topic)) for topic in counts}
    topics = sorted(counts, key=lambda topic: (counts[topic], keys[topic], topic))
    # Random numbers that follow from the seed and the ids, in whatever order they are.
    ids = b"\0".join(sorted(encode(topic) for topic in topics))
    key = int.from_bytes(digest(b"%d\0%b" % (seed, ids), size=16), "big")
    drawn = _draw_one_per_stratum(len(topics), m, np.random.default_rng(key))
    return tuple(topics[place] for place in drawn)


def relevant_counts(judgments: Judgments) -> dict[str, int]:
    """For each query, how many of its documents have a grade of 1 or more."""
    counts = segment_count(judgments.grades > 0, judgments.bounds)
    return dict(zip(judgments.queries.texts(), counts.tolist(), strict=True))


def _counts(qrels_or_counts: Any) -> dict[str, float]:
    """The number of relevant documents of each query."""
    if isinstance(qrels_or_counts, Mapping) and all(
        isinstance(value, int | float | np.number) for value in qrels_or_counts.values()
    ):
        kind = Number(0)
        counts = {
            str(topic): float(check_value(f"relevant documents of query {topic!r}", value, kind))
            for topic, value in qrels_or_counts.items()
        }
    else:
        counts = dict(relevant_counts(judgments_of(qrels_or_counts)))
    if not counts:
        raise RankgaugeError("no queries, expected at least one to choose from")
    return counts


def _draw_one_per_stratum(topics: int, strata: int, random: np.random.Generator) -> list[int]:
    """The place of one query in each stratum of equal width; each has the chance strata / queries.

    The k-th query covers the part from k to k + 1 of a line of length `topics`, which is cut into strata
    of equal length. A query at a border belongs to two strata, in shares. If the first of them drew it,
    the second does not draw it again. If not, its chance in the second grows, so that in all it has the
    chance of every other query.
    """
    drawn: list[int] = []
    for stratum in range(strata):
        # In units of 1 / strata of a query everything is a whole number.
        start, end = stratum * topics, (stratum + 1) * topics
        first, last = start // strata, (end - 1) // strata
        shares = np.array(
            [
                min(end, (place + 1) * strata) - max(start, place * strata)
                for place in range(first, last + 1)
            ],
            dtype=np.float64,
        )
        shares /= topics
        before = start / topics - first * strata / topics
        if before > 0:  # the first query lies at a border
            here = 0.0
            if not drawn or drawn[-1] != first:
                here = shares[0] / (1 - before)
            others = shares[1:] * ((1 - here) / (1 - shares[0]))
            shares = np.concatenate(([here], others))
        edges = np.cumsum(shares)
        place = int(np.searchsorted(edges, random.random() * edges[-1], side="right"))
        drawn.append(first + min(place, len(shares) - 1))
    return drawn

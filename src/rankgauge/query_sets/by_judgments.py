"""Sets of queries chosen by the judgments alone: broad and focused queries.

The two are those of Feng and Karmaker, Joint upper & expected value normalization for evaluation of
retrieval systems (2023).
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.policies import BROAD_LABEL, BROAD_SHARE, SEED, SEEDS
from rankgauge.evaluation.inputs import Qrels, judgments_of
from rankgauge.query_sets.model import Exclusion, QuerySet, list_exclusions
from rankgauge.query_sets.samples import draw_queries
from rankgauge.rankings.lists import segment_count


def broad(
    qrels: Qrels,
    *,
    share: float = BROAD_SHARE,
    label: int = BROAD_LABEL,
    balanced: bool = False,
    seed: int = SEED,
) -> QuerySet:
    """Select the queries with many highly relevant documents.

    All other queries are `focused`, including those with nothing relevant. A query without judged
    documents is neither broad nor focused.

    Parameters
    ----------
    qrels : judgments
        The judgments, in any form that `evaluate` takes.
    share : float, default 0.5
        A query is broad if at least this share of its judged documents is highly relevant.
    label : int, default 2
        A document is highly relevant if it has at least this label.
    balanced : bool, default False
        Whether to make the sets the same size, by sampling from the larger one.
    seed : int, default 0
        Seed of the random number generator. The sample also depends on the query ids.

    Returns
    -------
    QuerySet
        The broad queries.

    Examples
    --------
    >>> qrels = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}}
    >>> broad(qrels).queries, focused(qrels).queries
    (('q1',), ('q2', 'q3'))
    """
    return _split_by_breadth(qrels, share, label, balanced, seed)[0]


def focused(
    qrels: Qrels,
    *,
    share: float = BROAD_SHARE,
    label: int = BROAD_LABEL,
    balanced: bool = False,
    seed: int = SEED,
) -> QuerySet:
    """Select the judged queries that are not `broad`.

    Parameters
    ----------
    qrels : judgments
        The judgments, in any form that `evaluate` takes.
    share : float, default 0.5
        A query is broad if at least this share of its judged documents is highly relevant.
    label : int, default 2
        A document is highly relevant if it has at least this label.
    balanced : bool, default False
        Whether to make the sets the same size, by sampling from the larger one.
    seed : int, default 0
        Seed of the random number generator. The sample also depends on the query ids.

    Returns
    -------
    QuerySet
        The focused queries.

    Examples
    --------
    >>> qrels = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}}
    >>> focused(qrels, balanced=True)
    QuerySet focused: 1 query (excluded: 1 with dropped to give both sets the same size)
    """
    return _split_by_breadth(qrels, share, label, balanced, seed)[1]


def _split_by_breadth(
    qrels: Qrels, share: float, label: int, balanced: bool, seed: int
) -> tuple[QuerySet, QuerySet]:
    check_value("share", share, Number(0, 1))
    label = check_value("label", label, Integer(0))
    seed = check_value("seed", seed, SEEDS)
    judgments = judgments_of(qrels)
    documents = segment_count(judgments.judged, judgments.bounds)
    labeled = segment_count(judgments.grades >= label, judgments.bounds)
    queries = judgments.queries.texts()
    nothing = list_exclusions({"nothing judged": documents == 0})
    is_broad = labeled / np.maximum(documents, 1) >= share
    sets = [
        [query for query, chosen in zip(queries, which.tolist(), strict=True) if chosen]
        for which in (is_broad & (documents > 0), ~is_broad & (documents > 0))
    ]
    size = min(map(len, sets)) if balanced else max(map(len, sets))
    both = []
    for name, ids in zip(("broad", "focused"), sets, strict=True):
        kept = draw_queries(ids, min(size, len(ids)), seed)
        reasons = nothing
        if rest := len(ids) - len(kept):
            reasons += (Exclusion("dropped to give both sets the same size", rest),)
        both.append(QuerySet(name, kept, reasons))
    return both[0], both[1]

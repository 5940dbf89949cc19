"""How far the measures agree, how well each tells the runs apart, and which orders are settled."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from rankgauge.comparison.assessment import assess
from rankgauge.comparison.correlation import kendall_tau_b
from rankgauge.core.arrays import Floats
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import SPLITS, Ordered
from rankgauge.core.rounding import round_values
from rankgauge.data.model import Judgments
from rankgauge.distance.settling import settled
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.scored import Scored
from rankgauge.report.content import DIRECTIONS, OmissionLog, order_of
from rankgauge.report.page_data import PageAgreement, PagePower, PageSwaps, to_short_lists
from rankgauge.report.rankings import Head, ties_of
from rankgauge.scores.model import Scores

DEEPEST = 20
"""Orders are settled by measures that look at no more than so many documents."""
MOST_LISTS = 13_000
"""Orders are settled for at most so many lists, over all measures: a few seconds."""
MOST_SPLITS = 60_000_000
"""How many pairs of runs, times splits of the queries, swap rates are counted over at most."""
FEWEST_SPLITS = 100


def measure_agreement(scores: Scores, means: Floats) -> PageAgreement | None:
    """τ-b between the rankings of the runs by every two measures; `means` is measure × run."""
    if len(scores.measures) < 2 or len(scores.runs) < 2:
        return None
    signs = [DIRECTIONS[inner(measure).direction] or 1 for measure in scores.measures]
    merits = [
        round_values(sign * row, np.abs(row).max()) for sign, row in zip(signs, means, strict=True)
    ]
    tau = np.full((len(merits), len(merits)), np.nan)
    for i, one in enumerate(merits):
        for j, other in enumerate(merits):
            if not (np.isnan(one).any() or np.isnan(other).any()):
                tau[i, j] = kendall_tau_b(one, other)
    return {"measures": [str(measure) for measure in scores.measures], "tau": to_short_lists(tau)}


def power_and_swaps(
    scores: Scores, level: float, left: OmissionLog
) -> tuple[list[PagePower] | None, list[PageSwaps] | None]:
    """Count, for each measure, significant differences and opposite orders of two runs.

    The first list says how many differences are significant. The second list says how often two halves
    of the queries put two runs in opposite orders. `low` and `high` are the limits of the middle 95% (or
    `level`) of the splits; there a tie counts as half a swap.
    """
    if len(scores.runs) < 2:
        return None, None
    pairs = len(scores.runs) * (len(scores.runs) - 1) // 2
    splits = min(SPLITS, max(FEWEST_SPLITS, MOST_SPLITS // (pairs * len(scores.measures))))
    if pairs * len(scores.measures) * FEWEST_SPLITS > MOST_SPLITS:
        left.add(
            f"Swap rates are omitted, because there are {count_phrase(pairs, 'pair')} of runs."
        )
        splits = 0
    elif splits < SPLITS:
        left.add(f"Swap rates are based on {splits:,} splits of the queries instead of {SPLITS:,}.")
    power: list[PagePower] = []
    swaps: list[PageSwaps] = []
    for measure in scores.measures:
        try:
            result = assess(scores.select(measures=[measure]), level=level, splits=splits)
        except RankgaugeError as error:
            left.add(f"Discriminative power and swap rate of {measure} are omitted: {error}.")
            continue
        (assessed,) = result.parts["all"].values()
        significant = int(np.count_nonzero(assessed.significant))
        power.append(
            {
                "measure": str(measure),
                "significant": significant,
                "pairs": pairs,
                "share": assessed.power,
            }
        )
        if assessed.splits is not None:
            rate = (1 - assessed.splits.tau) / 2
            ends = np.quantile(rate, [(1 - level) / 2, (1 + level) / 2])
            mean, low, high = to_short_lists(np.array([assessed.splits.swap_rate, *ends]))
            swaps.append({"measure": str(measure), "rate": mean, "low": low, "high": high})
    return power or None, swaps or None


def settled_orders(
    scores: Scores, judgments: Judgments, heads: Sequence[Head], means: Floats, left: OmissionLog
) -> list[list[bool] | None]:
    """Return, for each measure, whether each run is certain to stay above the next run.

    The runs are taken from best to worst. It is certain if it is so however the unjudged documents are
    judged. The answer is None for a measure where this is not computed.
    """
    none: list[list[bool] | None] = [None] * len(scores.measures)
    policies = scores.policies
    usual = (
        policies.missing == "zero"
        and policies.unjudged == "nonrelevant"
        and policies.standardized is None
        and policies.tail is None
        and judgments.subtopics is None
        and ties_of(policies) in get_args(Ordered)
        and len(scores.queries) == len(judgments.queries)
    )
    if not usual or len(heads) < 2:
        return none
    result: list[list[bool] | None] = []
    lists = 0
    for measure, row in zip(scores.measures, means, strict=True):
        reason = _reason_left_out(measure)
        if reason is None and lists + len(heads) * len(scores.queries) > MOST_LISTS:
            reason = "there are many rankings, so it would take long"
        if reason is None:
            lists += len(heads) * len(scores.queries)
            result.append(_find_settled_neighbors(scores, judgments, heads, row, measure, left))
        else:
            left.add(
                f"Settled orders by {measure} are omitted: {reason}; try `rankgauge distance "
                f"--settled -m {shlex.quote(str(measure))}`."
            )
            result.append(None)
    return result


def _reason_left_out(measure: Scored | Aggregate) -> str | None:
    """Why settled orders by a measure are not computed, if so."""
    if not isinstance(measure, Measure):
        return "it is not a mean over queries"
    if measure.depth is None:
        return "it has no cutoff, so it would take long"
    if measure.depth > DEEPEST:
        return f"it uses the first {measure.depth} documents, so it would take long"
    if measure.own_ties is not None:
        return "it averages over tied scores"
    answers = measure.answers()
    if answers["distance"] != "exact" or answers["bounds"] != "exact":
        return "there is no fast algorithm for it"
    return None


def _find_settled_neighbors(
    scores: Scores,
    judgments: Judgments,
    heads: Sequence[Head],
    means: Floats,
    measure: Any,
    left: OmissionLog,
) -> list[bool] | None:
    """Which neighbors are settled by one measure."""
    runs = [head.run for head in heads]
    try:
        result = settled(
            judgments, runs, measure, max_grade=scores.policies.max_grade, pairs="neighbors"
        )
    except RankgaugeError as error:
        left.add(f"Settled orders by {measure} are omitted: {error}.")
        return None
    sure = {
        frozenset(pair)
        for pair, is_settled in zip(result.pairs.tolist(), result.is_settled.tolist(), strict=True)
        if is_settled
    }
    order = order_of(means, DIRECTIONS[measure.direction])
    return [frozenset(pair) in sure for pair in pairwise(order)]


def needed_depth(scores: Scores) -> int:
    """How many first documents of each run the settled orders need."""
    depths = [getattr(measure, "depth", None) or 0 for measure in scores.measures]
    return max((depth for depth in depths if depth <= DEEPEST), default=0)

"""Experimental measures of trec_eval, from its source."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.average_precision import sum_of_precisions
from oracles.labels import Gain, Labels, count_relevant, gain_of, is_relevant, top


def binary_g(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """(1/R) sum over retrieved relevant of 1/log2(2 + others above)."""
    total, others = 0.0, 0
    for label in top(ranking, k):
        if is_relevant(label, rel):
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    relevant = count_relevant(judged, rel)
    return total / relevant if relevant else 0.0


def smoothed(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """ln((1 + SP) / (1 + R - SP))."""
    total = sum_of_precisions(ranking, judged, max_grade, k, rel=rel)
    return math.log((1 + total) / (1 + count_relevant(judged, rel) - total))


def ideal_gains(judged: Labels, gain: Gain, max_grade: int) -> list[float]:
    """The positive gains, highest first."""
    values = [gain_of(label, gain, max_grade) for label in judged]
    return sorted((value for value in values if value > 0), reverse=True)


def dcg(values: list[float], depth: int) -> float:
    return sum(value / math.log2(i + 1) for i, value in enumerate(values[:depth], 1))


def normalized_gain(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, gain: Gain = "linear"
) -> float:
    """Gains over log2(2 + cost - gained), over the sum of the ideal gains."""
    ideal = ideal_gains(judged, gain, max_grade)
    total = cost = gained = 0.0
    for i, label in enumerate(ranking):
        value = gain_of(label, gain, max_grade)
        gained += value
        cost += max(ideal[i] if i < len(ideal) else 0.0, 1.0)
        if value:
            total += value / math.log2(2 + cost - gained)
    return total / sum(ideal) if ideal else 0.0


def at_relevant(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, gain: Gain = "linear"
) -> float:
    """nDCG at the rank of each document with a gain, averaged; at the end for those not retrieved."""
    ideal = ideal_gains(judged, gain, max_grade)
    values = [gain_of(label, gain, max_grade) for label in ranking]
    if not ideal:
        return 0.0
    ranks = [i for i, value in enumerate(values, 1) if value > 0]
    total = sum(dcg(values, i) / dcg(ideal, i) for i in ranks)
    total += (len(ideal) - len(ranks)) * dcg(values, len(values)) / dcg(ideal, len(ideal))
    return total / len(ideal)


def at_gain_levels(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, gain: Gain = "linear"
) -> float:
    """nDCG at the last rank of each level of gain in the ideal, and at the end, averaged."""
    ideal = ideal_gains(judged, gain, max_grade)
    values = [gain_of(label, gain, max_grade) for label in ranking]
    if not ideal:
        return 0.0
    depths = [i for i in range(1, len(ideal) + 1) if i == len(ideal) or ideal[i] != ideal[i - 1]]
    if len(values) > len(ideal) + 1:
        depths.append(len(values))
    return sum(dcg(values, depth) / dcg(ideal, depth) for depth in depths) / len(depths)


SCORES: dict[str, Callable[..., float]] = {
    "binG": binary_g,
    "yaap": smoothed,
    "G": normalized_gain,
    "ndcg_rel": at_relevant,
    "ndcg_levels": at_gain_levels,
}

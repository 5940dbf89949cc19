"""Discounted cumulative gain and what is made of it, from the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Gain, Labels, discount_at, discounted_sum, gain_of, required, top


def cumulated_gain(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
) -> float:
    """CG@k = sum_{i<=k} g_i."""
    return math.fsum(gain_of(label, gain, max_grade) for label in top(ranking, k))


def dcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """DCG@k = sum_{i<=k} discount(i) * g_i."""
    gains = [gain_of(label, gain, max_grade) for label in top(ranking, k)]
    return discounted_sum(gains, discount)


def ideal_dcg(
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """IDCG@k: DCG of the positive judged gains in descending order, cut at k."""
    gains = [gain_of(label, gain, max_grade) for label in judged]
    best = sorted((g for g in gains if g > 0), reverse=True)
    if k is not None:
        best = best[:k]
    return discounted_sum(best, discount)


def ndcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """nDCG@k = DCG@k / IDCG@k; 0 when IDCG@k = 0."""
    ideal = ideal_dcg(judged, max_grade, k, gain, discount)
    if ideal == 0:
        return 0.0
    return dcg(ranking, judged, max_grade, k, gain, discount) / ideal


def letor_ndcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int,
    gain: Gain = "exp2",
    discount: str = "log_2",
) -> float:
    """nDCG@k of a query with at least k judged documents, else 0."""
    return 0.0 if len(judged) < k else ndcg(ranking, judged, max_grade, k, gain, discount)


def scaled_dcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """SDCG@k = DCG@k / sum_{i<=k} discount(i)."""
    k = required(k)
    scale = math.fsum(discount_at(i, discount) for i in range(1, k + 1))
    return dcg(ranking, judged, max_grade, k, gain, discount) / scale


def chance_normalized_dcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """(nDCG - E)/(1 - E), E the mean of nDCG over all orders of the judged documents; 0 if E = 1.

    Every document is equally likely at every rank, so E has the mean gain at each rank.
    """
    ideal = ideal_dcg(judged, max_grade, k, gain, discount)
    if ideal == 0:
        return 0.0
    mean = math.fsum(gain_of(label, gain, max_grade) for label in judged) / len(judged)
    chance = discounted_sum([mean] * len(top(judged, k)), discount) / ideal
    if chance > 1 - 1e-12:
        return 0.0
    return (ndcg(ranking, judged, max_grade, k, gain, discount) - chance) / (1 - chance)


SCORES: dict[str, Callable[..., float]] = {
    "CG": cumulated_gain,
    "DCG": dcg,
    "nDCG": ndcg,
    "nDCG_LETOR": letor_ndcg,
    "SDCG": scaled_dcg,
    "RNDCG": chance_normalized_dcg,
}

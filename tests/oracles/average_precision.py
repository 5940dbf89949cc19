"""Sums of precisions at the relevant ranks, from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Labels, count_relevant, is_relevant, required, top


def sum_of_precisions(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """SP@k = sum over the relevant ranks i <= k of P@i."""
    terms = []
    for i, label in enumerate(top(ranking, k), 1):
        if is_relevant(label, rel):
            terms.append(count_relevant(ranking[:i], rel) / i)
    return math.fsum(terms)


def scaled_sum_of_precisions(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """SSP@k = SP@k / k."""
    k = required(k)
    return sum_of_precisions(ranking, judged, max_grade, k, rel) / k


def average_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    norm: str = "R",
) -> float:
    """AP@k = SP@k / norm, norm being R, min(k, R) or k; 0 when R = 0."""
    r = count_relevant(judged, rel)
    if norm == "R":
        divisor = r
    elif norm == "min":
        divisor = r if k is None else min(k, r)
    elif norm == "k":
        divisor = required(k)
    else:
        raise ValueError(f"unknown norm {norm!r}")
    if r == 0:
        return 0.0
    return sum_of_precisions(ranking, judged, max_grade, k, rel) / divisor


SCORES: dict[str, Callable[..., float]] = {
    "AP": average_precision,
    "SP": sum_of_precisions,
    "SSP": scaled_sum_of_precisions,
}

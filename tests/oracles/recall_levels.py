"""Precision at levels of recall, straight from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

from oracles.labels import Labels, count_relevant, forbidden


def documents_for(level: float, r: int, rounding: str) -> int:
    """How many of R relevant documents make this level of recall."""
    if rounding == "ninetenths":
        return int(level * r + 0.9)
    if rounding == "nearest":
        return int(Decimal(level * r).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    raise ValueError(f"unknown rounding {rounding!r}")


def interpolated_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: float | None,
    rel: int = 1,
    rounding: str = "ninetenths",
) -> float:
    """The highest P@i over the ranks i that hold enough relevant documents down to them."""
    if k is None:
        raise ValueError("this measure needs a level of recall")
    wanted = documents_for(k, count_relevant(judged, rel), rounding)
    best = 0.0
    for i in range(1, len(ranking) + 1):
        found = count_relevant(ranking[:i], rel)
        if found >= wanted:
            best = max(best, found / i)
    return best


def eleven_point_average(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    rounding: str = "ninetenths",
) -> float:
    """The mean of the interpolated precisions at recall 0, 0.1, ..., 1."""
    forbidden(k)
    levels = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    return (
        math.fsum(
            interpolated_precision(ranking, judged, max_grade, level, rel, rounding)
            for level in levels
        )
        / 11
    )


SCORES: dict[str, Callable[..., float]] = {
    "IPrec": interpolated_precision,
    "ElevenPoint": eleven_point_average,
}

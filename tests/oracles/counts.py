"""Counts, from their definitions."""

from __future__ import annotations

from collections.abc import Callable

from oracles.labels import Labels, count_nonrelevant, count_relevant, top


def number_retrieved(ranking: Labels, judged: Labels, max_grade: int, k: int | None) -> float:
    return float(len(top(ranking, k)))


def number_relevant(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    return float(count_relevant(judged, rel))


def number_relevant_retrieved(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    return float(count_relevant(top(ranking, k), rel))


def number_nonrelevant_retrieved(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    return float(count_nonrelevant(top(ranking, k), rel))


def unjudged(ranking: Labels, judged: Labels, max_grade: int, k: int | None) -> float:
    assert k is not None
    return sum(label < 0 for label in top(ranking, k)) / k


SCORES: dict[str, Callable[..., float]] = {
    "NumRet": number_retrieved,
    "NumRel": number_relevant,
    "NumRelRet": number_relevant_retrieved,
    "NumNonRelRet": number_nonrelevant_retrieved,
    "Unjudged": unjudged,
}

"""Precision, recall, and where the first relevant document is, from their definitions."""

from __future__ import annotations

from collections.abc import Callable

from oracles.labels import Labels, count_relevant, forbidden, is_relevant, required, top


def precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """P@k = hits / k, also when fewer than k documents are ranked."""
    k = required(k)
    return count_relevant(top(ranking, k), rel) / k


def recall(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """Recall@k = hits / R; 0 when R = 0."""
    r = count_relevant(judged, rel)
    if r == 0:
        return 0.0
    return count_relevant(top(ranking, k), rel) / r


def reciprocal_rank(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """RR@k = 1 / rank of the first relevant document; 0 if none is in the top k."""
    for i, label in enumerate(top(ranking, k), 1):
        if is_relevant(label, rel):
            return 1.0 / i
    return 0.0


def success(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """Success@k = 1 if a relevant document is in the top k, else 0."""
    return 1.0 if count_relevant(top(ranking, k), rel) > 0 else 0.0


def r_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    times: float = 1.0,
) -> float:
    """Rprec = relevant documents in the top c / c, c = times * R + 0.9 cut to a whole number.

    c is R where `times` is 1. 0 when c = 0.
    """
    forbidden(k)
    c = int(times * count_relevant(judged, rel) + 0.9)
    if c == 0:
        return 0.0
    return count_relevant(ranking[:c], rel) / c


def judged_share(ranking: Labels, judged: Labels, max_grade: int, k: int | None) -> float:
    """Judged@k = the judged share of the documents in the top k; 0 for an empty ranking."""
    if len(ranking) == 0:
        return 0.0
    return sum(1 for label in top(ranking, k) if label >= 0) / len(top(ranking, k))


SCORES: dict[str, Callable[..., float]] = {
    "P": precision,
    "Recall": recall,
    "RR": reciprocal_rank,
    "Success": success,
    "Rprec": r_precision,
    "Judged": judged_share,
}

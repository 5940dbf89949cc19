"""Rank-biased overlap and compatibility, from their definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from oracles.labels import Labels


def rank_biased_overlap(a: list[object], b: list[object], p: float, k: int | None) -> float:
    """Sum over depths d <= k of p^(d-1) * |common in the top d| / d, over the sum of p^(d-1)."""
    both = max(len(a), len(b))
    last = both if k is None else k
    terms = [p ** (d - 1) * len(set(a[:d]) & set(b[:d])) / d for d in range(1, last + 1)]
    if k is not None:
        return math.fsum(terms) / math.fsum(p ** (d - 1) for d in range(1, k + 1))
    # All depths: sum_{d>=1} p^(d-1)/d = -ln(1 - p)/p, and beyond both lists nothing new is common.
    beyond = -math.log(1 - p) / p - math.fsum(p ** (d - 1) / d for d in range(1, both + 1))
    return (1 - p) * (math.fsum(terms) + len(set(a) & set(b)) * beyond)


def compatibility(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    p: float = 0.95,
    normalize: str = "yes",
) -> float:
    """The largest overlap of the ranking with an ideal ranking, over that of the ideal with itself.

    An ideal ranking has the documents of grade 1 and above by grade, in any order within a grade.
    """
    retrieved = [(label, f"d{i}") for i, label in enumerate(ranking)]
    unretrieved = list(judged)
    for label in ranking:
        if label >= 0:
            unretrieved.remove(label)
    everything = retrieved + [(label, f"u{i}") for i, label in enumerate(unretrieved)]
    shown = [name for _, name in retrieved][:k]
    ideal: list[object] = []
    for grade in range(max(judged, default=0), 0, -1):
        of_grade = [name for label, name in everything if label == grade]
        ideal += [name for name in shown if name in of_grade]
        ideal += [name for name in of_grade if name not in shown]
    if not ideal:
        return 0.0
    overlap = rank_biased_overlap(list(shown), ideal, p, k)
    return overlap / rank_biased_overlap(ideal, ideal, p, k) if normalize == "yes" else overlap


def most_similar(ranking: list[str], by_grade: list[list[str]], p: float, k: int | None) -> float:
    """The largest overlap with any ideal ranking, every order within the grades tried."""
    orders = itertools.product(*(itertools.permutations(group) for group in by_grade))
    return max(
        rank_biased_overlap(list(ranking), [d for group in order for d in group], p, k)
        for order in orders
    )


SCORES: dict[str, Callable[..., float]] = {
    "compat": compatibility,
}

"""Accuracy, from its definition."""

from __future__ import annotations

from collections.abc import Callable

from oracles.labels import Labels, is_relevant, top


def accuracy(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """Of all pairs of a relevant and another document of the top k, those with the relevant one first.

    Without a pair, whether there is a relevant document at all.
    """
    seen = [is_relevant(label, rel) for label in top(ranking, k)]
    pairs = [
        (i, j) for i, good in enumerate(seen) if good for j, other in enumerate(seen) if not other
    ]
    if not pairs:
        return 1.0 if any(seen) else 0.0
    return sum(1 for i, j in pairs if i < j) / len(pairs)


SCORES: dict[str, Callable[..., float]] = {
    "Accuracy": accuracy,
}

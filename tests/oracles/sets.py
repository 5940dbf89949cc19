"""Measures of retrieved sets, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Labels, count_relevant, forbidden, required, top
from oracles.precision import precision, recall


def set_precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """Relevant retrieved / retrieved; 0 for an empty ranking."""
    forbidden(k)
    if not ranking:
        return 0.0
    return count_relevant(ranking, rel) / len(ranking)


def harmonic(p: float, r: float, beta: float) -> float:
    """(1 + beta^2) * p * r / (beta^2 * p + r); 0 where nothing is found."""
    if p == 0 or r == 0:
        return 0.0
    return (1 + beta * beta) * p * r / (beta * beta * p + r)


def set_f(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    beta: float = 1.0,
) -> float:
    """The harmonic mean of set precision and recall."""
    forbidden(k)
    p = set_precision(ranking, judged, max_grade, None, rel)
    return harmonic(p, recall(ranking, judged, max_grade, None, rel), beta)


def f_measure(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    beta: float = 1.0,
) -> float:
    """The harmonic mean of P@k and Recall@k."""
    p = precision(ranking, judged, max_grade, k, rel)
    return harmonic(p, recall(ranking, judged, max_grade, k, rel), beta)


def set_average_precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """Set precision times recall."""
    p = set_precision(ranking, judged, max_grade, k, rel)
    return p * recall(ranking, judged, max_grade, None, rel)


def relative(hits: int, places: int, r: int) -> float:
    """hits / min(places, R); 0 where that is 0."""
    return hits / min(places, r) if places > 0 and r > 0 else 0.0


def set_relative_precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """Set precision over the highest that a set of this size can have."""
    forbidden(k)
    return relative(count_relevant(ranking, rel), len(ranking), count_relevant(judged, rel))


def relative_precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """P@k over the highest possible P@k."""
    k = required(k)
    return relative(count_relevant(top(ranking, k), rel), k, count_relevant(judged, rel))


def utility(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    found: float = 1.0,
    noise: float = -1.0,
    missed: float = 0.0,
    rejected: float = 0.0,
    documents: int = 0,
) -> float:
    """The four cells of the contingency table, each times its weight."""
    forbidden(k)
    a = count_relevant(ranking, rel)
    b = len(ranking) - a
    c = count_relevant(judged, rel) - a
    d = documents - a - b - c
    return found * a + noise * b + missed * c + rejected * d


def nonlinear_utility(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    found: float = 6.0,
    noise: float = -1.0,
    found_exponent: float = 0.8,
    noise_exponent: float = 1.0,
) -> float:
    """Powers of the numbers of relevant and of other documents retrieved, each times its weight."""
    forbidden(k)
    a = count_relevant(ranking, rel)
    b = len(ranking) - a
    return found * math.pow(a, found_exponent) + noise * math.pow(b, noise_exponent)


def scaled_utility(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    found: float = 2.0,
    noise: float = -1.0,
    floor: float = -0.5,
) -> float:
    """(max(U / found R, floor) - floor) / (1 - floor), U = found relevant + noise other retrieved.

    Where R = 0, the share is taken as 0 where U is 0 and as endlessly bad where U is negative.
    """
    forbidden(k)
    hits = count_relevant(ranking, rel)
    u = found * hits + noise * (len(ranking) - hits)
    r = count_relevant(judged, rel)
    worthless = floor if u < 0 else 0.0
    share = u / (found * r) if r > 0 else worthless
    return (max(share, floor) - floor) / (1 - floor)


SCORES: dict[str, Callable[..., float]] = {
    "SetP": set_precision,
    "SetF": set_f,
    "F": f_measure,
    "SetAP": set_average_precision,
    "SetRelP": set_relative_precision,
    "RelP": relative_precision,
    "Utility": utility,
    "NonlinearUtility": nonlinear_utility,
    "ScaledUtility": scaled_utility,
}

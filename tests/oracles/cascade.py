"""ERR, from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Labels, gain_of, top


def expected_reciprocal_rank(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None
) -> float:
    """ERR@k = sum_{i<=k} (1/i) rho_i prod_{j<i} (1 - rho_j).

    rho = (2^label - 1) / 2^G.
    """
    rhos = [gain_of(label, "scaled", max_grade) for label in top(ranking, k)]
    terms = []
    for i, rho in enumerate(rhos, 1):
        reach = math.prod(1.0 - above for above in rhos[: i - 1])
        terms.append(reach * rho / i)
    return math.fsum(terms)


SCORES: dict[str, Callable[..., float]] = {
    "ERR": expected_reciprocal_rank,
}

"""User models, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Gain, Labels, gain_of, is_relevant, required, top


def rank_biased_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    p: float = 0.8,
    rel: int = 1,
    gain: Gain | None = None,
) -> float:
    """RBP@k = (1 - p) * sum_{i<=k} p^(i-1) * g_i; g_i is 0 or 1 without a gain."""
    terms = []
    for i, label in enumerate(top(ranking, k), 1):
        if gain is None:
            g = 1.0 if is_relevant(label, rel) else 0.0
        else:
            g = gain_of(label, gain, max_grade)
        terms.append(p ** (i - 1) * g)
    return (1.0 - p) * math.fsum(terms)


DEPTH = 500
"""How many ranks an endless user is followed for; a correction stands for those beyond, which is
right to about 1/DEPTH^5."""


def rate_of_gain(
    gains: list[float], goes_on: Callable[[int, float, float], float], k: int | None
) -> float:
    """sum V_i g_i / sum V_i over the ranks to k, V_i = prod_{j<i} C_j; no gain beyond the list.

    goes_on(i, g_i, g_1 + ... + g_i) is C_i. Without k, C has to be that of an inverse square series.
    """
    last = DEPTH if k is None else k
    reach, total = 1.0, 0.0
    read, gained = [], []
    for i in range(1, last + 1):
        g = gains[i - 1] if i <= len(gains) else 0.0
        read.append(reach)
        gained.append(reach * g)
        total += g
        chance = goes_on(i, g, total)
        reach *= chance
        if reach == 0.0:
            break
    if k is None and reach > 0.0:
        # With C = ((x - 1)/x)^2 at the last rank, the ranks beyond have V x^2/(x + j)^2, j = 0, 1, ...,
        # which add up to V x^2 (1/x + 1/(2 x^2) + 1/(6 x^3) - ...), by Euler and Maclaurin.
        x = 1.0 / (1.0 - math.sqrt(chance))
        read.append(reach * x**2 * (1 / x + 1 / (2 * x**2) + 1 / (6 * x**3)))
    return math.fsum(gained) / math.fsum(read)


def gains_of(ranking: Labels, k: int | None, gain: Gain, max_grade: int) -> list[float]:
    return [gain_of(label, gain, max_grade) for label in top(ranking, k)]


def insq(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    T: float = 1.0,
    gain: Gain = "fraction",
) -> float:
    """C_i = ((i + 2T - 1)/(i + 2T))^2."""
    gains = gains_of(ranking, k, gain, max_grade)
    return rate_of_gain(gains, lambda i, g, total: ((i + 2 * T - 1) / (i + 2 * T)) ** 2, k)


def inst(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    T: float = 1.0,
    gain: Gain = "fraction",
) -> float:
    """C_i = ((i + T + T_i - 1)/(i + T + T_i))^2, T_i = T - gain so far."""

    def goes_on(i: int, g: float, total: float) -> float:
        wanted = T - total
        return ((i + T + wanted - 1) / (i + T + wanted)) ** 2

    return rate_of_gain(gains_of(ranking, k, gain, max_grade), goes_on, k)


def nerr8(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, gain: Gain = "fraction"
) -> float:
    """C_i = 1 - g_i, and 0 at k."""
    gains = gains_of(ranking, required(k), gain, max_grade)
    return rate_of_gain(gains, lambda i, g, total: 1 - g, k)


def nerr9(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, gain: Gain = "fraction"
) -> float:
    """C_i = i/(i + 1) * (1 - g_i), and 0 at k."""
    gains = gains_of(ranking, required(k), gain, max_grade)
    return rate_of_gain(gains, lambda i, g, total: i / (i + 1) * (1 - g), k)


def nerr10(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    p: float = 0.9,
    gain: Gain = "fraction",
) -> float:
    """C_i = p * (1 - g_i)."""
    gains = gains_of(ranking, k, gain, max_grade)
    if k is not None:
        return rate_of_gain(gains, lambda i, g, total: p * (1 - g), k)
    n = len(gains)
    if n == 0:
        return 0.0
    listed = rate_of_gain(gains, lambda i, g, total: p * (1 - g), n)
    reach = [p**i * math.prod(1 - g for g in gains[:i]) for i in range(n + 1)]
    read = math.fsum(reach[:n])
    return listed * read / (read + reach[n] / (1 - p))


def nerr11(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    T: float = 1.0,
    gain: Gain = "fraction",
) -> float:
    """C_i = ((i + 2T - 1)/(i + 2T))^2 * (1 - g_i)."""

    def goes_on(i: int, g: float, total: float) -> float:
        return ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - g)

    return rate_of_gain(gains_of(ranking, k, gain, max_grade), goes_on, k)


def bpm(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    T: float = 1.0,
    gain: Gain = "fraction",
) -> float:
    """Read until the gain is T or the rank is k: the gain over the number of documents read."""
    k = required(k)
    total = 0.0
    for i, g in enumerate(gains_of(ranking, k, gain, max_grade), 1):
        total += g
        if total > T - 1e-9:
            return total / i
    return total / k


SCORES: dict[str, Callable[..., float]] = {
    "RBP": rank_biased_precision,
    "INSQ": insq,
    "INST": inst,
    "NERR8": nerr8,
    "NERR9": nerr9,
    "NERR10": nerr10,
    "NERR11": nerr11,
    "BPM": bpm,
}

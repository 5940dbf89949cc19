"""Average precision for graded labels, straight from its definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from oracles.labels import Gain, Labels, gain_of, required, top


def q_measure(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    beta: float = 1.0,
    norm: str = "R",
    gain: Gain = "linear",
) -> float:
    """Q@k = (1/norm) sum over ranks i <= k with a gain of (c_i + beta cg_i) / (i + beta cg*_i)."""
    ideal = sorted((gain_of(label, gain, max_grade) for label in judged), reverse=True)
    r = sum(1 for g in ideal if g > 0)
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
    terms = []
    gains = [gain_of(label, gain, max_grade) for label in top(ranking, k)]
    for i, g in enumerate(gains, 1):
        if g > 0:
            c = sum(1 for above in gains[:i] if above > 0)
            blended = c + beta * math.fsum(gains[:i])
            terms.append(blended / (i + beta * math.fsum(ideal[:i])))
    return math.fsum(terms) / divisor


def graded_average_precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None
) -> float:
    """Expected sum of precisions over expected R, of a user satisfied from a random grade on."""
    chance = Fraction(1, max_grade)

    def worth(label: int) -> Fraction:
        """The chance that this label is relevant."""
        return sum((chance for grade in range(1, max_grade + 1) if label >= grade), Fraction(0))

    seen = top(ranking, k)
    expected = Fraction(0)
    for i, label in enumerate(seen, 1):
        both = sum((worth(min(label, above)) for above in seen[:i]), Fraction(0))
        expected += both / i
    relevant = sum((worth(label) for label in judged), Fraction(0))
    return float(expected / relevant) if relevant else 0.0


SCORES: dict[str, Callable[..., float]] = {
    "Q": q_measure,
    "GAP": graded_average_precision,
}

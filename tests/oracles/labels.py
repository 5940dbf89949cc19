"""What labels are worth, and the parts of rankings that the definitions of measures speak of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Labels = Sequence[int]
Gain = str | dict[int, float]


def is_relevant(label: int, rel: int) -> bool:
    """Judged, and label >= rel."""
    return label >= 0 and label >= rel


def count_relevant(labels: Labels, rel: int) -> int:
    """Number of relevant labels; R when given all the judged labels."""
    return sum(1 for label in labels if is_relevant(label, rel))


def count_nonrelevant(labels: Labels, rel: int) -> int:
    """Number of judged labels that are not relevant: 0 <= label < rel."""
    return sum(1 for label in labels if 0 <= label < rel)


def top(ranking: Labels, k: int | None) -> list[int]:
    """The first k labels, or all of them."""
    if k is None:
        return list(ranking)
    if k < 1:
        raise ValueError("the cut-off must be at least 1")
    return list(ranking[:k])


def required(k: int | None) -> int:
    """The cut-off of a measure that needs one."""
    if k is None:
        raise ValueError("this measure needs a cut-off")
    return k


def forbidden(k: int | None) -> None:
    """Refuse the cut-off of a measure that has none."""
    if k is not None:
        raise ValueError("this measure takes no cut-off")


def gain_of(label: int, gain: Gain, max_grade: int) -> float:
    """linear: label; exp2: 2^label - 1; scaled: (2^label - 1) / 2^G; fraction: label / G; or a map.

    A label that the map does not name keeps its linear gain. Unjudged: 0.
    """
    if label < 0:
        return 0.0
    if isinstance(gain, dict):
        return float(gain.get(label, label))
    if gain == "linear":
        return float(label)
    if gain == "exp2":
        return 2.0**label - 1.0
    if gain == "scaled":
        return (2.0**label - 1.0) / 2.0**max_grade
    if gain == "fraction":
        return label / max_grade
    raise ValueError(f"unknown gain {gain!r}")


def discount_at(i: int, discount: str) -> float:
    """log2: 1/log2(i+1); zipf: 1/i; log_b: 1 while i < b, then 1/log_b(i)."""
    if discount == "log2":
        return 1.0 / math.log2(i + 1)
    if discount == "zipf":
        return 1.0 / i
    if discount.startswith("log_"):
        base = int(discount[len("log_") :])
        if base < 2:
            raise ValueError("the base of the discount must be at least 2")
        if i < base:
            return 1.0
        return math.log(base) / math.log(i)
    raise ValueError(f"unknown discount {discount!r}")


def discounted_sum(gains: Iterable[float], discount: str) -> float:
    """sum_i discount(i) * g_i."""
    return math.fsum(g * discount_at(i, discount) for i, g in enumerate(gains, 1))

"""What a label is worth and how much a rank counts: gains and discounts, as parameters of measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Labels
from rankgauge.core.checks import Integer, Kind, Number, number_text
from rankgauge.errors import MeasureError
from rankgauge.measures.formulas import sum_over_ranks

GainMap: TypeAlias = tuple[tuple[int, float], ...]
GainFunction: TypeAlias = Callable[[Floats, int], Floats]
DiscountFunction: TypeAlias = Callable[[Floats], Floats]

GAINS: dict[str, GainFunction] = {
    "linear": lambda label, max_grade: label,
    "exp2": lambda label, max_grade: np.exp2(label) - 1,
    "scaled": lambda label, max_grade: np.exp2(label - max_grade) - np.exp2(-float(max_grade)),
    "fraction": lambda label, max_grade: label / max_grade,
}
"""Gain of a label, given the collection's highest grade, by name."""

DISCOUNTS: dict[str, DiscountFunction] = {
    "log2": lambda rank: np.log2(rank + 1),
    "zipf": lambda rank: rank,
}
"""What a rank (from 1) divides gains by, by name; `log_b` for a whole b from 2 comes on top."""

LOG_PREFIX = "log_"

MOST_GAIN = 1e30
"""The highest gain, so that sums of squares of gains stay finite; 2^99 − 1 is below it."""


class Gain(Kind):
    """How much a label is worth: a registered function or a map from labels to gains."""

    @property
    def description(self) -> str:  # type: ignore[override]
        such_as = "a map such as {1:1,2:3} of labels to gains"
        return f"{', '.join(GAINS)} or {such_as} from 0 to {MOST_GAIN:g}"

    def check(self, value: Any) -> str | GainMap:
        if isinstance(value, str) and value in GAINS:
            return value
        try:
            pairs = dict(value)
        except (TypeError, ValueError):
            raise self.refusal(value) from None
        if isinstance(value, str) or not pairs or len(pairs) < len(value):
            raise self.refusal(value)
        return tuple(
            sorted((Integer(1).check(a), Number(0, MOST_GAIN).check(b)) for a, b in pairs.items())
        )

    def text(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        return "{" + ",".join(f"{label}:{number_text(gain)}" for label, gain in value) + "}"

    def python(self, value: Any) -> str:
        if isinstance(value, str):
            return repr(value)
        return "{" + ", ".join(f"{label}: {number_text(gain)}" for label, gain in value) + "}"


class UnitGain(Gain):
    """A gain from 0 to 1, so that it can be a chance."""

    @property
    def description(self) -> str:  # type: ignore[override]
        named = [name for name in GAINS if self._fits(name)]
        return f"{', '.join(named)} or a map such as {{1:0.5,2:1}} of labels to gains from 0 to 1"

    def check(self, value: Any) -> str | GainMap:
        checked = super().check(value)
        if not self._fits(checked):
            raise self.refusal(value)
        return checked

    def _fits(self, gain: str | GainMap) -> bool:
        """Whether gains stay within 0 and 1; a function is tried on a few scales."""
        if not isinstance(gain, str):
            return all(worth <= 1 for _, worth in gain)
        found = [gains(gain, np.arange(g + 1, dtype=np.int32), g) for g in range(1, 5)]
        return all(((worth >= 0) & (worth <= 1)).all() for worth in found)


class Discount(Kind):
    """How much a rank counts: a registered function, or `log_b`."""

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"{', '.join(DISCOUNTS)} or log_b with a whole b from 2, such as log_2"

    def check(self, value: Any) -> str:
        if isinstance(value, str):
            base = value.removeprefix(LOG_PREFIX)
            if value in DISCOUNTS:
                return value
            if base != value and base.isascii() and base.isdigit() and 2 <= int(base) < 2**31:
                return LOG_PREFIX + str(int(base))
        raise self.refusal(value)


def gains(gain: str | GainMap, labels: Labels, max_grade: int) -> Floats:
    """The gain of each label: 0 for unjudged documents, as the named function or map says else.

    Labels that a map does not name keep their linear gain, as in trec_eval.
    """
    label = np.maximum(labels, 0).astype(np.float64)
    if not isinstance(gain, str):
        value = label.copy()
        for grade, worth in gain:
            value[labels == grade] = worth
        return value
    if gain == "linear":
        return label
    # A grade at a time, where there are few.
    highest = int(label.max(initial=0.0))
    each = label if highest > len(label) else np.arange(highest + 1.0)
    with np.errstate(all="ignore"):
        value = np.asarray(GAINS[gain](each, max_grade), dtype=np.float64)
    if each is not label:
        value = value[np.maximum(labels, 0)]
    if not value.max(initial=0.0) <= MOST_GAIN:  # nan is too large as well
        highest = int(labels.max())
        raise MeasureError(
            f"gain={gain} of grade {highest} is above {MOST_GAIN:g}; use gain=linear or a map"
        )
    return value


def unit_gains(gain: str | GainMap, labels: Labels, max_grade: int) -> Floats:
    """The gain of each label; MeasureError where one is above 1."""
    value = gains(gain, labels, max_grade)
    if value.max(initial=0.0) > 1:
        grade = int(labels[np.argmax(value)])
        message = f"the gain of grade {grade} is {number_text(value.max())}, expected at most 1"
        raise MeasureError(f"{message}: a map of gains has to name every grade")
    return value


def most_gainful(gain: str | GainMap, max_grade: int) -> int:
    """The label from 0 to `max_grade` with the highest gain."""
    if isinstance(gain, str):
        return max_grade
    named = dict(gain)
    unnamed = next((g for g in range(max_grade, -1, -1) if g not in named), 0)
    candidates = np.array([unnamed, *(g for g in named if g <= max_grade)], dtype=np.int32)
    return int(candidates[np.argmax(gains(gain, candidates, max_grade))])


def divisors(discount: str, count: int) -> Floats:
    """What gains at ranks 1 to `count` are divided by."""
    return _divisors_at(discount, np.arange(1, count + 1, dtype=np.float64))


def _divisors_at(discount: str, rank: Floats) -> Floats:
    if discount in DISCOUNTS:
        return DISCOUNTS[discount](rank)
    base = float(_count_undiscounted_ranks(discount))
    value: Floats = np.log(np.maximum(rank, base)) / np.log(base)
    return value


def _count_undiscounted_ranks(discount: str) -> int:
    """How many of the first ranks count in full before the discount sets in: b for `log_b`."""
    return 0 if discount in DISCOUNTS else int(discount.removeprefix(LOG_PREFIX))


def sum_of_discounts(discount: str, count: int, kept: float = 1.0) -> float:
    """The discounts of ranks 1 to `count` added up, that of rank i times kept^(i−1)."""
    flat = min(_count_undiscounted_ranks(discount), count)
    head = sum_over_ranks(np.ones_like, 1, flat, kept) if kept < 1 else float(flat)
    return head + sum_over_ranks(
        lambda rank: 1 / _divisors_at(discount, rank), flat + 1, count, kept
    )

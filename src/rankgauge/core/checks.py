"""Kinds of values, and the check of arguments against them."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np

from rankgauge.core.records import Value
from rankgauge.errors import MeasureError, RankgaugeError


def check_value(name: str, value: Any, kind: Kind, *, optional: bool = False) -> Any:
    """The argument `name` in its canonical form; RankgaugeError if it does not fit its kind. An
    `optional` one may be None.

    >>> check_value("samples", 10.0, Integer(1))
    10
    """
    if value is None and optional:
        return None
    try:
        return kind.check(value)
    except MeasureError:
        raise RankgaugeError(f"{name}={value!r}, expected {kind.description}") from None


class Kind:
    """A kind of value: `check` gives its canonical form, `text` and `python` write it."""

    description = "a value"

    def check(self, value: Any) -> Any:
        """The canonical form of a value, or MeasureError."""
        raise self.refusal(value)

    def text(self, value: Any) -> str:
        """The value in the language of measures."""
        return str(value)

    def python(self, value: Any) -> str:
        """The value in Python."""
        return repr(value)

    def refusal(self, value: Any) -> MeasureError:
        """The error for a value that does not fit."""
        return MeasureError(f"{value!r} does not fit, expected {self.description}")


class Integer(Kind, Value):
    """A whole number from `least` on, to `most` where there is one."""

    least: int = 1
    most: int | None = None

    @property
    def description(self) -> str:  # type: ignore[override]
        upper = "" if self.most is None else f" to {self.most:,}"
        return f"a whole number from {self.least}{upper}"

    def check(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
            raise self.refusal(value)
        if value != value or value in (math.inf, -math.inf) or int(value) != value:
            raise self.refusal(value)
        if value > 2**31 - 1:
            raise MeasureError(f"{value!r} does not fit, expected at most {2**31 - 1}")
        if value < self.least or (self.most is not None and value > self.most):
            raise self.refusal(value)
        return int(value)


class Number(Kind, Value):
    """A number between `low` and `high`; the limits themselves only where `closed`."""

    low: float = 0.0
    high: float = math.inf
    closed: bool = True
    example: float | None = None

    @property
    def description(self) -> str:  # type: ignore[override]
        such_as = "" if self.example is None else f", such as {self.example:g}"
        if self.low == -math.inf and self.high == math.inf:
            return f"a number{such_as}"
        if self.high == math.inf:
            return f"a number {'from' if self.closed else 'above'} {self.low:g}{such_as}"
        sort = "from {:g} to {:g}" if self.closed else "strictly between {:g} and {:g}"
        return "a number " + sort.format(self.low, self.high) + such_as

    def check(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise self.refusal(value)
        inside = self.low <= value <= self.high if self.closed else self.low < value < self.high
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not inside or not math.isfinite(number):
            raise self.refusal(value)
        return number

    def text(self, value: Any) -> str:
        return number_text(value)

    def python(self, value: Any) -> str:
        return number_text(value)


class Choice(Kind, Value):
    """One of a few names."""

    names: tuple[str, ...]

    @property
    def description(self) -> str:  # type: ignore[override]
        return "one of " + ", ".join(self.names)

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.names:
            raise self.refusal(value)
        return str(value)


class Flag(Kind):
    """true or false."""

    description = "true or false"

    def check(self, value: Any) -> bool:
        words = {"true": True, "false": False}
        known = words.get(value.lower()) if isinstance(value, str) else value
        if known is not True and known is not False:
            raise self.refusal(value)
        return known

    def text(self, value: Any) -> str:
        return str(value).lower()


class QuotedText(Kind):
    """Any short text. It is written in quotes, so it may hold ' or " but not both."""

    longest = 200

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"a text of at most {self.longest} characters; it may contain ' or \", but not both"

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > self.longest:
            raise self.refusal(value)
        if "'" in value and '"' in value:
            raise self.refusal(value)
        return value

    def text(self, value: Any) -> str:
        quote = "'" if '"' in value else '"'
        return f"{quote}{value}{quote}"


def one_of(choices: Any) -> Choice:
    """One of the values of a Literal type."""
    return Choice(get_args(choices))


def number_text(value: float) -> str:
    """A number written shortest, without a needless `.0`.

    >>> number_text(2.0), number_text(0.85)
    ('2', '0.85')
    """
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )

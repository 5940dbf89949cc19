"""Kinds of values, and the check of arguments against them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from rankgauge.core.records import Value
from rankgauge.core.renamed import renamed_names
from rankgauge.errors import MeasureError, RankgaugeError, warn_old_form

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)


def check_value(name: str, value: Any, kind: Kind, *, optional: bool = False) -> Any:
    """Check an argument of a function, and return it in its canonical form.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : object
        Its value.
    kind : Kind
        What the value must be, such as `Integer(1)`, `Number(0, 1)` or `one_of(...)`.
    optional : bool, default False
        Whether None is allowed.

    Returns
    -------
    object
        The value: an int for an integral float, and so on.

    Raises
    ------
    RankgaugeError
        If the value does not fit.

    Examples
    --------
    >>> from rankgauge.extending import Integer, check_value
    >>> check_value("samples", 10.0, Integer(1))
    10
    >>> check_value("samples", 0, Integer(1))
    Traceback (most recent call last):
    rankgauge.errors.RankgaugeError: samples=0, expected a whole number from 1
    """
    if value is None and optional:
        return None
    if isinstance(kind, Choice):
        value = kind.current_name(value, f"{name}=")
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
    """Whole numbers within limits, for `check_value`.

    Parameters
    ----------
    least : int, default 1
        The smallest number that fits.
    most : int, optional
        The largest number that fits.

    Examples
    --------
    >>> from rankgauge.extending import Integer
    >>> Integer(0, 10).check(3.0)
    3
    """

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
    """Finite numbers within limits, for `check_value`.

    Parameters
    ----------
    low : float, default 0.0
        The lower limit.
    high : float, optional
        The upper limit. By default there is none.
    closed : bool, default True
        Whether the limits themselves fit.
    example : float, optional
        A number that fits, for error messages.

    Examples
    --------
    >>> from rankgauge.extending import Number
    >>> Number(0, 1, closed=False, example=0.05).description
    'a number strictly between 0 and 1, such as 0.05'
    """

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
    """A choice of names, for `check_value`.

    Parameters
    ----------
    names : tuple of str
        The names.
    old : tuple of tuple of str, optional
        Names of an earlier release, each with the name that replaces it. They still work, with a
        warning.

    Examples
    --------
    >>> from rankgauge.extending import Choice, check_value
    >>> check_value("missing", "skip", Choice(("zero", "skip")))
    'skip'
    """

    names: tuple[str, ...]
    old: tuple[tuple[str, str], ...] = ()

    @property
    def description(self) -> str:  # type: ignore[override]
        return "one of " + ", ".join(self.names)

    def current_name(self, value: Any, argument: str = "") -> Any:
        """The name that replaces an old one, with a warning about the argument; else the value."""
        for old, new in self.old:
            if isinstance(value, str) and value == old:
                warn_old_form(f"{argument}{old!r}", f"{argument}{new!r}")
                return new
        return value

    def check(self, value: Any) -> str:
        value = self.current_name(value)
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
        return (
            f"a text of at most {self.longest} characters; it may contain either ' or \", not both"
        )

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > self.longest:
            raise self.refusal(value)
        if "'" in value and '"' in value:
            raise self.refusal(value)
        return value

    def text(self, value: Any) -> str:
        quote = "'" if '"' in value else '"'
        return f"{quote}{value}{quote}"


def one_of(choices: Any, **old: str) -> Choice:
    """The kind of values that a Literal type allows, for `check_value`.

    Parameters
    ----------
    choices : Literal type
        The type.
    **old : str
        Values of an earlier release, each with the value that replaces it.

    Returns
    -------
    Choice
        The kind.

    Examples
    --------
    >>> from typing import Literal
    >>> from rankgauge.extending import one_of
    >>> one_of(Literal["zero", "skip"], intersection="skip").names
    ('zero', 'skip')
    """
    return Choice(get_args(choices), tuple(old.items()))


def number_text(value: float) -> str:
    """A number written shortest, without a needless `.0`.

    >>> number_text(2.0), number_text(0.85)
    ('2', '0.85')
    """
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )

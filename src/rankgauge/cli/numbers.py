"""Numbers in options: ASCII digits only.

Python's `int` and `float` also take digits of other scripts, such as ٣, and underscores, as in 1_000.
Files and the language of measures take neither, so options refuse them too.
"""

from __future__ import annotations

from typing import Any

import click

EXPECTED = "expected a number in the digits 0 to 9, such as 10 or 0.5"


def _is_plain(text: str) -> bool:
    return text.isascii() and "_" not in text


def parse_integer(text: str) -> int:
    """Parse a whole number that is written with the digits 0 to 9.

    `int` also accepts digits of other scripts and underscores, as in 1_000; this function does not.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If the text is not such a number.

    Examples
    --------
    >>> from rankgauge.extending import parse_integer
    >>> parse_integer("1000")
    1000
    """
    if not _is_plain(text):
        raise ValueError(EXPECTED)
    return int(text)


def parse_decimal(text: str) -> float:
    """Parse a number that is written with the digits 0 to 9.

    `float` also accepts digits of other scripts and underscores, as in 1_000.0; this function does not.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        If the text is not such a number.

    Examples
    --------
    >>> from rankgauge.extending import parse_decimal
    >>> parse_decimal("0.05")
    0.05
    """
    if not _is_plain(text):
        raise ValueError(EXPECTED)
    return float(text)


class _PlainNumber(click.ParamType):  # type: ignore[type-arg]
    """A number written with the digits 0 to 9."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not _is_plain(value):
            self.fail(f"{value!r}, {EXPECTED}", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(_PlainNumber, click.IntRange):
    """Click type of whole numbers, written with the digits 0 to 9.

    Parameters
    ----------
    min, max : int, optional
        The limits.
    min_open, max_open : bool, default False
        Whether the limit itself is excluded.
    clamp : bool, default False
        Whether a number beyond a limit becomes the limit, instead of an error.

    Examples
    --------
    >>> from rankgauge.extending import WholeNumber
    >>> WholeNumber(1).convert("20", None, None)
    20
    """

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "N"


class Decimal(_PlainNumber, click.FloatRange):
    """Click type of numbers, written with the digits 0 to 9.

    Parameters
    ----------
    min, max : float, optional
        The limits.
    min_open, max_open : bool, default False
        Whether the limit itself is excluded.
    clamp : bool, default False
        Whether a number beyond a limit becomes the limit, instead of an error.

    Examples
    --------
    >>> from rankgauge.extending import Decimal
    >>> Decimal(0, 1, min_open=True).convert("0.5", None, None)
    0.5
    """

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NUMBER"

    def _describe_range(self) -> str:
        return "" if self.min is self.max is None else super()._describe_range()

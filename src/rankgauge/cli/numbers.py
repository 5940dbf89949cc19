"""Numbers in options: ASCII digits only.

Python's `int` and `float` also take digits of other scripts, such as ٣, and underscores, as in 1_000.
Files and the language of measures take neither, so options refuse them too.
"""

from __future__ import annotations

from typing import Any

import click

EXPECTED = "expected a number written with the digits 0 to 9, such as 10 or 0.5"


def _is_plain(text: str) -> bool:
    return text.isascii() and "_" not in text


def parse_integer(text: str) -> int:
    """The whole number in a text; ValueError if it has none."""
    if not _is_plain(text):
        raise ValueError(EXPECTED)
    return int(text)


def parse_decimal(text: str) -> float:
    """The number in a text; ValueError if it has none."""
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
    """A whole number, within limits if any are given."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "N"


class Decimal(_PlainNumber, click.FloatRange):
    """A number, within limits if any are given."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NUMBER"

    def _describe_range(self) -> str:
        return "" if self.min is self.max is None else super()._describe_range()

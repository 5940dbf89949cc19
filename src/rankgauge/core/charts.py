"""Bars and intervals of numbers, drawn in text beside the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rankgauge.core.fitting import display_width
from rankgauge.core.records import Value

LEAST, MOST = 12, 40
"""How many columns of a terminal a drawing takes."""

POINT, LINE, MARK = "●", "─", "┊"
BAR, HALF = "━", "╸"
"""A column of a bar, and the half of one."""

DRAWN = f"{POINT}{LINE}{MARK}{BAR}{HALF}…–"
"""The characters of tables and drawings that are not in ASCII."""
PLAIN = str.maketrans(DRAWN, "o-|= ~-")
"""What stands for them where a terminal cannot show them."""


class Chart(Value):
    """What to draw beside each row of a table: a number, its interval, and a mark.

    Parameters
    ----------
    value : str
        The column of the numbers.
    start, end : float, default 0.0 and 1.0
        The ends of the scale. An infinite end becomes the lowest or the highest number that is drawn.
    low, high : str, optional
        The columns with the ends of the interval. Without an interval, and if the scale starts at 0, a
        number is drawn as a bar, else as a point.
    mark : str or float, optional
        What is marked: a column, such as that with what chance gets, or a number.

    Examples
    --------
    >>> chart = Chart("AP", 0, 1)
    >>> chart.draw(("run", "AP"), [("bm25", 0.25), ("dense", 0.5)], 16)
    ['0      AP      1', '━━━━            ', '━━━━━━━━        ']
    """

    value: str
    start: float = 0.0
    end: float = 1.0
    low: str | None = None
    high: str | None = None
    mark: str | float | None = None

    @property
    def legend(self) -> str | None:
        """What the characters of the drawing mean, where that is not plain to see."""
        parts = []
        if self.low is not None:
            parts = [f"{POINT} {self.value}", f"{LINE} from {self.low} to {self.high}"]
        if self.mark is not None:
            parts.append(f"{MARK} {self.mark if isinstance(self.mark, str) else f'{self.mark:g}'}")
        return ", ".join(parts) or None

    def draw(
        self, columns: Sequence[str], rows: Iterable[Sequence[object]], width: int
    ) -> list[str] | None:
        """The scale, then the drawing of each row, each of this width; None for numbers without spread.

        The columns and rows are those of the table.
        """
        names = (self.value, self.low, self.high, self.mark)
        places = [columns.index(name) if isinstance(name, str) else name for name in names]
        numbers = [_Numbers(*(_number(row, place) for place in places)) for row in rows]
        known = [number for each in numbers for number in each if math.isfinite(number)]
        if not known:
            return None
        start = self.start if math.isfinite(self.start) else min(known)
        end = self.end if math.isfinite(self.end) else max(known)
        if not start < end:
            return None
        scale = _Scale(start, end, width)
        bars = self.low is None and start == 0
        return [scale.header(self.value), *(scale.row(each, bars) for each in numbers)]


class _Numbers(NamedTuple):
    """The numbers of a row; NaN for what is not known."""

    value: float
    low: float
    high: float
    mark: float


def _number(row: Sequence[object], place: int | float | None) -> float:
    """The number in a place of the row; a place that is no whole number is the number itself."""
    cell = row[place] if isinstance(place, int) else place
    return float(cell) if isinstance(cell, int | float) else math.nan


class _Scale(Value):
    """Where numbers are drawn in a line of text."""

    start: float
    end: float
    width: int

    def header(self, name: str) -> str:
        """The ends of the scale, and between them the name if there is room."""
        start, end = f"{self.start:.4g}", f"{self.end:.4g}"
        room = self.width - len(start) - len(end)
        if not name.isprintable() or display_width(name) > room - 2:
            return start + " " * room + end
        left = (room - display_width(name)) // 2
        return start + " " * left + name + " " * (room - left - display_width(name)) + end

    def share(self, number: float) -> float:
        return min(max((number - self.start) / (self.end - self.start), 0.0), 1.0)

    def column(self, number: float) -> int:
        return round(self.share(number) * (self.width - 1))

    def row(self, numbers: _Numbers, bar: bool) -> str:
        """A line with all numbers that are known."""
        value, low, high, mark = numbers
        cells = [" "] * self.width
        if not math.isnan(low + high):
            first, last = self.column(low), self.column(high)
            cells[first : last + 1] = LINE * (last + 1 - first)
        if bar and not math.isnan(value):
            whole, half = divmod(round(self.share(value) * self.width * 2), 2)
            drawn = BAR * whole + HALF * half
            cells[: len(drawn)] = drawn
        if not math.isnan(mark):
            cells[self.column(mark)] = MARK
        if not bar and not math.isnan(value):
            cells[self.column(value)] = POINT
        return "".join(cells)

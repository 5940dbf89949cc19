"""The columns of CSV files: a header, then a row a line, parted by commas, tabs, semicolons or bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.arrays import Ints
from rankgauge.data.columns import Column, Place, missing
from rankgauge.data.errors import InputError
from rankgauge.data.model import Ids, decode
from rankgauge.data.roles import Role, Wanted, places_of
from rankgauge.data.tables import in_roles
from rankgauge.data.trec import line_number, text_of
from rankgauge.native import csv as native
from rankgauge.notes import counted

TOO_FEW, TOO_MANY, AFTER_QUOTE, OPEN_QUOTE, BINARY, EMPTY = range(1, 7)
"""The kinds of fault that the tokeniser finds, as its enum numbers them."""

LONGEST_SHOWN = 40


def csv_columns(
    raw: bytes, separator: str, wanted: Wanted, source: str
) -> tuple[list[Column], Place]:
    """The wanted columns of a CSV file, and where its rows are.

    Raises InputError, with the line, for a row that has more or fewer cells than the header, for a
    wanted cell that is empty, and for quotes that do not fit.
    """
    text = text_of(raw, source)
    header, start, fault = native.first_row(text, ord(separator))
    if fault:
        raise _fault(text, source, fault, start, len(header), len(header), separator)
    places = places_of(wanted, [decode(name) for name in header], source)
    chosen = list(dict.fromkeys(place for _, place in places))
    slots = np.full(len(header), -1, dtype=np.int64)
    slots[chosen] = np.arange(len(chosen))
    starts, lengths, fault, position, cells, slot = native.rows(
        text, ord(separator), start, len(header), slots
    )
    if fault == EMPTY:
        role = next(role for role, place in places if place == chosen[slot])
        line = line_number(text, position)
        raise missing(role, Place(source, lambda _: line), 0, "one in each row")
    if fault:
        raise _fault(text, source, fault, position, cells, len(header), separator)
    if starts.shape[1] == 0:
        raise InputError(source, None, "no rows below the header, expected some")
    columns: list[Column] = []
    for _, place in places:
        at = chosen.index(place)
        columns.append(CellColumn(text, starts[at], lengths[at]))
    rows = starts[0]
    return in_roles(places, columns), Place(source, lambda row: line_number(text, int(rows[row])))


@dataclass(frozen=True)
class CellColumn:
    """A column of cells, which are still in the text."""

    text: NDArray[np.uint8]
    starts: Ints
    lengths: Ints

    def ids(self, role: Role, place: Place) -> Ids:
        """The ids, without a Python object each."""
        return Ids(*native.texts(self.text, self.starts, self.lengths))

    def numbers(self, role: Role, place: Place) -> NDArray[Any]:
        """The numbers, in double precision."""
        values, bad = native.numbers(self.text, self.starts, self.lengths)
        if bad < 0:
            return values
        start = int(self.starts[bad])
        shown = decode(self.text[start : start + abs(int(self.lengths[bad]))].tobytes())
        if len(shown) > LONGEST_SHOWN:
            shown = shown[:LONGEST_SHOWN] + "…"
        expected = "a number"
        if shown.count(",") == 1 and shown.replace(",", "", 1).lstrip("-").isdigit():
            expected += " with a decimal point"
        raise place.error(bad, f"the {role.option} is {shown!r}, expected {expected}")


def _fault(
    text: NDArray[np.uint8],
    source: str,
    fault: int,
    position: int,
    cells: int,
    expected: int,
    separator: str,
) -> InputError:
    """The error for a row that cannot be read."""
    wanted = f"expected {expected} as in the header"
    message = {
        TOO_FEW: f"{counted(cells, 'cell')}, {wanted}",
        TOO_MANY: f"more than {counted(expected, 'cell')}, {wanted} "
        f"(put cells that hold {separator!r} in double quotes)",
        AFTER_QUOTE: "text after a closing quote, expected a separator (in a cell in quotes, write "
        "each quote twice)",
        OPEN_QUOTE: "a quote that nothing closes, expected one more (a cell that begins with a quote "
        "is in quotes, and has its own quotes twice)",
        BINARY: "binary data, expected text",
    }[fault]
    return InputError(source, line_number(text, position), message)

"""The columns of CSV files: a header, then a row a line, parted by commas, tabs, semicolons or bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.data.columns import Column, Place, missing
from rankgauge.data.frames import in_roles
from rankgauge.data.model import Ids, decode, encode
from rankgauge.data.roles import GRADE, RANK, SCORE, Role, Wanted, places_of
from rankgauge.errors import NoRows
from rankgauge.io.kinds import NUMBER
from rankgauge.io.rows import EMPTY, csv_fault
from rankgauge.io.trec import line_number, text_of
from rankgauge.native import csv as native
from rankgauge.workers import processors

LONGEST_SHOWN = 40

PIECE = 1 << 22
"""How many bytes are read at a time: several pieces at once, each near to its processor."""

WINDOW = 1 << 12
QUOTE, NEWLINE = ord('"'), ord("\n")
NUMBERS = (SCORE, RANK, GRADE)


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
        raise csv_fault(text, source, fault, start, len(header), len(header), separator)
    places = places_of(wanted, [decode(name) for name in header], source)
    layout = _Layout(separator, len(header), places)
    parts = _parts(text, start, layout)
    broken = next((part for part in parts if part.fault), None)
    if broken is not None and broken.fault == EMPTY:
        line = line_number(text, broken.position)
        raise missing(layout.role(broken.slot), Place(source, lambda _: line), 0, "one in each row")
    if broken is not None:
        where = (broken.position, broken.cells, len(header))
        raise csv_fault(text, source, broken.fault, *where, separator)
    if not any(part.rows for part in parts):
        raise NoRows(source, None, "no rows below the header, expected some")
    columns: list[Column] = [
        CellColumn([part.columns[i] for part in parts]) for i in range(len(places))
    ]
    lines: list[Ints] = []

    def line_of(row: int) -> int:
        if not lines:
            lines.append(native.rows(text, ord(separator), start, len(header), layout.slots)[0][0])
        return line_number(text, int(lines[0][row]))

    return in_roles(places, columns), Place(source, line_of)


class _Layout:
    """Which cells of a row are wanted, and for what."""

    def __init__(self, separator: str, columns: int, places: list[tuple[Role, int]]) -> None:
        self.separator, self.columns, self.places = separator, columns, places
        self.chosen = list(dict.fromkeys(place for _, place in places))
        self.slots = np.full(columns, -1, dtype=np.int64)
        self.slots[self.chosen] = np.arange(len(self.chosen))

    def role(self, slot: int) -> Role:
        """What the column in this slot is for."""
        return next(role for role, place in self.places if place == self.chosen[slot])


class _Part(NamedTuple):
    """What a piece of the text holds, or its first fault, as `native.rows` tells it."""

    rows: int
    columns: list[Ids | _Numbers]
    fault: int
    position: int
    cells: int
    slot: int


class _Numbers(NamedTuple):
    """The numbers in cells, and the first cell that holds none."""

    values: Floats
    bad: int
    cell: str


def _parts(text: NDArray[np.uint8], start: int, layout: _Layout) -> list[_Part]:
    """What the rows hold, piece by piece; pieces end with a line, so quotes make the text one piece."""
    ends = [len(text)]
    if not (text[start:] == QUOTE).any():
        ends = []
        at = start
        while at < len(text):
            window = text[at + PIECE :]
            newline = _find(window, NEWLINE)
            at = len(text) if newline < 0 else at + PIECE + newline + 1
            ends.append(at)
    pieces = list(zip([start, *ends], ends, strict=False))
    if len(pieces) < 2 or processors() < 2:
        return [_part(text, piece, layout) for piece in pieces]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(processors(), len(pieces))) as threads:
        return list(threads.map(lambda piece: _part(text, piece, layout), pieces))


def _find(text: NDArray[np.uint8], byte: int) -> int:
    """The first place of a byte, or -1; not all of the text is looked at where it comes soon."""
    for at in range(0, len(text), WINDOW):
        places = np.flatnonzero(text[at : at + WINDOW] == byte)
        if places.size:
            return at + int(places[0])
    return -1


def _part(text: NDArray[np.uint8], piece: tuple[int, int], layout: _Layout) -> _Part:
    begin, end = piece
    text = text[begin:end]
    starts, lengths, fault, position, cells, slot = native.rows(
        text, ord(layout.separator), 0, layout.columns, layout.slots
    )
    columns: list[Ids | _Numbers] = []
    if not fault:
        for role, place in layout.places:
            at = layout.chosen.index(place)
            columns.append(_column(text, starts[at], lengths[at], role))
    return _Part(starts.shape[1], columns, fault, begin + position, cells, slot)


def _column(text: NDArray[np.uint8], starts: Ints, lengths: Ints, role: Role) -> Ids | _Numbers:
    if role not in NUMBERS:
        return Ids(*native.texts(text, starts, lengths))
    values, bad = native.numbers(text, starts, lengths)
    cell = ""
    if bad >= 0:
        start = int(starts[bad])
        cell = decode(text[start : start + abs(int(lengths[bad]))].tobytes())
    return _Numbers(values, bad, cell)


@dataclass(frozen=True)
class CellColumn:
    """A column of ids, or of numbers, as it stands in each piece of a text."""

    parts: list[Any]

    def ids(self, role: Role, place: Place) -> Ids:
        """The ids, without a Python object each."""
        return Ids.joined(self.parts)

    def numbers(self, role: Role, place: Place) -> NDArray[Any]:
        """The numbers, in double precision."""
        row = 0
        for part in self.parts:
            if part.bad >= 0:
                raise place.error(row + part.bad, _no_number(role, part.cell))
            row += len(part.values)
        return np.concatenate([part.values for part in self.parts])


def _no_number(role: Role, cell: str) -> str:
    expected = "a number"
    if cell.count(",") == 1 and cell.replace(",", "", 1).lstrip("-").isdigit():
        expected += " with a decimal point"
    shown = cell if len(cell) <= LONGEST_SHOWN else cell[:LONGEST_SHOWN] + "…"
    if NUMBER.fullmatch(encode(cell.strip())) and cell.strip().lower() != "nan":
        return f"the {role.option} {shown!r} is beyond double precision, expected a smaller number"
    return f"the {role.option} is {shown!r}, expected {expected}"

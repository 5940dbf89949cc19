"""The columns of CSV files: a header, then a row a line, parted by commas, tabs, semicolons or bars."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import shorten
from rankgauge.core.records import Record
from rankgauge.data.columns import ColumnsByRole, RowLocator, missing_value_error
from rankgauge.data.model import Ids, decode, encode
from rankgauge.data.roles import GRADE, RANK, SCORE, Role, WantedColumns, places_of
from rankgauge.errors import NoRows
from rankgauge.io.kinds import NUMBER
from rankgauge.io.rows import EMPTY, csv_fault
from rankgauge.io.scanning import map_threads
from rankgauge.io.trec import line_number, text_of
from rankgauge.native import csv as native
from rankgauge.workers import processors

PIECE = 1 << 22
"""Number of bytes in a piece. Several pieces are read in parallel, each small enough for the cache."""

WINDOW = 1 << 12
QUOTE, NEWLINE = ord('"'), ord("\n")
NUMBERS = (SCORE, RANK, GRADE)


def csv_columns(
    raw: bytes, separator: str, wanted: WantedColumns, source: str
) -> tuple[ColumnsByRole, RowLocator]:
    """The wanted columns of a CSV file, and where its rows are.

    Raises InputError, with the line, for a row that has more or fewer cells than the header, for a
    wanted cell that is empty, and for quotes that do not fit.
    """
    text, mark = text_of(raw, source), ord(separator)
    header, start, fault = native.first_row(text, mark)
    width = len(header)
    if fault:
        raise csv_fault(text, source, fault, start, width, width, separator)
    places = places_of(wanted, [decode(name) for name in header], source)
    chosen = list(dict.fromkeys(place for _, place in places))
    slots = np.full(width, -1, dtype=np.int64)
    slots[chosen] = np.arange(len(chosen))

    def read(piece: tuple[int, int]) -> _Part:
        begin, end = piece
        part = text[begin:end]
        starts, lengths, fault, position, cells, slot = native.rows(part, mark, 0, width, slots)
        columns = []
        if not fault:
            columns = [_cells(part, starts[slots[p]], lengths[slots[p]], r) for r, p in places]
        return _Part(starts.shape[1], columns, fault, begin + position, cells, slot)

    parts = list(map_threads(read, _pieces(text, start), processors()))
    broken = next((part for part in parts if part.fault), None)
    if broken is not None and broken.fault == EMPTY:
        line = line_number(text, broken.position)
        role = next(role for role, place in places if place == chosen[broken.slot])
        raise missing_value_error(role, RowLocator(source, lambda _: line), 0, "one in each row")
    if broken is not None:
        where = (broken.position, broken.cells, width)
        raise csv_fault(text, source, broken.fault, *where, separator)
    if not any(part.rows for part in parts):
        raise NoRows(source, None, "no rows below the header, expected at least one")
    columns = {
        role: CellColumn([part.columns[i] for part in parts]) for i, (role, _) in enumerate(places)
    }

    @cache
    def first_cells() -> Ints:
        starts: Ints = native.rows(text, mark, start, width, slots)[0][0]
        return starts

    place = RowLocator(source, lambda row: line_number(text, int(first_cells()[row])))
    return columns, place


class _Part(Record):
    """What a piece of the text holds, or its first fault, as `native.rows` tells it."""

    rows: int
    columns: list[Ids | _Numbers]
    fault: int
    position: int
    cells: int
    slot: int


class _Numbers(Record):
    """The numbers in cells, and the first cell that holds none."""

    values: Floats
    bad: int
    cell: str


def _pieces(text: NDArray[np.uint8], start: int) -> list[tuple[int, int]]:
    """Where pieces of rows start and end. They end with a line, so quotes make the text one piece."""
    if (text[start:] == QUOTE).any():
        return [(start, len(text))]
    cuts = [start]
    while cuts[-1] < len(text):
        newline = _find(text[cuts[-1] + PIECE :], NEWLINE)
        cuts.append(len(text) if newline < 0 else cuts[-1] + PIECE + newline + 1)
    return list(itertools.pairwise(cuts))


def _find(text: NDArray[np.uint8], byte: int) -> int:
    """The first place of a byte, or -1; not all of the text is looked at where it comes soon."""
    for at in range(0, len(text), WINDOW):
        places = np.flatnonzero(text[at : at + WINDOW] == byte)
        if places.size:
            return at + int(places[0])
    return -1


def _cells(text: NDArray[np.uint8], starts: Ints, lengths: Ints, role: Role) -> Ids | _Numbers:
    if role not in NUMBERS:
        return Ids(*native.texts(text, starts, lengths))
    values, bad = native.numbers(text, starts, lengths)
    cell = ""
    if bad >= 0:
        start = int(starts[bad])
        cell = decode(text[start : start + abs(int(lengths[bad]))].tobytes())
    return _Numbers(values, bad, cell)


class CellColumn(Record):
    """A column of ids, or of numbers, as it stands in each piece of a text."""

    parts: list[Any]

    def ids(self, role: Role, place: RowLocator) -> Ids:
        """The ids, without a Python object each."""
        return Ids.joined(self.parts)

    def numbers(self, role: Role, place: RowLocator) -> NDArray[Any]:
        """The numbers, in double precision."""
        row = 0
        for part in self.parts:
            if part.bad >= 0:
                raise place.error(row + part.bad, _number_message(role, part.cell))
            row += len(part.values)
        return np.concatenate([part.values for part in self.parts])


def _number_message(role: Role, cell: str) -> str:
    expected = "a number"
    if cell.count(",") == 1 and cell.replace(",", "", 1).lstrip("-").isdigit():
        expected += " with a decimal point"
    shown = shorten(cell)
    if NUMBER.fullmatch(encode(cell.strip())) and cell.strip().lower() != "nan":
        return f"the {role.option} {shown!r} is beyond double precision, expected a smaller number"
    return f"the {role.option} is {shown!r}, expected {expected}"

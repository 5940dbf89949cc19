"""Sections that a user adds to a report: tables that other commands wrote, and pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PurePath

from rankgauge.core.notes import count_phrase
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import InputError
from rankgauge.io.files import display_name, read_bytes
from rankgauge.io.rows import csv_records, lines_of, parse_object_loosely
from rankgauge.report.section_pages import Item, Picture, Section, ShownTable

MOST_BYTES = 8 << 20
"""How large a file that is added may be."""
MOST_ROWS = 500
"""How many rows of a table a page has."""
DIGITS = 4
NO_TABLE = "cannot be read as a table ({}), expected CSV, TSV, JSON Lines or SVG"
MOST_DIGITS = 400
"""A text with more characters is no number."""


def read_section(source: str | os.PathLike[str] | Result) -> Section:
    """The section of a file, or of a result, which gives its table.

    A file is a table (CSV, TSV or JSON Lines) that a rankgauge command wrote, or an SVG. Its lines that
    start with # are the notes of the table. The name of the file is the title of the section. InputError
    for any other file.
    """
    if isinstance(source, Result):
        return Section(type(source).__name__, (_table_item(source.table()),))
    name = display_name(source)
    title = PurePath(name).stem or name
    raw = read_bytes(source, limit=MOST_BYTES)
    if b"<svg" in raw[:4096]:
        picture = Picture(raw, title, f"A figure from {PurePath(name).name}")
        return Section(title, (picture,))
    text = raw.decode("utf-8-sig", "surrogateescape")
    return Section(title, (_table_item(_parse_table(text, name)),))


def _table_item(table: Table) -> Item:
    count = len(table.rows)
    if count > MOST_ROWS:
        note = f"the first {MOST_ROWS:,} of {count:,} rows; the file contains all of them"
        table = Table(table.columns, table.rows[:MOST_ROWS], (note, *table.notes))
    return ShownTable(table, count_phrase(count, "row"), digits=DIGITS)


def _parse_table(text: str, source: str) -> Table:
    """The table in a text, by what its first line looks like."""
    first = text.lstrip().partition("\n")[0]
    if not first:
        raise InputError(source, None, "an empty file, expected a table or an SVG")
    if first.startswith("{"):
        return _parse_json_lines(text.encode("utf-8", "surrogateescape"), source)
    return _parse_cells(text, "\t" if "\t" in first else ",", source)


def _parse_json_lines(text: bytes, source: str) -> Table:
    rows: list[dict[str, object]] = []
    notes: list[str] = []
    for number, line in lines_of(text):
        record = parse_object_loosely(line, source, number, "on each line")
        if list(record) == ["notes"] and isinstance(record["notes"], list):
            notes += map(str, record["notes"])
        else:
            rows.append(record)
    columns = tuple(dict.fromkeys(name for row in rows[:MOST_ROWS] for name in row))
    cells = tuple(tuple(_cell(row.get(name)) for name in columns) for row in rows)
    return Table(columns, cells, tuple(notes))


def _cell(value: object) -> Cell:
    return value if isinstance(value, str | int | float) or value is None else str(value)


def _parse_cells(text: str, between: str, source: str) -> Table:
    """A table of CSV or TSV, as `Table.render` writes it: notes are lines at its end."""
    lines = text.removesuffix("\n").split("\n")
    end = len(lines)
    while end and lines[end - 1].startswith("#"):
        end -= 1
    notes = tuple(_unescape(line[1:].strip(), between) for line in lines[end:])
    table = [f"{line}\n" for line in lines[:end]]
    records = csv_records(table, source, NO_TABLE, separator=between, quotes=between != "\t")
    rows = [(number, [_unescape(cell, between) for cell in row]) for number, row in records]
    if not rows or len(rows[0][1]) < 2:
        message = "not a table with several columns, expected CSV, TSV, JSON Lines or SVG"
        raise InputError(source, 1, message)
    (_, header), *others = rows
    for number, row in others:
        if len(row) != len(header):
            message = (
                f"{count_phrase(len(row), 'cell')}, expected {len(header)} as in the first line"
            )
            raise InputError(source, number, message)
    columns = [_parse_numbers([row[place] for _, row in others]) for place in range(len(header))]
    return Table(tuple(header), tuple(zip(*columns, strict=True)), notes)


_ESCAPES = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def _unescape(cell: str, between: str) -> str:
    """A cell as it was before it was written: TSV has escapes for tabs and line ends."""
    if between != "\t" or "\\" not in cell:
        return cell
    return re.sub(r"\\([\\tnr])", lambda match: _ESCAPES[match.group(1)], cell)


_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+]?[0-9]+)?|nan|-?inf"


def _parse_numbers(cells: Sequence[str]) -> list[Cell]:
    """Return the cells of a column as numbers, if all that are not empty are numbers.

    A number is as Python writes it; an id such as 007 is none.
    """
    texts = [cell for cell in cells if cell]
    if not all(len(text) < MOST_DIGITS and re.fullmatch(_NUMBER, text) for text in texts):
        return list(cells)
    whole = all(text.lstrip("-").isdigit() for text in texts)
    return [(int(cell) if whole else float(cell)) if cell else None for cell in cells]

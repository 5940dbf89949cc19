"""What the readers of CSV and JSON should find in a text, in plain Python."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from plain import DECIMAL, MARK, Refused, Table, bits, too_large

BLANKS = b" \t\v\f\r"
TOO_FEW, TOO_MANY, AFTER_QUOTE, OPEN_QUOTE, BINARY, EMPTY, MARKED = range(1, 8)


class Broken(Exception):
    """A fault in CSV: its kind and its position."""

    def __init__(self, kind: int, position: int) -> None:
        self.kind, self.position = kind, position


def line_at(text: bytes, position: int) -> int:
    return text.count(b"\n", 0, position) + 1


# CSV


def csv_cell(text: bytes, separator: bytes, at: int) -> tuple[bytes, bool, int]:
    """The cell that starts here, whether it is in quotes, and where it ends."""
    if text[at : at + 1] != b'"':
        match = re.compile(rb"[^\n%b]*" % re.escape(separator)).match(text, at)
        assert match
        if b"\0" in match[0]:
            raise Broken(BINARY, match.end())
        return match[0].rstrip(BLANKS), False, match.end()
    match = re.compile(rb'"((?:[^"]|"")*+)"').match(text, at)
    zero = text.find(b"\0", at, match.end(1) if match else len(text))
    if zero >= 0:
        raise Broken(BINARY, zero)
    if match is None:
        raise Broken(OPEN_QUOTE, at + 1)
    end = after_blanks(text, separator, match.end())
    if text[end : end + 1] not in (separator, b"\n", b""):
        raise Broken(AFTER_QUOTE, end)
    return match[1].replace(b'""', b'"'), True, end


def after_blanks(text: bytes, separator: bytes, at: int) -> int:
    while at < len(text) and text[at] in BLANKS and text[at : at + 1] != separator:
        at += 1
    return at


def csv_rows(
    text: bytes, separator: bytes, start: int = 0, wanted: tuple[int, ...] = ()
) -> Iterator[tuple[int, int, list[bytes]]]:
    """For each row that is not blank: where it starts, where the next row starts, and its cells.

    Raises Broken if quotes do not match, or if one of the wanted cells is empty.
    """
    at = start
    while at < len(text):
        row = at = after_blanks(text, separator, at)
        cells: list[bytes] = []
        while True:
            cell, quoted, at = csv_cell(text, separator, after_blanks(text, separator, at))
            if not cells and text.startswith(MARK, row):
                raise Broken(MARKED, row)
            more = text[at : at + 1] == separator
            if not (cells or cell or quoted or more):
                break  # a blank line
            if not cell and len(cells) in wanted:
                raise Broken(EMPTY, row)
            cells.append(cell)
            if not more:
                break
            at += 1
            if at == len(text):
                if len(cells) in wanted:
                    raise Broken(EMPTY, row)
                cells.append(b"")
                break
        at += 1
        if cells:
            yield row, min(at, len(text)), cells


def csv_wanted(
    text: bytes, separator: bytes, start: int, columns: int, wanted: tuple[int, ...]
) -> tuple[list[tuple[int, list[bytes]]], tuple[int, int] | None]:
    """The wanted cells of each row with its start, and the kind and position of the first fault."""
    kept: list[tuple[int, list[bytes]]] = []
    try:
        for row, _, cells in csv_rows(text, separator, start, wanted):
            if len(cells) != columns:
                raise Broken(TOO_FEW if len(cells) < columns else TOO_MANY, row)
            kept.append((row, [cells[place] for place in wanted]))
    except Broken as broken:
        return kept, (broken.kind, broken.position)
    return kept, None


def number(cell: bytes) -> float | None:
    """The number in a cell."""
    cell = cell.strip(BLANKS)
    return float(cell) if DECIMAL.fullmatch(cell) and not too_large(cell) else None


def csv_table(
    text: bytes, separator: bytes, start: int, columns: int, wanted: tuple[int, int, int], kind: str
) -> Table:
    """The rows by query, with a score, a rank or a grade. Raises Refused if the reader must refuse."""
    rows, fault = csv_wanted(text, separator, start, columns, tuple(sorted(set(wanted))))
    if fault is not None:
        raise Refused(line_at(text, fault[1]))
    if not rows:
        raise Refused(None)
    places = {place: i for i, place in enumerate(sorted(set(wanted)))}
    triples = [(row, *(cells[places[place]] for place in wanted)) for row, cells in rows]
    values = []
    for row, _, _, cell in triples:
        value = number(cell)
        if value is None:
            raise Refused(line_at(text, row))
        values.append(-value if kind == "rank" else value)
    if kind == "grade":
        for (row, *_), value in zip(triples, values, strict=True):
            if math.isinf(value) or value != int(value) or abs(value) > 2**31 - 1:
                raise Refused(line_at(text, row))
    by_query: dict[bytes, dict[bytes, Any]] = {}
    for (row, query, document, _), value in zip(triples, values, strict=True):
        documents = by_query.setdefault(query, {})
        if document in documents:
            raise Refused(line_at(text, row))
        documents[document] = int(value) if kind == "grade" else bits([value])
    return [(query, list(documents.items())) for query, documents in by_query.items()]


# JSON


class Pairs(list[tuple[str, Any]]):
    """An object of JSON, with all its keys, also repeated ones."""


def json_value(text: bytes) -> Any:
    """The value of a text; ValueError or RecursionError if the text is not JSON."""
    return json.loads(text.decode(), object_pairs_hook=Pairs)


def by_query(text: bytes, gold: bool) -> Table | None:
    """The documents by query in one object, or in lines with a `query` and its documents.

    Only the simplest shapes are known. For any other text the result is None, and nothing is checked.
    """
    try:
        entries = _entries(text, "relevant" if gold else "retrieved")
        table = [(query.encode(), _documents(value, gold)) for query, value in entries]
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None
    names = [query for query, _ in table]
    if len(set(names)) != len(names):
        return None
    return table


def _entries(text: bytes, key: str) -> list[tuple[str, Any]]:
    lines = [line for line in text.split(b"\n") if line.strip()]
    records = [json_value(line) for line in lines]
    if any(type(record) is not Pairs or len(dict(record)) != len(record) for record in records):
        raise ValueError
    if all({"query", key} == set(dict(record)) for record in records):
        return [(dict(record)["query"], dict(record)[key]) for record in records]
    (record,) = records
    if not record or not all(query.startswith("q-") for query, _ in record):
        raise ValueError  # it could be anything, such as a row
    return list(record)


def _documents(value: Any, gold: bool) -> list[tuple[bytes, Any]]:
    if type(value) is Pairs:
        pairs = list(value)
    elif type(value) is list:
        pairs = [(name, 1 if gold else -float(place)) for place, name in enumerate(value, 1)]
    else:
        raise ValueError
    if len(dict(pairs)) != len(pairs) or not all(
        type(name) is str and type(held) in (int, float) and abs(held) < 1e9 for name, held in pairs
    ):
        raise ValueError
    if gold and any(held != int(held) for _, held in pairs):
        raise ValueError
    return [(name.encode(), int(held) if gold else bits([held])) for name, held in pairs]

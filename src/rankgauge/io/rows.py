"""Rows of named columns, with the lines they stand on: CSV, TSV, JSON and JSON Lines.

Runs and judgments of millions of rows are read as columns (`csv_files.py`, `json_files.py`). All other
files go through here: each reader says which columns it needs and what it expects.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.notes import count_phrase, shorten
from rankgauge.core.records import Record
from rankgauge.data.columns import error_summary
from rankgauge.errors import InputError
from rankgauge.io.files import (
    MISPLACED_MARK_MESSAGE,
    SIZE_LIMIT,
    UTF8_MARK,
    display_name,
    pieces_of,
    read_bytes,
    refuse_utf16,
)
from rankgauge.io.kinds import SEPARATORS, header_cells
from rankgauge.io.trec import Path, line_number, text_of
from rankgauge.native import csv as native

LONGEST_SHOWN = 8
BLANKS = rb" \t\r\v\f"
TOO_FEW, TOO_MANY, AFTER_QUOTE, OPEN_QUOTE, BINARY, EMPTY, MARKED = range(1, 8)
"""The kinds of fault found by the CSV tokenizer, numbered as in its enum."""


class RowLocation(NamedTuple):
    """The place of a row, for messages: a line of a file, or the name of the row."""

    source: str
    line: int | None = None
    row: str = ""

    def error(self, message: str, kind: type[InputError] = InputError) -> InputError:
        """The error about this row."""
        about = f"{self.row}: " if self.line is None and self.row else ""
        return kind(self.source, self.line, about + message)

    def first_line_hint(self) -> str:
        """The place in brackets, as a hint of where something came first."""
        return f" (first on line {self.line})" if self.line is not None else ""


class FileRow(NamedTuple):
    """A row: what it has by name, and its place. A cell of CSV is text."""

    cells: Mapping[str, Any]
    where: RowLocation


class FileRows(Record):
    """The rows of a file.

    `columns` are the names of the columns of CSV, None for JSON. `by_id` says that the file is one JSON
    object with a row for each id.
    """

    source: str
    rows: Iterator[FileRow]
    columns: tuple[str, ...] | None = None
    by_id: bool = False


def read_rows(
    path: Path,
    expected: str,
    needed: Sequence[str],
    *,
    size_limit: int = SIZE_LIMIT,
    key_by_id: str = "",
) -> FileRows:
    """The rows of a file: CSV, TSV, JSON Lines, or a JSON list of objects.

    InputError for a file that is empty, or neither JSON nor CSV with the columns that are needed.

    Parameters
    ----------
    path : the file, which may be compressed; `-` is standard input.
    expected : what the file should hold, for messages.
    needed : the names of columns that CSV must have, in lower case.
    size_limit : how many bytes the file may hold once decompressed.
    key_by_id : one JSON object is taken as a row for each id if its rows have this key. The id becomes
        the cell `id`.
    """
    source = display_name(path)
    raw = read_bytes(path, limit=size_limit)
    refuse_utf16(raw, source)
    raw = raw.removeprefix(UTF8_MARK)
    head = raw[:4096].lstrip() or raw.lstrip()[:1]
    if not head:
        raise InputError(source, None, f"is empty, {expected}")
    if head[:1] in (b"{", b"["):
        return _json_rows(raw, source, expected, key_by_id)
    return _csv_rows(raw, source, expected, needed)


def identifier(what: str, value: object, where: RowLocation) -> str:
    """An id or a name: text that is not blank, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    name = text_cell(what, value, where).strip()
    if not name:
        raise where.error(f"the {what} is empty, expected one")
    return name


def text_cell(what: str, value: object, where: RowLocation) -> str:
    """A text, in Unicode."""
    if not isinstance(value, str):
        raise where.error(f"the {what} is {describe_value(value)}, expected text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(value[error.start]):04x}"
        raise where.error(
            f"the {what} contains half a character, {half}, expected whole characters (write \\ufffd in "
            "its place)"
        ) from None
    return value


def format_names(names: Sequence[str]) -> str:
    """Some names, not too many, not too long."""
    shown = [shorten(name) for name in names[:LONGEST_SHOWN]]
    more = f" and {len(names) - LONGEST_SHOWN} more" if len(names) > LONGEST_SHOWN else ""
    return ", ".join(shown) + more


def check_distinct_keys(record: Mapping[str, Any], where: RowLocation, what: str = "key") -> None:
    """InputError where an object of JSON has a key twice."""
    if again := repeated_keys(record):  # type: ignore[arg-type]
        raise where.error(f"the {what} {min(again)!r} twice, expected it once")


def _json_rows(raw: bytes, source: str, expected: str, key_by_id: str) -> FileRows:
    start = len(raw) - len(raw.lstrip())
    line = raw.count(b"\n", 0, start) + 1
    end = raw.find(b"\n", start)
    of_lines = raw[start : start + 1] == b"{" and end >= 0 and bool(raw[end:].lstrip())
    fault: InputError | None = None
    if of_lines:
        try:
            parse_json(raw[start:end], source, line)
        except InputError as error:
            fault = error  # of this line, or an object over several lines
        else:
            return FileRows(
                source,
                (
                    FileRow(parse_object(line, source, number), RowLocation(source, number))
                    for number, line in lines_of(raw)
                ),
            )
    try:
        value = parse_json(raw[start:], source, line)
    except InputError:
        if fault is not None and raw[end:].lstrip()[:1] == b"{":
            raise fault from None
        raise
    if isinstance(value, list):
        return FileRows(source, _items(value, source))
    if not isinstance(value, dict):
        raise InputError(source, line, f"{describe_value(value)}, {expected}")
    first = next(iter(value.values()), None)
    if key_by_id and isinstance(first, dict) and key_by_id in first:
        check_distinct_keys(value, RowLocation(source), "text")
        return FileRows(source, _rows_by_id(value, source, key_by_id), by_id=True)
    return FileRows(source, iter([FileRow(value, RowLocation(source, line))]))


def _items(items: Sequence[object], source: str) -> Iterator[FileRow]:
    for number, item in enumerate(items, 1):
        where = RowLocation(source, row=f"item {number} of the list")
        if not isinstance(item, dict):
            raise where.error(f"{describe_value(item)}, expected an object")
        yield FileRow(item, where)


def _rows_by_id(texts: Mapping[str, Any], source: str, key: str) -> Iterator[FileRow]:
    """A row for each id of one object, which gets the key `id`."""
    for name, record in texts.items():
        where = RowLocation(source, row=f"text {shorten(name)!r}")
        if not isinstance(record, dict):
            raise where.error(f"{describe_value(record)}, expected an object with {key}")
        check_distinct_keys(record, where)
        yield FileRow({**record, "id": name}, where)


def _csv_rows(raw: bytes, source: str, expected: str, needed: Sequence[str]) -> FileRows:
    head = raw.lstrip(b"\r\n \t").partition(b"\n")[0]

    def has_all(mark: str) -> bool:
        return set(needed) <= {cell.lower() for cell in header_cells(head, mark)}

    mark = next(filter(has_all, SEPARATORS), None)
    if mark is None:
        marks = max(SEPARATORS, key=lambda each: head.count(each.encode()))
        names = [cell.strip(' "\r') for cell in head.decode(errors="replace").split(marks)]
        raise InputError(source, 1, f"a first line with {format_names(names)}, {expected}")
    rows = csv_rows(raw, mark, source)
    line, header = next(rows)
    names = [
        _decode_cell(cell, "name of a column", RowLocation(source, line)).lower() for cell in header
    ]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(source, line, f"two columns are called {name!r}, expected one")
        if not name:
            raise InputError(source, line, f"column {place + 1} has no name, expected one")
    return FileRows(source, _cells(rows, names, source), tuple(names))


def _cells(
    rows: Iterator[tuple[int, list[bytes]]], names: Sequence[str], source: str
) -> Iterator[FileRow]:
    for line, cells in rows:
        where = RowLocation(source, line)
        try:
            texts = [cell.decode() for cell in cells]
        except UnicodeDecodeError:
            texts = [
                _decode_cell(cell, name, where) for cell, name in zip(cells, names, strict=True)
            ]
        yield FileRow(dict(zip(names, texts, strict=True)), where)


def _decode_cell(cell: bytes, what: str, where: RowLocation) -> str:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise where.error(
            f"the {what} contains bytes that are not UTF-8, expected UTF-8 (convert the file)"
        ) from None


# CSV


def csv_rows(raw: bytes, separator: str, source: str) -> Iterator[tuple[int, list[bytes]]]:
    """The cells of each row of a CSV file, the header first, and the line that the row begins on.

    A cell may be empty and may have any length. Raises InputError, with the line, for a row that has
    more or fewer cells than the header, and for quotes that do not fit.
    """
    text = text_of(raw, source)
    blank = re.compile(rb"(?:[%b]*+\n)*+" % BLANKS.replace(separator.encode(), b""))
    start, line, width = 0, 1, 0
    while start < len(text):
        rest = text[start:]
        cells, size, fault = native.first_row(rest, ord(separator))
        if fault:
            raise csv_fault(text, source, fault, start + size, len(cells), width, separator)
        if not cells:
            return
        row = rest[:size].tobytes()
        before = blank.match(row)
        begins = line + (before[0].count(b"\n") if before else 0)
        width = width or len(cells)
        if len(cells) != width:
            place = start + (before.end() if before else 0)
            kind = TOO_FEW if len(cells) < width else TOO_MANY
            raise csv_fault(text, source, kind, place, len(cells), width, separator)
        yield begins, cells
        line += row.count(b"\n")
        start += size


def csv_records(
    lines: Iterable[str], source: str, fault: str, *, separator: str = ",", quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record that is not blank, and the line that the record ends on.

    Cells are kept as they are, with their blanks, up to the limit of the module csv. Records may have
    different numbers of cells.

    Parameters
    ----------
    lines : the lines of the text, with their ends.
    source : the name of the file, for messages.
    fault : the message for a text that is no CSV; `{}` in it is the reason.
    separator : what stands between two cells.
    quotes : whether a cell may be in quotes. Otherwise quotes are like any other character.
    """
    import csv

    reader = csv.reader(
        lines,
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
    )
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(source, reader.line_num, fault.format(error)) from None


def csv_fault(
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
        TOO_FEW: f"{count_phrase(cells, 'cell')}, {wanted}",
        TOO_MANY: f"more than {count_phrase(expected, 'cell')}, {wanted} "
        f"(put cells that contain {separator!r} in double quotes)",
        AFTER_QUOTE: "text after a closing quote, expected a separator (in a cell in quotes, write "
        "each quote twice)",
        OPEN_QUOTE: "a cell begins with a quote that is never closed, expected a closing quote (in a "
        "cell in quotes, write each quote twice)",
        BINARY: "binary data, expected text",
        MARKED: MISPLACED_MARK_MESSAGE,
    }[fault]
    return InputError(source, line_number(text, position), message)


# JSON


JsonObject = dict[str, object]
MARK = UTF8_MARK.decode()


class RepeatedKeyObject(JsonObject):
    """An object that has some keys more than once: `repeated`."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        once: set[str] = set()
        self.repeated: set[str] = set()
        for key, _ in pairs:
            (self.repeated if key in once else once).add(key)


def repeated_keys(record: JsonObject) -> set[str]:
    """The keys that an object has more than once."""
    return record.repeated if isinstance(record, RepeatedKeyObject) else set()


def _object_from_pairs(pairs: list[tuple[str, object]]) -> JsonObject:
    record = dict(pairs)
    return record if len(record) == len(pairs) else RepeatedKeyObject(pairs)


class _NumberTooLarge(ValueError):
    """A number, as it is written, that double precision has as infinity."""


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NumberTooLarge(text)
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object_from_pairs, parse_float=_parse_float)
_QUICK = json.JSONDecoder(parse_float=_parse_float)


def parse_json(text: bytes, source: str, line: int) -> object:
    """The value of a text that starts at this line; InputError, with the line, where it is no JSON."""
    try:
        return _DECODER.decode(text.decode())
    except _NumberTooLarge as error:
        number = str(error)
        match = re.search(rb"[\s:,[]" + re.escape(number.encode()) + rb"[\s,\]}]", text)
        line += text.count(b"\n", 0, match.start() + 1) if match else 0
        message = (
            f"the number {shorten(number)} is beyond double precision, expected a smaller number"
        )
        raise InputError(source, line, message) from None
    except json.JSONDecodeError as error:
        if text.decode().startswith(MARK, error.pos):
            raise InputError(source, line + error.lineno - 1, MISPLACED_MARK_MESSAGE) from None
        where, line = f"{error.msg}: column {error.colno}", line + error.lineno - 1
    except UnicodeDecodeError as error:
        where, line = "bytes that are not UTF-8", line + text.count(b"\n", 0, error.start)
    except RecursionError:
        where = "nested too deeply"
    except ValueError as error:  # a number of too many digits
        where = error_summary(error)
    raise InputError(source, line, f"not JSON ({where}), expected complete JSON") from None


def parse_object_quickly(line: bytes) -> JsonObject | None:
    """The object in a line, None unless it is sure that no key stands in it twice.

    There are as many colons as keys, or more. Where there are as many as members, each key is one.
    """
    try:
        record = _QUICK.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    if type(record) is not dict:
        return None
    members = len(record)
    for value in record.values():
        if type(value) is dict:
            members += len(value)
        elif type(value) is list and set(map(type, value)) == {dict}:
            members += sum(map(len, value))
    return record if line.count(b":") == members else None


def parse_object(line: bytes, source: str, number: int) -> JsonObject:
    """The object in a line of JSON Lines; InputError for any other value."""
    record = parse_json(line, source, number)
    if not isinstance(record, dict):
        raise InputError(source, number, f"{describe_value(record)}, expected an object")
    return record


def lines_of(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    at, number = 0, 1
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if line.strip():
            yield number, line
        at, number = end + 1, number + 1


def describe_value(value: object) -> str:
    """A value of JSON, as messages call it."""
    if value is None or isinstance(value, bool | int | float | str):
        return shorten(json.dumps(value))
    return "a JSON object" if isinstance(value, dict) else "a JSON list"


def parse_object_loosely(line: bytes, source: str, number: int, expected: str) -> dict[str, Any]:
    """Return the object in a line of JSON Lines that only has to be shown.

    Bytes that are not UTF-8, numbers beyond double precision and repeated keys are taken as they come.
    `expected` says more about the object, such as "on each line".
    """
    try:
        record = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        raise InputError(source, number, f"not JSON, expected an object {expected}") from None
    if not isinstance(record, dict):
        raise InputError(source, number, f"not an object, expected one {expected}")
    return record


def read_lines(path: Path, longest: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, blank ones too; one line at a time is in memory.

    InputError for a line of more than `longest` bytes, and for a byte order mark inside the file.
    """
    source = display_name(path)
    number, size = 1, 0
    start: list[bytes] = []
    for piece in pieces_of(path, limit=SIZE_LIMIT):
        first, *others = piece.split(b"\n")
        start.append(first)
        size += len(first)
        if size > longest:
            message = f"the line has more than {longest:,} bytes, expected one text per line"
            raise InputError(source, number, message)
        for other in others:
            yield number, _join_line(start, number)
            if other.startswith(UTF8_MARK):
                raise InputError(source, number + 1, MISPLACED_MARK_MESSAGE)
            number, start, size = number + 1, [other], len(other)
    if size:
        yield number, _join_line(start, number)


def _join_line(parts: Sequence[bytes], number: int) -> bytes:
    line = b"".join(parts).removesuffix(b"\r")
    return line.removeprefix(UTF8_MARK) if number == 1 else line

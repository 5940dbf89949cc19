"""Rows of files of texts and ratings: JSON Lines, one JSON document, or CSV; each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rankgauge.core.notes import counted
from rankgauge.errors import InputError
from rankgauge.io.files import SIZE_LIMIT, UTF8_MARK, UTF16_MARKS, display_name, read_bytes
from rankgauge.io.trec import Path

SEPARATORS = "\t,;|"
SUMMARIES = "sys_summs"
"""The key of what systems wrote, in the JSON of SummEval and REALSumm."""
ID = "id"
SYSTEM = "system"
LONGEST_SHOWN = 8
REFERENCE = re.compile(r"references?[ _-]?([0-9]{0,3})")
"""The names of columns and keys that hold references."""
TEXTS = re.compile(rf"source|output|outputs|{REFERENCE.pattern}")
"""The names of columns that hold texts."""


class TextPlace(NamedTuple):
    """The place of a row, for messages: a line of a file, or the name of the row."""

    source: str
    line: int | None = None
    row: str = ""

    def error(self, message: str, kind: type[InputError] = InputError) -> InputError:
        """The error about this row."""
        about = f"{self.row}: " if self.line is None and self.row else ""
        return kind(self.source, self.line, about + message)

    def told(self) -> str:
        """The place in brackets, as a hint of where something came first."""
        return f" (first on line {self.line})" if self.line is not None else ""


class FileRow(NamedTuple):
    """A row: what it has by name, and its place. A cell of CSV is text."""

    cells: Mapping[str, Any]
    where: TextPlace


class FileRows(NamedTuple):
    """The rows of a file.

    `columns` are the names of the columns of CSV, None for JSON. `by_id` says that the file is one JSON
    object with a row for each id, as SummEval and REALSumm have it.
    """

    source: str
    rows: Iterator[FileRow]
    columns: tuple[str, ...] | None = None
    by_id: bool = False


def read_rows(
    path: Path, expected: str, size_limit: int = SIZE_LIMIT, needed: Sequence[str] = (ID, SYSTEM)
) -> FileRows:
    """The rows of a file, which may be compressed; `-` is standard input.

    `expected` says in messages what the file should hold. InputError for a file that is empty, or
    neither JSON nor CSV with the columns that are needed.
    """
    source = display_name(path)
    raw = read_bytes(path, limit=size_limit)
    if raw.startswith(UTF16_MARKS):
        raise InputError(source, 1, "UTF-16 text, expected UTF-8 (convert the file)")
    raw = raw.removeprefix(UTF8_MARK)
    head = raw[:4096].lstrip() or raw.lstrip()[:1]
    if not head:
        raise InputError(source, None, f"is empty, {expected}")
    if head[:1] in (b"{", b"["):
        return _json_rows(raw, source, expected)
    return _csv_rows(raw, source, expected, needed)


def identifier(what: str, value: object, where: TextPlace) -> str:
    """An id or a name: text that is not blank, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    name = text_of(what, value, where).strip()
    if not name:
        raise where.error(f"the {what} is empty, expected one")
    return name


def text_of(what: str, value: object, where: TextPlace) -> str:
    """A text, in Unicode."""
    if not isinstance(value, str):
        from rankgauge.io.json_text import described

        raise where.error(f"the {what} is {described(value)}, expected a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(value[error.start]):04x}"
        raise where.error(
            f"the {what} has half of a character, {half}, expected whole characters (write \\ufffd in "
            "its place)"
        ) from None
    return value


def listed(names: Sequence[str]) -> str:
    """Some names, not too many, not too long."""
    shown = [name if len(name) <= 40 else name[:40] + "…" for name in names[:LONGEST_SHOWN]]
    more = f" and {len(names) - LONGEST_SHOWN} more" if len(names) > LONGEST_SHOWN else ""
    return ", ".join(shown) + more


def once(record: Mapping[str, Any], where: TextPlace, what: str = "key") -> None:
    """InputError where an object of JSON has a key twice."""
    from rankgauge.io.json_text import repeated_keys

    if again := repeated_keys(record):  # type: ignore[arg-type]
        raise where.error(f"the {what} {min(again)!r} twice, expected it once")


def _json_rows(raw: bytes, source: str, expected: str) -> FileRows:
    from rankgauge.io.json_text import described, parsed

    start = len(raw) - len(raw.lstrip())
    line = raw.count(b"\n", 0, start) + 1
    end = raw.find(b"\n", start)
    of_lines = raw[start : start + 1] == b"{" and end >= 0 and bool(raw[end:].lstrip())
    fault: InputError | None = None
    if of_lines:
        try:
            parsed(raw[start:end], source, line)
        except InputError as error:
            fault = error  # of this line, or an object over several lines
        else:
            return FileRows(source, _lines(raw, source))
    try:
        value = parsed(raw[start:], source, line)
    except InputError:
        if fault is not None and raw[end:].lstrip()[:1] == b"{":
            raise fault from None
        raise
    if isinstance(value, list):
        return FileRows(source, _items(value, source))
    if not isinstance(value, dict):
        raise InputError(source, line, f"{described(value)}, {expected}")
    first = next(iter(value.values()), None)
    if isinstance(first, dict) and SUMMARIES in first:
        once(value, TextPlace(source), "text")
        return FileRows(source, _by_id(value, source), by_id=True)
    return FileRows(source, iter([FileRow(value, TextPlace(source, line))]))


def _lines(raw: bytes, source: str) -> Iterator[FileRow]:
    from rankgauge.io.json_text import lines_of, parsed_object

    for number, line in lines_of(raw):
        yield FileRow(parsed_object(line, source, number), TextPlace(source, number))


def _items(items: Sequence[object], source: str) -> Iterator[FileRow]:
    from rankgauge.io.json_text import described

    for number, item in enumerate(items, 1):
        where = TextPlace(source, row=f"item {number} of the list")
        if not isinstance(item, dict):
            raise where.error(f"{described(item)}, expected an object")
        yield FileRow(item, where)


def _by_id(texts: Mapping[str, Any], source: str) -> Iterator[FileRow]:
    """A row for each id of the one object of SummEval or REALSumm, which gets the key `id`."""
    from rankgauge.io.json_text import described

    for name, record in texts.items():
        where = TextPlace(source, row=f"text {name if len(name) <= 40 else name[:40] + '…'!r}")
        if not isinstance(record, dict):
            raise where.error(f"{described(record)}, expected an object with {SUMMARIES}")
        once(record, where)
        yield FileRow({**record, ID: name}, where)


def _csv_rows(raw: bytes, source: str, expected: str, needed: Sequence[str]) -> FileRows:
    from rankgauge.io.csv_files import csv_rows

    head = raw.lstrip(b"\r\n \t").partition(b"\n")[0]
    mark = next((mark for mark in SEPARATORS if _has(needed, head, mark)), None)
    if mark is None:
        marks = max(SEPARATORS, key=lambda each: head.count(each.encode()))
        names = [cell.strip(' "\r') for cell in head.decode(errors="replace").split(marks)]
        raise InputError(source, 1, f"a first line with {listed(names)}, {expected}")
    rows = csv_rows(raw, mark, source)
    line, header = next(rows)
    names = [_decoded(cell, "name of a column", TextPlace(source, line)).lower() for cell in header]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(source, line, f"two columns are called {name!r}, expected one")
        if not name:
            raise InputError(source, line, f"column {place + 1} has no name, expected one")
    return FileRows(source, _cells(rows, names, source), tuple(names))


def _has(needed: Sequence[str], head: bytes, mark: str) -> bool:
    cells = {cell.strip(b' \t\r"').lower() for cell in head.split(mark.encode())}
    return {name.encode() for name in needed} <= cells


def _cells(
    rows: Iterator[tuple[int, list[bytes]]], names: Sequence[str], source: str
) -> Iterator[FileRow]:
    for line, cells in rows:
        where = TextPlace(source, line)
        try:
            texts = [cell.decode() for cell in cells]
        except UnicodeDecodeError:
            texts = [_decoded(cell, name, where) for cell, name in zip(cells, names, strict=True)]
        yield FileRow(dict(zip(names, texts, strict=True)), where)


def _decoded(cell: bytes, what: str, where: TextPlace) -> str:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise where.error(
            f"the {what} has bytes that are not UTF-8, expected UTF-8 (convert the file)"
        ) from None


def refuse_sparse(filled: int, sizes: Mapping[str, int], source: str) -> None:
    """InputError for a table that would be nearly empty and huge."""
    from math import prod

    from rankgauge.scores.csv_files import MOST_CELLS, SPARSEST

    if prod(sizes.values()) > max(MOST_CELLS, SPARSEST * filled):
        named = " × ".join(counted(count, thing) for thing, count in sizes.items())
        raise InputError(
            source,
            None,
            f"only {filled:,} rows for {named}, expected a row for most of them (are the columns id and "
            "system right?)",
        )

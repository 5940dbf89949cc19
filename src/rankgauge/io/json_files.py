"""Runs and judgments in JSON, in each of the shapes that people have.

- JSON Lines with an object for each document: rows, as in a table;
- JSON Lines with an object for each query: `{"query": …, "retrieved": […], "relevant": […]}`;
- one object: `{query: {document: value}}`, or `{query: [documents]}`;
- an array of objects of the first two shapes.

Documents by query are read in `json_lists.py`. Polars reads rows fast. Where anything is unusual, they
are read again line by line.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from rankgauge.core.records import Record
from rankgauge.data.columns import ArrayColumn, ColumnsByRole, RowLocator
from rankgauge.data.frames import (
    Grouping,
    arrow_columns,
    judgments_by_query,
    judgments_from_columns,
    run_by_query,
    run_from_columns,
)
from rankgauge.data.model import Ids, Judgments, Run
from rankgauge.data.roles import (
    DOCUMENT,
    GRADE,
    QUERY,
    RANK,
    RECORD_QUERY,
    RELEVANT,
    RETRIEVED,
    SCORE,
    ColumnNames,
    Role,
    WantedColumns,
    format_columns,
    is_known,
    judgment_columns,
    normalize_name,
    places_of,
    run_columns,
)
from rankgauge.errors import InputError
from rankgauge.io.files import UTF8_MARK, Content
from rankgauge.io.json_lists import (
    ListLocator,
    documents_by_query,
    entries_of_object,
    entries_of_records,
)
from rankgauge.io.rows import (
    JsonObject,
    describe_value,
    lines_of,
    parse_json,
    parse_object,
    parse_object_quickly,
    repeated_keys,
)

EXPECTED = (
    'expected one of four shapes: {"q1": {"d1": 1}}; {"q1": ["d1", "d2"]}; one object per query, '
    'such as {"query_id": "q1", "retrieved": ["d1"], "relevant": ["d2"]}; or one object per query '
    'and document, such as {"query_id": "q1", "doc_id": "d1", "score": 1}'
)


class Shape(Record):
    """What a JSON file holds: `rows` or objects by query, of which `first` is the first one.

    `records` has the objects, None where each is on a line. `whole` says that the one object has a key
    for each query.
    """

    text: bytes
    first: JsonObject
    records: list[object] | None = None
    rows: bool = False
    whole: bool = False

    def objects(self, source: str) -> Iterator[tuple[int | None, JsonObject]]:
        """Each object with its line, where that is known."""
        if self.records is None:
            quick = True
            for number, line in lines_of(self.text):
                record = parse_object_quickly(line) if quick else None
                quick = record is not None  # ids with colons, say: all lines have them
                yield number, parse_object(line, source, number) if record is None else record
            return
        for number, value in enumerate(self.records):
            if not isinstance(value, dict):
                raise RowLocator(source).error(
                    number, f"{describe_value(value)}, expected an object"
                )
            yield None, value


def shape_of(content: Content, names: ColumnNames) -> Shape:
    """What a JSON file holds; InputError for anything that is not known."""
    text, source = content.whole().removeprefix(UTF8_MARK), content.source
    start = len(text) - len(text.lstrip())
    line = text.count(b"\n", 0, start) + 1
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    several = text[end:].strip() if end - start < len(text) // 2 else text[end:].lstrip()[:1]
    if text[start : start + 1] == b"{" and several:
        try:
            first = parse_object(text[start:end], source, line)
        except InputError:
            pass  # an object over several lines, or a fault that is told below
        else:
            return _shape(Shape(text, first), names, source)
    value = parse_json(text[start:], source, line)
    if isinstance(value, dict):
        shape = _shape(Shape(text, value, [value]), names, source)
        # An object on one line that is no whole file is the only line of JSON Lines.
        return shape if several or shape.whole else replace(shape, records=None)
    records: Any = value
    if not records:
        raise InputError(source, None, "an empty list, expected an object for each query or row")
    if not isinstance(records[0], dict):
        raise RowLocator(source).error(0, f"{describe_value(records[0])}, expected an object")
    shape = _shape(Shape(text, records[0], records), names, source)
    if shape.whole:
        keys = format_columns(list(shape.first))
        raise InputError(source, None, f"a list of objects with the keys {keys}, {EXPECTED}")
    return shape


def _shape(shape: Shape, names: ColumnNames, source: str) -> Shape:
    """The shape, by the keys and values of the first object."""
    keys = list(shape.first)
    if any(_has_documents(shape.first, role, names) for role in (RETRIEVED, RELEVANT)):
        return shape
    as_rows = is_known(keys, QUERY, names.query) and is_known(keys, DOCUMENT, names.document)
    nested = any(isinstance(value, dict | list) for value in shape.first.values())
    if as_rows or (keys and not nested):
        return replace(shape, rows=True)
    if not keys:
        raise InputError(source, None, f"an empty object, {EXPECTED}")
    plain = [key for key, value in shape.first.items() if not isinstance(value, dict | list)]
    # A query with a key of its own has its documents under another key, which is missing.
    return shape if is_known(plain, RECORD_QUERY, names.query) else replace(shape, whole=True)


def _has_documents(record: JsonObject, role: Role, names: ColumnNames) -> bool:
    """Whether an object has its documents in this role under one key."""
    known = {normalize_name(name) for name in role.names}
    held = [value for key, value in record.items() if normalize_name(key) in known]
    if any(isinstance(value, dict | list) for value in held):
        return True
    return bool(held) and not is_known(list(record), DOCUMENT, names.document)


def json_run(content: Content, name: str, names: ColumnNames) -> Run:
    """The run in a JSON file."""
    shape = shape_of(content, names)
    if shape.rows:
        columns, place = _columns(shape, run_columns(names), content.source)
        return run_from_columns(columns, place, name, content.source)
    return run_by_query(*_documents_by_query(shape, RETRIEVED, names, content.source), name)


def run_beside_judgments(content: Content, name: str, names: ColumnNames) -> Run | None:
    """The run in a JSON file whose objects have judgments too, None where there is none."""
    shape, source = shape_of(content, names), content.source
    if shape.rows or shape.whole or RETRIEVED.place(list(shape.first), None, source) is None:
        return None
    return run_by_query(*_documents_by_query(shape, RETRIEVED, names, source), name)


def json_judgments(content: Content, names: ColumnNames) -> Judgments:
    """The judgments in a JSON file."""
    shape = shape_of(content, names)
    if shape.rows:
        return judgments_from_columns(*_columns(shape, judgment_columns(names), content.source))
    if names.subtopic:
        message = (
            "documents grouped by query, expected one object for each judgment, since there are "
            "subtopics"
        )
        raise InputError(content.source, None, message)
    return judgments_by_query(*_documents_by_query(shape, RELEVANT, names, content.source))


def _documents_by_query(
    shape: Shape, role: Role, names: ColumnNames, source: str
) -> tuple[Grouping, Ids, ArrayColumn, ListLocator]:
    objects = shape.objects(source)
    entries = (
        entries_of_object(objects, source)
        if shape.whole
        else entries_of_records(shape.first, objects, role, names, source)
    )
    return documents_by_query(entries, role, names, source)


# Rows


def _columns(shape: Shape, wanted: WantedColumns, source: str) -> tuple[ColumnsByRole, RowLocator]:
    """The columns of rows, and where the rows are; the keys of the first row say what columns there are.

    JSON Lines may have blank lines between them.
    """
    on_lines = shape.records is None
    records: Iterable[JsonObject] = (record for _, record in shape.objects(source))
    if not on_lines:
        records = list(records)  # a row that is no object is the first fault
    keys = list(shape.first)
    places = places_of(wanted, keys, source)
    place = RowLocator(source, _line_of_row(shape.text) if on_lines else None)
    roles = {keys[at]: role for role, at in places}
    if on_lines and len(roles) == len(wanted):
        fast = _polars_json(shape.text, roles, shape.first, source)
        if fast is not None:
            return fast, place
    columns: list[list[object]] = [[] for _ in places]
    for row, record in enumerate(records):
        for (role, at), column in zip(places, columns, strict=True):
            key = keys[at]
            if key in repeated_keys(record):
                message = f"{key!r} more than once, expected each key once (the {role.option})"
                raise place.error(row, message)
            if key not in record:
                message = f"no {key!r}, expected one as in the first row (the {role.option})"
                raise place.error(row, message)
            column.append(record[key])
    by_role = {r: ArrayColumn(column) for (r, _), column in zip(places, columns, strict=True)}
    return by_role, place


def _line_of_row(text: bytes) -> Callable[[int], int]:
    @cache
    def numbers() -> list[int]:
        return [number for number, _ in lines_of(text)]

    return lambda row: numbers()[row]


ESCAPED_KEY = re.compile(rb'\\.[^"\\]*"\s*:')
"""What a key looks like in which something is escaped; so does some text."""

REPLACED_SURROGATE = "\0"
"""What polars makes of half a surrogate pair."""


@cache
def polars_is_strict() -> bool:
    """Whether this polars refuses JSON values of another type than asked for; older ones convert."""
    import polars as pl

    for value in (b"1.5", b"true", b'"1"'):
        for kind in (pl.Int64, pl.Float64):
            if (value, kind) == (b"1.5", pl.Float64):
                continue
            try:
                pl.read_ndjson(io.BytesIO(b'{"x": %b}\n' % value), schema={"x": kind})
            except pl.exceptions.PolarsError:
                continue
            return False
    return True


def _polars_json(
    text: bytes, roles: dict[str, Role], first: JsonObject, source: str
) -> ColumnsByRole | None:
    """Return the columns as polars reads them, or None where anything is unusual.

    A slower look at each line then finds the fault, or finds that there is none.
    """
    import polars as pl

    if not polars_is_strict():
        return None
    schema: dict[str, Any] = {}
    for key, role in roles.items():
        if role in (SCORE, RANK, GRADE):
            schema[key] = pl.Int64 if role is GRADE else pl.Float64
        else:
            schema[key] = pl.String if isinstance(first[key], str) else pl.Int64
    try:
        frame = pl.read_ndjson(io.BytesIO(text), schema=schema).select(list(schema))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    if frame.height != lines and frame.height != sum(1 for _ in lines_of(text)):
        return None
    if (b"\\" in text and ESCAPED_KEY.search(text)) or not all(
        _is_plain_column(text, key, kind, frame.height) for key, kind in schema.items()
    ):
        return None
    odd = frame.select(
        pl.col(pl.String).str.contains(REPLACED_SURROGATE, literal=True),
        pl.col(pl.Float64).is_infinite(),
    )
    if any(column.has_nulls() for column in frame) or any(column.any() for column in odd):
        return None
    return arrow_columns(frame, [(role, key) for key, role in roles.items()], source)


def _is_plain_column(text: bytes, key: str, kind: Any, rows: int) -> bool:
    """Test whether polars reads each value of a key as Python does.

    The key must be as often in the text as there are rows, and always before a value that both read
    alike: a whole number in digits only, or a text in quotes. A float may be anything.
    """
    import polars as pl

    quoted = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if text.count(quoted) != rows:
        return False
    if kind == pl.Float64:
        return True
    value = rb'"' if kind == pl.String else rb"-?[0-9]++\s*+[,}]"
    other = re.escape(quoted) + rb"(?!\s*+:\s*+" + value + rb")"
    return re.search(other, text) is None

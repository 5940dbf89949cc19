"""Runs and judgments in JSON, in each of the shapes that people have.

- JSON Lines with an object for each document: rows, as in a table (`json_rows.py`);
- JSON Lines with an object for each query: `{"query": …, "retrieved": […], "relevant": […]}`;
- one object: `{query: {document: value}}`, or `{query: [documents]}`;
- an array of objects of the first two shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rankgauge.data.columns import Place
from rankgauge.data.frames import judgments_in, run_in
from rankgauge.data.model import Judgments, Run
from rankgauge.data.roles import (
    DOCUMENT,
    QUERY,
    RELEVANT,
    RETRIEVED,
    ColumnNames,
    Role,
    Wanted,
    is_known,
    judgment_columns,
    listed,
    normal,
    run_columns,
)
from rankgauge.errors import InputError
from rankgauge.io.json_lists import ByQuery, QueryEntry, entries_of_object, entries_of_records
from rankgauge.io.json_rows import line_of_row, record_columns, row_columns
from rankgauge.io.rows import (
    JsonObject,
    described,
    lines_of,
    parsed,
    parsed_object,
    quick_object,
)

EXPECTED = (
    'expected one of four shapes: {"q1": {"d1": 1}}; {"q1": ["d1", "d2"]}; one object per query, '
    'such as {"query_id": "q1", "retrieved": ["d1"], "relevant": ["d2"]}; or one object per query '
    'and document, such as {"query_id": "q1", "doc_id": "d1", "score": 1}'
)


class Shape(NamedTuple):
    """What a JSON file holds: `rows` or objects by query, of which `first` is the first one.

    `records` has the objects with their lines, where these are known. `whole` is the one object that
    has a key for each query.
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
                record = quick_object(line) if quick else None
                quick = record is not None  # ids with colons, say: all lines have them
                yield number, parsed_object(line, source, number) if record is None else record
            return
        for number, value in enumerate(self.records):
            if not isinstance(value, dict):
                raise Place(source).error(number, f"{described(value)}, expected an object")
            yield None, value


def shape_of(text: bytes, names: ColumnNames, source: str) -> Shape:
    """What the text of a JSON file holds; InputError for anything that is not known."""
    start = len(text) - len(text.lstrip())
    line = text.count(b"\n", 0, start) + 1
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    several = text[end:].strip() if end - start < len(text) // 2 else text[end:].lstrip()[:1]
    if text[start : start + 1] == b"{" and several:
        try:
            first = parsed_object(text[start:end], source, line)
        except InputError:
            pass  # an object over several lines, or a fault that is told below
        else:
            return _shape(Shape(text, first), names, source)
    value = parsed(text[start:], source, line)
    if isinstance(value, dict):
        shape = _shape(Shape(text, value, [value]), names, source)
        # An object on one line that is no whole file is the only line of JSON Lines.
        return shape if several or shape.whole else shape._replace(records=None)
    records: Any = value
    if not records:
        raise InputError(source, None, "an empty list, expected an object for each query or row")
    if not isinstance(records[0], dict):
        raise Place(source).error(0, f"{described(records[0])}, expected an object")
    shape = _shape(Shape(text, records[0], records), names, source)
    if shape.whole:
        raise InputError(
            source,
            None,
            f"a list of objects with the keys \
{listed(list(shape.first))}, {EXPECTED}",
        )
    return shape


def _shape(shape: Shape, names: ColumnNames, source: str) -> Shape:
    """The shape, by the keys and values of the first object."""
    keys = list(shape.first)
    if any(_has(shape.first, role, names) for role in (RETRIEVED, RELEVANT)):
        return shape
    as_rows = is_known(keys, QUERY, names.query) and is_known(keys, DOCUMENT, names.document)
    nested = any(isinstance(value, dict | list) for value in shape.first.values())
    if as_rows or (keys and not nested):
        return shape._replace(rows=True)
    if not keys:
        raise InputError(source, None, f"an empty object, {EXPECTED}")
    return shape._replace(whole=True)


def _has(record: JsonObject, role: Role, names: ColumnNames) -> bool:
    """Whether an object has its documents in this role under one key."""
    known = {normal(name) for name in role.names}
    held = [value for key, value in record.items() if normal(key) in known]
    if any(isinstance(value, dict | list) for value in held):
        return True
    return bool(held) and not is_known(list(record), DOCUMENT, names.document)


def json_run(text: bytes, name: str, names: ColumnNames, source: str) -> Run:
    """The run in the text of a JSON file."""
    shape = shape_of(text, names, source)
    if shape.rows:
        return run_in(*_rows(shape, run_columns(names), source), name, source)
    return _by_query(shape, RETRIEVED, names, source).run(name)


def run_beside_judgments(text: bytes, name: str, names: ColumnNames, source: str) -> Run | None:
    """The run in the text of a JSON file whose objects have judgments too, None where there is none."""
    shape = shape_of(text, names, source)
    if shape.rows or shape.whole or RETRIEVED.place(list(shape.first), None, source) is None:
        return None
    return _by_query(shape, RETRIEVED, names, source).run(name)


def json_judgments(text: bytes, names: ColumnNames, source: str) -> Judgments:
    """The judgments in the text of a JSON file."""
    shape = shape_of(text, names, source)
    if shape.rows:
        return judgments_in(*_rows(shape, judgment_columns(names), source))
    if names.subtopic:
        message = (
            "documents grouped by query, expected one object for each judgement, since there are "
            "subtopics"
        )
        raise InputError(source, None, message)
    return _by_query(shape, RELEVANT, names, source).judgments()


def _rows(shape: Shape, wanted: Wanted, source: str) -> tuple[list[Any], Place]:
    if shape.records is None:
        columns = row_columns(shape.text, shape.first, wanted, source)
        return columns, line_of_row(shape.text, source)
    return record_columns(shape.records, wanted, source), Place(source)


def _by_query(shape: Shape, role: Role, names: ColumnNames, source: str) -> ByQuery:
    entries: Iterator[QueryEntry] = (
        entries_of_object(shape.objects(source), source)
        if shape.whole
        else entries_of_records(shape.first, shape.objects(source), role, names, source)
    )
    return ByQuery.of(entries, role, names, source)

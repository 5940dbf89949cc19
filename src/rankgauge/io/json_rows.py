"""Rows of JSON: JSON Lines with an object for each document, or an array of such objects.

Polars reads JSON Lines fast. Where anything is unusual, they are read again line by line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from rankgauge.data.columns import ArrayColumn, Column, Place
from rankgauge.data.frames import arrow_table, in_roles, loaded
from rankgauge.data.roles import GRADE, RANK, SCORE, Role, Wanted, places_of
from rankgauge.io.rows import (
    JsonObject,
    described,
    lines_of,
    parsed_object,
    repeated_keys,
)


def row_columns(text: bytes, first: JsonObject, wanted: Wanted, source: str) -> list[Column]:
    """The columns of JSON Lines; the keys of the first line say what columns there are."""
    keys = list(first)
    places = places_of(wanted, keys, source)
    roles = {keys[place]: role for role, place in places}
    if len(roles) == len(wanted):
        fast = _polars_json(text, roles, first, source)
        if fast is not None:
            return in_roles(places, fast)
    records = (parsed_object(line, source, number) for number, line in lines_of(text))
    return _by_value(records, keys, places, line_of_row(text, source))


def record_columns(records: Sequence[object], wanted: Wanted, source: str) -> list[Column]:
    """The columns of a JSON array with an object a row; the keys of the first say what there is."""
    place = Place(source)
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise place.error(row, f"{described(record)}, expected an object")
    objects: Any = records
    keys = list(objects[0])
    return _by_value(objects, keys, places_of(wanted, keys, source), place)


def _by_value(
    records: Iterable[JsonObject], keys: list[str], places: list[tuple[Role, int]], place: Place
) -> list[Column]:
    """The columns with a Python object a cell: a fault is named by its row."""
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
    return in_roles(places, [ArrayColumn(column) for column in columns])


def line_of_row(text: bytes, source: str) -> Place:
    """Where the rows of JSON Lines are, which may have blank lines between them."""
    numbers: list[int] = []

    def line(row: int) -> int:
        if not numbers:
            numbers.extend(number for number, _ in lines_of(text))
        return numbers[row]

    return Place(source, line)


ESCAPED_KEY = re.compile(rb'\\.[^"\\]*"\s*:')
"""What a key looks like in which something is escaped; so does some text."""

DAMAGED = "\0"
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
) -> list[Column] | None:
    """The columns as polars reads them, None where anything is unusual: then a slower look at each
    line finds the fault, or finds that there is none."""
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
        _plainly_there(text, key, kind, frame.height) for key, kind in schema.items()
    ):
        return None
    odd = frame.select(
        pl.col(pl.String).str.contains(DAMAGED, literal=True), pl.col(pl.Float64).is_infinite()
    )
    if any(column.has_nulls() for column in frame) or any(column.any() for column in odd):
        return None
    return loaded(arrow_table(frame, source), range(len(schema)), source)


def _plainly_there(text: bytes, key: str, kind: Any, rows: int) -> bool:
    """Whether a key is as often in the text as there are rows, and always before a value that Python
    reads as polars does: a whole number in digits only, a text in quotes. A float may be anything."""
    import json

    import polars as pl

    quoted = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if text.count(quoted) != rows:
        return False
    if kind == pl.Float64:
        return True
    value = rb'"' if kind == pl.String else rb"-?[0-9]++\s*+[,}]"
    other = re.escape(quoted) + rb"(?!\s*+:\s*+" + value + rb")"
    return re.search(other, text) is None

"""Runs and judgments from Parquet and JSON Lines files, told apart by how they begin."""

from __future__ import annotations

import io
import re
from collections import Counter
from functools import cache
from typing import IO, Any

from rankgauge.data.columns import (
    DOCUMENT,
    GRADE,
    QUERY,
    SCORE,
    SUBTOPIC,
    ArrayColumn,
    Column,
    Place,
    Role,
    Wanted,
    first_line,
    lines_of,
    type_error,
)
from rankgauge.data.decoder import decoded, no_decoder
from rankgauge.data.errors import InputError
from rankgauge.data.files import (
    SIZE_LIMIT,
    UTF8_MARK,
    UTF16_MARKS,
    Content,
    open_content,
    table_kind,
)
from rankgauge.data.model import Judgments, Run
from rankgauge.data.tables import (
    arrow_table,
    columns_of,
    judgment_columns,
    judgments_in,
    loaded,
    run_in,
)
from rankgauge.data.trec import Path, run_name


def read_run_table(
    path: Path,
    *,
    name: str | None = None,
    query: str | None = None,
    document: str | None = None,
    score: str | None = None,
    size_limit: int = SIZE_LIMIT,
) -> Run:
    """The run in a Parquet or JSON Lines file, named after the file unless `name` is given.

    A row, or an object a line, has a query, a document and a score, in columns of the usual names
    or of those given. Raises InputError, with the line in JSON Lines.
    """
    wanted = ((QUERY, query), (DOCUMENT, document), (SCORE, score))
    with open_content(path, limit=size_limit) as content:
        return run_table(content, run_name(path) if name is None else name, wanted)


def read_qrels_table(
    path: Path,
    *,
    query: str | None = None,
    document: str | None = None,
    grade: str | None = None,
    subtopic: str | None = None,
    size_limit: int = SIZE_LIMIT,
) -> Judgments:
    """The judgments in a Parquet or JSON Lines file; `subtopic` names the column of subtopics."""
    with open_content(path, limit=size_limit) as content:
        return qrels_table(content, query, document, grade, subtopic)


RUN_COLUMNS: Wanted = ((QUERY, None), (DOCUMENT, None), (SCORE, None))


def run_table(content: Content, name: str, wanted: Wanted = RUN_COLUMNS) -> Run:
    """The run in the content of a Parquet or JSON Lines file."""
    columns, place = _file_columns(content, wanted)
    return run_in(columns, place, name, content.source)


def qrels_table(
    content: Content,
    query: str | None = None,
    document: str | None = None,
    grade: str | None = None,
    subtopic: str | None = None,
) -> Judgments:
    """The judgments in the content of a Parquet or JSON Lines file."""
    wanted = judgment_columns(query, document, grade, subtopic)
    return judgments_in(*_file_columns(content, wanted))


def _file_columns(content: Content, wanted: Wanted) -> tuple[list[Column], Place]:
    source, kind = content.source, table_kind(content.head())
    if kind == "parquet":
        return _parquet_columns(content, wanted), Place(source)
    raw = content.whole()
    if raw.startswith(UTF16_MARKS):
        raise InputError(source, 1, "UTF-16 text, expected UTF-8 (convert the file)")
    if kind is None:
        message = "neither Parquet nor JSON Lines, expected PAR1 or an object a line"
        raise InputError(source, None, message if raw.strip() else "no rows, expected some")
    text = raw.removeprefix(UTF8_MARK)
    return _json_columns(text, wanted, source), Place(source, text)


def _parquet_columns(content: Content, wanted: Wanted) -> list[Column]:
    """The columns of a Parquet file, decoded by another process."""
    import polars as pl

    asked = [(role.option, name) for role, name in wanted]
    with decoded(content, decode_columns, asked) as stream:
        raw = stream.read()
    try:
        frame = pl.read_ipc(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise no_decoder(content.source, first_line(error)) from None
    return columns_of(frame, wanted, content.source)


def decode_columns(file: Any, source: str, limit: int, asked: Any, result: IO[bytes]) -> None:
    """What the other process does: the wanted columns of a Parquet file as Arrow."""
    roles = {role.option: role for role in (QUERY, DOCUMENT, SCORE, GRADE, SUBTOPIC)}
    wanted = [(roles[option], name) for option, name in asked]
    parquet_frame(file.read(), wanted, source, limit).write_ipc(result)


def parquet_frame(raw: bytes, wanted: Wanted, source: str, limit: int) -> Any:
    """The wanted columns of a Parquet file, as a polars frame, which takes no more than the limit."""
    import polars as pl

    try:
        scan = pl.scan_parquet(io.BytesIO(raw))
        schema = scan.collect_schema()
        names = schema.names()
        chosen = [names[role.find(names, name, source)] for role, name in wanted]
        for (role, _), name in zip(wanted, chosen, strict=True):
            if schema[name].is_nested():
                what = f"column {name!r}"
                raise type_error(role, Place(source), what, "nested values", "plain ones")
        rows = scan.select(pl.len()).collect().item()
        if not rows:
            raise InputError(source, None, "no rows, expected some")
        _refuse_size(rows, rows * 8 * len(chosen), source, limit)  # the least they take
        frame = scan.select(list(dict.fromkeys(chosen))).collect()
        # In polars the rows that hold the same word share it; a column of ids has it once a row.
        text = sum(_text_size(frame[name]) for name in chosen)
        _refuse_size(rows, text + rows * 8 * len(chosen), source, limit)
        return frame
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        message = f"damaged Parquet data ({first_line(error)}), expected a whole file"
        raise InputError(source, None, message) from None


def _text_size(column: Any) -> int:
    """How many bytes the texts of a polars column are together."""
    import polars as pl

    if column.dtype == pl.Binary:
        sizes = column.bin.size()
    elif column.dtype in (pl.String, pl.Categorical, pl.Enum):
        sizes = column.cast(pl.String).str.len_bytes()
    else:
        return 0
    return int(sizes.cast(pl.UInt64).sum())


def _refuse_size(rows: int, size: int, source: str, limit: int) -> None:
    if size > limit:
        message = f"holds {rows:,} rows, more than {limit:,} bytes, expected less "
        raise InputError(source, None, message + "(raise the size limit)")


def _json_columns(text: bytes, wanted: Wanted, source: str) -> list[Column]:
    """The columns of JSON Lines; the keys of the first line say what columns there are."""
    start = len(text) - len(text.lstrip())
    end = text.find(b"\n", start)
    first_number = text.count(b"\n", 0, start) + 1
    first = _json_object(text[start : end if end >= 0 else None], source, first_number)
    keys = list(first)
    chosen = [keys[role.find(keys, name, source)] for role, name in wanted]
    roles = dict(zip(chosen, (role for role, _ in wanted), strict=True))
    fast = _polars_json(text, roles, first, source) if len(roles) == len(wanted) else None
    if fast is not None:
        return fast
    columns: list[list[object]] = [[] for _ in chosen]
    for number, line in lines_of(text):
        record = _json_object(line, source, number)
        for key, column, (role, _) in zip(chosen, columns, wanted, strict=True):
            if key in record.repeated:
                message = f"{key!r} more than once, expected each key once (the {role.option})"
                raise InputError(source, number, message)
            if key not in record:
                message = f"no {key!r}, expected one as in the first line (the {role.option})"
                raise InputError(source, number, message)
            column.append(record[key])
    return [ArrayColumn(column) for column in columns]


class JsonObject(dict[str, object]):
    """An object of JSON; `repeated` has the keys that it has more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs) if len(pairs) > len(self) else {}
        self.repeated = {key for key, count in counts.items() if count > 1}


def _json_object(line: bytes, source: str, number: int) -> JsonObject:
    try:
        import json

        record = json.loads(line, object_pairs_hook=JsonObject)
    except (ValueError, RecursionError) as error:
        message = f"not JSON ({first_line(error)}), expected an object a line"
        raise InputError(source, number, message) from None
    if not isinstance(record, JsonObject):
        raise InputError(source, number, f"a JSON {type(record).__name__}, expected an object")
    return record


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
    text: bytes, roles: dict[str, Role], first: dict[str, object], source: str
) -> list[Column] | None:
    """The columns as polars reads them, None where anything is unusual: then a slower look at each
    line finds the fault, or finds that there is none."""
    import polars as pl

    if not polars_is_strict():
        return None
    schema: dict[str, Any] = {}
    for key, role in roles.items():
        if role in (SCORE, GRADE):
            schema[key] = pl.Float64 if role is SCORE else pl.Int64
        else:
            schema[key] = pl.String if isinstance(first[key], str) else pl.Int64
    try:
        frame = pl.read_ndjson(io.BytesIO(text), schema=schema).select(list(schema))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    if frame.height != lines and frame.height != len(lines_of(text)):
        return None
    if ESCAPED_KEY.search(text) or not all(
        _plainly_there(text, key, kind, frame.height) for key, kind in schema.items()
    ):
        return None
    odd = frame.select(pl.col(pl.String).str.contains(DAMAGED, literal=True))
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

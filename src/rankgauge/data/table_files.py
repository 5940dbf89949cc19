"""Runs and judgments from Parquet and JSON Lines files, told apart by how they begin."""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from typing import Any

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
    lines_of,
)
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
    first_line,
    judgment_columns,
    judgments_of,
    loaded,
    run_of,
)
from rankgauge.data.trec import run_name

Path = str | os.PathLike[str]


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
    columns, place = _file_columns(content.whole(), wanted, content.source, content.limit)
    return run_of(columns, place, name, content.source)


def qrels_table(
    content: Content,
    query: str | None = None,
    document: str | None = None,
    grade: str | None = None,
    subtopic: str | None = None,
) -> Judgments:
    """The judgments in the content of a Parquet or JSON Lines file."""
    wanted = judgment_columns(query, document, grade, subtopic)
    return judgments_of(*_file_columns(content.whole(), wanted, content.source, content.limit))


def _file_columns(
    raw: bytes, wanted: Wanted, source: str, limit: int
) -> tuple[list[Column], Place]:
    kind = table_kind(raw)
    if kind == "parquet":
        columns = _parquet_columns(raw, wanted, source, limit)
        return columns, Place(source)
    if raw.startswith(UTF16_MARKS):
        raise InputError(source, 1, "UTF-16 text, expected UTF-8 (convert the file)")
    if kind is None:
        message = "neither Parquet nor JSON Lines, expected PAR1 or an object a line"
        raise InputError(source, None, message if raw.strip() else "no rows, expected some")
    text = raw.removeprefix(UTF8_MARK)
    return _json_columns(text, wanted, source), Place(source, text)


DECODER = "from rankgauge.data.table_files import decode; decode()"


def _parquet_columns(raw: bytes, wanted: Wanted, source: str, limit: int) -> list[Column]:
    """The columns of a Parquet file, decoded by another process: polars can end the one it is in over
    a page that promises too much."""
    import json
    import subprocess

    import polars as pl

    asked = json.dumps([[(role.option, name) for role, name in wanted], source, limit])
    done = subprocess.run(
        [sys.executable, "-P", "-c", DECODER, asked],
        input=raw,
        capture_output=True,
        check=False,
    )
    if done.returncode == REFUSED:
        raise InputError(source, None, done.stdout.decode())
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        message = f"damaged Parquet data ({': '.join(['its decoder crashed', *last])}), expected "
        message += "a whole file"
        raise InputError(source, None, message)
    return columns_of(pl.read_ipc(io.BytesIO(done.stdout)), wanted, source)


REFUSED = 3
"""How the decoder ends when it has a message for the user."""


def decode() -> None:
    """What the other process does: Parquet from standard input to Arrow on standard output."""
    import json

    roles = {role.option: role for role in (QUERY, DOCUMENT, SCORE, GRADE, SUBTOPIC)}
    asked, source, limit = json.loads(sys.argv[1])
    wanted = [(roles[option], name) for option, name in asked]
    try:
        frame = parquet_frame(sys.stdin.buffer.read(), wanted, source, limit)
    except InputError as error:
        sys.stdout.buffer.write(error.message.encode())
        sys.exit(REFUSED)
    frame.write_ipc(sys.stdout.buffer)


def parquet_frame(raw: bytes, wanted: Wanted, source: str, limit: int) -> Any:
    """The wanted columns of a Parquet file, as a polars frame."""
    import polars as pl

    try:
        frame = pl.scan_parquet(io.BytesIO(raw))
        names = frame.collect_schema().names()
        chosen = [names[role.find(names, name, source)] for role, name in wanted]
        rows = frame.select(pl.len()).collect().item()
        if not rows:
            raise InputError(source, None, "no rows, expected some")
        if rows * 8 * len(chosen) > limit:  # the least that so many rows take
            message = f"holds {rows:,} rows, more than {limit:,} bytes, expected less "
            raise InputError(source, None, message + "(raise the size limit)")
        return frame.select(list(dict.fromkeys(chosen))).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        message = f"damaged Parquet data ({first_line(error)}), expected a whole file"
        raise InputError(source, None, message) from None


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
            if key not in record:
                message = f"no {key!r}, expected one as in the first line (the {role.option})"
                raise InputError(source, number, message)
            column.append(record[key])
    return [ArrayColumn(column) for column in columns]


def _json_object(line: bytes, source: str, number: int) -> dict[str, object]:
    try:
        import json

        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"not JSON ({first_line(error)}), expected an object a line"
        raise InputError(source, number, message) from None
    if not isinstance(record, dict):
        raise InputError(source, number, f"a JSON {type(record).__name__}, expected an object")
    return record


CONVERTED = r"^(?:true$|false$|[\[{]|-?[0-9]+\.[0-9])"
"""Text that polars may have made of a value that was no text."""

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
    texts = frame.select(pl.col(pl.String))
    odd = pl.all().str.contains(CONVERTED) | pl.all().str.contains(DAMAGED, literal=True)
    if any(column.has_nulls() for column in frame) or any(
        column.any() for column in texts.select(odd)
    ):
        return None
    return loaded(arrow_table(frame, source), range(len(schema)), source)

"""Scores in a file of their own: Parquet, with a column a measure and the rest in its metadata."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import count_phrase
from rankgauge.core.sealing import check_seal, read_json, seal
from rankgauge.data.columns import error_summary
from rankgauge.errors import InputError
from rankgauge.io.decoder import memory_allowance, run_decoder
from rankgauge.io.files import Content, atomic_write, open_content
from rankgauge.scores.documents import (
    FORMAT,
    NUMBERS,
    REMEDY,
    UNSEALED_VERSION,
    VERSION,
    Document,
    ScoresDescription,
    document_of,
    scores_of_json,
)
from rankgauge.scores.model import Scores
from rankgauge.scores.tables import LONG_COLUMNS
from rankgauge.scores.validation import check, shorten
from rankgauge.separate.inside import limit_memory

PRESENT, JUDGED = ("present", "Boolean"), ("judged_at_10", "Float64")

PARQUET = b"PAR1"

ROW_GROUP_SIZE = 1 << 18
"""Number of rows per row group, which is the unit of decoding in files we wrote."""

MOST_PIECES = 16
"""Maximum number of pieces in which a file is decoded: one with a single row group is read for each."""

TRANSPOSE_ROWS = 1 << 12
"""Number of rows transposed at a time into one column per measure, within the cache."""


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    """What `Scores.save` does."""
    import json

    import polars as pl

    check(scores, os.fspath(path))
    numbers = {name: getattr(scores, name) for name in NUMBERS}
    document = json.dumps(seal(document_of(scores), numbers), allow_nan=False)
    names = [name for name, _ in columns_of([str(measure) for measure in scores.measures])]
    columns = [
        scores.present.ravel(),
        scores.judged_at_10.ravel(),
        *_measure_columns(scores.values),
    ]
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)))
    with atomic_write(path) as stream:
        _write(frame, stream, {FORMAT: document})


class _ErrorKeepingStream(io.RawIOBase):
    """A stream as polars takes it, which keeps the error of a write: polars loses what it was.

    It also hides the file below a stream that compresses, to which polars would write.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            self.stream.write(data)
        except OSError as error:
            self.error = error
            raise
        return len(data)


def _write(frame: Any, stream: Any, metadata: dict[str, str]) -> None:
    """Write a frame as Parquet; OSError where the stream takes no more."""
    import polars as pl

    target = _ErrorKeepingStream(stream)
    try:
        frame.write_parquet(
            target,
            compression="zstd",
            compression_level=1,
            statistics=False,
            row_group_size=ROW_GROUP_SIZE,
            metadata=metadata,
        )
    except pl.exceptions.PolarsError as error:
        raise target.error or OSError(error_summary(error)) from None


def columns_of(measures: Sequence[str]) -> list[tuple[str, str]]:
    """The columns of a file and their types; a number before each measure keeps names apart."""
    texts = [text.encode(errors="backslashreplace").decode() for text in measures]
    return [PRESENT, JUDGED, *((f"{m} {text}", "Float64") for m, text in enumerate(texts))]


def _measure_columns(values: Floats) -> Floats:
    """Measure × (run and query): the values, each measure in one piece of memory."""
    rows = values.reshape(-1, values.shape[2]) if values.size else np.zeros((0, values.shape[2]))
    columns = np.empty(rows.shape[::-1])
    for start in range(0, len(rows), TRANSPOSE_ROWS):
        columns[:, start : start + TRANSPOSE_ROWS] = rows[start : start + TRANSPOSE_ROWS].T
    return columns


def load(path: str | os.PathLike[str], size_limit: int) -> Scores:
    """What `Scores.load` gives."""
    with open_content(path, limit=size_limit) as content:
        if content.head().startswith(PARQUET):
            return _load_parquet(content)
        return scores_of_json(content.whole(), content.source)


def _load_parquet(content: Content) -> Scores:
    import json

    source = content.source
    with run_decoder(content, send, None) as stream:
        header = stream.readline()
        if not header.endswith(b"\n"):
            raise EOFError
        text, columns, rows = json.loads(header)
        columns = [(name, kind) for name, kind in columns]
        document, described = read_description(text, columns, rows, source)
        runs, queries, measures = described.shape
        values = np.empty((runs, queries, measures))
        present = np.empty((runs, queries), dtype=np.bool_)
        judged_at_10 = np.empty((runs, queries))
        arrays = present.ravel(), judged_at_10.ravel(), values.reshape(rows, measures)
        for piece in _pieces(rows):
            for array in arrays:
                _fill(array[piece], stream)
    if document.sealed:
        numbers = dict(zip(NUMBERS, (values, present, judged_at_10), strict=True))
        check_seal(document.entries, source, REMEDY, numbers)
    return described.scores(values, present, judged_at_10, source)


def read_description(
    text: str | None, columns: list[tuple[str, str]], rows: int, source: str
) -> tuple[Document, ScoresDescription]:
    """The description of the scores in a Parquet file, after a check of its columns and rows."""
    if text is None:
        names = [name for name, _ in columns]
        if names == LONG_COLUMNS:
            message = "a table made by Scores.write_parquet, without the evaluation settings"
            remedy = "a file made by Scores.save, or by Scores.write_csv for Scores.from_csv"
            raise InputError(source, None, f"{message}, expected {remedy}")
        message = f"not a file of scores (a table with the columns {shorten(', '.join(names))})"
        raise InputError(source, None, f"{message}, expected one made by Scores.save")
    entries = read_json(text, source, "a file of scores", "Scores.save")
    document = Document(entries, [UNSEALED_VERSION, VERSION], source)
    described = ScoresDescription.by(document)
    expected = columns_of(document.texts("measures"))
    for column, right in zip(columns, expected, strict=False):
        if column != right:
            message = f"the column {shorten(column[0])} of type {column[1]}"
            wanted = f"{shorten(right[0])} of type {right[1]} in its place"
            raise InputError(source, None, f"{message}, expected {wanted} (save the scores again)")
    runs, queries, measures = described.shape
    if len(columns) != len(expected) or rows != runs * queries:
        message = (
            f"{len(columns)} columns and {rows:,} rows for {count_phrase(runs, 'run')}, "
            f"{count_phrase(queries, 'query')} and {count_phrase(measures, 'measure')}"
        )
        wanted = f"{len(expected)} columns and {runs * queries:,} rows"
        raise InputError(source, None, f"{message}, expected {wanted} (save the scores again)")
    return document, described


def _pieces(rows: int) -> Iterator[slice]:
    """The rows that are decoded at a time."""
    size = max(ROW_GROUP_SIZE, -(-rows // MOST_PIECES))
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def _fill(array: NDArray[Any], stream: IO[bytes]) -> None:
    """Read an array, which is one piece of memory; EOFError where the stream ends before."""
    room = memoryview(array.reshape(-1).view(np.uint8).data)
    while room:
        count = stream.readinto(room)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        room = room[count:]


def send(file: Any, source: str, limit: int, asked: None, result: IO[bytes]) -> None:
    """What the other process does: write a line that says what the file holds, then the numbers.

    The numbers come piece by piece: whether the queries are present, the shares judged, the values of
    all measures, as `Scores` has them in memory. They may take `limit` bytes. `asked` is not used.
    """
    import json

    import polars as pl

    try:
        text = pl.read_parquet_metadata(file).get(FORMAT)
        file.seek(0)
        scan = pl.scan_parquet(file)
        columns = [(name, str(kind)) for name, kind in scan.collect_schema().items()]
        rows = scan.select(pl.len()).collect().item()
        size = rows * (8 * len(columns) - 7)
        if size > limit:
            message = f"contains {rows:,} rows, more than {limit:,} bytes, expected less "
            raise InputError(source, None, message + "(raise the size limit)")
        result.write(json.dumps([text, columns, rows]).encode() + b"\n")
        numbers = columns[2:]
        if columns[:2] != [PRESENT, JUDGED] or any(kind != JUDGED[1] for _, kind in numbers):
            return  # the reader of this line refuses the file
        limit_memory(memory_allowance(size))
        for piece in _pieces(rows):
            frame = scan.slice(piece.start, piece.stop - piece.start).collect()
            _check_complete(frame, piece, source)
            result.write(frame[PRESENT[0]].to_numpy().tobytes())
            result.write(frame[JUDGED[0]].to_numpy().tobytes())
            if numbers:
                table = frame.select([name for name, _ in numbers]).to_numpy(order="c")
                result.write(np.ascontiguousarray(table).data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        message = f"damaged Parquet data ({error_summary(error)}), expected a whole file"
        raise InputError(source, None, message) from None


def _check_complete(frame: Any, piece: slice, source: str) -> None:
    """Refuse rows without numbers."""
    if frame.height != piece.stop - piece.start:
        message = f"damaged Parquet data ({frame.height:,} rows from row {piece.start + 1:,} on)"
        expected = f"expected {piece.stop - piece.start:,}"
        raise InputError(source, None, f"{message}, {expected}")
    for column in frame:
        if column.null_count():
            row = piece.start + 1 + int(column.is_null().arg_max())
            message = f"nothing in row {row:,} of the column {shorten(column.name)}"
            raise InputError(source, None, f"{message}, expected a value (save the scores again)")

"""The columns of Parquet files, decoded by polars in a process of its own."""

from __future__ import annotations

import io
from typing import IO, Any

from rankgauge.data.columns import ColumnsByRole, RowLocator, error_summary, type_error
from rankgauge.data.frames import columns_of
from rankgauge.data.roles import ROLES, WantedColumns, places_of
from rankgauge.errors import InputError, NoRows
from rankgauge.io.decoder import decoder_error, run_decoder
from rankgauge.io.files import Content


def parquet_columns(content: Content, wanted: WantedColumns) -> ColumnsByRole:
    """The wanted columns of a Parquet file, decoded by another process."""
    import polars as pl

    request = [(role.option, name) for role, name in wanted]
    with run_decoder(content, decode_columns, request) as stream:
        raw = stream.read()
    try:
        frame = pl.read_ipc(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise decoder_error(content.source, error_summary(error)) from None
    return columns_of(frame, wanted, content.source)


def decode_columns(file: Any, source: str, limit: int, request: Any, result: IO[bytes]) -> None:
    """What the other process does: write the wanted columns of a Parquet file as Arrow data.

    `limit` is how many bytes the columns may take; `request` has the wanted columns: pairs of a role and
    a name, or None for the usual names.
    """
    wanted = [
        (ROLES[option], tuple(name) if isinstance(name, list) else name) for option, name in request
    ]
    parquet_frame(file.read(), wanted, source, limit).write_ipc(result)


def parquet_frame(raw: bytes, wanted: WantedColumns, source: str, limit: int) -> Any:
    """The wanted columns of a Parquet file, as a polars frame, which takes no more than the limit."""
    import polars as pl

    try:
        scan = pl.scan_parquet(io.BytesIO(raw))
        schema = scan.collect_schema()
        names = schema.names()
        places = places_of(wanted, names, source)
        chosen = [names[place] for _, place in places]
        for (role, _), name in zip(places, chosen, strict=True):
            if schema[name].is_nested():
                what = f"column {name!r}"
                raise type_error(role, RowLocator(source), what, "nested values", "plain ones")
        rows = scan.select(pl.len()).collect().item()
        if not rows:
            raise NoRows(source, None, "no rows, expected some")
        _refuse_size(rows, rows * 8 * len(chosen), source, limit)  # the least they take
        frame = scan.select(list(dict.fromkeys(chosen))).collect()
        # In polars the rows that hold the same word share it; a column of ids has it once a row.
        text = sum(_text_size(frame[name]) for name in chosen)
        _refuse_size(rows, text + rows * 8 * len(chosen), source, limit)
        return frame
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        message = f"damaged Parquet data ({error_summary(error)}), expected a whole file"
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
        message = f"contains {rows:,} rows, more than {limit:,} bytes, expected less "
        raise InputError(source, None, message + "(raise the size limit)")

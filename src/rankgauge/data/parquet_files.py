"""The columns of Parquet files, decoded by polars in a process of its own."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from rankgauge.data.columns import Column, Place, first_line, type_error
from rankgauge.data.errors import InputError
from rankgauge.data.roles import ROLES, Wanted, places_of
from rankgauge.data.tables import columns_of

DECODER = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from rankgauge.data.parquet_files import decode; decode()"
)

REFUSED = 83
"""How the decoder ends when it has a message for the user."""


def parquet_columns(raw: bytes, wanted: Wanted, source: str, limit: int) -> list[Column]:
    """The columns of a Parquet file, decoded by another process: polars can end the one it is in over
    a page that promises too much. Where there is no Python to start, by this one."""
    import polars as pl

    if not sys.executable or getattr(sys, "frozen", False):
        return columns_of(parquet_frame(raw, wanted, source, limit), wanted, source)
    decoded = _decoded(raw, wanted, source, limit)
    try:
        frame = pl.read_ipc(io.BytesIO(decoded))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _no_decoder(source, first_line(error)) from None
    return columns_of(frame, wanted, source)


def _decoded(raw: bytes, wanted: Wanted, source: str, limit: int) -> bytes:
    """What `decode` makes of a Parquet file in a process of its own."""
    import json
    import subprocess

    asked = json.dumps([[(role.option, name) for role, name in wanted], source, limit])
    # The other process finds packages where this one does, but not in the folder it happens to be in.
    paths = [path for path in sys.path if isinstance(path, str) and path]
    root = os.path.abspath(__file__)
    for _ in range(3):  # the module, its folder, the package
        root = os.path.dirname(root)
    paths = paths if root in paths else [root, *paths]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", DECODER, asked, *paths],
            input=raw,
            capture_output=True,
            check=False,
        )
    except (OSError, ValueError) as error:
        raise _no_decoder(source, first_line(error)) from None
    if done.returncode == 0:
        return done.stdout
    if done.returncode == REFUSED:
        raise InputError(source, None, done.stdout.decode())
    last = "".join(done.stderr.decode(errors="replace").strip().splitlines()[-1:])
    if "memory allocation of" in last or last.startswith("MemoryError"):
        message = (
            f"takes more memory than {limit:,} bytes of data should, expected less (raise the "
        )
        raise InputError(source, None, message + "size limit, unless the file is damaged)")
    # Only a signal, or on Windows an unusual code, is a crash; the rest is no work of the file.
    if done.returncode > 0 and (os.name != "nt" or done.returncode in (1, 2)):
        raise _no_decoder(source, last or f"it ended with {done.returncode}")
    message = f"damaged Parquet data ({': '.join(filter(None, ['its decoder crashed', last]))}), "
    raise InputError(source, None, message + "expected a whole file")


def _no_decoder(source: str, reason: str) -> InputError:
    message = f"cannot be decoded ({reason}), expected Python with rankgauge and polars at "
    return InputError(source, None, message + f"{sys.executable} (the file may be sound)")


def decode() -> None:
    """What the other process does: Parquet from standard input to Arrow on standard output."""
    import json

    asked, source, limit = json.loads(sys.argv[1])
    wanted = [
        (ROLES[option], tuple(name) if isinstance(name, list) else name) for option, name in asked
    ]
    _limit_memory(limit)
    try:
        frame = parquet_frame(sys.stdin.buffer.read(), wanted, source, limit)
    except InputError as error:
        sys.stdout.buffer.write(error.message.encode())
        sys.stdout.buffer.flush()
        sys.exit(REFUSED)
    frame.write_ipc(sys.stdout.buffer)


def _limit_memory(limit: int) -> None:
    """Bounds what this process allocates: room for the packages and threads, and for the data in each
    form it has on its way."""
    try:
        import resource
    except ImportError:  # Windows
        return
    room = (2 << 30) + (16 << 20) * (os.cpu_count() or 1) + 8 * limit
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = [bound for bound in (room, soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))


def parquet_frame(raw: bytes, wanted: Wanted, source: str, limit: int) -> Any:
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

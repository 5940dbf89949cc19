"""Bytes in and out: compressed or not, within a limit, and written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from rankgauge.data.errors import InputError

SIZE_LIMIT = 8 << 30
"""How many bytes a file may hold once decompressed, unless the caller says otherwise."""

CHUNK = 1 << 22
STANDARD_INPUT = "-"


def _gzip(raw: BinaryIO) -> BinaryIO:
    import gzip

    return cast(BinaryIO, gzip.GzipFile(fileobj=raw))


def _bz2(raw: BinaryIO) -> BinaryIO:
    import bz2

    return cast(BinaryIO, bz2.BZ2File(raw))


def _xz(raw: BinaryIO) -> BinaryIO:
    import lzma

    return cast(BinaryIO, lzma.LZMAFile(raw))


def _zstandard(raw: BinaryIO) -> BinaryIO:
    import zstandard

    return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))


COMPRESSIONS: dict[bytes, tuple[str, Callable[[BinaryIO], BinaryIO]]] = {
    b"\x1f\x8b": ("gzip", _gzip),
    b"BZh": ("bzip2", _bz2),
    b"\xfd7zXZ\x00": ("xz", _xz),
    b"\x28\xb5\x2f\xfd": ("zstandard", _zstandard),
}
"""How to open a stream, by its first bytes: the name of a file proves nothing."""

WRITERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The standard module that compresses a file with this ending."""


def read_bytes(path: str | os.PathLike[str], *, limit: int = SIZE_LIMIT) -> bytes:
    """The whole content of a file, decompressed; `-` is standard input.

    Raises InputError for a missing, unreadable, damaged or oversized file.
    """
    source = display_name(path)
    try:
        if os.fspath(path) == STANDARD_INPUT:
            raw = _read_limited(sys.stdin.buffer, source, limit)
        else:
            with open(path, "rb") as stream:
                raw = _read_limited(stream, source, limit)
    except OSError as error:
        raise InputError(source, None, f"cannot be read: {error.strerror or error}") from None
    return _decompressed(raw, source, limit)


def _decompressed(raw: bytes, source: str, limit: int) -> bytes:
    for magic, (name, opener) in COMPRESSIONS.items():
        if raw.startswith(magic):
            try:
                return _read_limited(opener(io.BytesIO(raw)), source, limit)
            except ImportError:
                message = "is compressed with zstandard, expected: pip install 'rankgauge[zstd]'"
                raise InputError(source, None, message) from None
            except InputError:
                raise
            except Exception as error:  # each codec raises its own kinds
                message = f"damaged or truncated {name} data ({error}), expected a whole file"
                raise InputError(source, None, message) from None
    return raw


def _read_limited(stream: BinaryIO, source: str, limit: int) -> bytes:
    pieces = []
    total = 0
    while piece := stream.read(CHUNK):
        total += len(piece)
        if total > limit:
            message = f"holds more than {limit:,} bytes, expected less (raise the size limit)"
            raise InputError(source, None, message)
        pieces.append(piece)
    return b"".join(pieces)


def display_name(path: str | os.PathLike[str]) -> str:
    """How messages call this file."""
    name = os.fspath(path)
    return "standard input" if name == STANDARD_INPUT else name


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream whose content appears at `path` when the block ends well, and not at all otherwise.

    An ending .gz, .bz2 or .xz compresses. Raises InputError where the file cannot be written.
    """
    target = Path(path)
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with contextlib.ExitStack() as stack:
            raw: Any = stack.enter_context(os.fdopen(descriptor, "wb"))
            if module := WRITERS.get(target.suffix):
                raw = stack.enter_context(__import__(module).open(raw, "wb"))
            yield raw
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise InputError(str(target), None, f"cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Bytes in and out: compressed or not, within a limit, and written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rankgauge.data.errors import InputError

SIZE_LIMIT = 8 << 30
"""How many bytes a file may hold once decompressed, unless the caller says otherwise."""

CHUNK = 1 << 22
ZSTANDARD_CHUNK = 1 << 10
STANDARD_INPUT = "-"

UMASK = os.umask(0)
os.umask(UMASK)

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Readable(Protocol):
    """Anything that gives bytes."""

    def read(self, size: int, /) -> bytes: ...


def _pieces(stream: Readable) -> Iterator[bytes]:
    while piece := stream.read(CHUNK):
        yield piece


def _gunzip(raw: bytes) -> Iterator[bytes]:
    import gzip

    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
        yield from _pieces(stream)


def _bunzip2(raw: bytes) -> Iterator[bytes]:
    import bz2

    with bz2.BZ2File(io.BytesIO(raw)) as stream:
        yield from _pieces(stream)


def _unxz(raw: bytes) -> Iterator[bytes]:
    import lzma

    with lzma.LZMAFile(io.BytesIO(raw)) as stream:
        yield from _pieces(stream)


def _unzstd(raw: bytes) -> Iterator[bytes]:
    """Fed in small pieces, so that a bomb shows its size early; a frame cut short is an error."""
    import zstandard

    at = 0
    while at < len(raw):
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof and at < len(raw):
            yield frame.decompress(raw[at : at + ZSTANDARD_CHUNK])
            at += ZSTANDARD_CHUNK
        if not frame.eof:
            raise EOFError("the last frame is not complete")
        at = min(at, len(raw)) - len(frame.unused_data)


COMPRESSIONS: dict[str, tuple[re.Pattern[bytes], Callable[[bytes], Iterator[bytes]]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), _gunzip),
    "bzip2": (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), _bunzip2),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), _unxz),
    "zstandard": (re.compile(rb"\x28\xb5\x2f\xfd"), _unzstd),
}
"""How to decompress, by the first bytes: the name of a file proves nothing."""


def read_bytes(path: str | os.PathLike[str], *, limit: int = SIZE_LIMIT) -> bytes:
    """The whole content of a file, decompressed; `-` is standard input.

    Raises InputError for a missing, unreadable, damaged or oversized file.
    """
    source = display_name(path)
    try:
        if os.fspath(path) == STANDARD_INPUT:
            raw = _within(limit, _pieces(sys.stdin.buffer), source)
        else:
            with open(path, "rb") as stream:
                raw = _within(limit, _pieces(stream), source)
    except OSError as error:
        raise InputError(source, None, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name that no file can have
        raise InputError(source, None, f"cannot be read: {error}") from None
    name = compression(raw)
    if name is None:
        return raw
    try:
        return _within(limit, COMPRESSIONS[name][1](raw), source)
    except ImportError:
        message = "is compressed with zstandard, expected: pip install 'rankgauge[zstd]'"
        raise InputError(source, None, message) from None
    except InputError:
        raise
    except Exception as error:  # each codec raises its own kinds
        message = f"damaged or truncated {name} data ({error}), expected a whole file"
        raise InputError(source, None, message) from None


def compression(raw: bytes) -> str | None:
    """The name of the compression that a file with this beginning has."""
    return next((name for name, (magic, _) in COMPRESSIONS.items() if magic.match(raw)), None)


def _within(limit: int, pieces: Iterator[bytes], source: str) -> bytes:
    kept = []
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            message = f"holds more than {limit:,} bytes, expected less (raise the size limit)"
            raise InputError(source, None, message)
        kept.append(piece)
    return b"".join(kept)


def display_name(path: str | os.PathLike[str]) -> str:
    """How messages call this file."""
    name = os.fspath(path)
    return "standard input" if name == STANDARD_INPUT else name


def _compressor(ending: str, raw: BinaryIO) -> contextlib.AbstractContextManager[Any]:
    """A stream that compresses as the ending says; the same content gives the same bytes."""
    if ending == ".gz":
        import gzip

        return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2File(raw, "wb")
    if ending == ".xz":
        import lzma

        return lzma.LZMAFile(raw, "wb")
    if ending == ".zst":
        import zstandard

        writer: Any = zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
        return writer  # type: ignore[no-any-return]
    return contextlib.nullcontext(raw)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A stream whose content appears at `path` when the block ends well, and not at all otherwise.

    An ending .gz, .bz2, .xz or .zst compresses. A pipe or device is written to as it is. Raises
    InputError where the file cannot be written.
    """
    temporary = None
    try:
        target, mode = _target(path)
        if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            with open(target, "wb") as raw, _compressor(Path(path).suffix, raw) as stream:
                yield stream
            return
        descriptor, temporary = tempfile.mkstemp(prefix=".rankgauge-", dir=target.parent)
        with os.fdopen(descriptor, "wb") as raw, _compressor(Path(path).suffix, raw) as stream:
            yield stream
        os.chmod(temporary, 0o666 & ~UMASK if mode is None else stat.S_IMODE(mode))
        os.replace(temporary, target)
        temporary = None
    except ImportError:
        message = "cannot be written: expected pip install 'rankgauge[zstd]'"
        raise InputError(os.fspath(path), None, message) from None
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise InputError(os.fspath(path), None, message) from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _target(path: str | os.PathLike[str]) -> tuple[Path, int | None]:
    """The file that a path leads to, and its kind and permissions, None where there is none."""
    try:
        target = Path(os.path.realpath(path))
        return target, os.stat(target).st_mode
    except FileNotFoundError:
        return target, None
    except ValueError as error:  # a name that no file can have
        raise OSError(str(error)) from None

"""Bytes in and out: compressed or not, within a limit, and written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
import stat
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import AbsentFile, InputError, missing_package
from rankgauge.io.compression import MemoryLimitExceeded, decompress, detect_compression
from rankgauge.io.own_paths import REMEDY, OwnPath
from rankgauge.workers.sharing import resolve_path

SIZE_LIMIT = 8 << 30
"""Default maximum size of a file in bytes, once decompressed.

For compressed files this default is smaller, see `default_size_limit`."""

MOST_EXPANSION, LEAST_CONTENT = 1000, 64 << 20

CHUNK = 1 << 22
HEAD = 1 << 12
STANDARD_INPUT = "-"
TEMPORARY_PREFIX = ".rankgauge-"
"""Prefix of the names of files that are still being written."""

UMASK = os.umask(0)
os.umask(UMASK)

UTF8_MARK = b"\xef\xbb\xbf"
MISPLACED_MARK_MESSAGE = (
    "the line begins with a byte order mark, expected one only at the start of the file; if files were "
    "joined, remove their marks first: sed -i '1s/^\\xEF\\xBB\\xBF//' FILE"
)
"""The fault of a line other than the first that begins with `UTF8_MARK`."""
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def _pieces(stream: BinaryIO, size: int = CHUNK) -> Iterator[bytes]:
    while piece := stream.read(size):
        yield piece


class Content:
    """The bytes of a file, decompressed: left in the file where it is a plain one, else in memory.

    A context manager, which closes the file. Safe to read from several threads.
    """

    def __init__(self, source: str, limit: int, raw: bytes = b"", stream: Any = None) -> None:
        self.source, self.limit, self.raw, self.stream = source, limit, raw, stream
        self.lock = threading.Lock()
        self.state = None if stream is None else _state(stream)
        self.size = len(raw) if self.state is None else self.state[0]
        if self.size > limit:
            self.__exit__()
            raise _size_error(source, limit)

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            self.stream.close()

    def head(self, size: int = HEAD) -> bytes:
        """The first bytes, by default enough to tell what most files are."""
        start = np.zeros(min(self.size, size), dtype=np.uint8)
        return start.tobytes() if self.read_into(start, 0) else b""

    def whole(self) -> bytes:
        """All the bytes; InputError where they are too many or cannot be read."""
        if self.stream is None:
            return self.raw
        try:
            self.stream.seek(0)
            raw = _read_within(self.limit, _pieces(self.stream, self.size), self.source)
        except OSError as error:
            raise read_error(self.source, error) from None
        self.check_unchanged()
        return raw

    def read_into(self, buffer: NDArray[np.uint8], start: int) -> bool:
        """Fill the buffer with the bytes from `start` on, if they are there."""
        if self.stream is None:
            buffer[:] = np.frombuffer(self.raw, dtype=np.uint8, count=len(buffer), offset=start)
            return True
        try:
            with self.lock:
                self.stream.seek(start)
                return bool(self.stream.readinto(buffer) == len(buffer))
        except OSError:
            return False

    def check_unchanged(self) -> None:
        """InputError unless the file is still as it was when it was opened."""
        if self.stream is not None and _state(self.stream) != self.state:
            message = "changed while being read, expected a file that is not being written"
            raise InputError(self.source, None, message)


def _state(stream: Any) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def open_content(path: str | os.PathLike[str], *, limit: int = SIZE_LIMIT) -> Content:
    """The content of a file; `-` is standard input.

    Raises InputError for a missing, unreadable, damaged or oversized file.
    """
    opened = _open(path, limit)
    if isinstance(opened, Content):
        return opened
    source = display_name(path)
    pieces = list(_decompress_pieces(opened, source, limit))
    try:
        return Content(source, limit, pieces[0] if len(pieces) == 1 else b"".join(pieces))
    except MemoryError:
        message = "not enough memory for its content, expected less data or more memory"
        raise InputError(source, None, message) from None


def pieces_of(path: str | os.PathLike[str], *, limit: int = SIZE_LIMIT) -> Iterator[bytes]:
    """Yield the content of a file, piece by piece.

    Neither a plain file nor a decompressed one is in memory as a whole. `-` is standard input.

    Raises InputError for a missing, unreadable, damaged or oversized file.
    """
    opened = _open(path, limit)
    if not isinstance(opened, Content):
        yield from _decompress_pieces(opened, display_name(path), limit)
        return
    with opened as content:
        try:
            yield from _limit_pieces(limit, _pieces(content.stream, CHUNK), content.source)
        except OSError as error:
            raise read_error(content.source, error) from None
        content.check_unchanged()


def refuse_utf16(raw: bytes, source: str) -> None:
    """InputError where a text has the byte order mark of UTF-16."""
    if raw.startswith(UTF16_MARKS):
        raise InputError(source, 1, "UTF-16 text, expected UTF-8 (convert the file)")


class _FileSlices:
    """The bytes of an open file of this size; they are read when they are asked for."""

    def __init__(self, stream: io.FileIO, size: int) -> None:
        self.stream, self.size = io.BufferedReader(stream, 1 << 16), size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> bytes:
        start, end, _ = part.indices(self.size)
        self.stream.seek(start)
        return self.stream.read(max(0, end - start))


def _open(path: str | os.PathLike[str], limit: int) -> Content | _FileSlices | bytes:
    """A plain file or a compressed one, open, or the bytes of any other, such as a pipe."""
    source = display_name(path)
    try:
        if os.fspath(path) == STANDARD_INPUT:
            if sys.stdin is None:
                raise InputError(source, None, "is closed, expected a file or a pipe")
            return _read_within(_stream_limit(limit), _pieces(sys.stdin.buffer), source)
        with contextlib.ExitStack() as stack:
            raw = path.open() if isinstance(path, OwnPath) else io.FileIO(resolve_path(path), "rb")
            stream = stack.enter_context(raw)
            state = os.fstat(stream.fileno())
            if stat.S_ISREG(state.st_mode) and state.st_size:  # it says how long it is
                packed = detect_compression(stream.read(16)) is not None
                stream.seek(0)
                if packed and state.st_size > _stream_limit(limit):
                    raise _size_error(source, limit)
                stack.pop_all()  # it stays open to be read from
                if packed:
                    return _FileSlices(stream, state.st_size)
                return Content(source, limit, stream=stream)
            return _read_within(_stream_limit(limit), _pieces(stream), source)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        refused = isinstance(path, OwnPath) and isinstance(error, PermissionError)
        raise read_error(source, error, f"; {REMEDY}" if refused else "") from None


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a file can be read only once: standard input, or a pipe."""
    if os.fspath(path) == STANDARD_INPUT:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_error(source: str, error: Exception, remedy: str = "") -> InputError:
    """What the user is told of a file that the system does not let us read."""
    reason = getattr(error, "strerror", None) or error
    kind = AbsentFile if isinstance(error, FileNotFoundError) else InputError
    return kind(source, None, f"cannot be read: {reason}{remedy}")


def read_bytes(path: str | os.PathLike[str], *, limit: int = SIZE_LIMIT) -> bytes:
    """Read the content of a file, decompressed if it is compressed.

    Parameters
    ----------
    path : str or os.PathLike
        The file; "-" is standard input.
    limit : int, default 8 GiB
        The largest size of the content in bytes.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    InputError
        If the file is missing, unreadable, damaged or too large.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import atomic_write, read_bytes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scores.csv.gz")
    ...     with atomic_write(path) as stream:
    ...         _ = stream.write(b"run,AP")
    ...     read_bytes(path)
    b'run,AP'
    """
    with open_content(path, limit=limit) as content:
        return content.whole()


def _decompress_pieces(raw: _FileSlices | bytes, source: str, limit: int) -> Iterator[bytes]:
    """The content of a file in pieces; the file is closed at the end.

    Bytes that are not compressed are one piece.
    """
    with raw.stream if isinstance(raw, _FileSlices) else contextlib.nullcontext():
        name = detect_compression(raw[:HEAD])
        if name is None:
            if not isinstance(raw, bytes):  # it was compressed a moment ago
                raise InputError(
                    source,
                    None,
                    "changed while being read, expected a file that is not being written",
                )
            yield raw
            return
        limit = default_size_limit(len(raw)) if limit == SIZE_LIMIT else limit
        try:
            yield from _limit_pieces(limit, decompress(raw, name, limit), source)
        except InputError:
            raise
        except ImportError:
            message = f"is compressed with zstandard, but {missing_package('zstandard', 'zstd')}"
        except MemoryLimitExceeded:
            message = (
                f"its {name} data needs more memory than the size limit of {limit:,} bytes allows"
            )
            message += " (raise the size limit)"
        except MemoryError:
            message = f"not enough memory for its content, expected less {name} data or more memory"
        except Exception as error:  # each codec raises its own kinds
            message = f"damaged or truncated {name} data ({error}), expected a whole file"
        else:
            return
        raise InputError(source, None, message)


def default_size_limit(size: int) -> int:
    """How many bytes a compressed file of this size may hold at the default limit.

    A thousand times its size; runs and judgments never compress so well. At least 64 MiB, and at most
    half the memory of the machine.
    """
    return min(max(MOST_EXPANSION * size, LEAST_CONTENT), SIZE_LIMIT, _memory() // 2)


def _stream_limit(limit: int) -> int:
    """Return how many bytes may come from a pipe or a device, which do not say how many they have.

    At the default limit it is a third of the memory of the machine, since pieces are held beside the
    whole.
    """
    return min(limit, _memory() // 3) if limit == SIZE_LIMIT else limit


def _memory() -> int:
    """The bytes of memory that this machine has, as far as the system says."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2 * SIZE_LIMIT


def _size_error(source: str, limit: int) -> InputError:
    message = f"holds more than {limit:,} bytes, expected less (raise the size limit)"
    return InputError(source, None, message)


def _read_within(limit: int, pieces: Iterator[bytes], source: str) -> bytes:
    return b"".join(_limit_pieces(limit, pieces, source))


def _limit_pieces(limit: int, pieces: Iterator[bytes], source: str) -> Iterator[bytes]:
    """The pieces; InputError once they are more bytes than the limit."""
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise _size_error(source, limit)
        yield piece


def display_name(path: str | os.PathLike[str]) -> str:
    """The name of a file in messages.

    Parameters
    ----------
    path : str or os.PathLike
        The file, or "-" for standard input.

    Returns
    -------
    str
        The path, or "standard input".

    Examples
    --------
    >>> from rankgauge.extending import display_name
    >>> display_name("-"), display_name("runs/bm25.run")
    ('standard input', 'runs/bm25.run')
    """
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
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Write a file that appears only when it is complete, and not at all after an error.

    A name that ends with .gz, .bz2, .xz or .zst is compressed.

    Parameters
    ----------
    path : str or os.PathLike
        The file. If it is a link, the file that the link points to is written; a pipe or device is
        written to directly. At an `OwnPath`, a new file replaces a link or pipe.

    Yields
    ------
    binary stream
        The stream to write to. The file appears when the `with` block ends without an error.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(os.path.join(folder, "scores.csv.gz")) as stream:
    ...         _ = stream.write(b"run,AP")
    ...     os.listdir(folder)
    ['scores.csv.gz']
    """
    temporary, ending = None, os.path.splitext(path)[1]
    with contextlib.ExitStack() as stack:
        at: int | None = None
        try:
            if isinstance(path, OwnPath):
                target, at = stack.enter_context(path.entered())
                mode = _existing_mode(path)
            else:
                target, mode = _target(path)
            if mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                with open(target, "wb") as raw, _compressor(ending, raw) as stream:
                    yield stream
                return
            # Its name is known before it is there, so that a signal at any moment leaves none behind.
            temporary = os.path.join(
                os.path.dirname(target), f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}"
            )
            private = functools.partial(os.open, mode=0o600, dir_fd=at)
            with open(temporary, "xb", opener=private) as raw, _compressor(ending, raw) as stream:
                yield stream
            os.chmod(temporary, 0o666 & ~UMASK if mode is None else stat.S_IMODE(mode), dir_fd=at)
            os.replace(temporary, target, src_dir_fd=at, dst_dir_fd=at)
            temporary = None
        except (OSError, ImportError) as error:
            raise _write_error(path, error) from None
        finally:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=at)


def _existing_mode(path: OwnPath) -> int | None:
    """The permissions of the file to replace, None where there is none; InputError for a folder."""
    mode = path.mode()
    if mode is not None and stat.S_ISDIR(mode):
        raise path.refused(stat.S_IFDIR, "a file")
    return mode if mode is not None and stat.S_ISREG(mode) else None


def remove_unfinished(folder: OwnPath) -> None:
    """Remove the temporary files of `atomic_write` that a killed process left behind.

    Parameters
    ----------
    folder : OwnPath
        The folder to clean up, with all folders below it.

    Raises
    ------
    InputError
        If a file cannot be removed.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import OwnPath, remove_unfinished
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, ".rankgauge-0123456789abcdef"), "w"):
    ...         pass
    ...     remove_unfinished(OwnPath(folder))
    ...     os.listdir(folder)
    []
    """
    for where, _, names in os.walk(folder):
        inside = folder / os.path.relpath(where, folder).replace(os.sep, "/")
        for name in names:
            if name.startswith(TEMPORARY_PREFIX):
                (inside / name).unlink()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise InputError where `atomic_write` could write no such file.

    This is checked as far as that can be told beforehand.
    """
    try:
        if isinstance(path, OwnPath):
            target, mode = os.fspath(path), _existing_mode(path)
        else:
            target, mode = _target(path)
        place = os.path.dirname(target)
        if mode is None:
            os.stat(place)
        elif stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not stat.S_ISREG(mode):
            place = target
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if os.path.splitext(path)[1] == ".zst":
            import zstandard  # noqa: F401
    except (OSError, ImportError) as error:
        raise _write_error(path, error) from None


def _write_error(path: str | os.PathLike[str], error: OSError | ImportError) -> InputError:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
    else:
        reason = str(missing_package("zstandard", "zstd"))
    return InputError(os.fspath(path), None, f"cannot be written: {reason}")


def _target(path: str | os.PathLike[str]) -> tuple[str, int | None]:
    """The file that a path leads to, and its kind and permissions, None where there is none."""
    try:
        target = os.path.realpath(path)
        mode = os.stat(path).st_mode
        # A pipe without a name, such as /dev/stdout leads to, is only there under the path itself.
        return target if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else os.fspath(path), mode
    except FileNotFoundError:
        return target, None
    except ValueError as error:  # a name that no file can have
        raise OSError(str(error)) from None

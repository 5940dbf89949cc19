"""Parsed LETOR files in the user's cache folder, so that a large file is parsed once.

The folder must be the user's own: nobody else may write to it. No link in it is followed.

A file in the cache is a description in JSON and the arrays, each as NumPy saves them, and at its end the
seal of all that; nothing in it can run code. It counts only for the same file in the same state, and
only if the seal is right and all arrays fit together. If anything is wrong with it, the data file is
read instead, and the file in the cache is written anew. It may be deleted at any time.
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import time
import warnings
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rankgauge.core import sealing
from rankgauge.core.records import Record
from rankgauge.core.seeds import digest
from rankgauge.data.features import Features
from rankgauge.data.model import Ids
from rankgauge.errors import InputError, RankgaugeError, RankgaugeWarning
from rankgauge.io.files import STANDARD_INPUT, atomic_write, display_name
from rankgauge.io.own_paths import OwnPath
from rankgauge.io.trec import Path

VARIABLE, OFF = "RANKGAUGE_CACHE", "off"
VERSION = 3
"""The version of the cache format and of the LETOR parser. A change to either increments it."""
LEAST_BYTES = 1 << 20
"""Parsing a smaller file takes no longer than looking it up in the cache."""
SETTLING_TIME = 2_000_000_000
"""A file modified within this many nanoseconds may change again without a new timestamp."""
BLOCK = 1 << 16
"""Number of bytes at each end of a file that are hashed as part of its state."""
ALIGNMENT = 64
ARRAYS = (
    ("values", "<f4", 2),
    ("labels", "<i4", 1),
    ("bounds", "<i8", 1),
    ("queries", "|u1", 1),
    ("query_offsets", "<i8", 1),
    ("documents", "|u1", 1),
    ("document_offsets", "<i8", 1),
)
"""The arrays of a file, in order. Without document names, the last two are empty."""


def cache_folder() -> str | None:
    """Return the folder for parsed files, or None if there is to be none.

    It is the folder that RANKGAUGE_CACHE names, None if the variable is `off`, and by default the user's
    cache folder.
    """
    named = os.environ.get(VARIABLE, "")
    if named.lower() == OFF:
        return None
    if named:
        return named
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
        return os.path.join(base, "rankgauge", "Cache")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/rankgauge")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "rankgauge")


def usable_folder() -> str | None:
    """The folder for parsed files, None where there is none to use.

    If others can write to it, RankgaugeError where the user named it; the default folder is not used
    then, with a warning.
    """
    folder = cache_folder()
    reason = None if folder is None else _unsafe_reason(folder)
    if reason is None:
        return folder
    named = bool(os.environ.get(VARIABLE))
    path = f"{VARIABLE}={folder}" if named else folder
    text = f"{path}: {reason}, so others could change what is read from the cache"
    remedy = f"run chmod go-w if you own it, or set {VARIABLE} to another folder or to {OFF}"
    if named:
        raise RankgaugeError(f"{text}; {remedy}")
    warnings.warn(f"{text}. The cache is not used; {remedy}", RankgaugeWarning, stacklevel=2)
    return None


def _unsafe_reason(folder: str) -> str | None:
    """Why others could change what is in a folder; None where they cannot, or where it is absent.

    A link is fine in a variable that the user sets. In the default place it must be the user's own.
    """
    if sys.platform == "win32":
        return None
    try:
        link, state = os.lstat(folder), os.stat(folder)
    except (OSError, ValueError):
        return None
    user = os.geteuid()
    if stat.S_ISLNK(link.st_mode) and link.st_uid != user and not os.environ.get(VARIABLE):
        return f"is a link that belongs to user {link.st_uid}, not to you (user {user})"
    if state.st_uid != user:
        return f"belongs to user {state.st_uid}, not to you (user {user})"
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"has the mode {stat.S_IMODE(state.st_mode):o}, which lets others write to it"
    return None


class CacheEntry(Record):
    """Where the features of a file are in the cache, and for which state of the file they count."""

    file: OwnPath
    key: dict[str, Any]

    @classmethod
    def of(cls, path: Path, beside: str | None, options: dict[str, str]) -> Self | None:
        """Return the place for a data file as it is now, with the file beside it that was read with it.

        It is None where nothing is cached: no cache, a small file, standard input, or a pipe.
        """
        if os.fspath(path) == STANDARD_INPUT:
            return None
        states = [_state(path), None if beside is None else _state(beside)]
        if states[0] is None or states[0]["size"] < LEAST_BYTES:
            return None
        folder = usable_folder()
        if folder is None:
            return None
        named = json.dumps([states[0]["path"], sorted(options.items())])
        file = digest(named.encode("utf-8", "surrogateescape"), size=16).hex() + ".features"
        key = {"version": VERSION, "files": states, "options": options}
        return cls(OwnPath(folder, file), key)

    def load(self, source: Path, size_limit: int) -> Features | None:
        """The features, None where they are not there, not for this state, or damaged."""
        try:
            with io.BufferedReader(self.file.open()) as stream:
                return self._read_features(stream, display_name(source), size_limit)
        except Exception:  # a damaged file can be wrong in any way; the data file is there
            return None

    def _read_features(self, stream: BinaryIO, source: str, size_limit: int) -> Features | None:
        size = os.fstat(stream.fileno()).st_size - sealing.DIGEST_SIZE
        described = json.loads(_array(stream, "|u1", 1, size).tobytes())
        if described["key"] != self.key or described["content"] > size_limit:
            return None
        if not _has_valid_seal(stream, size):
            return None
        parts = {name: _array(stream, kind, dimensions, size) for name, kind, dimensions in ARRAYS}
        if stream.tell() != size or parts["values"].nbytes > size_limit:
            return None
        queries = _ids(parts["queries"], parts["query_offsets"])
        documents = None
        if described["named"]:
            documents = _ids(parts["documents"], parts["document_offsets"])
        # Features raises an error unless all fit together.
        return Features(
            queries, parts["bounds"], parts["labels"], parts["values"], documents, source
        )

    def store(self, features: Features, content: int) -> None:
        """Keep the features, whose file has a content of so many bytes.

        Nothing happens where that cannot be done, or where the file has changed.
        """
        for state in filter(None, self.key["files"]):
            written = max(state["mtime"], state["ctime"])
            if _state(state["path"]) != state or time.time_ns() - written < SETTLING_TIME:
                return
        named = features.documents is not None
        documents = Ids.of([]) if features.documents is None else features.documents
        arrays = (
            *(features.values, features.labels, features.bounds),
            *(features.queries.data, features.queries.offsets),
            *(documents.data, documents.offsets),
        )
        text = json.dumps({"key": self.key, "content": content, "named": named}).encode()
        text += b" " * (-len(text) % ALIGNMENT)  # so that the values are aligned
        try:
            os.makedirs(self.file.root, mode=0o700, exist_ok=True)
            if _unsafe_reason(self.file.root):
                return
            with atomic_write(self.file) as stream:
                summed = _DigestWriter(stream)
                npy.write_array(summed, np.frombuffer(text, dtype=np.uint8), allow_pickle=False)
                for array, (_, kind, _) in zip(arrays, ARRAYS, strict=True):
                    npy.write_array(summed, np.ascontiguousarray(array, kind), allow_pickle=False)
                stream.write(summed.seal.digest())
        except (OSError, InputError):
            return


class _DigestWriter:
    """Writes to a file, and keeps the digest of what was written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.seal = sealing.Digest()

    def write(self, piece: bytes) -> None:
        self.seal.update(piece)
        self._stream.write(piece)


def _has_valid_seal(stream: BinaryIO, size: int) -> bool:
    """Whether the seal behind so many bytes is theirs. The stream stays where it is."""
    place = stream.tell()
    content = np.memmap(stream, dtype=np.uint8, mode="r", shape=(size + sealing.DIGEST_SIZE,))
    stream.seek(place)
    made = sealing.Digest()
    made.update(content[:size].data)
    return content[size:].tobytes() == made.digest()


def _state(path: Path) -> dict[str, Any] | None:
    """What tells one state of a file from another, None where there is no such plain file.

    A program can keep the size and the time of the last change. So the state also has the time at which
    the system last noted a change, the number of the file, and a digest of its first and last bytes.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would wait for its writer
            return None
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            ends = stream.read(BLOCK)
            stream.seek(max(len(ends), status.st_size - BLOCK))
            ends += stream.read(BLOCK)
    except (OSError, ValueError):
        return None
    return {
        "path": os.path.realpath(path),
        "size": status.st_size,
        "mtime": status.st_mtime_ns,
        "ctime": status.st_ctime_ns,
        "inode": status.st_ino,
        "ends": digest(ends, size=16).hex(),
    }


def _array(stream: BinaryIO, kind: str, dimensions: int, size: int) -> NDArray[Any]:
    """The array that comes next in a file of this size; ValueError where it is none of this kind."""
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("a different version of the format")
    shape, by_column, dtype = npy.read_array_header_1_0(stream)
    if dtype != np.dtype(kind) or len(shape) != dimensions or by_column or min(shape) < 0:
        raise ValueError("another kind of array")
    start, count = stream.tell(), 1
    for length in shape:
        count *= length
    if start + count * dtype.itemsize > size:
        raise ValueError("the file ends too early")
    array: NDArray[Any]
    if count:
        # The system reads what is used, when it is used, and several processes share it.
        array = np.asarray(np.memmap(stream, dtype=dtype, mode="r", offset=start, shape=shape))
    else:
        array = np.zeros(shape, dtype=dtype)
    stream.seek(start + count * dtype.itemsize)
    return array


def _ids(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Ids:
    whole = len(offsets) and offsets[0] == 0 and offsets[-1] == len(data)
    if not whole or (np.diff(offsets) < 0).any():
        raise ValueError("inconsistent offsets")
    return Ids(data, offsets)

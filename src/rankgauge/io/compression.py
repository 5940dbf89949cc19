"""Decompression: one loop for all codecs, stream by stream, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from rankgauge.core.records import Record

PIECE = 1 << 22
"""Maximum number of bytes that a codec returns at a time."""

FIRST_STEP, LAST_STEP = 1 << 10, 1 << 20
"""Number of bytes fed to a codec at first, small so that short streams stay cheap, and at most."""

LEAST_MEMORY = 1 << 27
"""Memory that a codec may use whatever the limit; xz -9 and zstd -19 need less."""

LONGEST_START = 16
"""Number of bytes sufficient to recognize how a file is compressed."""


MEMORY_LIMIT_ERRORS = ("LZMAError", "ZstdError")
"""The errors raised by the codecs that accept a memory limit."""


class MemoryLimitExceeded(Exception):
    """The codec asks for more memory than it may have; the data may be sound."""


class _Gzip:
    """The decoder of one stream, with the interface that those of bz2 and lzma have."""

    def __init__(self, _: int) -> None:
        import zlib

        self._decoder = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._decoder.decompress(data or self._decoder.unconsumed_tail, max_length)


class _Zstandard:
    """It knows no largest piece, so that it is fed little at a time."""

    needs_input = True

    def __init__(self, memory: int) -> None:
        import zstandard

        most = min(memory, 1 << zstandard.WINDOWLOG_MAX)
        self._decoder: Any = zstandard.ZstdDecompressor(max_window_size=most).decompressobj()

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data)

    def decompress(self, data: bytes, _: int) -> bytes:
        return bytes(self._decoder.decompress(data))


def _xz(memory: int) -> Any:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=memory)


def _bzip2(_: int) -> Any:
    import bz2

    return bz2.BZ2Decompressor()


class Codec(Record):
    """How a stream begins, a decoder of one that may take so much memory, and the most it is fed."""

    starts: tuple[bytes, ...]
    decoder: Callable[[int], Any]
    step: int = LAST_STEP


COMPRESSIONS = {
    "gzip": Codec((b"\x1f\x8b",), _Gzip),
    "bzip2": Codec(
        tuple(b"BZh%d%b" % (n, m) for n in range(1, 10) for m in (b"1AY&SY", b"\x17rE8P\x90")),
        _bzip2,
    ),
    "xz": Codec((b"\xfd7zXZ\x00",), _xz),
    "zstandard": Codec(
        (b"\x28\xb5\x2f\xfd", *(b"%c\x2a\x4d\x18" % n for n in range(0x50, 0x60))),
        _Zstandard,
        FIRST_STEP,
    ),
}
"""Codecs by the first bytes of a file; its name proves nothing."""


def detect_compression(raw: bytes) -> str | None:
    """The name of the compression that a file with this beginning has."""
    return next(
        (name for name, codec in COMPRESSIONS.items() if raw.startswith(codec.starts)), None
    )


class Sliceable(Protocol):
    """Bytes in memory or in a file, of which some are had by a slice."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> bytes: ...


def decompress(raw: Sliceable, name: str, limit: int) -> Iterator[bytes]:
    """The content of all streams in the file, one after the other, in pieces.

    Zero bytes after a stream are padding, as gzip's and xz's own programs have it. Anything else
    that starts no stream is an error, and so is damage in any stream. Raises NeedsMemory where the
    codec needs more memory than a content of `limit` bytes justifies, MemoryError where there is no
    more, and whatever the codec raises for damage.
    """
    codec, memory, at = COMPRESSIONS[name], max(limit, LEAST_MEMORY), 0
    while at < len(raw):
        if detect_compression(raw[at : at + LONGEST_START]) != name:
            raise ValueError(f"the data from byte {at:,} on is not {name}")
        decoder, step = codec.decoder(memory), FIRST_STEP
        while not decoder.eof:
            fed = raw[at : at + step] if decoder.needs_input else b""
            if not fed and decoder.needs_input:
                raise EOFError("the last stream is incomplete")
            at, step = at + len(fed), min(2 * step, codec.step)
            try:
                piece = decoder.decompress(fed, PIECE)
            except Exception as error:
                if type(error).__name__ in MEMORY_LIMIT_ERRORS and "memory" in str(error).lower():
                    raise MemoryLimitExceeded from None
                raise
            yield piece
        at = _skip_zeros(raw, at - len(decoder.unused_data))


def _skip_zeros(raw: Sliceable, at: int) -> int:
    """The place of the first byte from here on that is not zero."""
    step = LONGEST_START  # most streams have no padding
    while block := raw[at : at + step]:
        rest = len(block.lstrip(b"\0"))
        at, step = at + len(block) - rest, min(2 * step, LAST_STEP)
        if rest:
            break
    return at

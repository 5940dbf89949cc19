"""Messages between processes: a length, how many seconds the answer may take, and bytes."""

from __future__ import annotations

import struct
from typing import IO

HEADER = struct.Struct("<QI")


def send(stream: IO[bytes], message: bytes, seconds: int = 0) -> None:
    """Write a message. `seconds` is how long the answer may take."""
    rest = memoryview(HEADER.pack(len(message), seconds) + message)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, int] | None:
    """The next message, and how many seconds the answer may take; None if the stream ends."""
    header = _exactly(stream, HEADER.size)
    if len(header) < HEADER.size:
        return None
    length, seconds = HEADER.unpack(header)
    message = _exactly(stream, length)
    return None if len(message) < length else (message, seconds)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """So many bytes; fewer if the stream ends."""
    pieces = []
    while size and (piece := stream.read(min(size, 1 << 20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)

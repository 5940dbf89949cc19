"""What runs in a separate process, and the messages that it takes and sends.

It imports little, since the process should start quickly.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from importlib import import_module
from typing import IO

from rankgauge.errors import InputError, NoRows

HEADER = struct.Struct("<QI")
"""How a message begins: its length, and how many seconds the answer may take."""

REFUSED_EXIT_CODE = 83
"""How the process ends when it has a message for the user."""

_is_separate = False
"""Whether this is a separate process, whose memory and time are its own to bound."""


def run() -> None:
    """Call a function with standard input, its arguments and standard output."""
    import json

    global _is_separate
    module, name, arguments, room = json.loads(sys.argv[1])
    function = getattr(import_module(module), name)
    _is_separate = True
    # Ctrl-C reaches all processes of a terminal; the process of the user decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _set_limit("RLIMIT_CORE", 0)  # a process that crashes writes no file of its memory
    limit_memory(room)
    try:
        function(sys.stdin.buffer, *arguments, sys.stdout.buffer)
    except InputError as error:
        sys.stdout.flush()
        print(json.dumps([isinstance(error, NoRows), error.message]), file=sys.stderr)
        sys.exit(REFUSED_EXIT_CODE)
    except BrokenPipeError:  # nobody wants the rest
        os._exit(0)


def serve(requests: IO[bytes], module: str, name: str, source: str, answers: IO[bytes]) -> None:
    """Answer requests until no more can come: their stream ends when the process of the user does.

    The function of this name is called with the source and the first message. It gives the function
    that answers the other messages.
    """
    answer = None
    while (request := receive(requests)) is not None:
        message, seconds = request
        # The process of the user watches the time too, but it may die before.
        used = os.times()
        _set_limit("RLIMIT_CPU", int(used.user + used.system) + 1 + seconds)
        if answer is None:
            answer = getattr(import_module(module), name)(source, message)
            send(answers, b"")
        else:
            send(answers, answer(message))


def limit_memory(room: int) -> None:
    """Bound what a separate process allocates, in bytes, where the system can.

    The process of the user is left as it is, if the work is done there.
    """
    if _is_separate:
        _set_limit("RLIMIT_DATA", room)


_limits_before: dict[str, int] = {}
"""The limits that this process was started with."""


def _set_limit(name: str, most: int) -> None:
    """Change a limit of this process, but never beyond what it was started with."""
    try:
        import resource
    except ImportError:  # Windows
        return
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    before = _limits_before.setdefault(name, soft)
    resource.setrlimit(
        kind, (most if before == resource.RLIM_INFINITY else min(most, before), hard)
    )


def send(stream: IO[bytes], message: bytes, seconds: int = 0) -> None:
    """Write a message. `seconds` is how long the answer may take."""
    rest = memoryview(HEADER.pack(len(message), seconds) + message)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, int] | None:
    """The next message, and how many seconds the answer may take; None if the stream ends."""
    header = _read_exactly(stream, HEADER.size)
    if len(header) < HEADER.size:
        return None
    length, seconds = HEADER.unpack(header)
    message = _read_exactly(stream, length)
    return None if len(message) < length else (message, seconds)


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    """So many bytes; fewer if the stream ends."""
    pieces = []
    while size and (piece := stream.read(min(size, 1 << 20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)

"""Functions that answer in a separate process, well or badly; `Service` finds them by their names."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

from rankgauge.errors import InputError


def prepared(source: str, content: bytes) -> Callable[[bytes], bytes]:
    """Answers a request by the function that it names, with the content."""
    if content == b"refused":
        raise InputError(source, None, "this content is refused")

    def answer(request: bytes) -> bytes:
        name, _, rest = request.partition(b" ")
        done: bytes = globals()[name.decode()](content + rest)
        return done

    return answer


def echo(data: bytes) -> bytes:
    return data


def process(data: bytes) -> bytes:
    return str(os.getpid()).encode()


def refuse(data: bytes) -> bytes:
    raise InputError("elsewhere", None, "this request is refused")


def write_errors(data: bytes) -> bytes:
    os.write(2, b"thread '<unnamed>' panicked at src/lib.rs\n")
    print("a remark", file=sys.stderr, flush=True)
    return data


def allocate(data: bytes) -> bytes:
    return bytes(1 << 40)


def spin(data: bytes) -> bytes:
    while True:
        pass


def sleep(data: bytes) -> bytes:
    time.sleep(600)
    return data


def abort(data: bytes) -> bytes:
    os.abort()


def crash(data: bytes) -> bytes:
    return ctypes.string_at(0)


def stop(data: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return data


def leave(data: bytes) -> bytes:
    os._exit(0)

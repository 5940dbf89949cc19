"""Decoding in a process of its own: polars can end the process it is in over a damaged Parquet page."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeAlias

from rankgauge.data.columns import first_line
from rankgauge.data.errors import InputError, NoRows
from rankgauge.data.files import Content

Decode: TypeAlias = Callable[[Any, str, int, Any, IO[bytes]], None]
"""Decodes a file: called with the open file, its name, the size limit, what is asked for, and the
stream for the result. A function of a module, since the other process finds it by its name."""

DECODER = "import sys; sys.path[:] = sys.argv[2:]; from rankgauge.data.decoder import work; work()"

PIPE_SIZE = 1 << 20
"""How many bytes are on their way at most, where the system lets a program choose."""

REFUSED = 83
"""How the other process ends when it has a message for the user."""


@contextlib.contextmanager
def decoded(content: Content, decode: Decode, asked: Any) -> Iterator[IO[bytes]]:
    """A stream of what `decode` writes about a file, in another process; InputError if it fails.

    The other process gets the file itself, not its bytes through a pipe. If the stream ends too early,
    the reader raises EOFError; then the InputError says why it ended. If no Python can be started, this
    process decodes. `asked` is anything that JSON can hold.
    """
    import tempfile

    with contextlib.ExitStack() as stack:
        file = content.stream
        if file is None:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(content.raw)
        file.seek(0)
        if not sys.executable or getattr(sys, "frozen", False):
            result = stack.enter_context(tempfile.TemporaryFile())
            decode(file, content.source, content.limit, asked, result)
            result.seek(0)
            yield result
        else:
            errors = stack.enter_context(tempfile.TemporaryFile())
            yield from _of_another_process(content, file, decode, asked, errors)
    content.check_unchanged()


def _of_another_process(
    content: Content, file: Any, decode: Decode, asked: Any, errors: IO[bytes]
) -> Iterator[IO[bytes]]:
    import json
    import subprocess

    job = json.dumps([decode.__module__, decode.__name__, content.source, content.limit, asked])
    command = [sys.executable, "-P", "-c", DECODER, job, *_paths()]
    try:
        process = subprocess.Popen(
            command, stdin=file, stdout=subprocess.PIPE, stderr=errors, pipesize=PIPE_SIZE
        )
    except (OSError, ValueError) as error:
        raise no_decoder(content.source, first_line(error)) from None
    assert process.stdout is not None
    short = False
    with process.stdout as result:
        try:
            yield result
        except EOFError:
            short = True
        except BaseException:
            process.kill()
            process.wait()
            raise
    if (code := process.wait()) != 0:
        errors.seek(0)
        raise _failure(content, code, errors.read().decode(errors="replace"))
    if short:
        raise no_decoder(content.source, "it said too little")


def _paths() -> list[str]:
    """Where the other process finds packages: where this one does, but not in the working folder."""
    paths = [path for path in sys.path if isinstance(path, str) and path]
    root = os.path.abspath(__file__)
    for _ in range(3):  # the module, its folder, the package
        root = os.path.dirname(root)
    return paths if root in paths else [root, *paths]


def _failure(content: Content, code: int, told: str) -> InputError:
    """Why the other process failed: its exit code and its last line say so."""
    source = content.source
    last = "".join(told.strip().splitlines()[-1:])
    if code == REFUSED:
        import json

        empty, message = json.loads(last)
        return (NoRows if empty else InputError)(source, None, message)
    if "memory allocation of" in last or last.startswith("MemoryError"):
        message = f"needs more memory than the size limit of {content.limit:,} bytes allows "
        return InputError(source, None, message + "(raise the size limit, or check the file)")
    # Only a signal, or on Windows an unusual code, is a crash; the rest is no work of the file.
    if code > 0 and (os.name != "nt" or code in (1, 2)):
        return no_decoder(source, last or f"it ended with {code}")
    message = f"damaged Parquet data ({': '.join(filter(None, ['its decoder crashed', last]))}), "
    return InputError(source, None, message + "expected a whole file")


def no_decoder(source: str, reason: str) -> InputError:
    """The error where the other process does not work. The file itself may be good."""
    message = f"the process that decodes Parquet could not start ({reason}). Check that "
    message += f"{sys.executable} can import rankgauge and polars (the file itself may be good)"
    return InputError(source, None, message)


_is_decoder = False
"""Whether this is the other process, whose memory is its own to bound."""


def work() -> None:
    """What the other process does: decode standard input to standard output."""
    import importlib
    import json

    module, function, source, limit, asked = json.loads(sys.argv[1])
    decode: Decode = getattr(importlib.import_module(module), function)
    global _is_decoder
    _is_decoder = True
    limit_memory(limit)
    try:
        decode(sys.stdin.buffer, source, limit, asked, sys.stdout.buffer)
    except InputError as error:
        sys.stdout.flush()
        print(json.dumps([isinstance(error, NoRows), error.message]), file=sys.stderr)
        sys.exit(REFUSED)
    except BrokenPipeError:  # nobody wants the rest
        os._exit(0)


def limit_memory(limit: int) -> None:
    """Bounds what the other process allocates: room for the packages and threads, and for the data in
    each form it has on its way. The process of the user is left as it is, where that one decodes."""
    if not _is_decoder:
        return
    try:
        import resource
    except ImportError:  # Windows
        return
    room = (2 << 30) + (16 << 20) * (os.cpu_count() or 1) + 8 * limit
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bounds = [bound for bound in (room, soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))

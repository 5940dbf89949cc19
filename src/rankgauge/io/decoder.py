"""Decoding in a process of its own: polars can end the process it is in over a damaged Parquet page."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeAlias

from rankgauge.data.columns import error_summary
from rankgauge.errors import InputError
from rankgauge.io.files import Content
from rankgauge.separate.launch import Cause, ProcessFailure, can_launch, launch

Decode: TypeAlias = Callable[[Any, str, int, Any, IO[bytes]], None]
"""Decodes a file. It is called with the open file, its name, the size limit, the request and the
stream for the result. A function of a module, since the other process finds it by its name."""


@contextlib.contextmanager
def run_decoder(content: Content, decode: Decode, request: Any) -> Iterator[IO[bytes]]:
    """A stream of what `decode` writes about a file, in another process; InputError if it fails.

    The other process gets the file itself, not its bytes through a pipe. If the stream ends too early,
    the reader raises EOFError; then the InputError says why it ended. If no Python can be started, this
    process decodes. `request` is anything that JSON can hold.
    """
    import tempfile

    with contextlib.ExitStack() as stack:
        file = content.stream
        if file is None:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write(content.raw)
        file.seek(0)
        if not can_launch():
            result = stack.enter_context(tempfile.TemporaryFile())
            decode(file, content.source, content.limit, request, result)
            result.seek(0)
            yield result
        else:
            errors = stack.enter_context(tempfile.TemporaryFile())
            yield from _decode_in_process(content, file, decode, request, errors)
    content.check_unchanged()


def _decode_in_process(
    content: Content, file: Any, decode: Decode, request: Any, errors: IO[bytes]
) -> Iterator[IO[bytes]]:
    import subprocess

    arguments = content.source, content.limit, request
    room = memory_allowance(content.limit)
    try:
        process = launch(decode, arguments, room, stdin=file, stdout=subprocess.PIPE, stderr=errors)
    except (OSError, ValueError) as error:
        raise decoder_error(content.source, error_summary(error)) from None
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
        raise decoder_error(content.source, "it said too little")


def _failure(content: Content, code: int, written: str) -> InputError:
    """Why the other process failed."""
    source = content.source
    cause, line = ending = ProcessFailure.of(code, written)
    if cause is Cause.REFUSAL:
        return ending.refusal(source)
    if cause is Cause.MEMORY:
        message = f"needs more memory than the size limit of {content.limit:,} bytes allows "
        return InputError(source, None, message + "(raise the size limit, or check the file)")
    if cause is Cause.START:
        return decoder_error(source, line)
    message = f"damaged Parquet data ({': '.join(filter(None, ['its decoder crashed', line]))}), "
    return InputError(source, None, message + "expected a whole file")


def decoder_error(source: str, reason: str) -> InputError:
    """The error where the other process does not work. The file itself may be good."""
    message = f"the process that decodes Parquet could not start ({reason}). Check that "
    message += f"{sys.executable} can import rankgauge and polars (the file itself may be good)"
    return InputError(source, None, message)


def memory_allowance(limit: int) -> int:
    """Return how many bytes the other process may allocate.

    They are room for the packages and threads, and for the data in each form that it has on its way.
    """
    return (2 << 30) + (16 << 20) * (os.cpu_count() or 1) + 8 * limit

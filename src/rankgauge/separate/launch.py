"""Starting a separate process, and why it ended."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from rankgauge.errors import InputError, NoRows
from rankgauge.separate.inside import REFUSED_EXIT_CODE

if TYPE_CHECKING:
    import subprocess

PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from rankgauge.separate.inside import run; run()"

PIPE_SIZE = 1 << 20
"""Maximum number of bytes in transit, where the system lets a program choose."""


def can_launch() -> bool:
    """Whether there is a Python to start. A frozen program has none, and does the work itself."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def launch(
    function: Callable[..., None], arguments: Sequence[Any], room: int, **streams: Any
) -> subprocess.Popen[bytes]:
    """A new process that calls a function of a module; OSError or ValueError if it cannot be started.

    The function is called with standard input, the arguments and standard output. The arguments are
    anything that JSON can hold. The process may allocate `room` bytes, where the system can bound it.
    `streams` is what `subprocess.Popen` takes for standard input, output and error.
    """
    import json
    import subprocess

    job = json.dumps([function.__module__, function.__name__, list(arguments), room])
    command = [sys.executable, "-P", "-c", PROGRAM, job, *_paths()]
    # A Rust library says why it ends in one line, without the functions that it was in.
    environment = {**os.environ, "RUST_BACKTRACE": "0"}
    return subprocess.Popen(command, env=environment, pipesize=PIPE_SIZE, **streams)


def _paths() -> list[str]:
    """Where the other process finds packages: where this one does, but not in the working folder."""
    paths = [path for path in sys.path if isinstance(path, str) and path]
    root = os.path.abspath(os.path.join(__file__, "../../.."))  # where the package is
    return paths if root in paths else [root, *paths]


class Cause(Enum):
    """Why a separate process ended too early."""

    REFUSAL = "it raised an InputError"
    MEMORY = "it exceeded its memory limit"
    TIME = "it exceeded its time limit"
    START = "it could not start"
    STOPPED = "it was stopped by the system or by someone else"
    CRASH = "it crashed"


class ProcessFailure(NamedTuple):
    """Why a separate process ended too early, and its last line on standard error."""

    cause: Cause
    line: str

    @classmethod
    def of(cls, code: int, written: str) -> ProcessFailure:
        """The ending by the exit code and by what the process wrote to standard error."""
        line = "".join(written.strip().splitlines()[-1:])
        if code == REFUSED_EXIT_CODE:
            return cls(Cause.REFUSAL, line)
        if "memory allocation of" in written or line.startswith("MemoryError"):
            return cls(Cause.MEMORY, line)
        # Only a signal, or on Windows an unusual code, is the work of a file.
        if code >= 0 and (os.name != "nt" or code in (0, 1, 2)):
            return cls(Cause.START, line or f"it ended with {code}")
        return cls(_SIGNALS.get(-code, Cause.CRASH), line)

    def refusal(self, source: str) -> InputError:
        """The InputError that the process raised."""
        import json

        empty, message = json.loads(self.line)
        return (NoRows if empty else InputError)(source, None, message)


_SIGNALS = {
    int(getattr(signal, name)): cause
    for name, cause in {
        "SIGXCPU": Cause.TIME,
        "SIGKILL": Cause.STOPPED,
        "SIGTERM": Cause.STOPPED,
        "SIGHUP": Cause.STOPPED,
        "SIGINT": Cause.STOPPED,
    }.items()
    if hasattr(signal, name)
}

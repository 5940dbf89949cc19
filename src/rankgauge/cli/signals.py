"""Signals that end the program: it cleans up, says so in one line, and ends as shells expect."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any, NoReturn

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
MESSAGE = "interrupted"
SOON = 0.01


class Interrupted(KeyboardInterrupt):
    """A signal asks the program to end; whatever gives way to KeyboardInterrupt gives way to it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_starting = False


def catch_signals() -> None:
    """From now on SIGINT, SIGTERM and SIGHUP end the program at once, since nothing is begun yet.

    A signal that is ignored stays ignored: `nohup` and shells ask for that. It is blocked as well, since
    polars replaces what a signal does when it is imported.
    """
    global _starting
    _starting = True
    for name in NAMES:
        number = getattr(signal, name, None)
        if number is None:
            continue
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
        elif hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    sys.unraisablehook = _resend_lost_signal


def clean_up_on_signals() -> None:
    """From now on the signals raise `Interrupted` instead, so that work begun is cleaned up."""
    global _starting
    _starting = False


def ignore_signals() -> None:
    """From now on nothing disturbs the end."""
    for name in NAMES:
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is _end:
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def end_now(code: int) -> NoReturn:
    """End without waiting for threads that are still at work; what is to be removed at exit is."""
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)


def _end(number: int, _: Any) -> None:
    if _starting:
        os.write(2, f"{MESSAGE}\n".encode())
        os._exit(128 + number)
    raise Interrupted(number)


def _resend_lost_signal(lost: Any) -> None:
    """Python drops what is raised while it collects garbage: then the signal is raised again, soon."""
    if isinstance(lost.exc_value, Interrupted) and hasattr(signal, "setitimer"):
        number = lost.exc_value.number
        signal.signal(signal.SIGALRM, lambda *_: _end(number, None))
        signal.setitimer(signal.ITIMER_REAL, SOON)
    else:
        sys.__unraisablehook__(lost)

"""What tests of the command line share."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple
from unittest.mock import patch

import pytest

from rankgauge import RankgaugeError, Workers
from rankgauge.cli import main


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Call = Callable[..., Outcome]
"""Calls a command with these words."""


@contextlib.contextmanager
def one_process() -> Iterator[None]:
    """Parquet is decoded and texts are tokenized here: starting a process takes longer than all else."""
    with patch.object(sys, "executable", None):
        yield


def called(*arguments: object) -> Outcome:
    """What the command does in this process, for fixtures of a module."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    code: object = 0
    with (
        patch.object(sys, "argv", ["rankgauge", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Outcome(code, *texts)


def called_with_workers(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Outcome:
    """What the command does with workers that fail as soon as they are given work."""

    def pool(self: Workers, tasks: int) -> None:
        raise RankgaugeError("the workers are asked")

    monkeypatch.setattr(Workers, "pool", pool)
    return called(*arguments, "--workers", "1")


def on_a_terminal(
    *arguments: object, interrupted_at: bytes = b"", output: int | None = None, **environment: str
) -> tuple[int, str]:
    """The exit code, and all that a terminal gets to see of output and errors. Output can go elsewhere;
    the program is interrupted as soon as the terminal sees these bytes."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    unset = ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    known = {name: value for name, value in os.environ.items() if name not in unset}
    with subprocess.Popen(
        [sys.executable, "-m", "rankgauge", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=theirs if output is None else output,
        stderr=theirs,
        env={**known, "TERM": "xterm", **environment},
    ) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # what Linux says at the end of a terminal
            while piece := os.read(ours, 4096):
                seen += piece
                if interrupted_at and interrupted_at in seen:
                    process.send_signal(signal.SIGINT)
                    interrupted_at = b""
    os.close(ours)
    return process.returncode, seen.decode().replace("\r\n", "\n")


def assert_refused(done: Outcome, message: str) -> None:
    """The command printed nothing but an error with this text."""
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def records(tsv: str) -> list[dict[str, str]]:
    """The rows of the tsv form by column name."""
    return list(csv.DictReader(tsv.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))

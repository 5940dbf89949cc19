"""What tests of the command line share."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Iterator
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


def records(tsv: str) -> list[dict[str, str]]:
    """The rows of the tsv form by column name."""
    return list(csv.DictReader(tsv.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))

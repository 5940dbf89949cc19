"""The command line in this process, for tests that need no other."""

from __future__ import annotations

import sys

import pytest

from command_line import Call, Outcome, one_process
from rankgauge.cli import main


@pytest.fixture
def rankgauge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """What the command does, in this process alone."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["rankgauge", *map(str, arguments)])
        code: object = 0
        try:
            with one_process():
                main()
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        assert isinstance(code, int)
        return Outcome(code, captured.out, captured.err)

    return call

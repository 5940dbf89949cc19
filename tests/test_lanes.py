"""The tests by several processes: each test once, and a failure of one process is a failure of all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lanes import main

TESTS = """
import os
import pytest

@pytest.fixture(scope="module", autouse=True)
def made():
    note("made")

def note(what):
    with open({log!r}, "a") as stream:
        stream.write(what + " " + os.path.basename(__file__) + chr(10))

@pytest.mark.parametrize("number", range(3))
def test_it(number):
    note(str(number))
    assert number != {wrong}
"""


def run(folder: Path, wrong: int, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    log = folder / "log"
    for name in ("a", "b", "c", "d"):
        file = folder / "tests" / f"folder_{name}" / f"test_{name}.py"
        file.parent.mkdir(parents=True)
        text = TESTS.format(log=str(log), wrong=wrong if name == "c" else 9)
        file.write_text(text, encoding="utf-8")
    rooted = ("--rootdir", str(folder), "-c", "/dev/null", str(folder / "tests"))
    code = main(folder / "temporary", rooted, 2)
    return code, log.read_text().splitlines(), capsys.readouterr().out.splitlines()[-1]


def test_each_test_is_run_once_and_each_file_is_prepared_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, log, last = run(tmp_path, 9, capsys)
    assert code == 0
    assert sorted(log) == sorted(
        f"{what} test_{name}.py" for name in "abcd" for what in ("made", "0", "1", "2")
    )
    assert last.startswith("12 passed in ")


def test_a_test_that_fails_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, log, last = run(tmp_path, 1, capsys)
    assert code == 1
    assert len(log) == 16
    assert "1 failed" in last
    assert "11 passed" in last


def test_tests_that_no_process_ran_are_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when what a process printed was lost."""
    monkeypatch.setattr("lanes.COUNTED", re.compile("(?!)(.)(.)"))
    code, log, last = run(tmp_path, 9, capsys)
    assert (code, len(log)) == (1, 16)
    assert last == "12 of 12 tests were run by no process"


def test_tests_of_a_file_that_are_not_together_are_all_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A parameter of the whole session puts the tests of several files together."""
    parts = tmp_path / "tests"
    parts.mkdir()
    made = "@pytest.fixture(scope='session', params=[1, 2, 3])\ndef part(request): return request.param"
    (parts / "conftest.py").write_text(f"import pytest\n{made}\n")
    for name in ("a", "b"):
        (parts / f"test_{name}.py").write_text(
            "def test_one(part): pass\ndef test_two(part): pass\n"
        )
    code = main(tmp_path / "out", ("--rootdir", str(tmp_path), "-c", "/dev/null", str(parts)), 2)
    assert code == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("12 passed in ")

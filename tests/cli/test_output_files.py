"""Files to write are checked before any work, in every command, and no two options share one."""

from __future__ import annotations

import io
import itertools
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from command_calls import COMMANDS
from command_line import Call, assert_refused
from rankgauge.cli.output import print_bytes
from rankgauge.cli.output_files import FigureFile, OutputFile

WRITES = {
    "--output",
    "--save",
    "--json",
    "--asl",
    "--tau",
    "--swaps",
    "--map",
    "--histogram",
    "--plot",
}


def options() -> list[tuple[str, click.Option]]:
    """Every option of every command that names a file to write."""
    return [
        (name, option)
        for name, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option)
        and isinstance(option.type, OutputFile)
        and not option.type.folder
    ]


OUTPUTS = options()


def test_every_such_option_is_checked() -> None:
    assert {option.opts[-1] for _, option in OUTPUTS} == WRITES
    for name, command in COMMANDS.items():
        for option in command.params:
            if option.opts[-1] in WRITES:
                assert isinstance(option.type, OutputFile), (name, option.opts)


# The judgments are missing: a message about them would mean that work began.
@pytest.mark.parametrize(("command", "option"), OUTPUTS)
def test_what_cannot_be_written_is_refused_before_any_work(
    command: str, option: click.Option, rankgauge: Call, tmp_path: Path
) -> None:
    ending = ".svg" if isinstance(option.type, FigureFile) else ""
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    for path, reason in (
        (folder, "Is a directory"),
        (tmp_path / "none" / f"x{ending}", "No such file or directory"),
        (tmp_path / f"{'x' * 300}{ending}", "File name too long"),
        (f"a\0b{ending}", "null"),
    ):
        code, out, err = rankgauge(*command.split(), option.opts[-1], path)
        assert (code, out) == (2, "")
        assert "cannot be written: " in err
        assert reason in err


@pytest.mark.parametrize("command", sorted({name for name, _ in OUTPUTS}))
def test_two_options_with_one_file_are_refused(
    command: str, rankgauge: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [option.opts[-1] for name, option in OUTPUTS if name == command]
    for first, second in itertools.pairwise(names):
        asked = (first, "x.svg", second, tmp_path / "." / "x.svg")
        assert_refused(
            rankgauge(*command.split(), *asked),
            f"{first} and {second} name the same file, expected two",
        )


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user"
)
def test_a_folder_without_permission_is_refused(rankgauge: Call, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    _, _, err = rankgauge("evaluate", "no-qrels", "no-run", "-o", tmp_path / "x")
    assert err.endswith("cannot be written: Permission denied\n")


@pytest.mark.parametrize("command", [("demo",), ("study", "med")])
def test_a_folder_that_cannot_be_made_is_refused_before_any_work(
    command: tuple[str, ...], rankgauge: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(**_: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr("rankgauge.cli.demo.simulate", work)
    monkeypatch.setattr("rankgauge_studies.med.tables", work)
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        assert_refused(rankgauge(*command, "-o", folder), f"{folder}: cannot be made: ")


# Standard output


HOSTILE_IDS = [b"q\x1b[31m1", b"q1", b"q\x1b[0m1", b"q\x07", b"q\xc3\xa4"]


def program(*arguments: object) -> bytes:
    """What the program prints, as bytes."""
    command = [sys.executable, "-m", "rankgauge", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_bytes_of_ids_go_out_as_they_came_in(tmp_path: Path) -> None:
    qrels, run, table = tmp_path / "qrels", tmp_path / "run", tmp_path / "table"
    qrels.write_bytes(b"".join(b"%s 0 a 1\n" % topic for topic in [*HOSTILE_IDS, b"q\xff"]))
    run.write_bytes(b"".join(b"%s Q0 a 1 1 t\n" % topic for topic in [*HOSTILE_IDS, b"q\xff"]))
    printed = program("evaluate", qrels, run, "-m", "AP", "-q")
    program("evaluate", qrels, run, "-m", "AP", "-q", "-o", table)
    assert table.read_bytes() == printed
    topics = [cell for line in printed.splitlines()[1:] for cell in line.split(b"\t")]
    assert set(HOSTILE_IDS) <= set(topics)
    lines = program("trec_eval", "-q", "-m", "map", qrels, run).splitlines()
    assert {line.split(b"\t")[1] for line in lines} == {*HOSTILE_IDS, b"q\xff", b"all"}


def test_on_a_terminal_control_characters_are_shown_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    print_bytes("a\x1b[31mb\tc\x9b\nä\u200d")
    assert shown.getvalue() == "a\\x1b[31mb\tc\\x9b\nä\u200d"


@pytest.mark.parametrize("topic", ["=1+1", "+1", "-1", "@SUM(1)", "q", "1"])
def test_a_spreadsheet_runs_no_cell(topic: str, rankgauge: Call, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(f"{topic} 0 a 1\n")
    run.write_text(f"{topic} Q0 a 1 -1 t\n")
    asked = ("evaluate", qrels, run, "-m", "AP", "-q", "--format", "csv")
    code, out, _ = rankgauge(*asked)
    assert code == 0
    rows = [line.split(",") for line in out.splitlines()]
    escaped = [
        ["'" + cell if cell == topic and topic[0] in "=+-@" else cell for cell in row]
        for row in rows
    ]
    code, out, _ = rankgauge(*asked, "--spreadsheet")
    assert (code, [line.split(",") for line in out.splitlines()]) == (0, escaped)
    assert_refused(
        rankgauge(*asked[:-1], "tsv", "--spreadsheet"),
        "--spreadsheet works only with --format csv, not tsv",
    )

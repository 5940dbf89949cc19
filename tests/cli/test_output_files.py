"""Files to write are checked before any work, in every command, and no two options share one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from command_line import Outcome
from rankgauge.cli import COMMANDS
from rankgauge.cli.commands import group
from rankgauge.cli.output_files import FigureFile, OutputFile

Command = Callable[..., Outcome]
WRITES = {"--output", "--save", "--json", "--asl", "--tau", "--swaps", "--map", "--histogram"}


def options() -> list[tuple[str, click.Option]]:
    """Every option of every command that names a file to write."""
    with click.Context(group) as context:
        commands = {name: group.get_command(context, name) for name in COMMANDS}
    return [
        (name, option)
        for name, command in commands.items()
        if command is not None
        for option in command.params
        if isinstance(option, click.Option) and isinstance(option.type, OutputFile)
    ]


OUTPUTS = options()


def test_every_such_option_is_checked() -> None:
    assert {option.opts[-1] for _, option in OUTPUTS} == WRITES
    with click.Context(group) as context:
        for name in COMMANDS:
            command = group.get_command(context, name)
            assert command is not None
            for option in command.params:
                if option.opts[-1] in WRITES and name not in ("demo", "study"):
                    assert isinstance(option.type, OutputFile), (name, option.opts)


# The judgements are missing: a message about them would mean that work began.
@pytest.mark.parametrize(("command", "option"), OUTPUTS)
def test_what_cannot_be_written_is_refused_before_any_work(
    command: str, option: click.Option, rankgauge: Command, tmp_path: Path
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
        inputs = () if command == "measures" else ("no-qrels", "no-run")
        code, out, err = rankgauge(command, *inputs, option.opts[-1], path)
        assert (code, out) == (2, "")
        assert "cannot be written: " in err
        assert reason in err


@pytest.mark.parametrize("command", sorted({name for name, _ in OUTPUTS}))
def test_two_options_with_one_file_are_refused(
    command: str, rankgauge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [option.opts[-1] for name, option in OUTPUTS if name == command]
    for first, second in itertools.pairwise(names):
        asked = (first, "x.svg", second, tmp_path / "." / "x.svg")
        code, out, err = rankgauge(command, "no-qrels", "no-run", *asked)
        assert (code, out) == (2, "")
        assert f"{first} and {second} are one file, expected two" in err


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user"
)
def test_a_folder_without_permission_is_refused(rankgauge: Command, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    _, _, err = rankgauge("evaluate", "no-qrels", "no-run", "-o", tmp_path / "x")
    assert err.endswith("cannot be written: Permission denied\n")


@pytest.mark.parametrize("command", [("demo",), ("study", "med")])
def test_a_folder_that_cannot_be_made_is_refused_before_any_work(
    command: tuple[str, ...], rankgauge: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(**_: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr("rankgauge.cli.demo.simulate", work)
    monkeypatch.setattr("rankgauge.studies.med.tables", work)
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        code, _, err = rankgauge(*command, "-o", folder)
        assert code == 2
        assert f"{folder}: cannot be made: " in err

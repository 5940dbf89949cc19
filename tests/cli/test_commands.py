"""Commands of other packages: found by entry points, listed by task, and none breaks the others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from rankgauge import RankgaugeError
from rankgauge.cli.commands import OTHER, commands, register_command

GUIDE = Path(__file__).parents[2].joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
MINE = GUIDE.partition("## How to add a command")[2].partition("```python")[2].partition("```")[0]
TAKEN = """
import click
from rankgauge.extending import register_command

@register_command()
@click.command("evaluate")
def mine():
    click.echo("not ours")
"""


def installed(folder: Path, **modules: str) -> None:
    """A distribution with these modules, each of which is an entry point."""
    information = folder / "mine-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    points = "".join(f"{name} = {name}\n" for name in modules)
    (information / "entry_points.txt").write_text(f"[rankgauge.commands]\n{points}")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What rankgauge does where the folder is installed, too."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "rankgauge", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        timeout=120,
    )


def test_the_command_of_the_guide_is_listed_under_its_task_and_runs(tmp_path: Path) -> None:
    installed(tmp_path, my_commands=MINE)
    listed = run(tmp_path, "--help")
    assert listed.stderr == ""
    section = listed.stdout.partition("Score:\n")[2].partition("\n\n")[0]
    assert "\n  judged " in section
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n")
    done = run(tmp_path, "judged", str(tmp_path / "qrels"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["query\tjudged", "q1\t2", "q2\t1"]


def test_a_broken_command_is_reported_and_breaks_no_other(tmp_path: Path) -> None:
    installed(tmp_path, broken="import nothing_of_this_name", taken=TAKEN, my_commands=MINE)
    listed = run(tmp_path, "--help")
    assert listed.returncode == 0
    assert "\n  judged " in listed.stdout
    assert "\n  study " in listed.stdout
    first, second = sorted(listed.stderr.splitlines())
    assert first.startswith("note: the commands of broken cannot be loaded: No module named")
    assert second.startswith(
        "note: the commands of taken cannot be loaded: the name evaluate is taken"
    )
    assert run(tmp_path, "judged", "--help").stderr == ""
    unknown = run(tmp_path, "nothing")
    assert unknown.returncode == 2
    assert "commands of broken" in unknown.stderr
    assert "No such command 'nothing'" in unknown.stderr
    ours = run(tmp_path, "evaluate", "--help")
    assert (ours.returncode, ours.stderr) == (0, "")
    assert "not ours" not in ours.stdout


def test_a_name_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "entries", {})
    monkeypatch.setattr(commands, "tasks", {})
    first = click.Command("new", callback=installed)
    assert register_command()(first) is first
    assert commands.tasks == {"new": OTHER}
    register_command("Score")(first)
    for name in ("new", "compare"):
        with pytest.raises(RankgaugeError, match=f"the name {name} is taken by"):
            register_command()(click.Command(name, callback=run))


def test_entry_points_are_not_read_for_a_command_of_ours() -> None:
    code = (
        "import sys; from rankgauge.cli.commands import commands; commands['evaluate']; "
        "print(commands.discovered, 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"

"""rankgauge measures and rankgauge demo."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest
from click.testing import CliRunner

import rankgauge as rg
from rankgauge.cli.commands import group
from rankgauge.measures import Measure, entries


def run(*arguments: str) -> str:
    result = CliRunner().invoke(group, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_programs_get_every_registered_measure(options: list[str]) -> None:
    listed = [line.split("\t")[0] for line in run("measures", *options).splitlines()[1:]]
    assert sorted(listed) == sorted(entries())


def listed(*options: str) -> list[str]:
    """The names that people get, one to a line, without the lines that go on."""
    lines = run("measures", "--format", "table", *options).splitlines()
    return [line.split()[0] for line in lines if line[:2] == "  " and line[2] != " "]


def test_people_get_twenty_measures_in_a_line_each_and_how_to_get_the_rest() -> None:
    names = listed()
    assert len(names) == 20
    for name in names:
        rg.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, name)
    lines = run("measures", "--format", "table").splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    last = next(line for line in lines if "--all" in line)
    counts = re.search(r"lists all (\d+) measures and (\d+) wrappers and aggregates\.$", last)
    assert counts is not None
    assert sum(map(int, counts.groups())) == len(entries())
    assert int(counts[1]) == sum(isinstance(entry, Measure) for entry in entries().values())


def test_people_get_every_measure_on_request() -> None:
    assert sorted(listed("--all")) == sorted(entries())
    text = " ".join(run("measures", "--format", "table", "--all").split())
    assert "Average precision: the sum" in text
    assert "Also called map, average_precision" in text


def test_people_get_their_own_measures_in_both_lists(tmp_path: Path) -> None:
    plugin = tmp_path / "own.py"
    plugin.write_text(
        "import rankgauge as rg\n"
        "class Own(rg.measures.Binary):\n"
        "    name, summary, formula, source = 'OwnCount', 'One of ours.', 'x', 'y'\n"
        "    range, examples = (0.0, 1.0), ('OwnCount',)\n"
        "    def _score(self, lists):\n"
        "        return lists.sum(lists.relevant(self.rel)) * 0.0\n"
        "rg.measures.register(Own())\n"
    )
    command = [sys.executable, "-m", "rankgauge", "measures", "--format", "table"]
    for options in ([], ["--all"]):
        done = subprocess.run(
            [*command, *options, "--plugin", plugin], capture_output=True, text=True, check=True
        )
        assert re.search("^  OwnCount +One of ours", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(entries()))
def test_every_measure_is_explained(name: str) -> None:
    text = run("measures", name)
    entry = entries()[name]
    assert " ".join(text.split()).startswith(f"{name}: {entry.summary}")
    assert "formula:" in text
    assert "answers:" in text
    for parameter in entry.parameters():
        assert f"  {parameter}" in text
    assert all(len(line) <= 90 for line in text.splitlines())


def test_a_measure_is_explained_under_any_of_its_names() -> None:
    assert run("measures", "map") == run("measures", "AP") == run("measures", "AP(rel=2)@10")


# The demo


def demo(folder: Path, *options: str) -> tuple[list[str], list[list[str]]]:
    """What the demo prints, and the rows of its table."""
    lines = run("demo", "-o", str(folder / "demo"), *options).splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith("──"))
    return lines, [line.split() for line in lines[rule + 1 : lines.index("", rule)]]


def test_the_demo_writes_trec_files_that_evaluate_to_what_it_prints(tmp_path: Path) -> None:
    lines, rows = demo(tmp_path, "--queries", "10")
    qrels = rg.read_qrels(tmp_path / "demo" / "qrels.txt")
    run_files = sorted((tmp_path / "demo").glob("*.run.gz"))
    assert len(run_files) == 12
    assert min(qrels.grades) == -1
    measures = ["nDCG@10", "lower(nDCG@10)", "upper(nDCG@10)", "expected(nDCG@10)"]
    means = rg.evaluate(qrels, map(rg.read_run, run_files), measures).sorted().mean()
    assert [row[:5] for row in rows] == [
        [name, *(f"{value:.4f}" for value in values.values())]
        for name, values in list(means.items())[:6]
    ]
    assert lines[2].split() == ["run", "nDCG@10", "lower", "upper", "chance", "judged@10"]


def test_the_demo_ends_with_the_next_step_and_its_page_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, _ = demo(tmp_path, "--queries", "5")
    assert lines[-1].startswith("Next: rankgauge report ")
    assert len(lines) == len(set(lines)) + 2  # blank lines alone are there again
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    monkeypatch.chdir(tmp_path)
    run(*shlex.split(lines[-1])[2:])
    assert opened == [(tmp_path / "report.html").as_uri()]


def test_the_demo_shows_all_runs_if_there_are_few(tmp_path: Path) -> None:
    lines, rows = demo(tmp_path, "--queries", "5", "--systems", "2")
    assert len(rows) == 2
    assert "All of them by nDCG@10:" in lines[0]

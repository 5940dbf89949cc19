"""rankgauge measures and rankgauge demo."""

from __future__ import annotations

import shlex
import webbrowser
from pathlib import Path

import pytest
from click.testing import CliRunner

import rankgauge as rg
from rankgauge.cli.commands import group
from rankgauge.measures import entries


def run(*arguments: str) -> str:
    result = CliRunner().invoke(group, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_list_names_every_registered_measure() -> None:
    listed = [line.split("\t")[0] for line in run("measures").splitlines()[1:]]
    assert sorted(listed) == sorted(entries())


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

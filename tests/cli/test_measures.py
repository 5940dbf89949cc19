"""rankgauge measures and rankgauge demo."""

from __future__ import annotations

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


def test_the_demo_writes_trec_files_that_evaluate_to_what_it_prints(tmp_path: Path) -> None:
    text = run("demo", "-o", str(tmp_path / "demo"), "--queries", "10", "--systems", "12")
    qrels = rg.read_qrels(tmp_path / "demo" / "qrels.txt")
    run_files = sorted((tmp_path / "demo").glob("*.run.gz"))
    assert len(run_files) == 12
    assert min(qrels.grades) == -1
    scores = rg.evaluate(qrels, [rg.read_run(file) for file in run_files], "nDCG@10")
    for name, means in scores.mean().items():
        line = next(line for line in text.splitlines() if line.split()[:3] == [name, "all", "10"])
        assert f"{means['nDCG@10']:.4f}" in line

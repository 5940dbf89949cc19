"""What docs/FORECAST.md says about two phases on Robust 2003 is what its script finds."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
from rankgauge.forecast import choose_queries

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "FORECAST.md").read_text(encoding="utf-8")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("two_phase")


def test_the_numbers_of_robust_2003_are_those_of_the_script(
    script: Any, real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = real_data("trec-robust03").parent
    monkeypatch.setattr(script, "TRACKS", {"Robust 2003": script.TRACKS["Robust 2003"]})
    _, cell = script.cells(folder, 10)
    assert (cell.target, cell.judged) == ("nDCG@1000", 5864)
    row = script.coverage(cell, 10, 200)
    start = PAGE.index("| Robust 2003, nDCG@1000")
    line = PAGE[start:].splitlines()[1]
    told = [float(number) for number in re.findall(r"\.\d+", line)]
    columns = (3, 4, 5, 6, 7, 9, 10, 11)
    assert [row[column] for column in columns] == pytest.approx(told, abs=0.025)
    assert 0.93 <= row[3] <= 0.985
    assert row[4] >= 0.88


def test_the_cost_of_web_2012_counts_what_a_pool_counts(
    script: Any, real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents graded −2 are pooled, not judged."""
    folder = real_data("trec-web2012").parent
    monkeypatch.setattr(script, "TRACKS", {"Web 2012": script.TRACKS["Web 2012"]})
    cell, _ = script.cells(folder, 10)
    qrels, runs = (folder / part for part in script.TRACKS["Web 2012"])
    found = rg.judging_depth(qrels, sorted(runs.iterdir()), "nDCG@100", [10])
    assert cell.judged == found.shallow[0].counts.total["judged"] == 845
    assert cell.all_judged == found.judgments == 15_197
    assert "| Web 2012, judgments | 845 |" in PAGE


def test_three_quarters_of_the_pilots_of_web_2012_reach_the_width(
    script: Any, real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = real_data("trec-web2012").parent
    monkeypatch.setattr(script, "TRACKS", {"Web 2012": script.TRACKS["Web 2012"]})
    for cell in script.cells(folder, 10):
        for _, _, _, enough, _, reached, _ in script.planned(cell):
            assert reached >= 0.75, (cell.target, enough)


def test_estimates_come_near_what_all_judgments_say(real_data: Callable[[str], Path]) -> None:
    folder = real_data("trec-robust03")
    qrels = rg.read_qrels(folder / "qrels.txt.gz")
    runs = [rg.read_run(file) for file in sorted((folder / "runs").iterdir())]
    pool = rg.pool(qrels, runs, 10)
    shallow = rg.evaluate(pool, runs, "nDCG@100")
    deep = rg.evaluate(qrels, runs, "nDCG@100")
    truth = deep.values.mean(axis=(1, 2))
    errors = {"two phases": 0.0, "deep": 0.0}
    for seed in range(10):
        topics = choose_queries(pool, 20, seed)
        found = rg.two_phase(shallow, deep, topics)
        errors["two phases"] += abs(found.mean - truth).mean() / 10
        errors["deep"] += abs(found.deep_mean - truth).mean() / 10
    assert errors["two phases"] < 0.75 * errors["deep"]
    assert errors["two phases"] < 0.03
    every = rg.two_phase(shallow, deep)
    assert every.mean.tolist() == pytest.approx(truth.tolist(), abs=1e-12)
    assert (every.high == every.low).all()

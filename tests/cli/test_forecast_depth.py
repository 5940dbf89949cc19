"""The command `rankgauge forecast depth`, as a user of a shell meets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import rankgauge as rg
from command_line import Call, assert_refused, records
from rankgauge.core.tables import Table
from rankgauge.figures.files import save_figure

QRELS = {f"q{n}": {"a": n % 3, "b": 1, "c": 0, "d": n % 2, "e": 1} for n in range(6)}
RUNS = {
    "alpha1": {topic: ["a", "b", "c", "d", "x"] for topic in QRELS},
    "alpha2": {topic: ["b", "a", "e"] for topic in QRELS},
    "beta1": {topic: ["c", "d", "e", "y"] for topic in QRELS if topic != "q3"},
}


class Files(NamedTuple):
    folder: Path
    qrels: Path
    runs: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgments and a folder with three runs of two teams."""
    qrels, runs = tmp_path / "qrels.txt", tmp_path / "runs"
    rg.write_qrels(QRELS, qrels)
    runs.mkdir()
    for name, run in RUNS.items():
        rg.write_run(rg.Run.from_dict(run, name=name), runs / f"{name}.run")
    return Files(tmp_path, qrels, runs)


def texts(table: Table) -> list[dict[str, str]]:
    return records(replace(table, notes=()).render("tsv"))


def test_the_table_is_that_of_the_library(rankgauge: Call, files: Files) -> None:
    measures = ["-m", "nDCG@3", "-m", "AP"]
    result = rankgauge(
        "forecast", "depth", files.qrels, files.runs, *measures, "--depth", 2, "--depth", 1
    )
    assert result.code == 0
    found = rg.judging_depth(files.qrels, files.runs, ["nDCG@3", "AP"], [1, 2])
    assert records(result.out) == texts(found.table())
    assert "note: half_tau: how similarly two random halves" in result.err


def test_depths_and_measure_have_defaults(rankgauge: Call, files: Files) -> None:
    result = rankgauge("forecast", "depth", files.qrels, files.runs)
    assert [row["depth"] for row in records(result.out)] == ["5", "10", "20", "30", "50"]
    assert {row["measure"] for row in records(result.out)} == {"nDCG@100"}


def test_runs_outside_the_pool_are_named(rankgauge: Call, files: Files) -> None:
    for pooled in (["alpha1", "alpha2"], [files.runs / "alpha1.run", files.runs / "alpha2.run"]):
        options = [word for run in pooled for word in ("--pooled", run)]
        result = rankgauge("forecast", "depth", files.qrels, files.runs, "--depth", 2, *options)
        assert result.code == 0
        found = rg.judging_depth(files.qrels, files.runs, depths=[2], pooled=["alpha1", "alpha2"])
        assert records(result.out) == texts(found.table())
        assert "not in the pool: beta1." in result.err
    result = rankgauge("forecast", "depth", files.qrels, files.runs, "--pooled", "gamma")
    assert result.code == 2
    assert "no run is called 'gamma', so it cannot contribute to the pool" in result.err
    assert "the runs are 'alpha1', 'alpha2', 'beta1'" in result.err
    (files.runs / "bad.run").write_text("nonsense\n")
    result = rankgauge("forecast", "depth", files.qrels, files.runs, "--pooled", "bad.run")
    assert result.code == 2
    assert "no run is called 'bad.run'" in result.err
    assert "bad.run:1: " in result.err


def test_teams_are_left_out(rankgauge: Call, files: Files) -> None:
    call = ["forecast", "depth", files.qrels, files.runs, "-m", "AP", "--depth", 1, "--depth", 2]
    for text, teams in (
        ("letters", "letters"),
        ("runs", "runs"),
        ("alpha,beta", ["alpha", "beta"]),
    ):
        found = rg.judging_depth(files.qrels, files.runs, "AP", [1, 2], teams=teams)
        result = rankgauge(*call, "--teams", text)
        assert records(result.out) == texts(found.table())
        assert f"each of {len(set(found.teams or ()))} teams was removed" in result.err
        result = rankgauge(*call, "--teams", text, "--by-team")
        assert records(result.out) == texts(found.team_table())
    assert_refused(rankgauge(*call, "--by-team"), "--by-team works only with --teams")
    assert_refused(
        rankgauge(*call, "--teams", "gamma"), "no run has a name that begins with 'gamma'"
    )
    only = [*call[:3], files.runs / "alpha1.run", files.runs / "alpha2.run"]
    assert_refused(
        rankgauge(*only, "--teams", "letters", "--by-team"), "all runs belong to one team"
    )


def test_a_figure_is_drawn(rankgauge: Call, files: Files) -> None:
    pytest.importorskip("matplotlib")
    call = ["forecast", "depth", files.qrels, files.runs, "-m", "AP", "--depth", 1, "--depth", 2]
    result = rankgauge(*call, "--plot", files.folder / "depth.svg")
    assert result.code == 0
    found = rg.judging_depth(files.qrels, files.runs, "AP", [1, 2])
    save_figure(found.figure(), files.folder / "expected.svg")
    drawn = (files.folder / "depth.svg").read_bytes()
    assert drawn == (files.folder / "expected.svg").read_bytes()


def test_policies_are_those_of_the_library(rankgauge: Call, files: Files) -> None:
    call = ["forecast", "depth", files.qrels, files.runs, "-m", "ERR@3", "--depth", 1]
    options = ["-J", "--ties", "random", "--seed", 7, "--max-grade", 4, "--precision", "double"]
    result = rankgauge(*call, *options, "--level", 0.5)
    found = rg.judging_depth(
        files.qrels,
        files.runs,
        "ERR@3",
        [1],
        unjudged="condensed",
        ties="random",
        seed=7,
        max_grade=4,
        precision="double",
        level=0.5,
    )
    assert records(result.out) == texts(found.table())
    result = rankgauge(*call, "--ties", "expected")
    assert result.code == 2


def test_help_explains_every_column(rankgauge: Call) -> None:
    from rankgauge.forecast.depth_results import COLUMNS, LEFT_OUT, OUTSIDE

    text = rankgauge("forecast", "depth", "--help-all").out
    for column in (*COLUMNS[2:], *LEFT_OUT, *OUTSIDE):
        assert f"  {column} " in text, column


def test_bad_input_is_one_line(rankgauge: Call, files: Files) -> None:
    for words, said in (
        (["-m", "gm(AP)"], "not an arithmetic mean"),
        (["-m", "alpha_nDCG@5"], "needs subtopics"),
    ):
        assert_refused(rankgauge("forecast", "depth", files.qrels, files.runs, *words), said)

"""Runs and judgements in any kind of file, on the command line; and both in one file."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import Outcome

Command = Callable[..., Outcome]

A = [
    {"query": "q1", "retrieved": ["d3", "d1"], "relevant": ["d1"]},
    {"query": "q2", "retrieved": ["d2", "d9"], "relevant": ["d2", "d4"]},
]
B = [
    {"query": "q1", "retrieved": [{"id": "d1", "score": 2}], "relevant": ["d3"]},
    {"query": "q2", "retrieved": []},
]


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.jsonl", A)
    write(tmp_path / "b.jsonl", B)
    return tmp_path


def test_a_file_with_run_and_judgements_is_evaluated_alone(
    rankgauge: Command, folder: Path
) -> None:
    code, out, err = rankgauge("evaluate", "a.jsonl", "-m", "RR", "-m", "Recall@5")
    assert (code, err) == (0, "")
    assert [line.split("\t")[0::5] for line in out.splitlines()] == [
        ["run", "judged@10"],
        ["a", "0.5"],
    ]
    assert out.splitlines()[1].split("\t")[-2:] == ["0.75", "0.75"]
    assert rankgauge("evaluate", "a.jsonl", "a.jsonl", "-m", "RR", "-m", "Recall@5").out == out


def test_standard_input_may_hold_both(
    rankgauge: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = (folder / "a.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    code, out, _ = rankgauge("evaluate", "-", "-m", "RR")
    assert code == 0
    assert out.splitlines()[1].split("\t")[0] == "stdin"
    assert out.splitlines()[1].endswith("\t0.75")


def test_more_files_beside_it_are_more_runs_by_its_judgements(
    rankgauge: Command, folder: Path
) -> None:
    code, out, _ = rankgauge("evaluate", "a.jsonl", "b.jsonl", "-m", "RR")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()[1:]]
    assert [(row[0], row[-1]) for row in rows] == [("a", "0.75"), ("b", "0.5")]
    code, out, _ = rankgauge("compare", "a.jsonl", "b.jsonl", "--baseline", "a.jsonl", "-m", "RR")
    assert code == 0
    assert out.splitlines()[1].split("\t")[:3] == ["RR", "b", "a"]
    code, out, _ = rankgauge("distance", "a.jsonl", "b.jsonl", "--qrels", "a.jsonl", "-m", "RR@5")
    assert code == 0
    assert float(out.splitlines()[1].split("\t")[-1]) == 0.25


def test_two_files_of_one_name_keep_apart(rankgauge: Command, folder: Path) -> None:
    (folder / "other").mkdir()
    write(folder / "other" / "a.jsonl", B)
    code, out, _ = rankgauge("evaluate", "a.jsonl", "other/a.jsonl", "-m", "RR")
    assert code == 0
    assert [line.split("\t")[0] for line in out.splitlines()[1:]] == ["a.jsonl", "a"]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (
            [{"query": "q", "retrieved": ["a"]}],
            "x.jsonl: no judgements: the objects have no key relevant or gold or",
        ),
        (
            [{"query": "q", "relevant": ["a"]}],
            "x.jsonl: judgements without a run; if you give only one file",
        ),
        (
            [{"q1": ["a"]}],
            "x.jsonl: judgements without a run; if you give only one file, each of",
        ),
        (
            [{"qid": 1, "docno": 2, "rel": 1}],
            "x.jsonl: judgements without a run; if you give only one file",
        ),
    ],
)
def test_a_file_that_lacks_one_says_which(
    rankgauge: Command, folder: Path, records: list[Any], message: str
) -> None:
    write(folder / "x.jsonl", records)
    code, out, err = rankgauge("evaluate", "x.jsonl")
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert '{"query": "q1", "retrieved": ["d3", "d1"], "relevant": ["d1"]}; else give QRELS' in err


def test_a_file_without_a_run_is_no_run(rankgauge: Command, folder: Path) -> None:
    write(folder / "gold.jsonl", [{"query": "q", "relevant": ["a"]}])
    code, _, err = rankgauge("evaluate", "gold.jsonl", "gold.jsonl")
    assert code == 2
    assert "gold.jsonl is given as judgements and as a run" in err


RATINGS = "who;movie;stars\nu1;m1;1\nu1;m2;0\nu2;m1;1\n"
TOP = "person,movie,points\nu1,m2,3\nu1,m1,2\nu2,m1,9\n"


def test_columns_are_named_by_options_each_file_taking_those_it_has(
    rankgauge: Command, folder: Path
) -> None:
    (folder / "ratings.csv").write_text(RATINGS)
    (folder / "top.csv").write_text(TOP)
    options = ("--query-column", "who", "--query-column", "person", "--grade-column", "stars")
    for command in ("evaluate", "queries", "assess"):
        code, out, err = rankgauge(
            command, "ratings.csv", "top.csv", "-m", "RR", *options, "--score-column", "points"
        )
        assert code == (2 if command == "assess" else 0), err  # one run alone is not assessed
        assert command == "assess" or "0.75" in out
    code, _, err = rankgauge("evaluate", "ratings.csv", "top.csv", "-m", "RR", *options)
    assert code == 2
    assert "no column for the score, expected score or" in err
    assert "name it: --score-column NAME, in Python score=NAME" in err
    options = (*options, "--score-column", "points", "--document-column", "movie")
    (folder / "other.csv").write_text(TOP.replace("m2,3", "m2,1"))
    code, out, _ = rankgauge("compare", "ratings.csv", "top.csv", "other.csv", "-m", "RR", *options)
    assert code == 0
    assert float(out.splitlines()[1].split("\t")[3]) == -0.25
    code, out, _ = rankgauge("distance", "top.csv", "other.csv", "--qrels", "ratings.csv", *options)
    assert code == 0


def test_a_column_that_no_file_has_is_named(rankgauge: Command, folder: Path) -> None:
    (folder / "ratings.csv").write_text(RATINGS)
    code, _, err = rankgauge("evaluate", "ratings.csv", "ratings.csv", "--query-column", "whom")
    assert code == 2
    assert "looks like CSV with ';' with the columns who, movie, stars" in err
    (folder / "qrels.csv").write_text("qid,docno,rel\n1,a,1\n")
    (folder / "run.csv").write_text("qid,docno,score\n1,a,1\n")
    code, _, err = rankgauge("evaluate", "qrels.csv", "run.csv", "--query-column", "whom")
    assert code == 2
    assert "qrels.csv: no column for the query, expected 'whom' (columns: qid, docno, rel)" in err


def test_options_for_columns_are_no_options_for_scores(rankgauge: Command, folder: Path) -> None:
    code, _, err = rankgauge("compare", "--scores", "x.csv", "--grade-column", "x")
    assert code == 2
    assert "--grade-column is for runs and has no effect with --scores" in err

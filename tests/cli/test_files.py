"""Runs and judgments in any kind of file, on the command line; and both in one file."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Call, assert_refused

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


def test_a_file_with_run_and_judgments_is_evaluated_alone(rankgauge: Call, folder: Path) -> None:
    code, out, err = rankgauge("evaluate", "a.jsonl", "-m", "RR", "-m", "Recall@5")
    assert (code, err) == (0, "")
    assert [line.split("\t")[0::5] for line in out.splitlines()] == [
        ["run", "judged@10"],
        ["a", "0.5"],
    ]
    assert out.splitlines()[1].split("\t")[-2:] == ["0.75", "0.75"]
    assert rankgauge("evaluate", "a.jsonl", "a.jsonl", "-m", "RR", "-m", "Recall@5").out == out


def test_standard_input_may_hold_both(
    rankgauge: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = (folder / "a.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    code, out, _ = rankgauge("evaluate", "-", "-m", "RR")
    assert code == 0
    assert out.splitlines()[1].split("\t")[0] == "stdin"
    assert out.splitlines()[1].endswith("\t0.75")


def test_more_files_beside_it_are_more_runs_by_its_judgments(rankgauge: Call, folder: Path) -> None:
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


def test_two_files_of_one_name_keep_apart(rankgauge: Call, folder: Path) -> None:
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
            "x.jsonl: no judgments: the objects have no key relevant or gold or",
        ),
        (
            [{"query": "q", "relevant": ["a"]}],
            "x.jsonl: judgments without a run; a single file must have both",
        ),
        (
            [{"q1": ["a"]}],
            "x.jsonl: judgments without a run; a single file must have both",
        ),
        (
            [{"qid": 1, "docno": 2, "rel": 1}],
            "x.jsonl: judgments without a run; a single file must have both",
        ),
    ],
)
def test_a_file_that_lacks_one_says_which(
    rankgauge: Call, folder: Path, records: list[Any], message: str
) -> None:
    write(folder / "x.jsonl", records)
    code, out, err = rankgauge("evaluate", "x.jsonl")
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert (
        '{"query": "q1", "retrieved": ["d3", "d1"], "relevant": ["d1"]}; otherwise, give QRELS'
        in err
    )


def test_a_file_without_a_run_is_no_run(rankgauge: Call, folder: Path) -> None:
    write(folder / "gold.jsonl", [{"query": "q", "relevant": ["a"]}])
    assert_refused(
        rankgauge("evaluate", "gold.jsonl", "gold.jsonl"),
        "gold.jsonl is given as judgments and as a run",
    )

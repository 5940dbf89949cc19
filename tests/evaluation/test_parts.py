"""Runs in parts: the same scores, notes and errors as one file that has the parts one after the other."""

from __future__ import annotations

import gzip
import itertools
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge as rg
from command_line import called, one_process
from profiles import examples
from rankgauge.data import scanning
from rankgauge.data.trec import RunFile
from rankgauge.evaluation import parts as joining
from rankgauge.policies import Ties

Form = Literal["trec", "gz", "parquet"]
Row = tuple[str, str, str]

MEASURES = ("nDCG@3", "AP", "v2(RR)", "P@2", "Judged@2", "bpref")
QRELS = {
    "q1": {"a": 2, "b": 0, "c": 1},
    "q2": {"a": 1, "d": -1},
    "q3": {"x": 0},
    "q4": {"b": 1, "c": 1, "d": 3},
    "q5": {"a": 1},
}

topics = st.sampled_from(["q1", "q2", "q3", "q4", "x1", "x2", "q1.5"])
documents = st.sampled_from(list("abcdefg"))
scores = st.sampled_from(["0", "0.5", "1", "1.000000001", "2", "-1"])
rows = st.lists(
    st.tuples(topics, documents, scores), min_size=1, max_size=40, unique_by=lambda row: row[:2]
)
all_ties = st.sampled_from(
    ["docno", "docno-ascending", "input", "pessimistic", "optimistic", "random", "expected"]
)


@st.composite
def cut_runs(draw: st.DrawFn, distinct: bool = True) -> list[list[Row]]:
    """The rows of a run, sorted by topic or not, cut into parts anywhere; a part may be empty."""
    run = draw(rows)
    if draw(st.booleans()):
        run.sort(key=lambda row: row[0])
    cuts = sorted(draw(st.lists(st.integers(0, len(run)), max_size=6)))
    return [run[a:b] for a, b in itertools.pairwise([0, *cuts, len(run)])]


def lines(run: Sequence[Row]) -> bytes:
    return "".join(f"{topic} Q0 {doc} 1 {score} t\n" for topic, doc, score in run).encode()


def write(path: Path, run: Sequence[Row], form: Form) -> Path:
    """A run, or a part of one, in a file."""
    if form == "parquet":
        columns = list(zip(*run, strict=True)) or [(), (), ()]
        names = ("query_id", "doc_id", "score")
        frame = pl.DataFrame(dict(zip(names, columns, strict=True)), schema=dict.fromkeys(names, pl.String))
        frame.with_columns(pl.col("score").cast(pl.Float64)).write_parquet(path)
    else:
        path.write_bytes(gzip.compress(lines(run)) if form == "gz" else lines(run))
    return path


def write_parts(folder: Path, cut: Sequence[Sequence[Row]], form: Form) -> Path:
    folder.mkdir()
    for number, run in enumerate(cut):
        write(folder / f"part-{number:03}", run, form)
    return folder


def outcome(runs: Any, ties: Ties = "docno", **options: Any) -> Any:
    """All of the scores, or what the error says."""
    try:
        found = rg.evaluate(QRELS, runs, MEASURES, ties=ties, **options)
    except rg.InputError as error:
        return type(error), error.message
    return (
        *(getattr(found, name).tobytes() for name in ("values", "present", "judged_at_10")),
        *(found.runs, found.notes, found.policies, found.failed),
    )


def columns_of(run: rg.Run) -> Any:
    """All of a run but its source."""
    return (
        *(list(run.queries), list(run.documents), run.bounds.tolist(), run.scores.tobytes()),
        *(run.name, run.precision, run.tag),
    )


@examples(150)
@given(cut_runs(), st.sampled_from(["trec", "trec", "gz", "parquet"]), all_ties, st.integers(1, 100))
def test_parts_score_what_one_file_scores(
    cut: list[list[Row]], form: Form, ties: Ties, small: int
) -> None:
    run = [row for part in cut for row in part]
    with (
        tempfile.TemporaryDirectory() as place,
        one_process(),
        patch.object(scanning, "PIECE", small),
        patch.object(scanning, "WINDOW", 8),
        patch.object(joining, "MOST_ROWS", 5),
    ):
        one = RunFile(write(Path(place, "one"), run, form), "run")
        parts = rg.RunParts(write_parts(Path(place, "parts"), cut, form), "run")
        assert outcome(parts, ties) == outcome(one, ties)
        assert columns_of(parts()) == columns_of(one())

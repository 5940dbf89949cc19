"""What may be given for judgments and runs, and which of two readings is meant."""

from __future__ import annotations

import pickle
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import rankgauge as rg
from rankgauge.evaluation.inputs import judgments_of, label, sources_of

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
RUN = {"q1": {"d2": 3.0, "d1": 2.0, "d9": 1.0}, "q2": {"d3": 0.5}}
OTHER = {"q1": {"d1": 3.0}, "q2": {"d4": 2.0, "d3": 1.0}}
MEASURES = ["nDCG", "AP", "RR"]


class ScoredDoc(NamedTuple):
    """As ir_measures has it."""

    query_id: Any
    doc_id: Any
    score: Any


class Qrel(NamedTuple):
    """As ir_measures has it."""

    query_id: Any
    doc_id: Any
    relevance: Any
    iteration: str = "0"


class WrappedRun:
    """The shape of ranx's Run: a dict of its own kind inside, and a name, which may be None."""

    def __init__(self, run: dict[str, dict[str, float]], name: str | None = None) -> None:
        self.run, self.name = tuple(run.items()), name

    def to_dict(self) -> dict[str, dict[str, float]]:
        return dict(self.run)

    def __len__(self) -> int:
        return len(self.run)

    def __getitem__(self, query: str) -> dict[str, float]:
        return dict(self.run)[query]


class WrappedQrels:
    """The shape of ranx's Qrels."""

    def __init__(self, qrels: dict[str, dict[str, int]]) -> None:
        self.qrels, self.name = tuple(qrels.items()), None

    def to_dict(self) -> dict[str, dict[str, int]]:
        return dict(self.qrels)


def scored(run: dict[str, dict[str, float]]) -> list[ScoredDoc]:
    return [ScoredDoc(q, d, score) for q, row in run.items() for d, score in row.items()]


def judged(qrels: dict[str, dict[str, int]]) -> list[Qrel]:
    return [Qrel(q, d, grade) for q, row in qrels.items() for d, grade in row.items()]


def ranked(run: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    return {q: sorted(row, key=row.__getitem__, reverse=True) for q, row in run.items()}


def expected(**runs: Any) -> Any:
    return rg.evaluate(
        rg.Judgments.from_dict(QRELS),
        [rg.Run.from_dict(run, name=name) for name, run in runs.items()],
        MEASURES,
    )


def assert_same(scores: rg.Scores, like: rg.Scores) -> None:
    assert scores.runs == like.runs
    assert scores.queries == like.queries
    assert np.array_equal(scores.values, like.values)


# Judgments


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        {"q1": {"d1": 2.0, "d2": np.int64(0)}, "q2": ["d3"]},
        judged(QRELS),
        WrappedQrels(QRELS),
        pl.DataFrame(judged(QRELS), orient="row", schema=["query_id", "doc_id", "relevance", "i"]),
    ],
    ids=["dict", "list", "namedtuples", "wrapped", "frame"],
)
def test_judgments_of_every_form_are_the_same(qrels: Any) -> None:
    assert_same(rg.evaluate(qrels, RUN, MEASURES), expected(run=RUN))


def test_judgments_may_come_one_by_one() -> None:
    made = judgments_of(qrel for qrel in judged(QRELS))
    assert made.queries.texts() == ["q1", "q2"]
    assert made.grades.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "qrels",
    [[], iter([]), ["q1"], [Qrel("q", "d", 1), "q"], Qrel("q", "d", 1), scored(RUN),
     WrappedRun(RUN), None, b"qrels"],
)  # fmt: skip
def test_what_is_no_judgments_is_refused(qrels: Any) -> None:
    with pytest.raises(rg.RankgaugeError, match="cannot be used as judgments; pass"):
        judgments_of(qrels)


def test_faults_in_documents_name_their_place() -> None:
    with pytest.raises(rg.InputError, match=r"row 1: grade 0\.5, expected a whole number"):
        judgments_of([Qrel("q", "d", 1), Qrel("q", "e", 0.5)])
    twice = [ScoredDoc("q", "d", 1.0), ScoredDoc("q", "d", 2.0)]
    with pytest.raises(
        rg.InputError, match=r"row 1: document 'd' repeated for query 'q' \(first at r"
    ):
        rg.evaluate(QRELS, twice, "RR")


# One run

ONE_RUN = [
    RUN,
    rg.Run.from_dict(RUN),
    ranked(RUN),
    {"q1": ("d2", "d1", "d9"), "q2": {"d3": 0.5}},
    {"q1": np.array(["d2", "d1", "d9"]), "q2": ["d3"]},
    scored(RUN),
    tuple(scored(RUN)),
    WrappedRun(RUN),
    lambda: rg.Run.from_dict(RUN),
    pl.DataFrame(scored(RUN), orient="row", schema=["query_id", "doc_id", "score"]),
]


@pytest.mark.parametrize("place", range(len(ONE_RUN)))
@pytest.mark.parametrize("among", ["alone", "in a list", "by name"])
def test_a_run_of_every_form_is_the_same(place: int, among: str) -> None:
    run: Any = ONE_RUN[place]
    given = {"alone": run, "in a list": [run], "by name": {"x": run}}[among]
    scores = rg.evaluate(QRELS, given, MEASURES)
    assert len(scores.runs) == 1
    assert among != "by name" or scores.runs == ("x",)
    assert np.array_equal(scores.values, expected(run=RUN).values)


@pytest.mark.parametrize("among", ["alone", "in a list", "by name"])
def test_documents_may_come_one_by_one(among: str) -> None:
    documents: Any = (document for document in scored(RUN))
    given = {"alone": documents, "in a list": [documents], "by name": {"x": documents}}[among]
    assert np.array_equal(rg.evaluate(QRELS, given, MEASURES).values, expected(run=RUN).values)


def test_ids_may_be_numbers_in_documents_and_dicts() -> None:
    qrels = {1: {7: 1, 8: 0}}
    for run in ({1: [8, 7]}, {1: {8: 2.0, 7: 1.0}}, [ScoredDoc(1, 8, 2), ScoredDoc(1, 7, 1)]):
        assert rg.evaluate(qrels, run, "RR").mean() == {"run": {"RR": 0.5}}


# Several runs


@pytest.mark.parametrize(
    "runs",
    [
        {"a": RUN, "b": OTHER},
        {"a": ranked(RUN), "b": ranked(OTHER)},
        {"a": ranked(RUN), "b": OTHER},
        {"a": scored(RUN), "b": iter(scored(OTHER))},
        {"a": WrappedRun(RUN, "x"), "b": lambda: rg.Run.from_dict(OTHER)},
        [WrappedRun(RUN, "a"), WrappedRun(OTHER, "b")],
        (run for run in [WrappedRun(RUN, "a"), rg.Run.from_dict(OTHER, name="b")]),
    ],
)
def test_several_runs_of_every_form_are_the_same(runs: Any) -> None:
    assert_same(rg.evaluate(QRELS, runs, MEASURES), expected(a=RUN, b=OTHER))


@pytest.mark.parametrize(
    "runs",
    [[RUN, OTHER], [ranked(RUN), ranked(OTHER)], [scored(RUN), scored(OTHER)],
     [WrappedRun(RUN), iter(scored(OTHER))]],
)  # fmt: skip
def test_runs_without_names_are_numbered(runs: Any) -> None:
    assert_same(rg.evaluate(QRELS, runs, MEASURES), expected(run1=RUN, run2=OTHER))


# Which of two readings is meant


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ({}, ["run"]),
        ({"q1": {}}, ["run"]),  # a query without documents
        ({"q1": []}, ["run"]),
        ({"q1": ["d1"]}, ["run"]),  # a ranking, not a run by name
        ({"q1": {"d1": 1.0}}, ["run"]),
        ({"q1": {"d1": 1.0}, "q2": ["d1"], "q3": {}}, ["run"]),
        ({"a": {"q1": {}}}, ["a"]),  # a run by name, with a query without documents
        ({"a": {"q1": []}}, ["a"]),
        ({"a": {"q1": ["d1"]}}, ["a"]),
        ({"a": {"q1": {"d1": 1.0}}, "b": {}}, ["a", "b"]),  # b has no query
        ({"a": {"q1": ["d1"]}, "b": {"q1": {"d1": 1.0}}}, ["a", "b"]),
        ({"a": {"q1": [], "q2": ["d1"]}}, ["a"]),
        ({"a": [ScoredDoc("q1", "d1", 1.0)]}, ["a"]),  # documents of a run, not ids of a query
        ([{}], ["run1"]),
        ([{"q1": ["d1"]}], ["run1"]),
        ([ScoredDoc("q1", "d1", 1.0)], ["run"]),  # one run, not a list of runs
        ([[ScoredDoc("q1", "d1", 1.0)]], ["run1"]),
    ],
)
def test_runs_are_told_from_queries(runs: Any, names: list[str]) -> None:
    sources = sources_of(runs)
    assert [label(source) for source in sources] == names
    assert [source().name for source in sources] == names


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({"q1": {"d1"}}, "query 'q1': a set has no order"),
        ({"a": {"q1": {"d1"}}}, "query 'q1': a set has no order"),
        ({"a": {"q1": ["d1"]}, "b": {"q1": 3.0}}, "query 'q1': 3.0, expected {document: score}"),
        ({"a": {"q1": ["d1"]}, "b": {"q1": "d1"}}, "query 'q1': 'd1', expected {document: score}"),
        ({"a": {"q1": ["d1"]}, "b": ["d1"]}, "['d1'] is not a run; pass"),
        ({"a": {"q1": ["d1"]}, "b": 3}, "3 is not a run; pass"),
        ([["d1", "d2"]], "['d1', 'd2'] is not a run; pass"),
        ([ScoredDoc("q", "d", 1.0), {}], "is not a run; pass"),
        (ScoredDoc("q", "d", 1.0), "is not a run; pass"),
        ([judged(QRELS)], "is not a run; pass"),
        (WrappedQrels(QRELS), "runs: WrappedQrels, expected runs; write evaluate("),
        ({"a": iter([])}, "is not a run; pass"),
        (b"run", "is not a run; pass"),
    ],
)
def test_what_is_no_run_is_refused(runs: Any, message: str) -> None:
    with pytest.raises(rg.RankgaugeError) as caught:
        rg.evaluate(QRELS, runs, "RR")
    assert message in str(caught.value)


def test_files_stand_beside_lists(tmp_path: Path) -> None:
    rg.write_run(rg.Run.from_dict(RUN, name="a"), tmp_path / "a.run")
    for runs in (
        {"a": tmp_path / "a.run", "b": ranked(OTHER)},
        [tmp_path / "a.run", WrappedRun(OTHER, "b")],
    ):
        assert_same(rg.evaluate(QRELS, runs, MEASURES), expected(a=RUN, b=OTHER))


def test_what_workers_are_sent_can_be_sent() -> None:
    for runs in ([scored(RUN)], [WrappedRun(RUN)], [ranked(RUN)], iter(scored(RUN))):
        (source,) = sources_of(runs)
        assert pickle.loads(pickle.dumps(source))().queries.texts() == ["q1", "q2"]


def test_any_class_with_the_attributes_will_do() -> None:
    row = namedtuple("row", "doc_id query_id score rank")
    run = [row("d1", "q1", 1.0, 1)]
    assert rg.evaluate(QRELS, run, "RR").mean() == {"run": {"RR": 0.5}}


# The real ones


def test_objects_of_ranx_are_taken() -> None:
    ranx = pytest.importorskip("ranx")
    runs = [ranx.Run(RUN, name="a"), ranx.Run(OTHER, name="b")]
    assert_same(rg.evaluate(ranx.Qrels(QRELS), runs, MEASURES), expected(a=RUN, b=OTHER))
    assert_same(rg.evaluate(QRELS, ranx.Run(RUN), MEASURES), expected(run=RUN))


def test_iterables_of_ir_measures_are_taken(tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    rg.write_run(rg.Run.from_dict(RUN), tmp_path / "a.run")
    rg.write_qrels(rg.Judgments.from_dict(QRELS), tmp_path / "qrels")
    qrels = ir_measures.read_trec_qrels(str(tmp_path / "qrels"))
    run = ir_measures.read_trec_run(str(tmp_path / "a.run"))
    assert_same(rg.evaluate(qrels, run, MEASURES), expected(run=RUN))
    by_name = {"a": ir_measures.read_trec_run(str(tmp_path / "a.run"))}
    assert_same(rg.evaluate(QRELS, by_name, MEASURES), expected(a=RUN))


USED_UP = (run for run in ())
TAKE_RUNS: dict[str, Callable[[Any], object]] = {
    "evaluate": lambda runs: rg.evaluate({"1": {"a": 1}}, runs, "AP"),
    "fuse": rg.fuse,
    "tune": lambda runs: rg.tune({"1": {"a": 1}}, runs, "AP"),
    "med_matrix": lambda runs: rg.med_matrix(None, runs, "AP"),
}


@pytest.mark.parametrize("function", TAKE_RUNS)
@pytest.mark.parametrize("runs", [[], (), USED_UP, np.array([])], ids=lambda runs: str(type(runs)))
def test_no_runs_are_an_error(function: str, runs: Any) -> None:
    with pytest.raises(rg.RankgaugeError, match="no runs, expected at least one"):
        TAKE_RUNS[function](runs)

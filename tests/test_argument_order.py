"""Judgments come first, then runs, then measures; the old forms work until the next release."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import rankgauge as rg
from rankgauge.comparison.assessment import ASSESSED_MEASURES
from rankgauge.errors import OldFormWarning, RankgaugeError

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(4)}
RUNS = {
    "one": {f"q{i}": {"a": 3.0, "b": 2.0, "c": float(i)} for i in range(4)},
    "two": {f"q{i}": {"c": 3.0, "a": 2.0, "b": float(i)} for i in range(4)},
}
LISTS = (["a", "b"], ["b", "c"])
ONE, TWO = RUNS.values()
TUNE = {"folds": 2, "repeats": 1, "samples": 5}
SCORES = rg.evaluate(QRELS, RUNS, ["AP", "RR"])

tune: Callable[..., Any] = rg.tune
compare: Callable[..., Any] = rg.compare
assess: Callable[..., Any] = rg.assess
med: Callable[..., Any] = rg.med
med_matrix: Callable[..., Any] = rg.med_matrix


def content(result: Any) -> Any:
    """A distance itself; of other results the rows of the table."""
    return result if isinstance(result, rg.Distance) else repr([*result.table().rows])


def test_runs_are_scored_by_the_measures_and_compared() -> None:
    assert content(rg.compare(QRELS, RUNS, ["AP", "RR"])) == content(rg.compare(SCORES))
    assert [str(measure) for measure in rg.compare(QRELS, RUNS).measures] == ["nDCG@10"]


def test_runs_are_scored_by_the_measures_and_the_measures_assessed() -> None:
    assessed = rg.assess(QRELS, RUNS, ["AP", "RR"], splits=5)
    assert content(assessed) == content(rg.assess(SCORES, splits=5))
    assert len(rg.assess(QRELS, RUNS, splits=0).measures) == len(ASSESSED_MEASURES)


OLD: list[tuple[Callable[[], Any], Callable[[], Any], str]] = [
    (lambda: compare(scores=SCORES), lambda: compare(SCORES), "compare(qrels=...)"),
    (
        lambda: assess(scores=SCORES, splits=3),
        lambda: assess(SCORES, splits=3),
        "assess(qrels=...)",
    ),
    (
        lambda: tune(QRELS, RUNS, "AP", test_topics=["q0"], **TUNE),
        lambda: tune(QRELS, RUNS, "AP", test_queries=["q0"], **TUNE),
        "tune(test_queries=...)",
    ),
    (
        lambda: med("AP", *LISTS, {"a": 1}),
        lambda: med(*LISTS, "AP", {"a": 1}),
        "med(a, b, measure, labels)",
    ),
    (lambda: med("AP", *LISTS), lambda: med(*LISTS, "AP"), "med(a, b, measure, labels)"),
    (
        lambda: med(rg.AP, LISTS[0], b=LISTS[1]),
        lambda: med(*LISTS, rg.AP),
        "med(a, b, measure, labels)",
    ),
    (
        lambda: med("AP", ONE, TWO, QRELS),
        lambda: med(ONE, TWO, "AP", QRELS),
        "med(a, b, measure, labels)",
    ),
    (
        lambda: med_matrix("P@2", RUNS),
        lambda: med_matrix(None, RUNS, "P@2"),
        "med_matrix(qrels, runs, measure)",
    ),
    (
        lambda: med_matrix("P@2", RUNS, QRELS),
        lambda: med_matrix(QRELS, RUNS, "P@2"),
        "med_matrix(qrels, runs, measure)",
    ),
    (
        lambda: med_matrix("P@2", RUNS, qrels=QRELS),
        lambda: med_matrix(QRELS, RUNS, "P@2"),
        "med_matrix(qrels, runs, measure)",
    ),
    (
        lambda: med_matrix(measure="P@2", runs=RUNS),
        lambda: med_matrix(None, RUNS, "P@2"),
        "med_matrix(qrels, runs, measure)",
    ),
]


@pytest.mark.parametrize(("old", "new", "form"), OLD)
def test_old_forms_give_the_same_and_name_the_new_form(
    old: Callable[[], Any], new: Callable[[], Any], form: str
) -> None:
    with pytest.warns(OldFormWarning, match=rf"is now {re.escape(form)};") as caught:
        result = old()
    assert [warning.filename for warning in caught] == [__file__]
    assert content(result) == content(new())


@pytest.mark.filterwarnings("error::DeprecationWarning")
def test_new_forms_by_keyword_give_no_warning() -> None:
    med(measure="AP", a=LISTS[0], b=LISTS[1])
    med(ONE, TWO, measure="AP", labels=QRELS)
    med_matrix(measure="P@2", runs=RUNS, qrels=None)
    tune(QRELS, RUNS, measure="AP", **TUNE)
    compare(qrels=SCORES)


def test_files_that_are_called_like_measures_are_files(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rg.write_qrels(rg.Judgments.from_dict(QRELS), "AP")
    for name in ("P", "RR"):
        rg.write_run(rg.Run.from_dict(ONE), name)
    assert med_matrix("AP", ["P", "RR"], "P@2").mean() == 0
    assert med("P", "RR", "P@2", "AP").mean() == 0
    assert rg.evaluate("AP", "P", "P@1").runs == ("P",)


MANY = {f"run{i}": ONE for i in range(1000)}
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "got runs together with scores": (
        lambda: compare(SCORES, RUNS),
        "got runs together with scores; write compare(s",
    ),
    "got measures together with scores": (
        lambda: assess(SCORES, measures="AP"),
        "got measures together with scores; write assess(scores.select(measures=[...]))",
    ),
    "no runs": (lambda: compare(QRELS), "no runs; pass (qrels, runs, measures), or only scores"),
    **{
        function.__name__: (lambda function=function: function(QRELS, "AP", MANY), f"{name}: a d")  # type: ignore[misc]
        for function, name in (
            (rg.evaluate, "measures"),
            (rg.compare, "measures"),
            (rg.assess, "measures"),
            (rg.tune, "measure"),
            (rg.settled, "measure"),
            (rg.med_matrix, "measure"),
        )
    },
    "a list of runs": (
        lambda: rg.evaluate(QRELS, "AP", [*MANY.values()]),  # type: ignore[list-item]
        "measures: a list with a dict is not a measure",
    ),
    "a run": (
        lambda: rg.evaluate(QRELS, "AP", rg.Run.from_dict(ONE)),  # type: ignore[arg-type]
        "measures: a Run is not a measure",
    ),
    "files": (
        lambda: rg.evaluate(QRELS, "nDCG@10", ["a.run", "b.run"]),
        "runs: 'nDCG@10' is a measure; the order of arguments is qrels, runs, measures",
    ),
    "med": (lambda: med(LISTS[0], "AP", LISTS[1]), "measure: a list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_order_is_said_in_one_line(case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises(RankgaugeError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)

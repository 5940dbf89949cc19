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
FRACTIONS = {f"q{i}": {"a": 2.5, "b": 1.0} for i in range(4)}
FORMS = {
    "evaluate": "evaluate(qrels, runs, [nDCG @ 10, AP])",
    "compare": "compare(qrels, [run, other], [nDCG @ 10]), or compare(scores)",
    "assess": "assess(qrels, [run, other], [nDCG @ 10, AP]), or assess(scores)",
    "tune": 'tune(qrels, [bm25, dense], "nDCG@10")',
    "settled": 'settled(qrels, runs, "nDCG@10")',
    "med_matrix": 'med_matrix(qrels, runs, "AP@10"), where qrels may be None',
    "med": 'med(["d1", "d2"], ["d2", "d3"], "AP@10"), or med(run, other, "AP@10", qrels)',
    "fuse": 'fuse([bm25, dense], "rrf")',
}
"""How each function is called, as its errors show it."""
OF_RUNS: list[Callable[..., Any]] = [
    *(rg.evaluate, rg.compare, rg.assess, rg.tune, rg.settled, rg.med_matrix),
]
JUDGED = rg.Judgments.from_dict(QRELS)
RUN = rg.Run.from_dict(ONE)
evaluate: Callable[..., Any] = rg.evaluate
fuse: Callable[..., Any] = rg.fuse


def error_of(call: Callable[[], Any], kind: type[Exception] = RankgaugeError) -> str:
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert len(message) < 260
    assert "\n" not in message
    return message


@pytest.mark.parametrize("function", OF_RUNS, ids=lambda each: each.__name__)
def test_arguments_in_the_place_of_others_are_named_with_the_right_call(
    function: Callable[..., Any],
) -> None:
    form = f"; write {FORMS[function.__name__]}"
    measure = "measure" if function in (rg.tune, rg.settled, rg.med_matrix) else "measures"
    for qrels, kind in (
        ([ONE, TWO], "a list"),
        (RUNS, "a dict of runs"),
        (FRACTIONS, "a dict with 2.5 (grades must be whole numbers)"),
        (RUN, "Run"),
        ({"bm25": "bm25.run"}, "a dict of runs"),
    ):
        assert error_of(lambda q=qrels: function(q, QRELS, "P@2")) == (  # type: ignore[misc]
            f"qrels: {kind}, expected judgments{form}"
        )
    assert error_of(lambda: function(QRELS, JUDGED, "P@2")) == (
        f"runs: Judgments, expected runs{form}"
    )
    assert error_of(lambda: function(QRELS, "AP", MANY)) == (
        f"{measure}: a dict is not a measure, expected one such as nDCG@10{form}"
    )
    assert error_of(lambda: function(QRELS, RUNS, type(rg.nDCG))) == (
        f"{measure}: NormalizedDCG is a class, expected a measure: nDCG @ 10{form}"
    )


@pytest.mark.parametrize("name", FORMS)
def test_missing_and_needless_arguments_are_shown_with_the_right_call(name: str) -> None:
    function: Callable[..., Any] = getattr(rg, name)
    nothing = error_of(function, TypeError)
    assert nothing.startswith(f"{name}(): missing a required argument")
    many = error_of(lambda: function(QRELS, RUNS, rg.AP, 10, [1], None, depth=3), TypeError)
    assert many.startswith(f"{name}(a dict, a dict, AP, 10, a list, None, depth=...): ")
    for message in (nothing, many):
        assert message.endswith(f"; write {FORMS[name]}")


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "got runs together with scores": (
        lambda: compare(SCORES, RUNS),
        "got runs together with scores; write compare(s",
    ),
    "no runs": (lambda: compare(QRELS), "qrels: a dict without runs; write compare(qrels, ["),
    "no runs for a file": (
        lambda: assess("qrels.txt"),
        "qrels: 'qrels.txt' without runs; write assess(qrels, [",
    ),
    "one run": (
        lambda: compare(QRELS, {"bm25": ONE}),
        "runs: 'bm25' alone, expected at least two; write compare(qrels, [",
    ),
    "a list of runs": (
        lambda: evaluate(QRELS, "AP", [*MANY.values()]),
        "measures: a list with a dict is not a measure, expected one such as nDCG@10; write evaluate(",
    ),
    "a run": (lambda: evaluate(QRELS, "AP", RUN), "measures: a Run is not a measure"),
    "a wrapper": (
        lambda: evaluate(QRELS, ONE, [rg.AP, rg.measures.v2]),
        "measures: V2 is a class, expected a measure: v2(nDCG @ 10); write evaluate(",
    ),
    "files": (
        lambda: evaluate(QRELS, "nDCG@10", ["a.run", "b.run"]),
        "runs: 'nDCG@10' is a measure, expected runs; write evaluate(",
    ),
    "a measure of med": (lambda: med(LISTS[0], "AP", LISTS[1]), "measure: a list"),
    "scores of documents": (
        lambda: med({"a": 2.0, "b": 1.0}, {"b": 3, "a": 1}, "AP@10"),
        "a: a dict of scores of documents, without queries, expected a list of documents, best "
        "first, or one run; write med([",
    ),
    "a set": (
        lambda: med(["a", "b"], {"b", "c"}, "AP@10"),
        "b: a set, which has no order, expected a list of documents",
    ),
    "judgments first": (lambda: med(QRELS, [ONE, TWO], "AP@10"), "b: a list of runs, expected"),
    "a list and a run": (
        lambda: med(["a"], ONE, "AP@10"),
        "got a list and a run, expected two lists",
    ),
    "judgments to fuse": (lambda: fuse(JUDGED), "runs: Judgments, expected runs; write fuse(["),
    "no method": (
        lambda: fuse(ONE, TWO),
        "method: a dict is not a fusion method; write fuse([bm25, dense]",
    ),
    "a measure that is a file": (
        lambda: evaluate(QRELS, ONE, __file__),
        f"measures: {__file__!r} is a file, expected a measure",
    ),
    "a method that is a file": (
        lambda: fuse(ONE, __file__),
        f"method: {__file__!r} is not a fusion method",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_said_in_one_line(case: str) -> None:
    call, message = WRONG[case]
    assert error_of(call).startswith(message)


def test_what_only_looks_wrong_is_taken() -> None:
    whole = {query: dict.fromkeys(row, 2.0) for query, row in QRELS.items()}
    assert rg.evaluate(whole, ONE, "P@1").mean() == {"run": {"P@1": 1.0}}
    assert rg.med({"q": ["a", "b"]}, {"q": {"b": 1.5}}, "P@1").mean() == 1.0
    assert rg.evaluate({"q0": {"a"}}, [ONE], "P@1").runs == ("run1",)
    runs = (run for run in (RUN,))
    assert rg.evaluate(QRELS, runs, "P@1").runs == ("run",)


def test_an_unknown_argument_is_answered_with_the_nearest() -> None:
    call: Any = rg.evaluate
    message = r"^evaluate\(\) has no argument 'metrics'; did you mean 'measures'\?$"
    with pytest.raises(TypeError, match=message):
        call(QRELS, RUNS, metrics=["AP"])

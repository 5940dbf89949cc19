"""Odd lists and labels: a defined result, or a refusal that says what was expected."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from rankgauge.distance.algorithms import staircase
from rankgauge.errors import MeasureError, RankgaugeError

A, B = ["a", "b"], ["b", "c"]
NAN = float("nan")
ALGORITHMS = [
    "P@3", "Recall@3", "Success@3", "RR", "Rprec", "CG@3", "DCG@3", "SDCG@3", "RBP@3", "nDCG@3", "nDCG",
    "SP@3", "SSP@3", "AP@3", "AP", "AP(norm=min)@3", "ERR@3", "ERR", "Q@3", "Q", "bpref", "infAP",
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "options", "message"),
    [
        ((["a", "a"], B), {}, "a has 'a' twice"),
        ((A, ["c", "b", "c"]), {}, "b has 'c' twice"),
        ((A, B, {"a": 1.5}), {}, "the label of 'a' is 1.5, expected a whole number"),
        ((A, B, {"a": NAN}), {}, "the label of 'a' is nan"),
        ((A, B, {"a": "1"}), {}, "the label of 'a' is '1'"),
        ((A, B, {"a": True}), {}, "the label of 'a' is True"),
        ((A, B, {"a": 10**12}), {}, "expected at most 2147483647"),
        ((A, B, [1, 0]), {}, "labels are list, expected a dict"),
        ((A, B, "ab"), {}, "labels are str, expected a dict"),
        ((A, B), {"grades": (1, 2)}, r"grades=\(1, 2\) must include 0"),
        ((A, B), {"grades": ()}, "must include 0"),
        ((A, B), {"grades": (0, -1)}, "-1 does not fit"),
        ((A, B), {"grades": (0, 0.5)}, "0.5 does not fit"),
        ((A, B), {"grades": (0, NAN)}, "nan does not fit"),
        ((A, B), {"grades": "01"}, "grades='01', expected several labels"),
        ((A, B), {"grades": (0, "most")}, "'most' does not fit"),
        ((A, B), {"negative": "junk"}, "negative='junk', expected one of unjudged, nonrelevant"),
        ((A, B), {"method": "best"}, "method='best', expected one of exact, greedy, tabu"),
        (({"q": A}, {"q": B}), {"trace": True}, "trace=True works only for two lists"),
        ((A, B), {"grades": 2}, "grades=2, expected several labels"),
        ((A, B), {"grades": (0, 10**12)}, "expected at most"),
        ((A, B, {"a": 3}), {"max_grade": 2}, "max_grade=2, but there is a label of 3"),
        ((A, B), {"max_grade": 2, "grades": (0, 3)}, "max_grade=2, but there is a label of 3"),
        ((A, B), {"max_grade": 0}, "0 does not fit"),
        ((A, B), {"max_grade": "2"}, "'2' does not fit"),
        ((A, B), {"offlist": "alowed"}, "offlist='alowed', expected one of none, allowed"),
        ((A, B), {"offlist": True}, "offlist=True"),
        (("ab", B), {}, "a list and a run"),
        ((A, 3), {}, "a list and a run"),
        ((A, [{}]), {}, "b: a list of runs, expected a list of documents"),
        (([["a"]], [["b"]]), {}, "expected ids of documents"),
        ((None, None), {}, "None is not a run"),
        (("no such file", "nor this"), {}, "no such file"),
    ],
)
def test_refused(case: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        rg.med(*case[:2], "ERR@3", *case[2:], **options)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("AP@0", "cutoff: 0 does not fit"),
        ("P", "P needs a cutoff"),
        ("gm(AP@3)", "no distance can be computed for gm"),
        ("mean(AP@3)", "no distance can be computed for mean"),
        ("NumRet", "neither higher nor lower is better"),
        ("Judged@3", "neither higher nor lower is better"),
        ("no_such", "there is no measure"),
        (3, "is not a measure"),
    ],
)
def test_measures_without_a_distance(measure: Any, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        rg.med(A, B, measure)


@pytest.mark.parametrize("measure", ALGORITHMS)
def test_empty_lists(measure: str) -> None:
    """Two of them are the same; one is as far from another as what that can gain."""
    both = rg.med([], [], measure, {"elsewhere": 1})
    assert (both.value, both.exact, both.ahead) == (0.0, True, "neither")
    assert both.witness() == ({}, 0, 0)
    one = rg.med([], A, measure)
    other = rg.med(A, [], measure)
    assert one.value == other.value > 0
    assert (one.ahead, other.ahead) == ("b", "a")
    assert other.witness().labels.keys() == {*A}


def test_nothing_is_free() -> None:
    """With all labels known the distance is the difference, and the witness has nothing to say."""
    labels = {"a": 1, "b": 0, "c": 1}
    for measure in ALGORITHMS:
        found = rg.med(A, B, measure, labels, offlist="none")
        scores = [rg.parse(measure).score([labels[d] for d in x], [1, 0, 1]) for x in (A, B)]
        assert found.value == pytest.approx(abs(scores[0] - scores[1]))
        assert found.exact
        assert found.witness() == ({}, 0, 0)


def test_labels_of_any_whole_kind() -> None:
    """A negative label is a document that was pooled and not judged, and so free; one above the grades
    stays as it is."""
    plain = rg.med(A, B, "nDCG@3", {"a": 1})
    assert rg.med(A, B, "nDCG@3", {"a": np.int64(1)}) == plain
    assert rg.med(A, B, "nDCG@3", {"a": -1}) == rg.med(A, B, "nDCG@3")
    assert rg.med(A, B, "nDCG@3", {"a": 2, "b": 0, "c": 0}, grades=(0, 1)).value == 1


def test_only_grade_0_leaves_nothing_to_differ_by() -> None:
    for measure in ALGORITHMS:
        assert rg.med(A, B, measure, grades=(0,)).value == 0
        assert rg.med(A, B, measure, grades=(0,), offlist="allowed").value == 0


def test_off_the_lists_only_what_a_grade_makes_relevant() -> None:
    known = {0: 2, 1: 0, 2: 0}
    for grades, value in (((0, 1), 0.0), ((0, 2), 0.5)):
        found = rg.med([1, 2], [2, 0], "Rprec(rel=2)", known, grades=grades, offlist="allowed")
        assert found.value == value
    lower = {"y": 0, "o1": 1, "o2": 1}
    found = rg.med(["x"], ["y", "x"], "Q(norm=k)@2", lower, grades=(0, 3), offlist="allowed")
    assert found.value == pytest.approx(0.25)
    assert found.witness() == ({"x": 3}, 1, 3)


def test_thousands_of_free_documents() -> None:
    """Exact where there is an algorithm; else within bounds, and it says so."""
    a, b = list(range(1000)), list(range(500, 1500))
    for measure in ("AP@1000", "ERR@1000", "nDCG@1000", "RBP", "Q@50"):
        assert rg.med(a, b, measure).exact
    found = rg.med(a, b, "bpref")
    assert found.exact == (found.value == 1)  # a search that reaches the end of the range is done
    assert 0 < found.lower == found.value <= found.upper == 1
    assert len(found.witness().labels) == 1500
    graded = rg.med(a, b, "Q@50", {0: 1}, grades=(0, 1, 2))
    assert graded.exact == (graded.value == 1)
    assert graded.lower == graded.value <= graded.upper


def test_a_tiny_multiple_of_r_does_not_take_for_ever() -> None:
    found = rg.med([1, 2, 3], [3, 4, 5], "Rprec(times=1e-6)", offlist="allowed")
    assert found.value == 1
    assert rg.med([1, 2], [2, 0], "Rprec", {0: 1, 1: 0, 2: 0}, offlist="allowed").value == 0.5


def test_runs_are_told_what_is_wrong() -> None:
    a, b = {"q": {"x": 1.0}}, {"q": {"y": 1.0}}
    for options, message in [
        ({"ties": "expected"}, "ties='expected', expected one of docno"),
        (
            {"max_grade": 1, "qrels": {"q": {"x": 2}}},
            "max_grade=1, but the judgments have a grade of 2",
        ),
        ({"qrels": {"x": 2}}, "expected {query: {document: grade}} for runs"),
    ]:
        with pytest.raises(RankgaugeError, match=re.escape(message)):
            rg.med_matrix(**{"qrels": None, "runs": [a, b], "measure": "nDCG@2", **options})
    with pytest.raises(RankgaugeError, match="1 run, expected at least two"):
        rg.med_matrix(None, [a], "nDCG@2")


def test_a_witness_that_needs_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staircase, "MOST_TRACED_STATES", 1000)
    found = rg.med(list(range(10)), list(range(5, 15)), "AP@10")
    assert found.exact
    with pytest.raises(RankgaugeError, match="use a smaller cutoff"):
        found.witness()


def test_q_where_a_judged_document_gains_more_than_a_free_one_can() -> None:
    """Then a free document further up can be worth less, and the walk finds a lower bound; with few
    free documents all labels are tried."""
    a, b, judged = [0, 1, 2, 6, 4], [5, 0, 2, 3, 7, 1], {6: 3, 7: 3}
    few = rg.med(a, b, "Q(beta=3)", judged, grades=(0, 1), offlist="none", max_grade=3)
    assert few.exact
    assert few.value == pytest.approx(0.24297619047619048)
    many = rg.med([*a, *range(10, 30)], b, "Q(beta=3)", judged, grades=(0, 1), max_grade=3)
    assert not many.exact
    assert rg.med([*a, *range(10, 30)], b, "Q(beta=3)", judged, grades=(0, "max")).exact

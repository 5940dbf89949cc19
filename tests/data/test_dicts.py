"""Runs and judgments from dicts, lists and sets of Python."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict, UserList, defaultdict
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge.data.dicts import Columns
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import DuplicateError


def rows(of: Run | Judgments) -> dict[str, list[tuple[str, float]]]:
    """Everything in a run or in judgments, in order."""
    values = of.scores if isinstance(of, Run) else of.grades
    documents = of.documents.texts()
    return {
        query: [
            (documents[i], values[i].item()) for i in range(of.bounds[q], of.bounds[q + 1])
        ]
        for q, query in enumerate(of.queries.texts())
    }  # fmt: skip


# What is read


def test_a_list_is_a_ranking_the_best_first() -> None:
    run = Run.from_dict({"q1": ["d3", "d1", "d2"], "q2": ("d1",), "q3": []})
    assert [[d for d, _ in row] for row in rows(run).values()] == [["d3", "d1", "d2"], ["d1"], []]
    assert all((np.diff([score for _, score in row]) < 0).all() for row in rows(run).values())


def test_lists_and_scores_stand_together() -> None:
    run = Run.from_dict({"q1": ["d3", "d1"], "q2": {"d1": 0.25}})
    assert rows(run) == {"q1": [("d3", 2.0), ("d1", 1.0)], "q2": [("d1", 0.25)]}


@given(st.permutations(["a", "b", "c", "d", "e"]), st.sampled_from(["docno", "input", "expected"]))
@examples(30)
def test_a_list_scores_as_falling_scores_do(order: list[str], ties: Any) -> None:
    judged = {"q": {"b": 2, "d": 1, "x": 1}}
    scored = {"q": {document: 1 / (i + 1) for i, document in enumerate(order)}}
    assert np.array_equal(
        rg.evaluate(judged, {"q": order}, ["nDCG", "AP"], ties=ties).values,
        rg.evaluate(judged, scored, ["nDCG", "AP"], ties=ties).values,
    )


def test_a_ranking_longer_than_single_precision_counts_is_not_tied() -> None:
    assert float(np.float32(2**24)) != float(np.float32(2**24 - 1))
    run = Run.from_dict({"q": [str(i) for i in range(3000)]})
    assert len(np.unique(run.scores.astype(np.float32))) == 3000


def keys(documents: list[str]) -> Any:
    return dict.fromkeys(documents).keys()


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, np.array, keys, UserList])
def test_documents_without_grades_are_relevant(kind: Any) -> None:
    judgments = Judgments.from_dict({"q1": kind(["d1", "d2"]), "q2": kind([])})
    assert {q: sorted(row) for q, row in rows(judgments).items()} == {
        "q1": [("d1", 1), ("d2", 1)], "q2": []
    }  # fmt: skip


@pytest.mark.parametrize("number", [int, np.int64, np.int32, np.uint8])
def test_whole_numbers_are_ids(number: Any) -> None:
    one, two = number(1), number(2)
    text = {"1": [("2", 2.5), ("1", 1.0)]}
    assert rows(Run.from_dict({one: {two: 2.5, one: 1.0}})) == text
    assert [d for d, _ in rows(Run.from_dict({one: [two, one]}))["1"]] == ["2", "1"]
    assert rows(Judgments.from_dict({one: {two: 1}})) == {"1": [("2", 1)]}
    assert rows(Judgments.from_dict({one: {two}})) == {"1": [("2", 1)]}
    by_text = rg.evaluate({"1": {"2": 1}}, {one: [one, two]}, "RR")
    assert by_text.mean() == {"run": {"RR": 0.5}}


def test_very_large_numbers_are_ids_too() -> None:
    assert rows(Run.from_dict({10**30: {-(10**25): 1.0}})) == {str(10**30): [(f"-{10**25}", 1.0)]}


@pytest.mark.parametrize(
    "grade", [2, 2.0, np.float64(2), np.float32(2), np.int8(2), Fraction(4, 2), np.float16(2)]
)
def test_grades_of_any_type_may_be_whole(grade: Any) -> None:
    assert rows(Judgments.from_dict({"q": {"d": grade}})) == {"q": [("d", 2)]}


@pytest.mark.parametrize(
    "run",
    [
        OrderedDict(q=OrderedDict(a=1.0, b=2.0)),
        defaultdict(dict, q=defaultdict(float, a=1.0, b=2.0)),
        UserDict(q=UserDict(a=1.0, b=2.0)),
        MappingProxyType({"q": MappingProxyType({"a": 1, "b": np.float16(2)})}),
    ],
)
def test_any_mapping_will_do(run: Any) -> None:
    assert rows(Run.from_dict(run)) == {"q": [("a", 1.0), ("b", 2.0)]}


def test_a_dict_in_another_order_of_its_own_keeps_it() -> None:
    row = OrderedDict(a=1.0, b=2.0)
    row.move_to_end("a")
    assert rows(Run.from_dict({"q": row})) == {"q": [("b", 2.0), ("a", 1.0)]}


def test_queries_without_documents_are_kept() -> None:
    for empty in ({}, [], ()):
        assert rows(Run.from_dict({"q": empty})) == rows(Judgments.from_dict({"q": empty}))
        assert rows(Run.from_dict({"q": empty})) == {"q": []}


def test_subtopics_take_numbers_lists_and_sets() -> None:
    judged = rg.Judgments.from_subtopics({1: {1: {7: 2, 8: 0}, 2: ["8"]}, "2": {"x": {9}}, 3: {}})
    as_text = rg.Judgments.from_subtopics(
        {"1": {"1": {"7": 2, "8": 0}, "2": {"8": 1}}, "2": {"x": {"9": 1}}, "3": {}}
    )
    assert rows(judged) == rows(as_text) == {"1": [("7", 2), ("8", 1)], "2": [("9", 1)], "3": []}
    assert judged.subtopics is not None
    assert as_text.subtopics is not None
    assert judged.subtopics.names.texts() == as_text.subtopics.names.texts() == ["1", "2", "x"]
    assert judged.subtopics.grades.tolist() == as_text.subtopics.grades.tolist()


# Both ways are one

texts = st.text(max_size=3) | st.sampled_from(["1", "2", "q", "\udcff"])
any_ids = texts | st.integers(-2, 12) | st.integers(10**20, 10**20 + 3)
some_ids = any_ids | st.sampled_from([None, True, 1.5, b"d", np.int64(3), np.str_("2")])
numbers = st.floats() | st.integers(-3, 3) | st.sampled_from(
    [None, "1", True, 10**400, 2**31, Fraction(3, 2), Fraction(2), np.float32(1.5), np.int64(1)]
)  # fmt: skip
likely = st.integers(-1, 3) | st.integers(0, 3).map(float)


def any_rows(values: Any) -> Any:
    row = st.dictionaries(some_ids, values, max_size=4)
    listed = st.lists(some_ids, max_size=4)
    return row | listed | listed.map(tuple) | st.sets(some_ids, max_size=4) | st.just("d1")


@given(
    st.dictionaries(any_ids, any_rows(likely | numbers), max_size=4)
    | st.dictionaries(texts, st.dictionaries(texts, likely | numbers, max_size=4), max_size=4),
    st.booleans(),
)
@examples(600)
def test_the_fast_way_and_the_careful_way_agree(nested: Any, graded: bool) -> None:
    queries, rows_ = list(nested), list(nested.values())
    fast = Columns._read_plain(queries, rows_, graded)
    try:
        careful = Columns._read_carefully(queries, rows_, graded, "x", "query")
    except rg.InputError:
        assert fast is None
        return
    if fast is not None:
        assert fast.queries.texts() == careful.queries.texts()
        assert fast.bounds.tolist() == careful.bounds.tolist()
        assert fast.documents.texts() == careful.documents.texts()
        assert fast.values.tolist() == careful.values.tolist()


def test_plain_dicts_and_lists_go_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Columns, "_read_carefully", None)
    Run.from_dict({"q": {"d": 1.0, "é": 2}, 2: [3, "d"]})
    Judgments.from_dict({"q": {"d": 1.0, "é": 2}, 2: [3, "d"], "s": {"d"}})


# What is refused


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            {"q1": ["d1", "d2", "d1"]},
            "query 'q1': document 'd1' twice, expected each document once",
        ),
        ({"q1": [1, "1"]}, "query 'q1': document '1' twice"),
        ({"q1": {1: 2.0, "1": 1.0}}, "query 'q1': document '1' twice"),
        ({"1": {}, 1: {}}, "query '1' twice, as a number and as text, expected it once"),
        ({"q1": {"d1"}}, "query 'q1': a set has no order, expected {document: score} or a list"),
        ({"q1": "d1"}, "query 'q1': 'd1', expected {document: score} or a list of documents"),
        ({"q1": b"d1"}, "query 'q1': b'd1', expected {document: score} or a list of documents"),
        ({"q1": 3}, "query 'q1': 3, expected {document: score} or a list of documents"),
        ({"q1": None}, "query 'q1': None, expected"),
        ({"q1": [["d1", 2.0]]}, "query 'q1': the document is ['d1', 2.0], expected an id: text or"),
        ({"q1": [True]}, "query 'q1': the document is True, expected an id"),
        ({"q1": {None: 1.0}}, "query 'q1': the document is None, expected an id"),
        ({True: ["d1"]}, "the query is True, expected an id: text or a whole number"),
        ({1.0: ["d1"]}, "the query is 1.0, expected an id"),
        ({"\ud800": ["d1"]}, "the query '\\ud800' cannot be written as UTF-8, expected valid text"),
        ({"q1": {"d1": math.nan}}, "query 'q1', document 'd1': score nan, expected a number"),
        ({"q1": {"d1": "2.0"}}, "query 'q1', document 'd1': score '2.0', expected a number"),
        (
            {"q1": {"d1": 10**400}},
            "query 'q1', document 'd1': the score is beyond double precision",
        ),
        ({"q1": {10**9999: 1.0}}, "query 'q1': the document is too long, expected fewer digits"),
        ({"q1": 10**9999}, "query 'q1': a very long int, expected {document: score}"),
        ({"q1": "d" * 99}, f"query 'q1': '{'d' * 59}…, expected {{document: score}}"),
        (["d1"], "a list (['d1']), expected {query: …} with {document: score} or a list"),
        ("d1", "a str ('d1'), expected {query: …}"),
    ],
)
def test_bad_runs_are_refused(run: Any, message: str) -> None:
    with pytest.raises(rg.InputError) as caught:
        Run.from_dict(run, name="bm25")
    assert str(caught.value).startswith(f"bm25: {message}")
    if "twice" in message:
        assert isinstance(caught.value, DuplicateError)


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ({"q1": {"d1": 1.5}}, "query 'q1', document 'd1': grade 1.5, expected a whole number"),
        (
            {"q1": {"d1": Fraction(1, 2)}},
            "query 'q1', document 'd1': grade Fraction(1, 2), expected",
        ),
        ({"q1": {"d1": math.inf}}, "query 'q1', document 'd1': grade inf, expected a whole number"),
        ({"q1": {"d1": math.nan}}, "query 'q1', document 'd1': grade nan, expected a whole number"),
        ({"q1": {"d1": 10**400}}, "query 'q1', document 'd1': grade 1000"),
        ({"q1": {"d1": 2**31}}, "query 'q1', document 'd1': grade 2147483648, expected a whole"),
        ({"q1": {"d1": "1"}}, "query 'q1', document 'd1': grade '1', expected a whole number"),
        ({"q1": ["d1", "d1"]}, "query 'q1': document 'd1' twice"),
        ({"q1": {1, "1"}}, "query 'q1': document "),
        (
            {"q1": "d1"},
            "query 'q1': 'd1', expected {document: grade}, or a list or a set of relevant",
        ),
        (["d1"], "a list (['d1']), expected {query: …} with {document: grade}, or a list"),
    ],
)
def test_bad_judgments_are_refused(judgments: Any, message: str) -> None:
    with pytest.raises(rg.InputError) as caught:
        Judgments.from_dict(judgments)
    assert str(caught.value).startswith(f"judgments: {message}")


def test_bad_subtopics_are_refused() -> None:
    for bad, message in [
        ({"q1": {"d1": 1}}, "query 'q1', subtopic 'd1': 1, expected {document: grade}"),
        ({"q1": {"s": {"d": 0.5}}}, "query 'q1', subtopic 's', document 'd': grade 0.5, expected"),
        ({"q1": ["d"]}, "a list (['d']), expected {query 'q1', subtopic: …}"),
    ]:
        with pytest.raises(rg.InputError) as caught:
            rg.Judgments.from_subtopics(bad)  # type: ignore[arg-type]
        assert str(caught.value).startswith(f"judgments: {message}")


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_boolean_is_neither_a_grade_nor_a_score(value: Any) -> None:
    with pytest.raises(rg.InputError, match=f"query 'q', document 'd': grade .*{bool(value)}"):
        Judgments.from_dict({"q": {"d": value}})
    with pytest.raises(rg.InputError, match=f"query 'q', document 'd': score .*{bool(value)}"):
        Run.from_dict({"q": {"d": value}})

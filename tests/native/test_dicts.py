"""Dicts of Python are read as a few lines of plain Python read them, or left to the careful way."""

from __future__ import annotations

import gc
import itertools
import sys
from collections import OrderedDict, defaultdict
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.native.dicts import columns

LARGEST = 2**31 - 1

text = st.text(max_size=4)
ids = text | st.text("ab", max_size=2) | st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 12)
scores = st.floats(allow_nan=False) | st.integers(-(2**70), 2**70)
grades = st.integers(-LARGEST, LARGEST) | st.integers(-2, 3).map(float)


def nested(values: Any, listed: Any) -> Any:
    row = st.dictionaries(ids, values, max_size=5)
    return st.dictionaries(
        ids,
        row | row.map(lambda x: defaultdict(float, x)) | listed,
        max_size=5,
    )


lists = st.lists(ids, max_size=5)


def plainly(run: dict[Any, Any], graded: bool) -> tuple[Any, ...]:
    """What the native loop gives, by a loop over everything."""

    def raw(value: Any) -> bytes:
        return str(value).encode() if isinstance(value, str) else b"%d" % value

    documents, values, sizes = [], [], []
    for row in run.values():
        if isinstance(row, dict):
            pairs = list(row.items())
        else:
            pairs = [(x, 1.0 if graded else float(len(row) - i)) for i, x in enumerate(row)]
        sizes.append(len(pairs))
        documents += [raw(document) for document, _ in pairs]
        values += [float(value) for _, value in pairs]
    every = [*run, *(document for row in run.values() for document in row)]
    unsure = any(type(row) in (list, tuple, set, frozenset) for row in run.values())
    return (
        [raw(query) for query in run],
        sizes,
        documents,
        values,
        unsure or any(not isinstance(value, str) for value in every),
    )


def found(run: dict[Any, Any], graded: bool) -> tuple[Any, ...]:
    read = columns(list(run), list(run.values()), graded)
    assert read is not None
    names, sizes, documents, values, unsure = read

    def split(column: Any) -> list[bytes]:
        data, offsets = column
        return [data[a:b].tobytes() for a, b in itertools.pairwise(offsets)]

    return split(names), sizes.tolist(), split(documents), values.tolist(), unsure


@given(nested(scores, lists | lists.map(tuple)))
@examples(200)
def test_runs_are_read(run: Any) -> None:
    assert found(run, graded=False) == plainly(run, graded=False)


@given(nested(grades, lists | lists.map(tuple) | st.sets(ids) | st.frozensets(ids)))
@examples(200)
def test_judgments_are_read(judgments: Any) -> None:
    assert found(judgments, graded=True) == plainly(judgments, graded=True)


def test_numbers_and_ids_of_numpy_are_read() -> None:
    run = {
        np.str_("q"): {np.int64(7): np.float32(0.5), np.int32(-8): np.float64(2.5)},
        np.int64(2): {"d": np.int64(3), np.str_("é"): np.int32(4)},
    }
    assert found(run, graded=False)[:4] == (
        [b"q", b"2"], [2, 2], [b"7", b"-8", b"d", "é".encode()], [0.5, 2.5, 3.0, 4.0]
    )  # fmt: skip


def test_many_long_ids_are_read() -> None:
    run = {f"q{q}": {f"{q}-{d}" * 50: float(d) for d in range(q)} for q in range(60)}
    assert found(run, graded=False) == plainly(run, graded=False)


class Grade(IntEnum):
    GOOD = 2


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("value", [Grade.GOOD, 2, 2.0, np.int64(2)])
def test_whole_numbers_of_any_type_are_read(value: Any, graded: bool) -> None:
    assert found({"q": {"d": value}}, graded)[3] == [float(value)]


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_boolean_is_no_number(value: Any, graded: bool) -> None:
    assert columns(["q"], [{"d": value}], graded) is None


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize(
    "run",
    [
        {"q": {"d": "1"}}, {"q": {"d": None}}, {"q": {"d": float("nan")}}, {"q": {"d": 10**400}},
        {"q": {"d": Fraction(1)}}, {"q": {"d": 1 + 0j}}, {"q": {"d": np.float64("nan")}},
        {"q": {"\udcff": 1}}, {"q": {b"d": 1}}, {"q": {None: 1}}, {"q": {True: 1}}, {"q": {1.0: 1}},
        {"q": {2**63: 1}}, {"q": {-(2**63) - 1: 1}}, {"q": {("d",): 1}}, {"q": ["d", None]},
        {"q": "d"}, {"q": b"d"}, {"q": 1}, {"q": None}, {"q": OrderedDict(d=1)}, {"q": iter("d")},
        {"\udcff": {}}, {None: {}}, {True: {}}, {1.5: {}}, {"ok": {"d": 1}, "q": 5},
    ],
)  # fmt: skip
def test_anything_unusual_is_left_to_the_careful_way(run: Any, graded: bool) -> None:
    assert columns(list(run), list(run.values()), graded) is None


@pytest.mark.parametrize("grade", [0.5, 2**31, -(2**31), float(2**31), float("inf"), 2**64])
def test_what_is_no_grade_is_left_to_the_careful_way(grade: Any) -> None:
    assert columns(["q"], [{"d": grade}], True) is None


@pytest.mark.parametrize("row", [{"d"}, frozenset("d"), set()])
def test_a_set_is_no_ranking(row: Any) -> None:
    assert columns(["q"], [row], False) is None
    assert columns(["q"], [row], True) is not None


def test_as_many_rows_as_queries_are_needed() -> None:
    assert columns(["q"], [], False) is None


def test_nothing_is_kept() -> None:
    class Text(str):
        pass

    run = {f"q{q}": {f"d{d}": d / 7 for d in range(50)} for q in range(50)}
    bad = {**run, "z": {Text("d"): 1.0}}
    gc.collect()
    row = run["q3"]
    before = sys.getrefcount(row), sys.getrefcount(row["d9"])
    for _ in range(20):
        columns(list(run), list(run.values()), False)
        assert columns(list(bad), list(bad.values()), False) is None
    assert (sys.getrefcount(row), sys.getrefcount(row["d9"])) == before

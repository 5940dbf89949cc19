"""Rank-biased overlap: the published reference values, the definition, and its laws."""

from __future__ import annotations

import csv
import gzip
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracles import correlation as oracle
from profiles import thorough
from rankgauge.comparison.overlap import RBO, rbo
from rankgauge.errors import RankgaugeError

VARIANTS = ("w", "a", "b")
IDS = tuple("abcdefghij")

persistence = st.floats(0.05, 0.95)
variants = st.sampled_from(VARIANTS)


@st.composite
def rankings(draw: st.DrawFn, ties: bool = True) -> list[tuple[str, ...]]:
    """Some of the ids, in groups."""
    ids = draw(st.permutations(IDS))[: draw(st.integers(1, 7))]
    cuts = [draw(st.booleans()) if ties else True for _ in ids]
    groups: list[tuple[str, ...]] = []
    for item, cut in zip(ids, cuts, strict=True):
        if cut or not groups:
            groups.append((item,))
        else:
            groups[-1] += (item,)
    return groups


def numbers(found: RBO) -> list[float]:
    return [found.ext, found.min, found.max, found.res]


def read(text: str) -> list[Any]:
    """A ranking such as `a (b c) d`."""
    parts = re.findall(r"\([^)]*\)|\S+", text)
    return [tuple(part[1:-1].split()) if part.startswith("(") else part for part in parts]


def test_all_reference_values(real_data: Callable[[str], Path]) -> None:
    with gzip.open(real_data("rbo-reference/test.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10_000
    found, expected = [], []
    for row in rows[:: 1 if thorough() else 5]:
        a, b = read(row["x"]), read(row["y"])
        for ties in VARIANTS:
            found.append(numbers(rbo(a, b, float(row["p"]), ties=ties)))  # type: ignore[arg-type]
            expected.append([float(row[f"{ties}.{key}"]) for key in ("ext", "min", "max", "res")])
    assert np.abs(np.array(found) - np.array(expected)).max() < 1e-9


@given(rankings(), rankings(), st.floats(0.05, 0.5), variants)
def test_as_defined(a: Any, b: Any, p: float, ties: Any) -> None:
    found = rbo(a, b, p, ties=ties)
    depth = 34  # 0.5^34 is 6e-11: what is below makes no difference
    assert found.ext == pytest.approx(oracle.rbo_ext(a, b, p, ties), abs=1e-12)
    assert found.min == pytest.approx(oracle.rbo_min(a, b, p, ties, depth), abs=1e-9)
    assert found.max == pytest.approx(oracle.rbo_max(a, b, p, ties, depth), abs=1e-9)


@given(rankings(), rankings(), persistence, variants)
def test_symmetric_ordered_and_in_range(a: Any, b: Any, p: float, ties: Any) -> None:
    found = rbo(a, b, p, ties=ties)
    assert numbers(found) == pytest.approx(numbers(rbo(b, a, p, ties=ties)), abs=1e-15)
    assert 0 <= found.min <= found.ext <= found.max <= 1
    assert found.res == found.max - found.min


@given(rankings(ties=False), rankings(ties=False), persistence)
def test_without_ties_the_variants_are_the_same(a: Any, b: Any, p: float) -> None:
    w, a_variant, b_variant = (numbers(rbo(a, b, p, ties=ties)) for ties in VARIANTS)  # type: ignore[arg-type]
    assert w == pytest.approx(a_variant, abs=1e-14)
    assert w == pytest.approx(b_variant, abs=1e-14)


@given(rankings(), persistence)
def test_a_ranking_with_itself(a: Any, p: float) -> None:
    for ties in ("w", "b"):
        found = rbo(a, a, p, ties=ties)  # type: ignore[arg-type]
        assert found.ext == pytest.approx(1, abs=1e-14)
        assert found.max == pytest.approx(1, abs=1e-14)
        assert found.min < 1
    tied = any(len(group) > 1 for group in a)
    assert (rbo(a, a, p, ties="a").ext < 1 - 1e-13) == tied


def orders(groups: Any) -> list[list[str]]:
    parts = itertools.product(*map(itertools.permutations, groups))
    return [[item for part in order for item in part] for order in parts]


@given(rankings(), persistence, st.data())
def test_variant_a_is_the_mean_over_all_orders_of_the_ties(
    a: Any, p: float, data: st.DataObject
) -> None:
    """Of lists as long as each other all of it, of others the least."""
    a = [group[:3] for group in a][:3]
    b = [group[:3] for group in data.draw(rankings())][:3]
    found = rbo(a, b, p, ties="a")
    single = [rbo(one, other, p) for one in orders(a) for other in orders(b)]
    assert found.min == pytest.approx(np.mean([each.min for each in single]))
    if sum(map(len, a)) == sum(map(len, b)):
        assert found.ext == pytest.approx(np.mean([each.ext for each in single]))
        assert found.max == pytest.approx(np.mean([each.max for each in single]))


def test_lists_without_a_common_item() -> None:
    found = rbo(["a", "b"], ["c", "d", "e"])
    assert (found.ext, found.min) == (0, 0)
    assert 0 < found.max < 1


def test_a_group_is_any_collection_and_an_id_anything_hashable() -> None:
    expected = rbo([1, (2, 3), None], [2, 1, 3])
    for group in ([2, 3], {2, 3}, frozenset((3, 2))):
        assert rbo([1, group, None], iter([2, 1, 3])) == expected
    assert rbo(np.array(["a", "b"]), ["b", "a"]) == rbo(["a", "b"], ["b", "a"])
    assert rbo([("a",), ("b",)], ["b", "a"]) == rbo(["a", "b"], ["b", "a"])


def test_an_empty_list_has_bounds_and_no_extrapolation() -> None:
    for a, b in (([], []), ([], ["a", "b"]), (["a", "b"], [])):
        found = rbo(a, b)
        assert math.isnan(found.ext)
        assert (found.min, found.max) == (0, pytest.approx(1))


def test_long_lists_and_extreme_persistence() -> None:
    ids = list(range(20_000))
    found = rbo(ids, ids)
    assert numbers(found) == pytest.approx([1, 1, 1, 0], abs=1e-12)
    for p in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert 0 <= rbo(ids, ids[::-1], p).min < 1e-300  # nothing in common down to 10,000
    for p in (1e-320, 1e-12, 1 - 1e-12):
        found = rbo(ids, ids[::-1], p)
        assert 0 <= found.min <= found.ext <= found.max <= 1


@pytest.mark.parametrize("p", [0, 1, -0.5, 1.5, math.nan, "0.9", True, None])
def test_persistence_is_a_chance(p: Any) -> None:
    with pytest.raises(RankgaugeError, match="expected a number strictly between 0 and 1"):
        rbo(["a"], ["a"], p)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        (["a", "b", "a"], "b has 'a' twice, expected each id once"),
        (["a", ("b", "a")], "b has 'a' twice"),
        ([("a", "a")], "b has 'a' twice"),
        (["a", ()], "b has an empty group"),
        (["a", ("b", ("c", "d"))], r"b has \('c', 'd'\), expected ids or groups of ids"),
        ([{"a": 1}], "expected ids or groups of ids"),
        ("abc", "b is str, expected a list of ids or groups, best first"),
        ({"a", "b"}, "b is set"),
        ({"a": 1.0}, "b is dict"),
        (None, "b is NoneType"),
    ],
)
def test_what_is_no_ranking_is_refused(ranking: Any, message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        rbo(["a"], ranking)


def test_unknown_ties_are_refused() -> None:
    with pytest.raises(RankgaugeError, match="ties='c', expected one of w, a, b"):
        rbo(["a"], ["a"], ties="c")  # type: ignore[arg-type]

"""Greedy and tabu search find differences that can be, never more than the greatest one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from laws.strategies import versions
from laws.test_distance import DIRECTED, HIGHEST, cases
from oracles.distance import greedy, greedy_with_ties, tabu
from profiles import examples
from rankgauge.distance.maximized import med_of_lists

COUNTEREXAMPLE = (
    [20, 10, 5, 22, 7, 16, 0],
    [20, 10, 22, 21, 16, 7, 13],
    {22: 0, 0: 0, 16: 0, 5: 1, 21: 1, 13: 1, **{f"more {i}": 1 for i in range(7)}},
)
ROUND = "trec-covid/round1"


@pytest.mark.parametrize("norm", ["R", "min", "k"])
@given(data=st.data())
@examples(100)
def test_no_search_finds_more_than_the_distance(norm: str, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 15))
    documents = list(range(data.draw(st.integers(k, 2 * k))))
    y, z = (data.draw(st.permutations(documents))[:k] for _ in range(2))
    labels = data.draw(st.dictionaries(st.integers(0, 2 * k), st.integers(0, 1), max_size=k))
    distance = rg.med(y, z, f"AP(norm={norm})@{k}", labels).value
    assert greedy(y, z, labels, k, norm) <= distance + 1e-12
    assert tabu(y, z, labels, k, norm, rounds=15) <= distance + 1e-12


def test_greedy_is_not_exact() -> None:
    distance = rg.med(*COUNTEREXAMPLE[:2], "AP@7", *COUNTEREXAMPLE[2:])
    assert distance.exact
    assert distance.value == pytest.approx(0.0267857, abs=1e-7)
    assert greedy(*COUNTEREXAMPLE, 7) == pytest.approx(0.0254579, abs=1e-7)
    assert tabu(*COUNTEREXAMPLE, 7) <= distance.value + 1e-12


def test_greedy_on_pairs_of_real_runs(any_data: Callable[[str], Path]) -> None:
    """There greedy is never short of the distance, and never above it."""
    drawn = random.Random(6)
    files = sorted(any_data(f"{ROUND}/runs").glob("*.gz"))
    runs = {path.name: path for path in drawn.sample(files, 6)}
    judgments = rg.read_qrels(any_data(f"{ROUND}/qrels/qrels-rnd1.txt"))
    gaps = []
    for qrels in (None, judgments):
        for k in (10, 20):
            found = rg.med_matrix(qrels, runs, f"AP@{k}")
            for query in found.queries[::6]:
                topic = found._topics[found.queries.index(query)].lists
                judged = topic.judged.labels.tolist()
                known = {
                    d: int(label) for d, label in enumerate(topic.labels.tolist()) if label >= 0
                }
                off = sum(label > 0 for label in judged) - sum(v > 0 for v in known.values())
                known.update({-1 - i: 1 for i in range(off)})
                for p, (a, b) in enumerate(found.pairs):
                    y, z = (topic.list(i).tolist() for i in (a, b))
                    exact = found.values[p, found.queries.index(query)]
                    gaps.append(exact - greedy(y, z, known, k))
    assert min(gaps) > -1e-12
    assert len(gaps) == 300
    assert max(gaps) < 1e-9


@pytest.mark.parametrize("norm", ["R", "min", "k"])
@given(data=st.data())
@examples(60)
def test_the_methods_of_the_literature(norm: str, data: st.DataObject) -> None:
    """Greedy is Algorithm 1 with Eq. 13; both methods are lower bounds, and say so."""
    k = data.draw(st.integers(1, 10))
    documents = list(range(data.draw(st.integers(k, 2 * k))))
    y, z = (data.draw(st.permutations(documents))[:k] for _ in range(2))
    labels = data.draw(st.dictionaries(st.integers(0, 2 * k), st.integers(0, 1), max_size=k))
    measure = f"AP(norm={norm})@{k}"
    exact = rg.med(y, z, measure, labels)
    for method in ("greedy", "tabu"):
        found = rg.med(y, z, measure, labels, method=method)
        assert found.lower == found.value <= exact.value + 1e-12
        assert not found.exact or found.value == pytest.approx(1)
        known = {**labels, **found.witness().labels}
        measured = [
            rg.parse(measure).score([known[d] for d in x], list(known.values())) for x in (y, z)
        ]
        assert abs(measured[0] - measured[1]) == pytest.approx(found.value, abs=1e-9)
    # Where two documents add the same, the rule may take either, and go on differently.
    rule = rg.med(y, z, measure, labels, method="greedy").value
    assert rule <= float(greedy_with_ties(y, z, labels, norm)) + 1e-9


def test_greedy_takes_the_steps_of_equation_13() -> None:
    found = rg.med(*COUNTEREXAMPLE[:2], "AP@7", *COUNTEREXAMPLE[2:], method="greedy")
    assert found.value == pytest.approx(greedy(*COUNTEREXAMPLE, 7))


@given(data=st.data())
@examples(60)
def test_algorithm_1_is_exact_for_two_grades(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 12))
    documents = list(range(data.draw(st.integers(k, 2 * k))))
    y, z = (data.draw(st.permutations(documents))[:k] for _ in range(2))
    labels = data.draw(st.dictionaries(st.integers(0, 2 * k), st.integers(0, 1), max_size=k))
    found = rg.med(y, z, f"nDCG@{k}", labels, trace=True)
    assert found.trace is not None
    assert found.trace.greatest == pytest.approx(found.value, abs=1e-9)
    for step in found.trace.steps:
        if step.difference is not None:
            assert step.weight_a - step.weight_b == pytest.approx(step.difference)
            assert (step.difference > 0) == (step.ahead == "a")
        if step.denominator:
            assert step.quotient == pytest.approx(step.numerator / step.denominator)


@pytest.mark.parametrize("method", ["greedy", "tabu"])
@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(4)
def test_the_methods_serve_every_measure(name: str, method: Any, data: st.DataObject) -> None:
    """What they find is the difference that their labels make, and never above the upper bound."""
    measure = data.draw(versions(name))
    a, b, judged = data.draw(cases(most=4, free=4))
    found = med_of_lists(measure, a, b, judged, method=method, offlist="none", max_grade=HIGHEST)
    exact = med_of_lists(measure, a, b, judged, offlist="none", max_grade=HIGHEST)
    assert found.value <= exact.upper * (1 + 1e-9) + 1e-9

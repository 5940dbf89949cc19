"""Greedy and tabu search find differences that can be, never more than the greatest one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge as rg
from oracles.distance import greedy, tabu
from profiles import examples

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
    distance = rg.med(f"AP(norm={norm})@{k}", y, z, labels).value
    assert greedy(y, z, labels, k, norm) <= distance + 1e-12
    assert tabu(y, z, labels, k, norm, rounds=15) <= distance + 1e-12


def test_greedy_is_not_exact() -> None:
    distance = rg.med("AP@7", *COUNTEREXAMPLE)
    assert distance.exact
    assert distance.value == pytest.approx(0.0267857, abs=1e-7)
    assert greedy(*COUNTEREXAMPLE, 7) == pytest.approx(0.0254579, abs=1e-7)
    assert tabu(*COUNTEREXAMPLE, 7) <= distance.value + 1e-12


def test_greedy_on_pairs_of_real_runs(real_data: Callable[[str], Path]) -> None:
    """There greedy is never short of the distance, and never above it."""
    drawn = random.Random(6)
    files = sorted(real_data(f"{ROUND}/runs").glob("*.gz"))
    runs = {path.name: path for path in drawn.sample(files, 6)}
    judgments = rg.read_qrels(real_data(f"{ROUND}/qrels/qrels-rnd1.txt"))
    gaps = []
    for qrels in (None, judgments):
        for k in (10, 20):
            found = rg.med_matrix(f"AP@{k}", runs, qrels)
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

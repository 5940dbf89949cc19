"""P-values against chance: equal to all orders, calibrated, and what is informative by them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from oracles import distinct_permutations
from profiles import examples
from rankgauge import query_sets
from rankgauge.query_sets import significance

MEASURES = ["P@2", "nDCG@3", "AP", "RR", "SearchLength", "Rprec", "v2(AP@3)"]


def qrels_of(labels: list[int]) -> dict[str, dict[str, int]]:
    return {"q": {f"d{i}": label for i, label in enumerate(labels)}}


def run_of(documents: Any) -> dict[str, dict[str, float]]:
    return {"q": {document: -float(place) for place, document in enumerate(documents)}}


def share_of_orders(measure: str, labels: list[int], own: float) -> float:
    """The share of all orders of the documents that score as well as the run, or better."""
    asked = rg.parse(measure)
    sign = -1 if asked.direction == "lower" else 1
    # Each different order of labels stands for the same number of orders of documents.
    orders = distinct_permutations(labels)
    ahead = [sign * (asked.score(order, labels, max_grade=3) - own) for order in orders]
    return sum(by >= -1e-9 for by in ahead) / len(ahead)


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data())
@examples(15)
def test_p_is_the_share_of_orders_that_score_as_well(measure: str, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from([0, 0, 1, 3]), min_size=1, max_size=5))
    labels.append(1)
    documents = [*qrels_of(labels)["q"], "unjudged"]
    listed = data.draw(st.permutations(documents))[: data.draw(st.integers(1, 7))]
    scores = rg.evaluate(qrels_of(labels), run_of(listed), measure, max_grade=3)
    found = significance(scores, qrels_of(labels))
    assert found.exact.all()
    if found.queries:
        own = float(scores.values[0, 0, 0])
        assert found.p[0, 0] == pytest.approx(share_of_orders(measure, labels, own))


def test_the_score_by_several_measures_is_their_mean() -> None:
    labels = [1, 1, 0, 0, 0]
    scores = rg.evaluate(qrels_of(labels), run_of(["d0", "d2", "d1"]), ["P@1", "AP"])
    own = float(scores.values[0, 0].mean())
    orders = [*itertools.permutations(labels)]
    p1, ap = rg.parse("P@1"), rg.parse("AP")
    means = [(p1.score(list(o), labels) + ap.score(list(o), labels)) / 2 for o in orders]
    expected = sum(mean >= own - 1e-9 for mean in means) / len(orders)
    assert significance(scores, qrels_of(labels)).p[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "AP"])
def test_p_values_of_random_rankings_are_uniform_or_larger(measure: str) -> None:
    """All judged documents in random order, 2,000 times; as far as chance lets a share be too large."""
    labels = [2] * 4 + [1] * 8 + [0] * 28
    generator = np.random.default_rng(3)
    documents = list(qrels_of(labels)["q"])
    runs = {f"r{i}": run_of(generator.permutation(documents).tolist()) for i in range(2000)}
    found = significance(
        rg.evaluate(qrels_of(labels), runs, measure), qrels_of(labels), samples=999
    )
    p = found.p[:, 0]
    for level in (0.01, 0.05, 0.1, 0.25, 0.5, 0.75):
        error = math.sqrt(level * (1 - level) * (1 / len(p) + 1 / 999))
        assert np.mean(p <= level) <= level + 4 * error
        if measure != "P@10":  # by which few scores are possible
            assert np.mean(p <= level) >= level - 4 * error - 0.01


@given(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=2, max_size=6))
@examples(15)
def test_exact_p_values_are_never_too_small(labels: list[int]) -> None:
    """Of all orders no more than p have a p-value of p or less."""
    labels = [*labels, 1]
    asked = rg.parse("nDCG@3")
    documents = list(qrels_of(labels)["q"])
    orders = [[*order] for order in itertools.permutations(range(len(labels)))][:: 1 + len(labels)]
    runs = {str(i): run_of([documents[d] for d in order]) for i, order in enumerate(orders)}
    found = significance(rg.evaluate(qrels_of(labels), runs, asked), qrels_of(labels))
    scores = np.array([asked.score(order, labels) for order in distinct_permutations(labels)])
    for score, p in zip(found.scores[:, 0], found.p[:, 0], strict=True):
        assert np.mean(scores >= score - 1e-9) <= p + 1e-9


def test_drawn_p_values_are_near_exact_ones_and_fixed_by_the_seed() -> None:
    labels = [1] * 10 + [0] * 40
    runs = {
        str(n): run_of([*(f"d{i}" for i in range(n)), *(f"d{i}" for i in range(10, 20 - n))])
        for n in range(7)
    }
    scores = rg.evaluate(qrels_of(labels), runs, "P@10")
    exact = significance(scores, qrels_of(labels))
    drawn = significance(scores, qrels_of(labels), samples=1000)
    assert exact.exact.all()
    assert not drawn.exact.any()
    # By the hypergeometric distribution.
    for n in range(7):
        ways = sum(math.comb(10, j) * math.comb(40, 10 - j) for j in range(n, 11))
        assert exact.p[n, 0] == pytest.approx(ways / math.comb(50, 10))
    error = np.sqrt(exact.p * (1 - exact.p) / 1000)
    assert (np.abs(drawn.p - exact.p) <= 5 * error + 2 / 1001).all()
    assert drawn.p.min() >= 1 / 1001
    again = significance(scores, qrels_of(labels), samples=1000)
    other = significance(scores, qrels_of(labels), samples=1000, seed=1)
    assert again.p.tolist() == drawn.p.tolist() != other.p.tolist()
    more = {**qrels_of(labels), "other": {"a": 1, "b": 0}}
    beside = significance(rg.evaluate(more, runs, "P@10"), more, samples=1000)
    assert beside.p[:, 0].tolist() == drawn.p[:, 0].tolist()


def test_informative_queries_are_those_on_which_a_run_is_better_than_chance() -> None:
    hard = {f"d{i}": int(i < 3) for i in range(30)}
    qrels = {"found": hard, "missed": hard, "nothing": {"a": 0}}
    good = {"found": {"d0": 3.0, "d1": 2.0, "d2": 1.0}, "missed": {"d9": 1.0}}
    scores = rg.evaluate(qrels, {"good": good, "poor": {"found": {"d9": 1.0}}}, "P@3")
    chosen = query_sets.informative(scores, qrels, by="significance")
    assert chosen.queries == ("found",)
    assert chosen.left_out == (query_sets.Exclusion("nothing relevant", 1),)
    found = significance(scores, qrels)
    p = 1 / math.comb(30, 3)
    assert found.p[0, 0] == pytest.approx(p)
    assert found.query_p() == pytest.approx([2 * p, 1.0])
    assert query_sets.informative(scores, qrels, by="significance", level=1 - p).queries == ()
    assert str(found.notes[0]).startswith("1 of 2 queries is informative")


def test_runs_that_skip_a_query_have_no_p_value_there() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    runs = {"one": {"q1": {"a": 1.0}}, "two": {"q1": {"b": 1.0}, "q2": {"a": 1.0}}}
    found = significance(rg.evaluate(qrels, runs, "P@1", missing="skip"), qrels)
    assert found.p[1].tolist() == [1.0, 0.5]
    assert found.p[0, 0] == 0.5
    assert math.isnan(found.p[0, 1])
    assert found.query_p().tolist() == [1.0, 0.5]
    assert len(found.table().rows) == 3


def test_too_few_orders_for_many_runs_are_named() -> None:
    labels = [1] * 10 + [0] * 40
    runs = {str(n): run_of([f"d{n}"]) for n in range(10)}
    scores = rg.evaluate(qrels_of(labels), runs, "AP")
    texts = [str(note) for note in significance(scores, qrels_of(labels), samples=100).notes]
    assert (
        "too few random orders: with 10 runs, no p can be significant; use 200 samples or more"
        in texts
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": 1.5}, "level="),
        ({"samples": 0}, "samples="),
        ({"seed": -1}, "seed="),
        ({"by": "luck"}, "by="),
        ({"threshold": 0.1}, "threshold works only with by='difference'"),
    ],
)
def test_bad_requests_are_refused(change: dict[str, Any], message: str) -> None:
    qrels = qrels_of([1, 0])
    scores = rg.evaluate(qrels, run_of(["d0"]), "AP")
    asked: Any = {"by": "significance", **change}
    with pytest.raises(rg.RankgaugeError, match=message):
        query_sets.informative(scores, qrels, **asked)

"""UE normalisation: the vectors of the mathematics, and the edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rankgauge as rg
from rankgauge import AP, DCG, ERR, RBP, RR, P, nDCG
from rankgauge import SP as SumPrecision

LABELS = [2, 1, 0, 0]
DCG2 = DCG(gain="exp2") @ 2


def test_variances_of_small_collections() -> None:
    assert math.isclose((P @ 3).variance([1, 1, 0, 0, 0]), 1 / 25)
    assert math.isclose((SumPrecision @ 3).variance([1, 1, 0, 0, 0]), 1309 / 3600)
    assert math.isclose(DCG2.variance(LABELS), 1.4661788, abs_tol=1e-7)


@pytest.mark.parametrize(
    ("ranking", "v1", "v2"),
    [
        ([1, 0], None, -0.386853),
        ([2, 0], 0.535250, 0.684535),
        ([0, 2], None, 0.130930),
        ([2, 1], 0.690047, 1.0),
    ],
)
def test_the_vectors(ranking: list[int], v1: float | None, v2: float) -> None:
    assert math.isclose(rg.v2(DCG2).score(ranking, LABELS), v2, abs_tol=1e-6)
    if v1 is not None:
        assert math.isclose(rg.v1(DCG2).score(ranking, LABELS), v1, abs_tol=1e-6)


def test_means_over_all_orders() -> None:
    orders = list(itertools.permutations(LABELS))
    v2 = np.mean([rg.v2(DCG2).score(order, LABELS) for order in orders])
    assert math.isclose(v2, -0.061512, abs_tol=1e-6)
    assert math.isclose(rg.v2(DCG2).expected(LABELS), v2, abs_tol=1e-12)
    for measure in (DCG2, AP, ERR @ 3, RR, P @ 3):
        mean = np.mean([rg.linear(measure).score(order, LABELS) for order in orders])
        assert abs(mean) < 1e-12


def test_a_perfect_ranking_gets_the_most_that_v1_gives() -> None:
    for judged in ([1, 0], [3, 1, 0, 0, 0], [1] * 5 + [0]):
        best, chance = nDCG.ideal(judged), nDCG.expected(judged)
        score = rg.v1(nDCG).score(sorted(judged, reverse=True), judged)
        assert math.isclose(score, best / (best + chance))


@pytest.mark.parametrize("form", [rg.v1, rg.v2, rg.linear, rg.z, rg.minmax])
@pytest.mark.parametrize(
    ("ranking", "judged"),
    [
        ([0, 0], [0, 0]),  # nothing relevant
        ([-1, -1], [0]),
        ([], []),
        ([], [1, 0]),
        ([1, 1], [1, 1]),  # all relevant: chance is the best
        ([1], [1]),
        ([-1, 1, -2], [1, 0, 0]),
    ],
)
def test_the_edges_have_defined_scores(form: type, ranking: list[int], judged: list[int]) -> None:
    for measure in (nDCG @ 10, AP @ 30, P @ 5, RBP, ERR @ 20):
        assert math.isfinite(form(measure).score(ranking, judged))


def test_where_chance_is_the_best() -> None:
    assert rg.v1(nDCG @ 5).score([1, 1], [1, 1]) == 0.5
    assert rg.v2(nDCG @ 5).score([1, 1], [1, 1]) == 0.0


def test_what_does_not_suit_is_refused() -> None:
    with pytest.raises(
        rg.MeasureError, match=r"NumRet does not suit v1, expected one such as in v1"
    ):
        rg.v1(rg.parse("NumRet"))


def test_they_are_measures_like_any_other() -> None:
    scores = rg.evaluate(
        {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 0}},
        {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 1.0}},
        ["nDCG@10", "v2(nDCG@10)", "linear(AP)", "z(P@1)", "minmax(AP)", "v1(RR)"],
    )
    assert np.isfinite(scores.values).all()
    assert scores.mean()["run"]["v2(nDCG@10)"] == scores.values[0, :, 1].mean()
    assert scores.signatures()["v2(nDCG@10)"].startswith(
        "v2(nDCG(gain=linear,discount=log2)@10,null=judged,empty=zero,reb=exact,iub=achievable)|"
    )

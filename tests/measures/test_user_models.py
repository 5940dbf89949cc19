"""User models, compatibility, nDCG against chance and prefix means, beyond what the laws say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracles
import rankgauge as rg
from oracles.overlap import most_similar
from profiles import examples
from rankgauge.measures.user_models import AdaptiveUserModel, StaticUserModel
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

PROVEN = [
    "INSQ",
    "INST(T=0.5)",
    "INST",
    "INST(T=4)@15",
    "NERR8@15",
    "NERR9@15",
    "NERR10(p=0.99)",
    "NERR10@15",
    "NERR11",
    "NERR11(T=0.1)@15",
]
long_lists = st.lists(st.integers(0, 3), min_size=2, max_size=30)


@pytest.mark.parametrize("text", PROVEN)
@given(ranking=long_lists, place=st.integers(0, 29))
def test_a_better_document_and_a_good_flip_never_hurt_however_long_the_list(
    text: str, ranking: list[int], place: int
) -> None:
    measure = rg.parse(text)
    assert isinstance(measure, rg.Measure)
    assert measure.monotone
    assert measure.swap_monotone
    raised = list(ranking)
    raised[place % len(ranking)] = 3
    better = [flipped for _, flipped, kind in oracles.flips(ranking) if kind == "good"]
    score = measure.score(ranking, max_grade=3)
    for other in [raised, *better]:
        assert measure.score(other, max_grade=3) >= score - 1e-12


def test_a_good_flip_can_hurt_the_bejeweled_player() -> None:
    bpm = rg.measures.BPM @ 10
    assert bpm.score([0, 0, 0, 0, 2, 3]) == pytest.approx((2 / 3 + 1) / 6)
    assert bpm.score([0, 0, 0, 0, 3, 2]) == pytest.approx(1 / 5)
    assert bpm.answers()["ideal"] == "exact"
    assert bpm.answers()["worst"] == "enumerated"
    assert bpm.ideal([0] * 40 + [2, 2, 1]) == pytest.approx(1.0)


def test_users_gain_at_one_rate_from_equal_documents_and_nothing_from_none() -> None:
    for text in (*PROVEN, "BPM@15"):
        measure = rg.parse(text)
        assert isinstance(measure, rg.Measure)
        half = [1] * 15 + [1] * 100_000 * (measure.cutoff is None)
        assert measure.score(half, max_grade=2) == pytest.approx(0.5, abs=1e-4)
        assert measure.score([], [2, 1]) == 0.0


def test_a_user_model_is_declared_by_weights_or_by_the_chances_of_reading_on() -> None:
    class Weights(StaticUserModel):
        name = "Weights"

        def _weights(self, count):  # type: ignore[no-untyped-def]
            return 0.5 ** np.arange(count)

        def _expected_further_reads(self, read, total):  # type: ignore[no-untyped-def]
            return np.full(len(read), 2.0)

    class Chances(AdaptiveUserModel):
        name = "Chances"

        def _continuation_chances(self, ranks, gains, totals):  # type: ignore[no-untyped-def]
            return np.full(len(ranks), 0.5)

        def _expected_further_reads(self, read, total):  # type: ignore[no-untyped-def]
            return np.full(len(read), 2.0)

    ranking = [1, 0, 1, 1, 0]
    expected = rg.RBP(p=0.5).score(ranking)
    assert Weights().score(ranking) == pytest.approx(expected)
    assert Chances().score(ranking) == pytest.approx(expected)


def test_gains_outside_0_to_1_are_refused() -> None:
    for text in ("NERR8(gain=linear)@5", "INST(gain={1:2})", "INSQ(gain=exp2)"):
        with pytest.raises(rg.MeasureError, match="scaled, fraction or a map"):
            rg.parse(text)
    with pytest.raises(rg.MeasureError, match="name every grade"):
        (rg.measures.INST(gain={1: 0.5})).score([2, 1])
    assert str(rg.parse("INST(2,scaled)")) == "INST(T=2,gain=scaled)"


@given(
    ranked=st.permutations(["a1", "a2", "a3", "b1", "b2", "x", "y"]),
    retrieved=st.integers(0, 7),
    p=st.sampled_from([0.5, 0.9, 0.99]),
    cutoff=st.none() | st.integers(1, 9),
)
@examples(50)
def test_no_ideal_ranking_is_more_similar_than_the_one_that_compatibility_takes(
    ranked: list[str], retrieved: int, p: float, cutoff: int | None
) -> None:
    grades = {"a": 2, "b": 1, "x": 0, "y": -1}
    shown = ranked[:retrieved]
    measure = rg.measures.compat(p=p, normalize="no")
    score = (measure if cutoff is None else measure @ cutoff).score(
        [grades[name[0]] for name in shown], [2, 2, 2, 1, 1, 0]
    )
    best = most_similar(shown[:cutoff], [["a1", "a2", "a3"], ["b1", "b2"]], p, cutoff)
    assert score == pytest.approx(best, abs=1e-12)


def test_compatibility_of_what_is_only_relevant_is_one() -> None:
    assert rg.measures.compat.score([3, 2, 2, 1]) == 1.0
    assert rg.measures.compat.score([3, 2, 2, 1, 0, -1]) == 1.0
    assert rg.measures.compat.score([0, 0], [0, 0]) == 0.0
    assert (rg.measures.compat @ 10**9).score([0, 1, 1]) == pytest.approx(
        rg.measures.compat.score([0, 1, 1])
    )
    assert rg.parse("Compat(p=0.8,normalize=False)") == rg.measures.compat(p=0.8, normalize="no")


def test_ndcg_against_chance() -> None:
    labels = [2, 1, 0, 0]
    measure = rg.measures.RNDCG(gain="exp2") @ 2
    chance = 0.4491769  # of nDCG@2 with these labels
    ndcg = (rg.nDCG(gain="exp2") @ 2).score([1, 0, 2, 0])
    assert measure.score([1, 0, 2, 0]) == pytest.approx((ndcg - chance) / (1 - chance), abs=1e-6)
    assert measure.ideal(labels) == 1.0
    assert measure.expected(labels) == 0.0
    assert rg.measures.RNDCG.score([], [1, 1]) == 0.0, (
        "every order is the best: there is nothing to tell"
    )


def test_ndcg_against_chance_with_ties_is_the_mean_over_their_orders() -> None:
    judged = JudgedLabels.of([2, 1, 0, 0])
    tied = TiedRankings.of([[0, 2], [1, 0]], judged=judged)
    orders = [[0, 2, 1, 0], [0, 2, 0, 1], [2, 0, 1, 0], [2, 0, 0, 1]]
    mean = (rg.measures.RNDCG @ 3).score_each(Rankings.of(*orders, judged=judged)).mean()
    assert (rg.measures.RNDCG @ 3).tied_each(tied).values == pytest.approx([mean])


def test_a_prefix_mean_is_the_mean_over_the_cutoffs() -> None:
    measure = rg.measures.prefix_mean(rg.P @ 3)
    assert measure.score([1, 0, 1]) == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    assert measure.expected([1, 0, 0, 0]) == pytest.approx(0.25)
    assert measure.bounding == "exact"
    assert measure.bounds([-1, 1, -1]) == pytest.approx((1 / 3 * (0 + 1 / 2 + 1 / 3), 1.0))
    assert str(measure) == "prefix_mean(P@3)"
    for text in ("prefix_mean(nDCG)", "prefix_mean(Rprec)", "prefix_mean(lower(nDCG@5))"):
        wrapped = rg.parse(text)
        assert isinstance(wrapped, rg.Measure)
        with pytest.raises(rg.MeasureError, match=r"prefix_mean\(nDCG@10\)"):
            wrapped.score([1])


@pytest.mark.parametrize("text", ["nDCG@4", "AP@4", "P@4", "ERR@3", "BPM@4", "compat@3"])
@given(ranking=st.lists(st.integers(-1, 2), max_size=5))
@examples(20)
def test_the_bounds_of_a_prefix_mean_are_the_extremes_over_all_labels(
    text: str, ranking: list[int]
) -> None:
    measure = rg.parse(f"prefix_mean({text})")
    assert isinstance(measure, rg.Measure)
    judged = [label for label in ranking if label >= 0] + [1]
    low, high = oracles.bounds(
        lambda labels, known: measure.score(labels, known, max_grade=2), ranking, judged, range(3)
    )
    assert measure.bounds(ranking, judged, max_grade=2) == pytest.approx((low, high))

"""Every method and normalization is what its definition says, and obeys the laws that it should."""

from __future__ import annotations

import random
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import rankgauge as rg
from oracles import fusion as oracle
from profiles import examples
from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.pool import pool_of
from rankgauge.fusion.runs import Fusion

DOCUMENTS = [f"d{number}" for number in range(9)]
SCORES = st.one_of(st.sampled_from([1.0, 2.0, 3.0]), st.floats(0.001, 1000), st.floats(-1000, 1000))
WEIGHTS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 2.5])
PARAMETERS = {"k": 7.0, "gamma": 0.5, "sigma": 0.2, "persistence": 0.7}
BY_SCORE = [name for name, method in METHODS.items() if method.takes == "scores"]
BY_RANK = [name for name, method in METHODS.items() if method.takes == "ranks"]
UNWEIGHTED = [name for name, method in METHODS.items() if not method.weighted]
WEIGHTED = [name for name, method in METHODS.items() if method.weighted]


@st.composite
def several_lists(draw: st.DrawFn, least: int = 2, most: int = 4) -> list[dict[str, float]]:
    """Lists for one query, some of them empty, one at least with a document."""
    lists = draw(
        st.lists(
            st.dictionaries(st.sampled_from(DOCUMENTS), SCORES, max_size=9),
            min_size=least,
            max_size=most,
        ).filter(any)
    )
    return lists


def parameters_of(method: str) -> dict[str, float]:
    declared = METHODS[method].parameters
    return {each.name: PARAMETERS.get(each.name, each.default) for each in declared}


def scores_of(lists: list[dict[str, float]], method: str, **settings: Any) -> dict[str, float]:
    """The fused scores of one query, just as the method makes them."""
    union = pool_of([rg.Run.from_dict({"q": each}) for each in lists])
    scores = Fusion.of(method, **settings).scores(union)
    return dict(zip(union.documents.texts(), scores.tolist(), strict=True))


def close(a: dict[str, float], b: dict[str, float]) -> None:
    assert a.keys() == b.keys()
    np.testing.assert_allclose([a[d] for d in a], [b[d] for d in a], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("absent", ["minimum", "zero", "skip"])
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@examples(15)
@given(lists=several_lists(), data=st.data())
def test_methods_of_scores_are_what_their_definitions_say(
    normalize: str, absent: str, lists: list[dict[str, float]], data: st.DataObject
) -> None:
    if normalize == "borda":
        absent = "minimum"  # borda leaves no document without a score
    if normalize == "max":
        lists = [{d: abs(x) for d, x in each.items()} for each in lists]
    for method in BY_SCORE:
        settings: dict[str, Any] = parameters_of(method)
        if METHODS[method].weighted:
            weights = st.lists(WEIGHTS, min_size=len(lists), max_size=len(lists)).filter(any)
            settings["weights"] = data.draw(weights)
        settings |= {"normalize": normalize, "absent": absent}
        close(scores_of(lists, method, **settings), oracle.fused(lists, method, **settings))


@pytest.mark.parametrize("method", BY_RANK)
@examples(60)
@given(lists=several_lists(), data=st.data())
def test_methods_of_ranks_are_what_their_definitions_say(
    method: str, lists: list[dict[str, float]], data: st.DataObject
) -> None:
    settings: dict[str, Any] = parameters_of(method)
    if METHODS[method].weighted:
        weights = st.lists(WEIGHTS, min_size=len(lists), max_size=len(lists)).filter(any)
        settings["weights"] = data.draw(weights)
    expected = oracle.fused(lists, method, normalize="none", absent="skip", **settings)
    close(scores_of(lists, method, **settings), expected)


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(scores=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-50, 50), min_size=1))
def test_a_run_fused_with_itself_keeps_its_order(method: str, scores: dict[str, float]) -> None:
    run = rg.Run.from_dict({"q": scores})
    fused = rg.fuse([run, run], method, **parameters_of(method))
    expected = oracle.ranks(scores)
    assert fused.documents.texts() == sorted(scores, key=expected.__getitem__)


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(lists=several_lists(), seed=st.integers(0, 1000))
def test_the_order_of_the_runs_does_not_matter(
    method: str, lists: list[dict[str, float]], seed: int
) -> None:
    """Not even in the last digit: a document with the same scores in other lists is a tie."""
    shuffled = random.Random(seed).sample(lists, len(lists))
    assert scores_of(lists, method) == scores_of(shuffled, method)


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(lists=several_lists(), seed=st.integers(0, 1000))
def test_the_order_of_the_documents_does_not_matter(
    method: str, lists: list[dict[str, float]], seed: int
) -> None:
    generator = random.Random(seed)
    shuffled = [dict(generator.sample(list(each.items()), len(each))) for each in lists]
    assert scores_of(lists, method) == scores_of(shuffled, method)


@pytest.mark.parametrize("method", WEIGHTED)
@examples(20)
@given(lists=several_lists(), data=st.data())
def test_twice_the_weights_give_the_same_order(
    method: str, lists: list[dict[str, float]], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(WEIGHTS, min_size=len(lists), max_size=len(lists)).filter(any))
    twice = [2 * weight for weight in weights]
    once_scores = scores_of(lists, method, weights=weights)
    twice_scores = scores_of(lists, method, weights=twice)
    factor = 1 if method == "condorcet" else 2
    assert {d: factor * s for d, s in once_scores.items()} == twice_scores


@pytest.mark.parametrize("method", WEIGHTED)
@examples(20)
@given(lists=several_lists())
def test_no_weights_are_equal_weights(method: str, lists: list[dict[str, float]]) -> None:
    assert scores_of(lists, method) == scores_of(lists, method, weights=[1] * len(lists))


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(
    first=several_lists(most=2),
    second=several_lists(most=2),
)
def test_topics_do_not_influence_each_other(
    method: str, first: list[dict[str, float]], second: list[dict[str, float]]
) -> None:
    both = [rg.Run.from_dict({"a": a, "b": b}) for a, b in zip(first, second, strict=True)]
    union = pool_of(both)
    scores = Fusion.of(method).scores(union)
    for number, lists in zip(map("ab".index, union.queries.texts()), (first, second), strict=True):
        rows = slice(*union.bounds[number : number + 2])
        alone = scores_of(lists, method)
        documents = union.documents.texts()[rows]
        np.testing.assert_allclose(
            scores[rows], [alone[d] for d in documents], rtol=1e-12, atol=1e-15
        )


def test_a_condorcet_winner_comes_first_and_a_cycle_is_a_tie() -> None:
    lists = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    cycle = [{d: -float(i) for i, d in enumerate(each)} for each in lists]
    assert scores_of(cycle, "condorcet") == {"a": 2.0, "b": 2.0, "c": 2.0}
    winner = [{**each, "w": -0.5} for each in cycle]  # second in each list, above most in two
    assert max(scores_of(winner, "condorcet").items(), key=lambda item: item[1])[0] == "w"


def test_equal_votes_are_a_tie_whatever_rounding_does() -> None:
    """0.1 + 0.2 is more than 0.3 for a computer."""
    lists = [{"a": 2.0, "b": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}]
    assert scores_of(lists, "condorcet", weights=[0.1, 0.2, 0.3]) == {"a": 1.5, "b": 1.5}


def test_votes_may_have_any_weight() -> None:
    lists = [{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}]
    for huge in (1e308, 1e-308):
        assert scores_of(lists, "condorcet", weights=[huge, 1.5 * huge]) == {"a": 1.0, "b": 2.0}


def test_many_documents_are_compared_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(5)
    lists = [{f"d{i}": generator.random() for i in range(40)} for _ in range(3)]
    whole = scores_of(lists, "condorcet")
    monkeypatch.setattr("rankgauge.fusion.methods.BLOCK", 7 * 40)
    assert scores_of(lists, "condorcet") == whole


def test_too_many_documents_for_condorcet_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.fusion.methods.MOST_COMPARED", 3)
    with pytest.raises(rg.RankgaugeError, match="one query has 4 documents, expected at most 3"):
        scores_of([dict.fromkeys("abcd", 1.0), {"a": 1.0}], "condorcet")


@pytest.mark.parametrize("normalize", ["min-max", "sum", "z"])
def test_tiny_and_huge_differences_count_as_much_as_any(normalize: str) -> None:
    """ranx divides by 1e-9 at least, which makes nothing of scores such as small probabilities."""
    plain = scores_of([{"a": 1.0, "b": 2.0, "c": 4.0}, {"a": 1.0}], "sum", normalize=normalize)
    for unit in (1e-200, 1e-30, 1e200):
        lists = [{"a": unit, "b": 2 * unit, "c": 4 * unit}, {"a": unit}]
        close(scores_of(lists, "sum", normalize=normalize), plain)


def test_a_list_without_a_positive_score_is_refused_for_max() -> None:
    with pytest.raises(
        rg.RankgaugeError, match=r"run \w+ has no score above 0 .*; use normalize='min-max'"
    ):
        scores_of([{"a": -1.0, "b": -2.0}, {"a": 1.0}], "sum", normalize="max")
    zeros = scores_of([{"a": 0.0, "b": 0.0}, {"a": 1.0}], "sum", normalize="max", absent="zero")
    assert zeros == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize("normalize", ["min-max", "max", "sum", "z", "none"])
@pytest.mark.parametrize("score", [float("inf"), float("-inf")])
def test_infinite_scores_are_refused_where_scores_count(normalize: str, score: float) -> None:
    lists = [{"a": score, "b": 1.0, "c": 2.0}, {"a": 1.0}]
    message = rf"the score {score} of document 'a' in run \w+, query 'q', .*; use normalize='rank'"
    with pytest.raises(rg.RankgaugeError, match=message):
        scores_of(lists, "sum", normalize=normalize)
    assert scores_of(lists, "rrf").keys() == {"a", "b", "c"}
    assert scores_of(lists, "sum", normalize="rank").keys() == {"a", "b", "c"}


def test_a_run_without_a_topic_takes_no_part_in_it() -> None:
    lists = [{"a": 3.0, "b": 1.0}, {}]
    for absent in ("minimum", "skip"):
        assert scores_of(lists, "min", absent=absent) == {"a": 1.0, "b": 0.0}

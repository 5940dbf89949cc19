"""UE normalization: the vectors of the mathematics, and the edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import AP, DCG, ERR, RBP, RR, P, nDCG
from rankgauge.core.notes import note_texts
from rankgauge.measures import SP as SumPrecision
from rankgauge.rankings.lists import Rankings

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
    assert math.isclose(rg.measures.v2(DCG2).score(ranking, LABELS), v2, abs_tol=1e-6)
    if v1 is not None:
        assert math.isclose(rg.measures.v1(DCG2).score(ranking, LABELS), v1, abs_tol=1e-6)


def test_means_over_all_orders() -> None:
    orders = list(itertools.permutations(LABELS))
    v2 = np.mean([rg.measures.v2(DCG2).score(order, LABELS) for order in orders])
    assert math.isclose(v2, -0.061512, abs_tol=1e-6)
    assert math.isclose(rg.measures.v2(DCG2).expected(LABELS), v2, abs_tol=1e-12)
    for measure in (DCG2, AP, ERR @ 3, RR, P @ 3):
        mean = np.mean([rg.measures.linear(measure).score(order, LABELS) for order in orders])
        assert abs(mean) < 1e-12


def test_a_perfect_ranking_gets_the_most_that_v1_gives() -> None:
    for judged in ([1, 0], [3, 1, 0, 0, 0], [1] * 5 + [0]):
        best, chance = nDCG.ideal(judged), nDCG.expected(judged)
        score = rg.measures.v1(nDCG).score(sorted(judged, reverse=True), judged)
        assert math.isclose(score, best / (best + chance))


@pytest.mark.parametrize(
    "form", [rg.measures.v1, rg.measures.v2, rg.measures.linear, rg.measures.z, rg.measures.minmax]
)
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
    assert rg.measures.v1(nDCG @ 5).score([1, 1], [1, 1]) == 0.5
    assert rg.measures.v2(nDCG @ 5).score([1, 1], [1, 1]) == 0.0


def test_what_does_not_suit_is_refused() -> None:
    with pytest.raises(
        rg.MeasureError, match=r"NumRet cannot stand inside v1\(\), expected one such as in v1"
    ):
        rg.measures.v1(rg.parse("NumRet"))


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


# Which documents are in random order


QRELS = {
    "q1": {"a": 2, "b": 1, "c": 0, "x": -1, "y": -1},
    "q2": {"a": 1, "b": 0, "c": 0},
}
RUN = {
    "q1": {"c": 9.0, "u": 8.0, "a": 7.0, "x": 6.0},
    "q2": {"v": 9.0, "a": 8.0},
}
SHUFFLED = {
    "judged": {"q1": [2, 1, 0], "q2": [1, 0, 0]},
    "run": {"q1": [0, -1, 2, -2], "q2": [-1, 1]},
    "pool": {"q1": [2, 1, 0, -2, -2], "q2": [1, 0, 0]},
    "collection": {"q1": [2, 1, 0, -2, -2, -1], "q2": [1, 0, 0, -1, -1, -1]},
}


@pytest.mark.parametrize("null", list(SHUFFLED))
@pytest.mark.parametrize(
    "inside", ["nDCG@2", "AP", "ERR@3", "bpref", "infAP", "SearchLength", "P@2"]
)
def test_the_documents_of_each_null(null: str, inside: str) -> None:
    size = ",documents=6" if null == "collection" else ""
    forms = ("expected", "ideal", "worst", "linear", "z", "minmax", "v2")
    texts = [f"{form}({inside},null={null}{size})" for form in forms]
    found = rg.evaluate(QRELS, RUN, [inside, *texts], max_grade=2).values[0]
    measure = rg.parse(inside)
    for (query, shuffled), values in zip(SHUFFLED[null].items(), found, strict=True):
        judged = [grade for grade in QRELS[query].values() if grade >= 0]
        orders = set(itertools.permutations(shuffled))
        scores = np.array([measure.score(order, judged, max_grade=2) for order in orders])
        best, worst = scores.max(), scores.min()
        if measure.direction == "lower":
            best, worst = worst, best
        score, *rest = values
        chance, spread = scores.mean(), scores.std()
        below = measure.range[0] if measure.direction == "higher" else worst
        reference = (
            best if abs(score - chance) < 1e-12 or (score > chance) == (best > chance) else below
        )
        v2 = (score - chance) / abs(reference - chance) if reference != chance else 0.0
        v2 *= 1 if measure.direction == "higher" else -1
        expected = [
            chance,
            best,
            worst,
            (score - chance) / (best - chance) if best != chance else 0,
            (score - chance) / spread * np.sign(best - chance) if spread > 1e-12 else 0,
            (score - worst) / (best - worst) if best != worst else 0,
            max(-1.0, min(1.0, v2)),
        ]
        np.testing.assert_allclose(rest, expected, rtol=1e-9, atol=1e-12)


def test_a_collection_has_a_size() -> None:
    for text, message in [
        ("v2(nDCG@10,null=collection)", "needs its size, as in v2"),
        ("v2(nDCG@10,documents=9)", "documents=9 needs null=collection"),
        ("expected(AP,null=run,documents=9)", "documents=9 needs null=collection"),
    ]:
        with pytest.raises(rg.MeasureError, match=message):
            rg.parse(text)
    with pytest.raises(rg.MeasureError, match="one query has 5 judged or pooled"):
        rg.evaluate(QRELS, RUN, "v2(AP,null=collection,documents=4)")


def test_chance_vanishes_in_a_large_collection() -> None:
    sizes = [7, 100, 10_000, 10**9]
    texts = [f"expected(nDCG@10,null=collection,documents={size})" for size in sizes]
    means = list(rg.evaluate(QRELS, RUN, texts).mean()["run"].values())
    assert means == sorted(means, reverse=True)
    assert means[-1] < 1e-7


def test_the_own_list_is_known_only_without_a_tail() -> None:
    with pytest.raises(rg.Unsupported, match="null=run cannot be used with tail='tied'"):
        rg.evaluate(QRELS, RUN, "v2(AP,null=run)", ties="expected", tail="tied", documents=9)


# The forms of the paper


def test_independent_ranks() -> None:
    """k·p² for sums of precisions; for DCG the discounts of all k ranks, also beyond the end."""
    five = [1, 1, 0, 0, 0]
    assert math.isclose(value("expected(SP@3,reb=independent)", five), 12 / 25)
    assert math.isclose(value("expected(AP@3,reb=independent)", five), 6 / 25)
    assert math.isclose(value("expected(AP(norm=k)@3,reb=independent)", five), 4 / 25)
    assert math.isclose(value("expected(P@3,reb=independent)", five), 2 / 5)
    gains = [2, 1, 0]  # exp2: 3, 1, 0
    assert math.isclose(
        value("expected(DCG(gain=exp2)@5,reb=independent)", gains), 3.931, abs_tol=1e-3
    )
    assert math.isclose(value("expected(DCG(gain=exp2)@5)", gains), 2.841, abs_tol=1e-3)
    assert value("expected(AP@3,reb=independent)", [0, 0]) == 0


@pytest.mark.parametrize(
    ("n", "relevant", "ratio"), [(120, 3, 18.6), (40, 10, 2.33), (120, 100, 1.09)]
)
def test_how_far_the_independent_form_is_off(n: int, relevant: int, ratio: float) -> None:
    judged = [1] * relevant + [0] * (n - relevant)
    exact = value("expected(SP@5)", judged)
    assert math.isclose(
        exact / value("expected(SP@5,reb=independent)", judged), ratio, rel_tol=5e-3
    )


def test_the_independent_form_turns_signs() -> None:
    judged = [1] * 58 + [0] * 62
    rankings = [list(top) for top in itertools.product([0, 1], repeat=5)]
    tops = [top for top in rankings if abs((SumPrecision @ 5).score(top, judged) / 5 - 0.3) < 0.01]
    assert tops
    for top in tops:
        assert rg.measures.v2(SumPrecision @ 5, reb="independent").score(top, judged) > 0
        assert rg.measures.v2(SumPrecision @ 5).score(top, judged) < 0


def test_the_best_of_k_relevant_documents() -> None:
    judged = [1, 1, 0, 0, 0]
    assert value("ideal(SP@3)", judged) == 2
    assert value("ideal(SP@3,iub=k)", judged) == 3
    assert value("ideal(AP@3,iub=k)", judged) == 1.5
    assert value("ideal(AP(norm=k)@3,iub=k)", judged) == 1
    assert value("ideal(SP@3,iub=k)", [0, 0]) == 0
    score = (SumPrecision @ 3).score([1, 0, 1], judged)
    chance = (SumPrecision @ 3).expected(judged)
    v2 = rg.measures.v2(SumPrecision @ 3, iub="k").score([1, 0, 1], judged)
    assert math.isclose(v2, (score - chance) / (3 - chance))
    v1 = rg.measures.v1(SumPrecision @ 3, iub="k").score([1, 0, 1], judged)
    assert math.isclose(v1, score / 3 * score / (score + chance))


@pytest.mark.parametrize("form", ["v1", "v2"])
def test_only_with_null_run_two_rankings_of_a_query_can_change_places(form: str) -> None:
    """P@2 puts (1, 1) above (0, 1, 0), and (0, 1, 1) above (0, 0)."""
    judged = [1, 1, 0, 0, 0]
    rankings = [
        ranking
        for length in (2, 3, 4)
        for ranking in itertools.product((0, 1), repeat=length)
        if ranking.count(1) <= 2 and ranking.count(0) <= 3
    ]
    for null in ("judged", "pool", "run"):
        measure = rg.parse(f"{form}(P@2,null={null})")
        scores = {r: ((rg.P @ 2).score(r, judged), measure.score(r, judged)) for r in rankings}
        swapped = {
            (one, other)
            for one, other in itertools.permutations(rankings, 2)
            if scores[one][0] > scores[other][0] and scores[one][1] < scores[other][1] - 1e-9
        }
        assert bool(swapped) == (null == "run")
        if swapped:
            example = ((1, 1), (0, 1, 0)) if form == "v1" else ((0, 1, 1), (0, 0))
            assert example in swapped


def test_chance_above_the_best_is_refused() -> None:
    for form in (rg.measures.v1, rg.measures.v2, rg.measures.linear):
        with pytest.raises(
            rg.MeasureError, match="random ranking is above the best score on 1 query"
        ):
            form(DCG(gain="exp2") @ 5, reb="independent").score([2, 0], [2, 1, 0])


@pytest.mark.parametrize("text", ["v2(ERR@5,reb=independent)", "expected(RR,reb=independent)"])
def test_forms_that_a_measure_does_not_have(text: str) -> None:
    with pytest.raises(rg.MeasureError, match="reb=independent does not work for"):
        rg.parse(text)
    with pytest.raises(rg.MeasureError, match="iub=k does not work for"):
        rg.parse("ideal(nDCG@5,iub=k)")
    with pytest.raises(rg.MeasureError, match="reb=independent does not work for"):
        rg.parse("linear(RNDCG@5,reb=independent)")  # a score of its own, made of one that has it


def value(text: str, judged: list[int]) -> float:
    return rg.parse(text).score(judged, judged)


# Laws of the forms


@given(data=st.data())
@examples(200)
def test_forms_keep_the_order_of_scores_and_their_ranges(data: st.DataObject) -> None:
    inside = data.draw(st.sampled_from([nDCG @ 3, AP @ 3, ERR @ 3, RR, RBP, P @ 2, rg.bpref]))
    judged = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=8))
    first, second = data.draw(st.permutations(judged)), data.draw(st.permutations(judged))
    best, chance = inside.ideal(judged), inside.expected(judged)
    a, b = inside.score(first, judged), inside.score(second, judged)
    for form in (
        rg.measures.v1,
        rg.measures.v2,
        rg.measures.linear,
        rg.measures.z,
        rg.measures.minmax,
    ):
        measure = form(inside)
        x, y = measure.score(first, judged), measure.score(second, judged)
        assert (x - y) * (a - b) >= -1e-12
        if form is rg.measures.v1 and best > 0:
            assert -1e-12 <= x <= best / (best + chance) + 1e-12
        if form is rg.measures.v2:
            assert -1 <= x <= 1


# The edges, each of them counted


def test_the_edges_are_counted() -> None:
    qrels = {
        "nothing": {"a": 0, "b": 0},
        "all": {"a": 1, "b": 1, "c": 1},
        "one": {"a": 1},
        "short": {"a": 1, "b": 0},
        "empty": {"a": 1, "b": 0, "c": 0},
        "unjudged": {"a": 1, "b": 0, "c": 0},
    }
    run = {query: {"a": 1.0} for query in qrels if query != "empty"}
    run["unjudged"] = {"z": 2.0, "a": 1.0}
    scores = rg.evaluate(qrels, run, ["v1(nDCG@3)", "v2(nDCG@3)", "linear(P@1)", "minmax(AP)"])
    assert np.isfinite(scores.values).all()
    assert note_texts(scores.notes) == (
        "v1(nDCG@3), v2(nDCG@3), linear(P@1), minmax(AP): no relevant documents (scored 0) on 1 query; "
        "all documents relevant on 2 queries; a single document on 1 query",
        "v1(nDCG@3), v2(nDCG@3): fewer than 3 documents on 3 queries",
        "v1(nDCG@3), v2(nDCG@3), linear(P@1): chance as good as the best score on 2 queries",
        "minmax(AP): the worst order as good as the best on 2 queries",
        "run: unjudged documents among the first ten on 1 query",
    )
    row = scores.table().rows[0]
    assert scores.table().columns[3:5] == ("missing", "no relevant")
    assert row[3:5] == (1, 1)


def test_chance_0_is_counted() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    scores = rg.evaluate(qrels, {"q": {"a": 1.0}}, "v2(DCG(gain={1:0})@1)")
    assert scores.values[0, 0, 0] == 0
    assert (
        "chance as good as the best score on 1 query; chance 0 on 1 query"
        in note_texts(scores.notes)[0]
    )


def test_lists_of_the_run_are_counted_by_run() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    runs = {
        "found": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
        "lost": {"q1": {"b": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
    }
    notes = rg.evaluate(qrels, runs, "v2(P@1,null=run)").notes
    assert note_texts(notes) == (
        "lost: v2(P@1,null=run): a single document on 1 query; chance as good as the best score on 1 "
        "query; chance 0 on 1 query",
    )


@pytest.mark.parametrize(
    ("empty", "value", "mean"),
    [("zero", 0.0, 0.5), ("skip", math.nan, 1.0), ("nan", math.nan, math.nan)],
)
def test_queries_with_nothing_relevant(empty: str, value: float, mean: float) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    for form in ("v2", "linear", "minmax"):
        scores = rg.evaluate(qrels, run, f"{form}(P@1,empty={empty})")
        np.testing.assert_equal(scores.values[0, 1, 0], value)
        np.testing.assert_equal(list(scores.mean()["run"].values()), [mean])
        assert any("no relevant documents" in note for note in note_texts(scores.notes))
        undefined = [note for note in scores.table(notes=False).notes if "undefined" in note]
        assert (
            undefined
            == {
                "zero": [],
                "skip": [f"{form}(P@1,empty=skip): 1 query undefined, excluded from the mean"],
                "nan": [f"{form}(P@1,empty=nan): 1 query undefined"],
            }[empty]
        )


def test_an_estimated_chance_is_noted_with_its_error() -> None:
    class Cubed(rg.Measure):
        name = "Cubed"
        range = (0.0, 1.0)
        swap_monotone = True

        def _score(self, lists: Rankings) -> np.ndarray:
            return (RBP.score_each(lists)) ** 3

    judged = [1] * 6 + [0] * 8
    chance = Cubed().expected(judged)
    assert chance.samples == 1000
    assert chance.error > 0
    qrels = {"q": {f"d{i}": grade for i, grade in enumerate(judged)}}
    run = {"q": {f"d{i}": 20.0 - i for i in range(14)}}
    scores = rg.evaluate(qrels, run, [rg.measures.v2(Cubed()), rg.measures.expected(Cubed())])
    assert scores.values[0, 0, 1] == chance
    (note,) = note_texts(scores.notes)
    text = (
        "v2(Cubed), expected(Cubed): chance estimated from 1,000 random orders on 1 query, standard"
    )
    assert note.startswith(text)


def test_runs_share_what_chance_gives_and_score_the_same_alone() -> None:
    runs = {
        f"r{i}": {"q1": {d: (i * 7 + j * 3) % 5 for j, d in enumerate("abcdux")}} for i in range(4)
    }
    texts = ["v1(nDCG@2)", "v2(AP)", "z(ERR@3)", "linear(RR,null=run)", "minmax(P@2)"]
    together = rg.evaluate(QRELS, runs, texts).values
    for i, (name, run) in enumerate(runs.items()):
        np.testing.assert_array_equal(rg.evaluate(QRELS, {name: run}, texts).values[0], together[i])


# What is known of few lists only


def test_bounds_under_other_nulls_are_of_the_bounds_themselves() -> None:
    qrels, run = {"q1": {"a": 2, "b": 0, "c": 1}}, {"q1": {"a": 1.0, "x": 2.0}}
    texts = ["upper(P@3)", "ideal(upper(P@3),null=run)", "minmax(upper(nDCG@3),null=run)"]
    score, best, share = rg.evaluate(qrels, run, texts).values[0, 0]
    assert score == best == pytest.approx(2 / 3)
    assert share <= 1
    assert value("ideal(lower(AP@3))", [0, 1, 0, 1, 1]) == value("ideal(AP@3)", [0, 1, 0, 1, 1])


def test_with_subtopics_the_best_is_known_of_the_judged_documents_alone() -> None:
    judged = rg.Judgments.from_subtopics({"1": {"d0": {"3": 1}, "d1": {"1": 1, "2": 1}}})
    run = {"1": {"d0": 2.0, "d1": 1.0}}
    assert rg.evaluate(judged, run, "v2(alpha_nDCG@3)").values[0, 0, 0] <= 1
    with pytest.raises(
        rg.Unsupported, match="with subtopics it can be computed for the judged documents"
    ):
        rg.evaluate(judged, run, "v2(alpha_nDCG@3,null=run)")


def test_nothing_relevant_to_the_measure_inside_a_wrapper() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    for inside in ("lower(P(rel=2)@2)", "prefix_mean(P(rel=2)@2)", "SearchLength(rel=2)"):
        scores = rg.evaluate(qrels, run, [f"v2({inside})", f"v2({inside},empty=skip)"])
        np.testing.assert_equal(scores.values[0, 0], [0.0, math.nan])
        low, *others = note_texts(scores.notes)
        assert "no document has a grade of 2 or more" in low
        assert any("no relevant documents" in note for note in others)


def test_rare_documents_of_a_large_collection_are_drawn_as_often_as_they_come() -> None:
    """INST has no formula; RBP has one, and with gains alike they are near to each other."""
    documents = 10**8
    qrels = {"q": {f"d{i}": int(i < 20) for i in range(60)}}
    run = {"q": {f"d{i}": -float(i) for i in range(60)}}
    text = f"null=collection,documents={documents}"
    found = rg.evaluate(qrels, run, [f"expected(INST@5,{text})", f"z(INST@5,{text})"])
    chance, z = found.values[0, 0]
    alone = rg.parse("INST@5")
    exact = np.mean(
        [alone.score([-1] * i + [1] + [-1] * (4 - i), [1] * 20 + [0] * 40) for i in range(5)]
    )
    assert chance == pytest.approx(exact * 5 * 20 / documents, rel=0.1)
    assert z > 100
    assert "chance estimated" in note_texts(found.notes)[0]

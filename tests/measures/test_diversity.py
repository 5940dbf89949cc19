"""Diversity measures with several subtopics: the definition, the greedy ideal, what is answered."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from oracles.diversity import NOTHING, SUBTOPIC_SCORES, by_log, greedy, weighed
from profiles import examples
from rankgauge.core.arrays import Floats
from rankgauge.measures.answers import QueryReferenceScores
from rankgauge.rankings.alignment import align, judged_labels
from rankgauge.rankings.lists import Rankings

Grades = dict[str, dict[str, int]]
"""Subtopic, document, grade."""

DOCUMENTS = [f"d{i}" for i in range(8)]
INDEPENDENT = ["alpha_DCG", "ERR_IA", "NRBP", "strec", "P_IA"]
BY_IDEAL = ["alpha_nDCG", "nERR_IA", "nNRBP"]

each_measure = pytest.mark.parametrize("name", sorted(SUBTOPIC_SCORES))


def judgments(most: int = 6, least: int = 0) -> st.SearchStrategy[Grades]:
    """Grades of up to `most` documents for up to four subtopics, some of which nothing serves."""
    row = st.dictionaries(st.sampled_from(DOCUMENTS[:most]), st.integers(-1, 2), min_size=1)
    return st.dictionaries(st.sampled_from(["1", "2", "3", "10"]), row, min_size=max(1, least))


@st.composite
def versions(draw: st.DrawFn, name: str) -> rg.Measure:
    measure = rg.parse(name)
    assert isinstance(measure, rg.Measure)
    parameters = {"rel": draw(st.integers(1, 2))}
    if "alpha" in measure.parameters():
        parameters["alpha"] = draw(st.sampled_from([0, 0.25, 0.5, 0.75, 1]))
    if "beta" in measure.parameters():
        parameters["beta"] = draw(st.sampled_from([0.25, 0.5, 0.9]))
    measure = measure(**parameters)
    needed = measure.cutoffs == "required"
    return measure @ draw(st.integers(1, 7)) if needed or draw(st.booleans()) else measure


def served(grades: Grades, rel: int) -> dict[str, frozenset[str]]:
    """The subtopics that each judged document serves."""
    documents = sorted({d for row in grades.values() for d in row})
    return {
        d: frozenset(s for s, row in grades.items() if row.get(d, -1) >= rel) for d in documents
    }


def by_oracle(measure: rg.Measure, ranking: list[str], grades: Grades) -> float:
    parameters = {k: getattr(measure, k) for k in measure.parameters() if k != "rel"}
    known = served(grades, measure.rel)  # type: ignore[attr-defined]
    ranked = [known.get(d, NOTHING) for d in ranking]
    return SUBTOPIC_SCORES[measure.name](ranked, known, measure.cutoff, **parameters)


def aligned(grades: Grades, ranking: list[str]) -> Rankings:
    run = rg.Run.from_dict({"q": {d: float(-i) for i, d in enumerate(ranking)}})
    return align(rg.Judgments.from_subtopics({"q": grades}), run).rankings


def judged_documents(grades: Grades) -> list[str]:
    """The documents that some grade from 0 on is of."""
    return sorted({d for row in grades.values() for d, grade in row.items() if grade >= 0})


@each_measure
@given(data=st.data())
@examples(75)
def test_score_is_the_definition(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    grades = data.draw(judgments())
    ranking = data.draw(st.lists(st.sampled_from(DOCUMENTS), unique=True))
    (score,) = measure.score_each(aligned(grades, ranking))
    assert score == pytest.approx(by_oracle(measure, ranking, grades), abs=1e-12)


@each_measure
@given(data=st.data())
@examples(40)
def test_expected_is_the_mean_over_all_orders(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    grades = data.draw(judgments(most=5))
    orders = list(itertools.permutations(judged_documents(grades)))
    mean = math.fsum(by_oracle(measure, list(order), grades) for order in orders) / len(orders)
    (expected,) = measure.expected_each(aligned(grades, []).judged)
    assert expected == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("name", INDEPENDENT)
@given(data=st.data())
@examples(60)
def test_bounds_are_over_all_subtopics_that_unjudged_documents_may_serve(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    grades = data.draw(judgments(most=4))
    ranking = data.draw(st.lists(st.sampled_from(DOCUMENTS[:6]), unique=True))
    known = served(grades, measure.rel)  # type: ignore[attr-defined]
    counted = sorted(frozenset[str]().union(*known.values()))
    judged = set(judged_documents(grades))
    unjudged = [d for d in ranking if d not in judged]
    assume(counted and len(counted) * len(unjudged) <= 6)
    assume(max(g for row in grades.values() for g in row.values()) >= measure.rel)  # type: ignore[attr-defined]
    sets = [
        dict.fromkeys(chosen, 2)
        for chosen in itertools.chain.from_iterable(
            itertools.combinations(counted, size) for size in range(len(counted) + 1)
        )
    ]
    scores = []
    for choice in itertools.product(sets, repeat=len(unjudged)):
        relabeled = {s: dict(row) for s, row in grades.items()}
        for document, chosen in zip(unjudged, choice, strict=True):
            for subtopic in chosen:
                relabeled[subtopic][document] = chosen[subtopic]
        scores.append(by_oracle(measure, ranking, relabeled))
    (low,), (high,) = measure.bounds_each(aligned(grades, ranking))
    assert (low, high) == pytest.approx((min(scores), max(scores)), abs=1e-12)


@pytest.mark.parametrize("name", BY_IDEAL)
@given(data=st.data())
@examples(60)
def test_the_greedy_ideal_scores_one(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    grades = data.draw(judgments())
    lists = aligned(grades, [])
    nothing = lists.judged.relevant(measure.rel) == 0  # type: ignore[attr-defined]
    assert measure.ideal_each(lists.judged).tolist() == (~nothing).astype(float).tolist()


@given(data=st.data())
@examples(60)
def test_the_greedy_ideal_is_near_the_best_order(data: st.DataObject) -> None:
    grades = data.draw(judgments(most=5))
    alpha, k = data.draw(st.sampled_from([0.25, 0.5, 1])), data.draw(st.integers(1, 5))
    known = served(grades, 1)
    orders = itertools.permutations(known.values())
    best = max(weighed(order[:k], alpha, by_log) for order in orders)
    (ideal,) = (rg.measures.alpha_DCG(alpha=alpha) @ k).ideal_each(aligned(grades, []).judged)
    if best > 0:
        count = len(frozenset[str]().union(*known.values()))
        perfect = weighed([frozenset("s")] * k, alpha, by_log) * count
        reached = ideal * perfect
        assert reached == pytest.approx(weighed(greedy(known, alpha)[:k], alpha, by_log))
        assert (1 - 1 / math.e) * best - 1e-12 <= reached <= best + 1e-12


def test_the_greedy_ideal_can_be_beaten() -> None:
    """Two documents cover all six subtopics, but the widest one comes first and spoils it."""
    rows = {"wide": "1245", "left": "123", "right": "456"}
    grades: Grades = {s: {d: 1 for d, r in rows.items() if s in r} for s in "123456"}
    (recall,) = (rg.measures.strec @ 2).ideal_each(aligned(grades, []).judged)
    (score,) = (rg.alpha_nDCG(alpha=1) @ 2).score_each(aligned(grades, ["left", "right"]))
    assert recall == pytest.approx(5 / 6)
    assert score == pytest.approx((3 + 3 * by_log(2)) / (4 + by_log(2)))
    assert score > 1


def test_of_equally_good_documents_the_last_id_comes_first_in_the_ideal() -> None:
    """All three serve two subtopics; with c first, the second can add only one."""
    known = {"a": "12", "b": "34", "c": "13"}
    grades: Grades = {s: {d: 1 for d, row in known.items() if s in row} for s in "1234"}
    (ideal,) = (rg.measures.strec @ 2).ideal_each(aligned(grades, []).judged)
    assert ideal == pytest.approx(3 / 4)


@each_measure
def test_without_subtopics_there_is_one(name: str) -> None:
    uncut = ("NRBP", "nNRBP", "strec", "AP_IA")
    measure = rg.parse(name) if name in uncut else rg.parse(f"{name}@3")
    plain = {"q": {"a": 2, "b": 0, "c": 1}}
    one = rg.Judgments.from_subtopics({"q": {"any": plain["q"]}})
    run = {"q": {"b": 3.0, "a": 2.0, "x": 1.0}}
    assert rg.evaluate(plain, run, measure).mean() == rg.evaluate(one, run, measure).mean()


def test_condensed_lists_keep_their_subtopics() -> None:
    judged = rg.Judgments.from_subtopics({"q": {"1": {"a": 1}, "2": {"b": 1}}})
    run = {"q": {"x": 3.0, "a": 2.0, "y": 1.5, "b": 1.0}}
    scores = rg.evaluate(judged, run, "strec@2", unjudged="condensed")
    assert scores.mean() == {"run": {"strec@2": 1.0}}


def test_other_measures_see_the_highest_grade_of_a_document() -> None:
    judged = rg.Judgments.from_subtopics({"q": {"1": {"a": 0, "b": -2}, "2": {"a": 3}}})
    labels = judged_labels(judged)
    assert labels.labels.tolist() == [3]
    assert labels.pooled.tolist() == [1]
    assert rg.evaluate(judged, {"q": {"a": 1.0}}, "nDCG").mean() == {"run": {"nDCG": 1.0}}


@given(data=st.data())
@examples(60)
def test_the_best_order_and_the_spread_of_intent_aware_precision(data: st.DataObject) -> None:
    measure = data.draw(versions("P_IA"))
    grades = data.draw(judgments(most=5))
    orders = list(itertools.permutations(judged_documents(grades)))
    scores = [by_oracle(measure, list(order), grades) for order in orders]
    judged = aligned(grades, []).judged
    assert measure.ideal_each(judged)[0] == pytest.approx(max(scores), abs=1e-12)
    assert measure.variance_each(judged)[0] == pytest.approx(np.var(scores), abs=1e-12)


@pytest.mark.parametrize("text", ["P_IA@3", "AP_IA", "AP_IA@2"])
def test_ties_are_averaged_with_subtopics(text: str) -> None:
    grades: Grades = {"1": {"a": 1, "b": 0}, "2": {"b": 2, "a": 1, "c": 1}}
    measure = rg.parse(text)
    run = {"q": {"x": 2.0, "a": 1.0, "b": 1.0, "c": 1.0}}
    found = rg.evaluate(rg.Judgments.from_subtopics({"q": grades}), run, text, ties="expected")
    orders = itertools.permutations("abc")
    scores = [by_oracle(measure, ["x", *order], grades) for order in orders]  # type: ignore[arg-type]
    assert found.mean()["run"][text] == pytest.approx(np.mean(scores), abs=1e-12)


def test_what_is_not_known_with_subtopics_is_refused() -> None:
    lists = aligned({"1": {"a": 1}, "2": {"b": 1}}, ["x", "a"])
    for ask in (
        rg.measures.AP_IA.ideal_each,
        rg.measures.AP_IA.worst_each,
        (rg.measures.P_IA @ 5).worst_each,
    ):
        with pytest.raises(rg.Unsupported, match="worst"):
            ask(lists.judged)
    with pytest.raises(rg.Unsupported, match="bounds"):
        rg.measures.AP_IA.bounds_each(lists)
    with pytest.raises(rg.Unsupported, match="worst"):
        (rg.measures.ERR_IA @ 5).worst_each(lists.judged)
    with pytest.raises(rg.Unsupported, match="bounds"):
        (rg.alpha_nDCG @ 5).bounds_each(lists)
    with pytest.raises(rg.MeasureError, match="needs a run"):
        (rg.alpha_nDCG @ 5).score_each(Rankings.of([1, 0], judged=lists.judged))


class Covering(rg.measures.Binary):
    """A measure of one's own that declares nothing, but that it asks for subtopics."""

    name = "Covering"
    examples = ("Covering",)
    by_subtopic = True

    def _score(self, lists: Rankings) -> Floats:
        return (rg.measures.alpha_DCG(alpha=0.75, rel=self.rel) @ (self.cutoff or 9)).score_each(
            lists
        )


@given(data=st.data())
@examples(60)
def test_every_order_of_a_measure_of_ones_own_keeps_its_subtopics(data: st.DataObject) -> None:
    grades = data.draw(judgments(most=5))
    depth = data.draw(st.sampled_from([None, 1, 2, 3]))
    measure = Covering() if depth is None else Covering() @ depth
    lists = aligned(grades, data.draw(st.permutations(judged_documents(grades))))
    oracle = rg.measures.alpha_DCG(alpha=0.75) @ (depth or 9)
    scores = [
        by_oracle(oracle, list(order), grades)
        for order in itertools.permutations(judged_documents(grades))
    ]
    assert measure.ideal_each(lists.judged) == pytest.approx([max(scores)], abs=1e-12)
    assert measure.worst_each(lists.judged) == pytest.approx([min(scores)], abs=1e-12)
    (score,) = measure.score_each(lists)
    (share,) = rg.measures.minmax(measure).score_each(lists)
    if lists.judged.relevant(1)[0] and max(scores) > min(scores) + 1e-9:
        span = max(scores) - min(scores)
        assert share == pytest.approx((score - min(scores)) / span, abs=1e-9)


def test_the_best_order_may_hold_pooled_documents_too() -> None:
    grades: Grades = {"1": {"a": 1, "p": -1}, "2": {"b": 1}}
    judged = aligned(grades, []).judged
    about = QueryReferenceScores(judged, "pool")
    a, b, order = frozenset("1"), frozenset("2"), rg.measures.alpha_DCG(alpha=0.75) @ 9
    known = {"a": a, "b": b}
    scores = [
        SUBTOPIC_SCORES["alpha_DCG"](list(ranked), known, 9, alpha=0.75)
        for ranked in itertools.permutations([a, b, NOTHING])
    ]
    assert about.ideal(Covering()) == pytest.approx([max(scores)])
    assert about.worst(Covering()) == pytest.approx([min(scores)])
    assert order.score_each(aligned(grades, ["a", "b", "p"])) == pytest.approx([max(scores)])


@pytest.mark.parametrize(
    "measure", [Covering(), rg.measures.minmax(Covering()), rg.measures.lower(Covering())]
)
def test_nobody_knows_which_subtopics_an_unjudged_document_serves(measure: rg.Measure) -> None:
    lists = aligned({"1": {"a": 1}, "2": {"b": 1}}, ["x", "a"])
    with pytest.raises(rg.Unsupported, match="which subtopics an unjudged document serves"):
        measure.bounds_each(lists)
    (low,), (high,) = rg.AP.bounds_each(lists)  # a measure that does not ask for them
    assert (low, high) == (0.25, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("alpha_nDCG@20", rg.alpha_nDCG @ 20),
        ("alpha_nDCG(alpha=0.9,rel=2)@5", rg.alpha_nDCG(alpha=0.9, rel=2) @ 5),
        ("alpha_DCG@20", rg.measures.alpha_DCG @ 20),
        ("ERR_IA@20", rg.measures.ERR_IA @ 20),
        ("nERR_IA@20", rg.measures.nERR_IA @ 20),
        ("NRBP(alpha=0.9,beta=0.8)", rg.measures.NRBP(alpha=0.9, beta=0.8)),
        ("nNRBP", rg.measures.nNRBP),
        ("StRecall@10", rg.measures.strec @ 10),
    ],
)
def test_spellings_of_ir_measures_are_understood(theirs: str, ours: rg.Measure) -> None:
    assert rg.parse(theirs) == ours


@each_measure
@given(data=st.data())
@examples(40)
def test_some_queries_know_what_they_knew_among_all(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    grades = {f"q{i}": data.draw(judgments()) for i in range(data.draw(st.integers(1, 4)))}
    chosen = data.draw(st.lists(st.sampled_from(sorted(grades)), unique=True))
    places = np.array([list(grades).index(query) for query in chosen], dtype=np.int64)
    whole = rg.Judgments.from_subtopics(grades)
    expected = measure.expected_each(judged_labels(whole))
    part = judged_labels(whole).take(places)
    np.testing.assert_array_equal(measure.expected_each(part), expected[places])
    rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True)
    ranked = {query: data.draw(rankings) for query in chosen}
    run = {q: {d: float(-i) for i, d in enumerate(docs)} for q, docs in ranked.items()}
    scores = measure.score_each(align(whole, rg.Run.from_dict(run)).rankings)
    for query, score in zip(chosen, scores, strict=True):
        known = by_oracle(measure, ranked[query], grades[query])
        assert score == pytest.approx(known, abs=1e-12)

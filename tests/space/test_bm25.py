"""BM25: its scores, and all flips over b and k1 against fractions and against a fine grid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from docs_scripts import load
from oracles.roots import numerator, sign_changes
from profiles import examples
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import inner
from rankgauge.rankings.lists import Rankings
from rankgauge.space.bm25 import BM25, TermStatistics
from rankgauge.space.lines import mean_of
from rankgauge.space.nonlinear.term_statistics import tokens


def idf_of(kind: str, count: int, frequency: int) -> float:
    odds = (count - frequency + 0.5) / (frequency + 0.5)
    return math.log1p(odds) if kind == "lucene" else math.log(odds)


def plain_score(counts, length, weights, mean, b, k1):
    """BM25 straight from its formula, with whatever numbers come in."""
    norm = 1 - b + b * length / mean if mean else 1
    return sum(
        weight * tf * (k1 + 1) / (tf + k1 * norm)
        for tf, weight in zip(counts, weights, strict=True)
        if tf
    )


@st.composite
def collections(draw, most=5):
    """Small counts: ties, equal documents and documents of the mean length are frequent."""
    terms, size = draw(st.integers(1, 3)), draw(st.integers(0, most))
    row = st.lists(st.integers(0, 3), min_size=terms, max_size=terms)
    counts = draw(st.lists(row, min_size=size, max_size=size))
    lengths = [sum(own) + draw(st.integers(0, 12)) for own in counts]
    documents = draw(st.integers(6, 12))
    frequency = draw(st.lists(st.integers(0, documents), min_size=terms, max_size=terms))
    means = st.sampled_from([Fraction(length) for length in lengths if length] or [Fraction(3)])
    mean = draw(means | st.fractions(4, 12, max_denominator=7))
    least = Fraction(max(lengths, default=0), documents)
    return counts, lengths, frequency, documents, max(mean, least)


def statistics_of(case) -> TermStatistics:
    counts, lengths, frequency, documents, mean = case
    return TermStatistics.of_counts(
        [counts], [lengths], [frequency], documents=documents, mean_length=mean
    )


def expected_flips(case, model: BM25, parameter: str, low: float, high: float):
    """All sign changes of all pairs, without rounding: (upper, lower, position)."""
    counts, lengths, frequency, documents, mean = case
    weights = [Fraction(idf_of(model.idf, documents, df)) for df in frequency]
    b, k1 = Fraction(model.b), Fraction(model.k1)

    def terms(row):
        ratio = Fraction(lengths[row]) / mean if mean else Fraction(1)
        for tf, weight in zip(counts[row], weights, strict=True):
            if tf and parameter == "b":
                yield weight * tf, tf + k1, k1 * (ratio - 1)
            elif tf:
                yield weight * tf, Fraction(tf), 1 - b + b * ratio

    flips = []
    for one in range(len(counts)):
        for other in range(one + 1, len(counts)):
            apart = [*terms(one), *((-c, p, q) for c, p, q in terms(other))]
            changes, _ = sign_changes(numerator(apart), Fraction(low), Fraction(high))
            for root, before in changes:
                pair = (one, other) if before > 0 else (other, one)
                flips.append((*pair, float(root)))
    return sorted(flips)


MODELS = st.builds(
    BM25,
    k1=st.sampled_from([0.0, 0.5, 1.2, 2.0]),
    b=st.sampled_from([0.0, 0.3, 0.75, 1.0]),
    idf=st.sampled_from(["lucene", "robertson"]),
)


@pytest.mark.parametrize(
    ("parameter", "interval"),
    [("b", (0.0, 1.0)), ("b", (0.2, 0.7)), ("k1", (0.0, 3.0)), ("k1", (0.7, 40.0))],
)
@examples(100)
@given(case=collections(), model=MODELS)
def test_all_flips_are_found_for_certain(parameter, interval, case, model):
    flips = model.flips(statistics_of(case), parameter, interval)
    assert flips.certified
    rows = zip(flips.upper.tolist(), flips.lower.tolist(), flips.position.tolist(), strict=True)
    found, expected = sorted(rows), expected_flips(case, model, parameter, *interval)
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    assert np.allclose([each[2] for each in found], [each[2] for each in expected], atol=1e-9)
    ways = flips.ways
    decided = sum(ways[name] for name in list(ways)[1:6])
    assert ways["pairs"] == decided == math.comb(len(case[0]), 2)


@pytest.mark.parametrize("parameter", ["b", "k1"])
@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "ERR", "gm(AP)"])
@examples(20)
@given(case=collections(), model=MODELS, data=st.data())
def test_predicted_is_the_order_of_the_exact_scores(parameter, measure, case, model, data):
    counts, lengths, frequency, documents, mean = case
    size = len(counts)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    judgments = {"1": {str(row + 1): label for row, label in enumerate(labels)}}
    over = model.curve(statistics_of(case), judgments, measure, parameter=parameter)
    weights = [Fraction(idf_of(model.idf, documents, df)) for df in frequency]
    edges = over.edges.tolist()
    for low, high, value in zip(edges, edges[1:], over.values, strict=False):
        if high - low < 1e-6:
            continue
        place = Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(5, 13)
        b, k1 = Fraction(model.b), Fraction(model.k1)
        b, k1 = (place, k1) if parameter == "b" else (b, place)
        scores = [
            plain_score(counts[row], lengths[row], weights, mean, b, k1) for row in range(size)
        ]
        order = sorted(range(size), key=lambda row: -scores[row])
        exact = Rankings.of([labels[row] for row in order])
        mean_score = mean_of(inner(over.measure).score_each(exact), over.measure)
        assert value == pytest.approx(mean_score, abs=1e-12, nan_ok=True)


@examples(60)
@given(collections(), MODELS)
def test_scores_are_those_of_the_formula_in_every_way(case, model):
    counts, lengths, frequency, documents, mean = case
    statistics = statistics_of(case)
    weights = [idf_of(model.idf, documents, df) for df in frequency]
    rows = np.arange(len(counts))
    for parameter, values in (("b", [0.0, 0.4, 1.0]), ("k1", [0.0, 1.2, 9.0])):
        scorer = model.over(parameter, statistics)
        each = scorer.each(np.array(values))
        for place, value in enumerate(values):
            b, k1 = (value, model.k1) if parameter == "b" else (model.b, value)
            plain = [
                plain_score(own, length, weights, float(mean), b, k1)
                for own, length in zip(counts, lengths, strict=True)
            ]
            assert np.allclose(each[place], plain, rtol=1e-12)
            assert np.array_equal(scorer.at(np.full(len(rows), value), rows), each[place])
    assert np.allclose(
        model.scores(statistics), model.over("k1", statistics).each(np.array([model.k1]))[0]
    )


def test_documents_on_one_side_of_the_mean_can_flip_twice_if_an_idf_is_negative():
    statistics = TermStatistics.of_counts(
        [[[1, 1], [3, 2]]], [[21, 13]], [[9, 1]], documents=11, mean_length=4
    )
    flips = BM25(idf="robertson").flips(statistics, "b")
    assert np.allclose(flips.position, [0.0982839935, 0.7538153353], atol=1e-9)
    assert flips.upper.tolist() == flips.lower.tolist()[::-1]
    assert len(BM25(idf="lucene").flips(statistics, "b")) <= 1
    case = ([[1, 1], [3, 2]], [21, 13], [9, 1], 11, Fraction(4))
    exact = expected_flips(case, BM25(idf="robertson"), "b", 0, 1)
    assert sorted(each[2] for each in exact) == pytest.approx(flips.position.tolist())


def test_documents_on_either_side_of_the_mean_can_flip_twice_if_an_idf_is_negative():
    case = ([[1, 0, 0], [2, 3, 1]], [12, 33], [24, 28, 7], 40, Fraction(15))
    model = BM25(idf="robertson")
    flips = model.flips(statistics_of(case), "b")
    assert flips.position.tolist() == pytest.approx([0.39745101, 0.8173837], abs=1e-7)
    exact = sorted(expected_flips(case, model, "b", 0, 1), key=lambda flip: flip[2])
    assert [flip[2] for flip in exact] == pytest.approx(flips.position.tolist(), abs=1e-12)
    assert [flip[0] for flip in exact] == flips.upper.tolist()


@examples(100)
@given(collections())
def test_on_either_side_of_the_mean_there_is_one_flip_at_most(case):
    _, lengths, _, _, mean = case
    flips = BM25().flips(statistics_of(case), "b")
    pairs = [
        tuple(sorted(pair)) for pair in zip(flips.upper.tolist(), flips.lower.tolist(), strict=True)
    ]
    for one, other in set(pairs):
        if (lengths[one] - mean) * (lengths[other] - mean) <= 0:
            assert pairs.count((one, other)) == 1


def test_at_b_0_length_does_not_matter_and_a_tie_there_is_no_flip():
    counts = [[[1], [1], [1]]]
    statistics = TermStatistics.of_counts(
        counts, [[30, 20, 10]], [[3]], documents=9, mean_length=20
    )
    flips = BM25().flips(statistics, "b")
    assert len(flips) == 0
    over = BM25().curve(statistics, {"1": {"1": 1, "2": 0, "3": 0}}, "RR")
    assert over.start == 1.0  # tied, in the order of ties
    assert over.values.tolist() == [pytest.approx(1 / 3)]  # the longest document comes last


def test_ties_are_ordered_by_docno_from_the_last_on():
    statistics = TermStatistics.of_texts({"q": "x"}, {"a": "x y", "c": "x z", "b": "x w"})
    assert statistics.docnos == ("c", "b", "a")
    flips = BM25().flips(statistics)
    assert (len(flips), flips.ways["equal scores everywhere"]) == (0, 3)


def test_words_and_counts_of_texts():
    assert tokens("It's 3-D, naïve") == ["it", "s", "3", "d", "na", "ve"]
    documents = {"d1": "Fox fox hen", "d2": "", "d3": "hen"}
    statistics = TermStatistics.of_texts({"q": "fox FOX hen owl", "r": "owl", "e": ""}, documents)
    assert statistics.docnos == ("d3", "d1")
    assert statistics.counts.tolist() == [[0, 1, 0], [2, 1, 0]]
    assert statistics.frequency[0].tolist() == [1, 2, 0]
    assert statistics.repeated[0].tolist() == [2, 1, 1]
    assert statistics.mean_length == Fraction(4, 3)
    assert statistics.offsets.tolist() == [0, 2, 2, 2]
    every = TermStatistics.of_texts({"r": "owl"}, documents, matching=False)
    assert every.docnos == ("d3", "d2", "d1")
    assert BM25().scores(every).tolist() == [0, 0, 0]
    over = BM25().curve(statistics, {"q": {"d1": 1, "d9": 2}}, "nDCG@10", parameter="k1")
    assert over.sweep.documents.labels.tolist() == [-1, 1]


def test_there_may_be_nothing_at_all():
    for documents in ({}, {"d": ""}, {"d": "", "e": ""}):
        statistics = TermStatistics.of_texts({"q": "x"}, documents, matching=False)
        assert len(BM25().flips(statistics)) == 0
        assert BM25().scores(statistics).tolist() == [0.0] * len(documents)
    nothing = TermStatistics.of_texts({}, {"d": "x"})
    assert len(BM25().flips(nothing, "k1")) == 0


def test_negative_idf_makes_a_document_with_the_term_worse():
    documents = {"a": "x", "b": "x", "c": "x", "d": "y"}
    statistics = TermStatistics.of_texts({"q": "x"}, documents, matching=False)
    scores = dict(zip(statistics.docnos, BM25(idf="robertson").scores(statistics), strict=True))
    assert scores["a"] < scores["d"] == 0 < BM25().scores(statistics).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [[[1, 2]]]}, r"shape \(1, 2\), expected \(1, 1\)"),
        ({"counts": [[[-1]]]}, "negative"),
        ({"counts": [[[0.5]]]}, "not whole"),
        ({"counts": [[[np.nan]]]}, "not whole"),
        ({"counts": [["x"]]}, "not an array of numbers"),
        ({"counts": [[[1]], [[1]]]}, "expected the same number"),
        ({"lengths": [[0]]}, "document 1 has 0 words, expected at least 1"),
        ({"lengths": [[10**12]]}, "not whole"),
        ({"frequency": [[9]]}, "9 documents contain a term, expected at most 5"),
        ({"mean_length": 0}, "expected a larger mean"),
        ({"mean_length": np.inf}, "mean_length"),
        ({"mean_length": -1}, "mean_length"),
        ({"documents": -1}, "documents"),
        ({"docnos": [["a", "b"]]}, "docnos"),
        ({"repeated": [[1, 1]]}, "repeated"),
        ({"queries": []}, "queries"),
    ],
)
def test_counts_that_cannot_be_are_refused(change, message):
    sound = {
        "counts": [[[1]]], "lengths": [[3]], "frequency": [[2]], "documents": 5, "mean_length": 3.5
    }  # fmt: skip
    assert TermStatistics.of_counts(**sound).documents == 5
    with pytest.raises(RankgaugeError, match=message):
        TermStatistics.of_counts(**{**sound, **change})


@pytest.mark.parametrize("wrong", [{"k1": -1}, {"b": 1.5}, {"b": np.nan}, {"idf": "plain"}])
def test_parameters_are_checked(wrong):
    with pytest.raises(RankgaugeError, match=next(iter(wrong))):
        BM25(**wrong)


@pytest.mark.parametrize(
    ("parameter", "interval"), [("b", (0, 2)), ("k1", (-1, 1)), ("b", (1, 0)), ("c", None)]
)
def test_intervals_are_those_of_the_parameter(parameter, interval):
    statistics = TermStatistics.of_texts({"q": "x"}, {"d": "x"})
    with pytest.raises(RankgaugeError, match=r"interval|parameter"):
        BM25().flips(statistics, parameter, interval)


@pytest.mark.parametrize("parameter", ["b", "k1"])
def test_a_fine_grid_sees_nothing_else_on_real_articles(parameter, real_data):
    real_data("summeval/summeval.json.gz")
    script = load("space_bm25")
    queries, documents, _ = script.articles(words=4)
    some = dict(list(queries.items())[::25])
    statistics = TermStatistics.of_texts(some, documents)
    check = script.grid_check(BM25(), statistics, parameter, points=100_001)
    assert check.pairs == check.flips.ways["pairs"] > 500
    assert len(check.flips) == check.confirmed > 20
    assert check.missing == 0
    assert 20 < check.seen - check.rounded <= len(check.flips)

"""Curves over one parameter of any scorer: all crossings, touching scores, and scorers that fail."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from figure_files import HOSTILE, saved
from laws.strategies import MEASURES, versions
from oracles.roots import sign_changes
from profiles import examples
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import curve, line
from rankgauge.space.nonlinear.crossings import inversions, locate_changes
from rankgauge.space.nonlinear.isolation import UNIT_ROUNDOFF, RationalScorer, Terms
from rankgauge.space.nonlinear.roots import Sweep
from rankgauge.space.nonlinear.scorers import FunctionScorer
from rankgauge.space.nonlinear.sturm import Sturm, crossing_roots, numerator, square_free

WHOLE = st.integers(-3, 3)


def polynomials(coefficients):
    """A scorer: document d scores Σ coefficients[d][i] · tⁱ."""
    table = np.array(coefficients, dtype=np.float64)

    def score(values):
        return (values[:, None, None] ** np.arange(table.shape[1]) * table).sum(axis=2)

    return score


@st.composite
def lists_of_polynomials(draw):
    """Lists of documents with labels, and whole coefficients of a cubic for each document."""
    labels = draw(st.lists(st.lists(st.integers(-1, 3), max_size=5), min_size=1, max_size=3))
    rankings = Rankings.of(
        *labels, judged=JudgedLabels.of([label for own in labels for label in own if label >= 0])
    )
    rows = len(rankings.labels)
    table = draw(st.lists(st.lists(WHOLE, min_size=4, max_size=4), min_size=rows, max_size=rows))
    return rankings, np.array(table, dtype=np.int64).reshape(rows, 4)


def expected_flips(rankings, table, low, high):
    """All sign changes of all differences, without rounding."""
    flips = []
    for number, (start, end) in enumerate(
        zip(rankings.offsets[:-1], rankings.offsets[1:], strict=True)
    ):
        for one in range(start, end):
            for other in range(one + 1, end):
                apart = [Fraction(int(c)) for c in table[one] - table[other]]
                while apart and not apart[-1]:
                    apart.pop()
                for root, before in sign_changes(apart, Fraction(low), Fraction(high))[0]:
                    pair = (one, other) if before > 0 else (other, one)
                    flips.append((number, float(root), *pair))
    return sorted(flips)


@examples(60)
@given(lists_of_polynomials(), st.sampled_from([101, 256]))
def test_all_crossings_of_polynomials_are_found(case, samples):
    rankings, table = case
    sweep = Sweep(
        rankings,
        FunctionScorer(polynomials(table), len(table), vectorized=True),
        -2.0,
        3.0,
        samples,
    )
    flips = sweep.crossings
    assert not flips.certified
    columns = (flips.lists, flips.position, flips.upper, flips.lower)
    found = sorted(zip(*(column.tolist() for column in columns), strict=True))
    expected = expected_flips(rankings, table, -2, 3)
    # Roots at the ends themselves are ties there, and no flips between the ends.
    inside = [each for each in found if -2 + 1e-9 < each[1] < 3 - 1e-9]
    by_pair = sorted(expected, key=lambda each: (each[0], each[2:], each[1]))
    inside = sorted(inside, key=lambda each: (each[0], each[2:], each[1]))
    assert [(each[0], *each[2:]) for each in inside] == [(each[0], *each[2:]) for each in by_pair]
    assert np.allclose([each[1] for each in inside], [each[1] for each in by_pair], atol=1e-4)


@pytest.mark.parametrize("name", sorted(MEASURES))
@examples(6)
@given(st.data())
def test_predicted_is_evaluated_anew_between_all_flips(name, data):
    measure = data.draw(versions(name))
    rankings, table = data.draw(lists_of_polynomials())
    sweep = Sweep(
        rankings, FunctionScorer(polynomials(table), len(table), vectorized=True), -2.0, 3.0, 151
    )
    try:
        over = sweep.curve(measure)
    except MeasureError:
        return
    edges = over.edges
    for low, high, value in zip(edges, edges[1:], over.values, strict=False):
        if high - low > 1e-6:
            middle = float(low + high) / 2
            assert value == pytest.approx(
                sweep.mean_at(middle, over.measure), abs=1e-12, nan_ok=True
            )
            assert over.at(middle) == pytest.approx(value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", ["nDCG@3", "gm(AP)", "v2(nDCG@2)", "RBP"])
@examples(20)
@given(data=st.data())
def test_a_straight_scorer_has_the_curve_of_the_line(measure, data):
    labels = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=6))
    scores = st.lists(st.integers(0, 9).map(float), min_size=len(labels), max_size=len(labels))
    ends = [np.array(data.draw(scores)) for _ in range(2)]
    rankings = Rankings.of(labels)
    straight = line(rankings, *ends, measure)
    over = curve(
        lambda t: ends[0] + (t - 2) / 4 * (ends[1] - ends[0]), (2, 6), rankings, measure, samples=50
    )
    assert np.allclose(over.unit.breaks, straight.breaks, atol=1e-9) or len(over.values) == 1
    assert over.value == pytest.approx(straight.value, nan_ok=True)
    assert over.start == pytest.approx(straight.start, nan_ok=True)
    assert over.end == pytest.approx(straight.end, nan_ok=True)


def test_two_flips_between_two_samples_are_found_where_the_samples_come_near():
    def score(t):
        return [(t - 0.5) ** 2, 1e-9]  # the documents change places at 0.5 ± 3.2e-5

    over = curve(score, (0, 1), Rankings.of([1, 0]), "RR", samples=38)
    assert np.allclose(over.breaks, [0.5 - 1e-9**0.5, 0.5 + 1e-9**0.5], rtol=1e-12)
    assert over.values.tolist() == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("samples", [2, 11, 38, 101, 1000])
@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("first", [0, 1])
def test_scores_that_touch_are_no_flip(samples, above, first):
    sign = 1 if above else -1

    def score(t):
        scores = [sign * (t - 0.5) ** 2, 0.0]
        return scores if first == 0 else scores[::-1]

    over = curve(
        score, (0, 1), Rankings.of([1, 0] if first == 0 else [0, 1]), "RR", samples=samples
    )
    assert len(over.flips) == 0
    assert len(over.breaks) == 0
    assert over.values.tolist() == [1.0 if above else 0.5]
    # At the point itself the documents are tied, and come in the order of ties.
    assert over.sweep.mean_at(0.5, over.measure) == (1.0 if first == 0 else 0.5)


class Touching(RationalScorer):
    """Two documents whose difference is −(2 t − 1)² / ((1 + t)(2 + t)(3 + t)): they touch at 1/2."""

    rows, parameter = 2, "t"

    def exact_terms(self, row, low, high):
        if row:
            return [(Fraction(25), Fraction(2 + Fraction(low)), Fraction(2 + Fraction(high)))]
        return [
            (-c, p + Fraction(low), p + Fraction(high))
            for c, p in ((Fraction(9, 2), 1), (Fraction(49, 2), 3))
        ] + [(Fraction(50), 2 + Fraction(low), 2 + Fraction(high))]

    def terms(self, low, high):
        rows = [self.exact_terms(row, low, high) for row in range(2)]
        flat = np.array([term for row in rows for term in row], dtype=np.float64)
        offsets = np.array([0, 3, 4])
        return Terms(
            flat[:, 0],
            flat[:, 1],
            flat[:, 2],
            flat[:, 2] - flat[:, 1],
            offsets,
            100 * UNIT_ROUNDOFF,
        )

    def kinds(self):
        return np.arange(2)

    def room(self, values):
        return np.full(2, 1e-13)

    def each(self, values):
        return (
            self.terms(0.0, 1.0)
            .bounds(np.tile([0, 1], len(values)), np.repeat(values, 2))
            .score.reshape(-1, 2)
        )


def test_scores_that_touch_are_no_flip_for_certain():
    for root in (Fraction(1, 2), Fraction(1, 3)):
        one, other = (
            sum(c / (e * (1 - root) + f * root) for c, e, f in Touching().exact_terms(row, 0, 1))
            for row in (0, 1)
        )
        assert (one == other) is (root == Fraction(1, 2))
    over = curve(Touching(), (0, 1), Rankings.of([1, 0]), "RR")
    assert over.certified
    assert len(over.flips) == 0
    assert over.flips.touching == 1
    assert over.flips.ways["decided by Sturm's theorem"] == 1
    assert over.values.tolist() == [0.5]
    assert "without swapping places" in repr(over)


@examples(200)
@given(st.lists(WHOLE, min_size=1, max_size=4), st.lists(WHOLE, min_size=1, max_size=4))
def test_sturm_finds_what_the_derivatives_find(one, other):
    product = np.polymul(one, other).tolist()[::-1]
    while product and not product[-1]:
        product.pop()
    whole = [int(number) for number in product]
    crossing, touching = crossing_roots(whole)
    exact = [Fraction(number) for number in whole]
    expected, touched = sign_changes(exact, Fraction(0), Fraction(1))
    assert [sign for _, sign in crossing] == [sign for _, sign in expected]
    assert np.allclose(
        [root for root, _ in crossing], [float(root) for root, _ in expected], atol=1e-15
    )
    assert touching == touched


def test_sturm_counts_roots_up_to_the_upper_end():
    sturm = Sturm([2, -3, 1])  # (t − 1)(t − 2)
    assert sturm.count(Fraction(0), Fraction(1)) == 1
    assert sturm.count(Fraction(1), Fraction(2)) == 1
    assert sturm.count(Fraction(0), Fraction(3)) == 2
    assert square_free([-1, 3, -3, 1]) == [-1, 1]
    assert (
        numerator(
            [(Fraction(1), Fraction(2), Fraction(3)), (Fraction(-1), Fraction(2), Fraction(3))]
        )
        == []
    )


@examples(100)
@given(st.lists(st.permutations(range(6)), min_size=1, max_size=4))
def test_inversions_are_the_pairs_in_another_order(orders):
    which, upper, lower = inversions(np.array(orders))
    expected = sorted(
        (number, one, other)
        for number, (first, second) in enumerate(itertools.pairwise(orders))
        for place, one in enumerate(first)
        for other in first[place + 1 :]
        if second.index(other) < second.index(one)
    )
    assert sorted(zip(which.tolist(), upper.tolist(), lower.tolist(), strict=True)) == expected


def test_a_jump_is_found_to_the_last_bit():
    def difference(values, active):
        return np.where(values < 1 / 3, 1.0, -1.0), values < 1 / 3

    low, high = np.array([0.0, 0.3, 1 / 3 - 1e-9]), np.array([1.0, 0.5, 1 / 3])
    position = locate_changes(difference, low, high)
    assert (np.abs(position - 1 / 3) <= np.spacing(1 / 3)).all()


def test_scores_that_are_tied_for_a_while_come_in_the_order_of_ties():
    def score(t):  # the first document is better up to 0.25 and worse from 0.75 on
        return [max(0.25 - t, 0.0) + min(0.75 - t, 0.0), 0.0]

    over = curve(score, (0, 1), Rankings.of([1, 0]), "RR")
    assert np.allclose(over.breaks, [0.75])
    other = curve(lambda t: score(t)[::-1], (0, 1), Rankings.of([0, 1]), "RR")
    assert np.allclose(other.breaks, [0.25])


def test_equal_documents_never_flip_and_lists_may_be_empty():
    lists = Rankings.of([1, 0], [], [2])
    over = curve(lambda t: [t, t, 0.0], (0, 1), lists, "nDCG@10")
    assert len(over.flips) == 0
    assert over.values.tolist() == [pytest.approx(2 / 3)]
    nothing = curve(lambda t: [], (0, 1), Rankings.of([]), "nDCG@10")
    assert len(nothing.values) == 1


def test_several_flips_in_one_point_are_one_step():
    lists = Rankings.of([2, 1, 0])
    over = curve(lambda t: [1 - 2 * t, 0.0, 2 * t - 1], (0, 1), lists, "nDCG")
    assert len(over.flips) == 3
    assert np.allclose(over.breaks, [0.5])
    assert over.best[0].low == 0
    assert over.values[0] == 1


def test_the_results_are_in_the_units_of_the_parameter():
    over = curve(lambda t: [t, 30.0], (10, 50), Rankings.of([1, 0]), "RR", parameter="weight")
    assert over.breaks.tolist() == [30.0]
    assert over.best == [(30.0, 50.0)]
    assert over.point == 40
    assert [over.at(10), over.at(29), over.at(31), over.at(50)] == [0.5, 0.5, 1, 1]
    assert over.table().columns == ("weight from", "to", "mean RR")
    assert over.flip_table().rows == ((30.0, 0, 1, 0, "good"),)
    assert over.to_polars().height == 2
    assert "not certified" in repr(over)
    assert over.within(0.5) == [(10.0, 50.0)]
    with pytest.raises(RankgaugeError, match="weight=51"):
        over.at(51)


def test_the_figure_shows_the_steps_and_is_always_the_same(tmp_path):
    pytest.importorskip("matplotlib")
    over = curve(lambda t: [t, 0.3], (0, 1), Rankings.of([1, 0]), "RR", parameter=HOSTILE)
    (axes,) = over.figure().axes
    values, edges, _ = axes.patches[0].get_data()
    assert (values.tolist(), edges.tolist()) == ([0.5, 1.0], [0, 0.3, 1])
    files = {saved(over.figure(), tmp_path / f"{number}.svg") for number in range(2)}
    assert len(files) == 1


def test_a_count_has_a_curve_but_no_best(tmp_path):
    over = curve(lambda t: [t, 0.5], (0, 1), Rankings.of([1, 0]), "num_rel_ret@1")
    assert over.values.tolist() == [0, 1]
    assert "best" not in repr(over)
    with pytest.raises(RankgaugeError, match="neither higher nor lower values are better"):
        over.best  # noqa: B018
    pytest.importorskip("matplotlib")
    assert saved(over.figure(), tmp_path / "count.svg")


LISTS = Rankings.of([1, 0])


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda t: [t, float("nan")], r"at t = 0 gives document 1 the score nan, expected finite"),
        (lambda t: [t, 1 / t], "at t = 0 fails: ZeroDivisionError"),
        (lambda t: [t], r"shape \(1,\), expected \(2,\): one score per document"),
        (lambda t: [[t, 0.0]], r"shape \(1, 2\), expected \(2,\)"),
        (lambda t: None, r"shape \(\)|fails"),
        (lambda: [1, 0], "fails: TypeError"),
        (3, "expected a function"),
    ],
)
def test_a_scorer_that_fails_is_named_with_the_place(score, message):
    with pytest.raises(RankgaugeError, match=message):
        curve(score, (0, 1), LISTS, "RR")


def test_a_vectorized_scorer_gives_a_row_a_value():
    with pytest.raises(RankgaugeError, match="one row per value, one column per document"):
        curve(lambda t: np.zeros((2, len(t))), (0, 1), LISTS, "RR", vectorized=True)


@pytest.mark.parametrize(
    "interval",
    [(1, 0), (0, 0), (0, np.nan), (0,), None, (0, np.inf), "ab", (-1e308, 1e308)],
)
def test_an_interval_has_two_ends(interval):
    with pytest.raises(RankgaugeError, match="expected two finite numbers"):
        curve(lambda t: [t, 0], interval, LISTS, "RR")


@pytest.mark.parametrize("samples", [1, 0, 2.5, "many"])
def test_there_are_two_samples_at_least(samples):
    with pytest.raises(RankgaugeError, match="samples"):
        curve(lambda t: [t, 0], (0, 1), LISTS, "RR", samples=samples)


def test_a_scorer_for_other_documents_is_refused():
    with pytest.raises(RankgaugeError, match="for 3 documents, but the lists contain 2"):
        curve(FunctionScorer(lambda t: [t] * 3, 3), (0, 1), LISTS, "RR")

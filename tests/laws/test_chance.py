"""What chance gives, exhaustively: the mean and the variance of every measure over all orders.

Every list of at most six labels from 0 to 3 is an order of one of 210 multisets of judged labels, and
all orders of a multiset are equally likely. So the scores of these 5461 lists say what `expected_each`
and `variance_each` have to answer, for all multisets in one call. They are the oracles', straight from
the definitions; only for wrappers, and for measures whose oracle adds up an endless tail, the lists
of more than four labels are scored by `score_each`, which other laws hold against the oracles.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracles
from laws.strategies import HIGHEST, MEASURES, WRAPPERS, versions
from laws.test_measures import by_oracle
from profiles import examples, thorough
from rankgauge import DCG, ERR, RR, P, Q, Success, bpref, parse
from rankgauge.core.arrays import Floats
from rankgauge.errors import MeasureError
from rankgauge.measures import SP, Measure, SearchLength, cascade, formulas, preference, q_measure
from rankgauge.measures.orders import SAMPLES
from rankgauge.measures.precision import first_relevant
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings
from rankgauge.testing import variants

LISTS = [order for size in range(7) for order in itertools.product(range(HIGHEST + 1), repeat=size)]
MULTISETS = sorted({tuple(sorted(order)) for order in LISTS})
QUERY = np.array([MULTISETS.index(tuple(sorted(order))) for order in LISTS])
JUDGED = JudgedLabels.of(*MULTISETS, max_grade=HIGHEST)
RANKINGS = dataclasses.replace(Rankings.of(*LISTS), query=QUERY, judged=JUDGED)

SHORT = 4
ENDLESS = ("INSQ", "INST", "NERR11")
INSIDE = (DCG @ 2, RR @ 3, SearchLength)

DIRECTED = sorted(name for name, measure in MEASURES.items() if measure.direction != "none")
KNOWN = [name for name in DIRECTED if MEASURES[name].knows("_variance")]


def scores(measure: Measure, longest: int) -> Floats:
    """Those of all lists, by the oracle up to so many labels. Longer lists are scored by the measure,
    which the oracle checks elsewhere."""
    found = measure.score_each(RANKINGS)
    for i, order in enumerate(LISTS):
        if len(order) <= longest:
            found[i] = by_oracle(measure, list(order), list(MULTISETS[QUERY[i]]))
    return found


def close(found: Floats, right: Floats) -> None:
    """All are equal to 1e-12, of their size where that is above 1."""
    scale = np.fmax(1.0, np.abs(right))
    np.testing.assert_allclose(found / scale, right / scale, rtol=0, atol=1e-12)


def check(measure: Measure, longest: int) -> None:
    found, count = scores(measure, longest), np.bincount(QUERY)
    mean = np.bincount(QUERY, weights=found) / count
    variance = np.bincount(QUERY, weights=(found - mean[QUERY]) ** 2) / count
    assert not measure.random_each(JUDGED).samples.any()
    close(measure.expected_each(JUDGED), mean)
    close(measure.variance_each(JUDGED), variance)


def test_all_lists_are_the_orders_of_all_multisets() -> None:
    assert (len(MULTISETS), len(LISTS)) == (210, 5461)
    orders = [len(list(oracles.distinct_permutations(labels))) for labels in MULTISETS]
    assert np.bincount(QUERY).tolist() == orders


@pytest.mark.parametrize("name", DIRECTED)
def test_mean_and_variance_over_all_orders(name: str) -> None:
    # By default every second one of them; those left out differ in the cut-off or in one parameter.
    for measure in itertools.islice(variants(MEASURES[name]), 0, None, 1 if thorough() else 2):
        endless = name in ENDLESS and measure.cutoff is None
        check(measure, len(LISTS[-1]) if thorough() and not endless else SHORT)


@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_mean_and_variance_of_wrappers_over_all_orders(name: str) -> None:
    wrapper = WRAPPERS[name]
    for inside in INSIDE:
        if wrapper.takes(inside) and (name != "prefix_mean" or inside.cutoff):
            check(wrapper(inside), SHORT)


@pytest.mark.parametrize("name", KNOWN)
@given(data=st.data())
@examples(30)
def test_variance_of_lists_that_are_not_what_is_judged(name: str, data: st.DataObject) -> None:
    """Unjudged documents among those that are ordered, some without a row, and judged ones lacking."""
    measure = data.draw(versions(name))
    listed = data.draw(st.lists(st.integers(-2, HIGHEST), max_size=5))
    lacking = data.draw(st.lists(st.integers(0, HIGHEST), max_size=3))
    unlisted = data.draw(st.integers(0, 6 - len(listed)))
    judged = [label for label in listed if label >= 0] + lacking
    known = JudgedLabels.of(judged, max_grade=HIGHEST)
    tied = TiedRankings.of([listed], judged=known, unlisted=unlisted)
    variance = oracles.variance_over_permutations(
        lambda ranking: by_oracle(measure, ranking, judged), listed + [-1] * unlisted
    )
    close(measure.tied_variance_each(tied), np.array([variance]))


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("relevant", [1, 2, 15, 16])
def test_variance_where_few_documents_are_relevant_or_few_are_not(name: str, relevant: int) -> None:
    size = 17
    few = min(relevant, size - relevant)
    orders = np.full((math.comb(size, few), size), int(few < relevant))
    chosen = np.array(list(itertools.combinations(range(size), few)))
    np.put_along_axis(orders, chosen, int(few == relevant), axis=1)
    one = JudgedLabels.of(orders[0])
    entry = MEASURES[name]
    for cutoff in [None] if entry.cutoffs == "none" else [None, 1, 6, 16, 20]:
        try:
            measure = (entry if cutoff is None else entry @ cutoff).complete()
        except MeasureError:
            continue
        found = measure.score_each(Rankings.of(*orders, judged=one))
        close(measure.variance_each(one), np.array([np.var(found)]))


@pytest.mark.parametrize("measure", [ERR, ERR @ 3, Q, Q @ 3, bpref @ 3, RR, RR @ 3])
def test_variances_are_the_same_in_small_blocks(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = measure.variance_each(JUDGED)
    for module in (cascade, formulas, preference, q_measure):
        monkeypatch.setattr(module, "MOST_CELLS", 20)
    np.testing.assert_allclose(measure.variance_each(JUDGED), whole, rtol=1e-13, atol=1e-16)


def test_the_variance_of_err_is_exact_at_usual_cutoffs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (ERR @ 20).answers()["variance"] == "exact"
    assert ERR.answers()["variance"] == (ERR @ 51).answers()["variance"] == "enumerated"
    whole = ERR.variance_each(JUDGED)
    monkeypatch.setattr(cascade, "MOST_JOINT_PLACES", 4)
    close(ERR.variance_each(JUDGED), whole)


@pytest.mark.parametrize("relevant", [1, 4, 55])
@pytest.mark.parametrize("cutoff", [1, 12, 50])
def test_variance_of_err_for_one_grade_from_the_chances_of_counts(
    relevant: int, cutoff: int
) -> None:
    """E[Q_a·Q_b] = E[½^(2x + y)], x relevant documents among the first a and y from there to b."""
    size, ways = 55, math.comb(55, relevant)
    weights = [Fraction(1), *(-Fraction(1, i * (i + 1)) for i in range(1, cutoff))]
    weights.append(-Fraction(1, cutoff))

    def joint(a: int, b: int) -> Fraction:
        total = Fraction(0)
        for x, y in itertools.product(range(min(a, relevant) + 1), range(min(b - a, relevant) + 1)):
            if x + y <= relevant:
                orders = math.comb(a, x) * math.comb(b - a, y)
                total += Fraction(orders * math.comb(size - b, relevant - x - y), 2 ** (2 * x + y))
        return total / ways

    variance = Fraction(0)
    for a in range(cutoff + 1):
        for b in range(a, cutoff + 1):
            shared = joint(a, b) - joint(0, a) * joint(0, b)
            variance += (1 if a == b else 2) * weights[a] * weights[b] * shared
    found = (ERR @ cutoff).variance([1] * relevant + [0] * (size - relevant))
    assert found == pytest.approx(float(variance), abs=1e-14)


def chance_of_first(size: int, relevant: int, place: int) -> Fraction:
    """That the first relevant document is at this place."""
    return Fraction(math.comb(size - place, relevant - 1), math.comb(size, relevant))


@pytest.mark.parametrize("relevant", [1, 3, 40, 299, 300])
@pytest.mark.parametrize("depth", [None, 1, 7, 250])
def test_variance_of_the_reciprocal_rank_of_the_first_of_many(
    relevant: int, depth: int | None
) -> None:
    last = min(depth or 300, 301 - relevant)
    chance = {place: chance_of_first(300, relevant, place) for place in range(1, last + 1)}
    mean = sum(p / place for place, p in chance.items())
    square = sum(p / place**2 for place, p in chance.items())
    measure = RR if depth is None else RR @ depth
    found = measure.variance([1] * relevant + [0] * (300 - relevant))
    assert found == pytest.approx(float(square - mean**2), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("relevant", [1, 2, 5])
def test_variance_of_the_reciprocal_rank_where_the_first_is_far(relevant: int) -> None:
    size, mean, square = 30_000, [], []
    left = relevant / size
    for place in range(1, size - relevant + 2):
        mean.append(left / place)
        square.append(left / place**2)
        left *= (size - place - relevant + 1) / max(size - place, 1)
    variance = math.fsum(square) - math.fsum(mean) ** 2
    assert RR.variance([1] * relevant + [0] * (size - relevant)) == pytest.approx(
        variance, rel=1e-11
    )


@pytest.mark.parametrize("size", [4, 9, 60, 1000])
@pytest.mark.parametrize("cutoff", [1, 2, 20, None])
def test_variance_of_the_sum_of_precisions_from_its_moments(size: int, cutoff: int | None) -> None:
    """In fractions, from the chances that up to four ranks hold relevant documents: E[SP²] − E[SP]²."""
    m = min(size, cutoff or size)
    harmonic = sum(Fraction(1, i) for i in range(1, m + 1))
    squares = sum(Fraction(1, i * i) for i in range(1, m + 1))
    products = (harmonic**2 - squares) / 2
    for relevant in sorted({0, 1, 2, 3, size // 2, size - 2, size - 1, size}):
        all_hit = [Fraction(1)]
        for taken in range(4):
            all_hit.append(all_hit[-1] * Fraction(relevant - taken, size - taken))
        _, one, two, three, four = all_hit
        mean = one * harmonic + two * (m - harmonic)
        square = one * squares + 3 * two * (harmonic - squares)
        square += three * (m - 3 * harmonic + 2 * squares) + 4 * two * products
        square += 2 * three * (m * harmonic + 2 * m - 3 * harmonic - 5 * products)
        pairs = Fraction(m * (m - 1), 2)
        square += 2 * four * (pairs - 2 * m + 3 * harmonic - m * harmonic + 3 * products)
        measure = SP if cutoff is None else SP @ cutoff
        found = measure.variance([1] * relevant + [0] * (size - relevant))
        assert found == pytest.approx(float(square - mean**2), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("measure", "labels", "variance"),
    [
        (P @ 3, [1, 1, 0, 0, 0], Fraction(1, 25)),
        (SP @ 3, [1, 1, 0, 0, 0], Fraction(1309, 3600)),
        (Success @ 3, [1, 1, 0, 0, 0], Fraction(9, 100)),
        (SearchLength, [1, 1, 0, 0, 0], Fraction(1)),
        (bpref, [1, 1, 0, 0, 0], Fraction(33, 320)),
        (DCG(gain="exp2") @ 2, [2, 1, 0, 0], 1.4661788),
    ],
)
def test_variances_worked_out(measure: Measure, labels: list[int], variance: Fraction) -> None:
    assert measure.variance(labels) == pytest.approx(float(variance), abs=5e-8)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("SP@3", [1, 1, 0, 0, 0], 12 / 25),
        ("SP@5", [1] * 58 + [0] * 62, 5 * (58 / 120) ** 2),
        ("DCG(gain={1:1,3:3})@5", [3, 1, 0], 3.931),
    ],
)
def test_expectations_as_if_ranks_were_independent(
    text: str, labels: list[int], expected: float
) -> None:
    measure = parse(f"expected({text},reb=independent)")
    assert measure.score(labels) == pytest.approx(expected, abs=5e-4)


@examples(40)
@given(
    st.sampled_from(["SP", "AP", "AP(norm=min)", "DCG(gain=exp2)", "nDCG", "P", "RBP"]),
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.integers(1, 30),
)
def test_capped_counts_no_more_ranks_than_there_are_documents(
    name: str, labels: list[int], cutoff: int
) -> None:
    capped = parse(f"expected({name}@{cutoff},reb=capped)")
    within = parse(f"expected({name}@{min(cutoff, len(labels))},reb=independent)")
    scale = 1.0
    if name == "P":  # divided by k, not by the ranks that documents fill
        scale = min(cutoff, len(labels)) / cutoff
    assert capped.score(labels) == pytest.approx(scale * within.score(labels), rel=1e-12)
    if any(labels):
        parse(f"v2({name}@{cutoff},reb=capped)").score(labels)  # never above the best


class RootOfFirst(Measure):
    """A measure of a user's own, of which no more than the score is known."""

    name = "RootOfFirst"
    summary = "1/√rank of the first document with a label from 2 on."
    formula = "1/√r"
    source = "made up"
    examples: ClassVar[tuple[str, ...]] = ("RootOfFirst",)

    def _score(self, lists: Rankings) -> Floats:
        first = first_relevant(lists, 2)
        return np.where(first > 0, 1 / np.sqrt(np.maximum(first, 1)), 0.0)


def test_a_measure_of_ones_own_is_estimated_with_its_error() -> None:
    measure, labels = RootOfFirst(), [3, 3, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0]
    chance = [float(chance_of_first(12, 4, place)) for place in range(1, 10)]
    moments = [
        math.fsum(p * place ** (-power / 2) for place, p in enumerate(chance, 1))
        for power in range(5)
    ]
    _, mean, square, cube, fourth = moments
    variance = square - mean**2
    spread = fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4

    found = measure.expected(labels)
    assert found.samples == SAMPLES
    assert found.error == pytest.approx(math.sqrt(variance / SAMPLES), rel=0.2)
    assert 0 < abs(found - mean) <= 5 * found.error
    again = measure.expected(labels)
    assert (again, again.error) == (found, found.error)
    error = math.sqrt((spread - variance**2) / SAMPLES)
    assert abs(measure.variance(labels) - variance) <= 5 * error
    assert measure.variance(labels) == measure.variance(labels)

    few = measure.expected(labels[:6], max_grade=3)
    assert (few.samples, few.error) == (0, 0.0)
    assert few == pytest.approx(
        oracles.mean_over_permutations(
            lambda order: 1 / math.sqrt(1 + [label >= 2 for label in order].index(True)),
            labels[:6],
        ),
        abs=1e-12,
    )


def test_measures_made_of_another_score_have_a_variance_of_their_own() -> None:
    for name in ("yaap", "RNDCG"):
        check(MEASURES[name], len(LISTS[-1]))

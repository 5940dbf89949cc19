"""What docs/ERRATA.md says about the papers, shown from definitions; and its links lead to tests.

The tests compute from definitions and from numbers that the papers print. `rankgauge` is asked only
where the page is about what it gives.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import re
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from comparison.test_published_assessment import CUTOFFS, MQ2007, truncated
from oracles.distance import (
    exact_sum_of_precisions,
    exhaustive,
    free_of,
    greedy,
    greedy_with_ties,
)
from profiles import examples
from rankgauge.comparison.correlation import concordance_of
from rankgauge.evaluation.evaluator import Evaluator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ERRATA.md"
TEXT = PAGE.read_text(encoding="utf-8")


def sum_of_precisions(labels: Sequence[int], k: int) -> Fraction:
    return exact_sum_of_precisions(range(k), dict(enumerate(labels[:k])))


def mean_over_orders(
    labels: Sequence[int], value: Callable[[Sequence[int]], Fraction | float]
) -> Fraction | float:
    orders = list(itertools.permutations(labels))
    return sum(value(order) for order in orders) / len(orders)


# The page


def entries() -> dict[str, str]:
    """The entries of the page: the text below each heading of the third level."""
    parts = re.split(r"^(#{1,3}) (.+)$", TEXT, flags=re.MULTILINE)
    found = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return {title: text for level, title, text in found if level == "###"}


def test_the_page_has_entries_on_each_paper() -> None:
    assert len(entries()) >= 25
    assert len(re.findall(r"^## ", TEXT, flags=re.MULTILINE)) >= 6


@pytest.mark.parametrize("title", entries())
def test_every_entry_names_tests_that_exist(title: str) -> None:
    links = re.findall(r"\[`(test_\w+)`\]\(([^)]+)\)", entries()[title])
    assert links
    for name, link in links:
        assert f"def {name}(" in (PAGE.parent / link).read_text(encoding="utf-8"), (name, link)


# Feng and Karmaker, Joint upper & expected value normalization


def test_the_expected_sum_of_precisions_is_not_k_times_p_squared() -> None:
    low = 0
    for n in range(2, 7):
        for relevant in range(1, n):
            labels = [1] * relevant + [0] * (n - relevant)
            for k in range(1, n + 1):
                mean = mean_over_orders(labels, lambda order, k=k: sum_of_precisions(order, k))
                p, h = Fraction(relevant, n), sum(Fraction(1, i) for i in range(1, k + 1))
                assert mean == p * (h + Fraction(relevant - 1, n - 1) * (k - h))
                assert mean - k * p**2 == p * Fraction(n - relevant, n - 1) * (h - Fraction(k, n))
                low += mean > k * p**2
    assert low == 70  # all cases that were tried


def test_the_expected_dcg_has_no_more_ranks_than_documents() -> None:
    """Eq. 7 at k = 5 for three documents with gains 3, 1 and 0."""
    discounts = [1 / math.log2(i + 1) for i in range(1, 6)]
    gains = (3, 1, 0)

    def dcg(order: Sequence[int]) -> float:
        return sum(gain * discount for gain, discount in zip(order, discounts, strict=False))

    printed = sum(gains) / 3 * sum(discounts)
    assert printed == pytest.approx(3.931, abs=5e-4)
    assert dcg(gains) == pytest.approx(3.631, abs=5e-4)
    assert mean_over_orders(gains, dcg) == pytest.approx(2.841, abs=5e-4)
    assert mean_over_orders(gains, dcg) == pytest.approx(sum(gains) / 3 * sum(discounts[:3]))


def test_divided_by_k_the_printed_map_would_rise_down_the_ranking() -> None:
    """With Eq. 3, k · MAP@k is the mean sum of precisions; its growth belongs to the ranks between."""
    sums = MQ2007["AP"] * CUTOFFS
    per_rank = np.diff(sums, axis=1, prepend=0) / np.diff(CUTOFFS, prepend=0)
    assert (per_rank[:, -1] > per_rank[:, 0] + 0.1).all()  # ranks 21–30 above ranks 1–5
    assert per_rank[:, 0].max() == pytest.approx(0.367, abs=5e-4)
    assert per_rank[:, -1].min() == pytest.approx(0.453, abs=5e-4)


def v1(score: Fraction, best: Fraction, chance: Fraction) -> Fraction:
    """Eq. 5."""
    return score / best * score / (score + chance)


def v2(score: Fraction, best: Fraction, chance: Fraction) -> Fraction:
    """Eq. 6."""
    above = score >= chance
    return (score - chance) / (best - chance if above else chance)


def test_v1_bends_and_v2_is_straight_on_both_sides_of_chance() -> None:
    best, chance, step = Fraction(1), Fraction(3, 10), Fraction(1, 100)

    def bends(form: Callable[..., Fraction]) -> list[Fraction]:
        values = [form(i * step, best, chance) for i in range(1, 101)]
        steps = [b - a for a, b in itertools.pairwise(values)]
        return [score for score, (a, b) in enumerate(itertools.pairwise(steps), 2) if a != b]

    assert bends(v2) == [30]  # at chance
    assert bends(v1) == list(range(2, 100))


def test_the_mean_of_v2_over_random_orders_has_a_sign() -> None:
    signs = set()
    for labels in ((1, 0, 0, 0, 0), (1, 1, 0, 0, 0), (1, 1, 1, 1, 0), (1, 1, 0, 0)):
        for k in (1, 2, 3):
            scores = [sum_of_precisions(order, k) for order in itertools.permutations(labels)]
            best, chance = max(scores), sum(scores) / len(scores)
            mean = sum(v2(score, best, chance) for score in scores) / len(scores)
            spread = sum(abs(score - chance) for score in scores) / len(scores)
            assert mean == spread / 2 * (1 / (best - chance) - 1 / chance)
            assert (mean < 0) == (chance < best / 2)
            signs.add((mean > 0) - (mean < 0))
    assert signs == {-1, 0, 1}


def test_minus_one_needs_k_documents_that_are_not_relevant() -> None:
    scores = [sum_of_precisions(order, 2) for order in itertools.permutations((1, 1, 0))]
    chance = sum(scores) / len(scores)
    assert v2(min(scores), max(scores), chance) == Fraction(-4, 7)


@given(
    st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    st.lists(st.fractions(0, 1, max_denominator=50), min_size=2, max_size=6, unique=True),
)
@examples(100)
def test_with_one_chance_neither_form_changes_an_order(
    chance: Fraction, scores: list[Fraction]
) -> None:
    ordered = sorted(scores)
    for form in (v1, v2):
        values = [form(score, Fraction(1), chance) for score in ordered]
        assert all(a < b for a, b in itertools.pairwise(values))


QUERIES = 1000
"""So many queries of MQ2007 were sampled (section 6.1)."""


def test_no_significant_pair_fits_an_unpaired_test(real_data: Callable[[str], Path]) -> None:
    """Table 9: by nDCG none of 140 differences on MQ2007 is significant. Table 21: by MAP 45 are."""
    differences = {
        name: sorted(np.abs([a - b for a, b in itertools.combinations(MQ2007[name], 2)]).ravel())
        for name in ("nDCG", "AP")
    }
    largest, threshold = differences["nDCG"][-1], differences["AP"][-45]
    assert largest == pytest.approx(0.0268)
    assert threshold == pytest.approx(0.0264)
    # The standard deviation at which the largest difference has t = 1.96: of scores, and of differences.
    unpaired, paired = largest * math.sqrt(QUERIES / 2) / 1.96, largest * math.sqrt(QUERIES) / 1.96
    assert (unpaired, paired) == (pytest.approx(0.306, abs=5e-4), pytest.approx(0.432, abs=5e-4))
    # On MQ2008 scores of single features spread so far, and differences of features do not.
    scores = features_of_mq2008(real_data)
    own = scores.std(axis=1, ddof=1)
    of_pairs = [(a - b).std(ddof=1) for a, b in itertools.combinations(scores, 2)]
    assert own.min() < unpaired < own.mean() < own.max()
    assert (own.min(), own.max()) == (
        pytest.approx(0.291, abs=1e-3),
        pytest.approx(0.387, abs=1e-3),
    )
    assert min(of_pairs) == pytest.approx(0.170, abs=1e-3)
    assert max(of_pairs) == pytest.approx(0.369, abs=1e-3)
    assert max(of_pairs) < paired
    significant = [
        sum(d * math.sqrt(QUERIES) / spread > 1.96 for d in differences["nDCG"])
        for spread in (max(of_pairs), min(of_pairs))
    ]
    assert significant == [2, 43]


def features_of_mq2008(real_data: Callable[[str], Path]) -> np.ndarray:
    """nDCG@5 of eight features that are unlike each other, feature × query."""
    columns = (19, 24, 29, 36, 38, 39, 42, 44)
    parts = []
    for number in range(1, 6):
        features = rg.read_letor(real_data(f"mq2008/S{number}.txt.gz"))
        evaluator = Evaluator(features.judgments, "nDCG(gain=exp2)@5")
        scores = [evaluator.score_features(features, features.values[:, c]) for c in columns]
        parts.append([np.asarray(score.values).ravel() for score in scores])
    return np.concatenate(parts, axis=1)


def test_v2_of_map_has_the_lowest_swap_rate_in_four_of_five_places() -> None:
    places = {
        ("across", "all"): (0.25, 0.25, 0.178),
        ("across", "uninformative"): (0.357, 0.321, 0.25),
        ("across", "ideal"): (0.285, 0.25, 0.321),
        ("within", "MSLR"): (0.142, 0.142, 0.107),
        ("within", "MQ2007"): (0.392, 0.392, 0.285),
    }
    assert [where for where, rates in places.items() if min(rates) != rates[2]] == [
        ("across", "ideal")
    ]
    assert max(places["across", "ideal"]) == 0.321


def test_the_documents_of_mq2007_do_not_fit_their_mean() -> None:
    documents, queries, drawn = 65_323, 1_692, 1_000
    assert documents / queries == pytest.approx(38.6, abs=0.01)
    assert (documents - 41.47 * drawn) / (queries - drawn) == pytest.approx(34.5, abs=0.05)


def test_the_percentages_of_the_abstract() -> None:
    """Tables 9, 23 and 24, in numbers of tests and of pairs of methods."""
    found = {
        ("nDCG", "MSLR"): (33, 51, 78),
        ("nDCG", "MQ2007"): (9, 29, 33),
        ("MAP", "MSLR"): (61, 76, 81),
        ("MAP", "MQ2007"): (0, 2, 21),
    }
    points = {
        where: 100 * (mean_of(counts[1:]) - counts[0]) / 140 for where, counts in found.items()
    }
    assert points["nDCG", "MSLR"] == pytest.approx(22.5)  # 23%
    assert all(abs(value - 19) > 2 for value in points.values())
    assert points["nDCG", "MQ2007"] == pytest.approx(15.7, abs=0.05)
    relative = [
        100 * (count / counts[0] - 1)
        for counts in found.values()
        if counts[0]
        for count in counts[1:]
    ]
    assert [round(value, 1) for value in relative] == [54.5, 136.4, 222.2, 266.7, 24.6, 32.8]
    across = 100 * (1 - Fraction(5, 7))
    within = [100 * (1 - Fraction(3, 4)), 100 * (1 - Fraction(8, 11))]
    assert [truncated(swapped / 28) for swapped in (7, 5, 4, 3, 11, 8)] == [
        *(0.25, 0.178),
        *(0.142, 0.107),
        *(0.392, 0.285),
    ]
    assert float(across) == pytest.approx(28.6, abs=0.05)
    assert float(sum(within) / 2) == pytest.approx(26.1, abs=0.05)


def mean_of(values: Sequence[int]) -> float:
    return sum(values) / len(values)


TABLE_4 = """
    .388 .415 .448 .479 .537
    .376 .403 .438 .468 .528
    .383 .414 .449 .480 .535
    .403 .428 .460 .491 .547
    .380 .413 .445 .476 .536
    .392 .420 .454 .482 .539
    .387 .415 .447 .477 .538
    .393 .420 .453 .485 .544
"""


def test_printed_numbers_are_truncated() -> None:
    """The paper's Table 4 beside the dissertation's Table 6.2, which has four digits."""
    three = [float(cell) for cell in TABLE_4.split()]
    four = MQ2007["nDCG"].ravel().tolist()
    assert three == [truncated(value) for value in four]
    rounded = [round(value + 1e-9, 3) for value in four]
    assert sum(a != b for a, b in zip(three, rounded, strict=True)) == 20


# Feng's dissertation


def test_a_swap_rate_of_a_quarter_is_seven_pairs() -> None:
    same = concordance_of(np.arange(8), np.arange(8))
    assert same.swap_rate == 0
    moved = concordance_of(np.arange(8), np.roll(np.arange(8), 1))
    assert (moved.discordant, moved.swap_rate) == (7, 0.25)


def increase(before: float, after: float) -> float:
    """Eq. 8.1, the percentage absolute increase."""
    return 100 * (after - before) / abs(before)


TABLE_8_1 = ((0, -0.106, 0.167, -0.03), (0.03, -0.198, 0.25, 0.06), (0.15, 0.045, 0.44, 0.18))
TABLE_8_3 = ((-0.18, -0.3, -0.2, -0.24), (-0.18, -0.24, -0.11, -0.3), (-0.21, -0.39, -0.078, -0.39))


def test_percentage_increases_from_zero_are_divided_by_one() -> None:
    before, *after = TABLE_8_1
    with pytest.raises(ZeroDivisionError):
        increase(before[0], after[0][0])
    assert [100 * (form[0] - before[0]) / 1 for form in after] == [3, 15]
    others = [increase(a, b) for form in after for a, b in zip(before[1:], form[1:], strict=True)]
    assert others == pytest.approx([-86.79, 49.7, 300, 142.5, 163.5, 700], abs=0.06)
    assert (sum(others) + 3 + 15) / 8 == pytest.approx(160.9, abs=0.05)
    assert sum(others) / 6 == pytest.approx(211.5, abs=0.05)
    assert increase(0.01, 0.16) == pytest.approx(1500)  # the same step from .01 instead of 0


def test_the_average_of_table_8_3_is_right_before_truncation() -> None:
    before, *after = TABLE_8_3
    cells = [increase(a, b) for form in after for a, b in zip(before, form, strict=True)]
    assert sum(cells) / 8 == pytest.approx(-1.02, abs=5e-3)
    printed = [0, 20, 45, -25, -16, -30, 61, -62.5]
    assert cells == pytest.approx(printed, abs=0.7)
    assert sum(printed) / 8 == pytest.approx(-0.94, abs=5e-3)


def test_a_correlation_of_table_9_1_lost_a_zero() -> None:
    """An increase of 6.2% from .04, rounded, is .04; to .4 it would be 700% at least."""
    for before in (0.035, 0.04, 0.045):
        assert round(before * 1.062, 2) in (0.04, 0.05)
        assert increase(before, 0.395) > 700


def test_the_first_in_increasing_order_are_the_least_similar() -> None:
    """Algorithm 1 as printed, on the dissertation's own example, with made-up similarities."""
    similarity = {"It": 0.1, "is": 0.2, "freezing": 0.9, "today": 0.6}
    chosen = sorted(similarity, key=lambda token: similarity[token])[:2]
    assert chosen == ["It", "is"]
    assert max(similarity, key=lambda token: similarity[token]) not in chosen


# Robertson and Zaragoza, On rank-based effectiveness measures and optimization


def test_search_length_is_a_cost() -> None:
    """A good flip never raises the number of other documents seen before the n-th relevant one."""

    def search_length(labels: Sequence[int], n: int) -> int:
        place = [i for i, label in enumerate(labels) if label][n - 1]
        return place + 1 - n

    lowered = 0
    for labels in set(itertools.permutations((1, 1, 0, 0, 0))):
        for i in range(4):
            if labels[i] < labels[i + 1]:
                flipped = list(labels)
                flipped[i], flipped[i + 1] = labels[i + 1], labels[i]
                for n in (1, 2):
                    before, after = search_length(labels, n), search_length(flipped, n)
                    assert after <= before
                    lowered += after < before
                    ours = rg.parse(f"SearchLength(j={n})")
                    assert (ours.score(labels), ours.score(flipped)) == (before, after)
    assert lowered > 0


# Muwanei and others, Prediction of the high-cost nDCG


def equation_1(labels: Sequence[int], k: int, relevant: int) -> float:
    """Eq. 1 as printed, with logarithms to base 2."""
    above = sum(label / math.log2(i + 1) for i, label in enumerate(labels[:k], 1))
    return above / sum(2 ** (r - 1) / math.log2(i + 1) for i, r in enumerate(labels[:relevant], 1))


def test_a_perfect_ranking_does_not_get_one_by_equation_1() -> None:
    assert equation_1([1, 1, 0], 3, 2) == pytest.approx(1)
    assert equation_1([3], 1, 1) == pytest.approx(3 / 4)
    assert equation_1([4], 1, 1) == pytest.approx(1 / 2)
    assert equation_1([1] * 20, 10, 20) == pytest.approx(0.645, abs=5e-4)
    assert equation_1([1, 0], 2, 2) > 0.7  # a document without relevance counts ½ in the divisor
    for labels, k in (([3], 1), ([4], 1), ([1] * 20, 10)):
        assert rg.parse(f"nDCG@{k}").score(labels, labels) == 1


def test_a_voting_regressor_trains_every_model_on_all_rows() -> None:
    pytest.importorskip("sklearn")
    from sklearn.ensemble import VotingRegressor
    from sklearn.linear_model import LinearRegression

    random = np.random.default_rng(1)
    values = random.random((60, 1))
    tracks = np.arange(60) % 2
    targets = np.where(tracks == 0, 1 + values[:, 0], 5 - 3 * values[:, 0])
    models = [LinearRegression().fit(values[tracks == t], targets[tracks == t]) for t in (0, 1)]
    by_hand = np.mean([model.predict(values) for model in models], axis=0)
    assert by_hand == pytest.approx(3 - values[:, 0])
    voting = VotingRegressor([(str(t), model) for t, model in enumerate(models)])
    pooled = LinearRegression().fit(values, targets).predict(values)
    voted = voting.fit(values, targets).predict(values)
    assert voted == pytest.approx(pooled, abs=1e-12)
    assert np.abs(voted - by_hand).max() > 0.01


def test_three_of_the_six_features_need_judgments_below_the_depth() -> None:
    """A ranking down to 2, with the judgments of a pool of depth 2 and with those further down."""
    top, pooled, deeper = [1, 0], [1, 0], [1, 0, 1, 1, 0]
    changed = [
        name
        for name in ("P@2", "infAP@2", "ERR@2", "bpref@2", "nDCG@2", "RBP@2")
        if rg.parse(name).score(top, pooled) != rg.parse(name).score(top, deeper)
    ]
    assert changed == ["infAP@2", "bpref@2", "nDCG@2"]


def test_the_fit_to_training_data_always_takes_all_six_features() -> None:
    random = np.random.default_rng(2)
    values, targets = random.random((40, 6)), random.random(40)  # nothing to be learned

    def fit(subset: tuple[int, ...]) -> float:
        columns = np.column_stack([np.ones(40), values[:, subset]])
        rest = targets - columns @ np.linalg.lstsq(columns, targets, rcond=None)[0]
        return float(1 - rest @ rest / ((targets - targets.mean()) ** 2).sum())

    subsets = [s for size in range(1, 7) for s in itertools.combinations(range(6), size)]
    assert len(subsets) == 63
    assert max(subsets, key=fit) == tuple(range(6))


def test_equation_2_does_not_reach_one_where_scores_are_tied() -> None:
    """Rows with nothing found have nDCG 0: a perfect prediction of five rows, two of them 0."""
    scores = [0.0, 0.0, 0.2, 0.5, 0.9]
    pairs = list(itertools.combinations(scores, 2))
    concordant = sum(a != b for a, b in pairs)
    assert Fraction(concordant, len(pairs)) == Fraction(9, 10)
    assert concordance_of(np.array(scores), np.array(scores)).tau_b == 1


# Moffat, Computing maximized effectiveness distance


def test_the_sum_of_discounts_is_not_near_the_logarithm() -> None:
    for k, total in ((20, 7.04), (100, 20.94), (1000, 123.09)):
        found = sum(1 / math.log2(1 + i) for i in range(1, k + 1))
        assert found == pytest.approx(total, abs=0.01)
        assert found > 2 * math.log(k)


def test_a_grade_in_between_can_make_the_largest_difference() -> None:
    """Y = (0, 2) and Z = (1, 0), with 1 not relevant, 2 and a document in neither list of grade 1."""
    gains = {0: 0, 1: 1, 2: 3, 3: 7}
    discount = 1 / math.log2(3)

    def difference(grade: int) -> float:
        first, second = sorted((gains[grade], 1, 1), reverse=True)[:2]
        ideal = first + second * discount
        return abs(gains[grade] + 1 * discount - gains[grade] * discount) / ideal

    found = {grade: difference(grade) for grade in gains}
    assert max(found[0], found[3]) == pytest.approx(0.421236, abs=1e-6)
    assert max(found, key=lambda grade: found[grade]) == 1
    assert found[1] == pytest.approx(0.613147, abs=1e-6)


Lists = tuple[list[int], list[int], dict[int, int]]


@st.composite
def lists(draw: st.DrawFn, most: int = 5) -> Lists:
    """Two lists of one length, with at most six free documents."""
    k = draw(st.integers(1, most))
    y = list(range(k))
    z = draw(st.permutations(range(2 * k)))[:k]
    known = draw(st.dictionaries(st.integers(0, 2 * k - 1), st.integers(0, 1)))
    for document in free_of(y, z, known)[6:]:
        known[document] = draw(st.integers(0, 1))  # type: ignore[index]
    return y, z, known


def place_in(ranking: Sequence[int], document: int) -> int:
    return ranking.index(document) + 1 if document in ranking else len(ranking) + 1


@given(lists())
@examples(150)
def test_relevance_may_move_to_a_document_that_is_higher_here_and_lower_there(case: Lists) -> None:
    y, z, known = case
    free = free_of(y, z, known)
    for made in subsets_of(free):
        before = difference_of(y, z, known, made)
        for e, d in itertools.product(made, [d for d in free if d not in made]):
            if place_in(y, d) <= place_in(y, e) and place_in(z, d) >= place_in(z, e):  # type: ignore[arg-type]
                assert difference_of(y, z, known, [*(x for x in made if x != e), d]) >= before


@given(lists())
@examples(150)
def test_a_staircase_is_best_for_each_number_of_relevant_documents(case: Lists) -> None:
    y, z, known = case
    free = free_of(y, z, known)
    best: dict[int, Fraction] = {}
    of_staircases: dict[int, Fraction] = {}
    for made in subsets_of(free):
        found = difference_of(y, z, known, made)
        best[len(made)] = max(found, best.get(len(made), found))
        left = [d for d in free if d not in made]
        inside = not any(
            place_in(y, d) <= place_in(y, e) and place_in(z, d) >= place_in(z, e)  # type: ignore[arg-type]
            for e, d in itertools.product(made, left)
            if (place_in(y, d), place_in(z, d)) != (place_in(y, e), place_in(z, e))  # type: ignore[arg-type]
        )
        if inside:
            of_staircases[len(made)] = max(found, of_staircases.get(len(made), found))
    assert of_staircases == best


def subsets_of(free: Sequence[object]) -> list[tuple[object, ...]]:
    return [s for size in range(len(free) + 1) for s in itertools.combinations(free, size)]


def difference_of(
    y: Sequence[int], z: Sequence[int], known: dict[int, int], made: Sequence[object]
) -> Fraction:
    labels = {**known, **dict.fromkeys(made, 1)}
    return exact_sum_of_precisions(y, labels) - exact_sum_of_precisions(z, labels)  # type: ignore[arg-type]


SMALLEST = (list("abcde"), list("fbacg"), {"a": 1, "g": 1, "d": 0, "e": 0, "f": 0})


def test_the_smallest_counterexample_to_the_greedy_rule() -> None:
    y, z, known = SMALLEST
    assert exhaustive(*SMALLEST, "k") == Fraction(17, 300)
    assert greedy_with_ties(*SMALLEST, "k") == Fraction(4, 75)
    assert greedy(*SMALLEST, 5, "k") == pytest.approx(4 / 75)
    assert rg.med(*SMALLEST[:2], "SSP@5", *SMALLEST[2:]).value == pytest.approx(17 / 300)
    by_labels = {
        made: exact_sum_of_precisions(y, {**known, **dict.fromkeys(made, 1)})
        - exact_sum_of_precisions(z, {**known, **dict.fromkeys(made, 1)})
        for made in ("", "b", "c", "bc")
    }
    assert {made: 60 * value for made, value in by_labels.items()} == {
        "": 16,
        "b": 14,
        "c": 14,
        "bc": 17,
    }
    for elsewhere, misses in ((30, False), (31, True)):
        more = {**known, **{f"elsewhere {i}": 1 for i in range(elsewhere)}}
        assert (greedy_with_ties(y, z, more) < exhaustive(y, z, more)) == misses


@pytest.fixture(scope="module")
def gaps() -> ModuleType:
    """benchmarks/greedy_gap.py."""
    folder = ROOT / "benchmarks"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("greedy_gap", folder / "greedy_gap.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def test_no_lists_of_up_to_four_places_are_a_counterexample(
    gaps: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps.exhaustive(4)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = [row for row in rows if len(row) == 7 and row[0] in "1234"]
    assert [int(row[1]) for row in rows[::3]] == [12, 180, 3294, 74034]
    assert {tuple(row[3:]) for row in rows} == {("0", "0", "0", "0.000000")}


@given(data=st.data())
@examples(60)
def test_the_search_of_short_lists_finds_what_one_case_gives(
    gaps: ModuleType, data: st.DataObject
) -> None:
    y, z = data.draw(st.sampled_from(list(gaps.pairs_of_lists(3))))
    labels = gaps.lattice(max(*y, *z) + 1)
    number = data.draw(st.integers(0, len(labels.relevant) - 1))
    known = {d: int(c) for d, c in enumerate(labels.shown(number)) if c != "?"}
    ahead = gaps.sums_of_precisions(y, labels.documents, 6)
    ahead = ahead - gaps.sums_of_precisions(z, labels.documents, 6)
    sides = [gaps.curves(ahead, labels), gaps.curves(-ahead, labels)]
    best, stops, goes_on = (
        max(0, *(int(side[i][number].max()) for side in sides)) / 18 for i in range(3)
    )
    assert best == pytest.approx(float(exhaustive(y, z, known, "k")))
    assert stops == pytest.approx(float(greedy_with_ties(y, z, known, "k")))
    assert goes_on == pytest.approx(float(greedy_with_ties(y, z, known, "k", stops=False)))


def climbed() -> list[tuple[str, list[int], str, int, str, str]]:
    """The rows of the page's table of counterexamples."""
    rows = re.findall(
        r"^\| (AP|SSP)@(\d+) \| `([\d ]+)` \| `([01?-]+)` \| (\d+) \| ([\d.]+) \| ([\d.]+) \|",
        TEXT,
        flags=re.MULTILINE,
    )
    found = []
    for name, k, second, labels, elsewhere, distance, by_greedy in rows:
        z = [int(word) for word in second.split()]
        assert len(z) == int(k)
        found.append((name, z, labels, int(elsewhere), distance, by_greedy))
    return found


def test_the_page_has_counterexamples_of_both_measures() -> None:
    assert [name for name, *_ in climbed()].count("AP") >= 5
    assert [name for name, *_ in climbed()].count("SSP") >= 5


@pytest.mark.parametrize("row", climbed(), ids=lambda row: f"{row[0]}@{len(row[1])}")
def test_the_gaps_that_were_climbed_to(
    row: tuple[str, list[int], str, int, str, str],
) -> None:
    name, z, labels, elsewhere, distance, by_greedy = row
    norm = "R" if name == "AP" else "k"
    y = list(range(len(z)))
    known = {d: int(c) for d, c in enumerate(labels) if c in "01"}
    known.update({-1 - i: 1 for i in range(elsewhere)})
    assert f"{float(exhaustive(y, z, known, norm)):.4f}" == distance
    assert f"{float(greedy_with_ties(y, z, known, norm)):.4f}" == by_greedy
    assert f"{rg.med(y, z, f'AP(norm={norm})@{len(z)}', known).value:.4f}" == distance


def test_the_greedy_rule_misses_also_where_it_goes_on() -> None:
    """The counterexample of docs/DISTANCE.md: no document that helps is left out by stopping."""
    y, z = [20, 10, 5, 22, 7, 16, 0], [20, 10, 22, 21, 16, 7, 13]
    known = {22: 0, 0: 0, 16: 0, 5: 1, 21: 1, 13: 1, **{-1 - i: 1 for i in range(7)}}
    assert exhaustive(y, z, known) == Fraction(3, 112)
    assert greedy_with_ties(y, z, known) == greedy_with_ties(y, z, known, stops=False)
    assert float(greedy_with_ties(y, z, known)) == pytest.approx(0.0254579, abs=1e-7)


def families() -> list[tuple[int, int, int, int, float, float]]:
    """The rows of the page's table: k, a, m, t, the distance and what the greedy rule finds."""
    number = r" ([\d.,]+) \|"
    rows = re.findall(rf"^\|{6 * number}$", TEXT, flags=re.MULTILINE)
    return [
        (*(int(cell.replace(",", "")) for cell in row[:4]), float(row[4]), float(row[5]))  # type: ignore[misc]
        for row in rows
    ]


def test_the_gap_of_the_greedy_rule_has_no_bound(gaps: ModuleType) -> None:
    rows = families()
    assert [k for k, *_ in rows] == [30, 50, 100, 200, 500, 1000]
    for k, above, free, below, distance, by_greedy in rows:
        family = gaps.stalled(k, above, free)
        assert family == (k, above, free, below)
        assert family.difference() == pytest.approx(distance, abs=5e-5)
        # Where the second list is ahead, no precision is above this bound.
        assert by_greedy <= (free + below) / (k - free - below)
        if k > 100:
            continue
        y, z, known = family.case()
        assert rg.med(y, z, f"AP@{k}", known).value == pytest.approx(distance, abs=5e-5)
        assert greedy(y, z, known, k) == pytest.approx(by_greedy, abs=5e-5)
        start = exact_sum_of_precisions(y, known) - exact_sum_of_precisions(z, known)
        assert start < 0
        for d in free_of(y, z, known):  # nothing helps alone, so the rule stops at once
            more = {**known, d: 1}
            assert exact_sum_of_precisions(y, more) - exact_sum_of_precisions(z, more) < start
    limits = []
    for k in (10**4, 10**5, 10**6):
        family = gaps.stalled(k, math.isqrt(k), round(k**0.75))
        bound = (family.free + family.below) / (k - family.free - family.below)
        limits.append((family.difference(), bound))
    distances, bounds = zip(*limits, strict=True)
    assert list(distances) == sorted(distances)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert distances[-1] > 0.75
    assert bounds[-1] < 0.04

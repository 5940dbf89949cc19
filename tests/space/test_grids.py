"""Grids: their values, and the best of their lines, are those in exact numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from laws.strategies import HIGHEST, MEASURES, versions
from profiles import examples
from rankgauge.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.rankings.lists import Rankings
from rankgauge.space import add_jitter, grid
from rankgauge.space.inputs import features_of, lists_of
from rankgauge.space.lines import mean_of


@st.composite
def documents(draw: st.DrawFn, features: int = 3, most: int = 5) -> tuple:
    """Documents of one or two queries, with small whole feature values: many are tied or meet."""
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=2))
    size = sum(sizes)
    labels = draw(st.lists(st.integers(0, HIGHEST), min_size=size, max_size=size))
    cells = st.lists(st.integers(-2, 3), min_size=size * features, max_size=size * features)
    values = np.array(draw(cells), dtype=float).reshape(size, features)
    return values, labels, np.cumsum([0, *sizes])


def exact_value(case: tuple, weights: list[Fraction], measure) -> float:
    """The mean with these weights, ranked in exact numbers, ties as the documents stand."""
    rows = np.asarray(case[0]).tolist()
    score = [sum(Fraction(x) * w for x, w in zip(row, weights, strict=True)) for row in rows]
    order = []
    for first, last in itertools.pairwise(case[2]):
        order += sorted(range(first, last), key=lambda row: (-score[row], row))
    lists = lists_of(features_of(case))
    ranked = Rankings(lists.labels[order], lists.offsets, lists.query, lists.judged)
    return mean_of(measure.score_each(ranked), measure)


def exact_line(case: tuple, start: list[Fraction], end: list[Fraction], measure) -> list[float]:
    """The values between the points of a line at which documents have the same score."""
    breaks = {Fraction(0), Fraction(1)}
    for first, last in itertools.pairwise(case[2]):
        for a, b in itertools.combinations(range(first, last), 2):
            difference = [Fraction(float(x)) for x in case[0][a] - case[0][b]]
            here, there = (
                sum(x * w for x, w in zip(difference, weights, strict=True))
                for weights in (start, end)
            )
            if here * there < 0:
                breaks.add(here / (here - there))
    values = []
    for low, high in itertools.pairwise(sorted(breaks)):
        t = (low + high) / 2
        middle = [(1 - t) * a + t * b for a, b in zip(start, end, strict=True)]
        values.append(exact_value(case, middle, measure))
    return values


@pytest.mark.parametrize("name", sorted(MEASURES))
@examples(10)
@given(st.data())
def test_points_and_lines_have_their_exact_values_by_every_measure(name, data):
    measure = data.draw(versions(name))
    if measure.direction == "none":
        return
    case = data.draw(documents())
    axes = data.draw(st.permutations([1, 2, 3]))[: data.draw(st.integers(1, 2))]
    try:
        found = grid(case, measure, axes=axes, low=-1, high=2, points=4, weights=[1, 2, -1])
    except (MeasureError, Unsupported):
        return
    ticks = [Fraction(n) for n in (-1, 0, 1, 2)]
    assert [own.tolist() for own in found.ticks] == [[-1, 0, 1, 2]] * len(axes)

    def weights_at(point) -> list[Fraction]:
        weights = [Fraction(1), Fraction(2), Fraction(-1)]
        for axis, weight in zip(axes, point, strict=True):
            weights[axis - 1] = weight
        return weights

    best = max if measure.direction == "higher" else min
    for place in itertools.product(range(4), repeat=len(axes)):
        exact = exact_value(case, weights_at([ticks[n] for n in place]), measure)
        assert found.values[(0, *place)] == pytest.approx(exact, abs=1e-12, nan_ok=True)
    hidden = 0
    for axis in range(len(axes)):
        for others in itertools.product(range(4), repeat=len(axes) - 1):
            point = [ticks[n] for n in others]
            ends = [weights_at([*point[:axis], t, *point[axis:]]) for t in (ticks[0], ticks[-1])]
            line = best(exact_line(case, *ends, measure))
            on_line = found.line_values[axis][(0, *others)]
            assert on_line == pytest.approx(line, abs=1e-12, nan_ok=True)
            if not np.isnan(line):
                where = Fraction(float(found.line_places[axis][(0, *others)]))
                there = exact_value(
                    case, weights_at([*point[:axis], where, *point[axis:]]), measure
                )
                assert there == pytest.approx(line, abs=1e-12)
            row = found.values[0][(*others[:axis], slice(None), *others[axis:])]
            hidden += abs(line - best(row)) > 1e-12 and best(line, best(row)) == line
    counted = sum(int(np.count_nonzero(own > 1e-12)) for own in found.hidden(measure))
    assert counted == hidden == found.table().rows[0][7]


def small() -> tuple:
    random = np.random.default_rng(2)
    return random.random((40, 4)), random.integers(0, 3, 40), np.arange(0, 41, 10)


def test_the_gradient_is_the_difference_of_neighbors_over_the_step():
    found = grid(small(), "AP", axes=(1, 3), low=(0, 1), high=(1, 3), points=(6, 3))
    first, second = found.gradients("AP")
    values = found.values[0]
    assert first.shape == (5, 3)
    assert second.shape == (6, 2)
    assert first[2, 1] == pytest.approx((values[3, 1] - values[2, 1]) / 0.2)
    assert second[4, 0] == pytest.approx((values[4, 1] - values[4, 0]) / 1.0)


def test_three_axes_have_lines_along_each_of_them():
    found = grid(small(), ["AP", "P@3"], axes=(1, 2, 4), points=(2, 3, 4))
    assert found.values.shape == (2, 2, 3, 4)
    assert [own.shape for own in found.line_values] == [(2, 3, 4), (2, 2, 4), (2, 2, 3)]
    assert found.table().rows[0][6] == 12 + 8 + 6
    with pytest.raises(RankgaugeError, match="a figure needs one or two axes"):
        found.figure()


@pytest.mark.parametrize("measure", ["AP", "nDCG@3", "SearchLength(j=1)"])
def test_the_best_points_have_their_values(measure):
    case, parsed = small(), rg.parse(measure)
    found = grid(case, measure, axes=(2, 3), low=-1, points=5)
    for best in (found.best_on_grid(measure), found.best_on_lines(measure)):
        exact = exact_value(case, [Fraction(float(w)) for w in best.weights], parsed)
        assert best.value == pytest.approx(exact, abs=1e-12)
        assert best.weights[[0, 3]].tolist() == [1, 1]
    sign = 1 if parsed.direction == "higher" else -1
    lines, points = found.best_on_lines(measure).value, found.best_on_grid(measure).value
    assert sign * lines >= sign * points
    assert sign * points == (sign * found.values).max()
    row = dict(zip(found.table().columns, found.table().rows[0], strict=True))
    assert row["missed"] == pytest.approx(sign * (lines - points))


def test_a_grid_of_one_weight_has_the_curve():
    found = grid(small(), "nDCG@3", axes=2, low=-1, high=3, points=9)
    curve = found.curve("nDCG@3")
    assert curve.value == found.best_on_lines("nDCG@3").value
    for weight, value in zip(found.ticks[0], found.values[0], strict=True):
        assert curve.at((weight + 1) / 4) == pytest.approx(value, abs=1e-12)
    with pytest.raises(RankgaugeError, match="2 axes: a curve needs exactly one axis"):
        grid(small(), "AP", axes=(1, 2), points=2).curve("AP")


def test_jitter_adds_a_feature_whose_weight_is_1():
    case = small()
    found = grid(case, "AP", axes=1, points=4, jitter=0.3, seed=9)
    by_hand = grid(add_jitter(case, 0.3, seed=9), "AP", axes=1, points=4)
    assert found.values.tolist() == by_hand.values.tolist()
    assert found.values.tolist() != grid(case, "AP", axes=1, points=4).values.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": (1, 2, 3, 4)}, "expected one to 3 different features"),
        ({"axes": (1, 1)}, "expected one to 3 different features"),
        ({"axes": ()}, "expected one to 3 different features"),
        ({"axes": 5}, "axes=5, expected a whole number from 1 to 4"),
        ({"axes": (1, 2), "low": (0, 0, 0)}, "low=.* one for each of 2 axes"),
        ({"axes": 1, "low": 1}, "expected low below high"),
        ({"axes": 1, "high": np.inf}, "high=inf"),
        ({"axes": 1, "points": 1}, "points=1"),
        (
            {"axes": (1, 2), "points": 1000},
            "a grid of 1000 × 1000 points, expected at most 100,000",
        ),
        ({"axes": 1, "weights": [1, 2]}, "weights: 2 numbers for 4 features"),
    ],
)
def test_what_makes_no_grid_is_refused(options, message):
    with pytest.raises(RankgaugeError, match=message):
        grid(small(), "AP", **options)


def test_measures_without_a_best_value_are_refused():
    with pytest.raises(RankgaugeError, match="neither higher nor lower values are better"):
        grid(small(), "NumRet", axes=1)
    with pytest.raises(RankgaugeError, match="RR was not requested, expected one of AP"):
        grid(small(), "AP", axes=1, points=2).gradients("RR")


def test_the_figures_show_the_values_and_what_the_grid_misses():
    pytest.importorskip("matplotlib")
    found = grid(small(), ["AP", "P@3"], axes=(1, 3), points=5)
    axes = found.figure("AP").axes[0]
    image = np.asarray(axes.collections[0].get_array())
    assert image.tolist() == found.values[0].T.tolist()
    better, on_grid, on_lines = axes.lines
    assert len(better.get_xdata()) == found.table().rows[0][7]
    assert (
        np.ravel(on_lines.get_data()).tolist() == found.best_on_lines("AP").weights[[0, 2]].tolist()
    )
    assert (
        np.ravel(on_grid.get_data()).tolist() == found.best_on_grid("AP").weights[[0, 2]].tolist()
    )
    one = grid(small(), "AP", axes=1, points=5).figure().axes[0]
    assert one.lines[0].get_xdata().tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_a_grid_of_real_features_misses_what_lies_between_its_points(any_data):
    features = rg.read_letor(any_data("mq2008/S1.txt.gz"))
    weights = np.zeros(features.values.shape[1])
    weights[22] = 1
    found = grid(features, "nDCG@10", axes=(25, 39), high=2, points=5, weights=weights)
    best = found.best_on_lines("nDCG@10")
    assert best.value > found.best_on_grid("nDCG@10").value
    assert best.value == pytest.approx(
        found.scorer.mean_at(best.weights, rg.parse("nDCG@10")), abs=1e-12
    )

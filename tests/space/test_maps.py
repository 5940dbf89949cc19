"""Maps of two parameters: each row is the curve of one, and the best point is as good as said."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from figure_files import saved
from profiles import examples
from rankgauge.errors import RankgaugeError
from rankgauge.space import parameter_map
from rankgauge.space.bm25 import BM25, TermStatistics
from rankgauge_studies.optimization import example

TEXTS = {
    "d1": "red fox red barn", "d2": "a red fox in a very long text about a barn and a door and a hen",
    "d3": "fox fox fox", "d4": "red red red red barn door hen", "d5": "a hen and a fox and a barn",
    "d6": "door", "d7": "red fox barn hen door " * 3, "d8": "barn barn a a a a a a red",
}  # fmt: skip
QUERIES = {"q1": "red fox", "q2": "barn hen door"}
JUDGED = {"q1": {"d1": 2, "d3": 1, "d7": 1}, "q2": {"d5": 1, "d4": 2, "d8": 1}}


@pytest.fixture(scope="module")
def statistics() -> TermStatistics:
    return TermStatistics.of_texts(QUERIES, TEXTS)


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "RR", "SearchLength"])
@pytest.mark.parametrize("parameter", ["b", "k1"])
def test_rows_are_certified_curves_and_both_directions_agree(statistics, measure, parameter):
    made = BM25().map(statistics, JUDGED, measure, parameter=parameter, at=[0.2, 0.5, 0.9])
    assert made.certified
    other = "k1" if parameter == "b" else "b"
    turned = BM25().map(statistics, JUDGED, measure, parameter=other, at=[0.15, 0.45, 0.85])
    for value, row in zip(made.at.tolist(), made.rows, strict=True):
        alone = BM25(**{other: value}).curve(statistics, JUDGED, measure, parameter=parameter)
        assert row.breaks.tolist() == alone.breaks.tolist()
        assert row.values.tolist() == alone.values.tolist()
        for place, column in zip(turned.at.tolist(), turned.rows, strict=True):
            assert row.at(place) == pytest.approx(column.at(value))
            assert row.at(place) == pytest.approx(made.at_point(place, value))


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "SearchLength"])
def test_the_best_point_is_as_good_as_said_along_both_parameters(statistics, measure):
    made = BM25().map(statistics, JUDGED, measure, at=5)
    best = made.best
    sign = 1 if made.rows[0].unit.higher else -1
    assert best.value == pytest.approx(made.at_point(*best.point))
    assert all(sign * row.value <= sign * best.value + 1e-12 for row in made.rows)
    for number, interval in enumerate(best.intervals):
        assert interval.low <= best.point[number] <= interval.high
        for share in (0.01, 0.3, 0.99):
            point = list(best.point)
            point[number] = interval.low + share * interval.width
            assert made.at_point(*point) == pytest.approx(best.value)
        curve = made.surface.curve(measure, number, best.point[1 - number])
        assert sign * curve.value <= sign * best.value + 1e-12


def test_the_gap_between_rows_is_seen_on_a_grid(statistics):
    made = BM25().map(statistics, JUDGED, "AP", at=4)
    points = np.linspace(0, 1, 2001)[1:-1]
    for gap, (one, other) in zip(made.gaps(), itertools.pairwise(made.rows), strict=True):
        assert max(abs(one.at(x) - other.at(x)) for x in points) <= gap + 1e-12
    assert made.gaps().max() > 0
    assert "nothing is certified between rows" in made.table().notes[1]


@examples(20)
@given(st.lists(st.integers(-3, 3), min_size=8, max_size=8))
def test_a_function_of_two_parameters(numbers):
    """Against the formula, at points away from the flips."""
    a, b, c, d, e, f, g, h = numbers

    def score(x, y):
        return [a * x + b * y, c * x * y + d, e * y * y + f * x, g * x - h]

    labels = [2, 0, 1, 0]
    made = parameter_map(score, [(0, 1), (-1, 1)], labels, "nDCG", at=[-0.3, 0.4])
    assert not made.certified
    for y, row in zip(made.at.tolist(), made.rows, strict=True):
        for x in (0.113, 0.57, 0.871):
            apart = np.abs(np.subtract.outer(score(x, y), score(x, y)))[np.triu_indices(4, 1)]
            if apart.min() > 1e-6:
                assert row.at(x) == pytest.approx(made.at_point(x, y))


def test_a_map_is_drawn(statistics, tmp_path):
    pytest.importorskip("matplotlib")
    for measure, at in (("AP", 5), ("NumRet", 3), ("RR", [1.2])):
        made = BM25().map(statistics, JUDGED, measure, at=at)
        assert saved(made.figure(), tmp_path / "map.svg").startswith(b"<?xml")


def test_bad_input(statistics):
    with pytest.raises(RankgaugeError, match="expected numbers from 0 to 3"):
        BM25().map(statistics, JUDGED, "AP", at=[5.0])
    with pytest.raises(RankgaugeError, match="expected numbers from 0 to 3"):
        BM25().map(statistics, JUDGED, "AP", at=[])
    with pytest.raises(RankgaugeError, match=r"interval of b=1\.5"):
        BM25().map(statistics, JUDGED, "AP", intervals={"b": (0, 1.5)})
    with pytest.raises(RankgaugeError, match="none of the 2 queries has judgments"):
        BM25().map(statistics, {"x": {"d1": 1}}, "AP")
    with pytest.raises(RankgaugeError, match="1 intervals, expected one for each"):
        parameter_map(lambda x, y: [x, y], [(0, 1)], [1, 0], "AP")
    with pytest.raises(RankgaugeError, match="expected a function of two parameters"):
        parameter_map(3, [(0, 1), (0, 1)], [1, 0], "AP")


def test_boundaries_that_touch_are_found_for_a_scorer_that_is_given():
    """A scorer whose second boundary is y = 2x² touches too; the flips beside the contact move."""

    def steeper(x, y):
        return [9, -y, y, 2 * x * x - y, y - 2 * x * x, -7, -8, -9]

    usual, other = example.contact_table(), example.contact_table(steeper)
    assert usual.rows == other.rows
    assert (
        "beside the contact the flips are at y = 0, 0.25, through it both are at y = 0;"
        in usual.notes[0]
    )
    assert (
        "beside the contact the flips are at y = 0, 0.5, through it both are at y = 0;"
        in other.notes[0]
    )

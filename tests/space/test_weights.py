"""Spaces of weights: what varies, what is fixed, and every number against rankings made by hand."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from figure_files import HOSTILE, saved
from profiles import examples
from rankgauge.data.features import Features
from rankgauge.data.model import Ids
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.weights import run_space
from rankgauge.measures.around import inner
from rankgauge.rankings.lists import Rankings
from rankgauge.space import WeightSpace
from rankgauge.space.curves import Curve, Steps
from rankgauge.space.lines import mean_of

MEASURES = ("nDCG@3", "AP", "P@2", "RR", "ERR", "SearchLength")


@st.composite
def documents(draw, features: int = 4, most: int = 5) -> Features:
    """One to three queries; values are small, so that ties and equal documents are frequent."""
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=3))
    rows = sum(sizes)
    value = st.integers(0, 3)
    values = draw(
        st.lists(
            st.lists(value, min_size=features, max_size=features), min_size=rows, max_size=rows
        )
    )
    labels = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    return Features(
        Ids.of(map(str, range(len(sizes)))),
        np.append(0, np.cumsum(sizes)),
        np.array(labels, dtype=np.int32),
        np.array(values, dtype=np.float32),
        Ids.of(f"d{row:02}" for row in range(rows)),
    )


def mean_by_hand(features: Features, weights, measure) -> float:
    """The mean of a measure for rankings by exact scores; ties stand by name, the greatest first."""
    measure = rg.parse(measure)
    lists = []
    for low, high in itertools.pairwise(features.bounds.tolist()):
        scores = {
            row: sum(
                Fraction(float(value)) * Fraction(weight)
                for value, weight in zip(features.values[row], weights, strict=True)
            )
            for row in range(low, high)
        }
        order = sorted(scores, key=lambda row: (scores[row], features.documents[row]), reverse=True)
        lists.append(features.labels[order])
    return mean_of(measure.score_each(Rankings.of(*lists)), measure)


def inside(curve: Curve) -> list[float]:
    """Points well inside some of the intervals of a curve."""
    edges = curve.edges
    wide = np.diff(edges) > 1e-9
    return ((edges[:-1] + edges[1:])[wide] / 2).tolist()


@examples(60)
@given(documents(), st.sampled_from(MEASURES), st.sampled_from([1.0, -0.5, 2.25]))
def test_a_curve_is_what_rankings_by_hand_get(features, measure, weight):
    space = WeightSpace.of_features(features, [2], {1: weight, 3: 0.5})
    found = space.curves(measure, space.path(-1, 2))
    ((curve,),) = found.curves
    assert found.axis(1) == ("weight 2", -1.0, 2.0)
    for point in inside(curve):
        weights = (weight, -1 + 3 * point, 0.5, 0)
        assert curve.at(point) == pytest.approx(
            mean_by_hand(features, weights, measure), nan_ok=True
        )


@examples(60)
@given(documents(), st.sampled_from(MEASURES))
def test_without_a_fixed_part_a_path_goes_from_each_feature_to_the_next(features, measure):
    space = WeightSpace.of_features(features, [1, 3, 4])
    found = space.curves(measure)
    assert len(found.curves) == 2
    for piece, (curve,) in enumerate(found.curves, start=1):
        for point in inside(curve):
            first, third, fourth = found.weights(piece, point).tolist()
            assert sum((first, third, fourth)) == pytest.approx(1)
            expected = mean_by_hand(features, (first, 0, third, fourth), measure)
            assert curve.at(point) == pytest.approx(expected, nan_ok=True)


@examples(40)
@given(documents(), st.booleans(), st.sampled_from(MEASURES))
def test_a_plane_is_what_rankings_by_hand_get(features, fixed, measure):
    """Every cell at its point; no point of a fine grid beats the best in the square, and the point with
    the best has the value that is said."""
    if fixed:
        space = WeightSpace.of_features(features, [1, 2], {3: 0.5, 4: 1.0})
    else:
        space = WeightSpace.of_features(features, [1, 2, 3])

    def weights(x, y):
        return (x, y, Fraction(1, 2), 1) if fixed else (1 - x - y, x, y, 0)

    found = space.plane(measure)
    values = found.plane.values(measure)
    for cell in range(len(found.plane)):
        point = found.cell_point(cell)
        assert found.plane.cell_at(*point) == cell
        assert values[cell] == pytest.approx(
            mean_by_hand(features, weights(*point), measure), nan_ok=True
        )
    best = found.best_inside(measure)
    if np.isnan(values).all():
        assert best is None
        return
    sign = 1 if inner(rg.parse(measure)).direction == "higher" else -1
    assert best.value == pytest.approx(
        mean_by_hand(features, weights(*best.point), measure), nan_ok=True
    )
    assert all(0 <= own <= 1 for own in best.point)
    assert fixed or sum(best.point) <= 1
    random = np.random.default_rng(1)
    for x, y in random.random((12, 2)).tolist():
        if fixed or x + y <= 1:
            value = mean_by_hand(features, weights(Fraction(x), Fraction(y)), measure)
            assert sign * value <= sign * best.value + 1e-9


@examples(40)
@given(documents(), st.sampled_from(MEASURES))
def test_a_grid_of_weights_that_sum_to_1(features, measure):
    found = WeightSpace.of_features(features, [4, 2, 1]).grid(measure, points=3)
    for (i, x), (j, y) in itertools.product(enumerate(found.ticks[0]), enumerate(found.ticks[1])):
        weights = (
            Fraction(float(y)),
            Fraction(float(x)),
            0,
            1 - Fraction(float(x)) - Fraction(float(y)),
        )
        assert found.values[0, i, j] == pytest.approx(
            mean_by_hand(features, weights, measure), nan_ok=True
        )
    if np.isnan(found.values).all():
        return
    assert found.best_on_grid(measure).weights.sum() == pytest.approx(1)
    assert found.best_on_lines(measure).weights.sum() == pytest.approx(1)


@examples(20)
@given(documents())
def test_the_optima_of_some_parameters_are_what_rankings_by_hand_get(features):
    found = WeightSpace.of_features(features, [1, 2], {4: 2.0}).optima("AP", restarts=2)
    assert found.names == ("fixed", "weight 1", "weight 2")
    for value, (one, first, second) in zip(found.values, found.weights.tolist(), strict=True):
        assert one == 1
        anew = mean_by_hand(features, (first, second, 0, 2), "AP")
        # At a point on a boundary, rounding can decide.
        assert value == pytest.approx(anew) or anew <= value


def test_jitter_is_part_of_the_plane():
    """Two documents with the same values share their lines; with jitter they do not."""
    features = Features(
        Ids.of(["q"]), np.array([0, 3]), np.array([1, 1, 0], np.int32),
        np.array([[1, 2, 0], [1, 2, 0], [0, 1, 1]], np.float32), Ids.of(["a", "b", "c"]),
    )  # fmt: skip
    plain = WeightSpace.of_features(features, [1, 2], {3: 1}).plane("AP")
    moved = WeightSpace.of_features(features, [1, 2], {3: 1}, jitter=1e-6).plane("AP")
    assert len(plain.plane.lines) == 1
    assert len(moved.plane.lines) == 2


@examples(60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.booleans())
def test_local_optima_of_a_curve_have_worse_neighbors(values, higher):
    """Against a definition that looks at each run of equal values."""
    measure = rg.parse("AP" if higher else "SearchLength")
    breaks = np.arange(1, len(values)) / len(values)
    steps = Steps(np.zeros(1), np.zeros(0), np.zeros(0, np.int64), np.zeros(0))
    curve = Curve(measure, breaks, np.array(values, float), steps, float)
    runs = [(value, len(list(group))) for value, group in itertools.groupby(values)]
    expected, start = [], 0
    for place, (value, size) in enumerate(runs):
        beside = [runs[near][0] for near in (place - 1, place + 1) if 0 <= near < len(runs)]
        if all((value > other) == higher for other in beside):
            expected.append((start / len(values), (start + size) / len(values)))
        start += size
    assert np.array(curve.optima) == pytest.approx(np.array(expected))


# Runs

QRELS = {
    "q1": {"a": 2, "b": 0, "c": 1, "z": 1},
    "q2": {"a": 1, "d": 0},
    "q3": {"e": 1},
    "q4": {"z": 1},
}
RUNS = {
    "one": {"q1": {"a": 1, "b": 3, "c": 2}, "q2": {"a": 1, "d": 2}, "q3": {"f": 2, "e": 1}},
    "two": {"q1": {"c": 9, "a": 5, "x": 7}, "q2": {"a": 4, "y": 3}, "q3": {"e": 1, "f": 0.5}},
    "three": {"q1": {"x": 2, "a": 1}, "q2": {"d": 3, "y": 1, "a": 0}},
}


def mean_of_run(run: rg.Run, measure: str) -> float:
    (means,) = rg.evaluate(QRELS, run, measure).mean().values()
    return means[measure]


@pytest.mark.parametrize("measure", ["nDCG@2", "AP", "RR", "Recall@2"])
@pytest.mark.parametrize("normalize", ["min-max", "rank", "none"])
def test_runs_score_what_the_fused_run_scores(measure, normalize):
    """Queries that no run answers, and relevant documents that no run has, count as in `evaluate`."""
    space = run_space(QRELS, RUNS, normalize=normalize)
    found = space.curves(measure)
    for piece, (curve,) in enumerate(found.curves, start=1):
        for point in inside(curve):
            weights = found.weights(piece, point).tolist()
            fused = rg.fuse(list(RUNS.values()), "wsum", weights=weights, normalize=normalize)
            expected = mean_of_run(fused, measure)
            assert curve.at(point) == pytest.approx(expected)
    plane = space.plane(measure)
    for cell, value in enumerate(plane.plane.values(measure)):
        x, y = map(float, plane.cell_point(cell))
        weights = (1 - x - y, x, y)
        if min(weights) < 0:  # which `fuse` does not take
            continue
        fused = rg.fuse(list(RUNS.values()), "wsum", weights=weights, normalize=normalize)
        assert value == pytest.approx(mean_of_run(fused, measure))


def test_two_runs_have_the_curve_of_tune():
    pair = {name: RUNS[name] for name in ("one", "two")}
    ((curve,),) = run_space(QRELS, pair).curves("nDCG@2").curves
    tuned = rg.tune(QRELS, pair, "nDCG@2", folds=2, repeats=1, samples=5).curve
    assert curve.breaks.tolist() == tuned.breaks.tolist()
    assert curve.values.tolist() == tuned.values.tolist()


def test_topics_and_depth_of_runs():
    assert "4 queries" in str(run_space(QRELS, RUNS).notes[0])
    assert "2 queries" in str(run_space(QRELS, RUNS, missing="skip").notes[0])
    one = run_space(QRELS, RUNS, queries=["q1"], depth=1)
    assert one.scorer.features.documents.texts() == ["x", "c", "b"]
    with pytest.raises(RankgaugeError, match="query 'q9' is not judged"):
        run_space(QRELS, RUNS, queries=["q9"])
    with pytest.raises(RankgaugeError, match="no run answers a judged query"):
        run_space({"other": {"a": 1}}, RUNS)


# Bad input


def features_of_three() -> Features:
    return Features(
        Ids.of(["q"]), np.array([0, 3]), np.array([0, 1, 2], np.int32), np.eye(3, dtype=np.float32)
    )


@pytest.mark.parametrize(
    ("parameters", "fixed", "message"),
    [
        (
            [2],
            {},
            "weight 2 alone: all positive weights give the same ranking; add a parameter, or fix",
        ),
        ([2], {1: 0.0}, "weight 2 alone"),
        ([2, 2], {}, "expected different features"),
        ([4], {1: 1.0}, "parameter=4, expected a whole number from 1 to 3"),
        ([1], {9: 1.0}, "fixed feature=9, expected a whole number from 1 to 3"),
        ([1], {2: float("nan")}, "weight of feature 2=nan, expected a number"),
        ([1, 2], {2: 1.0}, "feature 2 is both fixed and a parameter"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(parameters, fixed, message):
    with pytest.raises(RankgaugeError) as caught:
        WeightSpace.of_features(features_of_three(), parameters, fixed)
    assert message in str(caught.value)


def test_questions_that_a_space_cannot_answer_are_refused():
    space = WeightSpace.of_features(features_of_three(), [1, 2])
    with pytest.raises(RankgaugeError, match="2 parameters and nothing fixed: a plane needs two"):
        space.plane("AP")
    with pytest.raises(RankgaugeError, match="expected 2 numbers"):
        space.curves("AP", [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(RankgaugeError, match="a single point"):
        space.curves("AP", [[1, 0]])
    with pytest.raises(RankgaugeError, match="neither higher nor lower values are better"):
        space.curves("NumRet").table()
    with pytest.raises(RankgaugeError, match="expected low below high"):
        WeightSpace.of_features(features_of_three(), [1], {2: 1}).path(1, 1)


def test_scores_of_extreme_sizes_are_refused_or_ranked():
    runs = [
        {"q1": {"a": 1e308, "b": 5e-324, "c": 1.0}},
        {"q1": {"a": 0.1, "b": 1e-300, "c": 3.0}},
        {"q1": {"a": 1.0, "b": 1e300, "c": -1e299}},
    ]
    with pytest.raises(RankgaugeError, match="differ too much in size"):
        run_space(QRELS, runs, normalize="none").plane("AP")
    assert run_space(QRELS, runs, normalize="rank").plane("AP").table().rows


def test_figures_of_hostile_names(tmp_path):
    pytest.importorskip("matplotlib")
    runs = [rg.Run.from_dict(own, name=f"{name}{HOSTILE}") for name, own in RUNS.items()]
    space = run_space(QRELS, runs)
    for number, made in enumerate(
        (
            space.curves(["AP", "RR"]),
            space.plane("AP"),
            space.grid("AP", points=3),
            space.flips("AP"),
        )
    ):
        assert b"<script>" not in saved(made.figure(), tmp_path / f"{number}.svg")


def two_documents(*columns: list[float]) -> Features:
    """Document a is not relevant, document b is."""
    values = np.array(columns, dtype=np.float32).T
    labels, names = np.array([0, 1], dtype=np.int32), Ids.of(["a", "b"])
    return Features(Ids.of(["1"]), np.array([0, 2]), labels, values, names)


def test_ends_that_beat_all_weights_between_are_named() -> None:
    """At the end only the second feature counts: all documents are tied, and go by their id."""
    curves = WeightSpace.of_features(two_documents([2, 1], [1, 1]), (1, 2)).curves("RR")
    (note,) = (note for note in curves.notes if note.measure is not None)
    assert str(note).startswith("RR: the end itself, 0, 1, scores 1.0000, better than any")


@pytest.mark.parametrize("side", [{"low": -np.inf}, {"high": np.inf}, {"low": -1e308}])
def test_a_square_without_end_is_refused(side: dict[str, float]) -> None:
    space = WeightSpace.of_features(two_documents([2, 1], [1, 1], [1, 2]), (1, 2), {3: 1.0})
    with pytest.raises(RankgaugeError, match=r"expected a number from -1e\+09 to 1e\+09"):
        space.plane("RR", **side)

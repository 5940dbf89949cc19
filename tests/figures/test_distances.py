"""Figures of distances: what is drawn is what was computed."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge import Distances, med_matrix
from rankgauge.figures.distances import distance_map, distance_scatter

pytest.importorskip("matplotlib")


def distances_of(count: int, name: str = "run") -> Distances:
    """So many runs of two queries, in random orders."""
    random = np.random.default_rng(count)
    runs = {
        f"{name}{number}": {
            topic: {f"d{i}": float(random.random()) for i in range(12)} for topic in ("q1", "q2")
        }
        for number in range(count)
    }
    return med_matrix(None, runs, "nDCG@3")


@pytest.mark.parametrize(("count", "named"), [(2, True), (40, True), (41, False)])
def test_the_square_has_the_mean_distances_in_the_order_of_the_runs(
    count: int, named: bool
) -> None:
    distances = distances_of(count)
    axes, _ = distances.figure().axes
    order = distances.order()
    (image,) = axes.images
    assert np.array_equal(np.asarray(image.get_array()), distances.matrix()[np.ix_(order, order)])
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert (names == [distances.runs[i] for i in order]) is named
    assert axes.get_title() == f"nDCG@3, {count} runs, 2 queries"


def test_the_scale_of_the_square_leaves_out_what_is_much_nearer_than_the_rest() -> None:
    distances = distances_of(20)
    axes, bar = distances.figure(list(range(20))).axes
    apart = distances.matrix()[np.triu_indices(20, 1)]
    low, high = axes.images[0].get_clim()
    assert apart.min() <= low <= np.quantile(apart, 0.02)
    assert high == apart.max()
    assert bar.get_ylabel() == "Mean distance"
    same = med_matrix(None, {name: {"q": {"a": 1.0}} for name in "abc"}, "P@1")
    assert same.figure().axes[0].images[0].get_clim()[0] == 0


def test_lower_bounds_are_called_so() -> None:
    square = [[0.0, 0.5], [0.5, 0.0]]
    for exact, label in ((True, "Mean distance"), (False, "Mean distance (a lower bound)")):
        axes, bar = distance_map(square, ["a", "b"], about="P@1", exact=exact).axes
        assert (axes.get_title(), bar.get_ylabel()) == ("P@1", label)


def test_every_pair_is_a_point_and_those_below_the_diagonal_are_counted() -> None:
    far, apart = np.array([0.9, 0.5, 0.2]), np.array([0.1, 0.5, 0.3])
    (first, second) = distance_scatter({"P@1": (far, apart), "AP": ([], [])}).axes
    (points,) = first.collections
    assert np.array_equal(points.get_offsets(), np.stack((apart, far), axis=1))
    assert first.get_title() == "P@1\n3 pairs, 1 below the diagonal"
    assert second.get_title() == "AP\n0 pairs, 0 below the diagonal"
    low, high = first.get_xlim()
    assert low < 0.1
    assert high > 0.9
    assert first.get_ylim() == second.get_xlim() == (low, high)

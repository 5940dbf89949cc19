"""What figures share."""

from __future__ import annotations

import numpy as np

from rankgauge.figures.drawing import MOST_STEPS, thin_steps


def test_a_thinned_curve_goes_as_high_and_as_low_everywhere() -> None:
    """Against the least and the greatest step that begins in a part of the axis, or reaches into it."""
    random = np.random.default_rng(8)
    edges = np.sort(np.append(random.random(20_000) ** 3, [0.0, 1.0]))
    values = random.random(len(edges) - 1)
    values[7] = np.nan
    few_edges, few = thin_steps(edges, values)
    assert len(few) == 2 * MOST_STEPS
    assert (few_edges[0], few_edges[-1]) == (0, 1)
    assert (few.min(), few.max()) == (np.nanmin(values), np.nanmax(values))
    parts = few_edges[::2]
    for number in range(0, MOST_STEPS, 97):
        low, high = few[2 * number : 2 * number + 2]
        first = np.flatnonzero(edges[:-1] <= parts[number])[-1]
        last = (
            np.flatnonzero(edges[:-1] <= parts[number + 1])[-1] if number + 1 < MOST_STEPS else None
        )
        own = values[first : max(first + 1, last) if last is not None else None]
        assert (low, high) == (np.nanmin(own), np.nanmax(own))


def test_a_curve_of_few_steps_stays_as_it_is() -> None:
    edges, values = np.array([0.0, 0.5, 1.0]), np.array([1.0, 2.0])
    assert [each.tolist() for each in thin_steps(edges, values)] == [
        edges.tolist(),
        values.tolist(),
    ]

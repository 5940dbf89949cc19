"""The figure of correlations: what is drawn is what was computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from figure_files import HOSTILE, saved
from rankgauge.errors import RankgaugeError
from rankgauge.figures.intervals import correlation_intervals

pytest.importorskip("matplotlib")

VALUES = np.array([[0.4, 0.3], [0.2, np.nan]])
LOW, HIGH = VALUES - 0.1, VALUES + 0.2


def test_each_panel_has_the_correlation_of_each_metric() -> None:
    figure = correlation_intervals(
        ["rouge1", "v2(rouge1)"], ["coherence", "fluency"], (VALUES, LOW, HIGH)
    )
    for d, axes in enumerate(figure.axes):
        points = axes.lines[-1]
        np.testing.assert_array_equal(points.get_xdata(), VALUES[:, d])
        (bars,) = axes.collections
        ends = np.array([segment[:, 0] for segment in bars.get_segments()])
        there = ~np.isnan(VALUES[:, d])
        np.testing.assert_allclose(ends, np.stack([LOW[there, d], HIGH[there, d]], axis=1))
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["rouge1", "v2(rouge1)"]


def test_names_do_no_harm(tmp_path: Path) -> None:
    one = np.array([[0.4]])
    figure = correlation_intervals(
        [HOSTILE], [HOSTILE], (one, one, one), label=HOSTILE, about=HOSTILE
    )
    assert b"<script>" not in saved(figure, tmp_path / "a.svg")


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(RankgaugeError, match="no correlations"):
        correlation_intervals([], [], (np.zeros((0, 0)),) * 3)

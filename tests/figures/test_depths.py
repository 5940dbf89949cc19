"""The figure of depths: what is drawn is what was computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from figure_files import HOSTILE, saved
from rankgauge.figures.depths import depth_curves

pytest.importorskip("matplotlib")


def test_both_panels_have_a_line_for_each_measure_that_ends_at_all_judgments() -> None:
    figure = depth_curves(
        [5, 10],
        [1_200, 2_300],
        {"AP": [0.8, 0.9], "P@5": [0.7, np.nan]},
        {"AP": [0.1, 0.05], "P@5": [0.2, -0.1]},
        {"AP": 0.75, "P@5": 0.6},
        total=9_000,
    )
    above, below = figure.axes
    assert np.array_equal(above.lines[0].get_ydata(), [0.8, 0.9, 1.0])
    assert above.lines[1].get_ydata()[0] == 0.75
    assert np.array_equal(above.lines[2].get_ydata(), [0.7, np.nan, 1.0], equal_nan=True)
    assert np.array_equal(below.lines[1].get_ydata(), [0.2, -0.1, 0.0])
    labels = [label.get_text() for label in below.get_xticklabels()]
    assert labels == ["5\n1,200", "10\n2,300", "all\n9,000"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["AP", "P@5", "two halves of the queries"]


def test_names_do_no_harm(tmp_path: Path) -> None:
    figure = depth_curves([1], [2], {HOSTILE: [0.5]}, {HOSTILE: [0.1]}, {HOSTILE: 0.2}, total=3)
    assert b"<script>" not in saved(figure, tmp_path / "a.svg")

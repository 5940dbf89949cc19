"""Figures of intervals: what is drawn is what was estimated."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from figure_files import HOSTILE, PNG, SVG, saved
from rankgauge import RankgaugeError
from rankgauge.figures.intervals import MOST_NAMED, run_intervals

pytest.importorskip("matplotlib")

ESTIMATES = ([0.5, 0.4], [0.45, np.nan], [0.55, np.nan])
DEEP = ([0.6, 0.3], [0.3, 0.1], [0.9, 0.5])


def test_the_first_run_is_on_top_with_its_interval() -> None:
    figure = run_intervals(["a", "b"], ESTIMATES, DEEP, [0.7, 0.6], label="AP", about="2 of 9")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_ylim() == (1.5, -0.5)
    assert (axes.get_xlabel(), axes.get_title()) == ("AP", "2 of 9")
    deep, estimates = (
        [segment[:, 0].tolist() for segment in lines.get_segments()] for lines in axes.collections
    )
    assert deep == [[0.3, 0.9], [0.1, 0.5]]
    assert estimates == [[0.45, 0.55]]
    points = {line.get_label(): line.get_xdata().tolist() for line in axes.lines}
    assert points == {
        "deep queries alone": [0.6, 0.3],
        "two-phase": [0.5, 0.4],
        "shallow scores": [0.7, 0.6],
    }


def test_many_runs_have_ranks_in_place_of_names() -> None:
    number = MOST_NAMED + 1
    values = np.linspace(1, 0, number)
    figure = run_intervals(["r"] * number, (values, values, values), (values,) * 3, values)
    (axes,) = figure.axes
    assert axes.get_ylabel() == "Rank"
    assert axes.get_yticklabels()[0].get_text() == "1"


def test_names_do_no_harm(tmp_path: Path) -> None:
    figure = run_intervals([HOSTILE, "x" * 500], ESTIMATES, DEEP, [0.7, 0.6], label=HOSTILE)
    root = ElementTree.fromstring(saved(figure, tmp_path / "f.svg"))
    assert root.tag == f"{SVG}svg"
    assert not root.findall(f".//{SVG}script")
    assert saved(figure, tmp_path / "f.png").startswith(PNG)


def test_there_must_be_a_run() -> None:
    with pytest.raises(RankgaugeError, match="no runs"):
        run_intervals([], ([], [], []), ([], [], []), [])

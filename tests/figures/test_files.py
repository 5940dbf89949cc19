"""Files of figures: whole, the same every time, harmless."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest

from figure_files import HOSTILE, PNG, SVG, saved
from rankgauge import RankgaugeError
from rankgauge.figures.assessment import AslCurve, SwapCurve, asl_curves, swap_curves, tau_map
from rankgauge.figures.distances import distance_map, distance_scatter
from rankgauge.figures.files import check_figure_path, save_figure
from rankgauge.figures.queries import expected_histogram, query_map
from rankgauge.figures.studies import ideal_lines, power_curves, relevant_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

matplotlib = pytest.importorskip("matplotlib")


def map_of(count: int, *, name: str = "ideal", measure: str = "") -> Figure:
    """A map of so many queries with random numbers, of two types."""
    scores, expected = np.random.default_rng(1).random((2, count))
    half = count // 2
    groups = {
        name: (scores[:half], expected[:half]),
        "other": (scores[half:], expected[half:]),
    }
    return query_map(groups, {"nothing relevant": 1234}, measure=measure)


@pytest.mark.parametrize("name", ["map.svg", "map.png", "MAP.SVG", "a.b.PNG"])
def test_a_file_is_of_the_kind_its_ending_says_and_the_same_every_time(
    name: str, tmp_path: Path
) -> None:
    first = saved(map_of(40, measure="AP"), tmp_path / name)
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "x", "figure.facecolor": "red"}):
        second = saved(map_of(40, measure="AP"), tmp_path / name)
    assert first == second
    if name.lower().endswith("png"):
        assert first.startswith(PNG)
    else:
        assert ElementTree.fromstring(first).tag == f"{SVG}svg"
        assert b"dc:date" not in first


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_histogram_is_the_same_file(ending: str, tmp_path: Path) -> None:
    values = {"AP": np.linspace(0, 1, 30), "P@5": np.linspace(0.1, 0.3, 30)}
    path = tmp_path / f"h.{ending}"
    assert saved(expected_histogram(values), path) == saved(expected_histogram(values), path)


def elements(svg: bytes) -> set[str]:
    """The kinds of elements in an SVG file."""
    return {element.tag for element in ElementTree.fromstring(svg).iter()}


def test_text_from_outside_is_neither_markup_nor_formula(tmp_path: Path) -> None:
    plain = saved(map_of(5), tmp_path / "plain.svg")
    histogram = saved(
        expected_histogram({HOSTILE: [0.5]}, {HOSTILE: {HOSTILE: 1}}), tmp_path / "h.svg"
    )
    drawn = saved(map_of(5, name=HOSTILE, measure=HOSTILE), tmp_path / "map.svg")
    for svg in (histogram, drawn):
        assert elements(svg) == elements(plain)
        assert b"<script" not in svg
    drawn = saved(map_of(5, name=HOSTILE, measure=HOSTILE), tmp_path / "map.png")
    assert drawn.startswith(PNG)


def test_pyplot_and_its_state_are_not_used() -> None:
    code = (
        "import sys, rankgauge, rankgauge.figures.queries as figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "figures.expected_histogram({'AP': [0.5]})\n"
        "assert 'matplotlib' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_settings_of_the_user_are_left_as_they_are(tmp_path: Path) -> None:
    with matplotlib.rc_context({"font.size": 31}):
        before = dict(matplotlib.rcParams)
        saved(map_of(3), tmp_path / "map.svg")
        assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("name", "found"),
    [("map.pdf", "the ending .pdf"), ("map", "no ending"), ("map.svg.gz", "the ending .gz")],
)
def test_another_ending_is_refused_and_nothing_written(
    name: str, found: str, tmp_path: Path
) -> None:
    for refuse in (check_figure_path, lambda path: save_figure(map_of(1), path)):
        with pytest.raises(RankgaugeError) as refusal:
            refuse(tmp_path / name)
        assert str(refusal.value) == f"{tmp_path / name}: {found}, expected .svg or .png"
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_cannot_be_drawn_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.svg"
    path.write_text("before")
    figure = map_of(1)
    monkeypatch.setattr(figure, "draw", None)
    with pytest.raises(TypeError):
        save_figure(figure, path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["map.svg"]


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: map_of(1),
        lambda: expected_histogram({"AP": [0.5]}),
        lambda: check_figure_path("map.svg"),
    ):
        with pytest.raises(
            RankgaugeError, match=r"^matplotlib is not installed; run pip install matplotlib"
        ):
            draw()


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_figures_are_whole_the_same_every_time_and_harmless(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{ending}"
    many = np.random.default_rng(1).random((2, 2000))
    names = [HOSTILE, "other"]
    for draw in (
        lambda: distance_map([[0.0, 0.5], [0.5, 0.0]], names, about=HOSTILE),
        lambda: distance_scatter({HOSTILE: (many[0], many[1])}),
        lambda: relevant_lines({HOSTILE: {HOSTILE: [3, 1]}}),
        lambda: ideal_lines({HOSTILE: [3.0, 1.0]}, {HOSTILE: 2.0}, HOSTILE),
        lambda: power_curves([0.0, 1.0], {HOSTILE: {HOSTILE: [0.05, 1.0]}}, HOSTILE),
        lambda: asl_curves({HOSTILE: AslCurve(many[0], 0.5)}, about=HOSTILE),
        lambda: swap_curves({HOSTILE: SwapCurve([0.1, 0.5], [0.3, 0.01], 0.5)}, about=HOSTILE),
        lambda: tau_map([[1.0, 0.5], [0.5, 1.0]], names, about=HOSTILE, label="Kendall's τ"),
    ):
        first = saved(draw(), path)
        assert first == saved(draw(), path)
        if ending == "svg":
            assert ElementTree.fromstring(first).tag == f"{SVG}svg"
            assert b"<script" not in first
        else:
            assert first.startswith(PNG)

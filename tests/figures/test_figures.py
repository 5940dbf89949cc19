"""Figures: what is drawn is what was counted, and the files are whole, the same every time, harmless."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from rankgauge import Distances, RankgaugeError, evaluate, med_matrix, nDCG
from rankgauge.data.letor import read_letor
from rankgauge.figures.queries import (
    check_figure_path,
    distance_map,
    distance_scatter,
    expected_histogram,
    ideal_lines,
    power_curves,
    query_map,
    relevant_lines,
    save_figure,
)
from rankgauge.query_sets import TYPES, LeftOut, QueryTypes, query_types

matplotlib = pytest.importorskip("matplotlib")

HOSTILE = "<script>alert(1)</script> -->]]> &amp; $\\frac{$ \x00\x1b[31m\udcff\ufffe"
PNG = b"\x89PNG\r\n\x1a\n"
SVG = "{http://www.w3.org/2000/svg}"


def types_of(count: int, query: str = "q", seed: int = 1) -> QueryTypes:
    """So many queries with random numbers, of random types."""
    random = np.random.default_rng(seed)
    scores, expected = random.random(count), random.random(count)
    return QueryTypes(
        tuple(f"{query}{number}" for number in range(count)),
        scores,
        expected,
        scores - expected,
        tuple(random.choice(TYPES, count).tolist()),
        (LeftOut("nothing relevant", 1234),),
    )


def saved(figure: object, path: Path) -> bytes:
    save_figure(figure, path)  # type: ignore[arg-type]
    return path.read_bytes()


# The map


@pytest.mark.parametrize("count", [0, 1, 40, 10_000])
def test_every_query_is_a_point_of_its_type_and_the_legend_counts_them(count: int) -> None:
    types = types_of(count)
    figure = query_map(types)
    kinds = np.array(types.types)
    points = dict(zip(TYPES, figure.axes[0].collections, strict=True))
    for name, drawn in points.items():
        chosen = kinds == name
        there = np.stack((types.expected[chosen], types.scores[chosen]), axis=1)
        assert np.array_equal(np.asarray(drawn.get_offsets()).reshape(-1, 2), there)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [f"{name} ({count:,})" for name, count in types.counts().items()]


def test_types_differ_in_colour_and_in_shape() -> None:
    points = query_map(types_of(40)).axes[0].collections
    assert len({tuple(drawn.get_facecolor()[0]) for drawn in points}) == len(TYPES)
    assert len({drawn.get_paths()[0].vertices.tobytes() for drawn in points}) == len(TYPES)


@pytest.mark.parametrize("scale", [0.01, 0.9, 30.0])
def test_all_points_are_inside_and_the_diagonal_is_where_score_is_expectation(scale: float) -> None:
    types = types_of(40)
    values = QueryTypes(
        types.queries, types.scores * scale, types.expected * scale, *list(vars(types).values())[3:]
    )
    (axes,) = query_map(values).axes
    low, high = axes.get_xlim()
    assert axes.get_ylim() == (low, high)
    drawn = np.concatenate((values.scores, values.expected))
    assert low < drawn.min() < drawn.max() < high
    (diagonal,) = axes.lines
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert diagonal.get_xdata().tolist() == [low, high]


def test_the_map_says_what_is_left_out_and_what_the_score_is() -> None:
    title = query_map(types_of(3), "nDCG@10").legends[0].get_title().get_text()
    assert title == "nDCG@10\n3 queries; left out: 1,234 with nothing relevant"


@pytest.mark.parametrize(
    ("measure", "above", "below"),
    [("RR", "better", "worse"), ("SearchLength", "worse", "better")],
)
def test_better_than_chance_is_above_the_diagonal_or_below_where_lower_is_better(
    measure: str, above: str, below: str
) -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1, "b": 0}}
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    types = query_types(evaluate(qrels, run, measure), qrels)
    (axes,) = query_map(types).axes
    top, right = axes.texts
    assert (top.get_text(), right.get_text()) == (f"{above} than chance", f"{below} than chance")
    better = types.scores > types.expected if above == "better" else types.scores < types.expected
    assert (better == (types.differences > 0)).all()


# The histogram


def heights(axes: object) -> list[int]:
    return [int(bar.get_height()) for bar in axes.patches]  # type: ignore[attr-defined]


def test_every_value_is_in_the_bar_that_begins_at_or_before_it() -> None:
    values = [0.3, 0.1 + 0.2, 0.6, 0.7, 0.15, 1.0, 0.0]
    (axes,) = expected_histogram({"P@5": values}).axes
    bars = {round(bar.get_x(), 9): int(bar.get_height()) for bar in axes.patches}
    assert {start: count for start, count in bars.items() if count} == {
        0.0: 1,
        0.15: 1,
        0.3: 2,
        0.6: 1,
        0.7: 1,
        0.95: 1,
    }
    (mean,) = axes.lines
    assert mean.get_xdata() == pytest.approx([np.mean(values)] * 2)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_each_measure_has_a_panel_and_no_other_is_there(count: int) -> None:
    values = {f"P@{number}": [0.2, 0.6] for number in range(1, count + 1)}
    figure = expected_histogram(values)
    assert [axes.get_title().split("\n")[0] for axes in figure.axes] == list(values)
    assert all(sum(heights(axes)) == 2 for axes in figure.axes)
    assert figure.get_suptitle() == "2 queries"


def test_panels_of_values_between_0_and_1_have_one_scale_and_others_their_own() -> None:
    figure = expected_histogram({"P@5": [0.1, 0.2], "AP": [0.9], "DCG@10": [3.0, 7.0]})
    limits = [axes.get_xlim() for axes in figure.axes]
    assert limits[:2] == [(0, 1), (0, 1)]
    assert limits[2][0] == 0
    assert limits[2][1] >= 7
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_what_is_left_out_is_counted_for_each_measure_where_it_differs() -> None:
    figure = expected_histogram(
        {"P@5": [0.1, np.nan, 0.3], "AP": [0.5]}, {"AP": [LeftOut("nothing relevant", 2)]}
    )
    titles = [" ".join(axes.get_title().split()) for axes in figure.axes]
    assert titles == [
        "P@5 2 queries; left out: 1 with an undefined score mean 0.200 (dashed)",
        "AP 1 query; left out: 2 with nothing relevant mean 0.500 (dashed)",
    ]
    assert figure.get_suptitle() == ""


@pytest.mark.parametrize(
    "values", [[], [0.0], [1e-12, 2e-12], [-5.0, 1e6], [0.5] * 10_000, [-1.0, 0.0]]
)
def test_any_values_can_be_drawn(values: list[float], tmp_path: Path) -> None:
    figure = expected_histogram({"x": values})
    assert sum(heights(figure.axes[0])) == len(values)
    assert saved(figure, tmp_path / "h.png").startswith(PNG)


def test_a_histogram_of_no_measure_is_refused() -> None:
    with pytest.raises(RankgaugeError, match="no measures, expected the values of at least one"):
        expected_histogram({})


def test_expected_values_of_real_queries_are_all_drawn(real_data: Callable[[str], Path]) -> None:
    features = read_letor(real_data("mq2008/S1.txt.gz"))
    labels = np.split(features.labels, features.bounds[1:-1])
    relevant = [each for each in labels if (each > 0).any()]
    expected = [(nDCG @ 10).expected(each) for each in relevant]
    (axes,) = expected_histogram({"nDCG@10": expected}).axes
    assert sum(heights(axes)) == len(relevant) > 50


# Files


@pytest.mark.parametrize("name", ["map.svg", "map.png", "MAP.SVG", "a.b.PNG"])
def test_a_file_is_of_the_kind_its_ending_says_and_the_same_every_time(
    name: str, tmp_path: Path
) -> None:
    first = saved(query_map(types_of(40), "AP"), tmp_path / name)
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "x", "figure.facecolor": "red"}):
        second = saved(query_map(types_of(40), "AP"), tmp_path / name)
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
    plain = saved(query_map(types_of(5)), tmp_path / "plain.svg")
    ids = saved(query_map(types_of(5, HOSTILE)), tmp_path / "ids.svg")
    assert ids == plain
    histogram = saved(
        expected_histogram({HOSTILE: [0.5]}, {HOSTILE: [LeftOut(HOSTILE, 1)]}), tmp_path / "h.svg"
    )
    drawn = saved(query_map(types_of(5), HOSTILE), tmp_path / "map.svg")
    for svg in (histogram, drawn):
        assert elements(svg) == elements(plain)
        assert b"<script" not in svg
    assert saved(query_map(types_of(5), HOSTILE), tmp_path / "map.png").startswith(PNG)


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
        saved(query_map(types_of(3)), tmp_path / "map.svg")
        assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("name", "found"),
    [("map.pdf", "the ending .pdf"), ("map", "no ending"), ("map.svg.gz", "the ending .gz")],
)
def test_another_ending_is_refused_and_nothing_written(
    name: str, found: str, tmp_path: Path
) -> None:
    for refuse in (check_figure_path, lambda path: save_figure(query_map(types_of(1)), path)):
        with pytest.raises(RankgaugeError) as refusal:
            refuse(tmp_path / name)
        assert str(refusal.value) == f"{tmp_path / name}: {found}, expected .svg or .png"
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_cannot_be_drawn_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "map.svg"
    path.write_text("before")
    figure = query_map(types_of(1))
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
        lambda: query_map(types_of(1)),
        lambda: expected_histogram({"AP": [0.5]}),
        lambda: check_figure_path("map.svg"),
    ):
        with pytest.raises(RankgaugeError, match=r"expected pip install 'rankgauge\[plot\]'$"):
            draw()


# Distances and judgements


def distances_of(count: int, name: str = "run") -> Distances:
    """So many runs of two topics, in random orders."""
    random = np.random.default_rng(count)
    runs = {
        f"{name}{number}": {
            topic: {f"d{i}": float(random.random()) for i in range(12)} for topic in ("q1", "q2")
        }
        for number in range(count)
    }
    return med_matrix("nDCG@3", runs)


@pytest.mark.parametrize(("count", "named"), [(2, True), (40, True), (41, False)])
def test_the_square_has_the_mean_distances_in_the_order_of_the_runs(
    count: int, named: bool
) -> None:
    distances = distances_of(count)
    axes, _ = distance_map(distances).axes
    order = distances.order()
    (image,) = axes.images
    assert np.array_equal(np.asarray(image.get_array()), distances.matrix()[np.ix_(order, order)])
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert (names == [distances.runs[i] for i in order]) is named
    assert axes.get_title() == f"nDCG@3, {count} runs, 2 topics"


def test_the_scale_of_the_square_leaves_out_what_is_much_nearer_than_the_rest() -> None:
    distances = distances_of(20)
    axes, bar = distance_map(distances, list(range(20))).axes
    apart = distances.matrix()[np.triu_indices(20, 1)]
    low, high = axes.images[0].get_clim()
    assert apart.min() <= low <= np.quantile(apart, 0.02)
    assert high == apart.max()
    assert bar.get_ylabel() == "Mean distance"
    same = med_matrix("P@1", {name: {"q": {"a": 1.0}} for name in "abc"})
    assert distance_map(same).axes[0].images[0].get_clim()[0] == 0


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


def test_lines_are_drawn_in_the_order_given_with_a_legend_and_references() -> None:
    panels = {name: {"1+": [30, 20], "2+": [5, 0], "3+": [0, 0]} for name in ("x", "y", "z")}
    figure = relevant_lines(panels)
    assert [axes.get_title() for axes in figure.axes] == ["x", "y", "z"]
    for axes in figure.axes:
        lines = [np.asarray(line.get_ydata()).tolist() for line in axes.lines[:3]]
        assert lines == [[30, 20], [5, 0], [0, 0]]
        assert len({line.get_color() for line in axes.lines[:3]}) == 3
        assert len({line.get_marker() for line in axes.lines[:3]}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1+", "2+", "3+"]
    (axes,) = ideal_lines({"x": [3.0, 1.0]}, {"low": 2.0, "high": 4.0}, "Ideal").axes
    assert [line.get_ydata()[0] for line in axes.lines] == [3.0, 2.0, 4.0]
    assert [text.get_text() for text in axes.texts] == ["low: 2.00", "high: 4.00"]
    assert axes.get_ylim()[1] > 4
    for draw in (lambda: relevant_lines({}), lambda: ideal_lines({}, {}, "x")):
        with pytest.raises(RankgaugeError, match="no judgements, expected at least one"):
            draw()


def test_power_is_drawn_by_test_and_setting() -> None:
    tests = {f"test {number}": [0.05, number / 8] for number in range(8)}
    figure = power_curves([0.0, 0.1], {"a pair": tests, "ten": {"tukey": [0.0, 1.0]}}, "Added")
    first, second = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["a pair", "ten"]
    assert [line.get_ydata().tolist() for line in first.lines[1:]] == list(tests.values())
    assert all(line.get_xdata().tolist() == [0.0, 0.1] for line in first.lines[1:])
    assert len({(line.get_color(), line.get_marker()) for line in first.lines[1:]}) == 8
    assert [text.get_text() for text in first.get_legend().get_texts()] == list(tests)
    assert [text.get_text() for text in second.get_legend().get_texts()] == ["tukey"]
    assert first.get_xlabel() == second.get_xlabel() == "Added"
    for panels in ({}, {"a pair": {}}, {"a pair": tests | {"one more": [0.0, 0.0]}}):
        with pytest.raises(RankgaugeError, match="expected 1 to 8 in a panel"):
            power_curves([0.0, 0.1], panels, "Added")


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_figures_of_distances_are_whole_the_same_every_time_and_harmless(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"figure.{ending}"
    random = np.random.default_rng(1)
    many = random.random((2, 2000))
    hostile = HOSTILE.replace("\x00", "")
    for draw in (
        lambda: distance_map(distances_of(5, hostile)),
        lambda: distance_scatter({HOSTILE: (many[0], many[1])}),
        lambda: relevant_lines({HOSTILE: {HOSTILE: [3, 1]}}),
        lambda: ideal_lines({HOSTILE: [3.0, 1.0]}, {HOSTILE: 2.0}, HOSTILE),
        lambda: power_curves([0.0, 1.0], {HOSTILE: {HOSTILE: [0.05, 1.0]}}, HOSTILE),
    ):
        first = saved(draw(), path)
        assert first == saved(draw(), path)
        if ending == "svg":
            assert ElementTree.fromstring(first).tag == f"{SVG}svg"
            assert b"<script" not in first
        else:
            assert first.startswith(PNG)

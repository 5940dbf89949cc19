"""Figures of assessed measures: what is drawn is what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rankgauge import RankgaugeError, Scores
from rankgauge.comparison.assessed import Assessment, AssessmentFigure
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.consistency import LEAST_DECISIONS
from rankgauge.figures.assessment import asl_curves, swap_curves, tau_map
from rankgauge.figures.files import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib")

CURVES = ["asl", "swaps"]
FIGURES = [*CURVES, "tau"]
HOSTILE = "<script>alert(1)</script> -->]]> &amp; $\\frac{$"


def assessed(count: int = 3, runs: int = 8, topics: int = 20, **options: object) -> Assessment:
    """So many measures, each with more noise than the one before."""
    random = np.random.default_rng(1)
    merit = np.linspace(0, 1, runs)[:, None]
    parts = [
        Scores.from_matrix(
            merit + (1 + noise) * random.normal(size=(runs, topics)),
            runs=[f"r{run}" for run in range(runs)],
            measure=f'given("m{noise}")',
        )
        for noise in range(count)
    ]
    scores = parts[0].joined(*parts[1:]) if count > 1 else parts[0]
    return assess(scores, **{"splits": 100, **options})  # type: ignore[arg-type]


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# ASL curves


def test_a_line_falls_below_the_level_at_the_share_that_is_not_significant() -> None:
    found = assessed(level=0.9)
    (axes,) = found.figure("asl").axes
    level, *lines = axes.lines
    assert level.get_ydata() == pytest.approx([0.1, 0.1])
    by_power = sorted(found.parts["all"].values(), key=lambda each: -each.power)
    for each, line in zip(by_power, lines, strict=True):
        shares, p = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert line.get_drawstyle() == "steps-post"
        assert sorted(p[:-1]) == sorted(each.p)
        assert shares[np.argmax(p <= 0.1)] == pytest.approx(1 - each.power)


def test_many_tests_are_thinned_but_the_crossing_stays() -> None:
    found = assessed(1, runs=80)
    (each,) = found.parts["all"].values()
    line = found.figure("asl").axes[0].lines[1]
    shares, p = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert len(each.p) == 3160
    assert len(p) < 1100
    assert set(p) <= set(each.p)
    assert shares[np.argmax(p <= 0.05)] == pytest.approx(1 - each.power, abs=0.002)


def test_the_legend_has_the_power_the_greatest_first() -> None:
    found = assessed()
    powers = {each.name: each.power for each in found.parts["all"].values()}
    assert len(set(powers.values())) > 1
    names = sorted(powers, key=lambda name: -powers[name])
    assert legend_of(found.figure("asl")) == [f"{name} {100 * powers[name]:.1f}%" for name in names]


def test_the_level_and_what_is_near_it_are_in_view() -> None:
    found = assessed()
    (axes,) = found.figure("asl").axes
    left, right = axes.get_xlim()
    assert axes.get_ylim() == pytest.approx((0, 0.15))
    for each in found.parts["all"].values():
        assert left <= 1 - each.power <= right
        assert left <= np.mean(each.p > 0.15)


# Swap curves


def test_swap_rates_are_those_of_sizes_with_enough_decisions() -> None:
    found = assessed()
    (axes,) = found.figure("swaps").axes
    level, *lines = axes.lines
    assert level.get_ydata() == pytest.approx([0.05, 0.05])
    by_share = sorted(
        found.parts["all"].values(), key=lambda each: -each.splits.trust_threshold()[1]
    )
    dropped = 0
    for each, line in zip(by_share, lines, strict=True):
        splits = each.splits
        assert splits is not None
        bins = len(splits.edges)
        points = [
            ((place + 0.5) / bins, swapped / decided)
            for place, (swapped, decided) in enumerate(
                zip(splits.swapped.tolist(), splits.decided.tolist(), strict=True)
            )
            if decided >= LEAST_DECISIONS
        ]
        dropped += bins - len(points)
        drawn = np.transpose([line.get_xdata(), line.get_ydata()])
        assert drawn == pytest.approx(np.array(points))
    assert dropped


def test_the_legend_has_the_share_of_decisions_to_trust() -> None:
    found = assessed(1)
    share = found.parts["all"]['given("m0")'].splits.trust_threshold()[1]  # type: ignore[union-attr]
    assert legend_of(found.figure("swaps")) == [f'given("m0") {100 * share:.1f}%']


def test_without_splits_there_are_no_swap_curves() -> None:
    with pytest.raises(RankgaugeError, match=r"not split, so there are no swap rates"):
        assessed(splits=0).figure("swaps")


# Many lines


@pytest.mark.parametrize("kind", CURVES)
def test_ten_lines_differ_without_color_and_in_color(kind: AssessmentFigure) -> None:
    lines = assessed(10).figure(kind).axes[0].lines[1:]
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == 10
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 10


@pytest.mark.parametrize("kind", CURVES)
def test_of_more_the_first_and_last_five_are_colored(kind: AssessmentFigure) -> None:
    drawn = assessed(13).figure(kind)
    lines = drawn.axes[0].lines[1:]
    plain = [line.get_color() == "#CCCCCC" for line in lines]
    assert plain == [False] * 5 + [True] * 3 + [False] * 5
    colored = [line for line, gray in zip(lines, plain, strict=True) if not gray]
    assert len({(line.get_marker(), line.get_linestyle()) for line in colored}) == 10
    assert len(legend_of(drawn)) == 13


@pytest.mark.parametrize("kind", CURVES)
def test_only_the_measures_asked_for_are_drawn(kind: AssessmentFigure) -> None:
    names = ['given("m2")', 'given("m0")']
    drawn = assessed().figure(kind, names)
    assert sorted(text.split(" ")[0] for text in legend_of(drawn)) == sorted(names)


@pytest.mark.parametrize("kind", CURVES)
def test_measures_that_were_not_assessed_are_refused(kind: AssessmentFigure) -> None:
    with pytest.raises(RankgaugeError, match=r"AP was not assessed, expected one of given"):
        assessed().figure(kind, ["AP"])
    with pytest.raises(RankgaugeError, match=r"no measures, expected at least one"):
        assessed().figure(kind, [])


def test_curves_of_no_measures_are_refused() -> None:
    for draw in (lambda: asl_curves({}), lambda: swap_curves({}), lambda: tau_map([], [])):
        with pytest.raises(RankgaugeError, match=r"no measures, expected at least one"):
            draw()


# The map


@pytest.mark.parametrize("kind", ["tau", "tau_b", "rbo"])
def test_each_cell_is_how_alike_two_measures_rank_the_runs(kind: AssessmentFigure) -> None:
    found = assessed(5)
    axes = found.figure(kind).axes[0]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert sorted(names) == sorted(found.measures)
    assert [text.get_text() for text in axes.get_xticklabels()] == names
    square = np.asarray(axes.images[0].get_array())
    texts = iter(axes.texts)
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            expected = 1.0
            if first != second:
                agreement = found.agreement["all"]
                key = (first, second) if (first, second) in agreement else (second, first)
                alike = agreement[key][0]
                expected = alike.rbo.ext if kind == "rbo" else getattr(alike, kind)
            assert square[row, column] == expected
            assert next(texts).get_text() == f"{expected:.2f}"


def test_the_map_is_of_the_measures_asked_for() -> None:
    found = assessed()
    names = ['given("m2")', 'given("m0")']
    axes = found.figure("tau", names).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == names
    tau = found.agreement["all"]['given("m0")', 'given("m2")'][0].tau
    assert np.array_equal(axes.images[0].get_array(), [[1, tau], [tau, 1]])


def test_like_measures_are_neighbors() -> None:
    values = np.random.default_rng(2).random((3, 12, 6))
    values[2] = values[0] + 0.001 * values[2]
    runs = [f"r{run}" for run in range(12)]
    parts = [
        Scores.from_matrix(each, runs=runs, measure=f'given("{name}")')
        for each, name in zip(values, ("a", "b", "c"), strict=True)
    ]
    axes = assess(parts[0].joined(*parts[1:]), splits=0).figure("tau").axes[0]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert abs(names.index('given("a")') - names.index('given("c")')) == 1


def test_numbers_are_in_the_cells_of_up_to_fifteen_measures() -> None:
    assert len(assessed(15, splits=0).figure("tau").axes[0].texts) == 225
    assert not assessed(16, splits=0).figure("tau").axes[0].texts


def test_what_is_undefined_has_a_dash() -> None:
    runs = ["a", "b"]
    flat = Scores.from_matrix([[0.5, 0.5], [0.5, 0.5]], runs=runs, measure="AP")
    other = Scores.from_matrix([[0.5, 0.7], [0.3, 0.4]], runs=runs, measure="RR")
    texts = assess(flat.joined(other)).figure("tau_b").axes[0].texts
    assert [text.get_text() for text in texts] == ["1.00", "–", "–", "1.00"]


def test_another_kind_is_refused() -> None:
    with pytest.raises(
        RankgaugeError, match=r"kind='r', expected one of asl, swaps, tau, tau_b, rbo"
    ):
        assessed().figure("r")  # type: ignore[arg-type]


# All of them


@pytest.mark.parametrize("kind", FIGURES)
def test_a_figure_is_of_the_set_asked_for_and_says_so(kind: AssessmentFigure) -> None:
    found = assessed(sets={"few": ["1", "2", "3", "4"]}, topics=20)
    title = found.figure(kind, part="few").axes[0].get_title()
    assert title.startswith("few: 8 runs, 4 queries")
    assert found.figure(kind).axes[0].get_title().startswith("8 runs, 20 queries")
    with pytest.raises(
        RankgaugeError, match=r"there is no set of queries 'x', expected one of all, few"
    ):
        found.figure(kind, part="x")


@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.parametrize(("count", "ending"), [(1, "svg"), (2, "png"), (12, "svg"), (12, "png")])
def test_files_are_the_same_each_time(
    kind: AssessmentFigure, count: int, ending: str, tmp_path: Path
) -> None:
    found = assessed(count, runs=3)
    for name in ("a", "b"):
        save_figure(found.figure(kind), tmp_path / f"{name}.{ending}")
    first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert len(first) > 1000


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.parametrize("apart", [0.0, 100.0])
def test_measures_that_find_nothing_or_everything_are_drawn(
    kind: AssessmentFigure, apart: float, tmp_path: Path
) -> None:
    random = np.random.default_rng(1)
    values = apart * np.arange(2)[:, None] + (
        random.normal(size=(2, 6)) if apart else np.ones((2, 6))
    )
    found = assess(Scores.from_matrix(values, runs=["a", "b"], measure='given("m")'))
    save_figure(found.figure(kind), tmp_path / "f.png")


@pytest.mark.parametrize("kind", FIGURES)
def test_names_are_drawn_as_plain_text(kind: AssessmentFigure, tmp_path: Path) -> None:
    scores = Scores.from_matrix(
        [[0.5, 0.7, 0.6], [0.3, 0.6, 0.1]], runs=["a", "b"], measure=f"given('{HOSTILE}')"
    )
    found = assess(scores, sets={HOSTILE: scores.queries})
    save_figure(found.figure(kind, part=HOSTILE), tmp_path / "f.svg")
    assert "<script" not in (tmp_path / "f.svg").read_text()

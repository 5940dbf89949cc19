"""Figures of assessed measures: what is drawn is what was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rankgauge import RankgaugeError, Scores
from rankgauge.comparison.assessed import Assessment
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.consistency import FEWEST
from rankgauge.figures.assessment import asl_curves, swap_curves, tau_map
from rankgauge.figures.queries import save_figure

pytest.importorskip("matplotlib")

FIGURES = [asl_curves, swap_curves, tau_map]
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


def legend_of(figure: object) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]  # type: ignore[attr-defined]


# ASL curves


def test_a_line_falls_below_the_level_at_the_share_that_is_not_significant() -> None:
    found = assessed(level=0.9)
    (axes,) = asl_curves(found).axes
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
    line = asl_curves(found).axes[0].lines[1]
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
    assert legend_of(asl_curves(found)) == [f"{name} {100 * powers[name]:.1f}%" for name in names]


def test_the_level_and_what_is_near_it_are_in_view() -> None:
    found = assessed()
    (axes,) = asl_curves(found).axes
    left, right = axes.get_xlim()
    assert axes.get_ylim() == pytest.approx((0, 0.15))
    for each in found.parts["all"].values():
        assert left <= 1 - each.power <= right
        assert left <= np.mean(each.p > 0.15)


# Swap curves


def test_swap_rates_are_those_of_sizes_with_enough_decisions() -> None:
    found = assessed()
    (axes,) = swap_curves(found).axes
    level, *lines = axes.lines
    assert level.get_ydata() == pytest.approx([0.05, 0.05])
    by_share = sorted(found.parts["all"].values(), key=lambda each: -each.splits.trusted()[1])
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
            if decided >= FEWEST
        ]
        dropped += bins - len(points)
        drawn = np.transpose([line.get_xdata(), line.get_ydata()])
        assert drawn == pytest.approx(np.array(points))
    assert dropped


def test_the_legend_has_the_share_of_decisions_to_trust() -> None:
    found = assessed(1)
    share = found.parts["all"]['given("m0")'].splits.trusted()[1]  # type: ignore[union-attr]
    assert legend_of(swap_curves(found)) == [f'given("m0") {100 * share:.1f}%']


def test_without_splits_there_are_no_swap_curves() -> None:
    with pytest.raises(RankgaugeError, match=r"not split, expected an assessment with splits"):
        swap_curves(assessed(splits=0))


# Many lines


@pytest.mark.parametrize("figure", [asl_curves, swap_curves])
def test_ten_lines_differ_without_colour_and_in_colour(figure: Callable[..., object]) -> None:
    lines = figure(assessed(10)).axes[0].lines[1:]  # type: ignore[attr-defined]
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == 10
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 10


@pytest.mark.parametrize("figure", [asl_curves, swap_curves])
def test_of_more_the_first_and_last_five_are_coloured(figure: Callable[..., object]) -> None:
    drawn = figure(assessed(13))
    lines = drawn.axes[0].lines[1:]  # type: ignore[attr-defined]
    plain = [line.get_color() == "#CCCCCC" for line in lines]
    assert plain == [False] * 5 + [True] * 3 + [False] * 5
    coloured = [line for line, grey in zip(lines, plain, strict=True) if not grey]
    assert len({(line.get_marker(), line.get_linestyle()) for line in coloured}) == 10
    assert len(legend_of(drawn)) == 13


@pytest.mark.parametrize("figure", [asl_curves, swap_curves])
def test_only_the_measures_asked_for_are_drawn(figure: Callable[..., object]) -> None:
    names = ['given("m2")', 'given("m0")']
    drawn = figure(assessed(), names)
    assert sorted(text.split(" ")[0] for text in legend_of(drawn)) == sorted(names)


@pytest.mark.parametrize("figure", [asl_curves, swap_curves])
def test_measures_that_were_not_assessed_are_refused(figure: Callable[..., object]) -> None:
    with pytest.raises(RankgaugeError, match=r"AP was not assessed, expected one of given"):
        figure(assessed(), ["AP"])
    with pytest.raises(RankgaugeError, match=r"no measures, expected at least one"):
        figure(assessed(), [])


# The map


@pytest.mark.parametrize("kind", ["tau", "tau_b", "rbo"])
def test_each_cell_is_how_alike_two_measures_rank_the_runs(kind: str) -> None:
    found = assessed(5)
    axes = tau_map(found, kind=kind).axes[0]  # type: ignore[arg-type]
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


def test_like_measures_are_neighbours() -> None:
    values = np.random.default_rng(2).random((3, 12, 6))
    values[2] = values[0] + 0.001 * values[2]
    runs = [f"r{run}" for run in range(12)]
    parts = [
        Scores.from_matrix(each, runs=runs, measure=f'given("{name}")')
        for each, name in zip(values, ("a", "b", "c"), strict=True)
    ]
    axes = tau_map(assess(parts[0].joined(*parts[1:]), splits=0)).axes[0]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert abs(names.index('given("a")') - names.index('given("c")')) == 1


def test_numbers_are_in_the_cells_of_up_to_fifteen_measures() -> None:
    assert len(tau_map(assessed(15, splits=0)).axes[0].texts) == 225
    assert not tau_map(assessed(16, splits=0)).axes[0].texts


def test_what_is_undefined_has_a_dash() -> None:
    runs = ["a", "b"]
    flat = Scores.from_matrix([[0.5, 0.5], [0.5, 0.5]], runs=runs, measure="AP")
    other = Scores.from_matrix([[0.5, 0.7], [0.3, 0.4]], runs=runs, measure="RR")
    texts = tau_map(assess(flat.joined(other)), kind="tau_b").axes[0].texts
    assert [text.get_text() for text in texts] == ["1.00", "–", "–", "1.00"]


def test_another_kind_is_refused() -> None:
    with pytest.raises(RankgaugeError, match=r"kind='r', expected one of tau, tau_b, rbo"):
        tau_map(assessed(), kind="r")  # type: ignore[arg-type]


# All of them


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_of_the_set_asked_for_and_says_so(figure: Callable[..., object]) -> None:
    found = assessed(sets={"few": ["1", "2", "3", "4"]}, topics=20)
    title = figure(found, part="few").axes[0].get_title()  # type: ignore[attr-defined]
    assert title.startswith("few: 8 runs, 4 topics")
    assert figure(found).axes[0].get_title().startswith("8 runs, 20 topics")  # type: ignore[attr-defined]
    with pytest.raises(
        RankgaugeError, match=r"no set of topics is called 'x', expected one of all, few"
    ):
        figure(found, part="x")


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_files_are_the_same_each_time(
    figure: Callable[..., object], count: int, ending: str, tmp_path: Path
) -> None:
    found = assessed(count, runs=3)
    for name in ("a", "b"):
        save_figure(figure(found), tmp_path / f"{name}.{ending}")  # type: ignore[arg-type]
    first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert len(first) > 1000


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("apart", [0.0, 100.0])
def test_measures_that_find_nothing_or_everything_are_drawn(
    figure: Callable[..., object], apart: float, tmp_path: Path
) -> None:
    random = np.random.default_rng(1)
    values = apart * np.arange(2)[:, None] + (
        random.normal(size=(2, 6)) if apart else np.ones((2, 6))
    )
    found = assess(Scores.from_matrix(values, runs=["a", "b"], measure='given("m")'))
    save_figure(figure(found), tmp_path / "f.png")  # type: ignore[arg-type]


@pytest.mark.parametrize("figure", FIGURES)
def test_names_are_drawn_as_plain_text(figure: Callable[..., object], tmp_path: Path) -> None:
    scores = Scores.from_matrix(
        [[0.5, 0.7, 0.6], [0.3, 0.6, 0.1]], runs=["a", "b"], measure=f"given('{HOSTILE}')"
    )
    found = assess(scores, sets={HOSTILE: scores.queries})
    save_figure(figure(found, part=HOSTILE), tmp_path / "f.svg")  # type: ignore[arg-type]
    assert "<script" not in (tmp_path / "f.svg").read_text()

"""Figures of the space of weights.

They show measures along a path, over a grid or a plane, and beside other objectives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.records import Record
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    GRAY,
    INK,
    LINES,
    VERMILION,
    add_legend,
    marker_area,
    new_figure,
    plotting,
    thin_steps,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


KINDS = (("good", 1, BLUE), ("bad", -1, VERMILION), ("neutral", 0, GRAY))
MOST_TICKS = 1_000
"""How many ticks of one kind are drawn over the width of a figure: more cannot be told apart."""


@plotting()
def path_figure(
    where: Floats,
    means: Mapping[str, Floats],
    joints: Mapping[str, Sequence[float]],
    merit: NDArray[np.int8],
) -> Figure:
    """Measures along a path: steps at the flips, and a mark at each point that the path goes through.

    Below there is a row of ticks for the good, the bad and the neutral flips.

    `where` says where each flip is, the points of the path at 0, 1, 2 and so on. `means` has the mean of
    each measure after each flip, `joints` its mean at each point. `merit` is 1 for good flips and −1 for
    bad ones.
    """
    figure = new_figure(6.4, 4.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    for (name, values), (color, marker) in zip(means.items(), cycle(LINES), strict=False):
        points = np.asarray(joints[name])
        edges = np.concatenate(([0.0], where, [len(points) - 1.0]))
        edges, steps = thin_steps(edges, np.append(points[0], values))
        upper.stairs(steps, edges, baseline=None, color=color, lw=1.2)
        style: Any = {"ls": "", "marker": marker, "ms": 5, "color": color, "clip_on": False}
        upper.plot(range(len(points)), points, label=wrap_text(name, 24), **style)
    for row, (_, sign, color) in enumerate(KINDS):
        apart = len(points) / MOST_TICKS
        ticks = np.unique(np.round(where[merit == sign] * MOST_TICKS / len(points))) * apart
        lower.vlines(ticks, -row - 0.4, -row + 0.4, color=color, lw=0.6)
    lower.set_yticks([0, -1, -2], [name for name, _, _ in KINDS])
    lower.tick_params(axis="y", length=0)
    lower.set_ylim(-2.6, 0.6)
    lower.set_xlim(0, len(points) - 1)
    if len(points) <= 21:
        lower.set_xticks(range(len(points)), [str(n + 1) for n in range(len(points))])
    lower.set_xlabel("point of the path")
    lower.set_ylabel("flips")
    upper.set_ylabel("mean")
    add_legend(figure, loc="outside right upper", fontsize=8)
    return figure


@plotting()
def objectives_figure(
    positions: ArrayLike,
    measures: Mapping[str, ArrayLike],
    objectives: Mapping[str, Mapping[str, ArrayLike]],
    *,
    lower_is_better: Collection[str] = (),
) -> Figure:
    """Draw rank measures and objectives on scores along a line, and mark the best point of each.

    Each line has its own scale, from its worst value to its best.

    Parameters
    ----------
    positions : array-like
        The points of the line.
    measures : mapping of str to array-like
        For the upper panel: the value of each rank measure at each point. Increasing maps of the scores
        do not change these values.
    objectives : mapping of str to mapping of str to array-like
        For the lower panel: for each objective and each map of the scores, the value at each point.
    lower_is_better : collection of str, optional
        The measures and objectives for which lower values are better.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> objectives = {"loss": {"scores": [0.7, 0.4], "exp": [0.7, 0.5]}}
    >>> figure = objectives_figure([0, 1], {"RR": [0.5, 1]}, objectives, lower_is_better=["loss"])
    >>> [line.get_label() for line in figure.axes[1].lines if line.get_label()[0] != "_"]
    ['loss, scores', 'loss, exp']
    """
    where = np.asarray(positions, dtype=np.float64)
    figure = new_figure(6.4, 5.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for (name, values), (color, marker) in zip(measures.items(), cycle(LINES), strict=False):
        _draw_scaled_line(upper, where, values, name, name in lower_is_better, color, marker, "-")
    for (name, maps), (color, marker) in zip(objectives.items(), cycle(LINES), strict=False):
        for (map_name, values), style in zip(maps.items(), cycle(_STYLES), strict=False):
            label, lower_wins = f"{name}, {map_name}", name in lower_is_better
            _draw_scaled_line(lower, where, values, label, lower_wins, color, marker, style)
    upper.set_title("rank measures: the same for every increasing map of the scores", fontsize=10)
    lower.set_title("objectives on scores: they change with the map", fontsize=10)
    lower.set_xlabel("position on the line")
    for axes in (upper, lower):
        axes.set_ylabel("each on its own scale")
        axes.set_yticks([0, 1], ["worst", "best"])
        axes.set_ylim(-0.05, 1.1)
        axes.set_xlim(float(where.min()), float(where.max()))
        add_legend(axes, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8)
    return figure


_STYLES = ("-", DASHED, ":")


def _draw_scaled_line(
    axes: Axes,
    where: Floats,
    values: ArrayLike,
    name: str,
    lower_is_better: bool,
    color: str,
    marker: str,
    style: Any,
) -> None:
    """A line from its worst value to its best, with a mark in the middle of the points that are best."""
    merit = np.asarray(values, dtype=np.float64) * (-1 if lower_is_better else 1)
    low, high = np.nanmin(merit), np.nanmax(merit)
    scaled = (merit - low) / (high - low) if high > low else np.ones(len(merit))
    best = np.flatnonzero(scaled >= 1 - 1e-12)
    middle = best[len(best) // 2]
    axes.plot(where, scaled, color=color, ls=style, lw=1.2, label=wrap_text(name, 24))
    (mark,) = axes.plot(where[middle], scaled[middle], ls="", marker=marker, ms=6, color=color)
    mark.set_clip_on(False)


@plotting()
def optima_figure(values: Floats, found: Ints, measure: str) -> Figure:
    """The values of local optima, from the best on, and how many starts reached each of them."""
    figure = new_figure(6.4, 4.0)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    places = np.arange(1, len(values) + 1)
    area = marker_area(len(values))
    upper.scatter(places, values, s=area, color=BLUE, marker="o")
    lower.bar(places, found, color=GRAY)
    upper.set_ylabel(wrap_text(f"mean {measure}", 40))
    lower.set_ylabel("starts")
    lower.set_xlabel("local optimum, the best first")
    for axis in (lower.xaxis, lower.yaxis):
        axis.get_major_locator().set_params(integer=True)
    return figure


@plotting()
def grid_curve(
    edges: Floats, values: Floats, ticks: Floats, at_ticks: Floats, axis: str, measure: str
) -> Figure:
    """The curve of a measure over one weight, as the step function that it is, and the grid points."""
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    edges, values = thin_steps(edges, values)
    axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label="every weight")
    axes.plot(ticks, at_ticks, ls="", marker="o", ms=5, color=INK, label="grid", clip_on=False)
    axes.set_xlim(float(edges[0]), float(edges[-1]))
    axes.set_xlabel(wrap_text(axis, 60), parse_math=False)
    axes.set_ylabel(wrap_text(f"mean {measure}", 40), parse_math=False)
    figure.legend(loc="outside right upper", fontsize=8)
    return figure


@plotting()
def grid_map(
    first: Floats,
    second: Floats,
    values: Floats,
    points: Floats,
    on_grid: Floats,
    on_lines: Floats,
    *,
    names: Sequence[str],
    about: str,
) -> Figure:
    """The values on a grid of two weights as an image, and what the grid misses.

    Parameters
    ----------
    first, second
        The weights on the two axes.
    values
        The value at each point of the grid.
    points
        Two weights a row: the best points of the lines that have something better than the grid.
    on_grid, on_lines
        The two weights of the best point on the grid, and on the lines.
    names
        The names of the axes.
    about
        What the values are.
    """
    figure = new_figure(6.4, 5.0)
    axes = figure.subplots()
    image = axes.pcolormesh(first, second, values.T, cmap="cividis", shading="nearest")
    figure.colorbar(image, ax=axes, label=wrap_text(f"mean {about}", 40))
    marks = (
        (points, "o", 3.5, VERMILION, "better, on a line"),
        (on_grid[None, :], "s", 13.0, "none", "best on the grid"),
        (on_lines[None, :], "*", 12.0, VERMILION, "best on the lines"),
    )
    for where, marker, size, face, label in marks:
        edge, width = (VERMILION, 1.8) if face == "none" else ("white", 0.8)
        (mark,) = axes.plot(*where.T, ls="", marker=marker, ms=size, mfc=face, label=label)
        mark.set(markeredgecolor=edge, markeredgewidth=width, clip_on=False)
    axes.set_xlabel(wrap_text(names[0], 60), parse_math=False)
    axes.set_ylabel(wrap_text(names[1], 50), parse_math=False)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    return figure


MOST_LINES = 60
"""With more flip boundaries than that, they are not drawn: they would hide the rest."""


class PathLine(Record):
    """The curve of a measure: its edges and values, and its best value with the ends of its interval."""

    measure: str
    edges: Floats
    values: Floats
    best: tuple[float, float, float] | None


@plotting()
def curves_figure(lines: Sequence[PathLine], axis: str) -> Figure:
    """The means of measures along a path, as the step functions that they are.

    A mark shows the best interval of each.
    """
    figure = new_figure(6.4, 4.6)
    axes = figure.subplots()
    for line, (color, marker) in zip(lines, cycle(LINES), strict=False):
        label = wrap_text(line.measure, 24)
        edges, values = thin_steps(line.edges, line.values)
        axes.stairs(values, edges, baseline=None, color=color, lw=1.1)
        if line.best is None:
            axes.plot([], [], color=color, label=label)
            continue
        value, low, high = line.best
        label += f"\nbest {value:.4f}\nat {low:.4g} to {high:.4g}"
        axes.axvspan(low, high, color=color, alpha=0.15, lw=0, zorder=0)
        axes.plot(
            (low + high) / 2, value, ls="", marker=marker, ms=6, color=color, label=label,
            markeredgecolor="white", clip_on=False,
        )  # fmt: skip
    axes.set_xlim(float(lines[0].edges[0]), float(lines[0].edges[-1]))
    axes.set_xlabel(wrap_text(axis, 60), parse_math=False)
    axes.set_ylabel("mean")
    add_legend(figure, loc="outside lower center", ncols=min(3, len(lines)), fontsize=9)
    return figure


@plotting()
def plane_map(
    values: Floats,
    optimal: Bools,
    lines: Sequence[tuple[int, int, int]],
    span: tuple[float, float],
    best: tuple[float, float] | None,
    *,
    names: Sequence[str],
    first: str | None,
    measure: str,
) -> Figure:
    """The mean of a measure over a square of two weights.

    Parameters
    ----------
    values
        The mean at the points of a grid, y × x.
    optimal
        Which of these points are in a local optimum; they are outlined.
    lines
        The flip boundaries a·x + b·y + c = 0, which are drawn if they are few.
    span
        The lowest and the highest weight.
    best
        The best weights in the square.
    names
        The names of x and y.
    first
        The name of a third weight, 1 − x − y, of a mixture; a line shows where it is 0.
    measure
        The name of the measure.
    """
    low, high = span
    ticks = low + (np.arange(len(values)) + 0.5) / len(values) * (high - low)
    figure = new_figure(6.4, 5.4)
    axes = figure.subplots()
    image = axes.imshow(
        values, origin="lower", extent=(low, high, low, high), cmap="cividis", aspect="equal",
        interpolation="nearest",
    )  # fmt: skip
    figure.colorbar(image, ax=axes, label=wrap_text(f"mean {measure}", 40), shrink=0.8)
    if len(lines) <= MOST_LINES:
        for line in lines:
            _draw_line(axes, line, span)
    if optimal.any() and not optimal.all():
        axes.contour(ticks, ticks, optimal.astype(float), [0.5], colors="white", linewidths=1.4)
        axes.contour(ticks, ticks, optimal.astype(float), [0.5], colors=VERMILION, linewidths=0.8)
        axes.plot([], [], color=VERMILION, lw=1.2, label="local optima")
    if best is not None:
        (mark,) = axes.plot(*best, ls="", marker="*", ms=13, color=VERMILION, label="best here")
        mark.set(markeredgecolor="white", markeredgewidth=0.9, clip_on=False)
    if first is not None and 2 * low < 1 < 2 * high:
        ends = np.array([max(low, 1 - high), min(high, 1 - low)])
        label = wrap_text(f"{first} is 0", 40)
        axes.plot(ends, 1 - ends, color="white", lw=2.4)
        axes.plot(ends, 1 - ends, color=INK, ls="--", lw=1.2, label=label)
    axes.set(xlim=span, ylim=span)
    axes.set_xlabel(wrap_text(names[0], 60), parse_math=False)
    axes.set_ylabel(wrap_text(names[1], 50), parse_math=False)
    add_legend(figure, loc="outside upper center", ncols=3, fontsize=9)
    return figure


def _draw_line(axes: Axes, line: tuple[int, int, int], span: tuple[float, float]) -> None:
    """The part of a line in the square."""
    (a, b, c), ends = map(float, line), np.array(span)
    if abs(b) >= abs(a):
        axes.plot(ends, -(a * ends + c) / b, color="white", lw=0.6, alpha=0.7)
    else:
        axes.plot(-(b * ends + c) / a, ends, color="white", lw=0.6, alpha=0.7)

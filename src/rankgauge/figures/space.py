"""Figures of the space of weights: measures along a path, over a grid, and beside other objectives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    GREY,
    INK,
    LINES,
    VERMILION,
    marker_area,
    plotting,
    thinned,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (("good", 1, BLUE), ("bad", -1, VERMILION), ("neutral", 0, GREY))
MOST_TICKS = 1_000
"""How many ticks of one kind are drawn over the width of a figure: more cannot be told apart."""


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
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        for (name, values), (colour, marker) in zip(means.items(), cycle(LINES), strict=False):
            points = np.asarray(joints[name])
            edges = np.concatenate(([0.0], where, [len(points) - 1.0]))
            steps = np.append(points[0], values)
            label = wrapped(name, 24)
            edges, steps = thinned(edges, steps)
            upper.stairs(steps, edges, baseline=None, color=colour, lw=1.2)
            upper.plot(
                range(len(points)),
                points,
                ls="",
                marker=marker,
                ms=5,
                color=colour,
                label=label,
                clip_on=False,
            )
        for row, (_, sign, colour) in enumerate(KINDS):
            ticks = np.unique(np.round(where[merit == sign] * MOST_TICKS / len(points))) * (
                len(points) / MOST_TICKS
            )
            lower.vlines(ticks, -row - 0.4, -row + 0.4, color=colour, lw=0.6)
        lower.set_yticks([0, -1, -2], [name for name, _, _ in KINDS])
        lower.tick_params(axis="y", length=0)
        lower.set_ylim(-2.6, 0.6)
        lower.set_xlim(0, len(points) - 1)
        if len(points) <= 21:
            lower.set_xticks(range(len(points)), [str(n + 1) for n in range(len(points))])
        lower.set_xlabel("point of the path")
        lower.set_ylabel("flips")
        upper.set_ylabel("mean")
        legend = figure.legend(loc="outside right upper", fontsize=8)
        for text in legend.get_texts():
            text.set_parse_math(False)
        return figure


def objectives_figure(
    positions: ArrayLike,
    measures: Mapping[str, ArrayLike],
    objectives: Mapping[str, Mapping[str, ArrayLike]],
    *,
    lower_is_better: Collection[str] = (),
) -> Figure:
    """Rank measures and objectives on scores along a line, with a mark at the best point of each.

    Each line has a scale of its own, from its worst value to its best.

    Parameters
    ----------
    positions
        The points of the line.
    measures
        Upper panel: for each rank measure its value at each point. It is the same for all increasing
        maps of the scores.
    objectives
        Lower panel: for each objective on scores, and each map of the scores, its value at each point.
    lower_is_better
        The measures and objectives of which low values are better.
    """
    where = np.asarray(positions, dtype=np.float64)
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 5.2), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)
        for (name, values), (colour, marker) in zip(measures.items(), cycle(LINES), strict=False):
            _scaled_line(upper, where, values, name, name in lower_is_better, colour, marker, "-")
        for (name, maps), (colour, marker) in zip(objectives.items(), cycle(LINES), strict=False):
            for (map_name, values), style in zip(maps.items(), cycle(_STYLES), strict=False):
                label = f"{name}, {map_name}"
                worse = name in lower_is_better
                _scaled_line(lower, where, values, label, worse, colour, marker, style)
        upper.set_title(
            "rank measures: the same for every increasing map of the scores", fontsize=10
        )
        lower.set_title("objectives on scores: they change with the map", fontsize=10)
        lower.set_xlabel("position on the line")
        for axes in (upper, lower):
            axes.set_ylabel("each on its own scale")
            axes.set_yticks([0, 1], ["worst", "best"])
            axes.set_ylim(-0.05, 1.1)
            axes.set_xlim(float(where.min()), float(where.max()))
            legend = axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=8)
            for text in legend.get_texts():
                text.set_parse_math(False)
        return figure


_STYLES = ("-", DASHED, ":")


def _scaled_line(
    axes: Axes,
    where: Floats,
    values: ArrayLike,
    name: str,
    lower_is_better: bool,
    colour: str,
    marker: str,
    style: Any,
) -> None:
    """A line from its worst value to its best, with a mark in the middle of the points that are best."""
    merit = np.asarray(values, dtype=np.float64) * (-1 if lower_is_better else 1)
    low, high = np.nanmin(merit), np.nanmax(merit)
    scaled = (merit - low) / (high - low) if high > low else np.ones(len(merit))
    best = np.flatnonzero(scaled >= 1 - 1e-12)
    middle = best[len(best) // 2]
    axes.plot(where, scaled, color=colour, ls=style, lw=1.2, label=wrapped(name, 24))
    (mark,) = axes.plot(where[middle], scaled[middle], ls="", marker=marker, ms=6, color=colour)
    mark.set_clip_on(False)


def optima_figure(values: Floats, found: Ints, measure: str) -> Figure:
    """The values of local optima, from the best on, and how many starts reached each of them."""
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        places = np.arange(1, len(values) + 1)
        area = marker_area(len(values))
        upper.scatter(places, values, s=area, color=BLUE, marker="o")
        lower.bar(places, found, color=GREY)
        upper.set_ylabel(wrapped(f"mean {measure}", 40))
        lower.set_ylabel("starts")
        lower.set_xlabel("local optimum, the best first")
        for axis in (lower.xaxis, lower.yaxis):
            axis.get_major_locator().set_params(integer=True)
        return figure


def grid_curve(
    edges: Floats, values: Floats, ticks: Floats, at_ticks: Floats, axis: str, measure: str
) -> Figure:
    """The curve of a measure over one weight, as the step function that it is, and the grid points."""
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        edges, values = thinned(edges, values)
        axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label="every weight")
        axes.plot(ticks, at_ticks, ls="", marker="o", ms=5, color=INK, label="grid", clip_on=False)
        axes.set_xlim(float(edges[0]), float(edges[-1]))
        axes.set_xlabel(wrapped(axis, 60), parse_math=False)
        axes.set_ylabel(wrapped(f"mean {measure}", 40), parse_math=False)
        figure.legend(loc="outside right upper", fontsize=8)
        return figure


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
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 5.0), layout="constrained")
        axes = figure.subplots()
        image = axes.pcolormesh(first, second, values.T, cmap="cividis", shading="nearest")
        figure.colorbar(image, ax=axes, label=wrapped(f"mean {about}", 40))
        marks = (
            (points, "o", 3.5, VERMILION, "better, on a line"),
            (on_grid[None, :], "s", 13.0, "none", "best on the grid"),
            (on_lines[None, :], "*", 12.0, VERMILION, "best on the lines"),
        )
        for where, marker, size, face, label in marks:
            edge, width = (VERMILION, 1.8) if face == "none" else ("white", 0.8)
            (mark,) = axes.plot(*where.T, ls="", marker=marker, ms=size, mfc=face, label=label)
            mark.set(markeredgecolor=edge, markeredgewidth=width, clip_on=False)
        axes.set_xlabel(wrapped(names[0], 60), parse_math=False)
        axes.set_ylabel(wrapped(names[1], 50), parse_math=False)
        figure.legend(loc="outside upper center", ncols=3, fontsize=8)
        return figure

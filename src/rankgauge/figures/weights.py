"""Figures of spaces of weights: exact curves along a path, and the mean over a plane of two weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.figures.drawing import INK, LINES, VERMILION, plotting, thinned, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 60
"""With more flip boundaries than that, they are not drawn: they would hide the rest."""


class PathLine(NamedTuple):
    """The curve of a measure: its edges and values, and its best value with the ends of its interval."""

    measure: str
    edges: Floats
    values: Floats
    best: tuple[float, float, float] | None


def curves_figure(lines: Sequence[PathLine], axis: str) -> Figure:
    """The means of measures along a path, as the step functions that they are. A mark shows the best
    interval of each."""
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.6), layout="constrained")
        axes = figure.subplots()
        for line, (colour, marker) in zip(lines, cycle(LINES), strict=False):
            label = wrapped(line.measure, 24)
            edges, values = thinned(line.edges, line.values)
            axes.stairs(values, edges, baseline=None, color=colour, lw=1.1)
            if line.best is None:
                axes.plot([], [], color=colour, label=label)
                continue
            value, low, high = line.best
            label += f"\nbest {value:.4f}\nat {low:.4g} to {high:.4g}"
            axes.axvspan(low, high, color=colour, alpha=0.15, lw=0, zorder=0)
            axes.plot(
                (low + high) / 2, value, ls="", marker=marker, ms=6, color=colour, label=label,
                markeredgecolor="white", clip_on=False,
            )  # fmt: skip
        axes.set_xlim(float(lines[0].edges[0]), float(lines[0].edges[-1]))
        axes.set_xlabel(wrapped(axis, 60), parse_math=False)
        axes.set_ylabel("mean")
        legend = figure.legend(loc="outside lower center", ncols=min(3, len(lines)), fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
        return figure


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
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 5.4), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(
            values, origin="lower", extent=(low, high, low, high), cmap="cividis", aspect="equal",
            interpolation="nearest",
        )  # fmt: skip
        figure.colorbar(image, ax=axes, label=wrapped(f"mean {measure}", 40), shrink=0.8)
        if len(lines) <= MOST_LINES:
            for a, b, c in lines:
                _draw_line(axes, (float(a), float(b), float(c)), span)
        if optimal.any() and not optimal.all():
            axes.contour(ticks, ticks, optimal.astype(float), [0.5], colors="white", linewidths=1.4)
            axes.contour(
                ticks, ticks, optimal.astype(float), [0.5], colors=VERMILION, linewidths=0.8
            )
            axes.plot([], [], color=VERMILION, lw=1.2, label="local optima")
        if best is not None:
            (mark,) = axes.plot(*best, ls="", marker="*", ms=13, color=VERMILION, label="best here")
            mark.set(markeredgecolor="white", markeredgewidth=0.9, clip_on=False)
        if first is not None and 2 * low < 1 < 2 * high:
            ends = np.array([max(low, 1 - high), min(high, 1 - low)])
            label = wrapped(f"{first} is 0", 40)
            axes.plot(ends, 1 - ends, color="white", lw=2.4)
            axes.plot(ends, 1 - ends, color=INK, ls="--", lw=1.2, label=label)
        axes.set(xlim=span, ylim=span)
        axes.set_xlabel(wrapped(names[0], 60), parse_math=False)
        axes.set_ylabel(wrapped(names[1], 50), parse_math=False)
        legend = figure.legend(loc="outside upper center", ncols=3, fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
        return figure


def _draw_line(axes: Axes, line: tuple[float, float, float], span: tuple[float, float]) -> None:
    """The part of a line in the square."""
    a, b, c = line
    ends = np.array(span)
    if abs(b) >= abs(a):
        axes.plot(ends, -(a * ends + c) / b, color="white", lw=0.6, alpha=0.7)
    else:
        axes.plot(-(b * ends + c) / a, ends, color="white", lw=0.6, alpha=0.7)

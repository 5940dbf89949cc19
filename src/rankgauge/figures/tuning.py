"""The curve of a measure over the weight between two runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    plotting,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = (GREEN, ORANGE, PURPLE, GREY, VERMILION)


def weight_curve(
    breaks: Floats,
    values: Floats,
    chosen: tuple[float, float],
    plateau: tuple[float, float] | None,
    others: Mapping[str, float],
    *,
    measure: str,
    margin: float,
    first: str,
    second: str,
) -> Figure:
    """The mean for every weight of the second run, as the step function that it is.

    Drawn are the chosen weight and its value, the part of the curve that is as good, the points of a
    grid of tenths, and the means of other ways as lines across.
    """
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        edges = np.concatenate(([0.0], breaks, [1.0]))
        if plateau is not None:
            axes.axvspan(*plateau, color=SKY, alpha=0.25, lw=0, label=f"as good, within {margin:g}")
        axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label=wrapped(measure, 30))
        grid = np.arange(1, 10) / 10
        at_grid = values[np.searchsorted(breaks, grid, side="right")]
        axes.plot(grid, at_grid, ls="", marker="o", ms=4, color=INK, label="a grid of tenths")
        axes.plot(*chosen, ls="", marker="*", ms=11, color=INK, label=f"best: {chosen[0]:.4g}")
        for (name, mean), colour in zip(others.items(), _COLOURS * len(others), strict=False):
            axes.axhline(mean, color=colour, ls=DASHED, lw=1.0, label=wrapped(name, 30))
        axes.set_xlim(0, 1)
        axes.set_xlabel(wrapped(f"weight of {second} (the rest is {first})", 60))
        axes.set_ylabel(wrapped(f"mean {measure}", 40))
        figure.legend(loc="outside right upper", fontsize=8)
        return figure

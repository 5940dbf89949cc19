"""The curve of a measure over the weight between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Floats
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

_COLOURS = (GREEN, ORANGE, PURPLE, GREY, BLUE)
_DASHES = (DASHED, (0, (1, 2)), (2, (6, 2, 1, 2)))


def weight_curve(
    breaks: Floats,
    values: Floats,
    chosen: tuple[float, float],
    plateau: tuple[float, float] | None,
    at_tenths: Sequence[float],
    others: Mapping[str, float],
    *,
    measure: str,
    margin: float,
    first: str,
    second: str,
    topics: int,
) -> Figure:
    """The mean for every weight of the second run, as the step function that it is.

    Drawn are the chosen weight and its value, the part of the curve that is as good, the values at the
    tenths, which can differ from the values beside them, and the means of other ways as lines across.
    """
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        edges = np.concatenate(([0.0], breaks, [1.0]))
        if plateau is not None:
            axes.axvspan(*plateau, color=SKY, alpha=0.25, lw=0, label=f"as good, within {margin:g}")
        axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label=wrapped(measure, 30))
        axes.plot(
            *chosen, ls="", marker="*", ms=13, color=VERMILION, label=f"best: {chosen[0]:.4g}"
        )
        grid = np.arange(1, 10) / 10
        axes.plot(grid, at_tenths, ls="", marker="o", ms=4, color=INK, label="a grid of tenths")
        for place, (name, mean) in enumerate(others.items()):
            colour, dashes = _COLOURS[place % len(_COLOURS)], _DASHES[place % len(_DASHES)]
            axes.axhline(mean, color=colour, ls=dashes, lw=1.2, label=wrapped(name, 30))
        axes.set_xlim(0, 1)
        axes.set_xlabel(wrapped(f"weight of {second} (the rest is {first})", 60))
        axes.set_ylabel(wrapped(f"mean {measure} on the {topics} topics of the choice", 40))
        figure.legend(loc="outside right upper", fontsize=8)
        return figure

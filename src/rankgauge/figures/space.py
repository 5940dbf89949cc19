"""Figures of the space of weights: measures along a path, over a grid, and beside other objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.arrays import Floats
from rankgauge.figures.drawing import BLUE, GREY, LINES, VERMILION, plotting, wrapped

if TYPE_CHECKING:
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
        for (name, values), (colour, marker) in zip(
            means.items(), LINES * (1 + len(means) // len(LINES)), strict=False
        ):
            points = np.asarray(joints[name])
            edges = np.concatenate(([0.0], where, [len(points) - 1.0]))
            steps = np.append(points[0], values)
            label = wrapped(name, 24)
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

"""Figures of the distances of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import count_phrase
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    INK,
    marker_area,
    new_figure,
    plotting,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NAMED = 40


@plotting()
def distance_map(
    distances: ArrayLike, names: Sequence[str], *, about: str = "", exact: bool = True
) -> Figure:
    """The mean distances of all pairs of runs as a square of colors: the darker, the nearer.

    The scale begins at the distance that only 1% of the pairs are below.

    Parameters
    ----------
    distances: run × run; runs with a small distance should stand next to each other.
    names: the names of the runs, in the same order; up to 40 are shown.
    about: the title.
    exact: whether the distances are exact; else they are lower bounds.

    >>> figure = distance_map([[0.0, 0.5], [0.5, 0.0]], ["a", "b"], about="P@1, 2 runs")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a', 'b']
    """
    square = np.asarray(distances, dtype=np.float64).reshape(len(names), len(names))
    apart = square[~np.eye(len(names), dtype=np.bool_)]
    least = float(np.quantile(apart, 0.01)) if len(apart) and np.ptp(apart) else 0.0
    figure = new_figure(6.0, 5.2)
    axes = figure.add_subplot()
    scale: Any = {"vmin": least, "vmax": float(square.max(initial=0.0)) or 1.0}
    image = axes.imshow(square, cmap="cividis", interpolation="nearest", **scale)
    axes.set_title(wrap_text(about, 60), fontsize=9, parse_math=False)
    label = "Mean distance" if exact else "Mean distance (a lower bound)"
    extend: Any = "min" if least else "neither"
    figure.colorbar(image, ax=axes, shrink=0.85, label=label, extend=extend)
    if len(names) <= _MOST_NAMED:
        shown = [wrap_text(name, 40) for name in names]
        ticks = range(len(names))
        axes.set_xticks(ticks, shown, rotation=90, fontsize=7, parse_math=False)
        axes.set_yticks(ticks, shown, fontsize=7, parse_math=False)
    else:
        axes.set(xlabel="Runs, near ones together", ylabel="Runs, near ones together")
    return figure


@plotting()
def distance_scatter(panels: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """The distances of pairs of runs against their differences, with a panel for each measure.

    `panels` has for each measure the distances and the differences of all pairs. If the distances are
    right, no point is below the diagonal.

    >>> figure = distance_scatter({"P@1": ([1.0, 0.5], [0.25, 0.5])})
    >>> figure.axes[0].get_title()
    'P@1\\n2 pairs, 0 below the diagonal'
    """
    points: dict[str, tuple[Floats, Floats]] = {}
    for name, (distances, differences) in panels.items():
        points[name] = (np.asarray(distances, dtype=float), np.asarray(differences, dtype=float))
    limit = max((float(e.max(initial=0.0)) for both in points.values() for e in both), default=0.0)
    limits = (-0.02 * (limit or 1.0), 1.02 * (limit or 1.0))
    figure = new_figure(3.3 * max(len(panels), 1) + 0.2, 3.8)
    grid = figure.subplots(1, max(len(panels), 1), sharey=True, squeeze=False).flat
    for axes, (name, (far, apart)) in zip(grid, points.items(), strict=True):
        axes.set(xlim=limits, ylim=limits, aspect="equal")
        axes.plot(limits, limits, color=INK, linewidth=1, linestyle=DASHED, zorder=1)
        axes.scatter(
            apart,
            far,
            s=marker_area(20 * len(far)),
            color=BLUE,
            alpha=0.9 if len(far) <= 1000 else 0.25,
            linewidths=0,
            rasterized=len(far) > 1000,
            zorder=2,
        )
        below = int(np.count_nonzero(far < apart - 1e-12))
        title = f"{name}\n{count_phrase(len(far), 'pair')}, {below:,} below the diagonal"
        axes.set_title(wrap_text(title, 60), fontsize=9, parse_math=False)
    figure.supxlabel("Difference of the means, with the judgments", fontsize=11)
    figure.supylabel("Mean distance, without judgments", fontsize=11)
    return figure

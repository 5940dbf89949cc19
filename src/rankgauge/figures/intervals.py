"""Intervals of many runs, and of the correlations of metrics with people's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import (
    BLUE,
    GRAY,
    INK,
    ORANGE,
    new_figure,
    plotting,
    shorten,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Ends: TypeAlias = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Values, and the lower and upper ends of their intervals."""
MOST_NAMED = 80
"""Up to so many runs, each has its name; of more, only ranks are shown."""
_MOST_COLUMNS = 4
"""How many panels stand side by side."""


@plotting()
def run_intervals(
    runs: Sequence[str],
    estimates: Ends,
    deep: Ends,
    shallow: ArrayLike,
    *,
    label: str = "",
    about: str = "",
) -> Figure:
    """The interval of each run, the first run on top.

    The estimates are blue; the deep queries alone are gray; the shallow scores are orange crosses. An
    end that is NaN is not drawn.

    Parameters
    ----------
    runs: the names of the runs, in the order of the figure.
    estimates: the estimates, with their intervals.
    deep: the same from the deep queries alone.
    shallow: the shallow means.
    label: the text of the axis.
    about: the title.

    >>> figure = run_intervals(["a"], ([0.4], [0.3], [0.5]), ([0.5], [0.1], [0.9]), [0.6])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a']
    """
    if not len(runs):
        raise RankgaugeError("no runs, expected at least one to draw")
    named = len(runs) <= MOST_NAMED
    figure = new_figure(7.0, 1.4 + min(0.22 * len(runs), 16.0))
    axes = figure.add_subplot()
    rows = np.arange(len(runs), dtype=np.float64)
    size = 4.0 if named else 2.0
    _bars(axes, rows + 0.2, deep, "deep queries alone", color=GRAY, marker="|", markersize=size)
    _bars(axes, rows - 0.1, estimates, "two-phase", color=BLUE, marker="o", markersize=size)
    style: Any = {"color": ORANGE, "marker": "x", "markersize": size, "linestyle": ""}
    axes.plot(np.asarray(shallow, dtype=np.float64), rows, label="shallow scores", **style)
    axes.set_ylim(len(runs) - 0.5, -0.5)
    if named:
        axes.set_yticks(rows, [wrap_text(shorten(run, 30), 60) for run in runs], parse_math=False)
    else:
        axes.set_ylabel("Rank")
        steps = np.arange(0, len(runs), max(1, len(runs) // 10))
        axes.set_yticks(steps, [str(step + 1) for step in steps.tolist()])
    axes.grid(axis="x", color=INK, alpha=0.15)
    axes.set_xlabel(wrap_text(label, 80), parse_math=False)
    axes.set_title(wrap_text(about, 80), parse_math=False)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _bars(axes: Axes, rows: Floats, ends: Ends, name: str, **style: Any) -> None:
    value, low, high = (np.asarray(each, dtype=np.float64) for each in ends)
    drawn = ~np.isnan(low + high)
    axes.hlines(rows[drawn], low[drawn], high[drawn], color=style["color"], linewidth=1.5)
    axes.plot(value, rows, linestyle="", label=name, **style)


@plotting()
def correlation_intervals(
    metrics: Sequence[str],
    dimensions: Sequence[str],
    estimates: Ends,
    *,
    label: str = "",
    about: str = "",
) -> Figure:
    """Draw the correlation of each metric and its interval, with a panel for each dimension.

    The first metric is on top. A correlation or an end that is NaN is not drawn.

    Parameters
    ----------
    metrics, dimensions: their names.
    estimates: metric × dimension, the correlations and the ends of their intervals.
    label: the text of the axes.
    about: the title.

    >>> figure = correlation_intervals(["rouge1"], ["coherence"], ([[0.4]], [[0.1]], [[0.6]]))
    >>> [axes.get_title() for axes in figure.axes]
    ['coherence']
    """
    value, low, high = (np.asarray(each, dtype=np.float64) for each in estimates)
    if not value.size:
        raise RankgaugeError("no correlations, expected at least one to draw")
    across = min(len(dimensions), _MOST_COLUMNS)
    down = -(-len(dimensions) // across)
    height = down * (1.2 + min(0.25 * len(metrics), 12.0))
    figure = new_figure(2.0 + 2.4 * across, 0.6 + height)
    rows = np.arange(len(metrics), dtype=np.float64)
    names = [wrap_text(shorten(name, 40), 80) for name in metrics]
    axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for each in axes[len(dimensions) :]:
        each.set_visible(False)
    for d, (dimension, each) in enumerate(zip(dimensions, axes, strict=False)):
        drawn = ~np.isnan(low[:, d] + high[:, d])
        each.axvline(0, color=INK, linewidth=0.8)
        each.hlines(rows[drawn], low[drawn, d], high[drawn, d], color=BLUE, linewidth=1.5)
        each.plot(value[:, d], rows, linestyle="", color=BLUE, marker="o", markersize=4.0)
        each.set_title(wrap_text(dimension, 30), parse_math=False)
        each.grid(axis="x", color=INK, alpha=0.15)
    axes[0].set_ylim(len(metrics) - 0.5, -0.5)
    axes[0].set_yticks(rows, names, parse_math=False)
    figure.supxlabel(wrap_text(label, 80), parse_math=False)
    figure.suptitle(wrap_text(about, 100), parse_math=False)
    return figure

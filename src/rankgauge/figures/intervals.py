"""Intervals of many runs, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import BLUE, GREY, INK, ORANGE, plotting, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ends: TypeAlias = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Values, and the lower and upper ends of their intervals."""
MOST_NAMED = 80
"""Up to so many runs, each has its name; of more, only ranks are shown."""
_LONGEST = 30


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

    The estimates are blue; the deep topics alone are grey; the shallow scores are orange crosses. An end
    that is NaN is not drawn.

    Parameters
    ----------
    runs: the names of the runs, in the order of the figure.
    estimates: the estimates, with their intervals.
    deep: the same from the deep topics alone.
    shallow: the shallow means.
    label: the text of the axis.
    about: the title.

    >>> figure = run_intervals(["a"], ([0.4], [0.3], [0.5]), ([0.5], [0.1], [0.9]), [0.6])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a']
    """
    if not len(runs):
        raise RankgaugeError("no runs, expected at least one to draw")
    with plotting():
        from matplotlib.figure import Figure

        named = len(runs) <= MOST_NAMED
        figure = Figure(figsize=(7.0, 1.4 + min(0.22 * len(runs), 16.0)), layout="constrained")
        axes = figure.add_subplot()
        rows = np.arange(len(runs), dtype=np.float64)
        size = 4.0 if named else 2.0
        _bars(axes, rows + 0.2, deep, "deep topics alone", color=GREY, marker="|", markersize=size)
        _bars(axes, rows - 0.1, estimates, "two-phase", color=BLUE, marker="o", markersize=size)
        style: Any = {"color": ORANGE, "marker": "x", "markersize": size, "linestyle": ""}
        axes.plot(_numbers(shallow), rows, label="shallow scores", **style)
        axes.set_ylim(len(runs) - 0.5, -0.5)
        if named:
            texts = [wrapped(_short(run), 2 * _LONGEST) for run in runs]
            axes.set_yticks(rows, texts, parse_math=False)
        else:
            axes.set_ylabel("Rank")
            steps = np.arange(0, len(runs), max(1, len(runs) // 10))
            axes.set_yticks(steps, [str(step + 1) for step in steps.tolist()])
        axes.grid(axis="x", color=INK, alpha=0.15)
        axes.set_xlabel(wrapped(label, 80), parse_math=False)
        axes.set_title(wrapped(about, 80), parse_math=False)
        figure.legend(loc="outside lower center", ncols=3)
        return figure


def _bars(axes: Axes, rows: Floats, ends: Ends, name: str, **style: Any) -> None:
    value, low, high = map(_numbers, ends)
    drawn = ~np.isnan(low + high)
    axes.hlines(rows[drawn], low[drawn], high[drawn], color=style["color"], linewidth=1.5)
    axes.plot(value, rows, linestyle="", label=name, **style)


def _numbers(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"

"""Figures of assessed measures.

`asl_curves` is the figure of Sakai, Evaluating evaluation metrics based on the bootstrap (2006);
`swap_curves` that of Voorhees and Buckley, The effect of topic set size on retrieval experiment error
(2002).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import (
    DASHED,
    INK,
    LINES,
    add_legend,
    cluster_order,
    new_figure,
    plotting,
    shorten,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_STYLED = 10
"""Up to so many lines have their own style. If there are more, those in the middle are gray."""
_FAINT = "#CCCCCC"
_MOST_WITH_NUMBERS = 15
_STEPS = 1000
"""A line has about so many steps. More steps could not be seen, and would make large files."""
C = TypeVar("C", bound=Collection[str])


class AslCurve(Record):
    """The p-values of the tests of a measure, and the share of the tests that find a difference."""

    p: ArrayLike
    power: float


class SwapCurve(Record):
    """How often two halves of the queries disagree, for one measure.

    `differences` are sizes of differences, divided by the greatest difference. `rates` has the swap rate
    of each size. `trusted` is the share of the decisions with a difference so large that at most 5%
    swap.
    """

    differences: ArrayLike
    rates: ArrayLike
    trusted: float


@plotting()
def asl_curves(curves: Mapping[str, AslCurve], *, alpha: float = 0.05, about: str = "") -> Figure:
    """Draw the achieved significance levels (p-values) of all tests, with a line for each measure.

    The largest level comes first. The figure shows the levels near `alpha`, which is a dashed line. A
    line crosses it at the share of the tests that find no difference. So the further left it crosses,
    the better the measure tells runs apart. The legend has the discriminative power, the greatest
    first. If there are more than ten measures, only the five with the greatest power and the five with
    the least power are colored. `about` is the title.

    >>> figure = asl_curves({"AP": AslCurve([0.01, 0.2], 0.5), "RR": AslCurve([0.01, 0.02], 1.0)})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['RR 100.0%', 'AP 50.0%']
    """
    names = sorted(_check_not_empty(curves), key=lambda name: -curves[name].power)
    chosen = [np.sort(np.asarray(curves[name].p, dtype=np.float64))[::-1] for name in names]
    top = min(1.0, 3 * alpha)
    figure, axes = _lines_figure(len(chosen))
    axes.axhline(alpha, color=INK, linewidth=1, linestyle=DASHED)
    for p, style in zip(chosen, _styles(len(chosen)), strict=True):
        # A test is a step, so that the line falls below the level at just 1 - power.
        shares = np.linspace(0, 1, len(p) + 1)
        steps = np.append(p, p[-1])
        some = slice(None, None, -(-len(p) // _STEPS))
        line: Any = {"drawstyle": "steps-post", "markevery": 0.12, **style}
        axes.plot(shares[some], steps[some], **line)
    start = min(float(np.mean(p > top)) for p in chosen)
    end = max(float(np.mean(p > alpha / 50)) for p in chosen)
    axes.set(xlim=(min(math.floor(10 * start) / 10, 0.9), _round_up_to_tenth(end)), ylim=(0, top))
    axes.set(xlabel="Share of the tests, the largest p-values first", ylabel="p-value (ASL)")
    labels = [f"{name} {100 * curves[name].power:.1f}%" for name in names]
    _finish(figure, axes, about, labels, f"Power: share with p ≤ {alpha:.4g}")
    return figure


@plotting()
def swap_curves(curves: Mapping[str, SwapCurve], *, about: str = "") -> Figure:
    """Draw how often two halves of the queries disagree on which run is better, a line for each measure.

    The swap rate is drawn against the size of the difference of two runs. Measures have different
    scales, so each difference is divided by the greatest difference of two runs. The dashed line is a
    swap rate of 5%. The legend has the share of the decisions with a difference so large that at most
    5% swap, the greatest first. If there are more than ten measures, only the five with the greatest
    share and the five with the least share are colored. `about` is the title.

    >>> figure = swap_curves({"AP": SwapCurve([0.1, 0.5], [0.3, 0.01], 0.75)})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['AP 75.0%']
    """
    names = sorted(_check_not_empty(curves), key=lambda name: -curves[name].trusted)
    figure, axes = _lines_figure(len(names))
    axes.axhline(0.05, color=INK, linewidth=1, linestyle=DASHED)
    end = 0.0
    for name, style in zip(names, _styles(len(names)), strict=True):
        differences = np.asarray(curves[name].differences, dtype=np.float64)
        rates = np.asarray(curves[name].rates, dtype=np.float64)
        axes.plot(differences, rates, **style)
        end = max(end, differences[rates > 0.002].max(initial=0.0))
    axes.set(xlim=(0, _round_up_to_tenth(end)), ylim=(0, max(0.1, axes.get_ylim()[1])))
    axes.set(xlabel="Difference of two runs / greatest difference", ylabel="Swap rate")
    labels = [f"{name} {100 * curves[name].trusted:.1f}%" for name in names]
    title = "Share of decisions that can be trusted (swap rate at most 5%)"
    _finish(figure, axes, about, labels, title)
    return figure


@plotting()
def tau_map(
    alike: ArrayLike, names: Sequence[str], *, about: str = "", label: str = "Kendall's τ"
) -> Figure:
    """How similarly the measures rank the runs, as a square of colors: the lighter, the more similar.

    Similar measures stand next to each other. If there are at most 15 measures, the numbers are shown
    too.

    Parameters
    ----------
    alike: measure × measure, 1 for the same ranking; NaN if it is not defined.
    names: the names of the measures, in the same order.
    about: the title.
    label: the name of the correlation.

    >>> figure = tau_map([[1.0, -1.0], [-1.0, 1.0]], ["AP", "RR"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1.00', '-1.00', '-1.00', '1.00']
    """
    values = np.asarray(alike, dtype=np.float64).reshape(len(_check_not_empty(names)), len(names))
    order = cluster_order(1 - np.nan_to_num(values, nan=0.0))
    square = values[np.ix_(order, order)]
    size = len(order)
    side = max(4.0, 2.6 + (0.45 if size <= _MOST_WITH_NUMBERS else 0.22) * size)
    figure = new_figure(side + 0.9, side)
    axes = figure.add_subplot()
    least = float(np.nanmin(square))
    low = least if least < 1 else 0.0
    scale: Any = {"vmin": low, "vmax": 1.0}
    image = axes.imshow(square, cmap="cividis", interpolation="nearest", **scale)
    shown = [wrap_text(shorten(names[place], 36), 40) for place in order]
    small: Any = {"fontsize": 8, "parse_math": False}
    axes.set_xticks(range(size), shown, rotation=90, **small)
    axes.set_yticks(range(size), shown, **small)
    if size <= _MOST_WITH_NUMBERS:
        for row, column in np.ndindex(size, size):
            value = float(square[row, column])
            color = "white" if value < (low + 1) / 2 else "black"
            text = "–" if np.isnan(value) else f"{value:.2f}"
            axes.text(column, row, text, ha="center", va="center", color=color, fontsize=8)
    axes.set_title(wrap_text(about, 60), fontsize=9, parse_math=False)
    figure.colorbar(image, ax=axes, shrink=0.85, label=f"{label} of the rankings of runs")
    return figure


def _check_not_empty(measures: C) -> C:
    if not measures:
        raise RankgaugeError("no measures, expected at least one")
    return measures


def _styles(count: int) -> Iterator[dict[str, Any]]:
    """The style of each line."""
    ends = _MOST_STYLED // 2
    for place in range(count):
        if count > _MOST_STYLED and ends <= place < count - ends:
            yield {"color": _FAINT, "linewidth": 0.8, "zorder": 1}
            continue
        number = place if place < ends or count <= _MOST_STYLED else place - (count - _MOST_STYLED)
        color, marker = LINES[number % len(LINES)]
        line = "-" if number < len(LINES) else "--"
        style = {"color": color, "marker": marker, "linestyle": line}
        yield {**style, "linewidth": 1.4, "markersize": 5}


def _lines_figure(count: int) -> tuple[Figure, Axes]:
    figure = new_figure(7.6, max(4.2, 0.9 + 0.21 * count))
    return figure, figure.add_subplot()


def _round_up_to_tenth(share: float) -> float:
    return min(1.0, math.floor(10 * share + 1) / 10)


def _finish(figure: Figure, axes: Axes, about: str, names: Sequence[str], title: str) -> None:
    """Add the title, and a legend next to the lines. The first line is the dashed one."""
    axes.set_title(wrap_text(about, 60), fontsize=9, parse_math=False)
    shown = [wrap_text(name, 40) for name in names]
    sizes = {"fontsize": 8, "title_fontsize": 8, "handlelength": 2.6}
    place = "outside right upper"
    add_legend(figure, axes.lines[1:], shown, loc=place, title=wrap_text(title, 28), **sizes)

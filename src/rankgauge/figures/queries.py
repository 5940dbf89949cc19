"""Figures of queries and of the expected scores of random rankings.

They are those of Feng and Karmaker, Joint upper & expected value normalization for evaluation of
retrieval systems (2023).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import count_phrase
from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    GRAY,
    INK,
    ORANGE,
    SKY,
    VERMILION,
    add_legend,
    marker_area,
    new_figure,
    plotting,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = ((BLUE, "o", 1.0), (VERMILION, "v", 1.3), (ORANGE, "s", 1.0), (GRAY, "D", 0.6))
"""Color, marker and its relative area, for each type of queries."""
_BINS = 20
_COLUMNS = 3
_DECIMALS = 12
"""Values are rounded to so many decimals. So 0.1 + 0.2 is in the bar of 0.3."""


@plotting()
def query_map(
    groups: Mapping[str, tuple[ArrayLike, ArrayLike]],
    left_out: Mapping[str, int] | None = None,
    *,
    measure: str = "",
    lower: bool = False,
) -> Figure:
    """Draw the map of queries: the score of each query, and its expected score by chance.

    The axes and the regions follow Figure 1 of Feng and Karmaker (2023); the colors are the types of
    the queries. On the diagonal, the runs are as good as chance. Below it they are better, or above it
    if lower scores are better. Hard queries lie at the lower end of the diagonal, easy queries at its
    upper end, and ideal queries farthest below it. The legend counts the queries of each type.

    Parameters
    ----------
    groups : mapping of str to (array-like, array-like)
        For each type of queries, at most four: the scores and the expected scores, with a number for
        each query. Points of the last type are drawn first, below the others.
    left_out : mapping of str to int, optional
        For each reason, how many queries are not drawn.
    measure : str, optional
        The name of the score, for the title of the legend.
    lower : bool, default False
        Whether lower scores are better.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    RankgaugeError
        If there are no types of queries, or more than four.

    Examples
    --------
    >>> groups = {"ideal": ([1.0], [0.5]), "other": ([0.5, 0.0], [0.5, 0.5])}
    >>> figure = query_map(groups, {"nothing relevant": 2}, measure="P@1")
    >>> figure.legends[0].get_title().get_text()
    'P@1\\n3 queries; left out: 2 with nothing relevant'
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['ideal (1)', 'other (2)']
    """
    if not 0 < len(groups) <= len(_MARKS):
        raise RankgaugeError(f"{len(groups)} types of queries, expected 1 to {len(_MARKS)}")
    points = [np.array(both, dtype=np.float64) for both in groups.values()]
    everything = np.concatenate(points, axis=1)
    count = everything.shape[1]
    summary = _summary(count, (left_out or {}).items())
    low, high = _extent(everything)
    margin = 0.02 * (high - low)
    limits = (low - margin, high + margin)
    figure = new_figure(5.2, 6.2)
    axes = figure.add_subplot()
    axes.set(xlim=limits, ylim=limits, aspect="equal")
    axes.plot(limits, limits, color=INK, linewidth=1, linestyle=DASHED, zorder=1)
    _draw_sides(axes, lower)
    if not lower:
        _draw_regions(axes)
    for place, ((scores, expected), (color, marker, area)) in enumerate(
        zip(points, _MARKS, strict=False), start=1
    ):
        axes.scatter(
            scores,
            expected,
            s=area * marker_area(count),
            color=color,
            marker=marker,
            alpha=0.9 if count <= 1000 else 0.5,
            linewidths=0,
            zorder=2 if place == len(points) else 3,
        )
    legend = add_legend(
        figure,
        axes.collections,
        [
            wrap_text(f"{name} ({each.shape[1]:,})", 40)
            for name, each in zip(groups, points, strict=True)
        ],
        loc="outside upper center",
        ncols=2,
        handletextpad=0.2,
        title=wrap_text(f"{measure}\n{summary}" if measure else summary, 60),
        title_fontsize=9,
    )
    legend.get_title().set(parse_math=False, multialignment="center")
    handles: list[Any] = legend.legend_handles
    for handle, (_, _, area) in zip(handles, _MARKS, strict=False):
        handle.set(alpha=1, sizes=[area * marker_area(1)])
    axes.set(xlabel="Mean score of the runs", ylabel="Expected score of a random ranking")
    return figure


def _draw_regions(axes: Axes) -> None:
    """Mark the corners where hard, easy and ideal queries are."""
    from matplotlib.patches import Circle

    corners = {
        "hard": ((0, 0), (0.02, 0.14)),
        "easy": ((1, 1), (0.81, 0.95)),
        "ideal": ((1, 0), (0.84, 0.02)),
    }
    for name, (corner, place) in corners.items():
        axes.add_patch(
            Circle(corner, 0.22, transform=axes.transAxes, color=GRAY, alpha=0.15, zorder=0)
        )
        axes.text(*place, name, transform=axes.transAxes, fontsize=11, weight="bold", va="bottom")


def _draw_sides(axes: Axes, lower: bool) -> None:
    """Say on which side of the diagonal the runs are better than chance."""
    above, below = ("better", "worse") if lower else ("worse", "better")
    style: Any = {"transform": axes.transAxes, "style": "italic", "fontsize": 9}
    axes.text(0.01, 1.01, f"{above} than chance", ha="left", va="bottom", **style)
    axes.text(1.01, 0.01, f"{below} than chance", ha="left", va="bottom", rotation=270, **style)


@plotting()
def expected_histogram(
    values: Mapping[str, ArrayLike], left_out: Mapping[str, Mapping[str, int]] | None = None
) -> Figure:
    """Draw histograms of the expected scores of random rankings, one panel for each measure.

    A dashed line marks the mean. All panels with values between 0 and 1 share one scale.

    Parameters
    ----------
    values : mapping of str to array-like
        For each measure, the expected score of each query, as `Measure.expected_each` computes it.
        Values that are not finite are left out and counted.
    left_out : mapping of str to mapping of str to int, optional
        For each measure and each reason, how many queries are left out.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    RankgaugeError
        If there are no measures.

    Examples
    --------
    >>> left_out = {"P@5": {"nothing relevant": 2}}
    >>> figure = expected_histogram({"P@5": [0.1, 0.4]}, left_out)
    >>> figure.get_suptitle()
    '2 queries; left out: 2 with nothing relevant'
    """
    if not values:
        raise RankgaugeError("no measures, expected the values of at least one")
    panels: dict[str, Floats] = {}
    summaries: dict[str, str] = {}
    for name, scores in values.items():
        numbers = np.asarray(scores, dtype=np.float64).round(_DECIMALS)
        panels[name] = numbers[np.isfinite(numbers)]
        undefined = {"an undefined score": len(numbers) - len(panels[name])}
        reasons = [*(left_out or {}).get(name, {}).items(), *undefined.items()]
        summaries[name] = _summary(len(panels[name]), reasons)
    same = len(set(summaries.values())) == 1
    shares = [each for each in panels.values() if _is_between_0_and_1(each)]
    shared = _extent(np.concatenate([*shares, []]))
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    size = (5.2, 3.8) if len(panels) == 1 else (2.5 * columns + 0.3, 2.2 * rows + 0.6)
    figure = new_figure(*size)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False).flat
    for axes, (name, each) in zip(grid, panels.items(), strict=False):
        _draw_bars(axes, each, shared if _is_between_0_and_1(each) else _extent(each))
        title = wrap_text(name if same else f"{name}\n{summaries[name]}", 38)
        title += f"\nmean {np.mean(each):#.3g} (dashed)" if len(each) else ""
        axes.set_title(title, fontsize=9, parse_math=False)
    grid[0].set_ylim(0, max(1.0, grid[0].get_ylim()[1]))
    for axes in grid[len(panels) :]:
        axes.remove()
    if same:
        summary = wrap_text(next(iter(summaries.values())), 80)
        figure.suptitle(summary, fontsize=9, parse_math=False)
    figure.supxlabel("Expected score of a random ranking", fontsize=11)
    figure.supylabel("Number of queries", fontsize=11)
    return figure


def _is_between_0_and_1(values: Floats) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _draw_bars(axes: Axes, values: Floats, extent: tuple[float, float]) -> None:
    from matplotlib.ticker import MaxNLocator

    # Edges are the decimals they are meant to be, so that a value such as 0.3 is in the bin from it on.
    edges = [float(f"{edge:.12g}") for edge in MaxNLocator(_BINS).tick_values(*extent)]
    axes.hist(values, bins=edges, color=SKY, edgecolor=INK, linewidth=0.6)
    axes.set_xlim(edges[0], edges[-1])
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.tick_params(labelsize=9)
    if len(values):
        axes.axvline(float(np.mean(values)), color=INK, linewidth=1.2, linestyle=DASHED)


def _extent(values: Floats) -> tuple[float, float]:
    """The range to show: it includes 0, and it is 0 to 1 if the greatest value is between 0.5 and 1."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if low == high or (low == 0 and 0.5 <= high <= 1):
        return 0.0, 1.0
    return low, high


def _summary(queries: int, left_out: Iterable[tuple[str, int]]) -> str:
    """A text: how many queries are drawn, and for each reason how many are left out."""
    drawn = count_phrase(queries, "query")
    reasons = ", ".join(f"{count:,} with {reason}" for reason, count in left_out if count)
    return f"{drawn}; left out: {reasons}" if reasons else drawn

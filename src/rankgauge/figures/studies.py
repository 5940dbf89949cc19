"""Figures of studies.

`relevant_lines` and `ideal_lines` are those of Moffat, Computing maximized effectiveness distance for
recall-based metrics (2017). `power_curves` is for studies of significance tests, `depth_curves` for
forecasts. `token_matches`, `order_sensitivity` and `attention_lines` are Figures 8.1 to 8.3 of Feng's
dissertation (2023).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    GRAY,
    INK,
    LINES,
    ORANGE,
    VERMILION,
    add_legend,
    new_figure,
    plotting,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_THRESHOLDS = ((BLUE, "o"), (VERMILION, "v"), (ORANGE, "s"), (GRAY, "D"))
"""Colors and markers of the lines of `relevant_lines`."""


@plotting()
def relevant_lines(panels: Mapping[str, Mapping[str, ArrayLike]]) -> Figure:
    """Draw how many documents of each query are relevant, as in Figure 1 of Moffat (2017).

    There is a panel for each set of judgments, and in it a line for each threshold. The numbers are
    drawn in the given order; in Moffat's figure, each line is sorted separately.

    Parameters
    ----------
    panels : mapping of str to mapping of str to array-like
        For each set of judgments and each threshold, the number of relevant documents of each query.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = relevant_lines({"adhoc": {"1+": [30, 10], "2+": [5, 0]}})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['1+', '2+']
    """
    figure, grid = _panels(len(panels))
    for axes, (name, lines) in zip(grid, panels.items(), strict=True):
        for (threshold, counts), (color, marker) in zip(lines.items(), _THRESHOLDS, strict=False):
            _draw_line(axes, counts, color, marker, threshold)
        axes.axhline(20, color=INK, linewidth=0.8, linestyle=DASHED)
        axes.set_yscale("symlog", linthresh=10)
        axes.set_yticks([0, 5, 10, 20, 50, 100, 200, 500, 1000])
        axes.set_yticklabels(["0", "5", "10", "20", "50", "100", "200", "500", "1000"])
        axes.minorticks_off()
        axes.set_title(wrap_text(name, 60), fontsize=9, parse_math=False)
    handles, labels = grid[0].get_legend_handles_labels()
    shown = [wrap_text(label, 20) for label in labels]
    add_legend(figure, handles, shown, loc="outside upper center", ncols=3, title="Grade")
    figure.supxlabel("Queries (each line is sorted separately)", fontsize=11)
    figure.supylabel("Relevant documents", fontsize=11)
    return figure


@plotting()
def ideal_lines(
    panels: Mapping[str, ArrayLike], references: Mapping[str, float], name: str
) -> Figure:
    """Draw the ideal score of each query, as in Figure 2 of Moffat (2017).

    There is a panel for each set of judgments. The scores are drawn in the given order.

    Parameters
    ----------
    panels : mapping of str to array-like
        For each set of judgments, the ideal score of each query.
    references : mapping of str to float
        Scores to mark with a dashed line, by name.
    name : str
        The name of the scores.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = ideal_lines({"adhoc": [3.0, 1.0]}, {"all relevant": 4.0}, "Ideal DCG@20")
    >>> figure.axes[0].lines[1].get_ydata()
    [4.0, 4.0]
    """
    figure, grid = _panels(len(panels))
    for axes, (title, values) in zip(grid, panels.items(), strict=True):
        _draw_line(axes, values, BLUE, "o", name)
        for text, height in references.items():
            axes.axhline(height, color=INK, linewidth=1, linestyle=DASHED)
            axes.annotate(
                wrap_text(f"{text}: {height:.2f}", 40),
                (0.99, height),
                xycoords=("axes fraction", "data"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="right",
                fontsize=8,
                parse_math=False,
            )
        axes.set_ylim(0, 1.1 * max([*references.values(), *np.asarray(values).tolist(), 1e-9]))
        axes.set_title(wrap_text(title, 60), fontsize=9, parse_math=False)
    figure.supxlabel("Queries, sorted", fontsize=11)
    figure.supylabel(wrap_text(name, 40), fontsize=11, parse_math=False)
    return figure


@plotting()
def power_curves(
    shifts: Sequence[float], panels: Mapping[str, Mapping[str, ArrayLike]], name: str
) -> Figure:
    """Draw how often significance tests find a difference, by the size of the difference.

    There is a panel for each setting, and in it a line for each test. A dashed line marks .05.

    Parameters
    ----------
    shifts : sequence of float
        The differences.
    panels : mapping of str to mapping of str to array-like
        For each setting and each test, at most eight: the share of significant results for each
        difference.
    name : str
        What the differences are.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = power_curves([0.0, 0.1], {"a pair": {"paired-t": [0.05, 0.8]}}, "Added to AP")
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [0.05, 0.8]
    """
    # The first markers are the largest, to be seen below others.
    figure, grid = _curves(shifts, panels, np.linspace(8, 3, len(LINES)).tolist())
    for axes in grid:
        axes.axhline(0.05, color=INK, linewidth=0.8, linestyle=DASHED, zorder=1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(wrap_text(name, 50), parse_math=False)
        legend = add_legend(axes, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        for text in legend.get_texts():
            text.set_fontsize(8)
    figure.supylabel("Share found significant", fontsize=11)
    return figure


MOST_STACKED = 3
"""Up to so many panels stand one below the other, so that a narrow screen shows them large."""


@plotting()
def depth_curves(
    depths: Sequence[int],
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float, float]]]],
    name: str,
    number: str,
) -> Figure:
    """Draw the quality of forecasts by judging depth.

    The figure follows Figures 1 and 2 of Muwanei et al. (2022). There is a panel for each test set, and
    in it a line for each method, with the interval of each value. A method has the same line in all
    panels.

    Parameters
    ----------
    depths : sequence of int
        The depths of judging.
    panels : mapping of str to mapping of str to sequence of (float, float, float)
        For each panel and each method, at most eight: at each depth, the value and the ends of its
        interval. NaN means that there is no value.
    name : str
        What is forecast.
    number : str
        What the values are.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    RankgaugeError
        If there are no methods, or more than eight.

    Examples
    --------
    >>> figure = depth_curves([10, 30], {"A": {"shallow": [(0.8, 0.7, 0.9), (0.9, 0.8, 1.0)]}}, "", "τ")
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [0.8, 0.9]
    """
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    if not 0 < len(names) <= len(LINES):
        raise RankgaugeError(f"no curves or too many, expected 1 to {len(LINES)} in all panels")
    few = len(panels) <= MOST_STACKED
    figure, grid = _panels(len(panels), columns=1 if few else 2, size=(4.8, 2.8))
    lines = dict(zip(names, LINES, strict=False))
    step = min([5, *np.diff(depths).tolist()]) / 12
    for axes, (title, curves) in zip(grid, panels.items(), strict=True):
        for label, curve in curves.items():
            color, marker = lines[label]
            value, low, high = np.array(curve, dtype=float).T
            style: Any = {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.2}
            places = np.array(depths) + step * (names.index(label) - (len(names) - 1) / 2)
            axes.plot(places, value, label=label, **style)
            axes.vlines(places, low, high, color=color, linewidth=0.8, alpha=0.6)
        axes.set_xticks(list(depths))
        axes.grid(axis="y", linewidth=0.4)
        axes.set_title(wrap_text(title, 30), fontsize=10, parse_math=False)
    handles = {
        label: handle
        for axes in grid
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    add_legend(
        figure,
        [handles[label] for label in names],
        [wrap_text(label, 40) for label in names],
        loc="outside lower center",
        ncols=2,
        fontsize=9,
    )
    for axes in grid[-1 if few else -2 :]:
        axes.set_xlabel("Depth of judging")
    figure.supylabel(wrap_text(number, 40), fontsize=10, parse_math=False)
    figure.suptitle(wrap_text(name, 60), fontsize=11, parse_math=False)
    return figure


def _curves(
    places: Sequence[float], panels: Mapping[str, Mapping[str, ArrayLike]], sizes: Sequence[float]
) -> tuple[Figure, list[Axes]]:
    """Panels side by side, each with a title and a line for each of its curves, at most eight.

    `sizes` has the size of the markers of each line.
    """
    if not 0 < max(map(len, panels.values()), default=0) <= len(LINES):
        raise RankgaugeError(f"a panel has no curves or too many, expected 1 to {len(LINES)}")
    figure = new_figure(4.0 * len(panels), 4.6)
    grid = list(figure.subplots(1, len(panels), sharey=True, squeeze=False).flat)
    for axes, (title, curves) in zip(grid, panels.items(), strict=True):
        for size, (name, values), (color, marker) in zip(
            sizes, curves.items(), LINES, strict=False
        ):
            style: Any = {"color": color, "marker": marker, "markersize": size}
            axes.plot(places, np.asarray(values, dtype=float), label=wrap_text(name, 40), **style)
        axes.set_title(wrap_text(title, 60), fontsize=9, parse_math=False)
    return figure, grid


def _panels(
    count: int, columns: int = 2, size: tuple[float, float] = (3.8, 2.6)
) -> tuple[Figure, list[Axes]]:
    """Panels with the same scale, at most so many in a row, each of a size in inches."""
    if not count:
        raise RankgaugeError("no judgments, expected at least one set of judgments")
    columns = min(count, columns)
    rows = -(-count // columns)
    figure = new_figure(size[0] * columns, size[1] * rows + 0.6)
    grid = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def _draw_line(
    axes: Axes, values: ArrayLike, color: str, marker: str, name: str, size: int = 3
) -> None:
    """A line over the places 1, 2 and so on."""
    numbers = np.asarray(values)
    style: Any = {"color": color, "marker": marker, "markersize": size, "linewidth": 1}
    axes.plot(np.arange(1, len(numbers) + 1), numbers, label=name, **style)


@plotting()
def token_matches(reference: Sequence[str], output: Sequence[str], similarity: ArrayLike) -> Figure:
    """Draw the similarity of each token of a reference to each token of an output.

    The reference is in the rows, the output in the columns. The largest number of each row is framed;
    R_BERT is the mean of these numbers. The figure follows Figure 8.1 of Feng (2023).

    Parameters
    ----------
    reference : sequence of str
        The tokens of the reference.
    output : sequence of str
        The tokens of the output.
    similarity : array-like of shape (reference tokens, output tokens)
        The similarity of each pair of tokens.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = token_matches(["it", "is"], ["it"], [[0.9], [0.4]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.90', '0.40']
    """
    values = np.asarray(similarity, dtype=float)
    from matplotlib.patches import Rectangle

    rows, columns = values.shape
    figure = new_figure(1.6 + 0.46 * columns, 1.6 + 0.34 * rows)
    axes = figure.subplots()
    low = min(0.0, float(values.min()))
    axes.imshow(values, cmap="Blues", vmin=low, vmax=1.0, aspect="auto")
    middle = (1.0 + low) / 2
    for row, numbers in enumerate(values):
        for column, number in enumerate(numbers):
            color = "white" if number > middle + 0.15 else "black"
            style: Any = {"ha": "center", "va": "center", "fontsize": 8, "color": color}
            axes.text(column, row, f"{number:.2f}", **style)
        place = (int(numbers.argmax()) - 0.5, row - 0.5)
        axes.add_patch(
            Rectangle(place, 1, 1, fill=False, edgecolor=VERMILION, linewidth=2, zorder=3)
        )
    plain: Any = {"parse_math": False}
    turned: Any = {"rotation": 60, "ha": "right", **plain}
    axes.set_xticks(range(columns), [wrap_text(each, 16) for each in output], **turned)
    axes.set_yticks(range(rows), [wrap_text(each, 16) for each in reference], **plain)
    axes.set_xlabel("Output")
    axes.set_ylabel("Reference")
    axes.tick_params(length=0)
    axes.grid(False)
    return figure


@plotting()
def order_sensitivity(best: ArrayLike, worst: ArrayLike, count: int) -> Figure:
    """Draw the BERTScore of the most and of the least similar tokens of each document.

    The documents are drawn in the given order. The first and the last `count` documents are shaded. The
    figure follows Figure 8.2 of Feng (2023).

    Parameters
    ----------
    best : array-like
        For each document, the BERTScore of the tokens that are most similar to it.
    worst : array-like
        For each document, the BERTScore of the least similar tokens.
    count : int
        How many documents to shade at each end: heterogeneous ones first, homogeneous ones last.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = order_sensitivity([0.5, 0.6, 0.7], [0.5, 0.4, 0.3], 1)
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [0.5, 0.6, 0.7]
    """
    high, low = np.asarray(best, dtype=float), np.asarray(worst, dtype=float)
    places = np.arange(1, len(high) + 1)
    figure = new_figure(7.2, 3.6)
    axes = figure.subplots()
    axes.vlines(places, np.minimum(low, high), np.maximum(low, high), color=GRAY, linewidth=0.8)
    style: Any = {"linestyle": "none", "markersize": 4}
    axes.plot(places, high, color=BLUE, marker="o", label="most similar tokens", **style)
    axes.plot(places, low, color=VERMILION, marker="v", label="least similar tokens", **style)
    for start, text in ((0, "heterogeneous"), (len(high) - count, "homogeneous")):
        axes.axvspan(start + 0.5, start + count + 0.5, color=GRAY, alpha=0.15, linewidth=0)
        axes.annotate(
            text,
            (start + 0.5 + count / 2, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.locator_params(axis="x", integer=True)
    axes.set_xlim(0.5, len(high) + 0.5)
    axes.set_xlabel("Documents, by how far the two scores are apart")
    axes.set_ylabel("BERTScore")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@plotting()
def attention_lines(kinds: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Draw the mean and the standard deviation of the attention in each document.

    Each line is sorted. The figure follows Figure 8.3 of Feng (2023).

    Parameters
    ----------
    kinds : mapping of str to (array-like, array-like)
        For each kind of documents, the mean and the standard deviation of each document.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> figure = attention_lines({"heterogeneous": ([0.9, 0.8], [0.1, 0.2])})
    >>> [axes.get_title() for axes in figure.axes]
    ['Standard deviation', 'Mean']
    """
    figure = new_figure(7.2, 3.4)
    panels = figure.subplots(1, 2)
    for axes, part, title in zip(panels, (1, 0), ("Standard deviation", "Mean"), strict=True):
        for (name, values), (color, marker) in zip(kinds.items(), LINES, strict=False):
            numbers = np.sort(np.asarray(values[part], dtype=float))
            _draw_line(axes, numbers, color, marker, wrap_text(name, 30), size=4)
            axes.locator_params(axis="x", integer=True)
        axes.set_title(title)
        axes.set_xlabel("Documents, sorted")
    panels[0].set_ylabel("Cosine with the document")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure

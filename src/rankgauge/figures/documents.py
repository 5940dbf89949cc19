"""Figures of texts and kinds of documents: Figures 8.1 to 8.3 of Feng's dissertation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.figures.drawing import BLUE, GREY, LINES, VERMILION, plotting, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def token_matches(reference: Sequence[str], output: Sequence[str], similarity: ArrayLike) -> Figure:
    """How similar each token of a reference (row) is to each token of an output (column). The greatest
    number of each row, which R_BERT is the mean of, is framed.

    >>> figure = token_matches(["it", "is"], ["it"], [[0.9], [0.4]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.90', '0.40']
    """
    values = np.asarray(similarity, dtype=float)
    with plotting():
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle

        rows, columns = values.shape
        figure = Figure(figsize=(1.6 + 0.46 * columns, 1.6 + 0.34 * rows), layout="constrained")
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
        axes.set_xticks(range(columns), [wrapped(each, 16) for each in output], **turned)
        axes.set_yticks(range(rows), [wrapped(each, 16) for each in reference], **plain)
        axes.set_xlabel("Output")
        axes.set_ylabel("Reference")
        axes.tick_params(length=0)
        axes.grid(False)
        return figure


def order_sensitivity(best: ArrayLike, worst: ArrayLike, count: int) -> Figure:
    """The BERTScore of the tokens that are most similar to each document, and of the least similar ones.

    The documents are in the given order; the first and the last `count` are shaded.

    >>> figure = order_sensitivity([0.5, 0.6, 0.7], [0.5, 0.4, 0.3], 1)
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [0.5, 0.6, 0.7]
    """
    high, low = np.asarray(best, dtype=float), np.asarray(worst, dtype=float)
    places = np.arange(1, len(high) + 1)
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.vlines(places, np.minimum(low, high), np.maximum(low, high), color=GREY, linewidth=0.8)
        style: Any = {"linestyle": "none", "markersize": 4}
        axes.plot(places, high, color=BLUE, marker="o", label="most similar tokens", **style)
        axes.plot(places, low, color=VERMILION, marker="v", label="least similar tokens", **style)
        for start, text in ((0, "heterogeneous"), (len(high) - count, "homogeneous")):
            axes.axvspan(start + 0.5, start + count + 0.5, color=GREY, alpha=0.15, linewidth=0)
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


def attention_lines(kinds: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """The mean and the standard deviation of the attention in each document, for each kind of documents;
    each line is sorted.

    >>> figure = attention_lines({"heterogeneous": ([0.9, 0.8], [0.1, 0.2])})
    >>> [axes.get_title() for axes in figure.axes]
    ['Standard deviation', 'Mean']
    """
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2)
        for axes, part, title in zip(panels, (1, 0), ("Standard deviation", "Mean"), strict=True):
            for (name, values), (colour, marker) in zip(kinds.items(), LINES, strict=False):
                numbers = np.sort(np.asarray(values[part], dtype=float))
                places = np.arange(1, len(numbers) + 1)
                style: Any = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1}
                axes.plot(places, numbers, label=wrapped(name, 30), **style)
                axes.locator_params(axis="x", integer=True)
            axes.set_title(title)
            axes.set_xlabel("Documents, sorted")
        panels[0].set_ylabel("Cosine with the document")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return figure

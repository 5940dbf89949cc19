"""Figures of results, as SVG or PNG files; they need matplotlib, the extra `plot`.

A figure is made of results alone and looks the same whatever the settings of matplotlib are. It is an
ordinary `matplotlib.figure.Figure`, so that it can be changed before it is written; pyplot is not used.
`query_map` and `expected_histogram` are figures of Feng and Karmaker, Joint upper & expected value
normalization for evaluation of retrieval systems (2023); `relevant_lines` and `ideal_lines` of Moffat,
Computing maximized effectiveness distance for recall-based metrics (2017).
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.arrays import Floats
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import writing
from rankgauge.figures.drawing import DASHED, INK, LINES, plotting, wrapped
from rankgauge.notes import counted
from rankgauge.query_sets.by_chance import DECIMALS, TYPES, QueryTypes
from rankgauge.query_sets.sets import LeftOut

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankgauge.distance.runs import Distances

ENDINGS = {".svg": "svg", ".png": "png"}

# Colour, marker and its relative area. The colours, of Okabe and Ito, are told apart with any kind of
# colour vision, the markers without any.
_MARKS = {
    "ideal": ("#0072B2", "o", 1.0),
    "uninformative hard": ("#D55E00", "v", 1.3),
    "uninformative easy": ("#E69F00", "s", 1.0),
    "other": ("#999999", "D", 0.6),
}
_BAR = "#56B4E9"
_BINS = 20
_COLUMNS = 3
_NAMED = 40
_DOTS_PER_INCH = 200


def query_map(types: QueryTypes, measure: str = "") -> Figure:
    """The map of queries: their score by what a random ranking is expected to get, coloured by type.

    A point is a query. On the diagonal the runs are as good as chance; above it they are better, or
    below it where lower scores are better. The legend has the count of each type and what was left
    out; its title is `measure`, what the score is.

    >>> from rankgauge import evaluate
    >>> from rankgauge.query_sets.by_chance import query_types
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> figure = query_map(query_types(scores, qrels, number=1), "P@1")
    >>> figure.legends[0].get_title().get_text()
    'P@1\\n2 queries'
    """
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5.2, 6.2), layout="constrained")
        axes = figure.add_subplot()
        low, high = _extent(np.concatenate((types.scores, types.expected)))
        margin = 0.02 * (high - low)
        limits = (low - margin, high + margin)
        axes.set(xlim=limits, ylim=limits, aspect="equal")
        axes.plot(limits, limits, color=INK, linewidth=1, linestyle=DASHED, zorder=1)
        _draw_sides(axes, types)
        _draw_queries(axes, types)
        summary = _summary(len(types.queries), types.left_out)
        title = wrapped(f"{measure}\n{summary}" if measure else summary, 60)
        legend = figure.legend(
            loc="outside upper center", ncols=2, handletextpad=0.2, title=title, title_fontsize=9
        )
        legend.get_title().set(parse_math=False, multialignment="center")
        handles: list[Any] = legend.legend_handles
        for handle, name in zip(handles, TYPES, strict=True):
            handle.set(alpha=1, sizes=[_MARKS[name][2] * _area(1)])
        axes.set(xlabel="Expected score of a random ranking", ylabel="Mean score of the runs")
        return figure


def _draw_queries(axes: Axes, types: QueryTypes) -> None:
    """The points, a collection a type in the order of `TYPES`."""
    count = len(types.queries)
    kinds = np.array(types.types, dtype=object)
    for name in TYPES:
        chosen = kinds == name
        colour, marker, area = _MARKS[name]
        axes.scatter(
            types.expected[chosen],
            types.scores[chosen],
            s=area * _area(count),
            color=colour,
            marker=marker,
            alpha=0.9 if count <= 1000 else 0.5,
            linewidths=0,
            zorder=2 if name == "other" else 3,
            label=f"{name} ({np.count_nonzero(chosen):,})",
        )


def _area(count: int) -> float:
    """The area of a marker, in square points: small where there are many."""
    return float(np.clip(12000 / max(count, 1), 5, 36))


def _draw_sides(axes: Axes, types: QueryTypes) -> None:
    """Say on which side of the diagonal the runs are better than chance."""
    lower = float(np.sum(types.differences * (types.scores - types.expected))) < 0
    above, below = ("worse", "better") if lower else ("better", "worse")
    style: Any = {"transform": axes.transAxes, "style": "italic", "fontsize": 9}
    axes.text(0.01, 1.01, f"{above} than chance", ha="left", va="bottom", **style)
    axes.text(1.01, 0.01, f"{below} than chance", ha="left", va="bottom", rotation=270, **style)


def expected_histogram(
    values: Mapping[str, ArrayLike], left_out: Mapping[str, Collection[LeftOut]] | None = None
) -> Figure:
    """The histogram of what a random ranking is expected to get, a panel a measure.

    `values` has for each measure a number a query, as `Measure.expected_each` gives them; `left_out`
    says which queries are not among them, and those that are no numbers are counted too. A dashed line
    marks the mean. Panels of values between 0 and 1 have one scale.

    >>> left_out = {"P@5": [LeftOut("nothing relevant", 2)]}
    >>> figure = expected_histogram({"P@5": [0.1, 0.4]}, left_out)
    >>> figure.get_suptitle()
    '2 queries; left out: 2 with nothing relevant'
    """
    if not values:
        raise RankgaugeError("no measures, expected the values of at least one")
    panels: dict[str, Floats] = {}
    summaries: dict[str, str] = {}
    for name, given in values.items():
        numbers: Floats = np.asarray(given, dtype=np.float64).round(DECIMALS)
        panels[name] = numbers[np.isfinite(numbers)]
        undefined = LeftOut("an undefined score", len(numbers) - len(panels[name]))
        reasons = [*(left_out or {}).get(name, ()), *([undefined] if undefined.queries else [])]
        summaries[name] = _summary(len(panels[name]), reasons)
    same = len(set(summaries.values())) == 1
    shares = [each for each in panels.values() if _between_0_and_1(each)]
    shared = _extent(np.concatenate([*shares, []]))
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    with plotting():
        from matplotlib.figure import Figure

        size = (5.2, 3.8) if len(panels) == 1 else (2.5 * columns + 0.3, 2.2 * rows + 0.6)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, sharey=True, squeeze=False).flat
        for axes, (name, each) in zip(grid, panels.items(), strict=False):
            _draw_bars(axes, each, shared if _between_0_and_1(each) else _extent(each))
            title = wrapped(name if same else f"{name}\n{summaries[name]}", 38)
            title += f"\nmean {np.mean(each):#.3g} (dashed)" if len(each) else ""
            axes.set_title(title, fontsize=9, parse_math=False)
        grid[0].set_ylim(0, max(1.0, grid[0].get_ylim()[1]))
        for axes in grid[len(panels) :]:
            axes.remove()
        if same:
            summary = wrapped(next(iter(summaries.values())), 80)
            figure.suptitle(summary, fontsize=9, parse_math=False)
        figure.supxlabel("Expected score of a random ranking", fontsize=11)
        figure.supylabel("Number of queries", fontsize=11)
        return figure


def _between_0_and_1(values: Floats) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _draw_bars(axes: Axes, values: Floats, extent: tuple[float, float]) -> None:
    from matplotlib.ticker import MaxNLocator

    # Edges are the decimals they are meant to be, so that a value such as 0.3 is in the bin from it on.
    edges = [float(f"{edge:.12g}") for edge in MaxNLocator(_BINS).tick_values(*extent)]
    axes.hist(values, bins=edges, color=_BAR, edgecolor=INK, linewidth=0.6)
    axes.set_xlim(edges[0], edges[-1])
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.tick_params(labelsize=9)
    if len(values):
        axes.axvline(float(np.mean(values)), color=INK, linewidth=1.2, linestyle=DASHED)


def distance_map(distances: Distances, order: Sequence[int] | None = None) -> Figure:
    """The mean distances of all pairs of runs as a square of colours, near runs together.

    The darker, the nearer; the scale begins where the nearest hundredth of the pairs end. `order` has
    the runs by number, by default as `Distances.order` puts them; up to 40 of them are named.

    >>> from rankgauge import med_matrix
    >>> runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 1.0}}, "c": {"q": {"y": 1.0}}}
    >>> figure = distance_map(med_matrix("P@1", runs), [0, 1, 2])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a', 'b', 'c']
    """
    places = list(distances.order() if order is None else order)
    square = distances.matrix()[np.ix_(places, places)]
    apart = square[~np.eye(len(places), dtype=np.bool_)]
    least = float(np.quantile(apart, 0.01)) if len(apart) and np.ptp(apart) else 0.0
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.0, 5.2), layout="constrained")
        axes = figure.add_subplot()
        scale: Any = {"vmin": least, "vmax": float(square.max(initial=0.0)) or 1.0}
        image = axes.imshow(square, cmap="cividis", interpolation="nearest", **scale)
        queries = counted(len(distances.queries), "topic")
        kind = "Mean distance" if distances.exact else "Mean distance (a lower bound)"
        title = f"{distances.measure}, {len(places)} runs, {queries}"
        axes.set_title(wrapped(title, 60), fontsize=9, parse_math=False)
        extend: Any = "min" if least else "neither"
        figure.colorbar(image, ax=axes, shrink=0.85, label=kind, extend=extend)
        if len(places) <= _NAMED:
            names = [wrapped(distances.runs[place], 40) for place in places]
            ticks = range(len(places))
            axes.set_xticks(ticks, names, rotation=90, fontsize=7, parse_math=False)
            axes.set_yticks(ticks, names, fontsize=7, parse_math=False)
        else:
            axes.set(xlabel="Runs, near ones together", ylabel="Runs, near ones together")
        return figure


def distance_scatter(panels: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """How far apart pairs of runs can be by how far apart they are, a panel a measure.

    `panels` has for each the distances and the differences, a number a pair. No point lies below the
    diagonal where the distances are right.

    >>> figure = distance_scatter({"P@1": ([1.0, 0.5], [0.25, 0.5])})
    >>> figure.axes[0].get_title()
    'P@1\\n2 pairs, 0 below the diagonal'
    """
    points: dict[str, tuple[Floats, Floats]] = {}
    for name, (distances, differences) in panels.items():
        points[name] = (np.asarray(distances, dtype=float), np.asarray(differences, dtype=float))
    limit = max((float(e.max(initial=0.0)) for both in points.values() for e in both), default=0.0)
    limits = (-0.02 * (limit or 1.0), 1.02 * (limit or 1.0))
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3.3 * max(len(panels), 1) + 0.2, 3.8), layout="constrained")
        grid = figure.subplots(1, max(len(panels), 1), sharey=True, squeeze=False).flat
        for axes, (name, (far, apart)) in zip(grid, points.items(), strict=True):
            axes.set(xlim=limits, ylim=limits, aspect="equal")
            axes.plot(limits, limits, color=INK, linewidth=1, linestyle=DASHED, zorder=1)
            axes.scatter(
                apart,
                far,
                s=_area(20 * len(far)),
                color=_MARKS["ideal"][0],
                alpha=0.9 if len(far) <= 1000 else 0.25,
                linewidths=0,
                rasterized=len(far) > 1000,
                zorder=2,
            )
            below = int(np.count_nonzero(far < apart - 1e-12))
            title = f"{name}\n{counted(len(far), 'pair')}, {below:,} below the diagonal"
            axes.set_title(wrapped(title, 60), fontsize=9, parse_math=False)
        figure.supxlabel("Difference of the means, judged", fontsize=11)
        figure.supylabel("Mean distance, nothing judged", fontsize=11)
        return figure


def relevant_lines(panels: Mapping[str, Mapping[str, ArrayLike]]) -> Figure:
    """How many documents of topics are relevant, a panel for each set of judgements and a line for each
    threshold, drawn in the order given: Moffat's Figure 1, where each is sorted by itself.

    >>> figure = relevant_lines({"adhoc": {"1+": [30, 10], "2+": [5, 0]}})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['1+', '2+']
    """
    with plotting():
        figure, grid = _panels(len(panels))
        for axes, (name, lines) in zip(grid, panels.items(), strict=True):
            for (threshold, counts), (colour, marker, _) in zip(
                lines.items(), _MARKS.values(), strict=False
            ):
                _draw_line(axes, np.asarray(counts), colour, marker, threshold)
            axes.axhline(20, color=INK, linewidth=0.8, linestyle=DASHED)
            axes.set_yscale("symlog", linthresh=10)
            axes.set_yticks([0, 5, 10, 20, 50, 100, 200, 500, 1000])
            axes.set_yticklabels(["0", "5", "10", "20", "50", "100", "200", "500", "1000"])
            axes.minorticks_off()
            axes.set_title(wrapped(name, 60), fontsize=9, parse_math=False)
        handles, labels = grid[0].get_legend_handles_labels()
        shown = [wrapped(label, 20) for label in labels]
        legend = figure.legend(handles, shown, loc="outside upper center", ncols=3, title="Grade")
        for text in legend.get_texts():
            text.set_parse_math(False)
        figure.supxlabel("Topics, each line sorted by itself", fontsize=11)
        figure.supylabel("Relevant documents", fontsize=11)
        return figure


def ideal_lines(
    panels: Mapping[str, ArrayLike], references: Mapping[str, float], name: str
) -> Figure:
    """The ideal scores of topics, a panel for each set of judgements, drawn in the order given, with
    a line for each reference: Moffat's Figure 2.

    >>> figure = ideal_lines({"adhoc": [3.0, 1.0]}, {"all relevant": 4.0}, "Ideal DCG@20")
    >>> figure.axes[0].lines[1].get_ydata()
    [4.0, 4.0]
    """
    colour, marker, _ = _MARKS["ideal"]
    with plotting():
        figure, grid = _panels(len(panels))
        for axes, (title, values) in zip(grid, panels.items(), strict=True):
            _draw_line(axes, np.asarray(values), colour, marker, name)
            for text, height in references.items():
                axes.axhline(height, color=INK, linewidth=1, linestyle=DASHED)
                axes.annotate(
                    wrapped(f"{text}: {height:.2f}", 40),
                    (0.99, height),
                    xycoords=("axes fraction", "data"),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="right",
                    fontsize=8,
                    parse_math=False,
                )
            axes.set_ylim(0, 1.1 * max([*references.values(), *np.asarray(values).tolist(), 1e-9]))
            axes.set_title(wrapped(title, 60), fontsize=9, parse_math=False)
        figure.supxlabel("Topics, sorted", fontsize=11)
        figure.supylabel(wrapped(name, 40), fontsize=11, parse_math=False)
        return figure


def power_curves(
    shifts: Sequence[float], panels: Mapping[str, Mapping[str, ArrayLike]], name: str
) -> Figure:
    """How often tests find a difference by how large it is, a panel for each setting and a line for each
    test, up to eight; `name` is what the differences are. A dashed line is at .05.

    >>> figure = power_curves([0.0, 0.1], {"a pair": {"paired-t": [0.05, 0.8]}}, "Added to AP")
    >>> figure.axes[0].lines[1].get_ydata().tolist()
    [0.05, 0.8]
    """
    if not 0 < max(map(len, panels.values()), default=0) <= len(LINES):
        raise RankgaugeError(f"no curves, or too many, expected 1 to {len(LINES)} in a panel")
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.0 * len(panels), 4.6), layout="constrained")
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False).flat
        for axes, (title, curves) in zip(grid, panels.items(), strict=True):
            axes.axhline(0.05, color=INK, linewidth=0.8, linestyle=DASHED)
            for size, (test, shares), (colour, marker) in zip(
                np.linspace(8, 3, len(LINES)), curves.items(), LINES, strict=False
            ):  # the first are the largest, to be seen below others
                style: Any = {"color": colour, "marker": marker, "markersize": size}
                axes.plot(shifts, np.asarray(shares, dtype=float), label=wrapped(test, 40), **style)
            axes.set_ylim(0, 1.02)
            axes.set_title(wrapped(title, 60), fontsize=9, parse_math=False)
            axes.set_xlabel(wrapped(name, 50), parse_math=False)
            legend = axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
            for text in legend.get_texts():
                text.set(parse_math=False, fontsize=8)
        figure.supylabel("Share found significant", fontsize=11)
        return figure


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    """Panels of one scale, at most two in a row."""
    from matplotlib.figure import Figure

    if not count:
        raise RankgaugeError("no judgements, expected at least one set of them")
    columns = min(count, 2)
    rows = -(-count // columns)
    figure = Figure(figsize=(3.8 * columns, 2.6 * rows + 0.6), layout="constrained")
    grid = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes in grid[count:]:
        axes.remove()
    return figure, grid[:count]


def _draw_line(axes: Axes, values: Floats, colour: str, marker: str, name: str) -> None:
    places = np.arange(1, len(values) + 1)
    style: Any = {"color": colour, "marker": marker, "markersize": 3, "linewidth": 1}
    axes.plot(places, values, label=name, **style)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG or PNG, by the ending of the path; whole or not at all.

    The same figure gives the same bytes, with the same version of matplotlib. Raises InputError for
    another ending, and where the file cannot be written.
    """
    form = _form(path)
    content = io.BytesIO()
    with plotting():
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(content, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    with writing(path) as stream:
        stream.write(content.getvalue())


def check_figure_path(path: str | os.PathLike[str]) -> None:
    """Refuse what no figure can be written to, before there is one.

    Raises InputError for an ending other than .svg and .png, RankgaugeError without matplotlib.
    """
    _form(path)
    with plotting():
        pass


def _form(path: str | os.PathLike[str]) -> str:
    ending = os.path.splitext(path)[1]
    if ending.lower() not in ENDINGS:
        found = f"the ending {ending}" if ending else "no ending"
        raise InputError(os.fspath(path), None, f"{found}, expected {' or '.join(ENDINGS)}")
    return ENDINGS[ending.lower()]


def _extent(values: Floats) -> tuple[float, float]:
    """From where to where values are shown: from 0 on, and to 1 where they go at least half as far."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if low == high or (low == 0 and 0.5 <= high <= 1):
        return 0.0, 1.0
    return low, high


def _summary(queries: int, left_out: Collection[LeftOut]) -> str:
    found = counted(queries, "query", "queries")
    notes = ", ".join(f"{left.queries:,} with {left.reason}" for left in left_out)
    return f"{found}; left out: {notes}" if notes else found

"""Figures of assessed measures, as SVG or PNG files; they need matplotlib, the extra `plot`.

`asl_curves` is the figure of Sakai, Evaluating evaluation metrics based on the bootstrap (2006);
`swap_curves` that of Voorhees and Buckley, The effect of topic set size on retrieval experiment error
(2002). `save_figure` of `rankgauge.figures.queries` writes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.comparison.assessed import ALL, Assessed, Assessment
from rankgauge.comparison.consistency import FEWEST, Splits
from rankgauge.data.errors import RankgaugeError
from rankgauge.figures.drawing import DASHED, INK, LINES, plotting, wrapped
from rankgauge.notes import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Alike: TypeAlias = Literal["tau", "tau_b", "rbo"]
_NAMES = {"tau": "Kendall's τ", "tau_b": "Kendall's τ-b", "rbo": "Rank-biased overlap"}
_STYLED = 10
"""So many lines have a style of their own; of more, those in the middle are grey."""
_GREY = "#CCCCCC"
_NUMBERED = 15
_STEPS = 1000
"""A line has about so many steps: more are narrower than what can be seen, and make large files."""


def asl_curves(
    assessment: Assessment, measures: Sequence[str] | None = None, part: str = ALL
) -> Figure:
    """The achieved significance levels of all tests, the largest first: a line a measure.

    Shown is what is near the level, which is dashed. A line crosses it at the share of the tests that
    find no difference, so the further left, the better does the measure tell runs apart. The legend has
    the discriminative power, the greatest first. Of more than ten measures the five with the greatest
    power and the five with the least are coloured. `measures` are some of the assessed ones, by default
    all; `part` is the set of topics.

    >>> from rankgauge import Scores
    >>> from rankgauge.comparison.assessment import assess
    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.1, 0.3, 0.2, 0.5]]
    >>> scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
    >>> figure = asl_curves(assess(scores))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['AP 100.0%']
    """
    chosen = sorted(_chosen(assessment, measures, part), key=lambda each: -each.power)
    alpha = 1 - assessment.level
    top = min(1.0, 3 * alpha)
    with plotting():
        figure, axes = _lines_figure(len(chosen))
        axes.axhline(alpha, color=INK, linewidth=1, linestyle=DASHED)
        for each, style in zip(chosen, _styles(len(chosen)), strict=True):
            # A test is a step, so that the line falls below the level at just 1 - power.
            shares = np.linspace(0, 1, len(each.asl) + 1)
            steps = np.append(each.asl, each.asl[-1])
            some = slice(None, None, -(-len(each.asl) // _STEPS))
            line: Any = {"drawstyle": "steps-post", "markevery": 0.12, **style}
            axes.plot(shares[some], steps[some], **line)
        start = min(float(np.mean(each.p > top)) for each in chosen)
        end = max(float(np.mean(each.p > alpha / 50)) for each in chosen)
        axes.set(xlim=(min(_tenth_below(start), 0.9), _tenth_above(end)), ylim=(0, top))
        axes.set(xlabel="Share of the tests, the largest p-values first", ylabel="p-value (ASL)")
        names = [f"{each.name} {100 * each.power:.1f}%" for each in chosen]
        title = f"Power: share with p ≤ {alpha:.4g}"
        _finish(
            figure, axes, f"{_about(assessment, part, chosen)}, {assessment.test}", names, title
        )
        return figure


def swap_curves(
    assessment: Assessment, measures: Sequence[str] | None = None, part: str = ALL
) -> Figure:
    """How often two halves of the topics disagree on two runs, by how far apart one half puts them: a
    line a measure.

    Measures have scales of their own, so the difference is a share of the greatest one between the means
    of two runs. Sizes with fewer than 100 decisions are left out; a rate of 5% is dashed. The legend has
    the share of decisions so large that no more swap, the greatest first. Of more than ten measures the
    five with the greatest share and the five with the least are coloured. `measures` and `part` are as
    in `asl_curves`.
    """
    found = [(each, _splits(each)) for each in _chosen(assessment, measures, part)]
    found.sort(key=lambda both: -both[1].trusted()[1])
    with plotting():
        figure, axes = _lines_figure(len(found))
        axes.axhline(0.05, color=INK, linewidth=1, linestyle=DASHED)
        end = 0.0
        for (_, splits), style in zip(found, _styles(len(found)), strict=True):
            counts = splits.decided >= FEWEST
            shares = ((np.arange(len(counts)) + 0.5) / len(counts))[counts]
            rates = splits.swap_rates[counts]
            axes.plot(shares, rates, **style)
            end = max(end, shares[rates > 0.002].max(initial=0.0))
        axes.set(xlim=(0, _tenth_above(end)), ylim=(0, max(0.1, axes.get_ylim()[1])))
        axes.set(xlabel="Difference, as a share of the greatest", ylabel="Swap rate")
        names = [f"{each.name} {100 * splits.trusted()[1]:.1f}%" for each, splits in found]
        title = "Decisions with a swap rate of at most 5%"
        about = _about(assessment, part, [each for each, _ in found])
        _finish(figure, axes, about, names, title)
        return figure


def tau_map(assessment: Assessment, part: str = ALL, kind: Alike = "tau") -> Figure:
    """How alike the measures rank the runs, as a square of colours, like measures together.

    The lighter, the more alike. `kind` says by what: τ, τ-b or rank-biased overlap. Up to 15 measures
    have the numbers too. `part` is the set of topics.

    >>> from rankgauge import Scores
    >>> from rankgauge.comparison.assessment import assess
    >>> ap = Scores.from_matrix([[0.5, 0.7], [0.3, 0.6]], runs=["a", "b"], measure="AP")
    >>> rr = Scores.from_matrix([[0.5, 1.0], [1.0, 1.0]], runs=["a", "b"], measure="RR")
    >>> figure = tau_map(assess(ap.joined(rr)))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1.00', '-1.00', '-1.00', '1.00']
    """
    if kind not in get_args(Alike):
        raise RankgaugeError(f"kind={kind!r}, expected one of {', '.join(get_args(Alike))}")
    chosen = _chosen(assessment, None, part)
    square = _square(assessment, part, kind)
    order = _near_together(square)
    square = square[np.ix_(order, order)]
    size = len(order)
    with plotting():
        from matplotlib.figure import Figure

        side = max(4.0, 2.6 + (0.45 if size <= _NUMBERED else 0.22) * size)
        figure = Figure(figsize=(side + 0.9, side), layout="constrained")
        axes = figure.add_subplot()
        least = float(np.nanmin(square))
        low = least if least < 1 else 0.0
        scale: Any = {"vmin": low, "vmax": 1.0}
        image = axes.imshow(square, cmap="cividis", interpolation="nearest", **scale)
        names = [_shortened(chosen[place].name) for place in order]
        small: Any = {"fontsize": 8, "parse_math": False}
        axes.set_xticks(range(size), names, rotation=90, **small)
        axes.set_yticks(range(size), names, **small)
        if size <= _NUMBERED:
            for row, column in np.ndindex(size, size):
                value = float(square[row, column])
                colour = "white" if value < (low + 1) / 2 else "black"
                text = "–" if np.isnan(value) else f"{value:.2f}"
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
        axes.set_title(wrapped(_about(assessment, part, chosen), 60), fontsize=9, parse_math=False)
        label = f"{_NAMES[kind]} of the rankings of runs"
        figure.colorbar(image, ax=axes, shrink=0.85, label=label)
        return figure


def _shortened(name: str) -> str:
    """A name that leaves room for the rest."""
    return wrapped(name if len(name) <= 36 else f"{name[:35]}…", 40)


def _square(assessment: Assessment, part: str, kind: Alike) -> Floats:
    """Measure × measure, 1 on the diagonal."""
    place = {name: number for number, name in enumerate(assessment.measures)}
    square = np.eye(len(place))
    for (first, second), (alike, _) in assessment.agreement[part].items():
        value = alike.rbo.ext if kind == "rbo" else getattr(alike, kind)
        a, b = place[first], place[second]
        square[a, b] = square[b, a] = value
    return square


def _near_together(square: Floats) -> list[int]:
    """An order that puts like measures together: the leaves of an average-link tree."""
    if len(square) < 3:
        return list(range(len(square)))
    from scipy.cluster.hierarchy import leaves_list, linkage

    apart = 1 - np.nan_to_num(square[np.triu_indices(len(square), 1)], nan=0.0)
    leaves: list[int] = leaves_list(linkage(apart, "average", optimal_ordering=True)).tolist()
    return leaves


def _chosen(assessment: Assessment, measures: Sequence[str] | None, part: str) -> list[Assessed]:
    if part not in assessment.parts:
        raise RankgaugeError(
            f"no set of topics is called {part!r}, expected one of {', '.join(assessment.parts)}"
        )
    there = assessment.parts[part]
    names = list(there) if measures is None else list(measures)
    for name in names:
        if name not in there:
            raise RankgaugeError(f"{name} was not assessed, expected one of {', '.join(there)}")
    if not names:
        raise RankgaugeError("no measures, expected at least one")
    return [there[name] for name in names]


def _splits(each: Assessed) -> Splits:
    if each.splits is None:
        raise RankgaugeError("the topics were not split, expected an assessment with splits")
    return each.splits


def _styles(count: int) -> Iterator[dict[str, Any]]:
    """What each of so many lines looks like."""
    ends = _STYLED // 2
    for place in range(count):
        if count > _STYLED and ends <= place < count - ends:
            yield {"color": _GREY, "linewidth": 0.8, "zorder": 1}
            continue
        number = place if place < ends or count <= _STYLED else place - (count - _STYLED)
        colour, marker = LINES[number % len(LINES)]
        line = "-" if number < len(LINES) else "--"
        yield {
            "color": colour,
            "marker": marker,
            "linestyle": line,
            "linewidth": 1.4,
            "markersize": 5,
        }


def _lines_figure(count: int) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, max(4.2, 0.9 + 0.21 * count)), layout="constrained")
    return figure, figure.add_subplot()


def _tenth_below(share: float) -> float:
    return math.floor(10 * share) / 10


def _tenth_above(share: float) -> float:
    return min(1.0, math.floor(10 * share + 1) / 10)


def _finish(figure: Figure, axes: Axes, about: str, names: Sequence[str], title: str) -> None:
    """The title, and a legend beside the lines; the first line is the dashed one."""
    axes.set_title(wrapped(about, 60), fontsize=9, parse_math=False)
    shown = [wrapped(name, 40) for name in names]
    legend = figure.legend(
        axes.lines[1:],
        shown,
        loc="outside right upper",
        fontsize=8,
        title=wrapped(title, 28),
        title_fontsize=8,
        handlelength=2.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _about(assessment: Assessment, part: str, chosen: Sequence[Assessed]) -> str:
    """What the measures were assessed on."""
    runs = counted(len(assessment.runs), "run")
    topics = sorted({each.topics for each in chosen})
    spread = counted(topics[0], "topic") if len(topics) == 1 else f"{topics[0]}–{topics[-1]} topics"
    return f"{runs}, {spread}" if part == ALL else f"{part}: {runs}, {spread}"

"""A measure over the weight between two runs, or over one or two parameters of a ranking function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.figures.drawing import (
    BLUE,
    DASHED,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    add_legend,
    new_figure,
    plotting,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@plotting()
def parameter_curve(
    edges: Floats,
    values: Floats,
    best: tuple[float, float] | None,
    *,
    parameter: str,
    measure: str,
    certified: bool,
) -> Figure:
    """The mean for every value of a parameter, as the step function that it is.

    `edges` has the ends of the interval and the breaks between them, and `best` the widest interval with
    the best value, or None. A dot marks its middle.
    """
    figure = new_figure(6.4, 3.6)
    axes = figure.subplots()
    axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label=wrap_text(measure, 30))
    if best is not None:
        label = f"best: {best[0]:.4g} to {best[1]:.4g}"
        axes.axvspan(*best, color=SKY, alpha=0.4, lw=0, label=label, zorder=0)
        middle = (best[0] + best[1]) / 2
        place = int(((edges[:-1] < middle) & (middle <= edges[1:])).argmax())
        axes.plot(middle, values[place], ls="", marker="o", ms=5, color=INK)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel(wrap_text(parameter, 60), parse_math=False)
    axes.set_ylabel(wrap_text(f"mean {measure}", 40), parse_math=False)
    axes.set_title("every flip is known" if certified else "from samples: flips can be missed")
    add_legend(figure, loc="outside lower center", ncols=2, fontsize=9)
    return figure


_Pair: TypeAlias = tuple[float, float]


@plotting()
def parameter_map(
    ticks: Floats,
    at: Floats,
    values: Floats,
    best: tuple[_Pair, tuple[_Pair, _Pair]] | None,
    *,
    parameters: Sequence[str],
    measure: str,
    certified: bool,
) -> Figure:
    """The mean over two parameters: a stripe for each value of the second, with a dash at its value.

    Parameters
    ----------
    ticks
        The values of the first parameter.
    at
        The values of the second parameter.
    values
        The mean, a row for each value of the second parameter.
    best
        The best point, and how far the mean stays the same along each parameter: a cross.
    parameters
        The names of the parameters.
    measure
        The name of the measure.
    certified
        Whether no flip on a row can be missing.
    """
    step = ticks[1] - ticks[0]
    columns = np.append(ticks - step / 2, ticks[-1] + step / 2)
    middles = (at[1:] + at[:-1]) / 2
    room = 0.5 if len(at) == 1 else 0.0
    edges = np.concatenate(([at[0] - room], middles, [at[-1] + room]))
    figure = new_figure(6.4, 5.0)
    axes = figure.subplots()
    image = axes.pcolormesh(columns, edges, values, cmap="cividis", rasterized=True)
    figure.colorbar(image, ax=axes, label=wrap_text(f"mean {measure}", 40))
    axes.plot(
        np.full(len(at), columns[0]), at, ls="", marker=1, ms=6, color=INK, clip_on=False,
        label="the rows that were computed",
    )  # fmt: skip
    if best is not None:
        (x, y), (along, across) = best
        for width, color in ((3.2, "white"), (1.6, VERMILION)):
            axes.plot(along, (y, y), color=color, lw=width)
            axes.plot((x, x), across, color=color, lw=width)
        (mark,) = axes.plot(x, y, ls="", marker="*", ms=12, color=VERMILION, label="best found")
        mark.set(markeredgecolor="white", markeredgewidth=0.9, clip_on=False)
    axes.set(xlim=(columns[0], columns[-1]), ylim=(edges[0], edges[-1]))
    axes.set_xlabel(wrap_text(parameters[0], 60), parse_math=False)
    axes.set_ylabel(wrap_text(parameters[1], 50), parse_math=False)
    axes.set_title(
        "every flip on a row is known; between rows none" if certified
        else "from samples: flips can be missed"
    )  # fmt: skip
    add_legend(figure, loc="outside lower center", ncols=2, fontsize=9)
    return figure


_COLORS = (GREEN, ORANGE, PURPLE, GRAY, BLUE)
_DASHES = (DASHED, (0, (1, 2)), (2, (6, 2, 1, 2)))


@plotting()
def weight_curve(
    breaks: Floats,
    values: Floats,
    chosen: tuple[float, float],
    plateau: tuple[float, float] | None,
    at_tenths: Sequence[float],
    others: Mapping[str, float],
    *,
    measure: str,
    margin: float,
    first: str,
    second: str,
    queries: int,
) -> Figure:
    """The mean for every weight of the second run, as the step function that it is.

    Drawn are the chosen weight and its value, the part of the curve that is as good, the values at the
    tenths, which can differ from the values beside them, and the means of other ways as lines across.
    """
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    edges = np.concatenate(([0.0], breaks, [1.0]))
    if plateau is not None:
        axes.axvspan(*plateau, color=SKY, alpha=0.25, lw=0, label=f"as good, within {margin:g}")
    axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label=wrap_text(measure, 30))
    axes.plot(*chosen, ls="", marker="*", ms=13, color=VERMILION, label=f"best: {chosen[0]:.4g}")
    grid = np.arange(1, 10) / 10
    axes.plot(grid, at_tenths, ls="", marker="o", ms=4, color=INK, label="a grid of tenths")
    for place, (name, mean) in enumerate(others.items()):
        color, dashes = _COLORS[place % len(_COLORS)], _DASHES[place % len(_DASHES)]
        axes.axhline(mean, color=color, ls=dashes, lw=1.2, label=wrap_text(name, 30))
    axes.set_xlim(0, 1)
    axes.set_xlabel(wrap_text(f"weight of {second} (the rest is {first})", 60))
    axes.set_ylabel(wrap_text(f"mean {measure} on the {queries} queries of the choice", 40))
    figure.legend(loc="outside right upper", fontsize=8)
    return figure

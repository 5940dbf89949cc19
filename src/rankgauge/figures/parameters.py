"""A measure over a parameter of a ranking function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.arrays import Floats
from rankgauge.figures.drawing import BLUE, INK, SKY, plotting, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    with plotting():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.stairs(values, edges, baseline=None, color=BLUE, lw=1.2, label=wrapped(measure, 30))
        if best is not None:
            label = f"best: {best[0]:.4g} to {best[1]:.4g}"
            axes.axvspan(*best, color=SKY, alpha=0.4, lw=0, label=label, zorder=0)
            middle = (best[0] + best[1]) / 2
            place = int(((edges[:-1] < middle) & (middle <= edges[1:])).argmax())
            axes.plot(middle, values[place], ls="", marker="o", ms=5, color=INK)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xlabel(wrapped(parameter, 60), parse_math=False)
        axes.set_ylabel(wrapped(f"mean {measure}", 40), parse_math=False)
        axes.set_title("every flip is known" if certified else "from samples: flips can be missing")
        legend = figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
        return figure

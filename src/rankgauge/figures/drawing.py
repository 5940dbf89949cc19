"""What all figures share.

It is matplotlib with our settings, colors, the order of a square, and texts that are safe to draw.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.errors import missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

# The colors, of Okabe and Ito, are told apart with any kind of color vision, the markers that go with
# them without any.
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GRAY = "#999999"
INK = "#333333"
LINES = (
    (BLUE, "o"),
    (VERMILION, "v"),
    (GREEN, "s"),
    (PURPLE, "D"),
    (ORANGE, "^"),
    (SKY, "P"),
    (GRAY, "X"),
    (INK, "*"),
)
"""Colors and markers of lines."""
DASHED = (0, (4, 2))
MOST_STEPS = 1_500
"""In how many parts of the axis a function of many steps is drawn."""
_SETTINGS = {
    "font.size": 10.0,
    "axes.labelsize": 11.0,
    "axes.titlesize": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.constrained_layout.wspace": 0.06,
    "savefig.bbox": "tight",
    "svg.fonttype": "path",
    "svg.hashsalt": "rankgauge",
}


@contextmanager
def plotting() -> Iterator[None]:
    """Use matplotlib with the style of rankgauge's figures, whatever the user's settings.

    Use it in a `with` statement, or as a decorator of functions.

    Yields
    ------
    None

    Raises
    ------
    RankgaugeError
        If matplotlib is not installed.

    Examples
    --------
    >>> from rankgauge.extending import plotting
    >>> with plotting():
    ...     import matplotlib
    ...     print(matplotlib.rcParams["font.size"])
    10.0
    """
    try:
        import matplotlib
    except ImportError:
        raise missing_package("matplotlib", "plot") from None
    settings: Any = {**matplotlib.rcParamsDefault, **_SETTINGS}
    del settings["backend"]
    with matplotlib.rc_context(settings):
        yield


def check_plotting() -> None:
    """Check that figures can be drawn, before any work is done.

    Raises
    ------
    RankgaugeError
        If matplotlib is not installed.

    Examples
    --------
    >>> from rankgauge.extending import check_plotting
    >>> check_plotting()
    """
    with plotting():
        pass


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, in which nothing overlaps."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def add_legend(to: Figure | Axes, *lines_and_texts: Any, **options: Any) -> Legend:
    """A legend whose texts are drawn as they are, not as formulas."""
    legend: Legend = to.legend(*lines_and_texts, **options)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def marker_area(count: int) -> float:
    """The area of a marker, in square points, if there are `count` markers: small if there are many."""
    return min(max(12000 / max(count, 1), 5.0), 36.0)


def thin_steps(edges: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The edges and values of a step function with no more steps than can be seen.

    Of many steps in a small part of the axis, the least and the greatest remain.

    >>> few = thin_steps(np.array([0.0, 0.5, 1.0]), np.array([1.0, 2.0]))
    >>> few[1].tolist()
    [1.0, 2.0]
    """
    if len(values) <= 2 * MOST_STEPS:
        return edges, values
    parts = np.linspace(edges[0], edges[-1], MOST_STEPS + 1)
    firsts = np.searchsorted(edges[:-1], parts[:-1], side="right") - 1
    both = [each.reduceat(values, firsts) for each in (np.fmin, np.fmax)]
    return np.linspace(edges[0], edges[-1], 2 * MOST_STEPS + 1), np.stack(both, axis=1).ravel()


def cluster_order(apart: Floats) -> list[int]:
    """An order of the rows of a square of distances that puts near rows next to each other.

    It is the order of the leaves of an average-link tree.

    >>> cluster_order(np.array([[0.0, 0.9, 0.1], [0.9, 0.0, 0.8], [0.1, 0.8, 0.0]]))
    [1, 2, 0]
    """
    if len(apart) < 3:
        return list(range(len(apart)))
    from scipy.cluster.hierarchy import leaves_list, linkage

    pairs = apart[np.triu_indices(len(apart), 1)]
    leaves: list[int] = leaves_list(linkage(pairs, "average", optimal_ordering=True)).tolist()
    return leaves


def shorten(name: str, longest: int) -> str:
    """A name, cut to so many characters."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def wrap_text(text: str, width: int) -> str:
    """Wrap a text into short lines, and escape characters that cannot be printed.

    Parameters
    ----------
    text : str
        The text, such as the name of a run.
    width : int
        How many characters a line may have.

    Returns
    -------
    str
        The lines, separated by newlines.

    Examples
    --------
    >>> from rankgauge.extending import wrap_text
    >>> print(wrap_text("a long name of a run", 8))
    a long
    name of
    a run
    """
    seen = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return "\n".join(textwrap.fill(line, width) for line in seen.split("\n"))

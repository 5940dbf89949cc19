"""What all figures share: matplotlib with our settings, colours, and texts that are safe to draw."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankgauge.data.errors import RankgaugeError

INK = "#333333"
# Colours and markers of lines. The colours, of Okabe and Ito, are told apart with any kind of colour
# vision, the markers without any.
LINES = (
    ("#0072B2", "o"),
    ("#D55E00", "v"),
    ("#009E73", "s"),
    ("#CC79A7", "D"),
    ("#E69F00", "^"),
    ("#56B4E9", "P"),
    ("#999999", "X"),
    ("#333333", "*"),
)
DASHED = (0, (4, 2))
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
    """matplotlib with our settings, whatever those of the user are."""
    try:
        import matplotlib
    except ImportError:
        message = "figures need matplotlib, expected pip install 'rankgauge[plot]'"
        raise RankgaugeError(message) from None
    settings: Any = {**matplotlib.rcParamsDefault, **_SETTINGS}
    del settings["backend"]
    with matplotlib.rc_context(settings):
        yield


def wrapped(text: str, width: int) -> str:
    """A text in short lines, with what cannot be seen escaped."""
    seen = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return "\n".join(textwrap.fill(line, width) for line in seen.split("\n"))

"""What shallower pools say: agreement and bias for each depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankgauge.figures.drawing import (
    DASHED,
    GRAY,
    LINES,
    add_legend,
    new_figure,
    plotting,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@plotting()
def depth_curves(
    depths: Sequence[int],
    judgments: Sequence[int],
    tau: Mapping[str, Sequence[float]],
    bias: Mapping[str, Sequence[float]],
    half_tau: Mapping[str, float],
    *,
    total: int,
) -> Figure:
    """Two panels over the depths, with a line for each measure; the last place has all judgments.

    The upper panel has τ between the shallow and the deep ranking of the runs, and as a dashed line τ
    between two halves of the queries. The lower panel has the bias of the shallow scores. Below each
    depth is its number of judgments.
    """
    figure = new_figure(6.4, 5.2)
    above, below = figure.subplots(2, sharex=True)
    for place, name in enumerate(tau):
        color, marker = LINES[place % len(LINES)]
        above.plot([*tau[name], 1.0], color=color, marker=marker, label=wrap_text(name, 30))
        below.plot([*bias[name], 0.0], color=color, marker=marker)
        above.axhline(half_tau[name], color=color, ls=DASHED, lw=1.0)
    above.plot([], [], color=GRAY, ls=DASHED, lw=1.0, label="two halves of the queries")
    below.axhline(0.0, color=GRAY, lw=0.8, zorder=0)
    above.set_ylabel("τ with the deep ranking")
    below.set_ylabel("shallow − deep mean")
    below.set_xlabel("depth of the pool, and its number of judgments")
    counts = [*zip(map(str, depths), judgments, strict=True), ("all", total)]
    below.set_xticks(range(len(counts)), [f"{name}\n{count:,}" for name, count in counts])
    add_legend(figure, loc="outside lower center", ncols=2, fontsize=9)
    return figure

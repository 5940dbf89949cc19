"""A measure along one weight, as queries are added: prints the table and draws the figures of SPACE.md.

    python docs/scripts/space.py [--figures]

MQ2008 is read from the folder RANKGAUGE_DATA, or from beside the project. With --figures the files in
docs/figures are written; otherwise nothing is written. All random draws have a fixed seed.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.tables import Table
from rankgauge.figures.drawing import BLUE, plotting
from rankgauge.figures.files import save_figure
from rankgauge.io.letor import read_letor
from rankgauge.rankings.lists import Rankings
from rankgauge.space import Curve, Segment
from rankgauge_studies import optimization

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
FEATURE, MEASURE = 38, "nDCG@10"
"""The feature, from 0, whose weight goes from 0 to 1, while the others share the rest."""
SIZES = (4, 16, 64, 784)
KEPT = ("figure-1", "figure-3", "figure-notes", "objectives")


def curves() -> dict[int, Curve]:
    """The curve of the measure over some of the queries of MQ2008."""
    data = Path(os.environ.get("RANKGAUGE_DATA", BESIDE))
    parts = [read_letor(data / f"mq2008/S{part}.txt.gz") for part in range(1, 6)]
    values = np.concatenate([part.values for part in parts]).astype(np.float64)
    labels = np.concatenate([part.labels for part in parts])
    sizes = np.concatenate([np.diff(part.bounds) for part in parts])
    ends = np.cumsum(sizes)
    others = np.full(values.shape[1], 1 / (values.shape[1] - 1))
    others[FEATURE] = 0
    rows_of = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    some = [rows for rows in rows_of if labels[rows].any()]
    order = np.random.default_rng(3).permutation(len(some))
    made = {}
    for size in SIZES:
        chosen = [some[number] for number in order[:size]]
        rows = np.concatenate(chosen)
        lists = Rankings.of(*(labels[own].tolist() for own in chosen))
        made[len(chosen)] = Segment(lists, values[rows] @ others, values[rows, FEATURE]).curve(
            MEASURE
        )
    return made


def table(made: dict[int, Curve]) -> Table:
    """What the curves look like."""
    rows = []
    for size, curve in made.items():
        part = curve.best[0]
        near = sum(each.width for each in curve.within(0.005))
        cliff = float(np.abs(np.diff(curve.values)).max(initial=0.0))
        rows.append(
            (size, len(curve.breaks), len(curve.optima), curve.value, part.width, near, cliff)
        )
    columns = (
        "queries",
        "breaks",
        "local optima",
        "best",
        "width of the best",
        "within .005",
        "largest step",
    )
    return Table(columns, tuple(rows))


def figure(made: dict[int, Curve]) -> Figure:
    """A panel a curve."""
    with plotting():
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(8.4, 5.2), layout="constrained")
        for axes, (size, curve) in zip(
            drawn.subplots(2, 2, sharex=True).flat, made.items(), strict=True
        ):
            axes.stairs(curve.values, curve.edges, baseline=None, color=BLUE, lw=0.9)
            axes.axvspan(*curve.best[0], color="#D55E00", alpha=0.5)
            axes.set_title("1 query" if size == 1 else f"{size} queries", fontsize=10)
            axes.set_xlim(0, 1)
        drawn.supxlabel(f"weight of feature {FEATURE + 1}")
        drawn.supylabel(f"mean {MEASURE}")
        return drawn


def main() -> None:
    """Print the table, and draw the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--figures", action="store_true", help="write the files in docs/figures, too"
    )
    asked = parser.parse_args()
    made = curves()
    print(table(made).render("md", digits=4))
    if asked.figures:
        save_figure(figure(made), FIGURES / "space-queries.svg")
        for name, each in optimization.figures().items():
            if name in KEPT:
                save_figure(each, FIGURES / f"space-{name}.svg")


if __name__ == "__main__":
    main()

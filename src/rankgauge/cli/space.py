"""rankgauge space: explore where measures change in the space of weights, and where they are best."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import get_args

import click

from rankgauge.cli.groups import HeadedGroup, option, takes
from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    PLOT,
    RESTARTS,
    Output,
    depth_option,
    margin_option,
    measure_option,
    show_option,
)
from rankgauge.cli.output import notify, progress
from rankgauge.cli.space_inputs import PathOptions, Range, SpaceInputs
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.notes import Note
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.figures.files import save_figure
from rankgauge.space.curves import MARGIN
from rankgauge.space.planes import Across


@click.group("space", cls=HeadedGroup)
def command() -> None:
    """Explore where measures change in the space of weights, and where they are best.

    A flip is a point at which the scores of two documents are equal, so that they swap places. Between
    flips, every ranking, and hence every measure, stays the same. All commands compute this exactly,
    unlike a grid search.

    The files are either LETOR data, whose features have weights, or runs with their judgments. The
    weights of runs sum to 1, as do those of features unless other features are fixed.

    \b
    rankgauge space curve train.txt --parameter 39 --fixed 23=1
    rankgauge space curve --qrels qrels.txt bm25.run dense.run -m nDCG@10 -m AP --plot curve.svg

    docs/SPACE.md explains flips, cells and regions.
    """


def _show(
    result: Result,
    tables: dict[str, Callable[[], Table]],
    shown: str,
    plot: str | None,
    output: Output,
) -> None:
    """Print one of the tables, and draw the figure."""
    if plot is not None:
        save_figure(result.figure(), plot)
    output.show(tables[shown]())


@command.command("flips")
@measure_option("AP", "nDCG@10", "P@5", "RR")
@takes(path=PathOptions)
@show_option(
    ("measures", "ranks", "flips"),
    "measures",
    "The table to print. measures: one row per measure, with the flips that affect it. "
    "ranks: one row per rank. flips: every flip on the path.",
)
@PLOT.but("Plot the means along the path, and the flips, as .svg or .png.")
@takes(inputs=SpaceInputs, output=Output)
def flips(
    measures: tuple[str, ...],
    path: PathOptions,
    shown: str,
    plot: str | None,
    inputs: SpaceInputs,
    output: Output,
) -> None:
    """List the flips on a path of weights, and the measures that they affect.

    A flip is good if the document with the higher label rises, bad if it falls, and neutral if the
    labels are equal. Only flips between ranks 5 and 6 affect P@5.

    \b
    rankgauge space flips train.txt --parameter 39 --fixed 23=1
    rankgauge space flips --qrels qrels.txt bm25.run dense.run --show ranks
    rankgauge space flips --qrels qrels.txt bm25.run dense.run --query 42 --show flips
    """
    space = inputs.space()
    result = space.flips(measures, path.path(space))
    tables = {"measures": result.measure_table, "ranks": result.rank_table, "flips": result.table}
    _show(result, tables, shown, plot, output)


@command.command("curve")
@measure_option(DEFAULT_MEASURE)
@takes(path=PathOptions)
@margin_option(MARGIN, "Means within this margin of the best belong to a plateau.").but(
    heading="Curve"
)
@show_option(
    ("measures", "optima", "steps"),
    "measures",
    "The table to print. measures: one row per measure. optima: one row per local optimum. "
    "steps: the whole curve, one row per interval with a constant mean.",
)
@PLOT.but("Plot the curves, as .svg or .png.")
@takes(inputs=SpaceInputs, output=Output)
def curve(
    measures: tuple[str, ...],
    path: PathOptions,
    margin: float,
    shown: str,
    plot: str | None,
    inputs: SpaceInputs,
    output: Output,
) -> None:
    """Compute the exact mean of measures for every weight on a path.

    The table has the best interval of weights, the plateau near the best, and the number of local
    optima.

    \b
    rankgauge space curve train.txt --parameter 39 --fixed 23=1 --high 2 --plot curve.svg
    rankgauge space curve --qrels qrels.txt bm25.run dense.run -m nDCG@10 -m P@5
    rankgauge space curve --qrels qrels.txt a.run b.run c.run --point 1,0,0 --point 0,0.5,0.5
    """
    space = inputs.space()
    result = space.curves(measures, path.path(space), margin=margin)
    tables = {"measures": result.table, "optima": result.optima_table, "steps": result.step_table}
    _show(result, tables, shown, plot, output)


SECONDS_A_LINE = 5.0
"""The least time between two lines of progress, in seconds."""


class _ProgressLines:
    """Prints now and then what is done, after what there is to do; quick work prints nothing."""

    def __init__(self) -> None:
        self.whole, self.last = "", time.monotonic()

    def __call__(self, step: str) -> None:
        self.whole = self.whole or step
        if time.monotonic() - self.last >= SECONDS_A_LINE:
            click.echo(f"{self.whole}: {step}", err=True)
            self.last = time.monotonic()


@command.command("plane")
@measure_option("AP", "nDCG@10", "P@5", "RR")
@depth_option(
    None,
    "Keep only some documents, so that the plane stays small. For runs: those in the top N "
    "of any run. For LETOR data: N documents per query, chosen without regard to labels.",
    multiple=False,
).but(heading="Plane")
@option(
    "--neutral",
    heading="Plane",
    is_flag=True,
    help=(
        "Also count cells that differ only in the order of documents with equal labels. No "
        "mean changes between them."
    ),
)
@option(
    "--across",
    heading="Plane",
    type=click.Choice(get_args(Across)),
    default="edges",
    help="When a region counts as a local optimum. edges: no better region shares an edge with "
    "it. trajectories: none shares a vertex either, so that no path from it leads to a "
    "better one.",
)
@takes(bounds=Range)
@show_option(
    ("measures", "optima", "cells", "vertices"),
    "measures",
    "The table to print. measures: one row per measure. optima: one row per local optimum. "
    "cells: one row per cell. vertices: the points where flip boundaries meet.",
)
@PLOT.but("Plot the mean of the first measure over the square of weights, as .svg or .png.")
@takes(inputs=SpaceInputs, output=Output)
def plane(
    measures: tuple[str, ...],
    depth: int | None,
    neutral: bool,
    across: Across,
    bounds: Range,
    shown: str,
    plot: str | None,
    inputs: SpaceInputs,
    output: Output,
) -> None:
    """Enumerate all cells of a plane of two weights, and find the best.

    The plane is spanned by two parameters in addition to fixed features, or by three features or runs
    whose weights sum to 1. The cells are exact, and their number grows fast: use only some queries, and
    few documents of each.

    \b
    rankgauge space plane train.txt --parameter 23 --parameter 40 --fixed 39=1 --queries 4 --depth 8
    rankgauge space plane --qrels qrels.txt a.run b.run c.run --queries 10 --depth 5 --plot plane.svg
    """
    space = inputs.space(depth)
    result = space.plane(
        measures,
        neutral=neutral,
        across=across,
        low=bounds.low,
        high=bounds.high,
        progress=_ProgressLines(),
    )
    tables = {
        "measures": result.table,
        "optima": result.optima_table,
        "cells": result.cell_table,
        "vertices": result.vertex_table,
    }
    _show(result, tables, shown, plot, output)


@command.command("grid")
@measure_option(DEFAULT_MEASURE)
@takes(bounds=Range)
@option(
    "--points",
    "grid_points",
    heading="Grid",
    type=WholeNumber(2),
    default=11,
    metavar="N",
    help="The number of weights on each axis of the grid.",
)
@PLOT.but("For one or two axes: plot the grid and what it misses, as .svg or .png.")
@takes(inputs=SpaceInputs, output=Output)
def grid(
    measures: tuple[str, ...],
    bounds: Range,
    grid_points: int,
    plot: str | None,
    inputs: SpaceInputs,
    output: Output,
) -> None:
    """Show what a grid of weights misses.

    Every line through the grid is searched exactly, and the table compares the best point of the grid
    with the best point on these lines. A grid has one to three axes: parameters in addition to fixed
    features, or features or runs whose weights sum to 1, where the first gets the remaining weight.

    \b
    rankgauge space grid train.txt --parameter 39 --parameter 21 --fixed 23=1 --points 21
    rankgauge space grid --qrels qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    """
    space = inputs.space()
    axes = len(space.parameters) - (not space.fixed)
    with progress(axes * grid_points ** (axes - 1), "searching lines") as advance:
        result = space.grid(
            measures, low=bounds.low, high=bounds.high, points=grid_points, progress=advance
        )
    _show(result, {"measures": result.table}, "measures", plot, output)


@command.command("optima")
@measure_option(
    DEFAULT_MEASURE,
    text="The measure to optimize, such as nDCG@10 or 'AP(rel=2)'. Only one is allowed.",
)
@RESTARTS.but("The number of starting points of the search.", default=20, heading="Search")
@option(
    "--directions",
    heading="Search",
    type=WholeNumber(0),
    default=10,
    metavar="N",
    help=(
        "The number of random directions to search in each round, in addition to each single "
        "weight."
    ),
)
@PLOT.but("Plot the value of each optimum against how often it was found, as .svg or .png.")
@takes(inputs=SpaceInputs)
@workers_options
@takes(output=Output)
def optima(
    measures: tuple[str, ...],
    restarts: int,
    directions: int,
    plot: str | None,
    inputs: SpaceInputs,
    output: Output,
) -> None:
    """Search for the best weights of any number of parameters.

    From each starting point, one weight at a time is set to its best value by an exact line search; then
    random directions are searched. The table lists each local optimum and how many starts found it. If
    every start ends at a different optimum, there are many more. Weights can be negative. If nothing is
    fixed, they are divided by their length.

    \b
    rankgauge space optima train.txt --parameter 39 --parameter 21 --parameter 40 --fixed 23=1
    rankgauge space optima --qrels qrels.txt a.run b.run c.run -m AP
    """
    if len(measures) != 1:
        raise click.UsageError(f"{', '.join(measures)}: expected a single measure to optimize")
    space = inputs.space()
    with progress(restarts, "climbing") as advance:
        result = space.optima(
            measures[0],
            restarts=restarts,
            directions=directions,
            seed=inputs.seed,
            executor=workers(),
            progress=advance,
        )
    if inputs.qrels is not None and (result.best < 0).any():
        notify(
            [
                Note(
                    "one of the best weights is negative, and `rankgauge fuse` does not "
                    "accept negative weights; `rankgauge tune` searches for the best "
                    "weights from 0 to 1"
                )
            ]
        )
    _show(result, {"measures": result.table}, "measures", plot, output)

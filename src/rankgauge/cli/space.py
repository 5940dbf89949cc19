"""rankgauge space: where in the space of weights measures change, and where they are best."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, get_args

import click

from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    depth_option,
    margin_option,
    measure_option,
    output_options,
    plot_option,
    restarts_option,
    shown_option,
)
from rankgauge.cli.output import notify, progress, show_with_notes
from rankgauge.cli.space_inputs import (
    SpaceInputs,
    input_options,
    path_of,
    point_option,
    range_options,
)
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.notes import Note
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.figures.files import save_figure
from rankgauge.space.curves import MARGIN
from rankgauge.space.planes import Across


@click.group("space")
def command() -> None:
    """See where in the space of weights measures change, and where they are best.

    Two documents change places where their scores are equal: a flip. Between flips every ranking, and so
    every measure, stays the same. All commands compute this exactly; a grid of weights cannot.

    The files are LETOR data, whose features have weights, or runs with their judgements. The weights of
    runs sum to 1, and so do those of features, unless other features are fixed.

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
    form: str | None,
    digits: int | None,
    output: str | None,
) -> None:
    """Print one of the tables, and draw the figure."""
    if plot is not None:
        save_figure(result.figure(), plot)
    show_with_notes(tables[shown](), form, digits, output)


@command.command("flips")
@measure_option("AP", "nDCG@10", "P@5", "RR")
@point_option
@range_options
@shown_option(
    ("measures", "ranks", "flips"),
    "measures",
    "measures: a row for each measure, with the flips that it notices. ranks: a row for each rank. "
    "flips: every flip on the path.",
)
@plot_option("Draw the means along the path, and the flips, as .svg or .png.")
@input_options
@output_options
def flips(
    measures: tuple[str, ...],
    points: list[list[float]] | None,
    low: float,
    high: float,
    shown: str,
    plot: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **inputs: Any,
) -> None:
    """List the flips on a path of weights, and who notices them.

    A flip is good if the document with the higher label rises, bad if it falls, and neutral if the
    labels are equal. P@5 notices only flips of rank 5 with rank 6.

    \b
    rankgauge space flips train.txt --parameter 39 --fixed 23=1
    rankgauge space flips --qrels qrels.txt bm25.run dense.run --show ranks
    rankgauge space flips --qrels qrels.txt bm25.run dense.run --query 42 --show flips
    """
    space = SpaceInputs(**inputs).space()
    found = space.flips(measures, path_of(space, points, low, high))
    tables = {"measures": found.measure_table, "ranks": found.rank_table, "flips": found.table}
    _show(found, tables, shown, plot, form, digits, output)


@command.command("curve")
@measure_option(DEFAULT_MEASURE)
@point_option
@range_options
@margin_option(MARGIN, "A mean that is at most this far from the best is part of a plateau.")
@shown_option(
    ("measures", "optima", "steps"),
    "measures",
    "measures: a row for each measure. optima: a row for each local optimum. steps: the whole curve, a "
    "row for each interval of one mean.",
)
@plot_option("Draw the curves, as .svg or .png.")
@input_options
@output_options
def curve(
    measures: tuple[str, ...],
    points: list[list[float]] | None,
    low: float,
    high: float,
    margin: float,
    shown: str,
    plot: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **inputs: Any,
) -> None:
    """Compute the exact mean of measures for every weight on a path.

    The table has the best interval of weights, the plateau near the best, and the number of local
    optima.

    \b
    rankgauge space curve train.txt --parameter 39 --fixed 23=1 --high 2 --plot curve.svg
    rankgauge space curve --qrels qrels.txt bm25.run dense.run -m nDCG@10 -m P@5
    rankgauge space curve --qrels qrels.txt a.run b.run c.run --point 1,0,0 --point 0,0.5,0.5
    """
    space = SpaceInputs(**inputs).space()
    found = space.curves(measures, path_of(space, points, low, high), margin=margin)
    tables = {"measures": found.table, "optima": found.optima_table, "steps": found.step_table}
    _show(found, tables, shown, plot, form, digits, output)


SECONDS_A_LINE = 5.0
"""The least time between two lines of progress, in seconds."""


class _Told:
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
    "Keep only some documents, so that the plane stays small. Runs: those that some run has among its "
    "first N. LETOR: N documents of each query, chosen without regard to labels.",
    multiple=False,
)
@click.option(
    "--neutral",
    is_flag=True,
    help="Count cells also where documents with equal labels change places. No mean changes there.",
)
@click.option(
    "--across",
    type=click.Choice(get_args(Across)),
    default="edges",
    show_default=True,
    help="When a region is a local optimum. edges: no better region shares an edge with it. "
    "trajectories: nor a vertex, so that no path from it leads to a better one.",
)
@range_options
@shown_option(
    ("measures", "optima", "cells", "vertices"),
    "measures",
    "measures: a row for each measure. optima: a row for each local optimum. cells: a row for each "
    "cell. vertices: the points where flip boundaries meet.",
)
@plot_option("Draw the mean of the first measure over the square of weights, as .svg or .png.")
@input_options
@output_options
def plane(
    measures: tuple[str, ...],
    depth: int | None,
    neutral: bool,
    across: Across,
    low: float,
    high: float,
    shown: str,
    plot: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **inputs: Any,
) -> None:
    """Find all cells of two weights, and the best of them.

    It takes two parameters beside fixed features, or three features or runs whose weights sum to 1. The
    cells are exact, and their number grows fast: take some queries, and few documents of each.

    \b
    rankgauge space plane train.txt --parameter 23 --parameter 40 --fixed 39=1 --queries 4 --depth 8
    rankgauge space plane --qrels qrels.txt a.run b.run c.run --queries 10 --depth 5 --plot plane.svg
    """
    space = SpaceInputs(**inputs).space(depth)
    found = space.plane(
        measures, neutral=neutral, across=across, low=low, high=high, progress=_Told()
    )
    tables = {
        "measures": found.table,
        "optima": found.optima_table,
        "cells": found.cell_table,
        "vertices": found.vertex_table,
    }
    _show(found, tables, shown, plot, form, digits, output)


@command.command("grid")
@measure_option(DEFAULT_MEASURE)
@range_options
@click.option(
    "--points",
    "grid_points",
    type=WholeNumber(2),
    default=11,
    show_default=True,
    metavar="N",
    help="How many weights the grid has on each axis.",
)
@plot_option("One or two axes: draw the grid, and what it misses, as .svg or .png.")
@input_options
@output_options
def grid(
    measures: tuple[str, ...],
    low: float,
    high: float,
    grid_points: int,
    plot: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **inputs: Any,
) -> None:
    """Show what a grid of weights misses.

    Every line through the grid is searched exactly. The table has the best of the grid beside the best
    of these lines. A grid has one to three axes: parameters beside fixed features; or features or runs
    whose weights sum to 1, where the first one gets what the others leave.

    \b
    rankgauge space grid train.txt --parameter 39 --parameter 21 --fixed 23=1 --points 21
    rankgauge space grid --qrels qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    """
    space = SpaceInputs(**inputs).space()
    axes = len(space.parameters) - (not space.fixed)
    with progress(axes * grid_points ** (axes - 1), "searching lines") as advance:
        found = space.grid(measures, low=low, high=high, points=grid_points, progress=advance)
    _show(found, {"measures": found.table}, "measures", plot, form, digits, output)


@command.command("optima")
@measure_option(
    DEFAULT_MEASURE,
    text="The measure to climb by, such as nDCG@10 or 'AP(rel=2)'. Only one is taken.",
)
@restarts_option(20, "From how many weights the search starts.")
@click.option(
    "--directions",
    type=WholeNumber(0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many random directions are searched in each round, beside each weight alone.",
)
@plot_option("Draw the value of each optimum, and how often it was found, as .svg or .png.")
@input_options
@workers_options
@output_options
def optima(
    measures: tuple[str, ...],
    restarts: int,
    directions: int,
    plot: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **inputs: Any,
) -> None:
    """Look for the best weights of any number of parameters.

    From each start, one weight after the other is set to its best value by an exact line search, then
    random directions are searched. The table has each local optimum, and how many starts found it. If
    every start ends elsewhere, there are many more optima. Weights can be negative. If nothing is fixed,
    they are divided by their length.

    \b
    rankgauge space optima train.txt --parameter 39 --parameter 21 --parameter 40 --fixed 23=1
    rankgauge space optima --qrels qrels.txt a.run b.run c.run -m AP
    """
    if len(measures) != 1:
        raise click.UsageError(f"{', '.join(measures)}: expected one measure to climb by")
    asked = SpaceInputs(**inputs)
    space = asked.space()
    with progress(restarts, "climbing") as advance:
        found = space.optima(
            measures[0],
            restarts=restarts,
            directions=directions,
            seed=asked.seed,
            executor=workers(),
            progress=advance,
        )
    if asked.qrels is not None and (found.best < 0).any():
        notify(
            [
                Note(
                    "the best weights have a negative one. `rankgauge fuse` takes no negative weights; "
                    "`rankgauge tune` looks for the best weights from 0 to 1"
                )
            ]
        )
    _show(found, {"measures": found.table}, "measures", plot, form, digits, output)

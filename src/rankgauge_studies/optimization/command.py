"""rankgauge study optimization: measures over the parameters of a ranking function."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

import click

from rankgauge import InputError, RankgaugeError
from rankgauge.extending import (
    HeadedCommand,
    Incomplete,
    Note,
    Table,
    check_plotting,
    make_folder,
    notify,
    progress,
    workers,
    workers_options,
)
from rankgauge.workers import outcomes
from rankgauge_studies.output import (
    DATA_VARIABLE,
    data_folder,
    study_options,
    write_figures,
    write_table,
)


@click.command("optimization", cls=HeadedCommand)
@study_options
@workers_options
def command(output: str, data: str | None) -> None:
    """Replicate Robertson and Zaragoza, On rank-based effectiveness measures and optimization.

    The study prints these tables and writes them to DIR as CSV: the six notes on the example of the
    paper, the cases of shared documents, two boundaries that touch, Assertion 1 for all measures,
    the share of flips to which measures respond, the theorems on thousands of instances with two
    and three parameters and where they fail, and MAP against GMAP. With the learning-to-rank data
    MQ2008, it adds local optima as queries are added, and the optima that grids miss. Each table
    names its section of the paper. Figures 1 to 3 of the paper, and others, are written as SVG and
    PNG. The study takes two or three minutes. Without the data, or without matplotlib, the rest is
    made, and the exit code is 3.
    """
    from rankgauge_studies import optimization as study

    make_folder(output)
    failed, read = "", None
    try:
        read = study.read(data_folder(data))
    except InputError as error:
        remedy = f"give the data folder with --data or {DATA_VARIABLE}"
        failed = f"{error}\nno tables of MQ2008: {remedy}"
    try:
        check_plotting()
    except RankgaugeError as error:
        failed = "\n".join(filter(None, (failed, f"no figures: {error}")))
    if failed:
        notify([Note(line) for line in failed.splitlines()])
    works = study.make_table_functions(read)
    lost = []
    with progress(len(works), "computing") as advance:
        for (name, _), table in outcomes(
            _make_table, list(works.items()), workers(), itemgetter(0)
        ):
            if isinstance(table, RankgaugeError):
                lost.append(str(table))
            else:
                write_table(name, table, output)
            if advance is not None:
                advance(name)
    if "no figures" not in failed:
        write_figures(study.figures(), output)
    if failed:
        lost.append("some parts are missing: see the notes at the start")
    if lost:
        raise Incomplete("\n".join(lost))


def _make_table(work: tuple[str, Callable[[], Table]]) -> Table:
    """The table that something with a name makes."""
    return work[1]()

"""rankgauge study med: distances between rankings that judgments can make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rankgauge import InputError, RankgaugeError
from rankgauge.extending import HeadedCommand, Incomplete, Table, make_folder
from rankgauge_studies.output import (
    DATA_VARIABLE,
    data_folder,
    study_options,
    write_figures,
    write_table,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@click.command("med", cls=HeadedCommand)
@study_options
def command(output: str, data: str | None) -> None:
    """Replicate Moffat, Computing maximized effectiveness distance for recall-based metrics.

    The study prints Tables 1 to 3 with the published numbers, and the paper's statements about its
    Figures 1 and 2. It writes all of this to DIR as CSV, and the figures also as SVG and PNG. The
    figures need the judgments of the TREC Web tracks of 2013 and 2014. Without them, only the
    tables are made, and the exit code is 3.
    """
    from rankgauge_studies import med as study

    make_folder(output)
    tables: dict[str, Table] = study.tables()
    figures: dict[str, Figure] = {}
    failed = ""
    try:
        judgments = study.read(data_folder(data))
        tables |= study.data_tables(judgments)
        figures = study.figures(judgments)
    except InputError as error:
        failed = (
            f"{error}\nno figures: give the folder of the judgments with --data or {DATA_VARIABLE}"
        )
    except RankgaugeError as error:
        failed = str(error)
    for name, table in tables.items():
        write_table(name, table, output, shown=name != "figures")
    write_figures(figures, output)
    if failed:
        raise Incomplete(failed)

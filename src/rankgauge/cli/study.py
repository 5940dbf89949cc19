"""rankgauge study: repeat a published study, and print its numbers next to ours."""

from __future__ import annotations

import os
from pathlib import Path

import click

from rankgauge.cli.options import output_option
from rankgauge.cli.output import Incomplete, line_width
from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import writing

VARIABLE = "RANKGAUGE_DATA"
BESIDE = "../shared/data"

STUDIES = {
    "med": "Moffat: maximized effectiveness distance for recall-based metrics.",
}


@click.group("study", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Repeat a published study, and print its numbers next to ours. Without a name, list the studies."""
    if context.invoked_subcommand is None:
        for name, summary in STUDIES.items():
            click.echo(f"{name}\t{summary}")


@command.command("med", short_help=STUDIES["med"])
@output_option("DIR", "The folder to write to.", required=True, type=OUTPUT_FOLDER)
@click.option(
    "--data",
    metavar="DIR",
    help="The folder with the judgements. By default the folder that the environment variable "
    f"{VARIABLE} names, or else {BESIDE}.",
)
def med(output: str, data: str | None) -> None:
    """Tables 1 to 3 and Figures 1 and 2 of Moffat, Computing maximized effectiveness distance for
    recall-based metrics.

    It prints the tables, with the published numbers, and what the paper says about its figures. It
    writes all of this to DIR as CSV, and the figures also as SVG and PNG. The figures need the
    judgements of the TREC Web tracks of 2013 and 2014. Without them only the tables are made, and the
    exit code is 3.
    """
    from rankgauge.figures.files import save_figure
    from rankgauge.studies import med as study

    make_folder(output)
    tables, figures, failed = study.tables(), {}, ""
    try:
        judgements = study.read(data or os.environ.get(VARIABLE) or BESIDE)
        tables |= study.data_tables(judgements)
        figures = study.figures(judgements)
    except InputError as error:
        failed = f"{error}\nno figures: give the folder of the judgements by --data or {VARIABLE}"
    except RankgaugeError as error:
        failed = str(error)
    for name, table in tables.items():
        with writing(Path(output, f"{name}.csv")) as stream:
            stream.write(table.render("csv").encode("utf-8"))
        if name != "figures":
            click.echo(
                f"{name.replace('-', ' ').capitalize()}\n\n{table.render('table', width=line_width())}"
            )
    for name, figure in figures.items():
        for ending in ("svg", "png"):
            save_figure(figure, Path(output, f"{name}.{ending}"))
    if failed:
        raise Incomplete(failed)

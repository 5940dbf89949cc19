"""rankgauge study: repeat a published study, and print its numbers next to ours."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING

import click

from rankgauge.cli.options import output_option, together
from rankgauge.cli.output import Incomplete, line_width, notify, progress
from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.notes import Note
from rankgauge.core.tables import Table
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.figures.drawing import check_plotting
from rankgauge.io.files import writing
from rankgauge.io.own_paths import OwnPath
from rankgauge.workers import outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIABLE = "RANKGAUGE_DATA"
BESIDE = "../shared/data"

STUDIES = {
    "med": "Moffat: maximized effectiveness distance for recall-based metrics.",
    "optimisation": "Robertson and Zaragoza: rank-based effectiveness measures and optimisation.",
    "ue": "Feng and Karmaker: joint upper and expected value normalisation.",
    "forecast": "Muwanei et al.: prediction of the high-cost nDCG measure.",
    "text": "Feng: BERTScore and ROUGE normalised by chance.",
}
ELSEWHERE = ("ue", "forecast", "text")
"""Studies with a module of their own."""


class Studies(click.Group):
    """The group of studies. Those in modules of their own are imported when they are asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(STUDIES)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in ELSEWHERE:
            module = importlib.import_module(f"rankgauge.cli.study_{name}")
            command: click.Command = getattr(module, name)
            command.short_help = STUDIES[name]
            return command
        return super().get_command(context, name)


@click.group("study", cls=Studies, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Repeat a published study, and print its numbers next to ours. Without a name, list the studies."""
    if context.invoked_subcommand is None:
        for name, summary in STUDIES.items():
            click.echo(f"{name}\t{summary}")


study_options = together(
    output_option("DIR", "The folder to write to.", required=True, type=OUTPUT_FOLDER),
    click.option(
        "--data",
        metavar="DIR",
        help="The folder with the data. By default the folder that the environment variable "
        f"{VARIABLE} names, or else {BESIDE}.",
    ),
)
"""`-o` and `--data`, of every study."""


@command.command("med", short_help=STUDIES["med"])
@study_options
def med(output: str, data: str | None) -> None:
    """Tables 1 to 3 and Figures 1 and 2 of Moffat, Computing maximized effectiveness distance for
    recall-based metrics.

    It prints the tables, with the published numbers, and what the paper says about its figures. It
    writes all of this to DIR as CSV, and the figures also as SVG and PNG. The figures need the
    judgements of the TREC Web tracks of 2013 and 2014. Without them only the tables are made, and the
    exit code is 3.
    """
    from rankgauge_studies import med as study

    make_folder(output)
    tables: dict[str, Table] = study.tables()
    figures: dict[str, Figure] = {}
    failed = ""
    try:
        judgements = study.read(_folder(data))
        tables |= study.data_tables(judgements)
        figures = study.figures(judgements)
    except InputError as error:
        failed = f"{error}\nno figures: give the folder of the judgements by --data or {VARIABLE}"
    except RankgaugeError as error:
        failed = str(error)
    for name, table in tables.items():
        _write(name, table, output, shown=name != "figures")
    _draw(figures, output)
    if failed:
        raise Incomplete(failed)


@command.command("optimisation", short_help=STUDIES["optimisation"])
@study_options
@workers_options
def optimisation(output: str, data: str | None) -> None:
    """Robertson and Zaragoza, On rank-based effectiveness measures and optimisation, done again.

    It prints and writes to DIR, as CSV: the six notes on the example of the paper, the cases of shared
    documents, two boundaries that touch, Assertion 1 for all measures, the share of flips that measures
    notice, the theorems on thousands of instances with two and three parameters, where they fail, and
    MAP against GMAP. With the learning-to-rank data MQ2008 also: local optima as queries are added, and
    what grids miss. Each table names the section of the paper that it is about. Figures 1 to 3 of the
    paper, and others, are written as SVG and PNG. It takes two or three minutes. Without the data, or
    without matplotlib, the rest is made, and the exit code is 3.
    """
    from rankgauge_studies import optimisation as study

    make_folder(output)
    failed, read = "", None
    try:
        read = study.read(_folder(data))
    except InputError as error:
        failed = (
            f"{error}\nno tables of MQ2008: give the folder of the data by --data or {VARIABLE}"
        )
    try:
        check_plotting()
    except RankgaugeError as error:
        failed = "\n".join(filter(None, (failed, f"no figures: {error}")))
    if failed:
        notify([Note(line) for line in failed.splitlines()])
    works = study.works(read)
    lost = []
    with progress(len(works), "computing") as advance:
        for (name, _), table in outcomes(_made, list(works.items()), workers(), itemgetter(0)):
            if isinstance(table, RankgaugeError):
                lost.append(str(table))
            else:
                _write(name, table, output)
            if advance is not None:
                advance(name)
    if "no figures" not in failed:
        _draw(study.figures(), output)
    if failed:
        lost.append("not all was made: see the notes at the start")
    if lost:
        raise Incomplete("\n".join(lost))


def _made(work: tuple[str, Callable[[], Table]]) -> Table:
    """The table that something with a name makes."""
    return work[1]()


def lacking_libraries() -> list[str]:
    """What a study with a page cannot make, because a library is not installed."""
    from rankgauge.report.html import check_pages

    texts = []
    for what, check in (("figures", check_plotting), ("study.html", check_pages)):
        try:
            check()
        except RankgaugeError as error:
            texts.append(f"no {what}: {error}")
    return texts


def can(check: Callable[[], object]) -> bool:
    """Whether a library is there, by the check for it."""
    try:
        check()
    except RankgaugeError:
        return False
    return True


def _folder(data: str | None) -> str:
    return data or os.environ.get(VARIABLE) or BESIDE


def _write(name: str, table: Table, output: str, shown: bool = True) -> None:
    """Write a table as CSV, and print it."""
    with writing(OwnPath(output, f"{name}.csv")) as stream:
        stream.write(table.render("csv").encode("utf-8"))
    if shown:
        title = name.replace("-", " ").capitalize()
        click.echo(f"{title}\n\n{table.render('table', width=line_width())}")


def _draw(figures: dict[str, Figure], output: str) -> None:
    """Write figures as SVG and PNG."""
    from rankgauge.figures.files import save_figure

    for name, figure in figures.items():
        for ending in ("svg", "png"):
            save_figure(figure, OwnPath(output, f"{name}.{ending}"))

"""rankgauge study ue: the study of upper and expected value normalisation, on any LETOR data."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from rankgauge.cli.learning_options import by_option, set_size_options, setting_option
from rankgauge.cli.options import (
    folds_option,
    level_option,
    method_option,
    method_plugin_option,
    output_option,
    queries_option,
    samples_option,
    seed_option,
    significance_test_option,
)
from rankgauge.cli.output import Incomplete, line_width, notify, progress
from rankgauge.cli.output_files import OUTPUT_FOLDER
from rankgauge.cli.scoring import named
from rankgauge.cli.study import can, lacking_libraries
from rankgauge.cli.workers import workers, workers_options
from rankgauge.data.errors import InputError
from rankgauge.data.files import TEMPORARY, display_name, read_bytes, writing
from rankgauge.figures.drawing import check_plotting
from rankgauge.figures.files import save_figure
from rankgauge.measures.answers import BESTS, CHANCES
from rankgauge.notes import Note
from rankgauge.policies import BROAD_LABEL, BROAD_SHARE, SET_SHARE, InformativeBy
from rankgauge.report.html import check_pages, write_page
from rankgauge.scores.documents import read_json
from rankgauge.studies.ue.page import DrawnFigure, study_page
from rankgauge.studies.ue.protocol import (
    READINGS,
    REPLICATES,
    RESAMPLES,
    DataSet,
    Protocol,
    Reading,
    WithoutRelevant,
)
from rankgauge.tables import Table

if TYPE_CHECKING:
    from rankgauge.studies.ue.study import Study

BOTH = "both"
PAGE, TABLES = "study.html", "tables"
FORMATS = {"csv": "csv", "md": "md", "latex": "tex"}
"""The forms of a table that are written, with the endings of their files."""
DEFAULTS = "By default as the reading has it."
_BY_READING = ("preset", "test", "reb", "iub", "by", "informative_by", "without_relevant")


@click.command("ue")
@click.argument("data", nargs=-1, metavar="[NAME=]FOLDS [[NAME=]FOLDS2]")
@output_option("DIR", "The folder to write to.", required=True, type=OUTPUT_FOLDER)
@click.option(
    "--again",
    metavar="FILE",
    help="A study.json that this command wrote: the same study is done again. Only FOLDS may be given "
    "beside it, if the data are in another place now.",
)
@method_option(
    "A method to train; may be repeated. By default all methods.", metavar="NAME", multiple=True
)
@queries_option(
    2,
    "Evaluate only so many test queries of each data set, drawn by the seed. Methods are trained "
    "on all of the training data. By default all test queries.",
)
@click.option(
    "--reading",
    type=click.Choice([*READINGS, BOTH]),
    default=BOTH,
    show_default=True,
    help="paper: as printed, with the settings of RankLib, an unpaired t-test, and k·p² for the "
    "expected sum of precisions. right: today's settings, a paired t-test and exact expected values.",
)
@click.option("--preset", help=f"The settings of the methods: default or ranklib. {DEFAULTS}")
@setting_option("A setting of all the methods, or of one, such as lambdamart.trees=100")
@significance_test_option(None, DEFAULTS)
@click.option(
    "--reb",
    type=click.Choice(CHANCES),
    help="How the mean score of random rankings is computed. exact: over all orders. independent: the "
    "paper's formula, which can be above the best score where a query has few documents; this is an "
    f"error. capped: the same over no more ranks than there are documents. {DEFAULTS}",
)
@click.option(
    "--iub",
    type=click.Choice(BESTS),
    help="The best sum of precisions. achievable: that of the best ranking. k: the cut-off, as the "
    f"paper's Equation 3 says; its numbers fit achievable. {DEFAULTS}",
)
@by_option(None, DEFAULTS)
@click.option(
    "--informative-by",
    type=click.Choice(get_args(InformativeBy)),
    help="How uninformative and ideal queries are told apart. difference: by how far the methods are "
    "above chance. significance: a query is ideal if a method is significantly better than chance on "
    f"it, else uninformative. {DEFAULTS}",
)
@click.option(
    "--without-relevant",
    type=click.Choice(get_args(WithoutRelevant)),
    help="Queries without a relevant document: leave them out, or score them 0. They are never "
    f"uninformative or ideal. {DEFAULTS}",
)
@set_size_options(f". By default {SET_SHARE}.")
@click.option(
    "--broad-share",
    type=click.FloatRange(0, 1),
    default=BROAD_SHARE,
    show_default=True,
    help="A query is broad if at least this share of its documents is highly relevant, else focused.",
)
@click.option(
    "--broad-label",
    type=click.IntRange(0),
    default=BROAD_LABEL,
    show_default=True,
    help="A document is highly relevant if it has at least this label.",
)
@click.option(
    "--ways",
    type=click.IntRange(2),
    default=2,
    show_default=True,
    help="Into how many parts the documents of a query are split, to see whether the parts agree.",
)
@click.option(
    "--replicates",
    type=click.IntRange(1, 10_000),
    default=REPLICATES,
    show_default=True,
    metavar="N",
    help="How often they are split.",
)
@samples_option(RESAMPLES, text="How often the queries are drawn again, for the intervals.")
@level_option("A difference is significant if its p-value is at most 1 - level.")
@folds_option(None, 3, "If FOLDS is one file: into how many folds its queries are cut.")
@workers_options
@seed_option("everything that is drawn at random")
@method_plugin_option
def ue(data: tuple[str, ...], output: str, again: str | None, **options: Any) -> None:
    """Feng and Karmaker, Joint upper & expected value normalization, done again on LETOR data.

    It trains the methods on each fold, ranks the test queries, and writes to DIR: the counterpart of
    each table of the paper as CSV, Markdown and LaTeX, the figures, study.html with all of it and with
    the paper's claims that hold, and study.json, from which --again does the same study. If the work is
    interrupted, the same command goes on from what is finished.

    FOLDS is a folder in one of the layouts of LETOR, or one file, which --folds cuts. With two data sets
    the methods are also compared across them. A data set called MQ2007 or MSLR-WEB30K has the paper's
    numbers beside ours.

    \b
    rankgauge study ue MQ2008 OHSUMED=ohsumed/Data -o out
    rankgauge study ue MQ2008 -o out --reading right --method lambdamart --method ranknet
    rankgauge study ue --again out/study.json -o out2
    """
    from rankgauge.rankers.registry import methods as all_methods
    from rankgauge.studies.ue.study import run_study

    collections = tuple(map(_collection, data))
    if again is not None:
        protocol = _again(again, collections)
    else:
        protocol = _protocol(
            collections, list(options.pop("method")) or list(all_methods()), options
        )
    folder = Path(output)
    lacking = lacking_libraries()
    notify([Note(text) for text in lacking])
    try:
        with progress(_steps(protocol), "working") as advance:
            study = run_study(protocol, folder, executor=workers(), progress=advance)
    except KeyboardInterrupt:
        notify([Note(f"the same command goes on from what is finished in {output}")])
        raise
    write_study(study, folder)
    for reading, claims in study.judged().items():
        table = Table(("claim", "verdict"), tuple((each.claim, each.verdict) for each in claims))
        click.echo(f"Reading {reading}\n\n{table.render('table', width=line_width())}")
    if not lacking:
        click.echo(f"All of it: {folder / PAGE}")
    else:
        raise Incomplete(f"not all was made; the tables are in {folder / TABLES}")


def _collection(text: str) -> DataSet:
    """The data set in [NAME=]FOLDS; its name is by default that of the folder."""
    name, folder = named(text)
    plain = os.path.basename(os.path.abspath(folder))
    return DataSet(name or plain or folder, folder)


def _again(file: str, collections: tuple[DataSet, ...]) -> Protocol:
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "")
        allowed = ("data", "output", "again")
        if given is click.core.ParameterSource.COMMANDLINE and option.name not in allowed:
            raise click.UsageError(
                f"--again and {option.opts[-1]}: the study.json says all of it; leave one of them out"
            )
    source = display_name(file)
    read = read_json(read_bytes(file), source, "the study.json of a study", "rankgauge study ue")
    protocol = Protocol.from_json(read, source)
    if not collections:
        for each in protocol.collections:
            if not os.path.exists(each.folds):
                raise InputError(
                    source,
                    None,
                    f"{each.folds} is not there; give FOLDS beside --again where it is now",
                )
        return protocol
    if len(collections) != len(protocol.collections):
        raise click.UsageError(
            f"{len(collections)} FOLDS for a study of {len(protocol.collections)}, expected as many"
        )
    moved = zip(protocol.collections, collections, strict=True)
    return replace(
        protocol,
        collections=tuple(replace(old, folds=new.folds) for old, new in moved),
    )


def _protocol(
    collections: tuple[DataSet, ...], methods: list[str], options: dict[str, Any]
) -> Protocol:
    """The study that the options ask for."""
    if not collections:
        raise click.UsageError("no FOLDS, expected the folder of a data set, or --again study.json")
    if options["set_share"] is not None and options["set_number"] is not None:
        raise click.UsageError(
            "--set-share and --set-number cannot be used together; give one of them"
        )
    number = options.pop("set_number")
    share = options.pop("set_share")
    changed = {name: options.pop(name) for name in _BY_READING}
    changed = {name: value for name, value in changed.items() if value is not None}
    asked = options.pop("reading")
    readings: list[Reading] = [
        replace(reading, **changed) for name, reading in READINGS.items() if asked in (name, BOTH)
    ]
    return Protocol(
        collections,
        tuple(methods),
        tuple(readings),
        options.pop("settings"),
        set_number=number,
        set_share=None if number is not None else SET_SHARE if share is None else share,
        **options,
    ).checked()


def _steps(protocol: Protocol) -> int:
    """About how many pieces of work there are: folds are counted as five."""
    from rankgauge.studies.ue.experiment import BLOCK

    presets = len({reading.preset for reading in protocol.readings})
    trained = presets * (protocol.folds or 5) * (len(protocol.methods) + 1)
    drawn = len(protocol.readings) * (-(-protocol.samples // BLOCK) + protocol.replicates)
    return len(protocol.collections) * (trained + drawn)


def write_study(study: Study, folder: Path) -> None:
    """Write tables, figures and the page, as far as the libraries for them are installed."""
    for left in folder.rglob(f"{TEMPORARY}*"):  # by a process that was killed
        left.unlink(missing_ok=True)
    for name, each in study.tables().items():
        for form, ending in FORMATS.items():
            _write(folder / TABLES / f"{name}.{ending}", each.table.render(form))
    for name, table in study.query_tables().items():
        _write(folder / "queries" / f"{name}.csv", table.render("csv"))
    pictures = []
    for name, drawn in (study.figures() if can(check_plotting) else {}).items():
        path = folder / "figures" / name
        path.parent.mkdir(exist_ok=True)
        for ending in ("svg", "png"):
            save_figure(drawn.figure, path.with_name(f"{name}.{ending}"))
        svg = path.with_name(f"{name}.svg").read_bytes()
        pictures.append(DrawnFigure(svg, drawn.caption, drawn.case, drawn.reading))
    if can(check_pages):
        write_page(study_page(study, pictures), folder / PAGE)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with writing(path) as stream:
        stream.write(text.encode("utf-8"))

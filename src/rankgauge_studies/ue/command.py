"""rankgauge study ue: the study of upper and expected value normalization, on any LETOR data."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import click
from click.formatting import wrap_text

from rankgauge import InputError
from rankgauge.cli.scoring import split_named_file
from rankgauge.extending import (
    OUTPUT_FOLDER,
    SEAL,
    SET_NUMBER,
    Decimal,
    HeadedCommand,
    Incomplete,
    Note,
    OptionGroup,
    OwnPath,
    WholeNumber,
    by_option,
    check_pages,
    check_plotting,
    check_seal,
    count_phrase,
    display_name,
    folds_option,
    is_given,
    level_option,
    line_width,
    margin_option,
    method_option,
    method_plugin_option,
    missing_seal_note,
    notify,
    option,
    output_option,
    parse_decimal,
    parse_integer,
    progress,
    queries_option,
    read_bytes,
    read_object,
    read_sealed,
    remove_unfinished,
    samples_option,
    seed_option,
    set_share_option,
    setting_option,
    significance_test_option,
    takes,
    training_queries_option,
    workers,
    workers_options,
    write_page,
    write_sealed,
)
from rankgauge.measures.answers import BESTS, CHANCES
from rankgauge.query_sets import BROAD_LABEL, BROAD_SHARE, SET_SHARE, InformativeBy
from rankgauge_studies.index import INDEX
from rankgauge_studies.output import is_available, missing_library_notes, write_figures, write_text
from rankgauge_studies.ue.counterparts import FIGURES, QUERIES, TABLES
from rankgauge_studies.ue.page import DrawnFigure, study_page
from rankgauge_studies.ue.protocol import (
    CUTOFFS,
    MARGIN,
    MOST_WAYS,
    READINGS,
    REPLICATES,
    RESAMPLES,
    DataSet,
    Protocol,
    Reading,
    WithoutRelevant,
)

if TYPE_CHECKING:
    from rankgauge_studies.ue.study import Study

BOTH = "both"
PAGE = "study.html"
FORMATS = {"csv": "csv", "md": "md", "latex": "tex"}
"""The forms of a table that are written, with the endings of their files."""
DEFAULTS = "By default, as in the reading."


class StudyTraining(OptionGroup, heading="Training"):
    """Which methods are trained, and on what."""

    method: tuple[str, ...] = method_option(
        "A method to train; can be repeated. By default, all methods.",
        metavar="NAME",
        multiple=True,
    )
    settings: dict[str, Any] = setting_option(
        "A setting of all the methods, or of one, such as lambdamart.trees=100"
    )
    training_queries: int | None = training_queries_option("the training part of each fold")
    folds: int | None = folds_option(
        None,
        3,
        ("If FOLDS is a single file: the number of folds into which its queries are split."),
    ).but(common=False)
    seed: int = seed_option("all random draws")


class ReadingOptions(OptionGroup, heading="Reading of the paper", common=False):
    """How what the paper leaves open is read."""

    reading: str = option(
        "--reading",
        common=True,
        type=click.Choice([*READINGS, BOTH]),
        default=BOTH,
        help="The choices that the paper leaves open. paper: as printed, with the settings of "
        "RankLib, coordinate ascent on MAP, an unpaired t-test, k·p² for the expected "
        "sum of precisions, and 0 for queries without relevant documents. right: current "
        "settings, a paired t-test, exact expected values, and no queries without "
        "relevant documents.",
    )
    preset: str | None = option(
        "--preset", help=f"The settings of the methods: default or ranklib. {DEFAULTS}"
    )
    test: str | None = significance_test_option(None, DEFAULTS).but(
        heading="Reading of the paper", common=False
    )
    reb: str | None = option(
        "--reb",
        type=click.Choice(CHANCES),
        help="How the mean score of random rankings is computed. exact: over all orders. "
        "independent: the paper's formula, which can exceed the best score if a query "
        "has few documents; this is an error. capped: the same formula, over no more "
        f"ranks than there are documents. {DEFAULTS}",
    )
    iub: str | None = option(
        "--iub",
        type=click.Choice(BESTS),
        help="The best sum of precisions. achievable: that of the best ranking. k: the "
        f"cutoff, as in the paper's Equation 3; its numbers fit achievable. {DEFAULTS}",
    )
    by: str | None = by_option(None, DEFAULTS)
    informative_by: str | None = option(
        "--informative-by",
        type=click.Choice(get_args(InformativeBy)),
        help="How uninformative and ideal queries are distinguished. difference: by how far "
        "the methods are above chance. significance: a query is ideal if a method is "
        f"significantly better than chance on it, and uninformative otherwise. {DEFAULTS}",
    )
    without_relevant: str | None = option(
        "--without-relevant",
        type=click.Choice(get_args(WithoutRelevant)),
        help="How to treat queries without a relevant document. leave-out: they are not "
        "drawn, and are in no set. zero: they score 0 with every measure, and so does "
        "chance, so they can be uninformative; LETOR and rankgauge ltr crossval treat "
        f"them this way. {DEFAULTS}",
    )

    def readings(self) -> tuple[Reading, ...]:
        """The readings of the paper that are asked for."""
        values = self.values()
        asked = values.pop("reading")
        changed = {name: value for name, value in values.items() if value is not None}
        return tuple(
            replace(reading, **changed)
            for name, reading in READINGS.items()
            if asked in (name, BOTH)
        )


class StudyNumbers(OptionGroup, heading="Measures and queries", common=False):
    """Cutoffs, sizes of the sets of queries, and how much is drawn."""

    cutoffs: tuple[int, ...] = option(
        "--cutoff",
        common=True,
        type=WholeNumber(1),
        multiple=True,
        default=CUTOFFS,
        metavar="K",
        help="A cutoff of the measures; can be repeated. The default is the paper's list.",
    )
    queries: int | None = queries_option(
        2,
        "Evaluate only this many test queries of each data set, drawn at random. Queries that "
        "are excluded because they have no relevant document are not drawn. By default, all "
        "test queries.",
    ).but(common=True)
    set_share: float | None = set_share_option(f". By default {SET_SHARE}.")
    set_number: int | None = SET_NUMBER
    broad_share: float = option(
        "--broad-share",
        type=Decimal(0, 1),
        default=BROAD_SHARE,
        help="A query is broad if at least this share of its documents is highly relevant, "
        "and focused otherwise.",
    )
    broad_label: int = option(
        "--broad-label",
        type=WholeNumber(0),
        default=BROAD_LABEL,
        help="A document is highly relevant if it has at least this label.",
    )
    ways: int = option(
        "--ways",
        type=WholeNumber(2, MOST_WAYS),
        default=2,
        help=(
            "The number of parts into which the documents of a query are split, to see "
            "whether the parts agree."
        ),
    )
    replicates: int = option(
        "--replicates",
        type=WholeNumber(1, 10_000),
        default=REPLICATES,
        metavar="N",
        help="The number of such splits.",
    )
    samples: int = samples_option(
        RESAMPLES, text="The number of bootstrap samples of the queries, for the intervals."
    )
    level: float = level_option("A difference is significant if its p-value is at most 1 - level.")
    margin: float = margin_option(
        MARGIN,
        "For claims that nothing is lost: the number of percentage points that may be lost.",
    )


@click.command("ue", cls=HeadedCommand)
@click.argument("data", nargs=-1, metavar="[NAME=]FOLDS[,SIZE=N...] [FOLDS2]")
@takes(training=StudyTraining, reading=ReadingOptions, numbers=StudyNumbers)
@workers_options
@output_option("DIR", "The output folder.", required=True, type=OUTPUT_FOLDER)
@option(
    "--again",
    heading="Output",
    metavar="FILE",
    help="A study.json from this command: the same study is run again. Only FOLDS may be "
    "given with it, if the data have moved.",
)
@method_plugin_option
def command(
    data: tuple[str, ...],
    training: StudyTraining,
    reading: ReadingOptions,
    numbers: StudyNumbers,
    output: str,
    again: str | None,
) -> None:
    """Replicate Feng and Karmaker, Joint upper & expected value normalization, on LETOR data.

    \b
    rankgauge study ue MQ2008 OHSUMED=ohsumed/Data -o out
    rankgauge study ue MSLR-WEB30K,queries=10000,set=1000 MQ2007,queries=1000,set=500 -o out
    rankgauge study ue MQ2008 -o out --reading right --method lambdamart --method ranknet
    rankgauge study ue --again out/study.json -o out2
    \f
    The study trains the methods on each fold, ranks the test queries, and writes to DIR: the
    counterpart of each table of the paper as CSV, Markdown and LaTeX, the figures, index.csv, which
    lists the files for each printed table, the full report study.html with the paper's claims that
    hold, and study.json, from which --again runs the same study. If the work is interrupted, run
    the same command again to resume. With other sizes, cutoffs or tests and the same folder, no
    fold is trained again.

    FOLDS is a folder in one of the layouts of LETOR, or one file, which --folds splits. The sizes
    of a data set follow it: queries=N draws N test queries, set=N makes N of them uninformative and
    N ideal (below 1, a share), and training=N draws N training queries of each fold. With two data
    sets, the methods are also compared across them. For a data set called MQ2007 or MSLR-WEB30K
    with the counts of the paper's Table 1, the paper's numbers are shown next to ours. The second
    example uses the paper's sizes.
    """
    from rankgauge_studies.ue.study import begin_study, run_study

    collections = tuple(map(_parse_data_set, data))
    if again is not None:
        protocol = _read_protocol(again, collections)
    else:
        protocol = _protocol(collections, training, reading, numbers)
    folder = OwnPath(output)
    folder.check_folders(TABLES, QUERIES, FIGURES)
    lacking = missing_library_notes()
    notify([Note(text) for text in lacking])
    try:
        begun = begin_study(protocol)
        notify([Note(text) for text in begun.remarks])
        with progress(_count_steps(protocol), "working") as advance:
            study = run_study(begun, folder, executor=workers(), progress=advance)
    except KeyboardInterrupt:
        notify([Note(f"run the same command again to resume from the finished parts in {output}")])
        raise
    if study.changed:
        what = ", ".join(study.changed)
        text = (
            f"{output} contains a study that differs in {what}; its folds are reused where they fit"
        )
        notify([Note(text)])
    notify(
        [
            Note(f"{name}, reading {reading}: {text}")
            for reading, name, each in study.each()
            for text in each.notes
            if text not in each.chosen.notes
        ]
    )
    write_study(study, folder)
    click.echo(study.verdict_table().render("table", width=line_width()))
    click.echo(f"{wrap_text(study.undecided_text(), line_width() or 100)}\n")
    click.echo(f"The files for the printed tables are listed in {folder / INDEX}.csv")
    if lacking:
        raise Incomplete(f"some parts are missing; the tables are in {folder / TABLES}")
    click.echo(f"Full report: {folder / PAGE}")


def _parse_data_set(text: str) -> DataSet:
    """The data set in [NAME=]FOLDS[,SIZE=N...]; its name is by default that of the folder."""
    given: dict[str, str] = {}
    while not os.path.exists(split_named_file(text)[1]) and (size := SIZE.search(text)):
        text = text[: size.start()]
        if size["name"] in given:
            raise click.UsageError(f"{size['name']}= is given twice for a data set; give it once")
        given[size["name"]] = size["value"]
    sizes: dict[str, Any] = {}
    for size_name, value in given.items():
        sizes |= _parse_size(size_name, value)
    name, folder = split_named_file(text)
    plain = os.path.basename(os.path.abspath(folder))
    return DataSet(name or plain or folder, folder, **sizes)


SIZE = re.compile(r",(?P<name>[a-z]+)=(?P<value>[^,=]*)$")
"""A size behind the folder of a data set."""
_SIZES = {"queries": "queries", "set": "set_number", "training": "training_queries"}


def _parse_size(name: str, value: str) -> dict[str, int | float]:
    """What a size of a data set sets: a number, or for the sets of queries a share."""
    field = _SIZES.get(name)
    try:
        if field and value.isdecimal():
            return {field: parse_integer(value)}
        if field == "set_number" and 0 < parse_decimal(value) < 1:
            return {"set_share": parse_decimal(value)}
    except ValueError:
        pass
    known = ", ".join(f"{each}=N" for each in _SIZES)
    raise click.UsageError(
        f"{name}={value}: not a size of a data set, expected {known}, or set=0.25 for a share"
    )


def _read_protocol(file: str, collections: tuple[DataSet, ...]) -> Protocol:
    for parameter in click.get_current_context().command.params:
        name = parameter.name or ""
        if is_given(name) and name not in ("data", "output", "again"):
            raise click.UsageError(
                f"--again and {parameter.opts[-1]} cannot be used together: study.json "
                "contains all settings"
            )
    source = display_name(file)
    read = read_object(file, "the study.json of a study", "rankgauge study ue")
    if SEAL in read:
        read = check_seal(read, source, "restore it from a copy, or give the options of the study")
    else:
        notify([missing_seal_note(source)])
    protocol = Protocol.from_json(read, source)
    if not collections:
        for each in protocol.collections:
            if not os.path.exists(each.folds):
                message = (
                    f"{each.folds} does not exist; give its current location as FOLDS with --again"
                )
                raise InputError(source, None, message)
        return protocol
    if len(collections) != len(protocol.collections):
        raise click.UsageError(
            f"{len(collections)} FOLDS for a study of {len(protocol.collections)}, expected as many"
        )
    if any(replace(each, name="", folds="") != DataSet("", "") for each in collections):
        raise click.UsageError(
            "--again and sizes of a data set cannot be used together: study.json contains all "
            "settings"
        )
    both = zip(protocol.collections, collections, strict=True)
    moved = tuple(replace(old, folds=new.folds) for old, new in both)
    return replace(protocol, collections=moved)


def _protocol(
    collections: tuple[DataSet, ...],
    training: StudyTraining,
    reading: ReadingOptions,
    numbers: StudyNumbers,
) -> Protocol:
    """The study that the options ask for."""
    from rankgauge.rankers import methods as all_methods

    if not collections:
        raise click.UsageError("no FOLDS, expected the folder of a data set, or --again study.json")
    share, number = numbers.set_share, numbers.set_number
    if share is not None and number is not None:
        raise click.UsageError(
            "--set-share and --set-number cannot be used together; give one of them"
        )
    if share is None and number is None:
        share = SET_SHARE
    trained = training.values()
    methods = tuple(trained.pop("method")) or tuple(all_methods())
    chosen = {
        **numbers.values(),
        **trained,
        "set_share": share,
        "cutoffs": tuple(dict.fromkeys(numbers.cutoffs)),
    }
    return Protocol(collections, methods, reading.readings(), **chosen).check()


def _count_steps(protocol: Protocol) -> int:
    """About how many pieces of work there are: folds are counted as five."""
    from rankgauge_studies.ue.experiment import sample_blocks

    trained = (protocol.folds or 5) * (len(protocol.methods) + 1)
    drawn = len(sample_blocks(1, protocol.samples)) + protocol.replicates
    return len(protocol.collections) * len(protocol.readings) * (trained + drawn)


def write_study(study: Study, folder: OwnPath) -> None:
    """Write tables, figures and the page, as far as the libraries for them are installed."""
    remove_unfinished(folder)
    before = _written_files(folder)
    files = [f"{INDEX}.csv"]
    for name, each in study.tables().items():
        for form, ending in FORMATS.items():
            files.append(f"{TABLES}/{name}.{ending}")
            write_text(folder / files[-1], each.table.render(form))
    for name, table in study.query_tables().items():
        files.append(f"{QUERIES}/{name}.csv")
        write_text(folder / files[-1], table.render("csv"))
    pictures = []
    for name, drawn in (study.figures() if is_available(check_plotting) else {}).items():
        write_figures({name: drawn.figure}, (folder / FIGURES).make())
        svg = f"{FIGURES}/{name}.svg"
        files += [svg, f"{FIGURES}/{name}.png"]
        picture = DrawnFigure(read_bytes(folder / svg), drawn.caption, drawn.case, drawn.reading)
        pictures.append(picture)
    if is_available(check_pages):
        write_page(study_page(study, pictures), folder / PAGE)
    if gone := sorted(before - set(files)):  # of a study with other sizes or readings
        for file in gone:
            (folder / file).unlink()
        more = f" and {count_phrase(len(gone) - 1, 'more file')}" if gone[1:] else ""
        notify([Note(f"{gone[0]}{more} removed from {folder}: this study writes no such file")])
    write_text(folder / f"{INDEX}.csv", study.index(drawn=bool(pictures)).render("csv"))
    write_sealed(folder / FILES, {"files": sorted(files)})


FILES = "files.json"
"""The names of the files that the study wrote."""
OWN_FILES = re.compile(rf"({TABLES}|{QUERIES}|{FIGURES})/[A-Za-z0-9][A-Za-z0-9._-]*")
"""The files that a study may remove again: nothing outside its own folders."""


def _written_files(folder: OwnPath) -> set[str]:
    """The files that an earlier study wrote into the folder."""
    if not (folder / FILES).exists():
        return set()
    kept = read_sealed(folder / FILES, "the list of a study's files", "rankgauge", "remove it")
    ours = {line for line in kept.get("files", []) if OWN_FILES.fullmatch(line)}
    return {line for line in ours if (folder / line).is_file()}

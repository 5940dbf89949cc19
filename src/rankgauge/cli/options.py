"""The options that several commands share, each declared once; functions take what differs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from rankgauge.cli.output_files import OUTPUT_FILE, SPREADSHEET
from rankgauge.data.files import LEAST_CONTENT, MOST_EXPANSION, SIZE_LIMIT, STANDARD_INPUT
from rankgauge.measures import load_plugin
from rankgauge.policies import (
    DEFAULT_ABSENT,
    DEFAULT_MISSING,
    DEFAULT_NORMALIZE,
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
    ScorePrecision,
    SharedTopics,
    Standardization,
    Tail,
    Ties,
)
from rankgauge.tables import FORMATS

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

    `--interval qrels.txt` is `--interval` alone and a file: what follows such an option is its value
    only where it is one of the values, or no file.
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


plugin_option = click.option(
    "--plugin",
    multiple=True,
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_load_plugins,
    help="A Python file that registers measures of your own; may be repeated.",
)
"""`--plugin FILE`, loaded before measures are read."""


def measure_option(*default: str, example: str = "'AP(rel=2)'", more: str = "") -> Callable[[F], F]:
    """`-m`, with these measures by default; `more` is a last sentence of the help."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        default=default,
        show_default=bool(default),
        help=f"A measure such as nDCG@10, or {example}; may be repeated. nDCG@5,10 is two "
        f"measures.{more and f' {more}'}",
    )


per_topic_option = click.option(
    "-q", "--per-topic", is_flag=True, help="A row for each topic, then the means."
)


# How rankings are made of runs


def ties_option(choices: tuple[str, ...], default: str, more: str = "") -> Callable[[F], F]:
    """`--ties`; `more` names the choices beyond the orders that need no label."""
    return click.option(
        "--ties",
        type=click.Choice(choices),
        default=default,
        show_default=True,
        help="Order of documents with equal scores: docno descending as trec_eval does, docno "
        f"ascending, or as in the file{more}.",
    )


def missing_option(
    choices: tuple[str, ...], default: str | None, help_text: str
) -> Callable[[F], F]:
    """`--missing`: what is made of topics that runs lack."""
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
        type=click.IntRange(1),
        help=f"The highest grade of the collection, if it is higher than any {known}. ERR and scaled "
        "gains use it.",
    )


def _column(role: str) -> Any:
    """What the options for the names of columns share."""
    return {
        "multiple": True,
        "metavar": "NAME",
        "help": f"The column of the {role} in CSV, TSV and Parquet, or its key in JSON, if it has none "
        "of the usual names. May be repeated, if files differ.",
    }


reading_options = together(
    click.option("--query-column", **_column("query")),
    click.option("--document-column", **_column("document")),
    click.option("--score-column", **_column("score")),
    click.option("--grade-column", **_column("grade")),
    click.option("--lenient", is_flag=True, help="Drop faulty lines of TREC files and count them."),
    click.option(
        "--size-limit",
        type=click.IntRange(1),
        default=SIZE_LIMIT,
        metavar="BYTES",
        help=f"How large a file may be once decompressed; by default {SIZE_LIMIT >> 30} GiB, and for a "
        f"compressed file {MOST_EXPANSION:,} times its size, at least {LEAST_CONTENT >> 20} MiB.",
    ),
)
"""How runs and judgements are read: `--lenient`, `--size-limit` and the names of columns."""


# What is drawn at random, and how sure the results are


def seed_option(drawn: str, default: int = SEED) -> Callable[[F], F]:
    """`--seed` of what is drawn at random, which the help names."""
    return click.option(
        "--seed",
        type=click.IntRange(0, HIGHEST_SEED),
        default=default,
        show_default=True,
        help=f"The seed for {drawn}. The same seed gives the same result.",
    )


def settled_option(help: str) -> Callable[[F], F]:
    """`--settled`, which each command explains for itself."""
    return click.option("--settled", is_flag=True, help=help)


def samples_option(default: int | None = SAMPLES, more: str = "") -> Callable[[F], F]:
    """`--samples`; `more` is a last sentence of the help."""
    return click.option(
        "--samples",
        type=click.IntRange(1, MOST_SAMPLES),
        default=default,
        show_default=True,
        metavar="N",
        help=f"How many samples are drawn, if the method draws any.{more and f' {more}'}",
    )


def level_option(more: str = "") -> Callable[[F], F]:
    """`--level`; `more` is a last sentence of the help."""
    return click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=LEVEL,
        show_default=True,
        help=f"The level of the intervals.{more and f' {more}'}",
    )


def testing_options(correction: str | None) -> Callable[[F], F]:
    """What tests of pairs of runs are, with this correction by default."""
    from rankgauge.comparison.significance import CORRECTIONS, TESTS

    return together(
        click.option(
            "--test",
            type=click.Choice(list(TESTS)),
            default=DEFAULT_TEST,
            show_default=True,
            help="The significance test. All pair the runs by topic, except welch and student.",
        ),
        click.option(
            "--correction",
            type=click.Choice([*CORRECTIONS, NO_CORRECTION]),
            default=correction or NO_CORRECTION,
            show_default=True,
            callback=lambda _, __, name: None if name == NO_CORRECTION else name,
            help="How p-values are corrected for the number of pairs; the two Tukey tests need none.",
        ),
        level_option("A difference is significant if its corrected p is at most 1 - level."),
        missing_option(
            get_args(SharedTopics),
            None,
            "Topics that some run lacks: they count as empty rankings (zero), or are left out for all "
            "runs (intersection). By default zero, and with --scores as the scores were made.",
        ),
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


def persistence_option(default: float | None, help_text: str) -> Callable[[F], F]:
    """`--persistence`, how likely a user goes on from rank to rank."""
    return click.option(
        "--persistence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=default,
        show_default=True,
        help=help_text,
    )


# What is scored

_POLICIES = together(
    click.option(
        "-J", "--condensed", is_flag=True, help="Remove unjudged documents from the rankings first."
    ),
    ties_option(
        get_args(Ties),
        DEFAULT_TIES,
        "; the worst order, the best, a random one; or the expected score over all orders",
    ),
    seed_option("random orders of ties and random samples"),
    click.option(
        "--tail",
        type=click.Choice(get_args(Tail)),
        help="With --ties expected: take all documents that were not retrieved as one more tie.",
    ),
    click.option(
        "--documents",
        type=click.IntRange(1, 2**31 - 1),
        metavar="N",
        help="How many documents the collection has, for --tail.",
    ),
    click.option(
        "--precision",
        type=click.Choice(get_args(ScorePrecision)),
        help="How scores are compared: by default single for TREC files, as trec_eval 9 does, and "
        "double for all others.",
    ),
    max_grade_option("in QRELS"),
    click.option(
        "--subtopics",
        is_flag=True,
        help="QRELS has subtopics in its second column, for alpha_nDCG, ERR_IA, NRBP and strec.",
    ),
    reading_options,
)

scoring_options = together(
    click.argument("qrels"),
    click.argument("runs", nargs=-1, metavar="RUN..."),
    missing_option(
        get_args(Missing),
        DEFAULT_MISSING,
        "Judged topics that a run lacks: they count as empty rankings (zero), or the means of the run "
        "leave them out (skip).",
    ),
    _POLICIES,
)
"""QRELS, RUN... and how they are read and scored: the fields of `scoring.Scoring`."""


def scores_options(*default: str) -> Callable[[F], F]:
    """Scores of runs, by default by these measures, or scores in files: for `scoring.WantedScores`."""
    return together(
        click.argument("inputs", nargs=-1, metavar="[QRELS RUN...]"),
        measure_option(
            more=f"By default {', '.join(default)}, and with --scores all that the files have."
        ),
        click.option(
            "--scores",
            "score_files",
            multiple=True,
            metavar="[MEASURE=]FILE",
            help="A file of scores, in place of QRELS and runs: one that `rankgauge evaluate --save` "
            "wrote, or CSV with a column for each system and a row for each topic. MEASURE is the "
            "measure of the scores in CSV. May be repeated, for more measures of the same systems.",
        ),
        click.option(
            "--standardize",
            is_flag=False,
            flag_value=DEFAULT_STANDARDIZATION,
            type=click.Choice(get_args(Standardization)),
            help="Set scores against those of all runs on the topic, so that topics weigh alike: as a "
            "z-score taken to (0, 1) by the normal distribution (the meaning of --standardize alone), "
            "the z-score itself, or the share of runs that are no better.",
        ),
        _POLICIES,
    )


# What is printed


def output_option(metavar: str, help_text: str, **settings: Any) -> Callable[[F], F]:
    """`-o`, a file or a folder; `settings` say whether it is required, or its default."""
    return click.option(
        "-o", "--output", metavar=metavar, show_default=True, help=help_text, **settings
    )


def _set_colour(context: click.Context, option: click.Parameter, choice: str) -> None:
    """Have everything that is printed from here on coloured, or not; `auto` leaves it as it is."""
    if choice != "auto":
        context.color = choice == "always"


def _for_spreadsheet(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        context.meta[SPREADSHEET] = True


output_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="How to print; by default a table on a terminal and tsv in a pipe.",
    ),
    click.option(
        "--digits",
        type=click.IntRange(0, 17),
        help="Decimals; by default 4 in table, md and latex, all of them in the others.",
    ),
    click.option(
        "--spreadsheet",
        is_flag=True,
        expose_value=False,
        callback=_for_spreadsheet,
        help="With --format csv: put ' before a cell that a spreadsheet would run as a formula.",
    ),
    output_option("FILE", "Write to a file, whole or not at all.", type=OUTPUT_FILE),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=_set_colour,
        help="Whether warnings and the progress bar are coloured. auto: on a terminal, unless the "
        "environment has NO_COLOR.",
    ),
)
"""`--format`, `--digits`, `--output` and `--color`, for commands that print a table."""

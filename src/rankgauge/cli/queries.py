"""rankgauge queries: find the queries on which the runs beat a random ranking."""

from __future__ import annotations

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, option, takes
from rankgauge.cli.learning_options import by_option
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    Output,
    level_option,
    measure_option,
    plugin_option,
    samples_option,
)
from rankgauge.cli.output import fail_if_incomplete
from rankgauge.cli.output_files import FIGURE_FILE
from rankgauge.cli.scoring import Scoring
from rankgauge.core.policies import DEFAULT_CHANCE_DIFFERENCE, SET_SHARE, ChanceDifference
from rankgauge.figures.files import save_figure
from rankgauge.figures.queries import expected_histogram
from rankgauge.query_sets import query_types, significance
from rankgauge.query_sets.expected_scores import expected_scores
from rankgauge.scores.model import Scores


class TypeOptions(OptionGroup, heading="Types of queries"):
    """Which queries are ideal, and which uninformative."""

    share: float | None = option(
        "--share",
        type=Decimal(0, 1),
        help="The share of queries to label ideal, and to label uninformative. By default "
        f"{SET_SHARE}.",
    )
    number: int | None = option(
        "--number",
        type=WholeNumber(0),
        help="How many queries to label ideal, and how many uninformative.",
    )
    threshold: tuple[float, float] | None = option(
        "--threshold",
        type=Decimal(),
        nargs=2,
        metavar="LOW HIGH",
        help="Label queries uninformative if their difference is at most LOW, and ideal if it "
        "is at least HIGH.",
    )
    by: ChanceDifference = by_option(DEFAULT_CHANCE_DIFFERENCE)


class SignificanceOptions(OptionGroup, heading="Statistics"):
    """Whether the runs are significantly better than chance."""

    significance: bool = option(
        "--significance",
        is_flag=True,
        help="Print p-values per query and run, not types. p is the share of random orders of "
        "the judged documents that score at least as well as the run.",
    )
    level: float = level_option(
        text="With --significance: a run is significantly better than chance if p times the number of "
        "runs is at most 1 - level."
    )
    samples: int = samples_option(
        text="With --significance: if the judged documents of a query have more than N distinct "
        "orders, N random orders are tried; otherwise, all of them."
    )


class QueryFigures(OptionGroup, heading="Output"):
    """The figures."""

    map: str | None = option(
        "--map",
        "map_file",
        type=FIGURE_FILE,
        metavar="FILE",
        help="Plot the score of each query against its expected score, as .svg or .png.",
    )
    histogram: str | None = option(
        "--histogram",
        "histogram_file",
        common=False,
        type=FIGURE_FILE,
        metavar="FILE",
        help="Plot a histogram of the expected scores for each measure, as .svg or .png.",
    )


@click.command("queries", cls=HeadedCommand)
@measure_option(DEFAULT_MEASURE, more="The score of a query is the mean over the measures.")
@takes(types=TypeOptions, tests=SignificanceOptions, scoring=Scoring)
@takes(figures=QueryFigures, output=Output)
@plugin_option
def command(
    measures: tuple[str, ...],
    types: TypeOptions,
    tests: SignificanceOptions,
    scoring: Scoring,
    figures: QueryFigures,
    output: Output,
) -> None:
    """Find the queries on which the runs beat a random ranking.

    QRELS and RUN are files as in `rankgauge evaluate`.

    \b
    rankgauge queries qrels.txt runs/
    rankgauge queries qrels.txt runs/ -m nDCG@10 -m AP --share 0.1 --map map.svg
    rankgauge queries qrels.txt runs/ --significance
    \f
    The table shows for each query:

    \b
    score       the mean score over runs and measures
    expected    the expected score of a random ranking of the judged documents
    difference  how much better the score is than the expected score
    type        ideal: the queries with the largest differences
                uninformative: the queries with the smallest differences
                  hard: uninformative, with a score worse than the median of all
                  uninformative queries
                  easy: all other uninformative queries
                other: all other queries

    The notes count the queries of each type and the excluded queries, such as those without a relevant
    document.

    With --significance, each row is a query and a run: the score of the run, the expected score, and p.
    A small p means that the run is better than chance on this query. A query is informative if at least
    one run is significantly better than chance.

    The exit code is 0 on success and 2 if nothing could be evaluated. It is 3 if some runs could not be
    read; the types are then computed from the others. A message on stderr names each unread run and
    gives the reason.
    """
    values: dict[str, object] = {
        "--share": types.share,
        "--number": types.number,
        "--threshold": types.threshold,
    }
    _check_at_most_one(*(name for name, value in values.items() if value is not None))
    if tests.significance:
        values["--map"] = figures.map
        _check_at_most_one(
            "--significance", *(name for name, value in values.items() if value is not None)
        )
    judgments, scores = scoring.scores(measures)
    if tests.significance:
        table = significance(
            scores, judgments, level=tests.level, samples=tests.samples, seed=scoring.seed
        ).table()
        scoring.print_notes(judgments, scores)
    else:
        typed = query_types(
            scores,
            judgments,
            share=types.share,
            number=types.number,
            threshold=types.threshold,
            by=types.by,
        )
        table = typed.table()
        scoring.print_notes(judgments, scores)
        if figures.map is not None:
            save_figure(typed.figure(_name(scores)), figures.map)
    if figures.histogram is not None:
        save_figure(expected_histogram(*expected_scores(judgments, scores)), figures.histogram)
    output.show(table)
    fail_if_incomplete(scores)


def _check_at_most_one(*options: str) -> None:
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} cannot be used together; choose one")


def _name(scores: Scores) -> str:
    """The name of the score of a query, for the title of the map."""
    names = ", ".join(str(measure) for measure in scores.measures)
    return names if len(scores.measures) == 1 else f"mean of {names}"

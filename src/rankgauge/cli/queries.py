"""rankgauge queries: the type of each query, by scores and what a random ranking would get."""

from __future__ import annotations

from typing import Any, get_args

import click
import numpy as np

from rankgauge.arrays import Floats
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    level_option,
    measure_option,
    output_options,
    plugin_option,
    samples_option,
    scoring_options,
)
from rankgauge.cli.output import fail_if_incomplete, show_with_notes
from rankgauge.cli.output_files import FIGURE_FILE
from rankgauge.cli.scoring import Scoring
from rankgauge.data.model import Judgments
from rankgauge.figures.files import save_figure
from rankgauge.figures.queries import expected_histogram
from rankgauge.measures.around import inner
from rankgauge.policies import DEFAULT_BY, SET_SHARE, By
from rankgauge.query_sets import query_types
from rankgauge.query_sets import significance as p_values
from rankgauge.rankings.alignment import judged_labels
from rankgauge.scores.model import Scores


@click.command("queries")
@measure_option(DEFAULT_MEASURE, more="The score of a query is the mean over the measures.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1),
    help="The share of the queries that are ideal, and that are uninformative; by default "
    f"{SET_SHARE}.",
)
@click.option(
    "--number",
    type=click.IntRange(0),
    help="How many queries are ideal, and how many uninformative.",
)
@click.option(
    "--threshold",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="Up to a difference LOW a query is uninformative, from HIGH on it is ideal.",
)
@click.option(
    "--by",
    type=click.Choice(get_args(By)),
    default=DEFAULT_BY,
    show_default=True,
    help="Uninformative is what is least above chance, or nearest to it from either side.",
)
@click.option(
    "--significance",
    is_flag=True,
    help="Print a p-value for each query and run instead of the types: the share of random orders of "
    "the judged documents that score at least as well.",
)
@level_option("With --significance, p times the number of runs is significant up to 1 - level.")
@samples_option(more="With --significance, orders are drawn where there are more than N.")
@click.option(
    "--map",
    "map_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw the map of queries, score by expected score: .svg or .png.",
)
@click.option(
    "--histogram",
    "histogram_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw the histogram of expected scores, for each measure: .svg or .png.",
)
@scoring_options
@output_options
@plugin_option
def command(
    measures: tuple[str, ...],
    share: float | None,
    number: int | None,
    threshold: tuple[float, float] | None,
    by: By,
    significance: bool,
    level: float,
    samples: int,
    map_file: str | None,
    histogram_file: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **scoring: Any,
) -> None:
    """Tell ideal queries from uninformative ones.

    Printed for each query: its mean score over runs and measures, what a random ranking of its judged
    documents is expected to score, by how much the first is better, and the type. Ideal are the
    queries with the largest differences, uninformative those with the smallest; of the latter, hard
    are those with a score below their median, easy the others. Then follow the counts of the types,
    and of the queries that were left out: those with nothing relevant, for one.

    With --significance, each row is a query and a run: its score, the expected score, and p. A small p
    says that the run is better than chance on this query. A query is informative if at least one run
    is significantly better than chance.

    QRELS and RUN are read as by `rankgauge evaluate`. The exit code is 0 when all is well, 2 when
    nothing could be evaluated, and 3 when some runs could not be read: then the types are by the
    others, and standard error says which and why.
    """
    given: dict[str, object] = {"--share": share, "--number": number, "--threshold": threshold}
    _check_at_most_one(*(name for name, value in given.items() if value is not None))
    if significance:
        given["--map"] = map_file
        _check_at_most_one(
            "--significance", *(name for name, value in given.items() if value is not None)
        )
    wanted = Scoring(**scoring)
    judgments, scores = wanted.scores(measures)
    if significance:
        chosen: Any = {"level": level, "samples": samples, "seed": wanted.seed}
        table = p_values(scores, judgments, **chosen).table()
        wanted.tell(judgments, scores)
    else:
        types = query_types(
            scores, judgments, share=share, number=number, threshold=threshold, by=by
        )
        table = types.table()
        wanted.tell(judgments, scores)
        if map_file is not None:
            save_figure(types.figure(_name(scores)), map_file)
    if histogram_file is not None:
        save_figure(expected_histogram(*_expected(judgments, scores)), histogram_file)
    show_with_notes(table, form, digits, output)
    fail_if_incomplete(scores)


def _check_at_most_one(*options: str) -> None:
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} are given, expected one of them")


def _name(scores: Scores) -> str:
    """What the score of a query is, for the title of the map."""
    names = ", ".join(str(measure) for measure in scores.measures)
    return names if len(scores.measures) == 1 else f"mean of {names}"


def _expected(
    judgments: Judgments, scores: Scores
) -> tuple[dict[str, Floats], dict[str, dict[str, int]]]:
    """By measure: the expected score of each judged query, and how many have nothing relevant."""
    judged = judged_labels(judgments, scores.policies.max_grade)
    values, left_out = {}, {}
    for measure, barren in zip(scores.measures, scores.nothing_relevant, strict=True):
        name = str(measure)
        nothing = barren | (scores.relevant == 0)
        values[name] = inner(measure).expected_each(judged.take(np.flatnonzero(~nothing)))
        left_out[name] = {"nothing relevant": int(np.count_nonzero(nothing))}
    return values, left_out

"""rankgauge queries: on which queries the runs are better than a random ranking."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from rankgauge.cli.learning_options import by_option
from rankgauge.cli.numbers import Decimal, WholeNumber
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
from rankgauge.core.arrays import Floats
from rankgauge.core.policies import DEFAULT_BY, SET_SHARE, By
from rankgauge.data.model import Judgments
from rankgauge.figures.files import save_figure
from rankgauge.figures.queries import expected_histogram
from rankgauge.measures.around import of_rankings
from rankgauge.query_sets import query_types
from rankgauge.query_sets import significance as p_values
from rankgauge.rankings.alignment import judged_labels
from rankgauge.scores.model import Scores


@click.command("queries")
@measure_option(DEFAULT_MEASURE, more="The score of a query is the mean over the measures.")
@click.option(
    "--share",
    type=Decimal(0, 1),
    help="Which share of the queries is called ideal. The same share is called uninformative. By "
    f"default {SET_SHARE}.",
)
@click.option(
    "--number",
    type=WholeNumber(0),
    help="How many queries are called ideal. The same number is called uninformative.",
)
@click.option(
    "--threshold",
    type=Decimal(),
    nargs=2,
    metavar="LOW HIGH",
    help="A query is uninformative if its difference is at most LOW. It is ideal if its difference is "
    "at least HIGH.",
)
@by_option(DEFAULT_BY)
@click.option(
    "--significance",
    is_flag=True,
    help="Print a p-value for each query and run, in place of the types. p is the share of random "
    "orders of the judged documents that score at least as well as the run.",
)
@level_option(
    text="With --significance: a run is significantly better than chance if p times the number of runs "
    "is at most 1 - level."
)
@samples_option(
    text="With --significance: if the judged documents of a query have more than N different orders, N "
    "random orders are tried; else all orders are tried."
)
@click.option(
    "--map",
    "map_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw the queries as points, their score against their expected score, as .svg or .png.",
)
@click.option(
    "--histogram",
    "histogram_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw a histogram of the expected scores for each measure, as .svg or .png.",
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
    """Find the queries on which the runs are better than a random ranking.

    For each query it prints:

    \b
    score       the mean score over runs and measures
    expected    the expected score of a random ranking of the judged documents
    difference  by how much the score is better than the expected score
    type        ideal: the queries with the largest differences
                uninformative: the queries with the smallest differences
                  hard: uninformative, with a score worse than the median of all
                  uninformative queries
                  easy: all other uninformative queries
                other: all other queries

    It also prints how many queries have each type, and how many queries are left out, for example
    because they have no relevant document.

    With --significance, each row is a query and a run: the score of the run, the expected score, and p.
    A small p means that the run is better than chance on this query. A query is informative if at least
    one run is significantly better than chance.

    QRELS and RUN are files as in `rankgauge evaluate`. The exit code is 0 when all is well, and 2 when
    nothing could be evaluated. It is 3 when some runs could not be read: the types are then computed
    from the other runs. A message on stderr names each unread run, and says why.
    """
    values: dict[str, object] = {"--share": share, "--number": number, "--threshold": threshold}
    _check_at_most_one(*(name for name, value in values.items() if value is not None))
    if significance:
        values["--map"] = map_file
        _check_at_most_one(
            "--significance", *(name for name, value in values.items() if value is not None)
        )
    scorer = Scoring(**scoring)
    judgments, scores = scorer.scores(measures)
    if significance:
        chosen: Any = {"level": level, "samples": samples, "seed": scorer.seed}
        table = p_values(scores, judgments, **chosen).table()
        scorer.tell(judgments, scores)
    else:
        types = query_types(
            scores, judgments, share=share, number=number, threshold=threshold, by=by
        )
        table = types.table()
        scorer.tell(judgments, scores)
        if map_file is not None:
            save_figure(types.figure(_name(scores)), map_file)
    if histogram_file is not None:
        save_figure(expected_histogram(*_expected(judgments, scores)), histogram_file)
    show_with_notes(table, form, digits, output)
    fail_if_incomplete(scores)


def _check_at_most_one(*options: str) -> None:
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} cannot be used together; give one of them")


def _name(scores: Scores) -> str:
    """The name of the score of a query, for the title of the map."""
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
        values[name] = of_rankings(measure).expected_each(judged.take(np.flatnonzero(~nothing)))
        left_out[name] = {"nothing relevant": int(np.count_nonzero(nothing))}
    return values, left_out

"""rankgauge tune: the best weights of runs, and what to expect of them."""

from __future__ import annotations

from typing import Any, get_args

import click

from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    absent_option,
    color_option,
    folds_option,
    form_options,
    level_option,
    margin_option,
    measure_option,
    missing_option,
    normalize_option,
    output_option,
    parts_option,
    per_topic_option,
    plot_option,
    plugin_option,
    reading_options,
    repeats_option,
    restarts_option,
    samples_option,
    seed_option,
    tag_option,
)
from rankgauge.cli.output import progress, show_with_notes
from rankgauge.cli.output_files import OUTPUT_FILE
from rankgauge.cli.scoring import check_output, column_names, read_judgments
from rankgauge.cli.topic_sets import read_set
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.policies import Absent, SharedTopics
from rankgauge.fusion.tuning import ALL, FOLDS, REPEATS, RESTARTS, SAMPLES, tune
from rankgauge.io.parts import stored_runs
from rankgauge.io.trec import write_run
from rankgauge.space.curves import MARGIN

STANDARD_OUTPUT = "-"


@click.command("tune")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@measure_option(
    DEFAULT_MEASURE,
    text="The measure to tune by, such as nDCG@10 or 'AP(rel=2)'. Only one is taken.",
)
@normalize_option(
    "How the scores of each run are made comparable, topic by topic. all: try each, and take the best. "
    "The choice is then part of the cross-validation.",
    ALL,
)
@absent_option
@missing_option(
    get_args(SharedTopics),
    "zero",
    "What to do with topics that some run lacks. zero: the other runs rank them; a topic that all runs "
    "lack counts as an empty ranking. intersection: they are left out.",
)
@click.option(
    "--test-topics",
    metavar="FILE",
    help="A file with one topic id per line. The weights are chosen on the other topics, and tested on "
    "these. Then nothing is cross-validated.",
)
@margin_option(
    MARGIN, "Weights whose mean is at most this far from the best count as good as the best."
)
@folds_option(
    FOLDS,
    2,
    "Cross-validation: the topics are parted into N parts. The weights for each part are chosen on the "
    "other parts.",
)
@repeats_option(REPEATS, "Cross-validation: how often the topics are parted anew.")
@samples_option(
    SAMPLES,
    text="How many samples of the topics are drawn for the interval of the best weight of two runs.",
)
@restarts_option(RESTARTS, "For three or more runs: from how many weights the search starts.")
@per_topic_option(
    "Two runs: print the best weights of each topic alone instead. They show how much topics differ. "
    "They are no advice."
)
@plot_option("Two runs: draw the mean for every weight, as .svg or .png.")
@level_option()
@seed_option("the parts and the samples of topics")
@reading_options
@parts_option
@workers_options
@form_options
@output_option(
    "FILE",
    "Write the fused run with the best weights to FILE, as a TREC run. .gz, .bz2, .xz or .zst "
    "compresses.",
    type=OUTPUT_FILE,
)
@tag_option("fused")
@color_option
@plugin_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    normalize: str,
    absent: Absent,
    missing: SharedTopics,
    test_topics: str | None,
    margin: float,
    folds: int,
    repeats: int,
    samples: int,
    restarts: int,
    per_topic: bool,
    plot: str | None,
    level: float,
    seed: int,
    lenient: bool,
    size_limit: int,
    form: str | None,
    digits: int | None,
    output: str | None,
    tag: str | None,
    query_column: tuple[str, ...],
    document_column: tuple[str, ...],
    score_column: tuple[str, ...],
    grade_column: tuple[str, ...],
    parts: bool,
) -> None:
    """Find the best weights for a weighted sum of runs.

    For two runs, such as a lexical and a dense one, the mean of the measure is computed for every weight
    between 0 and 1, exactly. No finer grid finds a better interval of weights; only a single weight at
    which documents are tied can differ. For three or more runs, one weight after the other is searched
    exactly, from several starts. Measures of subtopics, such as alpha_nDCG, cannot be used here.

    The first row is what to expect of the tuned weights on new topics, by cross-validation. The other
    rows need no weights: each run alone, equal weights, and reciprocal rank fusion (rrf) with k = 60 and
    with the best k. For each it prints:

    \b
    mean        the mean of the measure
    difference  the mean of the tuned weights minus this mean
    low, high   an interval of the difference
    p           the p-value of the difference, by a paired t test

    \b
    rankgauge tune qrels.txt bm25.run dense.run
    rankgauge tune qrels.txt bm25.run dense.run -m AP --normalize all --plot weight.svg
    rankgauge tune qrels.txt bm25.run dense.run splade.run -o fused.run

    The exit code is 0 when all is well, and 2 when a run could not be read or the runs do not go
    together.
    """
    if output == STANDARD_OUTPUT:
        raise click.UsageError("-o -: standard output has the table, expected the name of a file")
    names = column_names(query_column, document_column, score_column, grade_column)
    reading: Any = {"lenient": lenient, "size_limit": size_limit, "columns": names}
    judgments, _ = read_judgments(qrels, runs, subtopics=False, **reading)
    files = stored_runs(runs, parts=parts, **reading)
    check_output(output, [path for file in files for path in file.paths()])
    tested = None
    if test_topics is not None:
        tested = read_set(test_topics, judgments.queries.texts(), "judgements")
    with progress(repeats, "cross-validating") as advance:
        tuning = tune(
            judgments,
            files,
            measures,
            normalize=normalize,
            absent=absent,
            missing=missing,
            test_topics=tested,
            margin=margin,
            folds=folds,
            repeats=repeats,
            samples=samples,
            restarts=restarts,
            level=level,
            seed=seed,
            executor=workers(),
            progress=advance,
        )
    if plot is not None:
        from rankgauge.figures.files import save_figure

        save_figure(tuning.figure(), plot)
    if output is not None:
        write_run(tuning.run() if tag is None else tuning.run(tag), output)
    show_with_notes(tuning.topic_table() if per_topic else tuning.table(), form, digits, None)

"""rankgauge tune: the best weights of runs, and what to expect of them."""

from __future__ import annotations

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, argument, option, takes
from rankgauge.cli.options import (
    ABSENT,
    DEFAULT_MEASURE,
    PER_QUERY,
    PLOT,
    RESTARTS,
    TAG,
    RunFileOptions,
    TableOptions,
    folds_option,
    level_option,
    margin_option,
    measure_option,
    missing_option,
    normalization_plugin_option,
    normalize_option,
    output_option,
    repeats_option,
    samples_option,
    seed_option,
)
from rankgauge.cli.output import progress
from rankgauge.cli.output_files import OUTPUT_FILE
from rankgauge.cli.scoring import check_output, read_judgments
from rankgauge.cli.topic_sets import read_set
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.policies import Absent, Missing
from rankgauge.fusion.tuning import ALL, FOLDS, REPEATS, RESTARTS as STARTS, SAMPLES, tune
from rankgauge.io.parts import stored_runs
from rankgauge.io.trec import write_run
from rankgauge.space.curves import MARGIN

STANDARD_OUTPUT = "-"


class TunedRuns(RunFileOptions):
    """The runs, and the judgments to tune by."""

    qrels: str = argument("qrels")
    runs: tuple[str, ...] = argument("runs", nargs=-1, required=True, metavar="RUN RUN...")


class TunedFusion(OptionGroup, heading="Fusion"):
    """How runs are fused, for each weight."""

    normalize: str = normalize_option(
        "How to normalize the scores of each run, query by query. all: try each "
        "normalization and keep the best; the choice is then part of the cross-validation.",
        ALL,
    )
    absent: Absent = ABSENT.but(common=False)
    missing: Missing = missing_option(
        "zero",
        "How to treat queries that some run lacks. zero: the other runs rank them; a query "
        "that all runs lack counts as an empty ranking. skip: they are excluded.",
    )


class SplitOptions(OptionGroup, heading="Cross-validation", common=False):
    """On which queries weights are chosen and tested, and what is drawn at random."""

    test_queries: str | None = option(
        "--test-queries",
        old="--test-topics",
        common=True,
        metavar="FILE",
        help="Test the weights on the queries in FILE, one id per line, and choose them on all "
        "others. This replaces cross-validation.",
    )
    folds: int = folds_option(
        FOLDS,
        2,
        "The number of cross-validation folds. The weights for each fold are chosen on the "
        "other folds.",
    )
    repeats: int = repeats_option(REPEATS, "The number of times to repeat the cross-validation.")
    margin: float = margin_option(
        MARGIN, "Weights whose mean is within this margin of the best count as equally good."
    )
    restarts: int = RESTARTS.but(
        "For three or more runs: the number of starting points of the search.", default=STARTS
    )
    samples: int = samples_option(
        SAMPLES,
        text="For two runs: the number of samples of the queries for the interval of the best "
        "weight.",
    )
    level: float = level_option()
    seed: int = seed_option("the folds and the samples of queries")


class TunedOutput(TableOptions, common=True):
    """What is printed, and the files that are written."""

    output: str | None = output_option(
        "FILE",
        "Write the fused run with the best weights to FILE in TREC format, compressed if "
        "FILE ends in .gz, .bz2, .xz or .zst.",
        type=OUTPUT_FILE,
    )
    tag: str | None = TAG.but("The name of the fused run. Defaults to fused.")
    plot: str | None = PLOT.but("For two runs: plot the mean against the weight, as .svg or .png.")
    per_query: bool = PER_QUERY.but(
        "For two runs: instead, print the best weights of each query by itself. They show "
        "how much queries differ, and are not meant to be used.",
        common=False,
    )


@click.command("tune", cls=HeadedCommand)
@measure_option(
    DEFAULT_MEASURE,
    text="The measure to optimize, such as nDCG@10 or 'AP(rel=2)'. Only one is allowed.",
)
@takes(runs=TunedRuns, fusion=TunedFusion, splits=SplitOptions)
@workers_options
@takes(output=TunedOutput)
@normalization_plugin_option
def command(
    measures: tuple[str, ...],
    runs: TunedRuns,
    fusion: TunedFusion,
    splits: SplitOptions,
    output: TunedOutput,
) -> None:
    """Find the best weights for a weighted sum of runs.

    For two runs, such as a lexical and a dense one, the mean of the measure is computed exactly for
    every weight between 0 and 1. No finer grid finds a better interval of weights; only a single weight
    at which documents are tied can differ. For three or more runs, one weight at a time is searched
    exactly, from several starting points. Measures based on subtopics, such as alpha_nDCG, are not
    supported.

    \b
    rankgauge tune qrels.txt bm25.run dense.run
    rankgauge tune qrels.txt bm25.run dense.run -m AP --normalize all --plot weight.svg
    rankgauge tune qrels.txt bm25.run dense.run splade.run -o fused.run
    \f
    The first row estimates the performance of the tuned weights on new queries by cross-validation. The
    other rows need no weights: each run alone, equal weights, and reciprocal rank fusion (rrf) with k =
    60 and with the best k. For each, the table shows:

    \b
    mean        the mean of the measure
    difference  the mean of the tuned weights minus this mean
    low, high   the confidence interval of the difference
    p           the p-value of the difference in a paired t test

    The exit code is 0 on success, and 2 if a run could not be read or the runs cannot be combined.
    """
    if output.output == STANDARD_OUTPUT:
        raise click.UsageError(
            "-o -: the table goes to standard output, expected the name of a file"
        )
    if len(measures) != 1:
        raise click.UsageError(f"{', '.join(measures)}: expected a single measure to optimize")
    judgments, _ = read_judgments(runs.qrels, runs.runs, subtopics=False, **runs.how)
    files = stored_runs(runs.runs, parts=runs.parts, **runs.how)
    check_output(output.output, [path for file in files for path in file.paths()])
    tested = None
    if splits.test_queries is not None:
        tested = read_set(splits.test_queries, judgments.queries.texts(), "judgments")
    with progress(splits.repeats, "cross-validating") as advance:
        tuning = tune(
            judgments,
            files,
            measures[0],
            normalize=fusion.normalize,
            absent=fusion.absent,
            missing=fusion.missing,
            test_queries=tested,
            margin=splits.margin,
            folds=splits.folds,
            repeats=splits.repeats,
            samples=splits.samples,
            restarts=splits.restarts,
            level=splits.level,
            seed=splits.seed,
            executor=workers(),
            progress=advance,
        )
    if output.plot is not None:
        from rankgauge.figures.files import save_figure

        save_figure(tuning.figure(), output.plot)
    if output.output is not None:
        write_run(tuning.run() if output.tag is None else tuning.run(output.tag), output.output)
    output.show(tuning.query_table() if output.per_query else tuning.table())

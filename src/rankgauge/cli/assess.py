"""rankgauge assess: report which measures discriminate between runs, and which agree."""

from __future__ import annotations

import click

from rankgauge.cli.assessment_output import TABLES, draw_figures, show_assessment, write_json
from rankgauge.cli.compare import TestingOptions, correction_option
from rankgauge.cli.groups import OptionGroup, option, takes
from rankgauge.cli.learning_options import SET_NUMBER, set_share_option
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.cli.options import (
    PERSISTENCE,
    CommandWithFiles,
    Output,
    samples_option,
    show_option,
    significance_plugin_option,
)
from rankgauge.cli.output import fail_if_incomplete, progress
from rankgauge.cli.output_files import FIGURE_FILE, OUTPUT_FILE
from rankgauge.cli.scoring import SourceOptions, source_measure_option
from rankgauge.cli.topic_sets import (
    BY_SCORES,
    collect_query_sets,
    other_collections,
    set_names,
    set_size,
)
from rankgauge.cli.workers import workers
from rankgauge.comparison.assessment import ASSESSED_MEASURES, assess
from rankgauge.core import policies
from rankgauge.core.policies import Missing
from rankgauge.errors import RankgaugeError


class AssessedScores(SourceOptions):
    """The scores to assess."""

    default = ASSESSED_MEASURES
    measures: tuple[str, ...] = source_measure_option(
        *default,
        about="v2(nDCG@10) compares nDCG@10 with a random ranking; see `rankgauge measures v2`.",
    )


class QuerySets(OptionGroup, heading="Sets of queries"):
    """Sets of queries and other collections, which are assessed too."""

    sets: str = option(
        "--sets",
        default="",
        show_default=False,
        metavar="NAME,...",
        help="Also assess these sets of queries, each by itself. Based on the scores of the "
        f"first measure: {', '.join(BY_SCORES[:-1])} (see `rankgauge queries --help`), and "
        f"{BY_SCORES[-1]} (the mean score of the runs is better than the score of a random "
        "ranking). Based on QRELS: broad (at least half of the judged documents have grade "
        f"{policies.BROAD_LABEL} or higher), and focused (all other queries). The set of "
        "all queries is always included.",
    )
    set_share: float | None = set_share_option(
        f"; `hard` and `easy` are its two halves. By default {policies.SET_SHARE}."
    )
    set_number: int | None = SET_NUMBER
    set_files: tuple[str, ...] = option(
        "--set",
        common=False,
        multiple=True,
        metavar="[NAME=]FILE",
        help="A set of queries of your own: a file with one query id per line. May be repeated.",
    )
    other_files: tuple[str, ...] = option(
        "--other",
        common=False,
        multiple=True,
        metavar="[NAME=]FILE",
        help="Scores of the same runs and measures on another collection, which is assessed too "
        "and compared with the main one. FILE comes from `rankgauge evaluate --save`, or "
        "is CSV if there is only one measure. May be repeated.",
    )


class AssessmentTesting(TestingOptions, common=False):
    """How pairs of runs are tested and measures are compared."""

    test: str = TestingOptions.options["test"].but(common=False)
    correction: str | None = correction_option(None)
    missing: Missing | None = TestingOptions.options["missing"].but(common=False)
    samples: int = samples_option()
    splits: int = option(
        "--splits",
        type=WholeNumber(0, policies.MOST_SAMPLES),
        default=policies.SPLITS,
        metavar="N",
        help="The number of random splits of the queries into halves, for the swap rates. 0: no swap "
        "rates.",
    )
    fuzziness: float = option(
        "--fuzziness",
        type=Decimal(0),
        default=policies.FUZZINESS,
        help="For the swap rates: two runs count as tied if their means differ by at most this "
        "share of the larger mean. 0.05 is a common choice.",
    )
    persistence: float = PERSISTENCE.but(
        "The parameter p of rank-biased overlap (column rbo), the similarity of the "
        "rankings of the runs by two measures. The closer p is to 1, the more weight lower "
        "ranks get.",
        default=policies.PERSISTENCE,
    )
    pool_cutoffs: bool = option(
        "--pool-cutoffs",
        is_flag=True,
        help="Treat a measure at several cutoffs as one measure: the tests at all cutoffs are "
        "pooled, and the mean of a run is averaged over the cutoffs.",
    )


class AssessmentFiles(OptionGroup, heading="Output"):
    """What is written beside the tables."""

    json: str | None = option(
        "--json",
        "json_file",
        type=OUTPUT_FILE,
        metavar="FILE",
        help="Write all results to FILE as one JSON object, with the means and the p-values.",
    )
    asl: str | None = option(
        "--asl",
        "asl_file",
        type=FIGURE_FILE,
        metavar="FILE",
        help="Plot the p-values (achieved significance levels, ASL) of each measure over all "
        "queries, as .svg or .png.",
    )
    tau: str | None = option(
        "--tau",
        "tau_file",
        type=FIGURE_FILE,
        metavar="FILE",
        help="Plot how similarly the measures rank the runs over all queries, as .svg or .png.",
    )
    swaps: str | None = option(
        "--swaps",
        "swaps_file",
        type=FIGURE_FILE,
        metavar="FILE",
        help=(
            "Plot the swap rate against the size of the difference, over all queries, as "
            ".svg or .png."
        ),
    )


@click.command("assess", cls=CommandWithFiles)
@takes(source=AssessedScores, topics=QuerySets, tests=AssessmentTesting)
@show_option(
    list(TABLES),
    None,
    "Print only one table. measures: the measures. pairs: the pairs of measures. swaps: how "
    "often two sets of queries disagree on which of two runs is better. By default all "
    "tables; in tsv, csv and jsonl only the measures.",
)
@option(
    "--long",
    heading="Output",
    is_flag=True,
    help=("Print all columns, as tsv, csv and jsonl do."),
)
@takes(output=Output, files=AssessmentFiles)
@significance_plugin_option
def command(
    source: AssessedScores,
    topics: QuerySets,
    tests: AssessmentTesting,
    shown: str | None,
    long: bool,
    output: Output,
    files: AssessmentFiles,
) -> None:
    """Report which measures discriminate between runs, and which of them agree.

    QRELS and each RUN are files as in `rankgauge evaluate`. --scores reads saved scores, or a published
    table.

    \b
    rankgauge assess qrels.txt runs/ -m nDCG@10 -m 'v2(nDCG@10)' -m AP -m RR
    rankgauge assess qrels.txt runs/ --sets uninformative,ideal --asl asl.svg --tau tau.svg
    rankgauge assess --scores AP=ap.csv --scores RR=rr.csv --show pairs --format csv
    rankgauge assess --scores 2019.json --other 2020.json --test bootstrap
    \f
    The table shows for each measure:

    \b
    power      the share of pairs of runs with a significant difference
               (discriminative power)
    swap_rate  the share of pairs of runs that two halves of the queries put in
               opposite orders
    half_tau   how similarly the two halves of the queries rank the runs (τ)

    For each pair of measures, it shows how similarly they rank the runs, how many significant
    differences only one of them finds, and how many point in opposite directions.

    With --long, and in tsv, csv and jsonl, there are more columns, such as:

    \b
    pad        the mean difference between two runs, in percent of the larger
               mean (PAD); --long omits it if the measures have different
               zero points
    trusted    if two runs differ by this much or more, the two halves
               disagree at most 5% of the time

    For each pair of query sets or collections, it shows the share of pairs of runs on which they
    disagree.

    The exit code is 0 on success and 2 if nothing could be assessed. It is 3 if some runs could not be
    read; the others are still used. A message on stderr names each unread run and gives the reason.
    """
    names = set_names(topics.sets, source.inputs)
    size = set_size(topics.set_share, topics.set_number, names)
    if files.swaps is not None and not tests.splits:
        raise click.UsageError("--swaps needs --splits of 1 or more")
    if topics.other_files and source.standardize:
        raise click.UsageError("--other and --standardize cannot be used together")
    if shown == "swaps" and not (names or topics.set_files or topics.other_files):
        raise click.UsageError("--show swaps needs at least two sets: add --sets, --set or --other")
    read = source.read()
    scores = read.scores
    try:
        chosen = collect_query_sets(read, names, size, topics.set_files)
        others = other_collections(topics.other_files, scores)
        parts = 1 + len(chosen) + len(others)
        with progress(parts * len(scores.measures), "assessing") as advance:
            assessment = assess(
                scores,
                sets=chosen,
                others=others,
                pool_cutoffs=tests.pool_cutoffs,
                test=tests.test,
                correction=tests.correction,
                level=tests.level,
                missing=tests.missing,
                splits=tests.splits,
                fuzziness=tests.fuzziness,
                persistence=tests.persistence,
                samples=tests.samples,
                seed=source.seed,
                executor=workers(),
                progress=advance,
            )
        if shown == "pairs" and len(assessment.measures) < 2:
            raise RankgaugeError(
                f"--show pairs needs at least two measures, there is only {assessment.measures[0]}"
            )
    except RankgaugeError as error:
        raise RankgaugeError("\n".join((*scores.failed, str(error)))) from None
    if files.json is not None:
        write_json(assessment, files.json)
    draw_figures(assessment, {"asl": files.asl, "tau": files.tau, "swaps": files.swaps})
    show_assessment(assessment, shown, long, output)
    fail_if_incomplete(scores)

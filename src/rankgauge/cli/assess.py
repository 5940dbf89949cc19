"""rankgauge assess: which measures tell runs apart, and which agree."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli.assessment_output import TABLES, draw, show_assessment, write_json
from rankgauge.cli.options import (
    CommandWithFiles,
    output_options,
    persistence_option,
    plugin_option,
    samples_option,
    scores_options,
    testing_options,
)
from rankgauge.cli.output import fail_if_incomplete, progress
from rankgauge.cli.output_files import FIGURE_FILE, OUTPUT_FILE
from rankgauge.cli.scoring import WantedScores
from rankgauge.cli.topic_sets import (
    BY_JUDGMENTS,
    BY_SCORES,
    other_collections,
    set_names,
    set_size,
    topic_sets,
)
from rankgauge.comparison.assessment import assess
from rankgauge.data.errors import RankgaugeError
from rankgauge.policies import (
    FUZZINESS,
    MOST_SAMPLES,
    PERSISTENCE,
    SET_SHARE,
    SPLITS,
    SharedTopics,
)

DEFAULT_MEASURES = ("nDCG@10", "v2(nDCG@10)", "AP", "RR")


@click.command("assess", cls=CommandWithFiles)
@click.option(
    "--sets",
    default="",
    metavar="NAME,...",
    help=f"Sets of topics to assess apart, made of QRELS: {', '.join(BY_SCORES)}, by the first measure; "
    f"{', '.join(BY_JUDGMENTS)}. All topics together are always there.",
)
@click.option(
    "--set-share",
    type=click.FloatRange(0, 1),
    help="The share of the topics that go into the set ideal, and the same share into uninformative; "
    f"hard and easy are the halves of uninformative. By default {SET_SHARE}.",
)
@click.option(
    "--set-number",
    type=click.IntRange(0),
    metavar="N",
    help="How many topics go into the set ideal, and as many into uninformative; in place of "
    "--set-share.",
)
@click.option(
    "--set",
    "set_files",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A set of your own: a file with a topic id a line; may be repeated.",
)
@click.option(
    "--other",
    "other_files",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Scores of the same runs by the same measures on another collection, to hold against these: "
    "a file of `rankgauge evaluate --save`, or for a single measure CSV; may be repeated.",
)
@click.option(
    "--pool-cutoffs",
    is_flag=True,
    help="A measure at several cut-offs is one: its tests are counted together, its means averaged.",
)
@testing_options(None)
@samples_option()
@click.option(
    "--splits",
    type=click.IntRange(0, MOST_SAMPLES),
    default=SPLITS,
    show_default=True,
    metavar="N",
    help="How often the topics are halved at random for swap rates; 0 for not at all.",
)
@click.option(
    "--fuzziness",
    type=click.FloatRange(0),
    default=FUZZINESS,
    show_default=True,
    help="The share of the greater mean that counts as no difference in swap rates; 0.05 is usual.",
)
@persistence_option(
    PERSISTENCE,
    "The persistence p of rank-biased overlap, by which two rankings of the runs are compared: the "
    "nearer to 1, the more the lower ranks count.",
)
@click.option(
    "--show",
    "shown",
    type=click.Choice(list(TABLES)),
    help="One table alone: the measures, the pairs of measures, or the swaps between sets. By default "
    "all of them, and in tsv, csv and jsonl the measures.",
)
@click.option(
    "--json",
    "json_file",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Write everything as one JSON object, means and p-values too.",
)
@click.option(
    "--asl",
    "asl_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw the p-values of each measure: .svg or .png.",
)
@click.option(
    "--tau",
    "tau_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw how alike the measures rank the runs: .svg or .png.",
)
@click.option(
    "--swaps",
    "swaps_file",
    type=FIGURE_FILE,
    metavar="FILE",
    help="Draw swap rates by the size of the difference: .svg or .png. All figures are of all topics.",
)
@scores_options(*DEFAULT_MEASURES)
@output_options
@plugin_option
def command(
    sets: str,
    set_share: float | None,
    set_number: int | None,
    set_files: tuple[str, ...],
    other_files: tuple[str, ...],
    correction: str | None,
    shown: str | None,
    json_file: str | None,
    asl_file: str | None,
    tau_file: str | None,
    swaps_file: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    pool_cutoffs: bool,
    test: str,
    level: float,
    samples: int,
    missing: SharedTopics | None,
    splits: int,
    fuzziness: float,
    persistence: float,
    seed: int,
    **source: Any,
) -> None:
    """Say which measures tell runs apart, and which agree.

    Printed for each measure: in how many tests of two runs it finds a significant difference, and the
    share of these (its discriminative power); how far apart it puts runs (PAD); how often two halves of
    the topics put runs in opposite orders (the swap rate), from which difference on no more than 5% do,
    and how alike the halves rank the runs (τ). Then for each pair of measures how alike they rank the
    runs, how often only one of them finds a significant difference, and how often they find different
    runs better. Then, where there are several sets of topics or collections, how often two of them put
    runs in opposite orders.

    QRELS and each RUN are read as by `rankgauge evaluate`; --scores takes scores that are there already,
    also published tables of topics and systems.

    \b
    rankgauge assess qrels.txt runs/ -m nDCG@10 -m 'v2(nDCG@10)' -m AP -m RR
    rankgauge assess qrels.txt runs/ --sets uninformative,ideal --asl asl.svg --tau tau.svg
    rankgauge assess --scores AP=ap.csv --scores RR=rr.csv --show pairs --format csv
    rankgauge assess --scores 2019.json --other 2020.json --test bootstrap

    The exit code is 0 when all is well, 2 when nothing could be assessed, and 3 when some runs could
    not be read: then the others are used, and standard error says which and why.
    """
    names = set_names(sets, source["inputs"])
    size = set_size(set_share, set_number, names)
    if swaps_file is not None and not splits:
        raise click.UsageError("--swaps with --splits 0, expected splits to draw")
    if other_files and source["standardize"]:
        raise click.UsageError("--other with --standardize, expected one of them")
    if shown == "swaps" and not (names or set_files or other_files):
        raise click.UsageError("--show swaps of one set, expected --sets, --set or --other as well")
    wanted = WantedScores(seed=seed, **source)
    scores = wanted.scores(*DEFAULT_MEASURES)
    try:
        chosen = topic_sets(wanted, scores, names, size, set_files)
        others = other_collections(other_files, scores)
        parts = 1 + len(chosen) + len(others)
        with progress(parts * len(scores.measures), "assessing") as advance:
            found = assess(
                scores,
                sets=chosen,
                others=others,
                pool_cutoffs=pool_cutoffs,
                test=test,
                correction=correction,
                level=level,
                missing=missing,
                splits=splits,
                fuzziness=fuzziness,
                persistence=persistence,
                samples=samples,
                seed=seed,
                progress=advance,
            )
        if shown == "pairs" and len(found.measures) < 2:
            raise RankgaugeError(
                f"--show pairs of {found.measures[0]} alone, expected two measures"
            )
    except RankgaugeError as error:
        raise RankgaugeError("\n".join((*scores.failed, str(error)))) from None
    if json_file is not None:
        write_json(found, json_file)
    draw(found, asl_file, tau_file, swaps_file)
    show_assessment(found, shown, form, digits, output)
    fail_if_incomplete(scores)

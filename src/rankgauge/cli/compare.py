"""rankgauge compare: test whether the differences between runs are statistically significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import click

from rankgauge.cli.groups import OptionGroup, ParameterDeclaration, option, takes
from rankgauge.cli.names import RegisteredName
from rankgauge.cli.numbers import Decimal
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    SIGNATURE,
    CommandWithFiles,
    Output,
    baseline_option,
    level_option,
    missing_option,
    samples_option,
    significance_plugin_option,
    significance_test_option,
)
from rankgauge.cli.output import fail_if_incomplete, progress
from rankgauge.cli.scoring import SourceOptions, source_measure_option
from rankgauge.cli.workers import workers
from rankgauge.comparison.design import pairs_of
from rankgauge.comparison.power import PowerTest, detectable
from rankgauge.comparison.significance import CORRECTIONS, TESTS
from rankgauge.comparison.systems import compare, default_samples
from rankgauge.core.policies import (
    DEFAULT_CORRECTION,
    DEFAULT_TEST,
    SAMPLES,
    Missing,
)
from rankgauge.core.resampling import SamplingOptions, pair_blocks
from rankgauge.errors import RankgaugeError
from rankgauge.scores.model import Scores

NO_CORRECTION = "none"


def correction_option(default: str | None) -> ParameterDeclaration:
    """`--correction`, with this correction by default."""
    return option(
        "--correction",
        type=RegisteredName(CORRECTIONS, NO_CORRECTION),
        default=default or NO_CORRECTION,
        callback=lambda _, __, name: None if name == NO_CORRECTION else name,
        help="How to correct p-values for multiple comparisons. The two Tukey tests need no "
        "correction.",
    )


class TestingOptions(OptionGroup, heading="Statistics"):
    """How pairs of runs are tested."""

    test: str = significance_test_option(DEFAULT_TEST)
    correction: str | None = correction_option(DEFAULT_CORRECTION)
    level: float = level_option(
        "A difference is significant if its corrected p-value is at most 1 - level."
    )
    missing: Missing | None = missing_option(
        None,
        "How to treat queries that some run lacks. zero: they count as empty rankings. "
        "skip: they are excluded for all runs. Defaults to zero; with --scores, to the "
        "setting of the file, or skip if it has none.",
    )


class ComparisonOptions(TestingOptions):
    """Which runs are compared, and how."""

    baselines: tuple[str, ...] = baseline_option(
        "Compare the other runs only with this run, given by name or file. May be repeated. "
        "By default all pairs are compared."
    )
    samples: int | None = samples_option(
        None,
        f"By default {SAMPLES:,}. With many pairs and the correction holm or bonferroni, "
        "randomization draws more, since with fewer no difference could be significant.",
    )
    power: float | None = option(
        "--power",
        common=False,
        type=Decimal(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="Print a power analysis instead of the tests. Column `detectable`: the smallest "
        "difference that the test detects on these queries with power P. Column `needed`: "
        "how many queries the test needs to detect the difference D of --difference. 0.8 "
        "is a common choice. Only for paired-t and tukey-randomized.",
    )
    difference: float | None = option(
        "--difference",
        common=False,
        type=Decimal(),
        metavar="D",
        help="With --power: the difference that the test should detect. By default, the "
        "observed difference of each pair.",
    )


class ComparedScores(SourceOptions):
    """The scores to compare."""

    default = (DEFAULT_MEASURE,)
    measures: tuple[str, ...] = source_measure_option(*default)


@click.command("compare", cls=CommandWithFiles)
@takes(source=ComparedScores, asked=ComparisonOptions)
@option(
    "--marks",
    heading="Output",
    is_flag=True,
    help="Print a table of means as in papers. Each run has a letter, and each mean is marked "
    "with the letters of the runs that it significantly outperforms. LaTeX needs the "
    "packages booktabs and amsmath.",
)
@SIGNATURE
@takes(output=Output)
@significance_plugin_option
def command(
    source: ComparedScores,
    asked: ComparisonOptions,
    marks: bool,
    signature: bool,
    output: Output,
) -> None:
    """Test whether the differences between runs are statistically significant.

    QRELS and each RUN are files as in `rankgauge evaluate`. --scores reads saved scores, or a published
    table of scores by system and query. For the scores of each query, use `rankgauge evaluate -q` or
    `rankgauge report`.

    \b
    rankgauge compare qrels.txt runs/ -m nDCG@10 -m AP --test randomization
    rankgauge compare qrels.txt a.run b.run c.run --baseline a.run --marks --format latex
    rankgauge compare --scores AP=trec8.csv --test tukey
    \f
    For a power analysis instead of the tests:

    \b
    rankgauge compare qrels.txt a.run b.run --power 0.8 --difference 0.02

    There is one row per measure and pair of runs, a and b:

    \b
    difference   the mean of run a minus the mean of run b
    low, high    the confidence interval of the difference
    effect       the effect size
    p            the p-value
    p_corrected  the p-value, corrected for multiple comparisons
    wins         number of queries on which run a is better than run b
    ties         number of queries on which the runs are tied
    losses       number of queries on which run a is worse than run b

    A difference is significant if its corrected p-value is at most 1 - level.

    The exit code is 0 on success and 2 if nothing could be compared. It is 3 if some runs could not be
    read; the others are still compared. A message on stderr names each unread run and gives the reason.
    """
    if asked.power is None and asked.difference is not None:
        raise click.UsageError("--difference works only with --power; add --power 0.8")
    if asked.power is not None and marks:
        raise click.UsageError("--power and --marks print different tables; give one of them")
    if asked.power is not None and asked.test not in get_args(PowerTest):
        expected = " or ".join(get_args(PowerTest))
        raise click.UsageError(f"--power with --test {asked.test}, expected {expected}")
    scores = source.read().scores
    scores = replace(scores, notes=())  # they are on standard error already
    names = [source.run(name) for name in asked.baselines]
    try:
        check_baselines(names, scores)
        pairs = len(pairs_of(scores.runs, names or None)[0])
        usual = SAMPLES
        if asked.power is None:
            usual = default_samples(asked.test, asked.correction, pairs, asked.level)
        samples = asked.samples or usual
        steps = _steps(scores, asked.test, pairs, SamplingOptions(samples, source.seed))
        with progress(steps, "comparing") as advance:
            shared: Any = {
                "baseline": names or None,
                "test": asked.test,
                "level": asked.level,
                "missing": asked.missing,
                "samples": samples,
                "seed": source.seed,
                "executor": workers(),
                "progress": advance,
            }
            if asked.power is not None:
                table = detectable(
                    scores, power=asked.power, difference=asked.difference, **shared
                ).table()
            else:
                comparison = compare(scores, correction=asked.correction, **shared)
                table = comparison.marked_table() if marks else comparison.table()
    except RankgaugeError as error:
        raise RankgaugeError("\n".join((*scores.failed, str(error)))) from None
    if signature:
        if asked.missing is not None:
            scores = replace(scores, policies=replace(scores.policies, missing=asked.missing))
        table = replace(table, notes=(*table.notes, *scores.signatures().values()))
    (output.show_whole if signature else output.show)(table)
    fail_if_incomplete(scores)


def check_baselines(names: Sequence[str], scores: Scores) -> None:
    """RankgaugeError if the scores have no run of such a name."""
    for name in names:
        if name not in scores.runs:
            runs = ", ".join(scores.runs[:10]) + (", ..." if len(scores.runs) > 10 else "")
            raise RankgaugeError(f"--baseline {name}: no such run, expected one of: {runs}")


def _steps(scores: Scores, test: str, pairs: int, drawing: SamplingOptions) -> int:
    """How many steps `compare` will report as progress."""
    if not TESTS[test].draws(len(scores.queries), drawing):
        return 0
    blocks = pair_blocks(pairs, drawing) if test == "bootstrap" else drawing.blocks()
    return len(scores.measures) * len(blocks)

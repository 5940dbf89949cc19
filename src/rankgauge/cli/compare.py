"""rankgauge compare: are the differences between runs real, or chance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import click

from rankgauge.cli.numbers import Decimal
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    CommandWithFiles,
    baseline_option,
    output_options,
    plugin_option,
    samples_option,
    scores_options,
    testing_options,
)
from rankgauge.cli.output import fail_if_incomplete, progress, show_with_notes
from rankgauge.cli.scoring import WantedScores
from rankgauge.cli.workers import workers
from rankgauge.comparison.design import pairs_of
from rankgauge.comparison.power import PowerTest, detectable
from rankgauge.comparison.significance import TESTS
from rankgauge.comparison.systems import compare, usual_samples
from rankgauge.core.policies import DEFAULT_CORRECTION, SAMPLES, SharedTopics
from rankgauge.core.resampling import Drawing, pair_blocks
from rankgauge.errors import RankgaugeError
from rankgauge.scores.model import Scores


@click.command("compare", cls=CommandWithFiles)
@baseline_option(
    "Compare all other runs with this run only. RUN is its name or its file. May be repeated. By "
    "default every pair of runs is compared."
)
@testing_options(DEFAULT_CORRECTION)
@samples_option(
    None,
    f"By default {SAMPLES:,}. With the correction holm or bonferroni and many pairs, randomization "
    "draws more by default. Fewer samples could not make any difference significant.",
)
@click.option(
    "--marks",
    is_flag=True,
    help="Print a table of means as in papers. Each run has a letter. Next to the mean of a run "
    "are the letters of all runs that it beats significantly. LaTeX needs the packages booktabs and "
    "amsmath.",
)
@click.option(
    "--power",
    type=Decimal(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Print a power analysis in place of the tests. Column `detectable`: the smallest difference "
    "that the test finds on these topics with power P. Column `needed`: how many topics are needed, so "
    "that the test finds the difference D of --difference. 0.8 is usual. Only for paired-t and "
    "tukey-randomized.",
)
@click.option(
    "--difference",
    type=Decimal(),
    metavar="D",
    help="With --power: the difference that the test should find. By default the observed difference "
    "of each pair.",
)
@scores_options(DEFAULT_MEASURE)
@output_options
@plugin_option
def command(
    baselines: tuple[str, ...],
    test: str,
    correction: str | None,
    level: float,
    samples: int | None,
    missing: SharedTopics | None,
    marks: bool,
    power: float | None,
    difference: float | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    seed: int,
    **source: Any,
) -> None:
    """Say whether the differences between runs are more than chance.

    Each row is a measure and two runs, named in the columns a and b:

    \b
    difference   the mean of run a minus the mean of run b
    low, high    the confidence interval of the difference
    effect       the effect size
    p            the p-value
    p_corrected  the p-value, corrected for the number of pairs
    wins         on how many topics run a is better than run b
    ties         on how many topics the two runs are equal
    losses       on how many topics run a is worse than run b

    A difference is significant if its corrected p-value is at most 1 - level.

    QRELS and each RUN are files as in `rankgauge evaluate`. --scores reads scores that were computed
    earlier, or a published table of systems and topics.

    \b
    rankgauge compare qrels.txt runs/ -m nDCG@10 -m AP --test randomization
    rankgauge compare qrels.txt a.run b.run c.run --baseline a.run --marks --format latex
    rankgauge compare --scores AP=trec8.csv --test tukey
    rankgauge compare qrels.txt a.run b.run --power 0.8 --difference 0.02

    The exit code is 0 when all is well, and 2 when nothing could be compared. It is 3 when some runs
    could not be read: the other runs are compared. A message on stderr names each unread run, and says
    why.
    """
    if power is None and difference is not None:
        raise click.UsageError("--difference works only with --power; add --power 0.8")
    if power is not None and marks:
        raise click.UsageError("--power and --marks print different tables; give one of them")
    if power is not None and test not in get_args(PowerTest):
        expected = " or ".join(get_args(PowerTest))
        raise click.UsageError(f"--power with --test {test}, expected {expected}")
    scorer = WantedScores(seed=seed, **source)
    scores = scorer.scores(DEFAULT_MEASURE)
    scores = replace(scores, notes=())  # they are on standard error already
    names = [scorer.run(name) for name in baselines]
    try:
        check_baselines(names, scores)
        pairs = len(pairs_of(scores.runs, names or None)[0])
        usual = SAMPLES if power is not None else usual_samples(test, correction, pairs, level)
        drawing = Drawing(samples or usual, seed)
        with progress(_steps(scores, test, pairs, drawing), "comparing") as advance:
            shared: Any = {
                "baseline": names or None,
                "test": test,
                "level": level,
                "missing": missing,
                "samples": drawing.samples,
                "seed": seed,
                "executor": workers(),
                "progress": advance,
            }
            if power is not None:
                table = detectable(scores, power=power, difference=difference, **shared).table()
            else:
                comparison = compare(scores, correction=correction, **shared)
                table = comparison.marked_table() if marks else comparison.table()
    except RankgaugeError as error:
        raise RankgaugeError("\n".join((*scores.failed, str(error)))) from None
    show_with_notes(table, form, digits, output)
    fail_if_incomplete(scores)


def check_baselines(names: Sequence[str], scores: Scores) -> None:
    """RankgaugeError if the scores have no run of such a name."""
    for name in names:
        if name not in scores.runs:
            runs = ", ".join(scores.runs[:10]) + (", ..." if len(scores.runs) > 10 else "")
            raise RankgaugeError(f"--baseline {name}: no such run, expected one of: {runs}")


def _steps(scores: Scores, test: str, pairs: int, drawing: Drawing) -> int:
    """How many steps `compare` will report as progress."""
    if not TESTS[test].draws(len(scores.queries), drawing):
        return 0
    blocks = pair_blocks(pairs, drawing) if test == "bootstrap" else drawing.blocks()
    return len(scores.measures) * len(blocks)

"""rankgauge forecast depth: compare shallower judgment pools with the full one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, argument, option, takes
from rankgauge.cli.options import (
    CONDENSED,
    PLOT,
    PRECISION,
    UNJUDGED,
    Output,
    RunFileOptions,
    depth_option,
    level_option,
    max_grade_option,
    measure_option,
    plugin_option,
    seed_option,
    ties_option,
)
from rankgauge.cli.output import fail_if_incomplete, notify, progress
from rankgauge.cli.scoring import Scoring, check_order, judgment_notes
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.policies import DEFAULT_POOL_TIES, PoolTies, ScorePrecision, Unjudged
from rankgauge.data.model import Run
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.depths import DEFAULT_DEPTHS, DEFAULT_MEASURE, judging_depth
from rankgauge.forecast.teams import LETTERS, RUNS, Teams, teams_of
from rankgauge.io.parts import StoredRun
from rankgauge.measures.grammar import parse_all


class JudgedRuns(RunFileOptions, heading="Policies"):
    """The runs, their judgments, and how they are scored."""

    qrels: str = argument("qrels")
    runs: tuple[str, ...] = argument("runs", nargs=-1, required=True, metavar="RUN...")
    unjudged: Unjudged = UNJUDGED
    condensed = CONDENSED
    ties: PoolTies = ties_option(get_args(PoolTies), DEFAULT_POOL_TIES, "random: a random order.")
    seed: int = seed_option("the halves of the queries and random orders of ties")
    precision: ScorePrecision = PRECISION
    max_grade: int | None = max_grade_option("in QRELS")


class PoolOptions(OptionGroup, heading="Pools"):
    """Which pools are compared."""

    depths: tuple[int, ...] = depth_option(
        DEFAULT_DEPTHS, "The number of documents pooled from the top of each run; may be repeated."
    )
    pooled: tuple[str, ...] = option(
        "--pooled",
        multiple=True,
        metavar="RUN",
        help="A run that contributes to the pool, given by name or file; may be repeated. All "
        "runs are scored, and the table shows what the runs outside the pool lose. By "
        "default all runs contribute.",
    )
    teams: str | None = option(
        "--teams",
        metavar="HOW",
        help="Leave each team out of the pool in turn, and show what its runs lose. HOW is "
        "letters, runs or a list of prefixes. letters: the team of acsys8amn is acsys, the "
        "name up to the first digit. runs: each run is a team. Prefixes, such as "
        "acsys8,apl8: runs whose names begin with acsys8 form a team.",
    )
    by_team: bool = option(
        "--by-team",
        is_flag=True,
        help="With --teams: print one row per team that was left out.",
    )


@click.command("depth", cls=HeadedCommand)
@measure_option(DEFAULT_MEASURE)
@plugin_option
@takes(pools=PoolOptions)
@level_option(
    text="A difference between two runs is significant if its p-value is at most 1 - level."
)
@takes(judged=JudgedRuns)
@workers_options
@PLOT.but("Draw τ and the bias for each depth, as .svg or .png.")
@takes(output=Output)
def command(
    measures: tuple[str, ...],
    pools: PoolOptions,
    level: float,
    judged: JudgedRuns,
    plot: str | None,
    output: Output,
) -> None:
    """Compare shallower judgment pools with the full one, to see how deep a pool must be.

    The pool of depth N holds the first N documents of each run. The shallow score of a run uses only the
    judgments of these documents; the deep score uses all judgments in QRELS.

    QRELS and each RUN are files as in `rankgauge evaluate`. QRELS must be deep, since it is the
    reference for shallower pools.

    \b
    rankgauge forecast depth qrels.txt runs/ -m nDCG@100 -m AP --depth 10 --depth 20
    rankgauge forecast depth qrels.txt runs/ --teams letters --by-team
    rankgauge forecast depth qrels.txt runs/ --pooled a.run --pooled b.run --plot depth.svg
    \f
    Each row is a measure and a depth:

    \b
    judgments    the number of judged documents
    saved        the share of all judgments that the shallower pool saves
    relevant     the share of the relevant documents that are in the pool
    nothing      the number of queries without a relevant document in the pool
    bias         the mean of shallow minus deep score, over the runs
    error        the mean magnitude of this difference
    greatest     the largest magnitude of this difference
    tau          how similarly shallow and deep scores rank the runs (τ)
    half_tau     a reference for tau: the mean τ between the rankings of the runs
                 by two random halves of the queries, by deep scores
    significant  pairs of runs whose deep scores differ significantly
    reversed     how many of these pairs swap places
    opposed      how many of these are significant the other way round

    With --pooled, for the runs inside and outside the pool:

    \b
    inside_bias    the mean of shallow minus deep score, over the runs in the pool
    outside_bias   the same over the runs outside the pool; if it is lower than
                   inside_bias, the runs outside look worse than they are
    outside_ranks  how many ranks a run outside drops on average, from the
                   ranking by deep scores to the ranking by shallow scores
    outside_worst  the most ranks that a run outside drops

    With --teams, for a run whose team is left out of the pool, compared with the pool of all teams:

    \b
    loss         the mean loss of score
    worst_loss   the largest loss of a run
    ranks        how many ranks it drops on average
    worst_ranks  the most ranks that a run drops

    The exit code is 0 on success and 2 if nothing could be computed. It is 3 if some runs could not be
    read; the others are still used. A message on stderr names each unread run and gives the reason.
    """
    if pools.by_team and pools.teams is None:
        raise click.UsageError("--by-team works only with --teams; add --teams letters")
    scoring = judged.part(Scoring, missing="zero")
    parsed = parse_all(measures)
    judgments, sources = scoring.inputs()
    names = [scoring.run(name) for name in pools.pooled]
    notify(judgment_notes(judgments))
    left_out = _teams(pools.teams)
    try:
        with progress(_steps(sources, pools.depths, left_out)) as advance:
            depths = judging_depth(
                judgments,
                sources,
                parsed,
                pools.depths,
                pooled=names or None,
                teams=left_out,
                level=level,
                unjudged=judged.unjudged,
                failures="skip",
                executor=workers(),
                progress=advance,
                ties=judged.ties,
                seed=judged.seed,
                precision=judged.precision,
                max_grade=judged.max_grade,
            )
    except RankgaugeError:
        files = (judged.qrels, judged.runs)
        check_order(*files, columns=judged.columns, size_limit=judged.size_limit)
        raise
    if pools.by_team and not depths.left_out:
        raise RankgaugeError(
            "--by-team: all runs belong to one team, so the pool would be empty without it"
        )
    if plot is not None:
        from rankgauge.figures.files import save_figure

        save_figure(depths.figure(), plot)
    output.show(depths.team_table() if pools.by_team else depths.table())
    fail_if_incomplete(depths)


def _steps(sources: Sequence[Run | StoredRun], depths: Sequence[int], teams: Teams | None) -> int:
    """How many steps `judging_depth` reports: the runs to read, and the pools to score by."""
    names = [run.name if isinstance(run, Run) else run.label for run in sources]
    pools = 1 + (0 if teams is None else len(set(teams_of(names, teams))))
    return len(sources) + pools * len(set(depths))


def _teams(text: str | None) -> Teams | None:
    if text is None or text in (LETTERS, RUNS):
        return text
    return [prefix for prefix in text.split(",") if prefix]

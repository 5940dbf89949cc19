"""How deep must the pool be? What shallower pools would have said about the same runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.comparison.consistency import split_halves
from rankgauge.comparison.correlation import concordance_of
from rankgauge.comparison.significance import Pairs, find_test
from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import format_first_names
from rankgauge.core.policies import (
    DEFAULT_FAILURES,
    DEFAULT_POOL_TIES,
    DEFAULT_PRECISION,
    DEFAULT_TEST,
    DEFAULT_UNJUDGED,
    LEVEL,
    LEVELS,
    SEED,
    SPLITS,
    Failures,
    PoolTies,
    Progress,
    ScorePrecision,
    Unjudged,
)
from rankgauge.core.records import Record
from rankgauge.core.resampling import SamplingOptions
from rankgauge.core.rounding import at_most
from rankgauge.errors import RankgaugeError, Unsupported
from rankgauge.evaluation.evaluator import Evaluator, Measures
from rankgauge.evaluation.inputs import Qrels, Runs, judgments_of
from rankgauge.forecast.depth_results import (
    MOST_NAMED,
    JudgingDepth,
    ShallowPool,
    TeamLoss,
    ranks_of,
)
from rankgauge.forecast.pools import DEPTHS, PooledJudgments, PoolScorer
from rankgauge.forecast.retrieval import RunRankings, read_rankings
from rankgauge.forecast.teams import Teams, teams_of
from rankgauge.measures.aggregates import ArithmeticMean
from rankgauge.measures.around import Aggregate, inner, innermost
from rankgauge.measures.base import Measure
from rankgauge.rankings.lists import segment_count
from rankgauge.workers import AnyExecutor, results_of

DEFAULT_MEASURE = "nDCG@100"
DEFAULT_DEPTHS = (5, 10, 20, 30, 50)


def judging_depth(
    qrels: Qrels,
    runs: Runs,
    measures: Measures = DEFAULT_MEASURE,
    depths: Iterable[int] = DEFAULT_DEPTHS,
    *,
    pooled: Iterable[str] | None = None,
    teams: Teams | None = None,
    level: float = LEVEL,
    splits: int = SPLITS,
    unjudged: Unjudged = DEFAULT_UNJUDGED,
    ties: PoolTies = DEFAULT_POOL_TIES,
    seed: int = SEED,
    precision: ScorePrecision = DEFAULT_PRECISION,
    max_grade: int | None = None,
    failures: Failures = DEFAULT_FAILURES,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> JudgingDepth:
    """Compare the results of shallower pools with those of all judgments.

    For each depth, the top documents of all runs form a pool, and only the judgments of this pool
    are kept. The whole runs are scored with these judgments (the shallow score) and with all
    judgments (the deep score).

    Parameters
    ----------
    qrels : judgments
        All judgments, in any form that `evaluate` takes. They should be deep, since the pools are
        compared with them.
    runs : runs
        The runs, in any form that `evaluate` takes.
    measures : Measure, str, or sequence of these, default "nDCG@100"
        One or more measures, as objects or names.
    depths : iterable of int, default (5, 10, 20, 30, 50)
        The depths of the pools.
    pooled : iterable of str, optional
        The names of the runs that contribute to the pools. The other runs are scored as well, and
        the result reports how much they lose. By default, all runs contribute.
    teams : "letters", "runs", sequence of str, dict or callable, optional
        The team of each run. Each team with a run in the pool is left out in turn, and the result
        reports how much its runs lose. "letters": the part of the run's name before the first
        digit is its team. "runs": each run is a team. Or a list of prefixes, a dict from run to
        team, or a function that returns the team of a run. By default, no team is left out.
    level : float, default 0.95
        A difference between two runs is significant if the p-value of the paired t-test is at most
        1 − level.
    splits : int, default 1000
        Number of random splits of the queries into halves. The τ between halves (`half_tau`) is a
        reference for the τ of a pool.
    unjudged : {"nonrelevant", "condensed"}, default "nonrelevant"
        How to treat documents without a judgment, as in `evaluate`.
    ties : {"docno", "docno-ascending", "input", "random"}, default "docno"
        How to order documents with equal scores, as in `pool`.
    seed : int, default 0
        Seed of the random number generator, for the splits and for ties="random".
    precision : {"double", "single"}, default "double"
        Floating-point precision in which the scores of documents are compared, as in `evaluate`.
    max_grade : int, optional
        Highest grade of the collection. By default, it is the highest grade in the judgments.
    failures : {"raise", "skip"}, default "raise"
        What to do about a run that cannot be read, or that shares no query with the judgments.
        "raise": raise the error. "skip": skip the run, and list it in `.failed`.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the name of each run when it has been read, and of each pool when it has been
        scored.

    Returns
    -------
    JudgingDepth
        How well each pool agrees with all judgments.

    Raises
    ------
    RankgaugeError
        If there are no depths, if `pooled` names an unknown run, if a measure is not a mean over
        queries, or if no query has a score for every run at every depth. Also if another option has an
        invalid value.
    MeasureError
        If a measure cannot be parsed.
    Unsupported
        If a measure needs subtopics.
    InputError
        If the judgments cannot be read. With failures="raise", also if a run cannot be read or shares no
        query with the judgments.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 0, "b": 0, "c": 1}}
    >>> runs = {"one": {"q1": ["a", "b"], "q2": ["c"]}, "two": {"q1": ["c", "b"], "q2": ["a", "c"]}}
    >>> result = judging_depth(qrels, runs, "AP", depths=[1, 2])
    >>> [shallow.counts.total["judged"] for shallow in result.shallow]
    [4, 5]
    >>> result.shallow[1].tau.tolist()
    [1.0]
    """
    chosen = _check_depths(depths)
    check_value("level", level, LEVELS)
    check_value("ties", ties, one_of(PoolTies))
    check_value("precision", precision, one_of(ScorePrecision))
    check_value("failures", failures, one_of(Failures))
    drawing = SamplingOptions.check(splits, seed)
    judgments = judgments_of(qrels)
    evaluator = Evaluator(judgments, measures, unjudged=unjudged, max_grade=max_grade)
    _check_measures(evaluator.measures)
    lists = read_rankings(
        judgments,
        runs,
        chosen[-1],
        longest=_documents_needed(evaluator.measures, chosen[-1], unjudged),
        ties=ties,
        seed=drawing.seed,
        precision=precision,
        failures=failures,
        executor=executor,
        progress=progress,
    )
    inside = _pooled_runs(lists, pooled)
    by_run = None if teams is None else teams_of(lists.names, teams)
    scorer = PoolScorer(lists, evaluator.measures, unjudged, evaluator.judged.max_grade)
    tasks = [_Task(depth, inside, None) for depth in chosen]
    for team in dict.fromkeys(by_run or ()):
        own = np.array([one == team for one in by_run or ()])
        if (inside & own).any() and (inside & ~own).any():
            tasks += [_Task(depth, inside & ~own, team) for depth in chosen]
    results = {
        (task.depth, task.team): result
        for task, result in results_of(_TaskScorer(scorer), tasks, executor, progress=progress)
    }
    deep = scorer.score_by_all_judgments()
    counted = _comparable_queries(evaluator.measures, deep, *results.values())
    comparing = _PoolComparison(evaluator.measures, deep, counted, level)
    return JudgingDepth(
        runs=lists.names,
        measures=evaluator.measures,
        pooled=inside,
        judgments=int(np.count_nonzero(judgments.judged)),
        relevant=segment_count(judgments.grades >= 1, judgments.bounds),
        queries=counted.sum(axis=1),
        scores=deep,
        deep=comparing.deep_means,
        significant=comparing.significant.sum(axis=1),
        half_tau=comparing.half_tau(drawing),
        shallow=tuple(
            comparing.shallow(depth, PooledJudgments.of(lists, depth, inside), results[depth, None])
            for depth in chosen
        ),
        left_out=tuple(
            comparing.left_out(depth, team, by_run or (), results[depth, None], result)
            for (depth, team), result in results.items()
            if team is not None
        ),
        teams=by_run,
        level=level,
        remarks=lists.notes,
        failed=lists.failed,
    )


class _Task(Record):
    """A pool to score all runs by: its depth and its runs, and the team that is left out."""

    depth: int
    runs: Bools
    team: str | None

    def __str__(self) -> str:
        without = "" if self.team is None else f" without {self.team}"
        return f"depth {self.depth}{without}"


class _TaskScorer(Record):
    """Scores all runs by the pool of a task. It can be sent to another process."""

    scorer: PoolScorer

    def __call__(self, task: _Task) -> Floats:
        """Run × query × measure."""
        return self.scorer.score_by_pool(task.depth, task.runs)


class _PoolComparison:
    """Compares shallow scores with the deep ones, on the queries that count for a measure."""

    def __init__(
        self,
        measures: Sequence[Measure | Aggregate],
        deep: Floats,
        counted: Bools,
        level: float,
    ) -> None:
        self.measures, self.deep, self.counted, self.level = measures, deep, counted, level
        self.deep_means = self.means(deep)
        self.first, self.second = np.triu_indices(len(deep), 1)
        self.difference, self.significant = self._test_differences(deep)

    def means(self, scores: Floats) -> Floats:
        """Run × measure: the means over the queries that count."""
        columns = [scores[:, topics, m].mean(axis=1) for m, topics in enumerate(self.counted)]
        return np.stack(columns, axis=1)

    def _test_differences(self, scores: Floats) -> tuple[Floats, Bools]:
        """Measure × pair: the difference of the means, and whether it is significant."""
        size = len(self.counted), len(self.first)
        differences, p = np.zeros(size), np.ones(size)
        test = find_test(DEFAULT_TEST)
        for m, topics in enumerate(self.counted if len(self.first) else ()):
            values = np.ascontiguousarray(scores[:, topics, m])
            pairs = Pairs(values, self.first, self.second, self.level)
            differences[m] = pairs.difference
            if pairs.queries >= test.least_queries:
                p[m] = test(pairs).p
        return differences, at_most(p, 1 - self.level)

    def half_tau(self, drawing: SamplingOptions) -> Floats:
        """For each measure, the mean τ of the deep rankings of the runs by two halves of the queries."""
        values = []
        for m, topics in enumerate(self.counted):
            if topics.sum() < 2 or not len(self.first):
                values.append(np.nan)
                continue
            scores = np.ascontiguousarray(self.deep[:, topics, m])
            values.append(float(split_halves(scores, self.first, self.second, drawing).tau.mean()))
        return np.array(values)

    def shallow(self, depth: int, judgments: PooledJudgments, scores: Floats) -> ShallowPool:
        """What the pool of a depth says."""
        means = self.means(scores)
        difference, significant = self._test_differences(scores)
        opposite = np.sign(difference) * np.sign(self.difference) < 0
        return ShallowPool(
            depth=depth,
            counts=judgments.counts,
            means=means,
            tau=np.array([_tau(*both) for both in zip(means.T, self.deep_means.T, strict=True)]),
            reversed=(self.significant & opposite).sum(axis=1),
            opposed=(self.significant & significant & opposite).sum(axis=1),
        )

    def left_out(
        self, depth: int, team: str, teams: Sequence[str], inside: Floats, outside: Floats
    ) -> TeamLoss:
        """What the runs of a team lose if the pool is made without them."""
        own = np.flatnonzero([one == team for one in teams])
        before, after = self.means(inside), self.means(outside)
        ranks = ranks_of(after, self.measures) - ranks_of(before, self.measures)
        return TeamLoss(depth, team, own, after[own] - before[own], ranks[own])


def _tau(x: Floats, y: Floats) -> float:
    return concordance_of(x, y).tau if len(x) > 1 else float("nan")


def _check_depths(depths: Iterable[int]) -> list[int]:
    """The depths, ascending, each once."""
    if isinstance(depths, int):
        depths = [depths]
    chosen = sorted({check_value("depths", depth, DEPTHS) for depth in depths})
    if not chosen:
        raise RankgaugeError("no depths, expected at least one, such as 10")
    return chosen


def _check_measures(measures: Sequence[Measure | Aggregate]) -> None:
    for measure in measures:
        if isinstance(measure, Aggregate) and not isinstance(measure, ArithmeticMean):
            raise RankgaugeError(
                f"{measure} is not an arithmetic mean over queries, expected a measure such as "
                f"{measure.measure}"
            )
        if innermost(measure).by_subtopic:
            raise Unsupported(
                f"{measure} needs subtopics, which depth comparisons do not support; score the "
                "judgments that `pool` returns with `evaluate`"
            )


def _documents_needed(
    measures: Sequence[Measure | Aggregate], depth: int, unjudged: Unjudged
) -> int | None:
    """How many documents of a list are needed; None for all."""
    cuts = [inner(measure).depth for measure in measures]
    if unjudged == "condensed" or None in cuts:
        return None
    return max(depth, *(cut for cut in cuts if cut is not None))


def _pooled_runs(lists: RunRankings, pooled: Iterable[str] | None) -> Bools:
    """Which runs make the pool."""
    if pooled is None:
        return np.ones(len(lists.names), dtype=np.bool_)
    chosen = [pooled] if isinstance(pooled, str) else list(pooled)
    if not chosen:
        raise RankgaugeError("pooled: no run contributes to the pool; name at least one")
    for name in chosen:
        if name not in lists.names:
            from difflib import get_close_matches

            near = get_close_matches(str(name), lists.names, n=1)
            runs = format_first_names(list(map(repr, lists.names)), MOST_NAMED)
            remedy = f"did you mean {near[0]!r}?" if near else f"the runs are {runs}"
            fault = f"no run is called {name!r}, so it cannot contribute to the pool; {remedy}"
            raise RankgaugeError("\n".join((fault, *lists.failed)))
    return np.array([name in chosen for name in lists.names])


def _comparable_queries(measures: Sequence[Measure | Aggregate], *scores: Floats) -> Bools:
    """Measure × query: whether each run has a score by all judgments and by each pool."""
    counted = np.ones(scores[0].shape[1:], dtype=np.bool_)
    for one in scores:
        counted &= np.isfinite(one).all(axis=0)
    for measure, topics in zip(measures, counted.T, strict=True):
        if not topics.any():
            raise RankgaugeError(
                f"{measure}: no query has a score for every run at every depth; choose another measure, "
                "or depths at which the pools have relevant documents"
            )
    return counted.T

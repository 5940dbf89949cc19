"""Two-phase estimates: shallow judgments for all queries, deep ones for a few queries at random."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankgauge.comparison.design import find_shared_queries
from rankgauge.comparison.significance import holm
from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import check_value
from rankgauge.core.notes import WARNING, Note, count_phrase, note_texts
from rankgauge.core.policies import LEVEL, LEVELS
from rankgauge.core.records import Record
from rankgauge.core.renamed import renamed_parameters
from rankgauge.core.results import Result
from rankgauge.core.rounding import at_most
from rankgauge.core.tables import Cell, LazyRows, PValue, Table
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.ratio_estimator import UNLIMITED, Estimates, Limits, RatioEstimate
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores
from rankgauge.scores.validation import SLACK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 5
"""Maximum number of names listed in an error."""
FEW_RUNS = 5
"""With fewer runs than this, the mean variance of the runs is unreliable, and a note says so."""
COLUMNS = (
    "measure", "rank", "best_rank", "worst_rank", "run",
    "mean", "low", "high", "deep", "deep_low", "deep_high", "shallow",
)  # fmt: skip
PAIR_COLUMNS = ("measure", "a", "b", "difference", "low", "high", "p", "p_corrected", "separable")


class TwoPhase(Result, Record):
    """The deep means of all runs over all queries, with intervals: the result of `two_phase`.

    Unless another shape is given, arrays have one number per run, in the order of `runs`.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs.
    queries : tuple of str
        The ids of all queries.
    deep_queries : tuple of str
        The queries with deep scores, in the same order.
    measure : Measure
        The measure of the deep scores.
    shallow_measure : Measure
        The measure of the shallow scores.
    level : float
        The confidence level of the intervals.
    ratio : float
        The sum of the deep scores of all runs divided by the sum of their shallow scores, on the
        deep queries. NaN if the shallow scores sum to 0; `mean` then equals `deep_mean`.
    mean : array of float
        The estimated means, clipped to the range of the measure.
    low : array of float
        The lower ends of the intervals.
    high : array of float
        The upper ends of the intervals.
    deep_mean : array of float
        The means over the deep queries alone, without the shallow scores.
    deep_low : array of float
        The lower ends of the intervals of `deep_mean`.
    deep_high : array of float
        The upper ends of the intervals of `deep_mean`.
    shallow_mean : array of float
        The means of the shallow scores over all queries.
    variance : array of float
        The variance of the residuals of each run; NaN with a single deep query.
    first : array of int
        The index of the first run of each pair.
    second : array of int
        The index of the second run of each pair.
    pairs : Estimates
        The difference of each pair, with its interval and p-value.
    notes : tuple of Note
        Notes on the numbers.

    Examples
    --------
    >>> shallow = Scores.from_matrix([[0.5, 0.7, 0.6, 0.4]], runs=["a"], measure="AP")
    >>> deep = Scores.from_matrix([[0.4, 0.6]], runs=["a"], measure="AP", queries=["1", "2"])
    >>> estimate = two_phase(shallow, deep)
    >>> estimate.shallow_mean.round(3).tolist(), estimate.mean.round(3).tolist()
    ([0.55], [0.458])
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries", "deep_topics": "deep_queries"}

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    deep_queries: tuple[str, ...]
    measure: Scored | Aggregate
    shallow_measure: Scored | Aggregate
    level: float
    ratio: float
    mean: Floats
    low: Floats
    high: Floats
    deep_mean: Floats
    deep_low: Floats
    deep_high: Floats
    shallow_mean: Floats
    variance: Floats
    first: Ints
    second: Ints
    pairs: Estimates
    notes: tuple[Note, ...]

    @property
    def pooled_variance(self) -> float:
        """The mean of `variance` over the runs."""
        return float(self.variance.mean())

    @cached_property
    def p_corrected(self) -> Floats:
        """The p-value of each pair, corrected with Holm's method for the number of pairs."""
        return holm(self.pairs.p)

    @cached_property
    def separable(self) -> Bools:
        """Whether the two runs of a pair are separable: the corrected p-value is at most 1 − level."""
        return at_most(self.p_corrected, 1 - self.level)

    @property
    def ranking(self) -> Ints:
        """The indices of the runs, the best estimate first; ties are broken by name."""
        merit = -self.mean if inner(self.measure).direction == "lower" else self.mean
        return np.lexsort((np.array(self.runs, dtype=object), -merit))

    @cached_property
    def rank_ranges(self) -> tuple[Ints, Ints]:
        """The best and the worst rank that each run may have.

        The best rank is 1 plus the number of separable runs that are better. The worst rank is the
        number of runs minus the number of separable runs that are worse.
        """
        first, second = self.first[self.separable], self.second[self.separable]
        ahead = self.pairs.value[self.separable] > 0
        if inner(self.measure).direction == "lower":
            ahead = ~ahead
        better, worse = np.where(ahead, first, second), np.where(ahead, second, first)
        above = np.bincount(worse, minlength=len(self.runs))
        below = np.bincount(better, minlength=len(self.runs))
        return 1 + above, len(self.runs) - below

    def table(self) -> Table:
        """Return a table with one row per run, the best estimate first."""
        best, worst = self.rank_ranges
        numbers = (self.mean, self.low, self.high, self.deep_mean, self.deep_low, self.deep_high)
        rows = tuple(
            (
                str(self.measure),
                rank,
                int(best[run]),
                int(worst[run]),
                self.runs[run],
                *(float(column[run]) for column in (*numbers, self.shallow_mean)),
            )
            for rank, run in enumerate(self.ranking.tolist(), 1)
        )
        return Table(COLUMNS, rows, note_texts(self.notes))

    def pair_table(self) -> Table:
        """Return a table with one row per pair of runs, with the difference of their estimates.

        Each row also shows whether the runs are separable.
        """
        return Table(
            PAIR_COLUMNS, LazyRows(len(self.first), self._pair_rows), note_texts(self.notes)
        )

    def figure(self) -> Figure:
        """Plot the intervals of the runs, the best estimate on top.

        Next to them are the intervals from the deep queries alone, and the shallow scores.
        """
        from rankgauge.figures.intervals import run_intervals

        order = self.ranking
        return run_intervals(
            [self.runs[run] for run in order.tolist()],
            (self.mean[order], self.low[order], self.high[order]),
            (self.deep_mean[order], self.deep_low[order], self.deep_high[order]),
            self.shallow_mean[order],
            label=f"{self.measure}, deep, mean over {count_phrase(len(self.queries), 'query')}",
            about=f"{len(self.deep_queries)} of "
            f"{count_phrase(len(self.queries), 'query')} judged deeply",
        )

    def _pair_rows(self, start: int, end: int) -> Iterator[tuple[Cell, ...]]:
        columns = (self.first, self.second, *self.pairs, self.p_corrected, self.separable)
        name = str(self.measure)
        for a, b, difference, low, high, p, p_corrected, separable in zip(
            *(column[start:end].tolist() for column in columns), strict=True
        ):
            marks = (PValue(p), PValue(p_corrected), "yes" if separable else "no")
            yield name, self.runs[a], self.runs[b], difference, low, high, *marks

    def _title(self) -> str:
        return (
            f"TwoPhase: {count_phrase(len(self.runs), 'run')}, {len(self.deep_queries)} of "
            f"{count_phrase(len(self.queries), 'query')} judged deeply, {self.measure}"
        )


@renamed_parameters(topics="queries")
def two_phase(
    shallow: Scores, deep: Scores, queries: Iterable[str] | None = None, level: float = LEVEL
) -> TwoPhase:
    """Estimate the deep mean of every run over all queries, from deep scores on a few queries.

    Parameters
    ----------
    shallow : Scores
        The scores of all queries with shallow judgments, for one measure. `evaluate` computes
        them, for example with the judgments that `pool` returns.
    deep : Scores
        The scores of the same runs with deep judgments, for one measure, usually the same one.
        `evaluate` computes them. Queries without deep judgments may be absent.
    queries : iterable of str, optional
        The queries whose deep scores are used. By default, all queries of `deep`.
    level : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    TwoPhase
        The estimates, with intervals for runs and for pairs of runs.

    Raises
    ------
    RankgaugeError
        If `shallow` or `deep` has several measures, a measure that is not an arithmetic mean over
        queries, or standardized or infinite scores. If the two have different runs, if one of them lacks
        a query of `queries`, or if no deep query has scores for every run. Also if `level` is not
        between 0 and 1.

    See Also
    --------
    pool : Makes the judgments of a pool, such as those for the shallow scores.

    Notes
    -----
    The intervals hold if the deep queries were drawn at random from all queries;
    `rankgauge.forecast.choose_queries` draws them. The mean is over the queries of `shallow`, not
    over new queries. The estimate of a run depends a little on the other runs, because all runs
    share one ratio. For a run on its own, the estimate is the same only if its own ratio equals
    the common ratio.

    Examples
    --------
    >>> runs = ["a", "b"]
    >>> shallow = Scores.from_matrix(
    ...     [[0.5, 0.7, 0.6, 0.4], [0.3, 0.6, 0.5, 0.2]], runs=runs, measure="nDCG@100"
    ... )
    >>> deep = Scores.from_matrix(
    ...     [[0.4, 0.6], [0.2, 0.5]], runs=runs, measure="nDCG@100", queries=["1", "2"]
    ... )
    >>> estimate = two_phase(shallow, deep)
    >>> estimate.mean.round(3).tolist(), round(estimate.ratio, 3)
    ([0.46, 0.31], 0.81)
    """
    level = check_value("level", level, LEVELS)
    sample = Sample.of(shallow, deep, queries)
    limits = _limits(deep.measures[0], sample.deep)
    estimate = RatioEstimate(sample.shallow, sample.deep, sample.chosen, level, limits)
    first, second = np.triu_indices(len(sample.runs), 1)
    runs, alone = estimate.runs(), estimate.deep_alone()
    return TwoPhase(
        runs=sample.runs,
        queries=sample.queries,
        deep_queries=tuple(sample.queries[place] for place in sample.chosen.tolist()),
        measure=deep.measures[0],
        shallow_measure=shallow.measures[0],
        level=level,
        ratio=estimate.ratio,
        mean=runs.value,
        low=runs.low,
        high=runs.high,
        deep_mean=alone.value,
        deep_low=alone.low,
        deep_high=alone.high,
        shallow_mean=estimate.shallow_mean,
        variance=estimate.variance,
        first=first,
        second=second,
        pairs=estimate.pairs(first, second),
        notes=(*sample.notes, *_general_notes(sample, estimate, shallow, deep)),
    )


def _limits(measure: Scored | Aggregate, scores: Floats) -> Limits:
    """The range of the measure; no limits if it declares none, or if the scores are on another scale."""
    low, high = inner(measure).range
    if not inner(measure).range_is_declared or scores.min() < low - SLACK:
        return UNLIMITED
    return (low, high) if scores.max() <= high + SLACK else UNLIMITED


def _general_notes(
    sample: Sample, estimate: RatioEstimate, shallow: Scores, deep: Scores
) -> Iterator[Note]:
    """Notes on what the numbers are, and on what to be careful with."""
    name = str(deep.measures[0])
    everything, some = estimate.queries, estimate.deep_queries
    yield from (note for scores in (shallow, deep) for note in scores.notes if note.severity)
    percent = f"{100 * estimate.level:.10g}%"
    if some == everything:
        text = (
            f"all {count_phrase(everything, 'query')} are judged deeply, so the mean is exact "
            "for these queries and the width is 0; it does not extend to new queries"
        )
    elif some == 1:
        text = (
            "1 deep query gives no interval, and no runs are separable; judge at least 2 "
            "queries deeply"
        )
    else:
        text = (
            f"{percent} interval for the deep mean over these "
            f"{count_phrase(everything, 'query')}, not over new queries; it is valid if the "
            f"{some} deep queries were drawn at random; each interval covers one run only"
        )
    yield Note(text, measure=name, column="low, high")
    if np.isnan(estimate.ratio):
        text = (
            "the shallow scores of the deep queries sum to 0, so the mean comes from the "
            "deep queries alone"
        )
        yield Note(text, measure=name, column="mean", severity=WARNING)
    else:
        text = f"estimated with one ratio for all runs: deep / shallow = {estimate.ratio:.4g}"
        yield Note(text, measure=name, column="mean")
    text = "from the deep queries alone, without the shallow scores"
    yield Note(text, measure=name, column="deep, deep_low, deep_high")
    by = "" if shallow.measures == deep.measures else f" by {shallow.measures[0]}"
    yield Note(f"the shallow mean{by} over all queries", measure=name, column="shallow")
    pairs = len(sample.runs) * (len(sample.runs) - 1) // 2
    if pairs:
        text = (
            "the range of ranks that a run may have; runs that are not separable may swap "
            "places (t-test for the difference of two estimates, Holm correction over "
            f"{count_phrase(pairs, 'pair')}, level {estimate.level:.10g})"
        )
        yield Note(text, measure=name, column="best_rank, worst_rank")
    if inner(deep.measures[0]).direction == "none":
        text = (
            "the measure declares neither higher nor lower as better; rank 1 only means "
            "the highest value"
        )
        yield Note(text, measure=name, column="rank")
    if some < everything:
        yield from _caution_notes(sample, estimate, shallow, name)
    grades = {name: scores.policies for name, scores in (("shallow", shallow), ("deep", deep))}
    if all(policies.source is None for policies in grades.values()):
        highest = {part: policies.max_grade for part, policies in grades.items()}
        if highest["shallow"] != highest["deep"]:
            text = (
                f"the highest grade is {highest['shallow']} for the shallow scores and "
                f"{highest['deep']} for the deep scores; this only affects ERR and gains that "
                "are divided by the highest grade; pass the same max_grade to both evaluations"
            )
            yield Note(text, measure=name)


def _caution_notes(
    sample: Sample, estimate: RatioEstimate, shallow: Scores, name: str
) -> Iterator[Note]:
    """Notes on estimates that may be far off."""
    place = {query: number for number, query in enumerate(shallow.queries)}
    where = [place[topic] for topic in sample.queries]
    empty = int(np.count_nonzero(shallow.nothing_relevant[0, where]))
    if empty:
        text = (
            "the shallow judgments contain nothing relevant for {queries}; their deep scores "
            "need not be 0, and the estimate accounts for this"
        )
        yield Note(text, measure=name, count=empty)
    if (sample.shallow < 0).any() and (sample.shallow > 0).any():
        text = (
            "there are both positive and negative shallow scores, so the ratio and the "
            "intervals may be far off"
        )
        yield Note(text, measure=name, severity=WARNING)
    if estimate.deep_queries > 1 and not estimate.pooled_variance:
        text = (
            "the residuals of all runs are 0, so the width is 0; this does not mean that "
            "the estimate is certain"
        )
        yield Note(text, measure=name, column="low, high", severity=WARNING)
    elif estimate.deep_queries > 1 and len(sample.runs) < FEW_RUNS:
        text = (
            f"the variance comes from {count_phrase(len(sample.runs), 'run')}; with fewer than "
            f"{FEW_RUNS} runs, the interval may cover the true value less often than its level states"
        )
        yield Note(text, measure=name, column="low, high")


# Shallow and deep scores of the same runs, side by side


class Sample(Record):
    """Shallow scores of all queries that count, run × query, and deep scores of some of them.

    `chosen` has the number of each deep query among `topics`, ascending.
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    shallow: Floats
    deep: Floats
    chosen: Ints
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, shallow: Scores, deep: Scores, queries: Iterable[str] | None) -> Sample:
        """The scores side by side; RankgaugeError if they do not fit together."""
        for name, scores in (("shallow", shallow), ("deep", deep)):
            _check_single_measure(name, scores)
        _check_runs(shallow.runs, deep.runs)
        deep = deep.select(_deep_queries(shallow, deep, queries), runs=shallow.runs)
        values, counts, notes = find_shared_queries(shallow, 0)
        deep_values, deep_counts, deep_notes = find_shared_queries(deep, 0)
        place = {query: number for number, query in enumerate(shallow.queries)}
        where = np.array([place[query] for query in deep.queries], dtype=np.int64)
        counts = counts.copy()
        counts[where[~deep_counts]] = False
        kept = counts[where]
        if not kept.any():
            raise RankgaugeError(
                f"{deep.measures[0]}: no deep query has a shallow and a deep score for every "
                "run, expected at least one"
            )
        where, deep_values = where[kept], deep_values[:, kept]
        order = np.argsort(where)
        new_place = np.cumsum(counts) - 1
        return cls(
            runs=shallow.runs,
            queries=tuple(shallow.queries[number] for number in np.flatnonzero(counts).tolist()),
            shallow=values[:, counts],
            deep=deep_values[:, order],
            chosen=new_place[where[order]],
            notes=(
                *(replace(note, part="shallow") for note in notes),
                *(replace(note, part="deep") for note in deep_notes),
            ),
        )


def _check_single_measure(name: str, scores: Scores) -> None:
    """RankgaugeError unless the scores have runs and queries, and one measure, not standardized."""
    if len(scores.measures) != 1:
        names = [str(measure) for measure in scores.measures[:MOST_NAMED]]
        raise RankgaugeError(
            f"{name}: {count_phrase(len(scores.measures), 'measure')} ({', '.join(names)}), "
            f"expected one; select it: {name}.select(measures={names[:1]})"
        )
    if not scores.runs or not scores.queries:
        raise RankgaugeError(f"{name}: no scores, expected at least one run and one query")
    if scores.policies.standardized is not None:
        raise RankgaugeError(
            f"{name}: standardized scores, expected plain scores; the ratio of deep to shallow "
            "scores is meaningless for standardized scores"
        )


def _check_runs(shallow: Sequence[str], deep: Sequence[str]) -> None:
    for name, runs, others in (("shallow", shallow, deep), ("deep", deep, shallow)):
        known = set(others)
        if alone := [run for run in runs if run not in known]:
            raise RankgaugeError(
                f"only the {name} scores have {_format_names('run', alone)}, expected the same "
                "runs in both"
            )


def _deep_queries(shallow: Scores, deep: Scores, queries: Iterable[str] | None) -> list[str]:
    """The queries whose deep scores are used."""
    if isinstance(queries, str):
        raise RankgaugeError(f"queries={queries!r} is a single string, expected a list of queries")
    chosen = list(deep.queries if queries is None else dict.fromkeys(queries))
    if not chosen:
        raise RankgaugeError("queries is empty, expected at least one deep query")
    for name, scores in (("deep", deep), ("shallow", shallow)):
        known = set(scores.queries)
        if unknown := [str(topic) for topic in chosen if topic not in known]:
            raise RankgaugeError(
                f"no {name} scores for {_format_names('query', unknown)}; every deep query needs a "
                "shallow and a deep score"
            )
    return chosen


def _format_names(thing: str, names: Sequence[str]) -> str:
    """Some names, with their number if there are many: `query 'q1'`, `8 queries: 'q1', 'q2', …`."""
    texts = ", ".join(repr(name) for name in names[:MOST_NAMED])
    if len(names) == 1:
        return f"{thing} {texts}"
    return f"{count_phrase(len(names), thing)}: {texts}{', …' if len(names) > MOST_NAMED else ''}"

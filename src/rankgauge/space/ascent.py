"""Ascent: better and better weights by exact line searches, from many starts.

On a line the curve of a measure is exact, so a search cannot miss the best point of the line. In several
weights nothing guarantees the best of all: the measure has many local optima (Robertson and Zaragoza
2007, section 3.3). So the ascent begins at many points, and says how often each optimum is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Integer, check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import SEED, SEEDS, Progress
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.seeds import digest
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.space.curves import NEAR, Interval, sign_of
from rankgauge.space.inputs import FeatureRows
from rankgauge.space.lines import Segment
from rankgauge.space.scorers import LinearScorer
from rankgauge.workers import AnyExecutor, results_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROUNDS = 20
"""Default maximum number of passes of an ascent over all its lines."""

LineSearch: TypeAlias = Callable[[Floats, float], Floats | None]
"""From weights and their value to the best weights on a line through them; None if none are better."""


class AscentResult(Record):
    """Where an ascent ended, the value there, and whether it ended because nothing was better."""

    weights: Floats
    value: float
    ended: bool


def ascend(
    weights: Floats,
    evaluate: Callable[[Floats], float],
    searches: Callable[[], Iterable[LineSearch]],
    *,
    higher: bool,
    rounds: int = MOST_ROUNDS,
    tolerance: float = NEAR,
    after: Callable[[Floats, float], None] | None = None,
) -> AscentResult:
    """Better and better weights, by one line search after the other, until a round changes nothing.

    Parameters
    ----------
    weights
        The weights to begin with.
    evaluate
        The value of any weights. A step is taken only if the value, evaluated anew, is better.
    searches
        The line searches of a round.
    higher
        Whether higher values are better.
    rounds
        How many rounds there are at the most.
    tolerance
        A round whose value is not better by more than this is the last one.
    after
        Called with the weights and their value after each round.
    """
    sign = 1.0 if higher else -1.0
    value = evaluate(weights)
    for _ in range(rounds):
        before = value
        for search in searches():
            tried = search(weights, value)
            if tried is not None:
                reached = evaluate(tried)
                if sign * reached > sign * value:
                    weights, value = tried, reached
        if after is not None:
            after(weights, value)
        if not sign * value > sign * before + tolerance:
            return AscentResult(weights, value, True)
    return AscentResult(weights, value, False)


def optima(
    documents: FeatureRows | LinearScorer,
    measure: AnyMeasure,
    *,
    fixed: int | None = None,
    restarts: int = 20,
    directions: int = 10,
    rounds: int = 100,
    jitter: float | None = None,
    seed: int = SEED,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Optima:
    """Search for local optima of a measure over all feature weights, from many starts.

    From each start, one weight after another is set to its best value. Then the search follows
    lines in random directions. Both steps repeat until nothing improves. Each line is searched
    exactly and over its whole length.

    Parameters
    ----------
    documents : Features, tuple or LinearScorer
        The documents: `Features`, or a tuple (values, labels, bounds) as in `trajectory`.
    measure : Measure or str
        The measure, as an object or a name. Its mean over the queries is optimized.
    fixed : int, optional
        The number of the feature, from 1, whose weight stays 1. By default the weights lie on the unit
        sphere: they are divided by their length.
    restarts : int, default 20
        The number of starts: equal weights first, then random weights.
    directions : int, default 10
        The number of random directions in each round.
    rounds : int, default 100
        The largest number of rounds from one start.
    jitter : float, optional
        Add a random number from 0 to this size to the score of each document (see `add_jitter`).
    seed : int, default 0
        Seed of the random number generator.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the number of each start when it is done.

    Returns
    -------
    Optima
        The local optima, the best first, with the number of starts that reached each.

    Raises
    ------
    RankgaugeError
        If the documents have no features, if the measure is undefined for these documents, or if
        neither higher nor lower values of the measure are better.

    Notes
    -----
    The search finds local optima. No number of starts guarantees the global optimum (Robertson and
    Zaragoza 2007, section 3.3).

    Examples
    --------
    >>> result = optima(([[1, 0], [0, 1], [1, 1]], [0, 2, 1], [0, 3]), "nDCG", restarts=3)
    >>> result.values.tolist(), result.found.tolist()
    ([1.0], [3])
    """
    parsed = parse(measure)
    inner(parsed).complete()
    sign_of(parsed)  # refuses measures without a direction
    scorer = LinearScorer.of(documents, jitter, check_value("seed", seed, SEEDS))
    if fixed is not None:
        fixed = check_value("fixed", fixed, Integer(1, scorer.width)) - 1
    elif not scorer.width:
        raise RankgaugeError("no features, expected at least one")
    directions, rounds = (
        check_value("directions", directions, Integer(0)),
        check_value("rounds", rounds, Integer(1)),
    )
    ascent = FeatureAscent(scorer, parsed, fixed, directions, rounds, seed)
    numbers = range(check_value("restarts", restarts, Integer(1)))
    climbs: list[AscentResult] = []
    for _, result in results_of(ascent, numbers, executor):
        climbs.append(result)
        if progress is not None:
            progress(str(len(climbs)))
    return _collect_optima(ascent, climbs)


class FeatureAscent(Record):
    """The ascent from one start after the other: it is called with the number of the start."""

    scorer: LinearScorer
    measure: Measure | Aggregate
    fixed: int | None
    directions: int
    rounds: int
    seed: int

    @property
    def higher(self) -> bool:
        """Whether higher values are better."""
        return sign_of(self.measure) > 0

    def __call__(self, number: int) -> AscentResult:
        random = np.random.default_rng((self.seed, number))
        width = self.scorer.width
        first = random.standard_normal(width) if number else np.ones(width)
        return ascend(
            self.scale_weights(first, start=True),
            lambda weights: self.scorer.mean_at(weights, self.measure),
            lambda: self.searches(random),
            higher=self.higher,
            rounds=self.rounds,
        )

    def scale_weights(self, weights: Floats, start: bool = False) -> Floats:
        """The same ranking by weights of the form that is asked for; a start gets the fixed weight."""
        if self.fixed is None:
            return np.asarray(weights / np.linalg.norm(weights))
        if start:
            return np.where(np.arange(len(weights)) == self.fixed, 1.0, weights)
        return np.asarray(weights / weights[self.fixed])

    def searches(self, random: np.random.Generator) -> Iterable[LineSearch]:
        """The searches of a round: along each weight, then in random directions."""
        width = self.scorer.width
        free = [number for number in range(width) if number != self.fixed]
        for number in self.scorer.varying_features:
            if number != self.fixed:
                yield self.along(np.eye(width)[number])
        for _ in range(self.directions if len(free) > 1 else 0):
            direction = np.zeros(width)
            direction[free] = random.standard_normal(len(free))
            yield self.along(direction)

    def along(self, direction: Floats) -> LineSearch:
        """The search on the whole line through any weights in a direction."""

        def search(weights: Floats, value: float) -> Floats | None:
            best = self.best_on_line(weights, direction)
            if best is None or not self._is_better(best.value, value):
                return None
            position = best.interval.middle
            tried = (1 - position) * weights + position * best.direction
            return self.scale_weights(tried) if tried.any() else None

        return search

    def best_on_line(self, weights: Floats, direction: Floats) -> BestOnLine | None:
        """The widest interval with the best value on both half-lines; None where nothing is defined.

        Position s stands for the weights plus s / (1 − s) times the way: all points of a half-line.
        """
        best: BestOnLine | None = None
        start, end = self.scorer.scores(weights), self.scorer.scores(direction, 0.0)
        for way, toward in ((direction, end), (-direction, -end)):
            curve = Segment(self.scorer.documents, start, toward).curve(self.measure)
            if np.isnan(curve.values).all():
                continue
            half = BestOnLine(curve.value, curve.best[0], way)
            if best is None or self._is_better(half.value, best.value):
                best = half
            elif not self._is_better(best.value, half.value):
                best = max(best, half, key=lambda each: each.interval.width)
        return best

    def _is_better(self, value: float, other: float) -> bool:
        return value > other + NEAR if self.higher else value < other - NEAR

    def ranking_digest(self, weights: Floats) -> bytes:
        """What the measure sees of the ranking: labels that it tells apart, down to its depth."""
        measure = inner(self.measure)
        while measure.basis is not measure:
            measure = measure.basis
        lists = self.scorer.lists_at(weights).top(measure.depth)
        labels = measure._merged_labels(lists.labels, lists.judged.max_grade)
        return digest(np.ascontiguousarray(labels).tobytes(), size=16)


class BestOnLine(Record):
    """The best value on a line, and where: at positions on the way to a direction."""

    value: float
    interval: Interval
    direction: Floats


class Optima(Result, Record):
    """Local optima of a measure over feature weights, the best first: the result of `optima`.

    Neither a change of a single weight nor a step in any of the random directions improves an
    optimum. Two starts reached the same optimum if the values are equal and the rankings have the
    same labels, as far down as the measure looks.

    Attributes
    ----------
    measure : Measure
        The measure that was optimized.
    values : array of float
        The mean of the measure at each optimum.
    weights : array of shape (optima, features)
        The weights of each optimum.
    found : array of int
        How many starts reached each optimum.
    reached : array of int
        The number of the optimum that each start reached, from 0.
    notes : tuple of Note
        Notes on the numbers of starts and optima, and on starts that stopped early.
    names : tuple of str
        The names of the weights in tables.

    Examples
    --------
    >>> result = optima(([[1, 0], [0, 1], [1, 1]], [0, 2, 1], [0, 3]), "nDCG", fixed=2, restarts=3)
    >>> result.value, result.best.tolist()[1]
    (1.0, 1.0)
    """

    measure: Measure | Aggregate
    values: Floats
    weights: Floats
    found: Ints
    reached: Ints
    notes: tuple[Note, ...]
    names: tuple[str, ...]

    @property
    def best(self) -> Floats:
        """The weights of the best optimum."""
        return np.asarray(self.weights[0])

    @property
    def value(self) -> float:
        """The best value."""
        return float(self.values[0])

    def table(self) -> Table:
        """Return one row per optimum: its value, how many starts reached it, its weights."""
        columns = ("value", "found", *self.names)
        rows: list[tuple[Cell, ...]] = [
            (float(value), int(times), *own.tolist())
            for value, times, own in zip(self.values, self.found, self.weights, strict=True)
        ]
        return Table(columns, tuple(rows), note_texts(self.notes))

    def figure(self) -> Figure:
        """Plot the value of each optimum, the best first, and how many starts reached it."""
        from rankgauge.figures.space import optima_figure

        return optima_figure(self.values, self.found, str(self.measure))

    def _title(self) -> str:
        return f"Optima of {self.measure} over {count_phrase(self.weights.shape[1], 'weight')}"


def _collect_optima(ascent: FeatureAscent, climbs: list[AscentResult]) -> Optima:
    """The different optima that were reached, the best first."""
    if all(np.isnan(climb.value) for climb in climbs):
        raise RankgaugeError(f"{ascent.measure} is not defined for these documents")
    order = sorted(range(len(climbs)), key=lambda n: climbs[n].value, reverse=ascent.higher)
    rankings = [ascent.ranking_digest(climb.weights) for climb in climbs]
    optima: list[AscentResult] = []
    seen: list[bytes] = []
    reached = np.zeros(len(climbs), dtype=np.int64)
    for number in order:
        climb, ranking = climbs[number], rankings[number]
        for place, (first, alike) in enumerate(zip(optima, seen, strict=True)):
            if abs(first.value - climb.value) <= NEAR and alike == ranking:
                reached[number] = place
                break
        else:
            reached[number] = len(optima)
            optima.append(climb)
            seen.append(ranking)
    values = np.array([climb.value for climb in optima])
    found = np.bincount(reached, minlength=len(optima))
    as_good = int(found[np.abs(values - values[0]) <= NEAR].sum())
    texts = [
        f"{count_phrase(len(climbs), 'start')}, "
        f"{count_phrase(len(optima), 'optimum', 'optima')}; the best "
        f"value was reached from {count_phrase(as_good, 'start')}"
    ]
    if unfinished := sum(not climb.ended for climb in climbs):
        texts.append(
            f"{count_phrase(unfinished, 'ascent')} stopped after "
            f"{count_phrase(ascent.rounds, 'round')}, perhaps short of an optimum; raise "
            "`rounds`"
        )
    weights = np.array([climb.weights for climb in optima])
    names = tuple(map(ascent.scorer.name, range(ascent.scorer.width)))
    return Optima(ascent.measure, values, weights, found, reached, tuple(map(Note, texts)), names)

"""Tuning: the best weights of a fusion, found exactly, and what to expect of them on new topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.checks import Choice, Whole, checked, one_of
from rankgauge.comparison.systems import Comparison, compare
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.model import Run
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.fusion.mixing import LabelledPool, Mixture
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.pool import Pool, pool_of
from rankgauge.fusion.runs import Fusion, read_runs
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NORMALIZE,
    LEVEL,
    LEVELS,
    SEED,
    Absent,
)
from rankgauge.resampling import Drawing, Progress
from rankgauge.results import Result
from rankgauge.scores.model import Scores
from rankgauge.space.curves import Curve, Interval, MeanSteps, Steps, simplest
from rankgauge.space.lines import mean_of
from rankgauge.tables import Cell, PValue, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = "all"
"""Every normalisation is tried, and the best one taken."""
MARGIN = 0.005
"""How far below the best the plateau goes."""
FOLDS, REPEATS, SAMPLES = 5, 20, 1_000
RRF_K = (1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 300, 500, 1000)
"""The values of k that are tried for reciprocal rank fusion."""
TUNED, EQUAL, RRF, RRF_TUNED = "tuned", "equal weights", "rrf", "rrf, k tuned"
RESTARTS, MOST_ROUNDS = 8, 20


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Result):
    """The best weights of several runs: what `tune` found.

    `weights` are those of the runs, which add up to 1, and `value` is the mean of the measure with them,
    on the topics they were chosen on. `cross_validated` is what to expect of weights that are chosen
    this way on topics that were not used to choose them; `value` less that is the `optimism`. For two
    runs, `curve` has the mean for every weight of the second run, `best` the parts of it with the best
    value, `plateau` the part around the weight that is within a margin of the best, and `spread` an
    interval of the best weight over samples of topics.
    """

    runs: tuple[str, ...]
    measure: Measure | Aggregate
    weights: tuple[float, ...]
    value: float
    cross_validated: float
    normalize: str
    absent: Absent
    comparison: Comparison
    baselines: dict[str, float]
    curve: Curve | None
    best: tuple[Interval, ...]
    plateau: Interval | None
    spread: Interval | None
    topics: tuple[str, ...]
    own_weights: Floats
    notes: tuple[Note, ...]
    _pool: Pool = field(repr=False)

    @property
    def optimism(self) -> float:
        """By how much the value on the topics of the choice is too good."""
        return self.value - self.cross_validated

    def run(self, name: str = "fused") -> Run:
        """The runs fused with the best weights."""
        fusion = Fusion.of(
            "wsum", normalize=self.normalize, weights=self.weights, absent=self.absent
        )
        return fusion.fused(self._pool, name)

    def table(self) -> Table:
        """A row for the tuned weights, as cross-validated, and one for each alternative to them."""
        found, columns = self.comparison, ("way", "mean", "difference", "low", "high", "p")
        rows: list[tuple[Cell, ...]] = [(TUNED, self.cross_validated, None, None, None, None)]
        for pair, other in enumerate(found.second.tolist()):
            name = found.runs[other]
            numbers = (
                float(getattr(found, each)[0, pair]) for each in ("difference", "low", "high")
            )
            rows.append((name, self.baselines[name], *numbers, PValue(found.p[0, pair])))
        return Table(columns, tuple(rows), (self.advice, *worded(self.notes)))

    def topic_table(self) -> Table:
        """A row for each topic: its own best weight of the second run."""
        self._check_two("a best weight of each topic")
        rows = zip(self.topics, self.own_weights.tolist(), strict=True)
        note = "the best weight of a topic alone, which cannot be known for a new topic"
        return Table(("topic", "weight"), tuple(rows), (note,))

    def figure(self) -> Figure:
        """The mean for every weight of the second run, for two runs."""
        from rankgauge.figures.tuning import weight_curve

        self._check_two("a figure")
        assert self.curve is not None
        return weight_curve(
            self.curve.breaks,
            self.curve.values,
            (self.weights[1], self.value),
            self.plateau,
            self.baselines,
            measure=str(self.measure),
            first=self.runs[0],
            second=self.runs[1],
        )

    def _check_two(self, what: str) -> None:
        if self.curve is None:
            raise RankgaugeError(f"{counted(len(self.runs), 'run')}: {what} is for two runs")

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        singles = [name for name in self.runs if name in self.baselines]
        higher = inner(self.measure).direction == "higher"
        best = (max if higher else min)(singles, key=lambda name: self.baselines[name])
        pair = next(
            p
            for p, other in enumerate(self.comparison.second)
            if self.comparison.runs[other] == best
        )
        gain, low, high = (
            float(getattr(self.comparison, name)[0, pair]) for name in ("difference", "low", "high")
        )
        take = ", ".join(
            f"{w:.4g} for {name}" for w, name in zip(self.weights, self.runs, strict=True)
        )
        text = f"take {take}"
        if self.plateau is not None:
            text += f"; anything from {self.plateau.low:.2f} to {self.plateau.high:.2f} for "
            text += f"{self.runs[1]} is as good, within {MARGIN}"
        text += f"; on new topics expect {gain:+.3f} [{low:+.3f}, {high:+.3f}] over {best} alone"
        return text

    def _title(self) -> str:
        return f"Tuning of {counted(len(self.runs), 'run')} by {self.measure}"


@dataclass(frozen=True)
class Weighting:
    """Weights, and the normalisation they are for; for reciprocal rank fusion the number of its k."""

    weights: tuple[float, ...]
    normalize: str
    value: float


class _Pair:
    """Two runs with one normalisation: the best weight is found on the curve."""

    def __init__(self, mixture: Mixture, measure: Measure | Aggregate) -> None:
        self.measure = measure
        self.segment = mixture.segment(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        self.steps: Steps = self.segment.steps(inner(measure))
        self._means = MeanSteps(self.steps, measure)

    def best(self, weights: Floats | None = None) -> tuple[float, float]:
        """The weight of the second run that is best for topics with these weights, and its value."""
        breaks, values = self._means.curve(weights)
        curve = Curve(self.measure, breaks, values, self.steps, lambda _: np.nan)
        if np.isnan(values).all():
            return 0.5, np.nan
        part = curve.best[0]
        return simplest(part.low, part.high), curve.value

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The best weights for these topics, and their value."""
        weights = np.zeros(len(self.steps.before))
        weights[topics] = 1.0
        t, value = self.best(weights)
        return (1 - t, t), value

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self.steps.at(weights[1])


class _Several:
    """Three or more runs: coordinate ascent, each line searched exactly, from several starts."""

    def __init__(
        self, mixture: Mixture, measure: Measure | Aggregate, restarts: int, seed: int
    ) -> None:
        self.mixture, self.measure, self.restarts, self.seed = mixture, measure, restarts, seed

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The best weights for these topics that the ascent reaches, and their value."""
        mixture = self.mixture.take(topics)
        runs = mixture.scores.shape[1]
        random = np.random.default_rng((self.seed, len(topics)))
        starts = [np.full(runs, 1 / runs), *random.dirichlet(np.ones(runs), self.restarts - 1)]
        reached = [_ascent(mixture, self.measure, start) for start in starts]
        higher = inner(self.measure).direction == "higher"
        weights, value = max(reached, key=lambda each: each[1] if higher else -each[1])
        return tuple(weights.tolist()), value

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self.mixture.values_at(np.array(weights), inner(self.measure))


def _ascent(
    mixture: Mixture, measure: Measure | Aggregate, weights: Floats
) -> tuple[Floats, float]:
    """Better and better weights: along one run's weight after the other, the others in proportion."""
    sign = 1.0 if inner(measure).direction == "higher" else -1.0
    value = mean_of(mixture.values_at(weights, inner(measure)), measure)
    for _ in range(MOST_ROUNDS):
        before = value
        for run in range(len(weights)):
            others = np.where(np.arange(len(weights)) == run, 0.0, weights)
            if not others.sum():
                continue
            others, alone = others / others.sum(), np.eye(len(weights))[run]
            curve = mixture.segment(others, alone).curve(measure)
            part = curve.best[0]
            if sign * curve.value > sign * value:
                t = simplest(part.low, part.high)
                tried = (1 - t) * others + t * alone
                reached = mean_of(mixture.values_at(tried, inner(measure)), measure)
                if sign * reached > sign * value:
                    weights, value = tried, reached
        if not sign * value > sign * before + 1e-12:
            break
    return weights, value


class _Reciprocal:
    """Reciprocal rank fusion: k is the best of those that are tried."""

    def __init__(self, union: Pool, labelled: LabelledPool, measure: Measure | Aggregate) -> None:
        self.measure = measure
        self._of_k = {k: _rrf(union, labelled, inner(measure), k) for k in RRF_K}

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The best k for these topics, in place of weights, and its value."""
        sign = 1.0 if inner(self.measure).direction == "higher" else -1.0
        means = {k: mean_of(values[topics], self.measure) for k, values in self._of_k.items()}
        k = max(means, key=lambda each: sign * means[each])
        return (k,), means[k]

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self._of_k[int(weights[0])]


def _rrf(union: Pool, labelled: LabelledPool, measure: Measure, k: float = 60) -> Floats:
    scores = Fusion.of("rrf", k=k).scores(union)[labelled.rows]
    return Mixture(labelled.documents, scores[:, None]).values_at(np.ones(1), measure)


Fitter = _Pair | _Several | _Reciprocal


def _fit(ways: dict[str, Fitter], topics: Ints, sign: float) -> Weighting:
    """The best weights for these topics, over all normalisations."""
    fits = {name: way.fitted(topics) for name, way in ways.items()}
    name = max(fits, key=lambda each: sign * np.nan_to_num(fits[each][1], nan=-np.inf * sign))
    return Weighting(*(fits[name][0], name, fits[name][1]))


def _folds(topics: Ints, folds: int, repeats: int, seed: int) -> list[list[Ints]]:
    """Each time, the topics in so many parts, drawn by the seed and the number of the time."""
    drawn = (np.random.default_rng((seed, number)).permutation(topics) for number in range(repeats))
    return [np.array_split(order, folds) for order in drawn]


def _cross_validated(
    ways: dict[str, Fitter],
    topics: Ints,
    parts: list[list[Ints]],
    sign: float,
    progress: Progress | None,
) -> Floats:
    """Repeat × topic: the score of each topic by weights that were chosen without it."""
    count = len(next(iter(ways.values())).values(_fit(ways, topics, sign).weights))
    scores = np.full((len(parts), count), np.nan)
    for number, folds in enumerate(parts):
        for fold in folds:
            chosen = _fit(ways, np.setdiff1d(topics, fold), sign)
            scores[number, fold] = ways[chosen.normalize].values(chosen.weights)[fold]
        if progress is not None:
            progress(str(number))
    return scores


def tune(
    qrels: Qrels,
    runs: Runs,
    measure: AnyMeasure = "nDCG@10",
    *,
    normalize: str = DEFAULT_NORMALIZE,
    absent: Absent = DEFAULT_ABSENT,
    test_topics: Sequence[str] | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    samples: int = SAMPLES,
    restarts: int = RESTARTS,
    level: float = LEVEL,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Tuning:
    """The weights of runs in a weighted sum of their scores that are best by a measure.

    For two runs the mean of the measure is known for every weight, exactly, so nothing better exists.
    For more runs, one weight after the other is searched exactly, from several starts.

    Parameters
    ----------
    qrels, runs
        As `evaluate` takes them; at least two runs.
    measure
        The measure, or its text.
    normalize
        How the scores of each list are made comparable: min-max, max, sum, z, rank, borda or none; or
        all, to take the best of them, which is chosen anew in each part of the cross-validation.
    absent
        The score of a document in a list that lacks it: the minimum of that list, zero, or skip.
    test_topics
        Topics that take no part in the choice; `cross_validated` is then the mean over these.
    folds, repeats
        The cross-validation: in so many parts, so many times.
    samples
        How many samples of the topics the interval of the best weight is from; for two runs.
    restarts
        From how many weights the search starts; for three or more runs.
    level
        The level of the intervals.
    seed
        The seed of all that is drawn.
    progress
        Is called after each repeat of the cross-validation.

    >>> qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> bm25 = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"c": 0.7, "d": 0.1}}
    >>> tuning = tune(qrels, [bm25, dense], "RR", folds=2)
    >>> tuning.value, tuning.curve.breaks.tolist(), tuning.curve.values.tolist()
    (0.75, [0.5], [0.75, 0.75])
    """
    checked("normalize", normalize, Choice((ALL, *NORMALIZATIONS)))
    checked("absent", absent, one_of(Absent))
    checked("level", level, LEVELS)
    folds, repeats = checked("folds", folds, Whole(2)), checked("repeats", repeats, Whole(1))
    restarts = checked("restarts", restarts, Whole(1))
    drawing = Drawing.checked(samples, seed)
    evaluator = Evaluator(qrels, measure)
    if len(evaluator.measures) != 1:
        raise RankgaugeError(f"{measure}: several measures, expected one to tune by")
    (asked,) = evaluator.measures
    if inner(asked).direction == "none":
        raise RankgaugeError(f"{asked}: neither higher nor lower is better, so nothing is best")
    sign = 1.0 if inner(asked).direction == "higher" else -1.0
    read = read_runs(runs)
    singles = evaluator.scores(read, failures="raise")
    union = pool_of(read)
    labelled = LabelledPool.of(union, evaluator.judgments, evaluator.judged)
    names = list(NORMALIZATIONS) if normalize == ALL else [normalize]
    ways: dict[str, Fitter] = {}
    for name in names:
        given = DEFAULT_ABSENT if NORMALIZATIONS[name].fills else absent
        mixture = Mixture.of(union, labelled, name, given)
        ways[name] = (
            _Pair(mixture, asked) if len(read) == 2 else _Several(mixture, asked, restarts, seed)
        )
    topics, tested = _split(evaluator.queries, test_topics, folds)
    chosen = _fit(ways, topics, sign)
    way = ways[chosen.normalize]
    value = mean_of(way.values(chosen.weights)[topics], asked)
    rrf: dict[str, Fitter] = {RRF: _Reciprocal(union, labelled, asked)}
    equal = Mixture.of(union, labelled, chosen.normalize, absent).values_at(
        np.full(len(read), 1 / len(read)), inner(asked)
    )
    if tested is None:
        parts = _folds(topics, folds, repeats, seed)
        by_repeat = _cross_validated(ways, topics, parts, sign, progress)
        rrf_by_repeat = _cross_validated(rrf, topics, parts, sign, None)
        counted_topics = topics
    else:
        by_repeat = way.values(chosen.weights)[None, :]
        best_k = _fit(rrf, topics, sign)
        rrf_by_repeat = rrf[RRF].values(best_k.weights)[None, :]
        counted_topics = tested
    rows = {
        TUNED: by_repeat.mean(axis=0),
        **{name: singles.values[r, :, 0] for r, name in enumerate(singles.runs)},
        EQUAL: equal,
        RRF: rrf[RRF].values((60,)),
        RRF_TUNED: rrf_by_repeat.mean(axis=0),
    }
    matrix = np.array(list(rows.values()))[:, counted_topics]
    comparison = compare(
        Scores.from_matrix(matrix, runs=list(rows), measure=str(inner(asked))),
        baseline=[name for name in rows if name != TUNED],
        correction=None,
        level=level,
    )
    cross = float(np.mean([mean_of(each[counted_topics], asked) for each in by_repeat]))
    baselines = {
        name: mean_of(each[counted_topics], asked) for name, each in rows.items() if name != TUNED
    }
    curve = best = plateau = spread = None
    own = np.zeros(0)
    if isinstance(way, _Pair):
        curve = way.segment.curve(asked)
        best = tuple(curve.best)
        plateau = next(
            (part for part in curve.within(MARGIN) if part.low <= chosen.weights[1] <= part.high),
            None,
        )
        spread = _spread(way, topics, drawing, level)
        own = np.array(
            [way.fitted(np.array([topic]))[0][1] for topic in range(len(evaluator.queries))]
        )
    notes = tuple(
        _about(asked, value, cross, folds, repeats, tested, level, best, spread, curve, chosen)
    )
    return Tuning(
        runs=singles.runs,
        measure=asked,
        weights=chosen.weights,
        value=value,
        cross_validated=cross,
        normalize=chosen.normalize,
        absent=absent,
        comparison=comparison,
        baselines=baselines,
        curve=curve,
        best=best or (),
        plateau=plateau,
        spread=spread,
        topics=evaluator.queries,
        own_weights=own,
        notes=notes,
        _pool=union,
    )


def _about(
    measure: Measure | Aggregate,
    value: float,
    cross: float,
    folds: int,
    repeats: int,
    tested: Ints | None,
    level: float,
    best: tuple[Interval, ...] | None,
    spread: Interval | None,
    curve: Curve | None,
    chosen: Weighting,
) -> Iterator[Note]:
    """How the numbers came about, and what not to conclude."""
    how = f"{folds} parts, {repeats} times" if tested is None else "on the test topics"
    yield Note(f"{measure} by weights that were chosen without the topic: {how}", column="tuned")
    yield Note(
        f"the best weights score {value:.4f} on the topics they were chosen on; {value - cross:+.4f} of "
        "it is optimism"
    )
    yield Note(
        f"mean of tuned minus mean; {100 * level:.10g}% interval and p of a paired t test over topics, "
        "not corrected",
        column="difference",
    )
    if best and spread is not None and curve is not None:
        parts = ", ".join(f"{part.low:.6g} to {part.high:.6g}" for part in best[:3])
        yield Note(
            f"the best weight of the second run: {parts}; on {100 * level:.10g}% of samples of the "
            f"topics it is from {spread.low:.3g} to {spread.high:.3g}"
        )
        yield Note(
            f"with weight 0 and 1 exactly: {curve.start:.4f} and {curve.end:.4f}; documents that a run "
            "lacks are tied there"
        )
    yield Note(f"scores are normalised by {chosen.normalize}")


def _split(
    queries: Sequence[str], test_topics: Sequence[str] | None, folds: int
) -> tuple[Ints, Ints | None]:
    """The topics to choose by, and those to test on."""
    every = np.arange(len(queries))
    if test_topics is None:
        if len(queries) < folds:
            raise RankgaugeError(
                f"{counted(len(queries), 'topic')} in {folds} parts, expected at least a topic a part"
            )
        return every, None
    place = {query: number for number, query in enumerate(queries)}
    unknown = [topic for topic in test_topics if topic not in place]
    if unknown:
        raise RankgaugeError(f"test topic {unknown[0]!r} is not judged; leave it out")
    tested = np.unique([place[topic] for topic in test_topics])
    topics = np.setdiff1d(every, tested)
    if not len(topics) or not len(tested):
        raise RankgaugeError(
            "all topics on one side, expected some to choose by and some to test on"
        )
    return topics, tested


def _spread(way: _Pair, topics: Ints, drawing: Drawing, level: float) -> Interval:
    """An interval of the best weight over samples of the topics, drawn with replacement."""
    random = np.random.default_rng(drawing.seed)
    counts = np.zeros(len(way.steps.before))
    weights = []
    for _ in range(drawing.samples):
        counts[topics] = random.multinomial(len(topics), np.full(len(topics), 1 / len(topics)))
        weights.append(way.best(counts)[0])
    low, high = np.quantile(weights, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))

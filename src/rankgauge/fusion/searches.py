"""Searches for the best weights of runs: on the curve of two, by ascent for more, and over k of rrf."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.policies import RRF_K as USUAL_K
from rankgauge.core.records import Record, Value
from rankgauge.core.resampling import Drawing, Progress
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.mixing import LabelledPool, Mixture
from rankgauge.fusion.pool import Pool
from rankgauge.fusion.runs import Fusion
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.space.ascent import climbed
from rankgauge.space.curves import NEAR, Curve, Interval, MeanSteps, Steps, simplest
from rankgauge.space.lines import mean_of
from rankgauge.workers import AnyExecutor, outcomes

RRF_K = (1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 300, 500, 1000)
"""The values of k that are tried for reciprocal rank fusion."""


class Weighting(Value):
    """Weights, and the normalisation they are for; for reciprocal rank fusion the number of its k."""

    weights: tuple[float, ...]
    value: float
    normalize: str


class PairSearch:
    """Two runs with one normalisation: the best weight is found on the curve."""

    def __init__(self, mixture: Mixture, measure: Measure | Aggregate) -> None:
        self.measure = measure
        self.segment = mixture.segment(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        self.steps: Steps = self.segment.steps(inner(measure))
        self._means = MeanSteps(self.steps, measure)

    def best(self, weights: Floats) -> tuple[Interval, float]:
        """The widest interval of the weight of the second run that is best, and its value, where each
        topic counts as often as its own weight says."""
        breaks, values = self._means.curve(weights)
        if np.isnan(values).all():
            return Interval(0.0, 1.0), np.nan
        curve = Curve(self.measure, breaks, values, self.steps, lambda _: np.nan)
        return curve.best[0], curve.value

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The best weights for these topics, and their value."""
        weights = np.zeros(len(self.steps.before))
        weights[topics] = 1.0
        part, value = self.best(weights)
        t = simplest(*part)
        return (1 - t, t), value

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self.steps.at(weights[1])


class Ascent:
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
        reached = [ascent(mixture, self.measure, start) for start in starts]
        higher = inner(self.measure).direction == "higher"
        weights, value = max(reached, key=lambda each: each[1] if higher else -each[1])
        return tuple(_shortened(mixture, self.measure, weights, value).tolist()), value

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self.mixture.values_at(np.array(weights), inner(self.measure))


def ascent(mixture: Mixture, measure: Measure | Aggregate, weights: Floats) -> tuple[Floats, float]:
    """Better and better weights: along one run's weight after the other, the others in proportion."""
    higher = inner(measure).direction == "higher"
    sign = 1.0 if higher else -1.0

    def best_weight(run: int, now: Floats, value: float) -> Floats | None:
        others = np.where(np.arange(len(now)) == run, 0.0, now)
        if not others.sum():
            return None
        others, alone = others / others.sum(), np.eye(len(now))[run]
        curve = mixture.segment(others, alone).curve(measure)
        # Between the ends, without the run, and the run alone: documents are tied at the ends.
        promised = {curve.point: curve.value, 0.0: curve.start, 1.0: curve.end}
        t = max(promised, key=lambda each: sign * np.nan_to_num(promised[each], nan=-sign * np.inf))
        if not sign * promised[t] > sign * value + NEAR:
            return None
        return np.asarray((1 - t) * others + t * alone)

    searches = [partial(best_weight, run) for run in range(len(weights))]
    reached = climbed(
        weights,
        lambda tried: mean_of(mixture.values_at(tried, inner(measure)), measure),
        lambda: searches,
        higher=higher,
    )
    return reached.weights, reached.value


def _shortened(
    mixture: Mixture, measure: Measure | Aggregate, weights: Floats, value: float
) -> Floats:
    """The weights with as few decimals as give the same value."""
    for digits in range(2, 9):
        short = np.round(weights, digits)
        short[np.argmax(short)] += 1 - short.sum()
        short = np.round(short, digits)
        if mean_of(mixture.values_at(short, inner(measure)), measure) == value:
            return short
    return weights


class FixedWeights:
    """Equal weights: there is nothing to search, but the normalisation may be chosen."""

    def __init__(self, mixture: Mixture, measure: Measure | Aggregate) -> None:
        runs = mixture.scores.shape[1]
        self.measure = measure
        self.weights = (1 / runs,) * runs
        self._values = mixture.values_at(np.array(self.weights), inner(measure))

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The weights, and their value for these topics."""
        return self.weights, mean_of(self._values[topics], self.measure)

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self._values


class ReciprocalSearch:
    """Reciprocal rank fusion: k is the best of those that are tried."""

    def __init__(self, union: Pool, labelled: LabelledPool, measure: Measure | Aggregate) -> None:
        self.measure = measure
        self._of_k = {k: _rrf(union, labelled, inner(measure), k) for k in RRF_K}

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The best k for these topics, in place of weights, and its value."""
        sign = 1.0 if inner(self.measure).direction == "higher" else -1.0
        means = {k: mean_of(values[topics], self.measure) for k, values in self._of_k.items()}
        usual_first = sorted(
            means, key=lambda each: each != USUAL_K
        )  # of equal ones, the usual one
        k = max(usual_first, key=lambda each: sign * means[each])
        return (k,), means[k]

    def values(self, weights: tuple[float, ...]) -> Floats:
        """The score of each topic."""
        return self._of_k[int(weights[0])]


def _rrf(union: Pool, labelled: LabelledPool, measure: Measure, k: float = 60) -> Floats:
    scores = Fusion.of("rrf", k=k).scores(union)[labelled.rows]
    return Mixture(labelled.documents, scores[:, None]).values_at(np.ones(1), measure)


Search = PairSearch | Ascent | FixedWeights | ReciprocalSearch


def weightings(ways: Mapping[str, Search], topics: Ints, sign: float) -> list[Weighting]:
    """The best weights for these topics under each normalisation, the best of them first."""
    fits = [Weighting(*way.fitted(topics), name) for name, way in ways.items()]
    return sorted(fits, key=lambda fit: -sign * np.nan_to_num(fit.value, nan=-np.inf * sign))


def best_weighting(ways: Mapping[str, Search], topics: Ints, sign: float) -> Weighting:
    """The best weights for these topics, over all normalisations."""
    return weightings(ways, topics, sign)[0]


def folds_of(topics: Ints, folds: int, repeats: int, seed: int) -> list[list[Ints]]:
    """Each time, the topics in so many parts, drawn by the seed and the number of the time."""
    drawn = (np.random.default_rng((seed, number)).permutation(topics) for number in range(repeats))
    return [np.array_split(order, folds) for order in drawn]


class HeldOut(Record):
    """The score of each topic by weights that were chosen without its part of the topics."""

    ways: Mapping[str, Search]
    topics: Ints
    sign: float

    def __call__(self, parts: list[Ints]) -> Floats:
        scores = np.full(int(self.topics.max()) + 1, np.nan)
        for part in parts:
            scores[part] = self.fitted_on(np.setdiff1d(self.topics, part))[part]
        return scores[self.topics]

    def fitted_on(self, topics: Ints) -> Floats:
        """The score of every topic by the choice that is best for these."""
        chosen = best_weighting(self.ways, topics, self.sign)
        return self.ways[chosen.normalize].values(chosen.weights)


def cross_validated(
    work: HeldOut,
    repeats: list[list[Ints]],
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Repeat × topic: the scores by weights that were chosen without the topic."""
    scores = []
    for number, (_, result) in enumerate(outcomes(work, repeats, executor)):
        if isinstance(result, RankgaugeError):
            raise result
        scores.append(result)
        if progress is not None:
            progress(str(number))
    return np.array(scores)


def weight_spread(way: PairSearch, topics: Ints, drawing: Drawing, level: float) -> Interval:
    """An interval that covers the best weights over samples of the topics, drawn with replacement."""
    random = np.random.default_rng(drawing.seed)
    counts = np.zeros(len(way.steps.before))
    parts = []
    for _ in range(drawing.samples):
        counts[topics] = random.multinomial(len(topics), np.full(len(topics), 1 / len(topics)))
        parts.append(way.best(counts)[0])
    lows, highs = np.array(parts).T
    return Interval(
        float(np.quantile(lows, (1 - level) / 2)), float(np.quantile(highs, (1 + level) / 2))
    )

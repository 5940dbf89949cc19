"""Searches for the best weights of runs: on the curve of two, by ascent for more, and over k of rrf."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.policies import RRF_K as USUAL_K
from rankgauge.core.records import Record, Value
from rankgauge.core.resampling import SamplingOptions
from rankgauge.fusion.mixing import LabeledPool, Mixture
from rankgauge.fusion.pool import Pool
from rankgauge.fusion.runs import Fusion
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.space.ascent import ascend
from rankgauge.space.curves import NEAR, Curve, Interval, MeanSteps, sign_of, simplest_number
from rankgauge.space.lines import mean_of

RRF_K = (1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 300, 500, 1000)
"""The values of k tried for reciprocal rank fusion."""


class Weighting(Value):
    """Weights, and the normalization they are for; for reciprocal rank fusion the number of its k."""

    weights: tuple[float, ...]
    value: float
    normalize: str


class PairSearch:
    """Two runs with one normalization: the best weight is found on the curve."""

    def __init__(self, mixture: Mixture, measure: Measure | Aggregate) -> None:
        self.measure = measure
        self.steps = mixture.segment(*np.eye(2)).steps(inner(measure))
        self._means = MeanSteps(self.steps, measure)

    def best(self, weights: Floats) -> tuple[Interval, float]:
        """Return the widest interval of the weight of the second run that is best, and its value.

        Each query counts as often as its own weight says.
        """
        breaks, values = self._means.curve(weights)
        if np.isnan(values).all():
            return Interval(0.0, 1.0), np.nan
        curve = Curve(self.measure, breaks, values, self.steps, lambda _: np.nan)
        return curve.best[0], curve.value

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        weights = np.zeros(len(self.steps.before))
        weights[topics] = 1.0
        part, value = self.best(weights)
        t = simplest_number(*part)
        return (1 - t, t), value

    def values(self, weights: tuple[float, ...]) -> Floats:
        return self.steps.at(weights[1])


class AscentSearch:
    """Three or more runs: coordinate ascent, each line searched exactly, from several starts."""

    def __init__(
        self, mixture: Mixture, measure: Measure | Aggregate, restarts: int, seed: int
    ) -> None:
        self.mixture, self.measure, self.restarts, self.seed = mixture, measure, restarts, seed

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        mixture = self.mixture.take(topics)
        runs = mixture.scores.shape[1]
        random = np.random.default_rng((self.seed, len(topics)))
        starts = [np.full(runs, 1 / runs), *random.dirichlet(np.ones(runs), self.restarts - 1)]
        reached = [ascend_run_weights(mixture, self.measure, start) for start in starts]
        sign = sign_of(self.measure)
        weights, value = max(reached, key=lambda each: sign * each[1])
        return tuple(_shorten_weights(mixture, self.measure, weights, value).tolist()), value

    def values(self, weights: tuple[float, ...]) -> Floats:
        return self.mixture.values_at(np.array(weights), inner(self.measure))


def ascend_run_weights(
    mixture: Mixture, measure: Measure | Aggregate, weights: Floats
) -> tuple[Floats, float]:
    """Better and better weights: along one run's weight after the other, the others in proportion."""
    sign = sign_of(measure)

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
    reached = ascend(
        weights,
        lambda tried: mean_of(mixture.values_at(tried, inner(measure)), measure),
        lambda: searches,
        higher=sign > 0,
    )
    return reached.weights, reached.value


def _shorten_weights(
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
    """Equal weights: there is nothing to search, but the normalization may be chosen."""

    def __init__(self, mixture: Mixture, measure: Measure | Aggregate) -> None:
        runs = mixture.scores.shape[1]
        self.measure = measure
        self.weights = (1 / runs,) * runs
        self._values = mixture.values_at(np.array(self.weights), inner(measure))

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        return self.weights, mean_of(self._values[topics], self.measure)

    def values(self, weights: tuple[float, ...]) -> Floats:
        return self._values


class ReciprocalSearch:
    """Reciprocal rank fusion: k is the best of those that are tried."""

    def __init__(self, union: Pool, labeled: LabeledPool, measure: Measure | Aggregate) -> None:
        self.measure = measure
        self._of_k = {}
        for k in RRF_K:
            scores = Fusion.of("rrf", k=k).scores(union)[labeled.rows]
            fused = Mixture(labeled.documents, scores[:, None])
            self._of_k[k] = fused.values_at(np.ones(1), inner(measure))

    def fitted(self, topics: Ints) -> tuple[tuple[float, ...], float]:
        """The best k for these queries, in place of weights, and its value."""
        sign = sign_of(self.measure)
        means = {k: mean_of(values[topics], self.measure) for k, values in self._of_k.items()}
        k = max(
            (USUAL_K, *means), key=lambda each: sign * means[each]
        )  # of equal ones, the usual one
        return (k,), means[k]

    def values(self, weights: tuple[float, ...]) -> Floats:
        return self._of_k[int(weights[0])]


Search = PairSearch | AscentSearch | FixedWeights | ReciprocalSearch
"""`fitted` returns the best weights for some queries and their value; `values` scores each query."""


class Searches(Record):
    """A search under each normalization, of which the best counts."""

    by_name: Mapping[str, Search]
    measure: Measure | Aggregate

    def weightings(self, topics: Ints) -> list[Weighting]:
        """The best weights for these queries under each normalization, the best of them first."""
        sign = sign_of(self.measure)
        fits = [Weighting(*search.fitted(topics), name) for name, search in self.by_name.items()]
        return sorted(fits, key=lambda fit: -sign * np.nan_to_num(fit.value, nan=-np.inf * sign))

    def fit_and_score(self, topics: Ints) -> Floats:
        """The score of every query by the choice that is best for these."""
        chosen = self.weightings(topics)[0]
        return self.by_name[chosen.normalize].values(chosen.weights)


def weight_spread(
    way: PairSearch, topics: Ints, drawing: SamplingOptions, level: float
) -> Interval:
    """An interval that covers the best weights over samples of the queries, drawn with replacement."""
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

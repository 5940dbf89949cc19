"""Coordinate ascent: one weight after the other is set to what is best for a measure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Choice, Integer, Number
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.rankers.base import EQUAL_LABELS, Ranker, RankerSettings
from rankgauge.rankers.linear import LinearRanker, feature_means, fill_missing, weighted_sums
from rankgauge.rankers.monitoring import Monitor, is_undecided
from rankgauge.rankers.settings import MEASURES, MONITORED, setting, setting_from
from rankgauge.space.ascent import FeatureAscent, LineSearch, ascend
from rankgauge.space.scorers import LinearScorer

EXACT, STEPS = "exact", "steps"


class CoordinateAscent(LinearRanker):
    """A weighted sum of features, whose weights are optimized one at a time.

    Each ascent cycles through all weights in rounds, until a whole round gains little. It
    optimizes the measure itself, not a smooth substitute. The first ascent starts with equal
    weights, the others with random ones. With a validation set, the weights that are best on it
    after some round are kept. Without one, the weights that are best on the training data are
    kept.

    A NaN value counts as the mean of its feature. A feature that is constant within each query
    gets no weight.

    Parameters
    ----------
    preset : {"default", "ranklib"}, default "default"
        The source of settings that are None: "default" for values that work well today, "ranklib"
        for the defaults of RankLib. Where the two differ, RankLib's default is noted below.
    normalize : {"none", "z", "min-max", "query-z", "query-min-max"}, default "query-z"
        How feature values are normalized: over all training data, or within each query if the name
        starts with "query-". RankLib: "none".
    measure : measure or str, default "nDCG(gain=exp2)@10"
        The measure used on the validation set, for example to decide when to stop. RankLib:
        "ERR@10".
    seed : int, default 0
        The seed of the random number generator.
    objective : measure or str, default "nDCG(gain=exp2)@10"
        The measure that training maximizes. RankLib: "ERR@10".
    search : {"exact", "steps"}, default "exact"
        How the best value of a weight is found. "exact": no value is better; "steps": some values
        are tried. RankLib: "steps".
    restarts : int, default 3
        The number of ascents, each from a different starting point. RankLib: 5.
    tolerance : float, default 0.001
        A round that gains no more than this ends the ascent.
    rounds : int, default 25
        The maximum number of rounds per ascent. RankLib: 100.
    steps : int, default 25
        With search="steps", the number of values tried on each side.
    step : float, default 0.05
        With search="steps", the length of the first step.
    growth : float, default 2.0
        With search="steps", the factor by which each step is longer than the one before.

    Attributes
    ----------
    history_ : dict of list of float
        One number per round. "start" is the number of the ascent. A column such as "training AP"
        has the objective on the training data. With a validation set, another column is named
        after the measure and has its value on the validation set.

    Notes
    -----
    With search="exact", the best value of a weight is found exactly: as a weight changes, the
    measure changes only where two documents swap places. With search="steps", several values on
    both sides are tried.

    Metzler and Croft 2007, Linear feature-based models for information retrieval.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = CoordinateAscent(objective="AP", restarts=2).fit(make_features(40))
    >>> list(ranker.history_)
    ['start', 'training AP']
    """

    summary: ClassVar[str] = (
        "a weighted sum of features, with each weight in turn set to its best value for a measure"
    )
    optimizes: ClassVar[str] = "{objective} on the training data"
    source: ClassVar[str] = (
        "Metzler and Croft 2007, Linear feature-based models for information retrieval"
    )

    normalize: str | None = setting_from(Ranker, "normalize", default="query-z", ranklib="none")
    objective: Any = setting(
        MEASURES,
        "The measure that training maximizes.",
        default=MONITORED,
        ranklib="ERR@10",
    )
    search: str | None = setting(
        Choice((EXACT, STEPS)),
        (
            "How the best value of a weight is found. exact: no value is better; steps: "
            "several values are tried."
        ),
        default=EXACT,
        ranklib=STEPS,
    )
    restarts: int | None = setting(
        Integer(1),
        "The number of ascents, each from a different starting point.",
        default=3,
        ranklib=5,
    )
    tolerance: float | None = setting(
        Number(0.0), "An ascent stops after a round that gains no more than this.", default=0.001
    )
    rounds: int | None = setting(
        Integer(1), "The maximum number of rounds per ascent.", default=25, ranklib=100
    )
    steps: int | None = setting(
        Integer(1, 100), "With search=steps: the number of values tried on each side.", default=25
    )
    step: float | None = setting(
        Number(0.0, closed=False), "With search=steps: the length of the first step.", default=0.05
    )
    growth: float | None = setting(
        Number(1.0, 10.0),
        "With search=steps: the factor by which each step is longer than the one before.",
        default=2.0,
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        means, objective = feature_means(training.values), settings["objective"]
        ordered = training.in_tie_order()
        scorer = LinearScorer.of(replace(ordered, values=fill_missing(ordered.values, means)))
        ascent = FeatureAscent(scorer, objective, None, 0, settings["rounds"], settings["seed"])
        monitor = None if validation is None else Monitor(validation, settings["measure"])
        candidates: list[Floats] = []
        reached: dict[str, list[float]] = {"start": [], f"training {objective}": []}
        if monitor is not None:
            reached[monitor.name] = []

        def after(weights: Floats, value: float) -> None:
            numbers = [float(start), value]
            if monitor is not None and validation is not None:
                numbers.append(monitor(weighted_sums(validation.values, means, weights, 0.0)))
            for values, number in zip(reached.values(), numbers, strict=True):
                values.append(number)
            candidates.append(weights)

        way: ExactLineSearches | TrialStepSearches = ExactLineSearches(ascent)
        if settings["search"] == STEPS:
            way = TrialStepSearches(
                scorer, objective, *(settings[n] for n in ("steps", "step", "growth"))
            )
        if not scorer.varying_features or EQUAL_LABELS in self.remarks_:
            self.history_ = reached
            self.keep(means, np.zeros(scorer.width))
            return
        for start in range(settings["restarts"]):
            random, first = np.random.default_rng((settings["seed"], start)), np.zeros(scorer.width)
            first[scorer.varying_features] = (
                random.standard_normal(len(scorer.varying_features)) if start else 1.0
            )
            ascend(
                way.scale_weights(first),
                lambda weights: scorer.mean_at(weights, objective),
                partial(way.searches, random),
                higher=ascent.higher,
                rounds=settings["rounds"],
                tolerance=settings["tolerance"],
                after=after,
            )
        self.history_ = reached
        training_values = reached[f"training {objective}"]
        if monitor is not None and not is_undecided(reached[monitor.name]):
            best = monitor.best(reached[monitor.name])
        else:
            best = int(np.argmax(training_values) if ascent.higher else np.argmin(training_values))
        self.keep(means, candidates[best])


class ExactLineSearches(Record):
    """Line searches that find the best value of a weight exactly, and try 0 beside.

    At 0 the feature has no say, so documents may be tied, as they are at no value near 0.
    """

    ascent: FeatureAscent

    def scale_weights(self, weights: Floats) -> Floats:
        """The same ranking by weights of length 1."""
        return self.ascent.scale_weights(weights)

    def searches(self, random: np.random.Generator) -> Iterable[LineSearch]:
        """The searches of a round, weights in a drawn order: along each, and without its feature."""
        for number in random.permutation(self.ascent.scorer.varying_features).tolist():
            yield self.ascent.along(np.eye(self.ascent.scorer.width)[number])
            yield partial(self.without, number)

    def without(self, number: int, weights: Floats, value: float) -> Floats | None:
        """The weights without a feature; None where it has no say already, or is the only one."""
        others = np.where(np.arange(len(weights)) == number, 0.0, weights)
        return self.scale_weights(others) if weights[number] and others.any() else None


class TrialStepSearches(Record):
    """Line searches that try values of a weight on both sides, at growing distances, and 0.

    Where the first step is more than half of the weight, it is that share of the weight: small weights
    move by small steps.
    """

    scorer: LinearScorer
    measure: Measure | Aggregate
    steps: int
    step: float
    growth: float

    def scale_weights(self, weights: Floats) -> Floats:
        """The same ranking by weights whose sizes have the sum 1."""
        return np.asarray(weights / np.abs(weights).sum())

    def searches(self, random: np.random.Generator) -> Iterable[LineSearch]:
        """The searches of a round: along each weight, in a drawn order."""
        for number in random.permutation(self.scorer.varying_features).tolist():
            yield partial(self.best, number)

    def best(self, number: int, weights: Floats, value: float) -> Floats | None:
        """The best weights that were tried; None where none is better."""
        sign = 1.0 if inner(self.measure).direction == "higher" else -1.0
        better, others = None, weights.copy()
        others[number] = 0.0
        base, column = self.scorer.scores(others), self.scorer.values[:, number]
        candidates = self.candidate_values(float(weights[number]))
        scores = (base + tried * column for tried in candidates)
        means = self.scorer.means_of_scores(scores, self.measure)
        for tried, reached in zip(candidates, means, strict=True):
            if sign * reached > sign * value:
                value, better = reached, tried
        if better is None:
            return None
        others[number] = better
        return self.scale_weights(others) if others.any() else None

    def candidate_values(self, weight: float) -> list[float]:
        """The values that are tried for a weight."""
        first = (
            self.step if weight == 0 or self.step <= abs(weight) / 2 else self.step * abs(weight)
        )
        distances = np.cumsum(first * self.growth ** np.arange(self.steps))
        return [*(weight + distances).tolist(), *(weight - distances).tolist(), 0.0]

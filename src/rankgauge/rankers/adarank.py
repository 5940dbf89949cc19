"""AdaRank: a weighted sum of features, chosen one a round for the queries that still rank badly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Values
from rankgauge.core.checks import Choice, Integer, Number
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.rankers.base import EQUAL_LABELS, Ranker, RankerSettings, has_pairs
from rankgauge.rankers.linear import LinearRanker, check_sizes, feature_means, fill_missing
from rankgauge.rankers.monitoring import Monitor, is_undecided
from rankgauge.rankers.settings import DIRECTIONS, MEASURES, MONITORED, setting, setting_from

LEAST = 1e-12
"""A feature whose weighted mean is not above this is not added; and a feature that ranks every query
perfectly is weighed as if this were missing, since its weight would be infinite."""

TRAINING = "training"
"""The prefix of the objective's name in `history_`."""
FEATURE, ALPHA = "feature", "alpha"
"""The names of the other columns of `history_`."""

STALLED = "training stalled: rounds chose the same feature as the previous round and gained nothing"
NOTHING = (
    "nothing was learned: no feature ranks any query better than the worst value of the objective"
)
ENSEMBLE = "ensemble"

LARGEST = 1e100
"""Larger values could overflow when weighted sums are computed."""


class AdaRank(LinearRanker):
    """A weighted sum of features, added one at a time for the queries that are still ranked badly.

    Each round adds one feature. Queries that are ranked badly count more in the next round.

    The paper's rule, select="weighted", chooses the feature whose own rankings have the best
    weighted mean over the queries. It often stalls: a strong feature is chosen again, and neither
    the rankings nor the weights of the queries change. `history_` shows this, and `notes` reports
    it.

    select="ensemble" is not in the paper. It chooses the feature with which the whole sum ranks
    best, and ends when no feature raises the objective. Therefore, it never stalls, and each round
    is a gain. However, it tries each feature with only one weight, the one that the paper's rule
    gives it. If this weight is too large for every feature, training ends after the first feature.

    A NaN value counts as the mean of its feature.

    `tolerance` and `rounds` decide when training stops; the validation set does not. With a
    validation set, the weights of the round with the best `measure` on it are kept. Without one,
    the weights of the last round are kept, or those of the round before if the last round stopped
    training.

    Parameters
    ----------
    preset : {"default", "ranklib"}, default "default"
        The source of settings that are None: "default" for values that work well today, "ranklib"
        for the defaults of RankLib. Where the two differ, RankLib's default is noted below.
    normalize : {"none", "z", "min-max", "query-z", "query-min-max"}, default "min-max"
        How feature values are normalized: over all training data, or within each query if the name
        starts with "query-". RankLib: "none".
    measure : measure or str, default "nDCG(gain=exp2)@10"
        The measure used on the validation set, for example to decide when to stop. RankLib:
        "ERR@10".
    seed : int, default 0
        The seed of the random number generator.
    objective : measure or str, default "nDCG(gain=exp2)@10"
        The measure that training maximizes. RankLib: "ERR@10".
    select : {"weighted", "ensemble"}, default "weighted"
        How a feature is chosen. "weighted": the feature that ranks the weighted queries best;
        "ensemble": the feature with which the sum ranks best, as long as the objective rises.
    rounds : int, default 500
        The maximum number of rounds.
    tolerance : float, default 0.002
        Training stops after a round that lowers the objective by this much or more, as in RankLib.
        0: after a round that does not raise it. Only select="weighted" uses it.
    repeats : int, default 5
        The maximum number of times in a row that a feature may be chosen.
    directions : {"up", "both"}, default "up"
        Which values of a feature are better. "up": the higher ones, as in the paper; "both": also
        the lower ones.

    Attributes
    ----------
    history_ : dict of list of float
        One number per round. The first column, such as "training AP", is the objective on the
        training data after the round. "feature" is the feature that was added (counted from 1, as
        in files), and "alpha" is the amount added to its weight. With a validation set, another
        column is named after the measure and has its value after the round.

    Notes
    -----
    Any measure can be the `objective`. If higher values are better and all values lie between −1
    and 1, they are used as they are. Otherwise they are rescaled: the worst value that any feature
    has on any training query becomes 0, and the best becomes 1. For gm(AP), which is a mean of
    logarithms, the logarithms are rescaled. Queries on which the measure is undefined are skipped.

    Xu and Li 2007, AdaRank: a boosting algorithm for information retrieval.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = AdaRank(tolerance=0).fit(make_features(40))
    >>> ranker.history_["feature"]
    [1, 1]
    >>> ranker.notes()[0].kind
    'training stalled: rounds chose the same feature as the previous round and gained nothing'
    """

    summary: ClassVar[str] = (
        "a weighted sum of features, chosen for the queries that are ranked badly"
    )
    optimizes: ClassVar[str] = "{objective}, through an exponential loss over queries"
    source: ClassVar[str] = (
        "Xu and Li 2007, AdaRank: a boosting algorithm for information retrieval"
    )

    normalize: str | None = setting_from(Ranker, "normalize", default="min-max", ranklib="none")
    objective: object = setting(
        MEASURES, "The measure that training maximizes.", default=MONITORED, ranklib="ERR@10"
    )
    select: str | None = setting(
        Choice(("weighted", ENSEMBLE)),
        "How a feature is chosen. weighted: the one that ranks the weighted queries best; "
        "ensemble: the one with which the sum ranks best, as long as the objective rises.",
        default="weighted",
    )
    rounds: int | None = setting(Integer(1), "The maximum number of rounds.", default=500)
    tolerance: float | None = setting(
        Number(0.0),
        "Training stops after a round that lowers the objective by this much or more, as in "
        "RankLib; 0: after a round that does not raise it. Only for select=weighted.",
        default=0.002,
    )
    repeats: int | None = setting(
        Integer(1), "The maximum number of times in a row that a feature may be chosen.", default=5
    )
    directions: str | None = setting(
        DIRECTIONS,
        (
            "Which values of a feature are better. up: the higher ones, as in the paper; "
            "both: also the lower ones."
        ),
        default="up",
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        check_sizes(training, LARGEST)
        means = feature_means(training.values)
        sums = FeatureScorer(training, means)
        objective = Monitor(training, settings["objective"])
        boosting = Boosting(sums, objective, both=settings["directions"] == "both")
        monitor = None if validation is None else Monitor(validation, settings["measure"])
        others = None if validation is None else FeatureScorer(validation, means)
        history: dict[str, list[float]] = {f"{TRAINING} {objective.name}": []}
        history |= {FEATURE: [], ALPHA: []}
        weights, measured = [np.zeros(sums.width)], []
        for step in boosting.steps(settings) if has_pairs(training) else ():
            row = (step.value, step.feature + 1, step.alpha)
            for key, value in zip(history, row, strict=True):
                history[key].append(value)
            weights.append(step.weights)
            if monitor is not None and others is not None:
                measured.append(monitor(others(step.weights)))
        kept = len(weights) - 1 - boosting.fell
        if monitor is not None:
            history[monitor.name] = measured
            if not is_undecided(measured):
                kept = monitor.best(measured) + 1
        self.history_ = history
        self.keep(means, weights[kept])

    def notes(self) -> tuple[Note, ...]:
        self.check_fitted()
        notes = super().notes()
        (objective,) = (name for name in self.history_ if name.startswith(f"{TRAINING} "))
        rounds = list(zip(self.history_[FEATURE], self.history_[objective], strict=True))
        if not rounds and EQUAL_LABELS not in self.remarks_:
            return (*notes, Note(NOTHING, detail="all scores are equal"))
        stalled = sum(before == after for before, after in itertools.pairwise(rounds))
        if not stalled:
            return notes
        detail = f"{stalled:,} of {count_phrase(len(rounds), 'round')}"
        if self.select != ENSEMBLE:
            detail += "; select='ensemble' adds a feature only if it raises the objective"
        return (*notes, Note(STALLED, detail=detail))

    def check_learnt(self) -> None:
        super().check_learnt()
        columns = self.history_
        objectives = [name for name in columns if name.startswith(f"{TRAINING} ")]
        if len(objectives) != 1 or not {FEATURE, ALPHA} <= columns.keys():
            raise RankgaugeError("history_ does not have the columns of AdaRank")
        width = self.n_features_in_
        if not all(type(f) is int and 1 <= f <= width for f in columns[FEATURE]):
            raise RankgaugeError("history_ has an unknown feature")


class Step(Record):
    """A round: the objective with the new weights, the feature, and what was added to its weight."""

    value: float
    feature: int
    alpha: float
    weights: Floats


class FeatureScorer:
    """The documents of features, scored by weights of the features."""

    def __init__(self, features: Features, means: Floats) -> None:
        self._values: Values = np.asfortranarray(features.values)
        self._means = means
        self._query = np.repeat(np.arange(len(features.queries)), np.diff(features.bounds))
        self.width = features.values.shape[1]

    def column(self, feature: int) -> Floats:
        """The values of a feature, NaN filled."""
        own = slice(feature, feature + 1)
        return fill_missing(self._values[:, own], self._means[own])[:, 0]

    def orders(self, feature: int) -> bool:
        """Whether the feature distinguishes documents of any query."""
        column = self.column(feature)
        return bool(((column[1:] != column[:-1]) & (self._query[1:] == self._query[:-1])).any())

    def __call__(self, weights: Floats) -> Floats:
        """The scores, as the ranker computes them, to the last bit."""
        scores = np.zeros(len(self._values))
        for feature in np.flatnonzero(weights).tolist():
            scores += self.column(feature) * weights[feature]
        return scores


class Boosting:
    """The rounds of training: the features as weak rankers, and what each gets on each query."""

    def __init__(self, sums: FeatureScorer, objective: Monitor, *, both: bool) -> None:
        self._sums, self._objective = sums, objective
        features = [feature for feature in range(sums.width) if sums.orders(feature)]
        self._weak = list(itertools.product(features, (1.0, -1.0) if both else (1.0,)))
        values = np.empty((len(self._weak), len(objective.features.queries)))
        for own, (feature, sign) in zip(values, self._weak, strict=True):
            own[:] = objective.each(sign * sums.column(feature))
        self._defined: Bools = np.asarray(~np.isnan(values).any(axis=0))
        self._quality = Quality.of(values[:, self._defined], objective.measure)
        self._each = self._quality(values[:, self._defined])
        self.fell = False
        """Whether the last round lowered the objective too much, so that training stopped."""

    def steps(self, settings: RankerSettings) -> Iterator[Step]:
        """Run the rounds until the objective falls, or no feature is left.

        With select="ensemble" they end before the first round in which no feature would raise the
        objective.
        """
        count = int(np.count_nonzero(self._defined))
        if not count or not self._weak:
            return
        queries, weights = np.full(count, 1 / count), np.zeros(self._sums.width)
        last, streak, before = -1, 0, -math.inf
        by_sum = settings["select"] == ENSEMBLE
        for _ in range(settings["rounds"]):
            means = self._each @ queries
            usable = means > LEAST
            if streak >= settings["repeats"]:
                usable[last] = False
            if not usable.any():
                return
            alphas = np.arctanh(np.minimum(means, 1 - LEAST))
            if by_sum:
                weak = self._best_weak_ranker(weights, alphas, usable)
            else:
                weak = int(np.argmax(np.where(usable, means, -np.inf)))
            streak = streak + 1 if weak == last else 1
            last, (feature, sign) = weak, self._weak[weak]
            weights = weights.copy()
            weights[feature] += sign * alphas[weak]
            values = self._objective.each(self._sums(weights))
            value = self._objective.mean(values[self._defined])
            height = value if self._objective.higher_is_better else -value
            if math.isnan(value) or (by_sum and height <= before):
                return
            yield Step(value, feature, float(sign * alphas[weak]), weights)
            self.fell = not by_sum and height - before <= -settings["tolerance"]
            if self.fell:
                return
            before = height
            quality = self._quality(values[self._defined])
            queries = np.exp(quality.min() - quality)
            queries /= queries.sum()

    def _best_weak_ranker(self, weights: Floats, alphas: Floats, usable: Bools) -> int:
        """The weak ranker with which the sum ranks best."""
        scores = self._sums(weights)
        heights = np.full(len(alphas), -np.inf)
        for weak in np.flatnonzero(usable).tolist():
            feature, sign = self._weak[weak]
            values = self._objective.each(scores + sign * alphas[weak] * self._sums.column(feature))
            value = self._objective.mean(values[self._defined])
            heights[weak] = value if self._objective.higher_is_better else -value
        return int(np.argmax(np.where(np.isnan(heights), -np.inf, heights)))


class Quality(Record):
    """How well queries are ranked, from the values of a measure: `worst` becomes 0 and `best` 1.

    >>> from rankgauge import parse
    >>> quality = Quality.of(np.array([[0.0, 3.0]]), parse("SearchLength"))
    >>> quality(np.array([0.0, 1.5, 3.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    measure: Measure | Aggregate
    worst: float = 0.0
    best: float = 1.0

    @classmethod
    def of(cls, values: Floats, measure: Measure | Aggregate) -> Quality:
        """The value of a measure, given the values of each feature on each query."""
        if isinstance(measure, Aggregate) and not measure.is_mean:
            raise MeasureError(
                f"AdaRank: objective: {measure} has no value for a single query, expected a measure, or "
                "a mean such as gm(AP)"
            )
        averaged = _values_to_average(values, measure)
        higher = inner(measure).direction == "higher"
        inside = bool(np.abs(values).max(initial=0.0) <= 1)
        if not values.size or (higher and inside and np.array_equal(averaged, values)):
            return cls(measure)  # as they are
        low, high = float(averaged.min()), float(averaged.max())
        return cls(measure, *((low, high) if higher else (high, low)))

    def __call__(self, values: Floats) -> Floats:
        averaged = _values_to_average(values, self.measure)
        # A query on which a sum of features is undefined, and no feature alone, ranks badly.
        averaged = np.where(np.isnan(averaged), self.worst, averaged)
        span = self.best - self.worst
        return (averaged - self.worst) / span + 0.0 if span else np.zeros_like(averaged)


def _values_to_average(values: Floats, measure: Measure | Aggregate) -> Floats:
    """The numbers of which the measure takes the mean over queries."""
    return measure.forward(values) if isinstance(measure, Aggregate) else values

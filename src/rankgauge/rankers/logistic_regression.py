"""Logistic regression: how likely a document is to be relevant, from a weighted sum of its features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankgauge.core.checks import Number, Whole
from rankgauge.core.notes import Note, counted
from rankgauge.data.features import Features
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.linear import LinearRanker, check_sizes, feature_means, weighted_sums
from rankgauge.rankers.monitoring import Monitor, undecided
from rankgauge.rankers.newton import LogisticFit, LogisticProblem
from rankgauge.rankers.settings import AUTO, NORMALIZATIONS, Auto, setting

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
"""What is tried where the validation set decides."""
USUAL_COST = 1.0
"""What is taken where there is no validation set."""
LARGEST_COST = 1e100
"""Sums of larger costs could overflow."""
LARGEST = 1e30
"""Squares of larger values, and their sums, could overflow."""

UNFINISHED = (
    "stopped after {steps} before it converged: normalise the features (setting normalize), or allow "
    "more iterations (setting iterations)"
)


class LogisticRegression(LinearRanker):
    """Relevant documents against the others, by a weighted sum of the features, with L2.

    The objective is that of LIBLINEAR: ½‖w‖² + C Σ log(1 + exp(−y·wᵀx)), where y is 1 for a relevant
    document and −1 for another, and the constant of the sum is one of the weights. Newton's method finds
    its minimum, also if features have very different units. If it stops before, `notes` says so, and
    `unfinished_` has C, the number of iterations and the objective.

    The score of a document is its weighted sum, so the logarithm of its odds to be relevant. A value
    that is NaN counts as the mean of its feature. If all training documents are relevant, or none, all
    scores are equal.

    >>> from rankgauge.rankers.checks import made_features
    >>> ranker = LogisticRegression().fit(made_features(40), made_features(20, seed=1))
    >>> list(ranker.history_)
    ['C', 'nDCG(gain=exp2)@10']
    """

    summary: ClassVar[str] = "relevant documents against the others, by a weighted sum of features"
    optimizes: ClassVar[str] = "the logistic loss of relevant against not, with L2"
    source: ClassVar[str] = "Fan et al. 2008, LIBLINEAR: a library for large linear classification"

    normalize: str | None = setting(
        NORMALIZATIONS,
        "How feature values are normalised: over all training data, or within each query.",
        default="query-z",
        ranklib="none",
    )
    C: float | str | None = setting(
        Auto(Number(0.0, LARGEST_COST, closed=False)),
        "What errors cost, against large weights. auto: the best on the validation set, or else 1.",
        default=AUTO,
        ranklib=USUAL_COST,
    )
    relevant: int | None = setting(Whole(1), "The lowest label that counts as relevant.", default=1)
    iterations: int | None = setting(
        Whole(1), "After how many iterations to stop at the latest.", default=1000
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        check_sizes(training, LARGEST)
        relevant = training.labels >= settings["relevant"]
        means = feature_means(training.values)
        costs = COSTS if settings["C"] == AUTO else (settings["C"],)
        if validation is None and settings["C"] == AUTO:
            costs = (USUAL_COST,)
        fits = [
            self._fitted(LogisticProblem(training.values, means, relevant, cost), settings)
            for cost in costs
        ]
        best = 0
        if validation is not None:
            monitor = Monitor(validation, settings["measure"])
            measured = [
                monitor(weighted_sums(validation.values, means, fit.weights, fit.constant))
                for fit in fits
            ]
            self.history_ = {"C": list(costs), monitor.name: measured}
            best = monitor.best(measured)
            if undecided(measured) and USUAL_COST in costs:
                best = costs.index(USUAL_COST)
        self.C_: float = costs[best]
        self.unfinished_: list[list[float]] = [
            [cost, fit.iterations, fit.objective]
            for cost, fit in zip(costs, fits, strict=True)
            if not fit.converged
        ]
        self.keep(means, fits[best].weights, fits[best].constant)

    def _fitted(self, problem: LogisticProblem, settings: RankerSettings) -> LogisticFit:
        """The best weights; all are 0 if all documents are relevant, or none."""
        if problem.relevant.all() or not problem.relevant.any():
            return LogisticFit(np.zeros(problem.values.shape[1]), 0.0, 0.0, 0, True)
        return problem.minimum(settings["iterations"])

    def notes(self) -> tuple[Note, ...]:
        notes, unfinished = super().notes(), vars(self).get("unfinished_")
        if not unfinished:
            return notes
        steps = counted(max(steps for _, steps, _ in unfinished), "iteration")
        each = "; ".join(f"C={cost:g}: {objective:.6g}" for cost, _, objective in unfinished)
        return (*notes, Note(UNFINISHED.format(steps=steps), detail=f"the objective with {each}"))

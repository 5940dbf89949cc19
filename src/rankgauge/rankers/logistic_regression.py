"""Logistic regression: how likely a document is to be relevant, from a weighted sum of its features.

The objective is ½‖w‖² + C Σ log(1 + exp(−y·wᵀx)) with y = ±1. One entry of x is 1, and its weight, the
constant, is penalized like the others, as in LIBLINEAR (Fan et al. 2008). The objective has one minimum.
Newton's method finds it in few steps whatever the units of the features are.

Nothing here uses NumPy's linear algebra: its last bits depend on how many threads there are.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Values
from rankgauge.core.checks import Integer, Number
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.native import layers
from rankgauge.rankers.base import Ranker, RankerSettings
from rankgauge.rankers.linear import (
    LinearRanker,
    check_sizes,
    feature_means,
    fill_missing,
    plain_values,
    weighted_sums,
)
from rankgauge.rankers.monitoring import Monitor, is_undecided
from rankgauge.rankers.settings import AUTO, Auto, setting, setting_from

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
"""The values tried if the validation set decides."""
USUAL_COST = 1.0
"""The value used without a validation set."""
LARGEST_COST = 1e100
"""Sums of larger costs could overflow."""
LARGEST = 1e30
"""Squares of larger values, and their sums, could overflow."""

UNFINISHED = (
    "stopped after {steps} before it converged: normalize the features (setting normalize), or allow "
    "more iterations (setting iterations)"
)


class LogisticRegression(LinearRanker):
    """Logistic regression of relevant against other documents, with an L2 penalty.

    The score of a document is the weighted sum of its features, which is the logarithm of its odds
    of being relevant. A NaN value counts as the mean of its feature. If all training documents are
    relevant, or none is, all scores are equal.

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
    C : float or "auto", default "auto"
        The cost of errors relative to large weights. "auto": the best value on the validation set,
        or 1 without one. RankLib: 1.0.
    relevant : int, default 1
        The lowest label that counts as relevant.
    iterations : int, default 1000
        The maximum number of iterations.

    Attributes
    ----------
    C_ : float
        The value of C that was chosen.
    history_ : dict of list of float
        With a validation set, the values of C that were tried, with the measure for each.
    unfinished_ : list
        C, the number of iterations and the objective of each fit that stopped before the minimum.

    Notes
    -----
    The objective is the objective of LIBLINEAR:

        ½‖w‖² + C Σ log(1 + exp(−y·wᵀx))

    y is 1 for a relevant document and −1 for any other, and the constant of the sum is one of the
    weights. Newton's method finds the minimum, even if features have very different scales. If it
    stops before the minimum, `notes` reports it.

    Fan et al. 2008, LIBLINEAR: a library for large linear classification.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = LogisticRegression().fit(make_features(40), make_features(20, seed=1))
    >>> list(ranker.history_)
    ['C', 'nDCG(gain=exp2)@10']
    """

    summary: ClassVar[str] = (
        "relevant documents against all others, with a weighted sum of features"
    )
    optimizes: ClassVar[str] = (
        "the logistic loss of relevant against other documents, with an L2 penalty"
    )
    source: ClassVar[str] = "Fan et al. 2008, LIBLINEAR: a library for large linear classification"

    normalize: str | None = setting_from(Ranker, "normalize", default="query-z", ranklib="none")
    C: float | str | None = setting(
        Auto(Number(0.0, LARGEST_COST, closed=False)),
        (
            "The cost of errors relative to large weights. auto: the best on the validation "
            "set, or else 1."
        ),
        default=AUTO,
        ranklib=USUAL_COST,
    )
    relevant: int | None = setting(
        Integer(1), "The lowest label that counts as relevant.", default=1
    )
    iterations: int | None = setting(Integer(1), "The maximum number of iterations.", default=1000)

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
            self._fit_problem(LogisticProblem(training.values, means, relevant, cost), settings)
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
            if is_undecided(measured) and USUAL_COST in costs:
                best = costs.index(USUAL_COST)
        self.C_: float = costs[best]
        self.unfinished_: list[list[float]] = [
            [cost, fit.iterations, fit.objective]
            for cost, fit in zip(costs, fits, strict=True)
            if not fit.converged
        ]
        self.keep(means, fits[best].weights, fits[best].constant)

    def _fit_problem(self, problem: LogisticProblem, settings: RankerSettings) -> LogisticFit:
        """The best weights; all are 0 if all documents are relevant, or none."""
        if problem.relevant.all() or not problem.relevant.any():
            return LogisticFit(np.zeros(problem.values.shape[1]), 0.0, 0.0, 0, True)
        return problem.minimum(settings["iterations"])

    def notes(self) -> tuple[Note, ...]:
        notes, unfinished = super().notes(), vars(self).get("unfinished_")
        if not unfinished:
            return notes
        steps = count_phrase(max(steps for _, steps, _ in unfinished), "iteration")
        each = "; ".join(f"C={cost:g}: {objective:.6g}" for cost, _, objective in unfinished)
        return (*notes, Note(UNFINISHED.format(steps=steps), detail=f"the objective with {each}"))


ROWS = 1024
"""Number of documents added to the Hessian at a time."""
TOLERANCE = 1e-10
"""The search stops after a step predicted to gain less than this share of the objective."""
STUCK = 1e-6
"""If rounding leaves no better point, it is the minimum where a step promises less than this share."""
GAIN = 1e-4
"""The share of the predicted gain that a step must achieve; otherwise the step is halved (Armijo)."""
SMALLEST = 2.0**-30
"""The smallest part of a step that is tried."""


class LogisticFit(Record):
    """What was found: weights, the constant, the objective, and whether it is the minimum."""

    weights: Floats
    constant: float
    objective: float
    iterations: int
    converged: bool


class LogisticProblem(Record):
    """Documents, relevant or not, and what errors cost against large weights.

    `means` has what counts where a value is NaN.

    >>> values = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> relevant = np.array([False, True, False, True])
    >>> fit = LogisticProblem(values, np.zeros(1), relevant, 1.0).minimum(100)
    >>> fit.converged, round(fit.objective, 4)
    (True, 2.6233)
    """

    values: Values
    means: Floats
    relevant: Bools
    cost: float

    def minimum(self, iterations: int) -> LogisticFit:
        """The minimum, or what is reached after so many iterations."""
        point, converged, done = np.zeros(self.values.shape[1] + 1), False, 0
        sums = self.sums(point)
        objective = self.objective(point, sums)
        while done < iterations and not converged:
            done += 1
            gradient, hessian = self.derivatives(point, sums)
            if not np.isfinite(hessian).all():
                break
            step = -solution(hessian, gradient)
            promised = -float(np.sum(gradient * step))
            part, before = 1.0, objective
            while part >= SMALLEST:
                tried = point + part * step
                tried_sums = self.sums(tried)
                reached = self.objective(tried, tried_sums)
                if reached <= before - GAIN * part * promised:
                    point, sums, objective = tried, tried_sums, reached
                    break
                part /= 2
            else:  # no part of the step is better
                converged = promised <= STUCK * before
                break
            converged = promised <= TOLERANCE * before
        return LogisticFit(point[:-1], float(point[-1]), objective, done, converged)

    def sums(self, point: Floats) -> Floats:
        """The weighted sum of each document, with the constant."""
        return weighted_sums(self.values, self.means, point[:-1], float(point[-1]))

    def objective(self, point: Floats, sums: Floats) -> float:
        """What is to be small."""
        losses = np.logaddexp(0.0, np.where(self.relevant, -sums, sums))
        return float(np.sum(point**2) / 2 + self.cost * np.sum(losses))

    def derivatives(self, point: Floats, sums: Floats) -> tuple[Floats, Floats]:
        """The gradient and the Hessian of the objective."""
        chances, others = (np.exp(-np.logaddexp(0.0, sign * sums)) for sign in (-1.0, 1.0))
        errors = self.cost * np.where(self.relevant, -others, chances)
        curvature = self.cost * chances * others
        gradient, hessian = point.copy(), np.eye(len(point))
        for start in range(0, len(sums), ROWS):
            rows = slice(start, start + ROWS)
            values = plain_values(self.values[rows])
            curved = fill_missing(values, self.means) * curvature[rows, None]
            right = np.column_stack((curved, curvature[rows], errors[rows]))
            products = layers.layer_gradient(values, self.means, right)
            hessian[:-1] += products[:, :-1]
            gradient[:-1] += products[:, -1]
        hessian[-1, :-1] = hessian[:-1, -1]
        hessian[-1, -1] += np.sum(curvature)
        gradient[-1] += np.sum(errors)
        return gradient, hessian


def solution(matrix: Floats, right: Floats) -> Floats:
    """The solution of a system with a positive definite matrix.

    Rows and columns are brought to one scale first. If rounding has made the matrix singular, its
    diagonal is raised a little. If that does not help, the diagonal alone counts.

    >>> solution(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([8.0, 12.0])).round(12).tolist()
    [1.0, 2.0]
    """
    scale = np.sqrt(np.diag(matrix))
    scaled = matrix / scale / scale[:, None]
    raised = 0.0
    while (lower := _cholesky(scaled, raised)) is None:
        raised = max(10 * raised, 1e-13)
        if raised > 1:
            return np.asarray(right / np.diag(matrix))
    solved: Floats = right / scale
    for row in range(len(solved)):
        solved[row] = (solved[row] - np.sum(lower[row, :row] * solved[:row])) / lower[row, row]
    for row in reversed(range(len(solved))):
        below = np.sum(lower[row + 1 :, row] * solved[row + 1 :])
        solved[row] = (solved[row] - below) / lower[row, row]
    return np.asarray(solved / scale)


def _cholesky(matrix: Floats, raised: float) -> Floats | None:
    """The lower factor of a matrix whose diagonal is raised by a number.

    It is None if rounding leaves no factor.
    """
    lower = np.tril(matrix)
    least = len(matrix) * np.finfo(np.float64).eps
    for row in range(len(matrix)):
        lower[row:, row] -= np.einsum("ij,j->i", lower[row:, :row], lower[row, :row])
        lower[row, row] += raised
        if not lower[row, row] > least:
            return None
        lower[row:, row] /= np.sqrt(lower[row, row])
    return lower

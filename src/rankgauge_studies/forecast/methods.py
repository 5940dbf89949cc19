"""The methods that the study compares, and what each forecasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from rankgauge.extending import Floats
from rankgauge.forecast import FeatureJudgments, Forecaster, StackedRows
from rankgauge.forecast.models import Average, least_squares, support_vectors
from rankgauge_studies.forecast.splits import RowSplit, SplitRows

StudyLearner: TypeAlias = Literal["boosting", "regression", "svr"]
LEARNERS: tuple[StudyLearner, ...] = ("boosting", "regression")
"""The learners of the paper. Of each there is a model for each track, averaged, and one model of all
rows with the same settings."""
BASELINES = ("at depth", "line", "shallow")
"""Methods that need no training, or only a line."""
ONE_MODEL = "{}, one model"
VOTING = "voting"
"""As in scikit-learn's VotingRegressor: each learner is trained once on all rows, then averaged."""
POOLED = "pooled"
RICHER = "pooled, rich"
GUPTA: Mapping[str, Mapping[str, str]] = {
    "gupta": {},
    "gupta, best subset": {"subset": "training"},
    "gupta, svr": {"learner": "svr"},
}
"""The methods of Gupta et al.: trained on tracks other than the tested one, and evaluated on systems."""


def methods_of(
    learners: Sequence[StudyLearner], judgments: FeatureJudgments, split: RowSplit
) -> tuple[str, ...]:
    """The methods of a split.

    Our own models of all tracks are for judgments of a pool and not for the paper's protocol: they take
    most of the time, and rich features of all judgments have the target itself among them.
    """
    own = [name for learner in learners for name in (learner, ONE_MODEL.format(learner))]
    if "regression" in learners:
        own.append("regression, all features")
    if len(learners) > 1:
        own.append(VOTING)
    own += [POOLED, RICHER] * (judgments == "pool" and split != "paper")
    own += list(GUPTA) * (split == "track")
    return (*BASELINES, *own)


def forecasts(
    rows: StackedRows,
    made: Sequence[SplitRows],
    methods: Sequence[str],
    learners: Sequence[StudyLearner],
    width: int,
    seed: int,
) -> dict[str, Floats]:
    """For each method the forecast of each row; NaN for rows that no part tests.

    Parameters
    ----------
    rows
        The rows of all tracks. The first features are for all methods, the others for rich ones.
    made
        The parts of a split.
    methods, learners
        The methods, as `methods_of` has them, and the learners of the study.
    width
        How many features are for all methods.
    seed
        Fixes what models draw at random.
    """
    values = {name: np.full(len(rows.target), np.nan) for name in methods}
    for learned, tested in made:
        if learned.any() and tested.any():
            own, inside = rows.take(learned), rows.take(tested)
            for name, forecast in _forecasts(own, inside, methods, learners, width, seed).items():
                values[name][tested] = forecast
    return values


def _forecasts(
    own: StackedRows,
    inside: StackedRows,
    methods: Sequence[str],
    learners: Sequence[StudyLearner],
    width: int,
    seed: int,
) -> dict[str, Floats]:
    """What the methods learn from some rows, and forecast for others."""
    rich, seen = inside.features, inside.features[:, :width]
    richly, own = own, replace(own, features=own.features[:, :width])
    together = replace(own, track=np.zeros_like(own.track))
    line = least_squares(own.plain[:, None], own.target, (0,), own.track_weights())
    made = {
        "at depth": inside.plain,
        "line": line.predict(inside.plain[:, None]),
        "shallow": inside.shallow,
    }
    for learner in learners:
        made[learner] = _fit_learner(learner, own, seed).predict(seen)
        made[ONE_MODEL.format(learner)] = _fit_learner(learner, together, seed).predict(seen)
    if VOTING in methods:
        made[VOTING] = np.mean([made[ONE_MODEL.format(learner)] for learner in learners], axis=0)
    if "regression" in learners:
        everything = Forecaster("regression", subset="training", seed=seed)
        made["regression, all features"] = everything.fitted(own).predict(seen)
    if POOLED in methods:
        made[POOLED] = Forecaster("pooled", seed=seed).fitted(own).predict(seen)
        made[RICHER] = Forecaster("pooled", seed=seed).fitted(richly).predict(rich)
    for name, settings in GUPTA.items():
        if name in methods:
            gupta = Forecaster("gupta", seed=seed, **settings)  # type: ignore[arg-type]
            made[name] = gupta.fitted(own).predict(seen)
    return made


def _fit_learner(learner: StudyLearner, rows: StackedRows, seed: int) -> Average:
    """A model for each track, averaged. Without tracks it is one model of all rows."""
    if learner != "svr":
        return Forecaster(learner, seed=seed).fitted(rows)
    columns = tuple(range(rows.features.shape[1]))
    tracks = [rows.track == number for number in np.unique(rows.track)]
    fitted = [support_vectors(rows.features[own], rows.target[own], columns) for own in tracks]
    return Average(tuple(fitted))

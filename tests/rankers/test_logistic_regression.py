"""The optimum of logistic regression is liblinear's, and the validation set chooses its cost."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model

import rankgauge as rg
from rankgauge.rankers import LogisticRegression
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.linear import weighted_sums

FEATURES, VALIDATION = make_features(40), make_features(20, seed=8)


def test_the_weights_are_those_of_liblinear_on_values_normalized_by_query() -> None:
    values = FEATURES.values.astype(np.float64)
    for start, end in zip(FEATURES.bounds[:-1], FEATURES.bounds[1:], strict=True):
        part = values[start:end]
        values[start:end] = (part - part.mean(axis=0)) / part.std(axis=0)
    direct = sklearn.linear_model.LogisticRegression(solver="liblinear", C=0.5, tol=1e-12)
    direct.fit(values, FEATURES.labels >= 2)
    ranker = LogisticRegression(C=0.5, relevant=2).fit(FEATURES)
    assert ranker.coefficients_ == pytest.approx(direct.coef_[0], rel=1e-6)
    assert ranker.predict(FEATURES) == pytest.approx(
        direct.decision_function(values), rel=1e-5, abs=1e-6
    )


def test_the_cost_is_the_best_on_the_validation_set() -> None:
    training = replace(FEATURES, values=FEATURES.values[:, 1:])
    validation = replace(VALIDATION, values=VALIDATION.values[:, 1:])
    ranker = LogisticRegression(measure="AP").fit(training, validation)
    costs, values = ranker.history_["C"], ranker.history_["AP"]
    assert len(costs) == len(values) > 3
    assert len(set(values)) > 1
    evaluator = rg.Evaluator(validation.judgments, "AP")
    for cost, value in zip(costs, values, strict=True):
        scores = LogisticRegression(C=cost).fit(training).predict(validation)
        assert evaluator.score_features(validation, scores).mean()["run"]["AP"] == value
    assert costs[values.index(max(values))] == ranker.C_
    assert LogisticRegression().fit(FEATURES).C_ == 1
    assert LogisticRegression(C=7).fit(FEATURES, VALIDATION).C_ == 7


def test_nan_counts_as_the_mean_of_its_feature() -> None:
    values = FEATURES.values.copy()
    values[::2, 0] = np.nan
    ranker = LogisticRegression(normalize="none").fit(replace(FEATURES, values=values))
    mean = float(np.nanmean(values[:, 0], dtype=np.float64))
    filled = np.where(np.isnan(values), mean, values.astype(np.float64))
    assert ranker.predict(replace(FEATURES, values=values)) == pytest.approx(
        filled @ ranker.coefficients_ + ranker.intercept_
    )


def test_sums_of_equal_rows_are_equal_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    row, weights = rng.random(136).astype(np.float32), rng.normal(size=136)
    sums = weighted_sums(np.tile(row, (9_000, 1)), np.zeros(136), weights, 0.25)
    assert len(set(sums.tolist())) == 1
    assert sums[0] == pytest.approx(float(row.astype(np.float64) @ weights) + 0.25)


def spread_features(queries: int = 40) -> rg.Features:
    """Features in very different units, some of which nearly repeat each other."""
    features = make_features(queries)
    units = 10.0 ** np.arange(-3, 12, 3)
    values = (features.values * units).astype(np.float32)
    return replace(features, values=np.column_stack((values, values[:, 2] * 1.0001)))


def objective(ranker: LogisticRegression, features: rg.Features) -> float:
    """What training is to make small."""
    weights = np.append(ranker.coefficients_, ranker.intercept_)
    values = np.column_stack((features.values.astype(np.float64), np.ones(len(features.labels))))
    signs = np.where(features.labels >= 1, 1, -1)
    losses = np.logaddexp(0, -signs * (values @ weights))
    return float(weights @ weights / 2 + ranker.C_ * losses.sum())


@pytest.mark.parametrize("cost", [0.001, 1.0, 100.0])
def test_units_of_features_do_not_keep_it_from_the_minimum(cost: float) -> None:
    features = spread_features()
    ranker = LogisticRegression(normalize="none", C=cost).fit(features)
    assert not ranker.notes()
    least = objective(ranker, features)
    for weight in range(len(ranker.coefficients_)):
        for factor in (0.99, 1.01):
            other = deepcopy(ranker)
            other.coefficients_[weight] *= factor
            assert objective(other, features) >= least * (1 - 1e-12)
    for solver in ("lbfgs", "liblinear"):
        model = sklearn.linear_model.LogisticRegression(C=cost, solver=solver, max_iter=50)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(features.values.astype(np.float64), features.labels >= 1)
        other.coefficients_, other.intercept_ = model.coef_[0], float(model.intercept_[0])
        assert objective(other, features) >= least * (1 - 1e-9)


def test_costs_beyond_all_numbers_are_refused_and_high_ones_end() -> None:
    with pytest.raises(rg.RankgaugeError, match="expected a number strictly between"):
        LogisticRegression(C=1e308).fit(FEATURES)
    ranker = LogisticRegression(C=1e99).fit(FEATURES)
    assert np.isfinite(ranker.predict(FEATURES)).all()


def test_stopping_before_the_minimum_is_noted(tmp_path: Path) -> None:
    features = spread_features()
    ranker = LogisticRegression(normalize="none", iterations=2, C=1).fit(features)
    (note,) = ranker.notes()
    assert str(note).startswith("stopped after 2 iterations before it converged: normalize the")
    reached = objective(ranker, features)
    assert note.detail == f"the objective with C=1: {reached:.6g}"
    assert reached > objective(LogisticRegression(normalize="none").fit(features), features)
    ranker.save(tmp_path)
    assert rg.rankers.load(tmp_path).notes() == ranker.notes()
    several = LogisticRegression(iterations=1).fit(FEATURES, VALIDATION)
    assert [cost for cost, *_ in several.unfinished_] == list(several.history_["C"])

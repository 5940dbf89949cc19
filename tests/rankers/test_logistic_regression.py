"""Logistic regression is liblinear's, and the validation set chooses its cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn.linear_model

import rankgauge as rg
from rankgauge.rankers import LogisticRegression
from rankgauge.rankers.checks import made_features
from rankgauge.rankers.linear import weighted_sums

FEATURES, VALIDATION = made_features(40), made_features(20, seed=8)


def test_the_weights_are_those_of_liblinear_on_values_normalised_by_query() -> None:
    values = FEATURES.values.astype(np.float64)
    for start, end in zip(FEATURES.bounds[:-1], FEATURES.bounds[1:], strict=True):
        part = values[start:end]
        values[start:end] = (part - part.mean(axis=0)) / part.std(axis=0)
    direct = sklearn.linear_model.LogisticRegression(solver="liblinear", C=0.5, max_iter=1000)
    direct.fit(values, FEATURES.labels >= 2)
    ranker = LogisticRegression(C=0.5, relevant=2).fit(FEATURES)
    assert ranker.coefficients_ == pytest.approx(direct.coef_[0], rel=1e-3, abs=1e-5)
    assert ranker.predict(FEATURES) == pytest.approx(
        direct.decision_function(values), rel=1e-3, abs=1e-4
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

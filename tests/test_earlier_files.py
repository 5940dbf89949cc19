"""Files that rankgauge 0.1.0 saved still load, with the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.rankers import load
from rankgauge.rankers.checks import make_features

EARLIER = Path(__file__).parent / "saved_0_1"
ANSWERS = json.loads((EARLIER / "answers.json").read_text(encoding="utf-8"))
"""The numbers of 0.1.0 for each of the files."""


def test_scores_keep_their_numbers_and_the_version_that_computed_them() -> None:
    scores = rg.Scores.load(EARLIER / "scores")
    assert scores.values.tolist() == ANSWERS["scores"]
    assert scores.policies.signature(rg.AP).endswith("|rankgauge=0.1.0")


@pytest.mark.parametrize("name", ["ranker", "ranker-z"])
def test_a_ranker_scores_documents_as_before(name: str) -> None:
    values = load(EARLIER / name).predict(make_features())[:20]
    np.testing.assert_allclose(values, ANSWERS[name], rtol=1e-12)


def test_a_forecaster_forecasts_as_before() -> None:
    pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    from forecast.test_forecaster import made

    forecasts = Forecaster.load(EARLIER / "forecaster").forecast_rows(made("new", "news", 9))
    np.testing.assert_allclose(forecasts.values[0], ANSWERS["forecaster"], rtol=1e-12)

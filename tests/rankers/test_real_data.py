"""On MQ2008 the methods reach what others reach with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from rankgauge import Features, rankers
from rankgauge.data.model import Ids

FLOORS = {"LogisticRegression": 0.475, "LambdaMART": 0.475}
"""nDCG@10 on the test part of fold 1 (S5); a random order has .33."""


def joined(parts: list[Features]) -> Features:
    """The queries of several parts."""
    starts = np.cumsum([0, *(part.bounds[-1] for part in parts)])
    ends = [part.bounds[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Features(
        Ids.joined([part.queries for part in parts]),
        np.concatenate([[0], *ends]),
        np.concatenate([part.labels for part in parts]),
        np.vstack([part.values for part in parts]),
    )


@pytest.mark.parametrize("name", FLOORS)
def test_one_fold_of_mq2008(name: str, real_data: Callable[[str], Path]) -> None:
    parts = [rg.read_letor(real_data(f"mq2008/S{number}.txt.gz")) for number in range(1, 6)]
    *training, validation, test = parts
    ranker = rankers.find_method(name)().fit(joined(training), validation)
    evaluator = rg.Evaluator(test.judgments, "nDCG(gain=exp2)@10")
    (value,) = evaluator.score_features(test, ranker.predict(test)).mean()["run"].values()
    assert value >= FLOORS[name]
    assert max(ranker.history_["nDCG(gain=exp2)@10"]) > 0.45

"""What is watched in training is what an evaluator gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import Features, RankgaugeError
from rankgauge.data.model import Ids
from rankgauge.rankers import (
    AdaRank,
    LambdaMART,
    ListNet,
    LogisticRegression,
    RankBoost,
    Ranker,
    RankNet,
)
from rankgauge.rankers.base import REMARKS, UNDECIDED
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.monitoring import Monitor, is_undecided

MEASURES = ["nDCG(gain=exp2)@10", "AP", "gm(AP)", "SearchLength", "ERR@3", "linear(AP)", "bpref"]


@examples(100)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any),
    st.booleans(),
    st.sampled_from(MEASURES),
    st.integers(0, 2**32 - 1),
)
def test_the_values_are_those_of_an_evaluator_also_where_scores_are_tied(
    sizes: list[int], named: bool, measure: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = sum(sizes)
    names = Ids.of(f"d{number}" for number in rng.permutation(rows)) if named else None
    features = Features(
        Ids.of(f"q{number}" for number in range(len(sizes))),
        np.concatenate([[0], np.cumsum(sizes)]),
        rng.integers(-1, 4, rows).astype(np.int32),
        np.zeros((rows, 1)),
        names,
    )
    scores = rng.integers(0, 3, rows) + 1e-12 * rng.integers(0, 2, rows)
    evaluated = rg.Evaluator(features.judgments, measure).score_features(features, scores)
    monitor = Monitor(features, rg.parse(measure))
    assert np.array_equal(monitor.each(scores), np.asarray(evaluated)[0, :, 0], equal_nan=True)
    (mean,) = evaluated.mean()["run"].values()
    assert monitor(scores) == pytest.approx(mean, rel=0, abs=0, nan_ok=True)


def test_the_best_value_is_the_first_of_equal_ones_and_never_nan() -> None:
    features = make_features(3)
    higher, lower = (Monitor(features, rg.parse(name)) for name in ("AP", "SearchLength"))
    nan = float("nan")
    assert higher.best([nan, 0.25, 0.5, 0.5]) == 2
    assert lower.best([nan, 0.5, 0.25, 0.25]) == 2
    assert higher.best([nan, nan]) == 0


def test_values_that_are_all_equal_decide_nothing() -> None:
    monitor, nan = Monitor(make_features(3), rg.AP), float("nan")
    for equal in ([0.5] * 4, [nan] * 4):
        assert is_undecided(equal)
        assert monitor.round_to_keep(equal) == 3
        assert not monitor.should_stop(equal, 2)
    for values in ([0.5, 0.5, 0.4, 0.3], [0.5, nan, nan, nan]):
        assert not is_undecided(values)
        assert monitor.round_to_keep(values) == 0
        assert monitor.should_stop(values, 3)
        assert not monitor.should_stop(values, 4)


UNVALIDATED = {
    AdaRank: {"rounds": 12},
    LambdaMART: {"trees": 6, "patience": 2},
    ListNet: {"epochs": 6, "patience": 2},
    LogisticRegression: {},
    RankBoost: {"rounds": 6, "patience": 2},
    RankNet: {"epochs": 6, "patience": 2},
}


@pytest.mark.parametrize("measure", ["AP(rel=3)", "SearchLength(rel=3)"])
@pytest.mark.parametrize("method", UNVALIDATED)
def test_a_validation_set_that_decides_nothing_is_as_good_as_none(
    method: type[Ranker], measure: str
) -> None:
    features, validation = make_features(20), make_features(10, seed=1)  # labels are 2 at most
    settings: dict[str, Any] = {"measure": measure, **UNVALIDATED[method]}
    ranker = method(**settings).fit(features, validation)
    without = method(**settings).fit(features)
    assert ranker.predict(validation).tolist() == without.predict(validation).tolist()
    sentences = [note.kind for note in ranker.notes()]
    assert REMARKS[UNDECIDED] in sentences
    assert REMARKS[UNDECIDED] not in [note.kind for note in without.notes()]


def test_scores_that_are_not_numbers_are_refused() -> None:
    features = make_features(3)
    scores = np.zeros(len(features.labels))
    scores[4] = np.nan
    with pytest.raises(RankgaugeError, match="a score is not a number"):
        Monitor(features, rg.AP)(scores)

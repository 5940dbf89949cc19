"""Whatever the values and labels are, a ranker learns and scores, or says why not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from rankgauge import Features, InputError
from rankgauge.data.model import Ids
from rankgauge.rankers import (
    AdaRank,
    CoordinateAscent,
    LambdaMART,
    ListNet,
    LogisticRegression,
    RandomForest,
    RankBoost,
    Ranker,
    RankNet,
)

RAW = LogisticRegression(normalize="none")
RANKERS: list[Ranker] = [
    RAW,
    LogisticRegression(C=1),
    LogisticRegression(normalize="min-max"),
    LambdaMART(trees=3, leaf_documents=1),
    LambdaMART(trees=3, leaf_documents=1, normalize="query-z", objective="xendcg"),
    RandomForest(trees=3, leaf_documents=1, bag_of="queries"),
    RandomForest(trees=3, leaf_documents=1),
    RankNet(epochs=3),
    RankNet(epochs=3, normalize="none", hidden=[3, 2], batch=2),
    RankNet(epochs=3, preset="ranklib"),
    ListNet(epochs=3),
    ListNet(epochs=3, normalize="none", hidden=[2]),
    ListNet(epochs=3, preset="ranklib"),
    RankBoost(rounds=30),
    RankBoost(preset="ranklib", rounds=5, directions="both"),
    AdaRank(rounds=8),
    AdaRank(preset="ranklib", rounds=8),
    AdaRank(select="ensemble", objective="gm(AP)", directions="both"),
    AdaRank(objective="SearchLength", measure="SearchLength", rounds=8),
    CoordinateAscent(restarts=1, rounds=3),
    CoordinateAscent(restarts=2, rounds=3, normalize="none", objective="v2(nDCG@5)"),
    CoordinateAscent(preset="ranklib", restarts=1, rounds=2, steps=4),
]
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.5, float("nan"), 1e-40, 3e38, -3e38]),
    st.floats(width=32, allow_infinity=False),
)


@st.composite
def features(draw: st.DrawFn, width: int) -> Features:
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(any))
    rows = sum(sizes)
    labels = draw(st.lists(st.integers(-1, 4), min_size=rows, max_size=rows))
    values = draw(st.lists(NUMBERS, min_size=rows * width, max_size=rows * width))
    return Features(
        Ids.of(f"q{number}" for number in range(len(sizes))),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array(labels, np.int32),
        np.array(values, np.float32).reshape(rows, width),
    )


@pytest.mark.parametrize("name", [repr(ranker) for ranker in RANKERS])
@examples(40)
@given(st.integers(1, 3).flatmap(lambda width: st.tuples(*[features(width)] * 3)))
def test_a_ranker_learns_from_anything_and_scores_anything(
    name: str, data: tuple[Features, Features, Features]
) -> None:
    training, validation, test = data
    (ranker,) = (each for each in RANKERS if repr(each) == name)
    fitted = type(ranker)(**ranker.get_params())
    refusal = None
    if ranker is RAW and (np.abs(training.values) > 1e30).any():
        refusal = r"beyond 1e.30.*normalize='query-z'"
    if isinstance(ranker, RandomForest):
        by_query = ranker.bag_of == "queries"
        if (np.count_nonzero(np.diff(training.bounds)) if by_query else len(training.labels)) < 2:
            refusal = "would be empty.*larger bag_share"
    if refusal is not None:
        with pytest.raises(InputError, match=refusal):
            fitted.fit(training, validation)
        return
    scores = fitted.fit(training, validation).predict(test)
    assert scores.shape == test.labels.shape
    assert np.isfinite(scores).all()

"""Whatever the values and labels are, a ranker learns and scores, or says why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

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
    load,
)
from rankgauge.rankers.base import EQUAL_LABELS, REMARKS, has_pairs
from rankgauge.rankers.checks import make_features

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
@examples(25)
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


METHODS = [AdaRank, CoordinateAscent, LambdaMART, ListNet, LogisticRegression, RandomForest]
METHODS += [RankBoost, RankNet]


@pytest.mark.parametrize("label", [0, 2])
@pytest.mark.parametrize("method", METHODS)
def test_data_that_teaches_nothing_is_said(
    method: type[Ranker], label: int, tmp_path: Path
) -> None:
    made = make_features(12)
    equal = replace(made, labels=np.full_like(made.labels, label))
    for validation in (None, made):
        ranker = method().fit(equal, validation)
        assert [note.kind for note in ranker.notes()][:1] == [REMARKS[EQUAL_LABELS]]
        assert len(set(ranker.predict(made).tolist())) == 1
    ranker.save(tmp_path)
    assert load(tmp_path).notes() == ranker.notes()
    assert REMARKS[EQUAL_LABELS] not in [note.kind for note in method().fit(made).notes()]


@pytest.mark.parametrize("labels", [[0, -1, 1, 1, 2], [1, 1, 2, 2, -1]])
def test_labels_are_compared_within_queries_and_below_0_they_count_as_0(labels: list[int]) -> None:
    features = Features(
        Ids.of(["a", "b", "c", "d"]),
        np.array([0, 2, 4, 4, 5]),
        np.array(labels, np.int32),
        np.arange(5.0)[:, None],
    )
    assert not has_pairs(features)
    assert has_pairs(replace(features, labels=np.array([0, 0, 1, 2, 0], np.int32)))


@pytest.mark.parametrize("normalize", ["none", "z", "min-max", "query-z", "query-min-max"])
@pytest.mark.parametrize("others", [[1.7e308, -1.7e308], [1.7e308, 1e-310], [1e-310, 0.0]])
@pytest.mark.parametrize("method", [AdaRank, LogisticRegression, RankBoost, RankNet])
def test_what_learns_from_extreme_values_scores_them_and_can_be_saved(
    method: type[Ranker], others: list[float], normalize: str, tmp_path: Path
) -> None:
    made = make_features(12)
    values = made.values.astype(np.float64)
    values[:, 1] = np.random.default_rng(0).choice(others, len(values))
    extreme = replace(made, values=values)
    settings = {"rounds": 5} if "rounds" in method.parameters() else {}
    ranker = method(normalize=normalize, **settings)
    fits = others[0] < 1 or (method is RankBoost and normalize == "none")
    if fits:
        ranker.fit(extreme)
    else:
        with pytest.raises(InputError, match=r"too large to be normalized|a value beyond"):
            ranker.fit(extreme)
        ranker.fit(made)
        if normalize != "none":
            with pytest.raises(InputError, match="too large to be normalized"):
                ranker.predict(extreme)
    if fits:
        assert np.isfinite(ranker.predict(extreme)).all()
    ranker.save(tmp_path)

"""Exported models score as the rankers do, in an evaluator written from the plug-in's rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge import Features, RankgaugeError
from rankgauge.errors import NotExportable, NotFitted
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
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.search_engines import next_single_above

FEATURES = make_features()
NAMES = ["title", "body", "anchor", "links", "age"]


def engine_score(exported: dict[str, Any], values: dict[str, np.float32]) -> float:
    """The score of a document, as the plug-in computes it: in single precision."""
    model = exported["model"]["model"]
    values = dict(values)
    for name, numbers in model.get("feature_normalizers", {}).items():
        ((kind, by),) = numbers.items()
        if kind == "standard":
            shift, scale = by["mean"], by["standard_deviation"]
        else:
            shift, scale = by["minimum"], by["maximum"] - by["minimum"]
        values[name] = np.float32((values[name] - shift) / scale)
    definition = json.loads(model["definition"])
    if model["type"] == "model/linear":
        return float(sum(weight * values[name] for name, weight in definition.items()))
    assert model["type"] == "model/xgboost+json"
    return sum(tree_score(tree, values) for tree in definition)


def tree_score(node: dict[str, Any], values: dict[str, np.float32]) -> float:
    while "leaf" not in node:
        children = {child["nodeid"]: child for child in node["children"]}
        value = values[node["split"]]
        if np.isnan(value):
            node = children[node["missing"]]
        else:
            below = np.float32(node["split_condition"]) > value
            node = children[node["yes" if below else "no"]]
    return float(node["leaf"])


def engine_scores(exported: dict[str, Any], features: Features, names: list[str]) -> list[float]:
    return [
        engine_score(exported, dict(zip(names, row, strict=True)))
        for row in features.values.astype(np.float32)
    ]


def tree_nodes(node: dict[str, Any]) -> list[int]:
    below = [number for child in node.get("children", []) for number in tree_nodes(child)]
    return [node["nodeid"], *below]


HOLES = FEATURES.values.copy()
HOLES[::3, 0] = np.nan
WITH_HOLES = replace(FEATURES, values=HOLES)


@pytest.mark.parametrize("normalize", ["none", "z", "min-max"])
@pytest.mark.parametrize(
    "ranker",
    [
        LambdaMART(trees=20, leaf_documents=3),
        RandomForest(trees=20, leaf_documents=3),
        LogisticRegression(),
        RankNet(hidden=[], epochs=20),
        ListNet(epochs=20),
        RankBoost(rounds=30),
        AdaRank(select="ensemble"),
        CoordinateAscent(restarts=1),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_the_engine_scores_as_the_ranker_does(ranker: Ranker, normalize: str) -> None:
    ranker.set_params(normalize=normalize).fit(FEATURES)
    exported = json.loads(json.dumps(ranker.to_search_engine(NAMES, name="mine")))
    assert exported["model"]["name"] == "mine"
    scores = ranker.predict(FEATURES)
    if isinstance(ranker, LogisticRegression):
        scores = scores - ranker.intercept_
    assert engine_scores(exported, FEATURES, NAMES) == pytest.approx(scores, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    "ranker",
    [
        LambdaMART(trees=20, leaf_documents=3),
        RandomForest(trees=20, leaf_documents=3),
        RankBoost(rounds=30, normalize="none"),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_unknown_values_go_the_same_way(ranker: Ranker) -> None:
    for training in (FEATURES, WITH_HOLES):
        ranker.fit(training)
        scores = engine_scores(ranker.to_search_engine(NAMES), WITH_HOLES, NAMES)
        assert scores == pytest.approx(ranker.predict(WITH_HOLES), rel=1e-9, abs=1e-12)


def test_nodes_of_a_tree_have_numbers_of_their_own() -> None:
    ranker = LambdaMART(trees=5, leaf_documents=3).fit(FEATURES)
    trees = json.loads(ranker.to_search_engine()["model"]["model"]["definition"])
    assert len(trees) == 5
    for tree in trees:
        numbers = tree_nodes(tree)
        assert sorted(numbers) == list(range(len(numbers)))


def test_trees_of_one_leaf_are_exported() -> None:
    equal = replace(FEATURES, labels=np.zeros_like(FEATURES.labels))
    for ranker in (LambdaMART(trees=3), RankBoost(normalize="none")):
        exported = ranker.fit(equal).to_search_engine(NAMES)
        assert set(engine_scores(exported, FEATURES, NAMES)) == {0.0}


@pytest.mark.parametrize("normalize", ["query-z", "query-min-max"])
@pytest.mark.parametrize("method", [LambdaMART, RandomForest, LogisticRegression, ListNet])
def test_normalizing_by_query_cannot_be_exported(method: type[Ranker], normalize: str) -> None:
    ranker = method(normalize=normalize).fit(FEATURES)
    with pytest.raises(NotExportable, match=r"within each query.*train it with normalize='z'"):
        ranker.to_search_engine()


def test_a_method_without_such_a_form_says_so() -> None:
    with pytest.raises(NotExportable, match="Ranker cannot be exported to search engines"):
        Ranker().to_search_engine()


def test_names_are_one_for_each_feature() -> None:
    ranker = LogisticRegression(normalize="none").fit(FEATURES)
    weights = json.loads(ranker.to_search_engine()["model"]["model"]["definition"])
    assert list(weights) == [f"feature_{number}" for number in range(1, 6)]
    for wrong in (NAMES[:4], ["a"] * 5, "abcde"):
        with pytest.raises(RankgaugeError, match="expected 5 different names"):
            ranker.to_search_engine(wrong)
    with pytest.raises(NotFitted):
        LogisticRegression().to_search_engine()


def test_a_file_has_the_same(tmp_path: Path) -> None:
    ranker = LambdaMART(trees=3).fit(FEATURES)
    ranker.export(tmp_path / "model.json", NAMES)
    assert json.loads((tmp_path / "model.json").read_text()) == ranker.to_search_engine(NAMES)


@examples(100)
@given(st.floats(-(2.0**100), 2.0**100), st.floats(-(2.0**100), 2.0**100, width=32))
def test_at_most_the_threshold_is_below_the_number_after_it(threshold: float, value: float) -> None:
    (condition,) = next_single_above(np.array([threshold]))
    assert float(np.float32(condition)) == condition
    for near in (value, float(np.float32(threshold)), float(condition)):
        single = np.float32(near)
        assert (float(single) <= threshold) == bool(single < np.float32(condition))

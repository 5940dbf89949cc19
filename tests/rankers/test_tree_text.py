"""LightGBM's text is read as LightGBM reads it, and any other text is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge import Features, RankgaugeError
from rankgauge.rankers import LambdaMART, RandomForest
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.tree_text import Forest, Tree, forest_of


def tree_score(tree: Tree, row: list[float]) -> float:
    if not len(tree.features):
        return float(tree.leaves[0])
    node = 0
    while node >= 0:
        value = row[tree.features[node]]
        left = tree.nan_left[node] if value != value else value <= tree.thresholds[node]
        node = int((tree.left if left else tree.right)[node])
    return float(tree.leaves[-1 - node])


def forest_score(forest: Forest, row: list[float]) -> float:
    total = sum(tree_score(tree, row) for tree in forest.trees)
    return total / len(forest.trees) if forest.mean else total


def with_holes(features: Features) -> Features:
    values = features.values.copy()
    values[::4, 0] = np.nan
    values[::3, 1] = np.nan
    return replace(features, values=values)


@pytest.mark.parametrize("method", [LambdaMART, RandomForest])
def test_the_trees_score_as_lightgbm_does(method: type[LambdaMART | RandomForest]) -> None:
    whole = make_features()
    for training in (whole, with_holes(whole)):
        ranker = method(trees=15, leaf_documents=5).fit(training)
        forest = forest_of(ranker.trees_)
        assert len(forest.trees) == 15
        for scored in (whole, with_holes(whole)):
            expected = [forest_score(forest, row) for row in scored.values.tolist()]
            assert ranker.predict(scored) == pytest.approx(expected, rel=1e-12, abs=1e-12)


TEXT = LambdaMART(trees=3, leaf_documents=5).fit(with_holes(make_features())).trees_
CHANGES = {
    "a child that is its parent": (r"left_child=\S+", "left_child=0"),
    "a child that is not there": (r"right_child=\S+", "right_child=99"),
    "a leaf that is not there": (r"right_child=\S+", "right_child=-99"),
    "an unknown feature": (r"split_feature=\S+", "split_feature=5"),
    "a feature below 0": (r"split_feature=\S+", "split_feature=-1"),
    "a threshold that is no number": (r"threshold=\S+", "threshold=nan"),
    "a leaf that is no number": (r"leaf_value=\S+", "leaf_value=1e999"),
    "a categorical split": (r"decision_type=\S+", "decision_type=1"),
    "another number of leaves": (r"num_leaves=\d+", "num_leaves=99"),
    "very many leaves": (r"num_leaves=\d+", "num_leaves=99999999999999999999"),
    "two blanks": (r"leaf_count=(\d+) ", r"leaf_count=\1  "),
    "a count that is not whole": (r"leaf_count=\d+", "leaf_count=1.5"),
    "a number in another form": (r"split_feature=(\d)", r"split_feature=+\1"),
    "a linear tree": ("is_linear=0", "is_linear=1"),
    "categories": ("num_cat=0", "num_cat=1"),
    "an entry twice": ("num_cat=0", "num_cat=0\nnum_cat=0"),
    "several classes": ("num_class=1", "num_class=2"),
    "several trees a round": ("num_tree_per_iteration=1", "num_tree_per_iteration=9"),
    "another version": ("version=v4", "version=v5"),
    "more features": ("max_feature_idx=4", "max_feature_idx=5"),
    "other names of features": ("Column_0", "Column_9"),
    "another objective": ("objective=lambdarank", "objective=custom"),
    "other sizes of trees": (r"tree_sizes=\d+", "tree_sizes=7"),
    "sizes below 0": (r"tree_sizes=\d+", "tree_sizes=-7"),
    "no end": ("end of trees\n", ""),
    "more after the end": ("end of trees\n", "end of trees\nparameters:\n"),
    "no header": ("tree\n", "wood\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_text_that_training_would_not_write_is_refused(change: str) -> None:
    pattern, instead = CHANGES[change]
    changed = re.sub(pattern, instead, TEXT, count=1)
    assert changed != TEXT
    with pytest.raises(RankgaugeError, match="the trees are not LightGBM's"):
        forest_of(_resized(changed) if "sizes" not in change else changed)


def _resized(text: str) -> str:
    """The text with the sizes of its trees set right, so that something else has to be noticed."""
    sizes = [len(block) for block in re.findall(r"Tree=.*?\n\n\n", text, flags=re.DOTALL)]
    return re.sub("tree_sizes=.*", f"tree_sizes={' '.join(map(str, sizes))}", text, count=1)


@examples(100)
@given(
    st.integers(0, len(TEXT) - 1), st.integers(0, 3), st.text("0123456789-.e= \nTabc", max_size=3)
)
def test_changed_texts_are_refused_or_have_whole_trees(place: int, cut: int, put: str) -> None:
    changed = TEXT[:place] + put + TEXT[place + cut :]
    try:
        forest = forest_of(changed)
    except RankgaugeError:
        return
    for tree in forest.trees:
        tree_score(tree, [0.5] * forest.features)

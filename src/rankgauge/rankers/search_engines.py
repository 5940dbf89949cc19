"""Models as the learning-to-rank plug-in of Elasticsearch and OpenSearch takes them.

The plug-in knows trees in XGBoost's JSON (`model/xgboost+json`) and weighted sums (`model/linear`), and
normalizes features by numbers that are part of the model. It compares in single precision.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import count_phrase
from rankgauge.data.scaling import Scaling
from rankgauge.errors import NotExportable, RankgaugeError
from rankgauge.io.files import atomic_write
from rankgauge.rankers.tree_text import Forest, Tree

DEEPEST = 900
"""JSON nested deeper than this is refused by readers."""


def tree_model(
    forest: Forest, scaling: Scaling, names: Sequence[str] | None, name: str
) -> dict[str, Any]:
    """Trees in XGBoost's JSON. The score of the engine is the sum of the trees."""
    called = _names(names, forest.features)
    share = 1 / len(forest.trees) if forest.mean else 1.0
    used = {int(feature) for tree in forest.trees for feature in tree.features}
    trees = [_nodes(tree, called, share) for tree in forest.trees]
    return _model("model/xgboost+json", trees, _normalizers(scaling, called, used), name)


def linear_model(
    weights: Floats, scaling: Scaling, names: Sequence[str] | None, name: str
) -> dict[str, Any]:
    """A weighted sum. The constant is left out: it does not change rankings."""
    called = _names(names, len(weights))
    used = set(np.flatnonzero(weights).tolist())
    sums = {called[feature]: float(weights[feature]) for feature in sorted(used)}
    return _model("model/linear", sums, _normalizers(scaling, called, used), name)


def write_model(model: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a model into a JSON file, at once."""
    import json

    with atomic_write(path) as stream:
        stream.write((json.dumps(model, allow_nan=False, indent=1) + "\n").encode())


def _model(kind: str, definition: Any, normalizers: dict[str, Any], name: str) -> dict[str, Any]:
    """What is sent to the engine. The definition is a text inside, as the plug-in wants it."""
    import json

    model: dict[str, Any] = {"type": kind, "definition": json.dumps(definition, allow_nan=False)}
    if normalizers:
        model["feature_normalizers"] = normalizers
    return {"model": {"name": name, "model": model}}


def _names(names: Sequence[str] | None, width: int) -> list[str]:
    if names is None:
        return [f"feature_{number}" for number in range(1, width + 1)]
    called = list(names)
    if isinstance(names, str) or len(called) != width or len(set(called)) < width:
        raise RankgaugeError(
            f"names: expected {count_phrase(width, 'different name')}, one per feature, in the "
            "order of the features"
        )
    return called


def _normalizers(scaling: Scaling, names: list[str], used: set[int]) -> dict[str, Any]:
    """How the engine normalizes the features that the model looks at."""
    if scaling.per_query:
        raise NotExportable(
            "the ranker normalizes features within each query, but search engines score "
            "documents one at a time; train it with normalize='z', 'min-max' or 'none'"
        )
    if scaling.center is None or scaling.scale is None:
        return {}
    normalizers = {}
    for feature in sorted(used):
        center, scale = scaling.center[feature], scaling.scale[feature]
        if not scale > 0:
            raise NotExportable(f"feature {feature + 1} is constant, but the model uses it")
        if scaling.kind == "z":
            numbers = {"standard": {"mean": center, "standard_deviation": scale}}
        else:
            numbers = {"min_max": {"minimum": center, "maximum": center + scale}}
        normalizers[names[feature]] = numbers
    return normalizers


def _nodes(tree: Tree, names: list[str], share: float) -> dict[str, Any]:
    """A tree in XGBoost's JSON, where values below the split condition go to `yes`."""
    leaves = (tree.leaves * share).tolist()
    if not len(tree.features):
        return {"nodeid": 0, "leaf": leaves[0]}
    conditions = next_single_above(tree.thresholds).tolist()
    built: dict[int, dict[str, Any]] = {}
    # Children come after their parents, so from the last node to the first.
    count = len(tree.features)
    depth = np.zeros(count, dtype=np.int64)
    for node in range(count):
        for child in (tree.left[node], tree.right[node]):
            if child > 0:
                depth[child] = depth[node] + 1
    if depth.max() > DEEPEST:
        raise NotExportable(f"a tree is deeper than {DEEPEST}; train with fewer leaves")
    for node in range(count - 1, -1, -1):
        yes, no = (
            built.pop(int(child))
            if child > 0
            else {"nodeid": count - 1 - int(child), "leaf": leaves[-1 - int(child)]}
            for child in (tree.left[node], tree.right[node])
        )
        built[node] = {
            "nodeid": node,
            "depth": int(depth[node]),
            "split": names[int(tree.features[node])],
            "split_condition": conditions[node],
            "yes": yes["nodeid"],
            "no": no["nodeid"],
            "missing": (yes if tree.nan_left[node] else no)["nodeid"],
            "children": [yes, no],
        }
    return built[0]


def next_single_above(thresholds: Floats) -> Floats:
    """The least number in single precision above each threshold.

    A single-precision value is at most the threshold exactly if it is less than this number.
    """
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
    following = np.nextafter(single, np.float32(np.inf))
    result: Floats = np.where(single > thresholds, single, following).astype(np.float64)
    return np.minimum(result, float(np.finfo(np.float32).max))

"""LightGBM's text of a model: read into arrays, and checked, before LightGBM itself reads it.

LightGBM trusts what it reads, so a wrong number in a file could make it read memory that is not its own.
Only what training writes is accepted: numerical splits, one tree a round, every node in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError

END = "end of trees\n"
AVERAGE = "average_output"
"""A line of the header: scores are means over trees, not sums."""

HEADER = (
    "version",
    "num_class",
    "num_tree_per_iteration",
    "label_index",
    "max_feature_idx",
    "objective",
    "feature_names",
    "feature_infos",
    "tree_sizes",
)
FIXED = {"version": "v4", "num_class": "1", "num_tree_per_iteration": "1", "label_index": "0"}
OBJECTIVES = ("lambdarank", "rank_xendcg", "regression")

NODE_INTS = ("split_feature", "decision_type", "left_child", "right_child", "internal_count")
NODE_FLOATS = ("split_gain", "threshold", "internal_value", "internal_weight")
LEAF_FLOATS = ("leaf_value", "leaf_weight")
LEAF_INTS = ("leaf_count",)
TREE = {
    *("Tree", "num_leaves", "num_cat", "is_linear", "shrinkage"),
    *NODE_INTS,
    *NODE_FLOATS,
    *LEAF_FLOATS,
    *LEAF_INTS,
}

NUMBERS = re.compile(r"[-+0-9.e ]*")
"""The characters in lists of numbers: no hex, no inf, no nan."""
RANGE = re.compile(r"none|\[[-+0-9.e]+:[-+0-9.e]+\]")

DEFAULT_LEFT, MISSING_NAN = 2, 8
"""The bits of decision_type: where NaN goes, and whether NaN was seen in training."""


class Tree(Record):
    """A tree of numerical splits: node i sends values up to its threshold to left[i].

    A child from 0 on is a node, and a negative one is the leaf -1 - child. A tree of one leaf has no
    nodes. NaN goes to the left where `nan_left`.
    """

    features: Ints
    thresholds: Floats
    nan_left: Bools
    left: Ints
    right: Ints
    leaves: Floats


class Forest(Record):
    """The trees of a model, and whether its score is their mean or their sum."""

    trees: tuple[Tree, ...]
    features: int
    mean: bool


def trim_model_text(text: str) -> str:
    """The text of a model up to the end of its trees; what follows does not change scores."""
    return text[: text.index(END)] + END


def forest_of(text: str) -> Forest:
    """The trees in the text of a model; RankgaugeError for any text that training would not write."""
    try:
        return _forest(text)
    except (ValueError, OverflowError, KeyError) as error:
        raise RankgaugeError(f"the trees are not LightGBM's: {error}") from None


def _forest(text: str) -> Forest:
    head, blank, rest = text.partition("\n\n")
    lines = head.split("\n")
    if lines[0] != "tree" or not blank or not text.isascii():
        raise ValueError("no header")
    mean = AVERAGE in lines
    entries = _entries([line for line in lines[1:] if line != AVERAGE])
    if tuple(entries) != HEADER or len(lines) != 1 + len(HEADER) + mean:
        raise ValueError("another header")
    for key, value in FIXED.items():
        if entries[key] != value:
            raise ValueError(f"{key}={entries[key][:40]}, expected {value}")
    if entries["objective"] not in OBJECTIVES:
        raise ValueError(f"objective={entries['objective'][:40]}")
    names = entries["feature_names"].split(" ")
    width = len(names)
    if names != default_names(width) or entries["max_feature_idx"] != str(width - 1):
        raise ValueError("other features")
    ranges = entries["feature_infos"].split(" ")
    if len(ranges) != width or not all(map(RANGE.fullmatch, ranges)):
        raise ValueError("other feature_infos")
    sizes = _ints(entries["tree_sizes"])
    trees = tuple(_trees(rest, sizes.tolist(), width))
    if not trees:
        raise ValueError("no trees")
    return Forest(trees, width, mean)


def default_names(width: int) -> list[str]:
    """How LightGBM calls features that have no names."""
    return [f"Column_{number}" for number in range(width)]


def _trees(text: str, sizes: list[int], width: int) -> Iterator[Tree]:
    """The trees, which must be as long as the header says, with nothing between them."""
    start = 0
    for number, size in enumerate(sizes):
        if size <= 0:
            raise ValueError("a tree without text")
        block = text[start : start + size]
        start += size
        if not block.endswith("\n\n\n"):
            raise ValueError(f"tree {number} ends at the wrong place")
        yield _tree(_entries(block[:-3].split("\n")), number, width)
    if text[start:] != END:
        raise ValueError("unexpected text after the trees")


def _entries(lines: list[str]) -> dict[str, str]:
    pairs = [line.partition("=") for line in lines]
    entries = {key: value for key, _, value in pairs}
    if len(entries) < len(pairs) or not all(sign for _, sign, _ in pairs):
        raise ValueError("a line that is not one entry")
    return entries


def _tree(entries: dict[str, str], number: int, width: int) -> Tree:
    if entries.keys() != TREE or entries["Tree"] != str(number):
        raise ValueError(f"tree {number} has unexpected entries")
    if (entries["num_cat"], entries["is_linear"]) != ("0", "0"):
        raise ValueError(f"tree {number} has splits that are not numerical")
    (leaves,) = _ints(entries["num_leaves"]).tolist()
    if not 1 <= leaves <= len(entries["leaf_value"]) or _floats(entries["shrinkage"]).size != 1:
        raise ValueError(f"tree {number} has no leaves")
    ints = {name: _check_size(_ints(entries[name]), leaves - 1) for name in NODE_INTS}
    floats = {name: _check_size(_floats(entries[name]), leaves - 1) for name in NODE_FLOATS}
    values = _check_size(_floats(entries["leaf_value"]), leaves)
    if leaves > 1 or entries["leaf_weight"]:
        _check_size(_floats(entries["leaf_weight"]), leaves)
    _check_size(_ints(entries["leaf_count"]), leaves)
    kinds, features = ints["decision_type"], ints["split_feature"]
    if not np.isin(kinds, (0, DEFAULT_LEFT, MISSING_NAN, DEFAULT_LEFT + MISSING_NAN)).all():
        raise ValueError(f"tree {number} has splits that are not numerical")
    if leaves > 1 and not 0 <= features.min() <= features.max() < width:
        raise ValueError(f"tree {number} splits on an unknown feature")
    left, right = ints["left_child"], ints["right_child"]
    _check_children(left, right, leaves, number)
    # Where training saw no NaN, LightGBM takes NaN as 0.
    zero_left = floats["threshold"] >= 0
    nan_left = np.where(kinds & MISSING_NAN, (kinds & DEFAULT_LEFT) > 0, zero_left)
    return Tree(features, floats["threshold"], nan_left, left, right, values)


def _check_children(left: Ints, right: Ints, leaves: int, number: int) -> None:
    """Every node but the first, and every leaf, has one parent, and nodes come after their parents."""
    children = np.concatenate((left, right))
    parents = np.tile(np.arange(leaves - 1), 2)
    expected = np.concatenate((np.arange(-leaves, 0), np.arange(1, leaves - 1)))
    if leaves > 1 and not np.array_equal(np.sort(children), expected):
        raise ValueError(f"tree {number} is not a tree")
    if (children[children > 0] <= parents[children > 0]).any():
        raise ValueError(f"tree {number} is not a tree")


def _check_size(array: NDArray[Any], size: int) -> NDArray[Any]:
    if len(array) != size:
        raise ValueError(f"{count_phrase(len(array), 'number')}, expected {size}")
    return array


def _words(text: str) -> list[str]:
    """Numbers with one blank between them, as LightGBM writes them."""
    words = text.split()
    if not NUMBERS.fullmatch(text) or " ".join(words) != text:
        raise ValueError(f"{text[:40]!r} are not numbers")
    return words


def _floats(text: str) -> Floats:
    array = np.array(_words(text), dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a number that is not finite")
    return array


def _ints(text: str) -> Ints:
    words = _words(text)
    array = np.array([int(word) for word in words], dtype=np.int64)
    if [str(number) for number in array.tolist()] != words:
        raise ValueError(f"{text[:40]!r} are not whole numbers")
    if np.abs(array).max(initial=0) >= 2**31:
        raise ValueError("a number beyond 32 bits")
    return array

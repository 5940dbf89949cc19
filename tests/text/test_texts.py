"""Texts, as users give them: in lists or dicts, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rankgauge.errors import RankgaugeError
from rankgauge.text import Texts, overview


def test_lists_and_dicts_mean_the_same() -> None:
    lists = Texts(["s1", "s2"], ["r1", ["r2", "r3"]], {"a": ["x", None]}, ids=["one", "two"])
    dicts = Texts(
        {"two": "s2", "one": "s1"}, {"one": "r1", "two": ["r2", "r3"]}, {"a": {"one": "x"}}
    )
    for texts in (lists, dicts):
        assert texts.ids == ("one", "two")
        assert texts.sources == ("s1", "s2")
        assert texts.references == (("r1",), ("r2", "r3"))
        assert texts.outputs == {"a": ("x", None)}
    assert repr(lists) == "Texts: 2 texts, 1 system"


def test_candidates_are_system_by_system() -> None:
    texts = Texts(None, ["r1", "r2"], {"a": ["x", "y"], "b": ["z", None]})
    candidates = texts.candidates()
    assert candidates.outputs == ("x", "y", "z", "")
    assert candidates.of.tolist() == [0, 1, 0, 1]
    assert texts.sources == ("", "")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ((["s"], ["r1", "r2"], {"a": ["x", "y"]}), "sources: 1 item for 2 texts"),
        ((["s"], ["r"], {"a": ["x", "y"]}), "outputs of a: 2 items for 1 text"),
        ((["s"], ["r"], {"a": "x"}), "outputs of a is one text"),
        ((["s"], ["r"], [["x"]]), "the outputs are list, expected a dict"),
        ((["s"], iter(["r"]), {"a": ["x"]}), "the references are list_iterator, expected a list"),
        ((["s"], [[]], {"a": ["x"]}), "text '1' has no reference"),
        ((["s"], [3], {"a": ["x"]}), "text '1' has no reference"),
        (([3], ["r"], {"a": ["x"]}), "sources of text '1': 3 is not a text"),
        ((["s"], ["r"], {"a": [3]}), "outputs of a of text '1': 3 is not a text"),
        (({"9": "s"}, {"1": "r"}, {"a": ["x"]}), "sources: there is no text '9'"),
        ((["s", "t"], ["r", "q"], {"a": ["x", "y"]}, ["1", "1"]), "two texts have the id '1'"),
    ],
)
def test_refused(given: tuple, fault: str) -> None:
    with pytest.raises(RankgaugeError, match=fault):
        Texts(*given)


def test_some_systems_are_selected() -> None:
    texts = Texts(["s"], ["r"], {"a": ["x"], "b": ["y"], "c": [None]})
    assert texts.select(["c", "a"]).outputs == {"c": (None,), "a": ("x",)}
    with pytest.raises(RankgaugeError, match="there is no system 'd', expected one of a, b, c"):
        texts.select(["d"])


def test_what_is_made_of_texts_is_made_once() -> None:
    texts = Texts(["a b"], ["a"], {"s": ["a"]})
    made: list[int] = []

    def make(each: Texts) -> np.ndarray:
        made.append(len(each))
        return np.zeros(1)

    assert texts.once(make) is texts.once(make)
    assert made == [1]


def test_texts_that_were_scored_can_be_sent_to_other_processes() -> None:
    texts = Texts(["a b c. d"], ["a b"], {"s": ["a c"]})
    before = overview(texts, "rougeS").scores.mean()
    assert overview(pickle.loads(pickle.dumps(texts)), "rougeS").scores.mean() == before

"""What measures share, no measure can change: its arrays are read-only, wherever they are."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import rankgauge as rg
from rankgauge.core.arrays import Floats
from rankgauge.measures.answers import QueryReferenceScores, cached_scores
from rankgauge.rankings.alignment import align, judged_labels
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

QRELS = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
RUN = {"q1": {"x": 3.0, "a": 2.0, "c": 1.0}, "q2": {"a": 2.0, "d": 1.0}}


def lists(subtopics: bool = False) -> Rankings:
    if subtopics:
        judgments = rg.Judgments.from_subtopics({q: {"1": row} for q, row in QRELS.items()})
    else:
        judgments = rg.Judgments.from_dict(QRELS)
    return align(judgments, rg.Run.from_dict(RUN), judged_labels(judgments)).rankings


def arrays(owner: Any) -> dict[str, NDArray[Any]]:
    """The arrays of a record, those too that are worked out when they are first asked for."""
    names = [name for name in dir(type(owner)) if not name.startswith("_")]
    names += [field.name for field in dataclasses.fields(owner)]
    values = {name: getattr(owner, name) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


OWNERS: dict[str, Callable[[], Any]] = {
    "rankings": lists,
    "rankings with subtopics": lambda: lists(subtopics=True),
    "their top": lambda: lists().top(1),
    "judged": lambda: lists().judged,
    "some of the judged": lambda: lists().judged.take(np.array([1])),
    "best first": lambda: lists().judged.best_first,
    "of labels": lambda: Rankings.of([1, 0], [0]),
    "tied": lambda: TiedRankings.all_tied(lists().judged),
}


@pytest.mark.parametrize("copied", [False, True], ids=["here", "elsewhere"])
@pytest.mark.parametrize("owner", OWNERS)
def test_no_array_can_be_written_into(owner: str, copied: bool) -> None:
    subject = OWNERS[owner]()
    assert len(arrays(subject)) >= 3
    if copied:
        subject = pickle.loads(pickle.dumps(subject))
    for name, array in arrays(subject).items():
        assert not array.flags.writeable, name


def test_the_arrays_of_the_caller_stay_as_they_are() -> None:
    labels = np.array([1, 0], dtype=np.int32)
    rankings = dataclasses.replace(Rankings.of([1, 0]), labels=labels)
    assert np.shares_memory(rankings.labels, labels)  # a view, not a copy
    labels[0] = 2
    assert rankings.labels.tolist() == [2, 0]


class Pair(NamedTuple):
    first: Floats
    second: tuple[Floats, str]


def _pair(rankings: Rankings) -> Pair:
    return Pair(np.zeros(1), (np.ones(2), "text"))


def test_what_is_kept_can_be_read_alone() -> None:
    rankings = lists()
    kept = rankings.once(_pair)
    assert isinstance(kept, Pair)
    for pair in (kept, pickle.loads(pickle.dumps(rankings)).once(_pair)):
        assert pair.second[1] == "text"
        assert not pair.first.flags.writeable
        assert not pair.second[0].flags.writeable
    judged = JudgedLabels.of([1, 0], [1])
    about = QueryReferenceScores(judged)
    for array in (
        judged.relevant(1),
        about.ideal(rg.AP),
        about.expected(rg.AP),
        about.worst(rg.AP),
    ):
        assert not array.flags.writeable
    assert not cached_scores(rankings, rg.AP).flags.writeable


class Raising(rg.measures.Binary):
    """A plug-in that adds to what is kept for all measures."""

    name = "Raising"
    examples = ("Raising",)

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.judged.relevant(self.rel)
        relevant += 1
        return np.ones(len(lists))


class Lowering(rg.measures.Binary):
    """A plug-in that takes what is unjudged to be judged."""

    name = "Lowering"
    examples = ("Lowering",)

    def _score(self, lists: Rankings) -> Floats:
        labels = lists.labels
        labels[labels < 0] = 0
        return np.ones(len(lists))


@pytest.mark.parametrize("measure", [Raising(), Lowering()], ids=str)
@pytest.mark.parametrize("ties", ["docno", "expected"])
def test_a_measure_that_writes_is_named(measure: rg.Measure, ties: Any) -> None:
    with pytest.raises(rg.MeasureError, match=rf"{measure} fails: ValueError: .*read-only"):
        rg.evaluate(QRELS, RUN, [measure, rg.AP, rg.measures.upper(rg.AP)], ties=ties)

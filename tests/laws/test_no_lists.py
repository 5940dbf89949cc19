"""No list at all is no case apart: every measure answers with an array of no numbers.

A piece of a file may hold no judged query, and a run may lack none.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from laws.strategies import MEASURES, WRAPPERS, versions
from profiles import examples
from rankgauge.measures import Measure
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

NO_QUERY = JudgedLabels.of()
SOME_QUERIES = JudgedLabels.of([2, 0], [], [1])
NONE_TAKEN = SOME_QUERIES.take(np.zeros(0, dtype=np.int64))


def no_lists(judged: JudgedLabels) -> Rankings:
    """Rankings of none of these queries."""
    none = np.zeros(0, dtype=np.int64)
    return Rankings(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), none, judged)


def questions(measure: Measure, judged: JudgedLabels) -> Iterator[Callable[[], object]]:
    """All that can be asked of lists, where there are none; of queries too, where there are none."""
    lists = no_lists(judged)
    tied = TiedRankings.one_tie(lists)
    yield lambda: measure.score_each(lists)
    yield lambda: measure.tied_each(tied)
    yield lambda: measure.tied_variance_each(tied)
    yield lambda: measure.list_remarks(lists)
    if measure.bounding != "no":
        yield lambda: measure.bounds_each(lists)
    if measure.direction != "none":
        yield lambda: measure.extreme_each(tied, best=True)
        yield lambda: measure.extreme_each(tied, best=False)
    if measure.knows("_independent"):
        yield lambda: measure.independent_each(tied)
    if measure.knows("_full"):
        yield lambda: measure.full_each(tied)
    if len(judged):
        return
    yield lambda: measure.random_each(judged)
    yield lambda: measure.expected_each(judged)
    yield lambda: measure.variance_each(judged)
    yield lambda: measure.nothing_relevant_each(judged)
    yield lambda: measure.from_basis(np.zeros(0), judged)
    yield lambda: measure.query_remarks(judged)
    if measure.direction != "none":
        yield lambda: measure.ideal_each(judged)
        yield lambda: measure.worst_each(judged)


@pytest.mark.parametrize("name", sorted(MEASURES | WRAPPERS))
@given(data=st.data())
@examples(25)
def test_no_lists_have_no_scores(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    for judged in (NO_QUERY, NONE_TAKEN, SOME_QUERIES):
        for ask in questions(measure, judged):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                answer = ask()
            for array in answer if isinstance(answer, tuple) else (answer,):
                assert len(array) == 0

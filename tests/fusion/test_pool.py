"""The union of runs: every document once a query, with the score and the rank it has in each run."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from profiles import examples
from rankgauge.data.model import Ids, Run, encode
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.fusion.pool import Pool, pool_of

DOCUMENTS = st.text(alphabet="ab\0é", max_size=4).map(lambda text: f"d{text}")
SCORES = st.sampled_from([0.0, -1.5, 1.0, 1.0 + 1e-12, 2.0, 1e300, -1e300])
RUNS = st.lists(
    st.dictionaries(
        st.sampled_from(["t1", "t2", "t3"]),
        st.dictionaries(DOCUMENTS, SCORES, max_size=8),
        max_size=3,
    ),
    min_size=1,
    max_size=4,
)


@examples(200)
@given(RUNS)
def test_a_pool_is_what_its_definition_says(dicts: list) -> None:
    runs = [Run.from_dict(each, name=f"r{i}") for i, each in enumerate(dicts)]
    if not any(documents for each in dicts for documents in each.values()):
        with pytest.raises(RankgaugeError, match="no run contains a document"):
            pool_of(runs)
        return
    found = pool_of(runs)
    named = dict.fromkeys(topic for each in dicts for topic in each)
    topics = [topic for topic in named if any(each.get(topic) for each in dicts)]
    assert found.queries.texts() == topics
    for number, topic in enumerate(topics):
        lists = [each.get(topic, {}) for each in dicts]
        documents = sorted({d for each in lists for d in each}, key=encode, reverse=True)
        rows = slice(found.bounds[number], found.bounds[number + 1])
        assert found.documents.texts()[rows] == documents
        for column, each in enumerate(lists):
            order = sorted(sorted(each, key=encode, reverse=True), key=lambda d: -each[d])
            np.testing.assert_array_equal(
                found.scores[rows, column], [each.get(d, math.nan) for d in documents]
            )
            assert found.ranks[rows, column].tolist() == [
                order.index(d) + 1 if d in each else 0 for d in documents
            ]
            assert found.lengths[number, column] == len(each)
    assert found.topic.tolist() == np.repeat(range(len(topics)), np.diff(found.bounds)).tolist()


def test_the_same_run_twice_has_two_columns_alike() -> None:
    run = Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 2.0}})
    both = pool_of([run, run])
    assert both.ranks.tolist() == [[1, 1], [2, 2], [3, 3]]  # c, b, a


def test_one_run_is_a_pool() -> None:
    assert isinstance(pool_of([Run.from_dict({"q": {"a": 1.0}})]), Pool)


def test_no_run_is_refused() -> None:
    with pytest.raises(RankgaugeError, match="no runs, expected at least one"):
        pool_of([])


def test_a_score_that_is_no_number_is_refused_with_its_place() -> None:
    run = Run("dense", Ids.of(["q7"]), np.array([0, 1]), Ids.of(["d9"]), np.array([math.nan]))
    with pytest.raises(InputError, match="dense: the score of document 'd9' of query 'q7' is NaN"):
        pool_of([run])

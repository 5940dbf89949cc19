"""Judged labels of some of the queries, and lists cut to their tops, are those of their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, strategies as st

from rankgauge.rankings.lists import JudgedLabels, Rankings

queries = st.lists(
    st.tuples(st.lists(st.integers(0, 3), max_size=4), st.integers(0, 3)), min_size=1, max_size=5
)


@given(queries, st.data())
def test_queries_taken_from_others_keep_what_is_known_of_them(
    known: list[tuple[list[int], int]], data: st.DataObject
) -> None:
    pooled = np.array([count for _, count in known])
    whole = replace(JudgedLabels.of(*(labels for labels, _ in known)), pooled=pooled)
    chosen = data.draw(st.lists(st.integers(0, len(known) - 1), max_size=6))
    part = whole.take(np.array(chosen, dtype=np.int64))
    assert len(part) == len(chosen)
    assert part.max_grade == whole.max_grade
    assert part.pooled.tolist() == pooled[chosen].tolist()
    for i, query in enumerate(chosen):
        labels = part.labels[part.offsets[i] : part.offsets[i + 1]].tolist()
        assert labels == sorted(known[query][0], reverse=True)
    assert part.relevant(2).tolist() == whole.relevant(2)[chosen].tolist()


@given(st.lists(st.lists(st.integers(-2, 3), max_size=5), max_size=4), st.integers(1, 6))
def test_the_top_of_a_list_is_its_first_documents(lists: list[list[int]], cutoff: int) -> None:
    top = Rankings.of(*lists).top(cutoff)
    pairs = zip(top.offsets[:-1], top.offsets[1:], strict=True)
    assert [top.labels[a:b].tolist() for a, b in pairs] == [labels[:cutoff] for labels in lists]

"""Which queries to judge deeply: one of each stratum, all queries with the same chance."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge.forecast import choose_queries

COUNTS = st.dictionaries(
    st.text(min_size=1, max_size=4), st.integers(0, 9), min_size=1, max_size=12
)


@examples(100)
@given(COUNTS, st.data())
def test_the_draw_depends_on_ids_and_seed_alone(
    counts: dict[str, int], data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, len(counts)))
    seed = data.draw(st.integers(0, 99))
    drawn = choose_queries(counts, m, seed)
    assert len(set(drawn)) == len(drawn) == m
    assert set(drawn) <= set(counts)
    mixed = dict(data.draw(st.permutations(list(counts.items()))))
    assert choose_queries(mixed, m, seed) == drawn


@examples(60)
@given(st.integers(1, 30), st.data())
def test_one_topic_is_drawn_of_each_stratum(topics: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(1, topics))
    drawn = choose_queries({f"t{n}": n for n in range(topics)}, m, data.draw(st.integers(0, 99)))
    for stratum, topic in enumerate(drawn):
        place = int(topic[1:])
        assert place + 1 > stratum * topics / m
        assert place < (stratum + 1) * topics / m


@pytest.mark.parametrize(("topics", "m"), [(6, 2), (7, 3), (5, 4), (8, 5), (4, 4)])
def test_every_topic_has_the_same_chance(topics: int, m: int) -> None:
    counts = {f"t{n}": n for n in range(topics)}
    draws = 4000
    drawn = Counter(topic for seed in range(draws) for topic in choose_queries(counts, m, seed))
    chance = m / topics
    error = np.sqrt(chance * (1 - chance) / draws)
    for topic in counts:
        assert abs(drawn[topic] / draws - chance) <= 4.5 * error


def test_topics_of_a_pilot_are_not_drawn_again_and_chances_stay_equal() -> None:
    counts = {f"t{n}": n for n in range(7)}
    draws = 4000
    drawn: Counter[str] = Counter()
    for seed in range(draws):
        pilot = choose_queries(counts, 2, seed)
        more = choose_queries(counts, 3, seed + draws, without=pilot)
        assert not set(pilot) & set(more)
        drawn.update((*pilot, *more))
    error = np.sqrt(5 / 7 * (2 / 7) / draws)
    assert all(abs(drawn[topic] / draws - 5 / 7) <= 4.5 * error for topic in counts)


def test_judgments_are_counted_by_relevant_documents() -> None:
    qrels = {"a": {"d1": 1, "d2": 2, "d3": 0}, "b": {"d1": 0, "d2": -1}, "c": {"d1": 1}}
    for seed in range(20):
        assert choose_queries(qrels, 2, seed) == choose_queries({"a": 2, "b": 0, "c": 1}, 2, seed)
    judged = rg.Judgments.from_dict(qrels)
    assert choose_queries(judged, 2, 3) == choose_queries(qrels, 2, 3)


def test_seeds_differ() -> None:
    counts = {f"t{n}": n for n in range(40)}
    assert len({choose_queries(counts, 5, seed) for seed in range(20)}) > 15


def test_what_cannot_be_chosen_is_refused() -> None:
    with pytest.raises(rg.RankgaugeError, match="m=3, expected at most 2"):
        choose_queries({"a": 1, "b": 2}, 3)
    with pytest.raises(rg.RankgaugeError, match="m=0, expected a whole number from 1"):
        choose_queries({"a": 1}, 0)
    with pytest.raises(rg.RankgaugeError, match="no queries"):
        choose_queries({}, 1)
    with pytest.raises(rg.RankgaugeError, match="relevant documents of query 'a'=-1"):
        choose_queries({"a": -1}, 1)
    with pytest.raises(rg.RankgaugeError, match="without: no query 'x'"):
        choose_queries({"a": 1, "b": 2}, 1, without=["x"])
    with pytest.raises(rg.RankgaugeError, match="without='ab' is a single string"):
        choose_queries({"a": 1, "b": 2}, 1, without="ab")
    with pytest.raises(rg.RankgaugeError, match="seed=-1"):
        choose_queries({"a": 1}, 1, seed=-1)

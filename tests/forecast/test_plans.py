"""How many deep queries a wished width needs, from a pilot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import rankgauge as rg
from profiles import examples
from rankgauge.core.arrays import Floats
from rankgauge.forecast import plan
from rankgauge.forecast.plans import fewest_queries
from rankgauge.forecast.ratio_estimator import RatioEstimate, half_width


def width(variance: float, m: int, topics: int, level: float) -> float:
    """The careful width, from its definition."""
    if m == topics:
        return 0.0
    t = stats.t.ppf(0.5 + level / 2, m - 1)
    return float(2 * t * np.sqrt(1.75 * variance * (1 / m - 1 / topics)))


@examples(100)
@given(
    st.floats(1e-6, 0.1),
    st.floats(0.001, 0.5),
    st.integers(2, 10),
    st.integers(0, 60),
    st.sampled_from([0.8, 0.95]),
)
def test_the_plan_is_the_smallest_number_that_does(
    variance: float, wished: float, pilot: int, more: int, level: float
) -> None:
    topics = pilot + more
    expected = next(
        m for m in range(pilot, topics + 1) if width(variance, m, topics, level) <= wished
    )
    assert fewest_queries(variance, wished, pilot, topics, level) == expected


def made(topics: int = 40) -> tuple[Floats, Floats]:
    """Shallow and deep scores of 12 runs."""
    random = np.random.default_rng(5)
    shallow = random.uniform(0.2, 0.9, (12, topics))
    return shallow, shallow * random.uniform(0.5, 0.9, (1, topics))


def scores(values: Floats, topics: list[str]) -> rg.Scores:
    runs = [f"r{number}" for number in range(len(values))]
    return rg.Scores.from_matrix(values, runs=runs, measure="nDCG@100", queries=topics)


def test_a_plan_says_how_many_more_topics_and_which_widths_to_expect() -> None:
    shallow, deep = made()
    topics = [f"t{number}" for number in range(40)]
    both = scores(shallow, topics), scores(deep[:, :5], topics[:5])
    found = plan(*both, 0.06)
    assert (found.pilot, found.queries, found.more) == (5, 40, found.needed - 5)
    assert 5 < found.needed < 40
    assert found.widths(found.needed)[1] <= 0.06 < found.widths(found.needed - 1)[1]
    assert found.variance == rg.two_phase(*both).pooled_variance
    frame = found.to_polars()
    assert frame["deep_topics"].is_sorted()
    assert frame["deep_topics"][-1] == 40
    assert frame["expected_width"].is_sorted(descending=True)
    assert frame["careful_width"][-1] == 0
    enough = frame.filter(frame["enough"] == "yes")
    assert enough["deep_topics"].min() == found.needed
    every = scores(deep, topics)
    assert plan(both[0], every, 0.06, queries=topics[:5]).needed == found.needed
    assert repr(found).startswith(f"Plan: {found.needed} of 40 queries")
    answer = (
        f"judge {found.needed} queries deeply for a width of 0.06, {found.more} more than the 5"
    )
    assert answer in str(found.notes[0])


def test_a_wide_wish_needs_no_more_than_the_pilot_and_a_tiny_one_all_topics() -> None:
    shallow, deep = made()
    topics = [f"t{number}" for number in range(40)]
    both = scores(shallow, topics), scores(deep[:, :5], topics[:5])
    wide, narrow = plan(*both, 10.0), plan(*both, 1e-9)
    assert (wide.more, narrow.needed) == (0, 40)
    assert "the 5 deep queries that you have are enough" in str(wide.notes[0])
    assert "judge all 40 queries deeply for a width of 1e-09, 35 more" in str(narrow.notes[0])


def test_most_pilots_reach_the_width() -> None:
    shallow, deep = made(50)
    random = np.random.default_rng(6)
    every = np.arange(50)
    variance = RatioEstimate(shallow, deep, every, 0.95).pooled_variance
    wished = 2 * float(half_width(np.array(variance), 12, 50, 0.95))
    reached = []
    for _ in range(300):
        order = random.permutation(50)
        pilot = RatioEstimate(shallow, deep[:, order[:5]], order[:5], 0.95)
        m = fewest_queries(pilot.pooled_variance, wished, 5, 50)
        last = RatioEstimate(shallow, deep[:, order[:m]], order[:m], 0.95)
        reached.append(2 * half_width(np.array(last.pooled_variance), m, 50, 0.95) <= wished)
    assert np.mean(reached) >= 0.75


def test_a_pilot_needs_two_topics_and_a_variance() -> None:
    shallow, deep = made()
    topics = [f"t{number}" for number in range(40)]
    with pytest.raises(rg.RankgaugeError, match="a pilot of at least 2"):
        plan(scores(shallow, topics), scores(deep[:, :1], topics[:1]), 0.05)
    flat = np.full_like(deep, 0.5)
    found = plan(scores(flat, topics), scores(flat[:, :5], topics[:5]), 0.05)
    assert any("the plan is meaningless" in str(note) for note in found.notes)
    with pytest.raises(rg.RankgaugeError, match="width=0, expected a number above 0"):
        plan(scores(shallow, topics), scores(deep[:, :5], topics[:5]), 0)

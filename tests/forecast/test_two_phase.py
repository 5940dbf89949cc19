"""Two-phase estimates: the deep means of runs, from deep scores on a few queries."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from oracles import two_phase as oracle
from profiles import examples
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import WARNING
from rankgauge.forecast.ratio_estimator import RatioEstimate

MEASURE = "nDCG@100"


class Case(NamedTuple):
    """Shallow scores, run × query; deep scores, run × deep query; and which queries are deep."""

    shallow: Floats
    deep: Floats
    chosen: list[int]

    @property
    def queries(self) -> list[str]:
        return [f"t{number}" for number in range(self.shallow.shape[1])]

    @property
    def runs(self) -> list[str]:
        return [f"run{number}" for number in range(len(self.shallow))]

    def scores(self) -> tuple[rg.Scores, rg.Scores]:
        deep_queries = [self.queries[number] for number in self.chosen]
        return (
            matrix(self.shallow, self.runs, self.queries),
            matrix(self.deep, self.runs, deep_queries),
        )


def matrix(values: Floats, runs: list[str], topics: list[str], measure: str = MEASURE) -> rg.Scores:
    return rg.Scores.from_matrix(values, runs=runs, measure=measure, queries=topics)


@st.composite
def cases(draw: st.DrawFn, least_runs: int = 1, everything: bool = False) -> Case:
    runs, topics = draw(st.integers(least_runs, 6)), draw(st.integers(2, 9))
    m = topics if everything else draw(st.integers(2, topics))
    scores = st.integers(0, 20).map(lambda number: number / 20)
    values = [draw(st.lists(scores, min_size=topics, max_size=topics)) for _ in range(2 * runs)]
    shallow, deep = np.array(values[:runs]), np.array(values[runs:])
    chosen = sorted(draw(st.permutations(range(topics)))[:m])
    if not shallow[:, chosen].any():
        shallow[0, chosen[0]] = 0.5
    return Case(shallow, deep[:, chosen], chosen)


@examples(100)
@given(cases(), st.sampled_from([0.5, 0.9, 0.95]))
def test_estimates_are_those_of_the_definition(case: Case, level: float) -> None:
    found = rg.two_phase(*case.scores(), level=level)
    expected = oracle.estimates(case.deep.tolist(), case.shallow.tolist(), case.chosen, level)
    for name in ("mean", "low", "high"):
        values = [getattr(estimate, name) for estimate in expected]
        np.testing.assert_allclose(getattr(found, name), values, atol=1e-9)
    b = oracle.ratio(case.deep.tolist(), case.shallow.tolist(), case.chosen)
    assert found.ratio == pytest.approx(b)


@examples(100)
@given(cases(least_runs=2))
def test_differences_are_those_of_the_definition(case: Case) -> None:
    found = rg.two_phase(*case.scores())
    expected = oracle.differences(case.deep.tolist(), case.shallow.tolist(), case.chosen, 0.95)
    for name, column in zip(("mean", "low", "high"), found.pairs, strict=False):
        values = [getattr(estimate, name) for estimate in expected]
        np.testing.assert_allclose(column, values, atol=1e-6)
    inside = (found.mean > 0) & (found.mean < 1)
    apart = found.mean[found.first] - found.mean[found.second]
    both = inside[found.first] & inside[found.second]
    np.testing.assert_allclose(found.pairs.value[both], apart[both], atol=1e-12)


@examples(60)
@given(cases(least_runs=2))
def test_a_difference_is_significant_if_its_interval_leaves_out_0(case: Case) -> None:
    found = rg.two_phase(*case.scores())
    difference, low, high, p = found.pairs
    width = high - low
    clear = (width > 1e-6) & (np.minimum(np.abs(low), np.abs(high)) > 1e-9)
    assert ((p < 0.05) == ((low > 0) | (high < 0)))[clear].all()
    assert (p[difference == 0] == 1).all()
    stepped = 0.0
    for smaller, pair in enumerate(np.argsort(p, kind="stable")):
        stepped = max(stepped, (len(p) - smaller) * p[pair])
        assert found.p_corrected[pair] == pytest.approx(min(1.0, stepped))


@examples(100)
@given(cases())
def test_intervals_are_within_the_range_of_the_measure_and_hold_as_often(case: Case) -> None:
    found = rg.two_phase(*case.scores())
    plain = RatioEstimate(case.shallow, case.deep, np.array(case.chosen), 0.95)
    for before, raw in (("", plain.runs()), ("deep_", plain.deep_alone())):
        ends = [getattr(found, f"{before}{name}") for name in ("low", "mean", "high")]
        for end in ends:
            assert ((end >= 0) & (end <= 1)).all()
        for one, next_one in itertools.pairwise(ends):
            assert (one <= next_one).all()
        for truth in np.linspace(0.01, 0.99, 5):
            covers = (raw.low <= truth) & (truth <= raw.high)
            assert covers.tolist() == ((ends[0] <= truth) & (truth <= ends[2])).tolist()
    assert (np.abs(found.pairs.low) <= 1).all()
    assert (np.abs(found.pairs.high) <= 1).all()


def test_scores_on_another_scale_than_the_measure_are_not_limited() -> None:
    shallow = np.array([[40.0, 80.0, 60.0, 20.0], [20.0, 40.0, 60.0, 80.0]])
    case = Case(shallow, np.array([[20.0, 80.0], [30.0, 40.0]]), [0, 1])
    found = rg.two_phase(*case.scores())
    plain = RatioEstimate(case.shallow, case.deep, np.array(case.chosen), 0.95).runs()
    assert found.low.tolist() == plain.low.tolist()
    assert found.low.min() < 0
    assert found.high.max() > 100


@examples(60)
@given(cases(everything=True))
def test_with_all_topics_deep_the_estimate_is_the_mean_and_the_width_is_0(case: Case) -> None:
    found = rg.two_phase(*case.scores())
    means = case.deep.mean(axis=1)
    assert found.mean.tolist() == found.low.tolist() == found.high.tolist() == means.tolist()
    assert any("does not extend to new queries" in str(note) for note in found.notes)
    best, worst = found.rank_ranges
    for run, mean in enumerate(means):
        higher, lower = means > mean + 1e-9, means < mean - 1e-9
        assert best[run] == 1 + higher.sum()
        assert worst[run] == len(means) - lower.sum()


@examples(60)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_runs_and_topics_does_not_matter(case: Case, random: object) -> None:
    shallow, deep = case.scores()
    found = rg.two_phase(shallow, deep)
    mixed = [list(names) for names in (shallow.runs, shallow.queries, deep.queries, deep.runs)]
    for names in mixed:
        random.shuffle(names)  # type: ignore[attr-defined]
    runs, topics, deep_queries, deep_runs = mixed
    other = rg.two_phase(
        shallow.select(topics, runs=runs), deep.select(deep_queries, runs=deep_runs)
    )
    place = [other.runs.index(run) for run in found.runs]
    for name in ("mean", "low", "high", "deep_mean", "deep_low", "deep_high", "shallow_mean"):
        np.testing.assert_allclose(
            getattr(other, name)[place], getattr(found, name), atol=1e-9, err_msg=name
        )
    assert set(other.deep_queries) == set(found.deep_queries)


@examples(60)
@given(cases(), st.sampled_from([0.125, 3.0, 1000.0]))
def test_a_constant_factor_on_the_shallow_scores_changes_nothing(case: Case, factor: float) -> None:
    one = RatioEstimate(case.shallow, case.deep, np.array(case.chosen), 0.95)
    other = RatioEstimate(factor * case.shallow, case.deep, np.array(case.chosen), 0.95)
    assert other.ratio == pytest.approx(one.ratio / factor)
    for ours, theirs in zip(one.runs(), other.runs(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_a_run_alone_has_another_ratio_and_so_another_estimate() -> None:
    shallow = np.array([[0.4, 0.8, 0.6, 0.2], [0.2, 0.4, 0.6, 0.8]])
    case = Case(shallow, np.array([[0.2, 0.4], [0.2, 0.4]]), [0, 1])
    both = [scores.select(runs=["run0"]) for scores in case.scores()]
    together, alone = rg.two_phase(*case.scores()), rg.two_phase(*both)
    assert (together.ratio, alone.ratio) == (pytest.approx(2 / 3), pytest.approx(0.5))
    assert alone.mean[0] != pytest.approx(together.mean[0])
    same = Case(shallow, shallow[:, :2] / 2, [0, 1])
    both = [scores.select(runs=["run0"]) for scores in same.scores()]
    assert rg.two_phase(*both).mean[0] == pytest.approx(rg.two_phase(*same.scores()).mean[0])


def test_where_deep_is_a_multiple_of_shallow_there_is_nothing_to_estimate() -> None:
    shallow = np.array([[0.4, 0.8, 0.6, 0.2], [0.2, 0.4, 0.6, 0.8]])
    found = rg.two_phase(*Case(shallow, shallow[:, 1:3] / 2, [1, 2]).scores())
    np.testing.assert_allclose(found.mean, shallow.mean(axis=1) / 2)
    np.testing.assert_allclose(found.high - found.low, 0, atol=1e-12)


def test_all_deep_scores_may_be_given_with_the_topics_to_use() -> None:
    random = np.random.default_rng(0)
    case = Case(random.random((4, 8)), random.random((4, 3)), [1, 4, 6])
    shallow, deep = case.scores()
    rest = [topic for topic in case.queries if topic not in deep.queries]
    every = matrix(np.hstack([case.deep, random.random((4, 5))]), case.runs, [*deep.queries, *rest])
    expected, found = rg.two_phase(shallow, deep), rg.two_phase(shallow, every, ["t6", "t1", "t4"])
    assert found.deep_queries == ("t1", "t4", "t6")
    assert found.mean.tolist() == expected.mean.tolist()
    assert found.low.tolist() == expected.low.tolist()


# Coverage


def covered(shallow: Floats, deep: Floats, m: int, draws: int) -> tuple[Floats, Floats, Floats]:
    """For each run how often the interval has the truth; mean error of it and of deep queries alone."""
    random = np.random.default_rng(m)
    truth = deep.mean(axis=1)
    inside, error, alone = [], [], []
    for _ in range(draws):
        chosen: Ints = np.sort(random.choice(deep.shape[1], m, replace=False))
        estimate = RatioEstimate(shallow, deep[:, chosen], chosen, 0.95)
        mean, low, high, _ = estimate.runs()
        inside.append((low <= truth) & (truth <= high))
        error.append(np.abs(mean - truth))
        alone.append(np.abs(estimate.deep_mean - truth))
    return np.mean(inside, axis=0), np.mean(error, axis=0), np.mean(alone, axis=0)


@pytest.mark.parametrize("m", [5, 10, 20])
def test_intervals_keep_their_promise_on_made_tracks(m: int) -> None:
    """Queries differ in how much of the relevant documents the shallow pool found."""
    random = np.random.default_rng(8)
    quality = random.uniform(0.3, 0.7, (20, 1)) * random.uniform(0.3, 1.0, (1, 50))
    shallow = np.clip(quality + random.normal(0, 0.08, (20, 50)), 0, 1)
    share = random.uniform(0.5, 0.9, (1, 50))
    deep = np.clip(shallow * share + random.normal(0, 0.02, (20, 50)), 0, 1)
    coverage, error, alone = covered(shallow, deep, m, 400)
    assert 0.93 <= coverage.mean() <= 0.985
    assert coverage.min() >= 0.88
    assert error.mean() < 0.75 * alone.mean()


# Edge cases


def test_one_deep_topic_has_an_estimate_without_an_interval() -> None:
    found = rg.two_phase(
        *Case(np.array([[0.4, 0.8], [0.2, 0.4]]), np.array([[0.2], [0.1]]), [0]).scores()
    )
    assert found.mean.round(12).tolist() == [0.3, 0.15]
    assert np.isnan([*found.low, *found.high, *found.variance, *found.pairs.p]).all()
    assert not found.separable.any()
    assert [ranks.tolist() for ranks in found.rank_ranges] == [[1, 1], [2, 2]]
    assert any("1 deep query gives no interval" in str(note) for note in found.notes)


def test_one_topic_that_is_deep_is_exact() -> None:
    found = rg.two_phase(*Case(np.array([[0.4], [0.2]]), np.array([[0.2], [0.1]]), [0]).scores())
    assert found.mean.tolist() == found.low.tolist() == found.high.tolist() == [0.2, 0.1]
    assert found.separable.tolist() == [True]


def test_shallow_scores_of_0_leave_the_deep_topics_alone() -> None:
    shallow = np.array([[0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 0.3]])
    found = rg.two_phase(*Case(shallow, np.array([[0.2, 0.4], [0.1, 0.2]]), [0, 1]).scores())
    assert np.isnan(found.ratio)
    np.testing.assert_allclose(found.mean, [0.3, 0.15])
    assert found.mean.tolist() == found.deep_mean.tolist()
    (note,) = (note for note in found.notes if note.severity == WARNING)
    assert "sum to 0" in str(note)


def test_constant_scores_have_a_width_of_0_and_a_warning() -> None:
    case = Case(np.full((2, 5), 0.7), np.full((2, 3), 0.1), [0, 1, 2])
    found = rg.two_phase(*case.scores())
    assert found.low.tolist() == found.high.tolist() == found.mean.tolist()
    np.testing.assert_allclose(found.mean, 0.1)
    assert not found.separable.any()
    assert any(
        "does not mean that the estimate is certain" in str(note)
        for note in found.notes
        if note.severity == WARNING
    )


def test_constant_deep_scores_are_estimated() -> None:
    shallow = np.array([[0.1, 0.4, 0.6, 0.3], [0.2, 0.2, 0.9, 0.5]])
    found = rg.two_phase(*Case(shallow, np.full((2, 3), 0.25), [0, 1, 2]).scores())
    assert (found.low < found.high).all()


def test_one_run_is_ranked_first_and_told_that_the_interval_may_fail() -> None:
    random = np.random.default_rng(1)
    found = rg.two_phase(*Case(random.random((1, 9)), random.random((1, 4)), [0, 1, 2, 3]).scores())
    assert found.table().rows[0][1:5] == (1, 1, 1, "run0")
    assert not len(found.pair_table().rows)
    assert any("comes from 1 run" in str(note) for note in found.notes)


def test_lower_is_better_where_the_measure_says_so() -> None:
    case = Case(
        np.array([[3.0, 5.0, 4.0], [1.0, 2.0, 2.0]]), np.array([[3.0, 5.0], [1.0, 2.0]]), [0, 1]
    )
    both = [replace(scores, measures=(rg.parse("SearchLength"),)) for scores in case.scores()]
    assert rg.two_phase(*case.scores()).ranking.tolist() == [0, 1]
    assert rg.two_phase(*both).ranking.tolist() == [1, 0]


def test_undefined_scores_leave_their_topic_out_of_both() -> None:
    random = np.random.default_rng(2)
    case = Case(random.random((3, 8)), random.random((3, 4)), [0, 1, 2, 3])
    case.shallow[1, 0] = case.shallow[0, 7] = case.deep[2, 1] = np.nan
    found = rg.two_phase(*case.scores())
    assert found.queries == ("t2", "t3", "t4", "t5", "t6")
    assert found.deep_queries == ("t2", "t3")
    clean = Case(case.shallow[:, 2:7], case.deep[:, 2:], [0, 1])
    np.testing.assert_allclose(found.mean, rg.two_phase(*clean.scores()).mean)
    texts = [str(note) for note in found.notes]
    assert any(text.startswith("shallow: ") and "2 queries excluded" in text for text in texts)
    assert any(text.startswith("deep: ") and "1 query excluded" in text for text in texts)
    with pytest.raises(rg.RankgaugeError, match="no deep query has a shallow and a deep score"):
        rg.two_phase(*case.scores(), queries=["t0", "t1"])


def test_topics_with_nothing_relevant_in_the_pool_are_counted() -> None:
    runs = {
        name: {f"q{q}": {"a": 3 + q % 2 * n, "b": 2, "c": 1} for q in range(4)}
        for n, name in enumerate(("one", "two"))
    }
    shallow = {f"q{q}": {"a": int(q > 0), "b": 0} for q in range(4)}
    deep = {f"q{q}": {"a": int(q > 0), "b": 0, "c": 1} for q in (0, 1)}
    found = rg.two_phase(*(rg.evaluate(qrels, runs, "AP") for qrels in (shallow, deep)))
    assert any("nothing relevant for 1 query" in str(note) for note in found.notes)


def test_measures_of_shallow_and_deep_scores_may_differ() -> None:
    shallow, deep = Case(np.array([[0.4, 0.8]]), np.array([[0.2]]), [0]).scores()
    found = rg.two_phase(replace(shallow, measures=(rg.parse("P@10"),)), deep)
    assert (str(found.shallow_measure), str(found.measure)) == ("P@10", MEASURE)
    assert any("by P@10" in str(note) for note in found.notes)


def test_different_highest_grades_are_told() -> None:
    run = {"q1": {"a": 2, "b": 1}, "q2": {"a": 2, "b": 1}}
    shallow = rg.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, run, "ERR@10")
    deep = rg.evaluate({"q1": {"a": 1, "b": 3}}, run, "ERR@10")
    assert any("the highest grade is 1" in str(note) for note in rg.two_phase(shallow, deep).notes)


# What does not fit together


def good() -> tuple[rg.Scores, rg.Scores]:
    return Case(np.array([[0.4, 0.8], [0.2, 0.4]]), np.array([[0.2], [0.1]]), [0]).scores()


def test_a_deep_topic_without_shallow_scores_is_named() -> None:
    shallow, deep = good()
    with pytest.raises(rg.RankgaugeError, match="no shallow scores for query 't0'"):
        rg.two_phase(shallow.select(["t1"]), deep)
    with pytest.raises(rg.RankgaugeError, match="no deep scores for 2 queries: 't1', 'x'"):
        rg.two_phase(shallow, deep, ["t0", "t1", "x"])
    many = [f"x{number}" for number in range(7)]
    with pytest.raises(rg.RankgaugeError, match="7 queries: 'x0', 'x1', 'x2', 'x3', 'x4', …"):
        rg.two_phase(shallow, deep, many)


def test_runs_that_differ_are_named() -> None:
    shallow, deep = good()
    with pytest.raises(rg.RankgaugeError, match="only the deep scores have run 'run1'"):
        rg.two_phase(shallow.select(runs=["run0"]), deep)
    with pytest.raises(rg.RankgaugeError, match="only the shallow scores have run 'run0'"):
        rg.two_phase(shallow, deep.select(runs=["run1"]))


def test_what_cannot_be_estimated_is_refused() -> None:
    shallow, deep = good()
    for topics, message in (([], "queries is empty"), ("t0", "is a single string")):
        with pytest.raises(rg.RankgaugeError, match=message):
            rg.two_phase(shallow, deep, topics)
    with pytest.raises(rg.RankgaugeError, match="level=1, expected"):
        rg.two_phase(shallow, deep, level=1)
    with pytest.raises(rg.RankgaugeError, match=r"2 measures .*: deep\.select\(measures=\['P@5"):
        rg.two_phase(shallow, replace(deep, measures=(rg.parse("P@5"),)).joined(deep))
    with pytest.raises(rg.RankgaugeError, match="shallow: standardized scores"):
        rg.two_phase(shallow.standardized(), deep)
    aggregate = replace(deep, measures=(rg.parse("gm(AP)"),))
    with pytest.raises(rg.RankgaugeError, match="not an arithmetic mean"):
        rg.two_phase(shallow, aggregate)
    with pytest.raises(rg.RankgaugeError, match="infinite"):
        rg.two_phase(shallow, replace(deep, values=np.full_like(deep.values, np.inf)))


# What is shown


def ranked() -> rg.TwoPhase:
    random = np.random.default_rng(3)
    shallow = np.linspace(0.9, 0.2, 6)[:, None] * random.uniform(0.6, 1.0, (6, 30))
    deep = 0.7 * shallow[:, :8] + random.normal(0, 0.01, (6, 8))
    return rg.two_phase(*Case(shallow, deep, list(range(8))).scores())


def test_the_table_ranks_runs_and_marks_those_that_may_change_places() -> None:
    found = ranked()
    frame = found.to_polars()
    assert frame["rank"].to_list() == [1, 2, 3, 4, 5, 6]
    assert frame["mean"].is_sorted(descending=True)
    assert ((frame["best_rank"] <= frame["rank"]) & (frame["rank"] <= frame["worst_rank"])).all()
    pairs = found.pair_table()
    assert len(pairs.rows) == 15
    for row in frame.iter_rows(named=True):
        better = [
            line
            for line in pairs.rows
            if row["run"] in line[1:3]
            and line[-1] == "yes"
            and (line[3] < 0) == (line[1] == row["run"])
        ]
        assert row["best_rank"] == 1 + len(better)


def test_the_figure_is_a_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from figure_files import saved

    assert saved(ranked().figure(), tmp_path / "f.svg").startswith(b"<?xml")

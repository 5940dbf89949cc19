"""What shallower pools say, as defined; runs outside the pool; teams left out; edges; real runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from oracles import pools as oracle
from profiles import examples
from rankgauge.comparison.consistency import split_halves
from rankgauge.core.resampling import SamplingOptions
from rankgauge.core.tables import Table
from rankgauge.forecast.teams import teams_of

TOPICS = tuple(f"q{number}" for number in range(6))
DOCUMENTS = tuple("abcdefgh")

grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 3), max_size=8)
qrels_dicts = st.fixed_dictionaries(dict.fromkeys(TOPICS, grades))
scores = st.sampled_from([0.5, 1.0, 1.5, 2.0, 2.5])
one_run = st.dictionaries(
    st.sampled_from(TOPICS),
    st.dictionaries(st.sampled_from(DOCUMENTS), scores, max_size=8),
    min_size=1,
    max_size=6,
)
several = st.lists(one_run, min_size=1, max_size=5)

QRELS = {
    "q1": {"a": 2, "b": 1, "c": 0, "d": 1},
    "q2": {"a": 0, "b": 1, "e": 1, "f": 0},
    "q3": {"c": 1, "d": 0, "e": 0, "g": 3},
}
RUNS = {
    "one": {"q1": ["a", "c", "b"], "q2": ["b", "a", "e"], "q3": ["d", "c"]},
    "two": {"q1": ["c", "b", "a"], "q2": ["a", "f", "b"], "q3": ["e", "d", "c"]},
    "three": {"q1": ["d", "x"], "q2": ["e", "f"], "q3": ["g"]},
}


def named(runs: list[Any]) -> dict[str, Any]:
    return {f"run {number}": run for number, run in enumerate(runs)}


def rows(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, abs_tol=1e-11) or (math.isnan(one) and math.isnan(other))


def scores_by_hand(
    qrels: dict[str, dict[str, int]],
    runs: dict[str, Any],
    measure: str,
    depth: int,
    pooled: list[str],
) -> tuple[np.ndarray, np.ndarray]:
    """The shallow and the deep scores, run × query."""
    highest = max([1, *(grade for judged in qrels.values() for grade in judged.values())])
    judged = oracle.judged(qrels, oracle.pooled(qrels, [runs[name] for name in pooled], depth))
    small = rg.evaluate(judged, runs, measure, max_grade=highest)
    return np.asarray(small)[:, :, 0], np.asarray(rg.evaluate(qrels, runs, measure))[:, :, 0]


def by_hand(
    qrels: dict[str, dict[str, int]],
    runs: dict[str, Any],
    depth: int,
    pooled: list[str],
    small: np.ndarray,
    deep: np.ndarray,
) -> dict[str, Any]:
    """A row of the table, from the definitions and the scores."""
    judged = oracle.judged(qrels, oracle.pooled(qrels, [runs[name] for name in pooled], depth))
    x, y = small.mean(axis=1).tolist(), deep.mean(axis=1).tolist()
    off = [a - b for a, b in zip(x, y, strict=True)]
    count = sum(grade >= 0 for each in judged.values() for grade in each.values())
    everything = sum(grade >= 0 for each in qrels.values() for grade in each.values())
    found = [sum(grade >= 1 for grade in each.values()) for each in judged.values()]
    relevant = sum(grade >= 1 for each in qrels.values() for grade in each.values())
    pairs = [
        (a, b)
        for a, b in itertools.combinations(range(len(runs)), 2)
        if oracle.significant(deep[a].tolist(), deep[b].tolist(), 0.95)
    ]
    flipped = [(a, b) for a, b in pairs if oracle.sign(x[a] - x[b]) * oracle.sign(y[a] - y[b]) < 0]
    opposed = [
        (a, b) for a, b in flipped if oracle.significant(small[a].tolist(), small[b].tolist(), 0.95)
    ]
    return {
        "depth": depth,
        "judgments": count,
        "saved": 1 - count / everything if everything else None,
        "relevant": sum(found) / relevant if relevant else None,
        "nothing": found.count(0),
        "bias": fmean(off),
        "error": fmean(map(abs, off)),
        "greatest": max(map(abs, off)),
        "tau": oracle.tau(x, y),
        "significant": len(pairs),
        "reversed": len(flipped),
        "opposed": len(opposed),
    }


@given(qrels_dicts, several, st.sampled_from(["nDCG@2", "AP", "ERR@4", "RBP", "SearchLength"]))
@examples(150)
def test_each_row_is_as_defined(
    qrels: dict[str, dict[str, int]], runs: list[Any], measure: str
) -> None:
    given = named(runs)
    apart = {depth: scores_by_hand(qrels, given, measure, depth, [*given]) for depth in (1, 3)}
    defined = np.isfinite([both for each in apart.values() for both in each]).all(axis=(0, 1))
    if not defined.any():
        with pytest.raises(rg.RankgaugeError, match="no query has a score for every run"):
            rg.judging_depth(qrels, given, measure, (1, 3))
        return
    found = rg.judging_depth(qrels, given, measure, (1, 3), splits=3)
    assert found.depths == (1, 3)
    for row, (depth, (small, deep)) in zip(rows(found.table()), apart.items(), strict=True):
        small, deep = small[:, defined], deep[:, defined]
        for name, value in by_hand(qrels, given, depth, [*given], small, deep).items():
            assert same(row[name], value), name
        if len(runs) > 1 and defined.sum() > 1:
            pairs = np.triu_indices(len(runs), 1)
            halves = split_halves(np.ascontiguousarray(deep), *pairs, SamplingOptions(3, 0))
            assert same(row["half_tau"], float(halves.tau.mean()))


@given(qrels_dicts, several, st.data())
@examples(60)
def test_runs_outside_the_pool_are_scored_by_it(
    qrels: dict[str, dict[str, int]], runs: list[Any], data: st.DataObject
) -> None:
    from scipy.stats import rankdata

    given = named(runs)
    pooled = data.draw(st.lists(st.sampled_from([*given]), min_size=1, unique=True))
    found = rg.judging_depth(qrels, given, "AP", [2], pooled=pooled, splits=1)
    (row,) = rows(found.table())
    small, deep = scores_by_hand(qrels, given, "AP", 2, pooled)
    expected = by_hand(qrels, given, 2, pooled, small, deep)
    assert all(same(row[name], expected[name]) for name in ("bias", "tau", "judgments"))
    outside = [place for place, name in enumerate(given) if name not in pooled]
    if not outside:
        assert "outside_bias" not in row
        return
    x, y = small.mean(axis=1), deep.mean(axis=1)
    inside = [place for place in range(len(given)) if place not in outside]
    assert same(row["inside_bias"], float((x - y)[inside].mean()))
    assert same(row["outside_bias"], float((x - y)[outside].mean()))
    fall = (rankdata(-x.round(12)) - rankdata(-y.round(12)))[outside]
    assert same(row["outside_ranks"], float(fall.mean()))
    assert same(row["outside_worst"], float(fall.max()))
    assert any("not in the pool" in note for note in found.table().notes)


@given(qrels_dicts, st.lists(one_run, min_size=2, max_size=5), st.data())
@examples(60)
def test_a_team_that_is_left_out_loses_as_defined(
    qrels: dict[str, dict[str, int]], runs: list[Any], data: st.DataObject
) -> None:
    from scipy.stats import rankdata

    given = named(runs)
    teams = {name: data.draw(st.sampled_from(["x", "y"])) for name in given}
    found = rg.judging_depth(qrels, given, "AP", [1, 2], teams=teams, splits=1)
    several = len(set(teams.values())) > 1
    assert len(found.left_out) == (2 * len(set(teams.values())) if several else 0)
    lost: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for row in rows(found.team_table()):
        own = [place for place, name in enumerate(given) if teams[name] == row["team"]]
        others = [name for name in given if teams[name] != row["team"]]
        with_team, without = (
            scores_by_hand(qrels, given, "AP", row["depth"], some)[0].mean(axis=1)
            for some in ([*given], others)
        )
        loss = (with_team - without)[own]
        ranks = (rankdata(-without.round(12)) - rankdata(-with_team.round(12)))[own]
        assert row["runs"] == len(own)
        assert same(row["loss"], float(loss.mean()))
        assert same(row["worst_loss"], float(loss.max()))
        assert same(row["ranks"], float(ranks.mean()))
        assert same(row["worst_ranks"], float(ranks.max()))
        lost[row["depth"]] += zip(loss.tolist(), ranks.tolist(), strict=True)
    for row in rows(found.table()):
        if several:
            loss, ranks = zip(*lost[row["depth"]], strict=True)
            assert same(row["loss"], fmean(loss))
            assert same(row["worst_ranks"], max(ranks))
        else:
            assert "loss" not in row


# Laws


@given(qrels_dicts, several)
@examples(40)
def test_at_full_depth_everything_is_exact_if_all_judged_documents_are_retrieved(
    qrels: dict[str, dict[str, int]], runs: list[Any]
) -> None:
    everything = {topic: dict.fromkeys(DOCUMENTS, 0.25) for topic in TOPICS}
    measures = ["nDCG@3", "AP", "bpref", "infAP", "ERR@2"]
    found = rg.judging_depth(qrels, named([*runs, everything]), measures, [8], splits=1)
    for row in rows(found.table()):
        assert row["bias"] == row["error"] == row["greatest"] == 0
        assert row["reversed"] == row["opposed"] == 0
        assert row["saved"] in (0, None)
        assert row["relevant"] in (1, None)
    assert (found.shallow[0].means == found.deep).all()


@given(qrels_dicts, several, st.randoms(use_true_random=False))
@examples(40)
def test_the_order_of_runs_and_depths_does_not_matter(
    qrels: dict[str, dict[str, int]], runs: list[Any], random: Any
) -> None:
    first = rg.judging_depth(qrels, named(runs), ["AP", "nDCG@2"], [1, 2, 4], splits=2)
    mixed = [*named(runs).items()]
    random.shuffle(mixed)
    second = rg.judging_depth(qrels, dict(mixed), ["AP", "nDCG@2"], [4, 1, 2, 1], splits=2)
    for one, two in zip(rows(first.table()), rows(second.table()), strict=True):
        assert one.keys() == two.keys()
        for name in one:
            assert one[name] == two[name] or same(one[name], two[name]), name


@pytest.mark.parametrize("ties", ["docno", "docno-ascending", "input", "random"])
@pytest.mark.parametrize("unjudged", ["nonrelevant", "condensed"])
def test_scores_are_those_of_the_evaluator_with_the_same_policies(ties: Any, unjudged: Any) -> None:
    tied = {
        name: {topic: dict.fromkeys(documents, 1.0) for topic, documents in run.items()}
        for name, run in RUNS.items()
    }
    policies: Any = {"ties": ties, "unjudged": unjudged, "seed": 5}
    found = rg.judging_depth(QRELS, tied, ["nDCG@2", "bpref"], [1, 2], **policies)
    deep = rg.evaluate(QRELS, tied, ["nDCG@2", "bpref"], **policies)
    assert np.array_equal(found.scores, np.asarray(deep))
    for shallow in found.shallow:
        small = rg.pool(QRELS, tied, shallow.depth, ties=ties, seed=5)
        means = np.asarray(rg.evaluate(small, tied, ["nDCG@2", "bpref"], **policies)).mean(axis=1)
        assert np.allclose(shallow.means, means, atol=1e-15)


def test_a_given_highest_grade_counts_at_every_depth() -> None:
    found = rg.judging_depth(QRELS, RUNS, "ERR", [1, 2], max_grade=4)
    for shallow in found.shallow:
        small = rg.pool(QRELS, RUNS, shallow.depth)
        means = np.asarray(rg.evaluate(small, RUNS, "ERR", max_grade=4)).mean(axis=1)
        assert np.allclose(shallow.means, means, atol=1e-15)


# Edges


def test_one_run_and_one_topic() -> None:
    found = rg.judging_depth({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, "AP", [1, 2])
    first, second = rows(found.table())
    assert (first["judgments"], second["judgments"]) == (1, 2)
    assert math.isnan(first["tau"])
    assert math.isnan(first["half_tau"])
    assert first["significant"] == first["reversed"] == 0
    assert second["error"] == 0
    assert first["bias"] == 0  # with one of two relevant documents known, AP is 1 too
    two = {"x": {"q": ["a", "b"]}, "y": {"q": ["b"]}}
    row, _ = rows(rg.judging_depth({"q": {"a": 1, "b": 1}}, two, "AP", [1, 2]).table())
    assert row["significant"] == 0  # one query is not enough for a test
    assert math.isnan(row["half_tau"])


def test_topics_without_anything_relevant_in_the_pool_are_counted_and_said() -> None:
    found = rg.judging_depth(QRELS, {"two": RUNS["two"], "three": {"q1": ["x"]}}, "nDCG@3", [1, 3])
    assert [row["nothing"] for row in rows(found.table())] == [3, 0]
    deep = np.asarray(rg.evaluate(QRELS, {"two": RUNS["two"], "three": {"q1": ["x"]}}, "nDCG@3"))
    said = "3 queries with relevant documents, none of them in the pool"
    (note,) = [line for line in found.table().notes if said in line]
    assert f"mean score there with all judgments: nDCG@3 {deep.mean():.3f}" in note


def test_topics_on_which_a_measure_is_undefined_are_left_out_at_all_depths() -> None:
    qrels = {**QRELS, "q4": {"z": 0, "y": 0}}
    found = rg.judging_depth(qrels, RUNS, ["v2(nDCG@2)", "AP"], [1, 3])
    left = len(qrels) - found.queries
    assert left[1] == 0
    for shallow in found.shallow:
        assert np.isfinite(shallow.means).all()
    notes = [line for line in found.table().notes if "left out at all depths" in line]
    assert len(notes) == (left[0] > 0)


def test_documents_that_were_never_judged_are_said() -> None:
    found = rg.judging_depth(QRELS, RUNS, "AP", [2])
    assert found.shallow[0].counts.total["never_judged"] == 1
    said = "the pool of depth 2 has 1 document without a judgment"
    assert any(said in line for line in found.table().notes)


def test_runs_that_cannot_be_read_are_left_out_and_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.run", tmp_path / "bad.run"
    rg.write_run({"q1": {"a": 1.0}}, good)
    bad.write_text("nonsense\n")
    found = rg.judging_depth(QRELS, [good, bad], "AP", [1], failures="skip")
    assert found.runs == ("good",)
    (line,) = found.failed
    assert "bad.run" in line
    with pytest.raises(rg.InputError, match=r"bad\.run"):
        rg.judging_depth(QRELS, [good, bad], "AP", [1])
    with pytest.raises(rg.RankgaugeError, match=r"bad\.run"):
        rg.judging_depth(QRELS, [bad], "AP", [1], failures="skip")


def test_bad_input_is_refused() -> None:
    for depths in ([], [0], ["ten"], [1.5]):
        with pytest.raises(rg.RankgaugeError, match="depth"):
            rg.judging_depth(QRELS, RUNS, "AP", depths)
    with pytest.raises(rg.RankgaugeError, match="did you mean 'three'"):
        rg.judging_depth(QRELS, RUNS, "AP", [1], pooled=["thre"])
    with pytest.raises(rg.RankgaugeError, match="no run contributes to the pool"):
        rg.judging_depth(QRELS, RUNS, "AP", [1], pooled=[])
    with pytest.raises(rg.RankgaugeError, match="not an arithmetic mean"):
        rg.judging_depth(QRELS, RUNS, "gm(AP)", [1])
    with pytest.raises(rg.Unsupported, match="needs subtopics"):
        rg.judging_depth(QRELS, RUNS, "alpha_nDCG@3", [1])
    with pytest.raises(rg.RankgaugeError, match="ties='expected'"):
        rg.judging_depth(QRELS, RUNS, "AP", [1], ties="expected")  # type: ignore[arg-type]
    with pytest.raises(rg.RankgaugeError, match="level=1"):
        rg.judging_depth(QRELS, RUNS, "AP", [1], level=1.0)


def test_a_single_depth_and_other_processes() -> None:
    one = rg.judging_depth(QRELS, RUNS, "AP", 2, teams="runs")  # type: ignore[arg-type]
    steps: list[str] = []
    with ProcessPoolExecutor(1) as executor:
        two = rg.judging_depth(
            QRELS, RUNS, "AP", [2], teams="runs", executor=executor, progress=steps.append
        )
    assert one.table() == two.table()
    assert one.team_table() == two.team_table()
    pools = ["depth 2", *(f"depth 2 without {name}" for name in RUNS)]
    assert steps == [*RUNS, *pools]


# Teams


def test_teams_are_found_by_letters_prefixes_dicts_and_functions() -> None:
    runs = ["acsys8amn", "acsys8aln2", "apl8p", "1", "8manex", "plain"]
    letters = ("acsys", "acsys", "apl", "1", "8manex", "plain")
    assert teams_of(runs, "letters") == letters
    assert teams_of(runs, "runs") == tuple(runs)
    assert teams_of(runs, ["ac", "acsys8am"]) == ("acsys8am", "ac", "apl8p", "1", "8manex", "plain")
    assert teams_of(runs, lambda run: run[0]) == ("a", "a", "a", "1", "8", "p")
    assert teams_of(runs, dict(zip(runs, letters, strict=True))) == letters


def test_only_teams_in_the_pool_are_left_out() -> None:
    teams = {"one": "x", "two": "y", "three": "z"}
    found = rg.judging_depth(QRELS, RUNS, "AP", [1], pooled=["one", "two"], teams=teams)
    assert [one.team for one in found.left_out] == ["x", "y"]
    assert any("each of 2 teams was removed" in note for note in found.table().notes)
    found = rg.judging_depth(QRELS, RUNS, "AP", [1], pooled=["one"], teams=teams)
    assert found.left_out == ()
    assert any("no team was left out" in note for note in found.table().notes)


def test_bad_teams_are_refused() -> None:
    for teams, message in (
        ("names", "expected 'letters', 'runs'"),
        (3, "expected 'letters', 'runs'"),
        ({"a": "x"}, "no team for the run 'b'"),
        (["c"], "no run has a name that begins with 'c'"),
        ([""], "'' is not a prefix"),
        ([], "no prefix"),
        (lambda run: 3, "the team of 'a' is 3, expected text"),
    ):
        with pytest.raises(rg.RankgaugeError, match=message):
            teams_of(["a", "b"], teams)  # type: ignore[arg-type]


# Real runs


def test_robust_2003_at_three_depths(real_data: Callable[[str], Path]) -> None:
    """The ranking by a pool of depth 30 is nearly that of all judgments; scores are biased up."""
    found = rg.judging_depth(
        real_data("trec-robust03/qrels.txt.gz"),
        real_data("trec-robust03/runs"),
        ["nDCG@100", "nDCG@1000"],
        [10, 20, 30],
        splits=50,
    )
    table = rows(found.table())
    assert [round(row["tau"], 2) for row in table] == [0.85, 0.93, 0.94, 0.84, 0.88, 0.97]
    assert [row["judgments"] for row in table[:3]] == [5_864, 10_587, 15_027]
    assert all(0.08 < row["bias"] < 0.16 for row in table)
    assert all(row["reversed"] == 0 for row in table if row["depth"] == 30)


def test_web_2012_fails_at_any_depth(real_data: Callable[[str], Path]) -> None:
    found = rg.judging_depth(
        real_data("trec-web2012/qrels.adhoc.txt"),
        real_data("trec-web2012/runs"),
        ["nDCG@100", "nDCG@1000"],
        [10, 30],
        splits=50,
    )
    table = rows(found.table())
    assert [row["nothing"] for row in table] == [10, 3, 10, 3]
    assert [round(row["tau"], 2) for row in table if row["depth"] == 30] == [0.64, 0.36]
    assert any("nDCG@1000 0.108" in note for note in found.table().notes)


def test_trec_8_shallow_pools_agree_better_than_halves_of_the_topics(
    real_data: Callable[[str], Path],
) -> None:
    found = rg.judging_depth(
        real_data("qrels/qrels.adhoc.401-450.txt.gz"),
        real_data("trec8-adhoc/runs"),
        "nDCG@100",
        [10, 20],
        teams="letters",
        splits=200,
    )
    for row in rows(found.table()):
        assert row["half_tau"] < 0.82
        assert row["tau"] > row["half_tau"] + 0.05
        assert row["reversed"] <= 2
        assert row["loss"] > 0
    worst = max(rows(found.team_table()), key=lambda row: row["worst_loss"])
    assert worst["team"] == "input.READWARE"

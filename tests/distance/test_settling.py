"""Settled pairs: what no labels can reverse, against all labels, and against labels that came later."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from laws.strategies import versions
from laws.test_distance import DIRECTED, GRADES, HIGHEST, score
from profiles import examples, some, thorough
from rankgauge.data.model import Judgments
from rankgauge.distance import settling
from rankgauge.measures import Measure

Topic = tuple[list[list[int]], dict[int, int]]
"""The rankings of three runs, and what is judged."""

RUNS = ("one", "two", "three")


@st.composite
def topics(draw: st.DrawFn) -> Topic:
    """Few documents, at most two of any two runs unjudged."""
    documents = range(draw(st.integers(2, 6)))
    rankings = [list(draw(st.permutations(documents)))[: draw(st.integers(0, 4))] for _ in range(3)]
    free = draw(st.sets(st.sampled_from([*documents]), max_size=2))
    judged = {d: draw(st.sampled_from([0, 1, 3])) for d in [*documents, 90, 91] if d not in free}
    return rankings, judged


def ahead_by_any_labels(
    measure: Measure, cases: list[Topic], a: int, b: int, grades: tuple[int, ...], off: int = 0
) -> float:
    """The greatest mean difference a - b over all labels of all queries together; infinite where a score
    is not defined by some of them.

    There are `off` documents in neither ranking, which may have any of the grades too.
    """
    each = []
    for rankings, judged in cases:
        one, two = rankings[a][: measure.depth], rankings[b][: measure.depth]
        free = sorted({*one, *two} - {*judged})
        found = []
        for labels in itertools.product(grades, repeat=len(free)):
            for others in itertools.combinations_with_replacement(grades, off):
                more = {f"off {i}": grade for i, grade in enumerate(others) if grade}
                known: dict[Any, int] = {**judged, **dict(zip(free, labels, strict=True)), **more}
                found.append(score(measure, one, known) - score(measure, two, known))
        each.append(found)
    means = [sum(chosen) / len(cases) for chosen in itertools.product(*each)]
    return math.inf if any(map(math.isnan, means)) else max(means)


def check_settled_orders(found: rg.Settled, cases: list[Topic], off: int) -> None:
    """No labels reverse the order of two runs that is settled, or make their means equal."""
    for (a, b), higher in zip(found.pairs.tolist(), found.higher.tolist(), strict=True):
        if higher >= 0:
            pair = (b, a) if higher == 0 else (a, b)
            assert ahead_by_any_labels(found.measure, cases, *pair, found.grades, off) < 0


def given_to_settled(cases: list[Topic]) -> tuple[Any, Any]:
    qrels = {f"q{t}": {f"d{d}": g for d, g in known.items()} for t, (_, known) in enumerate(cases)}
    runs = {
        run: {
            f"q{t}": {f"d{d}": -float(place) for place, d in enumerate(rankings[r])}
            for t, (rankings, _) in enumerate(cases)
            if rankings[r]
        }
        for r, run in enumerate(RUNS)
    }
    return qrels, {run: ranked or {"elsewhere": {"d": 1.0}} for run, ranked in runs.items()}


@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(15)
def test_settled_is_what_no_labels_reverse(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    cases = data.draw(st.lists(topics(), min_size=1, max_size=2))
    grades = data.draw(st.sampled_from(GRADES))
    found = rg.settled(
        *given_to_settled(cases), measure, grades=grades, offlist="none", max_grade=HIGHEST
    )
    for (a, b), (most, back), higher in zip(
        found.pairs.tolist(), found.ahead.tolist(), found.higher.tolist(), strict=True
    ):
        by_force = [
            ahead_by_any_labels(found.measure, cases, *pair, grades) for pair in ((a, b), (b, a))
        ]
        unseen = found.measure.open_ended
        for value, expected in zip((most, back), by_force, strict=True):
            assert value >= expected - 1e-9
            assert unseen or value == expected or value == pytest.approx(expected, abs=1e-9)
        if not unseen:
            expected = 0 if by_force[1] < -1e-9 else 1 if by_force[0] < -1e-9 else -1
            assert higher == expected


@pytest.mark.parametrize(
    "name",
    ["P", "RR", "ERR", "AP", "nDCG", "Recall", "Rprec", "Q", "bpref", "GAP", "F", "infAP", "SetAP"],
)
@given(data=st.data())
@examples(40)
def test_documents_that_neither_run_has_never_reverse_what_is_settled_with_them(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    cases = data.draw(st.lists(topics(), min_size=1, max_size=2))
    grades = (0, HIGHEST)
    asked: Any = {"grades": grades, "max_grade": HIGHEST}
    found = rg.settled(*given_to_settled(cases), measure, offlist="allowed", **asked)
    without = rg.settled(*given_to_settled(cases), measure, offlist="none", **asked)
    assert (without.is_settled | ~found.is_settled).all()
    check_settled_orders(found, cases, off=6)


@st.composite
def bounded(draw: st.DrawFn) -> Measure:
    """A measure whose divisor has a greatest value."""
    cutoff, rel = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    average = rg.AP(norm=draw(st.sampled_from(["min", "k"])), rel=rel) @ cutoff
    return draw(st.just(average) | versions("nDCG").map(lambda measure: measure @ cutoff))


@given(data=st.data())
@examples(200)
def test_a_lead_by_a_bounded_divisor_is_attained_with_documents_of_neither_run(
    data: st.DataObject,
) -> None:
    measure = data.draw(bounded())
    cases = data.draw(st.lists(topics(), min_size=1, max_size=2))
    grades = data.draw(st.sampled_from(GRADES))
    found = rg.settled(*given_to_settled(cases), measure, grades=grades, max_grade=HIGHEST)
    assert found.exact
    assert not found.strict.any()
    off = measure.cutoff or 0
    check_settled_orders(found, cases, 2 * off)
    for (a, b), ahead in zip(found.pairs.tolist(), found.ahead.tolist(), strict=True):
        by_force = [
            ahead_by_any_labels(measure, cases, *pair, grades, off) for pair in ((a, b), (b, a))
        ]
        assert ahead == pytest.approx(by_force, abs=1e-9)


@pytest.mark.parametrize("name", ["AP", "nDCG", "Recall", "GAP"])
@given(data=st.data())
@examples(60)
def test_by_an_unbounded_divisor_a_run_must_never_be_ahead(name: str, data: st.DataObject) -> None:
    """It is settled that a run is behind, if it is so on some query and never ahead on one."""
    measure = rg.parse(name)
    cases = data.draw(st.lists(topics(), min_size=1, max_size=2))
    found = rg.settled(*given_to_settled(cases), measure, grades=(0, 3))
    assert found.exact
    for (a, b), higher in zip(found.pairs.tolist(), found.higher.tolist(), strict=True):
        leads = [
            [ahead_by_any_labels(measure, [case], *pair, (0, 3)) for case in cases]
            for pair in ((a, b), (b, a))
        ]
        behind = [max(each) < 1e-9 and min(each) < -1e-9 for each in leads]
        assert higher == (0 if behind[1] else 1 if behind[0] else -1)


def test_ndcg_with_a_cutoff_keeps_a_difference_whatever_else_is_relevant() -> None:
    """The ideal DCG@1 is that of one document of grade 3, however many there are."""
    qrels = {"q": {"a": 3, "b": 0}}
    runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b"]}}
    for grades, least in (((0, 3), 1.0), ((0, 3, 6), 0.5)):
        found = rg.settled(qrels, runs, "nDCG@1", grades=grades)
        assert found.ahead.tolist() == [[1.0, -least]]
        assert found.orders() == [("one", "two")]
        assert len(found.notes) == 2
    without = rg.settled(qrels, runs, "nDCG")
    assert without.ahead.tolist() == [[1.0, 0.0]]
    assert without.strict.tolist() == [[False, True]]
    assert without.orders() == [("one", "two")]
    assert without.pair_table().rows == (("one", "two", 1.0, 0.0, 1.0, "yes"),)
    assert math.copysign(1, without.pair_table().rows[0][3]) == 1  # type: ignore[arg-type]
    assert "as small as you like" in str(without.notes[1])


def test_a_measure_that_settles_nothing_says_so_once() -> None:
    found = rg.settled(QRELS, THREE, "bpref")
    assert found.orders() == []
    assert "no order counts as settled" in str(found.notes[0])
    assert "of 3 pairs" not in str(found.notes)


def test_documents_off_the_lists_can_reverse_an_order_by_recall() -> None:
    """In q1 a is ahead by 1 of 1; with nine more relevant documents by 1 of 10, and b wins by q2."""
    qrels = {"q1": {"x": 1}, "q2": {"y": 1, "z": 1}}
    runs = {"a": {"q1": {"x": 1.0}}, "b": {"q2": {"y": 1.0}}}
    assert rg.settled(qrels, runs, "Recall@5", offlist="none").orders() == [("a", "b")]
    allowed = rg.settled(qrels, runs, "Recall@5")
    assert allowed.orders() == []
    assert "--offlist none" in str(allowed.notes)
    # Nothing off the lists matters to P.
    qrels["q1"]["w"] = 1
    runs["a"]["q1"]["w"] = 0.5
    assert rg.settled(qrels, runs, "P@5").orders() == [("a", "b")]


# What it says

QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 0}}
THREE = {
    "poor": {"q": {"c": 2.0, "d": 1.0}},
    "good": {"q": {"a": 2.0, "b": 1.0}},
    "new": {"q": {"c": 2.0, "x": 1.0}},
}


def test_tables_have_runs_and_pairs_best_first() -> None:
    found = rg.settled(QRELS, THREE, "P@2")
    assert found.orders() == [("good", "poor"), ("good", "new")]
    assert found.table().columns == ("run", "P@2", "above", "below", "open")
    assert found.table().rows == (
        ("good", 1.0, 0, 2, 0),
        ("poor", 0.0, 1, 0, 1),
        ("new", 0.0, 1, 0, 1),
    )
    assert found.pair_table().rows == (
        ("good", "poor", 1.0, 1.0, 1.0, "yes"),
        ("good", "new", 1.0, 0.5, 1.0, "yes"),
        ("poor", "new", 0.0, -0.5, 0.0, "no"),
    )
    assert "the order of 2 of 3 pairs is settled" in str(found.notes[0])
    assert repr(found).startswith("Settled P@2: 2 of 3 pairs")


def test_where_lower_is_better_the_lower_run_is_the_better_one() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 0}}
    runs = {"late": {"q": {"b": 2.0, "a": 1.0}}, "early": {"q": {"a": 2.0, "b": 1.0}}}
    found = rg.settled(qrels, runs, "SearchLength", offlist="none")
    assert found.measure.direction == "lower"
    assert found.orders() == [("early", "late")]
    assert [row[0] for row in found.table().rows] == ["early", "late"]


def test_runs_that_are_the_same_are_not_settled() -> None:
    runs = {"a": THREE["good"], "b": THREE["good"]}
    assert not rg.settled(QRELS, runs, "nDCG@10").is_settled.any()


def test_differences_that_only_rounding_makes_settle_nothing() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point."""
    qrels: Any = {f"q{t}": {f"d{i}": int(i < 5) for i in range(20)} for t in range(3)}
    relevant, rest = [f"d{i}" for i in range(5)], [f"d{i}" for i in range(5, 20)]

    def run(counts: tuple[int, ...]) -> Any:
        tops = [(relevant[:n] + rest)[:10] for n in counts]
        return {f"q{t}": {d: -float(i) for i, d in enumerate(top)} for t, top in enumerate(tops)}

    found = rg.settled(qrels, {"a": run((1, 2, 0)), "b": run((0, 0, 3))}, "P@10")
    assert not found.is_settled.any()


def test_unjudged_documents_may_have_every_label_that_was_given() -> None:
    """By nDCG a label between can make more of a difference than the highest."""
    measure = "nDCG(gain={1:1,2:3,3:7})@2"
    known = {"d1": 0, "d2": 1, "d51": 1}
    runs = {"a": {"q": {"d0": 2.0, "d2": 1.0}}, "b": {"q": {"d1": 2.0, "d0": 1.0}}}
    qrels = {"q": known, "other": {"x": 3, "y": 2}}
    most = rg.settled(qrels, runs, measure).ahead
    all_labels = rg.settled(qrels, runs, measure, grades=(0, 1, 2, 3)).ahead
    assert most.tolist() == all_labels.tolist()
    assert most[0, 0] > rg.settled(qrels, runs, measure, grades=(0, 3)).ahead[0, 0] + 0.05


def test_what_is_not_exact_says_so_and_settles_nothing() -> None:
    documents = [f"d{i}" for i in range(40)]
    runs = {
        "a": {"q": {d: -float(i) for i, d in enumerate(["r", *documents])}},
        "b": {"q": {d: -float(i) for i, d in enumerate([*documents, "r"])}},
    }
    found = rg.settled({"q": {"r": 1, "n": 0}}, runs, "bpref", offlist="none")
    assert not found.exact
    assert not found.is_settled.any()
    assert "not all labels could be tried" in str(found.notes[1])


def test_neighbors_are_pairs_of_the_leaderboard_and_an_executor_changes_nothing() -> None:
    whole = rg.settled(QRELS, THREE, "P@2")
    with ThreadPoolExecutor(2) as pool:
        found = rg.settled(QRELS, THREE, "P@2", pairs="neighbors", executor=pool)
    assert [[found.runs[r] for r in pair] for pair in found.pairs.tolist()] == [
        ["good", "poor"],
        ["poor", "new"],
    ]
    assert found.orders() == [("good", "poor")]
    assert {*found.orders()} <= {*whole.orders()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "gm(AP)"}, "no distance can be computed"),
        ({"measure": "Judged@10"}, "neither higher nor lower is better"),
        ({"runs": {"a": THREE["good"]}}, "1 run, expected at least two"),
        ({"qrels": {}}, "no judged queries"),
        ({"grades": (1, 2)}, "must include 0"),
        ({"max_grade": 1}, "the judgments have a grade of 2"),
        ({"ties": "random"}, "ties="),
        ({"pairs": "some"}, "pairs="),
        ({"offlist": "perhaps"}, "offlist="),
    ],
)
def test_what_cannot_be_settled_is_refused(change: dict[str, Any], message: str) -> None:
    asked: dict[str, Any] = {"qrels": QRELS, "runs": THREE, "measure": "nDCG@2", **change}
    with pytest.raises(rg.RankgaugeError, match=message):
        rg.settled(asked.pop("qrels"), asked.pop("runs"), asked.pop("measure"), **asked)


def test_subtopics_are_refused() -> None:
    judged = Judgments.from_subtopics({"q": {"1": {"a": 1}, "2": {"b": 1}}})
    with pytest.raises(rg.MeasureError, match="needs subtopics"):
        settling.settled(judged, THREE, "alpha_nDCG@10")


# Real runs


class Robust(NamedTuple):
    """Real judgments and runs, and the means of the runs by all labels."""

    qrels: Judgments
    runs: list[rg.Run]
    means: Mapping[str, Mapping[str, float]]


@pytest.fixture(scope="module")
def robust(real_data: Callable[[str], Path]) -> Robust:
    return read_robust(real_data("trec-robust03"))


@pytest.fixture(scope="module")
def like_robust(any_data: Callable[[str], Path]) -> Robust:
    return read_robust(any_data("trec-robust03"))


def read_robust(folder: Path) -> Robust:
    qrels = rg.read_qrels(folder / "qrels.txt.gz")
    runs = [rg.read_run(path) for path in sorted((folder / "runs").iterdir())]
    measures = ["P@10", "ERR@10", "AP@100", "RBP@20", "nDCG@10", "AP@20"]
    return Robust(qrels, runs, rg.evaluate(qrels, runs, measures).mean())


@pytest.mark.parametrize(("measure", "count"), [("P@10", 122), ("ERR@10", 107), ("AP@100", 91)])
def test_the_pairs_of_robust_2003(measure: str, count: int, robust: Robust) -> None:
    qrels, runs, all_means = robust
    found = rg.settled(qrels, runs, measure, offlist="none")
    assert (np.count_nonzero(found.is_settled), len(found.pairs)) == (count, 136)
    assert found.exact
    means = [mean[measure] for mean in all_means.values()]
    assert found.means.tolist() == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "size", "count"),
    [("P@10", 60, 398), ("ERR@10", *((60, 849) if thorough() else (30, 223)))],
)
def test_the_pairs_of_trec_covid(
    measure: str, size: int, count: int, real_data: Callable[[str], Path]
) -> None:
    runs = sorted((real_data("trec-covid") / "round1" / "runs").iterdir())[:size]
    found = rg.settled(real_data("qrels/qrels.covid-round1.txt.gz"), runs, measure)
    pairs = size * (size - 1) // 2
    assert (np.count_nonzero(found.is_settled), len(found.pairs)) == (count, pairs)


@pytest.mark.parametrize(("offlist", "count"), [("allowed", 1844), ("none", 1930)])
def test_the_pairs_of_dl_2021(offlist: Any, count: int, real_data: Callable[[str], Path]) -> None:
    runs = sorted((real_data("trec-dl21") / "runs").iterdir())
    qrels = real_data("qrels/qrels.dl21-passage.txt.gz")
    found = rg.settled(qrels, runs, "nDCG@10", offlist=offlist)
    assert (np.count_nonzero(found.is_settled), len(found.pairs)) == (count, 1953)
    assert found.exact


def without(qrels: Judgments, hidden: Any) -> Judgments:
    """The judgments without these rows."""
    keep = ~hidden
    rows = np.flatnonzero(keep)
    bounds = np.concatenate(([0], np.cumsum(np.add.reduceat(keep, qrels.bounds[:-1]))))
    documents = qrels.documents.take(rows)
    return Judgments(qrels.queries, bounds, documents, qrels.grades[rows], "part")


@pytest.mark.parametrize("measure", ["P@10", "ERR@10", "RBP@20"])
def test_labels_that_were_hidden_reverse_nothing_that_was_settled(
    measure: str, like_robust: Robust
) -> None:
    """Hide one label in twenty, see what is settled, and look at all labels."""
    qrels, runs, means = like_robust
    hidden = np.random.default_rng(5).random(len(qrels.grades)) < 0.05
    highest = int(qrels.grades.max())
    found = rg.settled(without(qrels, hidden), runs, measure, max_grade=highest)
    assert len(found.orders()) > 40
    for better, worse in found.orders():
        assert means[better][measure] > means[worse][measure]


@pytest.mark.parametrize("measure", ["nDCG@10", "AP@20"])
def test_hidden_labels_of_two_runs_do_not_reverse_their_order(
    measure: str, like_robust: Robust
) -> None:
    """Relevant documents that neither run has matter to these measures; so only labels of documents
    of the two runs are hidden, one in ten of them."""
    qrels, every_run, means = like_robust
    highest = int(qrels.grades.max())
    query = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.bounds)).tolist()
    rows = {at: row for row, at in enumerate(zip(query, qrels.documents, strict=True))}
    depth = int(measure.rpartition("@")[2])
    settled_pairs = 0
    for runs in some([*zip(every_run[:6], every_run[6:12], strict=True)], 3):
        hidden = np.zeros(len(qrels.grades), dtype=np.bool_)
        for run in runs:
            for q, name in enumerate(run.queries):
                start, end = run.bounds[q : q + 2].tolist()
                best = start + np.argsort(-run.scores[start:end], kind="stable")[:depth]
                place = list(qrels.queries).index(name)
                for document in run.documents.take(best):
                    hidden[rows.get((place, document), 0)] |= (place, document) in rows
        hidden &= np.random.default_rng(7).random(len(hidden)) < 0.1
        assert hidden.any()
        found = rg.settled(without(qrels, hidden), runs, measure, offlist="none", max_grade=highest)
        for better, worse in found.orders():
            settled_pairs += 1
            assert means[better][measure] > means[worse][measure]
    assert settled_pairs > 0


def test_the_highest_grade_of_a_collection_counts_for_a_pool_without_it() -> None:
    qrels = {"q": {"a": 2, "b": 1, "z": 3}}
    runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "b"]}}
    pooled = rg.pool(qrels, runs, 2)
    assert pooled.grades.max() == 2
    for measure in ("ERR@2", "DCG@2", "P@2"):
        whole, part = (rg.settled(each, runs, measure) for each in (qrels, pooled))
        assert part.means.tolist() == whole.means.tolist()
        assert part.ahead.tolist() == whole.ahead.tolist()
    alone = rg.settled({"q": {"a": 2, "b": 1}}, runs, "ERR@2")
    assert alone.means.tolist() != rg.settled(pooled, runs, "ERR@2").means.tolist()

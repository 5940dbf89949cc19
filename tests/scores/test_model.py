"""Scores: selecting and showing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from rankgauge import AP, RBP, nDCG
from rankgauge.measures import SearchLength, gm, lower

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "<q3>": {"e": 0}}
RUNS = {
    "one": {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"c": 1.0}, "<q3>": {"e": 1.0}},
    "<two>": {"q2": {"x": 1.0}},
}
MEASURES = [nDCG @ 10, AP, gm(AP), SearchLength, lower(RBP(p=0.5))]


@pytest.fixture
def scores() -> rg.Scores:
    return rg.evaluate(QRELS, RUNS, MEASURES)


def test_scores_are_an_array_of_run_query_and_measure(scores: rg.Scores) -> None:
    array = np.asarray(scores)
    assert array.shape == (2, 3, 5)
    assert array[0, 1, 0] == scores.per_query()["one"]["q2"]["nDCG@10"] == 1.0
    assert np.asarray(scores, dtype=np.float32).dtype == np.float32


def test_selecting_queries_keeps_their_order_and_the_means_follow(scores: rg.Scores) -> None:
    chosen = scores.select(["q2", "q1"])
    assert chosen.queries == ("q2", "q1")
    assert np.array_equal(np.asarray(chosen), np.asarray(scores)[:, [1, 0]], equal_nan=True)
    assert chosen.mean()["one"][AP] == pytest.approx((1 + 1 / 3) / 2)
    with pytest.raises(rg.RankgaugeError, match="no scores for query 'q7'"):
        scores.select(["q7"])


def test_the_table_shows_what_the_means_rest_on(scores: rg.Scores) -> None:
    table = scores.table()
    assert table.columns[:6] == ("run", "over", "topics", "missing", "no relevant", "judged@10")
    assert [row[:5] for row in table.rows] == [
        ("one", "all", 3, 0, 1),
        ("<two>", "all", 3, 2, 1),
        ("<two>", "answered", 1, 2, 0),
    ]
    assert table.rows[0][5] == pytest.approx((2 / 3 + 1 + 1) / 3)


def test_people_read_the_measures_first_in_the_order_of_the_runs(scores: rg.Scores) -> None:
    header, _, *rows = scores.table(notes=False).render("table").splitlines()
    measures = "nDCG@10 AP gm(AP) SearchLength lower(RBP(p=0.5))"
    counts = "queries missing no relevant judged@10"
    assert header.split() == ["run", "over", *measures.split(), *counts.split()]
    assert [row.split()[0] for row in rows[:3]] == ["one", "<two>", "<two>"]


def test_scores_can_be_sorted_with_the_best_run_first(scores: rg.Scores) -> None:
    reversed_runs = scores.select(runs=["<two>", "one"])
    assert reversed_runs.sorted().runs == ("one", "<two>")
    assert np.array_equal(reversed_runs.sorted().values, scores.values, equal_nan=True)
    assert scores.sorted("SearchLength").runs == scores.runs
    given = rg.Scores.from_matrix([[np.nan], [0.2], [0.2], [0.4]], runs=[*"abcd"], measure="AP")
    assert given.sorted().runs == ("d", "b", "c", "a")


def test_lower_is_first_where_lower_is_better() -> None:
    given = rg.Scores.from_matrix([[3.0], [2.0]], runs=["a", "b"], measure="SearchLength")
    assert given.sorted().runs == ("b", "a")


def test_the_judged_share_is_for_judgments_with_documents_that_are_not_relevant() -> None:
    relevant = {"q1": {"a": 1}, "q2": {"c": 2, "d": -1}}
    for qrels, shown in ((relevant, False), (QRELS, True)):
        scores = rg.evaluate(qrels, RUNS, "AP")
        assert scores.only_relevant is not shown
        assert ("judged@10" in repr(scores)) is shown
        assert "judged@10" in scores.table().columns
    one = rg.evaluate(relevant, RUNS, "AP")
    joined = one.joined(rg.evaluate(relevant, RUNS, "RR"))
    assert joined.only_relevant
    assert one.select(queries=["q1"]).only_relevant


def test_the_table_by_topic_marks_missing_topics_and_ends_with_both_means(
    scores: rg.Scores,
) -> None:
    rows = [row[:3] for row in scores.query_table().rows if row[0] == "<two>"]
    assert rows == [
        ("<two>", "q1", 1),
        ("<two>", "q2", 0),
        ("<two>", "<q3>", 1),
        ("<two>", "all", 2),
        ("<two>", "answered", 0),
    ]


def test_notes_say_only_what_is_so(scores: rg.Scores) -> None:
    assert scores.table(notes=False).notes == (
        "SearchLength: 1 query undefined, excluded from the mean",
    )
    strict = rg.evaluate(QRELS, RUNS, ["AP(rel=2)", "worst(P@1)", "upper(AP(rel=2))"])
    assert strict.table(notes=False).notes == (
        "AP(rel=2): on 2 queries no document has a grade of at least 2",
        "upper(AP(rel=2)): on 2 queries no document has a grade of at least 2",
    )


def test_a_grade_that_no_document_has_is_warned_of() -> None:
    text = "AP(rel=5): no document has a grade of 5 or more, so none counts as relevant; the "
    notes = rg.evaluate(QRELS, RUNS, ["AP(rel=5)", "AP", "AP(rel=2)"]).notes
    (note,) = (str(note) for note in notes if "grade of" in str(note))
    assert note == f"WARNING: {text}highest is 2"


def test_means_are_found_by_measure_or_by_any_text_that_means_it(scores: rg.Scores) -> None:
    means = scores.mean()["one"]
    assert means[AP] == means["AP"] == means["map"] == means.get(AP) == means.get("MAP")
    assert AP in means
    assert "map" in means
    assert "RR" not in means
    assert means.get("nonsense") is None
    with pytest.raises(KeyError):
        means["RR"]


def test_scores_cannot_be_changed(scores: rg.Scores) -> None:
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(scores)[0, 0, 0] = 1.0


def test_both_representations_are_readable(scores: rg.Scores) -> None:
    assert repr(scores).startswith("Scores: 2 runs, 3 queries, 5 measures\nrun")
    html = scores._repr_html_()
    assert "&lt;two&gt;" in html
    assert "<two>" not in html


def test_the_signature_names_every_parameter_and_policy(scores: rg.Scores) -> None:
    assert scores.signatures()["nDCG@10"] == (
        "nDCG(gain=linear,discount=log2)@10|ties=docno|precision=double|unjudged=nonrelevant"
        f"|missing=zero|max_grade=2|rankgauge={rg.__version__}"
    )


def test_scores_are_read_only_and_leave_the_arrays_they_are_made_of_alone() -> None:
    arrays = {
        "values": np.full((1, 2, 1), 0.5),
        "present": np.ones((1, 2), dtype=np.bool_),
        "judged_at_10": np.zeros((1, 2)),
        "relevant": np.ones(2, dtype=np.int64),
        "nothing_relevant": np.zeros((1, 2), dtype=np.bool_),
    }
    scores = rg.Scores(("x",), ("q1", "q2"), (AP,), **arrays)
    for name, array in arrays.items():
        assert array.flags.writeable
        assert not getattr(scores, name).flags.writeable
        assert np.shares_memory(array, getattr(scores, name))
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1.0


@pytest.mark.parametrize("missing", ["nonsense", 3])
def test_the_mean_refuses_an_unknown_treatment_of_missing_queries(missing: Any) -> None:
    scores = rg.evaluate({"q": {"d": 1}}, {"run": {"q": ["d"]}}, "RR")
    with pytest.raises(rg.RankgaugeError, match=f"missing={missing!r}, expected "):
        scores.mean(missing)

"""Aligning runs with judgments, and scoring them under every policy."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from numpy.typing import NDArray

import oracles
import rankgauge as rg
from profiles import examples
from rankgauge import AP, ERR, RR, P, nDCG
from rankgauge.core.notes import note_texts
from rankgauge.errors import NoSharedTopics
from rankgauge.measures import SearchLength, gm
from rankgauge.rankings.alignment import align, judged_labels
from rankgauge.rankings.lists import JudgedLabels, Rankings

ids = st.text("abcdefgh", min_size=1, max_size=3)
qrels_dicts = st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 3), max_size=8), min_size=1)
coarse_scores = st.sampled_from([0.0, 0.5, 1.0, 1.0 + 1e-9, 2.0, -1.0])
run_dicts = st.dictionaries(ids, st.dictionaries(ids, coarse_scores, max_size=8))


def labels_by_oracle(grades: dict[str, int], scores: dict[str, float], single: bool) -> list[int]:
    """The labels in rank order, from the definition of the order and of labels."""
    documents = [(document.encode(), score) for document, score in scores.items()]
    order = [raw.decode() for raw in oracles.tie_broken_order(documents, single)]
    return [-1 if d not in grades else -2 if grades[d] < 0 else grades[d] for d in order]


@given(qrels_dicts, run_dicts, st.sampled_from(["single", "double"]))
def test_alignment_is_its_definition(qrels: Any, run: Any, precision: Any) -> None:
    judgments = rg.Judgments.from_dict(qrels)
    lists = align(judgments, rg.Run.from_dict(run), precision=precision)
    rankings, names = lists.rankings, list(qrels)
    assert [names[q] for q in lists.queries] == [query for query in run if query in qrels]
    for i, query in enumerate(names[q] for q in lists.queries):
        labels = rankings.labels[rankings.offsets[i] : rankings.offsets[i + 1]].tolist()
        grades = qrels[query]
        assert labels == labels_by_oracle(grades, run[query], precision == "single")
        known = rankings.judged.labels[rankings.judged.offsets[i] : rankings.judged.offsets[i + 1]]
        assert known.tolist() == sorted((g for g in grades.values() if g >= 0), reverse=True)
        assert rankings.judged.pooled[i] == sum(g < 0 for g in grades.values())
    assert rankings.judged.max_grade == max([1, *(g for r in qrels.values() for g in r.values())])
    assert lists.unknown == len(set(run) - set(qrels))
    retrieved = {(q, d) for q in run for d in run[q] if d in qrels.get(q, {})}
    assert len(lists.retrieved) == len(set(lists.retrieved.tolist())) == len(retrieved)


@given(qrels_dicts, run_dicts)
def test_evaluation_is_the_score_of_each_list(qrels: Any, run: Any) -> None:
    highest = max([1, *(g for r in qrels.values() for g in r.values())])
    if not set(qrels) & set(run):
        with pytest.raises(NoSharedTopics):
            rg.evaluate(qrels, rg.Run.from_dict(run), [AP])
        return
    scores = rg.evaluate(qrels, rg.Run.from_dict(run), [AP, nDCG @ 3, ERR]).per_query()
    for query, grades in qrels.items():
        ranking = labels_by_oracle(grades, run.get(query, {}), single=False)
        judged = [g for g in grades.values() if g >= 0]
        for measure in (AP, nDCG @ 3, ERR):
            alone = measure.score(ranking, judged, max_grade=highest)
            assert scores["run"][query][measure] == alone


QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": -1}, "q3": {"e": 0}}
RUN = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"c": 1.0}, "q9": {"c": 1.0}}


def test_missing_topics_count_as_empty_rankings_or_are_left_out() -> None:
    scores = rg.evaluate(QRELS, RUN, [RR, P @ 1])
    assert scores.mean()["run"][RR] == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert scores.mean("skip")["run"][RR] == pytest.approx((1 / 3 + 1) / 2)
    skipped = rg.evaluate(QRELS, RUN, [RR, P @ 1], missing="skip")
    assert skipped.mean()["run"][RR] == pytest.approx((1 / 3 + 1) / 2)
    assert skipped.mean("zero") == scores.mean()
    assert np.isnan(np.asarray(skipped)[0, 2]).all()
    assert "q3" not in skipped.per_query()["run"]
    assert "missing=skip" in skipped.signatures()["RR"]


def test_a_missing_topic_is_never_the_best_for_a_lower_is_better_measure() -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1}}
    scores = rg.evaluate(qrels, {"q2": {"a": 1.0}}, SearchLength)
    assert scores.per_query()["run"]["q1"][SearchLength] == 2.0


def test_queries_on_which_a_measure_is_undefined_are_left_out_and_counted() -> None:
    scores = rg.evaluate(QRELS, RUN, SearchLength)
    assert scores.mean()["run"][SearchLength] == pytest.approx((2 + 0) / 2)
    assert "SearchLength: 1 query undefined, excluded from the mean" in scores.table().notes


def test_condensed_lists_hold_judged_documents_only() -> None:
    condensed = rg.evaluate(QRELS, RUN, RR, unjudged="condensed")
    assert condensed.per_query()["run"]["q1"][RR] == 0.5
    assert "unjudged=condensed" in condensed.signatures()["RR"]


def test_single_precision_merges_scores_and_says_how_many() -> None:
    close = {"q1": {"a": 1.0 + 1e-9, "b": 1.0}}
    single = rg.evaluate(QRELS, close, RR, precision="single")
    assert single.per_query()["run"]["q1"][RR] == 0.5
    assert (
        "1 pair of adjacent documents with equal scores in single precision"
        in note_texts(single.notes)[0]
    )
    assert "precision=single" in single.signatures()["RR"]
    double = rg.evaluate(QRELS, close, RR)
    assert double.per_query()["run"]["q1"][RR] == 1.0
    assert double.notes == ()


@pytest.mark.parametrize(
    ("ties", "score"), [("docno", 0.5), ("docno-ascending", 1.0), ("input", 0.5)]
)
def test_ties_are_broken_as_the_policy_says(ties: Any, score: float) -> None:
    scores = rg.evaluate(QRELS, {"q1": {"b": 1.0, "a": 1.0}}, RR, ties=ties)
    assert scores.per_query()["run"]["q1"][RR] == score


def test_max_grade_is_the_collections_unless_given() -> None:
    low = rg.evaluate(QRELS, RUN, ERR)
    high = rg.evaluate(QRELS, RUN, ERR, max_grade=4)
    assert low.per_query()["run"]["q2"][ERR] == 3 / 4
    assert high.per_query()["run"]["q2"][ERR] == 3 / 16
    with pytest.raises(rg.MeasureError, match="max_grade=1"):
        rg.evaluate(QRELS, RUN, ERR, max_grade=1)


def test_runs_come_in_many_forms() -> None:
    run = rg.Run.from_dict(RUN, name="x")
    for runs in (run, [run], (run,), {"x": RUN}, {"x": run}, [lambda: run], lambda: run):
        scores = rg.evaluate(QRELS, runs, RR)
        assert np.asarray(scores).shape == (1, 3, 1)
    assert rg.evaluate(QRELS, {"x": RUN, "y": RUN}, RR).runs == ("x", "y")
    assert rg.evaluate(QRELS, [RUN, RUN], RR).runs == ("run1", "run2")
    assert rg.evaluate(QRELS, {"mine": run}, RR).runs == ("mine",)
    some = rg.evaluate(QRELS, {"a": {}, "b": RUN}, RR, failures="skip")
    assert (some.runs, len(some.failed)) == (("b",), 1)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_does_the_work(kind: Any, tmp_path: Path) -> None:
    done: list[str] = []
    with kind(2) as executor:
        scores = rg.evaluate(
            QRELS, {"a": RUN, "b": RUN}, RR, executor=executor, progress=done.append
        )
        assert scores.mean()["a"][RR] == scores.mean()["b"][RR] > 0
        with pytest.raises(rg.InputError, match=r"nothing: cannot be read"):
            rg.evaluate(QRELS, [partial(rg.read_run, tmp_path / "nothing")], RR, executor=executor)
    assert done == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": "file.run"}, "file.run: cannot be read"),
        ({"runs": "*.nothing"}, "no such files"),
        ({"runs": [3]}, "is not a run"),
        ({"measures": []}, "no measure given"),
        ({"measures": [3]}, "a list with a int is not a measure"),
        ({"measures": "P"}, "needs a cutoff"),
        ({"missing": "drop"}, "expected one of zero, skip"),
        ({"ties": "magic"}, "expected one of docno"),
        ({"unjudged": "x"}, "expected one of nonrelevant"),
        ({"precision": "x"}, "expected one of single, double"),
        ({"qrels": "qrels.txt"}, "qrels.txt: cannot be read"),
        ({"qrels": 3}, "3 cannot be used as judgments; pass a qrels file, a data frame or a dict"),
        ({"runs": [rg.Run.from_dict(RUN)] * 2}, "two runs have the name 'run'"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(rg.RankgaugeError, match=message):
        rg.evaluate(**{"qrels": QRELS, "runs": RUN, "measures": RR, **arguments})


@pytest.mark.parametrize("grade", [1.5, "1", None, 2**40])
def test_grades_from_dicts_are_whole_numbers(grade: Any) -> None:
    with pytest.raises(rg.InputError, match="expected a whole number"):
        rg.Judgments.from_dict({"q": {"a": grade}})


@pytest.mark.parametrize("score", [math.nan, "1", None])
def test_scores_from_dicts_are_numbers(score: Any) -> None:
    with pytest.raises(rg.InputError, match="expected a number"):
        rg.Run.from_dict({"q": {"a": score}})


def test_empty_inputs_are_defined() -> None:
    with pytest.raises(NoSharedTopics, match="the run is empty"):
        rg.evaluate(QRELS, {}, RR)
    with pytest.raises(NoSharedTopics, match="the judgments have no queries"):
        rg.evaluate({}, RUN, RR)
    assert judged_labels(rg.Judgments.from_dict({})).max_grade == 1


def test_aggregates_sum_up_over_queries() -> None:
    scores = rg.evaluate(QRELS, RUN, [gm(RR)])
    assert scores.mean()["run"]["gm(RR)"] == pytest.approx((1 / 3 * 1 * 1e-5) ** (1 / 3))
    assert scores.per_query()["run"]["q1"][gm(RR)] == pytest.approx(1 / 3)


def test_paths_among_other_runs_stand_for_files_folders_and_patterns(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rg.write_run(RUN, tmp_path / f"{name}.run")
    run = rg.Run.from_dict(RUN, name="c")
    for paths in ([tmp_path], [tmp_path / "a.run", str(tmp_path / "[b].run")], [f"{tmp_path}/*"]):
        scores = rg.evaluate(QRELS, [*paths, run], "RR")
        assert scores.runs == ("a", "b", "c")
        assert (scores.values == scores.values[2]).all()


# The evaluator


label_lists = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(-2, 2), max_size=6)), max_size=12
)
LABELED = {
    "q1": {"a": 1, "b": 0, "c": 2, "d": -1},
    "q2": {"c": 2, "d": -1, "e": 1, "f": 1, "g": 2},
    "q3": {"e": 0},
}
MANY = ["nDCG@3", "AP", "ERR", "v2(nDCG@3)", "linear(AP)", "gm(P@2)", "expected(RR)"]


LABELED_BY: dict[str, rg.Evaluator] = {
    "nonrelevant": rg.Evaluator(LABELED, MANY),
    "condensed": rg.Evaluator(LABELED, MANY, unjudged="condensed"),
}


@given(label_lists, st.sampled_from(["nonrelevant", "condensed"]))
def test_lists_of_labels_are_scored_as_each_alone(lists: Any, unjudged: Any) -> None:
    evaluator = LABELED_BY[unjudged]
    queries, labels = [q for q, _ in lists], [found for _, found in lists]
    offsets = np.concatenate(([0], np.cumsum([len(found) for found in labels], dtype=int)))
    flat = np.array([label for found in labels for label in found], dtype=np.int64)
    scores = evaluator.score_labels(flat, offsets, np.array(queries, dtype=np.int64))
    assert scores.shape == (len(lists), len(MANY))
    for (query, found), row in zip(lists, scores, strict=True):
        kept = [label for label in found if label >= 0 or unjudged == "nonrelevant"]
        judged = [g for g in list(LABELED.values())[query].values() if g >= 0]
        one = Rankings.of(kept, judged=JudgedLabels.of(judged, max_grade=2))
        for measure, score in zip(evaluator.measures, row, strict=True):
            alone = getattr(measure, "measure", measure) if measure.name == "gm" else measure
            np.testing.assert_array_equal(score, alone.score_each(one)[0])


@given(qrels_dicts, run_dicts)
@examples(50)
def test_lists_of_labels_score_what_the_run_does(qrels: Any, run: Any) -> None:
    evaluator = rg.Evaluator(qrels, [AP, nDCG @ 3, "v1(P@2)"])
    lists = align(rg.Judgments.from_dict(qrels), rg.Run.from_dict(run))
    scores = evaluator.score_labels(lists.rankings.labels, lists.rankings.offsets, lists.queries)
    assume(len(lists.queries))
    whole = evaluator.scores(rg.Run.from_dict(run)).values[0]
    np.testing.assert_array_equal(scores, whole[lists.queries])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [0.5]}, "labels: expected one array of whole numbers"),
        ({"labels": [[0]]}, "labels: expected one array of whole numbers"),
        ({"labels": [[0], [1, 2]]}, "labels: expected one array of whole numbers"),
        ({"labels": np.array([2**64 - 1], np.uint64)}, "too large"),
        ({"labels": [9]}, "labels from 9 to 9, expected -2 to 2"),
        ({"offsets": [0]}, "1 offset for 1 list, expected 2"),
        ({"offsets": [0, 2]}, "the first must be 0, and the last"),
        ({"labels": [1], "offsets": [0, 2, 1], "queries": [0, 0]}, "the offsets decrease"),
        ({"queries": [7]}, "query numbers from 7 to 7, expected numbers from 0 to 2"),
        ({"queries": ["q1"]}, "queries: expected one array of whole numbers"),
    ],
)
def test_lists_of_labels_are_checked(arguments: Any, message: str) -> None:
    given = {"labels": [1], "offsets": [0, 1], "queries": [0], **arguments}
    with pytest.raises(rg.RankgaugeError, match=message):
        rg.Evaluator(QRELS, AP).score_labels(**given)


def test_an_evaluator_serves_again_and_again_and_in_other_processes() -> None:
    evaluator = rg.Evaluator(QRELS, [AP, "v2(nDCG@3)"], missing="skip")
    once, again = evaluator.scores(RUN), evaluator.scores(RUN)
    np.testing.assert_array_equal(once.values, again.values)
    sent = pickle.loads(pickle.dumps(evaluator)).scores(RUN)
    np.testing.assert_array_equal(once.values, sent.values)
    assert once.policies == sent.policies
    assert evaluator.queries == ("q1", "q2", "q3")


class OnlyWhereThereAreLists(rg.Measure):
    """Fails where it is given no list."""

    name = "OnlyWhereThereAreLists"
    summary = "The greatest label of a list, if it has one."

    def _score(self, lists: Rankings) -> Any:
        assert len(lists)
        return lists.count(lists.relevant(1)).astype(float) / max(1, *lists.lengths)


def test_a_measure_is_asked_of_a_file_what_it_is_asked_of_a_run(tmp_path: Path) -> None:
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0}}
    rg.write_run(run, tmp_path / "x.run")
    for runs in (run, tmp_path / "x.run"):
        assert rg.evaluate(qrels, runs, OnlyWhereThereAreLists()).values.tolist() == [[[1.0]]]
    more = {**qrels, "q2": {"a": 1}}
    assert rg.evaluate(more, run, OnlyWhereThereAreLists()).values.tolist() == [[[1.0], [0.0]]]


def test_topics_in_two_places_of_a_file_are_one_also_with_subtopics(tmp_path: Path) -> None:
    judgments = rg.Judgments.from_subtopics({"q1": {"1": {"a": 1}}, "q2": {"1": {"b": 1}}})
    (tmp_path / "x.run").write_text("q1 Q0 a 1 3 x\nq2 Q0 b 1 2 x\nq1 Q0 c 2 1 x\n")
    scores = rg.evaluate(judgments, tmp_path / "x.run", ["alpha_nDCG@5", "P@2"])
    assert scores.values[0].tolist() == [[1.0, 0.5], [1.0, 0.5]]


def test_numbers_are_taken_in_their_own_form() -> None:
    scores = rg.evaluate(QRELS, RUN, "RR", ties="random", seed=3.0, max_grade=4.0)  # type: ignore[arg-type]
    assert "seed=3|" in scores.signatures()["RR"]
    assert "max_grade=4|" in scores.signatures()["RR"]
    with pytest.raises(rg.RankgaugeError, match="max_grade='3', expected a whole number from 1"):
        rg.evaluate(QRELS, RUN, "RR", max_grade="3")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, {"q1": {"a": 1.0}}])
def test_a_function_that_gives_no_run_is_named(given: Any) -> None:
    with pytest.raises(rg.RankgaugeError, match=r"a function gave .*, expected a Run"):
        rg.evaluate(QRELS, lambda: given, "RR")


def test_lists_of_labels_may_lie_anywhere_in_memory() -> None:
    evaluator = rg.Evaluator({"q": {"a": 1, "b": 0}}, ["nDCG@2"])
    labels, offsets = np.array([1, 9, 0, 9])[::2], np.array([0, 9, 2])[::2]
    queries = np.array([0, 5])[::2]
    assert evaluator.score_labels(labels.astype(np.uint8), offsets, queries).tolist() == [[1.0]]


def test_labels_do_not_say_which_subtopics_are_served() -> None:
    judgments = rg.Judgments.from_subtopics({"q": {"1": {"a": 1}, "2": {"b": 1}}})
    evaluator = rg.Evaluator(judgments, ["alpha_nDCG@5", "P@1"])
    with pytest.raises(
        rg.Unsupported, match="alpha_nDCG@5 needs to know which documents are ranked"
    ):
        evaluator.score_labels([1, 1], [0, 2], [0])


def test_a_measure_that_cannot_do_without_lists_is_not_asked_about_none() -> None:
    class Highest(rg.Measure):
        name = "Highest"

        def _score(self, lists: Rankings) -> NDArray[np.float64]:
            return np.full(len(lists), float(lists.labels.max() > 0))

    assert rg.Evaluator(QRELS, Highest()).score_labels([], [0], []).shape == (0, 1)


def test_a_policy_is_text() -> None:
    with pytest.raises(rg.RankgaugeError, match="expected one of docno"):
        rg.evaluate(QRELS, RUN, "RR", ties=np.array(["docno", "input"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_scores_are_between_their_bounds_to_the_last_bit(measure: str) -> None:
    random = np.random.default_rng(0)
    grades = random.integers(-1, 4, size=(400, 30))
    qrels = {
        f"q{q}": {f"d{d}": int(grade) for d, grade in enumerate(row) if grade >= 0}
        for q, row in enumerate(grades)
    }
    scores = {f"d{d}": float(score) for d, score in enumerate(random.random(30))}
    run = dict.fromkeys(qrels, scores)
    texts = [f"lower({measure})", measure, f"upper({measure})"]
    assert (np.diff(rg.evaluate(qrels, {"run": run}, texts).values[0], axis=1) >= 0).all()

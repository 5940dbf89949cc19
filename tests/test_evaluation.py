"""Aligning runs with judgements, and scoring them under every policy."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import rankgauge as rg
from rankgauge import AP, ERR, RR, P, SearchLength, gm, nDCG
from rankgauge.alignment import align, judged_labels

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
    rankings = lists.rankings
    for q, query in enumerate(qrels):
        labels = rankings.labels[rankings.offsets[q] : rankings.offsets[q + 1]].tolist()
        grades = qrels[query]
        assert labels == labels_by_oracle(grades, run.get(query, {}), precision == "single")
        known = rankings.judged.labels[rankings.judged.offsets[q] : rankings.judged.offsets[q + 1]]
        assert known.tolist() == sorted((g for g in grades.values() if g >= 0), reverse=True)
        assert rankings.judged.pooled[q] == sum(g < 0 for g in grades.values())
        assert lists.present[q] == (query in run)
    assert rankings.judged.max_grade == max([1, *(g for r in qrels.values() for g in r.values())])
    assert lists.unknown == len(set(run) - set(qrels))


@given(qrels_dicts, st.lists(run_dicts, min_size=2, max_size=2))
def test_document_numbers_on_request_mean_the_same_document_in_all_runs(
    qrels: Any, runs: Any
) -> None:
    judgments = rg.Judgments.from_dict(qrels)
    numbers: dict[bytes, int] = {}
    for run in runs:
        lists = align(judgments, rg.Run.from_dict(run), documents=numbers).rankings
        names = {number: raw.decode() for raw, number in numbers.items()}
        assert lists.documents is not None
        for q, query in enumerate(qrels):
            ranked = lists.documents[lists.offsets[q] : lists.offsets[q + 1]].tolist()
            assert sorted(names[d] for d in ranked) == sorted(run.get(query, {}))
        assert align(judgments, rg.Run.from_dict(run)).rankings.documents is None


@given(qrels_dicts, run_dicts)
def test_evaluation_is_the_score_of_each_list(qrels: Any, run: Any) -> None:
    highest = max([1, *(g for r in qrels.values() for g in r.values())])
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
    scores = rg.evaluate({"q1": {"a": 1, "b": 0, "c": 0}}, {"q2": {"a": 1.0}}, SearchLength)
    assert scores.mean()["run"][SearchLength] == 2.0


def test_queries_on_which_a_measure_is_undefined_are_left_out_and_counted() -> None:
    scores = rg.evaluate(QRELS, RUN, SearchLength)
    assert scores.mean()["run"][SearchLength] == pytest.approx((2 + 0) / 2)
    assert "SearchLength: 1 topic undefined, left out of the mean" in scores.table().notes


def test_condensed_lists_hold_judged_documents_only() -> None:
    condensed = rg.evaluate(QRELS, RUN, RR, unjudged="condensed")
    assert condensed.per_query()["run"]["q1"][RR] == 0.5
    assert "unjudged=condensed" in condensed.signatures()["RR"]


def test_single_precision_merges_scores_and_says_how_many() -> None:
    close = {"q1": {"a": 1.0 + 1e-9, "b": 1.0}}
    single = rg.evaluate(QRELS, close, RR, precision="single")
    assert single.per_query()["run"]["q1"][RR] == 0.5
    assert "tied in single precision only: 1" in single.notes[0]
    assert "scores=f32" in single.signatures()["RR"]
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
    assert rg.evaluate(QRELS, {"a": {}, "b": RUN}, RR).runs == ("a", "b")


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
        ({"measures": []}, "no measure is given"),
        ({"measures": [3]}, "is not a measure"),
        ({"measures": "P"}, "needs a cut-off"),
        ({"missing": "drop"}, "expected one of zero, skip"),
        ({"ties": "magic"}, "expected one of docno"),
        ({"unjudged": "x"}, "expected one of nonrelevant"),
        ({"precision": "x"}, "expected one of single, double"),
        ({"qrels": "qrels.txt"}, "qrels.txt: cannot be read"),
        ({"qrels": 3}, "3 is no judgments; give a qrels file, a data frame or a dict"),
        ({"runs": [rg.Run.from_dict(RUN)] * 2}, "two runs are called 'run'"),
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
    assert rg.evaluate(QRELS, {}, RR).mean()["run"][RR] == 0.0
    assert math.isnan(rg.evaluate({}, RUN, RR).mean()["run"][RR])
    assert rg.evaluate(QRELS, [], RR).mean() == {}
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

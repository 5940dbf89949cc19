"""`rg.fuse`: what it takes and refuses; and a fused run scores in a file what it scores in memory."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import rankgauge as rg
from profiles import examples
from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.pool import pool_of
from rankgauge.fusion.runs import Fusion
from rankgauge.rankings.single_precision import separate_scores

BM25 = {"q1": {"d1": 12.5, "d2": 11.0, "d3": 7.5}, "q2": {"d1": 3.0}}
DENSE = {"q1": {"d2": 0.9, "d4": 0.7}, "q2": {"d5": 0.8, "d1": 0.6}}
MEASURES = [
    "nDCG@10",
    "nDCG",
    "AP",
    "RR",
    "P@5",
    "Recall@5",
    "ERR@10",
    "RBP(p=0.8)",
    "bpref",
    "Rprec",
]


def in_a_file(run: rg.Run, qrels: Any, measures: list[str]) -> Any:
    """The scores of a run that was written and read again, by default options."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fused.run"
        rg.write_run(run, path)
        return rg.evaluate(qrels, path, measures)


# A fused run in memory and in a file

CLOSE = st.builds(
    lambda base, steps, size: base + steps * size,
    st.sampled_from([0.0, 0.5, 1.0, -3.0, 1e6]),
    st.integers(-4, 4),
    st.sampled_from([1e-16, 1e-12, 1e-9, 1e-7, 1e-3]),
)
DOCUMENTS = [f"d{number:02}" for number in range(25)]
NEAR_TIES = st.dictionaries(st.sampled_from(DOCUMENTS), CLOSE, min_size=1, max_size=25)


@examples(150)
@given(
    a=NEAR_TIES,
    b=NEAR_TIES,
    weight=st.floats(0, 1),
    method=st.sampled_from(list(METHODS)),
    relevant=st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1),
    normalize=st.sampled_from(["min-max", "none", "z", "sum"]),
)
def test_a_fused_run_scores_in_a_file_what_it_scores_in_memory(
    a: Any, b: Any, weight: float, method: str, relevant: Any, normalize: str
) -> None:
    settings: dict[str, Any] = {}
    if METHODS[method].takes == "scores":
        settings["normalize"] = normalize
    if METHODS[method].weighted:
        settings["weights"] = (1 - weight, weight)
    fused = rg.fuse([{"q": a}, {"q": b}], method, **settings)
    qrels = {"q": relevant}
    here = rg.evaluate(qrels, fused, MEASURES)
    there = in_a_file(fused, qrels, MEASURES)
    np.testing.assert_array_equal(here.values, there.values)
    single = rg.evaluate(qrels, fused, MEASURES, precision="single")
    np.testing.assert_array_equal(here.values, single.values)


@examples(150)
@given(a=NEAR_TIES, b=NEAR_TIES, weight=st.floats(0.01, 0.99))
def test_only_equal_scores_tie_and_the_order_is_that_of_the_method(
    a: Any, b: Any, weight: float
) -> None:
    union = pool_of([rg.Run.from_dict({"q": a}), rg.Run.from_dict({"q": b})])
    fusion = Fusion.of("wsum", normalize="none", weights=(1 - weight, weight))
    scores = dict(zip(union.documents.texts(), fusion.scores(union).tolist(), strict=True))
    fused = fusion.fuse_pool(union)
    documents = fused.documents.texts()
    ids = sorted(scores, key=str.encode, reverse=True)
    assert documents == sorted(ids, key=lambda d: -scores[d])
    before = np.array([scores[d] for d in documents])
    for precision in (np.float32, np.float64):
        after = fused.scores.astype(precision)
        np.testing.assert_array_equal(after[1:] < after[:-1], before[1:] < before[:-1])
        np.testing.assert_array_equal(after[1:] == after[:-1], before[1:] == before[:-1])
    assert (fused.scores <= before + np.spacing(np.abs(before).astype(np.float32))).all()


@examples(100)
@given(
    st.lists(
        st.lists(st.floats(-1e30, 1e30, width=64) | CLOSE | st.floats(-1e-40, 1e-40), max_size=12),
        max_size=4,
    )
)
def test_each_score_is_kept_apart_by_no_more_than_needed(lists: list[list[float]]) -> None:
    lists = [sorted(each, reverse=True) for each in lists]
    bounds = np.concatenate(([0], np.cumsum([len(each) for each in lists], dtype=np.int64)))
    found = separate_scores(np.array([x for each in lists for x in each], dtype=float), bounds)
    expected = []
    for each in lists:
        before, last = None, np.float32(0)
        for score in each:
            if before is None or np.float32(score) < last:
                value, last = score, np.float32(score)
            elif score != before:
                last = np.nextafter(last, np.float32(-np.inf))
                value = float(last)
            expected.append(value)
            before = score
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("method", ["wsum", "rrf", "isr", "rbc", "borda", "mnz"])
@pytest.mark.parametrize(
    "runs",
    [
        ("dl21-passage", "trec-dl21/runs/NLE_P_v1.run.gz", "trec-dl21/runs/TUW_TAS-B_768.run.gz"),
        (None, "trec-robust03/runs/input.InexpC2.gz", "trec-robust03/runs/input.Sel50.gz"),
    ],
)
def test_a_real_fused_run_scores_in_a_file_what_it_scores_in_memory(
    method: str, runs: tuple[str | None, str, str], any_data: Callable[[str], Path]
) -> None:
    judged = "trec-robust03/qrels.txt.gz" if runs[0] is None else f"qrels/qrels.{runs[0]}.txt.gz"
    qrels = rg.read_qrels(any_data(judged))
    settings = {"weights": (0.37, 0.63)} if METHODS[method].weighted else {}
    fused = rg.fuse([any_data(run) for run in runs[1:]], method, **settings)
    here = rg.evaluate(qrels, fused, MEASURES)
    there = in_a_file(fused, qrels, MEASURES)
    np.testing.assert_array_equal(here.values, there.values)
    assert not any("tied in single precision" in str(note) for note in there.notes)


# What it takes


def test_by_default_it_is_the_sum_of_min_max_scores() -> None:
    fused = rg.fuse([BM25, DENSE])
    assert fused.name == "wsum"
    assert fused.queries.texts() == ["q1", "q2"]
    assert fused.documents.texts() == ["d2", "d1", "d4", "d3", "d5", "d1"]
    assert fused.scores.tolist() == [1.7, 1.0, 0.0, 0.0, 1.0, 0.0]


def test_runs_are_given_as_to_evaluate(tmp_path: Path) -> None:
    expected = rg.fuse([BM25, DENSE], "rrf")
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, run in (("a", BM25), ("b", DENSE)):
        rg.write_run(run, folder / f"{name}.run")
    for runs in (
        {"bm25": BM25, "dense": DENSE},
        [rg.Run.from_dict(BM25), rg.Run.from_dict(DENSE)],
        folder,
        [folder / "a.run", folder / "b.run"],
        [BM25, folder / "b.run"],
        [lambda: rg.Run.from_dict(BM25), DENSE],
    ):
        fused = rg.fuse(runs, "rrf")
        assert fused.documents.texts() == expected.documents.texts()
        assert fused.scores.tolist() == expected.scores.tolist()


def test_the_name_is_the_tag() -> None:
    fused = rg.fuse([BM25, DENSE], "rrf", name="hybrid")
    assert (fused.name, fused.tag) == ("hybrid", "hybrid")


def test_scores_of_trec_files_are_compared_in_double_precision(tmp_path: Path) -> None:
    file = tmp_path / "a.run"
    file.write_text("q Q0 a 1 1.00000000001 t\nq Q0 b 2 1.0 t\n")
    fused = rg.fuse([file, {"q": {"c": 1.0}}], "rrf", weights=(1, 0.1))
    assert fused.documents.texts()[:2] == ["a", "b"]


def test_a_topic_of_one_run_alone_is_in_the_fused_run() -> None:
    fused = rg.fuse([BM25, {"q2": {"d9": 1.0}, "q3": {"d7": 2.0}}], "rrf")
    assert fused.queries.texts() == ["q1", "q2", "q3"]


def test_the_docstring_names_every_method_normalization_and_parameter() -> None:
    text = inspect.getdoc(rg.fuse) or ""
    parameters = {each.name for method in METHODS.values() for each in method.parameters}
    for name in (*METHODS, *NORMALIZATIONS, *parameters):
        assert name in text, name


# What it refuses


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "combsum"}, "method='combsum', expected one of wsum, rrf"),
        ({"normalize": "softmax"}, "normalize='softmax', expected one of min-max"),
        ({"absent": "mean"}, "absent='mean', expected one of minimum, zero, skip"),
        ({"weights": (1,)}, "1 weight for 2 runs, expected one weight per run"),
        ({"weights": (1, -1)}, "weights=-1, expected a number from 0"),
        ({"weights": (1, float("nan"))}, "weights=nan, expected a number from 0"),
        ({"weights": (0, 0)}, r"weights=\(0, 0\), expected at least one above 0"),
        ({"weights": 0.5}, "weights=0.5, expected one number per run"),
        ({"weights": ("a", "b")}, "weights='a', expected a number from 0"),
        ({"method": "sum", "weights": (1, 1)}, "method='sum' accepts no weights; omit them"),
        (
            {"k": 60},
            "method='wsum' has no parameter 'k'; it accepts no parameter; k is a parameter of",
        ),
        ({"method": "rrf", "k": -1}, "k=-1, expected a number from 0"),
        ({"method": "rrf", "p": 1}, "method='rrf' has no parameter 'p'; it accepts k"),
        ({"method": "rbc", "persistence": 1}, "persistence=1, expected a number strictly between"),
        ({"method": "rrf", "normalize": "z"}, "uses only ranks, so normalize='z' has"),
        ({"method": "borda", "absent": "zero"}, "uses only ranks, so absent='zero' has"),
        ({"normalize": "borda", "absent": "skip"}, "so absent='skip' has no effect"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(rg.RankgaugeError, match=message):
        rg.fuse([BM25, DENSE], **settings)


def test_ranks_need_no_normalization() -> None:
    assert rg.fuse([BM25, DENSE], "rrf", normalize="none").name == "rrf"


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([BM25], r"one run alone \(run1\), expected at least two"),
        ([], "no runs, expected at least one"),
        ([BM25, {}], "run run2 answers no query; remove it"),
        ([BM25, {"q1": {}}], "run run2 answers no query; remove it"),
        ([BM25, {"7": {"d1": 1.0}}], "run run1 shares no query with the other runs: it has 'q1'"),
        ([BM25, lambda: 7], "a function gave int, expected a Run"),
    ],
)
def test_runs_that_do_not_go_together_are_refused(runs: Any, message: str) -> None:
    with pytest.raises(rg.RankgaugeError, match=message):
        rg.fuse(runs)


def test_scores_beyond_what_a_file_holds_are_refused() -> None:
    huge = {"q": {"a": 1e39, "b": 1.0}}
    with pytest.raises(rg.RankgaugeError, match="'a' of query 'q' is 2e\\+39, expected at most"):
        rg.fuse([huge, huge], normalize="none")
    assert rg.fuse([huge, huge]).scores.tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("gmnz", {"gamma": 1e5}, "give gamma a value closer to 1 than 100000$"),
        ("wsum", {"weights": (1e300, 1)}, "give smaller weights$"),
        ("rrf", {"weights": (1e300, 1)}, "give smaller weights$"),
        ("mixed", {"normalize": "none"}, r"normalize the scores \(normalize='min-max'\)$"),
        ("wsum", {"normalize": "none", "weights": (0.5, 0.5)}, "normalize the scores"),
        (
            "gmnz",
            {"gamma": 1e5, "normalize": "none"},
            "give gamma a value closer to 1 than 100000, and normalize the scores",
        ),
    ],
)
def test_the_setting_that_makes_scores_too_large_is_named(
    method: str, settings: dict[str, Any], message: str
) -> None:
    huge = {"q": {"a": 1e39, "b": 1.0}}
    with pytest.raises(rg.RankgaugeError, match=f"document .* of query 'q' is .*; {message}"):
        rg.fuse([huge, huge], method, **settings)


@pytest.mark.parametrize("score", [float("inf"), float("-inf")])
def test_infinite_scores_are_fused_where_ranks_count(score: float) -> None:
    """They name run, query and document where scores count; the finite ones are as good elsewhere."""
    infinite = {"q": {"a": 1.0, "b": score}, "r": {"a": 1.0}}
    finite = {"q": {"a": 1.0, "b": np.sign(score) * 9.0}, "r": {"a": 1.0}}
    for method in METHODS:
        for normalize in NORMALIZATIONS if METHODS[method].takes == "scores" else ["min-max"]:
            settings: dict[str, Any] = {"normalize": normalize}
            if METHODS[method].takes == "ranks" or normalize in ("rank", "borda"):
                fused, expected = (
                    rg.fuse([run, {"q": {"b": 1.0, "c": 0.5}}], method, **settings)
                    for run in (infinite, finite)
                )
                assert fused.scores.tolist() == expected.scores.tolist()
                assert fused.documents.texts() == expected.documents.texts()
            else:
                message = f"the score {score} of document 'b' in run run1, query 'q', cannot be"
                with pytest.raises(rg.RankgaugeError, match=message):
                    rg.fuse([infinite, {"q": {"b": 1.0}}], method, **settings)

"""Runs whose ids do not meet those of the judgments are refused, or loudly warned of."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from rankgauge.core.notes import WARNING, Note, note_texts
from rankgauge.errors import InputError, MisplacedFile, NoSharedTopics
from rankgauge.io.diagnosis import reason

QRELS = {str(topic): {"d1": 1, "d2": 0} for topic in range(1, 11)}
RUN = {topic: {"d1": 2.0, "d2": 1.0} for topic in QRELS}


def renamed(names: Any, run: Any = RUN) -> Any:
    return {names(topic): documents for topic, documents in run.items()}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            lambda topic: f"0{topic}",
            "query '01' of the run is probably '1' of the judgments (leading zeros)",
        ),
        (
            lambda topic: f"q{topic}",
            "query 'q1' of the run is probably '1' of the judgments (text before or after",
        ),
        (
            lambda topic: f"query {topic}",
            "query 'query 1' of the run is probably '1' of the judgments",
        ),
        (
            lambda topic: f"{topic}.0",
            "query '1.0' of the run is probably '1' of the judgments (written as a decimal",
        ),
        (
            lambda topic: f" {topic} ",
            "query ' 1 ' of the run is probably '1' of the judgments (blanks)",
        ),
        (
            lambda topic: f"MB{int(topic):03}",
            "query 'MB001' of the run is probably '1' of the judgments",
        ),
    ],
)
def test_a_run_that_shares_no_topic_fails_with_ids_of_both_sides(names: Any, said: str) -> None:
    with pytest.raises(NoSharedTopics) as caught:
        rg.evaluate(QRELS, {"bm25": renamed(names)}, "AP")
    text = str(caught.value)
    assert text.startswith("bm25: none of its queries are judged.")
    assert ", ".join(repr(names(topic)) for topic in "123") in text
    assert "'1', '2', '3'" in text
    assert said in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


def test_upper_and_lower_case() -> None:
    with pytest.raises(
        NoSharedTopics,
        match=r"'Q1' of the run is probably 'q1' of the judgments \(upper and lower case",
    ):
        rg.evaluate(renamed("q{}".format, QRELS), renamed("Q{}".format), "AP")


def test_ids_that_have_nothing_in_common_get_no_advice() -> None:
    with pytest.raises(NoSharedTopics) as caught:
        rg.evaluate({"a": {"d": 1}}, {"b": {"d": 1.0}}, "AP")
    assert "probably" not in str(caught.value)


def test_a_long_id_is_cut() -> None:
    with pytest.raises(NoSharedTopics) as caught:
        rg.evaluate({"a": {"d": 1}}, {"b" * 10_000: {"d": 1.0}}, "AP")
    assert len(str(caught.value)) < 300


def test_the_other_runs_go_on(tmp_path: Path) -> None:
    rg.write_run(renamed("0{}".format), tmp_path / "zeros.run")
    rg.write_run(RUN, tmp_path / "good.run")
    scores = rg.evaluate(QRELS, tmp_path, "AP", failures="skip")
    assert scores.runs == ("good",)
    assert [text.split(": ")[0] for text in scores.failed] == [str(tmp_path / "zeros.run")]


def test_few_shared_topics_are_a_warning_in_text_and_html() -> None:
    run = {f"0{topic}" if int(topic) > 2 else topic: RUN[topic] for topic in QRELS}
    scores = rg.evaluate(QRELS, {"bm25": run}, "AP")
    (note,) = scores.notes
    assert (note.severity, note.run, note.count) == (WARNING, "bm25", 2)
    start = (
        "WARNING: bm25: the run and the judgments share only 2 queries (the run ranks 10 queries"
    )
    assert f"\n{start}" in repr(scores)
    assert "'03' of the run is probably '3' of the judgments" in repr(scores)
    assert "<strong style='color: #b00020'>WARNING: bm25: the run and" in scores._repr_html_()


@pytest.mark.parametrize(("shared", "strangers"), [(5, 100), (10, 100), (2, 2), (2, 0)])
def test_half_of_either_side_is_enough(shared: int, strangers: int) -> None:
    topics = [*list(QRELS)[:shared], *(f"x{number}" for number in range(strangers))]
    scores = rg.evaluate(QRELS, {topic: {"d1": 1.0} for topic in topics}, "AP")
    assert all(note.severity is None for note in scores.notes)


def test_a_run_without_a_judged_document_is_a_warning(tmp_path: Path) -> None:
    run = {topic: {"D1": 2.0, "D2": 1.0} for topic in QRELS}
    rg.write_run(run, tmp_path / "bm25.run")
    for runs in ({"bm25": run}, tmp_path / "bm25.run"):
        warning = note_texts(rg.evaluate(QRELS, runs, "AP").notes)[0]
        assert warning.startswith("WARNING: bm25: no document of the run is judged (the run has")
        assert "'D1' of the run is probably 'd1' of the judgments (upper and lower case)" in warning
    nothing = note_texts(rg.evaluate(QRELS, {"1": {}}, "AP").notes)[0]
    assert nothing == "WARNING: run: the run has no documents for any judged query"


def test_one_judged_document_is_enough() -> None:
    assert rg.evaluate(QRELS, {**RUN, "1": {"D9": 1.0}}, "AP", missing="skip").notes == ()


def test_warnings_come_first_and_are_kept_in_files(tmp_path: Path) -> None:
    loud = Note("doubt", run="b", severity=WARNING)
    assert note_texts([Note("first", run="a"), loud]) == ("WARNING: b: doubt", "a: first")
    scores = rg.evaluate(QRELS, {"1": {"x": 1.0}}, "AP")
    scores.save(tmp_path / "scores")
    assert rg.Scores.load(tmp_path / "scores").notes == scores.notes


@given(st.sets(st.integers(0, 10**6), min_size=1, max_size=20).map(sorted), st.integers(7, 12))
def test_zeros_in_front_are_always_found(numbers: list[int], width: int) -> None:
    ours, theirs = [f"{each:0{width}}" for each in numbers], [str(each) for each in numbers]
    assert reason(ours, theirs) == (ours[0], theirs[0], "leading zeros")
    assert reason(theirs, theirs) is None


# Files in each other's place


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n1 0 b 0\n")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "bm25.run"
    path.write_text("1 Q0 a 1 2.5 x\n")
    return path


@pytest.mark.parametrize(
    "given", [str, lambda path: path, lambda path: [path], lambda path: {"name": path}]
)
def test_evaluate_says_that_files_are_the_wrong_way_round(
    qrels: Path, run: Path, given: Any
) -> None:
    wrong = f"the files are swapped: {run} is a run and {qrels} contains judgments"
    with pytest.raises(MisplacedFile, match=wrong):
        rg.evaluate(run, given(qrels), "AP")
    assert rg.evaluate(qrels, given(run), "AP").values.tolist() == [[[1.0]]]


def test_evaluate_says_that_one_file_is_given_as_both(qrels: Path, run: Path) -> None:
    for path in (qrels, run):
        with pytest.raises(MisplacedFile, match=f"{path} is given as judgments and as a run"):
            rg.evaluate(path, [str(path)], "AP")


def test_another_fault_is_not_called_the_wrong_way_round(qrels: Path, run: Path) -> None:
    run.write_text("1 Q0 a 1 2 x\n1 Q0 b\n")
    for files in ((qrels, run), (run, qrels), (qrels, iter([run])), (RUN, run)):
        with pytest.raises(InputError):
            rg.evaluate(*files, "AP")

"""Tracks: what they are read from, what is left out, and whether they are deep enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from forecast.made_tracks import write_track
from rankgauge import Evaluator
from rankgauge.errors import InputError, NoSharedTopics, RankgaugeError
from rankgauge.forecast import Forecaster, Track
from rankgauge.forecast.tracks import deep_enough, depth_note, rows_of, track_parts

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "b": 1}}
RUNS = {"one": {"q1": ["a", "b", "c"], "q2": ["b"]}, "two": {"q1": ["c"], "q2": ["a", "b"]}}


def test_rows_are_the_scores_of_an_evaluator() -> None:
    track = Track.of(QRELS, RUNS, kind="toy", max_grade=4)
    rows = rows_of(track, "nDCG@3", 1, ["P", "ERR"], "full")
    scores = Evaluator(QRELS, ["P@1", "ERR@1", "nDCG@1", "nDCG@3"], max_grade=4).scores(RUNS)
    assert (rows.runs, rows.queries) == (scores.runs, scores.queries)
    assert rows.features.tolist() == scores.values[:, :, :2].tolist()
    assert rows.plain.tolist() == scores.values[:, :, 2].tolist()
    assert rows.target.tolist() == scores.values[:, :, 3].tolist()


def test_ties_are_those_of_the_track() -> None:
    runs = {"tied": {"q1": {"a": 1.0, "b": 1.0}, "q2": {"b": 1.0}}}
    by_id = Track.of(QRELS, runs, kind="toy")
    ascending = Track.of(QRELS, runs, kind="toy", ties="docno-ascending")
    found = [rows_of(track, "nDCG@3", 1, ["P"]).features[0, 0, 0] for track in (by_id, ascending)]
    assert found == [0, 1]


def test_a_highest_grade_below_the_grades() -> None:
    with pytest.raises(RankgaugeError, match="max_grade=1, but the judgments have a grade of 2"):
        Track.of(QRELS, RUNS, kind="toy", max_grade=1)


def test_runs_that_fail(tmp_path: Path) -> None:
    files = write_track(tmp_path / "made", 1, runs=2, topics=3)
    (tmp_path / "made" / "runs" / "far.run").write_text("77 Q0 d1 1 2.0 far\n")
    with pytest.raises(NoSharedTopics, match="none of its queries are judged"):
        Track.read(f"news={files}")
    track = Track.read(f"news={files}", failures="skip")
    assert [run.name for run in track.runs] == ["r0", "r1"]
    assert len(track.failed) == 1
    assert rows_of(track, "AP", 5).failed == track.failed
    for name in ("r0", "r1"):
        (tmp_path / "made" / "runs" / f"{name}.run").unlink()
    with pytest.raises(RankgaugeError, match="none of its queries are judged"):
        Track.read(f"news={files}", failures="skip")


def test_the_last_comma_ends_the_judgments(tmp_path: Path) -> None:
    qrels, _, runs = write_track(tmp_path / "made", 1, runs=2, topics=3).rpartition(",")
    moved = Path(qrels).rename(tmp_path / "a,b.txt")
    assert len(Track.read(f"news={moved},{runs}").runs) == 2


def test_only_judgments_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 d1 1\n")
    with pytest.raises(InputError, match="no runs, only judgments"):
        Track.read(f"news={tmp_path / 'qrels.txt'},{tmp_path}")


@pytest.mark.parametrize(
    ("target", "enough"), [("nDCG@3", True), ("nDCG@4", False), ("AP", True), ("v2(nDCG@4)", False)]
)
def test_deep_enough(target: str, enough: bool) -> None:
    track = Track.of(QRELS, RUNS, kind="toy", name="the track")
    assert track.deepest == 3
    assert deep_enough(track, target) == enough
    note = depth_note(track, target)
    notes = rows_of(track, target, 2, ["P"]).notes
    assert notes == (() if note is None else (note,))
    if note is not None:
        assert "the track: the runs are too short" in str(note)
        assert "It uses the first 4 documents of a query, and the deepest run has 3" in str(note)


def test_a_run_without_judged_documents_is_told() -> None:
    runs = {**RUNS, "other": {"q1": ["A", "B"], "q9": ["a"]}}
    (note,) = rows_of(Track.of(QRELS, runs, kind="toy"), "AP", 2, ["P"]).notes[:1]
    assert (note.run, note.severity) == ("other", "warning")
    assert "no document of the run is judged" in note.kind
    assert "'A', 'B'" in note.detail
    assert "'a'" not in note.detail.partition("; the judgments have")[0]


def test_a_track_is_learnt_from_once() -> None:
    track = Track.of(QRELS, RUNS, kind="toy")
    with pytest.raises(RankgaugeError, match="the run one occurs twice"):
        Forecaster("gupta", "AP", 1).fit([track, track])
    other = Track.of(QRELS, RUNS, kind="toy", name="another")
    assert Forecaster("gupta", "AP", 1).fit([track, other]).tracks_ == ("toy", "another")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("robust03=news:q.txt,runs/", ("robust03", "news", "q.txt", "runs/")),
        ("news=q.txt,runs/", (None, "news", "q.txt", "runs/")),
        ("news:q.txt,runs/", (None, "news", "q.txt", "runs/")),
        ("a b=n.1:x/q,1=2.txt,r/*.run", ("a b", "n.1", "x/q,1=2.txt", "r/*.run")),
        ("news=/data/a:b/q.txt,runs", (None, "news", "/data/a:b/q.txt", "runs")),
        ("news=C:\\q.txt,runs", (None, "news", "C:\\q.txt", "runs")),
    ],
)
def test_the_spellings_of_a_track(text: str, wanted: tuple[str | None, ...]) -> None:
    assert track_parts(text) == wanted


def test_a_file_of_judgments_with_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is read: a track without a name keeps its meaning."""
    monkeypatch.chdir(tmp_path)
    assert track_parts("web=q:1.txt,runs")[:3] == ("web", "q", "1.txt")
    (tmp_path / "q:1.txt").write_text("")
    assert track_parts("web=q:1.txt,runs")[:3] == (None, "web", "q:1.txt")


@pytest.mark.parametrize("text", ["", "news", "=q,r", "news=q.txt", "news=,runs", "a=b:q,"])
def test_no_tracks(text: str) -> None:
    with pytest.raises(RankgaugeError, match="is not a track, expected NAME=KIND:QRELS,RUNS"):
        track_parts(text)

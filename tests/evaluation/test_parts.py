"""Runs in parts: the same scores, notes and errors as one file that has all the lines."""

from __future__ import annotations

import gzip
import itertools
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from command_line import called, one_process
from profiles import examples, some
from rankgauge.core.policies import Ties
from rankgauge.evaluation import split_runs as joining
from rankgauge.evaluation.split_runs import PartTask
from rankgauge.io import scanning
from rankgauge.io.files import read_bytes
from rankgauge.io.trec import RunFile

Form = Literal["trec", "gz", "parquet"]
Row = tuple[str, str, str]

MEASURES = ("nDCG@3", "AP", "v2(RR)", "P@2", "Judged@2", "bpref")
QRELS = {
    "q1": {"a": 2, "b": 0, "c": 1},
    "q2": {"a": 1, "d": -1},
    "q3": {"x": 0},
    "q4": {"b": 1, "c": 1, "d": 3},
    "q5": {"a": 1},
}

topics = st.sampled_from(["q1", "q2", "q3", "q4", "x1", "x2", "q1.5"])
documents = st.sampled_from(list("abcdefg"))
scores = st.sampled_from(["0", "0.5", "1", "1.000000001", "2", "-1"])
rows = st.lists(
    st.tuples(topics, documents, scores), min_size=1, max_size=40, unique_by=lambda row: row[:2]
)
all_ties = st.sampled_from(
    ["docno", "docno-ascending", "input", "pessimistic", "optimistic", "random", "expected"]
)


@st.composite
def cut_runs(draw: st.DrawFn) -> list[list[Row]]:
    """The rows of a run, sorted by query or not, cut into parts anywhere; a part may be empty."""
    run = draw(rows)
    if draw(st.booleans()):
        run.sort(key=lambda row: row[0])
    cuts = sorted(draw(st.lists(st.integers(0, len(run)), max_size=6)))
    return [run[a:b] for a, b in itertools.pairwise([0, *cuts, len(run)])]


def lines(run: Sequence[Row]) -> bytes:
    return "".join(f"{topic} Q0 {doc} 1 {score} t\n" for topic, doc, score in run).encode()


def write(path: Path, run: Sequence[Row], form: Form) -> Path:
    """A run, or a part of one, in a file."""
    if form == "parquet":
        columns = list(zip(*run, strict=True)) or [(), (), ()]
        names = ("query_id", "doc_id", "score")
        frame = pl.DataFrame(
            dict(zip(names, columns, strict=True)), schema=dict.fromkeys(names, pl.String)
        )
        frame.with_columns(pl.col("score").cast(pl.Float64)).write_parquet(path)
    else:
        path.write_bytes(gzip.compress(lines(run)) if form == "gz" else lines(run))
    return path


def write_parts(folder: Path, cut: Sequence[Sequence[Row]], form: Form) -> Path:
    folder.mkdir()
    for number, run in enumerate(cut):
        write(folder / f"part-{number:03}", run, form)
    return folder


def outcome(runs: Any, ties: Ties = "docno", **options: Any) -> Any:
    """All of the scores, or what the error says."""
    try:
        found = rg.evaluate(QRELS, runs, MEASURES, ties=ties, **options)
    except rg.InputError as error:
        return type(error), error.message
    return (
        *(getattr(found, name).tobytes() for name in ("values", "present", "judged_at_10")),
        *(found.runs, found.notes, found.policies, found.failed),
    )


def columns_of(run: rg.Run) -> Any:
    """All of a run but its source."""
    return (
        *(list(run.queries), list(run.documents), run.bounds.tolist(), run.scores.tobytes()),
        *(run.name, run.tag),
    )


@examples(100)
@given(
    cut_runs(),
    st.sampled_from(["trec", "trec", "gz", "parquet"]),
    all_ties,
    st.integers(1, 100),
    st.integers(1, 4),
)
def test_parts_score_what_one_file_scores(
    cut: list[list[Row]], form: Form, ties: Ties, small: int, edges: int
) -> None:
    run = [row for part in cut for row in part]
    with (
        tempfile.TemporaryDirectory() as place,
        one_process(),
        patch.object(scanning, "PIECE", small),
        patch.object(scanning, "WINDOW", 8),
        patch.object(joining, "MOST_ROWS", 5),
        patch.object(joining, "MOST_EDGE_QUERIES", edges),
    ):
        one = RunFile(write(Path(place, "one"), run, form), "run")
        parts = rg.RunParts(write_parts(Path(place, "parts"), cut, form), "run")
        assert outcome(parts, ties) == outcome(one, ties)
        assert columns_of(parts()) == columns_of(one())


# Lenient reading, and faults

faulty_lines = st.sampled_from(
    [
        b"q1 Q0 a 1 1 t\n",
        b"q1 Q0 a 1 t\n",
        b"q2 Q0 b 1 x t\n",
        b"q4 Q0 c 1 nan t\n",
        b"x1 Q0 a 1 2 t\n",
    ]
)


def without_places(notes: Any) -> Any:
    """Notes on dropped lines, without the line, which one file and parts count from different starts."""
    return [replace(note, detail="") if " dropped" in note.kind else note for note in notes]


@examples(100)
@given(st.lists(st.lists(faulty_lines, max_size=5), min_size=1, max_size=5), all_ties)
def test_lenient_reading_drops_and_counts_what_it_does_in_one_file(
    cut: list[list[bytes]], ties: Ties
) -> None:
    with tempfile.TemporaryDirectory() as place, patch.object(joining, "MOST_ROWS", 2):
        one, folder = Path(place, "one"), Path(place, "parts")
        folder.mkdir()
        one.write_bytes(b"".join(itertools.chain.from_iterable(cut)))
        for number, part in enumerate(cut):
            (folder / f"{number}").write_bytes(b"".join(part))
        whole = outcome(RunFile(one, "run", lenient=True), ties)
        parts = outcome(rg.RunParts(folder, "run", lenient=True), ties)
        if not any(cut):
            assert "empty file" in parts[1]
        elif len(whole) == 2:
            assert parts == whole
        else:
            assert without_places(parts[4]) == without_places(whole[4])
            assert parts[:4] + parts[5:] == whole[:4] + whole[5:]
            both = [rg.read_run(one, lenient=True), rg.RunParts(folder, "one", lenient=True)()]
            assert columns_of(both[1]) == columns_of(both[0])
            assert without_places(both[1].dropped) == without_places(both[0].dropped)


def folder_of(place: Path, *texts: str | bytes) -> Path:
    """A folder of parts 0, 1, … with these texts."""
    place.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (place / f"{number}.run").write_bytes(text.encode() if isinstance(text, str) else text)
    return place


def message(source: Path, **options: Any) -> str:
    """What both ways of reading the parts say is wrong."""
    run = rg.RunParts(source, "run", **options)
    with pytest.raises(rg.InputError) as scored:
        rg.evaluate(QRELS, run, MEASURES)
    with pytest.raises(rg.InputError) as read:
        run()
    assert str(scored.value) == str(read.value)
    return str(scored.value)


@pytest.mark.parametrize("between", ["q2 Q0 a 1 1 t\n", "", "q1 Q0 g 1 1 t\n"])
@pytest.mark.parametrize("topic", ["q1", "x1"])
def test_a_document_in_two_parts_is_an_error_that_names_both_parts_and_lines(
    tmp_path: Path, between: str, topic: str
) -> None:
    line = f"{topic} Q0 b 1 1 t\n"
    folder = folder_of(
        tmp_path / "p",
        f"q3 Q0 x 1 1 t\n{line}",
        between,
        f"{topic} Q0 c 1 1 t\n\n{line}q4 Q0 a 1 1 t\n",
    )
    said = message(folder)
    assert said.startswith(f"{folder}/2.run:3: document 'b' repeated for query '{topic}' (first at")
    assert f"(first at {folder}/0.run:2)" in said
    scores = rg.evaluate(QRELS, rg.RunParts(folder, lenient=True), "AP")
    kinds = {note.kind: note for note in scores.notes}
    dropped = kinds["{lines} dropped: a document repeated for the same query"]
    assert (dropped.count, dropped.detail) == (1, f"first at {folder}/2.run:3")


def test_a_document_in_two_tables_is_an_error_that_names_both(tmp_path: Path) -> None:
    run: list[Row] = [("q1", "a", "1"), ("q1", "b", "1")]
    with one_process():
        folder = write_parts(tmp_path / "p", [run, run[1:]], "parquet")
        said = message(folder)
    assert said.startswith(
        f"{folder}/part-001: document 'b' repeated for query 'q1' (first at {folder}"
    )


def test_a_faulty_line_names_its_part(tmp_path: Path) -> None:
    good = "q1 Q0 a 1 1 t\n"
    folder = folder_of(tmp_path / "p", good, f"q2 Q0 a 1 1 t\nq2 Q0 b 1 x t\n{good}")
    said = message(folder)
    assert said.startswith(f"{folder}/1.run:2: 'x' is not a number")
    assert "cut" not in said


WHOLE = "q1 Q0 a 1 1.5 tag\nq1 Q0 b 1 1 tag\nq2 Q0 a 1 1 tag\n"


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("at", range(1, len(WHOLE)))
def test_a_cut_line_never_passes(tmp_path: Path, at: int, lenient: bool) -> None:
    folder = folder_of(tmp_path / "p", WHOLE[:at], WHOLE[at:])
    if WHOLE[at - 1 : at] == "\n" or WHOLE[at : at + 1] == "\n":
        run = rg.RunParts(folder, "run", lenient=lenient)
        assert run().scores.tolist() == [1.5, 1, 1]
        assert not any("dropped" in note.kind for note in rg.evaluate(QRELS, run, "AP").notes)
    else:
        said = message(folder, lenient=lenient)
        assert said.startswith(f"{folder}/")
        assert "cut between lines (`split -n l/64` does)" in said


def test_lenient_reading_may_drop_the_first_and_the_last_line_of_whole_parts(
    tmp_path: Path,
) -> None:
    folder = folder_of(tmp_path / "p", "# made\nq1 Q0 a 1 1 t\n", "# made\nq2 Q0 a 1 1 t\n# end")
    run = rg.RunParts(folder, lenient=True)
    scores = rg.evaluate(QRELS, run, "AP")
    dropped = [note for note in scores.notes if " dropped" in note.kind]
    assert [(note.count, note.detail) for note in dropped] == [(3, f"first at {folder}/0.run:1")]
    assert run().dropped == tuple(replace(note, run=None) for note in dropped)


def test_no_thread_is_left_behind(tmp_path: Path) -> None:
    good = folder_of(tmp_path / "good", *(f"q{number} Q0 a 1 1 t\n" for number in range(1, 5)))
    bad = folder_of(tmp_path / "bad", "q1 Q0 a 1 x t\n", "q2 Q0 a 1 1 t\n", "q3 Q0 a 1 1 t\n")
    inside = "q1 Q0 a 1 1 t\nq2 Q0 {} 1 1 t\nq3 Q0 a 1 1 t\n"
    again = folder_of(tmp_path / "again", inside.format("b"), inside.format("b"))
    before, errors = threading.active_count(), []
    rg.evaluate(QRELS, rg.RunParts(good), "AP")
    assert threading.active_count() == before
    for folder in (bad, again):
        with pytest.raises(rg.InputError) as error:
            rg.evaluate(QRELS, [rg.RunParts(folder), rg.RunParts(good)], "AP")
        errors.append(error)  # which holds the frames that raised it
        assert threading.active_count() == before


# Which files are parts


def test_files_that_writers_leave_beside_the_parts_are_passed_over(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "bm25.parquet", "q1 Q0 a 1 1 t\n", "", "\n \n", gzip.compress(b"")
    )
    for name in ("_SUCCESS", "_metadata", ".0.run.crc", "0.run.crc", "_common_metadata"):
        (folder / name).write_bytes(b"what a writer leaves")
    scores = rg.evaluate(QRELS, rg.RunParts(folder), "AP")
    assert scores.runs == ("bm25",)
    assert scores.present.sum() == 1


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ((), "no files, expected files that are the parts of one run"),
        (("",), "only 1 empty file, expected files"),
        (("\n", " \n"), "all its 2 parts are empty"),
        (("\n",), "its only part is empty"),
    ],
)
def test_a_run_needs_a_part_with_rows(tmp_path: Path, texts: tuple[str, ...], said: str) -> None:
    folder = folder_of(tmp_path / "p", *texts)
    assert message(folder).startswith(f"{folder}: {said}")


def test_an_empty_table_is_an_empty_part(tmp_path: Path) -> None:
    folder = write_parts(tmp_path / "p", [[], [("q1", "a", "1")]], "parquet")
    assert rg.evaluate(QRELS, rg.RunParts(folder), "RR").per_query()["p"]["q1"]["RR"] == 1
    with one_process():
        (folder / "part-001").unlink()
        assert "its only part is empty" in message(folder)


def test_parts_may_be_csv_with_a_header_each(tmp_path: Path) -> None:
    header = "query_id,doc_id,score\n"
    folder = folder_of(tmp_path / "p", header, f"{header}q1,a,1\nq2,b,1\n", f"{header}q2,a,2\n")
    assert rg.RunParts(folder)().bounds.tolist() == [0, 1, 3]
    assert rg.evaluate(QRELS, rg.RunParts(folder), "RR").per_query()["p"]["q2"]["RR"] == 1


def test_parts_are_of_one_kind(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "p", "q1 Q0 a 1 1 t\n", "")
    with one_process():
        write(folder / "part", [("q2", "a", "1")], "parquet")
        assert message(folder) == (
            f"{folder}/part: is a table, but {folder}/0.run, a part of the same run, is TREC text; "
            "expected parts of one kind"
        )


def test_a_folder_of_folders_is_no_run_in_parts(tmp_path: Path) -> None:
    folder_of(tmp_path / "bm25", "q1 Q0 a 1 1 t\n")
    assert "contains a folder, 'bm25', expected files" in message(tmp_path)


def test_a_part_that_is_gone_fails_its_run_and_no_other(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "p", "q1 Q0 a 1 1 t\n", "q2 Q0 a 1 1 t\n")
    (folder / "1.run").unlink()
    (folder / "1.run").symlink_to(tmp_path / "gone")
    other = folder_of(tmp_path / "other", "q1 Q0 a 1 1 t\n")
    scores = rg.evaluate(QRELS, [rg.RunParts(folder), rg.RunParts(other)], "AP", failures="skip")
    assert scores.runs == ("other",)
    assert scores.failed == (f"{folder}/1.run: cannot be read: No such file or directory",)


def test_a_part_that_changes_between_two_readings_is_noticed(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "p",
        *["x0 Q0 a 1 1 t\nq1 Q0 a 1 1 t\nx1 Q0 a 1 1 t\n", "q2 Q0 a 1 1 t\n", "q1 Q0 b 1 1 t\n"],
    )
    groups = joining._QueryIndex.groups

    def change(*arguments: Any) -> Any:
        for file in folder.iterdir():
            file.write_text("q3 Q0 a 1 1 t\n")
        return groups(*arguments)

    with (
        patch.object(joining._QueryIndex, "groups", change),
        pytest.raises(rg.InputError, match="changed"),
    ):
        rg.evaluate(QRELS, rg.RunParts(folder), "AP")


# The ways to name a run in parts


def test_a_run_in_parts_is_taken_wherever_a_run_is(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bm25", "q1 Q0 a 1 1 t\nq2 Q0 b 1 3 t\n", "q2 Q0 a 1 2 t\n")
    parts, dictionary = rg.RunParts(folder), {"q1": {"a": 1.0}, "q2": {"b": 3.0, "a": 2.0}}
    alone = rg.evaluate(QRELS, parts, "AP")
    mixed = rg.evaluate(QRELS, [parts, rg.RunParts(f"{folder}/*.run", "two"), dictionary], "AP")
    named = rg.evaluate(QRELS, {"x": parts, "y": dictionary}, "AP")
    assert (alone.runs, mixed.runs, named.runs) == (("bm25",), ("bm25", "two", "run3"), ("x", "y"))
    for values in (*mixed.values, *named.values):
        assert values.tobytes() == alone.values[0].tobytes()
    other = rg.Run.from_dict({"q1": {"b": 1.0, "a": 0.5}, "q2": {"c": 1.0}}, name="other")
    assert rg.med(parts, other, "AP").table() == rg.med(parts(), other, "AP").table()
    fused = rg.fuse([parts, other], method="rrf")
    assert columns_of(fused) == columns_of(rg.fuse([parts(), other], method="rrf"))
    assert rg.pool(QRELS, [parts, other], depth=1).grades.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/bm25", "bm25"),
        ("runs/bm25.parquet/", "bm25"),
        ("runs/bm25-*.run.gz", "bm25"),
        ("runs/bm25/part-*", "bm25"),
        ("runs/bm25.parquet/*.parquet", "bm25"),
        ("runs/*/part-*", "runs"),
        ("part-*", "part"),
        ("bm25_[0-9]*", "bm25"),
        ("*", "*"),
        ("runs/a.run.gz", "a"),
    ],
)
def test_a_run_in_parts_is_named_after_its_folder_or_the_start_of_the_pattern(
    path: str, name: str
) -> None:
    assert rg.RunParts(path).label == name


# The command line


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments, two runs, and both runs in parts under the same names."""
    place, random = tmp_path_factory.mktemp("parts"), np.random.default_rng(26)
    names = [f"d{number}" for number in range(30)]
    with (place / "qrels").open("w") as qrels:
        for topic in range(8):
            qrels.writelines(f"{topic} 0 {doc} {random.integers(3)}\n" for doc in names[:20])
    for run in ("a", "b"):
        text = [
            f"{topic} Q0 {doc} 0 {random.integers(9)} {run}\n"
            for topic in range(9)
            for doc in random.permutation(names)
        ]
        (place / "whole").mkdir(exist_ok=True)
        (place / "whole" / run).write_text("".join(text))
        folder_of(place / run, *("".join(text[at : at + 43]) for at in range(0, len(text), 43)))
    return place


@pytest.mark.parametrize(
    "command",
    [
        "evaluate {qrels} {a} {b} -q -m nDCG@10 --ties input",
        "compare {qrels} {a} {b} -m AP --baseline {a}",
        "forecast depth {qrels} {a} {b} --depth 5 -m nDCG@10 --pooled {a}",
    ],
)
def test_the_command_line_prints_the_same_bytes(files: Path, command: str) -> None:
    whole = {name: files / "whole" / name for name in "ab"}
    parts = {"a": files / "a", "b": f"{files}/b/*"}
    expected = called(*command.format(qrels=files / "qrels", **whole).split())
    found = called(*command.format(qrels=files / "qrels", **parts).split(), "--parts")
    assert expected.code == 0
    assert found == expected


def test_without_the_flag_each_file_of_a_folder_is_a_run(files: Path) -> None:
    outcome = called("evaluate", files / "qrels", files / "a", "-m", "AP")
    assert len(outcome.out.splitlines()) > 7


def test_few_rows_are_held_however_many_the_parts(tmp_path: Path) -> None:
    run = [(f"q{topic:03}", doc, "1") for topic in range(300) for doc in "abcdefgh"]
    qrels = {f"q{topic:03}": {"a": 1} for topic in range(300)}
    scorer = rg.Evaluator(qrels, "AP")._scorer
    cut = [run[at : at + 11] for at in range(0, len(run), 11)]
    source = rg.RunParts(write_parts(tmp_path / "parts", cut, "trec"), "run")
    whole = joining.SplitRun(source, source.files(), scorer)
    held = []
    with patch.object(joining, "MOST_EDGE_QUERIES", 10):
        for number, file in enumerate(source.files()):
            whole.add(PartTask(number, file).scores(scorer))
            held.append(sum(edge.size for edge in whole.edges.values()))
    assert len(held) > 200
    assert max(held) <= 10 * 8
    scores = whole.scores(None)
    assert scores.present.all()


# Real runs, and other processes


def cut_file(folder: Path, text: bytes, count: int, shuffle: bool) -> Path:
    """The lines of a run in so many parts of the same number of lines, compressed every other."""
    folder.mkdir()
    rows = text.splitlines(keepends=True)
    if shuffle:
        rows = [rows[place] for place in np.random.default_rng(26).permutation(len(rows))]
    for number, own in enumerate(np.array_split(np.arange(len(rows)), count)):
        part = b"".join(rows[place] for place in own)
        (folder / f"part-{number:02}").write_bytes(gzip.compress(part, 1) if number % 2 else part)
    return folder


@pytest.mark.parametrize("shuffle", [False, True])
def test_real_runs_in_parts_score_what_they_score_whole(
    any_data: Callable[[str], Path], tmp_path: Path, shuffle: bool
) -> None:
    qrels = rg.read_qrels(any_data("trec-robust03/qrels.txt.gz"))
    paths = some(sorted(any_data("trec-robust03/runs").iterdir()), 3)[int(shuffle) * 2 :]
    whole, parts = [], []
    for number, path in enumerate(paths):
        folder = cut_file(tmp_path / f"{number}", read_bytes(path), 7, shuffle)
        parts.append(rg.RunParts(folder))
        joined = tmp_path / f"{number}.run"
        joined.write_bytes(b"".join(read_bytes(part) for part in sorted(folder.iterdir())))
        whole.append(joined)
    for ties in ("input",) if shuffle else ("input", "docno"):
        both = [rg.evaluate(qrels, runs, MEASURES, ties=ties) for runs in (whole, parts)]
        for name in ("values", "present", "judged_at_10"):
            assert getattr(both[0], name).tobytes() == getattr(both[1], name).tobytes()
        assert (both[0].notes, both[0].runs) == (both[1].notes, both[1].runs)


def test_other_processes_score_parts_of_topics_with_subtopics(tmp_path: Path) -> None:
    qrels = rg.Judgments.from_subtopics(
        {f"q{number}": {"1": {"a": 1, "b": 0}, "2": {"b": 2, "c": 1}} for number in range(1, 5)}
    )
    cut: list[list[Row]] = [
        [("q1", "a", "3"), ("q2", "a", "1"), ("x1", "a", "1"), ("q3", "c", "1")],
        [("q3", "b", "2"), ("q1", "b", "1"), ("x1", "b", "1"), ("q2", "b", "4")],
        [("q2", "c", "9"), ("q4", "a", "9")],
    ]
    one = RunFile(write(tmp_path / "one", [row for part in cut for row in part], "trec"), "run")
    parts = rg.RunParts(write_parts(tmp_path / "parts", cut, "trec"), "run")
    evaluator = rg.Evaluator(qrels, ["alpha_nDCG@3", "AP"])
    expected = evaluator.scores(one)
    with ProcessPoolExecutor(2) as pool:
        found = evaluator.scores([parts, replace(parts, name="again")], executor=pool)
    assert found.runs == ("run", "again")
    assert all(values.tobytes() == expected.values[0].tobytes() for values in found.values)
    assert [note for note in found.notes if note.run == "run"] == list(expected.notes)

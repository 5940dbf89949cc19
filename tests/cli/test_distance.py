"""The command `rankgauge distance`, as a user of a shell meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rankgauge as rg
from command_line import Call, Outcome, assert_refused, records
from rankgauge.core.notes import note_texts
from rankgauge.distance.advice import advise

A = """\
near Q0 a 1 3 t
near Q0 b 2 2 t
near Q0 c 3 1 t
far Q0 a 1 2 t
far Q0 b 2 1 t
"""
B = """\
near Q0 a 1 3 t
near Q0 c 2 2 t
near Q0 b 3 1 t
far Q0 c 1 2 t
far Q0 d 2 1 t
"""
QRELS = """\
near 0 a 1
near 0 z 2
far 0 a 1
far 0 c 0
alone 0 a 1
"""


class Files(NamedTuple):
    folder: Path
    a: Path
    b: Path
    qrels: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Two runs of two queries, and judgments of these and of one that neither answers."""
    made = Files(tmp_path, tmp_path / "old.run", tmp_path / "new.run", tmp_path / "qrels.txt")
    made.a.write_text(A)
    made.b.write_text(B)
    made.qrels.write_text(QRELS)
    return made


@pytest.fixture
def distance(rankgauge: Call, files: Files) -> Call:
    """What the command does with these runs and options."""

    def call(*options: object, runs: tuple[Path | str, ...] = (files.a, files.b)) -> Outcome:
        return rankgauge("distance", *runs, *options)

    return call


# Two runs


def test_two_runs_have_a_row_a_measure(distance: Call, files: Files) -> None:
    code, out, err = distance("-m", "P@2", "-m", "AP@3")
    assert code == 0
    assert out.splitlines()[0].split("\t") == ["measure", "topics", "distance", "exact", "grades"]
    for row, measure in zip(records(out), ("P@2", "AP@3"), strict=True):
        expected = rg.med(files.a, files.b, measure)
        assert row == {
            "measure": measure,
            "topics": "2",
            "distance": str(expected.mean()),
            "exact": "yes",
            "grades": "0,1",
        }
    assert err == "note: a is old, b is new\n"
    # By P@2, near: b or c; far: both documents.
    assert float(records(out)[0]["distance"]) == (0.5 + 1.0) / 2


def test_the_default_measure_is_ndcg_at_10(distance: Call) -> None:
    assert distance() == distance("-m", "nDCG@10")


def test_judgments_bring_runs_together_and_show_the_difference(
    distance: Call, files: Files
) -> None:
    options = ("-m", "nDCG@3", "-m", "AP@2")
    code, out, _ = distance("--qrels", files.qrels, *options)
    assert code == 0
    assert distance(*options, runs=(files.qrels, files.a, files.b)).out == out
    scores = rg.evaluate(files.qrels, [files.a, files.b], ["nDCG@3", "AP@2"]).mean()
    for row, measure in zip(records(out), ("nDCG@3", "AP@2"), strict=True):
        assert row["topics"] == "3"
        assert float(row["distance"]) == rg.med(files.a, files.b, measure, files.qrels).mean()
        difference = scores["old"][measure] - scores["new"][measure]
        assert float(row["difference"]) == pytest.approx(difference, abs=1e-15)
        assert abs(difference) <= float(row["distance"])


def test_what_is_not_exact_says_so_and_how_large_it_can_be(distance: Call, files: Files) -> None:
    documents = [f"d{i}" for i in range(40)]
    for path, order in ((files.a, documents), (files.b, documents[::-1])):
        path.write_text("".join(f"q Q0 {d} 1 {-i} t\n" for i, d in enumerate(order)))
    _, out, _ = distance("-m", "bpref", "-m", "P@5")
    bpref, precision = records(out)
    assert (bpref["exact"], bpref["at most"]) == ("no", "1.0")
    assert (precision["exact"], precision["at most"]) == ("yes", precision["distance"])
    assert [row["at most"] for row in records(distance("-m", "bpref", "-q").out)] == ["1.0", "1.0"]


def test_a_row_a_topic_and_then_the_mean(distance: Call, files: Files) -> None:
    _, out, _ = distance("--qrels", files.qrels, "-m", "P@2", "-q")
    found = {row["topic"]: row for row in records(out)}
    assert list(found) == ["near", "far", "alone", "all"]
    near, far, alone, mean = found.values()
    # In near b or c may be relevant, in far b or d; a is known to be, and c in far not to be.
    assert (near["free"], near["distance"], near["difference"]) == ("2", "0.5", "0.0")
    assert (far["free"], far["ahead"], far["distance"], far["difference"]) == (
        "2",
        "a",
        "1.0",
        "0.5",
    )
    assert (alone["free"], alone["ahead"], alone["distance"]) == ("0", "neither", "0.0")
    assert (mean["free"], mean["ahead"], float(mean["distance"])) == ("", "", 0.5)
    assert float(mean["difference"]) == pytest.approx(0.5 / 3)


def test_the_topics_with_the_greatest_distance_come_first(
    distance: Call,
) -> None:
    whole = records(distance("-m", "P@2", "--top", 5).out)
    assert [row["topic"] for row in whole] == ["far", "near"]
    assert records(distance("-m", "P@2", "--top", 1, "-q").out) == whole[:1]


def test_a_table_of_ratings_before_two_runs_is_judgments(rankgauge: Call, files: Files) -> None:
    rows = [line.split() for line in QRELS.splitlines()]
    table = files.folder / "judged.csv"
    lines = ["query_id,doc_id,rating", *(f"{query},{doc},{grade}" for query, _, doc, grade in rows)]
    table.write_text("\n".join(lines) + "\n")
    named = rankgauge("distance", "--qrels", files.qrels, files.a, files.b, "-m", "AP@2")
    assert rankgauge("distance", table, files.a, files.b, "-m", "AP@2").out == named.out
    assert_refused(rankgauge("distance", table, files.a), "1 run, expected at least two")


def test_tables_that_could_be_either_are_runs(rankgauge: Call, tmp_path: Path) -> None:
    tables = [tmp_path / f"{name}.csv" for name in "abc"]
    for number, table in enumerate(tables):
        table.write_text(f"query_id,doc_id,rating\nq,a,{number + 1}\nq,b,2\n")
    assert len(records(rankgauge("distance", *tables, "-m", "P@1").out)) == 3


def test_the_witness_has_the_labels_that_attain_the_distance(distance: Call, files: Files) -> None:
    code, out, _ = distance("--qrels", files.qrels, "-m", "nDCG@2", "-m", "AP@2", "--witness")
    assert code == 0
    assert out.splitlines()[0].split("\t") == [
        *("measure", "topic", "document", "label", "rank a", "rank b")
    ]
    labels = {"near": {"a": 1, "z": 2}, "far": {"a": 1, "c": 0}, "alone": {"a": 1}}
    for measure in ("nDCG@2", "AP@2"):
        mine = [row for row in records(out) if row["measure"] == measure]
        whole = {topic: dict(known) for topic, known in labels.items()}
        for row in mine:
            whole[row["topic"]][row["document"]] = int(row["label"])
        difference = np.diff(rg.evaluate(whole, [files.a, files.b], measure).values, axis=0)
        distances = rg.med(files.a, files.b, measure, files.qrels)
        assert np.abs(difference[0, :, 0]) == pytest.approx(np.asarray(distances)[0])
        places = {(row["topic"], row["document"]): (row["rank a"], row["rank b"]) for row in mine}
        assert places == {
            ("near", "b"): ("2", ""),
            ("near", "c"): ("", "2"),
            ("far", "b"): ("2", ""),
            ("far", "d"): ("", "2"),
        }
    one = records(distance("-m", "P@2", "--witness", "--top", 1).out)
    assert {row["topic"] for row in one} == {"far"}


def test_documents_in_neither_run_are_part_of_a_witness(distance: Call, files: Files) -> None:
    files.a.write_text("q Q0 1 1 2 t\nq Q0 2 2 1 t\n")
    files.b.write_text("q Q0 2 1 2 t\nq Q0 0 2 1 t\n")
    files.qrels.write_text("q 0 0 1\nq 0 1 0\nq 0 2 0\n")
    options = ("--qrels", files.qrels, "-m", "Rprec")
    assert float(records(distance(*options, "--offlist", "none").out)[0]["distance"]) == 0
    assert float(records(distance(*options).out)[0]["distance"]) == 0.5
    _, _, err = distance(*options, "--witness")
    assert (
        "note: Rprec, query q: 1 document that neither run retrieved counts as relevant too\n"
        in err
    )


def test_the_documents_to_judge_are_those_of_the_advice(distance: Call, files: Files) -> None:
    code, out, err = distance("--qrels", files.qrels, "-m", "P@2", "--judge", 3)
    assert code == 0
    distances = rg.med(files.a, files.b, "P@2", files.qrels)
    assert isinstance(distances, rg.Distances)
    table = advise(distances, 3).table()
    assert out == table.render("tsv").split("#")[0]
    assert len(records(out)) == 3
    notes = (*note_texts(distances.notes, gather=True), *table.notes)
    assert [f"note: {note}" for note in notes] == err.splitlines()


@pytest.mark.parametrize(
    ("options", "value"),
    [
        (["-m", "DCG@1"], 1.0),
        (["-m", "DCG@1", "--grades", "0,1,2"], 2.0),
        (["-m", "DCG@1", "--grades", "2,0"], 2.0),
        (["-m", "ERR@1"], 0.5),
        (["-m", "ERR@1", "--max-grade", "2"], 0.75),
        (["-m", "ERR@1", "--max-grade", "2", "--grades", "0,1"], 0.25),
        (["-m", "ERR@1", "--max-grade", "2", "--grades", "0,max"], 0.75),
        (["-m", "ERR@1", "--grades", "0,2"], 0.75),
    ],
)
def test_grades_say_which_labels_there_may_be(
    options: list[str], value: float, distance: Call, files: Files
) -> None:
    files.a.write_text("q Q0 a 1 1 t\n")
    files.b.write_text("q Q0 b 1 1 t\n")
    assert float(records(distance(*options).out)[0]["distance"]) == value


def test_negative_grades_are_unjudged_or_not_relevant(distance: Call, files: Files) -> None:
    files.a.write_text("q Q0 a 1 1 t\n")
    files.b.write_text("q Q0 b 1 1 t\n")
    files.qrels.write_text("q 0 a -2\nq 0 b 0\nq 0 c 1\n")
    options = ("--qrels", files.qrels, "-m", "P@1")
    _, out, err = distance(*options)
    assert float(records(out)[0]["distance"]) == 1
    assert "1 document with a negative grade counts as unjudged" in err
    _, out, err = distance(*options, "--negative", "nonrelevant")
    assert float(records(out)[0]["distance"]) == 0
    assert "negative" not in err
    runs = {"a": rg.read_run(files.a), "b": rg.read_run(files.b)}
    for negative, value in (("unjudged", 1.0), ("nonrelevant", 0.0)):
        found = rg.med_matrix(files.qrels, runs, "P@1", negative=negative)
        assert found.mean() == value
        assert rg.med(["a"], ["b"], "P@1", {"a": -2, "b": 0}, negative=negative).value == value


def test_heuristics_are_said_to_be_lower_bounds(distance: Call, files: Files) -> None:
    (exact,) = records(distance("-m", "AP@3").out)
    for method in ("greedy", "tabu"):
        _, out, err = distance("-m", "AP@3", "--method", method, "--max-grade", 3)
        (row,) = records(out)
        assert row["grades"] == "0,3"
        assert f"{method} gives lower bounds" in err
        assert float(row["distance"]) <= float(exact["distance"])
        assert (row["exact"], float(row["at most"])) == ("no", 1)


def test_the_steps_of_algorithm_1(distance: Call) -> None:
    code, out, err = distance("-m", "nDCG@3", "--trace", "--top", 1)
    assert code == 0
    rows = records(out)
    assert {row["topic"] for row in rows} == {"far"}
    assert [row["document"] for row in rows if row["ahead"] == "a"] == ["", "a", "b"]
    assert max(float(row["quotient"]) for row in rows) == 1
    assert "weight a, weight b: what the document adds to the numerator of each score" in err


@pytest.mark.parametrize(("ties", "value"), [("docno", 0), ("docno-ascending", 0), ("input", 1)])
def test_ties_are_broken_as_asked(ties: str, value: float, distance: Call, files: Files) -> None:
    files.a.write_text("q Q0 a 1 1 t\nq Q0 b 1 1 t\n")
    files.b.write_text("q Q0 b 1 1 t\nq Q0 a 1 1 t\n")
    assert float(records(distance("-m", "P@1", "--ties", ties).out)[0]["distance"]) == value


# More than two


@pytest.fixture
def third(files: Files) -> Path:
    path = files.folder / "third.run"
    path.write_text(A.replace("far Q0 b 2 1", "far Q0 x 2 1"))
    return path


def test_more_runs_give_the_matrix_with_near_ones_together(
    distance: Call, files: Files, third: Path
) -> None:
    code, out, err = distance("-m", "P@2", runs=(files.a, files.b, third))
    assert code == 0
    expected = rg.med_matrix(None, [files.a, files.b, third], "P@2")
    names = [expected.runs[i] for i in expected.order()]
    assert out.splitlines()[0].split("\t") == ["run", *names]
    assert [row["run"] for row in records(out)] == names
    assert {"old", "third"} in (set(names[:2]), set(names[1:]))
    square = np.array([[float(row[name]) for name in names] for row in records(out)])
    assert np.array_equal(square, expected.matrix()[np.ix_(expected.order(), expected.order())])
    assert err == "note: mean distance in P@2 over 2 queries\n"


def test_topics_of_many_runs_have_the_mean_over_pairs(
    distance: Call, files: Files, third: Path
) -> None:
    runs = (files.a, files.b, third)
    expected = rg.med_matrix(None, [*runs], "P@2").per_query()
    per_query = records(distance("-m", "P@2", "-q", runs=runs).out)
    assert {row["topic"]: float(row["P@2"]) for row in per_query} == expected
    (most,) = records(distance("-m", "P@2", "--top", 1, runs=runs).out)
    assert most["topic"] == max(expected, key=lambda topic: expected[topic])


def test_folders_and_patterns_stand_for_runs(distance: Call, files: Files, third: Path) -> None:
    by_name = distance(runs=(files.b, files.a, third))
    assert by_name.code == 0
    assert distance(runs=(f"{files.folder}/*.run",)).out == by_name.out
    whole = distance("--qrels", files.qrels, runs=(files.folder,))
    assert whole == distance("--qrels", files.qrels, runs=(files.b, files.a, third))


def test_a_run_may_have_any_name(distance: Call, files: Files) -> None:
    for name in ("run", "topic"):
        (files.folder / name).write_text(A)
    runs = (files.folder / "run", files.folder / "topic", files.b)
    code, out, _ = distance("--format", "jsonl", runs=runs)
    assert code == 0
    assert {json.loads(line)["new"] for line in out.splitlines()} != {0.0}
    assert sorted(json.loads(out.splitlines()[0])) == ["new", "run", "run ", "topic"]


# Output


def test_a_run_from_standard_input_serves_several_measures(files: Files) -> None:
    arguments = ["distance", "-", files.b, "-m", "P@2", "-m", "P@1", "--qrels", files.qrels]
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", *arguments], input=A, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [row["distance"] for row in records(done.stdout)] == ["0.5", str(1 / 3)]


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--judge", 2, "-q"],
            "--judge prints a table of its own; leave out -q, --top, --trace and --witness",
        ),
        (["--judge", 2, "--top", 2], "--judge prints a table of its own"),
        (["--judge", 2, "--witness"], "--judge prints a table of its own"),
        (["--judge", 2, "-m", "P@1", "-m", "P@2"], "--judge with 2 measures, expected one"),
        (["--trace", "-q"], "--trace prints a table of its own; leave out -q and --witness"),
        (["--trace", "--method", "tabu"], "--trace shows Algorithm 1; leave out --method tabu"),
        (["--grades", "0,7", "--max-grade", 2], "max_grade=2, but there is a label of 7"),
        (["--judge", 2, "--method", "tabu"], "--judge needs exact distances; leave out --method"),
        (["--judge", 0], "0 is not in the range x>=1"),
        (["--top", 0], "0 is not in the range x>=1"),
        (["--grades", "0,x"], "--grades 0,x, expected whole numbers with commas, such as 0,1,2"),
        (["--grades", "1,2"], "must include 0"),
        (["--grades", "0,-1"], "-1"),
        (["--ties", "expected"], "'expected' is not one of"),
        (["-m", "gm(AP)"], "no distance can be computed for gm(AP); use a measure"),
        (["-m", "num_ret"], "NumRet has no distance, since neither higher nor lower is better"),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: list[object], message: str, distance: Call
) -> None:
    assert_refused(distance(*options), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", 2], "--judge with 3 runs, expected two"),
        (["--witness"], "--witness with 3 runs, expected two"),
        (["-m", "P@1", "-m", "P@2"], "several measures with 3 runs, expected two"),
    ],
)
def test_what_is_for_two_runs_is_refused_for_more(
    options: list[object],
    message: str,
    distance: Call,
    files: Files,
    third: Path,
) -> None:
    assert_refused(distance(*options, runs=(files.a, files.b, third)), message)


def test_one_run_is_held_against_nothing(distance: Call, files: Files) -> None:
    assert_refused(distance(runs=(files.a,)), "1 run, expected at least two to compare")
    assert_refused(distance("--qrels", files.a), "is given as judgments and as a run")


def test_real_runs_have_the_distances_that_the_library_says(
    any_data: Callable[[str], Path], distance: Call
) -> None:
    qrels = any_data("qrels/qrels.covid-round1.txt.gz")
    runs = tuple(any_data(f"trec-covid/round1/runs/{n}.gz") for n in ("run1", "CSIROmedNIR"))
    code, out, _ = distance("--qrels", qrels, "-m", "AP@100", "-m", "nDCG@20", runs=runs)
    assert code == 0
    for row in records(out):
        assert float(row["distance"]) == rg.med(*runs, row["measure"], qrels).mean()
        assert abs(float(row["difference"])) <= float(row["distance"])


# Settled orders


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Judgments and three runs: good is above the others by any labels, and these are open."""
    files = {
        "judged.txt": "q 0 a 1\nq 0 b 1\nq 0 c 0\nq 0 d 0\n",
        "poor.run": "q Q0 c 1 2 t\nq Q0 d 2 1 t\n",
        "good.run": "q Q0 a 1 2 t\nq Q0 b 2 1 t\n",
        "new.run": "q Q0 c 1 2 t\nq Q0 x 2 1 t\n",
    }
    paths = [tmp_path / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return paths


def test_settled_orders_have_a_row_a_run(rankgauge: Call, three: list[Path]) -> None:
    qrels, *runs = three
    code, out, err = rankgauge("distance", "--settled", *three, "-m", "P@2")
    assert code == 0
    assert records(out) == [
        {"run": "good", "P@2": "1.0", "above": "0", "below": "2", "open": "0"},
        {"run": "poor", "P@2": "0.0", "above": "1", "below": "0", "open": "1"},
        {"run": "new", "P@2": "0.0", "above": "1", "below": "0", "open": "1"},
    ]
    assert "P@2: the order of 2 of 3 pairs is settled" in err
    assert rankgauge("distance", "--settled", *runs, "--qrels", qrels, "-m", "P@2").out == out


def test_settled_orders_have_a_row_a_pair(rankgauge: Call, three: list[Path]) -> None:
    _, out, _ = rankgauge("distance", "--settled", "--pairs", *three, "-m", "P@2")
    assert [tuple(row.values()) for row in records(out)] == [
        ("good", "poor", "1.0", "1.0", "1.0", "yes"),
        ("good", "new", "1.0", "0.5", "1.0", "yes"),
        ("poor", "new", "0.0", "-0.5", "0.0", "no"),
    ]


def test_a_run_that_cannot_be_read_leaves_the_orders_of_the_others(
    rankgauge: Call, three: list[Path], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("q Q0\n")
    code, out, err = rankgauge("distance", "--settled", *three, broken, "-m", "P@2")
    assert code == 3
    assert len(records(out)) == 3
    assert "broken.run:1" in err
    assert "1 run of 4 not read" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pairs"], "--pairs works only with --settled"),
        (["--settled", "-q"], "--settled prints a table of its own"),
        (["--settled", "--judge", "2"], "--settled prints a table of its own"),
        (["--settled", "-m", "AP", "-m", "P@2"], "--settled with 2 measures"),
    ],
)
def test_what_settled_does_not_go_with(
    options: list[str], message: str, rankgauge: Call, three: list[Path]
) -> None:
    assert_refused(rankgauge("distance", *options, *three), message)


def test_settled_needs_two_runs_beside_the_judgments(rankgauge: Call, three: list[Path]) -> None:
    assert_refused(rankgauge("distance", "--settled", *three[:2]), "1 run, expected at least two")

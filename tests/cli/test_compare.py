"""The command `rankgauge compare`, as a user of a shell meets it."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import rankgauge as rg
from command_line import Call, on_a_terminal, records
from rankgauge.comparison.significance import CORRECTIONS, TESTS
from rankgauge.comparison.systems import COLUMNS, compare
from rankgauge.core.notes import note_texts

COMMAND = [sys.executable, "-m", "rankgauge", "compare"]
TOPICS = [f"q{number}" for number in range(8)]


class Files(NamedTuple):
    folder: Path
    qrels: Path
    runs: tuple[Path, ...]


def run(places: list[int]) -> str:
    """A run whose relevant document of each query is on this place; 0 for a query it lacks."""
    lines = []
    for topic, place in zip(TOPICS, places, strict=True):
        documents = [f"d{number}" for number in range(1, 6)]
        documents.insert(place - 1, "relevant")
        lines += [f"{topic} Q0 {doc} 0 {-rank} t\n" for rank, doc in enumerate(documents) if place]
    return "".join(lines)


PLACES = {
    "good": [1, 1, 2, 1, 1, 2, 1, 1],
    "fair": [2, 1, 2, 3, 1, 4, 2, 2],
    "poor": [5, 4, 3, 5, 2, 6, 4, 3],
}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgments of eight queries, and three runs that answer them all."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{topic} 0 relevant 1\n" for topic in TOPICS))
    runs = tuple(tmp_path / f"{name}.run" for name in PLACES)
    for path, places in zip(runs, PLACES.values(), strict=True):
        path.write_text(run(places))
    return Files(tmp_path, qrels, runs)


@pytest.fixture
def command(rankgauge: Call, files: Files) -> Call:
    """What the command does with these files and options."""
    return lambda *options: rankgauge("compare", files.qrels, *files.runs, *options)


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """A table of scores: a column a system, a row a query."""
    path = tmp_path / "published.csv"
    columns = ["topic", *PLACES]
    rows = zip(TOPICS, *([f"{1 / place}" for place in row] for row in PLACES.values()), strict=True)
    path.write_text("".join(",".join(row) + "\n" for row in [columns, *rows]))
    return path


def shown(rows: list[dict[str, str]], *columns: str) -> list[tuple[str, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


# The numbers


@pytest.mark.parametrize("test", TESTS)
def test_each_pair_has_what_the_library_finds(test: str, command: Call, files: Files) -> None:
    options = ("--test", test, "--level", 0.9, "--samples", 200, "--seed", 3)
    code, out, err = command("-m", "RR", "-m", "P@1", "--correction", "bh", *options)
    scores = rg.evaluate(files.qrels, files.runs, ["RR", "P@1"])
    found = compare(scores, test=test, correction="bh", level=0.9, samples=200, seed=3)
    rows = records(out)
    assert code == 0
    assert out.splitlines()[0].split("\t") == list(COLUMNS)
    assert shown(rows, "measure", "a", "b") == [
        (measure, a, b)
        for measure in ("RR", "P@1")
        for a, b in (("good", "fair"), ("good", "poor"), ("fair", "poor"))
    ]
    for name in COLUMNS[3:]:
        values = [float(row[name] or "nan") for row in rows]
        np.testing.assert_array_equal(values, getattr(found, name).ravel())
    assert err.splitlines() == [f"note: {note}" for note in note_texts(found.notes)]


def test_by_default_it_is_a_paired_t_test_with_holm_on_ndcg(command: Call, files: Files) -> None:
    rows = records(command().out)
    found = compare(rg.evaluate(files.qrels, files.runs, ["nDCG@10"]))
    assert [row["measure"] for row in rows] == ["nDCG@10"] * 3
    assert [float(row["p_corrected"]) for row in rows] == found.p_corrected[0].tolist()


@pytest.mark.parametrize("correction", [*CORRECTIONS, "none"])
def test_p_values_are_corrected_as_asked(correction: str, command: Call) -> None:
    rows = records(command("-m", "RR", "--correction", correction).out)
    p = np.array([float(row["p"]) for row in rows])
    expected = p if correction == "none" else CORRECTIONS[correction](p)
    assert [float(row["p_corrected"]) for row in rows] == expected.tolist()


def test_the_same_seed_gives_the_same_numbers_and_another_one_others(
    command: Call,
) -> None:
    outs = [
        command("-m", "RR", "--test", "bootstrap", "--samples", 500, "--seed", seed).out
        for seed in (1, 1, 2)
    ]
    assert outs[0] == outs[1] != outs[2]


@pytest.mark.parametrize(
    ("options", "topics", "lacking"),
    [
        ((), 8, "that some run lacks, scored as empty rankings"),
        (("--missing", "skip"), 7, "excluded for all runs because some run lacks them"),
    ],
)
def test_topics_that_a_run_lacks_count_as_empty_rankings_or_are_left_out(
    options: tuple[str, ...],
    topics: int,
    lacking: str,
    command: Call,
    files: Files,
) -> None:
    files.runs[0].write_text(run([0, *PLACES["good"][1:]]))
    outcome = command("-m", "RR", *options)
    first = records(outcome.out)[0]
    assert sum(int(first[name]) for name in ("wins", "ties", "losses")) == topics
    assert f"note: RR: {topics} queries; 1 query {lacking}" in outcome.err.splitlines()


# Baselines


@pytest.mark.parametrize("by", ["name", "file", "another way to the file"])
def test_a_baseline_is_named_as_in_tables_or_by_its_file(
    by: str, command: Call, files: Files
) -> None:
    other = files.folder / ".." / files.folder.name / "poor.run"
    text = {"name": "poor", "file": files.runs[2], "another way to the file": other}[by]
    rows = records(command("-m", "RR", "--baseline", text).out)
    assert shown(rows, "a", "b") == [("good", "poor"), ("fair", "poor")]


def test_there_may_be_several_baselines(command: Call) -> None:
    rows = records(command("-m", "RR", "--baseline", "poor", "--baseline", "fair").out)
    assert shown(rows, "a", "b") == [("good", "poor"), ("good", "fair")]


def test_runs_of_one_name_are_baselines_by_their_paths(rankgauge: Call, files: Files) -> None:
    other = files.folder / "other" / "poor.run"
    other.parent.mkdir()
    other.write_text(run(PLACES["fair"]))
    arguments = ("compare", files.qrels, files.runs[2], other, "-m", "RR")
    rows = records(rankgauge(*arguments, "--baseline", other).out)
    assert shown(rows, "a", "b") == [(str(files.runs[2]), str(other))]


def test_a_baseline_that_is_not_there_is_refused_with_those_that_are(
    command: Call,
) -> None:
    code, out, err = command("--baseline", "pour")
    assert (code, out) == (2, "")
    assert err == "--baseline pour: no such run, expected one of: good, fair, poor\n"


def test_a_baseline_that_cannot_be_read_is_refused_with_the_reason(
    command: Call, files: Files
) -> None:
    files.runs[2].write_text("not a run\n")
    code, out, err = command("--baseline", files.runs[2])
    assert (code, out) == (2, "")
    reason, refusal = err.splitlines()
    assert reason.startswith(f"{files.runs[2]}:1: ")
    assert refusal == "--baseline poor: no such run, expected one of: good, fair"


# How it is printed


def test_a_terminal_with_room_gets_the_intervals_of_one_measure(files: Files) -> None:
    command = ("compare", files.qrels, *files.runs, "-m", "RR")
    _, seen = on_a_terminal(*command, COLUMNS="140")
    assert "● difference, ─ from low to high, ┊ 0" in seen
    rows = [line for line in seen.splitlines() if line.startswith("RR ")]
    assert all("●" in row and "┊" in row for row in rows)
    _, several = on_a_terminal(*command, "-m", "AP", COLUMNS="140")
    assert "●" not in several


def test_marks_give_the_means_with_letters(command: Call) -> None:
    code, out, err = command("-m", "RR", "--marks", "--format", "md", "--baseline", "poor")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "|  | run | RR |"
    assert lines[2:5] == [
        "|  | good | 0.8750<sup>a</sup> |",
        "|  | fair | 0.5729<sup>a</sup> |",
        "| a | poor | 0.2792 |",
    ]


def test_signatures_are_printed_on_request(command: Call) -> None:
    plain, signed = command("-m", "RR"), command("-m", "RR", "--signature", "--missing", "skip")
    (line,) = (line for line in signed.out.splitlines() if line.startswith("# RR("))
    assert "|missing=skip|" in line
    assert "RR(" not in plain.out + plain.err


# Scores in place of runs


def test_saved_scores_are_compared_as_the_runs_they_are_of(
    rankgauge: Call, command: Call, files: Files
) -> None:
    saved = files.folder / "scores"
    measures = ("-m", "RR", "-m", "P@1")
    rankgauge("evaluate", files.qrels, *files.runs, *measures, "--save", saved)
    assert rankgauge("compare", "--scores", saved) == command(*measures)
    assert rankgauge("compare", "--scores", saved, "-m", "P@1") == command("-m", "P@1")


def test_saved_scores_keep_their_treatment_of_missing_topics(rankgauge: Call, files: Files) -> None:
    files.runs[0].write_text(run([0, *PLACES["good"][1:]]))
    saved = files.folder / "scores.json"
    inputs = (files.qrels, *files.runs, "-m", "RR")
    rankgauge("evaluate", *inputs, "--missing", "skip", "--save", saved)
    assert "RR: 7 queries" in rankgauge("compare", "--scores", saved).err
    assert "RR: 8 queries" in rankgauge("compare", "--scores", saved, "--missing", "zero").err


@pytest.mark.parametrize("compressed", [False, True])
def test_a_table_of_scores_is_compared_under_the_measure_it_is_given(
    compressed: bool,
    rankgauge: Call,
    command: Call,
    matrix: Path,
) -> None:
    if compressed:
        packed = matrix.with_suffix(".csv.gz")
        packed.write_bytes(gzip.compress(matrix.read_bytes()))
        matrix = packed
    assert rankgauge("compare", "--scores", f"RR={matrix}") == command("-m", "RR")


def test_a_table_without_a_measure_is_called_by_its_file(rankgauge: Call, matrix: Path) -> None:
    code, out, _ = rankgauge("compare", "--scores", matrix, "-m", "published")
    assert code == 0
    assert {row["measure"] for row in records(out)} == {'given("published")'}


def test_several_tables_are_several_measures(rankgauge: Call, matrix: Path) -> None:
    other = matrix.with_name("a=b.csv")
    header, *rows = matrix.read_text().splitlines()
    other.write_text("\n".join([header, *reversed(rows)]))
    scores = ("--scores", f"AP(rel=2)={matrix}", "--scores", f"RR={other}")
    rows = records(rankgauge("compare", *scores).out)
    assert [row["measure"] for row in rows] == ["AP(rel=2)"] * 3 + ["RR"] * 3
    assert shown(rows[:3], *COLUMNS[1:3], *COLUMNS[-3:]) == shown(
        rows[3:], *COLUMNS[1:3], *COLUMNS[-3:]
    )


def test_a_file_with_an_equals_sign_in_its_name_is_that_file(rankgauge: Call, matrix: Path) -> None:
    other = matrix.rename(matrix.with_name("a=b.csv"))
    assert {row["measure"] for row in records(rankgauge("compare", "--scores", other).out)} == {
        'given("a=b")'
    }


def test_a_table_is_read_from_standard_input(matrix: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--scores", "RR=-"], input=matrix.read_bytes(), capture_output=True, check=True
    )
    assert [row["measure"] for row in records(done.stdout.decode())] == ["RR"] * 3


@pytest.mark.parametrize(
    ("kind", "name"), [((), "normal"), (("z",), "z"), (("empirical",), "empirical")]
)
def test_scores_are_standardized_across_the_runs(
    kind: tuple[Any, ...], name: Any, command: Call, files: Files
) -> None:
    code, out, err = command("-m", "RR", "--standardize", *kind)
    scores = rg.evaluate(files.qrels, files.runs, ["RR"]).standardized(kind=name)
    expected = compare(scores)
    assert code == 0
    assert [float(row["p"]) for row in records(out)] == expected.p[0].tolist()
    assert f"note: scores standardized by query: {name}(3 runs)" in err.splitlines()


def test_standardized_scores_of_missing_topics_are_not_made_up(
    rankgauge: Call, matrix: Path
) -> None:
    lines = matrix.read_text().splitlines()
    lines[1] = "q0,,0.5,0.2"
    matrix.write_text("\n".join(lines))
    options = ("compare", "--scores", f"RR={matrix}", "--standardize", "z")
    code, out, err = rankgauge(*options, "--missing", "zero")
    assert (code, out) == (2, "")
    assert "exclude them with --missing skip" in err
    assert "RR: 7 queries" in rankgauge(*options).err


# What is refused, and what is left out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no input, expected QRELS and runs, or --scores FILE"),
        (("QRELS",), "QRELS: judgments without a run; a single file must have both"),
        (("QRELS", "--scores", "MATRIX"), "and --scores cannot be used together"),
        (
            ("--scores", "RR=SAVED"),
            "SAVED already names its measures; use --scores SAVED without RR=",
        ),
        (("--scores", "RR=nowhere.csv"), "nowhere.csv: cannot be read: No such file or directory"),
        (
            ("--scores", "RR=MATRIX", "-m", "AP"),
            "no scores for AP in the files, expected one of: RR",
        ),
        (
            ("--scores", "RR=MATRIX", "--scores", "RR=MATRIX"),
            "the measure 'RR' appears twice, expected different names",
        ),
        (("QRELS", "RUN"), "1 run, expected at least two to compare"),
        (
            ("--scores", "gm(AP)=MATRIX"),
            "gm(AP) is not an arithmetic mean over queries, which the tests require; use a measure such "
            "as AP",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(
    arguments: tuple[str, ...],
    message: str,
    rankgauge: Call,
    files: Files,
    matrix: Path,
) -> None:
    saved = files.folder / "saved.json"
    rg.evaluate(files.qrels, files.runs, ["RR"]).save(saved)
    places = {"QRELS": files.qrels, "RUN": files.runs[0], "MATRIX": matrix, "SAVED": saved}

    def filled(text: str) -> str:
        return re.sub("QRELS(?! and)|RUN|MATRIX|SAVED", lambda m: str(places[m.group()]), text)

    code, out, err = rankgauge("compare", *map(filled, arguments))
    assert (code, out) == (2, "")
    assert filled(message) in err.splitlines()[-1]


def test_when_too_few_runs_can_be_read_it_says_why(command: Call, files: Files) -> None:
    for path in files.runs[:2]:
        path.write_text("not a run\n")
    code, out, err = command("-m", "RR")
    assert (code, out) == (2, "")
    first, second, last = err.splitlines()
    assert first.startswith(f"{files.runs[0]}:1: ")
    assert second.startswith(f"{files.runs[1]}:1: ")
    assert last == "1 run, expected at least two to compare"


# Long work


def many(folder: Path) -> Path:
    path = folder / "many.csv"
    values = np.random.default_rng(1).random((50, 40))
    np.savetxt(
        path, values, delimiter=",", header=",".join(f"s{i}" for i in range(40)), comments=""
    )
    return path


@pytest.mark.parametrize("test", [name for name, test in TESTS.items() if test.drawn])
def test_on_a_terminal_a_bar_shows_progress_to_the_end(test: str, tmp_path: Path) -> None:
    samples = 300_000 if test == "randomization" else 50_000  # work for a second or so
    options = ("--test", test, "--samples", samples, "-o", tmp_path / "out")
    code, seen = on_a_terminal("compare", "--scores", f"AP={many(tmp_path)}", *options)
    shares = [int(share) for share in re.findall(r"(\d+)%.{0,20}\d:\d\d:\d\d", seen)]
    assert code == 0
    assert "comparing" in seen
    assert shares[-1] == max(shares) == 100


def test_quick_work_shows_no_bar(files: Files) -> None:
    command = ("compare", files.qrels, *files.runs, "--test", "bootstrap", "--samples", 50)
    _, seen = on_a_terminal(*command)
    assert "comparing" not in seen


def test_an_interrupted_comparison_leaves_nothing(tmp_path: Path) -> None:
    scores = many(tmp_path)
    options = ("--test", "bootstrap", "--samples", 100_000, "-o", tmp_path / "out")
    code, seen = on_a_terminal(
        "compare", "--scores", f"AP={scores}", *options, interrupted_at=b"comparing"
    )
    assert code == 130
    assert seen.rstrip().endswith("interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]


def test_published_scores_of_all_systems_are_compared(
    rankgauge: Call, real_data: Callable[[str], Path]
) -> None:
    path = real_data("trec-topic-scores/adhoc8_ap.csv")
    code, out, _ = rankgauge("compare", "--scores", f"AP={path}", "--test", "tukey")
    rows = records(out)
    assert code == 0
    assert len(rows) == 129 * 128 // 2
    assert {int(row["wins"]) + int(row["ties"]) + int(row["losses"]) for row in rows} == {50}


@pytest.mark.parametrize("test", ["paired-t", "tukey-randomized"])
def test_power_says_what_could_be_seen(command, test):
    found = command("--power", "0.8", "--difference", "0.01", "-m", "RR", "--test", test)
    assert found.code == 0, found.err
    rows = records(found.out)
    assert list(rows[0]) == [
        "measure", "a", "b", "difference", "sd", "topics", "detectable", "needed"
    ]  # fmt: skip
    assert len(rows) == 3
    for row in rows:
        assert row["topics"] == "8"
        assert float(row["detectable"]) > 0.01
        assert int(row["needed"]) > 8
    assert "power 0.8" in found.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--difference", "0.1"], "--difference works only with --power; add --power 0.8"),
        (["--power", "0.8", "--marks"], "--power and --marks print different tables"),
        (["--power", "0.8", "--test", "sign"], "--power with --test sign, expected paired-t or"),
        (["--power", "0.01"], "power=0.01, expected a number between 0.05 and 1"),
        (["--power", "1.5"], "--power"),
    ],
)
def test_power_that_cannot_be_had(command, options, message):
    found = command(*options)
    assert found.code == 2
    assert message in found.err


def test_a_table_for_people_has_no_more_rows_than_they_read(monkeypatch, tmp_path, capsys):
    from rankgauge.cli import output

    monkeypatch.setattr(output, "MOST_ROWS", 2)
    table = output.Table(("n",), ((1,), (2,), (3,)), ("a note",))
    file = tmp_path / "rows"
    with output.click.Context(output.click.Command("compare")):
        output.show(table, "md", None, str(file))
        assert "2 |\n\n- the first 2 of 3 rows; --format csv has all of them\n" in file.read_text()
        output.show(table, "csv", None, str(file))
        assert file.read_text() == "n\n1\n2\n3\n# a note\n"

"""Mistakes that people make at the command line, and what they are told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from command_line import Call, assert_refused, on_a_terminal
from rankgauge.cli import COMMANDS, output
from rankgauge.distance import two_runs


class Files(NamedTuple):
    qrels: Path
    good: Path
    zeros: Path
    other: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgments of ten queries, two runs on them, and one whose queries are written with a zero."""
    made = Files(*(tmp_path / name for name in ("qrels.txt", "good.run", "zeros.run", "other.run")))
    topics = range(1, 11)
    made.qrels.write_text("".join(f"{t} 0 a 1\n{t} 0 b 0\n" for t in topics))
    made.good.write_text("".join(f"{t} Q0 a 1 2 x\n{t} Q0 b 2 1 x\n" for t in topics))
    made.zeros.write_text("".join(f"0{t} Q0 a 1 2 x\n" for t in topics))
    made.other.write_text("".join(f"{t} Q0 {'ab'[t % 2]} 1 2 x\n" for t in topics))
    return made


# Runs that share no query with the judgments


def test_a_run_that_shares_no_topic_is_named_and_the_others_go_on(
    rankgauge: Call, files: Files
) -> None:
    code, out, err = rankgauge("evaluate", files.qrels, files.good, files.zeros, "-m", "AP")
    assert code == 3
    assert [line.split("\t")[0] for line in out.splitlines()] == ["run", "good"]
    assert f"{files.zeros}: none of its queries are judged." in err
    assert "query '01' of the run is probably '1' of the judgments (leading zeros)" in err
    assert "1 run of 2 not evaluated" in err


def test_a_warning_is_the_first_line_of_standard_error(rankgauge: Call, files: Files) -> None:
    files.good.write_text("".join(f"{t} Q0 A{t} 1 2 x\n" for t in range(1, 12)))
    code, _, err = rankgauge("evaluate", files.qrels, files.good, "-m", "AP")
    assert code == 0
    assert err.startswith("WARNING: good: no document of the run is judged (")
    assert "note: good: queries without judgments, not scored: 1" in err


# Judgments and runs the wrong way round


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ("query,document,score\n1,a,2.5\n", "query,document,relevance\n1,a,2\n"),
        ("query,document,score\n1,a,2\n", "query,document,relevance\n1,a,2\n"),
        ('{"1": {"a": 1.5}}', '{"1": {"a": 1}}'),
        ("1 Q0 a 1 2 x\n", '{"query": "1", "document": "a", "relevance": 1}\n'),
    ],
)
def test_tables_the_wrong_way_round(rankgauge: Call, files: Files, run: str, qrels: str) -> None:
    files.good.write_text(run)
    files.qrels.write_text(qrels)
    assert rankgauge("evaluate", files.qrels, files.good, "-m", "AP").code == 0
    assert_refused(
        rankgauge("evaluate", files.good, files.qrels, "-m", "AP"),
        "the files are swapped",
    )


def test_a_fault_in_a_file_is_not_called_the_wrong_way_round(rankgauge: Call, files: Files) -> None:
    files.good.write_text("1 Q0 a 1 2 x\n1 Q0 b\n")
    code, _, err = rankgauge("evaluate", files.qrels, files.good)
    assert code == 2
    assert "swapped" not in err
    assert f"{files.good}:2: 3 columns" in err
    code, _, err = rankgauge("evaluate", files.good, files.qrels)
    assert code == 2
    assert "swapped" not in err


def test_numbers_that_could_be_either_are_not_called_the_wrong_way_round(
    rankgauge: Call, files: Files
) -> None:
    files.qrels.write_text("query,document,score\n1,a,2\n")
    files.good.write_text("query,document,score\n01,a,2\n")
    _, _, err = rankgauge("evaluate", files.qrels, files.good)
    assert "swapped" not in err
    assert "none of its queries are judged" in err


def test_distance_says_where_judgments_belong(rankgauge: Call, files: Files) -> None:
    assert_refused(
        rankgauge("distance", files.good, files.qrels),
        "the file contains judgments: pass it first, or with --qrels",
    )
    assert_refused(rankgauge("distance", files.qrels, files.good), "1 run, expected at least two")
    assert_refused(
        rankgauge("distance", "--qrels", files.good, files.qrels, files.other),
        "the files are swapped",
    )


# Options whose value may be left out


def test_interval_may_stand_before_the_files(rankgauge: Call, files: Files) -> None:
    after = rankgauge("evaluate", files.qrels, files.other, "-m", "AP", "--interval")
    assert after.code == 0
    assert rankgauge("evaluate", "--interval", files.qrels, files.other, "-m", "AP") == after
    assert rankgauge("evaluate", "-m", "AP", files.qrels, "--interval", files.other) == after
    drawn = rankgauge("evaluate", "--interval", "bootstrap", files.qrels, files.other, "-m", "AP")
    assert drawn.code == 0
    assert drawn != after


@pytest.mark.parametrize("command", ["compare", "assess"])
def test_standardize_may_stand_before_the_files(
    rankgauge: Call, files: Files, command: str
) -> None:
    inputs = (files.qrels, files.good, files.other)
    after = rankgauge(command, *inputs, "-m", "AP", "-m", "RR", "--standardize")
    assert after.code == 0
    before = rankgauge(command, "-m", "AP", "-m", "RR", "--standardize", *inputs)
    assert before == after


def test_a_misspelt_value_is_still_refused(rankgauge: Call, files: Files) -> None:
    assert_refused(
        rankgauge("evaluate", "--interval", "bootstrp", files.qrels, files.good),
        "'bootstrp' is not one of 't', 'bootstrap'",
    )


# What is said beside numbers


def test_compare_says_that_intervals_are_not_corrected(rankgauge: Call, files: Files) -> None:
    asked = ("compare", files.qrels, files.good, files.other, "-m", "AP", "--format", "table")
    said = "not corrected for multiple comparisons"
    assert said not in rankgauge(*asked).out.replace("\n", " ")
    files.zeros.write_text("1 Q0 a 1 1 x\n")
    assert said in " ".join(rankgauge(*asked, files.zeros).out.split())
    assert "not corrected" not in rankgauge(*asked, files.zeros, "--test", "tukey").out


def test_compare_warns_once(rankgauge: Call, files: Files) -> None:
    files.zeros.write_text("".join(f"{t} Q0 A 1 2 x\n" for t in range(1, 11)))
    code, out, err = rankgauge("compare", files.qrels, files.good, files.zeros, "--format", "table")
    assert code == 0
    assert err.startswith("WARNING: zeros: no document of the run is judged")
    assert "WARNING" not in out


def test_more_queries_than_there_are(rankgauge: Call, files: Files) -> None:
    assert_refused(
        rankgauge("queries", files.qrels, files.other, "-m", "P@1", "--number", 11),
        "number=11, but only 10 queries can be chosen",
    )
    code, _, err = rankgauge("queries", files.qrels, files.other, "-m", "P@1", "--number", 7)
    assert code == 0
    assert "4 queries would be both ideal and uninformative" in err
    code, _, err = rankgauge("queries", files.qrels, files.other, "-m", "P@1", "--number", 5)
    assert "at once" not in err


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("matplotlib", "plot", ("queries", "qrels.txt", "good.run", "--map", "map.svg")),
        ("matplotlib", "plot", ("assess", "qrels.txt", "good.run", "other.run", "--tau", "t.svg")),
        ("zstandard", "zstd", ("evaluate", "qrels.txt", "good.run", "-o", "out.tsv.zst")),
    ],
)
def test_a_missing_extra_names_the_command_that_installs_it(
    rankgauge: Call,
    files: Files,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    extra: str,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(files.qrels.parent)
    monkeypatch.setitem(sys.modules, package, None)
    message = f"{package} is not installed; run pip install {package} (extra: {extra})"
    assert_refused(rankgauge(*arguments), message)


def test_conflicts_and_opposite_are_explained_where_they_are_printed(
    rankgauge: Call, files: Files
) -> None:
    asked = ("assess", files.qrels, files.good, files.other, "-m", "AP", "-m", "RR")
    for form in ("table", "md"):
        out = rankgauge(*asked, "--show", "pairs", "--format", form).out
        text = " ".join(out.split()).replace("\\", "")
        assert "opposite: tests in which the two measures find different runs" in text
        assert "conflicts: tests in which only one of the two measures finds" in text


# The list of commands


def test_commands_are_listed_by_task_with_when_to_use_them(rankgauge: Call) -> None:
    out = rankgauge("--help").out
    lines = out.splitlines()
    tasks = ["Score:", "Decide:", "Combine:", "Learn:"]
    assert [line for line in lines if line in tasks] == tasks
    for name in (*COMMANDS, "study"):
        assert sum(line.startswith(f"  {name} ") for line in lines) == 1
    assert max(map(len, lines)) <= 80


# Terminals: width and color


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "-m", "nDCG@5,10,20,100", "-m", "P@5,10,20,100", "--interval"),
        ("compare",),
        ("assess", "--long"),
    ],
)
def test_tables_fit_a_terminal(files: Files, arguments: tuple[str, ...]) -> None:
    long = files.qrels.parent / f"{'a-name-of-a-run-' * 5}1.run"
    long.write_bytes(files.good.read_bytes())
    inputs = (files.qrels, long, files.other)
    code, seen = on_a_terminal(*arguments, *inputs, "--color", "never")
    assert code == 0
    lines = seen[seen.index("─") :].splitlines()
    assert max(map(len, lines)) <= 80
    said = " ".join(seen.split())
    if arguments[0] != "assess":  # which prints no names of runs
        assert "names are shortened with …; --format tsv shows them in full" in said
    assert "parts" in said
    wide, seen = on_a_terminal(*arguments, *inputs, "--color", "never", COLUMNS="400")
    assert wide == 0
    assert "…" not in seen


def test_notes_on_a_terminal_end_their_lines_between_words(files: Files) -> None:
    files.good.write_text("".join(f"{t} Q0 {'ab'[t % 2]} 1 2 x\n" for t in range(1, 12)))
    seen = on_a_terminal("evaluate", files.qrels, files.good, "-m", "AP", COLUMNS="40")[1]
    assert "note: good: queries without judgments,\n  not scored: 1" in seen


def test_color_is_as_asked(files: Files) -> None:
    files.good.write_text("1 Q0 A 1 2 x\n")
    asked = ("evaluate", files.qrels, files.good, files.other, "-m", "AP")
    plain = "WARNING: good: no document"
    red = f"\x1b[31m\x1b[1m{plain}"
    assert red in on_a_terminal(*asked)[1]
    assert red in on_a_terminal(*asked, "--color", "always", NO_COLOR="1")[1]
    for options, environment in ((("--color", "never"), {}), ((), {"NO_COLOR": "1"})):
        seen = on_a_terminal(*asked, *options, **environment)[1]
        assert plain in seen
        assert "\x1b[3" not in seen


def test_color_in_a_pipe_is_only_there_when_asked_for(rankgauge: Call, files: Files) -> None:
    files.good.write_text("1 Q0 A 1 2 x\n")
    asked = ("evaluate", files.qrels, files.good, "-m", "AP")
    assert rankgauge(*asked).err.startswith("WARNING: ")
    assert rankgauge(*asked, "--color", "always").err.startswith("\x1b[31m\x1b[1mWARNING: ")
    assert "\x1b" not in rankgauge(*asked, "--color", "always").out


# What takes long


def test_an_uncut_distance_says_beforehand_that_it_takes_long(
    rankgauge: Call, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("distance", files.good, files.other)
    said = "AP: this will take a long time: up to 2 documents per query and no cutoff; "
    assert said not in rankgauge(*asked, "-m", "AP").err
    monkeypatch.setattr(two_runs, "LONG_LIST", 2)
    assert rankgauge(*asked, "-m", "AP").err.startswith(
        f"note: {said}a cutoff helps (such as AP@100)"
    )
    assert "take long" not in rankgauge(*asked, "-m", "AP@2").err
    assert "take long" not in rankgauge(*asked, "-m", "RBP").err


def test_progress_goes_into_a_file_a_line_now_and_then(
    rankgauge: Call, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("distance", files.good, files.other, "-m", "AP")
    assert "done" not in rankgauge(*asked).err
    monkeypatch.setattr(output, "SECONDS_A_LINE", 0.0)
    lines = rankgauge(*asked).err.splitlines()
    ending = " of 10 done, about 1 minute left"
    assert [line for line in lines if line.endswith(ending)] == [
        f"evaluating: {number}{ending}" for number in range(1, 10)
    ]


def test_standardize_names_the_run_that_failed(rankgauge: Call, files: Files) -> None:
    code, _, err = rankgauge("compare", "--standardize", files.qrels, files.good, files.zeros)
    assert code == 2
    assert f"{files.zeros}: none of its queries are judged" in err
    assert "expected at least two" in err


# Mistyped words


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("evalute qrels.txt a.run", "evaluate"),
        ("measure", "measures"),
        ("forecast dept", "depth"),
        ("ltr trainn", "train"),
        ("space optma", "optima"),
        ("study forecasts", "forecast"),
        ("evaluate --measur AP", "--measure"),
        ("compare --standardise", "--standardize"),
        ("--verson", "--version"),
    ],
)
def test_a_mistyped_command_or_option_is_told_what_was_probably_meant(
    words: str, meant: str, rankgauge: Call
) -> None:
    assert_refused(rankgauge(*words.split()), f"Did you mean '{meant}'?")


@pytest.mark.parametrize("words", ["xyzzy", "ltr xyzzy"])
def test_a_word_that_is_near_to_no_command_is_only_refused(words: str, rankgauge: Call) -> None:
    done = rankgauge(*words.split())
    assert_refused(done, "No such command 'xyzzy'.")
    assert "Did you mean" not in done.err

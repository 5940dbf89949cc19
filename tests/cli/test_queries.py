"""The command `rankgauge queries`, as a user of a shell meets it."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from command_line import Call, Outcome, assert_refused, records
from rankgauge import evaluate, read_qrels
from rankgauge.query_sets import TYPES, query_types

QRELS = """\
easy 0 a 1
easy 0 b 1
good 0 a 1
good 0 b 0
hard 0 a 1
hard 0 b 0
none 0 a 0
"""
RUN = """\
easy Q0 a 1 2 t
easy Q0 b 2 1 t
good Q0 a 1 2 t
good Q0 b 2 1 t
hard Q0 b 1 2 t
hard Q0 a 2 1 t
none Q0 a 1 1 t
"""
NUMBERS = {"easy": (1.0, 1.0, 0.0), "good": (1.0, 0.5, 0.5), "hard": (0.0, 0.5, -0.5)}
"""Score, expected score and difference by P@1."""


class Files(NamedTuple):
    folder: Path
    qrels: Path
    run: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgments of four queries, one with nothing relevant, and a run that answers all."""
    made = Files(tmp_path, tmp_path / "qrels.txt", tmp_path / "bm25.run")
    made.qrels.write_text(QRELS)
    made.run.write_text(RUN)
    return made


@pytest.fixture
def queries(rankgauge: Call, files: Files) -> Call:
    """What the command does with these files and options, by P@1 where no measure is given."""

    def call(*options: object, inputs: tuple[Path, ...] = (files.qrels, files.run)) -> Outcome:
        measure = () if "-m" in options else ("-m", "P@1")
        return rankgauge("queries", *inputs, *measure, *options)

    return call


def rows(tsv: str) -> dict[str, dict[str, str]]:
    """The rows of the tsv form by query."""
    return {row["topic"]: row for row in records(tsv)}


def types_in(tsv: str) -> dict[str, str]:
    return {topic: row["type"] for topic, row in rows(tsv).items()}


# The table


def test_each_query_has_score_expectation_difference_and_type(
    queries: Call,
) -> None:
    code, out, err = queries("--threshold", 0, 0.5)
    assert code == 0
    assert out.splitlines()[0].split("\t") == ["topic", "score", "expected", "difference", "type"]
    assert {
        topic: tuple(float(row[name]) for name in ("score", "expected", "difference"))
        for topic, row in rows(out).items()
    } == NUMBERS
    assert types_in(out) == {
        "easy": "uninformative easy",
        "good": "ideal",
        "hard": "uninformative hard",
    }
    assert err.splitlines() == [
        "note: ideal: 1 (the runs are furthest ahead of a random ranking)",
        "note: uninformative hard: 1 (least ahead of a random ranking, with low scores)",
        "note: uninformative easy: 1 (least ahead of a random ranking, with high scores)",
        "note: other: 0",
        "note: excluded: 1 with nothing relevant",
    ]


def test_several_measures_and_runs_are_averaged(queries: Call, files: Files) -> None:
    other = files.folder / "other.run"
    other.write_text("good Q0 b 1 2 t\ngood Q0 a 2 1 t\n")
    options = ("-m", "P@1", "-m", "P@2")
    found = rows(queries(*options, inputs=(files.qrels, files.run, other)).out)
    # P@1 is 1 and 0, P@2 is 0.5 and 0.5; a query that a run lacks scores 0.
    assert float(found["good"]["score"]) == 0.5
    assert float(found["good"]["expected"]) == 0.5
    assert float(found["easy"]["score"]) == 0.5
    answered = queries(*options, "--missing", "skip", inputs=(files.qrels, files.run, other)).out
    assert float(rows(answered)["easy"]["score"]) == 1.0


def test_the_default_is_a_quarter_by_ndcg_at_10(queries: Call, files: Files) -> None:
    explicit = queries("-m", "nDCG@10", "--share", 0.25)
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", "queries", files.qrels, files.run],
        capture_output=True,
        check=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (explicit.out, explicit.err)


@pytest.mark.parametrize(
    ("options", "ideal", "uninformative"),
    [
        (["--share", 0.3], {"good"}, {"hard"}),
        (["--share", 0.3, "--by", "absolute"], {"good"}, {"easy"}),
        (["--share", 0], set(), set()),
        (["--number", 1], {"good"}, {"hard"}),
        (["--number", 2], {"good"}, {"easy", "hard"}),
        (["--number", 3], set(), {"easy", "good", "hard"}),
        (["--threshold", -0.5, 0], {"easy", "good"}, {"hard"}),
        (["--threshold", "-1e0", 0.6], set(), set()),
    ],
)
def test_how_many_are_ideal_or_uninformative_is_an_option(
    options: list[object],
    ideal: set[str],
    uninformative: set[str],
    queries: Call,
) -> None:
    code, out, _ = queries(*options)
    assert code == 0
    types = types_in(out)
    assert {topic for topic, name in types.items() if name == "ideal"} == ideal
    assert {topic for topic, name in types.items() if "uninf" in name} == uninformative


def test_a_real_collection_has_the_types_that_the_library_says(
    any_data: Callable[[str], Path], queries: Call, files: Files
) -> None:
    pytest.importorskip("matplotlib")
    qrels = any_data("qrels/qrels.dl21-passage.txt.gz")
    runs = sorted(any_data("trec-dl21/runs").iterdir())[:5]
    measures = ["nDCG@5", "nDCG@10"]
    figures = [files.folder / "map.svg", files.folder / "histogram.svg"]
    code, out, err = queries(
        *("-m", "nDCG@5", "-m", "nDCG@10", "--number", 10, "--by", "absolute"),
        *("--map", figures[0], "--histogram", figures[1]),
        inputs=(qrels, *runs),
    )
    assert code == 0
    judgments = read_qrels(qrels)
    scores = evaluate(judgments, runs, measures)
    expected = query_types(scores, judgments, number=10, by="absolute")
    assert types_in(out) == dict(zip(expected.queries, expected.types, strict=True))
    assert len(expected.queries) == 53
    for note in expected.table().notes:
        assert f"note: {note}\n" in err
    for figure in figures:
        ElementTree.parse(figure)


# Figures


def test_the_figures_are_of_these_measures_and_all_judged_queries(
    queries: Call, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from rankgauge.cli import queries as module

    drawn = {}
    monkeypatch.setattr(module, "save_figure", lambda figure, path: drawn.update({path: figure}))
    # No run has the query good: it is in the histogram all the same.
    files.run.write_text("".join(line for line in RUN.splitlines(True) if "good" not in line))
    options = ("-m", "P@1", "-m", "gm(P@2)", "--missing", "skip")
    _, out, err = queries(*options, "--map", "map.svg", "--histogram", "h.png")
    assert "note: excluded: 1 with no run\n" in err
    titles = [axes.get_title().split("\n")[0] for axes in drawn["h.png"].axes]
    assert titles == ["P@1", "gm(P@2)"]
    assert drawn["h.png"].get_suptitle() == "3 queries; left out: 1 with nothing relevant"
    for axes in drawn["h.png"].axes:
        bars = {round(bar.get_x(), 9): bar.get_height() for bar in axes.patches}
        assert {start: count for start, count in bars.items() if count} == {0.5: 2, 0.95: 1}
    legend = drawn["map.svg"].legends[0]
    assert legend.get_title().get_text().split("\n")[0] == "mean of P@1, gm(P@2)"
    types = list(types_in(out).values())
    counts = [f"{name} ({types.count(name)})" for name in TYPES]
    assert [text.get_text() for text in legend.get_texts()] == counts


def test_a_hostile_query_id_is_harmless(queries: Call, files: Files) -> None:
    pytest.importorskip("matplotlib")
    hostile = "<script>$\\frac{$\x1b[31m"
    for path in (files.qrels, files.run):
        path.write_text(path.read_text().replace("good", hostile))
    svg = files.folder / "map.svg"
    code, out, _ = queries("--map", svg, "--format", "table")
    assert code == 0
    assert "\x1b" not in out
    assert b"script" not in svg.read_bytes()
    ElementTree.parse(svg)


def test_without_figures_matplotlib_is_not_needed(
    queries: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert queries().code == 0


# What is refused


@pytest.mark.parametrize(
    "options",
    [
        ["--share", 0.2, "--number", 1],
        ["--share", 0, "--threshold", 0, 1],
        ["--number", 0, "--threshold", 0, 1],
        ["--share", 0.2, "--number", 1, "--threshold", 0, 1],
    ],
)
def test_the_three_ways_to_say_how_many_exclude_each_other(
    options: list[object], queries: Call
) -> None:
    code, out, err = queries(*options)
    assert (code, out) == (2, "")
    given = [str(option) for option in options if str(option).startswith("--")]
    assert f"{' and '.join(given)} cannot be used together; choose one" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--share", 1.5], "1.5 is not in the range 0<=x<=1"),
        (["--share", "nan"], "share=nan, expected a number from 0 to 1"),
        (["--number", -1], "-1 is not in the range x>=0"),
        (["--number", 4], "number=4, but only 3 queries can be chosen"),
        (["--threshold", 0.5, 0], "expected two numbers, the lower one first"),
        (["--threshold", "nan", 0], "expected a number"),
        (["--by", "size"], "'size' is not one of 'signed', 'absolute'"),
        (["-m", "P@1", "-m", "SearchLength"], "P@1 (higher), SearchLength (lower)"),
    ],
)
def test_what_makes_no_sense_is_refused(options: list[object], message: str, queries: Call) -> None:
    assert_refused(queries(*options), message)


def test_where_every_query_is_left_out_the_table_is_empty_and_says_why(
    queries: Call, files: Files
) -> None:
    files.qrels.write_text("none 0 a 0\n")
    code, out, err = queries()
    assert code == 0
    assert out == "topic\tscore\texpected\tdifference\ttype\n"
    assert "note: excluded: 1 with nothing relevant\n" in err
    pytest.importorskip("matplotlib")
    figures = files.folder / "map.png", files.folder / "histogram.png"
    assert queries("--map", figures[0], "--histogram", figures[1]) == (code, out, err)
    assert all(figure.stat().st_size for figure in figures)


def test_the_command_prints_p_for_each_query_and_run(tmp_path: Path, rankgauge: Call) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("".join(f"q 0 d{i} {int(i < 3)}\n" for i in range(30)))
    run.write_text("q Q0 d0 1 3 t\nq Q0 d1 2 2 t\nq Q0 d2 3 1 t\n")
    code, out, err = rankgauge("queries", qrels, run, "-m", "P@3", "--significance")
    assert code == 0
    header, row = (line.split("\t") for line in out.splitlines())
    assert header == ["topic", "run", "score", "expected", "p"]
    assert row[:2] == ["q", "a"]
    assert float(row[4]) == pytest.approx(1 / math.comb(30, 3))
    assert "1 of 1 query is informative" in err
    assert_refused(
        rankgauge("queries", qrels, run, "--significance", "--share", 0.5),
        "--significance and --share cannot be used together; choose one",
    )

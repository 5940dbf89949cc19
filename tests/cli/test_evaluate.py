"""The command `rankgauge evaluate`, as a user of a shell meets it."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars
import pytest

from command_line import Call, Outcome, assert_refused, on_a_terminal, records
from rankgauge import Scores, __version__, evaluate, read_qrels, read_run

COMMAND = [sys.executable, "-m", "rankgauge"]

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = b"q1 Q0 b 1 9 t\nq1 Q0 a 2 8 t\n"
COMPLETE_RUN = RUN + b"q2 Q0 c 1 1 t\n"


def in_a_shell(*arguments: object, **options: object) -> Outcome:
    """What the command does in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        check=False,
        timeout=60,
        **options,  # type: ignore[call-overload]
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


class Files(NamedTuple):
    folder: Path
    qrels: Path
    run: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgments of two queries, and a run that lacks the second."""
    made = Files(tmp_path, tmp_path / "qrels.txt", tmp_path / "bm25.run")
    made.qrels.write_bytes(QRELS)
    made.run.write_bytes(RUN)
    return made


# The numbers


@pytest.mark.parametrize(
    ("name", "precision", "score", "signed"),
    [
        ("a.run", None, 1.0, "double"),
        ("a.jsonl", None, 1.0, "double"),
        ("a.parquet", None, 1.0, "double"),
        ("a.run", "single", 0.5, "single"),
        ("a.jsonl", "single", 0.5, "single"),
        ("a.parquet", "single", 0.5, "single"),
    ],
)
def test_scores_of_every_kind_of_file_are_compared_in_double_precision_unless_told(
    files: Files,
    rankgauge: Call,
    name: str,
    precision: str | None,
    score: float,
    signed: str,
) -> None:
    path = files.folder / name
    rows = {"query": ["q1", "q1"], "document": ["a", "b"], "score": [1 + 1e-9, 1.0]}
    if name.endswith(".run"):
        path.write_text(f"q1 Q0 a 1 {1 + 1e-9!r} t\nq1 Q0 b 2 1.0 t\n")
    elif name.endswith(".jsonl"):
        polars.DataFrame(rows).write_ndjson(path)
    else:
        polars.DataFrame(rows).write_parquet(path)
    asked = ("evaluate", files.qrels, path, "-m", "RR", "--missing", "skip", "--signature")
    chosen = () if precision is None else ("--precision", precision)
    code, out, err = rankgauge(*asked, *chosen, "--format", "tsv")
    assert code == 0, err
    row = records(out)[0]
    assert float(row["RR"]) == score
    assert f"|precision={signed}|" in out
    policies: dict[str, Any] = {} if precision is None else {"precision": precision}
    scores = evaluate(files.qrels, path, "RR", missing="skip", **policies)
    assert list(scores.mean().values()) == [{"RR": score}]


def test_a_run_is_scored_with_what_its_means_rest_on(rankgauge: Call, files: Files) -> None:
    files.run.write_bytes(COMPLETE_RUN)
    code, out, err = rankgauge("evaluate", files.qrels, files.run)
    assert (code, err) == (0, "")
    assert records(out) == [
        {
            "run": "bm25",
            "over": "all",
            "topics": "2",
            "missing": "0",
            "no relevant": "0",
            "judged@10": "1.0",
            "nDCG@10": "0.8154648767857288",
            "AP": "0.75",
            "RR": "0.75",
            "P@10": "0.1",
        }
    ]


def test_a_run_that_lacks_topics_has_both_means(rankgauge: Call, files: Files) -> None:
    over_all, answered = records(rankgauge("evaluate", files.qrels, files.run, "-m", "RR").out)
    assert over_all == {
        "run": "bm25",
        "over": "all",
        "topics": "2",
        "missing": "1",
        "no relevant": "0",
        "judged@10": "1.0",
        "RR": "0.25",
    }
    assert answered == {**over_all, "over": "answered", "topics": "1", "RR": "0.5"}


def test_missing_skip_exchanges_the_two_means(rankgauge: Call, files: Files) -> None:
    out = rankgauge("evaluate", files.qrels, files.run, "-m", "RR", "--missing", "skip").out
    means = [(row["over"], row["topics"], row["RR"]) for row in records(out)]
    assert means == [("answered", "1", "0.5"), ("all", "2", "0.25")]


@pytest.mark.parametrize(
    ("options", "topics"),
    [
        ([], ["q1", "q2", "all", "answered"]),
        (["--missing", "skip"], ["q1", "answered", "all"]),
    ],
)
def test_per_topic_gives_a_row_a_topic_and_then_the_mean(
    options: list[str], topics: list[str], rankgauge: Call, files: Files
) -> None:
    other = files.folder / "other.run"
    other.write_bytes(COMPLETE_RUN)
    arguments = ("evaluate", files.qrels, files.run, other, "-q", "-m", "RR", *options)
    rows = records(rankgauge(*arguments).out)
    values = {"q1": 0.5, "q2": 0.0, "all": 0.25, "answered": 0.5}
    assert [(row["run"], row["topic"], float(row["RR"])) for row in rows] == [
        *(("bm25", topic, values[topic]) for topic in topics),
        ("other", "q1", 0.5),
        ("other", "q2", 1.0),
        ("other", "answered" if options else "all", 0.75),
    ]


def test_runs_of_one_name_in_two_folders_are_called_by_their_paths(
    rankgauge: Call, files: Files
) -> None:
    other = files.folder / "other" / "bm25.run"
    other.parent.mkdir()
    other.write_bytes(COMPLETE_RUN)
    rows = records(rankgauge("evaluate", files.qrels, files.run, other, "-m", "RR").out)
    assert [row["run"] for row in rows] == [
        str(files.run),
        str(files.run),
        str(other),
    ]


@pytest.mark.parametrize(
    ("options", "score"),
    [
        ([], 1.0),
        (["--precision", "single"], 0.5),
        (["--precision", "single", "--ties", "docno"], 0.5),
        (["--precision", "single", "--ties", "docno-ascending"], 1.0),
        (["--precision", "single", "--ties", "input"], 0.5),
        (["--precision", "single", "--unjudged", "condensed"], 1.0),
    ],
)
def test_options_change_how_a_run_is_scored(
    options: list[str], score: float, rankgauge: Call, files: Files
) -> None:
    # Two scores that are one number in single precision; x is not judged, a is relevant.
    files.qrels.write_bytes(b"q 0 a 1\n")
    files.run.write_bytes(b"q Q0 x 1 1.00000000001 t\nq Q0 a 2 1.00000000002 t\n")
    outcome = rankgauge("evaluate", files.qrels, files.run, "-m", "RR", *options)
    assert outcome.code == 0
    assert float(records(outcome.out)[0]["RR"]) == score
    told = "1 pair of adjacent documents with equal scores in single precision" in outcome.err
    assert told == ("single" in options)


def test_max_grade_is_the_highest_grade_of_the_collection(rankgauge: Call, files: Files) -> None:
    files.run.write_bytes(COMPLETE_RUN)
    arguments = ("evaluate", files.qrels, files.run, "-q", "-m", "ERR")
    assert float(records(rankgauge(*arguments).out)[1]["ERR"]) == 3 / 4
    assert float(records(rankgauge(*arguments, "--max-grade", "3").out)[1]["ERR"]) == 3 / 8


def test_topics_without_judgments_are_noted(rankgauge: Call, files: Files) -> None:
    files.run.write_bytes(COMPLETE_RUN + b"q9 Q0 a 1 1 t\n")
    code, out, err = rankgauge("evaluate", files.qrels, files.run, "-m", "RR")
    assert (code, err) == (0, "note: bm25: queries without judgments, not scored: 1\n")
    assert records(out)[0]["RR"] == "0.75"


# Input


@pytest.mark.parametrize("which", ["qrels", "run"])
def test_a_dash_is_standard_input(which: str, files: Files) -> None:
    places = {"qrels": files.qrels, "run": files.run}
    content = gzip.compress(places[which].read_bytes())
    arguments = {**places, which: "-"}
    code, out, err = in_a_shell("evaluate", *arguments.values(), "-m", "RR", input=content)
    assert (code, err) == (0, "")
    name = "stdin" if which == "run" else "bm25"
    assert [(row["run"], row["RR"]) for row in records(out)] == [
        (name, "0.25"),
        (name, "0.5"),
    ]


TRUNCATED = gzip.compress(RUN * 10, mtime=0)[:-9]
BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "short line": ("run", RUN + b"q2 Q0 c\n", ":3: 3 columns, expected 6"),
    "qrels as run": ("run", QRELS, ":1: 4 columns, expected 6"),
    "run as qrels": (
        "qrels",
        RUN,
        ":1: 6 columns, expected 4: `topic iteration document grade` (this looks like a run file)",
    ),
    "too many columns": ("run", RUN + b"q2 Q0 a b 1 1 t\n", ":3: 7 columns, expected 6"),
    "score": ("run", b"\n" + RUN + b"q2 Q0 c 1 high t", ":4: 'high' is not a number, expected "),
    "NaN": ("run", b"q2 Q0 c 1 nan t\n" + RUN, ":1: the score is NaN, expected a number"),
    "document twice": (
        "run",
        RUN + RUN,
        ":3: document 'b' repeated for query 'q1' (first at line 1)",
    ),
    "judged twice": ("qrels", QRELS + b"q1 0 a 0\n", ":4: document 'a' repeated for query 'q1'"),
    "fraction": ("qrels", QRELS + b"q2 0 d 1.7\n", ":4: grade '1.7', expected a whole number"),
    "huge grade": ("qrels", b"q 0 d 4294967296\n", ":1: grade '4294967296', expected "),
    "empty run": ("run", b"", ": no lines, expected "),
    "blank qrels": ("qrels", b"\n \r\n", ": no lines, expected "),
    "binary": ("run", RUN + bytes(range(256)), ":3: binary data, expected text"),
    "UTF-16": ("qrels", QRELS.decode().encode("utf-16"), ":1: UTF-16 text, expected UTF-8"),
    "truncated": ("run", TRUNCATED, ": damaged or truncated gzip data"),
}


@pytest.mark.parametrize(("which", "content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_one_line_that_starts_with_its_place(
    which: str,
    content: bytes,
    message: str,
    rankgauge: Call,
    files: Files,
) -> None:
    bad = files.qrels if which == "qrels" else files.run
    bad.write_bytes(content)
    code, out, err = rankgauge("evaluate", files.qrels, files.run)
    assert (code, out) == (2, "")
    assert err.startswith(f"{bad}{message}")
    assert err.count("\n") == 1


def test_a_shell_gets_the_same_line(rankgauge: Call, files: Files) -> None:
    files.run.write_bytes(RUN + b"q2 Q0 c\n")
    asked = ("evaluate", files.qrels, files.run)
    told = f"{files.run}:3: 3 columns, expected 6: `topic Q0 document rank score tag`\n"
    assert in_a_shell(*asked) == rankgauge(*asked) == (2, "", told)


def evaluated(out: str) -> list[str]:
    """The runs in JSON Lines, each once."""
    return list(dict.fromkeys(json.loads(line)["run"] for line in out.splitlines()))


def test_a_folder_stands_for_its_files_without_the_judgments(rankgauge: Call, files: Files) -> None:
    (files.folder / ".hidden").write_bytes(b"bad\n")
    (files.folder / "inner").mkdir()
    (files.folder / "a.run").write_bytes(RUN)
    code, out, _ = rankgauge("evaluate", files.qrels, files.folder, "--format", "jsonl")
    assert (code, evaluated(out)) == (0, ["a", "bm25"])


def test_a_pattern_stands_for_the_files_that_match(rankgauge: Call, files: Files) -> None:
    for name in ("b.run", "a.run", "c.other"):
        (files.folder / name).write_bytes(RUN)
    code, out, _ = rankgauge(
        "evaluate", files.qrels, files.folder / "[ab].run", "--format", "jsonl"
    )
    assert (code, evaluated(out)) == (0, ["a", "b"])
    code, out, err = rankgauge("evaluate", files.qrels, files.folder / "*.none")
    assert (code, out) == (2, "")
    assert err.endswith("*.none: no such files, expected a pattern that matches at least one\n")


def test_an_empty_folder_is_refused(rankgauge: Call, files: Files) -> None:
    (files.folder / "inner").mkdir()
    code, out, err = rankgauge("evaluate", files.qrels, files.folder / "inner")
    assert (code, out) == (2, "")
    assert err.endswith("inner: an empty folder, expected one that contains runs\n")


def test_lenient_drops_faulty_lines_and_notes_how_many(rankgauge: Call, files: Files) -> None:
    files.qrels.write_bytes(QRELS + b"q2 0 d 1.7\n")
    files.run.write_bytes(b"bad\n" + RUN + RUN)
    code, out, err = rankgauge("evaluate", files.qrels, files.run, "--lenient", "-m", "RR")
    assert code == 0
    assert records(out)[0]["RR"] == "0.25"
    assert err.splitlines() == [
        f"note: {files.qrels}: 1 line dropped: a grade that is not a whole number "
        "(first at line 4)",
        "note: bm25: 1 line dropped: too few columns (first at line 1)",
        "note: bm25: 2 lines dropped: a document repeated for the same query (first at line 4)",
    ]


def test_lenient_with_nothing_left_is_nothing_to_evaluate(rankgauge: Call, files: Files) -> None:
    files.qrels.write_bytes(b"bad\n")
    files.run.write_bytes(b"bad\n")
    assert_refused(
        rankgauge("evaluate", files.qrels, files.run, "--lenient", "-m", "RR"),
        "the judgments have no queries",
    )


# Forms of output


def from_table(out: str) -> list[list[str]]:
    header, rule, *rows = out.splitlines()
    assert set(rule) == {"─"}
    return [re.split(" {2,}", line.strip()) for line in (header, *rows)]


def from_jsonl(out: str) -> list[list[str]]:
    rows = [json.loads(line) for line in out.splitlines()]
    cells = [[f"{v:.4f}" if isinstance(v, float) else str(v) for v in r.values()] for r in rows]
    return [list(rows[0]), *cells]


def from_markdown(out: str) -> list[list[str]]:
    header, rule, *rows = ([c.strip() for c in line.split("|")[1:-1]] for line in out.splitlines())
    assert all(re.fullmatch(":?-+:?", cell) for cell in rule)
    return [header, *rows]


def from_latex(out: str) -> list[list[str]]:
    lines = out.splitlines()
    assert re.fullmatch(r"\\begin\{tabular\}\{ll?r+\}", lines[0])
    assert [lines[n] for n in (1, 3, -2, -1)] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    rows = [lines[2], *lines[4:-2]]
    assert all(row.endswith(r" \\") for row in rows)
    return [row.removesuffix(r" \\").split(" & ") for row in rows]


PARSERS: dict[str, Callable[[str], list[list[str]]]] = {
    "table": from_table,
    "tsv": lambda out: [line.split("\t") for line in out.splitlines()],
    "csv": lambda out: list(csv.reader(out.splitlines())),
    "jsonl": from_jsonl,
    "md": from_markdown,
    "latex": from_latex,
}
MACHINE_FORMATS = ("tsv", "csv", "jsonl")
each_format = pytest.mark.parametrize("form", PARSERS)


@each_format
def test_every_format_shows_the_same_numbers(form: str, rankgauge: Call, files: Files) -> None:
    arguments = ("evaluate", files.qrels, files.run, "-m", "nDCG@10", "-m", "RR")
    code, out, err = rankgauge(*arguments, "--format", form, "--digits", 4)
    assert (code, err) == (0, "")
    header, *rows = PARSERS[form](out)
    (all_queries, answered) = (dict(zip(header, row, strict=True)) for row in rows)
    topics = "topics" if form in MACHINE_FORMATS else "queries"
    assert all_queries == {
        "run": "bm25", "over": "all", topics: "2", "missing": "1", "judged@10": "1.0000",
        "nDCG@10": "0.3155", "RR": "0.2500",
        **({"no relevant": "0"} if form in MACHINE_FORMATS else {}),
    }  # fmt: skip
    assert (answered["over"], answered["RR"]) == ("answered", "0.5000")


@pytest.mark.parametrize("form", MACHINE_FORMATS)
def test_programs_get_every_column_in_one_order(form: str, rankgauge: Call, files: Files) -> None:
    complete = files.folder / "complete.run"
    complete.write_bytes(COMPLETE_RUN)
    header = ["run", "over", "topics", "missing", "no relevant", "judged@10", "RR", "AP"]
    for run in (files.run, complete):
        out = rankgauge("evaluate", files.qrels, run, "-m", "RR", "-m", "AP", "--format", form).out
        assert PARSERS[form](out)[0] == header


# Tables for people


def headings(out: str) -> list[str]:
    return re.split("  +", out.splitlines()[0])


@pytest.fixture
def two_runs(files: Files) -> tuple[Path, Path]:
    """A run with reciprocal ranks of 0.5 and 1, and one with a rank of 1 on both queries."""
    made = files.folder / "b.run", files.folder / "c.run"
    made[0].write_bytes(COMPLETE_RUN)
    made[1].write_bytes(b"q1 Q0 a 1 9 t\nq2 Q0 c 1 1 t\n")
    return made


def test_people_get_the_measures_first_and_no_column_that_says_nothing(
    rankgauge: Call, files: Files, two_runs: tuple[Path, Path]
) -> None:
    command = ("evaluate", files.qrels, *two_runs, "-m", "RR", "-m", "AP", "--format", "table")
    assert headings(rankgauge(*command).out) == ["run", "RR", "AP", "queries", "judged@10"]
    with_over = headings(rankgauge(*command, files.run).out)
    assert with_over == ["run", "over", "RR", "AP", "queries", "missing", "judged@10"]
    files.qrels.write_bytes(QRELS + b"q3 0 d 0\n")
    rows = headings(rankgauge(*command).out)
    assert rows == ["run", "over", "RR", "AP", "queries", "missing", "no relevant", "judged@10"]
    files.qrels.write_bytes(b"q1 0 a 1\nq2 0 c 2\n")
    assert headings(rankgauge(*command).out) == ["run", "RR", "AP", "queries"]


def test_people_get_queries_by_that_name_and_what_is_missing_only_if_something_is(
    rankgauge: Call, files: Files, two_runs: tuple[Path, Path]
) -> None:
    command = ("evaluate", files.qrels, two_runs[0], "-q", "-m", "RR", "--format", "md")
    assert from_markdown(rankgauge(*command).out)[:2] == [
        ["run", "query", "RR"],
        ["b", "q1", "0.5000"],
    ]
    assert from_markdown(rankgauge(*command, files.run).out)[0][-1] == "missing"


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (["--format", "table"], "c"),
        (["--format", "table", "--sort", "none"], "b"),
        (["--format", "table", "-q"], "c"),
        (["--format", "table", "-m", "SearchLength"], "c"),
        *((["--format", form], "b") for form in PARSERS if form != "table"),
        *((["--format", form, "--sort", "measure"], "c") for form in PARSERS),
    ],
)
def test_the_best_run_is_first_in_a_table_and_elsewhere_the_first_file(
    options: list[str], first: str, rankgauge: Call, files: Files, two_runs: tuple[Path, Path]
) -> None:
    form = options[1]
    measures = [] if "-m" in options else ["-m", "RR"]
    out = rankgauge("evaluate", files.qrels, *two_runs, *measures, *options).out
    assert PARSERS[form](out)[1][0] == first


def test_saved_scores_are_in_the_order_of_the_files(
    rankgauge: Call, files: Files, two_runs: tuple[Path, Path]
) -> None:
    saved = files.folder / "scores"
    rankgauge("evaluate", files.qrels, *two_runs, "--save", saved, "--format", "table", "-m", "RR")
    assert Scores.load(saved).runs == ("b", "c")


@pytest.mark.parametrize(
    ("options", "drawn", "legend"),
    [
        ([], "━━━━━━━━━━━━━━━━━━━━━━", ""),
        (["--interval"], "●──", "● RR, ─ from RR low to RR high"),
        (
            ["-m", "lower(RR)", "-m", "upper(RR)", "-m", "expected(RR)"],
            "┊",
            "● RR, ─ from lower(RR) to upper(RR), ┊ expected(RR)",
        ),
    ],
)
def test_a_terminal_with_room_gets_a_drawing(
    options: list[str], drawn: str, legend: str, files: Files, two_runs: tuple[Path, Path]
) -> None:
    command = ("evaluate", files.qrels, two_runs[0], "-m", "RR", *options)
    code, wide = on_a_terminal(*command, COLUMNS="120")
    assert code == 0
    assert drawn in wide
    assert legend in wide
    assert max(map(len, wide.splitlines())) <= 120
    narrow = on_a_terminal(*command, COLUMNS="40")[1]
    assert not set("━●┊") & set(narrow)


def test_a_terminal_without_unicode_gets_ascii(files: Files, two_runs: tuple[Path, Path]) -> None:
    command = ("evaluate", files.qrels, two_runs[0], "-m", "RR", "--interval")
    text = on_a_terminal(*command, COLUMNS="120", PYTHONIOENCODING="ascii", PYTHONUTF8="0")[1]
    assert text.isascii()
    assert "\\" not in text
    assert "-o-" in text


@pytest.mark.parametrize(
    ("options", "kind", "note"),
    [
        (["--interval"], "t", "Student's t"),
        (["--interval", "t"], "t", "Student's t"),
        (
            ["--interval", "bootstrap", "--samples", "500", "--seed", "3"],
            "bootstrap",
            "bootstrap (BCa), 500 samples, seed 3",
        ),
    ],
)
def test_each_mean_has_an_interval_on_request(
    options: list[str], kind: str, note: str, rankgauge: Call, files: Files
) -> None:
    files.run.write_bytes(COMPLETE_RUN)
    measures = ("-m", "RR", "-m", "gm(RR)")
    _, out, err = rankgauge(
        "evaluate", files.qrels, files.run, *measures, "--level", "0.9", *options
    )
    (row,) = records(out)
    assert list(row)[-6:] == ["RR", "RR low", "RR high", "gm(RR)", "gm(RR) low", "gm(RR) high"]
    scores = evaluate(files.qrels, files.run, ["RR", "gm(RR)"])
    found = scores.interval(kind, level=0.9, samples=500, seed=3)["bm25"]
    for measure in ("RR", "gm(RR)"):
        assert (float(row[f"{measure} low"]), float(row[f"{measure} high"])) == found[measure]
    assert err == f"note: low, high: 90% interval of the mean over queries, {note}\n"


def test_the_interval_is_over_the_topics_that_the_mean_is_over(
    rankgauge: Call, files: Files
) -> None:
    _, out, err = rankgauge("evaluate", files.qrels, files.run, "-m", "RR", "--interval")
    over_all, answered = records(out)
    assert float(over_all["RR low"]) < 0.25 < float(over_all["RR high"])
    assert (answered["RR"], answered["RR low"], answered["RR high"]) == ("0.5", "", "")
    assert "note: RR: no interval for a mean over a single query" in err.splitlines()


def test_topics_have_no_intervals(rankgauge: Call, files: Files) -> None:
    code, out, err = rankgauge("evaluate", files.qrels, files.run, "-q", "--interval")
    assert (code, out) == (2, "")
    assert "--interval applies to the means; omit -q" in err


@each_format
def test_signature_says_how_each_number_was_computed(
    form: str, rankgauge: Call, files: Files
) -> None:
    measures = ("-m", "P@10", "-m", "AP(rel=2)")
    out = rankgauge("evaluate", files.qrels, files.run, "--signature", "--format", form, *measures)
    text = out.out.replace("\\|", "|")
    rest = "|ties=docno|precision=double|unjudged=nonrelevant|missing=zero|max_grade=2|"
    for measure in ("P(rel=1)@10", "AP(rel=2,norm=R)"):
        assert f"{measure}{rest}rankgauge={__version__}" in text


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--ties", "docno-ascending"], "|ties=docno-ascending|"),
        (["--ties", "input"], "|ties=input|"),
        (["--precision", "single"], "|precision=single|"),
        (["--unjudged", "condensed"], "|unjudged=condensed|"),
        (["--missing", "skip"], "|missing=skip|"),
        (["--max-grade", "7"], "|max_grade=7|"),
    ],
)
def test_every_option_that_matters_is_in_the_signature(
    options: list[str], part: str, rankgauge: Call, files: Files
) -> None:
    arguments = ("evaluate", files.qrels, files.run, "--signature", "-m", "RR")
    assert part in rankgauge(*arguments, *options).out
    assert part not in rankgauge(*arguments).out


# Files of output


def test_saved_scores_load_as_they_were_computed(rankgauge: Call, files: Files) -> None:
    # The run's query and documents hold bytes that are no text, and an undefined score is NaN.
    files.qrels.write_bytes(QRELS + b"q\xff 0 d\xe9 0\n")
    saved = files.folder / "scores.json"
    measures = ["nDCG@10", "gm(AP)", "SearchLength"]
    options = [text for measure in measures for text in ("-m", measure)]
    printed = rankgauge("evaluate", files.qrels, files.run, *options)
    also = rankgauge("evaluate", files.qrels, files.run, *options, "--save", saved)
    assert printed == also
    assert printed.code == 0
    scores = Scores.load(saved)
    computed = evaluate(read_qrels(files.qrels), read_run(files.run), measures)
    assert scores.table() == computed.table()
    assert repr(scores.per_query()) == repr(computed.per_query())
    assert scores.signatures() == computed.signatures()
    assert scores.queries[-1] == "q\udcff"


# Wrong commands

WRONG: dict[str, tuple[list[str], str]] = {
    "unknown measure": (["-m", "nDGC@10"], "there is no measure 'nDGC@10'; did you mean nDCG@10?"),
    "no measure": (["-m", ""], "write, for example, nDCG@10"),
    "unclosed": (["-m", "AP("], "AP("),
    "no cut-off": (["-m", "P"], "P needs a cutoff; write, for example, P@10"),
    "cut-off of zero": (["-m", "P@0"], "expected a whole number from 1"),
    "unknown parameter": (["-m", "AP(depth=3)"], "AP has no parameter 'depth'; it takes "),
    "bad parameter": (["-m", "AP(rel=x)"], "AP: rel: "),
    "escape sequence": (["-m", "\x1b[31m"], r"'\x1b' is not understood here"),
    "digits": (["--digits", "few"], "'--digits': 'few' is not a valid integer"),
    "unknown option": (["--fast"], "No such option"),
    "option without value": (["-m"], "requires an argument"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_explained(
    options: list[str], message: str, rankgauge: Call, files: Files
) -> None:
    code, out, err = rankgauge("evaluate", files.qrels, files.run, *options)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert "\x1b" not in err


def test_a_run_is_needed(rankgauge: Call, files: Files) -> None:
    assert_refused(
        rankgauge("evaluate", files.qrels),
        "judgments without a run; a single file must have both the",
    )


# Measures of one's own

TEN_LINES = """\
from rankgauge import Measure
from rankgauge.measures import register


class First(Measure):
    name = "First"
    summary = "Whether the first document is relevant."

    def _score(self, lists):
        first = (lists.ranks == 1) & lists.relevant(1)
        return lists.count(first).astype(float)


register(First())
"""


def test_a_measure_of_ten_lines_is_scored_like_any_other(files: Files) -> None:
    plugin = files.folder / "first.py"
    plugin.write_text(TEN_LINES)
    files.run.write_bytes(COMPLETE_RUN)
    code, out, err = in_a_shell(
        "evaluate", "-m", "First", files.qrels, files.run, "-q", "--plugin", plugin, "--signature"
    )
    assert (code, err) == (0, "")
    *rows, signature = out.splitlines()
    assert [(row["topic"], float(row["First"])) for row in records("\n".join(rows))] == [
        ("q1", 0.0),
        ("q2", 1.0),
        ("all", 0.5),
    ]
    assert signature.startswith("# First|ties=docno|")


BROKEN = {
    "syntax": ("x = (\n", "the plug-in fails: SyntaxError: "),
    "exception": ("raise ValueError('no')\n", "the plug-in fails: ValueError: no"),
    "import": ("import rankgauge.nothing\n", "the plug-in fails: ModuleNotFoundError: "),
    "name taken": (
        TEN_LINES.replace('"First"', '"AP"'),
        "the plug-in fails: MeasureError: the name AP is taken by ",
    ),
    "absent": (None, "no such plug-in, expected a Python file"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_one_line_that_names_it(
    text: str | None, message: str, rankgauge: Call, files: Files
) -> None:
    plugin = files.folder / "broken.py"
    if text is not None:
        plugin.write_text(text)
    code, out, err = rankgauge("evaluate", files.qrels, files.run, "--plugin", plugin)
    assert (code, out) == (2, "")
    assert err.startswith(f"{plugin}: {message}")
    assert err.count("\n") == 1


# Terminals and pipes

EVIL = "\x1b[31m\x1b]0;title\x07\x9b31m\x08".encode() + b"\xff"


def assert_harmless(seen: str) -> None:
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", seen) is None


def test_a_terminal_gets_a_table_without_raw_escape_sequences(files: Files) -> None:
    files.qrels.write_bytes(b"q%b 0 a 1\nbad\n" % EVIL)
    run = files.folder / "r\x1b[31m\x9b32m.run"
    run.write_bytes(b"q%b Q0 a 1 1 t%b\nbad%b\n" % (EVIL, EVIL, EVIL))
    code, text = on_a_terminal("evaluate", files.qrels, run, "-q", "--lenient", "-m", "RR")
    assert code == 0
    assert_harmless(text)
    assert "─" in text
    row = next(line for line in text.splitlines() if "\\x1b]0;title" in line)
    assert row.startswith(r"r\x1b[31m\x9b32m  q\x1b[31m\x1b]0;title\x07\x9b31m\x08\xff")
    assert row.endswith("  1.0000")
    assert " ".join(text.split()).count("1 line dropped") == 2


def test_table_in_a_pipe_has_no_raw_escape_sequences_either(rankgauge: Call, files: Files) -> None:
    files.qrels.write_bytes(b"q\x1b[31m 0 a 1\nq1 0 a 1\n")
    out = rankgauge("evaluate", files.qrels, files.run, "-q", "--format", "table").out
    assert "\x1b" not in out
    assert r"q\x1b[31m" in out


def test_a_message_on_a_terminal_has_no_raw_escape_sequences(files: Files) -> None:
    run = files.folder / "r\x1b[31m\x9b32m.run"
    run.write_bytes(b"q\x1b[31m Q0 d\x1b]0;x\x07\xff 1 1 t\n" * 2)
    code, seen = on_a_terminal("evaluate", files.qrels, run)
    assert code == 2
    assert_harmless(seen)
    assert r"r\x1b[31m\x9b32m.run:2: document 'd\x1b]0;x\x07\udcff' repeated" in seen


def test_a_file_made_from_a_terminal_has_no_notes_among_its_rows(files: Files) -> None:
    target = files.folder / "out.tsv"
    arguments = ("evaluate", files.qrels, files.run, "-m", "AP(rel=2)", "--output", target)
    code, seen = on_a_terminal(*arguments)
    assert code == 0
    assert [line.split("\t")[0] for line in target.read_text().splitlines()] == [
        "run",
        "bm25",
        "bm25",
    ]
    assert "AP(rel=2): on 1 query no document has a grade of at least 2" in seen


def test_a_reader_that_goes_away_before_the_first_line_is_no_error_to_tell(files: Files) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [*COMMAND, "evaluate", files.qrels, files.run],
            stdout=theirs,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    finally:
        os.close(theirs)
    assert done.stderr == b""
    assert done.returncode != 2


def test_a_reader_that_goes_away_after_the_first_line_is_no_error_to_tell(files: Files) -> None:
    # More than a pipe holds, so that the writing cannot have ended when the reader goes.
    topics = b"".join(b"query-%d 0 a 1\n" % number for number in range(20_000))
    files.qrels.write_bytes(b"q1 0 a 1\n" + topics)
    command = [*COMMAND, "evaluate", files.qrels, files.run, "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"run\ttopic\tmissing\tnDCG@10\tAP\tRR\tP@10\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) != 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_output_to_a_full_disk_is_one_line_of_error(files: Files) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "evaluate", files.qrels, files.run],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left on device" in done.stderr


def test_without_standard_output_a_file_is_still_written(files: Files) -> None:
    target = files.folder / "out.tsv"
    wrapper = 'exec "$@" >&-'
    command = ["sh", "-c", wrapper, "sh", *COMMAND, "evaluate", files.qrels, files.run]
    done = subprocess.run(
        [*command, "-m", "RR", "--output", target], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert records(target.read_text())[0]["RR"] == "0.25"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_table_is_shown_also_where_the_encoding_lacks_its_characters(
    encoding: str, files: Files
) -> None:
    files.qrels.write_bytes("тема 0 a 1\nq1 0 a 1\n".encode())
    done = subprocess.run(
        [*COMMAND, "evaluate", files.qrels, files.run, "-q", "--format", "table", "-m", "RR"],
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert re.search(rb"^bm25 +all +0\.2500 +1$", done.stdout, re.MULTILINE)


# What is not a run at all


def test_a_folder_with_nothing_but_the_judgments(rankgauge: Call, files: Files) -> None:
    files.run.unlink()
    assert_refused(
        rankgauge("evaluate", files.qrels, files.folder),
        f"{files.folder}: no runs, only the judgments",
    )


def test_closed_standard_input(files: Files) -> None:
    command = [sys.executable, "-m", "rankgauge", "evaluate", str(files.qrels), "-"]
    result = subprocess.run(
        f"{shlex.join(command)} <&-", shell=True, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr == "standard input: is closed, expected a file or a pipe\n"


def test_too_little_memory_for_the_judgments(files: Files) -> None:
    resource = pytest.importorskip("resource")
    with files.qrels.open("ab") as stream:
        stream.truncate(1 << 30)  # a hole, nothing on the disk
    result = subprocess.run(
        [sys.executable, "-m", "rankgauge", "evaluate", str(files.qrels), str(files.run)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # each thread would take memory
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29)),
    )
    assert (result.returncode, result.stderr) == (2, "not enough memory\n")


def test_the_like_of_many_runs_is_said_once(tmp_path, rankgauge):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    for number in range(8):
        lines = "".join(f"1 Q0 x{line} 0 {-line} t\n" for line in range(number + 1))
        (tmp_path / f"run{number}").write_text(f"1 Q0 a 0 1 t\n{lines}")
    runs = [tmp_path / f"run{number}" for number in range(8)]
    found = rankgauge("evaluate", tmp_path / "qrels", *runs, "-m", "v2(P@5)")
    assert found.err.count("unjudged documents among the first ten") == 1
    assert "run0, run1, run2, run3, run4 and 3 more runs: unjudged documents" in found.err
    few = rankgauge("evaluate", tmp_path / "qrels", *runs[:5], "-m", "v2(P@5)")
    assert "run0, run1, run2, run3, run4: unjudged documents among the first ten" in few.err


# Settled neighbors


@pytest.fixture
def leaderboard(tmp_path: Path) -> list[Path]:
    """Judgments and runs: good is above the others by any labels, poor not above new."""
    files = {
        "judged.txt": "q 0 a 1\nq 0 b 1\nq 0 c 0\nq 0 d 0\nr 0 a 1\n",
        "poor.run": "q Q0 c 1 2 t\nq Q0 d 2 1 t\nr Q0 z 1 1 t\n",
        "good.run": "q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 a 1 1 t\n",
        "new.run": "q Q0 c 1 2 t\nq Q0 x 2 1 t\n",
    }
    paths = [tmp_path / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return paths


def test_settled_neighbors_are_a_column(rankgauge: Call, leaderboard: list[Path]) -> None:
    code, out, err = rankgauge("evaluate", *leaderboard, "-m", "P@2", "-m", "AP", "--settled")
    assert code == 0
    assert {(row["run"], row["over"]): row["settled"] for row in records(out)} == {
        ("poor", "all"): "no",
        ("good", "all"): "yes",
        ("new", "all"): "",
        ("new", "answered"): "",
    }
    assert "settled: yes if the run with the next best" in err
    without = rankgauge("evaluate", *leaderboard, "-m", "P@2", "-m", "AP").out
    assert [line.rpartition("\t")[0] for line in out.splitlines()] == without.splitlines()


def test_a_run_that_cannot_be_read_is_no_neighbor(
    rankgauge: Call, leaderboard: list[Path], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("q Q0\n")
    code, out, err = rankgauge("evaluate", *leaderboard, broken, "-m", "P@2", "--settled")
    assert code == 3
    assert [row["settled"] for row in records(out)] == ["no", "yes", "", ""]
    assert "broken.run:1" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-q"], "--settled applies to the means"),
        (["--missing", "skip"], "--settled cannot be used with --missing skip"),
        (["--ties", "expected"], "--settled cannot be used with --ties expected"),
        (["-m", "gm(AP)"], "make AP the first measure, not gm(AP)"),
    ],
)
def test_what_settled_neighbors_do_not_go_with(
    options: list[str],
    message: str,
    rankgauge: Call,
    leaderboard: list[Path],
) -> None:
    assert_refused(rankgauge("evaluate", "--settled", *leaderboard, *options), message)


def test_one_run_has_no_neighbor(rankgauge: Call, leaderboard: list[Path]) -> None:
    assert_refused(rankgauge("evaluate", "--settled", *leaderboard[:2]), "--settled with 1 run")

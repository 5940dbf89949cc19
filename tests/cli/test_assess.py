"""The command `rankgauge assess`, as a user of a shell meets it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rankgauge as rg
from command_line import Call, assert_refused, on_a_terminal, records
from rankgauge import query_sets
from rankgauge.comparison.assessed import COLUMNS, PAIR_COLUMNS, SWAP_COLUMNS
from rankgauge.comparison.assessment import ASSESSED_MEASURES, assess
from rankgauge.core.notes import count_phrase
from rankgauge.core.tables import Table

TOPICS = [f"q{number}" for number in range(12)]
RUNS = ("good", "fair", "poor", "odd")


class Files(NamedTuple):
    folder: Path
    qrels: Path
    runs: tuple[Path, ...]

    def scores(self, *measures: str) -> rg.Scores:
        """The scores that the command should be about."""
        return rg.evaluate(self.qrels, self.runs, measures or ASSESSED_MEASURES)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgments of twelve queries with grades 0 to 2, and four runs, each worse than the one before."""
    random = np.random.default_rng(8)
    qrels, runs = tmp_path / "qrels.txt", tuple(tmp_path / f"{name}.run" for name in RUNS)
    grades = {topic: random.choice([0, 0, 1, 2], 15) for topic in TOPICS}
    rows = [(t, d, g) for t, several in grades.items() for d, g in enumerate(several)]
    qrels.write_text("".join(f"{t} 0 d{d} {g}\n" for t, d, g in rows))
    for noise, path in zip((0.5, 1.5, 3.0, 6.0), runs, strict=True):
        lines = [f"{t} Q0 d{d} 0 {g + noise * random.random():.6f} x\n" for t, d, g in rows]
        path.write_text("".join(lines))
    return Files(tmp_path, qrels, runs)


@pytest.fixture
def command(rankgauge: Call, files: Files) -> Call:
    """What the command does with these files and options."""
    return lambda *options: rankgauge("assess", files.qrels, *files.runs, *options)


def assert_same(found: list[dict[str, str]], table: Table) -> None:
    """The rows of the tsv form are those of the table, to the last digit."""
    expected = [
        {
            column: "" if cell is None or cell != cell else str(cell)
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    ]
    assert found == expected


# What is printed


@pytest.mark.parametrize("show", ["measures", "pairs", "swaps"])
def test_each_table_is_that_of_the_library(show: str, command: Call, files: Files) -> None:
    scores = files.scores("nDCG@10", "AP")
    halves = files.folder / "even.txt"
    halves.write_text("\n".join(TOPICS[::2]))
    expected = assess(scores, sets={"even": TOPICS[::2]}, splits=50, seed=3)
    tables = {
        "measures": expected.table(),
        "pairs": expected.pair_table(),
        "swaps": expected.swap_table(),
    }
    options = ("-m", "nDCG@10", "-m", "AP", "--set", f"even={halves}", "--splits", 50, "--seed", 3)
    outcome = command(*options, "--show", show)
    assert outcome.code == 0
    assert_same(records(outcome.out), tables[show])
    for note in tables[show].notes:
        assert f"note: {note}\n" in outcome.err


def test_by_default_the_measures_are_shown_to_programs(command: Call, files: Files) -> None:
    outcome = command()
    rows = records(outcome.out)
    assert tuple(rows[0]) == COLUMNS
    assert [row["measure"] for row in rows] == list(ASSESSED_MEASURES)
    assert_same(rows, assess(files.scores()).table())


def test_options_reach_the_library(command: Call, files: Files) -> None:
    options: list[object] = ["-m", "P@5", "-m", "P@10", "--pool-cutoffs", "--test", "bootstrap"]
    options += ["--correction", "bh", "--level", 0.8, "--samples", 200, "--seed", 5]
    options += ["--splits", 30, "--fuzziness", 0.05, "--missing", "skip"]
    expected = assess(
        files.scores("P@5", "P@10"),
        pool_cutoffs=True,
        test="bootstrap",
        correction="bh",
        level=0.8,
        samples=200,
        seed=5,
        splits=30,
        fuzziness=0.05,
        missing="skip",
    )
    assert_same(records(command(*options).out), expected.table())


def test_persistence_changes_the_overlap(command: Call, files: Files) -> None:
    expected = assess(files.scores("nDCG@10", "RR"), persistence=0.5, splits=0)
    options = ("-m", "nDCG@10", "-m", "RR", "--persistence", 0.5, "--splits", 0, "--show", "pairs")
    assert_same(records(command(*options).out), expected.pair_table())


def test_people_get_all_tables_with_headings_and_the_notes_once(
    command: Call,
) -> None:
    headings = ["Measures", "Halves of the queries", "Pairs of measures", "Pairs of sets"]
    for options, shown, rows in (
        ((), [headings[0], *headings[2:]], 4 + 6 + 4),
        (("--long",), headings, 4 + 4 + 6 + 4),
    ):
        lines = command("--sets", "ideal", "--format", "table", *options).out.splitlines()
        assert [line for line in lines if line in headings] == shown
        assert sum(line.startswith("power: ") for line in lines) == 1
        assert sum("ideal" in line.split() for line in lines) == rows


def test_people_get_short_tables_and_programs_every_column(command: Call) -> None:
    measures = ("--show", "measures", "-m", "AP", "-m", "RR")
    short = command(*measures, "--format", "md").out
    assert short.startswith("| measure | power | significant | tests | swap_rate | half_tau |\n")
    for form in ("tsv", "csv"):
        assert (
            command(*measures, "--format", form).out
            == command(*measures, "--format", form, "--long").out
        )
    long = command(*measures, "--format", "md", "--long").out
    assert "| measure | queries | significant | tests | power | pad | safe_pad |\n" in long
    assert "- pad: the mean" in long
    assert "pad" not in short


def test_a_pad_that_misleads_is_not_printed_and_a_note_says_so(command: Call) -> None:
    out = command("-m", "AP", "-m", "v2(AP)", "--format", "md", "--long").out
    assert "safe_pad |" not in out
    assert "- pad, safe_pad: omitted because 0 has different meanings for these measures" in out
    assert "- pad: the mean" not in out


@pytest.mark.parametrize(
    ("form", "heading"), [("table", "Measures\n\n"), ("md", "### Measures\n\n"), ("latex", "% Mea")]
)
def test_headings_are_those_of_the_format(form: str, heading: str, command: Call) -> None:
    assert command("--format", form).out.startswith(heading)


def test_without_sets_there_is_no_column_of_sets_for_people_and_no_table_of_swaps(
    command: Call,
) -> None:
    out = command("--format", "table", "--show", "measures").out
    assert out.splitlines()[0].split()[0] == "measure"
    assert "Pairs" not in out
    whole = command("--format", "table").out
    assert "Pairs of measures" in whole
    assert "Pairs of sets" not in whole


def test_tables_for_people_fit_a_hundred_columns(command: Call) -> None:
    lines = command("--format", "table", "--show", "measures", "--long").out.splitlines()
    rules = [len(line) for line in lines if line.startswith("─")]
    assert len(rules) == 2
    assert max(rules) <= 100


def test_without_splits_nothing_is_said_of_halves(command: Call) -> None:
    for options in ((), ("--long",)):
        out = command("--splits", 0, "--format", "table", *options).out
        assert out.startswith("Measures\n")
        assert "Halves" not in out
        assert "swap_rate" not in out


def test_a_table_alone_has_no_heading(command: Call) -> None:
    assert command("--show", "pairs", "--format", "table").out.startswith("first ")


# Sets and collections


@pytest.mark.parametrize("name", ["ideal", "uninformative", "hard", "easy"])
@pytest.mark.parametrize("size", [{}, {"share": 0.5}, {"number": 5}], ids=str)
def test_sets_are_made_by_the_first_measure(
    name: str, size: dict[str, float], command: Call, files: Files
) -> None:
    make = getattr(query_sets, name)
    chosen = make(files.scores("AP"), str(files.qrels), **(size or {"share": 0.25}))
    options = [item for key, value in size.items() for item in (f"--set-{key}", value)]
    outcome = command("-m", "AP", "-m", "RR", "--sets", name, "--splits", 0, *options)
    small = len(chosen) < 2
    sets = {} if small else {name: chosen}
    expected = assess(files.scores("AP", "RR"), sets=sets, splits=0)
    assert_same(records(outcome.out), expected.table())
    end = "; the set is skipped, because it needs at least 2 queries" if small else ""
    assert (
        f"note: set {name}: {count_phrase(len(chosen), 'query', 'queries')}; by AP{end}\n"
        in outcome.err
    )


@pytest.mark.parametrize("name", ["broad", "focused"])
def test_broad_and_focused_follow_from_the_judgments(
    name: str, tmp_path: Path, rankgauge: Call
) -> None:
    qrels, runs = tmp_path / "graded.txt", tmp_path / "graded"
    runs.mkdir()
    grades = [2, 2, 2, 0, 0, 0]
    qrels.write_text("".join(f"q{n} 0 d {g}\nq{n} 0 e 1\n" for n, g in enumerate(grades)))
    for run, first in {"a": "dddeee", "b": "ededed", "c": "eeedde"}.items():
        lines = [f"q{n} Q0 {d} 1 1 r\n" for n, d in enumerate(first)]
        (runs / run).write_text("".join(lines))
    outcome = rankgauge("assess", qrels, runs, "-m", "AP", "--sets", f"all,{name}", "--splits", 0)
    assert [(row["set"], row["topics"]) for row in records(outcome.out)] == [
        ("all", "6"),
        (name, "3"),
    ]
    assert f"note: set {name}: 3 queries\n" in outcome.err


def test_informative_topics_need_no_size(command: Call, files: Files) -> None:
    chosen = query_sets.informative(files.scores("AP"), str(files.qrels))
    rows = records(command("-m", "AP", "--sets", "informative", "--splits", 0).out)
    assert rows[1]["topics"] == str(len(chosen))


def test_all_topics_are_first_and_need_not_be_named(command: Call) -> None:
    named = command("--sets", "ideal,all, uninformative")
    assert [row["set"] for row in records(named.out)][::4] == ["all", "ideal", "uninformative"]
    assert named.out == command("--sets", "ideal,uninformative").out


def test_sets_are_made_of_the_scores_before_they_are_standardized(
    command: Call, files: Files
) -> None:
    scores = files.scores("AP")
    chosen = query_sets.ideal(scores, str(files.qrels), share=0.5)
    outcome = command("-m", "AP", "--sets", "ideal", "--set-share", 0.5, "--standardize")
    expected = assess(scores.standardized(), sets={"ideal": chosen})
    assert_same(records(outcome.out), expected.table())


def test_a_set_of_ones_own_is_named_by_its_file(command: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes(b"q3\r\n\nq1\nq3\n q7 \n")
    rows = records(command("-m", "AP", "--set", tmp_path / "mine.txt").out)
    assert [(row["set"], row["topics"]) for row in rows] == [("all", "12"), ("mine", "3")]


def test_another_collection_gives_the_swap_rate_between_the_two(
    command: Call, files: Files, tmp_path: Path
) -> None:
    scores = files.scores("AP", "RR", "P@5")
    other = scores.select(TOPICS[:6], runs=RUNS[::-1])
    other.save(tmp_path / "2020.json")
    measures = ("-m", "AP", "-m", "RR")
    outcome = command(*measures, "--other", tmp_path / "2020.json", "--show", "swaps")
    expected = assess(scores.select(measures=["AP", "RR"]), others={"2020": other})
    rows = records(outcome.out)
    assert tuple(rows[0]) == SWAP_COLUMNS
    assert_same(rows, expected.swap_table())


def test_a_table_of_another_collection_is_by_the_only_measure(
    rankgauge: Call, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("query,x,y\n1,0.5,0.25\n2,0.75,0.5\n")
    (tmp_path / "b.csv").write_text("query,x,y\n1,0.125,0.25\n2,0.25,0.5\n3,0,1\n")
    options = ("--other", tmp_path / "b.csv", "--show", "swaps")
    (row,) = records(rankgauge("assess", "--scores", f"AP={tmp_path / 'a.csv'}", *options).out)
    assert (row["other"], row["measure"], row["swap_rate"]) == ("b", "AP", "1.0")


def test_scores_in_files_are_assessed_without_runs(
    rankgauge: Call, command: Call, files: Files, tmp_path: Path
) -> None:
    files.scores("AP", "RR").save(tmp_path / "scores.json")
    saved = rankgauge("assess", "--scores", tmp_path / "scores.json", "--show", "pairs")
    assert tuple(records(saved.out)[0]) == PAIR_COLUMNS
    assert saved.out == command("-m", "AP", "-m", "RR", "--show", "pairs").out


# Files


def test_everything_is_written_as_strict_json(command: Call, files: Files, tmp_path: Path) -> None:
    command("--sets", "ideal", "--json", tmp_path / "all.json")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    found = json.loads((tmp_path / "all.json").read_text(), parse_constant=refuse)
    chosen = query_sets.ideal(files.scores("nDCG@10"), str(files.qrels), share=0.25)
    assert found == json.loads(json.dumps(assess(files.scores(), sets={"ideal": chosen}).to_dict()))


def test_json_holds_what_is_undefined(rankgauge: Call, tmp_path: Path) -> None:
    (tmp_path / "flat.csv").write_text("query,x,y\n1,0,0\n2,0,0\n")
    (tmp_path / "odd.csv").write_text("query,x,y\n1,0,-1\n2,0,-1\n")
    target = tmp_path / "found.json"
    scores = [f"--scores={tmp_path / name}.csv" for name in ("flat", "odd")]
    outcome = rankgauge("assess", *scores, "--json", target)
    assert outcome.code == 0
    text = target.read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    flat = json.loads(text)["measures"][0]
    assert flat["power"] == 0
    assert flat["swap_rate"] is None


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sets", "best"], "--sets best: no such set, expected some of: all, ideal"),
        (["--set-share", "0.5"], "--set-share and --set-number need --sets ideal"),
        (["--sets", "broad", "--set-number", "2"], "need --sets ideal"),
        (["--sets", "ideal", "--set-number", "2", "--set-share", "0.5"], "choose one"),
        (["--sets", "ideal", "--set-number", "99"], "number=99, but only 12 queries can be chosen"),
        (["--show", "swaps"], "--show swaps needs at least two sets: add --sets, --set or --other"),
        (
            ["-m", "AP", "--show", "pairs"],
            "--show pairs needs at least two measures, there is only AP",
        ),
        (["--swaps", "s.svg", "--splits", "0"], "--swaps needs --splits of 1 or more"),
        (["--set", "there.txt"], "there.txt: "),
        (["--other", "there.json"], "there.json: "),
        (
            ["--other", "x.json", "--standardize"],
            "--other and --standardize cannot be used together",
        ),
        (["-m", "NumRet"], "cannot rank systems: neither higher nor lower is better"),
        (["-m", "gm(AP)"], "gm(AP) is not an arithmetic mean over queries"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options: list[str], message: str, command: Call) -> None:
    assert_refused(command(*options), message)


def test_unknown_topics_are_named_with_their_line(command: Call, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("q1\nq99\n")
    assert_refused(
        command("--set", path),
        f"{path}:2: no scores for query 'q99', expected a query that has scores",
    )
    path.write_text("\n")
    assert f"{path}: is empty, expected one query id per line" in command("--set", path).err


def test_two_parts_of_one_name_are_refused(command: Call, files: Files, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("q1\nq2\n")
    files.scores().save(tmp_path / "o.json")
    mine, other = f"ideal={tmp_path / 't.txt'}", f"ideal={tmp_path / 'o.json'}"
    for options in (
        ("--sets", "ideal", "--set", mine),
        ("--set", mine, "--set", mine),
        ("--other", other, "--other", other),
        ("--set", f"all={tmp_path / 't.txt'}"),
        ("--set", mine, "--other", other),
    ):
        assert_refused(command(*options), "expected")


def test_another_collection_must_have_the_runs_and_measures(
    command: Call, files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "o.json"
    files.scores().select(runs=RUNS[:2]).save(path)
    assert f"{path}: no scores for run 'poor'" in command("--other", path).err
    files.scores("AP").save(path)
    outcome = command("--other", path)
    assert f"{path}: no scores for measure 'nDCG@10'" in outcome.err
    assert outcome.code == 2


def test_made_sets_need_judgments(rankgauge: Call, files: Files, tmp_path: Path) -> None:
    files.scores("AP").save(tmp_path / "s.json")
    assert_refused(
        rankgauge("assess", "--scores", tmp_path / "s.json", "--sets", "ideal"),
        "--sets ideal needs QRELS and runs; with --scores",
    )


def test_one_run_is_refused(rankgauge: Call, files: Files) -> None:
    assert_refused(rankgauge("assess", files.qrels, files.runs[0]), "expected")


def test_nothing_is_written_where_nothing_could_be_assessed(command: Call, tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    command("-m", "gm(AP)", "--json", target)
    assert not target.exists()


def test_a_terminal_gets_a_bar_and_a_pipe_none(rankgauge: Call, files: Files) -> None:
    words = ("assess", files.qrels, *files.runs)
    code, seen = on_a_terminal(*words, "--splits", "100000", output=subprocess.DEVNULL)
    assert code == 0
    assert "assessing" in seen
    assert "assessing" not in rankgauge(*words).err


def test_the_runs_of_a_track(rankgauge: Call, real_data: Callable[[str], Path]) -> None:
    folder = real_data("trec-covid/round1")
    qrels = folder / "qrels" / "qrels-rnd1.txt"
    options = ("-m", "nDCG@10", "-m", "RR", "--splits", 20, "--sets", "uninformative,ideal")
    rows = records(rankgauge("assess", qrels, folder / "runs", *options).out)
    assert [row["topics"] for row in rows] == ["30", "30", "8", "8", "8", "8"]
    assert {row["tests"] for row in rows} == {"10153"}
    assert float(rows[0]["power"]) > float(rows[1]["power"]) > float(rows[3]["power"])

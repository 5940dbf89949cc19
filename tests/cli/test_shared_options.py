"""Options that many commands share: what each does, tested on a call of every command that takes it.

The table is `command_calls.CALLS`; a command that lacks a call there fails the first test.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from command_calls import CALLS, COMMANDS, options, taking, write_inputs
from command_line import Call, Outcome, called, called_with_workers, one_process, records
from rankgauge.cli.output_files import FigureFile, OutputFile
from report_pages import island

NEEDED = {
    **dict.fromkeys(("ltr", "forecast train", "forecast predict"), ("lightgbm", "sklearn")),
    "text": ("rouge_score_rs",),
}
"""The optional packages of commands, by how their names begin."""


def needed(name: str) -> list[str]:
    """The optional packages that a command needs."""
    return [each for start, own in NEEDED.items() if name.startswith(start) for each in own]


READING = taking("--lenient")
SCORING = taking("--unjudged")
RUNS_READ = [name for name in READING if "good.run" in CALLS[name]]
SCORED = [*SCORING, "distance"]
TRACKS_READ = [name for name in READING if name not in RUNS_READ and name != "study forecast"]
STUDIES = [name for name in CALLS if name.startswith("study ")]
TABLES = taking("--format")
PRINTING = [*(name for name in TABLES if name not in ("tune", "ltr crossval")), "fuse", "ltr rank"]
"""The commands whose -o takes what they would print."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the calls read, and what is trained on them."""
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch, one_process():
        patch.chdir(folder)
        for name, out in (("ltr train", "ranker"), ("forecast train", "forecaster")):
            if all(map(find_spec, needed(name))):
                assert called(*CALLS[name].replace("-o out", f"-o {out}").split()).code == 0
    return folder


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with these files, which the test may change, as the current folder."""
    made = tmp_path / "folder"
    shutil.copytree(inputs, made)
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def call(rankgauge: Call, folder: Path) -> Call:
    """What the call of a command does with more options and with other words in place of some."""

    def done(name: str, *more: object, **instead: str) -> Outcome:
        for package in needed(name):
            pytest.importorskip(package)
        words = CALLS[name].split()
        for old, new in instead.items():
            words = [re.sub(rf"\b{old}\.", f"{new}.", word) for word in words]
        return rankgauge(*words, *more)

    return done


def each(names: list[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", names)


def test_every_command_has_a_call() -> None:
    assert set(CALLS) == set(COMMANDS)
    assert all(CALLS[name].startswith(name) for name in CALLS)


@each([name for name in CALLS if name not in STUDIES])
def test_the_call_of_a_command_works(name: str, call: Call) -> None:
    done = call(name)
    assert done.code == 0, done.err
    assert done.out or list(Path().glob("out*")) or Path("report.html").exists()


@each([name for name in CALLS if name != "trec_eval"])
def test_a_command_has_help(name: str, rankgauge: Call) -> None:
    code, out, err = rankgauge(*name.split(), "--help")
    assert (code, err) == (0, "")
    assert f"rankgauge {name}" in out


# Values that are refused before anything is read

WRONG = {
    "--measure": ("nDGC@10", "nDGC"),
    "--format": ("xml", "'xml' is not one of"),
    "--digits": ("18", "18 is not in the range"),
    "--level": ("1", "1.0 is not in the range 0<x<1"),
    "--samples": ("9999999", "is not in the range 1<=x<=1000000"),
    "--seed": ("-1", "-1 is not in the range"),
    "--ties": ("magic", "'magic' is not one of"),
    "--missing": ("half", "'half' is not one of"),
    "--precision": ("quad", "'quad' is not one of"),
    "--negative": ("half", "'half' is not one of"),
    "--max-grade": ("0", "0 is not in the range"),
    "--offlist": ("some", "'some' is not one of 'none', 'allowed'"),
    "--size-limit": ("0", "0 is not in the range"),
    "--normalize": ("zz", "there is no normalization 'zz'; did you mean z?"),
    "--absent": ("half", "'half' is not one of"),
    "--color": ("red", "'red' is not one of"),
    "--depth": ("0", "0 is not in the range"),
    "--queries": ("0", "0 is not in the range"),
    "--folds": ("1", "1 is not in the range"),
    "--restarts": ("0", "0 is not in the range"),
    "--repeats": ("0", "0 is not in the range"),
    "--test": ("guess", "there is no significance test 'guess'; there are "),
    "--correction": ("holms", "there is no correction 'holms'; did you mean holm?"),
    "--plugin": ("none.py", "none.py: no such plug-in, expected a Python file"),
}


@pytest.mark.parametrize("option", WRONG)
def test_a_wrong_value_is_refused(option: str, call: Call) -> None:
    value, message = WRONG[option]
    names = [name for name in taking(option) if name not in STUDIES]
    assert names
    for name in names:
        code, out, err = call(name, option, value)
        assert (name, code, out) == (name, 2, "")
        assert message in err.splitlines()[-1], name
        assert "Traceback" not in err


@each(taking("--plugin"))
def test_a_broken_plugin_is_one_line_that_names_it(name: str, call: Call) -> None:
    Path("broken.py").write_text("raise ValueError('no')\n")
    told = "broken.py: the plug-in fails: ValueError: no\n"
    assert call(name, "--plugin", "broken.py") == (2, "", told)


# Tables and files


ALL_COLUMNS = {"assess": ["--long"]}
"""What gives people the columns, and the notes on them, that programs get."""


@each(TABLES)
def test_every_format_has_the_same_table(name: str, call: Call) -> None:
    """Programs get the notes on standard error, people get them below the table."""
    plain = call(name, "--format", "tsv")
    assert plain == call(name)
    rows = records(plain.out)
    in_csv, in_json = (call(name, "--format", form) for form in ("csv", "jsonl"))
    assert in_csv.err == in_json.err == plain.err
    assert list(csv.DictReader(in_csv.out.splitlines())) == rows
    lines = [json.loads(line) for line in in_json.out.splitlines()]
    texts = [{key: "" if x is None else str(x) for key, x in line.items()} for line in lines]
    assert [list(line) for line in lines] == [list(row) for row in rows]
    assert texts == rows
    notes = [line.removeprefix("note: ") for line in plain.err.splitlines()]
    assert notes or name != "compare"  # so that some table has notes
    for form in ("table", "md", "latex"):
        code, out, err = call(name, "--format", form, *ALL_COLUMNS.get(name, ()))
        assert code == 0
        shown = re.sub(r"[\\{}$]|textasciitilde", "", " ".join(out.split()))
        for note in notes:
            if not note.startswith("-o "):  # what a table for people says in other words
                assert note in err or re.sub(r"[\\{}$~]", "", note)[:20] in shown, form


@each(TABLES)
def test_digits_are_as_many_as_asked_for(name: str, call: Call) -> None:
    exact = [line.split("\t") for line in call(name).out.splitlines()]
    short = [line.split("\t") for line in call(name, "--digits", 3).out.splitlines()]
    for before, after in zip(exact, short, strict=True):
        for old, new in zip(before, after, strict=True):
            number = re.fullmatch(r"-?\d+\.\d+(e-\d+)?", old)
            assert new == old or (number and new == f"{float(old):.3f}")
    assert exact != short or name != "compare"  # so that some table has decimals


@each(PRINTING)
def test_a_file_gets_what_would_be_printed(name: str, call: Call) -> None:
    printed = call(name)
    before = {*os.listdir(), "out.txt", "out.txt.gz"}
    for file in ("out.txt", "out.txt.gz"):
        Path(file).write_bytes(b"old")
        assert call(name, "-o", file) == printed._replace(out="")
    assert Path("out.txt").read_bytes() == printed.out.encode()
    assert gzip.decompress(Path("out.txt.gz").read_bytes()) == printed.out.encode()
    assert call(name, "-o", "-") == printed
    assert set(os.listdir()) == before


@each([name for name in COMMANDS if name not in ("ltr methods", "measures", *STUDIES)])
def test_a_failure_leaves_every_file_as_it_was(name: str, call: Call) -> None:
    """The judgments, data or texts are faulty."""
    kinds = {o: option.type for o, option in options(name).items()} if name != "trec_eval" else {}
    files = [o for o, kind in kinds.items() if isinstance(kind, OutputFile) and not kind.folder]
    gone = {"demo": "--queries 0", "trec_eval": "--no-such"}.get(name)
    for file in ("qrels.txt", "letor.txt", "texts.jsonl"):
        Path(file).write_text("bad\n")
    for file in ("good.run", "fair.run"):
        Path(file).write_text("1 Q0 d 1 bad t\n")
    before = sorted(Path().iterdir())
    for option in files or [None]:
        target = Path("old.svg")
        target.write_bytes(b"old")
        more = [option, target, *MORE.get(name, "").split()] if option else []
        done = call(name, *(gone.split() if gone else ()), *more)
        assert (done.code, done.out) == (1 if name == "trec_eval" else 2, ""), done
        assert target.read_bytes() == b"old"
        target.unlink()
    assert sorted(Path().iterdir()) == before


FIGURES = [
    (name, option)
    for name in CALLS
    if name != "trec_eval"
    for option, declared in options(name).items()
    if isinstance(declared.type, FigureFile)
]
MORE = {"text": "--human ratings.csv", "assess": "--sets ideal"}
"""What figures need beside the call."""


@pytest.mark.parametrize(("name", "option"), FIGURES)
def test_a_figure_is_drawn_beside_the_same_table(name: str, option: str, call: Call) -> None:
    pytest.importorskip("matplotlib")
    ratings = [f"t{n},{system},{n % 3}" for n in range(4) for system in ("lead", "good")]
    Path("ratings.csv").write_text("\n".join(["id,system,helpful", *ratings]))
    more = MORE.get(name, "").split()
    plain = call(name, *more)
    figures = [Path(f"figure.{ending}") for ending in ("svg", "png")]
    for _ in range(2):
        for figure in figures:
            assert call(name, *more, option, figure) == plain
        drawn = [figure.read_bytes() for figure in figures]
    assert drawn == [figure.read_bytes() for figure in figures]
    assert drawn[0].startswith(b"<?xml")
    assert drawn[1].startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(("name", "option"), FIGURES)
def test_a_figure_that_cannot_be_drawn_is_refused_before_anything_is_read(
    name: str, option: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(os.getcwd())
    for file, told in (("x.pdf", "the ending .pdf, expected .svg or .png"), ("x", ".png")):
        code, out, err = call(name, option, file)
        assert (code, out) == (2, "")
        assert err.startswith(f"{file}: ")
        assert err.endswith(f"{told}\n")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    told = "matplotlib is not installed; run pip install matplotlib (extra: plot)\n"
    assert call(name, option, "x.svg") == (2, "", told)


@each(["assess", "queries"])
def test_each_option_draws_another_figure(name: str, call: Call) -> None:
    pytest.importorskip("matplotlib")
    several = [option for one, option in FIGURES if one == name]
    assert len(several) > 1
    more = MORE.get(name, "").split()
    for option in several[1:]:
        assert call(name, several[0], "first.png", option, "other.png", *more).code == 0
        assert Path("first.png").read_bytes() != Path("other.png").read_bytes()


# Files to read


@each(RUNS_READ)
def test_faulty_lines_are_dropped_and_counted_when_read_leniently(name: str, call: Call) -> None:
    plain = call(name)
    for file, line in (("good.run", "9 Q0 d\n"), ("qrels.txt", "9 0 d\n")):
        with open(file, "a") as stream:
            stream.write(line)
        assert call(name).code in (2, 3)
    done = call(name, "--lenient")
    assert (done.code, done.out) == (0, plain.out)
    assert "note: good: 1 line dropped: too few columns (first at line 72)" in done.err
    assert ("note: qrels.txt: 1 line dropped" in done.err) == (name in SCORED)


@each(TRACKS_READ)
def test_faulty_lines_of_other_files_are_dropped_and_counted(name: str, call: Call) -> None:
    plain = call(name)
    with open("qrels.txt" if "qrels.txt" in CALLS[name] else "letor.txt", "a") as stream:
        stream.write("9 0 d\n")
    assert call(name).code == 2
    done = call(name, "--lenient")
    assert (done.code, done.out) == (0, plain.out)
    assert "1 line dropped" in done.err


@each([*RUNS_READ, *TRACKS_READ])
def test_a_file_beyond_the_limit_is_refused(name: str, call: Call) -> None:
    code, out, err = call(name, "--size-limit", 10)
    assert (code, out) == (2, "")
    assert re.search(r"more than 10 bytes", err), err


COLUMNS = {"query": "who", "document": "what", "score": "points", "grade": "stars"}
NAMED = ["--query-column", "person"]
NAMED += [word for role, name in COLUMNS.items() for word in (f"--{role}-column", name)]


@each([*RUNS_READ, *TRACKS_READ])
def test_columns_are_named_by_options(name: str, call: Call) -> None:
    """Each file takes those names that it has: queries are called `person` in runs."""
    plain = call(name)
    for path in Path().glob("*.*"):
        if path.suffix in (".run", ".txt") and path.stem != "letor":
            rows = [line.split() for line in path.read_text().splitlines()]
            number = 4 if path.suffix == ".run" else 3
            header = "person,what,points\n" if number == 4 else "who,what,stars\n"
            path.write_text(header + "".join(f"{r[0]},{r[2]},{r[number]}\n" for r in rows))
    code, out, err = call(name)
    assert (code, out) == (2, "")
    assert "--query-column NAME" in err
    assert call(name, *NAMED) == plain
    code, _, err = call(name, *(word.replace("what", "else") for word in NAMED))
    assert code == 2
    assert "expected 'else'" in err


@each(taking("--parts"))
def test_a_run_in_parts_is_the_same_run(name: str, call: Call) -> None:
    plain = call(name)
    for run in ("good", "fair"):
        lines = Path(f"{run}.run").read_text().splitlines(keepends=True)
        Path(run).mkdir()
        for part in range(0, len(lines), 17):
            Path(run, f"part-{part:02}").write_text("".join(lines[part : part + 17]))
    words = CALLS[name].replace("good.run", "good").replace("fair.run", "fair/*").split()
    assert called(*words, "--parts") == plain


@each(RUNS_READ)
def test_a_run_that_is_not_there_is_named(name: str, call: Call) -> None:
    Path("good.run").unlink()
    code, _, err = call(name)
    assert code in (2, 3)
    assert "good.run: cannot be read: No such file or directory" in err
    Path("fair.run").unlink()
    code, out, err = call(name, "--lenient")
    assert (code, out) == (2, "")
    assert "good.run: cannot be read: No such file or directory" in err


@each([name for name in CALLS if "qrels.txt" in CALLS[name] and name not in STUDIES])
def test_judgments_that_are_not_there_are_named(name: str, call: Call) -> None:
    Path("qrels.txt").unlink()
    done = call(name)
    assert done.out == ""
    assert done.code == 2
    assert "qrels.txt" in done.err


GOING_ON = [
    *("evaluate", "report", "compare", "assess", "queries", "distance"),
    *("forecast depth", "forecast two-phase"),
]
"""The commands over as many runs as there are: they leave out one that cannot be read."""


def test_commands_over_many_runs_go_on() -> None:
    assert set(GOING_ON) == set(taking("--parts", "--workers")) - {
        "tune",
        "space optima",
    }


@each(GOING_ON)
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("q Q0 d\n", "bad.run:1: 3 columns, expected 6"),
        ("0 Q0 d 1 1 t\n", "bad.run: none of its queries are judged"),
        (None, "bad.run: cannot be read"),
    ],
)
def test_a_run_that_cannot_be_used_is_named_and_the_others_count(
    name: str, content: str | None, told: str, call: Call
) -> None:
    plain = call(name, "poor.run")
    if content is not None:
        Path("bad.run").write_text(content)
    code, out, err = call(name, "poor.run", "bad.run")
    assert (code, out) == (3, plain.out)
    assert told in err
    assert re.search(r"1 run of 4 not (evaluated|read)$", err.strip()) or name == "report"
    code, out, err = call(name, good="bad", fair="bad2")
    assert (code, out) == (2, "")
    assert told in err


@each(RUNS_READ)
def test_the_same_run_twice_is_refused(name: str, call: Call) -> None:
    code, out, err = call(name, fair="good")
    assert (code, out) == (2, "")
    assert "good.run: the same file is given twice" in err


@each([name for name in RUNS_READ if "qrels.txt good.run" in CALLS[name]])
def test_judgments_and_run_the_wrong_way_round(name: str, call: Call) -> None:
    os.rename("qrels.txt", "spare")
    os.rename("good.run", "qrels.txt")
    os.rename("spare", "good.run")
    for more in ((), ("--lenient",)) if name in SCORED else ((),):
        code, out, err = call(name, *more)
        assert (code, out) == (2, "")
        assert "the files are swapped" in err


# How runs are scored

POLICIES = {
    "--unjudged": ("condensed",),
    "--ties": ("docno-ascending",),
    "--precision": ("single",),
    "--max-grade": ("9",),
    "--negative": ("nonrelevant",),
}


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, option) for option in POLICIES for name in taking(option) if name not in STUDIES],
)
def test_a_policy_changes_the_result(name: str, option: str, folder: Path) -> None:
    measure = "ERR@2"
    if option == "--negative":
        measure = "P@5" if name == "distance" else "upper(P@1)"
    words = CALLS[name].replace("P@2", measure).split()
    assert result(*words) != result(*words, option, *POLICIES[option])


@each([name for name in taking("--max-grade") if name not in STUDIES])
def test_a_highest_grade_below_the_judgments_is_refused(name: str, call: Call) -> None:
    code, out, err = call(name, "--max-grade", 1)
    assert (code, out) == (2, "")
    assert "max_grade=1, but" in err


OF_RUNS = {
    **dict.fromkeys(("--documents", "--max-grade", "--size-limit"), "1"),
    **{f"--{role}-column": "x" for role in COLUMNS},
    **dict.fromkeys(("--subtopics", "--lenient", "--parts"), ""),
    **{"--ties": "docno", "--tail": "tied", "--precision": "single", "--negative": "unjudged"},
    "--unjudged": "condensed",
    "-J": "",
}


def test_all_options_of_scoring_are_of_runs() -> None:
    assert set(OF_RUNS) == set(options("report")) & set(options("queries")) - {
        *("--measure", "--seed", "--level", "--workers", "--retries", "--timeout", "--output"),
        *("--color", "--plugin"),
    }


@pytest.mark.parametrize("option", OF_RUNS)
@each(taking("--scores"))
def test_options_of_runs_are_no_options_of_scores(name: str, option: str) -> None:
    code, _, err = called(name, "--scores", "x", option, *OF_RUNS[option].split())
    assert code == 2
    assert f"{option} applies to runs and has no effect with --scores" in err


def result(*words: str) -> object:
    """What a command prints, or what it writes."""
    with one_process():
        done = called(*words)
    assert done.code == 0, done.err
    if words[0] == "report":
        return island(Path("report.html").read_text())["means"]
    if words[:2] == ("forecast", "train"):
        return Path("out/forecaster.json").read_text()
    return done.out


# Workers


@each(taking("--workers"))
def test_a_command_without_its_workers_says_so_before_it_begins(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not even look whether its files are there."""
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rankgauge.workers.dask.CONNECT_TIMEOUT", 0.2)
    there = called(*CALLS[name].split(), "--workers", "tcp://127.0.0.1:9")
    assert there.code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in there.err
    again = called(*CALLS[name].split(), "--retries", "2")
    assert again.code == 2
    assert "--retries needs --workers" in again.err
    assert list(tmp_path.iterdir()) == []


@each([name for name in taking("--workers") if name not in STUDIES])
def test_no_command_ignores_the_workers_it_is_given(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests of studies have the same for them."""
    words = CALLS[name].split()
    if name == "compare":  # whose work is long only if it draws samples
        words += ["--test", "randomization"]
    assert "the workers are asked" in called_with_workers(monkeypatch, *words).err

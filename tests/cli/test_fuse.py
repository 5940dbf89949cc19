"""rankgauge fuse: runs of any kind in, one TREC run out."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankgauge as rg
from command_line import Call, assert_refused
from rankgauge.fusion.methods import METHODS, FusionParameter
from rankgauge.fusion.normalizations import NORMALIZATIONS

COMMAND = [sys.executable, "-m", "rankgauge"]

A = "q1 Q0 d1 1 12.5 a\nq1 Q0 d2 2 11 a\nq1 Q0 d3 3 7.5 a\nq2 Q0 d1 1 3 a\n"
B = "q1 Q0 d2 1 0.9 b\nq1 Q0 d4 2 0.7 b\nq2 Q0 d5 1 0.8 b\nq2 Q0 d1 2 0.6 b\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.run").write_text(A)
    (tmp_path / "b.run").write_text(B)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_fused_run_is_written_with_its_method_as_tag(rankgauge: Call, files: Path) -> None:
    outcome = rankgauge("fuse", "a.run", "b.run", "-o", "fused.run")
    assert outcome == (0, "", "")
    assert (files / "fused.run").read_text() == (
        "q1 Q0 d2 1 1.7 wsum\n"
        "q1 Q0 d1 2 1.0 wsum\n"
        "q1 Q0 d4 3 0.0 wsum\n"
        "q1 Q0 d3 4 0.0 wsum\n"
        "q2 Q0 d5 1 1.0 wsum\n"
        "q2 Q0 d1 2 0.0 wsum\n"
    )


def test_without_a_file_the_run_goes_to_standard_output(rankgauge: Call, files: Path) -> None:
    asked = ("fuse", "a.run", "b.run", "--method", "rrf", "--tag", "hybrid")
    out = rankgauge(*asked).out
    assert out.splitlines()[0] == f"q1 Q0 d2 1 {1 / 61 + 1 / 62!r} hybrid"
    assert rankgauge(*asked, "-o", "-").out == out
    assert not (files / "-").exists()


def test_the_command_gives_what_python_gives(rankgauge: Call, files: Path) -> None:
    for method in METHODS:
        weighted = METHODS[method].weighted
        weights = ("--weight", "0.25", "--weight", "0.75") if weighted else ()
        rankgauge("fuse", "a.run", "b.run", "--method", method, *weights, "-o", "there.run")
        settings = {"weights": (0.25, 0.75)} if weighted else {}
        rg.write_run(rg.fuse(["a.run", "b.run"], method, **settings), "here.run")
        assert (files / "there.run").read_bytes() == (files / "here.run").read_bytes()
    for normalize in NORMALIZATIONS:
        asked = ("--normalize", normalize, "--weight", "0.25,0.75", "-o", "there.run")
        rankgauge("fuse", "a.run", "b.run", *asked)
        fused = rg.fuse(["a.run", "b.run"], normalize=normalize, weights=(0.25, 0.75))
        rg.write_run(fused, "here.run")
        assert (files / "there.run").read_bytes() == (files / "here.run").read_bytes()


@pytest.mark.parametrize(
    ("method", "option", "value"),
    [
        ("rrf", "k", 5),
        ("gmnz", "gamma", 0.5),
        ("logn_isr", "sigma", 0.3),
        ("rbc", "persistence", 0.5),
    ],
)
def test_parameters_of_methods_are_options(
    method: str, option: str, value: float, rankgauge: Call, files: Path
) -> None:
    rankgauge("fuse", "a.run", "b.run", "--method", method, f"--{option}", value, "-o", "there.run")
    rg.write_run(rg.fuse(["a.run", "b.run"], method, **{option: value}), "here.run")
    assert (files / "there.run").read_bytes() == (files / "here.run").read_bytes()
    plain = rankgauge("fuse", "a.run", "b.run", "--method", method).out
    assert plain != (files / "here.run").read_text()


PARAMETERS = [(name, each) for name, method in METHODS.items() for each in method.parameters]


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS)
def test_every_parameter_of_a_method_is_a_setting(
    method: str, parameter: FusionParameter, rankgauge: Call, files: Path
) -> None:
    value = parameter.kind.check(parameter.default / 2)
    setting = f"{parameter.name}={value}"
    fused = rankgauge("fuse", "a.run", "b.run", "--method", method, "--setting", setting)
    rg.write_run(rg.fuse(["a.run", "b.run"], method, **{parameter.name: value}), "here.run")
    assert fused.out == (files / "here.run").read_text()


def test_files_of_other_kinds_are_read_and_files_compressed(rankgauge: Call, files: Path) -> None:
    (files / "a.csv").write_text("query,document,score\nq1,d1,12.5\nq1,d2,11\nq1,d3,7.5\nq2,d1,3\n")
    lists = {"q1": {"d2": 0.9, "d4": 0.7}, "q2": {"d5": 0.8, "d1": 0.6}}
    (files / "b.json").write_text(json.dumps(lists))
    assert rankgauge("fuse", "a.csv", "b.json", "-o", "fused.run.gz").code == 0
    fused = gzip.decompress((files / "fused.run.gz").read_bytes()).decode()
    assert fused == rankgauge("fuse", "a.run", "b.run").out


def test_a_folder_stands_for_its_files_by_name(rankgauge: Call, files: Path) -> None:
    named = rankgauge("fuse", "a.run", "b.run", "--weight", "0.1,0.9").out
    assert rankgauge("fuse", files, "--weight", "0.1,0.9").out == named


def test_standard_input_is_a_run(
    rankgauge: Call, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rankgauge("fuse", "a.run", "b.run").out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(B.encode())))
    assert rankgauge("fuse", "a.run", "-").out == expected


def test_what_it_writes_evaluates_as_any_run(rankgauge: Call, files: Path) -> None:
    (files / "qrels").write_text("q1 0 d2 1\nq2 0 d5 1\n")
    rankgauge("fuse", "a.run", "b.run", "-o", "fused.run")
    assert "\t1.0\n" in rankgauge("evaluate", "qrels", "fused.run", "-m", "RR").out


def test_topics_that_a_run_lacks_and_lines_left_out_are_told(rankgauge: Call, files: Path) -> None:
    (files / "c.run").write_text("q1 Q0 d2 1 0.9 b\nq1 Q0 d8 1 nothing b\n")
    outcome = rankgauge("fuse", "a.run", "c.run", "--lenient")
    assert outcome.code == 0
    assert (
        "note: c: has no documents for 1 query that other runs answer; only those runs rank them"
        in outcome.err
    )
    assert "note: c: 1 line dropped: not a number (first at line 2)" in outcome.err


def test_runs_with_no_document_in_common_are_warned_about(rankgauge: Call, files: Path) -> None:
    (files / "c.run").write_text("q1 Q0 doc-2 1 0.9 b\nq2 Q0 doc-1 1 0.9 b\n")
    err = rankgauge("fuse", "a.run", "c.run").err
    assert err.startswith("WARNING: no document occurs in two runs")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.run"], "a: only one run, expected at least two to fuse"),
        (
            ["a.run", "b.run", "--weight", "1"],
            "1 weight for 2 runs, expected one weight per run",
        ),
        (["a.run", "b.run", "--weight", "1,x"], "'1,x', expected numbers such as 0.4,0.6"),
        (
            ["a.run", "b.run", "--method", "sum", "--weight", "1,1"],
            "accepts no weights; omit them",
        ),
        (["a.run", "b.run", "--k", "3"], "has no parameter 'k'"),
        (["a.run", "b.run", "--setting", "depth=3"], "has no parameter 'depth'"),
        (
            ["a.run", "b.run", "--method", "rrf", "--setting", "k=many"],
            "k='many', expected a number from 0",
        ),
        (
            ["a.run", "b.run", "--method", "rrf", "--k", "3", "--setting", "k=3"],
            "k is set by both --k and --setting; use one of them",
        ),
        (["a.run", "b.run", "--method", "rrff"], "no fusion method 'rrff'; did you mean rrf?"),
        (["a.run", "b.run", "--method", "rrf", "--normalize", "z"], "uses only ranks"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(
    arguments: list[str], message: str, rankgauge: Call, files: Path
) -> None:
    assert_refused(rankgauge("fuse", *arguments, "-o", "fused.run"), message)
    assert not (files / "fused.run").exists()


def test_an_id_that_no_trec_file_can_hold_is_refused(rankgauge: Call, files: Path) -> None:
    (files / "c.json").write_text(json.dumps({"q1": {"d 1": 1.0}}))
    assert_refused(
        rankgauge("fuse", "a.run", "c.json", "-o", "fused.run"), "cannot contain the id 'd 1'"
    )
    assert "standard output: cannot contain the id" in rankgauge("fuse", "a.run", "c.json").err


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no device of standard output here")
def test_standard_output_can_be_named_as_a_file(rankgauge: Call, files: Path) -> None:
    """In a pipe, /dev/stdout leads to no file that has a name."""
    expected = rankgauge("fuse", "a.run", "b.run").out.encode()
    for name in ("-", "/dev/stdout"):
        words = [*COMMAND, "fuse", "a.run", "b.run", "-o", name]
        piped = subprocess.run(words, capture_output=True, check=False, timeout=60)
        assert (piped.returncode, piped.stdout, piped.stderr) == (0, expected, b"")
        with (files / "out").open("wb") as out:
            subprocess.run(words, stdout=out, check=True, timeout=60)
        assert (files / "out").read_bytes() == expected
    evaluated = [*COMMAND, "evaluate", "qrels", "a.run", "-o", "/dev/stdout", "-m", "RR"]
    (files / "qrels").write_text("q1 0 d1 1\n")
    assert subprocess.run(evaluated, capture_output=True, check=True).stdout.endswith(b"1.0\n")

"""The drop-in prints what trec_eval prints, to the byte, on trec_eval's own test files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rankgauge.cli.trec_eval import run

CASES = {
    "out.test": "qrels.test results.test",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-m all_trec -q qrels.test results.test",
    "out.test.aqc": "-m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM": "-m all_trec -q -c -M100 qrels.test results.trunc",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.meas_params": "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
    "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test",
    "out.test.aqZ": "-q -m all_trec -Z zscores_file qrels.test results.test",
}
COMMENTED = {
    "out.comment.test": "qrels.comment.test results.comment.test",
    "out.test": "qrels.test.with-comments results.test",
}


@pytest.fixture
def printed(
    real_data: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str, str], tuple[int, str, str]]:
    """Runs the drop-in where trec_eval's files are."""

    def call(version: str, arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(real_data(f"trec_eval/{version}"))
        code = run(arguments.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


Printed = Callable[[str, str], tuple[int, str, str]]


@pytest.mark.parametrize("expected", CASES)
def test_version_9(expected: str, printed: Printed, real_data: Callable[[str], Path]) -> None:
    wanted = (real_data("trec_eval/v9.0.8") / expected).read_text()
    assert printed("v9.0.8", CASES[expected]) == (0, wanted, "")


@pytest.mark.parametrize(
    ("expected", "arguments"), [*CASES.items(), *COMMENTED.items()], ids=[*CASES, *COMMENTED]
)
def test_version_10(
    expected: str, arguments: str, printed: Printed, real_data: Callable[[str], Path]
) -> None:
    wanted = (real_data("trec_eval/v10") / expected).read_text()
    assert printed("v10", f"--compat 10 {arguments}") == (0, wanted, "")


QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 d 1\n"
RUN = "q1 Q0 a 1 3 tag\nq1 Q0 x 2 2 tag\nq1 Q0 c 3 1 tag\n"


LEVELS_ABOVE_1 = ("04 all 0.6667", "50 all 0.0000")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("-m map", ["map all 0.8333"]),
        ("-m map -c", ["map all 0.4167"]),
        ("-m map -q -n", ["map q1 0.8333"]),
        ("-m map -J", ["map all 1.0000"]),
        ("-m map -l 2", ["map all 0.3333"]),
        ("-m map -M 1", ["map all 0.5000"]),
        ("-m map -M 1e2", ["map all 0.5000"]),
        ("-m num_ret -m map -m P.5 -M 0", ["num_ret all 0", "map all 0.0000", "P_5 all 0.0000"]),
        ("-m num_rel -m map -l 0", ["num_rel all 3", "map all 0.5556"]),
        ("-m num_rel -l abc", ["num_rel all 3"]),
        ("-m num_rel -l 1.5", ["num_rel all 2"]),
        ("-m num_rel -l 99999999999", ["num_rel all 0"]),
        ("-m ndcg -m Rndcg -l 0", ["ndcg all 0.7602", "Rndcg all 0.4400"]),
        ("-m num_rel -c -l 3", ["num_rel all 3"]),
        ("-m num_rel -l 3", ["num_rel all 0"]),
        ("-m relstring -q", ["relstring q1 '1-2'"]),
        ("-m relstring.2 -q", ["relstring_2 q1 '1-'"]),
        ("-m yaap", ["yaap all 0.6931"]),
        ("-m utility.1,1,1,1 -N 10", ["utility_1,1,1,1 all 10.0000"]),
        ("-m utility.1,1,1,1 -N -5", ["utility_1,1,1,1 all -5.0000"]),
        ("-m utility.0,0,0,1 -N 5000000000", ["utility_0,0,0,1 all 4999999997.0000"]),
        ("-m set_F.0.5", ["set_F_0.5 all 0.7500"]),
        ("-m set_F.-1", ["set_F_-1 all 0.0000"]),
        ("-m set_F.-1.5", ["set_F_-1.5 all -inf"]),
        ("-m iprec_at_recall.1.5,-1", ["iprec_at_recall_-1.00 all 1.0000"]),
        ("-m iprec_at_recall.1.04,1.5", [f"iprec_at_recall_1.{x}" for x in LEVELS_ABOVE_1]),
        ("-m 11pt_avg.0,1.5", ["11pt_avg_0,1.5 all 0.5000"]),
        ("-m Rprec_mult.0,-1", ["Rprec_mult_-1.00 all 0.0000", "Rprec_mult_0.00 all 0.0000"]),
        ("-m Rprec_mult.1e30", ["Rprec_mult_10000000 all 0.0000"]),
        ("-m official.5 -m P.1", ["runid all tag", "num_q all 1", "num_ret all 3"]),
        ("-m map.5,6 -m num_q", ["num_q all 1", "map all 0.8333"]),
        ("-m P.99999999999", ["P_99999999999 all 0.0000"]),
        ("-m ndcg.0=1,1=3", ["ndcg_0=1,1=3 all 0.8400"]),
        ("-m ndcg.0=0", ["ndcg_0=0 all 0.7602"]),
        ("-m ndcg.1=3,1=5", ["ndcg_1=3,1=5 all 0.9386"]),
        ("-m ndcg.1=0.9,2=0.5", ["ndcg_1=0.9,2=0.5 all 0.9461"]),
        ("--measure map --query_eval_wanted --nosummary", ["map q1 0.8333"]),
        ("-m P.3 -m P.5", ["P_3 all 0.6667"]),
        ("-o -m num_q", ["num_q all 1"]),
        ("--compat 10 -c -q -n -m num_ret -m unj.2", ["num_ret q1 3", "unj_2 q1 0.5000"]),
        ("--compat 10 -m rbp.p=0.5", ["rbp_p=0.5 all 0.3750"]),
        # rbp brings gains to [0, 1] by all gains that are given, not only by those of judged grades.
        ("--compat 10 -m rbp.1=1,2=2,3=4", ["rbp_1=1,2=2,3=4 all 0.0655"]),
        ("--compat 10 -m rbp -m yaap", ["yaap all 0.6931", "rbp all 0.1310"]),
        # A missing topic is a list of one unjudged document; only the default utility, relstring and
        # rbp_resid are cleared for it.
        ("--compat 10 -c -m utility", ["utility all 0.5000"]),
        ("--compat 10 -c -m utility.0,1,0,0", ["utility_0,1,0,0 all 1.0000"]),
        ("--compat 10 -c -J -m utility.0,1,0,0", ["utility_0,1,0,0 all 0.0000"]),
        ("--compat 10 -c -q -n -m relstring", ["relstring q1 '1-2'", "relstring q2 ''"]),
        ("--compat 10 -c -q -n -m relstring.5", ["relstring_5 q1 '1-2'", "relstring_5 q2 '-'"]),
        ("--compat 9 -m num_q", ["num_q all 1"]),
        ("--c -m map", ["map all 0.4167"]),
        ("--comp -m map", ["map all 0.4167"]),
        ("--compat 10.0 -m num_q", ["num_q all 1"]),
    ],
)
def test_options(
    arguments: str, lines: list[str], files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments.split(), "qrels", "run"]) == 0
    captured = capsys.readouterr()
    shown = [" ".join(line.split()) for line in captured.out.splitlines()]
    assert shown[: len(lines)] == lines
    assert captured.err == ""


@pytest.mark.parametrize(
    ("compat", "score"),
    [("9.0.7", "0.5000"), ("9.0.8", "1.0000"), ("10", "1.0000"), ("", "1.0000")],
)
def test_only_versions_up_to_9_0_7_compare_in_single_precision(
    compat: str, score: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """16777217 and 16777216 are the same number in single precision."""
    (files / "qrels").write_text("1 0 a 1\n")
    (files / "run").write_text("1 Q0 a 1 16777217 t\n1 Q0 b 2 16777216 t\n")
    chosen = ["--compat", compat] if compat else []
    assert run([*chosen, "-m", "recip_rank", "qrels", "run"]) == 0
    assert capsys.readouterr().out.split() == ["recip_rank", "all", score]


@pytest.mark.parametrize(
    ("arguments", "line", "theirs"),
    [
        ("-m iprec_at_recall.0 -M 0", "iprec_at_recall_0.00 all 0.0000", "-nan"),
        ("-m 11pt_avg.0 -M 0", "11pt_avg_0 all 0.0000", "-nan"),
        ("-m 11pt_avg.1.5,0", "11pt_avg_1.5,0 all 0.5000", "1.0000"),
        ("--compat 10 -m num_q", "num_q all 1", "exit 4: q2 is not in the run"),
    ],
)
def test_deliberate_differences(
    arguments: str, line: str, theirs: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What trec_eval prints is noted beside what is printed here."""
    assert run([*arguments.split(), "qrels", "run"]) == 0
    assert " ".join(capsys.readouterr().out.split()) == line


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("-m nope qrels run", 1, "there is no measure 'nope'"),
        ("-m rbp qrels run", 1, "there is no measure 'rbp'"),
        ("-m prefs qrels run", 1, "preferences and judgment groups are not supported"),
        ("-R prefs qrels run", 1, "-R prefs is not supported"),
        ("-m P. qrels run", 1, "expected parameters after the dot"),
        ("-m nope qrels missing", 1, "there is no measure 'nope'"),
        ("-R nope qrels run", 2, "-R nope: there is no such format"),
        ("-T nope qrels run", 2, "-T nope: there is no such format"),
        ("-m P.0 qrels run", 2, "measure 'P.0': cutoffs are whole numbers from 1"),
        ("-m P.abc qrels run", 2, "measure 'P.abc': cutoffs are whole numbers from 1"),
        ("-m P.5,5 qrels run", 2, "measure 'P.5,5': a parameter is given twice"),
        ("-m Rprec_mult.1,1.0 qrels run", 2, "measure 'Rprec_mult.1,1.0': a parameter is given"),
        ("-m utility.1 qrels run", 4, "utility_1: 1 weights, expected 4"),
        ("-m utility.1 qrels other", 7, "no topic has both"),
        ("-m ndcg.3 qrels run", 2, "measure 'ndcg.3': '3' is no gain, expected level=gain"),
        ("-m ndcg.1==3 qrels run", 2, "measure 'ndcg.1==3': '1==3' is no gain"),
        ("-m G.1=3, qrels run", 2, "measure 'G.1=3,': '' is no gain"),
        ("-m ndcg.1=-1,2=5 qrels run", 1, "measure 'ndcg.1=-1,2=5': gains below 0 are not"),
        ("-m Rndcg.-1=1 qrels run", 1, "measure 'Rndcg.-1=1': levels below 0 are not"),
        ("-m ndcg.9999999999=1 qrels run", 2, "measure 'ndcg.9999999999=1': a parameter is out"),
        ("-m set_F.1e999 qrels run", 2, "measure 'set_F.1e999': '1e999' is not a plain number"),
        ("-m set_F.inf qrels run", 2, "measure 'set_F.inf': 'inf' is not a plain number"),
        ("--compat 10 -m rbp.p=2 qrels run", 2, "measure 'rbp.p=2': p is a chance"),
        ("--compat 10 -m rbp.x qrels run", 2, "measure 'rbp.x': 'x' is no gain"),
        ("-l -1 qrels run", 1, "-l -1 is not supported, expected a number from 0"),
        ("-M -1 qrels run", 1, "-M -1 is not supported, expected a number from 0"),
        ("-x qrels run", 1, "option -x not recognized"),
        ("--compat 8 qrels run", 1, "expected 9.0.7, 9.0.8 or 10"),
        ("qrels", 1, "expected QRELS and RUN"),
        ("qrels missing", 2, "missing: cannot be read"),
        ("qrels qrels", 2, "qrels:1: 4 columns, expected 6"),
        ("qrels twice", 4, "twice:2: document 'a' repeated"),
        ("qrels other", 7, "no topic has both"),
        ("blank run", 2, "blank:2: a blank line, expected"),
        ("-m P.0 qrels twice", 2, "cutoffs are whole numbers from 1"),
        ("twice-judged missing", 2, "missing: cannot be read"),
        ("-Z missing -m P.0 qrels run", 255, "missing: cannot be read"),
        ("-Z blank qrels run", 255, "blank:1: expected `topic measure mean standard-deviation`"),
        ("-Z empty qrels run", 255, "empty: no lines, expected"),
    ],
)
def test_refusals_end_as_trec_eval_ends(
    arguments: str, code: int, message: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "twice").write_text("q1 Q0 a 1 3 tag\nq1 Q0 a 2 2 tag\n")
    (files / "other").write_text("q9 Q0 a 1 3 tag\n")
    (files / "twice-judged").write_text("q1 0 a 1\nq1 0 a 0\n")
    (files / "empty").touch()
    (files / "blank").write_text("q1 0 a 1\n \nq1 0 b 0\n")
    assert run(arguments.split()) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_rbp_divides_by_the_highest_grade_however_high(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "qrels").write_text("q1 0 a 1000\nq1 0 b 2000\n")
    assert run(["--compat", "10", "-m", "rbp", "qrels", "run"]) == 0
    assert capsys.readouterr().out.split() == ["rbp", "all", "0.0500"]


def test_comments_of_runs_may_be_indented_in_version_10(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "run").write_text(f" \t# a comment\n{RUN}")
    assert run(["--compat", "10", "-c", "-m", "num_ret", "qrels", "run"]) == 0
    assert capsys.readouterr().out.split() == ["num_ret", "all", "3"]


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-h"]) == 0
    assert "Usage: rankgauge trec_eval" in capsys.readouterr().out
    assert run(["-v"]) == 0
    assert "as trec_eval version 9.0.8" in capsys.readouterr().err


def test_under_the_name_trec_eval_it_is_that_program(files: Path) -> None:
    program = Path(sys.executable).parent / "rankgauge"
    (files / "trec_eval").symlink_to(program)
    command = [str(files / "trec_eval"), "-m", "map", "qrels", "-"]
    result = subprocess.run(command, input=RUN, capture_output=True, text=True, env=os.environ)
    assert (result.returncode, result.stdout) == (0, "map                   \tall\t0.8333\n")

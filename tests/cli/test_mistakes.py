"""Mistakes that people make at the command line, and what they are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from command_line import Outcome

Call = Callable[..., Outcome]


class Files(NamedTuple):
    qrels: Path
    good: Path
    zeros: Path
    other: Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Judgements of ten topics, two runs on them, and one whose topics are written with a zero."""
    made = Files(*(tmp_path / name for name in ("qrels.txt", "good.run", "zeros.run", "other.run")))
    topics = range(1, 11)
    made.qrels.write_text("".join(f"{t} 0 a 1\n{t} 0 b 0\n" for t in topics))
    made.good.write_text("".join(f"{t} Q0 a 1 2 x\n{t} Q0 b 2 1 x\n" for t in topics))
    made.zeros.write_text("".join(f"0{t} Q0 a 1 2 x\n" for t in topics))
    made.other.write_text("".join(f"{t} Q0 {'ab'[t % 2]} 1 2 x\n" for t in topics))
    return made


# Runs that share no topic with the judgements


def test_a_run_that_shares_no_topic_is_named_and_the_others_go_on(
    rankgauge: Call, files: Files
) -> None:
    code, out, err = rankgauge("evaluate", files.qrels, files.good, files.zeros, "-m", "AP")
    assert code == 3
    assert [line.split("\t")[0] for line in out.splitlines()] == ["run", "good"]
    assert f"{files.zeros}: none of its topics is judged." in err
    assert "topic '01' is probably '1' there (leading zeros)" in err
    assert "1 run of 2 not evaluated" in err


@pytest.mark.parametrize("command", ["evaluate", "compare", "assess", "queries"])
def test_no_run_with_a_judged_topic_is_nothing_to_show(
    rankgauge: Call, files: Files, command: str
) -> None:
    code, out, err = rankgauge(command, files.qrels, files.zeros)
    assert (code, out) == (2, "")
    assert "none of its topics is judged" in err


def test_distance_refuses_a_run_without_a_judged_topic(rankgauge: Call, files: Files) -> None:
    asked = ("distance", "--qrels", files.qrels, "-m", "P@1", files.good, files.zeros)
    code, out, err = rankgauge(*asked)
    assert (code, out) == (2, "")
    assert "none of its topics is judged" in err
    code, out, err = rankgauge(*asked, files.other)
    assert code == 3
    assert "zeros\t" not in out
    assert "1 run of 3 not read" in err


def test_a_warning_is_the_first_line_of_standard_error(rankgauge: Call, files: Files) -> None:
    files.good.write_text("".join(f"{t} Q0 A{t} 1 2 x\n" for t in range(1, 12)))
    code, _, err = rankgauge("evaluate", files.qrels, files.good, "-m", "AP")
    assert code == 0
    assert err.startswith("WARNING: good: no document of the run is judged (")
    assert "note: good: topics without judgements, not scored: 1" in err

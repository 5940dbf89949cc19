"""Measures on the command line: lists of cut-offs, other tools' names, and what a mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Call, records


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Judgments of two queries, and a run."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    run.write_text("1 Q0 b 1 2.0 x\n1 Q0 a 2 1.0 x\n2 Q0 c 1 1.0 x\n")
    return qrels, run


def test_a_list_of_cutoffs_is_several_measures(
    rankgauge: Call, files: tuple[Path, Path], tmp_path: Path
) -> None:
    saved = tmp_path / "scores.json"
    found = rankgauge("evaluate", *files, "-m", "ndcg@1,2", "-m", "mrr", "--save", saved)
    assert found.code == 0
    assert list(records(found.out)[0])[-3:] == ["nDCG@1", "nDCG@2", "RR"]
    other = tmp_path / "other"
    other.write_text("1 Q0 a 1 2.0 y\n2 Q0 d 1 1.0 y\n")
    apart = rankgauge("distance", *files, other, "-m", "P@1,2")
    assert {row["measure"] for row in records(apart.out)} == {"P@1", "P@2"}
    rankgauge("evaluate", *files, other, "-m", "ndcg@1,2", "-m", "mrr", "--save", saved)
    chosen = rankgauge("compare", "--scores", saved, "-m", "ndcg@1,2")
    assert {row["measure"] for row in records(chosen.out)} == {"nDCG@1", "nDCG@2"}


def test_a_comma_between_measures_says_to_repeat_the_option(
    rankgauge: Call, files: tuple[Path, Path]
) -> None:
    wrong = rankgauge("evaluate", *files, "-m", "nDCG@10,AP")
    assert wrong.code == 2
    assert "-m nDCG@10 -m AP" in wrong.err


def test_counts_say_that_they_are_means_in_two_notes_at_most(
    rankgauge: Call, files: tuple[Path, Path], tmp_path: Path
) -> None:
    qrels, run = files
    more = []
    for number in range(8):
        more.append(tmp_path / f"run{number}")
        more[-1].write_text(run.read_text())
    counts = ("num_rel", "num_ret", "num_rel_ret", "num_nonrel_judged_ret")
    options = [word for name in counts for word in ("-m", name)]
    found = rankgauge("evaluate", qrels, *more, *options)
    notes = [line for line in found.err.splitlines() if "mean over queries" in line]
    assert notes == [
        "note: NumRel: the mean over queries; the sum over all queries, which trec_eval prints, is 2",
        "note: NumRet, NumRelRet, NumNonRelRet: the mean over queries; trec_eval prints the sum, "
        "which is the mean times the number of queries",
    ]


def test_a_measure_is_explained_with_its_other_names(rankgauge: Call) -> None:
    shown = " ".join(rankgauge("measures", "hit_rate").out.split())
    assert shown.startswith("Success")
    assert "hit_rate (ranx)" in shown
    assert "success_10 (trec_eval)" in shown
    listed = rankgauge("measures").out
    assert "hit_rate, hitrate" in listed
    unknown = rankgauge("measures", "sucess")
    assert unknown.code == 2
    assert "did you mean Success?" in unknown.err
    assert "Success@5" in rankgauge("measures", "hits@5").err

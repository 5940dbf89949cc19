"""rankgauge tune, from files to the table, the figure and the fused run."""

from __future__ import annotations

import json
import re

import pytest

from command_line import assert_refused

QUICK = ("--repeats", 2, "--samples", 20, "--folds", 3)


@pytest.fixture
def files(tmp_path):
    """Judgments and three runs: the first is good on even queries, the second on odd ones."""
    topics = range(1, 7)
    qrels = "".join(f"{t} 0 a 1\n{t} 0 b 0\n{t} 0 c 0\n" for t in topics)
    (tmp_path / "qrels").write_text(qrels)
    for name, order in {
        "lexical": ("abc", "bac"),
        "dense": ("bca", "acb"),
        "third": ("cab", "cab"),
    }.items():
        lines = (
            f"{t} Q0 {document} {rank} {1 / rank:.3f} {name}\n"
            for t in topics
            for rank, document in enumerate(order[t % 2], 1)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return [tmp_path / name for name in ("qrels", "lexical.run", "dense.run", "third.run")]


def test_a_table_with_the_alternatives_and_advice(rankgauge, files):
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--format", "jsonl")
    assert done.code == 0
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["way"] for row in rows] == [
        "tuned", "lexical", "dense", "equal weights", "rrf", "rrf, k tuned",
    ]  # fmt: skip
    assert rows[1]["difference"] == pytest.approx(rows[0]["mean"] - rows[1]["mean"])
    assert (
        "note: there is no evidence on these queries that fusion helps: on new queries expect"
        in done.err
    )
    assert re.search(r"; if you fuse, take 0\.\d+ for lexical, 0\.\d+ for dense;", done.err)
    assert re.search(r"the best weights score 0.75\d*, the same as in the row tuned", done.err)
    assert "weight 0 of dense scores 0.7500 and the next weights score 0.7500; weight 1" in done.err
    assert "note: rrf, k tuned: on the tuning queries, k = 60 is the best" in done.err
    assert "normalized by min-max; absent=minimum for documents missing from a run" in done.err


def test_the_fused_run_scores_what_is_said(rankgauge, files, tmp_path):
    fused = tmp_path / "fused.run"
    done = rankgauge("tune", *files[:3], "-m", "nDCG@2", *QUICK, "-o", fused)
    (said,) = re.findall(r"used for tuning, the best weights score ([\d.]+\d)", done.err)
    done = rankgauge("evaluate", files[0], fused, "-m", "nDCG@2", "--format", "jsonl")
    assert json.loads(done.out.splitlines()[0])["nDCG@2"] == pytest.approx(float(said), abs=5e-5)


def test_three_runs(rankgauge, files):
    done = rankgauge("tune", *files, "-m", "RR", *QUICK)
    assert done.code == 0
    assert "for lexical" in done.err
    assert "for third" in done.err
    assert "searched from 8 starts" in done.err


def test_the_best_weight_of_each_topic(rankgauge, files):
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--per-query")
    header, *rows = (line.split("\t") for line in done.out.splitlines())
    assert header == ["topic", "low", "high", "best", "tuned"]
    assert [row[0] for row in rows] == list("123456")
    assert all(float(best) >= float(tuned) for *_, best, tuned in rows)


def test_topics_to_test_on_are_read_from_a_file(rankgauge, files, tmp_path):
    topics = tmp_path / "topics"
    topics.write_text("5\n6\n")
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--test-queries", topics)
    assert done.code == 0
    assert "on the 2 test queries; the weights were chosen on the other 4 queries" in done.err
    assert "optimism" not in done.err
    topics.write_text("5\n77\n")
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--test-queries", topics)
    message = "no judgments for query '77', expected a query that has judgments"
    assert (done.code, done.err) == (2, f"{topics}:2: {message}\n")


def test_one_topic_to_test_on(rankgauge, files, tmp_path):
    topics = tmp_path / "topics"
    topics.write_text("5\n")
    done = rankgauge("tune", *files[:3], "-m", "RR", "--test-queries", topics, "--format", "jsonl")
    assert done.code == 0
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert rows[0]["mean"] in (0.5, 1)
    assert {row["p"] for row in rows} == {None}


def test_the_fused_run_has_the_name_that_is_asked_for(rankgauge, files, tmp_path):
    fused = tmp_path / "fused.run"
    rankgauge("tune", *files[:3], *QUICK, "-o", fused, "--tag", "hybrid")
    assert {line.split()[-1] for line in fused.read_text().splitlines()} == {"hybrid"}


def test_a_measure_of_subtopics_is_refused_before_anything_is_scored(rankgauge, files):
    assert_refused(
        rankgauge("tune", *files[:3], "-m", "alpha_nDCG@10"),
        "cannot be used for tuning because it uses subtopics",
    )


def test_several_measures_are_refused(rankgauge, files):
    done = rankgauge("tune", *files[:3], "-m", "AP", "-m", "RR", *QUICK)
    assert_refused(done, "AP, RR: expected a single measure to optimize")


def test_one_run_is_not_tuned(rankgauge, files):
    assert_refused(rankgauge("tune", *files[:2], *QUICK), "one run alone")


@pytest.mark.parametrize("command", ["fuse", "tune"])
def test_no_run_that_is_read_is_overwritten(rankgauge, files, command):
    before = files[1].read_bytes()
    judged = files[:1] if command == "tune" else []
    assert_refused(
        rankgauge(command, *judged, files[1], files[2], "-o", files[1]),
        "is one of the input runs, expected another file",
    )
    assert files[1].read_bytes() == before


def test_the_table_has_standard_output(rankgauge, files):
    assert_refused(rankgauge("tune", *files[:3], "-o", "-"), "the table goes to standard output")

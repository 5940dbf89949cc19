"""rankgauge tune, from files to the table, the figure and the fused run."""

from __future__ import annotations

import json
import re

import pytest

QUICK = ("--repeats", 2, "--samples", 20, "--folds", 3)


@pytest.fixture
def files(tmp_path):
    """Judgements and three runs: the first is good on even topics, the second on odd ones."""
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
    assert re.search(r"note: take 0\.\d+ for lexical, 0\.\d+ for dense; anything from", done.err)
    assert "of it is optimism" in done.err
    assert "documents that a run lacks are tied there" in done.err


def test_the_fused_run_scores_what_is_said(rankgauge, files, tmp_path):
    fused = tmp_path / "fused.run"
    done = rankgauge("tune", *files[:3], "-m", "nDCG@2", *QUICK, "-o", fused)
    (said,) = re.findall(r"score ([\d.]+) on the topics they were chosen on", done.err)
    done = rankgauge("evaluate", files[0], fused, "-m", "nDCG@2", "--format", "jsonl")
    assert json.loads(done.out.splitlines()[0])["nDCG@2"] == pytest.approx(float(said), abs=5e-5)


def test_three_runs(rankgauge, files):
    done = rankgauge("tune", *files, "-m", "RR", *QUICK)
    assert done.code == 0
    assert "for lexical" in done.err
    assert "for third" in done.err


def test_the_best_weight_of_each_topic(rankgauge, files):
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--per-topic")
    assert done.out.splitlines()[0] == "topic\tweight"
    assert len(done.out.splitlines()) == 7


def test_topics_to_test_on_are_read_from_a_file(rankgauge, files, tmp_path):
    topics = tmp_path / "topics"
    topics.write_text("5\n6\n")
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--test-topics", topics)
    assert done.code == 0
    assert "chosen without the topic: on the test topics" in done.err
    topics.write_text("77\n")
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--test-topics", topics)
    assert (done.code, done.err) == (2, "test topic '77' is not judged; leave it out\n")


def test_a_figure(rankgauge, files, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "weight.svg"
    done = rankgauge("tune", *files[:3], "-m", "RR", *QUICK, "--plot", figure)
    assert done.code == 0
    assert figure.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ((0, 1), "one run alone"),
        ((1, 0, 2), "wrong way round"),
    ],
)
def test_what_does_not_go_together_is_refused(rankgauge, files, changed, message):
    done = rankgauge("tune", *(files[place] for place in changed), *QUICK)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("command", ["fuse", "tune"])
def test_no_run_that_is_read_is_overwritten(rankgauge, files, command):
    before = files[1].read_bytes()
    judged = files[:1] if command == "tune" else []
    done = rankgauge(command, *judged, files[1], files[2], "-o", files[1])
    assert done.code == 2
    assert "is a run that is read, expected another file" in done.err
    assert files[1].read_bytes() == before


def test_the_table_has_standard_output(rankgauge, files):
    done = rankgauge("tune", *files[:3], "-o", "-")
    assert done.code == 2
    assert "standard output has the table" in done.err

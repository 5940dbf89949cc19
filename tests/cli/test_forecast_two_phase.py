"""The command `rankgauge forecast two-phase`, as a user of a shell meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rankgauge as rg
from command_line import Call, assert_refused, records
from rankgauge.forecast import choose_queries, plan

TOPICS = [f"q{number}" for number in range(12)]
DEEP = TOPICS[:5]


class Files(NamedTuple):
    folder: Path
    shallow: Path
    deep: Path
    runs: Path

    def asked(self, *more: object) -> tuple[object, ...]:
        return "forecast", "two-phase", "--shallow", self.shallow, "--deep", self.deep, *more


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Four runs of 12 queries, 30 documents each; grades up to 2 in the pool of the first 3 documents,
    and up to 3 in the deep judgments of five queries."""
    random = np.random.default_rng(4)
    found = Files(tmp_path, tmp_path / "q3.txt", tmp_path / "q30.txt", tmp_path / "runs")
    found.runs.mkdir()
    pool: dict[str, set[int]] = {topic: set() for topic in TOPICS}
    grades = {topic: random.choice([0, 0, 0, 1, 2], 40).tolist() for topic in TOPICS}
    for number in range(4):
        lines = []
        for topic in TOPICS:
            merit = np.array(grades[topic]) + random.normal(0, 0.6 + 0.4 * number, 40)
            order = np.argsort(-merit)[:30].tolist()
            pool[topic] |= set(order[:3])
            lines += [
                f"{topic} Q0 d{document} {rank} {100 - rank} r{number}\n"
                for rank, document in enumerate(order, 1)
            ]
        (found.runs / f"r{number}.run").write_text("".join(lines))
    found.shallow.write_text(
        "".join(
            f"{topic} 0 d{document} {grades[topic][document]}\n"
            for topic in TOPICS
            for document in sorted(pool[topic])
        )
    )
    found.deep.write_text(
        "".join(
            f"{topic} 0 d{document} {3 if document == 39 else grade}\n"
            for topic in DEEP
            for document, grade in enumerate(grades[topic])
        )
    )
    return found


def scores(files: Files, measure: str = "nDCG@20") -> list[rg.Scores]:
    runs = sorted(files.runs.iterdir())
    return [rg.evaluate(qrels, runs, measure, max_grade=3) for qrels in (files.shallow, files.deep)]


def test_it_prints_the_estimate_of_the_library(rankgauge: Call, files: Files) -> None:
    code, out, err = rankgauge(*files.asked(files.runs, "-m", "nDCG@20"))
    assert code == 0
    expected = rg.two_phase(*scores(files))
    rows = records(out)
    assert [row["run"] for row in rows] == [expected.runs[run] for run in expected.ranking]
    for name in ("mean", "low", "high", "deep_mean", "shallow_mean"):
        column = name if name in rows[0] else name.removesuffix("_mean")
        values = [float(row[column]) for row in rows]
        assert values == getattr(expected, name)[expected.ranking].tolist()
    assert "95% interval for the deep mean over these 12 queries, not over new queries" in err
    assert "queries without judgments" not in err
    assert "highest grade" not in err


def test_the_highest_grade_is_the_same_for_both(rankgauge: Call, files: Files) -> None:
    _, out, _ = rankgauge(*files.asked(files.runs, "-m", "ERR@20"))
    expected = rg.two_phase(*scores(files, "ERR@20"))
    assert [float(row["mean"]) for row in records(out)] == expected.mean[expected.ranking].tolist()
    _, out, _ = rankgauge(*files.asked(files.runs, "-m", "ERR@20", "--max-grade", 5))
    assert float(records(out)[0]["mean"]) < expected.mean.max()


def test_several_measures_are_estimated_one_by_one(rankgauge: Call, files: Files) -> None:
    code, out, _ = rankgauge(*files.asked(files.runs, "-m", "nDCG@20,30", "--format", "jsonl"))
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["measure"] for row in rows] == ["nDCG@20"] * 4 + ["nDCG@30"] * 4


def test_pairs_say_what_is_separable(rankgauge: Call, files: Files) -> None:
    _, out, _ = rankgauge(*files.asked(files.runs, "-m", "nDCG@20", "--pairs"))
    expected = rg.two_phase(*scores(files))
    assert [row["separable"] for row in records(out)] == [
        "yes" if one else "no" for one in expected.separable
    ]


def test_deep_topics_may_be_named(rankgauge: Call, files: Files) -> None:
    named = files.folder / "topics.txt"
    named.write_text("q0\nq3\nq4\n")
    _, out, err = rankgauge(*files.asked(files.runs, "-m", "nDCG@20", "--deep-queries", named))
    expected = rg.two_phase(*scores(files), queries=["q0", "q3", "q4"])
    assert float(records(out)[0]["mean"]) == expected.mean.max()
    assert "the 3 deep queries" in err
    named.write_text("q0\nq9\n")
    assert_refused(
        rankgauge(*files.asked(files.runs, "--deep-queries", named)),
        "topics.txt:2: no deep judgments for query 'q9'",
    )


def test_a_plan_is_printed(rankgauge: Call, files: Files) -> None:
    code, out, err = rankgauge(*files.asked(files.runs, "-m", "nDCG@20", "--plan", 0.2))
    assert code == 0
    both = scores(files)
    expected = plan(both[0], both[1], 0.2)
    enough = [int(row["deep_topics"]) for row in records(out) if row["enough"] == "yes"]
    assert min(enough) == expected.needed
    assert f"judge {expected.needed} queries deeply" in err
    assert f"{expected.more} more than the 5 that you have" in err
    assert "from a pilot of 5 queries" in err


def test_topics_are_chosen_from_the_shallow_judgments(rankgauge: Call, files: Files) -> None:
    asked = ("forecast", "two-phase", "--shallow", files.shallow, "--choose", 4, "--seed", 9)
    code, out, _ = rankgauge(*asked)
    assert code == 0
    assert tuple(out.splitlines()) == choose_queries(rg.read_qrels(files.shallow), 4, 9)
    written = files.folder / "chosen.txt"
    rankgauge(*asked, "-o", written)
    assert written.read_text() == out
    assert_refused(
        rankgauge(*asked[:4], "--choose", 13), "q3.txt has only 12 queries; choose at most 12"
    )
    more = set(rankgauge(*asked[:4], "--choose", 8, "--deep-queries", written).out.splitlines())
    assert more == set(TOPICS) - set(out.splitlines())
    code, _, err = rankgauge(*asked[:4], "--choose", 9, "--deep-queries", written)
    assert code == 2
    assert "only 8 queries without the 4 in" in err
    assert "choose at most 8" in err


def test_options_that_do_not_go_together_are_refused(rankgauge: Call, files: Files) -> None:
    start = ("forecast", "two-phase", "--shallow", files.shallow)
    for asked, message in (
        ((*start, files.runs), "--deep QRELS is missing; only --choose works without it"),
        (files.asked(), "RUN... is missing; only --choose works without it"),
        (files.asked("--choose", 2), "--choose needs only --shallow; leave out --deep"),
        ((*start, "--choose", 2, files.runs), "leave out RUN"),
        ((*start, "--choose", 2, "--format", "csv"), "omit --format"),
        (files.asked(files.runs, "--plan", 0.1, "--pairs"), "--plan prints a plan"),
        (files.asked(files.runs, "--plan", 0), "0"),
        (files.asked("-"), "can be read only once"),
        (
            files.asked(files.runs, "-m", "nDCG@5,10", "--plot", files.folder / "f.svg"),
            "--plot with several measures, expected one",
        ),
    ):
        assert_refused(rankgauge(*asked), message)


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_estimated(
    rankgauge: Call, files: Files
) -> None:
    (files.runs / "bad.run").write_text("q0 Q0 d1 1 one bad\n")
    (files.runs / "late.run").write_text("q11 Q0 d1 1 1.0 late\n")  # no deep query
    code, out, err = rankgauge(*files.asked(files.runs, "-m", "nDCG@20"))
    assert code == 3
    assert len(records(out)) == 4
    assert "bad.run" in err
    assert "late" in err
    assert "2 runs of 6 not evaluated" in err


def test_a_deep_topic_without_shallow_judgments_is_named(rankgauge: Call, files: Files) -> None:
    with files.deep.open("a") as stream:
        stream.write("new 0 d1 1\n")
    assert_refused(rankgauge(*files.asked(files.runs)), "no shallow scores for query 'new'")


def test_deep_judgments_that_lack_the_shallow_ones_are_refused(
    rankgauge: Call, files: Files
) -> None:
    """Those of the second phase alone."""
    lines = [line.split() for line in files.deep.read_text().splitlines()]
    shallow = {tuple(line.split()[:3:2]) for line in files.shallow.read_text().splitlines()}
    rest = [" ".join(line) for line in lines if (line[0], line[2]) not in shallow]
    files.deep.write_text("\n".join(rest) + "\n")
    assert_refused(
        rankgauge(*files.asked(files.runs)),
        "The deep judgments of a query must include its shallow ones",
    )

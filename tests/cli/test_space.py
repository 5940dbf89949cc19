"""rankgauge space, from files to tables and figures, held against fused runs and rankings by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from command_line import Call, assert_refused, records
from rankgauge import read_letor
from rankgauge.measures.grammar import parse
from rankgauge.rankings.lists import Rankings

TOPICS, DOCUMENTS = 5, 7


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Judgments and three runs of five queries; the runs lack some documents and queries."""
    random = np.random.default_rng(4)
    names = [f"d{number}" for number in range(DOCUMENTS)]
    qrels = "".join(
        f"{topic} 0 {name} {random.integers(0, 3)}\n" for topic in range(TOPICS) for name in names
    )
    (tmp_path / "qrels").write_text(qrels)
    files = [tmp_path / "qrels"]
    for run in "abc":
        lines = []
        for topic in range(TOPICS):
            if (run, topic) == ("c", 3):
                continue
            for name in random.permutation(names)[:5]:
                lines.append(f"{topic} Q0 {name} 0 {random.integers(1, 999)} {run}\n")
        (tmp_path / f"{run}.run").write_text("".join(lines))
        files.append(tmp_path / f"{run}.run")
    return files


@pytest.fixture
def letor(tmp_path: Path) -> Path:
    """Four queries with five documents each and four features."""
    random = np.random.default_rng(6)
    lines = []
    for query in range(4):
        for document in range(5):
            values = " ".join(f"{n}:{random.integers(0, 999) / 1000}" for n in range(1, 5))
            label = random.integers(0, 3)
            lines.append(f"{label} qid:q{query} {values} # docid = d{document}\n")
    file = tmp_path / "letor.txt"
    file.write_text("".join(lines))
    return file


def by_hand(file: Path, weights: dict[int, float], measure: str) -> float:
    """The mean of a measure with these weights, each query ranked by NumPy."""
    features = read_letor(file)
    full = np.zeros(features.values.shape[1])
    for number, weight in weights.items():
        full[number - 1] = weight
    scores = features.values.astype(np.float64) @ full
    lists = []
    for low, high in zip(features.bounds[:-1].tolist(), features.bounds[1:].tolist(), strict=True):
        lists.append(features.labels[low:high][np.argsort(-scores[low:high])])
    found = parse(measure)
    return float(np.mean(found.score_each(Rankings.of(*lists))))  # type: ignore[union-attr]


def evaluated(rankgauge: Call, files: list[Path], weights: list[float], measure: str) -> float:
    """What `rankgauge evaluate` says of the run that `rankgauge fuse` writes."""
    fused = files[0].parent / "fused.run"
    given = ",".join(map(repr, weights))
    asked = ("--method", "wsum", "--weight", given, "-o", fused)
    assert rankgauge("fuse", *files[1:], *asked).code == 0
    done = rankgauge("evaluate", files[0], fused, "-m", measure, "--precision", "double")
    return float(records(done.out)[0][measure])


def numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(", ")]


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "RR"])
def test_every_step_of_a_curve_is_what_the_fused_run_scores(
    rankgauge: Call, runs: list[Path], measure: str
) -> None:
    asked = ("space", "curve", "--qrels", *runs[:3], "-m", measure)
    steps = records(rankgauge(*asked, "--show", "steps").out)
    assert len(steps) > 1
    for step in steps:
        low, high = float(step["low"]), float(step["high"])
        weight = (low + high) / 2
        expected = evaluated(rankgauge, runs[:3], [1 - weight, weight], measure)
        assert float(step["mean"]) == pytest.approx(expected)
    (row,) = records(rankgauge(*asked).out)
    assert float(row["best"]) == max(float(step["mean"]) for step in steps)
    assert evaluated(rankgauge, runs[:3], numbers(row["at"]), measure) == pytest.approx(
        float(row["best"])
    )
    assert int(row["breaks"]) == len(steps) - 1
    optima = records(rankgauge(*asked, "--show", "optima").out)
    assert len(optima) == int(row["optima"])
    assert max(float(each["mean"]) for each in optima) == float(row["best"])


def test_a_curve_over_one_feature_is_what_numpy_ranks(rankgauge: Call, letor: Path) -> None:
    asked = ("space", "curve", letor, "--parameter", 2, "--fixed", "1=1,4=-0.5", "-m", "nDCG@3")
    steps = records(rankgauge(*asked, "--low", -1, "--high", 3, "--show", "steps").out)
    assert (float(steps[0]["low"]), float(steps[-1]["high"])) == (-1, 3)
    for step in steps:
        middle = (float(step["low"]) + float(step["high"])) / 2
        expected = by_hand(letor, {1: 1, 2: middle, 4: -0.5}, "nDCG@3")
        assert float(step["mean"]) == pytest.approx(expected)


def test_flips_are_listed_and_summed_up(rankgauge: Call, runs: list[Path]) -> None:
    asked = ("space", "flips", "--qrels", *runs[:3], "-m", "AP", "-m", "P@2", "-m", "nDCG@3")
    each = records(rankgauge(*asked, "--show", "flips").out)
    by_measure = {row["measure"]: row for row in records(rankgauge(*asked).out)}
    by_rank = {row["rank"]: row for row in records(rankgauge(*asked, "--show", "ranks").out)}
    assert by_measure["P@2"]["ranks"] == "2"
    assert by_measure["nDCG@3"]["ranks"] == "1-3"
    for name, row in by_measure.items():
        seen = [flip for flip in each if abs(float(flip[name])) > 1e-12]
        for kind in ("good", "bad", "neutral"):
            assert int(row[kind]) == sum(flip["flip"] == kind for flip in seen)
        decisive = [flip for flip in each if flip["flip"] != "neutral"]
        assert float(row["share"]) == pytest.approx(len(seen) / len(decisive))
        total = float(row["start"]) + sum(float(flip[f"mean {name}"]) for flip in each)
        assert total == pytest.approx(float(row["end"]))
    assert sum(int(row["good"]) for row in by_rank.values()) == sum(
        flip["flip"] == "good" for flip in each
    )
    assert evaluated(rankgauge, runs[:3], [1, 0], "AP") == pytest.approx(
        float(by_measure["AP"]["start"])
    )


def test_a_path_through_points(rankgauge: Call, runs: list[Path]) -> None:
    path = ("--point", "1,0,0", "--point", "0.2,0.5,0.3", "--point", "0,0,1")
    done = rankgauge("space", "curve", "--qrels", *runs, "-m", "AP", *path)
    rows = records(done.out)
    assert [row["piece"] for row in rows] == ["1", "2"]
    assert rows[0]["end"] == rows[1]["start"]
    assert float(rows[0]["end"]) == pytest.approx(evaluated(rankgauge, runs, [0.2, 0.5, 0.3], "AP"))
    assert "piece 1: position goes from 0 to 1, the weights go from 1, 0, 0 to" in done.err


def test_the_best_weights_of_a_plane_have_the_value_that_is_said(
    rankgauge: Call, runs: list[Path]
) -> None:
    asked = ("space", "plane", "--qrels", *runs, "-m", "AP", "-m", "nDCG@3")
    for row in records(rankgauge(*asked).out):
        weights = numbers(row["at"])
        assert sum(weights) == pytest.approx(1)
        expected = evaluated(rankgauge, runs, weights, row["measure"])
        assert float(row["inside"]) == pytest.approx(expected)
    cells = records(rankgauge(*asked, "--show", "cells").out)
    inside = [cell for cell in cells if min(numbers(cell["at"])) >= 0]
    assert len(inside) > 10
    for cell in inside[:: len(inside) // 10]:
        expected = evaluated(rankgauge, runs, numbers(cell["at"]), "AP")
        assert float(cell["AP"]) == pytest.approx(expected)
    optima = records(rankgauge(*asked, "--show", "optima").out)
    assert {each["optimum"] for each in optima} <= {"best", "local"}
    assert records(rankgauge(*asked, "--show", "vertices").out)


def test_a_plane_of_two_features(rankgauge: Call, letor: Path) -> None:
    asked = ("space", "plane", letor, "--parameter", 1, "--parameter", 3, "--fixed", "2=1")
    (row,) = records(rankgauge(*asked, "-m", "AP").out)
    x, y = numbers(row["at"])
    assert float(row["inside"]) == pytest.approx(by_hand(letor, {1: x, 2: 1, 3: y}, "AP"))
    across = records(rankgauge(*asked, "-m", "AP", "--across", "trajectories").out)
    assert int(across[0]["optima"]) <= int(row["optima"])
    done = rankgauge(*asked, "-m", "AP", "--neutral", "--queries", 2, "--depth", 3)
    assert "2 queries, 6 documents, " in done.err


def test_measures_that_notice_the_same_flips_share_their_optima(
    rankgauge: Call, letor: Path
) -> None:
    """Theorem 1 for AP, nDCG of binary gains and GMAP; P@2 notices fewer flips and has other optima."""
    binary = "nDCG(gain={1:1,2:1})"
    measures = [word for name in ("AP", binary, "gm(AP)", "P@2") for word in ("-m", name)]
    asked = ("--parameter", 1, "--parameter", 3, "--fixed", "2=1", *measures)
    rows = {row["measure"]: row for row in records(rankgauge("space", "plane", letor, *asked).out)}
    assert len({rows[name]["optima"] for name in ("AP", binary, "gm(AP)")}) == 1
    for name in ("AP", binary, "gm(AP)"):
        assert rows[name]["shared"] == rows[name]["optima"]
    assert int(rows["P@2"]["shared"]) < int(rows["AP"]["optima"])


def test_a_grid_beside_the_exact_best(rankgauge: Call, runs: list[Path], letor: Path) -> None:
    (row,) = records(rankgauge("space", "grid", "--qrels", *runs[:3], "-m", "AP").out)
    curve = records(rankgauge("space", "curve", "--qrels", *runs[:3], "-m", "AP").out)
    assert float(row["lines"]) == pytest.approx(float(curve[0]["best"]))
    weight = float(row["at"])
    expected = evaluated(rankgauge, runs[:3], [1 - weight, weight], "AP")
    assert float(row["grid"]) == pytest.approx(expected)
    asked = ("--parameter", 1, "--parameter", 3, "--fixed", "2=1", "--points", 4, "-m", "AP")
    (row,) = records(rankgauge("space", "grid", letor, *asked).out)
    first, third = numbers(row["lines at"])
    assert float(row["lines"]) == pytest.approx(by_hand(letor, {1: first, 2: 1, 3: third}, "AP"))


def test_optima_say_how_often_each_was_found(
    rankgauge: Call, runs: list[Path], letor: Path
) -> None:
    asked = ("--restarts", 4, "-m", "nDCG@3", "--format", "jsonl")
    done = rankgauge(
        "space", "optima", letor, "--parameter", 1, "--parameter", 3, "--fixed", "2=1", *asked
    )
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert sum(row["found"] for row in rows) == 4
    for row in rows:
        expected = by_hand(letor, {1: row["weight 1"], 2: 1, 3: row["weight 3"]}, "nDCG@3")
        assert row["value"] == pytest.approx(expected)
    done = rankgauge("space", "optima", "--qrels", *runs, *asked)
    assert list(json.loads(done.out.splitlines()[0])) == [
        "value", "found", "weight of a", "weight of b", "weight of c",
    ]  # fmt: skip
    every = rankgauge("space", "optima", letor, *asked)
    assert "weight 4" in every.out


def test_jitter_moves_flips_apart(rankgauge: Call, tmp_path: Path) -> None:
    file = tmp_path / "twins.txt"
    file.write_text("0 qid:1 1:1 2:0\n0 qid:1 1:1 2:0\n1 qid:1 1:0 2:1\n")
    asked = ("space", "flips", file, "--parameter", 1, "--parameter", 2, "--show", "flips")
    together = {row["position"] for row in records(rankgauge(*asked).out)}
    apart = {row["position"] for row in records(rankgauge(*asked, "--jitter", 1e-6).out)}
    assert (len(together), len(apart)) == (1, 2)


def test_queries_are_chosen(rankgauge: Call, letor: Path) -> None:
    asked = ("space", "curve", letor, "--parameter", 1, "--parameter", 2)
    one = rankgauge(*asked, "--query", "q2", "--query", "q0")
    assert "2 queries, 10 documents" in one.err
    some = rankgauge(*asked, "--queries", 3)
    assert "3 queries, 15 documents" in some.err
    assert rankgauge(*asked, "--queries", 3).out == some.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("curve", "letor", "--parameter", 1), "weight 1 alone: all positive weights give the same"),
        (("curve", "letor", "--parameter", 9, "--fixed", "1=1"), "parameter=9, expected a whole number"),
        (("curve", "letor", "--fixed", "x=1"), "'x=1', expected FEATURE=WEIGHT, such as 5=0.3"),
        (("curve", "letor", "--fixed", "1=1", "--fixed", "1=2"), "feature 1 twice"),
        (("curve", "letor", "--fixed", "1=inf", "--parameter", 2), "weight of feature 1=inf"),
        (("curve", "letor", "--normalize", "z"), "--normalize is for runs, which need --qrels"),
        (("curve", "letor", "--query", "q1", "--queries", 2), "--query and --queries cannot be used"),
        (("curve", "letor", "--query", "q77"), "no query 'q77'; there are 4 queries"),
        (("curve", "letor", "--queries", 9), "number=9"),
        (("curve", "letor", "--point", "1,x", "--point", "0,1"), "expected numbers such as 0.4,0.6"),
        (("curve", "letor", "--parameter", 1, "--parameter", 2, "--point", "1"), "expected 2 numbers"),
        (("curve", "letor", "--low", 0), "--low is for one parameter without --point"),
        (("plane", "letor"), "4 parameters and nothing fixed: a plane needs two parameters"),
        (("grid", "letor", "--fixed", "1=1", "--points", 1), "1 is not in the range"),
        (("optima", "letor", "-m", "AP", "-m", "RR"), "expected a single measure to optimize"),
        (("flips", "nowhere.txt"), "nowhere.txt"),
        (("curve", "qrels", "a", "b"), "if these files are runs, give the judgments with --qrels"),
        (("curve", "--qrels", "qrels", "a", "b", "--parameter", 1), "--parameter is for LETOR files"),
        (("curve", "--qrels", "qrels", "a"), "one run alone"),
        (("curve", "--qrels", "qrels", "a", "b", "--query", "77"), "query '77' is not judged"),
        (("plane", "--qrels", "qrels", "a", "b"), "2 parameters and nothing fixed"),
        (("curve", "--qrels", "qrels", "letor", "b"), "letor"),
    ],
)  # fmt: skip
def test_mistakes(
    rankgauge: Call, runs: list[Path], letor: Path, arguments: tuple[object, ...], message: str
) -> None:
    known = dict(zip(("qrels", "a", "b", "c"), runs, strict=True)) | {"letor": letor}
    assert_refused(rankgauge("space", *(known.get(str(word), word) for word in arguments)), message)


def test_lines_that_are_dropped_are_counted(rankgauge: Call, letor: Path) -> None:
    with letor.open("a") as stream:
        stream.write("nonsense\n")
    asked = ("space", "curve", letor, "--parameter", 1, "--parameter", 2)
    assert rankgauge(*asked).code == 2
    done = rankgauge(*asked, "--lenient")
    assert done.code == 0
    assert "1 line dropped" in done.err


def test_the_pair_of_dl_2021_has_the_best_weight_of_tune(
    rankgauge: Call, real_data: Callable[[str], Path]
) -> None:
    qrels = real_data("qrels/qrels.dl21-passage.txt.gz")
    pair = [real_data(f"trec-dl21/runs/{name}.run.gz") for name in ("p_bm25", "TUW_TAS-B_768")]
    (row,) = records(rankgauge("space", "curve", "--qrels", qrels, *pair).out)
    assert float(row["best"]) == pytest.approx(0.607, abs=5e-4)
    assert float(row["low"]) == pytest.approx(0.601, abs=5e-4)

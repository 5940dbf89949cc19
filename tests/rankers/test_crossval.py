"""Cross-validation: each fold is scored on its own test queries, and work goes on after a kill."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from rankgauge.data.errors import RankgaugeError
from rankgauge.rankers import LogisticRegression
from rankgauge.rankers.crossval import (
    RANDOM,
    SINGLE,
    best_feature,
    cross_validate,
    cross_validation,
)

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

METHODS = ["logisticregression", "lambdamart"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Five parts of eight queries; labels follow the second of three features, with noise."""
    made = tmp_path_factory.mktemp("letor")
    generator = np.random.default_rng(5)
    for part in range(1, 6):
        lines = []
        for query in range(8):
            for number in range(10):
                values = generator.random(3)
                label = int(np.clip(3 * values[1] + 0.5 * generator.standard_normal(), 0, 2))
                text = " ".join(f"{n}:{value:.4f}" for n, value in enumerate(values, 1))
                lines.append(f"{label} qid:{part}{query} {text} # docid = {part}-{query}-{number}")
        (made / f"S{part}.txt").write_text("\n".join(lines) + "\n")
    return made


def contents(folder: Path) -> dict[str, bytes]:
    """All files but those about time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "times.json"
    }


def test_every_query_is_scored_by_the_ranker_that_did_not_see_it(folder):
    folds = rg.read_folds(folder)
    scores = cross_validate(folds, METHODS[:1], ["nDCG@5"])
    assert scores.runs == ("LogisticRegression", SINGLE)
    assert len(scores.queries) == 40
    for fold in folds:
        ranker = LogisticRegression().fit(fold.train, fold.validation)
        alone = rg.Evaluator(fold.test.judgments, "nDCG@5").score_features(
            fold.test, ranker.predict(fold.test)
        )
        own = scores.select(queries=alone.queries)
        assert own.values[0].tolist() == alone.values[0].tolist()


def test_what_stands_beside_the_test_means(folder):
    folds = rg.read_folds(folder)
    found = cross_validation(folds, METHODS[:1], ["nDCG@5", "AP"])
    rows = {row[:2]: row[2:] for row in found.table().rows}
    assert [row[:2] for row in found.table().rows][:3] == [
        ("nDCG@5", "LogisticRegression"),
        ("nDCG@5", SINGLE),
        ("nDCG@5", RANDOM),
    ]
    test, low, high, linear, train, validation = rows["nDCG@5", "LogisticRegression"]
    assert all(0.5 < value <= 1 for value in (test, train, validation))
    assert low < test < high
    assert 0 < linear < test
    judged = rg.Features.joined([fold.test for fold in folds])
    random_order = rg.Evaluator(judged.judgments, "expected(AP)").score_features(
        judged, np.zeros(len(judged.labels))
    )
    (means,) = random_order.mean().values()
    assert rows["AP", RANDOM][0] == pytest.approx(means["expected(AP)"])
    assert rows["AP", RANDOM][3] == 0


def test_a_measure_without_chance_has_none_beside(folder):
    found = cross_validation(rg.read_folds(folder), METHODS[:1], ["gm(AP)"])
    (row,) = [row for row in found.table().rows if row[1] == RANDOM]
    assert np.isnan(row[2])
    assert np.isnan(found.linear).all()


def test_the_best_feature_is_the_one_that_labels_follow(folder):
    train = rg.read_folds(folder)[0].train
    assert best_feature(train, rg.parse("nDCG@5")).column == 1
    turned = rg.Features(train.queries, train.bounds, train.labels, -train.values)
    assert best_feature(turned, rg.parse("nDCG@5")).sign == -1


def test_whoever_does_the_work_the_files_are_the_same(folder, tmp_path):
    folds = rg.read_folds(folder)
    usual = cross_validate(folds, METHODS, ["AP"], output=tmp_path / "one")
    # Not by fork: LightGBM's threads do not survive it.
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        other = cross_validate(folds, METHODS, ["AP"], output=tmp_path / "two", executor=executor)
    assert usual.values.tolist() == other.values.tolist()
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_what_is_finished_is_not_done_again_and_what_is_broken_is(folder, tmp_path, monkeypatch):
    folds = rg.read_folds(folder)
    cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path)
    before = contents(tmp_path)
    fitted = []
    learn = LogisticRegression.learn

    def counted(self, *arguments):
        fitted.append(1)
        return learn(self, *arguments)

    monkeypatch.setattr(LogisticRegression, "learn", counted)
    cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path)
    assert not fitted
    (tmp_path / "fold-2" / "LogisticRegression.json").write_text("{")
    (tmp_path / "fold-3" / "LogisticRegression.run").write_text("1 Q0\n")
    cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path)
    assert len(fitted) == 2
    assert contents(tmp_path) == before


def test_another_cross_validation_does_not_go_into_the_same_folder(folder, tmp_path):
    folds = rg.read_folds(folder)
    cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path)
    with pytest.raises(RankgaugeError, match="has another cross-validation"):
        cross_validate(folds, METHODS[:1], ["nDCG@5"], output=tmp_path)


def test_two_rankers_of_one_kind_have_names_of_their_own(folder):
    folds = rg.read_folds(folder)
    rankers = [LogisticRegression(), LogisticRegression(normalize="none")]
    scores = cross_validate(folds, rankers, ["AP"])
    assert scores.runs == ("LogisticRegression", "LogisticRegression 2", SINGLE)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(folder, tmp_path):
    def command(output: Path) -> list[str]:
        options = ["--method", "logisticregression", "-m", "AP", "-o", str(output)]
        return [sys.executable, "-m", "rankgauge", "ltr", "crossval", str(folder), *options]

    start = time.perf_counter()
    subprocess.run(command(tmp_path / "whole"), check=True, capture_output=True)
    takes = time.perf_counter() - start
    generator = random.Random(3)
    for _ in range(3):
        process = subprocess.Popen(
            command(tmp_path / "killed"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(takes * (0.4 + 0.6 * generator.random()))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command(tmp_path / "killed"), check=True, capture_output=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_what_rankers_say_about_training_is_said_once_with_the_number_of_folds(folder, tmp_path):
    read = rg.read_folds(folder)
    for _ in range(2):  # the second time from what is finished
        found = cross_validation(read, ["adarank", "lambdamart"], ["AP"], output=tmp_path)
        (note,) = (note for note in found.notes if note.run == "AdaRank")
        assert str(note).startswith("AdaRank: training stalled")
        assert str(note).endswith("(on 5 of 5 folds)")
        assert str(note) in found.table().notes

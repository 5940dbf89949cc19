"""Cross-validation: each fold is scored on its own test queries, and work goes on after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from command_line import called
from profiles import thorough
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.rankers import AdaRank, LambdaMART, LogisticRegression
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.crossval import (
    RANDOM,
    SINGLE,
    cross_validate,
    cross_validation,
)
from rankgauge.rankers.evaluations import best_feature
from rankgauge.rankers.ranking import run_of
from rankgauge.rankers.training_queries import TrainingQueries

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

METHODS = ["logisticregression", "lambdamart"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Five parts of eight queries; labels follow the second of three features, with noise."""
    return write_parts(tmp_path_factory.mktemp("letor"), 5)


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Path:
    """Three such parts, where so many folds show what all show."""
    return write_parts(tmp_path_factory.mktemp("three"), 3)


def write_parts(made: Path, parts: int) -> Path:
    generator = np.random.default_rng(5)
    for part in range(1, parts + 1):
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


def count_scored(folder: Path) -> int:
    """How many folds have their scores."""
    return len(list(folder.glob("fold-*/*.scores")))


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


def test_whoever_does_the_work_the_files_are_the_same(three, tmp_path):
    folds = rg.read_folds(three)
    usual = cross_validate(folds, METHODS, ["AP"], output=tmp_path / "one")
    # Not by fork: LightGBM's threads do not survive it. A server that never trained may be forked.
    context = get_context("forkserver" if hasattr(os, "fork") else "spawn")
    context.set_forkserver_preload(["lightgbm", "sklearn.linear_model"])
    with ProcessPoolExecutor(2, context) as executor:
        other = cross_validate(folds, METHODS, ["AP"], output=tmp_path / "two", executor=executor)
    assert usual.values.tolist() == other.values.tolist()
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_what_is_finished_is_not_done_again_and_what_is_absent_is(three, tmp_path, monkeypatch):
    folds = rg.read_folds(three)
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
    (tmp_path / "fold-2" / "LogisticRegression.json").unlink()
    (tmp_path / "fold-3" / "LogisticRegression.run").unlink()
    cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path)
    assert len(fitted) == 2
    assert contents(tmp_path) == before


def test_another_cross_validation_does_not_go_into_the_same_folder(three, tmp_path):
    folds = rg.read_folds(three)
    cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path)
    with pytest.raises(RankgaugeError, match="contains another cross-validation"):
        cross_validate(folds, METHODS[:1], ["nDCG@5"], output=tmp_path)


def test_two_rankers_of_one_kind_have_names_of_their_own(three):
    folds = rg.read_folds(three)
    rankers = [LogisticRegression(), LogisticRegression(normalize="none")]
    scores = cross_validate(folds, rankers, ["AP"])
    assert scores.runs == ("LogisticRegression", "LogisticRegression 2", SINGLE)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_killed_between_folds_it_goes_on_to_the_same_bytes(three, tmp_path):
    def command(output: Path) -> list[str]:
        options = ["--method", "logisticregression", "-m", "AP", "-o", str(output)]
        return ["ltr", "crossval", str(three), *options]

    assert called(*command(tmp_path / "whole")).code == 0
    for finished in (1, 2) if thorough() else (1,):
        process = subprocess.Popen(
            [sys.executable, "-m", "rankgauge", *command(tmp_path / "killed")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and count_scored(tmp_path / "killed") < finished:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert called(*command(tmp_path / "killed")).code == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    "name",
    [
        *(f"fold-2/LogisticRegression.{ending}" for ending in ("scores", "run", "json")),
        *("protocol.json", "times.json"),
    ],
)
def test_a_damaged_file_is_named_and_removed_it_is_made_anew(three, tmp_path, name):
    folds, output = rg.read_folds(three), tmp_path / "out"

    def run():
        cross_validate(folds, METHODS[:1], ["AP"], output=output)
        return contents(output)

    whole = run()
    for left in (".rankgauge-4567", "fold-2/.rankgauge-0123"):  # by a process that was killed
        (output / left).write_bytes(b"")
    assert run() == whole
    path = output / name
    kept = path.read_bytes()
    for damaged in (kept.replace(b"1", b"2"), kept[: len(kept) // 2], b"{", b""):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="remove") as caught:
            run()
        assert caught.value.source == str(path)
    path.unlink()
    assert run() == whole


def test_a_folder_in_the_place_of_a_file_is_named(folder, tmp_path):
    folds = rg.read_folds(folder)
    for name in ("protocol.json", "times.json", "fold-1/LogisticRegression.run"):
        output = tmp_path / name.replace("/", "-")
        (output / name).mkdir(parents=True)
        with pytest.raises(InputError, match="is a folder, expected a file; remove it") as caught:
            cross_validate(folds, METHODS[:1], ["AP"], output=output)
        assert caught.value.source == str(output / name)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_nothing_is_written_through_links_in_the_output_folder(three, tmp_path):
    folds, whole = rg.read_folds(three), tmp_path / "whole"
    cross_validate(folds, METHODS[:1], ["AP"], output=whole)
    paths = [*whole.glob("*.json"), *whole.glob("fold-1/*")]
    names = [str(path.relative_to(whole)) for path in paths]
    assert len(names) == 2 + 2 * 3
    for name in names:
        decoy, output = tmp_path / "decoy", tmp_path / name.replace("/", "-")
        decoy.write_text("mine")
        (output / name).parent.mkdir(parents=True)
        (output / name).symlink_to(decoy)
        read = pytest.raises(InputError, match="is a link, expected a file")
        with read if name.endswith(".json") else nullcontext():
            cross_validate(folds, METHODS[:1], ["AP"], output=output)
        assert (output / name).is_symlink() == name.endswith(".json")
        assert decoy.read_text() == "mine"
    outside, output = tmp_path / "outside", tmp_path / "linked"
    outside.mkdir()
    output.mkdir()
    (output / "fold-1").symlink_to(outside)
    with pytest.raises(InputError, match="fold-1: is a link, expected a folder; remove it"):
        cross_validate(folds, METHODS[:1], ["AP"], output=output)
    assert not list(outside.iterdir())
    named = tmp_path / "named"
    named.symlink_to(outside)
    cross_validate(folds, METHODS[:1], ["AP"], output=named)  # what the user names may be a link
    assert contents(outside) == contents(whole)


def test_another_cross_validation_is_named_by_what_differs(three, tmp_path):
    folds, output = rg.read_folds(three), tmp_path / "out"
    cross_validate(folds, METHODS[:1], ["AP"], output=output)
    with pytest.raises(RankgaugeError, match=r"protocol.json differs in measures\."):
        cross_validate(folds, METHODS[:1], ["RR"], output=output)
    with pytest.raises(
        RankgaugeError, match=r"protocol.json differs in methods \(LogisticRegression\)\."
    ):
        cross_validate(folds, [LogisticRegression(C=2.0)], ["AP"], output=output)
    copied = tmp_path / "elsewhere" / three.name
    shutil.copytree(three, copied)
    cross_validate(rg.read_folds(copied), METHODS[:1], ["AP"], output=output)


def test_a_fold_must_not_learn_from_what_it_is_tested_on(folder, tmp_path):
    text = (folder / "S1.txt").read_text()
    (tmp_path / "test.txt").write_text(text)
    (tmp_path / "train.txt").write_text((folder / "S2.txt").read_text() + text)
    with pytest.raises(rg.InputError, match=r"query '10' is also in .*train.txt"):
        cross_validate(rg.read_folds(tmp_path), METHODS[:1], ["AP"])


def test_names_alone_and_lists_of_cutoffs(three):
    folds = rg.read_folds(three)
    scores = cross_validate(folds, METHODS[0], "nDCG@3,5")
    assert [str(measure) for measure in scores.measures] == ["nDCG@3", "nDCG@5"]
    twice = cross_validate(folds, [METHODS[0], METHODS[0].upper()], "AP")
    assert twice.runs == ("LogisticRegression", SINGLE)
    with pytest.raises(RankgaugeError, match=r"3 is not a method"):
        cross_validate(folds, [3], "AP")
    with pytest.raises(RankgaugeError, match=r"folds: str, expected the result of read_folds"):
        cross_validate(str(three), METHODS[0], "AP")


def test_the_best_feature_is_named(folder):
    found = cross_validation(rg.read_folds(folder), METHODS[0], "AP")
    assert any("feature 2 in all folds" in note for note in found.table().notes)


def test_runs_stand_in_the_order_that_is_evaluated(folder):
    features = rg.read_folds(folder)[0].test
    run = run_of(features, np.zeros(len(features.labels)), "tied")
    by_rank = rg.Evaluator(features.judgments, "AP", ties="input").scores(run)
    by_score = rg.Evaluator(features.judgments, "AP").scores(run)
    assert by_rank.values.tolist() == by_score.values.tolist()
    in_file = run_of(features, np.zeros(len(features.labels)), "tied", ties_in_file_order=True)
    assert in_file.documents.texts() == features.judgments.documents.texts()


def test_trainings_with_different_gains_do_not_disturb_each_other():
    features = make_features(30)
    gains = ["exp2", "linear", {1: 5, 2: 6}]
    alone = {str(gain): LambdaMART(trees=3, gain=gain).fit(features).trees_ for gain in gains}
    with ThreadPoolExecutor(4) as threads:
        made = threads.map(
            lambda gain: (str(gain), LambdaMART(trees=3, gain=gain).fit(features).trees_),
            gains * (40 if thorough() else 15),
        )
        assert all(alone[gain] == trees for gain, trees in made)


def test_what_rankers_say_about_training_is_said_once_with_the_number_of_folds(three, tmp_path):
    read = rg.read_folds(three)
    for _ in range(2):  # the second time from what is finished
        found = cross_validation(read, ["adarank", "lambdamart"], ["AP"], output=tmp_path)
        (note,) = (note for note in found.notes if note.run == "AdaRank")
        assert str(note).startswith("AdaRank: training stalled")
        assert str(note).endswith("(on 3 of 3 folds)")
        assert str(note) in found.table().notes


@pytest.fixture
def learnt_from(monkeypatch) -> list[tuple[str, tuple[str, ...], int]]:
    """What each training learns from: the method, its queries, and how many queries validate."""
    made: list[tuple[str, tuple[str, ...], int]] = []

    def watched(method: type) -> None:
        learn = method.learn

        def learn_and_tell(self, training, validation, settings):
            queries = tuple(training.queries.texts())
            made.append((method.__name__, queries, len(validation.queries)))
            return learn(self, training, validation, settings)

        monkeypatch.setattr(method, "learn", learn_and_tell)

    for method in (LogisticRegression, LambdaMART, AdaRank):
        watched(method)
    return made


def test_a_method_that_is_added_does_not_train_the_others_again(three, tmp_path, learnt_from):
    folds, output = rg.read_folds(three), tmp_path / "out"
    two = cross_validate(folds, METHODS, ["AP"], output=output)
    before = contents(output)
    assert {name for name, *_ in learnt_from} == {"LogisticRegression", "LambdaMART"}
    learnt_from.clear()
    three = cross_validate(folds, [*METHODS, "adarank"], ["AP"], output=output)
    assert [name for name, *_ in learnt_from] == ["AdaRank"] * 3
    after = contents(output)
    assert {name for name in before if after[name] != before[name]} == {"protocol.json"}
    assert three.select(runs=two.runs).values.tolist() == two.values.tolist()
    times = json.loads((output / "times.json").read_text())
    assert set(times["fold-1"]) == {"LogisticRegression", "LambdaMART", "AdaRank", SINGLE}
    learnt_from.clear()
    cross_validate(folds, METHODS[:1], ["AP"], output=output)
    assert not learnt_from
    assert contents(output) == after  # what was finished before is still known
    with pytest.raises(RankgaugeError, match=r"differs in methods \(AdaRank\)\."):
        cross_validate(folds, [AdaRank(rounds=3)], ["AP"], output=output)


def test_all_methods_of_a_fold_learn_from_the_same_drawn_queries(folder, learnt_from):
    folds = rg.read_folds(folder)
    found = cross_validation(folds, METHODS, ["AP"], training_queries=7, seed=3)
    made = {name: set() for name, *_ in learnt_from}
    for name, queries, validating in learnt_from:
        assert (len(queries), validating) == (7, 8)
        made[name].add(queries)
    assert made["LogisticRegression"] == made["LambdaMART"]
    for fold in folds:
        (own,) = (q for q in made["LambdaMART"] if set(q) <= set(fold.train.queries.texts()))
        assert list(own) == [q for q in fold.train.queries.texts() if q in own]
    assert len(found.scores.queries) == 40
    note = "trained on 7 of 24 queries, chosen at random with the seed (in each fold)"
    assert note in found.table().notes
    learnt_from.clear()
    cross_validation(folds, METHODS[:1], ["AP"], training_queries=7, seed=4)
    assert {queries for _, queries, _ in learnt_from} != made["LogisticRegression"]


def test_a_draw_depends_on_ids_and_the_seed_alone():
    features = make_features(20)
    turned = features.select(np.arange(20)[::-1])
    small, large = TrainingQueries(5, 1), TrainingQueries(9, 1)
    drawn = small.of(features).queries.texts()
    assert small.of(turned).queries.texts() == drawn[::-1]
    assert set(drawn) < set(large.of(features).queries.texts())
    assert TrainingQueries(20, 1).of(features) is features


def test_more_training_queries_than_there_are_take_all(folder):
    folds = rg.read_folds(folder)
    every = cross_validation(folds, METHODS[:1], ["AP"])
    asked = cross_validation(folds, METHODS[:1], ["AP"], training_queries=24)
    assert asked.scores.values.tolist() == every.scores.values.tolist()
    (note,) = (note for note in asked.table().notes if "trained on" in note)
    assert note.startswith(
        "trained on all 24 queries: 24 were requested, and no more are available"
    )
    assert not any("trained on" in note for note in every.table().notes)
    with pytest.raises(RankgaugeError, match="training_queries"):
        cross_validation(folds, METHODS[:1], ["AP"], training_queries=0)


def test_another_number_of_training_queries_is_another_cross_validation(folder, tmp_path):
    folds = rg.read_folds(folder)

    def run(output, **options):
        cross_validate(folds, METHODS[:1], ["AP"], output=tmp_path / output, **options)
        return json.loads((tmp_path / output / "protocol.json").read_text())

    assert "training_queries" not in run("whole")
    protocol = run("some", training_queries=7, seed=3)
    assert protocol["training_queries"] == {"number": 7, "seed": 3}
    for output, options in (
        ("whole", {"training_queries": 7}),
        ("some", {"training_queries": 8, "seed": 3}),
        ("some", {"seed": 3}),
    ):
        with pytest.raises(RankgaugeError, match=r"differs in training_queries\."):
            run(output, **options)
    rankers = [LogisticRegression(seed=3)]  # the seed of the draw is not that of the ranker
    with pytest.raises(RankgaugeError, match=r"differs in training_queries\."):
        cross_validate(folds, rankers, ["AP"], output=tmp_path / "some", training_queries=7, seed=4)

"""rankgauge ltr: train, rank, and the list of methods, as a user of a shell meets them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import rankgauge as rg
from command_line import assert_refused
from rankgauge.cli.ltr import _explanation
from rankgauge.rankers import find_method, load, methods, registry
from rankgauge.rankers.ranking import run_of

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")


def letor(random: np.random.Generator, queries: int, named: bool) -> str:
    """Documents whose label follows the first of three features."""
    lines = []
    for query in range(queries):
        for number in range(12):
            values = random.random(3)
            label = int(values[0] * 3)
            name = f" # docid = d{number}" if named else ""
            features = " ".join(f"{n}:{value:.4f}" for n, value in enumerate(values, 1))
            lines.append(f"{label} qid:{query} {features}{name}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path):
    """Training, validation and test data; the documents of the last have no names."""
    random = np.random.default_rng(1)
    for name, named in (("train", True), ("vali", True), ("test", False)):
        (tmp_path / name).write_text(letor(random, 20, named))
    return [tmp_path / name for name in ("train", "vali", "test")]


@pytest.mark.parametrize(
    "method",
    ["lambdamart", "LOGISTICREGRESSION", "RandomForest", "listnet", "RankBoost", "adarank"],
)
def test_what_is_trained_ranks_as_in_python(rankgauge, files, tmp_path, method):
    train, vali, test = files
    done = rankgauge("ltr", "train", method, train, "--validation", vali, "-o", tmp_path / "model")
    assert done.code == 0
    assert "learned from Features: 20 queries, 240 documents, 3 features" in done.err
    assert ("training stalled" in done.err) == (method == "adarank")
    done = rankgauge("ltr", "rank", tmp_path / "model", test, "-o", tmp_path / "x.run")
    assert (done.code, done.out) == (0, "")
    features = rg.read_letor(test)
    ranker = find_method(method)().fit(rg.read_letor(train), rg.read_letor(vali))
    expected = rg.Evaluator(features.judgments, "nDCG").score_features(
        features, ranker.predict(features)
    )
    written = rg.evaluate(features.judgments, tmp_path / "x.run", "nDCG")
    assert written.values[0].tolist() == expected.values[0].tolist()
    assert written.mean()["x"]["nDCG"] > 0.9


def test_a_run_goes_to_standard_output_under_the_name_that_is_asked_for(rankgauge, files, tmp_path):
    rankgauge("ltr", "train", "logisticregression", files[0], "-o", tmp_path / "model")
    done = rankgauge("ltr", "rank", tmp_path / "model", files[2], "--tag", "mine")
    assert done.code == 0
    assert {line.split()[-1] for line in done.out.splitlines()} == {"mine"}
    assert len(done.out.splitlines()) == 240


def without_the_last_feature(path):
    """The same file, in which no line has the third feature."""
    narrow = path.with_name(f"narrow-{path.name}")
    narrow.write_text(re.sub(r" 3:\S+", "", path.read_text()))
    return narrow


def test_a_feature_that_no_line_has_is_0(rankgauge, files, tmp_path):
    """As a feature is that some lines lack: a line that has it as 0 changes nothing but the note."""
    train, vali, test = files
    model, beside = tmp_path / "model", tmp_path / "beside"
    narrow = without_the_last_feature(vali)
    done = rankgauge("ltr", "train", "lambdamart", train, "--validation", narrow, "-o", model)
    assert done.code == 0
    assert "has 2 features, but the training data has 3. Missing features (1)" in done.err
    narrow.write_text(narrow.read_text().replace(" #", " 3:0 #", 1))
    done = rankgauge("ltr", "train", "lambdamart", train, "--validation", narrow, "-o", beside)
    assert "Missing features" not in done.err
    assert (model / "model.json").read_bytes() == (beside / "model.json").read_bytes()
    narrow = without_the_last_feature(test)
    ranked = rankgauge("ltr", "rank", model, narrow)
    assert ranked.code == 0
    assert "Missing features (1) are set to 0 everywhere" in ranked.err
    narrow.write_text(narrow.read_text().replace("\n", " 3:0\n", 1))
    assert rankgauge("ltr", "rank", model, narrow).out == ranked.out


def test_more_features_than_the_model_has_are_refused(rankgauge, files, tmp_path):
    train, _, test = files
    narrow = without_the_last_feature(train)
    rankgauge("ltr", "train", "logisticregression", narrow, "-o", tmp_path / "model")
    assert_refused(
        rankgauge("ltr", "rank", tmp_path / "model", test),
        "3 features, but the training data has 2",
    )


def test_settings_are_taken_and_checked_before_anything_is_read(rankgauge, files, tmp_path):
    options = ("-o", tmp_path / "model", "--setting", "trees=3", "--setting", "preset=ranklib")
    done = rankgauge("ltr", "train", "lambdamart", files[0], *options)
    assert done.code == 0
    assert "trees=3" in done.err
    for hidden, sizes in {"[4, 3]": [4, 3], "4,3": [4, 3], "4": [4], "[]": []}.items():
        layers = ("--setting", f"hidden={hidden}", "--setting", "epochs=2")
        done = rankgauge("ltr", "train", "ranknet", files[0], "-o", tmp_path / "network", *layers)
        assert (done.code, load(tmp_path / "network").network_["hidden"]) == (0, sizes)
    for setting, message in {
        "trees=none": "trees",
        "no-such=1": "no-such",
        "trees": "expected NAME=VALUE",
    }.items():
        done = rankgauge(
            "ltr", "train", "lambdamart", "missing", "-o", tmp_path / "m", "--setting", setting
        )
        assert done.code == 2
        assert message in done.err
        assert not (tmp_path / "m" / "model.json").exists()


def test_what_is_not_there_is_named(rankgauge, files, tmp_path):
    assert_refused(
        rankgauge("ltr", "train", "nomethod", files[0], "-o", tmp_path / "model"),
        "there is no method 'nomethod'; the methods are LambdaMART",
    )
    assert_refused(rankgauge("ltr", "rank", tmp_path / "nowhere", files[2]), "nowhere")


def test_the_methods_and_their_settings(rankgauge):
    done = rankgauge("ltr", "methods", "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["method"] for row in rows] == list(methods())
    for row in rows:
        done = rankgauge("ltr", "methods", row["method"], "--format", "jsonl")
        settings = [json.loads(line)["setting"] for line in done.out.splitlines()]
        assert settings == list(find_method(row["method"]).parameters())


def test_a_method_says_what_each_preset_optimizes(rankgauge):
    done = rankgauge("ltr", "methods", "coordinateascent", "--format", "md")
    assert "preset default: optimizes nDCG(gain=exp2)@10 on the training data" in done.out
    assert "preset ranklib: optimizes ERR@10 on the training data" in done.out
    words = _explanation("coordinateascent").split()
    assert "optimizes: any measure on the training data" in " ".join(words)
    assert "preset ranklib: ERR@10 on the training data" in " ".join(words)
    assert "fixed by the method (Cao et al. 2007)" in _explanation("listnet")


def test_settings_of_all_methods_or_of_one(rankgauge, files, tmp_path):
    two = ("--method", "listnet", "--method", "rankboost", "--folds", "3", "-m", "AP")
    assert_refused(
        rankgauge("ltr", "crossval", files[0], *two, "--setting", "rounds=2"),
        "set it for one method, as in rankboost.rounds=2",
    )
    each = (
        "--setting",
        "rankboost.rounds=2",
        "--setting",
        "ListNet.epochs=3",
        "-o",
        tmp_path / "o",
    )
    assert rankgauge("ltr", "crossval", files[0], *two, *each).code == 0
    protocol = json.loads((tmp_path / "o" / "protocol.json").read_text())
    assert protocol["methods"]["RankBoost"]["rounds"] == "2"
    assert protocol["methods"]["ListNet"]["epochs"] == "3"
    done = rankgauge("ltr", "crossval", files[0], *two, "--setting", "adarank.rounds=2")
    assert "adarank is not among the methods" in done.err
    one = ("--setting", "rankboost.rounds=2", "-o", tmp_path / "m")
    assert rankgauge("ltr", "train", "rankboost", files[0], *one).code == 0


def test_scores_that_single_precision_would_merge_stay_apart():
    features = rg.Features(
        rg.data.model.Ids.of(["q"]), np.array([0, 3]), np.array([0, 1, 2], np.int32), np.eye(3)
    )
    scores = np.array([1.0, 1.0 + 1e-12, 1.0 + 2e-12])
    run = run_of(features, scores, "x")
    assert [text[-1] for text in run.documents.texts()] == ["3", "2", "1"]
    singles = run.scores.astype(np.float32)
    assert (np.diff(singles) < 0).all()


def test_rankers_are_cross_validated_and_compared(rankgauge, tmp_path):
    random = np.random.default_rng(2)
    (tmp_path / "data").write_text(letor(random, 20, True))
    options = ("--folds", 4, "--method", "logisticregression", "-m", "AP", "-o", tmp_path / "out")
    done = rankgauge("ltr", "crossval", tmp_path / "data", *options)
    assert done.code == 0
    assert "LogisticRegression" in done.out
    assert {"means.csv", "differences.csv", "scores", "times.json", "protocol.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert_refused(rankgauge("ltr", "crossval", tmp_path / "nothing"), "nothing")


def test_the_statistics_of_folds(rankgauge, tmp_path):
    (tmp_path / "data").write_text(letor(np.random.default_rng(2), 7, True))
    options = ("--folds", 3, "--format", "jsonl")
    done = rankgauge("ltr", "statistics", tmp_path / "data", *options)
    assert done.code == 0
    assert "cut into 3 parts by query" in done.err
    assert "fold 1 trains on part 1, validates on 2" in done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert rows[0]["set"] == "all test sets"
    assert (rows[0]["documents"], rows[0]["queries"], rows[0]["features"]) == (84, 7, 3)
    assert [row["set"] for row in rows[1:4]] == ["fold 1 train", "fold 1 validation", "fold 1 test"]
    rankgauge("ltr", "statistics", tmp_path / "data", *options, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == done.out


def test_a_file_that_nobody_cuts_is_refused_in_words_of_the_command_line(rankgauge, tmp_path):
    (tmp_path / "data").write_text(letor(np.random.default_rng(2), 7, True))
    for command in ("statistics", "crossval"):
        done = rankgauge("ltr", command, tmp_path / "data")
        assert done.code == 2
        assert "the number of folds to cut the file into" in done.err
        assert "folds=" not in done.err


CONSTANT = """
import numpy as np
import rankgauge.rankers as rankers

@rankers.register
class Constant(rankers.Ranker):
    summary, source = "The same score for all.", "nowhere"

    def learn(self, training, validation, settings):
        self.feature_importances_ = np.zeros(training.values.shape[1])

    def score(self, values):
        return np.zeros(len(values))
"""


def test_folds_of_another_plug_in_are_not_gone_on_with(rankgauge, tmp_path, monkeypatch):
    monkeypatch.setattr(registry.METHODS, "entries", dict(registry.METHODS.entries))
    (tmp_path / "data").write_text(letor(np.random.default_rng(2), 9, True))
    plugin = tmp_path / "constant.py"
    plugin.write_text(CONSTANT)
    asked = ("ltr", "crossval", tmp_path / "data", "--folds", 3, "--method", "constant")
    asked = (*asked, "--plugin", plugin, "-o", tmp_path / "out")
    assert [rankgauge(*asked).code for _ in range(2)] == [0, 0]
    plugin.write_text(CONSTANT.replace("np.zeros(len(values))", "values[:, 0]"))
    assert_refused(rankgauge(*asked), "differs in methods (Constant)")


def test_a_model_of_a_plug_in_says_what_it_needs(rankgauge, files, tmp_path, monkeypatch):
    monkeypatch.setattr(registry.METHODS, "entries", dict(registry.METHODS.entries))
    plugin = tmp_path / "constant.py"
    plugin.write_text(CONSTANT)
    model = tmp_path / "model"
    done = rankgauge("ltr", "train", "constant", files[0], "-o", model, "--plugin", plugin)
    assert done.code == 0
    registry.METHODS.entries.pop("Constant")
    done = rankgauge("ltr", "rank", model, files[2])
    assert done.code == 2
    assert "there is no method 'Constant'" in done.err
    assert "register a method of your own first, with --plugin FILE" in done.err
    assert rankgauge("ltr", "rank", model, files[2], "--plugin", plugin).code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--setting", "trees=3", "--setting", "trees=4"), "trees is set twice"),
        (("--setting", "seed=3", "--seed", "4"), "the seed is set twice"),
    ],
)
def test_a_setting_is_given_once(rankgauge, files, tmp_path, options, message):
    assert_refused(
        rankgauge("ltr", "train", "lambdamart", files[0], "-o", tmp_path / "m", *options), message
    )
    assert not (tmp_path / "m").exists()


def test_a_seed_among_the_settings_counts(rankgauge, files, tmp_path):
    options = ("--setting", "seed=3", "-o", tmp_path / "m")
    assert "seed=3" in rankgauge("ltr", "train", "logisticregression", files[0], *options).err


def test_the_presets_name_themselves(rankgauge):
    done = rankgauge("ltr", "methods", "lambdamart", "--format", "jsonl")
    preset = json.loads(done.out.splitlines()[0])
    assert (preset["setting"], preset["default"], preset["ranklib"]) == (
        "preset",
        "default",
        "ranklib",
    )


def test_the_help_speaks_of_rankers(rankgauge):
    words = " ".join(rankgauge("ltr", "rank", "--help").out.split())
    assert "The name of the run. Defaults to the name of the method." in words
    assert "registers your own methods or measures" in words


def test_only_some_training_queries_are_learnt_from(rankgauge, files, tmp_path):
    train, vali, _ = files
    asked = ("ltr", "train", "logisticregression", train, "--validation", vali)
    done = rankgauge(*asked, "--training-queries", 7, "-o", tmp_path / "some")
    assert done.code == 0
    assert "learned from Features: 7 queries, 84 documents, 3 features" in done.err
    assert "trained on 7 of 20 queries, chosen at random with the seed" in done.err
    done = rankgauge(*asked, "--training-queries", 30, "-o", tmp_path / "all")
    assert "trained on all 20 queries: 30 were requested, and no more are available" in done.err
    folds = ("ltr", "crossval", train, "--folds", 4, "--method", "logisticregression", "-m", "AP")
    done = rankgauge(*folds, "--training-queries", 4)
    assert done.code == 0
    assert (
        "trained on 4 of 10 queries, chosen at random with the seed (in each fold)"
        in done.out + done.err
    )
    assert rankgauge(*folds, "--training-queries", 0).code == 2


def test_training_that_stops_before_it_converged_is_noted(rankgauge, files, tmp_path):
    early = ("--setting", "iterations=1", "--setting", "normalize=none")
    said = "stopped after 1 iteration before it converged: normalize the features"
    asked = ("ltr", "train", "logisticregression", files[0], "-o", tmp_path / "model")
    assert said in rankgauge(*asked, *early).err
    assert said not in rankgauge(*asked).err
    folds = (
        "ltr",
        "crossval",
        files[0],
        "--folds",
        3,
        "--method",
        "logisticregression",
        "-m",
        "AP",
    )
    done = rankgauge(*folds, *early)
    assert f"LogisticRegression: {said}" in done.out + done.err
    assert "(on 3 of 3 folds)" in done.out + done.err

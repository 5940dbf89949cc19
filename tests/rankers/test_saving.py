"""A saved ranker is read back as it was; anything else in the folder is refused, and nothing runs."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import InputError, RankgaugeError
from rankgauge.core.sealing import seal
from rankgauge.core.seeds import digest
from rankgauge.rankers import (
    AdaRank,
    LambdaMART,
    LogisticRegression,
    RankBoost,
    Ranker,
    load,
    registry,
    saving,
)
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.registry import find_method, methods

FEATURES = make_features()
RANKERS: dict[str, Ranker] = {
    "linear": LogisticRegression(normalize="z", measure=rg.AP).fit(FEATURES, FEATURES),
    "trees": LambdaMART(trees=4, gain={1: 1, 2: 5}).fit(FEATURES, FEATURES),
    "features": AdaRank(rounds=4).fit(FEATURES, FEATURES),
    "stumps": RankBoost(rounds=4, measure="SearchLength").fit(FEATURES, FEATURES),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a ranker that each example writes anew."""
    return tmp_path_factory.mktemp("rankers") / "ranker"


@pytest.mark.parametrize("kind", RANKERS)
def test_settings_history_and_scores_are_read_back(kind: str, tmp_path: Path) -> None:
    ranker = RANKERS[kind]
    ranker.save(tmp_path / "a" / "b")
    loaded = load(tmp_path / "a" / "b")
    assert loaded.history_ == ranker.history_
    assert loaded.settings() == ranker.settings()
    assert loaded.feature_importances_.tolist() == ranker.feature_importances_.tolist()
    assert loaded.predict(FEATURES).tolist() == ranker.predict(FEATURES).tolist()


SMALL = {"trees": 4, "epochs": 3, "rounds": 8, "restarts": 1}


@pytest.mark.parametrize("name", methods())
def test_notes_and_the_order_of_the_history_are_read_back(name: str, tmp_path: Path) -> None:
    method = find_method(name)
    small = {key: value for key, value in SMALL.items() if key in method.parameters()}
    ranker = method(**small).fit(FEATURES, FEATURES)
    ranker.save(tmp_path)
    loaded = load(tmp_path)
    assert list(loaded.history_) == list(ranker.history_)
    assert loaded.notes() == ranker.notes()


def test_the_order_of_entries_does_not_break_the_seal(tmp_path: Path) -> None:
    RANKERS["stumps"].save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True))
    assert load(tmp_path).history_ == RANKERS["stumps"].history_


def test_the_folder_has_json_text_and_arrays(tmp_path: Path) -> None:
    RANKERS["trees"].save(tmp_path)
    names = sorted(name.partition("-")[0] for name in os.listdir(tmp_path))
    assert names == ["arrays", "model.json", "trees"]
    assert json.loads((tmp_path / "model.json").read_text())["method"] == "LambdaMART"


def test_another_ranker_replaces_the_files_of_the_first_and_leaves_other_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    RANKERS["trees"].save(tmp_path)
    RANKERS["linear"].save(tmp_path)
    assert isinstance(load(tmp_path), LogisticRegression)
    assert {name.partition("-")[0] for name in os.listdir(tmp_path)} == {
        "arrays", "model.json", "notes.txt"
    }  # fmt: skip


def test_a_file_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"mine": 1}')
    with pytest.raises(InputError, match=r"model\.json: the folder contains another kind of file"):
        RANKERS["linear"].save(tmp_path)
    assert (tmp_path / "model.json").read_text() == '{"mine": 1}'
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file/model: cannot be made: Not a directory"):
        RANKERS["linear"].save(tmp_path / "file" / "model")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
@pytest.mark.parametrize("kind", ["link", "pipe", "endless"])
@pytest.mark.parametrize("part", ["model", "arrays"])
def test_no_link_or_pipe_is_read(kind: str, part: str, tmp_path: Path) -> None:
    RANKERS["linear"].save(tmp_path / "ranker")
    (path,) = (tmp_path / "ranker").glob(f"{part}*")
    path.rename(tmp_path / "elsewhere")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "elsewhere" if kind == "link" else "/dev/zero")
    with pytest.raises(InputError, match=r"is a (link|named pipe), expected a file") as caught:
        load(tmp_path / "ranker")
    assert caught.value.source == str(path)


def test_nothing_to_load_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.json: "):
        load(tmp_path)


def changed(folder: Path, kind: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Save a ranker whose model.json is changed, with the right seal."""
    RANKERS[kind].save(folder)
    document = json.loads((folder / "model.json").read_text())
    change(document)
    del document["seal"]
    (folder / "model.json").write_bytes(saving._json(seal(document)))


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another format": (lambda d: d.update(format="x"), "not a ranker"),
    "another version": (lambda d: d.update(version=3), "version 3, expected 2"),
    "no version": (lambda d: d.pop("version"), "version None"),
    "another method": (lambda d: d.update(method="Nothing"), "there is no method 'Nothing'"),
    "a method that is code": (lambda d: d.update(method="os.system"), "there is no method"),
    "a type of entry": (lambda d: d.update(learnt=[]), "learnt is a list, not an object\\)"),
    "one more entry": (lambda d: d.update(more=1), "unknown: 'more'"),
    "no setting of that name": (lambda d: d["parameters"].update(x=1), "not x"),
    "a bad setting": (lambda d: d["parameters"].update(seed=-1), "seed: -1 does not fit"),
    "a file elsewhere": (
        lambda d: d["files"]["arrays"].update(file="../arrays-0123456789abcdef.npz"),
        "not a file of a ranker",
    ),
    "a file that is not there": (
        lambda d: d["files"]["arrays"].update(file="arrays-0123456789abcdef.npz"),
        "arrays-0123456789abcdef",
    ),
    "a method as attribute": (lambda d: d["learnt"].update(predict=1), "not an attribute"),
    "a private attribute": (lambda d: d["learnt"].update(__class__=1), "not an attribute"),
    "no number of features": (lambda d: d["learnt"].pop("n_features_in_"), "not a complete ranker"),
    "features below 1": (lambda d: d["learnt"].update(n_features_in_=0), "number of features"),
    "another width": (lambda d: d["learnt"].update(n_features_in_=9), "not an array of 9"),
    "no history": (lambda d: d["learnt"].update(history_=[]), "history_"),
    "a text in the history": (lambda d: d["learnt"].update(history_={"AP": ["x"]}), "history_"),
    "columns of two lengths": (
        lambda d: d["learnt"].update(history_={"AP": [1.0], "C": []}),
        "differ in length",
    ),
    "unknown remarks": (lambda d: d["learnt"].update(remarks_=["x"]), "remarks_"),
    "remarks that are no list": (lambda d: d["learnt"].update(remarks_="x"), "remarks_"),
    "remarks in remarks": (
        lambda d: d["learnt"].update(remarks_=[["undecided"]]),
        "not a complete",
    ),
    "no constant": (lambda d: d["learnt"].update(intercept_="1"), "intercept_"),
    "a huge constant": (lambda d: d["learnt"].update(intercept_=10**400), "intercept_"),
    "another shape": (
        lambda d: d["arrays"]["coefficients_"].update(shape=[4]),
        "type or shape of an array differs",
    ),
    "a huge shape": (
        lambda d: d["arrays"]["coefficients_"].update(shape=[2**39, 2**39]),
        "more than",
    ),
    "objects": (lambda d: d["arrays"]["coefficients_"].update(type="object"), "has an unknown"),
    "an array less": (lambda d: d["arrays"].pop("coefficients_"), "the arrays differ"),
    "no arrays": (lambda d: d["files"].pop("arrays"), "not a file of arrays"),
    "numbers of another width": (
        lambda d: d["scaling"].update(center=[0.0] * 4, scale=[1.0] * 4),
        "number for some feature",
    ),
    "no scaling": (lambda d: d.update(scaling={}), "not a complete ranker"),
}


def test_a_ranker_without_remarks_is_read(tmp_path: Path) -> None:
    changed(tmp_path, "features", lambda document: document["learnt"].pop("remarks_"))
    assert load(tmp_path).notes() == RANKERS["features"].notes()[-1:]


def test_a_ranker_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """Version 1 has a digest of the text in place of a seal."""
    RANKERS["linear"].save(tmp_path)
    path = tmp_path / "model.json"
    document = json.loads(path.read_text()) | {"version": 1}
    del document["seal"]
    said = digest(saving._json(document, sort_keys=True), size=16).hex()
    path.write_text(json.dumps({**document, "digest": said}))
    assert load(tmp_path).predict(FEATURES).tolist() == RANKERS["linear"].predict(FEATURES).tolist()
    document["learnt"]["intercept_"] += 1
    path.write_text(json.dumps({**document, "digest": said}))
    with pytest.raises(InputError, match="its seal is broken"):
        load(tmp_path)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_document_is_refused(change: str, tmp_path: Path) -> None:
    function, message = CHANGES[change]
    changed(tmp_path, "linear", function)
    with pytest.raises(InputError, match=message):
        load(tmp_path)


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ({}, "columns of AdaRank"),
        ({"training AP": [0.5], "alpha": [1.0]}, "columns of AdaRank"),
        ({"training AP": [], "training RR": [], "feature": [], "alpha": []}, "columns of AdaRank"),
        ({"training AP": [0.5, 0.6], "feature": [1], "alpha": [1.0]}, "differ in length"),
        ({"training AP": [0.5], "feature": [6], "alpha": [1.0]}, "an unknown feature"),
        ({"training AP": [0.5], "feature": [1.5], "alpha": [1.0]}, "an unknown feature"),
    ],
)
def test_a_history_that_is_not_adaranks_is_refused(
    history: Any, message: str, tmp_path: Path
) -> None:
    changed(tmp_path, "features", lambda document: document["learnt"].update(history_=history))
    with pytest.raises(InputError, match=message):
        load(tmp_path)


class Own(LogisticRegression):
    """A method of one's own, with names that end in an underscore."""

    @property
    def best_(self) -> float:
        return 1.0

    def odds_(self) -> float:
        return 2.0


@pytest.mark.parametrize("name", ["best_", "odds_"])
@pytest.mark.parametrize("kind", ["learnt", "arrays"])
def test_what_would_hide_a_method_or_property_is_refused(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.METHODS.entries, "Own", Own)
    monkeypatch.setitem(RANKERS, "own", Own().fit(FEATURES))
    changed(tmp_path, "own", lambda document: None)
    assert isinstance(load(tmp_path), Own)
    if kind == "learnt":
        changed(tmp_path, "own", lambda document: document["learnt"].update({name: 1}))
    else:
        entry = {name: {"type": "float64", "shape": [5]}}
        changed(tmp_path, "own", lambda document: document["arrays"].update(entry))
        content = archive(**GOOD, **{name: np.ones(5)})
        document = json.loads((tmp_path / "model.json").read_text())
        file = saving._file_name("arrays", content, "npz")
        document["files"]["arrays"] = {"file": file, "bytes": len(content)}
        del document["seal"]
        (tmp_path / file).write_bytes(content)
        (tmp_path / "model.json").write_bytes(saving._json(seal(document)))
    with pytest.raises(InputError, match=f"'{name}' is not an attribute of a ranker"):
        load(tmp_path)


def test_a_history_with_undefined_values_is_saved(tmp_path: Path) -> None:
    nothing = replace(FEATURES, labels=np.zeros_like(FEATURES.labels))
    ranker = RankBoost(rounds=3, measure="SearchLength").fit(FEATURES, nothing)
    ranker.save(tmp_path)
    values = load(tmp_path).history_["SearchLength"]
    assert len(values) == 3
    assert np.isnan(values).all()


def test_a_history_of_columns_of_two_lengths_is_not_saved(tmp_path: Path) -> None:
    ranker = LogisticRegression().fit(FEATURES)
    ranker.history_ = {"AP": [1.0], "C": []}
    with pytest.raises(RankgaugeError, match="cannot be saved: the lists of history_"):
        ranker.save(tmp_path)


def put_file(folder: Path, kind: str, name: str, content: bytes) -> None:
    """Save a ranker with another content of one of its files, and the right seal."""

    def change(document: dict[str, Any]) -> None:
        ending = document["files"][name]["file"][-3:]
        file = saving._file_name(name, content, ending)
        document["files"][name] = {"file": file, "bytes": len(content)}
        (folder / file).write_bytes(content)

    changed(folder, kind, change)


class Bomb:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


def archive(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


GOOD = {"coefficients_": np.ones(5), "means_": np.ones(5), "feature_importances_": np.ones(5)}


def test_arrays_are_never_unpickled(tmp_path: Path) -> None:
    bomb = Bomb(tmp_path / "was run")
    bombs = archive(**{**GOOD, "coefficients_": np.array([bomb] * 5, dtype=object)})
    for content in (bombs, pickle.dumps(bomb)):
        put_file(tmp_path, "linear", "arrays", content)
        with pytest.raises(InputError, match="the arrays cannot be read"):
            load(tmp_path)
    assert not bomb.folder.exists()


@pytest.mark.parametrize(
    "wrong",
    [np.full(5, np.nan), np.full(5, np.inf), np.ones(4), np.ones(5, np.float32), np.ones((5, 1))],
)
def test_arrays_of_other_numbers_are_refused(wrong: Any, tmp_path: Path) -> None:
    put_file(tmp_path, "linear", "arrays", archive(**GOOD))
    load(tmp_path)
    put_file(tmp_path, "linear", "arrays", archive(**{**GOOD, "means_": wrong}))
    with pytest.raises(InputError, match="the arrays cannot be read"):
        load(tmp_path)


def test_a_compressed_array_that_grows_is_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name in GOOD:
            target.writestr(f"{name}.npy", b"\0" * 50_000_000)
    put_file(tmp_path, "linear", "arrays", stream.getvalue())
    with pytest.raises(InputError, match="the arrays cannot be read"):
        load(tmp_path)


@examples(60)
@given(
    st.sampled_from(sorted(RANKERS)),
    st.integers(0, 2),
    st.integers(0, 10**6),
    st.integers(0, 3),
    st.binary(max_size=3),
)
def test_a_changed_byte_of_any_file_is_noticed(
    folder: Path, kind: str, file: int, place: int, cut: int, put: bytes
) -> None:
    RANKERS[kind].save(folder)
    names = sorted(os.listdir(folder))
    path = folder / names[file % len(names)]
    content = path.read_bytes()
    place %= len(content)
    other = content[:place] + put + content[place + cut :]
    path.write_bytes(other)
    try:
        if other == content:
            load(folder)
        elif path.name != "model.json" or _meaning(other) != _meaning(content):
            with pytest.raises(InputError):
                load(folder)
    finally:
        path.unlink()


def _meaning(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@examples(60)
@given(st.integers(0, 10**6), st.integers(0, 3), st.text("0123456789-.e= \n", max_size=3))
def test_changed_trees_with_the_right_digest_are_refused_or_score(
    folder: Path, place: int, cut: int, put: str
) -> None:
    text = str(RANKERS["trees"].learnt()["trees_"])
    place %= len(text)
    content = (text[:place] + put + text[place + cut :]).encode()
    put_file(folder, "trees", "trees_", content)
    try:
        ranker = load(folder)
    except InputError:
        return
    assert ranker.predict(FEATURES).shape == FEATURES.labels.shape


def test_what_cannot_be_saved_is_refused_and_the_old_ranker_stays(tmp_path: Path) -> None:
    ranker = LogisticRegression().fit(FEATURES)
    ranker.save(tmp_path)
    scores = ranker.predict(FEATURES).tolist()
    for wrong in (object(), np.array([np.nan]), np.array([object()])):
        ranker.extra_ = wrong  # type: ignore[attr-defined]
        with pytest.raises(RankgaugeError, match="LogisticRegression cannot be saved"):
            ranker.save(tmp_path)
    assert load(tmp_path).predict(FEATURES).tolist() == scores

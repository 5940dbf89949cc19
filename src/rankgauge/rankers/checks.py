"""What every ranker must do, for a method of one's own: `check_ranker`.

A ranker is tried on small made data. Whether it learns what its paper says only its author knows; that
needs a test by the author.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.laws import LawBroken, Laws, fail
from rankgauge.data.features import Features
from rankgauge.data.model import Ids
from rankgauge.errors import InputError, NotFitted, RankgaugeError
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.rankers import registry
from rankgauge.rankers.base import Ranker
from rankgauge.rankers.saving import MANIFEST, load
from rankgauge.rankers.settings import PLACEHOLDER, SETTING, MeasureKind
from rankgauge.rankings.lists import offsets_of

QUERIES, WIDTH, SEED = 30, 5, 7
CLOSE = 1e-9
"""The relative tolerance for scores that differ only in the order of summation."""


class CheckFailed(LawBroken):
    """A ranker fails a check: which one, and what is expected."""

    def __init__(self, check: str, ranker: object, why: str) -> None:
        super().__init__(check, repr(ranker), why)
        self.check = check


def check_ranker(ranker: Ranker | type[Ranker]) -> None:
    """Try a ranker on everything that all rankers must do; CheckFailed for the first that it fails.

    A class is tried with its default settings, and an instance with its own settings. The data is the
    same each time. It takes seconds.

    >>> from rankgauge.rankers import LogisticRegression
    >>> check_ranker(LogisticRegression)
    """
    tried = ranker() if isinstance(ranker, type) and issubclass(ranker, Ranker) else ranker
    if not isinstance(tried, Ranker):
        raise RankgaugeError(f"{ranker!r}: expected a ranker, or its class")
    with _register_temporarily(type(tried)):
        CHECKS.check(tried)


@contextmanager
def _register_temporarily(method: type[Ranker]) -> Iterator[None]:
    """Make a method known for a while, so that it can be loaded."""
    with mock.patch.dict(registry.METHODS.entries):
        registry.METHODS.add(method.__name__, method)
        yield


# Data


def make_features(
    queries: int = QUERIES, *, seed: int = SEED, sizes: tuple[int, int] = (4, 12)
) -> Features:
    """Features of made queries: the first says much about the label, the others little or nothing.

    >>> make_features(2)
    Features: 2 queries, 21 documents, 5 features
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(sizes[0], sizes[1] + 1, queries)
    labels = rng.choice(3, size=int(counts.sum()), p=(0.6, 0.25, 0.15)).astype(np.int32)
    values = rng.random((len(labels), WIDTH))
    values[:, 0] += labels
    values[:, 1] = np.round(values[:, 1] + 0.3 * labels, 1)
    names = Ids.of(f"q{number}" for number in range(queries))
    return Features(
        names, offsets_of(counts), labels, values.astype(np.float32), None, "generated data"
    )


def _drop_documents(features: Features) -> Features:
    return features.select(np.zeros(0, dtype=np.int64))


# What the checks ask of a ranker


def _clone(ranker: Ranker) -> Ranker:
    """Another ranker with the same settings, which has learned nothing."""
    return type(ranker)(**ranker.get_params())


def _fit_clone(ranker: Ranker, features: Features, validation: Features | None = None) -> Ranker:
    """A new ranker with the same settings that learned from these features."""
    return _clone(ranker).fit(features, validation)


def _scores(fitted: Ranker, features: Features) -> Floats:
    """The predicted scores, after a check of their form."""
    scores = fitted.predict(features)
    if not isinstance(scores, np.ndarray) or scores.dtype != np.float64:
        fail("predict does not return an array of doubles")
    if scores.shape != features.labels.shape or not np.isfinite(scores).all():
        fail(f"predict returns {scores.shape} for {features!r}, or numbers that are not finite")
    return scores


def _check_same_scores(a: Floats, b: Floats, why: str, *, exactly: bool = False) -> None:
    """Fail where scores differ."""
    tolerance = 0.0 if exactly else CLOSE * max(1.0, float(np.abs(a).max(initial=0.0)))
    if np.abs(a - b).max(initial=0.0) > tolerance:
        row = int(np.argmax(np.abs(a - b)))
        fail(f"{why}: row {row} scores {a[row]!r} and {b[row]!r}")


def _check_raises(
    errors: type[Exception] | tuple[type[Exception], ...], action: Callable[[], Any], why: str
) -> None:
    """Fail where an action does not raise one of these errors."""
    try:
        action()
    except errors:
        return
    fail(why)


def _check_refused(action: Callable[[], Any], what: str) -> None:
    _check_raises(RankgaugeError, action, f"{what} is not rejected with a RankgaugeError")


# Checks

CHECKS: Laws[Ranker] = Laws(CheckFailed)


@CHECKS.law("settings")
def _settings(ranker: Ranker) -> None:
    """Settings are kept as given, and a copy made from them has the same."""
    given = ranker.get_params()
    copy = _clone(ranker)
    for name, value in copy.get_params().items():
        if value is not given[name]:
            fail(f"the setting {name} is not kept as given, so clones differ")
    if copy.set_params(**given) is not copy:
        fail("set_params does not return the ranker")
    for change in (type(copy), copy.set_params):
        unknown = partial(change, no_such_setting=1)
        _check_raises(
            (TypeError, RankgaugeError), unknown, "a setting that does not exist is accepted"
        )
    copy.settings()


@CHECKS.law("training objective")
def _objective(ranker: Ranker) -> None:
    """What training makes best is said in words.

    The words name a measure if and only if the setting `objective` is a measure. The measure that
    decides on the validation set has no part in it.
    """
    declared = ranker.parameters().get(SETTING)
    by_measure = declared is not None and isinstance(declared.metadata.get("kind"), MeasureKind)
    named = PLACEHOLDER in ranker.optimizes
    if named and declared is None:
        fail(f"`optimizes` has {PLACEHOLDER}, but there is no such setting")
    if by_measure and not named:
        fail(f"`optimizes` does not contain {PLACEHOLDER} for the name of the measure")
    objective = ranker.training_objective()
    if not objective.text or not objective.origin:
        fail("the training objective has no description")
    if (objective.measure is not None) != by_measure:
        fail("the description names a measure that training does not optimize")
    if objective.measure is not None and objective.measure not in objective.text:
        fail(f"the description of the training objective does not name {objective.measure}")
    other = _clone(ranker).set_params(measure="P@3")
    if other.training_objective() != objective:
        fail("the training objective follows the measure of the validation set")


@CHECKS.law("predicting before learning")
def _not_fitted(ranker: Ranker) -> None:
    """A ranker that learned nothing says so."""
    predict = _clone(ranker).predict
    _check_raises(
        NotFitted, lambda: predict(make_features()), "predict before fit does not raise NotFitted"
    )


@CHECKS.law("learned attributes")
def _learned_state(ranker: Ranker) -> None:
    """`fit` returns the ranker, leaves its settings and the data alone, and sets what all set."""
    features, validation = make_features(), make_features(10, seed=SEED + 1)
    before = features.values.copy(), features.labels.copy()
    fitted = _clone(ranker)
    given = fitted.get_params()
    if fitted.fit(features, validation) is not fitted:
        fail("fit does not return the ranker")
    if any(value is not given[name] for name, value in fitted.get_params().items()):
        fail("fit changes a setting")
    if not all(map(np.array_equal, before, (features.values, features.labels))):
        fail("fit changes the data")
    importances = fitted.feature_importances_
    if importances.shape != (WIDTH,) or not (np.isfinite(importances) & (importances >= 0)).all():
        fail("feature_importances_ is not a number from 0 for each feature")
    if not isinstance(fitted.history_, dict):
        fail("history_ is not a dict of lists")
    _scores(fitted, validation)


@CHECKS.law("easy data")
def _ranks_easy_data(ranker: Ranker) -> None:
    """Easy data is ranked better than by the reverse order."""
    features = make_features(60)
    scores = _scores(_fit_clone(ranker, features), features)
    evaluator = Evaluator(features.judgments, "nDCG@10")
    ahead, reverse = (
        next(iter(evaluator.score_features(features, sign * scores).mean()["run"].values()))
        for sign in (1, -1)
    )
    if not ahead > reverse:
        fail(f"nDCG@10 is {ahead:.3f}, and {reverse:.3f} in the reverse order")


@CHECKS.law("learning again")
def _refit(ranker: Ranker) -> None:
    """The same data and settings give the same files, also after other data."""
    features, validation = make_features(), make_features(10, seed=SEED + 1)
    with tempfile.TemporaryDirectory() as place:
        again = _fit_clone(ranker, make_features(20, seed=SEED + 2))
        files = []
        for number, each in enumerate(
            (_clone(ranker), _clone(ranker), again.fit(features, validation))
        ):
            each.fit(features, validation).save(folder := os.path.join(place, str(number)))
            files.append(_files(folder))
    if not files[0] == files[1] == files[2]:
        fail("the same data and settings do not produce the same files")


def _files(folder: str) -> dict[str, bytes]:
    contents = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as stream:
            contents[name] = stream.read()
    return contents


@CHECKS.law("each query alone")
def _each_query_alone(ranker: Ranker) -> None:
    """The scores of a query do not depend on other queries."""
    features = make_features()
    fitted = _fit_clone(ranker, features)
    scores = _scores(fitted, features)
    for query in (0, 7, QUERIES - 1):
        part = slice(int(features.bounds[query]), int(features.bounds[query + 1]))
        alone = _scores(fitted, features.select([query]))
        _check_same_scores(alone, scores[part], "a query alone, and among others")


@CHECKS.law("order of rows")
def _row_order(ranker: Ranker) -> None:
    """The scores of documents do not depend on their order."""
    features = make_features()
    fitted = _fit_clone(ranker, features)
    query = np.repeat(np.arange(len(features.queries)), np.diff(features.bounds))
    order = np.lexsort((-np.arange(len(features.labels)), query))
    turned = replace(features, labels=features.labels[order], values=features.values[order])
    _check_same_scores(
        _scores(fitted, turned),
        _scores(fitted, features)[order],
        "documents in another order",
    )


@CHECKS.law("queries of one document")
def _one_document(ranker: Ranker) -> None:
    """Queries of one document, and no document at all."""
    features = make_features(60, sizes=(1, 1))
    fitted = _fit_clone(ranker, features, features)
    _scores(fitted, features)
    _scores(fitted, _drop_documents(features))


@CHECKS.law("constant features")
def _constant_features(ranker: Ranker) -> None:
    """Documents with equal features have equal scores, also if features say nothing."""
    features = make_features()
    constant = replace(features, values=np.full_like(features.values, 3))
    scores = _scores(_fit_clone(ranker, constant, constant), constant)
    _check_same_scores(scores, np.full_like(scores, scores[0]), "documents with equal features")
    some = features.values.copy()
    some[:, 2] = 0
    partly = replace(features, values=some)
    _scores(_fit_clone(ranker, partly, partly), partly)


@CHECKS.law("equal labels")
def _equal_labels(ranker: Ranker) -> None:
    """All labels are equal, so there is nothing to learn."""
    features = make_features()
    for label in (0, 1):
        equal = replace(features, labels=np.full_like(features.labels, label))
        _scores(_fit_clone(ranker, equal, equal), equal)


@CHECKS.law("NaN")
def _unknown_values(ranker: Ranker) -> None:
    """NaN is learned from and scored, or refused with a named error."""
    features = make_features()
    values = features.values.copy()
    values[::3, 1] = np.nan
    values[:, 4] = np.nan
    holes = replace(features, values=values)
    for training, scored in ((holes, holes), (features, holes), (holes, features)):
        try:
            _scores(_fit_clone(ranker, training, training), scored)
        except RankgaugeError:
            continue


@CHECKS.law("infinite values")
def _infinite_values(ranker: Ranker) -> None:
    """An infinite value is refused."""
    features = make_features()
    values = features.values.copy()
    values[3, 1] = np.inf
    infinite = replace(features, values=values)
    fitted = _fit_clone(ranker, features)
    for action in (lambda: _fit_clone(ranker, infinite), lambda: fitted.predict(infinite)):
        _check_refused(action, "an infinite value")


@CHECKS.law("missing features")
def _other_features(ranker: Ranker) -> None:
    """Data with fewer features than there were in training is refused."""
    features = make_features()
    fewer = replace(features, values=features.values[:, :-1])
    fitted = _fit_clone(ranker, features)
    _check_refused(lambda: fitted.predict(fewer), "a missing feature")
    _check_refused(lambda: _fit_clone(ranker, features, fewer), "a missing feature")


@CHECKS.law("empty data")
def _empty_data(ranker: Ranker) -> None:
    """Nothing to learn from is refused. Nothing to validate on is refused, or as good as None."""
    features = make_features()
    empty = _drop_documents(features)
    _check_refused(lambda: _fit_clone(ranker, empty), "data without documents")
    try:
        fitted = _fit_clone(ranker, features, empty)
    except RankgaugeError:
        return
    _check_same_scores(
        _scores(fitted, features),
        _scores(_fit_clone(ranker, features), features),
        "an empty validation set, and none",
    )


@CHECKS.law("save and load")
def _save_and_load(ranker: Ranker) -> None:
    """A loaded ranker gives the same scores, to the last bit, and saves the same files."""
    features = make_features()
    fitted = _fit_clone(ranker, features, make_features(10, seed=SEED + 1))
    with tempfile.TemporaryDirectory() as place:
        first, second = os.path.join(place, "1"), os.path.join(place, "2")
        fitted.save(first)
        loaded = load(first)
        if type(loaded) is not type(fitted):
            fail(f"{type(loaded).__name__} was loaded, expected the class that was saved")
        scores = _scores(loaded, features)
        _check_same_scores(
            scores, fitted.predict(features), "after loading, and before", exactly=True
        )
        loaded.save(second)
        if _files(first) != _files(second):
            fail("a loaded ranker saves different files")


@CHECKS.law("interrupted save")
def _interrupt_save(ranker: Ranker) -> None:
    """Saving that stops anywhere leaves the ranker that was there, or none."""
    features = make_features()
    old, new = _fit_clone(ranker, features), _fit_clone(ranker, make_features(20, seed=SEED + 3))
    for before in (None, old):
        steps = 0
        while True:
            with tempfile.TemporaryDirectory() as folder:
                if before is not None:
                    before.save(folder)
                finished = _save_until_step(new, folder, steps)
                there = os.path.exists(os.path.join(folder, MANIFEST))
                kept = new if finished else before if there else None
                if kept is None and before is not None:
                    fail(f"saving stopped after {steps} steps, and the old ranker is lost")
                _check_folder_holds(kept, folder, features)
            if finished:
                break
            steps += 1


def _save_until_step(ranker: Ranker, folder: str, steps: int) -> bool:
    """Save, but stop before the file that comes after `steps` others appears.

    Return whether saving went on to the end.
    """
    put, done = os.replace, 0

    def replace_file(*arguments: Any, **options: Any) -> None:
        nonlocal done
        if done == steps:
            raise KeyboardInterrupt
        done += 1
        put(*arguments, **options)

    try:
        with mock.patch("os.replace", replace_file):
            ranker.save(folder)
    except KeyboardInterrupt:
        return False
    return True


def _check_folder_holds(kept: Ranker | None, folder: str, features: Features) -> None:
    """What is in the folder is this ranker, or, where there is none, nothing that can be loaded."""
    if kept is None:
        why = "a ranker that was only partly saved can be loaded"
        _check_raises(InputError, lambda: load(folder), why)
    else:
        scores = load(folder).predict(features)
        _check_same_scores(scores, kept.predict(features), "after saving was stopped", exactly=True)

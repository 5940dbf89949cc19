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
from typing import Any, NoReturn
from unittest import mock

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.data.model import Ids
from rankgauge.errors import InputError, NotFitted, RankgaugeError
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.rankers import registry
from rankgauge.rankers.base import Ranker
from rankgauge.rankers.objectives import PLACE, SETTING
from rankgauge.rankers.saving import MANIFEST, load
from rankgauge.rankers.settings import MeasureKind

QUERIES, WIDTH, SEED = 30, 5, 7
CLOSE = 1e-9
"""By how much scores may differ, relative to the largest, where only the order of sums differs."""


class CheckFailed(AssertionError):
    """A ranker fails a check: which one, and what is expected."""

    def __init__(self, check: str, ranker: Ranker, why: str) -> None:
        super().__init__(f"{ranker!r} fails the check {check!r}: {why}")
        self.check = check


class Candidate(Record):
    """A ranker under one check."""

    ranker: Ranker
    check: str

    def new(self) -> Ranker:
        """Another ranker with the same settings, which has learnt nothing."""
        return type(self.ranker)(**self.ranker.get_params())

    def fitted(self, features: Features, validation: Features | None = None) -> Ranker:
        """A new ranker that learnt from these features."""
        return self.new().fit(features, validation)

    def fail(self, why: str) -> NoReturn:
        raise CheckFailed(self.check, self.ranker, why)

    def scores(self, ranker: Ranker, features: Features) -> Floats:
        """The predicted scores, after a check of their form."""
        scores = ranker.predict(features)
        if not isinstance(scores, np.ndarray) or scores.dtype != np.float64:
            self.fail("predict gives no array of doubles")
        if scores.shape != features.labels.shape or not np.isfinite(scores).all():
            self.fail(f"predict gives {scores.shape} for {features!r}, or not only finite numbers")
        return scores

    def same(self, a: Floats, b: Floats, why: str, *, exactly: bool = False) -> None:
        """Fail where scores differ."""
        tolerance = 0.0 if exactly else CLOSE * max(1.0, float(np.abs(a).max(initial=0.0)))
        if np.abs(a - b).max(initial=0.0) > tolerance:
            row = int(np.argmax(np.abs(a - b)))
            self.fail(f"{why}: row {row} scores {a[row]!r} and {b[row]!r}")


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
    with _known(type(tried)):
        for name, check in CHECKS.items():
            try:
                check(Candidate(tried, name))
            except CheckFailed:
                raise
            except Exception as error:
                fault = f"it raises {type(error).__name__}: {error}"
                raise CheckFailed(name, tried, fault) from error


@contextmanager
def _known(method: type[Ranker]) -> Iterator[None]:
    """Make a method known for a while, so that it can be loaded."""
    with mock.patch.dict(registry.METHODS.entries):
        registry.METHODS.add(method.__name__, method)
        yield


# Data


def made_features(
    queries: int = QUERIES, *, seed: int = SEED, sizes: tuple[int, int] = (4, 12)
) -> Features:
    """Features of made queries: the first says much about the label, the others little or nothing.

    >>> made_features(2)
    Features: 2 queries, 21 documents, 5 features
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(sizes[0], sizes[1] + 1, queries)
    labels = rng.choice(3, size=int(counts.sum()), p=(0.6, 0.25, 0.15)).astype(np.int32)
    values = rng.random((len(labels), WIDTH))
    values[:, 0] += labels
    values[:, 1] = np.round(values[:, 1] + 0.3 * labels, 1)
    names = Ids.of(f"q{number}" for number in range(queries))
    return Features(names, _bounds(counts), labels, values.astype(np.float32), None, "made data")


def _bounds(counts: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _without_documents(features: Features) -> Features:
    return features.select(np.zeros(0, dtype=np.int64))


# Checks


def _settings(candidate: Candidate) -> None:
    """Settings are kept as given, and a copy made from them has the same."""
    given = candidate.ranker.get_params()
    copy = candidate.new()
    for name, value in copy.get_params().items():
        if value is not given[name]:
            candidate.fail(f"the setting {name} is not kept as given, so clones differ")
    if copy.set_params(**given) is not copy:
        candidate.fail("set_params does not return the ranker")
    for change in (type(copy), copy.set_params):
        try:
            change(no_such_setting=1)
        except (TypeError, RankgaugeError):
            continue
        candidate.fail("a setting that does not exist is accepted")
    copy.settings()


def _objective(candidate: Candidate) -> None:
    """What training makes best is said in words, which name a measure if and only if the setting
    `objective` is a measure. The measure that decides on the validation set has no part in it."""
    declared = candidate.ranker.parameters().get(SETTING)
    by_measure = declared is not None and isinstance(declared.metadata.get("kind"), MeasureKind)
    named = PLACE in candidate.ranker.optimizes
    if named and declared is None:
        candidate.fail(f"`optimizes` has {PLACE}, and there is no such setting")
    if by_measure and not named:
        candidate.fail(f"`optimizes` lacks {PLACE}, where the measure is named")
    objective = candidate.ranker.training_objective()
    if not objective.text or not objective.origin:
        candidate.fail("the training objective has no words")
    if (objective.measure is not None) != by_measure:
        candidate.fail("a measure is named that training does not make best")
    if objective.measure is not None and objective.measure not in objective.text:
        candidate.fail(f"the words for the training objective do not name {objective.measure}")
    other = candidate.new().set_params(measure="P@3")
    if other.training_objective() != objective:
        candidate.fail("the training objective follows the measure of the validation set")


def _not_fitted(candidate: Candidate) -> None:
    """A ranker that learnt nothing says so."""
    try:
        candidate.new().predict(made_features())
    except NotFitted:
        return
    candidate.fail("predict before fit does not raise NotFitted")


def _learnt_state(candidate: Candidate) -> None:
    """`fit` returns the ranker, leaves its settings and the data alone, and sets what all set."""
    features, validation = made_features(), made_features(10, seed=SEED + 1)
    before = features.values.copy(), features.labels.copy()
    ranker = candidate.new()
    given = ranker.get_params()
    if ranker.fit(features, validation) is not ranker:
        candidate.fail("fit does not return the ranker")
    if any(value is not given[name] for name, value in ranker.get_params().items()):
        candidate.fail("fit changes a setting")
    if not all(map(np.array_equal, before, (features.values, features.labels))):
        candidate.fail("fit changes the data")
    importances = ranker.feature_importances_
    if importances.shape != (WIDTH,) or not (np.isfinite(importances) & (importances >= 0)).all():
        candidate.fail("feature_importances_ is not a number from 0 for each feature")
    if not isinstance(ranker.history_, dict):
        candidate.fail("history_ is not a dict of lists")
    candidate.scores(ranker, validation)


def _learns(candidate: Candidate) -> None:
    """Easy data is ranked better than by the reverse order."""
    features = made_features(60)
    scores = candidate.scores(candidate.fitted(features), features)
    evaluator = Evaluator(features.judgments, "nDCG@10")
    ahead, reverse = (
        next(iter(evaluator.score_features(features, sign * scores).mean()["run"].values()))
        for sign in (1, -1)
    )
    if not ahead > reverse:
        candidate.fail(f"nDCG@10 is {ahead:.3f}, and {reverse:.3f} in the reverse order")


def _refit(candidate: Candidate) -> None:
    """The same data and settings give the same files, also after other data."""
    features, validation = made_features(), made_features(10, seed=SEED + 1)
    with tempfile.TemporaryDirectory() as place:
        again = candidate.fitted(made_features(20, seed=SEED + 2))
        files = []
        for number, ranker in enumerate(
            (candidate.new(), candidate.new(), again.fit(features, validation))
        ):
            ranker.fit(features, validation).save(folder := os.path.join(place, str(number)))
            files.append(_files(folder))
    if not files[0] == files[1] == files[2]:
        candidate.fail("the same data and settings do not give the same files")


def _files(folder: str) -> dict[str, bytes]:
    contents = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as stream:
            contents[name] = stream.read()
    return contents


def _each_query_alone(candidate: Candidate) -> None:
    """The scores of a query do not depend on other queries."""
    features = made_features()
    ranker = candidate.fitted(features)
    scores = candidate.scores(ranker, features)
    for query in (0, 7, QUERIES - 1):
        part = slice(int(features.bounds[query]), int(features.bounds[query + 1]))
        alone = candidate.scores(ranker, features.select([query]))
        candidate.same(alone, scores[part], "a query alone, and among others")


def _row_order(candidate: Candidate) -> None:
    """The scores of documents do not depend on their order."""
    features = made_features()
    ranker = candidate.fitted(features)
    order = np.lexsort((-np.arange(len(features.labels)), _query_of(features)))
    turned = replace(features, labels=features.labels[order], values=features.values[order])
    candidate.same(
        candidate.scores(ranker, turned),
        candidate.scores(ranker, features)[order],
        "documents in another order",
    )


def _query_of(features: Features) -> Ints:
    return np.repeat(np.arange(len(features.queries)), np.diff(features.bounds))


def _one_document(candidate: Candidate) -> None:
    """Queries of one document, and no document at all."""
    features = made_features(60, sizes=(1, 1))
    ranker = candidate.fitted(features, features)
    candidate.scores(ranker, features)
    candidate.scores(ranker, _without_documents(features))


def _constant_features(candidate: Candidate) -> None:
    """Documents with equal features have equal scores, also if features say nothing."""
    features = made_features()
    constant = replace(features, values=np.full_like(features.values, 3))
    scores = candidate.scores(candidate.fitted(constant, constant), constant)
    candidate.same(scores, np.full_like(scores, scores[0]), "documents with equal features")
    some = features.values.copy()
    some[:, 2] = 0
    partly = replace(features, values=some)
    candidate.scores(candidate.fitted(partly, partly), partly)


def _equal_labels(candidate: Candidate) -> None:
    """All labels are equal, so there is nothing to learn."""
    features = made_features()
    for label in (0, 1):
        equal = replace(features, labels=np.full_like(features.labels, label))
        candidate.scores(candidate.fitted(equal, equal), equal)


def _unknown_values(candidate: Candidate) -> None:
    """NaN is learnt from and scored, or refused with a named error."""
    features = made_features()
    values = features.values.copy()
    values[::3, 1] = np.nan
    values[:, 4] = np.nan
    holes = replace(features, values=values)
    for training, scored in ((holes, holes), (features, holes), (holes, features)):
        try:
            ranker = candidate.fitted(training, training)
            candidate.scores(ranker, scored)
        except RankgaugeError:
            continue


def _infinite_values(candidate: Candidate) -> None:
    """An infinite value is refused."""
    features = made_features()
    values = features.values.copy()
    values[3, 1] = np.inf
    infinite = replace(features, values=values)
    ranker = candidate.fitted(features)
    for action in (lambda: candidate.fitted(infinite), lambda: ranker.predict(infinite)):
        _refused(candidate, action, "an infinite value")


def _other_features(candidate: Candidate) -> None:
    """Data with fewer features than there were in training is refused."""
    features = made_features()
    fewer = replace(features, values=features.values[:, :-1])
    ranker = candidate.fitted(features)
    _refused(candidate, lambda: ranker.predict(fewer), "a missing feature")
    _refused(candidate, lambda: candidate.fitted(features, fewer), "a missing feature")


def _refused(candidate: Candidate, action: Callable[[], Any], what: str) -> None:
    try:
        action()
    except RankgaugeError:
        return
    candidate.fail(f"{what} is not refused with a RankgaugeError")


def _empty_data(candidate: Candidate) -> None:
    """Nothing to learn from is refused. Nothing to validate on is refused, or as good as None."""
    features = made_features()
    empty = _without_documents(features)
    _refused(candidate, lambda: candidate.fitted(empty), "data without documents")
    try:
        ranker = candidate.fitted(features, empty)
    except RankgaugeError:
        return
    candidate.same(
        candidate.scores(ranker, features),
        candidate.scores(candidate.fitted(features), features),
        "an empty validation set, and none",
    )


def _save_and_load(candidate: Candidate) -> None:
    """A loaded ranker gives the same scores, to the last bit, and saves the same files."""
    features = made_features()
    ranker = candidate.fitted(features, made_features(10, seed=SEED + 1))
    with tempfile.TemporaryDirectory() as place:
        first, second = os.path.join(place, "1"), os.path.join(place, "2")
        ranker.save(first)
        loaded = load(first)
        if type(loaded) is not type(ranker):
            candidate.fail(f"{type(loaded).__name__} was loaded, expected the class that was saved")
        scores = candidate.scores(loaded, features)
        candidate.same(scores, ranker.predict(features), "after loading, and before", exactly=True)
        loaded.save(second)
        if _files(first) != _files(second):
            candidate.fail("a loaded ranker saves other files")


def _interrupted_save(candidate: Candidate) -> None:
    """Saving that stops anywhere leaves the ranker that was there, or none."""
    features = made_features()
    old, new = candidate.fitted(features), candidate.fitted(made_features(20, seed=SEED + 3))
    for before in (None, old):
        steps = 0
        while True:
            with tempfile.TemporaryDirectory() as folder:
                if before is not None:
                    before.save(folder)
                finished = _stopped_at(new, folder, steps)
                if finished:
                    kept: Ranker | None = new
                elif os.path.exists(os.path.join(folder, MANIFEST)):
                    kept = before
                else:
                    kept = None
                if kept is None and before is not None:
                    candidate.fail(
                        f"saving stopped after {steps} steps, and the old ranker is lost"
                    )
                _same_as(candidate, kept, folder, features)
            if finished:
                break
            steps += 1


def _stopped_at(ranker: Ranker, folder: str, steps: int) -> bool:
    """Save, but stop before a file appears that comes after so many others; whether it went on to the
    end."""
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


def _same_as(candidate: Candidate, kept: Ranker | None, folder: str, features: Features) -> None:
    """What is in the folder is this ranker, or, where there is none, nothing that can be loaded."""
    if kept is None:
        try:
            load(folder)
        except InputError:
            return
        candidate.fail("a ranker that was not saved to the end can be loaded")
    scores = load(folder).predict(features)
    candidate.same(scores, kept.predict(features), "after saving was stopped", exactly=True)


CHECKS: dict[str, Callable[[Candidate], None]] = {
    "settings": _settings,
    "training objective": _objective,
    "predicting before learning": _not_fitted,
    "what is learnt": _learnt_state,
    "easy data": _learns,
    "learning again": _refit,
    "each query alone": _each_query_alone,
    "order of rows": _row_order,
    "queries of one document": _one_document,
    "constant features": _constant_features,
    "equal labels": _equal_labels,
    "NaN": _unknown_values,
    "infinite values": _infinite_values,
    "missing features": _other_features,
    "empty data": _empty_data,
    "save and load": _save_and_load,
    "interrupted save": _interrupted_save,
}
"""What every ranker must do, by name."""

"""Cross-validation of rankers: each is trained on every fold, and compared on all test queries."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.checks import checked, one_of
from rankgauge.data.errors import InputError, MeasureError, RankgaugeError, Unsupported
from rankgauge.data.features import Features
from rankgauge.data.files import display_name, read_bytes, writing
from rankgauge.data.folds import Fold, Folds
from rankgauge.data.model import Ids, Run
from rankgauge.data.trec import read_run, write_run
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import SEED
from rankgauge.rankers.base import Ranker
from rankgauge.rankers.evaluations import DEFAULT_EVALUATION, PLAIN, Evaluation, EvaluationName
from rankgauge.rankers.ranking import run_of
from rankgauge.rankers.registry import find_method
from rankgauge.rankers.registry import methods as all_methods
from rankgauge.rankers.settings import MONITORED
from rankgauge.records import Record
from rankgauge.resampling import Progress
from rankgauge.results import Result
from rankgauge.scores.documents import read_json
from rankgauge.scores.model import Scores
from rankgauge.seeds import digest
from rankgauge.tables import Cell, Table
from rankgauge.version import __version__
from rankgauge.workers import outcomes

if TYPE_CHECKING:
    from concurrent.futures import Executor

MEASURES = (MONITORED, "AP")
SINGLE, RANDOM = "best feature", "random order"
"""The rows of the single feature that is best on the training data of each fold, and of chance."""
PROTOCOL, TIMES = "protocol.json", "times.json"

Method = str | Ranker | type[Ranker]


def cross_validate(
    folds: Folds,
    methods: Sequence[Method] | None = None,
    measures: Sequence[AnyMeasure] = MEASURES,
    *,
    evaluation: EvaluationName = DEFAULT_EVALUATION,
    seed: int = SEED,
    output: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Scores:
    """The scores of rankers on the test queries of all folds; `cross_validation` has more beside.

    Parameters
    ----------
    folds
        What `read_folds` gives.
    methods
        Names of methods, classes, or rankers with settings. By default all methods.
    measures
        The measures to score by.
    evaluation
        "letor" evaluates as LETOR's own program does, for comparisons with published values, and "mslr"
        as the program of MSLR. What the rankers learn stays the same.
    seed
        The seed of methods that are given by name or class.
    output
        A folder. A run file, a file of scores and the means of each fold and method are written there. A
        later call with the same folder goes on from what is finished.
    executor
        Who does the work; by default threads. A pool of processes must not be made by fork.
    progress
        Called after each fold and method.
    """
    return cross_validation(
        folds,
        methods,
        measures,
        evaluation=evaluation,
        seed=seed,
        output=output,
        executor=executor,
        progress=progress,
    ).scores


def cross_validation(
    folds: Folds,
    methods: Sequence[Method] | None = None,
    measures: Sequence[AnyMeasure] = MEASURES,
    *,
    evaluation: EvaluationName = DEFAULT_EVALUATION,
    seed: int = SEED,
    output: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> CrossValidation:
    """Rankers trained on every fold, with their scores on test, training and validation data.

    The parameters are those of `cross_validate`.
    """
    rankers = _rankers(methods, seed)
    by = Evaluation(checked("evaluation", evaluation, one_of(EvaluationName)))
    parsed = tuple(dict.fromkeys(by.measure(parse(measure)) for measure in measures))
    if not parsed:
        raise RankgaugeError("no measure, expected at least one")
    store = None if output is None else Store(Path(output))
    if store is not None:
        store.begin(folds, rankers, parsed, by)
    work = FoldWork(tuple(folds), rankers, parsed, by, store)
    items = [(place, name) for place in range(len(work.folds)) for name in (*rankers, SINGLE)]
    parts: dict[tuple[int, str], Trained] = {}
    for item, result in outcomes(work, items, executor, name=work.label):
        if isinstance(result, RankgaugeError):
            raise result
        parts[item] = result
        if progress is not None:
            progress(work.label(item))
    if store is not None:
        store.write_times(work)
    return _gathered(work, parts)


def _rankers(given: Sequence[Method] | None, seed: int) -> dict[str, Ranker]:
    """The rankers by name; those of one class are numbered."""
    rankers: dict[str, Ranker] = {}
    for method in list(all_methods()) if given is None else given:
        if isinstance(method, str):
            method = find_method(method)
        ranker = method if isinstance(method, Ranker) else method().set_params(seed=seed)
        ranker.settings()
        name = kind = type(ranker).__name__
        number = 1
        while name in rankers:
            number += 1
            name = f"{kind} {number}"
        rankers[name] = ranker
    if not rankers:
        raise RankgaugeError("no method, expected at least one")
    return rankers


class Trained(Record):
    """What a ranker gets on a fold: the run of the test queries, means on training and validation data,
    None where there is none, and the sentences of its notes."""

    run: Run
    train: tuple[float, ...]
    validation: tuple[float, ...] | None
    notes: tuple[str, ...] = ()


class FoldWork(Record):
    """Trains and evaluates a ranker on a fold, or reads what was finished before."""

    folds: tuple[Fold, ...]
    rankers: dict[str, Ranker]
    measures: tuple[Measure | Aggregate, ...]
    by: Evaluation
    store: Store | None

    def label(self, item: tuple[int, str]) -> str:
        """What the work is called."""
        return f"fold {self.folds[item[0]].number}, {item[1]}"

    def __call__(self, item: tuple[int, str]) -> Trained:
        place, name = item
        fold = self.folds[place]
        if self.store is not None:
            finished = self.store.finished(fold.number, name)
            if finished is not None:
                return finished
        start = time.perf_counter()
        scorer, notes = self._trained(fold, name)
        train = self._means(fold.train, scorer(fold.train))
        validation = None
        if fold.validation is not None:
            validation = self._means(fold.validation, scorer(fold.validation))
        trained = Trained(run_of(fold.test, scorer(fold.test), name), train, validation, notes)
        if self.store is not None:
            scores = self.by.evaluator(fold.test, list(self.measures)).scores([trained.run])
            self.store.keep(fold.number, name, trained, scores, time.perf_counter() - start)
        return trained

    def _trained(self, fold: Fold, name: str) -> tuple[Any, tuple[str, ...]]:
        """What scores documents after training on the fold, and the sentences of its notes."""
        if name == SINGLE:
            return best_feature(fold.train, self.measures[0], self.by), ()
        ranker = type(self.rankers[name])().set_params(**self.rankers[name].get_params())
        ranker.fit(fold.train, fold.validation)
        return ranker.predict, tuple(note.kind for note in ranker.notes())

    def _means(self, features: Features, scores: Floats) -> tuple[float, ...]:
        made = self.by.evaluator(features, list(self.measures)).score_features(features, scores)
        (means,) = made.mean().values()
        return tuple(means[str(measure)] for measure in self.measures)


class FeatureScore(Record):
    """Scores documents by one feature, as it is or negated."""

    column: int
    sign: float

    def __call__(self, features: Features) -> Floats:
        return self.sign * np.nan_to_num(features.values[:, self.column].astype(np.float64))


def best_feature(
    features: Features, measure: Measure | Aggregate, by: Evaluation = PLAIN
) -> FeatureScore:
    """The single feature, up or down, that ranks these documents best by a measure."""
    evaluator = by.evaluator(features, measure)
    best, found = -np.inf, FeatureScore(0, 1.0)
    lower = measure.direction == "lower" if isinstance(measure, Measure) else False
    for column in range(features.values.shape[1]):
        if np.ptp(np.nan_to_num(features.values[:, column])) == 0:
            continue
        for sign in (1.0, -1.0):
            scorer = FeatureScore(column, sign)
            (means,) = evaluator.score_features(features, scorer(features)).mean().values()
            value = -means[str(measure)] if lower else means[str(measure)]
            if value > best:
                best, found = value, scorer
    return found


class Store(Record):
    """A folder with what is finished: for each fold and method a run, scores, and means on other data.

    The means are written last, in one step: a fold and method with means is finished.
    """

    folder: Path

    def begin(
        self,
        folds: Folds,
        rankers: dict[str, Ranker],
        measures: Sequence[Measure | Aggregate],
        by: Evaluation,
    ) -> None:
        """Make the folder, or check that it has the same cross-validation; RankgaugeError else."""
        protocol = {
            "rankgauge": __version__,
            "folds": folds.layout,
            "data": digest(repr([fold.parts for fold in folds]).encode(), size=16).hex(),
            "methods": {name: repr(ranker) for name, ranker in rankers.items()},
            "seeds": {name: ranker.seed for name, ranker in rankers.items()},
            "measures": [str(measure) for measure in measures],
            "evaluation": by.name,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / PROTOCOL
        content = _json(protocol)
        if path.exists() and path.read_bytes() != content:
            raise RankgaugeError(
                f"{self.folder} has another cross-validation (see {PROTOCOL}), expected the same one "
                "to go on with, or another folder"
            )
        with writing(path) as stream:
            stream.write(content)

    def finished(self, fold: int, name: str) -> Trained | None:
        """What was finished before; None if it was not."""
        path = self._path(fold, name, "json")
        if not path.exists():
            return None
        try:
            means = read_json(read_bytes(path), display_name(path))
            run = read_run(self._path(fold, name, "run"), name=name)
            validation = means["validation"]
            return Trained(
                run,
                tuple(means["train"]),
                None if validation is None else tuple(validation),
                tuple(map(str, means["notes"])),
            )
        except (InputError, KeyError, TypeError):
            return None  # made anew

    def keep(self, fold: int, name: str, trained: Trained, scores: Scores, seconds: float) -> None:
        """Write what is finished."""
        path = self._path(fold, name, "json")
        path.parent.mkdir(exist_ok=True)
        write_run(trained.run, self._path(fold, name, "run"))
        scores.save(self._path(fold, name, "scores"))
        beside = ("train", "validation", "notes")
        with writing(path) as stream:
            stream.write(_json({entry: getattr(trained, entry) for entry in beside}))
        with writing(self._path(fold, name, "seconds")) as stream:
            stream.write(f"{seconds:.3f}\n".encode())

    def write_times(self, work: FoldWork) -> None:
        """Gather how long each fold and method took, in a file of its own: times differ every time."""
        times: dict[str, dict[str, float]] = {}
        for fold in work.folds:
            for name in (*work.rankers, SINGLE):
                path = self._path(fold.number, name, "seconds")
                if path.exists():
                    times.setdefault(f"fold-{fold.number}", {})[name] = float(path.read_text())
                    path.unlink()
        if times:
            with writing(self.folder / TIMES) as stream:
                stream.write(_json(times))

    def _path(self, fold: int, name: str, ending: str) -> Path:
        return self.folder / f"fold-{fold}" / f"{name.replace(' ', '-')}.{ending}"


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Result):
    """Rankers on the test queries of all folds: what `cross_validation` found.

    `scores` has a run for each method, and one for the best single feature of each fold. `train` and
    `validation` have means: method × measure, each the mean over the folds.
    """

    scores: Scores
    linear: Floats
    """Method × measure: the mean of `linear(measure)`, which is 0 for a random order and 1 for the best;
    NaN where a measure has none."""
    expected: Floats
    """The mean of each measure over random orders of the documents; NaN where a measure has none."""
    train: Floats
    validation: Floats | None
    notes: tuple[Note, ...]

    def table(self) -> Table:
        """A row for each measure and method: the mean on test queries with its interval, `linear` of it,
        and the means on training and validation data; then the same for a random order."""
        columns = ("measure", "method", "test", "low", "high", "linear", "train", "validation")
        rows: list[tuple[Cell, ...]] = []
        means, intervals = self.scores.mean(), self.scores.interval()
        for m, measure in enumerate(map(str, self.scores.measures)):
            for place, run in enumerate(self.scores.runs):
                other = None if self.validation is None else float(self.validation[place, m])
                ends = intervals[run][measure]
                beside = (float(self.linear[place, m]), float(self.train[place, m]), other)
                rows.append((measure, run, means[run][measure], *ends, *beside))
            expected = float(self.expected[m])
            nothing = None if np.isnan(expected) else 0.0
            rows.append((measure, RANDOM, expected, None, None, nothing, None, None))
        return Table(columns, tuple(rows), worded(self.notes))

    def _title(self) -> str:
        return f"CrossValidation: {counted(len(self.scores.runs), 'ranker')}"


def _gathered(work: FoldWork, parts: dict[tuple[int, str], Trained]) -> CrossValidation:
    """The scores of all folds together."""
    test = Features.joined([fold.test for fold in work.folds])
    names = (*work.rankers, SINGLE)
    runs = [
        _joined_run(name, [parts[f, name].run for f in range(len(work.folds))]) for name in names
    ]
    scores = work.by.evaluator(test, list(work.measures)).scores(runs)
    linear = _around(work, test, runs, "linear")
    expected = _around(work, test, runs[:1], "expected")[0]
    train = np.array([_mean_of_folds(work, parts, name, "train") for name in names])
    validation = None
    if all(fold.validation is not None for fold in work.folds):
        validation = np.array([_mean_of_folds(work, parts, name, "validation") for name in names])
    queries = counted(len(test.queries), "test query", "test queries")
    notes = (
        Note(f"the mean over all {queries}, with its 95% interval", column="test, low, high"),
        Note("0 is what a random order gets, 1 the best order", column="linear"),
        Note("means over the folds", column="train, validation"),
        Note(
            f"the one that ranks the training data of its fold best by {work.measures[0]}",
            run=SINGLE,
        ),
        *_fold_notes(work, parts),
    )
    return CrossValidation(scores, linear, expected, train, validation, notes)


def _fold_notes(work: FoldWork, parts: dict[tuple[int, str], Trained]) -> Iterator[Note]:
    """What to know about what the rankers learnt, and on how many folds."""
    for name in work.rankers:
        counts = Counter(
            kind for place in range(len(work.folds)) for kind in parts[place, name].notes
        )
        for kind, count in counts.items():
            yield Note(kind, run=name, detail=f"on {count} of {counted(len(work.folds), 'fold')}")


def _around(work: FoldWork, test: Features, runs: Sequence[Run], wrapper: str) -> Floats:
    """Run × measure: the mean of a wrapper of each measure, such as linear(AP), or NaN."""
    found = np.full((len(runs), len(work.measures)), np.nan)
    for m, measure in enumerate(work.measures):
        try:
            around = parse(f"{wrapper}({measure})")
            means = work.by.evaluator(test, around).scores(list(runs)).mean()
        except (MeasureError, Unsupported):
            continue
        found[:, m] = [value for own in means.values() for value in own.values()]
    return found


def _mean_of_folds(
    work: FoldWork, parts: dict[tuple[int, str], Trained], name: str, what: str
) -> Floats:
    each = [getattr(parts[place, name], what) for place in range(len(work.folds))]
    return np.asarray(np.mean(np.array(each, dtype=np.float64), axis=0))


def _joined_run(name: str, runs: Iterable[Run]) -> Run:
    """Runs of different queries as one."""
    runs = list(runs)
    queries = Ids.joined([run.queries for run in runs])
    documents = Ids.joined([run.documents for run in runs])
    sizes = np.concatenate([np.diff(run.bounds) for run in runs])
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    return Run(
        name, queries, bounds, documents, np.concatenate([run.scores for run in runs]), tag=name
    )

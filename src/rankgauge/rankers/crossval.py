"""Cross-validation of rankers: each is trained on every fold, and compared on all test queries."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.plugins import digests_of
from rankgauge.core.policies import SEED, SEEDS, Progress
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.data.features import Features
from rankgauge.data.folds import Fold, Folds
from rankgauge.data.model import Ids, Judgments, Run, decode
from rankgauge.errors import InputError, MeasureError, RankgaugeError, Unsupported
from rankgauge.io.own_paths import OwnPath
from rankgauge.measures.around import Aggregate, innermost
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse, parse_all
from rankgauge.rankers.base import Ranker
from rankgauge.rankers.evaluations import (
    DEFAULT_EVALUATION,
    Evaluation,
    EvaluationName,
    best_feature,
)
from rankgauge.rankers.fold_store import (
    METHODS,
    FoldResult,
    FoldStore,
    TimedFoldResult,
    data_digest,
)
from rankgauge.rankers.libraries import PACKAGES, version_of
from rankgauge.rankers.ranking import run_of
from rankgauge.rankers.registry import find_method, methods as all_methods
from rankgauge.rankers.settings import MONITORED
from rankgauge.rankers.training_queries import TrainingQueries
from rankgauge.rankings.lists import offsets_of
from rankgauge.scores.model import Scores
from rankgauge.version import __version__
from rankgauge.workers import AnyExecutor, WorkerDied, outcomes

MEASURES = (MONITORED, "AP")
SINGLE, RANDOM = "best feature", "random order"
"""The rows for the single best feature on the training data of each fold, and for chance."""

Method = str | Ranker | type[Ranker]


def cross_validate(
    folds: Folds,
    methods: Method | Sequence[Method] | None = None,
    measures: AnyMeasure | Sequence[AnyMeasure] = MEASURES,
    *,
    evaluation: EvaluationName = DEFAULT_EVALUATION,
    training_queries: int | None = None,
    seed: int = SEED,
    output: str | os.PathLike[str] | None = None,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Train rankers on every fold, and score them on the test queries of all folds.

    Parameters
    ----------
    folds : Folds
        The folds, from `read_folds`.
    methods : str, class, Ranker, or a list of these, optional
        The methods: names, classes, or rankers with settings. By default, all methods.
    measures : Measure, str, or sequence of these, default ("nDCG(gain=exp2)@10", "AP")
        The measures for the evaluation.
    evaluation : {"rankgauge", "letor", "mslr"}, default "rankgauge"
        How to evaluate the rankings. "rankgauge": as `evaluate` does. "letor" and "mslr": like the
        programs of LETOR and MSLR, for comparisons with published values. This does not affect
        training.
    training_queries : int, optional
        Number of queries drawn at random from each training part. All methods are trained on the
        same queries. Validation and test parts are not reduced. By default, all queries.
    seed : int, default 0
        Seed of methods that are given by name or class, and of the random choice of training
        queries.
    output : str or path-like, optional
        A folder for the run file, the file of scores and the means of each fold and method. A
        later call with the same folder resumes after the finished methods. It may add methods:
        finished ones are not trained again. Everything else must stay the same.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads. A process pool must not use fork.
    progress : callable, optional
        Called with the name of each fold and method when it is done.

    Returns
    -------
    Scores
        The scores, with one run per method and one for the best single feature of each fold.

    See Also
    --------
    cross_validation : Also gives the rankings, and the means on training and validation data.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rankgauge import read_folds
    >>> lines = [f"{d % 2} qid:{q} 1:{d % 2} 2:{q % 3}\\n" for q in range(9) for d in range(4)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "data.txt")
    ...     _ = file.write_text("".join(lines))
    ...     scores = cross_validate(read_folds(file, 3), "LogisticRegression", "AP")
    >>> scores.mean()["LogisticRegression"]
    {'AP': 1.0}
    """
    return cross_validation(
        folds,
        methods,
        measures,
        evaluation=evaluation,
        training_queries=training_queries,
        seed=seed,
        output=output,
        executor=executor,
        progress=progress,
    ).scores


def cross_validation(
    folds: Folds,
    methods: Method | Sequence[Method] | None = None,
    measures: AnyMeasure | Sequence[AnyMeasure] = MEASURES,
    *,
    evaluation: EvaluationName = DEFAULT_EVALUATION,
    training_queries: int | None = None,
    seed: int = SEED,
    output: str | os.PathLike[str] | None = None,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> CrossValidation:
    """Train rankers on every fold, with scores on test, training and validation data.

    Parameters
    ----------
    folds : Folds
        The folds, from `read_folds`.
    methods : str, class, Ranker, or a list of these, optional
        The methods: names, classes, or rankers with settings. By default, all methods.
    measures : Measure, str, or sequence of these, default ("nDCG(gain=exp2)@10", "AP")
        The measures for the evaluation.
    evaluation : {"rankgauge", "letor", "mslr"}, default "rankgauge"
        How to evaluate the rankings. "rankgauge": as `evaluate` does. "letor" and "mslr": like the
        programs of LETOR and MSLR, for comparisons with published values. This does not affect
        training.
    training_queries : int, optional
        Number of queries drawn at random from each training part. All methods are trained on the
        same queries. Validation and test parts are not reduced. By default, all queries.
    seed : int, default 0
        Seed of methods that are given by name or class, and of the random choice of training
        queries.
    output : str or path-like, optional
        A folder for the run file, the file of scores and the means of each fold and method. A
        later call with the same folder resumes after the finished methods. It may add methods:
        finished ones are not trained again. Everything else must stay the same.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads. A process pool must not use fork.
    progress : callable, optional
        Called with the name of each fold and method when it is done.

    Returns
    -------
    CrossValidation
        The scores, the rankings, and the means on training and validation data.

    Raises
    ------
    RankgaugeError
        If there is no measure or no method, or if `folds` is not what `read_folds` returns. Also if
        workers died and no method is left to report.
    InputError
        If a test query of a fold, with the same documents, is also in the fold's training or
        validation part.

    See Also
    --------
    cross_validate : Gives only the scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rankgauge import read_folds
    >>> lines = [f"{d % 2} qid:{q} 1:{d % 2} 2:{q % 3}\\n" for q in range(9) for d in range(4)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "data.txt")
    ...     _ = file.write_text("".join(lines))
    ...     found = cross_validation(read_folds(file, 3), "LogisticRegression", "AP")
    >>> found.scores.runs
    ('LogisticRegression', 'best feature')
    """
    rankers = _rankers(methods, seed)
    by = Evaluation(check_value("evaluation", evaluation, one_of(EvaluationName)))
    parsed = tuple(dict.fromkeys(by.measure(measure) for measure in parse_all(measures)))
    if not parsed:
        raise RankgaugeError("no measure, expected at least one")
    if not isinstance(folds, Folds):
        raise RankgaugeError(f"folds: {type(folds).__name__}, expected the result of read_folds")
    number = check_value("training_queries", training_queries, Integer(1), optional=True)
    chosen = None if number is None else TrainingQueries(number, check_value("seed", seed, SEEDS))
    store = None
    if output is not None:
        store = FoldStore(OwnPath(output), _protocol(folds, rankers, parsed, by, chosen))
        store.begin()
    work = FoldWork(tuple(folds), rankers, parsed, by, chosen, store is not None)
    items = [(place, name) for place in range(len(work.folds)) for name in (*rankers, SINGLE)]
    advance = progress or (lambda _: None)
    parts: dict[tuple[int, str], FoldResult] = {}
    for place, name in items:
        finished = None if store is None else store.load(work.folds[place].number, name)
        if finished is not None:
            parts[place, name] = finished
            advance(work.label((place, name)))
    failed: dict[tuple[int, str], WorkerDied] = {}
    left = [item for item in items if item not in parts]
    # What is finished is kept here, not where it was made: a worker may not see the folder.
    for item, result in outcomes(work, left, executor, name=work.label, in_order=False):
        if isinstance(result, WorkerDied):
            failed[item] = result
        elif isinstance(result, RankgaugeError):
            raise result
        else:
            parts[item] = result.trained
            if store is not None:
                store.keep(work.folds[item[0]].number, item[1], result)
        advance(work.label(item))
    lacking = {name for _, name in failed}
    if SINGLE in lacking or lacking.issuperset(rankers):
        raise RankgaugeError("\n".join(str(failed[item]) for item in items if item in failed))
    work = replace(work, rankers={name: r for name, r in rankers.items() if name not in lacking})
    return _combine_folds(work, parts, tuple(str(failed[item]) for item in items if item in failed))


def _protocol(
    folds: Folds,
    rankers: dict[str, Ranker],
    measures: Sequence[Measure | Aggregate],
    by: Evaluation,
    chosen: TrainingQueries | None,
) -> dict[str, Any]:
    """Everything that the result depends on: data, methods with their settings, plug-ins, and versions.

    The draw of training queries is there only if there is one.
    """
    plugins = digests_of(map(type, (*measures, *map(innermost, measures))))
    return {
        "rankgauge": __version__,
        "libraries": {package: version_of(package) for package in ("numpy", *PACKAGES.values())},
        **({"plugins": plugins} if plugins else {}),
        "folds": folds.layout,
        "data": data_digest(folds),
        **({} if chosen is None else {"training_queries": chosen.content()}),
        METHODS: {name: _method(ranker) for name, ranker in rankers.items()},
        "measures": [str(measure) for measure in measures],
        "evaluation": by.name,
    }


def _method(ranker: Ranker) -> dict[str, Any]:
    """Everything that the model of a ranker depends on, except the data.

    It has the method, its settings, and the plug-in that the method comes from.
    """
    plugin = digests_of([type(ranker)])
    return {
        "method": type(ranker).__name__,
        **({"plugin": plugin} if plugin else {}),
        **{setting: str(value) for setting, value in ranker.settings().items()},
    }


def _rankers(given: Method | Sequence[Method] | None, seed: int) -> dict[str, Ranker]:
    """The rankers by name. Those of one class are numbered; a name that is given twice counts once."""
    rankers: dict[str, Ranker] = {}
    methods: list[Method] = list(all_methods())
    if given is not None:
        methods = [given] if isinstance(given, str | Ranker | type) else list(given)
    methods = list({m.lower() if isinstance(m, str) else id(m): m for m in methods}.values())
    for method in methods:
        if isinstance(method, str):
            method = find_method(method)
        ranker = method().set_params(seed=seed) if isinstance(method, type) else method
        if not isinstance(ranker, Ranker):
            raise RankgaugeError(
                f"{method!r} is not a method, expected a name, a class or a Ranker"
            )
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


class FoldWork(Record):
    """Train and evaluate a ranker on a fold.

    `chosen` says which training queries the ranker learns from; None means all. With `with_scores`,
    scores are made as well, to be kept.
    """

    folds: tuple[Fold, ...]
    rankers: dict[str, Ranker]
    measures: tuple[Measure | Aggregate, ...]
    by: Evaluation
    chosen: TrainingQueries | None
    with_scores: bool

    def label(self, item: tuple[int, str]) -> str:
        """What the work is called."""
        return f"fold {self.folds[item[0]].number}, {item[1]}"

    def __call__(self, item: tuple[int, str]) -> TimedFoldResult:
        place, name = item
        fold = self.folds[place]
        start = time.perf_counter()
        check_test_queries(fold)
        training = fold.train if self.chosen is None else self.chosen.of(fold.train)
        scorer, notes = self._train(name, training, fold.validation)
        train = self._means(training, scorer(training))
        validation = None
        if fold.validation is not None:
            validation = self._means(fold.validation, scorer(fold.validation))
        run = run_of(fold.test, scorer(fold.test), name, ties_in_file_order=self.by.ties == "input")
        scores = None
        if self.with_scores:
            scores = self.by.evaluator(fold.test, list(self.measures)).scores([run])
        trained = FoldResult(run, train, validation, notes)
        return TimedFoldResult(trained, scores, time.perf_counter() - start)

    def _train(
        self, name: str, training: Features, validation: Features | None
    ) -> tuple[Any, tuple[str, ...]]:
        """What scores documents after training, and the sentences of its notes."""
        if name == SINGLE:
            feature = best_feature(training, self.measures[0], self.by)
            return feature, (str(feature),)
        ranker = type(self.rankers[name])().set_params(**self.rankers[name].get_params())
        ranker.fit(training, validation)
        return ranker.predict, tuple(note.kind for note in ranker.notes())

    def _means(self, features: Features, scores: Floats) -> tuple[float, ...]:
        made = self.by.evaluator(features, list(self.measures)).score_features(features, scores)
        (means,) = made.mean().values()
        return tuple(means[str(measure)] for measure in self.measures)


def check_test_queries(fold: Fold) -> None:
    """InputError if a query of the test part is in another part of a fold, with the same documents."""
    for part in (fold.train, fold.validation):
        if part is None:
            continue
        known = set(part.queries)
        for raw in fold.test.queries:
            if raw in known and _same_query(part, fold.test, decode(raw)):
                message = (
                    f"query {decode(raw)!r} is also in {part.source}; the test queries of a "
                    "fold must not be among its training queries"
                )
                raise InputError(fold.test.source, None, message)


def _same_query(a: Features, b: Features, query: str) -> bool:
    first, second = a.select([query]), b.select([query])
    return np.array_equal(first.labels, second.labels) and np.array_equal(
        first.values, second.values, equal_nan=True
    )


class CrossValidation(Result, Record):
    """The result of `cross_validation`: rankers on the test queries of all folds.

    Attributes
    ----------
    scores : Scores
        The scores on the test queries, with one run per method and one for the best single feature
        of each fold.
    runs : tuple of Run
        The rankings of these runs.
    judgments : Judgments
        The labels of the test queries.
    linear : array of float, method × measure
        The mean of `linear(measure)`, which is 0 for a random order and 1 for the best; NaN if a
        measure has none.
    expected : array of float
        The mean of each measure over random orders of the documents; NaN if a measure has none.
    train, validation : array of float, method × measure
        The mean on training and on validation data, averaged over the folds. `validation` is None
        if some fold has no validation data.
    notes : tuple of Note
        Notes on the numbers.
    failed : tuple of str
        The folds that failed for each method because workers died, with the reasons. These methods
        are skipped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rankgauge import read_folds
    >>> lines = [f"{d % 2} qid:{q} 1:{d % 2} 2:{q % 3}\\n" for q in range(9) for d in range(4)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "data.txt")
    ...     _ = file.write_text("".join(lines))
    ...     found = cross_validation(read_folds(file, 3), "LogisticRegression", "AP")
    >>> found.linear.tolist(), found.expected.round(4).tolist()
    ([[1.0], [1.0]], [0.6806])
    """

    scores: Scores
    runs: tuple[Run, ...]
    judgments: Judgments
    linear: Floats
    """Method × measure: the mean of `linear(measure)`, which is 0 for a random order and 1 for the best;
    NaN where a measure has none."""
    expected: Floats
    """The mean of each measure over random orders of the documents; NaN where a measure has none."""
    train: Floats
    validation: Floats | None
    notes: tuple[Note, ...]
    failed: tuple[str, ...] = ()
    """The folds that failed because workers died, by method, and why. These methods are excluded."""

    def table(self) -> Table:
        """Return a table with one row per measure and method, and then one for a random order.

        Each row has the mean on test queries with its interval, its `linear` value, and the means
        on training and validation data.
        """
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
        return Table(columns, tuple(rows), note_texts(self.notes))

    def _title(self) -> str:
        return f"CrossValidation: {count_phrase(len(self.scores.runs), 'ranker')}"


def _combine_folds(
    work: FoldWork, parts: dict[tuple[int, str], FoldResult], failed: tuple[str, ...]
) -> CrossValidation:
    """The scores of all folds together."""
    test = Features.joined([fold.test for fold in work.folds])
    names, folds = (*work.rankers, SINGLE), range(len(work.folds))
    runs = [_joined_run(name, [parts[f, name].run for f in folds]) for name in names]
    scores = work.by.evaluator(test, list(work.measures)).scores(runs)
    linear = _wrapper_means(work, test, runs, "linear")
    expected = _wrapper_means(work, test, runs[:1], "expected")[0]
    train = _fold_means([[parts[f, name].train for f in folds] for name in names])
    validation = None
    if all(fold.validation is not None for fold in work.folds):
        validation = _fold_means([[parts[f, name].validation for f in folds] for name in names])
    queries = count_phrase(len(test.queries), "test query", "test queries")
    notes = (
        Note(f"mean over all {queries}, with its 95% interval", column="test, low, high"),
        Note(
            "per query, 0 for a random order and 1 for the best order; 0 if all orders score "
            "the same; then averaged over queries",
            column="linear",
        ),
        Note("means over the folds", column="train, validation"),
        *_training_query_notes(work),
        Note(
            f"the feature that ranks the training data of its fold best by {work.measures[0]}: "
            + _format_best_features([parts[f, SINGLE].notes[0] for f in folds]),
            run=SINGLE,
        ),
        *_validation_notes(work.rankers),
        *_fold_notes(work, parts),
    )
    return CrossValidation(
        scores, tuple(runs), test.judgments, linear, expected, train, validation, notes, failed
    )


def _training_query_notes(work: FoldWork) -> Iterator[Note]:
    """How many training queries were drawn in which folds."""
    if work.chosen is None:
        return
    folds = _join_by_text(
        (work.chosen.sentence(len(fold.train.queries)), str(fold.number)) for fold in work.folds
    )
    for sentence, own in folds.items():
        yield Note(sentence, detail=f"in fold {own}" if len(folds) > 1 else "in each fold")


def _format_best_features(features: Sequence[str]) -> str:
    """Which feature is best in which folds."""
    folds = _join_by_text((feature, str(number)) for number, feature in enumerate(features, 1))
    if len(folds) == 1:
        return f"feature {features[0]} in all folds"
    return "; ".join(f"feature {feature} in fold {own}" for feature, own in folds.items())


def _validation_notes(rankers: dict[str, Ranker]) -> list[Note]:
    """What the validation sets decide by, which is no measure of the table by itself."""
    by = _join_by_text((str(each.settings()["measure"]), name) for name, each in rankers.items())
    return [
        Note(f"{measure} is used on the validation sets (setting measure)", run=names)
        for measure, names in by.items()
    ]


def _join_by_text(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each first text of the pairs, the second ones in a list."""
    lists: dict[str, list[str]] = {}
    for text, name in pairs:
        lists.setdefault(text, []).append(name)
    return {text: ", ".join(names) for text, names in lists.items()}


def _fold_notes(work: FoldWork, parts: dict[tuple[int, str], FoldResult]) -> Iterator[Note]:
    """What to know about what the rankers learned, and on how many folds."""
    for name in work.rankers:
        counts = Counter(
            kind for place in range(len(work.folds)) for kind in parts[place, name].notes
        )
        for kind, count in counts.items():
            yield Note(
                kind, run=name, detail=f"on {count} of {count_phrase(len(work.folds), 'fold')}"
            )


def _wrapper_means(work: FoldWork, test: Features, runs: Sequence[Run], wrapper: str) -> Floats:
    """Run × measure: the mean of a wrapper of each measure, such as linear(AP), or NaN."""
    wrapped = np.full((len(runs), len(work.measures)), np.nan)
    for m, measure in enumerate(work.measures):
        try:
            around = parse(f"{wrapper}({measure})")
            means = work.by.evaluator(test, around).scores(list(runs)).mean()
        except (MeasureError, Unsupported):
            continue
        wrapped[:, m] = [value for own in means.values() for value in own.values()]
    return wrapped


def _fold_means(values: Sequence[Sequence[tuple[float, ...] | None]]) -> Floats:
    """Method × measure: the means of method × fold × measure."""
    return np.array([np.mean(np.array(own, dtype=np.float64), axis=0) for own in values])


def _joined_run(name: str, runs: Sequence[Run]) -> Run:
    """Runs of different queries as one."""
    return Run(
        name,
        Ids.joined([run.queries for run in runs]),
        offsets_of(np.concatenate([np.diff(run.bounds) for run in runs])),
        Ids.joined([run.documents for run in runs]),
        np.concatenate([run.scores for run in runs]),
        tag=name,
    )

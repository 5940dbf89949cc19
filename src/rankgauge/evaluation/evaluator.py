"""From judgments and runs to scores: align the two, then ask each measure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import WARNING, Note, count_phrase
from rankgauge.core.policies import (
    DEFAULT_FAILURES,
    DEFAULT_NEGATIVE,
    DEFAULT_TIES,
    AppliedPolicies,
    Failures,
    Policies,
    PolicyOptions,
    Progress,
    takes_policies,
)
from rankgauge.data.model import POOLED, Run
from rankgauge.errors import InputError, MeasureError, RankgaugeError, Unsupported
from rankgauge.evaluation.calls import checked_call
from rankgauge.evaluation.inputs import (
    Qrels,
    Runs,
    Source,
    check_measures,
    check_places,
    judgments_of,
    sources_of,
)
from rankgauge.evaluation.scorer import (
    Remarks,
    RunScores,
    RunTask,
    Scorer,
    ScoringTask,
    score_lists,
    stack_arrays,
    stack_columns,
)
from rankgauge.evaluation.split_runs import PartScores, PartTask, SplitRun
from rankgauge.io.parts import RunParts
from rankgauge.io.trec import RunFile
from rankgauge.measures.around import Aggregate, inner, innermost
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse_all
from rankgauge.rankings.alignment import judged_labels
from rankgauge.rankings.lists import Rankings
from rankgauge.scores.model import Scores
from rankgauge.workers import AnyExecutor, outcomes, processors

if TYPE_CHECKING:
    from rankgauge.data.features import Features

Measures: TypeAlias = AnyMeasure | Sequence[AnyMeasure]


@takes_policies
@checked_call("evaluate(qrels, runs, [nDCG @ 10, AP])")
def evaluate(
    qrels: Qrels,
    runs: Runs,
    measures: Measures,
    *,
    policies: Policies | None = None,
    failures: Failures = DEFAULT_FAILURES,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
    **options: Unpack[PolicyOptions],
) -> Scores:
    """Compute the score of every run on every judged query by every measure.

    Parameters
    ----------
    qrels : judgments
        Judgments, `{query: {document: grade}}`, `{query: {relevant documents}}`, a data frame, a qrels
        file, or judgments of ranx or ir_measures.
    runs : runs
        A Run, `{query: {document: score}}`, `{query: [documents, the best first]}`, a data frame, a run
        file, a folder, a pattern such as "runs/*.gz", or a run of ranx or ir_measures. Several of these
        go in a list, or in a dict by name. `RunParts("runs/bm25/")` is one run in many files.
    measures : Measure, str, or sequence of these
        One or more measures, as objects or names, such as "nDCG@10". A name may have several cutoffs:
        "nDCG@5,10" stands for nDCG@5 and nDCG@10.
    policies : Policies, optional
        The policies below as one record. A policy also given as a keyword overrides the record.
    failures : {"raise", "skip"}, default "raise"
        How to treat a run that cannot be read or shares no query with the judgments. "raise": raise the
        error. "skip": skip the run, and list it in `.failed`.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the name of each run, or part of a `RunParts`, once it is scored.
    {policies}

    Returns
    -------
    Scores
        The scores, run × query × measure, with the policies they were computed by.

    Raises
    ------
    InputError
        If the judgments cannot be read. With failures="raise", also if a run cannot be read or shares no
        query with the judgments.
    MeasureError
        If a measure cannot be parsed.
    RankgaugeError
        If a policy is not valid, if there are no runs, or if two runs have the same name.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    >>> evaluate(qrels, {"q1": {"b": 9.0, "a": 8.0}}, "RR").mean()
    {'run': {'RR': 0.25}}
    """
    try:
        evaluator = Evaluator(qrels, measures, policies=policies, **options)
        return evaluator.scores(runs, failures=failures, executor=executor, progress=progress)
    except InputError as error:
        check_places(qrels, runs, error)
        raise


@takes_policies
class Evaluator:
    """An evaluation prepared for many runs: judgments, measures and policies.

    Parameters
    ----------
    qrels : judgments
        Judgments, `{query: {document: grade}}`, `{query: {relevant documents}}`, a data frame, a qrels
        file, or judgments of ranx or ir_measures.
    measures : Measure, str, or sequence of these
        One or more measures, as objects or names, such as "nDCG@10". A name may have several cutoffs:
        "nDCG@5,10" stands for nDCG@5 and nDCG@10.
    policies : Policies, optional
        The policies below as one record. A policy also given as a keyword overrides the record.
    {policies}

    Raises
    ------
    InputError
        If the judgments cannot be read.
    MeasureError
        If a measure cannot be parsed.
    RankgaugeError
        If a policy is not valid.

    Examples
    --------
    >>> evaluator = Evaluator({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}, ["RR", "P@1"])
    >>> evaluator.scores({"q1": {"b": 9.0, "a": 8.0}}).mean()
    {'run': {'RR': 0.25, 'P@1': 0.0}}
    >>> evaluator.score_labels([0, 1, 2], offsets=[0, 2, 3], queries=[0, 1]).tolist()
    [[0.5, 0.0], [1.0, 1.0]]
    """

    def __init__(
        self,
        qrels: Qrels,
        measures: Measures,
        *,
        policies: Policies | None = None,
        **options: Unpack[PolicyOptions],
    ) -> None:
        self.policies = Policies(**options) if policies is None else replace(policies, **options)
        self.judgments = judgments_of(qrels, self.policies.negative)
        self.measures = _parse_measures(measures)
        self.judged = judged_labels(self.judgments, self.policies.max_grade)
        self._inner = tuple(inner(measure) for measure in self.measures)
        self._scorer = Scorer(self.judgments, self.judged, self._inner, self.policies)

    def __repr__(self) -> str:
        names = ", ".join(str(measure) for measure in self.measures)
        return f"Evaluator: {self.judgments!r}; {names}"

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries, in the order of the judgments."""
        return tuple(self.judgments.queries.texts())

    def scores(
        self,
        runs: Runs,
        *,
        failures: Failures = DEFAULT_FAILURES,
        executor: AnyExecutor | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Compute the score of every run on every judged query by every measure.

        Parameters
        ----------
        runs : runs
            A Run, several in a list, or a dict of runs by name. In place of a Run: a dict
            `{query: {document: score}}` or `{query: [documents]}`, a data frame, a run file, a run of
            ranx or ir_measures, `RunParts` for a run in many files, or a function that returns a Run. In
            place of several: a folder, or a pattern such as "runs/*.gz".
        failures : {"raise", "skip"}, default "raise"
            How to treat a run that cannot be read or shares no query with the judgments. "raise": raise
            the error. "skip": skip the run, and list it in `.failed`.
        executor : Executor, Client or Workers, optional
            Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
            default, as many threads as there are processors.
        progress : callable, optional
            Called with the name of each run, or part of a `RunParts`, once it is scored.
        """
        check_value("failures", failures, one_of(Failures))
        sources = sources_of(runs, elsewhere=executor is not None)
        about_queries = [measure.query_remarks(self.judged) for measure in self._inner]
        results, failed = [], []
        with closing(score_runs(self._scorer, sources, executor, progress)) as done:
            for result in done:
                if isinstance(result, RunScores):
                    results.append(result)
                elif failures == "raise":
                    raise result
                else:
                    failed.append(str(result))
        names = [result.name for result in results]
        name, count = Counter(names).most_common(1)[0] if names else ("", 0)
        if count > 1:
            raise RankgaugeError(f"two runs have the name {name!r}; give them different names")
        count = len(self.judged)
        return Scores(
            runs=tuple(names),
            queries=self.queries,
            measures=self.measures,
            values=stack_arrays([result.values for result in results], (count, len(self.measures))),
            present=stack_arrays([result.present for result in results], (count,)),
            judged_at_10=stack_arrays([result.judged_share for result in results], (count,)),
            relevant=self.judged.relevant(1),
            nothing_relevant=stack_arrays(
                [measure.nothing_relevant_each(self.judged) for measure in self._inner], (count,)
            ),
            policies=self._applied_policies(results),
            notes=(
                *self._ties_notes(),
                *self._grade_notes(),
                *_notes_on_measures(self._inner, about_queries),
                *self._run_notes(results),
            ),
            failed=tuple(failed),
            only_relevant=bool(self.judged.labels.min(initial=1) >= 1),
        )

    def _grade_notes(self) -> Iterator[Note]:
        """A warning for each measure for which all judged documents have too low a grade."""
        highest = int(self.judged.labels.max(initial=0))
        for measure in dict.fromkeys(self._inner):
            if 0 < highest < measure.relevant_from:
                text = (
                    f"no document has a grade of {measure.relevant_from} or more, so none counts as "
                    f"relevant; the highest is {highest}"
                )
                yield Note(text, measure=str(measure), severity=WARNING)

    def score_features(self, features: Features, scores: ArrayLike, *, name: str = "run") -> Scores:
        """The scores of the documents of features, as one run: the ranking of each query is evaluated.

        It is what `scores` gives for a run file with these scores, except that scores are compared in
        double precision unless `precision` says otherwise. Documents without a name are called as in
        `features.named()`; make the evaluator of `features.judgments`, which calls them the same.

        Parameters
        ----------
        features
            The queries and documents.
        scores
            A score for each row of the features.
        name
            The name of the run.

        >>> from rankgauge import Features
        >>> from rankgauge.data.model import Ids
        >>> features = Features(
        ...     Ids.of(["q1"]), np.array([0, 2]), np.array([0, 1], np.int32), np.eye(2)
        ... )
        >>> Evaluator(features.judgments, "RR").score_features(features, [0.5, 0.25]).mean()
        {'run': {'RR': 0.5}}
        """
        try:
            numbers = np.asarray(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise RankgaugeError("scores: expected a number for each document") from None
        if numbers.shape != features.labels.shape:
            raise RankgaugeError(
                f"scores of shape {numbers.shape}, expected a number for each of the "
                f"{count_phrase(len(features.labels), 'document')}"
            )
        if np.isnan(numbers).any():
            row = int(np.argmax(np.isnan(numbers)))
            raise RankgaugeError(f"scores: row {row} is not a number, expected numbers")
        documents = features.judgments.documents
        run = Run(name, features.queries, features.bounds, documents, numbers, tag=name)
        return self.scores(run)

    def score_labels(self, labels: ArrayLike, offsets: ArrayLike, queries: ArrayLike) -> Floats:
        """List × measure: the scores of lists that are labels in rank order already.

        This is for thousands of lists at once: nothing is read, sorted or looked up by id. List i is
        labels[offsets[i]:offsets[i + 1]]. It ranks documents of the query `.queries[queries[i]]`. One
        query may have many lists, or none. A label is the grade of the document, -1 if it is not judged,
        -2 if it was pooled and not judged. A list should hold no more documents of a grade than are
        judged; this is not checked. Columns are in the order of `.measures`; an aggregate has the scores
        of the measure inside. There are no notes, such as the error of an estimate.
        """
        if self.policies.tail is not None:
            raise RankgaugeError(
                f"tail={self.policies.tail!r} works only for runs, not for lists of labels"
            )
        for measure in self._inner:
            if self.judged.aspects is not None and innermost(measure).by_subtopic:
                raise Unsupported(f"{measure} needs to know which documents are ranked; pass a run")
        rankings = self._lists_of_labels(labels, offsets, queries)
        if self.policies.unjudged == "condensed":
            rankings = rankings.condensed()
        return stack_columns(
            [score_lists(measure, rankings)[0] for measure in self._inner], len(rankings)
        )

    def _lists_of_labels(
        self, labels: ArrayLike, offsets: ArrayLike, queries: ArrayLike
    ) -> Rankings:
        """The lists, checked."""
        rows, ends = _whole_numbers("labels", labels), _whole_numbers("offsets", offsets)
        query = _whole_numbers("queries", queries)
        if len(ends) != len(query) + 1 or ends[0] != 0 or ends[-1] != len(rows):
            raise RankgaugeError(
                f"{count_phrase(len(ends), 'offset')} for {count_phrase(len(query), 'list')}, expected "
                f"{len(query) + 1} offsets; the first must be 0, and the last must be {len(rows)}, the "
                "number of labels"
            )
        if (ends[1:] < ends[:-1]).any():
            raise RankgaugeError("the offsets decrease, expected each list to end after its start")
        count, highest = len(self.judged), self.judged.max_grade
        if len(query) and not 0 <= query.min() <= query.max() < count:
            raise RankgaugeError(
                f"query numbers from {query.min()} to {query.max()}, expected numbers from 0 to "
                f"{count - 1}: there are {count_phrase(count, 'query')}"
            )
        if len(rows) and not POOLED <= rows.min() <= rows.max() <= highest:
            raise RankgaugeError(
                f"labels from {rows.min()} to {rows.max()}, expected -2 to {highest}, the highest grade"
            )
        return Rankings(rows.astype(np.int32), ends, query, self.judged)

    # Policies and notes

    def _applied_policies(self, results: Sequence[RunScores]) -> AppliedPolicies:
        """What the signatures say: the policies as they were applied to these runs."""
        asked, by = self.policies, self._scorer
        estimated = any(
            remark.error is not None
            for result in results
            for measure, remarks in zip(by.measures_to_score, result.remarks, strict=True)
            if by.ties_of(measure) == "expected"
            for remark in remarks
        )
        negative = self.judgments.negative
        return AppliedPolicies(
            ties=asked.ties,
            seed=asked.seed if asked.ties == "random" or estimated else None,
            tail=None if asked.tail is None else f"{asked.tail}({asked.documents})",
            precision=asked.precision,
            judgments=None if self.judged.aspects is None else "subtopics",
            unjudged=asked.unjudged,
            negative=None if negative == DEFAULT_NEGATIVE else negative,
            missing=asked.missing,
            max_grade=self.judged.max_grade,
        )

    def _ties_notes(self) -> Iterator[Note]:
        """A note on each measure that does not follow a policy for ties that was asked for."""
        asked = self.policies.ties
        for measure in self._inner:
            if measure.own_ties not in (None, asked) and asked != DEFAULT_TIES:
                kind = f"ties={measure.own_ties} by its definition, not {asked}"
                yield Note(kind, measure=str(measure))

    def _run_notes(self, results: Sequence[RunScores]) -> Iterator[Note]:
        """The notes about each run."""
        over_orders = any(measure.over_orders for measure in self._inner)
        for result in results:
            own = [
                *result.notes,
                *_notes_on_measures(self._scorer.measures_to_score, result.remarks),
            ]
            unjudged = int(np.count_nonzero(result.judged_share[result.present] < 1))
            if unjudged and over_orders and self.policies.unjudged == "nonrelevant":
                kind = "unjudged documents among the first ten on {queries}"
                own.append(Note(kind, count=unjudged))
            yield from (replace(note, run=result.name) for note in own)


def _notes_on_measures(measures: Sequence[Measure], remarks: Remarks) -> Iterator[Note]:
    """The remarks on each measure, which they name."""
    for measure, notes in zip(measures, remarks, strict=True):
        yield from (replace(note, measure=str(measure)) for note in notes)


def _whole_numbers(name: str, values: ArrayLike) -> Ints:
    """Whole numbers in one dimension; RankgaugeError for anything else."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.zeros(())  # lists of different lengths
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RankgaugeError(f"{name}: expected one array of whole numbers")
    if array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise RankgaugeError(f"{name}: {array.max()} is too large, expected at most 63 bits")
    return np.ascontiguousarray(array, dtype=np.int64)


def _parse_measures(measures: Measures) -> tuple[Measure | Aggregate, ...]:
    check_measures(measures)
    parsed = parse_all(measures)
    for measure in parsed:
        inner(measure).complete()
    if not parsed:
        raise MeasureError("no measure given, expected at least one, such as nDCG@10")
    return tuple(dict.fromkeys(parsed))


# Runs to their scores, by an executor


def score_runs(
    scorer: Scorer,
    sources: Sequence[Source],
    executor: AnyExecutor | None,
    progress: Progress | None = None,
) -> Generator[RunScores | RankgaugeError]:
    """The scores of each run, or the error for it, in order.

    Each run is a task, and each part of a run in parts is a task. The executor gets all of them at once,
    so a single run of many parts keeps all workers busy. `progress` is called with the name of each task
    that is done.
    """
    tasks = [_tasks_of(source) for source in sources]
    flat: list[ScoringTask[RunScores | PartScores]] = [
        task for own in tasks if not isinstance(own, InputError) for task in own
    ]
    threads = 1 if executor is not None else max(1, processors() // max(1, len(flat)))
    scorer = scorer.for_executor(executor, threads)
    with closing(outcomes(scorer, flat, executor, attrgetter("label"))) as results:
        for source, own in zip(sources, tasks, strict=True):
            if isinstance(own, InputError):
                yield own
                continue
            split = None
            if isinstance(source, RunParts):
                files = [task.file for task in own if isinstance(task, PartTask)]
                split = SplitRun(source, files, scorer)
            for task, result in itertools.islice(results, len(own)):
                if progress is not None:
                    progress(task.label)
                if isinstance(result, RunScores):
                    yield result
                elif split is not None:
                    split.add(result)
                elif isinstance(result, RankgaugeError):
                    yield result
            if split is not None:
                yield split.outcome(executor)


def count_tasks(sources: Iterable[object]) -> int:
    """How many tasks these runs are, as far as is known: how often `progress` is called."""
    return sum(
        len(_part_files(source)) if isinstance(source, RunParts) else 1 for source in sources
    )


def _part_files(source: RunParts) -> Sequence[RunFile]:
    try:
        return source.files()
    except InputError:
        return ()


def _tasks_of(source: Source) -> Sequence[RunTask | PartTask] | InputError:
    """The tasks for a run; the error if its parts cannot be listed."""
    if not isinstance(source, RunParts):
        return [RunTask(source)]
    try:
        return [PartTask(number, file) for number, file in enumerate(source.files())]
    except InputError as error:
        return error

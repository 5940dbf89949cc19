"""Determine which orders of two runs are settled, however the unjudged documents are judged.

A settled order stays the same whatever labels these documents get.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import (
    DEFAULT_NEGATIVE,
    DEFAULT_OFFLIST,
    DEFAULT_ORDERED,
    Negative,
    Offlist,
    Ordered,
    Progress,
)
from rankgauge.core.records import Record, Value
from rankgauge.core.results import Result
from rankgauge.core.rounding import ROUNDING
from rankgauge.core.tables import Table
from rankgauge.distance.algorithms.lists import Lists
from rankgauge.distance.maximized import Grades, grades_text, parse_distance_measure
from rankgauge.distance.runs import AllowedLabels, QueryLists, lists_by_query, results_by_query
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.evaluation.calls import checked_call
from rankgauge.evaluation.inputs import Qrels, Runs, judgments_of
from rankgauge.measures.around import innermost
from rankgauge.measures.base import Measure, OffList
from rankgauge.rankings.lists import Rankings
from rankgauge.scores.model import mean_of
from rankgauge.workers import AnyExecutor

Paired: TypeAlias = Literal["all", "neighbors"]
"""all: every pair of runs. neighbors: each run and the run with the next best mean."""


class Settled(Result, Record):
    """Which orders of two runs are settled: no labels of the unjudged documents can reverse them.

    `is_settled` says for each pair whether its order is settled, and `orders()` lists the settled
    orders.

    Attributes
    ----------
    measure : Measure
        The measure.
    runs, queries : tuple of str
        The names of the runs and the queries.
    means : array
        The mean score of each run by the judgments.
    pairs : array
        The numbers of the two runs of each pair.
    ahead : array
        Pair × 2. The first column is the most by which the mean of the first run can exceed that of the
        second, over all labels of the unjudged documents; the second column is the reverse. If a number
        is negative, that run is always behind, and the order is settled.
    exact : bool
        If True, some labels attain each number in `ahead` that is not `strict`. Otherwise, some numbers
        are upper bounds, and more orders may be settled than are counted.
    strict : array
        Pair × 2, like `ahead`: whether the difference stays below the number in `ahead`, because one run
        is behind on some query whatever the labels, though perhaps by next to nothing. If the number is
        0, that run is always behind, and the order is settled.
    rounding : float
        How far below 0 a number in `ahead` must be to count as negative.
    grades : tuple of int
        The labels that an unjudged document may get.
    offlist : {"allowed", "none"}
        Whether documents of neither run may be relevant.
    about : tuple of Note
        Notes on the runs.

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}
    >>> runs = {"good": {"q": ["a", "b"]}, "poor": {"q": ["c", "d"]}}
    >>> result = settled(qrels, runs, "P@2")
    >>> result.is_settled.tolist(), result.ahead.tolist()
    ([True], [[1.0, -1.0]])
    """

    measure: Measure
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    means: Floats
    pairs: Ints
    ahead: Floats
    exact: bool
    strict: Bools
    rounding: float
    grades: tuple[int, ...] = (0, 1)
    offlist: Offlist = DEFAULT_OFFLIST
    about: tuple[Note, ...] = ()

    @cached_property
    def higher(self) -> Ints:
        """For each pair, which run has the higher mean whatever the labels are.

        It is 0 for the first run, 1 for the second run, and -1 if the labels decide.
        """
        behind = (self.ahead < -self.rounding) | (self.strict & (self.ahead <= 0))
        return np.where(behind[:, 1], 0, np.where(behind[:, 0], 1, -1))

    @property
    def is_settled(self) -> Bools:
        """For each pair, whether its order is settled."""
        return self.higher >= 0

    def orders(self) -> list[tuple[str, str]]:
        """The settled orders, as pairs of runs, the better run first."""
        return [
            (self.runs[pair[side]], self.runs[pair[1 - side]])
            for pair, side in zip(self.pairs.tolist(), self._better.tolist(), strict=True)
            if side >= 0
        ]

    @property
    def _better(self) -> Ints:
        """For each pair, which run is better whatever the labels are; -1 if the labels decide."""
        if self.measure.direction == "lower":
            return np.where(self.is_settled, 1 - self.higher, -1)
        return self.higher

    @cached_property
    def ranking(self) -> list[int]:
        """The numbers of the runs, the best mean first. Of equal means the earlier run is first."""
        return leaderboard(self.measure, self.means)

    def table(self) -> Table:
        """A row for each run, the best mean first, with three counts of other runs.

        above: how many runs are better, whatever the labels are. below: how many runs are worse,
        whatever the labels are. open: for how many runs the labels decide.
        """
        above, below = np.zeros((2, len(self.runs)), dtype=np.int64)
        chosen = np.flatnonzero(self.is_settled)
        better = self._better[chosen]
        np.add.at(below, self.pairs[chosen, better], 1)
        np.add.at(above, self.pairs[chosen, 1 - better], 1)
        paired = np.bincount(self.pairs.ravel(), minlength=len(self.runs))
        columns = [self.means, above, below, paired - above - below]
        rows = [(self.runs[r], *(column[r].item() for column in columns)) for r in self.ranking]
        return Table(
            ("run", str(self.measure), "above", "below", "open"),
            tuple(rows),
            note_texts(self.notes),
        )

    def pair_table(self) -> Table:
        """Return a table with a row for each pair of runs, the run with the better mean first.

        A row has the difference of the means, the least and the most that it can become, and whether the
        order is settled.
        """
        place = {run: place for place, run in enumerate(self.ranking)}
        rows = []
        for (one, two), (most, back), better in zip(
            self.pairs.tolist(), self.ahead.tolist(), self.is_settled.tolist(), strict=True
        ):
            if place[one] > place[two]:
                one, two, most, back = two, one, back, most
            difference = float(self.means[one] - self.means[two])
            row = (self.runs[one], self.runs[two], difference, 0.0 - back, most)
            rows.append(((place[one], place[two]), (*row, "yes" if better else "no")))
        return Table(
            ("a", "b", "a - b", "least", "most", "settled"),
            tuple(row for _, row in sorted(rows)),
            note_texts(self.notes),
        )

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How many orders are settled, and notes on the runs."""
        count, pairs = int(np.count_nonzero(self.is_settled)), count_phrase(len(self.pairs), "pair")
        notes = self.about_offlist()
        if not self._offlist_settles_nothing:
            settled_orders = Note(
                f"the order of {count:,} of {pairs} is settled: it stays the same however "
                "the unjudged documents of the two runs are judged",
                measure=str(self.measure),
            )
            notes.insert(0, settled_orders)
            if not self.exact:
                notes.append(Note("not all labels could be tried, so more orders may be settled"))
        notes.append(Note(f"unjudged documents may have the labels {grades_text(self.grades)}"))
        return (*notes, *self.about)

    def about_offlist(self) -> list[Note]:
        """A note if few orders or none are settled because of documents that neither run retrieved."""
        if self._offlist_settles_nothing:
            why = (
                "no order counts as settled, because documents that neither run retrieved may be "
                "relevant too, and may reverse the order of two runs"
            )
        elif self.offlist == "allowed" and _shrinks_without_limit(self.measure):
            why = (
                "documents that neither run retrieved may be relevant too, and can make the "
                "difference on a query as small as you like. So an order is settled only if, "
                "whatever the labels, one run is behind on some query and ahead on none"
            )
        else:
            return []
        other = (
            'Use --offlist none (in Python offlist="none") to consider only the documents of the'
        )
        return [Note(f"{why}. {other} two runs", measure=str(self.measure))]

    @property
    def _offlist_settles_nothing(self) -> bool:
        """Whether documents that neither run retrieved may do anything to the differences."""
        return self.offlist == "allowed" and _offlist_effect(self.measure) == "counts"

    def _title(self) -> str:
        count = int(np.count_nonzero(self.is_settled))
        return f"Settled {self.measure}: {count:,} of {count_phrase(len(self.pairs), 'pair')}"


@checked_call('settled(qrels, runs, "nDCG@10")')
def settled(
    qrels: Qrels,
    runs: Runs,
    measure: Measure | str,
    *,
    grades: Grades | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
    negative: Negative = DEFAULT_NEGATIVE,
    ties: Ordered = DEFAULT_ORDERED,
    pairs: Paired = "all",
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Settled:
    """Compute which orders of two runs no labels of the unjudged documents can reverse.

    Runs are ordered by their means. The order "a above b" is settled if b stays below a whatever labels
    the unjudged documents get. Since the labels of different queries are independent, the largest
    possible lead of b over a is computed query by query; if the leads sum to less than 0, the order is
    settled. Equal means are not settled. A run that lacks a query has an empty ranking for it.

    Parameters
    ----------
    qrels : judgments
        The judgments, in any form that `evaluate` takes.
    runs : runs
        At least two runs, in any form that `evaluate` takes.
    measure : Measure or str
        The measure, as an object or a name, such as "P@10". With a cutoff, it is faster and more orders
        are settled.
    grades : iterable of int or "max", optional
        The labels that unjudged documents may get, as in `med`. By default, every whole number from 0 to
        `max_grade`.
    offlist : {"allowed", "none"}, default "allowed"
        Whether documents that neither run retrieved, down to the cutoff, may be relevant. "allowed": any
        number of them may be. With AP, Recall and nDCG without a cutoff, a query with many such
        documents hardly counts, so an order is settled only if, whatever the labels, one run is behind
        on some query and ahead on none. nDCG@k settles more orders, because its ideal ranking has only
        k documents. With measures such as bpref and Q, no order counts as settled. "none": these
        documents are not relevant.
    max_grade : int, optional
        The highest possible label. By default, the highest label of a judged document, or the highest
        grade of the collection if the judgments record it, as those of `pool` do.
    negative : {"unjudged", "nonrelevant"}, default "unjudged"
        How to treat documents with a negative grade, as in `med`.
    ties : {"docno", "docno-ascending", "input"}, default "docno"
        How to order documents with equal scores, as in `evaluate`.
    pairs : {"all", "neighbors"}, default "all"
        Which runs to compare. "all": every pair of runs. "neighbors": each run and the run with the next
        best mean.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the id of each query, once it is done.

    Returns
    -------
    Settled
        The pairs of runs, and which of their orders are settled.

    Raises
    ------
    MeasureError
        If the measure does not exist or has no distance, if it needs the subtopics of the judgments, or
        if grades are not valid.
    RankgaugeError
        If no query is judged, if there are fewer than two runs, or if an option has an invalid value.
    InputError
        If the judgments or a run cannot be read.

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}
    >>> runs = {"good": {"q": {"a": 2, "b": 1}}, "poor": {"q": {"c": 2, "d": 1}}}
    >>> runs["new"] = {"q": {"c": 2, "x": 1}}
    >>> settled(qrels, runs, "P@2").orders()
    [('good', 'poor'), ('good', 'new')]
    """
    asked = parse_distance_measure(measure)
    pairs = check_value("pairs", pairs, one_of(Paired, neighbours="neighbors"))
    judgments = judgments_of(qrels, negative)
    if judgments.subtopics is not None and innermost(asked).by_subtopic:
        raise MeasureError(
            f"{asked} needs subtopics, expected a measure without subtopics, such as P@10"
        )
    labels = AllowedLabels(grades, offlist, max_grade, negative)
    topics = lists_by_query(asked, runs, judgments, labels, ties, executor)
    if not topics.queries:
        raise RankgaugeError("no judged queries, expected at least one")
    scores = np.array([_scores(asked, topic.lists) for topic in topics.queries])
    means = _means(scores, asked.averages_defined)
    compared = _pairs(leaderboard(asked, means), pairs)
    total, least = np.zeros(compared.shape), np.zeros(compared.shape)
    greatest, exact = _greatest_finite_magnitude(scores, asked.range), True
    work = _GreatestLeadTask(asked, compared[:, 0].copy(), compared[:, 1].copy())
    for most, unreached, is_exact in results_by_query(work, topics, executor, progress):
        total += most
        least = np.minimum(least, unreached)
        exact = exact and is_exact
        greatest = max(greatest, _greatest_finite_magnitude(most, unreached))
    return Settled(
        asked,
        topics.runs,
        tuple(topic.query for topic in topics.queries),
        means,
        compared,
        total / len(topics.queries),
        exact,
        least < -ROUNDING * greatest,
        ROUNDING * greatest,
        tuple(topics.grades.tolist()),
        offlist,
        topics.notes(),
    )


def _offlist_effect(measure: Measure) -> OffList:
    """What relevant documents of neither run do to the differences."""
    return "ignored" if measure.monotone else measure.off_list


def _shrinks_without_limit(measure: Measure) -> bool:
    """Whether relevant documents of neither run bring every difference as near to 0 as you like."""
    return _offlist_effect(measure) == "divides" and measure.numerator is None


def leaderboard(measure: Measure, means: Floats) -> list[int]:
    """The numbers of the runs, the best mean first.

    Of equal means the earlier run is first. Runs without a mean are last.
    """
    worse = means if measure.direction == "lower" else -means
    order: list[int] = np.argsort(np.where(np.isnan(means), np.inf, worse), kind="stable").tolist()
    return order


def _pairs(order: Sequence[int], pairs: Paired) -> Ints:
    """Return the pairs of runs to compare.

    These are all pairs, the earlier run first; or, for "neighbors", each run and the next run of
    `order`.
    """
    if pairs == "neighbors":
        return np.column_stack((order[:-1], order[1:])).astype(np.int64)
    return np.column_stack(np.triu_indices(len(order), 1)).astype(np.int64)


def _scores(measure: Measure, lists: Lists) -> Floats:
    """The score of each list by the judgments."""
    labels = lists.labels[lists.documents]
    query = np.zeros(len(lists), dtype=np.int64)
    return measure.score_each(Rankings(labels, lists.offsets, query, lists.judged))


def _means(scores: Floats, averages_defined: bool) -> Floats:
    """The mean of each column over its defined scores, as in `Scores.mean`."""
    columns = [column[~np.isnan(column)] for column in scores.T.copy()]
    least = 1 if averages_defined else len(scores)
    return np.array([mean_of(column) if len(column) >= least else np.nan for column in columns])


def _greatest_finite_magnitude(*values: ArrayLike) -> float:
    """The greatest magnitude of the finite values; 0 if no value is finite."""
    every = np.concatenate([np.ravel(one) for one in values]).astype(np.float64)
    return float(np.abs(every[np.isfinite(every)]).max(initial=0.0))


class _GreatestLeadTask(Value):
    """Computes for one query by how much each run of each pair can at most be ahead of the other.

    A number below 0 says that the run is behind whatever the labels. If relevant documents of neither
    run bring such a number as near to 0 as you like, it is in the second array, and the first array has
    0, which no labels reach. The last result says whether some labels attain all other numbers. The task
    can be sent to another process.
    """

    measure: Measure
    first: Ints
    second: Ints

    def __call__(self, topic: QueryLists) -> tuple[Floats, Floats, bool]:
        most, exact = self._greatest_leads(self.measure, topic.lists)
        behind = most < 0
        unreached = np.zeros_like(most)
        if topic.lists.offlist and behind.any():
            effect = _offlist_effect(self.measure)
            if effect == "divides" and self.measure.numerator is not None:
                # Enough relevant documents of neither run bring the divisor to its greatest value,
                # whatever the other labels, and so a negative difference as near to 0 as it can be.
                leads, are_exact = self._greatest_leads(self.measure.numerator, topic.lists)
                divisor = self.measure.greatest_divisor(topic.lists.judged, topic.lists.grades)
                most[behind] = leads[behind] / divisor
                exact = exact and are_exact
            elif effect != "ignored":
                if effect == "divides":  # by a finite number, so the sign stays
                    unreached[behind] = most[behind]
                else:
                    exact = False
                most[behind] = 0.0
        return most, unreached, exact

    def _greatest_leads(self, measure: Measure, lists: Lists) -> tuple[Floats, bool]:
        """The greatest leads over all labels of the listed documents, and whether they are exact.

        If they are not, they are upper bounds.
        """
        bounds = measure.distance_each(lists, self.first, self.second)
        most = np.where(bounds.exact[:, None], bounds.ahead, np.maximum(bounds.ahead, bounds.limit))
        if bounds.defined is not None:
            # A query without a score leaves the mean of one run and perhaps not that of the other.
            most[~bounds.defined] = np.inf
        return most, bool(bounds.exact.all())

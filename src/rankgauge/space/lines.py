"""Lines: documents whose scores go straight from a start to an end, and what measures make of it.

Along a line every document's score is a straight line, so a ranking changes only where two documents
change places, and a measure is a step function (Robertson and Zaragoza 2007, On rank-based effectiveness
measures and optimization). The sweep finds all these flips exactly; a measure that knows what a flip
changes is asked for the changes, any other one scores the list after each flip.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.checks import check_value
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError, Unsupported
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.native import kinetic as native, replay, segments
from rankgauge.rankings.flips import Flips, factorize_labels
from rankgauge.rankings.lists import Rankings
from rankgauge.space.curves import POSITION, Curve, Steps
from rankgauge.space.inputs import Documents, lists_of, scores_of, weighted_sums, weights_of
from rankgauge.workers import processors, results_of

LARGEST_SCORE = 2.0**1020
"""The largest magnitude of a score for which differences of scores and their sums stay finite."""

SHALLOW = 48
"""The depth up to which leaving the documents below the cutoff unordered is faster."""

FEW_ROWS = 20_000
"""With more documents than this, several threads sweep the lists."""

MOST_LABELS = 4_000_000
"""Maximum number of labels of lists after flips held in memory."""


class Segment(Record):
    """Lists whose documents score (1 − t) · start + t · end, for t from 0 to 1.

    Parameters
    ----------
    documents : Rankings
        The lists. Documents with equal scores are ranked in the order in which they are given.
    start : array of float
        The score of each document at t = 0.
    end : array of float
        The score of each document at t = 1.

    Raises
    ------
    RankgaugeError
        If a score is not finite or too large, or if the number of scores is wrong.

    Examples
    --------
    >>> segment = Segment.of([1, 0], [0.0, 1.0], [1.0, 0.0])
    >>> segment.curve("RR").breaks.tolist(), segment.curve("P@1").values.tolist()
    ([0.5], [0.0, 1.0])
    """

    documents: Rankings
    start: Floats
    end: Floats

    def __post_init__(self) -> None:
        if not isinstance(self.documents, Rankings):
            kind = type(self.documents).__name__
            raise RankgaugeError(f"documents: {kind}, expected Rankings; Segment.of takes labels")
        for name in ("start", "end"):
            scores = scores_of(name, getattr(self, name), self.documents.lengths)
            if not np.isfinite(scores).all():
                raise RankgaugeError(f"{name}: a score is not finite, expected finite numbers")
            largest = float(np.abs(scores).max(initial=0.0))
            if largest > LARGEST_SCORE:
                raise RankgaugeError(
                    f"{name}: a score has the magnitude {largest:g}, expected at most "
                    f"{LARGEST_SCORE:g}; divide all scores by the same number"
                )
            vars(self)[name] = np.ascontiguousarray(scores)

    @classmethod
    def of(cls, documents: Documents, start: ArrayLike, end: ArrayLike) -> Segment:
        """Create a segment from labels or features, as `line` takes them.

        Parameters
        ----------
        documents : Rankings, Features or lists of labels
            The documents.
        start : array-like
            The scores at t = 0; for features, the weights.
        end : array-like
            The scores at t = 1; for features, what is added to the weights on the way from 0 to 1.

        Returns
        -------
        Segment
            The documents along the line.
        """
        lists = lists_of(documents)
        if not isinstance(documents, Features):
            first = scores_of("start", start, lists.lengths)
            return cls(lists, first, scores_of("end", end, lists.lengths))
        features = documents.values.shape[1]
        weights = weights_of("weights", start, features)
        direction = weights_of("direction", end, features)
        with np.errstate(over="ignore", invalid="ignore"):
            ends = (weights, weights + direction)
            scores = [weighted_sums(documents.values, each) for each in ends]
        return cls(lists, *scores)

    def ordered(self, scores: Floats) -> Ints:
        """The rows in rank order by these scores, list by list."""
        return segments.segment_order(np.ascontiguousarray(scores), self.documents.offsets)

    def at(self, position: float) -> Rankings:
        """The lists as they are ranked at a point of the line, from 0 to 1."""
        position = check_value("position", position, POSITION)
        if position in (0, 1):  # exactly the inputs
            scores = self.end if position else self.start
        else:
            scores = (1 - position) * self.start + position * self.end
        return self.ranked(self.ordered(scores))

    def ranked(self, rows: Ints) -> Rankings:
        """The lists with their documents in this order."""
        return reorder_lists(self.documents, rows)

    def mean_at(self, position: float, measure: Measure | Aggregate) -> float:
        """The mean of a measure at a point of the line, evaluated there."""
        return mean_of(inner(measure).score_each(self.at(position)), measure)

    def curve(self, measure: AnyMeasure) -> Curve:
        """The curve of a measure, over all lists."""
        parsed = parse(measure)
        return Curve.of(self.steps(inner(parsed)), parsed, lambda end: self.mean_at(end, parsed))

    @cached_property
    def _start_order(self) -> Ints:
        """The rows in the order at the start: by start, by end, then as ties are ordered."""
        return native.start_order(self.start, self.end, self.documents.offsets)

    @cached_property
    def _ordered_ends(self) -> tuple[Floats, Floats]:
        return self.start[self._start_order], self.end[self._start_order]

    def _drop_documents(self, dropped: Bools) -> Segment:
        """The same without these documents."""
        kept, lists = np.flatnonzero(~dropped), self.documents
        offsets = np.searchsorted(kept, lists.offsets).astype(np.int64)
        rest = Rankings(lists.labels[kept], offsets, lists.query, lists.judged)
        return Segment(rest, self.start[kept], self.end[kept])

    def steps(self, measure: Measure) -> Steps:
        """The value of each list along the line."""
        measure = measure.complete()
        refuse_subtopics(measure, self.documents)
        basis = measure.basis
        if basis is not measure:
            steps = self.steps(basis)
            judged, query = self.documents.judged, self.documents.query
            return Steps(
                measure.from_basis(steps.before, judged, query),
                steps.position,
                steps.lists,
                measure.from_basis(steps.values, judged, query[steps.lists]),
            )
        labels, number = factorize_labels(self.documents.labels)
        ignored = measure._removable_labels(labels, self.documents.judged.max_grade)
        if measure.depth is None and ignored.any():
            return self._drop_documents(ignored[number]).steps(measure)
        lists, number = reorder_lists(self.documents, self._start_order), number[self._start_order]
        alike = measure._merged_labels(labels, lists.judged.max_grade)
        kinds, merged = np.unique(alike, return_inverse=True)
        kind, before = merged.astype(np.int32)[number], measure.score_each(lists)
        if not measure.knows_flips:
            position, place, _ = self._sweep_flips(measure, kind, len(kinds), lists.offsets, False)
            values = self._scores_after_flips(measure, lists, kinds, kind, place)
            return Steps(before, position, place[:, 0].astype(np.int64), values)
        position, number, changes = self._changes(measure, lists, kinds, kind)
        different = changes != 0
        position, number, changes = position[different], number[different], changes[different]
        bounds = np.searchsorted(number, np.arange(len(lists) + 1))
        values = replay.running(changes, bounds, np.ascontiguousarray(before))
        return Steps(before, position, number, values, changes)

    def _changes(
        self, measure: Measure, lists: Rankings, kinds: Labels, kind: Labels
    ) -> tuple[Floats, Ints, Floats]:
        """Where the score of which list changes, and by how much, by the formula of the measure."""
        work = partial(self._part_changes, measure, lists, kinds, kind)
        if _is_shallow(measure) or len(lists.labels) <= FEW_ROWS:
            return work((0, len(lists)))
        cuts = np.linspace(0, len(lists.labels), processors() + 1)
        ends = [0, *np.searchsorted(lists.offsets, cuts[1:-1]).tolist(), len(lists)]
        parts = [part for part in itertools.pairwise(ends) if part[0] < part[1]]
        results = [result for _, result in results_of(work, parts)]
        position, number, changes = map(np.concatenate, zip(*results, strict=True))
        return position, number, changes

    def _part_changes(
        self, measure: Measure, lists: Rankings, kinds: Labels, kind: Labels, part: tuple[int, int]
    ) -> tuple[Floats, Ints, Floats]:
        """The same for some of the lists, one after the other."""
        first, last = part
        offsets = lists.offsets[first : last + 1]
        silent = measure._noncontributing_labels(kinds, lists.judged.max_grade)
        if not _is_shallow(measure) and silent.any() and measure.knows("_contribution"):
            position, move, above = native.count_sweep(
                *self._ordered_ends,
                kind,
                offsets,
                len(kinds),
                silent.astype(np.uint8),
                measure.looks_above,
            )
            number, rank, document, passed, sign = np.ascontiguousarray(move.T)
            which = number.astype(np.int64) + first
            flips = Flips(lists.query[which], rank, passed, document, kinds, above, lists.judged)
            return position, which, sign * measure._contribution_change(flips, document, passed)
        counted = measure.looks_above
        position, place, above = self._sweep_flips(measure, kind, len(kinds), offsets, counted)
        number, rank, upper, lower = np.ascontiguousarray(place.T)
        which = number.astype(np.int64) + first
        flips = Flips(lists.query[which], rank, upper, lower, kinds, above, lists.judged)
        return position, which, measure._flip_changes(flips)

    def _sweep_flips(
        self, measure: Measure, kind: Labels, kinds: int, offsets: Ints, counted: bool
    ) -> tuple[Floats, Labels, Labels | None]:
        """The flips of documents of different kinds: position, place, and what stands above."""
        sweep = native.sweep_top if _is_shallow(measure) else native.sweep_all
        return sweep(*self._ordered_ends, kind, offsets, kinds, measure.depth or 0, counted)

    def _scores_after_flips(
        self, measure: Measure, lists: Rankings, kinds: Labels, kind: Labels, place: Labels
    ) -> Floats:
        """The score of a list after each flip, in pieces of bounded memory."""
        cut = replace(lists, labels=kind).top(measure.depth)
        now = cut.labels.copy()
        number = place[:, 0].astype(np.int64)
        ends = np.cumsum(cut.lengths[number])
        values, first = np.empty(len(place)), 0
        while first < len(place):
            so_far = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, so_far + MOST_LABELS, side="right")))
            own = ends[first:last] - so_far
            labels = kinds[replay.snapshots(now, cut.offsets, place, first, last, own)]
            after = Rankings(
                labels, np.append(0, own), lists.query[number[first:last]], lists.judged
            )
            values[first:last] = measure.score_each(after)
            first = last
        return values


def refuse_subtopics(measure: Measure, lists: Rankings) -> None:
    """Unsupported where a measure looks at more of the documents than their labels."""
    if measure.by_subtopic and lists.judged.aspects is not None:
        raise Unsupported(
            f"{measure} cannot be followed along a line: it uses documents, not just labels"
        )


def _is_shallow(measure: Measure) -> bool:
    return measure.depth is not None and measure.depth <= SHALLOW


def reorder_lists(lists: Rankings, rows: Ints) -> Rankings:
    """The lists with their documents in this order, each document in its own list."""
    numbers = None if lists.rows is None else lists.rows[rows]
    return Rankings(lists.labels[rows], lists.offsets, lists.query, lists.judged, numbers)


def mean_of(scores: Floats, measure: Measure | Aggregate) -> float:
    """The mean over lists; the measure decides whether undefined scores are skipped."""
    if inner(measure).averages_defined:
        scores = scores[~np.isnan(scores)]
    if not len(scores) or np.isnan(scores).any():
        return float("nan")
    return measure.combine(scores) if isinstance(measure, Aggregate) else float(np.mean(scores))


def line(documents: Documents, start: ArrayLike, end: ArrayLike, measure: AnyMeasure) -> Curve:
    """Compute the exact curve of a measure along a line from one scoring to another.

    For several measures on one line, use `Segment.of` and `Segment.curve`.

    Parameters
    ----------
    documents : Rankings, Features or lists of labels
        The labels of one list, several such lists, `Rankings`, or `Features`. Documents with equal
        scores are ranked in the order in which they are given. Files often list the relevant
        documents first: `features.in_tie_order()` puts the documents in the order in which an
        evaluator ranks ties.
    start : array-like
        The score of each document at 0: one list of numbers, or one for each list of documents. For
        features it is a weight for each feature, and the score is their weighted sum.
    end : array-like
        The score of each document at 1. For features it is the direction: what is added to the weights
        on the way from 0 to 1.
    measure : Measure or str
        Any measure that only needs labels.

    Returns
    -------
    Curve
        The mean of the measure over the lists, as a step function.

    Examples
    --------
    >>> line([1, 0, 2], [3, 2, 1], [1, 2, 4], "nDCG@1").best
    [Interval(low=0.4, high=1.0)]
    >>> line([[1, 0], [2, 0, 1]], [[1, 0], [2, 1, 0]], [[0, 1], [0, 1, 2]], "RR").values.tolist()
    [1.0, 0.75]
    """
    return Segment.of(documents, start, end).curve(measure)

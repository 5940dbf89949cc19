"""Curves over one parameter of any ranking function: the steps lie at the roots of score differences.

A ranking changes only where two documents have the same score (Robertson and Zaragoza 2007, On
rank-based effectiveness measures and optimization, A.6). Between two such places every measure is
constant, so a measure is a step function of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.rankings.lists import Rankings
from rankgauge.space.curves import NEAR, Curve, Interval, Steps, simplest_number
from rankgauge.space.inputs import Documents, lists_of
from rankgauge.space.lines import mean_of, reorder_lists
from rankgauge.space.nonlinear.crossings import ParameterCrossings, sample_crossings
from rankgauge.space.nonlinear.scorers import FunctionScorer, ParameterScorer, blocks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = 1001
"""Number of parameter values at which a scorer without a certificate is sampled."""

ANCHOR_SHARES = np.array([0.5, 0.381966, 0.618034])
"""Candidate points in an interval at which a list is ranked; the first one without a tie is used."""


class RankingSequence(Record):
    """The rankings of one list, in the order in which crossings lead through them.

    A crossing takes the upper document one rank down and the lower one up. So the ranks after some
    crossings do not depend on the order in which they are applied, and crossings that cannot be told
    apart are applied together.
    """

    position: Floats
    """The position of each crossing, from 0 to 1."""
    upper: Ints
    lower: Ints
    group: Ints
    """For each crossing, the number of its group of crossings at the same position."""
    place: Floats
    """Where each group is."""
    size: int

    @classmethod
    def of(cls, position: Floats, upper: Ints, lower: Ints, size: int) -> RankingSequence:
        """The walk along these crossings, which are in order."""
        new = np.diff(position, prepend=-1.0) > NEAR
        return cls(position, upper, lower, np.cumsum(new) - 1, position[new], size)

    @cached_property
    def _edges(self) -> Floats:
        return np.concatenate(([0.0], self.place, [1.0]))

    @cached_property
    def _widest_group(self) -> int:
        """The number of the group before the widest interval, from 0 on; 0 is the start of the line."""
        return int(np.argmax(np.diff(self._edges)))

    @property
    def anchors(self) -> Floats:
        """Some points well inside the widest interval between two groups."""
        low, high = self._edges[self._widest_group : self._widest_group + 2]
        return np.asarray(low + ANCHOR_SHARES * (high - low))

    def _rank_shifts(self, chosen: Bools, groups: int, first: int) -> Ints:
        """How many ranks down each group of crossings takes each document: a row a group."""
        moved = np.zeros((groups, self.size), dtype=np.int64)
        group = self.group[chosen] - first
        np.add.at(moved, (group, self.upper[chosen]), 1)
        np.add.at(moved, (group, self.lower[chosen]), -1)
        return moved

    def order_at_start(self, order: Ints) -> Ints:
        """The order at the start of the line, for the order in the widest interval."""
        ranks = _inverse(order)
        passed = self.group < self._widest_group
        ranks = ranks - self._rank_shifts(passed, max(len(self.place), 1), 0).sum(axis=0)
        return np.argsort(ranks, kind="stable")

    def orders(self, first: Ints, start: int) -> Iterator[tuple[Floats, Ints]]:
        """Some groups at a time: where they are, and the orders before the first and after each of them.

        `first` has the order at the start of the line. A group after which the ranks are not those of a
        ranking is left out: the next group, which lies close to it, completes it.
        """
        before = first[start : start + self.size] - start
        ranks = _inverse(before)
        for low, high in blocks(len(self.place), self.size):
            chosen = (self.group >= low) & (self.group < high)
            all_ranks = ranks + np.cumsum(self._rank_shifts(chosen, high - low, low), axis=0)
            ranks = all_ranks[-1]
            inside = ((all_ranks >= 0) & (all_ranks < self.size)).all(axis=1)
            order = np.full(all_ranks.shape, -1)
            which = np.flatnonzero(inside)
            order[which[:, None], all_ranks[which]] = np.arange(self.size)
            whole = (order >= 0).all(axis=1)
            orders = np.concatenate((before[None, :], order[whole]))
            before = orders[-1]
            yield self.place[low:high][whole], orders + start


def _inverse(order: Ints) -> Ints:
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


class Sweep(Record):
    """Lists whose documents are scored by a function of one parameter, between two of its values.

    `documents` has the lists, each in the order that its documents have where their scores are equal.
    """

    documents: Rankings
    scorer: ParameterScorer
    low: float
    high: float
    samples: int = SAMPLES

    def __post_init__(self) -> None:
        if self.scorer.rows != len(self.documents.labels):
            raise RankgaugeError(
                f"the scorer is for {count_phrase(self.scorer.rows, 'document')}, "
                f"but the lists contain {len(self.documents.labels):,}"
            )

    @cached_property
    def crossings(self) -> ParameterCrossings:
        """Where documents change places: for certain if the scorer can, else by sampling."""
        offsets = self.documents.offsets
        certain = self.scorer.crossings(offsets, self.low, self.high)
        if certain is not None:
            return certain
        return sample_crossings(self.scorer, offsets, self.low, self.high, self.samples)

    def at(self, value: float) -> Rankings:
        """The lists as they are ranked for a value of the parameter."""
        values = np.full(len(self.documents.labels), float(value))
        order, _ = self.scorer.ranked(values, self.documents.offsets)
        return reorder_lists(self.documents, order)

    def mean_at(self, value: float, measure: Measure | Aggregate) -> float:
        """The mean of a measure for a value of the parameter, evaluated there."""
        return mean_of(inner(measure).score_each(self.at(value)), measure)

    def steps(self, measure: Measure) -> Steps:
        """The value of each list, from 0 (the lowest value of the parameter) to 1 (the highest)."""
        measure = measure.complete()
        first, walks = self._sequences
        before = measure.score_each(reorder_lists(self.documents, first))
        position, numbers, values = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros(0)]
        for number, walk in enumerate(walks):
            start, last = self.documents.offsets[number], before[number]
            for places, order in walk.orders(first, int(start)):
                scores, changed = self._score_orders(measure, number, order)
                earlier = np.concatenate(([last], scores[:-1]))[: len(scores)]
                steps = (scores != earlier) & ~(np.isnan(scores) & np.isnan(earlier))
                position.append(places[changed][steps])
                numbers.append(np.full(int(steps.sum()), number))
                values.append(scores[steps])
                last = scores[-1] if len(scores) else last
        places, of_list = np.concatenate(position), np.concatenate(numbers)
        return Steps(before, places, of_list, np.concatenate(values))

    def _score_orders(self, measure: Measure, number: int, order: Ints) -> tuple[Floats, Bools]:
        """The score of a list in each order that differs from the one before, and which ones differ.

        The first order is only there to compare with.
        """
        lists, depth = self.documents, measure.depth
        own = order if depth is None else order[:, :depth]
        labels = lists.labels[own]
        kinds = labels if lists.rows is None else own
        changed: Bools = (kinds[1:] != kinds[:-1]).any(axis=1)
        chosen = own[1:][changed]
        rankings = Rankings(
            labels[1:][changed].ravel(),
            np.arange(len(chosen) + 1) * own.shape[1],
            np.full(len(chosen), lists.query[number]),
            lists.judged,
            None if lists.rows is None else lists.rows[chosen].ravel(),
        )
        return measure.score_each(rankings), changed

    @cached_property
    def _sequences(self) -> tuple[Ints, list[RankingSequence]]:
        """The documents in the order just above the lowest value, and each list's way from there.

        Each list is ranked inside its widest interval between two crossings, where rounding matters
        least, and not where documents touch. The crossings lead from there to all other rankings.
        """
        lists, span = self.documents, self.high - self.low
        bounds = np.searchsorted(self.crossings.lists, np.arange(len(lists) + 1))
        walks = []
        anchors = np.empty((len(lists), len(ANCHOR_SHARES)))
        for number in range(len(lists)):
            own = slice(bounds[number], bounds[number + 1])
            position = (self.crossings.position[own] - self.low) / span
            start = lists.offsets[number]
            upper, lower = self.crossings.upper[own] - start, self.crossings.lower[own] - start
            walk = RankingSequence.of(position, upper, lower, int(lists.lengths[number]))
            walks.append(walk)
            anchors[number] = self.low + walk.anchors * span
        order = self._least_tied_order(anchors)
        first = order.copy()
        for number, walk in enumerate(walks):
            start, end = lists.offsets[number : number + 2].tolist()
            first[start:end] = start + walk.order_at_start(order[start:end] - start)
        return first, walks

    def _least_tied_order(self, values: Floats) -> Ints:
        """The documents in rank order, each list for the one of its values with the fewest ties."""
        lists = self.documents
        orders, ties = [], []
        for column in values.T:
            order, tied = self.scorer.ranked(lists.each_row(column), lists.offsets)
            orders.append(order)
            ties.append(lists.count(tied))
        chosen = lists.each_row(np.argmin(ties, axis=0))
        return np.asarray(np.stack(orders)[chosen, np.arange(len(chosen))])

    def curve(self, measure: AnyMeasure) -> ParameterCurve:
        """The curve of a measure, over all lists."""
        parsed, span = parse(measure), self.high - self.low

        def mean_at(place: float) -> float:
            value = self.high if place == 1 else self.low + place * span
            return self.mean_at(value, parsed)

        unit = Curve.of(self.steps(inner(parsed)), parsed, mean_at)
        return ParameterCurve(parsed, Interval(self.low, self.high), unit, self)


class ParameterCurve(Result, Record):
    """The mean of a measure over lists, as a step function of one parameter: the result of `curve`.

    The mean is `values[0]` up to `breaks[0]`, and `values[i]` from `breaks[i - 1]` to `breaks[i]`.
    The ends of the interval themselves have means of their own, `start` and `end`, because
    documents may be tied there. `flips` lists every place where two documents swap places, even if
    the measure ignores it. `certified` is true if no flip can be missing.

    Attributes
    ----------
    measure : Measure
        The measure.
    interval : Interval
        The lowest and the highest value of the parameter.
    unit : Curve
        The same curve over positions from 0 to 1.
    sweep : Sweep
        The documents and their scorer.

    Examples
    --------
    >>> parabola = curve(lambda t: [t * t, 0.25], (0, 1), [1, 0], "RR")
    >>> parabola.best, parabola.certified
    ([Interval(low=0.5, high=1.0)], False)
    """

    measure: Measure | Aggregate
    interval: Interval
    unit: Curve
    sweep: Sweep

    @property
    def flips(self) -> ParameterCrossings:
        """The places where documents swap."""
        return self.sweep.crossings

    @property
    def certified(self) -> bool:
        """Whether no flip can be missing."""
        return self.flips.certified

    @property
    def parameter(self) -> str:
        """The name of the parameter."""
        return self.sweep.scorer.parameter

    @property
    def breaks(self) -> Floats:
        """The values of the parameter where the mean changes."""
        return self.interval.low + self.unit.breaks * self.interval.width

    @property
    def values(self) -> Floats:
        """The mean before the first break, and after each."""
        return self.unit.values

    @property
    def edges(self) -> Floats:
        """The breaks, and the two ends of the interval."""
        return np.concatenate(([self.interval.low], self.breaks, [self.interval.high]))

    @property
    def start(self) -> float:
        """The mean at the lowest value itself."""
        return self.unit.start

    @property
    def end(self) -> float:
        """The mean at the highest value itself."""
        return self.unit.end

    def at(self, value: float) -> float:
        """The mean for a value of the parameter, read off the curve."""
        value = check_value(self.parameter, value, Number(*self.interval))
        if value in self.interval:
            return self.end if value == self.interval.high else self.start
        return float(self.values[np.searchsorted(self.breaks, value, side="right")])

    @property
    def value(self) -> float:
        """The best mean between the ends."""
        return self.unit.value

    @property
    def best(self) -> list[Interval]:
        """Where the mean is the best: the intervals between two breaks, the widest first."""
        return [part.between(*self.interval) for part in self.unit.best]

    def within(self, margin: float) -> list[Interval]:
        """Where the mean is within this margin of the best."""
        return [part.between(*self.interval) for part in self.unit.within(margin)]

    @property
    def widest_best(self) -> Interval | None:
        """The widest interval with the best mean; None if no mean is better than another, or defined."""
        if inner(self.measure).direction == "none" or np.isnan(self.values).all():
            return None
        return self.best[0]

    @property
    def point(self) -> float:
        """A value with the best mean, with few decimals, inside the widest interval."""
        return simplest_number(*self.best[0])

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How the flips were found, and what that means."""
        flips, measure = self.flips, str(self.measure)
        how = ", certified: no flip is missing"
        if not flips.certified:
            how = (
                f" from {count_phrase(self.sweep.samples, 'sample')}, not certified: two flips "
                "of the same documents between two samples may be missed"
            )
        notes = [Note(count_phrase(len(flips), "flip") + how, measure=measure)]
        if flips.touching:
            text = "two documents reach equal scores without swapping places: {count} times"
            notes.append(Note(text, measure=measure, count=flips.touching))
        return tuple(notes)

    def table(self) -> Table:
        """Return one row per part of the interval with constant mean."""
        edges = self.edges.tolist()
        rows = zip(edges, edges[1:], self.values.tolist(), strict=False)
        columns = (f"{self.parameter} from", "to", f"mean {self.measure}")
        return Table(columns, tuple(rows), note_texts(self.notes))

    def flip_table(self) -> Table:
        """Return one row per flip: its position, list and documents, with their labels.

        `good` flips raise the better document, `bad` ones the worse; `neutral` ones have equal labels.
        """
        flips, labels = self.flips, self.sweep.documents.labels
        starts = self.sweep.documents.offsets[flips.lists]
        gain = np.sign(labels[flips.lower] - labels[flips.upper])
        rows = zip(
            flips.position.tolist(),
            flips.lists.tolist(),
            (flips.upper - starts).tolist(),
            (flips.lower - starts).tolist(),
            (("neutral", "good", "bad")[each] for each in gain.tolist()),
            strict=True,
        )
        columns = (self.parameter, "list", "falls", "rises", "kind")
        return Table(columns, tuple(rows), note_texts(self.notes))

    def figure(self) -> Figure:
        """The mean over the parameter, with its best interval."""
        from rankgauge.figures.parameters import parameter_curve

        return parameter_curve(
            self.edges,
            self.values,
            self.widest_best,
            parameter=self.parameter,
            measure=str(self.measure),
            certified=self.certified,
        )

    def _title(self) -> str:
        how = "certified" if self.certified else "not certified"
        breaks = count_phrase(len(self.breaks), "break")
        title = f"ParameterCurve of {self.measure} over {self.parameter}: {breaks} ({how})"
        best = self.widest_best
        if best is None:
            return title
        return f"{title}, best {self.value:.4f} from {best.low:.6g} to {best.high:.6g}"


def curve(
    score: ParameterScorer | Callable[[Any], Any],
    interval: Sequence[float],
    documents: Documents,
    measure: AnyMeasure,
    *,
    vectorized: bool = False,
    samples: int = SAMPLES,
    parameter: str = "t",
) -> ParameterCurve:
    """Compute the curve of a measure over one parameter of any scorer.

    For several measures, use `Sweep` and its method `curve`.

    Parameters
    ----------
    score : callable or ParameterScorer
        A function of the parameter that returns a score for each document, or a `ParameterScorer`.
    interval : (float, float)
        The lowest and the highest value of the parameter.
    documents : Rankings, Features or lists of labels
        The labels of one list, or of several. Documents with equal scores are ranked in the order in
        which they stand here.
    measure : Measure or str
        The measure.
    vectorized : bool, default False
        Whether the function takes an array of values, and returns a row of scores for each value.
    samples : int, default 1001
        For a scorer that cannot certify its flips: at how many values of the parameter the documents
        are ranked.
    parameter : str, default "t"
        The name of the parameter in tables and figures. A `ParameterScorer` has a name of its own.

    Returns
    -------
    ParameterCurve
        The mean of the measure over the lists, as a step function.

    Notes
    -----
    For a function, flips are found by sampling and bisection. The curve is then not certified: if
    two documents swap places and swap back between two samples, both flips are missed. A
    `ParameterScorer` that finds all flips, such as those of `rankgauge.space.bm25`, gives a
    certified curve.

    Examples
    --------
    >>> parabola = curve(lambda t: [t * t, 0.25], (0, 1), [1, 0], "RR")
    >>> parabola.breaks.tolist(), parabola.values.tolist(), parabola.certified
    ([0.5], [0.5, 1.0], False)
    """
    low, high = limits(interval)
    lists = lists_of(documents)
    if not isinstance(score, ParameterScorer):
        score = FunctionScorer(score, len(lists.labels), vectorized=vectorized, parameter=parameter)
    count = check_value("samples", samples, Integer(2, 10_000_000))
    return Sweep(lists, score, low, high, count).curve(measure)


def limits(interval: Sequence[float]) -> tuple[float, float]:
    """The two ends of an interval; RankgaugeError if it is none."""
    try:
        low, high = (float(end) for end in interval)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite([low, high]).all() and low < high and np.isfinite(high - low)):
        raise RankgaugeError(f"interval={interval!r}, expected two finite numbers, the lower first")
    return low, high

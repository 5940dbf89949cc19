"""All flips along a line, those of equal labels too, and what a measure makes of each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankgauge.core.arrays import Floats, Ints, Labels
from rankgauge.core.records import Record
from rankgauge.measures.base import Measure
from rankgauge.native import kinetic as native, replay
from rankgauge.rankings.flips import Flips, factorize_labels
from rankgauge.rankings.lists import Rankings
from rankgauge.space.curves import values_before
from rankgauge.space.lines import Segment, refuse_subtopics, reorder_lists

MOST_COUNTS = 8_000_000
"""Maximum number of counts of documents above flips held in memory."""


class Crossings(Record):
    """Every flip along a line, list by list, in the order in which they happen.

    `first` has the rows of the documents in the order at the start. `upper` and `lower` are the
    documents above and below before the flip, as places in that order. `rank` is that of the upper one.
    """

    segment: Segment
    first: Ints
    position: Floats
    number: Ints
    rank: Ints
    upper: Ints
    lower: Ints

    @classmethod
    def of(cls, segment: Segment) -> Crossings:
        """The flips of all pairs of documents: in the sweep each document is a kind of its own."""
        offsets = segment.documents.offsets
        first = native.start_order(segment.start, segment.end, offsets)
        each = np.arange(len(first), dtype=np.int32)
        start, end = segment.start[first], segment.end[first]
        position, place, _ = native.sweep_all(start, end, each, offsets, len(each), 0, False)
        return cls(segment, first, position, *np.ascontiguousarray(place.T))

    def changes(self, measure: Measure) -> Floats:
        """What each flip adds to the score of its list."""
        return self._score_changes(measure.complete())[1]

    def _score_changes(self, measure: Measure) -> tuple[Floats, Floats, Floats]:
        """The score of each list before all flips, what each flip adds, and the score after it."""
        lists = reorder_lists(self.segment.documents, self.first)
        refuse_subtopics(measure, lists)
        if measure.basis is not measure:
            before, _, after = self._score_changes(measure.basis)
            judged, query = lists.judged, lists.query
            before = measure.from_basis(before, judged, query)
            after = measure.from_basis(after, judged, query[self.number])
            return before, after - values_before(before, self.number, after), after
        before = np.ascontiguousarray(measure.score_each(lists))
        labels, number = factorize_labels(lists.labels)
        alike = measure._merged_labels(labels, lists.judged.max_grade)
        kinds, merged = np.unique(alike, return_inverse=True)
        kind = merged.astype(np.int32)[number]
        seen = kind[self.upper] != kind[self.lower]
        if measure.depth is not None:
            seen &= self.rank <= measure.depth
        (noticed,) = np.nonzero(seen)
        changes = np.zeros(len(self.position))
        if measure.knows_flips:
            changes[noticed] = self._changes_by_formula(measure, lists, kinds, kind, noticed)
        else:
            place = np.stack(
                (self.number, self.rank, kind[self.upper], kind[self.lower]), axis=1, dtype=np.int32
            )[noticed]
            values = self.segment._scores_after_flips(measure, lists, kinds, kind, place)
            changes[noticed] = values - values_before(before, self.number[noticed], values)
        bounds = np.searchsorted(self.number, np.arange(len(lists) + 1))
        return before, changes, replay.running(changes, bounds, before)

    def _changes_by_formula(
        self, measure: Measure, lists: Rankings, kinds: Labels, kind: Labels, noticed: Ints
    ) -> Floats:
        """What these flips add, by the formula of the measure."""
        changes = np.empty(len(noticed))
        for part, above in self._counts_above(measure, kinds, kind, noticed):
            flips = noticed[part]
            changes[part] = measure._flip_changes(
                Flips(
                    lists.query[self.number[flips]],
                    self.rank[flips],
                    kind[self.upper[flips]].astype(np.int64),
                    kind[self.lower[flips]].astype(np.int64),
                    kinds,
                    above,
                    lists.judged,
                )
            )
        return changes

    def _counts_above(
        self, measure: Measure, kinds: Labels, kind: Labels, noticed: Ints
    ) -> Iterator[tuple[slice, Labels | None]]:
        """Parts of these flips, with how many documents of each kind stand above each of them.

        The same sweep is made again, now with few kinds. It gives the same flips in the same order, but
        for those that the measure does not notice.
        """
        if not measure.looks_above:
            yield slice(0, len(noticed)), None
            return
        segment, offsets = self.segment, self.segment.documents.offsets
        start, end = segment.start[self.first], segment.end[self.first]
        ends = np.searchsorted(self.number[noticed], np.arange(len(offsets)))
        first, most = 0, max(1, MOST_COUNTS // len(kinds))
        while first < len(offsets) - 1:
            after = int(np.searchsorted(ends, ends[first] + most, side="right")) - 1
            last = min(max(after, first + 1), len(offsets) - 1)
            _, _, above = native.sweep_all(
                start, end, kind, offsets[first : last + 1], len(kinds), measure.depth or 0, True
            )
            yield slice(int(ends[first]), int(ends[last])), above
            first = last


class PathPart(Record):
    """Flips of one piece: those between its ends, or those at the joint where position is given."""

    piece: int
    segment: Segment
    size: int
    position: float | None = None


def path_parts(piece: int, segment: Segment) -> list[PathPart]:
    """The flips when the path leaves the start, those on the way, and those when it reaches the end.

    Just after the start, documents that are tied there stand in the order of their scores at the end;
    just before the end, tied documents stand in the order of their scores at the start.
    """
    lists, offsets = segment.documents, segment.documents.offsets
    left = native.start_order(segment.start, segment.end, offsets)
    near = native.start_order(segment.end, segment.start, offsets)
    ways = (
        (segment.ordered(segment.start), left, 0.0),
        (left, near, None),
        (near, segment.ordered(segment.end), 1.0),
    )
    parts = []
    for before, after, position in ways:
        if size := inversions(before, after):
            way = segment if position is None else reordering_segment(lists, before, after)
            parts.append(PathPart(piece, way, size, position))
    return parts


def reordering_segment(documents: Rankings, before: Ints, after: Ints) -> Segment:
    """The segment on which lists go from one order of their rows to another.

    Each pair whose order differs flips once.
    """
    start, end = (np.empty(len(before)) for _ in range(2))
    start[before] = end[after] = -np.arange(len(before), dtype=np.float64)
    return Segment(documents, start, end)


def inversions(before: Ints, after: Ints) -> int:
    """How many pairs stand in the opposite order before and after, both orders of the same rows.

    >>> inversions(np.array([0, 1, 2]), np.array([2, 0, 1]))
    2
    """
    size = len(before)
    place = np.empty(size, dtype=np.int64)
    place[after] = np.arange(size)
    values, count, width = place[before], 0, 1
    while width < size:  # halves of `width` values are sorted; each pair of them is merged
        half = np.arange(size) // width
        keys = half // 2 * size + values
        left, right = keys[half % 2 == 0], keys[half % 2 == 1]
        ends = np.searchsorted(left, (right // size + 1) * size)
        count += int((ends - np.searchsorted(left, right)).sum())
        values = np.sort(keys, kind="stable") % size
        width *= 2
    return count

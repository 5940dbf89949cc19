"""Trajectories: paths of straight pieces through the space of weights, with every flip on the way.

A rank measure changes only where two neighbors of a ranking change places (Robertson and Zaragoza 2007,
section 3). A flip is good if the document with the higher label rises, bad if it falls, and neutral if
the labels are equal. Documents with equal scores stand in the order of the list they come in. So a point
on a boundary has one ranking, and a piece of the path may lie in a boundary (A.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress, groupby
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import SEED
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, LazyRows, Row, Table
from rankgauge.data.features import Features
from rankgauge.data.model import decode
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure
from rankgauge.native import replay
from rankgauge.space.crossings import Crossings, PathPart, path_parts
from rankgauge.space.curves import NEAR, Curve, sign_of, values_before
from rankgauge.space.inputs import Documents, FeatureRows, array_of, lists_of
from rankgauge.space.lines import Segment, mean_of
from rankgauge.space.scorers import LinearScorer, measures_of, number_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_FLIPS = 2_000_000
"""Maximum number of flips along a trajectory."""
SHOWN_FLIPS = 20
"""Number of flips printed for a trajectory."""
KINDS = {1: "good", -1: "bad", 0: "neutral"}
"""The name of a flip, by its merit."""


def trajectory(
    documents: FeatureRows | LinearScorer | Documents,
    points: ArrayLike,
    measures: AnyMeasure | Iterable[AnyMeasure],
    *,
    jitter: float | None = None,
    seed: int = SEED,
) -> Trajectory:
    """Find every flip on a path of straight pieces, and its effect on each measure.

    Parameters
    ----------
    documents : Features, tuple, LinearScorer or lists of labels
        `Features`, which are ranked by a weighted sum of their values. A tuple (values, labels,
        bounds) is the same in arrays: a row of values and a label for each document, and the row
        where each query begins, with the number of documents at the end. Or the labels of one list
        or of several. Documents with equal scores are ranked in the order in which they are given
        (see `Features.in_tie_order`).
    points : array-like
        Two or more points that the path goes through. A point has the weight of every feature, or for
        lists of labels the score of every document.
    measures : Measure, str or iterable of these
        One measure or several.
    jitter : float, optional
        Add a random number from 0 to this size to the score of each document (see `add_jitter`), so
        that no flips coincide. Only for features.
    seed : int, default 0
        Seed of the random number generator, for the jitter.

    Returns
    -------
    Trajectory
        The flips, in the order of the path.

    Raises
    ------
    RankgaugeError
        If there are fewer than two points or no lists, if `jitter` is used with lists of labels, or if
        the path has more than 2,000,000 flips.

    Examples
    --------
    >>> flips = trajectory(([[1, 0], [0, 1]], [0, 1], [0, 2]), [[1, 0], [0, 1]], "RR")
    >>> flips.position.tolist(), flips.kinds.tolist(), flips.changes.tolist()
    ([0.5], ['good'], [[0.5]])
    """
    chosen = measures_of(measures)
    path: Floats = array_of("points", points, np.float64)
    if path.ndim != 2 or len(path) < 2:
        raise RankgaugeError(
            f"points of shape {path.shape}, expected two or more points, with one row of "
            "numbers each"
        )
    features: Features | None = None
    if isinstance(documents, Features | LinearScorer | tuple):
        scorer = LinearScorer.of(documents, jitter, seed)
        features, lists = scorer.features, scorer.documents
        weights = [scorer.weights(f"point {n}", own) for n, own in enumerate(path, start=1)]
        scores = [scorer.scores(own) for own in weights]
    else:
        if jitter is not None:
            raise RankgaugeError("jitter requires features, not lists of labels")
        lists, scores = lists_of(documents), [np.ascontiguousarray(own) for own in path]
        if not len(lists):
            raise RankgaugeError("no lists, expected at least one")
    segments = tuple(Segment(lists, *ends) for ends in itertools.pairwise(scores))
    return _follow_segments(segments, path, chosen, features)


class Trajectory(Result, Record):
    """A path through the space of weights, with every flip on the way: the result of `trajectory`.

    A flip is good if the document with the higher label rises, bad if it falls, and neutral if the
    labels are equal. The arrays `piece` to `merit` have one entry for each flip, in the order of the
    path.

    Attributes
    ----------
    measures : tuple of Measure
        The measures.
    points : array of float
        The points that the path goes through, one in each row.
    segments : tuple of Segment
        The documents along each piece.
    features : Features or None
        The documents, unless the input was lists of labels.
    piece : array of int
        The piece of the path on which the flip happens, from 1.
    position : array of float
        Where on its piece the flip happens, from 0 to 1.
    query : array of int
        The number of the query, from 0.
    upper : array of int
        The row of the document that ranks higher before the flip, and falls.
    lower : array of int
        The row of the document that ranks lower before the flip, and rises.
    rank : array of int
        The rank of the upper document before the flip.
    merit : array of int
        1 for a good flip, −1 for a bad flip, 0 for a neutral flip.
    start : array of float
        The mean of each measure at the first point.
    changes : array of shape (measures, flips)
        The change in the value of the query.
    mean_changes : array of shape (measures, flips)
        The change in the mean over the queries.
    notes : tuple of Note
        Notes for the tables.

    Notes
    -----
    Documents may be tied at a joint of two pieces. Flips that happen when the path reaches the joint
    are at position 1 of the piece before it. Flips that happen when the path leaves the joint are at
    position 0 of the piece after it.

    The value at a point is the value at the start plus all changes up to that point. At a joint, count
    the flips up to position 1; the flips at position 0 of the next piece come after the joint.

    Examples
    --------
    >>> flips = trajectory(([[1, 0], [0, 1]], [0, 1], [0, 2]), [[1, 0], [0, 1]], "RR")
    >>> flips.start.tolist(), flips.means("RR").tolist()
    ([0.5], [1.0])
    """

    measures: tuple[Measure | Aggregate, ...]
    points: Floats
    segments: tuple[Segment, ...]
    features: Features | None
    piece: Ints
    position: Floats
    query: Ints
    upper: Ints
    lower: Ints
    rank: Ints
    merit: NDArray[np.int8]
    start: Floats
    changes: Floats
    mean_changes: Floats
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.position)

    @property
    def kinds(self) -> NDArray[np.str_]:
        """Whether each flip is good, bad or neutral."""
        return np.array([KINDS[sign] for sign in (-1, 0, 1)])[self.merit + 1]

    def number(self, measure: AnyMeasure) -> int:
        """The place of a measure among the measures of the trajectory."""
        return number_of(measure, self.measures)

    def means(self, measure: AnyMeasure) -> Floats:
        """The mean of a measure after each flip."""
        number = self.number(measure)
        changes, start = self.mean_changes[number], self.start[number : number + 1]
        return replay.running(changes, np.array([0, len(changes)]), start)

    def at(self, measure: AnyMeasure, piece: int, position: float) -> float:
        """The mean of a measure at a point of the path: the start and all changes up to there.

        At a flip between the ends of a piece it is the mean after the flip.
        """
        if not (1 <= piece <= len(self.segments) and 0 <= position <= 1):
            raise RankgaugeError(
                f"piece {piece}, position {position}: expected a piece from 1 to "
                f"{len(self.segments)} and a position from 0 to 1"
            )
        first, last = np.searchsorted(self.piece, [piece, piece + 1])
        own = self.position[first:last]
        passed = int(np.searchsorted(own, position, side="right")) if position else 0
        reached = int(first) + passed
        return float(
            self.means(measure)[reached - 1] if reached else self.start[self.number(measure)]
        )

    def curve(self, measure: AnyMeasure) -> list[Curve]:
        """The curve of a measure along each piece."""
        return [segment.curve(measure) for segment in self.segments]

    def table(self) -> Table:
        """Return one row per flip: its position, its documents, and whether it is good.

        Each row also shows which measures respond to the flip, and how much it adds to the value
        of the query and to the mean.
        """
        columns = ["piece", "position", "query", "rank", "upper", "lower", "flip", "noticed by"]
        for measure in self.measures:
            columns += [str(measure), f"mean {measure}"]
        rows = LazyRows(len(self), self._rows)
        return Table(tuple(columns), rows, note_texts(self.notes))

    def measure_table(self) -> Table:
        """Return one row per measure: its means on the path, and the flips to which it responds.

        The means are those at the ends of the path, and the lowest and the highest on the way.
        """
        cells = []
        for start, measure in zip(self.start, self.measures, strict=True):
            means = np.append(start, self.means(measure))
            cells.append((*means[[0, -1]].tolist(), float(means.min()), float(means.max())))
        table = self.noticed.measure_table(("start", "end", "lowest", "highest"), cells)
        return replace(table, notes=(*self._count_texts, *table.notes))

    def rank_table(self) -> Table:
        """Return one row per rank: its flips, and the share to which each measure responds."""
        table = self.noticed.rank_table()
        return replace(table, notes=(*self._count_texts, *table.notes))

    @property
    def noticed(self) -> NoticedFlips:
        """Which flips each measure responds to."""
        return NoticedFlips(self.measures, self.merit, self.rank, self.changes)

    @property
    def _count_texts(self) -> tuple[str, ...]:
        return note_texts(note for note in self.notes if note.column is None)

    def figure(self) -> Figure:
        """Plot the means along the path, with good, bad and neutral flips as ticks below."""
        from rankgauge.figures.space import path_figure

        lines = {str(measure): self.means(measure) for measure in self.measures}
        joints = {
            str(measure): [
                self.at(measure, 1, 0.0),
                *(self.at(measure, piece, 1.0) for piece in range(1, len(self.points))),
            ]
            for measure in self.measures
        }
        where = self.piece - 1 + self.position
        return path_figure(where, lines, joints, self.merit)

    def __repr__(self) -> str:
        table = self.table()
        notes = table.notes
        if len(self) > SHOWN_FLIPS:
            notes = (
                f"the first {SHOWN_FLIPS} of {len(self):,} flips; table() returns all of them",
                *notes,
            )
        shown = Table(table.columns, table.rows[:SHOWN_FLIPS], notes)
        return f"{self._title()}\n{shown.render('table')}".rstrip("\n")

    def _repr_html_(self) -> str:
        table = self.table()
        return Table(table.columns, table.rows[:SHOWN_FLIPS], table.notes).render_html()

    def _title(self) -> str:
        pieces = count_phrase(len(self.segments), "piece")
        return f"Trajectory of {pieces}: {count_phrase(len(self), 'flip')}"

    def _rows(self, start: int, end: int) -> Iterator[Row]:
        some = slice(start, end)
        values = np.stack((self.changes[:, some], self.mean_changes[:, some]), axis=1)
        flips = (
            self.piece, self.position, self.query, self.rank, self.upper, self.lower, self.merit,
        )  # fmt: skip
        seen = (np.abs(self.changes[:, some]) > NEAR).T
        added = values.reshape(2 * len(self.measures), -1).T
        columns = (*(column[some] for column in flips), seen, added)
        for piece, position, query, rank, upper, lower, merit, noticed, own in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            names = (self._document(query, upper), self._document(query, lower))
            by = ", ".join(map(str, compress(self.measures, noticed)))
            first = (piece, position, self._query(query), rank, *names, KINDS[merit], by)
            yield (*first, *own)

    def _query(self, number: int) -> str | int:
        return number + 1 if self.features is None else decode(self.features.queries[number])

    def _document(self, query: int, row: int) -> str | int:
        """The id of a document, or its number in its list, from 1."""
        ids = None if self.features is None else self.features.documents
        if ids is not None:
            return decode(ids[row])
        return row - int(self.segments[0].documents.offsets[query]) + 1


def _follow_segments(
    segments: tuple[Segment, ...],
    points: Floats,
    measures: tuple[Measure | Aggregate, ...],
    features: Features | None,
) -> Trajectory:
    """The trajectory along these segments, each of which starts where the one before it ends."""
    lists = segments[0].documents
    parts: list[PathPart] = []
    for number, segment in enumerate(segments, start=1):
        parts += path_parts(number, segment)
    flips = sum(part.size for part in parts)
    if flips > MOST_FLIPS:
        raise RankgaugeError(
            f"the path has {flips:,} flips, expected at most {MOST_FLIPS:,}: use a shorter "
            "path, fewer queries or fewer documents; `line` gives the curve of a measure "
            "without the flips"
        )
    positions, numbers, changes = [np.zeros(0)], [np.zeros((5, 0), dtype=np.int64)], []
    for part in parts:
        crossings = Crossings.of(part.segment)
        order = np.argsort(crossings.position, kind="stable")
        where = crossings.position[order]
        positions.append(where if part.position is None else np.full(len(where), part.position))
        upper, lower = crossings.first[crossings.upper], crossings.first[crossings.lower]
        piece = np.full(len(where), part.piece)
        numbers.append(np.stack((piece, crossings.number, crossings.rank, upper, lower))[:, order])
        changes.append(np.stack([crossings.changes(inner(each))[order] for each in measures]))
    position, (piece, query, rank, upper, lower) = np.concatenate(positions), np.hstack(numbers)
    grade = np.maximum(lists.labels, 0)
    merit = np.sign(grade[lower] - grade[upper]).astype(np.int8)
    added = np.concatenate([np.zeros((len(measures), 0)), *changes], axis=1)
    first = segments[0].at(0)
    start, mean_added = [], []
    for measure, own in zip(measures, added, strict=True):
        before = np.ascontiguousarray(inner(measure).score_each(first))
        start.append(mean_of(before, measure))
        mean_added.append(_mean_changes(before, query, own, measure))
    return Trajectory(
        measures, points, segments, features, piece, position, query, upper, lower, rank, merit,
        np.array(start), added, np.array(mean_added), _notes(merit, position),
    )  # fmt: skip


def _mean_changes(
    before: Floats, query: Ints, changes: Floats, measure: Measure | Aggregate
) -> Floats:
    """What each flip adds to the mean, in the order of the path, from the values of the lists before."""
    defined = ~np.isnan(before)
    if not defined.any() or not (defined.all() or inner(measure).averages_defined):
        return np.full(len(changes), np.nan)
    own = np.where(defined[query], changes, 0.0)
    if not np.isfinite(own).all():
        raise RankgaugeError(f"{measure}: along the path, a list gains or loses its score")
    count = np.count_nonzero(defined)
    if not isinstance(measure, Aggregate):
        return own / count
    order = np.argsort(query, kind="stable")
    bounds = np.searchsorted(query[order], np.arange(len(before) + 1))
    reached = replay.running(own[order], bounds, before)
    after, earlier = np.empty(len(own)), np.empty(len(own))
    after[order], earlier[order] = reached, values_before(before, query[order], reached)
    forward = np.where(defined[query], measure.forward(after) - measure.forward(earlier), 0.0)
    total = np.array([float(measure.forward(before[defined]).sum())])
    sums = np.append(total, replay.running(forward, np.array([0, len(forward)]), total))
    return np.asarray(np.diff(measure.back(sums / count)))


def _notes(merit: NDArray[np.int8], position: Floats) -> tuple[Note, ...]:
    counts = ", ".join(
        f"{int(np.count_nonzero(merit == sign)):,} {kind}" for sign, kind in KINDS.items()
    )
    notes = [
        Note(f"{count_phrase(len(merit), 'flip')}: {counts}"),
        Note("the document that falls and the one that rises", column="upper, lower"),
        Note("rank of the upper document before the flip", column="rank"),
    ]
    if joints := int(np.count_nonzero((position == 0) | (position == 1))):
        notes.append(
            Note(
                f"{count_phrase(joints, 'flip')} at the ends of pieces, where documents are tied",
                column="position",
            )
        )
    return tuple(notes)


class NoticedFlips(Record):
    """Flips, and what they change: `changes` has measure × flip.

    P@5 notices the flips of rank 5 with rank 6 alone; AP and nDCG notice all good and bad flips
    (Robertson and Zaragoza 2007, section 3.1).
    """

    _renamed: ClassVar[dict[str, str]] = {"seen": "is_noticed", "wrong": "count_wrong"}

    measures: tuple[Measure | Aggregate, ...]
    merit: NDArray[np.int8]
    rank: Ints
    """The rank of the upper document before the flip; the other one is at the next rank."""
    changes: Floats

    @property
    def is_noticed(self) -> Bools:
        """Measure × flip: whether the measure notices the flip."""
        return np.asarray(np.abs(self.changes) > NEAR)

    def count_wrong(self, number: int) -> int | None:
        """How often a measure rewards a bad flip or punishes a good one; None without a direction."""
        measure = self.measures[number]
        if inner(measure).direction == "none":
            return None
        wrong = sign_of(measure) * self.merit * self.changes[number] < -NEAR
        return int(np.count_nonzero(wrong))

    def measure_table(self, columns: Sequence[str], cells: Sequence[Row]) -> Table:
        """A row for each measure: these cells, and how many flips of each kind it notices.

        The row also has the share of the good and bad flips that it notices, their ranks, and how often
        the measure goes the wrong way.
        """
        rows: list[Row] = []
        decisive = self.merit != 0
        for number, (measure, seen) in enumerate(zip(self.measures, self.is_noticed, strict=True)):
            counts = (int(np.count_nonzero(seen & (self.merit == sign))) for sign in KINDS)
            share = float(np.mean(seen[decisive])) if decisive.any() else None
            ranks = format_ranges(np.unique(self.rank[seen]).tolist())
            first: Row = (str(measure), *cells[number])
            rows.append((*first, *counts, share, ranks, self.count_wrong(number)))
        notes = (
            "good, bad, neutral: the flips of each kind that change the value of their query",
            "share: the share of all good and bad flips that do",
            "ranks: where these flips happen; 5 is a flip between ranks 5 and 6",
            "wrong: good flips that worsen the value, and bad flips that improve it",
        )
        names = ("measure", *columns, *KINDS.values(), "share", "ranks", "wrong")
        return Table(names, tuple(rows), notes)

    def rank_table(self) -> Table:
        """A row for each rank, with how many flips of it with the next rank there are.

        The row also has, for each measure, the share of the good and bad flips that it notices.
        """
        decisive, seen = self.merit != 0, self.is_noticed
        most = int(self.rank.max(initial=0)) + 1
        counts = [np.bincount(self.rank[self.merit == sign], minlength=most) for sign in KINDS]
        either = counts[0] + counts[1]
        noticed = [np.bincount(self.rank[own & decisive], minlength=most) for own in seen]
        rows: list[Row] = []
        for rank in range(1, most):
            own = [int(count[rank]) for count in counts]
            if sum(own):
                shares: Iterable[Cell] = (
                    float(count[rank] / either[rank]) if either[rank] else None for count in noticed
                )
                rows.append((rank, *own, *shares))
        columns = ("rank", *KINDS.values(), *map(str, self.measures))
        notes = (
            "rank: of the upper document before the flip",
            "good, bad, neutral: the flips of each kind; then, for each measure, the share of "
            "the good and bad flips to which it responds",
        )
        return Table(columns, tuple(rows), notes)


def format_ranges(numbers: Sequence[int]) -> str:
    """Increasing numbers in short: runs of neighbors by their ends.

    >>> format_ranges([1, 2, 3, 5, 7, 8])
    '1-3, 5, 7-8'
    """
    parts = []
    for _, group in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        run = [number for _, number in group]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ", ".join(parts)

"""Which flips measures notice: how many of each kind, and at which ranks.

P@5 notices the flips of rank 5 with rank 6 alone; AP and nDCG notice all good and bad flips (Robertson
and Zaragoza 2007, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.records import Record
from rankgauge.core.tables import Cell, Row, Table
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.space.curves import NEAR

KINDS = {1: "good", -1: "bad", 0: "neutral"}
"""What a flip is called, by its merit."""


class NoticedFlips(Record):
    """Flips, and what they change: `changes` has measure × flip."""

    measures: tuple[Measure | Aggregate, ...]
    merit: NDArray[np.int8]
    rank: Ints
    """The rank of the upper document before the flip; the other one has the next rank."""
    changes: Floats

    @property
    def seen(self) -> Bools:
        """Measure × flip: whether the measure notices the flip."""
        return np.asarray(np.abs(self.changes) > NEAR)

    def wrong(self, number: int) -> int | None:
        """How often a measure rewards a bad flip or punishes a good one; None without a direction."""
        direction = inner(self.measures[number]).direction
        if direction == "none":
            return None
        sign = 1.0 if direction == "higher" else -1.0
        return int(np.count_nonzero(sign * self.merit * self.changes[number] < -NEAR))

    def measure_table(self, columns: Sequence[str], cells: Sequence[Row]) -> Table:
        """A row for each measure: these cells, how many flips of each kind it notices, which share of
        the good and bad ones, at which ranks, and how often it goes the wrong way."""
        rows: list[Row] = []
        decisive = self.merit != 0
        for number, (measure, seen) in enumerate(zip(self.measures, self.seen, strict=True)):
            counts = (int(np.count_nonzero(seen & (self.merit == sign))) for sign in KINDS)
            share = float(np.mean(seen[decisive])) if decisive.any() else None
            ranks = spans(np.unique(self.rank[seen]).tolist())
            first: Row = (str(measure), *cells[number])
            rows.append((*first, *counts, share, ranks, self.wrong(number)))
        notes = (
            "good, bad, neutral: the flips of each kind that change the value of their query",
            "share: of all good and bad flips, the share that does",
            "ranks: where these flips are; 5 is a flip of rank 5 with rank 6",
            "wrong: good flips that make the value worse, and bad flips that make it better",
        )
        names = ("measure", *columns, *KINDS.values(), "share", "ranks", "wrong")
        return Table(names, tuple(rows), notes)

    def rank_table(self) -> Table:
        """A row for each rank: how many flips of it with the next rank there are, and for each measure
        which share of the good and bad ones it notices."""
        decisive, seen = self.merit != 0, self.seen
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
            "good, bad, neutral: the flips of each kind; then for each measure the share of the good "
            "and bad flips that it notices",
        )
        return Table(columns, tuple(rows), notes)


def spans(numbers: Sequence[int]) -> str:
    """Increasing numbers in short: runs of neighbours by their ends.

    >>> spans([1, 2, 3, 5, 7, 8])
    '1-3, 5, 7-8'
    """
    parts = []
    for _, group in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        run = [number for _, number in group]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ", ".join(parts)

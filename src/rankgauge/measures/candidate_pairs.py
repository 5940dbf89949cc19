"""The candidate pairs of one ranking: which of them are in the right order, pair by pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.rankings.lists import Rankings


class CandidatePair(Record):
    """Two judged documents with different labels.

    A rank is None below the cutoff, or if the ranking lacks the document. `right` is 1 if the better
    document is first, 0 if it is last, and ½ if neither has a rank.
    """

    better_label: int
    better_rank: int | None
    worse_label: int
    worse_rank: int | None
    right: float


class CandidatePairs(Result):
    """All candidate pairs of one ranking, the highest labels first.

    `share` is the share of pairs in the right order, NaN if there is no pair.
    """

    notes: tuple[Note, ...] = ()

    def __init__(self, pairs: tuple[CandidatePair, ...]) -> None:
        self.pairs = pairs

    @property
    def share(self) -> float:
        if not self.pairs:
            return float("nan")
        return sum(pair.right for pair in self.pairs) / len(self.pairs)

    def _title(self) -> str:
        pairs = count_phrase(len(self.pairs), "pair")
        return f"CandidatePairs: {pairs}, {self.share:.4f} of them in the right order"

    def table(self) -> Table:
        words = {1.0: "right", 0.5: "not ranked", 0.0: "wrong"}
        rows = (
            (
                pair.better_label,
                pair.better_rank,
                pair.worse_label,
                pair.worse_rank,
                words[pair.right],
            )
            for pair in self.pairs
        )
        return Table(("better label", "its rank", "worse label", "rank", "order"), tuple(rows))


def candidate_pairs(one: Rankings) -> CandidatePairs:
    """The pairs of judged documents with different labels, of one ranking that is cut already."""
    labels = one.labels.tolist()
    left = one.judged.labels.tolist()
    places: list[tuple[int, int | None]] = []
    for rank, label in enumerate(labels, 1):
        if label >= 0:
            places.append((label, rank))
            left.remove(label)
    places += [(label, None) for label in left]
    places.sort(key=lambda place: (-place[0], place[1] is None, place[1] or 0))
    return CandidatePairs(tuple(_pairs(places)))


def _pairs(places: list[tuple[int, int | None]]) -> Iterator[CandidatePair]:
    for (better, high), (worse, low) in itertools.combinations(places, 2):
        if better > worse:
            ranked = high is not None or low is not None
            right = float((high or np.inf) < (low or np.inf)) if ranked else 0.5
            yield CandidatePair(better, high, worse, low, right)

"""Which rows a forecast is learned from, and which it is tested on: the paper's way and five others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankgauge.extending import Bools, Ints, digest
from rankgauge.forecast import FeatureJudgments, StackedRows
from rankgauge.forecast.models import GROUPS

RowSplit: TypeAlias = Literal["rows", "topics", "topics and runs", "kind", "track", "paper"]
"""rows: at random, so the query and the run of a test row also occur in training. topics: not its
query. topics and runs: neither its query nor its run. kind: no track of its kind of collection.
track: neither its track nor its query. paper: a fifth of the rows of the target tracks is tested, all
others are learned from."""
SPLITS: Mapping[FeatureJudgments, tuple[RowSplit, ...]] = {
    "pool": ("rows", "topics", "topics and runs", "kind", "track", "paper"),
    "full": ("topics", "track", "paper"),
}
"""The splits, by the judgments used for features."""
FIXED_SPLITS: tuple[RowSplit, ...] = ("kind", "track")
"""The splits without randomness, which are not worth repeating."""
GREATEST_DEPTH_SPLITS: tuple[RowSplit, ...] = ("rows", "topics and runs")
"""The splits examined only at the greatest depth, to save time: no claim of the paper needs
them."""
ALL_ROWS_SPLITS: tuple[RowSplit, ...] = ("rows", "topics", "kind", "track")
"""The splits that test all rows, so that systems can be compared by their means."""
TESTED_SHARE = 0.2
"""The share of the rows of a target track that the paper tests on."""


class SplitRows(NamedTuple):
    """Rows to learn from, and rows to test on."""

    learned: Bools
    tested: Bools


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of a repetition of a split; other seeds have other ones."""
    return int.from_bytes(digest(b"%d repeat %d" % (seed, repeat), size=4)) >> 1


def parts(
    rows: StackedRows, kinds: Sequence[str], targets: Sequence[int], split: RowSplit, seed: int
) -> Iterator[SplitRows]:
    """The parts of a split. Together they test every row at most once.

    Parameters
    ----------
    rows
        The rows of all tracks.
    kinds
        The kind of each track.
    targets
        The numbers of the target tracks of the paper's protocol.
    split
        How rows are chosen.
    seed
        Fixes what is drawn at random.
    """
    if split == "paper":
        yield _paper_part(rows, targets, seed)
    elif split == "kind":
        of_row = np.array(kinds)[rows.track]
        for kind in dict.fromkeys(kinds):
            yield SplitRows(of_row != kind, of_row == kind)
    elif split == "track":
        for number in range(len(kinds)):
            inside = rows.track == number
            yield SplitRows(~rows.with_topics_of(inside), inside)
    else:
        yield from _fold_parts(rows, split, seed)


def _fold_parts(rows: StackedRows, split: RowSplit, seed: int) -> Iterator[SplitRows]:
    topics = rows.folds(seed)
    runs = _draw_groups(rows.system, seed)
    drawn = np.random.default_rng(seed).permutation(len(rows.target)) % GROUPS
    for number in range(GROUPS):
        inside, own = topics == number, runs == number
        if split == "rows":
            yield SplitRows(drawn != number, drawn == number)
        elif split == "topics":
            yield SplitRows(~inside, inside)
        else:
            yield SplitRows(~inside & ~own, inside & own)


def _paper_part(rows: StackedRows, targets: Sequence[int], seed: int) -> SplitRows:
    """Split the rows by the paper's protocol.

    The models learn from all rows of the other tracks and from 80% of the rows of the target
    tracks. The other rows of the target tracks are tested.
    """
    tested = np.zeros(len(rows.target), dtype=np.bool_)
    for number in targets:
        own = np.flatnonzero(rows.track == number)
        order = np.random.default_rng((seed, number)).permutation(own)
        tested[order[: max(1, round(TESTED_SHARE * len(own)))]] = True
    return SplitRows(~tested, tested)


def _draw_groups(numbers: Ints, seed: int) -> Ints:
    """The part of each row: what has the same number is in the same part."""
    count = int(numbers.max(initial=-1)) + 1
    order = np.random.default_rng((seed, 1)).permutation(count) % GROUPS
    return np.asarray(order[numbers])

"""Which rows a forecast is learnt from, and which it is tested on: the paper's way and four others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankgauge.arrays import Bools, Ints
from rankgauge.forecast.models import GROUPS
from rankgauge.forecast.stacked import StackedRows

RowSplit: TypeAlias = Literal["rows", "topics", "topics and runs", "kind"]
SPLITS: tuple[RowSplit, ...] = ("rows", "topics", "topics and runs", "kind")
"""rows: at random, so the topic and the run of a tested row are also learnt from. topics: not its topic.
topics and runs: neither its topic nor its run. kind: no track of its kind of collection."""
TESTED_SHARE = 0.2
"""The share of the rows of a target track that the paper tests on."""


class SplitRows(NamedTuple):
    """Rows to learn from, and rows to test on."""

    learnt: Bools
    tested: Bools


def parts(
    rows: StackedRows, kinds: Sequence[str], split: RowSplit, seed: int
) -> Iterator[SplitRows]:
    """The parts of a split; `kinds` has the kind of each track. Together they test every row at most
    once."""
    if split == "kind":
        of_row = np.array(kinds)[rows.track]
        for kind in dict.fromkeys(kinds):
            inside = of_row == kind
            if not inside.all():
                yield SplitRows(~inside, inside)
        return
    if split == "rows":
        drawn = np.random.default_rng(seed).permutation(len(rows.target)) % GROUPS
        for number in range(GROUPS):
            yield SplitRows(drawn != number, drawn == number)
        return
    topics = rows.folds(seed)
    runs = _dealt(rows.system, seed)
    for number in range(GROUPS):
        inside = topics == number
        if split == "topics":
            yield SplitRows(~inside, inside)
        else:
            own = runs == number
            yield SplitRows(~inside & ~own, inside & own)


def paper_part(rows: StackedRows, target: int, targets: Sequence[int], seed: int) -> SplitRows:
    """The paper's protocol for a target track: other tracks are learnt from wholly, the target tracks by
    80% of their rows; the other rows of this target are tested."""
    left_out = np.zeros(len(rows.target), dtype=bool)
    tested = left_out.copy()
    for number in targets:
        own = np.flatnonzero(rows.track == number)
        order = np.random.default_rng((seed, number)).permutation(own)
        chosen = order[: max(1, round(TESTED_SHARE * len(own)))]
        left_out[chosen] = True
        if number == target:
            tested[chosen] = True
    return SplitRows(~left_out, tested)


def _dealt(numbers: Ints, seed: int) -> Ints:
    """The part of each row: what has the same number is in the same part."""
    count = int(numbers.max(initial=-1)) + 1
    order = np.random.default_rng((seed, 1)).permutation(count) % GROUPS
    return np.asarray(order[numbers])

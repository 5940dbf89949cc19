"""What measures make of single flips: Assertion 1, which flips they notice, where two disagree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from rankgauge import Measure, MeasureError, Unsupported, entries, parse
from rankgauge.extending import Cell, Floats, Ints, Table
from rankgauge.measures.around import inner
from rankgauge.rankings import Flips, JudgedLabels, Rankings
from rankgauge.space import Plane
from rankgauge.space.curves import NEAR
from rankgauge_studies.optimisation.theorems import DROPPED_SEED, binary, drawn

GRADED = ("nDCG", "nDCG(discount=zipf)", "ERR", "nDCG(discount=log_2)", "nDCG@2")
NOTICED = ("AP", *GRADED, "AP(norm=min)@2", "P@1", "P@2", "RR", "Success@2")
"""Measures whose share of flips is counted, and those of them for labels above 1."""


def noticed_table() -> Table:
    """The share of good and bad flips that measures respond to, over the edges of random planes."""
    random = np.random.default_rng(DROPPED_SEED)
    seen: dict[str, Ints] = {measure: np.zeros(5, dtype=np.int64) for measure in NOTICED}
    for number in range(60):
        graded = number % 2 == 1
        draw = _graded if graded else binary
        made = drawn(random, 1, 6, 300, draw).plane()
        for measure in GRADED if graded else NOTICED:
            seen[measure] += _responses(made, measure)
    rows = tuple(
        (
            measure,
            int(counts[0]),
            counts[1] / counts[0],
            int(counts[2]),
            int(counts[3]),
            int(counts[4]),
        )
        for measure, counts in seen.items()
    )
    columns = ("measure", "good or bad", "noticed", "wrong way", "neutral", "neutral noticed")
    return Table(columns, rows, ("flips are counted once for each edge between two cells",))


def _graded(random: np.random.Generator, count: int) -> list[int]:
    return [int(label) for label in random.integers(0, 3, count)]


def _responses(made: Plane, measure: str) -> Ints:
    """Of the edges: good or bad flips, those noticed, those answered the wrong way, neutral flips, and
    neutral flips noticed."""
    values, edges = made.values(measure), made.arrangement
    flips = {flip.line: flip for flip in made.boundaries}
    first, second, sign = (
        np.array([getattr(flips[line], name) for line in range(len(made.lines))])
        for name in ("first", "second", "sign")
    )
    better = (np.sign(made.labels[first] - made.labels[second]) * sign)[edges.line]
    change: Floats = values[edges.left] - values[edges.right]
    noticed = np.abs(change) > NEAR
    return np.array(
        [
            np.count_nonzero(better),
            np.count_nonzero(noticed & (better != 0)),
            np.count_nonzero(change * better < -NEAR),
            np.count_nonzero(better == 0),
            np.count_nonzero(noticed & (better == 0)),
        ]
    )


LENGTH, LABELS, CUTOFF = 5, 3, 4


def assertion_table() -> Table:
    """Assertion 1 over all registered measures: every flip of every list of five documents of three
    labels."""
    lists = [list(labels) for labels in itertools.product(range(LABELS), repeat=LENGTH)]
    known = JudgedLabels.of(*lists, max_grade=LABELS - 1)
    rankings = Rankings(
        np.array(lists, dtype=np.int32).ravel(),
        np.arange(len(lists) + 1) * LENGTH,
        np.arange(len(lists)),
        known,
    )
    flips = Flips.of(rankings)
    better = np.sign(flips.lower_label.astype(np.int64) - flips.upper_label)
    rows: list[tuple[Cell, ...]] = []
    for _, entry in sorted(entries().items()):
        if not isinstance(entry, Measure) or entry.direction == "none":
            continue
        measure = inner(parse(entry.examples[0]))
        if isinstance(measure.cutoff, int):
            measure = measure @ CUTOFF
        try:
            change = measure.flip_each(rankings)
        except (MeasureError, Unsupported):
            continue
        if measure.direction == "lower":
            change = -change
        change = np.nan_to_num(change)
        noticed = np.abs(change) > NEAR
        against = np.flatnonzero(change * better < -NEAR)
        wrong = len(against)
        neutral = int(np.count_nonzero(noticed & (better == 0)))
        rows.append(
            (
                str(measure),
                float(np.mean(noticed[better != 0])),
                wrong,
                neutral,
                "yes" if not wrong and not neutral else "no",
                "yes" if measure.complete().swap_monotone else "no",
                _wrong_way(rankings, int(against[0])) if wrong else None,
            )
        )
    columns = ("measure", "noticed", "wrong way", "neutral noticed", "holds", "declared", "example")
    return Table(
        columns,
        tuple(rows),
        (
            f"all {len(lists)} lists of {LENGTH} documents with labels 0 to {LABELS - 1}, "
            f"{len(flips):,} flips",
            "declared: whether the measure says of itself that the better of two neighbours first never "
            "hurts, for all parameters and labels; measures that do not say so can still hold here",
            "example: labels before and after a good flip that makes the value worse, or a bad one that "
            "makes it better",
        ),
    )


def _wrong_way(rankings: Rankings, flip: int) -> str:
    """The labels of the list before and after a flip."""
    number, place = divmod(flip, LENGTH - 1)
    before = rankings.labels[number * LENGTH : (number + 1) * LENGTH].tolist()
    after = before.copy()
    after[place], after[place + 1] = after[place + 1], after[place]
    return f"{_text(before)} → {_text(after)}"


def smallest_table() -> Table:
    """The smallest instances in which AP gets better and nDCG worse, or the other way round."""
    rows: list[tuple[Cell, ...]] = [
        smallest_on_a_line(),
        smallest_at_a_point(),
        smallest_discount(),
    ]
    return Table(
        ("dropped", "before", "after", "measure", "change", "other", "its change"),
        tuple(rows),
        (
            "before, after: the labels in rank order of each query, on the two sides of a line or of a "
            "point where three lines meet, of which no sector has all three flips good",
            "the paper does not say that a discount must fall from each rank to the next; that of "
            "Järvelin and Kekäläinen with base 2 does not",
        ),
    )


def smallest_on_a_line() -> tuple[Cell, ...]:
    """Two queries that flip on one line, one for the better: the fewest documents for which AP and nDCG
    disagree, and of these the clearest."""
    ap, ndcg = parse("AP"), parse("nDCG")
    flips = _flips(ap, ndcg, 5)
    worse = [flip for flip in flips if flip[2] < 0]
    better = [flip for flip in flips if flip[2] > 0]
    disagreeing = [
        (first, second)
        for first, second in itertools.product(worse, better)
        if (first[2] + second[2]) * (first[3] + second[3]) < -1e-9
    ]

    def size(pair: tuple[Flip, Flip]) -> tuple[int, float]:
        first, second = pair
        clear = min(abs(first[2] + second[2]), abs(first[3] + second[3]))
        return len(first[0]) + len(second[0]), -clear

    first, second = min(disagreeing, key=size)
    return (
        "flips share a line",
        f"{_text(first[0])} {_text(second[0])}",
        f"{_text(first[1])} {_text(second[1])}",
        "AP",
        (first[2] + second[2]) / 2,
        "nDCG",
        (first[3] + second[3]) / 2,
    )


def smallest_at_a_point() -> tuple[Cell, ...]:
    """Three queries whose flips meet in a point: the fewest documents for which AP and nDCG are best in
    different sectors, and of these the clearest.

    If in no sector all three flips are good, a sector is best in which only the flip that matters least
    is bad. AP and nDCG can disagree which flip that is. Across edges both have the same optima: the
    three sectors with two good flips.
    """
    flips = [flip for flip in _flips(parse("AP"), parse("nDCG"), 5) if flip[2] > 0]
    found = []
    for first, second in itertools.combinations(flips, 2):
        if (first[2] - second[2]) * (first[3] - second[3]) < -1e-9:
            third = next(
                flip
                for flip in sorted(flips, key=lambda flip: len(flip[0]))
                if flip[2] > max(first[2], second[2]) and flip[3] > max(first[3], second[3])
            )
            by_ap, by_ndcg = sorted((first, second), key=lambda flip: flip[2])
            clear = min(by_ndcg[2] - by_ap[2], by_ap[3] - by_ndcg[3])
            size = sum(len(flip[0]) for flip in (first, second, third))
            found.append((size, -clear, by_ap, by_ndcg, third))
    _, _, by_ap, by_ndcg, third = min(found)
    # Best by AP: the flip `by_ap` is bad, the others good; by nDCG the flip `by_ndcg` is bad.
    return (
        "flips meet in a point",
        f"{_text(by_ap[0])} {_text(by_ndcg[1])} {_text(third[1])}",
        f"{_text(by_ap[1])} {_text(by_ndcg[0])} {_text(third[1])}",
        "AP",
        (by_ap[2] - by_ndcg[2]) / 3,
        "nDCG",
        (by_ap[3] - by_ndcg[3]) / 3,
    )


def smallest_discount() -> tuple[Cell, ...]:
    """The shortest list with a flip that AP notices and nDCG with a flat discount does not."""
    ap, flat = parse("AP"), parse("nDCG(discount=log_2)")
    for length in range(2, 5):
        for labels in itertools.product((0, 1), repeat=length):
            for after in _flipped(labels):
                by_ap, by_flat = _change(ap, labels, after), _change(flat, labels, after)
                if abs(by_ap) > NEAR and abs(by_flat) <= NEAR:
                    return (
                        "the discount falls at each rank",
                        _text(labels),
                        _text(after),
                        "AP",
                        by_ap,
                        str(flat),
                        by_flat,
                    )
    raise AssertionError("no such list")


Flip: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], float, float]
"""The labels before and after, and what two measures make of it."""


def _flips(one: object, other: object, longest: int) -> list[Flip]:
    """Every flip of labels 0 and 1 in lists up to a length."""
    return [
        (labels, after, _change(one, labels, after), _change(other, labels, after))
        for length in range(2, longest + 1)
        for labels in itertools.product((0, 1), repeat=length)
        for after in _flipped(labels)
    ]


def _flipped(labels: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The lists after each flip of neighbours with different labels."""
    for place in range(len(labels) - 1):
        if labels[place] != labels[place + 1]:
            yield (
                *labels[:place],
                labels[place + 1],
                labels[place],
                *labels[place + 2 :],
            )


def _change(measure: object, before: Sequence[int], after: Sequence[int]) -> float:
    assert isinstance(measure, Measure)
    return measure.score(list(after)) - measure.score(list(before))


def _text(labels: Sequence[int]) -> str:
    return "".join(map(str, labels))

"""What measures make of single flips: Assertion 1, which flips they notice, where two disagree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from operator import itemgetter

import numpy as np

from rankgauge import Measure, MeasureError, Unsupported, parse
from rankgauge.extending import Cell, Floats, Ints, Record, Table
from rankgauge.measures import entries
from rankgauge.measures.around import inner
from rankgauge.rankings import Flips, JudgedLabels, Rankings
from rankgauge.space import Plane
from rankgauge.space.curves import NEAR
from rankgauge_studies.optimization.theorems import DROPPED_SEED, draw_binary_labels, draw_instance

GRADED_MEASURES = ("nDCG", "nDCG(discount=zipf)", "ERR", "nDCG(discount=log_2)", "nDCG@2")
RESPONSE_MEASURES = ("AP", *GRADED_MEASURES, "AP(norm=min)@2", "P@1", "P@2", "RR", "Success@2")
"""Measures whose flips are counted, and those among them for labels above 1."""


def response_table() -> Table:
    """The share of good and bad flips that measures respond to, over the edges of random planes."""
    random = np.random.default_rng(DROPPED_SEED)
    seen: dict[str, Ints] = {measure: np.zeros(5, dtype=np.int64) for measure in RESPONSE_MEASURES}
    for number in range(60):
        graded = number % 2 == 1
        made = draw_instance(
            random, 1, 6, 300, _draw_graded_labels if graded else draw_binary_labels
        ).plane()
        for measure in GRADED_MEASURES if graded else RESPONSE_MEASURES:
            seen[measure] += _count_responses(made, measure)
    rows = tuple(
        (measure, decisive, noticed / decisive, wrong, neutral, neutral_noticed)
        for measure, counts in seen.items()
        for decisive, noticed, wrong, neutral, neutral_noticed in [counts.tolist()]
    )
    columns = ("measure", "good or bad", "noticed", "wrong way", "neutral", "neutral noticed")
    return Table(columns, rows, ("flips are counted once per edge between two cells",))


def _draw_graded_labels(random: np.random.Generator, count: int) -> list[int]:
    return list(map(int, random.integers(0, 3, count)))


def _count_responses(made: Plane, measure: str) -> Ints:
    """Count the edges by the kind of their flip and by the response of the measure.

    The counts are: good or bad flips, those noticed, those answered the wrong way, neutral flips,
    and neutral flips noticed.
    """
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
    """Test Assertion 1 for all registered measures.

    The test covers every flip of every list of five documents of three labels.
    """
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
        share = float(np.mean(noticed[better != 0]))
        against = np.flatnonzero(change * better < -NEAR).tolist()
        neutral = int(np.count_nonzero(noticed & (better == 0)))
        holds = "no" if against or neutral else "yes"
        declared = "yes" if measure.complete().swap_monotone else "no"
        example = _format_flip(rankings, against[0]) if against else None
        rows.append((str(measure), share, len(against), neutral, holds, declared, example))
    columns = ("measure", "noticed", "wrong way", "neutral noticed", "holds", "declared", "example")
    return Table(
        columns,
        tuple(rows),
        (
            f"all {len(lists)} lists of {LENGTH} documents with labels 0 to {LABELS - 1}, "
            f"{len(flips):,} flips",
            "declared: whether the measure declares that ranking the better of two neighbors "
            "first never hurts, for all parameters and labels; other measures may still "
            "satisfy this here",
            "example: labels before and after a good flip that worsens the value, or a bad "
            "one that improves it",
        ),
    )


def _format_flip(rankings: Rankings, flip: int) -> str:
    """The labels of the list before and after a flip."""
    number, place = divmod(flip, LENGTH - 1)
    before = rankings.labels[number * LENGTH : (number + 1) * LENGTH].tolist()
    after = before.copy()
    after[place], after[place + 1] = after[place + 1], after[place]
    return f"{_text(before)} → {_text(after)}"


class LabelFlip(Record):
    """The labels of a list before and after a flip, and what it adds to AP and nDCG."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    ap: float
    ndcg: float


def smallest_table() -> Table:
    """The smallest instances in which AP gets better and nDCG worse, or the other way round."""
    flips = [
        LabelFlip(before, after, _change("AP", before, after), _change("nDCG", before, after))
        for before, after in _flips_of_lists(5)
    ]
    return Table(
        ("dropped", "before", "after", "measure", "change", "other", "its change"),
        (smallest_on_shared_line(flips), smallest_at_shared_point(flips), smallest_discount()),
        (
            "before, after: the labels in rank order of each query, on both sides of a line "
            "or of a point where three lines meet that has no sector with all three flips good",
            "the paper does not require a discount to decrease from each rank to the next; "
            "that of Järvelin and Kekäläinen with base 2 does not",
        ),
    )


def smallest_on_shared_line(flips: Sequence[LabelFlip]) -> tuple[Cell, ...]:
    """Return the smallest case where two queries flip on one line, and AP and nDCG disagree.

    One of the two flips is for the better. The smallest case has the fewest documents; of several,
    the clearest is returned.
    """
    disagreeing = []
    for worse, better in itertools.product(flips, flips):
        if worse.ap < 0 < better.ap:
            ap, ndcg = worse.ap + better.ap, worse.ndcg + better.ndcg
            if ap * ndcg < -1e-9:
                size = len(worse.before) + len(better.before)
                disagreeing.append((size, -min(abs(ap), abs(ndcg)), worse, better))
    *_, worse, better = min(disagreeing, key=itemgetter(0, 1))
    return (
        "flips share a line",
        f"{_text(worse.before)} {_text(better.before)}",
        f"{_text(worse.after)} {_text(better.after)}",
        "AP",
        (worse.ap + better.ap) / 2,
        "nDCG",
        (worse.ndcg + better.ndcg) / 2,
    )


def smallest_at_shared_point(flips: Sequence[LabelFlip]) -> tuple[Cell, ...]:
    """Return the smallest case where the flips of three queries meet, and AP and nDCG disagree.

    The flips meet in a point, and AP and nDCG are best in different sectors. The smallest case has
    the fewest documents; of several, the clearest is returned.

    If in no sector all three flips are good, a sector is best in which only the flip that matters least
    is bad. AP and nDCG can disagree which flip that is. Across edges both have the same optima: the
    three sectors with two good flips.
    """
    good = [flip for flip in flips if flip.ap > 0]
    shortest_first = sorted(good, key=lambda flip: len(flip.before))
    found = []
    for pair in itertools.combinations(good, 2):
        by_ap, by_ndcg = sorted(pair, key=lambda flip: flip.ap)  # the flip that matters least
        if (by_ap.ap - by_ndcg.ap) * (by_ap.ndcg - by_ndcg.ndcg) < -1e-9:
            third = next(
                flip for flip in shortest_first if flip.ap > by_ndcg.ap and flip.ndcg > by_ap.ndcg
            )
            clear = min(by_ndcg.ap - by_ap.ap, by_ap.ndcg - by_ndcg.ndcg)
            size = sum(len(flip.before) for flip in (*pair, third))
            labels = [(flip.before, flip.after) for flip in (by_ap, by_ndcg, third)]
            found.append((size, -clear, labels, by_ap, by_ndcg, third))
    *_, by_ap, by_ndcg, third = min(found, key=itemgetter(0, 1, 2))
    # Best by AP: the flip `by_ap` is bad, the others good; by nDCG the flip `by_ndcg` is bad.
    return (
        "flips meet in a point",
        f"{_text(by_ap.before)} {_text(by_ndcg.after)} {_text(third.after)}",
        f"{_text(by_ap.after)} {_text(by_ndcg.before)} {_text(third.after)}",
        "AP",
        (by_ap.ap - by_ndcg.ap) / 3,
        "nDCG",
        (by_ap.ndcg - by_ndcg.ndcg) / 3,
    )


def smallest_discount() -> tuple[Cell, ...]:
    """The shortest list with a flip that AP notices and nDCG with a flat discount does not."""
    flat = "nDCG(discount=log_2)"
    for before, after in _flips_of_lists(4):
        by_ap, by_flat = _change("AP", before, after), _change(flat, before, after)
        if abs(by_ap) > NEAR and abs(by_flat) <= NEAR:
            what = "the discount decreases at each rank"
            return what, _text(before), _text(after), "AP", by_ap, flat, by_flat
    raise AssertionError("no such list")


def _flips_of_lists(longest: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The lists before and after every flip of labels 0 and 1, in lists up to a length."""
    for length in range(2, longest + 1):
        for labels in itertools.product((0, 1), repeat=length):
            for place, (upper, lower) in enumerate(itertools.pairwise(labels)):
                if upper != lower:
                    yield labels, (*labels[:place], lower, upper, *labels[place + 2 :])


def _change(measure: str, before: Sequence[int], after: Sequence[int]) -> float:
    parsed = inner(parse(measure))
    return parsed.score(list(after)) - parsed.score(list(before))


def _text(labels: Sequence[int]) -> str:
    return "".join(map(str, labels))

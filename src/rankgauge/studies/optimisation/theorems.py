"""Assertion 1 and Theorems 1 and 2 of the paper, on instances by the thousand, and where they fail."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.data.errors import MeasureError, Unsupported
from rankgauge.measures.around import inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import parse
from rankgauge.measures.registry import entries
from rankgauge.rankings.flips import Flips
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.records import Record
from rankgauge.space.arrangements import Arrangement, Line, canonical
from rankgauge.space.curves import NEAR
from rankgauge.space.planes import Across, FlipBoundary, Plane, Region, plane
from rankgauge.tables import Cell, Table

SAME_FLIPS = (
    ("AP", "nDCG"),
    ("AP", "gm(AP)"),
    ("AP", "ERR"),
    ("nDCG", "nDCG(discount=zipf)"),
    ("AP(norm=min)@2", "nDCG@2"),
)
"""Pairs of measures that respond to the same flips."""
OTHER_FLIPS = (
    ("AP", "nDCG(discount=log_2)"),
    ("AP", "P@1"),
    ("AP", "RR"),
    ("AP", "P@2"),
    ("AP", "nDCG@2"),
)
"""Pairs of measures that do not; nDCG(discount=log_2) ignores the flip of ranks 1 and 2."""
GENERIC = ((1, 4, 150), (1, 6, 60), (1, 8, 15), (2, 4, 100), (3, 4, 60), (2, 6, 12))
"""Queries, documents of each, and how many instances."""
MANY = ((1, 4, 1_200), (2, 3, 600), (1, 5, 300))
GENERIC_SEED, MANY_SEED, DROPPED_SEED, POINT_SEED = 3, 4, 5, 21
DROPPED = ((1, 4, 1, 1_500), (1, 5, 1, 600), (2, 3, 1, 1_500), (2, 4, 2, 400))
"""Queries, documents of each, the largest coordinate, and how many are drawn."""
THROUGH_A_POINT = 3_000
GRADED = ("nDCG", "nDCG(discount=zipf)", "ERR", "nDCG(discount=log_2)", "nDCG@2")
NOTICED = ("AP", *GRADED, "AP(norm=min)@2", "P@1", "P@2", "RR", "Success@2")
"""Measures whose share of flips is counted, and those of them for labels above 1."""


class Instance(Record):
    """Documents with labels, each of a query."""

    documents: list[tuple[int, ...]]
    labels: list[int]
    queries: list[int]

    def plane(self) -> Plane:
        """All its regions."""
        return plane(self.documents, self.labels, self.queries)


def binary(random: np.random.Generator, count: int) -> list[int]:
    """Random labels 0 and 1, at least one of each."""
    relevant = [1] * int(random.integers(1, count)) + [0] * count
    return [int(label) for label in random.permutation(relevant)[:count]]


def drawn(
    random: np.random.Generator,
    queries: int,
    documents: int,
    size: int,
    labels: Callable[[np.random.Generator, int], list[int]] = binary,
) -> Instance:
    """A random instance with whole coordinates up to a size."""
    made = Instance([], [], [])
    for query in range(queries):
        rows = random.integers(-size, size + 1, (documents, 3)).tolist()
        made.documents.extend(tuple(row) for row in rows)
        made.labels.extend(labels(random, documents))
        made.queries.extend([query] * documents)
    return made


def coincident(made: Plane) -> bool:
    """Whether two flips share a line."""
    return len({flip.line for flip in made.boundaries}) < len(made.boundaries)


def meets_others(made: Plane) -> bool:
    """Whether flips meet in a point that need not: those of several queries, or of four documents."""
    at = {
        line: [flip for flip in made.boundaries if flip.line == line]
        for line in range(len(made.lines))
    }
    for lines in made.arrangement.meeting:
        if len(lines) > 2:
            flips = [flip for line in lines for flip in at[line]]
            documents = {row for flip in flips for row in (flip.first, flip.second)}
            if len({flip.query for flip in flips}) > 1 or len(documents) > 3:
                return True
    return False


def optima(made: Plane, measure: str, across: Across = "edges") -> set[frozenset[int]]:
    """The local optima of a measure, as sets of cells."""
    return {frozenset(region.cells.tolist()) for region in made.optima(measure, across)}


def share(made: Plane, pair: Sequence[str], across: Across = "edges") -> bool:
    """Whether two measures have the same local optima."""
    first, second = (optima(made, measure, across) for measure in pair)
    return first == second


def theorems_table(real: Sequence[Instance] = ()) -> Table:
    """How many instances have the same local optima for both measures of a pair."""
    sets = {
        "random": list(_generic(GENERIC, GENERIC_SEED)),
        "more random": list(_generic(MANY, MANY_SEED)),
        "MQ2008": [made for each in real for made in [each.plane()] if _is_generic(made)],
    }
    rows: list[tuple[Cell, ...]] = []
    for name, planes in sets.items():
        if not planes:
            continue
        for pair in SAME_FLIPS if name != "random" else (*SAME_FLIPS, *OTHER_FLIPS):
            counts = [
                sum(share(made, pair, across) for made in planes)
                for across in ("edges", "trajectories")
            ]
            same = "yes" if pair in SAME_FLIPS else "no"
            rows.append((name, *pair, same, len(planes), *counts))
    return Table(
        ("instances", "measure", "other", "same flips", "count", "edges", "trajectories"),
        tuple(rows),
        (
            "edges, trajectories: on how many instances both measures have the same local optima, "
            "across edges, and along every path",
            "only instances that meet the assumptions of Theorem 2: no two flips share a line, and "
            "flips meet in a point only where they must; labels are 0 and 1",
        ),
    )


def _is_generic(made: Plane) -> bool:
    return not coincident(made) and not meets_others(made)


def _generic(kinds: Sequence[tuple[int, int, int]], seed: int) -> Iterator[Plane]:
    random = np.random.default_rng(seed)
    for queries, documents, count in kinds:
        size = 300 if documents > 4 or queries > 1 else 99
        for _ in range(count):
            made = drawn(random, queries, documents, size).plane()
            if _is_generic(made):
                yield made


def dropped_table() -> Table:
    """Where an assumption is dropped: how often AP and nDCG have different local optima."""
    random = np.random.default_rng(DROPPED_SEED)
    rows: list[tuple[Cell, ...]] = []
    for queries, documents, size, count in DROPPED:
        seen: Counter[str] = Counter()
        for _ in range(count):
            each = drawn(random, queries, documents, size)
            made = each.plane()
            pairs = queries * documents * (documents - 1) // 2
            if len(made) < 2 or len(made.boundaries) < pairs:
                continue  # documents that never change places: ties are another matter
            kind = "lines" if coincident(made) else "points" if meets_others(made) else "generic"
            seen[kind] += 1
            for across in ("edges", "trajectories"):
                seen[f"{kind} {across}"] += not share(made, ("AP", "nDCG"), across)
        what = f"{queries} × {documents} documents, coordinates up to {size}"
        rows += [
            (what, name, seen[kind], seen[f"{kind} edges"], seen[f"{kind} trajectories"])
            for kind, name in (
                ("generic", "none"),
                ("lines", "flips share a line"),
                ("points", "flips meet in a point"),
            )
        ]
    rows.append(through_a_point())
    return Table(
        ("instances", "dropped", "count", "differ across edges", "differ along paths"),
        tuple(rows),
        ("AP and nDCG respond to the same flips; differ: their local optima are not the same",),
    )


def padded(random: np.random.Generator, size: int = 5) -> Instance:
    """Three queries with one flip each, all three lines through the origin, and documents far above and
    below, which never change places near it."""
    made = Instance([], [], [])
    for query in range(3):
        above, below = int(random.integers(0, 5)), int(random.integers(0, 3))
        rows = [[10**5 * (k + 1), 0, 0] for k in range(above)]
        rows += [[0, *random.integers(-size, size + 1, 2).tolist()] for _ in range(2)]
        rows += [[-(10**5) * (k + 1), 0, 0] for k in range(below)]
        labels = [
            *random.integers(0, 2, above).tolist(),
            *random.permutation([1, 0]).tolist(),
            *random.integers(0, 2, below).tolist(),
        ]
        made.documents.extend(tuple(row) for row in rows)
        made.labels.extend(int(label) for label in labels)
        made.queries.extend([query] * len(rows))
    return made


def around_the_origin(each: Instance) -> Plane | None:
    """The six sectors around the origin; None if two of the three lines are the same."""
    lines: dict[Line, int] = {}
    boundaries = []
    for query in range(3):
        first, second = (
            row
            for row, (c, _, _) in enumerate(each.documents)
            if each.queries[row] == query and c == 0
        )
        (_, u, v), (_, p, q) = each.documents[first], each.documents[second]
        if u == p and v == q:
            return None
        line, sign = canonical(u - p, v - q, 0)
        boundaries.append(
            FlipBoundary(lines.setdefault(line, len(lines)), query, first, second, sign)
        )
    if len(lines) < 3:
        return None
    offsets = np.searchsorted(each.queries, np.arange(4))
    return Plane(
        tuple((c, u, v) for c, u, v in each.documents),
        np.array(each.labels, dtype=np.int32),
        offsets,
        (0, 1, 2),
        tuple(boundaries),
        Arrangement.of(tuple(lines)),
    )


def through_a_point() -> tuple[Cell, ...]:
    """The row of instances in which the lines of three queries meet in a point."""
    random = np.random.default_rng(POINT_SEED)
    count = edges = paths = 0
    for _ in range(THROUGH_A_POINT):
        made = around_the_origin(padded(random))
        if made is None:
            continue
        count += 1
        edges += not share(made, ("AP", "nDCG"))
        paths += not share(made, ("AP", "nDCG"), "trajectories")
    return "3 queries, one flip each", "three lines meet in a point", count, edges, paths


def smallest_table() -> Table:
    """The smallest instances in which AP and nDCG, or two discounts, disagree."""
    rows: list[tuple[Cell, ...]] = [smallest_on_a_line(), smallest_discount()]
    return Table(
        ("dropped", "before", "after", "measure", "change", "other", "its change"),
        tuple(rows),
        (
            "before, after: the labels in rank order of each query, on the two sides of a line",
            "the paper does not say that a discount must fall from each rank to the next; that of "
            "Järvelin and Kekäläinen with base 2 does not",
        ),
    )


def smallest_on_a_line() -> tuple[Cell, ...]:
    """Two queries that flip on one line, one for the better: the fewest documents for which AP and nDCG
    disagree, and of these the clearest."""
    ap, ndcg = parse("AP"), parse("nDCG")
    flips = [
        (labels, after, _change(ap, labels, after), _change(ndcg, labels, after))
        for length in range(2, 6)
        for labels in itertools.product((0, 1), repeat=length)
        for after in _flipped(labels)
    ]
    worse = [flip for flip in flips if flip[2] < 0]
    better = [flip for flip in flips if flip[2] > 0]
    disagreeing = [
        (first, second)
        for first, second in itertools.product(worse, better)
        if (first[2] + second[2]) * (first[3] + second[3]) < -1e-9
    ]

    def size(pair: tuple[tuple, tuple]) -> tuple[int, float]:  # type: ignore[type-arg]
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


LENGTH, LABELS, CUTOFF = 5, 3, 3


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
        wrong = int(np.count_nonzero(change * better < -NEAR))
        neutral = int(np.count_nonzero(noticed & (better == 0)))
        rows.append(
            (
                str(measure),
                float(np.mean(noticed[better != 0])),
                wrong,
                neutral,
                "yes" if not wrong and not neutral else "no",
                "yes" if measure.complete().swap_monotone else "no",
            )
        )
    columns = ("measure", "noticed", "wrong way", "neutral noticed", "holds", "declared")
    return Table(
        columns,
        tuple(rows),
        (
            f"all {len(lists)} lists of {LENGTH} documents with labels 0 to {LABELS - 1}, "
            f"{len(flips):,} flips",
            "declared: whether the measure says of itself that the better of two neighbours first never "
            "hurts",
        ),
    )


def gmap_table(instances: Sequence[tuple[str, Instance]]) -> Table:
    """Whether every global optimum of MAP is a local one of GMAP, and the other way round."""
    counts: dict[str, Counter[str]] = {}
    for name, each in instances:
        made = each.plane()
        seen = counts.setdefault(name, Counter())
        seen["count"] += 1
        seen["shared"] += any(
            set(a.cells.tolist()) & set(b.cells.tolist())
            for a, b in itertools.product(*(_best(made, m) for m in ("AP", "gm(AP)")))
        )
        for one, other in (("AP", "gm(AP)"), ("gm(AP)", "AP")):
            local = {cell for region in made.optima(other) for cell in region.cells.tolist()}
            inside = all(set(region.cells.tolist()) <= local for region in _best(made, one))
            seen[one] += inside
    rows = tuple(
        (name, seen["count"], seen["AP"], seen["gm(AP)"], seen["shared"])
        for name, seen in counts.items()
    )
    columns = (
        "instances",
        "count",
        "MAP's are local in GMAP",
        "GMAP's are local in MAP",
        "one is both",
    )
    return Table(
        columns,
        rows,
        ("one is both: a global optimum of MAP and one of GMAP have a cell in common",),
    )


def _best(made: Plane, measure: str) -> list[Region]:
    return [region for region in made.optima(measure) if region.best]

"""Assertion 1 and Theorems 1 and 2 of the paper, on instances by the thousand, and where they fail."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from rankgauge.extending import Cell, Record, Table
from rankgauge.space import Across, Arrangement, FlipBoundary, Line, Plane, plane
from rankgauge.space.arrangements import canonical_line
from rankgauge_studies.optimization.example import global_optima

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
"""Number of queries, documents per query, and number of instances."""
MANY = ((1, 4, 1_200), (2, 3, 600), (1, 5, 300))
GENERIC_SEED, MANY_SEED, DROPPED_SEED, POINT_SEED = 3, 4, 5, 21
DROPPED_INSTANCES = ((1, 4, 1, 1_500), (1, 5, 1, 600), (2, 3, 1, 1_500), (2, 4, 2, 400))
"""Number of queries, documents per query, the largest coordinate, and number of draws."""
POINT_DRAWS = 3_000
OPTIMUM_DEFINITIONS: tuple[Across, ...] = ("edges", "trajectories")


class Instance(Record):
    """Documents with labels, each of a query."""

    documents: list[tuple[int, ...]]
    labels: list[int]
    queries: list[int]

    def add(self, query: int, documents: Iterable[Iterable[int]], labels: Iterable[int]) -> None:
        """Add the documents of a query."""
        self.documents.extend(map(tuple, documents))
        self.labels.extend(labels)
        self.queries.extend([query] * (len(self.labels) - len(self.queries)))

    def plane(self) -> Plane:
        """All its regions."""
        return plane(self.documents, self.labels, self.queries)


def draw_binary_labels(random: np.random.Generator, count: int) -> list[int]:
    """Random labels 0 and 1, at least one of each."""
    relevant = [1] * int(random.integers(1, count)) + [0] * count
    return [int(label) for label in random.permutation(relevant)[:count]]


def draw_instance(
    random: np.random.Generator,
    queries: int,
    documents: int,
    size: int,
    labels: Callable[[np.random.Generator, int], list[int]] = draw_binary_labels,
) -> Instance:
    """A random instance with whole coordinates up to a size."""
    made = Instance([], [], [])
    for query in range(queries):
        rows = random.integers(-size, size + 1, (documents, 3)).tolist()
        made.add(query, rows, labels(random, documents))
    return made


def has_coincident_flips(made: Plane) -> bool:
    """Whether two flips share a line."""
    return len({flip.line for flip in made.boundaries}) < len(made.boundaries)


def has_extra_meetings(made: Plane) -> bool:
    """Whether flips meet in a point that need not: those of several queries, or of four documents."""
    for lines in made.arrangement.meeting:
        if len(lines) > 2:
            flips = [flip for flip in made.boundaries if flip.line in lines]
            documents = {row for flip in flips for row in (flip.first, flip.second)}
            if len({flip.query for flip in flips}) > 1 or len(documents) > 3:
                return True
    return False


def optima(made: Plane, measure: str, across: Across = "edges") -> set[frozenset[int]]:
    """The local optima of a measure, as sets of cells."""
    return {frozenset(region.cells.tolist()) for region in made.optima(measure, across)}


def have_same_optima(made: Plane, pair: Sequence[str], across: Across = "edges") -> bool:
    """Whether two measures have the same local optima."""
    first, second = (optima(made, measure, across) for measure in pair)
    return first == second


def theorems_table(real: Sequence[Instance] = ()) -> Table:
    """How many instances have the same local optima for both measures of a pair."""
    sets = {
        "random": list(_generic_planes(GENERIC, GENERIC_SEED)),
        "more random": list(_generic_planes(MANY, MANY_SEED)),
        "MQ2008": [made for each in real for made in [each.plane()] if _is_generic(made)],
    }
    rows: list[tuple[Cell, ...]] = []
    for name, planes in sets.items():
        if not planes:
            continue
        for pair in SAME_FLIPS if name != "random" else (*SAME_FLIPS, *OTHER_FLIPS):
            counts = [
                sum(have_same_optima(made, pair, across) for made in planes)
                for across in OPTIMUM_DEFINITIONS
            ]
            same = "yes" if pair in SAME_FLIPS else "no"
            rows.append((name, *pair, same, len(planes), *counts))
    return Table(
        ("instances", "measure", "other", "same flips", "count", "edges", "trajectories"),
        tuple(rows),
        (
            "edges, trajectories: the number of instances on which both measures have the "
            "same local optima, across edges and along every path",
            "only instances that satisfy the assumptions of Theorem 2: no two flips share a "
            "line, and flips meet in a point only where they must; labels are 0 and 1",
        ),
    )


def _is_generic(made: Plane) -> bool:
    return not has_coincident_flips(made) and not has_extra_meetings(made)


def _generic_planes(kinds: Sequence[tuple[int, int, int]], seed: int) -> Iterator[Plane]:
    random = np.random.default_rng(seed)
    for queries, documents, count in kinds:
        size = 300 if documents > 4 or queries > 1 else 99
        for _ in range(count):
            made = draw_instance(random, queries, documents, size).plane()
            if _is_generic(made):
                yield made


def dropped_assumptions_table() -> Table:
    """Where an assumption is dropped: how often AP and nDCG have different local optima."""
    random = np.random.default_rng(DROPPED_SEED)
    rows: list[tuple[Cell, ...]] = []
    for queries, documents, size, count in DROPPED_INSTANCES:
        seen: Counter[str] = Counter()
        for _ in range(count):
            each = draw_instance(random, queries, documents, size)
            made = each.plane()
            pairs = queries * documents * (documents - 1) // 2
            if len(made) < 2 or len(made.boundaries) < pairs:
                continue  # documents that never change places: ties are another matter
            kind = (
                "lines"
                if has_coincident_flips(made)
                else "points"
                if has_extra_meetings(made)
                else "generic"
            )
            seen[kind] += 1
            for across in OPTIMUM_DEFINITIONS:
                seen[f"{kind} {across}"] += not have_same_optima(made, ("AP", "nDCG"), across)
        what = f"{queries} × {documents} documents, coordinates up to {size}"
        rows += [
            (what, name, seen[kind], seen[f"{kind} edges"], seen[f"{kind} trajectories"])
            for kind, name in (
                ("generic", "none"),
                ("lines", "flips share a line"),
                ("points", "flips meet in a point"),
            )
        ]
    rows.append(shared_point_row())
    return Table(
        ("instances", "dropped", "count", "differ across edges", "differ along paths"),
        tuple(rows),
        ("AP and nDCG respond to the same flips; differ: their local optima are different",),
    )


def draw_padded_instance(random: np.random.Generator) -> Instance:
    """Draw three queries with one flip each, all three lines through the origin.

    Other documents are far above and below, and never change places near the origin.
    """
    made = Instance([], [], [])
    for query in range(3):
        above, below = int(random.integers(0, 5)), int(random.integers(0, 3))
        rows = [[10**5 * (k + 1), 0, 0] for k in range(above)]
        rows += [[0, *random.integers(-5, 6, 2).tolist()] for _ in range(2)]
        rows += [[-(10**5) * (k + 1), 0, 0] for k in range(below)]
        labels = random.integers(0, 2, above).tolist()
        labels += random.permutation([1, 0]).tolist() + random.integers(0, 2, below).tolist()
        made.add(query, rows, labels)
    return made


def origin_plane(each: Instance) -> Plane | None:
    """The six sectors around the origin; None if two of the three lines are the same."""
    lines: dict[Line, int] = {}
    boundaries = []
    for query in range(3):
        rows = zip(each.queries, each.documents, strict=True)
        first, second = (row for row, (own, (c, _, _)) in enumerate(rows) if own == query and not c)
        (_, u, v), (_, p, q) = each.documents[first], each.documents[second]
        if u == p and v == q:
            return None
        line, sign = canonical_line(u - p, v - q, 0)
        number = lines.setdefault(line, len(lines))
        boundaries.append(FlipBoundary(number, query, first, second, sign))
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


def shared_point_row() -> tuple[Cell, ...]:
    """The row of instances in which the lines of three queries meet in a point."""
    random = np.random.default_rng(POINT_SEED)
    count = edges = paths = 0
    for _ in range(POINT_DRAWS):
        made = origin_plane(draw_padded_instance(random))
        if made is None:
            continue
        count += 1
        edges += not have_same_optima(made, ("AP", "nDCG"))
        paths += not have_same_optima(made, ("AP", "nDCG"), "trajectories")
    return "3 queries, one flip each", "three lines meet in a point", count, edges, paths


def gmap_table(instances: Sequence[tuple[str, Instance]]) -> Table:
    """Whether every global optimum of MAP is a local one of GMAP, and the other way round."""
    counts: dict[str, Counter[str]] = {}
    for name, each in instances:
        made = each.plane()
        seen = counts.setdefault(name, Counter())
        seen["count"] += 1
        seen["shared"] += any(
            set(a.cells.tolist()) & set(b.cells.tolist())
            for a, b in itertools.product(*(global_optima(made, m) for m in ("AP", "gm(AP)")))
        )
        for one, other in (("AP", "gm(AP)"), ("gm(AP)", "AP")):
            local = {cell for region in made.optima(other) for cell in region.cells.tolist()}
            inside = all(set(region.cells.tolist()) <= local for region in global_optima(made, one))
            seen[one] += inside
    rows = tuple(
        (name, seen["count"], seen["AP"], seen["gm(AP)"], seen["shared"])
        for name, seen in counts.items()
    )
    both = ("MAP's are local in GMAP", "GMAP's are local in MAP")
    note = "one is both: a global optimum of MAP and one of GMAP share a cell"
    return Table(("instances", "count", *both, "one is both"), rows, (note,))

"""How far the greedy rule for AP (Moffat's Eq. 13) can stay below the distance.

    python benchmarks/greedy_gap.py [--places 5] [--longest 12] [--steps 2500] [--seed 7]

The first table looks at all pairs of lists of 1 to 5 places and at all labels of their documents, each
relevant, not relevant or free. `--places 6` takes about ten minutes more. Where documents are tied, the
greedy rule may take any of them, and the best result counts. `stops` is the rule as printed: it ends
where no document adds to the difference. `goes on` is a kinder rule, which makes all free documents
relevant, one after the other.

The second table climbs from the smallest counterexample to lists that are worse and longer, at random
from the seed. The third table has a family of lists for which the distance by AP goes to 1 and the
greedy rule to 0.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from evaluate import show
from numpy.typing import NDArray

import rankgauge as rg

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from oracles.distance import greedy, greedy_with_ties

Ints = NDArray[np.int32]
ELSEWHERE = (0, 1, 6, 30, 100)
"""How many relevant documents are in neither list."""
NOTHING = -(10**9)


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--places", type=int, default=5, help="the longest lists that are all tried"
    )
    parser.add_argument("--longest", type=int, default=12, help="the longest lists of the climb")
    parser.add_argument(
        "--steps", type=int, default=2500, help="steps of the climb for each length"
    )
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    exhaustive(arguments.places)
    climbs(arguments.longest, arguments.steps, arguments.seed)
    families()


# All lists of a few places


class Lattice:
    """All labels of some documents, numbered in base 3: digit 0 is not relevant, 1 relevant, 2 free."""

    def __init__(self, documents: int) -> None:
        numbers = np.arange(3**documents)
        digits = np.array([numbers // 3**d % 3 for d in range(documents)], dtype=np.int8)
        bits = 1 << np.arange(documents)
        self.documents = documents
        self.free = digits == 2
        self.relevant = bits @ (digits == 1)
        self.known = np.count_nonzero(digits == 1, axis=0)
        count = np.count_nonzero(self.free, axis=0)
        self.by_free = [np.flatnonzero(count == f) for f in range(documents + 1)]

    def shown(self, number: int) -> str:
        """The labels of a number, one character for each document."""
        return "".join(str(number // 3**d % 3).replace("2", "?") for d in range(self.documents))


lattice = cache(Lattice)


def pairs_of_lists(places: int) -> Iterator[tuple[list[int], list[int]]]:
    """Every two lists of so many places, up to the names of documents and the order of the two."""
    first = list(range(places))
    for shared in range(places + 1):
        for at_second in itertools.combinations(range(places), shared):
            for at_first in itertools.permutations(range(places), shared):
                both = sorted(zip(at_first, at_second, strict=True))
                if both > sorted((b, a) for a, b in both):
                    continue
                second = [-1] * places
                for a, b in both:
                    second[b] = a
                fresh = itertools.count(places)
                yield first, [d if d >= 0 else next(fresh) for d in second]


def sums_of_precisions(ranking: list[int], documents: int, unit: int) -> Ints:
    """The sum of precisions for every set of relevant documents, a set being a number by its bits."""
    sets = np.arange(1 << documents, dtype=np.int32)
    found, total = np.zeros_like(sets), np.zeros_like(sets)
    for rank, document in enumerate(ranking, 1):
        relevant = sets >> document & 1
        found += relevant
        total += relevant * found * (unit // rank)
    return total


class Curves(NamedTuple):
    """By labels and by the number of free documents that are made relevant, the differences found."""

    best: Ints
    stops: Ints
    goes_on: Ints


def curves(ahead: Ints, labels: Lattice) -> Curves:
    """What is best, and what the greedy rule finds, given the difference for each set of documents."""
    documents = labels.documents
    base = ahead[labels.relevant]
    made = Curves(*(np.full((len(base), documents + 1), NOTHING, np.int32) for _ in Curves._fields))
    for curve in made:
        curve[:, 0] = base
    for free in range(1, documents + 1):
        at = labels.by_free[free]
        is_free = labels.free[:, at]
        lowest = 3 ** np.argmax(is_free, axis=0)
        made.best[at, 1:] = np.maximum(made.best[at - 2 * lowest, 1:], made.best[at - lowest, :-1])
        added = np.full(is_free.shape, NOTHING, np.int32)
        for d in range(documents):
            some = at[is_free[d]]
            added[d, is_free[d]] = ahead[labels.relevant[some] | 1 << d] - base[some]
        most = added.max(axis=0)
        for d in range(documents):
            taken = is_free[d] & (added[d] == most)
            for curve, some in (
                (made.goes_on, at[taken]),
                (made.stops, at[taken & (most > 0)]),
            ):
                curve[some, 1:] = np.maximum(curve[some, 1:], curve[some - 3**d, :-1])
    return made


class Misses:
    """The cases of one length and norm in which the greedy rule misses the distance."""

    def __init__(self, norm: str) -> None:
        self.norm = norm
        self.stops = self.goes_on = self.unjudged = 0
        self.most = 0.0
        self.example = ""

    def divisor(self, relevant: NDArray[np.int64], places: int) -> NDArray[np.int64]:
        """What sums of precisions are divided by; 1 where nothing is relevant, so all sums are 0."""
        if self.norm == "k":
            return np.full_like(relevant, places)
        return np.maximum(1, relevant if self.norm == "R" else np.minimum(relevant, places))

    def count(
        self, sides: list[Curves], labels: Lattice, second: list[int], elsewhere: int, unit: int
    ) -> None:
        """Add the cases of two lists with so many relevant documents in neither."""
        relevant = labels.known[:, None] + elsewhere + np.arange(labels.documents + 1)
        divisor = unit * self.divisor(relevant, len(second))
        best, stops, goes_on = (
            np.maximum(0, np.maximum(*((curve / divisor).max(axis=1) for curve in both)))
            for both in zip(*sides, strict=True)
        )
        short = best - stops
        self.stops += int(np.count_nonzero(short > 1e-9))
        self.goes_on += int(np.count_nonzero(best - goes_on > 1e-9))
        self.unjudged += int(np.count_nonzero(short[labels.by_free[-1]] > 1e-9))
        place = int(short.argmax())
        if short[place] > self.most + 1e-12:
            self.most = float(short[place])
            self.example = f"{second} {labels.shown(place)} {elsewhere}"


def exhaustive(longest: int) -> None:
    """Count the labeled pairs of lists on which the greedy rule misses the distance."""
    rows: list[tuple[str | float, ...]] = []
    examples = []
    for places in range(1, longest + 1):
        unit = math.lcm(*range(1, places + 1))
        tried = 0
        norms = [Misses(norm) for norm in ("R", "min", "k")]
        for first, second in pairs_of_lists(places):
            labels = lattice(max(*first, *second) + 1)
            ahead = sums_of_precisions(first, labels.documents, unit)
            ahead -= sums_of_precisions(second, labels.documents, unit)
            sides = [curves(ahead, labels), curves(-ahead, labels)]
            tried += len(labels.relevant)
            for misses in norms:
                for elsewhere in ELSEWHERE if misses.norm != "k" else (0,):
                    misses.count(sides, labels, second, elsewhere, unit)
        for misses in norms:
            counts = (misses.stops, misses.goes_on, misses.unjudged)
            rows.append((places, tried, misses.norm, *counts, f"{misses.most:.6f}"))
            if misses.example:
                examples.append(f"{misses.norm} {places}: {misses.example}")
    print("All pairs of lists and all labels: cases in which the greedy rule misses the distance\n")
    columns = ("places", "labeled pairs", "norm", "stops", "goes on", "unjudged lists", "most")
    show(columns, rows)
    print(f"\nRelevant documents in neither list, for R and min: {ELSEWHERE}; a case for each.")
    print("`unjudged lists`: misses of `stops` where all documents of both lists are free.")
    print("The cases with the most: second list, labels of 0, 1, 2, …, relevant in neither list")
    print("\n".join(examples), "\n", flush=True)


# Longer lists, by climbing


class State(NamedTuple):
    """The second list (the first is 0, 1, 2, …), labels, and relevant documents in neither list."""

    second: list[int]
    labels: dict[int, int]
    elsewhere: int

    def case(self) -> tuple[list[int], list[int], dict[int, int]]:
        """The two lists and all labels; relevant documents in neither list have negative numbers."""
        first = list(range(len(self.second)))
        listed = {*first, *self.second}
        known = {d: label for d, label in self.labels.items() if d in listed}
        return first, self.second, known | {-1 - i: 1 for i in range(self.elsewhere)}

    def gap(self, norm: str) -> float:
        """How far the greedy rule stays below the distance."""
        places, case = len(self.second), self.case()
        return float(
            rg.med(*case[:2], f"AP(norm={norm})@{places}", *case[2:]).value
            - greedy(*case, places, norm)
        )

    def changed(self, drawn: random.Random) -> State:
        """One to three changes of places, documents, labels or of what is elsewhere."""
        places = len(self.second)
        second, labels, elsewhere = list(self.second), dict(self.labels), self.elsewhere
        for _ in range(drawn.choice((1, 1, 2, 3))):
            kind = drawn.random()
            if kind < 0.3:
                a, b = drawn.sample(range(places), 2)
                second[a], second[b] = second[b], second[a]
            elif kind < 0.45:
                others = [d for d in range(2 * places) if d not in second]
                second[drawn.randrange(places)] = drawn.choice(others)
            elif kind < 0.9:
                document, label = drawn.randrange(2 * places), drawn.choice((0, 1, None))
                labels.pop(document, None)
                if label is not None:
                    labels[document] = label
            else:
                elsewhere = max(0, elsewhere + drawn.choice((-10, -3, -1, 1, 3, 10)))
        return State(second, labels, elsewhere)

    def longer(self, above: bool) -> State:
        """The same with one more document in each list, above all others or below; neither relevant."""
        places = len(self.second)
        names = {d: d + above if d < places else 0 for d in range(places)}
        fresh = itertools.count(places + 1)
        for document in self.second:
            if document >= places:
                names[document] = next(fresh)
        second = [names[d] for d in self.second]
        labels = {names[d]: label for d, label in self.labels.items() if d in names}
        new_first, new_second = (0 if above else places), next(fresh)
        second = [new_second, *second] if above else [*second, new_second]
        return State(second, labels | {new_first: 0, new_second: 0}, self.elsewhere)


SMALLEST = State([5, 1, 0, 2, 6], {0: 1, 3: 0, 4: 0, 5: 0, 6: 1}, 0)
"""The smallest counterexample by SSP; by AP it needs 31 relevant documents in neither list."""


def climb(state: State, norm: str, steps: int, drawn: random.Random) -> State:
    """The largest gap met on a random walk that seldom goes down."""
    here = best = state.gap(norm)
    found, heat = state, 0.15 * best
    for step in range(1, steps + 1):
        other = state.changed(drawn)
        gap = other.gap(norm)
        if gap >= here or (gap > 0 and drawn.random() < math.exp((gap - here) / max(heat, 1e-9))):
            state, here = other, gap
        if here > best:
            found, best = state, here
        heat *= 0.998
        if step % 400 == 0:
            state, here, heat = found, best, 0.1 * best
    return found


def climbs(longest: int, steps: int, seed: int) -> None:
    """Climb at each length from the best states at the length before, by AP also from those by SSP."""
    rows = []
    drawn = random.Random(seed)
    by_ssp: dict[int, State] = {}
    for norm in ("k", "R"):
        state = SMALLEST
        for places in range(len(SMALLEST.second), longest + 1):
            starts = [state]
            if len(state.second) < places:
                starts = [state.longer(True), state.longer(False)]
            if norm == "R":
                starts += [by_ssp[places]._replace(elsewhere=more) for more in (0, 3, 10, 30, 100)]
            starts = sorted(starts, key=lambda start: start.gap(norm))[-2:]
            ends = [climb(start, norm, steps, drawn) for start in starts]
            state = max(ends, key=lambda end: end.gap(norm))
            if norm == "k":
                state = by_ssp[places] = state._replace(elsewhere=0)
            first, second, known = state.case()
            exact = rg.med(first, second, f"AP(norm={norm})@{places}", known).value
            any_ties = float(greedy_with_ties(first, second, known, norm))
            names = range(max(*first, *second) + 1)
            labels = "".join(
                str(known.get(d, "?")) if d in {*first, *second} else "-" for d in names
            )
            rows.append(
                (norm, places, exact, any_ties, exact - any_ties, second, labels, state.elsewhere)
            )
    print("Climbing: the largest gaps found\n")
    columns = ("norm", "places", "distance", "greedy", "gap")
    show(columns, [(n, p, *(f"{x:.5f}" for x in numbers)) for n, p, *numbers, _, _, _ in rows])
    print(
        "\nThe lists: the second one, the labels of documents 0, 1, 2, …, and how many in neither list"
    )
    for norm, places, *_, second, labels, elsewhere in rows:
        print(f"{norm} {places}: {second} {labels} {elsewhere}")
    print()


# A family


class Family(NamedTuple):
    """Lists in which no free document helps alone, and all of them together help much.

    The first list has `above` documents that are not relevant, then `free` ones, then others that are
    not relevant. The second list ends with the free documents, in the same order, and `below` ones that
    are known to be relevant. Above these it has documents that are not relevant.
    """

    places: int
    above: int
    free: int
    below: int

    def case(self) -> tuple[list[str], list[str], dict[str, int]]:
        """The two lists, and the labels."""
        free = [f"free {i}" for i in range(self.free)]
        relevant = [f"relevant {i}" for i in range(self.below)]
        first = [f"first {i}" for i in range(self.above)] + free
        first += [f"first {i}" for i in range(len(first), self.places)]
        second = [f"second {i}" for i in range(self.places - self.free - self.below)]
        known = dict.fromkeys([*first, *second], 0)
        for document in free:
            del known[document]
        return first, [*second, *free, *relevant], known | dict.fromkeys(relevant, 1)

    def difference(self) -> float:
        """The difference by AP if all free documents are relevant."""
        down, end = self.places - self.free - self.below, self.places - self.below
        lifted = sum(1 / rank for rank in range(end + 1, self.places + 1))
        gained = sum(i / (self.above + i) - i / (down + i) for i in range(1, self.free + 1))
        lost = sum(i / (end + i) for i in range(1, self.below + 1))
        return (gained - lost - self.free * lifted) / (self.free + self.below)


def stalled(places: int, above: int, free: int) -> Family | None:
    """The family with the fewest relevant documents below that keep every free document from helping."""
    lifted = 0.0
    for below in range(1, places - free - above + 1):
        lifted += 1 / (places - below + 1)
        down = places - free - below
        if all(1 / (above + i) - 1 / (down + i) < lifted - 1e-12 for i in range(1, free + 1)):
            return Family(places, above, free, below)
    return None


def families() -> None:
    """Print the largest gap of the family for some lengths."""
    rows = []
    for places in (20, 30, 50, 100, 200, 500, 1000):
        step = max(1, places // 50)
        tried = (
            stalled(places, above, free)
            for above in range(1, places // 4, step)
            for free in range(2, places - above, step)
        )
        family = max((one for one in tried if one is not None), key=Family.difference)
        case = family.case()
        exact = rg.med(*case[:2], f"AP@{places}", *case[2:]).value
        found = greedy(*case, places)
        rows.append((*family, exact, found, exact - found))
    print("A family: no free document helps alone, all together do\n")
    columns = ("places", "above", "free", "below", "AP: distance", "greedy", "gap")
    show(columns, [(*row[:4], *(f"{x:.4f}" for x in row[4:])) for row in rows])


if __name__ == "__main__":
    main()

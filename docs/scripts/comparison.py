"""Significance tests on real scores: prints the numbers and draws the figure of docs/COMPARISON.md.

    python docs/scripts/comparison.py [--pairs 20000] [--drawn 5000] [--families 2000] [--figures]

Everything is simulated from query × system scores of TREC, so that the truth is known. All random draws
have a fixed seed. The data is read from the folder RANKGAUGE_DATA, or from beside the project. With
--figures the file in docs/figures is written; otherwise nothing is written.

If a test draws samples, each simulated pair or family has a seed of its own. Pairs that are tested
together would share their samples, and then the errors of their p-values would not average out.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtri, stdtrit
from scipy.stats import rankdata

from rankgauge.comparison.significance import CORRECTIONS, TESTS, Pairs
from rankgauge.core.resampling import SamplingOptions, tries_all_signs
from rankgauge.core.tables import Cell, Table
from rankgauge.figures.files import save_figure
from rankgauge.figures.studies import power_curves

Floats = NDArray[np.float64]
Ints = NDArray[np.int_]

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
SCORES = {
    "AP, TREC-8": "adhoc8_ap.csv",
    "P@10, TREC-8": "adhoc8_p10.csv",
    "nDCG@20, Web 2013": "web2013_ndcg20.csv",
}
ALPHA = 0.05
TOPICS = (10, 25, 50)
ALONE = ("paired-t", "randomization", "bootstrap", "wilcoxon", "sign", "welch", "student")
"""The tests of one pair. The two Tukey tests are for families; for two systems they equal the first
two."""
SAMPLES = 1_999
"""With so many samples p can be exactly .05, and all signs of ten queries are tried."""
FAMILY_SAMPLES = {"randomization": 4_999, "tukey-randomized": 999}
"""With 4,999 samples, .05 / 45 is well above the smallest possible p-value."""
SYSTEMS = 10
SHIFTS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1)
LIMIT = 3.0
"""How many simulation errors a rate may be away from the size of its test."""


def data_folder() -> Path:
    return Path(os.environ.get("RANKGAUGE_DATA", BESIDE))


def better(folder: Path, name: str) -> Floats:
    """System × query: the better three quarters of the systems, the best first."""
    path = folder / "trec-topic-scores" / SCORES[name]
    values = np.loadtxt(path, delimiter=",", skiprows=1).T
    order = np.argsort(-values.mean(axis=1), kind="stable")
    return np.ascontiguousarray(values[order[: len(order) * 3 // 4]])


# Pairs of systems


class Simulated(NamedTuple):
    """Pair × query: the scores of the first system of each pair, and the scores of the second."""

    a: Floats
    b: Floats

    def first(self, count: int) -> Simulated:
        return Simulated(self.a[:count], self.b[:count])

    def raised(self, shift: float) -> Simulated:
        return Simulated(self.a + shift, self.b)

    def pairs(self, drawing: SamplingOptions | None = None) -> Pairs:
        numbers = np.arange(len(self.a))
        values = np.concatenate([self.a, self.b])
        return Pairs(
            values, numbers, numbers + len(numbers), 1 - ALPHA, drawing or SamplingOptions()
        )


def swapped(scores: Floats, topics: int, count: int, seed: int = 0) -> Simulated:
    """Pairs of systems on some queries. On each query a coin decides whether the two scores are
    swapped, so only chance makes a difference between the two systems."""
    random = np.random.default_rng((seed, topics))
    a, b = _some(scores, topics, count, random, again=False)
    change = random.integers(0, 2, a.shape, dtype=np.bool_)
    return Simulated(np.where(change, b, a), np.where(change, a, b))


def levelled(scores: Floats, topics: int, count: int, seed: int = 0) -> Simulated:
    """Pairs of systems with equal means: the difference of the means is subtracted from the first
    system, and queries are drawn with replacement. The means over all queries are then the same, but
    wins and losses need not be."""
    random = np.random.default_rng((seed, topics))
    return Simulated(*_some(scores, topics, count, random, again=True))


def _some(
    scores: Floats, topics: int, count: int, random: np.random.Generator, again: bool
) -> tuple[Floats, Floats]:
    systems, all_topics = scores.shape
    i = random.integers(0, systems, count)
    j = (i + random.integers(1, systems, count)) % systems
    if again:
        drawn = random.integers(0, all_topics, (count, topics))
        ahead = (scores[i] - scores[j]).mean(axis=1, keepdims=True)
    else:
        drawn = np.argsort(random.random((count, all_topics)), axis=1)[:, :topics]
        ahead = np.zeros((count, 1))
    return scores[i[:, None], drawn] - ahead, scores[j[:, None], drawn]


def alarms(simulated: Simulated, test: str, executor: Executor | None = None) -> NDArray[np.bool_]:
    """For each pair whether the test calls the difference significant."""
    if not TESTS[test].draws(simulated.a.shape[1], SamplingOptions(SAMPLES)):
        p = TESTS[test](simulated.pairs(SamplingOptions(SAMPLES))).p
    else:
        work = partial(_drawn_alone, test)
        p = np.concatenate(_done(work, _chunks(simulated), executor))
    return p <= ALPHA * (1 + 1e-12)


def _chunks(simulated: Simulated, size: int = 250) -> list[tuple[int, Simulated]]:
    starts = range(0, len(simulated.a), size)
    return [
        (at, Simulated(simulated.a[at : at + size], simulated.b[at : at + size])) for at in starts
    ]


def _drawn_alone(test: str, chunk: tuple[int, Simulated]) -> Floats:
    start, (a, b) = chunk
    return np.array(
        [
            TESTS[test](Simulated(*rows).pairs(SamplingOptions(SAMPLES, seed=start + i))).p[0]
            for i, rows in enumerate(zip(a[:, None], b[:, None], strict=True))
        ]
    )


def _done(work: Callable[[Any], Any], items: Iterable[Any], executor: Executor | None) -> list[Any]:
    return list(map(work, items) if executor is None else executor.map(work, items))


# What the size of a test is, where it can be computed
#
# Given the absolute differences on the queries all signs are equally likely. What a test rejects is then
# a matter of |Σ ± w| alone, w the differences or their ranks, and the size is a share of the signs.


def attained(simulated: Simulated, test: str) -> float | None:
    """The probability that the test calls one of these pairs significant if scores are swapped at
    random, as a mean over the pairs. None if it cannot be computed exactly."""
    rows, size = np.sort(_whole(simulated), axis=1), SIZES.get(test)
    if size is None:
        return None
    if test in ("wilcoxon", "sign"):  # only the order matters, and what is 0
        rows = np.cumsum(np.diff(rows, axis=1, prepend=0) > 0, axis=1)
    elif rows.shape[1] > 10 and rows.max() > 10:  # nearly as many sums as signs
        return None
    different, often = np.unique(rows, axis=0, return_counts=True)
    return float(np.average([size(row) for row in different], weights=often))


def _whole(simulated: Simulated) -> Ints:
    """The absolute differences in units of the fifth decimal, or in tenths if all are tenths."""
    differences = np.rint(np.abs(simulated.a - simulated.b) * 1e5).astype(np.int64)
    return differences // 10_000 if not (differences % 10_000).any() else differences


def _size_of_sign(row: Ints) -> float:
    different = np.count_nonzero(row)
    lower = bdtr(np.arange(different // 2 + 1, dtype=float), different, 0.5)
    return float(2 * lower[2 * lower <= ALPHA].max(initial=0.0))


def _size_of_t(row: Ints) -> float:
    """|t| ≥ c exactly if |S| ≥ c √(n Q / (n − 1 + c²)), with S the sum and Q the sum of squares."""
    n, c = len(row), stdtrit(len(row) - 1, 1 - ALPHA / 2)
    least = c * np.sqrt(n * float(np.sum(row**2)) / (n - 1 + c**2))
    sums, chances = _absolute_sums(row)
    return float(chances[(sums >= least) & (sums > 0)].sum())


def _size_of_randomization(row: Ints) -> float:
    _, chances = _absolute_sums(row)
    tails = np.cumsum(chances[::-1])[::-1]
    if tries_all_signs(len(row), SamplingOptions(SAMPLES)):
        return float(tails[tails <= ALPHA + 1e-9].max(initial=0.0))
    most = np.floor(ALPHA * (SAMPLES + 1)) - 1
    return float(np.sum(chances * bdtr(most, SAMPLES, np.minimum(tails, 1.0))))


def _size_of_wilcoxon(row: Ints) -> float:
    """By all signs if there are no ties and zeros, or at most 13 queries; otherwise by the normal
    distribution."""
    different = row[row > 0]
    if not len(different):
        return 0.0
    ranks = rankdata(different)
    sums, chances = _absolute_sums(np.rint(2 * ranks).astype(np.int64))
    if len(np.unique(different)) == len(row) or len(row) <= 13:
        tails = np.cumsum(chances[::-1])[::-1]
        return float(tails[tails <= ALPHA + 1e-9].max(initial=0.0))
    least = ndtri(1 - ALPHA / 2) * np.sqrt(np.sum(ranks**2))
    return float(chances[sums / 2 >= least].sum())


SIZES: dict[str, Callable[[Ints], float]] = {
    "paired-t": _size_of_t,
    "randomization": _size_of_randomization,
    "wilcoxon": _size_of_wilcoxon,
    "sign": _size_of_sign,
}


def _absolute_sums(weights: Ints) -> tuple[Ints, Floats]:
    """The possible values of |Σ ± w|, ascending, and the probability of each."""
    total = int(weights.sum())
    if total > 2 ** len(weights) * 4:
        signs = 1 - 2 * (np.arange(2 ** len(weights))[:, None] >> np.arange(len(weights)) & 1)
        sums, counts = np.unique(np.abs(signs @ weights), return_counts=True)
        return sums, counts / len(signs)
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for weight in weights[weights > 0]:
        chances[weight:] += chances[:-weight].copy()
        chances /= 2
    sums = np.abs(2 * np.arange(total + 1) - total)
    there = np.arange(total % 2, total + 1, 2)
    return there, np.bincount(sums, weights=chances)[there]


# How often a test calls it a difference where there is none


@dataclass(frozen=True)
class Rate:
    """How often a test found a difference, in how many pairs, and how often it should."""

    test: str
    scores: str
    queries: int
    pairs: int
    rate: float
    size: float | None

    @property
    def error(self) -> float:
        size = ALPHA if self.size is None else self.size
        return float(np.sqrt(size * (1 - size) / self.pairs))

    @property
    def distance(self) -> float:
        """How far the rate is from the size of the test, or from .05 if not known, in simulation
        errors."""
        return (self.rate - (ALPHA if self.size is None else self.size)) / self.error


def rate(
    test: str, name: str, simulated: Simulated, drawn: int, executor: Executor | None = None
) -> Rate:
    """The rate on pairs with swapped scores: on `drawn` of them if the test draws samples, otherwise
    on all."""
    topics = simulated.a.shape[1]
    if TESTS[test].draws(topics, SamplingOptions(SAMPLES)):
        simulated = simulated.first(drawn)
    share = float(alarms(simulated, test, executor).mean())
    return Rate(test, name, topics, len(simulated.a), share, attained(simulated, test))


def rates_table(rates: Sequence[Rate]) -> Table:
    """One row for each test and matrix: the rates by queries, and the size of the test in brackets."""
    cells: dict[tuple[str, str], list[str]] = {}
    for each in rates:
        exact = f" ({_short(each.size)})" if each.size is not None else ""
        mark = "*" if each.size is not None and abs(each.distance) > LIMIT else ""
        cells.setdefault((each.test, each.scores), []).append(_short(each.rate) + exact + mark)
    topics = sorted({each.queries for each in rates})
    known = [each for each in rates if each.size is not None]
    nominal = [each for each in rates if each.size is None and each.test in NOMINAL]
    return Table(
        ("test", "scores", *(f"{n} queries" for n in topics)),
        tuple((*key, *row) for key, row in cells.items()),
        (
            f"the {len(known)} with a computed size: {_furthest(known)} from it",
            f"the {len(nominal)} others of {' and '.join(NOMINAL)}: {_furthest(nominal)} from .05",
            f"simulation error of .05: {_errors(rates)}",
        ),
    )


NOMINAL = ("paired-t", "randomization")
"""Tests that keep to .05 but for rounding; the first test is an approximation."""


def _furthest(rates: Sequence[Rate]) -> str:
    distances = [abs(each.distance) for each in rates]
    above = sum(distance > LIMIT for distance in distances)
    return (
        f"at most {max(distances, default=0.0):.2f} simulation errors, {above} more than {LIMIT:g},"
    )


def _errors(rates: Sequence[Rate]) -> str:
    counts = sorted({each.pairs for each in rates}, reverse=True)
    return ", ".join(f"{_error(ALPHA, count)} of {count:,} pairs" for count in counts)


def levelled_table(
    matrices: Mapping[str, Floats], pairs: int, drawn: int, executor: Executor | None
) -> Table:
    """How often each test finds a difference of two means that are the same over all queries."""
    cells: dict[tuple[str, str], list[str]] = {}
    for name, scores in matrices.items():
        for topics in TOPICS:
            simulated = levelled(scores, topics, pairs)
            for test in ALONE[:5]:
                some = simulated.first(drawn) if TESTS[test].drawn else simulated
                share = float(alarms(some, test, executor).mean())
                cells.setdefault((test, name), []).append(_short(share))
    rows = sorted(cells.items(), key=lambda item: ALONE.index(item[0][0]))
    return Table(
        ("test", "scores", *(f"{n} queries" for n in TOPICS)),
        tuple((*key, *row) for key, row in rows),
        (
            f"simulation error of .05: {_error(ALPHA, drawn)} where drawn, else {_error(ALPHA, pairs)}",
        ),
    )


# Families of systems

FIRST, SECOND = np.triu_indices(SYSTEMS, 1)
METHODS: tuple[tuple[str, str | None], ...] = (
    ("paired-t", None),
    ("paired-t", "bh"),
    ("paired-t", "holm"),
    ("paired-t", "bonferroni"),
    ("randomization", "holm"),
    ("tukey", None),
    ("tukey-randomized", None),
)


def method_name(test: str, correction: str | None) -> str:
    return test if correction is None else f"{test}, {correction}"


@dataclass(frozen=True)
class Family:
    """Ten systems in groups. On each query the scores of a group are dealt out at random among its
    systems, so the systems of a group do not differ. Then the first system is raised by `shift`."""

    scores: Floats
    groups: tuple[int, ...]
    """The ranks between which the systems of each group are taken."""
    shift: float = 0.0
    methods: tuple[tuple[str, str | None], ...] = METHODS

    def __call__(self, seed: int) -> NDArray[np.bool_]:
        """Method × pair: whether the difference is called significant."""
        random = np.random.default_rng((seed, 7))
        dealt = []
        each = SYSTEMS // (len(self.groups) - 1)
        for low, high in zip(self.groups[:-1], self.groups[1:], strict=True):
            chosen = random.choice(np.arange(low, high), each, replace=False)
            dealt.append(random.permuted(self.scores[chosen], axis=0))
        values = np.concatenate(dealt)
        values[0] += self.shift
        p: dict[str, Floats] = {}
        for test in dict(self.methods):
            drawing = SamplingOptions(FAMILY_SAMPLES.get(test, 1), seed)
            p[test] = TESTS[test](Pairs(values, FIRST, SECOND, 1 - ALPHA, drawing)).p
        corrected = [
            p[test] if correction is None else CORRECTIONS[correction](p[test])
            for test, correction in self.methods
        ]
        return np.array(corrected) <= ALPHA * (1 + 1e-12)


def families(family: Family, count: int, executor: Executor | None) -> NDArray[np.bool_]:
    """Family × method × pair: whether the difference is called significant."""
    starts = range(0, count, 50)
    chunks = [range(at, min(at + 50, count)) for at in starts]
    return np.concatenate(_done(partial(_each_family, family), chunks, executor))


def _each_family(family: Family, seeds: range) -> NDArray[np.bool_]:
    return np.array([family(seed) for seed in seeds])


def family_table(matrices: Mapping[str, Floats], count: int, executor: Executor | None) -> Table:
    """The share of families with any false alarm. None of the ten systems is better than another."""
    shares = {
        name: families(Family(scores, (0, len(scores))), count, executor).any(axis=2).mean(axis=0)
        for name, scores in matrices.items()
    }
    rows: list[tuple[Cell, ...]] = [
        (method_name(*method), *(_short(share[m]) for share in shares.values()))
        for m, method in enumerate(METHODS)
    ]
    limit = ALPHA + LIMIT * np.sqrt(ALPHA * (1 - ALPHA) / count)
    above = [share[m] > limit for share in shares.values() for m in range(2, len(METHODS))]
    return Table(
        ("test, correction", *shares),
        tuple(rows),
        (
            f"{count:,} families of {SYSTEMS} systems, {len(FIRST)} pairs, 50 queries; simulation error "
            f"{_error(ALPHA, count)}",
            f"above {_short(limit)} from holm on: {sum(above)} of {len(above)}",
        ),
    )


def partial_table(scores: Floats, count: int, executor: Executor | None) -> Table:
    """Five systems of the best quarter and five of the next quarter, dealt out within each five: false
    alarms within the groups, and the share of real differences between the groups that is found."""
    quarter = len(scores) // 3
    significant = families(Family(scores, (0, quarter, 2 * quarter)), count, executor)
    same = (FIRST < SYSTEMS // 2) == (SECOND < SYSTEMS // 2)
    false, true = significant[:, :, same], significant[:, :, ~same]
    discovered = false.sum(axis=2) / np.maximum(1, significant.sum(axis=2))
    rows: list[tuple[Cell, ...]] = [
        (
            method_name(*method),
            _short(false[:, m].any(axis=1).mean()),
            _short(discovered[:, m].mean()),
            _short(true[:, m].mean()),
        )
        for m, method in enumerate(METHODS)
    ]
    columns = ("any false alarm", "false among the alarms", "found of the real ones")
    apart = scores[:quarter].mean() - scores[quarter : 2 * quarter].mean()
    return Table(
        ("test, correction", *columns),
        tuple(rows),
        (f"{count:,} families; the groups are {_short(apart)} apart in the mean",),
    )


# Power

FAMILY_POWER = tuple(method for method in METHODS if method[1] != "bonferroni")


def power_alone(scores: Floats, drawn: int, executor: Executor | None) -> dict[str, list[float]]:
    """For each test and each of `SHIFTS`: how often it finds that the raised system of a pair is
    better."""
    simulated = swapped(scores, 50, drawn, seed=1)
    return {
        test: [float(alarms(simulated.raised(shift), test, executor).mean()) for shift in SHIFTS]
        for test in ALONE[:6]
    }


def power_among(scores: Floats, count: int, executor: Executor | None) -> dict[str, list[float]]:
    """For each test with its correction and each of `SHIFTS`: the share that is found of the nine
    pairs with the raised system."""
    power: dict[str, list[float]] = {method_name(*method): [] for method in FAMILY_POWER}
    with_first = FIRST == 0
    for shift in SHIFTS:
        family = Family(scores, (0, len(scores)), shift, FAMILY_POWER)
        shares = families(family, count, executor)[:, :, with_first].mean(axis=(0, 2))
        for name, share in zip(power, shares.tolist(), strict=True):
            power[name].append(share)
    return power


def power_table(power: Mapping[str, Sequence[float]]) -> Table:
    """One row for each test, one column for each shift."""
    rows: list[tuple[Cell, ...]] = [
        (name, *(_short(share) for share in shares)) for name, shares in power.items()
    ]
    return Table(("test", *(f"+{_short(shift)}" for shift in SHIFTS)), tuple(rows))


def _short(number: float) -> str:
    return f"{number:.3f}"


def _error(share: float, count: int) -> str:
    return f"{np.sqrt(share * (1 - share) / count):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument(
        "--drawn", type=int, default=5_000, help="pairs for a test that draws samples"
    )
    parser.add_argument("--families", type=int, default=2_000)
    parser.add_argument("--figures", action="store_true", help="write docs/figures")
    arguments = parser.parse_args()
    matrices = {name: better(data_folder(), name) for name in SCORES}
    ap = matrices["AP, TREC-8"]
    with ProcessPoolExecutor() as executor:
        rates = []
        for test in ALONE:
            for name, scores in matrices.items():
                for topics in TOPICS:
                    simulated = swapped(scores, topics, arguments.pairs)
                    rates.append(rate(test, name, simulated, arguments.drawn, executor))
        show("Differences due to chance alone: how often p is .05 or less", rates_table(rates))
        title = "Equal means over all queries: how often p is .05 or less"
        some = dict(list(matrices.items())[:2])
        show(title, levelled_table(some, arguments.pairs, arguments.drawn // 2, executor))
        title = "No difference between ten systems: families with any false alarm"
        show(title, family_table(some, arguments.families, executor))
        title = "Two groups of five, AP: false alarms within, found between"
        show(title, partial_table(ap, arguments.families // 2, executor))
        alone = power_alone(ap, arguments.drawn // 2, executor)
        show("Power, a pair of systems, AP, 50 queries", power_table(alone))
        among = power_among(ap, arguments.families // 8, executor)
        show("Power, one of ten systems raised, AP, 50 queries", power_table(among))
    if arguments.figures:
        FIGURES.mkdir(exist_ok=True)
        panels = {"One pair of systems": alone, "One of ten systems against the others": among}
        figure = power_curves(SHIFTS, panels, "Added to the AP of one system")
        save_figure(figure, FIGURES / "comparison-power.svg")


def show(title: str, table: Table) -> None:
    print(f"{title}\n\n{table.render('table')}", flush=True)


if __name__ == "__main__":
    main()

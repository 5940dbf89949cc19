"""The counterparts of the paper's tables. Each takes what was found on one or two data sets.

A table of two data sets has a row for each of them, so one table stands for both of the paper where it
prints one for each. Sets of queries with fewer than two queries have no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rankgauge.comparison import (
    MeasureAssessment,
    concordance_of,
    conflicts_of,
    count_swapped_pairs,
    swap_rate_of,
)
from rankgauge.comparison.assessed import ALL
from rankgauge.extending import Cell, Floats, Record, Table
from rankgauge_studies.ue.experiment import (
    BROAD,
    EQUAL_SETS,
    FOCUSED,
    IDEAL,
    TESTED_SETS,
    UNINFORMATIVE,
    Parts,
    ResampledParts,
)
from rankgauge_studies.ue.protocol import VERSIONS, Case

SETS = TESTED_SETS
VERSION_LABELS = {f"vs {version}": version for version in VERSIONS}
SWAP_COLUMNS = ("version", "swap rate", "low", "high", "discordant", "pairs")


def interval(values: Sequence[float] | Floats, level: float) -> tuple[float, float]:
    """The range that `level` of the values lie in; NaN where half of them or more are undefined."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if 2 * len(known) <= len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(known, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def bootstrap_interval(value: float, draws: Sequence[float], level: float) -> tuple[float, float]:
    """The interval of a number by what it is on drawn queries: the wider of two, at each end.

    Drawn queries vary once more than the queries they are drawn from. So tests on them find more
    significant differences, and orders swap more often: counts are too high, and differences of swap
    rates too near 0. Efron's bias-corrected percentiles allow for that, but where a number is beyond
    most draws they go too far. So an end is the farther one of the plain percentile, the bias-corrected
    one, and the number itself.
    """
    from scipy.special import ndtr, ndtri

    known = np.asarray(draws, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not np.isfinite(value) or 2 * len(known) <= len(draws):
        return float("nan"), float("nan")
    below = np.count_nonzero(known < value) + np.count_nonzero(known == value) / 2
    shift = 2 * ndtri((below + 0.5) / (len(known) + 1))
    tails = ndtri([(1 - level) / 2, (1 + level) / 2])
    ends = ndtr([tails, shift + tails])
    low = np.quantile(known, ends[:, 0], method="lower").min()
    high = np.quantile(known, ends[:, 1], method="higher").max()
    return float(min(low, value)), float(max(high, value))


# Scores: Tables 3 to 6, and 15 to 18


def score_table(
    methods: Sequence[str], cutoffs: Sequence[int], means: Mapping[str, Floats]
) -> Table:
    """The mean of each method, with a column for each version and cutoff.

    `means` has method × cutoff for each version.
    """
    columns = [f"{version}@{k}" for version in means for k in cutoffs]
    rows: list[tuple[Cell, ...]] = [
        (
            method,
            *(float(values[place, c]) for values in means.values() for c in range(len(cutoffs))),
        )
        for place, method in enumerate(methods)
    ]
    return Table(("method", *columns), tuple(rows))


# Agreement: Tables 7 to 10, and 19 to 22


def tau_table(case: Case, found: Mapping[str, Parts]) -> Table:
    """Kendall's τ between the rankings of the methods by the measure and by each version."""
    name = case.name
    return _table(
        found,
        VERSION_LABELS,
        lambda own, version: concordance_of(own[name].merits, own[version].merits).tau,
    )


def conflict_table(case: Case, found: Mapping[str, Parts]) -> Table:
    """How many tests are significant by only one of the measure and a version."""
    name = case.name

    def conflicts(own: Mapping[str, MeasureAssessment], version: str) -> float:
        return conflicts_of(own[name].significant, own[version].significant).conflicts

    return _table(found, VERSION_LABELS, conflicts)


def _version_table(
    case: Case, found: Mapping[str, Parts], number: Callable[[MeasureAssessment], float]
) -> Table:
    """A number of the measure and of each version."""
    labels = {version: version for version in case.rows}
    return _table(found, labels, lambda own, version: number(own[version]))


def _table(
    found: Mapping[str, Parts],
    labels: Mapping[str, str],
    number: Callable[[Mapping[str, MeasureAssessment], str], float],
) -> Table:
    """A row for each data set and version, by its label, with a number for each set of queries."""
    rows: list[tuple[Cell, ...]] = []
    for name, parts in found.items():
        for label, version in labels.items():
            cells = [number(parts[part], version) if part in parts else None for part in SETS]
            rows.append((name, label, *cells))
    return Table(("data", "version", *SETS), tuple(rows))


def significant_table(case: Case, found: Mapping[str, Parts]) -> Table:
    """How many of the tests, of pairs of methods at each cutoff, are significant."""
    table = _version_table(case, found, lambda one: int(np.count_nonzero(one.significant)))
    tests = {len(each.p) for parts in found.values() for each in parts[ALL].values()}
    return Table(table.columns, table.rows, tuple(f"of {count} tests" for count in sorted(tests)))


def pad_table(case: Case, found: Mapping[str, Parts]) -> Table:
    """The percentage absolute difference between methods, as printed and with magnitudes below."""
    printed = _version_table(case, found, lambda one: one.pad)
    safe = _version_table(case, found, lambda one: one.safe_pad)
    rows = tuple((*one, *other[2:]) for one, other in zip(printed.rows, safe.rows, strict=True))
    notes = (
        "|a − b| / max(a, b) in percent, averaged over pairs of methods. It is meaningless if "
        "a mean is 0 or negative; safe: divided by max(|a|, |b|).",
        "Both change if a constant is added to all scores. Therefore, they do not show that "
        "V2, whose 0 is the random baseline, is better than a measure whose 0 is the lowest "
        "score.",
    )
    return Table((*printed.columns, *(f"{part}, safe" for part in SETS)), rows, notes)


# Swap rates: Tables 11 to 14, and 23 to 26


def swap_rate(one: Parts, part: str, other: Parts, against: str, version: str) -> float:
    """The share of the pairs of methods that two sets put in opposite orders; NaN without a set."""
    if part not in one or against not in other:
        return float("nan")
    return swap_rate_of(one[part][version].merits, other[against][version].merits)


class QuerySetPair(Record):
    """Two sets of queries, of one data set or of two."""

    one: ResampledParts
    part: str
    other: ResampledParts
    against: str

    def rate(self, version: str) -> float:
        """The swap rate of the two."""
        return swap_rate(self.one.parts, self.part, self.other.parts, self.against, version)

    def drawn_rates(self, version: str) -> list[float]:
        """The swap rates of drawn queries."""
        return [
            swap_rate(one, self.part, other, self.against, version)
            for one, other in zip(self.one.draws, self.other.draws, strict=True)
        ]

    def row(self, version: str, level: float) -> tuple[Cell, ...]:
        """A row of a table of swap rates."""
        if self.part not in self.one.parts or self.against not in self.other.parts:
            return (version, None, None, None, None, None)
        first = self.one.parts[self.part][version].merits
        swapped = count_swapped_pairs(first, self.other.parts[self.against][version].merits)
        rate = self.rate(version)
        ends = bootstrap_interval(rate, self.drawn_rates(version), level)
        pairs = len(first) * (len(first) - 1) // 2
        return (version, rate, *ends, swapped, pairs)


def cross_collection_pairs(found: Mapping[str, ResampledParts]) -> dict[str, QuerySetPair]:
    """The sets that are compared across two data sets: all queries, and sets of equal size."""
    if len(found) != 2:
        return {}
    one, other = found.values()
    sets = {ALL: ALL, UNINFORMATIVE: EQUAL_SETS[UNINFORMATIVE], IDEAL: EQUAL_SETS[IDEAL]}
    return {name: QuerySetPair(one, part, other, part) for name, part in sets.items()}


def within_collection_pairs(
    found: Mapping[str, ResampledParts], part: str, against: str
) -> dict[str, QuerySetPair]:
    """Two sets of each data set."""
    return {name: QuerySetPair(each, part, each, against) for name, each in found.items()}


def swap_table(case: Case, label: str, opposed: Mapping[str, QuerySetPair], level: float) -> Table:
    """The swap rate of the measure and its versions, for each pair of sets."""
    rows = tuple(
        (name, *sets.row(version, level)) for name, sets in opposed.items() for version in case.rows
    )
    return Table((label, *SWAP_COLUMNS), rows, ("low, high: the interval over queries",))


def document_table(case: Case, rates: Mapping[str, Mapping[str, Floats]], level: float) -> Table:
    """Return a table of the swap rate between random parts of the documents.

    The swap rate is of the first split, as the paper has one, and over all splits.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, versions in rates.items():
        for version in case.rows:
            each = versions[version]
            numbers = (float(each[0]), len(each), float(each.mean()), *interval(each, level))
            rows.append((name, version, *numbers))
    notes = (f"low, high: {level:.0%} of the splits lie between them",)
    columns = ("data", "version", "one split", "splits", "mean", "low", "high")
    return Table(columns, tuple(rows), notes)


BREADTHS = (BROAD, FOCUSED)
SET_PAIR = (UNINFORMATIVE, IDEAL)

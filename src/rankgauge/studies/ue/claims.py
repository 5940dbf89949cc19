"""What the UE paper claims, and whether it holds on other data: numbers with intervals over queries.

Queries are drawn again, with replacement, and the number of each statement is computed from them.
`studies.verdicts` says when a statement holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from rankgauge.comparison.assessed import ALL, conflicts_of
from rankgauge.comparison.correlation import swapped_pairs
from rankgauge.studies.ue.experiment import IDEAL, UNINFORMATIVE, Parts
from rankgauge.studies.ue.protocol import CASES, VERSIONS, Case
from rankgauge.studies.ue.tables import (
    SET_PAIR,
    Drawn,
    Opposed,
    across_collections,
    drawn_interval,
    within_collections,
)
from rankgauge.studies.verdicts import Amount, Verdict, plain
from rankgauge.tables import Cell, Table

Statistic: TypeAlias = Callable[[Parts], float]
NOT_A_NUMBER = float("nan")

CLAIMS = {
    "rankings": "Normalised measures rank the methods differently on uninformative queries.",
    "conflicts": "A difference is significant by the measure and not by its normalised form, or the "
    "other way round, on uninformative queries.",
    "power": "Normalised measures find more significant differences on uninformative queries. (The "
    "abstract says 23% more on MSLR-WEB30K and 19% more on MQ2007.)",
    "swaps across data": "Normalised MAP lowers the swap rate across data sets. (The abstract says by "
    "28%.)",
    "swaps across queries": "Normalised MAP lowers the swap rate between uninformative and ideal "
    "queries. (The abstract says by 26%.)",
    "effect": "Normalisation changes more on uninformative queries than on ideal ones.",
}
"""The claims of the abstract and of the conclusions, in our words. What is tested is the sign."""

REORDERED, CONFLICTING = "pairs of methods in another order", "conflicting tests"
MORE_REORDERED = "pairs in another order, uninformative minus ideal"
MORE_CONFLICTING = "conflicting tests, uninformative minus ideal"
MORE_SIGNIFICANT = "more significant tests, percentage points"
LOWERED = "swap rate lowered, percentage points"
SENTENCES = {
    REORDERED: "pairs of methods that {version} puts in another order than {measure} does: {amount}",
    CONFLICTING: "tests that only one of {measure} and {version} finds significant: {amount}",
    MORE_REORDERED: "pairs that {version} puts in another order than {measure}, on uninformative minus "
    "on ideal queries: {amount}",
    MORE_CONFLICTING: "tests significant by only one of {measure} and {version}, on uninformative minus "
    "on ideal queries: {amount}",
    MORE_SIGNIFICANT: "share of significant tests by {version} minus that by {measure}, in percentage "
    "points: {amount}{percent}",
    LOWERED: "swap rate of {measure} minus that of {version}, in percentage points: {amount}{percent}",
}
"""What the statements count, and how they are said."""


class Statement(NamedTuple):
    """One number that a claim says is above 0: where, of which measure, and what it counts. `percent`
    is the same in percent of what the measure itself has, where the claim is about a change: NaN where
    that has 0."""

    claim: str
    data: str
    measure: str
    version: str
    what: str
    amount: Amount
    percent: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds, does not hold, or is not decided by these queries."""
        return self.amount.verdict

    @property
    def sentence(self) -> str:
        """The statement in words, with its interval and its verdict."""
        if not np.isfinite(self.amount.value):
            return f"{self.data}, {self.measure}, {self.version}: a set has fewer than two queries."
        percent = ""
        if self.percent is not None and np.isfinite(self.percent):
            percent = f", which is {plain(self.percent)}%"
        text = SENTENCES[self.what].format(
            version=self.version,
            measure=self.measure,
            amount=self.amount.words(),
            percent=percent,
        )
        return f"{self.data}: {text}: {self.verdict}."


def statements(found: Mapping[str, Mapping[str, Drawn]], level: float) -> list[Statement]:
    """All statements, for what was found by data set and case."""
    made: list[Statement] = []
    for name, cases in found.items():
        for case in CASES:
            drawn = cases[case.name]
            for claim, version, what, number in _about_one(case):
                value = number(drawn.parts)
                draws = [number(parts) for parts in drawn.draws]
                amount = Amount(value, *drawn_interval(value, draws, level))
                percent = _power_percent(case, drawn.parts) if claim == "power" else None
                made.append(Statement(claim, name, case.name, version, what, amount, percent))
            if case.sums_precisions:
                (opposed,) = within_collections({name: drawn}, *SET_PAIR).values()
                made += _about_swaps("swaps across queries", name, case, opposed, level)
    for case in CASES:
        if case.sums_precisions:
            pairs = across_collections({name: cases[case.name] for name, cases in found.items()})
            if pairs:
                both = " and ".join(found)
                made += _about_swaps("swaps across data", both, case, pairs[ALL], level)
    order = list(CLAIMS)
    return sorted(made, key=lambda each: order.index(each.claim))


def _about_one(case: Case) -> list[tuple[str, str, str, Statistic]]:
    """Claim, version, what is counted, and the number, for the claims about one data set."""
    both = " and ".join(VERSIONS)
    made: list[tuple[str, str, str, Statistic]] = []
    for version in VERSIONS:
        made += [
            ("rankings", version, REORDERED, _reordered(case, version)),
            ("conflicts", version, CONFLICTING, _conflicts(case, version)),
            ("effect", version, MORE_REORDERED, _difference(_reordered, case, version)),
            ("effect", version, MORE_CONFLICTING, _difference(_conflicts, case, version)),
        ]
    made.append(("power", both, MORE_SIGNIFICANT, _power_gain(case)))
    return made


def _reordered(case: Case, version: str, part: str = UNINFORMATIVE) -> Statistic:
    def number(parts: Parts) -> float:
        if part not in parts:
            return NOT_A_NUMBER
        own = parts[part]
        return float(swapped_pairs(own[case.name].merits, own[version].merits))

    return number


def _conflicts(case: Case, version: str, part: str = UNINFORMATIVE) -> Statistic:
    def number(parts: Parts) -> float:
        if part not in parts:
            return NOT_A_NUMBER
        own = parts[part]
        return float(conflicts_of(own[case.name].significant, own[version].significant).conflicts)

    return number


def _difference(made: Callable[[Case, str, str], Statistic], case: Case, version: str) -> Statistic:
    one, other = made(case, version, UNINFORMATIVE), made(case, version, IDEAL)
    return lambda parts: one(parts) - other(parts)


def _powers(case: Case, parts: Parts) -> tuple[float, float]:
    """The share of significant tests on uninformative queries: by the measure, and by V1 and V2 in the
    mean."""
    if UNINFORMATIVE not in parts:
        return NOT_A_NUMBER, NOT_A_NUMBER
    own = parts[UNINFORMATIVE]
    return own[case.name].power, float(np.mean([own[version].power for version in VERSIONS]))


def _power_gain(case: Case) -> Statistic:
    def number(parts: Parts) -> float:
        before, after = _powers(case, parts)
        return 100 * (after - before)

    return number


def _power_percent(case: Case, parts: Parts) -> float:
    before, after = _powers(case, parts)
    return 100 * (after / before - 1) if before else NOT_A_NUMBER


def _about_swaps(
    claim: str, name: str, case: Case, opposed: Opposed, level: float
) -> list[Statement]:
    """By how much V2 lowers a swap rate, as the abstract has it, and V1 beside it."""
    made = []
    before, drawn_before = opposed.rate(case.name), opposed.drawn_rates(case.name)
    for version in VERSIONS:
        after = opposed.rate(version)
        value = 100 * (before - after)
        both = zip(drawn_before, opposed.drawn_rates(version), strict=True)
        amount = Amount(value, *drawn_interval(value, [100 * (a - b) for a, b in both], level))
        percent = 100 * (1 - after / before) if before else NOT_A_NUMBER
        made.append(Statement(claim, name, case.name, version, LOWERED, amount, percent))
    return made


def claim_table(made: Mapping[str, Sequence[Statement]]) -> Table:
    """A row for each reading and statement, with its interval and its verdict."""
    columns = (
        *("reading", "claim", "data", "measure", "version", "what", "value", "low", "high"),
        *("percent", "verdict"),
    )
    rows: list[tuple[Cell, ...]] = [
        (reading, *each[:5], *each.amount, each.percent, each.verdict)
        for reading, own in made.items()
        for each in own
    ]
    return Table(columns, tuple(rows))

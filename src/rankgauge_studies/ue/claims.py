"""What the UE paper claims, and whether it holds on other data: numbers with intervals over queries.

Queries are drawn again, with replacement, and the number of each statement is computed from them.
`studies.verdicts` says when a statement holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from rankgauge.comparison import MeasureAssessment, conflicts_of, count_swapped_pairs
from rankgauge.comparison.assessed import ALL
from rankgauge.extending import Floats, Record
from rankgauge_studies.ue.experiment import IDEAL, TESTED_SETS, UNINFORMATIVE, Parts, ResampledParts
from rankgauge_studies.ue.protocol import CASES, MARGIN, VERSIONS, Case
from rankgauge_studies.ue.tables import (
    BREADTHS,
    SET_PAIR,
    QuerySetPair,
    bootstrap_interval,
    cross_collection_pairs,
    interval,
    swap_rate,
    within_collection_pairs,
)
from rankgauge_studies.verdicts import IntervalEstimate, Verdict, deciding_factor, format_number

Statistic: TypeAlias = Callable[[Parts], float]
NOT_A_NUMBER = float("nan")


class PrintedClaim(Record):
    """A claim of the paper in our words, and the tables that it rests on.

    A claim that something is kept holds if no more than a margin is lost.
    """

    short: str
    text: str
    tables: str
    kept: bool = False

    @property
    def source(self) -> str:
        """The tables in words."""
        return f"Table{'s' if ' and ' in self.tables else ''} {self.tables}"


CLAIMS = {
    "rankings": PrintedClaim(
        "other rankings",
        "Normalized measures rank the methods differently on uninformative queries.",
        "7 and 19",
    ),
    "conflicts": PrintedClaim(
        "conflicting tests",
        "A difference is significant with the measure but not with its normalized form, or "
        "vice versa, on uninformative queries.",
        "8 and 20",
    ),
    "power": PrintedClaim(
        "more significant differences",
        "Normalized measures find more significant differences on uninformative queries. (The abstract "
        "says 23% more on MSLR-WEB30K and 19% more on MQ2007.)",
        "9 and 21",
    ),
    "power kept": PrintedClaim(
        "significant differences kept",
        "Normalized measures find at least as many significant differences on all queries and "
        "on ideal ones.",
        "9 and 21",
        kept=True,
    ),
    "pad": PrintedClaim(
        "higher PAD",
        "The percentage absolute difference (PAD) between methods is higher with normalized "
        "measures, on all, uninformative and ideal queries. (Divided by the larger magnitude: "
        "Equation 8 divides by the larger mean, which may be 0 or negative.)",
        "10 and 22",
    ),
    "nDCG swaps": PrintedClaim(
        "swap rates of nDCG kept",
        "Normalized nDCG is as consistent as nDCG: its swap rates are no higher, across data "
        "sets and between uninformative and ideal queries.",
        "11 and 12",
        kept=True,
    ),
    "swaps across data": PrintedClaim(
        "swap rates of MAP across data sets",
        (
            "Normalized MAP lowers the swap rate across data sets. (By 28%, according to the "
            "abstract.)"
        ),
        "23",
    ),
    "swaps across queries": PrintedClaim(
        "swap rates of MAP across query sets",
        "Normalized MAP lowers the swap rate between uninformative and ideal queries. (By "
        "26%, according to the abstract.)",
        "24",
    ),
    "lowest": PrintedClaim(
        "V2 of MAP lowest",
        "V2 of MAP has the lowest swap rate of MAP, V1 and V2, across data sets and between "
        "uninformative and ideal queries.",
        "23 and 24",
    ),
    "breadth": PrintedClaim(
        "broad and focused queries",
        "Normalized measures have no higher swap rates between broad and focused queries.",
        "13 and 25",
        kept=True,
    ),
    "documents": PrintedClaim(
        "halves of the documents",
        "Normalized measures have no higher swap rates between two random halves of the documents.",
        "14 and 26",
        kept=True,
    ),
    "effect": PrintedClaim(
        "more effect on uninformative queries",
        "Normalization changes more on uninformative queries than on ideal ones.",
        "7, 8, 19 and 20",
    ),
}
"""The claims of the abstract, the case studies and the conclusions. What is tested is the sign, or that
no more than a margin is lost."""

REORDERED, CONFLICTING = "pairs of methods in a different order", "conflicting tests"
MORE_REORDERED = "pairs in a different order, uninformative minus ideal"
MORE_CONFLICTING = "conflicting tests, uninformative minus ideal"
MORE_SIGNIFICANT = "more significant tests, percentage points"
MORE_PAD = "PAD higher, percentage points"
LOWERED = "swap rate lowered, percentage points"
LOWEST = "swap rate below the lower one of MAP and V1, percentage points"
SENTENCES = {
    REORDERED: (
        "pairs of methods that {version} ranks in the opposite order to {measure}: {amount}"
    ),
    CONFLICTING: "tests that only one of {measure} and {version} finds significant: {amount}",
    MORE_REORDERED: "pairs that {version} ranks in the opposite order to {measure}, on "
    "uninformative minus on ideal queries: {amount}",
    MORE_CONFLICTING: "tests significant by only one of {measure} and {version}, on uninformative minus "
    "on ideal queries: {amount}",
    MORE_SIGNIFICANT: "share of significant tests with {version} minus the share with "
    "{measure}, in percentage points: {amount}{percent}",
    MORE_PAD: "PAD with {version} minus PAD with {measure}, divided by the larger magnitude, "
    "in percentage points: {amount}{percent}",
    LOWERED: "swap rate of {measure} minus swap rate of {version}, in percentage points: "
    "{amount}{percent}",
    LOWEST: "the lower swap rate of {measure} and V1 minus the swap rate of {version}, in percentage "
    "points: {amount}",
}
"""The quantities that statements are about, and their wording."""


class Statement(Record):
    """One number that a claim says is above `limit`: where, of which measure, and what it counts.

    `percent` is the same in percent of what the measure itself has, where the claim is about a change:
    NaN where that has 0. `queries` are those that the interval is over, 0 if it is not over queries, and
    `factor` is how many times as many would decide, infinite if none of the sizes that were tried, the
    largest of which is `tried` times as many.
    """

    claim: str
    data: str
    measure: str
    version: str
    where: str
    what: str
    amount: IntervalEstimate
    percent: float | None = None
    limit: float = 0.0
    queries: int = 0
    factor: float = float("inf")
    tried: int = 0

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds, does not hold, or is not decided by these queries."""
        return self.amount.above(self.limit)

    @property
    def growth(self) -> float | None:
        """How many times as many queries would decide the statement.

        It is None if the statement is decided, or if queries have nothing to do with it.
        """
        undecided = self.verdict == "undecided" and np.isfinite(self.amount.value)
        return self.factor if self.queries and undecided else None

    @property
    def queries_to_decide(self) -> float | None:
        """How many queries would decide the statement; None if it is decided."""
        return None if self.growth is None else self.growth * self.queries

    @property
    def sentence(self) -> str:
        """The statement in words, with its interval and its verdict."""
        place = f"{self.data}, {self.where}" if self.where else self.data
        if not np.isfinite(self.amount.value):
            return f"{place}, {self.measure}, {self.version}: a set has fewer than two queries."
        percent = ""
        if self.percent is not None and np.isfinite(self.percent):
            percent = f", which is {format_number(self.percent)}%"
        text = SENTENCES[self.what].format(
            version=self.version,
            measure=self.measure,
            amount=self.amount.words(),
            percent=percent,
        )
        limit = f" (above {format_number(self.limit)})" if self.limit else ""
        return f"{place}: {text}{limit}: {self.verdict}."


def statements(
    found: Mapping[str, Mapping[str, ResampledParts]],
    level: float,
    halves: Mapping[str, Mapping[str, Mapping[str, Floats]]] | None = None,
    margin: float = MARGIN,
) -> list[Statement]:
    """All statements, for what was found by data set and case.

    Parameters
    ----------
    found
        By data set and case, what was found on the queries and on drawn queries.
    level
        The level of the intervals.
    halves
        By data set, case and version, the swap rates between random parts of the documents.
    margin
        What may be lost where a claim says that nothing is, in percentage points.
    """
    made: list[Statement] = []
    for case in CASES:
        about = _CaseStatements(case, level, margin)
        drawn = {name: cases[case.name] for name, cases in found.items()}
        for name, own in drawn.items():
            made += about.sets(name, own)
        made += about.collection_statements(" and ".join(found), cross_collection_pairs(drawn))
        for name, cases in (halves or {}).items():
            made += about.documents(name, cases[case.name])
    order = list(CLAIMS)
    return sorted(made, key=lambda each: order.index(each.claim))


class _ResampledNumber(Record):
    """A number that a claim is about, the same on drawn queries, and on more of them by factor."""

    value: float
    draws: Sequence[float]
    larger: Mapping[int, Sequence[float]]
    queries: int

    @classmethod
    def of(cls, number: Callable[..., float], *drawn: ResampledParts) -> _ResampledNumber:
        """A number of the parts of one data set, or of two, which may be the same."""
        factors = [factor for factor in drawn[0].larger if all(factor in d.larger for d in drawn)]
        return cls(
            number(*(each.parts for each in drawn)),
            [number(*parts) for parts in zip(*(each.draws for each in drawn), strict=True)],
            {
                factor: [number(*p) for p in zip(*(d.larger[factor] for d in drawn), strict=True)]
                for factor in factors
            },
            sum(next(iter(d.parts[ALL].values())).queries for d in dict.fromkeys(drawn)),
        )

    @classmethod
    def of_rates(
        cls, opposed: QuerySetPair, versions: Sequence[str], number: Callable[..., float]
    ) -> _ResampledNumber:
        """A number of the swap rates of some versions, in percentage points."""
        part, against = opposed.part, opposed.against

        def of_parts(one: Parts, other: Parts) -> float:
            return 100 * number(*(swap_rate(one, part, other, against, v) for v in versions))

        return cls.of(of_parts, opposed.one, opposed.other)


class _CaseStatements(Record):
    """Makes the statements about a case."""

    case: Case
    level: float
    margin: float

    def make_statement(
        self,
        claim: str,
        data: str,
        version: str,
        where: str,
        what: str,
        number: _ResampledNumber,
        percent: float | None = None,
    ) -> Statement:
        """A statement whose interval is over queries."""
        ends = bootstrap_interval(number.value, number.draws, self.level)
        limit = -self.margin if CLAIMS[claim].kept else 0.0
        return Statement(
            *(claim, data, self.case.name, version, where, what),
            *(IntervalEstimate(number.value, *ends), percent, limit, number.queries),
            deciding_factor(number.larger, limit, self.level),
            max(number.larger, default=0),
        )

    def sets(self, data: str, drawn: ResampledParts) -> Iterator[Statement]:
        """The statements about the sets of queries of one data set."""
        name = self.case.name
        for version in VERSIONS:
            reordered, conflicts = _reordered_pairs(name, version), _conflicts(name, version)
            for claim, where, what, statistic in (
                ("rankings", UNINFORMATIVE, REORDERED, _restrict_to_set(UNINFORMATIVE, reordered)),
                (
                    "conflicts",
                    UNINFORMATIVE,
                    CONFLICTING,
                    _restrict_to_set(UNINFORMATIVE, conflicts),
                ),
                ("effect", "", MORE_REORDERED, _difference(reordered)),
                ("effect", "", MORE_CONFLICTING, _difference(conflicts)),
            ):
                number = _ResampledNumber.of(statistic, drawn)
                yield self.make_statement(claim, data, version, where, what, number)
            for part in TESTED_SETS:
                yield self._gain_statement("pad", data, (version,), part, MORE_PAD, drawn, _pad)
        for part in TESTED_SETS:
            claim = "power" if part == UNINFORMATIVE else "power kept"
            yield self._gain_statement(claim, data, VERSIONS, part, MORE_SIGNIFICANT, drawn, _power)
        (sets,) = within_collection_pairs({data: drawn}, *SET_PAIR).values()
        (breadths,) = within_collection_pairs({data: drawn}, *BREADTHS).values()
        across = "swaps across queries" if self.case.sums_precisions else "nDCG swaps"
        yield from self._swap_statements(across, data, "", sets)
        yield from self._swap_statements("breadth", data, "", breadths)
        if self.case.sums_precisions:
            yield self._lowest_statement(data, "", sets)

    def _gain_statement(
        self,
        claim: str,
        data: str,
        versions: Sequence[str],
        part: str,
        what: str,
        drawn: ResampledParts,
        amount: Callable[[MeasureAssessment], float],
    ) -> Statement:
        """By how much the versions have more of something than the measure, in the mean."""

        def gain(own: Mapping[str, MeasureAssessment]) -> float:
            mean = float(np.mean([amount(own[version]) for version in versions]))
            return mean - amount(own[self.case.name])

        number = _ResampledNumber.of(_restrict_to_set(part, gain), drawn)
        before = _restrict_to_set(part, lambda own: amount(own[self.case.name]))(drawn.parts)
        percent = 100 * number.value / before if before else NOT_A_NUMBER
        return self.make_statement(claim, data, " and ".join(versions), part, what, number, percent)

    def collection_statements(
        self, both: str, pairs: Mapping[str, QuerySetPair]
    ) -> Iterator[Statement]:
        """The statements about two data sets.

        The abstract speaks of all queries, the tables of all sets.
        """
        for part, opposed in pairs.items():
            if not self.case.sums_precisions:
                yield from self._swap_statements("nDCG swaps", both, part, opposed)
                continue
            if part == ALL:
                yield from self._swap_statements("swaps across data", both, part, opposed)
            yield self._lowest_statement(both, part, opposed)

    def _swap_statements(
        self, claim: str, data: str, where: str, opposed: QuerySetPair
    ) -> Iterator[Statement]:
        """By how much each version lowers a swap rate."""
        name = self.case.name
        before = opposed.rate(name)
        for version in VERSIONS:
            number = _ResampledNumber.of_rates(
                opposed, (name, version), lambda one, other: one - other
            )
            percent = 100 * (1 - opposed.rate(version) / before) if before else NOT_A_NUMBER
            yield self.make_statement(claim, data, version, where, LOWERED, number, percent)

    def _lowest_statement(self, data: str, where: str, opposed: QuerySetPair) -> Statement:
        """By how much V2 has a lower swap rate than the measure and V1."""
        number = _ResampledNumber.of_rates(opposed, self.case.rows, lambda a, b, c: min(a, b) - c)
        return self.make_statement("lowest", data, VERSIONS[-1], where, LOWEST, number)

    def documents(self, data: str, rates: Mapping[str, Floats]) -> Iterator[Statement]:
        """Yield by how much each version lowers the swap rate between parts of the documents.

        The amount is the mean over the splits, with the interval that `level` of the splits lie in.
        """
        name = self.case.name
        before = rates[name]
        for version in VERSIONS:
            lowered = 100 * (before - rates[version])
            amount = IntervalEstimate(float(lowered.mean()), *interval(lowered, self.level))
            share = float(lowered.mean() / before.mean() / 100) if before.any() else NOT_A_NUMBER
            yield Statement(
                *("documents", data, name, version, "", LOWERED, amount, 100 * share, -self.margin)
            )


SetStatistic: TypeAlias = Callable[[Mapping[str, MeasureAssessment]], float]


def _restrict_to_set(part: str, number: SetStatistic) -> Statistic:
    """A number on a set of queries; NaN without the set."""
    return lambda parts: number(parts[part]) if part in parts else NOT_A_NUMBER


def _difference(number: SetStatistic) -> Statistic:
    one, other = _restrict_to_set(UNINFORMATIVE, number), _restrict_to_set(IDEAL, number)
    return lambda parts: one(parts) - other(parts)


def _reordered_pairs(measure: str, version: str) -> SetStatistic:
    return lambda own: float(count_swapped_pairs(own[measure].merits, own[version].merits))


def _conflicts(measure: str, version: str) -> SetStatistic:
    return lambda own: float(
        conflicts_of(own[measure].significant, own[version].significant).conflicts
    )


def _power(one: MeasureAssessment) -> float:
    return 100 * one.power


def _pad(one: MeasureAssessment) -> float:
    return one.safe_pad

"""Test the claims of Muwanei et al.: by how much one side is ahead, and in how many places.

Each lead comes with an interval.

The paper's focus is on rank correlations. So each claim is looked at by τ over systems, by τ and ρ over
rows, and by R². A place is a target, a depth and a track. The first claims are the paper's, in its own
protocol and with features that see all judgments, as its level implies. τ over systems takes all queries
of each system, which that protocol does not test; it is from the split by queries. The other claims are
looked at where queries are new and judgments cheap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankgauge.extending import Cell, Record, Table
from rankgauge.forecast import FeatureJudgments
from rankgauge_studies.forecast.quality import StudyNumber, combine_numbers, estimate_of, mean_of
from rankgauge_studies.forecast.splits import RowSplit
from rankgauge_studies.forecast.study import ForecastStudy
from rankgauge_studies.verdicts import IntervalEstimate

Place: TypeAlias = tuple[str, int, str]
ComparisonKind: TypeAlias = Literal["sides", "depths", "depths of sides"]

CLAIM_NUMBERS = {
    "system_tau": "τ over systems",
    "tau_a": "τ over rows",
    "rho": "ρ over rows",
    "r2": "R²",
}
"""The numbers with which claims are checked, and their names."""
SYSTEMS = ("system_tau",)
NO_NUMBERS = "no numbers"


class Side(NamedTuple):
    """A method in a split: what is compared."""

    method: str
    split: RowSplit
    judgments: FeatureJudgments

    def by(self, number: str) -> Side:
        """The side that has a number: the paper's protocol does not test whole systems."""
        whole = number in SYSTEMS and self.split == "paper"
        return self._replace(split="topics") if whole else self


class Claim(Record):
    """A claim: one side is ahead of the other.

    `compared` says of what the differences are: of the sides; of each depth and the depth before, for
    one side; or of the lead of one side at the lowest depth and at the greatest.
    """

    text: str
    one: Side
    other: Side
    numbers: Sequence[str] = tuple(CLAIM_NUMBERS)
    compared: ComparisonKind = "sides"


def _paper_side(method: str) -> Side:
    return Side(method, "paper", "full")


def _new_query_side(method: str) -> Side:
    return Side(method, "topics", "pool")


def _new_track_side(method: str, judgments: FeatureJudgments = "pool") -> Side:
    return Side(method, "track", judgments)


BOOSTING, REGRESSION = _paper_side("boosting"), _paper_side("regression")
GUPTA, GUPTA_SVR = _new_track_side("gupta", "full"), _new_track_side("gupta, svr", "full")
NEW_BOOSTING, NEW_POOLED, SHALLOW = (
    _new_query_side("boosting"),
    _new_query_side("pooled"),
    _new_query_side("shallow"),
)
CLAIMS = (
    Claim("Boosting is better than regression.", BOOSTING, REGRESSION),
    Claim("Boosting is better than Gupta's method.", BOOSTING, GUPTA, SYSTEMS),
    Claim("Regression is better than Gupta's method.", REGRESSION, GUPTA, SYSTEMS),
    Claim(
        "Regression is ahead of Gupta's method at low depths only: its lead shrinks from the lowest "
        "depth to the greatest.",
        REGRESSION,
        GUPTA,
        SYSTEMS,
        "depths of sides",
    ),
    Claim("Boosting improves with each step of depth.", BOOSTING, BOOSTING, compared="depths"),
    Claim(
        "Regression improves with each step of depth.",
        REGRESSION,
        REGRESSION,
        compared="depths",
    ),
    Claim(
        "Weak learners beat strong ones: boosting is better than support vectors (on the means of "
        "systems).",
        BOOSTING,
        GUPTA_SVR,
        SYSTEMS,
    ),
    Claim(
        "Weak learners beat strong ones: boosting is better than support vectors (on rows).",
        BOOSTING,
        _paper_side("svr"),
    ),
    Claim(
        "On the means of systems, support vectors are better than least squares.",
        GUPTA_SVR,
        GUPTA,
        SYSTEMS,
    ),
    Claim(
        "Boosting models of each track, averaged, are better than one boosting model of all tracks.",
        BOOSTING,
        _paper_side("boosting, one model"),
    ),
    Claim(
        "Lines of each track, averaged, are better than one line of all tracks.",
        REGRESSION,
        _paper_side("regression, one model"),
    ),
    Claim(
        "Boosting models of each track, averaged, are better than different learners that vote, each "
        "on all rows (VotingRegressor).",
        BOOSTING,
        _paper_side("voting"),
    ),
    Claim(
        "New queries, cheap judgments: averaged boosting models are better than one.",
        NEW_BOOSTING,
        _new_query_side("boosting, one model"),
    ),
    Claim(
        "New queries, cheap judgments: averaged lines are better than one.",
        _new_query_side("regression"),
        _new_query_side("regression, one model"),
    ),
    Claim(
        "New queries, cheap judgments: averaged boosting models are better than one with other settings "
        "(pooled).",
        NEW_BOOSTING,
        NEW_POOLED,
    ),
    Claim(
        "New tracks, cheap judgments: query scores (boosting) rank systems better than the means of "
        "systems (Gupta).",
        _new_track_side("boosting"),
        _new_track_side("gupta"),
        SYSTEMS,
    ),
    Claim(
        "New tracks, cheap judgments: Gupta's method is better with the best features than with all.",
        _new_track_side("gupta, best subset"),
        _new_track_side("gupta"),
        SYSTEMS,
    ),
    Claim(
        "Boosting is better than the shallow score, which needs no training.", NEW_BOOSTING, SHALLOW
    ),
    Claim("One model of all tracks is better than the shallow score.", NEW_POOLED, SHALLOW),
    Claim(
        "One model with more features is better than the shallow score.",
        _new_query_side("pooled, rich"),
        SHALLOW,
    ),
    Claim(
        (
            "A random split of rows is optimistic: one model of all tracks does better there "
            "than on new queries."
        ),
        Side("pooled", "rows", "pool"),
        NEW_POOLED,
    ),
    Claim(
        "Boosting is better on new queries than on a new kind of collection.",
        NEW_BOOSTING,
        Side("boosting", "kind", "pool"),
    ),
    Claim(
        "Features computed from all judgments are better than those from the pool.",
        Side("boosting", "topics", "full"),
        NEW_BOOSTING,
    ),
)


class MeasuredClaim(NamedTuple):
    """A claim measured by one number.

    `difference` is the mean difference over places, and `low` and `high` are its interval. `holds`
    is in how many places, out of `of`, the difference is above 0.
    """

    claim: str
    number: str
    one: str
    other: str
    difference: float
    low: float
    high: float
    holds: int
    of: int

    @property
    def verdict(self) -> str:
        """Whether the claim holds, does not, or is not decided; or that the study has no numbers.

        The interval and most places must agree, so that no single track decides.
        """
        if not self.of:
            return NO_NUMBERS
        verdict = IntervalEstimate(self.difference, self.low, self.high).verdict
        mostly = 2 * self.holds > self.of
        return "undecided" if mostly != (verdict == "holds") else verdict

    @property
    def short(self) -> str:
        """All of it in a few characters."""
        if not self.of:
            return NO_NUMBERS
        shown = f"{self.difference:+.3f}".replace("-", "−")
        if math.isfinite(self.low):
            shown += f" ±{(self.high - self.low) / 2:.3f}"
        return f"{self.verdict} ({shown}, {self.holds}/{self.of})"


def measure_claims(study: ForecastStudy) -> Iterator[MeasuredClaim]:
    """Each claim by each of its numbers, also those that the study has no numbers for."""
    for claim in CLAIMS:
        for number in claim.numbers:
            one, other = claim.one.by(number), claim.other.by(number)
            differences = _differences(study, claim.compared, one, other, number)
            known = [each for each in differences if math.isfinite(each.value)]
            ahead = sum(each.value > 0 for each in known)
            sides = ", ".join(one), _other_side(claim.compared, other)
            amount = estimate_of(mean_of(known))
            yield MeasuredClaim(claim.text, number, *sides, *amount, ahead, len(known))


def _other_side(compared: ComparisonKind, other: Side) -> str:
    if compared == "depths":
        return "the depth before"
    shown = ", ".join(other)
    return (
        shown if compared == "sides" else f"{shown}: lead at the lowest depth and at the greatest"
    )


def _differences(
    study: ForecastStudy, compared: ComparisonKind, one: Side, other: Side, number: str
) -> list[StudyNumber]:
    """What the claim says is above 0, in each place."""
    first, second = _numbers(study, one, number), _numbers(study, other, number)
    both = [place for place in first if place in second]
    depths = study.asked.depths
    if compared == "depths":
        return [
            _difference(first[target, deep, track], first[target, shallow, track])
            for shallow, deep in pairwise(depths)
            for target, depth, track in first
            if depth == deep and (target, shallow, track) in first
        ]
    leads = {place: _difference(first[place], second[place]) for place in both}
    if compared == "sides":
        return list(leads.values())
    low, high = min(depths), max(depths)
    return [
        _difference(leads[target, low, track], leads[target, high, track])
        for target, depth, track in leads
        if depth == low != high and (target, high, track) in leads
    ]


def _difference(one: StudyNumber, other: StudyNumber) -> StudyNumber:
    return combine_numbers(np.subtract, [one, other])


def _numbers(study: ForecastStudy, side: Side, number: str) -> dict[Place, StudyNumber]:
    return {
        (cell.target, cell.depth, track): numbers.number(number)
        for cell in study.cells
        if (cell.method, cell.split, cell.judgments) == side
        for track, numbers in cell.tracks.items()
    }


def claim_table(study: ForecastStudy) -> Table:
    """A row for each claim and number: what is compared, by how much, and in how many places."""
    rows: list[tuple[Cell, ...]] = [
        (
            *(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in each),
            each.verdict,
        )
        for each in measure_claims(study)
    ]
    notes = [
        "difference: the mean over places (a target, a depth and a track), with its 95% "
        "interval (other queries and splits); holds: the number of places in which it is "
        "above 0",
        "one, other: the compared numbers, as method, split and judgments",
        "verdict: holds if the interval is above 0 and so are most places; does not hold if "
        "the interval is at or below 0 and most places are not above 0",
    ]
    if any(row[-1] == NO_NUMBERS for row in rows):
        notes.append(
            f"{NO_NUMBERS}: the claim needs several depths, several kinds of collection, at least 3 "
            "runs, or --learner svr"
        )
    return Table((*MeasuredClaim._fields, "verdict"), tuple(rows), tuple(notes))


def short_claims(study: ForecastStudy) -> Table:
    """A row for each claim, with a verdict by each number; claims without any number are left out."""
    rows: dict[str, dict[str, str]] = {}
    for each in measure_claims(study):
        if each.of:
            rows.setdefault(each.claim, {})[each.number] = each.short
    table: list[tuple[Cell, ...]] = [
        (text, *(shown.get(number) for number in CLAIM_NUMBERS)) for text, shown in rows.items()
    ]
    notes = (
        "in parentheses: the mean difference with its 95% interval, and in how many places (a "
        "target, a depth and a track) it is above 0",
        "holds: the 95% interval of the difference is above 0, and so are most places; does "
        "not hold: neither is",
    )
    return Table(("claim", *CLAIM_NUMBERS.values()), tuple(table), notes)

"""What Muwanei et al. claim, counted: in how many of the places of a study each claim holds.

A place is a target, a depth and a track. The first claims are the paper's, looked at in its own protocol
and with features that see all judgements, as its level implies. The others are looked at where topics
are new and judgements cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from rankgauge.forecast.tracks import FeatureJudgments
from rankgauge.studies.forecast.study import PAPER, ForecastStudy
from rankgauge.tables import Cell, Table

Where: TypeAlias = tuple[str, int, str]


class Side(NamedTuple):
    """A method in a split: what is compared."""

    method: str
    split: str
    judgments: FeatureJudgments


class Claim(NamedTuple):
    """A claim: by this number, one side is ahead of the other."""

    text: str
    number: str
    one: Side
    other: Side


def _own(method: str) -> Side:
    return Side(method, PAPER, "full")


def _fair(method: str) -> Side:
    return Side(method, "topics", "pool")


CLAIMS = (
    Claim("Boosting is more accurate than regression.", "r2", _own("boosting"), _own("regression")),
    Claim(
        "Boosting ranks rows better than regression.", "tau_a", _own("boosting"), _own("regression")
    ),
    Claim(
        "Boosting ranks rows better than Gupta's method.", "tau_a", _own("boosting"), _own("gupta")
    ),
    Claim(
        "Regression ranks rows better than Gupta's method.",
        "tau_a",
        _own("regression"),
        _own("gupta"),
    ),
    Claim(
        "A model for each track, averaged, is more accurate than one model of all tracks.",
        "r2",
        _own("boosting"),
        _own("pooled"),
    ),
    Claim(
        "Averaged models are more accurate than one, on new topics with cheap judgements.",
        "r2",
        _fair("boosting"),
        _fair("pooled"),
    ),
    Claim(
        "Topic scores rank systems better than system means (Gupta's method) do.",
        "system_tau",
        _fair("boosting"),
        _fair("gupta"),
    ),
    Claim(
        "Boosting ranks systems better than the shallow score, which needs no learning.",
        "system_tau",
        _fair("boosting"),
        _fair("shallow"),
    ),
    Claim(
        "One model of all tracks ranks systems better than the shallow score.",
        "system_tau",
        _fair("pooled"),
        _fair("shallow"),
    ),
    Claim(
        "One model with more features ranks systems better than the shallow score.",
        "system_tau",
        _fair("pooled, rich"),
        _fair("shallow"),
    ),
    Claim(
        "A random split of rows flatters: there the model of all tracks is more accurate than on new "
        "topics.",
        "r2",
        Side("pooled", "rows", "pool"),
        _fair("pooled"),
    ),
    Claim(
        "Boosting is less accurate on a new kind of collection than on new topics.",
        "r2",
        _fair("boosting"),
        Side("boosting", "kind", "pool"),
    ),
    Claim(
        "Features that see all judgements are more accurate than those of the pool.",
        "r2",
        Side("boosting", "topics", "full"),
        _fair("boosting"),
    ),
)
MOSTLY = 0.2
"""Up to this share of exceptions a claim mostly holds, or mostly does not."""
DEEPER = "Boosting becomes more accurate with each step of depth."


class Counted(NamedTuple):
    """A claim, and in how many of the places it holds."""

    claim: str
    one: str
    other: str
    number: str
    holds: int
    of: int

    @property
    def verdict(self) -> str:
        """Whether it holds everywhere, nowhere, mostly, mostly not, or in part; or that the study has
        no numbers for it."""
        if not self.of:
            return "no numbers"
        if self.holds in (0, self.of):
            return "holds" if self.holds else "does not hold"
        share = self.holds / self.of
        if MOSTLY < share < 1 - MOSTLY:
            return "holds in part"
        return "mostly holds" if share > MOSTLY else "mostly does not hold"


def claims_of(study: ForecastStudy) -> Iterator[Counted]:
    """Each claim, also those that the study has no numbers for."""
    for claim in CLAIMS:
        first, second = (_numbers(study, side, claim.number) for side in (claim.one, claim.other))
        holds, of = _ahead(first, second)
        sides = [", ".join(side) for side in (claim.one, claim.other)]
        yield Counted(claim.text, sides[0], sides[1], claim.number, holds, of)
    side = _own("boosting")
    found = _numbers(study, side, "r2")
    holds = of = 0
    for shallow, deep in pairwise(sorted({depth for _, depth, _ in found})):
        before = {
            (target, deep, track): r2 for (target, d, track), r2 in found.items() if d == shallow
        }
        step = _ahead({place: r2 for place, r2 in found.items() if place[1] == deep}, before)
        holds, of = holds + step[0], of + step[1]
    yield Counted(DEEPER, ", ".join(side), "the depth before", "r2", holds, of)


def _numbers(study: ForecastStudy, side: Side, number: str) -> dict[Where, float]:
    return {
        (found.target, found.depth, track): getattr(quality, number)
        for found in study.cells
        if (found.method, found.split, found.judgments) == side
        for track, quality in found.tracks.items()
    }


def _ahead(first: Mapping[Where, float], second: Mapping[Where, float]) -> tuple[int, int]:
    """In how many places the first number is greater, and how many places have both."""
    both = [(first[place], second[place]) for place in first if place in second]
    known = [(a, b) for a, b in both if np.isfinite(a) and np.isfinite(b)]
    return sum(a > b for a, b in known), len(known)


def claim_table(study: ForecastStudy) -> Table:
    """A row for each claim: what is compared by which number, and in how many places it holds."""
    rows: list[tuple[Cell, ...]] = [(*each, each.verdict) for each in claims_of(study)]
    notes = [
        "of: places, each a target, a depth and a track",
        "one, other: what is compared, as method, split and judgements",
    ]
    if any(row[5] == 0 for row in rows):
        notes.append(
            "no numbers: the claim needs several depths, several kinds of collection, or at least 3 runs"
        )
    return Table((*Counted._fields, "verdict"), tuple(rows), tuple(notes))

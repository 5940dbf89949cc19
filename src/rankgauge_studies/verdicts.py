"""Verdicts on the claims of papers, from numbers with intervals.

A claim is cut into statements. Each is one number, computed so that the claim says it is above 0. A
statement holds if the interval of the number is above 0. It does not hold if the interval is at or below
0. Else the data do not decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from rankgauge.extending import Record

Verdict: TypeAlias = Literal["holds", "does not hold", "undecided"]
VERB_FORMS: Mapping[Verdict, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "undecided": ("is undecided", "are undecided"),
}
"""Verdicts on one statement and on several."""
KINDS: Mapping[Verdict, Literal["yes", "no", "open"]] = {
    "holds": "yes",
    "does not hold": "no",
    "undecided": "open",
}
POWER = 0.8
"""The probability with which the amount of data found by `deciding_factor` decides."""


class IntervalEstimate(NamedTuple):
    """A number with its interval, which a claim says is above 0."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Whether the number is above 0, is not, or is not decided by these data."""
        return self.above(0.0)

    def above(self, limit: float) -> Verdict:
        """Whether the number is above a limit, is not, or is not decided by these data."""
        if self.low > limit:
            return "holds"
        return "does not hold" if self.high <= limit else "undecided"

    def words(self, digits: int = 1) -> str:
        """The number and its interval."""
        text = format_number(self.value, digits)
        if np.isfinite(self.low):
            text += f" ({format_number(self.low, digits)} to {format_number(self.high, digits)})"
        return text


def deciding_factor(
    larger: Mapping[int, Sequence[float]], limit: float, level: float, power: float = POWER
) -> float:
    """How many times as many data decide whether a number is above a limit; infinite if none of them do.

    `larger` has for each factor the number in samples of so many times as many data. An interval of
    `level` around such a number excludes the limit with probability `power` if the numbers lie, in the
    mean, so many standard deviations away from the limit as the two normal quantiles together are.
    """
    from scipy.special import ndtri

    deviations = ndtri((1 + level) / 2) + ndtri(power)
    for factor, values in sorted(larger.items()):
        known = np.asarray(values, dtype=np.float64)
        if len(known) < 2 or not np.isfinite(known).all():
            continue
        if abs(known.mean() - limit) >= deviations * known.std(ddof=1):
            return float(factor)
    return float("inf")


def format_number(value: float, digits: int = 1) -> str:
    """A number with so many decimals, a whole number with none."""
    shown = f"{value:.{digits}f}".removesuffix("." + "0" * digits).replace("-", "−")
    return "0" if shown == "−0" else shown


class ClaimStatement(Protocol):
    """A statement of a claim, in words and with its verdict."""

    @property
    def claim(self) -> str:
        """The key of the claim."""

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds."""

    @property
    def sentence(self) -> str:
        """Return the statement in words."""


class ClaimVerdict(Record):
    """A claim in one reading: the verdict on all its statements, and what they say, in words."""

    claim: str
    reading: str
    verdict: str
    kind: Literal["yes", "no", "open"]
    sentences: tuple[str, ...]


def judge_claims(
    claims: Mapping[str, str], made: Sequence[ClaimStatement], reading: str = ""
) -> list[ClaimVerdict]:
    """Each claim, by its key, that there is a statement about, with a verdict and sentences."""
    results = []
    for claim, text in claims.items():
        own = [each for each in made if each.claim == claim]
        if not own:
            continue
        counts = Counter(each.verdict for each in own)
        kind: Literal["yes", "no", "open"] = "open"
        if len(counts) == 1:
            verdict: str = own[0].verdict
            kind = KINDS[own[0].verdict]
        else:
            parts = [
                f"{counts[each]} {forms[counts[each] > 1]}"
                for each, forms in VERB_FORMS.items()
                if counts[each]
            ]
            verdict = f"of {len(own)} statements {', '.join(parts)}"
        results.append(
            ClaimVerdict(text, reading, verdict, kind, tuple(each.sentence for each in own))
        )
    return results

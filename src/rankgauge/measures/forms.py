"""Scores normalized by what chance gets, and by the best: for rankings and for texts the same formulas.

All numbers are of a scale on which higher is better; where lower is better, give them negated.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.measures.base import ratio

TOLERANCE = 1e-12
"""Differences up to this count as none: between a score and chance, and between chance and the best."""


def share(part: Floats, whole: Floats) -> Floats:
    """Part / whole, and 0 where the whole is nothing but rounding."""
    return ratio(part, np.where(np.abs(whole) <= TOLERANCE, 0.0, whole))


def v1(score: Floats, best: Floats, chance: Floats) -> Floats:
    """The score divided by the best, times its share of the sum of score and chance."""
    return share(score, best) * share(score, score + chance)


def v2(score: Floats, best: Floats, chance: Floats, lowest: Floats) -> Floats:
    """Where the score lies between chance (0) and the best (1), or the lowest score (−1)."""
    gained = score - chance
    above, below = share(gained, best - chance), share(gained, chance - lowest)
    return np.clip(np.where(gained >= -TOLERANCE, above, below), -1.0, 1.0)


def linear(score: Floats, best: Floats, chance: Floats) -> Floats:
    """The share of the way from chance to the best."""
    return share(score - chance, best - chance)


def z(score: Floats, chance: Floats, spread: Floats) -> Floats:
    """The score minus chance, in standard deviations of the scores that chance gets."""
    return share(score - chance, spread)

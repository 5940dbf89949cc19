"""Comparing systems: is a difference real, and how similar are two rankings?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.comparison.assessed import Assessed, conflicts_of
    from rankgauge.comparison.assessment import Testing
    from rankgauge.comparison.correlation import (
        concordance_of,
        rank_correlations,
        swap_rate_of,
        swapped_pairs,
    )

__all__ = [
    "Assessed",
    "Testing",
    "concordance_of",
    "conflicts_of",
    "rank_correlations",
    "swap_rate_of",
    "swapped_pairs",
]

_HOMES = {
    "Assessed": "rankgauge.comparison.assessed",
    "Testing": "rankgauge.comparison.assessment",
    "concordance_of": "rankgauge.comparison.correlation",
    "conflicts_of": "rankgauge.comparison.assessed",
    "rank_correlations": "rankgauge.comparison.correlation",
    "swap_rate_of": "rankgauge.comparison.correlation",
    "swapped_pairs": "rankgauge.comparison.correlation",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

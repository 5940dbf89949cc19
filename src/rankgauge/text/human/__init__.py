"""What people say of texts, ratings and preferences, and how well metrics agree with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.human.correlation import human_correlation
    from rankgauge.text.human.preferences import win_share
    from rankgauge.text.human.ratings import NoRatingsError
    from rankgauge.text.human.results import Over, percentage_increase, percentiles

__all__ = [
    "NoRatingsError",
    "Over",
    "human_correlation",
    "percentage_increase",
    "percentiles",
    "win_share",
]

_HOMES = {
    "NoRatingsError": "rankgauge.text.human.ratings",
    "Over": "rankgauge.text.human.results",
    "human_correlation": "rankgauge.text.human.correlation",
    "percentage_increase": "rankgauge.text.human.results",
    "percentiles": "rankgauge.text.human.results",
    "win_share": "rankgauge.text.human.preferences",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

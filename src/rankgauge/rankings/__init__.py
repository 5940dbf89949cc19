"""Runs laid over judgments: lists of labels in rank order, and what is made of ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.rankings.alignment import judged_labels
    from rankgauge.rankings.flips import Flips
    from rankgauge.rankings.lists import JudgedLabels, Rankings

__all__ = [
    "Flips",
    "JudgedLabels",
    "Rankings",
    "judged_labels",
]

_HOMES = {
    "Flips": "rankgauge.rankings.flips",
    "JudgedLabels": "rankgauge.rankings.lists",
    "Rankings": "rankgauge.rankings.lists",
    "judged_labels": "rankgauge.rankings.alignment",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

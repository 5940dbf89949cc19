"""Metrics of texts, such as ROUGE, with what thoughtless words would get; and ratings by people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.base import Metric
    from rankgauge.text.chance import Null
    from rankgauge.text.files import read_texts
    from rankgauge.text.grammar import parse_metric
    from rankgauge.text.human import human_correlation
    from rankgauge.text.human_results import CorrelationDifference, HumanCorrelation
    from rankgauge.text.preferences import Preferences, win_lose_tie
    from rankgauge.text.ratings import Ratings, read_ratings
    from rankgauge.text.registry import metrics, register
    from rankgauge.text.texts import Texts

__all__ = [
    "CorrelationDifference",
    "HumanCorrelation",
    "Metric",
    "Null",
    "Preferences",
    "Ratings",
    "Texts",
    "human_correlation",
    "metrics",
    "parse_metric",
    "read_ratings",
    "read_texts",
    "register",
    "win_lose_tie",
]

_HOMES = {
    "CorrelationDifference": "rankgauge.text.human_results",
    "HumanCorrelation": "rankgauge.text.human_results",
    "Metric": "rankgauge.text.base",
    "Null": "rankgauge.text.chance",
    "Preferences": "rankgauge.text.preferences",
    "Ratings": "rankgauge.text.ratings",
    "Texts": "rankgauge.text.texts",
    "human_correlation": "rankgauge.text.human",
    "metrics": "rankgauge.text.registry",
    "parse_metric": "rankgauge.text.grammar",
    "read_ratings": "rankgauge.text.ratings",
    "read_texts": "rankgauge.text.files",
    "register": "rankgauge.text.registry",
    "win_lose_tie": "rankgauge.text.preferences",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

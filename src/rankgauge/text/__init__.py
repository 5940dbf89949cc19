"""Metrics of texts, such as ROUGE, with what thoughtless words would get; and ratings by people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.base import Metric
    from rankgauge.text.chance import Null, register_null
    from rankgauge.text.checking import check_metric
    from rankgauge.text.functions import metric
    from rankgauge.text.grammar import parse_metric
    from rankgauge.text.registry import metrics, register
    from rankgauge.text.texts import Texts

__all__ = [
    "Metric",
    "Null",
    "Texts",
    "check_metric",
    "metric",
    "metrics",
    "parse_metric",
    "register",
    "register_null",
]

_HOMES = {
    "Metric": "rankgauge.text.base",
    "Null": "rankgauge.text.chance",
    "Texts": "rankgauge.text.texts",
    "check_metric": "rankgauge.text.checking",
    "metric": "rankgauge.text.functions",
    "metrics": "rankgauge.text.registry",
    "parse_metric": "rankgauge.text.grammar",
    "register": "rankgauge.text.registry",
    "register_null": "rankgauge.text.chance",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

"""Every metric of texts by name: ours, those of installed packages, and those of an explicit file."""

from __future__ import annotations

from typing import TypeVar

from rankgauge.core.plugins import module_of
from rankgauge.core.registry import Registry
from rankgauge.errors import MeasureError
from rankgauge.text.base import Metric

HOMES = {
    "rouge1": "rouge",
    "rouge2": "rouge",
    "rougeL": "rouge",
    "rougeLsum": "rouge",
    "rougeW": "rouge",
    "rougeS": "rouge",
    "bertscore": "bert_metric",
    "expected": "normalization",
    "v1": "normalization",
    "v2": "normalization",
    "linear": "normalization",
    "z": "normalization",
}
"""Our metrics and their modules, in the order in which they are listed."""

MetricEntry = Metric | type[Metric]
"""A metric with its default parameters, or a class to be called with a metric."""

E = TypeVar("E", bound=MetricEntry)


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


METRICS: Registry[MetricEntry] = Registry(
    "rankgauge.text", HOMES, "metrics", folded=_folded, origin_of=module_of
)
is_registered = METRICS.has
metrics = METRICS.all


def register(entry: E) -> E:
    """Make a metric known by its name, and return it; MeasureError where another one has the name."""
    name = entry.name
    if not name.isascii() or not name.isidentifier():
        raise MeasureError(f"a metric cannot be called {name!r}, expected another name")
    if holder := METRICS.holder(name, entry):
        raise MeasureError(f"the name {name} is taken by {holder}")
    METRICS.add(name, entry)
    return entry


def find(name: str) -> MetricEntry:
    """The metric of this name, exact or without regard to case; MeasureError names the nearest."""
    entry = METRICS.find(name)
    if entry is None:
        near = METRICS.near(name)
        known = f"there are {', '.join(METRICS.names())}"
        hint = f"did you mean {' or '.join(near)}?" if near else known
        raise MeasureError("; ".join([f"there is no metric {name!r}", hint, *METRICS.broken]))
    return entry

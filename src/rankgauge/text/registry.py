"""Every metric of texts by name: ours, those of installed packages, and those of an explicit file."""

from __future__ import annotations

from typing import TypeVar

from rankgauge.core.lazy import registered_homes
from rankgauge.core.plugins import module_of
from rankgauge.core.registry import Registry
from rankgauge.errors import MeasureError
from rankgauge.text.base import Metric

MetricEntry = Metric | type[Metric]
"""A metric with its default parameters, or a class to be called with a metric."""

E = TypeVar("E", bound=MetricEntry)


class _MetricRegistry(Registry[MetricEntry]):
    """Metrics. A module may replace its own."""

    def normalize_name(self, name: str) -> str:
        return name.lower().replace("-", "").replace("_", "")

    def origin(self, entry: MetricEntry) -> str:
        return module_of(self.maker(entry))


METRICS = _MetricRegistry(
    "metric",
    package="rankgauge.text",
    homes=registered_homes("rankgauge.text"),
    identifiers=True,
    error=MeasureError,
)
find = METRICS.find


def register(entry: E) -> E:
    """Make a metric known by its name, and return it; MeasureError where another one has the name."""
    METRICS.register(entry)
    return entry


def entries() -> dict[str, MetricEntry]:
    """All metrics by name: ours first, then those of installed packages and plug-ins."""
    return dict(METRICS)

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
    groups=("rankgauge.metrics", "rankgauge.text"),
    homes=registered_homes("rankgauge.text"),
    identifiers=True,
    error=MeasureError,
)
find = METRICS.find


def register(entry: E) -> E:
    """Register a metric under its name.

    Parameters
    ----------
    entry : Metric or subclass of Metric
        The metric with its default parameters, or a class that is called with another metric.

    Returns
    -------
    Metric or subclass of Metric
        `entry` itself.

    Raises
    ------
    MeasureError
        If another metric already has the name.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge.text import Metric, parse_metric, register
    >>> class WordCount(Metric):
    ...     name = "wordcount"
    ...     range = (0.0, float("inf"))
    ...     direction = "none"
    ...
    ...     def _score(self, candidates):
    ...         return np.array([len(words.split()) for words in candidates.outputs], dtype=float)
    >>> register(WordCount())
    wordcount
    >>> parse_metric("wordcount").score("three words here", "a reference")
    3.0
    """
    METRICS.register(entry)
    return entry


def entries() -> dict[str, MetricEntry]:
    """All text metrics by name: first the built-in ones, then those of packages and plug-ins.

    Returns
    -------
    dict
        Each name maps to the metric with its default parameters, or to the class of a form such as
        v2.

    Examples
    --------
    >>> from rankgauge.text import entries
    >>> list(entries())[:3]
    ['rouge1', 'rouge2', 'rougeL']
    """
    return dict(METRICS)

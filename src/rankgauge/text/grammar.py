"""The language of metrics: text to metric, by the grammar of measures. `str(metric)` is the way back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankgauge.errors import MeasureError
from rankgauge.measures.grammar import MOST_CHARACTERS, Parser
from rankgauge.text.base import Metric
from rankgauge.text.registry import METRICS


def parse_metric(text: str | Metric) -> Metric:
    """Parse the text form of a metric, such as "v2(rouge1,length=candidate)".

    Parameters
    ----------
    text : str or Metric
        The text form. A metric is returned unchanged.

    Returns
    -------
    Metric
        The metric.

    Raises
    ------
    MeasureError
        If the text does not describe a metric. The message shows the right form.

    Examples
    --------
    >>> from rankgauge.text import parse_metric
    >>> parse_metric("v2(rouge1,length=candidate)")
    v2(rouge1, length='candidate')
    """
    if isinstance(text, Metric):
        return text
    if not isinstance(text, str) or not text.strip():
        raise MeasureError(f"{text!r} is not a metric; write, for example, rouge1")
    if len(text) > MOST_CHARACTERS:
        raise MeasureError(
            f"the metric has {len(text)} characters, expected at most {MOST_CHARACTERS}"
        )
    metric: Metric = _MetricParser(text).whole()
    return metric


def parse_metrics(texts: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """The metrics that are given as one text or metric, or several."""
    several = [texts] if isinstance(texts, str | Metric) else texts
    return [parse_metric(text) for text in several]


def find_metric(text: str) -> Metric | None:
    """The metric that a text describes; None where it describes none."""
    try:
        return parse_metric(text)
    except MeasureError:
        return None


class _MetricParser(Parser):
    """The parser of metrics."""

    registry = METRICS
    what = "metric"
    usual = "rouge1"

    def elsewhere(self, name: str) -> None:
        return None

    def build_registered(self, name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
        return METRICS.find(name)(*values, **keywords)

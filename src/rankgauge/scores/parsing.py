"""What scores are by: a measure of rankings or a metric of texts, as a text describes it."""

from __future__ import annotations

from typing import TypeAlias

from rankgauge.errors import MeasureError
from rankgauge.measures.around import Aggregate
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.measures.scored import Scored

AnyScored: TypeAlias = AnyMeasure | Scored
"""A measure, a metric, or the text of one."""


def parse_scored(text: AnyScored) -> Scored | Aggregate:
    """The measure of rankings, or else the metric of texts, that a text describes."""
    if isinstance(text, Scored):
        return text
    try:
        return parse(text)
    except MeasureError:
        if not isinstance(text, str):
            raise
        from rankgauge.text.grammar import find_metric

        metric = find_metric(text)
        if metric is None:
            raise
        return metric

"""Metrics of texts, such as ROUGE, with what thoughtless words would get; and ratings by people."""

import rankgauge.text.metrics  # noqa: F401 - `rankgauge.text.metrics()` works until the next release
from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

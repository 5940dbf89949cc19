"""Sets of queries, and parts of their documents, to look at scores on."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

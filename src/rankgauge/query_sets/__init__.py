"""Sets of queries, and samples of queries and documents, for studying scores."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

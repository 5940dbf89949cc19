"""Compare systems: test differences for significance, and measure how similar two rankings are."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

"""Human ratings and preferences, and how well metrics agree with them."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

"""How deep must one judge? Pools, two-phase estimates, forecasts of costly measures from cheap ones."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

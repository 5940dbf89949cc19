"""How deep should judging go? Judgment pools, two-phase estimates, forecasts."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

"""Comparing systems: is a difference real, and how similar are two rankings?"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

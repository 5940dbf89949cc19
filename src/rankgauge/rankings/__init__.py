"""Runs laid over judgments: lists of labels in rank order, and what is made of ties."""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

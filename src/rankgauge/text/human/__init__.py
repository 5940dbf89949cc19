"""What people say of texts, ratings and preferences, and how well metrics agree with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.human.correlation import human_correlation

__all__ = ["human_correlation"]

_HOMES = {"human_correlation": "rankgauge.text.human.correlation"}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

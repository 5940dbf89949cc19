"""The metrics, one file a family: ROUGE, BERTScore, and metrics made of functions."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankgauge.text.registry import MetricEntry


class _CallableModule(ModuleType):
    """This module, which until the next release is also the function that it has the name of."""

    def __call__(self) -> dict[str, MetricEntry]:
        from rankgauge.text.registry import entries

        text = "rankgauge.text.metrics() is now rankgauge.text.entries()"
        text += "; the old name goes with the next release"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return entries()


sys.modules[__name__].__class__ = _CallableModule

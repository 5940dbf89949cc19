"""The metrics, with one file per family: ROUGE, BERTScore, and metrics made from functions."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from rankgauge.errors import warn_old_form

if TYPE_CHECKING:
    from rankgauge.text.registry import MetricEntry


class _CallableModule(ModuleType):
    """A module that, until the next release, is also the function with the same name."""

    def __call__(self) -> dict[str, MetricEntry]:
        from rankgauge.text.registry import entries

        warn_old_form("rankgauge.text.metrics()", "rankgauge.text.entries()")
        return entries()


sys.modules[__name__].__class__ = _CallableModule

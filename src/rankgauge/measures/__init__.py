"""The measures, one file a family, and the language they are written in.

A measure is imported when it is first asked for (`families.py`), here as in a text such as "nDCG@10".
`docs/stubs.py` writes the names into `__init__.pyi`, for type checkers.
"""

from __future__ import annotations

from rankgauge.core.lazy import lazy_names
from rankgauge.measures.families import HOMES

_HOMES = {name: f"rankgauge.measures.{family}" for name, family in HOMES.items()} | {
    "Aggregate": "rankgauge.measures.around",
    "Binary": "rankgauge.measures.base",
    "Bounds": "rankgauge.measures.one_list",
    "Measure": "rankgauge.measures.base",
    "R": "rankgauge.measures.precision",
    "Weighted": "rankgauge.measures.weighted",
    "Wrapper": "rankgauge.measures.around",
    "entries": "rankgauge.measures.registry",
    "load_plugin": "rankgauge.core.plugins",
    "parameter": "rankgauge.core.parameters",
    "parse": "rankgauge.measures.grammar",
    "register": "rankgauge.measures.registry",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_names(__name__, _HOMES)

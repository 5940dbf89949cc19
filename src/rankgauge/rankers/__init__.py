"""Learning to rank: methods that learn from features with labels, by scikit-learn's conventions.

A method is a class with settings, `fit(features, validation)` and `predict(features)`. `save` writes
what was learnt into a folder, and `load` reads it. `methods` lists all methods, `find_method` finds one
by name, and `register` makes a method of one's own known.
"""

from __future__ import annotations

from rankgauge.core.lazy import lazy_names
from rankgauge.rankers.homes import HOMES

_HOMES = {name: f"rankgauge.rankers.{module}" for name, module in HOMES.items()} | {
    "CrossValidation": "rankgauge.rankers.crossval",
    "Ranker": "rankgauge.rankers.base",
    "cross_validate": "rankgauge.rankers.crossval",
    "cross_validation": "rankgauge.rankers.crossval",
    "find_method": "rankgauge.rankers.registry",
    "load": "rankgauge.rankers.saving",
    "load_plugin": "rankgauge.core.plugins",
    "methods": "rankgauge.rankers.registry",
    "register": "rankgauge.rankers.registry",
    "with_settings": "rankgauge.rankers.registry",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_names(__name__, _HOMES)

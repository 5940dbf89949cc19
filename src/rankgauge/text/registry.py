"""Every metric of texts by name: ours, those of installed packages, and those of an explicit file."""

from __future__ import annotations

import importlib
import threading
from typing import TypeVar

from rankgauge.core.plugins import may_replace, module_of
from rankgauge.errors import MeasureError
from rankgauge.text.base import Metric

PACKAGE = "rankgauge.text"
ENTRY_POINTS = PACKAGE

HOMES = {
    "rouge1": "rouge",
    "rouge2": "rouge",
    "rougeL": "rouge",
    "rougeLsum": "rouge",
    "rougeW": "rouge",
    "rougeS": "rouge",
    "bertscore": "bert_metric",
    "expected": "normalization",
    "v1": "normalization",
    "v2": "normalization",
    "linear": "normalization",
    "z": "normalization",
}
"""Our metrics and their modules, in the order in which they are listed."""

MetricEntry = Metric | type[Metric]
"""A metric with its default parameters, or a class to be called with a metric."""

E = TypeVar("E", bound=MetricEntry)

_entries: dict[str, MetricEntry] = {}
_broken: list[str] = []
_discovered = False
_lock = threading.RLock()


def register(entry: E) -> E:
    """Make a metric known by its name, and return it; MeasureError where another one has the name."""
    name = entry.name
    if not name.isascii() or not name.isidentifier():
        raise MeasureError(f"a metric cannot be called {name!r}, expected another name")
    known = _any_case(name)
    if known is not None and not may_replace(_origin(known), _home(entry)):
        raise MeasureError(f"the name {name} is taken by {_origin(known)}")
    _entries[name] = entry
    return entry


def _home(entry: MetricEntry) -> str:
    return module_of(entry if isinstance(entry, type) else type(entry))


def _origin(name: str) -> str:
    return f"{PACKAGE}.{HOMES[name]}" if name in HOMES else _home(_entries[name])


def is_registered(name: str) -> bool:
    """Whether a metric has exactly this name."""
    return name in HOMES or name in _entries


def _any_case(name: str) -> str | None:
    """The name of a metric that is spelled like this, or differs in case or a hyphen."""
    return {_folded(known): known for known in (*HOMES, *_entries)}.get(_folded(name))


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def find(name: str) -> MetricEntry:
    """The metric of this name, exact or without regard to case; MeasureError names the nearest."""
    if _any_case(name) is None:
        _discover()
    known = _any_case(name)
    if known is None:
        import difflib

        names = tuple(dict.fromkeys((*HOMES, *_entries)))
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        raise MeasureError("; ".join([f"there is no metric {name!r}", hint, *_broken]))
    if known not in _entries:
        importlib.import_module(f"{PACKAGE}.{HOMES[known]}")
    return _entries[known]


def metrics() -> dict[str, MetricEntry]:
    """All metrics by name: ours first, then those of installed packages and plug-ins."""
    _discover()
    return {name: find(name) for name in dict.fromkeys((*HOMES, *_entries))}


def _discover() -> None:
    """Load the metrics that installed packages offer as entry points, once."""
    global _discovered
    with _lock:
        if _discovered:
            return
        _discovered = True
        import importlib.metadata

        for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
            try:
                point.load()
            except Exception as error:
                _broken.append(f"the metrics of {point.value} cannot be loaded: {error}")

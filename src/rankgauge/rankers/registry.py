"""Every method by name: ours, those of installed packages, and those of an explicit file."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from rankgauge.core.plugins import may_replace, origin
from rankgauge.errors import RankgaugeError
from rankgauge.rankers.base import Ranker

PACKAGE = "rankgauge.rankers"
ENTRY_POINTS = PACKAGE

HOMES = {
    "LambdaMART": "lambdamart",
    "RandomForest": "random_forest",
    "LogisticRegression": "logistic_regression",
    "RankNet": "ranknet",
    "ListNet": "listnet",
    "RankBoost": "rankboost",
    "AdaRank": "adarank",
    "CoordinateAscent": "coordinate_ascent",
}
"""Our methods and their modules, in the order in which they are listed."""

R = TypeVar("R", bound=type[Ranker])

_methods: dict[str, type[Ranker]] = {}
_broken: list[str] = []
_discovered = False
_lock = threading.RLock()


def register(method: R) -> R:
    """Make a method known by the name of its class, without regard to case, and return it.

    Raises RankgaugeError where another method has the name.
    """
    if not (isinstance(method, type) and issubclass(method, Ranker)):
        raise RankgaugeError(f"{method!r} is not a method, expected a subclass of Ranker")
    known = {name.lower(): name for name in (*HOMES, *_methods)}.get(method.__name__.lower())
    if known is not None and not may_replace(_origin(known), origin(method)):
        raise RankgaugeError(f"the name {method.__name__} is taken by {_origin(known)}")
    _methods[method.__name__] = method
    return method


def _origin(name: str) -> str:
    method = _methods.get(name)
    if method is None:
        return f"{PACKAGE}.{HOMES[name]}.{name}"
    return origin(method)


def find_method(name: str) -> type[Ranker]:
    """The method of this name, without regard to case; RankgaugeError lists all names."""
    if _spelled(name) is None:
        _discover()
    spelled = _spelled(name)
    if spelled is None:
        known = ", ".join(dict.fromkeys((*HOMES, *_methods)))
        own = "a method of your own is registered first, by --plugin FILE or rankers.register"
        raise RankgaugeError(
            "; ".join([f"there is no method {name!r}", f"the methods are {known}", own, *_broken])
        )
    if spelled not in _methods:
        method = getattr(importlib.import_module(f"{PACKAGE}.{HOMES[spelled]}"), spelled)
        _methods[spelled] = method
    return _methods[spelled]


def _spelled(name: str) -> str | None:
    return {known.lower(): known for known in (*HOMES, *_methods)}.get(str(name).lower())


def methods() -> dict[str, type[Ranker]]:
    """All methods by name: ours first, then those of installed packages and plug-ins."""
    _discover()
    return {name: find_method(name) for name in dict.fromkeys((*HOMES, *_methods))}


def broken_plugins() -> list[str]:
    """What installed plug-ins could not be loaded, and why."""
    return list(_broken)


def _discover() -> None:
    """Load the methods that installed packages offer as entry points, once."""
    global _discovered
    with _lock:
        if _discovered:
            return
        _discovered = True
        import importlib.metadata

        for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
            try:
                loaded = point.load()
                if isinstance(loaded, type) and issubclass(loaded, Ranker):
                    register(loaded)
            except Exception as error:
                _broken.append(f"the methods of {point.value} cannot be loaded: {error}")


def with_settings(names: Sequence[str], settings: Mapping[str, Any]) -> list[Ranker]:
    """Rankers of these methods with settings: those of all, such as seed, and those that are written
    with the name of one, such as lambdamart.trees."""
    rankers = {name: find_method(name)() for name in dict.fromkeys(map(str.lower, names))}
    for text, value in settings.items():
        method, dot, setting = text.rpartition(".")
        if dot and method.lower() not in rankers:
            raise RankgaugeError(
                f"the setting {text}: {method} is not among the methods {', '.join(names)}"
            )
        having = [ranker for ranker in rankers.values() if setting in ranker.parameters()]
        if not dot and 0 < len(having) < len(rankers):
            example = f"{type(having[0]).__name__.lower()}.{setting}={value}"
            raise RankgaugeError(
                f"the setting {text}: not all of these methods have it; write it for one, as {example}"
            )
        for name, ranker in rankers.items():
            if not dot or name == method.lower():
                ranker.set_params(**{setting: value})
    return list(rankers.values())

"""Every method by name: ours, those of installed packages, and those of an explicit file.

Tables list the methods, and the settings of one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from rankgauge.core.lazy import registered_homes
from rankgauge.core.registry import Registry
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import RankgaugeError
from rankgauge.rankers.base import Ranker
from rankgauge.rankers.settings import DEFAULT, RANKLIB

R = TypeVar("R", bound=type[Ranker])


class _MethodRegistry(Registry[type[Ranker]]):
    """Methods, which are classes and have the names of their classes."""

    def name_of(self, entry: type[Ranker]) -> str:
        return entry.__name__

    def check(self, entry: type[Ranker]) -> None:
        if not (isinstance(entry, type) and issubclass(entry, Ranker)):
            raise RankgaugeError(f"{entry!r} is not a method, expected a subclass of Ranker")

    def accept_plugin(self, thing: Any) -> None:
        if isinstance(thing, type) and issubclass(thing, Ranker):
            self.register(thing)

    def hint(self, name: str, others: Collection[str] = ()) -> str:
        own = "register a method of your own first, with --plugin FILE or rankers.register"
        return f"the methods are {self.format_names()}; {own}"


METHODS = _MethodRegistry(
    "method", package="rankgauge.rankers", homes=registered_homes("rankgauge.rankers")
)
find_method = METHODS.find


def register(method: R) -> R:
    """Register a method under the name of its class.

    Lookup ignores case. Can be used as a decorator.

    Parameters
    ----------
    method : class
        A subclass of `Ranker`.

    Returns
    -------
    class
        The class itself.

    Raises
    ------
    RankgaugeError
        If another method already has the name, or if `method` is not a subclass of `Ranker`.

    Examples
    --------
    A plug-in registers a class of its own:

    >>> @register  # doctest: +SKIP
    ... class FirstFeature(Ranker): ...

    A class may be registered twice:

    >>> from rankgauge.rankers import RankNet
    >>> register(RankNet) is RankNet
    True
    """
    METHODS.register(method)
    return method


def methods() -> dict[str, type[Ranker]]:
    """List all methods that learn to rank, by name.

    Returns
    -------
    dict of str to class
        The classes by name: first those of rankgauge, then those of installed packages and
        plug-ins.

    Examples
    --------
    >>> list(methods())[:3]
    ['LambdaMART', 'RandomForest', 'LogisticRegression']
    """
    return dict(METHODS)


def with_settings(names: Sequence[str], settings: Mapping[str, Any]) -> list[Ranker]:
    """Create rankers for several methods, with settings.

    Parameters
    ----------
    names : sequence of str
        The names of the methods.
    settings : dict of str to value
        The settings by name. A setting such as "seed" goes to all methods. A setting such as
        "lambdamart.trees" goes to the named method only.

    Returns
    -------
    list of Ranker
        One ranker per method.

    Raises
    ------
    RankgaugeError
        If a setting names a method that is not among `names`, or if a method does not have the
        setting.

    Examples
    --------
    >>> with_settings(["ranknet", "lambdamart"], {"seed": 1, "lambdamart.trees": 20})
    [RankNet(seed=1), LambdaMART(seed=1, trees=20)]
    """
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
                f"the setting {text}: not all of these methods accept it; set it for one method, "
                f"as in {example}"
            )
        for name, ranker in rankers.items():
            if not dot or name == method.lower():
                ranker.set_params(**{setting: value})
    return list(rankers.values())


def methods_table() -> Table:
    """A row for each method: what it is, what it optimizes, and the paper that describes it."""
    rows = tuple(
        (name, method.summary, method.all_objectives(), method.source)
        for name, method in methods().items()
    )
    notes = ("rankgauge ltr methods NAME lists the settings of a method", *METHODS.broken)
    return Table(("method", "what it is", "optimizes", "source"), rows, notes)


def settings_table(name: str) -> Table:
    """A row for each setting of a method: its values in the presets, what it takes, what it means."""
    rows: list[tuple[Cell, ...]] = []
    for setting, declared in find_method(name).parameters().items():
        presets = declared.metadata.get("presets")
        usual = declared.default if presets is None else presets[DEFAULT]
        classical = usual if presets is None else presets.get(RANKLIB, usual)
        if setting == "preset":
            usual, classical = DEFAULT, RANKLIB
        kind, meaning = declared.metadata.get("kind"), str(declared.metadata.get("meaning", ""))
        takes = "" if kind is None else kind.description
        rows.append((setting, str(usual), str(classical), takes, meaning))
    notes = [f"{origin}: optimizes {text}" for origin, text in objective_rows(name)]
    return Table(("setting", DEFAULT, RANKLIB, "takes", "what it means"), tuple(rows), tuple(notes))


def objective_rows(name: str) -> list[tuple[str, str]]:
    """What a method makes best in each preset: where it comes from, and the words.

    There is one row if the method fixes it.
    """
    method = find_method(name)
    made = (method(preset=preset).training_objective() for preset in (DEFAULT, RANKLIB))
    return list(dict.fromkeys((objective.origin, objective.text) for objective in made))

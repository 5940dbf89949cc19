"""Names that changed: until the next release the old ones are found, too, with a warning.

`RenamedMembers` is for attributes and methods, `renamed_parameters` for parameters of functions, and
`renamed_names` for the functions and classes of a module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

from rankgauge.core.moved import RENAMED
from rankgauge.errors import warn_old_form

P = ParamSpec("P")
R = TypeVar("R")


class RenamedMembers:
    """Base class of classes whose attributes and methods may have new names."""

    __slots__ = ()
    _renamed: ClassVar[Mapping[str, str]] = {}
    """The new names of members by those of the last release."""

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            new = self._renamed.get(name)
            if new is None:
                return object.__getattribute__(self, name)  # for its error
            owner = type(self).__name__
            warn_old_form(f"{owner}.{name}", f"{owner}.{new}")
            return getattr(self, new)


def renamed_parameters(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for a function whose parameters have new names: old="new".

    >>> @renamed_parameters(measure="measures")
    ... def show(measures: str) -> str:
    ...     return measures
    >>> show(measures="AP")
    'AP'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

        @wraps(function)
        def call(*arguments: P.args, **options: P.kwargs) -> R:
            renamed: Any = options
            for old, new in names.items():
                if old in options:
                    if new in options:
                        raise TypeError(f"{name}() got {new!r} twice, once by its old name {old!r}")
                    warn_old_form(f"{name}({old}=...)", f"{name}({new}=...)")
                    renamed = {new if key == old else key: renamed[key] for key in renamed}
            return function(*arguments, **renamed)

        return call

    return decorate


def renamed_names(module: str) -> Callable[[str], Any]:
    """`__getattr__` of a module some of whose names are in `RENAMED`."""

    def get(name: str) -> Any:
        new = RENAMED[module].get(name)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_old_form(f"{module}.{name}", f"{module}.{new}")
        return getattr(sys.modules[module], new)

    return get

"""Parameters that were renamed: until the next release functions also take them by their old names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from rankgauge.errors import warn_old_form

P = ParamSpec("P")
R = TypeVar("R")


def renamed_parameters(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for a function whose parameters have new names: old="new".

    >>> @renamed_parameters(measure="measures")
    ... def show(measures: str) -> str:
    ...     return measures
    >>> show(measures="AP")
    'AP'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__

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

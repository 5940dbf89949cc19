"""The old order of arguments of `med` and `med_matrix`, the measure first: it goes next release."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from rankgauge.errors import warn_old_form
from rankgauge.evaluation.inputs import is_measure

P = ParamSpec("P")
R = TypeVar("R")


def accepts_old_order(*old: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for functions that until the last release had their arguments in the order of `old`.

    An old call has a measure in the first place and none in the new place of the measure, or it leaves
    out judgments that the new form wants, as None if there are none.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__
        new = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        required = "qrels" in new

        @wraps(function)
        def call(*arguments: P.args, **options: P.kwargs) -> R:
            values = dict(zip(new, arguments, strict=False)) | options
            first = bool(arguments) and is_measure(arguments[0])
            by_keyword = not arguments and required and {"runs", "measure"} <= options.keys()
            if (first and not is_measure(values.get("measure"))) or (
                by_keyword and "qrels" not in options
            ):
                warn_old_form(f"{name}({', '.join(old)})", f"{name}({', '.join(new)})")
                values = dict(zip(old, arguments, strict=False))
                if twice := values.keys() & options.keys():
                    raise TypeError(f"{name}() got {min(twice)!r} twice")
                called: Any = {**({"qrels": None} if required else {}), **values, **options}
                anyhow: Callable[..., R] = function
                return anyhow(**called)
            return function(*arguments, **options)

        return call

    return decorate

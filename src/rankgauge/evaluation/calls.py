"""Wrong calls of functions that take judgments, runs and measures: the error shows the right call."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from functools import cache, wraps
from itertools import islice
from typing import Any, ParamSpec, TypeVar

from rankgauge.core.notes import short_repr
from rankgauge.core.policies import Policies
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import (
    check_argument_order,
    is_document,
    wraps_a_dict,
)
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure

P = ParamSpec("P")
R = TypeVar("R")

MOST_EXAMINED = 20
"""How many entries of a dict are looked at."""


def checked_call(form: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for functions of judgments, runs and measures: errors of wrong calls show `form`.

    A call is wrong if arguments are missing, too many or unknown, or if one is in the place of another.
    Parameters called qrels, runs, measures and measure are checked.

    >>> @checked_call("count(qrels, runs)")
    ... def count(qrels, runs): ...
    >>> count({"q1": {"d1": 1}})
    Traceback (most recent call last):
    TypeError: count(a dict): missing a required argument: 'runs'; write count(qrels, runs)
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = cache(lambda: inspect.signature(function))

        @wraps(function)
        def call(*arguments: P.args, **options: P.kwargs) -> R:
            try:
                given = signature().bind(*arguments, **options).arguments
            except TypeError as error:
                _refuse_unknown(function.__name__, options, signature())
                shown = [*map(describe, arguments), *(f"{name}=..." for name in options)]
                called = f"{function.__name__}({', '.join(shown)})"
                raise TypeError(f"{called}: {error}; write {form}") from None
            with right_form(form):
                _check_arguments(given)
            return function(*arguments, **options)

        return call

    return decorate


def _refuse_unknown(function: str, options: Iterable[str], signature: inspect.Signature) -> None:
    """TypeError for an argument with an unknown name that is near to a known name."""
    import difflib

    known = [name for name in signature.parameters if name not in options]
    for name in {*options} - {*signature.parameters, *(field.name for field in Policies._fields)}:
        near = difflib.get_close_matches(name.replace("metric", "measure"), known, n=1)
        if near:
            message = f"{function}() has no argument {name!r}; did you mean {near[0]!r}?"
            raise TypeError(message) from None


@contextmanager
def right_form(form: str) -> Iterator[None]:
    """Add the right call to the errors that are raised inside."""
    try:
        yield
    except RankgaugeError as error:
        raise type(error)(f"{error}; write {form}") from None


def describe(value: object) -> str:
    """An argument as messages show it: short, and of what kind.

    >>> describe({"q1": {"d1": 1}}), describe([1, 2]), describe("bm25.run"), describe(dict)
    ('a dict', 'a list', "'bm25.run'", 'the class dict')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, Measure | Aggregate):
        return str(value)
    if value is None or isinstance(value, str | os.PathLike | int | float):
        return short_repr(value)
    kinds = {Mapping: "a dict", list: "a list", tuple: "a tuple", Set: "a set"}
    return next(
        (text for kind, text in kinds.items() if isinstance(value, kind)), type(value).__name__
    )


def _check_arguments(given: Mapping[str, Any]) -> None:
    """Refuse runs in place of judgments, judgments in place of runs, and what is no measure."""
    qrels, runs = given.get("qrels"), given.get("runs")
    if (kind := _kind_of_runs(qrels)) is not None:
        raise RankgaugeError(f"qrels: {kind}, expected judgments")
    if isinstance(runs, Judgments) or wraps_a_dict(runs, "qrels"):
        raise RankgaugeError(f"runs: {describe(runs)}, expected runs")
    for name in ("measures", "measure"):
        if name in given:
            check_argument_order(runs, given[name], name)


def _kind_of_runs(value: Any) -> str | None:
    """What this is, if it is a run, several runs or a measure, which no judgments look like."""
    if isinstance(value, Mapping):
        some = [*islice(value.values(), MOST_EXAMINED)]
        if any(map(_is_whole_run, some)):
            return "a dict of runs"
        rows = (islice(row.values(), MOST_EXAMINED) for row in some if isinstance(row, Mapping))
        score = next((number for row in rows for number in row if _is_fraction(number)), None)
        return None if score is None else f"a dict with {score} (grades must be whole numbers)"
    if isinstance(value, list | tuple):
        judged = not value or is_document(value[0], "relevance")
        return None if judged else describe(value)
    is_run = callable(value) or isinstance(value, Run | Measure | Aggregate)
    return describe(value) if is_run or wraps_a_dict(value, "run") else None


def _is_whole_run(value: Any) -> bool:
    """Whether this, under a name in a dict, is a run rather than the documents of a query."""
    if isinstance(value, Mapping):
        return any(isinstance(row, Mapping | list) for row in islice(value.values(), MOST_EXAMINED))
    return isinstance(value, Run | str | os.PathLike) or callable(value)


def _is_fraction(number: Any) -> bool:
    return isinstance(number, float) and not number.is_integer()

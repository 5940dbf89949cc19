"""Laws that all objects of a kind obey, and the runner that holds an object to them.

A law has a name and is a function of the object; its docstring says in a sentence what holds. It calls
`fail`, or `expect`, where the law does not hold. `rankgauge.testing` has the laws of measures,
`text/checking.py` the laws of metrics of texts, and `rankers/checks.py` the laws of rankers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats

Subject = TypeVar("Subject")
Law: TypeAlias = Callable[[Subject], None]
TOLERANCE = 1e-9
"""By how much numbers may differ that are the same but for rounding."""


class LawBroken(AssertionError):
    """An object breaks a law: which one, in which case, and what is expected."""

    def __init__(self, law: str, subject: object, why: str) -> None:
        super().__init__(f"{subject} fails the check {law!r}: {why}")
        self.law = law


class Counterexample(AssertionError):
    """A case in which a law does not hold, and what is expected."""


class Laws(dict[str, Law[Subject]], Generic[Subject]):
    """The laws of a kind of objects by name, in the order in which they are tried.

    >>> laws: Laws[int] = Laws()
    >>> @laws.law("even")
    ... def _even(number: int) -> None:
    ...     "Two divides the number."
    ...     if number % 2:
    ...         fail("the remainder is 1, expected 0")
    >>> laws.check(4)
    >>> laws.check(5)
    Traceback (most recent call last):
    ...
    rankgauge.core.laws.LawBroken: 5 fails the check 'even': the remainder is 1, expected 0
    """

    def __init__(self, error: type[LawBroken] = LawBroken) -> None:
        super().__init__()
        self.error = error

    def law(self, name: str) -> Callable[[Law[Subject]], Law[Subject]]:
        """Make the function below it the next law, under this name."""

        def add(holds: Law[Subject]) -> Law[Subject]:
            self[name] = holds
            return holds

        return add

    def check(self, subject: Subject) -> None:
        """Hold an object to all laws; LawBroken, or `error`, for the first that it breaks."""
        for name, holds in self.items():
            try:
                holds(subject)
            except Counterexample as case:
                raise self.error(name, subject, str(case)) from None
            except Exception as error:
                fault = f"it raises {type(error).__name__}: {error}"
                raise self.error(name, subject, fault) from error


def fail(why: str) -> NoReturn:
    """The law does not hold: in which case, and what is expected."""
    raise Counterexample(why)


def expect(holds: Bools, case: Callable[[int], str], why: str, **values: NDArray[Any]) -> None:
    """Fail for the first place where a law does not hold.

    `case` names what stands there, and `why` says what is wrong; a name in braces stands for the entry
    of these values.
    """
    if not holds.all():
        i = int(np.flatnonzero(~holds)[0])
        fail(f"for {case(i)} {why.format(**{name: value[i] for name, value in values.items()})}")


def is_close(a: Floats, b: Floats, rounding: float = 0.0) -> Bools:
    """Where two numbers are the same but for rounding."""
    tolerance = TOLERANCE + rounding
    return np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def is_within(values: Floats, ends: tuple[float, float]) -> Bools:
    """Where numbers lie between two ends but for rounding."""
    return (values >= ends[0] - TOLERANCE) & (values <= ends[1] + TOLERANCE)

"""The harness of the laws, and what all laws have."""

from __future__ import annotations

import pytest

from rankgauge import testing
from rankgauge.core.laws import LawBroken, Laws, fail
from rankgauge.rankers.checks import CHECKS, CheckFailed
from rankgauge.text import checking


def laws_of_numbers(error: type[LawBroken] = LawBroken) -> Laws[int]:
    laws: Laws[int] = Laws(error)

    @laws.law("even")
    def _even(number: int) -> None:
        if number % 2:
            fail(f"{number} is odd")

    @laws.law("divides")
    def _divides(number: int) -> None:
        12 // number

    return laws


def test_the_first_law_that_does_not_hold_is_named_with_its_counterexample() -> None:
    laws_of_numbers().check(2)
    with pytest.raises(LawBroken, match=r"^3 fails the check 'even': 3 is odd$") as caught:
        laws_of_numbers().check(3)
    assert caught.value.law == "even"


def test_an_error_in_an_object_breaks_the_law_that_asked() -> None:
    with pytest.raises(CheckFailed, match="0 fails the check 'divides': it raises Zero") as caught:
        laws_of_numbers(CheckFailed).check(0)
    assert caught.value.check == caught.value.law == "divides"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("laws", [testing.LAWS, checking.LAWS, CHECKS])
def test_every_law_has_a_sentence(laws: Laws[object]) -> None:
    assert laws
    for name, holds in laws.items():
        assert (holds.__doc__ or "").rstrip().endswith("."), name

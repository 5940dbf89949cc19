"""How many random cases the properties are tried on.

The default profile tries the same cases every time. `pytest --hypothesis-profile=thorough` tries new
cases every time, and twenty-five times as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

T = TypeVar("T")

DEFAULT, THOROUGH = "rankgauge", "thorough"
USUAL = 100
"""How many cases a property is tried on where it does not say; `examples` are in proportion to it."""
DEFAULT_CASES, THOROUGH_CASES = 40, 1_000


def register() -> None:
    """Make the profiles known, and load the default one; hypothesis loads the one asked for later."""
    # How long a case takes depends on the machine, and must not decide whether a test passes.
    common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile(
        DEFAULT, common, derandomize=True, database=None, max_examples=DEFAULT_CASES
    )
    settings.register_profile(
        THOROUGH, common, derandomize=False, print_blob=True, max_examples=THOROUGH_CASES
    )
    settings.load_profile(DEFAULT)


def examples(count: int) -> settings:
    """So many cases of a hundred, in proportion to what the profile has."""
    return settings(max_examples=max(1, count * settings().max_examples // USUAL))


def thorough() -> bool:
    """Whether a profile with more cases than the default one is loaded."""
    return settings().max_examples > DEFAULT_CASES


def some(items: Sequence[T], count: int) -> list[T]:
    """So many of the items, from the first to the last at even distances; all of them if thorough.

    For files of real data of which a few show what all show.
    """
    if thorough() or count >= len(items):
        return list(items)
    return [items[number * (len(items) - 1) // (count - 1)] for number in range(count)]

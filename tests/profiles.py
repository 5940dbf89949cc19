"""How many random cases the properties are tried on.

The default profile tries the same cases every time. `pytest --hypothesis-profile=thorough` tries new
cases every time, and ten times as many.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

DEFAULT, THOROUGH = "rankgauge", "thorough"
TIMES = 10


def register() -> None:
    """Make the profiles known, and load the default one; hypothesis loads the one asked for later."""
    # How long a case takes depends on the machine, and must not decide whether a test passes.
    common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile(DEFAULT, common, derandomize=True, database=None)
    many = TIMES * settings.get_profile(DEFAULT).max_examples
    settings.register_profile(
        THOROUGH, common, derandomize=False, print_blob=True, max_examples=many
    )
    settings.load_profile(DEFAULT)


def examples(count: int) -> settings:
    """So many cases in the default profile, and in another one in proportion to its own number."""
    usual = settings.get_profile(DEFAULT).max_examples
    return settings(max_examples=count * settings().max_examples // usual)


def thorough() -> bool:
    """Whether a profile with more cases than the default one is loaded."""
    return settings().max_examples > settings.get_profile(DEFAULT).max_examples

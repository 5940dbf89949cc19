"""Which runs belong together: runs of one team."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from rankgauge.errors import RankgaugeError

Teams: TypeAlias = str | Callable[[str], str] | Mapping[str, str] | Iterable[str]
"""How to determine the team of a run; see `teams_of`."""

LETTERS = "letters"
RUNS = "runs"
EXPECTED = f"{LETTERS!r}, {RUNS!r}, a list of prefixes, a dict or a function"


def teams_of(runs: Sequence[str], teams: Teams) -> tuple[str, ...]:
    """The team of each run.

    `teams` is one of:

    - "letters": the name of the run up to the first number in it, such as `acsys` of `acsys8amn`. If a
      name begins with a number, that number belongs to the team.
    - "runs": each run is a team of its own.
    - a list of prefixes: runs whose names begin with the same prefix are a team. The longest prefix
      counts. A run without a prefix is a team of its own.
    - a dict with the team of each run.
    - a function that gives the team by the name of the run.

    >>> teams_of(["acsys8amn", "acsys8aln2", "apl8p"], "letters")
    ('acsys', 'acsys', 'apl')
    >>> teams_of(["input.ok8alx", "input.ok8amxc", "input.1"], ["input.ok8"])
    ('input.ok8', 'input.ok8', 'input.1')
    """
    if isinstance(teams, str):
        if teams not in (LETTERS, RUNS):
            raise RankgaugeError(f"teams={teams!r}, expected {EXPECTED}")
        return tuple(map(_leading_letters, runs)) if teams == LETTERS else tuple(runs)
    if isinstance(teams, Mapping):
        for run in runs:
            if run not in teams:
                raise RankgaugeError(
                    f"teams: no team for the run {run!r}, expected one for each run"
                )
        return tuple(_check_team(run, teams[run]) for run in runs)
    if callable(teams):
        return tuple(_check_team(run, teams(run)) for run in runs)
    if not isinstance(teams, Iterable):
        raise RankgaugeError(f"teams={teams!r}, expected {EXPECTED}")
    prefixes = sorted((_check_prefix(one) for one in teams), key=len, reverse=True)
    if not prefixes:
        raise RankgaugeError("teams: no prefixes, expected at least one")
    for prefix in prefixes:
        if not any(run.startswith(prefix) for run in runs):
            raise RankgaugeError(
                f"teams: no run has a name that begins with {prefix!r}; the first run is "
                f"{runs[0]!r}"
            )
    return tuple(next((p for p in prefixes if run.startswith(p)), run) for run in runs)


def _leading_letters(run: str) -> str:
    """The name up to the first digit that follows something else; the whole name if there is none."""
    start = re.match(r"\d*\D+", run)
    return run if start is None else start.group()


def _check_team(run: str, team: Any) -> str:
    if not isinstance(team, str):
        raise RankgaugeError(f"teams: the team of {run!r} is {team!r}, expected text")
    return team


def _check_prefix(prefix: Any) -> str:
    if not isinstance(prefix, str) or not prefix:
        raise RankgaugeError(f"teams: {prefix!r} is not a prefix, expected text")
    return prefix

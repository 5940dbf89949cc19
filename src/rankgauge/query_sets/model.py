"""Sets of queries: which queries were chosen, and why others were left out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.records import Value
from rankgauge.core.rounding import merge_close_values
from rankgauge.errors import RankgaugeError


class Exclusion(NamedTuple):
    """Why queries were excluded, and how many.

    Parameters
    ----------
    reason : str
        What these queries have, such as "nothing relevant".
    queries : int
        The number of queries.

    Examples
    --------
    >>> Exclusion("nothing relevant", 3).text
    '3 with nothing relevant'
    """

    reason: str
    queries: int

    @property
    def text(self) -> str:
        """How many, and why."""
        return f"{self.queries:,} with {self.reason}"

    @property
    def note(self) -> Note:
        """The note of a result."""
        return Note(f"excluded: {self.text}")


class QuerySet(Value, Collection[str]):
    """A set of query ids, in the order of the scores or judgments that they were chosen from.

    `Scores.select` accepts a query set.

    Parameters
    ----------
    name : str
        The name of the set.
    queries : tuple of str
        The ids, each once.
    left_out : tuple of Exclusion, default ()
        Why some queries could not be chosen, and how many.

    Examples
    --------
    >>> QuerySet("hard", ("q1", "q7"), (Exclusion("nothing relevant", 3),))
    QuerySet hard: 2 queries (excluded: 3 with nothing relevant)
    """

    name: str
    queries: tuple[str, ...]
    left_out: tuple[Exclusion, ...] = ()

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __contains__(self, query: object) -> bool:
        return query in self.queries

    def __repr__(self) -> str:
        text = f"{type(self).__name__} {self.name}: {count_phrase(len(self), 'query')}"
        notes = ", ".join(left.text for left in self.left_out)
        return f"{text} (excluded: {notes})" if notes else text


class SelectionSize(Value):
    """How many queries to choose: a number, a share, or all up to a threshold.

    Exactly one of the three must be given.

    Parameters
    ----------
    number : int, optional
        The number of queries.
    share : float, optional
        The share of the queries, from 0 to 1.
    threshold : float, optional
        The limit: `lowest` chooses the values up to it, and `highest` the values from it on.

    Examples
    --------
    >>> SelectionSize(share=0.25).size(10)
    3
    """

    number: int | None = None
    share: float | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        given = [name for name, value in vars(self).items() if value is not None]
        if len(given) != 1:
            names = " and ".join(given) or "none of number, share and threshold"
            raise RankgaugeError(f"{names} given, expected exactly one of number, share, threshold")
        check_value("number", self.number, Integer(0), optional=True)
        check_value("share", self.share, Number(0, 1), optional=True)
        check_value("threshold", self.threshold, Number(-math.inf), optional=True)

    def size(self, available: int) -> int:
        """How many queries to choose from `available` queries.

        It is the number that was given, or the share of `available`, rounded (0.5 up).
        """
        if self.share is not None:
            return math.floor(self.share * available + 0.5)
        assert self.number is not None
        if self.number > available:
            there = count_phrase(available, "query")
            raise RankgaugeError(f"number={self.number}, but only {there} can be chosen")
        return int(self.number)

    def lowest(self, values: Floats, greatest: Floats) -> Bools:
        """Which values are chosen as the lowest. Of equal values the first ones are chosen.

        With a threshold, these are the values up to the threshold. Values that differ only by rounding
        are equal; `greatest` is the magnitude of the terms that were rounded.
        """
        if self.threshold is not None:
            with_limit = merge_close_values(
                np.append(values, self.threshold), np.append(greatest, 0.0)
            )
            chosen: Bools = with_limit[:-1] <= with_limit[-1]
            return chosen
        chosen = np.zeros(len(values), dtype=np.bool_)
        in_order = np.argsort(merge_close_values(values, greatest), kind="stable")
        chosen[in_order[: self.size(len(values))]] = True
        return chosen

    def highest(self, values: Floats, greatest: Floats) -> Bools:
        """Which values are chosen as the highest. Of equal values the first ones are chosen.

        With a threshold, these are the values from the threshold on.
        """
        limit = None if self.threshold is None else -self.threshold
        return replace(self, threshold=limit).lowest(-values, greatest)


def list_exclusions(reasons: dict[str, Bools]) -> tuple[Exclusion, ...]:
    """For each reason, how many queries are left out; reasons without a query do not appear."""
    counts = {reason: int(np.count_nonzero(which)) for reason, which in reasons.items()}
    return tuple(Exclusion(reason, count) for reason, count in counts.items() if count)

"""Walks: the rankings of one list between crossings, from one to the next."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.records import Record
from rankgauge.space.curves import NEAR
from rankgauge.space.nonlinear.scorers import blocks

SHARES = np.array([0.5, 0.381966, 0.618034])
"""Where in an interval a list is ranked; the first point without a tie is taken."""


class RankingWalk(Record):
    """The rankings of one list, in the order in which crossings lead through them.

    A crossing takes the upper document one rank down and the lower one up. So the ranks after some
    crossings do not depend on the order in which they are applied, and crossings that cannot be told
    apart are applied together.
    """

    position: Floats
    """Where each crossing is, from 0 to 1."""
    upper: Ints
    lower: Ints
    group: Ints
    """The number of each crossing's group of crossings that lie at one place."""
    place: Floats
    """Where each group is."""
    size: int

    @classmethod
    def of(cls, position: Floats, upper: Ints, lower: Ints, size: int) -> RankingWalk:
        """The walk along these crossings, which are in order."""
        new = np.diff(position, prepend=-1.0) > NEAR
        return cls(position, upper, lower, np.cumsum(new) - 1, position[new], size)

    @cached_property
    def _widest(self) -> int:
        """The number of the group before the widest interval, from 0 on; 0 is the start of the line."""
        ends = np.concatenate(([0.0], self.place, [1.0]))
        return int(np.argmax(np.diff(ends)))

    @property
    def anchors(self) -> Floats:
        """Some points well inside the widest interval between two groups."""
        ends = np.concatenate(([0.0], self.place, [1.0]))
        low, high = ends[self._widest : self._widest + 2]
        return np.asarray(low + SHARES * (high - low))

    def _moved(self, chosen: Bools, groups: int, first: int) -> Ints:
        """How many ranks down each group of crossings takes each document: a row a group."""
        moved = np.zeros((groups, self.size), dtype=np.int64)
        group = self.group[chosen] - first
        np.add.at(moved, (group, self.upper[chosen]), 1)
        np.add.at(moved, (group, self.lower[chosen]), -1)
        return moved

    def back_from_anchor(self, order: Ints) -> Ints:
        """The order at the start of the line, for the order in the widest interval."""
        ranks = _inverse(order)
        passed = self.group < self._widest
        ranks = ranks - self._moved(passed, max(len(self.place), 1), 0).sum(axis=0)
        return np.argsort(ranks, kind="stable")

    def orders(self, first: Ints, start: int) -> Iterator[tuple[Floats, Ints]]:
        """Some groups at a time: where they are, and the orders before the first and after each of them.

        `first` has the order at the start of the line. A group after which the ranks are not those of a
        ranking is left out: the next group, which lies close to it, completes it.
        """
        before = first[start : start + self.size] - start
        ranks = _inverse(before)
        for low, high in blocks(len(self.place), self.size):
            chosen = (self.group >= low) & (self.group < high)
            all_ranks = ranks + np.cumsum(self._moved(chosen, high - low, low), axis=0)
            ranks = all_ranks[-1]
            inside = ((all_ranks >= 0) & (all_ranks < self.size)).all(axis=1)
            order = np.full(all_ranks.shape, -1)
            which = np.flatnonzero(inside)
            order[which[:, None], all_ranks[which]] = np.arange(self.size)
            whole = (order >= 0).all(axis=1)
            orders = np.concatenate((before[None, :], order[whole]))
            before = orders[-1]
            yield self.place[low:high][whole], orders + start


def _inverse(order: Ints) -> Ints:
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks

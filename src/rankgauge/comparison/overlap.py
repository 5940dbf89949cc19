"""Rank-biased overlap of two rankings, which may have ties and different lengths."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.policies import DEFAULT_OVERLAP_TIES, PERSISTENCE, PERSISTENCES, OverlapTies
from rankgauge.core.records import Record, Value
from rankgauge.core.renamed import renamed_parameters
from rankgauge.errors import RankgaugeError

_GROUP_TYPES = (tuple, list, set, frozenset)


class RBO(Value):
    """The rank-biased overlap of two rankings, with its bounds: the result of `rbo`.

    Attributes
    ----------
    ext : float
        The extrapolated overlap, which assumes that the unseen ranks agree as closely as the seen ranks.
        NaN if a list is empty.
    min : float
        The lower bound: the lists have nothing more in common.
    max : float
        The upper bound: the lists have as much more in common as possible.

    Examples
    --------
    >>> overlap = rbo(["a", "b", "c"], ["b", "a", "d"], persistence=0.5)
    >>> round(overlap.ext, 4), round(overlap.res, 4)
    (0.4167, 0.072)
    """

    ext: float
    min: float
    max: float

    @property
    def res(self) -> float:
        """The residual, max − min: how much depends on the unseen ranks."""
        return self.max - self.min


class Groups(Record):
    """A ranking as groups of tied items, best first.

    `sizes` has the size of each group, and `group_of` has the group of each id.
    """

    sizes: Ints
    group_of: dict[Hashable, int]


@renamed_parameters(p="persistence")
def rbo(
    a: Iterable[Any],
    b: Iterable[Any],
    persistence: float = PERSISTENCE,
    *,
    ties: OverlapTies = DEFAULT_OVERLAP_TIES,
) -> RBO:
    """Compute the rank-biased overlap of two rankings, from 0 (nothing in common) to 1.

    The two rankings may hold different ids and differ in length.

        RBO = (1 − p) · Σ_{d≥1} p^(d−1) · A_d,    where A_d is the agreement of the rankings to depth d

    The ranks below the ends of the rankings are unknown, so the result has three values: the estimate
    `ext` extrapolates the agreement seen so far, and `min` and `max` are its bounds.

    Without ties, the three variants of `ties` are the same. With "w" and "b", a ranking has an `ext` of
    1 with itself. With "a", `ext` is below 1 if there are ties, because two orders of the ties differ.

    The sources are Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings; and
    Corsi and Urbano 2024, The treatment of ties in rank-biased overlap.

    Parameters
    ----------
    a, b : iterable
        The two rankings, best first. An item is an id (anything hashable, usually text), or a group of
        tied ids (a tuple, list or set).
    persistence : float, default 0.9
        The probability p that a reader continues from one rank to the next, above 0 and below 1.
    ties : {"w", "a", "b"}, default "w"
        How to treat ties.

        - "w": tied items share one rank, as in sports: A_d = 2·|A ∩ B| / (|A| + |B|), where A and B
          are all items whose group begins at depth d or above.
        - "a": the order of tied items is unknown: A_d is |A ∩ B| / d, averaged over all orders of the
          ties.
        - "b": as "a", but divided by the overlap of each ranking with itself, as τ-b does.

    Returns
    -------
    RBO
        The extrapolated overlap `ext`, which assumes that the unseen ranks agree as closely as the seen
        ranks; it is NaN if a list is empty. The least overlap `min`, if the lists have nothing more in
        common. The greatest overlap `max`, if they have as much more in common as possible.

    Raises
    ------
    RankgaugeError
        If a ranking is not a list of ids and groups, has an id twice, or has an empty group. Also if
        `persistence` is out of range or `ties` is unknown.

    Examples
    --------
    >>> overlap = rbo(["a", "b", "c"], ["b", "a", "d"], persistence=0.5)
    >>> print(f"{overlap.ext:.4f}, at least {overlap.min:.4f}, at most {overlap.max:.4f}")
    0.4167, at least 0.3863, at most 0.4583
    >>> tied = rbo(["a", ("b", "c")], ["a", "c", "b"], ties="a")
    >>> round(tied.ext, 4)
    0.9775
    """
    first, second = parse_groups("a", a), parse_groups("b", b)
    shared = [item for item in first.group_of if item in second.group_of]
    return overlap(
        first.sizes,
        second.sizes,
        np.array([first.group_of[item] for item in shared], dtype=np.int64),
        np.array([second.group_of[item] for item in shared], dtype=np.int64),
        check_value("persistence", persistence, PERSISTENCES),
        ties,
    )


def parse_groups(name: str, ranking: Iterable[Any]) -> Groups:
    """A ranking of ids and groups of ids, checked; `name` is what an error calls it."""
    if isinstance(ranking, str | bytes | Mapping | set | frozenset) or not isinstance(
        ranking, Iterable
    ):
        kind = type(ranking).__name__
        raise RankgaugeError(f"{name} is {kind}, expected a list of ids or groups, best first")
    group_of: dict[Hashable, int] = {}
    sizes = []
    for number, item in enumerate(ranking):
        members = item if isinstance(item, _GROUP_TYPES) else (item,)
        for member in members:
            if not isinstance(member, Hashable) or isinstance(member, _GROUP_TYPES):
                raise RankgaugeError(f"{name} has {member!r}, expected ids or groups of ids")
            if member in group_of:
                raise RankgaugeError(f"{name} has {member!r} twice, expected each id once")
            group_of[member] = number
        if not members:
            raise RankgaugeError(f"{name} has an empty group, expected ids or groups of ids")
        sizes.append(len(members))
    return Groups(np.array(sizes, dtype=np.int64), group_of)


class _RankingByDepth(Record):
    """A ranking at each depth d, as far as the items down to d count.

    `above` is how many items are above the group at d, `size` is the size of this group, and `part` is
    which part of it counts. An item beyond the end is a group of its own.

    For each shared item, `begun` is the depth from which it counts in part, and `whole` is the depth
    from which it counts fully.
    """

    above: Ints
    size: Ints
    part: Floats
    begun: Ints
    whole: Ints

    @classmethod
    def of(cls, sizes: Ints, groups: Ints, depth: Ints, ties: OverlapTies) -> _RankingByDepth:
        """The ranking with groups of these sizes; `groups` has the group of each shared item."""
        ends = np.cumsum(sizes)
        above = depth - 1
        size = np.ones_like(depth)
        seen = int(sizes.sum())
        above[:seen] = np.repeat(ends - sizes, sizes)
        size[:seen] = np.repeat(sizes, sizes)
        part = np.ones(len(depth)) if ties == "w" else (depth - above) / size
        whole = ends[groups] + 1
        return cls(above, size, part, whole - sizes[groups], whole)

    def content(self, power: int) -> Floats:
        """The sum over the items of the part of each item that counts, to a power."""
        return self.above + self.size * self.part**power


def overlap(
    a_sizes: Ints, b_sizes: Ints, a_groups: Ints, b_groups: Ints, p: float, ties: OverlapTies
) -> RBO:
    """The rank-biased overlap of two rankings with groups of tied items.

    At each depth all groups but one are above the depth or below it. Items of a group above count fully,
    and items of a group below do not count. So four counts of the shared items give their overlap.

    Parameters
    ----------
    a_sizes: the size of each group of the first ranking, best first.
    b_sizes: the size of each group of the second ranking, best first.
    a_groups: for each item that is in both rankings, its group in the first ranking.
    b_groups: for the same items, their groups in the second ranking.
    p: the persistence.
    ties: the variant, as in `rbo`.
    """
    check_value("ties", ties, one_of(OverlapTies))
    if a_sizes.sum() > b_sizes.sum():
        return overlap(b_sizes, a_sizes, b_groups, a_groups, p, ties)
    short, long = int(a_sizes.sum()), int(b_sizes.sum())
    depth = np.arange(1, long + 1)
    a = _RankingByDepth.of(a_sizes, a_groups, depth, ties)
    b = _RankingByDepth.of(b_sizes, b_groups, depth, ties)
    shared = _shared_content(a, b)
    a_content, b_content = (side.content(2 if ties == "b" else 1) for side in (a, b))
    most = np.sqrt(a_content * b_content) if ties == "b" else (a_content + b_content) / 2

    # What the shorter list may hold from its end on: items that only the longer one has.
    unseen = depth[short:] - short
    alone = b_sizes - np.bincount(b_groups, minlength=len(b_sizes))
    whole = np.repeat(np.cumsum(alone) - alone, b_sizes)[short:]
    partly = np.repeat(alone, b_sizes)[short:]
    part = b.part[short:]
    greatest = np.minimum(unseen, whole) + part * np.clip(unseen - whole, 0, partly)
    typical = unseen * (whole + part * partly) / (whole + partly)
    agreement = float(shared[short - 1] / most[short - 1]) if short else math.nan

    weight = (1 - p) * p ** (depth - 1.0)
    known = float(weight @ (shared / most))
    later = weight[short:] / most[short:]
    common = len(a_groups)
    least = known + common * _harmonic_rest(p, long)
    highest = known + float(later @ greatest) + _greatest_rest(p, short, long, common)
    # Rounding may leave [0, 1], or the order of the three, by a last digit.
    least = min(least, 1.0)
    highest = max(least, min(highest, 1.0))
    if not short:
        return RBO(math.nan, least, highest)
    extrapolated = known + agreement * float(later @ typical)
    extrapolated += (common + (long - short) * agreement) / long * p**long
    return RBO(max(least, min(extrapolated, highest)), least, highest)


def _shared_content(a: _RankingByDepth, b: _RankingByDepth) -> Floats:
    """At each depth, how much of the shared items counts in both rankings.

    It is the sum over the shared items of the product of the parts that count in the two rankings.
    """

    def count_items(a_from: Ints, b_from: Ints) -> Ints:
        """How many items count at each depth, if each counts from the greater of its two depths on."""
        at = np.bincount(np.maximum(a_from, b_from), minlength=len(a.part) + 2)
        reached: Ints = np.cumsum(at)[1 : len(a.part) + 1]
        return reached

    both = count_items(a.whole, b.whole)
    only_a = count_items(a.whole, b.begun) - both
    only_b = count_items(a.begun, b.whole) - both
    neither = count_items(a.begun, b.begun) - both - only_a - only_b
    parts: Floats = b.part * only_a + a.part * only_b + a.part * b.part * neither
    return both + parts


def _harmonic_rest(p: float, depth: int) -> float:
    """(1 − p) · Σ_{d > depth} p^(d−1) / d: what an item in both lists adds below their ends."""
    d = np.arange(1.0, depth + 1)
    rest = (1 - p) * (-math.log1p(-p) / p - float(np.sum(p ** (d - 1) / d)))
    return float(min(max(rest, 0.0), p**depth / (depth + 1)))


def _greatest_rest(p: float, short: int, long: int, common: int) -> float:
    """The greatest overlap below the ends of both lists.

    Each list goes on with the items that only the other list has. Then both go on with the same items.
    """
    last = long + short - common
    d = np.arange(long + 1.0, last + 1)
    return float(np.sum((1 - p) * p ** (d - 1) * (2 * d - last) / d)) + float(p**last)

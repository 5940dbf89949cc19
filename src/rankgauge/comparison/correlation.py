"""How similar two rankings of the same items are: rank correlations, and how far two measures agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from rankgauge.comparison.overlap import RBO, overlap, parse_groups
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import PERSISTENCE, PERSISTENCES
from rankgauge.core.records import Value
from rankgauge.core.renamed import renamed_parameters
from rankgauge.core.results import Result
from rankgauge.core.rounding import round_values
from rankgauge.core.tables import Table
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores
from rankgauge.scores.parsing import parse_scored

RankingLike: TypeAlias = Mapping[Any, float] | Iterable[Any]
"""Numbers or `{name: number}`, higher is better; or a list of ids and groups of tied ids, best first."""

PAIRWISE_LIMIT = 64
"""Up to this number of items, comparing all pairs is faster than sorting."""


def kendall_tau(x: RankingLike, y: RankingLike) -> float:
    """Compute Kendall's τ (τ-a), the similarity of two rankings of the same items.

        τ = (C − D) / (n·(n − 1)/2)

    n is the number of items, C the number of pairs in the same order in both rankings, and D the number
    of pairs in opposite orders. A pair that is tied in either ranking counts in neither, so ties bring τ
    closer to 0. `kendall_tau_b` corrects for ties.

    The source is Kendall 1938, A new measure of rank correlation.

    Parameters
    ----------
    x, y : dict or sequence
        The two rankings, as scores or as lists of ids. Scores are numbers, or `{name: number}`; higher
        is better. A list has the best id first, and may contain groups of tied ids. Two lists of only
        numbers are scores. Both rankings must have the same items.

    Returns
    -------
    float
        From −1 (one is the other reversed) to 1 (the same order); NaN for fewer than two items.

    Raises
    ------
    RankgaugeError
        If the rankings have different items, or if a score is NaN or no number.

    Examples
    --------
    >>> kendall_tau([0.9, 0.5, 0.4, 0.1], [0.8, 0.3, 0.6, 0.1])
    0.6666666666666666
    >>> kendall_tau(["a", "b", "c", "d"], ["a", "c", "b", "d"])
    0.6666666666666666
    """
    return _RankingPair(*_scores(x, y)).tau


def kendall_tau_b(x: RankingLike, y: RankingLike) -> float:
    """Compute Kendall's τ-b, the similarity of two rankings of the same items, corrected for ties.

    Unlike τ-a, it can still reach −1 and 1 for two rankings with the same ties.

        τ-b = (C − D) / √((N − T_x)·(N − T_y))

    C is the number of pairs of items in the same order in both rankings, D the number of pairs in
    opposite orders, and N the number of all pairs. T_x and T_y are the numbers of pairs that are tied in
    x and in y.

    The source is Kendall 1945, The treatment of ties in ranking problems.

    Parameters
    ----------
    x, y : dict or sequence
        The two rankings, as scores or as lists of ids; `kendall_tau` describes both forms.

    Returns
    -------
    float
        From −1 to 1; NaN if all items of a ranking are tied, and for fewer than two items.

    Raises
    ------
    RankgaugeError
        If the rankings have different items, or if a score is NaN or no number.

    Examples
    --------
    >>> kendall_tau_b(["a", ("b", "c")], ["a", ("b", "c")])
    1.0
    """
    return _RankingPair(*_scores(x, y)).tau_b


def tau_ap(x: RankingLike, y: RankingLike, *, ties: Literal["a", "b"] = "a") -> float:
    """Compute the AP correlation τ_AP of a ranking with a reference: τ with more weight at the top.

        τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1

    n is the number of items. C(i) counts the items above rank i in x that y also ranks above the item at
    rank i.

    The sources are Yilmaz, Aslam and Robertson 2008, A new rank correlation coefficient for information
    retrieval; and Urbano and Marrero 2017, The treatment of ties in AP correlation (there "a" has no
    ties in y).

    Parameters
    ----------
    x : dict or sequence
        The ranking, as scores or as a list of ids; `kendall_tau` describes both forms.
    y : dict or sequence
        The reference, a ranking of the same items. With `ties="a"`, exchanging x and y changes the
        result.
    ties : {"a", "b"}, default "a"
        How ties are treated.

        - "a": the mean over all ways to break the ties, in x and in y. It is 0 if all items are tied.
        - "b": for two rankings of which neither is the reference. Each ranking in turn is x, and the
          result is the mean of the two. Tied items of x share one rank, and only the items above their
          group count as above them. The sum is over the items that are not tied for the first rank. NaN
          if all items of a ranking are tied.

    Returns
    -------
    float
        From −1 (one is the other reversed) to 1 (the same order); NaN for fewer than two items.

    Raises
    ------
    RankgaugeError
        If `ties` is neither "a" nor "b", or if x and y are not rankings of the same items.

    Examples
    --------
    >>> round(tau_ap(["b", "a", "c", "d"], ["a", "b", "c", "d"]), 4)  # a fault at the top
    0.3333
    >>> round(tau_ap(["a", "b", "d", "c"], ["a", "b", "c", "d"]), 4)  # and at the bottom
    0.7778
    """
    if ties not in ("a", "b"):
        raise RankgaugeError(f"ties={ties!r}, expected one of a, b")
    pair = _RankingPair(*_scores(x, y))
    return pair.tau_ap if ties == "a" else pair.tau_ap_b


def spearman(x: RankingLike, y: RankingLike) -> float:
    """Compute Spearman's ρ, the similarity of two rankings of the same items.

    It is the linear correlation of the ranks. Tied items share their mean rank.

    The source is Spearman 1904, The proof and measurement of association between two things.

    Parameters
    ----------
    x, y : dict or sequence
        The two rankings, as scores or as lists of ids; `kendall_tau` describes both forms.

    Returns
    -------
    float
        From −1 to 1; NaN if all items of a ranking are tied, and for fewer than two items.

    Raises
    ------
    RankgaugeError
        If the rankings have different items, or if a score is NaN or no number.

    Examples
    --------
    >>> round(spearman({"bm25": 0.3, "dense": 0.4, "both": 0.5}, {"bm25": 1, "dense": 3, "both": 2}), 4)
    0.5
    """
    return _RankingPair(*_scores(x, y)).spearman


class Concordance(Result, Value):
    """How well two measures agree on the order of systems: the result of `concordance`.

    Attributes
    ----------
    first, second : str
        The names of the two measures. For `tau_ap`, `second` is the reference.
    systems : int
        The number of systems.
    tau, tau_b, tau_ap, spearman : float
        The correlations of the two rankings of the systems, by the functions `kendall_tau`,
        `kendall_tau_b`, `tau_ap` and `spearman`.
    rbo : RBO
        The rank-biased overlap of the two rankings; tied systems share a rank.
    concordant : int
        The number of pairs of systems that both measures put in the same order.
    discordant : int
        The number of pairs of systems that the measures put in opposite orders.
    tied : int
        The number of pairs of systems that at least one measure ties.
    notes : tuple of Note, default ()
        Remarks on the numbers.

    Examples
    --------
    >>> agreement = concordance_of([0.5, 0.4, 0.3], [0.5, 0.1, 0.2])
    >>> agreement.concordant, agreement.discordant, round(agreement.swap_rate, 4)
    (2, 1, 0.3333)
    """

    first: str
    second: str
    systems: int
    tau: float
    tau_b: float
    tau_ap: float
    spearman: float
    rbo: RBO
    concordant: int
    discordant: int
    tied: int
    notes: tuple[Note, ...] = ()

    @property
    def swap_rate(self) -> float:
        """The share of all pairs of systems that the measures put in opposite orders."""
        pairs = self.concordant + self.discordant + self.tied
        return self.discordant / pairs if pairs else math.nan

    def table(self) -> Table:
        """One row with all the numbers."""
        values = vars(self) | {"rbo": self.rbo.ext, "swap_rate": self.swap_rate}
        del values["notes"]
        return Table(tuple(values), (tuple(values.values()),))

    def _title(self) -> str:
        return f"Concordance: {count_phrase(self.systems, 'system')}"


@renamed_parameters(p="persistence")
def concordance(
    scores: Scores,
    first: Scored | Aggregate | str,
    second: Scored | Aggregate | str,
    persistence: float = PERSISTENCE,
) -> Concordance:
    """Compute how closely two measures agree on the order of the runs.

    Runs are ordered by their means. If lower is better for a measure, its order is reversed first. Means
    that differ only by rounding are tied.

    Parameters
    ----------
    scores : Scores
        The scores of the runs by both measures.
    first, second : Measure or str
        The two measures. For `tau_ap`, `second` is the reference.
    persistence : float, default 0.9
        The persistence of the rank-biased overlap, above 0 and below 1; see `rbo`.

    Returns
    -------
    Concordance
        Rank correlations and the rank-biased overlap of the two orders, and how many pairs of runs are
        in the same order.

    Raises
    ------
    RankgaugeError
        If the scores lack one of the measures, if the mean of a run is undefined, or if `persistence` is
        out of range.
    MeasureError
        If neither higher nor lower is better for one of the measures.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q": {"a": 1, "b": 0, "c": 2}}
    >>> runs = {"one": {"q": {"a": 2.0, "c": 1.0}}, "two": {"q": {"c": 2.0, "b": 1.0}}}
    >>> agreement = concordance(evaluate(qrels, runs, ["AP", "nDCG"]), "AP", "nDCG")
    >>> agreement.tau, agreement.swap_rate
    (1.0, 0.0)
    """
    known = {str(measure): measure for measure in scores.measures}
    means = scores.mean()
    vectors = []
    names = [str(parse_scored(measure)) for measure in (first, second)]
    for name in names:
        if name not in known:
            raise RankgaugeError(f"no scores for {name}, expected one of: {', '.join(known)}")
        direction = inner(known[name]).direction
        if direction == "none":
            raise MeasureError(f"{name} cannot rank systems: neither higher nor lower is better")
        vectors.append(np.array([means[run][name] for run in scores.runs], dtype=np.float64))
        if (undefined := np.isnan(vectors[-1])).any():
            run = scores.runs[int(np.argmax(undefined))]
            raise RankgaugeError(
                f"the mean {name} of run {run!r} is undefined, expected a mean for every run"
            )
        if direction == "lower":
            vectors[-1] = -vectors[-1]
    agreement = concordance_of(vectors[0], vectors[1], persistence)
    return replace(agreement, first=names[0], second=names[1])


@renamed_parameters(p="persistence")
def concordance_of(x: RankingLike, y: RankingLike, persistence: float = PERSISTENCE) -> Concordance:
    """Compute how closely two vectors of mean scores agree on the order of systems.

    Means that differ only by rounding are tied: by at most 1e-12 of the greatest. For example, the
    same numbers may have been summed in another order.

    Parameters
    ----------
    x, y : array of float, or dict of str to float
        The mean scores by two measures, with an entry for each system. Higher is better.
        `kendall_tau` describes other ways to give a ranking.
    persistence : float, default 0.9
        The persistence of the rank-biased overlap; see `rbo`.

    Returns
    -------
    Concordance
        Rank correlations and the rank-biased overlap of the two orders, and how many pairs of
        systems are in the same order.

    Examples
    --------
    >>> concordance_of([0.5, 0.1 + 0.2, 0.3], [0.5, 0.4, 0.4]).tied
    1
    """
    pair = _RankingPair(*map(_round_means, _scores(x, y)))
    persistence = check_value("persistence", persistence, PERSISTENCES)
    return Concordance(
        first="x",
        second="y",
        systems=len(pair.x),
        tau=pair.tau,
        tau_b=pair.tau_b,
        tau_ap=pair.tau_ap,
        spearman=pair.spearman,
        rbo=overlap(pair.x_sizes, pair.y_sizes, pair.x, pair.y, persistence, "w"),
        concordant=pair.concordant,
        discordant=pair.discordant,
        tied=pair.pairs - pair.concordant - pair.discordant,
    )


def rank_correlations(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Compute Kendall's τ-a and τ-b and Spearman's ρ of two vectors of scores.

    The values are those of `kendall_tau`, `kendall_tau_b` and `spearman`. Computing all three takes
    as long as computing one.

    Parameters
    ----------
    x, y : array of float
        Scores of the same items, in the same order.

    Returns
    -------
    tau_a, tau_b, rho : float
        The three correlations.

    Examples
    --------
    >>> tau_a, tau_b, rho = rank_correlations(np.array([0.1, 0.2, 0.3]), np.array([1.0, 3.0, 2.0]))
    >>> tau_a, rho
    (0.3333333333333333, 0.5)
    """
    pair = _RankingPair(x, y)
    return pair.tau, pair.tau_b, pair.spearman


def count_swapped_pairs(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> int:
    """Count the pairs of systems that two vectors of mean scores put in opposite orders.

    This is `concordance_of(x, y).discordant`, without the cost of the correlations.

    Parameters
    ----------
    x, y : sequence of float
        The mean scores by two measures, with an entry for each system.

    Returns
    -------
    int
        The number of pairs.

    Examples
    --------
    >>> count_swapped_pairs([0.5, 0.4, 0.3], [0.5, 0.1, 0.2])
    1
    """
    a, b = map(_round_means, _scores(x, y))
    if len(a) > PAIRWISE_LIMIT:
        return _RankingPair(a, b).discordant
    return int(np.count_nonzero((a[:, None] > a) & (b[:, None] < b)))


def swap_rate_of(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float:
    """Compute the share of pairs of systems that two vectors of means put in opposite orders.

    Parameters
    ----------
    x, y : sequence of float
        The mean scores by two measures, with an entry for each system.

    Returns
    -------
    float
        The share of all pairs; NaN for fewer than two systems.

    Examples
    --------
    >>> swap_rate_of([0.5, 0.4, 0.3], [0.5, 0.1, 0.2])
    0.3333333333333333
    """
    pairs = len(x) * (len(x) - 1) // 2
    return count_swapped_pairs(x, y) / pairs if pairs else math.nan


def _round_means(means: Floats) -> Floats:
    return round_values(means, np.max(np.abs(means[np.isfinite(means)]), initial=0.0))


def _scores(x: RankingLike, y: RankingLike) -> tuple[Floats, Floats]:
    """Two rankings as scores of the same items, in the same order."""
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        names = _same_items(x, y)
        a, b = (_numbers([ranked[name] for name in names]) for ranked in (x, y))
        return _check_scores("x", a, names), _check_scores("y", b, names)
    x, y = _as_list(x), _as_list(y)
    a, b = _numbers(x), _numbers(y)
    if a is None or b is None:
        x_groups, y_groups = parse_groups("x", x).group_of, parse_groups("y", y).group_of
        names = _same_items(x_groups, y_groups)
        a, b = (
            -np.array([groups[name] for name in names], dtype=np.float64)
            for groups in (x_groups, y_groups)
        )
    if len(a) != len(b):
        raise RankgaugeError(
            f"x has {len(a)} scores and y {len(b)}, expected scores of the same items"
        )
    return _check_scores("x", a), _check_scores("y", b)


def _as_list(ranked: RankingLike) -> RankingLike:
    """A list of what can be read only once or has no places, such as an iterator."""
    refused = isinstance(ranked, Mapping | set | frozenset | str | bytes)
    if refused or hasattr(ranked, "__array__") or not isinstance(ranked, Iterable):
        return ranked
    return list(ranked)


def _check_scores(name: str, scores: Floats | None, items: Sequence[Any] = ()) -> Floats:
    if scores is None:
        raise RankgaugeError(f"some scores of {name} are not numbers, expected numbers")
    if (undefined := np.isnan(scores)).any():
        at = int(np.argmax(undefined))
        where = f"for {items[at]!r}" if items else f"at position {at}"
        raise RankgaugeError(f"{name} has NaN {where}, expected a number for every item")
    return scores


def _numbers(values: Any) -> Floats | None:
    """A vector of numbers, or None for anything else."""
    try:
        array = np.asarray(values)
    except ValueError:  # groups of different sizes
        return None
    return array.astype(np.float64) if array.ndim == 1 and array.dtype.kind in "iuf" else None


def _same_items(x: Mapping[Any, Any], y: Mapping[Any, Any]) -> list[Any]:
    for letter, other, one, two in (("x", "y", x, y), ("y", "x", y, x)):
        for name in one:
            if name not in two:
                raise RankgaugeError(
                    f"{name!r} is in {letter} and not in {other}, expected the same items in both"
                )
    return list(x)


class _RankingPair:
    """Two rankings of the same items.

    For each ranking it has the group of each item, 0 for the best, and the sizes of the groups.
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        _, self.x, self.x_sizes = np.unique(-x, return_inverse=True, return_counts=True)
        _, self.y, self.y_sizes = np.unique(-y, return_inverse=True, return_counts=True)
        self.pairs = len(x) * (len(x) - 1) // 2

    @cached_property
    def above(self) -> Ints:
        """For each item, how many items are above it in both rankings."""
        order = np.lexsort((-self.y, self.x))
        above = np.empty(len(order), dtype=np.int64)
        above[order] = count_smaller_before(self.y[order])
        return above

    @cached_property
    def concordant(self) -> int:
        return int(self.above.sum())

    @cached_property
    def discordant(self) -> int:
        _, both = np.unique(self.x * len(self.x) + self.y, return_counts=True)
        tied = _pairs_within(self.x_sizes) + _pairs_within(self.y_sizes) - _pairs_within(both)
        return self.pairs - tied - self.concordant

    @property
    def tau(self) -> float:
        return (self.concordant - self.discordant) / self.pairs if self.pairs else math.nan

    @property
    def tau_b(self) -> float:
        untied = [self.pairs - _pairs_within(sizes) for sizes in (self.x_sizes, self.y_sizes)]
        # One root of the product, so that equal rankings have 1 exactly.
        norm = math.sqrt(untied[0] * untied[1])
        return (self.concordant - self.discordant) / norm if norm else math.nan

    @property
    def tau_ap(self) -> float:
        n = len(self.x)
        if n < 2:
            return math.nan
        # Items above in x and tied in y: those of the same group of y with a better group of x.
        cells = np.sort(self.y * n + self.x)
        tied = np.searchsorted(cells, self.y * n + self.x) - np.searchsorted(cells, self.y * n)
        sums = np.bincount(self.x, weights=self.above + tied / 2)
        # At a rank stands any item of the tie, with half of those of the tie that stand above it.
        expected = np.repeat(sums / self.x_sizes, self.x_sizes)
        begin = np.repeat(np.cumsum(self.x_sizes) - self.x_sizes, self.x_sizes)
        before = np.arange(1, n)
        right = (expected[1:] + (before - begin[1:]) / 2) / before
        return float(2 * np.mean(right) - 1)

    @property
    def tau_ap_b(self) -> float:
        turns = []
        for groups, sizes in ((self.x, self.x_sizes), (self.y, self.y_sizes)):
            if len(sizes) < 2:
                return math.nan
            begin = (np.cumsum(sizes) - sizes)[groups]
            lower = begin > 0
            turns.append(float(2 * np.mean(self.above[lower] / begin[lower]) - 1))
        return (turns[0] + turns[1]) / 2

    @property
    def spearman(self) -> float:
        ranks = []
        for groups, sizes in ((self.x, self.x_sizes), (self.y, self.y_sizes)):
            if len(sizes) < 2:
                return math.nan
            # Twice the mean rank, from the middle of all: whole numbers.
            ranks.append((2 * np.cumsum(sizes) - sizes - len(groups))[groups].astype(np.float64))
        a, b = ranks
        rho = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
        return max(-1.0, min(rho, 1.0))


def _pairs_within(sizes: Ints) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def count_smaller_before(keys: Ints) -> Ints:
    """For each entry, how many entries before it are smaller; in n log n steps.

    The positions are sorted by key once. Then blocks of positions are halved, level by level. At each
    level, an entry in the right half of a block counts the entries in the left half that come before it
    in the order by key.
    """
    n = len(keys)
    counts = np.zeros(n, dtype=np.int64)
    position = np.lexsort((-np.arange(n), keys))  # of equal keys the later first: not counted
    for level in reversed(range(max(n - 1, 0).bit_length())):
        block = position >> (level + 1)
        right = (position >> level) & 1
        # All blocks but the last are full: each has 2^level entries in either half.
        before = np.cumsum(right) - (block << level)
        left = np.arange(1, n + 1) - (block << (level + 1)) - before
        counts[position] += right * left
        place = (block << (level + 1)) + np.where(right == 1, (1 << level) + before, left) - 1
        halves = np.empty_like(position)
        halves[place] = position
        position = halves
    return counts

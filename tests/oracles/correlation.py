"""Rank correlations and rank-biased overlap, straight from their definitions, pair by pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

Scores = Sequence[float]
Groups = Sequence[Sequence[str]]


# Rank correlations of two vectors of scores


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


def pair_signs(x: Scores, y: Scores) -> list[tuple[int, int]]:
    return [
        (sign(x[i] - x[j]), sign(y[i] - y[j])) for i, j in itertools.combinations(range(len(x)), 2)
    ]


def concordant(x: Scores, y: Scores) -> int:
    return sum(1 for a, b in pair_signs(x, y) if a * b > 0)


def discordant(x: Scores, y: Scores) -> int:
    return sum(1 for a, b in pair_signs(x, y) if a * b < 0)


def tau_a(x: Scores, y: Scores) -> float:
    signs = pair_signs(x, y)
    return sum(a * b for a, b in signs) / len(signs) if signs else math.nan


def tau_b(x: Scores, y: Scores) -> float:
    """The cosine of the signs."""
    signs = pair_signs(x, y)
    norm = math.sqrt(sum(a * a for a, _ in signs) * sum(b * b for _, b in signs))
    return sum(a * b for a, b in signs) / norm if norm else math.nan


def orders(scores: Scores) -> Iterator[list[int]]:
    """All rankings, best first, that the scores allow."""
    groups = [[i for i, s in enumerate(scores) if s == value] for value in set(scores)]
    groups.sort(key=lambda group: -scores[group[0]])
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield [i for part in parts for i in part]


def tau_ap_of_orders(ranking: Sequence[int], reference: Sequence[int]) -> float:
    """Two rankings of the same items, without ties."""
    n = len(ranking)
    total = 0.0
    for i in range(1, n):
        at = reference.index(ranking[i])
        total += sum(1 for other in ranking[:i] if reference.index(other) < at) / i
    return 2 / (n - 1) * total - 1


def tau_ap_a(x: Scores, y: Scores) -> float:
    """The mean over all ways to break the ties."""
    values = [tau_ap_of_orders(a, b) for a in orders(x) for b in orders(y)]
    return sum(values) / len(values)


def tau_ap_b(x: Scores, y: Scores) -> float:
    return (one_turn(x, y) + one_turn(y, x)) / 2


def one_turn(x: Scores, y: Scores) -> float:
    """Equation for ties in both, with the ranks of x: the mean over the items not tied for the first."""
    shares = []
    for i in range(len(x)):
        above = [j for j in range(len(x)) if x[j] > x[i]]
        if above:
            shares.append(sum(1 for j in above if y[j] > y[i]) / len(above))
    return 2 * sum(shares) / len(shares) - 1 if shares else math.nan


def mean_rank(scores: Scores, i: int) -> float:
    higher = sum(1 for s in scores if s > scores[i])
    same = sum(1 for s in scores if s == scores[i])
    return higher + (same + 1) / 2


def rho(x: Scores, y: Scores) -> float:
    n = len(x)
    a, b = ([mean_rank(scores, i) - (n + 1) / 2 for i in range(n)] for scores in (x, y))
    norm = math.sqrt(sum(v * v for v in a) * sum(v * v for v in b))
    return sum(v * w for v, w in zip(a, b, strict=True)) / norm if norm else math.nan


# Rank-biased overlap of two lists of groups


def part(groups: Groups, item: str, depth: int, ties: str) -> float:
    """How much of an item counts at a depth: of a tie, the share of its orders that have it there."""
    begin = 0
    for group in groups:
        if item in group:
            if ties == "w":
                return float(begin < depth)
            return min(max(depth - begin, 0) / len(group), 1.0)
        begin += len(group)
    return 0.0


def agreement(a: Groups, b: Groups, depth: int, ties: str) -> float:
    items = {item for group in (*a, *b) for item in group}
    parts = [(part(a, item, depth, ties), part(b, item, depth, ties)) for item in items]
    common = sum(x * y for x, y in parts)
    if ties == "a":
        return common / depth
    if ties == "w":
        return 2 * common / sum(x + y for x, y in parts)
    norm = math.sqrt(sum(x * x for x, _ in parts) * sum(y * y for _, y in parts))
    return common / norm


def summed(a: Groups, b: Groups, p: float, ties: str, depth: int) -> float:
    """Lists that go on to `depth`, and from there on as they were at it."""
    values = [agreement(a, b, d, ties) for d in range(1, depth + 1)]
    return (1 - p) * sum(p ** (d - 1) * v for d, v in enumerate(values, 1)) + p**depth * values[-1]


def items_of(groups: Groups) -> list[str]:
    return [item for group in groups for item in group]


def rbo_min(a: Groups, b: Groups, p: float, ties: str, depth: int) -> float:
    """Both go on with items that are nowhere else; what is below `depth` is left out."""
    more_a = [[f"a{i}"] for i in range(depth - len(items_of(a)))]
    more_b = [[f"b{i}"] for i in range(depth - len(items_of(b)))]
    return summed([*a, *more_a], [*b, *more_b], p, ties, depth)


def rbo_max(a: Groups, b: Groups, p: float, ties: str, depth: int) -> float:
    """Each goes on with what the other has and it has not, in that order; then both with the same."""
    lists = [list(a), list(b)]
    for d in range(1, depth + 1):
        old = [items_of(groups) for groups in lists]
        for mine, other in ((0, 1), (1, 0)):
            if len(old[mine]) < d:
                lacking = [item for item in old[other] if item not in old[mine]]
                lists[mine].append([lacking[0] if lacking else f"same{d}"])
    return summed(lists[0], lists[1], p, ties, depth)


def rbo_ext(a: Groups, b: Groups, p: float, ties: str) -> float:
    """The agreement at the end of the shorter list is that of its unseen items, each of which counts
    as the items that only the longer list has do on average."""
    short, long = sorted((a, b), key=lambda groups: len(items_of(groups)))
    s, n = len(items_of(short)), len(items_of(long))
    seen = agreement(short, long, s, ties)
    alone = [item for item in items_of(long) if item not in items_of(short)]
    total = 0.0
    value = seen
    for d in range(1, n + 1):
        more = [[f"unseen{i}"] for i in range(n - s)]
        value = agreement([*short, *more], long, d, ties)
        if d > s:
            parts = [part(long, item, d, ties) for item in alone]
            parts = [v for v in parts if v]
            mine, other = [
                [part(groups, item, d, ties) for item in items_of(groups)]
                for groups in ([*short, *more], long)
            ]
            most = {
                "w": (sum(mine) + sum(other)) / 2,
                "a": float(d),
                "b": math.sqrt(sum(v * v for v in mine) * sum(v * v for v in other)),
            }[ties]
            value += (d - s) * seen * sum(parts) / len(parts) / most
        total += (1 - p) * p ** (d - 1) * value
    common = len(set(items_of(short)) & set(items_of(long)))
    return total + p**n * (common + (n - s) * seen) / n

"""Methods that make one score of a document from its scores, or ranks, in several runs.

Each method declares what it takes: scores or ranks, weights or none, and its parameters. The formulas
are those of ranx (Bassani and Romelli 2022, ranx.fuse: A Python Library for Metasearch), except where a
docstring says otherwise. In them s is a normalized score, r a rank from 1, w the weight of a run, h the
number of lists that hold the document, and a sum Σ goes over the lists that take part.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import Kind, Number, check_value, one_of
from rankgauge.core.policies import PERSISTENCE, PERSISTENCES, RRF_K
from rankgauge.core.records import Record
from rankgauge.core.registry import Registry
from rankgauge.errors import RankgaugeError

MOST_COMPARED = 20_000
"""Maximum number of documents per query that are compared pairwise."""

BLOCK = 1 << 18
"""Number of pairs of documents compared at a time."""


Takes: TypeAlias = Literal["scores", "ranks"]
"""The input of a method."""


class Entries(Record):
    """What a method combines: arrays of rows × runs, a row for each document of a query.

    `values` are normalized scores, NaN where the list takes no part. `held` says which lists hold the
    document. `ranks` are from 1, and 0 where the list lacks the document. Query t owns the rows
    bounds[t]:bounds[t + 1]. `weights` has a weight for each run.
    """

    values: Floats
    held: Bools
    ranks: Ints
    bounds: Ints
    weights: Floats

    @property
    def count(self) -> Ints:
        """h: how many lists hold each document."""
        count: Ints = np.count_nonzero(self.held, axis=1)
        return count


class FusionParameter(Record):
    """A parameter of a method: its kind, its default and what it means."""

    name: str
    kind: Kind
    default: float
    meaning: str


class FusionMethod(Record):
    """A method: what it takes, and `combine`, which makes one score a document from the entries."""

    name: str
    takes: Takes
    formula: str
    summary: str
    source: str
    combine: Callable[..., Floats]
    weighted: bool = False
    parameters: tuple[FusionParameter, ...] = ()


def row_sum(terms: Floats) -> Floats:
    """The sum of each row, without NaN. It does not depend on the order of the columns.

    >>> row_sum(np.array([[0.5, np.nan, 0.25], [0.1, 0.2, 0.3]])).tolist()
    [0.75, 0.6000000000000001]
    """
    terms = np.where(np.isnan(terms), 0.0, terms)
    if terms.shape[1] > 2:
        terms = np.sort(terms, axis=1)
    total: Floats = terms[:, 0].copy()
    for column in terms.T[1:]:
        total += column
    return total


def _mask_absent(lists: Entries, score: Floats) -> Floats:
    """A score of each rank, NaN where the list lacks the document."""
    return np.where(lists.held, score, np.nan)


def _inverse_squares(lists: Entries) -> Floats:
    return row_sum(_mask_absent(lists, 1 / np.maximum(lists.ranks, 1).astype(np.float64) ** 2))


METHODS: Registry[FusionMethod] = Registry(
    "fusion method", groups=("rankgauge.fusion",), maker=lambda method: method.combine
)
"""All methods by name, the most widely used first."""

Combine = TypeVar("Combine", bound=Callable[..., Floats])


def register(
    name: str,
    takes: Takes,
    formula: str,
    summary: str,
    source: str,
    *,
    weighted: bool = False,
    parameters: tuple[FusionParameter, ...] = (),
) -> Callable[[Combine], Combine]:
    """A decorator that registers a function: `combine` of a `FusionMethod` with these fields."""

    def decorate(combine: Combine) -> Combine:
        _check_method(name, takes, combine, parameters)
        METHODS.register(
            FusionMethod(name, takes, formula, summary, source, combine, weighted, parameters)
        )
        return combine

    return decorate


def _check_method(
    name: str, takes: str, combine: Callable[..., Floats], parameters: tuple[FusionParameter, ...]
) -> None:
    check_value("takes", takes, one_of(Takes))
    defaults = {each.name: check_value(each.name, each.default, each.kind) for each in parameters}
    try:
        signature(combine).bind(None, **defaults)
    except TypeError as error:
        wanted = ", ".join(["lists", *defaults])
        raise RankgaugeError(
            f"the function of method {name!r} must accept {wanted}: {error}"
        ) from None


_COMB = "Fox and Shaw 1993, Combination of Multiple Searches"
_LEE = "Lee 1997, Analyses of Multiple Evidence Combination"
_ISR = "Mourão et al. 2015, Multimodal Medical Information Retrieval with Unsupervised Rank Fusion"
_MODELS = "Aslam and Montague 2001, Models for Metasearch"
_WU = "Wu and Crestani 2002, Data Fusion with Estimated Weights"


@register(
    "wsum",
    "scores",
    "Σ w s",
    "Weighted sum. The usual choice for two retrievers, once the weight is tuned.",
    "Vogt and Cottrell 1999, Fusion Via a Linear Combination of Scores",
    weighted=True,
)
def _wsum(lists: Entries) -> Floats:
    return row_sum(lists.values * lists.weights)


@register(
    "rrf",
    "ranks",
    "Σ w / (k + r)",
    "Reciprocal rank fusion. The usual choice when nothing can be tuned.",
    "Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion Outperforms Condorcet and "
    "Individual Rank Learning Methods",
    weighted=True,
    parameters=(
        FusionParameter(
            "k", Number(0), float(RRF_K), "the larger k is, the less the top ranks stand out."
        ),
    ),
)
def _rrf(lists: Entries, k: float) -> Floats:
    return row_sum(_mask_absent(lists, lists.weights / (k + np.maximum(lists.ranks, 1))))


@register("sum", "scores", "Σ s", "Sum of the scores (CombSUM).", _COMB)
def _sum(lists: Entries) -> Floats:
    return row_sum(lists.values)


@register(
    "mnz",
    "scores",
    "h Σ s",
    "Sum, multiplied by the number of lists that contain the document (CombMNZ).",
    _COMB,
)
def _mnz(lists: Entries) -> Floats:
    return row_sum(lists.values) * lists.count


@register(
    "gmnz",
    "scores",
    "h^gamma Σ s",
    "Like mnz, with a power of that number: gamma 0 gives sum, 1 gives mnz (CombGMNZ).",
    _LEE,
    parameters=(
        FusionParameter("gamma", Number(-np.inf), 1.0, "the weight of being in several lists."),
    ),
)
def _gmnz(lists: Entries, gamma: float) -> Floats:
    return row_sum(lists.values) * lists.count.astype(np.float64) ** gamma


@register(
    "anz",
    "scores",
    "Σ s / h",
    "Sum, divided by the number of lists that contain the document (CombANZ).",
    _COMB,
)
def _anz(lists: Entries) -> Floats:
    return row_sum(lists.values) / lists.count


@register("min", "scores", "min s", "The lowest score (CombMIN).", _COMB)
def _min(lists: Entries) -> Floats:
    lowest: Floats = np.fmin.reduce(lists.values, axis=1)
    return lowest


@register("max", "scores", "max s", "The highest score (CombMAX).", _COMB)
def _max(lists: Entries) -> Floats:
    highest: Floats = np.fmax.reduce(lists.values, axis=1)
    return highest


@register("med", "scores", "median s", "The median score (CombMED).", _COMB)
def _median(lists: Entries) -> Floats:
    ordered = np.sort(lists.values, axis=1)  # NaN last
    count = np.count_nonzero(~np.isnan(ordered), axis=1)
    rows = np.arange(len(ordered))
    middle: Floats = (ordered[rows, (count - 1) // 2] + ordered[rows, count // 2]) / 2
    return middle


@register(
    "wmnz",
    "scores",
    "(Σ s) (Σ w over the lists that contain it)",
    "Sum, multiplied by the total weight of the lists that contain the document.",
    _WU,
    weighted=True,
)
def _wmnz(lists: Entries) -> Floats:
    held_weights = row_sum(np.where(lists.held, lists.weights, 0.0))
    return row_sum(lists.values) * held_weights


@register(
    "mixed",
    "scores",
    "√h Σ w s",
    "Weighted sum, multiplied by the square root of the number of lists that contain the document.",
    _WU,
    weighted=True,
)
def _mixed(lists: Entries) -> Floats:
    return row_sum(lists.values * lists.weights) * np.sqrt(lists.count)


@register("isr", "ranks", "h Σ 1/r²", "Inverse square rank: the first ranks dominate.", _ISR)
def _isr(lists: Entries) -> Floats:
    return lists.count * _inverse_squares(lists)


@register(
    "log_isr",
    "ranks",
    "ln(h) Σ 1/r²",
    "Like isr, with the logarithm of h: documents in only one list get 0.",
    _ISR,
)
def _log_isr(lists: Entries) -> Floats:
    return np.log(lists.count) * _inverse_squares(lists)


@register(
    "logn_isr",
    "ranks",
    "ln(h + sigma) Σ 1/r²",
    "Like log_isr, but documents in only one list get a small score.",
    _ISR,
    parameters=(
        FusionParameter("sigma", Number(0, 1), 0.01, "the weight of being in only one list."),
    ),
)
def _logn_isr(lists: Entries, sigma: float) -> Floats:
    factor: Floats = np.log(lists.count + sigma)
    return factor * _inverse_squares(lists)


@register(
    "rbc",
    "ranks",
    "Σ (1 − p) p^(r − 1)",
    "Rank-biased centroid: a user continues from each rank to the next with probability p.",
    "Bailey, Moffat, Scholer and Thomas 2017, Retrieval Consistency in the Presence of Query "
    "Variations",
    parameters=(
        FusionParameter(
            "persistence", PERSISTENCES, PERSISTENCE, "the larger it is, the more deep ranks count."
        ),
    ),
)
def _rbc(lists: Entries, persistence: float) -> Floats:
    ranks = np.maximum(lists.ranks, 1)
    return row_sum(_mask_absent(lists, (1 - persistence) * persistence ** (ranks - 1.0)))


@register(
    "borda",
    "ranks",
    "Σ w (N − r + 1); absent: w (N − n + 1) / 2",
    "Voting: a list of n of the query's N documents gives N points to its first document, N − 1 "
    "to the next, and divides the remaining points among the documents missing from it.",
    _MODELS,
    weighted=True,
)
def _borda(lists: Entries) -> Floats:
    sizes = np.diff(lists.bounds)
    lengths = np.add.reduceat(lists.held, lists.bounds[:-1], axis=0, dtype=np.int64)
    size = np.repeat(sizes, sizes)[:, np.newaxis]
    left = (size - np.repeat(lengths, sizes, axis=0) + 1) / 2
    return row_sum(lists.weights * np.where(lists.held, size - (lists.ranks - 1.0), left))


@register(
    "condorcet",
    "ranks",
    "1 + documents it beats + half of those it ties with",
    "Majority voting: a document beats another if lists with more total weight rank it higher.",
    "Montague and Aslam 2002, Condorcet Fusion for Improved Retrieval; Copeland 1951",
    weighted=True,
)
def _condorcet(lists: Entries) -> Floats:
    """Copeland's rule: 1 + documents it beats + half of the documents it ties with.

    A list votes for the document that it ranks higher; a document that it lacks is below those it
    has. A list that lacks both has no vote. Where the majority puts all documents into one order,
    these are ranx's scores: N for the first down to 1.

    ranx sorts with a comparison that is no order, from a start in no fixed order: where there are
    cycles or equal votes, as always with two runs, its result differs from call to call. And it
    counts a list that lacks both documents as a vote for one of them.
    """
    scores = np.empty(len(lists.held))
    weights = lists.weights / lists.weights.max()
    slack = 1e-12 * weights.sum()  # votes that are equal but for rounding
    for start, end in zip(lists.bounds[:-1].tolist(), lists.bounds[1:].tolist(), strict=True):
        size = end - start
        if size > MOST_COMPARED:
            raise RankgaugeError(
                "method='condorcet' compares all pairs of documents of a query, and one "
                f"query has {size:,} documents, expected at most {MOST_COMPARED:,}; truncate the "
                "runs, or use borda or rrf"
            )
        held, ranks = lists.held[start:end].T, lists.ranks[start:end].T
        places = np.where(held, ranks, size + 1).astype(np.float32, order="C")
        step = max(1, BLOCK // size)
        for first in range(0, size, step):
            last = min(first + step, size)
            margin = np.zeros((last - first, size))
            for weight, place in zip(weights, places, strict=True):
                margin += weight * np.sign(place - place[first:last, np.newaxis])
            wins = np.count_nonzero(margin > slack, axis=1)
            losses = np.count_nonzero(margin < -slack, axis=1)
            scores[start + first : start + last] = (size + 1 + wins - losses) / 2
    return scores


def parameter_values(method: FusionMethod, parameters: dict[str, Any]) -> dict[str, float]:
    """The parameters of a method in their canonical form, with its defaults for those not given."""
    names = [each.name for each in method.parameters]
    for name in parameters:
        if name not in names:
            takers = [m.name for m in METHODS.values() if name in [p.name for p in m.parameters]]
            hint = f"; {name} is a parameter of {', '.join(takers)}" if takers else ""
            takes = ", ".join(names) or "no parameter"
            raise RankgaugeError(
                f"method={method.name!r} has no parameter {name!r}; it accepts {takes}{hint}"
            )
    return {
        each.name: check_value(each.name, parameters.get(each.name, each.default), each.kind)
        for each in method.parameters
    }

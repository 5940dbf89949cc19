"""What a plane is made from: a triple of numbers for each document, every number taken exactly."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import lcm
from numbers import Rational
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Ints, Labels
from rankgauge.core.checks import Integer, check_value
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.data.model import Ids
from rankgauge.errors import RankgaugeError
from rankgauge.rankings.lists import offsets_of
from rankgauge.space.inputs import draw_jitter

Real: TypeAlias = Rational | float
"""An integer, a fraction, or a float, which is also a fraction."""
Triple: TypeAlias = tuple[Fraction, ...]


class PlaneDocuments(Record):
    """Documents (c, u, v) in whole numbers, query by query.

    Those of a query are multiplied by one factor, which moves no line. `rows` says at which place each
    document was given.
    """

    triples: tuple[tuple[int, int, int], ...]
    labels: Labels
    offsets: Ints
    queries: tuple[Hashable, ...]
    rows: tuple[int, ...]


def plane_documents(
    documents: Sequence[Sequence[Real]] | Features,
    labels: ArrayLike | None,
    queries: Sequence[Hashable] | None,
    columns: tuple[int, int, int],
    decimals: int | None,
    jitter: float | None,
    seed: int,
) -> PlaneDocuments:
    """The documents that `plane` is given, checked."""
    if isinstance(documents, Features):
        if labels is not None or queries is not None:
            raise RankgaugeError(
                "features include their own labels and queries; omit the "
                "arguments labels and queries"
            )
        check_value("decimals", decimals, Integer(0, 15), optional=True)
        triples = _triples_from_features(documents, columns, decimals)
        labels = documents.labels
        sizes = np.diff(documents.bounds).tolist()
        names = zip(documents.queries.texts(), sizes, strict=True)
        queries = [query for query, size in names for _ in range(size)]
    elif labels is None:
        raise RankgaugeError("labels are missing, expected one per document")
    else:
        triples = [_triple(row, document) for row, document in enumerate(documents)]
    if not triples:
        raise RankgaugeError("no documents, expected at least one")
    kinds = _labels(labels, len(triples))
    rows, own, offsets = _group_by_query(len(triples), queries)
    ordered = [triples[row] for row in rows]
    if jitter is not None:
        ids = Ids.of("1" if query is None else str(query) for query in own)
        added = draw_jitter(ids, offsets, jitter, seed).tolist()
        ordered = [
            (c + Fraction(more), u, v) for (c, u, v), more in zip(ordered, added, strict=True)
        ]
    return PlaneDocuments(
        _scale_to_integers(ordered, offsets),
        kinds[rows].astype(np.int32),
        offsets,
        own,
        tuple(rows),
    )


def exact_fraction(number: Real) -> Fraction:
    """A number as a fraction; RankgaugeError for anything that is none.

    >>> exact_fraction(0.5), exact_fraction(np.float32(0.25)), exact_fraction(True)
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 1))
    """
    if isinstance(number, np.integer | np.bool_):  # before Rational, which NumPy's integers are too
        return Fraction(int(number))
    if isinstance(number, Rational):
        return Fraction(number)
    if isinstance(number, float | np.floating) and np.isfinite(number):
        return Fraction(float(number))
    raise RankgaugeError(f"{number!r} is invalid, expected a finite number")


def _triple(row: int, document: Sequence[Real]) -> Triple:
    numbers = tuple(document)
    if len(numbers) != 3:
        raise RankgaugeError(f"document {row}: {numbers}, expected three numbers (c, u, v)")
    try:
        return tuple(exact_fraction(number) for number in numbers)
    except RankgaugeError as error:
        raise RankgaugeError(f"document {row}: {error}") from None


def _labels(labels: ArrayLike, count: int) -> Ints:
    kinds = np.asarray(labels)
    if kinds.shape != (count,):
        raise RankgaugeError(
            f"labels: {kinds.size} for {count_phrase(count, 'document')}, expected one per document"
        )
    if kinds.dtype != np.bool_ and not np.issubdtype(kinds.dtype, np.integer):
        raise RankgaugeError(f"labels of type {kinds.dtype}, expected whole numbers")
    return kinds.astype(np.int64)


def _triples_from_features(
    features: Features, columns: tuple[int, int, int], decimals: int | None
) -> list[Triple]:
    """Three columns of features, exactly, or rounded to decimals."""
    width = features.values.shape[1]
    if len(columns) != 3 or not all(1 <= column <= width for column in columns):
        raise RankgaugeError(f"columns={columns}, expected three numbers from 1 to {width}")
    values = features.values[:, [column - 1 for column in columns]].astype(np.float64)
    if decimals is None:
        return [_triple(row, document) for row, document in enumerate(values.tolist())]
    scaled = np.rint(values * 10.0**decimals)
    if not (np.abs(scaled) < 2.0**62).all():
        raise RankgaugeError(
            f"a value with {decimals} decimals exceeds 62 bits, or is not finite; use fewer "
            "decimals, or scale the features"
        )
    unit = 10**decimals
    return [tuple(Fraction(n, unit) for n in row) for row in scaled.astype(np.int64).tolist()]


def _group_by_query(
    count: int, queries: Sequence[Hashable] | None
) -> tuple[list[int], tuple[Hashable, ...], Ints]:
    """The rows query by query, the queries in the order of their first document, and the offsets."""
    given = [None] * count if queries is None else list(queries)
    if len(given) != count:
        raise RankgaugeError(
            f"queries: {len(given)} for {count_phrase(count, 'document')}, expected one per "
            "document"
        )
    rows: dict[Hashable, list[int]] = {}
    for row, query in enumerate(given):
        rows.setdefault(query, []).append(row)
    order = [row for own in rows.values() for row in own]
    return order, tuple(rows), offsets_of(np.array([len(own) for own in rows.values()]))


def _scale_to_integers(triples: list[Triple], offsets: Ints) -> tuple[tuple[int, int, int], ...]:
    """The documents in whole numbers: those of a query times one factor, which moves no line."""
    whole: list[tuple[int, int, int]] = []
    for low, high in itertools.pairwise(offsets.tolist()):
        own = triples[low:high]
        factor = lcm(*(number.denominator for triple in own for number in triple))
        for triple in own:
            c, u, v = (number.numerator * (factor // number.denominator) for number in triple)
            whole.append((c, u, v))
    return tuple(whole)

"""The errors of forecasts for tracks and queries that were left out of the training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, cast

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.models import Average
from rankgauge.forecast.stacked import StackedRows

MOST_ERRORS = 2_000
"""Maximum number of errors kept for intervals."""

PartLeftOut: TypeAlias = Literal["tracks", "queries"]
"""What is held out to measure errors: whole tracks of a kind, or queries of its only track."""


class KindErrors(Record):
    """The errors on the tracks of one kind of collection.

    `queries` is the number of its queries, and `left_out` says what was left out of the training.
    `by_mass` has errors from small to large, each with the mass of queries up to it.
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries"}

    kind: str
    queries: int
    left_out: PartLeftOut
    by_mass: tuple[tuple[float, float], ...]

    def half_width(self, level: float) -> float:
        """The error that `level` of the queries' mass does not exceed.

        It is infinite where there are too few queries for this level.
        """
        return next((error for error, mass in self.by_mass if mass >= level - 1e-12), math.inf)

    @property
    def highest_level(self) -> float:
        """The highest level that the number of queries allows."""
        return self.by_mass[-1][1] if self.by_mass else 0.0


def kind_errors_of(content: Any) -> KindErrors:
    """The errors that JSON kept; RankgaugeError where they are none."""
    if isinstance(content, dict) and "topics" in content:  # files of earlier versions
        content = {"queries" if name == "topics" else name: content[name] for name in content}
        if content.get("left_out") == "topics":
            content["left_out"] = "queries"
    names = {"kind", "queries", "left_out", "by_mass"}
    if not isinstance(content, dict) or set(content) != names:
        raise RankgaugeError("errors without kind, queries, left_out and by_mass")
    check_value("queries", content["queries"], Integer(1))
    check_value("left_out", content["left_out"], one_of(PartLeftOut))
    pairs = tuple((float(error), float(mass)) for error, mass in content["by_mass"])
    if not np.isfinite(np.array(pairs)).all() or list(pairs) != sorted(pairs):
        raise RankgaugeError("errors out of order")
    left_out = cast(PartLeftOut, content["left_out"])
    return KindErrors(str(content["kind"]), content["queries"], left_out, pairs)


def errors_by_kind(
    rows: StackedRows, kinds: Sequence[str], seed: int, fit: Callable[[StackedRows], Average]
) -> dict[str, KindErrors]:
    """The errors for each kind; the parameters are those of `held_out_errors`."""
    errors = held_out_errors(rows, kinds, seed, fit)
    whole = tracks_to_leave_out(rows, kinds)
    only_topics = {kind for number, kind in enumerate(kinds) if number not in whole}
    by_row = np.array(kinds)[rows.track]
    by_kind = {}
    for kind in dict.fromkeys(kinds):
        own = by_row == kind
        known = own.any() and np.isfinite(errors[own]).all()
        by_kind[kind] = KindErrors(
            kind,
            len(np.unique(rows.group[own])),
            "queries" if kind in only_topics else "tracks",
            errors_by_mass(errors[own], rows.group[own]) if known else (),
        )
    return by_kind


def held_out_errors(
    rows: StackedRows, kinds: Sequence[str], seed: int, fit: Callable[[StackedRows], Average]
) -> Floats:
    """The error of each row when it was left out of the training; NaN if nothing was left to learn from.

    A track is left out whole, with its queries, if there are others of its kind to learn from: runs and
    pools differ between tracks, not only queries. Otherwise some of its queries are left out; the seed
    fixes which ones together. `kinds` has the kind of each track, and `fit` learns from rows.
    """
    errors = np.full(len(rows.target), np.nan)

    def leave_out(inside: Bools, learned: Bools) -> None:
        forecasts = fit(rows.take(learned)).predict(rows.features[inside])
        errors[inside] = np.abs(rows.target[inside] - forecasts)

    for number in tracks_to_leave_out(rows, kinds):
        inside = rows.track == number
        leave_out(inside, ~rows.with_topics_of(inside))
    rest, folds = np.isnan(errors), rows.folds(seed)
    for fold in np.unique(folds[rest]):
        if (folds != fold).any():
            leave_out(rest & (folds == fold), folds != fold)
    return errors


def tracks_to_leave_out(rows: StackedRows, kinds: Sequence[str]) -> list[int]:
    """The tracks that can be left out whole: another track of their kind has other queries."""
    by_row = np.array(kinds)[rows.track]
    return [
        number
        for number in np.unique(rows.track).tolist()
        if (~rows.with_topics_of(rows.track == number) & (by_row == kinds[number])).any()
    ]


def errors_by_mass(errors: Floats, groups: Ints) -> tuple[tuple[float, float], ...]:
    """Errors from small to large, each with the mass up to it.

    Each query has the same mass. One more query, which was not seen, has an infinite error.
    """
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    mass = 1 / ((len(counts) + 1) * counts[inverse])
    order = np.argsort(errors, kind="stable")
    total = np.cumsum(mass[order])
    places = np.arange(len(errors))
    if len(places) > MOST_ERRORS:
        # The greatest error of each step, so that intervals are no narrower.
        places = np.unique(np.linspace(0, len(errors) - 1, MOST_ERRORS).round().astype(np.int64))
    ordered = errors[order]
    starts = np.concatenate(([0.0], total[places[:-1]]))
    kept = zip(ordered[places].tolist(), np.maximum(total[places], starts).tolist(), strict=True)
    return tuple(kept)

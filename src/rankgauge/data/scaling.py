"""Normalisation of feature values: within each query, or by numbers learnt from training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from rankgauge.arrays import Floats, Ints, Values
from rankgauge.checks import checked, one_of
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.features import Features
from rankgauge.notes import counted
from rankgauge.records import Record

ScalingKind: TypeAlias = Literal["none", "z", "min-max"]
"""z: less the mean, by the standard deviation; min-max: from 0 for the least to 1 for the greatest."""

PIECE = 1 << 15
"""About how many rows are normalised at a time."""


class Scaling(Record):
    """How feature values are normalised: (value - shift) / scale, and 0 where a feature is constant.

    The numbers come from each query (`per_query`), or from the features that `fit` was given. NaN stays
    NaN and does not count. Values are given back in single precision.
    """

    kind: ScalingKind
    per_query: bool = False
    shift: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None

    @classmethod
    def of(cls, kind: str, *, per_query: bool = False) -> Scaling:
        """A normalisation of this kind, before `fit`."""
        return cls(checked("normalize", kind, one_of(ScalingKind)), per_query and kind != "none")

    def fit(self, features: Features) -> Scaling:
        """The same with the numbers of these features, where the normalisation needs any."""
        if self.kind == "none" or self.per_query:
            return self
        bounds = np.array([0, len(features.labels)])
        shift, scale = _numbers(self.kind, features.values, bounds)
        return replace(self, shift=tuple(shift[0].tolist()), scale=tuple(scale[0].tolist()))

    def apply(self, features: Features) -> Features:
        """The features with normalised values."""
        if self.kind == "none":
            return features
        width = features.values.shape[1]
        if not self.per_query and (self.shift is None or len(self.shift) != width):
            count = "none" if self.shift is None else str(len(self.shift))
            raise RankgaugeError(
                f"{features.source}: {counted(width, 'feature')} to normalise, and numbers for {count}"
            )
        values = np.empty(features.values.shape, dtype=np.float32)
        starts = np.unique(
            np.searchsorted(features.bounds, np.arange(0, max(len(values), 1), PIECE))
        )
        ends = [*starts[1:].tolist(), len(features.bounds) - 1]
        for first, last in zip(starts.tolist(), ends, strict=True):
            bounds = features.bounds[first : last + 1]
            rows = slice(int(bounds[0]), int(bounds[-1]))
            values[rows] = self._applied(features.values[rows], bounds - bounds[0])
        return replace(features, values=values)

    def _applied(self, values: Values, bounds: Ints) -> Floats:
        if self.per_query:
            shift, scale = (
                np.repeat(numbers, np.diff(bounds), axis=0)
                for numbers in _numbers(self.kind, values, bounds)
            )
        else:
            shift, scale = np.array(self.shift), np.array(self.scale)
        varied = scale > 0
        result: Floats = (values - shift) / np.where(varied, scale, 1.0)
        return np.where(varied | np.isnan(result), result, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """The normalisation as JSON can hold it."""
        return {
            "kind": self.kind,
            "per_query": self.per_query,
            "shift": None if self.shift is None else list(self.shift),
            "scale": None if self.scale is None else list(self.scale),
        }

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Scaling:
        """The normalisation that `to_dict` wrote; RankgaugeError for anything else."""
        if entries.keys() != {"kind", "per_query", "shift", "scale"}:
            raise RankgaugeError("other entries than those of a normalisation")
        scaling = cls.of(entries["kind"], per_query=bool(entries["per_query"]))
        learnt = [entries["shift"], entries["scale"]]
        if scaling.kind == "none" or scaling.per_query:
            if learnt != [None, None]:
                raise RankgaugeError("a normalisation with numbers that it does not need")
            return scaling
        if not all(
            isinstance(numbers, list) and all(type(n) in (int, float) for n in numbers)
            for numbers in learnt
        ) or len(learnt[0]) != len(learnt[1]):
            raise RankgaugeError("a normalisation without its numbers")
        return replace(scaling, shift=tuple(learnt[0]), scale=tuple(learnt[1]))


def _numbers(kind: str, values: Values, bounds: Ints) -> tuple[Floats, Floats]:
    """For each part of the rows and each feature: what is taken off, and what is divided by."""
    sizes = np.diff(bounds)
    shift, scale = np.zeros((2, len(sizes), values.shape[1]))
    filled, starts = np.flatnonzero(sizes > 0), bounds[:-1][sizes > 0]
    if not len(filled):
        return shift, scale
    known = ~np.isnan(values)
    count = np.maximum(np.add.reduceat(known, starts, axis=0, dtype=np.int64), 1)
    if kind == "z":
        whole = np.where(known, values, 0.0).astype(np.float64)
        means = np.add.reduceat(whole, starts, axis=0) / count
        whole -= np.repeat(means, sizes[filled], axis=0)
        squares = np.add.reduceat(np.where(known, whole * whole, 0.0), starts, axis=0)
        shift[filled], scale[filled] = means, np.sqrt(squares / count)
        # A constant feature has a deviation that is rounding and nothing else.
        tiny = scale <= 1e-12 * np.abs(shift)
        scale[tiny] = 0.0
        return shift, scale
    least = np.minimum.reduceat(np.where(known, values, np.inf), starts, axis=0)
    greatest = np.maximum.reduceat(np.where(known, values, -np.inf), starts, axis=0)
    seen = np.isfinite(least)
    shift[filled] = np.where(seen, least, 0.0)
    scale[filled] = np.where(seen, greatest, 0.0) - shift[filled]
    return shift, scale

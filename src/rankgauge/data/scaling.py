"""Feature values made comparable: each query for itself, or by numbers that training data gave."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Values
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Value
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError

ScalingKind: TypeAlias = Literal["z", "min-max", "none"]
"""z: the mean becomes 0 and the standard deviation 1; min-max: the lowest value becomes 0 and the
highest 1; none: values are unchanged."""

BLOCK = 1 << 14
"""Number of rows scaled at a time, in double precision."""


class Scaling(Value):
    """A way to scale feature values, which can be saved.

    Per query, each feature is scaled over the documents of the query: nothing is learned. Otherwise
    `fit`
    learns a center and a scale for each feature, and values become (value − center) / scale; values
    outside the range of the training data then come to lie outside of 0 to 1. A feature that is constant
    becomes 0, and NaN stays NaN. The rows of a query may be in any order: each row gets the same values.

    >>> from rankgauge.data.model import Ids
    >>> features = Features(
    ...     Ids.of(["q"]), np.array([0, 3]), np.zeros(3, np.int32), np.array([[1.0], [2], [5]])
    ... )
    >>> Scaling.of("min-max").apply(features).values.tolist()
    [[0.0], [0.25], [1.0]]
    >>> Scaling.of("min-max", per_query=False).fit(features).to_dict()
    {'kind': 'min-max', 'per_query': False, 'center': [1.0], 'scale': [4.0]}
    """

    _renamed: ClassVar[dict[str, str]] = {"centre": "center"}

    kind: ScalingKind
    per_query: bool
    center: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None

    @classmethod
    def of(cls, kind: ScalingKind = "z", *, per_query: bool = True) -> Scaling:
        """A scaling of this kind, not yet fitted."""
        check_value("kind", kind, one_of(ScalingKind))
        if not isinstance(per_query, bool):
            raise RankgaugeError(f"per_query={per_query!r}, expected True or False")
        return cls(kind, per_query)

    @property
    def learns(self) -> bool:
        """Whether `fit` must come before `apply`."""
        return self.kind != "none" and not self.per_query

    def fit(self, features: Features) -> Scaling:
        """The same scaling with the numbers of these features; unchanged where nothing is learned."""
        if not self.learns:
            return self
        center, scale = _numbers(self.kind, features.values)
        return replace(self, center=tuple(center.tolist()), scale=tuple(scale.tolist()))

    def apply(self, features: Features) -> Features:
        """The features with scaled values, in the same precision.

        RankgaugeError where `fit` must come first, or where there are other features than in `fit`.
        """
        if self.kind == "none":
            return features
        values = features.values
        scaled = np.empty(values.shape, dtype=values.dtype)
        if self.per_query:
            for start, end in itertools.pairwise(features.bounds.tolist()):
                numbers = _numbers(self.kind, values[start:end])
                scaled[start:end] = _scale_values(values[start:end], *numbers)
            return replace(features, values=scaled)
        if self.center is None or self.scale is None:
            raise RankgaugeError("the scaling is not fitted; call fit with training data first")
        if len(self.center) != values.shape[1]:
            raise RankgaugeError(
                f"{count_phrase(values.shape[1], 'feature')}, expected {len(self.center)}, as in "
                "the data "
                "that the scaling was fitted to"
            )
        center, scale = np.array(self.center), np.array(self.scale)
        for start in range(0, len(values), BLOCK):
            part = slice(start, start + BLOCK)
            scaled[part] = _scale_values(values[part], center, scale)
        return replace(features, values=scaled)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        saved: dict[str, Any] = {"kind": self.kind, "per_query": self.per_query}
        if self.center is not None and self.scale is not None:
            saved |= {"center": list(self.center), "scale": list(self.scale)}
        return saved

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Scaling:
        """The scaling that `to_dict` described; RankgaugeError for anything else."""
        if not isinstance(saved, Mapping) or not {"kind", "per_query"} <= set(saved):
            raise RankgaugeError("a saved scaling: expected an object with kind and per_query")
        saved = {cls._renamed.get(name, name): value for name, value in saved.items()}
        more = set(saved) - {"kind", "per_query"}
        made = cls.of(saved["kind"], per_query=saved["per_query"])
        if not more:
            return made
        if more != {"center", "scale"} or not made.learns:
            raise RankgaugeError(
                f"a saved scaling: unexpected {', '.join(sorted(map(str, more)))}; expected center and "
                "scale, and only if it is not per query"
            )
        center, scale = (_check_numbers(name, saved[name]) for name in ("center", "scale"))
        if len(center) != len(scale) or min(scale, default=0.0) < 0:
            raise RankgaugeError(
                "a saved scaling: expected center and scale of equal length, and no negative scale"
            )
        return replace(made, center=center, scale=scale)


def _numbers(kind: ScalingKind, values: Values) -> tuple[Floats, Floats]:
    """For each feature a center and a scale, 0 where it is constant, from the values that are there."""
    width = values.shape[1]
    center, scale = np.zeros(width), np.zeros(width)
    # Some columns at a time, in double precision, sorted: sums do not depend on the order of the rows.
    step = max(1, (BLOCK * 64) // max(1, len(values)))
    for start in range(0, width if len(values) else 0, step):
        columns = slice(start, start + step)
        part = np.sort(values[:, columns].astype(np.float64), axis=0)  # NaN comes last
        count = np.count_nonzero(~np.isnan(part), axis=0)
        some = count > 0
        last = np.maximum(count - 1, 0)
        low, high = part[0], part[last, np.arange(part.shape[1])]
        span = np.where(some & (high > low), high - low, 0.0)
        if kind == "min-max":
            center[columns] = np.where(some, low, 0.0)
            scale[columns] = span
            continue
        divisor, units = np.maximum(count, 1), np.where(span > 0, span, 1.0)
        mean = np.where(some, np.nansum(part, axis=0) / divisor, 0.0)
        deviations = (part - mean) / units
        root = np.sqrt(np.nansum(deviations * deviations, axis=0) / divisor)
        center[columns] = mean
        scale[columns] = np.where(span > 0, root * span, 0.0)
    return center + 0.0, scale  # no -0.0, which would depend on the order of the rows


def _scale_values(values: Values, center: Floats, scale: Floats) -> Floats:
    varies = scale > 0
    with np.errstate(over="ignore"):
        moved = (values - center) / np.where(varies, scale, 1.0)
    # A value far outside of the training data stays a number.
    limit = float(np.finfo(values.dtype).max)
    return np.where(varies | np.isnan(values), np.clip(moved, -limit, limit), 0.0)


def _check_numbers(name: str, numbers: Any) -> tuple[float, ...]:
    if not isinstance(numbers, list | tuple) or not all(
        isinstance(number, int | float)
        and not isinstance(number, bool)
        and abs(number) <= 1e308
        and math.isfinite(number)
        for number in numbers
    ):
        raise RankgaugeError(f"a saved scaling: {name}: expected a list of finite numbers")
    return tuple(float(number) for number in numbers)

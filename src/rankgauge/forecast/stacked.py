"""The rows of several tracks one below the other, and the errors of forecasts by topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.forecast.models import GROUPS
from rankgauge.forecast.tracks import Rows
from rankgauge.seeds import list_seeds

MOST_ERRORS = 2_000
"""So many errors are kept for intervals."""


class StackedRows:
    """The rows of all tracks, one below the other, without those that have an undefined number."""

    def __init__(
        self, features: Floats, target: Floats, plain: Floats, track: Ints, group: Ints, system: Ints,
        names: Sequence[str],
    ) -> None:  # fmt: skip
        self.features, self.target, self.plain = features, target, plain
        self.track, self.group, self.system, self.names = track, group, system, names

    @classmethod
    def of(cls, tracks: Sequence[Rows]) -> StackedRows:
        names = list(dict.fromkeys(group for rows in tracks for group in rows.groups))
        place = {name: number for number, name in enumerate(names)}
        parts: list[list[Any]] = [[], [], []]
        systems = 0
        for number, rows in enumerate(tracks):
            runs, topics = rows.target.shape
            parts[0].append(np.full(runs * topics, number))
            parts[1].append(np.tile([place[group] for group in rows.groups], runs))
            parts[2].append(np.repeat(np.arange(runs), topics) + systems)
            systems += runs
        whole = [np.concatenate(part).astype(np.int64) for part in parts]
        features = np.concatenate([rows.matrix() for rows in tracks])
        target, plain = (
            np.concatenate([getattr(rows, name).ravel() for rows in tracks])
            for name in ("target", "plain")
        )
        kept = np.isfinite(features).all(axis=1) & np.isfinite(target) & np.isfinite(plain)
        return cls(features, target, plain, whole[0], whole[1], whole[2], names).take(kept)

    def take(self, chosen: Any) -> StackedRows:
        """Only these rows."""
        return StackedRows(
            self.features[chosen], self.target[chosen], self.plain[chosen], self.track[chosen],
            self.group[chosen], self.system[chosen], self.names,
        )  # fmt: skip

    def track_weights(self) -> Floats:
        """Weights that make all tracks count the same."""
        counts = np.bincount(self.track)
        present = np.count_nonzero(counts)
        return np.asarray(len(self.track) / (present * counts[self.track]))

    def folds(self, seed: int) -> Ints:
        """The part of each row: topics are dealt by the seed and their ids."""
        drawn = list_seeds(seed, (name.encode() for name in self.names))
        order = np.argsort(np.argsort(drawn, kind="stable"), kind="stable")
        return np.asarray(order % GROUPS)[self.group]

    def system_means(self) -> tuple[Floats, Floats]:
        """The mean features and the mean target of each run."""
        counts = np.maximum(np.bincount(self.system), 1)
        there = np.bincount(self.system) > 0
        sums = [np.bincount(self.system, column) / counts for column in self.features.T]
        target = np.bincount(self.system, self.target) / counts
        return np.stack(sums, axis=1)[there], target[there]


def errors_by_mass(errors: Floats, groups: Ints) -> tuple[tuple[float, float], ...]:
    """Errors from small to large, each with the mass up to it: each topic has the same mass, and one
    more, which was not seen, has an infinite error."""
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    mass = 1 / ((len(counts) + 1) * counts[inverse])
    order = np.argsort(errors, kind="stable")
    total = np.cumsum(mass[order])
    places = np.arange(len(errors))
    if (
        len(places) > MOST_ERRORS
    ):  # the greatest error of each step, so that intervals are no narrower
        places = np.unique(np.linspace(0, len(errors) - 1, MOST_ERRORS).round().astype(np.int64))
    ordered = errors[order]
    starts = np.concatenate(([0.0], total[places[:-1]]))
    kept = zip(ordered[places].tolist(), np.maximum(total[places], starts).tolist(), strict=True)
    return tuple(kept)

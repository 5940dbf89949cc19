"""The rows of several tracks one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.records import Record
from rankgauge.core.seeds import list_seeds
from rankgauge.forecast.models import GROUPS
from rankgauge.forecast.tracks import SEPARATOR, Rows


class StackedRows(Record):
    """The rows of several tracks, stacked, without rows that have an undefined number.

    Create one with `StackedRows.of`.

    Attributes
    ----------
    features : array of shape (rows, features)
        The features.
    target : array of float
        The target measure by all judgments.
    plain : array of float
        The target measure cut at the depth.
    shallow : array of float
        The target measure of the whole run with the judgments of the pool.
    track : array of int
        The number of the track of each row.
    group : array of int
        The number of the query of each row.
    system : array of int
        The number of the run of each row.
    names : tuple of str
        The queries, as `Rows.groups` names them.

    Examples
    --------
    >>> from rankgauge.forecast import Track, rows_by
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q1": ["a", "b"], "q2": ["b"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> rows = rows_by(Track.of(qrels, runs, kind="news"), ["AP"], [1], ["P"])
    >>> StackedRows.of([rows[1, "AP", "pool"]]).target.tolist()
    [1.0, 0.5, 0.5, 0.5]
    """

    features: Floats
    target: Floats
    plain: Floats
    shallow: Floats
    track: Ints
    group: Ints
    system: Ints
    names: tuple[str, ...]

    @classmethod
    def of(cls, tracks: Sequence[Rows]) -> StackedRows:
        """The rows of these tracks."""
        names = tuple(dict.fromkeys(group for rows in tracks for group in rows.groups))
        place = {name: number for number, name in enumerate(names)}
        track, group, system = [], [], []
        systems = 0
        for number, rows in enumerate(tracks):
            runs, topics = rows.target.shape
            track.append(np.full(runs * topics, number))
            group.append(np.tile([place[name] for name in rows.groups], runs))
            system.append(np.repeat(np.arange(runs), topics) + systems)
            systems += runs
        stacked = cls(
            features=np.concatenate([rows.matrix() for rows in tracks]),
            target=np.concatenate([rows.target.ravel() for rows in tracks]),
            plain=np.concatenate([rows.plain.ravel() for rows in tracks]),
            shallow=np.concatenate([rows.shallow.ravel() for rows in tracks]),
            track=np.concatenate(track).astype(np.int64),
            group=np.concatenate(group).astype(np.int64),
            system=np.concatenate(system).astype(np.int64),
            names=names,
        )
        shallow = np.isfinite(stacked.shallow)
        for number in range(len(tracks)):  # a table of scores has no shallow scores at all
            own = stacked.track == number
            shallow[own] |= not shallow[own].any()
        numbers = (stacked.target, stacked.plain)
        known = np.isfinite(np.column_stack((stacked.features, *numbers)))
        return stacked.take(np.asarray(known.all(axis=1) & shallow))

    def take(self, chosen: Bools) -> StackedRows:
        """Return only these rows."""
        arrays = {name: value[chosen] for name, value in vars(self).items() if name != "names"}
        return StackedRows(**arrays, names=self.names)

    def with_topics_of(self, chosen: Bools) -> Bools:
        """Return a mask of the rows that share a query with one of these rows."""
        there = np.zeros(len(self.names), dtype=np.bool_)
        there[self.group[chosen]] = True
        return np.asarray(there[self.group])

    def track_weights(self) -> Floats:
        """Return weights that give all tracks the same total weight."""
        counts = np.bincount(self.track)
        present = np.count_nonzero(counts)
        return np.asarray(len(self.track) / (present * counts[self.track]))

    def folds(self, seed: int, parts: int = GROUPS) -> Ints:
        """Return the part of each row: queries are assigned using only the seed and their ids.

        Neither the names of kinds nor the order of tracks matter.
        """
        present, place = np.unique(self.group, return_inverse=True)
        ids = [self.names[group].partition(SEPARATOR)[2] for group in present]
        drawn = dict(zip(ids, list_seeds(seed, map(str.encode, ids)).tolist(), strict=True))
        order = sorted(drawn, key=lambda topic: (drawn[topic], topic))
        dealt = {topic: number % parts for number, topic in enumerate(order)}
        return np.array([dealt[topic] for topic in ids], dtype=np.int64)[place]

    def system_means(self) -> tuple[Floats, Floats]:
        """Return the mean features and the mean target of each run."""
        counts = np.maximum(np.bincount(self.system), 1)
        there = np.bincount(self.system) > 0
        sums = [np.bincount(self.system, column) / counts for column in self.features.T]
        target = np.bincount(self.system, self.target) / counts
        return np.stack(sums, axis=1)[there], target[there]

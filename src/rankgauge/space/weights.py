"""Weight spaces: which weights of a scorer vary, and what the rest of the score is.

Robertson and Zaragoza (2007, A.4) fix the weight of one feature, or put the weights on a sphere: all
weights times one number give the same ranking. Here either some features are fixed, and the others vary
freely beside them; or nothing is fixed, and the weights sum to 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import SEED, Progress
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.measures.grammar import AnyMeasure
from rankgauge.rankings.lists import offsets_of
from rankgauge.space.ascent import Optima, optima
from rankgauge.space.curves import MARGIN
from rankgauge.space.grids import MOST_AXES, Grid, grid
from rankgauge.space.inputs import array_of, weighted_sums
from rankgauge.space.path_curves import PathCurves
from rankgauge.space.plane_regions import PlaneRegions
from rankgauge.space.planes import Across, plane
from rankgauge.space.scorers import LinearScorer, measures_of
from rankgauge.space.trajectories import Trajectory, trajectory
from rankgauge.workers import AnyExecutor

FIXED = "fixed"
"""The name of the constant part of the score."""
WEIGHT = Number(-np.inf, np.inf)
SQUARE_SIDES = Number(-1e9, 1e9)
"""The limits within which the square of a plane must lie."""
MOST_SIZE = 2**500
"""Lines with larger coefficients would meet in points that doubles cannot represent."""
LONGEST_SHORT_ID = 3
"""Maximum length of a document id drawn in a figure."""
FIX_REMEDY = "fix the weight of a different feature: fixed={5: 1.0}, or --fixed 5=1"


class WeightSpace(Record):
    """Documents and the weights that vary, for paths, grids and planes of weights.

    The score of a document is a weighted sum, possibly with a fixed part. Create a space with
    `WeightSpace.of_features`.

    Parameters
    ----------
    scorer : LinearScorer
        The documents, with a column for each parameter. With a fixed part, the first column is the
        fixed part, whose weight is 1.
    parameters : tuple of str
        The names of the weights that vary.
    fixed : bool
        Whether there is a fixed part. If not, the weights on a path, a grid and a plane sum to 1.
    notes : tuple of Note, optional
        Notes on the documents.

    Notes
    -----
    Multiplying all weights by one number does not change a ranking, so one weight can be fixed without
    loss. Robertson and Zaragoza (2007, A.4) fix the weight of one feature, or put the weights on a
    sphere.

    Examples
    --------
    >>> from rankgauge.space.inputs import features_of
    >>> documents = features_of(([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 2, 1], [0, 3]))
    >>> WeightSpace.of_features(documents, [1, 2]).curves("RR").curves[0][0].value
    1.0
    """

    scorer: LinearScorer
    parameters: tuple[str, ...]
    fixed: bool
    notes: tuple[Note, ...] = ()

    @classmethod
    def of_features(
        cls,
        features: Features,
        parameters: Sequence[int] | None = None,
        fixed: Mapping[int, float] | None = None,
        *,
        depth: int | None = None,
        jitter: float | None = None,
        seed: int = SEED,
    ) -> WeightSpace:
        """Create the space of the weights of some features.

        Documents with equal scores are ranked in the order in which an evaluator ranks them
        (`Features.in_tie_order`).

        Parameters
        ----------
        features : Features
            The documents; `read_letor` reads them.
        parameters : sequence of int, optional
            The numbers of the features, from 1, whose weights vary. By default, all features that
            are not fixed.
        fixed : mapping of int to float, optional
            The weights of other features, which do not vary. Features that are neither fixed nor
            parameters have weight 0.
        depth : int, optional
            Keep only this many documents of each query: the first in the order of ties, which does not
            depend on the labels.
        jitter : float, optional
            Add a random number from 0 to this size to the score of each document (see `add_jitter`).
        seed : int, default 0
            Seed of the random number generator, for the jitter.

        Returns
        -------
        WeightSpace
            The documents and the weights that vary.

        Raises
        ------
        RankgaugeError
            If a feature is listed twice, or is both fixed and a parameter, or if all weights give the
            same ranking.
        """
        width = features.values.shape[1]
        constant = {}
        for number, weight in (fixed or {}).items():
            feature = check_value("fixed feature", number, Integer(1, width))
            constant[feature] = check_value(f"weight of feature {number}", weight, WEIGHT)
        if parameters is None:
            parameters = [number for number in range(1, width + 1) if number not in constant]
        varied = [check_value("parameter", number, Integer(1, width)) for number in parameters]
        if len(set(varied)) < len(varied) or not varied:
            raise RankgaugeError(f"parameters={list(parameters)}, expected different features")
        if both := sorted(set(varied) & set(constant)):
            raise RankgaugeError(
                f"feature {both[0]} is both fixed and a parameter, expected only one of the two"
            )
        ordered = features.in_tie_order()
        if depth is not None:
            ordered = _first_documents(ordered, check_value("depth", depth, Integer(1)))
        columns = [ordered.values[:, number - 1].astype(np.float64) for number in varied]
        is_fixed = any(constant.values())
        if is_fixed:
            weights = np.zeros(width)
            for number, weight in constant.items():
                weights[number - 1] = weight
            columns.insert(0, weighted_sums(ordered.values, weights))
        names = tuple(f"weight {number}" for number in varied)
        reduced = replace(ordered, values=np.column_stack(columns))
        scorer = replace(LinearScorer.of(reduced, jitter, seed), names=(FIXED,) * is_fixed + names)
        return cls.of(scorer, names, is_fixed, features.dropped)

    @classmethod
    def of(
        cls, scorer: LinearScorer, parameters: tuple[str, ...], fixed: bool, notes: Iterable[Note]
    ) -> WeightSpace:
        """The space of a scorer; RankgaugeError if all weights give the same ranking."""
        if len(parameters) == 1 and not fixed:
            raise RankgaugeError(
                f"{parameters[0]} alone: all positive weights give the same ranking; add a "
                f"parameter, or {FIX_REMEDY}"
            )
        queries = count_phrase(len(scorer.documents), "query")
        size = Note(f"{queries}, {count_phrase(len(scorer.documents.labels), 'document')}")
        return cls(scorer, parameters, fixed, (size, *notes))

    def weights(self, point: ArrayLike) -> Floats:
        """The weights of all columns of the scorer, for a weight of each parameter."""
        own: Floats = array_of("point", point, np.float64)
        if own.shape != (len(self.parameters),) or not np.isfinite(own).all():
            count = count_phrase(len(self.parameters), "number")
            raise RankgaugeError(f"point {np.asarray(point).tolist()}, expected {count}")
        return np.append(1.0, own) if self.fixed else own

    def path(self, low: float = 0.0, high: float = 1.0) -> Floats:
        """The usual path through the space.

        One parameter goes from `low` to `high`. Of several parameters, the first has weight 1 and the
        others 0, then the second has weight 1, and so on.
        """
        if len(self.parameters) > 1:
            return np.eye(len(self.parameters))
        return np.array(_check_ends(low, high, WEIGHT)).reshape(2, 1)

    def flips(
        self, measures: AnyMeasure | Iterable[AnyMeasure], points: ArrayLike | None = None
    ) -> Trajectory:
        """Every flip on a path through some points, and how each measure responds."""
        result = trajectory(self.scorer, self._path(points), measures)
        return replace(result, notes=(*result.notes, *self.notes))

    def curves(
        self,
        measures: AnyMeasure | Iterable[AnyMeasure],
        points: ArrayLike | None = None,
        *,
        margin: float = MARGIN,
    ) -> PathCurves:
        """The exact curves of measures on a path through some points; `margin` is that of plateaus."""
        chosen, weights = measures_of(measures), self._path(points)
        segments = [self.scorer.segment(*ends) for ends in itertools.pairwise(weights)]
        curves = tuple(tuple(own.curve(each) for each in chosen) for own in segments)
        margin = check_value("margin", margin, Number(0))
        own = weights[:, 1:] if self.fixed else weights
        return PathCurves(chosen, curves, own, self.parameters, margin, self.notes)

    def _path(self, points: ArrayLike | None) -> Floats:
        given = self.path() if points is None else points
        rows = [self.weights(point) for point in np.atleast_2d(np.asarray(given, dtype=object))]
        if len(rows) < 2:
            raise RankgaugeError("a single point, expected two or more for a path")
        return np.array(rows)

    def plane(
        self,
        measures: AnyMeasure | Iterable[AnyMeasure],
        *,
        neutral: bool = False,
        across: Across = "edges",
        low: float = 0.0,
        high: float = 1.0,
        progress: Progress | None = None,
    ) -> PlaneRegions:
        """Find all cells of a plane of two weights, exactly.

        The plane has two parameters and a fixed part, or three parameters whose weights sum to 1.

        Parameters
        ----------
        measures : Measure, str or iterable of these
            One measure or several.
        neutral : bool, default False
            Whether flips of documents with equal labels also produce lines. Measures do not change
            there.
        across : {"edges", "trajectories"}, default "edges"
            The definition of a local optimum, as in `Plane.optima`.
        low : float, default 0.0
            The lowest weight in the square that is drawn and searched for the best weights.
        high : float, default 1.0
            The highest weight in this square.
        progress : callable, optional
            Called first with the number of lines and cells, then after each step.

        Returns
        -------
        PlaneRegions
            The cells, the regions of each measure and the best weights.

        Raises
        ------
        RankgaugeError
            If the number of parameters does not make a plane, or if the values of the documents differ
            too much in size.
        """
        needed = 2 if self.fixed else 3
        if len(self.parameters) != needed:
            beside = "a fixed part" if self.fixed else "nothing fixed"
            raise RankgaugeError(
                f"{count_phrase(len(self.parameters), 'parameter')} and {beside}: a plane "
                "needs two parameters and a fixed part, or three parameters whose weights sum "
                "to 1"
            )
        low, high = _check_ends(low, high, SQUARE_SIDES)
        chosen, lists = measures_of(measures), self.scorer.documents
        queries = lists.each_row(np.arange(len(lists))).tolist()
        made = plane(self._triples(), lists.labels, queries, neutral=neutral, progress=progress)
        if any(abs(part) >= MOST_SIZE for line in made.lines for part in line):
            raise RankgaugeError(
                "the values of documents differ too much in size for a plane; use "
                "normalize='rank' for runs, and scale features"
            )
        empty = sorted(set(range(len(lists))) - set(made.queries))
        order = np.array([*made.queries, *empty], dtype=np.int64)
        made = replace(
            made,
            queries=tuple(order.tolist()),
            offsets=np.append(made.offsets, np.full(len(empty), made.offsets[-1])),
            judged=lists.judged.take(lists.query[order]),
        )
        return PlaneRegions(
            made, chosen, self.parameters, self._short_names(), neutral, low, high, across,
            self.notes[1:],
        )  # fmt: skip

    def _short_names(self) -> tuple[str, ...]:
        """The ids of the documents if they are short enough to be drawn, else numbers from 1."""
        ids = self.scorer.features.documents
        names = () if ids is None else tuple(ids.texts())
        if max(map(len, names), default=LONGEST_SHORT_ID + 1) <= LONGEST_SHORT_ID:
            return names
        return tuple(map(str, range(1, len(self.scorer.documents.labels) + 1)))

    def _triples(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Each document as c, u and v of the score c + x·u + y·v; every double is a fraction."""
        triples = []
        for row in self.scorer.values:
            first, second, third, *jitter = (Fraction(value) for value in row.tolist())
            if not self.fixed:
                second, third = second - first, third - first
            triples.append((first + sum(jitter), second, third))
        return triples

    def grid(
        self,
        measures: AnyMeasure | Iterable[AnyMeasure],
        *,
        low: float = 0.0,
        high: float = 1.0,
        points: int = 11,
        progress: Progress | None = None,
    ) -> Grid:
        """Evaluate measures on a grid of weights, and find what the grid misses.

        The grid has one to three parameters and a fixed part, or two to four parameters whose weights
        sum to 1.

        Parameters
        ----------
        measures : Measure, str or iterable of these
            One measure or several.
        low : float, default 0.0
            The lowest weight on each axis.
        high : float, default 1.0
            The highest weight on each axis.
        points : int, default 11
            The number of points on each axis.
        progress : callable, optional
            Called after each line through the grid.

        Returns
        -------
        Grid
            The means at the points, and the exact best value on each line through the grid.

        Raises
        ------
        RankgaugeError
            If there are too many parameters for a grid.
        """
        axes = list(range(2, self.scorer.width + 1))
        if len(axes) > MOST_AXES:
            raise RankgaugeError(
                f"{count_phrase(len(self.parameters), 'parameter')}: a grid has at most "
                f"{MOST_AXES} axes; give fewer parameters, or use `optima`"
            )
        rest = None if self.fixed else 1
        result = grid(
            self.scorer, measures, axes=axes, low=low, high=high, points=points, rest=rest,
            progress=progress,
        )  # fmt: skip
        return replace(result, notes=(*result.notes, *self.notes))

    def optima(
        self,
        measure: AnyMeasure,
        *,
        restarts: int = 20,
        directions: int = 10,
        seed: int = SEED,
        executor: AnyExecutor | None = None,
        progress: Progress | None = None,
    ) -> Optima:
        """Search for local optima of a measure over all parameters, from many starts.

        Parameters
        ----------
        measure : Measure or str
            The measure. Its mean over the queries is optimized.
        restarts : int, default 20
            The number of starts.
        directions : int, default 10
            The number of random directions in each round.
        seed : int, default 0
            Seed of the random number generator.
        executor : Executor, Client or Workers, optional
            Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`.
            By default, threads.
        progress : callable, optional
            Called with the number of each start when it is done.

        Returns
        -------
        Optima
            The local optima, the best first, with the number of starts that reached each.
        """
        fixed = 1 if self.fixed else None
        result = optima(
            self.scorer, measure, fixed=fixed, restarts=restarts, directions=directions, seed=seed,
            executor=executor, progress=progress,
        )  # fmt: skip
        return replace(result, notes=(*result.notes, *self.notes))


def _check_ends(low: float, high: float, kind: Number) -> tuple[float, float]:
    """The least and the greatest weight, checked."""
    low, high = check_value("low", low, kind), check_value("high", high, kind)
    if not low < high:
        raise RankgaugeError(f"low {low:g} and high {high:g}, expected low below high")
    return low, high


def _first_documents(features: Features, depth: int) -> Features:
    sizes = np.diff(features.bounds)
    place = np.arange(len(features.labels)) - np.repeat(features.bounds[:-1], sizes)
    kept = np.flatnonzero(place < depth)
    documents = features.documents
    return replace(
        features,
        bounds=offsets_of(np.minimum(sizes, depth)),
        labels=features.labels[kept],
        values=features.values[kept],
        documents=None if documents is None else documents.take(kept),
    )

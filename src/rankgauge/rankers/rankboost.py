"""RankBoost: a sum of thresholds on single features, which puts pairs of documents in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints, Labels, Values
from rankgauge.core.checks import Choice, Integer
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.native import rankboost as native
from rankgauge.rankers.base import Ranker, RankerSettings
from rankgauge.rankers.monitoring import Monitor
from rankgauge.rankers.saving import check_array
from rankgauge.rankers.search_engines import tree_model
from rankgauge.rankers.settings import DIRECTIONS, setting, setting_from
from rankgauge.rankers.tree_text import Forest, Tree
from rankgauge.rankings.lists import offsets_of

PIECE = 4096
"""Number of rows scored at a time, within the cache."""

LEAST = 1e-12
"""A stump that orders less than this of the weight of all pairs is none; and a stump that leaves less
than this in disorder is weighed as if it left so much, since its weight would be infinite."""


class RankBoost(Ranker):
    """A weighted sum of stumps, each of which tests whether a feature is above a threshold.

    Pairs of documents of a query with different labels have weights. The weight of a pair grows
    when the sum ranks the pair in the wrong order. Each round adds the stump that orders the most
    weight correctly. A NaN value is below every threshold.

    With a validation set, `measure` is computed on it after each round. Training stops when the
    measure has not improved for `patience` rounds, and the stumps up to the best round are kept.
    Without a validation set, the stumps of all rounds are kept.

    Parameters
    ----------
    preset : {"default", "ranklib"}, default "default"
        The source of settings that are None: "default" for values that work well today, "ranklib"
        for the defaults of RankLib. Where the two differ, RankLib's default is noted below.
    normalize : {"none", "z", "min-max", "query-z", "query-min-max"}, default "query-min-max"
        How feature values are normalized: over all training data, or within each query if the name
        starts with "query-". RankLib: "none".
    measure : measure or str, default "nDCG(gain=exp2)@10"
        The measure used on the validation set, for example to decide when to stop. RankLib:
        "ERR@10".
    seed : int, default 0
        The seed of the random number generator.
    rounds : int, default 300
        The maximum number of stumps.
    bins : int, default 255
        The number of ranges into which the values of a feature are split. Thresholds lie between
        the ranges. RankLib: 10.
    spacing : {"quantiles", "equal"}, default "quantiles"
        How the ranges are chosen. "quantiles": all ranges have about the same number of documents;
        "equal": all ranges are equally wide. RankLib: "equal".
    weighting : {"queries", "pairs"}, default "queries"
        The units with equal initial weight: each query that has pairs, or each pair. RankLib:
        "pairs".
    directions : {"up", "both"}, default "up"
        Which side of a threshold is better. "up": the values above it; "both": the side that
        orders the most weight correctly.
    patience : int, default 100
        Training stops when `measure` has not improved on the validation set for this many rounds.
        RankLib: 300.

    Attributes
    ----------
    history_ : dict of list of float
        One number per round. "loss" is the mean of exp(score of the worse document − score of the
        better one) over the training pairs, after the stump was added. "feature" (counted from 1,
        as in files) and "threshold" define the test of the stump, and "alpha" is the amount it
        adds above the threshold. With a validation set, another column is named after the measure
        and has its value after the round.

    Notes
    -----
    Freund et al. 2003, An efficient boosting algorithm for combining preferences.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = RankBoost(rounds=20).fit(make_features(40))
    >>> ranker.history_["feature"][:3]
    [1, 1, 1]
    """

    summary: ClassVar[str] = "a sum of feature thresholds that puts pairs of documents in order"
    optimizes: ClassVar[str] = "the exponential loss of pairs"
    source: ClassVar[str] = (
        "Freund et al. 2003, An efficient boosting algorithm for combining preferences"
    )

    normalize: str | None = setting_from(
        Ranker, "normalize", default="query-min-max", ranklib="none"
    )
    rounds: int | None = setting(Integer(1), "The maximum number of stumps.", default=300)
    bins: int | None = setting(
        Integer(2, 255),
        (
            "The number of ranges into which the values of each feature are split; thresholds "
            "lie between them."
        ),
        default=255,
        ranklib=10,
    )
    spacing: str | None = setting(
        Choice(("quantiles", "equal")),
        "How the ranges are chosen. quantiles: all ranges have about the same number of "
        "documents; equal: all ranges are equally wide.",
        default="quantiles",
        ranklib="equal",
    )
    weighting: str | None = setting(
        Choice(("queries", "pairs")),
        "The units with equal initial weight: each query that has pairs, or each pair.",
        default="queries",
        ranklib="pairs",
    )
    directions: str | None = setting(
        DIRECTIONS,
        (
            "Which side of a threshold is better. up: the values above it; both: whichever "
            "orders more."
        ),
        default="up",
    )
    patience: int | None = setting(
        Integer(1),
        "Training stops after this many rounds without improvement on the validation set.",
        default=100,
        ranklib=300,
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        pairs = LabelPairs.of(training, settings["weighting"])
        cuts = [
            thresholds(column, settings["bins"], settings["spacing"])
            for column in training.values.T
        ]
        stumps = Stumps(pairs, bin_values(training.values, pairs.rows, cuts))
        monitor = None if validation is None else Monitor(validation, settings["measure"])
        scores = np.zeros(0 if validation is None else len(validation.labels))
        history: dict[str, list[float]] = {"loss": [], "feature": [], "threshold": [], "alpha": []}
        measured: list[float] = []
        for _ in range(settings["rounds"]):
            stump = stumps.best(both=settings["directions"] == "both")
            if stump is None:
                break
            feature, place, alpha = stump
            threshold = float(cuts[feature][place])
            loss = stumps.add(feature, place, alpha)
            step = (loss, feature + 1, threshold, alpha)
            for key, value in zip(history, step, strict=True):
                history[key].append(value)
            if monitor is not None and validation is not None:
                column = validation.values[:, feature].astype(np.float64)
                scores += alpha * (column > threshold)
                measured.append(monitor(scores))
                if monitor.should_stop(measured, settings["patience"]):
                    break
        kept = len(history["loss"])
        if monitor is not None:
            self.history_ = {**history, monitor.name: measured}
            kept = monitor.round_to_keep(measured) + 1
        else:
            self.history_ = history
        # The column of each stump's feature, from 0; its threshold; what it adds above the threshold.
        self.features_: Ints = np.array(history["feature"][:kept], dtype=np.int64) - 1
        self.thresholds_: Floats = np.array(history["threshold"][:kept], dtype=np.float64)
        self.alphas_: Floats = np.array(history["alpha"][:kept], dtype=np.float64)
        self.feature_importances_ = np.zeros(training.values.shape[1])
        np.add.at(self.feature_importances_, self.features_, np.abs(self.alphas_))

    def score(self, values: Values) -> Floats:
        scores = np.zeros(len(values))
        used, place = np.unique(self.features_, return_inverse=True)
        stumps = list(
            zip(place.tolist(), self.thresholds_.tolist(), self.alphas_.tolist(), strict=True)
        )
        for start in range(0, len(values), PIECE):
            # Thresholds are doubles, and so are values: the comparison is exact, as in training.
            columns = values[start : start + PIECE, used].T.astype(np.float64, order="C")
            part = scores[start : start + PIECE]
            for feature, threshold, alpha in stumps:
                part += alpha * (columns[feature] > threshold)
        return scores

    def to_search_engine(
        self, names: Sequence[str] | None = None, *, name: str = "rankgauge"
    ) -> dict[str, Any]:
        self.check_fitted()
        stumps = zip(self.features_, self.thresholds_, self.alphas_, strict=True)
        trees = tuple(_tree(*stump) for stump in stumps)
        forest = Forest(trees or (_leaf(),), self.n_features_in_, mean=False)
        return tree_model(forest, self.scaling_, names, name)

    def check_learnt(self) -> None:
        columns = self.features_
        if not isinstance(columns, np.ndarray) or columns.dtype != np.int64 or columns.ndim != 1:
            raise RankgaugeError("features_ is not an array of whole numbers")
        if len(columns) and not 0 <= columns.min() <= columns.max() < self.n_features_in_:
            raise RankgaugeError("features_ has an unknown feature")
        check_array(self, "thresholds_", columns.shape)
        check_array(self, "alphas_", columns.shape)


def _tree(feature: int, threshold: float, alpha: float) -> Tree:
    """A stump as a tree of two leaves."""
    return Tree(
        np.array([feature]),
        np.array([threshold]),
        np.array([True]),
        np.array([-1]),
        np.array([-2]),
        np.array([0.0, alpha]),
    )


def _leaf() -> Tree:
    """The tree that scores every document 0."""
    nothing = np.zeros(0, dtype=np.int64)
    return Tree(nothing, nothing.astype(float), nothing.astype(bool), nothing, nothing, np.zeros(1))


class LabelPairs(Record):
    """The pairs of documents of one query with different labels; only documents are kept.

    `rows` are the rows of the documents that are in pairs, query by query, labels ascending. Group g has
    the places groups[g]:groups[g + 1] of `rows`, which have one label. Query q has the groups
    queries[q]:queries[q + 1], and each of its pairs weighs exp(shifts[q]) at the start.
    """

    rows: Ints
    groups: Ints
    queries: Ints
    shifts: Floats

    @classmethod
    def of(cls, features: Features, weighting: str) -> LabelPairs:
        """The pairs in features. Labels below 0 count as 0."""
        labels: Labels = np.maximum(features.labels, 0)
        query = np.repeat(np.arange(len(features.queries)), np.diff(features.bounds))
        rows = np.lexsort((labels, query))
        new_query = np.diff(query[rows], prepend=-1) != 0
        starts = np.flatnonzero(new_query | (np.diff(labels[rows], prepend=-1) != 0))
        sizes, owner = np.diff(starts, append=len(rows)), query[rows[starts]]
        # Half of all ordered pairs, those of equal labels left out.
        documents = np.bincount(owner, sizes, len(features.queries))
        counts = (documents**2 - np.bincount(owner, sizes.astype(float) ** 2, len(documents))) / 2
        some = counts > 0
        groups = sizes[some[owner]]
        each = np.count_nonzero(some) * counts[some]
        if weighting == "pairs":
            each[:] = counts.sum()
        return cls(
            rows[some[query[rows]]],
            offsets_of(groups),
            offsets_of(np.bincount(owner, minlength=len(some))[some]),
            -np.log(each),
        )


class Stumps:
    """The sum of stumps as it grows, and how far it has the pairs in order.

    A pair, i better than j, weighs exp(s_j − s_i) times its weight at the start. So the weights need no
    memory: they follow from the scores. They are divided by their sum, whose logarithm is kept, so that
    nothing becomes too small or too large in long training.
    """

    def __init__(self, pairs: LabelPairs, bins: NDArray[np.uint8]) -> None:
        self._pairs, self._bins = pairs, bins
        self._scores = np.zeros(len(pairs.rows))
        self._log_loss = 0.0
        self._weigh()

    def _weigh(self) -> None:
        pairs = self._pairs
        potentials, total = native.potentials(
            self._scores, pairs.groups, pairs.queries, pairs.shifts - self._log_loss
        )
        if total > 0:
            self._log_loss += math.log(total)
            potentials /= total
        self.potentials: Floats = potentials

    @property
    def loss(self) -> float:
        """The sum of the weights of all pairs, which is 1 at the start."""
        return math.exp(self._log_loss)

    def best(self, *, both: bool) -> tuple[int, int, float] | None:
        """The feature, the place of the threshold, and the weight of the stump that orders most.

        It is None if no stump orders anything. With `both`, stumps for which lower values are better
        count, too.
        """
        sums = native.bin_sums(self._bins, self.potentials)
        # What lies above each threshold: the bins after its place.
        ordered = np.cumsum(sums[:, :0:-1], axis=1)[:, ::-1]
        size = np.abs(ordered) if both else ordered
        feature, place = divmod(int(np.argmax(size)), ordered.shape[1])
        if not size[feature, place] > LEAST:
            return None
        margin = float(np.clip(ordered[feature, place], LEAST - 1, 1 - LEAST))
        return feature, place, math.atanh(margin)

    def add(self, feature: int, place: int, alpha: float) -> float:
        """Add a stump, weigh the pairs anew, and give the loss."""
        self._scores += alpha * (self._bins[feature] > place)
        self._weigh()
        return self.loss


def thresholds(column: Values, bins: int, spacing: str = "quantiles") -> Floats:
    """Ascending thresholds that cut the known values of a feature into at most so many ranges.

    "quantiles": where there are few different values, all midpoints between neighbors; otherwise about
    as many documents in each range, where a value that many documents share fills one range at most.
    "equal": ranges of the same width.

    >>> thresholds(np.array([1.0, 4, 2, 2, np.nan]), 10).tolist()
    [1.5, 3.0]
    >>> thresholds(np.array([1.0, 4, 2, 2, np.nan]), 3, "equal").tolist()
    [2.0, 3.0]
    """
    column = np.ascontiguousarray(column)
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    values = values.astype(np.float64)
    if len(values) < 2:
        return np.zeros(0)
    if spacing == "equal":
        shares = np.arange(1, bins) / bins
        cuts = values[0] * (1 - shares) + values[-1] * shares
        return np.unique(cuts[(cuts >= values[0]) & (cuts < values[-1])])
    below: Ints = np.arange(len(values) - 1)
    if len(values) > bins:
        filled = np.cumsum(np.minimum(counts, _range_size(counts, bins)))
        targets = filled[-1] * np.arange(1, bins) / bins
        below = np.unique(np.searchsorted(filled, targets))
        below = below[below < len(values) - 1]
    low, high = values[below], values[below + 1]
    middle = low + (high / 2 - low / 2)
    return np.where(middle < high, middle, low)


def _range_size(counts: Ints, bins: int) -> float:
    """How many documents go into a range if values with more documents have a range of their own."""
    frequent = np.zeros(len(counts), dtype=np.bool_)
    while True:
        size = float(counts[~frequent].sum() / (bins - np.count_nonzero(frequent)))
        more = ~frequent & (counts > size)
        if not more.any():
            return size
        frequent |= more


def bin_values(values: Values, rows: Ints, cuts: Sequence[Floats]) -> NDArray[np.uint8]:
    """Feature × row: how many thresholds of the feature lie below the value; 0 for NaN."""
    bins = np.zeros((len(cuts), len(rows)), dtype=np.uint8)
    for own, column, thresholds in zip(bins, values.T, cuts, strict=True):
        taken = np.ascontiguousarray(column)[rows]
        own[:] = np.where(np.isnan(taken), 0, np.searchsorted(thresholds, taken))
    return bins

"""Rankers whose score is the output of a small network: layers, gradients, and learning by steps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints, Values
from rankgauge.core.checks import Choice, Integer
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import InputError, NotExportable, RankgaugeError
from rankgauge.native.layers import layer_gradient, layer_sums
from rankgauge.rankers.base import Ranker, RankerSettings
from rankgauge.rankers.linear import check_sizes, feature_means, plain_values
from rankgauge.rankers.monitoring import Monitor, is_undecided
from rankgauge.rankers.saving import check_array
from rankgauge.rankers.search_engines import linear_model
from rankgauge.rankers.settings import AUTO, RATES, SIZES, Auto, setting, setting_from
from rankgauge.rankings.lists import offsets_of

LARGEST = 1e100
"""Larger values could overflow when weights, sums and squares are computed."""
ROWS = 4096
"""Approximate number of rows trained on, or scored, at a time."""
TANH, LOGISTIC = "tanh", "logistic"
LOSS = "loss"
INITIAL_SPREAD = 0.3
"""The standard deviation of the sums of hidden units at the start, for values of size 1: the units are
nearly linear there. Networks initialized this way did best on validation sets."""
INITIAL_RANGE = 0.1
"""Initial weights of logistic units are at most this far from 0, as in RankLib."""


class Network(Record):
    """The form of a network: how many features, the sizes of hidden layers, what units compute.

    The weights of all layers are in one row of numbers. Without hidden layers the score is a weighted
    sum of the features. The score has no constant: it would not change rankings.
    """

    width: int
    hidden: tuple[int, ...] = ()
    units: str = TANH

    @property
    def size(self) -> int:
        """How many weights there are."""
        sizes = (self.width, *self.hidden)
        within = sum((a + 1) * b for a, b in itertools.pairwise(sizes))
        return within + sizes[-1]

    def layers(self, weights: Floats) -> tuple[list[tuple[Floats, Floats]], Floats]:
        """Views of the weights: a matrix and constants for each hidden layer, and the output's row."""
        hidden, start, width = [], 0, self.width
        for size in self.hidden:
            middle, end = start + width * size, start + (width + 1) * size
            hidden.append((weights[start:middle].reshape(width, size), weights[middle:end]))
            start, width = end, size
        return hidden, weights[start:]

    def start(self, rng: np.random.Generator) -> Floats:
        """Weights to start from. Weighted sums start at 0; hidden layers at random, by their inputs."""
        if self.units == LOGISTIC:
            return rng.uniform(-INITIAL_RANGE, INITIAL_RANGE, self.size)
        weights = np.zeros(self.size)
        if self.hidden:
            hidden, output = self.layers(weights)
            for matrix, _ in hidden:
                matrix[:] = rng.normal(0.0, INITIAL_SPREAD * len(matrix) ** -0.5, matrix.shape)
            output[:] = rng.normal(0.0, len(output) ** -0.5, len(output))
        return weights

    def activate(self, sums: Floats) -> Floats:
        """What units make of their sums."""
        return np.tanh(sums) if self.units == TANH else logistic(sums)

    def forward(
        self, values: Values, means: Floats, weights: Floats
    ) -> tuple[Floats, list[Floats]]:
        """The sum of the output for each row, and what each hidden layer put out.

        A value that is NaN counts as the mean of its feature. Rows do not change each other's sums, not
        even the last bit.
        """
        hidden, output = self.layers(weights)
        passed: list[Floats] = []
        for matrix, constants in hidden:
            passed.append(self.activate(layer_sums(values, means, matrix, constants)))
            values, means = passed[-1], np.zeros(len(constants))
        return layer_sums(values, means, output[:, None], np.zeros(1))[:, 0], passed

    def backward(
        self, values: Values, means: Floats, passed: list[Floats], weights: Floats, slopes: Floats
    ) -> Floats:
        """The derivative of the loss by each weight.

        Parameters
        ----------
        values, means, weights
            What `forward` was called with.
        passed
            What each hidden layer put out.
        slopes
            The derivative of the loss by each sum of the output.
        """
        gradient = np.empty(self.size)
        (hidden, output), (by_hidden, by_output) = self.layers(weights), self.layers(gradient)
        inputs = [(values, means), *((units, np.zeros(units.shape[1])) for units in passed)]
        back, above = slopes[:, None], output[:, None]
        by_output[:] = layer_gradient(*inputs[-1], back)[:, 0]
        for number in reversed(range(len(hidden))):
            units, (matrix, constants) = passed[number], by_hidden[number]
            back = back @ above.T
            back *= 1 - units * units if self.units == TANH else units * (1 - units)
            matrix[:] = layer_gradient(*inputs[number], back)
            back.sum(axis=0, out=constants)
            above = hidden[number][0]
        return gradient

    def scores(self, values: Values, means: Floats, weights: Floats) -> Floats:
        """The score of each row, some rows at a time."""
        plain = plain_values(values)
        scores = np.empty(len(plain))
        for start in range(0, len(plain), ROWS):
            part = slice(start, start + ROWS)
            scores[part] = self.forward(plain[part], means, weights)[0]
        return scores

    def importances(self, weights: Floats) -> Floats:
        """For each feature the sizes of the weights on each way to the output, multiplied and added."""
        hidden, output = self.layers(weights)
        sizes: Floats = np.abs(output)
        for matrix, _ in reversed(hidden):
            sizes = np.abs(matrix) @ sizes
        return sizes


def logistic(sums: Floats) -> Floats:
    """1 / (1 + exp(−sum)), in a form that does not overflow."""
    return 0.5 + 0.5 * np.tanh(0.5 * sums)


class Adam:
    """Steps against the gradient, each weight by the size of its own gradients (Kingma and Ba 2015)."""

    kept, kept_squares, tiny = 0.9, 0.999, 1e-8

    def __init__(self, size: int, rate: float) -> None:
        self.rate, self.steps = rate, 0
        self.mean, self.square = np.zeros(size), np.zeros(size)

    def step(self, weights: Floats, gradient: Floats) -> None:
        """Change the weights."""
        self.steps += 1
        self.mean += (1 - self.kept) * (gradient - self.mean)
        self.square += (1 - self.kept_squares) * (gradient * gradient - self.square)
        mean = self.mean / (1 - self.kept**self.steps)
        square = self.square / (1 - self.kept_squares**self.steps)
        weights -= self.rate * mean / (np.sqrt(square) + self.tiny)


class GradientDescent:
    """Steps against the gradient, by a rate."""

    def __init__(self, size: int, rate: float) -> None:
        self.rate = rate

    def step(self, weights: Floats, gradient: Floats) -> None:
        """Change the weights."""
        weights -= self.rate * gradient


OPTIMIZERS: dict[str, type[Adam | GradientDescent]] = {"adam": Adam, "plain": GradientDescent}


class QueryRows(Record):
    """Some whole queries: their rows, where each query begins among these rows, and what to learn."""

    rows: Ints | slice
    bounds: Ints
    targets: Floats


class NetworkRanker(Ranker):
    """A ranker whose score is the output of a network, learned by steps against a gradient.

    A method defines `targets` and `loss`. Queries whose documents all have the same target are left out.
    With a validation set, learning stops when `measure` has not become better for `patience` epochs, and
    the weights of the best epoch are kept. Without one, the weights of the last epoch are kept.
    `history_` has the measure after each epoch, and the mean loss of the queries, each just before the
    step that learns from it.

    The importance of a feature is the size of its weight. With hidden layers it is a sum over all ways
    from the feature to the output: the sizes of the weights on a way are multiplied.
    """

    normalize: str | None = setting_from(Ranker, "normalize", default="query-z", ranklib="none")
    hidden: Sequence[int] | int | str | None = setting(
        SIZES, "The sizes of the hidden layers, starting from the input; [] for none.", default=()
    )
    units: str | None = setting(
        Choice((TANH, LOGISTIC)),
        "The activation of hidden units. logistic: as in RankLib, the output is logistic too.",
        default=TANH,
        ranklib=LOGISTIC,
    )
    steps: str | None = setting(
        Choice(tuple(OPTIMIZERS)),
        "The optimizer: Adam, or plain gradient descent.",
        default="adam",
        ranklib="plain",
    )
    learning_rate: float | None = setting(RATES, "The learning rate.", default=0.01)
    epochs: int | None = setting(
        Integer(1), "The maximum number of passes over the training queries.", default=200
    )
    batch: int | str | None = setting(
        Auto(Integer(1)),
        "The number of queries per step. auto: all queries.",
        default=AUTO,
        ranklib=1,
    )
    patience: int | None = setting(
        Integer(1),
        "Training stops after this many epochs without improvement on the validation set.",
        default=50,
    )

    straight_output: ClassVar[bool] = False
    """Whether steps omit the slope of a logistic output, as in RankLib's ListNet."""

    # What a method defines

    def targets(self, training: Features, settings: RankerSettings) -> Floats:
        """What to learn about each document: equal targets within a query say nothing."""
        raise NotImplementedError(f"{type(self).__name__} does not define `targets`")

    def loss(
        self, outputs: Floats, targets: Floats, bounds: Ints, settings: RankerSettings
    ) -> tuple[float, Floats]:
        """The sum of the losses of some queries, and its derivative by each output."""
        raise NotImplementedError(f"{type(self).__name__} does not define `loss`")

    # What all share

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        check_sizes(training, LARGEST)
        rng = np.random.default_rng(settings["seed"])
        network = Network(training.values.shape[1], settings["hidden"], settings["units"])
        means, weights = feature_means(training.values), network.start(rng)
        values = plain_values(training.values)
        batches = self._batches(training, settings, rng)
        if not batches:
            weights = np.zeros(network.size)  # nothing to learn: all scores are equal
        queries = sum(len(piece.bounds) - 1 for pieces in batches for piece in pieces)
        method = OPTIMIZERS[settings["steps"]](network.size, settings["learning_rate"])
        monitor = None if validation is None else Monitor(validation, settings["measure"])
        losses: list[float] = []
        measured: list[float] = []
        best = weights.copy()
        for _ in range(settings["epochs"] if batches else 0):
            loss = 0.0
            for number in rng.permutation(len(batches)).tolist():
                added, gradient = self.gradient(
                    network, weights, values, means, batches[number], settings
                )
                method.step(weights, gradient)
                loss += added
            losses.append(loss / queries)
            if monitor is not None and validation is not None:
                measured.append(monitor(network.scores(validation.values, means, weights)))
                if monitor.best(measured) == len(measured) - 1:
                    best = weights.copy()
                elif monitor.should_stop(measured, settings["patience"]):
                    break
        if monitor is None or is_undecided(measured):
            best = weights
        if not np.isfinite(best).all():
            message = (
                "the weights overflow, expected feature values of moderate size; "
                "normalize='query-z' or a lower learning_rate may help"
            )
            raise InputError(training.source, None, message)
        watched = {} if monitor is None else {monitor.name: measured}
        self.history_ = {**watched, LOSS: losses}
        self.network_: dict[str, Any] = {"hidden": list(network.hidden), "units": network.units}
        self.means_: Floats = means
        self.weights_: Floats = best
        self.feature_importances_ = network.importances(best)

    def _batches(
        self, training: Features, settings: RankerSettings, rng: np.random.Generator
    ) -> list[list[QueryRows]]:
        """The queries of each step, in pieces. Which queries are in a step is drawn once."""
        targets = self.targets(training, settings)
        queries = _informative_queries(targets, training.bounds)
        if settings["batch"] == AUTO:
            return [_pieces(training.bounds, queries, targets)] if len(queries) else []
        drawn, size = rng.permutation(queries), settings["batch"]
        return [
            _pieces(training.bounds, np.sort(drawn[start : start + size]), targets)
            for start in range(0, len(drawn), size)
        ]

    def gradient(
        self,
        network: Network,
        weights: Floats,
        values: Values,
        means: Floats,
        pieces: list[QueryRows],
        settings: RankerSettings,
    ) -> tuple[float, Floats]:
        """The sum of the losses of the queries of a step, and the gradient of their mean.

        Parameters
        ----------
        network, weights
            The network, and its weights.
        values, means
            The values of all training documents, and the mean of each feature, which stands for NaN.
        pieces
            The queries of the step.
        settings
            The validated value of each setting.
        """
        total, gradient, queries = 0.0, np.zeros(network.size), 0
        for piece in pieces:
            own = values[piece.rows]
            sums, passed = network.forward(own, means, weights)
            outputs = sums if network.units == TANH else logistic(sums)
            loss, slopes = self.loss(outputs, piece.targets, piece.bounds, settings)
            if network.units == LOGISTIC and not self.straight_output:
                slopes *= outputs * (1 - outputs)
            gradient += network.backward(own, means, passed, weights, slopes)
            total += loss
            queries += len(piece.bounds) - 1
        return total, gradient / queries

    def score(self, values: Values) -> Floats:
        return self._network().scores(values, self.means_, self.weights_)

    def _network(self) -> Network:
        return Network(self.n_features_in_, tuple(self.network_["hidden"]), self.network_["units"])

    def to_search_engine(
        self, names: Sequence[str] | None = None, *, name: str = "rankgauge"
    ) -> dict[str, Any]:
        self.check_fitted()
        if self.network_["hidden"]:
            raise NotExportable(
                "search engines do not support networks with hidden layers; train with hidden=[]"
            )
        return linear_model(self.weights_, self.scaling_, names, name)

    def check_learnt(self) -> None:
        form = self.network_
        if (
            not isinstance(form, dict)
            or form.keys() != {"hidden", "units"}
            or not isinstance(form["hidden"], list)
            or form["units"] not in (TANH, LOGISTIC)
        ):
            raise RankgaugeError("network_ is not a valid network")
        if not all(type(size) is int for size in form["hidden"]):
            raise RankgaugeError("the size of a hidden layer is not a whole number")
        SIZES.check(form["hidden"])
        check_array(self, "means_", (self.n_features_in_,))
        check_array(self, "weights_", (self._network().size,))


def _informative_queries(targets: Floats, bounds: Ints) -> Ints:
    """The queries whose documents do not all have the same target."""
    queries = np.flatnonzero(np.diff(bounds))
    starts = bounds[queries]
    return queries[np.maximum.reduceat(targets, starts) > np.minimum.reduceat(targets, starts)]


def _pieces(bounds: Ints, queries: Ints, targets: Floats) -> list[QueryRows]:
    """Queries in pieces of about `ROWS` rows. A piece has whole queries, and one of them at least."""
    ends = np.cumsum(np.diff(bounds)[queries])
    piece = np.concatenate(([0], ends[:-1])) // ROWS
    pieces = []
    for own in np.split(queries, np.flatnonzero(np.diff(piece)) + 1):
        starts, sizes = bounds[own], np.diff(bounds)[own]
        within = offsets_of(sizes)
        rows: Ints | slice
        if starts[-1] - starts[0] == within[-2]:  # they stand side by side, so nothing is copied
            rows = slice(int(starts[0]), int(starts[0] + within[-1]))
        else:
            rows = np.repeat(starts - within[:-1], sizes) + np.arange(within[-1])
        pieces.append(QueryRows(rows, within, targets[rows]))
    return pieces

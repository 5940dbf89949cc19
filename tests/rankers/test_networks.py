"""RankNet and ListNet: their losses, gradients and steps are what their papers say."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import Features, InputError, MeasureError
from rankgauge.core.arrays import Floats
from rankgauge.core.sealing import write_sealed
from rankgauge.data.model import Ids
from rankgauge.errors import NotExportable
from rankgauge.native import layers, pairwise
from rankgauge.rankers import ListNet, RankNet, load, networks
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.networks import Adam, Network, NetworkRanker, _informative_queries, _pieces
from rankgauge.space import pairwise_loss
from rankgauge.testing import check_ranker

FEATURES, VALIDATION = make_features(40), make_features(20, seed=8)
MONITORED = "nDCG(gain=exp2)@10"


def pair_losses(scores: Any, labels: Any, bounds: Any, mean: bool) -> float:
    """The logistic loss, by two loops over documents."""
    total = 0.0
    for start, end in itertools.pairwise(bounds):
        losses = [
            math.log1p(math.exp(-(scores[i] - scores[j])))
            for i in range(start, end)
            for j in range(start, end)
            if labels[i] > labels[j]
        ]
        total += sum(losses) / (len(losses) if mean and losses else 1)
    return total


def list_losses(scores: Any, labels: Any, bounds: Any) -> float:
    """The cross entropy of the chances to be first, document by document."""
    total = 0.0
    for start, end in itertools.pairwise(bounds):
        wanted, given_ = (
            [math.exp(each) / sum(map(math.exp, part)) for each in part]
            for part in (labels[start:end], scores[start:end])
        )
        total -= sum(p * math.log(q) for p, q in zip(wanted, given_, strict=True))
    return total


@st.composite
def lists(draw: st.DrawFn) -> tuple[Floats, Floats, Any]:
    """Scores, labels and bounds of some queries, none of them empty."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    rows = sum(sizes)
    scores = draw(st.lists(st.floats(-30, 30), min_size=rows, max_size=rows))
    labels = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    return np.array(scores), np.array(labels, float), np.cumsum([0, *sizes])


@given(lists(), st.booleans())
def test_the_loss_of_pairs_is_that_of_a_loop_over_all_pairs(data: Any, mean: bool) -> None:
    scores, labels, bounds = data
    loss, _ = pairwise.logistic_loss(scores, labels, bounds, mean)
    assert loss == pytest.approx(pair_losses(scores, labels, bounds, mean), rel=1e-12, abs=1e-12)


def test_the_loss_of_many_pairs_and_of_scores_far_apart() -> None:
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 4, 300).astype(float), 5 * rng.normal(size=300)
    bounds = np.array([0, 100, 300])
    loss, slopes = pairwise.logistic_loss(scores, labels, bounds, False)
    assert loss == pytest.approx(pair_losses(scores, labels, bounds, False), rel=1e-12)
    assert slopes[:100].sum() == pytest.approx(0, abs=1e-9)
    far, by = pairwise.logistic_loss(
        np.array([-1e200, 1e200]), np.array([1.0, 0.0]), np.array([0, 2]), True
    )
    assert far == 2e200
    assert by.tolist() == [-1, 1]


@given(lists())
def test_the_mean_loss_is_the_pairwise_loss_of_the_space_of_weights(data: Any) -> None:
    scores, labels, bounds = data
    queries = _informative_queries(labels, bounds)
    loss, _ = pairwise.logistic_loss(scores, labels, bounds, True)
    rankings = [
        (labels[start:end].astype(int), scores[start:end])
        for start, end in itertools.pairwise(bounds)
    ]
    each = [pairwise_loss(own.tolist(), given_) for own, given_ in rankings]
    assert np.nansum(each) == pytest.approx(loss, rel=1e-12)
    assert np.count_nonzero(~np.isnan(each)) == len(queries)


@given(lists())
def test_the_loss_of_lists_is_the_cross_entropy_of_the_chances(data: Any) -> None:
    scores, labels, bounds = data
    ranker = ListNet()
    features = features_of(labels, bounds, np.zeros((len(labels), 1)))
    targets = ranker.targets(features, ranker.settings())
    loss, _ = ranker.loss(scores, targets, bounds, ranker.settings())
    assert loss == pytest.approx(list_losses(scores, labels, bounds), rel=1e-9)


def test_chances_follow_the_gain_and_never_overflow() -> None:
    features = features_of([0, 2, 0, 1000], [0, 2, 4], np.zeros((4, 1)))
    targets = ListNet(gain={2: 0.5}).targets(features, ListNet(gain={2: 0.5}).settings())
    assert targets[1] == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))
    assert targets[2:].tolist() == [0, 1]
    with pytest.raises(MeasureError, match="gain=exp2 of grade 2000 is above"):
        ListNet(gain="exp2").fit(replace(features, labels=np.array([0, 1, 2, 2000], np.int32)))


def features_of(labels: Any, bounds: Any, values: Any) -> Features:
    queries = Ids.of(f"q{number}" for number in range(len(bounds) - 1))
    return Features(
        queries, np.array(bounds), np.array(labels, np.int32), np.array(values, np.float64)
    )


RANKERS: dict[str, NetworkRanker] = {
    "pairs, queries alike": RankNet(),
    "pairs alike": RankNet(balance="pairs"),
    "logistic pairs": RankNet(units="logistic"),
    "lists": ListNet(),
}


@pytest.mark.parametrize("kind", RANKERS)
@examples(40)
@given(lists(), st.lists(st.integers(1, 4), max_size=3), st.integers(0, 10**6))
def test_gradients_equal_finite_differences(
    kind: str, data: Any, hidden: list[int], seed: int
) -> None:
    ranker = RANKERS[kind]
    settings = ranker.settings()
    rng = np.random.default_rng(seed)
    _, labels, bounds = data
    labels[0], labels[1:2] = 3, 1  # at least one pair, if there are two documents
    values = rng.normal(size=(len(labels), 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    features = features_of(labels, bounds, values)
    targets, means = ranker.targets(features, settings), rng.normal(size=3)
    queries = _informative_queries(targets, bounds)
    if not len(queries):
        return
    pieces = _pieces(bounds, queries, targets)
    network = Network(3, tuple(hidden), settings["units"])
    weights = rng.normal(size=network.size)

    def mean_loss(at: Floats) -> float:
        return ranker.gradient(network, at, values, means, pieces, settings)[0] / len(queries)

    _, gradient = ranker.gradient(network, weights, values, means, pieces, settings)
    for place in range(network.size):
        moved = np.zeros(network.size)
        moved[place] = 1e-5
        slope = (mean_loss(weights + moved) - mean_loss(weights - moved)) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_pieces_change_nothing_but_the_order_of_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, bounds = FEATURES.labels.astype(float), FEATURES.bounds
    queries, settings = _informative_queries(labels, bounds), RankNet().settings()
    network = Network(5, (4,))
    weights = network.start(np.random.default_rng(0))
    whole, parts = _pieces(bounds, queries, labels), []
    monkeypatch.setattr(networks, "ROWS", 30)
    parts = _pieces(bounds, queries, labels)
    assert len(whole) == 1
    assert len(parts) > 8
    assert max(len(piece.targets) for piece in parts) < 30 + 12
    (loss, gradient), (other, same) = (
        RankNet().gradient(network, weights, FEATURES.values, np.zeros(5), pieces, settings)
        for pieces in (whole, parts)
    )
    assert other == pytest.approx(loss, rel=1e-12)
    assert same == pytest.approx(gradient, rel=1e-9, abs=1e-12)


def test_pieces_have_the_rows_of_the_chosen_queries() -> None:
    bounds, targets = np.array([0, 2, 2, 5, 6]), np.arange(6.0)
    (all_rows,) = _pieces(bounds, np.array([0, 2, 3]), targets)
    assert all_rows.rows == slice(0, 6)
    assert all_rows.bounds.tolist() == [0, 2, 5, 6]
    (some,) = _pieces(bounds, np.array([0, 3]), targets)
    assert some.rows.tolist() == [0, 1, 5]  # type: ignore[union-attr]
    assert some.targets.tolist() == [0, 1, 5]


def adam_steps(weight: float, gradients: list[float], rate: float) -> float:
    """Algorithm 1 of Kingma and Ba, for one weight."""
    m = v = 0.0
    for t, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        weight -= rate * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return weight


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_adam_is_the_papers(gradients: list[float]) -> None:
    adam, weights = Adam(2, 0.01), np.array([0.5, 0.5])
    for gradient in gradients:
        adam.step(weights, np.array([gradient, 0.0]))
    assert weights[0] == pytest.approx(adam_steps(0.5, gradients, 0.01), rel=1e-9)
    assert weights[1] == 0.5


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def ranklib_epoch(network: Network, weights: Floats, query: Features, rate: float) -> None:
    """One query of RankLib's RankNet, with one hidden layer: outputs are computed once, and then each
    document changes the weights by its pairs with the documents of lower labels."""
    ((matrix, constants),), output = network.layers(weights)
    rows, units = query.values.astype(float), range(len(output))
    inner = [
        [
            logistic(sum(x * w for x, w in zip(row, matrix[:, u], strict=True)) + constants[u])
            for u in units
        ]
        for row in rows
    ]
    scores = [logistic(sum(h * w for h, w in zip(own, output, strict=True))) for own in inner]
    for i, label in enumerate(query.labels):
        below = [j for j, other in enumerate(query.labels) if other < label]
        push = {j: logistic(scores[j] - scores[i]) for j in below}
        delta = {j: -push[j] * scores[j] * (1 - scores[j]) for j in below}
        delta[i] = sum(push.values()) * scores[i] * (1 - scores[i])
        deep = {
            d: [delta[d] * output[u] * inner[d][u] * (1 - inner[d][u]) for u in units]
            for d in delta
        }
        for u in units:
            output[u] += rate * sum(delta[d] * inner[d][u] for d in delta)
            constants[u] += rate * sum(deep[d][u] for d in deep)
            for f in range(rows.shape[1]):
                matrix[f, u] += rate * sum(deep[d][u] * rows[d, f] for d in deep)


def test_the_preset_takes_the_steps_of_ranklibs_ranknet() -> None:
    query = make_features(1, sizes=(8, 8))
    ranker = RankNet(preset="ranklib", epochs=30).fit(query)
    network = Network(5, (10,), "logistic")
    weights = network.start(np.random.default_rng(ranker.seed))
    first = weights.copy()
    for _ in range(30):
        ranklib_epoch(network, weights, query, 5e-5)
    assert np.abs(weights).max() < 0.2
    # RankLib's hidden units see the output's weights change within a query, by less than 1e-3 each.
    moved, expected = ranker.weights_ - first, weights - first
    assert np.abs(moved - expected).max() < 1e-3 * np.abs(expected).max()


def test_the_preset_takes_the_steps_of_ranklibs_listnet() -> None:
    query = make_features(1, sizes=(8, 8))
    ranker = ListNet(preset="ranklib", epochs=30).fit(query)
    weights = Network(5, (), "logistic").start(np.random.default_rng(ranker.seed))
    wanted = np.exp(query.labels) / np.exp(query.labels).sum()
    for _ in range(30):
        outputs = [logistic(float(sum(row * weights))) for row in query.values.astype(float)]
        chances = np.exp(outputs) / np.exp(outputs).sum()
        weights = weights + 1e-5 * (wanted - chances) @ query.values.astype(float)
    assert ranker.weights_ == pytest.approx(weights, rel=1e-10)


@pytest.mark.parametrize("method", [RankNet, ListNet])
@pytest.mark.parametrize("hidden", [[], [4], [4, 3]])
def test_the_best_epoch_on_the_validation_set_is_kept(
    method: type[RankNet | ListNet], hidden: list[int]
) -> None:
    ranker = method(hidden=hidden, patience=5, measure="AP").fit(FEATURES, VALIDATION)
    values, losses = ranker.history_["AP"], ranker.history_["loss"]
    assert len(values) == len(losses) == min(200, values.index(max(values)) + 6)
    evaluator = rg.Evaluator(VALIDATION.judgments, "AP")
    scores = evaluator.score_features(VALIDATION, ranker.predict(VALIDATION))
    assert scores.mean()["run"]["AP"] == max(values)
    shorter = method(hidden=hidden, epochs=values.index(max(values)) + 1).fit(FEATURES)
    assert list(shorter.history_) == ["loss"]
    assert shorter.weights_.tolist() == ranker.weights_.tolist()
    assert losses[-1] < losses[0]


def test_a_measure_of_which_less_is_better_decides_too() -> None:
    ranker = ListNet(measure="SearchLength", patience=3).fit(FEATURES, VALIDATION)
    values = ranker.history_["SearchLength"]
    assert len(values) == min(200, values.index(min(values)) + 4)


def test_batches_are_drawn_by_the_seed() -> None:
    first, second, other = (
        ListNet(batch=7, epochs=3, seed=seed).fit(FEATURES).weights_.tolist() for seed in (1, 1, 2)
    )
    assert first == second != other
    # With weighted sums and all queries in one step nothing is drawn.
    alike = [ListNet(epochs=3, seed=seed).fit(FEATURES).weights_.tolist() for seed in (1, 2)]
    assert alike[0] == alike[1]
    started = [RankNet(epochs=3, seed=seed).fit(FEATURES).weights_.tolist() for seed in (1, 2)]
    assert started[0] != started[1]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("hidden", [(), (7,), (7, 3)])
def test_scores_do_not_depend_on_other_rows_to_the_last_bit(
    hidden: tuple[int, ...], kind: str
) -> None:
    rng = np.random.default_rng(1)
    network = Network(46, hidden)
    weights, means = rng.normal(size=network.size), rng.normal(size=46)
    values = rng.random((9_001, 46)).astype(kind)
    values[5] = values[9_000]
    values[rng.random(values.shape) < 0.01] = np.nan
    values[5] = values[9_000]
    scores = network.scores(values, means, weights)
    assert scores[5] == scores[9_000]
    for row in (0, 17, 4_095, 4_096, 9_000):
        assert network.scores(values[row : row + 1], means, weights).tolist() == [scores[row]]
    assert network.scores(values[::-1], means, weights)[::-1].tolist() == scores.tolist()
    plain = np.where(np.isnan(values), means, values.astype(float))
    inner, output = network.layers(weights)
    for matrix, constants in inner:
        plain = np.tanh(plain @ matrix + constants)
    assert scores == pytest.approx(plain @ output, rel=1e-9, abs=1e-9)


def test_the_importance_of_a_feature_adds_all_ways_to_the_output() -> None:
    network = Network(2, (2, 2))
    matrix, second, output = [[1, -2], [3, 0]], [[1, 1], [-1, 0.5]], [2, -1]
    weights = np.array([*np.ravel(matrix), 9, 9, *np.ravel(second), 9, 9, *output], float)
    ways = [
        sum(abs(matrix[f][a] * second[a][b] * output[b]) for a in (0, 1) for b in (0, 1))
        for f in (0, 1)
    ]
    assert network.importances(weights).tolist() == ways
    assert network.size == len(weights)
    ranker = ListNet(epochs=5).fit(FEATURES)
    assert ranker.feature_importances_.tolist() == np.abs(ranker.weights_).tolist()


@pytest.mark.parametrize("method", [RankNet, ListNet])
def test_labels_that_say_nothing_give_equal_scores(method: type[RankNet | ListNet]) -> None:
    # Labels below 0 count as 0.
    equal = replace(FEATURES, labels=np.where(FEATURES.labels > 0, 0, -1).astype(np.int32))
    for hidden in ([], [3]):
        ranker = method(epochs=4, hidden=hidden).fit(equal, equal)
        assert not ranker.weights_.any()
        assert ranker.history_ == {"nDCG(gain=exp2)@10": [], "loss": []}
        assert not ranker.predict(FEATURES).any()


@pytest.mark.parametrize("method", [RankNet, ListNet])
def test_huge_values_are_learnt_from_or_refused(method: type[RankNet | ListNet]) -> None:
    values = FEATURES.values.astype(float)
    values[::7, 2] = 3e38
    for preset in ("default", "ranklib"):
        ranker = method(preset=preset, normalize="none", epochs=5, hidden=[3, 2])
        large = replace(FEATURES, values=values)
        assert np.isfinite(ranker.fit(large, large).predict(large)).all()
    values[::7, 2] = -1e200
    with pytest.raises(InputError, match=r"a value beyond 1e.100.*normalize='query-z'"):
        method(normalize="none").fit(replace(FEATURES, values=values))


def test_weighted_sums_are_exported_and_hidden_layers_are_not() -> None:
    ranker = RankNet(hidden=[], normalize="z").fit(FEATURES)
    model = ranker.to_search_engine(name="mine")["model"]
    assert model["model"]["type"] == "model/linear"
    assert list(json.loads(model["model"]["definition"]).values()) == ranker.weights_.tolist()
    with pytest.raises(
        NotExportable, match=r"not support networks with hidden layers.*hidden=\[\]"
    ):
        RankNet(normalize="z").fit(FEATURES).to_search_engine()


FORMS: dict[str, tuple[Any, str]] = {
    "no form": (None, "not a valid network"),
    "a list": ([], "not a valid network"),
    "one more entry": ({"hidden": [4], "units": "tanh", "more": 1}, "not a valid network"),
    "no units": ({"hidden": [4]}, "not a valid network"),
    "other units": ({"hidden": [4], "units": "relu"}, "not a valid network"),
    "units in a list": ({"hidden": [4], "units": ["tanh"]}, "not a valid network"),
    "a number for the layers": ({"hidden": 4, "units": "tanh"}, "not a valid network"),
    "half a unit": ({"hidden": [4.0], "units": "tanh"}, "not a whole number"),
    "yes for a size": ({"hidden": [True], "units": "tanh"}, "not a whole number"),
    "no unit": ({"hidden": [0], "units": "tanh"}, "does not fit"),
    "units below 0": ({"hidden": [-4], "units": "tanh"}, "does not fit"),
    "too many units": ({"hidden": [10**30], "units": "tanh"}, "does not fit"),
    "too many layers": ({"hidden": [1] * 9, "units": "tanh"}, "does not fit"),
    "another size": ({"hidden": [5], "units": "tanh"}, "weights_ is not an array of 35"),
    "a layer less": ({"hidden": [], "units": "tanh"}, "weights_ is not an array of 5"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_with_another_form_is_refused(form: str, tmp_path: Path) -> None:
    changed, message = FORMS[form]
    ranker = RankNet(hidden=[4], epochs=2).fit(FEATURES)
    ranker.save(tmp_path)
    assert load(tmp_path).predict(FEATURES).tolist() == ranker.predict(FEATURES).tolist()
    document = json.loads((tmp_path / "model.json").read_text())
    document["learnt"]["network_"] = changed
    del document["seal"]
    write_sealed(tmp_path / "model.json", document)
    with pytest.raises(InputError, match=f"not a complete ranker.*{message}"):
        load(tmp_path)


def test_sizes_of_layers_are_whole_numbers_in_a_list() -> None:
    assert RankNet().settings()["hidden"] == (10,)
    assert RankNet(hidden=[20, 5.0]).settings()["hidden"] == (20, 5)
    assert RankNet(hidden=()).settings()["hidden"] == ()
    for wrong in ([0], [1.5], [True], [4097], [1] * 9, {"a": 1}):
        with pytest.raises(MeasureError, match=r"RankNet: hidden: .*expected a list of at most 8"):
            RankNet(hidden=wrong).settings()  # type: ignore[arg-type]


def test_the_presets_are_the_settings_of_ranklib() -> None:
    classical = {"normalize": "none", "steps": "plain", "units": "logistic", "batch": 1}
    for ranker, own in (
        (RankNet(preset="ranklib"), {"hidden": (10,), "learning_rate": 5e-5, "epochs": 100}),
        (ListNet(preset="ranklib"), {"hidden": (), "learning_rate": 1e-5, "epochs": 1500}),
    ):
        settings = ranker.settings()
        expected = {**classical, **own}
        assert {name: settings[name] for name in expected} == expected
        assert str(settings["measure"]) == "ERR@10"
        assert settings["patience"] == settings["epochs"]


def test_other_settings_pass_the_checks() -> None:
    check_ranker(RankNet(hidden=[4, 3], batch=4, epochs=20, units="logistic", balance="pairs"))
    check_ranker(ListNet(hidden=[4], steps="plain", normalize="z", epochs=20, gain={1: 1, 2: 5}))


def test_compiled_loops_refuse_arrays_that_do_not_fit() -> None:
    two, bounds = np.zeros(2), np.array([0, 2])
    with pytest.raises(ValueError, match="a target for each score"):
        pairwise.logistic_loss(two, np.zeros(3), bounds, True)
    for wrong in ([0, 1], [1, 2], [0, 3, 2], [0, -1, 2]):
        with pytest.raises(ValueError, match="bounds"):
            pairwise.logistic_loss(two, two, np.array(wrong), True)
    with pytest.raises(ValueError, match="bounds"):
        pairwise.logistic_loss(two, two, np.zeros(0, np.int64), True)
    matrix, column = np.zeros((3, 2)), np.zeros((2, 1))
    for means, weights, constants in (
        (np.zeros(3), column, np.zeros(1)),
        (two, np.zeros((3, 1)), np.zeros(1)),
        (two, column, two),
    ):
        with pytest.raises(ValueError, match="are expected"):
            layers.layer_sums(matrix, means, weights, constants)
    for means, slopes in ((np.zeros(3), np.zeros((3, 1))), (two, column)):
        with pytest.raises(ValueError, match="are expected"):
            layers.layer_gradient(matrix, means, slopes)
    assert layers.layer_sums(matrix, two, np.zeros((2, 0)), np.zeros(0)).shape == (3, 0)
    assert layers.layer_gradient(matrix, two, np.zeros((3, 0))).shape == (2, 0)

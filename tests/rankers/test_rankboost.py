"""RankBoost is what the paper says with stored pairs, and its loss never rises."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import Features, InputError
from rankgauge.data.model import Ids
from rankgauge.rankers import RankBoost, load
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.rankboost import LabelPairs, Stumps, bin_values, thresholds

FEATURES, VALIDATION = make_features(40), make_features(20, seed=8)


@st.composite
def documents(draw: st.DrawFn) -> Features:
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=6).filter(any))
    rows, width = sum(sizes), draw(st.integers(1, 3))
    labels = draw(st.lists(st.integers(-1, 3), min_size=rows, max_size=rows))
    numbers = st.sampled_from([0.0, 0.5, 1.0, math.nan]) | st.floats(-9, 9, width=32)
    values = draw(st.lists(numbers, min_size=rows * width, max_size=rows * width))
    return Features(
        Ids.of(f"q{number}" for number in range(len(sizes))),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array(labels, np.int32),
        np.array(values, np.float32).reshape(rows, width),
    )


def stored_pairs(features: Features, weighting: str) -> dict[tuple[int, int], float]:
    """The weight of each pair (better row, worse row) at the start."""
    by_query = []
    for start, end in zip(features.bounds[:-1].tolist(), features.bounds[1:].tolist(), strict=True):
        label = np.maximum(features.labels, 0)
        rows = range(start, end)
        by_query.append([(i, j) for i in rows for j in rows if label[i] > label[j]])
    count = sum(map(len, by_query))
    queries = sum(map(bool, by_query))
    return {
        pair: 1 / count if weighting == "pairs" else 1 / len(pairs) / queries
        for pairs in by_query
        for pair in pairs
    }


def potential(weights: dict[tuple[int, int], float], rows: int) -> list[float]:
    sums = [0.0] * rows
    for (better, worse), weight in weights.items():
        sums[better] += weight
        sums[worse] -= weight
    return sums


@examples(100)
@given(documents(), st.sampled_from(["queries", "pairs"]), st.sampled_from(["up", "both"]))
def test_training_is_the_papers_with_stored_pairs(
    features: Features, weighting: str, directions: str
) -> None:
    settings = {"weighting": weighting, "directions": directions, "normalize": "none", "bins": 255}
    ranker = RankBoost(rounds=12, **settings).fit(features)
    weights, rows = stored_pairs(features, weighting), len(features.labels)
    values = features.values.astype(np.float64)
    candidates = {
        (feature, float(cut)): values[:, feature] > cut
        for feature in range(values.shape[1])
        for cut in thresholds(features.values[:, feature], 255)
    }

    def ordered() -> dict[tuple[int, float], float]:
        own = np.array(potential(weights, rows))
        sums = {stump: float(own[above].sum()) for stump, above in candidates.items()}
        return {stump: abs(r) if directions == "both" else r for stump, r in sums.items()}

    before, loss = 1.0, 1.0
    for feature, cut, alpha, reported in zip(
        ranker.features_.tolist(),
        ranker.thresholds_.tolist(),
        ranker.alphas_.tolist(),
        ranker.history_["loss"],
        strict=True,
    ):
        by_stump, above = ordered(), candidates[feature, cut]
        assert by_stump[feature, cut] >= max(by_stump.values()) - 1e-9
        own = potential(weights, rows)
        r = sum(value for value, high in zip(own, above.tolist(), strict=True) if high)
        if abs(r) < 1 - 1e-9:
            assert alpha == pytest.approx(0.5 * math.log((1 + r) / (1 - r)), rel=1e-6, abs=1e-9)
        assert 0 < abs(alpha) < 15
        for better, worse in weights:
            weights[better, worse] *= math.exp(alpha * (float(above[worse]) - float(above[better])))
        total = sum(weights.values())
        loss *= total
        weights = {pair: weight / total for pair, weight in weights.items()}
        assert reported == pytest.approx(loss, rel=1e-9)
        assert reported <= before * (1 + 1e-12)
        before = reported
    if len(ranker.alphas_) < 12 and weights:  # nothing left, or everything in order
        left = max(ordered().values(), default=0.0)
        assert left < 1e-9 or left > 1 - 1e-9


def test_the_same_stumps_are_chosen_as_with_stored_pairs() -> None:
    ranker = RankBoost(rounds=30, normalize="none", bins=20).fit(FEATURES)
    weights, values = stored_pairs(FEATURES, "queries"), FEATURES.values.astype(np.float64)
    for place in range(30):
        own = np.array(potential(weights, len(values)))
        best = max(
            (float(own[values[:, feature] > cut].sum()), -feature, -float(cut))
            for feature in range(5)
            for cut in thresholds(FEATURES.values[:, feature], 20)
        )
        r, feature, cut = best[0], -best[1], -best[2]
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        assert (feature, cut) == (ranker.features_[place], ranker.thresholds_[place])
        assert ranker.alphas_[place] == pytest.approx(alpha, rel=1e-10)
        above = values[:, feature] > cut
        for better, worse in weights:
            weights[better, worse] *= math.exp(alpha * (float(above[worse]) - float(above[better])))
        total = sum(weights.values())
        weights = {pair: weight / total for pair, weight in weights.items()}


@examples(100)
@given(documents(), st.data())
def test_potentials_equal_those_of_explicit_pairs(features: Features, data: st.DataObject) -> None:
    pairs = LabelPairs.of(features, "queries")
    stumps = Stumps(pairs, np.zeros((1, len(pairs.rows)), dtype=np.uint8))
    count = len(pairs.rows)
    scores = data.draw(st.lists(st.floats(-20, 20), min_size=count, max_size=count))
    stumps._scores[:] = scores
    stumps._weigh()
    score = dict(zip(pairs.rows.tolist(), scores, strict=True))
    weights = {
        (better, worse): weight * math.exp(score[worse] - score[better])
        for (better, worse), weight in stored_pairs(features, "queries").items()
    }
    total = math.fsum(weights.values())
    own = potential(
        {pair: weight / total for pair, weight in weights.items()}, len(features.labels)
    )
    assert stumps.potentials == pytest.approx([own[row] for row in pairs.rows], rel=0, abs=1e-12)
    assert set(pairs.rows.tolist()) == {row for pair in weights for row in pair}
    if weights:
        assert stumps.loss == pytest.approx(total, rel=1e-12)


@examples(100)
@given(
    st.lists(
        st.sampled_from([0.0, 1.0, 1.0 + 2**-23, 3e38, -3e38, 1e-45, math.nan])
        | st.floats(width=32, allow_infinity=False, allow_nan=False),
        min_size=1,
        max_size=60,
    ),
    st.integers(2, 255),
    st.sampled_from(["quantiles", "equal"]),
    st.sampled_from([np.float32, np.float64]),
)
def test_bins_and_raw_values_are_on_the_same_side_of_each_threshold(
    numbers: list[float], bins: int, spacing: str, kind: type[np.floating]
) -> None:
    column = np.array(numbers, dtype=kind)
    cuts = thresholds(column, bins, spacing)
    assert len(cuts) < bins
    assert np.isfinite(cuts).all()
    assert (np.diff(cuts) > 0).all()
    (own,) = bin_values(column[:, None], np.arange(len(column)), [cuts])
    for place, cut in enumerate(cuts.tolist()):
        above = [value > cut for value in column.astype(np.float64).tolist()]
        assert (own > place).tolist() == above
    values = np.unique(column[~np.isnan(column)])
    if spacing == "quantiles" and len(values) <= bins:
        assert len(set(own[~np.isnan(column)].tolist())) == len(values)  # all are told apart


def test_ranges_hold_about_as_many_documents_and_a_frequent_value_fills_one() -> None:
    column = np.random.default_rng(0).permutation(np.append(np.zeros(9_000), np.arange(1, 1001)))
    counts = np.bincount(np.searchsorted(thresholds(column, 11), column))
    assert counts.tolist() == [9_000, *[100] * 10]


def test_ranklibs_thresholds_are_equal_steps() -> None:
    column = np.array([2.0, 12, 3, 7])
    assert thresholds(column, 10, "equal").tolist() == pytest.approx(list(range(3, 12)))
    classical = RankBoost(preset="ranklib").settings()
    expected = {
        "rounds": 300,
        "bins": 10,
        "spacing": "equal",
        "weighting": "pairs",
        "normalize": "none",
        "patience": 300,
    }
    assert {name: classical[name] for name in expected} == expected


def test_the_stumps_up_to_the_best_value_on_the_validation_set_are_kept() -> None:
    ranker = RankBoost(measure="AP", patience=10).fit(FEATURES, VALIDATION)
    values = ranker.history_["AP"]
    best = values.index(max(values)) + 1
    assert len(ranker.alphas_) == best
    assert len(values) == best + 10
    evaluator = rg.Evaluator(VALIDATION.judgments, "AP")
    for rounds in (1, 2, best, best + 3):
        scores = RankBoost(rounds=rounds).fit(FEATURES).predict(VALIDATION)
        (value,) = evaluator.score_features(VALIDATION, scores).mean()["run"].values()
        assert value == values[rounds - 1]
    assert ranker.predict(VALIDATION).tolist() == (
        RankBoost(rounds=best).fit(FEATURES).predict(VALIDATION).tolist()
    )


def test_data_in_perfect_order_ends_training_with_finite_weights() -> None:
    values = FEATURES.labels[:, None].astype(np.float32)
    for labels in (FEATURES.labels, (FEATURES.labels > 0).astype(np.int32)):
        features = replace(FEATURES, values=values, labels=labels)
        ranker = RankBoost(normalize="none").fit(features)
        assert np.abs(ranker.alphas_).max() < 15
        scores = ranker.predict(features)
        means = rg.Evaluator(features.judgments, "AP").score_features(features, scores).mean()
        relevant = rg.Evaluator(features.judgments, "ideal(AP)").score_features(features, scores)
        assert means["run"]["AP"] == relevant.mean()["run"]["ideal(AP)"]


def test_the_loss_may_become_smaller_than_any_double() -> None:
    # Two stumps take turns; each orders nearly all pairs, so the loss falls without end.
    rows = 2_000
    values = np.zeros((2 * rows, 3), dtype=np.float32)
    values[rows:] = 1
    for feature in range(3):
        values[rows + feature, feature] = 0
    labels = np.repeat([0, 1], rows).astype(np.int32)
    features = Features(Ids.of(["q"]), np.array([0, 2 * rows]), labels, values)
    ranker = RankBoost(rounds=3_000).fit(features)
    loss = np.array(ranker.history_["loss"])
    assert len(loss) == 3_000
    assert loss[-1] == 0.0
    assert (np.diff(loss) <= 0).all()
    assert np.isfinite(ranker.alphas_).all()
    assert (ranker.alphas_[-3:] > 0.1).all()
    scores = ranker.predict(features)
    assert scores[:rows].max() < scores[rows:].min()


def test_low_values_are_better_only_where_both_directions_are_looked_at() -> None:
    turned = replace(FEATURES, values=-FEATURES.values[:, :1])
    assert RankBoost(directions="both").fit(turned).alphas_[0] < 0
    up = RankBoost(directions="up").fit(turned)
    assert len(up.alphas_) == 0 or (up.alphas_ > 0).all()
    assert max(RankBoost(directions="both").fit(turned).history_["loss"]) < 0.9


def test_nan_is_below_every_threshold() -> None:
    values = FEATURES.values.copy()
    values[::2] = np.nan
    ranker = RankBoost(normalize="none").fit(replace(FEATURES, values=values))
    lowest = np.full((1, 5), np.finfo(np.float32).min, dtype=np.float32)
    assert len(ranker.alphas_)
    assert ranker.score(np.full((1, 5), np.nan, dtype=np.float32)) == ranker.score(lowest)


def test_a_model_that_looks_at_features_that_are_not_there_is_refused(tmp_path: Path) -> None:
    for change in ({"features_": np.array([9])}, {"alphas_": np.zeros(3)}):
        ranker = RankBoost(rounds=1).fit(FEATURES)
        vars(ranker).update(change)
        ranker.save(tmp_path)
        with pytest.raises(InputError, match=r"features_|alphas_"):
            load(tmp_path)

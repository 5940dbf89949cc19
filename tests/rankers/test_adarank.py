"""AdaRank is what the paper says, by any measure, and it says where it stalls."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import Features, MeasureError
from rankgauge.data.model import Ids
from rankgauge.measures.around import Aggregate
from rankgauge.rankers import AdaRank, load
from rankgauge.rankers.adarank import NOTHING, STALLED
from rankgauge.rankers.base import EQUAL_LABELS, REMARKS
from rankgauge.rankers.checks import make_features

FEATURES, VALIDATION = make_features(40), make_features(20, seed=8)
RAW: dict[str, Any] = {"normalize": "none"}


@st.composite
def documents(draw: st.DrawFn) -> Features:
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=6).filter(any))
    rows, width = sum(sizes), draw(st.integers(1, 4))
    labels = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    numbers = st.integers(0, 4).map(float) | st.floats(0, 4, width=32)
    values = draw(st.lists(numbers, min_size=rows * width, max_size=rows * width))
    return Features(
        Ids.of(f"q{number}" for number in range(len(sizes))),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array(labels, np.int32),
        np.array(values, np.float32).reshape(rows, width),
    )


def average_precisions(features: Features, scores: list[float]) -> list[float]:
    """AP of each query, written down plainly; ties with the greatest name first."""
    names = list(features.judgments.documents)
    values = []
    for start, end in itertools.pairwise(features.bounds.tolist()):
        rows = sorted(range(start, end), key=lambda row: names[row], reverse=True)
        rows.sort(key=lambda row: -scores[row])
        hits, total = 0, 0.0
        for rank, row in enumerate(rows, 1):
            if features.labels[row] > 0:
                hits += 1
                total += hits / rank
        values.append(total / hits if hits else 0.0)
    return values


@examples(100)
@given(documents(), st.sampled_from([0.0, 0.002, 0.1]), st.integers(1, 5))
def test_training_is_the_papers(features: Features, tolerance: float, repeats: int) -> None:
    settings = {"objective": "AP", "tolerance": tolerance, "repeats": repeats, "rounds": 8}
    ranker = AdaRank(**RAW, **settings).fit(features)
    columns = features.values.astype(np.float64).T.tolist()
    alone = [average_precisions(features, column) for column in columns]
    count = len(features.queries)
    chance = [1 / count] * count
    weights, before, streak = [0.0] * len(columns), -math.inf, [-1]
    history = ranker.history_
    for place, (number, alpha) in enumerate(zip(history["feature"], history["alpha"], strict=True)):
        feature = int(number) - 1
        means = [sum(map(float.__mul__, chance, own)) for own in alone]
        allowed = [
            mean
            for f, mean in enumerate(means)
            if _orders(features, f) and streak[-repeats:] != [f] * repeats
        ]
        assert means[feature] >= max(allowed) - 1e-12
        streak.append(feature)
        assert streak[-repeats - 1 :] != [feature] * (repeats + 1)
        good = sum(p * (1 + e) for p, e in zip(chance, alone[feature], strict=True))
        bad = sum(p * (1 - e) for p, e in zip(chance, alone[feature], strict=True))
        if bad > 1e-9:
            assert alpha == pytest.approx(0.5 * math.log(good / bad), rel=1e-9, abs=1e-12)
        weights[feature] += alpha
        scores = [
            sum(w * x for w, x in zip(weights, row, strict=True))
            for row in zip(*columns, strict=True)
        ]
        values = average_precisions(features, scores)
        value = history["training AP"][place]
        assert value == pytest.approx(sum(values) / count, rel=1e-12)
        last = place == len(history["alpha"]) - 1
        assert last or value - before > -tolerance
        before = value
        total = sum(math.exp(-e) for e in values)
        chance = [math.exp(-e) / total for e in values]
    if history["alpha"]:
        steps = history["training AP"]
        fell = len(steps) > 1 and steps[-1] - steps[-2] <= -tolerance
        if fell:
            weights[int(history["feature"][-1]) - 1] -= history["alpha"][-1]
        assert ranker.coefficients_ == pytest.approx(weights, abs=1e-9)


def _orders(features: Features, feature: int) -> bool:
    parts = itertools.pairwise(features.bounds.tolist())
    return any(len(set(features.values[a:b, feature].tolist())) > 1 for a, b in parts)


@pytest.mark.parametrize("select", ["weighted", "ensemble"])
@pytest.mark.parametrize(
    "objective",
    ["nDCG@10", "v2(nDCG@10)", "linear(AP)", "gm(AP)", "mean(RR)", "DCG@10", "SearchLength", "ERR"],
)
def test_any_measure_is_climbed(objective: str, select: str) -> None:
    features = replace(FEATURES, values=FEATURES.values[:, 1:])
    ranker = AdaRank(objective=objective, select=select, rounds=30).fit(features)
    evaluator = rg.Evaluator(features.judgments, objective)

    def value(scores: Any) -> float:
        return next(iter(evaluator.score_features(features, scores).mean()["run"].values()))

    steps = ranker.history_[f"training {objective}"]
    sign = -1 if objective == "SearchLength" else 1
    alone = [sign * value(features.values[:, f]) for f in range(4)]
    assert sign * steps[0] == pytest.approx(max(alone), rel=1e-12)
    reached = value(ranker.predict(features))
    assert reached in steps  # to the last bit
    assert sign * reached > sign * value(-ranker.predict(features))
    if select == "ensemble":
        heights = [sign * step for step in steps]
        assert heights == sorted(set(heights))
        assert sign * reached == heights[-1]


def test_choosing_for_the_sum_raises_the_objective_higher() -> None:
    values = np.random.default_rng(3).random((len(FEATURES.labels), 8))
    features = replace(FEATURES, values=values)
    reached = {
        select: max(AdaRank(select=select, objective="AP").fit(features).history_["training AP"])
        for select in ("weighted", "ensemble")
    }
    assert reached["ensemble"] > reached["weighted"] + 0.01


def test_choosing_for_the_sum_ends_where_no_feature_raises_the_objective() -> None:
    # The first feature is so strong that the others, each with its weight, lower the objective.
    values = np.random.default_rng(0).random((len(FEATURES.labels), 3)) * 1000
    values[:, 0] = FEATURES.labels + 0.001 * values[:, 0]
    values[::9, 0] = 0
    features = replace(FEATURES, values=values)
    ranker = AdaRank(**RAW, select="ensemble", objective="AP").fit(features)
    assert ranker.history_["feature"] == [1]
    assert ranker.notes() == ()
    assert np.flatnonzero(ranker.coefficients_).tolist() == [0]


def test_the_note_on_a_stall_does_not_name_the_setting_in_use() -> None:
    ranker = AdaRank(rounds=20).fit(FEATURES)
    assert "select='ensemble'" in str(*ranker.notes())
    ranker.set_params(select="ensemble")  # as a ranker that an earlier version saved
    (note,) = ranker.notes()
    assert str(note).startswith(STALLED)
    assert "ensemble" not in str(note)


def test_queries_on_which_the_measure_is_undefined_are_left_out() -> None:
    objective = "SearchLength"
    labels = FEATURES.labels.copy()
    for query in (0, 7, 8):
        labels[FEATURES.bounds[query] : FEATURES.bounds[query + 1]] = 0
    features = replace(FEATURES, labels=labels)
    rest = features.select([query for query in range(40) if query not in (0, 7, 8)])
    undefined = rg.Evaluator(features.judgments, objective).score_features(
        features, features.values[:, 0]
    )
    assert np.isnan(np.asarray(undefined)[0, [0, 7, 8], 0]).all()
    settings: dict[str, Any] = {**RAW, "objective": objective, "rounds": 20}
    both = [AdaRank(**settings).fit(each) for each in (features, rest)]
    assert both[0].coefficients_.tolist() == both[1].coefficients_.tolist()
    nothing = replace(FEATURES, labels=np.zeros_like(labels))
    assert not AdaRank(**settings).fit(nothing).coefficients_.any()


class Lowest(Aggregate):
    """The lowest score of any query."""

    name = "lowest"

    def combine(self, scores: Any) -> float:
        return float(scores.min())


def test_a_number_that_is_no_mean_over_queries_is_refused() -> None:
    with pytest.raises(MeasureError, match=r"objective: lowest\(AP\) has no value for a single q"):
        AdaRank(objective=Lowest(rg.AP)).fit(FEATURES)
    AdaRank(measure=Lowest(rg.AP), rounds=5).fit(FEATURES, VALIDATION)


def test_the_weights_of_the_best_round_on_the_validation_set_are_kept() -> None:
    ranker = AdaRank(measure="AP", select="ensemble").fit(FEATURES, VALIDATION)
    values = ranker.history_["AP"]
    scores = ranker.predict(VALIDATION)
    evaluator = rg.Evaluator(VALIDATION.judgments, "AP")
    assert evaluator.score_features(VALIDATION, scores).mean()["run"]["AP"] == max(values)
    best = values.index(max(values)) + 1
    weights = np.zeros(5)
    for feature, alpha in zip(
        ranker.history_["feature"][:best], ranker.history_["alpha"][:best], strict=True
    ):
        weights[int(feature) - 1] += alpha
    assert ranker.coefficients_.tolist() == weights.tolist()
    assert len({*map(len, ranker.history_.values())}) == 1


def test_low_values_are_better_only_where_both_directions_are_looked_at() -> None:
    turned = replace(FEATURES, values=-FEATURES.values)
    assert (AdaRank(rounds=5).fit(turned).coefficients_ >= 0).all()
    both = AdaRank(rounds=5, directions="both").fit(turned)
    assert both.coefficients_[0] < 0
    evaluator = rg.Evaluator(turned.judgments, "nDCG(gain=exp2)@10")
    scores = evaluator.score_features(turned, both.predict(turned)).mean()["run"]
    assert next(iter(scores.values())) > 0.85


def test_features_that_are_constant_within_each_query_are_never_chosen() -> None:
    values = np.random.default_rng(0).random(FEATURES.values.shape).astype(np.float32)
    values[:, 2] = np.repeat(np.arange(40), np.diff(FEATURES.bounds))
    ranker = AdaRank(select="ensemble").fit(replace(FEATURES, values=values))
    assert ranker.coefficients_[2] == 0
    assert not AdaRank().fit(replace(FEATURES, values=values[:, 2:3])).coefficients_.any()


def test_a_stall_is_said(tmp_path: Path) -> None:
    ranker = AdaRank(rounds=20).fit(FEATURES)
    assert ranker.history_["feature"][:6] == [1, 1, 1, 1, 1, 2]
    (note,) = ranker.notes()
    assert str(note).startswith(STALLED)
    assert "of 20 rounds" in str(note)
    ranker.save(tmp_path / "model")
    assert load(tmp_path / "model").notes() == ranker.notes()
    assert AdaRank(rounds=1).fit(FEATURES).notes() == ()


def test_nan_counts_as_the_mean_of_its_feature() -> None:
    values = FEATURES.values.copy()
    values[::3, 0] = np.nan
    mean = np.nanmean(values[:, 0], dtype=np.float64)
    filled = np.where(np.isnan(values), mean, values.astype(np.float64))
    holes = AdaRank(**RAW, rounds=3).fit(replace(FEATURES, values=values))
    whole = AdaRank(**RAW, rounds=3).fit(replace(FEATURES, values=filled))
    assert holes.coefficients_ == pytest.approx(whole.coefficients_, rel=1e-12)


def test_an_objective_that_no_feature_raises_is_said() -> None:
    ranker = AdaRank(objective="AP(rel=3)").fit(FEATURES)  # labels are 2 at most
    assert not ranker.coefficients_.any()
    assert [note.kind for note in ranker.notes()] == [NOTHING]


def test_nothing_is_chosen_where_all_labels_are_equal() -> None:
    equal = replace(FEATURES, labels=np.full_like(FEATURES.labels, 2))
    ranker = AdaRank().fit(equal)
    assert ranker.history_["feature"] == []
    assert [note.kind for note in ranker.notes()] == [REMARKS[EQUAL_LABELS]]

"""tune: the best weight is the best, and what it is worth is said honestly."""

from __future__ import annotations

import re
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given, reject, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.normalizations import NORMALIZATIONS

SCORES = st.integers(0, 6).map(float) | st.floats(0, 1).map(lambda x: round(x, 3))
QUICK = {"folds": 2, "repeats": 1, "samples": 5}


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict, dict, dict]:
    """Judgments and two runs, with ties and with documents that one run lacks."""
    topics = [f"q{n}" for n in range(draw(st.integers(2, 4)))]
    documents = [f"d{n}" for n in range(6)]
    grades = st.dictionaries(st.sampled_from(documents), st.integers(0, 3), min_size=1)
    lists = st.dictionaries(st.sampled_from(documents), SCORES, min_size=1)
    qrels = {topic: draw(grades) for topic in topics}
    return qrels, *({topic: draw(lists) for topic in topics} for _ in range(2))


@examples(40)
@given(problems(), st.sampled_from(sorted(NORMALIZATIONS)), st.sampled_from(["nDCG@3", "AP", "RR"]))
def test_no_weight_of_a_grid_beats_the_best_and_the_fused_run_scores_it(
    problem, normalize, measure
):
    qrels, *runs = problem
    try:
        tuning = rg.tune(qrels, runs, measure, normalize=normalize, **QUICK)
    except RankgaugeError:  # scores that cannot be normalized so
        reject()
    (score,) = rg.evaluate(qrels, tuning.run(), measure).mean().values()
    assert score[str(tuning.measure)] == pytest.approx(tuning.value, abs=1e-12)
    for weight in np.linspace(0.001, 0.999, 37):
        fused = rg.fuse(runs, "wsum", normalize=normalize, weights=(1 - weight, weight))
        (score,) = rg.evaluate(qrels, fused, measure).mean().values()
        if np.abs(tuning.curve.breaks - weight).min(initial=1) > 1e-9:
            assert score[measure] == pytest.approx(tuning.curve.at(weight), abs=1e-12)
            assert score[measure] <= tuning.value + 1e-12


@examples(30)
@given(problems())
def test_the_curve_is_that_of_its_lists(problem):
    qrels, *runs = problem
    curve = rg.tune(qrels, runs, "nDCG@3", **QUICK).curve
    for position in (0.1, 0.35, 0.77):
        if np.abs(curve.breaks - position).min(initial=1) > 1e-9:
            assert curve.steps.at(position).mean() == pytest.approx(curve.at(position), abs=1e-12)


QRELS = {f"q{n}": {"a": 1, "b": 0, "c": n % 2} for n in range(6)}
FIRST = {f"q{n}": {"a": 3.0, "b": 2.0, "c": 1.0} for n in range(6)}
SECOND = {f"q{n}": {"b": 3.0 + n, "c": 2.0} for n in range(6)}


def test_a_seed_gives_the_same_result_every_time():
    one, other = (rg.tune(QRELS, [FIRST, SECOND], "AP", folds=3, repeats=2) for _ in range(2))
    assert repr(one) == repr(other)
    assert one.cross_validated <= one.value + 1e-12
    assert one.optimism == pytest.approx(one.value - one.cross_validated)


def test_whoever_does_the_work_the_result_is_the_same():
    usual = rg.tune(QRELS, [FIRST, SECOND], "AP", folds=3, repeats=2)
    seen = []
    with ProcessPoolExecutor(2) as executor:
        other = rg.tune(
            QRELS,
            [FIRST, SECOND],
            "AP",
            folds=3,
            repeats=2,
            executor=executor,
            progress=seen.append,
        )
    assert repr(usual) == repr(other)
    assert seen == ["0", "1"]


def test_identical_runs_have_one_value_everywhere():
    tuning = rg.tune(QRELS, {"x": FIRST, "y": FIRST}, "nDCG@10", **QUICK)
    assert tuning.curve.breaks.tolist() == []
    assert tuning.best[0] == (0.0, 1.0)
    assert tuning.weights == (0.5, 0.5)
    assert tuning.spread == (0.0, 1.0)
    assert tuning.k == 60
    assert (
        tuning.advice
        == "every weight gets the same nDCG@10 on these queries, so there is nothing to choose"
    )


def test_one_topic_has_its_curve_and_nothing_to_expect():
    tuning = rg.tune({"q0": QRELS["q0"]}, [FIRST, SECOND], "AP")
    assert tuning.curve is not None
    assert 0 <= tuning.value <= 1
    assert np.isnan(tuning.cross_validated)
    assert not np.isnan(tuning.baselines["equal weights"])
    assert tuning.spread is None
    assert "a single query does not show what to expect on new queries" in tuning.advice


def test_with_few_topics_each_is_a_part():
    tuning = rg.tune(QRELS, [FIRST, SECOND], "AP", folds=40, repeats=9)
    assert any("6-fold cross-validation, 1 time" in str(note) for note in tuning.notes)


def random_runs(seed, topics=8):
    """Judgments and two runs of six documents, scores drawn at random."""
    random = np.random.default_rng(seed)
    names = [f"q{n}" for n in range(topics)]
    qrels = {name: {f"d{d}": int(random.integers(3)) for d in range(6)} for name in names}
    runs = [
        {name: {f"d{d}": float(random.random()) for d in range(6)} for name in names}
        for _ in range(2)
    ]
    return qrels, *runs


def test_equal_weights_choose_their_normalization_without_the_topic():
    qrels, *runs = random_runs(3)
    tuning = rg.tune(qrels, runs, "AP", normalize="all", test_queries=["q0", "q1"], **QUICK)

    def equal(name, topics):
        fused = rg.fuse(runs, normalize=name, weights=(0.5, 0.5))
        (means,) = rg.evaluate({t: qrels[t] for t in topics}, fused, "AP").mean().values()
        return means["AP"]

    chosen = max(NORMALIZATIONS, key=lambda name: equal(name, [f"q{n}" for n in range(2, 8)]))
    assert tuning.baselines["equal weights"] == pytest.approx(equal(chosen, ["q0", "q1"]))


def test_what_is_said_of_lower_is_better():
    qrels, *runs = random_runs(5)
    tuning = rg.tune(qrels, runs, "SearchLength", folds=4, repeats=3)
    assert tuning.optimism >= 0
    assert tuning.optimism == pytest.approx(tuning.cross_validated - tuning.value)
    assert "(lower is better)" in tuning.advice


def test_no_optimism_is_said_of_other_topics():
    qrels, *runs = random_runs(7)
    tuning = rg.tune(qrels, runs, "AP", test_queries=["q0", "q3"], **QUICK)
    assert np.isnan(tuning.optimism)
    assert tuning.queries == ("q1", "q2", "q4", "q5", "q6", "q7")
    assert tuning.test_queries == ("q0", "q3")
    assert [row[0] for row in tuning.query_table().rows] == list(tuning.queries)


def test_topics_that_a_run_lacks_are_said_or_left_out():
    second = {topic: SECOND[topic] for topic in ("q1", "q2", "q5")}
    usual = rg.tune(QRELS, {"x": FIRST, "y": second}, "AP", **QUICK)
    notes = "\n".join(map(str, usual.notes))
    assert "y: no documents for 3 queries with judgments; the other runs rank them" in notes
    assert "no run has" not in notes
    few = {"x": {"q1": FIRST["q1"]}, "y": {"q1": second["q1"]}}
    notes = "\n".join(map(str, rg.tune(QRELS, few, "AP", **QUICK).notes))
    assert "no run has documents for 5 queries with judgments" in notes
    assert "the other runs rank them" not in notes
    tuning = rg.tune(QRELS, {"x": FIRST, "y": second}, "AP", missing="skip", **QUICK)
    assert tuning.queries == ("q1", "q2", "q5")
    others = {topic: QRELS[topic] for topic in tuning.queries}
    alone = rg.tune(others, {"x": FIRST, "y": second}, "AP", **QUICK)
    assert tuning.value == alone.value
    assert tuning.cross_validated == alone.cross_validated
    with pytest.raises(RankgaugeError, match="some run lacks it"):
        rg.tune(QRELS, [FIRST, second], "AP", missing="skip", test_queries=["q0"])


def test_of_all_normalizations_those_are_tried_that_the_scores_allow():
    infinite = FIRST | {"q0": {"a": float("inf"), "b": 1.0}}
    tuning = rg.tune(QRELS, [infinite, SECOND], "AP", normalize="all", **QUICK)
    assert tuning.normalize in ("rank", "borda")
    assert "min-max was not tried" in "\n".join(map(str, tuning.notes))


@examples(60)
@given(problems(), st.sampled_from(["nDCG@3", "P@1", "AP", "SearchLength"]))
def test_every_weight_that_is_said_to_be_as_good_is(problem, measure):
    qrels, *runs = problem
    try:
        tuning = rg.tune(qrels, runs, measure, **QUICK)
    except RankgaugeError:
        reject()
    said = re.search(r"anything from (\S+) to (\S+) for", tuning.advice)
    if said is None:
        return
    low, high = map(float, said.groups())
    assert low <= tuning.weights[1] + 1e-9
    assert high >= tuning.weights[1] - 1e-9
    for weight in {low, high} - set(tuning.curve.breaks.tolist()):
        assert tuning.curve.mean_at(weight) == pytest.approx(tuning.value, abs=0.005 + 1e-9)


def test_a_run_that_does_not_help_is_left_out():
    qrels, *runs = random_runs(11)
    bad = {topic: {d: -float(qrels[topic][d]) for d in qrels[topic]} for topic in qrels}
    tuning = rg.tune(qrels, {"x": runs[0], "y": runs[1], "bad": bad}, "nDCG", **QUICK)
    two = rg.tune(qrels, {"x": runs[0], "y": runs[1]}, "nDCG", **QUICK)
    assert tuning.value >= two.value - 1e-12
    fused = rg.fuse([*runs, bad], weights=tuning.weights)
    (means,) = rg.evaluate(qrels, fused, "nDCG").mean().values()
    assert means["nDCG"] == pytest.approx(tuning.value)
    assert all(round(weight, 8) == weight for weight in tuning.weights)


def test_rrf_is_advised_where_it_helps_and_weights_do_not(real_data):
    runs = [real_data(f"trec-covid/round1/runs/{name}.gz") for name in ("BM25R2", "BioinfoUA-emb")]
    tuning = rg.tune(real_data("qrels/qrels.covid-round1.txt.gz"), runs, "P@30", **QUICK)
    gain, low, _, p = tuning.against("BioinfoUA-emb", "rrf")
    assert gain == pytest.approx(tuning.baselines["rrf"] - tuning.baselines["BioinfoUA-emb"])
    assert low > 0
    assert p < 0.05
    assert tuning.against("BioinfoUA-emb")[3] > 0.05
    assert tuning.advice.startswith(
        "take rrf, which needs no tuning; on new queries expect +0.063 ["
    )


def test_the_figure_is_of_the_topics_of_the_choice_alone():
    pytest.importorskip("matplotlib")
    qrels, *runs = random_runs(7)
    tuning = rg.tune(qrels, runs, "AP", test_queries=["q0", "q3"], **QUICK)
    others = {topic: qrels[topic] for topic in tuning.queries}
    (alone,) = rg.evaluate(others, runs[0], "AP").mean().values()
    assert tuning.fitted[tuning.runs[0]] == pytest.approx(alone["AP"])
    drawn = [line.get_ydata()[0] for line in tuning.figure().axes[0].lines]
    assert any(value == pytest.approx(alone["AP"]) for value in drawn)


@pytest.mark.parametrize("measure", ["set_P", "expected(AP)", "ideal(nDCG@2)", "F@2"])
def test_measures_without_an_order_are_followed_at_once(measure):
    tuning = rg.tune(QRELS, [FIRST, SECOND], measure, **QUICK)
    assert (measure == "F@2") or np.ptp(tuning.curve.values) == 0


def test_what_was_chosen_of_all_normalizations_is_said():
    qrels, *runs = random_runs(3)
    tuning = rg.tune(qrels, runs, "AP", normalize="all", **QUICK)
    assert f"with normalize={tuning.normalize} " in tuning.advice
    notes = "\n".join(map(str, tuning.notes))
    assert f"the best on the tuning queries: {tuning.normalize} {tuning.value:.4f}, " in notes


def test_a_measure_that_is_undefined_everywhere_is_refused():
    nothing = {topic: {"zz": 0} for topic in QRELS}
    with pytest.raises(RankgaugeError, match="is undefined on the queries used to choose"):
        rg.tune(nothing, [FIRST, SECOND], "SearchLength", **QUICK)


@examples(30)
@given(problems())
def test_the_best_weight_of_a_topic_is_that_of_the_topic_alone(problem):
    qrels, *runs = problem
    tuning = rg.tune(qrels, runs, "AP", **QUICK)
    for topic, low, high, best, tuned in tuning.query_table().rows:
        alone = rg.tune({topic: qrels[topic]}, runs, "AP", **QUICK)
        assert (low, high) == pytest.approx(alone.best[0])
        assert best == pytest.approx(alone.value)
        assert tuned <= best + 1e-12


def test_three_runs_are_at_least_as_good_as_two_of_them():
    runs = {"x": FIRST, "y": SECOND, "z": {f"q{n}": {"c": 1.0, "a": 0.5} for n in range(6)}}
    three = rg.tune(QRELS, runs, "AP", **QUICK)
    two = rg.tune(QRELS, {"x": FIRST, "y": SECOND}, "AP", **QUICK)
    assert three.value >= two.value - 1e-12
    assert sum(three.weights) == pytest.approx(1)
    assert three.curve is None
    with pytest.raises(RankgaugeError, match="a figure is for two runs"):
        three.figure()


def test_topics_to_test_on_take_no_part_in_the_choice():
    tuning = rg.tune(QRELS, [FIRST, SECOND], "AP", test_queries=["q0", "q1"], **QUICK)
    others = {topic: QRELS[topic] for topic in QRELS if topic not in ("q0", "q1")}
    alone = rg.tune(others, [FIRST, SECOND], "AP", **QUICK)
    assert tuning.weights == alone.weights
    held = {topic: QRELS[topic] for topic in ("q0", "q1")}
    (score,) = rg.evaluate(held, tuning.run(), "AP").mean().values()
    assert tuning.cross_validated == pytest.approx(score["AP"], abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measure": ["AP", "RR"]}, "AP, RR: expected a single measure"),
        ({"measure": "nDCG@5,10"}, "nDCG@5, nDCG@10: expected a single measure"),
        ({"measure": "Judged@10"}, "neither higher nor lower is better"),
        ({"test_queries": ["q9"]}, "test query 'q9': it is not judged"),
        ({"test_queries": "q1"}, "test_queries='q1', expected a list of queries"),
        ({"normalize": "borda", "absent": "zero"}, "so absent='zero' has no effect"),
        ({"measure": "alpha_nDCG@5"}, "uses subtopics"),
        ({"margin": -1}, "margin"),
        ({"missing": "drop"}, "missing"),
        ({"test_queries": list(QRELS)}, "all queries are on one side"),
        ({"normalize": "zscore"}, "normalize"),
        ({"runs": [FIRST]}, "one run alone"),
        ({"runs": [FIRST, {"q0": {"a": float("nan")}}]}, "(?i)nan"),
        ({"runs": [FIRST, {"other": {"a": 1.0}}]}, "shares no query"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    arguments = {"runs": [FIRST, SECOND], "measure": "AP", "folds": 2, "repeats": 1} | changes
    runs, measure = arguments.pop("runs"), arguments.pop("measure")
    with pytest.raises(RankgaugeError, match=message):
        rg.tune(QRELS, runs, measure, **arguments)


def test_a_run_that_lacks_topics_or_has_one_document():
    tuning = rg.tune(QRELS, [FIRST, {"q0": {"c": 1.0}}], "AP", **QUICK)
    assert 0 <= tuning.value <= 1
    assert len(tuning.query_table().rows) == 6


@pytest.mark.parametrize("direction", ["SearchLength", "AP"])
def test_lower_is_better_where_the_measure_says_so(direction):
    tuning = rg.tune(QRELS, [FIRST, SECOND], direction, **QUICK)
    worst = tuning.curve.values.min() if direction == "AP" else tuning.curve.values.max()
    assert (tuning.value >= worst) == (direction == "AP") or tuning.value == worst


def test_a_pair_of_real_runs(real_data):
    runs = [real_data(f"trec-dl21/runs/{name}.run.gz") for name in ("p_bm25", "TUW_TAS-B_768")]
    tuning = rg.tune(real_data("qrels/qrels.dl21-passage.txt.gz"), runs, samples=100)
    assert round(tuning.value, 3) == 0.607
    assert round(tuning.weights[1], 3) == 0.601
    assert round(tuning.cross_validated, 2) == 0.60
    assert round(tuning.baselines["TUW_TAS-B_768"], 3) == 0.562
    assert round(tuning.baselines["rrf"], 3) == 0.611
    assert "take 0.399 for p_bm25, 0.601 for TUW_TAS-B_768" in tuning.advice


def test_a_run_may_have_the_name_of_a_way():
    named = rg.tune(QRELS, {"rrf": FIRST, "tuned": SECOND}, "AP", **QUICK)
    other = rg.tune(QRELS, {"x": FIRST, "y": SECOND}, "AP", **QUICK)
    assert list(named.baselines.values()) == list(other.baselines.values())
    assert [*named.baselines][:2] == ["rrf (run)", "tuned (run)"]


def test_the_difference_of_a_geometric_mean_is_that_of_the_means_shown():
    tuning = rg.tune(QRELS, [FIRST, SECOND], "gm(AP)", **QUICK)
    for name, mean, difference, low, _, p in tuning.table().rows[1:]:
        assert difference == pytest.approx(tuning.cross_validated - mean), name
        assert np.isnan(low)
        assert np.isnan(p) or 0 <= p <= 1


@examples(60)
@given(problems())
def test_the_best_weight_scores_the_best_value_also_by_ranks(problem):
    qrels, *runs = problem
    tuning = rg.tune(qrels, runs, "AP", normalize="rank", **QUICK)
    assert tuning.value == pytest.approx(tuning.curve.value, abs=1e-12)

"""How well metrics agree with people: against scipy, sample by sample, and on SummEval."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

from profiles import examples
from rankgauge.core.resampling import SamplingOptions, draw_bootstrap_counts
from rankgauge.errors import RankgaugeError
from rankgauge.measures.elsewhere import given as made_elsewhere
from rankgauge.scores.model import Scores
from rankgauge.text.data.files import read_texts
from rankgauge.text.data.texts import Texts
from rankgauge.text.grammar import parse_metric
from rankgauge.text.human import coefficients as correlations, correlation as human
from rankgauge.text.human.correlation import human_correlation
from rankgauge.text.human.ratings import read_ratings
from rankgauge.text.human.results import (
    HumanCorrelation,
    Over,
    percentage_increase,
    percentiles,
)

Numbers = NDArray[np.float64]
OVER: list[Over] = ["systems", "texts", "rows"]


def scores_of(values: Any, measures: list[Any]) -> Scores:
    """Scores of system × text × measure."""
    values = np.asarray(values, dtype=np.float64)
    runs = [f"s{number}" for number in range(len(values))]
    return Scores.from_matrix(values, runs=runs, measure=measures)


def slow(x: Numbers, y: Numbers) -> Numbers:
    """τ-b, ρ and r of two vectors, by scipy; NaN where one of them is constant."""
    there = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[there], y[there]
    if len(x) < 2 or np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return np.full(3, np.nan)
    # Means are rounded, so that equal ones are ties for scipy too.
    x, y = x.round(10), y.round(10)
    return np.array([f(x, y)[0] for f in (stats.kendalltau, stats.spearmanr, stats.pearsonr)])


def slow_correlation(x: Numbers, y: Numbers, over: str, drawn: NDArray[np.intp]) -> Numbers:
    """The correlations of system × text, on these texts, each as often as it is drawn."""
    common = np.isnan(x) | np.isnan(y)
    x, y = (np.where(common, np.nan, values)[:, drawn] for values in (x, y))
    if over == "rows":
        return slow(x.ravel(), y.ravel())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        if over == "systems":
            return slow(np.nanmean(x, axis=1), np.nanmean(y, axis=1))
        each = np.array([slow(x[:, t], y[:, t]) for t in range(x.shape[1])])
        return np.asarray(np.nanmean(each, axis=0))


@st.composite
def rated(draw: st.DrawFn) -> tuple[Numbers, Numbers]:
    """Scores and ratings of some systems on some texts, with many ties."""
    shape = draw(st.tuples(st.integers(2, 6), st.integers(1, 6)))
    steps = draw(st.integers(1, 6))
    cells = st.lists(
        st.integers(0, steps).map(float),
        min_size=shape[0] * shape[1],
        max_size=shape[0] * shape[1],
    )
    x, y = (np.array(draw(cells)).reshape(shape) for _ in range(2))
    return x / 10, y


@pytest.mark.parametrize("over", OVER)
@examples(75)
@given(both=rated(), seed=st.integers(0, 100))
def test_correlations_and_every_sample_equal_scipy(
    over: Over, both: tuple[Numbers, Numbers], seed: int
) -> None:
    x, y = both
    result = human_correlation(
        scores_of(x, "metric"),
        scores_of(y, "quality"),
        over,
        samples=5,
        seed=seed,  # type: ignore[arg-type]
    )
    texts = x.shape[1]
    all_texts = np.arange(texts)
    np.testing.assert_allclose(
        result.values[:, 0, 0], slow_correlation(x, y, over, all_texts), atol=1e-9
    )
    (counts,) = draw_bootstrap_counts(texts, SamplingOptions(5, seed))
    for sample, count in zip(result.samples, counts, strict=True):
        drawn = np.repeat(all_texts, count.astype(np.int64))
        expected = slow_correlation(x, y, over, drawn)
        np.testing.assert_allclose(sample[:, 0, 0], expected, atol=1e-9)


@pytest.mark.parametrize("over", OVER)
@examples(60)
@given(both=rated(), holes=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_outputs_without_a_score_or_a_rating_are_left_out(
    over: Over, both: tuple[Numbers, Numbers], holes: list[tuple[int, int]]
) -> None:
    x, y = both
    for number, (s, t) in enumerate(holes):
        (x, y)[number % 2][s % len(x), t % x.shape[1]] = np.nan
    kept = ~(np.isnan(x) | np.isnan(y))
    systems = kept.any(axis=1)
    result = human_correlation(scores_of(x, "metric"), scores_of(y, "quality"), over, samples=1)  # type: ignore[arg-type]
    expected = slow_correlation(x[systems], y[systems], over, np.arange(x.shape[1]))
    if kept.any():
        np.testing.assert_allclose(result.values[:, 0, 0], expected, atol=1e-9)
    else:
        assert np.isnan(result.values).all()


def random_result(
    over: Over = "systems", metrics: int = 3, dimensions: int = 2, **options: Any
) -> HumanCorrelation:
    random = np.random.default_rng(1)
    true = random.normal(size=(8, 30, 1))
    values = (true + random.normal(size=(8, 30, count)) for count in (metrics, dimensions))
    x, y = values
    names = [f"m{number}" for number in range(metrics)]
    ratings = scores_of(y.round(), [f"d{number}" for number in range(dimensions)])
    return human_correlation(scores_of(x, names), ratings, over, **options)


@pytest.mark.parametrize("over", OVER)
def test_intervals_are_percentiles_of_the_samples(over: Over) -> None:
    result = random_result(over, level=0.8, samples=137)
    for end, share in ((result.low, 0.1), (result.high, 0.9)):
        np.testing.assert_allclose(end, np.quantile(result.samples, share, axis=0), atol=1e-12)
    assert (result.low <= result.high).all()
    undefined = result.samples.copy()
    undefined[::3, 0] = np.nan
    undefined[:, 1, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = np.nanquantile(undefined, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(percentiles(undefined, 0.8), expected, atol=1e-12)


def test_samples_are_the_same_for_a_seed_however_many_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = {over: random_result(over, samples=2_500) for over in OVER}
    monkeypatch.setattr(human, "BATCH_CELLS", 100)
    monkeypatch.setattr(correlations, "CELLS", 2_000)
    for over, result in results.items():
        again = random_result(over, samples=2_500)
        np.testing.assert_allclose(again.samples, result.samples, atol=1e-12)
    other = random_result("systems", samples=2_500, seed=1)
    assert (other.samples != results["systems"].samples).any()


def test_differences_are_paired_by_sample() -> None:
    result = random_result(samples=200)
    m0, m1, m2 = result.metrics
    found = result.difference('given("m0")', m2)
    np.testing.assert_array_equal(found.difference[:, 0], result.values[:, 2] - result.values[:, 0])
    apart = result.samples[:, :, 2] - result.samples[:, :, 0]
    np.testing.assert_allclose(found.low[:, 0], np.quantile(apart, 0.025, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.high[:, 0], np.quantile(apart, 0.975, axis=0), atol=1e-12)
    same = result.difference(m1, m2).difference + result.difference(m0, m1).difference
    np.testing.assert_allclose(same, found.difference, atol=1e-12)
    row = found.table().rows[0]
    assert row[:4] == ('given("m0")', 'given("m2")', "d0", "tau_b")
    with pytest.raises(RankgaugeError, match="no scores for measure"):
        result.difference(m0, "m9")


def test_each_normalized_form_is_compared_with_its_metric() -> None:
    names = ["rouge1", "expected(rouge1)", "v2(rouge1)", "linear(rouge1)", "v1(rouge2)"]
    random = np.random.default_rng(0)
    scores = scores_of(random.random((4, 5, 5)), [parse_metric(name) for name in names[:4]] + ["x"])
    ratings = scores_of(random.random((4, 5)), "quality")  # type: ignore[arg-type]
    pairs = human_correlation(scores, ratings, samples=10).normalized().pairs
    assert [(str(one), str(other)) for one, other in pairs] == [
        ("rouge1", "v2(rouge1)"),
        ("rouge1", "linear(rouge1)"),
    ]


def test_without_normalized_forms_there_are_no_pairs() -> None:
    assert random_result(samples=10).normalized().table().rows == ()


def test_pai_is_that_of_the_dissertation() -> None:
    # Table 8.1 of Feng's dissertation: BERTScore, its V1 and V2, and the printed PAI, average 160.
    base = np.array([0.0, -0.106, 0.167, -0.03])
    v1, v2 = np.array([0.03, -0.198, 0.25, 0.06]), np.array([0.15, 0.045, 0.44, 0.18])
    found = np.array([percentage_increase(value, base) for value in (v1, v2)])
    np.testing.assert_allclose(found, [[3, -86.79, 49.7, 300], [15, 142, 163, 700]], atol=0.5)
    assert int(found.mean()) == 160


def test_pai_near_zero_is_warned_of() -> None:
    x = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]])
    values = np.stack([x, x[[1, 3, 0, 2]]], axis=2)
    result = human_correlation(
        scores_of(values, ["good", "none"]),
        scores_of(x, "quality"),  # type: ignore[arg-type]
        samples=10,
    )
    assert result.tau_b[1, 0] == 0
    good, none = result.metrics
    notes = result.difference(none, good).notes
    assert any("explodes near 0; use the difference instead" in str(note) for note in notes)
    assert all(note.severity is None for note in result.difference(good, none).notes)
    assert result.difference(none, good).pai[0, 0, 0] == pytest.approx(100 * result.tau_b[0, 0])


def test_where_lower_is_better_the_sign_is_turned() -> None:
    x = np.array([[1.0, 2], [2, 3], [3, 5]])
    lower = made_elsewhere("errors", better="lower")
    quality = scores_of(x, "quality")  # type: ignore[arg-type]
    for scores, ratings in (
        (scores_of(-x, lower), quality),  # type: ignore[arg-type]
        (quality, scores_of(-x, lower)),  # type: ignore[arg-type]
    ):
        assert human_correlation(scores, ratings, samples=5).tau_b.tolist() == [[1.0]]


def test_only_systems_and_texts_in_both_count_and_the_rest_is_counted() -> None:
    random = np.random.default_rng(3)
    x, y = random.random((5, 6)), random.random((5, 6))
    scores = Scores.from_matrix(x, runs=list("abcde"), measure="m", queries=list("123456"))
    ratings = Scores.from_matrix(y, runs=list("edcbz"), measure="q", queries=list("654398"))
    result = human_correlation(scores, ratings, samples=5)
    expected = slow(x[[4, 3, 2, 1]][:, [5, 4, 3, 2]].mean(1), y[:4, :4].mean(1))
    np.testing.assert_allclose(result.values[:, 0, 0], expected, atol=1e-12)
    assert (result.systems, result.texts) == (4, 4)
    told = [str(note) for note in result.notes]
    assert "systems without ratings, skipped: 1" in told
    assert "rated systems without scores, skipped: 1" in told
    assert "texts without ratings, skipped: 2" in told
    assert "rated texts without scores, skipped: 2" in told
    with pytest.raises(RankgaugeError, match="no system is in both"):
        human_correlation(scores.select(runs=["a"]), ratings)
    with pytest.raises(RankgaugeError, match="no text is in both"):
        human_correlation(scores.select(["1"]), ratings)


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize(
    ("x", "y", "note"),
    [
        ([[0.1, 0.2]], [[1, 2]], "1 system with scores and ratings"),
        ([[0.1]], [[1]], "1 (system|output) with scores"),
        ([[0.1, 0.2], [0.3, 0.1]], [[3, 3], [3, 3]], "the same (score|rating)"),
        ([[0.2, 0.2], [0.2, 0.2]], [[3, 1], [2, 3]], "the same (score|rating)"),
        ([[np.nan, np.nan], [np.nan, np.nan]], [[3, 1], [2, 3]], "no output has a score"),
        (
            [[0.1, np.nan], [np.nan, 0.3]],
            [[np.nan, 3], [3, np.nan]],
            "0 (systems|outputs)|left out",
        ),
    ],
)
def test_where_there_is_no_correlation_a_note_says_why(
    over: Over, x: Any, y: Any, note: str
) -> None:
    if over == "rows" and len(x) == 1 and len(x[0]) > 1:
        return  # two outputs of one system have a correlation
    scores, ratings = scores_of(x, "metric"), scores_of(y, "quality")  # type: ignore[arg-type]
    result = human_correlation(scores, ratings, over, samples=20)
    assert np.isnan(result.values).all()
    assert np.isnan(result.low).all()
    told = "\n".join(map(str, result.notes))
    assert re.search(note, told), told
    assert "nan" not in repr(result)


def test_one_text_has_a_correlation_and_no_interval() -> None:
    scores, ratings = scores_of([[0.1], [0.2], [0.3]], "m"), scores_of([[1], [2], [2]], "q")  # type: ignore[arg-type]
    for over in OVER:
        result = human_correlation(scores, ratings, over, samples=20)
        assert result.tau_b[0, 0] == pytest.approx(2 / 6**0.5)
        assert np.isnan(result.low).all()
        assert np.isnan(result.high).all()
    twice = scores_of([[[0.1, 0.2]], [[0.2, 0.1]], [[0.3, 0.4]]], ["m0", "m1"])
    result = human_correlation(twice, ratings, samples=20)
    difference = result.difference(*result.metrics)
    assert not np.isnan(difference.difference).any()
    assert np.isnan(difference.low).all()


def test_a_sample_without_texts_of_a_system_is_left_out_and_counted() -> None:
    x = np.array([[0.1, 0.2, 0.3], [0.3, 0.3, 0.5], [np.nan, np.nan, 0.9], [0.2, 0.5, 0.7]])
    y = np.array([[1, 2, 1], [2, 2, 3], [np.nan, np.nan, 3], [2, 4, 4]])
    result = human_correlation(scores_of(x, "m"), scores_of(y, "q"), samples=50)  # type: ignore[arg-type]
    (counts,) = draw_bootstrap_counts(3, SamplingOptions(50, 0))
    lost = counts[:, 2] == 0
    assert 0 < lost.sum() < 50
    for coefficient in range(3):
        np.testing.assert_array_equal(np.isnan(result.samples[:, coefficient, 0, 0]), lost)
    assert not np.isnan(result.low).any()
    note = "samples excluded from an interval because a correlation is undefined: up to"
    assert f"{note} {lost.sum()}" in [str(each) for each in result.notes]


@pytest.mark.parametrize("over", OVER)
def test_scores_that_differ_by_rounding_are_tied(over: Over) -> None:
    x = np.array([[0.1 + 0.2], [0.3], [0.5]])
    result = human_correlation(scores_of(x, "m"), scores_of([[1], [2], [3]], "q"), over, samples=5)  # type: ignore[arg-type]
    assert result.tau_b[0, 0] == pytest.approx(2 / 6**0.5)
    assert result.rho[0, 0] == pytest.approx(stats.spearmanr([1, 1, 2], [1, 2, 3])[0])


@pytest.mark.parametrize("score", np.linspace(0.05, 0.95, 13))
def test_a_sample_with_one_score_alone_has_no_correlation(score: float) -> None:
    x = np.array([[score, 0.7, 0.3], [score, 0.2, 0.9], [score, 0.4, 0.6]])
    y = np.array([[1, 2, 4], [3, 2, 5], [2, 3, 1]])
    result = human_correlation(scores_of(x, "m"), scores_of(y, "q"), "rows", samples=200)  # type: ignore[arg-type]
    (counts,) = draw_bootstrap_counts(3, SamplingOptions(200, 0))
    alone = counts[:, 0] == 3
    assert alone.any()
    for coefficient in range(3):
        np.testing.assert_array_equal(np.isnan(result.samples[:, coefficient, 0, 0]), alone)


def test_texts_where_it_is_undefined_are_counted() -> None:
    x = np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4]])
    y = np.array([[1, 2, 2], [2, 2, 3]])
    result = human_correlation(scores_of(x, "m"), scores_of(y, "q"), "texts", samples=20)  # type: ignore[arg-type]
    assert result.tau_b[0, 0] == 1.0
    assert any("texts excluded: 1. On them, all systems" in str(note) for note in result.notes)


def test_a_metric_that_lacks_some_scores_is_compared_on_the_same_outputs() -> None:
    random = np.random.default_rng(5)
    x, y = random.random((5, 8, 2)), random.random((5, 8))
    x[:, 3:, 1] = np.nan
    result = human_correlation(scores_of(x, ["m0", "m1"]), scores_of(y, "q"), samples=5)  # type: ignore[arg-type]
    expected = slow(x[:, :3, 0].mean(1), y[:, :3].mean(1))
    np.testing.assert_allclose(result.values[:, 0, 0], expected, atol=1e-12)
    assert any(
        "rated outputs skipped because some metric has no score for them: 25" in str(n)
        for n in result.notes
    )


def test_numbers_of_any_size_have_the_same_correlation() -> None:
    random = np.random.default_rng(6)
    x, y = random.random((6, 9)), random.random((6, 9))
    usual = [human_correlation(scores_of(x, "m"), scores_of(y, "q"), o, samples=9) for o in OVER]  # type: ignore[arg-type]
    for scale in (1e-90, 1e90):
        for over, expected in zip(OVER, usual, strict=True):
            found = human_correlation(
                scores_of(x * scale, "m"),  # type: ignore[arg-type]
                scores_of(y * scale + scale, "q"),  # type: ignore[arg-type]
                over,
                samples=9,
            )
            np.testing.assert_allclose(found.samples, expected.samples, atol=1e-9)


def test_many_outputs_have_no_interval_of_tau(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = random_result("rows", samples=20)
    monkeypatch.setattr(correlations, "MOST_ROWS", 100)
    monkeypatch.setattr(human, "MOST_ROWS", 100)
    result = random_result("rows", samples=20)
    np.testing.assert_allclose(result.values, whole.values, atol=1e-12)
    np.testing.assert_allclose(result.low[1:], whole.low[1:], atol=1e-12)
    assert np.isnan(result.low[0]).all()
    assert any("no interval for τ-b: 240 outputs" in str(note) for note in result.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "topics"}, "over='topics', expected one of systems, texts, rows"),
        ({"level": 1.0}, "level=1.0"),
        ({"samples": 0}, "samples=0"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        random_result(**options)


def test_an_aggregate_that_is_no_mean_is_refused() -> None:
    scores = scores_of([[0.1, 0.2], [0.3, 0.2]], "gm(AP)")  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match=r"gm\(AP.*not an arithmetic mean"):
        human_correlation(scores, scores_of([[1, 2], [2, 2]], "q"))  # type: ignore[arg-type]


@pytest.mark.parametrize("over", OVER)
def test_a_thousand_samples_of_twelve_metrics_take_seconds(over: Over) -> None:
    random = np.random.default_rng(0)
    true = random.normal(size=(16, 100, 1))
    x, y = (true + random.normal(size=(16, 100, count)) for count in (12, 4))
    scores = scores_of(x, [f"m{number}" for number in range(12)])
    ratings = scores_of(y.round(), [f"d{number}" for number in range(4)])
    start = time.process_time()
    human_correlation(scores, ratings, over, samples=1_000)
    assert time.process_time() - start < 20


def test_the_figure_has_a_panel_for_each_dimension() -> None:
    figure = random_result(samples=20, dimensions=5).figure()
    titles = [axes.get_title() for axes in figure.axes if axes.get_visible()]
    assert titles == ["d0", "d1", "d2", "d3", "d4"]


# SummEval

ABSTRACTIVE = ["M8", "M9", "M10", "M11", "M12", "M13", "M14", "M15", "M17", "M20", "M22", "M23"]


def summeval(real_data: Callable[[str], Path]) -> Texts:
    """The texts of the 12 abstractive systems, with the first reference."""
    texts = read_texts(real_data("summeval/summeval.json.gz"))
    return Texts(
        texts.sources,
        [references[:1] for references in texts.references],
        {system: texts.outputs[system] for system in ABSTRACTIVE},
        texts.ids,
    )


def test_rouge1_agrees_with_people_on_summeval_as_was_measured(
    real_data: Callable[[str], Path],
) -> None:
    pytest.importorskip("rouge_score_rs")
    texts = summeval(real_data)
    ratings = read_ratings(real_data("summeval/summeval.json.gz"), texts)
    metric = parse_metric("rouge1")
    values = metric.score_each(texts.candidates()).reshape(len(ABSTRACTIVE), -1)
    scores = Scores.from_matrix(values, runs=ABSTRACTIVE, queries=texts.ids, measure=metric)
    result = human_correlation(scores, ratings)
    assert result.dimensions == ("coherence", "consistency", "fluency", "relevance")
    np.testing.assert_allclose(result.tau_b[0], [0.36, 0.36, 0.58, 0.55], atol=0.03)
    assert (np.abs(result.tau_b[0] - result.low[0]) < 0.4).all()
    by_text = human_correlation(scores, ratings, "texts")
    assert ((by_text.tau_b > 0) & (by_text.tau_b < 0.3)).all()

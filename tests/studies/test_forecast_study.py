"""The study of forecasts: splits that leak nothing, quality by its definition, and claims."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import spearmanr

from dask_cluster import on_loopback
from forecast.made_tracks import write_track
from profiles import examples, thorough
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.stacked import StackedRows
from rankgauge.forecast.tracks import RICH, Rows, Track
from rankgauge_studies.forecast import study as study_module
from rankgauge_studies.forecast.claims import (
    CLAIMS,
    MeasuredClaim,
    claim_table,
    measure_claims,
    short_claims,
)
from rankgauge_studies.forecast.methods import GUPTA, forecasts, methods_of
from rankgauge_studies.forecast.quality import NUMBERS, StudyNumber, combine_numbers, quality_of
from rankgauge_studies.forecast.splits import (
    GREATEST_DEPTH_SPLITS,
    SPLITS,
    TESTED_SHARE,
    parts,
    repeat_seed,
)
from rankgauge_studies.forecast.study import (
    ForecastProtocol,
    ForecastStudy,
    StudyCell,
    TrackNumbers,
    run_study,
)
from rankgauge_studies.forecast.tables import overview, paper_tables, percentage_table, track_table

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

KINDS = ["news", "news", "web"]


def rows(name: str, kind: str, runs: int, topics: int, first: int = 0) -> Rows:
    generator = np.random.default_rng(len(name))
    seen = generator.random((runs, topics))
    ids = tuple(str(number) for number in range(first, first + topics))
    return Rows(name, kind, tuple(map(str, range(runs))), ids, seen[:, :, None], seen, seen, seen)


@pytest.fixture(scope="module")
def stacked() -> StackedRows:
    """Two tracks of one kind share the queries 5 to 9."""
    return StackedRows.of(
        [rows("a", "news", 6, 10), rows("bb", "news", 4, 10, 5), rows("ccc", "web", 7, 8)]
    )


# Splits


TARGETS = (1, 2)


@pytest.mark.parametrize("split", SPLITS["pool"])
def test_splits_test_each_row_at_most_once_and_never_learn_from_it(
    stacked: StackedRows, split
) -> None:
    made = list(parts(stacked, KINDS, TARGETS, split, 3))
    tested = np.sum([part.tested for part in made], axis=0)
    assert tested.max() == 1
    if split not in ("topics and runs", "paper"):
        assert tested.min() == 1
    for learned, inside in made:
        assert not (learned & inside).any()


@pytest.mark.parametrize("split", ["topics", "topics and runs"])
def test_no_topic_is_parted_also_across_tracks_of_a_kind(stacked: StackedRows, split) -> None:
    for learned, inside in parts(stacked, KINDS, TARGETS, split, 3):
        assert not set(stacked.group[learned]) & set(stacked.group[inside])
        if split == "topics and runs":
            assert not set(stacked.system[learned]) & set(stacked.system[inside])


def test_a_kind_is_left_out_whole(stacked: StackedRows) -> None:
    made = list(parts(stacked, KINDS, TARGETS, "kind", 3))
    assert [sorted(set(stacked.track[inside].tolist())) for _, inside in made] == [[0, 1], [2]]


def test_a_track_is_left_out_whole_with_its_topics(stacked: StackedRows) -> None:
    made = list(parts(stacked, KINDS, TARGETS, "track", 3))
    assert [sorted(set(stacked.track[inside].tolist())) for _, inside in made] == [[0], [1], [2]]
    for learned, inside in made:
        assert learned.any()
        assert not set(stacked.group[learned]) & set(stacked.group[inside])


def test_rows_of_a_random_split_leak_topics(stacked: StackedRows) -> None:
    for learned, inside in parts(stacked, KINDS, TARGETS, "rows", 3):
        assert set(stacked.group[learned]) & set(stacked.group[inside])


def test_the_papers_protocol(stacked: StackedRows) -> None:
    """The first track is learned from wholly, 80% of each target; the rest of the targets is tested."""
    ((learned, tested),) = parts(stacked, KINDS, TARGETS, "paper", 3)
    assert learned[stacked.track == 0].all()
    assert (learned == ~tested).all()
    for target in TARGETS:
        own = stacked.track == target
        assert np.count_nonzero(own & tested) == round(TESTED_SHARE * np.count_nonzero(own))


def test_each_repetition_draws_other_splits(stacked: StackedRows) -> None:
    seeds = [repeat_seed(seed, repeat) for seed in (0, 1) for repeat in range(20)]
    assert len(set(seeds)) == 40
    folds = {tuple(stacked.folds(seed).tolist()) for seed in seeds}
    assert len(folds) == 40


# Quality


def tau_a_by_pairs(x: list[float], y: list[float]) -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])
    return total / (len(x) * (len(x) - 1) / 2)


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=20))
def test_taus_pair_by_pair(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    quality = quality_of(x, y, None)
    tau_a, tau_b = quality.tau_a, quality.tau_b
    assert tau_a == pytest.approx(tau_a_by_pairs(x.tolist(), y.tolist()), abs=1e-12)
    if not math.isnan(tau_b):
        assert abs(tau_b) >= abs(tau_a) - 1e-12


def test_quality_by_its_definition() -> None:
    target = np.array([0.1, 0.4, 0.2, 0.9, 0.6, 0.5])
    forecast = np.array([0.2, 0.3, 0.3, 0.8, 0.7, 0.4])
    systems = np.array([0, 0, 1, 1, 2, 2])
    found = quality_of(target, forecast, systems)
    spread = ((target - target.mean()) ** 2).sum()
    assert found.r2 == pytest.approx(1 - 0.06 / spread)
    assert found.tau_a == pytest.approx(tau_a_by_pairs(target.tolist(), forecast.tolist()))
    assert found.system_tau == pytest.approx(
        2 / 3
    )  # means .25 .55 .55 and .25 .55 .55: one pair tied
    assert found.rho == pytest.approx(spearmanr(target, forecast).statistic)
    assert math.isnan(quality_of(target, forecast, None).system_tau)
    assert math.isnan(quality_of(np.ones(4), np.arange(4.0), None).r2)
    assert math.isnan(quality_of(np.ones(2), np.ones(2), None).tau_b)


@examples(50)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=20
    )
)
def test_tau_over_systems_pair_by_pair(cells: list[tuple[int, int, int]]) -> None:
    systems = np.array([cell[0] for cell in cells])
    target, forecast = (np.array([cell[k] for cell in cells], dtype=float) for k in (1, 2))
    means = [
        [values[systems == system].mean() for system in np.unique(systems)]
        for values in (target, forecast)
    ]
    found = quality_of(target, forecast, systems).system_tau
    if len(means[0]) < 3:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(tau_a_by_pairs(means[0], means[1]), abs=1e-12)


def test_an_interval_has_the_mean_of_new_topics_as_often_as_it_says() -> None:
    """The number is the mean over 40 queries; halves of them say how it varies."""
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        topics = generator.exponential(size=40)
        orders = [generator.permutation(40) for _ in range(10)]
        halves = [[topics[order[half::2]].mean() for order in orders] for half in range(2)]
        low, high = StudyNumber(topics.mean(), topics[:1], np.array(halves)).amount[1:]
        held += low <= 1 <= high
    assert 0.91 <= held / 400 <= 0.98


def test_an_interval_counts_the_splits_too() -> None:
    halves = np.array([[1.0, 1.0, 1.0], [1.2, 0.8, 1.0]])
    sure = StudyNumber(1.0, np.array([1.0]), halves).amount
    drawn = StudyNumber(1.0, np.array([0.8, 1.2]), halves).amount
    topics = 2 * 0.2**2 / 4 / 3
    ratio = (drawn.high - 1) / (sure.high - 1)
    assert ratio == pytest.approx(math.sqrt((topics + 0.2**2) / topics))
    both = combine_numbers(lambda a, b: a - b, [StudyNumber(1.0, np.array([0.8, 1.2]), halves)] * 2)
    assert both.amount[:3] == (0, 0, 0)
    once = StudyNumber(0.5, np.array([0.5]), halves)
    mixed = combine_numbers(
        lambda a, b: a - b, [StudyNumber(1.0, np.array([0.8, 1.2]), halves), once]
    )
    assert mixed.repeats.tolist() == pytest.approx([0.3, 0.7])


# Methods


def test_averaged_models_and_one_model_differ_in_nothing_but_averaging() -> None:
    """On one track both are the same; so is each learner of the vote."""
    one = rows("a", "news", 6, 10)
    whole = StackedRows.of([one])
    methods = methods_of(("boosting", "regression"), "pool", "topics")
    made = list(parts(whole, ["news"], (0,), "topics", 3))
    found = forecasts(whole, made, methods, ("boosting", "regression"), 1, 3)
    for learner in ("boosting", "regression"):
        np.testing.assert_array_equal(found[learner], found[f"{learner}, one model"])
    vote = (found["boosting"] + found["regression"]) / 2
    np.testing.assert_allclose(found["voting"], vote, atol=1e-15)


def test_voting_is_scikit_learns(stacked: StackedRows) -> None:
    """VotingRegressor fits each learner once to all rows."""
    from sklearn.ensemble import VotingRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.svm import SVR

    ((learned, tested),) = parts(stacked, KINDS, TARGETS, "paper", 3)
    methods = methods_of(("regression", "svr"), "full", "paper")
    found = forecasts(stacked, [(learned, tested)], methods, ("regression", "svr"), 1, 3)
    voting = VotingRegressor([("line", LinearRegression()), ("svr", SVR(kernel="linear"))])
    voting.fit(stacked.features[learned], stacked.target[learned])
    wanted = voting.predict(stacked.features[tested])
    np.testing.assert_allclose(found["voting"][tested], wanted, atol=1e-9)


def test_gupta_is_learnt_from_other_tracks(stacked: StackedRows) -> None:
    methods = methods_of(("regression",), "full", "track")
    assert set(GUPTA) <= set(methods)
    assert not set(GUPTA) & set(methods_of(("regression",), "full", "topics"))
    made = list(parts(stacked, KINDS, TARGETS, "track", 3))
    found = forecasts(stacked, made, methods, ("regression",), 1, 3)
    own = stacked.track == 2
    model = Forecaster("gupta").fitted(stacked.take(~own))
    np.testing.assert_allclose(found["gupta"][own], model.predict(stacked.features[own]))


# The study


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("tracks")
    return [
        f"one=news:{write_track(folder / 'one', 1, documents=110)}",
        f"two=news:{write_track(folder / 'two', 2, first=7, documents=110)}",
        f"three=web:{write_track(folder / 'three', 3, runs=4, documents=110)}",
    ]


ASKED = ForecastProtocol(
    targets=("nDCG@100", "nDCG@1000"),
    depths=(10, 20),
    features=("P", "infAP", "nDCG"),
    target_tracks=("three", "two"),
    repeats=1,
)


def run_quickly(tracks: list[Track], asked: ForecastProtocol) -> ForecastStudy:
    """The study, with intervals from fewer halves of the queries."""
    with pytest.MonkeyPatch.context() as patch:
        if not thorough():
            patch.setattr(study_module, "HALVINGS", 4)
        return run_study(tracks, asked)


@pytest.fixture(scope="module")
def study(tracks: list[str]) -> ForecastStudy:
    return run_quickly([Track.read(text) for text in tracks], ASKED)


def test_a_cluster_gives_the_same(tracks: list[str], tmp_path: Path) -> None:
    asked = replace(
        ASKED,
        targets=("nDCG@100",),
        depths=(10,),
        features=("P", "nDCG"),
        learners=("regression",),
        target_tracks=("three",),
    )
    read = [Track.read(text) for text in tracks[::2]]
    with on_loopback(tmp_path, 2, ["lightgbm", "sklearn.svm"]) as client:
        other = run_study(read, asked, executor=client)
    assert track_table(other).render("csv") == track_table(run_study(read, asked)).render("csv")


def test_every_cell_is_there(study: ForecastStudy) -> None:
    wanted = {
        ("nDCG@100", depth, judgments, split, method)
        for depth in (10, 20)
        for judgments, splits in SPLITS.items()
        for split in splits
        if split not in GREATEST_DEPTH_SPLITS or depth == 20
        for method in methods_of(("boosting", "regression"), judgments, split)
    }
    assert {cell[:5] for cell in study.cells} == wanted
    assert len(study.cells) == len(wanted)
    for cell in study.cells:
        tested = {"two", "three"} if cell.split == "paper" else {"one", "two", "three"}
        assert set(cell.tracks) == tested
        rows_too = cell.method not in GUPTA
        assert (cell.mean("r2") is not None) == rows_too
        whole = cell.split not in ("paper", "topics and runs")
        assert (cell.mean("system_tau") is not None) == whole
    for row in study.table().rows:
        for place in range(6, 6 + 3 * len(NUMBERS), 3):
            value, low, high = row[place : place + 3]
            assert value is None or low <= value <= high


def test_a_target_deeper_than_the_runs_is_left_out_and_said(study: ForecastStudy) -> None:
    assert len(study.left_out["nDCG@1000"]) == 3
    assert "skipped for nDCG@1000" in study.table().render("table")
    assert "6 queries in two tracks of one kind" in study.table().render("table")


def test_the_overview_has_the_numbers_of_the_greatest_depth(study: ForecastStudy) -> None:
    table = overview(study)
    means = {tuple(row[:5]): row[6:] for row in study.table().rows}
    at = table.columns.index
    for row in table.rows:
        place = (row[0], 20, "pool", "topics", row[1])
        if place in means:
            assert row[at("topics") : at("topics") + 3] == means[place][:3]
            assert row[at("system τ") : at("system τ") + 3] == means[place][12:15]
        new = (row[0], 20, "pool", "track", row[1])
        assert row[at("system τ, new track")] == means[new][12]
    assert "±" in overview(study, short=True).render("table")


def test_what_a_study_of_two_tracks_of_a_kind_cannot_say(tracks: list[str], tmp_path: Path) -> None:
    two = [Track.read(text) for text in tracks[:2]]
    two.append(Track.read(f"short=news:{write_track(tmp_path / 'short', 4, documents=60)}"))
    asked = ForecastProtocol(
        targets=("nDCG@100",),
        depths=(5,),
        features=("P", "nDCG"),
        learners=("regression",),
        repeats=2,
    )
    found = run_quickly(two, asked)
    assert found.left_out == {"nDCG@100": ["short"]}
    assert not any("short" in cell.tracks for cell in found.cells)
    assert {cell.repeats for cell in found.cells if cell.split == "topics"} == {2}
    assert {cell.repeats for cell in found.cells if cell.split == "track"} == {1}
    shown = found.table().render("table")
    assert "there are no results for new kinds" in shown
    assert "so no track is used whole for training" in shown
    verdicts = {(each.claim, each.verdict) for each in measure_claims(found)}
    assert ("Boosting improves with each step of depth.", "no numbers") in verdicts
    assert "needs several depths" in claim_table(found).notes[-1]
    assert "each step of depth" not in short_claims(found).render("table")


def test_what_needs_no_learning_is_the_same_in_all_splits_that_test_all_rows(
    study: ForecastStudy,
) -> None:
    for method in ("at depth", "shallow"):
        cells = [
            study.cell("nDCG@100", 20, "pool", split, method)
            for split in ("rows", "topics", "kind", "track")
        ]
        first = cells[0].mean("tau_a").value
        assert [cell.mean("tau_a").value for cell in cells] == pytest.approx([first] * 4)


def test_the_tables_of_the_paper_have_its_layout(study: ForecastStudy) -> None:
    made = paper_tables(study)
    assert list(made) == ["table-2", "table-1"]
    table = made["table-2"]
    assert table.columns[:3] == ("method", "depth", "R² A: three")
    assert table.columns[-2:] == ("printed A: TREC 2013", "printed B: TREC 2014")
    assert [row[:2] for row in table.rows] == [
        (method, depth) for method in ("boosting", "regression") for depth in (10, 20)
    ]
    assert table.rows[1][-2:] == (0.81, 0.73)
    cell = study.cell("nDCG@100", 20, "full", "paper", "boosting")
    assert table.rows[1][2] == cell.tracks["three"].number("r2").value
    percentages = percentage_table(study)
    (row,) = [row for row in percentages.rows if row[:3] == ("nDCG@100", 20, "tau_a")]
    one, other = (
        study.cell("nDCG@100", 20, "full", "paper", method).tracks["three"].number("tau_a").value
        for method in ("boosting", "regression")
    )
    assert row[5] == pytest.approx(100 * (one / other - 1))
    assert row[-2:] == (11.69, None)
    assert set(study.figures()) == {"figure-2", "systems"}


def test_refused(tracks: list[str]) -> None:
    one = Track.read(tracks[0])
    with pytest.raises(RankgaugeError, match="1 track, expected at least 2"):
        run_study([one])
    with pytest.raises(RankgaugeError, match="two tracks have the same name"):
        run_study([one, one])
    with pytest.raises(RankgaugeError, match="no target has two tracks"):
        run_study([one, Track.read(tracks[1])], ForecastProtocol(targets=("nDCG@1000",)))
    with pytest.raises(RankgaugeError, match="no track 'four', expected one of one, two"):
        run_study([one, Track.read(tracks[1])], ForecastProtocol(target_tracks=("four",)))


# Claims


def cell(side: tuple[str, str, str], value: float, depth: int = 10) -> StudyCell:
    """A cell with one number, by all that is counted, of which everybody is sure."""
    numbers = TrackNumbers(np.full((1, len(NUMBERS)), value), np.full((2, 10, len(NUMBERS)), value))
    method, split, judgments = side
    return StudyCell("nDCG@100", depth, judgments, split, method, {"track": numbers})


def study_of(*cells: StudyCell) -> ForecastStudy:
    return ForecastStudy(ForecastProtocol(depths=(10, 20, 30)), {"track": "kind"}, {}, cells)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_each_claim_true_and_false_by_construction(claim) -> None:
    numbers = {"sides": (0.9, 0.1), "depths": (0.9, 0.1), "depths of sides": (0.9, 0.1)}
    for ends, verdict in ((numbers[claim.compared], "holds"), ((0.1, 0.9), "does not hold")):
        for number in claim.numbers:
            one, other = claim.one.by(number), claim.other.by(number)
            made = study_of(cell(one, ends[0]), cell(other, ends[1]))
            if claim.compared == "depths":
                made = study_of(cell(one, ends[1], 10), cell(one, ends[0], 20))
            elif claim.compared == "depths of sides":
                zero = [cell(other, 0.0, depth) for depth in (10, 30)]
                made = study_of(cell(one, ends[0], 10), cell(one, ends[1], 30), *zero)
            found = [
                each.verdict
                for each in measure_claims(made)
                if (each.claim, each.number) == (claim.text, number)
            ]
            assert found == [verdict]


def test_one_track_alone_decides_no_claim() -> None:
    """The mean is ahead by far on one place of five; the interval says so, the places do not."""
    ahead = MeasuredClaim("c", "r2", "a", "b", 0.4, 0.2, 0.6, 1, 5)
    assert ahead.verdict == "undecided"
    assert ahead._replace(holds=3).verdict == "holds"
    behind = MeasuredClaim("c", "r2", "a", "b", -0.4, -0.6, -0.2, 4, 5)
    assert behind.verdict == "undecided"
    assert behind._replace(holds=2).verdict == "does not hold"
    assert behind._replace(high=0.1, holds=2).verdict == "undecided"


def test_rich_features_begin_with_those_of_the_paper() -> None:
    assert RICH[:6] == ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")

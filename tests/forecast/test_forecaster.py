"""Forecasters on made rows: each method against its definition, intervals, saving and hostile files."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau

from profiles import examples
from rankgauge.core.policies import LEVEL
from rankgauge.core.sealing import SEAL, write_sealed
from rankgauge.errors import InputError, MeasureError, RankgaugeError
from rankgauge.forecast.forecaster import FILE, Forecaster
from rankgauge.forecast.left_out import errors_by_mass, held_out_errors
from rankgauge.forecast.models import best_subset, fit_trees, least_squares, subsets
from rankgauge.forecast.stacked import StackedRows
from rankgauge.forecast.tracks import FEATURES, RICH, Rows, Track

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

METHODS = ("boosting", "regression", "gupta", "pooled")


def made(name: str, kind: str, seed: int, runs: int = 6, topics: int = 20) -> Rows:
    """Rows whose target is a line through two of the six features, and noise."""
    generator = np.random.default_rng(seed)
    level = generator.random((1, topics, 1))
    features = np.clip(level + 0.2 * generator.standard_normal((runs, topics, 6)), 0, 1)
    noise = 0.03 * generator.standard_normal((runs, topics))
    target = 0.1 + 0.5 * features[:, :, 4] + 0.2 * features[:, :, 0] + noise
    return Rows(
        name, kind, tuple(f"{name}-{n}" for n in range(runs)), tuple(f"t{n}" for n in range(topics)),
        features, features[:, :, 4], target + 0.05, target,
    )  # fmt: skip


def content_of(folder: Path) -> str:
    """What a saved forecaster has, without the seal."""
    content = json.loads((folder / FILE).read_text())
    return json.dumps({key: value for key, value in content.items() if key != SEAL})


@pytest.fixture(scope="module")
def tracks() -> list[Rows]:
    return [made("a", "news", 1), made("b", "news", 2), made("c", "web", 3, runs=4, topics=30)]


@pytest.mark.parametrize("method", METHODS)
def test_forecasts_are_better_than_the_mean(method: str, tracks: list[Rows]) -> None:
    new = made("new", "news", 9)
    found = Forecaster(method).fit_rows(tracks).forecast_rows(new)
    error = np.mean((found.values - new.target) ** 2)
    assert error < 0.5 * np.var(new.target)
    assert found.table().columns == ("run", "forecast", "at depth", "line", "shallow")
    assert found.scores().runs == new.runs
    np.testing.assert_array_equal(found.scores().values[:, :, 0], found.values)


def test_boosting_is_the_mean_of_models_fitted_apart(tracks: list[Rows]) -> None:
    new = made("new", "news", 9)
    found = Forecaster("boosting").fit_rows(tracks).forecast_rows(new).values.ravel()
    apart = [
        fit_trees(rows.matrix(), rows.target.ravel(), "boosting", Forecaster().seed).predict(
            new.matrix()
        )
        for rows in tracks
    ]
    np.testing.assert_allclose(found, np.mean(apart, axis=0), rtol=0, atol=1e-14)


def test_boosting_is_close_to_scikit_learns(tracks: list[Rows]) -> None:
    """The same settings; the two choose thresholds between values in another way."""
    from sklearn.ensemble import GradientBoostingRegressor

    rows = tracks[2]
    model = GradientBoostingRegressor(random_state=0).fit(rows.matrix(), rows.target.ravel())
    ours = fit_trees(rows.matrix(), rows.target.ravel(), "boosting", 0)
    new = made("new", "web", 11)
    apart = ours.predict(new.matrix()) - model.predict(new.matrix())
    assert np.sqrt(np.mean(apart**2)) < 0.03
    assert np.corrcoef(ours.predict(new.matrix()), model.predict(new.matrix()))[0, 1] > 0.98


def test_regression_is_the_mean_of_lines_by_the_chosen_features(tracks: list[Rows]) -> None:
    forecaster = Forecaster("regression", subset="queries").fit_rows(tracks)
    assert forecaster.model_ is not None
    columns = forecaster.model_.models[0].columns
    assert {0, 4} <= set(columns)
    from sklearn.linear_model import LinearRegression

    new = made("new", "news", 9)
    apart = [
        LinearRegression()
        .fit(rows.matrix()[:, columns], rows.target.ravel())
        .predict(new.matrix()[:, columns])
        for rows in tracks
    ]
    found = forecaster.forecast_rows(new).values.ravel()
    np.testing.assert_allclose(found, np.mean(apart, axis=0), rtol=0, atol=1e-9)


def test_training_error_chooses_all_features(tracks: list[Rows]) -> None:
    forecaster = Forecaster("regression", subset="training").fit_rows(tracks)
    assert forecaster.model_ is not None
    assert forecaster.model_.models[0].columns == tuple(range(6))


@pytest.mark.parametrize("learner", ["least-squares", "svr"])
def test_gupta_forecasts_means_of_systems(tracks: list[Rows], learner: str) -> None:
    """A line on the means of systems: the mean of its forecasts is the forecast of the means."""
    forecaster = Forecaster("gupta", learner=learner).fit_rows(tracks)
    assert forecaster.model_ is not None
    (line,) = forecaster.model_.models
    means = np.concatenate([rows.features.mean(axis=1) for rows in tracks])
    targets = np.concatenate([rows.target.mean(axis=1) for rows in tracks])
    if learner == "least-squares":
        again = least_squares(means, targets, range(6))
        np.testing.assert_allclose(line.weights, again.weights, atol=1e-9)
    new = made("new", "news", 9)
    found = forecaster.forecast_rows(new).values.mean(axis=1)
    np.testing.assert_allclose(found, line.predict(new.features.mean(axis=1)), atol=1e-12)


@examples(25)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_the_best_subset_by_trying_all(seed: int, width: int, grouped: bool) -> None:
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((24, width))
    target = features[:, 0] + 0.5 * generator.standard_normal(24)
    groups = np.arange(24) % 3 if grouped else None
    found = best_subset(features, target, groups)
    errors = {}
    for size in range(1, width + 1):
        for columns in itertools.combinations(range(width), size):
            if groups is None:
                line = least_squares(features, target, columns)
                errors[columns] = float(np.sum((target - line.predict(features)) ** 2))
            else:
                total = 0.0
                for part in range(3):
                    inside = groups == part
                    line = least_squares(features[~inside], target[~inside], columns)
                    total += float(np.sum((target[inside] - line.predict(features[inside])) ** 2))
                errors[columns] = total
    assert errors[found] == pytest.approx(min(errors.values()), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_neither_other_runs_nor_the_order_of_rows_matter(method: str, tracks: list[Rows]) -> None:
    forecaster = Forecaster(method).fit_rows(tracks)
    new = made("new", "news", 9)
    whole = forecaster.forecast_rows(new).values
    order = [3, 1, 0]
    some = replace(
        new,
        runs=tuple(new.runs[n] for n in order),
        **{name: getattr(new, name)[order] for name in ("features", "plain", "shallow", "target")},
    )
    np.testing.assert_array_equal(forecaster.forecast_rows(some).values, whole[order])


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_forecaster(
    method: str, tracks: list[Rows], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        Forecaster(method, seed=4).fit_rows(tracks).save(tmp_path / name)
    assert (tmp_path / "one" / FILE).read_bytes() == (tmp_path / "two" / FILE).read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_neither_the_names_of_kinds_nor_the_order_of_tracks_matter(
    method: str, tracks: list[Rows], tmp_path: Path
) -> None:
    kinds = {"news": "zeitung", "web": "netz"}
    renamed = [replace(rows, kind=kinds.get(rows.kind, rows.kind)) for rows in reversed(tracks)]
    files = []
    for number, each in enumerate((tracks, renamed)):
        Forecaster(method, seed=4).fit_rows(each).save(tmp_path / str(number))
        files.append(content_of(tmp_path / str(number)))
    for old, new in kinds.items():
        files[0] = files[0].replace(f'"{old}"', f'"{new}"')
    assert files[0] == files[1]


@examples(50)
@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), st.integers(0, 9)
)
def test_folds_depend_on_topics_alone(topics: list[str], seed: int) -> None:
    def dealt(kind: str, order: list[str]) -> dict[str, int]:
        values = np.ones((1, len(order)))
        rows = Rows("t", kind, ("r",), tuple(order), values[:, :, None], values, values, values)
        return dict(zip(order, StackedRows.of([rows]).folds(seed).tolist(), strict=True))

    assert dealt("news", topics) == dealt("web", topics[::-1])


def test_the_subset_of_gupta_by_trying_all(tracks: list[Rows]) -> None:
    """The features whose line ranks the systems learned from best, and of those the fewest."""
    stacked = StackedRows.of(tracks)
    features, target = stacked.system_means()
    by_tau = {}
    for columns in subsets(features.shape[1]):
        line = least_squares(features, target, columns).predict(features)
        by_tau[columns] = float(kendalltau(target, line, variant="b").statistic)
    (model,) = Forecaster("gupta", subset="training").fitted(stacked).models
    assert by_tau[model.columns] == pytest.approx(max(by_tau.values()))
    assert len(model.columns) == min(
        len(columns) for columns, tau in by_tau.items() if tau > max(by_tau.values()) - 1e-12
    )


def test_topics_of_one_kind_are_one_topic(tracks: list[Rows]) -> None:
    stacked = StackedRows.of(tracks)
    assert len(stacked.names) == 20 + 30
    folds = stacked.folds(0)
    for group in np.unique(stacked.group):
        assert len(np.unique(folds[stacked.group == group])) == 1
    weights = stacked.track_weights()
    sums = [weights[stacked.track == number].sum() for number in range(3)]
    assert sums == pytest.approx([len(weights) / 3] * 3)


# Intervals


def test_mass_by_topic_straight_from_the_definition() -> None:
    errors = np.array([0.1, 0.4, 0.2, 0.3, 0.5])
    groups = np.array([0, 0, 0, 0, 1])
    found = errors_by_mass(errors, groups)
    assert [error for error, _ in found] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert [mass for _, mass in found] == pytest.approx([1 / 12, 2 / 12, 3 / 12, 4 / 12, 8 / 12])


def test_intervals_cover_new_topics(tracks: list[Rows]) -> None:
    """Each query has the same mass, so 90% of the queries of tracks like these are within."""
    forecaster = Forecaster("regression").fit_rows(tracks)
    covered = []
    for seed in range(40, 60):
        new = made("new", "news", seed)
        low, high = forecaster.forecast_rows(new, level=0.9).bounds()
        covered.append(((low <= new.target) & (new.target <= high)).mean())
    assert 0.85 < np.mean(covered) < 0.99


def test_too_few_topics_for_a_level(tracks: list[Rows]) -> None:
    few = [made("few", "news", 1, topics=4)]
    found = Forecaster("regression").fit_rows(few).forecast_rows(tracks[0], level=0.9)
    assert not np.isfinite(found.half_width)
    assert np.isnan(found.bounds()).all()
    assert all(row[3] != row[3] and row[4] != row[4] for row in found.query_table().rows)
    said = found.table().render("table")
    assert "4 queries of news in the training data allow a level of at most 80%" in said
    enough = Forecaster("regression").fit_rows(few).forecast_rows(tracks[0], level=0.8)
    assert np.isfinite(enough.bounds()).all()
    assert "no intervals" not in enough.table().render("table")
    one = Forecaster("gupta").fit_rows([made("one", "news", 1, topics=1)])
    assert one.errors_["news"].by_mass == ()
    said = one.forecast_rows(tracks[0], level=0.01).table().render("table")
    assert "no intervals: they need at least two training queries" in said


def test_the_default_level_is_that_of_the_command_line(tracks: list[Rows]) -> None:
    found = Forecaster("regression").fit_rows(tracks).forecast_rows(tracks[0])
    assert found.level == LEVEL == 0.95


def test_what_an_interval_is_about(tracks: list[Rows]) -> None:
    """It is about one run on one query, never about a mean, and says how far it goes."""
    tracks = [replace(tracks[0], queries=tuple(f"u{n}" for n in range(20))), *tracks[1:]]
    forecaster = Forecaster("regression").fit_rows(tracks)
    whole, topics, other = (
        forecaster.forecast_rows(replace(tracks[0], kind=kind)).table().render("table")
        for kind in ("news", "web", "mail")
    )
    assert "There is no interval for the mean. For one run on one query: when tracks were" in whole
    assert "For one run on one query: when queries were held out" in topics
    assert "of the queries of web. On another track, the share may be lower" in topics
    assert "This does not extend to mail" in other
    assert "less often" not in whole
    gupta = Forecaster("gupta").fit_rows(tracks)
    for kind, told in (("news", False), ("web", True)):
        shown = gupta.forecast_rows(replace(tracks[0], kind=kind)).table().render("table")
        assert ("cover the true value less often than their level states" in shown) == told


def shifted(name: str, seed: int) -> Rows:
    """Rows of a track with scores that are all a little higher or lower than in other tracks; a feature
    gives the track away."""
    rows = made(name, "news", seed, topics=15)
    shift, mark = np.random.default_rng(1000 + seed).standard_normal(2).tolist()
    features = rows.features.copy()
    features[:, :, 5] = mark
    topics = tuple(f"{name}-{topic}" for topic in rows.queries)
    return replace(rows, features=features, target=rows.target + 0.1 * shift, queries=topics)


def test_intervals_cover_new_tracks() -> None:
    """Tracks differ in more than queries: errors on other queries of the same tracks are too small."""
    learned = [shifted(f"old{seed}", seed) for seed in range(12)]
    forecaster = Forecaster("pooled").fit_rows(learned)
    assert forecaster.errors_["news"].left_out == "tracks"
    half_width = forecaster.forecast_rows(learned[0], level=0.9).half_width
    stacked = StackedRows.of(learned)
    on_topics = held_out_errors(stacked, [rows.track for rows in learned], 0, forecaster.fitted)
    assert np.quantile(on_topics, 0.9) < 0.6 * half_width
    covered = []
    for seed in range(100, 140):
        new = shifted(f"new{seed}", seed)
        low, high = forecaster.forecast_rows(new, level=0.9).bounds()
        covered.append(((low <= new.target) & (new.target <= high)).mean())
    assert 0.85 < np.mean(covered) < 0.97


def test_each_kind_has_its_own_intervals() -> None:
    """A kind that is hard to forecast widens no other; an unknown kind gets the widest."""
    easy, hard = made("a", "news", 1), made("b", "web", 2)
    noise = 0.2 * np.random.default_rng(5).standard_normal(hard.target.shape)
    forecaster = Forecaster("regression").fit_rows(
        [easy, replace(hard, target=hard.target + noise)]
    )
    news, web, mail = (
        forecaster.forecast_rows(replace(easy, kind=kind)).half_width
        for kind in ("news", "web", "mail")
    )
    assert 2 * news < web == mail


def test_errors_straight_from_the_definition(tracks: list[Rows]) -> None:
    """Tracks a and b share queries, so neither can be left out whole; with others they can."""
    forecaster = Forecaster("regression")
    assert forecaster.fit_rows(tracks[:2]).errors_["news"].left_out == "queries"
    other = replace(tracks[1], queries=tuple(f"u{n}" for n in range(20)))
    pair = [tracks[0], other]
    stacked = StackedRows.of(pair)
    found = held_out_errors(stacked, ["news", "news"], 0, forecaster.fitted)
    for number, (left, rest) in enumerate([(pair[0], pair[1]), (pair[1], pair[0])]):
        model = forecaster.fitted(StackedRows.of([rest]))
        apart = np.abs(left.target.ravel() - model.predict(left.matrix()))
        np.testing.assert_allclose(found[stacked.track == number], apart, atol=1e-12)


def test_an_unknown_kind_is_said() -> None:
    forecaster = Forecaster("regression").fit_rows([made("a", "news", 1)])
    notes = forecaster.forecast_rows(made("w", "web", 2)).notes
    assert any(
        "neither the forecasts nor their intervals are reliable" in note.kind for note in notes
    )
    assert not forecaster.forecast_rows(made("n", "news", 2)).notes


def test_full_judgments_are_said_not_to_be_cheap() -> None:
    forecaster = Forecaster("regression", judgments="full").fit_rows([made("a", "news", 1)])
    notes = forecaster.forecast_rows(made("n", "news", 2)).notes
    assert any("saves no judging" in note.kind for note in notes)


# Odd data


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (5, 1)])
def test_one_run_or_one_topic(method: str, shape: tuple[int, int]) -> None:
    rows = made("a", "news", 1, *shape)
    found = Forecaster(method).fit_rows([rows]).forecast_rows(rows)
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("method", METHODS)
def test_constant_targets(method: str) -> None:
    rows = made("a", "news", 1)
    flat = replace(rows, target=np.full_like(rows.target, 0.25))
    forecaster = Forecaster(method).fit_rows([flat])
    np.testing.assert_allclose(forecaster.forecast_rows(rows).values, 0.25, atol=1e-6)
    (note,) = forecaster.notes_
    assert "nDCG@1000 is 0.25 for all runs and queries in the training data" in str(note)


def test_one_topic_is_told() -> None:
    one = Forecaster("regression").fit_rows([made("a", "news", 1, topics=1)])
    assert any("only one query" in note.kind for note in one.notes_)
    assert Forecaster("regression").fit_rows([made("a", "news", 1, topics=2)]).notes_ == ()


def test_a_target_among_features_that_see_all_judgments() -> None:
    rows = made("a", "news", 1)
    settings = {"target": "nDCG@100", "features": ("P", "nDCG@100", "RR", "AP", "ERR", "RBP")}
    full = Forecaster("regression", judgments="full", **settings).fit_rows([rows])
    assert any("it is the target itself" in note.kind for note in full.notes_)
    assert Forecaster("regression", **settings).fit_rows([rows]).notes_ == ()


@pytest.mark.parametrize("target", ["nDCG@1000", "SearchLength"])
def test_the_best_forecast_stands_first(tracks: list[Rows], target: str) -> None:
    found = Forecaster("regression", target=target).fit_rows(tracks).forecast_rows(tracks[0])
    shown = [row[1] for row in found.table().rows]
    assert shown == sorted(shown, reverse=target == "nDCG@1000")
    assert [row[0] for row in found.query_table().rows][:: len(tracks[0].queries)] == [
        row[0] for row in found.table().rows
    ]


def test_names_of_sets_of_features() -> None:
    assert Forecaster().features == Forecaster(features="paper").features == FEATURES
    assert Forecaster(features="rich").features == RICH
    assert Forecaster(features=("rich", "P", "RR")).features == (*RICH, "RR")
    assert Forecaster(features="AP").features == ("AP",)


def test_settings_of_another_method_are_refused() -> None:
    with pytest.raises(RankgaugeError, match="subset='queries' is only for method='regression'"):
        Forecaster("pooled", subset="queries")
    with pytest.raises(RankgaugeError, match="learner='svr' is only for method='gupta'"):
        Forecaster("regression", learner="svr")
    with pytest.raises(RankgaugeError, match="subset='queries' is not for method='gupta'"):
        Forecaster("gupta", subset="queries")
    assert Forecaster("regression").subset == "queries"
    assert Forecaster("gupta").subset is None
    assert Forecaster("gupta").learner == "least-squares"
    assert Forecaster("pooled").subset is None


def test_undefined_numbers_are_left_out(tracks: list[Rows]) -> None:
    hole = tracks[0].features.copy()
    hole[0, 0, 0] = np.nan
    stacked = StackedRows.of([replace(tracks[0], features=hole)])
    assert len(stacked.target) == tracks[0].target.size - 1


def test_refused() -> None:
    with pytest.raises(RankgaugeError, match="no tracks"):
        Forecaster().fit_rows([])
    with pytest.raises(RankgaugeError, match="is not trained"):
        Forecaster().forecast_rows(made("a", "news", 1))
    with pytest.raises(RankgaugeError, match="method"):
        Forecaster("guess")
    with pytest.raises(MeasureError, match="The sets of features are paper and rich"):
        Forecaster(features=("nothing",))
    with pytest.raises(RankgaugeError, match="no features"):
        Forecaster(features=())
    many = [f"P@{cutoff}" for cutoff in range(1, 16)]
    with pytest.raises(RankgaugeError, match="15 features, expected at most 14"):
        Forecaster("regression", features=many)
    assert Forecaster("pooled", features=many).features == tuple(many)
    with pytest.raises(RankgaugeError, match="expected NAME=KIND:QRELS,RUNS"):
        Track.read("qrels.txt")


# Files


@pytest.mark.parametrize("method", METHODS)
def test_save_and_load(method: str, tracks: list[Rows], tmp_path: Path) -> None:
    forecaster = Forecaster(method, depth=10, target="nDCG@100", seed=3).fit_rows(tracks)
    forecaster.save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model")
    new = made("new", "other", 9)
    one, other = forecaster.forecast_rows(new), loaded.forecast_rows(new)
    np.testing.assert_array_equal(one.values, other.values)
    assert one.half_width == other.half_width
    assert (loaded.method, loaded.depth, loaded.target) == (method, 10, "nDCG@100")
    assert one.table().render("csv") == other.table().render("csv")


@pytest.fixture(scope="module")
def saved(tracks: list[Rows], tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The content of a saved forecaster; it can be loaded."""
    folder = tmp_path_factory.mktemp("saved")
    Forecaster("regression").fit_rows(tracks).save(folder)
    assert [path.name for path in folder.iterdir()] == [FILE]
    Forecaster.load(folder)
    content: dict[str, object] = json.loads(content_of(folder))
    return content


KIND_ERRORS = {"kind": "news", "queries": 2, "left_out": "queries", "by_mass": [[0.1, 0.5]]}


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 3},
        {"method": "guess"},
        {"models": []},
        {"models": [{"trees": "tree\n"}]},
        {"models": [{"trees": 3}]},
        {"models": [{"columns": [9], "constant": 0, "weights": [1]}]},
        {"models": [{"columns": [0], "constant": 0, "weights": [1, 2]}]},
        {"models": [{"columns": [0], "constant": None, "weights": [1]}]},
        {"models": [{"columns": [True], "constant": 0, "weights": [1]}]},
        {"models": 3},
        {"line": {"trees": "x"}},
        {"errors": []},
        {"errors": 3},
        {"errors": [{}]},
        {"errors": [KIND_ERRORS | {"by_mass": [[0.5, 0.1], [0.2, 0.2]]}]},
        {"errors": [KIND_ERRORS | {"by_mass": [["a", "b"]]}]},
        {"errors": [KIND_ERRORS | {"by_mass": [[0.1, 0.2, 0.3]]}]},
        {"errors": [KIND_ERRORS | {"by_mass": [[1e999, 0.5]]}]},
        {"errors": [KIND_ERRORS | {"queries": 0}]},
        {"errors": [KIND_ERRORS | {"queries": "many"}]},
        {"errors": [KIND_ERRORS | {"left_out": "runs"}]},
        {"features": [1]},
        {"features": []},
        {"depth": -1},
        {"target": "nothing@3"},
        {"tracks": None},
        {"notes": 3},
        {"subset": None, "learner": "svr"},
    ],
    ids=str,
)
def test_hostile_files(saved: dict[str, object], tmp_path: Path, change: dict[str, object]) -> None:
    """The seal is right: whoever changes a file on purpose can seal it again."""
    write_sealed(tmp_path / FILE, saved | change)
    with pytest.raises(InputError, match="not a forecaster"):
        Forecaster.load(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"format": "rankgauge-forecaster"}'])
def test_files_that_are_no_forecaster(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InputError, match="not a forecaster"):
        Forecaster.load(tmp_path)


def test_what_a_file_lacks_is_named(tracks: list[Rows], tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(
        InputError, match="missing from the file: format, version, method and 12 more"
    ):
        Forecaster.load(tmp_path)
    (tmp_path / FILE).write_text("[]")
    with pytest.raises(InputError, match="no JSON object"):
        Forecaster.load(tmp_path)
    Forecaster("gupta").fit_rows(tracks).save(tmp_path)
    content = json.loads(content_of(tmp_path))
    del content["line"]
    write_sealed(tmp_path / FILE, content)
    with pytest.raises(InputError, match=r"\(missing from the file: line\)"):
        Forecaster.load(tmp_path)


def test_a_forecaster_of_an_earlier_version_is_read_with_a_note(
    saved: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / FILE).write_text(json.dumps(saved | {"version": 1}))
    loaded = Forecaster.load(tmp_path)
    assert any("has no seal" in str(note) for note in loaded.notes_)
    (tmp_path / FILE).write_text(json.dumps(saved | {"version": 1, "extra": 1}))
    with pytest.raises(InputError, match="the unknown entry 'extra'"):
        Forecaster.load(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_no_link_or_pipe_is_read(tracks: list[Rows], tmp_path: Path) -> None:
    Forecaster("gupta").fit_rows(tracks).save(tmp_path / "model")
    path = tmp_path / "model" / FILE
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link, expected a file"):
        Forecaster.load(tmp_path / "model")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a named pipe, expected a file"):
        Forecaster.load(tmp_path / "model")


def test_a_changed_digit_breaks_the_seal(tracks: list[Rows], tmp_path: Path) -> None:
    Forecaster("regression").fit_rows(tracks).save(tmp_path)
    text = (tmp_path / FILE).read_text()
    place = text.index('"constant": 0.') + len('"constant": 0.')
    (tmp_path / FILE).write_text(
        text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    )
    with pytest.raises(InputError, match=rf"{FILE}: its seal is broken"):
        Forecaster.load(tmp_path)


def test_a_mean_outside_the_range_is_refused(
    tracks: list[Rows], saved: dict[str, object], tmp_path: Path
) -> None:
    models = json.loads(json.dumps(saved["models"]))
    models[0]["constant"] += 5
    write_sealed(tmp_path / FILE, saved | {"models": models})
    with pytest.raises(RankgaugeError, match=rf"{FILE}: forecasts a mean nDCG.* of 2\.\d*.*0 to 1"):
        Forecaster.load(tmp_path).forecast_rows(tracks[0])


def test_forecasts_of_single_topics_outside_the_range_are_counted(tracks: list[Rows]) -> None:
    """A line goes on beyond what it has learned from; no score does."""
    found = Forecaster("regression").fit_rows(tracks)
    low = replace(tracks[0], features=tracks[0].features - 0.25)
    forecast = found.forecast_rows(low)
    outside = int((forecast.values < 0).sum())
    assert outside
    assert (forecast.values.mean(axis=1) > 0).all()
    told = f"{outside} forecasts for single queries outside the range 0 to 1, from -0."
    assert any(told in str(note) for note in forecast.notes)
    assert told in forecast.table().render("table")


def test_the_features_of_the_paper() -> None:
    assert FEATURES == ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")

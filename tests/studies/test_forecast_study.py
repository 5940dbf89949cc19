"""The study of forecasts: splits that leak nothing, quality by its definition, and claims."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_cluster import on_loopback
from forecast.made_tracks import write_track
from profiles import examples
from rankgauge.data.errors import RankgaugeError
from rankgauge.forecast.stacked import StackedRows
from rankgauge.forecast.tracks import RICH, Rows, Track
from rankgauge.studies.forecast.claims import CLAIMS, claim_table, claims_of
from rankgauge.studies.forecast.published import published_table
from rankgauge.studies.forecast.quality import quality_of, taus
from rankgauge.studies.forecast.splits import SPLITS, TESTED_SHARE, paper_part, parts
from rankgauge.studies.forecast.study import (
    BASELINES,
    LEARNERS,
    PAPER,
    RICHER,
    Asked,
    ForecastStudy,
    Found,
    run_study,
)

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
    """Two tracks of one kind share the topics 5 to 9."""
    return StackedRows.of(
        [rows("a", "news", 6, 10), rows("bb", "news", 4, 10, 5), rows("ccc", "web", 7, 8)]
    )


# Splits


@pytest.mark.parametrize("split", SPLITS)
def test_splits_test_each_row_at_most_once_and_never_learn_from_it(
    stacked: StackedRows, split
) -> None:
    made = list(parts(stacked, KINDS, split, 3))
    tested = np.sum([part.tested for part in made], axis=0)
    assert tested.max() == 1
    if split != "topics and runs":
        assert tested.min() == 1
    for learnt, inside in made:
        assert not (learnt & inside).any()


@pytest.mark.parametrize("split", ["topics", "topics and runs"])
def test_no_topic_is_parted_also_across_tracks_of_a_kind(stacked: StackedRows, split) -> None:
    for learnt, inside in parts(stacked, KINDS, split, 3):
        assert not set(stacked.group[learnt]) & set(stacked.group[inside])
        if split == "topics and runs":
            assert not set(stacked.system[learnt]) & set(stacked.system[inside])


def test_a_kind_is_left_out_whole(stacked: StackedRows) -> None:
    made = list(parts(stacked, KINDS, "kind", 3))
    assert [sorted(set(stacked.track[inside].tolist())) for _, inside in made] == [[0, 1], [2]]
    assert list(parts(stacked, ["x", "x", "x"], "kind", 3)) == []


def test_rows_of_a_random_split_leak_topics(stacked: StackedRows) -> None:
    for learnt, inside in parts(stacked, KINDS, "rows", 3):
        assert set(stacked.group[learnt]) & set(stacked.group[inside])


def test_the_papers_protocol(stacked: StackedRows) -> None:
    """The first track is learnt from wholly, 80% of each target; the rest of a target is tested."""
    for target in (1, 2):
        learnt, tested = paper_part(stacked, target, (1, 2), 3)
        assert set(stacked.track[tested].tolist()) == {target}
        count = np.count_nonzero(stacked.track == target)
        assert np.count_nonzero(tested) == round(TESTED_SHARE * count)
        assert learnt[stacked.track == 0].all()
        for other in (1, 2):
            own = stacked.track == other
            assert np.count_nonzero(own & ~learnt) == round(TESTED_SHARE * np.count_nonzero(own))


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
    tau_a, tau_b = taus(x, y)
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
    from scipy.stats import spearmanr

    assert found.rho == pytest.approx(spearmanr(target, forecast).statistic)
    assert math.isnan(quality_of(target, forecast, None).system_tau)
    assert math.isnan(quality_of(np.ones(4), np.arange(4.0), None).r2)
    assert math.isnan(quality_of(np.ones(2), np.ones(2), None).tau_b)


# The study


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("tracks")
    return [
        f"news={write_track(folder / 'one', 1)}",
        f"news={write_track(folder / 'two', 2, first=7)}",
        f"web={write_track(folder / 'three', 3, runs=4)}",
    ]


@pytest.fixture(scope="module")
def study(tracks: list[str]) -> ForecastStudy:
    asked = Asked(targets=("nDCG@50", "nDCG@1000"), depths=(5, 10))
    return run_study([Track.read(text) for text in tracks], asked)


def test_a_cluster_gives_the_same(tracks: list[str], study: ForecastStudy, tmp_path: Path) -> None:
    asked = Asked(targets=study.asked.targets[:1], depths=(5,))
    with on_loopback(tmp_path, 2) as client:
        other = run_study([Track.read(text) for text in tracks], asked, executor=client)
    here = [cell for cell in study.cells if cell.depth == 5]
    assert repr(sorted(other.cells)) == repr(sorted(here))


def test_every_cell_is_there(study: ForecastStudy) -> None:
    methods = (*BASELINES, *LEARNERS)
    wanted = {
        (target, depth, judgments, split, method)
        for target in ("nDCG@50",)
        for depth in (5, 10)
        for judgments in ("pool", "full")
        for split in (*SPLITS, PAPER)
        for method in methods
        if judgments == "pool" or method not in RICHER
    }
    assert {cell[:5] for cell in study.cells} == wanted
    assert len(study.cells) == len(wanted)
    table = study.table()
    assert len(table.rows) == len(wanted)
    assert all(-1 <= row[6] <= 1 for row in table.rows)


def test_a_target_deeper_than_the_runs_is_left_out_and_said(study: ForecastStudy) -> None:
    assert len(study.left_out["nDCG@1000"]) == 3
    assert "left out for nDCG@1000" in study.table().render("table")
    assert "6 topics in two tracks of one kind" in study.table().render("table")


def test_the_overview_has_the_numbers_of_the_greatest_depth(study: ForecastStudy) -> None:
    table = study.overview()
    assert len(table.rows) == len(BASELINES) + len(LEARNERS)
    means = {tuple(row[:5]): row[5:] for row in study.table().rows}
    for target, method, *numbers in table.rows:
        splits = ("rows", "topics", "topics and runs", "kind")
        wanted = [means[target, 10, "pool", split, method][0] for split in splits]
        full = means.get((target, 10, "full", "topics", method))
        assert numbers[:4] == wanted
        assert numbers[4] == (None if full is None else full[0])
        assert numbers[5] == means[target, 10, "pool", "topics", method][4]


def test_what_a_study_of_two_tracks_of_a_kind_cannot_say(tracks: list[str]) -> None:
    two = [Track.read(text) for text in tracks[:2]]
    found = run_study(two, Asked(targets=("nDCG@50",), depths=(5,)))
    shown = found.table().render("table")
    assert "nothing is said of new kinds" in shown
    assert "no track is learnt from wholly" in shown
    assert all(row[5] is None for row in found.overview().rows)
    verdicts = {each.claim: each.verdict for each in claims_of(found)}
    assert verdicts["Boosting becomes more accurate with each step of depth."] == "no numbers"
    assert "needs several depths" in claim_table(found).notes[2]


def test_what_needs_no_learning_is_the_same_in_all_splits_that_test_all_rows(
    study: ForecastStudy,
) -> None:
    for method in ("at depth", "shallow"):
        for target in ("nDCG@50",):
            found = [
                cell.tracks
                for cell in study.cells
                if (cell.target, cell.depth, cell.judgments, cell.method)
                == (target, 10, "pool", method)
                and cell.split in ("rows", "topics", "kind")
            ]
            assert found[0] == found[1] == found[2]


def test_the_same_seed_gives_the_same_study(tracks: list[str], study: ForecastStudy) -> None:
    read = [Track.read(text) for text in tracks]
    again = run_study(read, Asked(targets=("nDCG@50",), depths=(5,))).table().render("csv")
    once = study.table().render("csv").splitlines()
    wanted = [line for line in once if line.startswith("nDCG@50,5,")]
    assert [line for line in again.splitlines() if line.startswith("nDCG@50,5,")] == wanted
    assert len(wanted) == 5 * (9 + 8)


def test_refused(tracks: list[str]) -> None:
    one = Track.read(tracks[0])
    with pytest.raises(RankgaugeError, match="1 track, expected at least 2"):
        run_study([one])
    with pytest.raises(RankgaugeError, match="two tracks have the same name"):
        run_study([one, one])
    with pytest.raises(RankgaugeError, match="no target has two tracks"):
        run_study([one, Track.read(tracks[1])], Asked(targets=("nDCG@1000",)))


# Claims


def study_of(numbers: dict[tuple[str, str, str], float]) -> ForecastStudy:
    """A study in which each method has one number in a split, by all that is counted."""
    cells = []
    for (method, split, judgments), value in numbers.items():
        quality = quality_of(np.arange(4.0), np.arange(4.0), None)
        filled = type(quality)(*(value,) * len(quality))
        cells.append(Found("nDCG@100", 10, judgments, split, method, {"track": filled}))
    return ForecastStudy(Asked(), {"track": "kind"}, {}, tuple(cells))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_each_claim_true_and_false_by_construction(claim) -> None:
    true = study_of({tuple(claim.one): 0.9, tuple(claim.other): 0.1})
    false = study_of({tuple(claim.one): 0.1, tuple(claim.other): 0.9})
    for made, verdict in ((true, "holds"), (false, "does not hold")):
        verdicts = {each.verdict for each in claims_of(made) if each.claim == claim.text}
        assert verdicts == {verdict}


def test_depth_is_counted_by_steps() -> None:
    quality = quality_of(np.arange(4.0), np.arange(4.0), None)
    cells = tuple(
        Found("nDCG@100", depth, "full", PAPER, "boosting", {"t": quality._replace(r2=r2)})
        for depth, r2 in ((10, 0.2), (20, 0.5), (30, 0.4))
    )
    *others, found = claims_of(ForecastStudy(Asked(), {"t": "kind"}, {}, cells))
    assert {each.verdict for each in others} == {"no numbers"}
    assert (found.holds, found.of, found.verdict) == (1, 2, "holds in part")
    assert (
        claim_table(ForecastStudy(Asked(), {"t": "k"}, {}, cells)).rows[-1][-1] == "holds in part"
    )


def test_the_papers_tables_are_said_to_be_of_other_data() -> None:
    table = published_table()
    assert len(table.rows) == 20
    assert "other data" in table.notes[0]
    assert ("nDCG@1000", "boosting", 30, 0.77, 0.75) in table.rows


def test_rich_features_begin_with_those_of_the_paper() -> None:
    assert RICH[:6] == ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")

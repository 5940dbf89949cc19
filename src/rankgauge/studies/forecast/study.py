"""Muwanei et al. 2022, Prediction of the high-cost nDCG measure, done again on any tracks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.data.errors import RankgaugeError
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.models import least_squares
from rankgauge.forecast.stacked import StackedRows
from rankgauge.forecast.tracks import (
    FEATURES,
    RICH,
    FeatureJudgments,
    Rows,
    Track,
    deep_enough,
    rows_by,
)
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import SEED
from rankgauge.records import Record
from rankgauge.resampling import Progress
from rankgauge.results import Result
from rankgauge.studies.forecast.quality import ForecastQuality, quality_of
from rankgauge.studies.forecast.splits import SPLITS, SplitRows, paper_part, parts
from rankgauge.tables import Cell, Table
from rankgauge.workers import AnyExecutor, outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPTHS = (10, 15, 20, 25, 30)
TARGETS = ("nDCG@100", "nDCG@1000")
BASELINES = ("at depth", "line", "shallow")
"""What needs no learning, or a line only."""
LEARNERS: Mapping[str, Mapping[str, str]] = {
    "boosting": {"method": "boosting"},
    "regression": {"method": "regression", "subset": "topics"},
    "regression, all features": {"method": "regression", "subset": "training"},
    "gupta": {"method": "gupta"},
    "pooled": {"method": "pooled"},
    "pooled, rich": {"method": "pooled"},
}
RICHER = ("pooled, rich",)
"""The learners that see all features of `RICH`; the others see the six of the paper."""
PAPER = "paper"
"""The split of the paper, for each of its target tracks."""
JUDGMENTS: tuple[FeatureJudgments, ...] = ("pool", "full")


PANELS: tuple[tuple[str, str, FeatureJudgments, str], ...] = (
    ("Kendall's τ-b over rows", PAPER, "full", "tau_b"),
    ("Spearman's ρ over rows", PAPER, "full", "rho"),
    ("Kendall's τ over systems", "topics", "pool", "system_tau"),
)
"""What the figures show: a title, a split, the judgements of features, and a number."""


OVERVIEW: Mapping[str, tuple[str, FeatureJudgments, str]] = {
    "rows": ("rows", "pool", "r2"),
    "topics": ("topics", "pool", "r2"),
    "topics and runs": ("topics and runs", "pool", "r2"),
    "new kind": ("kind", "pool", "r2"),
    "full": ("topics", "full", "r2"),
    "system τ": ("topics", "pool", "system_tau"),
}
"""The columns of the overview: a split, the judgements of features, and a number."""


class Found(NamedTuple):
    """One number of the study: where it belongs, and how good a method is there, by track."""

    target: str
    depth: int
    judgments: FeatureJudgments
    split: str
    method: str
    tracks: Mapping[str, ForecastQuality]

    @property
    def mean(self) -> ForecastQuality:
        """The mean over tracks, each of the same weight; NaN where no track has the number."""
        values = np.array(list(self.tracks.values()), dtype=np.float64)
        known = np.isfinite(values)
        sums = np.where(known, values, 0.0).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / known.sum(axis=0)
        return ForecastQuality(*means.tolist())


def _known(quality: ForecastQuality | None, number: str) -> float | None:
    """A number of the study; None where there is none."""
    value = math.nan if quality is None else float(getattr(quality, number))
    return value if math.isfinite(value) else None


def slug(target: str) -> str:
    """A measure as part of the name of a file."""
    return re.sub(r"[^A-Za-z0-9]+", "-", target).strip("-")


class Asked(Record):
    """What the study asks: targets, depths, the target tracks of the paper's protocol, and the seed."""

    targets: tuple[str, ...] = TARGETS
    depths: tuple[int, ...] = DEPTHS
    paper_targets: int = 2
    """So many of the last tracks are the targets of the paper's protocol."""
    seed: int = SEED


def run_study(
    tracks: Sequence[Track],
    asked: Asked | None = None,
    *,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> ForecastStudy:
    """Forecast all targets from all depths, by all methods, in all splits."""
    asked = asked or Asked()
    if len(tracks) < 2:
        raise RankgaugeError(f"{counted(len(tracks), 'track')}, expected at least 2 to compare")
    if len({track.name for track in tracks}) < len(tracks):
        raise RankgaugeError("two tracks have the same name, expected different ones")
    left: dict[str, list[str]] = {
        target: [track.name for track in tracks if not deep_enough(track, target)]
        for target in asked.targets
    }
    if not any(len(tracks) - len(names) > 1 for names in left.values()):
        raise RankgaugeError(
            f"no target has two tracks with runs that are deep enough, expected some for one of "
            f"{', '.join(asked.targets)}"
        )
    cells: list[Found] = []
    made = {track.name: rows_by(track, asked.targets, asked.depths, RICH) for track in tracks}
    for depth in asked.depths:
        work = [
            (target, judgments)
            for target in asked.targets
            for judgments in JUDGMENTS
            if len(tracks) - len(left[target]) > 1
        ]
        rows = {
            which: [
                made[track.name][depth, *which]
                for track in tracks
                if track.name not in left[which[0]]
            ]
            for which in work
        }
        task = _Depth(rows, depth, asked)
        for which, found in outcomes(task, work, executor, name=str):
            if isinstance(found, RankgaugeError):
                raise found
            cells += found
            if progress is not None:
                progress(f"depth {depth}, {which[0]}, {which[1]}")
    names = {track.name: track.kind for track in tracks}
    return ForecastStudy(asked, names, left, tuple(cells), _shared_topics(tracks))


def _shared_topics(tracks: Sequence[Track]) -> int:
    """How many topics are in more than one track of their kind."""
    counts = Counter(
        (track.kind, topic) for track in tracks for topic in track.judgments.queries.texts()
    )
    return sum(count > 1 for count in counts.values())


class _Depth(Record):
    """The forecasts of one target from one depth, with one kind of features."""

    rows: Mapping[tuple[str, FeatureJudgments], Sequence[Rows]]
    depth: int
    asked: Asked

    def __call__(self, which: tuple[str, FeatureJudgments]) -> list[Found]:
        tracks = self.rows[which]
        stacked = StackedRows.of(tracks)
        kinds = [rows.kind for rows in tracks]
        found = []
        for split in SPLITS:
            made = list(parts(stacked, kinds, split, self.asked.seed))
            if not made:
                continue
            forecasts = self._forecasts(stacked, made, which[1])
            whole = split != "topics and runs"
            found += self._judged(which, split, stacked, tracks, forecasts, whole)
        last = range(max(0, len(tracks) - self.asked.paper_targets), len(tracks))
        for number in last:
            part = paper_part(stacked, number, last, self.asked.seed)
            forecasts = self._forecasts(stacked, [part], which[1])
            found += self._judged(which, PAPER, stacked, tracks, forecasts, False)
        return _merged(found)

    def _forecasts(
        self, rows: StackedRows, made: Sequence[SplitRows], judgments: FeatureJudgments
    ) -> dict[str, Floats]:
        """For each method the forecast of each row; NaN for rows that no part tests. Rich features have
        the target itself among them, so they are for the judgements of the pool only."""
        learners = {
            name: settings
            for name, settings in LEARNERS.items()
            if judgments == "pool" or name not in RICHER
        }
        found = {name: np.full(len(rows.target), np.nan) for name in (*BASELINES, *learners)}
        for learnt, tested in made:
            own, inside = rows.take(learnt), rows.take(tested)
            if not len(own.target) or not len(inside.target):
                continue
            found["at depth"][tested] = inside.plain
            found["shallow"][tested] = inside.shallow
            line = least_squares(own.plain[:, None], own.target, (0,), own.track_weights())
            found["line"][tested] = line.predict(inside.plain[:, None])
            for name, settings in learners.items():
                forecaster = Forecaster(**settings, seed=self.asked.seed)  # type: ignore[arg-type]
                width = len(RICH if name in RICHER else FEATURES)
                learning = replace(own, features=own.features[:, :width])
                model = forecaster.fitted(learning)
                found[name][tested] = model.predict(inside.features[:, :width])
        return found

    def _judged(
        self,
        which: tuple[str, FeatureJudgments],
        split: str,
        rows: StackedRows,
        tracks: Sequence[Rows],
        forecasts: Mapping[str, Floats],
        whole: bool,
    ) -> list[Found]:
        cells = []
        for method, values in forecasts.items():
            by_track = {}
            for number, track in enumerate(tracks):
                own = (rows.track == number) & np.isfinite(values)
                if own.any():
                    systems = rows.system[own] if whole else None
                    by_track[track.track] = quality_of(rows.target[own], values[own], systems)
            cells.append(Found(which[0], self.depth, which[1], split, method, by_track))
        return cells


def _merged(cells: Sequence[Found]) -> list[Found]:
    """The cells with the tracks of those that differ in nothing else put together."""
    found: dict[tuple[object, ...], Found] = {}
    for cell in cells:
        key = cell[:5]
        known = found.get(key)
        tracks = {**known.tracks, **cell.tracks} if known is not None else cell.tracks
        found[key] = cell._replace(tracks=tracks)
    return list(found.values())


@dataclass(frozen=True, eq=False, repr=False)
class ForecastStudy(Result):
    """How well a costly measure is forecast: for each target, depth, split and method."""

    asked: Asked
    tracks: Mapping[str, str]
    """The kinds of the tracks, by name."""
    left_out: Mapping[str, Sequence[str]]
    """For each target the tracks whose runs are not deep enough for it."""
    cells: tuple[Found, ...]
    shared: int = 0

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What was left out, and what the columns mean."""
        made = [
            Note("1 − squared error / spread, the mean over tracks", column="r2"),
            Note(
                "Kendall's τ of the mean scores of systems; none where runs are tested on different "
                "topics",
                column="system_tau",
            ),
        ]
        if len(set(self.tracks.values())) == 1:
            made.append(Note("one kind of collection: nothing is said of new kinds"))
        if len(self.tracks) <= self.asked.paper_targets:
            made.append(
                Note(
                    f"{counted(len(self.tracks), 'track')}: in the paper's protocol no track is learnt "
                    "from wholly, as the last two are its targets"
                )
            )
        if self.shared:
            topics = counted(self.shared, "topic")
            made.append(Note(f"{topics} in two tracks of one kind: no split by topic parts them"))
        for target, names in self.left_out.items():
            if names:
                made.append(
                    Note(f"left out for {target}: {', '.join(names)}; the runs are not that deep")
                )
        return tuple(made)

    def overview(self) -> Table:
        """The greatest depth at a glance, a row for each target and method: R² in each split with
        features that see the judgements of the pool, and where they see all; and τ over systems. All
        are means over tracks."""
        depth = max(self.asked.depths)
        numbers = {
            (cell.target, cell.method, cell.split, cell.judgments): cell.mean
            for cell in self.cells
            if cell.depth == depth
        }
        methods = dict.fromkeys((cell.target, cell.method) for cell in self.cells)
        rows: list[tuple[Cell, ...]] = [
            (
                target,
                method,
                *(
                    _known(numbers.get((target, method, split, judgments)), number)
                    for split, judgments, number in OVERVIEW.values()
                ),
            )
            for target, method in methods
        ]
        notes = [
            Note(
                f"all are means over tracks, judged to depth {depth}; R² (1 − squared error / spread) "
                "but for the last column"
            ),
            Note(
                "how the tested rows were chosen: any rows; rows of new topics; rows of new topics and "
                "new runs; all rows of a kind of collection that was not learnt from",
                column="rows to new kind",
            ),
            Note(
                "new topics, with features that see all judgements, which is not cheap",
                column="full",
            ),
            Note("Kendall's τ of the mean scores of systems, on new topics", column="system τ"),
        ]
        return Table(("target", "method", *OVERVIEW), tuple(rows), worded(notes))

    def table(self) -> Table:
        """A row for each target, depth, kind of features, split and method: the means over tracks."""
        rows: list[tuple[Cell, ...]] = [
            (cell.target, cell.depth, cell.judgments, cell.split, cell.method, *cell.mean)
            for cell in self.cells
        ]
        columns = ("target", "depth", "judgments", "split", "method", *ForecastQuality._fields)
        return Table(columns, tuple(rows), worded(self.notes))

    def track_table(self) -> Table:
        """The same for each track."""
        rows: list[tuple[Cell, ...]] = [
            (cell.target, cell.depth, cell.judgments, cell.split, cell.method, track, *quality)
            for cell in self.cells
            for track, quality in cell.tracks.items()
        ]
        columns = (
            "target",
            "depth",
            "judgments",
            "split",
            "method",
            "track",
            *ForecastQuality._fields,
        )
        return Table(columns, tuple(rows), worded(self.notes))

    def figures(self) -> dict[str, Figure]:
        """For each target, τ-b and ρ over the rows against depth, in the paper's protocol; and τ over
        systems for new topics with the judgements of the pool."""
        from rankgauge.figures.studies import depth_curves

        made = {}
        for target in self.asked.targets:
            panels = {
                f"{title}: {split}, judgements: {judgments}": self._curves(
                    target, split, judgments, number
                )
                for title, split, judgments, number in PANELS
            }
            panels = {title: curves for title, curves in panels.items() if curves}
            if panels:
                made[slug(target)] = depth_curves(
                    self.asked.depths, panels, f"Forecasts of {target}"
                )
        return made

    def _curves(
        self, target: str, split: str, judgments: FeatureJudgments, number: str
    ) -> dict[str, list[float]]:
        """For each method the numbers at all depths; none where there are none."""
        curves: dict[str, list[float]] = {}
        for cell in self.cells:
            drawn = cell.method != "line"  # it ranks as what it is a line through
            if drawn and (cell.target, cell.split, cell.judgments) == (target, split, judgments):
                curves.setdefault(cell.method, []).append(getattr(cell.mean, number))
        return {name: values for name, values in curves.items() if np.isfinite(values).any()}

    def _title(self) -> str:
        return f"ForecastStudy: {counted(len(self.tracks), 'track')}"

"""Muwanei et al. 2022, Prediction of the high-cost nDCG measure, repeated on any tracks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge import RankgaugeError, parse
from rankgauge.extending import (
    SEED,
    Floats,
    Integer,
    Note,
    Progress,
    Record,
    Result,
    Table,
    check_value,
    count_phrase,
)
from rankgauge.forecast import (
    FEATURES,
    FeatureJudgments,
    Rows,
    ScoreTrack,
    StackedRows,
    Track,
    features_of,
    rows_by,
    score_rows,
)
from rankgauge.forecast.forecaster import check_target
from rankgauge.forecast.tracks import RICH, deep_enough
from rankgauge.workers import AnyExecutor, results_of
from rankgauge_studies.forecast.methods import GUPTA, LEARNERS, StudyLearner, forecasts, methods_of
from rankgauge_studies.forecast.quality import (
    NUMBERS,
    ROW_NUMBERS,
    StudyNumber,
    mean_of,
    quality_of,
)
from rankgauge_studies.forecast.splits import (
    ALL_ROWS_SPLITS,
    FIXED_SPLITS,
    GREATEST_DEPTH_SPLITS,
    SPLITS,
    TESTED_SHARE,
    RowSplit,
    parts,
    repeat_seed,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPTHS = (10, 15, 20, 25, 30)
TARGETS = ("nDCG@100", "nDCG@1000")
REPEATS, FEWEST_REPEATS = 20, 5
STANDARD_ERROR_LIMIT = 0.01
"""A split is not drawn again once the standard errors of all means over tracks are at most this."""
HALVINGS = 10
"""Number of ways in which queries are halved to see how much a number depends on the queries."""
GAIN_MEASURES = ("nDCG", "DCG")
"""The measures to which `gain` applies."""

AnyTrack = Track | ScoreTrack
RowsKey = tuple[int, str, FeatureJudgments]
BlockKey = tuple[int, str, FeatureJudgments, RowSplit]


class ForecastProtocol(Record):
    """What the study asks, by default what the paper asks.

    Parameters
    ----------
    targets, gain
        The costly measures, and the gain of nDCG in targets and features.
    depths, features
        The depths of judging, and the cheap measures at these depths.
    learners
        The learners of which models are averaged.
    target_tracks
        The names of the tracks that are tested in the paper's protocol; none stands for all tracks.
    repeats, seed
        How often a split is drawn at most, and what fixes everything that is drawn.
    """

    targets: tuple[str, ...] = TARGETS
    depths: tuple[int, ...] = DEPTHS
    features: tuple[str, ...] = FEATURES
    gain: str = "linear"
    learners: tuple[StudyLearner, ...] = LEARNERS
    target_tracks: tuple[str, ...] = ()
    repeats: int = REPEATS
    seed: int = SEED

    def __post_init__(self) -> None:
        check_value("repeats", self.repeats, Integer(1))
        for target in self.targets:
            check_target(target)

    @property
    def with_explicit_gain(self) -> ForecastProtocol:
        """The same, with the gain in the names of the measures."""
        targets = tuple(str(parse(with_gain(name, self.gain))) for name in self.targets)
        features = tuple(with_gain(name, self.gain) for name in features_of(self.features))
        return replace(self, targets=targets, features=features)


def with_gain(measure: str, gain: str) -> str:
    """A measure with this gain, if it is nDCG or DCG without another gain.

    >>> with_gain("nDCG@100", "exp2"), with_gain("P", "exp2")
    ('nDCG(gain=exp2)@100', 'P')
    """
    name, at, cutoff = measure.partition("@")
    return (
        f"{name}(gain={gain}){at}{cutoff}"
        if name in GAIN_MEASURES and gain != "linear"
        else measure
    )


class TrackNumbers(Record):
    """How good a method is on a track, by the numbers of `ForecastQuality`.

    `repeats` has the numbers for each repetition of the split. `halves` has them for halves of the
    queries, as in `StudyNumber`.
    """

    repeats: Floats
    halves: Floats

    def number(self, name: str) -> StudyNumber:
        """One of the numbers."""
        place = NUMBERS.index(name)
        own = self.repeats[:, place]
        return StudyNumber(float(known_mean(own)), own, self.halves[:, :, place])


class StudyCell(NamedTuple):
    """One cell of the study: where it belongs, and how good a method is there, by track."""

    target: str
    depth: int
    judgments: FeatureJudgments
    split: RowSplit
    method: str
    tracks: Mapping[str, TrackNumbers]

    def mean(self, number: str) -> StudyNumber | None:
        """The mean over tracks, each of the same weight; None where no track has the number."""
        return mean_of([numbers.number(number) for numbers in self.tracks.values()])

    @property
    def repeats(self) -> int:
        """How often the split was drawn."""
        return max((len(numbers.repeats) for numbers in self.tracks.values()), default=0)


def run_study(
    tracks: Sequence[AnyTrack],
    asked: ForecastProtocol | None = None,
    *,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> ForecastStudy:
    """Forecast all targets from all depths, by all methods, in all splits.

    Tracks are put in an order by what they hold. So neither the order in which they are given nor the
    names of tracks and kinds change a number.
    """
    asked = (asked or ForecastProtocol()).with_explicit_gain
    _check(tracks, asked)
    left_out = {
        target: [track.name for track in tracks if not _reaches(track, target)]
        for target in asked.targets
    }
    if not any(len(tracks) - len(names) > 1 for names in left_out.values()):
        raise RankgaugeError(
            "no target has two tracks with deep enough runs, expected some for one of "
            f"{', '.join(asked.targets)}"
        )
    made = {track.name: _rows(track, asked) for track in tracks}
    order = sorted(tracks, key=lambda track: next(iter(made[track.name].values())).content_key)
    names = {track.name: track.kind for track in order}
    rows = {}
    for place in _places(asked):
        known = [name for name in names if place in made[name] and name not in left_out[place[1]]]
        if len(known) > 1:
            rows[place] = [made[name][place] for name in known]
    task = _Block(rows, asked)
    blocks = blocks_of(rows)
    made_cells: dict[BlockKey, list[StudyCell]] = {}
    # Those that take longest start first, so that no worker is left with one at the end.
    first = sorted(blocks, key=lambda work: (work[3] in FIXED_SPLITS, work[2] == "full"))
    for which, result in results_of(task, first, executor, in_order=False):
        made_cells[which] = result
        if progress is not None:
            progress(", ".join(map(str, which)))
    cells = tuple(cell for which in blocks for cell in made_cells[which])
    left = {target: [name for name in names if name in left_out[target]] for target in left_out}
    return ForecastStudy(asked, names, left, cells, _count_shared_queries(order))


def blocks_of(rows: Mapping[RowsKey, Sequence[Rows]]) -> list[BlockKey]:
    """The blocks of the study: a depth, a target, the judgments of features and a split."""
    greatest = max((place[0] for place in rows), default=0)
    return [
        (*place, split)
        for place, own in rows.items()
        for split in SPLITS[place[2]]
        if split != "kind" or len({each.kind for each in own}) > 1
        if split not in GREATEST_DEPTH_SPLITS or place[0] == greatest
    ]


def block_count(asked: ForecastProtocol) -> int:
    """At most how many blocks the study has, for its progress."""
    greatest = max(asked.depths)
    return sum(
        split not in GREATEST_DEPTH_SPLITS or depth == greatest
        for depth, _, judgments in _places(asked)
        for split in SPLITS[judgments]
    )


def _places(asked: ForecastProtocol) -> list[RowsKey]:
    return [
        (depth, target, judgments)
        for depth in asked.depths
        for target in asked.targets
        for judgments in SPLITS
    ]


def _check(tracks: Sequence[AnyTrack], asked: ForecastProtocol) -> None:
    if len(tracks) < 2:
        raise RankgaugeError(
            f"{count_phrase(len(tracks), 'track')}, expected at least 2 to compare"
        )
    names = [track.name for track in tracks]
    if len(set(names)) < len(names):
        raise RankgaugeError(
            "two tracks have the same name, expected different ones: give each a name, as in "
            "NAME=KIND:QRELS,RUNS"
        )
    for name in asked.target_tracks:
        if name not in names:
            raise RankgaugeError(f"no track {name!r}, expected one of {', '.join(names)}")


def _reaches(track: AnyTrack, target: str) -> bool:
    """Whether a track has scores by a target."""
    return track.has(target) if isinstance(track, ScoreTrack) else deep_enough(track, target)


def _rows(track: AnyTrack, asked: ForecastProtocol) -> dict[RowsKey, Rows]:
    """The rows of a track; of a table of scores for the targets that it has.

    Rich features come after the others.
    """
    if isinstance(track, ScoreTrack):
        targets = [target for target in asked.targets if _reaches(track, target)]
        return score_rows(track, targets or asked.targets, asked.depths, asked.features)
    features = tuple(dict.fromkeys((*asked.features, *RICH)))
    return rows_by(track, asked.targets, asked.depths, features)


def _count_shared_queries(tracks: Sequence[AnyTrack]) -> int:
    """How many queries are in more than one track of their kind."""
    counts = Counter(
        (track.kind, topic)
        for track in tracks
        for topic in (
            track.scores.queries
            if isinstance(track, ScoreTrack)
            else track.judgments.queries.texts()
        )
    )
    return sum(count > 1 for count in counts.values())


class _Block(Record):
    """Forecasts one target from one depth in one split, with one kind of features."""

    rows: Mapping[RowsKey, Sequence[Rows]]
    asked: ForecastProtocol

    def __call__(self, which: BlockKey) -> list[StudyCell]:
        depth, target, judgments, split = which
        asked, tracks = self.asked, self.rows[depth, target, judgments]
        stacked = StackedRows.of(tracks)
        kinds = [rows.kind for rows in tracks]
        chosen = asked.target_tracks or [rows.track for rows in tracks]
        targets = [number for number, rows in enumerate(tracks) if rows.track in chosen]
        methods = methods_of(asked.learners, judgments, split)
        width = len(asked.features)
        judged = _QualityRecorder(stacked, len(tracks), split, asked.seed)
        for repeat in range(1 if split in FIXED_SPLITS else asked.repeats):
            seed = repeat_seed(asked.seed, repeat)
            made = list(parts(stacked, kinds, targets, split, seed))
            judged.add(forecasts(stacked, made, methods, asked.learners, width, seed))
            if repeat + 1 >= FEWEST_REPEATS and judged.settled():
                break
        names = [rows.track for rows in tracks]
        return [
            StudyCell(target, depth, judgments, split, method, judged.numbers(method, names))
            for method in methods
        ]


class _QualityRecorder:
    """The numbers of forecasts by method and track, for all repetitions so far."""

    def __init__(self, rows: StackedRows, tracks: int, split: RowSplit, seed: int) -> None:
        self.rows, self.split = rows, split
        self.tracks = [rows.track == number for number in range(tracks)]
        self.halves = [rows.folds(repeat_seed(seed, way), 2) for way in range(HALVINGS)]
        self.repeats: dict[tuple[str, int], list[tuple[float, ...]]] = {}
        self.by_half: dict[tuple[str, int], list[Floats]] = {}
        self.looked_at = 1 if split in ALL_ROWS_SPLITS else math.ceil(1 / TESTED_SHARE)
        """Number of repetitions in which query halves are examined, enough to test nearly all rows."""

    def add(self, forecast: Mapping[str, Floats]) -> None:
        """One more repetition."""
        for method, values in forecast.items():
            for number, own in enumerate(self.tracks):
                tested = np.flatnonzero(own & np.isfinite(values))
                seen = self.repeats.setdefault((method, number), [])
                seen.append(self._quality(method, tested, values))
                if len(seen) <= self.looked_at:
                    by_half = [
                        [
                            self._quality(method, tested[dealt[tested] == half], values)
                            for dealt in self.halves
                        ]
                        for half in range(2)
                    ]
                    self.by_half.setdefault((method, number), []).append(np.array(by_half))

    def _quality(self, method: str, tested: np.ndarray, values: Floats) -> tuple[float, ...]:
        systems = self.rows.system[tested] if self.split in ALL_ROWS_SPLITS else None
        found = quality_of(self.rows.target[tested], values[tested], systems)
        if method in GUPTA:  # it forecasts systems, so it is judged on systems
            found = found._replace(**dict.fromkeys(ROW_NUMBERS, math.nan))
        return found

    def settled(self) -> bool:
        """Whether the means over tracks hardly change with another repetition."""
        for method in dict.fromkeys(method for method, _ in self.repeats):
            own = [seen for (name, _), seen in self.repeats.items() if name == method]
            means = known_mean(np.array(own))
            errors = np.std(means, axis=0, ddof=1) / math.sqrt(len(means))
            if (errors > STANDARD_ERROR_LIMIT).any():  # never for NaN
                return False
        return True

    def numbers(self, method: str, names: Sequence[str]) -> dict[str, TrackNumbers]:
        """The numbers of a method, by track, for the tracks that have any."""
        made = {}
        for number, name in enumerate(names):
            repeats = np.array(self.repeats[method, number])
            if np.isfinite(repeats).any():
                halves = known_mean(np.array(self.by_half[method, number]))
                made[name] = TrackNumbers(repeats, halves)
        return made


def known_mean(values: Floats) -> Floats:
    """The means over the first axis of the numbers that are defined; NaN where there are none."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))


class ForecastStudy(Result, Record):
    """How well a costly measure is forecast: for each target, depth, split and method."""

    asked: ForecastProtocol
    tracks: Mapping[str, str]
    """The kinds of the tracks, by name."""
    left_out: Mapping[str, Sequence[str]]
    """For each target, the tracks whose runs are not deep enough."""
    cells: tuple[StudyCell, ...]
    shared: int = 0

    @property
    def target_tracks(self) -> tuple[str, ...]:
        """The tracks that the paper's protocol tests, in the order given."""
        return self.asked.target_tracks or tuple(self.tracks)

    def cell(self, *place: object) -> StudyCell | None:
        """The cell of a target, a depth, judgments, a split and a method."""
        return self._by_place.get(place)

    @cached_property
    def _by_place(self) -> dict[tuple[object, ...], StudyCell]:
        return {tuple(cell[:5]): cell for cell in self.cells}

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Return notes on what was skipped, and the meaning of the columns."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        yield Note("1 − squared error / spread", column="r2")
        yield Note(
            "Kendall's τ of rows, with Equation 2 of the paper; τ-b allows for ties", column="tau_a"
        )
        yield Note(
            (
                "Kendall's τ of the mean scores of systems; absent if runs are tested on "
                "different queries"
            ),
            column="system_tau",
        )
        yield Note(
            f"the 95% interval, for other queries like these and other splits: from {HALVINGS} "
            "ways to halve the queries, and the standard error of the mean over the splits",
            column="low, high",
        )
        yield Note(
            f"a split is drawn up to {self.asked.repeats} times, until the standard error of every mean "
            f"over tracks is at most {STANDARD_ERROR_LIMIT:g}",
            column="repeats",
        )
        if len(set(self.tracks.values())) == 1:
            yield Note("only one kind of collection, so there are no results for new kinds")
        if len(self.target_tracks) == len(self.tracks):
            yield Note(
                "all tracks are targets in the paper's protocol, so no track is used whole "
                "for training; choose the targets with --target-track"
            )
        if self.shared:
            shared = count_phrase(self.shared, "query")
            yield Note(
                f"{shared} in two tracks of one kind: a split by queries cannot separate them"
            )
        for target, names in self.left_out.items():
            if names:
                yield Note(
                    f"skipped for {target}: {', '.join(names)}; their runs are not deep enough"
                )

    def table(self) -> Table:
        """A row for each target, depth, kind of features, split and method: the means over tracks."""
        from rankgauge_studies.forecast.tables import means_table

        return means_table(self)

    def figures(self) -> dict[str, Figure]:
        """Figures 1 and 2 of the paper, and τ over systems for new queries."""
        from rankgauge_studies.forecast.tables import study_figures

        return study_figures(self)

    def _title(self) -> str:
        return f"ForecastStudy: {count_phrase(len(self.tracks), 'track')}"

"""Forecasts of a costly measure from cheap ones: the methods of Muwanei et al. 2022 and of Gupta et al.
2019, and one model of all tracks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.checks import Whole, checked, one_of
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import display_name, read_bytes, writing
from rankgauge.forecast.models import (
    Average,
    Trees,
    Weights,
    best_subset,
    boosted,
    least_squares,
    model_of,
    support_vectors,
)
from rankgauge.forecast.stacked import StackedRows, errors_by_mass
from rankgauge.forecast.tracks import (
    FEATURES,
    FeatureJudgments,
    Rows,
    Track,
    feature_at,
    rows_of,
    target_at,
)
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.grammar import parse
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import LEVELS, SEED, SEEDS
from rankgauge.rankers.fold_store import json_bytes
from rankgauge.results import Result
from rankgauge.scores.documents import read_json
from rankgauge.scores.model import Scores
from rankgauge.tables import Cell, Table

ForecastMethod: TypeAlias = Literal["boosting", "regression", "gupta", "pooled"]
"""boosting: a gradient-boosting model for each track, averaged. regression: a line of least squares for
each track by the best features, averaged. gupta: one line on the means of systems. pooled: one model of
all tracks."""
SubsetBy: TypeAlias = Literal["topics", "training"]
"""How the best features of a regression are chosen: by the error on topics that it was not fitted to, or
by the error on the training rows."""
Learner: TypeAlias = Literal["least-squares", "svr"]
"""How gupta fits its line."""

FILE = "forecaster.json"
FORMAT, VERSION = "rankgauge-forecaster", 1
MADE_BY = "Forecaster.save"


@dataclass
class Forecaster:
    """Forecasts a costly measure of each run and topic from cheap measures.

    Parameters
    ----------
    method
        "boosting" and "regression" are those of Muwanei et al. 2022, "gupta" that of Gupta et al. 2019;
        "pooled" is one model of all tracks.
    target
        The costly measure.
    depth
        The depth to which is judged. Features are measures of runs cut there.
    features
        The cheap measures, each at the depth. One with a cut-off of its own, or without any, stays as it
        is. `tracks.RICH` has more of them.
    judgments
        "pool": features see the judgements of a pool of this depth. "full": all judgements, as the level
        of the paper's results implies; that is not cheap.
    subset
        For regression: how the best features are chosen.
    learner
        For gupta: "least-squares" or "svr".
    seed
        Fixes what is drawn at random.
    """

    method: ForecastMethod = "pooled"
    target: str = "nDCG@1000"
    depth: int = 30
    features: tuple[str, ...] = FEATURES
    judgments: FeatureJudgments = "pool"
    subset: SubsetBy = "topics"
    learner: Learner = "least-squares"
    seed: int = SEED
    model_: Average | None = field(default=None, init=False, repr=False)
    line_: Weights | None = field(default=None, init=False, repr=False)
    errors_: tuple[tuple[float, float], ...] = field(default=(), init=False, repr=False)
    """Errors on topics not learnt from, from small to large, each with the mass of topics up to it."""
    kinds_: tuple[str, ...] = field(default=(), init=False, repr=False)
    tracks_: tuple[str, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        checked("method", self.method, one_of(ForecastMethod))
        checked("judgments", self.judgments, one_of(FeatureJudgments))
        checked("subset", self.subset, one_of(SubsetBy))
        checked("learner", self.learner, one_of(Learner))
        self.depth = checked("depth", self.depth, Whole(1))
        self.seed = checked("seed", self.seed, SEEDS)
        target = parse(str(self.target))
        if isinstance(target, Aggregate):
            raise RankgaugeError(
                f"{target} has no score for a topic, expected a measure such as nDCG@1000"
            )
        self.target = str(target)
        self.features = tuple(map(str, self.features))
        if not self.features:
            raise RankgaugeError("no features, expected at least one measure")
        for feature in self.features:
            feature_at(feature, self.depth)

    def rows(self, track: Track) -> Rows:
        """What this forecaster sees of a track."""
        return rows_of(track, self.target, self.depth, self.features, self.judgments)

    def fit(self, tracks: Sequence[Track]) -> Forecaster:
        """Learn from tracks with deep judgements."""
        return self.fit_rows([self.rows(track) for track in tracks])

    def fit_rows(self, tracks: Sequence[Rows]) -> Forecaster:
        """Learn from the rows of tracks."""
        if not tracks:
            raise RankgaugeError("no tracks, expected at least one to learn from")
        stacked = StackedRows.of(tracks)
        if not len(stacked.target):
            raise RankgaugeError("no runs or topics, expected some to learn from")
        self.model_ = self.fitted(stacked)
        self.line_ = least_squares(
            stacked.plain[:, None], stacked.target, (0,), stacked.track_weights()
        )
        self.errors_ = self._errors(stacked)
        self.kinds_ = tuple(dict.fromkeys(rows.kind for rows in tracks))
        self.tracks_ = tuple(rows.track for rows in tracks)
        return self

    def fitted(self, rows: StackedRows) -> Average:
        """The model that is learnt from these rows."""
        columns = tuple(range(rows.features.shape[1]))
        if self.method == "gupta":
            features, target = rows.system_means()
            fit = least_squares if self.learner == "least-squares" else support_vectors
            return Average((fit(features, target, columns),))
        if self.method == "pooled":
            weights = rows.track_weights()
            return Average((boosted(rows.features, rows.target, "pooled", self.seed, weights),))
        if self.method == "regression":
            groups = rows.folds(self.seed) if self.subset == "topics" else None
            if groups is not None and len(np.unique(groups)) < 2:
                groups = None
            columns = best_subset(rows.features, rows.target, groups)
        models: list[Weights | Trees] = []
        for number in np.unique(rows.track):
            own = rows.track == number
            if self.method == "regression":
                models.append(least_squares(rows.features[own], rows.target[own], columns))
            else:
                models.append(boosted(rows.features[own], rows.target[own], "boosting", self.seed))
        return Average(tuple(models))

    def _errors(self, rows: StackedRows) -> tuple[tuple[float, float], ...]:
        """The errors on topics that were left out, each topic with the same mass."""
        folds = rows.folds(self.seed)
        if len(np.unique(folds)) < 2:
            return ()
        errors = np.empty(len(rows.target))
        for fold in np.unique(folds):
            rest = rows.take(folds != fold)
            inside = folds == fold
            errors[inside] = np.abs(
                rows.target[inside] - self.fitted(rest).predict(rows.features[inside])
            )
        return errors_by_mass(errors, rows.group)

    def forecast(self, track: Track, level: float = 0.9) -> Forecast:
        """The forecasts of a track with intervals, and what needs no learning beside them.

        The judgements of the track are taken as they are: those of a pool of the depth, or of more. So
        the forecast of a run does not depend on the other runs.
        """
        rows = rows_of(track, self.target, self.depth, self.features, "full")
        return self.forecast_rows(replace(rows, shallow=rows.target), level)

    def forecast_rows(self, rows: Rows, level: float = 0.9) -> Forecast:
        """The forecasts for the rows of a track."""
        checked("level", level, LEVELS)
        if self.model_ is None or self.line_ is None:
            raise RankgaugeError("the forecaster has learnt nothing; call fit first")
        shape = rows.shallow.shape
        values = self.model_.predict(rows.matrix()).reshape(shape)
        line = self.line_.predict(rows.plain.reshape(-1, 1)).reshape(shape)
        notes = []
        if self.judgments == "full":
            notes.append(Note("the features see all judgements, so this forecast saves no judging"))
        if rows.kind not in self.kinds_:
            learnt = ", ".join(self.kinds_)
            notes.append(
                Note(
                    f"learnt on {learnt}, not on {rows.kind}: for another kind of collection nothing is "
                    "guaranteed, neither the forecasts nor their intervals"
                )
            )
        half = self._half_width(level)
        if not np.isfinite(half):
            notes.append(Note("no intervals: too few topics to learn from"))
        return Forecast(self.target, self.depth, rows, values, line, half, level, tuple(notes))

    def predict(self, track: Track) -> Scores:
        """The forecast of each run on each topic, as scores like any others."""
        return self.forecast(track).scores()

    def _half_width(self, level: float) -> float:
        """The error that `level` of the topics' mass does not exceed; infinite where there are too few
        topics for this level."""
        for error, mass in self.errors_:
            if mass >= level - 1e-12:
                return error
        return float("inf")

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the forecaster to a folder, as one JSON file; loading it runs no code."""
        if self.model_ is None or self.line_ is None:
            raise RankgaugeError("the forecaster has learnt nothing; call fit first")
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(str(folder), None, f"cannot be made: {reason}") from None
        content = {
            "format": FORMAT,
            "version": VERSION,
            **{name: getattr(self, name) for name in SETTINGS},
            "features": list(self.features),
            "models": [model.content() for model in self.model_.models],
            "line": self.line_.content(),
            "errors": [list(pair) for pair in self.errors_],
            "kinds": list(self.kinds_),
            "tracks": list(self.tracks_),
        }
        with writing(path / FILE) as stream:
            stream.write(json_bytes(content))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Forecaster:
        """The forecaster in a folder; InputError where there is none, or where it was changed to what
        training does not write."""
        path = Path(folder) / FILE
        source = display_name(path)
        content = read_json(read_bytes(path), source, "a forecaster", MADE_BY)
        try:
            return cls._of(content)
        except (RankgaugeError, KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"not a forecaster ({error}), expected one made by {MADE_BY}"
            raise InputError(source, None, message) from None

    @classmethod
    def _of(cls, content: Any) -> Forecaster:
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise RankgaugeError("another format")
        made = cls(
            **{name: content[name] for name in SETTINGS}, features=tuple(content["features"])
        )
        width = len(made.features)
        models = tuple(model_of(each, width) for each in content["models"])
        if not models:
            raise RankgaugeError("no models")
        line = model_of(content["line"], 1)
        if not isinstance(line, Weights):
            raise RankgaugeError("the line is no line")
        errors = tuple((float(error), float(mass)) for error, mass in content["errors"])
        if not np.isfinite(np.array(errors)).all() or list(errors) != sorted(errors):
            raise RankgaugeError("errors out of order")
        made.model_, made.line_, made.errors_ = Average(models), line, errors
        made.kinds_ = tuple(map(str, content["kinds"]))
        made.tracks_ = tuple(map(str, content["tracks"]))
        return made


SETTINGS = ("method", "target", "depth", "judgments", "subset", "learner", "seed")


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Result):
    """Forecasts of a track: run × topic, with half the width of their intervals, and beside them what
    needs no learning."""

    target: str
    depth: int
    rows: Rows
    values: Floats
    line: Floats
    half_width: float
    level: float
    notes: tuple[Note, ...]

    def scores(self) -> Scores:
        """The forecasts as scores like any others."""
        return Scores.from_matrix(
            self.values,
            runs=self.rows.runs,
            measure=f"forecast of {self.target}",
            queries=list(self.rows.topics),
        )

    def bounds(self) -> tuple[Floats, Floats]:
        """The ends of the intervals of each run and topic, within the range of the measure."""
        low, high = inner(parse(self.target)).range
        ends = self.values - self.half_width, self.values + self.half_width
        return np.clip(ends[0], low, high), np.clip(ends[1], low, high)

    def table(self) -> Table:
        """A row for each run: the mean forecast, and beside it the measure at the depth, a line through
        it, and the shallow score, which needs no learning."""
        columns = ("run", "forecast", "at depth", "line", "shallow")
        rows: list[tuple[Cell, ...]] = []
        for place, run in enumerate(self.rows.runs):
            numbers = (self.values, self.rows.plain, self.line, self.rows.shallow)
            rows.append((run, *(float(each[place].mean()) for each in numbers)))
        about = [
            Note(str(target_at(self.target, self.depth)), column="at depth"),
            Note("a line through it, fitted to the same tracks", column="line"),
            Note(
                f"{self.target} of the whole run by the same judgements; it needs no learning, and "
                "mostly ranks systems better than forecasts do",
                column="shallow",
            ),
        ]
        if np.isfinite(self.half_width):
            about.append(
                Note(
                    f"a topic's {self.target} is within {self.half_width:.3f} of its forecast for "
                    f"{self.level:.0%} of the topics of tracks such as those learnt from",
                    column="forecast",
                )
            )
        return Table(columns, tuple(rows), worded((*about, *self.notes)))

    def topic_table(self) -> Table:
        """A row for each run and topic: the forecast with its interval, and what stands beside it."""
        low, high = self.bounds()
        numbers = (self.values, low, high, self.rows.plain, self.line, self.rows.shallow)
        rows: list[tuple[Cell, ...]] = [
            (run, topic, *(float(each[r, t]) for each in numbers))
            for r, run in enumerate(self.rows.runs)
            for t, topic in enumerate(self.rows.topics)
        ]
        columns = ("run", "topic", "forecast", "low", "high", "at depth", "line", "shallow")
        return Table(columns, tuple(rows), self.table().notes)

    def _title(self) -> str:
        return f"Forecast of {self.target}: {counted(len(self.rows.runs), 'run')}"

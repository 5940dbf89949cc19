"""Forecasts of a costly measure from cheap ones: the methods of Muwanei et al.

2022 and of Gupta et al. 2019, and one model of all tracks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, format_first_names
from rankgauge.core.policies import LEVEL, LEVELS, SEED, SEEDS
from rankgauge.core.renamed import RenamedMembers
from rankgauge.core.sealing import check_seal, missing_seal_note, read_object, write_sealed
from rankgauge.errors import InputError, MeasureError, RankgaugeError
from rankgauge.forecast.forecast_results import Forecast
from rankgauge.forecast.left_out import KindErrors, errors_by_kind, kind_errors_of
from rankgauge.forecast.models import (
    MOST_SUBSET_FEATURES,
    Average,
    Trees,
    Weights,
    best_subset,
    best_subset_by_tau,
    fit_trees,
    least_squares,
    model_of,
    support_vectors,
)
from rankgauge.forecast.stacked import StackedRows
from rankgauge.forecast.tracks import (
    FEATURE_SETS,
    FeatureJudgments,
    Rows,
    Track,
    check_different,
    feature_at,
    rows_of,
)
from rankgauge.io.files import display_name
from rankgauge.io.own_paths import OwnPath
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.grammar import parse
from rankgauge.scores.model import Scores
from rankgauge.scores.validation import SLACK, shorten

ForecastMethod: TypeAlias = Literal["boosting", "regression", "gupta", "pooled"]
"""boosting: a gradient-boosting model for each track, averaged. regression: a least-squares line for
each track on the best features, averaged. gupta: one line on the means of systems. pooled: one model of
all tracks."""
SubsetBy: TypeAlias = Literal["queries", "training"]
"""How the best features are chosen. queries: by the error on held-out queries. training:
by the error on the training rows (regression), or by Kendall's τ over the training runs (gupta)."""
Learner: TypeAlias = Literal["least-squares", "svr"]
"""How gupta fits its line."""

OWN_SETTINGS: Mapping[str, Mapping[ForecastMethod, tuple[str | None, tuple[str, ...]]]] = {
    "subset": {
        "regression": ("queries", get_args(SubsetBy)),
        "gupta": (None, ("training",)),
    },
    "learner": {"gupta": ("least-squares", get_args(Learner))},
}
"""For each setting specific to some methods: the default and the values, by method."""

FILE = "forecaster.json"
FORMAT, UNSEALED_VERSION, VERSION = "rankgauge-forecaster", 1, 2
MADE_BY = "`rankgauge forecast train` or Forecaster.save"
REMEDY = "restore the file from a backup, or train the forecaster again"
MOST_NAMED = 3
"""Maximum number of missing parts of a file that are named."""


@dataclass
class Forecaster(RenamedMembers):
    """Forecast a costly measure of each run on each query from cheap measures.

    Create a forecaster, train it with `fit`, and forecast with `forecast` or `predict`.

    Parameters
    ----------
    method : {"pooled", "boosting", "regression", "gupta"}, default "pooled"
        "pooled" is one model for all tracks. "boosting" and "regression" are the methods of
        Muwanei et al. (2022), and "gupta" is the method of Gupta et al. (2019).
    target : str, default "nDCG@1000"
        The costly measure.
    depth : int, default 30
        The judging depth. Features are measures of runs cut at this depth.
    features : str or sequence of str, default "paper"
        The cheap measures, each at the depth. A measure with its own cutoff, or one that takes no
        cutoff, stays unchanged. "paper" stands for the six measures of Muwanei et al. (2022), and
        "rich" for these and six more, such as AP of the whole run.
    judgments : {"pool", "full"}, default "pool"
        The judgments that features see. "pool": those of a pool of this depth. "full": all
        judgments, as the level of the results in Muwanei et al. (2022) suggests; this is not
        cheap.
    subset : {"queries", "training"}, optional
        How the best features are chosen. With method="regression": by the error on held-out
        queries ("queries", the default) or on the training data ("training"). With method="gupta":
        on the training data ("training"), or not at all (the default). Other methods do not take
        this option.
    learner : {"least-squares", "svr"}, optional
        How "gupta" fits its line. By default, "least-squares". Other methods do not take this
        option.
    seed : int, default 0
        Seed of the random number generator.

    Examples
    --------
    >>> from rankgauge.forecast import Track
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q1": ["a", "b"], "q2": ["b"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> track = Track.of(qrels, runs, kind="news")
    >>> forecaster = Forecaster(method="gupta", target="AP", depth=1, features=["P"]).fit([track])
    >>> forecaster.predict(track).runs, forecaster.queries_
    (('x', 'y'), 2)
    """

    _renamed: ClassVar[dict[str, str]] = {"topics_": "queries_"}

    method: ForecastMethod = "pooled"
    target: str = "nDCG@1000"
    depth: int = 30
    features: str | Sequence[str] = "paper"
    judgments: FeatureJudgments = "pool"
    subset: SubsetBy | None = None
    learner: Learner | None = None
    seed: int = SEED
    model_: Average | None = field(default=None, init=False, repr=False)
    line_: Weights | None = field(default=None, init=False, repr=False)
    errors_: dict[str, KindErrors] = field(default_factory=dict, init=False, repr=False)
    """For each kind in the training data, the errors on held-out tracks or queries."""
    tracks_: tuple[str, ...] = field(default=(), init=False, repr=False)
    notes_: tuple[Note, ...] = field(default=(), init=False, repr=False)
    """Information about the training tracks."""
    file_: str | None = field(default=None, init=False, repr=False, compare=False)
    """The file from which it was loaded."""

    def __post_init__(self) -> None:
        check_value("method", self.method, one_of(ForecastMethod))
        check_value("judgments", self.judgments, one_of(FeatureJudgments))
        self.subset = check_value(
            "subset", self.subset, one_of(SubsetBy, topics="queries"), optional=True
        )
        check_value("learner", self.learner, one_of(Learner), optional=True)
        for name, methods in OWN_SETTINGS.items():
            value = getattr(self, name)
            if self.method in methods:
                default, values = methods[self.method]
                if value is not None and value not in values:
                    raise RankgaugeError(
                        f"{name}={value!r} is not for method={self.method!r}, expected "
                        f"{values[0]!r}"
                    )
                setattr(self, name, value or default)
            elif value is not None:
                own = " or ".join(f"method={method!r}" for method in methods)
                raise RankgaugeError(
                    f"{name}={value!r} is only for {own}, and the method is {self.method!r}; "
                    f"omit {name}"
                )
        self.depth = check_value("depth", self.depth, Integer(1))
        self.seed = check_value("seed", self.seed, SEEDS)
        self.target = check_target(self.target)
        self.features = features_of(self.features)
        for feature in self.features:
            try:
                feature_at(feature, self.depth)
            except MeasureError as error:
                sets = " and ".join(FEATURE_SETS)
                raise MeasureError(f"{error}. The sets of features are {sets}") from None
        if self.subset is not None and len(self.features) > MOST_SUBSET_FEATURES:
            raise RankgaugeError(
                f"{len(self.features)} features, expected at most {MOST_SUBSET_FEATURES}: "
                f"{self.method} tries all subsets of them; choose fewer, or another method"
            )

    @property
    def queries_(self) -> int:
        """The number of queries in the training data."""
        return sum(errors.queries for errors in self.errors_.values())

    def rows(self, track: Track) -> Rows:
        """The rows that this forecaster computes for a track."""
        return rows_of(track, self.target, self.depth, self.features, self.judgments)

    def fit(self, tracks: Sequence[Track]) -> Forecaster:
        """Train on tracks with deep judgments. Afterwards, `notes_` has the notes on them."""
        check_different(tracks)
        return self.fit_rows([self.rows(track) for track in tracks])

    def fit_rows(self, tracks: Sequence[Rows]) -> Forecaster:
        """Train on the rows of tracks, in any order and with any names of kinds."""
        if not tracks:
            raise RankgaugeError("no tracks, expected at least one to train on")
        tracks = sorted(tracks, key=lambda rows: rows.content_key)
        stacked = StackedRows.of(tracks)
        if not len(stacked.target):
            raise RankgaugeError("no runs or queries, expected some to train on")
        self.model_ = self.fitted(stacked)
        self.line_ = least_squares(
            stacked.plain[:, None], stacked.target, (0,), stacked.track_weights()
        )
        kinds = [rows.kind for rows in tracks]
        self.errors_ = errors_by_kind(stacked, kinds, self.seed, self.fitted)
        self.tracks_ = tuple(rows.track for rows in tracks)
        reading = (replace(note, part=rows.track) for rows in tracks for note in rows.notes)
        self.notes_ = (*self._learning_notes(stacked), *reading)
        return self

    def _learning_notes(self, rows: StackedRows) -> Iterator[Note]:
        """What makes it doubtful that anything was learned."""
        if self.queries_ == 1:
            yield Note("trained on only one query, so the error on other queries is unknown")
        low, high = float(rows.target.min()), float(rows.target.max())
        if low == high:
            yield Note(
                f"{self.target} is {low:.4g} for all runs and queries in the training data, so "
                "every forecast has this value"
            )
        features = {str(feature_at(name, self.depth)) for name in self.features}
        if self.judgments == "full" and self.target in features:
            yield Note(
                f"the feature {self.target} is computed from all judgments, so it is the "
                "target itself, and there is nothing to forecast"
            )

    def fitted(self, rows: StackedRows) -> Average:
        """The model trained on these rows."""
        columns = tuple(range(rows.features.shape[1]))
        if self.method == "gupta":
            features, target = rows.system_means()
            fit = least_squares if self.learner == "least-squares" else support_vectors
            if self.subset == "training":
                columns = best_subset_by_tau(features, target, fit)
            return Average((fit(features, target, columns),))
        if self.method == "pooled":
            weights = rows.track_weights()
            return Average((fit_trees(rows.features, rows.target, "pooled", self.seed, weights),))
        if self.method == "regression":
            groups = rows.folds(self.seed) if self.subset == "queries" else None
            if groups is not None and len(np.unique(groups)) < 2:
                groups = None
            columns = best_subset(rows.features, rows.target, groups)
        models: list[Weights | Trees] = []
        for number in np.unique(rows.track):
            own = rows.track == number
            if self.method == "regression":
                models.append(least_squares(rows.features[own], rows.target[own], columns))
            else:
                models.append(
                    fit_trees(rows.features[own], rows.target[own], "boosting", self.seed)
                )
        return Average(tuple(models))

    def forecast(self, track: Track, level: float = LEVEL) -> Forecast:
        """Return the forecasts of a track with intervals, and the simpler predictions.

        The judgments of the track are used as they are: those of a pool of this depth, or more.
        Therefore, the forecast of a run does not depend on the other runs.
        """
        rows = rows_of(track, self.target, self.depth, self.features, "full")
        return self.forecast_rows(replace(rows, shallow=rows.target), level)

    def forecast_rows(self, rows: Rows, level: float = LEVEL) -> Forecast:
        """Return the forecasts for the rows of a track."""
        check_value("level", level, LEVELS)
        if self.model_ is None or self.line_ is None:
            raise RankgaugeError("the forecaster is not trained; call fit first")
        shape = rows.shallow.shape
        values = self.model_.predict(rows.matrix()).reshape(shape)
        line = self.line_.predict(rows.plain.reshape(-1, 1)).reshape(shape)
        errors = self.errors_.get(rows.kind)
        left_out = None if errors is None else errors.left_out
        if errors is None:  # the widest intervals of all kinds
            errors = max(self.errors_.values(), key=lambda each: each.half_width(level))
        half = errors.half_width(level)
        about = (*self._forecast_notes(rows.kind, errors, level), *rows.notes)
        notes = (*about, *self._range_notes(values, rows))
        return Forecast(self.target, self.depth, rows, values, line, half, level, left_out, notes)

    def _range_notes(self, values: Floats, rows: Rows) -> Iterator[Note]:
        """How many forecasts are no scores of the target; RankgaugeError where a run's mean is none.

        A line goes on beyond what it was learned from. gupta, which learns from the means of runs, often
        leaves the range on single queries.
        """
        low, high = inner(parse(self.target)).range
        means = values.mean(axis=1)
        wrong = np.flatnonzero(~((means >= low - SLACK) & (means <= high + SLACK)))
        if len(wrong):
            raise RankgaugeError(
                f"{self.file_ or 'the forecaster'}: forecasts a mean {self.target} of "
                f"{means[wrong[0]]:.4g} for run {shorten(rows.runs[wrong[0]])}, expected "
                f"{low:g} to {high:g} (train it again, on collections like this one)"
            )
        if outside := int(((values < low) | (values > high)).sum()):
            text = (
                f"{count_phrase(outside, 'forecast')} for single queries outside the range "
                f"{low:g} to {high:g}, from {values.min():.3g} to {values.max():.3g}; the "
                "means are inside"
            )
            yield Note(text, column="forecast")

    def _forecast_notes(self, kind: str, errors: KindErrors, level: float) -> Iterator[Note]:
        """What to know about forecasts for a kind of collection, with intervals by these errors."""
        if self.judgments == "full":
            yield Note("the features use all judgments, so this forecast saves no judging")
        if kind not in self.errors_:
            yield Note(
                f"trained on {', '.join(self.errors_)}, not on {kind}: for another kind of "
                "collection, neither the forecasts nor their intervals are reliable"
            )
        elif self.method == "gupta" and errors.left_out == "queries":
            yield Note(
                "gupta is trained on the means of runs. For single queries it extrapolates, "
                "so on other tracks its intervals cover the true value less often than their level "
                "states"
            )
        if not errors.by_mass:
            yield Note("no intervals: they need at least two training queries")
        elif level > errors.highest_level + 1e-12:
            allowed = math.floor(1000 * errors.highest_level + 1e-9) / 10
            topics = count_phrase(errors.queries, "query")
            yield Note(
                f"no intervals of the level {100 * level:g}%: {topics} of {errors.kind} in the "
                f"training data allow a level of at most {allowed:g}%. Choose a lower level, "
                "or train on more queries"
            )
        yield from (Note(f"training: {note}") for note in self.notes_ if note.run is None)

    def predict(self, track: Track) -> Scores:
        """Return the forecast of each run on each query, as scores like any others."""
        return self.forecast(track).scores()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the forecaster to a folder, as one JSON file; loading it runs no code."""
        if self.model_ is None or self.line_ is None:
            raise RankgaugeError("the forecaster is not trained; call fit first")
        path = OwnPath(folder).make()
        content = {
            "format": FORMAT,
            "version": VERSION,
            **{name: getattr(self, name) for name in SETTINGS},
            "features": list(self.features),
            "models": [vars(model) for model in self.model_.models],
            "line": vars(self.line_),
            "errors": [vars(errors) for errors in self.errors_.values()],
            "tracks": list(self.tracks_),
            "notes": [str(note) for note in self.notes_ if note.run is None],
        }
        write_sealed(path / FILE, content)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Forecaster:
        """Load the forecaster in a folder.

        Raise InputError if there is no forecaster, or if the file has content that training does
        not write.
        """
        path = OwnPath(folder) / FILE
        source = display_name(path)
        content = read_object(path, "a forecaster", MADE_BY)
        sealed = content.get("version") == VERSION
        if sealed:
            content = check_seal(content, source, REMEDY)
        try:
            made = cls._from_content(content)
        except (RankgaugeError, KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"not a forecaster ({error}), expected one made by {MADE_BY}"
            raise InputError(source, None, message) from None
        if not sealed:
            made.notes_ += (missing_seal_note(source),)
        made.file_ = source
        return made

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Forecaster:
        version = content.get("version", VERSION)
        if content.get("format", FORMAT) != FORMAT or version not in (UNSEALED_VERSION, VERSION):
            raise RankgaugeError("another format")
        entries = (*HEAD, *SETTINGS, *LEARNED)
        if lacking := [name for name in entries if name not in content]:
            raise RankgaugeError(
                f"missing from the file: {format_first_names(lacking, MOST_NAMED)}"
            )
        if unknown := sorted(set(content) - set(entries)):
            raise RankgaugeError(f"the file contains the unknown entry {shorten(unknown[0])}")
        settings = {name: content[name] for name in SETTINGS}
        if settings["subset"] == "topics":  # files of earlier versions
            settings["subset"] = "queries"
        made = cls(**settings, features=tuple(content["features"]))
        width = len(made.features)
        models = tuple(model_of(each, width) for each in content["models"])
        if not models:
            raise RankgaugeError("no models")
        line = model_of(content["line"], 1)
        if not isinstance(line, Weights):
            raise RankgaugeError("the line is invalid")
        errors = [kind_errors_of(each) for each in content["errors"]]
        if not errors:
            raise RankgaugeError("no errors")
        made.model_, made.line_ = Average(models), line
        made.errors_ = {each.kind: each for each in errors}
        made.tracks_ = tuple(map(str, content["tracks"]))
        made.notes_ = tuple(Note(str(text)) for text in content["notes"])
        return made


HEAD = ("format", "version")
SETTINGS = ("method", "target", "depth", "judgments", "subset", "learner", "seed")
LEARNED = ("features", "models", "line", "errors", "tracks", "notes")


def check_target(target: str) -> str:
    """The name of a target measure; RankgaugeError if it has no score for a query."""
    measure = parse(str(target))
    if isinstance(measure, Aggregate):
        raise RankgaugeError(
            f"{measure} has no per-query scores; expected a measure such as nDCG@1000"
        )
    return str(measure)


def features_of(features: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of features, with the sets "paper" and "rich" expanded.

    Parameters
    ----------
    features : str or sequence of str
        Measures and names of sets.

    Returns
    -------
    tuple of str
        The measures, each once.

    Raises
    ------
    RankgaugeError
        If there are no features.

    Examples
    --------
    >>> features_of(["AP", "paper"])
    ('AP', 'P', 'infAP', 'ERR', 'bpref', 'nDCG', 'RBP')
    """
    names = [features] if isinstance(features, str) else [str(name) for name in features]
    if not names:
        raise RankgaugeError("no features, expected at least one measure")
    return tuple(dict.fromkeys(each for name in names for each in FEATURE_SETS.get(name, (name,))))

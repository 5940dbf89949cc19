"""What every ranker is: settings, `fit`, `predict`, `save`, by scikit-learn's conventions."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from rankgauge.core.arrays import Floats, Values
from rankgauge.core.checks import Choice
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.parameters import parameter
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.records import FieldSignature, bind_arguments, collect_fields
from rankgauge.data.features import Features
from rankgauge.data.scaling import Scaling
from rankgauge.errors import (
    InputError,
    MissingFeatures,
    NotExportable,
    NotFitted,
    RankgaugeError,
)
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.rankers.libraries import import_library
from rankgauge.rankers.monitoring import is_undecided
from rankgauge.rankers.settings import (
    ANY_MEASURE,
    DEFAULT,
    MEASURES,
    MONITORED,
    NORMALIZATIONS,
    PLACEHOLDER,
    RANKLIB,
    SCALINGS,
    SETTING,
    UNSTATED,
    TrainingObjective,
    check_setting,
    fixed_origin,
    setting,
    setting_from,
)

RankerSettings = Mapping[str, Any]
"""The validated value of each setting."""

EQUAL_LABELS, UNDECIDED = "equal labels", "undecided"
REMARKS = {
    EQUAL_LABELS: (
        "nothing to learn about rankings: all documents of each query have the same label"
    ),
    UNDECIDED: "the validation set decides nothing: the measure is the same after all rounds",
}
"""The remarks that `fit` makes for any method, with their sentences in `notes`."""

LARGEST = 1e300
"""The largest value that can be normalized; differences and sums of larger values could overflow."""
PIECE = 1 << 16
"""Number of rows examined at a time."""


@dataclass_transform(
    kw_only_default=True, field_specifiers=(parameter, setting, setting_from, dataclasses.field)
)
class Ranker:
    """A base class for methods that learn to rank from features with labels.

    `fit` learns, and `predict` scores documents. Settings are arguments of the class. They are
    kept as given and checked by `fit`. `get_params`, `set_params` and scikit-learn's `clone` work.
    The names of all learned attributes end in an underscore. `rankgauge ltr methods NAME` lists
    and explains the settings of a method.

    To write a method, subclass `Ranker`. Declare its settings as fields made by `parameter`, and
    define `learn` and `score`. `learn` sets `feature_importances_` and whatever `score` needs, in
    attributes whose names end in an underscore: arrays of numbers, strings, and what JSON can hold.
    `save` then saves them. `rankgauge.testing.check_ranker` checks the class.

    Parameters
    ----------
    preset : {"default", "ranklib"}, default "default"
        The source of settings that are None: "default" for values that work well today, "ranklib"
        for the defaults of RankLib. Where the two differ, RankLib's default is noted below.
    normalize : {"none", "z", "min-max", "query-z", "query-min-max"}, default "none"
        How feature values are normalized: over all training data, or within each query if the name
        starts with "query-".
    measure : measure or str, default "nDCG(gain=exp2)@10"
        The measure used on the validation set, for example to decide when to stop. RankLib:
        "ERR@10".
    seed : int, default 0
        The seed of the random number generator.

    Attributes
    ----------
    feature_importances_ : array of float
        The importance of each feature. Higher is more important; 0 means unused.
    history_ : dict of list of float
        The monitored values, with one number per round.
    n_features_in_ : int
        The number of features in the training data.
    scaling_ : Scaling
        How feature values are normalized before `score` sees them.
    remarks_ : list of str
        Remarks made by `fit`; `notes` returns them as sentences.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> class FirstFeature(Ranker):
    ...     def learn(self, training, validation, settings):
    ...         self.feature_importances_ = np.eye(training.values.shape[1])[0]
    ...     def score(self, values):
    ...         return values[:, 0].astype(np.float64)
    >>> ranker = FirstFeature(normalize="z").fit(make_features(40))
    >>> ranker.predict(make_features(2)).shape
    (21,)
    """

    preset: str = parameter(
        Choice((DEFAULT, RANKLIB)),
        (
            "The source of settings that are not given: values that work well today, or "
            "RankLib's defaults."
        ),
        default=DEFAULT,
    )
    normalize: str | None = setting(
        NORMALIZATIONS,
        "How feature values are normalized: over all training data, or within each query.",
        default="none",
    )
    measure: Any = setting(
        MEASURES,
        "The measure used on the validation set, for example to decide when to stop.",
        default=MONITORED,
        ranklib="ERR@10",
    )
    seed: int = parameter(SEEDS, "The seed of the random number generator.", default=SEED)

    summary: ClassVar[str] = ""
    """A one-line description of the method."""
    optimizes: ClassVar[str] = ""
    """What training optimizes, in a few words. {objective} stands for the value of the setting
    `objective`; without it, no setting changes what training optimizes."""
    objectives: ClassVar[Mapping[str, str]] = {}
    """If the setting `objective` is a choice: what each choice optimizes, in words."""
    source: ClassVar[str] = ""
    """The paper that describes the method."""
    __signature__: ClassVar[FieldSignature] = FieldSignature()

    feature_importances_: Floats = dataclasses.field(init=False)
    """The importance of each feature; 0 means that it is not used."""
    history_: dict[str, list[float]] = dataclasses.field(init=False)
    """The monitored values, round by round."""
    n_features_in_: int = dataclasses.field(init=False)
    """The number of features in the training data."""
    remarks_: list[str] = dataclasses.field(init=False)
    """The remarks made by `fit`; `notes` returns them as sentences."""
    scaling_: Scaling = dataclasses.field(init=False)
    """How feature values are normalized before `score` sees them."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        collect_fields(cls, kw_only=True)

    def __init__(self, /, **parameters: Any) -> None:
        taken = [f for f in dataclasses.fields(self) if f.init]  # type: ignore[arg-type]
        vars(self).update(bind_arguments(type(self), taken, (), parameters))

    def __repr__(self) -> str:
        declared = self.parameters()
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not declared[name].default and value != declared[name].default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    # Settings

    @classmethod
    def parameters(cls) -> dict[str, dataclasses.Field[Any]]:
        """Return the declared settings, by name."""
        return {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings as they were given. A setting that is None follows the preset."""
        return {name: getattr(self, name) for name in self.parameters()}

    def set_params(self, **parameters: Any) -> Self:
        """Change settings; raises RankgaugeError for a setting that the method does not have."""
        known = self.parameters()
        for name in parameters:
            if name not in known:
                raise RankgaugeError(
                    f"{type(self).__name__} has no setting {name!r}; it has {', '.join(known)}"
                )
        vars(self).update(parameters)
        return self

    def settings(self) -> dict[str, Any]:
        """Return the checked value of each setting: as given, or from the preset."""
        owner, declared = type(self).__name__, self.parameters()
        preset = check_setting(owner, "preset", self.preset, declared["preset"].metadata["kind"])
        values = {}
        for name, f in declared.items():
            value, presets = getattr(self, name), f.metadata.get("presets")
            if value is None and presets is not None:
                value = presets.get(preset, presets[DEFAULT])
            kind = f.metadata.get("kind")
            if kind is not None and not (value is None and f.default is None and presets is None):
                value = check_setting(owner, name, value, kind)
            values[name] = value
        return values

    # What training makes best

    @classmethod
    def all_objectives(cls) -> str:
        """Describe in words what training can optimize, whatever the settings."""
        return cls.optimizes.replace(
            PLACEHOLDER, "; or ".join(cls.objectives.values()) or ANY_MEASURE
        )

    def training_objective(self) -> TrainingObjective:
        """Return what training optimizes with these settings, and where that comes from.

        The setting `measure` plays no role here: it is used on the validation set.

        >>> from rankgauge.rankers import CoordinateAscent, ListNet
        >>> print(CoordinateAscent(preset="ranklib").training_objective())
        ERR@10 on the training data (preset ranklib)
        >>> print(CoordinateAscent(objective="AP").training_objective())
        AP on the training data (setting objective)
        >>> ListNet().training_objective().origin
        'fixed by the method (Cao et al. 2007)'
        """
        if PLACEHOLDER not in self.optimizes:
            return TrainingObjective(self.optimizes or UNSTATED, fixed_origin(self.source))
        value, given = self.settings()[SETTING], getattr(self, SETTING)
        is_measure = isinstance(value, Measure | Aggregate)
        default = self.parameters()[SETTING].default
        origin = f"preset {self.preset}" if given is default else f"setting {SETTING}"
        words = str(value) if is_measure else self.objectives.get(value, str(value))
        text = self.optimizes.replace(PLACEHOLDER, words)
        return TrainingObjective(text, origin, str(value) if is_measure else None)

    # What a method defines

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        """Learn from the training data, and set `feature_importances_` and what `score` needs.

        Parameters
        ----------
        training, validation
            Documents with labels. Their values are already normalized. `validation` may be None.
        settings
            The validated value of each setting.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define `learn`")

    def score(self, values: Values) -> Floats:
        """Return a score for each row of normalized values."""
        raise NotImplementedError(f"{type(self).__name__} does not define `score`")

    def check_learnt(self) -> None:
        """Raise RankgaugeError if what was read from a file cannot come from `learn`."""

    def notes(self) -> tuple[Note, ...]:
        """Return notes on what was learned. Methods may add notes of their own."""
        return tuple(Note(REMARKS[remark]) for remark in vars(self).get("remarks_", ()))

    # What a user calls

    def fit(self, features: Features, validation: Features | None = None) -> Self:
        """Learn from features with labels.

        Parameters
        ----------
        features : Features
            The training data.
        validation : Features, optional
            Other queries. The measure on them decides what the method leaves open, such as when to
            stop; `history_` has its values. A query without relevant documents counts as the
            measure defines it, which is 0 with most measures. If the measure is the same after all
            rounds, the validation set decides nothing. The result is then the same as without
            `validation`, and a note reports it.

        Returns
        -------
        Ranker
            The ranker itself.

        Raises
        ------
        InputError
            If there are no documents or no features, or if the validation data has a different
            number of features.
        """
        settings = self.settings()
        _check_type(features)
        _check_values(features, settings["normalize"])
        if not len(features.labels):
            raise InputError(features.source, None, "no documents, expected training data")
        width = features.values.shape[1]
        if not width:
            raise InputError(features.source, None, "no features, expected at least one")
        if validation is not None:
            _check_type(validation)
            if not len(validation.labels):
                message = "no validation documents; pass None to learn without validation"
                raise InputError(validation.source, None, message)
            check_width(validation, width)
            _check_values(validation, settings["normalize"])
        self._forget()
        kind, per_query = SCALINGS[settings["normalize"]]
        scaling = Scaling.of(kind, per_query=per_query).fit(features)
        self.n_features_in_, self.scaling_, self.history_ = width, scaling, {}
        self.remarks_ = [] if has_pairs(features) else [EQUAL_LABELS]
        try:
            self.learn(
                scaling.apply(features),
                None if validation is None else scaling.apply(validation),
                settings,
            )
        except BaseException:
            self._forget()  # half of a model would be taken for a whole one
            raise
        measured = self.history_.get(str(settings["measure"]), [])
        if validation is not None and len(measured) > 1 and is_undecided(measured):
            self.remarks_.append(UNDECIDED)
        return self

    def _forget(self) -> None:
        """Remove all that was learned."""
        for name in self.learnt():
            delattr(self, name)

    def predict(self, features: Features) -> Floats:
        """Return a score for each document; a higher score means a better rank within its query."""
        self.check_fitted()
        _check_type(features)
        check_width(features, self.n_features_in_)
        _check_values(features, self.scaling_.kind)
        scores = np.asarray(self.score(self.scaling_.apply(features).values), dtype=np.float64)
        if scores.shape != features.labels.shape or not np.isfinite(scores).all():
            raise RankgaugeError(
                f"{type(self).__name__}: the scores have shape {scores.shape} or are not "
                "finite, expected one number for each of the "
                f"{count_phrase(len(features.labels), 'document')}"
            )
        return scores

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the ranker to a folder, from which `rankgauge.rankers.load` reads it.

        A ranker that is already in the folder is replaced atomically. If saving is interrupted,
        the folder contains the old ranker or none.
        """
        from rankgauge.rankers.saving import save

        self.check_fitted()
        save(self, folder)

    def to_search_engine(
        self, names: Sequence[str] | None = None, *, name: str = "rankgauge"
    ) -> dict[str, Any]:
        """Return the model for the learning-to-rank plug-in of Elasticsearch and OpenSearch.

        `names` are the names of the features in the engine, by default feature_1, feature_2, and
        so on. `name` is the name of the model. Raises NotExportable if the plug-in cannot express
        the model, for example because values are normalized by query.
        """
        raise NotExportable(f"{type(self).__name__} cannot be exported to search engines")

    def export(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str] | None = None,
        *,
        name: str = "rankgauge",
    ) -> None:
        """Write the result of `to_search_engine` to a JSON file."""
        from rankgauge.rankers.search_engines import write_model

        write_model(self.to_search_engine(names, name=name), path)

    def check_fitted(self) -> None:
        """Raise NotFitted for a ranker that is not trained yet."""
        if not self.__sklearn_is_fitted__():
            raise NotFitted(f"{type(self).__name__} is not trained yet: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn from 1.6 on asks an estimator: labels are needed, and NaN may occur."""
        tags = import_library("sklearn.utils")
        return tags.Tags(
            estimator_type=None,
            target_tags=tags.TargetTags(required=True),
            input_tags=tags.InputTags(two_d_array=False, allow_nan=True),
        )

    def learnt(self) -> dict[str, Any]:
        """Return what was learned: the attributes whose names end in an underscore."""
        return {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_")
        }


collect_fields(Ranker, kw_only=True)


def _check_type(features: Any) -> None:
    """RankgaugeError for anything but features, such as an array."""
    if not isinstance(features, Features):
        raise RankgaugeError(
            f"got {type(features).__name__}, expected Features, which record where each query "
            "begins: rankgauge.read_letor reads them, and rankgauge.Features builds them from "
            "arrays"
        )


def has_pairs(features: Features) -> bool:
    """Whether documents of any query have different labels. Labels below 0 count as 0."""
    labels, inside = np.maximum(features.labels, 0), np.ones(len(features.labels), dtype=np.bool_)
    inside[features.bounds[:-1][np.diff(features.bounds) > 0]] = False
    return bool(((labels[1:] != labels[:-1]) & inside[1:]).any())


def check_width(features: Features, expected: int) -> None:
    """An error where there are not as many features as a ranker learns from."""
    width = features.values.shape[1]
    if width < expected:
        message = (
            f"{count_phrase(width, 'feature')}, expected the {expected:,} of the training data"
        )
        raise MissingFeatures(features.source, None, message)
    if width > expected:
        message = f"{count_phrase(width, 'feature')}, but the training data has {expected:,}"
        raise InputError(features.source, None, message)


def _check_values(features: Features, normalize: str) -> None:
    """InputError for an infinite value, or a value that is too large to be normalized.

    NaN may stand for a value that is not known.
    """
    values = features.values
    largest = float(np.finfo(values.dtype).max)
    if normalize != "none":
        largest = min(largest, LARGEST)
    for start in range(0, len(values), PIECE):
        piece = values[start : start + PIECE]
        beyond = np.abs(piece) > values.dtype.type(largest)
        if beyond.any():
            row, column = np.argwhere(beyond)[0].tolist()
            what = "infinite" if np.isinf(piece[row, column]) else "too large to be normalized"
            expected = "a number" if what == "infinite" else f"a size of at most {largest:g}"
            message = f"row {start + row}: feature {column + 1} is {what}, expected {expected}"
            raise InputError(features.source, None, message)

"""The settings of rankers: each has a kind, a meaning, and a value in each preset.

`TrainingObjective` says what training makes best with some settings.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from rankgauge.core.checks import Choice, Integer, Kind, Number
from rankgauge.core.records import Value
from rankgauge.data.scaling import ScalingKind
from rankgauge.errors import MeasureError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.gains import Gain
from rankgauge.measures.grammar import parse

DEFAULT, RANKLIB = "default", "ranklib"
"""The presets: modern values, and the defaults of the toolkit RankLib."""

MONITORED = "nDCG(gain=exp2)@10"
"""The measure that early stopping watches by default."""

SCALINGS: dict[str, tuple[ScalingKind, bool]] = {
    "none": ("none", False),
    "z": ("z", False),
    "min-max": ("min-max", False),
    "query-z": ("z", True),
    "query-min-max": ("min-max", True),
}
"""How feature values are normalized, and whether within each query or over all training data."""
NORMALIZATIONS = Choice(tuple(SCALINGS))

GAINS = Gain()
DIRECTIONS = Choice(("up", "both"))


class Rate(Kind):
    """How much is added: all of it, or less, but something."""

    description = "a number above 0, and at most 1, such as 0.05"

    def check(self, value: Any) -> float:
        try:
            rate = Number(0.0, 1.0).check(value)
        except MeasureError:
            rate = 0.0
        if not rate:
            raise self.refusal(value)
        return rate


RATES = Rate()


class MeasureKind(Kind):
    """A measure, or its text, by which rankings are better or worse."""

    description = "a measure such as nDCG@10 that prefers some rankings to others"

    def check(self, value: Any) -> Measure | Aggregate:
        measure = parse(value)
        if inner(measure).direction == "none":
            raise self.refusal(value)
        inner(measure).complete()
        return measure


MEASURES = MeasureKind()


class Sizes(Kind):
    """The sizes of the hidden layers of a network, from the input on: a tuple, which may be empty.

    On the command line, sizes may be written without brackets.

    >>> Sizes().check("10,5")
    (10, 5)
    """

    description = "a list of at most 8 whole numbers from 1 to 4,096, such as [10, 5], or []"
    layers, units = 8, Integer(1, 4096)

    def check(self, value: Any) -> tuple[int, ...]:
        sizes = value
        if isinstance(value, str):
            sizes = [_parse_integer(size) for size in value.split(",")]
        elif isinstance(value, int):
            sizes = [value]
        if not isinstance(sizes, list | tuple) or len(sizes) > self.layers:
            raise self.refusal(value)
        try:
            return tuple(self.units.check(size) for size in sizes)
        except MeasureError:
            raise self.refusal(value) from None


def _parse_integer(text: str) -> int | None:
    """The number that a text of at most 9 digits is, or None."""
    return int(text) if re.fullmatch(r" *[0-9]{1,9} *", text) else None


SIZES = Sizes()

AUTO = "auto"
"""The value of a setting that follows from the data."""


class Auto(Kind, Value):
    """A value of another kind, or "auto"."""

    kind: Kind

    @property
    def description(self) -> str:  # type: ignore[override]
        return f'{self.kind.description}, or "{AUTO}"'

    def check(self, value: Any) -> Any:
        if isinstance(value, str) and value == AUTO:
            return AUTO
        try:
            return self.kind.check(value)
        except MeasureError:
            raise self.refusal(value) from None


def setting(kind: Kind, meaning: str, *, default: Any, **presets: Any) -> Any:
    """A setting of a ranker whose value depends on the preset, unless the user gives one.

    Parameters
    ----------
    kind
        What values the setting can have.
    meaning
        One line on what it means.
    default
        The value in the preset "default".
    presets
        Its values in other presets, by name; where a preset has none, `default` holds.
    """
    values = {DEFAULT: default, **presets}
    return field(default=None, metadata={"kind": kind, "meaning": meaning, "presets": values})


def setting_from(owner: type[Any], name: str, **presets: Any) -> Any:
    """A setting that `owner` declares, for a method that derives from it and has other values."""
    declared = owner.__dataclass_fields__[name].metadata
    values = {**declared["presets"], **presets}
    return setting(declared["kind"], declared["meaning"], **values)


def check_setting(owner: str, name: str, value: Any, kind: Kind) -> Any:
    """A value of a setting in its canonical form; MeasureError names the ranker and the setting."""
    try:
        return kind.check(value)
    except MeasureError as error:
        raise MeasureError(f"{owner}: {name}: {error}") from None


SETTING = "objective"
"""The setting that selects what training optimizes, in methods that offer a choice."""
PLACEHOLDER = f"{{{SETTING}}}"
"""The placeholder for the value of the setting in `Ranker.optimizes`."""
ANY_MEASURE, UNSTATED = "any measure", "not stated by the method"


class TrainingObjective(Value):
    """What training makes best with some settings.

    Parameters
    ----------
    text
        What training makes best, in words.
    origin
        Where that comes from: a setting, a preset, or the method itself.
    measure
        The text of the measure that training makes best itself; None where it is a loss.
    """

    text: str
    origin: str
    measure: str | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})"


def fixed_origin(source: str) -> str:
    """Where an objective comes from that no setting changes: the method, with a short reference.

    >>> fixed_origin("Breiman 2001, Random forests")
    'fixed by the method (Breiman 2001)'
    """
    reference = source.partition(",")[0].strip()
    return f"fixed by the method ({reference})" if reference else "fixed by the method"

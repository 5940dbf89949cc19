"""The parameters of measures: what values they take, how they are written, what they mean."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any, ClassVar, TypeAlias, dataclass_transform

import numpy as np

from rankgauge.data.errors import MeasureError
from rankgauge.data.model import Floats, Labels

GainMap: TypeAlias = tuple[tuple[int, float], ...]
GainFunction: TypeAlias = Callable[[Floats, int], Floats]
DiscountFunction: TypeAlias = Callable[[Floats], Floats]


class Kind:
    """A kind of value: `check` gives its canonical form, `text` and `python` write it."""

    description = "a value"

    def check(self, value: Any) -> Any:
        """The canonical form of a value, or MeasureError."""
        raise self.refusal(value)

    def text(self, value: Any) -> str:
        """The value in the language of measures."""
        return str(value)

    def python(self, value: Any) -> str:
        """The value in Python."""
        return repr(value)

    def refusal(self, value: Any) -> MeasureError:
        """The error for a value that does not fit."""
        return MeasureError(f"{value!r} does not fit, expected {self.description}")


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from `least` on."""

    least: int = 1

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"a whole number from {self.least}"

    def check(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
            raise self.refusal(value)
        if value != value or value in (math.inf, -math.inf) or int(value) != value:
            raise self.refusal(value)
        if value > 2**31 - 1:
            raise MeasureError(f"{value!r} does not fit, expected at most {2**31 - 1}")
        if value < self.least:
            raise self.refusal(value)
        return int(value)


@dataclass(frozen=True)
class Number(Kind):
    """A number between `low` and `high`; the limits themselves only where `closed`."""

    low: float = 0.0
    high: float = math.inf
    closed: bool = True

    @property
    def description(self) -> str:  # type: ignore[override]
        if self.low == -math.inf and self.high == math.inf:
            return "a number"
        if self.high == math.inf:
            return f"a number {'from' if self.closed else 'above'} {self.low:g}"
        sort = "from {:g} to {:g}" if self.closed else "strictly between {:g} and {:g}"
        return "a number " + sort.format(self.low, self.high)

    def check(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise self.refusal(value)
        inside = self.low <= value <= self.high if self.closed else self.low < value < self.high
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not inside or not math.isfinite(number):
            raise self.refusal(value)
        return number

    def text(self, value: Any) -> str:
        return number_text(value)

    def python(self, value: Any) -> str:
        return number_text(value)


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few names."""

    names: tuple[str, ...]

    @property
    def description(self) -> str:  # type: ignore[override]
        return "one of " + ", ".join(self.names)

    def check(self, value: Any) -> str:
        if value not in self.names:
            raise self.refusal(value)
        return str(value)


class Quoted(Kind):
    """Any short text, which is written in quotes: one sort of them at most may be in it."""

    longest = 200

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"a text of at most {self.longest} characters, without one sort of quotes"

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > self.longest:
            raise self.refusal(value)
        if "'" in value and '"' in value:
            raise self.refusal(value)
        return value

    def text(self, value: Any) -> str:
        quote = "'" if '"' in value else '"'
        return f"{quote}{value}{quote}"


GAINS: dict[str, GainFunction] = {
    "linear": lambda label, max_grade: label,
    "exp2": lambda label, max_grade: np.exp2(label) - 1,
    "scaled": lambda label, max_grade: (np.exp2(label) - 1) / np.exp2(float(max_grade)),
    "fraction": lambda label, max_grade: label / max_grade,
}
"""Gain of a label, given the collection's highest grade, by name."""

DISCOUNTS: dict[str, DiscountFunction] = {
    "log2": lambda rank: np.log2(rank + 1),
    "zipf": lambda rank: rank,
}
"""What a rank (from 1) divides gains by, by name; `log_b` for a whole b from 2 comes on top."""

JARVELIN_KEKALAINEN = "log_"


class Gain(Kind):
    """How much a label is worth: a registered function or a map from labels to gains."""

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"{', '.join(GAINS)} or a map such as {{1:1,2:3}} of labels to gains from 0"

    def check(self, value: Any) -> str | GainMap:
        if isinstance(value, str) and value in GAINS:
            return value
        try:
            pairs = dict(value)
        except (TypeError, ValueError):
            raise self.refusal(value) from None
        if isinstance(value, str) or not pairs or len(pairs) < len(value):
            raise self.refusal(value)
        return tuple(sorted((Whole(1).check(a), Number(0).check(b)) for a, b in pairs.items()))

    def text(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        return "{" + ",".join(f"{label}:{number_text(gain)}" for label, gain in value) + "}"

    def python(self, value: Any) -> str:
        if isinstance(value, str):
            return repr(value)
        return "{" + ", ".join(f"{label}: {number_text(gain)}" for label, gain in value) + "}"


class Share(Gain):
    """A gain from 0 to 1, so that it can be a chance."""

    @property
    def description(self) -> str:  # type: ignore[override]
        named = [name for name in GAINS if self._fits(name)]
        return f"{', '.join(named)} or a map such as {{1:0.5,2:1}} of labels to gains from 0 to 1"

    def check(self, value: Any) -> str | GainMap:
        checked = super().check(value)
        if not self._fits(checked):
            raise self.refusal(value)
        return checked

    def _fits(self, gain: str | GainMap) -> bool:
        """Whether gains stay within 0 and 1; for a function, by what a few scales give."""
        if not isinstance(gain, str):
            return all(worth <= 1 for _, worth in gain)
        found = [gains(gain, np.arange(g + 1, dtype=np.int32), g) for g in range(1, 5)]
        return all(((worth >= 0) & (worth <= 1)).all() for worth in found)


class Discount(Kind):
    """How much a rank counts: a registered function, or `log_b`."""

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"{', '.join(DISCOUNTS)} or log_b with a whole b from 2, such as log_2"

    def check(self, value: Any) -> str:
        if isinstance(value, str):
            base = value.removeprefix(JARVELIN_KEKALAINEN)
            if value in DISCOUNTS:
                return value
            if base != value and base.isascii() and base.isdigit() and 2 <= int(base) < 2**31:
                return JARVELIN_KEKALAINEN + str(int(base))
        raise self.refusal(value)


def parameter(kind: Kind, meaning: str, *, default: Any) -> Any:
    """A parameter of a measure: its kind, one line on what it means, and its default."""
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


class _Signature:
    """What a class is called with: its fields. An instance keeps the signature of `__call__`."""

    def __get__(self, instance: object, owner: type) -> Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        return self.of(owner)

    @staticmethod
    def of(owner: type) -> Signature:
        """The fields of a class as the parameters of a call, those to be named at the end."""
        taken = [
            Parameter(
                f.name,
                Parameter.KEYWORD_ONLY if f.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if f.default is dataclasses.MISSING else f.default,
                annotation=f.type,
            )
            for f in dataclasses.fields(owner)
        ]
        return Signature(sorted(taken, key=lambda each: each.kind))


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(parameter, dataclasses.field)
)
class Parametric:
    """A value with parameters: frozen, checked, and written the way it is read."""

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[tuple[str, ...]] = ()
    synonyms: ClassVar[Mapping[str, Mapping[Any, Mapping[str, Any]]]] = {}
    """Parameters of other tools, and what their values mean in ours."""
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Parameters of other tools that are none here, and what to do instead."""
    __signature__: ClassVar[_Signature] = _Signature()
    _values: ClassVar[tuple[Any, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # For the fields alone. The methods are below, once for all classes: compiling a set of them
        # for each would take longer than the rest of what importing the package takes, NumPy aside.
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)

    def __init__(self, *values: Any, **parameters: Any) -> None:
        arguments = _Signature.of(type(self)).bind(*values, **parameters)
        arguments.apply_defaults()
        vars(self).update(arguments.arguments)
        self.__post_init__()
        # Measures are keys of dicts all day long.
        object.__setattr__(self, "_values", tuple(vars(self)[name] for name in self._fields()))

    @classmethod
    def _fields(cls) -> list[str]:
        return [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._values == other._values

    def __hash__(self) -> int:
        return hash((type(self), self._values))

    def _values_but(self, left_out: str) -> tuple[Any, ...]:
        """The values of all fields but one."""
        named = zip(self._fields(), self._values, strict=True)
        return tuple(value for name, value in named if name != left_out)

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    @classmethod
    def parameters(cls) -> dict[str, dataclasses.Field[Any]]:
        """The declared parameters, the cut-off and a wrapped measure left out, in order."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        return {f.name: f for f in fields if "kind" in f.metadata and f.name != "cutoff"}

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            if "kind" in f.metadata:
                value = getattr(self, f.name)
                if value is None and f.default is None:
                    continue
                try:
                    checked = f.metadata["kind"].check(value)
                except MeasureError as error:
                    raise MeasureError(f"{self.name}: {f.name}: {error}") from None
                object.__setattr__(self, f.name, checked)

    @classmethod
    def _named(cls, positional: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments by name, other tools' names translated; errors say what is taken."""
        names = list(cls.parameters())
        taken = ", ".join(names) or "no parameters"
        if len(positional) > len(names):
            raise MeasureError(f"{cls.name} takes {taken}, not {len(positional)} values")
        arguments = dict(zip(names, positional, strict=False))
        for key, value in keywords.items():
            meaning = cls.synonyms.get(key)
            if meaning is not None:
                if value not in meaning:
                    known = ", ".join(map(str, meaning))
                    raise MeasureError(f"{cls.name}: {key}={value} is unknown, expected {known}")
                if arguments.keys() & meaning[value].keys():
                    raise MeasureError(f"{cls.name}: {key} says again what is said already")
                arguments.update(meaning[value])
            elif key in cls.elsewhere:
                raise MeasureError(f"{cls.name} has no parameter {key!r}: {cls.elsewhere[key]}")
            elif key not in names:
                raise MeasureError(f"{cls.name} has no parameter {key!r}; it takes {taken}")
            elif key in arguments:
                raise MeasureError(f"{cls.name}: {key} is given twice")
            else:
                arguments[key] = value
        return arguments

    def _written(self, python: bool, every: bool = False) -> list[str]:
        """`key=value` for the parameters that differ from their defaults, or for every one."""
        written = []
        for key, f in self.parameters().items():
            value, kind = getattr(self, key), f.metadata["kind"]
            if (every and value is not None) or value != f.default:
                written.append(f"{key}={kind.python(value) if python else kind.text(value)}")
        return written


def number_text(value: float) -> str:
    """A number written shortest, without a needless `.0`.

    >>> number_text(2.0), number_text(0.85)
    ('2', '0.85')
    """
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )


def gains(gain: str | GainMap, labels: Labels, max_grade: int) -> Floats:
    """The gain of each label: 0 for unjudged documents, as the named function or map says else.

    Labels that a map does not name keep their linear gain, as in trec_eval.
    """
    label = np.maximum(labels, 0).astype(np.float64)
    if not isinstance(gain, str):
        value = label.copy()
        for grade, worth in gain:
            value[labels == grade] = worth
        return value
    if gain == "linear":
        return label
    # A grade at a time, where there are few.
    highest = int(label.max(initial=0.0))
    each = label if highest > len(label) else np.arange(highest + 1.0)
    with np.errstate(all="ignore"):
        value = np.asarray(GAINS[gain](each, max_grade), dtype=np.float64)
    if each is not label:
        value = value[np.maximum(labels, 0)]
    if not np.isfinite(value).all():
        highest = int(labels.max())
        raise MeasureError(f"gain={gain} of grade {highest} is too large a number; use gain=linear")
    return value


def shares(gain: str | GainMap, labels: Labels, max_grade: int) -> Floats:
    """The gain of each label; MeasureError where one is above 1."""
    value = gains(gain, labels, max_grade)
    if value.max(initial=0.0) > 1:
        grade = int(labels[np.argmax(value)])
        message = f"the gain of grade {grade} is {number_text(value.max())}, expected at most 1"
        raise MeasureError(f"{message}: a map of gains has to name every grade")
    return value


def most_gainful(gain: str | GainMap, max_grade: int) -> int:
    """The label from 0 to `max_grade` with the highest gain."""
    if isinstance(gain, str):
        return max_grade
    named = dict(gain)
    unnamed = next((g for g in range(max_grade, -1, -1) if g not in named), 0)
    candidates = np.array([unnamed, *(g for g in named if g <= max_grade)], dtype=np.int32)
    return int(candidates[np.argmax(gains(gain, candidates, max_grade))])


def divisors(discount: str, count: int) -> Floats:
    """What gains at ranks 1 to `count` are divided by."""
    rank = np.arange(1, count + 1, dtype=np.float64)
    if discount in DISCOUNTS:
        return DISCOUNTS[discount](rank)
    base = float(discount.removeprefix(JARVELIN_KEKALAINEN))
    value: Floats = np.log(np.maximum(rank, base)) / np.log(base)
    return value

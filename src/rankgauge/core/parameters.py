"""Values with parameters, such as measures: frozen, checked, and written the way they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, dataclass_transform

from rankgauge.core.checks import Kind
from rankgauge.core.records import FieldSignature, bind_arguments, collect_fields
from rankgauge.errors import MeasureError


def parameter(kind: Kind, meaning: str, *, default: Any) -> Any:
    """Declare a parameter in the body of a measure's class.

    Parameters
    ----------
    kind : Kind
        Which values the parameter takes, such as `Integer(1)` for whole numbers from 1 on.
    meaning : str
        One line that says what the parameter means.
    default
        The value of the parameter if the user gives none.

    Returns
    -------
    dataclasses.Field
        The field to assign to the name of the parameter.

    Examples
    --------
    >>> from rankgauge.core.checks import Integer
    >>> from rankgauge.measures import Measure
    >>> class Early(Measure):
    ...     name = "Early"
    ...     ranks: int = parameter(Integer(1), "how many ranks count as early", default=3)
    >>> Early(ranks=5)
    Early(ranks=5)
    """
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


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
    __signature__: ClassVar[FieldSignature] = FieldSignature()
    _values: ClassVar[tuple[Any, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        collect_fields(cls, kw_only=True)

    def __init__(self, /, *values: Any, **parameters: Any) -> None:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        vars(self).update(bind_arguments(type(self), fields, values, parameters))
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

    def _values_except(self, left_out: str) -> tuple[Any, ...]:
        """The values of all fields but one."""
        named = zip(self._fields(), self._values, strict=True)
        return tuple(value for name, value in named if name != left_out)

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    @classmethod
    def parameters(cls) -> dict[str, dataclasses.Field[Any]]:
        """The declared parameters, the cutoff and a wrapped measure left out, in order."""
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
    def _arguments_by_name(
        cls, positional: Sequence[Any], keywords: Mapping[str, Any]
    ) -> dict[str, Any]:
        """All arguments by name, other tools' names translated; errors say what is taken."""
        names = list(cls.parameters())
        taken = ", ".join(names) or "no parameters"
        if len(positional) > len(names):
            raise MeasureError(f"{cls.name} takes {taken}, not {len(positional)} values")
        arguments = dict(zip(names, positional, strict=False))
        for key, value in keywords.items():
            meaning = cls.synonyms.get(key)
            if meaning is not None:
                value = str(value) if isinstance(value, bool) else value
                if not isinstance(value, str | int) or value not in meaning:
                    known = ", ".join(map(str, meaning))
                    raise MeasureError(f"{cls.name}: {key}={value} is unknown, expected {known}")
                if both := arguments.keys() & meaning[value].keys():
                    again = ", ".join(sorted(both))
                    raise MeasureError(
                        f"{cls.name}: {key} sets {again} a second time; leave one out"
                    )
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

    def _format_parameters(self, python: bool, every: bool = False) -> list[str]:
        """`key=value` for the parameters that differ from their defaults, or for every one."""
        written = []
        for key, f in self.parameters().items():
            value, kind = getattr(self, key), f.metadata["kind"]
            if (every and value is not None) or value != f.default:
                written.append(f"{key}={kind.python(value) if python else kind.text(value)}")
        return written

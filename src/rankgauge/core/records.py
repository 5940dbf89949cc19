"""Frozen records: what frozen dataclasses are, with methods that are written once.

A dataclass compiles its methods anew for every class, a millisecond or two each. That is longer than
most commands work, so classes that every command imports are records instead. `dataclasses.replace`,
`fields` and `field` serve them as they serve dataclasses, and type checkers see no difference. `InitVar`
is not understood, and nobody complains of a field without a default after one with a default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from inspect import Parameter, Signature
from typing import Any, ClassVar, dataclass_transform

from rankgauge.core.renamed import RenamedMembers
from rankgauge.errors import warn_old_form


def collect_fields(cls: type, **options: bool) -> None:
    """Find the fields of a class, if it may have others than the one class it derives from."""
    several = sum(hasattr(base, "__dataclass_fields__") for base in cls.__bases__) > 1
    own = "__annotations__" in vars(cls) or any(
        isinstance(value, dataclasses.Field) for value in vars(cls).values()
    )
    if several or own or not hasattr(cls, "__dataclass_fields__"):
        dataclasses.dataclass(init=False, repr=False, eq=False, **options)(cls)


def bind_arguments(
    owner: type,
    fields: Iterable[dataclasses.Field[Any]],
    values: Sequence[Any],
    named: dict[str, Any],
) -> dict[str, Any]:
    """The value of each field, as a call of the class has it; TypeError for a call that does not fit."""
    state: dict[str, Any] = {}
    rest, left = list(values), dict(named)
    for field in fields:
        if rest and field.init and not field.kw_only:
            state[field.name] = rest.pop(0)
        elif field.init and field.name in left:
            state[field.name] = left.pop(field.name)
        elif field.default is not dataclasses.MISSING:
            state[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            state[field.name] = field.default_factory()
        else:
            raise TypeError(
                f"{owner.__name__}: {field.name!r} is missing; it has {_describe_fields(fields)}"
            )
    if rest or left:
        twice = [name for name in left if name in state]
        wrong = ", ".join(left) or f"{len(values)} values"
        fault = f"{', '.join(twice)} twice" if twice else f"not {wrong}"
        raise TypeError(f"{owner.__name__} has {_describe_fields(fields)}, {fault}")
    return state


def _describe_fields(fields: Iterable[dataclasses.Field[Any]]) -> str:
    names = ", ".join(field.name for field in fields if field.init)
    return f"the fields {names}"


class FieldSignature:
    """What a class is called with: its fields. An instance that can be called keeps its own."""

    def __get__(self, instance: object, owner: type) -> Signature:
        if instance is not None or not hasattr(owner, "__dataclass_fields__"):
            raise AttributeError("__signature__")
        taken = [
            Parameter(
                f.name,
                Parameter.KEYWORD_ONLY if f.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=_default(f),
                annotation=f.type,
            )
            for f in dataclasses.fields(owner)
            if f.init
        ]
        return Signature(sorted(taken, key=lambda each: each.kind))


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is dataclasses.MISSING else field.default


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class Record(RenamedMembers):
    """Base class of immutable objects with named fields, like a frozen dataclass.

    Records are equal only to themselves; derive from `Value` to compare fields.
    `dataclasses.replace` and `dataclasses.fields` work with records.

    Parameters
    ----------
    *values, **named
        The values of the fields, by position or by name.

    Examples
    --------
    >>> import dataclasses
    >>> from rankgauge.extending import Record
    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> dataclasses.replace(Point(1), y=2)
    Point(x=1, y=2)
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    __signature__: ClassVar[FieldSignature] = FieldSignature()
    _fields: ClassVar[tuple[dataclasses.Field[Any], ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        collect_fields(cls)
        cls._fields = dataclasses.fields(cls)

    def __init__(self, /, *values: Any, **named: Any) -> None:
        if not self._renamed.keys().isdisjoint(named):
            named = self._in_new_names(named)
        vars(self).update(bind_arguments(type(self), self._fields, values, named))
        self.__post_init__()

    @classmethod
    def _in_new_names(cls, named: dict[str, Any]) -> dict[str, Any]:
        """The fields by their new names.

        `dataclasses.replace` adds the value that a field has to the new one under the old name.
        """
        old = {name: value for name, value in named.items() if name in cls._renamed}
        for name in old:
            warn_old_form(
                f"{cls.__name__}({name}=...)", f"{cls.__name__}({cls._renamed[name]}=...)"
            )
        kept = {name: value for name, value in named.items() if name not in old}
        return kept | {cls._renamed[name]: value for name, value in old.items()}

    def __post_init__(self) -> None:
        """What is done once all fields are there."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the fields alone.

        What was computed from them is computed again where it is needed, so that equal records have
        equal bytes.
        """
        state = vars(self)
        return {field.name: state[field.name] for field in self._fields}

    def __repr__(self) -> str:
        shown = (
            f"{field.name}={getattr(self, field.name)!r}" for field in self._fields if field.repr
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"


class Value(Record):
    """Base class of records that are equal if their class and fields are.

    Examples
    --------
    >>> from rankgauge.extending import Value
    >>> class Size(Value):
    ...     width: int
    >>> Size(3) == Size(3), len({Size(3), Size(3)})
    (True, 1)
    """

    def _comparison_key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in self._fields if f.compare)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Value):
            return NotImplemented
        return self._comparison_key() == other._comparison_key()

    def __hash__(self) -> int:
        return hash((type(self), self._comparison_key()))

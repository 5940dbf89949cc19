"""Frozen records: what frozen dataclasses are, with methods that are written once.

A dataclass compiles its methods anew for every class, a millisecond or two each. That is longer than
most commands work, so classes that every command imports are records instead. `dataclasses.replace`,
`fields` and `field` serve them as they serve dataclasses, and type checkers see no difference.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, dataclass_transform


def collect_fields(cls: type, **options: bool) -> None:
    """Find the fields of a class, if it may have others than the one class it derives from."""
    several = sum(hasattr(base, "__dataclass_fields__") for base in cls.__bases__) > 1
    own = "__annotations__" in vars(cls) or any(
        isinstance(value, dataclasses.Field) for value in vars(cls).values()
    )
    if several or own or not hasattr(cls, "__dataclass_fields__"):
        dataclasses.dataclass(init=False, repr=False, eq=False, **options)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class Record:
    """A frozen object with fields, equal to itself alone.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> dataclasses.replace(Point(1), y=2)
    Point(x=1, y=2)
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    _fields: ClassVar[tuple[dataclasses.Field[Any], ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        collect_fields(cls)
        cls._fields = dataclasses.fields(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        state, place = vars(self), 0
        for field in self._fields:
            if field.init and place < len(values):
                state[field.name] = values[place]
                place += 1
            elif field.init and field.name in named:
                state[field.name] = named.pop(field.name)
            elif field.default is not dataclasses.MISSING:
                state[field.name] = field.default
            elif field.default_factory is not dataclasses.MISSING:
                state[field.name] = field.default_factory()
            else:
                raise TypeError(f"{type(self).__name__}: {field.name!r} is missing")
        if named or place < len(values):
            known = ", ".join(field.name for field in self._fields if field.init)
            wrong = ", ".join(named) or f"{len(values)} values"
            raise TypeError(f"{type(self).__name__} has the fields {known}, not {wrong}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """What is done once all fields are there."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        shown = (
            f"{field.name}={getattr(self, field.name)!r}" for field in self._fields if field.repr
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"


class Value(Record):
    """A record that is equal to any other of its class with equal fields.

    >>> class Size(Value):
    ...     width: int
    >>> Size(3) == Size(3), len({Size(3), Size(3)})
    (True, 1)
    """

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in self._fields if f.compare)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Value):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))

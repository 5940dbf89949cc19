"""What gives each query, or each text, one number: what scores know of it, and how it is written.

A measure scores rankings (`measures/base.py`), a metric scores texts (`text/base.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

from rankgauge.core.parameters import Parametric
from rankgauge.core.policies import Ties
from rankgauge.errors import MeasureError

Direction: TypeAlias = Literal["higher", "lower", "none"]


class Scored(Parametric):
    """Something with one number for each query or text: its range, and which numbers are better."""

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    direction: ClassVar[Direction] = "higher"
    averages_defined: ClassVar[bool] = True
    """Whether queries on which the score is undefined are left out of means, or undo them."""
    own_ties: ClassVar[Ties | None] = None
    """How equal scores are treated, where this is part of the definition, as in the expected search
    length. An evaluation follows it whatever its own `ties`. None: the evaluation decides."""

    @property
    def range_is_declared(self) -> bool:
        """Whether the range is declared for this score, or only inherited."""
        return True

    @property
    def by_encoder(self) -> bool:
        """Whether an encoder computes it; then the signature names the encoder."""
        return False

    def complete(self) -> Self:
        """Return the value itself; MeasureError if a parameter is still needed."""
        return self

    def specification(self) -> str:
        """The text form with every parameter written out, as signatures have it."""
        raise NotImplementedError

    def at_cutoffs(self, cutoffs: Sequence[float]) -> str:
        """The text form at several cutoffs together, such as nDCG@5,10."""
        return str(self)

    @property
    def family(self) -> Hashable:
        """A value that is equal for those that differ only in their cutoff."""
        return self


class Composite(Parametric):
    """Something made of a measure or metric, written `name(inside, key=value)`."""

    contains: ClassVar[type[Scored]]
    """What can stand inside."""
    usual: ClassVar[str]
    """One that can stand inside, for messages."""

    measure: Any = dataclasses.field(kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.measure, self.contains):
            kind = self.contains.__name__.lower()
            message = f"{self.name}({self.measure}): expected a {kind} inside, such as "
            raise MeasureError(f"{message}{self.name}({self.usual})")
        if not self.takes(self.measure):
            message = f"{self.measure} cannot stand inside {self.name}(), expected one such as in "
            raise MeasureError(message + " or ".join(self.examples))

    @classmethod
    def takes(cls, measure: Any) -> bool:
        """Whether this can be made of a measure or metric."""
        return True

    @property
    def by_encoder(self) -> bool:
        """Whether an encoder computes what is inside."""
        return bool(self.measure.by_encoder)

    def __str__(self) -> str:
        return self._format_nested(str(self.measure), self._format_parameters(python=False), ",")

    def __repr__(self) -> str:
        return self._format_nested(repr(self.measure), self._format_parameters(python=True), ", ")

    def specification(self) -> str:
        """The text form with every parameter written out, as signatures have it."""
        written = self._format_parameters(python=False, every=True)
        return self._format_nested(self.measure.specification(), written, ",")

    def _format_nested(self, inside: str, written: list[str], comma: str) -> str:
        return f"{self.name}({comma.join([inside, *written])})"

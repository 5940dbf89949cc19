"""What sweeps ask a measure: what changes if two neighbors change places, and which labels matter."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.rankings.flips import Flips, Places


class FlipFormulas:
    """Formulas for flips. All are optional: without them, lists are scored after each flip."""

    looks_above: ClassVar[bool] = True
    """Whether what a document adds depends on what stands above it, not on its rank and label alone."""

    def __init_subclass__(cls, **options: Any) -> None:
        if "_adds" in vars(cls):
            message = f"{cls.__name__}: _adds is called _contribution now; rename it"
            warnings.warn(message, DeprecationWarning, stacklevel=3)
            cls._contribution = vars(cls)["_adds"]  # type: ignore[method-assign]
        super().__init_subclass__(**options)

    if TYPE_CHECKING:

        @property
        def depth(self) -> int | None: ...

    def _contribution(self, places: Places) -> Floats:
        """What a document adds to the score of its list, for measures that are such a sum.

        It follows from the label of the document, its rank, and how many documents of each label are
        above it. Beyond the cutoff nothing counts, whatever is returned there.
        """
        raise NotImplementedError

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        """Which labels add nothing by `_contribution`.

        Documents of these labels change what documents below add only through the ranks of those
        documents.
        """
        return np.zeros(len(labels), dtype=np.bool_)

    def _removable_labels(self, labels: Labels, max_grade: int) -> Bools:
        """Which labels make no difference without a cutoff.

        The score of a list is the same without its documents of these labels.
        """
        return np.zeros(len(labels), dtype=np.bool_)

    def _flip_changes(self, flips: Flips) -> Floats:
        """By how much each flip changes the score, where there is a formula; here by `_contribution`.

        Whatever stands above a flip, or below it, adds the same as before.
        """
        rises = self._contribution_change(flips, flips.lower, flips.upper)
        return rises - self._contribution_change(flips, flips.upper, flips.lower)

    def _contribution_change(self, flips: Flips, document: Ints, passed: Ints) -> Floats:
        """What a document adds more, by `_contribution`, after it rises past the document above it."""
        upper, lower = flips.places(document), flips.places(document, passed)
        above, below = self._contribution(upper), self._contribution(lower)
        if self.depth is not None:
            above = np.where(upper.rank > self.depth, 0.0, above)
            below = np.where(lower.rank > self.depth, 0.0, below)
        return above - below

    @property
    def knows_flips(self) -> bool:
        """Whether there is a formula for what a flip changes."""
        own, usual = type(self), FlipFormulas
        return (
            own._contribution is not usual._contribution
            or own._flip_changes is not usual._flip_changes
        )

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        """The labels with one label in place of all that the measure cannot tell apart in a list."""
        return labels

"""Scores that another tool or person made: of their measure only the name is known."""

from __future__ import annotations

from typing import Self

import numpy as np

from rankgauge.core.checks import Choice, QuotedText
from rankgauge.core.parameters import parameter
from rankgauge.errors import Unsupported
from rankgauge.measures.base import Answer, Measure
from rankgauge.measures.registry import register
from rankgauge.measures.scored import Direction


class GivenScores(Measure):
    """A name for scores that rankgauge did not compute, such as ratings by people.

    The measure cannot score a ranking.
    """

    name = "given"
    summary = (
        "A name for scores that come from another tool or from people. It cannot score a ranking."
    )
    formula = "given(title) = the scores as supplied"
    examples = ('given("human rating")', 'given("errors",better=lower)')
    range = (-np.inf, np.inf)
    cutoffs = "none"
    expectation = "no"
    bounding = "no"

    title: str | None = parameter(QuotedText(), "the name of the scores", default=None)
    better: Direction = parameter(
        Choice(("higher", "lower")), "whether higher or lower scores are better", default="higher"
    )

    @property
    def direction(self) -> Direction:  # type: ignore[override]
        return self.better

    def _format_parameters(self, python: bool, every: bool = False) -> list[str]:
        """The title without a key, as people write it."""
        return [text.removeprefix("title=") for text in super()._format_parameters(python, every)]

    def complete(self) -> Self:
        raise self._unsupported_error("the score of a ranking", "")

    def answers(self) -> dict[str, Answer]:
        return dict.fromkeys(super().answers(), "no")

    def _unsupported_error(self, question: str, reason: str) -> Unsupported:
        message = f"{self} cannot compute {question}: it is only a name for scores made elsewhere"
        return Unsupported(f"{message}; expected a measure that `rankgauge measures` explains")


given = register(GivenScores())

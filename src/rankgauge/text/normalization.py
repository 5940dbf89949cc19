"""Metrics made of another metric and of what chance gets: expected, v1, v2, linear and z.

Where all candidates for a text have the same chance, no form puts two of them in another order. Where
chance depends on the candidate, by its length or by a draw of its own, a form can.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import Note
from rankgauge.errors import MeasureError
from rankgauge.measures import forms
from rankgauge.measures.scored import Composite, Direction, Scored
from rankgauge.text.base import Metric
from rankgauge.text.chance import CANDIDATE, SPREAD_DRAWS, ChanceParameters, Null, check_null
from rankgauge.text.data.texts import Candidates, Texts
from rankgauge.text.registry import register
from rankgauge.text.tokens import SplitWords

CONSTANT = (
    "all systems share one chance score per text, so no form changes the order of two "
    "systems on a text"
)
BY_LENGTH = (
    "chance depends on the length of the output, so a form can reverse two systems on a text, "
    "and it penalizes length"
)
BY_DRAW = (
    "chance is drawn anew for each output, so a form can reverse two systems on a text randomly"
)


class ChanceMetric(Composite, ChanceParameters, Metric):
    """A metric made of another one, and of what chance gets by it."""

    contains: ClassVar[type[Scored]] = Metric
    usual = "rouge1"
    source = "Feng 2023, Upper and expected value normalization, dissertation, chapters 5.2 and 9"

    measure: Metric = dataclasses.field(kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_null(self.null, self.measure)

    @property
    def of(self) -> Null:
        """How random texts are drawn."""
        return Null(**{name: getattr(self, name) for name in Null.parameters()})

    @property
    def direction(self) -> Direction:  # type: ignore[override]
        return self.measure.direction

    @property
    def alone(self) -> bool:
        return self.measure.alone

    @property
    def rounding(self) -> float:  # type: ignore[override]
        return self.measure.rounding

    def lengths(self, texts: Texts) -> Ints:
        return self.measure.lengths(texts)

    def _form(self, score: Floats, chance: Floats, candidates: Candidates) -> Floats:
        """The number of each candidate, from its score and what chance gets in its place."""
        raise NotImplementedError

    def _score(self, candidates: Candidates) -> Floats:
        chance = self.measure.expected_each(candidates, self.of).values
        score = self.measure.score_each(candidates)
        with np.errstate(invalid="ignore"):
            return np.where(np.isnan(chance), np.nan, self._form(score, chance, candidates))

    @property
    def split(self) -> SplitWords:  # type: ignore[override]
        """The words of a text as the inner metric splits them."""
        return self.measure.split

    def _orient(self, values: Floats) -> Floats:
        """The values on a scale on which higher is better."""
        return values if self.measure.direction == "higher" else -values

    def _best(self, values: Floats) -> Floats:
        return self._orient(np.full(len(values), self.measure.ideal))

    def remarks(self, candidates: Candidates) -> list[Note]:
        mean = self.measure.expected_each(candidates, self.of)
        notes = self.measure.remarks(candidates)
        notes += self.measure.chance_remarks(candidates, self.of)
        if nothing := int(np.isnan(mean.values).sum()):
            kind = (
                "no words in the source of {outputs}, so no random text can be drawn: they "
                "are excluded from the mean"
            )
            notes.append(Note(kind, count=nothing))
        if mean.samples.any():
            kind = f"chance estimated from up to {int(mean.samples.max()):,} random texts each"
            error = None
            if np.isfinite(mean.errors).any():
                kind, error = (
                    f"{kind}, standard error at most {{error}}",
                    float(np.nanmax(mean.errors)),
                )
            notes.append(Note(kind, measure=str(self.measure), error=error))
        return notes


class ExpectedMetric(ChanceMetric):
    """The expected score of a random text, in place of the score of the candidate.

    Parameters
    ----------
    measure : Metric
        The metric.
    null : str, default "words"
        What a random text is made of, as in `Null`.
    length : {"reference", "candidate"} or int, default "reference"
        The length of a random text in words, as in `Null`.
    draws : int, optional
        How many texts are drawn, as in `Null`. By default, a formula replaces them where one exists.
    per : {"text", "candidate"}, default "text"
        When texts are drawn. "text": once for each text. "candidate": for each candidate, which needs
        `draws`.
    error : float, default 0.002
        The largest standard error of an estimate, as a share of the range of the metric.
    seed : int, default 0
        Seed of the random number generator.

    Notes
    -----
    expected(m) = the mean of m over random texts.

    Source: Feng, *Upper and expected value normalization*, dissertation, 2023, chapters 5.2 and 9.

    Examples
    --------
    >>> from rankgauge.text import expected, rouge1
    >>> expected(rouge1).score("a b d", "a b", source="a b c d")
    0.4375
    """

    name = "expected"
    summary = "The expected score of a text drawn at random from the source in place of the output."
    formula = "expected(m) = the mean of m over random texts"
    examples = ("expected(rouge1)", "expected(rouge2,null=sentences)", "expected(rougeL,draws=1)")

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return self.measure.range

    @property
    def ideal(self) -> float:  # type: ignore[override]
        return self.measure.ideal

    def _form(self, score: Floats, chance: Floats, candidates: Candidates) -> Floats:
        return chance


class NormalizedMetric(ChanceMetric):
    """A metric compared with what chance gets. Higher is better, also where lower is better inside."""

    @classmethod
    def takes(cls, measure: Metric) -> bool:
        return measure.direction != "none"

    direction = "higher"
    range = (-np.inf, np.inf)

    def remarks(self, candidates: Candidates) -> list[Note]:
        notes = super().remarks(candidates)
        level = np.abs(self.measure.expected_each(candidates, self.of).values - self.measure.ideal)
        if (count := int(np.count_nonzero(level <= forms.TOLERANCE))) and self.name != "z":
            kind = "chance equals the best score for {outputs}, which get 0"
            notes.append(Note(kind, measure=str(self.measure), count=count))
        if self.of.constant:
            notes.append(Note(CONSTANT))
        else:
            notes.append(Note(BY_LENGTH if self.length == CANDIDATE else BY_DRAW))
        return notes


class _BoundedMetric(NormalizedMetric):
    """A form that needs a lowest score."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.measure.ideal):
            raise MeasureError(
                f"{self.measure} has no best score, so {self.name} does not exist for it; use "
                f"z({self.measure})"
            )
        if not np.isfinite(self._lowest()):
            raise MeasureError(
                f"{self.measure} has no lowest score, so {self.name} does not exist for it; use "
                f"linear({self.measure}) or z({self.measure})"
            )

    def _lowest(self) -> float:
        """The lowest score, the worst one, by the metric inside."""
        low, high = self.measure.range
        return low if self.measure.direction == "higher" else high


class V1Metric(_BoundedMetric):
    """Upper and expected value (UE) normalization, version 1.

    The score divided by the best score, times its share of the sum of score and expected score. The
    metric needs a best score, no score below 0, and higher scores must be better.

    Parameters
    ----------
    measure : Metric
        The metric.
    null : str, default "words"
        What a random text is made of, as in `Null`.
    length : {"reference", "candidate"} or int, default "reference"
        The length of a random text in words, as in `Null`.
    draws : int, optional
        How many texts are drawn, as in `Null`. By default, a formula replaces them where one exists.
    per : {"text", "candidate"}, default "text"
        When texts are drawn. "text": once for each text. "candidate": for each candidate, which needs
        `draws`.
    error : float, default 0.002
        The largest standard error of an estimate, as a share of the range of the metric.
    seed : int, default 0
        Seed of the random number generator.

    Notes
    -----
    v1(m) = (A/best) · A/(A + chance), where A is the score and chance the expected score.

    Source: Feng, *Upper and expected value normalization*, dissertation, 2023, chapters 5.2 and 9.

    Examples
    --------
    >>> from rankgauge.text import rouge1, v1
    >>> v1(rouge1).score("a b d", "a b", source="a b c d")
    0.5171717171717173
    """

    name = "v1"
    summary = (
        "Upper and expected value (UE) normalization, version 1: the score divided by the "
        "best score, times the ratio of the score to the score plus chance."
    )
    formula = (
        "v1(m) = (A/best) · A/(A + chance), where A is the score and chance its mean "
        "over random texts"
    )
    examples = ("v1(rouge1)", "v1(rougeL,length=candidate)")
    range = (0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measure.direction == "lower" or self.measure.range[0] < 0:
            raise MeasureError(
                "v1 needs a metric for which higher is better and no score is negative, which "
                f"{self.measure} is not; use v2({self.measure}) or linear({self.measure})"
            )

    def _form(self, score: Floats, chance: Floats, candidates: Candidates) -> Floats:
        return forms.v1(score, self._best(score), chance)


class V2Metric(_BoundedMetric):
    """Upper and expected value (UE) normalization, version 2.

    0 is the expected score of a random text, 1 the best score and −1 the lowest score. The metric
    needs both a best and a lowest score.

    Parameters
    ----------
    measure : Metric
        The metric.
    null : str, default "words"
        What a random text is made of, as in `Null`.
    length : {"reference", "candidate"} or int, default "reference"
        The length of a random text in words, as in `Null`.
    draws : int, optional
        How many texts are drawn, as in `Null`. By default, a formula replaces them where one exists.
    per : {"text", "candidate"}, default "text"
        When texts are drawn. "text": once for each text. "candidate": for each candidate, which needs
        `draws`.
    error : float, default 0.002
        The largest standard error of an estimate, as a share of the range of the metric.
    seed : int, default 0
        Seed of the random number generator.

    Notes
    -----
    v2(m) = (A − chance)/(best − chance), or (A − chance)/(chance − lowest) below chance, where A is
    the score and chance the expected score.

    Source: Feng, *Upper and expected value normalization*, dissertation, 2023, chapters 5.2 and 9.

    Examples
    --------
    >>> from rankgauge.text import rouge1, v2
    >>> v2(rouge1).score("a b d", "a b", source="a b c d")
    0.6444444444444445
    """

    name = "v2"
    summary = (
        "Upper and expected value (UE) normalization, version 2: 0 for chance, 1 for the best "
        "score, −1 for the lowest."
    )
    formula = (
        "v2(m) = (A − chance)/(best − chance), or (A − chance)/(chance − lowest) below "
        "chance, where A is the score and chance its mean over random texts"
    )
    examples = ("v2(rouge1)", "v2(rouge2,null=sentences)", "v2(rouge1,draws=1,per=candidate)")
    range = (-1.0, 1.0)

    def _form(self, score: Floats, chance: Floats, candidates: Candidates) -> Floats:
        lowest = self._orient(np.full(len(score), self._lowest()))
        return forms.v2(self._orient(score), self._best(score), self._orient(chance), lowest)


class LinearMetric(NormalizedMetric):
    """The position of a score on a linear scale from the expected score to the best score.

    0 is the expected score of a random text, 1 the best score. Scores below the expected score are
    negative.

    Parameters
    ----------
    measure : Metric
        The metric.
    null : str, default "words"
        What a random text is made of, as in `Null`.
    length : {"reference", "candidate"} or int, default "reference"
        The length of a random text in words, as in `Null`.
    draws : int, optional
        How many texts are drawn, as in `Null`. By default, a formula replaces them where one exists.
    per : {"text", "candidate"}, default "text"
        When texts are drawn. "text": once for each text. "candidate": for each candidate, which needs
        `draws`.
    error : float, default 0.002
        The largest standard error of an estimate, as a share of the range of the metric.
    seed : int, default 0
        Seed of the random number generator.

    Notes
    -----
    linear(m) = (A − chance)/(best − chance), where A is the score and chance the expected score.

    Source: Feng, *Upper and expected value normalization*, dissertation, 2023, chapters 5.2 and 9.

    Examples
    --------
    >>> from rankgauge.text import linear, rouge1
    >>> linear(rouge1).score("a b d", "a b", source="a b c d")
    0.6444444444444445
    """

    name = "linear"
    summary = "A linear scale: 0 for chance, 1 for the best score."
    formula = (
        "linear(m) = (A − chance)/(best − chance), where A is the score and chance its "
        "mean over random texts"
    )
    examples = ("linear(rouge1)", "linear(rouge2,null=sentences)")

    @classmethod
    def takes(cls, measure: Metric) -> bool:
        return super().takes(measure) and bool(np.isfinite(measure.ideal))

    def _form(self, score: Floats, chance: Floats, candidates: Candidates) -> Floats:
        return forms.linear(self._orient(score), self._best(score), self._orient(chance))


class ZMetric(NormalizedMetric):
    """The distance of a score from the expected score, in standard deviations of random texts.

    NaN if all random texts have the same score and the candidate has another one.

    Parameters
    ----------
    measure : Metric
        The metric.
    null : str, default "words"
        What a random text is made of, as in `Null`.
    length : {"reference", "candidate"} or int, default "reference"
        The length of a random text in words, as in `Null`.
    draws : int, optional
        How many texts are drawn, as in `Null`. By default, a formula replaces them where one exists.
    per : {"text", "candidate"}, default "text"
        When texts are drawn. "text": once for each text. "candidate": for each candidate, which needs
        `draws`.
    error : float, default 0.002
        The largest standard error of an estimate, as a share of the range of the metric.
    seed : int, default 0
        Seed of the random number generator.

    Notes
    -----
    z(m) = (A − chance)/sd, where A is the score, and chance and sd are the mean and the standard
    deviation of the scores of random texts.

    Source: Feng, *Upper and expected value normalization*, dissertation, 2023, chapters 5.2 and 9.

    Examples
    --------
    >>> from rankgauge.text import rouge1, z
    >>> z(rouge1).score("a b d", "a b", source="a b c d") > 0
    True
    """

    name = "z"
    summary = "The distance of the score above chance, in standard deviations of random texts."
    formula = (
        "z(m) = (A − chance)/sd, where A is the score, and chance and sd are the mean and the "
        "standard deviation over random texts"
    )
    examples = ("z(rouge1)", "z(rougeL)")
    ideal = np.inf

    def _form(self, score: Floats, chance: Floats, candidates: Candidates) -> Floats:
        spread = self.measure.spread_each(candidates, self.of)
        values = forms.z(self._orient(score), self._orient(chance), spread)
        level = (spread <= forms.TOLERANCE) & (np.abs(score - chance) > forms.TOLERANCE)
        return np.where(level, np.nan, values)

    def remarks(self, candidates: Candidates) -> list[Note]:
        inside, notes = str(self.measure), super().remarks(candidates)
        kind = "the standard deviation is estimated from random texts"
        notes.append(Note(kind, measure=inside, detail=f"at least {SPREAD_DRAWS}"))
        level = np.isnan(self.score_each(candidates)) & ~np.isnan(
            self.measure.expected_each(candidates, self.of).values
        )
        if level.any():
            kind = "all random texts score the same for {outputs}, which are excluded from the mean"
            notes.append(Note(kind, measure=inside, count=int(np.count_nonzero(level))))
        return notes


expected = register(ExpectedMetric)
v1 = register(V1Metric)
v2 = register(V2Metric)
linear = register(LinearMetric)
z = register(ZMetric)

"""The base class of metrics: immutable values that score texts and know their random baseline.

To write one, subclass Metric, say what it is, and give `_score`; `text.metric` makes one of a function.
What chance gets is then estimated from texts drawn at random; a metric with a formula gives `_expected`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import Note
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.orders import Mean
from rankgauge.measures.scored import Scored
from rankgauge.text.data.texts import Candidates, DrawnTexts, Draws, Texts
from rankgauge.text.tokens import candidate_counts, source_words, word_counts

if TYPE_CHECKING:
    from rankgauge.text.chance import Null


ChanceMethod: TypeAlias = Literal["exact", "monte-carlo"]


class ExpectedScore(NamedTuple):
    """What chance gets: the value, its standard error, and how it was computed."""

    value: float
    error: float
    method: ChanceMethod


def _single_candidate(candidate: str, references: str | Sequence[str], source: str) -> Candidates:
    return Texts([source], [references], {"": [candidate]}).candidates()


class Metric(Scored):
    """Base class of metrics: one score per candidate text, from its references and its source.

    A metric is an immutable value. Call it to change its parameters: `rouge1(stem=True)`. `str`
    gives the form that `parse_metric` reads.

    To write a metric, subclass `Metric`, declare what it is in class attributes, make its parameters
    fields with `parameter`, and implement `_score`. To make a metric of a function, use `metric`.

    Notes
    -----
    By default, the expected score of a random text is estimated from texts drawn from the source.
    A metric with a closed formula implements `_expected` instead.

    Examples
    --------
    >>> from rankgauge.text import parse_metric
    >>> rouge1 = parse_metric("rouge1")
    >>> rouge1.score("the cat sat", "a cat sat")
    0.6666666666666666
    >>> rouge1(part="recall", stem=True)
    rouge1(part='recall', stem=True)
    """

    ideal: ClassVar[float] = 1.0
    """The best score, which a text identical to all its references gets."""
    source_needed: ClassVar[bool] = False
    """Whether a text without a source is an error."""
    nulls: ClassVar[Mapping[str, bool]] = {}
    """Nulls that this metric draws itself, and whether each is random; if not, it is drawn once."""
    in_context: ClassVar[bool] = False
    """Whether drawn units keep their context in the source and therefore do not form a text."""
    rounding: ClassVar[float] = 0.0
    """How much a score may change through rounding when other texts are scored with it."""

    @property
    def alone(self) -> bool:
        """Whether the score of an output depends only on its own text, not on the other texts."""
        return True

    def __matmul__(self, cutoff: Any) -> Self:
        raise MeasureError(f"{self} takes no cutoff; it scores texts")

    def __call__(self, /, *values: Any, **parameters: Any) -> Self:
        """The same metric with these parameters."""
        return dataclasses.replace(self, **self._arguments_by_name(values, parameters))

    def __str__(self) -> str:
        return self._format(self._format_parameters(python=False), ",")

    def __repr__(self) -> str:
        return self._format(self._format_parameters(python=True), ", ")

    def specification(self) -> str:
        """The text form with every parameter written out, as in signatures."""
        return self._format(self._format_parameters(python=False, every=True), ",")

    def _format(self, arguments: list[str], comma: str) -> str:
        return self.name + (f"({comma.join(arguments)})" if arguments else "")

    def _score(self, candidates: Candidates) -> Floats:
        """The score of each candidate."""
        raise NotImplementedError

    def score_each(self, candidates: Candidates) -> Floats:
        """The score of each candidate, computed once for these candidates."""
        return candidates.once(self, lambda: self._compute_scores(candidates))

    def _compute_scores(self, candidates: Candidates) -> Floats:
        if self.source_needed:
            texts = candidates.texts
            for text in np.unique(candidates.of).tolist():
                if not texts.sources[text].strip():
                    raise RankgaugeError(
                        f"{self} needs the source of text {texts.ids[text]!r}, which has none; give one"
                    )
        scores = np.asarray(self._score(candidates), dtype=np.float64)
        if scores.shape != (len(candidates),):
            raise MeasureError(
                f"{self}: _score returned shape {scores.shape}, expected one number per text"
            )
        return scores

    @staticmethod
    def split(text: str) -> list[str]:
        """The words of a text as random texts draw them: whatever stands between spaces."""
        return text.split()

    def lengths(self, texts: Texts) -> Ints:
        """The rounded mean number of words in the references of each text."""
        counts = [word_counts(references, self.split) for references in texts.references]
        return np.array([max(1, round(float(each.mean()))) for each in counts], dtype=np.int64)

    # A metric whose units are other than words, such as tokens, says how many units there are.

    def _reference_units(self, texts: Texts) -> Ints:
        """How many units the reference of each text has, on average, and at least one."""
        return self.lengths(texts)

    def _candidate_units(self, candidates: Candidates) -> Ints:
        """How many units each candidate has."""
        return candidate_counts(candidates, self.split)

    def _source_units(self, texts: Texts, text: int) -> int:
        """How many units can be drawn from the source of a text."""
        return len(source_words(texts, text, self.split))

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        """The score of each text that was drawn from a source word by word.

        A metric of words need not make texts of them.
        """
        return self.score_each(
            drawn.candidates(lambda text: source_words(drawn.texts, text, self.split))
        )

    def _score_null(self, null: str, draws: Draws) -> Floats:
        """The scores of what the null of this name, one of `nulls`, draws."""
        raise NotImplementedError

    def _expected(self, texts: Texts, text: Ints, length: Ints) -> Floats | None:
        """Return the expected score of units drawn from the source of a text, by a formula.

        For each task, `text` is the number of a text, and `length` is how many units are drawn. The
        score is NaN for a text without units in its source, and for a text that the formula does
        not cover. The result is None if there is no formula at all.
        """
        return None

    def expected_each(self, candidates: Candidates, null: Null) -> Mean:
        """Return the expected score of a random text for each candidate, with its standard error.

        The result also has the number of texts drawn per candidate, which is 0 if the value is
        exact.
        """
        return candidates.once((self, null), lambda: null.mean_of(self, candidates))

    def spread_each(self, candidates: Candidates, null: Null) -> Floats:
        """Return the standard deviation of the score of a random text in place of each candidate.

        It is estimated from texts drawn at random.
        """
        return candidates.once((self, null, "spread"), lambda: null.spread_of(self, candidates))

    def score(self, candidate: str, references: str | Sequence[str], source: str = "") -> float:
        """The score of one text.

        Parameters
        ----------
        candidate : str
            The text to score.
        references : str or sequence of str
            The text that a person wrote, or several such texts.
        source : str, optional
            The text from which the candidate was written. Some metrics need it.

        Returns
        -------
        float
            The score.

        Examples
        --------
        >>> from rankgauge.text import rouge1
        >>> rouge1.score("the cat sat", "a cat sat")
        0.6666666666666666
        """
        return float(self.score_each(_single_candidate(candidate, references, source))[0])

    def expected(
        self,
        references: str | Sequence[str],
        source: str,
        candidate: str = "",
        null: Null | None = None,
    ) -> ExpectedScore:
        """The score that a random text is expected to get in place of a candidate.

        Parameters
        ----------
        references : str or sequence of str
            The text that a person wrote, or several such texts.
        source : str
            The text from which random texts are drawn.
        candidate : str, optional
            The candidate. Only its length matters, and only if `null` asks for that length.
        null : Null, optional
            How random texts are drawn. By default they are words of the source, as many as the
            reference has.

        Returns
        -------
        ExpectedScore
            The value, its standard error, and "exact" or "monte-carlo".

        Examples
        --------
        >>> from rankgauge.text import Null, rouge1
        >>> rouge1.expected("a b b d", "a a b c", null=Null(length=3))
        ExpectedScore(value=0.45982142857142855, error=0.0, method='exact')
        """
        from rankgauge.text.chance import Null

        mean = self.expected_each(_single_candidate(candidate, references, source), null or Null())
        method: ChanceMethod = "monte-carlo" if mean.samples[0] else "exact"
        return ExpectedScore(float(mean.values[0]), float(mean.errors[0]), method)

    def remarks(self, candidates: Candidates) -> list[Note]:
        """Notes on the scores of these candidates."""
        return []

    def chance_remarks(self, candidates: Candidates, null: Null) -> list[Note]:
        """Notes on the expected score of random texts in place of these candidates."""
        return []

    @classmethod
    def expect(cls, candidates: Candidates, metrics: Sequence[Metric]) -> None:
        """Receive all metrics of this family that will score these candidates, before they do.

        This allows them to share work.
        """

"""How often metrics prefer the output that people prefer, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value
from rankgauge.core.notes import WARNING, Note, count_phrase, note_texts
from rankgauge.core.policies import CORRELATION_SAMPLES, LEVEL, LEVELS, SEED
from rankgauge.core.records import Record
from rankgauge.core.resampling import SamplingOptions
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.measures.around import Aggregate
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores
from rankgauge.text.human.pairwise import PairwisePreferences
from rankgauge.text.human.preferences import (
    BY_VOTES,
    Preferences,
    draw_win_loss_counts,
    judged_pairs,
    win_lose_tie,
    win_share,
    win_share_interval,
)
from rankgauge.text.human.results import interval_note
from rankgauge.text.normalization import NormalizedMetric

COLUMNS = ("metric", "pairs", "agree", "oppose", "tied", "agreement", "low", "high")
DISAGREEMENT_COLUMNS = ("disagreements", "win", "lose", "tie", "win_share", "win_low", "win_high")


class PairAgreement(Result, Record):
    """How often each metric prefers the output that people prefer: the result of `pair_agreement`.

    Attributes
    ----------
    metrics : tuple of Scored
        The metrics.
    undecided : int
        The number of judged pairs that are ties. They are excluded from all counts.
    agree, oppose, tied : ndarray of int
        For each metric, the number of pairs where it gives the higher score to the output that
        people prefer, to the other output, or to neither.
    drawn : ndarray
        Sample × 2 × metric: `agree` and `oppose` in bootstrap samples of the texts.
    against : dict
        For each normalized form of another metric: whom people side with where the two disagree,
        as `Preferences`.
    level : float
        The level of the intervals.
    notes : tuple of Note
        Notes on the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge import Scores
    >>> from rankgauge.text import PairwisePreferences, pair_agreement
    >>> scores = Scores.from_matrix([[0.4, 0.2], [0.3, 0.3]], runs=["x", "y"], measure="metric")
    >>> votes = np.array([[0, 0], [0, 0], [1, 1]])
    >>> one, two = np.zeros(2, dtype=int), np.ones(2, dtype=int)
    >>> people = PairwisePreferences(("x", "y"), ("1", "2"), one, two, np.arange(2), votes)
    >>> result = pair_agreement(scores, people)
    >>> result.agree.tolist(), result.oppose.tolist(), result.agreement.tolist()
    ([1], [1], [0.5])
    """

    metrics: tuple[Scored | Aggregate, ...]
    undecided: int
    agree: Ints
    oppose: Ints
    tied: Ints
    drawn: Floats
    against: dict[str, Preferences]
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def agreement(self) -> Floats:
        """For each metric, the share of `agree` in `agree` plus `oppose`; NaN if both are 0."""
        return win_share(self.agree, self.oppose)

    def table(self) -> Table:
        """One row per metric, with intervals.

        For a normalized form, the row also has the pairs where it and its metric disagree, and
        whom people side with there.
        """
        low, high = win_share_interval(self.drawn, self.level)
        rows: list[tuple[Cell, ...]] = []
        for m, metric in enumerate(self.metrics):
            counts = [int(each[m]) for each in (self.agree, self.oppose, self.tied)]
            shares = [float(each[m]) for each in (self.agreement, low, high)]
            form = self.against.get(str(metric))
            own: list[Cell] = [None] * len(DISAGREEMENT_COLUMNS)
            if form is not None:
                cases = (form.disagreements, form.win[0], form.lose[0], form.tie[0])
                ends = (form.win_share[0], *(end[0] for end in form.interval))
                own = [*map(int, cases), *map(float, ends)]
            rows.append((str(metric), sum(counts), *counts, *shares, *own))
        width = len(COLUMNS) + (len(DISAGREEMENT_COLUMNS) if self.against else 0)
        kept = tuple(row[:width] for row in rows)
        return Table(
            (*COLUMNS, *DISAGREEMENT_COLUMNS)[:width], kept, note_texts(self.notes, gather=True)
        )

    def _title(self) -> str:
        return f"PairAgreement: {count_phrase(len(self.metrics), 'metric')}"


def pair_agreement(
    scores: Scores,
    preferences: PairwisePreferences,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    level: float = LEVEL,
    samples: int = CORRELATION_SAMPLES,
    seed: int = SEED,
) -> PairAgreement:
    """Compute how often each metric prefers the output that people prefer.

    Parameters
    ----------
    scores : Scores
        The scores, for one or more metrics.
    preferences : PairwisePreferences
        The preferences; see `read_preferences`.
    pairs : sequence of tuple of str, optional
        The pairs of systems to consider. By default, all pairs that people judged.
    level : float, default 0.95
        Confidence level of the intervals.
    samples : int, default 1000
        The number of bootstrap samples of the texts for the intervals.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    PairAgreement
        The counts of pairs, with intervals.

    Raises
    ------
    RankgaugeError
        If none of the pairs judged by people has scores.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge import Scores
    >>> from rankgauge.text import PairwisePreferences, pair_agreement
    >>> scores = Scores.from_matrix([[0.4, 0.2], [0.3, 0.3]], runs=["x", "y"], measure="metric")
    >>> votes = np.array([[0, 0], [0, 0], [1, 1]])
    >>> one, two = np.zeros(2, dtype=int), np.ones(2, dtype=int)
    >>> people = PairwisePreferences(("x", "y"), ("1", "2"), one, two, np.arange(2), votes)
    >>> pair_agreement(scores, people).agreement.tolist()
    [0.5]
    """
    check_value("level", level, LEVELS)
    drawing = SamplingOptions.check(samples, seed)
    compared = judged_pairs(scores, preferences, pairs)
    decided = compared.preferred != 0
    orders = np.array([compared.orders(m)[decided] for m in range(len(compared.metrics))])
    agreed = orders * compared.preferred[decided]
    against = {
        str(metric): win_lose_tie(
            *(scores, preferences, str(metric.measure), str(metric)),
            pairs=pairs, level=level, samples=samples, seed=seed,
        )
        for metric in compared.metrics
        if isinstance(metric, NormalizedMetric) and metric.measure in compared.metrics
    }  # fmt: skip
    notes = [
        *compared.notes,
        Note(BY_VOTES),
        Note(
            "pairs of outputs where people prefer one: the metric prefers the same one, the "
            "other one, or neither",
            column="agree, oppose, tied",
        ),
        Note("agree / (agree + oppose)", column="agreement"),
        interval_note(level, samples, "share before them"),
    ]
    if undecided := int(np.count_nonzero(~decided)):
        notes.append(Note("tied pairs are excluded: {count}", count=undecided))
    if not decided.any():
        notes.append(Note("people prefer neither output in any pair", severity=WARNING))
    if against:
        text = (
            "pairs where a form and its metric disagree: people side with the form, with the "
            "metric, or with neither"
        )
        notes.append(Note(text, column="win, lose, tie"))
    for form, preferences_of_form in against.items():
        if not preferences_of_form.disagreements:
            why = next(note for note in preferences_of_form.notes if note.column is None)
            notes.append(Note(why.kind, detail=why.detail, measure=form))
    text_of = np.asarray(compared.cases[2])[decided]
    return PairAgreement(
        compared.metrics,
        undecided,
        agree=np.count_nonzero(agreed == 1, axis=1),
        oppose=np.count_nonzero(agreed == -1, axis=1),
        tied=np.count_nonzero(agreed == 0, axis=1),
        drawn=draw_win_loss_counts(agreed, text_of, compared.texts, drawing),
        against=against,
        level=level,
        notes=tuple(notes),
    )

"""condensed: a measure of the judged documents alone, as if nobody had retrieved the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.notes import Note
from rankgauge.measures.answers import cached_scores
from rankgauge.measures.around import JudgedInvariantWrapper
from rankgauge.measures.base import Answer, Measure
from rankgauge.measures.orders import Mean
from rankgauge.measures.registry import register
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

if TYPE_CHECKING:
    from rankgauge.distance.algorithms.lists import GreatestDifferences, Lists


class CondensedMeasure(JudgedInvariantWrapper):
    """The score of a ranking without its unjudged documents.

    Unjudged documents are removed first, including documents that were pooled but not judged. The
    cutoff then counts the documents that are left.

    Parameters
    ----------
    measure : Measure
        The measure that scores what is left.
    cutoff : None
        Not used: the cutoff goes to the measure inside. `condensed(AP) @ 10` is
        `condensed(AP@10)`.

    Notes
    -----
    Sakai 2007, Alternatives to bpref. It is judged_only=True in ir_measures, and -J for all
    measures in trec_eval.

    Examples
    --------
    >>> from rankgauge import P
    >>> (P @ 2).score([-1, 1, 1]), condensed(P @ 2).score([-1, 1, 1])
    (0.5, 1.0)
    """

    name = "condensed"
    summary = "A measure applied to the ranking after its unjudged documents are removed."
    formula = "condensed(m) = m of the judged documents of the ranking, in their order"
    source = (
        "Sakai 2007, Alternatives to bpref; judged_only=True in ir_measures, -J for all measures in "
        "trec_eval"
    )
    examples = ("condensed(nDCG@10)", "condensed(AP)", "condensed(P(rel=2)@5)")

    def __matmul__(self, cutoff: Any) -> Self:
        return type(self)(self.measure @ cutoff)

    def __call__(self, /, *values: Any, **parameters: Any) -> Measure:  # type: ignore[override]
        """The same with these parameters of the measure inside."""
        return condense_if(parameters.pop("judged_only", True), self.measure(*values, **parameters))

    @property
    def averages_defined(self) -> bool:  # type: ignore[override]
        return self.measure.averages_defined

    def knows(self, formula: str) -> bool:
        return self.measure.knows(formula)

    def answers(self) -> dict[str, Answer]:
        return self.measure.answers()

    # Lists: asked about without their unjudged documents.

    def score_each(self, rankings: Rankings) -> Floats:
        return cached_scores(rankings.once(_condense), self.complete().measure).copy()

    def tied_each(self, tied: TiedRankings) -> Mean:
        return self.measure.tied_each(tied.condensed())

    def _tied(self, tied: TiedRankings) -> Floats | None:
        return self.measure._tied(tied.condensed())

    def extreme_each(self, tied: TiedRankings, *, best: bool) -> Floats:
        return self.measure.extreme_each(tied.condensed(), best=best)

    def tied_variance_each(self, tied: TiedRankings) -> Floats:
        return self.measure.tied_variance_each(tied.condensed())

    def _variance(self, tied: TiedRankings) -> Floats:
        return self.measure._variance(tied.condensed())

    def independent_each(self, tied: TiedRankings, capped: bool = False) -> Floats:
        return self.measure.independent_each(tied.condensed(), capped)

    def _full(self, tied: TiedRankings) -> Floats:
        return self.measure._full(tied.condensed())

    @property
    def knows_flips(self) -> bool:
        return self.measure.knows("_contribution")

    def _removable_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < 0)

    def _contribution(self, places: Places) -> Floats:
        judged = places.of(places.kinds >= 0)
        counts = (places.label >= 0) & (judged.rank <= (self.measure.depth or judged.rank))
        return np.where(counts, self.measure._contribution(judged), 0.0)

    def list_remarks(self, rankings: Rankings) -> list[Note]:
        return self.measure.list_remarks(rankings.once(_condense))

    # Judged documents, and documents that all get labels.

    def variance_each(self, judged: JudgedLabels) -> Floats:
        return self.measure.variance_each(judged)

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        return self.measure.query_remarks(judged)

    def distance_each(self, lists: Lists, first: Ints, second: Ints) -> GreatestDifferences:
        return self.measure.distance_each(lists, first, second)


def condense_if(judged_only: Any, measure: Measure) -> Measure:
    """The measure, condensed where `judged_only` is true, which may be a word."""
    from rankgauge.measures.names import parse_bool

    return CondensedMeasure(measure) if parse_bool(judged_only) else measure


def _condense(rankings: Rankings) -> Rankings:
    """The lists without unjudged documents.

    Lists without unjudged documents are returned as they are, with everything that was computed for
    them.
    """
    return rankings.condensed() if (rankings.labels < 0).any() else rankings


condensed = register(CondensedMeasure)

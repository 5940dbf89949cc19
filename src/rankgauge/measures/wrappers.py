"""Measures made of another measure: lower, upper, ideal, worst, expected and prefix_mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import Note
from rankgauge.errors import MeasureError
from rankgauge.measures.answers import JUDGED, cached_scores
from rankgauge.measures.around import DelegatingWrapper, JudgedInvariantWrapper
from rankgauge.measures.base import Answer, Measure
from rankgauge.measures.chance import ChanceWrapper, IdealWrapper, OrderBasedWrapper
from rankgauge.measures.formulas import harmonic_between
from rankgauge.measures.labeling import negative_grade_notes
from rankgauge.measures.orders import Mean
from rankgauge.measures.registry import register
from rankgauge.rankings.flips import Flips
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class _BoundWrapper(JudgedInvariantWrapper):
    """One end of a measure's bounds."""

    def tied_variance_each(self, tied: TiedRankings) -> Floats:
        if _all_judged(tied):
            return self.measure.tied_variance_each(tied)
        return super().tied_variance_each(tied)

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        if _all_judged(tied):
            return self.measure.extreme_each(tied, best=best)
        return self._extreme_by_enumeration(tied, best=best)

    def answers(self) -> dict[str, Answer]:
        asked = ("ideal", "worst", "variance")
        return super().answers() | {question: self._hardest_answer(question) for question in asked}

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        return [*super().query_remarks(judged), *negative_grade_notes(int(judged.pooled.sum()))]


def _all_judged(tied: TiedRankings) -> bool:
    """Whether every document of the lists is judged."""
    return bool((tied.rankings.labels >= 0).all()) and not tied.unlisted.any()


class Lower(_BoundWrapper):
    """The lowest score over all possible labels of the unjudged documents in the ranking.

    Documents that the ranking lacks keep their labels, and are not relevant if unjudged. So a shorter
    ranking has narrower bounds. Cut rankings to the same depth before you compare their bounds.

    Parameters
    ----------
    measure : Measure
        The measure whose score is bounded.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `lower(nDCG@10)`.

    Examples
    --------
    >>> from rankgauge import P
    >>> lower(P @ 2).score([-1, 1])
    0.5
    """

    name = "lower"
    summary = (
        "The lowest score over all possible labels of the unjudged documents in the run. Documents "
        "that the run lacks keep their labels, so cut runs to the same depth to compare bounds."
    )
    formula = "lower(m) = the minimum of m over all labels of the unjudged documents in the run"
    examples = ("lower(RBP)", "lower(nDCG@10)")

    def score_each(self, rankings: Rankings) -> Floats:
        return np.minimum(
            self.measure.bounds_each(rankings)[0], cached_scores(rankings, self.measure)
        )


class Upper(_BoundWrapper):
    """The highest score over all possible labels of the unjudged documents in the ranking.

    Documents that the ranking lacks keep their labels, and are not relevant if unjudged. So a shorter
    ranking has narrower bounds. Cut rankings to the same depth before you compare their bounds.

    Parameters
    ----------
    measure : Measure
        The measure whose score is bounded.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `upper(nDCG@10)`.

    Examples
    --------
    >>> from rankgauge import P
    >>> upper(P @ 2).score([-1, 1])
    1.0
    """

    name = "upper"
    ideal_is_best = False  # what is unjudged may be more than all that is judged
    summary = (
        "The highest score over all possible labels of the unjudged documents in the run. Documents "
        "that the run lacks keep their labels, so cut runs to the same depth to compare bounds."
    )
    formula = "upper(m) = the maximum of m over all labels of the unjudged documents in the run"
    examples = ("upper(RBP)", "upper(nDCG@10)")

    def score_each(self, rankings: Rankings) -> Floats:
        return np.maximum(
            self.measure.bounds_each(rankings)[1], cached_scores(rankings, self.measure)
        )


class _OrderInvariantWrapper(OrderBasedWrapper):
    """A number that no order of the judged documents changes."""

    ideal_is_best = True
    question: ClassVar[str]
    """What it asks the measure inside."""

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        return self._hardest_answer(self.question)

    def answers(self) -> dict[str, Answer]:
        how = self.expectation
        asked = ("score", "ideal", "worst", "expected", "variance")
        return super().answers() | dict.fromkeys(asked, how)

    def _value(self, rankings: Rankings) -> Floats:
        raise NotImplementedError

    def score_each(self, rankings: Rankings) -> Floats:
        return self.complete()._value(rankings)

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        return self.score_each(judged.best_first)

    def worst_each(self, judged: JudgedLabels) -> Floats:
        return self.score_each(judged.best_first)

    def _flip_changes(self, flips: Flips) -> Floats:
        return np.zeros(len(flips))

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        return self.score_each(tied.rankings)

    def expected_each(self, judged: JudgedLabels) -> Floats:
        return self.score_each(judged.best_first)

    def _variance(self, tied: TiedRankings) -> Floats:
        value = self.score_each(tied.rankings)
        with np.errstate(invalid="ignore"):
            return value - value  # 0, or undefined as the value is

    def _tied(self, tied: TiedRankings) -> Floats | None:
        return self.score_each(tied.rankings)


class Ideal(IdealWrapper, _OrderInvariantWrapper):
    """The best score that any order of the judged documents gets.

    Parameters
    ----------
    measure : Measure
        The measure that scores the orders.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `ideal(DCG@5)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    iub : {"achievable", "k"}, default "achievable"
        How the best score is computed. "achievable": the score of the best order; "k": the score if
        k documents were relevant, from Feng and Karmaker 2023, only for sums of precisions such as
        AP and SP.

    Examples
    --------
    >>> from rankgauge import P
    >>> ideal(P @ 4).score([0, 1], judged=[1, 0, 1])
    0.5
    """

    name = "ideal"
    question = "ideal"
    summary = "The best score that any order of the judged documents can achieve."
    formula = "ideal(m) = the best m over all orders of the judged documents"
    examples = ("ideal(DCG@5)", "ideal(P@10)", "ideal(SP@10,iub=k)")

    def _value(self, rankings: Rankings) -> Floats:
        return self._best(self._reference_scores(rankings))


class Worst(_OrderInvariantWrapper):
    """The worst score that any order of the judged documents gets.

    Parameters
    ----------
    measure : Measure
        The measure that scores the orders.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `worst(DCG@5)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.

    Examples
    --------
    >>> from rankgauge import RR
    >>> worst(RR).score([1, 0], judged=[1, 0, 0, 0])
    0.25
    """

    name = "worst"
    question = "worst"
    summary = "The worst score that any order of the judged documents can receive."
    formula = "worst(m) = the worst m over all orders of the judged documents"
    examples = ("worst(DCG@5)", "worst(AP)")

    def _value(self, rankings: Rankings) -> Floats:
        return self._reference_scores(rankings).worst(self.measure)


class Expected(ChanceWrapper, _OrderInvariantWrapper):
    """The mean score of a random ranking of the judged documents.

    It is the mean over all orders of these documents.

    Parameters
    ----------
    measure : Measure
        The measure that scores the orders.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `expected(nDCG@10)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    reb : {"exact", "independent", "capped"}, default "exact"
        How the mean score of a random ranking is computed. "exact": over all orders; "independent":
        by the simpler formula of Feng and Karmaker 2023, as if ranks were independent; "capped": by
        the same formula, over no more ranks than there are documents.

    Examples
    --------
    >>> from rankgauge import P
    >>> expected(P @ 2).score([1, 0], judged=[1, 0, 0, 0])
    0.25
    """

    name = "expected"
    question = "expected"
    summary = (
        "The mean score over all orders of the judged documents, which is the expected score of a "
        "random ranking."
    )
    formula = "expected(m) = the mean of m over all orders of the judged documents"
    examples = ("expected(nDCG@10)", "expected(AP)", "expected(AP@10,null=run)")

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        if self.null != JUDGED and not self.measure.knows("_tied"):
            return "enumerated"
        return super().expectation

    def _value(self, rankings: Rankings) -> Floats:
        return self._chance(self._reference_scores(rankings)).values

    def random_each(self, judged: JudgedLabels) -> Mean:
        return self._chance(self._reference_scores(judged.best_first))


MOST_CUTOFFS = 1000
"""Over how many cutoffs a mean is taken if each of them has to be computed."""


class PrefixMean(DelegatingWrapper):
    """The mean of a measure with a cutoff k over the cutoffs 1 to k.

        prefix_mean(m@k) = (1/k) · Σ_{i≤k} m@i

    Parameters
    ----------
    measure : Measure
        The measure, which must have a cutoff.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `prefix_mean(nDCG@10)`.

    Notes
    -----
    The best and the worst order are the same at every cutoff. If the measure is monotone, so are
    the best and the worst labels. Hence the best score, the worst score and the bounds are means
    over the cutoffs too.

    Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.

    Examples
    --------
    >>> from rankgauge import P
    >>> prefix_mean(P @ 2).score([1, 0])
    0.75
    """

    name = "prefix_mean"
    summary = "The mean of a measure with cutoff k over all cutoffs from 1 to k."
    formula = "prefix_mean(m@k) = (1/k) · Σ_{i≤k} m@i"
    source = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques"
    examples = ("prefix_mean(nDCG@10)", "prefix_mean(P@5)")

    def complete(self) -> Self:
        cutoff = self.measure.cutoff
        if not isinstance(cutoff, int):
            inside = f"write, for example, {self.name}(nDCG@10)"
            raise MeasureError(f"{self} needs a cutoff at the measure inside; {inside}")
        if cutoff > MOST_CUTOFFS and self.measure.deeper == "counts":
            raise MeasureError(
                f"{self}: a mean over {cutoff:,} cutoffs of {self.measure.name} takes too long; "
                f"expected a cutoff of at most {MOST_CUTOFFS:,}"
            )
        return super().complete()

    @property
    def depth(self) -> int | None:
        return self.measure.depth

    def _mean(self, lists: Rankings | TiedRankings, answer: Callable[[Measure], Floats]) -> Floats:
        """The mean of an answer about these lists over the cutoffs.

        Cut-offs that are deeper than the lists and the judged documents are not tried one by one: the
        measure declares by `deeper` what they do.
        """
        last = self.complete().measure.cutoff or 1
        deepest = last
        if self.measure.deeper != "counts":
            judged = (lists.rankings if isinstance(lists, TiedRankings) else lists).judged
            documents = lists.lengths.max(initial=0) + judged.sizes.max(initial=0)
            deepest = min(last, int(documents) + 1)
        total = np.zeros(len(lists))
        for cutoff in range(1, deepest + 1):
            score = answer(self.measure @ cutoff)
            total = total + score
        if self.measure.deeper == "same":
            total = total + score * float(last - deepest)
        elif deepest < last:
            total = total + score * deepest * harmonic_between(
                np.array([deepest]), np.array([last])
            )
        return total / last

    def score_each(self, rankings: Rankings) -> Floats:
        return self._mean(rankings, lambda measure: measure.score_each(rankings))

    def _tied(self, tied: TiedRankings) -> Floats | None:
        if not self.measure.knows("_tied") or self.measure._tied(tied) is None:
            return None
        return self._mean(tied, lambda measure: np.asarray(measure._tied(tied)))

    def random_each(self, judged: JudgedLabels) -> Mean:
        """The mean of the expected scores where they are exact; else from orders of its own.

        Estimates at several cutoffs depend on each other, so their errors would not add up.
        """
        if self.expectation != "exact":
            return super().random_each(judged)
        return Mean.exact(
            self._mean(judged.best_first, lambda measure: measure.expected_each(judged))
        )

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        if not self.swap_monotone:
            return super()._extreme(tied, best=best)
        return self._mean(tied, lambda measure: measure.extreme_each(tied, best=best))

    @property
    def bounding(self) -> Answer:
        if self.measure.bounding == "no" or self.measure.monotone:
            return self.measure.bounding
        return "enumerated"

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        if not self.measure.monotone:
            return super().bounds_each(rankings)
        return (
            self._mean(rankings, lambda measure: measure.bounds_each(rankings)[0]),
            self._mean(rankings, lambda measure: measure.bounds_each(rankings)[1]),
        )


lower = register(Lower)
upper = register(Upper)
ideal = register(Ideal)
worst = register(Worst)
expected = register(Expected)
prefix_mean = register(PrefixMean)

"""Scores normalized by what a random ranking gets, and by the best: v1, v2, linear and z; minmax.

A is the score. best and worst are the best and the worst score of any order of some documents, by
default the judged ones. chance is the mean score of their orders: what a random ranking gets.

With null=judged, pool or collection, best and chance are the same for all rankings of a query. Then no
form puts two rankings of a query in another order. With null=run each ranking has a best and a chance of
its own, so a form can put two rankings of a query in the opposite order.

Where nothing is relevant, or the best is no better than chance (for minmax: than the worst), there is
nothing to normalize by, and the score is 0. One exception: v2 is below 0 for a ranking that is worse
than chance because it lacks documents.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.parameters import parameter
from rankgauge.errors import MeasureError
from rankgauge.measures import forms
from rankgauge.measures.answers import INDEPENDENT, RUN, RankingReferenceScores, cached_scores
from rankgauge.measures.base import Answer, Measure
from rankgauge.measures.chance import ChanceWrapper, IdealWrapper, OrderBasedWrapper
from rankgauge.measures.forms import TOLERANCE
from rankgauge.measures.orders import Mean
from rankgauge.measures.registry import register
from rankgauge.measures.scored import Direction
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class NormalizedMeasure(OrderBasedWrapper):
    """A measure compared with the scores of orders of documents.

    Higher is better, even where lower is better by the measure inside.
    """

    asks: ClassVar[tuple[str, ...]]
    """What the form asks the measure inside, beside its score."""

    empty: str = parameter(
        Choice(("zero", "skip", "nan")),
        "how to treat queries without relevant documents. zero: they score 0; skip: the mean "
        "excludes them; nan: the mean is undefined",
        default="zero",
    )

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        return measure.direction != "none"

    @property
    def direction(self) -> Direction:  # type: ignore[override]
        return "higher"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return -np.inf, np.inf

    @property
    def depth(self) -> int | None:
        return None if self.null == RUN else self.measure.depth

    @property
    def averages_defined(self) -> bool:  # type: ignore[override]
        return self.empty != "nan"

    def _form(self, scores: Floats, orders: RankingReferenceScores) -> Floats:
        """The normalized form of the scores of some lists, given what orders of documents get."""
        raise NotImplementedError

    def _normalize(self, scores: Floats, lists: Rankings) -> Floats:
        with np.errstate(invalid="ignore"):
            values = self._form(scores, self._reference_scores(lists))
        nothing = self.nothing_relevant_each(lists.judged)[lists.query]
        return np.where(nothing, 0.0 if self.empty == "zero" else np.nan, values)

    @property
    def basis(self) -> Measure:
        return self if self.null == RUN else self.measure

    def from_basis(self, scores: Floats, judged: JudgedLabels, query: Ints | None = None) -> Floats:
        if query is None:
            return self._normalize(scores, judged.best_first)
        nothing = np.zeros(0, dtype=np.int32)
        lists = Rankings(nothing, np.zeros(len(query) + 1, dtype=np.int64), query, judged)
        return self._normalize(scores, lists)

    def score_each(self, rankings: Rankings) -> Floats:
        return self._normalize(cached_scores(rankings, self.complete().measure), rankings)

    # No form changes the order of scores that share the same best and chance: all but null=run.

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        return self._normalize(self.complete().measure.ideal_each(judged), judged.best_first)

    def worst_each(self, judged: JudgedLabels) -> Floats:
        return self._normalize(self.complete().measure.worst_each(judged), judged.best_first)

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        return self._normalize(self.measure.extreme_each(tied, best=best), tied.rankings)

    def answers(self) -> dict[str, Answer]:
        return super().answers() | {
            "score": self._hardest_answer(*self.asks),
            "ideal": self._hardest_answer("ideal", *self.asks),
            "worst": self._hardest_answer("worst", *self.asks),
        }

    def _orient(self, values: Floats) -> Floats:
        """The values on a scale on which higher is better."""
        return values if self.measure.direction == "higher" else -values

    def _remarks(self, rankings: Rankings) -> list[Note]:
        """How many lists are degenerate, and in what way."""
        orders = self._reference_scores(rankings)
        sizes, relevant = orders.sizes(), orders.relevant(self.measure.relevant_from)
        nothing = self.nothing_relevant_each(rankings.judged)[rankings.query]
        fate = {"zero": "scored 0", "skip": "excluded from the mean", "nan": "undefined"}[
            self.empty
        ]
        cases = {
            f"no relevant documents ({fate})": nothing,
            "all documents relevant": (relevant == sizes) & (sizes > 0),
            "a single document": sizes == 1,
        }
        depth = self.measure.depth
        if depth is not None:
            cases[f"fewer than {depth} documents"] = sizes < depth
        cases |= self._find_degenerate(orders, ~nothing)
        counts = {what: int(np.count_nonzero(which)) for what, which in cases.items()}
        return [Note(f"{what} on {{queries}}", count=n) for what, n in counts.items() if n]

    def _find_degenerate(
        self, orders: RankingReferenceScores, known: NDArray[np.bool_]
    ) -> dict[str, NDArray[np.bool_]]:
        """Which lists leave nothing to normalize by, of those `known` to have something relevant."""
        best, worst = orders.ideal(self.measure), orders.worst(self.measure)
        return {"the worst order as good as the best": _nearly_equal(best, worst) & known}


class ChanceNormalizedMeasure(ChanceWrapper, NormalizedMeasure):
    """A measure compared with the mean score of a random ranking."""

    source = (
        "Feng and Karmaker 2023, Joint upper & expected value normalization for evaluation of retrieval "
        "systems: a case study with learning-to-rank methods"
    )


class IdealNormalizedMeasure(IdealWrapper, ChanceNormalizedMeasure):
    """A measure compared with the mean score of a random ranking, and with the best score."""

    asks: ClassVar[tuple[str, ...]] = ("ideal", "expected")

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        return "enumerated"

    def _find_degenerate(
        self, orders: RankingReferenceScores, known: NDArray[np.bool_]
    ) -> dict[str, NDArray[np.bool_]]:
        best, chance = self._best(orders), self._chance(orders).values
        cases = {"chance as good as the best score": _nearly_equal(best, chance) & known}
        if self.measure.range[0] >= 0:
            cases["chance 0"] = _nearly_equal(chance, np.zeros(len(chance))) & known
        return cases

    def _best_and_chance(self, orders: RankingReferenceScores) -> tuple[Floats, Floats]:
        best, chance = self._best(orders), self._chance(orders).values
        wrong = self._orient(chance) - self._orient(best) > TOLERANCE
        if self.reb == INDEPENDENT and wrong.any():
            raise MeasureError(
                f"{self}: the score of a random ranking is above the best score on "
                f"{count_phrase(int(wrong.sum()), 'query')}. reb=independent is not exact, and "
                "this happens "
                "where a query has few documents; use reb=exact or reb=capped"
            )
        return best, chance


class V1(IdealNormalizedMeasure):
    """Upper and expected value (UE) normalization of a measure, version 1.

        v1(m) = (A/best) · A/(A + chance)

    A is the score, best the best score, and chance the mean score of a random ranking. With
    null="run", v1 can put two systems in the opposite order on a query; otherwise it cannot.

    Parameters
    ----------
    measure : Measure
        The measure to normalize.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `v1(nDCG@10)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    empty : {"zero", "skip", "nan"}, default "zero"
        What happens to queries with nothing relevant. "zero": they score 0; "skip": the mean leaves
        them out; "nan": the mean is undefined.
    reb : {"exact", "independent", "capped"}, default "exact"
        How the mean score of a random ranking is computed. "exact": over all orders; "independent":
        by the simpler formula of Feng and Karmaker 2023, as if ranks were independent; "capped": by
        the same formula, over no more ranks than there are documents.
    iub : {"achievable", "k"}, default "achievable"
        How the best score is computed. "achievable": the score of the best order; "k": the score if
        k documents were relevant, from Feng and Karmaker 2023, only for sums of precisions such as
        AP and SP.

    Notes
    -----
    Feng and Karmaker 2023, Joint upper & expected value normalization for evaluation of retrieval
    systems: a case study with learning-to-rank methods.

    Examples
    --------
    >>> from rankgauge import RR
    >>> round(v1(RR).score([0, 1, 0, 0]), 4)
    0.2449
    """

    name = "v1"
    summary = (
        "Upper and expected value (UE) normalization, version 1: the score divided by the best "
        "score, times score / (score + chance), where chance is the mean score of a random "
        "ranking."
    )
    formula = (
        "v1(m) = (A/best) · A/(A + chance), A the score, best the best score, chance the mean "
        "score of a random ranking"
    )
    examples: ClassVar[tuple[str, ...]] = ("v1(nDCG@10)", "v1(AP@30)", "v1(AP@30,reb=independent)")

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        return measure.direction == "higher" and measure.range[0] >= 0 and measure.ideal_is_best

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return 0.0, 1.0

    def _form(self, scores: Floats, orders: RankingReferenceScores) -> Floats:
        best, chance = self._best_and_chance(orders)
        return forms.v1(scores, best, chance)


class V2(IdealNormalizedMeasure):
    """Upper and expected value (UE) normalization of a measure, version 2.

        v2(m) = (A − chance)/(best − chance) if A ≥ chance, else (A − chance)/(chance − lowest)

    A is the score, best the best score, lowest the lowest possible score, and chance the mean score
    of a random ranking. So 0 is chance, 1 is the best score and −1 is the lowest. With null="run",
    v2 can put two systems in the opposite order on a query; otherwise it cannot.

    Parameters
    ----------
    measure : Measure
        The measure to normalize.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `v2(nDCG@10)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    empty : {"zero", "skip", "nan"}, default "zero"
        What happens to queries with nothing relevant. "zero": they score 0; "skip": the mean leaves
        them out; "nan": the mean is undefined.
    reb : {"exact", "independent", "capped"}, default "exact"
        How the mean score of a random ranking is computed. "exact": over all orders; "independent":
        by the simpler formula of Feng and Karmaker 2023, as if ranks were independent; "capped": by
        the same formula, over no more ranks than there are documents.
    iub : {"achievable", "k"}, default "achievable"
        How the best score is computed. "achievable": the score of the best order; "k": the score if
        k documents were relevant, from Feng and Karmaker 2023, only for sums of precisions such as
        AP and SP.

    Notes
    -----
    Feng and Karmaker 2023, Joint upper & expected value normalization for evaluation of retrieval
    systems: a case study with learning-to-rank methods.

    Examples
    --------
    >>> from rankgauge import P
    >>> [v2(P @ 2).score(labels, judged=[1, 0, 0, 0]) for labels in ([1, 0], [0, 0])]
    [1.0, -1.0]
    """

    name = "v2"
    summary = (
        "Upper and expected value (UE) normalization, version 2: 0 is the mean score of a random "
        "ranking, 1 is the best score, and −1 is the lowest."
    )
    formula = (
        "v2(m) = (A − chance)/(best − chance), or (A − chance)/(chance − lowest) below chance, A "
        "the score, best the best score, lowest the lowest score, chance the mean score of a "
        "random ranking"
    )
    examples: ClassVar[tuple[str, ...]] = ("v2(nDCG@10)", "v2(AP@30)", "v2(nDCG@10,null=run)")

    @property
    def asks(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("ideal", "expected", *(["worst"] if self.measure.direction == "lower" else []))

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        return measure.direction == "lower" or (
            measure.direction == "higher" and bool(np.isfinite(measure.range[0]))
        )

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return -1.0, 1.0

    def _form(self, scores: Floats, orders: RankingReferenceScores) -> Floats:
        best, chance = self._best_and_chance(orders)
        if self.measure.direction == "higher":
            lowest = np.full(len(scores), self.measure.range[0])
        else:
            lowest = orders.worst(self.measure)
        return forms.v2(*map(self._orient, (scores, best, chance, lowest)))


class _AffineMeasure(NormalizedMeasure):
    """A linear form: the form of a mean is the mean of the forms, over ties and over all orders."""

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        """As the mean by the measure inside: the spread only scales the difference from chance."""
        return self._hardest_answer(
            "expected", *(asked for asked in self.asks if asked != "variance")
        )

    def _tied(self, tied: TiedRankings) -> Floats | None:
        means = self.measure._tied(tied) if self.measure.knows("_tied") else None
        return None if means is None else self._normalize(means, tied.rankings)

    def random_each(self, judged: JudgedLabels) -> Mean:
        mean, lists = self.complete().measure.random_each(judged), judged.best_first
        values = self._normalize(mean.values, lists)
        errors = np.abs(self._normalize(mean.values + mean.errors, lists) - values)
        return Mean(values, errors, mean.samples)

    def _variance(self, tied: TiedRankings) -> Floats:
        lists = tied.rankings
        spread = np.sqrt(self.measure.tied_variance_each(tied))
        zero = np.zeros(len(lists))
        return (self._normalize(spread, lists) - self._normalize(zero, lists)) ** 2

    def answers(self) -> dict[str, Answer]:
        return super().answers() | {"variance": self._hardest_answer("variance", *self.asks)}


class Linear(_AffineMeasure, IdealNormalizedMeasure):
    """The score on a linear scale: 0 is what a random ranking gets on average, 1 is the best.

        linear(m) = (A − chance)/(best − chance)

    A is the score, best the best score, and chance the mean score of a random ranking.

    Parameters
    ----------
    measure : Measure
        The measure to normalize.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `linear(ERR@20)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    empty : {"zero", "skip", "nan"}, default "zero"
        What happens to queries with nothing relevant. "zero": they score 0; "skip": the mean leaves
        them out; "nan": the mean is undefined.
    reb : {"exact", "independent", "capped"}, default "exact"
        How the mean score of a random ranking is computed. "exact": over all orders; "independent":
        by the simpler formula of Feng and Karmaker 2023, as if ranks were independent; "capped": by
        the same formula, over no more ranks than there are documents.
    iub : {"achievable", "k"}, default "achievable"
        How the best score is computed. "achievable": the score of the best order; "k": the score if
        k documents were relevant, from Feng and Karmaker 2023, only for sums of precisions such as
        AP and SP.

    Notes
    -----
    Feng and Karmaker 2023, Joint upper & expected value normalization for evaluation of retrieval
    systems: a case study with learning-to-rank methods.

    Examples
    --------
    >>> from rankgauge import P
    >>> [linear(P @ 2).score(labels, judged=[1, 0, 0, 0]) for labels in ([1, 0], [0, 0])]
    [1.0, -1.0]
    """

    name = "linear"
    summary = (
        "A linear scale on which 0 is the mean score of a random ranking and 1 is the best score."
    )
    formula = (
        "linear(m) = (A − chance)/(best − chance), A the score, best the best score, chance the "
        "mean score of a random ranking"
    )
    examples: ClassVar[tuple[str, ...]] = ("linear(ERR@20)", "linear(nDCG@10)")

    def _form(self, scores: Floats, orders: RankingReferenceScores) -> Floats:
        best, chance = self._best_and_chance(orders)
        return forms.linear(*map(self._orient, (scores, best, chance)))


class Z(_AffineMeasure, ChanceNormalizedMeasure):
    """The score minus chance, in standard deviations of the scores of random rankings.

        z(m) = (A − chance)/sd

    A is the score. chance and sd are the mean and the standard deviation of the scores of random
    rankings.

    Parameters
    ----------
    measure : Measure
        The measure to normalize.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `z(P@5)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    empty : {"zero", "skip", "nan"}, default "zero"
        What happens to queries with nothing relevant. "zero": they score 0; "skip": the mean leaves
        them out; "nan": the mean is undefined.
    reb : {"exact", "independent", "capped"}, default "exact"
        How the mean score of a random ranking is computed. "exact": over all orders; "independent":
        by the simpler formula of Feng and Karmaker 2023, as if ranks were independent; "capped": by
        the same formula, over no more ranks than there are documents.

    Notes
    -----
    Feng and Karmaker 2023, Joint upper & expected value normalization for evaluation of retrieval
    systems: a case study with learning-to-rank methods.

    Examples
    --------
    >>> from rankgauge import P
    >>> [z(P @ 1).score(labels) for labels in ([1, 0], [0, 1])]
    [1.0, -1.0]
    """

    name = "z"
    summary = (
        "The number of standard deviations by which the score exceeds the mean score of random "
        "rankings."
    )
    formula = (
        "z(m) = (A − chance)/sd, A the score, chance and sd the mean and the standard deviation of the "
        "scores of random rankings"
    )
    examples: ClassVar[tuple[str, ...]] = ("z(P@5)", "z(nDCG@10)")
    asks = ("expected", "variance")

    def _find_degenerate(
        self, orders: RankingReferenceScores, known: NDArray[np.bool_]
    ) -> dict[str, NDArray[np.bool_]]:
        spread = np.sqrt(orders.variance(self.measure))
        cases = {
            "all orders as good as each other": _nearly_equal(spread, np.zeros(len(spread))) & known
        }
        if self.measure.answers()["variance"] != "exact":
            cases["standard deviation estimated from at most 1,000 random orders"] = known
        return cases

    def _form(self, scores: Floats, orders: RankingReferenceScores) -> Floats:
        spread = np.sqrt(orders.variance(self.measure))
        return forms.z(self._orient(scores), self._orient(self._chance(orders).values), spread)


class MinMax(_AffineMeasure):
    """The score on a linear scale: 0 is the worst order of the judged documents, 1 is the best.

        minmax(m) = (A − worst)/(best − worst)

    A is the score. best and worst are the best and the worst score over all orders.

    Parameters
    ----------
    measure : Measure
        The measure to normalize.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `minmax(nDCG@10)`.
    null : {"judged", "run", "pool", "collection"}, default "judged"
        Which documents a random ranking orders. "judged": the judged documents; "run": the
        documents of the ranking itself, so that the better of two rankings of a query can get the
        lower score; "pool": the judged documents, and the documents that are pooled but not judged;
        "collection": all documents.
    documents : int, optional
        The number of documents in the collection. Needed for null="collection", and only for it.
    empty : {"zero", "skip", "nan"}, default "zero"
        What happens to queries with nothing relevant. "zero": they score 0; "skip": the mean leaves
        them out; "nan": the mean is undefined.

    Notes
    -----
    Gienapp et al. 2020, The impact of negative relevance judgments on NDCG.

    Examples
    --------
    >>> from rankgauge import RR
    >>> round(minmax(RR).score([0, 1, 0, 0]), 4)
    0.3333
    """

    name = "minmax"
    summary = (
        "A linear scale on which 0 is the worst order of the judged documents and 1 is the best."
    )
    formula = "minmax(m) = (A − worst)/(best − worst), A the score, best and worst over all orders"
    source = "Gienapp et al. 2020, The impact of negative relevance judgments on NDCG"
    examples: ClassVar[tuple[str, ...]] = ("minmax(nDCG@10)", "minmax(AP)")
    asks = ("ideal", "worst")

    def _form(self, scores: Floats, orders: RankingReferenceScores) -> Floats:
        best, worst = orders.ideal(self.measure), orders.worst(self.measure)
        return forms.linear(*map(self._orient, (scores, best, worst)))


def _nearly_equal(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Where two numbers are the same but for rounding."""
    same: NDArray[np.bool_] = np.abs(a - b) <= TOLERANCE
    return same


v1 = register(V1)
v2 = register(V2)
linear = register(Linear)
z = register(Z)
minmax = register(MinMax)

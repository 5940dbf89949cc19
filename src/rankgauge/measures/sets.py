"""Measures of what is retrieved as a set, in whatever order: set precision, F, utility."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer, Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Binary, ratio
from rankgauge.measures.precision import variance_of_hits
from rankgauge.measures.registry import register
from rankgauge.rankings.flips import Flips
from rankgauge.rankings.lists import Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class CountBasedMeasure(Binary):
    """A measure of how many documents are retrieved, relevant, and both.

    Subclasses define `_of`. While R − hits and the retrieved documents stay the same, another hit must
    always raise the score, or always lower it. Another relevant document beyond the cutoff must never
    raise it. With a cutoff the score must be linear in the hits, so that its mean over ties is known.
    """

    swap_monotone = True
    expectation = "exact"

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        """The score of each list, from its relevant retrieved, its retrieved and all relevant."""
        raise NotImplementedError

    def _places(self, retrieved: Floats) -> Floats:
        """How many places there are to fill: k, or without a cutoff as many as are retrieved."""
        return retrieved if self.cutoff is None else np.full_like(retrieved, self.cutoff)

    def _score(self, lists: Rankings) -> Floats:
        hits = lists.count(lists.relevant(self.rel))
        relevant = lists.judged.relevant(self.rel)[lists.query]
        return self._score_from_counts(
            hits.astype(float), lists.lengths.astype(float), relevant.astype(float)
        )

    def _flip_changes(self, flips: Flips) -> Floats:
        """What a hit more or less changes, where the flip is across the cutoff; else nothing."""
        change = np.zeros(len(flips))
        across = np.flatnonzero(flips.rank == self.depth)
        if len(across):
            hits = (flips.lower_label >= self.rel).astype(float) - (flips.upper_label >= self.rel)
            relevant = flips.judged.relevant(self.rel)[flips.query[across]].astype(float)
            places = np.full(len(across), float(self.depth or 0))
            change[across] = hits[across] * self._first_hit_change(places, relevant)
        return change

    def _first_hit_change(self, places: Floats, relevant: Floats) -> Floats:
        """What the first hit changes, and with a cutoff any other."""
        none, one = (
            self._score_from_counts(np.full(len(places), hits), places, relevant)
            for hits in (0.0, 1.0)
        )
        return one - none

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The score of the mean number of hits, which without a cutoff is that of every order."""
        lists, places = tied.rankings, tied.within(self.depth)
        found = tied.count(lists.relevant(self.rel))
        hits = tied.sum_over_groups(ratio(found * places, tied.sizes))
        relevant = lists.judged.relevant(self.rel)[lists.query]
        return self._score_from_counts(hits, tied.sum_over_groups(places), relevant.astype(float))

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of the number of hits, times the square of what a hit changes; 0 without a cutoff."""
        lists, places = tied.rankings, tied.within(self.depth)
        found = tied.count(lists.relevant(self.rel))
        relevant = lists.judged.relevant(self.rel)[lists.query].astype(float)
        worth = self._first_hit_change(places.astype(float), relevant)
        return worth**2 * variance_of_hits(tied.sizes, found, places)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        """The lowest and the highest score over all labels of the unjudged documents.

        The score is highest if all unjudged documents of the top k are relevant and none beyond it is.
        It is lowest if none of the top k is relevant, and all beyond it are.
        """
        lists = rankings.top(self.complete().depth)
        hits = lists.count(lists.relevant(self.rel)).astype(float)
        retrieved = lists.lengths.astype(float)
        relevant = lists.judged.relevant(self.rel)[lists.query].astype(float)
        inside = lists.count(lists.labels < 0)
        beyond = rankings.count(rankings.labels < 0) - inside
        if rankings.judged.max_grade < self.rel:
            inside = beyond = np.zeros_like(inside)
        with_all = self._score_from_counts(hits + inside, retrieved, relevant + inside)
        with_none = self._score_from_counts(hits, retrieved, relevant + beyond)
        return np.minimum(with_none, with_all), np.maximum(with_none, with_all)


class SetPrecision(CountBasedMeasure):
    """The share of the retrieved documents that are relevant."""

    name = "SetP"
    summary = "Set precision: the share of the retrieved documents that are relevant."
    formula = "SetP = |relevant retrieved| / |retrieved|, 0 for an empty list"
    source = (
        "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
    )
    range = (0.0, 1.0)
    cutoffs = "none"
    off_list = "ignored"
    elsewhere = {"relative": "relative precision is SetRelP"}  # noqa: RUF012
    examples = ("SetP", "SetP(rel=2)")

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        return ratio(hits, retrieved)


class HarmonicMean(CountBasedMeasure):
    """The weighted harmonic mean of precision and recall."""

    range = (0.0, 1.0)

    source = "van Rijsbergen 1979, Information Retrieval"

    beta: float = parameter(
        Number(0, 1e6),
        "the weight of recall relative to precision; 1 weighs both equally, 2 gives recall twice "
        "the weight",
        default=1.0,
    )

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        weight = self.beta**2
        return ratio((1 + weight) * hits, self._places(retrieved) + weight * relevant)


class FMeasure(HarmonicMean):
    """The harmonic mean of precision and recall in the first k places."""

    name = "F"
    summary = "F measure: the weighted harmonic mean of precision and recall at rank k."
    formula = (
        "F(beta)@k = (1 + β²)·P@k·Recall@k / (β²·P@k + Recall@k) "
        "= (1 + β²)·|relevant in the top k| / (k + β²·R)"
    )
    cutoffs = "required"
    off_list = "divides"
    ideal_is_best = True
    examples = ("F@10", "F(beta=2)@10", "F(beta=0.5,rel=2)@20")


class SetFMeasure(HarmonicMean):
    """The harmonic mean of the precision and the recall of all that is retrieved."""

    name = "SetF"
    summary = (
        "Set F measure: the weighted harmonic mean of the precision and recall of the retrieved "
        "set."
    )
    formula = (
        "SetF(beta) = (1 + β²)·SetP·Recall / (β²·SetP + Recall) "
        "= (1 + β²)·|relevant retrieved| / (|retrieved| + β²·R)"
    )
    cutoffs = "none"
    examples = ("SetF", "SetF(beta=2)")


class SetAveragePrecision(CountBasedMeasure):
    """Set precision times recall: average precision when order does not count."""

    name = "SetAP"
    summary = "Set average precision: the precision of the retrieved set, multiplied by its recall."
    formula = "SetAP = |relevant retrieved|² / (|retrieved| · R)"
    source = "trec_eval 9 (as set_map)"
    range = (0.0, 1.0)
    cutoffs = "none"
    off_list = "divides"
    examples = ("SetAP", "SetAP(rel=2)")

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        return ratio(hits**2, retrieved * relevant)


class RelativeMeasure(CountBasedMeasure):
    """Precision divided by the best precision that R relevant documents allow."""

    range = (0.0, 1.0)

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        return ratio(hits, np.minimum(self._places(retrieved), relevant))


class RelativePrecision(RelativeMeasure):
    """Precision in the first k places divided by the best precision possible there."""

    name = "RelP"
    summary = (
        "Relative precision: precision at rank k divided by the highest precision possible there."
    )
    formula = "RelP@k = |relevant in the top k| / min(k, R)"
    source = "trec_eval 9 (as relative_P)"
    cutoffs = "required"
    ideal_is_best = True
    examples = ("RelP@10", "RelP(rel=2)@5")
    deeper = "same"


class SetRelativePrecision(RelativeMeasure):
    """Set precision divided by the best that a set of this size allows."""

    name = "SetRelP"
    summary = (
        "Relative set precision: set precision divided by the highest value possible for this "
        "number of retrieved documents."
    )
    formula = "SetRelP = |relevant retrieved| / min(|retrieved|, R)"
    source = "trec_eval 9 (as set_relative_P)"
    cutoffs = "none"
    ideal_is_best = True
    examples = ("SetRelP", "SetRelP(rel=2)")


class WeightedUtility(CountBasedMeasure):
    """What the retrieved and the other documents are worth, added up."""

    name = "Utility"
    summary = (
        "Utility: the sum of the values of all documents, each of which depends on whether the "
        "document is relevant and whether it is retrieved."
    )
    formula = (
        "Utility = found·a + noise·b + missed·c + rejected·d. Numbers of documents: a: relevant "
        "and retrieved; b: other and retrieved; c: relevant, not retrieved; d: the rest of the "
        "collection, documents − a − b − c"
    )
    source = "Hull 1997, The TREC-6 filtering track: description and analysis; trec_eval 9"
    range = (-np.inf, np.inf)
    cutoffs = "none"
    examples = ("Utility", "Utility(found=2)", "Utility(found=3,noise=-2,missed=-1)")

    found: float = parameter(
        Number(-1e9, 1e9), "the value of a relevant document that is retrieved", default=1.0
    )
    noise: float = parameter(
        Number(-1e9, 1e9), "the value of any other document that is retrieved", default=-1.0
    )
    missed: float = parameter(
        Number(-1e9, 1e9), "the value of a relevant document that is not retrieved", default=0.0
    )
    rejected: float = parameter(
        Number(-1e9, 1e9),
        "the value of any other document of the collection that is not retrieved",
        default=0.0,
    )
    documents: int = parameter(
        Integer(0), "the number of documents in the collection, for `rejected`", default=0
    )

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        others, left = retrieved - hits, relevant - hits
        worth = self.found * hits + self.noise * others + self.missed * left
        total: Floats = worth + self.rejected * (self.documents - retrieved - left)
        return total


class PowerUtility(CountBasedMeasure):
    """Utility in which a further relevant document is worth less than the one before."""

    name = "NonlinearUtility"
    summary = (
        "Nonlinear utility: the more relevant documents are retrieved, the less each of them adds."
    )
    formula = (
        "NonlinearUtility = found·a^found_exponent + noise·b^noise_exponent, a: the number of "
        "relevant documents retrieved; b: the number of other documents retrieved. The default is "
        "NF2 of TREC-8; with found_exponent=0.5 it is NF1 of TREC-8"
    )
    source = "Hull and Robertson 1999, The TREC-8 filtering track final report"
    range = (-np.inf, np.inf)
    cutoffs = "none"
    off_list = "ignored"
    examples = ("NonlinearUtility", "NonlinearUtility(found_exponent=0.5)")

    found: float = parameter(
        Number(0, 1e9), "the value of the first relevant document", default=6.0
    )
    noise: float = parameter(Number(-1e9, 0), "the value of the first other document", default=-1.0)
    found_exponent: float = parameter(
        Number(1e-3, 10), "the exponent of the number of relevant documents", default=0.8
    )
    noise_exponent: float = parameter(
        Number(1e-3, 10), "the exponent of the number of other documents", default=1.0
    )

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        others = np.maximum(retrieved - hits, 0.0)
        worth: Floats = self.found * hits**self.found_exponent
        return worth + self.noise * others**self.noise_exponent


class FilteringUtility(CountBasedMeasure):
    """Linear utility as a share of the best possible, with a floor, as in the filtering tracks."""

    name = "ScaledUtility"
    summary = (
        "Scaled utility: linear utility divided by the best possible utility, limited by a floor, "
        "then mapped to 0..1."
    )
    formula = (
        "ScaledUtility = (max(U/(found·R), floor) − floor) / (1 − floor), "
        "U = found·|relevant retrieved| + noise·|other documents retrieved|; as T11SU by default"
    )
    source = "Robertson and Soboroff 2002, The TREC 2002 filtering track report"
    range = (0.0, 1.0)
    cutoffs = "none"
    examples = ("ScaledUtility", "ScaledUtility(rel=2)", "ScaledUtility(found=3,noise=-2)")

    found: float = parameter(
        Number(1e-9, 1e9), "the value of a relevant document that is retrieved", default=2.0
    )
    noise: float = parameter(
        Number(-1e9, 0), "the value of any other document that is retrieved", default=-1.0
    )
    floor: float = parameter(
        Number(-1e9, 0),
        "the lowest share of the best utility; lower shares are raised to it",
        default=-0.5,
    )

    def _score_from_counts(self, hits: Floats, retrieved: Floats, relevant: Floats) -> Floats:
        """Where nothing is relevant, any document retrieved sinks utility to the floor."""
        utility = self.found * hits + self.noise * (retrieved - hits)
        sunk = np.where(utility < 0, self.floor, 0.0)
        share = np.where(relevant > 0, ratio(utility, self.found * relevant), sunk)
        return (np.maximum(share, self.floor) - self.floor) / (1 - self.floor)


SetP = register(SetPrecision())
SetF = register(SetFMeasure())
SetAP = register(SetAveragePrecision())
SetRelP = register(SetRelativePrecision())
F = register(FMeasure())
RelP = register(RelativePrecision())
Utility = register(WeightedUtility())
NonlinearUtility = register(PowerUtility())
ScaledUtility = register(FilteringUtility())

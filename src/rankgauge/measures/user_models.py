"""Measures of a user who reads down the list and decides after each document whether to go on.

A user model says how likely rank i is read: V_i, the product of the chances of going on after each
rank above. The score is the rate of gain of what is read, Σ V_i · gain_i / Σ V_i: the expected utility
of the C/W/L framework (Moffat, Bailey, Scholer and Thomas 2017, Incorporating user expectations and
behavior into the measurement of search effectiveness; Azzopardi, Thomas and Moffat 2019, cwl_eval: an
evaluation tool for information retrieval).

Where a ranking ends, the user reads on and gains nothing more. The cutoff is where the user stops at
the latest; without one there is no last rank, and what is read beyond the list is summed exactly.
cwl_eval lets every user stop at rank 1000: its INST is INST@1000 here.
"""

from __future__ import annotations

from dataclasses import Field
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, Ints, Labels
from rankgauge.core.checks import Integer, Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Answer, ratio
from rankgauge.measures.gains import Gain, GainMap, UnitGain, gains, most_gainful, unit_gains
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import GainMeasure, Weighted
from rankgauge.native import segments as native
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

TOLERANCE = 1e-9
"""By how much a sum of gains may miss a goal and still reach it: ten gains of 0.1 make 1."""


class RankBiasedPrecision(Weighted):
    """The gain per document of a user who goes on to the next document with probability p."""

    name = "RBP"
    summary = (
        "Rank-biased precision: the gain per document for a user who reads on with probability p."
    )
    formula = (
        "RBP(p)@k = (1 − p) · Σ_{i≤k} p^(i−1) · gain(label_i); by default the gain is 1 for "
        "label ≥ rel, else 0"
    )
    source = (
        "Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness"
    )
    monotone = True
    examples = ("RBP(p=0.8)", "RBP(p=0.95)@100", "RBP(gain=scaled)@20", "RBP(p=0.5,rel=2)")
    deeper = "same"

    p: float = parameter(
        Number(0, 1, closed=False), "persistence: the probability of reading on", default=0.8
    )
    rel: int = parameter(Integer(1), "the lowest label that counts as relevant", default=1)
    gain: str | GainMap | None = parameter(
        Gain(), "a graded gain; by default the gain is 1 for label ≥ rel, else 0", default=None
    )

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (0.0, 1.0 if self.gain in (None, "scaled", "fraction") else np.inf)

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        return self.cutoff is None

    def _unseen_weight(self, lengths: Ints) -> Floats:
        return (
            np.zeros(len(lengths)) if self.cutoff is not None else self.p ** lengths.astype(float)
        )

    def _weights(self, count: int) -> Floats:
        return np.asarray((1 - self.p) * self.p ** np.arange(count))

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        if self.gain is None:
            return (labels >= self.rel).astype(np.float64)
        return gains(self.gain, labels, max_grade)

    def _most_gainful(self, max_grade: int) -> int:
        return max_grade if self.gain is None else most_gainful(self.gain, max_grade)


class UserModel(GainMeasure):
    """The gain per document that a user reads. A subclass says how long the user reads on."""

    synonyms = {"min_rel": {0: {}}}  # noqa: RUF012
    elsewhere = {  # noqa: RUF012
        "max_rel": "the highest grade is that of the judgments, or max_grade= of evaluate"
    }

    gain: str | GainMap = parameter(
        UnitGain(),
        "a gain from 0 to 1. fraction: label/max_grade; scaled: (2^label − 1)/2^max_grade; or a map",
        default="fraction",
    )

    @classmethod
    def parameters(cls) -> dict[str, Field[Any]]:
        """The parameters of the model, and the gain last."""
        declared = super().parameters()
        declared["gain"] = declared.pop("gain")
        return declared

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        return self.cutoff is None

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        return unit_gains(self.gain, labels, max_grade)

    def _most_gainful(self, max_grade: int) -> int:
        return most_gainful(self.gain, max_grade)

    def _remaining_ranks(self, read: Ints) -> Floats:
        """How many ranks are left to the user after this many."""
        last = np.inf if self.cutoff is None else float(self.cutoff)
        return np.asarray(last - read, dtype=np.float64)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        """The mean number of further documents that a user reads who goes on after `read` documents.

        None of the further documents gains anything, and those before have gained `total`.
        """
        raise NotImplementedError


class StaticUserModel(UserModel, Weighted):
    """A user whose chance of reading a rank depends on the rank alone, given by its weights."""

    range = (0.0, 1.0)
    monotone = True

    def _divisor(self, judged: JudgedLabels) -> Floats:
        all_weights = self._expected_further_reads(np.zeros(1, dtype=np.int64), np.zeros(1))
        return np.repeat(all_weights, len(judged))

    def _unseen_weight(self, lengths: Ints) -> Floats:
        if self.cutoff is not None:
            return np.zeros(len(lengths))
        following = self._weights(int(lengths.max(initial=0)) + 1)[lengths]
        beyond = following * self._expected_further_reads(lengths, np.zeros(len(lengths)))
        return np.asarray(
            beyond / self._expected_further_reads(np.zeros(1, dtype=np.int64), np.zeros(1))
        )


class AdaptiveUserModel(UserModel):
    """A user who may stop because of the documents read, given by the chances of reading on."""

    range = (0.0, 1.0)

    def _continuation_chances(self, ranks: Ints, gains: Floats, totals: Floats) -> Floats:
        """The chance of reading on after each document.

        It depends on the rank of the document, on its gain, and on the total gain of all documents
        down to it.
        """
        raise NotImplementedError

    def _score(self, lists: Rankings) -> Floats:
        gains = self._gains(lists.labels, lists.judged.max_grade)
        totals = native.segment_cumsum(gains, lists.offsets)
        reads_on = self._continuation_chances(lists.ranks, gains, totals)
        reached = native.segment_cumprod(reads_on, lists.offsets)
        leaves, total = np.ones(len(lists)), np.zeros(len(lists))
        some = lists.lengths > 0
        last = lists.offsets[1:][some] - 1
        leaves[some], total[some] = reached[last] * reads_on[last], totals[last]
        read = lists.sum(reached) + leaves * self._expected_further_reads(lists.lengths, total)
        return ratio(lists.sum(reached * gains), read)


class InverseSquares(StaticUserModel):
    """The gain per document of a user who wants a gain of T. The higher T, the more patient the user."""

    name = "INSQ"
    summary = (
        "INSQ: the gain per document for a user who wants a total gain of T. The weights decrease "
        "with the inverse square of the rank."
    )
    formula = "INSQ(T)@k = Σ_{i≤k} gain_i · V_i / Σ_{i≤k} V_i, V_i = 1/(i + 2T − 1)²"
    source = "Moffat, Scholer and Thomas 2012, Models and metrics: IR evaluation as a user process"
    examples = ("INSQ", "INSQ(T=3)", "INSQ(gain=scaled)@1000")

    T: float = parameter(Number(1e-6, 1e9), "the total gain that the user wants", default=1.0)

    def _weights(self, count: int) -> Floats:
        return np.asarray((2 * self.T / (2 * self.T + np.arange(count))) ** 2)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        return inverse_squares(2 * self.T + read.astype(np.float64), self._remaining_ranks(read))


class AdaptiveInverseSquares(AdaptiveUserModel):
    """INSQ for a user who stops the earlier, the more has been gained.

    Raising a gain, or moving the higher of two neighbors up, never lowers the score. With
    x_i = i + 2T − (gain so far), at least 1, the gain F that lies ahead at x is at most
    (x − 1)²/(2x − 1) and grows by at most half of what x grows by, so what is gained earlier outweighs
    what is no longer read; and less is read.
    """

    name = "INST"
    summary = "INST: like INSQ, but users stop earlier the more they have gained."
    formula = (
        "INST(T)@k = Σ_{i≤k} gain_i · V_i / Σ_{i≤k} V_i, V_i = Π_{j<i} ((x_j − 1)/x_j)², "
        "x_j = j + 2T − Σ_{l≤j} gain_l"
    )
    source = (
        "Moffat, Bailey, Scholer and Thomas 2015, "
        "INST: an adaptive metric for information retrieval evaluation"
    )
    monotone = True
    swap_monotone = True
    ideal_is_best = True
    examples = ("INST", "INST(T=3)", "INST(gain=scaled)@1000")

    T: float = parameter(
        Number(0.5, 1e9),
        "the total gain that the user wants; at least 0.5, so that more gain never makes the user "
        "read longer",
        default=1.0,
    )

    def _continuation_chances(self, ranks: Ints, gains: Floats, totals: Floats) -> Floats:
        state = ranks + 2 * self.T - totals
        return np.asarray(((state - 1) / state) ** 2)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        return inverse_squares(read + (2 * self.T - total), self._remaining_ranks(read))


class NearlyERR(AdaptiveUserModel):
    """A user who stops at a document with a probability equal to its gain, or for lack of patience.

    With weights w_i of patience, never rising, and Q_i = Π_{j≤i} (1 − gain_j) the score is
    1 − Σ w_i Q_i / Σ w_i Q_{i−1}. Raising a gain, or moving the higher of two neighbors up, lowers some
    Q_i, and the first sum by no less a share than the second.
    """

    source = (
        "Azzopardi, Mackenzie and Moffat 2021, ERR is not C/W/L: exploring the relationship between "
        "expected reciprocal rank and other metrics"
    )
    swap_monotone = True
    ideal_is_best = True
    monotone = True

    def _patience(self, ranks: Ints) -> Floats:
        """The chance of reading on after a document at each rank that does not satisfy."""
        raise NotImplementedError

    def _continuation_chances(self, ranks: Ints, gains: Floats, totals: Floats) -> Floats:
        return self._patience(ranks) * (1 - gains)


class NearlyERR8(NearlyERR):
    """A user who stops when satisfied, or at rank k."""

    name = "NERR8"
    summary = (
        "Nearly ERR, equation 8: the gain per document for a user who stops when satisfied, or at "
        "rank k."
    )
    formula = "NERR8@k = Σ_{i≤k} gain_i · V_i / Σ_{i≤k} V_i, V_i = Π_{j<i} (1 − gain_j)"
    cutoffs = "required"
    examples = ("NERR8@10", "NERR8(gain=scaled)@20")

    def _patience(self, ranks: Ints) -> Floats:
        return np.ones(len(ranks))

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        return self._remaining_ranks(read)


class NearlyERR9(NearlyERR):
    """A user who stops when satisfied, or with a patience of 1/i at rank i, or at rank k."""

    name = "NERR9"
    summary = (
        "Nearly ERR, equation 9: like NERR8, but the weight of rank i is also divided by i, as in "
        "ERR."
    )
    formula = "NERR9@k = Σ_{i≤k} gain_i · V_i / Σ_{i≤k} V_i, V_i = (1/i) · Π_{j<i} (1 − gain_j)"
    cutoffs = "required"
    examples = ("NERR9@10", "NERR9(gain=scaled)@20")

    def _patience(self, ranks: Ints) -> Floats:
        return ranks / (ranks + 1.0)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        from scipy.special import digamma

        difference = digamma(read + self._remaining_ranks(read) + 1) - digamma(read + 1)
        return np.asarray((read + 1) * difference)


class NearlyERR10(NearlyERR):
    """A user who stops when satisfied, and else reads on with probability p."""

    name = "NERR10"
    summary = (
        "Nearly ERR, equation 10: like NERR8, but the user reads on with probability p, as in "
        "RBP, and does not stop at a fixed rank."
    )
    formula = "NERR10(p)@k = Σ_{i≤k} gain_i · V_i / Σ_{i≤k} V_i, V_i = Π_{j<i} p · (1 − gain_j)"
    examples = ("NERR10", "NERR10(p=0.8)", "NERR10(gain=scaled)@1000")

    p: float = parameter(
        Number(0, 1, closed=False), "persistence: the probability of reading on", default=0.9
    )

    def _patience(self, ranks: Ints) -> Floats:
        return np.full(len(ranks), self.p)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        return np.asarray((1 - self.p ** self._remaining_ranks(read)) / (1 - self.p))


class NearlyERR11(NearlyERR):
    """A user who stops when satisfied, and else is as patient as INSQ's."""

    name = "NERR11"
    summary = (
        "Nearly ERR, equation 11: like NERR8, but the weights of the ranks decrease as in "
        "INSQ(T), and the user does not stop at a fixed rank."
    )
    formula = (
        "NERR11(T)@k = Σ_{i≤k} gain_i · V_i / Σ_{i≤k} V_i, "
        "V_i = (1/(i + 2T − 1)²) · Π_{j<i} (1 − gain_j)"
    )
    examples = ("NERR11", "NERR11(T=3)", "NERR11(gain=scaled)@1000")

    T: float = parameter(Number(1e-6, 1e9), "the total gain that the user wants", default=1.0)

    def _patience(self, ranks: Ints) -> Floats:
        state = ranks + 2 * self.T
        return np.asarray(((state - 1) / state) ** 2)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        return inverse_squares(2 * self.T + read.astype(np.float64), self._remaining_ranks(read))


class BejeweledPlayer(AdaptiveUserModel):
    """The gain per document of a user who stops with enough gain, or at rank k.

    A better document can lower the score. Example with T = 1: gains of ⅓, ⅓ and 1 score 5/9. With ⅔ in
    the second place the user stops there, and the score is ½. The best order is still the most gainful
    first: no other order reads fewer documents, or has a better mean of as many.
    """

    name = "BPM"
    summary = (
        "Bejeweled player model: the gain per document for a user who stops upon reaching gain T "
        "or rank k."
    )
    formula = "BPM(T)@k = (1/s) · Σ_{i≤s} gain_i, s = min(k, first rank with Σ_{i≤s} gain_i ≥ T)"
    source = (
        "Zhang, Liu, Li, Zhang, Xu and Ma 2017, Evaluating web search with a bejeweled player model, "
        "static, with gains from 0 to 1"
    )
    cutoffs = "required"
    off_list = "ignored"
    ideal_is_best = True
    examples = ("BPM@10", "BPM(T=2)@20")

    T: float = parameter(Number(1e-6, 1e9), "the gain at which the user stops", default=1.0)

    def _continuation_chances(self, ranks: Ints, gains: Floats, totals: Floats) -> Floats:
        return (totals < self.T - TOLERANCE).astype(np.float64)

    def _expected_further_reads(self, read: Ints, total: Floats) -> Floats:
        return self._remaining_ranks(read)

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        return (
            self._extreme_by_sorting(tied, best=True)
            if best
            else super()._extreme(tied, best=False)
        )

    def answers(self) -> dict[str, Answer]:
        return {**super().answers(), "ideal": "exact"}


def inverse_squares(start: Floats, count: Floats) -> Floats:
    """Σ_{0≤j<count} (start / (start + j))², also for an infinite count."""
    from scipy.special import zeta

    rest = np.where(
        np.isfinite(count), zeta(2.0, np.where(np.isfinite(count), start + count, 1)), 0
    )
    return np.asarray(start**2 * (zeta(2.0, start) - rest))


RBP = register(RankBiasedPrecision())
INSQ = register(InverseSquares())
INST = register(AdaptiveInverseSquares())
NERR8 = register(NearlyERR8())
NERR9 = register(NearlyERR9())
NERR10 = register(NearlyERR10())
NERR11 = register(NearlyERR11())
BPM = register(BejeweledPlayer())

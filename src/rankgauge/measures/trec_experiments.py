"""Measures that trec_eval computes as experiments: binG, G, ndcg_rel, Rndcg and yaap.

Rndcg is `ndcg_levels` here: RNDCG is another measure.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.parameters import parameter
from rankgauge.measures.average_precision import PrecisionSumMeasure
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.gains import Gain, GainMap, divisors, gains
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import sort_by_gain
from rankgauge.native import segments as native
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of, segment_count


class BinaryG(Binary):
    """The relevant documents, each discounted by the non-relevant ones above it."""

    name = "binG"
    summary = (
        "Binary G: relevant documents, discounted by the number of non-relevant documents ranked "
        "above them."
    )
    formula = "binG = (1/R) · Σ_{retrieved relevant} 1/log2(2 + |others above|)"
    source = "Buckley, trec_eval 9"
    range = (0.0, 1.0)
    swap_monotone = True
    ideal_is_best = True
    examples = ("binG", "binG(rel=2)@100")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        above = lists.ranks - lists.running_count(relevant)
        found = lists.sum(np.where(relevant, 1 / np.log2(2.0 + above), 0.0))
        return ratio(found, lists.judged.relevant(self.rel)[lists.query])


class SmoothedAveragePrecision(PrecisionSumMeasure):
    """Average precision on a log-odds scale, which averages better over queries."""

    name = "yaap"
    summary = "Average precision, smoothed and placed on a log-odds scale."
    formula = "yaap = ln((1 + SP)/(1 + R − SP)), SP the sum of precisions"
    source = "Robertson 2012, On smoothing average precision"
    range = (-np.inf, np.inf)
    examples = ("yaap",)

    def _score_from_sum(self, total: Floats, relevant: Floats) -> Floats:
        return np.log((1 + total) / (1 + relevant - total))


class IdealGainMeasure(Measure):
    """Measures that hold the gains of a ranking against those of the ideal, rank by rank."""

    source = "Buckley, trec_eval 9"
    cutoffs = "none"
    ideal_is_best = True

    gain: str | GainMap = parameter(
        Gain(),
        "linear: the label; exp2: 2^label − 1; scaled: (2^label − 1)/2^max_grade; or a map",
        default="linear",
    )

    def _ideal(self, judged: JudgedLabels) -> tuple[Floats, Ints, Ints]:
        """The positive gains of each query, highest first, their offsets and their numbers."""
        value = gains(self.gain, judged.labels, judged.max_grade)
        value = gains(self.gain, sort_by_gain(judged, value).labels, judged.max_grade)
        positive = segment_count(value > 0, judged.offsets)
        return value[value > 0], offsets_of(positive), positive

    def _gains(self, lists: Rankings) -> Floats:
        return gains(self.gain, lists.labels, lists.judged.max_grade)


class NormalizedGain(IdealGainMeasure):
    """Gains discounted by how far the ranking is behind the ideal one."""

    name = "G"
    summary = (
        "Normalized gain: gains discounted by how far the ranking lags behind the ideal ranking."
    )
    formula = (
        "G = (1/Σ ideal gains) · Σ_i gain_i / log2(2 + cost_i − gained_i), gained_i the sum of "
        "the gains down to rank i, cost_i the sum of the ideal gains down to rank i, where an "
        "ideal gain below 1 counts as 1"
    )
    range = (0.0, 1.0)
    examples = ("G", "G(gain={1:1,2:3})")

    def _score(self, lists: Rankings) -> Floats:
        ideal, offsets, positive = self._ideal(lists.judged)
        value = self._gains(lists)
        behind = np.maximum(ideal_at_ranks(lists, ideal, offsets, positive), 1.0) - value
        lag = native.segment_cumsum(behind, lists.offsets)
        total = lists.sum(np.where(value != 0, value / np.log2(2.0 + lag), 0.0))
        return ratio(total, native.segment_sum(ideal, offsets)[lists.query])


class NDCGAtRelevant(IdealGainMeasure):
    """nDCG averaged over the ranks of the relevant documents."""

    name = "ndcg_rel"
    summary = "The mean of nDCG over the ranks of the relevant documents."
    formula = (
        "ndcg_rel = (1/n) · Σ nDCG@(its rank) over the n documents with a gain. A document that "
        "is not retrieved contributes the DCG of the whole ranking / the DCG of the whole ideal "
        "ranking"
    )
    range = (0.0, 1.0)
    examples = ("ndcg_rel",)

    def _score(self, lists: Rankings) -> Floats:
        ideal, offsets, positive = self._ideal(lists.judged)
        value = self._gains(lists)
        log = divisors("log2", int(max(lists.ranks.max(initial=0), positive.max(initial=0))))
        dcg = native.segment_cumsum(value / log[lists.ranks - 1], lists.offsets)
        best = native.segment_cumsum(
            ideal_at_ranks(lists, ideal, offsets, positive) / log[lists.ranks - 1], lists.offsets
        )
        found = value > 0
        at_found = lists.sum(np.where(found, ratio(dcg, best), 0.0))
        missing = positive[lists.query] - lists.count(found)
        place = np.arange(len(ideal)) - np.repeat(offsets[:-1], positive)
        whole = native.segment_sum(ideal / log[place], offsets)[lists.query]
        last = lists.sum(value / log[lists.ranks - 1])
        return ratio(at_found + ratio(missing * last, whole), positive[lists.query])


class NDCGAtGainLevels(IdealGainMeasure):
    """nDCG averaged over the ranks at which the ideal ranking changes its level of gain."""

    name = "ndcg_levels"
    summary = "The mean of nDCG over the ranks at which the gain of the ideal ranking drops."
    formula = (
        "ndcg_levels = the mean of nDCG@b over each rank b after which the gain of the ideal "
        "ranking drops, and over the last rank of the list if the list is longer than the ideal "
        "ranking by 2 or more"
    )
    range = (0.0, 1.0)
    examples = ("ndcg_levels",)

    def _score(self, lists: Rankings) -> Floats:
        ideal, offsets, positive = self._ideal(lists.judged)
        place = np.arange(len(ideal)) - np.repeat(offsets[:-1], positive)
        log = divisors("log2", int(max(lists.ranks.max(initial=0), positive.max(initial=0))))
        best = native.segment_cumsum(ideal / log[place], offsets)
        last_of_level = np.append(ideal[1:] != ideal[:-1], True)[: len(ideal)]
        last_of_level[offsets[1:][positive > 0] - 1] = True
        level_offsets = offsets_of(segment_count(last_of_level, offsets))
        rank, reached = place[last_of_level] + 1, best[last_of_level]

        levels = np.diff(level_offsets)[lists.query]
        pair_offsets = offsets_of(levels)
        pair = np.arange(pair_offsets[-1]) + np.repeat(
            level_offsets[lists.query] - pair_offsets[:-1], levels
        )
        dcg = native.segment_cumsum(self._gains(lists) / log[lists.ranks - 1], lists.offsets)
        seen = np.minimum(rank[pair], np.repeat(lists.lengths, levels))
        row = np.repeat(lists.offsets[:-1], levels) + seen - 1
        gained = np.where(seen > 0, np.append(dcg, 0.0)[row], 0.0)
        total = native.segment_sum(gained / reached[pair], pair_offsets)

        found = positive[lists.query]
        goes_on = (lists.lengths > found + 1) & (found > 0)
        end = np.append(dcg, 0.0)[lists.offsets[1:] - 1]
        whole = np.append(best, 1.0)[offsets[1:] - 1][lists.query]
        total += np.where(goes_on, ratio(end, whole), 0.0)
        return ratio(total, levels + goes_on)


def ideal_at_ranks(lists: Rankings, ideal: Floats, offsets: Ints, positive: Ints) -> Floats:
    """For each row of the lists, the ideal ranking's gain at its rank, 0 beyond its end."""
    within = lists.ranks <= lists.each_row(positive[lists.query])
    row = lists.each_row(offsets[:-1][lists.query]) + lists.ranks - 1
    return np.where(within, np.append(ideal, 0.0)[np.where(within, row, -1)], 0.0)


binG = register(BinaryG())
G = register(NormalizedGain())
ndcg_rel = register(NDCGAtRelevant())
ndcg_levels = register(NDCGAtGainLevels())
yaap = register(SmoothedAveragePrecision())

"""Counts of documents, and the share that is not judged: what the other numbers rest on."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer
from rankgauge.core.notes import Note
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Measure
from rankgauge.measures.registry import register
from rankgauge.rankings.lists import JudgedLabels, Rankings


class Count(Measure):
    """A number of documents. Neither higher nor lower is better."""

    range = (0.0, np.inf)
    direction = "none"
    bounding = "no"
    source = "trec_eval"

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        """One note for all runs and all counts: this is a mean, and how to get the sum."""
        kind = (
            "the mean over queries; trec_eval prints the sum, which is the mean times the number of "
            "queries"
        )
        return [Note(kind)] if len(judged) else []


class CountByLevel(Count):
    """A number of documents on one side of a level of relevance."""

    rel: int = parameter(Integer(1), "the lowest label that counts as relevant", default=1)


class NumberRetrieved(Count):
    """How many documents a ranking holds."""

    name = "NumRet"
    summary = "The number of documents retrieved."
    formula = "NumRet = |retrieved|"
    elsewhere = {"rel": "relevant documents are counted by NumRelRet(rel=1)"}  # noqa: RUF012
    examples = ("NumRet", "NumRet@10")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        return lists.lengths.astype(np.float64)


class NumberRelevant(CountByLevel):
    """How many documents of a query are relevant, whatever is retrieved."""

    name = "NumRel"
    summary = "The number of relevant documents of a query."
    formula = "NumRel = R"
    cutoffs = "none"
    examples = ("NumRel", "NumRel(rel=2)")

    def _score(self, lists: Rankings) -> Floats:
        return lists.judged.relevant(self.rel)[lists.query].astype(np.float64)

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        """That this is a mean, and the sum, which is the same for all runs."""
        total = int(judged.relevant(self.rel).sum())
        kind = "the mean over queries; the sum over all queries, which trec_eval prints, is"
        return [Note(f"{kind} {total:,}", count=total)] if len(judged) else []


class NumberRelevantRetrieved(CountByLevel):
    """How many relevant documents a ranking holds."""

    name = "NumRelRet"
    summary = "The number of relevant documents retrieved."
    formula = "NumRelRet = |retrieved with label ≥ rel|"
    examples = ("NumRelRet", "NumRelRet(rel=2)@10")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        return lists.count(lists.relevant(self.rel)).astype(np.float64)


class NumberNonrelevantRetrieved(CountByLevel):
    """How many documents of a ranking are judged and not relevant."""

    name = "NumNonRelRet"
    summary = "The number of retrieved documents that were judged non-relevant."
    formula = "NumNonRelRet = |retrieved with a label from 0 to rel − 1|"
    examples = ("NumNonRelRet", "NumNonRelRet(rel=2)@10")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        return lists.count((lists.labels >= 0) & (lists.labels < self.rel)).astype(np.float64)


class UnjudgedAt(Measure):
    """How much of the first k places holds a document that nobody judged."""

    name = "Unjudged"
    summary = "The share of the top k ranks that hold an unjudged document."
    formula = (
        "Unjudged@k = |unjudged in the top k| / k, even if fewer than k documents are retrieved"
    )
    source = "trec_eval 10 (as unj)"
    range = (0.0, 1.0)
    direction = "none"
    bounding = "no"
    cutoffs = "required"
    examples = ("Unjudged@10",)
    deeper = "divides"

    def _score(self, lists: Rankings) -> Floats:
        return lists.count(lists.labels < 0) / float(self.cutoff or 1)


NumRet = register(NumberRetrieved())
NumRel = register(NumberRelevant())
NumRelRet = register(NumberRelevantRetrieved())
NumNonRelRet = register(NumberNonrelevantRetrieved())
Unjudged = register(UnjudgedAt())

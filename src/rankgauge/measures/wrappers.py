"""What a measure answers, as measures of their own: lower, upper, ideal, worst, expected."""

from __future__ import annotations

from rankgauge.data.model import Floats
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.measures.base import Answer, Wrapper
from rankgauge.measures.registry import register


class _Bound(Wrapper):
    """One end of a measure's bounds: the measure itself once every document is judged."""

    @property
    def bounding(self) -> Answer:
        return self.measure.bounding

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        return self.measure.ideal_each(judged)

    def worst_each(self, judged: JudgedLabels) -> Floats:
        return self.measure.worst_each(judged)

    def expected_each(self, judged: JudgedLabels) -> Floats:
        return self.measure.expected_each(judged)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return self.measure.bounds_each(rankings)


class Lower(_Bound):
    """The score at least, whatever the unjudged documents are."""

    name = "lower"
    summary = "The lowest score over all labels of a ranking's unjudged documents."
    formula = "lower(m) = min over labels of the unjudged documents of m"
    examples = ("lower(RBP)", "lower(nDCG@10)")

    def score_each(self, rankings: Rankings) -> Floats:
        return self.measure.bounds_each(rankings)[0]


class Upper(_Bound):
    """The score at most, whatever the unjudged documents are."""

    name = "upper"
    summary = "The highest score over all labels of a ranking's unjudged documents."
    formula = "upper(m) = max over labels of the unjudged documents of m"
    examples = ("upper(RBP)", "upper(nDCG@10)")

    def score_each(self, rankings: Rankings) -> Floats:
        return self.measure.bounds_each(rankings)[1]


class _OfQuery(Wrapper):
    """A number that the judged documents alone give, the same for every ranking of the query."""

    def _value(self, judged: JudgedLabels) -> Floats:
        raise NotImplementedError

    def score_each(self, rankings: Rankings) -> Floats:
        return self._value(rankings.judged)[rankings.query]

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        return self._value(judged)

    def worst_each(self, judged: JudgedLabels) -> Floats:
        return self._value(judged)

    def expected_each(self, judged: JudgedLabels) -> Floats:
        return self._value(judged)


class Ideal(_OfQuery):
    """The best any order of the judged documents gets."""

    name = "ideal"
    summary = "The best score that any order of the judged documents gets."
    formula = "ideal(m) = max over orders of the judged documents of m"
    examples = ("ideal(DCG@5)", "ideal(P@10)")

    def _value(self, judged: JudgedLabels) -> Floats:
        return self.measure.ideal_each(judged)


class Worst(_OfQuery):
    """The worst any order of the judged documents gets."""

    name = "worst"
    summary = "The worst score that any order of the judged documents gets."
    formula = "worst(m) = min over orders of the judged documents of m"
    examples = ("worst(DCG@5)", "worst(AP)")

    def _value(self, judged: JudgedLabels) -> Floats:
        return self.measure.worst_each(judged)


class Expected(_OfQuery):
    """What a random ranking of the judged documents gets on average."""

    name = "expected"
    summary = "The mean score over all orders of the judged documents: what a random ranking gets."
    formula = "expected(m) = mean over orders of the judged documents of m"
    examples = ("expected(nDCG@10)", "expected(AP)")

    def _value(self, judged: JudgedLabels) -> Floats:
        return self.measure.expected_each(judged)


lower = register(Lower)
upper = register(Upper)
ideal = register(Ideal)
worst = register(Worst)
expected = register(Expected)

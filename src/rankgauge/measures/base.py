"""What a measure is: an immutable value that answers every question about itself.

To write one, subclass Measure, say what it is, and give `_score`. Everything else is derived, and
overridden where a measure knows better. CONTRIBUTING.md walks through an example.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints, Labels
from rankgauge.core.checks import Integer, number_text
from rankgauge.core.notes import Note
from rankgauge.core.parameters import parameter
from rankgauge.errors import MeasureError, Unsupported
from rankgauge.measures.declarations import SCORES, check_declarations
from rankgauge.measures.flip_formulas import FlipFormulas
from rankgauge.measures.labeling import (
    MOST_CELLS,
    MOST_LABELINGS,
    MOST_PERMUTED,
    bounds_by_list,
    enumerate_labelings,
    extremes,
    flip_changes,
    label_unjudged,
    labeled_variants,
)
from rankgauge.measures.one_list import SingleListMixin
from rankgauge.measures.orders import (
    MOST_PLACES,
    Mean,
    mean_over_orders,
    scores_of_all_orders,
    variance_over_orders,
)
from rankgauge.measures.scored import Scored
from rankgauge.rankings.flips import Flips, Places
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

if TYPE_CHECKING:
    from rankgauge.distance.algorithms.lists import GreatestDifferences, Lists

Answer: TypeAlias = Literal["exact", "enumerated", "monte-carlo", "no"]
OffList: TypeAlias = Literal["ignored", "divides", "counts"]
Deeper: TypeAlias = Literal["same", "divides", "counts"]


def estimate_notes(mean: Mean, what: str) -> list[Note]:
    """The note that numbers are estimated from random orders, if some are."""
    drawn = mean.samples > 0
    if not drawn.any():
        return []
    kind = f"{what} from {mean.samples.max():,} random orders on {{queries}}"
    error = float(np.nanmax(mean.errors[drawn], initial=0.0))
    kind += ", standard error at most {error}"
    return [Note(kind, count=int(np.count_nonzero(drawn)), error=error)]


class Measure(FlipFormulas, SingleListMixin, Scored):
    """A base class for measures: one number for each query, from labels in rank order.

    The score may also depend on the labels of all judged documents of the query. A measure is an
    immutable value: equal parameters make equal measures. `measure @ 10` sets the cutoff, and calling
    a measure sets other parameters, as in `AP(rel=2)`. It answers questions about one list of labels
    with `score`, `ideal`, `worst`, `expected`, `variance`, `bounds` and `flips`. It answers by a
    formula if it has one, and otherwise tries all orders or labels if there are few enough documents.
    If there are more, it estimates `expected` and `variance` from orders drawn at random, and refuses
    `ideal`, `worst` and `bounds`. `answers` tells how the measure answers each question.

    To write a measure, subclass `Measure`, declare what is true of its score in the class attributes
    below, and define `_score`. It gets rankings that are already cut at the cutoff, and returns one
    score for each. Parameters are fields made by `parameter`. Derive from `Binary` for measures that
    only ask whether a document is relevant. `rankgauge.testing.check_measure` tests the declarations,
    and `register` makes the measure known by its name. CONTRIBUTING.md walks through an example.

    Parameters
    ----------
    cutoff : int, optional
        How many documents of a ranking count; by default all. `measure @ 10` sets it too.

    Attributes
    ----------
    name : str
        The name, as in the text of the measure.
    summary, formula, source : str
        What `rankgauge measures` shows: the measure in one sentence, its formula, and the paper or tool
        that defines it.
    aliases : tuple of str
        Other names of the measure.
    examples : tuple of str
        Texts that show how the measure is written.
    range : tuple of float, default (0.0, 1.0)
        The lowest and the highest score.
    direction : {"higher", "lower", "none"}, default "higher"
        Which scores are better.
    averages_defined : bool, default True
        Whether means leave out queries whose score is undefined. Otherwise one such query makes the mean
        undefined.
    own_ties : str, optional
        How equal scores are treated, if the definition of the measure says so. An evaluation follows it
        instead of its own `ties`.
    cutoffs : {"optional", "required", "none"}, default "optional"
        Whether the measure takes a cutoff.
    expectation : {"enumerated", "exact", "monte-carlo", "no"}, default "enumerated"
        How the mean over all orders of tied documents is computed; "exact" if `_tied` is a formula.
    swap_monotone : bool, default False
        Whether putting the better of two neighbors first never hurts. Then the best order is by label.
    ideal_is_best : bool, default False
        Whether no list beats the best order of all the judged documents.
    tail_matters : bool, default True
        Whether documents of label 0, or none, below all others can change the score.
    monotone : bool, default False
        Whether raising one label never lowers the score, which depends on nothing but the list.
    off_list : {"ignored", "divides", "counts"}, default "counts"
        What relevant documents that are not in a ranking do to its score: nothing; divide the scores of
        all rankings of the query by the same number, which is at least 1; or anything else.
    deeper : {"same", "divides", "counts"}, default "counts"
        What the cutoff does to a score once it is deeper than the ranking and the judged documents
        together: nothing; divide the score by the cutoff; or anything else.
    open_ended : bool, default False
        Whether ranks beyond the end of a list have weight.
    by_subtopic : bool, default False
        Whether the measure asks which subtopics a document was judged for.
    over_orders : bool, default False
        Whether the measure compares a ranking with orders of documents, so that it matters which are
        judged.

    See Also
    --------
    parse : Make a measure from its text.

    Examples
    --------
    >>> from rankgauge import AP, nDCG
    >>> nDCG @ 10
    nDCG @ 10
    >>> AP.score([1, 0, 1], judged=[1, 1, 0, 0])
    0.8333333333333333

    A measure of your own, which adds up the labels at the even ranks:

    >>> class EvenRanks(Measure):
    ...     name = "EvenRanks"
    ...     range = (0.0, np.inf)
    ...     def _score(self, lists):
    ...         return lists.sum(np.where(lists.ranks % 2 == 0, np.maximum(lists.labels, 0), 0.0))
    >>> EvenRanks().score([2, 1, 0, 1])
    2.0
    """

    cutoffs: ClassVar[Literal["optional", "required", "none"]] = "optional"
    expectation: ClassVar[Answer] = "enumerated"
    swap_monotone: ClassVar[bool] = False
    """Whether putting the better of two neighbors first never hurts: the best order is by label."""
    ideal_is_best: ClassVar[bool] = False
    """Whether no list beats the best order of all the judged documents; where retrieving what is
    not relevant costs, a shorter one may."""
    tail_matters: ClassVar[bool] = True
    """Whether documents of label 0, or none, below all others can change the score."""
    monotone: ClassVar[bool] = False
    """Whether raising one label never lowers the score, which depends on nothing but the list."""
    off_list: ClassVar[OffList] = "counts"
    """What relevant documents that are not in a ranking do to its score. ignored: nothing. divides: they
    divide the scores of all rankings of the query by the same number, which is at least 1. counts:
    anything else. A `monotone` measure ignores them."""
    deeper: ClassVar[Deeper] = "counts"
    """What the cutoff does to a score once it is deeper than the ranking and the judged documents
    together. same: nothing. divides: the score is divided by the cutoff. counts: anything else."""
    open_ended: ClassVar[bool] = False
    """Whether the ranks beyond the end of a list have weight, so that documents there, which nobody has
    seen, could change the score."""
    by_subtopic: ClassVar[bool] = False
    """Whether it asks which subtopics a document was judged for."""
    over_orders: ClassVar[bool] = False
    """Whether it compares a ranking with the judged order of document pairs, so that it matters which
    documents are judged."""
    _of_some_scores: ClassVar[bool] = False
    """Whether a class without a score declares what is true of some scores only. A class that derives
    from a measure of this class, and has another score, must declare it again."""
    _distance: ClassVar[str] = ""
    """The name of its algorithm for distances, in the table of `distance/algorithms`; "" for none."""

    cutoff: int | None = parameter(
        Integer(1), "the number of top-ranked documents that count", default=None
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_declarations(cls, Measure)
        if not isinstance(cls._distance, str):
            raise MeasureError(
                f"{cls.__name__}: _distance is no text, expected the name of an algorithm in "
                "ALGORITHMS of rankgauge.distance.algorithms"
            )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is not None and self.cutoffs == "none":
            raise MeasureError(f"{self.name} takes no cutoff; write {self.name}")

    def __matmul__(self, cutoff: Any) -> Self:
        return dataclasses.replace(self, cutoff=cutoff)

    @overload
    def __call__(
        self, /, *values: Any, judged_only: Literal[True, "True"], **parameters: Any
    ) -> Measure:
        pass

    @overload
    def __call__(self, /, *values: Any, **parameters: Any) -> Self:
        pass

    def __call__(self, /, *values: Any, **parameters: Any) -> Measure:
        """The same measure with these parameters.

        `judged_only=True` takes unjudged documents out of a ranking before this measure looks at it,
        as `condensed` does.
        """
        judged_only = "judged_only" in parameters and "judged_only" not in self.parameters()
        only = parameters.pop("judged_only") if judged_only else False
        changed = dataclasses.replace(self, **self._arguments_by_name(values, parameters))
        if not judged_only:
            return changed
        from rankgauge.measures.judged_only import condense_if

        return condense_if(only, changed)

    def __str__(self) -> str:
        return self._format(self._format_parameters(python=False), ",", "@", self._cutoffs)

    def __repr__(self) -> str:
        return self._format(self._format_parameters(python=True), ", ", " @ ", self._cutoffs)

    def specification(self) -> str:
        """The text form with every parameter written out, as signatures have it."""
        return self._format(
            self._format_parameters(python=False, every=True), ",", "@", self._cutoffs
        )

    def at_cutoffs(self, cutoffs: Sequence[float]) -> str:
        """The text form of this measure at several cutoffs together, such as nDCG@5,10."""
        return self._format(self._format_parameters(python=False), ",", "@", cutoffs)

    @property
    def range_is_declared(self) -> bool:
        """Whether `range` is declared for this score, or only inherited."""
        first = next(k for k in type(self).__mro__ if {"range", *SCORES} & vars(k).keys())
        return "range" in vars(first)

    @property
    def family(self) -> Hashable:
        """A value that is equal for measures that differ only in their cutoff."""
        return type(self), self._values_except("cutoff"), self.cutoff is None

    @property
    def _cutoffs(self) -> tuple[float, ...]:
        return () if self.cutoff is None else (self.cutoff,)

    def _format(self, arguments: list[str], comma: str, at: str, cutoffs: Sequence[float]) -> str:
        inside = f"({comma.join(arguments)})" if arguments else ""
        places = ",".join(number_text(cutoff) for cutoff in cutoffs)
        return self.name + inside + (f"{at}{places}" if places else "")

    def complete(self) -> Self:
        """Return the measure itself; MeasureError if it still needs a cutoff."""
        if self.cutoff is None and self.cutoffs == "required":
            raise MeasureError(f"{self} needs a cutoff; write, for example, {self}@10")
        return self

    @property
    def depth(self) -> int | None:
        """How many documents of a ranking the measure looks at; None for all."""
        return self.cutoff

    @property
    def basis(self) -> Measure:
        """The measure that this one is computed from, together with the judged documents."""
        return self

    def from_basis(self, scores: Floats, judged: JudgedLabels, query: Ints | None = None) -> Floats:
        """The scores of lists, given their scores by `basis`: one list a query, or those of `query`."""
        return scores

    # One number a list or query: what subclasses give.

    def _score(self, lists: Rankings) -> Floats:
        """The score of each list, which holds no more documents than the cutoff."""
        raise NotImplementedError

    def score_each(self, rankings: Rankings) -> Floats:
        """The score of each list."""
        scores = np.asarray(self.complete()._score(rankings.top(self.depth)), dtype=np.float64)
        if scores.shape != (len(rankings),):
            message = f"{self}: _score gave shape {scores.shape}, expected one number a list"
            raise MeasureError(message)
        return scores

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The mean score of each list over all orders of its ties, where there is a formula."""
        return None

    def tied_each(self, tied: TiedRankings) -> Mean:
        """The mean score of each list over all orders of its tied documents.

        Computed by the measure's formula if it has one. Otherwise all orders are tried, or if there are
        too many, the mean is estimated from orders drawn at random.
        """
        undecided = tied.undecided
        means = Mean.exact(np.zeros(len(tied)))
        means.values[~undecided] = self.score_each(tied.pick(~undecided).rankings)
        if undecided.any():
            for whole, part in zip(means, self._mean_over_ties(tied.pick(undecided)), strict=True):
                whole[undecided] = part
        return means

    def _mean_over_ties(self, tied: TiedRankings) -> Mean:
        """The mean scores of lists of which each has a tie."""
        values = self._tied(tied) if self.knows("_tied") else None
        if values is not None:
            return Mean.exact(values)
        self._check_places(tied, "its mean over all orders of the ties", "draw orders of")
        return mean_over_orders(self.score_each, tied, self.depth)

    def _check_places(self, tied: TiedRankings, question: str, work: str) -> None:
        """Unsupported where the lists are too long for that work."""
        longest = int(tied.lengths.max(initial=0))
        if min(longest, self.depth or longest) > MOST_PLACES:
            raise self._unsupported_error(
                question,
                f"no formula is known for it, and {longest} documents are too many to {work}; "
                "a cutoff or a smaller collection would help",
            )

    def knows(self, formula: str) -> bool:
        """Whether this class has such a formula."""
        return getattr(type(self), formula) is not getattr(Measure, formula)

    def nothing_relevant_each(self, judged: JudgedLabels) -> NDArray[np.bool_]:
        """Which queries have no relevant document."""
        nothing: NDArray[np.bool_] = judged.relevant(self.relevant_from) == 0
        return nothing

    @property
    def relevant_from(self) -> int:
        """The lowest label that counts as relevant: what `rel` says, or 1."""
        return int(getattr(self, "rel", 1))

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        """The best score any order of each query's judged documents gets.

        The score of the highest label first if the measure is `swap_monotone`; otherwise all orders are
        tried.
        """
        if self.knows("_best_score"):
            return self.complete()._best_score(judged)
        return self.extreme_each(TiedRankings.all_tied(judged), best=True)

    def _best_score(self, judged: JudgedLabels) -> Floats:
        """The best score of each query, where there is a formula: quicker than to score an order."""
        raise NotImplementedError

    def worst_each(self, judged: JudgedLabels) -> Floats:
        """The worst score any order of each query's judged documents gets."""
        return self.extreme_each(TiedRankings.all_tied(judged), best=False)

    def extreme_each(self, tied: TiedRankings, *, best: bool) -> Floats:
        """The best score, or the worst, over all orders of each list's ties."""
        if self.direction == "none":
            raise self._unsupported_error("the best score", "neither higher nor lower is better")
        return self.complete()._extreme(tied, best=best)

    def _merit(self, labels: Labels, max_grade: int) -> Floats:
        """What the best order sorts by, the highest first: the label, or ½ for an unjudged document.

        For nearly all measures an unjudged document could as well be below label 0. It is above for
        the sake of CorrectPairs, for which only a judged document can be in the wrong place.
        """
        return np.where(labels < 0, 0.5, labels)

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        if not self.swap_monotone:
            return self._extreme_by_enumeration(tied, best=best)
        return self._extreme_by_sorting(tied, best=best)

    def _extreme_by_enumeration(self, tied: TiedRankings, *, best: bool) -> Floats:
        """The extreme over all orders, for measures that sorting does not serve."""
        if tied.lengths.max(initial=0) > MOST_PERMUTED:
            most = f"more than {MOST_PERMUTED} documents are too many to enumerate"
            raise self._unsupported_error("the best score of any order", most)
        scores = scores_of_all_orders(self.score_each, tied, self.depth)
        highest = best == (self.direction == "higher")
        return np.array([extremes(each)[highest] for each in scores])

    def _extreme_by_sorting(self, tied: TiedRankings, *, best: bool) -> Floats:
        """The score of each list with its ties in the best order of labels, or the worst."""
        if best and not self.tail_matters:
            tied = replace(tied, unlisted=np.zeros_like(tied.unlisted))
        if tied.unlisted.any():
            self._check_places(tied, "the best or worst score of any order", "lay out")
        grade = tied.rankings.judged.max_grade
        lists = tied.sort_ties(lambda labels: self._merit(labels, grade), self.depth, best=best)
        return self.score_each(lists)

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """The mean score over all orders of each query's judged documents."""
        if self.knows("expected_each"):  # so it is the override that asks, by `super()`
            return self._mean_of_one_tie(judged).values
        return self.random_each(judged).values

    def random_each(self, judged: JudgedLabels) -> Mean:
        """What a random order of each query's judged documents gets on average.

        It is the mean over ties, with all documents tied. It is computed by the measure's formula if it
        has one. Otherwise all orders are tried, or if there are too many, the mean is estimated from
        orders drawn at random.
        """
        if self.knows("expected_each"):
            return Mean.exact(self.expected_each(judged))
        return self._mean_of_one_tie(judged)

    def _mean_of_one_tie(self, judged: JudgedLabels) -> Mean:
        """The mean over ties with all judged documents of a query tied."""
        return self.complete()._mean_over_ties(TiedRankings.all_tied(judged))

    def _variance(self, tied: TiedRankings) -> Floats:
        """The variance of the score over all orders, of lists of one tie each, where it is known."""
        raise NotImplementedError

    def variance_each(self, judged: JudgedLabels) -> Floats:
        """The variance of the score over all orders of each query's judged documents."""
        return self.tied_variance_each(TiedRankings.all_tied(judged))

    def tied_variance_each(self, tied: TiedRankings) -> Floats:
        """The variance of the score over all orders, of lists of one tie each.

        Computed by the measure's formula if it has one. Otherwise all orders are tried, or if there are
        too many, orders drawn at random.
        """
        self.complete()
        return self._variance(tied) if self.knows("_variance") else self._variance_of_orders(tied)

    def _variance_of_orders(self, tied: TiedRankings) -> Floats:
        """The variance over all orders, or if there are too many, over orders drawn at random."""
        self._check_places(tied, "its variance over all orders", "draw orders of")
        return variance_over_orders(self.score_each, tied, self.depth)

    def _independent(self, tied: TiedRankings, places: Ints) -> Floats:
        """The mean score of random orders if ranks were independent, for lists of one tie each.

        `places` says how many ranks of each list count.
        """
        raise NotImplementedError

    def independent_each(self, tied: TiedRankings, capped: bool = False) -> Floats:
        """The mean score of random orders by the formula of Feng and Karmaker 2023.

        Each list is one tie. The formula counts k ranks, even where there are fewer documents.
        `capped` counts only ranks that documents fill.
        """
        if not self.knows("_independent"):
            raise self._unsupported_error(
                "the mean score of a random ranking with reb=independent", "no formula is known"
            )
        full = capped or self.depth is None
        places = tied.within(self.depth) if full else np.full(len(tied), self.depth)
        return self.complete()._independent(tied, places)

    def _full(self, tied: TiedRankings) -> Floats:
        """The score of k relevant documents, one on each place, whether they exist or not."""
        raise NotImplementedError

    def full_each(self, tied: TiedRankings) -> Floats:
        """The best score by the formula of Feng and Karmaker 2023, for lists of one tie each."""
        if not self.knows("_full"):
            raise self._unsupported_error(
                "the score of k relevant documents", "no formula is known"
            )
        return self.complete()._full(tied)

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        """Notes on the scores on these queries that hold for all rankings."""
        return []

    def list_remarks(self, rankings: Rankings) -> list[Note]:
        """Notes on the scores of these lists, beside `query_remarks`."""
        return []

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        """The lowest and highest score of each list over all labels of its unjudged documents."""
        if self.bounding == "no":
            raise self._unsupported_error(
                "its bounds", "its score depends on which documents are judged"
            )
        if self.monotone:
            return (
                self.score_each(label_unjudged(rankings, 0)),
                self.score_each(label_unjudged(rankings, rankings.judged.max_grade)),
            )
        return self._bounds_by_list(rankings, self._bounds_by_enumeration)

    def _bounds_by_list(
        self, rankings: Rankings, bounds_of_one: Callable[[Rankings], tuple[float, float]]
    ) -> tuple[Floats, Floats]:
        """The bounds of each list, one list at a time, from its labels alone."""
        if self.by_subtopic and rankings.judged.aspects is not None:
            raise self._unsupported_error(
                "its bounds for this ranking",
                "nobody knows which subtopics an unjudged document serves",
            )
        return bounds_by_list(rankings, bounds_of_one)

    @property
    def bounding(self) -> Answer:
        """How the bounds are computed."""
        return "exact" if self.monotone else "enumerated"

    def _bounds_by_enumeration(self, one: Rankings) -> tuple[float, float]:
        grades, free = one.judged.max_grade + 1, int(np.count_nonzero(one.labels < 0))
        if free * np.log(grades) > np.log(MOST_LABELINGS):
            raise self._unsupported_error(
                "its bounds for this ranking",
                f"{free} unjudged documents with {grades} grades are too many to enumerate",
            )
        variants = labeled_variants(one, enumerate_labelings(range(grades), free))
        return extremes(self.score_each(variants))

    def distance_each(self, lists: Lists, first: Ints, second: Ints) -> GreatestDifferences:
        """The greatest differences of pairs of lists over all labels of their free documents.

        Lists hold no documents beyond the cutoff. The measure's own algorithm is used if it has one.
        Otherwise all labels are tried, or if there are too many, some are searched.
        """
        from rankgauge.distance.algorithms import ALGORITHMS
        from rankgauge.distance.algorithms.any_measure import refine_differences, search_differences
        from rankgauge.distance.algorithms.lists import ListPairs

        lists = replace(
            lists.top(self.complete().depth),
            grades=self._different_grades(lists.grades),
            offlist=lists.offlist and not self.monotone and self.off_list == "counts",
        )
        pairs = ListPairs(lists, first, second)
        if not self._distance:
            within = self.range if self.range_is_declared else (-np.inf, np.inf)
            found = search_differences(self.score_each, pairs, within)
            return replace(found, exact=found.exact & (not self.open_ended))
        distances = ALGORITHMS.find(self._distance)(self, pairs)
        return (
            distances
            if distances.exact.all()
            else refine_differences(distances, self.score_each, pairs)
        )

    def divisor_each(self, judged: JudgedLabels) -> Floats:
        """What the score of each query is divided by, for a measure that is a sum over ranks; else 1.

        It is 1 also for a sum that is not divided by anything.
        """
        return np.ones(len(judged))

    @property
    def numerator(self) -> Measure | None:
        """The measure that this one divides by at most `greatest_divisor`; None if no limit is known."""
        return None

    def greatest_divisor(self, judged: JudgedLabels, grades: Labels) -> float:
        """The most that relevant documents which are not in a ranking can make `numerator` divided by.

        Enough such documents, with the best of `grades`, reach it whatever labels the documents of the
        rankings get. `judged` has one query.
        """
        return np.inf

    def _different_grades(self, grades: Labels) -> Labels:
        """These grades, which ascend from 0, without those that count as another one of them."""
        return grades

    def flip_each(self, rankings: Rankings) -> Floats:
        """How much the score of each list changes for each pair of neighbors that change places.

        The changes are in one array, list by list, from the first rank on.
        """
        if self.by_subtopic and rankings.judged.aspects is not None:
            raise self._unsupported_error(
                "what a flip changes", "it looks at documents, not at labels"
            )
        measure, flips = self.complete(), Flips.of(rankings)
        if measure.knows_flips:
            return measure._flip_changes(flips)
        return flip_changes(measure.score_each, rankings)

    def _unsupported_error(self, question: str, reason: str) -> Unsupported:
        able = ", ".join(q for q, how in self.answers().items() if how == "exact")
        message = f"{self} cannot compute {question}: {reason}"
        return Unsupported(f"{message}. It computes exactly: {able}")

    def answers(self) -> dict[str, Answer]:
        """What this measure can answer, and how."""
        directed: Answer = "exact" if self.swap_monotone else "enumerated"
        if self.direction == "none":
            directed = "no"
        return {
            "score": "exact",
            "ideal": directed,
            "worst": directed,
            "bounds": self.bounding,
            "expected": self.expectation,
            "variance": "exact" if self.knows("_variance") else "enumerated",
            "distance": "exact" if self.knows("_distance") else "enumerated",
            "flips": "exact" if self.knows_flips else "enumerated",
        }


class Binary(Measure):
    """A base class for measures that only ask whether a document is relevant.

    A document is relevant if its label is at least `rel`.

    Parameters
    ----------
    cutoff : int, optional
        How many documents of a ranking count; by default all. `measure @ 10` sets it too.
    rel : int, default 1
        The lowest label that counts as relevant.

    Notes
    -----
    The bounds are exact if the measure is `swap_monotone`. Suppose that s of the unjudged documents
    are relevant. The best choice is then the s documents ranked highest, and the worst choice the s
    documents ranked lowest: moving a relevant document up never hurts, and as s stays the same, so
    do the numbers of relevant and of non-relevant documents.

    Examples
    --------
    >>> class First(Binary):
    ...     name = "First"
    ...     def _score(self, lists):
    ...         return lists.sum(np.where(lists.relevant(self.rel) & (lists.ranks == 1), 1.0, 0.0))
    >>> First().score([1, 0, 1]), First(rel=2).score([1, 0, 2])
    (1.0, 0.0)
    """

    @property
    def bounding(self) -> Answer:
        return "exact" if self.swap_monotone else super().bounding

    rel: int = parameter(Integer(1), "the lowest label that counts as relevant", default=1)

    def _different_grades(self, grades: Labels) -> Labels:
        return grades[[0, -1]] if grades[-1] >= self.rel else grades[:1]

    def _relevant_above(self, places: Places) -> Ints:
        """How many relevant documents stand above each."""
        return places.count_above(places.kinds >= self.rel)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        if self.monotone or not self.swap_monotone:
            return super().bounds_each(rankings)
        return self._bounds_by_list(rankings, self._bounds_by_count)

    def _bounds_by_count(self, one: Rankings) -> tuple[float, float]:
        grade = one.judged.max_grade if one.judged.max_grade >= self.rel else 0
        free = int(np.count_nonzero(one.labels < 0))
        place = np.arange(free)[None, :]
        size = max(1, MOST_CELLS // (len(one.labels) + len(one.judged.labels) + 1))
        found = []
        for first in range(0, free + 1, size):
            count = np.arange(first, min(first + size, free + 1))[:, None]
            for chosen in (place < count, place >= free - count):
                variants = labeled_variants(one, np.where(chosen, grade, 0))
                found.append(extremes(self.score_each(variants)))
        return extremes(np.array(found).ravel())


def ratio(numerator: NDArray[np.generic], denominator: NDArray[np.generic]) -> Floats:
    """Numerator / denominator, and 0 where the denominator is 0: nothing to find, nothing found."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    result = np.zeros(shape)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result

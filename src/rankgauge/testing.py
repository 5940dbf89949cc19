"""The laws that every measure and every method of learning to rank obeys, for those of one's own.

`check_measure` tests a measure, and `check_ranker` tries a method of learning to rank.

A measure is compared with its own scores. Its best, worst and mean score must be those of all orders
of some labels, and its bounds those of all labels of the unjudged documents. Whether the score is the
one of the paper only its author knows; that needs a test by the author.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import Choice, Flag, Integer, Kind, Number
from rankgauge.core.laws import LawBroken as LawBroken, Laws, expect, fail, is_close, is_within
from rankgauge.errors import MeasureError, Unsupported
from rankgauge.measures.around import Wrapper, innermost
from rankgauge.measures.base import Binary, Measure
from rankgauge.measures.gains import Discount, Gain, UnitGain
from rankgauge.measures.grammar import parse
from rankgauge.measures.labeling import enumerate_labelings, extremes, labeled_variants
from rankgauge.measures.orders import mean_over_orders
from rankgauge.measures.registry import entries
from rankgauge.measures.scored import Scored
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

if TYPE_CHECKING:
    from rankgauge.rankers.base import Ranker

MAX_GRADE = 3
"""The highest grade of the collection in all cases."""
MAX_LIST_LENGTH = 4
"""All lists of up to so many judged documents are tried."""
RANDOM_CASES = 150
"""How many random rankings, with unjudged documents, are tried."""
FEW_CASES = 20
"""How many of these are tried one by one."""
MANY_LABELS = (3, 2, 2, 1, 1, 1, 1) * 3 + (0,) * 40
"""More documents than can be put into every order."""
INNER_MEASURES = ("DCG@2", "RR@3", "AP", "SearchLength")
"""What a wrapper is tried around."""


def check_measure(measure: Measure | type[Wrapper]) -> None:
    """Hold a measure to the laws; LawBroken for the first that it breaks.

    The measure is tried at several cutoffs and with each of its parameters changed, on all short lists
    of labels and on random ones. That takes a second or two. For a wrapper give its class; it is tried
    around several measures. The random lists are the same each time.

    >>> from rankgauge import AP
    >>> check_measure(AP)
    """
    if not isinstance(measure, Measure) and not (
        isinstance(measure, type) and issubclass(measure, Wrapper)
    ):
        raise MeasureError(
            f"{measure!r}: expected a measure, such as AP, or the class of a wrapper"
        )
    if isinstance(measure, Wrapper):
        raise MeasureError(f"{measure}: for a wrapper give its class, {type(measure).__name__}")
    count = 0
    for variant in variants(measure) if isinstance(measure, Measure) else wrapper_variants(measure):
        LAWS.check(variant)
        count += 1
    if not count:
        raise MeasureError(
            f"{measure.name} takes none of {', '.join(INNER_MEASURES)}, so nothing was tried"
        )


def check_ranker(ranker: Ranker | type[Ranker]) -> None:
    """Try a ranker, or a class with its default settings, on everything that all rankers must do.

    CheckFailed (in `rankgauge.rankers.checks`) names the first check that it fails. The data is made,
    and the same each time. It takes seconds.
    """
    from rankgauge.rankers import checks

    checks.check_ranker(ranker)


def variants(measure: Measure) -> Iterator[Measure]:
    """A measure at several cutoffs, and with each parameter changed, with and without a cutoff."""
    kinds = {field.name: field.metadata.get("kind") for field in dataclasses.fields(measure)}
    depths: list[Any] = (
        [None, 1, 3, 10] if isinstance(kinds["cutoff"], Integer) else [0, 0.3, 0.5, 1]
    )
    for depth in depths if measure.cutoffs != "none" else [None]:
        changed: list[dict[str, Any]] = [{}]
        if depth in (None, 3, 0.3):
            changed += other_parameters(measure)
        for parameters in changed:
            variant = measure(**parameters)
            try:
                yield (variant if depth is None else variant @ depth).complete()
            except MeasureError:
                if depth is not None:
                    raise


def wrapper_variants(wrapper: type[Wrapper]) -> Iterator[Measure]:
    """A wrapper around the measures that it takes."""
    for inside in map(parse, INNER_MEASURES):
        if isinstance(inside, Measure) and wrapper.takes(inside):
            try:
                yield wrapper(inside).complete()
            except MeasureError:  # it wants a cutoff inside
                continue


def other_parameters(measure: Scored) -> Iterator[dict[str, Any]]:
    """Each parameter of a measure or metric with some values beside its own."""
    for key, field in measure.parameters().items():
        for value in other_values(field.metadata.get("kind")):
            if value != getattr(measure, key):
                yield {key: value}


def other_values(kind: Kind | None) -> list[Any]:
    """Some values of a kind, beside a measure's own."""
    match kind:
        case Integer(least, most):
            return [least + 1] if most is None or least < most else [least]
        case Number(low, high):
            start = max(low, -2.5)
            return [start + 0.375 * (min(high, start + 6) - start)]
        case Choice(names):
            return list(names)
        case Flag():
            return [True, False]
        case UnitGain():
            return ["scaled", {1: 0.75, 2: 0.0, 3: 1.0}]
        case Gain():
            return ["exp2", "scaled", {1: 2.0, 2: 0.0, 3: 5.0}]
        case Discount():
            return ["zipf", "log_2"]
    return []


# What is tried


@cache
def _all_lists() -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], Ints]:
    """All short lists of labels, the multisets that they are orders of, and the multiset of each."""
    grades = range(MAX_GRADE + 1)
    lists = [
        order for n in range(MAX_LIST_LENGTH + 1) for order in itertools.product(grades, repeat=n)
    ]
    lists += [order for n in (5, 6) for order in itertools.product((0, 1), repeat=n)]
    multisets = sorted({tuple(sorted(order)) for order in lists})
    return lists, multisets, np.array([multisets.index(tuple(sorted(order))) for order in lists])


@cache
def _random_lists() -> list[tuple[list[int], list[int]]]:
    """Random rankings, at most three documents of each unjudged, with all labels of the query."""
    generator = np.random.default_rng(2020)
    cases = []
    for _ in range(RANDOM_CASES):
        ranking = generator.integers(0, MAX_GRADE + 1, generator.integers(0, 6)).tolist()
        for place in generator.integers(0, 6, 3):
            if place < len(ranking):
                ranking[place] = int(generator.integers(-2, 0))
        rest = generator.integers(0, MAX_GRADE + 1, generator.integers(0, 3)).tolist()
        cases.append((ranking, [label for label in ranking if label >= 0] + rest))
    return cases


@cache
def _rankings() -> tuple[Rankings, Rankings]:
    """All short lists, and the random ones, each of its own query."""
    lists, multisets, query = _all_lists()
    judged = JudgedLabels.of(*multisets, max_grade=MAX_GRADE)
    orders = dataclasses.replace(Rankings.of(*lists), query=query, judged=judged)
    cases = _random_lists()
    judged = JudgedLabels.of(*(known for _, known in cases), max_grade=MAX_GRADE)
    random = Rankings.of(*(ranking for ranking, _ in cases))
    return orders, dataclasses.replace(random, judged=judged)


def _copy_lists(lists: Rankings) -> Rankings:
    """A copy of some lists, for a measure that may change what it is shown."""
    judged = lists.judged
    return Rankings(
        lists.labels.copy(),
        lists.offsets.copy(),
        lists.query.copy(),
        JudgedLabels(
            judged.labels.copy(), judged.offsets.copy(), judged.pooled.copy(), judged.max_grade
        ),
    )


def _all_orders() -> Rankings:
    """All short lists; those of one query are all orders of its judged documents."""
    return _copy_lists(_rankings()[0])


def _random_rankings() -> Rankings:
    """Random rankings, each of its own query."""
    return _copy_lists(_rankings()[1])


def _sign(measure: Measure) -> int:
    """1 where higher is better, else -1."""
    return 1 if measure.direction == "higher" else -1


def _expect(holds: Bools, lists: Rankings, why: str, **values: NDArray[Any]) -> None:
    """Fail for the first list for which a law does not hold, as `expect` does."""
    expect(holds, partial(_case, lists), why, **values)


def _case(lists: Rankings, i: int) -> str:
    """A list and what is judged, as people would write them."""
    query, judged = lists.query[i], lists.judged
    ranking = lists.labels[lists.offsets[i] : lists.offsets[i + 1]].tolist()
    known = judged.labels[judged.offsets[query] : judged.offsets[query + 1]].tolist()
    return f"ranking {ranking} with judged {known}"


def _at_least(a: Floats, b: Floats) -> Bools:
    """Where a number is no less than another but for rounding, or both are undefined."""
    return (a >= b) | is_close(a, b)


# The laws

LAWS: Laws[Measure] = Laws()


@LAWS.law("leaves the lists as they were")
def _leaves_the_lists(measure: Measure) -> None:
    """Scoring changes no array of the lists."""
    for lists in (_all_orders(), _random_rankings()):
        before = [array.copy() for array in _arrays(lists)]
        advice = "expected that it works on copies, since other measures see the same lists"
        try:
            measure.score_each(lists)
        except Exception as error:
            if not isinstance(error, ValueError) or "read-only" not in str(error):
                return  # the next law tells it
            fail(f"it writes into arrays of the lists ({error}); {advice}")
        if not all(map(np.array_equal, before, _arrays(lists))):
            fail(f"it changes arrays of the lists; {advice}")


def _arrays(lists: Rankings) -> list[NDArray[Any]]:
    """What a measure sees of some lists."""
    judged = lists.judged
    return [
        *(lists.labels, lists.offsets, lists.query, lists.lengths, lists.ranks),
        *(judged.labels, judged.offsets, judged.pooled, judged.sizes),
        *(judged.relevant(rel) for rel in range(1, MAX_GRADE + 1)),
    ]


@LAWS.law("one number a list")
def _one_number_a_list(measure: Measure) -> None:
    """Each list has a finite score; it is undefined for all orders of some documents, or for none."""
    for lists in (_all_orders(), _random_rankings()):
        scores = measure.score_each(lists)
        _expect(
            ~np.isinf(scores),
            lists,
            "it scores {score}, expected a finite number",
            score=scores,
        )
    orders = _all_orders()
    scores = measure.score_each(orders)
    undefined = np.bincount(orders.query, weights=np.isnan(scores))
    some = (undefined > 0) & (undefined < np.bincount(orders.query))
    _expect(
        ~(some[orders.query] & np.isnan(scores)),
        orders,
        "it scores nan, but another order of the same documents gets a number; expected numbers for all",
    )


@LAWS.law("zero lists")
def _no_lists(measure: Measure) -> None:
    """Without lists there are no scores."""
    for judged in (
        JudgedLabels.of([1, 0], max_grade=MAX_GRADE),
        JudgedLabels.of(max_grade=MAX_GRADE),
    ):
        lists = Rankings.of(judged=judged)
        scores = measure.score_each(lists)
        if scores.shape != (0,):
            fail(f"zero lists have scores of shape {scores.shape}, expected none")


@LAWS.law("an empty list")
def _an_empty_list(measure: Measure) -> None:
    """An empty list has a score wherever a full one has."""
    for judged in ([1, 0, 0], [3, 2, 1, 0], [0, 0], []):
        empty, full = (
            measure.score(ranking, judged, max_grade=MAX_GRADE) for ranking in ([], judged)
        )
        if np.isnan(empty) and not np.isnan(full):
            fail(
                f"for ranking [] with judged {judged} it scores nan, expected a number: a query that a "
                "run lacks is scored as an empty ranking"
            )


@LAWS.law("range")
def _range(measure: Measure) -> None:
    """No score is outside the declared range."""
    low, high = measure.range
    many = JudgedLabels.of(MANY_LABELS, max_grade=MAX_GRADE)
    for lists in (
        _all_orders(),
        _random_rankings(),
        Rankings.of(MANY_LABELS, MANY_LABELS[::-1], judged=many),
    ):
        scores = measure.score_each(lists)
        _expect(
            is_within(scores, (low, high)) | np.isnan(scores),
            lists,
            f"it scores {{score}}, expected {low} to {high}",
            score=scores,
        )


@LAWS.law("each list alone")
def _each_list_alone(measure: Measure) -> None:
    """The score of a list does not depend on other lists."""
    lists = _random_rankings()
    together = measure.score_each(lists)
    turned = measure.score_each(_select_lists(lists, np.arange(len(lists))[::-1]))[::-1]
    alone = [
        measure.score(ranking, known, max_grade=MAX_GRADE)
        for ranking, known in _random_lists()[:FEW_CASES]
    ]
    turned[: len(alone)] = alone
    _expect(
        is_close(together, turned),
        lists,
        "it scores {together} together with other lists, but {alone} alone or in another order of the "
        "lists; expected the same score",
        together=together,
        alone=turned,
    )


def _select_lists(lists: Rankings, chosen: Ints) -> Rankings:
    """Some of the lists, in this order."""
    cut = [lists.labels[lists.offsets[i] : lists.offsets[i + 1]] for i in chosen]
    return dataclasses.replace(Rankings.of(*cut), query=lists.query[chosen], judged=lists.judged)


@LAWS.law("only rel")
def _only_rel(measure: Measure) -> None:
    """A binary measure only sees whether a label is at least `rel`."""
    if not isinstance(measure, Binary) or measure.rel > MAX_GRADE:
        return
    lists = _random_rankings()

    def two_labels(labels: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(labels < 0, labels, np.where(labels >= measure.rel, MAX_GRADE, 0))

    judged = dataclasses.replace(lists.judged, labels=two_labels(lists.judged.labels))
    as_two = dataclasses.replace(lists, labels=two_labels(lists.labels), judged=judged)
    before, after = measure.score_each(lists), measure.score_each(as_two)
    _expect(
        is_close(before, after),
        lists,
        f"it scores {{before}}, but {{after}} when each label from {measure.rel} on becomes {MAX_GRADE} "
        "and each lower label becomes 0; expected the same score, since it is a Binary measure",
        before=before,
        after=after,
    )


def _merit(measure: Measure) -> Floats:
    """What each label is worth to a measure, or to the measure inside it."""
    return innermost(measure)._merit(np.arange(MAX_GRADE + 1, dtype=np.int32), MAX_GRADE)


@LAWS.law("swap_monotone")
def _swap_monotone(measure: Measure) -> None:
    """Moving the better one of two neighbors up does not make the score worse."""
    if not measure.swap_monotone or measure.direction == "none":
        return
    lists = _all_orders()
    known, _, _ = _all_lists()
    place = {labels: i for i, labels in enumerate(known)}
    merit = _merit(measure)
    before, after, places, neutral = [], [], [], []
    for labels in known:
        for i, (upper, lower) in enumerate(itertools.pairwise(labels)):
            if merit[lower] >= merit[upper]:
                before.append(place[labels])
                after.append(place[(*labels[:i], lower, upper, *labels[i + 2 :])])
                places.append(i + 1)
                neutral.append(merit[lower] == merit[upper])
    scores = measure.score_each(lists)
    old, new = _sign(measure) * scores[before], _sign(measure) * scores[after]
    holds = np.where(neutral, is_close(old, new), _at_least(new, old))
    _expect(
        holds,
        _select_lists(lists, np.array(before)),
        "it scores {old}. When the document at rank {place} and the better one after it are swapped, it "
        "scores {new}; expected no worse score. Or set swap_monotone = False",
        old=scores[before],
        new=scores[after],
        place=np.array(places),
    )


def _check_extreme(measure: Measure, claimed: Floats, highest: bool) -> None:
    """The measure claims the highest or lowest score of the orders of each query's documents."""
    orders = _all_orders()
    right = np.full(len(orders.judged), np.nan)
    (np.fmax if highest else np.fmin).at(right, orders.query, measure.score_each(orders))
    _expect(
        is_close(claimed, right),
        orders.judged.best_first,
        f"the measure returns {{claimed}}, expected {{right}}, the {'highest' if highest else 'lowest'} "
        "score of any order of the judged documents",
        claimed=claimed,
        right=right,
    )


@LAWS.law("ideal")
def _ideal(measure: Measure) -> None:
    """The ideal is the best score of any order."""
    if measure.direction != "none":
        _check_extreme(
            measure, measure.ideal_each(_all_orders().judged), highest=_sign(measure) > 0
        )


@LAWS.law("worst")
def _worst(measure: Measure) -> None:
    """The worst is the worst score of any order."""
    if measure.direction != "none":
        _check_extreme(
            measure, measure.worst_each(_all_orders().judged), highest=_sign(measure) < 0
        )


@LAWS.law("ideal_is_best")
def _ideal_is_best(measure: Measure) -> None:
    """No ranking beats the best order of all judged documents."""
    if not measure.ideal_is_best or measure.direction == "none":
        return
    lists = _random_rankings()
    scores, ideal = measure.score_each(lists), measure.ideal_each(lists.judged)
    _expect(
        _at_least(_sign(measure) * ideal, _sign(measure) * scores) | np.isnan(ideal),
        lists,
        "it scores {score}, which is better than the ideal, {ideal}; expected no better score. Or set "
        "ideal_is_best = False",
        score=scores,
        ideal=ideal,
    )


def _mean(values: Floats, query: Ints) -> Floats:
    """The mean over the orders of each query's documents."""
    return np.bincount(query, weights=values) / np.bincount(query)


@LAWS.law("expected")
def _expected_score(measure: Measure) -> None:
    """The expected score is the mean over all orders."""
    orders = _all_orders()
    lists = orders.judged.best_first
    mean = measure.random_each(lists.judged)
    right = _mean(measure.score_each(orders), orders.query)
    _expect(
        is_close(mean.values, right),
        lists,
        "the measure returns {claimed}, expected {right}, the mean over all orders",
        claimed=mean.values,
        right=right,
    )
    _expect(
        (mean.errors == 0) & (mean.samples == 0),
        lists,
        "it draws random orders, expected that it tries all orders of so few documents",
    )


@LAWS.law("variance")
def _variance(measure: Measure) -> None:
    """The variance is the one over all orders."""
    orders = _all_orders()
    lists, query, scores = orders.judged.best_first, orders.query, measure.score_each(orders)
    mean = _mean(scores, query)
    right = _mean((scores - mean[query]) ** 2, query)
    claimed = measure.variance_each(lists.judged)
    scale = (1 + np.abs(mean)) ** 2
    _expect(
        is_close(claimed / scale, right / scale),
        lists,
        "the measure returns {claimed}, expected {right}, the variance over all orders",
        claimed=claimed,
        right=right,
    )


@LAWS.law("ties")
def _ties(measure: Measure) -> None:
    """The score of tied documents is the mean over their orders."""
    generator = np.random.default_rng(2008)
    for ranking, known in _random_lists()[:FEW_CASES]:
        judged = JudgedLabels.of(known, max_grade=MAX_GRADE)
        cuts = np.sort(generator.integers(0, len(ranking) + 1, 2))
        groups = np.split(np.array(ranking, dtype=np.int32), cuts)
        tied = TiedRankings.of(groups, judged=judged)
        mean = measure.tied_each(tied).values
        right = mean_over_orders(measure.score_each, tied, measure.depth).values
        if not is_close(mean, right).all():
            told = [group.tolist() for group in groups]
            fail(
                f"for the ranking with the tied groups {told} and judged {known} the measure returns "
                f"{mean[0]}, expected {right[0]}, the mean over all orders of the tied documents"
            )


@LAWS.law("tail_matters")
def _tail(measure: Measure) -> None:
    """Documents without gain at the end change nothing."""
    if measure.tail_matters:
        return
    for tail in ([-1], [-2, -1], [0], [-1, 0, 0]):
        zeros = tail.count(0)
        cases = [(ranking, known + [0] * zeros) for ranking, known in _random_lists()]
        judged = JudgedLabels.of(*(known for _, known in cases), max_grade=MAX_GRADE)
        lists = dataclasses.replace(Rankings.of(*(r for r, _ in cases)), judged=judged)
        longer = dataclasses.replace(Rankings.of(*(r + tail for r, _ in cases)), judged=judged)
        before, after = measure.score_each(lists), measure.score_each(longer)
        _expect(
            is_close(before, after),
            lists,
            f"it scores {{before}}, but {{after}} when {tail} is added at the end; expected the same "
            "score. Or set tail_matters = True",
            before=before,
            after=after,
        )


@LAWS.law("monotone")
def _monotone(measure: Measure) -> None:
    """A better label never lowers the score, which depends only on the ranking."""
    if not measure.monotone:
        return
    worth = np.argsort(_merit(measure), kind="stable").tolist()
    for ranking, known in _random_lists()[:FEW_CASES]:
        own = [label for label in ranking if label >= 0]
        alone, more = (
            measure.score(ranking, judged, max_grade=MAX_GRADE) for judged in (own, known)
        )
        if not is_close(np.array(alone), np.array(more)):
            fail(
                f"for ranking {ranking} it scores {alone} with judged {own}, but {more} with judged "
                f"{known}; expected the same score, since a monotone measure depends only on the "
                "ranking. Or set monotone = False"
            )
        one = Rankings.of(ranking, judged=JudgedLabels.of(known, max_grade=MAX_GRADE))
        free = sum(label < 0 for label in ranking)
        choices = enumerate_labelings(worth, free)
        scores = measure.score_each(labeled_variants(one, choices))
        for place in range(free):
            step = (MAX_GRADE + 1) ** (free - place - 1)  # to the same labels, but one worth more
            below = np.flatnonzero(choices[:, place] != worth[-1])
            wrong = below[~_at_least(scores[below + step], scores[below])]
            if len(wrong):
                before, after = choices[wrong[0]].tolist(), choices[wrong[0] + step].tolist()
                fail(
                    f"for {_case(one, 0)} it scores {scores[wrong[0]]} when its unjudged documents get "
                    f"the labels {before}, but {scores[wrong[0] + step]} when they get {after}; "
                    "expected that a better label never lowers the score. Or set monotone = False"
                )


@LAWS.law("off_list")
def _off_list(measure: Measure) -> None:
    """Judged documents that are not in the ranking do what the measure declares."""
    if measure.off_list == "counts":
        return
    for (ranking, known), (other, _) in itertools.pairwise(_random_lists()[:FEW_CASES]):
        known = [*known, *(label for label in other if label >= 0)]
        for more in ([0], [1], [MAX_GRADE, 2]):
            (one, two), (after, back) = (
                [measure.score(each, judged, max_grade=MAX_GRADE) for each in (ranking, other)]
                for judged in (known, [*known, *more])
            )
            if measure.off_list == "ignored":
                right = bool(is_close(np.array([one, two]), np.array([after, back])).all())
            else:
                in_step = bool(is_close(np.array(one * back), np.array(two * after)))
                right = in_step and abs(after) <= abs(one) * (1 + 1e-9) + 1e-12
            if not right:
                fail(
                    f"rankings {ranking} and {other} score {one} and {two}. With further judged "
                    f"documents {more} they score {after} and {back}; expected the same scores, or "
                    "scores divided by one number if off_list is 'divides'. Or set off_list = 'counts'"
                )


@LAWS.law("deeper")
def _deeper(measure: Measure) -> None:
    """A cutoff below all documents does what the measure declares."""
    if measure.deeper == "counts" or measure.cutoff is None:
        return
    for ranking, known in _random_lists():
        documents = len(ranking) + len(known) + 1
        near, far = (
            (measure @ cutoff).score(ranking, known, max_grade=MAX_GRADE)
            for cutoff in (documents, 3 * documents)
        )
        right = near if measure.deeper == "same" else near / 3
        if not is_close(np.array(far), np.array(right)):
            fail(
                f"ranking {ranking} with judged {known} scores {near} at the cutoff {documents} and "
                f"{far} at {3 * documents}, expected {right}, since deeper is {measure.deeper!r}. Or "
                "set deeper = 'counts'"
            )


@LAWS.law("bounds")
def _bounds(measure: Measure) -> None:
    """The bounds are the extremes over all labels of the unjudged documents."""
    for ranking, known in _random_lists()[:FEW_CASES]:
        judged = JudgedLabels.of(known, max_grade=MAX_GRADE)
        one = Rankings.of(ranking, judged=judged)
        if measure.bounding == "no":
            try:
                measure.bounds_each(one)
            except Unsupported:
                continue
            fail("it computes bounds, but bounding is 'no'; expected another value of bounding")
        free = sum(label < 0 for label in ranking)
        variants = labeled_variants(one, enumerate_labelings(range(MAX_GRADE + 1), free))
        right = extremes(measure.score_each(variants))
        bounds = tuple(float(end[0]) for end in measure.bounds_each(one))
        if not is_close(np.array(bounds), np.array(right)).all():
            fail(
                f"for {_case(one, 0)} the measure returns {bounds}, expected {right}, the lowest "
                "and the highest score over all labels of the unjudged documents"
            )


@LAWS.law("exact")
def _exact(measure: Measure) -> None:
    """Answers that are declared exact need neither all orders nor random ones."""
    how = measure.answers()
    if how["ideal"] == "exact":
        measure.ideal(MANY_LABELS)
    if how["worst"] == "exact":
        measure.worst(MANY_LABELS)
    if how["expected"] == "exact":
        mean = measure.expected(MANY_LABELS)
        if mean.samples or mean.error:
            fail(
                f"it says that its expected score is exact, but draws {mean.samples} orders of "
                f"{len(MANY_LABELS)} documents; expected a formula. Or set expectation = 'enumerated'"
            )


@LAWS.law("text form")
def _text(measure: Measure) -> None:
    """The text form, the signature and the Python form are read as the same measure."""
    if measure.name not in entries():
        return
    for what, text in (("text form", str(measure)), ("signature", measure.specification())):
        if parse(text) != measure:
            fail(f"its {what} {text!r} is read as {parse(text)}, expected the same measure")
    names: dict[str, Any] = dict(entries())
    if eval(repr(measure), {"__builtins__": {}}, names) != measure:
        fail(f"{measure!r} in Python is another measure")
    for example in measure.examples:
        parse(example)

"""Numbers from the papers and from worked examples."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rankgauge import (
    AP,
    DCG,
    ERR,
    RBP,
    RR,
    P,
    Q,
    Rprec,
    Success,
    Unsupported,
    bpref,
    evaluate,
    infAP,
    nDCG,
    parse,
)
from rankgauge.measures import SP, F, R, SearchLength

BINARY = [1, 1, 0, 0, 0]
GRADED = [2, 1, 0, 0]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (P @ 3, Fraction(2, 5)),
        (R @ 3, Fraction(3, 5)),
        (F @ 3, Fraction(12, 25)),
        (Success @ 3, Fraction(9, 10)),
        (RR, Fraction(77, 120)),
        (RR @ 3, Fraction(37, 60)),
        (SearchLength, Fraction(1)),
        (AP, Fraction(237, 400)),
        (SP @ 3, Fraction(17, 20)),
        (SP @ 10, Fraction(237, 200)),
        (bpref, Fraction(3, 8)),
        (RBP(p=0.8) @ 3, Fraction(122, 625)),
        (Rprec, Fraction(2, 5)),
    ],
)
def test_expectations_for_two_relevant_of_five(measure: object, expected: Fraction) -> None:
    assert measure.expected(BINARY) == pytest.approx(float(expected), abs=1e-15)  # type: ignore[attr-defined]


def test_expectation_of_inferred_average_precision() -> None:
    assert infAP.expected(BINARY) == pytest.approx(0.5925012833, abs=5e-11)


def test_expectations_for_graded_labels() -> None:
    assert (Q @ 2).expected(GRADED) == pytest.approx(3 / 8, abs=1e-15)
    assert (Q @ 4).expected(GRADED) == pytest.approx(733 / 1008, abs=1e-15)
    assert (ERR @ 2).expected(GRADED) == pytest.approx(23 / 64, abs=1e-15)
    assert (ERR @ 4).expected(GRADED) == pytest.approx(59 / 128, abs=1e-15)
    exponential = DCG(gain="exp2")
    assert (exponential @ 2).expected(GRADED) == pytest.approx(1.6309298, abs=5e-8)
    assert (exponential @ 2).ideal(GRADED) == pytest.approx(3.6309298, abs=5e-8)
    assert exponential.expected(GRADED) == pytest.approx(2.5616063, abs=5e-8)
    assert (nDCG(gain="exp2") @ 2).expected(GRADED) == pytest.approx(0.4491769, abs=5e-8)


def test_an_expectation_never_counts_more_places_than_documents() -> None:
    measure = DCG(gain={3: 3, 1: 1}) @ 5
    assert measure.expected([3, 1, 0]) == pytest.approx(2.841, abs=5e-4)
    assert measure.ideal([3, 1, 0]) == pytest.approx(3.631, abs=5e-4)


def test_the_jarvelin_kekalainen_discount_ignores_the_flip_of_the_first_two_ranks() -> None:
    measure = DCG(discount="log_2")
    assert measure.score([3, 0, 0]) == measure.score([0, 3, 0]) == 3.0
    assert measure.score([0, 0, 3]) == pytest.approx(3 / 1.584962500721156)


def test_gains_that_are_all_zero_are_a_score_of_zero() -> None:
    worthless = nDCG(gain={1: 0}) @ 5
    assert worthless.score([1, -1, 0]) == 0.0
    assert worthless.bounds([1, -1, 0]) == (0.0, 0.0)


def test_what_a_measure_cannot_answer_it_refuses_and_says_what_it_can() -> None:
    with pytest.raises(Unsupported, match="It computes exactly: score"):
        parse("Judged@10").ideal([1, 0])  # type: ignore[union-attr]


def test_labels_that_cannot_be_are_refused() -> None:
    from rankgauge import MeasureError

    with pytest.raises(MeasureError, match="`judged` has fewer"):
        AP.score([1, 1], judged=[1])
    with pytest.raises(MeasureError, match="from -2"):
        AP.score([-3])
    with pytest.raises(MeasureError, match="from 0"):
        AP.ideal([-1])
    for wrong in ([1.9, 0], ["a"], [None], [2**40], [[1]], 3):
        with pytest.raises(MeasureError, match="whole numbers"):
            AP.score(wrong)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match="max_grade=1"):
        ERR.score([2], max_grade=1)
    with pytest.raises(MeasureError, match="a whole number from 1"):
        ERR.score([2], max_grade=2.5)  # type: ignore[arg-type]
    with pytest.raises(MeasureError, match=r"above 1e\+30"):
        DCG(gain="exp2").score([5000])


@pytest.mark.parametrize("measure", ["compat@10", "compat(p=0.98)@1000", "compat(p=0.999)@2000"])
def test_the_score_of_a_query_does_not_depend_on_the_other_queries(measure: str) -> None:
    qrels = {f"q{n}": {f"d{i}": 1 for i in range(3 + 7 * n)} for n in range(4)}
    run = {
        query: {d: -float(i) for i, d in enumerate([*docs, "x"])} for query, docs in qrels.items()
    }
    run["q1"]["y"] = -1.5
    together = evaluate(qrels, run, measure).per_query()["run"]
    for query in qrels:
        alone = evaluate({query: qrels[query]}, {query: run[query]}, measure)
        assert alone.per_query()["run"][query] == together[query]

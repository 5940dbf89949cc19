"""The language of measures: other tools' names are understood, mistakes are explained."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rankgauge import AP, RBP, RR, MeasureError, P, nDCG, parse
from rankgauge.measures import R, gm, lower


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG@10", nDCG @ 10),
        (" nDCG ( gain = exp2 ) @ 10 ", nDCG(gain="exp2") @ 10),
        ("nDCG(gain='exp2')@10", nDCG(gain="exp2") @ 10),
        ("nDCG(gain={1:1,2:3})@10", nDCG(gain={1: 1, 2: 3}) @ 10),
        ("nDCG(discount=log_2)", nDCG(discount="log_2")),
        ("AP(norm=min)@100", AP(norm="min") @ 100),
        ("AP(2)", AP(rel=2)),
        ("RBP(0.95)", RBP(p=0.95)),
        ("RBP(p=.5)", RBP(p=0.5)),
        ("AP()", AP),
        ("R@10", R @ 10),
        ("gm(AP)", gm(AP)),
        ("lower(RBP(p=0.5)@10)", lower(RBP(p=0.5) @ 10)),
        ("nDCG(dcg='exp-log2')@10", nDCG(gain="exp2") @ 10),
        ("nDCG(dcg='log2')@10", nDCG @ 10),
        ("ndcg_cut_10", nDCG @ 10),
        ("ndcg_cut.10", nDCG @ 10),
        ("map", AP),
        ("gm_map", gm(AP)),
        ("map_cut_30", AP @ 30),
        ("recip_rank", RR),
        ("P_5", P @ 5),
        ("recall_1000", R @ 1000),
        ("alpha-nDCG@20", parse("alpha_nDCG@20")),
        ("ERR-IA@20", parse("ERR_IA@20")),
        ("F1@10", parse("F@10")),
    ],
)
def test_what_is_understood(text: str, measure: object) -> None:
    assert parse(text) == measure


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("nDCG@10(gain=exp2)", "write nDCG(gain=exp2)@10"),
        ("lower(nDCG)@10", "write lower(nDCG@10)"),
        ("gm(AP)@10", "write gm(AP@10)"),
        ("nDGC", "did you mean nDCG or"),
        ("nDGC@10", "no measure 'nDGC@10'; did you mean nDCG@10?"),
        ("NDCG10", "no measure 'NDCG10'; did you mean nDCG@10?"),
        ("v2(NDCG_5)", "did you mean nDCG@5?"),
        ("recal@10", "Recall"),
        ("nDCG(gain=exp3)", "scaled, fraction or a map"),
        ("nDCG(gainz=exp2)", "it takes gain, discount"),
        ("nDCG(gain={0:1})", "a whole number from 1"),
        ("nDCG(gain={1:-1})", "a number from 0"),
        ("nDCG(discount=log_1)", "log_b with a whole b from 2"),
        ("nDCG(dcg=foo)", "expected log2, exp-log2"),
        ("RBP(p=1)", "strictly between 0 and 1"),
        ("P@0", "a whole number from 1"),
        ("P@2.5", "a whole number from 1"),
        ("P@-1", "a whole number from 1"),
        ("Rprec@10", "takes no cutoff"),
        ("AP(1,min,2)", "AP takes rel, norm"),
        ("AP(rel=1,2)", "values without a name come first"),
        ("AP(rel=1,rel=2)", "given twice"),
        ("AP(1,rel=2)", "given twice"),
        ("gm(gm(AP))", "expected a measure inside"),
        ("lower(gm(AP))", "expected a measure inside"),
        ("lower", "write, for example, lower(AP)"),
        ("lower()", "write, for example, lower(AP)"),
        ("lower(3)", "expected a name"),
        ("gm(AP,0.1)", "written key=value"),
        ("nDCG(gain=exp2,dcg='log2')", "dcg sets gain a second time"),
        ("nDCG(gain={1:" + "9" * 400 + "})", "a number from 0"),
        ("nDCG(", "expected a name"),
        ("nDCG@", "expected a number"),
        ("nDCG@10 AP", "expected nothing more"),
        ("nDCG;10", "';' is not understood"),
        ("", "write, for example, nDCG@10"),
        ("lower(" * 30 + "AP" + ")" * 30, "nested more than"),
        ("P@1" + "0" * 3000, "expected at most"),
    ],
)
def test_what_is_refused_and_how(text: str, remedy: str) -> None:
    with pytest.raises(MeasureError) as refusal:
        parse(text)
    assert remedy in str(refusal.value)


@given(st.text(max_size=40) | st.text("nDCGAP(){}=,:@'\"123. lower", max_size=40))
def test_no_text_crashes_the_reader(text: str) -> None:
    try:
        measure = parse(text)
    except MeasureError:
        return
    assert parse(str(measure)) == measure


def test_a_measure_that_lacks_its_cutoff_says_so_when_used() -> None:
    with pytest.raises(MeasureError, match="write, for example, P@10"):
        P.score([1, 0])
    with pytest.raises(MeasureError, match=r"AP\(norm=k\)@10"):
        AP(norm="k").score([1, 0])


def test_python_and_text_refuse_alike() -> None:
    for wrong in (
        lambda: nDCG(gain="exp3"),
        lambda: nDCG(gain=(1, 2)),
        lambda: nDCG(gain=((1, 2), (1, 3))),
        lambda: nDCG(gain={}),
        lambda: nDCG @ 0,
        lambda: AP(foo=1),
        lambda: gm("AP"),
        lambda: lower(AP) @ 10,
        lambda: gm(AP) @ 10,
        lambda: parse(3),  # type: ignore[arg-type]
    ):
        with pytest.raises(MeasureError):
            wrong()
    assert parse(AP) is AP


def test_a_measure_is_a_value() -> None:
    assert nDCG @ 10 == nDCG @ 10
    assert nDCG @ 10 != nDCG @ 20
    assert len({nDCG @ 10, parse("nDCG@10"), nDCG(gain="linear") @ 10}) == 1
    with pytest.raises(AttributeError):
        (nDCG @ 10).cutoff = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    "text", ["P@٣", "P@３", "RBP(p=٠.٥)", "P(rel=٢)", "nDCG(gain={1:٢})@5", "P_٣"]
)
def test_only_the_digits_0_to_9_make_numbers(text: str) -> None:
    with pytest.raises(MeasureError, match="is not understood here; write numbers with the digits"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["compat(normalize={1:1})", "nDCG(dcg={1:1})@5", "INSQ(min_rel={1:1})", "compat(normalize=1)"],
)
def test_a_value_that_no_synonym_has_is_refused(text: str) -> None:
    with pytest.raises(MeasureError, match="is unknown, expected"):
        parse(text)


@pytest.mark.parametrize("text", ["P@1_0", "nDCG@10-l٢", "iprec_at_recall_0.٣", "RBP(p=1_0e-2)"])
def test_other_digits_and_underscores_are_refused(text: str) -> None:
    with pytest.raises(MeasureError):
        parse(text)

"""Names of other tools: understood with their meaning, in any case, or refused with what to write."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace
from typing import Any

import ir_measures
import pytest
import pytrec_eval

import rankgauge as rg
from rankgauge.measures import registry
from rankgauge.measures.grammar import parse_all
from rankgauge.measures.names import (
    AMBIGUOUS_NAMES,
    NAMES,
    AmbiguousName,
    Name,
    example,
    normalize_name,
    translate_name,
)
from rankgauge.measures.registry import MEASURES

RANX = {
    "hit_rate@5": "Success@5",
    "precision@5": "P@5",
    "precision": "SetP",
    "recall@5": "Recall@5",
    "f1@3": "F@3",
    "f1": "SetF",
    "r-precision": "Rprec",
    "r_precision": "Rprec",
    "mrr": "RR",
    "mrr@10": "RR@10",
    "map": "AP",
    "map@100": "AP@100",
    "dcg@5": "DCG@5",
    "dcg_burges@5": "DCG(gain=exp2)@5",
    "ndcg@5": "nDCG@5",
    "ndcg_burges@5": "nDCG(gain=exp2)@5",
    "bpref": "bpref",
    "rbp.95": "RBP(p=0.95,gain=linear)",
    "map-l2": "AP(rel=2)",
    "precision@5-l2": "P(rel=2)@5",
}
"""All metrics of ranx 0.3.20 (`metric_switch` in ranx/metrics/__init__.py) but hits, and its -l."""


@pytest.mark.parametrize(("text", "ours"), RANX.items())
def test_metrics_of_ranx_are_understood(text: str, ours: str) -> None:
    assert str(rg.parse(text)) == ours


TREC_EVAL = {
    "11pt_avg": "ElevenPoint",
    "G": "G",
    "P": "P",
    "Rndcg": "ndcg_levels",
    "Rprec": "Rprec",
    "binG": "binG",
    "bpref": "bpref",
    "gm_bpref": "gm(bpref)",
    "gm_map": "gm(AP)",
    "infAP": "infAP",
    "map": "AP",
    "ndcg": "nDCG",
    "ndcg_rel": "ndcg_rel",
    "num_nonrel_judged_ret": "NumNonRelRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet",
    "recip_rank": "RR",
    "set_F": "SetF",
    "set_P": "SetP",
    "set_map": "SetAP",
    "set_recall": "Recall",
    "set_relative_P": "SetRelP",
    "utility": "Utility",
}
REFUSED = {
    "Rprec_mult": "Rprec(times=0.5)",
    "iprec_at_recall": "IPrec@0.1",
    "map_cut": "AP@5,10",
    "ndcg_cut": "nDCG@5,10",
    "num_q": "len(scores.queries)",
    "recall": "Recall@5,10",
    "relative_P": "RelP@5,10",
    "relstring": "rankgauge trec_eval",
    "runid": "every table",
    "success": "Success@1,5,10",
}


@pytest.mark.parametrize("name", sorted(pytrec_eval.supported_measures))
def test_measures_of_pytrec_eval_are_understood_or_refused(name: str) -> None:
    if name in TREC_EVAL:
        assert str(rg.parse(name)) == TREC_EVAL[name]
    else:
        with pytest.raises(rg.MeasureError, match=re.escape(REFUSED[name])):
            rg.parse(name)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("ndcg_cut.1,3", ["nDCG@1", "nDCG@3"]),
        ("P_5,10", ["P@5", "P@10"]),
        ("iprec_at_recall_0.10", ["IPrec@0.1"]),
        ("Rprec_mult_0.20", ["Rprec(times=0.2)"]),
        ("utility.2,-1,0,0", ["Utility(found=2)"]),
        ("nDCG@5,10,20", ["nDCG@5", "nDCG@10", "nDCG@20"]),
        (" nDCG(gain=exp2) @ 5 , 10 ", ["nDCG(gain=exp2)@5", "nDCG(gain=exp2)@10"]),
        ("IPrec@0.1,.2", ["IPrec@0.1", "IPrec@0.2"]),
        ("v2(nDCG@5,10)", ["v2(nDCG@5)", "v2(nDCG@10)"]),
        ("v2(nDCG@5,10,null=run)", ["v2(nDCG@5,null=run)", "v2(nDCG@10,null=run)"]),
        ("nDCG(judged_only=True)@5,10", ["condensed(nDCG@5)", "condensed(nDCG@10)"]),
        (["AP", "P@1,2"], ["AP", "P@1", "P@2"]),
        (rg.AP, ["AP"]),
        (ir_measures.nDCG @ 10, ["nDCG@10"]),
        ([ir_measures.AP, rg.RR], ["AP", "RR"]),
    ],
)
def test_one_text_may_stand_for_several_measures(text: Any, ours: list[str]) -> None:
    assert [str(measure) for measure in parse_all(text)] == ours
    qrels, run_ = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    assert [str(m) for m in rg.evaluate(qrels, run_, text).measures] == ours


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("nDCG@10,AP", "-m nDCG@10 -m AP; in Python give a list: ['nDCG@10', 'AP']"),
        ("nDCG@5,10,P(rel=2)@5", "-m nDCG@5,10 -m 'P(rel=2)@5'"),
        ("AP,RR", "-m AP -m RR"),
        ("P(rel=2)@5,AP(norm=min)@3", "-m 'P(rel=2)@5' -m 'AP(norm=min)@3'"),
        (
            "hits@5",
            "NumRelRet@5; for 1 if there is a relevant document and 0 otherwise, write Success@5",
        ),
        ("hits", "NumRelRet; for 1 if there is a relevant document and 0 otherwise, write Success"),
        (
            "accuracy@5",
            "Accuracy@5; for 1 if there is a relevant document and 0 otherwise, write Success@5",
        ),
        ("rndcg@10", "RNDCG@10; for trec_eval's Rndcg, write ndcg_levels"),
        ("recall", "write Recall; for trec_eval's cutoffs, write Recall@5,10"),
        ("rbp@95", "RBP@95; for a persistence, as in ranx, write RBP(p=0.95,gain=linear)"),
        ("set_F_4", "write SetF(beta=2)"),
        ("ndcg@10-l2", "nDCG(gain={1:0})@10"),
        ("ndcg_cut_10@5", "has a cutoff already"),
        ("gm_map(rel=2)", "inside gm(AP)"),
        ("v2(nDCG@10,judged_only=True)", "condensed(nDCG@10)"),
        ("nDCG(judged_only=maybe)", "expected True or False"),
        ("P@" + ",".join(["5"] * 101), "expected at most 100"),
    ],
)
def test_what_is_refused_says_what_to_write(text: str, remedy: str) -> None:
    with pytest.raises(rg.MeasureError) as refusal:
        parse_all(text)
    assert remedy in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "P@" + "11," * 600 + "x",
        "P@" + "1" * 1900 + ",",
        "utility_" + "1," * 900,
        "a" * 1000 + "-l" * 400,
        "nDCG@1" + ",(" * 900,
        "x." * 900 + "-",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    with pytest.raises(rg.MeasureError):
        parse_all(text)
    assert time.process_time() - start < 2


def test_parse_gives_one_measure() -> None:
    with pytest.raises(rg.MeasureError, match="several cutoffs"):
        rg.parse("nDCG@5,10")


# The table


@pytest.mark.parametrize("row", NAMES, ids=lambda row: row.spelling)
def test_every_name_is_read_as_the_table_says_in_any_case(row: Name) -> None:
    theirs, ours = example(row)
    meant = rg.parse(ours)
    refused = {normalize_name(other.spelling) for other in AMBIGUOUS_NAMES}
    for text in (theirs, theirs.lower(), theirs.upper().replace("Α", "α"), theirs.swapcase()):
        if text == theirs or (
            normalize_name(text) not in refused and text not in MEASURES.homes and "Α" not in text
        ):
            assert rg.parse(text) == meant, text
    if row.cut:
        assert rg.parse(f"{theirs}@7") == rg.parse(f"{row.cut}@7")
    assert (
        rg.parse(f"lower({theirs})") == rg.measures.lower(meant)
        if isinstance(meant, rg.Measure)
        else True
    )


@pytest.mark.parametrize("row", AMBIGUOUS_NAMES, ids=lambda row: row.spelling)
def test_every_unclear_name_is_refused_with_texts_that_are_read(row: AmbiguousName) -> None:
    name = row.spelling.replace("{}", "4")
    bare, cut = name, f"{name}@10"
    text = cut if row.when == "cut" else bare
    with pytest.raises(rg.MeasureError) as refusal:
        rg.parse(text)
    assert str(refusal.value).startswith(text)
    for written in re.findall(
        r"(?:is|are|write|means) ([A-Za-z_]+(?:\([^)]*\))?(?:@[\d.,]+\d)?)", str(refusal.value)
    ):
        if written in MEASURES.homes or "@" in written or "(" in written:
            assert parse_all(written)
    if row.when != "always":
        assert translate_name(name, row, "", "10" if row.when == "bare" else "") is None


def test_no_two_names_of_ours_differ_in_case_alone() -> None:
    assert len({normalize_name(name) for name in MEASURES.homes}) == len(MEASURES.homes)
    for row in NAMES:
        if row.spelling != "Rndcg":
            assert normalize_name(row.spelling) not in {
                normalize_name(name) for name in MEASURES.homes
            }


@pytest.mark.parametrize("name", sorted(MEASURES.homes))
def test_names_of_ours_are_read_without_regard_to_case(name: str) -> None:
    unclear = {normalize_name(row.spelling) for row in AMBIGUOUS_NAMES}
    for spelling in (name.lower(), name.upper(), name.swapcase(), name.replace("_", "-")):
        if normalize_name(spelling) not in unclear and spelling not in MEASURES.homes:
            assert registry.find(spelling) is registry.find(name)


def test_a_name_that_differs_in_case_alone_is_taken() -> None:
    for taken, match in (
        ("ap", "AveragePrecision"),
        ("MRR", "it means RR"),
        ("f1", "it means SetF"),
    ):

        class Own(rg.Measure):
            name = taken

        with pytest.raises(rg.MeasureError, match=match):
            rg.measures.register(Own())


def test_the_nearest_names_are_offered_also_of_other_tools() -> None:
    for text, near in (
        ("recip_rnk", "recip_rank"),
        ("nDGC@10", "nDCG"),
        ("hit_rates@5", "hit_rate"),
    ):
        with pytest.raises(rg.MeasureError, match=near):
            rg.parse(text)


# Measures of ir_measures


IR_MEASURES: dict[str, str | None] = {
    "Accuracy": "Accuracy",
    "AP": "AP",
    "BPM": None,
    "Bpref": "bpref",
    "Compat": "compat",
    "ERR_IA": "ERR_IA",
    "nERR_IA": "nERR_IA",
    "alpha_DCG": "alpha_DCG",
    "alpha_nDCG": "alpha_nDCG",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "AP_IA": "AP_IA",
    "P_IA": "P_IA",
    "StRecall": "strec",
    "ERR": "ERR",
    "INST": None,
    "INSQ": None,
    "infAP": "infAP",
    "IPrec": "IPrec",
    "Judged": "Judged",
    "nDCG": "nDCG",
    "NERR8": None,
    "NERR9": None,
    "NERR10": None,
    "NERR11": None,
    "NumQ": None,
    "NumRel": "NumRel",
    "NumRet": "NumRet",
    "P": "P",
    "R": "Recall",
    "RBP": None,
    "Rprec": "Rprec",
    "RR": "RR",
    "SDCG": None,
    "SetP": "SetP",
    "SetR": "Recall",
    "SetF": "SetF",
    "SetAP": "SetAP",
    "Success": "Success",
}
"""Its measures, and ours; None for those that are refused with the parameters they need, or without."""


@pytest.mark.parametrize("name", sorted(ir_measures.measures.registry))
def test_every_name_of_ir_measures_is_understood_or_refused(name: str) -> None:
    theirs = ir_measures.measures.registry[name]
    ours = IR_MEASURES[theirs.NAME]
    needed = theirs.SUPPORTED_PARAMS
    if "max_rel" in needed:
        theirs = theirs(max_rel=3)
    if ours is None:
        with pytest.raises(rg.MeasureError):
            rg.parse(theirs)
        return
    wanted = {"NumRelRet": "NumRelRet", "SetRelP": "SetRelP"}.get(name, ours)
    assert str(rg.parse(theirs)) == wanted
    if name != "Recall":
        assert str(rg.parse(name)) == wanted or name == "Precision"
    if "cutoff" in needed:
        assert rg.parse(f"{name}@7") == rg.parse(theirs @ 7)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (ir_measures.nDCG(dcg="exp-log2") @ 10, "nDCG(gain=exp2)@10"),
        (ir_measures.nDCG(gains={0: 0, 1: 2, 3: 7}) @ 5, "nDCG(gain={1:2,3:7})@5"),
        (ir_measures.nDCG(judged_only=True) @ 10, "condensed(nDCG@10)"),
        (ir_measures.P(rel=2, judged_only=True) @ 5, "condensed(P(rel=2)@5)"),
        (ir_measures.AP(judged_only=False), "AP"),
        (ir_measures.IPrec @ 0.1, "IPrec@0.1"),
        (ir_measures.RBP(p=0.9, rel=1), "RBP(p=0.9)"),
        (ir_measures.RBP(rel=2) @ 10, "RBP(rel=2)@10"),
        (ir_measures.NumRelRet, "NumRelRet"),
        (ir_measures.NumRet(rel=2), "NumRelRet(rel=2)"),
        (ir_measures.SetP(relative=True, rel=2), "SetRelP(rel=2)"),
        (ir_measures.Compat(p=0.8, normalize=False), "compat(p=0.8,normalize=no)"),
        (ir_measures.alpha_nDCG(alpha=0.9) @ 20, "alpha_nDCG(alpha=0.9)@20"),
        (ir_measures.SetF(rel=2), "SetF(rel=2)"),
    ],
)
def test_parameters_of_ir_measures_are_understood(theirs: Any, ours: str) -> None:
    assert str(rg.parse(theirs)) == ours
    assert rg.parse(str(theirs)) == rg.parse(theirs)


@pytest.mark.parametrize(
    ("theirs", "remedy"),
    [
        (ir_measures.RBP, "'RBP(gain=linear)', for relevant or not write RBP(rel=1)"),
        (ir_measures.SetF(beta=4.0), "write SetF(beta=2.0)"),
        (ir_measures.NumQ, "len(scores.queries)"),
        (ir_measures.BPM(max_rel=3) @ 10, "max_grade"),
    ],
)
def test_what_means_another_thing_there_is_refused(theirs: Any, remedy: str) -> None:
    with pytest.raises(rg.MeasureError) as refusal:
        rg.parse(theirs)
    assert remedy in str(refusal.value)


def test_only_measures_of_ir_measures_are_taken_for_such() -> None:
    alike = SimpleNamespace(NAME="AP", params={}, AT_PARAM="cutoff")
    for thing in (alike, ir_measures.Qrel("q", "d", 1), type(ir_measures.AP), 3, None, b"AP"):
        with pytest.raises(rg.MeasureError, match="is not a measure"):
            rg.parse(thing)  # type: ignore[arg-type]

"""What other tools and people call measures, and the text of ours that means the same.

One table holds all of it; docs/GRAMMAR.md shows it. Names are read without regard to case, and - is
read as _. A name of ours, spelled as we spell it, is never looked up here. Nothing here imports a
measure: `rankgauge evaluate` starts no slower for the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankgauge.core.renamed import renamed_names
from rankgauge.errors import MeasureError

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)

DIGITS, NUMBER = "#", "{}"
"""What stands in a spelling for whole digits, and for a number."""


class Name(NamedTuple):
    """A name of other tools, and our text for it.

    `spelling` may end in a number, as in ndcg_cut_{}, which stands in `ours` too. `cut` is our text
    where the name has a cutoff and then means another measure.
    """

    spelling: str
    ours: str
    tools: str
    cut: str = ""


class AmbiguousName(NamedTuple):
    """A name that is refused: it has two meanings, or none here.

    `why` says so, with the texts to write. In it {at} stands for the cutoff, {p} for the cutoff as
    decimals, and {root} for the root of the number that the name ends in. `when`: whether a name is
    unclear always, only with a cutoff, or only without one.
    """

    spelling: str
    why: str
    tools: str
    when: Literal["always", "cut", "bare"] = "always"


CUTOFFS = "5,10,15,20,30,100,200,500,1000"
"""Where trec_eval cuts a ranking unless told otherwise."""

NAMES = (
    Name("map", "AP", "trec_eval, ranx, ir_measures"),
    Name("average_precision", "AP", "common"),
    Name("mean_average_precision", "AP", "common"),
    Name("map_cut_{}", "AP@{}", "trec_eval"),
    Name("map_at_{}", "AP@{}", "MTEB"),
    Name("gm_map", "gm(AP)", "trec_eval"),
    Name("mrr", "RR", "ranx, ir_measures"),
    Name("recip_rank", "RR", "trec_eval"),
    Name("reciprocal_rank", "RR", "common"),
    Name("mean_reciprocal_rank", "RR", "common"),
    Name("mrr_at_{}", "RR@{}", "MTEB"),
    Name("ndcg_cut_{}", "nDCG@{}", "trec_eval"),
    Name("ndcg_at_{}", "nDCG@{}", "MTEB"),
    Name("ndcg_burges", "nDCG(gain=exp2)", "ranx"),
    Name("dcg_burges", "DCG(gain=exp2)", "ranx"),
    Name("Rndcg", "ndcg_levels", "trec_eval"),
    Name("precision", "SetP", "ranx, ir_measures", cut="P"),
    Name("precision_at_{}", "P@{}", "MTEB"),
    Name("P_{}", "P@{}", "trec_eval"),
    Name("relative_P_{}", "RelP@{}", "trec_eval"),
    Name("R_cap", "RelP", "BEIR"),
    Name("R", "Recall", "ir_measures"),
    Name("SetR", "Recall", "ir_measures"),
    Name("set_recall", "Recall", "trec_eval"),
    Name("recall_{}", "Recall@{}", "trec_eval"),
    Name("recall_at_{}", "Recall@{}", "MTEB"),
    Name("f1", "SetF", "ranx", cut="F"),
    Name("f1_score", "SetF", "common", cut="F"),
    Name("r_precision", "Rprec", "ranx"),
    Name("rprecision", "Rprec", "common"),
    Name("Rprec_mult_{}", "Rprec(times={})", "trec_eval"),
    Name("hit_rate", "Success", "ranx"),
    Name("hitrate", "Success", "common"),
    Name("hit_ratio", "Success", "common"),
    Name("hr", "Success", "common"),
    Name("success_{}", "Success@{}", "trec_eval"),
    Name("rank_biased_precision", "RBP", "common"),
    Name("rbp.#", "RBP(p=0.{},gain=linear)", "ranx"),
    Name("expected_reciprocal_rank", "ERR", "common"),
    Name("gm_bpref", "gm(bpref)", "trec_eval"),
    Name("set_P", "SetP", "trec_eval"),
    Name("set_F", "SetF", "trec_eval"),
    Name("set_map", "SetAP", "trec_eval"),
    Name("set_relative_P", "SetRelP", "trec_eval"),
    Name("num_ret", "NumRet", "trec_eval"),
    Name("num_rel", "NumRel", "trec_eval"),
    Name("num_rel_ret", "NumRelRet", "trec_eval"),
    Name("num_nonrel_judged_ret", "NumNonRelRet", "trec_eval"),
    Name("unj_{}", "Unjudged@{}", "trec_eval"),
    Name("11pt_avg", "ElevenPoint", "trec_eval"),
    Name("IPrec11", "ElevenPoint", "common"),
    Name("iprec_at_recall_{}", "IPrec@{}", "trec_eval"),
    Name("SL", "SearchLength", "common"),
    Name("search_length", "SearchLength", "common"),
    Name("expected_search_length", "ESL", "common"),
    Name("strecall", "strec", "ir_measures"),
    Name("α_DCG", "alpha_DCG", "ir_measures"),
    Name("α_nDCG", "alpha_nDCG", "ir_measures"),
    Name("MAP_IA", "AP_IA", "ir_measures, ndeval"),
    Name("LF1", "Utility(found=3,noise=-2)", "TREC-8"),
    Name("LF2", "Utility(found=3,noise=-1)", "TREC-8"),
    Name("NF1", "NonlinearUtility(found_exponent=0.5)", "TREC-8"),
    Name("NF2", "NonlinearUtility", "TREC-8"),
    Name("T11SU", "ScaledUtility", "TREC 2002"),
)

AMBIGUOUS_NAMES = (
    AmbiguousName(
        "hits",
        "this name has two meanings; for the number of relevant documents, as in ranx, write "
        "NumRelRet{at}; for 1 if there is a relevant document and 0 otherwise, write Success{at}",
        "ranx, common",
    ),
    AmbiguousName(
        "accuracy",
        "this name has two meanings; for the share of pairs in the right order, as in "
        "ir_measures, write Accuracy{at}; for 1 if there is a relevant document and 0 otherwise, "
        "write Success{at}",
        "ir_measures, sentence-transformers",
    ),
    AmbiguousName(
        "rndcg",
        "this name has two meanings; for nDCG relative to a random ranking, write RNDCG{at}; for "
        "trec_eval's Rndcg, write ndcg_levels",
        "Gienapp et al. 2020, trec_eval",
    ),
    AmbiguousName(
        "recall",
        "this name has two meanings; for the whole ranking, write Recall; for trec_eval's cutoffs, "
        f"write Recall@{CUTOFFS}",
        "ranx, trec_eval",
        "bare",
    ),
    AmbiguousName(
        "success",
        "this name has two meanings; for the whole ranking, write Success; for trec_eval's "
        "cutoffs, write Success@1,5,10",
        "trec_eval",
        "bare",
    ),
    AmbiguousName(
        "rbp",
        "this name has two meanings; for a cutoff, write RBP{at}; for a persistence, as in ranx, "
        "write RBP(p={p},gain=linear)",
        "ranx",
        "cut",
    ),
    AmbiguousName("ndcg_cut", f"it needs cutoffs; write nDCG@{CUTOFFS}", "trec_eval"),
    AmbiguousName("map_cut", f"it needs cutoffs; write AP@{CUTOFFS}", "trec_eval"),
    AmbiguousName("relative_P", f"it needs cutoffs; write RelP@{CUTOFFS}", "trec_eval"),
    AmbiguousName("unj", "it needs cutoffs; write Unjudged@5,10,20", "trec_eval"),
    AmbiguousName("iprec_at_recall", "it needs recall levels; write IPrec@0.1", "trec_eval"),
    AmbiguousName("Rprec_mult", "it needs a multiple of R; write Rprec(times=0.5)", "trec_eval"),
    AmbiguousName(
        "set_F_{}",
        "trec_eval's parameter is the square of beta; write SetF(beta={root})",
        "trec_eval",
    ),
    AmbiguousName(
        "rbp_resid", "the residual is upper(RBP) minus lower(RBP); request both", "trec_eval"
    ),
    AmbiguousName("NumQ", "it counts queries; use len(scores.queries)", "ir_measures"),
    AmbiguousName("num_q", "it counts queries; use len(scores.queries)", "trec_eval"),
    AmbiguousName(
        "relstring",
        "it is text rather than a number; `rankgauge trec_eval -m relstring` prints it",
        "trec_eval",
    ),
    AmbiguousName("runid", "it is the name of the run, which every table shows", "trec_eval"),
)

UTILITY = r"(?i)utility[_.]([^,]+),([^,]+),([^,]+),([^,]+)"
"""trec_eval's utility with its four weights."""

LEVEL = r"(?i)([a-z0-9_-]+?)(@[0-9]+)?-l([0-9]+)"
"""ranx's level of relevance, as in precision@5-l2."""

WITH_GAINS = ("dcg", "ndcg", "dcg_burges", "ndcg_burges")

ZERO_GAIN_HINT = "that is 0 for these grades, such as nDCG(gain={1:0})@10"


def normalize_name(name: str) -> str:
    """A name as it is compared: without regard to case, - as _."""
    return name.lower().replace("-", "_")


def find_name(name: str) -> tuple[Name | AmbiguousName, str] | None:
    """What the table has for a name, and the number that the name ends in; None where it has nothing.

    A name in its own spelling comes before those that differ in case.
    """
    exact, plain, numbered = _lookup()
    if row := exact.get(name) or plain.get(normalize_name(name)):
        return row, ""
    for pattern, row in numbered:
        if match := pattern.fullmatch(normalize_name(name)):
            return row, match[1]
    return None


@cache
def _lookup() -> tuple[
    dict[str, Name | AmbiguousName],
    dict[str, Name | AmbiguousName],
    list[tuple[re.Pattern[str], Name | AmbiguousName]],
]:
    """The rows by spelling, by folded spelling, and those that end in a number."""
    rows: list[Name | AmbiguousName] = [*NAMES, *AMBIGUOUS_NAMES]
    plain = {row.spelling: row for row in rows if not row.spelling.endswith((NUMBER, DIGITS))}
    patterns = []
    for row in rows:
        if row.spelling not in plain:
            number = (
                r"([0-9]+)" if row.spelling.endswith(DIGITS) else r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
            )
            start = normalize_name(row.spelling).rstrip("#{}")[:-1]
            patterns.append((re.compile(rf"{re.escape(start)}[_.]{number}"), row))
    by_name = [row for row in plain.values() if isinstance(row, Name)]
    exact: dict[str, Name | AmbiguousName] = {row.spelling: row for row in by_name}
    # Of two rows that differ in case alone, the one that refuses counts.
    any_case = {normalize_name(row.spelling): row for row in rows if row.spelling in plain}
    return exact, any_case, patterns


def translate_name(name: str, row: Name | AmbiguousName, number: str, cutoff: str) -> str | None:
    """Our text for a name that has this cutoff, or none; MeasureError where the name is unclear.

    None where a name is unclear only with a cutoff, or only without one, and this is not the case.
    """
    if isinstance(row, Name):
        chosen = row.cut if row.cut and cutoff else row.ours
        return chosen.replace(NUMBER, number)
    if row.when not in ("always", "cut" if cutoff else "bare"):
        return None
    at = f"@{cutoff}" if cutoff else ""
    why = row.why.replace("{at}", at).replace("{p}", f"0.{cutoff}")
    if "{root}" in why:
        why = why.replace("{root}", f"{float(number) ** 0.5:g}")
    raise MeasureError(f"{name}{at}: {why}")


def other_names(ours: str, *, brief: bool = False) -> list[str]:
    """What a measure of ours is called elsewhere, with the tools that call it so.

    `brief` returns the names alone, without the names that end in a number.

    >>> other_names("Rprec")
    ['r_precision (ranx)', 'rprecision', 'Rprec_mult_0.5 (trec_eval)']
    """
    found = []
    for row in NAMES:
        root = {re.split(r"[(@]", text)[0] for text in (row.ours, row.cut)}
        if ours in root:
            spelling = example(row)[0]
            if not brief:
                found.append(spelling if row.tools == "common" else f"{spelling} ({row.tools})")
            elif spelling == row.spelling:
                found.append(spelling)
    return found


def example(row: Name) -> tuple[str, str]:
    """A name as its tool writes it, and our text for that.

    >>> example(Name("ndcg_cut_{}", "nDCG@{}", "trec_eval"))
    ('ndcg_cut_10', 'nDCG@10')
    """
    share = row.ours.startswith(("Rprec", "IPrec"))
    number = "95" if row.spelling.endswith(DIGITS) else "0.5" if share else "10"
    spelling = row.spelling.replace(DIGITS, number).replace(NUMBER, number)
    return spelling, row.ours.replace(NUMBER, number)


def translate_text(text: str) -> str:
    """A whole text in the form of another tool that our grammar does not have, or the text as it is."""
    if "," in text and (match := re.fullmatch(UTILITY, text)):
        return match.expand(r"Utility(1,\1,\2,\3,\4)")
    if "-" in text and (match := re.fullmatch(LEVEL, text)):
        name, cutoff, level = match[1], match[2] or "", match[3]
        if normalize_name(name) in WITH_GAINS:
            raise MeasureError(
                f"{text}: ranx leaves out the grades below {level}; write a gain {ZERO_GAIN_HINT}"
            )
        return f"{name}(rel={level}){cutoff}"
    return text


def translate_arguments(name: str, keywords: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A measure of ours and its arguments, from a name and arguments of ir_measures.

    Where both use the same words, nothing changes. `NumRet(rel=1)` becomes NumRelRet,
    `SetP(relative=True)` becomes SetRelP, and `gains` becomes `gain`.

    >>> translate_arguments("NumRet", {"rel": 2})
    ('NumRelRet', {'rel': 2})
    """
    rest = dict(keywords)
    if name == "NumRet" and "rel" in rest:
        return "NumRelRet", rest
    if name == "SetP" and "relative" in rest:
        return "SetRelP" if parse_bool(rest.pop("relative")) else name, rest
    if name == "nDCG" and "gains" in rest and "gain" not in rest:
        rest["gain"] = rest.pop("gains")
    return name, rest


def parse_bool(value: Any) -> bool:
    """True or False, as Python has them or as words; MeasureError for anything else."""
    words = {"true": True, "false": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise MeasureError(f"{value!r} does not fit, expected True or False")
    return value

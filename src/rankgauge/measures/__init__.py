"""The measures, one file a family, and the language they are written in.

A measure is imported when it is first asked for (`families.py`), here as in a text such as "nDCG@10".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names
from rankgauge.measures.families import HOMES

if TYPE_CHECKING:
    from rankgauge.core.parameters import parameter
    from rankgauge.core.plugins import load_plugin
    from rankgauge.measures.accuracy import Accuracy
    from rankgauge.measures.aggregates import gm, mean
    from rankgauge.measures.around import Aggregate, Wrapper
    from rankgauge.measures.average_precision import AP, SP, SSP
    from rankgauge.measures.base import Binary, Measure
    from rankgauge.measures.cascade import ERR, RBP
    from rankgauge.measures.counts import NumNonRelRet, NumRel, NumRelRet, NumRet, Unjudged
    from rankgauge.measures.cumulative_gain import CG, DCG, RNDCG, SDCG, nDCG, nDCG_LETOR
    from rankgauge.measures.diversity import (
        ERR_IA,
        NRBP,
        alpha_DCG,
        alpha_nDCG,
        nERR_IA,
        nNRBP,
        strec,
    )
    from rankgauge.measures.elsewhere import given
    from rankgauge.measures.grammar import parse
    from rankgauge.measures.intent_aware import AP_IA, P_IA
    from rankgauge.measures.judged_only import condensed
    from rankgauge.measures.normalization import linear, minmax, v1, v2, z
    from rankgauge.measures.one_list import Bounds
    from rankgauge.measures.overlap import compat
    from rankgauge.measures.precision import RR, Judged, P, R, Recall, Rprec, Success
    from rankgauge.measures.preference import CorrectPairs, bpref, infAP
    from rankgauge.measures.q_measure import GAP, Q
    from rankgauge.measures.recall_levels import ElevenPoint, IPrec
    from rankgauge.measures.registry import entries, register
    from rankgauge.measures.search_length import ESL, SearchLength
    from rankgauge.measures.sets import (
        F,
        NonlinearUtility,
        RelP,
        ScaledUtility,
        SetAP,
        SetF,
        SetP,
        SetRelP,
        Utility,
    )
    from rankgauge.measures.trec_experiments import G, binG, ndcg_levels, ndcg_rel, yaap
    from rankgauge.measures.user_models import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11
    from rankgauge.measures.weighted import Weighted
    from rankgauge.measures.wrappers import expected, ideal, lower, prefix_mean, upper, worst

__all__ = [
    "AP",
    "AP_IA",
    "BPM",
    "CG",
    "DCG",
    "ERR",
    "ERR_IA",
    "ESL",
    "GAP",
    "INSQ",
    "INST",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "P_IA",
    "RBP",
    "RNDCG",
    "RR",
    "SDCG",
    "SP",
    "SSP",
    "Accuracy",
    "Aggregate",
    "Binary",
    "Bounds",
    "CorrectPairs",
    "ElevenPoint",
    "F",
    "G",
    "IPrec",
    "Judged",
    "Measure",
    "NonlinearUtility",
    "NumNonRelRet",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "Q",
    "R",
    "Recall",
    "RelP",
    "Rprec",
    "ScaledUtility",
    "SearchLength",
    "SetAP",
    "SetF",
    "SetP",
    "SetRelP",
    "Success",
    "Unjudged",
    "Utility",
    "Weighted",
    "Wrapper",
    "alpha_DCG",
    "alpha_nDCG",
    "binG",
    "bpref",
    "compat",
    "condensed",
    "entries",
    "expected",
    "given",
    "gm",
    "ideal",
    "infAP",
    "linear",
    "load_plugin",
    "lower",
    "mean",
    "minmax",
    "nDCG",
    "nDCG_LETOR",
    "nERR_IA",
    "nNRBP",
    "ndcg_levels",
    "ndcg_rel",
    "parameter",
    "parse",
    "prefix_mean",
    "register",
    "strec",
    "upper",
    "v1",
    "v2",
    "worst",
    "yaap",
    "z",
]

_HOMES = {name: f"rankgauge.measures.{family}" for name, family in HOMES.items()} | {
    "Aggregate": "rankgauge.measures.around",
    "Binary": "rankgauge.measures.base",
    "Bounds": "rankgauge.measures.one_list",
    "Measure": "rankgauge.measures.base",
    "R": "rankgauge.measures.precision",
    "Weighted": "rankgauge.measures.weighted",
    "Wrapper": "rankgauge.measures.around",
    "entries": "rankgauge.measures.registry",
    "load_plugin": "rankgauge.core.plugins",
    "parameter": "rankgauge.core.parameters",
    "parse": "rankgauge.measures.grammar",
    "register": "rankgauge.measures.registry",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

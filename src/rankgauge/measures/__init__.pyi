# ruff: noqa
# fmt: off
# Made by docs/stubs.py from the names in __init__.py.

from rankgauge.core.parameters import parameter
from rankgauge.core.plugins import load_plugin
from rankgauge.measures.accuracy import Accuracy
from rankgauge.measures.aggregates import gm, mean
from rankgauge.measures.around import Aggregate, Wrapper
from rankgauge.measures.average_precision import AP, SP, SSP
from rankgauge.measures.base import Binary, Measure
from rankgauge.measures.cascade import ERR
from rankgauge.measures.counts import NumNonRelRet, NumRel, NumRelRet, NumRet, Unjudged
from rankgauge.measures.cumulative_gain import CG, DCG, RNDCG, SDCG, nDCG, nDCG_LETOR
from rankgauge.measures.diversity import ERR_IA, NRBP, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP, strec
from rankgauge.measures.elsewhere import given
from rankgauge.measures.grammar import parse
from rankgauge.measures.intent_aware import AP_IA, P_IA
from rankgauge.measures.judged_only import condensed
from rankgauge.measures.normalization import linear, minmax, v1, v2, z
from rankgauge.measures.one_list import Bounds
from rankgauge.measures.overlap import compat
from rankgauge.measures.precision import Judged, P, R, RR, Recall, Rprec, Success
from rankgauge.measures.preference import CorrectPairs, bpref, infAP
from rankgauge.measures.q_measure import GAP, Q
from rankgauge.measures.recall_levels import ElevenPoint, IPrec
from rankgauge.measures.registry import entries, register
from rankgauge.measures.search_length import ESL, SearchLength
from rankgauge.measures.sets import F, NonlinearUtility, RelP, ScaledUtility, SetAP, SetF, SetP, SetRelP, Utility
from rankgauge.measures.trec_experiments import G, binG, ndcg_levels, ndcg_rel, yaap
from rankgauge.measures.user_models import BPM, INSQ, INST, NERR10, NERR11, NERR8, NERR9, RBP
from rankgauge.measures.weighted import Weighted
from rankgauge.measures.wrappers import expected, ideal, lower, prefix_mean, upper, worst

__all__ = [
    "AP",
    "AP_IA",
    "Accuracy",
    "Aggregate",
    "BPM",
    "Binary",
    "Bounds",
    "CG",
    "CorrectPairs",
    "DCG",
    "ERR",
    "ERR_IA",
    "ESL",
    "ElevenPoint",
    "F",
    "G",
    "GAP",
    "INSQ",
    "INST",
    "IPrec",
    "Judged",
    "Measure",
    "NERR10",
    "NERR11",
    "NERR8",
    "NERR9",
    "NRBP",
    "NonlinearUtility",
    "NumNonRelRet",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "P_IA",
    "Q",
    "R",
    "RBP",
    "RNDCG",
    "RR",
    "Recall",
    "RelP",
    "Rprec",
    "SDCG",
    "SP",
    "SSP",
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

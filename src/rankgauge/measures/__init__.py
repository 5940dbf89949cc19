"""The measures, one file a family, and the language they are written in."""

from rankgauge.measures.aggregates import gm, mean
from rankgauge.measures.average_precision import AP, SP, SSP
from rankgauge.measures.base import Aggregate, Binary, Bounds, Measure, Wrapper
from rankgauge.measures.cascade import ERR, RBP
from rankgauge.measures.gain import CG, DCG, SDCG, nDCG
from rankgauge.measures.grammar import parse
from rankgauge.measures.parameters import parameter
from rankgauge.measures.precision import RR, Judged, P, R, Recall, Rprec, Success
from rankgauge.measures.preference import bpref
from rankgauge.measures.registry import entries, load_plugin, register
from rankgauge.measures.search_length import SearchLength
from rankgauge.measures.weighted import Weighted
from rankgauge.measures.wrappers import expected, ideal, lower, upper, worst

__all__ = [
    "AP",
    "CG",
    "DCG",
    "ERR",
    "RBP",
    "RR",
    "SDCG",
    "SP",
    "SSP",
    "Aggregate",
    "Binary",
    "Bounds",
    "Judged",
    "Measure",
    "P",
    "R",
    "Recall",
    "Rprec",
    "SearchLength",
    "Success",
    "Weighted",
    "Wrapper",
    "bpref",
    "entries",
    "expected",
    "gm",
    "ideal",
    "load_plugin",
    "lower",
    "mean",
    "nDCG",
    "parameter",
    "parse",
    "register",
    "upper",
    "worst",
]

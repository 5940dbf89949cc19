# ruff: noqa: I001
from rankgauge.core.parameters import parameter as parameter
from rankgauge.core.plugins import load_plugin as load_plugin
from rankgauge.measures.around import Aggregate as Aggregate, Wrapper as Wrapper
from rankgauge.measures.base import Binary as Binary, Measure as Measure
from rankgauge.measures.grammar import parse as parse
from rankgauge.measures.one_list import Bounds as Bounds
from rankgauge.measures.precision import R as R
from rankgauge.measures.registry import entries as entries, register as register
from rankgauge.measures.weighted import Weighted as Weighted

# Registered under these names, in the order in which they are listed:
from rankgauge.measures.aggregates import mean as mean, gm as gm
from rankgauge.measures.accuracy import Accuracy as Accuracy
from rankgauge.measures.precision import (
    P as P,
    Recall as Recall,
    Rprec as Rprec,
    RR as RR,
    Success as Success,
    Judged as Judged,
)
from rankgauge.measures.average_precision import SP as SP, SSP as SSP, AP as AP
from rankgauge.measures.cascade import ERR as ERR
from rankgauge.measures.judged_only import condensed as condensed
from rankgauge.measures.counts import (
    NumRet as NumRet,
    NumRel as NumRel,
    NumRelRet as NumRelRet,
    NumNonRelRet as NumNonRelRet,
    Unjudged as Unjudged,
)
from rankgauge.measures.cumulative_gain import (
    CG as CG,
    DCG as DCG,
    SDCG as SDCG,
    nDCG as nDCG,
    RNDCG as RNDCG,
    nDCG_LETOR as nDCG_LETOR,
)
from rankgauge.measures.diversity import (
    alpha_DCG as alpha_DCG,
    alpha_nDCG as alpha_nDCG,
    ERR_IA as ERR_IA,
    nERR_IA as nERR_IA,
    NRBP as NRBP,
    nNRBP as nNRBP,
    strec as strec,
)
from rankgauge.measures.intent_aware import P_IA as P_IA, AP_IA as AP_IA
from rankgauge.measures.elsewhere import given as given
from rankgauge.measures.overlap import compat as compat
from rankgauge.measures.preference import (
    bpref as bpref,
    infAP as infAP,
    CorrectPairs as CorrectPairs,
)
from rankgauge.measures.q_measure import Q as Q, GAP as GAP
from rankgauge.measures.recall_levels import IPrec as IPrec, ElevenPoint as ElevenPoint
from rankgauge.measures.search_length import SearchLength as SearchLength, ESL as ESL
from rankgauge.measures.sets import (
    SetP as SetP,
    SetF as SetF,
    SetAP as SetAP,
    SetRelP as SetRelP,
    F as F,
    RelP as RelP,
    Utility as Utility,
    NonlinearUtility as NonlinearUtility,
    ScaledUtility as ScaledUtility,
)
from rankgauge.measures.trec_experiments import (
    binG as binG,
    G as G,
    ndcg_rel as ndcg_rel,
    ndcg_levels as ndcg_levels,
    yaap as yaap,
)
from rankgauge.measures.user_models import (
    RBP as RBP,
    INSQ as INSQ,
    INST as INST,
    NERR8 as NERR8,
    NERR9 as NERR9,
    NERR10 as NERR10,
    NERR11 as NERR11,
    BPM as BPM,
)
from rankgauge.measures.wrappers import (
    lower as lower,
    upper as upper,
    ideal as ideal,
    worst as worst,
    expected as expected,
    prefix_mean as prefix_mean,
)
from rankgauge.measures.normalization import (
    v1 as v1,
    v2 as v2,
    linear as linear,
    z as z,
    minmax as minmax,
)

from rankgauge import (
    comparison as comparison,
)
from rankgauge import (
    figures as figures,
)
from rankgauge import (
    forecast as forecast,
)
from rankgauge import (
    measures as measures,
)
from rankgauge import (
    query_sets as query_sets,
)
from rankgauge import (
    rankers as rankers,
)
from rankgauge import (
    space as space,
)
from rankgauge import (
    text as text,
)
from rankgauge.comparison.assessed import Assessment as Assessment
from rankgauge.comparison.assessment import assess as assess
from rankgauge.comparison.correlation import (
    Concordance as Concordance,
)
from rankgauge.comparison.correlation import (
    concordance as concordance,
)
from rankgauge.comparison.correlation import (
    kendall_tau as kendall_tau,
)
from rankgauge.comparison.correlation import (
    kendall_tau_b as kendall_tau_b,
)
from rankgauge.comparison.correlation import (
    spearman as spearman,
)
from rankgauge.comparison.correlation import (
    tau_ap as tau_ap,
)
from rankgauge.comparison.overlap import RBO as RBO
from rankgauge.comparison.overlap import rbo as rbo
from rankgauge.comparison.power import (
    Detectable as Detectable,
)
from rankgauge.comparison.power import (
    detectable as detectable,
)
from rankgauge.comparison.power import (
    detectable_difference as detectable_difference,
)
from rankgauge.comparison.power import (
    queries_needed as queries_needed,
)
from rankgauge.comparison.systems import Comparison as Comparison
from rankgauge.comparison.systems import compare as compare
from rankgauge.data.features import Features as Features
from rankgauge.data.folds import Fold as Fold
from rankgauge.data.folds import Folds as Folds
from rankgauge.data.folds import read_folds as read_folds
from rankgauge.data.model import Judgments as Judgments
from rankgauge.data.model import Run as Run
from rankgauge.distance.maximized import Distance as Distance
from rankgauge.distance.runs import Distances as Distances
from rankgauge.distance.runs import med as med
from rankgauge.distance.runs import med_matrix as med_matrix
from rankgauge.distance.settling import Settled as Settled
from rankgauge.distance.settling import settled as settled
from rankgauge.errors import (
    InputError as InputError,
)
from rankgauge.errors import (
    MeasureError as MeasureError,
)
from rankgauge.errors import (
    RankgaugeError as RankgaugeError,
)
from rankgauge.errors import (
    Unsupported as Unsupported,
)
from rankgauge.evaluation.evaluator import Evaluator as Evaluator
from rankgauge.evaluation.evaluator import evaluate as evaluate
from rankgauge.forecast.depth_results import JudgingDepth as JudgingDepth
from rankgauge.forecast.depths import judging_depth as judging_depth
from rankgauge.forecast.estimates import TwoPhase as TwoPhase
from rankgauge.forecast.estimates import two_phase as two_phase
from rankgauge.forecast.pools import PooledJudgments as PooledJudgments
from rankgauge.forecast.pools import pool as pool
from rankgauge.fusion.runs import fuse as fuse
from rankgauge.fusion.tuned import Tuning as Tuning
from rankgauge.fusion.tuning import tune as tune
from rankgauge.io.letor import read_letor as read_letor
from rankgauge.io.parts import RunParts as RunParts
from rankgauge.io.table_files import (
    read_qrels_table as read_qrels_table,
)
from rankgauge.io.table_files import (
    read_run_table as read_run_table,
)
from rankgauge.io.trec import (
    read_qrels as read_qrels,
)
from rankgauge.io.trec import (
    read_run as read_run,
)
from rankgauge.io.trec import (
    write_qrels as write_qrels,
)
from rankgauge.io.trec import (
    write_run as write_run,
)
from rankgauge.measures.average_precision import AP as AP
from rankgauge.measures.base import Measure as Measure
from rankgauge.measures.cascade import ERR as ERR
from rankgauge.measures.cumulative_gain import DCG as DCG
from rankgauge.measures.cumulative_gain import nDCG as nDCG
from rankgauge.measures.diversity import alpha_nDCG as alpha_nDCG
from rankgauge.measures.grammar import parse as parse
from rankgauge.measures.precision import (
    RR as RR,
)
from rankgauge.measures.precision import (
    Judged as Judged,
)
from rankgauge.measures.precision import (
    P as P,
)
from rankgauge.measures.precision import (
    Recall as Recall,
)
from rankgauge.measures.precision import (
    Rprec as Rprec,
)
from rankgauge.measures.precision import (
    Success as Success,
)
from rankgauge.measures.preference import bpref as bpref
from rankgauge.measures.preference import infAP as infAP
from rankgauge.measures.q_measure import Q as Q
from rankgauge.measures.user_models import RBP as RBP
from rankgauge.report.report import write_report as write_report
from rankgauge.scores.model import Scores as Scores
from rankgauge.text.human.correlation import human_correlation as human_correlation
from rankgauge.text.human.results import HumanCorrelation as HumanCorrelation
from rankgauge.version import __version__ as __version__
from rankgauge.workers import Workers as Workers

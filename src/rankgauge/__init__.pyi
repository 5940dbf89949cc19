from rankgauge import (
    comparison as comparison,
    figures as figures,
    forecast as forecast,
    measures as measures,
    query_sets as query_sets,
    rankers as rankers,
    space as space,
    text as text,
)
from rankgauge.comparison.assessed import Assessment as Assessment
from rankgauge.comparison.assessment import assess as assess
from rankgauge.comparison.correlation import (
    Concordance as Concordance,
    concordance as concordance,
    kendall_tau as kendall_tau,
    kendall_tau_b as kendall_tau_b,
    spearman as spearman,
    tau_ap as tau_ap,
)
from rankgauge.comparison.overlap import RBO as RBO, rbo as rbo
from rankgauge.comparison.power import (
    Detectable as Detectable,
    detectable as detectable,
    detectable_difference as detectable_difference,
    queries_needed as queries_needed,
)
from rankgauge.comparison.systems import Comparison as Comparison, compare as compare
from rankgauge.data.features import Features as Features
from rankgauge.data.folds import Fold as Fold, Folds as Folds, read_folds as read_folds
from rankgauge.data.model import Judgments as Judgments, Run as Run
from rankgauge.distance.maximized import Distance as Distance
from rankgauge.distance.runs import Distances as Distances, med as med, med_matrix as med_matrix
from rankgauge.distance.settling import Settled as Settled, settled as settled
from rankgauge.errors import (
    InputError as InputError,
    MeasureError as MeasureError,
    RankgaugeError as RankgaugeError,
    Unsupported as Unsupported,
)
from rankgauge.evaluation.evaluator import Evaluator as Evaluator, evaluate as evaluate
from rankgauge.forecast.depth_results import JudgingDepth as JudgingDepth
from rankgauge.forecast.depths import judging_depth as judging_depth
from rankgauge.forecast.estimates import TwoPhase as TwoPhase, two_phase as two_phase
from rankgauge.forecast.pools import PooledJudgments as PooledJudgments, pool as pool
from rankgauge.fusion.runs import fuse as fuse
from rankgauge.fusion.tuned import Tuning as Tuning
from rankgauge.fusion.tuning import tune as tune
from rankgauge.io.letor import read_letor as read_letor
from rankgauge.io.parts import RunParts as RunParts
from rankgauge.io.table_files import (
    read_qrels_table as read_qrels_table,
    read_run_table as read_run_table,
)
from rankgauge.io.trec import (
    read_qrels as read_qrels,
    read_run as read_run,
    write_qrels as write_qrels,
    write_run as write_run,
)
from rankgauge.measures.average_precision import AP as AP
from rankgauge.measures.base import Measure as Measure
from rankgauge.measures.cascade import ERR as ERR
from rankgauge.measures.cumulative_gain import DCG as DCG, nDCG as nDCG
from rankgauge.measures.diversity import alpha_nDCG as alpha_nDCG
from rankgauge.measures.grammar import parse as parse
from rankgauge.measures.precision import (
    RR as RR,
    Judged as Judged,
    P as P,
    Recall as Recall,
    Rprec as Rprec,
    Success as Success,
)
from rankgauge.measures.preference import bpref as bpref, infAP as infAP
from rankgauge.measures.q_measure import Q as Q
from rankgauge.measures.user_models import RBP as RBP
from rankgauge.report.report import write_report as write_report
from rankgauge.scores.model import Scores as Scores
from rankgauge.text.human.correlation import human_correlation as human_correlation
from rankgauge.text.human.results import HumanCorrelation as HumanCorrelation
from rankgauge.version import __version__ as __version__
from rankgauge.workers import Workers as Workers

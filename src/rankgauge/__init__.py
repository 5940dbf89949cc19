"""rankgauge: how good a ranking is, and how far the number can be trusted."""

from rankgauge import measures
from rankgauge.comparison.assessed import Assessment
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.correlation import (
    Concordance,
    concordance,
    kendall_tau,
    kendall_tau_b,
    spearman,
    tau_ap,
)
from rankgauge.comparison.overlap import RBO, rbo
from rankgauge.comparison.power import (
    Detectable,
    detectable,
    detectable_difference,
    topics_needed,
)
from rankgauge.comparison.systems import Comparison, compare
from rankgauge.data.errors import InputError, MeasureError, RankgaugeError, Unsupported
from rankgauge.data.letor import Features, read_letor
from rankgauge.data.model import Judgments, Run
from rankgauge.data.table_files import read_qrels_table, read_run_table
from rankgauge.data.trec import read_qrels, read_run, write_qrels, write_run
from rankgauge.distance.maximized import Distance
from rankgauge.distance.runs import Distances, med, med_matrix
from rankgauge.evaluation.evaluator import Evaluator, evaluate
from rankgauge.measures import *  # noqa: F403
from rankgauge.measures.normalization import linear, minmax, v1, v2, z
from rankgauge.scores.model import Scores
from rankgauge.version import __version__

__all__ = [
    *measures.__all__,
    "Assessment",
    "Comparison",
    "Concordance",
    "Detectable",
    "Distance",
    "Distances",
    "Evaluator",
    "Features",
    "InputError",
    "Judgments",
    "MeasureError",
    "RBO",
    "RankgaugeError",
    "Run",
    "Scores",
    "Unsupported",
    "__version__",
    "assess",
    "compare",
    "concordance",
    "detectable",
    "detectable_difference",
    "evaluate",
    "kendall_tau",
    "kendall_tau_b",
    "linear",
    "med",
    "med_matrix",
    "minmax",
    "rbo",
    "read_letor",
    "read_qrels",
    "read_qrels_table",
    "read_run",
    "read_run_table",
    "spearman",
    "tau_ap",
    "topics_needed",
    "v1",
    "v2",
    "write_qrels",
    "write_run",
    "z",
]

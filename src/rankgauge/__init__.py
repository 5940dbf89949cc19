"""rankgauge: how good a ranking is, and how far the number can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge import measures
from rankgauge.core.lazy import lazy_names
from rankgauge.core.moved import find_moved_modules
from rankgauge.version import __version__

if TYPE_CHECKING:
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
    from rankgauge.data.features import Features
    from rankgauge.data.folds import Fold, Folds, read_folds
    from rankgauge.data.model import Judgments, Run
    from rankgauge.distance.maximized import Distance
    from rankgauge.distance.runs import Distances, med, med_matrix
    from rankgauge.distance.settling import Settled, settled
    from rankgauge.errors import InputError, MeasureError, RankgaugeError, Unsupported
    from rankgauge.evaluation.evaluator import Evaluator, evaluate
    from rankgauge.forecast.depth_results import JudgingDepth
    from rankgauge.forecast.depths import judging_depth
    from rankgauge.forecast.estimates import TwoPhase, two_phase
    from rankgauge.forecast.pools import PooledJudgments, pool
    from rankgauge.fusion.runs import fuse
    from rankgauge.fusion.tuned import Tuning
    from rankgauge.fusion.tuning import tune
    from rankgauge.io.letor import read_letor
    from rankgauge.io.parts import RunParts
    from rankgauge.io.table_files import read_qrels_table, read_run_table
    from rankgauge.io.trec import read_qrels, read_run, write_qrels, write_run
    from rankgauge.measures import *  # noqa: F403
    from rankgauge.report.report import write_report
    from rankgauge.scores.model import Scores
    from rankgauge.text.human.correlation import human_correlation
    from rankgauge.text.human.results import HumanCorrelation
    from rankgauge.workers import Workers

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
    "Fold",
    "Folds",
    "HumanCorrelation",
    "InputError",
    "JudgingDepth",
    "Judgments",
    "MeasureError",
    "PooledJudgments",
    "RBO",
    "RankgaugeError",
    "Run",
    "RunParts",
    "Scores",
    "Settled",
    "Tuning",
    "TwoPhase",
    "Unsupported",
    "Workers",
    "__version__",
    "assess",
    "compare",
    "concordance",
    "detectable",
    "detectable_difference",
    "evaluate",
    "fuse",
    "human_correlation",
    "judging_depth",
    "kendall_tau",
    "kendall_tau_b",
    "med",
    "med_matrix",
    "pool",
    "rbo",
    "read_folds",
    "read_letor",
    "read_qrels",
    "read_qrels_table",
    "read_run",
    "read_run_table",
    "settled",
    "spearman",
    "tau_ap",
    "topics_needed",
    "tune",
    "two_phase",
    "write_qrels",
    "write_report",
    "write_run",
]

_HOMES = dict.fromkeys(measures.__all__, "rankgauge.measures") | {
    "Assessment": "rankgauge.comparison.assessed",
    "Comparison": "rankgauge.comparison.systems",
    "Concordance": "rankgauge.comparison.correlation",
    "Detectable": "rankgauge.comparison.power",
    "Distance": "rankgauge.distance.maximized",
    "Distances": "rankgauge.distance.runs",
    "Evaluator": "rankgauge.evaluation.evaluator",
    "Features": "rankgauge.data.features",
    "Fold": "rankgauge.data.folds",
    "Folds": "rankgauge.data.folds",
    "HumanCorrelation": "rankgauge.text.human.results",
    "InputError": "rankgauge.errors",
    "JudgingDepth": "rankgauge.forecast.depth_results",
    "Judgments": "rankgauge.data.model",
    "MeasureError": "rankgauge.errors",
    "PooledJudgments": "rankgauge.forecast.pools",
    "RBO": "rankgauge.comparison.overlap",
    "RankgaugeError": "rankgauge.errors",
    "Run": "rankgauge.data.model",
    "RunParts": "rankgauge.io.parts",
    "Scores": "rankgauge.scores.model",
    "Settled": "rankgauge.distance.settling",
    "Tuning": "rankgauge.fusion.tuned",
    "TwoPhase": "rankgauge.forecast.estimates",
    "Unsupported": "rankgauge.errors",
    "Workers": "rankgauge.workers",
    "assess": "rankgauge.comparison.assessment",
    "compare": "rankgauge.comparison.systems",
    "concordance": "rankgauge.comparison.correlation",
    "detectable": "rankgauge.comparison.power",
    "detectable_difference": "rankgauge.comparison.power",
    "evaluate": "rankgauge.evaluation.evaluator",
    "fuse": "rankgauge.fusion.runs",
    "human_correlation": "rankgauge.text.human.correlation",
    "judging_depth": "rankgauge.forecast.depths",
    "kendall_tau": "rankgauge.comparison.correlation",
    "kendall_tau_b": "rankgauge.comparison.correlation",
    "med": "rankgauge.distance.runs",
    "med_matrix": "rankgauge.distance.runs",
    "pool": "rankgauge.forecast.pools",
    "rbo": "rankgauge.comparison.overlap",
    "read_folds": "rankgauge.data.folds",
    "read_letor": "rankgauge.io.letor",
    "read_qrels": "rankgauge.io.trec",
    "read_qrels_table": "rankgauge.io.table_files",
    "read_run": "rankgauge.io.trec",
    "read_run_table": "rankgauge.io.table_files",
    "settled": "rankgauge.distance.settling",
    "spearman": "rankgauge.comparison.correlation",
    "tau_ap": "rankgauge.comparison.correlation",
    "topics_needed": "rankgauge.comparison.power",
    "tune": "rankgauge.fusion.tuning",
    "two_phase": "rankgauge.forecast.estimates",
    "write_qrels": "rankgauge.io.trec",
    "write_report": "rankgauge.report.report",
    "write_run": "rankgauge.io.trec",
}
find_moved_modules()
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

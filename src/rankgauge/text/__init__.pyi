# ruff: noqa
# fmt: off
# Made by docs/stubs.py from the names in __init__.py.

from rankgauge.text.base import Metric
from rankgauge.text.chance import CANDIDATE, DISSIMILAR, Null, SENTENCES, SIMILAR, TOKENS, register_null
from rankgauge.text.checking import check_metric
from rankgauge.text.data.files import read_texts
from rankgauge.text.data.texts import Texts
from rankgauge.text.documents import DocumentKinds, HETEROGENEOUS, HOMOGENEOUS, document_kinds
from rankgauge.text.evaluation import TextOverview, evaluate, overview, scores_of_candidates
from rankgauge.text.grammar import parse_metric
from rankgauge.text.human.agreement import PairAgreement, pair_agreement
from rankgauge.text.human.correlation import human_correlation
from rankgauge.text.human.pairwise import PairwisePreferences, read_preferences
from rankgauge.text.human.preferences import Preferences, win_lose_tie
from rankgauge.text.human.ratings import Ratings, read_ratings
from rankgauge.text.human.results import CorrelationDifference, HumanCorrelation
from rankgauge.text.metrics.bertscore import bertscore
from rankgauge.text.metrics.embedding import use_encoder
from rankgauge.text.metrics.functions import metric
from rankgauge.text.metrics.rouge import rouge1, rouge2, rougeL, rougeLsum, rougeS, rougeW
from rankgauge.text.normalization import expected, linear, v1, v2, z
from rankgauge.text.registry import entries, register
from rankgauge.text.tokens import words_of

__all__ = [
    "CANDIDATE",
    "CorrelationDifference",
    "DISSIMILAR",
    "DocumentKinds",
    "HETEROGENEOUS",
    "HOMOGENEOUS",
    "HumanCorrelation",
    "Metric",
    "Null",
    "PairAgreement",
    "PairwisePreferences",
    "Preferences",
    "Ratings",
    "SENTENCES",
    "SIMILAR",
    "TOKENS",
    "TextOverview",
    "Texts",
    "bertscore",
    "check_metric",
    "document_kinds",
    "entries",
    "evaluate",
    "expected",
    "human_correlation",
    "linear",
    "metric",
    "overview",
    "pair_agreement",
    "parse_metric",
    "read_preferences",
    "read_ratings",
    "read_texts",
    "register",
    "register_null",
    "rouge1",
    "rouge2",
    "rougeL",
    "rougeLsum",
    "rougeS",
    "rougeW",
    "scores_of_candidates",
    "use_encoder",
    "v1",
    "v2",
    "win_lose_tie",
    "words_of",
    "z",
]

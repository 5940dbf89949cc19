"""Metrics of texts, such as ROUGE, with what thoughtless words would get; and ratings by people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.agreement import PairAgreement, pair_agreement
    from rankgauge.text.base import Metric
    from rankgauge.text.bert_metric import bertscore
    from rankgauge.text.chance import Null, register_null
    from rankgauge.text.checking import check_metric
    from rankgauge.text.documents import DocumentKinds, document_kinds
    from rankgauge.text.embedding import use_encoder
    from rankgauge.text.evaluation import TextOverview, evaluate, overview
    from rankgauge.text.files import read_texts
    from rankgauge.text.functions import metric
    from rankgauge.text.grammar import parse_metric
    from rankgauge.text.human import human_correlation
    from rankgauge.text.human_results import CorrelationDifference, HumanCorrelation
    from rankgauge.text.normalization import expected, linear, v1, v2, z
    from rankgauge.text.pairwise import PairwisePreferences, read_preferences
    from rankgauge.text.preferences import Preferences, win_lose_tie
    from rankgauge.text.ratings import Ratings, read_ratings
    from rankgauge.text.registry import metrics, register
    from rankgauge.text.rouge import rouge1, rouge2, rougeL, rougeLsum, rougeS, rougeW
    from rankgauge.text.texts import Texts

__all__ = [
    "CorrelationDifference",
    "DocumentKinds",
    "HumanCorrelation",
    "Metric",
    "Null",
    "PairAgreement",
    "PairwisePreferences",
    "Preferences",
    "Ratings",
    "TextOverview",
    "Texts",
    "bertscore",
    "check_metric",
    "document_kinds",
    "evaluate",
    "expected",
    "human_correlation",
    "linear",
    "metric",
    "metrics",
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
    "use_encoder",
    "v1",
    "v2",
    "win_lose_tie",
    "z",
]

_HOMES = {
    "CorrelationDifference": "rankgauge.text.human_results",
    "DocumentKinds": "rankgauge.text.documents",
    "HumanCorrelation": "rankgauge.text.human_results",
    "Metric": "rankgauge.text.base",
    "Null": "rankgauge.text.chance",
    "PairAgreement": "rankgauge.text.agreement",
    "PairwisePreferences": "rankgauge.text.pairwise",
    "Preferences": "rankgauge.text.preferences",
    "Ratings": "rankgauge.text.ratings",
    "TextOverview": "rankgauge.text.evaluation",
    "Texts": "rankgauge.text.texts",
    "bertscore": "rankgauge.text.bert_metric",
    "check_metric": "rankgauge.text.checking",
    "document_kinds": "rankgauge.text.documents",
    "evaluate": "rankgauge.text.evaluation",
    "expected": "rankgauge.text.normalization",
    "human_correlation": "rankgauge.text.human",
    "linear": "rankgauge.text.normalization",
    "metric": "rankgauge.text.functions",
    "metrics": "rankgauge.text.registry",
    "overview": "rankgauge.text.evaluation",
    "pair_agreement": "rankgauge.text.agreement",
    "parse_metric": "rankgauge.text.grammar",
    "read_preferences": "rankgauge.text.pairwise",
    "read_ratings": "rankgauge.text.ratings",
    "read_texts": "rankgauge.text.files",
    "register": "rankgauge.text.registry",
    "register_null": "rankgauge.text.chance",
    "rouge1": "rankgauge.text.rouge",
    "rouge2": "rankgauge.text.rouge",
    "rougeL": "rankgauge.text.rouge",
    "rougeLsum": "rankgauge.text.rouge",
    "rougeS": "rankgauge.text.rouge",
    "rougeW": "rankgauge.text.rouge",
    "use_encoder": "rankgauge.text.embedding",
    "v1": "rankgauge.text.normalization",
    "v2": "rankgauge.text.normalization",
    "win_lose_tie": "rankgauge.text.preferences",
    "z": "rankgauge.text.normalization",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

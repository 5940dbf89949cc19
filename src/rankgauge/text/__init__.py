"""Metrics of texts, such as ROUGE, with what thoughtless words would get; and ratings by people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.base import Metric
    from rankgauge.text.bert_metric import bertscore
    from rankgauge.text.chance import Null, register_null
    from rankgauge.text.checking import check_metric
    from rankgauge.text.data.files import read_texts
    from rankgauge.text.data.texts import Texts
    from rankgauge.text.documents import DocumentKinds, document_kinds
    from rankgauge.text.embedding import use_encoder
    from rankgauge.text.evaluation import TextOverview, evaluate, overview
    from rankgauge.text.functions import metric
    from rankgauge.text.grammar import parse_metric
    from rankgauge.text.human.agreement import PairAgreement, pair_agreement
    from rankgauge.text.human.correlation import human_correlation
    from rankgauge.text.human.pairwise import PairwisePreferences, read_preferences
    from rankgauge.text.human.preferences import Preferences, win_lose_tie
    from rankgauge.text.human.ratings import Ratings, read_ratings
    from rankgauge.text.human.results import CorrelationDifference, HumanCorrelation
    from rankgauge.text.normalization import expected, linear, v1, v2, z
    from rankgauge.text.registry import metrics, register
    from rankgauge.text.rouge import rouge1, rouge2, rougeL, rougeLsum, rougeS, rougeW

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
    "CorrelationDifference": "rankgauge.text.human.results",
    "DocumentKinds": "rankgauge.text.documents",
    "HumanCorrelation": "rankgauge.text.human.results",
    "Metric": "rankgauge.text.base",
    "Null": "rankgauge.text.chance",
    "PairAgreement": "rankgauge.text.human.agreement",
    "PairwisePreferences": "rankgauge.text.human.pairwise",
    "Preferences": "rankgauge.text.human.preferences",
    "Ratings": "rankgauge.text.human.ratings",
    "TextOverview": "rankgauge.text.evaluation",
    "Texts": "rankgauge.text.data.texts",
    "bertscore": "rankgauge.text.bert_metric",
    "check_metric": "rankgauge.text.checking",
    "document_kinds": "rankgauge.text.documents",
    "evaluate": "rankgauge.text.evaluation",
    "expected": "rankgauge.text.normalization",
    "human_correlation": "rankgauge.text.human.correlation",
    "linear": "rankgauge.text.normalization",
    "metric": "rankgauge.text.functions",
    "metrics": "rankgauge.text.registry",
    "overview": "rankgauge.text.evaluation",
    "pair_agreement": "rankgauge.text.human.agreement",
    "parse_metric": "rankgauge.text.grammar",
    "read_preferences": "rankgauge.text.human.pairwise",
    "read_ratings": "rankgauge.text.human.ratings",
    "read_texts": "rankgauge.text.data.files",
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
    "win_lose_tie": "rankgauge.text.human.preferences",
    "z": "rankgauge.text.normalization",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

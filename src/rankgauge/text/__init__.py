"""Metrics of texts, such as ROUGE, with what thoughtless words would get; and ratings by people."""

from __future__ import annotations

import rankgauge.text.metrics  # noqa: F401 - `rankgauge.text.metrics()` works until the next release
from rankgauge.core.lazy import lazy_names
from rankgauge.text.homes import HOMES

_HOMES = {name: f"rankgauge.text.{module}" for name, module in HOMES.items()} | {
    "CANDIDATE": "rankgauge.text.chance",
    "DISSIMILAR": "rankgauge.text.chance",
    "HETEROGENEOUS": "rankgauge.text.documents",
    "HOMOGENEOUS": "rankgauge.text.documents",
    "SENTENCES": "rankgauge.text.chance",
    "SIMILAR": "rankgauge.text.chance",
    "TOKENS": "rankgauge.text.chance",
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
    "check_metric": "rankgauge.text.checking",
    "document_kinds": "rankgauge.text.documents",
    "entries": "rankgauge.text.registry",
    "evaluate": "rankgauge.text.evaluation",
    "human_correlation": "rankgauge.text.human.correlation",
    "metric": "rankgauge.text.metrics.functions",
    "overview": "rankgauge.text.evaluation",
    "pair_agreement": "rankgauge.text.human.agreement",
    "parse_metric": "rankgauge.text.grammar",
    "read_preferences": "rankgauge.text.human.pairwise",
    "read_ratings": "rankgauge.text.human.ratings",
    "read_texts": "rankgauge.text.data.files",
    "register": "rankgauge.text.registry",
    "register_null": "rankgauge.text.chance",
    "scores_of_candidates": "rankgauge.text.evaluation",
    "use_encoder": "rankgauge.text.metrics.embedding",
    "win_lose_tie": "rankgauge.text.human.preferences",
    "words_of": "rankgauge.text.tokens",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_names(__name__, _HOMES)

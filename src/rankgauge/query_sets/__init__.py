"""Sets of queries, and parts of their documents, to look at scores on."""

from rankgauge.query_sets.by_chance import (
    TYPES,
    QueryTypes,
    easy,
    hard,
    ideal,
    informative,
    query_types,
    uninformative,
)
from rankgauge.query_sets.by_judgments import broad, focused
from rankgauge.query_sets.by_significance import Significance, significance
from rankgauge.query_sets.model import LeftOut, QuerySet
from rankgauge.query_sets.samples import document_splits, query_sample

__all__ = [
    "TYPES",
    "LeftOut",
    "QuerySet",
    "QueryTypes",
    "Significance",
    "broad",
    "document_splits",
    "easy",
    "focused",
    "hard",
    "ideal",
    "informative",
    "query_sample",
    "query_types",
    "significance",
    "uninformative",
]

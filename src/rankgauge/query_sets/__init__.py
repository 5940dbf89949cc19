"""Sets of queries, and of their documents, on which to look at scores apart."""

from rankgauge.query_sets.by_chance import (
    TYPES,
    LeftOut,
    QuerySet,
    QueryTypes,
    broad,
    document_splits,
    easy,
    focused,
    hard,
    ideal,
    informative,
    query_sample,
    query_types,
    uninformative,
)

__all__ = [
    "TYPES",
    "LeftOut",
    "QuerySet",
    "QueryTypes",
    "broad",
    "document_splits",
    "easy",
    "focused",
    "hard",
    "ideal",
    "informative",
    "query_sample",
    "query_types",
    "uninformative",
]

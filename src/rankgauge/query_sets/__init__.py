"""Sets of queries, and parts of their documents, to look at scores on."""

from rankgauge.core.policies import BROAD_LABEL, BROAD_SHARE, SET_SHARE, By, InformativeBy
from rankgauge.query_sets.by_chance import (
    TYPES,
    AboveChance,
    QueryTypes,
    above_chance,
    easy,
    hard,
    ideal,
    informative,
    query_types,
    uninformative,
)
from rankgauge.query_sets.by_judgments import broad, focused
from rankgauge.query_sets.by_significance import Significance, significance
from rankgauge.query_sets.model import HowMany, LeftOut, QuerySet
from rankgauge.query_sets.samples import document_splits, query_sample

__all__ = [
    "BROAD_LABEL",
    "BROAD_SHARE",
    "SET_SHARE",
    "TYPES",
    "AboveChance",
    "By",
    "HowMany",
    "InformativeBy",
    "LeftOut",
    "QuerySet",
    "QueryTypes",
    "Significance",
    "above_chance",
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

"""Policies: what is made of ties, missing topics and unjudged documents, and every default there is.

Functions, classes and the command line take their defaults from here, so that a default stands in one
place. A changed default changes the signatures of scores, and goes into the CHANGELOG.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rankgauge.checks import Number, Whole
from rankgauge.records import Value
from rankgauge.version import __version__

if TYPE_CHECKING:
    from rankgauge.measures.around import Aggregate
    from rankgauge.measures.base import Measure

# From runs to scores

Missing: TypeAlias = Literal["zero", "skip"]
"""Judged topics that a run lacks. zero: they score as empty rankings; skip: the means of the run leave
them out."""
Unjudged: TypeAlias = Literal["nonrelevant", "condensed"]
"""Documents without a judgement. condensed: they are taken out of the rankings first."""
Ties: TypeAlias = Literal[
    "docno", "docno-ascending", "input", "pessimistic", "optimistic", "random", "expected"
]
"""docno: by id, the last first, as trec_eval does; docno-ascending: the first first; input: as in the
file; pessimistic: the lowest label first, with unjudged documents between labels 0 and 1; optimistic:
the reverse; random: drawn by a seed; expected: the mean score over all orders.

Unjudged documents count as label 0 for nearly all measures, so that their place beside it is free; it
is after it for the sake of CorrectPairs, for which only a judged document can be in the wrong place."""
Ordered: TypeAlias = Literal["docno", "docno-ascending", "input"]
"""The orders of equal scores that no label is needed for."""
Tail: TypeAlias = Literal["tied"]
"""tied: the documents that were not retrieved follow as one more tie."""
ScorePrecision: TypeAlias = Literal["single", "double"]
"""How scores of documents are compared."""
Failures: TypeAlias = Literal["raise", "skip"]
"""Runs that cannot be read: an error, or left out and named."""
Offlist: TypeAlias = Literal["none", "allowed"]
"""none: only documents of the two lists can turn out relevant; allowed: any number of others too. Of the
measures with a way of their own it matters for Rprec and Q alone; with others it is a lower bound."""

DEFAULT_MISSING: Missing = "zero"
DEFAULT_UNJUDGED: Unjudged = "nonrelevant"
DEFAULT_TIES: Ties = "docno"
DEFAULT_ORDERED: Ordered = "docno"
DEFAULT_FAILURES: Failures = "raise"
DEFAULT_OFFLIST: Offlist = "none"
SEED = 0

# From several runs to one

Absent: TypeAlias = Literal["minimum", "zero", "skip"]
"""The score of a document in a list that lacks it. minimum: the least normalised score of that list;
zero: 0; skip: none, the list takes no part."""

DEFAULT_FUSION = "wsum"
DEFAULT_NORMALIZE = "min-max"
DEFAULT_ABSENT: Absent = "minimum"
RRF_K = 60
"""The k of reciprocal rank fusion that its authors use."""

# From scores to decisions

SharedTopics: TypeAlias = Literal["zero", "intersection"]
"""Topics that some of several runs lack. zero: they have the score of an empty ranking; intersection:
they are left out for all runs."""
IntervalKind: TypeAlias = Literal["t", "bootstrap"]
"""t: by Student's t; bootstrap: from samples of topics (BCa)."""
Standardization: TypeAlias = Literal["normal", "z", "empirical"]
"""z: (x − mean) / sd over the runs; normal: that taken to (0, 1) by the normal distribution; empirical:
the share of the runs with a score of at most x."""
By: TypeAlias = Literal["signed", "absolute"]
"""signed: worse than random is less than random; absolute: only the distance from random counts."""
InformativeBy: TypeAlias = Literal["difference", "significance"]
"""difference: the runs are above the expected score of a random ranking; significance: one of them is so
far above it that chance hardly explains it."""
OverlapTies: TypeAlias = Literal["w", "a", "b"]
"""Ties of rank-biased overlap, as Corsi and Urbano (2024) name the variants."""

DEFAULT_TEST = "paired-t"
DEFAULT_CORRECTION = "holm"
DEFAULT_INTERVAL: IntervalKind = "t"
DEFAULT_STANDARDIZATION: Standardization = "normal"
DEFAULT_BY: By = "signed"
DEFAULT_INFORMATIVE_BY: InformativeBy = "difference"
DEFAULT_OVERLAP_TIES: OverlapTies = "w"
LEVEL = 0.95
SAMPLES = 10_000
SPLITS = 1_000
POWER = 0.8
FUZZINESS = 0.0
PERSISTENCE = 0.9
SET_SHARE = 0.25
"""The share of the topics that are ideal, and that are uninformative."""
BROAD_SHARE = 0.5
"""From which share of highly relevant documents on a query is broad."""
BROAD_LABEL = 2
"""From which label on a document is highly relevant."""

MOST_SAMPLES = 1_000_000

HIGHEST_SEED = 2**31 - 1
SEEDS = Whole(0, HIGHEST_SEED)
LEVELS = Number(0, 1, closed=False, example=LEVEL)
SAMPLE_NUMBERS = Whole(1, MOST_SAMPLES)
PERSISTENCES = Number(0, 1, closed=False, example=PERSISTENCE)


KNOWN_ELSEWHERE = ("source", "missing", "standardized", "rankgauge")
"""The policies that hold for scores from elsewhere."""


class Policies(Value):
    """How the numbers were computed, apart from the measures themselves.

    `source` says where scores come from that were not computed here: what was made of ties and
    unjudged documents is not known of them, and the signature does not claim it. `standardized` says
    how scores were set against those of other runs.
    """

    source: str | None = None
    ties: str = f"{DEFAULT_TIES}-desc"
    seed: int | None = None
    tail: str | None = None
    judgments: str | None = None
    scores: str = "f64"
    unjudged: str = DEFAULT_UNJUDGED
    missing: Missing = DEFAULT_MISSING
    max_grade: int = 1
    standardized: str | None = None
    rankgauge: str = __version__

    def signature(self, measure: Measure | Aggregate) -> str:
        """All that fixes a number, in one line; what does not apply is left out.

        >>> from rankgauge import P
        >>> Policies(rankgauge="0.1.0").signature(P @ 10)
        'P(rel=1)@10|ties=docno-desc|scores=f64|unjudged=nonrelevant|missing=zero|max_grade=1|rankgauge=0.1.0'
        """
        known = self.said()
        keys = known if self.source is None else [key for key in known if key in KNOWN_ELSEWHERE]
        rest = (f"{key}={known[key]}" for key in keys)
        return "|".join((measure.specification(), *rest))

    def said(self) -> dict[str, Any]:
        """The policies that are not None, by name."""
        return {key: value for key, value in asdict(self).items() if value is not None}

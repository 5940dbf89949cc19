"""Policies, such as how ties, missing queries and unjudged documents are treated, and all defaults.

Functions, classes and the command line take their defaults from here, so that a default stands in one
place. A changed default changes the signatures of scores, and goes into the CHANGELOG.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypedDict, TypeVar

from rankgauge.core.checks import Integer, Kind, Number, check_value, one_of
from rankgauge.core.records import Value
from rankgauge.errors import RankgaugeError, warn_old_form
from rankgauge.version import __version__

if TYPE_CHECKING:
    from rankgauge.measures.around import Aggregate
    from rankgauge.measures.scored import Scored

# From runs to scores

Missing: TypeAlias = Literal["zero", "skip"]
"""Judged queries that a run lacks. zero: they score as empty rankings. skip: the means of the run leave
them out; where runs are compared or combined, they are left out for all runs."""
Unjudged: TypeAlias = Literal["nonrelevant", "condensed"]
"""Documents without a judgment. condensed: they are taken out of the rankings first."""
Ties: TypeAlias = Literal[
    "docno", "docno-ascending", "input", "pessimistic", "optimistic", "random", "expected"
]
"""How documents of equal score are ordered. docno: by id, the greatest first, as trec_eval does;
docno-ascending: by id, the smallest first; input: as in the file; pessimistic: the lowest label first,
with unjudged documents between labels 0 and 1; optimistic: the reverse; random: drawn by a seed;
expected: no order, the score is the mean over all orders.

Nearly all measures treat unjudged documents as label 0, so whether they come before or after label 0
does not matter. They come after it because of CorrectPairs: only a judged document can be in the wrong
place."""
Ordered: TypeAlias = Literal["docno", "docno-ascending", "input"]
"""Those ways to order equal scores that need no labels."""
PoolTies: TypeAlias = Literal["docno", "docno-ascending", "input", "random"]
"""Ways to order equal scores when a pool is made: nothing is judged then, so none needs labels."""
Tail: TypeAlias = Literal["tied"]
"""tied: the documents that were not retrieved follow as one more tie."""
ScorePrecision: TypeAlias = Literal["single", "double"]
"""The floating-point precision in which the scores of documents are compared. double: as trec_eval 9.0.8
(2023) and 10 do; single: as trec_eval up to 9.0.7 and pytrec_eval do."""
Failures: TypeAlias = Literal["raise", "skip"]
"""Runs that cannot be read. raise: the error is raised; skip: the run is left out and named."""
Offlist: TypeAlias = Literal["none", "allowed"]
"""Which documents can turn out relevant. none: only documents of the two lists; allowed: also documents
in neither list, any number of them."""
MedMethod: TypeAlias = Literal["exact", "greedy", "tabu"]
"""How the greatest difference of two lists is found. exact: by the measure's own algorithm, or over all
labels, or if these are too many, by a search that says so; greedy: by Algorithm 1 and Equation 13 of
Moffat 2017; tabu: by tabu search, as Tan and Clarke 2015 do. greedy and tabu give lower bounds."""
Negative: TypeAlias = Literal["unjudged", "nonrelevant"]
"""Documents with a negative grade. unjudged: they were pooled and not judged, as in trec_eval;
nonrelevant: they were judged and are not relevant, like the junk (-2) of TREC's Web tracks."""

MISSING = one_of(Missing, intersection="skip")
"""The kind of `missing`, with what versions up to 0.1 called it where runs are compared."""
DEFAULT_MISSING: Missing = "zero"
DEFAULT_UNJUDGED: Unjudged = "nonrelevant"
DEFAULT_TIES: Ties = "docno"
DEFAULT_PRECISION: ScorePrecision = "double"
DEFAULT_ORDERED: Ordered = "docno"
DEFAULT_POOL_TIES: PoolTies = "docno"
DEFAULT_FAILURES: Failures = "raise"
DEFAULT_OFFLIST: Offlist = "allowed"
DEFAULT_NEGATIVE: Negative = "unjudged"
DEFAULT_MED_METHOD: MedMethod = "exact"
SEED = 0

# From several runs to one

Progress: TypeAlias = Callable[[str], None]
"""What long work calls with the name of each step that is done."""

Absent: TypeAlias = Literal["minimum", "zero", "skip"]
"""The score of a document in a list that lacks it. minimum: the least normalized score of that list;
zero: 0; skip: none, the list takes no part."""

DEFAULT_FUSION = "wsum"
DEFAULT_NORMALIZE = "min-max"
DEFAULT_ABSENT: Absent = "minimum"
RRF_K = 60
"""The k of reciprocal rank fusion that its authors use."""

# From scores to decisions

IntervalKind: TypeAlias = Literal["t", "bootstrap"]
"""t: by Student's t; bootstrap: from samples of queries (BCa)."""
Standardization: TypeAlias = Literal["normal", "z", "empirical"]
"""z: (x − mean) / sd over the runs; normal: the z-score mapped to (0, 1) by the normal distribution;
empirical: the share of the runs with a score of at most x."""
ChanceDifference: TypeAlias = Literal["signed", "absolute"]
"""How scores are compared with a random ranking. signed: by score minus random, so a worse score is
below 0; absolute: by the size of that difference."""
InformativeBy: TypeAlias = Literal["difference", "significance"]
"""When a query is informative. difference: the mean score of the runs is above the expected score of a
random ranking; significance: at least one run is significantly better than a random ranking."""
OverlapTies: TypeAlias = Literal["w", "a", "b"]
"""Ties of rank-biased overlap, as Corsi and Urbano (2024) name the variants."""

DEFAULT_TEST = "paired-t"
DEFAULT_CORRECTION = "holm"
DEFAULT_INTERVAL: IntervalKind = "t"
DEFAULT_STANDARDIZATION: Standardization = "normal"
DEFAULT_CHANCE_DIFFERENCE: ChanceDifference = "signed"
DEFAULT_INFORMATIVE_BY: InformativeBy = "difference"
DEFAULT_OVERLAP_TIES: OverlapTies = "w"
LEVEL = 0.95
SAMPLES = 10_000
SPLITS = 1_000
CORRELATION_SAMPLES = 1_000
"""How many samples of texts the intervals of correlations with people's ratings are from."""
POWER = 0.8
FUZZINESS = 0.0
PERSISTENCE = 0.9
SET_SHARE = 0.25
"""The share of the queries that are ideal; the same share is uninformative."""
BROAD_SHARE = 0.5
"""A query is broad if at least this share of its judged documents is highly relevant."""
BROAD_LABEL = 2
"""A document with this label or a higher one is highly relevant."""

MOST_SAMPLES = 1_000_000

HIGHEST_SEED = 2**31 - 1
SEEDS = Integer(0, HIGHEST_SEED)
LEVELS = Number(0, 1, closed=False, example=LEVEL)
SAMPLE_NUMBERS = Integer(1, MOST_SAMPLES)
PERSISTENCES = Number(0, 1, closed=False, example=PERSISTENCE)

# The record of policies


class PolicyOptions(TypedDict, total=False):
    """The fields of `Policies` as keywords, for type checkers: `**options: Unpack[PolicyOptions]`."""

    missing: Missing
    unjudged: Unjudged
    negative: Negative
    ties: Ties
    seed: int
    tail: Tail | None
    documents: int | None
    precision: ScorePrecision
    max_grade: int | None


class Policies(Value):
    """How runs are scored, apart from the measures: one record, from the command line to the scorer.

    `rg.evaluate` and `rg.Evaluator` take it whole as `policies=`, or its fields as keywords, or both; a
    keyword replaces the field of the record. All fields have a default and are checked here, once: a
    record that exists is valid, and RankgaugeError says what is wrong with a value.

    Parameters
    ----------
    missing : {"zero", "skip"}, default "zero"
        How to treat judged queries that a run lacks. "zero": score them as empty rankings. "skip":
        exclude them from the means of the run.
    unjudged : {"nonrelevant", "condensed"}, default "nonrelevant"
        How to treat documents without a judgment. "nonrelevant": as documents that are not relevant,
        except in measures that ignore them, such as bpref. "condensed": remove them from the rankings.
    negative : {"unjudged", "nonrelevant"}, default "unjudged"
        How to treat documents with a negative grade. "unjudged": as if not judged, as in trec_eval.
        "nonrelevant": as grade 0.
    ties : str, default "docno"
        How to order documents with equal scores. Measures with their own rule for ties, such as ESL,
        ignore this policy; the signature of the measure records it.

        - "docno": by id, descending, as in trec_eval. - "docno-ascending": by id, ascending. - "input":
        in the order of the input. - "pessimistic": the lowest label first, with unjudged documents
        between labels 0 and 1. For most
          measures, no other order scores worse.
        - "optimistic": the reverse of "pessimistic".
        - "random": in an order drawn by `seed` and the ids of the query and the documents.
        - "expected": in no order. The score is the mean over all orders, computed by a formula where one
          exists. Otherwise it is estimated, and a note says so.
    seed : int, default 0
        Seed of the random number generator.
    tail : {"tied"}, optional
        "tied" appends the documents of the collection that were not retrieved to each ranking, as one
        group of tied documents. Requires ties="expected" and `documents`.
    documents : int, optional
        Number of documents in the collection. Requires `tail`.
    precision : {"double", "single"}, default "double"
        Floating-point precision for comparing document scores. "double": as in trec_eval 9.0.8 (2023)
        and 10. "single": as in trec_eval up to 9.0.7 and in pytrec_eval.
    max_grade : int, optional
        Highest grade of the collection. By default, the highest grade in the judgments.

    Examples
    --------
    >>> Policies(ties="expected").missing
    'zero'
    """

    missing: Missing = DEFAULT_MISSING
    unjudged: Unjudged = DEFAULT_UNJUDGED
    negative: Negative = DEFAULT_NEGATIVE
    ties: Ties = DEFAULT_TIES
    seed: int = SEED
    tail: Tail | None = None
    documents: int | None = None
    precision: ScorePrecision = DEFAULT_PRECISION
    max_grade: int | None = None

    def __post_init__(self) -> None:
        state = vars(self)
        for name, kind in POLICY_KINDS.items():
            optional = name in ("tail", "documents", "max_grade")
            state[name] = check_value(name, state[name], kind, optional=optional)
        self._check_tail()

    def _check_tail(self) -> None:
        if self.tail is None:
            if self.documents is not None:
                raise RankgaugeError(f"documents={self.documents!r} needs tail='tied'")
            return
        if self.ties != "expected":
            raise RankgaugeError(
                f"tail={self.tail!r} needs ties='expected', but ties is {self.ties!r}"
            )
        if self.documents is None:
            raise RankgaugeError(
                f"tail={self.tail!r} needs documents=, the number of documents in the collection"
            )


POLICY_KINDS: dict[str, Kind] = {
    "missing": MISSING,
    "unjudged": one_of(Unjudged),
    "negative": one_of(Negative),
    "ties": one_of(Ties),
    "tail": one_of(Tail),
    "precision": one_of(ScorePrecision),
    "seed": SEEDS,
    "documents": Integer(1),
    "max_grade": Integer(1),
}
"""What each field of `Policies` can be."""

T = TypeVar("T", bound=Callable[..., Any])


def takes_policies(target: T) -> T:
    """Show the fields of `Policies` in the signature and the docstring of a function or class.

    The target takes `**options: Unpack[PolicyOptions]`. Its signature then has the fields as keywords,
    and its docstring explains them in place of {policies}.
    """
    function: Any = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]
    signature = inspect.signature(function)
    *own, _ = signature.parameters.values()
    policies = inspect.signature(Policies).parameters.values()
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in policies]
    function.__signature__ = signature.replace(parameters=[*own, *keywords])
    if target.__doc__ and Policies.__doc__:  # there are none with python -OO
        described = inspect.cleandoc(Policies.__doc__).partition("----------\n")[2]
        parameters = described.partition("\n\nExamples\n")[0]
        target.__doc__ = inspect.cleandoc(target.__doc__).replace("{policies}", parameters)
    return target


EXTERNAL_POLICIES = ("source", "missing", "standardized", "encoder", "rankgauge")
"""The policies that are known of scores that another tool made."""


OLD_WORDS = {
    "ties": {"docno-desc": "docno"},
    "precision": {"f32": "single", "f64": "double", "f32+f64": "single+double"},
}
"""What saved scores of earlier versions say in place of the values of options."""


def current_words(saved: dict[str, Any]) -> dict[str, Any]:
    """Saved policies in the words of this version.

    >>> current_words({"ties": "docno-desc", "scores": "f64"})
    {'ties': 'docno', 'precision': 'double'}
    """
    renamed = {"precision" if name == "scores" else name: value for name, value in saved.items()}
    return {
        name: OLD_WORDS[name].get(value, value)
        if name in OLD_WORDS and isinstance(value, str)
        else value
        for name, value in renamed.items()
    }


class AppliedPolicies(Value):
    """How the numbers were computed, apart from the measures themselves: `Scores.policies`.

    `Policies` is what was asked for; this is what the signatures of the scores say about it.

    Parameters
    ----------
    source
        Where the scores come from if they were not computed here. How ties and unjudged documents were
        treated is then not known, and the signature does not say it.
    ties, seed, tail, unjudged, negative, missing, max_grade
        As in `Policies`. The seed is None if nothing was drawn, and negative is None if negative grades
        are unjudged.
    judgments
        "subtopics" if documents were judged for subtopics, else None.
    precision
        In which precision scores of documents were compared: "single", "double", "single+double" if runs
        differ, or "" if it is not known.
    standardized
        How the scores were compared with the scores of other runs.
    encoder
        The digest of the encoder that metrics such as bertscore were computed with, else None.
    rankgauge
        The version that computed the scores.
    """

    _renamed: ClassVar[dict[str, str]] = {"scores": "precision", "said": "nonempty_fields"}

    source: str | None = None
    ties: str = DEFAULT_TIES
    seed: int | None = None
    tail: str | None = None
    judgments: str | None = None
    precision: str = DEFAULT_PRECISION
    unjudged: str = DEFAULT_UNJUDGED
    negative: Negative | None = None
    missing: Missing = DEFAULT_MISSING
    max_grade: int = 1
    standardized: str | None = None
    encoder: str | None = None
    rankgauge: str = __version__

    def __post_init__(self) -> None:
        for name, words in OLD_WORDS.items():
            old = getattr(self, name)
            if old in words:
                warn_old_form(f"{name}={old!r}", f"{name}={words[old]!r}")
                vars(self)[name] = words[old]

    def signature(self, measure: Scored | Aggregate) -> str:
        """One line with everything that the numbers of a measure depend on.

        What does not apply is left out.

        >>> from rankgauge import P
        >>> AppliedPolicies(rankgauge="0.2.0").signature(P @ 10)
        'P(rel=1)@10|ties=docno|precision=double|unjudged=nonrelevant|missing=zero|max_grade=1|rankgauge=0.2.0'
        """
        known = self.nonempty_fields()
        if not measure.by_encoder:
            known.pop("encoder", None)
        if measure.own_ties is not None:
            known["ties"] = measure.own_ties
        keys = known if self.source is None else [key for key in known if key in EXTERNAL_POLICIES]
        rest = (f"{key}={known[key]}" for key in keys)
        return "|".join((measure.specification(), *rest))

    def nonempty_fields(self) -> dict[str, Any]:
        """The policies that are not None, by name."""
        return {key: value for key, value in asdict(self).items() if value is not None}

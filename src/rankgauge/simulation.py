"""A synthetic test collection with the irregularities of a real one.

``rankgauge demo`` uses it. It is made to exercise an evaluation tool, not to predict how real
systems compare. It has on purpose tied scores, scores that differ only in double precision,
missing queries, short lists, unjudged documents and a query without relevant documents.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Value
from rankgauge.core.renamed import renamed_parameters

V = TypeVar("V")

FIRST_QUERY = 301
MIN_QUERIES_FOR_ODDITIES = 5

MEDIAN_RELEVANT = 25
MOST_RELEVANT = 150
RELEVANT_GRADE_SHARES = (0.65, 0.25, 0.10)  # of the relevant documents, grades 1, 2 and 3
GRADE_SIGNAL = np.array([0.0, 1.0, 1.3, 1.6])  # how much each grade stands out to a system

# Shares of the noise variance: what misleads every system, one family, one system.
COMMON_NOISE, FAMILY_NOISE, OWN_NOISE = 0.3, 0.4, 0.3

UNJUDGED_SHARE = 0.15
FALSE_RELEVANT_RATE = 0.005
WRONG_GRADE_RATE = 0.05

FAMILIES = ("lexical", "dense", "rerank")
WEAKEST_QUALITY, STRONGEST_QUALITY = 0.9, 2.6


class Collection(Value):
    """Judgments and runs over the same queries and documents.

    ``qrels`` is query -> docno -> grade, where -1 means pooled but left unjudged.
    ``runs`` is run name -> query -> docno -> score, with the documents in rank order. Scores never
    increase. Documents with tied scores are in the order that the system preferred.
    """

    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, dict[str, float]]]


class _System(Value):
    name: str
    family: str
    quality: float
    decimals: int = 6
    contributes_to_pool: bool = True
    fine_steps: bool = False
    misses_topics: bool = False
    returns_short_lists: bool = False
    fails_a_topic: bool = False


class _Plan(Value):
    """The decisions for all queries that are made before any document is ranked.

    ``strengths`` and ``lengths`` have a row for each query and a column for each system.
    """

    relevant_counts: Ints
    strengths: Floats
    lengths: Ints
    barren_topic: int | None = None
    failed_topic: int | None = None


# The first systems carry the most oddities, so that a smaller roster keeps them. The very first
# is plain and pooled, which guarantees every query a pool.
DEFAULT_SYSTEMS = (
    _System("bm25", "lexical", 1.5, decimals=4),
    _System("dense-a", "dense", 1.7, decimals=2),
    _System("rerank-mono", "rerank", 2.2, contributes_to_pool=False),
    _System("tf-idf", "lexical", WEAKEST_QUALITY, decimals=1, returns_short_lists=True),
    _System("dense-b", "dense", 1.6, fine_steps=True),
    _System("rerank-duo", "rerank", 2.4, misses_topics=True),
    _System("ql-dirichlet", "lexical", 1.4, misses_topics=True),
    _System("dense-c", "dense", 1.2, fails_a_topic=True),
    _System("rerank-large", "rerank", STRONGEST_QUALITY),
    _System("bm25-rm3", "lexical", 1.8, contributes_to_pool=False),
    _System("dense-d", "dense", 1.9, contributes_to_pool=False),
    _System("rerank-small", "rerank", 2.0),
)


@renamed_parameters(topics="queries")
def simulate(
    *,
    queries: int = 50,
    systems: int = 12,
    documents: int = 5000,
    depth: int = 100,
    pool_depth: int = 20,
    seed: int = 2026,
) -> Collection:
    """Return a synthetic collection of judgments and runs.

    The pool of a query has the first documents of the systems that contribute to it. With twelve
    systems, ``rerank-mono``, ``bm25-rm3`` and ``dense-d`` do not contribute. About 15% of the
    pool has grade -1 (unjudged). The rest has a grade from 0 to 3.

    There are three families of systems, ``lexical``, ``dense`` and ``rerank``. Systems of one
    family make similar mistakes and have a similar scale of scores. Twelve systems have names
    like real runs. For any other number, the systems are numbered within their family, from the
    weakest to the strongest.

    Systems have oddities: rounded scores, scores 1e-8 apart, short lists, missing queries, a
    failed query. With eight systems or more, all oddities are present. Missing queries, failed
    queries and queries with nothing relevant need at least five queries.

    Raises ValueError if an argument is out of range.

    Parameters
    ----------
    queries: how many queries.
    systems: how many systems; each has a run.
    documents: how many documents the collection has.
    depth: how many documents a run has for a query, at most.
    pool_depth: how many documents of each contributing system are in the pool of a query.
    seed: the same seed gives the same collection.

    >>> collection = simulate(queries=5, systems=3, documents=500, depth=20, pool_depth=10)
    >>> list(collection.runs)
    ['lexical-1', 'dense-1', 'rerank-1']
    >>> list(collection.qrels)
    ['301', '302', '303', '304', '305']
    >>> len(collection.runs["lexical-1"]["301"])
    20
    """
    _check_arguments(queries, systems, documents, depth, pool_depth, seed)
    rng = np.random.default_rng(seed)
    docnos = _make_docnos(documents, rng)
    roster = _make_roster(systems)
    plan = _make_plan(roster, queries, documents, depth, rng)
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {system.name: {} for system in roster}
    for query in range(queries):
        topic_id = str(FIRST_QUERY + query)
        true_grades = _draw_true_grades(int(plan.relevant_counts[query]), documents, rng)
        assessed_grades = _assess(true_grades, rng)
        if query == plan.barren_topic:
            assessed_grades[:] = 0
        evidence = _draw_evidence(roster, plan.strengths[query], true_grades, rng)
        if query == plan.failed_topic:
            relevant = (true_grades > 0) | (assessed_grades > 0)
            failing = np.array([system.fails_a_topic for system in roster])
            evidence[np.ix_(relevant, failing)] = -np.inf
        rankings = _rank_all(evidence, plan.lengths[query])
        for column, (system, ranking) in enumerate(zip(roster, rankings, strict=True)):
            if ranking.size:
                scores = _score(system, evidence[ranking, column], rng)
                runs[system.name][topic_id] = _index_by_docno(ranking, scores.tolist(), docnos)
        pool = _pool(roster, rankings, pool_depth)
        qrels[topic_id] = _judge(pool, assessed_grades, docnos, rng)
    return Collection(qrels=qrels, runs=runs)


def _check_arguments(
    queries: int, systems: int, documents: int, depth: int, pool_depth: int, seed: int
) -> None:
    names = ("queries", "systems", "documents", "depth", "pool_depth")
    for name, value in zip(names, (queries, systems, documents, depth, pool_depth), strict=True):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    if depth > documents:
        raise ValueError(f"depth ({depth}) must not exceed the number of documents ({documents})")
    if pool_depth > depth:
        raise ValueError(f"pool_depth ({pool_depth}) must not exceed depth ({depth})")
    if seed < 0:
        raise ValueError(f"seed must not be negative, got {seed}")


def _make_docnos(documents: int, rng: np.random.Generator) -> list[str]:
    """Return distinct docnos in the styles of three newswire sources, in random order."""
    styles = (_financial_times_docno, _los_angeles_times_docno, _broadcast_docno)
    docnos: list[str] = []
    for position, style in enumerate(styles):
        size = len(range(position, documents, len(styles)))
        # Each style maps distinct numbers to distinct docnos; the wide range leaves gaps.
        numbers = rng.choice(40 * size + 1, size=size, replace=False)
        docnos.extend(style(number) for number in numbers.tolist())
    return [docnos[position] for position in rng.permutation(documents)]


def _financial_times_docno(number: int) -> str:
    serial, quarter = divmod(number, 16)
    return f"FT9{1 + quarter // 4}{1 + quarter % 4}-{serial + 1}"


def _los_angeles_times_docno(number: int) -> str:
    serial, date = divmod(number, 2 * 12 * 28)
    year, day_of_year = divmod(date, 12 * 28)
    month, day = divmod(day_of_year, 28)
    return f"LA{month + 1:02d}{day + 1:02d}{89 + year}-{serial + 1:04d}"


def _broadcast_docno(number: int) -> str:
    serial, volume = divmod(number, 2)
    return f"FBIS{3 + volume}-{serial + 1}"


def _make_roster(systems: int) -> tuple[_System, ...]:
    """Return the default systems, or ``systems`` numbered systems with the same oddities in turn."""
    if systems == len(DEFAULT_SYSTEMS):
        return DEFAULT_SYSTEMS
    qualities = np.linspace(WEAKEST_QUALITY, STRONGEST_QUALITY, systems).tolist()
    roster = []
    for position, quality in enumerate(qualities):
        model = DEFAULT_SYSTEMS[position % len(DEFAULT_SYSTEMS)]
        name = f"{model.family}-{1 + position // len(FAMILIES)}"
        roster.append(replace(model, name=name, quality=quality))
    return tuple(roster)


def _make_plan(
    roster: Sequence[_System], queries: int, documents: int, depth: int, rng: np.random.Generator
) -> _Plan:
    counts = rng.lognormal(np.log(MEDIAN_RELEVANT), 1.0, size=queries)
    most = max(1, min(MOST_RELEVANT, documents // 4))
    relevant_counts = np.clip(counts, 1, most).astype(np.int64)
    strengths = _draw_strengths(roster, queries, rng)
    lengths = _draw_lengths(roster, queries, depth, rng)
    if queries < MIN_QUERIES_FOR_ODDITIES:
        return _Plan(relevant_counts, strengths, lengths)
    by_count = np.argsort(relevant_counts, kind="stable")
    barren, failed = int(by_count[0]), int(by_count[queries // 2])
    return _Plan(relevant_counts, strengths, lengths, barren, failed)


def _draw_strengths(roster: Sequence[_System], queries: int, rng: np.random.Generator) -> Floats:
    """Return how well each system tells relevant documents apart on each query."""
    qualities = np.array([system.quality for system in roster])
    ease = rng.lognormal(0.0, 0.35, size=(queries, 1))
    family_interaction = rng.normal(0.0, 0.2, size=(queries, len(FAMILIES)))
    own_interaction = rng.normal(0.0, 0.2, size=(queries, len(roster)))
    interaction = family_interaction[:, _family_columns(roster)] + own_interaction
    return np.asarray(np.maximum(0.0, ease * qualities + interaction))


def _draw_lengths(
    roster: Sequence[_System], queries: int, depth: int, rng: np.random.Generator
) -> Ints:
    """Return how many documents each system returns for each query, 0 for a missing query."""
    lengths = np.full((queries, len(roster)), depth, dtype=np.int64)
    missing = min(3, queries // MIN_QUERIES_FOR_ODDITIES)
    shortened = max(1, queries // 5)
    for column, system in enumerate(roster):
        if system.misses_topics:
            lengths[rng.choice(queries, size=missing, replace=False), column] = 0
        if system.returns_short_lists and depth > 1:
            chosen = rng.choice(queries, size=shortened, replace=False)
            lengths[chosen, column] = rng.integers(max(1, depth // 10), depth, size=shortened)
    return lengths


def _family_columns(roster: Sequence[_System]) -> list[int]:
    return [FAMILIES.index(system.family) for system in roster]


def _draw_true_grades(relevant_count: int, documents: int, rng: np.random.Generator) -> Ints:
    grades = np.zeros(documents, dtype=np.int64)
    relevant = rng.choice(documents, size=relevant_count, replace=False)
    grades[relevant] = rng.choice([1, 2, 3], size=relevant_count, p=RELEVANT_GRADE_SHARES)
    return grades


def _assess(true_grades: Ints, rng: np.random.Generator) -> Ints:
    """Return the grades that an assessor would give: mostly the true grades, sometimes one off."""
    chance = rng.random(true_grades.size)
    shift = rng.choice([-1, 1], size=true_grades.size)
    relevant = true_grades > 0
    assessed = np.where(relevant & (chance < WRONG_GRADE_RATE), true_grades + shift, true_grades)
    assessed[~relevant & (chance < FALSE_RELEVANT_RATE)] = 1
    return np.clip(assessed, 0, 3)


def _draw_evidence(
    roster: Sequence[_System], strengths: Floats, true_grades: Ints, rng: np.random.Generator
) -> Floats:
    """Return what each system (column) believes of each document (row) for one query.

    The evidence is strength times the signal of the true grade, plus noise of variance 1.
    """
    documents = true_grades.size
    common = rng.standard_normal((documents, 1))
    of_family = rng.standard_normal((documents, len(FAMILIES)))
    own = rng.standard_normal((documents, len(roster)))
    noise = np.sqrt(COMMON_NOISE) * common + np.sqrt(OWN_NOISE) * own
    noise += np.sqrt(FAMILY_NOISE) * of_family[:, _family_columns(roster)]
    return np.asarray(GRADE_SIGNAL[true_grades][:, np.newaxis] * strengths + noise)


def _rank_all(evidence: Floats, lengths: Ints) -> list[Ints]:
    """Return for each system the rows of its ``length`` documents with the most evidence, best first."""
    rankings = []
    for of_system, length in zip(evidence.T, lengths.tolist(), strict=True):
        best_first = np.argsort(-of_system, kind="stable")[:length]
        rankings.append(best_first[np.isfinite(of_system[best_first])])
    return rankings


def _score(system: _System, evidence: Floats, rng: np.random.Generator) -> Floats:
    """Return the scores a system reports for documents whose evidence is in rank order."""
    if system.fine_steps:
        # Single precision has steps of 6e-8 here, so neighbors merge; double keeps them apart.
        steps = rng.integers(1, 4, size=evidence.size)
        return np.round(0.71 + 1e-8 * np.cumsum(steps)[::-1], 8)
    if system.family == "lexical":
        scores = 5.0 + 25.0 * _logistic((evidence - 4.0) / 1.5)
    elif system.family == "dense":
        scores = _logistic((evidence - 2.0) / 3.0)
    else:
        scores = 3.0 * (evidence - 4.0)
    return np.round(scores, system.decimals)


def _logistic(values: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-values))


def _pool(roster: Sequence[_System], rankings: Sequence[Ints], pool_depth: int) -> Ints:
    contributions = [
        ranking[:pool_depth]
        for system, ranking in zip(roster, rankings, strict=True)
        if system.contributes_to_pool
    ]
    return np.unique(np.concatenate(contributions))


def _judge(
    pool: Ints, assessed_grades: Ints, docnos: Sequence[str], rng: np.random.Generator
) -> dict[str, int]:
    """Return the grade of each pooled document by docno, -1 for those left unjudged."""
    unjudged = rng.random(pool.size) < UNJUDGED_SHARE
    grades = np.where(unjudged, -1, assessed_grades[pool])
    return dict(sorted(_index_by_docno(pool, grades.tolist(), docnos).items()))


def _index_by_docno(rows: Ints, values: Sequence[V], docnos: Sequence[str]) -> dict[str, V]:
    return {docnos[row]: value for row, value in zip(rows.tolist(), values, strict=True)}

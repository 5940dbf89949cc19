"""What the script of a report receives: the types of the data in the page, and numbers as JSON has them.

`scripts/data_types.js` has the same types for the scripts; a test compares the two.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias, TypedDict

import numpy as np

from rankgauge.core.arrays import Floats

DIGITS = 6
"""How many significant digits the scores of single queries have in a page."""

PageNumbers: TypeAlias = list[float | None]
PageCounts: TypeAlias = list[int | None]


class PageNames(TypedDict):
    """The names of runs, queries and measures.

    `directions` has 1 if a higher score is better, −1 if a lower score is better, else 0. `baseline` is
    the run that the others are first compared with.
    """

    runs: list[str]
    queries: list[str]
    measures: list[str]
    directions: list[int]
    baseline: int | None


class PageMeans(TypedDict):
    """The scores, and their means with intervals.

    `values` has the scores, measure × run × query. `means` has their means, and `low` and `high` the
    ends of the intervals, measure × run. `judged` has the judged share of the first ten documents of
    each run.
    """

    values: list[list[PageNumbers]]
    means: list[PageNumbers]
    low: list[PageNumbers]
    high: list[PageNumbers]
    level: float
    judged: PageNumbers | None


class PagePairs(TypedDict):
    """The tests of all pairs of runs, measure × pair.

    The pairs are 0 and 1, 0 and 2, …, 1 and 2, and so on.
    """

    test: str
    correction: str
    difference: list[PageNumbers]
    p: list[PageNumbers]
    corrected: list[PageNumbers]
    wins: list[PageCounts]
    ties: list[PageCounts]
    losses: list[PageCounts]


class PageOmissions(TypedDict):
    """How many documents are below the shown ones, and how many texts were cut or left out."""

    documents: int
    texts: int


class PageRankings(TypedDict):
    """The first documents of each run for each query, and their labels.

    `lists` has the documents, run × query, by their numbers in `documents`. `labels` has the labels of
    each query's documents by the same numbers.
    """

    depth: int
    documents: list[str]
    texts: list[str | None] | None
    lists: list[list[list[int]]]
    labels: list[dict[str, int]]
    left: PageOmissions


class PageAgreement(TypedDict):
    """τ-b between the orders of the runs by every two measures."""

    measures: list[str]
    tau: list[PageNumbers]


class PagePower(TypedDict):
    """How many differences of the pairs of runs are significant by a measure."""

    measure: str
    significant: int
    pairs: int
    share: float


class PageSwaps(TypedDict):
    """How often two halves of the queries put two runs in opposite orders."""

    measure: str
    rate: float | None
    low: float | None
    high: float | None


class PageProvenance(TypedDict):
    """How the report was computed; `facts` are pairs of name and value."""

    facts: list[list[str]]
    notes: list[str]
    warnings: list[str]
    left: list[str]


class PageResults(PageNames, PageMeans):
    """All data but `how`. A part that was not computed is null, also for a single measure.

    `chance` (measure × run) and `expected` (measure × query) are what a random order gets, `bounds`
    (measure × run × 2) the least and greatest mean for any labels of the unjudged documents; `settled`
    says for each measure whether each run, the best first, is sure to stay above the next one.
    """

    chance: list[PageNumbers | None] | None
    bounds: list[list[PageNumbers] | None] | None
    settled: list[list[bool] | None]
    pairs: PagePairs
    expected: list[PageNumbers | None] | None
    types: list[list[str | None] | None] | None
    queryTexts: list[str | None] | None
    rankings: PageRankings | None
    agreement: PageAgreement | None
    power: list[PagePower] | None
    swaps: list[PageSwaps] | None
    added: list[str]


class PageData(PageResults):
    """The data of a page."""

    how: PageProvenance


def to_exact_lists(values: Floats) -> Any:
    """An array as nested lists with all digits; None in place of NaN and infinity.

    >>> to_exact_lists(np.array([0.1234567, np.nan]))
    [0.1234567, None]
    """
    numbers = values.astype(object)
    numbers[~np.isfinite(values)] = None
    return numbers.tolist()


def to_short_lists(values: Floats) -> Any:
    """The same, with six significant digits.

    >>> to_short_lists(np.array([[0.1234567, 1.0], [np.nan, -2.5]]))
    [[0.123457, 1], [None, -2.5]]
    """
    numbers = np.empty(values.size, dtype=object)
    numbers[:] = [_round_number(value) for value in values.ravel().tolist()]
    return numbers.reshape(values.shape).tolist()


def _round_number(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    number = float(f"{value:.{DIGITS}g}")
    return int(number) if number.is_integer() else number

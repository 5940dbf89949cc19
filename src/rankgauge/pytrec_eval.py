"""A drop-in replacement for pytrec_eval: the same names, and the same values to the last bit.

    import rankgauge.pytrec_eval as pytrec_eval

`RelevanceEvaluator(qrels, measures).evaluate(run)` gives `{query: {measure: value}}` for the queries
that have both judgments and results. Measures are written as pytrec_eval reads them: `map`,
`ndcg_cut.5,10`, `ndcg_cut_10`, or a nickname such as `official`. Scores of documents are compared in
single precision, as pytrec_eval does.

Every value is the one of pytrec_eval 0.5, except where pytrec_eval divides 0 by 0 or crashes:

- `iprec_at_recall` and `11pt_avg` of a ranking without documents are 0; in pytrec_eval they are NaN.
- A query whose grades are all negative has nothing relevant. In pytrec_eval the process ends, or hangs.
- `relstring` and `runid` are no numbers. They are always 0, also where rankings have no documents.
- Parameters that a measure cannot have, such as `P.0` or `ndcg.5`, raise ValueError. A relevance level
  below 1 and a score that is NaN raise TypeError. In pytrec_eval the process ends, or the values mean
  nothing.
- `utility` takes four weights from 0 on, in the order of their text. With any other number of weights
  all values are 0; here a warning says so.

Documents may also be whole numbers, and values numbers of NumPy, which pytrec_eval refuses.

>>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "P.1"})
>>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 2.5}})
{'q1': {'map': 0.5, 'P_1': 0.0}}
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import index

import numpy as np

from rankgauge.data.dicts import Columns
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import InputError
from rankgauge.rankings.alignment import align, judged_labels
from rankgauge.trec_eval.columns import ReportColumn, ReportTopics
from rankgauge.trec_eval.listings import LISTINGS, NICKNAMES, columns_of
from rankgauge.trec_eval.settings import Settings, TrecEvalError, WeightsError

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

supported_measures = {
    listing.name for listing in LISTINGS if listing.since == 9 and listing.name != "yaap"
}
"""The names of the measures."""

_PREFERENCES = {"runid", "num_q"} | {
    f"prefs_{name}"
    for name in ("simp", "pair", "avgjg", "num_prefs_poss", "num_prefs_ful", "num_prefs_ful_ret")
}
supported_nicknames = {
    **{name: set(measures) & supported_measures for name, measures in NICKNAMES.items()},
    "prefs": set(_PREFERENCES),
    "all_prefs": {
        *_PREFERENCES,
        *(f"prefs_{name}_{of}" for name in ("simp", "pair", "avgjg") for of in ("ret", "imp")),
        *("prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret"),
    },
    "qrels_jg": {"runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"},
}
"""The measures that each nickname stands for. As in pytrec_eval, those of preferences and of judgment
groups have a nickname, and are refused."""

_WITH_PARAMETERS = re.compile(
    rf"({'|'.join(map(re.escape, sorted(supported_measures)))})"
    r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)"
)


class RelevanceEvaluator:
    """Judgments and measures, prepared once: `evaluate` gives the values of a run.

    Parameters
    ----------
    query_relevance
        The judgments, `{query: {document: grade}}`.
    measures
        Names of measures, with parameters or without, and nicknames.
    relevance_level
        The least grade of a relevant document.
    judged_docs_only_flag
        Whether documents without a judgment are taken out of the rankings.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if index(relevance_level) < 1:
            raise TypeError(f"relevance_level is {relevance_level}, expected 1 or more")
        self._settings = Settings(
            rel=relevance_level, judged_only=index(judged_docs_only_flag) != 0
        )
        self._columns = list(_report_columns(measures, self._settings))
        judged = {query: row for query, row in query_relevance.items() if len(row) > 0}
        read = _read(judged, graded=True)
        self._judgments = Judgments(
            read.queries, read.bounds, read.documents, read.values.astype(np.int32)
        )
        self._judged = judged_labels(self._judgments)
        self._queries = list(judged)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """The values of a run for its judged queries: `{query: {measure: value}}`.

        The run is `{query: {document: score}}`. The queries have the order of the run.
        """
        if not scores:
            return {}
        read = _read(scores, graded=False)
        run = Run("run", read.queries, read.bounds, read.documents, read.values)
        lists = align(self._judgments, run, self._judged, precision="single")
        rankings = lists.rankings.condensed() if self._settings.judged_only else lists.rankings
        queries = [self._queries[place] for place in lists.queries.tolist()]
        topics = ReportTopics(
            self._settings,
            run,
            queries,
            rankings,
            np.zeros(len(queries), dtype=np.bool_),
            self._judged,
        )
        names = [column.name for column in self._columns]
        with np.errstate(all="ignore"):
            values = [_values(column, topics) for column in self._columns]
        return {
            query: dict(zip(names, row, strict=True))
            for query, row in zip(queries, zip(*values, strict=True), strict=True)
        }


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """The run in the lines of a TREC file, `{query: {document: score}}`.

    >>> parse_run(["q1 Q0 d1 1 2.5 bm25", "q1 Q0 d2 2 1.5 bm25"])["q1"]
    {'d1': 2.5, 'd2': 1.5}
    """
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in f_run:
        query, _, document, _, score, _ = line.split()
        _check_not_repeated(document, query, run[query])
        run[query][document] = float(score)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """The judgments in the lines of a qrels file, `{query: {document: grade}}`.

    >>> parse_qrel(["q1 0 d1 1", "q1 0 d2 0"])["q1"]
    {'d1': 1, 'd2': 0}
    """
    qrel: dict[str, dict[str, int]] = defaultdict(dict)
    for line in f_qrel:
        query, _, document, grade = line.split()
        _check_not_repeated(document, query, qrel[query])
        qrel[query][document] = int(grade)
    return qrel


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """One value of a measure from its values on the queries.

    It is the sum for counts (`num_…`), the geometric mean for `gm_…` (whose values are logarithms),
    and the mean for any other measure.

    >>> compute_aggregated_measure("num_ret", [3.0, 4.0]), compute_aggregated_measure("map", [0.5, 1.0])
    (7.0, 0.75)
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


def _check_not_repeated(document: str, query: str, row: Mapping[str, float]) -> None:
    """AssertionError, as pytrec_eval has it, where a document is there a second time."""
    if document in row:
        raise AssertionError(f"document {document!r} twice for query {query!r}, expected it once")


def _read(nested: object, *, graded: bool) -> Columns:
    """The columns of a dict of dicts; TypeError for anything else."""
    source = "query_relevance" if graded else "scores"
    if not isinstance(nested, dict):
        raise TypeError(f"{source} is a {type(nested).__name__}, expected a dict of queries")
    for query, row in nested.items():
        if not isinstance(query, str):
            raise TypeError(f"{source}: the query is {query!r}, expected text")
        if not isinstance(row, dict):
            raise TypeError(
                f"{source}: query {query!r} has a {type(row).__name__}, expected a dict"
            )
    try:
        return Columns.of(nested, graded=graded, source=source)
    except InputError as error:
        raise TypeError(str(error)) from None


def _report_columns(measures: Iterable[str], settings: Settings) -> Iterator[ReportColumn]:
    """The columns of the measures asked for; values do not show in the names of pytrec_eval."""
    asked = _parse_measures(measures)
    for listing in LISTINGS:
        if listing.name not in asked:
            continue
        given = ",".join(sorted(asked[listing.name])) or None
        try:
            columns = list(columns_of(listing, given, settings))
        except TrecEvalError as error:
            raise ValueError(f"measure {listing.name}.{given}: {error}") from None
        for column in columns:
            named = listing.takes in ("cutoffs", "levels")
            yield column if named else replace(column, name=listing.name)


def _parse_measures(measures: Iterable[str]) -> dict[str, set[str]]:
    """The measures asked for, each with all parameters that are given for it."""
    asked: dict[str, set[str]] = {}
    for name in measures:
        for measure in supported_nicknames.get(name, {name}):
            if measure in supported_measures:
                asked.setdefault(measure, set())
                continue
            match = _WITH_PARAMETERS.match(measure)
            if match is None:
                raise ValueError(f"unsupported measure {measure}")
            asked.setdefault(match[1], set()).update(match[2].split(","))
    return asked


def _values(column: ReportColumn, topics: ReportTopics) -> list[float]:
    """The value of each query; 0 for what is no number, and for weights that are not four."""
    if column.form == "text":
        return [0.0] * len(topics.ids)
    try:
        return np.asarray(column.values(topics), dtype=np.float64).tolist()  # type: ignore[no-any-return]
    except WeightsError as error:
        warnings.warn(f"{error}; all values are 0", stacklevel=3)
        return [0.0] * len(topics.ids)

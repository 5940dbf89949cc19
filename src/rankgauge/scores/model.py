"""Scores: run × query × measure, with names, means, tables and a file form."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import (
    DEFAULT_INTERVAL,
    DEFAULT_STANDARDIZATION,
    LEVEL,
    MISSING,
    SAMPLES,
    SEED,
    AppliedPolicies,
    IntervalKind,
    Missing,
    Standardization,
)
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.data.model import freeze
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.io.files import SIZE_LIMIT, atomic_write
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.parsing import AnyScored, parse_scored

V = TypeVar("V")

UNKNOWN = -1
"""Stands for an unknown number of relevant documents."""


class ByMeasure(dict[str, V]):
    """Values by measure; a key is the measure, or any text that means it."""

    def __missing__(self, key: Any) -> V:
        name = self.name(key)
        if name == key:
            raise KeyError(key)
        return self[name]

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(self.name(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value, or a default."""
        return super().get(self.name(key), default)

    @staticmethod
    def name(key: Any) -> str:
        """The name of the measure that a key means, or the key as text."""
        try:
            return str(parse_scored(key))
        except MeasureError:
            return str(key)


class Scores(Result, Record):
    """The score of every run on every query by every measure.

    `numpy.asarray(scores)` gives the values, with NaN where missing="skip" leaves a query out.

    Parameters
    ----------
    runs, queries : tuple of str
        The names of the runs and the queries.
    measures : tuple of measures
        The measures themselves.
    values : array
        Run × query × measure: the scores.
    present : array of bool
        Run × query: whether the run answered the query.
    judged_at_10 : array
        Run × query: the judged share of the first ten documents, NaN if not known.
    relevant : array of int
        For each query, how many documents have a grade of 1 or more; −1 if not known.
    nothing_relevant : array of bool
        Measure × query: whether no document of the query counts as relevant.
    policies : AppliedPolicies, optional
        How the scores were computed. By default, with the default policies of `evaluate`.
    notes : tuple of Note, optional
        Remarks on the scores.
    failed : tuple of str, optional
        Which runs were skipped, and why.
    only_relevant : bool, default False
        Whether all judged documents are relevant, as in a list of the relevant documents alone. The
        judged share then says nothing about the judgments.

    Examples
    --------
    >>> scores = Scores.from_matrix([[0.2, 0.4], [0.5, 0.7]], runs=["a", "b"], measure="AP")
    >>> scores.mean()["b"], scores.values.shape
    ({'AP': 0.6}, (2, 2, 1))
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[Scored | Aggregate, ...]
    values: Floats
    present: Bools
    judged_at_10: Floats
    relevant: Ints
    nothing_relevant: Bools
    policies: AppliedPolicies = field(default_factory=AppliedPolicies)
    notes: tuple[Note, ...] = ()
    failed: tuple[str, ...] = ()
    only_relevant: bool = False

    def __post_init__(self) -> None:
        freeze(self, "values", "present", "judged_at_10", "relevant", "nothing_relevant")

    @classmethod
    def from_matrix(
        cls,
        values: ArrayLike,
        *,
        runs: Sequence[str],
        measure: AnyScored | Sequence[AnyScored],
        queries: Sequence[str | int] | None = None,
    ) -> Scores:
        """Create scores from a table of numbers, such as those of another tool.

        Parameters
        ----------
        values
            Runs × queries, or runs × queries × measures. NaN is a query that a run lacks; the means of
            the run leave it out (missing="skip").
        runs
            The names of the runs.
        measure
            A measure as `rankgauge.parse` understands it, or any other text, such as "human rating", for
            a measure that rankgauge does not know. A list of them if the table has three dimensions.
        queries
            The names of the queries, by default "1", "2" and so on.

        >>> scores = Scores.from_matrix([[0.2, 0.4], [0.5, 0.7]], runs=["a", "b"], measure="human")
        >>> scores.mean()["b"]
        {'given("human")': 0.6}
        """
        from rankgauge.scores.matrices import from_matrix

        return from_matrix(values, runs, queries, measure)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], measure: AnyScored | None = None) -> Scores:
        """Read scores from CSV, with a column per system, named in the header, and a row per query.

        The first column may contain the query ids if its name is empty or query, qid, id, num, topic_id,
        query_num or similar. Otherwise, queries are numbered from 1; a note warns if the first system
        looks like a column of queries. An empty cell, NA or nan marks a query that the system lacks.
        `measure` is as in `from_matrix`, by default given("name of the file"). Scores out of range are
        rejected. Files from `write_csv` are accepted too, but they do not record the policies. Raises
        InputError, with the line, for anything else.
        """
        from rankgauge.scores.csv_files import read_scores

        return read_scores(path, measure)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.values
        if self.policies.missing == "skip":
            values = np.where(self.present[:, :, None], values, np.nan)
        return np.array(values, dtype=dtype, copy=copy)

    def mean(self, missing: Missing | None = None) -> dict[str, ByMeasure[float]]:
        """For each run and measure, the mean over queries; for an aggregate such as gm, its number.

        `missing` determines how to treat queries that a run lacks: "zero" scores them as empty rankings,
        "skip" excludes them. By default, they are treated as in the evaluation. Queries on which a
        measure is undefined are excluded.
        """
        missing = check_value("missing", missing, MISSING, optional=True)
        policy = missing or self.policies.missing
        if policy == "zero" and self.unknown().any():
            raise RankgaugeError(
                "queries are missing from a run, and missing='zero' needs the score of an empty "
                "ranking on them, which is unknown; expected missing='skip', or scores for "
                "these queries"
            )
        return {run: self.means_over(r, self.counts(r, policy)) for r, run in enumerate(self.runs)}

    def interval(
        self,
        kind: IntervalKind = DEFAULT_INTERVAL,
        level: float = LEVEL,
        samples: int = SAMPLES,
        seed: int = SEED,
    ) -> dict[str, ByMeasure[tuple[float, float]]]:
        """`{run: {measure: (low, high)}}`: a confidence interval for each mean of `mean()`.

        The interval is over the same queries as the mean. kind="t" uses Student's t. kind="bootstrap"
        draws `samples` samples of queries with the given seed (BCa). For gm, the interval is computed
        for the mean of the logarithms, and its ends are converted back into scores. There is no interval
        (NaN) over a single query, or for an aggregate that is not a mean.

        >>> scores = Scores.from_matrix([[0.2, 0.4, 0.6, 0.8]], runs=["bm25"], measure="AP")
        >>> low, high = scores.interval()["bm25"]["AP"]
        >>> round(low, 4), round(high, 4)
        (0.0891, 0.9109)
        """
        from rankgauge.scores.intervals import IntervalOptions, score_intervals

        options = IntervalOptions(kind, level, samples, seed)
        low, high, _ = score_intervals(self, self.policies.missing, options)
        names = [str(measure) for measure in self.measures]
        ends = np.stack((low, high), axis=2).tolist()
        return {
            run: ByMeasure(zip(names, map(tuple, by_measure), strict=True))
            for run, by_measure in zip(self.runs, ends, strict=True)
        }

    def per_query(self) -> dict[str, dict[str, ByMeasure[float]]]:
        """Return the score of each query, as `{run: {query: {measure: score}}}`.

        With missing="skip", a run has only the queries that it answered.
        """
        names = [str(measure) for measure in self.measures]
        skip = self.policies.missing == "skip"
        return {
            run: {
                query: ByMeasure(zip(names, self.values[r, q].tolist(), strict=True))
                for q, query in enumerate(self.queries)
                if self.present[r, q] or not skip
            }
            for r, run in enumerate(self.runs)
        }

    def select(
        self,
        queries: Iterable[str] | None = None,
        *,
        runs: Iterable[str] | None = None,
        measures: Iterable[str | Scored | Aggregate] | None = None,
    ) -> Scores:
        """Select the scores of some queries, runs and measures, in the order given."""
        wanted = (
            None if measures is None else [ByMeasure.name(each) for each in _as_iterable(measures)]
        )
        names = [str(measure) for measure in self.measures]
        r = find_positions("run", self.runs, runs)
        q = find_positions("query", self.queries, queries)
        m = find_positions("measure", names, wanted)
        return replace(
            self,
            runs=tuple(self.runs[place] for place in r),
            queries=tuple(self.queries[place] for place in q),
            measures=tuple(self.measures[place] for place in m),
            values=self.values[np.ix_(r, q, m)],
            present=self.present[np.ix_(r, q)],
            judged_at_10=self.judged_at_10[np.ix_(r, q)],
            relevant=self.relevant[q],
            nothing_relevant=self.nothing_relevant[np.ix_(m, q)],
        )

    def sorted(self, measure: AnyScored | None = None) -> Scores:
        """The same scores, with the run first that is best by a measure, by default the first measure.

        Runs with equal means keep their order. Runs without a mean come last. If neither higher nor
        lower is better, higher means come first.

        >>> scores = Scores.from_matrix([[0.2, 0.4], [0.5, 0.7]], runs=["a", "b"], measure="AP")
        >>> scores.sorted().runs
        ('b', 'a')
        """
        by = str(self.measures[0]) if measure is None else ByMeasure.name(measure)
        chosen = self.select(measures=[by])
        policy = chosen.policies.missing
        means = np.array(
            [
                value
                for r in range(len(self.runs))
                for value in chosen.means_over(r, chosen.counts(r, policy)).values()
            ]
        )
        lower = inner(chosen.measures[0]).direction == "lower"
        order = np.argsort(means if lower else -means, kind="stable")
        return self.select(runs=[self.runs[r] for r in order])

    def joined(self, *others: Scores) -> Scores:
        """Combine these scores with others of the same runs and queries, to have the measures of all.

        Runs and queries are matched by name, and keep the order of these scores. A run or query that is
        missing from some of them is an error. If the policies differ, notes give the policies of each
        measure.
        """
        from rankgauge.scores.matrices import join_scores

        return join_scores((self, *others))

    def standardized(
        self,
        reference: Scores | None = None,
        *,
        kind: Standardization = DEFAULT_STANDARDIZATION,
    ) -> Scores:
        """Standardize each score over all runs on its query, so that queries weigh equally.

        kind="z": (x − mean) / sd over the runs, with n − 1 in the sd. kind="normal": the z-score mapped
        to (0, 1) by the normal distribution (Webber, Moffat and Zobel, SIGIR 2008). kind="empirical":
        the share of runs with a score of at most x (Urbano, Lima and Hanjalic, SIGIR 2019). `reference`
        holds the runs to compare with, by default these runs. If all of them score the same on a query,
        z is 0 there, and a note counts such queries. Missing scores stay missing, and do not count.

        >>> scores = Scores.from_matrix([[0.1, 0.8], [0.3, 0.6]], runs=["a", "b"], measure="AP")
        >>> scores.standardized(kind="z").values[:, :, 0].round(4).tolist()
        [[-0.7071, 0.7071], [0.7071, -0.7071]]
        """
        from rankgauge.scores.standardization import standardize_scores

        return standardize_scores(self, reference, kind)

    def signatures(self) -> dict[str, str]:
        """For each measure, a line that specifies exactly how its numbers were computed."""
        return {str(measure): self.policies.signature(measure) for measure in self.measures}

    # Tables

    def table(
        self,
        *,
        signature: bool = False,
        interval: IntervalKind | None = None,
        level: float = LEVEL,
        samples: int = SAMPLES,
        seed: int = SEED,
        notes: bool = True,
    ) -> Table:
        """One row for each run, with its means, how many queries they cover, and how many are judged.

        The column `over` tells which queries the means cover: "all" judged queries, or those that the
        run "answered". A run that lacks queries has both rows; that of the chosen policy comes first.
        Runs are in the order of `.runs`, as the rows of the arrays; `sorted()` puts the best run first.

        What is printed for people has the measures first, and only those of the other columns that say
        something: no `missing` if no run lacks a query, and no `judged@10` if all judged documents are
        relevant.

        Parameters
        ----------
        signature
            Add a note with the signature of each measure.
        interval
            Add two columns after each mean: the ends of its confidence interval.
        level, samples, seed
            As in `Scores.interval`.
        notes
            Put the notes of the scores below the table.
        """
        from rankgauge.scores.tables import mean_table

        options = None
        if interval is not None:
            from rankgauge.scores.intervals import IntervalOptions

            options = IntervalOptions(interval, level, samples, seed)
        table = mean_table(self, signature, options)
        if notes:
            table = replace(table, notes=(*note_texts(self.notes, gather=True), *table.notes))
        return table

    @property
    def judgments_known(self) -> bool:
        """Whether the judgments are known. Of scores that another tool made they are not."""
        return bool((self.relevant != UNKNOWN).all())

    def unknown(self, r: int | slice = slice(None)) -> Bools:
        """Which queries a run lacks where the score of an empty ranking is not known."""
        computed = self.policies.source is None and self.policies.standardized is None
        if computed or self.policies.missing == "zero":
            return np.zeros(self.present[r].shape, dtype=np.bool_)
        undefined: Bools = np.isnan(self.values[r])
        return undefined.any(axis=-1) & ~self.present[r]

    def counts(self, r: int, missing: Missing) -> Bools:
        """Which queries the means of a run are over."""
        return self.present[r] if missing == "skip" else np.ones(len(self.queries), dtype=np.bool_)

    def means_over(self, r: int, counts: Bools) -> ByMeasure[float]:
        return ByMeasure(
            (str(measure), combine_scores(measure, self.values[r, counts, m]))
            for m, measure in enumerate(self.measures)
        )

    def query_table(self, *, signature: bool = False) -> Table:
        """One row for each run and query, and the means after the queries of each run.

        Queries that a run lacks are marked.
        """
        from rankgauge.scores.tables import query_table

        return query_table(self, signature)

    def _title(self) -> str:
        return (
            f"Scores: {count_phrase(len(self.runs), 'run')}, "
            f"{count_phrase(len(self.queries), 'query')}, "
            f"{count_phrase(len(self.measures), 'measure')}"
        )

    # Data frames

    def to_polars(self) -> Any:
        """A polars data frame in long form: run, query, measure, value, present.

        There is a row for each run, query and measure, in this order; with missing="skip", none for
        queries that a run lacks. `present` says whether the run has the query. A value is NaN where the
        measure is undefined.
        """
        from rankgauge.scores.tables import polars_frame

        return polars_frame(self)

    def to_pandas(self) -> Any:
        """A pandas data frame, with the rows and columns of `to_polars`."""
        from rankgauge.scores.tables import pandas_frame

        return pandas_frame(self)

    def to_arrow(self) -> Any:
        """A pyarrow table, with the rows and columns of `to_polars`."""
        from rankgauge.scores.tables import arrow_frame

        return arrow_frame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of `to_polars`, for any package that reads Arrow streams."""
        return self.to_polars().__arrow_c_stream__(requested_schema)

    # Files

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows of `to_polars` as CSV, with enough digits to read every value back exactly.

        The file is written atomically; names ending in .gz, .bz2, .xz or .zst are compressed.
        """
        frame = self.to_polars()
        with atomic_write(path) as stream:
            stream.write(frame.write_csv().encode())

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows of `to_polars` as Parquet, atomically."""
        content = io.BytesIO()
        self.to_polars().write_parquet(content)
        with atomic_write(path) as stream:
            stream.write(content.getbuffer())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scores, atomically, to a file that `Scores.load` reads back exactly.

        The file is Parquet, whatever its name, with one column per measure and the rest in the metadata.
        The same scores give the same bytes. Raises InputError if two names are the same or a score is
        outside the range of its measure. For other programs, use `write_parquet`.
        """
        from rankgauge.scores.saved import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, size_limit: int = SIZE_LIMIT) -> Scores:
        """Load scores written by `save`, including the JSON of earlier versions.

        The content of the file is validated. Raises InputError for any other file, and for a file that
        takes more than `size_limit` bytes when decoded.
        """
        from rankgauge.scores.saved import load

        return load(path, size_limit)


def _as_iterable(names: Any) -> Iterable[Any]:
    """The names, also where it is a single one."""
    return [names] if isinstance(names, str | Scored | Aggregate) else names


def find_positions(what: str, names: Sequence[str], wanted: Iterable[str] | None) -> Ints:
    """Where each of the wanted names is; all of them for None."""
    if wanted is None:
        return np.arange(len(names))
    place = {name: i for i, name in enumerate(names)}
    rows = []
    for name in _as_iterable(wanted):
        if name not in place:
            import difflib

            near = difflib.get_close_matches(str(name), names, n=1)
            lists = {"run": ".runs", "query": ".queries", "measure": ".measures"}[what]
            hint = f"did you mean {near[0]!r}?" if near else f"`{lists}` lists them"
            raise RankgaugeError(f"no scores for {what} {name!r}; {hint}")
        rows.append(place[name])
    if what != "query" and len(set(rows)) < len(rows):
        raise RankgaugeError(f"the same {what} is requested twice, expected different ones")
    return np.array(rows, dtype=np.int64)


def combine_scores(measure: Scored | Aggregate, scores: Floats) -> float:
    """Return the mean over queries, or the number of an aggregate.

    Undefined scores are left out, or make the result undefined, as the measure has it.
    """
    defined = scores[~np.isnan(scores)]
    if not inner(measure).averages_defined and len(defined) < len(scores):
        return float("nan")
    if isinstance(measure, Aggregate) and defined.size:
        return measure.combine(defined)
    return mean_of(defined)


def mean_of(values: Floats) -> float:
    """The mean, NaN where there is nothing."""
    return float(np.mean(values)) if values.size else float("nan")

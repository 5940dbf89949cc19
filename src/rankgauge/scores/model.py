"""Scores: run × query × measure, with names, means, tables and a file form."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.arrays import Bools, Floats, Ints
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.files import SIZE_LIMIT, writing
from rankgauge.data.model import freeze
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import parse
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import (
    DEFAULT_INTERVAL,
    DEFAULT_STANDARDIZATION,
    LEVEL,
    SAMPLES,
    SEED,
    IntervalKind,
    Missing,
    Policies,
    Standardization,
)
from rankgauge.records import Record
from rankgauge.results import Result
from rankgauge.tables import Table

V = TypeVar("V")

UNKNOWN = -1
"""In place of the number of relevant documents, where nobody said it."""


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
        """The value, or a default."""
        return super().get(self.name(key), default)

    @staticmethod
    def name(key: Any) -> str:
        """The name of the measure that a key means, or the key as text."""
        try:
            return str(parse(key))
        except MeasureError:
            return str(key)


class Scores(Result, Record):
    """The score of every run on every query by every measure.

    `values` is run × query × measure and `numpy.asarray` of the scores gives it, with NaN for what is
    left out under missing="skip". `present` tells which queries a run answered, `relevant` how many
    documents of a query have a grade from 1 on (−1 where that is not known, as of scores that come from
    elsewhere), `nothing_relevant` by measure which queries hold nothing relevant to it. `failed` says
    which runs were left out, and why.
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[Measure | Aggregate, ...]
    values: Floats
    present: Bools
    judged_at_10: Floats
    relevant: Ints
    nothing_relevant: Bools
    policies: Policies = field(default_factory=Policies)
    notes: tuple[Note, ...] = ()
    failed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "values", "present", "judged_at_10", "relevant", "nothing_relevant")

    @classmethod
    def from_matrix(
        cls,
        values: ArrayLike,
        *,
        runs: Sequence[str],
        measure: str | Measure | Aggregate | Sequence[str | Measure | Aggregate],
        queries: Sequence[str | int] | None = None,
    ) -> Scores:
        """The scores of a table that was made elsewhere: runs × queries, or runs × queries × measures.

        NaN stands for a topic that a run lacks: it is left out of the means of the run
        (missing="skip"). `queries` are "1", "2" and so on unless named. `measure` is what
        `rankgauge.parse` understands, or any other text, such as "human rating", for what rankgauge
        does not know; as many of them as the table has measures where it has three dimensions.

        >>> scores = Scores.from_matrix([[0.2, 0.4], [0.5, 0.7]], runs=["a", "b"], measure="human")
        >>> scores.mean()["b"]
        {'given("human")': 0.6}
        """
        from rankgauge.scores.matrices import from_matrix

        return from_matrix(values, runs, queries, measure)

    @classmethod
    def from_csv(
        cls, path: str | os.PathLike[str], measure: str | Measure | Aggregate | None = None
    ) -> Scores:
        """The scores of a CSV file: a column a system, named in the header, and a row a topic.

        The first column holds the ids of the topics where it is called topic, query, qid, id, num,
        topic_id, query_num or the like, or nothing; else they are numbered from 1, and a note says if
        the first system looks like topics. A cell that is empty, NA or nan is a topic that the system
        lacks. `measure` is as in `from_matrix`, by default given("name of the file"); a score outside
        its range is refused. A file made by `write_csv` is read back, the policies aside, which it does
        not hold. Raises InputError, with the line, for anything else.
        """
        from rankgauge.scores.csv_files import read_scores

        return read_scores(path, measure)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.values
        if self.policies.missing == "skip":
            values = np.where(self.present[:, :, None], values, np.nan)
        return np.array(values, dtype=dtype, copy=copy)

    def mean(self, missing: Missing | None = None) -> dict[str, ByMeasure[float]]:
        """For each run, the mean over queries of each measure, or what its aggregate makes of them.

        `missing` says what counts for topics that a run lacks: "zero" scores them as empty rankings,
        "skip" leaves them out; by default as evaluated. A query on which a measure is undefined is
        left out.
        """
        policy = missing or self.policies.missing
        if policy == "zero" and self.unknown().any():
            message = "what a run would score on topics it lacks is not known"
            raise RankgaugeError(f"{message}, expected missing='skip', or scores for them")
        return {run: self.means_over(r, self.counts(r, policy)) for r, run in enumerate(self.runs)}

    def interval(
        self,
        kind: IntervalKind = DEFAULT_INTERVAL,
        level: float = LEVEL,
        samples: int = SAMPLES,
        seed: int = SEED,
    ) -> dict[str, ByMeasure[tuple[float, float]]]:
        """`{run: {measure: (low, high)}}`: a confidence interval for each mean of `mean()`.

        Over the topics that the mean is over; "t" by Student's t, "bootstrap" by BCa from so many
        samples of topics, drawn by the seed. For gm it is that of the mean of the logarithms, taken
        back. NaN where there is none: over a single topic, and for an aggregate that is no mean.

        >>> scores = Scores.from_matrix([[0.2, 0.4, 0.6, 0.8]], runs=["bm25"], measure="AP")
        >>> low, high = scores.interval()["bm25"]["AP"]
        >>> round(low, 4), round(high, 4)
        (0.0891, 0.9109)
        """
        from rankgauge.scores.intervals import score_intervals

        low, high, _ = score_intervals(self, self.policies.missing, kind, level, samples, seed)
        names = [str(measure) for measure in self.measures]
        return {
            run: ByMeasure(
                zip(names, zip(low[r].tolist(), high[r].tolist(), strict=True), strict=True)
            )
            for r, run in enumerate(self.runs)
        }

    def per_query(self) -> dict[str, dict[str, ByMeasure[float]]]:
        """`{run: {query: {measure: score}}}`; under missing="skip" only what a run answered."""
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
        measures: Iterable[str | Measure | Aggregate] | None = None,
    ) -> Scores:
        """The scores on these queries alone, of these runs and by these measures, in their order."""
        wanted = None if measures is None else [ByMeasure.name(each) for each in _several(measures)]
        names = [str(measure) for measure in self.measures]
        r = places("run", self.runs, runs)
        q = places("query", self.queries, queries)
        m = places("measure", names, wanted)
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

    def joined(self, *others: Scores) -> Scores:
        """The scores of the same runs on the same queries by the measures of all of these together.

        Runs and queries are found by name, and are in the order of the first. A run or query that is
        not in all of them is refused. Where the policies differ, the notes say those of each measure.
        """
        from rankgauge.scores.matrices import joined

        return joined((self, *others))

    def standardized(
        self,
        reference: Scores | None = None,
        *,
        kind: Standardization = DEFAULT_STANDARDIZATION,
    ) -> Scores:
        """The scores set against those of all runs on the topic, so that all topics weigh alike.

        "z" is (x − mean) / sd over the runs, the sd with n − 1 below; "normal" takes that to (0, 1) by
        the normal distribution (Webber, Moffat and Zobel, SIGIR 2008); "empirical" is the share of
        runs with a score of at most x (Urbano, Lima and Hanjalic, SIGIR 2019). `reference` has the
        runs to set against, by default these. A topic on which they do not differ gives z = 0, which
        a note counts. Missing scores stay so, and do not count.

        >>> scores = Scores.from_matrix([[0.1, 0.8], [0.3, 0.6]], runs=["a", "b"], measure="AP")
        >>> scores.standardized(kind="z").values[:, :, 0].round(4).tolist()
        [[-0.7071, 0.7071], [0.7071, -0.7071]]
        """
        from rankgauge.scores.standardization import standardized

        return standardized(self, reference, kind)

    def signatures(self) -> dict[str, str]:
        """For each measure, the line that says exactly how its numbers were computed."""
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
        """A row a run: means, and beside them what they rest on.

        `over` says which topics the means are over: all judged ones, or those the run answered. A
        run that lacks topics has a row for each, the one of the chosen policy first. With `interval`,
        two columns after each mean have the ends of its interval, as by `Scores.interval`. Below it
        are the notes of the scores, unless `notes` is false.
        """
        from rankgauge.scores.tables import mean_table

        table = mean_table(self, signature, interval, level, samples, seed)
        if notes:
            table = replace(table, notes=(*worded(self.notes, gather=True), *table.notes))
        return table

    @property
    def judgments_known(self) -> bool:
        """Whether it is known what was judged: not of scores that come from elsewhere."""
        return bool((self.relevant != UNKNOWN).all())

    def unknown(self, r: int | slice = slice(None)) -> Bools:
        """Which topics a run lacks without it being known what an empty ranking would score."""
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
            (str(measure), _combined(measure, self.values[r, counts, m]))
            for m, measure in enumerate(self.measures)
        )

    def query_table(self, *, signature: bool = False) -> Table:
        """A row a run and topic, those that the run lacks marked, and last the means of the run."""
        from rankgauge.scores.tables import query_table

        return query_table(self, signature)

    def _title(self) -> str:
        return (
            f"Scores: {counted(len(self.runs), 'run')}, {counted(len(self.queries), 'topic')}, "
            f"{counted(len(self.measures), 'measure')}"
        )

    # Data frames

    def to_polars(self) -> Any:
        """A polars data frame in long form: run, query, measure, value, present.

        A row for each run, query and measure, in this order; under missing="skip" not for queries
        that a run lacks. `present` says whether the run has the query; a value that a measure does
        not define is NaN.
        """
        from rankgauge.scores.frames import polars_frame

        return polars_frame(self)

    def to_pandas(self) -> Any:
        """A pandas data frame, with the rows and columns of `to_polars`."""
        from rankgauge.scores.frames import pandas_frame

        return pandas_frame(self)

    def to_arrow(self) -> Any:
        """A pyarrow table, with the rows and columns of `to_polars`."""
        from rankgauge.scores.frames import arrow_frame

        return arrow_frame(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of `to_polars`, for any package that reads Arrow streams."""
        return self.to_polars().__arrow_c_stream__(requested_schema)

    # Files

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows of `to_polars` as CSV, every value with the digits that bring it back.

        The file appears whole or not at all; the endings .gz, .bz2, .xz and .zst compress.
        """
        frame = self.to_polars()
        with writing(path) as stream:
            stream.write(frame.write_csv().encode())

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows of `to_polars` as Parquet, whole or not at all."""
        content = io.BytesIO()
        self.to_polars().write_parquet(content)
        with writing(path) as stream:
            stream.write(content.getbuffer())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scores to a file that `Scores.load` reads back exactly, whole or not at all.

        The file is Parquet, whatever its name: a column a measure, and all else in the metadata. The
        same scores give the same bytes. InputError where names are there twice, or a score is outside
        the range of its measure. `write_parquet` is for other programs.
        """
        from rankgauge.scores.saved import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, size_limit: int = SIZE_LIMIT) -> Scores:
        """The scores that `save` wrote, also the JSON of earlier versions.

        All that the file says is checked: InputError for any other file, and for a file of more than
        `size_limit` bytes once it is decoded.
        """
        from rankgauge.scores.saved import load

        return load(path, size_limit)


def _several(names: Any) -> Iterable[Any]:
    """The names, also where it is a single one."""
    return [names] if isinstance(names, str | Measure | Aggregate) else names


def places(what: str, names: Sequence[str], wanted: Iterable[str] | None) -> Ints:
    """Where each of the wanted names is; all of them for None."""
    if wanted is None:
        return np.arange(len(names))
    place = {name: i for i, name in enumerate(names)}
    found = []
    for name in _several(wanted):
        if name not in place:
            import difflib

            near = difflib.get_close_matches(str(name), names, n=1)
            lists = {"run": ".runs", "query": ".queries", "measure": ".measures"}[what]
            hint = f"did you mean {near[0]!r}?" if near else f"`{lists}` lists them"
            raise RankgaugeError(f"no scores for {what} {name!r}; {hint}")
        found.append(place[name])
    if what != "query" and len(set(found)) < len(found):
        raise RankgaugeError(f"a {what} is asked for twice, expected different ones")
    return np.array(found, dtype=np.int64)


def _combined(measure: Measure | Aggregate, scores: Floats) -> float:
    defined = scores[~np.isnan(scores)]
    if not inner(measure).averages_defined and len(defined) < len(scores):
        return float("nan")
    if isinstance(measure, Aggregate) and defined.size:
        return measure.combine(defined)
    return mean_of(defined)


def mean_of(values: Floats) -> float:
    """The mean, NaN where there is nothing."""
    return float(np.mean(values)) if values.size else float("nan")

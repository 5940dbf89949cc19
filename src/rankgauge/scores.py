"""Scores: run × query × measure, with names, means, tables and a file form."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import InputError, MeasureError, RankgaugeError
from rankgauge.data.files import read_bytes, writing
from rankgauge.data.model import Floats, Ints, counted
from rankgauge.measures.base import Aggregate, Measure, inner
from rankgauge.measures.grammar import parse
from rankgauge.report.tables import Cell, Table
from rankgauge.version import __version__

Missing: TypeAlias = Literal["zero", "skip"]
Bools: TypeAlias = NDArray[np.bool_]

FORMAT = "rankgauge-scores"
VERSION = 1
OVER: dict[Missing, str] = {"zero": "all", "skip": "answered"}
"""What a mean is over, by the treatment of missing topics."""


@dataclass(frozen=True)
class Policies:
    """How the numbers were computed, apart from the measures themselves."""

    ties: str = "docno-desc"
    seed: int | None = None
    tail: str | None = None
    judgments: str | None = None
    scores: str = "f64"
    unjudged: str = "nonrelevant"
    missing: Missing = "zero"
    max_grade: int = 1
    rankgauge: str = __version__

    def signature(self, measure: Measure | Aggregate) -> str:
        """All that fixes a number, in one line; what does not apply is left out.

        >>> from rankgauge import P
        >>> Policies(rankgauge="0.1.0").signature(P @ 10)
        'P(rel=1)@10|ties=docno-desc|scores=f64|unjudged=nonrelevant|missing=zero|max_grade=1|rankgauge=0.1.0'
        """
        rest = (f"{key}={value}" for key, value in asdict(self).items() if value is not None)
        return "|".join((measure.specification(), *rest))


class ByMeasure(dict[str, float]):
    """Values by measure; a key is the measure, or any text that means it."""

    def __missing__(self, key: Any) -> float:
        name = self._name(key)
        if name == key:
            raise KeyError(key)
        return self[name]

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(self._name(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """The value, or a default."""
        return super().get(self._name(key), default)

    @staticmethod
    def _name(key: Any) -> str:
        try:
            return str(parse(key))
        except MeasureError:
            return str(key)


@dataclass(frozen=True, eq=False)
class Scores:
    """The score of every run on every query by every measure.

    `values` is run × query × measure and `numpy.asarray` of the scores gives it, with NaN for what is
    left out under missing="skip". `present` tells which queries a run answered, `relevant` how many
    documents of a query have a grade from 1 on, `nothing_relevant` by measure which queries hold
    nothing relevant to it. `failed` says which runs were left out, and why.
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
    notes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.values, self.present, self.judged_at_10, self.relevant):
            array.flags.writeable = False

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.values
        if self.policies.missing == "skip":
            values = np.where(self.present[:, :, None], values, np.nan)
        return np.array(values, dtype=dtype, copy=copy)

    def mean(self, missing: Missing | None = None) -> dict[str, ByMeasure]:
        """For each run, the mean over queries of each measure, or what its aggregate makes of them.

        `missing` says what counts for topics that a run lacks: "zero" scores them as empty rankings,
        "skip" leaves them out; by default as evaluated. A query on which a measure is undefined is
        left out.
        """
        policy = missing or self.policies.missing
        return {run: self._means(r, self._counted(r, policy)) for r, run in enumerate(self.runs)}

    def per_query(self) -> dict[str, dict[str, ByMeasure]]:
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

    def select(self, queries: Iterable[str]) -> Scores:
        """The scores on these queries alone, in their order."""
        position = {query: q for q, query in enumerate(self.queries)}
        wanted = list(queries)
        unknown = [query for query in wanted if query not in position]
        if unknown:
            raise RankgaugeError(f"no scores for query {unknown[0]!r}; `.queries` lists them")
        index = np.array([position[query] for query in wanted], dtype=np.intp)
        return replace(
            self,
            queries=tuple(wanted),
            values=self.values[:, index],
            present=self.present[:, index],
            judged_at_10=self.judged_at_10[:, index],
            relevant=self.relevant[index],
            nothing_relevant=self.nothing_relevant[:, index],
        )

    def signatures(self) -> dict[str, str]:
        """For each measure, the line that says exactly how its numbers were computed."""
        return {str(measure): self.policies.signature(measure) for measure in self.measures}

    # Tables

    def table(self, *, signature: bool = False) -> Table:
        """A row a run: means, and beside them what they rest on.

        `over` says which topics the means are over: all judged ones, or those the run answered. A
        run that lacks topics has a row for each, the one of the chosen policy first.
        """
        columns = ("run", "over", "topics", "missing", "no relevant", "judged@10")
        names = tuple(str(measure) for measure in self.measures)
        rows = [self._row(r, policy) for r in range(len(self.runs)) for policy in self._policies(r)]
        return Table(columns + names, tuple(rows), self._table_notes(signature))

    def _policies(self, r: int) -> list[Missing]:
        """The ways to treat missing topics that a run is shown under."""
        policy = self.policies.missing
        both: dict[Missing, list[Missing]] = {"zero": ["zero", "skip"], "skip": ["skip", "zero"]}
        return [policy] if self.present[r].all() else both[policy]

    def _row(self, r: int, missing: Missing) -> tuple[Cell, ...]:
        counts = self._counted(r, missing)
        return (
            self.runs[r],
            OVER[missing],
            int(np.count_nonzero(counts)),
            int(np.count_nonzero(~self.present[r])),
            int(np.count_nonzero(self.relevant[counts] == 0)),
            _mean(self.judged_at_10[r, counts & self.present[r]]),
            *self._means(r, counts).values(),
        )

    def _counted(self, r: int, missing: Missing) -> Bools:
        """Which queries the means of a run are over."""
        return self.present[r] if missing == "skip" else np.ones(len(self.queries), dtype=np.bool_)

    def _means(self, r: int, counts: Bools) -> ByMeasure:
        return ByMeasure(
            (str(measure), _combined(measure, self.values[r, counts, m]))
            for m, measure in enumerate(self.measures)
        )

    def query_table(self, *, signature: bool = False) -> Table:
        """A row a run and topic, those that the run lacks marked, and last the means of the run."""
        columns = ("run", "topic", "missing", *(str(measure) for measure in self.measures))
        rows: list[tuple[Cell, ...]] = []
        for r, (run, by_query) in enumerate(self.per_query().items()):
            lacking = dict(zip(self.queries, (~self.present[r]).tolist(), strict=True))
            rows += [
                (run, query, int(lacking[query]), *scores.values())
                for query, scores in by_query.items()
            ]
            for policy in self._policies(r):
                counts = self._counted(r, policy)
                missing = int(np.count_nonzero(counts & ~self.present[r]))
                rows.append((run, OVER[policy], missing, *self._means(r, counts).values()))
        return Table(columns, tuple(rows), self._table_notes(signature))

    def _table_notes(self, signature: bool) -> tuple[str, ...]:
        notes = []
        barren = np.count_nonzero(self.relevant == 0)
        for m, (measure, nothing) in enumerate(
            zip(self.measures, self.nothing_relevant, strict=True)
        ):
            if (count := int(np.count_nonzero(nothing))) > barren:
                notes.append(f"{measure}: {counted(count, 'topic')} with nothing relevant to it")
            if count := int(np.count_nonzero(np.isnan(self.values[:, :, m]).any(axis=0))):
                left_out = ", left out of the mean" if inner(measure).averages_defined else ""
                notes.append(f"{measure}: {counted(count, 'topic')} undefined{left_out}")
        if signature:
            notes += self.signatures().values()
        return tuple(notes)

    def __repr__(self) -> str:
        head = (
            f"Scores: {counted(len(self.runs), 'run')}, {counted(len(self.queries), 'topic')}, "
            f"{counted(len(self.measures), 'measure')}"
        )
        return f"{head}\n{self.table().render('table')}".rstrip("\n")

    def _repr_html_(self) -> str:
        return self.table().render_html()

    # Data frames

    def to_polars(self) -> Any:
        """A polars data frame in long form: run, query, measure, value, present.

        A row for each run, query and measure, in this order; under missing="skip" not for queries
        that a run lacks. `present` says whether the run has the query; a value that a measure does
        not define is NaN.
        """
        import polars

        names, value, present = self._long()
        columns = {
            axis: polars.Series(axis, texts, dtype=polars.String).gather(rows)
            for axis, (texts, rows) in names.items()
        }
        return polars.DataFrame({**columns, "value": value, "present": present})

    def to_pandas(self) -> Any:
        """A pandas data frame, with the rows and columns of `to_polars`."""
        pandas = _package("pandas")
        names, value, present = self._long()
        columns = {axis: np.array(texts, object)[rows] for axis, (texts, rows) in names.items()}
        return pandas.DataFrame({**columns, "value": value, "present": present})

    def to_arrow(self) -> Any:
        """A pyarrow table, with the rows and columns of `to_polars`."""
        arrow = _package("pyarrow")
        names, value, present = self._long()
        columns = {
            axis: arrow.array(texts, arrow.string()).take(arrow.array(rows))
            for axis, (texts, rows) in names.items()
        }
        return arrow.table({**columns, "value": value, "present": present})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of `to_polars`, for any package that reads Arrow streams."""
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def _long(self) -> tuple[dict[str, tuple[list[str], Ints]], Floats, Bools]:
        """The long form: for run, query and measure their names and which one each row has; the
        values; whether the query is present."""
        names = (self.runs, self.queries, [str(measure) for measure in self.measures])
        present = np.broadcast_to(self.present[:, :, None], self.values.shape)
        rows = np.nonzero(present if self.policies.missing == "skip" else np.ones_like(present))
        columns = {}
        for axis, texts, index in zip(("run", "query", "measure"), names, rows, strict=True):
            for text in texts:
                try:
                    text.encode()
                except UnicodeEncodeError:
                    message = f"the {axis} {text!r} is not UTF-8, expected text for a data frame"
                    raise InputError("scores", None, message) from None
            columns[axis] = list(texts), index
        return columns, self.values[rows], present[rows]

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
        """Write the scores as one JSON document that `Scores.load` reads back exactly."""
        import json

        document = {
            "format": FORMAT,
            "version": VERSION,
            "policies": asdict(self.policies),
            "runs": self.runs,
            "queries": self.queries,
            "measures": [str(measure) for measure in self.measures],
            "values": _to_json(self.values),
            "present": self.present.tolist(),
            "judged_at_10": _to_json(self.judged_at_10),
            "relevant": self.relevant.tolist(),
            "nothing_relevant": self.nothing_relevant.tolist(),
            "notes": self.notes,
            "failed": self.failed,
        }
        with writing(path) as stream:
            stream.write(json.dumps(document, allow_nan=False).encode("ascii"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scores:
        """The scores that `save` wrote; InputError for any other file."""
        import json

        source = os.fspath(path)
        try:
            document = json.loads(read_bytes(path))
            if document["format"] != FORMAT:
                raise KeyError("format")
            if document["version"] != VERSION:
                message = f"version {document['version']}, expected {VERSION}"
                raise InputError(source, None, message)
            shape = [len(document[axis]) for axis in ("runs", "queries", "measures")]
            return cls(
                runs=tuple(map(_text, document["runs"])),
                queries=tuple(map(_text, document["queries"])),
                measures=tuple(parse(_text(measure)) for measure in document["measures"]),
                values=_from_json(document["values"], shape, np.float64),
                present=_from_json(document["present"], shape[:2], np.bool_),
                judged_at_10=_from_json(document["judged_at_10"], shape[:2], np.float64),
                relevant=_from_json(document["relevant"], shape[1:2], np.int64),
                nothing_relevant=_from_json(
                    document["nothing_relevant"], [shape[2], shape[1]], np.bool_
                ),
                policies=Policies(**document["policies"]),
                notes=tuple(map(_text, document["notes"])),
                failed=tuple(map(_text, document.get("failed", ()))),
            )
        except MeasureError as error:
            message = f"{error} (a measure of your own: load its plug-in first)"
            raise InputError(source, None, message) from None
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            message = f"not a file of scores ({error}), expected one made by Scores.save"
            raise InputError(source, None, message) from None


def _package(name: str) -> Any:
    """A package that only a few methods need; RankgaugeError where it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise RankgaugeError(f"{name} is not there, expected: pip install {name}") from None


def _combined(measure: Measure | Aggregate, scores: Floats) -> float:
    defined = scores[~np.isnan(scores)]
    if not inner(measure).averages_defined and len(defined) < len(scores):
        return float("nan")
    if isinstance(measure, Aggregate) and defined.size:
        return measure.combine(defined)
    return _mean(defined)


def _mean(values: Floats) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _to_json(values: Floats) -> Any:
    """Nested lists, NaN as null and infinity as text, so that the document is strict JSON."""
    if values.ndim == 1:
        return [None if np.isnan(v) else v if np.isfinite(v) else str(v) for v in values.tolist()]
    return [_to_json(row) for row in values]


def _from_json(values: Any, shape: list[int], dtype: Any) -> NDArray[Any]:
    kept: NDArray[Any] = np.array(values, dtype=dtype).reshape(shape)
    return kept


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value

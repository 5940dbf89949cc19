"""Scores as tables of means or of queries, and as data frames in long form."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.charts import Chart
from rankgauge.core.notes import Note
from rankgauge.core.policies import Missing
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import InputError, missing_package
from rankgauge.measures.around import inner
from rankgauge.scores.model import Scores, mean_of

if TYPE_CHECKING:
    from rankgauge.scores.intervals import IntervalOptions

COVERAGE_NAMES: dict[Missing, str] = {"zero": "all", "skip": "answered"}
"""The queries over which a mean is taken, for each way to treat missing queries."""
LONG_COLUMNS = ["run", "query", "measure", "value", "present"]
"""The columns in long format."""


def mean_table(scores: Scores, signature: bool, interval: IntervalOptions | None) -> Table:
    """What `Scores.table` gives."""
    known = ("no relevant", "judged@10") if scores.judgments_known else ()
    columns = ("run", "over", "topics", "missing", *known)
    names = tuple(str(measure) for measure in scores.measures)
    rows_of = [(r, policy) for r in range(len(scores.runs)) for policy in _policies(scores, r)]
    rows = tuple(_row(scores, r, policy) for r, policy in rows_of)
    table = Table(columns + names, rows, _notes(scores, signature), chart=_chart(scores))
    if interval is not None:
        from rankgauge.scores.intervals import add_intervals

        table = add_intervals(table, scores, rows_of, interval)
    return replace(table, shown=_shown(table, scores, len(columns)))


def _shown(table: Table, scores: Scores, first: int) -> tuple[str, ...]:
    """The columns for people: measures first, then what says something; measures begin at `first`."""
    says_something = {
        "over": len(table.rows) > len(scores.runs),
        "missing": not scores.present.all(),
        "no relevant": bool((scores.relevant == 0).any()),
        "judged@10": not scores.only_relevant,
    }
    run, *others = (name for name in table.columns[:first] if says_something.get(name, True))
    over = [name for name in others if name == "over"]
    return run, *over, *table.columns[first:], *(name for name in others if name not in over)


def _chart(scores: Scores) -> Chart | None:
    """The first measure as a bar, or as an interval if its bounds are there."""
    if not scores.measures:
        return None
    measure = scores.measures[0]
    names = {str(each) for each in scores.measures}
    low, high, chance = (f"{kind}({measure})" for kind in ("lower", "upper", "expected"))
    start, end = inner(measure).range
    chart = Chart(str(measure), start, end, mark=chance if chance in names else None)
    return replace(chart, low=low, high=high) if {low, high} <= names else chart


def _policies(scores: Scores, r: int) -> list[Missing]:
    """The ways to treat missing queries that a run is shown under."""
    policy = scores.policies.missing
    both: dict[Missing, list[Missing]] = {"zero": ["zero", "skip"], "skip": ["skip", "zero"]}
    return [policy] if scores.present[r].all() or scores.unknown(r).any() else both[policy]


def _row(scores: Scores, r: int, missing: Missing) -> tuple[Cell, ...]:
    counts = scores.counts(r, missing)
    return (
        scores.runs[r],
        COVERAGE_NAMES[missing],
        int(np.count_nonzero(counts)),
        int(np.count_nonzero(~scores.present[r])),
        *(_judgments(scores, r, counts) if scores.judgments_known else ()),
        *scores.means_over(r, counts).values(),
    )


def _judgments(scores: Scores, r: int, counts: Bools) -> tuple[Cell, ...]:
    nothing = int(np.count_nonzero(scores.relevant[counts] == 0))
    return nothing, mean_of(scores.judged_at_10[r, counts & scores.present[r]])


def query_table(scores: Scores, signature: bool) -> Table:
    """What `Scores.query_table` gives."""
    columns = ("run", "topic", "missing", *(str(measure) for measure in scores.measures))
    rows: list[tuple[Cell, ...]] = []
    for r, (run, by_query) in enumerate(scores.per_query().items()):
        lacking = dict(zip(scores.queries, (~scores.present[r]).tolist(), strict=True))
        rows += [
            (run, query, int(lacking[query]), *values.values())
            for query, values in by_query.items()
        ]
        for policy in _policies(scores, r):
            counts = scores.counts(r, policy)
            missing = int(np.count_nonzero(counts & ~scores.present[r]))
            rows.append(
                (run, COVERAGE_NAMES[policy], missing, *scores.means_over(r, counts).values())
            )
    last = () if scores.present.all() else ("missing",)
    shown = (*columns[:2], *columns[3:], *last)
    return Table(columns, tuple(rows), _notes(scores, signature), shown)


def _notes(scores: Scores, signature: bool) -> tuple[str, ...]:
    notes: list[Note] = []
    unknown = scores.unknown()
    barren = np.count_nonzero(scores.relevant == 0)
    for m, (measure, nothing) in enumerate(
        zip(scores.measures, scores.nothing_relevant, strict=True)
    ):
        if (count := int(np.count_nonzero(nothing))) > barren:
            kind = "{queries} with no relevant documents"
            if (least := getattr(inner(measure), "relevant_from", 1)) > 1:
                kind = f"on {{queries}} no document has a grade of at least {least}"
            notes.append(Note(kind, measure=str(measure), count=count))
        undefined = np.isnan(scores.values[:, :, m]) & ~unknown
        if count := int(np.count_nonzero(undefined.any(axis=0))):
            left_out = ", excluded from the mean" if inner(measure).averages_defined else ""
            kind = f"{{queries}} undefined{left_out}"
            notes.append(Note(kind, measure=str(measure), count=count))
    if scores.policies.standardized is not None:
        notes.append(Note(f"scores standardized by query: {scores.policies.standardized}"))
    signatures = scores.signatures().values() if signature else ()
    return *map(str, notes), *signatures


# Data frames, with a row for each run, query and measure


def polars_frame(scores: Scores) -> Any:
    """What `Scores.to_polars` gives."""
    import polars

    names, value, present = _long_form(scores)
    columns = {
        axis: polars.Series(axis, texts, dtype=polars.String).gather(rows)
        for axis, (texts, rows) in names.items()
    }
    return polars.DataFrame({**columns, "value": value, "present": present})


def pandas_frame(scores: Scores) -> Any:
    """What `Scores.to_pandas` gives."""
    pandas = _import_package("pandas")
    names, value, present = _long_form(scores)
    columns = {axis: np.array(texts, object)[rows] for axis, (texts, rows) in names.items()}
    return pandas.DataFrame({**columns, "value": value, "present": present})


def arrow_frame(scores: Scores) -> Any:
    """What `Scores.to_arrow` gives."""
    arrow = _import_package("pyarrow")
    names, value, present = _long_form(scores)
    columns = {
        axis: arrow.array(texts, arrow.string()).take(arrow.array(rows))
        for axis, (texts, rows) in names.items()
    }
    return arrow.table({**columns, "value": value, "present": present})


def _long_form(scores: Scores) -> tuple[dict[str, tuple[list[str], Ints]], Floats, Bools]:
    """Return the long form of scores.

    For run, query and measure it has their names and which one each row has. Then come the values, and
    whether the query is present.
    """
    names = (scores.runs, scores.queries, [str(measure) for measure in scores.measures])
    present = np.broadcast_to(scores.present[:, :, None], scores.values.shape)
    rows = np.nonzero(present if scores.policies.missing == "skip" else np.ones_like(present))
    columns = {}
    for axis, texts, index in zip(("run", "query", "measure"), names, rows, strict=True):
        for text in texts:
            try:
                text.encode()
            except UnicodeEncodeError:
                message = f"the {axis} {text!r} is not UTF-8, expected text for a data frame"
                raise InputError("scores", None, message) from None
        columns[axis] = list(texts), index
    return columns, scores.values[rows], present[rows]


def _import_package(name: str) -> Any:
    """A package that only a few methods need; RankgaugeError where it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise missing_package(name) from None

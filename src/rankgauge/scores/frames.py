"""Scores as data frames, in long form: a row for each run, query and measure."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.scores.model import Scores

LONG = ["run", "query", "measure", "value", "present"]
"""The columns of the long form."""


def polars_frame(scores: Scores) -> Any:
    """What `Scores.to_polars` gives."""
    import polars

    names, value, present = _long(scores)
    columns = {
        axis: polars.Series(axis, texts, dtype=polars.String).gather(rows)
        for axis, (texts, rows) in names.items()
    }
    return polars.DataFrame({**columns, "value": value, "present": present})


def pandas_frame(scores: Scores) -> Any:
    """What `Scores.to_pandas` gives."""
    pandas = _package("pandas")
    names, value, present = _long(scores)
    columns = {axis: np.array(texts, object)[rows] for axis, (texts, rows) in names.items()}
    return pandas.DataFrame({**columns, "value": value, "present": present})


def arrow_frame(scores: Scores) -> Any:
    """What `Scores.to_arrow` gives."""
    arrow = _package("pyarrow")
    names, value, present = _long(scores)
    columns = {
        axis: arrow.array(texts, arrow.string()).take(arrow.array(rows))
        for axis, (texts, rows) in names.items()
    }
    return arrow.table({**columns, "value": value, "present": present})


def _long(scores: Scores) -> tuple[dict[str, tuple[list[str], Ints]], Floats, Bools]:
    """The long form: for run, query and measure their names and which one each row has; the
    values; whether the query is present."""
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


def _package(name: str) -> Any:
    """A package that only a few methods need; RankgaugeError where it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        message = f"{name} is not installed, expected its package: run pip install {name}"
        raise RankgaugeError(message) from None

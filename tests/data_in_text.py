"""Runs and judgments from the text of a file, and whether two of them are the same."""

from __future__ import annotations

from typing import Any

from rankgauge.data.model import Judgments, Run
from rankgauge.data.roles import ColumnNames
from rankgauge.io import table_files
from rankgauge.io.files import Content


def run_of(text: bytes, **names: Any) -> Run:
    """The run in a table file with this text, called x."""
    content, chosen = Content("x", 1 << 30, text), ColumnNames(**names)
    return table_files.run_table(
        content, table_files.require_table_kind(content, chosen), "x", chosen
    )


def qrels_of(text: bytes, **names: Any) -> Judgments:
    """The judgments in a table file with this text, called x."""
    content, chosen = Content("x", 1 << 30, text), ColumnNames(**names)
    return table_files.qrels_table(content, table_files.require_table_kind(content, chosen), chosen)


def assert_same(left: Any, right: Any) -> None:
    """That two runs, or two judgments, have the same ids and the same numbers to the bit."""
    assert list(left.queries) == list(right.queries)
    assert list(left.documents) == list(right.documents)
    assert left.bounds.tolist() == right.bounds.tolist()
    values = "scores" if isinstance(left, Run) else "grades"
    one, other = getattr(left, values), getattr(right, values)
    assert one.dtype == other.dtype
    assert one.tobytes() == other.tobytes()

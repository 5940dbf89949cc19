"""Runs and judgments from files that hold tables: Parquet, CSV, JSON and JSON Lines."""

from __future__ import annotations

from rankgauge.data.columns import ColumnsByRole, RowLocator
from rankgauge.data.frames import judgments_from_columns, run_from_columns
from rankgauge.data.model import Judgments, Run
from rankgauge.data.roles import (
    USUAL_NAMES,
    ColumnNames,
    WantedColumns,
    judgment_columns,
    run_columns,
)
from rankgauge.errors import InputError, NoRows
from rankgauge.io.files import SIZE_LIMIT, Content, open_content, refuse_utf16
from rankgauge.io.kinds import READABLE_KINDS, TableKind, describe_unknown, kind_of
from rankgauge.io.trec import Path, run_name


def read_run_table(
    path: Path,
    *,
    name: str | None = None,
    query: str | None = None,
    document: str | None = None,
    score: str | None = None,
    size_limit: int = SIZE_LIMIT,
) -> Run:
    """Read the run in a CSV, TSV, JSON, JSON Lines or Parquet file.

    Parameters
    ----------
    path : str or os.PathLike
        The file; "-" is standard input.
    name : str, optional
        The name of the run. By default, the name of the file without its ending.
    query, document, score : str, optional
        Names of the columns, or of the keys in JSON. By default, the standard names, which
        docs/INPUTS.md lists. A table without scores is ordered by its ranks.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.

    Returns
    -------
    Run
        The run.

    Raises
    ------
    InputError
        If the file cannot be read as a table of a run. The message names the line if there is one.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "bm25.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("qid,docno,score\\nq1,a,2.5\\nq1,b,1.5\\n")
    ...     run = read_run_table(path)
    >>> run.name, run.documents.texts(), run.scores.tolist()
    ('bm25', ['a', 'b'], [2.5, 1.5])
    """
    names = ColumnNames(query, document, score)
    with open_content(path, limit=size_limit) as content:
        kind = require_table_kind(content, names)
        return run_table(content, kind, run_name(path) if name is None else name, names)


def read_qrels_table(
    path: Path,
    *,
    query: str | None = None,
    document: str | None = None,
    grade: str | None = None,
    subtopic: str | None = None,
    size_limit: int = SIZE_LIMIT,
) -> Judgments:
    """Read the judgments in a CSV, TSV, JSON, JSON Lines or Parquet file.

    Parameters
    ----------
    path : str or os.PathLike
        The file; "-" is standard input.
    query, document, grade : str, optional
        Names of the columns, or of the keys in JSON. By default, the standard names, which
        docs/INPUTS.md lists.
    subtopic : str, optional
        Name of the column of subtopics. By default, documents are not judged for subtopics.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.

    Returns
    -------
    Judgments
        The judgments.

    Raises
    ------
    InputError
        If the file cannot be read as a table of judgments. The message names the line if there is one.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "qrels.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("qid,docno,grade\\nq1,a,1\\nq1,b,0\\n")
    ...     judgments = read_qrels_table(path)
    >>> judgments.documents.texts(), judgments.grades.tolist()
    (['a', 'b'], [1, 0])
    """
    names = ColumnNames(query, document, grade=grade, subtopic=subtopic)
    with open_content(path, limit=size_limit) as content:
        return qrels_table(content, require_table_kind(content, names), names)


def require_table_kind(content: Content, names: ColumnNames) -> TableKind:
    """The kind of a file that must be a table."""
    kind = kind_of(content, names)
    if kind is not None:
        return kind
    head = content.head()
    refuse_utf16(head, content.source)
    if not head.strip():
        raise NoRows(content.source, None, "no rows, expected some")
    raise InputError(
        content.source,
        1,
        describe_unknown(content, names) or f"no table, expected {READABLE_KINDS}",
    )


def run_table(
    content: Content, kind: TableKind, name: str, names: ColumnNames = USUAL_NAMES
) -> Run:
    """The run in the content of a file of this kind."""
    if kind.form == "json":
        from rankgauge.io.json_files import json_run

        return json_run(content, name, names)
    return run_from_columns(*_columns(content, kind, run_columns(names)), name, content.source)


def qrels_table(content: Content, kind: TableKind, names: ColumnNames = USUAL_NAMES) -> Judgments:
    """The judgments in the content of a file of this kind."""
    if kind.form == "json":
        from rankgauge.io.json_files import json_judgments

        return json_judgments(content, names)
    return judgments_from_columns(*_columns(content, kind, judgment_columns(names)))


def _columns(
    content: Content, kind: TableKind, wanted: WantedColumns
) -> tuple[ColumnsByRole, RowLocator]:
    """The wanted columns of a file with a row for each document."""
    if kind.form == "parquet":
        from rankgauge.io.parquet_files import parquet_columns

        return parquet_columns(content, wanted), RowLocator(content.source)
    from rankgauge.io.csv_files import csv_columns

    return csv_columns(content.whole(), kind.separator, wanted, content.source)

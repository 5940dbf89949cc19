"""The runs of files that distances can be computed for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankgauge.core.notes import Note
from rankgauge.core.policies import Progress
from rankgauge.core.records import Record
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import label
from rankgauge.io.diagnosis import has_only_judgments, no_shared_queries_error
from rankgauge.io.files import display_name
from rankgauge.io.parts import StoredRun
from rankgauge.rankings.alignment import rows_of
from rankgauge.workers import outcomes


class UsableRuns(Record):
    """The runs, what lenient reading left out, and what is wrong with each other run."""

    runs: list[Run]
    notes: list[Note]
    failed: list[str]


def usable_runs(
    sources: Sequence[StoredRun],
    judgments: Judgments | None,
    progress: Progress | None = None,
    **reading: Any,
) -> UsableRuns:
    """The runs of these files that can be used; RankgaugeError if there are not two.

    Parameters
    ----------
    sources: the files.
    judgments: a run must share a query with them; None for distances without judgments.
    progress: called with each run that was read.
    reading: how files are read, as `read_qrels` takes it.
    """
    read = UsableRuns([], [], [])
    for source, result in outcomes(lambda source: source(), sources, None, label):
        if isinstance(result, RankgaugeError):
            judged = has_only_judgments(str(source.path), **reading)
            remedy = (
                "; the file contains judgments: pass it first, or with --qrels" if judged else ""
            )
            read.failed.append(f"{result}{remedy}")
        elif judgments is not None and not (rows_of(judgments.queries, result.queries) >= 0).any():
            where = display_name(source.path)
            read.failed.append(str(no_shared_queries_error(where, result.queries, judgments)))
        else:
            read.runs.append(result)
            read.notes.extend(replace(note, run=result.name) for note in result.dropped)
        if progress is not None:
            progress(source.label)
    if len(read.runs) < 2:
        raise RankgaugeError("\n".join(read.failed))
    return read

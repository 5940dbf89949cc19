"""The column of `rankgauge evaluate --settled`: whether each run is certain to stay above the next."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import click
import numpy as np

from rankgauge.cli.output import progress
from rankgauge.cli.scoring import Scoring
from rankgauge.cli.workers import workers
from rankgauge.core.notes import note_texts
from rankgauge.core.policies import DEFAULT_PRECISION, DEFAULT_UNJUDGED, Offlist, Ordered
from rankgauge.core.tables import Cell, Table
from rankgauge.data.model import Judgments, Run
from rankgauge.distance.settling import settled
from rankgauge.io.files import is_stream
from rankgauge.measures.around import Aggregate, ranking_measure
from rankgauge.measures.labeling import negative_grade_notes
from rankgauge.scores.model import Scores
from rankgauge.scores.tables import COVERAGE_NAMES

COLUMN = "settled"


def check_policies(scoring: Scoring) -> None:
    """Refuse, before any work, the options that --settled cannot be used with."""
    refused = {
        "--missing skip": scoring.missing != "zero",
        f"--unjudged {scoring.unjudged}": scoring.unjudged != DEFAULT_UNJUDGED,
        f"--ties {scoring.ties}": scoring.ties not in get_args(Ordered),
        "--tail": scoring.tail is not None,
        "--precision single": scoring.precision != DEFAULT_PRECISION,
        "--subtopics": scoring.subtopics,
        "- (standard input and pipes are read only once)": any(
            map(is_stream, (scoring.qrels, *scoring.runs))
        ),
    }
    for option, is_given in refused.items():
        if is_given:
            raise click.UsageError(f"--settled cannot be used with {option}")


def add_settled_column(
    table: Table, scoring: Scoring, judgments: Judgments, scores: Scores, offlist: Offlist
) -> Table:
    """Add a column to the table of means: whether each run is certain to stay above the next run.

    A run is certain to stay above the next run if it does so by the first measure, however the
    unjudged documents of the two runs are judged.
    """
    measure = scores.measures[0]
    if len(scores.runs) < 2:
        raise click.UsageError("--settled with 1 run, expected at least two")
    if isinstance(measure, Aggregate):
        raise click.UsageError(
            f"--settled works only with the arithmetic mean over queries; make {measure.measure} "
            f"the first measure, not {measure}"
        )
    names = {*scores.runs}  # without those that could not be read
    runs = [
        run
        for run in scoring.inputs()[1]
        if (run.name if isinstance(run, Run) else run.label) in names
    ]
    with progress(len(judgments.queries)) as advance:
        orders = settled(
            judgments,
            runs,
            ranking_measure(measure),
            offlist=offlist,
            max_grade=scoring.max_grade,
            ties=scoring.ties,  # type: ignore[arg-type]  # checked before
            pairs="neighbors",
            executor=workers(),
            progress=advance,
        )
    above = [orders.runs[run] for run in orders.ranking[:-1]]
    yes = dict(zip(above, ("yes" if one else "no" for one in orders.is_settled), strict=True))

    def cell(row: tuple[Cell, ...]) -> Cell:
        return yes.get(str(row[0])) if row[1] == COVERAGE_NAMES["zero"] else None

    negative = negative_grade_notes(int(np.count_nonzero(judgments.grades < 0)))
    note = (
        f"{COLUMN}: yes if the run with the next best {measure} stays behind this run, "
        "however the unjudged documents are judged"
    )
    return replace(
        table,
        columns=(*table.columns, COLUMN),
        shown=None if table.shown is None else (*table.shown, COLUMN),
        rows=tuple((*row, cell(row)) for row in table.rows),
        notes=(*table.notes, note, *note_texts([*orders.about_offlist(), *negative])),
    )

"""The files of a call, read in the order in which trec_eval looks for their faults."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TypeAlias

from rankgauge.core.records import Record
from rankgauge.data.model import Judgments, Run, decode
from rankgauge.errors import DuplicateError, InputError
from rankgauge.io.files import open_content, read_bytes
from rankgauge.io.kinds import kind_of
from rankgauge.io.trec import read_qrels, read_run
from rankgauge.trec_eval.columns import ReportColumn
from rankgauge.trec_eval.listings import columns
from rankgauge.trec_eval.settings import Settings, ZScoresError

ZScores: TypeAlias = dict[tuple[str, str], tuple[float, float]]
"""Mean and standard deviation of a reference set of runs, by query and measure."""

BLANK_LINE = re.compile(rb"(?:\A|\n)([ \t\r\v\f]*\n|[ \t\r\v\f]+\Z)")
BLANK_STARTS = [b"\n" + bytes([byte]) for byte in b"\n \t\r\v\f"]
"""How a line can begin that may be blank: looked for first, because that is faster."""


class Inputs(Record):
    """What the files have, and the columns of the measures asked for."""

    judgments: Judgments
    run: Run
    z_scores: ZScores | None
    columns: list[ReportColumn]


def read_inputs(files: Sequence[str], settings: Settings) -> Inputs:
    """Read QRELS and RUN.

    Any other fault comes before a document that occurs twice, so it decides the exit code.
    """
    comments = settings.version == 10
    duplicates: list[DuplicateError] = []
    judgments = run = None
    refuse_blank_lines(files[0])
    try:
        judgments = read_qrels(files[0], comments=comments)
    except DuplicateError as error:
        duplicates.append(error)
    try:
        run = read_run(files[1], comments=comments, more_columns=True)
    except DuplicateError as error:
        duplicates.append(error)
    z_scores = None if settings.z_scores is None else read_z_scores(settings.z_scores)
    wanted = columns(settings)
    if judgments is None or run is None:
        raise duplicates[0]
    return Inputs(judgments, run, z_scores, wanted)


def refuse_blank_lines(path: str) -> None:
    """Raise InputError if a qrels file of TREC has a blank line. trec_eval allows them in runs only.

    A pipe is not looked at, because it can be read only once.
    """
    if not os.path.isfile(path):
        return
    with open_content(path) as content:
        if kind_of(content) is not None:
            return
        text = content.whole()
    if text[:1].isspace() or any(start in text for start in BLANK_STARTS):
        blank = BLANK_LINE.search(text)
        if blank is not None:
            line = text.count(b"\n", 0, blank.start(1)) + 1
            raise InputError(path, line, "a blank line, expected `topic iteration document grade`")


def read_z_scores(path: str) -> ZScores:
    """Read the means and standard deviations that -Z names."""
    reference = {}
    try:
        lines = read_bytes(path).splitlines()
    except InputError as error:
        raise ZScoresError(str(error)) from None
    for number, line in enumerate(lines, 1):
        try:
            query, measure, mean, deviation = map(decode, line.split())
            reference[query, measure] = float(mean), float(deviation)
        except ValueError:
            message = "expected `topic measure mean standard-deviation`"
            raise ZScoresError(str(InputError(path, number, message))) from None
    if not reference:
        raise ZScoresError(f"{path}: no lines, expected `topic measure mean standard-deviation`")
    return reference

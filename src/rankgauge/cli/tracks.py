"""The tracks that commands read, NAME=KIND:QRELS,RUNS, and the options for reading them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from rankgauge.cli.groups import ParameterDeclaration, option
from rankgauge.cli.options import (
    PRECISION,
    FileOptions,
    max_grade_option,
    ties_option,
)
from rankgauge.cli.output import notify
from rankgauge.cli.scoring import check_order, judgment_notes, read_scores_file
from rankgauge.core.policies import DEFAULT_POOL_TIES, PoolTies, ScorePrecision
from rankgauge.core.records import Record
from rankgauge.data.roles import ColumnNames
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.tracks import ScoreTrack, Track, TrackParts, track_parts
from rankgauge.io.trec import run_files


class TrackOptions(FileOptions):
    """How tracks are read."""

    ties: PoolTies = ties_option(get_args(PoolTies), DEFAULT_POOL_TIES, "random: a random order.")
    precision: ScorePrecision = PRECISION
    max_grade: int | None = max_grade_option("in QRELS")

    def read(self, texts: Sequence[str], seed: int) -> TrackInputs:
        """The tracks, without the runs that cannot be read; ties are drawn by the seed."""
        return read_tracks(texts, seed=seed, **self.values())


track_options = TrackOptions.flat
"""How tracks are read: arguments of `read_tracks`, with the seed."""


def target_option(
    default: str | Sequence[str], help_text: str, *, multiple: bool = False
) -> ParameterDeclaration:
    """`--target`: the costly measure to forecast, or several."""
    return option(
        "--target",
        "targets" if multiple else "target",
        multiple=multiple,
        default=default,
        metavar="MEASURE",
        help=help_text,
    )


def learner_option(
    learners: Sequence[str],
    help_text: str,
    *,
    default: Sequence[str] | None = None,
    multiple: bool = False,
) -> ParameterDeclaration:
    """`--learner`: how models are fitted, in one way or in several."""
    return option(
        "--learner",
        "learners" if multiple else "learner",
        type=click.Choice(learners),
        multiple=multiple,
        default=default,
        help=help_text,
    )


feature_option = option(
    "--feature",
    "features",
    multiple=True,
    default=("paper",),
    metavar="MEASURE",
    help="A cheap measure, at the depth unless it is written with another cut-off; may be repeated. "
    "paper stands for P, infAP, ERR, bpref, nDCG and RBP. rich stands for these and six more, such as "
    "AP of the whole run; with --method pooled it forecasts better.",
)
"""`--feature`: what forecasts are made of."""


class TrackInputs(Record):
    """Tracks, and which of their runs could not be read."""

    tracks: tuple[Track, ...]
    tables: tuple[ScoreTrack, ...] = ()

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs of all tracks."""
        tables = (name for table in self.tables for name in table.scores.runs)
        return (*(run.name for track in self.tracks for run in track.runs), *tables)

    @property
    def failed(self) -> tuple[str, ...]:
        """What was wrong with each run that is not there."""
        return tuple(failure for track in self.tracks for failure in track.failed)


def read_tracks(
    texts: Sequence[str],
    *,
    tables: bool = False,
    lenient: bool,
    size_limit: int,
    query_column: tuple[str, ...],
    document_column: tuple[str, ...],
    score_column: tuple[str, ...],
    grade_column: tuple[str, ...],
    **policies: Any,
) -> TrackInputs:
    """The tracks, without the runs that cannot be read. Notes on the judgments go to standard error.

    Parameters
    ----------
    texts
        The tracks, as users write them.
    tables
        Whether a table of scores may stand in place of QRELS,RUNS. Then a track without a name is called
        by its kind and the end of a path, as for a study.
    lenient, size_limit, query_column, document_column, score_column, grade_column
        The values of the options that say how files are read.
    policies
        `ties`, `seed`, `precision` and `max_grade`, as in `Track.of`.
    """
    columns = ColumnNames(
        *(each or None for each in (query_column, document_column, score_column, grade_column))
    )
    parts = [track_parts(text, tables=tables) for text in texts]
    names = short_names(parts)
    tracks, scored = [], []
    for text, own, name in zip(texts, parts, names, strict=True):
        if own.runs is None:
            scored.append(ScoreTrack(name, own.kind, read_scores_file(None, own.qrels)))
            continue
        try:
            track = Track.read(
                text,
                lenient=lenient,
                size_limit=size_limit,
                columns=columns,
                failures="skip",
                **policies,
            )
        except RankgaugeError:
            files = _files(own.runs)
            check_order(own.qrels, files, columns=columns, size_limit=size_limit)
            raise
        notify(judgment_notes(track.judgments))
        tracks.append(replace(track, name=name) if tables else track)
    return TrackInputs(tuple(tracks), tuple(scored))


def short_names(parts: Sequence[TrackParts]) -> list[str]:
    """The names of tracks. The path of a file is shortened to its last folders.

    >>> short_names([track_parts("news=a/qrels.txt,runs"), track_parts("news=b/qrels.txt,runs")])
    ['news a/qrels.txt', 'news b/qrels.txt']
    """
    deepest = max((len(Path(own.qrels).parts) for own in parts), default=1)
    for kept in range(1, deepest + 1):
        names = [
            own.name or f"{own.kind} {Path(*Path(own.qrels).parts[-kept:]).as_posix()}"
            for own in parts
        ]
        if max(Counter(names).values(), default=1) == 1:
            break
    return names


def _files(runs: str) -> list[str]:
    """The files that RUNS stands for; none if there are none."""
    try:
        return [str(file.path) for file in run_files([runs])]
    except RankgaugeError:
        return []

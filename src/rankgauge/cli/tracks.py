"""The tracks that commands read, KIND=QRELS,RUNS, and the options for reading them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from rankgauge.cli.options import (
    max_grade_option,
    precision_option,
    reading_options,
    ties_option,
    together,
)
from rankgauge.cli.output import notify
from rankgauge.cli.scoring import about_judgments, check_order, column_names
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.trec import run_files
from rankgauge.forecast.tracks import Track, track_parts
from rankgauge.policies import DEFAULT_POOL_TIES, PoolTies
from rankgauge.records import Record

TRACK = "KIND=QRELS,RUNS"

track_options = together(
    ties_option(get_args(PoolTies), DEFAULT_POOL_TIES, "random: a random order."),
    precision_option,
    max_grade_option("in QRELS"),
    reading_options,
)
"""How tracks are read: arguments of `read_tracks`, with the seed."""


class ReadTracks(Record):
    """Tracks, and which of their runs could not be read."""

    tracks: tuple[Track, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs of all tracks."""
        return tuple(run.name for track in self.tracks for run in track.runs)

    @property
    def failed(self) -> tuple[str, ...]:
        """What was wrong with each run that is not there."""
        return tuple(failure for track in self.tracks for failure in track.failed)


def read_tracks(
    texts: Sequence[str],
    *,
    lenient: bool,
    size_limit: int,
    query_column: tuple[str, ...],
    document_column: tuple[str, ...],
    score_column: tuple[str, ...],
    grade_column: tuple[str, ...],
    **policies: Any,
) -> ReadTracks:
    """The tracks, without the runs that cannot be read. Notes on the judgements go to standard error.

    Parameters
    ----------
    texts
        The tracks, as users write them.
    lenient, size_limit, query_column, document_column, score_column, grade_column
        The values of the options that say how files are read.
    policies
        `ties`, `seed`, `precision` and `max_grade`, as in `Track.of`.
    """
    columns = column_names(query_column, document_column, score_column, grade_column)
    parts = [track_parts(text) for text in texts]
    tracks = []
    for text, (_, qrels, runs) in zip(texts, parts, strict=True):
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
            check_order(qrels, _files(runs), columns, size_limit)
            raise
        notify(about_judgments(track.judgments))
        tracks.append(track)
    return ReadTracks(tuple(tracks))


def _files(runs: str) -> list[str]:
    """The files that RUNS stands for; none if there are none."""
    try:
        return [str(file.path) for file in run_files([runs])]
    except RankgaugeError:
        return []

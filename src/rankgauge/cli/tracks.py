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
    """Options for reading tracks: the names of columns, ties, precision and more.

    Pass it to `takes`, and call `read` with the tracks that the user names.

    Parameters
    ----------
    query_column, document_column, score_column, grade_column : tuple of str, optional
        The names of columns in CSV, TSV and Parquet, or of keys in JSON.
    lenient : bool, default False
        Whether faulty lines of TREC files are dropped and counted.
    size_limit : int, default 8 GiB
        The largest size of a file in bytes, once decompressed.
    ties : str, default "docno"
        How documents with equal scores are ordered.
    precision : {"double", "single"}, default "double"
        The floating-point precision in which the scores of documents are compared.
    max_grade : int, optional
        The highest grade of the collection, if it is higher than any in the judgments.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import TrackOptions, takes
    >>> @click.command()
    ... @takes(reading=TrackOptions)
    ... def command(reading):
    ...     click.echo(reading.ties)
    >>> command(["--ties", "input"], standalone_mode=False)
    input
    """

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
    """The option `--target`: the costly measure to forecast, or several.

    Parameters
    ----------
    default : str or sequence of str
        The default measure, or measures.
    help_text : str
        The help text.
    multiple : bool, default False
        Whether the option may be repeated. The parameter is then called `targets`, else `target`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import target_option
    >>> @click.command()
    ... @target_option("AP", "The measure to forecast.")
    ... def command(target):
    ...     click.echo(target)
    >>> command(["--target", "nDCG@100"], standalone_mode=False)
    nDCG@100
    """
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
    """The option `--learner`: how models are fitted.

    Parameters
    ----------
    learners : sequence of str
        The choices.
    help_text : str
        The help text.
    default : sequence of str, optional
        The default, or defaults.
    multiple : bool, default False
        Whether the option may be repeated. The parameter is then called `learners`, else `learner`.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import learner_option
    >>> @click.command()
    ... @learner_option(["linear", "forest"], "How to fit the model.")
    ... def command(learner):
    ...     click.echo(learner)
    >>> command(["--learner", "forest"], standalone_mode=False)
    forest
    """
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
    help="A cheap measure, cut at the depth unless it has a cutoff of its own; may be repeated. "
    "paper stands for P, infAP, ERR, bpref, nDCG and RBP. rich stands for these and six "
    "more, such as AP of the whole run; with --method pooled, it gives better forecasts.",
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
    r"""Read tracks that a user names on the command line, without the runs that cannot be read.

    Notes on the judgments are printed to standard error.

    Parameters
    ----------
    texts : sequence of str
        The tracks as the user writes them: NAME=KIND:QRELS,RUNS.
    tables : bool, default False
        Whether a table of scores may replace QRELS,RUNS. If a track has no name, its kind and the end
        of its path become the name.
    lenient : bool
        Whether faulty lines of TREC files are dropped and counted.
    size_limit : int
        The largest size of a file in bytes, once decompressed.
    query_column, document_column, score_column, grade_column : tuple of str
        The names of columns; an empty tuple means the usual names.
    **policies
        `ties`, `seed`, `precision` and `max_grade`, as in `Track.of`.

    Returns
    -------
    TrackInputs
        The tracks as `tracks`, the tables as `tables`, and what was wrong with other runs as `failed`.

    Raises
    ------
    RankgaugeError
        If a text does not name a track.
    InputError
        If the judgments of a track cannot be read.

    Examples
    --------
    `TrackOptions.read` calls this function with the values of the options.

    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import TrackOptions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, run = os.path.join(folder, "qrels.txt"), os.path.join(folder, "bm25.run")
    ...     for path, line in ((qrels, "1 0 d1 1"), (run, "1 Q0 d1 1 9.5 bm25")):
    ...         with open(path, "w") as file:
    ...             _ = file.write(f"{line}\n")
    ...     inputs = TrackOptions().read([f"robust=news:{qrels},{run}"], seed=0)
    >>> inputs.runs, inputs.failed
    (('bm25',), ())
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

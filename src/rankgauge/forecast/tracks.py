"""Tracks: judgments and runs of one evaluation campaign, and the rows forecasts are learned from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import WARNING, Note, count_phrase, format_first_names
from rankgauge.core.policies import (
    DEFAULT_FAILURES,
    DEFAULT_POOL_TIES,
    DEFAULT_PRECISION,
    SEED,
    SEEDS,
    Failures,
    PoolTies,
    ScorePrecision,
)
from rankgauge.core.records import Record
from rankgauge.core.seeds import digest
from rankgauge.data.model import Judgments, Run
from rankgauge.data.roles import AnyColumnNames, ColumnNames
from rankgauge.errors import DuplicateError, InputError, MeasureError, RankgaugeError
from rankgauge.evaluation.inputs import Qrels, Runs, Source, judgments_of, place_of, sources_of
from rankgauge.forecast.pools import PoolScorer
from rankgauge.forecast.retrieval import RunRankings, read_rankings, read_runs, run_of
from rankgauge.io.diagnosis import MAX_EXAMINED, no_shared_queries_error, nothing_judged_note
from rankgauge.io.files import SIZE_LIMIT
from rankgauge.io.trec import SUBTOPICS_REMEDY, read_qrels, run_files
from rankgauge.measures.around import Aggregate, innermost
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import parse
from rankgauge.rankings.alignment import judged_labels
from rankgauge.scores.model import Scores

FeatureJudgments: TypeAlias = Literal["pool", "full"]
"""The judgments used for features: those of a pool of the depth, or all of them, which is costly."""

FEATURES = ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")
"""The features of the paper, each at the depth."""
RICH = (*FEATURES, "nDCG@100", "nDCG@1000", "AP", "NumRel", "NumRelRet@100", "NumRet")
"""More features, equally cheap; they also score the whole run with the judgments of the pool."""
FEATURE_SETS: Mapping[str, tuple[str, ...]] = {"paper": FEATURES, "rich": RICH}
"""Sets of features, by name."""


class Track(Record):
    """An evaluation campaign: judgments and runs.

    Create one with `Track.of` or `Track.read`. Queries with the same id in two tracks of one kind are
    the same query.

    Parameters
    ----------
    name : str
        The name of the track in messages.
    kind : str
        The kind of its collection, such as newswire.
    judgments : Judgments
        The judgments.
    runs : tuple of Run
        The runs that could be read.
    ties : {"docno", "docno-ascending", "input", "random"}, default "docno"
        How to order documents with equal scores, as in `pool`.
    seed : int, default 0
        Seed of the random number generator, for ties="random".
    precision : {"double", "single"}, default "double"
        Floating-point precision in which the scores of documents are compared, as in `pool`.
    failed : tuple of str, default ()
        The runs that were skipped, with the reasons.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 0}}
    >>> track = Track.of(qrels, {"x": {"q1": ["a", "b"]}}, kind="news")
    >>> track.name, track.deepest
    ('news', 2)
    """

    name: str
    kind: str
    judgments: Judgments
    runs: tuple[Run, ...]
    ties: PoolTies = DEFAULT_POOL_TIES
    seed: int = SEED
    precision: ScorePrecision = DEFAULT_PRECISION
    failed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        qrels: Qrels,
        runs: Runs,
        *,
        kind: str,
        name: str | None = None,
        ties: PoolTies = DEFAULT_POOL_TIES,
        seed: int = SEED,
        precision: ScorePrecision = DEFAULT_PRECISION,
        max_grade: int | None = None,
        failures: Failures = DEFAULT_FAILURES,
    ) -> Track:
        """Create a track from judgments and runs in any form that `evaluate` takes.

        Parameters
        ----------
        qrels : Judgments, mapping or file
            The judgments.
        runs : runs, mappings or files
            The runs.
        kind : str
            The kind of the collection, such as newswire.
        name : str, optional
            The name of the track. By default, its kind.
        ties : {"docno", "docno-ascending", "input", "random"}, default "docno"
            How to order documents with equal scores, as in `pool`.
        seed : int, default 0
            Seed of the random number generator, for ties="random".
        precision : {"double", "single"}, default "double"
            Floating-point precision in which the scores of documents are compared, as in `pool`.
        max_grade : int, optional
            Highest grade of the collection. By default, it is the highest grade in the judgments.
        failures : {"raise", "skip"}, default "raise"
            What to do about a run that cannot be read, or that shares no query with the judgments.
            "raise": raise the error. "skip": skip the run, and list it in `.failed`.

        Returns
        -------
        Track
            The track.
        """
        check_value("ties", ties, one_of(PoolTies))
        check_value("precision", precision, one_of(ScorePrecision))
        check_value("failures", failures, one_of(Failures))
        seed = check_value("seed", seed, SEEDS)
        max_grade = check_value("max_grade", max_grade, Integer(1), optional=True)
        judgments = judgments_of(qrels)
        if max_grade is not None:
            judgments = replace(judgments, max_grade=judged_labels(judgments, max_grade).max_grade)
        reader = _RunReader(judgments, frozenset(judgments.queries))
        read, failed = read_runs(reader, sources_of(runs), failures)
        return cls(name or kind, kind, judgments, tuple(read), ties, seed, precision, failed)

    @classmethod
    def read(
        cls,
        text: str,
        *,
        lenient: bool = False,
        size_limit: int = SIZE_LIMIT,
        columns: AnyColumnNames | None = None,
        **policies: Unpack[TrackPolicies],
    ) -> Track:
        """Read the track in NAME=KIND:QRELS,RUNS, such as robust03=news:qrels.txt,runs/.

        RUNS is a folder, a file or a pattern. It starts after the last comma, so QRELS may contain
        commas. KIND=QRELS,RUNS has no name: the name then consists of the kind and the file of
        judgments.

        Parameters
        ----------
        text : str
            The string that names the files.
        lenient : bool, default False
            Whether to drop faulty lines instead of raising an error, as in `read_qrels` and `read_run`.
        size_limit : int, default 8 GiB
            The largest size of a file in bytes, once decompressed.
        columns : dict of str to str, optional
            The column names of the tables if they are not standard, as in `read_qrels` and
            `read_run`.
        **policies
            `ties`, `seed`, `precision`, `max_grade` and `failures`, as in `Track.of`.

        Returns
        -------
        Track
            The track.

        Raises
        ------
        InputError
            If a file cannot be read, or if there are no runs.
        """
        names = ColumnNames.of(columns)
        name, kind, qrels, runs = track_parts(text)
        assert runs is not None  # a table of scores is refused above
        try:
            judgments = read_qrels(qrels, lenient=lenient, size_limit=size_limit, columns=names)
        except DuplicateError as error:
            raise _subtopics_error(error) from None
        files = [
            file
            for file in run_files([runs], lenient=lenient, size_limit=size_limit, columns=names)
            if os.path.realpath(file.path) != os.path.realpath(qrels)
        ]
        if not files:
            raise InputError(runs, None, "no runs, only judgments; expected at least one run")
        return cls.of(judgments, files, kind=kind, name=name or f"{kind} {qrels}", **policies)

    @property
    def deepest(self) -> int:
        """The largest number of documents that a run has for a query."""
        return max(int(np.diff(run.bounds).max(initial=0)) for run in self.runs)


class TrackPolicies(TypedDict, total=False):
    """How the runs of a track are ordered and scored, as in `Track.of`."""

    ties: PoolTies
    seed: int
    precision: ScorePrecision
    max_grade: int | None
    failures: Failures


class _RunReader(Record):
    """Reads a run of a track. It can be sent to another process."""

    judgments: Judgments
    queries: frozenset[bytes]

    def __call__(self, source: Source) -> Run:
        run = run_of(source)
        if self.queries.isdisjoint(run.queries):
            raise no_shared_queries_error(place_of(source), run.queries, self.judgments)
        return run


class TrackParts(NamedTuple):
    """A track as users write it.

    `name` is None if it has none. `runs` is None if it is a table of scores, and `qrels` is then the
    file of the table.
    """

    name: str | None
    kind: str
    qrels: str
    runs: str | None


TRACK_FORMAT = "NAME=KIND:QRELS,RUNS"
NAMED_TRACK = re.compile(
    r"(?:(?P<name>[^=:,/]+)=)?(?P<kind>[^=:,/\\]+):(?!\\)(?P<files>.+)", re.DOTALL
)
UNNAMED_TRACK = re.compile(r"(?P<name>)(?P<kind>[^=]+)=(?P<files>.+)", re.DOTALL)


def track_parts(text: str, *, tables: bool = False) -> TrackParts:
    """The parts of NAME=KIND:QRELS,RUNS, of KIND:QRELS,RUNS, or of KIND=QRELS,RUNS without a name.

    RUNS starts after the last comma. With `tables`, the file of a table of scores may stand in place of
    QRELS,RUNS. A file of judgments with a colon in its name is found in KIND=QRELS,RUNS too.
    """
    match, old = NAMED_TRACK.fullmatch(text), UNNAMED_TRACK.fullmatch(text)
    if old is not None and os.path.exists(old["files"].rpartition(",")[0] or old["files"]):
        match = old
    match = match or old
    if match is not None:
        name, kind, files = match["name"] or None, match["kind"], match["files"]
        qrels, comma, runs = files.rpartition(",")
        if qrels and runs:
            return TrackParts(name, kind, qrels, runs)
        if tables and not comma:
            return TrackParts(name, kind, files, None)
    raise RankgaugeError(
        f"{text!r} is not a track, expected {TRACK_FORMAT}, such as "
        "robust03=news:qrels.txt,runs/. RUNS starts after the last comma, so the path of the "
        "runs must not contain a comma"
    )


def _subtopics_error(error: DuplicateError) -> DuplicateError:
    """The error for judgments of subtopics, which forecasts cannot use, with the remedy."""
    if not error.message.endswith(SUBTOPICS_REMEDY):
        return error
    message = (
        f"{error.message.removesuffix(SUBTOPICS_REMEDY)}. These are probably subtopic "
        "judgments, which are not supported here; give judgments with one grade per document, "
        "such as the ad hoc qrels of the same track"
    )
    return DuplicateError(error.source, error.line, message)


def check_different(tracks: Sequence[Track]) -> None:
    """RankgaugeError if a run stands in two tracks with the same judgments."""
    seen: dict[tuple[str, str], str] = {}
    for track in tracks:
        for run in track.runs:
            key = (os.path.realpath(track.judgments.source), os.path.realpath(run.source))
            if not (run.source and os.path.exists(run.source)):
                key = (track.name, run.name)
            if key in seen:
                raise RankgaugeError(
                    f"the run {run.name} occurs twice with the same judgments, in "
                    f"{seen[key]} and in {track.name}; omit one of these tracks"
                )
            seen[key] = track.name


def deep_enough(track: Track, target: str) -> bool:
    """Whether a run has as many documents for a query as the target looks at."""
    return depth_note(track, target) is None


def depth_note(track: Track, target: str) -> Note | None:
    """The note that the runs of a track are too short for a target; None if they are not."""
    cutoff = innermost(parse(target)).cutoff
    if cutoff is None or track.deepest >= cutoff:
        return None
    return Note(
        f"the runs are too short for {target}. It uses the first "
        f"{count_phrase(cutoff, 'document')} of a query, and the deepest run has "
        f"{track.deepest:,}",
        part=track.name,
        severity=WARNING,
    )


MOST_NAMED = 4
"""Maximum number of missing measures that are named."""
SEPARATOR = "\0"
"""The separator between the kind and the id of a query in the name of a group of rows."""


class Rows(Record):
    """The features and the target measure for each run and query of a track.

    Created by `rows_by` and `score_rows`. A forecaster is trained on them, and forecasts are
    compared with them. Arrays are run × query, and `features` is run × query × feature.

    Attributes
    ----------
    track : str
        The name of the track.
    kind : str
        The kind of its collection.
    runs : tuple of str
        The names of the runs.
    queries : tuple of str
        The ids of the queries.
    features : array of shape (runs, queries, features)
        The features.
    plain : array of shape (runs, queries)
        The target measure cut at the depth.
    shallow : array of shape (runs, queries)
        The target measure of the whole run, with the judgments of the pool.
    target : array of shape (runs, queries)
        The target measure with all judgments.
    notes : tuple of Note
        Notes on the runs.
    failed : tuple of str
        The runs that were skipped, with the reasons.

    Examples
    --------
    >>> from rankgauge.forecast import Track, rows_by
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q1": ["a", "b"], "q2": ["b"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> rows = rows_by(Track.of(qrels, runs, kind="news"), ["AP"], [1], ["P"])
    >>> rows[1, "AP", "pool"].target.tolist()
    [[1.0, 0.5], [0.5, 0.5]]
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries"}

    track: str
    kind: str
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    features: Floats
    plain: Floats
    shallow: Floats
    target: Floats
    notes: tuple[Note, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def groups(self) -> list[str]:
        """The kind and the id of each query: equal for the same query in two tracks."""
        return [f"{self.kind}{SEPARATOR}{topic}" for topic in self.queries]

    @property
    def content_key(self) -> tuple[int, bytes]:
        """A sort key among the rows of other tracks: by size in descending order, then by content.

        Neither the name nor the kind of the track matters, nor does the order in which tracks are
        given.
        """
        arrays = (self.features, self.plain, self.shallow, self.target)
        held = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
        return -self.target.size, digest("\n".join(self.queries).encode() + held, size=16)

    def matrix(self) -> Floats:
        """Return the features, with one row per run and query."""
        return self.features.reshape(-1, self.features.shape[2])


def rows_of(
    track: Track,
    target: str | Measure,
    depth: int,
    features: Sequence[str] = FEATURES,
    judgments: FeatureJudgments = "pool",
) -> Rows:
    """The rows of a track, for a target measure and features of runs cut at a depth."""
    check_value("judgments", judgments, one_of(FeatureJudgments))
    rows = rows_by(track, [target], [depth], features)
    return rows[depth, str(parse(str(target))), judgments]


def rows_by(
    track: Track,
    targets: Sequence[str | Measure],
    depths: Sequence[int],
    features: Sequence[str] = FEATURES,
) -> dict[tuple[int, str, FeatureJudgments], Rows]:
    """Compute the rows of a track for several targets and depths.

    The documents of the runs are looked up in the judgments only once.

    Parameters
    ----------
    track : Track
        The judgments and runs.
    targets : sequence of str
        The target measures.
    depths : sequence of int
        The judging depths.
    features : sequence of str, default ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")
        The features, each at every depth.

    Returns
    -------
    dict
        The rows by (depth, target, judgments). The last is "pool" or "full": the judgments that
        features see.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q1": ["a", "b"], "q2": ["b"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> rows = rows_by(Track.of(qrels, runs, kind="news"), ["AP"], [1], ["P"])
    >>> list(rows)
    [(1, 'AP', 'pool'), (1, 'AP', 'full')]
    """
    names = _MeasureNames.of(targets, depths, features)
    judgments = track.judgments
    lists = read_rankings(
        judgments,
        list(track.runs),
        max(depths),
        longest=None,
        ties=track.ties,
        seed=track.seed,
        precision=track.precision,
    )
    notes = (*_unjudged_notes(track, lists), *lists.notes)
    everything = names.at(depths)
    by_all = _split_by_measure(everything, PoolScorer(lists, everything).score_by_all_judgments())
    rows: dict[tuple[int, str, FeatureJudgments], Rows] = {}
    for depth in depths:
        own = names.at([depth])
        by_pool = _split_by_measure(own, PoolScorer(lists, own).score_by_pool(depth))
        sides: dict[FeatureJudgments, Mapping[str, Floats]] = {"pool": by_pool, "full": by_all}
        for target in names.targets:
            short = depth_note(track, target)
            for judged, seen in sides.items():
                rows[depth, target, judged] = Rows(
                    track=track.name,
                    kind=track.kind,
                    runs=lists.names,
                    queries=tuple(judgments.queries.texts()),
                    features=np.stack([seen[name] for name in names.features[depth]], axis=2),
                    plain=seen[names.plain[depth, target]],
                    shallow=by_pool[target],
                    target=by_all[target],
                    notes=notes if short is None else (short, *notes),
                    failed=track.failed,
                )
    return rows


class _MeasureNames(Record):
    """The names of the measures of some rows.

    They are the features at each depth, the targets, and each target cut at each depth.
    """

    targets: tuple[str, ...]
    features: Mapping[int, Sequence[str]]
    plain: Mapping[tuple[int, str], str]

    @classmethod
    def of(
        cls, targets: Sequence[str | Measure], depths: Sequence[int], features: Sequence[str]
    ) -> _MeasureNames:
        """The names for these targets, depths and features."""
        whole = tuple(str(parse(str(target))) for target in targets)
        return cls(
            whole,
            {depth: [str(feature_at(name, depth)) for name in features] for depth in depths},
            {(depth, name): str(target_at(name, depth)) for depth in depths for name in whole},
        )

    def at(self, depths: Sequence[int]) -> list[str]:
        """The names of all measures at these depths, each once; the targets come last."""
        features = [name for depth in depths for name in self.features[depth]]
        plain = [self.plain[depth, target] for depth in depths for target in self.targets]
        return list(dict.fromkeys([*features, *plain, *self.targets]))


class ScoreTrack(Record):
    """An evaluation campaign as a table of scores with all judgments, without its files.

    Parameters
    ----------
    name : str
        The name of the track in messages.
    kind : str
        The kind of its collection, such as newswire.
    scores : Scores
        The scores. They must have the features at every depth, and the target measures.
    failed : tuple of str, default ()
        The runs that were skipped, with the reasons.

    Examples
    --------
    >>> scores = Scores.from_matrix([[0.5, 0.7]], runs=["a"], measure="AP")
    >>> track = ScoreTrack("robust03", "news", scores)
    >>> track.has("AP"), track.has("P@10")
    (True, False)
    """

    name: str
    kind: str
    scores: Scores
    failed: tuple[str, ...] = ()

    def has(self, measure: str) -> bool:
        """Whether the table contains a measure."""
        return str(parse(measure)) in map(str, self.scores.measures)


def score_rows(
    track: ScoreTrack,
    targets: Sequence[str],
    depths: Sequence[int],
    features: Sequence[str] = FEATURES,
) -> dict[tuple[int, str, FeatureJudgments], Rows]:
    """Compute the rows of a track from a table of scores, for features that see all judgments.

    Parameters
    ----------
    track : ScoreTrack
        The scores.
    targets : sequence of str
        The target measures.
    depths : sequence of int
        The judging depths.
    features : sequence of str, default ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")
        The features, each at every depth.

    Returns
    -------
    dict
        The rows by (depth, target, "full"), as in `rows_by`. Their `shallow` scores are NaN,
        because these require the judgments of a pool.

    Raises
    ------
    RankgaugeError
        If the scores lack a measure.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> scores = evaluate({"q1": {"a": 1, "b": 1}}, {"x": {"q1": ["a", "c"]}}, ["AP", "AP@1", "P@1"])
    >>> rows = score_rows(ScoreTrack("robust03", "news", scores), ["AP"], [1], ["P"])
    >>> rows[1, "AP", "full"].target.tolist()
    [[0.5]]
    """
    names = _MeasureNames.of(targets, depths, features)
    values = np.asarray(track.scores)
    scores = {str(measure): values[:, :, m] for m, measure in enumerate(track.scores.measures)}
    if lacking := [name for name in names.at(depths) if name not in scores]:
        options = " ".join(f"-m '{name}'" for name in lacking[:MOST_NAMED])
        raise RankgaugeError(
            f"{track.name}: the table of scores lacks "
            f"{format_first_names(lacking, MOST_NAMED)}; add them with `rankgauge evaluate "
            f"QRELS RUNS {options} … --save FILE`"
        )
    return {
        (depth, target, "full"): Rows(
            track=track.name,
            kind=track.kind,
            runs=track.scores.runs,
            queries=track.scores.queries,
            features=np.stack([scores[name] for name in names.features[depth]], axis=2),
            plain=scores[names.plain[depth, target]],
            shallow=np.full(values.shape[:2], np.nan),
            target=scores[target],
        )
        for depth in depths
        for target in names.targets
    }


def _unjudged_notes(track: Track, lists: RunRankings) -> Iterator[Note]:
    """A warning for each run that has no judged document."""
    judgments = track.judgments
    topics = len(judgments.queries)
    known = frozenset(judgments.queries)
    for number, run in enumerate(track.runs):
        first, last = lists.offsets[[number * topics, (number + 1) * topics]]
        if not (lists.rows[first:last] >= 0).any():
            judged = np.array([topic in known for topic in run.queries])
            rows = np.flatnonzero(np.repeat(judged, np.diff(run.bounds)))[:MAX_EXAMINED]
            yield replace(nothing_judged_note(run.documents.take(rows), judgments), run=run.name)


def _split_by_measure(measures: Iterable[str], scores: Floats) -> dict[str, Floats]:
    """For each measure run × query."""
    return {measure: np.ascontiguousarray(scores[:, :, m]) for m, measure in enumerate(measures)}


def feature_at(feature: str, depth: int) -> Measure | Aggregate:
    """The measure of a feature: at the depth; with a cutoff of its own, or without any, as it is."""
    if "@" not in feature:
        try:
            return parse(f"{feature}@{depth}")
        except MeasureError:
            return parse(feature)
    return parse(feature)


def target_at(target: str, depth: int) -> Measure | Aggregate:
    """The target measure at the depth; as it is where it has no cutoff."""
    name = target.rpartition("@")[0] or target
    try:
        return parse(f"{name}@{depth}")
    except MeasureError:
        return parse(target)

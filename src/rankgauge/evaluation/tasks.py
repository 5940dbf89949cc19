"""What workers do for `Evaluator.scores`: score a run, or a part of a run, or topics of several parts.

A task is small: it names files, or holds a run that the user gave. The judgments are sent apart from it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from rankgauge.core.arrays import Labels
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, Judgments, Run
from rankgauge.errors import InputError
from rankgauge.evaluation.inputs import Source, label
from rankgauge.evaluation.runs import PieceScores, RunScores, Scorer
from rankgauge.io.files import Content, display_name
from rankgauge.io.parts import DroppedRows, Outline, PartRun, dropped_in, joined, read_part
from rankgauge.io.scanning import Piece
from rankgauge.io.trec import RunFile
from rankgauge.rankings.alignment import judged_labels, located, rows_of
from rankgauge.rankings.lists import JudgedLabels
from rankgauge.workers import AnyExecutor, Shared, share


class WholeRun(Record):
    """Scores a run."""

    source: Source

    @property
    def label(self) -> str:
        """How messages call the task."""
        return label(self.source)

    def done(self, scorer: Scorer) -> RunScores:
        """The scores of the run."""
        return scorer(self.source)


class PartScores(Record):
    """What is found in a part.

    Parameters
    ----------
    outline
        The kind of the part, and how it begins and ends.
    first, last
        The rows of its first and its last topic, which are not scored. If it has only one topic, this is
        the first one.
    middle, sizes
        The scores of the topics between these two, and how many rows each topic has, the judged topics
        before the others; None if there is no topic between them.
    dropped
        What lenient reading left out.
    empty
        Whether the part has no rows at all.
    """

    outline: Outline
    first: Piece | None
    middle: PieceScores | None
    sizes: Labels
    last: Piece | None
    dropped: tuple[DroppedRows, ...]
    empty: bool


class OnePart(Record):
    """Scores the topics inside a part as if no other part had them; all but those that are left out."""

    number: int
    file: RunFile
    left_out: Ids | None = None

    @property
    def label(self) -> str:
        """How messages call the task."""
        return display_name(self.file.path)

    def done(self, scorer: Scorer) -> PartScores:
        """The scores of the topics of the part."""
        work = _PieceWork(scorer, self.left_out)

        def read(content: Content) -> list[_ScoredPiece] | Run:
            lookup = scorer.judgments.lookup
            return self.file.scanned_in(content, work, lookup, scorer.threads)

        result, outline = read_part(self.file, read)
        dropped: list[DroppedRows] = []
        pieces = result if isinstance(result, list) else []
        if isinstance(result, Run):
            dropped = dropped_in(self.number, self.file, result.dropped)
            pieces = [work(located(scorer.judgments, result))]
        middles = [piece.middle for piece in pieces if piece.middle is not None]
        return PartScores(
            outline,
            pieces[0].first if pieces else None,
            PieceScores.joined(middles) if middles else None,
            np.concatenate([_NO_SIZES, *(p.judged for p in pieces), *(p.strange for p in pieces)]),
            pieces[-1].last if pieces else None,
            tuple(dropped),
            result is None,
        )


_NO_SIZES = np.zeros(0, dtype=np.int32)


class _ScoredPiece(Record):
    """A piece of a part.

    `first` and `last` have the rows of the first and the last topic of the part, if they are here.
    `middle` has the scores of the other topics; `judged` and `strange` say how many rows they have.
    """

    first: Piece | None
    middle: PieceScores | None
    judged: Labels
    strange: Labels
    last: Piece | None


class _PieceWork(Record):
    """Scores a piece of a part."""

    scorer: Scorer
    left_out: Ids | None

    def __call__(self, piece: Piece) -> _ScoredPiece:
        count = len(piece.numbers)
        start = int(piece.starts and count > 0)
        end = count - int(piece.ends and count > start)
        middle = piece.between(start, end)
        if self.left_out is not None:
            middle = middle.part(np.flatnonzero(rows_of(self.left_out, middle.queries.ids()) < 0))
        sizes = np.diff(middle.bounds).astype(np.int32)
        return _ScoredPiece(
            piece.between(0, start).copied() if start > 0 else None,
            self.scorer.piece_scores(middle) if len(sizes) else None,
            sizes[middle.numbers >= 0],
            sizes[middle.numbers < 0],
            piece.between(end, count).copied() if end < count else None,
        )


class JoinedTopics(Record):
    """The scores of topics that are in several parts, and what lenient reading left out."""

    scores: PieceScores
    dropped: tuple[DroppedRows, ...]


class TopicsOfParts(Record):
    """Reads parts and scores some of their topics; the rows of a topic are in all the parts together.

    `parts` are the files, each with its number among the parts of the run.
    """

    parts: tuple[tuple[int, RunFile], ...]
    topics: Ids

    @property
    def label(self) -> str:
        """How messages call the task."""
        return f"topics of {display_name(self.parts[0][1].path)} and other parts"

    def done(self, scorer: Scorer) -> JoinedTopics:
        """The scores of the topics; DuplicateError if a document is in two parts for one of them."""
        rows = []
        for number, file in self.parts:
            run, _ = read_part(file, file.run_in)
            if run is not None:
                wanted = np.flatnonzero(rows_of(self.topics, run.queries) >= 0)
                rows.append(PartRun(number, file, run.part(wanted)))
        run, dropped = joined(rows)
        if len(run.queries) != len(self.topics):
            message = (
                "the parts changed while they were read, expected files that nobody is writing"
            )
            raise InputError(self.label, None, message)
        return JoinedTopics(scorer.piece_scores(located(scorer.judgments, run)), tuple(dropped))


ScoringTask: TypeAlias = WholeRun | OnePart | TopicsOfParts
TaskResult: TypeAlias = RunScores | PartScores | JoinedTopics


class SentJudgments:
    """Judgments, with the judged labels of each topic. Another process is sent the judgments, and makes
    the rest for itself: so the same judgments are the same bytes, whatever was asked of them."""

    def __init__(self, judgments: Judgments, judged: JudgedLabels) -> None:
        self.judgments, self.judged = judgments, judged

    def __reduce__(self) -> tuple[Any, ...]:
        return _sent_judgments, (self.judgments, self.judged.max_grade)


def _sent_judgments(judgments: Judgments, max_grade: int) -> SentJudgments:
    return SentJudgments(judgments, judged_labels(judgments, max_grade))


class Worker:
    """Does tasks. It can be sent to another process; then the judgments, which are large, go apart from
    the measures and policies, and serve other calls too."""

    def __init__(self, scorer: Scorer, judgments: Shared[SentJudgments]) -> None:
        self.scorer, self._judgments = scorer, judgments

    @classmethod
    def of(cls, scorer: Scorer, executor: AnyExecutor | None) -> Worker:
        """What does the tasks of a call."""
        return cls(scorer, share(SentJudgments(scorer.judgments, scorer.judged), executor))

    def __call__(self, task: ScoringTask) -> TaskResult:
        return task.done(self.scorer)

    def __reduce__(self) -> tuple[Any, ...]:
        given = self.scorer.__getstate__()
        del given["judgments"], given["judged"]
        return _worker, (self._judgments, given)


def _worker(shared: Shared[SentJudgments], given: dict[str, Any]) -> Worker:
    sent = shared.value
    return Worker(Scorer(sent.judgments, sent.judged, **given), shared)


def task_label(task: ScoringTask) -> str:
    """How messages call a task."""
    return task.label

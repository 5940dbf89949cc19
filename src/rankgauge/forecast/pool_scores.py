"""The scores of runs by all judgements, and by the judgements of a pool alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Labels
from rankgauge.core.policies import DEFAULT_UNJUDGED, Unjudged
from rankgauge.core.records import Record
from rankgauge.data.model import Judgments
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.forecast.retrieval import Retrieved
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure


class PoolScorer(Record):
    """Scores all runs by measures; each result is run × topic × measure.

    Documents are not looked up again: a pool only changes which rows of the judgements have a label. The
    highest grade is `max_grade`, or else the highest grade of all judgements, also for a pool. A scorer
    can be sent to another process.
    """

    lists: Retrieved
    measures: Sequence[Measure | Aggregate | str]
    unjudged: Unjudged = DEFAULT_UNJUDGED
    max_grade: int | None = None

    def by_all(self) -> Floats:
        """The scores by all judgements."""
        judgments = self.lists.judgments
        return self._scores(judgments, judgments.labels)

    def by_pool(self, depth: int, runs: Bools | None = None) -> Floats:
        """The scores by the judgements of the first `depth` documents of these runs, by default of all
        runs."""
        judgments = self.lists.judgments
        inside = self.lists.pooled(depth, runs)[: len(judgments.documents)]
        labels = judgments.labels.copy()
        labels[:-1][~inside] = labels[-1]
        return self._scores(judgments.part(np.flatnonzero(inside), judgments.source), labels)

    def _scores(self, judgments: Judgments, labels: Labels) -> Floats:
        """The scores by some of the judgements; `labels` has a label for each row of all of them."""
        evaluator = Evaluator(
            judgments, list(self.measures), unjudged=self.unjudged, max_grade=self.max_grade
        )
        runs, topics = len(self.lists.names), len(judgments.queries)
        values = evaluator.score_labels(
            labels[self.lists.rows], self.lists.offsets, np.tile(np.arange(topics), runs)
        )
        return values.reshape(runs, topics, len(self.measures))

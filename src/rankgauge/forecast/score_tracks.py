"""Tracks of which only the scores of topics are known, by all judgements: no qrels and no runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.tracks import FEATURES, FeatureJudgments, Rows, feature_at, target_at
from rankgauge.measures.grammar import parse
from rankgauge.scores.model import Scores

NAMED = 4
"""So many lacking measures are named."""


class ScoreTrack(Record):
    """An evaluation campaign as a table of scores: run × topic × measure, by all judgements.

    Parameters
    ----------
    name, kind
        What messages call the track, and the kind of its collection, such as newswire.
    scores
        The scores. They must have the features at every depth and the target measures.
    """

    name: str
    kind: str
    scores: Scores
    failed: tuple[str, ...] = ()

    def has(self, measure: str) -> bool:
        """Whether the table has a measure."""
        return str(parse(measure)) in map(str, self.scores.measures)


def score_rows(
    track: ScoreTrack,
    targets: Sequence[str],
    depths: Sequence[int],
    features: Sequence[str] = FEATURES,
) -> dict[tuple[int, str, FeatureJudgments], Rows]:
    """The rows of a track, as `rows_by` has them, for features that see all judgements. The shallow
    score is unknown (NaN): it takes the judgements of a pool."""
    values = np.asarray(track.scores)
    column = {str(measure): number for number, measure in enumerate(track.scores.measures)}
    asked = [str(parse(target)) for target in targets]
    cheap = {depth: [str(feature_at(name, depth)) for name in features] for depth in depths}
    plain = {(depth, target): str(target_at(target, depth)) for depth in depths for target in asked}
    wanted = dict.fromkeys([*(name for own in cheap.values() for name in own), *plain.values()])
    lacking = [name for name in (*wanted, *asked) if name not in column]
    if lacking:
        more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        options = " ".join(f"-m '{name}'" for name in lacking[:NAMED])
        raise RankgaugeError(
            f"{track.name}: the table of scores lacks {', '.join(lacking[:NAMED])}{more}; add them with "
            f"`rankgauge evaluate QRELS RUNS {options} … --save FILE`"
        )
    return {
        (depth, target, "full"): Rows(
            track.name,
            track.kind,
            track.scores.runs,
            track.scores.queries,
            np.stack([values[:, :, column[feature]] for feature in cheap[depth]], axis=2),
            values[:, :, column[plain[depth, target]]],
            np.full(values.shape[:2], np.nan),
            values[:, :, column[target]],
        )
        for depth in depths
        for target in asked
    }

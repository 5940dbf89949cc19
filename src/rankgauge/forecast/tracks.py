"""Tracks: judgements and runs of one evaluation campaign, and the rows forecasts are learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from rankgauge.arrays import Floats
from rankgauge.checks import checked, one_of
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Judgments, Run
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.evaluation.inputs import Qrels, Runs, judgments_of
from rankgauge.forecast.pools import pool
from rankgauge.fusion.runs import read_runs
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import parse
from rankgauge.records import Record
from rankgauge.scores.model import Scores

FeatureJudgments: TypeAlias = Literal["pool", "full"]
"""Which judgements features see: those of a pool of the depth, or all of them, which is not cheap."""

FEATURES = ("P", "infAP", "ERR", "bpref", "nDCG", "RBP")
"""The features of the paper, each at the depth."""


RICH = (*FEATURES, "nDCG@100", "nDCG@1000", "AP", "NumRel", "NumRelRet@100", "NumRet")
"""More features, as cheap as the others: also of the whole run, by the judgements of the pool."""


class Track(Record):
    """An evaluation campaign: a name, the kind of its collection, judgements and runs.

    Topics with the same id in two tracks of one kind are one topic.
    """

    name: str
    kind: str
    judgments: Judgments
    runs: tuple[Run, ...]

    @classmethod
    def of(cls, qrels: Qrels, runs: Runs, *, kind: str, name: str | None = None) -> Track:
        """A track of judgements and runs in any form that `evaluate` takes."""
        judgments = judgments_of(qrels)
        return cls(name or kind, kind, judgments, tuple(read_runs(runs)))

    @classmethod
    def read(cls, text: str) -> Track:
        """The track in KIND=QRELS,RUNS, such as newswire=qrels.txt,runs/."""
        kind, equals, files = text.partition("=")
        qrels, comma, runs = files.rpartition(",")
        if not (kind and equals and qrels and comma and runs):
            raise RankgaugeError(
                f"{text!r} is no track, expected KIND=QRELS,RUNS, such as newswire=qrels.txt,runs/"
            )
        return cls.of(qrels, runs, kind=kind, name=f"{kind} {qrels}")


class Rows(Record):
    """A row for each run and topic of a track: what forecasts are learnt from, and what they are held
    against. Arrays are run × topic, features also × feature."""

    track: str
    kind: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    features: Floats
    plain: Floats
    """The target measure cut at the depth."""
    shallow: Floats
    """The target measure of the whole run, by the judgements of the pool."""
    target: Floats
    """The target measure by all judgements."""

    @property
    def groups(self) -> list[str]:
        """For each topic its kind and id: the same for one topic of two tracks."""
        return [f"{self.kind}\0{topic}" for topic in self.topics]

    def matrix(self) -> Floats:
        """The features, a row for each run and topic."""
        return self.features.reshape(-1, self.features.shape[2])


def rows_of(
    track: Track,
    target: str | Measure,
    depth: int,
    features: Sequence[str] = FEATURES,
    judgments: FeatureJudgments = "pool",
) -> Rows:
    """The rows of a track, for a target measure and features of runs cut at a depth."""
    checked("judgments", judgments, one_of(FeatureJudgments))
    return rows_by(track, [target], depth, features)[str(parse(str(target))), judgments]


def rows_by(
    track: Track, targets: Sequence[str | Measure], depth: int, features: Sequence[str] = FEATURES
) -> dict[tuple[str, FeatureJudgments], Rows]:
    """The rows of a track for several targets, by target and by the judgements that features see. The
    runs are evaluated once for all of them."""
    asked = [str(parse(str(target))) for target in targets]
    plain = {target: f"{_without_cutoff(target)}@{depth}" for target in asked}
    cheap = [str(feature_at(feature, depth)) for feature in features]
    runs = list(track.runs)
    measures = list(dict.fromkeys([*cheap, *plain.values(), *asked]))
    pooled = pool(track.judgments, runs, depth)
    by_pool, by_all = (Evaluator(seen, measures).scores(runs) for seen in (pooled, track.judgments))
    by_pool = by_pool.select(by_all.queries)
    sides: dict[FeatureJudgments, Scores] = {"pool": by_pool, "full": by_all}
    return {
        (target, judgments): Rows(
            track.name,
            track.kind,
            by_all.runs,
            by_all.queries,
            seen.select(measures=cheap).values,
            seen.select(measures=[plain[target]]).values[:, :, 0],
            by_pool.select(measures=[target]).values[:, :, 0],
            by_all.select(measures=[target]).values[:, :, 0],
        )
        for target in asked
        for judgments, seen in sides.items()
    }


def feature_at(feature: str, depth: int) -> Measure | Aggregate:
    """The measure of a feature: at the depth; with a cut-off of its own, or without any, as it is."""
    if "@" not in feature:
        try:
            return parse(f"{feature}@{depth}")
        except MeasureError:
            return parse(feature)
    return parse(feature)


def _without_cutoff(measure: str) -> str:
    return measure.rpartition("@")[0] or measure

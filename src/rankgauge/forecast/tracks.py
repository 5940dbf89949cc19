"""Tracks: judgements and runs of one evaluation campaign, and the rows forecasts are learnt from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.checks import checked, one_of
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Judgments, Run
from rankgauge.evaluation.inputs import Qrels, Runs, judgments_of, sources_of
from rankgauge.forecast.pool_scores import PoolScorer
from rankgauge.forecast.retrieval import retrieved
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import parse
from rankgauge.policies import DEFAULT_POOL_TIES, SEED
from rankgauge.records import Record

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
        return cls(name or kind, kind, judgments, tuple(source() for source in sources_of(runs)))

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
    found = rows_by(track, [target], [depth], features)
    return found[depth, str(parse(str(target))), judgments]


def rows_by(
    track: Track,
    targets: Sequence[str | Measure],
    depths: Sequence[int],
    features: Sequence[str] = FEATURES,
) -> dict[tuple[int, str, FeatureJudgments], Rows]:
    """The rows of a track for several targets and depths, also by the judgements that features see. The
    documents of the runs are looked up in the judgements once."""
    asked = [str(parse(str(target))) for target in targets]
    cheap = {depth: [str(feature_at(name, depth)) for name in features] for depth in depths}
    plain = {(depth, target): str(target_at(target, depth)) for depth in depths for target in asked}
    judgments = track.judgments
    lists = retrieved(
        judgments,
        list(track.runs),
        max(depths),
        longest=None,
        ties=DEFAULT_POOL_TIES,
        seed=SEED,
    )
    everything = dict.fromkeys(
        [*(name for own in cheap.values() for name in own), *plain.values(), *asked]
    )
    by_all = _by_measure(everything, PoolScorer(lists, list(everything)).by_all())
    found: dict[tuple[int, str, FeatureJudgments], Rows] = {}
    for depth in depths:
        own = [plain[depth, target] for target in asked]
        names = list(dict.fromkeys([*cheap[depth], *own, *asked]))
        by_pool = _by_measure(names, PoolScorer(lists, names).by_pool(depth))
        sides: dict[FeatureJudgments, Mapping[str, Floats]] = {"pool": by_pool, "full": by_all}
        for target in asked:
            for name, seen in sides.items():
                found[depth, target, name] = Rows(
                    track.name,
                    track.kind,
                    lists.names,
                    tuple(judgments.queries.texts()),
                    np.stack([seen[feature] for feature in cheap[depth]], axis=2),
                    seen[plain[depth, target]],
                    by_pool[target],
                    by_all[target],
                )
    return found


def _by_measure(measures: Iterable[str], scores: Floats) -> dict[str, Floats]:
    """For each measure run × topic."""
    return {measure: np.ascontiguousarray(scores[:, :, m]) for m, measure in enumerate(measures)}


def feature_at(feature: str, depth: int) -> Measure | Aggregate:
    """The measure of a feature: at the depth; with a cut-off of its own, or without any, as it is."""
    if "@" not in feature:
        try:
            return parse(f"{feature}@{depth}")
        except MeasureError:
            return parse(feature)
    return parse(feature)


def target_at(target: str, depth: int) -> Measure | Aggregate:
    """The target measure at the depth; as it is where it has no cut-off."""
    name = target.rpartition("@")[0] or target
    try:
        return parse(f"{name}@{depth}")
    except MeasureError:
        return parse(target)

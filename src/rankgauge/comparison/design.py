"""What is compared: pairs of runs, on the topics that count for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.arrays import Bools, Floats, Ints
from rankgauge.checks import checked, one_of
from rankgauge.data.errors import RankgaugeError
from rankgauge.measures.aggregates import ArithmeticMean
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.notes import Note, counted
from rankgauge.policies import SharedTopics
from rankgauge.scores.model import Scores, places


def shared_topics(
    scores: Scores, m: int, missing: SharedTopics | None = None
) -> tuple[Floats, list[Note]]:
    """Run × topic: the scores by a measure on the topics that count for all runs, and what to know of
    them.

    Topics that some run lacks have the score of an empty ranking (0 where it is not known) by "zero",
    and are left out by "intersection"; by default as evaluated. Topics on which the measure is undefined
    for some run are left out.
    """
    measure = scores.measures[m]
    if isinstance(measure, Aggregate) and not isinstance(measure, ArithmeticMean):
        raise RankgaugeError(
            f"{measure} is not a mean over topics, which is what tests are about; "
            f"expected a measure such as {measure.measure}"
        )
    checked("missing", missing, one_of(SharedTopics), optional=True)
    policy = missing or ("zero" if scores.policies.missing == "zero" else "intersection")
    values = scores.values[:, :, m]
    lacking: Bools = np.any(~scores.present, axis=0)
    unknown = ~scores.present & np.isnan(values)
    if policy == "zero":
        if unknown.any() and not _worst_is_zero(scores, m):
            raise RankgaugeError(
                f"{measure}: the scores of topics that some run lacks are not known, and 0 would not "
                "be the worst; expected these topics left out (intersection)"
            )
        values = np.where(unknown, 0.0, values)
    left_out = lacking if policy == "intersection" else np.zeros_like(lacking)
    undefined = np.isnan(values).any(axis=0) & ~left_out
    values = np.ascontiguousarray(values[:, ~left_out & ~undefined])
    if not np.isfinite(values).all():
        raise RankgaugeError(f"{measure}: scores are infinite, expected finite ones to compare")
    if not values.shape[1]:
        raise RankgaugeError(
            f"{measure}: no topic has a score for every run; "
            "compare fewer runs, or give missing topics the score of an empty ranking (zero)"
        )
    given = "scored 0" if unknown.any() else "scored as empty rankings"
    said = {
        f"that some run lacks, {given}": lacking & ~left_out,
        "left out for all runs, since some run lacks them": left_out,
        "left out for all runs, undefined for some": undefined,
    }
    counts = {text: int(np.count_nonzero(which)) for text, which in said.items()}
    name = str(measure)
    notes = [Note(f"{{topics}} {text}", measure=name, count=n) for text, n in counts.items() if n]
    return values, notes


def with_topics(measure: Measure | Aggregate, values: Floats, notes: list[Note]) -> list[Note]:
    """The notes on the topics of a measure, if there are any, after how many topics are left."""
    topics = Note("{topics}", measure=str(measure), count=values.shape[1])
    return [topics, *notes] if notes else []


def _worst_is_zero(scores: Scores, m: int) -> bool:
    """Whether nothing is worse than a score of 0, as far as is known."""
    higher = inner(scores.measures[m]).direction != "lower"
    return higher and scores.policies.standardized is None


def pairs_of(
    runs: Sequence[str], baseline: str | Sequence[str] | None
) -> tuple[Ints, Ints, tuple[str, ...]]:
    """The pairs to compare, by number: all, or each other run against each baseline; the baselines."""
    if len(runs) < 2:
        raise RankgaugeError(f"{counted(len(runs), 'run')}, expected at least two to compare")
    if baseline is None:
        return *np.triu_indices(len(runs), 1), ()
    baselines = (baseline,) if isinstance(baseline, str) else tuple(dict.fromkeys(baseline))
    if not baselines:
        raise RankgaugeError("an empty list of baselines, expected a run, or None for all pairs")
    against = places("run", runs, baselines)
    others = [run for run in range(len(runs)) if run not in against]
    if not others:
        raise RankgaugeError("every run is a baseline, expected at least one other")
    return np.repeat(others, len(against)), np.tile(against, len(others)), baselines

"""What is compared: pairs of runs, on the topics that count for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from rankgauge.comparison.resampling import Drawing, Progress
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.model import Floats, Ints, counted
from rankgauge.measures.aggregates import ArithmeticMean
from rankgauge.measures.base import Aggregate
from rankgauge.measures.parameters import Whole
from rankgauge.scores import Bools, Scores, places

if TYPE_CHECKING:
    from concurrent.futures import Executor

Topics: TypeAlias = Literal["zero", "intersection"]
MOST_SAMPLES = 1_000_000


def shared_topics(
    scores: Scores, m: int, missing: Topics | None = None
) -> tuple[Floats, list[str]]:
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
    if missing is not None and missing not in get_args(Topics):
        raise RankgaugeError(f"missing={missing!r}, expected one of {', '.join(get_args(Topics))}")
    policy = missing or ("zero" if scores.policies.missing == "zero" else "intersection")
    values = scores.values[:, :, m]
    lacking: Bools = np.any(~scores.present, axis=0)
    if policy == "zero":
        unknown = ~scores.present & np.isnan(values)
        if unknown.any() and scores.policies.standardized is not None:
            raise RankgaugeError(
                f"{measure}: standardised scores of topics that some run lacks are not known, "
                "expected these topics left out (intersection)"
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
    said = {
        "that some run lacks, scored as empty rankings": lacking & ~left_out,
        "left out for all runs, since some run lacks them": left_out,
        "left out for all runs, undefined for some": undefined,
    }
    notes = [f"{_topics(which)} {text}" for text, which in said.items() if which.any()]
    over = [counted(values.shape[1], "topic"), *notes] if notes else []
    return values, [f"{measure}: {note}" for note in over]


def _topics(which: Bools) -> str:
    return counted(int(np.count_nonzero(which)), "topic")


def pairs_of(
    runs: Sequence[str], baseline: str | Sequence[str] | None
) -> tuple[Ints, Ints, tuple[str, ...]]:
    """The pairs to compare, by number: all, or each other run against each baseline; the baselines."""
    if len(runs) < 2:
        raise RankgaugeError(f"{counted(len(runs), 'run')}, expected at least two to compare")
    baselines = (baseline,) if isinstance(baseline, str) else tuple(dict.fromkeys(baseline or ()))
    if not baselines:
        return *np.triu_indices(len(runs), 1), baselines
    against = places("run", runs, baselines)
    others = [run for run in range(len(runs)) if run not in against]
    if not others:
        raise RankgaugeError("every run is a baseline, expected at least one other")
    return np.repeat(others, len(against)), np.tile(against, len(others)), baselines


def checked_drawing(
    samples: int, seed: int, executor: Executor | None, progress: Progress | None
) -> Drawing:
    """What is drawn, if so much can be."""
    if Whole(1).check(samples) > MOST_SAMPLES:
        raise RankgaugeError(f"samples={samples}, expected at most {MOST_SAMPLES:,}")
    return Drawing(samples, Whole(0).check(seed), executor, progress)


def check_level(level: float) -> None:
    """RankgaugeError for what is no level of confidence."""
    if not 0 < level < 1:
        raise RankgaugeError(f"level={level!r}, expected a number between 0 and 1, such as 0.95")

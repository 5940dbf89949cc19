"""What is compared: pairs of runs, on the queries that count for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import MISSING, Missing
from rankgauge.errors import RankgaugeError
from rankgauge.measures.aggregates import ArithmeticMean
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores, find_positions


def shared_queries(
    scores: Scores, m: int, missing: Missing | None = None
) -> tuple[Floats, list[Note]]:
    """The scores of a measure, run × query, on the queries that count for all runs; and notes on them.

    `missing` says what to do with queries that some run lacks. "zero" gives the run the score of an
    empty ranking, or 0 if that is not known. "skip" leaves the query out for all runs. By default it is
    done as when the runs were evaluated. Queries on which the measure is undefined for some run are left
    out.
    """
    values, counts, notes = find_shared_queries(scores, m, missing)
    if not counts.any():
        raise RankgaugeError(
            f"{scores.measures[m]}: no query has a score for every run; compare fewer runs, "
            "or score missing queries as empty rankings (missing=zero)"
        )
    return np.ascontiguousarray(values[:, counts]), notes


def find_shared_queries(
    scores: Scores, m: int, missing: Missing | None = None
) -> tuple[Floats, Bools, list[Note]]:
    """The scores of a measure, run × query; which queries count for all runs; and notes on them.

    The values of the other queries mean nothing. `missing` is as in `shared_queries`.
    """
    measure = scores.measures[m]
    if isinstance(measure, Aggregate) and not isinstance(measure, ArithmeticMean):
        raise RankgaugeError(
            f"{measure} is not an arithmetic mean over queries, which the tests require; use "
            f"a measure such as {measure.measure}"
        )
    missing = check_value("missing", missing, MISSING, optional=True)
    policy = missing or ("zero" if scores.policies.missing == "zero" else "skip")
    values = scores.values[:, :, m]
    lacking: Bools = np.any(~scores.present, axis=0)
    unknown = ~scores.present & np.isnan(values)
    if policy == "zero":
        worst_is_zero = inner(measure).direction != "lower" and scores.policies.standardized is None
        if unknown.any() and not worst_is_zero:
            raise RankgaugeError(
                f"{measure}: some runs lack queries, and missing queries cannot be scored 0, "
                "since 0 is not the worst score; exclude them with --missing skip (in "
                "Python missing='skip')"
            )
        if unknown.any():
            values = np.where(unknown, 0.0, values)
    left_out = lacking if policy == "skip" else np.zeros_like(lacking)
    undefined = np.isnan(values).any(axis=0) & ~left_out
    counts = ~left_out & ~undefined
    if not np.isfinite(values[:, counts]).all():
        raise RankgaugeError(f"{measure}: some scores are infinite, expected finite scores")
    how = "scored 0" if unknown.any() else "scored as empty rankings"
    remarks = {
        f"that some run lacks, {how}": lacking & ~left_out,
        "excluded for all runs because some run lacks them": left_out,
        "excluded for all runs because they are undefined for some": undefined,
    }
    numbers = {text: int(np.count_nonzero(which)) for text, which in remarks.items()}
    name = str(measure)
    notes = [Note(f"{{queries}} {text}", measure=name, count=n) for text, n in numbers.items() if n]
    return values, counts, notes


def add_query_count(measure: Scored | Aggregate, values: Floats, notes: list[Note]) -> list[Note]:
    """The notes on the queries of a measure.

    If there are any, a note with the number of queries comes first.
    """
    topics = Note("{queries}", measure=str(measure), count=values.shape[1])
    return [topics, *notes] if notes else []


def pairs_of(
    runs: Sequence[str], baseline: str | Sequence[str] | None
) -> tuple[Ints, Ints, tuple[str, ...]]:
    """The numbers of the first and of the second run of each pair to compare, and the baselines.

    Without baselines these are all pairs. Else each other run is paired with each baseline.
    """
    if len(runs) < 2:
        raise RankgaugeError(f"{count_phrase(len(runs), 'run')}, expected at least two to compare")
    if baseline is None:
        return *np.triu_indices(len(runs), 1), ()
    baselines = (baseline,) if isinstance(baseline, str) else tuple(dict.fromkeys(baseline))
    if not baselines:
        raise RankgaugeError(
            "the list of baselines is empty, expected a run, or None for all pairs"
        )
    against = find_positions("run", runs, baselines)
    others = [run for run in range(len(runs)) if run not in against]
    if not others:
        raise RankgaugeError("all runs are baselines, expected at least one other run")
    return np.repeat(others, len(against)), np.tile(against, len(others)), baselines

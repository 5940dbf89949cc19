"""Scores standardized over many systems, query by query, so that queries weigh equally."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import Standardization
from rankgauge.core.rounding import ROUNDING
from rankgauge.errors import RankgaugeError
from rankgauge.measures.aggregates import GeometricMean
from rankgauge.scores.model import Scores


def standardize_scores(scores: Scores, reference: Scores | None, kind: Standardization) -> Scores:
    """What `Scores.standardized` gives."""
    check_value("kind", kind, one_of(Standardization))
    others = scores if reference is None else _select_matching(reference, scores)
    _check(scores, others, kind)
    values, known = np.asarray(scores), np.asarray(others)
    alike = ROUNDING * np.fmax.reduce(np.abs(known))
    flat = ~(np.fmax.reduce(known) > np.fmin.reduce(known) + alike)
    if kind == "empirical":
        standard = _shares(values, known, alike)
    else:
        standard = _deviations(values, known, flat)
        if np.isinf(standard).any() or (np.isnan(standard) & ~np.isnan(values)).any():
            raise RankgaugeError(
                "the scores vary too much to be standardized, expected smaller numbers"
            )
    if kind == "normal":
        from scipy.special import ndtr

        standard = ndtr(standard)
    method = f"{kind}({count_phrase(len(others.runs), 'run')})"
    return replace(
        scores,
        values=standard,
        policies=replace(scores.policies, standardized=method),
        notes=(*scores.notes, *_notes(scores, flat)),
    )


def _select_matching(reference: Scores, scores: Scores) -> Scores:
    try:
        return reference.select(scores.queries, measures=scores.measures)
    except RankgaugeError as error:
        raise RankgaugeError(
            f"reference= does not have all queries and measures of the scores: {error}"
        ) from None


def _check(scores: Scores, others: Scores, kind: Standardization) -> None:
    if scores.policies.standardized or others.policies.standardized:
        raise RankgaugeError("the scores are already standardized, expected raw scores")
    if len(others.runs) < 2:
        raise RankgaugeError("the reference has one run, expected at least two")
    for measure in scores.measures:
        if kind == "z" and isinstance(measure, GeometricMean):
            message = f"{measure} needs scores of 0 or more, but z-scores can be negative"
            raise RankgaugeError(f"{message}; expected kind='normal' or 'empirical'")
    unknown = np.isnan(np.asarray(others)).all(axis=0) & ~np.isnan(np.asarray(scores)).all(axis=0)
    if unknown.any():
        q, m = (int(place[0]) for place in np.nonzero(unknown))
        where = f"on query {scores.queries[q]!r} by {scores.measures[m]}"
        raise RankgaugeError(
            f"no run of the reference has a score {where}, expected one for at least one run"
        )


def _deviations(values: Floats, known: Floats, flat: Bools) -> Floats:
    """(x − mean) / sd, the sd divided by n − 1; 0 where all runs score the same.

    Deviations are divided by the greatest before they are squared, so that no square is lost.
    """
    there = ~np.isnan(known)
    count = there.sum(axis=0)
    with np.errstate(all="ignore"):
        mean = np.where(there, known, 0.0).sum(axis=0) / count
        apart = np.where(there, known - mean, 0.0)
        unit = np.abs(apart).max(axis=0)
        deviation = np.sqrt(((apart / unit) ** 2).sum(axis=0) / (count - 1))
        deviations = (values - mean) / unit / deviation
    return np.where(flat & ~np.isnan(values), 0.0, deviations)


def _shares(values: Floats, known: Floats, alike: Floats) -> Floats:
    """For each score, the share of the known scores on its query that are no higher (save rounding)."""
    shares = np.full(values.shape, np.nan)
    for q, m in np.ndindex(*values.shape[1:]):
        column = known[:, q, m]
        ordered = np.sort(column[~np.isnan(column)])
        there = ~np.isnan(values[:, q, m])
        below = np.searchsorted(ordered, values[there, q, m] + alike[q, m], side="right")
        shares[there, q, m] = below / max(1, len(ordered))
    return shares


def _notes(scores: Scores, flat: Bools) -> list[Note]:
    """How many queries have no differences between the runs, by measure."""
    counts = zip(scores.measures, np.count_nonzero(flat, axis=0).tolist(), strict=True)
    kind = "all runs score the same on {queries}, so the standard deviation is 0 there"
    return [Note(kind, measure=str(measure), count=n) for measure, n in counts if n]

"""Scores set against those of many systems, topic by topic, so that topics weigh alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.arrays import Bools, Floats
from rankgauge.checks import checked, one_of
from rankgauge.data.errors import RankgaugeError
from rankgauge.measures.aggregates import GeometricMean
from rankgauge.notes import Note, counted
from rankgauge.policies import Standardization
from rankgauge.rounding import ROUNDING
from rankgauge.scores.model import Scores


def standardized(scores: Scores, reference: Scores | None, kind: Standardization) -> Scores:
    """What `Scores.standardized` gives."""
    checked("kind", kind, one_of(Standardization))
    others = scores if reference is None else _matching(reference, scores)
    _check(scores, others, kind)
    values, known = np.asarray(scores), np.asarray(others)
    alike = ROUNDING * np.fmax.reduce(np.abs(known))
    flat = ~(np.fmax.reduce(known) > np.fmin.reduce(known) + alike)
    if kind == "empirical":
        found = _shares(values, known, alike)
    else:
        found = _deviations(values, known, flat)
        if np.isinf(found).any() or (np.isnan(found) & ~np.isnan(values)).any():
            raise RankgaugeError("scores too far apart to be standardised, expected usual numbers")
    if kind == "normal":
        from scipy.special import ndtr

        found = ndtr(found)
    method = f"{kind}({counted(len(others.runs), 'run')})"
    return replace(
        scores,
        values=found,
        policies=replace(scores.policies, standardized=method),
        notes=(*scores.notes, *_notes(scores, flat)),
    )


def _matching(reference: Scores, scores: Scores) -> Scores:
    try:
        return reference.select(scores.queries, measures=scores.measures)
    except RankgaugeError as error:
        raise RankgaugeError(f"the reference lacks something: {error}") from None


def _check(scores: Scores, others: Scores, kind: Standardization) -> None:
    if scores.policies.standardized or others.policies.standardized:
        raise RankgaugeError("scores that are standardised already, expected others")
    if len(others.runs) < 2:
        raise RankgaugeError("one run, expected at least two to standardise across")
    for measure in scores.measures:
        if kind == "z" and isinstance(measure, GeometricMean):
            message = f"{measure} is for scores from 0 on, and z-scores are also below it"
            raise RankgaugeError(f"{message}; expected kind='normal' or 'empirical'")
    unknown = np.isnan(np.asarray(others)).all(axis=0) & ~np.isnan(np.asarray(scores)).all(axis=0)
    if unknown.any():
        q, m = (int(place[0]) for place in np.nonzero(unknown))
        where = f"on query {scores.queries[q]!r} by {scores.measures[m]}"
        raise RankgaugeError(f"the reference has no score {where}, expected that of some run")


def _deviations(values: Floats, known: Floats, flat: Bools) -> Floats:
    """(x − mean) / sd, the sd with n − 1 below; 0 where nothing differs.

    Deviations are divided by the greatest before they are squared, so that no square is lost.
    """
    there = ~np.isnan(known)
    count = there.sum(axis=0)
    with np.errstate(all="ignore"):
        mean = np.where(there, known, 0.0).sum(axis=0) / count
        apart = np.where(there, known - mean, 0.0)
        unit = np.abs(apart).max(axis=0)
        deviation = np.sqrt(((apart / unit) ** 2).sum(axis=0) / (count - 1))
        found = (values - mean) / unit / deviation
    return np.where(flat & ~np.isnan(values), 0.0, found)


def _shares(values: Floats, known: Floats, alike: Floats) -> Floats:
    """The share of the known scores that are not above each, by more than rounding, topic by topic."""
    found = np.full(values.shape, np.nan)
    for q, m in np.ndindex(*values.shape[1:]):
        column = known[:, q, m]
        ordered = np.sort(column[~np.isnan(column)])
        there = ~np.isnan(values[:, q, m])
        below = np.searchsorted(ordered, values[there, q, m] + alike[q, m], side="right")
        found[there, q, m] = below / max(1, len(ordered))
    return found


def _notes(scores: Scores, flat: Bools) -> list[Note]:
    """How many topics have no differences between the runs, by measure."""
    counts = zip(scores.measures, np.count_nonzero(flat, axis=0).tolist(), strict=True)
    kind = "the runs do not differ on {topics}, no deviation there"
    return [Note(kind, measure=str(measure), count=n) for measure, n in counts if n]

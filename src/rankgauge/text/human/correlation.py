"""How well metrics agree with people: correlations with ratings, with intervals over texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import WARNING, Note, count_phrase
from rankgauge.core.policies import CORRELATION_SAMPLES, LEVEL, LEVELS, SEED
from rankgauge.core.resampling import CELLS, SamplingOptions, draw_bootstrap_counts
from rankgauge.scores.model import Scores
from rankgauge.text.human.coefficients import (
    COEFFICIENTS,
    MOST_ROWS,
    RatedOutputs,
    correlate_each_text,
    correlate_outputs,
    correlate_system_means,
    mean_text_correlation,
)
from rankgauge.text.human.results import (
    OVER_DESCRIPTIONS,
    HumanCorrelation,
    Over,
    interval_note,
    percentiles,
)
from rankgauge.text.human.shared import AnyRatings, SharedOutputs, shared_outputs

KERNELS: dict[str, Callable[[RatedOutputs, Floats], Floats]] = {
    "systems": correlate_system_means,
    "texts": mean_text_correlation,
    "rows": correlate_outputs,
}
BATCH_CELLS = 8 * CELLS
"""Number of sampled values held in memory at a time."""


def human_correlation(
    scores: Scores,
    ratings: AnyRatings,
    over: Over = "systems",
    *,
    level: float = LEVEL,
    samples: int = CORRELATION_SAMPLES,
    seed: int = SEED,
) -> HumanCorrelation:
    """Correlate the scores of each metric with human ratings in each dimension.

    Parameters
    ----------
    scores : Scores
        The scores, for one or more metrics.
    ratings : Ratings or Scores
        Ratings of the same outputs: `read_ratings`, or mean ratings as scores.
    over : {"systems", "texts", "rows"}, default "systems"
        The units of the correlation. "systems": the means of the systems. "texts": the systems on
        each text, averaged over the texts where the correlation is defined. "rows": all outputs.
    level : float, default 0.95
        Confidence level of the intervals.
    samples : int, default 1000
        The number of bootstrap samples of the texts for the intervals.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    HumanCorrelation
        Kendall's τ-b, Spearman's ρ and Pearson's r, with percentile bootstrap intervals over texts.

    Raises
    ------
    RankgaugeError
        If no system or no text has both scores and ratings.

    Notes
    -----
    An output counts if people rated it and every metric has a score for it, so all metrics are
    compared on the same outputs. If lower is better for a metric, its sign is flipped first.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> from rankgauge.text import human_correlation
    >>> runs = ["a", "b", "c"]
    >>> scores = Scores.from_matrix([[0.1, 0.2], [0.3, 0.3], [0.6, 0.4]], runs=runs, measure="metric")
    >>> people = Scores.from_matrix([[1, 2], [2, 2], [3, 5]], runs=runs, measure="coherence")
    >>> human_correlation(scores, people).tau_b.tolist()
    [[1.0]]
    """
    check_value("over", over, one_of(Over))
    check_value("level", level, LEVELS)
    drawing = SamplingOptions.check(samples, seed)
    both = shared_outputs(scores, ratings)
    shape = (len(COEFFICIENTS), len(both.metrics), len(both.dimensions))
    drawn = np.full((1 + drawing.samples, *shape), np.nan)
    notes = list(both.notes)
    usable = np.flatnonzero(np.isfinite(both.scores).any(axis=(1, 2)))
    for metric in sorted({*range(len(both.metrics))} - {*usable.tolist()}):
        text = "no output has a score, so there is no correlation"
        notes.append(Note(text, measure=str(both.metrics[metric]), severity=WARNING))
    for group, rated in _groups(both, usable, notes) if usable.size else ():
        start = 0
        for some in _draw_samples(len(both.texts), drawing):
            coefficients = KERNELS[over](rated, some)
            end = start + len(some)
            drawn[start:end, :, usable[:, None], group] = coefficients
            start = end
        notes += _remarks(both, over, usable, group, rated, drawn[0, 0])
    values = drawn[0]
    low, high = percentiles(drawn[1:], level)
    undefined = np.isnan(values) | (len(both.texts) < 2)
    lost = int(np.isnan(drawn[1:]).sum(axis=0)[~np.isnan(values) & ~np.isnan(low)].max(initial=0))
    if lost:
        text = "samples excluded from an interval because a correlation is undefined: up to {count}"
        notes.append(Note(text, count=lost))
    return HumanCorrelation(
        over,
        both.metrics,
        both.dimensions,
        len(both.systems),
        len(both.texts),
        values,
        np.where(undefined, np.nan, low),
        np.where(undefined, np.nan, high),
        drawn[1:],
        level,
        (
            Note(f"tau_b, rho, r: {OVER_DESCRIPTIONS[over]} with human ratings"),
            interval_note(level, drawing.samples, "correlation", drawing.seed),
            *notes,
        ),
    )


def _draw_samples(texts: int, drawing: SamplingOptions) -> Iterator[Floats]:
    """Sample × text: first each text once, then how often each text is in each sample."""
    held, size = [np.ones((1, texts))], texts
    for some in draw_bootstrap_counts(texts, drawing):
        if size + some.size > BATCH_CELLS:
            yield np.concatenate(held)
            held, size = [], 0
        held.append(some)
        size += some.size
    if held:
        yield np.concatenate(held)


def _groups(
    both: SharedOutputs, usable: Ints, notes: list[Note]
) -> Iterator[tuple[list[int], RatedOutputs]]:
    """The dimensions in groups for which the same outputs count, with their numbers."""
    scored = both.is_scored()
    groups: dict[bytes, list[int]] = {}
    for d, ratings in enumerate(both.ratings):
        known = np.isfinite(ratings)
        unscored, unrated = (
            int(np.count_nonzero(part)) for part in (known & ~scored, scored & ~known)
        )
        for text, count in (
            ("rated outputs skipped because some metric has no score for them: {count}", unscored),
            ("outputs skipped because they have no rating: {count}", unrated),
        ):
            if count:
                notes.append(Note(text, part=both.dimensions[d], count=count))
        groups.setdefault((known & scored).tobytes(), []).append(d)
    for group in groups.values():
        counts = scored & np.isfinite(both.ratings[group[0]])
        yield (
            group,
            RatedOutputs(
                np.where(counts, both.scores[usable], 0.0),
                np.where(counts, both.ratings[group], 0.0),
                counts,
            ),
        )


def _remarks(
    both: SharedOutputs,
    over: Over,
    usable: Ints,
    group: list[int],
    rated: RatedOutputs,
    tau_b: Floats,
) -> Iterator[Note]:
    """Why correlations of a group of dimensions are undefined, and what is left out.

    Parameters
    ----------
    both, over
        All scores and ratings, and what the correlations are over.
    usable, group
        The numbers of the metrics that have scores, and of the dimensions of the group.
    rated
        The numbers of these metrics and dimensions.
    tau_b
        Metric × dimension: the correlations, of all metrics and dimensions.
    """
    metrics = [str(both.metrics[m]) for m in usable.tolist()]
    dimensions = [both.dimensions[d] for d in group]
    systems = int(np.count_nonzero(rated.counts.any(axis=1)))
    size = int(np.count_nonzero(rated.counts))
    if (size if over == "rows" else systems) < 2:
        things = count_phrase(size, "output") if over == "rows" else count_phrase(systems, "system")
        for dimension in dimensions:
            text = f"{things} with scores and ratings, so there is no correlation"
            yield Note(text, part=dimension, severity=WARNING)
        return
    if size > MOST_ROWS and over == "rows":
        text = (
            f"no interval for τ-b: {size:,} outputs are more than {MOST_ROWS:,}; use "
            "over='texts' for an interval"
        )
        yield Note(text, column="tau_b_low, tau_b_high")
    if over != "texts":
        undefined = np.isnan(tau_b[usable][:, group])
        for d, dimension in enumerate(dimensions):
            for m in np.flatnonzero(undefined[:, d]).tolist():
                text = "all have the same score or the same rating, so there is no correlation"
                yield Note(text, part=dimension, measure=metrics[m], severity=WARNING)
        return
    lost = np.isnan(correlate_each_text(rated)[:, 0]).sum(axis=0)
    for d, dimension in enumerate(dimensions):
        for m, metric in enumerate(metrics):
            if count := int(lost[m, d]):
                text = (
                    "texts excluded: {count}. On them, all systems have the same score or the "
                    "same rating, or fewer than two systems are rated"
                )
                yield Note(text, part=dimension, measure=metric, count=count)

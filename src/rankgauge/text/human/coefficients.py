"""τ-b, ρ and r of several metrics with several ratings, for many samples of texts at once.

A sample says how often each text is drawn. All functions give sample × coefficient × metric × rating,
with the coefficients in the order of `COEFFICIENTS`; NaN where a coefficient is undefined.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.correlation import kendall_tau_b
from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.records import Record
from rankgauge.core.resampling import CELLS
from rankgauge.core.rounding import ROUNDING, merge_close_values

Signs: TypeAlias = NDArray[np.float32]

COEFFICIENTS = ("tau_b", "rho", "r")
"""Kendall's τ-b, Spearman's ρ and Pearson's r."""
MOST_ROWS = 2_000
"""Up to this number of outputs, τ-b over all outputs is also computed for samples: its time grows with
the square of their number."""


class RatedOutputs(Record):
    """The scores and the ratings of the same outputs.

    `scores` is metric × system × text, `ratings` is rating × system × text. `counts` says which outputs
    have all scores and ratings; the other numbers mean nothing.
    """

    scores: Floats
    ratings: Floats
    counts: Bools

    def drop_empty_systems(self) -> RatedOutputs:
        """Only systems with at least one output that counts; numbers that do not count are 0."""
        some = self.counts.any(axis=1)
        counts = self.counts[some]
        return RatedOutputs(
            np.where(counts, self.scores[:, some], 0.0),
            np.where(counts, self.ratings[:, some], 0.0),
            counts,
        )


def correlate_system_means(rated: RatedOutputs, samples: Floats) -> Floats:
    """The correlation of the means of the systems. A system without texts in a sample undoes it."""
    rated = rated.drop_empty_systems()
    number = samples @ rated.counts.T.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The mean of no texts is NaN, and makes all coefficients of the sample NaN.
        x, y = (_sums(values, samples) / number for values in (rated.scores, rated.ratings))
    x, y = x.swapaxes(0, 1), y.swapaxes(0, 1)
    x_unit, y_unit = _largest_magnitudes(rated.scores), _largest_magnitudes(rated.ratings)
    coefficients = np.empty((len(samples), len(COEFFICIENTS), x.shape[1], y.shape[1]))
    everyone = np.ones((1, x.shape[2]), dtype=np.bool_)
    for part in _slices(len(samples), x.shape[2] ** 2 * (x.shape[1] + y.shape[1])):
        coefficients[part] = _correlate_vectors(x[part], y[part], everyone, x_unit, y_unit)
    return coefficients


def correlate_each_text(rated: RatedOutputs) -> Floats:
    """Text × coefficient × metric × rating: the correlation over the systems on each text."""
    systems, texts = rated.counts.shape
    x, y = (np.moveaxis(values, 2, 0) for values in (rated.scores, rated.ratings))
    x_unit, y_unit = _largest_magnitudes(rated.scores), _largest_magnitudes(rated.ratings)
    coefficients = np.empty((texts, len(COEFFICIENTS), x.shape[1], y.shape[1]))
    for part in _slices(texts, systems**2 * (x.shape[1] + y.shape[1])):
        coefficients[part] = _correlate_vectors(
            x[part], y[part], rated.counts.T[part], x_unit, y_unit
        )
    return coefficients


def mean_text_correlation(rated: RatedOutputs, samples: Floats) -> Floats:
    """The mean over texts of the correlation on each text, without texts where it is undefined."""
    each = correlate_each_text(rated)
    flat = each.reshape(len(each), -1)
    defined = ~np.isnan(flat)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (samples @ np.where(defined, flat, 0.0)) / (samples @ defined.astype(np.float64))
    return np.asarray(means.reshape(len(samples), *each.shape[1:]))


def correlate_outputs(rated: RatedOutputs, samples: Floats) -> Floats:
    """The correlation over all outputs, those of a text drawn together.

    Of more than `MOST_ROWS` outputs, τ-b is NaN, except in a sample that has each text once.
    """
    system, text = np.nonzero(rated.counts)
    by_text = np.argsort(text, kind="stable")
    system, text = system[by_text], text[by_text]
    x, y = (
        np.array([merge_close_values(each, np.abs(each)) for each in values[:, system, text]])
        for values in (rated.scores, rated.ratings)
    )
    coefficients = np.full((len(samples), len(COEFFICIENTS), len(x), len(y)), np.nan)
    if not len(text):
        return coefficients
    if len(text) <= MOST_ROWS:
        coefficients[:, 0] = _tau_b_of_rows(x, y, text, samples)
    elif (plain := (samples == 1).all(axis=1)).any():
        coefficients[plain, 0] = [[kendall_tau_b(one, other) for other in y] for one in x]
    x_tied, y_tied = ([_TieGroups.of(each) for each in values] for values in (x, y))
    for part in _slices(len(samples), len(text) * (len(x) + len(y))):
        weights = samples[part][:, text]
        x_ranks, y_ranks = (
            np.stack([each.ranks(weights) for each in tied], axis=1) for tied in (x_tied, y_tied)
        )
        coefficients[part, 1] = _weighted_r(x_ranks, y_ranks, weights)
    coefficients[:, 2] = _r_of_rows(x, y, text, samples)
    return coefficients


def _slices(number: int, cells: int) -> list[slice]:
    """Some of so many at a time, each with so many cells."""
    step = max(1, CELLS // max(1, cells))
    return [slice(start, start + step) for start in range(0, number, step)]


def _sums(values: Floats, samples: Floats) -> Floats:
    """Row × sample × system: the sums over the texts of each sample."""
    return np.asarray(np.einsum("kst,bt->kbs", values, samples, optimize=True))


def _largest_magnitudes(values: Floats) -> Floats:
    """The greatest magnitude in each row: what rounding is compared with."""
    finite = np.where(np.isfinite(values), np.abs(values), 0.0)
    return np.asarray(finite.max(axis=(1, 2), initial=0.0))


# Vectors, with an entry for each system.


def _correlate_vectors(
    x: Floats, y: Floats, counts: Bools, x_unit: Floats, y_unit: Floats
) -> Floats:
    """Vector × coefficient × metric × rating, of vector × metric × system and vector × rating × system.

    Parameters
    ----------
    x, y
        The numbers of the metrics and of the ratings.
    counts
        Vector × system: which entries count.
    x_unit, y_unit
        The magnitude of each metric and of each rating. Differences that are only rounding are ties.
    """
    both = (counts[:, :, None] & counts[:, None])[:, None]
    x_signs, y_signs = _signs(x, x_unit) * both, _signs(y, y_unit) * both
    x_untied, y_untied = (
        np.count_nonzero(signs, axis=(2, 3)).astype(np.float64) for signs in (x_signs, y_signs)
    )
    x_pairs, y_pairs = (signs.reshape(*signs.shape[:2], -1) for signs in (x_signs, y_signs))
    agreement = (x_pairs @ y_pairs.swapaxes(1, 2)).astype(np.float64)
    tau_b = _ratio(agreement, x_untied[:, :, None] * y_untied[:, None])
    # The sum of its signs is twice the rank of a system, counted from the middle.
    x_ranks, y_ranks = (signs.sum(axis=3, dtype=np.float64) for signs in (x_signs, y_signs))
    rho = _pearson_r(x_ranks, y_ranks, counts)
    x_scale, y_scale = (np.where(unit > 0, unit, 1.0)[:, None] for unit in (x_unit, y_unit))
    r = _pearson_r(x / x_scale, y / y_scale, counts)
    r[(x_untied == 0)[:, :, None] | (y_untied == 0)[:, None]] = np.nan
    return np.stack([tau_b, rho, r], axis=1)


def _signs(values: Floats, unit: Floats) -> Signs:
    """Return the signs of the differences between systems: vector × row × system × system.

    The sign is 1 where the first system is ahead, −1 where it is behind, and 0 where two numbers
    are the same but for rounding.
    """
    differences = values[:, :, :, None] - values[:, :, None]
    signs: Signs = np.sign(differences).astype(np.float32)
    signs[np.abs(differences) <= ROUNDING * unit[:, None, None]] = 0
    return signs


def _pearson_r(x: Floats, y: Floats, counts: Bools) -> Floats:
    """Pearson's r over the entries that count."""
    number = np.maximum(counts.sum(axis=1), 1)[:, None, None]
    x, y = (
        np.where(
            counts[:, None],
            values - values.sum(2, keepdims=True, where=counts[:, None]) / number,
            0.0,
        )
        for values in (x, y)
    )
    squares = (x**2).sum(axis=2)[:, :, None] * (y**2).sum(axis=2)[:, None]
    return _ratio(x @ y.swapaxes(1, 2), squares)


def _ratio(product: Floats, squares: Floats) -> Floats:
    """Product / √squares within −1 and 1, NaN without squares."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(squares > 0, product / np.sqrt(squares), np.nan)
    return np.asarray(np.clip(ratio, -1.0, 1.0))


# Rows: all outputs of all texts, each as often as its text is in the sample.


def _tau_b_of_rows(x: Floats, y: Floats, text: Ints, samples: Floats) -> Floats:
    """Return τ-b in each sample, from counts of pairs of outputs for each pair of texts.

    The numerator is Σ w_t·w_u·C_tu. C_tu is the number of pairs of an output of text t and an
    output of text u in the same order, less the number of pairs in opposite orders. w_t is the
    weight of text t in the sample.
    """
    texts, starts = np.unique(text, return_index=True)
    codes = np.array([np.unique(each, return_inverse=True)[1] for each in (*x, *y)], dtype=np.int32)
    pairs = [(m, d) for m in range(len(x)) for d in range(len(y))]
    agreement = np.zeros((len(pairs), len(texts), len(texts)))
    untied = np.zeros((len(codes), len(texts), len(texts)))
    ends = [*starts[1:].tolist(), len(text)]
    step = max(1, CELLS // codes.size)
    blocks = [
        (t, slice(at, min(at + step, end)))
        for t, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True))
        for at in range(start, end, step)
    ]
    for t, block in blocks:
        signs = np.sign(codes[:, block, None] - codes[:, None, :]).astype(np.int8)
        untied[:, t] += np.add.reduceat(np.count_nonzero(signs, axis=1), starts, axis=1)
        for place, (m, d) in enumerate(pairs):
            same = (signs[m] * signs[len(x) + d]).sum(axis=0, dtype=np.int32)
            agreement[place, t] += np.add.reduceat(same, starts)
    weights = samples[:, texts]
    counts = _quadratic_forms(untied, weights)
    norm = counts[:, : len(x), None] * counts[:, None, len(x) :]
    return _ratio(_quadratic_forms(agreement, weights).reshape(norm.shape), norm)


def _quadratic_forms(forms: Floats, weights: Floats) -> Floats:
    """Sample × form: Σ w_t·w_u·form_tu."""
    return np.array([np.einsum("bt,bt->b", weights @ form, weights) for form in forms]).T


class _TieGroups(Record):
    """The order of some numbers, and the groups of ties among them.

    `order` has the lowest number first. `starts` is where each group of ties starts in that order,
    and `group` is the group of each number.
    """

    order: Ints
    starts: Ints
    group: Ints

    @classmethod
    def of(cls, values: Floats) -> _TieGroups:
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        group = np.empty(len(values), dtype=np.int64)
        group[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
        return cls(order, starts, group)

    def ranks(self, weights: Floats) -> Floats:
        """Sample × number: its mean rank, where each number is there as often as its weight says.

        Ranks are counted from the middle, so their mean is 0.
        """
        sizes = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        total = weights.sum(axis=1, keepdims=True)
        middle = np.cumsum(sizes, axis=1) - (sizes + total) / 2
        return np.asarray(middle[:, self.group])


def _weighted_r(x: Floats, y: Floats, weights: Floats) -> Floats:
    """The linear correlation of ranks, whose weighted mean is 0."""
    weighted = x * weights[:, None]
    squares = (weighted * x).sum(axis=2)[:, :, None] * ((y**2) * weights[:, None]).sum(axis=2)[
        :, None
    ]
    return _ratio(weighted @ y.swapaxes(1, 2), squares)


def _r_of_rows(x: Floats, y: Floats, text: Ints, samples: Floats) -> Floats:
    """Pearson's r in each sample, from sums over each text."""
    x, y = (_standardize(values) for values in (x, y))
    texts, starts = np.unique(text, return_index=True)
    weights = samples[:, texts]
    number = weights @ np.diff(np.append(starts, len(text))).astype(np.float64)
    x_sum, y_sum, x_square, y_square = (
        weights @ np.add.reduceat(values, starts, axis=1).T for values in (x, y, x**2, y**2)
    )
    product = np.stack(
        [weights @ np.add.reduceat(each * y, starts, axis=1).T for each in x], axis=1
    )
    size = number[:, None]
    x_spread, y_spread = (
        np.where((spread := square - total**2 / size) > ROUNDING * size, spread, 0.0)
        for square, total in ((x_square, x_sum), (y_square, y_sum))
    )
    covariance = product - x_sum[:, :, None] * y_sum[:, None] / number[:, None, None]
    return _ratio(covariance, x_spread[:, :, None] * y_spread[:, None])


def _standardize(values: Floats) -> Floats:
    """Each row with mean 0 and standard deviation 1, all 0 where its numbers are the same."""
    apart = values - values.mean(axis=1, keepdims=True)
    same = np.ptp(values, axis=1, keepdims=True) == 0
    spread = apart.std(axis=1, keepdims=True)
    return np.where(same, 0.0, apart / np.where(same | (spread == 0), 1.0, spread))

"""Random samples of signs, of queries and of orders of systems, drawn in blocks.

A block is drawn by the seed and its own number. So the result does not depend on which process draws a
block, nor on the order of the blocks. Only a few blocks are in memory at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value
from rankgauge.core.policies import SAMPLE_NUMBERS, SAMPLES, SEED, SEEDS, Progress
from rankgauge.core.records import Record, Value
from rankgauge.core.renamed import renamed_names
from rankgauge.core.rounding import ROUNDING
from rankgauge.workers import AnyExecutor, results_of

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)

BLOCK = 1_000
"""How many samples are drawn at a time."""
CELLS = 4_000_000
"""How many numbers are held at a time."""


class SamplingOptions(Value):
    """The number of samples, their seed, and the executor that draws them."""

    samples: int = SAMPLES
    seed: int = SEED
    executor: AnyExecutor | None = None
    progress: Progress | None = None

    @classmethod
    def check(
        cls,
        samples: int,
        seed: int,
        executor: AnyExecutor | None = None,
        progress: Progress | None = None,
    ) -> SamplingOptions:
        """A drawing, after a check; RankgaugeError for a number of samples or a seed out of range."""
        samples = check_value("samples", samples, SAMPLE_NUMBERS)
        return cls(samples, check_value("seed", seed, SEEDS), executor, progress)

    def blocks(self) -> range:
        """The numbers of the blocks."""
        return range(-(-self.samples // BLOCK))

    def size(self, block: int) -> int:
        """How many samples a block has."""
        return min(BLOCK, self.samples - block * BLOCK)

    def random(self, block: int) -> np.random.Generator:
        """The random generator of a block."""
        return np.random.default_rng((self.seed, block))

    def alone(self) -> SamplingOptions:
        """The same without executor and progress, which cannot be sent to other processes."""
        return SamplingOptions(self.samples, self.seed)


def map_parallel(
    work: Callable[[Any], Any], items: range, drawing: SamplingOptions
) -> Iterator[Any]:
    """The result of the work for each item, in order."""
    done = results_of(work, items, drawing.executor, progress=drawing.progress)
    yield from (result for _, result in done)


# Signs: under the null hypothesis of a paired design each difference could as well be its opposite.


def tries_all_signs(topics: int, drawing: SamplingOptions) -> bool:
    """Whether all signs are tried: if there are at most as many as samples."""
    return topics < 63 and 2**topics <= drawing.samples


def sign_flip_p_values(
    values: Floats, first: Ints, second: Ints, least: Floats, drawing: SamplingOptions
) -> Floats:
    """Return the p-value of a sign-flip test for each pair of runs.

    The p-value is the share of samples in which the sum of the differences, with random signs, is at
    least as large as `least` in absolute value.

    The sum of signed differences is the difference of two signed sums. So each sample costs a product of
    `values` with the signs, and one subtraction for each pair.

    Parameters
    ----------
    values
        Run × query: the scores.
    first, second
        The rows of the two runs of each pair.
    least
        For each pair, the sum that counts.
    drawing
        The samples.
    """
    topics = values.shape[1]
    whole = tries_all_signs(topics, drawing)
    drawn = replace(drawing, samples=2**topics) if whole else drawing
    work = _SignFlipCounter(values, first, second, least, drawn.alone(), whole)
    count = sum(map_parallel(work, drawn.blocks(), drawn), np.zeros(len(first), dtype=np.int64))
    return count / drawn.samples if whole else (count + 1) / (drawn.samples + 1)


class _SignFlipCounter(Record):
    """How many samples of a block reach each pair's least sum."""

    values: Floats
    first: Ints
    second: Ints
    least: Floats
    drawing: SamplingOptions
    whole: bool

    def __call__(self, block: int) -> Ints:
        count = np.zeros(len(self.first), dtype=np.int64)
        for signs in self.signs(block):
            sums = self.values @ signs
            step = max(1, CELLS // 16 // sums.shape[1])
            for start in range(0, len(count), step):
                rows = slice(start, start + step)
                apart = sums[self.first[rows]]
                apart -= sums[self.second[rows]]
                np.abs(apart, out=apart)
                count[rows] += np.count_nonzero(apart >= self.least[rows, None], axis=1)
        return count

    def signs(self, block: int) -> Iterator[Floats]:
        """Query × sample, some samples at a time."""
        topics, size = self.values.shape[1], self.drawing.size(block)
        random = self.drawing.random(block)
        step = max(1, CELLS // topics)
        for start in range(0, size, step):
            some = min(step, size - start)
            if self.whole:
                number = block * BLOCK + start + np.arange(some)
                bits = number >> np.arange(topics)[:, None] & 1
            else:
                bits = random.integers(0, 2, (topics, some), dtype=np.int8)
            yield 1.0 - 2.0 * bits.astype(np.float64)


# Queries: the queries at hand are themselves a sample of all queries.


def draw_bootstrap_counts(topics: int, drawing: SamplingOptions) -> Iterator[Floats]:
    """Sample × query, some samples at a time: how often each query is in each sample.

    A sample has as many queries as there are, drawn with replacement.
    """
    step = max(1, CELLS // topics)
    for block in drawing.blocks():
        random, size = drawing.random(block), drawing.size(block)
        for start in range(0, size, step):
            some = min(step, size - start)
            drawn = random.integers(0, topics, (some, topics))
            drawn += topics * np.arange(some)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=some * topics)
            yield counts.reshape(some, topics).astype(np.float64)


def pair_blocks(pairs: int, drawing: SamplingOptions) -> range:
    """The numbers of the blocks of pairs whose samples are held at a time."""
    return range(-(-pairs // _pairs_per_block(drawing)))


def _pairs_per_block(drawing: SamplingOptions) -> int:
    return max(1, CELLS // drawing.samples)


def studentized_bootstrap(
    values: Floats,
    first: Ints,
    second: Ints,
    t: Floats,
    drawing: SamplingOptions,
    shares: tuple[float, float],
) -> tuple[Floats, Floats]:
    """Return p-values and quantiles of the t statistic, from samples of queries (Sakai 2006).

    There is a p-value for each pair of runs. The quantiles of t over the samples are pair × share.

    Parameters
    ----------
    values
        Run × query: the scores. The differences of a pair are shifted to mean 0 before queries are
        drawn.
    first, second
        The rows of the two runs of each pair.
    t
        The t statistic of each pair.
    drawing
        The samples.
    shares
        The shares of the samples that the two quantiles have below them.
    """
    work = _StudentizedBlock(values, first, second, np.abs(t), drawing.alone(), shares)
    blocks = list(map_parallel(work, pair_blocks(len(t), drawing), drawing))
    return np.concatenate([p for p, _ in blocks]), np.concatenate([cuts for _, cuts in blocks])


class _StudentizedBlock(Record):
    """The samples of a block of pairs."""

    values: Floats
    first: Ints
    second: Ints
    least: Floats
    drawing: SamplingOptions
    shares: tuple[float, float]

    def __call__(self, block: int) -> tuple[Floats, Floats]:
        step = _pairs_per_block(self.drawing)
        pairs = slice(block * step, (block + 1) * step)
        differences = self.values[self.first[pairs]] - self.values[self.second[pairs]]
        greatest = np.abs(differences).max(axis=1, keepdims=True)
        shifted = differences - differences.mean(axis=1, keepdims=True)
        topics = shifted.shape[1]
        samples = []
        for counts in draw_bootstrap_counts(topics, self.drawing):
            means, squares = shifted @ counts.T / topics, shifted**2 @ counts.T / topics
            samples.append(_t_statistic(means, squares - means**2, topics, greatest))
        t = np.concatenate(samples, axis=1)
        reached = np.abs(t) >= self.least[pairs, None] * (1 - 1e-9)
        p = (np.count_nonzero(reached, axis=1) + 1) / (self.drawing.samples + 1)
        places = [max(0, int(np.ceil(share * t.shape[1] - 1e-9)) - 1) for share in self.shares]
        t.partition(places, axis=1)
        return p, t[:, places]


def _t_statistic(means: Floats, variances: Floats, size: int, greatest: Floats) -> Floats:
    """Mean / (sd / √n).

    It is 0 if the mean is 0, and infinite if all numbers are the same, but not 0. Means and variances
    that are only rounding, compared with the greatest number, count as 0.
    """
    means[np.abs(means) <= ROUNDING * greatest] = 0.0
    variances[variances <= ROUNDING * greatest**2] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Floats = means / np.sqrt(variances / (size - 1))
    t[means == 0] = 0.0
    return t


# Orders: if no system is better than another, the scores of a query could be anyone's.


def draw_mean_ranges(values: Floats, drawing: SamplingOptions) -> Floats:
    """Return the range of the means of the runs in each sample.

    In a sample, the scores of each query are shuffled.
    """
    return np.concatenate(
        list(map_parallel(_MeanRanges(values, drawing.alone()), drawing.blocks(), drawing))
    )


class _MeanRanges(Record):
    """The ranges of a block."""

    values: Floats
    drawing: SamplingOptions

    def __call__(self, block: int) -> Floats:
        runs, topics = self.values.shape
        random, size = self.drawing.random(block), self.drawing.size(block)
        step = max(1, CELLS // (runs * topics))
        ranges = np.empty(size)
        for start in range(0, size, step):
            some = min(step, size - start)
            dealt = np.repeat(self.values.T[None], some, axis=0)
            random.permuted(dealt, axis=2, out=dealt)
            ranges[start : start + some] = np.ptp(dealt.mean(axis=1), axis=1)
        return ranges

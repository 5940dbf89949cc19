"""What chance gets: a text drawn at random from the source, in place of what a system wrote.

By default it has as many words as the reference, each drawn from the source with replacement: the
unigram model of Feng's dissertation (Equation 9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Integer, Kind, Number
from rankgauge.core.parameters import Parametric, parameter
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.records import Record
from rankgauge.core.registry import Registry
from rankgauge.core.seeds import digest
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.orders import Mean
from rankgauge.text.data.texts import Candidates, Draws, Texts
from rankgauge.text.tokens import candidate_counts, first_words, source_sentences

if TYPE_CHECKING:
    from rankgauge.text.base import Metric

Draw = Callable[[str, int, np.random.Generator], str]
"""A way to draw a text of a given number of words from a source with a random generator."""

WORDS, SENTENCES = "words", "sentences"
REFERENCE, CANDIDATE = "reference", "candidate"
TEXT = "text"
ERROR = 0.002
"""The default standard error of estimates of chance."""
INITIAL_DRAWS, MOST_DRAWS = 100, 100_000
"""The initial and the maximum number of texts drawn."""
MOST_WORDS = 100_000
"""Maximum number of words that can be requested for a drawn text."""
UNLIMITED_DRAWS = 400
"""Number of texts drawn for a metric without a range, for which a relative error is undefined."""
SPREAD_DRAWS = 300
"""Number of texts drawn to estimate a standard deviation."""

TOKENS, SIMILAR, DISSIMILAR = "tokens", "similar", "dissimilar"
NULLS: Registry[Draw | None] = Registry(
    "null", dict.fromkeys((WORDS, SENTENCES, TOKENS, SIMILAR, DISSIMILAR))
)
"""Ways to draw, by name: a function, or None for those that do not need one. All metrics have the first
two; `Metric.nulls` says which metrics have the others."""


def register_null(name: str, draw: Draw | None = None) -> None:
    """Register a way to draw random texts, so that metrics can use it by name.

    Parameters
    ----------
    name : str
        The name, such as "first" in `v2(rouge1,null=first)`.
    draw : callable, optional
        A function `draw(source, words, generator)` that returns a text with `words` words. Without
        it, only metrics that list the name in their `nulls` can draw from it.

    Raises
    ------
    MeasureError
        If the name is not an identifier, or is already taken.

    Examples
    --------
    >>> from rankgauge.text import parse_metric, register_null
    >>> register_null("opening", lambda source, words, generator: " ".join(source.split()[:words]))
    >>> chance = parse_metric("expected(rouge1,null=opening,draws=1)")
    >>> chance.score("anything", "a b", source="a b c d")
    1.0
    """
    if not name.isidentifier() or name in (WORDS, SENTENCES):
        raise MeasureError(f"{name!r} is not a valid name for a null; choose another name")
    NULLS.add(name, draw)


def check_null_for_workers(metric: Metric) -> None:
    """RankgaugeError if a metric draws texts by a function that only this process knows."""
    null = getattr(metric, "null", None)
    if NULLS.get(null or "") is not None:
        raise RankgaugeError(
            f"{metric}: null={null} is registered only in this process, so other processes do "
            "not know it; run without workers"
        )


class NullName(Kind):
    """The name of a way to draw texts: ours, or one that was registered."""

    @property
    def description(self) -> str:  # type: ignore[override]
        return f"one of {NULLS.format_names()}"

    def check(self, value: Any) -> str:
        if value not in NULLS:
            raise self.refusal(value)
        return str(value)


def check_null(null: str, metric: Metric) -> None:
    """MeasureError if only other metrics draw this null."""
    if NULLS[null] is None and null not in (WORDS, SENTENCES, *metric.nulls):
        raise MeasureError(
            f"{metric} does not know null={null}, expected {WORDS} or {SENTENCES}; {TOKENS}, {SIMILAR} "
            f"and {DISSIMILAR} are for bertscore"
        )


class TextLength(Kind):
    """Whose length a drawn text has, or a number of words."""

    description = f"reference, candidate, or a number of words up to {MOST_WORDS:,}"

    def check(self, value: Any) -> str | int:
        if value in (REFERENCE, CANDIDATE):
            return str(value)
        try:
            return Integer(1, MOST_WORDS).check(value)
        except MeasureError:
            raise self.refusal(value) from None


class ChanceParameters(Parametric):
    """The parameters that say what chance is."""

    null: str = parameter(
        NullName(),
        "what a random text is made of. words: words of the source, drawn with replacement; "
        "bertscore draws tokens, as the encoder splits the source. sentences: sentences of "
        "the source in random order, each at most once, the last one truncated. Three more "
        "are for bertscore only, and encode their tokens again. tokens: tokens of the source, "
        "drawn with replacement; similar: the tokens that are most similar to the source; "
        "dissimilar: the tokens that are least similar to it",
        default=WORDS,
    )
    length: str | int = parameter(
        TextLength(),
        "its length in words or tokens: that of the reference, that of the candidate, or a number",
        default=REFERENCE,
    )
    draws: int | None = parameter(
        Integer(1, MOST_DRAWS),
        "how many texts are drawn. By default, the exact formula is used if there is one; "
        "otherwise texts are drawn until the standard error is at most `error`. draws=1 "
        "follows Feng's dissertation",
        default=None,
    )
    per: str = parameter(
        Choice((TEXT, CANDIDATE)),
        "whether texts are drawn once per text, or again for each candidate; only with draws",
        default=TEXT,
    )
    error: float = parameter(
        Number(0, 1, closed=False, example=ERROR),
        "the largest standard error of an estimate, as a share of the range of the metric",
        default=ERROR,
    )
    seed: int = parameter(SEEDS, "the seed of the random number generator", default=SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.per == CANDIDATE and self.draws is None:
            raise MeasureError("per=candidate needs draws, such as draws=1")


class Null(ChanceParameters):
    """How random texts are drawn, and how their expected score is computed.

    A random text takes the place of a candidate; its expected score is called chance. All
    candidates for a text share one expected score, unless `length` or `per` is "candidate".

    Parameters
    ----------
    null : str, default "words"
        What a random text is made of. "words": words of the source, drawn with replacement;
        bertscore draws tokens, as the encoder sees them in the source. "sentences": sentences of
        the source in random order, each at most once, the last one truncated. For bertscore only:
        "tokens" of the source, drawn with replacement and encoded again; "similar" and
        "dissimilar", the tokens that are most and least similar to the source. Names from
        `register_null` are accepted too.
    length : {"reference", "candidate"} or int, default "reference"
        The length of a random text in words (or tokens). "reference": as long as the reference.
        "candidate": as long as the candidate. Or a number.
    draws : int, optional
        How many texts are drawn. By default, the formula of the metric is used; without a formula,
        texts are drawn until the standard error is at most `error`.
    per : {"text", "candidate"}, default "text"
        When texts are drawn. "text": once per text. "candidate": for each candidate, which needs
        `draws`.
    error : float, default 0.002
        The largest standard error of an estimate, as a share of the range of the metric.
    seed : int, default 0
        Seed of the random number generator.

    Notes
    -----
    The default is the unigram model of Feng's dissertation (Equation 9.1). `draws=1` follows its
    section 9.1 literally.

    Examples
    --------
    >>> from rankgauge.text import Null, rouge1
    >>> rouge1.expected("a b b d", "a a b c", null=Null(length=3)).value
    0.45982142857142855
    >>> Null(draws=1, per="candidate").constant
    False
    """

    name = "chance"

    @property
    def constant(self) -> bool:
        """Whether all candidates for a text share one expected score."""
        return self.length != CANDIDATE and self.per == TEXT

    def mean_of(self, metric: Metric, candidates: Candidates) -> Mean:
        """Return the expected score of a random text in place of each candidate.

        The score is NaN if the source has no words.
        """
        check_null(self.null, metric)
        tasks = self._tasks(metric, candidates)
        texts = candidates.texts
        if not self._is_random(metric):
            return Mean.exact(self._draw_scores(metric, texts, tasks, 1).mean().values[tasks.task])
        mean = Mean.exact(np.full(len(tasks.text), np.nan))
        if self.draws is None and self.null == WORDS:
            values = metric._expected(texts, tasks.text, tasks.length)
            if values is not None:
                mean.values[:] = values
        # What has no formula is drawn.
        rest = np.flatnonzero(np.isnan(mean.values))
        if len(rest):
            drawn = self._draw_scores(metric, texts, tasks.select(rest), self.draws).mean()
            for whole, part in zip(mean, drawn, strict=True):
                whole[rest] = part
        return Mean(mean.values[tasks.task], mean.errors[tasks.task], mean.samples[tasks.task])

    def spread_of(self, metric: Metric, candidates: Candidates) -> Floats:
        """Return the standard deviation of random-text scores for each candidate."""
        check_null(self.null, metric)
        tasks = self._tasks(metric, candidates)
        if not self._is_random(metric):
            return np.zeros(len(tasks.task))
        draws = max(SPREAD_DRAWS, self.draws or 0)
        return self._draw_scores(metric, candidates.texts, tasks, draws).spread()[tasks.task]

    def _is_random(self, metric: Metric) -> bool:
        """Whether draws differ; if they do not, one text stands for all."""
        return metric.nulls.get(self.null, True)

    def _draws_units(self, metric: Metric) -> bool:
        """Whether units of the metric are drawn, such as tokens, or words of a text."""
        return self.null == WORDS or self.null in metric.nulls

    def _tasks(self, metric: Metric, candidates: Candidates) -> _Tasks:
        """What is to be drawn: what several candidates share only once."""
        texts, of = candidates.texts, candidates.of
        units = self._draws_units(metric)
        if self.length == CANDIDATE:
            counts = metric._candidate_units if units else candidate_counts
            length = np.maximum(1, counts(candidates))
        elif self.length == REFERENCE:
            length = (metric._reference_units(texts) if units else metric.lengths(texts))[of]
        else:
            length = np.full(len(of), self.length, dtype=np.int64)
        own = np.arange(len(of)) if self.per == CANDIDATE else np.zeros(len(of), dtype=np.int64)
        keys, first, task = np.unique(
            np.column_stack([of, length, own]), axis=0, return_index=True, return_inverse=True
        )
        seeds = [self._seed_of(candidates, place) for place in first.tolist()]
        return _Tasks(keys[:, 0], keys[:, 1], seeds, task.reshape(-1))

    def _seed_of(self, candidates: Candidates, place: int) -> int:
        """Return a seed that follows from the id of a text, and for a candidate also from its words.

        So no other text or system changes what is drawn.
        """
        parts = [str(self.seed), candidates.texts.ids[candidates.of[place]]]
        if self.per == CANDIDATE:
            parts.append(candidates.outputs[place])
        content = "\0".join(parts).encode("utf-8", "surrogatepass")
        return int.from_bytes(digest(content, 16), "little")

    def _draw_scores(
        self, metric: Metric, texts: Texts, tasks: _Tasks, draws: int | None
    ) -> _RunningMoments:
        """The scores of texts that are drawn for each task: so many, or as many as the error asks."""
        generators = [np.random.default_rng(seed) for seed in tasks.seeds]
        sums = _RunningMoments.none(len(tasks.text))
        known = [self._can_draw(metric, texts, text) for text in tasks.text.tolist()]
        wanted = np.where(np.array(known, dtype=bool), draws or INITIAL_DRAWS, 0)
        low, high = metric.range
        while wanted.any():
            for some, count in _blocks(wanted, tasks.length):
                own = [generators[task] for task in some.tolist()]
                block = Draws(texts, tasks.text[some], tasks.length[some], count, own)
                sums.add(np.repeat(some, count), self._scores(metric, block))
            wanted = np.zeros_like(wanted) if draws else sums.draws_needed(self.error, high - low)
        return sums

    def _can_draw(self, metric: Metric, texts: Texts, text: int) -> bool:
        """Whether there is something to draw in the source of a text."""
        if self._draws_units(metric):
            return metric._source_units(texts, text) > 0
        if self.null == SENTENCES:
            return bool(source_sentences(texts, text))
        return bool(texts.sources[text].strip())

    def _scores(self, metric: Metric, draws: Draws) -> Floats:
        """The scores of texts that are drawn."""
        if self.null == WORDS:
            return metric._score_drawn(draws.units(partial(metric._source_units, draws.texts)))
        if self.null in metric.nulls:
            return metric._score_null(self.null, draws)
        words = tuple(
            self._draw_text(draws.texts, text, length, generator)
            for text, length, count, generator in draws.tasks()
            for _ in range(count)
        )
        return metric.score_each(Candidates(draws.texts, words, draws.of))

    def _draw_text(
        self, texts: Texts, text: int, length: int, generator: np.random.Generator
    ) -> str:
        """A text of so many words, of sentences or by a function that was registered."""
        if self.null == SENTENCES:
            return _draw_sentences(source_sentences(texts, text), length, generator)
        draw = NULLS[self.null]
        assert draw is not None  # metrics draw the others
        try:
            drawn = draw(texts.sources[text], length, generator)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
            raise RankgaugeError(
                f"the null {self.null} fails on text {texts.ids[text]!r}: {fault}"
            ) from error
        if not isinstance(drawn, str):
            raise RankgaugeError(f"the null {self.null} drew {drawn!r}, expected text")
        return drawn


def _draw_sentences(
    sentences: Sequence[tuple[str, int]], length: int, generator: np.random.Generator
) -> str:
    """Sentences in a random order, until there are so many words; the last sentence is cut."""
    chosen, left = [], length
    for number in generator.permutation(len(sentences)).tolist():
        if left <= 0:
            break
        text, words = sentences[number]
        chosen.append(text if words <= left else first_words(text, left))
        left -= words
    return "\n".join(chosen)


class _Tasks(Record):
    """What is drawn: for which text, how many words, by which seed; and the task of each candidate."""

    text: Ints
    length: Ints
    seeds: list[int]
    task: Ints

    def select(self, places: Ints) -> _Tasks:
        """Some of the tasks, of no candidate."""
        seeds = [self.seeds[place] for place in places.tolist()]
        return _Tasks(self.text[places], self.length[places], seeds, np.zeros(0, dtype=np.int64))


CHUNK = 100
"""Number of texts drawn per task, unless they are long."""
LONG_CHUNK, BLOCK = 500_000, 2_000_000
"""Number of words drawn at a time, for one task and for several tasks together."""


def _blocks(wanted: Ints, length: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Tasks, and how many texts are drawn for each of them at a time.

    The draws of a task are cut into chunks that depend on the task alone, and no block has two of them.
    So the sums of a task, to the last bit, do not depend on the other tasks.
    """
    words = np.maximum(length, 1)
    chunk = np.clip(LONG_CHUNK // words, 1, CHUNK)
    left = wanted.copy()
    while left.any():
        some = np.flatnonzero(left)
        count = np.minimum(left[some], chunk[some])
        total = np.cumsum(count * words[some])
        start = 0
        while start < len(some):
            before = total[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(total, before + BLOCK, side="right")))
            yield some[start:stop], count[start:stop]
            start = stop
        left[some] -= count


class _RunningMoments(Record):
    """The moments of the scores of the draws of each task.

    `number` is the number of draws, `center` is the mean of their scores, and `squares` is the sum
    of the squared differences from that mean.
    """

    number: Ints
    center: Floats
    squares: Floats

    @classmethod
    def none(cls, tasks: int) -> _RunningMoments:
        return cls(np.zeros(tasks, dtype=np.int64), np.zeros(tasks), np.zeros(tasks))

    def add(self, tasks: Ints, scores: Floats) -> None:
        """Add the scores of draws, each of its task."""
        size = len(self.number)
        count = np.bincount(tasks, minlength=size)
        seen = count > 0
        mean = np.bincount(tasks, scores, size)[seen] / count[seen]
        own = np.zeros(size)
        own[seen] = mean
        squares = np.bincount(tasks, (scores - own[tasks]) ** 2, size)
        total = self.number + count
        shift = own - self.center
        share = np.divide(count, total, out=np.zeros(size), where=total > 0)
        self.squares[:] += squares + np.where(seen, shift**2 * self.number * share, 0.0)
        self.center[:] += np.where(seen, shift * share, 0.0)
        self.number[:] = total

    def spread(self) -> Floats:
        """The standard deviation of the scores of each task; NaN of fewer than two."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.number > 1, np.sqrt(self.squares / (self.number - 1)), np.nan)

    def mean(self) -> Mean:
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = self.spread() / np.sqrt(self.number)
        return Mean(np.where(self.number > 0, self.center, np.nan), errors, self.number)

    def draws_needed(self, error: float, width: float) -> Ints:
        """Return how many more draws each task needs to reach a standard error.

        `error` is that standard error as a share of `width`, the width of the range of the metric.

        A metric without a range takes `UNLIMITED_DRAWS`. If all draws scored the same, others may be
        rare: with 3 / error draws, rarer than the error in 95 of 100 cases.
        """
        if not np.isfinite(width):
            return np.maximum(UNLIMITED_DRAWS - self.number, 0) * (self.number > 0)
        spread = np.nan_to_num(self.spread()) / (error * width)
        needed = np.ceil(spread**2).astype(np.int64)
        needed = np.where(spread == 0, int(np.ceil(3 / error)), needed)
        more = np.minimum(needed, MOST_DRAWS) - self.number
        return np.where(self.number > 0, np.maximum(more, 0), 0)

"""The laws that every metric of texts obeys, for a metric of one's own: `check_metric`.

A metric is compared with its own scores. Whether the score is the one of the paper only its author
knows; that needs a test by the author.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.laws import TOLERANCE, Laws, expect, fail, is_close, is_within
from rankgauge.errors import MeasureError
from rankgauge.testing import other_parameters
from rankgauge.text.base import Metric
from rankgauge.text.chance import Null
from rankgauge.text.data.texts import Candidates, Draws, Texts
from rankgauge.text.grammar import parse_metric
from rankgauge.text.normalization import ChanceMetric, LinearMetric, V1Metric, V2Metric, ZMetric
from rankgauge.text.registry import METRICS, entries
from rankgauge.text.tokens import source_words

DRAWS = 400
"""Number of texts drawn to check a formula."""
ERRORS = 4
"""Maximum difference between the mean of drawn texts and the formula, in standard errors."""
LONG = 100_000
"""Number of words in the longest source."""
FORMS: tuple[type[ChanceMetric], ...] = (V1Metric, V2Metric, LinearMetric, ZMetric)


def check_metric(metric: Metric) -> None:
    """Check that a text metric obeys the laws that hold for every metric.

    The check changes each parameter of the metric in turn, and scores ordinary texts and odd ones:
    no words, one word, other scripts, emoji, a very long source. The texts are the same in every
    run.

    Parameters
    ----------
    metric : Metric
        The metric to check.

    Raises
    ------
    rankgauge.testing.LawBroken
        If the metric breaks a law. The message describes the first case.
    MeasureError
        If this is not a text metric.

    Notes
    -----
    The laws compare the metric with itself. Whether its scores match the paper needs a test of
    your own.

    Examples
    --------
    >>> from rankgauge.text import check_metric, parse_metric
    >>> check_metric(parse_metric("rouge2"))
    """
    if not isinstance(metric, Metric):
        raise MeasureError(f"{metric!r} is not a text metric, expected one such as rouge1")
    for variant in variants(metric):
        LAWS.check(variant)


def variants(metric: Metric) -> Iterator[Metric]:
    """A metric, and the same with each of its own parameters changed."""
    yield metric
    if isinstance(metric, ChanceMetric):
        return
    for parameters in other_parameters(metric):
        yield metric(**parameters)


# What is tried

_ORDINARY = (
    (
        "The cat sat on the mat, and the dog sat by the door. It rained all day.",
        ("The cat sat on the mat.", "A cat and a dog sat down."),
        ("The cat sat on the mat.", "The dog sat by the door.", "It rained.", "Nobody knows."),
    ),
    (
        "A rose is a rose is a rose.\nA thorn is not.",
        ("A rose is a rose.",),
        ("A rose is a rose.", "a rose", "a thorn is a thorn", "is is is is a a a"),
    ),
    (
        "Rates rose by 3.5 percent in 2021 after banks lent more to small firms than in 2020.",
        ("Banks lent more.\nRates rose.", "Rates rose in 2021.", "Firms borrowed more from banks."),
        ("Banks lent more.\nRates rose.", "Rates fell in 2020.", "more more more", "In 2021 rates"),
    ),
)
_ODD = (
    ("one", ("one",), ("one", "two", "", "one one one one one one")),
    ("two words", ("two",), ("two", "words two", "🙂", "two words two words two words")),
    ("words that are here", ("none of them",), ("absent", "elsewhere too", "!", "none of them")),
    ("🙂 🎉 fête naïve 🙂", ("🙂 fête",), ("🙂 fête", "🎉", "fete", "f te")),
    ("שלום עולם", ("שלום",), ("שלום", "עולם", "hello", "שלום hello")),
    ("some words", ("",), ("", "words", "some", "\ud800 words")),
    ("a a a a a a", ("a a a", "b"), ("a a a", "a", "b", "a b a b")),
)
_NO_SOURCE = (("", ("the words of a person",), ("the words of a person", "", "x", "words of")),)


def _texts(cases: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]) -> Texts:
    outputs = {f"system {n + 1}": [outputs[n] for _, _, outputs in cases] for n in range(4)}
    return Texts([source for source, _, _ in cases], [refs for _, refs, _ in cases], outputs)


def _ordinary_texts() -> Texts:
    return _texts(_ORDINARY)


@cache
def _long_source() -> str:
    generator = np.random.default_rng(1999)
    return " ".join(f"w{int(n)}" for n in generator.zipf(1.3, LONG) % 5000)


def _candidates(metric: Metric) -> Candidates:
    """Outputs for ordinary texts and odd ones; one has no source, unless the metric needs it."""
    inside = metric.measure if isinstance(metric, ChanceMetric) else metric
    cases = _ORDINARY + _ODD + (() if inside.source_needed else _NO_SOURCE)
    return _texts(cases).candidates()


def _expect(holds: Bools, candidates: Candidates, why: str, **values: Floats) -> None:
    """Fail for the first candidate for which a law does not hold, as `expect` does."""

    def case(i: int) -> str:
        references = candidates.texts.references[int(candidates.of[i])]
        return f"the output {candidates.outputs[i]!r} with references {references}"

    expect(holds, case, why, **values)


# The laws

LAWS: Laws[Metric] = Laws()


@LAWS.law("text form")
def _text_form(metric: Metric) -> None:
    """The text form, the signature and the Python form are read as the same metric."""
    if metric.name not in METRICS:
        return
    if parse_metric(str(metric)) != metric:
        fail(f"its text form {str(metric)!r} is read as {parse_metric(str(metric))}")
    signature = metric.specification()
    again = parse_metric(signature)
    if again.specification() != signature:
        fail(f"its signature {signature!r} is read as {again.specification()}")
    names: dict[str, Any] = dict(entries())
    if eval(repr(metric), {"__builtins__": {}}, names) != metric:
        fail(f"{metric!r} in Python is another metric")
    for example in metric.examples:
        parse_metric(example)


@LAWS.law("zero texts")
def _no_texts(metric: Metric) -> None:
    """Without texts there are no scores."""
    for texts in (_ordinary_texts(), Texts([], [], {"system": []})):
        none = Candidates(texts, (), np.zeros(0, dtype=np.int64))
        scores = metric.score_each(none)
        if scores.shape != (0,):
            fail(f"zero texts have scores of shape {scores.shape}, expected none")


@LAWS.law("range")
def _range(metric: Metric) -> None:
    """No score is outside the declared range."""
    candidates = _candidates(metric)
    low, high = metric.range
    scores = metric.score_each(candidates)
    inside = is_within(scores, (low, high))
    if isinstance(metric, ChanceMetric):
        inside |= np.isnan(scores)
    _expect(inside, candidates, f"it scores {{score}}, expected {low} to {high}", score=scores)


@LAWS.law("ideal")
def _ideal(metric: Metric) -> None:
    """A copy of the reference gets the ideal score."""
    if isinstance(metric, ChanceMetric) or metric.direction == "none":
        return
    sources = [source for source, _, _ in _ORDINARY]
    for copies in (1, 2):
        best = [(references[0],) * copies for _, references, _ in _ORDINARY]
        outputs = [references[0] for _, references, _ in _ORDINARY]
        candidates = Texts(sources, best, {"copy": outputs}).candidates()
        scores = metric.score_each(candidates)
        _expect(
            is_close(scores, np.full(len(scores), metric.ideal), metric.rounding),
            candidates,
            f"it scores {{score}}, expected {metric.ideal}, the ideal",
            score=scores,
        )


@LAWS.law("each text alone")
def _independence(metric: Metric) -> None:
    """The score of a text does not depend on other texts."""
    together = _candidates(metric)
    if not metric.alone:
        return
    scores = metric.score_each(together)
    alone = []
    texts = together.texts
    for words, of in zip(together.outputs, together.of.tolist(), strict=True):
        one = Texts(
            [texts.sources[of]], [texts.references[of]], {"one": [words]}, ids=[texts.ids[of]]
        )
        alone.append(float(metric.score_each(one.candidates())[0]))
    _expect(
        is_close(scores, np.array(alone), metric.rounding),
        together,
        "it scores {together} together with other texts, but {alone} alone; expected the same score",
        together=scores,
        alone=np.array(alone),
    )


@LAWS.law("drawn words")
def _score_drawn_words(metric: Metric) -> None:
    """Words drawn from the source score the same as the text that they make."""
    texts = _ordinary_texts()
    if metric.in_context:
        return
    lengths = np.tile([0, 1, 2, 9, 30], len(texts))
    of = np.repeat(np.arange(len(texts)), 5)
    generators = [np.random.default_rng(2003)] * len(of)
    draws = Draws(texts, of, lengths, np.ones_like(of), generators)
    drawn = draws.units(lambda text: len(source_words(texts, text, metric.split)))
    written = drawn.candidates(lambda text: source_words(texts, text, metric.split))
    by_place, by_text = metric._score_drawn(drawn), metric.score_each(written)
    _expect(
        is_close(by_place, by_text),
        written,
        "_score_drawn gives {by_place}, but the same words as a text score {by_text}",
        by_place=by_place,
        by_text=by_text,
    )


@LAWS.law("expected")
def _expected_score(metric: Metric) -> None:
    """The formula for random words agrees with drawn texts, and lies in the range."""
    if isinstance(metric, ChanceMetric):
        return
    candidates = _candidates(metric)
    low, high = metric.range
    texts = candidates.texts
    known = np.array([metric._source_units(texts, of) > 0 for of in candidates.of.tolist()])
    for null in (Null(), Null(length="candidate"), Null(length=7)):
        tasks = null._tasks(metric, candidates)
        if metric._expected(texts, tasks.text, tasks.length) is None:
            return
        mean = metric.expected_each(candidates, null)
        _expect(
            np.isnan(mean.values) == ~known,
            candidates,
            "its expected score is {mean}, expected nan if nothing can be drawn from "
            "the source, else a number",
            mean=mean.values,
        )
        _expect(
            is_within(mean.values, (low, high)) | ~known,
            candidates,
            f"its expected score is {{mean}}, expected {low} to {high}",
            mean=mean.values,
        )
        drawn = Null(length=null.length, draws=DRAWS)
        estimate = metric.expected_each(candidates, drawn)
        off = np.abs(estimate.values - mean.values)
        # A rare score may not be drawn at all: then the error is estimated as 0.
        rare = (high - low) / DRAWS if np.isfinite(high - low) else 0.0
        allowed = ERRORS * np.maximum(estimate.errors, rare)
        _expect(
            (off <= allowed) | ~known,
            candidates,
            f"its formula for chance gives {{mean}}, but {DRAWS} drawn texts have the mean {{drawn}}",
            mean=mean.values,
            drawn=estimate.values,
        )


@LAWS.law("drawn texts")
def _chance_in_range(metric: Metric) -> None:
    """The mean of drawn texts lies in the range."""
    if isinstance(metric, ChanceMetric):
        return
    candidates = _ordinary_texts().candidates()
    low, high = metric.range
    for null in (Null(draws=20), Null(draws=20, null="sentences"), Null(draws=2, per="candidate")):
        values = metric.expected_each(candidates, null).values
        _expect(
            is_within(values, (low, high)),
            candidates,
            f"the mean of drawn texts is {{mean}}, expected {low} to {high}",
            mean=values,
        )


@LAWS.law("forms")
def _forms(metric: Metric) -> None:
    """A form normalized by chance puts outputs in the order of their scores."""
    if isinstance(metric, ChanceMetric) or metric.direction == "none":
        return
    candidates = _ordinary_texts().candidates()
    sign = 1 if metric.direction == "higher" else -1
    score = sign * metric.score_each(candidates)
    for form in FORMS:
        if not form.takes(metric):
            continue
        try:
            normalized = form(metric, draws=50)
        except MeasureError:  # it needs a lowest score, which the metric does not have
            continue
        value = normalized.score_each(candidates)
        for text in range(len(candidates.texts)):
            rows = np.flatnonzero(candidates.of == text)
            order = rows[np.argsort(score[rows], kind="stable")]
            if (np.diff(value[order]) < -TOLERANCE).any():
                fail(
                    f"{normalized} is lower where the score is better: the outputs "
                    f"{[candidates.outputs[row] for row in order]} have {value[order].tolist()}"
                )


@LAWS.law("a long source")
def _long_text(metric: Metric) -> None:
    """A very long source is scored."""
    source = _long_source()
    texts = Texts([source], ["w1 w2 w3 w1 w7"], {"lead": [source[:200]]})
    if not isinstance(metric, ChanceMetric):
        metric.expected_each(texts.candidates(), Null(draws=3))
    scores = metric.score_each(texts.candidates())
    level = isinstance(metric, ZMetric)  # where all drawn texts score the same it is undefined
    if not np.isfinite(scores).all() and not level:
        fail(f"with a source of {LONG:,} words it scores {scores[0]}, expected a number")


@LAWS.law("remarks")
def _remarks(metric: Metric) -> None:
    """Every remark has a text."""
    candidates = _candidates(metric)
    for note in metric.remarks(candidates):
        str(note)

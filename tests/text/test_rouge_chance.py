"""What words drawn at random get by ROUGE: the formulas against enumeration, and against draws."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import summeval
from oracles import rouge as oracle
from profiles import examples
from rankgauge.text import Metric, Null, Texts, parse_metric
from rankgauge.text.metrics import rouge_chance

PARTS = ("f", "precision", "recall")


def expected(metric: Metric, source: str, references: list[str], lengths: list[int]) -> list[float]:
    """The expected score of drawn texts of these lengths, by the formula."""
    texts = Texts([source], [references], {})
    values = metric._expected(texts, np.zeros(len(lengths), dtype=np.int64), np.array(lengths))
    assert values is not None
    return values.tolist()


WORDS = st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join)


@examples(150)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" ".join),
    st.lists(WORDS, min_size=1, max_size=3),
    st.sampled_from([1, 2]),
    st.sampled_from(PARTS),
    st.sampled_from(["mean", "pooled", "first"]),
)
def test_the_formula_is_the_mean_over_all_texts(
    source: str, references: list[str], n: int, part: str, way: str
) -> None:
    theirs = [oracle.words(each) for each in references]

    def score(text: oracle.Words) -> Fraction:
        every = [oracle.ngrams(text, each, n) for each in theirs]
        return Fraction(oracle.combined(every, part, way))

    metric = parse_metric(f"rouge{n}")(part=part, references=way)
    found = expected(metric, source, references, [0, 1, 2, 3, 4])
    for length, value in enumerate(found):
        right = float(oracle.expected(source.split(), length, score))
        assert value == pytest.approx(right, rel=1e-12, abs=1e-14), (length, str(metric))


def test_the_vector_of_a_small_source() -> None:
    for name, right in (("rouge1", 103 / 224), ("rouge2", 23 / 160)):
        assert expected(parse_metric(name), "a a b c", ["a b b d"], [3]) == pytest.approx([right])


def test_the_formula_knows_stems() -> None:
    metric = parse_metric("rouge1(stem=true)")
    stems = expected(metric, "running runs cat", ["run cats"], [1, 4])
    plain = expected(parse_metric("rouge1"), "run run cat", ["run cat"], [1, 4])
    assert stems == pytest.approx(plain)
    assert expected(parse_metric("rouge1"), "running runs cat", ["run cats"], [1, 4]) == [0, 0]


@pytest.mark.parametrize("name", ["rouge1", "rouge2"])
def test_odd_cases_have_a_formula_and_no_warnings(name: str) -> None:
    metric = parse_metric(name)
    assert expected(metric, "a b", [""], [0, 1, 5]) == [0, 0, 0]
    assert expected(metric, "a b", ["c d"], [0, 1, 5]) == [0, 0, 0]
    assert expected(metric, "a", ["a a a"], [3]) == [1]  # there is only one text to draw
    assert np.isnan(expected(metric, "!", ["a"], [0, 1, 2])).all()
    assert expected(metric, "a b", ["a"], [1]) == ([0.5] if name == "rouge1" else [0])


def test_the_maximum_over_several_references_has_no_formula() -> None:
    texts = Texts(["a b"] * 3, [["a"], ["a", "b"], ["b"]], {})
    metric = parse_metric("rouge1(references=max)")
    values = metric._expected(texts, np.array([0, 1, 2]), np.array([1, 1, 1]))
    assert values is not None
    np.testing.assert_array_equal(values, [0.5, np.nan, 0.5])
    mean = metric.expected_each(
        Texts(texts.sources, texts.references, {"s": [""] * 3}).candidates(), Null()
    )
    assert mean.values.tolist() == [0.5, 1.0, 0.5]
    assert (mean.samples > 0).tolist() == [False, True, False]


def test_texts_are_followed_together_or_alone_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(6)

    def text(size: int) -> str:
        return " ".join(generator.choice(list("abcdefgh"), size))

    texts = Texts([text(40) for _ in range(12)], [[text(n), text(9)] for n in range(12)], {})
    of, length = np.repeat(np.arange(12), 3), np.tile([2, 40, 7], 12)
    metric = parse_metric("rouge2")
    together = metric._expected(texts, of, length)
    monkeypatch.setattr(rouge_chance, "MOST_STATES", 1)
    np.testing.assert_allclose(metric._expected(texts, of, length), together, rtol=1e-13)
    monkeypatch.setattr(rouge_chance, "MOST_WORK", 10)
    too_long = metric._expected(texts, of, length)  # then texts are drawn
    assert too_long is not None
    assert np.isnan(too_long).any()


@pytest.mark.parametrize("stem", [False, True])
def test_drawn_texts_of_all_articles_agree_with_the_formula(
    stem: bool, real_data: Callable[[str], Path]
) -> None:
    texts = summeval.read(real_data(summeval.FILE))
    candidates = Texts(texts.sources, texts.references, {"one": [""] * len(texts)}).candidates()
    for name, way in itertools.product(("rouge1", "rouge2"), ("first", "mean", "pooled")):
        metric = parse_metric(name)(references=way, stem=stem)
        exact = metric.expected_each(candidates, Null())
        drawn = metric.expected_each(candidates, Null(draws=300))
        assert not exact.samples.any()
        off = np.abs(exact.values - drawn.values) / drawn.errors
        assert off.max() < 4, str(metric)
        assert off.mean() == pytest.approx(np.sqrt(2 / np.pi), abs=0.25), str(metric)


@pytest.mark.parametrize(
    ("name", "score", "words", "sentences"),
    [
        ("rouge1", 0.417, 0.281, 0.311),
        ("rouge2", 0.195, 0.0058, 0.105),
        ("rougeL", 0.283, 0.141, 0.197),
    ],
)
def test_the_means_of_summaries_and_of_chance(
    name: str, score: float, words: float, sentences: float, real_data: Callable[[str], Path]
) -> None:
    texts = summeval.read(real_data(summeval.FILE))
    metric = parse_metric(name)(references="first")
    candidates = texts.candidates()
    assert metric.score_each(candidates).mean() == pytest.approx(score, abs=0.0006)
    drawn = metric.expected_each(candidates, Null())
    tolerance = 0.001 if drawn.samples.any() else 0.0005 if words > 0.1 else 0.00005
    assert drawn.values.mean() == pytest.approx(words, abs=tolerance)
    cut = metric.expected_each(candidates, Null(null="sentences", draws=30))
    assert cut.values.mean() == pytest.approx(sentences, abs=0.003)


def test_a_source_of_100_000_words_takes_no_longer() -> None:
    generator = np.random.default_rng(8)
    source = " ".join(f"w{n}" for n in generator.zipf(1.3, 100_000) % 20_000)
    reference = " ".join(f"w{n}" for n in generator.zipf(1.3, 80) % 20_000)
    texts = Texts([source], [reference], {"s": [reference]})
    started = time.process_time()
    for name in ("rouge1", "rouge2"):
        value = parse_metric(name).expected_each(texts.candidates(), Null()).values[0]
        assert 0 < value < 1
    assert time.process_time() - started < 5  # most of it splits the source into words


def test_many_repetitions_take_no_quadratic_time() -> None:
    """A reference that has one pair ten thousand times, and as many words drawn."""
    texts = Texts(["a b"], ["a b " * 30_000], {"s": ["a"]})
    started = time.process_time()
    value = parse_metric("rouge2").expected_each(texts.candidates(), Null(error=0.01)).values[0]
    assert 0.3 < value < 0.7
    assert time.process_time() - started < 20

"""ROUGE: the numbers of Google's rouge-score, and of Lin's definitions."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import summeval
from oracles import rouge as oracle
from profiles import examples, some
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.text import Texts, parse_metric
from rankgauge.text.metrics import rouge_library
from rankgauge.text.tokens import words_of

PARTS = {"f": 2, "precision": 0, "recall": 1}
"""Where rouge-score has each part."""
WAYS = ("mean", "max", "pooled", "first")
LIBRARY = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def score(metric: str, output: str, *references: str) -> float:
    texts = Texts(None, [references], {"system": [output]})
    return float(parse_metric(metric).score_each(texts.candidates())[0])


@pytest.mark.parametrize("stem", [False, True])
def test_rouge_score_gives_the_same_numbers_for_summaries(
    stem: bool, real_data: Callable[[str], Path]
) -> None:
    scorers = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = scorers.RougeScorer(LIBRARY, use_stemmer=stem)
    texts = summeval.read(real_data(summeval.FILE))
    candidates = texts.candidates()
    assert len(candidates) == 1600
    chosen = some(range(1600), 400)
    words, of = candidates.outputs, candidates.of.tolist()
    right = [scorer.score(texts.references[of[i]][0], words[i]) for i in chosen]
    for name, (part, number) in itertools.product(LIBRARY, PARTS.items()):
        metric = parse_metric(name)(part=part, stem=stem, references="first")
        scores = metric.score_each(candidates)[chosen]
        expected = [each[name][number] for each in right]
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12, err_msg=str(metric))


TEXT = st.lists(
    st.sampled_from(["a", "b", "c", "running", "runs", "Ran", "🙂", "é", "\n", ".", "2nd"]),
    max_size=12,
).map(" ".join)


@examples(100)
@given(TEXT, TEXT, st.booleans())
def test_rouge_score_gives_the_same_numbers_for_any_text(a: str, b: str, stem: bool) -> None:
    scorers = pytest.importorskip("rouge_score.rouge_scorer")
    right = scorers.RougeScorer(LIBRARY, use_stemmer=stem).score(b, a)
    for name, (part, number) in itertools.product(LIBRARY, PARTS.items()):
        metric = str(parse_metric(name)(part=part, stem=stem))
        assert score(metric, a, b) == pytest.approx(right[name][number], rel=0, abs=1e-12), metric


@examples(60)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3), st.sampled_from(sorted(PARTS)))
def test_metrics_are_what_their_definitions_say(
    output: str, references: list[str], part: str
) -> None:
    own, theirs = words_of(output), [words_of(each) for each in references]
    assert own == oracle.words(output)
    cases: dict[str, tuple[Callable[..., oracle.Counts], float]] = {
        "rouge1": (lambda a, b: oracle.ngrams(a, b, 1), 1),
        "rouge2": (lambda a, b: oracle.ngrams(a, b, 2), 1),
        "rougeL": (oracle.subsequence, 1),
        "rougeW": (lambda a, b: oracle.weighted_subsequence(a, b, 1.2), 1 / 1.2),
        "rougeW(weight=2)": (lambda a, b: oracle.weighted_subsequence(a, b, 2), 1 / 2),
        "rougeW(weight=1)": (oracle.subsequence, 1),
        "rougeS": (lambda a, b: oracle.skip_bigrams(a, b, 4), 1),
        "rougeS(skip=0)": (lambda a, b: oracle.ngrams(a, b, 2), 1),
        "rougeS(skip=2,unigram=true)": (lambda a, b: oracle.skip_bigrams(a, b, 2, True), 1),
        "rougeS(skip=unlimited)": (lambda a, b: oracle.skip_bigrams(a, b, None), 1),
    }
    for name, (count, power) in cases.items():
        every = [count(own, each) for each in theirs]
        for way in WAYS:
            metric = parse_metric(name)(part=part, references=way)
            right = float(oracle.combined(every, part, way, power))
            found = score(str(metric), output, *references)
            assert found == pytest.approx(right, rel=0, abs=1e-12), str(metric)


def test_lins_examples_of_skip_bigrams() -> None:
    """Lin 2004, section 5."""
    reference = "police killed the gunman"
    metric = "rougeS(skip=unlimited)"
    assert score(metric, "police kill the gunman", reference) == 0.5
    assert score(metric, "the gunman kill police", reference) == pytest.approx(1 / 6)
    assert score(metric, "the gunman police killed", reference) == pytest.approx(1 / 3)
    assert score("rougeL", "police kill the gunman", reference) == 0.75
    assert score("rougeL", "the gunman kill police", reference) == 0.5
    assert score("rougeS", "gunman the killed police", reference) == 0
    assert score("rougeS(unigram=true)", "gunman the killed police", reference) == pytest.approx(
        0.4
    )


def test_lins_example_of_neighbors() -> None:
    """Lin 2004, section 4: of two texts with the same longest subsequence, the one with neighbors."""
    reference, near, far = "a b c d e f g", "a b c d h i k", "a h b k c i d"
    assert (
        score("rougeL", near, reference) == score("rougeL", far, reference) == pytest.approx(4 / 7)
    )
    assert score("rougeW(part=recall,weight=2)", near, reference) == pytest.approx(4 / 7)
    assert score("rougeW(part=recall,weight=2)", far, reference) == pytest.approx(2 / 7)


def test_pooled_counts_are_added_up_over_references() -> None:
    """Equation 3.5: 2 of 2 words and 1 of 4 words are 3 of 6; the output counts for each reference."""
    references = ("a b", "a c d e")
    assert score("rouge1(references=pooled,part=recall)", "a b x", *references) == 3 / 6
    assert score("rouge1(references=pooled,part=precision)", "a b x", *references) == 3 / 6
    assert score("rouge1(references=pooled)", "a b x", "a b") == score("rouge1", "a b x", "a b")


def test_a_line_is_a_sentence_of_rouge_lsum() -> None:
    reference = "a b c\nd e f"
    assert score("rougeLsum", "d e f\na b c", reference) == 1
    assert score("rougeLsum", "d e f a b c", reference) == 1
    assert score("rougeL", "d e f\na b c", reference) == 0.5


def test_the_parts_and_references_share_one_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = rouge_library.recalls
    monkeypatch.setattr(
        rouge_library, "recalls", lambda *arguments: calls.append(1) or real(*arguments)
    )
    candidates = Texts(None, [["a b", "a"]], {"s": ["a c"]}).candidates()
    for part, way in itertools.product(PARTS, ("mean", "max", "pooled")):
        parse_metric("rouge1")(part=part, references=way).score_each(candidates)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("metric", "size", "remedy"),
    [
        ("rougeL", 150_000, "rouge1"),
        ("rougeLsum", 20_000, "rougeL"),
        ("rougeW", 101_000, "rougeL"),
        ("rougeS(skip=unlimited)", 10_000, "lower skip"),
    ],
)
def test_texts_that_would_take_too_long_are_refused(metric: str, size: int, remedy: str) -> None:
    long = "word " * size
    texts = Texts(None, {"t7": long}, {"bart": {"t7": long}})
    with pytest.raises(RankgaugeError, match=rf"the output of bart for text 't7' .*{remedy}"):
        parse_metric(metric).score_each(texts.candidates())


def test_long_texts_that_are_not_refused_are_compared() -> None:
    generator = np.random.default_rng(9)
    a, b = (" ".join(map(str, generator.integers(0, 3000, 100_000))) for _ in range(2))
    for metric in ("rouge1", "rouge2", "rougeS(skip=2)"):
        assert 0 < score(metric, a, b) < 1


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes some packages impossible to import."""

    def hide(*names: str) -> None:
        def imported(name: str) -> object:
            if name.partition(".")[0] in names:
                raise ImportError(f"No module named {name!r}")
            return importlib.import_module(name)

        monkeypatch.setattr(rouge_library, "importlib", SimpleNamespace(import_module=imported))

    rouge_library.package.cache_clear()
    monkeypatch.setattr(rouge_library, "package", rouge_library.package.__wrapped__)
    return hide


@pytest.mark.parametrize("stem", [False, True])
def test_rouge_score_serves_where_rouge_score_rs_is_missing(
    no_package: Callable[..., None], stem: bool
) -> None:
    pytest.importorskip("rouge_score")
    texts = Texts(None, [["the cats sat\nhere", "a cat"]], {"s": ["a cat sitting here"]})
    metrics = [parse_metric(name)(stem=stem) for name in LIBRARY]
    fast = [metric.score_each(texts.candidates()) for metric in metrics]
    no_package("rouge_score_rs")
    slow = [metric.score_each(texts.candidates()) for metric in metrics]
    np.testing.assert_array_equal(fast, slow)
    notes = [str(note) for note in metrics[0].remarks(texts.candidates())]
    assert any("rouge-score-rs is not installed" in note for note in notes)
    long = "word " * 11_000
    with pytest.raises(RankgaugeError, match="expected at most 100,000,000"):
        score("rougeL", long, long)
    plain = parse_metric("rougeW").remarks(texts.candidates())
    assert not any("rouge-score-rs" in str(note) for note in plain)


def test_without_either_package_the_message_says_what_to_install(
    no_package: Callable[..., None],
) -> None:
    no_package("rouge_score_rs", "rouge_score")
    with pytest.raises(RankgaugeError, match="run pip install rouge-score-rs"):
        score("rouge1", "a", "a")
    assert score("rougeW", "a", "a") == 1


def test_notes_count_texts_without_words() -> None:
    texts = Texts(None, ["שלום", "words"], {"s": ["hello", "你好"], "t": ["", "words"]})
    notes = [str(note) for note in parse_metric("rouge1").remarks(texts.candidates())]
    assert notes == [
        "outputs without a word: 1. ROUGE recognizes only the letters a to z and digits, so "
        "such an output gets 0",
        "references without a word: 1. ROUGE recognizes only the letters a to z and digits, so "
        "every output, compared with such a reference, gets 0",
        "WARNING: 1 text with a reference mostly in another script: only the letters a to z and digits "
        "count as words, so the scores mean little",
    ]
    blank = Texts(None, [["words", ""]], {"s": ["words"]}).candidates()
    assert "references without a word: 1" in str(parse_metric("rouge1").remarks(blank)[0])
    plain = Texts(None, ["words"], {"s": [""]}).candidates()
    assert parse_metric("rouge1").remarks(plain) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rougeS(skip=-1)", "a whole number from 0, or unlimited"),
        ("rougeS(skip=far)", "a whole number from 0, or unlimited"),
        ("rougeW(weight=0.5)", "a number from 1 to 10"),
        ("rouge1(part=g)", "one of f, precision, recall"),
        ("rouge1(references=min)", "one of mean, max, pooled, first"),
        ("rouge1@3", "cutoff"),
    ],
)
def test_wrong_parameters_are_refused(text: str, expected: str) -> None:
    with pytest.raises(MeasureError, match=expected):
        parse_metric(text)

"""What is drawn at random in place of what a system wrote."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.text import Metric, Null, Texts, chance, metric, parse_metric, register_null
from rankgauge.text.data.texts import DrawnTexts, Draws
from rankgauge.text.tokens import source_words, word_counts, words_of

SOURCES = [
    "The cat sat on the mat, and the dog sat by the door. It rained all day! Why? Nobody knows.",
    "Rates rose by 3.5 percent in 2021 after banks lent more to small firms.\nThey fell in 2022.",
    "A rose is a rose is a rose.",
]
REFERENCES = [["The cat sat.", "It rained."], ["Rates rose in 2021 and fell in 2022."], ["a rose"]]
OUTPUTS = {
    "one": ["cat", "Rates rose by 3.5 percent.", "a rose is"],
    "two": ["the dog sat by the door", "", "rose rose rose rose rose"],
}
NULLS = [
    Null(error=0.02),
    Null(error=0.02, length="candidate"),
    Null(draws=7, per="candidate"),
    Null(draws=30, null="sentences"),
    Null(error=0.05, null="sentences", length=9),
]


def texts(chosen: list[int] | None = None, systems: tuple[str, ...] = ("one", "two")) -> Texts:
    chosen = [0, 1, 2] if chosen is None else chosen
    return Texts(
        [SOURCES[i] for i in chosen],
        [REFERENCES[i] for i in chosen],
        {system: [OUTPUTS[system][i] for i in chosen] for system in systems},
        ids=chosen,
    )


@pytest.mark.parametrize(
    "null", NULLS, ids=lambda null: "-".join(null._format_parameters(python=False))
)
@pytest.mark.parametrize("name", ["rougeL", "rougeLsum", "rougeW", "rouge1(references=max)"])
def test_chance_does_not_depend_on_other_texts_systems_or_blocks(
    name: str, null: Null, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = parse_metric(name)

    def means(these: Texts) -> dict[tuple[str, str], float]:
        values = metric.expected_each(these.candidates(), null).values.reshape(-1, len(these))
        spread = metric.spread_each(these.candidates(), null).reshape(-1, len(these))
        return {
            (system, name): (float(values[row, column]), float(spread[row, column]))
            for row, system in enumerate(these.systems)
            for column, name in enumerate(these.ids)
        }

    whole = means(texts())
    for part in (texts([2, 0]), texts([1]), texts(systems=("two",)), texts([0, 2], ("two", "one"))):
        alone = means(part)
        assert alone == {key: whole[key] for key in alone}  # to the last bit
    monkeypatch.setattr(chance, "BLOCK", 1)
    assert means(texts()) == whole


def test_chance_depends_on_the_seed() -> None:
    metric = parse_metric("rougeL")
    a, b, c = (
        metric.expected_each(texts().candidates(), Null(draws=5, seed=seed)).values
        for seed in (1, 2, 1)
    )
    assert (a != b).any()
    assert (a == c).all()


def test_an_own_null_that_fails_is_named() -> None:
    register_null("broken", lambda source, words, generator: 1 / 0)
    with pytest.raises(
        RankgaugeError, match=r"the null broken fails on text '.*': ZeroDivisionError"
    ):
        parse_metric("expected(rouge1,null=broken)").score_each(texts().candidates())


def test_chance_of_an_own_metric_is_of_whole_words() -> None:
    seen: list[str] = []

    def remember(words: str, references: tuple[str, ...], source: str) -> float:
        seen.append(words)
        return 0.5

    own = metric(remember, name="remember_words", ideal=1.0)
    these = Texts(["Die Straße in Köln, don't"], ["Köln"], {"s": ["Köln"]})
    own.expected_each(these.candidates(), Null(draws=50, length=3))
    assert {word for text in seen for word in text.split()} == {
        "Die",
        "Straße",
        "in",
        "Köln,",
        "don't",
    }


@pytest.mark.parametrize("error", [0.05, 0.01])
def test_as_many_texts_are_drawn_as_the_error_asks_for(error: float) -> None:
    mean = parse_metric("rougeL").expected_each(texts().candidates(), Null(error=error))
    assert (mean.errors <= error * 1.1).all()
    assert (mean.samples >= chance.INITIAL_DRAWS).all()
    assert mean.samples.max() < 100 * (0.5 / error) ** 2


class Remembering(Metric):
    """Remembers how many texts it was given at a time."""

    name = "remembering"
    seen: ClassVar[list[int]] = []

    def _score(self, candidates):
        self.seen.append(int(word_counts(candidates.outputs, self.split).sum()))
        return np.zeros(len(candidates))


def test_few_words_are_drawn_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance, "BLOCK", 1_000)
    monkeypatch.setattr(chance, "LONG_CHUNK", 400)
    Remembering.seen.clear()
    Remembering().expected_each(texts().candidates(), Null(draws=50, length=100))
    assert max(Remembering.seen) <= 1_000
    assert sum(Remembering.seen) == 3 * 50 * 100


def test_words_are_drawn_with_replacement_from_the_source() -> None:
    """A source may be shorter than what is drawn."""
    generator = np.random.default_rng(0)
    these = texts()
    draws = Draws(these, np.array([2]), np.array([40]), np.array([200]), [generator])
    drawn = draws.units(lambda text: len(source_words(these, text)))
    assert isinstance(drawn, DrawnTexts)
    candidates = drawn.candidates(lambda text: source_words(these, text))
    assert word_counts(candidates.outputs).tolist() == [40] * 200
    every = [word for text in candidates.outputs for word in text.split()]
    share = every.count("rose") / len(every)
    assert share == pytest.approx(3 / 8, abs=4 * np.sqrt(3 / 8 * 5 / 8 / 8000))
    assert set(every) == {"a", "rose", "is"}


def test_sentences_are_drawn_once_each_and_the_last_is_cut() -> None:
    sentences = [("One two.", 2), ("Three, four five!", 3), ("Six", 1)]
    for seed in range(20):
        for length in range(1, 9):
            text = chance._draw_sentences(sentences, length, np.random.default_rng(seed))
            assert len(words_of(text)) == min(length, 6)
            assert len(set(words_of(text))) == len(words_of(text))
            parts = text.split("\n")
            known = [sentence for sentence, _ in sentences]
            assert all(part in known for part in parts[:-1])
            assert any(sentence.startswith(parts[-1]) for sentence in known)


def test_a_null_of_ones_own() -> None:
    register_null("lead", lambda source, words, generator: " ".join(source.split()[:words]))
    register_null("broken", lambda source, words, generator: None)
    metric = parse_metric("expected(rougeL,null=lead,length=3,draws=1)")
    assert parse_metric(str(metric)) == metric
    lead = Texts(None, REFERENCES, {"lead": ["The cat sat", "Rates rose by", "A rose is"]})
    right = parse_metric("rougeL").score_each(lead.candidates())
    assert metric.score_each(texts(systems=("one",)).candidates()).tolist() == right.tolist()
    with pytest.raises(RankgaugeError, match="the null broken drew None, expected text"):
        parse_metric("expected(rougeL,null=broken)").score_each(texts().candidates())
    with pytest.raises(MeasureError, match="words"):
        register_null("words", lambda source, words, generator: "")


def test_lengths() -> None:
    these = texts()
    assert parse_metric("rouge1").lengths(these).tolist() == [2, 8, 2]
    assert parse_metric("rouge1(references=first)").lengths(these).tolist() == [3, 8, 2]
    for wrong in (0, -3, "long", 10**6):
        with pytest.raises(MeasureError, match="reference, candidate, or a number of words"):
            Null(length=wrong)

"""What chance gets by BERTScore: formulas against enumeration, draws, and numbers worked by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.text import Null, Texts, parse_metric, use_encoder
from rankgauge.text.data.texts import DrawnTexts, Draws
from rankgauge.text.metrics import bertscore_chance
from rankgauge.text.metrics.bertscore import FEWEST_TOKENS
from rankgauge.text.metrics.bertscore_chance import (
    document_similarity,
    draw_tokens,
    expected_precision,
    expected_recall,
    ranked_tokens,
    score_drawn_tokens,
)
from rankgauge.text.metrics.embedding import embedding_store, unit_vectors
from rankgauge.text.metrics.matching import (
    References,
    drawable_places,
    match_tokens,
    reference_vectors,
)
from stand_in_encoder import FIRST, LAST, StandIn

TEXTS = Texts(
    [
        "The cat sat on the mat, and the dog sat by the door. It rained all day, and nobody came.",
        "Rates rose by 3.5 percent in 2021, after banks lent more to small firms than in 2020.",
        " ".join(f"word{n % 37}" for n in range(150)),
    ],
    [
        ["The cat sat on the mat while it rained all day long.", "A cat and a dog sat by a door."],
        ["Rates rose in 2021 after banks lent more money to firms."],
        ["word1 word2 word3 nothing word5 else word7 word8 word9 word10 at all"],
    ],
    {"one": ["The cat sat by the door all day.", "Rates rose by 3.5 percent.", "word1 word2"]},
)


@pytest.fixture(autouse=True)
def encoder() -> Iterator[StandIn]:
    made = StandIn()
    use_encoder(made)
    yield made
    use_encoder(None)


def one_reference(tokens: int, weights: np.ndarray | None = None) -> References:
    plain = np.full(tokens, 1 / tokens)
    both = np.stack([plain, plain if weights is None else weights / weights.sum()])
    return References(np.array([0]), both, np.ones(1))


def test_three_tokens_by_hand() -> None:
    """Three source tokens and two reference tokens, two draws.

    The greatest of two draws from .1, .4, .7 is .1 in 1 of 9 cases, .4 in 3 and .7 in 5: 4.8/9. From
    .9, .3, .6: .3 + 3 · .6 + 5 · .9 = 6.6, so 6.6/9. Precision: the mean of .9, .4 and .7.
    """
    similarity = np.array([[0.1, 0.9], [0.4, 0.3], [0.7, 0.6]])
    two = np.array([2])
    recall = expected_recall(similarity, one_reference(2), two)
    assert recall[0, 0, 0] == pytest.approx((4.8 + 6.6) / 18)
    best = similarity.max(axis=1, keepdims=True)
    assert expected_precision(best, np.ones(3), two)[0, 0] == pytest.approx(2 / 3)
    # With weights 0, 1, 3 the nine draws have .9, .4, .7; .4, .4, .625; .7, .625, .7.
    weighted = expected_precision(best, np.array([0.0, 1.0, 3.0]), two)[0, 0]
    assert weighted == pytest.approx((0.9 + 0.4 + 0.7 + 0.4 + 0.4 + 0.625 + 0.7 + 0.625 + 0.7) / 9)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.randoms(use_true_random=False))
@examples(60)
def test_formulas_equal_all_draws(source: int, reference: int, drawn: int, random) -> None:
    number = np.random.default_rng(random.randrange(2**32))
    similarity = number.uniform(-0.3, 1, (source, reference))
    idf = number.choice([0.0, 0.01, 0.5, 4.0], source)
    weights = np.stack([np.ones(source), idf])
    references = one_reference(reference, number.uniform(0.1, 2, reference))
    every = [
        match_tokens(similarity[list(each)], weights[:, list(each)], references)
        for each in itertools.product(range(source), repeat=drawn)
    ]
    right = np.mean(every, axis=0)
    length, best = np.array([drawn]), similarity.max(axis=1, keepdims=True)
    for weighting in (0, 1):
        ours = expected_precision(best, weights[weighting], length)[0]
        assert ours == pytest.approx(right[0, weighting], abs=1e-10)
    ours = expected_recall(similarity, references, length)
    assert ours[:, 0, 0] == pytest.approx(right[1, :, 0], abs=1e-12)


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(1, 800), st.booleans(), st.data())
@examples(60)
def test_drawn_texts_are_matched_as_each_alone(
    lengths: list[int], cells: int, first: bool, data: st.DataObject
) -> None:
    """Whatever number of similarities is held at a time."""
    store = embedding_store(TEXTS, StandIn())
    number = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    of = np.sort(number.integers(0, len(TEXTS), len(lengths)))
    places = [
        number.integers(0, len(drawable_places(store, text)), length)
        for text, length in zip(of.tolist(), lengths, strict=True)
    ]
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    drawn = DrawnTexts(TEXTS, np.concatenate([*places, np.zeros(0, dtype=np.int64)]), offsets, of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bertscore_chance, "CELLS", cells)
        ours = score_drawn_tokens(store, drawn, first, 5)
    alone = [np.zeros((2, 2, 0))]
    for text, chosen in zip(of.tolist(), places, strict=True):
        known = drawable_places(store, text)
        theirs = reference_vectors(store, text, first, (5,))[5]
        similarity = unit_vectors(store.source(text, (5,))[5][known]) @ theirs.T
        weights = store.weights(first).both(store.sources[text][known])
        references = References.of(store, text, first)
        alone.append(match_tokens(similarity[chosen], weights[:, chosen], references))
    assert ours == pytest.approx(np.concatenate(alone, axis=2), abs=1e-6)


@pytest.mark.parametrize("length", ["reference", "candidate", 40])
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("part", ["precision", "recall"])
def test_formulas_are_within_four_errors_of_2000_draws(part: str, idf: bool, length) -> None:
    metric = parse_metric("bertscore")(part=part, idf=idf)
    exact = metric.expected_each(TEXTS.candidates(), Null(length=length))
    drawn = metric.expected_each(TEXTS.candidates(), Null(length=length, draws=2000))
    assert (exact.samples == 0).all()
    assert (np.abs(exact.values - drawn.values) <= 4 * drawn.errors).all()


def test_f_is_close_to_the_mean_of_draws_and_short_texts_are_drawn() -> None:
    metric = parse_metric("bertscore")
    near = metric.expected_each(TEXTS.candidates(), Null())
    drawn = metric.expected_each(TEXTS.candidates(), Null(draws=2000))
    assert (near.samples == 0).all()
    assert near.values == pytest.approx(drawn.values, abs=0.008)
    short = metric.expected_each(TEXTS.candidates(), Null(length=FEWEST_TOKENS - 1))
    assert (short.samples > 0).all()
    notes = parse_metric("v2(bertscore)").remarks(TEXTS.candidates())
    assert any(str(note).endswith("within .01 of the expected F on SummEval") for note in notes)
    assert any("longer than 64 tokens, encoded in overlapping windows" in str(n) for n in notes)


def test_notes_say_where_chance_is_a_formula_and_where_it_is_drawn() -> None:
    long, short = ("one two three four five six seven eight nine ten eleven", "one two three")
    source = f"{long} and other words"
    for references, said in (
        ([long, long], ["within .01 of the expected F on SummEval"]),
        ([long, short], ["If a random text has fewer than 10 tokens, chance is estimated"]),
        ([short, short], []),
    ):
        texts = Texts([source] * 2, references, {"x": ["two words"] * 2})
        notes = parse_metric("v2(bertscore)").remarks(texts.candidates())
        formulas = [str(n) for n in notes if "expected F" in str(n)]
        assert len(formulas) == len(said)
        assert all(map(str.endswith, formulas, said))
        assert any("estimated from up to" in str(n) for n in notes) == (short in references)


def test_chance_is_counted_in_tokens() -> None:
    metric = parse_metric("bertscore")
    assert metric._reference_units(TEXTS).tolist() == [12, 12, 12]
    assert metric._candidate_units(TEXTS.candidates()).tolist() == [9, 8, 2]


def test_the_highest_of_several_references_is_drawn() -> None:
    metric = parse_metric("bertscore(references=max,part=recall)")
    mean = metric.expected_each(TEXTS.candidates(), Null())
    assert (mean.samples > 0).tolist() == [True, False, False]
    each = [
        parse_metric("bertscore(part=recall,references=first)")
        .expected_each(
            Texts(TEXTS.sources[:1], [[text]], {"x": [""]}).candidates(), Null(length=11)
        )
        .values[0]
        for text in TEXTS.references[0]
    ]
    assert mean.values[0] >= max(each) - 4 * mean.errors[0]


def test_algorithm_1_takes_the_most_or_the_least_similar_tokens(encoder: StandIn) -> None:
    store = embedding_store(TEXTS, encoder)
    ids = store.sources[0][1:-1]
    vectors = encoder.vectors(store.sources[0], encoder.layers).astype(float)
    mean = vectors.mean(axis=0)
    by_hand = [v @ mean / np.linalg.norm(v) / np.linalg.norm(mean) for v in vectors[1:-1]]
    assert document_similarity(store, 0) == pytest.approx(by_hand, abs=1e-6)
    last = {}  # the last occurrence wins
    for token, similarity in zip(ids.tolist(), by_hand, strict=True):
        last[token] = similarity
    ranked = sorted(last, key=lambda token: -last[token])
    assert ranked_tokens(store, 0).tolist() == ranked
    one = Draws(TEXTS, np.array([0]), np.array([4]), np.array([1]), [np.random.default_rng(0)])
    most, least = (draw_tokens(store, null, one)[0].tolist() for null in ("similar", "dissimilar"))
    assert most == [FIRST, *ranked[:4], LAST]
    assert least == [FIRST, *ranked[::-1][:4], LAST]


@pytest.mark.parametrize("null", ["similar", "dissimilar"])
def test_a_null_that_is_not_random_is_exact_and_drawn_once(null: str, encoder: StandIn) -> None:
    metric = parse_metric("bertscore")
    mean = metric.expected_each(TEXTS.candidates(), Null(null=null))
    assert (mean.samples == 0).all()
    assert (metric.spread_each(TEXTS.candidates(), Null(null=null)) == 0).all()
    store = embedding_store(TEXTS, encoder)
    text = np.arange(3)
    lengths = metric._reference_units(TEXTS)
    draws = Draws(TEXTS, text, lengths, text * 0 + 1, [np.random.default_rng(0)] * 3)
    tokens = draw_tokens(store, null, draws)
    assert [len(ids) - 2 for ids in tokens] == [12, 12, 12]


def test_random_tokens_are_encoded_anew(encoder: StandIn) -> None:
    """Each token loses the context that it had in the source, so both nulls differ."""
    metric = parse_metric("bertscore(part=precision)")
    anew = metric.expected_each(TEXTS.candidates(), Null(null="tokens", draws=200))
    kept = metric.expected_each(TEXTS.candidates(), Null(draws=200))
    assert (anew.errors > 0).all()
    assert (anew.values != kept.values).all()
    again = metric.expected_each(TEXTS.candidates(), Null(null="tokens", draws=200))
    assert anew.values.tolist() == again.values.tolist()

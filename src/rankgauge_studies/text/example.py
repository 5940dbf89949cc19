"""The example of Figure 8.1: how similar each token of a reference is to each token of an output."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankgauge.extending import Floats
from rankgauge.text import Texts, words_of
from rankgauge.text.encoders import current_encoder
from rankgauge.text.encoders.windows import truncate_tokens
from rankgauge.text.metrics.embedding import tokens_of, unit_vectors
from rankgauge.text.tokens import SENTENCE_END, first_words

MOST_TOKENS, MOST_WORDS, FEWEST_WORDS = 15, 10, 4
"""Number of tokens and words of a text shown, few enough to keep every token legible."""


class TokenExample(NamedTuple):
    """The first words of a reference and of an output, token by token.

    `similarity` is token of the reference × token of the output: the cosines of their vectors. The
    special tokens first and last are left out.
    """

    text: str
    system: str
    layer: int
    reference: list[str]
    output: list[str]
    similarity: Floats

    @property
    def recall(self) -> float:
        """R_BERT, Equation 3.6: the mean over the tokens of the reference of their greatest cosine."""
        return float(self.similarity.max(axis=1).mean())


def token_example(texts: Texts, layer: int) -> TokenExample | None:
    """Return the example for one output, by the current encoder.

    The result is None where the encoder cannot name its tokens, or where every output is empty.
    """
    encoder: Any = current_encoder()
    chosen = _choose_output(texts)
    if chosen is None or not hasattr(encoder, "decode"):
        return None
    name, system, *both = chosen
    tokens = truncate_tokens(tokens_of(encoder, both), MOST_TOKENS + 2)
    vectors = [
        unit_vectors(each[0])[1:-1] for each in encoder.encode(tokens, [layer], truncate=True)
    ]
    names = [[encoder.decode(int(number)).strip() for number in ids[1:-1]] for ids in tokens]
    cosines = np.round(vectors[0] @ vectors[1].T, 12)
    return TokenExample(name, system, layer, names[0], names[1], cosines)


def _choose_output(texts: Texts) -> tuple[str, str, str, str] | None:
    """A text and a system, with the first words of the reference and of the output.

    Sentences that fit whole are taken if there are any, of an output that is not copied from the
    reference.
    """
    first = None
    for place, name in enumerate(texts.ids):
        reference = texts.references[place][0]
        for system, outputs in texts.outputs.items():
            both = [
                SENTENCE_END.split(text.strip())[0] for text in (reference, outputs[place] or "")
            ]
            sizes = [len(words_of(text)) for text in both]
            if not all(sizes):
                continue
            one, other = (first_words(text, MOST_WORDS) for text in both)
            first = first or (name, system, one, other)
            fits = all(FEWEST_WORDS <= size <= MOST_WORDS for size in sizes)
            if fits and words_of(one) != words_of(other):
                return name, system, one, other
    return first

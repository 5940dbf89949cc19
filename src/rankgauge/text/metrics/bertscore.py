"""BERTScore: how similar the tokens of two texts are, as an encoder sees them in their contexts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Flag, Integer, Number, QuotedText
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.parameters import parameter
from rankgauge.errors import RankgaugeError
from rankgauge.measures.base import ratio
from rankgauge.text.base import Metric
from rankgauge.text.chance import DISSIMILAR, SIMILAR, TOKENS, WORDS, Null
from rankgauge.text.data.texts import Candidates, DrawnTexts, Draws, Texts
from rankgauge.text.encoders.windows import truncate_tokens
from rankgauge.text.metrics.bertscore_chance import draw_tokens, expected_pairs, score_drawn_tokens
from rankgauge.text.metrics.embedding import (
    EmbeddingStore,
    current_encoder,
    embedding_store,
    tokens_of,
)
from rankgauge.text.metrics.matching import IDF, PLAIN, LayerPairs, drawable_places, score_tokens
from rankgauge.text.metrics.references import (
    FIRST,
    MAX,
    MEAN,
    PRECISION,
    RECALL,
    F,
    ReferenceGrid,
    first_lengths,
)
from rankgauge.text.registry import register

FEWEST_TOKENS = 10
"""Below this number of tokens, chance for F is estimated from drawn texts, not from the formula."""
PLUG_IN_NOTE = (
    "chance is computed as F of the expected precision and recall, which is within .01 of the "
    "expected F on SummEval"
)
SHORT_TEXT_NOTE = (
    f"{PLUG_IN_NOTE}. If a random text has fewer than {FEWEST_TOKENS} tokens, chance is estimated"
)


class BertScore(Metric):
    """BERTScore, the number of the package bert-score.

    Each token of the output is matched with the most similar token of the reference, by the cosine of
    their vectors; the mean is the precision. Each token of the reference is matched with the most
    similar token of the output; the mean is the recall. F is their harmonic mean. The special tokens
    first and last can be matched, but do not count in the means. Outputs and references that are longer
    than the encoder allows are cut.

    The range is 0 to 1, as users of BERTScore and Feng's dissertation have it, so that v1 and v2 exist.
    A cosine can be below 0, but no encoder in use gives such a mean. If one does, the score is 0, and a
    note counts how often. With `baseline`, 0 is where the baseline is, and the range starts below it.
    """

    name = "bertscore"
    summary = (
        "BERTScore: the similarity of the tokens of output and reference, according to an encoder."
    )
    formula = (
        "precision = mean over output tokens of the greatest cosine with a reference token; "
        "recall = the same with the two swapped; F = 2PR/(P + R)"
    )
    source = "Zhang et al. 2020, BERTScore: evaluating text generation with BERT, ICLR"
    examples = (
        "bertscore",
        "bertscore(layer=4,idf=true)",
        "bertscore(part=recall,references=max)",
        "bertscore(baseline=0.3)",
    )
    nulls: ClassVar[Mapping[str, bool]] = {TOKENS: True, SIMILAR: False, DISSIMILAR: False}
    in_context = True

    layer: int = parameter(
        Integer(0, 1000),
        "the layer of the encoder whose vectors are compared. The best layer depends on the "
        "encoder; bert-score recommends one per model, such as 9 for bert-base-uncased and 17 "
        "for roberta-large",
        default=5,
    )
    idf: bool = parameter(
        Flag(),
        "whether rare tokens count more: a token in n of all N references has the weight "
        "log((N + 1)/(n + 1))",
        default=False,
    )
    part: str = parameter(
        Choice((F, PRECISION, RECALL)),
        "f: the harmonic mean of precision and recall; precision: over the tokens of the "
        "output; recall: over the tokens of the reference",
        default=F,
    )
    references: str = parameter(
        Choice((MEAN, MAX, FIRST)),
        "with several references: the mean score, the highest score (as in bert-score), or "
        "the score for the first reference",
        default=MEAN,
    )
    baseline: float | None = parameter(
        Number(-1, 1, closed=False, example=0.3),
        "the score that is rescaled to 0: the result is (x − baseline)/(1 − baseline)",
        default=None,
    )
    encoder: str | None = parameter(
        QuotedText(),
        "the digest of the encoder, as shown in signatures; using another encoder is then an "
        "error. Choose the folder of the encoder with --encoder or the environment variable "
        "RANKGAUGE_ENCODER",
        default=None,
    )

    # What it is

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self._rescale(np.zeros(1))[0]), 1.0

    @property
    def by_encoder(self) -> bool:
        return True

    @property
    def alone(self) -> bool:
        return not self.idf

    @property
    def family(self) -> Hashable:
        return type(self), self.encoder

    def _store(self, texts: Texts) -> EmbeddingStore:
        encoder = current_encoder()
        if self.encoder is not None and self.encoder != encoder.digest:
            raise RankgaugeError(
                f"{self}: the encoder in use has the digest {encoder.digest}, expected "
                f"{self.encoder}; choose that encoder, or omit the parameter encoder"
            )
        return embedding_store(texts, encoder)

    @property
    def _first_only(self) -> bool:
        return self.references == FIRST

    # Units: tokens

    def lengths(self, texts: Texts) -> Ints:
        return first_lengths(texts) if self._first_only else super().lengths(texts)

    def _reference_units(self, texts: Texts) -> Ints:
        store = self._store(texts)
        chosen = slice(0, 1) if self._first_only else slice(None)
        counts = [
            np.mean([store.is_counted(ids).sum() for ids in each[chosen]])
            for each in store.references
        ]
        return np.array([max(1, round(float(count))) for count in counts], dtype=np.int64)

    def _candidate_units(self, candidates: Candidates) -> Ints:
        store = self._store(candidates.texts)
        counts = [store.is_counted(ids).sum() for ids in _tokens(candidates, store)]
        return np.array(counts, dtype=np.int64)

    def _source_units(self, texts: Texts, text: int) -> int:
        return len(drawable_places(self._store(texts), text))

    # Scores

    @classmethod
    def expect(cls, candidates: Candidates, metrics: Sequence[Metric]) -> None:
        every = [metric for metric in metrics if isinstance(metric, BertScore)]
        store = every[0]._store(candidates.texts)
        for metric in every:
            store.request_layer(metric.layer)

    def _score(self, candidates: Candidates) -> Floats:
        pairs = self._pairs(candidates)
        return self._combine(candidates.texts, candidates.of, pairs)

    def _pairs(self, candidates: Candidates) -> Floats:
        """Precision and recall with each reference."""
        store = self._store(candidates.texts)
        known: LayerPairs = candidates.once((store.encoder.digest, self._first_only), dict)

        def score_layers(layers: Sequence[int]) -> LayerPairs:
            tokens = _tokens(candidates, store)
            return score_tokens(store, candidates.of, tokens, self._first_only, layers)

        return self._pairs_of_layer(store, known, score_layers)

    def _pairs_of_layer(
        self,
        store: EmbeddingStore,
        known: LayerPairs,
        compute: Callable[[Sequence[int]], LayerPairs],
    ) -> Floats:
        """The pairs of this layer, computed together with the other layers that were asked for."""
        layers = store.request_layer(self.layer)
        if self.layer not in known:
            known.update(compute([layer for layer in layers if layer not in known]))
        return known[self.layer]

    def _combine(self, texts: Texts, of: Ints, pairs: Floats) -> Floats:
        """The score of each text, from its precision and recall with each reference."""
        grid = ReferenceGrid.of(texts, of, self._first_only)
        return grid.combine(self._rescale(np.maximum(self._part(pairs), 0.0)), self.references)

    def _part(self, pairs: Floats) -> Floats:
        precision, recall = pairs[:, IDF if self.idf else PLAIN]
        if self.part != F:
            return np.asarray(precision if self.part == PRECISION else recall)
        # A harmonic mean is one of positive numbers.
        product = np.where(np.minimum(precision, recall) <= 0, 0.0, precision * recall)
        return np.where(
            np.isnan(precision), np.nan, ratio(2 * product, np.nan_to_num(precision + recall))
        )

    def _rescale(self, score: Floats) -> Floats:
        if self.baseline is None:
            return score
        return (score - self.baseline) / (1 - self.baseline)

    # What chance gets

    def _expected(self, texts: Texts, text: Ints, length: Ints) -> Floats | None:
        store = self._store(texts)
        key = "expected", text.tobytes(), length.tobytes(), self._first_only
        compute = partial(expected_pairs, store, text, length, self._first_only)
        pairs = self._pairs_of_layer(store, store.known.setdefault(key, {}), compute)
        values = self._combine(texts, text, pairs)
        # Without a formula: the highest of several references, and F of a few tokens.
        several = np.array([len(each) > 1 for each in texts.references], dtype=np.bool_)
        drawn = several[text] & (self.references == MAX)
        drawn |= (length < FEWEST_TOKENS) & (self.part == F)
        return np.where(drawn, np.nan, values)

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        pairs = score_drawn_tokens(self._store(drawn.texts), drawn, self._first_only, self.layer)
        return self._combine(drawn.texts, drawn.of, pairs)

    def _score_null(self, null: str, draws: Draws) -> Floats:
        store = self._store(draws.texts)

        def score_layers(layers: Sequence[int]) -> LayerPairs:
            tokens = draw_tokens(store, null, draws)
            return score_tokens(store, draws.of, tokens, self._first_only, layers)

        if self.nulls[null]:
            store.request_layer(self.layer)
            pairs = score_layers([self.layer])[self.layer]
        else:
            # Nothing is random here, so all layers share the encoding, and later calls the scores.
            numbers = (each.tobytes() for each in (draws.text, draws.length, draws.count))
            known = store.known.setdefault((null, *numbers, self._first_only), {})
            pairs = self._pairs_of_layer(store, known, score_layers)
        return self._combine(draws.texts, draws.of, pairs)

    # Notes

    def remarks(self, candidates: Candidates) -> list[Note]:
        store = self._store(candidates.texts)
        encoder = store.encoder
        about = (
            f"the encoder is {encoder.digest}, the digest of its files; it has "
            f"{count_phrase(encoder.layers, 'layer')}"
        )
        notes = [Note(about)]
        if empty := int((self._candidate_units(candidates) == 0).sum()):
            kind = f"outputs without tokens: {{count}}. Such an output scores {self.range[0]:.4g}"
            notes.append(Note(kind, count=empty))
        if long := sum(len(ids) > encoder.longest for ids in _all_tokens(candidates, store)):
            kind = f"outputs truncated to {encoder.longest} tokens: {{count}}"
            notes.append(Note(kind, count=long))
        if below := int((self._part(self._pairs(candidates)) < 0).sum()):
            kind = "negative scores, counted as 0: {count}"
            notes.append(Note(kind, measure=str(self), count=below))
        return notes

    def chance_remarks(self, candidates: Candidates, null: Null) -> list[Note]:
        store = self._store(candidates.texts)
        notes = []
        longest = store.encoder.longest
        encoded = null.null in (WORDS, *self.nulls)
        if encoded and (long := sum(len(ids) > longest for ids in store.sources)):
            kind = (
                f"sources longer than {longest} tokens, encoded in overlapping windows: {{count}}"
            )
            notes.append(Note(kind, count=long))
        if self.part == F and null.null == WORDS and null.draws is None:
            drawn = self.expected_each(candidates, null).samples > 0
            if not drawn.all():
                notes.append(
                    Note(SHORT_TEXT_NOTE if drawn.any() else PLUG_IN_NOTE, measure=str(self))
                )
        return notes


def _all_tokens(candidates: Candidates, store: EmbeddingStore) -> list[Ints]:
    """The tokens of each candidate, however many."""
    key = "tokens", store.encoder.digest
    return candidates.once(key, lambda: tokens_of(store.encoder, candidates.outputs, cut=False))


def _tokens(candidates: Candidates, store: EmbeddingStore) -> list[Ints]:
    """The tokens of each candidate that are encoded."""
    return truncate_tokens(_all_tokens(candidates, store), store.encoder.longest)


bertscore = register(BertScore())

"""BERTScore: how similar the tokens of two texts are, as an encoder sees them in their contexts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Flag, Number, Quoted, Whole
from rankgauge.core.notes import Note, counted
from rankgauge.core.parameters import parameter
from rankgauge.errors import RankgaugeError
from rankgauge.measures.base import ratio
from rankgauge.text.base import Metric
from rankgauge.text.bert_chance import drawn_pairs, expected_pairs
from rankgauge.text.bert_nulls import summaries
from rankgauge.text.chance import DISSIMILAR, SIMILAR, TOKENS, WORDS, Null
from rankgauge.text.data.texts import Candidates, DrawnTexts, Texts
from rankgauge.text.embedding import (
    Embedded,
    current_encoder,
    cut_off,
    embedded,
    tokens_of,
)
from rankgauge.text.matching import IDF, PLAIN, drawn_from, scored_tokens
from rankgauge.text.registry import register
from rankgauge.text.rouge_family import FIRST, MAX, MEAN, PRECISION, RECALL, F
from rankgauge.text.rouge_words import ReferenceGrid
from rankgauge.text.tokens import reference_counts

FEWEST_TOKENS = 10
"""Chance by F with fewer tokens is drawn: there the formula is not close enough."""
PLUG_IN = (
    "chance is F of the expected precision and recall, which is close to the expected F: within .01 on "
    "SummEval"
)
SHORT_DRAWN = f"{PLUG_IN}. Where chance has fewer than {FEWEST_TOKENS} tokens, it is estimated"


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
    summary = "BERTScore: how similar the tokens of output and reference are, by an encoder."
    formula = (
        "precision = mean over output tokens of the greatest cosine with a reference token; recall = "
        "the same with both exchanged; F = 2PR/(P + R)"
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
        Whole(0, 1000),
        "the layer of the encoder whose vectors are compared. The best layer depends on the encoder; "
        "bert-score has one for each model, such as 9 for bert-base-uncased and 17 for roberta-large",
        default=5,
    )
    idf: bool = parameter(
        Flag(),
        "whether a token counts more the fewer references have it: log((N + 1)/(n + 1)) if n of all N "
        "references have it",
        default=False,
    )
    part: str = parameter(
        Choice((F, PRECISION, RECALL)),
        "f: the harmonic mean of precision and recall; precision: by the tokens of the output; recall: "
        "by the tokens of the reference",
        default=F,
    )
    references: str = parameter(
        Choice((MEAN, MAX, FIRST)),
        "of several references: the mean score, the highest score (as in bert-score), or the score by "
        "the first reference",
        default=MEAN,
    )
    baseline: float | None = parameter(
        Number(-1, 1, closed=False, example=0.3),
        "a score that becomes 0: the score is (x − baseline)/(1 − baseline)",
        default=None,
    )
    encoder: str | None = parameter(
        Quoted(),
        "the digest of the encoder, as signatures have it; another encoder is then an error. The folder "
        "of the encoder is chosen by --encoder, or by the environment variable RANKGAUGE_ENCODER",
        default=None,
    )

    # What it is

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self._rescaled(np.zeros(1))[0]), 1.0

    @property
    def by_encoder(self) -> bool:
        return True

    @property
    def alone(self) -> bool:
        return not self.idf

    @property
    def family(self) -> Hashable:
        return type(self), self.encoder

    def _store(self, texts: Texts) -> Embedded:
        encoder = current_encoder()
        if self.encoder is not None and self.encoder != encoder.digest:
            raise RankgaugeError(
                f"{self}: the encoder in use has the digest {encoder.digest}, expected {self.encoder}; "
                "choose that encoder, or leave out the parameter encoder"
            )
        return embedded(texts, encoder)

    @property
    def _first(self) -> bool:
        return self.references == FIRST

    # Units: tokens

    def lengths(self, texts: Texts) -> Ints:
        if not self._first:
            return super().lengths(texts)
        return np.array([max(1, int(each[0])) for each in reference_counts(texts)], dtype=np.int64)

    def _reference_units(self, texts: Texts) -> Ints:
        store = self._store(texts)
        weights = store.weights(self._first)
        chosen = slice(0, 1) if self._first else slice(None)
        counts = [
            np.mean([weights.counted(ids).sum() for ids in each[chosen]])
            for each in store.references
        ]
        return np.array([max(1, round(float(count))) for count in counts], dtype=np.int64)

    def _candidate_units(self, candidates: Candidates) -> Ints:
        store = self._store(candidates.texts)
        special = store.special
        counts = [(~np.isin(ids, special)).sum() for ids in _tokens(candidates, store)]
        return np.array(counts, dtype=np.int64)

    def _source_units(self, texts: Texts, text: int) -> int:
        return len(drawn_from(self._store(texts), text))

    # Scores

    @classmethod
    def expect(cls, candidates: Candidates, metrics: Sequence[Metric]) -> None:
        every = [metric for metric in metrics if isinstance(metric, BertScore)]
        store = every[0]._store(candidates.texts)
        for metric in every:
            store.wanted(metric.layer)

    def _score(self, candidates: Candidates) -> Floats:
        pairs = self._pairs(candidates)
        return self._combined(candidates.texts, candidates.of, pairs)

    def _pairs(self, candidates: Candidates) -> Floats:
        """Precision and recall with each reference, computed for all layers that were asked for."""
        store = self._store(candidates.texts)
        layers = store.wanted(self.layer)
        known: dict[int, Floats] = candidates.once((store.encoder.digest, self._first), dict)
        if self.layer not in known:
            missing = [layer for layer in layers if layer not in known]
            tokens = _tokens(candidates, store)
            known.update(scored_tokens(store, candidates.of, tokens, self._first, missing))
        return known[self.layer]

    def _combined(self, texts: Texts, of: Ints, pairs: Floats) -> Floats:
        """The score of each text, from its precision and recall with each reference."""
        grid = ReferenceGrid.of(texts, of, self._first)
        if not len(of):
            return np.zeros(0)
        each = self._rescaled(np.maximum(self._part(pairs), 0.0))
        if self.references == MAX:
            highest: Floats = np.maximum.reduceat(each, grid.starts)
            return highest
        total: Floats = np.add.reduceat(each, grid.starts)
        return total / np.bincount(grid.row, minlength=len(of))

    def _part(self, pairs: Floats) -> Floats:
        weighting = IDF if self.idf else PLAIN
        precision: Floats = pairs[0, weighting]
        recall: Floats = pairs[1, weighting]
        if self.part == PRECISION:
            return precision
        if self.part == RECALL:
            return recall
        # A harmonic mean is one of positive numbers.
        product = np.where(np.minimum(precision, recall) <= 0, 0.0, precision * recall)
        return np.where(
            np.isnan(precision), np.nan, ratio(2 * product, np.nan_to_num(precision + recall))
        )

    def _rescaled(self, score: Floats) -> Floats:
        if self.baseline is None:
            return score
        return (score - self.baseline) / (1 - self.baseline)

    # What chance gets

    def _expected(self, texts: Texts, text: Ints, length: Ints) -> Floats | None:
        store = self._store(texts)
        layers = store.wanted(self.layer)
        key = "expected", text.tobytes(), length.tobytes(), self._first
        known: dict[int, Floats] = store.known.setdefault(key, {})
        if self.layer not in known:
            missing = [layer for layer in layers if layer not in known]
            known.update(expected_pairs(store, text, length, self._first, missing))
        values = self._combined(texts, text, known[self.layer])
        # Without a formula: the highest of several references, and F of a few tokens.
        several = np.array([len(each) > 1 for each in texts.references], dtype=np.bool_)
        drawn = several[text] if self.references == MAX else np.zeros(len(text), dtype=np.bool_)
        if self.part == F:
            drawn = drawn | (length < FEWEST_TOKENS)
        return np.where(drawn, np.nan, values)

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        pairs = drawn_pairs(self._store(drawn.texts), drawn, self._first, self.layer)
        return self._combined(drawn.texts, drawn.of, pairs)

    def _score_null(
        self,
        null: str,
        texts: Texts,
        text: Ints,
        length: Ints,
        count: Ints,
        generators: Sequence[np.random.Generator],
    ) -> Floats:
        store = self._store(texts)
        layers = store.wanted(self.layer)
        of = np.repeat(text, count)
        if self.nulls[null]:
            tokens = summaries(store, null, text, length, count, generators)
            pairs = scored_tokens(store, of, tokens, self._first, [self.layer])[self.layer]
            return self._combined(texts, of, pairs)
        # Nothing is random here, so all layers share the encoding, and later calls the scores.
        key = null, text.tobytes(), length.tobytes(), count.tobytes(), self._first
        known: dict[int, Floats] = store.known.setdefault(key, {})
        if self.layer not in known:
            missing = [layer for layer in layers if layer not in known]
            tokens = summaries(store, null, text, length, count, generators)
            known.update(scored_tokens(store, of, tokens, self._first, missing))
        return self._combined(texts, of, known[self.layer])

    # Notes

    def remarks(self, candidates: Candidates) -> list[Note]:
        store = self._store(candidates.texts)
        encoder = store.encoder
        notes = [
            Note(
                f"the encoder is {encoder.digest}, which is the digest of its files; it has "
                f"{counted(encoder.layers, 'layer')}"
            )
        ]
        empty = int((self._candidate_units(candidates) == 0).sum())
        if empty:
            lowest = f"{self.range[0]:.4g}"
            notes.append(
                Note(
                    f"outputs without a token: {{count}}. Such an output gets {lowest}", count=empty
                )
            )
        long = sum(len(ids) > encoder.longest for ids in _whole_tokens(candidates, store))
        if long:
            notes.append(
                Note(
                    f"outputs with more than {encoder.longest} tokens, which are cut: {{count}}",
                    count=long,
                )
            )
        below = int((self._part(self._pairs(candidates)) < 0).sum())
        if below:
            notes.append(
                Note(
                    "scores below 0, which are counted as 0: {count}",
                    measure=str(self),
                    count=below,
                )
            )
        return notes

    def chance_remarks(self, candidates: Candidates, null: Null) -> list[Note]:
        store = self._store(candidates.texts)
        notes = []
        if null.null in (WORDS, *self.nulls):
            longest = store.encoder.longest
            long = sum(len(ids) > longest for ids in store.sources)
            if long:
                notes.append(
                    Note(
                        f"sources with more than {longest} tokens, which are encoded in overlapping "
                        "windows: {count}",
                        count=long,
                    )
                )
        if self.part == F and null.null == WORDS and null.draws is None:
            drawn = self.expected_each(candidates, null).samples > 0
            if not drawn.all():
                notes.append(Note(SHORT_DRAWN if drawn.any() else PLUG_IN, measure=str(self)))
        return notes


def _whole_tokens(candidates: Candidates, store: Embedded) -> list[Ints]:
    """The tokens of each candidate, however many."""
    key = "tokens", store.encoder.digest
    return candidates.once(key, lambda: tokens_of(store.encoder, candidates.words, cut=False))


def _tokens(candidates: Candidates, store: Embedded) -> list[Ints]:
    """The tokens of each candidate that are encoded."""
    return cut_off(_whole_tokens(candidates, store), store.encoder.longest)


bertscore = register(BertScore())

"""The work of the study on one data set: scores, kinds of documents, attention, and what people say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from rankgauge import HumanCorrelation, InputError, Scores, human_correlation
from rankgauge.extending import Floats, OwnPath, Record, digest, read_sealed, write_sealed
from rankgauge.text import (
    HETEROGENEOUS,
    HOMOGENEOUS,
    DocumentKinds,
    Preferences,
    bertscore,
    document_kinds,
    scores_of_candidates,
    win_lose_tie,
)
from rankgauge.text.encoders import current_encoder
from rankgauge.text.human import Over, percentage_increase
from rankgauge.text.metrics.embedding import embedding_store, unit_vectors
from rankgauge.text.metrics.references import FIRST
from rankgauge_studies.text.example import TokenExample, token_example
from rankgauge_studies.text.protocol import (
    BERTSCORE_READINGS,
    CHANCE,
    ROUGE,
    ROUGE_READINGS,
    SCORE,
    VERSIONS,
    MetricLabel,
    RatedSummaries,
    TextProtocol,
    layer_name,
)

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor


EVERY_DOCUMENT = "all"
CORRELATION_LEVELS: tuple[Over, ...] = ("systems", "texts", "rows")
KINDS = (HETEROGENEOUS, HOMOGENEOUS)
KIND_CRITERIA = ("difference", "similarity")
_ROUGE_NAMES = {metric.name for metric in ROUGE}
READINGS = {reading.name: reading for reading in (*ROUGE_READINGS, *BERTSCORE_READINGS)}

Advance = Callable[[str], object]
V = TypeVar("V")


class Attention(Record):
    """How similar the tokens of each document of a kind are to the document.

    `mean` and `spread` are the mean and the standard deviation of the cosines of the tokens with
    the document. A token is the mean of the last layer's vectors, weighted by its attention.
    """

    mean: Floats
    spread: Floats


CorrelationScope: TypeAlias = tuple[str, str, str, Over]
"""The scope of correlations: which systems, which documents (for a kind, also which reading of it), and
over systems, texts or rows."""


class Change(Record):
    """By how much a form of a metric agrees better with people than the metric: τ-b by dimension."""

    base: Floats
    value: Floats
    drawn: Floats
    """Sample × dimension: the difference in samples of texts."""

    @property
    def difference(self) -> Floats:
        """By dimension."""
        return self.value - self.base

    @property
    def pai(self) -> Floats:
        """By dimension: the difference in percent of the metric's own number."""
        return percentage_increase(self.value, self.base)

    @property
    def mean(self) -> float:
        """The mean difference over the dimensions that have one."""
        return float(known_mean(self.difference))

    @property
    def sample_means(self) -> Floats:
        """The mean difference in samples of texts."""
        return known_mean(self.drawn)


def known_mean(values: Floats) -> Floats:
    """The mean over the last axis of the numbers that are known; NaN where none is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


class PreferenceResult(NamedTuple):
    """Whom people agree with where a metric and a form of it disagree."""

    systems: str
    label: MetricLabel
    result: Preferences


class DataSetResult(Record):
    """What was computed for a data set."""

    data: RatedSummaries
    labels: Mapping[str, MetricLabel]
    """The name, the reading of chance and the form of each metric, by its text."""
    scores: Scores
    kinds: DocumentKinds | None
    attention: Mapping[str, Attention]
    """By kind of document; empty if the encoder provides no attention."""
    correlated: Mapping[CorrelationScope, HumanCorrelation]
    """Empty without ratings."""
    preferred: tuple[PreferenceResult, ...]
    example: TokenExample | None = None
    """The content of Figure 8.1; None without an encoder that can name its tokens."""

    @property
    def name(self) -> str:
        """The name of the data set."""
        return self.data.name

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of what people rated."""
        return next((each.dimensions for each in self.correlated.values()), ())

    @property
    def bert(self) -> bool:
        """Whether there was an encoder for BERTScore."""
        return any(label.metric not in _ROUGE_NAMES for label in self.labels.values())

    def column(self, label: MetricLabel) -> Floats:
        """System × text: the numbers of a metric."""
        texts = [text for text, each in self.labels.items() if each == label]
        place = [str(each) for each in self.scores.measures].index(texts[0])
        return np.asarray(self.scores.values[:, :, place])

    def correlation(
        self,
        systems: str,
        documents: str = EVERY_DOCUMENT,
        kinds_by: str = "",
        over: Over = "systems",
    ) -> HumanCorrelation | None:
        """The correlations over these systems on these documents, if they were computed."""
        return self.correlated.get((systems, documents, kinds_by, over))

    def changes(
        self,
        metric: str,
        chance: str,
        systems: str,
        documents: str = EVERY_DOCUMENT,
        kinds_by: str = "",
        over: Over = "systems",
    ) -> dict[str, Change]:
        """The changes by V1 and by V2 with a reading of chance; empty if they were not computed."""
        result = self.correlation(systems, documents, kinds_by, over)
        known = () if result is None else result.metrics
        place = {self.labels[str(each)]: m for m, each in enumerate(known)}
        labels = [MetricLabel(metric, chance, form) for form in VERSIONS]
        if result is None or not place.keys() >= {*labels}:
            return {}
        base = place[MetricLabel(metric, "", SCORE)]
        values, drawn = result.values[0], result.samples[:, 0]
        return {
            label.form: Change(
                values[base], values[place[label]], drawn[:, place[label]] - drawn[:, base]
            )
            for label in labels
        }


REMEDY = "remove it to create it again"


class PartStore(Record):
    """A folder with the parts that are finished; nothing is kept without a folder."""

    folder: OwnPath | None

    def scores(self, data: RatedSummaries) -> Scores | None:
        """The scores that are finished; None if there are none, or if they are of other texts."""
        path = self._path(f"{data.name}.scores")
        if path is None or not path.exists():
            return None
        try:
            kept = Scores.load(path)
        except InputError as error:
            raise InputError(error.source, None, f"{error.message} ({REMEDY})") from None
        same = (kept.runs, kept.queries) == (data.texts.systems, data.texts.ids)
        return kept if same else None

    def keep(self, data: RatedSummaries, scores: Scores) -> None:
        """Keep the scores that are finished."""
        path = self._path(f"{data.name}.scores")
        if path is not None:
            path.parent.make()
            scores.save(path)

    def _path(self, name: str) -> OwnPath | None:
        return None if self.folder is None else self.folder / name

    def numbers(
        self, name: str, make: Callable[[], Mapping[str, Any]], read: Callable[[Any], V]
    ) -> V:
        """What `read` makes of lists of numbers, which are computed only if they are not there."""
        path = self._path(f"{name}.json")
        if path is not None and path.exists():
            kept = read_sealed(path, "a part of a study of texts", "rankgauge", REMEDY)
            with suppress(KeyError, TypeError, ValueError):  # of other sizes: made anew
                return read(kept)
        made = make()
        if path is not None:
            path.parent.make()
            write_sealed(path, made)
        return read(made)


def content_digest(data: RatedSummaries) -> str:
    """A digest of the texts, the ratings and the preferences of a data set, wherever its files are."""
    texts, ratings, votes = data.texts, data.ratings, data.preferences
    plain: list[Any] = [texts.ids, texts.sources, texts.references, list(texts.outputs.items())]
    values: list[Any] = []
    if ratings is not None:
        plain.append([str(each) for each in ratings.scores.measures])
        values += [ratings.scores.values, ratings.values, ratings.annotator]
    if votes is not None:
        plain.append([votes.systems, votes.texts])
        values += [votes.a, votes.b, votes.text, votes.votes]
    told = json.dumps(plain).encode("utf-8")
    return digest(b"".join([told, *(np.asarray(each).tobytes() for each in values)]), size=16).hex()


def count_steps(asked: TextProtocol, bert: bool = True) -> int:
    """How many pieces of work a data set is, with or without BERTScore."""
    return len(list(asked.parts(bert))) + 2


def examine(
    data: RatedSummaries,
    asked: TextProtocol,
    store: PartStore,
    executor: AnyExecutor | None = None,
    advance: Advance | None = None,
    bert: bool = True,
) -> DataSetResult:
    """All of the work on a data set, a part after the other; finished parts are taken from the store.

    `bert` is whether there is an encoder for BERTScore.
    """

    def report(what: str) -> None:
        if advance is not None:
            advance(f"{data.name}: {what}")

    labels: dict[str, MetricLabel] = {}
    candidates = data.texts.candidates()
    scores = store.scores(data)
    finished = set() if scores is None else set(map(str, scores.measures))
    for name, metrics in asked.parts(bert):
        own = {str(metric): label for metric, label in metrics.items()}
        labels |= own
        if scores is None or not own.keys() <= finished:
            part = scores_of_candidates(candidates, list(metrics), executor=executor)
            scores = part if scores is None else scores.joined(part)
            store.keep(data, scores)
        report(name)
    assert scores is not None
    kinds, attention = _kinds_and_attention(data, asked, store) if bert else (None, {})
    example = _example(data, asked, store) if bert else None
    report("kinds of documents")
    correlated = dict(_correlate_scores(data, asked, scores, labels, kinds))
    preferred = tuple(_compare_preferences(data, asked, scores, labels))
    report("agreement with human ratings")
    return DataSetResult(data, labels, scores, kinds, attention, correlated, preferred, example)


# Documents


def _kinds_and_attention(
    data: RatedSummaries, asked: TextProtocol, store: PartStore
) -> tuple[DocumentKinds | None, dict[str, Attention]]:
    count = data.kinds()
    if not count:
        return None, {}
    metric = replace(bertscore, references=FIRST)

    def make_kinds() -> dict[str, Any]:
        made = document_kinds(data.texts, metric=metric, layers=asked.layers, count=count)
        arrays = (made.best_to_worst, made.worst_to_best, made.similarity, made.spread)
        return {"ids": list(made.ids), "numbers": [each.tolist() for each in arrays]}

    def read_kinds(kept: Any) -> DocumentKinds:
        best, worst, similarity, spread = (np.array(each, dtype=float) for each in kept["numbers"])
        ids = tuple(kept["ids"])
        if best.shape != (len(asked.layers), len(ids)) or similarity.shape != (len(ids),):
            raise ValueError
        return DocumentKinds(
            ids, asked.layers, best, worst, similarity, spread, count, "difference"
        )

    def read_attention(kept: Any) -> dict[str, Attention]:
        if kept and set(kept) != set(KINDS):
            raise ValueError
        return {
            kind: Attention(np.array(means, dtype=float), np.array(spreads, dtype=float))
            for kind, (means, spreads) in kept.items()
        }

    kinds = store.numbers(f"{data.name}-documents", make_kinds, read_kinds)
    return kinds, store.numbers(
        f"{data.name}-attention", lambda: _attention(data, kinds), read_attention
    )


def _example(data: RatedSummaries, asked: TextProtocol, store: PartStore) -> TokenExample | None:
    def make() -> dict[str, Any]:
        made = token_example(data.texts, asked.layers[0])
        return {"example": made and {**made._asdict(), "similarity": made.similarity.tolist()}}

    def read(kept: Any) -> TokenExample | None:
        if kept["example"] is None:
            return None
        example = TokenExample(**kept["example"])
        return example._replace(similarity=np.array(example.similarity, dtype=float))

    return store.numbers(f"{data.name}-example", make, read)


def documents_of_kind(kinds: DocumentKinds, kind: str, layer: int) -> list[str]:
    """The documents of a kind by a layer."""
    return kinds.heterogeneous(layer) if kind == HETEROGENEOUS else kinds.homogeneous(layer)


def _attention(data: RatedSummaries, kinds: DocumentKinds) -> dict[str, Any]:
    """By kind, the means and the standard deviations of Figure 8.3, in the order of the documents."""
    encoder: Any = current_encoder()
    if not hasattr(encoder, "attention"):
        return {}
    store = embedding_store(data.texts, encoder)
    place = {name: number for number, name in enumerate(data.texts.ids)}
    drawn: dict[str, Any] = {}
    for kind in KINDS:
        numbers: tuple[list[float], list[float]] = ([], [])
        for name in documents_of_kind(kinds, kind, kinds.layers[0]):
            text = place[name]
            vectors = store.source(text, [encoder.layers])[encoder.layers]
            attended = encoder.attention(store.sources[text]) @ vectors
            document = unit_vectors(vectors.mean(axis=0, dtype=np.float64)[None])
            cosines = (unit_vectors(attended) @ document.T)[:, 0]
            numbers[0].append(float(cosines.mean()))
            numbers[1].append(float(cosines.std()))
        drawn[kind] = numbers
    return drawn


# People


def _correlate_scores(
    data: RatedSummaries,
    asked: TextProtocol,
    scores: Scores,
    labels: Mapping[str, MetricLabel],
    kinds: DocumentKinds | None,
) -> Iterator[tuple[CorrelationScope, HumanCorrelation]]:
    every = [text for text, label in labels.items() if label.form != CHANCE]
    for systems in data.correlation_groups():
        runs = data.groups[systems]
        for over in CORRELATION_LEVELS:
            part = scores.select(runs=runs, measures=every)
            yield (
                (systems, EVERY_DOCUMENT, "", over),
                _correlate_with_people(data, asked, part, over),
            )
        if kinds is None:
            continue
        for by in KIND_CRITERIA:
            chosen = replace(kinds, by=by)  # type: ignore[arg-type]
            for number, kind in enumerate(KINDS):
                # Each layer has its own documents; the results of layers stand side by side.
                each = []
                for layer in asked.layers:
                    own = [text for text in every if labels[text].metric == layer_name(layer)]
                    documents = documents_of_kind(chosen, kind, layer)
                    part = scores.select(documents, runs=runs, measures=own)
                    each.append(
                        _correlate_with_people(
                            data, asked, part, "systems", seed=asked.seed + 1 + number
                        )
                    )
                yield (systems, kind, by, "systems"), _merge_correlations(each)


def _correlate_with_people(
    data: RatedSummaries, asked: TextProtocol, scores: Scores, over: Over, seed: int | None = None
) -> HumanCorrelation:
    """Correlations with people.

    Kinds of documents have seeds of their own, so that what is drawn of one kind has nothing to do with
    what is drawn of the other.
    """
    assert data.ratings is not None
    return human_correlation(
        scores,
        data.ratings,
        over,
        level=asked.level,
        samples=asked.samples,
        seed=asked.seed if seed is None else seed,
    )


def _merge_correlations(results: Sequence[HumanCorrelation]) -> HumanCorrelation:
    """Correlations of different metrics as one result."""
    first = results[0]
    numbers: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in results], axis=-2)
        for name in ("values", "low", "high", "samples")
    }
    return replace(
        first,
        metrics=tuple(metric for each in results for metric in each.metrics),
        notes=tuple(dict.fromkeys(note for each in results for note in each.notes)),
        **numbers,
    )


def _compare_preferences(
    data: RatedSummaries, asked: TextProtocol, scores: Scores, labels: Mapping[str, MetricLabel]
) -> Iterator[PreferenceResult]:
    plain = {label.metric: text for text, label in labels.items() if label.form == SCORE}
    people = data.preferences or data.ratings
    assert people is not None
    for systems, runs in data.preference_groups().items():
        part = scores.select(runs=runs)
        for text, label in labels.items():
            if label.form in VERSIONS:
                result = win_lose_tie(
                    *(part, people, plain[label.metric], text),
                    pairs=data.pairs or None,
                    level=asked.level,
                    samples=asked.samples,
                    seed=asked.seed,
                )
                yield PreferenceResult(systems, label, result)

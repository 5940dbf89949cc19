"""Which sources are heterogeneous and which homogeneous, by Algorithm 2 of Feng's dissertation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.text.chance import DISSIMILAR, SIMILAR, Null
from rankgauge.text.data.texts import Candidates, Texts
from rankgauge.text.grammar import parse_metric
from rankgauge.text.metrics.bertscore import BertScore
from rankgauge.text.metrics.bertscore_chance import document_similarity

KindsBy = Literal["difference", "similarity"]
HETEROGENEOUS, HOMOGENEOUS = "heterogeneous", "homogeneous"
LAYERS = (4, 5, 6)
COUNT = 20
COLUMNS = ("kind", "layer", "difference", "similarity", "spread", "fewest_common", "most_common")


def document_kinds(
    texts: Texts,
    *,
    metric: str | BertScore = "bertscore",
    layers: Sequence[int] = LAYERS,
    count: int = COUNT,
    by: KindsBy = "difference",
) -> DocumentKinds:
    """Find the most heterogeneous and the most homogeneous sources for each of several layers.

    Parameters
    ----------
    texts : Texts
        The sources and references.
    metric : str or BertScore, default "bertscore"
        A BERTScore metric; its layer is ignored.
    layers : sequence of int, default (4, 5, 6)
        The layers of the encoder whose vectors are compared.
    count : int, default 20
        The number of sources of each kind.
    by : {"difference", "similarity"}, default "difference"
        The criterion for heterogeneous sources. "difference" (Algorithm 2): the tokens most
        similar to the source score nearly the same as the least similar ones. "similarity"
        (section 8.1): the tokens differ most from the source as a whole.

    Returns
    -------
    DocumentKinds
        The sources of each kind, with the numbers behind the choice.

    Raises
    ------
    MeasureError
        If `metric` is not a BERTScore metric.
    RankgaugeError
        If `layers` is empty, or fewer than 2 × `count` texts have a source.

    Notes
    -----
    The algorithm and the sections are from Feng's dissertation, *Upper and expected value
    normalization* (2023).

    Examples
    --------
    The example needs an encoder; see `use_encoder`.

    >>> from rankgauge.text import Texts, document_kinds
    >>> sources = ["The cat sat. Rates rose. It rained in Paris.", "The cat sat. The cat slept."]
    >>> texts = Texts(sources, ["The cat sat.", "The cat slept."], {})
    >>> kinds = document_kinds(texts, layers=[5], count=1, by="similarity")  # doctest: +SKIP
    >>> kinds.heterogeneous(layer=5), kinds.homogeneous(layer=5)  # doctest: +SKIP
    (['1'], ['2'])
    """
    base = parse_metric(metric)
    if not isinstance(base, BertScore):
        raise MeasureError(f"{base} has no token vectors, expected bertscore")
    count = check_value("count", count, Integer(1))
    check_value("by", by, one_of(KindsBy))
    every = [replace(base, layer=layer) for layer in dict.fromkeys(layers)]
    if not every:
        raise RankgaugeError("no layers, expected at least one, such as 5")
    known = [n for n in range(len(texts)) if base._source_units(texts, n)]
    if len(known) < 2 * count:
        raise RankgaugeError(
            f"{count_phrase(len(known), 'text')} with a source, expected at least {2 * count} "
            f"for {count} of each kind; use a smaller count"
        )
    # A candidate for each text, as chance is asked for in place of candidates.
    places = Candidates(texts, ("",) * len(known), np.array(known, dtype=np.int64))
    BertScore.expect(places, every)
    scores = {
        null: np.stack([each.expected_each(places, Null(null=null)).values for each in every])
        for null in (SIMILAR, DISSIMILAR)
    }
    store = base._store(texts)
    similarity = [document_similarity(store, text) for text in known]
    left_out = len(texts) - len(known)
    return DocumentKinds(
        tuple(texts.ids[text] for text in known),
        tuple(each.layer for each in every),
        scores[SIMILAR],
        scores[DISSIMILAR],
        np.array([float(each.mean()) for each in similarity]),
        np.array([float(each.std()) for each in similarity]),
        count,
        by,
        (Note("no source for {texts}, skipped", count=left_out),) if left_out else (),
    )


class DocumentKinds(Result, Record):
    """Heterogeneous and homogeneous sources: the result of `document_kinds`.

    Attributes
    ----------
    ids : tuple of str
        The ids of the texts with a source.
    layers : tuple of int
        The layers that were compared.
    best_to_worst, worst_to_best : ndarray
        Layer × text: the scores of the tokens that are most and least similar to the source.
    similarity, spread : ndarray
        The mean and the standard deviation of the similarity of each text's tokens to its source,
        in the last layer.
    count : int
        The number of sources of each kind.
    by : {"difference", "similarity"}
        The criterion for heterogeneous sources; see `document_kinds`.
    notes : tuple of Note
        Notes on the result, such as texts without a source.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge.text import DocumentKinds
    >>> best, worst = np.array([[0.9, 0.7, 0.8]]), np.array([[0.4, 0.6, 0.5]])
    >>> means = np.array([0.5, 0.6, 0.7])
    >>> kinds = DocumentKinds(("a", "b", "c"), (5,), best, worst, means, means / 10, 1, "difference")
    >>> kinds.heterogeneous(layer=5), kinds.homogeneous(layer=5)
    (['b'], ['a'])
    """

    ids: tuple[str, ...]
    layers: tuple[int, ...]
    best_to_worst: Floats
    worst_to_best: Floats
    similarity: Floats
    spread: Floats
    count: int
    by: KindsBy
    notes: tuple[Note, ...] = ()

    @property
    def differences(self) -> Floats:
        """The difference between the two scores of each source: layer × text."""
        return np.abs(self.best_to_worst - self.worst_to_best)

    def order(self, layer: int) -> list[str]:
        """The ids of the sources, from the most heterogeneous to the most homogeneous."""
        return [self.ids[place] for place in self._order(layer).tolist()]

    def heterogeneous(self, layer: int) -> list[str]:
        """The ids of the most heterogeneous sources, the most heterogeneous first."""
        return self.order(layer)[: self.count]

    def homogeneous(self, layer: int) -> list[str]:
        """The ids of the most homogeneous sources, the most homogeneous first."""
        return self.order(layer)[::-1][: self.count]

    def _order(self, layer: int) -> Ints:
        if layer not in self.layers:
            known = ", ".join(map(str, self.layers))
            raise RankgaugeError(f"no layer {layer} here, expected one of {known}")
        row = self.differences[self.layers.index(layer)]
        values = row if self.by == "difference" else self.similarity
        return np.argsort(values, kind="stable")

    def table(self) -> Table:
        """Return a table with one row per kind and layer.

        Each row has the means over the sources of this kind, and how many of these sources another
        layer assigns to the same kind.
        """
        rows: list[tuple[Cell, ...]] = []
        for kind in (HETEROGENEOUS, HOMOGENEOUS):
            order = 1 if kind == HETEROGENEOUS else -1
            sets = {layer: self._order(layer)[::order][: self.count] for layer in self.layers}
            for number, (layer, places) in enumerate(sets.items()):
                common = [
                    len(np.intersect1d(places, other))
                    for each, other in sets.items()
                    if each != layer
                ]
                rows.append(
                    (
                        kind,
                        layer,
                        float(self.differences[number, places].mean()),
                        float(self.similarity[places].mean()),
                        float(self.spread[places].mean()),
                        min(common, default=None),
                        max(common, default=None),
                    )
                )
        about = (
            Note(
                "|BERTScore of the tokens most similar to the source − BERTScore of the least "
                f"similar|, averaged over {count_phrase(self.count, 'source')}",
                column="difference",
            ),
            Note(
                "the cosine between a token and the mean of its source in the last layer: the "
                "mean and the standard deviation within a source",
                column="similarity, spread",
            ),
            Note(
                f"the number of the {self.count} sources that another layer assigns to the same kind",
                column="fewest_common, most_common",
            ),
        )
        return Table(COLUMNS, tuple(rows), note_texts((*about, *self.notes)))

    def _title(self) -> str:
        return (
            f"DocumentKinds: {count_phrase(self.count, 'source')} of each kind, of {len(self.ids)}, "
            f"by {self.by}"
        )

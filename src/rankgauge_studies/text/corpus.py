"""The size of the data beside Table 4.3, which has the size of the corpus they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankgauge.extending import Cell, Note, Table, note_texts
from rankgauge.text import Texts, words_of
from rankgauge_studies.text import published
from rankgauge_studies.text.experiment import DataSetResult


def corpus_table(examined: Sequence[DataSetResult]) -> Table:
    """Table 4.3: a column for each data set, then the printed columns."""
    ours = [_statistics(each.data.texts) for each in examined]
    names = dict.fromkeys([*(ours[0] if ours else ()), *published.CORPUS])
    nothing = (None,) * len(published.CORPUS_PARTS)
    rows: list[tuple[Cell, ...]] = [
        (name, *(own.get(name) for own in ours), *published.CORPUS.get(name, nothing))
        for name in names
    ]
    notes = [
        Note("words as ROUGE counts them: runs of letters and digits", column="tokens, vocabulary"),
        Note(
            "CNN and Daily Mail are as printed. Months, queries and entities are counts of "
            "the corpus itself, so they cannot be computed from a sample of its documents"
        ),
    ]
    columns = ("", *(each.name for each in examined), *published.CORPUS_PARTS)
    return Table(columns, tuple(rows), note_texts(notes))


def _statistics(texts: Texts) -> Mapping[str, Cell]:
    sources = [words_of(source) for source in texts.sources if source.strip()]
    outputs = [text for own in texts.outputs.values() for text in own if text is not None]
    sizes = {
        "a source": list(map(len, sources)),
        "a reference": [len(words_of(text)) for own in texts.references for text in own],
        "an output": [len(words_of(text)) for text in outputs],
    }
    return {
        "documents": len(texts),
        "systems": len(texts.systems),
        "outputs": len(outputs),
        "references": len(sizes["a reference"]),
        **{
            f"tokens of {what}, {kind}": value
            for what, counts in sizes.items()
            if counts
            for kind, value in (
                ("mean", round(float(np.mean(counts)), 1)),
                ("maximum", max(counts)),
            )
        },
        "vocabulary": len({word for own in sources for word in own}),
    }

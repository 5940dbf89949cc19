"""Tables 4.3, 8.1 to 8.4, 9.1 and 9.2 of Feng's dissertation, as printed."""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.extending import Cell, Table
from rankgauge.text.human import Over

ENCODER = "roberta-large, layer 17, no idf, bert-score 0.3.12"
"""The setup used to compute the printed BERTScores; the dissertation gives this hash code."""
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")

CORRELATIONS: Mapping[str, tuple[str, Mapping[str, tuple[float, ...]], float]] = {
    "8.1": (
        "BERTScore, 100 documents",
        {
            "score": (0, -0.106, 0.167, -0.03),
            "v1": (0.03, -0.198, 0.25, 0.06),
            "v2": (0.15, 0.045, 0.44, 0.18),
            "PAI v1": (3, -86.79, 49.7, 300),
            "PAI v2": (15, 142, 163, 700),
        },
        160,
    ),
    "8.2": (
        "BERTScore, the 20 most heterogeneous documents",
        {
            "score": (-0.198, 0.03, 0.29, -0.06),
            "v1": (-0.076, 0.09, 0.351, 0.06),
            "v2": (0.106, 0.151, 0.412, 0.303),
            "PAI v1": (61, 200, 21, 200),
            "PAI v2": (153, 403, 42, 605),
        },
        210,
    ),
    "8.3": (
        "BERTScore, the 20 most homogeneous documents",
        {
            "score": (-0.18, -0.3, -0.2, -0.24),
            "v1": (-0.18, -0.24, -0.11, -0.3),
            "v2": (-0.21, -0.39, -0.078, -0.39),
            "PAI v1": (0, 20, 45, -25),
            "PAI v2": (-16, -30, 61, -62.5),
        },
        -1.02,
    ),
    "9.1": (
        "ROUGE, 100 documents",
        {
            "score": (0.08, 0.09, 0.04, 0.13),
            "v1": (0.08, 0.1, 0.04, 0.12),
            "v2": (0.08, 0.1, 0.4, 0.12),
            "PAI v1": (-1.9, 1.12, 8.34, -5.2),
            "PAI v2": (-0.84, 1.5, 6.2, -3),
        },
        0.77,
    ),
}
"""By number: what the table is of, its rows, and its average of PAI. The .4 in Table 9.1 is a misprint
of .04: its PAI is 6.2."""

_STEPS = (
    "The printed numbers are multiples of a step of τ-b over 12 systems: whole numbers "
    "divided by √(66·t), truncated, where t of the 66 pairs of systems are not tied in the "
    "ratings. Therefore, they are correlations between system means."
)
PRINTED_LEVELS: Mapping[str, tuple[Over, str]] = {
    "8.1": ("systems", _STEPS),
    "8.2": ("systems", _STEPS),
    "8.3": ("systems", _STEPS),
    "9.1": (
        "rows",
        "The printed increases are 0.8 to 8.3%. One step of τ-b over 12 systems is 10% of the "
        "printed numbers or more, so they were not computed over systems. On each text, a "
        "chance that is one number does not change any order, so over texts every increase "
        "would be 0. Over all outputs, the size of the numbers and the order of the "
        "dimensions fit.",
    ),
}
"""By number: what the printed correlations are over, and how one can tell. The dissertation does not
say."""

CORPUS: Mapping[str, tuple[int | float | None, ...]] = {
    "months": (95, 1, 1, 56, 1, 1),
    "documents": (90_166, 1_220, 1_093, 196_961, 12_148, 10_397),
    "queries": (380_298, 3_924, 3_198, 879_450, 64_835, 53_182),
    "entities, maximum": (527, 187, 396, 371, 232, 245),
    "entities, mean": (26.4, 26.5, 24.5, 26.5, 25.5, 26.0),
    "tokens of a source, mean": (762, 763, 716, 813, 774, 780),
    "vocabulary": (118_497, None, None, 208_045, None, None),
}
"""Table 4.3: by row, CNN (train, valid, test) and Daily Mail (the same). The vocabulary is of all three
parts."""
CORPUS_PARTS = tuple(
    f"{name} {part}" for name in ("CNN", "Daily Mail") for part in ("train", "valid", "test")
)

PREFERENCES: Mapping[str, tuple[str, Mapping[str, tuple[int, int, int]]]] = {
    "8.4": ("BERTScore", {"v1": (24, 10, 66), "v2": (24, 10, 66)}),
    "9.2": ("ROUGE", {"v1": (32, 12, 56), "v2": (32, 14, 54)}),
}
"""By number: the metric, and for each form the percentages of wins, losses and ties."""


def file_name(printed: str, data: str = "") -> str:
    """Return the name, without its ending, of the file that repeats a printed table or figure.

    `data` is the data set of the file; without it, the file is about all of them.

    >>> file_name("Table 8.1", "summeval")
    'table-8.1.summeval'
    """
    return ".".join(filter(None, (printed.lower().replace(" ", "-"), data)))


def printed_rows(number: str) -> list[tuple[Cell, ...]]:
    """The rows of Table 8.1, 8.2, 8.3 or 9.1, with the printed average below them."""
    _, forms, average = CORRELATIONS[number]
    rows: list[tuple[Cell, ...]] = [(name, *map(float, values)) for name, values in forms.items()]
    return [*rows, ("average PAI", average, *(None for _ in DIMENSIONS[1:]))]


def printed_table() -> Table:
    """All printed numbers, a row for each."""
    rows: list[tuple[Cell, ...]] = []
    for number, (about, forms, average) in CORRELATIONS.items():
        encoder = ENCODER if number.startswith("8") else None
        for form, values in forms.items():
            for dimension, value in zip(DIMENSIONS, values, strict=True):
                rows.append((number, about, encoder, form, dimension, float(value)))
        rows.append((number, about, encoder, "average PAI", None, float(average)))
    for number, (about, kinds) in PREFERENCES.items():
        encoder = ENCODER if number.startswith("8") else None
        for form, counts in kinds.items():
            for what, percent in zip(("win", "lose", "tie"), counts, strict=True):
                rows.append((number, about, encoder, f"{what} {form}", None, float(percent)))
    return Table(("table", "about", "encoder", "row", "dimension", "value"), tuple(rows))

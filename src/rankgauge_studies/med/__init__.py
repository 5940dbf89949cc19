"""The tables and figures of Moffat, maximized effectiveness distance for recall-based metrics.

Tables 1 to 3 need no data. Figures 1 and 2 show the judgments of the TREC Web tracks of 2013 and
2014. Judgments by subtopic, as for ndeval, have one row per subtopic of a document, and adhoc
judgments one row per document. The figures of the paper show the judgments by subtopic of 2013.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge import Judgments, Measure, read_qrels
from rankgauge.distance.maximized import med_of_lists, parse_distance_measure
from rankgauge.extending import Cell, Floats, Ints, Record, Table
from rankgauge.rankings import JudgedLabels, Rankings, judged_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

X3 = ("A", "B", "C", "D", "E", "F", "G", "H", "J", "K")
X4 = ("A", "D", "B", "E", "C", "G", "F", "J", "L", "H")
KNOWN_LABELS = {"A": 1, "E": 0}
"""The two rankings of the paper's Equation 6, and their known labels."""

FREE_DOCUMENTS = ("B", "C", "D", "F", "G", "H", "J", "K", "L")
MEASURES = {"SDCG": "SDCG@10", "NDCG": "nDCG@10", "SSP": "SSP@10", "AP": "AP@10"}

WEIGHTS = {
    1: (1.000, 1.000),
    2: (1.631, 0.613, 0.387),
    3: (2.131, 0.469, 0.296, 0.235),
    4: (2.562, 0.390, 0.246, 0.195, 0.168),
    5: (2.948, 0.339, 0.214, 0.170, 0.146, 0.131),
    6: (3.305, 0.303, 0.191, 0.151, 0.130, 0.117, 0.108),
}
"""Table 1: for each k the scaling factor and the weights."""

STEPS = {
    "first ahead": {
        "": (None, None, None, 1, 0.000, 1.000, 0.000),
        "K": (0.289, 0.000, 0.289, 2, 0.289, 1.631, 0.177),
        "B": (0.631, 0.500, 0.131, 3, 0.420, 2.131, 0.197),
        "C": (0.500, 0.387, 0.113, 4, 0.533, 2.562, 0.208),
        "H": (0.315, 0.289, 0.026, 5, 0.560, 2.948, 0.190),
        "F": (0.356, 0.333, 0.023, 6, 0.582, 3.305, 0.176),
    },
    "second ahead": {
        "": (None, None, None, 1, 0.000, 1.000, 0.000),
        "L": (0.000, 0.301, -0.301, 2, 0.301, 1.631, 0.185),
        "D": (0.431, 0.631, -0.200, 3, 0.501, 2.131, 0.235),
        "G": (0.333, 0.356, -0.023, 4, 0.524, 2.562, 0.205),
        "J": (0.301, 0.315, -0.014, 5, 0.539, 2.948, 0.183),
    },
}
"""Table 2: the steps of Algorithm 1. Keys: the leading list and the document made relevant."""

ASSIGNMENTS = {
    (1, 1, 0, 1, 0, 1, 0, 1, 0): (6, 0.128, 0.176, 0.155, 0.259),
    (0, 0, 1, 0, 0, 0, 0, 0, 1): (3, 0.110, 0.235, 0.083, 0.278),
    (1, 1, 0, 1, 1, 1, 1, 1, 0): (8, 0.120, 0.138, 0.161, 0.201),
    (1, 1, 0, 0, 0, 0, 0, 1, 0): (4, 0.117, 0.208, 0.113, 0.283),
}
"""Table 3: labels of the free documents, R, and the differences of SDCG, NDCG, SSP and AP at 10. Row 1
has the greatest difference of SDCG, row 2 of NDCG, row 3 of SSP and row 4 of AP."""

THRESHOLDS = (1, 2, 3)
HIGHEST = 4
GAINS = {grade: (2**grade - 1) / 2**HIGHEST for grade in range(1, HIGHEST + 1)}
"""Equation 12."""

QRELS = {
    "TREC 2013, by subtopic": "qrels/qrels.web.201-250.ndeval.txt.gz",
    "TREC 2013, adhoc": "qrels/qrels.web.201-250.txt.gz",
    "TREC 2014, by subtopic": "qrels/qrels.web.251-300.ndeval.txt.gz",
    "TREC 2014, adhoc": "qrels/qrels.web.251-300.txt.gz",
}
SUBTOPICS = "by subtopic"


# Tables


def table_1() -> Table:
    """The weights of SDCG@k, ours and the published ones."""
    rows = []
    for k, published in WEIGHTS.items():
        alone = [[int(place == rank) for place in range(k)] for rank in range(k)]
        weights = [parse_distance_measure(f"SDCG@{k}").score(labels) for labels in alone]
        ours = [parse_distance_measure(f"DCG@{k}").score([1] * k), *weights]
        empty = (None,) * (len(WEIGHTS) - k)
        rows.append(_Row((k,), (*ours, *empty), (*published, *empty)))
    columns = ("S(k)", *(f"W({i})" for i in WEIGHTS))
    return _compare_with_published(("k",), columns, rows)


def table_2() -> Table:
    """Algorithm 1 on the two rankings: its steps, ours and the published ones."""
    distance = med_of_lists("nDCG@10", X3, X4, KNOWN_LABELS, trace=True)
    trace = distance.trace
    assert trace is not None
    rows = []
    for step in trace.steps:
        document = "" if step.document is None else str(trace.names[step.document])
        side = "first ahead" if step.ahead == "a" else "second ahead"
        rows.append(_Row((side, document), step[2:], STEPS[side][document]))
    columns = ("wY", "wZ", "diff", "R", "numer", "denom", "numer/denom")
    note = f"the greatest quotient numer/denom (numerator / denominator) is {trace.greatest:.6f}; "
    note += f"the distance computed by rankgauge is {distance.value:.6f}"
    return _compare_with_published(("side", "d"), columns, rows, note)


def table_3() -> Table:
    """Differences of the two rankings under four labelings, ours and the published ones."""
    rows = []
    for free_labels, published in ASSIGNMENTS.items():
        labels = {**KNOWN_LABELS, **dict(zip(FREE_DOCUMENTS, free_labels, strict=True))}
        judged = JudgedLabels.of(list(labels.values()))
        lists = [
            Rankings.of([labels[document] for document in ranking], judged=judged)
            for ranking in (X3, X4)
        ]
        ours = []
        for text in MEASURES.values():
            first, second = (float(parse_distance_measure(text).score_each(x)[0]) for x in lists)
            ours.append(abs(first - second))
        relevant = int(judged.relevant(1)[0])
        rows.append(_Row(("".join(map(str, free_labels)),), (relevant, *ours), published))
    notes: list[str] = []
    for (name, text), free_labels in zip(MEASURES.items(), ASSIGNMENTS, strict=True):
        distance = med_of_lists(text, X3, X4, KNOWN_LABELS)
        same = distance.witness().labels == dict(zip(FREE_DOCUMENTS, free_labels, strict=True))
        exact = "yes" if distance.exact else "no"
        notes.append(
            f"the distance with {name} is {distance.value:.6f}, exact: {exact}; its labels are "
            f"{'those' if same else 'NOT those'} of row {len(notes) + 1}"
        )
    return _compare_with_published(("".join(FREE_DOCUMENTS),), ("R", *MEASURES), rows, *notes)


class _Row(Record):
    """The label of a row, our numbers and the published numbers."""

    about: tuple[Cell, ...]
    ours: tuple[float | None, ...]
    published: tuple[float | None, ...]


def _compare_with_published(
    about: tuple[str, ...], columns: tuple[str, ...], rows: Sequence[_Row], *notes: str
) -> Table:
    """Our numbers, below each row the published numbers, and the largest difference."""
    cells: list[tuple[Cell, ...]] = []
    furthest = 0.0
    for row in rows:
        off = max(
            float(abs(a - b))
            for a, b in zip(row.ours, row.published, strict=True)
            if a is not None and b is not None
        )
        furthest = max(furthest, off)
        cells.append((*row.about, "ours", *row.ours, off))
        cells.append((*row.about, "published", *row.published, None))
    summary = f"the largest difference is {furthest:.6f}; published numbers have three decimals"
    return Table((*about, "source", *columns, "off by"), tuple(cells), (*notes, summary))


# Judgments


class JudgedQueries(Record):
    """For each query, how many documents reach each threshold, and the ideal DCG@20."""

    name: str
    counts: dict[int, Ints]
    ideal: Floats

    @property
    def sorted_counts(self) -> dict[int, Ints]:
        """The counts of each threshold, each threshold sorted separately, the largest count first."""
        return {threshold: np.sort(counts)[::-1] for threshold, counts in self.counts.items()}

    @property
    def sorted_ideal(self) -> Floats:
        return np.sort(self.ideal)[::-1]

    def count_underestimated(self) -> int:
        """On how many queries SSP@100 is below AP@100: the same sum, divided by 100 and by R."""
        relevant = self.counts[1]
        return int(np.count_nonzero((relevant > 0) & (relevant < 100)))

    def factor(self) -> float:
        """The largest AP@100 / SSP@100."""
        relevant = self.counts[1]
        return float(100 / relevant[relevant > 0].min())


def reference_lines() -> dict[str, float]:
    """Return the ideal DCG@20 of two queries, as lines to compare with.

    One query has 20 navigational documents, the other has 1 navigational document and 19 key
    documents.
    """
    measure = _dcg()
    return {
        "20 navigational": measure.score([4] * 20),
        "1 navigational, 19 key": measure.score([4] + [3] * 19),
    }


def _dcg() -> Measure:
    gains = ",".join(f"{grade}:{gain}" for grade, gain in GAINS.items())
    return parse_distance_measure(f"DCG(gain={{{gains}}})@20")


def queries_of(name: str, judgments: Judgments) -> JudgedQueries:
    """The counts and ideal scores of judgments. If there are subtopics, a document counts for each."""
    judged = (
        _labels_by_subtopic(judgments)
        if judgments.subtopics is not None
        else judged_labels(judgments)
    )
    return JudgedQueries(
        name,
        {threshold: judged.relevant(threshold) for threshold in THRESHOLDS},
        _dcg().ideal_each(judged),
    )


def _labels_by_subtopic(judgments: Judgments) -> JudgedLabels:
    """The labels of each query, one for each subtopic of a document."""
    subtopics = judgments.subtopics
    assert subtopics is not None
    ends = subtopics.offsets[judgments.bounds]
    rows = [
        subtopics.grades[start:end]
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    return JudgedLabels.of(*(labels[labels >= 0] for labels in rows), max_grade=HIGHEST)


def read(folder: str | os.PathLike[str]) -> list[JudgedQueries]:
    """The queries of the four sets of judgments; InputError if a file is missing."""
    return [
        queries_of(name, read_qrels(os.path.join(folder, file), subtopics=name.endswith(SUBTOPICS)))
        for name, file in QRELS.items()
    ]


def claims_table(sets: Sequence[JudgedQueries]) -> Table:
    """What the text of the paper says about Figures 1 and 2, and what each set of judgments gives."""
    (first, high), (second, low) = reference_lines().items()
    rows: list[tuple[Cell, ...]] = [
        ("the paper, on TREC 2013", "thirty", "a small minority", "more than 20", "five", "none")
    ]
    for topics in sets:
        counts = topics.counts
        rows.append(
            (
                topics.name,
                str(np.count_nonzero(counts[2] >= 20)),
                str(np.count_nonzero(counts[3] > 20)),
                str(topics.count_underestimated()),
                f"{topics.factor():.1f}",
                str(np.count_nonzero(topics.ideal > low + 1e-9)),
            )
        )
    columns = ("judgments", "2+ on 20 or more", "3+ on more than 20", "SSP@100 < AP@100")
    return Table(
        (*columns, "by a factor up to", "ideal above 3.58"),
        tuple(rows),
        (
            "each column counts queries, out of 50, except `by a factor up to`",
            "ideal: the DCG@20 of the best order",
            f"lines of Figure 2: {first} {high:.4f}; {second} {low:.4f} (published: 3.58)",
        ),
    )


def queries_table(sets: Sequence[JudgedQueries]) -> Table:
    """The numbers of Figures 1 and 2: each line sorted separately, the largest first."""
    rows: list[tuple[Cell, ...]] = []
    for topics in sets:
        columns = [each.tolist() for each in (*topics.sorted_counts.values(), topics.sorted_ideal)]
        lines = enumerate(zip(*columns, strict=True), 1)
        rows += [(topics.name, place, *cells) for place, cells in lines]
    names = (*(f"{threshold}+" for threshold in THRESHOLDS), "ideal DCG@20")
    return Table(("judgments", "place", *names), tuple(rows))


# All of it


def tables() -> dict[str, Table]:
    """The tables that need no data, Tables 1 to 3, by the names of their files without endings."""
    return {"table-1": table_1(), "table-2": table_2(), "table-3": table_3()}


def data_tables(sets: Sequence[JudgedQueries]) -> dict[str, Table]:
    """The tables that need the judgments: the claims of the paper, and the numbers of its figures."""
    return {"claims": claims_table(sets), "figures": queries_table(sets)}


def figures(sets: Sequence[JudgedQueries]) -> dict[str, Figure]:
    """Figures 1 and 2, by the names of their files without endings."""
    from rankgauge.figures import ideal_lines, relevant_lines

    counts = {
        topics.name: {f"{t}+": line for t, line in topics.sorted_counts.items()} for topics in sets
    }
    ideals = {topics.name: topics.sorted_ideal for topics in sets}
    return {
        "figure-1": relevant_lines(counts),
        "figure-2": ideal_lines(ideals, reference_lines(), "Ideal DCG@20"),
    }

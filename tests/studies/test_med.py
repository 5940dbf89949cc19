"""The study of Moffat's paper: our numbers are the published ones, the figures of what was judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rankgauge import InputError, Judgments
from rankgauge.core.tables import Table
from rankgauge_studies import med

ROUNDING = 0.0005 + 1e-9
"""The published numbers have three decimals."""


def both(table: Table) -> list[tuple[list[float], list[float]]]:
    """Each row of our numbers with the published one below it."""
    start = table.columns.index("source")
    found = []
    for ours, published in zip(table.rows[::2], table.rows[1::2], strict=True):
        assert (ours[start], published[start]) == ("ours", "published")
        assert ours[:start] == published[:start]
        pair = zip(ours[start + 1 : -1], published[start + 1 : -1], strict=True)
        known = [(a, b) for a, b in pair if b is not None]
        found.append(([float(a) for a, _ in known], [float(b) for _, b in known]))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("name", "rows", "numbers"), [("table-1", 6, 27), ("table-2", 11, 71), ("table-3", 4, 20)]
)
def test_every_number_of_the_tables_is_the_published_one(
    name: str, rows: int, numbers: int
) -> None:
    table = med.tables()[name]
    found = both(table)
    assert len(found) == rows
    assert sum(len(ours) for ours, _ in found) == numbers
    for ours, published in found:
        assert ours == pytest.approx(published, abs=ROUNDING)
    offs = [row[-1] for row in table.rows[::2]]
    worst = [max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in found]
    assert offs == pytest.approx(worst)
    assert table.notes[-1].startswith(f"the largest difference is {max(worst):.6f}")


def test_the_greatest_step_is_the_distance_and_table_3_has_its_labels() -> None:
    assert med.table_2().notes[0] == (
        "the greatest quotient numer/denom (numerator / denominator) is 0.235242; "
        "the distance computed by rankgauge is 0.235242"
    )
    notes = med.table_3().notes[:4]
    assert [float(note.split(" is ")[1].split(",")[0]) for note in notes] == pytest.approx(
        [0.1282, 0.2352, 0.1611, 0.2833], abs=5e-5
    )
    for row, note in enumerate(notes, 1):
        assert note.endswith(f"exact: yes; its labels are those of row {row}")


def test_the_reference_lines_are_those_of_figure_2() -> None:
    high, low = med.reference_lines().values()
    scale = sum(1 / np.log2(1 + i) for i in range(1, 21))
    assert high == pytest.approx(scale * 15 / 16)
    assert low == pytest.approx(15 / 16 + (scale - 1) * 7 / 16)
    assert low == pytest.approx(3.58, abs=0.005)
    assert list(med.GAINS.values()) == [0.0625, 0.1875, 0.4375, 0.9375]


def test_a_document_counts_for_each_subtopic_it_is_judged_for() -> None:
    by_subtopic = Judgments.from_subtopics(
        {"q1": {"1": {"a": 1, "b": 0}, "2": {"a": 3, "b": 2}}, "q2": {"1": {"c": 4}}}
    )
    topics = med.queries_of("x", by_subtopic)
    assert {t: counts.tolist() for t, counts in topics.counts.items()} == {
        1: [3, 1],
        2: [2, 1],
        3: [1, 1],
    }
    gains = [7 / 16, 3 / 16 / np.log2(3), 1 / 16 / 2]
    assert topics.ideal.tolist() == pytest.approx([sum(gains), 15 / 16])
    adhoc = med.queries_of("x", Judgments.from_dict({"q1": {"a": 3, "b": 2}, "q2": {"c": -2}}))
    assert {t: counts.tolist() for t, counts in adhoc.counts.items()} == {
        1: [2, 0],
        2: [2, 0],
        3: [1, 0],
    }
    assert adhoc.ideal.tolist() == pytest.approx([7 / 16 + 3 / 16 / np.log2(3), 0.0])


def test_ssp_is_below_ap_where_fewer_than_100_are_relevant() -> None:
    counts = {1: np.array([0, 20, 99, 100, 300])}
    topics = med.JudgedQueries("x", counts, np.zeros(5))
    assert (topics.count_underestimated(), topics.factor()) == (2, 5.0)
    assert topics.sorted_counts[1].tolist() == [300, 100, 99, 20, 0]


@pytest.fixture(scope="module")
def found(real_data: Callable[[str], Path]) -> list[med.JudgedQueries]:
    return med.read(real_data("qrels").parent)


def test_the_judgments_by_subtopic_of_2013_give_what_the_paper_says(
    found: list[med.JudgedQueries],
) -> None:
    names = [topics.name for topics in found]
    assert names == list(med.QRELS)
    assert all(len(topics.ideal) == 50 for topics in found)
    table = {row[0]: row[1:] for row in med.claims_table(found).rows}
    assert table["TREC 2013, by subtopic"] == ("30", "5", "21", "5.0", "2")
    assert table["TREC 2013, adhoc"] == ("20", "3", "34", "100.0", "2")
    assert table["TREC 2014, by subtopic"] == ("36", "5", "12", "6.7", "4")
    assert table["TREC 2014, adhoc"] == ("28", "3", "23", "25.0", "3")


def test_the_counts_are_those_of_the_lines_of_the_files(
    real_data: Callable[[str], Path], found: list[med.JudgedQueries]
) -> None:
    import gzip

    for topics, file in zip(found, med.QRELS.values(), strict=True):
        grades: dict[str, list[int]] = {}
        with gzip.open(real_data(file), "rt") as stream:
            for line in stream:
                topic, _, _, grade = line.split()
                grades.setdefault(topic, []).append(int(grade))
        for threshold, counts in topics.counts.items():
            plain = [sum(g >= threshold for g in judged) for judged in grades.values()]
            assert counts.tolist() == plain
        for judged, ideal in zip(grades.values(), topics.ideal.tolist(), strict=True):
            best = sorted((max(g, 0) for g in judged), reverse=True)[:20]
            plain_ideal = sum((2**g - 1) / 16 / np.log2(i + 2) for i, g in enumerate(best))
            assert ideal == pytest.approx(plain_ideal)


def test_the_figures_show_what_was_counted(found: list[med.JudgedQueries]) -> None:
    pytest.importorskip("matplotlib")
    figures, rows = med.figures(found), med.data_tables(found)["figures"].rows
    assert len(rows) == 200
    for topics, counts, ideals in zip(
        found, figures["figure-1"].axes, figures["figure-2"].axes, strict=True
    ):
        mine = [row for row in rows if row[0] == topics.name]
        drawn = [np.asarray(line.get_ydata()).tolist() for line in counts.lines[:3]]
        assert drawn == [[row[i] for row in mine] for i in (2, 3, 4)]
        assert all(line == sorted(line, reverse=True) for line in drawn)
        assert np.asarray(ideals.lines[0].get_ydata()).tolist() == [row[5] for row in mine]
        assert [line.get_ydata()[0] for line in ideals.lines[1:]] == list(
            med.reference_lines().values()
        )
        assert counts.get_title() == ideals.get_title() == topics.name


def test_judgments_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"web\.201-250\.ndeval\.txt\.gz: cannot be read"):
        med.read(tmp_path)

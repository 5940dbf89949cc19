"""The numbers of the printed tables and figures, and the names of the files that repeat them."""

from __future__ import annotations

from rankgauge.extending import Record
from rankgauge_studies.ue.protocol import CASES, Case, slug


class PrintedTables(Record):
    """A subject of the case studies, with the tables of the paper about it.

    `shows` is what the tables show, and `numbers` are their numbers in the paper for nDCG and for
    MAP. Two numbers are of MSLR-WEB30K and of MQ2007.
    """

    shows: str
    numbers: tuple[tuple[int, ...], tuple[int, ...]]

    def of(self, case: Case) -> tuple[int, ...]:
        """The numbers for a case."""
        return self.numbers[CASES.index(case)]


SUBJECTS = {
    "scores": PrintedTables("Mean {case} of each method", ((3, 4), (15, 16))),
    "normalized": PrintedTables("V1 and V2 of {case} of each method", ((5, 6), (17, 18))),
    "tau": PrintedTables(
        "Kendall's τ between rankings of the methods by {case} and by V1, V2", ((7,), (19,))
    ),
    "conflicts": PrintedTables("Tests significant by only one of {case} and V1, V2", ((8,), (20,))),
    "significant": PrintedTables(
        "Significant differences between methods by {case}", ((9,), (21,))
    ),
    "pad": PrintedTables(
        "Percentage absolute difference (PAD) between methods by {case}", ((10,), (22,))
    ),
    "swaps-data": PrintedTables("Swap rates of {case} across the two data sets", ((11,), (23,))),
    "swaps-sets": PrintedTables(
        "Swap rates of {case} between uninformative and ideal queries", ((12,), (24,))
    ),
    "swaps-breadth": PrintedTables(
        "Swap rates of {case} between broad and focused queries", ((13,), (25,))
    ),
    "swaps-documents": PrintedTables(
        "Swap rates of {case} between random parts of the documents", ((14,), (26,))
    ),
}
"""The tables of each case study."""
DATA, METHODS = (1,), (2,)
"""The tables of the data and of the methods."""
ALL_TABLES = {
    1: "The data",
    2: "The methods and their settings",
    **{
        number: printed.shows.format(case=case.name)
        for case in CASES
        for printed in SUBJECTS.values()
        for number in printed.of(case)
    },
}
"""The content of each table of the paper."""
FIGURES = {
    "map": "Query types by expected and actual score",
    "expected": "Histogram of the expected {case} of random rankings",
}
_MAP, _EXPECTED = "1", ("2", "3")
_DISSERTATION_FIGURES = {"1": "3.1", "2": "6.1", "3": "7.1"}


def dissertation_number(number: int) -> str:
    """The number in the dissertation of a table of the paper.

    >>> [dissertation_number(number) for number in (1, 2, 3, 14, 15, 26)]
    ['4.1', '4.2', '6.1', '6.12', '7.1', '7.12']
    """
    for first, chapter in ((15, 7), (3, 6), (1, 4)):
        if number >= first:
            return f"{chapter}.{number - first + 1}"
    raise ValueError(f"no table {number}")


def table_heading(numbers: tuple[int, ...]) -> str:
    """The numbers of tables in words.

    >>> table_heading((7,)), table_heading((3, 4))
    ('Table 7 (dissertation 6.5)', 'Tables 3 and 4 (dissertation 6.1 and 6.2)')
    """
    word = "Tables" if len(numbers) > 1 else "Table"
    theirs = " and ".join(map(dissertation_number, numbers))
    return f"{word} {' and '.join(map(str, numbers))} (dissertation {theirs})"


def table_file(numbers: tuple[int, ...], subject: str, data: str = "", reading: str = "") -> str:
    """The name of the file of a table, without its ending.

    >>> table_file((7,), "tau", reading="paper"), table_file((3, 4), "scores", "MQ2008", "right")
    ('table-07-tau.reading-paper', 'table-03-04-scores.MQ2008.reading-right')
    """
    first = "-".join(("table", *(f"{number:02}" for number in numbers), subject))
    return ".".join(filter(None, (first, slug(data), reading and f"reading-{reading}")))


def figure_number(kind: str, case: Case) -> str:
    """The number of a figure in the paper."""
    return _MAP if kind == "map" else _EXPECTED[CASES.index(case)]


def figure_heading(number: str) -> str:
    """The number of a figure in words.

    >>> figure_heading("2")
    'Figure 2 (dissertation 6.1)'
    """
    return f"Figure {number} (dissertation {_DISSERTATION_FIGURES[number]})"


def figure_headings(case: Case) -> str:
    """The numbers of the figures of a case in words.

    >>> figure_headings(CASES[1])
    'Figures 1 and 3 (dissertation 3.1 and 7.1)'
    """
    numbers = [figure_number(kind, case) for kind in FIGURES]
    theirs = " and ".join(_DISSERTATION_FIGURES[number] for number in numbers)
    return f"Figures {' and '.join(numbers)} (dissertation {theirs})"


def figure_file(kind: str, case: Case, data: str, reading: str) -> str:
    """The name of the file of a figure, without its ending.

    >>> figure_file("map", CASES[0], "MQ2008", "paper")
    'figure-1-map.nDCG.MQ2008.reading-paper'
    """
    first = f"figure-{figure_number(kind, case)}-{kind}"
    return ".".join((first, case.name, slug(data), f"reading-{reading}"))

"""The counterparts of the printed tables and figures, by the names of their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.comparison.assessed import ALL
from rankgauge.extending import Cell, Record, Table
from rankgauge.query_sets import TYPES
from rankgauge_studies.index import Counterpart
from rankgauge_studies.ue import numbering, published, tables
from rankgauge_studies.ue.deciding import query_count_table
from rankgauge_studies.ue.experiment import BROAD, FOCUSED, IDEAL, UNINFORMATIVE, CaseStudy
from rankgauge_studies.ue.numbering import table_file
from rankgauge_studies.ue.protocol import ASCENT, CASES, VERSIONS, Case, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankgauge_studies.ue.study import Study

TABLES, FIGURES, QUERIES = "tables", "figures", "queries"
"""The folders of the files."""


class StudyTable(Record):
    """A table of the study. `printed` has the numbers of the paper's tables that it repeats."""

    table: Table
    subject: str
    caption: str
    printed: tuple[int, ...] = ()
    case: str = ""
    reading: str = ""
    data: str = ""


class StudyFigure(Record):
    """A figure of the study."""

    figure: Figure
    caption: str
    case: str
    reading: str


def study_tables(study: Study) -> dict[str, StudyTable]:
    """All tables, by the names of their files."""
    data, methods = numbering.DATA, numbering.METHODS
    made: dict[str, StudyTable] = {
        "claims": StudyTable(study.table(), "claims", "The paper's claims on these data"),
        "queries-to-decide": StudyTable(
            query_count_table(study.statements), "needed", "How many queries would decide"
        ),
        table_file(data, "data"): StudyTable(_statistics(study), "data", "The data", data),
        table_file(methods, "methods"): StudyTable(
            _methods(study), "methods", "The methods and their settings", methods
        ),
        "sets": StudyTable(_sets(study), "sets", "The sets of queries, and how many they have"),
        "which-queries": StudyTable(
            _both_means(study),
            "which",
            "The means of all test queries, counting queries without relevant documents as 0, "
            "and without these queries",
        ),
    }
    for reading, experiments in study.experiments.items():
        for case in CASES:
            cases = {name: each.cases[case.name] for name, each in experiments.items()}
            for name, table in _case_tables(study, case, cases).items():
                subject, _, data_set = name.partition("/")
                printed = numbering.SUBJECTS[subject]
                numbers = printed.of(case)
                if len(numbers) > 1 and data_set in study.paper_names:
                    place = published.COLLECTIONS.index(study.paper_names[data_set])
                    numbers = (numbers[place],)
                caption = printed.shows.format(case=case.name)
                caption += f", {data_set}" if data_set else ""
                made[table_file(numbers, subject, data_set, reading)] = StudyTable(
                    table, subject, caption, numbers, case.name, reading, data_set
                )
    return made


def _case_tables(study: Study, case: Case, found: Mapping[str, CaseStudy]) -> dict[str, Table]:
    """The tables of a case, by subject, and by data set where each has its own."""
    made: dict[str, Table] = {}
    for subject, versions in (("scores", (case.name,)), ("normalized", VERSIONS)):
        for name, each in found.items():
            means = {version: each.scores.values[version].mean(axis=2).T for version in versions}
            methods = next(iter(study.experiments.values()))[name].methods
            made[f"{subject}/{name}"] = tables.score_table(methods, study.protocol.cutoffs, means)
    drawn = {name: each.drawn for name, each in found.items()}
    parts = {name: each.parts for name, each in drawn.items()}
    level = study.protocol.level
    made["tau"] = tables.tau_table(case, parts)
    made["conflicts"] = tables.conflict_table(case, parts)
    made["significant"] = tables.significant_table(case, parts)
    made["pad"] = tables.pad_table(case, parts)
    across = tables.cross_collection_pairs(drawn)
    if across:
        made["swaps-data"] = tables.swap_table(case, "queries", across, level)
    sets = tables.within_collection_pairs(drawn, *tables.SET_PAIR)
    made["swaps-sets"] = tables.swap_table(case, "data", sets, level)
    breadths = tables.within_collection_pairs(drawn, *tables.BREADTHS)
    made["swaps-breadth"] = tables.swap_table(case, "data", breadths, level)
    rates = {name: each.document_swaps for name, each in found.items()}
    made["swaps-documents"] = tables.document_table(case, rates, level)
    return made


def _statistics(study: Study) -> Table:
    counts = (
        "documents",
        "queries",
        "features",
        "documents a query",
        "queries without relevant",
    )
    rows: list[tuple[Cell, ...]] = []
    for data in study.protocol.collections:
        table = study.statistics[data.name]
        total = dict(zip(table.columns, table.rows[0], strict=True))
        trained = study.protocol.training_of(data)
        place = table.columns.index("queries")
        there = [int(str(row[place])) for row in table.rows if str(row[0]).endswith(" train")]
        own = (total[column] for column in counts)
        rows.append(
            (data.name, *own, "all" if trained is None or trained >= max(there) else trained)
        )
    return Table(("data", *counts, "training queries of a fold"), tuple(rows))


def _both_means(study: Study) -> Table:
    """The means of the measures, whichever queries count."""
    rows: list[tuple[Cell, ...]] = []
    for reading, name, each in study.each():
        for case, means in each.means.items():
            for place, method in enumerate(each.methods):
                both = zip(means.as_zero[place], means.left_out[place], strict=True)
                cells = (float(value) for pair in both for value in pair)
                rows.append((reading, name, case, method, *cells))
    columns = [f"@{k}, {way}" for k in study.protocol.cutoffs for way in ("as 0", "left out")]
    notes = tuple(
        f"{name}: {each.chosen.without_relevant:,} of {each.chosen.total:,} test queries have no "
        "relevant document"
        for name, each in next(iter(study.experiments.values())).items()
    )
    return Table(("reading", "data", "measure", "method", *columns), tuple(rows), notes)


def _methods(study: Study) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for reading in study.protocol.readings:
        for ranker in study.protocol.rankers(reading):
            shown = ", ".join(
                f"{name}={value}"
                for name, value in ranker.settings().items()
                if name not in ("preset", "seed")
            )
            name, objective = type(ranker).__name__, ranker.training_objective()
            origin = objective.origin
            if name.lower() == ASCENT and objective.measure == reading.ascent_objective:
                origin = "the dissertation, section 4.2.1"
            short = published.METHODS.get(name, "")
            rows.append((reading.name, name, short, objective.text, origin, reading.preset, shown))
    columns = ("reading", "method", "short", "objective", "from", "preset", "settings")
    return Table(columns, tuple(rows))


def _sets(study: Study) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for reading, name, each in study.each():
        for case, found in each.cases.items():
            sizes = {part: len(chosen) for part, chosen in found.scores.sets.items()}
            equal = next((n for part, n in sizes.items() if part.endswith("size")), None)
            own = [sizes[part] for part in (ALL, UNINFORMATIVE, IDEAL)]
            breadth = (*each.breadth, sizes[BROAD], sizes[FOCUSED])
            without = each.chosen.drawn_without_relevant
            rows.append((reading, name, case, *own, equal, *breadth, without))
    columns = (
        *("reading", "data", "case", ALL, UNINFORMATIVE, IDEAL, "of equal size"),
        *("broad", "focused", "broad compared", "focused compared", "without relevant"),
    )
    notes = (
        f"broad: at least {study.protocol.broad_share:g} of the documents have a label of "
        f"{study.protocol.broad_label} or more; an equal number of focused queries is drawn "
        "for comparison",
    )
    return Table(columns, tuple(rows), notes)


def study_figures(study: Study) -> dict[str, StudyFigure]:
    """Draw the histograms of expected scores (Figures 2 and 3) and the maps of queries (Figure 1).

    The result has each figure under the name of its file.
    """
    from rankgauge.figures import expected_histogram, query_map

    made: dict[str, StudyFigure] = {}
    for reading, name, each in study.each():
        for case in CASES:
            found = each.cases[case.name]
            above = found.scores.above
            left = dict(above.left_out)
            measure = f"{name}: {case.name}, averaged over cutoffs"
            drawn = {
                "map": query_map(_groups(found), left, measure=measure),
                "expected": expected_histogram({measure: above.expected}, {measure: left}),
            }
            for kind, figure in drawn.items():
                number = numbering.figure_number(kind, case)
                shows = numbering.FIGURES[kind].format(case=case.name)
                caption = f"{numbering.figure_heading(number)}: {shows}, {name}"
                made[numbering.figure_file(kind, case, name, reading)] = StudyFigure(
                    figure, f"{caption}, reading {reading}", case.name, reading
                )
    return made


def query_tables(study: Study) -> dict[str, Table]:
    """Return a table of the queries for each reading, case and data set.

    Each query has its mean score, its expected score, the difference, and the set it is in.
    """
    return {
        f"{case}.{slug(name)}.reading-{reading}": query_table(found)
        for reading, name, each in study.each()
        for case, found in each.cases.items()
    }


def list_counterparts(study: Study, drawn: bool) -> list[Counterpart]:
    """For each printed table and figure, the files that repeat it. `drawn`: there are figures."""
    made = []
    for number, shows in numbering.ALL_TABLES.items():
        files = tuple(
            f"{TABLES}/{name}.csv"
            for name, each in study.tables().items()
            if number in each.printed
        )
        remark = "" if files else _missing_reason(number)
        made.append(Counterpart(numbering.table_heading((number,)), shows, files, remark))
    for kind, shows in numbering.FIGURES.items():
        for case in CASES:
            files = tuple(
                f"{FIGURES}/{numbering.figure_file(kind, case, name, reading)}.svg"
                for reading, name, _ in study.each()
                if drawn
            )
            remark = "" if drawn else "matplotlib is not installed"
            heading = numbering.figure_heading(numbering.figure_number(kind, case))
            made.append(Counterpart(heading, shows.format(case=case.name), files, remark))
    return made


def _missing_reason(number: int) -> str:
    """Why a printed table has no counterpart."""
    for printed in numbering.SUBJECTS.values():
        for numbers in printed.numbers:
            if len(numbers) > 1 and number in numbers:
                return f"is for {published.COLLECTIONS[numbers.index(number)]}"
    return "needs two data sets"


def _kinds(study: CaseStudy) -> dict[str, str]:
    """The set of each query of a case that is in one."""
    queries = study.scores.queries
    kinds = {queries[row]: IDEAL for row in study.scores.sets[IDEAL].tolist()}
    kinds |= {queries[row]: UNINFORMATIVE for row in study.scores.sets[UNINFORMATIVE].tolist()}
    return kinds


def _groups(study: CaseStudy) -> dict[str, tuple[list[float], list[float]]]:
    """For each type the scores and the expected scores of its queries."""
    kinds, above = _kinds(study), study.scores.above
    uninformative = np.array([kinds.get(query) == UNINFORMATIVE for query in above.queries])
    easy = above.easy(uninformative)
    groups: dict[str, tuple[list[float], list[float]]] = {kind: ([], []) for kind in TYPES}
    for row, query in enumerate(above.queries):
        kind = "ideal" if kinds.get(query) == IDEAL else "other"
        if uninformative[row]:
            kind = "uninformative easy" if easy[row] else "uninformative hard"
        scores, chances = groups[kind]
        scores.append(float(above.scores[row]))
        chances.append(float(above.expected[row]))
    return groups


def query_table(study: CaseStudy) -> Table:
    """The queries of a case, the least above chance first."""
    kinds, above = _kinds(study), study.scores.above
    order = np.argsort(above.differences, kind="stable").tolist()
    rows: list[tuple[Cell, ...]] = [
        (
            above.queries[row],
            float(above.scores[row]),
            float(above.expected[row]),
            float(above.differences[row]),
            kinds.get(above.queries[row], ""),
        )
        for row in order
    ]
    return Table(("query", "score", "expected", "difference", "set"), tuple(rows))

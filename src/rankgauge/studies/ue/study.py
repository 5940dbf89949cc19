"""The UE study from data to tables: Feng and Karmaker, sections 6.1 to 6.4, on any LETOR data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.comparison.assessed import ALL
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.folds import Folds, read_folds
from rankgauge.notes import Note, counted, worded
from rankgauge.rankers.fold_store import begin_folder, data_digest
from rankgauge.resampling import Progress
from rankgauge.results import Result
from rankgauge.studies.ue import tables
from rankgauge.studies.ue.claims import CLAIMS, Statement, claim_table, statements
from rankgauge.studies.ue.experiment import (
    BROAD,
    FOCUSED,
    IDEAL,
    UNINFORMATIVE,
    CaseStudy,
    Experiment,
    Prepared,
    RankedQueries,
    equalised,
    prepare,
    rank,
    study_cases,
)
from rankgauge.studies.ue.protocol import (
    CASES,
    VERSIONS,
    Case,
    DataSet,
    Protocol,
    Reading,
    slug,
)
from rankgauge.studies.ue.tables import Drawn
from rankgauge.studies.verdicts import Judged, judged
from rankgauge.tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankgauge.workers import AnyExecutor

PROTOCOL_FILE = "study.json"
RUNS = "runs"


FEW = 100
"""With fewer draws intervals are rough."""
VERDICTS = (
    "A claim says that the value is above 0. It holds if low is above 0, and does not hold if high is "
    "at most 0; else these queries do not decide."
)


def interval_text(protocol: Protocol) -> str:
    """How intervals are made, in words."""
    return (
        f"The {protocol.level:.0%} interval by {counted(protocol.samples, 'draw')} of the queries with "
        "replacement; the sets of queries stay as they are. Each end is the farther one of the plain "
        "percentile, the bias-corrected one and the value."
    )


class StudyTable(NamedTuple):
    """A table of the study. `paper` names the tables of the paper that it is the counterpart of."""

    table: Table
    subject: str
    caption: str
    paper: str
    case: str = ""
    reading: str = ""
    data: str = ""


class StudyFigure(NamedTuple):
    """A figure of the study."""

    figure: Figure
    caption: str
    case: str
    reading: str


SUBJECTS = {
    "scores": ("Mean {case} of each method", ("3 and 4", "15 and 16")),
    "normalised": ("V1 and V2 of {case} of each method", ("5 and 6", "17 and 18")),
    "tau": ("Kendall's τ between rankings of the methods by {case} and by V1, V2", ("7", "19")),
    "conflicts": ("Tests significant by only one of {case} and V1, V2", ("8", "20")),
    "significant": ("Significant differences between methods", ("9", "21")),
    "pad": ("Percentage absolute difference (PAD) between methods", ("10", "22")),
    "swaps-data": ("Swap rates across the two data sets", ("11", "23")),
    "swaps-sets": ("Swap rates between uninformative and ideal queries", ("12", "24")),
    "swaps-breadth": ("Swap rates between broad and focused queries", ("13", "25")),
    "swaps-documents": ("Swap rates between random parts of the documents", ("14", "26")),
}
"""The tables of each case: what they show, and their numbers in the paper for nDCG and for MAP."""


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """What a UE study found: for each reading and data set an experiment."""

    protocol: Protocol
    statistics: Mapping[str, Table]
    """For each data set, the statistics of its folds."""
    experiments: Mapping[str, Mapping[str, Experiment]]

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How queries and intervals were drawn, and what was left out."""
        samples = self.protocol.samples
        made = [Note(f"{interval_text(self.protocol)} {VERDICTS}", column="low, high")]
        if samples < FEW:
            made.append(Note(f"only {counted(samples, 'draw')}: the intervals are rough"))
        for reading, experiments in self.experiments.items():
            for name, found in experiments.items():
                made += [Note(text, part=f"{reading}, {name}") for text in found.notes]
        return tuple(made)

    def table(self) -> Table:
        """A row for each statement of the paper's claims, with its interval and its verdict."""
        table = claim_table(self.statements)
        return Table(table.columns, table.rows, worded(self.notes))

    @cached_property
    def statements(self) -> dict[str, list[Statement]]:
        """For each reading, the statements of the claims."""
        return {
            reading: statements(
                {
                    name: {
                        case: Drawn(found.parts, found.draws) for case, found in each.cases.items()
                    }
                    for name, each in experiments.items()
                },
                self.protocol.level,
            )
            for reading, experiments in self.experiments.items()
        }

    def judged(self) -> dict[str, list[Judged]]:
        """For each reading, which claims hold, in words."""
        return {reading: judged(CLAIMS, made, reading) for reading, made in self.statements.items()}

    def tables(self) -> dict[str, StudyTable]:
        """All tables, by the names of their files."""
        return dict(self._tables)

    @cached_property
    def _tables(self) -> dict[str, StudyTable]:
        made: dict[str, StudyTable] = {
            "claims": StudyTable(self.table(), "claims", "The paper's claims on these data", ""),
            "statistics": StudyTable(self._statistics(), "statistics", "The data", "1"),
            "methods": StudyTable(
                self._methods(), "methods", "The methods and their settings", "2"
            ),
            "sets": StudyTable(
                self._sets(), "sets", "The sets of queries, and how many they have", ""
            ),
        }
        for reading, experiments in self.experiments.items():
            for number, case in enumerate(CASES):
                cases = {name: each.cases[case.name] for name, each in experiments.items()}
                for name, table in self._case_tables(case, cases).items():
                    subject, _, data = name.partition("/")
                    text, papers = SUBJECTS[subject]
                    caption = text.format(case=case.name) + (f", {data}" if data else "")
                    file = "-".join(filter(None, (reading, case.name, subject, slug(data))))
                    made[file] = StudyTable(
                        table, subject, caption, papers[number], case.name, reading, data
                    )
        return made

    def _case_tables(self, case: Case, found: Mapping[str, CaseStudy]) -> dict[str, Table]:
        """The tables of a case, by subject, and by data set where each has its own."""
        made: dict[str, Table] = {}
        for subject, versions in (("scores", (case.name,)), ("normalised", VERSIONS)):
            for name, study in found.items():
                means = {
                    version: study.scores.values[version].mean(axis=2).T for version in versions
                }
                methods = next(iter(self.experiments.values()))[name].methods
                made[f"{subject}/{name}"] = tables.score_table(
                    methods, self.protocol.cutoffs, means
                )
        parts = {name: study.parts for name, study in found.items()}
        drawn = {name: Drawn(study.parts, study.draws) for name, study in found.items()}
        level = self.protocol.level
        made["tau"] = tables.tau_table(case, parts)
        made["conflicts"] = tables.conflict_table(case, parts)
        made["significant"] = tables.significant_table(case, parts)
        made["pad"] = tables.pad_table(case, parts)
        across = tables.across_collections(drawn)
        if across:
            made["swaps-data"] = tables.swap_table(case, "queries", across, level)
        sets = tables.within_collections(drawn, *tables.SET_PAIR)
        made["swaps-sets"] = tables.swap_table(case, "data", sets, level)
        breadths = tables.within_collections(drawn, *tables.BREADTHS)
        made["swaps-breadth"] = tables.swap_table(case, "data", breadths, level)
        rates = {name: study.document_swaps for name, study in found.items()}
        made["swaps-documents"] = tables.document_table(case, rates, level)
        return made

    def _statistics(self) -> Table:
        counts = (
            "documents",
            "queries",
            "features",
            "documents a query",
            "queries without relevant",
        )
        rows: list[tuple[Cell, ...]] = []
        for name, table in self.statistics.items():
            total = dict(zip(table.columns, table.rows[0], strict=True))
            drawn = self.protocol.queries
            queries = total["queries"]
            if drawn is not None and isinstance(queries, int):
                queries = min(drawn, queries)
            rows.append((name, *(total[column] for column in counts), queries))
        return Table(("data", *counts, "queries drawn"), tuple(rows))

    def _methods(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for reading in self.protocol.readings:
            for ranker in self.protocol.rankers(reading):
                settings = {
                    name: value
                    for name, value in ranker.settings().items()
                    if name not in ("preset", "seed")
                }
                shown = ", ".join(f"{name}={value}" for name, value in settings.items())
                rows.append((reading.name, type(ranker).__name__, reading.preset, shown))
        return Table(("reading", "method", "preset", "settings"), tuple(rows))

    def _sets(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for reading, experiments in self.experiments.items():
            for name, each in experiments.items():
                for case, study in each.cases.items():
                    sizes = {part: len(chosen) for part, chosen in study.scores.sets.items()}
                    equal = next((n for part, n in sizes.items() if part.endswith("size")), None)
                    own = [sizes[part] for part in (ALL, UNINFORMATIVE, IDEAL)]
                    breadth = (*each.breadth, sizes[BROAD], sizes[FOCUSED])
                    rows.append((reading, name, case, *own, equal, *breadth, each.without_relevant))
        columns = (
            *("reading", "data", "case", ALL, UNINFORMATIVE, IDEAL, "of equal size"),
            *("broad", "focused", "broad compared", "focused compared", "without relevant"),
        )
        notes = (
            f"broad: at least {self.protocol.broad_share:g} of the documents have a label of "
            f"{self.protocol.broad_label} or more; as many focused queries are drawn to compare",
        )
        return Table(columns, tuple(rows), notes)

    def figures(self) -> dict[str, StudyFigure]:
        """The histograms of expected scores (Figures 2 and 3) and the maps of queries (Figure 1), by the
        names of their files."""
        from rankgauge.figures.queries import expected_histogram, query_map

        made: dict[str, StudyFigure] = {}
        for reading, experiments in self.experiments.items():
            for name, each in experiments.items():
                for case, study in each.cases.items():
                    above = study.scores.above
                    left = dict(above.left_out)
                    measure = f"{name}: {case}, the mean over cut-offs"
                    where = f"{name}, reading {reading}"
                    for kind, caption, figure in (
                        (
                            "expected",
                            f"Expected {case} of random rankings, {where}",
                            expected_histogram({measure: above.expected}, {measure: left}),
                        ),
                        (
                            "map",
                            f"The map of queries by {case}: scores against chance, {where}",
                            query_map(_groups(study), left, measure=measure),
                        ),
                    ):
                        file = f"{reading}-{case}-{kind}-{slug(name)}"
                        made[file] = StudyFigure(figure, caption, case, reading)
        return made

    def query_tables(self) -> dict[str, Table]:
        """For each reading, case and data set: each query with its mean score, its expected score, the
        difference, and the set it is in."""
        made = {}
        for reading, experiments in self.experiments.items():
            for name, each in experiments.items():
                for case, study in each.cases.items():
                    made[f"{reading}-{case}-queries-{slug(name)}"] = query_table(study)
        return made

    def _title(self) -> str:
        data = " and ".join(collection.name for collection in self.protocol.collections)
        return f"Study: upper and expected value normalisation on {data}"


def _kinds(study: CaseStudy) -> dict[str, str]:
    """The set of each query of a case that is in one."""
    queries = study.scores.queries
    kinds = {queries[row]: IDEAL for row in study.scores.sets[IDEAL].tolist()}
    kinds |= {queries[row]: UNINFORMATIVE for row in study.scores.sets[UNINFORMATIVE].tolist()}
    return kinds


def _groups(study: CaseStudy) -> dict[str, tuple[list[float], list[float]]]:
    """For each set the scores and the expected scores of its queries."""
    kinds, above = _kinds(study), study.scores.above
    groups: dict[str, tuple[list[float], list[float]]] = {
        kind: ([], []) for kind in (IDEAL, UNINFORMATIVE, "other")
    }
    values = zip(above.queries, above.scores.tolist(), above.expected.tolist(), strict=True)
    for query, score, expected in values:
        scores, chances = groups[kinds.get(query, "other")]
        scores.append(score)
        chances.append(expected)
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


# Running


def run_study(
    protocol: Protocol,
    output: Path,
    *,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Study:
    """Do the study. `output` keeps the rankings, so that a later call goes on from what is finished.

    Parameters
    ----------
    protocol
        What is asked.
    output
        A folder. It is made, or has the same study; RankgaugeError where it has another one.
    executor
        Who does the work; by default threads. A pool of processes must not be made by fork.
    progress
        Called with what was done last.
    """
    protocol = protocol.checked()
    read = {
        each.name: read_folds(each.folds, protocol.folds, seed=protocol.seed)
        for each in protocol.collections
    }
    protocol = _with_digests(protocol, read)
    begin_folder(output, PROTOCOL_FILE, protocol.content(), "study")
    experiments: dict[str, dict[str, Experiment]] = {}
    ranked: dict[tuple[str, str], RankedQueries] = {}
    for reading in protocol.readings:
        for name, folds in read.items():
            if (name, reading.preset) not in ranked:
                folder = output / RUNS / f"{slug(name)}-{slug(reading.preset)}"
                ranked[name, reading.preset] = rank(
                    folds, reading, protocol, folder, executor, progress
                )
    for reading in protocol.readings:
        own = [ranked[name, reading.preset] for name in read]
        prepared = [
            _prepared(name, each, reading, protocol) for name, each in zip(read, own, strict=True)
        ]
        if len(prepared) == 2:
            prepared = equalised(prepared, reading)
        experiments[reading.name] = {}
        for place, name in enumerate(read):
            cases = study_cases(
                prepared[place], own[place], reading, protocol, place, executor, progress
            )
            experiments[reading.name][name] = Experiment(
                name,
                reading,
                tuple(run.name for run in own[place].runs),
                prepared[place].without_relevant,
                prepared[place].breadth,
                cases,
                own[place].notes,
            )
    statistics = {name: folds.statistics() for name, folds in read.items()}
    return Study(protocol, statistics, experiments)


def _prepared(name: str, ranked: RankedQueries, reading: Reading, protocol: Protocol) -> Prepared:
    try:
        return prepare(ranked, reading, protocol)
    except RankgaugeError as error:
        raise RankgaugeError(f"{name}, reading {reading.name}: {error}") from None


def _with_digests(protocol: Protocol, read: Mapping[str, Folds]) -> Protocol:
    """The protocol with digests of the data; RankgaugeError where it has others."""
    made = []
    for each in protocol.collections:
        digest = data_digest(read[each.name])
        if each.digest not in ("", digest):
            raise RankgaugeError(
                f"{each.folds}: other files than the study had for {each.name}, expected the same data"
            )
        made.append(DataSet(each.name, each.folds, digest))
    return replace(protocol, collections=tuple(made))

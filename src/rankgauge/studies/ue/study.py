"""The UE study from data to tables: Feng and Karmaker, sections 6.1 to 6.4, on any LETOR data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.comparison.assessed import ALL
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import display_name, read_bytes, writing
from rankgauge.data.folds import Folds, read_folds
from rankgauge.notes import Note, counted, worded
from rankgauge.query_sets.by_chance import TYPES
from rankgauge.rankers.fold_store import data_digest, json_bytes
from rankgauge.resampling import Progress
from rankgauge.results import Result
from rankgauge.scores.documents import read_json
from rankgauge.studies.index import Counterpart, index_table
from rankgauge.studies.ue import numbering, published, tables
from rankgauge.studies.ue.claims import (
    CLAIMS,
    Statement,
    claim_table,
    needed_table,
    statements,
    undecided_words,
)
from rankgauge.studies.ue.experiment import (
    BROAD,
    FOCUSED,
    IDEAL,
    UNINFORMATIVE,
    CaseStudy,
    ChosenQueries,
    Experiment,
    choose_queries,
    equalised,
    prepare,
    rank,
    study_cases,
)
from rankgauge.studies.ue.numbering import table_file
from rankgauge.studies.ue.protocol import (
    ASCENT,
    CASES,
    OBJECTIVE,
    VERSIONS,
    Case,
    Protocol,
    slug,
)
from rankgauge.studies.ue.tables import Drawn
from rankgauge.studies.verdicts import POWER, Judged, judged
from rankgauge.tables import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankgauge.workers import AnyExecutor

PROTOCOL_FILE = "study.json"
RUNS, TABLES, FIGURES, QUERIES = "runs", "tables", "figures", "queries"


FEW = 100
"""With fewer draws intervals are rough."""
VERDICTS = (
    "A claim says that the value is above the limit, which is 0 or, where nothing may be lost, minus "
    "the margin. It holds if low is above the limit, and does not hold if high is at most the limit; else "
    "these queries do not decide."
)
NOT_THE_PAPERS = (
    "called {printed}, but its counts are not those of Table 1 of the paper; so the printed numbers do "
    "not stand beside ours"
)


def interval_text(protocol: Protocol) -> str:
    """How intervals are made, in words."""
    return (
        f"The {protocol.level:.0%} interval by {counted(protocol.samples, 'draw')} of the queries with "
        "replacement; the sets of queries stay as they are. Each end is the farther one of the plain "
        "percentile, the bias-corrected one and the value."
    )


class StudyTable(NamedTuple):
    """A table of the study. `printed` has the numbers of the paper's tables that it repeats."""

    table: Table
    subject: str
    caption: str
    printed: tuple[int, ...] = ()
    case: str = ""
    reading: str = ""
    data: str = ""


class StudyFigure(NamedTuple):
    """A figure of the study. `printed` is the number of the paper's figure that it repeats."""

    figure: Figure
    caption: str
    printed: str
    case: str
    reading: str


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """What a UE study found: for each reading and data set an experiment."""

    protocol: Protocol
    statistics: Mapping[str, Table]
    """For each data set, the statistics of its folds."""
    experiments: Mapping[str, Mapping[str, Experiment]]
    changed: tuple[str, ...] = ()
    """In what the protocol differs from the one that the folder had before."""

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How queries and intervals were drawn, and what was left out."""
        samples = self.protocol.samples
        made = [Note(f"{interval_text(self.protocol)} {VERDICTS}", column="low, high")]
        made += [Note(text) for text in self.warnings()]
        if samples < FEW:
            made.append(Note(f"only {counted(samples, 'draw')}: the intervals are rough"))
        for reading, experiments in self.experiments.items():
            for name, found in experiments.items():
                made += [Note(text, part=f"{reading}, {name}") for text in found.notes]
        return tuple(made)

    def warnings(self) -> tuple[str, ...]:
        """What a reader must know who takes the data for those of the paper."""
        return tuple(
            f"{name}: {NOT_THE_PAPERS.format(printed=published.known(name))}"
            for name in self.statistics
            if published.known(name) and name not in self.recognised
        )

    def undecided_text(self) -> str:
        """What to take home from the claims that are not decided, claim by claim."""
        drawn = "; ".join(
            f"{name} {len(each.chosen.queries):,}"
            for name, each in next(iter(self.experiments.values())).items()
        )
        parts = undecided_words(self.statements)
        if not parts:
            return "Every statement is decided by these queries."
        return (
            "“Undecided” is no evidence against a claim: it says that these queries are too few to tell "
            f"(queries drawn: {drawn}). If the values seen here are the true ones, half of the "
            f"undecided statements of each claim would be decided, with a probability of {POWER:.0%}, "
            "by: "
            f"{'; '.join(parts)}."
        )

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
                {
                    name: {case: found.document_swaps for case, found in each.cases.items()}
                    for name, each in experiments.items()
                },
                self.protocol.margin,
            )
            for reading, experiments in self.experiments.items()
        }

    def judged(self) -> dict[str, list[Judged]]:
        """For each reading, which claims hold, in words."""
        texts = {key: f"{claim.text} [Tables {claim.tables}]" for key, claim in CLAIMS.items()}
        return {reading: judged(texts, made, reading) for reading, made in self.statements.items()}

    def tables(self) -> dict[str, StudyTable]:
        """All tables, by the names of their files."""
        return dict(self._tables)

    @cached_property
    def _tables(self) -> dict[str, StudyTable]:
        data, methods = numbering.DATA, numbering.METHODS
        made: dict[str, StudyTable] = {
            "claims": StudyTable(self.table(), "claims", "The paper's claims on these data"),
            "queries-to-decide": StudyTable(
                needed_table(self.statements), "needed", "How many queries would decide"
            ),
            table_file(data, "data"): StudyTable(self._statistics(), "data", "The data", data),
            table_file(methods, "methods"): StudyTable(
                self._methods(), "methods", "The methods and their settings", methods
            ),
            "sets": StudyTable(self._sets(), "sets", "The sets of queries, and how many they have"),
            "which-queries": StudyTable(
                self._both_means(),
                "which",
                "The means of all test queries, with 0 for queries without relevant documents and "
                "without these queries",
            ),
        }
        for reading, experiments in self.experiments.items():
            for case in CASES:
                cases = {name: each.cases[case.name] for name, each in experiments.items()}
                for name, table in self._case_tables(case, cases).items():
                    subject, _, data_set = name.partition("/")
                    printed = numbering.SUBJECTS[subject]
                    numbers = printed.of(case)
                    if len(numbers) > 1 and data_set in self.recognised:
                        place = published.COLLECTIONS.index(self.recognised[data_set])
                        numbers = (numbers[place],)
                    caption = printed.shows.format(case=case.name)
                    caption += f", {data_set}" if data_set else ""
                    made[table_file(numbers, subject, data_set, reading)] = StudyTable(
                        table, subject, caption, numbers, case.name, reading, data_set
                    )
        return made

    @cached_property
    def recognised(self) -> dict[str, str]:
        """The data sets that are those of the paper: called so, with the counts of Table 1."""
        named = {name: published.known(name) for name in self.statistics}
        return {
            name: printed
            for name, printed in named.items()
            if printed and _counts(self.statistics[name]).same(published.TABLE_1[printed])
        }

    def index(self) -> Table:
        """For each printed table and figure, the files that repeat it."""
        made = []
        for number in range(1, 27):
            files = tuple(
                f"{TABLES}/{name}.csv"
                for name, each in self.tables().items()
                if number in each.printed
            )
            shows = next(
                (each.caption for each in self.tables().values() if number in each.printed),
                _shows(number),
            )
            remark = "" if files else "needs two data sets"
            made.append(Counterpart(numbering.table_heading((number,)), shows, files, remark))
        for kind, shows in numbering.FIGURES.items():
            for case in CASES:
                number = numbering.figure_number(kind, case)
                files = tuple(
                    f"{FIGURES}/{numbering.figure_file(kind, case, name, reading)}.svg"
                    for reading, experiments in self.experiments.items()
                    for name in experiments
                )
                heading = numbering.figure_heading(number)
                made.append(Counterpart(heading, shows.format(case=case.name), files))
        return index_table(made)

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
        for data in self.protocol.collections:
            table = self.statistics[data.name]
            total = dict(zip(table.columns, table.rows[0], strict=True))
            trained = self.protocol.training_of(data)
            rows += (
                (
                    *(data.name, *(total[column] for column in counts), reading),
                    len(each[data.name].chosen.queries),
                    each[data.name].chosen.drawn_without_relevant,
                    "all" if trained is None else trained,
                )
                for reading, each in self.experiments.items()
            )
        columns = (
            *("data", *counts, "reading", "queries drawn", "of them without relevant"),
            "training queries of a fold",
        )
        return Table(columns, tuple(rows))

    def _both_means(self) -> Table:
        """The means of the measures, whichever queries count."""
        rows: list[tuple[Cell, ...]] = []
        for reading, experiments in self.experiments.items():
            for name, each in experiments.items():
                for case, means in each.means.items():
                    for place, method in enumerate(each.methods):
                        both = zip(means.as_zero[place], means.left_out[place], strict=True)
                        cells = (float(value) for pair in both for value in pair)
                        rows.append((reading, name, case, method, *cells))
        columns = [f"@{k}, {way}" for k in self.protocol.cutoffs for way in ("as 0", "left out")]
        notes = tuple(
            f"{name}: {each.chosen.without_relevant:,} of {each.chosen.total:,} test queries have no "
            "relevant document"
            for name, each in next(iter(self.experiments.values())).items()
        )
        return Table(("reading", "data", "measure", "method", *columns), tuple(rows), notes)

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
                name, objective = type(ranker).__name__, ranker.training_objective()
                origin = objective.origin
                own = f"{ASCENT}.{OBJECTIVE}" not in map(str.lower, self.protocol.settings)
                if reading.ascent_objective and name.lower() == ASCENT and own:
                    origin = "the dissertation, section 4.2.1"
                printed = published.METHODS.get(name, "")
                rows.append(
                    (reading.name, name, printed, objective.text, origin, reading.preset, shown)
                )
        columns = ("reading", "method", "short", "objective", "from", "preset", "settings")
        return Table(columns, tuple(rows))

    def _sets(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for reading, experiments in self.experiments.items():
            for name, each in experiments.items():
                for case, study in each.cases.items():
                    sizes = {part: len(chosen) for part, chosen in study.scores.sets.items()}
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
                for case in CASES:
                    study = each.cases[case.name]
                    above = study.scores.above
                    left = dict(above.left_out)
                    measure = f"{name}: {case.name}, the mean over cut-offs"
                    drawn = {
                        "expected": expected_histogram({measure: above.expected}, {measure: left}),
                        "map": query_map(_groups(study), left, measure=measure),
                    }
                    for kind, figure in drawn.items():
                        number = numbering.figure_number(kind, case)
                        shows = numbering.FIGURES[kind].format(case=case.name)
                        caption = f"{numbering.figure_heading(number)}: {shows}, {name}"
                        made[numbering.figure_file(kind, case, name, reading)] = StudyFigure(
                            figure, f"{caption}, reading {reading}", number, case.name, reading
                        )
        return made

    def query_tables(self) -> dict[str, Table]:
        """For each reading, case and data set: each query with its mean score, its expected score, the
        difference, and the set it is in."""
        made = {}
        for reading, experiments in self.experiments.items():
            for name, each in experiments.items():
                for case, study in each.cases.items():
                    made[f"{case}.{slug(name)}.reading-{reading}"] = query_table(study)
        return made

    def _title(self) -> str:
        data = " and ".join(collection.name for collection in self.protocol.collections)
        return f"Study: upper and expected value normalisation on {data}"


def _counts(statistics: Table) -> published.Counts:
    """What Table 1 has, of the statistics of folds."""
    total = dict(zip(statistics.columns, statistics.rows[0], strict=True))
    documents, queries, features = (
        int(str(total[name])) for name in ("documents", "queries", "features")
    )
    return published.Counts(documents, queries, features)


def _shows(number: int) -> str:
    """What a table of the paper shows."""
    return next(
        printed.shows.format(case=case.name)
        for printed in numbering.SUBJECTS.values()
        for case in CASES
        if number in printed.of(case)
    )


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
        A folder. It is made, or has a study already: then folds are reused that were trained on the same
        data with the same settings. RankgaugeError where it has folds of other data or settings.
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
    statistics = {name: folds.statistics() for name, folds in read.items()}
    chosen = _chosen(protocol, read)
    changed = changes(output, protocol)
    ranked = {
        (reading.name, data.name): rank(
            read[data.name],
            data,
            reading,
            protocol,
            output / RUNS / slug(data.name) / reading.name,
            executor,
            progress,
        )
        for reading in protocol.readings
        for data in protocol.collections
    }
    with writing(output / PROTOCOL_FILE) as stream:
        stream.write(json_bytes(protocol.content()))
    experiments: dict[str, dict[str, Experiment]] = {}
    for reading in protocol.readings:
        name = reading.name
        prepared = [
            prepare(ranked[name, data.name], chosen[name, data.name], data, reading, protocol)
            for data in protocol.collections
        ]
        if len(prepared) == 2:
            prepared = equalised(prepared, reading)
        experiments[name] = {}
        for place, data in enumerate(protocol.collections):
            own = ranked[name, data.name]
            cases = study_cases(prepared[place], own, reading, protocol, place, executor, progress)
            experiments[name][data.name] = Experiment(
                data.name,
                reading,
                tuple(run.name for run in own.runs),
                chosen[name, data.name],
                prepared[place].breadth,
                prepared[place].means,
                cases,
                (*chosen[name, data.name].notes, *own.notes),
            )
    return Study(protocol, statistics, experiments, changed)


def _chosen(protocol: Protocol, read: Mapping[str, Folds]) -> dict[tuple[str, str], ChosenQueries]:
    """By reading and data set, the test queries. All that the data alone can show to be wrong is an
    error here, before anything is trained."""
    results = {}
    for data in protocol.collections:
        judgments = read[data.name].test().judgments
        for reading in protocol.readings:
            try:
                results[reading.name, data.name] = choose_queries(
                    judgments, data, reading, protocol
                )
            except RankgaugeError as error:
                raise RankgaugeError(f"{data.name}, reading {reading.name}: {error}") from None
    return results


def changes(folder: Path, protocol: Protocol) -> tuple[str, ...]:
    """In what a protocol differs from the one in a folder. The folders of the folds decide whether what
    is trained can be used again."""
    path = folder / PROTOCOL_FILE
    if not path.exists():
        return ()
    source = display_name(path)
    there = read_json(read_bytes(path), source, "the study.json of a study", "rankgauge study ue")
    here = dict(read_json(json_bytes(protocol.content()), source))
    if not isinstance(there, dict) or there.get("study") != here["study"]:
        raise InputError(source, None, "no UE study; give another folder, or remove this one")
    return tuple(name for name in here if here[name] != there.get(name))


def _with_digests(protocol: Protocol, read: Mapping[str, Folds]) -> Protocol:
    """The protocol with digests of the data; RankgaugeError where it has others."""
    made = []
    for each in protocol.collections:
        digest = data_digest(read[each.name])
        if each.digest not in ("", digest):
            raise RankgaugeError(
                f"{each.folds}: other files than the study had for {each.name}, expected the same data"
            )
        made.append(replace(each, digest=digest))
    return replace(protocol, collections=tuple(made))

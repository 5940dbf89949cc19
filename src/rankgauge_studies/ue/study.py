"""The UE study from data to tables: Feng and Karmaker, sections 6.1 to 6.4, on any LETOR data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from rankgauge import Folds, InputError, RankgaugeError, read_folds
from rankgauge.extending import (
    Note,
    OwnPath,
    Progress,
    Record,
    Result,
    Table,
    count_phrase,
    display_name,
    json_bytes,
    note_texts,
    read_json,
    read_sealed,
    write_sealed,
)
from rankgauge.rankers.fold_store import ANOTHER_FOLDER, data_digest
from rankgauge_studies.index import index_table
from rankgauge_studies.ue import published
from rankgauge_studies.ue.claims import CLAIMS, Statement, statements
from rankgauge_studies.ue.counterparts import (
    StudyFigure,
    StudyTable,
    list_counterparts,
    query_tables,
    study_figures,
    study_tables,
)
from rankgauge_studies.ue.deciding import claim_table, undecided_sentences
from rankgauge_studies.ue.experiment import (
    ChosenQueries,
    Experiment,
    choose_queries,
    equalize_sets,
    prepare,
    rank,
    study_cases,
)
from rankgauge_studies.ue.protocol import Protocol, slug
from rankgauge_studies.verdicts import ClaimVerdict, judge_claims

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor

PROTOCOL_FILE = "study.json"
RUNS = "runs"
FEW_DRAWS = 100
"""With fewer draws, intervals are rough."""
VERDICTS = (
    "A claim says that the value is above the limit, which is 0 or, if nothing may be lost, "
    "minus the margin. It holds if low is above the limit, and does not hold if high is at "
    "most the limit; otherwise, these queries do not decide it."
)
WRONG_DATA = (
    "called {printed}, but its counts differ from those in Table 1 of the paper, so the "
    "printed numbers are not shown next to ours"
)


def interval_text(protocol: Protocol) -> str:
    """How intervals are made, in words."""
    return (
        f"The {protocol.level:.0%} interval comes from "
        f"{count_phrase(protocol.samples, 'draw')} of the queries with replacement; the sets "
        "of queries do not change. Each end is the farther one of the plain percentile, the "
        "bias-corrected one and the value."
    )


class Study(Result, Record):
    """What a UE study found: for each reading and data set an experiment."""

    protocol: Protocol
    statistics: Mapping[str, Table]
    """For each data set, the statistics of its folds."""
    experiments: Mapping[str, Mapping[str, Experiment]]
    changed: tuple[str, ...] = ()
    """How the protocol differs from the previous one in the folder."""

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How queries and intervals were drawn, and what was left out."""
        samples = self.protocol.samples
        made = [Note(f"{interval_text(self.protocol)} {VERDICTS}", column="low, high")]
        made += [Note(text) for text in self.warnings()]
        if samples < FEW_DRAWS:
            made.append(Note(f"only {count_phrase(samples, 'draw')}: the intervals are rough"))
        for reading, name, found in self.each():
            made += [Note(text, part=f"{reading}, {name}") for text in found.notes]
        return tuple(made)

    def each(self) -> Iterator[tuple[str, str, Experiment]]:
        """Each reading and data set with its experiment."""
        for reading, experiments in self.experiments.items():
            for name, found in experiments.items():
                yield reading, name, found

    def warnings(self) -> tuple[str, ...]:
        """What a reader must know who takes the data for those of the paper."""
        return wrong_data_warnings(self.statistics)

    def undecided_text(self) -> str:
        """What to take home from the claims that are not decided, claim by claim."""
        if not any(e.verdict == "undecided" for made in self.statements.values() for e in made):
            return "All statements are decided by these queries."
        needed = undecided_sentences(self.statements)
        if not needed:
            return (
                "The undecided statements do not depend on the number of queries: a set has "
                "fewer than two, or the interval is over splits of the documents."
            )
        drawn = "; ".join(f"{name} {self._query_count_text(name)}" for name in self.statistics)
        return (
            "“Undecided” is not evidence against a claim: there are too few queries to tell "
            f"(queries drawn: {drawn}). {needed}"
        )

    def _query_count_text(self, data: str) -> str:
        """How many queries of a data set are drawn, in every reading."""
        counts = {name: len(each[data].chosen.queries) for name, each in self.experiments.items()}
        if len(set(counts.values())) == 1:
            return f"{next(iter(counts.values())):,}"
        return " and ".join(f"{count:,} in the reading {name}" for name, count in counts.items())

    def table(self) -> Table:
        """A row for each statement of the paper's claims, with its interval and its verdict."""
        table = claim_table(self.statements)
        return Table(table.columns, table.rows, note_texts(self.notes))

    @cached_property
    def statements(self) -> dict[str, list[Statement]]:
        """For each reading, the statements of the claims."""
        return {
            reading: statements(
                {
                    name: {case: found.drawn for case, found in each.cases.items()}
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

    def verdicts(self) -> dict[str, list[ClaimVerdict]]:
        """For each reading, which claims hold, in words."""
        texts = {key: f"{claim.text} ({claim.source})" for key, claim in CLAIMS.items()}
        return {
            reading: judge_claims(texts, made, reading) for reading, made in self.statements.items()
        }

    def verdict_table(self) -> Table:
        """A row for each claim, with the tables that it rests on and its verdict in each reading."""
        names = {claim.text: (claim.short, claim.tables) for claim in CLAIMS.values()}
        texts = {key: claim.text for key, claim in CLAIMS.items()}
        verdicts = [judge_claims(texts, made) for made in self.statements.values()]
        rows = tuple(
            (*names[claims[0].claim], *(each.verdict for each in claims))
            for claims in zip(*verdicts, strict=True)
        )
        columns = ("claim", "tables", *(f"reading {reading}" for reading in self.statements))
        return Table(columns, rows)

    @cached_property
    def paper_names(self) -> dict[str, str]:
        """The data sets that are those of the paper: called so, with the counts of Table 1."""
        return recognize_data_sets(self.statistics)

    @cached_property
    def _tables(self) -> dict[str, StudyTable]:
        return study_tables(self)

    def tables(self) -> dict[str, StudyTable]:
        """All tables, by the names of their files."""
        return dict(self._tables)

    def figures(self) -> dict[str, StudyFigure]:
        """The figures, by the names of their files."""
        return study_figures(self)

    def query_tables(self) -> dict[str, Table]:
        """The queries of each reading, case and data set, by the names of their files."""
        return query_tables(self)

    def index(self, *, joined: bool = False, drawn: bool = True) -> Table:
        """Return a table of the files that repeat each printed table and figure.

        Each file has a row, or the files are joined in one row. `drawn` is whether figures were
        drawn.
        """
        return index_table(list_counterparts(self, drawn), joined=joined)

    def _title(self) -> str:
        data = " and ".join(collection.name for collection in self.protocol.collections)
        return f"Study: upper and expected value normalization on {data}"


def recognize_data_sets(statistics: Mapping[str, Table]) -> dict[str, str]:
    """The data sets of the paper, by our names: called so, with the counts of Table 1."""
    named = {name: published.find_data_set(name) for name in statistics}
    return {
        name: printed
        for name, printed in named.items()
        if printed and _counts(statistics[name]).same(published.TABLE_1[printed])
    }


def wrong_data_warnings(statistics: Mapping[str, Table]) -> tuple[str, ...]:
    """A warning for each data set that is called like one of the paper, and is not it."""
    genuine = recognize_data_sets(statistics)
    return tuple(
        f"{name}: {WRONG_DATA.format(printed=published.find_data_set(name))}"
        for name in statistics
        if published.find_data_set(name) and name not in genuine
    )


def _counts(statistics: Table) -> published.Counts:
    """What Table 1 has, of the statistics of folds."""
    total = dict(zip(statistics.columns, statistics.rows[0], strict=True))
    documents, queries, features = (
        int(str(total[name])) for name in ("documents", "queries", "features")
    )
    return published.Counts(documents, queries, features)


# Running


class StudyStart(Record):
    """What is known from the data alone, before anything is trained."""

    protocol: Protocol
    folds: Mapping[str, Folds]
    statistics: Mapping[str, Table]
    chosen: Mapping[tuple[str, str], ChosenQueries]
    """The test queries, by reading and data set."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know before a long wait."""
        chosen = (
            f"{data}, reading {reading}: {text}"
            for (reading, data), each in self.chosen.items()
            for text in each.notes
        )
        return (*wrong_data_warnings(self.statistics), *chosen)


def begin_study(protocol: Protocol) -> StudyStart:
    """Read the data, and check all that they alone can show to be wrong."""
    protocol = protocol.check()
    read = {
        each.name: read_folds(each.folds, protocol.folds, seed=protocol.seed)
        for each in protocol.collections
    }
    collections = []
    for each in protocol.collections:
        digest = data_digest(read[each.name])
        if each.digest not in ("", digest):
            raise RankgaugeError(
                f"{each.folds}: the files differ from those of {each.name} in the study, "
                "expected the same data"
            )
        collections.append(replace(each, digest=digest))
    protocol = replace(protocol, collections=tuple(collections))
    statistics = {name: folds.statistics() for name, folds in read.items()}
    chosen: dict[tuple[str, str], ChosenQueries] = {}
    for data in protocol.collections:
        judgments = read[data.name].test().judgments
        for reading in protocol.readings:
            try:
                queries = choose_queries(judgments, data, reading, protocol)
            except RankgaugeError as error:
                raise RankgaugeError(f"{data.name}, reading {reading.name}: {error}") from None
            chosen[reading.name, data.name] = queries
    return StudyStart(protocol, read, statistics, chosen)


def run_study(
    asked: Protocol | StudyStart,
    output: str | os.PathLike[str],
    *,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Study:
    """Do the study. `output` keeps the rankings, so that a later call goes on from what is finished.

    Parameters
    ----------
    asked
        What is asked, or what `begin_study` made of it.
    output
        A folder. It is made, or has a study already: then folds are reused that were trained on the same
        data with the same settings. RankgaugeError where it has folds of other data or settings.
    executor
        Where to run the work. By default, threads. A pool of processes must not be made by fork.
    progress
        Called with what was done last.
    """
    begun = begin_study(asked) if isinstance(asked, Protocol) else asked
    protocol, read, chosen = begun.protocol, begun.folds, begun.chosen
    output = OwnPath(output)
    changed = protocol_differences(output, protocol)
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
    write_sealed(output / PROTOCOL_FILE, protocol.content())
    experiments: dict[str, dict[str, Experiment]] = {}
    for reading in protocol.readings:
        name = reading.name
        prepared = [
            prepare(ranked[name, data.name], chosen[name, data.name], data, reading, protocol)
            for data in protocol.collections
        ]
        if len(prepared) == 2:
            prepared = equalize_sets(prepared, reading)
        experiments[name] = {}
        for place, data in enumerate(protocol.collections):
            own = ranked[name, data.name]
            cases = study_cases(prepared[place], own, reading, protocol, place, executor, progress)
            experiments[name][data.name] = Experiment(
                tuple(run.name for run in own.runs),
                chosen[name, data.name],
                prepared[place].breadth,
                prepared[place].means,
                cases,
                (*chosen[name, data.name].notes, *own.notes),
            )
    return Study(protocol, begun.statistics, experiments, changed)


def protocol_differences(folder: OwnPath, protocol: Protocol) -> tuple[str, ...]:
    """In what a protocol differs from the one in a folder.

    The folders of the folds decide whether what is trained can be used again.
    """
    path = folder / PROTOCOL_FILE
    if not path.exists():
        return ()
    source = display_name(path)
    maker = "rankgauge study ue"
    there = read_sealed(path, "the study.json of a study", maker, ANOTHER_FOLDER)
    here = dict(read_json(json_bytes(protocol.content()), source, "JSON", maker))
    if there.get("study") != here["study"]:
        raise InputError(source, None, "not a UE study; choose another folder, or remove this one")
    return tuple(name for name in here if here[name] != there.get(name))

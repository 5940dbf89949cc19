"""The page of a UE study: what was asked, which claims hold, the tables and the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankgauge.extending import (
    Facts,
    Finding,
    Item,
    Listing,
    Page,
    Picture,
    Record,
    Section,
    ShownTable,
    SideBySide,
    Table,
    Text,
    count_phrase,
)
from rankgauge_studies.ue import published
from rankgauge_studies.ue.counterparts import StudyTable, query_table
from rankgauge_studies.ue.numbering import SUBJECTS, figure_headings, table_heading
from rankgauge_studies.ue.protocol import CASES, Case, Protocol, Reading
from rankgauge_studies.ue.study import VERDICTS, Study, interval_text
from rankgauge_studies.verdicts import POWER

PAPER = (
    "Feng and Karmaker, Joint upper & expected value normalization for evaluation of retrieval "
    "systems (2023)"
)
READINGS = {
    "paper": "As printed: the settings of RankLib, coordinate ascent on MAP, an unpaired "
    "t-test, min(k, n)·p² for the expected sum of precisions, and 0 for queries "
    "without relevant documents.",
    "right": "As we think it should be: current settings, a paired t-test, exact expected "
    "values, and no queries without relevant documents.",
}
WITHOUT_RELEVANT = {
    "zero": "A query without relevant documents scores 0 with every ranking. Its best score "
    "and its chance are 0 too, so V1 and V2 would be 0/0; they count as 0. Its score "
    "minus chance is 0, so it can be drawn, and can be uninformative: the paper calls "
    "such a query hard.",
    "leave-out": "Queries without relevant documents are not drawn, and are in no mean and no set.",
}
FIRST_QUERIES = 10


class DrawnFigure(Record):
    """A figure as SVG, and what it shows."""

    svg: bytes
    caption: str
    case: str
    reading: str


NARROW = 5
"""Maximum number of columns in tables placed side by side."""


def study_page(study: Study, pictures: Sequence[DrawnFigure]) -> Page:
    """The page. `pictures` are the figures as SVG; there may be none."""
    data = " and ".join(collection.name for collection in study.protocol.collections)
    tables = study.tables()
    index = ShownTable(
        study.index(joined=True, drawn=bool(pictures)),
        "Printed tables and figures, and the files that replicate them",
    )
    return Page(
        f"Upper and expected value normalization on {data}",
        f"A replication of {PAPER}: scores relative to the best ranking and to a random one.",
        (
            _protocol_section(study.protocol),
            _claims(study, tables),
            _data(study, tables, pictures),
            *(_case(study, case, tables) for case in CASES),
            _other_data_section(study),
            _computation_section(study, tables),
            Section("Printed tables and our files", (index,)),
        ),
    )


def _protocol_section(protocol: Protocol) -> Section:
    facts = [
        ("Data", "; ".join(f"{each.name} ({each.folds})" for each in protocol.collections)),
        ("Methods", ", ".join(protocol.methods)),
        ("Cutoffs", ", ".join(map(str, protocol.cutoffs))),
        ("Readings", "; ".join(reading.name for reading in protocol.readings)),
    ]
    texts = [
        Text(
            "V1 = (A/best) · A/(A + chance) and V2 = (A − chance)/(best − chance), or (A − "
            "chance)/chance below chance. A is the score of a ranking, best the score of the "
            "best ranking, and chance the mean score of random rankings. V1 and V2 of DCG are "
            "shown next to nDCG, and V1 and V2 of the sum of precisions (SP) next to MAP."
        ),
        Text(
            "Uninformative queries are those on which the methods are least above chance; "
            "ideal queries are those on which they are furthest above it."
        ),
    ]
    readings = Listing(
        tuple(f"{reading.name}: {READINGS[reading.name]}" for reading in protocol.readings)
    )
    texts += (
        Text(f"Reading {reading.name}: {WITHOUT_RELEVANT[reading.without_relevant]}")
        for reading in protocol.readings
    )
    return Section("The questions", (*texts, readings, Facts(tuple(facts))))


def _claims(study: Study, tables: Mapping[str, StudyTable]) -> Section:
    sections = []
    for reading, found in study.verdicts().items():
        findings = tuple(
            Finding(each.verdict, each.kind, each.claim, each.sentences) for each in found
        )
        sections.append(Section(f"Reading: {reading}", (Text(READINGS[reading]), *findings)))
    about = (
        "Each claim is split into statements: one number for each data set and measure. The "
        "claim says that the number is above 0. If a claim says that nothing is lost, the "
        f"statement is that no more than {study.protocol.margin:g} percentage points are lost. "
        f"There is no correction for the number of statements. {interval_text(study.protocol)} "
        f"{VERDICTS}"
    )
    needed = Section(
        "How many queries would decide", (_show_table(tables["queries-to-decide"], about=NEEDED),)
    )
    verdicts = ShownTable(study.verdict_table(), "The verdicts")
    items = (verdicts, Text(study.undecided_text()), Text(about))
    return Section("Which claims hold here", items, (needed, *sections))


NEEDED = (
    "Samples of 3, 10 and 30 times as many queries are drawn from these, with replacement. A "
    "size is sufficient if a statement is decided on it, either way, with a probability of "
    f"{POWER:.0%}; this assumes that these queries are typical. Treat the numbers as lower "
    "bounds, especially for counts of pairs and of tests. Intervals over splits of the "
    "documents are not intervals over queries, so the claim about them has no number."
)


def _data(
    study: Study, tables: Mapping[str, StudyTable], pictures: Sequence[DrawnFigure]
) -> Section:
    sections = []
    for case in CASES:
        items: list[Item] = []
        for reading, experiments in study.experiments.items():
            own = [
                Picture(each.svg, each.caption, each.caption)
                for each in pictures
                if (each.reading, each.case) == (reading, case.name)
            ]
            if own:
                items.append(SideBySide(tuple(own)))
            items += (
                ShownTable(
                    _first_rows(query_table(each.cases[case.name])),
                    f"{name}, reading {reading}: the {FIRST_QUERIES} queries least above "
                    f"chance with {case.name}",
                )
                for name, each in experiments.items()
            )
        title = f"{figure_headings(case)}: queries by {case.name}"
        sections.append(Section(title, (Text(HARD_AND_EASY), *items)))
    printed = published.statistics(tuple(study.paper_names.values()))
    beside = [] if printed is None else [ShownTable(printed, "As printed")]
    warned = [Text(text) for text in study.warnings()]
    (data,) = (each for each in tables.values() if each.subject == "data")
    shown: tuple[Item, ...] = (_show_table(data), *beside, *warned, _show_table(tables["sets"]))
    which = Section(
        "Which queries count", (Text(EMPTY_QUERIES), _middle_means(study, tables["which-queries"]))
    )
    return Section("The data", shown, (which, *sections))


HARD_AND_EASY = (
    "Uninformative queries are split at their median score: those below it are hard, the "
    "others easy. The gray corners mark the hard, easy and ideal queries of the paper's "
    "Figure 1."
)
EMPTY_QUERIES = (
    "The paper does not say how it treats queries that have no relevant document. Its means "
    "on MQ2007, .40 to .43 with nDCG@10, fit counting them as 0, and so do LETOR's own "
    "baselines, about .44."
)


def _middle_means(study: Study, each: StudyTable) -> ShownTable:
    """The means at the cutoff that is nearest to 10; the file has all."""
    middle = min(study.protocol.cutoffs, key=lambda cutoff: abs(cutoff - 10))
    columns = each.table.columns
    chosen = [n for n, name in enumerate(columns) if n < 4 or name.startswith(f"@{middle},")]
    table = Table(
        tuple(columns[n] for n in chosen),
        tuple(tuple(row[n] for n in chosen) for row in each.table.rows),
        each.table.notes,
    )
    return ShownTable(table, each.caption, digits=4)


def _first_rows(table: Table) -> Table:
    return Table(table.columns, table.rows[:FIRST_QUERIES], table.notes)


def _case(study: Study, case: Case, tables: Mapping[str, StudyTable]) -> Section:
    sections = []
    for subject, printed_as in SUBJECTS.items():
        own = [
            each for each in tables.values() if (each.case, each.subject) == (case.name, subject)
        ]
        items: list[Item] = []
        for data in dict.fromkeys(each.data for each in own):
            beside: list[Item] = [_show_table(each) for each in own if each.data == data]
            printed = _printed_tables(study, subject, case, data)
            both = (*beside, *printed)
            narrow = max(len(each.table.columns) for each in own) <= NARROW
            items += [SideBySide(both)] if narrow else both
        if items:
            heading = table_heading(printed_as.of(case))
            title = f"{heading}: {printed_as.shows.format(case=case.name)}"
            sections.append(Section(title, tuple(items)))
    return Section(case.name, (), tuple(sections))


def _show_table(each: StudyTable, about: str = "") -> ShownTable:
    caption = each.caption
    if each.reading:  # below a heading that says what it shows
        caption = ", ".join(filter(None, (each.data, f"reading “{each.reading}”")))
    elif each.printed:
        caption = f"{table_heading(each.printed)}: {caption}"
    return ShownTable(each.table, caption, about, _digits(each.subject))


def _digits(subject: str) -> int:
    return 4 if subject in ("scores", "normalized") else 3


def _printed_tables(study: Study, subject: str, case: Case, data: str) -> list[ShownTable]:
    """The paper's table of the same data sets, where there is one."""
    names = [data] if data else [each.name for each in study.protocol.collections]
    same = tuple(study.paper_names[name] for name in names if name in study.paper_names)
    if not same:
        return []
    table = published.published_table(subject, case.name, same)
    if table is None:
        return []
    caption = f"As printed: {', '.join(same)}"
    about = "Printed numbers are truncated; docs/ERRATA.md lists those that cannot be right."
    if (subject, case.name) == ("swaps-documents", "nDCG"):
        about += " Table 6.12 of the dissertation has .25 instead of 0."
    if subject in ("scores", "normalized"):
        about += " Means on MQ2007 have the four digits of the dissertation; the paper has three."
    return [ShownTable(table, caption, about, _digits(subject))]


def _other_data_section(study: Study) -> Section:
    """The paper's tables of data sets that the study does not have."""
    there = set(study.paper_names.values())
    missing = tuple(name for name in published.COLLECTIONS if name not in there)
    if not missing:
        return Section("The paper's tables", (Text("All are shown next to ours, above."),))
    sections = []
    for case in CASES:
        items: list[Item] = []
        for subject, printed in SUBJECTS.items():
            chosen: list[tuple[str, ...]] = [(name,) for name in missing]
            if subject not in ("scores", "normalized"):
                chosen = [missing]
            if subject == "swaps-data":
                chosen = [published.COLLECTIONS]
            for names in chosen:
                table = published.published_table(subject, case.name, names)
                if table is not None:
                    numbers = printed.of(case)
                    if len(numbers) > 1:
                        numbers = (numbers[published.COLLECTIONS.index(names[0])],)
                    shows = printed.shows.format(case=case.name)
                    caption = f"{table_heading(numbers)}: {shows}. Other data: {', '.join(names)}"
                    items.append(ShownTable(table, caption, digits=_digits(subject)))
        sections.append(Section(f"{case.name}, other data", tuple(items)))
    about = (
        f"These tables are for {' and '.join(missing)}, which this study does not include. "
        "They are separate because numbers for different data cannot be compared cell by "
        "cell. docs/ERRATA.md of rankgauge lists known errors in them."
    )
    return Section("The paper's tables: other data", (Text(about),), tuple(sections))


def _computation_section(study: Study, tables: Mapping[str, StudyTable]) -> Section:
    protocol, content = study.protocol, study.protocol.content()
    facts = [
        ("rankgauge", str(content["rankgauge"])),
        ("Libraries", ", ".join(f"{name} {v}" for name, v in content["libraries"].items() if v)),
        ("Seed", str(protocol.seed)),
        ("Size of the uninformative and of the ideal set", _sizes(protocol)),
        ("Draws of queries", f"{protocol.samples:,}"),
        ("Splits of documents", f"{protocol.replicates} into {protocol.ways} parts"),
        *((f"Reading {reading.name}", _settings(reading)) for reading in protocol.readings),
        ("Running the same study again", "rankgauge study ue --again study.json -o another-folder"),
    ]
    notes = tuple(
        f"{reading}, {name}: {text}" for reading, name, each in study.each() for text in each.notes
    )
    (methods,) = (each for each in tables.values() if each.subject == "methods")
    items: list[Item] = [Facts(tuple(facts)), _show_table(methods)]
    if notes:
        items.append(Listing(notes))
    return Section("How it was computed", tuple(items))


def _sizes(protocol: Protocol) -> str:
    """How large the sets of each data set are, in words."""
    texts = []
    for data in protocol.collections:
        size = protocol.size(data)
        text = count_phrase(size.number or 0, "query")
        if size.share is not None:
            text = f"{size.share:.0%} of the queries drawn"
        texts.append(f"{data.name}: {text}")
    return "; ".join(texts)


def _settings(reading: Reading) -> str:
    return (
        f"preset {reading.preset}; test {reading.test}; reb={reading.reb}, iub={reading.iub}; "
        f"difference {reading.by}; informative by {reading.informative_by}; queries without "
        f"relevant documents: {reading.without_relevant}; coordinate ascent on "
        f"{reading.ascent_objective or 'the measure of the preset'}"
    )

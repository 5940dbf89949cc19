"""The page of a study of texts: which claims hold, the tables and the figures, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.extending import (
    Cell,
    Facts,
    Finding,
    Item,
    Listing,
    Page,
    Picture,
    Section,
    ShownTable,
    Table,
    Text,
)
from rankgauge.text import HETEROGENEOUS, HOMOGENEOUS
from rankgauge_studies.index import index_table
from rankgauge_studies.text import published, tables
from rankgauge_studies.text.corpus import corpus_table
from rankgauge_studies.text.counterparts import list_counterparts
from rankgauge_studies.text.experiment import DataSetResult
from rankgauge_studies.text.preference_tables import (
    comparison_text,
    preferences_text,
    win_table,
)
from rankgauge_studies.text.protocol import (
    BERTSCORE_READINGS,
    MOST_SIMILAR,
    ROUGE_READINGS,
    layer_name,
)
from rankgauge_studies.text.study import TextStudy

DISSERTATION = (
    "Feng, Upper and expected value normalization (dissertation, 2023), chapters 8, 9 and 11"
)
DOCUMENTS = {
    "8.1": "all documents",
    "8.2": f"the {{count}} most {HETEROGENEOUS} documents",
    "8.3": f"the {{count}} most {HOMOGENEOUS} documents",
    "9.1": "all documents",
}
FILE_EXTRAS = {
    "8.1": "Other systems and layers, and correlations over texts and over all outputs,",
    "8.2": "Other systems and layers",
    "8.3": "Other systems and layers",
    "9.1": "Other systems, and correlations over systems and over texts,",
}
"""What the file of a table contains beyond the page."""
INDEX_ABOUT = "The file in this folder that replicates each table and figure of the dissertation"

TASK_COLUMNS = (
    *("data", "metric", "own", "task", "below own", "below task", "change own", "change task"),
    "agreement",
)


def study_page(
    study: TextStudy, pictures: Mapping[str, tuple[bytes, str]], index: Table | None = None
) -> Page:
    """The page.

    Parameters
    ----------
    study
        What was found.
    pictures
        The figures as SVG with their captions, by name; there may be none.
    index
        Where the counterparts of the printed tables are; made of `study` by default.
    """
    if index is None:
        index = index_table(list_counterparts(study, pictures))
    data = " and ".join(each.name for each in study.examined)
    return Page(
        f"Does normalization by a random baseline help text metrics? {data}",
        f"A replication of {DISSERTATION} with another encoder: do V1 and V2 of BERTScore and "
        "ROUGE agree better with human ratings than BERTScore and ROUGE do?",
        (
            _claims(study),
            Section("Printed tables and our files", (ShownTable(index, INDEX_ABOUT),)),
            _protocol_section(),
            Section("The data", (ShownTable(corpus_table(study.examined), "Table 4.3", digits=1),)),
            *(_data(study, each, pictures) for each in study.examined),
            _chance(study),
            _computation_section(study),
        ),
    )


def _claims(study: TextStudy) -> Section:
    judged = study.verdicts()
    summary = Table(("claim", "here"), tuple((each.claim, each.verdict) for each in judged))
    findings = tuple(
        Finding(each.verdict, each.kind, each.claim, each.sentences) for each in judged
    )
    about = (
        "Each claim is split into statements: each statement says that one number is above 0. "
        f"Numbers about agreement are means over the rated dimensions. {study.interval_text()} "
        "There is no correction for the number of statements."
    )
    short = Listing(tuple(study.short_text()))
    return Section(
        "Which claims hold here",
        (short, ShownTable(summary, "The verdicts"), Text(about), *findings),
    )


def _protocol_section() -> Section:
    readings = tuple(
        f"{name}, {reading.name}: {reading.about}."
        for name, readings in (("BERTScore", BERTSCORE_READINGS), ("ROUGE", ROUGE_READINGS))
        for reading in readings
    )
    return Section(
        "The questions",
        (
            Text(
                "V1 = A²/(A + chance), and V2 = (A − chance)/(1 − chance), or (A − "
                "chance)/chance below chance. A is the score of an output, and chance is the "
                "score of a random text in its place. The dissertation leaves open how this "
                "text is drawn. These readings are compared:"
            ),
            Listing(readings),
            Text(
                "A document is heterogeneous if the tokens most similar to it have nearly the "
                "same BERTScore as the least similar ones, and homogeneous if the two scores "
                "are very different (Algorithm 2). PAI is the percentage increase of a "
                "correlation. It explodes near 0. At 0, the dissertation divides by 1."
            ),
        ),
    )


def _data(
    study: TextStudy, examined: DataSetResult, pictures: Mapping[str, tuple[bytes, str]]
) -> Section:
    sizes = [f"{name} systems: {len(own)}" for name, own in examined.data.groups.items()]
    facts = [
        ("Documents", str(len(examined.data.texts))),
        ("Systems", "; ".join(sizes)),
        *([("People rated", ", ".join(examined.dimensions))] if examined.dimensions else []),
        ("People prefer", preferences_text(examined)),
    ]
    correlations = _correlations(study, examined) if examined.correlated else []
    kinds = _kinds(study, examined, pictures)
    sections = (
        *correlations[:1],
        *([Section("Kinds of documents", tuple(kinds))] if kinds else []),
        *correlations[1:],
        _preferences(examined),
        _readings(examined),
    )
    return Section(examined.name, (Facts(tuple(facts)),), sections)


def _correlations(study: TextStudy, examined: DataSetResult) -> list[Section]:
    made = []
    for title, numbers in (("BERTScore", ("8.1", "8.2", "8.3")), ("ROUGE", ("9.1",))):
        shown: list[Item] = [each for n in numbers for each in _panels(study, examined, n)]
        if shown and tables.has_printed_numbers(examined):
            shown.insert(0, Text(published.PRINTED_LEVELS[numbers[0]][1]))
        if shown:
            made.append(Section(f"{title} and human ratings", tuple(shown)))
    levels = ShownTable(
        tables.interval_table(examined, study.asked),
        f"τ-b with intervals, {examined.data.correlation_groups()[0]} systems",
        "Over systems: the correlation between system means. Over texts: the correlation over "
        "systems on each document, averaged over documents. Over rows: the correlation over "
        "all outputs. If chance is one number per document, it does not change any order on "
        "that document, so over texts V1 and V2 have the same τ-b as their metric.",
    )
    return [*made, Section("Over systems, texts and all outputs", (levels,))]


def _preferences(examined: DataSetResult) -> Section:
    """Tables 8.4 and 9.2."""
    numbers = ("8.4", "9.2") if examined.bert else ("9.2",)
    shown = [
        ShownTable(
            _drop_columns(win_table([examined], number), "data"),
            f"Table {number}: whom people side with, {comparison_text(examined)}",
            digits=2,
        )
        for number in numbers
    ]
    return Section("Where a metric and its normalized form disagree", tuple(shown))


def _readings(examined: DataSetResult) -> Section:
    chance = ShownTable(
        _drop_columns(tables.chance_table([examined]), "data", "about"),
        "The mean score and the random baseline",
    )
    better = ShownTable(
        _drop_columns(tables.overview_table([examined]), "data", "systems"),
        "How much better V1 and V2 agree with human ratings",
        "Other systems and each dimension are in tables/correlations.csv.",
    )
    return Section("Each reading of chance", (better, chance) if examined.correlated else (chance,))


def _kinds(
    study: TextStudy, examined: DataSetResult, pictures: Mapping[str, tuple[bytes, str]]
) -> list[Item]:
    """Figures 8.1 to 8.3, with the tables of kinds of documents."""
    names = [published.file_name(f"Figure {n}", examined.name) for n in ("8.1", "8.2", "8.3")]
    drawn = [pictures[each] for each in names if each in pictures]
    items: list[Item] = [Picture(svg, caption, caption) for svg, caption in drawn]
    if examined.kinds is not None:
        table = ShownTable(
            examined.kinds.table(), "Kinds of documents according to each layer", digits=4
        )
        items.insert(0, table)
        if examined.correlated:
            items.append(
                ShownTable(
                    tables.kinds_table(examined, study.asked),
                    "How much better V1 and V2 with Algorithm 1 agree with human ratings, by kind",
                )
            )
    return items


def _panels(study: TextStudy, examined: DataSetResult, number: str) -> list[ShownTable]:
    """Our tables of the first layer by Algorithm 1, or of each ROUGE, with the printed numbers."""
    systems = examined.data.correlation_groups()[0]
    over, _ = published.PRINTED_LEVELS[number]
    first = (layer_name(study.asked.layers[0]), MOST_SIMILAR.name)
    printed = published.printed_rows(number) if tables.has_printed_numbers(examined) else []
    file = f"tables/{published.file_name(f'Table {number}', examined.name)}.csv"
    about = f"{FILE_EXTRAS[number]} are in {file}."
    count = 0 if examined.kinds is None else examined.kinds.count
    documents = DOCUMENTS[number].format(count=count)
    if printed:
        encoder = "" if number == "9.1" else f", with the encoder {published.ENCODER}"
        about += f" The printed numbers are next to ours{encoder}."
        if number == "9.1":
            about += " The printed 0.4 is a misprint for 0.04: its PAI is 6.2."
    return [
        ShownTable(
            _add_printed_columns(examined.dimensions, rows, printed),
            f"Table {number}: {panel.metric}, chance: {panel.chance}, {documents}, {systems} systems, "
            f"over {tables.LEVEL_NAMES[over]}",
            about,
        )
        for panel, rows in tables.panels(examined, study.asked, number).items()
        if (panel.systems, panel.over) == (systems, over)
        and (number == "9.1" or (panel.metric, panel.chance) == first)
    ]


def _add_printed_columns(
    dimensions: tuple[str, ...],
    rows: list[tuple[Cell, ...]],
    printed: list[tuple[Cell, ...]],
) -> Table:
    """Rows of τ-b and PAI, each number with the printed one beside it where there is one."""
    if not printed:
        return Table(("τ-b", *dimensions), tuple(rows))
    columns = [name for each in dimensions for name in (each, "printed")]
    both = [
        (ours[0], *(cell for pair in zip(ours[1:], theirs[1:], strict=True) for cell in pair))
        for ours, theirs in zip(rows, printed, strict=True)
    ]
    return Table(("τ-b", *columns), tuple(both))


def _chance(study: TextStudy) -> Section:
    task = tables.task_table(study.examined, study.asked)
    shown = ShownTable(
        Table(TASK_COLUMNS, task.rows, task.notes),
        "V2 with the metric's own chance, and with the chance of the task",
    )
    one = Section("One chance for all metrics", (Text(study.task_text()), shown))
    return Section("The random baseline", (Listing(tuple(study.chance_text())),), (one,))


def _drop_columns(table: Table, *columns: str) -> Table:
    kept = [place for place, name in enumerate(table.columns) if name not in columns]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return Table(tuple(table.columns[place] for place in kept), rows, table.notes)


def _computation_section(study: TextStudy) -> Section:
    asked, content = study.asked, study.content
    facts = [
        ("rankgauge", str(content["rankgauge"])),
        ("Libraries", ", ".join(f"{name} {v}" for name, v in content["libraries"].items() if v)),
        (
            "Encoder of BERTScore",
            f"{study.encoder_name}, digest {study.encoder}" if study.bert else "none",
        ),
        ("Layers", ", ".join(map(str, asked.layers))),
        ("Reference", "the first one of each document"),
        ("Samples of documents", f"{asked.samples:,}"),
        ("Seed", str(asked.seed)),
        *((f"Data {name}", f"digest {told}") for name, told in content["data"].items()),
    ]
    notes = tuple(str(note) for note in study.notes[1:])
    return Section(
        "How it was computed", (Facts(tuple(facts)), *([Listing(notes)] if notes else []))
    )

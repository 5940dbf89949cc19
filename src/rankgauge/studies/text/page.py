"""The page of a study of texts: which claims hold, the tables and the figures, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping

from rankgauge.report.html import (
    Facts,
    Finding,
    Item,
    Listing,
    Page,
    Picture,
    Section,
    ShownTable,
    Text,
)
from rankgauge.studies.text import published, tables
from rankgauge.studies.text.experiment import Examined
from rankgauge.studies.text.protocol import (
    MOST_SIMILAR,
    OF_BERTSCORE,
    OF_ROUGE,
    ROUGE,
    WORDS,
    layer_name,
)
from rankgauge.studies.text.study import TextStudy
from rankgauge.studies.ue.protocol import slug
from rankgauge.tables import Cell, Table
from rankgauge.text.documents import HETEROGENEOUS, HOMOGENEOUS

DISSERTATION = (
    "Feng, Upper and expected value normalization (dissertation, 2023), chapters 8, 9 and 11"
)
DOCUMENTS = {
    "8.1": "all documents",
    "8.2": f"the most {HETEROGENEOUS} documents",
    "8.3": f"the most {HOMOGENEOUS} documents",
    "9.1": "all documents",
}


def study_page(study: TextStudy, pictures: Mapping[str, tuple[bytes, str]]) -> Page:
    """The page. `pictures` are the figures as SVG with their captions, by name; there may be none."""
    data = " and ".join(each.name for each in study.examined)
    return Page(
        f"Does normalisation by chance help text metrics? {data}",
        f"The experiments of {DISSERTATION}, done again with another encoder: do V1 and V2 of BERTScore "
        "and ROUGE agree better with people than BERTScore and ROUGE do?",
        (
            _claims(study),
            _asked(study),
            *(_data(study, each, pictures) for each in study.examined),
            _chance(study),
            _computed(study),
        ),
    )


def _claims(study: TextStudy) -> Section:
    found = study.judged()
    summary = Table(("claim", "here"), tuple((each.claim, each.verdict) for each in found))
    findings = tuple(Finding(each.verdict, each.kind, each.claim, each.sentences) for each in found)
    about = (
        "Each claim is cut into statements: one number each, which the claim says is above 0. Numbers "
        "about agreement with people are means over the dimensions that people rated. "
        f"{study.interval_text()} Nothing is corrected for the number of statements."
    )
    short = Listing(tuple(study.short_text()))
    return Section(
        "Which claims hold here",
        (short, ShownTable(summary, "The verdicts"), Text(about), *findings),
    )


def _asked(study: TextStudy) -> Section:
    texts: list[Item] = [
        Text(
            "V1 = A²/(A + chance), and V2 = (A − chance)/(1 − chance), or (A − chance)/chance below "
            "chance. A is the score of an output, and chance is what a text that nobody wrote gets in "
            "its place. The dissertation leaves open what that text is. These readings are compared:"
        ),
        Listing(
            tuple(
                f"{name}, {reading.name}: {reading.about}."
                for name, readings in (("BERTScore", OF_BERTSCORE), ("ROUGE", OF_ROUGE))
                for reading in readings
            )
        ),
        Text(
            "A document is heterogeneous if the tokens most similar to it get nearly the BERTScore of "
            "the least similar ones, and homogeneous if they get a very different one (Algorithm 2). "
            "PAI is the increase of a correlation in percent. It explodes near 0. At 0 the dissertation "
            "divides by 1."
        ),
    ]
    return Section("What was asked", tuple(texts))


def _data(
    study: TextStudy, examined: Examined, pictures: Mapping[str, tuple[bytes, str]]
) -> Section:
    sizes = [f"{name} systems: {len(own)}" for name, own in examined.data.groups.items()]
    facts = [
        ("Documents", str(len(examined.data.texts))),
        ("Systems", "; ".join(sizes)),
        ("People rated", ", ".join(examined.dimensions)),
    ]
    bert = [_panels(study, examined, number) for number in ("8.1", "8.2", "8.3")]
    kinds: list[Item] = []
    if examined.kinds is not None:
        kinds.append(
            ShownTable(examined.kinds.table(), "Kinds of documents by each layer", digits=4)
        )
    kinds += [
        Picture(svg, caption, caption)
        for name, (svg, caption) in pictures.items()
        if name.endswith(f"-{slug(examined.name)}")
    ]
    systems = tables.compared_systems(examined)
    preferences: list[Item] = [
        ShownTable(
            tables.preference_summary(examined),
            f"Whom people agree with: {systems} systems",
            "The counterpart of Tables 8.4 and 9.2.",
            2,
        ),
        ShownTable(
            published.printed_preferences(), "As printed: other outputs, other people", digits=2
        ),
    ]
    return Section(
        examined.name,
        (Facts(tuple(facts)),),
        (
            Section("BERTScore and people", tuple(item for each in bert for item in each)),
            Section("Kinds of documents", tuple(kinds)),
            Section("ROUGE and people", tuple(_panels(study, examined, "9.1"))),
            Section("Where a metric and its normalised form disagree", tuple(preferences)),
        ),
    )


def _panels(study: TextStudy, examined: Examined, number: str) -> list[ShownTable]:
    """Our tables of the first layer by Algorithm 1, or of each ROUGE, with the printed numbers."""
    systems = examined.data.correlated()[0]
    every = tables.panels(examined, study.asked, number)
    if number == "9.1":
        wanted = [tables.Panel(systems, each.name, WORDS.name) for each in ROUGE]
    else:
        first = layer_name(study.asked.layers[0])
        wanted = [tables.Panel(systems, first, MOST_SIMILAR.name)]
    printed = published.printed_rows(number) if tables.as_printed(examined) else []
    about = f"The counterpart of Table {number}."
    if printed:
        encoder = "" if number == "9.1" else f", by the encoder {published.ENCODER}"
        about += f" The printed numbers are beside ours{encoder}."
    return [
        ShownTable(
            _beside(examined.dimensions, every[panel], printed),
            f"{panel.metric}, chance: {panel.chance}, {DOCUMENTS[number]}, {systems} systems",
            about,
            2,
        )
        for panel in wanted
        if panel in every
    ]


def _beside(
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
    return Section(
        "What chance gets",
        (
            Listing(tuple(study.chance_text())),
            ShownTable(
                _without(tables.chance_table(study.examined), "about"),
                "The mean score, and what chance gets, by each reading",
            ),
            ShownTable(
                tables.overview_table(study.examined),
                "By how much V1 and V2 agree better with people, by each reading",
                "Other layers, other systems and each dimension are in tables/correlations.csv.",
            ),
        ),
        (
            Section(
                "One chance for all metrics",
                (
                    Text(study.task_text()),
                    ShownTable(
                        tables.task_table(study.examined, study.asked),
                        "Chance by metric (own) and by task",
                    ),
                ),
            ),
        ),
    )


def _without(table: Table, column: str) -> Table:
    place = table.columns.index(column)
    rows = tuple((*row[:place], *row[place + 1 :]) for row in table.rows)
    return Table((*table.columns[:place], *table.columns[place + 1 :]), rows, table.notes)


def _computed(study: TextStudy) -> Section:
    asked, content = study.asked, study.content
    facts = [
        ("rankgauge", str(content["rankgauge"])),
        ("Libraries", ", ".join(f"{name} {v}" for name, v in content["libraries"].items() if v)),
        ("Encoder of BERTScore", f"digest {study.encoder}"),
        ("Layers", ", ".join(map(str, asked.layers))),
        ("Reference", "the first one of each document"),
        ("Samples of documents", f"{asked.samples:,}"),
        ("Seed", str(asked.seed)),
        *((f"Data {name}", f"digest {told}") for name, told in content["data"].items()),
    ]
    notes = tuple(str(note) for note in study.notes[1:])
    items: list[Item] = [Facts(tuple(facts))]
    if notes:
        items.append(Listing(notes))
    return Section("How it was computed", tuple(items))

"""What `rankgauge assess` prints and writes: tables for programs, pages for people, JSON and figures."""

from __future__ import annotations

from dataclasses import replace

from rankgauge.cli.options import Output
from rankgauge.cli.output import line_width, print_or_write
from rankgauge.comparison.assessed import HALF_COLUMNS, Assessment, AssessmentFigure
from rankgauge.core.notes import note_texts
from rankgauge.core.tables import Table
from rankgauge.io.files import atomic_write

TABLES = {
    "measures": Assessment.table,
    "pairs": Assessment.pair_table,
    "swaps": Assessment.swap_table,
}
HEADINGS = {
    "measures": "Measures",
    "halves": "Halves of the queries",
    "pairs": "Pairs of measures",
    "swaps": "Pairs of sets",
}


def write_json(assessment: Assessment, file: str) -> None:
    """Write everything to a file, as one JSON object."""
    import json

    text = json.dumps(assessment.to_dict(), allow_nan=False)
    with atomic_write(file) as stream:
        stream.write(f"{text}\n".encode("ascii"))


def draw_figures(assessment: Assessment, files: dict[AssessmentFigure, str | None]) -> None:
    """Draw the figures for which the user named a file."""
    from rankgauge.figures.files import save_figure

    for kind, file in files.items():
        if file is not None:
            save_figure(assessment.figure(kind), file)


def show_assessment(assessment: Assessment, shown: str | None, long: bool, output: Output) -> None:
    """Print one table for programs, or all tables with headings for people.

    `shown` is the only table to print. `long` says whether people get all columns.

    The notes come once, at the end.
    """
    if output.for_programs:
        output.show(TABLES[shown or "measures"](assessment))
        return
    tables = {name: make(assessment) for name, make in TABLES.items() if shown in (None, name)}
    tables = {name: table for name, table in tables.items() if table.rows}
    pages = {
        name: table.for_reading()
        for name, table in (_long_pages(tables, assessment) if long else tables).items()
    }
    remarks = note_texts(note for note in assessment.notes if note.column is None)
    about_columns = (note for page in pages.values() for note in page.notes if note not in remarks)
    notes = (*dict.fromkeys(about_columns), *remarks)
    form, last = output.chosen_form, list(pages)[-1]
    texts = []
    for name, table in pages.items():
        page = replace(table, notes=notes if name == last else ())
        text = HEADINGS[name]
        heading = {"md": f"### {text}\n\n", "latex": f"% {text}\n"}.get(form, f"{text}\n\n")
        text = page.render(form, digits=output.digits, width=line_width(output.file))
        texts.append((heading if len(pages) > 1 else "") + text)
    print_or_write(["\n".join(texts)], output.file)


def _long_pages(tables: dict[str, Table], assessment: Assessment) -> dict[str, Table]:
    """The tables with all columns that say something; the table of measures is split in two.

    Columns that mislead are left out, and a note says so.
    """
    misleading = assessment.misleading_columns
    pages: dict[str, Table] = {}
    for name, table in tables.items():
        left_out = {*misleading} | assessment.idle_columns(name)
        columns = [column for column in table.columns if column not in left_out]
        if name != "measures":
            pages[name] = replace(table, shown=tuple(columns))
            continue
        own = tuple(column for column in columns if column not in HALF_COLUMNS)
        pages[name] = replace(table, shown=own)
        if misleading:
            why = next(iter(misleading.values()))
            left = f"omitted because {why}; --format csv has all columns"
            notes = (*table.notes, f"{', '.join(misleading)}: {left}")
            pages[name] = replace(pages[name], notes=notes)
        if halves := [column for column in columns if column in HALF_COLUMNS]:
            named = own[: own.index("measure") + 1]
            pages["halves"] = replace(table, shown=(*named, *halves))
    return pages

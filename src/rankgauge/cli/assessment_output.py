"""What `rankgauge assess` prints and writes: tables for programs, pages for people, JSON and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankgauge.cli.options import Output
from rankgauge.cli.output import choose_format, line_width, print_or_write
from rankgauge.comparison.assessed import Assessment, AssessmentFigure
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


def show_assessment(assessment: Assessment, shown: str | None, output: Output) -> None:
    """Print one table for programs, or all tables with headings for people.

    `shown` is the only table to print.

    The notes come once, at the end.
    """
    form = choose_format(output.form, output.file)
    if output.for_programs:
        output.show(TABLES[shown or "measures"](assessment))
        return
    tables = {name: make(assessment) for name, make in TABLES.items() if shown in (None, name)}
    tables = {name: table for name, table in tables.items() if table.rows}
    notes = tuple(dict.fromkeys(note for table in tables.values() for note in table.notes))
    pages = _split_tables(tables, assessment)
    texts = []
    for name, table in pages.items():
        page = replace(table, notes=notes if name == list(pages)[-1] else ())
        text = HEADINGS[name]
        heading = {"md": f"### {text}\n\n", "latex": f"% {text}\n"}.get(form, f"{text}\n\n")
        text = page.render(form, digits=output.digits, width=line_width(output.file))
        texts.append((heading if len(pages) > 1 else "") + text)
    print_or_write(["\n".join(texts)], output.file)


def _split_tables(tables: dict[str, Table], assessment: Assessment) -> dict[str, Table]:
    """The tables for people: the table of measures is split in two.

    The column `set` is left out if there is only one set.
    """
    pages: dict[str, Table] = {}
    for name, table in tables.items():
        columns = table.columns[int(len(assessment.parts) == 1) :]
        if name == "measures":
            at = columns.index("decisions")
            pages[name] = _select_columns(table, columns[:at])
            halved = any(
                each.splits for part in assessment.parts.values() for each in part.values()
            )
            if halved:
                named = columns[: columns.index("measure") + 1]
                pages["halves"] = _select_columns(table, (*named, *columns[at:]))
        else:
            pages[name] = _select_columns(table, columns)
    return pages


def _select_columns(table: Table, columns: Sequence[str]) -> Table:
    places = [table.columns.index(column) for column in columns]
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(columns), rows=rows)

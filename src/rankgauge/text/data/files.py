"""Files of texts: JSON Lines, CSV, and the JSON of SummEval and REALSumm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple, TypeVar

from rankgauge.core.notes import count_phrase
from rankgauge.errors import InputError
from rankgauge.io.files import SIZE_LIMIT
from rankgauge.io.rows import (
    FileRow,
    FileRows,
    RowLocation,
    check_distinct_keys,
    format_names,
    identifier,
    read_rows,
    text_cell,
)
from rankgauge.io.trec import Path
from rankgauge.scores.csv_files import MOST_CELLS, MOST_CELLS_PER_ROW
from rankgauge.text.data.texts import Texts

R = TypeVar("R")

ID, SYSTEM, SOURCE, OUTPUT, OUTPUTS = "id", "system", "source", "output", "outputs"
ANNOTATOR = "annotator"
SUMMARIES = "sys_summs"
"""The key of the system outputs in the JSON files of SummEval and REALSumm."""
REFERENCE = re.compile(r"references?[ _-]?([0-9]{0,3})")
"""The names of columns and keys that hold references."""
TEXTS = re.compile(rf"source|output|outputs|{REFERENCE.pattern}")
"""The names of columns that hold texts."""
JSON_LINE = (
    '{"id": "1", "source": "…", "references": ["…"], "outputs": {"system A": "…", "system B": "…"}}'
)
EXPECTED = (
    f"expected JSON Lines such as {JSON_LINE}, or CSV with one row per text and system and the "
    "columns id, system, output, reference (more references: reference_2, …) and, optionally, "
    "source"
)


def read_texts(path: Path, *, size_limit: int = SIZE_LIMIT) -> Texts:
    """Read texts from a file: sources, references, and the outputs of systems.

    The file has one of these formats:

    - JSON Lines with one text per line: `id`, `source`, `references` (a string or a list) and
      `outputs` (`{system: output}`). A system has no output for a text if the value is null or
      absent.
    - CSV or TSV with one row per text and system, and the columns id, system, output, source and
      reference. Further references have the columns reference_2, reference_3 and so on. Only one
      row of a text needs the source and the references.
    - The JSON of SummEval and REALSumm, as in the BARTScore repository.

    The source is optional. Without it, the expected score of a random text is unknown.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed; "-" is standard input.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.

    Returns
    -------
    Texts
        The texts.

    Raises
    ------
    InputError
        If the file has another format, contradicts itself or is too large. The error names the
        line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rankgauge.text import read_texts
    >>> line = '{"id": "1", "source": "a b c", "references": "a b", "outputs": {"lead": "a b c"}}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "texts.jsonl")
    ...     _ = path.write_text(line)
    ...     read_texts(path)
    Texts: 1 text, 1 system
    """
    rows = read_rows(path, EXPECTED, (ID, SYSTEM), size_limit=size_limit, key_by_id=SUMMARIES)
    if rows.columns is not None:
        return _texts_from_columns(rows, rows.columns)
    return _build_texts(
        rows.source, map(_text_from_summaries if rows.by_id else _text_from_line, rows.rows)
    )


class _Text(NamedTuple):
    """A text of a file."""

    name: str
    source: str
    references: tuple[str, ...]
    outputs: Mapping[str, str | None]
    where: RowLocation


def _build_texts(source: str, texts: Iterator[_Text]) -> Texts:
    """All texts of a file, with a place in each system's list for each text."""
    known: dict[str, _Text] = {}
    systems: dict[str, int] = {}
    filled = 0
    for each in texts:
        if each.name in known:
            first = known[each.name].where.first_line_hint()
            raise each.where.error(f"the id {each.name!r} again{first}, expected each id once")
        known[each.name] = each
        for system in each.outputs:
            systems.setdefault(system, len(systems))
        filled += len(each.outputs)
    if not known:
        raise InputError(source, None, f"no texts, {EXPECTED}")
    if not systems:
        raise InputError(source, None, "no outputs, expected those of at least one system")
    refuse_sparse(filled, {"text": len(known), "system": len(systems)}, source)
    values = list(known.values())
    return Texts(
        [each.source for each in values],
        [each.references for each in values],
        {system: [each.outputs.get(system) for each in values] for system in systems},
        list(known),
    )


def refuse_sparse(filled: int, sizes: Mapping[str, int], source: str) -> None:
    """InputError for a table that would be nearly empty and huge."""
    if prod(sizes.values()) > max(MOST_CELLS, MOST_CELLS_PER_ROW * filled):
        named = " × ".join(count_phrase(count, thing) for thing, count in sizes.items())
        raise InputError(
            source,
            None,
            f"only {filled:,} rows for {named}, expected a row for most of them (are the "
            "columns id and system right?)",
        )


def known_rows(
    rows: Iterable[R], texts: Texts | None, about: Callable[[R], tuple[str, set[str]]]
) -> tuple[list[R], dict[str, int]]:
    """The rows about these texts and their systems, and how many are about other ones.

    `about` gives the text and the systems of a row; without texts all rows are kept.
    """
    left_out = {"text": 0, "system": 0}
    if texts is None:
        return list(rows), left_out
    kept, ids, systems = [], set(texts.ids), set(texts.systems)
    for row in rows:
        text, own = about(row)
        if text not in ids:
            left_out["text"] += 1
        elif not own <= systems:
            left_out["system"] += 1
        else:
            kept.append(row)
    return kept, left_out


def annotator(cells: Mapping[str, Any], where: RowLocation) -> str | None:
    """Who gives the judgment of a row, if the row says so."""
    name = cells.get(ANNOTATOR)
    return None if name in (None, "") else identifier(ANNOTATOR, name, where)


# JSON


def _text_from_line(row: FileRow) -> _Text:
    """The text of a line of JSON Lines."""
    cells, where = row
    check_distinct_keys(cells, where)
    if ID not in cells:
        raise where.error(f"no id (the keys are {format_names(list(cells))}), {EXPECTED}")
    given = [key for key in ("references", "reference") if cells.get(key) is not None]
    if len(given) != 1:
        fault = "references and reference" if given else "no references"
        keys = format_names(list(cells))
        raise where.error(
            f'{fault} (the keys are {keys}), expected "references" with a text or a list of texts'
        )
    if not isinstance(outputs := cells.get(OUTPUTS), dict):
        raise where.error('no outputs, expected "outputs": {"system": "its output"}')
    check_distinct_keys(outputs, where, "system")
    return _Text(
        identifier(ID, cells[ID], where),
        _source(cells.get(SOURCE), where),
        _references(cells[given[0]], where),
        _outputs(outputs, where),
        where,
    )


def _source(value: object, where: RowLocation) -> str:
    """The source; passages of a list stand on lines of their own."""
    if isinstance(value, list):
        return "\n".join(text_cell(SOURCE, each, where) for each in value)
    return "" if value is None else text_cell(SOURCE, value, where)


def _references(value: object, where: RowLocation) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    if not several:
        raise where.error("an empty list of references, expected at least one")
    return tuple(text_cell("reference", each, where) for each in several)


def _outputs(outputs: Mapping[str, Any], where: RowLocation) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    for name, value in outputs.items():
        system = identifier("name of a system", name, where)
        if system in texts:
            raise where.error(f"the system {system!r} twice, expected it once")
        texts[system] = None if value is None else text_cell(f"output of {system!r}", value, where)
    return texts


def _text_from_summaries(row: FileRow) -> _Text:
    """A text of SummEval or REALSumm: the first reference is ref_summ, and ref_summs are all."""
    cells, where = row
    several: Any = cells.get("ref_summs") or []
    if not isinstance(several, list):
        raise where.error("ref_summs is not a list, expected a list of references")
    if (first := cells.get("ref_summ")) is not None:
        place = several.index(first) if first in several else len(several)
        several = [first, *several[:place], *several[place + 1 :]]
    if not several:
        raise where.error("no references, expected ref_summ or ref_summs")
    outputs = {name: each.get("sys_summ") for name, each in summaries_of(row).items()}
    return _Text(
        identifier(ID, cells[ID], where),
        _source(cells.get("src"), where),
        _references(several, where),
        _outputs(outputs, where),
        where,
    )


def summaries_of(row: FileRow) -> dict[str, Mapping[str, Any]]:
    """What SummEval or REALSumm has of each system for a text: its summary and its ratings."""
    cells, where = row
    systems = cells.get(SUMMARIES)
    if not isinstance(systems, dict):
        raise where.error(f'no {SUMMARIES}, expected {{"system": {{"sys_summ": "…"}}}}')
    check_distinct_keys(systems, where, "system")
    for name, each in systems.items():
        if not isinstance(each, dict):
            raise where.error(f'the system {name!r} has no object, expected {{"sys_summ": "…"}}')
        check_distinct_keys(each, where)
    return systems


# CSV


def _texts_from_columns(rows: FileRows, columns: tuple[str, ...]) -> Texts:
    """The texts of CSV: the rows of a text need not stand together."""
    references = sorted(
        (int(match[1] or 1), name) for name in columns if (match := REFERENCE.fullmatch(name))
    )
    if OUTPUT not in columns or not references:
        lacking = OUTPUT if OUTPUT not in columns else "reference"
        raise InputError(
            rows.source, 1, f"no column {lacking} (there are {format_names(columns)}), {EXPECTED}"
        )
    wanted = [*([SOURCE] if SOURCE in columns else []), *(name for _, name in references)]
    texts: dict[str, _TextRows] = {}
    for cells, where in rows.rows:
        name = identifier(ID, cells[ID], where)
        text = texts.setdefault(name, _TextRows(where, {}, {}))
        for column in wanted:
            if not cells[column].strip():
                continue
            known, first = text.cells.setdefault(column, (cells[column], where))
            if known != cells[column]:
                raise where.error(
                    f"not the same {column} as before for this id{first.first_line_hint()}, "
                    "expected the same, or "
                    "an empty cell"
                )
        system = identifier(SYSTEM, cells[SYSTEM], where)
        _, first = text.outputs.setdefault(system, (cells[OUTPUT], where))
        if first is not where:
            raise where.error(
                f"a second output of {system!r} for the same id{first.first_line_hint()}, expected one"
            )
    names = [name for _, name in references]
    return _build_texts(rows.source, (text.whole(name, names) for name, text in texts.items()))


class _TextRows(NamedTuple):
    """What the rows of a text contain so far.

    `where` is the first row. `cells` has the source and the references by column, and `outputs` has
    the outputs by system; each comes with its row.
    """

    where: RowLocation
    cells: dict[str, tuple[str, RowLocation]]
    outputs: dict[str, tuple[str, RowLocation]]

    def whole(self, name: str, references: list[str]) -> _Text:
        given = tuple(self.cells[column][0] for column in references if column in self.cells)
        if not given:
            raise self.where.error(
                f"the text {name!r} has no reference in any of its rows, expected one in the column "
                f"{references[0]}"
            )
        source = self.cells[SOURCE][0] if SOURCE in self.cells else ""
        outputs = {system: output for system, (output, _) in self.outputs.items()}
        return _Text(name, source, given, outputs, self.where)

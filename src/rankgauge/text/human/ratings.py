"""Ratings of texts by people: by dimension, such as coherence, and by annotator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.data.model import freeze
from rankgauge.errors import InputError, MeasureError
from rankgauge.io.files import SIZE_LIMIT
from rankgauge.io.rows import (
    FileRows,
    RowLocation,
    check_distinct_keys,
    format_names,
    identifier,
    read_rows,
)
from rankgauge.io.trec import Path
from rankgauge.measures.elsewhere import GivenScores, given
from rankgauge.scores.csv_files import MISSING_VALUES, NUMBER
from rankgauge.scores.matrices import LARGEST, from_matrix
from rankgauge.scores.model import Scores, mean_of
from rankgauge.scores.validation import shorten
from rankgauge.text.data.files import (
    ANNOTATOR,
    ID,
    SUMMARIES,
    SYSTEM,
    TEXTS,
    annotator,
    known_rows,
    refuse_sparse,
    summaries_of,
)
from rankgauge.text.data.texts import Texts

EXPECTED = (
    "expected CSV with the columns id, system and one column per rated dimension, such as "
    'id,system,coherence, or JSON Lines such as {"id": "1", "system": "A", "coherence": 4}; '
    "several annotators have one row each and are named in a column annotator"
)
NOBODY = -1
"""The number that stands for an unknown annotator."""


class NoRatingsError(InputError):
    """The file has no ratings. It may contain something else, such as texts."""


class Ratings(Result, Record):
    """Human ratings of outputs, in one or more dimensions such as coherence.

    Parameters
    ----------
    scores : Scores
        System × text × dimension: the mean over the annotators, NaN where nobody rated.
    annotators : tuple of str
        The names of the annotators, as far as they are known.
    system, text, annotator : ndarray of int
        For each single rating the positions of its system, text and annotator. The annotator is −1 if
        unknown.
    values : ndarray
        Rating × dimension: the single ratings, NaN for a dimension that was not rated.
    notes : tuple of Note, optional
        Notes on the ratings.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge import Scores
    >>> from rankgauge.text import Ratings
    >>> means = Scores.from_matrix([[3.5], [2.0]], runs=["bart", "t5"], measure="coherence")
    >>> people = Ratings(
    ...     means, ("ann", "ben"),
    ...     system=np.array([0, 0, 1]), text=np.array([0, 0, 0]), annotator=np.array([0, 1, 0]),
    ...     values=np.array([[3.0], [4.0], [2.0]]),
    ... )
    >>> people.dimensions
    ('coherence',)
    """

    scores: Scores
    annotators: tuple[str, ...]
    system: Ints
    text: Ints
    annotator: Ints
    values: Floats
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "system", "text", "annotator", "values")

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of what was rated."""
        return tuple(title_of(measure) for measure in self.scores.measures)

    def table(self) -> Table:
        """Return a table with one row per dimension.

        Each row has the mean and the range of the ratings, the number of ratings, and the number
        of rated outputs.
        """
        rows: list[tuple[Cell, ...]] = []
        for d, dimension in enumerate(self.dimensions):
            known = self.values[~np.isnan(self.values[:, d]), d]
            outputs = int(np.count_nonzero(~np.isnan(self.scores.values[:, :, d])))
            ends = (float(known.min()), float(known.max())) if known.size else (math.nan, math.nan)
            rows.append((dimension, mean_of(known), *ends, len(known), outputs))
        columns = ("dimension", "mean", "lowest", "highest", "ratings", "outputs")
        return Table(columns, tuple(rows), note_texts(self.notes))

    def _title(self) -> str:
        systems, texts = count_phrase(len(self.scores.runs), "system"), len(self.scores.queries)
        return f"Ratings: {systems}, {count_phrase(texts, 'text')}"


def title_of(measure: Any) -> str:
    """What a dimension is called: the title alone, if its scores were given."""
    plain = isinstance(measure, GivenScores) and measure.better == "higher" and measure.title
    return str(measure.title) if plain else str(measure)


class _Rating(NamedTuple):
    """One rating: who rated the output of which system for which text, and how."""

    text: str
    system: str
    annotator: str | None
    values: Mapping[str, float]
    where: RowLocation


def read_ratings(
    path: Path, texts: Texts | None = None, *, size_limit: int = SIZE_LIMIT
) -> Ratings:
    r"""Read ratings from a CSV or JSON Lines file with one row per rating, or from SummEval's JSON.

    A row has the `id` of the text, the `system`, and a number for each dimension. The column
    `annotator` is optional. A cell that is empty, NA or nan (in JSON null) was not rated. Columns with
    texts (source, reference, output) are skipped.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed; "-" is standard input.
    texts : Texts, optional
        Keep only ratings of these texts and systems. A note gives the number of other ratings.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.

    Returns
    -------
    Ratings
        The ratings, and their means over the annotators.

    Raises
    ------
    NoRatingsError
        If the file has no ratings.
    InputError
        If the file has another format or contradicts itself. The error names the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rankgauge.text import read_ratings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ratings.csv")
    ...     _ = path.write_text("id,system,annotator,coherence\n1,bart,ann,3\n1,bart,ben,4\n")
    ...     people = read_ratings(path)
    >>> people.scores.values.tolist(), people.annotators
    ([[[3.5]]], ('ann', 'ben'))
    """
    rows = read_rows(path, EXPECTED, (ID, SYSTEM), size_limit=size_limit, key_by_id=SUMMARIES)
    ratings = _ratings_from_summaries(rows) if rows.by_id else _ratings_from_rows(rows)
    return _collect_ratings(ratings, texts, rows.source)


def _ratings_from_rows(rows: FileRows) -> Iterator[_Rating]:
    if rows.columns is not None and not any(map(_is_dimension, rows.columns)):
        raise NoRatingsError(
            rows.source,
            1,
            f"no column with ratings (there are {format_names(rows.columns)}), {EXPECTED}",
        )
    for cells, where in rows.rows:
        if rows.columns is None:
            check_distinct_keys(cells, where)
        for key in (ID, SYSTEM):
            if key not in cells:
                message = f"no {key} (the keys are {format_names(list(cells))}), {EXPECTED}"
                raise where.error(message, NoRatingsError)
        values = {}
        for name, cell in cells.items():
            if _is_dimension(name):
                values[name] = _number(name, cell, where)
        yield _Rating(
            identifier(ID, cells[ID], where),
            identifier(SYSTEM, cells[SYSTEM], where),
            annotator(cells, where),
            values,
            where,
        )


@lru_cache(1000)
def _is_dimension(name: str) -> bool:
    return name not in (ID, SYSTEM, ANNOTATOR) and TEXTS.fullmatch(name) is None


def _ratings_from_summaries(rows: FileRows) -> Iterator[_Rating]:
    """The means that SummEval and REALSumm have of each summary."""
    for row in rows.rows:
        name = identifier(ID, row.cells[ID], row.where)
        for system, summary in summaries_of(row).items():
            ratings = summary.get("scores")
            if ratings is None:
                continue
            if not isinstance(ratings, dict):
                raise row.where.error(
                    f"the scores of {shorten(system)} are not an object, expected "
                    '{"coherence": 4}'
                )
            check_distinct_keys(ratings, row.where)
            values = {key: _number(key, value, row.where) for key, value in ratings.items()}
            yield _Rating(
                name, identifier("name of a system", system, row.where), None, values, row.where
            )


def _number(name: str, value: object, where: RowLocation) -> float:
    """A rating; NaN for none."""
    if value is None or (isinstance(value, str) and value.strip().lower() in MISSING_VALUES):
        return math.nan
    number = math.inf
    if isinstance(value, str):
        if NUMBER.fullmatch(value.strip()) is None:
            raise where.error(
                f"{shorten(value)} in the column {shorten(name)} is not a rating, expected a "
                "number or an empty cell (leave out columns without ratings)"
            )
        number = float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) <= LARGEST or value != value else math.inf
    else:
        raise where.error(
            f"the rating {shorten(name)} is {shorten(value)}, expected a number, or null for none"
        )
    if abs(number) > LARGEST:
        raise where.error(
            f"the rating {shorten(name)} is {shorten(value)}, expected a magnitude of at most {LARGEST}"
        )
    return number


def _collect_ratings(ratings: Iterator[_Rating], texts: Texts | None, source: str) -> Ratings:
    """All ratings of a file in arrays, those of unknown texts and systems left out."""
    kept, left_out = known_rows(ratings, texts, lambda rating: (rating.text, {rating.system}))
    total = len(kept) + sum(left_out.values())
    if not total:
        raise NoRatingsError(source, None, f"no ratings, {EXPECTED}")
    if not kept:
        raise InputError(
            source,
            None,
            f"{count_phrase(total, 'rating')}, but none is about these texts and systems "
            f"({count_phrase(left_out['text'], 'rating')} of other texts, "
            f"{left_out['system']:,} of other systems); use the same ids and system names in "
            "both files",
        )
    notes = [
        Note(f"ratings of unknown {thing}s, ignored: {{count}}", count=count)
        for thing, count in left_out.items()
        if count
    ]
    return _build_ratings(kept, texts, source, notes)


def _build_ratings(
    kept: list[_Rating], texts: Texts | None, source: str, notes: list[Note]
) -> Ratings:
    systems = _numbers((each.system for each in kept), None if texts is None else texts.systems)
    ids = _numbers((each.text for each in kept), None if texts is None else texts.ids)
    people = _numbers(each.annotator for each in kept if each.annotator is not None)
    dimensions = _numbers(name for each in kept for name in each.values)
    if not dimensions:
        raise NoRatingsError(source, None, f"no ratings, {EXPECTED}")
    sizes = {"text": len(ids), "system": len(systems), "dimension": len(dimensions)}
    refuse_sparse(len(kept) * len(dimensions), sizes, source)
    refuse_sparse(len(kept), {"rating": len(kept), "dimension": len(dimensions)}, source)
    _refuse_repeated(kept)
    measures = [_measure(name, source) for name in dimensions]
    values = np.full((len(kept), len(dimensions)), np.nan)
    for row, each in enumerate(kept):
        for name, value in each.values.items():
            values[row, dimensions[name]] = value
    if np.isnan(values).all():
        raise NoRatingsError(
            source, None, f"no ratings in {count_phrase(len(kept), 'row')}, {EXPECTED}"
        )
    system = np.array([systems[each.system] for each in kept], dtype=np.int64)
    text = np.array([ids[each.text] for each in kept], dtype=np.int64)
    who = np.array([people.get(each.annotator or "", NOBODY) for each in kept], dtype=np.int64)
    means = _means(values, system, text, (len(systems), len(ids)))
    scores = from_matrix(means, list(systems), list(ids), measures)
    return Ratings(scores, tuple(people), system, text, who, values, tuple(notes))


def _numbers(names: Iterator[Any], order: tuple[str, ...] | None = None) -> dict[str, int]:
    """The different names, numbered as they come, or in a given order."""
    there = dict.fromkeys(names)
    ordered = there if order is None else [name for name in order if name in there]
    return {name: number for number, name in enumerate(ordered)}


def _measure(name: str, source: str) -> GivenScores:
    try:
        return given(name)
    except MeasureError:
        raise InputError(
            source,
            None,
            f"{shorten(name)} is not a valid dimension name, expected at most 200 characters, "
            "without both kinds of quotes",
        ) from None


def _refuse_repeated(kept: list[_Rating]) -> None:
    """InputError where an annotator rates an output twice; unnamed annotators may be several."""
    seen: dict[tuple[str, str, str], RowLocation] = {}
    for each in kept:
        if each.annotator is None:
            continue
        first = seen.setdefault((each.text, each.system, each.annotator), each.where)
        if first is not each.where:
            raise each.where.error(
                f"a second rating of {shorten(each.system)} for the text {shorten(each.text)} by "
                f"{shorten(each.annotator)}{first.first_line_hint()}, expected one"
            )


def _means(values: Floats, system: Ints, text: Ints, shape: tuple[int, int]) -> Floats:
    """System × text × dimension: the mean of the ratings, NaN without any."""
    place = system * shape[1] + text
    size = shape[0] * shape[1]
    means = np.full((size, values.shape[1]), np.nan)
    for d, column in enumerate(values.T):
        known = ~np.isnan(column)
        number = np.bincount(place[known], minlength=size)
        total = np.bincount(place[known], column[known], size)
        rated = number > 0
        means[rated, d] = total[rated] / number[rated]
    return means.reshape(*shape, -1)

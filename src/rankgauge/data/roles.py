"""What columns of tables and keys of JSON are for, and the names they are known by.

Names compare without case, and `-`, `_` and blanks do not count: `Query-ID` is `query_id`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rankgauge.core.notes import shorten
from rankgauge.core.records import Record, Value
from rankgauge.errors import InputError, RankgaugeError

MAX_COLUMNS_SHOWN = 20
"""Maximum number of columns listed in a message, and of characters shown of each name."""


ColumnChoice = str | tuple[str, ...] | None
"""The column name passed by the caller, or alternatives of which a table has one; None if none."""


class ColumnNames(Value):
    """The names of columns that the caller gave."""

    query: ColumnChoice = None
    document: ColumnChoice = None
    score: ColumnChoice = None
    grade: ColumnChoice = None
    subtopic: ColumnChoice = None

    @classmethod
    def of(cls, columns: AnyColumnNames | None) -> ColumnNames:
        """The names in a dict by role; RankgaugeError for an unknown role or a name that is no text.

        >>> ColumnNames.of({"score": "similarity"}).score
        'similarity'
        """
        if columns is None or isinstance(columns, ColumnNames):
            return columns or USUAL_NAMES
        roles = [field.name for field in cls._fields]
        known = f"{', '.join(roles[:-1])} or {roles[-1]}"
        if not isinstance(columns, Mapping):
            raise RankgaugeError(
                f"columns={columns!r}, expected a dict of names by role: {known}; for example "
                '{"score": "similarity"}'
            )
        for role, name in columns.items():
            if role not in roles:
                raise RankgaugeError(f"columns: unknown role {role!r}, expected {known}")
            names = name if isinstance(name, tuple) else (name,)
            if name is not None and not all(isinstance(one, str) for one in names):
                raise RankgaugeError(f"columns: {role}={name!r}, expected the name of a column")
        return cls(**columns)

    def all_names(self) -> set[str]:
        """The names that were given."""
        names = (self.query, self.document, self.score, self.grade, self.subtopic)
        return {name for chosen in names for name in _choices(chosen)}


AnyColumnNames: TypeAlias = ColumnNames | Mapping[str, ColumnChoice]
"""Column names as users specify them: {"score": "similarity"}."""


def _choices(chosen: ColumnChoice) -> tuple[str, ...]:
    if chosen is None:
        return ()
    return (chosen,) if isinstance(chosen, str) else chosen


USUAL_NAMES = ColumnNames()


class Role(Record):
    """What a column is for: how to ask for it, and the names it is known by.

    `tiers` has the best names first. A name counts only where the table has none of a better tier:
    beside `qid`, a column `query` holds the text of the query.
    """

    option: str
    tiers: tuple[tuple[str, ...], ...]

    def place(self, columns: Sequence[object], chosen: ColumnChoice, source: str) -> int | None:
        """The place of the column in this role, None where there is none; InputError for several."""
        if chosen:
            choices = _choices(chosen)
            places = [place for place, column in enumerate(columns) if column in choices]
            return self._single_place(places, columns, source, RENAMING)
        plain = [normalize_name(column) for column in columns]
        for names in self.tiers:
            known = {normalize_name(name) for name in names}
            places = [place for place, column in enumerate(plain) if column in known]
            if places:
                return self._single_place(places, columns, source, self.remedy)
        return None

    def find(self, columns: Sequence[object], chosen: ColumnChoice, source: str) -> int:
        """The place of the column in this role; InputError where there is none, or more than one."""
        place = self.place(columns, chosen, source)
        if place is None:
            raise self.absent(columns, chosen, source)
        return place

    def absent(self, columns: Sequence[object], chosen: ColumnChoice, source: str) -> InputError:
        """The error for a table without this column."""
        message = f"no column for the {self.option}, expected "
        if chosen:
            named = " or ".join(map(repr, _choices(chosen)))
            return InputError(
                source, None, f"{message}{named} (columns: {format_columns(columns)})"
            )
        message += f"{' or '.join(self.names)} (columns: {format_columns(columns)}); {self.remedy}"
        return InputError(source, None, message)

    def _single_place(
        self, places: list[int], columns: Sequence[object], source: str, remedy: str
    ) -> int | None:
        if len(places) > 1:
            several = " and ".join(
                _shorten_column(columns[place]) for place in places[:MAX_COLUMNS_SHOWN]
            )
            message = f"the {self.option} could be {several}, expected one such column; "
            message += f"{remedy} (columns: {format_columns(columns)})"
            raise InputError(source, None, message)
        return places[0] if places else None

    @property
    def names(self) -> list[str]:
        """All names of the role, the best first."""
        return [name for names in self.tiers for name in names]

    @property
    def remedy(self) -> str:
        """How to say which column it is."""
        if self.option not in READERS:
            return RENAMING
        return (
            f"name it: --{self.option}-column NAME, in Python "
            f'columns={{"{self.option}": NAME}} of {READERS[self.option]}, '
            f"{self.option}=NAME of from_frame"
        )


RENAMING = "rename the others"
READERS = {
    "query": "read_run and read_qrels",
    "document": "read_run and read_qrels",
    "score": "read_run",
    "grade": "read_qrels",
}
"""The functions that accept a column name, by the role of the column."""


def normalize_name(name: object) -> object:
    """A name as names are compared; anything but text stays what it is."""
    if not isinstance(name, str):
        return name
    return name.casefold().translate(IGNORED).strip()


IGNORED = {ord(letter): None for letter in "-_ "}


def format_columns(columns: Sequence[object]) -> str:
    """The columns of a table, as messages list them."""
    shown = ", ".join(_shorten_column(column) for column in columns[:MAX_COLUMNS_SHOWN]) or "none"
    return shown + (f", … {len(columns):,} in all" if len(columns) > MAX_COLUMNS_SHOWN else "")


def _shorten_column(column: object) -> str:
    return shorten(str(column), 2 * MAX_COLUMNS_SHOWN)


QUERY = Role(
    "query",
    (
        ("query_id", "qid", "q_id"),
        ("topic_id", "question_id", "user_id"),
        ("query", "topic", "question", "user"),
    ),
)
DOCUMENT = Role(
    "document",
    (
        (
            *("doc_id", "docno", "docid", "document_id", "corpus_id"),
            *("passage_id", "pid", "chunk_id", "item_id", "product_id", "movie_id"),
        ),
        ("document", "doc", "passage", "chunk", "item", "product", "movie"),
    ),
)
SCORE = Role("score", (("score",), ("rating", "similarity", "prediction", "relevance_score")))
RANK = Role("rank", (("rank",), ("position",)))
GRADE = Role("grade", (("relevance", "grade", "rel", "label"), ("relevant", "rating", "score")))
SUBTOPIC = Role("subtopic", (("subtopic",),))

ROLES = {role.option: role for role in (QUERY, DOCUMENT, SCORE, RANK, GRADE, SUBTOPIC)}

# Where JSON has an object a query: what its keys are for.
# Beside an id, a name such as query or passage is that of a text.
RECORD_QUERY = Role("query", (*QUERY.tiers[:2], ("id",), ("query", "topic", "user"), ("question",)))
ITEM = Role("document", (DOCUMENT.tiers[0], ("id",), *DOCUMENT.tiers[1:]))
RETRIEVED = Role(
    "retrieved", (("retrieved",), ("results",), ("ranking",), ("hits",), ("documents",), ("docs",))
)
RELEVANT = Role("relevant", (("relevant",), ("gold",), ("qrels",)))

WantedColumns = Sequence[tuple[Role, ColumnChoice]]
"""The columns to find: each role with the name passed by the caller."""


def is_known(names: Sequence[object], role: Role, chosen: ColumnChoice) -> bool:
    """Whether one of these names was chosen for the role, or is usual for it."""
    if not set(_choices(chosen)).isdisjoint(names):
        return True
    known = {normalize_name(name) for name in role.names}
    return any(normalize_name(name) in known for name in names)


def run_columns(names: ColumnNames = USUAL_NAMES) -> WantedColumns:
    """The columns that runs are made of."""
    return ((QUERY, names.query), (DOCUMENT, names.document), (SCORE, names.score))


def judgment_columns(names: ColumnNames = USUAL_NAMES) -> WantedColumns:
    """The columns that judgments are made of: those of subtopics only where they are named."""
    wanted = ((QUERY, names.query), (DOCUMENT, names.document), (GRADE, names.grade))
    return wanted if not names.subtopic else (*wanted, (SUBTOPIC, names.subtopic))


def places_of(
    wanted: WantedColumns, columns: Sequence[object], source: str
) -> list[tuple[Role, int]]:
    """Each wanted column as its role and its place; a run without scores is ordered by its ranks."""
    places = []
    for role, chosen in wanted:
        used, place = role, role.place(columns, chosen, source)
        if place is None and role is SCORE and not chosen:
            used, place = RANK, RANK.place(columns, None, source)
        if place is None:
            raise role.absent(columns, chosen, source)
        places.append((used, place))
    return places

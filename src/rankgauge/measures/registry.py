"""Every measure by name: ours, those of installed plug-ins, and those of an explicit file."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TypeVar

from rankgauge.core.lazy import registered_homes
from rankgauge.core.registry import Registry
from rankgauge.errors import MeasureError
from rankgauge.measures.around import Aggregate, Wrapper
from rankgauge.measures.base import Measure

Entry = Measure | type[Wrapper] | type[Aggregate]
"""A measure with its default parameters, or a class to be called with a measure."""

E = TypeVar("E", bound=Entry)

COLUMNS = ("run", "topic", "topics", "over", "missing")
"""Names that tables of scores have for something else."""

TEXT_METRIC_PREFIXES = ("rouge", "bertscore")
"""How names begin that people may ask for, but that are metrics of texts."""


class _Measures(Registry[Entry]):
    """Measures, which also have names in other tools (`names.py`)."""

    def normalize_name(self, name: str) -> str:
        from rankgauge.measures.names import normalize_name

        return normalize_name(name)

    def check(self, entry: Entry) -> None:
        from rankgauge.measures.names import Name, find_name

        if isinstance(entry, type) and not issubclass(entry, Wrapper | Aggregate):
            raise MeasureError(f"register an instance: register({entry.__name__}())")
        self.load()  # so that no alias of ours is taken unnoticed
        for spelling in (entry.name, *entry.aliases):
            row = find_name(spelling)
            if (
                self.canonical_name(spelling) is None
                and row is not None
                and isinstance(row[0], Name)
            ):
                raise MeasureError(f"the name {spelling} is taken: it means {row[0].ours}")

    def hint(self, name: str, others: Collection[str] = ()) -> str:
        if name.lower().startswith(TEXT_METRIC_PREFIXES):
            return "it scores texts, not rankings: `rankgauge text` takes it"

        from rankgauge.measures.names import DIGITS, NAMES, NUMBER

        known = (row.spelling for row in NAMES if not row.spelling.endswith((NUMBER, DIGITS)))
        spelling, cutoff = _split_cutoff(name)
        near = self.similar_names(spelling, (*others, *known))
        if near and cutoff:
            near = [f"{near[0]}@{cutoff}"]
        return f"did you mean {' or '.join(near)}?" if near else "`rankgauge measures` lists them"


def _split_cutoff(name: str) -> tuple[str, str]:
    """A name without the cutoff at its end, and the cutoff; "" where there is none.

    >>> _split_cutoff("NDCG10"), _split_cutoff("nDGC@5"), _split_cutoff("R_cap")
    (('NDCG', '10'), ('nDGC', '5'), ('R_cap', ''))
    """
    parts = re.fullmatch(r"(.*?[^\W\d_])[@_]?(\d*)", name, re.ASCII)
    return (name, "") if parts is None else (parts[1], parts[2])


MEASURES = _Measures(
    "measure",
    package="rankgauge.measures",
    homes=registered_homes("rankgauge.measures"),
    identifiers=True,
    reserved=COLUMNS,
    error=MeasureError,
)
find = MEASURES.find


def register(entry: E) -> E:
    """Make a measure known by its name and its aliases.

    Text such as "nDCG@10" then finds the measure, in Python and on the command line.

    Parameters
    ----------
    entry : Measure, or subclass of Wrapper or Aggregate
        A measure with its default parameters, or the class of a wrapper or an aggregate.

    Returns
    -------
    entry
        The entry itself.

    Raises
    ------
    MeasureError
        If another measure has the name or an alias, or if the name is not an identifier.

    Examples
    --------
    A plug-in defines a subclass of `Measure` and registers an instance of it:

    >>> class LastRR(Binary): ...  # doctest: +SKIP
    >>> LastRR = register(LastRR())  # doctest: +SKIP

    A measure may be registered a second time:

    >>> from rankgauge import AP
    >>> register(AP)
    AP
    """
    MEASURES.register(entry)
    return entry


def entries() -> dict[str, Entry]:
    """List everything that is registered, by canonical name.

    The measures, wrappers and aggregates of rankgauge come first, in the order of their families.
    Those of plug-ins and of installed packages follow.

    Returns
    -------
    dict
        The entries by canonical name: measures with their default parameters, and classes of
        wrappers and aggregates.

    Examples
    --------
    >>> entries()["nDCG"]
    nDCG
    """
    return dict(MEASURES)

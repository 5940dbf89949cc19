"""What tests of the command line share."""

from __future__ import annotations

import csv
from typing import NamedTuple


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def records(tsv: str) -> list[dict[str, str]]:
    """The rows of the tsv form by column name."""
    return list(csv.DictReader(tsv.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))

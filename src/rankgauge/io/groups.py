"""The sizes of queries in a file beside the data, as LightGBM has them: one number a line."""

from __future__ import annotations

import os
import re

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.notes import counted
from rankgauge.errors import InputError
from rankgauge.io.files import STANDARD_INPUT, UTF8_MARK, display_name, read_bytes
from rankgauge.io.trec import COMPRESSED_ENDINGS, Path

ENDINGS = (".query", ".group")
SIZE = re.compile(rb"\+?0*[1-9][0-9]{0,9}")
LIMIT = 1 << 28
"""How many bytes such a file may hold."""


def file_beside(path: Path) -> str | None:
    """The file with the sizes of the queries of a data file: rank.train.gz has rank.train.query, or
    rank.train.gz.query, each of them compressed or not. None where there is none."""
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        return None
    stem, ending = os.path.splitext(name)
    stems = (name, stem) if ending.lower() in COMPRESSED_ENDINGS else (name,)
    for base in stems:
        for kind in ENDINGS:
            for compressed in ("", *COMPRESSED_ENDINGS):
                if os.path.isfile(base + kind + compressed):
                    return base + kind + compressed
    return None


def read_sizes(path: Path, rows: int, data: str) -> Ints:
    """The sizes of the queries, which together must be so many rows of the data."""
    source = display_name(path)
    sizes = []
    for number, line in enumerate(
        read_bytes(path, limit=LIMIT).removeprefix(UTF8_MARK).split(b"\n"), 1
    ):
        word = line.strip()
        if not word:
            continue
        if not SIZE.fullmatch(word):
            shown = word[:40].decode("utf-8", "backslashreplace")
            message = f"{shown!r}, expected the number of documents of a query, from 1"
            raise InputError(source, number, message)
        sizes.append(int(word))
    total = sum(sizes)
    if total != rows:
        raise InputError(
            source,
            None,
            f"{counted(len(sizes), 'query', 'queries')} with {counted(total, 'document')}, but {data} "
            f"has {counted(rows, 'line')} of data; expected as many documents as lines",
        )
    return np.array(sizes, dtype=np.int64)

"""One target under atheris; started by run.py, which sets up the sanitizers."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["rankgauge"]):
    import properties

import mutations

from rankgauge.io import csv_files, files, json_lists, scanning

# Files are read in pieces; small ones cost little memory, and what lies across them is met often.
SIZES = {
    (files, "CHUNK"): 500,
    (scanning, "PIECE"): 200,
    (scanning, "WINDOW"): 10,
    (csv_files, "PIECE"): 100,
    (csv_files, "WINDOW"): 10,
    (json_lists, "MOST_OBJECTS"): 5,
}
for (module, size), value in SIZES.items():
    assert hasattr(module, size)
    setattr(module, size, value)

name, *arguments = sys.argv[1:]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change the input: half of the time in a way that matters to a reader, otherwise random bytes."""
    random = Random(seed)
    if random.random() < 0.5:
        return atheris.Mutate(data, max_size)
    return mutations.mutate(name, data, random)[:max_size]


with tempfile.TemporaryDirectory() as folder:
    holds = properties.TARGETS[name]
    place = Path(folder)
    command = [sys.argv[0], *arguments]
    atheris.Setup(command, lambda data: holds(data, place), custom_mutator=mutate)
    atheris.Fuzz()

"""The drop-in prints what trec_eval printed, to the byte, on collections of our own.

The recording has the files, the output and the exit code of three versions of trec_eval, so neither
they nor other data are needed. `tests/trec_eval_recording.py` makes it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trec_eval_collections import FAMILIES, all_collections
from trec_eval_recording import Counts, Recorded, commands, encode, load, mistakes

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "ARCHITECTURE.md"
NAMES = [family.__name__.replace("_", "-") for family in FAMILIES]


@pytest.fixture(scope="module")
def recording() -> list[Recorded]:
    return load()


@pytest.mark.parametrize("family", NAMES)
def test_every_output_is_equal_to_the_byte(
    family: str,
    recording: list[Recorded],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Outputs that differ for a reason of docs/ARCHITECTURE.md must differ still."""
    members = [each for each in recording if each.family == family]
    assert len(members) == dict(zip(NAMES, FAMILIES.values(), strict=True))[family]
    for each in members:
        folder = tmp_path / each.name
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert mistakes(each, folder) == []


def test_a_wrong_byte_or_exit_code_is_found(
    recording: list[Recorded], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison itself: it reports every case whose output or exit code is changed."""
    monkeypatch.chdir(tmp_path)
    first = recording[0]
    for changed in ({"out": "map                   \tall\t0.5000\n"}, {"code": 3}):
        cases = tuple(replace(case, **changed) for case in first.cases)
        outputs = sum(len(case.versions) for case in cases)
        assert len(mistakes(replace(first, cases=cases), tmp_path)) == outputs > 20


def test_the_recording_has_the_collections_and_commands_that_the_generator_makes(
    recording: list[Recorded],
) -> None:
    collections = all_collections()
    made = {name: collection.files() for name, collection in collections.items()}
    kept = {
        each.name: {name: encode(text) for name, text in each.files.items()} for each in recording
    }
    assert kept == made
    chosen = {
        each.name: list(dict.fromkeys(case.command for case in each.cases)) for each in recording
    }
    assert chosen == commands(collections)


def test_every_version_has_every_command(recording: list[Recorded]) -> None:
    for each in recording:
        for command in {case.command for case in each.cases}:
            versions = [v for case in each.cases if case.command == command for v in case.versions]
            assert sorted(versions) == ["10", "9.0.7", "9.0.8"]


def test_the_counts_of_the_documentation(recording: list[Recorded]) -> None:
    counts = Counts(recording)
    assert counts.collections >= 300
    assert min(counts.equal.values()) >= 2500
    assert {0, 1, 2, 4, 7, 255} <= counts.codes
    text = " ".join(ARCHITECTURE.read_text().replace("`", "").lower().split())
    assert counts.sentence() in text
    for reason in counts.differing:
        assert reason.lower() in text

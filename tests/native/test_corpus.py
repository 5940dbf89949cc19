"""Every input that the fuzzer starts from, or once found something with, has all of its properties."""

from __future__ import annotations

from pathlib import Path

import pytest
from properties import TARGETS

CORPUS = Path(__file__).resolve().parents[1] / "fuzz_corpus"
CASES = sorted(path for path in CORPUS.glob("*/*"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_kept_input_has_all_properties(case: Path, tmp_path: Path) -> None:
    TARGETS[case.parent.name](case.read_bytes(), tmp_path)


def test_every_target_has_a_corpus() -> None:
    assert {path.parent.name for path in CASES} == set(TARGETS)

"""docs/TEXT.md has the tables that its script prints on SummEval."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import docs_scripts


def test_tables_are_those_of_the_script(
    real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = docs_scripts.load("text")
    monkeypatch.setenv("RANKGAUGE_DATA", str(real_data("summeval").parent))
    page = (docs_scripts.DOCS / "TEXT.md").read_text(encoding="utf-8")
    tables = list(script.pages())
    assert len(tables) == 3
    for table in tables:
        assert table.render("md") in page, table.columns

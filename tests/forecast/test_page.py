"""docs/FORECAST.md has the tables that its script prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import docs_scripts


@pytest.mark.parametrize("track", ["Robust 2003", "Web 2012"])
def test_tables_on_pools_and_depth_are_those_of_the_script(
    real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, track: str
) -> None:
    script = docs_scripts.load("forecast_depth")
    folder = real_data("trec-robust03").parent
    monkeypatch.setenv("RANKGAUGE_DATA", str(folder))
    page = (docs_scripts.DOCS / "FORECAST.md").read_text(encoding="utf-8")
    for name, table in script.pages((track,)):
        assert table.render("md") in page, name

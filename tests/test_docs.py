"""What README and pages of docs show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge import compare
from rankgauge.comparison.significance import CORRECTIONS, TESTS

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def test_readme_and_pages_of_docs_show_what_their_commands_print() -> None:
    command = [sys.executable, ROOT / "docs" / "scripts" / "readme.py", "--check"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("script", ["measures.py", "fusion.py"])
def test_a_page_made_from_a_registry_says_what_it_says(script: str) -> None:
    command = [sys.executable, ROOT / "docs" / "scripts" / script, "--check"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_every_significance_test_and_correction_is_explained() -> None:
    page = (ROOT / "docs" / "COMPARISON.md").read_text()
    for name in (*TESTS, *CORRECTIONS):
        assert f"`{name}`" in page
        assert f'"{name}"' in str(compare.__doc__)


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_there_are_links_to_files() -> None:
    assert sum("](docs/" in page.read_text(encoding="utf-8") for page in PAGES) > 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pip_installs_what_exists(page: Path) -> None:
    """The checkout or the repository: no package index has rankgauge yet."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"pip install (?:-\S+ )*'?rankgauge\b.*", text)

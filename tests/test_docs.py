"""What README, CONTRIBUTING and pages of docs show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def test_readme_and_pages_of_docs_show_what_their_commands_print() -> None:
    command = [sys.executable, ROOT / "docs" / "readme.py", "--check"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_page_of_measures_says_what_the_registry_says() -> None:
    command = [sys.executable, ROOT / "docs" / "measures.py", "--check"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_measure_of_the_walk_through_works_on_the_command_line(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "my_measures.py").write_text(code)
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\nq 0 c 0\n")
    (tmp_path / "run").write_text("q Q0 a 1 3 x\nq Q0 c 2 2 x\nq Q0 b 3 1 x\n")
    command = [
        "rankgauge",
        "evaluate",
        "qrels",
        "run",
        "-m",
        "LastRR",
        "-m",
        "LastRR@2",
        "--plugin",
        "my_measures.py",
    ]
    result = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.stdout.splitlines()[1].split("\t")[6:] == [str(1 / 3), "0.0"], result.stderr


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/ARCHITECTURE.md",
        "docs/ASSESSMENT.md",
        "docs/CHANCE.md",
        "docs/COMPARISON.md",
        "docs/DISTANCE.md",
    ],
)
def test_every_link_to_a_file_leads_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert links
    for link in links:
        assert (page.parent / link).exists(), link

"""Names and texts are in American spelling, and have none of the usual misspellings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WORDS = ROOT / ".github" / "spelling.txt"
"""What the dictionaries of codespell lack."""
TEXTS = {".py", ".pyi", ".pyx", ".md", ".toml", ".yml", ".cff", ".html"}


def test_words_are_spelled_as_americans_do() -> None:
    pytest.importorskip("codespell_lib")
    folders = ("src", "tests", "docs", "benchmarks", "fuzz", ".github")
    inside = [path for name in folders for path in (ROOT / name).rglob("*")]
    files = [str(path) for path in (*ROOT.iterdir(), *inside) if path.suffix in TEXTS]
    command = [sys.executable, "-m", "codespell_lib", "--toml", str(ROOT / "pyproject.toml")]
    command += ["--dictionary=-", f"--dictionary={WORDS}"]
    result = subprocess.run(
        [*command, *files], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.stdout + result.stderr == ""

"""The walk-through of CONTRIBUTING.md works when it is followed to the letter."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MEASURE, CHECK, COMMAND, METHOD, METHOD_CHECK = re.findall(
    r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the measure and the method of the walk-through, checks, and files to evaluate."""
    (tmp_path / "my_measures.py").write_text(MEASURE, encoding="utf-8")
    (tmp_path / "check.py").write_text(CHECK, encoding="utf-8")
    (tmp_path / "my_commands.py").write_text(COMMAND, encoding="utf-8")
    (tmp_path / "my_methods.py").write_text(METHOD, encoding="utf-8")
    (tmp_path / "check_method.py").write_text(METHOD_CHECK, encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq1 0 c 0\nq2 0 a 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 c 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 a 1 1 t\n")
    return tmp_path


def python(folder: Path, *arguments: str) -> str:
    """What a Python started in the folder prints; it must not fail."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_measure_obeys_the_laws(folder: Path) -> None:
    python(folder, "check.py")


def test_the_method_passes_the_checks(folder: Path) -> None:
    python(folder, "check_method.py")


def test_the_measure_is_scored_and_explained_as_a_plugin(folder: Path) -> None:
    plugin = ("--plugin", "my_measures.py")
    asked = ("-m", "LastRR@100", "-m", "LastRR@2")
    printed = python(folder, "-m", "rankgauge", "evaluate", "qrels.txt", "a.run", *asked, *plugin)
    assert printed.splitlines()[1].split("\t")[6:] == [str((1 / 3 + 1) / 2), "0.5"]
    assert "ideal (exact)" in python(folder, "-m", "rankgauge", "measures", "LastRR", *plugin)


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_the_measure_and_the_method_are_typed(folder: Path) -> None:
    files = ("my_measures.py", "check.py", "my_commands.py", "my_methods.py", "check_method.py")
    python(folder, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files)


@pytest.mark.parametrize(
    "path",
    [
        "src/rankgauge/measures/precision.py",
        "src/rankgauge/measures/families.py",
        "src/rankgauge/rankers/homes.py",
        "src/rankgauge/text/homes.py",
        "src/rankgauge/fusion/methods.py",
        "src/rankgauge/fusion/normalizations.py",
        "src/rankgauge/comparison/significance.py",
        "tests/oracles/fusion.py",
        "docs/fusion.py",
        "docs/stubs.py",
        "tests/oracles",
        "docs/measures.py",
    ],
)
def test_what_the_walk_through_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()
    assert Path(path).name in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

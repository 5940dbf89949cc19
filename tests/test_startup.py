"""What a fresh interpreter imports: no more than it needs, as starting takes longer than scoring."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FRAMES = {"pandas", "polars", "pyarrow", "rich", "scipy", "zstandard"}
"""What only some functions need, and not every user has."""

SLOW = {
    "asyncio",
    "concurrent.futures",
    "csv",
    "email",
    "glob",
    "hashlib",
    "html",
    "importlib.metadata",
    "json",
    "logging",
    "multiprocessing",
    "numpy.ma",
    "numpy.random",
    "pathlib",
    "tempfile",
}
"""What takes milliseconds to import, and a plain evaluation does without."""

UNUSED = {
    *("comparison", "distance", "figures", "query_sets", "rankers", "resampling", "simulation"),
    "testing",
}
"""Packages of ours that evaluating does without."""

COMMANDS = {"click", "difflib"}
"""What the command line needs, and the library does not."""


def imported_by(code: str, *arguments: object) -> set[str]:
    """The modules that are there once a fresh interpreter has run the code."""
    code += "\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(result.stderr.split())


def ours(imported: set[str]) -> set[str]:
    """The packages of ours among modules: measures, comparison and so on."""
    return {name.split(".")[1] for name in imported if name.startswith("rankgauge.")}


def test_importing_the_package_imports_nothing_until_a_name_is_asked_for() -> None:
    imported = imported_by("import rankgauge")
    assert sorted(imported & (FRAMES | SLOW | COMMANDS | {"numpy"})) == []
    assert ours(imported) == {"core", "errors"}


def test_evaluating_in_python_imports_nothing_it_does_not_need() -> None:
    run = "{'q': {'d': 1.0}}"
    code = f"import rankgauge as rg\nrg.evaluate({{'q': {{'d': 1}}}}, {run}, [rg.AP, 'nDCG@10'])"
    imported = imported_by(code)
    assert "rankgauge.evaluation.evaluator" in imported
    assert sorted(imported & (FRAMES | SLOW | COMMANDS)) == []
    assert not ours(imported) & UNUSED


def test_evaluating_on_the_command_line_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 1\n1 0 b 0\n")
    run.write_text("1 Q0 b 1 2.0 x\n1 Q0 a 2 1.0 x\n")
    arguments = ("evaluate", qrels, run, "-m", "nDCG@10", "-m", "AP")
    imported = imported_by("from rankgauge.cli import main\nmain()", *arguments)
    assert "rankgauge.cli.evaluate" in imported
    assert sorted(imported & (FRAMES | SLOW)) == []
    assert not ours(imported) & UNUSED
    assert "rankgauge.measures.diversity" not in imported
    assert "rankgauge.measures.names" not in imported


def test_the_list_of_commands_needs_no_array() -> None:
    imported = imported_by(
        "from rankgauge.cli.commands import group\ngroup(['--help'], standalone_mode=False)"
    )
    assert sorted(imported & (FRAMES | {"numpy"})) == []

"""Data flows one way: the order of imports between packages is one list, and every import obeys it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankgauge

ROOT = Path(rankgauge.__file__).parent
STUDIES = ROOT.with_name("rankgauge_studies")

LAYERS = [
    # What everyone uses, and knows nobody.
    "version", "errors", "core.moved", "core.lazy", "core.renamed", "core.records", "native",
    "core.arrays", "core.checks", "core.parameters", "core.policies", "core.rounding", "core.seeds",
    "core.notes", "core.fitting", "core.charts", "core.tables", "workers", "separate", "core.plugins",
    "core.registry", "core.laws",
    "io.compression", "io.own_paths", "io.files", "core.sealing", "figures", "core.results",
    "core.resampling",
    # The way of the data: types, files, lists of labels, numbers a list, numbers of all runs.
    "data", "io", "data.folds", "rankings", "measures.labeling", "distance.algorithms", "measures",
    "text", "scores", "evaluation",
    # What is made of scores, of judgments and of rankings.
    "query_sets", "comparison", "distance", "simulation", "space", "rankers", "testing", "fusion",
    "forecast", "text.checking", "text.data.files", "text.evaluation",
    "text.human",
    # Whole programs on top of all that.
    "trec_eval", "pytrec_eval", "report", "", "cli", "__main__", "extending", "rankgauge_studies",
]  # fmt: skip
"""From the bottom up; a module imports what stands before its own entry, or in it. The empty one is the
package itself, whose public names those below it do without."""


def layer(module: str) -> int:
    """The place of the longest entry that a module is, or lies in."""
    parts = module.removeprefix("rankgauge.").split(".") if module != "rankgauge" else []
    for length in range(len(parts), -1, -1):
        if (name := ".".join(parts[:length])) in LAYERS and (name or not parts):
            return LAYERS.index(name)
    raise AssertionError(f"{module} is in no layer: add its package to LAYERS")


def modules() -> dict[str, Path]:
    """Every module of both packages, by name."""
    found = {}
    for path in sorted([*ROOT.rglob("*.py"), *STUDIES.rglob("*.py")]):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()
NATIVE = {f"rankgauge.native.{path.stem}" for path in ROOT.glob("native/*.pyx")}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the module of each import, those in functions too, those for types alone not."""

    def walk(node: ast.AST) -> Iterator[tuple[int, str]]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield node.lineno, inside if inside in MODULES or inside in NATIVE else node.module
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_what_lies_below_it(module: str) -> None:
    wrong = [
        f"{MODULES[module]}:{line}: {module} imports {imported}, which lies above it"
        for line, imported in imports(MODULES[module])
        if imported.split(".")[0] in (ROOT.name, STUDIES.name) and layer(imported) > layer(module)
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_in_functions_are_seen_and_imports_for_types_are_not(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import rankgauge.cli\n"
        "def f():\n    from rankgauge.io import trec\n    import rankgauge.scores.model\n"
    )
    assert [name for _, name in imports(file)] == [
        "typing", "rankgauge.io.trec", "rankgauge.scores.model"
    ]  # fmt: skip


def test_every_layer_is_there_and_stands_once() -> None:
    assert len(set(LAYERS)) == len(LAYERS)
    for name in LAYERS:
        whole = f"rankgauge.{name}" if name else "rankgauge"
        assert {whole, name} & {*MODULES}, f"there is no {whole}: take it out of LAYERS"

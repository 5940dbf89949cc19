"""Studies are written on public names, so that anyone could have written them."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankgauge_studies

ROOT = Path(str(rankgauge_studies.__file__)).parent
MODULES = sorted(ROOT.rglob("*.py"))

INTERNAL = {
    "rankgauge.cli.scoring": "split_named_file",
    "rankgauge.comparison.assessed": "ALL",
    "rankgauge.comparison.design": "pairs_of",
    "rankgauge.comparison.significance": "find_test",
    "rankgauge.core.policies": (
        "CORRELATION_SAMPLES DEFAULT_CHANCE_DIFFERENCE DEFAULT_INFORMATIVE_BY DEFAULT_TEST"
    ),
    "rankgauge.distance.maximized": "parse_distance_measure med_of_lists",
    "rankgauge.forecast.forecaster": "check_target",
    "rankgauge.forecast.models": "Average GROUPS least_squares support_vectors",
    "rankgauge.forecast.tracks": "RICH TRACK_FORMAT deep_enough",
    "rankgauge.measures.answers": "BESTS CHANCES",
    "rankgauge.measures.around": "inner",
    "rankgauge.query_sets.samples": "draw_queries",
    "rankgauge.rankers.crossval": "SINGLE",
    "rankgauge.rankers.fold_store": "ANOTHER_FOLDER begin_folder data_digest",
    "rankgauge.rankers.libraries": "version_of",
    "rankgauge.rankings.lists": "offsets_of",
    "rankgauge.space.arrangements": "canonical_line",
    "rankgauge.space.curves": "NEAR",
    "rankgauge.text.encoders.windows": "truncate_tokens",
    "rankgauge.text.metrics.embedding": "embedding_store tokens_of unit_vectors",
    "rankgauge.text.encoders.folder": "WHEEL",
    "rankgauge.text.metrics.references": "FIRST",
    "rankgauge.text.tokens": "SENTENCE_END first_words",
}
"""Names that are not public, and that studies still use. Nothing may be added."""
ALLOWED = {(module, name) for module, names in INTERNAL.items() for name in names.split()}


def imports(path: Path) -> Iterator[tuple[int, str, str]]:
    """The line, the module and the name of each import of rankgauge; no name is the module itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
            yield from ((node.lineno, name, "") for name in modules if is_ours(name))
        if isinstance(node, ast.ImportFrom) and node.module and is_ours(node.module):
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)


def is_ours(module: str) -> bool:
    return module.split(".")[0] == "rankgauge"


def is_public(module: str, name: str) -> bool:
    """Whether a module that has public names has this one; the module itself if there is no name."""
    public = getattr(importlib.import_module(module), "__all__", None)
    return public is not None and (not name or name in public)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_study_imports_public_names(path: Path) -> None:
    wrong = [
        f"{path}:{line}: {module} {name} is not public"
        for line, module, name in imports(path)
        if not is_public(module, name) and (module, name) not in ALLOWED
    ]
    assert not wrong, "\n".join(wrong)


def test_no_name_with_an_underscore_is_imported() -> None:
    for path in MODULES:
        for line, module, name in imports(path):
            parts = [*module.split("."), name]
            private = [each for each in parts if each.startswith("_") and each != "__version__"]
            assert not private, f"{path}:{line}"


def test_every_exception_is_needed() -> None:
    used = {(module, name) for path in MODULES for _, module, name in imports(path)}
    assert used >= ALLOWED
    assert not [each for each in ALLOWED if is_public(*each)]

"""Public names are what they say, whatever was imported before them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rankgauge
from rankgauge.measures import entries

ROOT = Path(rankgauge.__file__).parent
PACKAGES = [
    "rankgauge",
    "rankgauge.measures",
    "rankgauge.rankers",
    "rankgauge.comparison",
    "rankgauge.figures",
    "rankgauge.rankings",
    "rankgauge.query_sets",
    "rankgauge.space",
    "rankgauge.forecast",
    "rankgauge.text",
    "rankgauge.text.encoders",
    "rankgauge.text.human",
    "rankgauge.workers",
]
"""The packages with public names."""


def import_everything() -> None:
    for module in pkgutil.walk_packages(rankgauge.__path__, "rankgauge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_name_is_shadowed_by_a_module(package: str) -> None:
    import_everything()
    found = importlib.import_module(package)
    for name in found.__all__:
        assert not isinstance(getattr(found, name), ModuleType), f"{package}.{name}"


def test_every_package_with_public_names_is_asked() -> None:
    named = {
        module.name
        for module in pkgutil.walk_packages(rankgauge.__path__, "rankgauge.")
        if module.ispkg and hasattr(importlib.import_module(module.name), "__all__")
    }
    assert named | {"rankgauge"} == set(PACKAGES)


def test_no_public_name_is_that_of_a_module_beside_its_home() -> None:
    for name, home in rankgauge._HOMES.items():
        folder = home.rpartition(".")[0].split(".")[1:]
        assert not ROOT.joinpath(*folder, f"{name}.py").exists(), f"{home}.{name}"


def test_all_measures_are_public_names() -> None:
    for name, entry in entries().items():
        kind = entry if isinstance(entry, type) else type(entry)
        if kind.__module__.startswith("rankgauge."):
            assert getattr(rankgauge, name) is entry


@pytest.mark.parametrize("package", [*PACKAGES[:6], "rankgauge.text", "rankgauge.extending"])
def test_type_checkers_see_the_names_that_are_imported_late(package: str) -> None:
    """What stands in the stub, or under TYPE_CHECKING, is what is there, from the same module."""
    found = importlib.import_module(package)
    assert found.__file__ is not None
    seen = {}
    stub = Path(found.__file__).with_suffix(".pyi")
    text = (stub if stub.exists() else Path(found.__file__)).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        late = stub.exists() or (isinstance(node, ast.stmt) and node.col_offset)
        if isinstance(node, ast.ImportFrom) and late and node.module is not None:
            seen |= {alias.name: node.module for alias in node.names if alias.name != "*"}
    if package == "rankgauge":
        seen |= dict.fromkeys(rankgauge.measures.__all__, "rankgauge.measures")
    assert seen == found._HOMES
    assert {*found.__all__} - {"__version__"} == {*seen}
    assert {*found.__all__} <= {*dir(found)}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rankgauge' has no attribute 'nothing'"):
        rankgauge.nothing  # noqa: B018


def test_type_checkers_find_names_that_are_not_there(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "user.py"
    file.write_text(
        "import rankgauge as rg\nrg.evalute\nrg.evaluate\nrg.nDCG\nrg.measures.nothing\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(file)]
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path
    ).stdout
    assert found.count("error:") == 2, found
    assert 'has no attribute "evalute"' in found
    assert 'has no attribute "nothing"' in found


def test_names_can_be_asked_for_in_any_order() -> None:
    names = [name for name in rankgauge.__all__ if name != "__version__"]
    for order in (names, names[::-1]):
        code = f"import rankgauge\nfor name in {order!r}: getattr(rankgauge, name)"
        subprocess.run([sys.executable, "-c", code], check=True)


def _is_alias(node: ast.Assign) -> bool:
    """Whether a plain assignment names a type: `Path = str | os.PathLike[str]`."""
    target = node.targets[0]
    if not isinstance(target, ast.Name) or target.id.isupper() or not target.id[0].isupper():
        return False
    return isinstance(node.value, ast.Subscript | ast.BinOp)


def test_no_two_public_classes_or_aliases_share_a_name() -> None:
    homes: dict[str, set[str]] = {}
    for path in [*ROOT.rglob("*.py"), *ROOT.with_name("rankgauge_studies").rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            name = getattr(node, "name", "") if isinstance(node, ast.ClassDef) else ""
            if isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
                name = ast.unparse(node.target)
            elif isinstance(node, ast.Assign) and _is_alias(node):
                name = ast.unparse(node.targets[0])
            if name and not name.startswith("_"):
                homes.setdefault(name, set()).add(str(path.relative_to(ROOT.parent)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}

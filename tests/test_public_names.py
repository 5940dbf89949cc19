"""Public names are what they say, whatever was imported before them."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rankgauge
from rankgauge.core.lazy import stub_names
from rankgauge.core.moved import RENAMED
from rankgauge.measures import entries

ROOT = Path(rankgauge.__file__).parent
PACKAGES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.rglob("*.pyi")
    if "native" not in path.parts
)
"""The packages and modules with public names: those with a stub."""

BESIDE = {("rankgauge.extending", "workers"), ("rankgauge.text", "bertscore")}
"""Names of the module that they are in, and that no package has as an attribute of that name."""


def import_everything() -> None:
    for module in pkgutil.walk_packages(rankgauge.__path__, "rankgauge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_declared_name_is_there_and_no_other(package: str) -> None:
    import_everything()
    module = importlib.import_module(package)
    homes, _ = stub_names(package)
    assert module.__all__ == [*homes]
    assert [name for name in dir(module) if not name.startswith("__")] == sorted(
        name for name in homes if not name.startswith("__")
    )
    for name, home in homes.items():
        value = getattr(module, name)
        if home.module == package:
            assert value is importlib.import_module(f"{package}.{name}")
        else:
            assert not isinstance(value, ModuleType), f"a module hides {package}.{name}"
            assert value is getattr(importlib.import_module(home.module), home.name)


def test_public_names_of_packages_are_declared_in_stubs_alone() -> None:
    packages = [m.name for m in pkgutil.walk_packages(rankgauge.__path__, "rankgauge.") if m.ispkg]
    declared = {name for name in packages if "__all__" in vars(importlib.import_module(name))}
    assert declared | {"rankgauge", "rankgauge.extending"} == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_name_is_neither_renamed_nor_that_of_a_module_beside_its_home(
    package: str,
) -> None:
    for name, home in stub_names(package)[0].items():
        assert name == home.name
        folder = home.module.rpartition(".")[0].split(".")[1:]
        if home.module != package and (package, name) not in BESIDE:
            assert not ROOT.joinpath(*folder, f"{name}.py").exists(), f"{home.module}.{name}"


def test_all_measures_are_public_names() -> None:
    for name, entry in entries().items():
        kind = entry if isinstance(entry, type) else type(entry)
        if kind.__module__.startswith("rankgauge."):
            assert getattr(rankgauge.measures, name) is entry


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_that_went_from_the_top_are_found_with_a_warning() -> None:
    gone = sorted(set(rankgauge.measures.__all__) - set(rankgauge.__all__))
    assert {"F", "G", "z", "mean", "given", "register", "v2"} <= {*gone}
    for name in gone:
        with pytest.warns(DeprecationWarning, match=rf"rankgauge\.measures\.{name};"):
            assert getattr(rankgauge, name) is getattr(rankgauge.measures, name)
        assert name not in dir(rankgauge)


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [(package, *names) for package, renamed in RENAMED.items() for names in renamed.items()],
)
def test_old_public_names_are_found_with_a_warning(package: str, old: str, new: str) -> None:
    module = importlib.import_module(package)
    with pytest.warns(DeprecationWarning, match=rf"{package}\.{old} is now {package}\.{new};"):
        assert getattr(module, old) is getattr(module, new)
    assert old not in dir(module)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'rankgauge' has no attribute 'nothing'"):
        rankgauge.nothing  # noqa: B018


SCRIPT = Path(__file__).with_name("typed_user.py")


def test_a_script_calls_every_public_function() -> None:
    calls = {
        node.func.attr
        for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    functions = [name for name in rankgauge.__all__ if inspect.isroutine(getattr(rankgauge, name))]
    assert set(functions) <= calls
    subprocess.run([sys.executable, str(SCRIPT)], check=True, capture_output=True, timeout=120)


def test_type_checkers_know_the_script_and_names_that_are_not_there(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "user.py"
    file.write_text(
        "import rankgauge as rg\nrg.evalute\nrg.evaluate\nrg.nDCG\nrg.measures.nothing\n"
    )
    options = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(file), str(SCRIPT)]
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

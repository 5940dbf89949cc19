"""What is shipped: the wheel has every module and its types, the sdist everything a checkout has."""

from __future__ import annotations

import importlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from setuptools import find_packages
from setuptools.command.egg_info import FileList

import rankgauge

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "rankgauge"
STUDIES = ROOT / "src" / "rankgauge_studies"
PACKAGES = (PACKAGE, STUDIES)
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMPILED = sorted(path.stem for path in (PACKAGE / "native").glob("*.pyx"))
PACKED = ("src/rankgauge", "src/rankgauge_studies", "tests", "docs", "benchmarks", "packaging")
SOURCE = {".py", ".pyx", ".pxd"}
MADE = {".pyc", ".so", ".pyd"}


@pytest.fixture
def in_sdist(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that MANIFEST.in takes, and those that setuptools takes by itself."""
    monkeypatch.chdir(ROOT)
    files = FileList()
    for line in Path("MANIFEST.in").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            files.process_template_line(line)
    taken = {Path(name).as_posix() for name in files.files}
    return taken | {"LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"}


def test_every_folder_with_a_module_is_a_package() -> None:
    modules = [path for package in PACKAGES for path in package.rglob("*.py")]
    folders = {path.parent.relative_to(PACKAGE.parent) for path in modules}
    packages = find_packages(str(PACKAGE.parent))
    assert {".".join(folder.parts) for folder in folders} == set(packages)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_every_other_file_of_a_package_is_in_the_wheel(package: Path) -> None:
    patterns = SETTINGS["tool"]["setuptools"]["package-data"][package.name]
    taken = {path for pattern in patterns for path in package.glob(pattern)}
    others = {path for path in package.rglob("*") if path.is_file()}
    assert taken == {path for path in others if path.suffix not in SOURCE | MADE}


def test_the_wheel_has_no_source_of_the_compiled_modules() -> None:
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]["rankgauge"]
    taken = {path.suffix for pattern in patterns for path in PACKAGE.glob(pattern)}
    assert not taken & {".pyx", ".pxd", ".c"}
    assert SETTINGS["tool"]["setuptools"]["include-package-data"] is False


@pytest.mark.parametrize("name", COMPILED)
def test_every_compiled_module_has_types_and_was_built(name: str) -> None:
    assert (PACKAGE / "native" / f"{name}.pyi").exists()
    module = importlib.import_module(f"rankgauge.native.{name}")
    assert Path(str(module.__file__)).suffix in {".so", ".pyd"}


def test_the_sdist_has_every_file_of_the_package_and_the_tests(in_sdist: set[str]) -> None:
    for folder in PACKED:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix not in MADE and "__pycache__" not in path.parts:
                assert path.relative_to(ROOT).as_posix() in in_sdist


def test_the_sdist_has_nothing_that_a_build_has_made(in_sdist: set[str]) -> None:
    assert not {name for name in in_sdist if Path(name).suffix in MADE}
    assert not {name for name in in_sdist if Path(name).parts[0] in {"build", "dist"}}
    assert not {name for name in in_sdist if name.startswith("src/") and name.endswith(".c")}


def test_the_sdist_has_every_file_of_the_checkout(in_sdist: set[str]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    tracked = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    assert tracked - in_sdist == set()


VERSION = rankgauge.__version__
PROJECT = SETTINGS["project"]
REPOSITORY = PROJECT["urls"]["Source"]


def test_files_name_one_repository_and_this_version() -> None:
    assert all(url.startswith(REPOSITORY) for url in PROJECT["urls"].values())
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {VERSION}\n" in citation
    assert f"\nrepository-code: {REPOSITORY}\n" in citation
    links = re.findall(r"^\[.+\]: (.+)$", CHANGES, re.MULTILINE)
    assert links
    assert all(link.startswith(f"{REPOSITORY}/") for link in links)


CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
GROUPS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
"""Those of Keep a Changelog, in its order."""


def test_the_changelog_is_short_and_in_the_form_of_keep_a_changelog() -> None:
    sections = re.split(r"^## ", CHANGES, flags=re.MULTILINE)[1:]
    assert sections[0].startswith("[Unreleased]\n")
    date = re.match(rf"\[{re.escape(VERSION)}\] - (\d{{4}}-\d\d-\d\d)\n", sections[1])
    assert date is not None
    assert f"\ndate-released: {date[1]}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for section in sections[:2]:
        groups = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert groups == [group for group in GROUPS if group in groups]
        assert section.count("\n- ") <= 50
    names = {section.partition("]")[0].removeprefix("[") for section in sections}
    assert names == set(re.findall(r"^\[(.+)\]: ", CHANGES, re.MULTILINE))


CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Packages with another name at conda-forge; matplotlib-base is the one without a window system."""


def conda(requirements: list[str]) -> set[str]:
    """Requirements as a recipe writes them."""
    parsed = map(Requirement, requirements)
    return {f"{CONDA_NAMES.get(each.name, each.name)} {each.specifier}" for each in parsed}


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    yaml = pytest.importorskip("yaml")
    folder = ROOT / "packaging" / "conda"
    recipe = yaml.safe_load((folder / "recipe.yaml").read_text(encoding="utf-8"))
    variants = yaml.safe_load((folder / "variants.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == VERSION
    assert recipe["about"]["repository"] == REPOSITORY
    needs, extras = recipe["requirements"], PROJECT["optional-dependencies"]
    assert {*needs["host"]} == {"python", "pip", *conda(SETTINGS["build-system"]["requires"])}
    assert {*needs["run"]} == {"python", *conda(PROJECT["dependencies"])}
    (everything,) = map(Requirement, extras["all"])
    optional = [each for extra in everything.extras for each in extras[extra]]
    assert {*needs["run_constraints"]} == conda(optional)
    wheels = SETTINGS["tool"]["cibuildwheel"]["build"].split()
    assert [f"cp{version.replace('.', '')}-*" for version in variants["python"]] == wheels


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LEAST = {"contents: read", "id-token: write"}
"""What jobs may be allowed; trusted publishing needs the second."""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit(path: Path) -> None:
    actions = re.findall(r"^\s*(?:- )?uses: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[0-9]+(\.[0-9]+)*", action)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_has_the_least_permissions(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions: {}\n" in text
    for job in re.split(r"\n(?=  [a-z]+:\n)", text.partition("\njobs:\n")[2]):
        declared = re.search(r"\n    permissions:( \{\}|(?:\n      .+)+)", job)
        assert declared is not None, job
        given = {line.partition("#")[0].strip() for line in declared[1].splitlines()} - {"", "{}"}
        assert given <= LEAST
        assert "id-token: write" not in given or "\n    environment: pypi\n" in job

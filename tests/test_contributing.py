"""The walk-throughs of CONTRIBUTING.md work when they are followed to the letter."""

from __future__ import annotations

import ast
import importlib.util
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import rankgauge
from rankgauge.cli import TASKS

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"`([\w.]+)`:\s*$")
"""What stands before the content of a file."""
RUN_EXAMPLES = """
import doctest, sys
for example in doctest.DocTestParser().get_examples(sys.stdin.read()):
    exec(compile(example.source, "guide", "single"))
"""


class Step(NamedTuple):
    """A file to write (`file` is its name), or commands and lines of Python with what they print."""

    file: str
    text: str


def section_steps(section: str) -> list[Step]:
    """The blocks of a section, in order. Commands without a `$` are not among them."""
    steps = []
    for block in FENCED.finditer(section):
        name = FILE_NAME.search(section[: block.start()].rpartition("```\n")[2])
        if block[2].startswith(("$ ", ">>> ")):
            steps.append(Step("", block[2]))
        elif name is not None:
            steps.append(Step(name[1], block[2]))
    return steps


WALKS = {
    heading: section_steps(body)
    for heading, body in re.findall(
        r"^## How to add ([^\n]*)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL
    )
}


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints. Lines of Python are one command."""
    if block.startswith(">>> "):
        code = re.match(r"(?:(?:>>>|\.\.\.) .*\n)+", block)
        assert code is not None
        return [(code[0].rstrip("\n"), block[code.end() :])]
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def run(folder: Path, words: list[str], text: str = "") -> str:
    """What a command prints that is started in the folder, with the package that is installed there."""
    program = [] if words[0] == "python" else ["-m", words[0]]
    paths = [str(folder / "installed"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, *program, *words[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1"},
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(folder: Path) -> None:
    """Do what `pip install` does with the project in the folder, without the network."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    name, version = project["project"]["name"], project["project"]["version"]
    information = folder / "installed" / f"{name.replace('-', '_')}-{version}.dist-info"
    information.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (information / "METADATA").write_text(metadata)
    points = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in project["project"]["entry-points"].items()
    ]
    (information / "entry_points.txt").write_text("\n".join(points))
    for module in project["tool"]["setuptools"]["py-modules"]:
        shutil.copy(folder / f"{module}.py", folder / "installed")


def printed(folder: Path, command: str) -> str:
    """What a command of the guide prints on a terminal."""
    if command.startswith(">>> "):
        return run(folder, ["python", "-c", RUN_EXAMPLES], command)
    words = shlex.split(command)
    if words[:2] == ["pip", "install"]:
        install(folder)
        return ""
    has_table = words[0] == "rankgauge" and not {"fuse", "ltr", "--format"} & {*words}
    return run(folder, [*words, *(["--format", "table"] if has_table else [])])


def same_text(shown: str, real: str) -> bool:
    """Whether two texts have the same words. The last digits of numbers may differ."""
    ours, theirs = shown.split(), real.split()
    return len(ours) == len(theirs) and all(map(same_word, ours, theirs))


def same_word(shown: str, real: str) -> bool:
    try:
        return math.isclose(float(shown), float(real), rel_tol=1e-9)
    except ValueError:
        return shown == real


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `rankgauge demo` makes."""
    folder = tmp_path_factory.mktemp("guide")
    run(folder, ["rankgauge", "demo"])
    return folder / "rankgauge-demo"


@pytest.mark.parametrize("kind", WALKS)
def test_a_walk_through_prints_what_it_shows(kind: str, demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    shutil.copytree(demo, folder)
    compared = 0
    for file, text in WALKS[kind]:
        if file:
            (folder / file).write_text(text, encoding="utf-8")
            continue
        for command, shown in commands(text):
            real = printed(folder, command)
            assert same_text(shown, real), f"{command}\n{real}"
            compared += bool(shown)
    assert compared


@pytest.mark.skipif(
    not (importlib.util.find_spec("mypy") and importlib.util.find_spec("ruff")),
    reason="needs mypy and ruff",
)
def test_the_code_of_the_guide_is_typed_and_formatted(tmp_path: Path) -> None:
    code = {file: text for walk in WALKS.values() for file, text in walk if file.endswith(".py")}
    assert len(code) == len(WALKS)
    for file, text in code.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    settings = str(ROOT / "pyproject.toml")
    run(tmp_path, ["mypy", "--config-file", settings, *code])
    run(
        tmp_path,
        ["ruff", "check", "--no-cache", "--config", settings, "--ignore", "I001,D100", "."],
    )
    run(tmp_path, ["ruff", "format", "--check", "--no-cache", "--config", settings, "."])


# What the guide says of itself and of the library


def test_there_is_a_walk_through_for_each_kind_of_thing() -> None:
    nouns = ("measure", "significance test", "fusion", "text metric", "ranker", "command")
    assert len(WALKS) == len(nouns)
    assert all(noun in kind for noun, kind in zip(nouns, WALKS, strict=True))


def test_every_heading_is_in_the_table_of_contents() -> None:
    top, _, rest = GUIDE.partition("\n## ")
    links = re.findall(r"\]\(#([\w-]+)\)", top)
    headings = re.findall(r"^## (.+)$", f"## {rest}", re.MULTILINE)
    assert links == [heading.lower().replace(" ", "-") for heading in headings]


def test_the_guide_can_be_read_in_one_sitting() -> None:
    assert len(GUIDE.splitlines()) < 500


NEW = {
    "src/rankgauge/cli/judged.py",
    "src/rankgauge/rankers/covariance.py",
    "src/rankgauge/text/metrics/vocabulary.py",
    "tests/cli/test_judged.py",
    "tests/text/test_vocabulary.py",
}
"""What a reader of the guide makes."""


@pytest.mark.parametrize(
    "path", sorted({*re.findall(r"\b(?:src|docs|tests|fuzz)/[\w./]*\w", GUIDE)})
)
def test_what_the_guide_names_is_there(path: str) -> None:
    assert (ROOT / path).exists() or path in NEW


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("src/rankgauge/comparison/significance.py", {"TESTS", "CORRECTIONS"}),
        ("src/rankgauge/cli/__init__.py", {"TASKS"}),
        ("tests/oracles/precision.py", {"SCORES"}),
        ("tests/oracles/fusion.py", {"_BY_RANK", "fused"}),
    ],
)
def test_what_is_to_change_is_where_the_guide_says(path: str, names: set[str]) -> None:
    defined = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        defined |= {getattr(each, "id", getattr(each, "name", "")) for each in targets}
    assert names <= defined
    assert all(f"`{name}`" in GUIDE for name in names)


@pytest.mark.parametrize("package", ["measures", "text", "rankers"])
def test_the_stubs_have_the_line_that_the_guide_names(package: str) -> None:
    stub = (Path(rankgauge.__file__).parent / package / "__init__.pyi").read_text(encoding="utf-8")
    assert '"Registered under these names"' in GUIDE
    assert "\n# Registered under these names" in stub


def test_the_command_stands_under_one_of_our_tasks() -> None:
    assert re.findall(r'@register_command\("(\w+)"\)', GUIDE)[0] in TASKS


# Files beside the guide


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    bounds: list[str] = settings["project"]["dependencies"]
    oldest = [f"{bound.replace('>=', '==')}.*" for bound in bounds]
    lines = (ROOT / ".github" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == oldest


def test_hooks_have_fixed_versions() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"^  - repo: (.+)$", text, re.MULTILINE) == ["local"]
    packages = re.findall(r"additional_dependencies: \[(.+)\]", text)
    assert len(packages) == text.count("- id: ")
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", package) for package in packages)

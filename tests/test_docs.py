"""What README and pages of docs show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge import compare
from rankgauge.comparison.significance import CORRECTIONS, TESTS
from rankgauge.measures import Measure, entries
from trec_eval_recording import Counts, load

ROOT = Path(__file__).resolve().parents[1]
NUMBERS = {8: "Eight", 9: "Nine", 10: "Ten", 11: "Eleven", 12: "Twelve"}
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def test_readme_and_pages_of_docs_show_what_their_commands_print() -> None:
    command = [sys.executable, ROOT / "docs" / "scripts" / "readme.py", "--check"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("script", ["measures.py", "fusion.py"])
def test_a_page_made_from_a_registry_says_what_it_says(script: str) -> None:
    command = [sys.executable, ROOT / "docs" / "scripts" / script, "--check"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_every_significance_test_and_correction_is_explained() -> None:
    page = (ROOT / "docs" / "COMPARISON.md").read_text()
    for name in (*TESTS, *CORRECTIONS):
        assert f"`{name}`" in page
        assert f'"{name}"' in str(compare.__doc__)


def test_the_readme_counts_what_there_is() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    table = (
        (ROOT / "docs" / "MEASURES.md").read_text(encoding="utf-8").partition("| measure | better")
    )
    rows = [line.strip("|").split("|") for line in table[2].split("\n\n")[0].splitlines()[2:]]
    bounds = [cells[5].strip() for cells in rows if "(…)" not in cells[0]]
    measures = [entry for entry in entries().values() if isinstance(entry, Measure)]
    assert len(bounds) == len(measures)
    assert f"with nDCG, AP and {len(measures) - 2} other measures" in text
    exact, tried, none = map(bounds.count, ("exact", "enumerated", "–"))
    assert f"exact for {exact} of {len(measures)} measures; for {tried}, all labels" in text
    assert f"and {none} have none" in text
    assert f"{NUMBERS[len(TESTS)]} significance tests" in text
    counts = Counts(load())
    equal, differing = counts.equal.total(), counts.differing.total()
    assert (
        f"{equal:,} of {equal + differing:,} recorded outputs on {counts.collections} small" in text
    )
    assert f"the other {differing} differ" in text
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_there_are_links_to_files() -> None:
    assert sum("](docs/" in page.read_text(encoding="utf-8") for page in PAGES) > 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pip_installs_what_exists(page: Path) -> None:
    """The checkout or the repository: no package index has rankgauge yet."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"pip install (?:-\S+ )*'?rankgauge\b.*", text)


# Measured numbers name the script that printed them

SCRIPT = re.compile(r"\b(?:docs/scripts|benchmarks)/\w+\.py\b")
SOURCE = re.compile(rf"{SCRIPT.pattern}|\btests/[\w/]+\.py\b|\brankgauge study \w+")
"""What prints numbers again."""
NUMBER_WORDS = "half a|quarter of a|two|three|four|five|ten|some|few"
TIME_OR_SIZE = re.compile(
    r"\b\d[\d.,]*\s?(?:s|ms|µs|ns|min|MB|GB|KB|MiB|GiB|(?:minute|second|hour)s?)\b"
    rf"|\b(?:{NUMBER_WORDS})\s(?:minute|second|millisecond|hour|kilobyte|megabyte)s?\b"
    r"|\b[\d.]+\stimes\s(?:as|faster|slower|less|more)\b|\btimes\sas\s(?:fast|long|much)\b"
)
NUMBER = re.compile(r"[-−±]?[\d,.]*\d%?(?: \w+)?")
"""A cell of a table that is a number."""
FENCE = re.compile(r"^```\w*[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMITS = {
    ("CONTRIBUTING.md", "Set up"): "how long an installation takes depends on the machine",
    ("REPORT.md", "Limits"): "the limit of the size of a page",
    ("SCALE.md", "Data transfer"): "how much work is sent at a time",
    ("SCALE.md", "Failures"): "how long a cluster without workers is waited for",
}
"""Sections with a time or a size that was not measured."""


def sections(page: Path) -> dict[str, str]:
    """The text below each heading; that before the first `##` has the empty name."""
    text = page.read_text(encoding="utf-8")
    first, *rest = re.split(r"^##+ (.+)\n", text, flags=re.MULTILINE)
    return {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def has_table_of_numbers(text: str) -> bool:
    """Whether there is a table, or an output without its command, that has numbers side by side."""
    for line in FENCE.sub("", text).splitlines():
        cells = line.strip("|").split("|") if line.startswith("|") else []
        if sum(NUMBER.fullmatch(cell.strip()) is not None for cell in cells) > 1:
            return True
    outputs = [block for block in FENCE.findall(text) if "─────" in block]
    return any(not block.startswith(("$ ", ">>> ")) for block in outputs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_measured_numbers_name_their_script(page: Path) -> None:
    """A table names its script in its section or at the top of the page; a time, in its section."""
    texts = sections(page)
    for name, text in texts.items():
        if has_table_of_numbers(text):
            assert SOURCE.search(text) or SOURCE.search(texts[""]), f"no script for: {name}"
        found = TIME_OR_SIZE.search(FENCE.sub("", text))
        if (page.name, name) in LIMITS:
            assert found, f"no exception is needed: {name}"
            assert not SOURCE.search(text), f"no exception is needed: {name}"
        elif found:
            assert SOURCE.search(text), f"no script for {found[0]!r} in: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_pages_name_are_there(page: Path) -> None:
    for script in SCRIPT.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / script).exists(), script


def test_projections_are_marked_and_few() -> None:
    paragraphs = [each for page in PAGES for each in page.read_text(encoding="utf-8").split("\n\n")]
    marked = [each for each in paragraphs if "**Projection, not a measurement:**" in each]
    assert len(marked) <= 3
    for each in paragraphs:
        if re.search(rf"would take [^.]*?(?:{TIME_OR_SIZE.pattern})|extrapolat", each):
            assert each in marked, each

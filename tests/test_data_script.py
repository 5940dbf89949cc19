"""`docs/scripts/data.py`: what it finds wrong in a folder, and that its facts cover what reads data."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs_scripts import DOCS, load

ROOT = DOCS.parent
script = load("data")
SETS: list[dict[str, Any]] = script.FACTS["sets"]
NEEDS: dict[str, list[str]] = script.FACTS["needs"]
NAMES = {script.top(facts) for facts in SETS}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


MADE = [
    {
        "folder": "small",
        "repository": "someone/small",
        "path": "data",
        "files": {"qrels.txt": sha256("qrels\n"), "a.run.gz": sha256("run\n")},
    },
    {
        "folder": "many/runs",
        "repository": "someone/many",
        "path": "runs",
        "files": ["one", "two.gz"],
        "sha256": sha256(f"{sha256('1')}  one\n{sha256('2')}  two.gz\n"),
    },
]
"""Two sets: one with a checksum for each file, one with a checksum for all of its files."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with both sets."""
    (tmp_path / "small").mkdir()
    (tmp_path / "many" / "runs").mkdir(parents=True)
    (tmp_path / "small" / "qrels.txt").write_bytes(b"qrels\n")
    (tmp_path / "small" / "a.run.gz").write_bytes(gzip.compress(b"run\n", compresslevel=1))
    (tmp_path / "many" / "runs" / "one").write_bytes(b"1")
    (tmp_path / "many" / "runs" / "two.gz").write_bytes(gzip.compress(b"2", mtime=7))
    return tmp_path


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str]]]:
    """Checks the folder, and gives the exit code and the lines but the last."""

    def checked(*names: str) -> tuple[int, list[str]]:
        code = script.check(folder, [*names], MADE)
        return code, capsys.readouterr().out.splitlines()[:-1]

    return checked


def test_a_whole_folder_has_no_fault(check: Any) -> None:
    assert check() == (0, [])


def test_how_a_file_was_compressed_does_not_matter(check: Any, folder: Path) -> None:
    (folder / "small" / "a.run.gz").write_bytes(gzip.compress(b"run\n", compresslevel=9))
    assert check() == (0, [])


def test_missing_files_are_named(check: Any, folder: Path) -> None:
    (folder / "small" / "qrels.txt").unlink()
    (folder / "many" / "runs" / "one").unlink()
    assert check() == (1, ["missing: small/qrels.txt", "missing: many/runs/one"])


def test_a_set_that_is_not_there_is_named_with_its_source(check: Any, folder: Path) -> None:
    for path in (folder / "small").iterdir():
        path.unlink()
    assert check() == (1, ["missing: small (2 files; github.com/someone/small, data)"])


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"RUN\n"), b"no gzip", b"", gzip.compress(b"run")[:-4]],
    ids=["other", "not gzip", "empty", "cut short"],
)
def test_a_file_with_another_content_is_named(check: Any, folder: Path, content: bytes) -> None:
    (folder / "small" / "a.run.gz").write_bytes(content)
    assert check() == (1, ["different: small/a.run.gz"])


def test_a_difference_in_a_folder_of_many_files_is_found(check: Any, folder: Path) -> None:
    (folder / "many" / "runs" / "one").write_bytes(b"2")
    assert check() == (1, ["different: many/runs (one or more of 2 files)"])
    (folder / "many" / "runs" / "two.gz").write_bytes(b"no gzip")
    assert check() == (1, ["different: many/runs (one or more of 2 files)"])


def test_extra_files_are_named_and_do_no_harm(check: Any, folder: Path) -> None:
    (folder / "many" / "readme").write_bytes(b"")
    (folder / "other").write_bytes(b"no set of ours")
    assert check() == (0, ["extra: many/readme"])


def test_some_of_the_sets_can_be_checked(check: Any, folder: Path) -> None:
    (folder / "small" / "qrels.txt").unlink()
    assert check("many") == (0, [])
    with pytest.raises(SystemExit, match="unknown: mini; expected some of many, small"):
        check("mini")


def test_real_data_is_whole(
    real_data: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.check(real_data("mq2008").parent, [], SETS) == 0, capsys.readouterr().out


# The facts


def test_the_page_has_the_facts() -> None:
    text = script.PAGE.read_text(encoding="utf-8")
    assert text == script.renewed(text), "run python docs/scripts/data.py page"


def test_every_set_is_described() -> None:
    for facts in SETS:
        assert {"folder", "what", "repository", "path", "license", "files"} <= set(facts)
        assert re.fullmatch("[0-9a-f]{40}", facts["commit"])
        files = facts["files"]
        hashes = files.values() if isinstance(files, dict) else [facts["sha256"]]
        assert all(re.fullmatch("[0-9a-f]{64}", each) for each in hashes)
        assert [*files] == sorted(files)


SCRIPTS = sorted([*(DOCS / "scripts").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")])
IN_A_PATH = {"qrels": r"qrels/qrels\.", "trec_eval": r"trec_eval/v[\d{]"}
"""How sets are named whose names mean something else, too."""


def sets_in(text: str) -> set[str]:
    """The sets whose folders a text names."""
    return {
        name
        for name in NAMES
        if re.search(IN_A_PATH.get(name, rf"[\"'(/]{re.escape(name)}[\"'/]"), text)
    }


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_sets_that_a_script_reads_are_listed(path: Path) -> None:
    if path.name != "data.py":
        named = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        assert sets_in(text) <= set(NEEDS.get(named, []))
        assert ("RANKGAUGE_DATA" in text) <= (named in NEEDS)


@pytest.mark.parametrize("path", [*(ROOT / "tests").rglob("*.py")], ids=lambda path: path.name)
def test_the_sets_that_a_test_reads_are_listed(path: Path) -> None:
    read = re.findall(r"real_data\(f?\"([\w.-]+)", path.read_text(encoding="utf-8"))
    assert set(read) <= NAMES


def test_what_needs_data_is_there() -> None:
    for source, sets in NEEDS.items():
        assert set(sets) <= NAMES
        if source.endswith(".py"):
            assert (ROOT / source).exists()
        else:
            assert (ROOT / "src" / "rankgauge_studies" / source.split()[-1]).is_dir()

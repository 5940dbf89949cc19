"""Modules that moved: their old names still work, and say where they are now."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rankgauge
from rankgauge.core.moved import MOVED, PACKAGES, new_name

ROOT = Path(rankgauge.__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore::rankgauge.errors.OldFormWarning")


INSIDE = ["rankgauge.studies.med", "rankgauge.studies.verdicts", "rankgauge.studies.ue.study"]
"""Modules of packages that moved."""


@pytest.mark.parametrize("old", [*MOVED, *PACKAGES, *INSIDE])
def test_the_old_name_gives_the_module_and_the_new_name(
    old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, old, raising=False)
    name = str(new_name(old))
    new = importlib.import_module(name)
    with pytest.warns(DeprecationWarning, match=rf"{old} is now {name};"):
        assert importlib.import_module(old) is new
    assert new.__spec__ is not None
    assert new.__spec__.name == name == new.__name__
    assert not ROOT.parent.joinpath(*old.split(".")).with_suffix(".py").exists()


def test_names_are_imported_from_an_old_module_as_before() -> None:
    code = "from rankgauge.data.errors import InputError; from rankgauge.policies import LEVEL"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr.count(b"OldFormWarning") == 2


def test_a_name_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"rankgauge\.nothing"):
        importlib.import_module("rankgauge.nothing")
    with pytest.raises(ModuleNotFoundError, match=r"rankgauge_studies\.nothing"):
        importlib.import_module("rankgauge.studies.nothing")

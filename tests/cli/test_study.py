"""The command `rankgauge study`, as a user of a shell meets it."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from command_line import Call, on_a_terminal
from rankgauge.core.tables import Table
from rankgauge_studies import med, optimization
from rankgauge_studies.command import STUDIES

TABLES = {"table-1.csv", "table-2.csv", "table-3.csv"}
FIGURES = {f"figure-{number}.{ending}" for number in (1, 2) for ending in ("svg", "png")}


@pytest.fixture
def study(rankgauge: Call) -> Call:
    """What the command does."""
    return lambda *arguments: rankgauge("study", *arguments)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_without_a_name_the_studies_are_listed(study: Call) -> None:
    code, out, err = study()
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"{name}\t{summary}" for name, summary in STUDIES.items()]


def test_a_terminal_gets_a_table_of_the_studies_and_how_to_run_one() -> None:
    code, seen = on_a_terminal("study", COLUMNS="120")
    assert code == 0
    assert seen.split("\n")[0].split("  ")[0] == "study"
    assert all(summary in seen for summary in STUDIES.values())
    assert "rankgauge study NAME" in seen


def test_without_data_the_tables_are_made_and_the_rest_is_named(
    study: Call, tmp_path: Path
) -> None:
    made = tmp_path / "deep" / "out"
    code, out, err = study("med", "-o", made, "--data", tmp_path)
    assert code == 3
    assert files(made) == TABLES
    missing = tmp_path / "qrels" / "qrels.web.201-250.ndeval.txt.gz"
    assert err.splitlines() == [
        f"{missing}: cannot be read: No such file or directory",
        "no figures: give the folder of the judgments with --data or RANKGAUGE_DATA",
    ]
    for name, table in med.tables().items():
        assert table.render("table") in out
        assert (made / f"{name}.csv").read_text() == table.render("csv")


def test_the_folder_of_the_data_is_taken_from_the_environment(
    study: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKGAUGE_DATA", str(tmp_path / "elsewhere"))
    assert str(tmp_path / "elsewhere") in study("med", "-o", tmp_path / "out").err
    assert (
        str(tmp_path / "here")
        in study("med", "-o", tmp_path / "out", "--data", tmp_path / "here").err
    )
    monkeypatch.delenv("RANKGAUGE_DATA")
    monkeypatch.chdir(tmp_path)
    assert study("med", "-o", tmp_path / "out").err.startswith("../shared/data")


def test_with_data_everything_is_written_and_the_same_every_time(
    study: Call, tmp_path: Path, real_data: Callable[[str], Path]
) -> None:
    pytest.importorskip("matplotlib")
    data = real_data("qrels").parent
    code, out, err = study("med", "-o", tmp_path / "out", "--data", data)
    assert (code, err) == (0, "")
    made = tmp_path / "out"
    assert files(made) == TABLES | FIGURES | {"claims.csv", "figures.csv"}
    for figure in FIGURES:
        content = (made / figure).read_bytes()
        if figure.endswith("svg"):
            assert ElementTree.fromstring(content).tag.endswith("svg")
        else:
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert med.claims_table(med.read(data)).render("table") in out
    with open(made / "figures.csv", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 200
    assert study("med", "-o", tmp_path / "again", "--data", data) == (0, out, "")
    for name in files(made):
        assert (made / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_without_matplotlib_the_tables_are_made_and_the_error_says_what_to_install(
    study: Call,
    tmp_path: Path,
    real_data: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = study("med", "-o", tmp_path / "out", "--data", real_data("qrels").parent)
    assert code == 3
    assert err == "matplotlib is not installed; run pip install matplotlib (extra: plot)\n"
    assert files(tmp_path / "out") == TABLES | {"claims.csv", "figures.csv"}


def test_the_study_of_optimization_writes_tables_and_figures(
    study: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    works = optimization.make_table_functions

    def quick(data: object) -> dict[str, Callable[[], Table]]:
        assert data is None
        return {name: works(None)[name] for name in ("notes", "contact")}

    monkeypatch.setattr(optimization, "make_table_functions", quick)
    monkeypatch.setattr(optimization.objectives, "POINTS", np.linspace(0, 1, 41))
    monkeypatch.setattr(optimization, "figures", cache(optimization.figures))
    made = tmp_path / "out"
    code, out, err = study("optimization", "-o", made, "--data", tmp_path)
    assert code == 3
    assert "mq2008" in err
    assert "no tables of MQ2008: give the data folder with --data or RANKGAUGE_DATA" in err
    assert err.endswith("some parts are missing: see the notes at the start\n")
    assert works(None)["notes"]().render("table") in out
    drawn = {f"{name}.{ending}" for name in optimization.figures() for ending in ("svg", "png")}
    assert files(made) == {"notes.csv", "contact.csv"} | drawn


def test_what_cannot_be_done_is_one_line_of_error(study: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = study("med", "-o", tmp_path / "file", "--data", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"{tmp_path / 'file'}: cannot be made: File exists\n"
    code, _, err = study("mad", "-o", tmp_path / "out")
    assert code == 2
    assert "No such command 'mad'" in err
    assert study("med").code == 2

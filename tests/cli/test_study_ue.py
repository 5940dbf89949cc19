"""The UE study end to end on made data: all tables, the same bytes again and after a kill, options."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import DESKTOP, PHONE, LookedAt
from command_line import Call, assert_refused, called, called_with_workers
from dask_cluster import on_loopback
from page_texts import HOSTILE
from profiles import thorough
from rankgauge.core.sealing import write_sealed
from rankgauge.core.tables import Table, visible_line
from rankgauge.data.folds import read_folds
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.rankers.crossval import cross_validation
from rankgauge.report.section_pages import write_page
from rankgauge_studies.ue import published
from rankgauge_studies.ue.command import _parse_data_set
from rankgauge_studies.ue.numbering import SUBJECTS, table_file
from rankgauge_studies.ue.page import study_page
from rankgauge_studies.ue.protocol import (
    CASES,
    OPTIONAL_FIELDS,
    PAPER,
    READINGS,
    RIGHT,
    Case,
    DataSet,
    Protocol,
)
from rankgauge_studies.ue.study import Study, run_study

pytest.importorskip("sklearn")
pytest.importorskip("lightgbm")


METHODS = ("LogisticRegression", "RankBoost", "AdaRank")
SMALL = (
    "--queries",
    "60",
    "--samples",
    "6",
    "--replicates",
    "2",
    "--setting",
    "rankboost.rounds=5",
)
FEW = ("--method", METHODS[0], "--method", METHODS[1], *SMALL)
SIDES = {"MQ2007": 1, "<b>other</b>": 2}


def write_folds(folder: Path, seed: int) -> None:
    """Two folds of 40 test queries each: labels follow two of four features, with noise."""
    generator = np.random.default_rng(seed)
    for fold in (1, 2):
        (folder / f"Fold{fold}").mkdir(parents=True)
        for part, queries in (("train", 25), ("vali", 12), ("test", 40)):
            lines = []
            for query in range(queries):
                for number in range(int(generator.integers(3, 12))):
                    values = generator.random(4)
                    noise = 0.6 * generator.standard_normal()
                    label = int(np.clip(2 * values[1] + values[2] + noise - 0.5, 0, 2))
                    text = " ".join(f"{n}:{value:.4f}" for n, value in enumerate(values, 1))
                    name = f"{part}{fold}-{query}"
                    lines.append(f"{label} qid:{name} {text} # docid = {name}-{number}")
            (folder / f"Fold{fold}" / f"{part}.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_folds(folder / "MQ2007", 1)
    write_folds(folder / "other", 2)
    return folder


def command(data: Path, output: Path, *more: str) -> list[str]:
    methods = [text for method in METHODS for text in ("--method", method)]
    both = [str(data / "MQ2007"), f"<b>other</b>={data / 'other'}"]
    return ["study", "ue", *both, "-o", str(output), *methods, *SMALL, *more]


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished study."""
    output = tmp_path_factory.mktemp("study") / "out"
    assert called(*command(data, output)).code == 0
    return output


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study without figures, which are most of its work; its exit code is 3."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def contents(folder: Path) -> dict[str, bytes]:
    """All files but those about time."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "times.json"
    }


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    text = (folder / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    return list(csv.DictReader(lines))


def test_every_table_has_its_counterpart(done: Path) -> None:
    names = {path.name.removesuffix(".csv") for path in (done / "tables").glob("*.csv")}
    wanted = {"claims", "queries-to-decide", "sets", "which-queries"}
    wanted |= {"table-01-data", "table-02-methods"}
    for reading in READINGS:
        for case in CASES:
            for subject, printed in SUBJECTS.items():
                data = list(SIDES) if subject in ("scores", "normalized") else [""]
                wanted |= {table_file(printed.of(case), subject, name, reading) for name in data}
    assert names == wanted
    assert "table-07-tau.reading-paper" in names
    assert "table-03-04-scores.MQ2007.reading-right" in names
    for ending in ("md", "tex"):
        there = (done / "tables").glob(f"*.{ending}")
        assert {path.name.removesuffix(f".{ending}") for path in there} == wanted
    figures = {path.name for path in (done / "figures").iterdir()}
    assert len(figures) == 2 * 2 * 2 * 2 * 2  # reading, case, data, kind, form
    assert len(list((done / "queries").iterdir())) == 8
    assert (done / "study.html").stat().st_size > 10_000


def test_the_index_names_a_file_for_every_printed_table_and_figure(done: Path) -> None:
    with open(done / "index.csv", encoding="utf-8") as stream:
        index = list(csv.DictReader(stream))
    numbers = {row["printed"].split(" (")[0] for row in index}
    assert numbers == {f"Table {n}" for n in range(1, 27)} | {f"Figure {n}" for n in (1, 2, 3)}
    assert "Table 26 (dissertation 7.12)" in {row["printed"] for row in index}
    for row in index:
        assert (done / row["file"]).is_file(), row
        numbers_of_file = [text for text in row["file"].split("-")[1:3] if text.isdecimal()]
        assert row["printed"].split()[1] in {str(int(text)) for text in numbers_of_file}
    page = (done / "study.html").read_text(encoding="utf-8")
    assert all(row["file"] in page for row in index)
    assert "Table 7 (dissertation 6.5): Kendall" in page


def file(subject: str, case: Case, reading: str) -> str:
    return table_file(SUBJECTS[subject].of(case), subject, reading=reading)


def test_parities(done: Path) -> None:
    """Conflicts have the parity of the difference of the counts, τ is 1 − 2 swap rates without ties, and
    there are pairs × cutoffs tests."""
    pairs = len(METHODS) * (len(METHODS) - 1) // 2
    for reading in READINGS:
        for case in CASES:
            counts = {
                (row["data"], row["version"]): row
                for row in rows(done, file("significant", case, reading))
            }
            for row in rows(done, file("conflicts", case, reading)):
                version = row["version"].removeprefix("vs ")
                for part in ("all", "uninformative", "ideal"):
                    one = int(counts[row["data"], case.name][part])
                    other = int(counts[row["data"], version][part])
                    assert (one - other) % 2 == int(row[part]) % 2
                    assert abs(one - other) <= int(row[part]) <= 5 * pairs
            text = (done / "tables" / f"{file('significant', case, reading)}.md").read_text()
            assert f"of {5 * pairs} tests" in text
            for row in rows(done, file("tau", case, reading)):
                for part in ("all", "uninformative", "ideal"):
                    swapped = (1 - float(row[part])) / 2 * pairs
                    assert swapped == pytest.approx(round(2 * swapped) / 2)
            for row in rows(done, file("swaps-data", case, reading)):
                assert float(row["swap rate"]) == int(row["discordant"]) / int(row["pairs"])
                assert int(row["pairs"]) == pairs
                assert float(row["low"]) <= float(row["swap rate"]) <= float(row["high"])


def test_sets_are_equal_across_data_and_counted(done: Path) -> None:
    for row in rows(done, "sets"):
        assert int(row["uninformative"]) == int(row["ideal"]) == round(int(row["all"]) / 4)
        assert int(row["broad compared"]) == int(row["focused compared"])
        assert int(row["broad"]) + int(row["focused"]) == int(row["all"])
        assert int(row["all"]) == 60
        assert row["reading"] == "paper" or row["without relevant"] == "0"
    sizes = {row["of equal size"] for row in rows(done, "sets")}
    assert len(sizes) == 1


@pytest.fixture(scope="module")
def one(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished study of one data set in one reading."""
    output = tmp_path_factory.mktemp("one") / "out"
    assert called(*command_of_one(data, output)).code == 0
    return output


def command_of_one(data: Path, output: Path) -> list[str]:
    asked = command(data, output, "--reading", "right")
    return [text for text in asked if not text.startswith("<b>")]


def test_the_same_study_again_to_the_same_bytes(rankgauge: Call, one: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    made = rankgauge("study", "ue", "--again", str(one / "study.json"), "-o", str(again))
    assert made.code == 0, made.err
    assert contents(again) == contents(one)
    assert "undecided" in made.out or "hold" in made.out


def test_killed_it_goes_on_to_the_same_bytes(
    data: Path, one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "killed"
    moments = [
        lambda: len(list(output.rglob("*.scores"))) >= 3,
        (output / "study.json").exists,
        (output / "tables" / "claims.csv").exists,
    ]
    trained: dict[str, int] = {}
    for reached in moments:
        process = subprocess.Popen(
            [sys.executable, "-m", "rankgauge", *command_of_one(data, output)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not reached():
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (output / "tables").glob("[!.]*"):  # whatever stands there is whole
            assert path.read_bytes() == (one / "tables" / path.name).read_bytes()
        finished = {name: at for name, at in times(output).items() if whole(Path(name))}
        assert trained.items() <= finished.items()  # no fold is trained twice
        trained = finished
    with monkeypatch.context() as quick:
        quick.setitem(sys.modules, "matplotlib", None)
        assert called(*command_of_one(data, output), "--set-number", "7").code == 3
    assert trained.items() <= times(output).items()
    assert called(*command_of_one(data, output)).code == 0
    assert contents(output) == contents(one)


def whole(run: Path) -> bool:
    """Whether a fold and method was finished: its means are written last."""
    return run.with_suffix(".json").exists()


def test_the_command_asks_its_workers(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = called_with_workers(monkeypatch, *command_of_one(data, tmp_path / "out"))
    assert "the workers are asked" in asked.err


def protocol(data: Path, **changes: object) -> Protocol:
    collections = (DataSet("MQ2007", str(data / "MQ2007")),)
    small = Protocol(
        collections, METHODS[:2], queries=70, samples=2, replicates=2,
        settings={"rankboost.rounds": 5}, readings=(RIGHT,),
    )  # fmt: skip
    return replace(small, **changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `study` is."""
    return tmp_path_factory.mktemp("one")


@pytest.fixture(scope="module")
def study(data: Path, folder: Path) -> Study:
    return run_study(protocol(data), folder)


def test_a_cluster_gives_the_same(data: Path, study: Study, tmp_path: Path) -> None:
    with on_loopback(tmp_path, 2 if thorough() else 1) as client:
        other = run_study(protocol(data), tmp_path / "out", executor=client)
    for name, each in study.tables().items():
        assert other.tables()[name].table.render("csv") == each.table.render("csv")


@pytest.mark.parametrize(
    "changes",
    [
        {"test": "welch"},
        {"reb": "capped"},
        {"iub": "k"},
        {"by": "absolute"},
        {"informative_by": "significance"},
        {"without_relevant": "zero"},
        {"preset": "ranklib"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_every_ambiguity_is_an_option_that_changes_something(
    data: Path, study: Study, folder: Path, tmp_path: Path, changes: dict[str, str]
) -> None:
    if "preset" not in changes:  # the only one that changes what is trained
        shutil.copytree(folder / "runs", tmp_path / "runs")
    other = run_study(protocol(data, readings=(replace(RIGHT, **changes),)), tmp_path)
    one, another = (
        {name: made.table.render("csv") for name, made in each.tables().items()}
        for each in (study, other)
    )
    assert any(one[name] != another[name] for name in one if "methods" not in name)


def test_one_data_set_has_no_swaps_across(study: Study) -> None:
    assert not [name for name in study.tables() if "swaps-data" in name]
    assert not [each for each in study.statements["right"] if each.claim == "swaps across data"]
    index = {str(row[0]).split(" (")[0]: row[2:] for row in study.index().rows}
    assert index["Table 11"] == index["Table 23"] == ("", "needs two data sets")
    columns = study.statistics["MQ2007"].columns
    counts = (*("all test sets", 65_323, 1_692, 46), *study.statistics["MQ2007"].rows[0][4:])
    genuine = replace(study, statistics={"MQ2007": Table(columns, (counts,))})
    index = {str(row[0]).split(" (")[0]: row[2:] for row in genuine.index().rows}
    assert index["Table 3"] == ("", "is for MSLR-WEB30K")
    assert index["Table 4"][0] == "tables/table-04-scores.MQ2007.reading-right.csv"


def test_a_folder_named_mq2007_with_its_counts_has_the_published_tables_beside(
    study: Study,
) -> None:
    page = study_page(study, []).render()
    assert "As printed" not in page
    assert "its counts differ from those in Table 1" in page
    columns = study.statistics["MQ2007"].columns
    counts = (*("all test sets", 69_623, 1_692, 46), *study.statistics["MQ2007"].rows[0][4:])
    genuine = replace(study, statistics={"MQ2007": Table(columns, (counts,))})
    assert genuine.paper_names == {"MQ2007": "MQ2007"}
    assert "table-04-scores.MQ2007.reading-right" in genuine.tables()
    page = study_page(genuine, []).render()
    assert "its counts differ from those in Table 1" not in page
    assert page.count("Printed numbers are truncated;") == 2 * 7
    assert ">65323<" in page  # Table 1
    assert ">0.4035<" in page  # RF at 5, Table 6.2 of the dissertation
    assert "other data" in page
    assert "These tables are for MSLR-WEB30K, which this study does not include" in page


def test_other_data_has_all_published_tables_apart(study: Study) -> None:
    moved = replace(study.protocol, collections=(DataSet("mine", "mine"),))
    there = {"right": {"mine": study.experiments["right"]["MQ2007"]}}
    statistics = {"mine": study.statistics["MQ2007"]}
    other = replace(study, protocol=moved, experiments=there, statistics=statistics)
    page = study_page(other, []).render()
    assert "As printed" not in page
    assert "These tables are for MSLR-WEB30K and MQ2007" in page


@pytest.mark.parametrize(
    ("name", "known"),
    [("MQ2007", "MQ2007"), ("mq-2007", "MQ2007"), ("MSLR_WEB30K", "MSLR-WEB30K"), ("MQ2008", None)],
)
def test_names_of_the_papers_data(name: str, known: str | None) -> None:
    assert published.find_data_set(name) == known


# Options and files


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no FOLDS, expected the folder of a data set"),
        (["{data}/MQ2007", "--set-share", "0.1", "--set-number", "3"], "cannot be used together"),
        (["{data}/MQ2007", "--method", "adarank"], "1 method, expected at least 2"),
        (["{data}/MQ2007", "--method", "nomethod"], "nomethod"),
        (["{data}/MQ2007", "--set-number", "0", *FEW], "0 uninformative and 0 ideal queries"),
        (["{data}/MQ2007,queries=50,set=26", *FEW], "26 uninformative and 26 ideal queries of 50"),
        (["{data}/MQ2007,set=0.7", *FEW], "MQ2007=FOLDS,set=N with N up to 30"),
        (
            ["{data}/MQ2007,sets=3", *FEW],
            "sets=3: not a size of a data set, expected queries=N, set=N",
        ),
        (["{data}/MQ2007,queries=few", *FEW], "queries=few: not a size of a data set"),
        (["{data}/MQ2007,queries=1", *FEW], "MQ2007: queries"),
        (["{data}/MQ2007,queries=20,queries=30", *FEW], "queries= is given twice"),
        (["{data}/MQ2007,set=0.2,set=30", *FEW], "set= is given twice"),
        (["{data}/MQ2007,training=0", *FEW], "MQ2007: training_queries"),
        (["{data}/MQ2007", "--setting", "rankboost.rounds=0", *FEW[:4]], "rounds"),
        (["{data}/MQ2007", "--set-share", "0.8", *FEW], "the sets share queries"),
        (["a b={data}/MQ2007", "a-b={data}/other"], "give no different names of files"),
        (["..={data}/MQ2007"], "give no different names of files"),
        (["{data}/MQ2007", "{data}/MQ2007"], "two data sets are called MQ2007"),
        (["{data}/MQ2007", "--setting", "x.y=1"], "is not among the methods"),
        (["{data}/MQ2007", "{data}/other", "{data}"], "3 data sets, expected one, or two"),
        (["{data}/MQ2007", "--preset", "old"], "preset"),
        (["--again", "{done}/study.json", "--seed", "2"], "--again and --seed"),
        (["--again", "{done}/study.json", "{data}/MQ2007"], "1 FOLDS for a study of 2"),
        (
            ["--again", "{done}/study.json", "{data}/other", "{data}/MQ2007"],
            "the files differ from",
        ),
        (["--again", "{done}/tables/claims.csv"], "claims.csv"),
        (
            ["--again", "{done}/study.json", "{data}/MQ2007,set=3", "{data}/other"],
            "--again and sizes of a data set",
        ),
        (["{data}/MQ2007", "--ways", "1000000", *FEW], "--ways"),
    ],
)
def test_refused(
    rankgauge: Call, data: Path, done: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    filled = [text.format(data=data, done=done) for text in arguments]
    assert_refused(rankgauge("study", "ue", *filled, "-o", str(tmp_path / "out")), message)
    assert not (tmp_path / "out").exists()  # nothing was trained


def test_folds_that_would_be_other_ones_are_refused(
    rankgauge: Call, data: Path, done: Path
) -> None:
    before = contents(done)
    assert_refused(
        rankgauge(*command(data, done, "--seed", "3")),
        "contains another cross-validation: protocol.json differs in methods",
    )
    assert contents(done) == before


def times(folder: Path) -> dict[str, int]:
    """When each fold and method was finished."""
    return {str(path): path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.run")}


def test_other_sizes_in_the_same_folder_train_no_fold_again(
    rankgauge: Call, data: Path, one: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shutil.copytree(one, output)
    before = times(output)
    changed = (*command_of_one(data, output), "--set-number", "9", "--cutoff", "5", "--cutoff", "8")
    result = rankgauge(*changed, "--margin", "2", "--test", "welch")
    assert result.code == 0, result.err
    assert "contains a study that differs in cutoffs, margin, readings, set_number" in result.err
    assert times(output) == before
    assert len(before) == 2 * (len(METHODS) + 1)
    assert {row["ideal"] for row in rows(output, "sets")} == {"9"}
    (fresh,) = rows(output, "table-07-tau.reading-right")[:1]
    assert fresh["data"] == "MQ2007"
    asked = json.loads((output / "study.json").read_text())
    assert (asked["set_number"], asked["cutoffs"]) == (9, [5, 8])
    again = tmp_path / "again"
    rankgauge("study", "ue", "--again", str(output / "study.json"), "-o", str(again))
    assert contents(again) == contents(output)


@pytest.mark.usefixtures("no_figures")
def test_files_of_a_reading_that_is_no_longer_asked_for_are_removed(
    rankgauge: Call, data: Path, done: Path, one: Path, tmp_path: Path
) -> None:
    """All but those that the user put there, and those that another list of files names."""
    output, outside = tmp_path / "out", tmp_path / "outside.csv"
    shutil.copytree(done, output)
    outside.write_text("mine")
    (output / "tables" / "mine.csv").write_text("mine")
    with open(output / "files.txt", "a", encoding="utf-8") as stream:
        stream.write(f"../outside.csv\n{outside}\ntables/../../outside.csv\n")
    assert rankgauge(*command_of_one(data, output)).code == 3
    assert outside.read_text() == "mine"
    names = {path.name for path in (output / "tables").iterdir()}
    assert names == {"mine.csv"} | {path.name for path in (one / "tables").iterdir()}
    assert (output / "runs" / "MQ2007" / "paper").exists()  # trained folds stay


def test_a_linked_folder_is_refused_before_anything_is_done(
    rankgauge: Call, data: Path, one: Path, tmp_path: Path
) -> None:
    output, outside = tmp_path / "out", tmp_path / "outside"
    shutil.copytree(one, output)
    (output / "tables").rename(outside)
    (output / "tables").symlink_to(outside, target_is_directory=True)
    (outside / "precious.csv").write_text("mine")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    done = rankgauge(*command_of_one(data, output))
    assert done.code == 2
    assert (
        done.err
        == f"{output / 'tables'}: is a link, expected a folder; remove it, or choose another folder\n"
    )
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before


@pytest.mark.usefixtures("no_figures")
def test_only_files_in_the_folders_of_the_study_are_removed(
    rankgauge: Call, data: Path, one: Path, tmp_path: Path
) -> None:
    """The list says what an earlier study wrote; someone who forges it removes nothing elsewhere."""
    output = tmp_path / "out"
    shutil.copytree(one, output)
    (tmp_path / "precious.csv").write_text("mine")
    (output / "queries" / "folder.csv").mkdir()
    (output / "tables" / "link.csv").symlink_to(tmp_path / "precious.csv")
    (output / "tables" / "old.csv").write_text("old")
    forged = ["../precious.csv", "queries/folder.csv", "tables/link.csv", "tables/old.csv"]
    write_sealed(output / "files.json", {"files": forged})
    result = rankgauge(*command_of_one(data, output))
    assert result.code == 3
    assert f"tables/old.csv removed from {output}: this study writes no such file" in result.err
    assert (tmp_path / "precious.csv").read_text() == "mine"
    assert (output / "queries" / "folder.csv").is_dir()
    assert (output / "tables" / "link.csv").is_symlink()
    assert not (output / "tables" / "old.csv").exists()


@pytest.mark.usefixtures("no_figures")
def test_a_lost_protocol_of_folds_does_not_make_other_models_the_same(
    rankgauge: Call, data: Path, one: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shutil.copytree(one, output)
    folds = output / "runs" / "MQ2007" / "right"
    (folds / "protocol.json").unlink()
    write_sealed(folds / "times.json", {"fold-1": {"else": 3}})
    before = {path.name: path.read_bytes() for path in (folds / "fold-1").glob("*.run")}
    other = rankgauge(*command_of_one(data, output), "--setting", "logisticregression.C=0.0001")
    assert other.code == 3, other.err
    after = {path.name: path.read_bytes() for path in (folds / "fold-1").glob("*.run")}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"LogisticRegression.run"}


def test_a_method_can_be_added(data: Path, one: Path, tmp_path: Path) -> None:
    few = run_study(protocol(data), tmp_path)
    before = times(tmp_path)
    more = run_study(protocol(data, methods=METHODS), tmp_path)
    assert before.items() <= times(tmp_path).items()
    assert set(few.experiments["right"]["MQ2007"].methods) < set(
        more.experiments["right"]["MQ2007"].methods
    )


# Sizes of each data set


@pytest.mark.usefixtures("no_figures")
def test_each_data_set_has_its_own_sizes(rankgauge: Call, data: Path, tmp_path: Path) -> None:
    sized = [f"{data / 'MQ2007'},queries=50,set=25", f"b={data / 'other'},set=0.1,training=10"]
    more = ("--queries", "200", "--reading", "right", "--cutoff", "5")
    methods = [text for method in METHODS[:2] for text in ("--method", method)]
    asked = ["study", "ue", *sized, "-o", str(tmp_path / "out"), *methods, *more]
    result = rankgauge(*asked, *SMALL[-2:], "--samples", "2", "--replicates", "1")
    assert result.code == 3, result.err
    note = "200 queries requested, but only 80 test queries with a relevant document: all are used"
    assert f"b, reading right: {note}" in result.err
    sets = {row["data"]: row for row in rows(tmp_path / "out", "sets") if row["case"] == "nDCG"}
    assert [sets["MQ2007"][name] for name in ("all", "uninformative", "ideal")] == [
        "50",
        "25",
        "25",
    ]
    assert [sets["b"][name] for name in ("all", "uninformative", "ideal")] == ["80", "8", "8"]
    sizes = {row["data"]: row for row in rows(tmp_path / "out", "table-01-data")}
    assert sizes["MQ2007"]["training queries of a fold"] == "all"
    assert sizes["b"]["training queries of a fold"] == "10"
    assert (
        "b, reading right: trained on 10 of 25 queries, chosen at random with the seed"
        in result.err
    )


def test_a_folder_whose_name_looks_like_a_size_is_a_folder(data: Path, tmp_path: Path) -> None:
    odd = tmp_path / "x,set=3"
    shutil.copytree(data / "MQ2007", odd)
    assert _parse_data_set(f"{odd},queries=40") == DataSet("x,set=3", str(odd), queries=40)
    assert _parse_data_set(str(odd)).set_number is None


# Queries without relevant documents


@pytest.fixture(scope="module")
def barren(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the test queries have no relevant document."""
    folder = tmp_path_factory.mktemp("barren") / "data"
    write_folds(folder, 5)
    for path in folder.rglob("test.txt"):
        lines = path.read_text().splitlines(keepends=True)
        halved = [
            f"0{line[1:]}" if int(line.split("-")[1].split()[0]) % 2 else line for line in lines
        ]
        path.write_text("".join(halved))
    return folder


UNDRAWN = {"samples": 1, "replicates": 1}
"""For what no interval and no split changes."""


def barren_study(data: Path, folder: Path, output: Path, **changes: object) -> Study:
    asked = protocol(data, collections=(DataSet("barren", str(folder)),), readings=(PAPER, RIGHT))
    return run_study(replace(asked, queries=None, **changes), output)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for studies of the same folds: they are trained once."""
    return tmp_path_factory.mktemp("trained")


@pytest.fixture(scope="module")
def barren_found(data: Path, barren: Path, trained: Path) -> Study:
    """The study of all queries, in both readings."""
    return barren_study(data, barren, trained)


def test_queries_without_relevant_documents_count_0_and_are_hard_in_the_reading_paper(
    barren_found: Study,
) -> None:
    study = barren_found
    chosen = {name: each["barren"].chosen for name, each in study.experiments.items()}
    assert chosen["paper"].drawn_without_relevant >= 40 == len(chosen["paper"].queries) / 2
    assert chosen["right"].drawn_without_relevant == 0
    paper = study.experiments["paper"]["barren"].cases["nDCG"].scores
    empty = np.flatnonzero((paper.values["nDCG"] == 0).all(axis=(0, 1)))
    assert len(empty) >= chosen["paper"].drawn_without_relevant
    for version in ("V1", "V2"):  # 0/0 counts as 0
        assert not paper.values[version][:, :, empty].any()
    above = paper.above
    assert above.queries == paper.queries
    no_relevant = np.isin(above.queries, [paper.queries[row] for row in empty])
    zero = no_relevant & (above.expected == 0)
    assert zero.sum() >= chosen["paper"].drawn_without_relevant
    assert not above.differences[zero].any()


def test_both_means_stand_in_one_table(data: Path, barren: Path, barren_found: Study) -> None:
    """The mean that counts them 0 is the other one times the share of queries with relevant documents,
    and it is what `ltr crossval` prints."""
    study = barren_found
    table = study.tables()["which-queries"].table
    chosen = study.experiments["right"]["barren"].chosen
    share = 1 - chosen.without_relevant / chosen.total
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        assert float(cells["@10, as 0"]) == pytest.approx(share * float(cells["@10, left out"]))
    measures = ["nDCG(gain=exp2)@10"]
    ranker = protocol(data).rankers(PAPER)[0]
    folds = read_folds(str(barren))
    scores = cross_validation(folds, [ranker], measures, seed=protocol(data).seed).scores
    (mean,) = scores.select(runs=["LogisticRegression"]).mean()["LogisticRegression"].values()
    (first,) = (row for row in table.rows if row[:4] == ("paper", "barren", "nDCG", METHODS[0]))
    assert first[table.columns.index("@10, as 0")] == pytest.approx(mean)


def test_the_papers_own_sizes_can_be_run(data: Path, barren: Path, trained: Path) -> None:
    """Half of the queries are uninformative and half ideal, although some have no relevant document."""
    sized = (DataSet("barren", str(barren), queries=30, set_number=15),)
    study = barren_study(data, barren, trained, collections=sized, **UNDRAWN)
    for each in study.experiments.values():
        sets = each["barren"].cases["MAP"].scores.sets
        assert [len(sets[name]) for name in ("all", "uninformative", "ideal")] == [30, 15, 15]


@pytest.mark.parametrize("by", ["signed", "absolute"])
def test_no_query_is_uninformative_and_ideal(
    data: Path, barren: Path, trained: Path, by: str
) -> None:
    """At cutoff 1 many queries are equally far above chance, also where the two sets meet."""
    sized = (
        DataSet("a", str(barren), set_number=19),
        DataSet("b", str(data / "other"), set_number=9),
    )
    readings = tuple(replace(reading, by=by) for reading in (PAPER, RIGHT))
    asked = {"collections": sized, "readings": readings, "cutoffs": (1,)}
    study = barren_study(data, barren, trained, **asked, **UNDRAWN)
    for experiments in study.experiments.values():
        for each in experiments.values():
            for case in each.cases.values():
                sets = case.scores.sets
                for suffix in ("", ", equal in size"):
                    one, other = (sets[f"{kind}{suffix}"] for kind in ("uninformative", "ideal"))
                    assert len(one) == len(other) > 0
                    assert not set(one.tolist()) & set(other.tolist())
    for name, table in study.query_tables().items():
        kinds = [row[-1] for row in table.rows]
        assert kinds.count("uninformative") == kinds.count("ideal"), name


# Objectives


def test_coordinate_ascent_of_the_paper_makes_map_best(data: Path) -> None:
    asked = protocol(data, methods=("CoordinateAscent", "ListNet"), settings={})
    ascent, listnet = asked.rankers(PAPER)
    assert (str(ascent.settings()["objective"]), str(ascent.settings()["measure"])) == ("AP", "AP")
    assert str(listnet.settings()["measure"]) == "ERR@10"
    assert str(asked.rankers(RIGHT)[0].settings()["objective"]) == "nDCG(gain=exp2)@10"
    own = replace(asked, settings={"coordinateascent.objective": "P@5"})
    assert str(own.rankers(PAPER)[0].settings()["objective"]) == "P@5"


def test_the_table_of_methods_names_objectives_and_where_they_come_from(done: Path) -> None:
    named = {(row["reading"], row["method"]): row for row in rows(done, "table-02-methods")}
    assert set(named) == {(reading, method) for reading in READINGS for method in METHODS}
    for row in named.values():
        assert row["objective"]
        assert row["from"]
    assert named["paper", "AdaRank"]["from"] == "preset ranklib"
    assert "ERR@10" in named["paper", "AdaRank"]["objective"]
    assert named["paper", "RankBoost"]["from"].startswith("fixed by the method")


@pytest.mark.parametrize(
    "change",
    [
        {"study": "med"},
        {"collections": 3},
        {"collections": [{"name": ["a"], "folds": "x"}, {"name": "b", "folds": "y"}]},
        {"methods": ["AdaRank"]},
        {"methods": [1, 2]},
        {"cutoffs": ["5)+rm"]},
        {"cutoffs": []},
        {"cutoffs": [10**30]},
        {"readings": [{"name": "paper", "test": "guess"}]},
        {"readings": []},
        {"readings": [{"name": "right"}, {"name": "right", "test": "student"}]},
        {"ways": 10**9},
        {"samples": -1},
        {"seed": "x"},
        {"settings": 4},
        {"set_share": None, "set_number": None},
        {"queries": 1e400},
        {"wayz": 2},
    ],
    ids=str,
)
def test_hostile_study_files(done: Path, change: dict[str, object]) -> None:
    content = json.loads((done / "study.json").read_text()) | change
    with pytest.raises(InputError, match=r"study\.json"):
        Protocol.from_json(content, "study.json")


def test_a_study_json_without_a_field() -> None:
    with pytest.raises(InputError, match="missing: broad_label"):
        Protocol.from_json({"study": "ue"}, "study.json")


def protocol_in(folder: Path) -> Any:
    """What study.json says, without its seal."""
    content = json.loads((folder / "study.json").read_text())
    del content["seal"]
    return content


def test_a_changed_study_json_is_not_done_again(rankgauge: Call, one: Path, tmp_path: Path) -> None:
    text = (one / "study.json").read_text()
    path = tmp_path / "study.json"
    path.write_text(text.replace('"seed": 0', '"seed": 1'))
    assert path.read_text() != text
    assert_refused(
        rankgauge("study", "ue", "--again", str(path), "-o", str(tmp_path / "out")),
        f"{path}: its seal is broken",
    )
    assert not (tmp_path / "out").exists()


def test_a_study_json_from_before_sizes_of_data_sets_is_the_same_study(done: Path) -> None:
    content = protocol_in(done)
    old = {name: value for name, value in content.items() if name not in OPTIONAL_FIELDS}
    for each in old["collections"]:
        for name in ("queries", "set_number", "set_share", "training_queries"):
            del each[name]
    for reading in old["readings"]:
        del reading["ascent_objective"]
    read = Protocol.from_json(old, "study.json")
    assert read.collections == Protocol.from_json(content, "study.json").collections
    assert [reading.ascent_objective for reading in read.readings] == ["", ""]


def test_again_from_another_folder_says_what_to_give(
    rankgauge: Call, one: Path, tmp_path: Path
) -> None:
    content = protocol_in(one)
    content["collections"][0]["folds"] = "elsewhere/MQ2007"
    path = tmp_path / "study.json"
    write_sealed(path, content)
    assert_refused(
        rankgauge("study", "ue", "--again", str(path), "-o", str(tmp_path / "out")),
        "elsewhere/MQ2007 does not exist; give its current location as FOLDS with --again",
    )
    assert not (tmp_path / "out").exists()


def test_changed_labels_are_other_data(data: Path, one: Path, tmp_path: Path) -> None:
    """The same names and sizes, but one label is another."""
    moved = tmp_path / "moved"
    shutil.copytree(data / "MQ2007", moved)
    path = moved / "Fold1" / "test.txt"
    text = path.read_text()
    path.write_text(("1" if text[0] == "0" else "0") + text[1:])
    asked = protocol(data)
    done = run_study(asked, tmp_path / "first")
    digest = done.protocol.collections[0].digest
    other = replace(asked, collections=(DataSet("MQ2007", str(moved), digest),))
    with pytest.raises(RankgaugeError, match="the files differ from those of"):
        run_study(other, tmp_path / "second")


def test_protocol_comes_back(done: Path) -> None:
    content = protocol_in(done)
    read = Protocol.from_json(content, "study.json")
    assert read.readings == (PAPER, RIGHT)
    assert json.loads(json.dumps(read.content())) == content


def test_without_jinja_tables_are_made(
    rankgauge: Call, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = rankgauge(*command_of_one(data, tmp_path / "out"), "--samples", "2")
    assert result.code == 3
    assert "no study.html" in result.err
    assert "All of it" not in result.out
    assert "no figures" in result.err
    assert (tmp_path / "out" / "tables" / "claims.csv").exists()
    index = (tmp_path / "out" / "index.csv").read_text(encoding="utf-8")
    assert "svg" not in index
    assert "matplotlib is not installed" in index


def test_too_few_queries_with_relevant_documents(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "zeros"
    write_folds(folder, 3)
    for path in folder.rglob("test.txt"):
        path.write_text(
            "".join(f"0{line[1:]}" for line in path.read_text().splitlines(keepends=True))
        )
    asked = protocol(data, collections=(DataSet("zeros", str(folder)),), queries=None)
    with pytest.raises(RankgaugeError, match="test queries with a relevant document: 0"):
        run_study(asked, tmp_path / "out")


# The page in a browser


LOOKS = [(PHONE, True), (DESKTOP, False)]
"""Every width and both color schemes."""
OTHER_LOOKS = [(PHONE, False), (DESKTOP, True)]


@pytest.mark.parametrize(("width", "dark"), LOOKS + OTHER_LOOKS if thorough() else LOOKS)
def test_the_page_in_a_browser(done: Path, looked_at: LookedAt, width: int, dark: bool) -> None:
    pytest.importorskip("jinja2")
    look = looked_at(done / "study.html", width, dark)
    assert look.faults() == []
    assert look.tables > 60
    assert look.pictures == 16
    assert "<b>other</b>" in look.text
    assert look.elements.get("b", 0) == 0


HALVES = list(zip(HOSTILE[1::2], HOSTILE[::2], strict=True))


@pytest.mark.parametrize(
    ("name", "other"), HALVES + [pair[::-1] for pair in HALVES] if thorough() else HALVES
)
def test_hostile_names_of_methods_queries_and_data_do_no_harm(
    study: Study, tmp_path: Path, looked_at: LookedAt, name: str, other: str
) -> None:
    """One name is that of the data, and both are those of methods and of queries."""
    pytest.importorskip("jinja2")

    def mixed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple((name, other)[n % 2] + each for n, each in enumerate(names))

    one = study.experiments["right"]["MQ2007"]
    cases = {
        case: replace(
            each,
            scores=replace(
                each.scores,
                queries=mixed(each.scores.queries),
                above=replace(
                    each.scores.above,
                    queries=mixed(each.scores.above.queries),
                ),
            ),
        )
        for case, each in one.cases.items()
    }
    methods = mixed(one.methods)
    assert len(methods) == 2
    hostile = replace(
        study,
        protocol=replace(study.protocol, collections=(DataSet(name, name),)),
        statistics={name: study.statistics["MQ2007"]},
        experiments={"right": {name: replace(one, methods=methods, cases=cases)}},
    )
    path = tmp_path / "study.html"
    write_page(study_page(hostile, []), path)
    look = looked_at(path, PHONE)
    assert look.faults() == []
    for each in (name, other):
        assert visible_line(each)[:40].strip() in look.text

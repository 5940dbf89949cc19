"""The UE study end to end on made data: all tables, the same bytes again and after a kill, options."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from browser import DESKTOP, PHONE, LookedAt
from command_line import Outcome, called, called_with_workers
from dask_cluster import on_loopback
from page_texts import HOSTILE
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.report.html import write_page
from rankgauge.studies.ue import published
from rankgauge.studies.ue.page import study_page
from rankgauge.studies.ue.protocol import CASES, PAPER, READINGS, RIGHT, DataSet, Protocol
from rankgauge.studies.ue.study import Study, run_study, slug
from rankgauge.tables import visible_line

pytest.importorskip("sklearn")
pytest.importorskip("lightgbm")

Run = Callable[..., Outcome]

METHODS = ("LogisticRegression", "RankBoost", "AdaRank")
SMALL = (
    "--queries",
    "60",
    "--samples",
    "20",
    "--replicates",
    "3",
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


SUBJECTS = ("tau", "conflicts", "significant", "pad", "swaps-data", "swaps-sets", "swaps-breadth")


def test_every_table_has_its_counterpart(done: Path) -> None:
    names = {path.stem for path in (done / "tables").glob("*.csv")}
    wanted = {"claims", "statistics", "methods", "sets"}
    for reading in READINGS:
        for case in CASES:
            wanted |= {f"{reading}-{case.name}-{subject}" for subject in SUBJECTS}
            wanted.add(f"{reading}-{case.name}-swaps-documents")
            for subject in ("scores", "normalised"):
                wanted |= {f"{reading}-{case.name}-{subject}-{slug(name)}" for name in SIDES}
    assert names == wanted
    for ending in ("md", "tex"):
        assert {path.stem for path in (done / "tables").glob(f"*.{ending}")} == wanted
    figures = {path.name for path in (done / "figures").iterdir()}
    assert len(figures) == 2 * 2 * 2 * 2 * 2  # reading, case, data, kind, form
    assert len(list((done / "queries").iterdir())) == 8
    assert (done / "study.html").stat().st_size > 10_000


def test_parities(done: Path) -> None:
    """Conflicts have the parity of the difference of the counts, τ is 1 − 2 swap rates without ties, and
    there are pairs × cut-offs tests."""
    pairs = len(METHODS) * (len(METHODS) - 1) // 2
    for reading in READINGS:
        for case in CASES:
            counts = {
                (row["data"], row["version"]): row
                for row in rows(done, f"{reading}-{case.name}-significant")
            }
            for row in rows(done, f"{reading}-{case.name}-conflicts"):
                version = row["version"].removeprefix("vs ")
                for part in ("all", "uninformative", "ideal"):
                    one = int(counts[row["data"], case.name][part])
                    other = int(counts[row["data"], version][part])
                    assert (one - other) % 2 == int(row[part]) % 2
                    assert abs(one - other) <= int(row[part]) <= 5 * pairs
            text = (done / "tables" / f"{reading}-{case.name}-significant.md").read_text()
            assert f"of {5 * pairs} tests" in text
            for row in rows(done, f"{reading}-{case.name}-tau"):
                for part in ("all", "uninformative", "ideal"):
                    swapped = (1 - float(row[part])) / 2 * pairs
                    assert swapped == pytest.approx(round(2 * swapped) / 2)
            for row in rows(done, f"{reading}-{case.name}-swaps-data"):
                assert float(row["swap rate"]) == int(row["discordant"]) / int(row["pairs"])
                assert int(row["pairs"]) == pairs
                assert float(row["low"]) <= float(row["swap rate"]) <= float(row["high"])


def test_sets_are_equal_across_data_and_counted(done: Path) -> None:
    for row in rows(done, "sets"):
        assert int(row["uninformative"]) == int(row["ideal"]) == round(int(row["all"]) / 4)
        assert int(row["broad compared"]) == int(row["focused compared"])
        assert int(row["broad"]) + int(row["focused"]) == int(row["all"])
        assert int(row["all"]) + int(row["without relevant"]) == 60
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


def test_the_same_study_again_to_the_same_bytes(rankgauge: Run, one: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    made = rankgauge("study", "ue", "--again", str(one / "study.json"), "-o", str(again))
    assert made.code == 0, made.err
    assert contents(again) == contents(one)
    assert "undecided" in made.out or "hold" in made.out


def test_killed_it_goes_on_to_the_same_bytes(data: Path, one: Path, tmp_path: Path) -> None:
    output = tmp_path / "killed"
    moments = [
        lambda: len(list(output.rglob("*.scores"))) >= 3,
        lambda: (output / "tables" / "claims.csv").exists(),
    ]
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
    assert called(*command_of_one(data, output)).code == 0
    assert contents(output) == contents(one)


def test_the_command_asks_its_workers(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = called_with_workers(monkeypatch, *command_of_one(data, tmp_path / "out"))
    assert "the workers are asked" in asked.err


def protocol(data: Path, **changes: object) -> Protocol:
    collections = (DataSet("MQ2007", str(data / "MQ2007")),)
    small = Protocol(
        collections, METHODS[:2], queries=70, samples=4, replicates=2,
        settings={"rankboost.rounds": 5}, readings=(RIGHT,),
    )  # fmt: skip
    return replace(small, **changes)


@pytest.fixture(scope="module")
def study(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return run_study(protocol(data), tmp_path_factory.mktemp("one"))


def test_a_cluster_gives_the_same(data: Path, study: Study, tmp_path: Path) -> None:
    with on_loopback(tmp_path, 2) as client:
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
    data: Path, study: Study, tmp_path: Path, changes: dict[str, str]
) -> None:
    other = run_study(protocol(data, readings=(replace(RIGHT, **changes),)), tmp_path)
    one, another = (
        {name: made.table.render("csv") for name, made in each.tables().items()}
        for each in (study, other)
    )
    assert any(one[name] != another[name] for name in one if name != "methods")


def test_one_data_set_has_no_swaps_across(study: Study) -> None:
    assert not [name for name in study.tables() if name.endswith("swaps-data")]
    assert not [each for each in study.statements["right"] if each.claim == "swaps across data"]


def test_a_folder_named_mq2007_has_the_published_tables_beside(study: Study) -> None:
    page = study_page(study, []).render()
    assert page.count("Printed numbers are truncated;") == 2 * 7
    assert ">65323<" in page  # Table 1
    assert ">0.4035<" in page  # RF at 5, Table 6.2 of the dissertation
    assert "other data" in page
    assert "These tables are of MSLR-WEB30K, which this study does not have" in page


def test_other_data_has_all_published_tables_apart(study: Study) -> None:
    moved = replace(study.protocol, collections=(DataSet("mine", "mine"),))
    there = {"right": {"mine": study.experiments["right"]["MQ2007"]}}
    statistics = {"mine": study.statistics["MQ2007"]}
    other = replace(study, protocol=moved, experiments=there, statistics=statistics)
    page = study_page(other, []).render()
    assert "As printed" not in page
    assert "These tables are of MSLR-WEB30K and MQ2007" in page


@pytest.mark.parametrize(
    ("name", "known"),
    [("MQ2007", "MQ2007"), ("mq-2007", "MQ2007"), ("MSLR_WEB30K", "MSLR-WEB30K"), ("MQ2008", None)],
)
def test_names_of_the_papers_data(name: str, known: str | None) -> None:
    assert published.known(name) == known


# Options and files


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no FOLDS, expected the folder of a data set"),
        (["{data}/MQ2007", "--set-share", "0.1", "--set-number", "3"], "cannot be used together"),
        (["{data}/MQ2007", "--method", "adarank"], "1 method, expected at least 2"),
        (["{data}/MQ2007", "--method", "nomethod"], "nomethod"),
        (["{data}/MQ2007", "--set-number", "0", *FEW], "0 uninformative and 0 ideal queries"),
        (["{data}/MQ2007", "--set-share", "0.8", *FEW], "the sets share queries"),
        (["a b={data}/MQ2007", "a-b={data}/other"], "give no different names of files"),
        (["..={data}/MQ2007"], "give no different names of files"),
        (["{data}/MQ2007", "{data}/MQ2007"], "two data sets are called MQ2007"),
        (["{data}/MQ2007", "--setting", "x.y=1"], "is not among the methods"),
        (["{data}/MQ2007", "{data}/other", "{data}"], "3 data sets, expected one, or two"),
        (["{data}/MQ2007", "--preset", "old"], "preset"),
        (["--again", "{done}/study.json", "--seed", "2"], "--again and --seed"),
        (["--again", "{done}/study.json", "{data}/MQ2007"], "1 FOLDS for a study of 2"),
        (["--again", "{done}/study.json", "{data}/other", "{data}/MQ2007"], "other files than"),
        (["--again", "{done}/tables/claims.csv"], "claims.csv"),
    ],
)
def test_refused(
    rankgauge: Run, data: Path, done: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    filled = [text.format(data=data, done=done) for text in arguments]
    result = rankgauge("study", "ue", *filled, "-o", str(tmp_path / "out"))
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err


def test_another_study_in_the_folder_is_refused(rankgauge: Run, data: Path, done: Path) -> None:
    before = contents(done)
    result = rankgauge(*command(data, done, "--seed", "3"))
    assert result.code == 2
    assert "has another study: study.json differs in seed" in result.err
    assert contents(done) == before


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


def test_again_from_another_folder_says_what_to_give(
    rankgauge: Run, one: Path, tmp_path: Path
) -> None:
    content = json.loads((one / "study.json").read_text())
    content["collections"][0]["folds"] = "elsewhere/MQ2007"
    path = tmp_path / "study.json"
    path.write_text(json.dumps(content))
    result = rankgauge("study", "ue", "--again", str(path), "-o", str(tmp_path / "out"))
    assert result.code == 2
    assert "elsewhere/MQ2007 is not there; give FOLDS beside --again" in result.err
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
    with pytest.raises(RankgaugeError, match="other files than the study had"):
        run_study(other, tmp_path / "second")


def test_protocol_comes_back(done: Path) -> None:
    content = json.loads((done / "study.json").read_text())
    read = Protocol.from_json(content, "study.json")
    assert read.readings == (PAPER, RIGHT)
    assert json.loads(json.dumps(read.content())) == content


def test_without_jinja_tables_are_made(
    rankgauge: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = rankgauge(*command(data, tmp_path / "out", "--reading", "right", "--samples", "2"))
    assert result.code == 3
    assert "no study.html" in result.err
    assert "All of it" not in result.out
    assert "no figures" in result.err
    assert (tmp_path / "out" / "tables" / "claims.csv").exists()


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


@pytest.mark.parametrize(
    ("width", "dark"), [(PHONE, False), (PHONE, True), (DESKTOP, False), (DESKTOP, True)]
)
def test_the_page_in_a_browser(done: Path, looked_at: LookedAt, width: int, dark: bool) -> None:
    pytest.importorskip("jinja2")
    look = looked_at(done / "study.html", width, dark)
    assert look.faults() == []
    assert look.tables > 60
    assert look.pictures == 16
    assert "<b>other</b>" in look.text
    assert look.elements.get("b", 0) == 0


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_methods_queries_and_data_do_no_harm(
    study: Study, tmp_path: Path, looked_at: LookedAt, name: str
) -> None:
    pytest.importorskip("jinja2")
    one = study.experiments["right"]["MQ2007"]
    cases = {
        case: replace(
            each,
            scores=replace(
                each.scores,
                queries=tuple(name + query for query in each.scores.queries),
                above=replace(
                    each.scores.above,
                    queries=tuple(name + query for query in each.scores.above.queries),
                ),
            ),
        )
        for case, each in one.cases.items()
    }
    methods = tuple(name + method for method in one.methods)
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
    assert visible_line(name)[:40].strip() in look.text

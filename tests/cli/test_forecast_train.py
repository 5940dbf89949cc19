"""rankgauge forecast train and predict, and study forecast, as a user of a shell meets them."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Call, assert_refused, called_with_workers
from forecast.made_tracks import write_track
from profiles import thorough
from rankgauge import Scores
from rankgauge.cli.tracks import short_names
from rankgauge.forecast import Forecaster, Track
from rankgauge.forecast.tracks import FEATURES, RICH, track_parts
from rankgauge_studies.forecast import study

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("tracks")
    return [
        f"news={write_track(folder / 'one', 1, documents=110)}",
        f"news={write_track(folder / 'two', 2, first=7, documents=110)}",
        f"web={write_track(folder / 'three', 3, runs=4, documents=110)}",
    ]


def records(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("# ")))


@pytest.mark.parametrize("method", ["boosting", "regression", "gupta", "pooled"])
def test_what_is_trained_forecasts_as_in_python(
    rankgauge: Call, tracks: list[str], tmp_path: Path, method: str
) -> None:
    model = str(tmp_path / "model")
    options = ("--target", "nDCG@100", "--depth", "10", "--method", method)
    done = rankgauge("forecast", "train", *tracks[:2], "-o", model, *options)
    assert (done.code, done.out) == (0, "")
    assert "trained on 2 tracks, 18 queries, 120 rows" in done.err
    shown = rankgauge("forecast", "predict", model, tracks[2], "--format", "csv")
    assert shown.code == 0
    forecaster = Forecaster(method, "nDCG@100", 10).fit([Track.read(text) for text in tracks[:2]])
    found = forecaster.forecast(Track.read(tracks[2]))
    rows = records(shown.out)
    means = dict(zip(found.rows.runs, found.values.mean(axis=1).tolist(), strict=True))
    assert {row["run"]: float(row["forecast"]) for row in rows} == pytest.approx(means, rel=1e-12)
    assert [row["run"] for row in rows] == sorted(means, key=lambda run: -means[run])
    assert "neither the forecasts nor their intervals are reliable" in shown.out + shown.err
    by_topic = rankgauge("forecast", "predict", model, tracks[2], "-q", "--format", "csv")
    topics = records(by_topic.out)
    assert len(topics) == 4 * 12
    assert {(row["low"], row["high"]) for row in topics} == {("", "")}
    allowed = "18 queries of news in the training data allow a level of at most 94.7%"
    assert allowed in by_topic.err
    some = rankgauge(
        "forecast", "predict", model, tracks[2], "-q", "--level", "0.9", "--format", "csv"
    )
    assert allowed not in some.err
    for row, wanted in zip(records(some.out), topics, strict=True):
        assert float(row["low"]) <= min(1, float(row["forecast"])) <= max(
            0, float(row["high"])
        ) or (method == "gupta")
        assert row["forecast"] == wanted["forecast"]


def track_files(track: str) -> tuple[str, Path, Path]:
    """The kind, the judgments and the folder of runs."""
    kind, _, files = track.partition("=")
    qrels, _, runs = files.rpartition(",")
    return kind, Path(qrels), Path(runs)


@pytest.fixture
def track(tmp_path: Path) -> str:
    """A track whose files a test may change."""
    return f"news={write_track(tmp_path / 'track', 4, documents=110)}"


@pytest.fixture(scope="module")
def model(tracks: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model")
    read = [Track.read(text) for text in tracks[:2]]
    Forecaster("regression", "nDCG@100", 10).fit(read).save(folder)
    return str(folder)


TRAIN = ("--target", "nDCG@100", "--depth", "10", "--method", "regression")


def test_runs_too_short_for_the_target_are_told(
    rankgauge: Call, track: str, tmp_path: Path
) -> None:
    _, qrels, _ = track_files(track)
    out = str(tmp_path / "out")
    done = rankgauge("forecast", "train", track, "-o", out, "--method", "regression")
    assert done.code == 0
    expected = (
        f"WARNING: news {qrels}: the runs are too short for nDCG@1000. It uses the first 1,000 "
        "documents of a query, and the deepest run has 110"
    )
    assert expected in done.err
    shown = rankgauge("forecast", "predict", out, track)
    assert expected in shown.err
    assert f"training: {expected}" in shown.err
    enough = rankgauge("forecast", "train", track, "-o", out, *TRAIN)
    assert "too short" not in enough.err + rankgauge("forecast", "predict", out, track).err


def test_other_runs_go_on_after_an_unreadable_one(
    rankgauge: Call, track: str, model: str, tmp_path: Path
) -> None:
    _, _, runs = track_files(track)
    whole = rankgauge("forecast", "predict", model, track)
    (runs / "bad.run").write_text("1 Q0 d1 1 no bad\n")
    (runs / "far.run").write_text("999 Q0 d1 1 0.5 far\n")
    out = tmp_path / "out"
    done = rankgauge("forecast", "train", track, "-o", str(out), *TRAIN)
    assert done.code == 3
    assert "bad.run:1" in done.err
    assert "far.run: none of its queries are judged" in done.err
    assert "2 runs of 7 not evaluated" in done.err
    assert Forecaster.load(out).queries_ == 12
    shown = rankgauge("forecast", "predict", model, track)
    assert (shown.code, shown.out) == (3, whole.out)
    assert "2 runs of 7 not evaluated" in shown.err
    for path in runs.glob("r*.run"):
        path.unlink()
    nothing = rankgauge("forecast", "predict", model, track)
    assert nothing.code == 2
    assert "bad.run:1" in nothing.err


def test_the_file_of_judgments_may_stand_among_the_runs(
    rankgauge: Call, track: str, model: str
) -> None:
    _, qrels, runs = track_files(track)
    plain = rankgauge("forecast", "predict", model, track).out
    inside = qrels.rename(runs / "qrels.txt")
    done = rankgauge("forecast", "predict", model, f"news={inside},{runs}")
    assert (done.code, done.out) == (0, plain)


def test_measures_of_ones_own_are_features(track: str, tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from rankgauge.measures import register\n"
        "from rankgauge.measures.precision import Precision\n"
        "class Own(Precision):\n    name = 'OwnP'\n"
        "register(Own())\n"
    )
    out, options = str(tmp_path / "out"), ["--plugin", str(plugin)]
    train = ["train", track, "-o", out, *TRAIN, "--feature", "OwnP"]
    for arguments in (train, ["predict", out, track]):
        command = [sys.executable, "-m", "rankgauge", "forecast", *arguments]
        assert subprocess.run(command, capture_output=True).returncode == 2
        done = subprocess.run([*command, *options], capture_output=True)
        assert done.returncode == 0, done.stderr


def test_the_wrong_way_round_is_told(rankgauge: Call, track: str, model: str) -> None:
    kind, qrels, runs = track_files(track)
    assert_refused(
        rankgauge("forecast", "predict", model, f"{kind}={runs / 'r1.run'},{qrels}"),
        "the files are swapped",
    )


def test_subtopics_get_a_remedy_that_there_is(rankgauge: Call, track: str, model: str) -> None:
    _, qrels, _ = track_files(track)
    qrels.write_text("1 1 d1 1\n1 2 d1 1\n")
    done = rankgauge("forecast", "predict", model, track)
    assert done.code == 2
    assert "--subtopics" not in done.err
    assert "give judgments with one grade per document" in done.err


@pytest.mark.parametrize(
    ("option", "value", "belongs"),
    [("subset", "queries", "regression or gupta"), ("learner", "svr", "gupta")],
)
def test_options_of_another_method_are_refused(
    rankgauge: Call, track: str, tmp_path: Path, option: str, value: str, belongs: str
) -> None:
    out = str(tmp_path / "out")
    assert_refused(
        rankgauge("forecast", "train", track, "-o", out, f"--{option}", value),
        f"--{option} works only with --method {belongs}, not pooled",
    )


def test_the_same_track_twice(rankgauge: Call, track: str, tmp_path: Path) -> None:
    kind, qrels, runs = track_files(track)
    out = str(tmp_path / "out")
    again = f"web={qrels.parent / '.' / '..' / qrels.parent.name / qrels.name},{runs / '*.run'}"
    for other in (track, again):
        assert_refused(
            rankgauge("forecast", "train", track, other, "-o", out, *TRAIN),
            "occurs twice with the same judgments",
        )
    parts = [f"{kind}={qrels},{runs / pattern}" for pattern in ("r[01].run", "r[234].run")]
    assert rankgauge("forecast", "train", *parts, "-o", out, *TRAIN).code == 0


def test_judgments_of_other_documents_are_told(rankgauge: Call, track: str, model: str) -> None:
    _, qrels, _ = track_files(track)
    qrels.write_text("".join(f"{topic} 0 D-{topic}.html 1\n" for topic in range(1, 13)))
    done = rankgauge("forecast", "predict", model, track)
    assert done.code == 0
    assert "WARNING" in done.err
    assert "no document of the run is judged" in done.err
    assert "'D-1.html'" in done.err


def test_one_topic_is_told(rankgauge: Call, track: str, tmp_path: Path) -> None:
    _, qrels, _ = track_files(track)
    first = [line for line in qrels.read_text().splitlines() if line.startswith("1 ")]
    qrels.write_text("\n".join(first) + "\n")
    out = str(tmp_path / "out")
    done = rankgauge("forecast", "train", track, "-o", out, *TRAIN)
    assert done.code == 0
    assert "trained on only one query" in done.err
    assert "trained on only one query" in rankgauge("forecast", "predict", out, track).err


def test_the_forecasts_can_be_saved(
    rankgauge: Call, track: str, model: str, tmp_path: Path
) -> None:
    pytest.importorskip("polars")
    file = tmp_path / "forecasts.parquet"
    done = rankgauge("forecast", "predict", model, track, "--save", str(file), "--format", "csv")
    assert done.code == 0
    scores = Scores.load(file)
    means = {run: next(iter(values.values())) for run, values in scores.mean().items()}
    shown = {row["run"]: float(row["forecast"]) for row in records(done.out)}
    assert shown == pytest.approx(means)


def test_features_by_the_name_of_their_set(rankgauge: Call, track: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert rankgauge("forecast", "train", track, "-o", str(out), *TRAIN).code == 0
    assert Forecaster.load(out).features == FEATURES
    options = ("--target", "nDCG@100", "--depth", "10", "--feature", "rich", "--feature", "RR")
    assert rankgauge("forecast", "train", track, "-o", str(out), *options).code == 0
    assert Forecaster.load(out).features == (*RICH, "RR")


def test_a_file_that_lacks_everything(rankgauge: Call, track: str, tmp_path: Path) -> None:
    (tmp_path / "forecaster.json").write_text("{}")
    assert_refused(
        rankgauge("forecast", "predict", str(tmp_path), track),
        "missing from the file: format, version, method",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "qrels.txt", "-o", "{out}"], "expected NAME=KIND:QRELS,RUNS"),
        (["train", "news=qrels.txt", "-o", "{out}"], "RUNS starts after the last comma"),
        (["train", "news=none.txt,none", "-o", "{out}"], "none.txt"),
        (["train", "{track}", "-o", "{out}", "--target", "nothing"], "nothing"),
        (["train", "{track}", "-o", "{out}", "--feature", "nothing"], "nothing"),
        (["predict", "{out}", "{track}"], "forecaster.json"),
        (["train", "{track}", "-o", "{file}"], "cannot be made"),
    ],
)
def test_refused(
    rankgauge: Call, tracks: list[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "file").write_text("")
    names = {"out": tmp_path / "out", "file": tmp_path / "file", "track": tracks[0]}
    filled = [text.format(**names) for text in arguments]
    assert_refused(rankgauge("forecast", *filled), message)


def test_the_forecast_of_a_run_does_not_depend_on_the_others(
    rankgauge: Call, tracks: list[str], tmp_path: Path
) -> None:
    """One run alone, with the judgments that are given."""
    model = str(tmp_path / "model")
    options = ("--target", "AP", "--depth", "10", "--method", "regression")
    assert rankgauge("forecast", "train", *tracks[:2], "-o", model, *options).code == 0
    kind, _, files = tracks[1].partition("=")
    qrels, _, runs = files.rpartition(",")
    alone = f"{kind}={qrels},{Path(runs) / 'r3.run'}"
    every, one = (
        records(rankgauge("forecast", "predict", model, text, "--format", "csv").out)
        for text in (tracks[1], alone)
    )
    assert one == [row for row in every if row["run"] == "r3.run" or row["run"] == "r3"]


def test_the_study_asks_its_workers(
    tracks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("study", "forecast", *tracks, "-o", tmp_path / "out", "--depth", "5")
    assert "the workers are asked" in called_with_workers(monkeypatch, *given).err


STUDY = ("--depth", "5", "--target", "nDCG@50", "--repeats", "1")


@pytest.fixture
def few_halvings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of the study come from fewer halves of the queries."""
    if not thorough():
        monkeypatch.setattr(study, "HALVINGS", 4)


@pytest.mark.usefixtures("few_halvings")
def test_names_kinds_and_order_change_no_byte_of_the_study_but_the_names(
    rankgauge: Call, tracks: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    files = [track.partition("=")[2] for track in tracks]
    names = {"one1": "last", "two2": "best", "three3": "here"}
    kinds = (("news", "news", "web"), ("x", "x", "a"))
    first = [f"{n}={k}:{file}" for n, k, file in zip(names, kinds[0], files, strict=True)]
    second = [f"{n}={k}:{file}" for n, k, file in zip(names.values(), kinds[1], files, strict=True)]
    chosen_names = (["two2", "three3"], ["best", "here"])
    for out, given, targets in zip("01", (first, second[::-1]), chosen_names, strict=True):
        chosen = [option for name in targets for option in ("--target-track", name)]
        more = ("--target", "nDCG@1000", "--feature", "P", "--feature", "nDCG")
        folder = str(tmp_path / out)
        done = rankgauge("study", "forecast", *given, "-o", folder, *STUDY, *chosen, *more)
        assert done.code == 0, done.err
    assert "Boosting is better than regression." in done.out
    assert "skipped for nDCG@1000: " in done.err
    assert sorted(path.name for path in (tmp_path / "0").iterdir()) == [
        "claims.csv", "figure-nDCG-50.png", "figure-nDCG-50.svg", "means.csv", "overview.csv",
        "percentages.csv", "systems.png", "systems.svg", "table-1.csv", "table-nDCG-50.csv",
        "tracks.csv",
    ]  # fmt: skip
    for path in (tmp_path / "0").glob("*.csv"):
        here, there = ((tmp_path / side / path.name).read_text() for side in "01")
        for old, new in names.items():
            here = here.replace(old, new)
        assert here == there, path.name
    systems = [(tmp_path / side / "systems.svg").read_bytes() for side in "01"]
    assert systems[0] == systems[1]
    means = records((tmp_path / "0" / "means.csv").read_text())
    assert len(means) == 5 * 11 + 4 * 9 + 2 * 3
    for row in means:
        assert float(row["r2_low"] or -9) <= float(row["r2"] or 0) <= float(row["r2_high"] or 9)


def test_tracks_without_names_are_called_by_kind_and_file(tracks: list[str]) -> None:
    parts = [track_parts(text) for text in tracks]
    assert short_names(parts) == ["news one/qrels.txt", "news two/qrels.txt", "web three/qrels.txt"]
    assert short_names(parts[:1]) == ["news qrels.txt"]


@pytest.mark.usefixtures("few_halvings")
def test_a_table_of_scores_is_a_track(rankgauge: Call, tracks: list[str], tmp_path: Path) -> None:
    """Where features see all judgments, a table gives the numbers that judgments and runs give.

    The two tracks differ in size: those of equal size are ordered by all their numbers, and a table has
    fewer of them.
    """
    tracks = tracks[1:]
    tables = []
    measures = [
        option
        for name in ("P@5", "infAP@5", "ERR@5", "bpref@5", "nDCG@5", "RBP@5", "nDCG@50")
        for option in ("-m", name)
    ]
    for name, track in zip("ab", tracks, strict=True):
        kind, _, files = track.partition("=")
        qrels, _, runs = files.rpartition(",")
        saved = tmp_path / f"{name}.parquet"
        assert rankgauge("evaluate", qrels, runs, *measures, "--save", str(saved)).code == 0
        tables.append(f"{name}={kind}:{saved}")
    given = [
        f"{name}={track.replace('=', ':', 1)}" for name, track in zip("ab", tracks, strict=True)
    ]
    rows = []
    for number, each in enumerate((given, tables)):
        out = tmp_path / str(number)
        done = rankgauge(
            "study", "forecast", *each, "-o", str(out), *STUDY, "--learner", "regression"
        )
        assert done.code == 0, done.err
        cells = records((out / "tracks.csv").read_text())
        rows.append(
            [row for row in cells if row["judgments"] == "full" and row["method"] != "shallow"]
        )
    assert rows[1] == rows[0] != []
    lacking = rankgauge(
        "study", "forecast", *tables, "-o", str(tmp_path / "x"), *STUDY, "--depth", "7"
    )
    assert lacking.code == 2
    assert "the table of scores lacks P@7, infAP@7" in lacking.err
    assert "; add them with `rankgauge evaluate QRELS RUNS -m 'P@7' " in lacking.err
    train = rankgauge("forecast", "train", tables[0], "-o", str(tmp_path / "y"))
    assert "RUNS starts after the last comma" in train.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target-track", "nobody"), "no track 'nobody', expected one of"),
        (("--feature", "nothing"), "nothing"),
        (("--target", "gm(AP)"), "gm(AP) has no per-query scores"),
    ],
)
def test_the_study_refuses(
    rankgauge: Call, tracks: list[str], tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    assert_refused(
        rankgauge("study", "forecast", *tracks, "-o", str(tmp_path / "out"), *options), message
    )


@pytest.mark.usefixtures("few_halvings")
def test_the_gain_and_the_learner_of_the_study(
    rankgauge: Call, tracks: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--gain", "exp2", "--learner", "regression", "--learner", "svr", "--feature", "P")
    done = rankgauge("study", "forecast", *tracks[1:], "-o", str(out), *STUDY, *options)
    assert done.code == 0, done.err
    rows = records((out / "means.csv").read_text())
    assert {row["target"] for row in rows} == {"nDCG(gain=exp2)@50"}
    assert {"svr", "svr, one model", "voting"} <= {row["method"] for row in rows}
    assert "boosting" not in {row["method"] for row in rows}

"""rankgauge forecast train and predict, and study forecast, as a user of a shell meets them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from command_line import Outcome
from forecast.made_tracks import write_track
from rankgauge.forecast import Forecaster, Track

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

Run = Callable[..., Outcome]


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
    rankgauge: Run, tracks: list[str], tmp_path: Path, method: str
) -> None:
    model = str(tmp_path / "model")
    options = ("--target", "nDCG@100", "--judged-to", "10", "--method", method)
    done = rankgauge("forecast", "train", *tracks[:2], "-o", model, *options)
    assert (done.code, done.out) == (0, "")
    assert "learnt from 2 tracks, 120 rows" in done.err
    shown = rankgauge("forecast", "predict", model, tracks[2], "--format", "csv")
    assert shown.code == 0
    forecaster = Forecaster(method, "nDCG@100", 10).fit([Track.read(text) for text in tracks[:2]])
    found = forecaster.forecast(Track.read(tracks[2]), level=0.95)
    rows = records(shown.out)
    assert [row["run"] for row in rows] == list(found.rows.runs)
    np.testing.assert_allclose(
        [float(row["forecast"]) for row in rows], found.values.mean(axis=1), rtol=1e-12
    )
    assert "nothing is guaranteed" in shown.out + shown.err
    by_topic = rankgauge("forecast", "predict", model, tracks[2], "-q", "--format", "csv")
    assert len(records(by_topic.out)) == 4 * 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "qrels.txt", "-o", "{out}"], "expected KIND=QRELS,RUNS"),
        (["train", "news=none.txt,none", "-o", "{out}"], "none.txt"),
        (["train", "{track}", "-o", "{out}", "--target", "nothing"], "nothing"),
        (["train", "{track}", "-o", "{out}", "--feature", "nothing"], "nothing"),
        (["predict", "{out}", "{track}"], "forecaster.json"),
        (["train", "{track}", "-o", "{file}"], "cannot be made"),
    ],
)
def test_refused(
    rankgauge: Run, tracks: list[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "file").write_text("")
    names = {"out": tmp_path / "out", "file": tmp_path / "file", "track": tracks[0]}
    filled = [text.format(**names) for text in arguments]
    done = rankgauge("forecast", *filled)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_the_forecast_of_a_run_does_not_depend_on_the_others(
    rankgauge: Run, tracks: list[str], tmp_path: Path
) -> None:
    """One run alone, with the judgements that are given."""
    model = str(tmp_path / "model")
    options = ("--target", "AP", "--judged-to", "10", "--method", "regression")
    assert rankgauge("forecast", "train", *tracks[:2], "-o", model, *options).code == 0
    kind, _, files = tracks[1].partition("=")
    qrels, _, runs = files.rpartition(",")
    alone = f"{kind}={qrels},{Path(runs) / 'r3.run'}"
    every, one = (
        records(rankgauge("forecast", "predict", model, text, "--format", "csv").out)
        for text in (tracks[1], alone)
    )
    assert one == [row for row in every if row["run"] == "r3.run" or row["run"] == "r3"]


def test_the_study(rankgauge: Run, tracks: list[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    done = rankgauge("study", "forecast", *tracks, "-o", str(out), "--depth", "5")
    assert done.code == 0, done.err
    assert "Boosting is more accurate than regression." in done.out
    assert "left out for nDCG@1000" in done.err
    assert sorted(path.name for path in out.iterdir()) == [
        "claims.csv", "means.csv", "nDCG-100.png", "nDCG-100.svg", "overview.csv", "published.csv",
        "tracks.csv",
    ]  # fmt: skip
    means = records((out / "means.csv").read_text())
    assert len(means) == 5 * (9 + 8)

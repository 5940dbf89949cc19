"""Links planted in an output folder, under the names that a command chooses itself, are not followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import Call
from forecast.made_tracks import write_track

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")

COMMANDS = {
    "demo": "demo --queries 2 --systems 2 -o",
    "ltr train": "ltr train logisticregression data.txt -o",
    "ltr train, trees": "ltr train lambdamart data.txt --setting trees=2 -o",
    "forecast train": "forecast train {track} --target nDCG@50 --depth 5 --method gupta -o",
    "study med": "study med --data nowhere -o",
}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    lines = [f"{n % 3} qid:{n // 5} 1:{n % 7} 2:{n % 4}\n" for n in range(40)]
    (tmp_path / "data.txt").write_text("".join(lines))
    return f"news:{write_track(tmp_path / 'track', 3, runs=3, topics=6)}"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_behind_a_planted_link_is_changed(
    command: str, inputs: str, rankgauge: Call, tmp_path: Path
) -> None:
    words = COMMANDS[command].format(track=inputs).split()
    usual = rankgauge(*words, "whole")
    assert usual.code in (0, 3), usual.err
    names = [path.name for path in (tmp_path / "whole").iterdir()]
    assert names
    (tmp_path / "decoys").mkdir()
    (tmp_path / "out").mkdir()
    for name in names:
        (tmp_path / "decoys" / name).write_text("mine")
        (tmp_path / "out" / name).symlink_to(tmp_path / "decoys" / name)
    done = rankgauge(*words, "out")
    for name in names:
        assert (tmp_path / "decoys" / name).read_text() == "mine"
        assert done.code == 2 or not (tmp_path / "out" / name).is_symlink()
    assert (
        done.code == usual.code
        or "model.json: the folder contains another kind of file" in done.err
    )

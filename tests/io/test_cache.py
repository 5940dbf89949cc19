"""Parsed files in the cache: the same features, for the same state of the file, whatever is damaged."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import Features, InputError, RankgaugeError, read_letor
from rankgauge.errors import RankgaugeWarning
from rankgauge.io import cache, letor


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder, in which small files are kept too."""
    monkeypatch.setenv("RANKGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "LEAST_BYTES", 1)
    monkeypatch.setattr(
        cache, "SETTLING_TIME", 0
    )  # nobody can set the time at which a file was changed
    return tmp_path / "cache"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A LETOR file that nobody has just written."""
    return written(
        tmp_path / "data.txt", "2 qid:a 1:0.5 3:NULL # docid = x\n0 qid:b 2:7 # docid = y\n"
    )


def written(path: Path, text: str, seconds_ago: float = 100) -> Path:
    path.write_text(text)
    now = path.stat().st_mtime_ns - int(seconds_ago * 1e9)
    os.utime(path, ns=(now, now))
    return path


def content(features: Features) -> list[Any]:
    documents = None if features.documents is None else features.documents.texts()
    arrays = (features.values.tobytes(), features.labels.tolist(), features.bounds.tolist())
    shape = (features.values.shape, features.values.dtype)
    return [*arrays, *shape, features.queries.texts(), documents, features.source, features.dropped]


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which files are parsed from now on."""
    seen: list[str] = []
    pieces_of = letor.pieces_of

    def watched(path: Any, **options: Any) -> Any:
        seen.append(Path(path).name)
        return pieces_of(path, **options)

    monkeypatch.setattr(letor, "pieces_of", watched)
    return seen


def test_a_file_is_parsed_once(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = parsed(monkeypatch)
    first = content(read_letor(data))
    assert content(read_letor(data)) == first
    assert content(read_letor(data, lenient=True)) == first
    assert seen == ["data.txt"]
    (kept,) = folder.iterdir()
    assert kept.suffix == ".features"
    with pytest.raises(ValueError, match="read-only"):
        read_letor(data).values[0] = 0


@pytest.mark.parametrize("text", ["1 qid:1 1:1\n", "0\n1\n0 2:1\n"])
def test_files_without_names_or_queries_come_back(
    folder: Path, tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(tmp_path / "some", text)
    written(tmp_path / "some.query", "2\n1\n")
    first = content(read_letor(data))
    seen = parsed(monkeypatch)
    assert content(read_letor(data)) == first
    assert seen == []
    if "qid" not in text:
        written(tmp_path / "some.query", "1\n2\n", seconds_ago=50)
        assert read_letor(data).bounds.tolist() == [0, 1, 3]
        assert seen == ["some"]


def test_absent_features_are_kept_apart(folder: Path, data: Path) -> None:
    for _ in range(2):
        assert read_letor(data).values.tolist() == [[0.5, 0, 0], [0, 7, 0]]
        assert np.isnan(read_letor(data, absent="nan").values).sum() == 4
    assert len(list(folder.iterdir())) == 2


def test_a_changed_file_is_read_again(folder: Path, data: Path) -> None:
    assert read_letor(data).labels.tolist() == [2, 0]
    same_size = data.read_text().replace("2 qid:a", "1 qid:a")
    written(data, same_size, seconds_ago=50)
    assert read_letor(data).labels.tolist() == [1, 0]
    written(data, same_size + "3 qid:c 1:1 # docid = z\n", seconds_ago=25)
    assert read_letor(data).labels.tolist() == [1, 0, 3]
    assert len(list(folder.iterdir())) == 1


def test_a_file_that_was_just_written_is_not_kept(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever time the file claims: it was given that time just now."""
    monkeypatch.setattr(cache, "SETTLING_TIME", 3600 * 10**9)
    written(data, data.read_text(), seconds_ago=10_000)
    read_letor(data)
    assert not folder.exists()


def test_a_rewritten_file_of_the_same_size_and_time_is_read_again(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = data.stat()
    assert read_letor(data).labels.tolist() == [2, 0]
    data.write_text(data.read_text().replace("2 qid:a", "1 qid:a"))
    os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert read_letor(data).labels.tolist() == [1, 0]
    # Where the system keeps no time of its own, the first and last bytes tell.
    state = cache._state(data)
    assert state is not None
    data.write_text(data.read_text().replace("docid = y", "docid = z"))
    other = cache._state(data)
    assert other is not None
    assert state["ends"] != other["ends"]
    assert state["size"] == other["size"]
    replaced = data.with_name("replaced")
    replaced.write_text(data.read_text())
    replaced.replace(data)
    renamed = cache._state(data)
    assert renamed is not None
    assert renamed["inode"] != other["inode"]


def test_the_cache_folder_is_private(folder: Path, data: Path) -> None:
    read_letor(data)
    assert folder.stat().st_mode & 0o777 == 0o700


shared = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


@shared
@pytest.mark.parametrize("mode", [0o770, 0o1777, 0o702])
def test_a_named_cache_that_others_can_write_to_is_refused(
    folder: Path, data: Path, mode: int
) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(RankgaugeError, match=f"RANKGAUGE_CACHE=.* mode {mode:o}.* chmod go-w"):
        read_letor(data)
    assert not list(folder.iterdir())
    folder.chmod(0o755)
    read_letor(data)
    assert len(list(folder.iterdir())) == 1


@as_root
def test_a_named_cache_of_another_user_is_refused(folder: Path, data: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 65534, 65534)
    with pytest.raises(RankgaugeError, match=r"belongs to user 65534, not to you \(user 0\)"):
        read_letor(data)


@shared
def test_a_named_cache_may_be_a_link_to_ones_own_folder(
    folder: Path, data: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    read_letor(data)
    assert len(list(elsewhere.iterdir())) == 1
    elsewhere.chmod(0o777)
    with pytest.raises(RankgaugeError, match="mode 777"):
        read_letor(data)


@shared
def test_a_default_cache_that_others_can_write_to_is_done_without(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANKGAUGE_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    (folder / "rankgauge").mkdir(parents=True)
    (folder / "rankgauge").chmod(0o777)
    with pytest.warns(RankgaugeWarning, match="The cache is not used"):
        assert read_letor(data).labels.tolist() == [2, 0]
    assert not list((folder / "rankgauge").iterdir())


@as_root
def test_a_default_cache_behind_the_link_of_another_user_is_done_without(
    folder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANKGAUGE_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    folder.mkdir()
    mine = tmp_path / "mine"
    mine.mkdir()
    (folder / "rankgauge").symlink_to(mine)
    read_letor(data)
    assert len(list(mine.iterdir())) == 1
    os.chown(folder / "rankgauge", 65534, 65534, follow_symlinks=False)
    with pytest.warns(RankgaugeWarning, match="a link that belongs to user 65534"):
        read_letor(data)


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
def test_nothing_in_the_cache_is_read_or_written_through_a_link(
    folder: Path, data: Path, tmp_path: Path, kind: str
) -> None:
    first = content(read_letor(data))
    (kept,) = folder.iterdir()
    decoy = kept.replace(tmp_path / "decoy")
    raw = decoy.read_bytes().replace(b"docid", b"DOCID")
    decoy.write_bytes(raw)
    if kind == "folder":
        kept.mkdir()
    elif kind == "pipe":
        os.mkfifo(kept)
    else:
        kept.symlink_to(decoy if kind == "link" else tmp_path / "absent")
    assert content(read_letor(data)) == first
    assert decoy.read_bytes() == raw
    assert not (tmp_path / "absent").exists()
    assert not kept.is_symlink()
    assert kept.is_file() or kind == "folder"


def test_a_file_with_dropped_lines_is_not_kept(folder: Path, data: Path) -> None:
    written(data, data.read_text() + "nonsense\n")
    assert read_letor(data, lenient=True).dropped
    assert not folder.exists()
    with pytest.raises(InputError, match=":3:"):
        read_letor(data)


def test_damaged_files_are_ignored_and_written_again(folder: Path, data: Path) -> None:
    """Whatever byte is another one, and wherever the file ends: features are those of the data file."""
    first = content(read_letor(data))
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    draw = random.Random(1)
    damaged = [whole[:length] for length in range(0, len(whole), 41)] + [whole + b"\0", b""]
    for place in range(0, len(whole), 3):
        other = whole[place] ^ draw.randrange(1, 256)
        damaged.append(whole[:place] + bytes([other]) + whole[place + 1 :])
    for raw in damaged:
        kept.write_bytes(raw)
        assert content(read_letor(data)) == first
        assert kept.read_bytes() == whole


def test_a_flipped_bit_among_many_values_is_noticed(folder: Path, tmp_path: Path) -> None:
    lines = (f"{row % 3} qid:{row // 10} 1:{row} 2:{row / 7:.6f}\n" for row in range(5000))
    data = written(tmp_path / "many.txt", "".join(lines))
    first = content(read_letor(data))
    (kept,) = folder.iterdir()
    raw = bytearray(kept.read_bytes())
    raw[len(raw) // 2] ^= 4
    kept.write_bytes(raw)
    assert content(read_letor(data)) == first


def test_a_header_that_asks_for_all_memory_is_ignored(folder: Path, data: Path) -> None:
    first = content(read_letor(data))
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    for shape in (b"(2, 9)", b"(9, 3)", b"(0, 3)", b"(2,)  "):
        assert len(shape) == len(b"(2, 3)")
        kept.write_bytes(whole.replace(b"(2, 3)", shape))
        assert content(read_letor(data)) == first
    kept.write_bytes(whole.replace(b"(2, 3), }" + b" " * 18, b"(2, 3999999999999999999), }"))
    assert content(read_letor(data)) == first
    kept.write_bytes(whole.replace(b"'<f4'", b"'|O' "))
    assert content(read_letor(data)) == first


def test_the_cache_of_another_file_does_not_count(folder: Path, data: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other.txt", "1 qid:q 1:1\n")
    read_letor(data)
    (first,) = folder.iterdir()
    read_letor(other)
    (second,) = set(folder.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    assert read_letor(other).queries.texts() == ["q"]


@pytest.mark.parametrize("value", ["off", "OFF"])
def test_off_keeps_nothing(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("RANKGAUGE_CACHE", value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    read_letor(data)
    assert not folder.exists()


def test_the_users_cache_folder_is_the_default(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANKGAUGE_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    assert cache.cache_folder() == str(folder / "rankgauge")
    read_letor(data)
    assert len(list((folder / "rankgauge").iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_done_without(
    folder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKGAUGE_CACHE", str(tmp_path / "file" / "below"))
    assert read_letor(data).labels.tolist() == [2, 0]


def test_small_files_are_not_kept(
    folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LEAST_BYTES", 1000)
    read_letor(data)
    assert not folder.exists()


def test_the_size_limit_holds_for_what_is_cached(folder: Path, data: Path) -> None:
    read_letor(data)
    with pytest.raises(InputError, match="raise the size limit"):
        read_letor(data, size_limit=20)

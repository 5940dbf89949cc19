"""Below a folder that the user named, no link is followed by reading, writing or removing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankgauge.errors import AbsentFile, InputError
from rankgauge.io.files import (
    TEMPORARY_PREFIX,
    atomic_write,
    check_writable,
    read_bytes,
    remove_unfinished,
)
from rankgauge.io.own_paths import OwnPath

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


def write(path: OwnPath, content: bytes = b"ours") -> None:
    with atomic_write(path) as stream:
        stream.write(content)


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
    path = tmp_path / "decoy"
    path.write_bytes(b"mine")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def test_a_file_is_written_read_and_removed(out: Path) -> None:
    path = OwnPath(out, "a") / "b" / "c.txt"
    path.parent.make()
    assert not path.exists()
    write(path)
    assert (path.is_file(), read_bytes(path), path.name) == (True, b"ours", "c.txt")
    assert (out / "a" / "b" / "c.txt").stat().st_mode & 0o777 == 0o666 & ~_umask()
    (out / "a" / "b" / "c.txt").chmod(0o600)
    write(path, b"again")
    assert (out / "a" / "b" / "c.txt").stat().st_mode & 0o777 == 0o600
    path.unlink()
    path.unlink()
    with pytest.raises(AbsentFile):
        read_bytes(path)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


@pytest.mark.parametrize("target", ["decoy", "absent"])
def test_a_link_is_replaced_not_followed(
    out: Path, decoy: Path, tmp_path: Path, target: str
) -> None:
    (out / "file").symlink_to(tmp_path / target)
    path = OwnPath(out, "file")
    assert path.exists()
    assert not path.is_file()
    with pytest.raises(
        InputError, match="is a link, expected a file; remove it, or choose another"
    ):
        read_bytes(path)
    check_writable(path)
    write(path)
    assert not (out / "file").is_symlink()
    assert (out / "file").read_bytes() == b"ours"
    assert decoy.read_bytes() == b"mine"
    assert not (tmp_path / "absent").exists()


def test_a_removed_link_leaves_its_target(out: Path, decoy: Path) -> None:
    (out / "file").symlink_to(decoy)
    OwnPath(out, "file").unlink()
    assert not (out / "file").is_symlink()
    assert decoy.read_bytes() == b"mine"


@pytest.mark.parametrize("depth", [1, 2])
def test_a_link_to_a_folder_on_the_way_is_refused(out: Path, tmp_path: Path, depth: int) -> None:
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    (outside / "b" / "file").write_bytes(b"mine")
    if depth == 1:
        (out / "a").symlink_to(outside)
    else:
        (out / "a").mkdir()
        (out / "a" / "b").symlink_to(outside / "b")
    path = OwnPath(out, "a", "b", "file")
    for work in (write, read_bytes, OwnPath.unlink, OwnPath.mode, lambda each: each.parent.make()):
        with pytest.raises(InputError, match="is a link, expected a folder"):
            work(path)
    assert (outside / "b" / "file").read_bytes() == b"mine"
    assert os.listdir(outside) == ["b"]


def test_the_folder_that_the_user_names_may_be_a_link(out: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(out)
    path = OwnPath(tmp_path / "named", "sub", "file")
    path.parent.make()
    write(path)
    assert (out / "sub" / "file").read_bytes() == b"ours"


def test_what_is_no_file_is_refused(out: Path) -> None:
    (out / "folder").mkdir()
    os.mkfifo(out / "pipe")
    with pytest.raises(InputError, match="folder: is a folder, expected a file; remove it"):
        write(OwnPath(out, "folder"))
    with pytest.raises(InputError, match="folder: is a folder, expected a file; remove it"):
        read_bytes(OwnPath(out, "folder"))
    with pytest.raises(InputError, match="pipe: is a named pipe, expected a file"):
        read_bytes(OwnPath(out, "pipe"))
    write(OwnPath(out, "pipe"))
    assert (out / "pipe").read_bytes() == b"ours"
    with pytest.raises(InputError, match="pipe: is a file, expected a folder"):
        OwnPath(out, "pipe", "below").make()


def test_no_name_leads_out(out: Path) -> None:
    for wrong in ("..", "a/../../b"):
        with pytest.raises(InputError, match="leads outside the folder"):
            OwnPath(out) / wrong


def test_a_link_that_is_planted_at_the_last_moment_is_not_followed(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a folder and its opening, a link takes its place."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (out / "a").mkdir()
    usual = os.lstat

    def swapped(path: str, **options: int) -> os.stat_result:
        state = usual(path, **options)  # type: ignore[arg-type]
        if path == "a":
            (out / "a").rmdir()
            (out / "a").symlink_to(outside)
        return state

    monkeypatch.setattr(os, "lstat", swapped)
    with pytest.raises(InputError):
        write(OwnPath(out, "a", "file"))
    assert not list(outside.iterdir())


def test_what_a_killed_process_left_is_removed_but_not_behind_links(
    out: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (out / "sub").mkdir()
    for folder in (out, out / "sub", outside):
        (folder / f"{TEMPORARY_PREFIX}0123").write_bytes(b"half")
        (folder / "whole").write_bytes(b"")
    (out / "linked").symlink_to(outside)
    remove_unfinished(OwnPath(out))
    assert sorted(os.listdir(out)) == ["linked", "sub", "whole"]
    assert os.listdir(out / "sub") == ["whole"]
    assert len(os.listdir(outside)) == 2

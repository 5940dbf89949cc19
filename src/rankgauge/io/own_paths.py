"""Paths that rankgauge names, below a folder that the user named: no link there is followed.

Whoever can write into an output folder could otherwise plant a link there, and make us overwrite or read
the file that it points to.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator

from rankgauge.errors import InputError
from rankgauge.workers.sharing import resolve_path

RELATIVE = os.open in os.supports_dir_fd
"""Whether files can be opened relative to an open folder. Elsewhere, on Windows, each folder on the path
is checked just before."""
_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Opening a named pipe waits for its writer unless the flags prevent it."""
REMEDY = "remove it, or choose another folder"
KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFIFO: "a named pipe",
}


class OwnPath(os.PathLike[str]):
    """A path below an output folder, on which no links are followed.

    Whoever can write to an output folder could otherwise plant a link there, and redirect what is
    read or written. The output folder itself may be a link.

    Parameters
    ----------
    root : str or os.PathLike
        The output folder, which the user named.
    *parts : str
        The names below it. "/" separates names, and the operator `/` adds them.

    Raises
    ------
    InputError
        If a name is "..", which would lead out of the folder.

    Examples
    --------
    >>> from rankgauge.extending import OwnPath
    >>> path = OwnPath("out") / "fold-1" / "AdaRank.run"
    >>> path.name
    'AdaRank.run'
    """

    __slots__ = ("parts", "root")

    def __init__(self, root: str | os.PathLike[str], *parts: str) -> None:
        before = root.parts if isinstance(root, OwnPath) else ()
        names = [name for part in parts for name in part.split("/") if name not in ("", ".")]
        self.root: str = root.root if isinstance(root, OwnPath) else os.fspath(root)
        self.parts: tuple[str, ...] = (*before, *names)
        if ".." in names:
            raise InputError(str(self), None, "leads outside the folder, expected a name inside it")

    def __truediv__(self, name: str) -> OwnPath:
        return OwnPath(self, name)

    def __fspath__(self) -> str:
        return os.path.join(self.root, *self.parts)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"OwnPath({os.fspath(self)!r})"

    @property
    def name(self) -> str:
        """The last name."""
        return os.path.basename(os.fspath(self))

    @property
    def parent(self) -> OwnPath:
        """The folder that this is in."""
        return OwnPath(self.root, *self.parts[:-1])

    @contextlib.contextmanager
    def entered(self, *, make: bool = False) -> Iterator[tuple[str, int | None]]:
        """The last name, and the open folder that it is in, as `dir_fd`; or the whole path and None.

        With `make`, folders that are absent are made. InputError where a link, or anything else that is
        no folder, stands in place of a folder; OSError as the system has it.
        """
        *folders, name = self.parts
        root = os.fspath(resolve_path(self.root))
        if make:
            os.makedirs(root, exist_ok=True)
        way, at = OwnPath(self.root), os.open(root, _FOLDER) if RELATIVE else None
        try:
            for each in folders:
                way = way / each
                inside = each if RELATIVE else os.path.join(root, *way.parts)
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(inside, dir_fd=at)
                kind = stat.S_IFMT(os.lstat(inside, dir_fd=at).st_mode)
                if kind != stat.S_IFDIR:
                    raise way.refused(kind, "a folder")
                if at is not None:
                    outer, at = at, os.open(inside, _FOLDER | _NO_LINK, dir_fd=at)
                    os.close(outer)
            yield name if RELATIVE else os.path.join(root, *self.parts), at
        finally:
            if at is not None:
                os.close(at)

    def refused(self, kind: int, expected: str) -> InputError:
        """What the user is told where something of another kind has this name."""
        what = KINDS.get(kind, "a special file")
        return InputError(str(self), None, f"is {what}, expected {expected}; {REMEDY}")

    def make(self) -> OwnPath:
        """The same path, after its folders, itself included, were made.

        InputError where one cannot be made, or where something else stands in its place.
        """
        try:
            with (self / "any").entered(make=True):
                pass
        except (OSError, ValueError) as error:  # ValueError: a name that no folder can have
            reason = getattr(error, "strerror", None) or error
            raise InputError(str(self), None, f"cannot be made: {reason}") from None
        return self

    def check_folders(self, *names: str) -> None:
        """InputError where something other than a folder has one of these names below this folder."""
        for name in names:
            with contextlib.suppress(FileNotFoundError), (self / name / "any").entered():
                pass

    def mode(self) -> int | None:
        """The kind and the permissions of what has this name; those of the link itself for a link.

        None where there is nothing.
        """
        try:
            with self.entered() as (name, at):
                return os.lstat(name, dir_fd=at).st_mode
        except FileNotFoundError:
            return None

    def exists(self) -> bool:
        """Whether anything has this name, be it a link that leads nowhere."""
        return self.mode() is not None

    def is_file(self) -> bool:
        """Whether this is a plain file, not a link to one."""
        return stat.S_ISREG(self.mode() or 0)

    def open(self) -> io.FileIO:
        """The plain file of this name, to be read; InputError for a link, and for anything else."""
        with self.entered() as (name, at):
            if not RELATIVE and stat.S_ISLNK(kind := os.lstat(name).st_mode):
                raise self.refused(stat.S_IFMT(kind), "a file")
            flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | _NO_LINK | _NO_WAIT
            try:
                stream = io.FileIO(os.open(name, flags, dir_fd=at), "rb")
            except IsADirectoryError:
                raise self.refused(stat.S_IFDIR, "a file") from None
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.EMLINK):  # EMLINK: FreeBSD
                    raise self.refused(stat.S_IFLNK, "a file") from None
                raise
        kind = stat.S_IFMT(os.fstat(stream.fileno()).st_mode)
        if kind != stat.S_IFREG:
            stream.close()
            raise self.refused(kind, "a file")
        return stream

    def unlink(self) -> None:
        """Remove the file, or the link itself, if it is there. InputError where that cannot be done."""
        try:
            with self.entered() as (name, at):
                os.unlink(name, dir_fd=at)
        except FileNotFoundError:
            pass
        except OSError as error:
            message = f"cannot be removed: {error.strerror or error}; {REMEDY}"
            raise InputError(str(self), None, message) from None

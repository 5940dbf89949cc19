"""A folder with what a cross-validation has finished, from which it goes on after an interruption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import TEMPORARY, display_name, read_bytes, writing
from rankgauge.data.folds import Folds
from rankgauge.data.model import Run
from rankgauge.data.trec import read_run, write_run
from rankgauge.records import Record
from rankgauge.scores.documents import read_json
from rankgauge.scores.model import Scores
from rankgauge.seeds import digest

PROTOCOL, TIMES = "protocol.json", "times.json"
METHODS = "methods"
"""The entry of the protocol that later calls may add to."""
DIGEST = "digest"


class Trained(Record):
    """What a ranker gets on a fold: the run of the test queries, means on training and validation data,
    None where there is none, and the sentences of its notes."""

    run: Run
    train: tuple[float, ...]
    validation: tuple[float, ...] | None
    notes: tuple[str, ...] = ()


class Finished(Record):
    """A ranker on a fold, with its scores on the test queries if they were asked for, and how long it
    took."""

    trained: Trained
    scores: Scores | None
    seconds: float


def begin_folder(
    folder: Path,
    name: str,
    content: Mapping[str, Any],
    what: str,
    *,
    growing: Collection[str] = (),
) -> None:
    """Make a folder for long work, with a file that says what it is. RankgaugeError where the folder has
    other work of this kind; with the same content the work goes on.

    Parameters
    ----------
    folder
        The folder.
    name, content
        The file, and what it says about the work.
    what
        What such work is called in the error.
    growing
        Entries of the content that are mappings, and may grow: a key that only the file or only the
        content has is kept. A key that both have must have the same value.
    """
    path, content = folder / name, dict(content)
    if path.exists():
        there = _entries(path)
        if there is None:
            fault = "cannot be read"
        else:
            here = dict(read_json(json_bytes(content), path.name))
            fault = ", ".join(_differing(there, here, growing))
            fault = fault and f"differs in {fault}"
        if there is None or fault:
            raise RankgaugeError(
                f"{folder} has another {what}: {path.name} {fault}. Expected the same one to go on "
                "with; give another folder, or remove this one"
            )
        for entry in growing:
            content[entry] = {**there[entry], **content[entry]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), None, f"cannot be made: {error.strerror or error}") from None
    with writing(path) as stream:
        stream.write(json_bytes(content))


def _entries(path: Path) -> dict[str, Any] | None:
    """The entries of a file; None where it cannot be read."""
    try:
        return dict(read_json(read_bytes(path), display_name(path)))
    except (InputError, TypeError, ValueError):
        return None


def _differing(
    there: Mapping[str, Any], here: Mapping[str, Any], growing: Collection[str]
) -> list[str]:
    """The entries that differ. Of those that may grow, the keys that differ are named too."""
    names = []
    for name in {**there, **here}:
        before, now = there.get(name), here.get(name)
        if name in growing and isinstance(before, dict) and isinstance(now, dict):
            changed = [key for key in now if key in before and before[key] != now[key]]
            names += [f"{name} ({', '.join(changed)})"] if changed else []
        elif before != now:
            names.append(name)
    return names


class FoldStore(Record):
    """A folder with what is finished: for each fold and method a run, scores, and means on other data.

    The means are written last, in one step, with a digest of all three and of what they depend on: the
    data, the settings of the method, and versions. A fold and method is finished if its digest is right.
    """

    folder: Path
    protocol: Mapping[str, Any]

    def begin(self) -> None:
        """Make the folder, or check that it has the same cross-validation, perhaps with other methods;
        RankgaugeError else. A method of the same name must have the same settings."""
        import polars  # noqa: F401  here, since scikit-learn fails while another thread imports it

        begin_folder(self.folder, PROTOCOL, self.protocol, "cross-validation", growing=(METHODS,))

    def finished(self, fold: int, name: str) -> Trained | None:
        """What was finished before; None if it was not, or was changed since."""
        path = self._path(fold, name, "json")
        try:
            means = dict(read_json(read_bytes(path), display_name(path)))
            if means.pop(DIGEST) != self._digest(fold, name, means):
                return None
            run = read_run(self._path(fold, name, "run"), name=name)
            other = means["validation"]
            validation = None if other is None else tuple(other)
            return Trained(run, tuple(means["train"]), validation, tuple(means["notes"]))
        except (OSError, InputError, KeyError, TypeError, ValueError):
            return None  # made anew

    def keep(self, fold: int, name: str, finished: Finished) -> None:
        """Write what is finished."""
        trained, scores = finished.trained, finished.scores
        assert scores is not None
        path = self._path(fold, name, "json")
        path.parent.mkdir(exist_ok=True)
        write_run(trained.run, self._path(fold, name, "run"))
        scores.save(self._path(fold, name, "scores"))
        other = None if trained.validation is None else list(trained.validation)
        means = {"train": list(trained.train), "validation": other, "notes": list(trained.notes)}
        with writing(path) as stream:
            stream.write(json_bytes({**means, DIGEST: self._digest(fold, name, means)}))
        with writing(self._path(fold, name, "seconds")) as stream:
            stream.write(f"{finished.seconds:.3f}\n".encode())

    def _digest(self, fold: int, name: str, means: Mapping[str, Any]) -> str:
        """A digest of the run, the scores and the means, and of what they depend on."""
        files = (self._path(fold, name, ending).read_bytes() for ending in ("run", "scores"))
        own = {**self.protocol, METHODS: self.protocol.get(METHODS, {}).get(name)}
        each = [digest(content, size=16) for content in (*files, json_bytes([means, own]))]
        return digest(b"".join(each), size=16).hex()

    def write_times(self, folds: Iterable[int], names: Iterable[str]) -> None:
        """Gather how long each fold and method took, in a file of its own: times differ every time.

        What a process that was killed left half-written is removed.
        """
        for left in self.folder.glob(f"fold-*/{TEMPORARY}*"):
            left.unlink(missing_ok=True)
        path = self.folder / TIMES
        there = (_entries(path) or {}) if path.exists() else {}
        times = {fold: dict(own) for fold, own in there.items() if isinstance(own, dict)}
        before = json_bytes(times)
        names = list(names)
        for fold in folds:
            for name in names:
                own = self._path(fold, name, "seconds")
                if own.exists():
                    with suppress(ValueError):  # times are for information alone
                        times.setdefault(f"fold-{fold}", {})[name] = float(own.read_text())
                    own.unlink()
        if json_bytes(times) != before:
            with writing(path) as stream:
                stream.write(json_bytes(times))

    def _path(self, fold: int, name: str, ending: str) -> Path:
        return self.folder / f"fold-{fold}" / f"{name.replace(' ', '-')}.{ending}"


def data_digest(folds: Folds) -> str:
    """A digest of which files make up which fold: their content, wherever they are."""
    contents: dict[str, bytes] = {}
    for file in {part.file for fold in folds for parts in fold.parts.values() for part in parts}:
        with open(file, "rb") as stream:
            contents[file] = hashlib.file_digest(stream, _blake2b).digest()
    found = [
        (fold.number, split, contents[part.file], part.queries)
        for fold in folds
        for split, parts in fold.parts.items()
        for part in parts
    ]
    return digest(repr(found).encode(), size=16).hex()


def _blake2b() -> Any:
    return hashlib.blake2b(digest_size=16)


def json_bytes(content: Any) -> bytes:
    """The text of a JSON file, the same for the same content."""
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()

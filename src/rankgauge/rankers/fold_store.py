"""A folder with what a cross-validation has finished, from which it goes on after an interruption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
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


def begin_folder(folder: Path, name: str, content: Mapping[str, Any], what: str) -> None:
    """Make a folder for long work, with a file that says what it is. RankgaugeError where the folder has
    other work of this kind (`what`); with the same content the work goes on."""
    path, wanted = folder / name, json_bytes(content)
    if path.exists() and path.read_bytes() != wanted:
        raise RankgaugeError(
            f"{folder} has another {what}: {_difference(path, wanted)}. Expected the same one to go on "
            "with; give another folder, or remove this one"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), None, f"cannot be made: {error.strerror or error}") from None
    with writing(path) as stream:
        stream.write(wanted)


def _difference(path: Path, wanted: bytes) -> str:
    """In what a file differs from what it should have."""
    try:
        there = dict(read_json(read_bytes(path), display_name(path)))
    except (InputError, TypeError, ValueError):
        return f"{path.name} cannot be read"
    here = dict(read_json(wanted, path.name))
    names = [name for name in {**there, **here} if there.get(name) != here.get(name)]
    return f"{path.name} differs in {', '.join(names)}"


class FoldStore(Record):
    """A folder with what is finished: for each fold and method a run, scores, and means on other data.

    The means are written last, in one step, with a digest of all three. A fold and method is finished if
    its digest is right.
    """

    folder: Path

    def begin(self, protocol: Mapping[str, Any]) -> None:
        """Make the folder, or check that it has the same cross-validation; RankgaugeError else."""
        import polars  # noqa: F401  here, since scikit-learn fails while another thread imports it

        begin_folder(self.folder, PROTOCOL, protocol, "cross-validation")

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
        """A digest of the run, the scores and the means."""
        files = (self._path(fold, name, ending).read_bytes() for ending in ("run", "scores"))
        each = [digest(content, size=16) for content in (*files, json_bytes(means))]
        return digest(b"".join(each), size=16).hex()

    def write_times(self, folds: Iterable[int], names: Iterable[str]) -> None:
        """Gather how long each fold and method took, in a file of its own: times differ every time.

        What a process that was killed left half-written is removed.
        """
        for left in self.folder.glob(f"fold-*/{TEMPORARY}*"):
            left.unlink(missing_ok=True)
        times: dict[str, dict[str, float]] = {}
        names = list(names)
        for fold in folds:
            for name in names:
                path = self._path(fold, name, "seconds")
                if path.exists():
                    times.setdefault(f"fold-{fold}", {})[name] = float(path.read_text())
                    path.unlink()
        if times:
            with writing(self.folder / TIMES) as stream:
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

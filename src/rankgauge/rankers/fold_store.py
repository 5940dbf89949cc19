"""A folder with what a cross-validation has finished, from which it goes on after an interruption."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from os import PathLike
from typing import Any

from rankgauge.core.records import Record
from rankgauge.core.sealing import (
    check_seal,
    content_digest,
    damage_error,
    file_digest,
    json_bytes,
    read_json,
    read_object,
    read_sealed,
    write_sealed,
)
from rankgauge.data.folds import Folds
from rankgauge.data.model import Run
from rankgauge.errors import RankgaugeError
from rankgauge.io.files import TEMPORARY_PREFIX, check_writable, display_name, remove_unfinished
from rankgauge.io.own_paths import OwnPath
from rankgauge.io.trec import read_run, write_run
from rankgauge.scores.model import Scores

PROTOCOL, TIMES = "protocol.json", "times.json"
METHODS = "methods"
"""The entry of the protocol to which later calls may add."""
FILES = ("run", "scores")
"""The extensions of the files stored next to the means."""
UNSEALED = {"train", "validation", "notes", "digest"}
"""The entries of a file of means without a seal, from earlier versions; such folds are trained again."""
RETRAINING = "and the fold is trained again"
REMEDY = f"remove the file, {RETRAINING}"
ANOTHER_FOLDER = "choose another folder, or remove this one"


class FoldResult(Record):
    """The results of a ranker on a fold.

    `run` is the run of the test queries. `train` and `validation` have the means on those data;
    `validation` is None if there is no such data. `notes` has the sentences of its notes.
    """

    run: Run
    train: tuple[float, ...]
    validation: tuple[float, ...] | None
    notes: tuple[str, ...] = ()


class TimedFoldResult(Record):
    """A ranker on a fold, with the time that it took.

    `scores` are the scores on the test queries, if they were asked for.
    """

    trained: FoldResult
    scores: Scores | None
    seconds: float


def begin_folder(
    folder: str | PathLike[str],
    name: str,
    content: Mapping[str, Any],
    what: str,
    *,
    growing: Collection[str] = (),
) -> None:
    """Make a folder for long work, with a file that says what it is.

    With the same content, the work goes on.

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

    Raises
    ------
    RankgaugeError
        If the folder has other work of this kind.
    """
    folder, content = OwnPath(folder).make(), dict(content)
    path = folder / name
    if path.exists():
        there = read_sealed(path, f"the {name} of a {what}", "rankgauge", ANOTHER_FOLDER)
        here = dict(read_json(json_bytes(content), path.name, "JSON", "rankgauge"))
        if fault := ", ".join(_differing_entries(there, here, growing)):
            raise RankgaugeError(
                f"{folder} contains another {what}: {path.name} differs in {fault}. To resume, "
                f"it must be the same; {ANOTHER_FOLDER}"
            )
        for entry in growing:
            content[entry] = {**there[entry], **content[entry]}
    write_sealed(path, content)


def _differing_entries(
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

    The means are written last, in one step. Their file is sealed, and has digests of the run, of the
    scores, and of what all of it depends on: the data, the settings of the method, and versions. A file
    that was damaged is an error; a file that is not there, or depends on something else, is made anew.
    """

    folder: OwnPath
    protocol: Mapping[str, Any]

    def begin(self) -> None:
        """Make the folder, or check that it has the same cross-validation, perhaps with other methods.

        RankgaugeError if the folder has another one. A method of the same name must have the same
        settings.
        """
        import polars  # noqa: F401  here, since scikit-learn fails while another thread imports it

        begin_folder(self.folder, PROTOCOL, self.protocol, "cross-validation", growing=(METHODS,))
        for name in os.listdir(self.folder):  # by a process that was killed
            if re.fullmatch("fold-[0-9]+", name):
                remove_unfinished(self.folder / name)
            elif name.startswith(TEMPORARY_PREFIX):
                (self.folder / name).unlink()
        check_writable(self.folder / TIMES)
        self._times()  # an error now, not after the training

    def load(self, fold: int, name: str) -> FoldResult | None:
        """Return what was finished before; None without it, or if it depends on other data."""
        path = self._path(fold, name, "json")
        path.parent.make()
        for ending in (*FILES, "json"):  # an error now, not after hours of training
            check_writable(self._path(fold, name, ending))
        if not path.exists():
            return None
        means = read_object(path, "the means of a fold", f"rankgauge ({REMEDY})")
        if means.keys() == UNSEALED:
            return None
        means = check_seal(means, display_name(path), REMEDY)
        try:
            if means["basis"] != self._basis(name):
                return None
            for ending in FILES:
                file = self._path(fold, name, ending)
                if not file.exists():
                    return None
                if file_digest(file) != means[ending]:
                    raise damage_error(
                        display_name(file), f"remove it, or {path.name}, {RETRAINING}"
                    )
            run = read_run(self._path(fold, name, "run"), name=name)
            other = means["validation"]
            validation = None if other is None else tuple(other)
            return FoldResult(run, tuple(means["train"]), validation, tuple(means["notes"]))
        except (KeyError, TypeError):
            raise damage_error(display_name(path), REMEDY) from None

    def keep(self, fold: int, name: str, finished: TimedFoldResult) -> None:
        """Write what is finished."""
        trained, scores = finished.trained, finished.scores
        assert scores is not None
        path = self._path(fold, name, "json")
        write_run(trained.run, self._path(fold, name, "run"))
        scores.save(self._path(fold, name, "scores"))
        times = self._times()
        own = {**times.get(path.parent.name, {}), name: round(finished.seconds, 3)}
        write_sealed(self.folder / TIMES, {**times, path.parent.name: own})
        other = None if trained.validation is None else list(trained.validation)
        means = {"train": list(trained.train), "validation": other, "notes": list(trained.notes)}
        digests = {ending: file_digest(self._path(fold, name, ending)) for ending in FILES}
        write_sealed(path, {**means, **digests, "basis": self._basis(name)})

    def _basis(self, name: str) -> str:
        """A digest of all that a method's results depend on."""
        return content_digest({**self.protocol, METHODS: self.protocol.get(METHODS, {}).get(name)})

    def _times(self) -> dict[str, dict[str, float]]:
        """How long each fold and method took, in a file of its own: times differ every time."""
        path = self.folder / TIMES
        if not path.exists():
            return {}
        return read_sealed(path, "the times of a cross-validation", "rankgauge", "remove it")

    def _path(self, fold: int, name: str, ending: str) -> OwnPath:
        return self.folder / f"fold-{fold}" / f"{name.replace(' ', '-')}.{ending}"


def data_digest(folds: Folds) -> str:
    """A digest of which files make up which fold: their content, wherever they are."""
    files = {part.file for fold in folds for parts in fold.parts.values() for part in parts}
    contents = {file: file_digest(file) for file in files}
    found = [
        (fold.number, split, contents[part.file], part.queries)
        for fold in folds
        for split, parts in fold.parts.items()
        for part in parts
    ]
    return content_digest(found)

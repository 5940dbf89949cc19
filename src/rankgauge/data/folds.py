"""Folds of learning-to-rank data: what is trained, validated and tested on, in the published layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from rankgauge.core.arrays import Ints, offsets_of
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.records import Record
from rankgauge.core.seeds import list_seeds
from rankgauge.core.tables import Table
from rankgauge.data.features import Features
from rankgauge.errors import InputError
from rankgauge.io.files import SIZE_LIMIT, display_name
from rankgauge.io.layouts import Layout, Split, find_layout, format_range, rotate_parts
from rankgauge.io.letor import AbsentFeature, read_letor
from rankgauge.io.trec import Path

FOLDS = Integer(3)


def read_folds(
    folder: Path,
    folds: int | None = None,
    *,
    absent: AbsentFeature = "zero",
    seed: int = SEED,
    size_limit: int = SIZE_LIMIT,
) -> Folds:
    """Read the folds in a folder of LETOR files, or cut one file into folds.

    The names in the folder tell which of these layouts it has; `.layout` of the result says it. Names
    may be in upper or lower case, and files may be compressed.

    - Fold1, Fold2, …: a folder each, with train.txt, vali.txt and test.txt, or with trainingset.txt,
      validationset.txt and testset.txt as in LETOR 2.0; or files Fold1.train.txt and so on.
    - S1.txt, S2.txt, …: parts. Fold 1 tests on the last part, validates on the part before it, and
      trains on the others; each fold moves on by one part, as LETOR 4.0 does.
    - Fold1.test.txt, Fold2.test.txt, … alone: fold k tests on part k, validates on the part before, and
      trains on the others.
    - train.txt, vali.txt and test.txt: one fold.

    Files are read when a fold is asked for its features.

    Parameters
    ----------
    folder : str or path
        The folder, or a file.
    folds : int, optional
        Number of folds to cut a file into, three or more. Only for a file, or a folder with one file.
        The queries are assigned to folds by their ids and the seed.
    absent : {"zero", "nan"}, default "zero"
        The value of a feature that a line lacks.
    seed : int, default 0
        Seed of the random number generator, for cutting a file.
    size_limit : int, default 8 GiB
        The largest size of a file in bytes, as in `read_letor`.

    Returns
    -------
    Folds
        The folds, with the training, validation and test queries of each.

    Raises
    ------
    InputError
        If the folder has no such layout, or if a file to be cut has fewer queries than folds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part in (1, 2, 3):
    ...         _ = Path(folder, f"S{part}.txt").write_text(f"1 qid:{part} 1:0.5")
    ...     folds = read_folds(folder)
    ...     print(len(folds), folds[0].test.queries.texts(), folds[1].test.queries.texts())
    3 ['3'] ['1']
    """
    check_value("absent", absent, one_of(AbsentFeature))
    number = check_value("folds", folds, FOLDS, optional=True)
    seed = check_value("seed", seed, SEEDS)
    layout = find_layout(folder, cut=number is not None)
    files = FoldFiles(absent, size_limit, keep=layout.shared)
    if number is not None:
        return _cut(layout, files, number, seed, display_name(folder))
    parts = [
        {split: [FoldPart(name) for name in names] for split, names in each.items()}
        for each in layout.folds
    ]
    return Folds(layout.sentence, _make_folds(files, parts), display_name(folder))


class FoldPart(Record):
    """A file, or some queries of it, by number."""

    file: str
    queries: tuple[int, ...] | None = None


class FoldFiles:
    """Reads files, and keeps what it read where folds share files."""

    def __init__(self, absent: AbsentFeature, size_limit: int, keep: bool) -> None:
        self.absent, self.size_limit, self.keep = absent, size_limit, keep
        self._read: dict[str, Features] = {}

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_read": {}}  # another process reads the files itself

    def features(self, file: str) -> Features:
        """The features in a file."""
        if file in self._read:
            return self._read[file]
        features = read_letor(file, absent=self.absent, size_limit=self.size_limit)
        if self.keep:
            self._read[file] = features
        return features

    def joined(self, parts: Sequence[FoldPart]) -> Features:
        """The features of several parts, one after the other."""
        chosen = []
        for part in parts:
            features = self.features(part.file)
            chosen.append(features if part.queries is None else features.select(part.queries))
        return Features.joined(chosen, absent=self.value, source=", ".join(_files(parts)))

    @property
    def value(self) -> float:
        """The value of a feature that a line lacks."""
        return np.nan if self.absent == "nan" else 0.0


class Fold(Record):
    """The data that one fold trains, validates and tests on.

    `train`, `validation` and `test` are the features of the three parts. All three have the same number
    of features. `validation` is None where the layout has none. Files are read when features are first
    asked for.

    Attributes
    ----------
    number : int
        The number of the fold, from 1.
    files : FoldFiles
        The reader of the files.
    parts : dict of str to tuple of FoldPart
        For "train", "validation" and "test", the files, or the queries of a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part, query in (("train", 1), ("vali", 2), ("test", 3)):
    ...         _ = Path(folder, f"{part}.txt").write_text(f"1 qid:{query} 1:0.5")
    ...     print(read_folds(folder)[0].train)
    Features: 1 query, 1 document, 1 feature
    """

    number: int
    files: FoldFiles
    parts: dict[Split, tuple[FoldPart, ...]]

    @property
    def train(self) -> Features:
        """What rankers learn from."""
        return self._features["train"]

    @property
    def validation(self) -> Features | None:
        """What settings are chosen by."""
        return self._features.get("validation")

    @property
    def test(self) -> Features:
        """What rankers are compared on."""
        return self._features["test"]

    @cached_property
    def _features(self) -> dict[Split, Features]:
        read = {split: self.files.joined(parts) for split, parts in self.parts.items()}
        width = max(features.values.shape[1] for features in read.values())
        return {split: each.widened(width, self.files.value) for split, each in read.items()}

    def __repr__(self) -> str:
        shown = (f"{split} {', '.join(_files(parts))}" for split, parts in self.parts.items())
        return f"Fold {self.number}: {'; '.join(shown)}"


class Folds(Record, Sequence[Fold]):
    """The folds of a data set, as a sequence of `Fold`: the result of `read_folds`.

    Each access gives a new `Fold`, so that the features it reads are freed together with it.

    Attributes
    ----------
    layout : str
        How the folds are laid out, in a sentence.
    folds : tuple of Fold
        The folds.
    source : str, default "folds"
        The name of the folder or the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part, query in (("train", 1), ("vali", 2), ("test", 3)):
    ...         _ = Path(folder, f"{part}.txt").write_text(f"1 qid:{query} 1:0.5")
    ...     folds = read_folds(folder)
    ...     print(len(folds), folds.test().queries.texts())
    1 ['3']
    """

    layout: str
    folds: tuple[Fold, ...]
    source: str = "folds"

    def __len__(self) -> int:
        return len(self.folds)

    @overload
    def __getitem__(self, place: int) -> Fold: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Fold, ...]: ...

    def __getitem__(self, place: int | slice) -> Fold | tuple[Fold, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(*place.indices(len(self))))
        fold = self.folds[place]
        return Fold(fold.number, fold.files, fold.parts)

    def __iter__(self) -> Iterator[Fold]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"Folds of {self.source}: {count_phrase(len(self), 'fold')}. {self.layout}"

    def test(self) -> Features:
        """The test queries of all folds. Only the files of the test parts are read."""
        parts = [fold.files.joined(fold.parts["test"]) for fold in self.folds]
        return Features.joined(parts, absent=self.folds[0].files.value)

    def statistics(self) -> Table:
        """Count documents, queries and features in each part of each fold, and in all test sets.

        The table also says how many documents have each label, and how many queries have no relevant
        document. The test sets are counted together.

        This reads all folds, one after the other.
        """
        parts: list[tuple[str, _Counts]] = []
        tests = []
        for fold in self:
            for split in fold.parts:
                counts = _Counts.of(fold._features[split])
                parts.append((f"fold {fold.number} {split}", counts))
                if split == "test":
                    tests.append(counts)
        parts.insert(0, ("all test sets", _Counts.total(tests)))
        labels = sorted({label for _, counts in parts for label in counts.labels})
        return Table(
            (
                *("set", "documents", "queries", "features", "documents a query"),
                "queries without relevant",
                *(f"label {label}" for label in labels),
            ),
            tuple(
                (
                    *(name, counts.documents, counts.queries, counts.features),
                    counts.documents / counts.queries if counts.queries else None,
                    counts.without,
                    *(counts.labels[label] for label in labels),
                )
                for name, counts in parts
            ),
            (self.layout,),
        )


class _Counts(Record):
    """What is counted of some features."""

    documents: int
    queries: int
    features: int
    without: int
    labels: Counter[int]

    @classmethod
    def of(cls, features: Features) -> _Counts:
        names, counts = np.unique(features.labels, return_counts=True)
        relevant = offsets_of(features.labels > 0)[features.bounds]
        return cls(
            len(features.labels),
            len(features.queries),
            int(features.values.shape[1]),
            int(np.count_nonzero(np.diff(relevant) == 0)),
            Counter(dict(zip(names.tolist(), counts.tolist(), strict=True))),
        )

    @classmethod
    def total(cls, parts: Sequence[_Counts]) -> _Counts:
        return cls(
            sum(part.documents for part in parts),
            sum(part.queries for part in parts),
            max((part.features for part in parts), default=0),
            sum(part.without for part in parts),
            sum((part.labels for part in parts), Counter()),
        )


def _cut(layout: Layout, files: FoldFiles, number: int, seed: int, source: str) -> Folds:
    """The queries of one file dealt out to parts, which rotate as the parts S1 to S5 do."""
    (file,) = layout.folds[0]["train"]
    features = files.features(file)
    if len(features.queries) < number:
        there = count_phrase(len(features.queries), "query")
        raise InputError(file, None, f"{there}, expected at least {number} for {number} folds")
    drawn: Ints = np.argsort(list_seeds(seed, features.queries), kind="stable")
    # Within a part, queries stand as in the file.
    parts = [FoldPart(file, tuple(np.sort(own).tolist())) for own in np.array_split(drawn, number)]
    trained = f"{'part' if number == 3 else 'parts'} {format_range('1', str(number - 2))}"
    sentence = (
        f"{file} cut into {number} parts by query (seed {seed}): fold 1 trains on {trained}, validates "
        f"on {number - 1} and tests on {number}; each fold moves on by one part."
    )
    return Folds(sentence, _make_folds(files, rotate_parts(parts)), source)


def _make_folds(
    files: FoldFiles, folds: Sequence[Mapping[Split, Sequence[FoldPart]]]
) -> tuple[Fold, ...]:
    return tuple(
        Fold(number, files, {split: tuple(parts) for split, parts in fold.items()})
        for number, fold in enumerate(folds, 1)
    )


def _files(parts: Sequence[FoldPart]) -> list[str]:
    return list(dict.fromkeys(part.file for part in parts))

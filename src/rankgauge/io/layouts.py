"""How folders of learning-to-rank data are laid out, told by the names of their files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar

from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.errors import InputError
from rankgauge.io.files import display_name, read_error
from rankgauge.io.letor import SIZE_ENDINGS
from rankgauge.io.trec import COMPRESSED_ENDINGS, Path

P = TypeVar("P")
Split: TypeAlias = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")

NAMES: dict[str, Split] = {
    **dict.fromkeys(("train", "training", "trainset", "trainingset"), "train"),
    **dict.fromkeys(("vali", "valid", "validation", "valiset", "validset"), "validation"),
    **dict.fromkeys(("validationset", "dev", "devset"), "validation"),
    **dict.fromkeys(("test", "testing", "testset", "testingset"), "test"),
}
"""File names without their extensions."""

FOLD = re.compile(r"fold[ _.-]?([0-9]{1,3})")
FOLD_FILE = re.compile(r"fold[ _.-]?([0-9]{1,3})[ _.-]([a-z]+)")
PART = re.compile(r"s([0-9]{1,3})")
ENDINGS = (".txt", ".dat", ".data", ".svm", ".svmlight", ".libsvm", ".letor")
MAX_SHOWN = 8

EXPECTED = (
    "expected Fold1, Fold2, … with train.txt, vali.txt and test.txt each (or trainingset.txt, …); parts "
    "S1.txt, S2.txt, …; test parts Fold1.test.txt, Fold2.test.txt, …; train.txt, vali.txt and test.txt; "
    "or one file and the number of folds to cut it into"
)

SplitFiles: TypeAlias = dict[Split, list[str]]


class Layout(Record):
    """How folds were found: in a sentence, and for each fold the files of each split."""

    sentence: str
    folds: list[SplitFiles]
    shared: bool = False
    """Whether the same file belongs to several folds."""


def find_layout(folder: Path, *, cut: bool) -> Layout:
    """The layout of a folder, or of its one subfolder that has one; with `cut`, its one file.

    InputError where there is none, or where it is not complete.
    """
    name = os.fspath(folder)
    if os.path.isfile(name):
        if not cut:
            message = "is one file, expected a folder, or the number of folds to cut the file into"
            raise InputError(name, None, message)
        return Layout("One file.", [{"train": [name]}], shared=True)
    listed = _Listing.of(name)
    if cut:
        files = [path for _, path in listed.files]
        if len(files) == 1:
            return Layout("One file.", [{"train": files}], shared=True)
        message = f"has {count_phrase(len(files), 'data file')}, expected one to split into folds"
        raise InputError(display_name(folder), None, f"{message} (leave out folds)")
    layout = _find_own_layout(listed)
    if layout is not None:
        return layout
    below = [_find_own_layout(_Listing.of(path)) for _, path in listed.folders]
    layouts = [each for each in below if each is not None]
    if len(layouts) == 1:
        return layouts[0]
    names = sorted(os.path.basename(path) for _, path in (*listed.folders, *listed.files))
    more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    there = f"it has {', '.join(names[:MAX_SHOWN])}{more}" if names else "it is empty"
    if len(layouts) > 1:
        there = "several of its folders contain folds; specify one of them"
    raise InputError(display_name(folder), None, f"no folds found ({there}), {EXPECTED}")


class _Listing(Record):
    """What a folder has: folders and data files, each with its name in lower case, without endings."""

    folder: str
    folders: list[tuple[str, str]]
    files: list[tuple[str, str]]

    @classmethod
    def of(cls, folder: str) -> _Listing:
        folders, files = [], []
        try:
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda each: each.name):
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir():
                        folders.append((entry.name.lower(), entry.path))
                    elif entry.is_file() and (stem := _stem(entry.name)) is not None:
                        files.append((stem, entry.path))
        except (OSError, ValueError) as error:
            raise read_error(folder, error) from None
        return cls(folder, folders, files)


def _stem(name: str) -> str | None:
    """The name of a data file without its endings; None for files that are no data."""
    stem, ending = os.path.splitext(name.lower())
    if ending in COMPRESSED_ENDINGS:
        stem, ending = os.path.splitext(stem)
    if ending in SIZE_ENDINGS or stem in ("readme", "license"):
        return None
    return stem if ending in ENDINGS else stem + ending


def _find_own_layout(listed: _Listing) -> Layout | None:
    """The layout that this folder itself has, None where it has none."""
    for find in (_fold_folders, _fold_files, _parts, _one_fold):
        layout = find(listed)
        if layout is not None:
            return layout
    return None


def _fold_folders(listed: _Listing) -> Layout | None:
    """Fold1, Fold2, …: folders with a file for each split."""
    numbered = _sort_by_number(listed, listed.folders, FOLD)
    if not numbered:
        return None
    folds = []
    for path in numbered:
        inside = _Listing.of(path)
        folds.append(_splits(path, [(NAMES.get(stem), file) for stem, file in inside.files]))
    if not any(folds):
        return None
    _check_complete(numbered, folds)
    names = ", ".join(os.path.basename(files[0]) for files in folds[0].values())
    folders = format_range("Fold1", f"Fold{len(folds)}")
    sentence = f"{count_phrase(len(folds), 'folder')} {folders}, each with {names}."
    return Layout(sentence, folds)


def _fold_files(listed: _Listing) -> Layout | None:
    """Fold1.train.txt and so on, or Fold1.test.txt, Fold2.test.txt, … alone: disjoint test parts."""
    by_fold: dict[int, list[tuple[Split | None, str]]] = {}
    for stem, path in listed.files:
        match = FOLD_FILE.fullmatch(stem)
        if match and match[2] in NAMES:
            by_fold.setdefault(int(match[1]), []).append((NAMES[match[2]], path))
    if not by_fold:
        return None
    _check_numbers(listed.folder, sorted(by_fold), "fold")
    folds = [_splits(listed.folder, by_fold[number]) for number in sorted(by_fold)]
    count = len(folds)
    if all(set(fold) == {"test"} for fold in folds):
        if count < 3:
            return None
        chosen = folds_by_test_part([fold["test"][0] for fold in folds])
        sentence = (
            f"{count} disjoint test parts: fold k tests on part k, validates on part k−1 and trains on "
            "the others."
        )
        return Layout(sentence, chosen, shared=True)
    _check_complete([f"{listed.folder}: fold {number}" for number in sorted(by_fold)], folds)
    files = format_range("Fold1", f"Fold{count}")
    sentence = f"{count_phrase(count, 'fold')} in files {files}, one for each of "
    return Layout(sentence + ", ".join(folds[0]) + ".", folds)


def _parts(listed: _Listing) -> Layout | None:
    """S1.txt, S2.txt, …: parts that rotate."""
    numbered = _sort_by_number(listed, listed.files, PART)
    count = len(numbered)
    if count < 3:
        return None
    trained = format_range("S1", f"S{count - 2}")
    sentence = (
        f"{count} parts S1 to S{count}: fold 1 trains on {trained}, validates on S{count - 1} and "
        f"tests on S{count}; each fold moves on by one part."
    )
    return Layout(sentence, rotate_parts(numbered), shared=True)


def _one_fold(listed: _Listing) -> Layout | None:
    """train.txt, vali.txt and test.txt: one fold."""
    splits = _splits(listed.folder, [(NAMES.get(stem), path) for stem, path in listed.files])
    if not {"train", "test"} <= set(splits):
        return None
    names = ", ".join(os.path.basename(files[0]) for files in splits.values())
    return Layout(f"One fold: {names}.", [splits])


def format_range(first: str, last: str) -> str:
    """From the first to the last: `S1 to S3`, or `S1` where they are the same."""
    return first if first == last else f"{first} to {last}"


def rotate_parts(parts: Sequence[P]) -> list[dict[Split, list[P]]]:
    """For each fold its parts by LETOR's rotation: fold 1 of five has S1, S2, S3; S4; and S5."""
    folds: list[dict[Split, list[P]]] = []
    for first in range(len(parts)):
        *train, validation, test = (*parts[first:], *parts[:first])
        folds.append({"train": train, "validation": [validation], "test": [test]})
    return folds


def folds_by_test_part(parts: Sequence[P]) -> list[dict[Split, list[P]]]:
    """For each fold its parts, if they are called after the fold that tests on them."""
    folds: list[dict[Split, list[P]]] = []
    for number in range(len(parts)):
        test, *train, validation = (*parts[number:], *parts[:number])
        folds.append({"train": train, "validation": [validation], "test": [test]})
    return folds


def _sort_by_number(
    listed: _Listing, entries: Sequence[tuple[str, str]], pattern: re.Pattern[str]
) -> list[str]:
    """The paths whose names are numbered so, in the order of their numbers."""
    by_number: dict[int, str] = {}
    for stem, path in entries:
        match = pattern.fullmatch(stem)
        if not match:
            continue
        number = int(match[1])
        if number in by_number:
            raise _duplicate_error(listed.folder, by_number[number], path)
        by_number[number] = path
    if by_number:
        _check_numbers(listed.folder, sorted(by_number), "number")
    return [by_number[number] for number in sorted(by_number)]


def _check_numbers(folder: str, numbers: Sequence[int], what: str) -> None:
    missing = next((n for n in range(1, len(numbers) + 1) if n not in numbers), None)
    if missing is not None:
        message = f"{what} {missing} is missing, where there is {what} {numbers[-1]}"
        raise InputError(folder, None, f"{message}; expected all numbers from 1")


def _splits(folder: str, files: Sequence[tuple[Split | None, str]]) -> SplitFiles:
    """The file of each split, in the order of splits; InputError where a split has two files."""
    files_of: SplitFiles = {}
    for split, path in files:
        if split is not None:
            files_of.setdefault(split, []).append(path)
    for paths in files_of.values():
        if len(paths) > 1:
            raise _duplicate_error(folder, *paths[:2])
    return {split: files_of[split] for split in SPLITS if split in files_of}


def _duplicate_error(folder: str, one: str, other: str) -> InputError:
    names = f"{os.path.basename(one)} and {os.path.basename(other)}"
    return InputError(folder, None, f"{names} are the same part, expected one of them")


def _check_complete(names: Sequence[str], folds: Sequence[SplitFiles]) -> None:
    """InputError unless every fold has what is trained and tested on, and all have the same splits."""
    all_splits = [split for split in SPLITS if any(split in fold for fold in folds)]
    for name, fold in zip(names, folds, strict=True):
        for split in dict.fromkeys((*all_splits, "train", "test")):
            if split not in fold:
                known = ", ".join(each for each, own in NAMES.items() if own == split)
                raise InputError(
                    name, None, f"no {split} file, expected one of these names: {known} (.txt)"
                )

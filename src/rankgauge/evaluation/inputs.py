"""Judgments and runs from what users give: objects, dicts, frames, files, folders.

Objects of other tools are known by their attributes, so that none of these tools is imported:
`Qrels` and `Run` of ranx, and the documents that ir_measures and ir_datasets give one by one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from rankgauge.core.checks import check_value, one_of
from rankgauge.core.policies import DEFAULT_NEGATIVE, Negative
from rankgauge.core.records import Record
from rankgauge.data.model import JudgedDict, Judgments, Run, RunDict
from rankgauge.errors import InputError, MeasureError, RankgaugeError
from rankgauge.io.diagnosis import check_order, may_have_both
from rankgauge.io.files import STANDARD_INPUT, display_name
from rankgauge.io.parts import RunParts
from rankgauge.io.trec import Path, RunFile, read_qrels, run_files
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import is_ir_measure, parse, parse_all

Frame: TypeAlias = Any
Qrels: TypeAlias = Judgments | JudgedDict | Path | Frame
Source: TypeAlias = Callable[[], Run]
AnyRun: TypeAlias = Run | RunDict | Source | Path | Frame
Runs: TypeAlias = AnyRun | Iterable[AnyRun] | Mapping[str, AnyRun]

NO_JUDGMENTS = "cannot be used as judgments; pass a qrels file, a data frame or a dict"
NO_RUNS = "no runs, expected at least one (a generator can be used only once)"
NO_RUN = "is not a run; pass a run file, a data frame or a dict"


def judgments_of(qrels: Qrels, negative: Negative = DEFAULT_NEGATIVE) -> Judgments:
    """Return the judgments, read from a file or made of other data where needed.

    `negative` says what a negative grade means.
    """
    return _judgments_of(qrels).with_negative(check_value("negative", negative, one_of(Negative)))


def _judgments_of(qrels: Qrels) -> Judgments:
    if isinstance(qrels, Judgments):
        return qrels
    if isinstance(qrels, Mapping):
        return Judgments.from_dict(qrels)
    if isinstance(qrels, str | os.PathLike):
        return read_qrels(qrels)
    if _is_frame(qrels):
        return Judgments.from_frame(qrels)
    if wraps_a_dict(qrels, "qrels"):
        return Judgments.from_dict(qrels.to_dict())
    documents = _documents(qrels, "relevance")
    if documents is None:
        raise RankgaugeError(f"{qrels!r} {NO_JUDGMENTS}")
    return Judgments.from_arrays(
        [document.query_id for document in documents],
        [document.doc_id for document in documents],
        [document.relevance for document in documents],
    )


def sources_of(runs: Runs, *, elsewhere: bool = False) -> list[Source]:
    """One function for each run; it gives the run, and is called where the work is done.

    If that may be `elsewhere`, in another process, what only this process can read is read now.
    """
    sources = _sources_of(runs)
    if not sources:
        raise RankgaugeError(NO_RUNS)
    return [_read_if_process_local(source) for source in sources] if elsewhere else sources


def _sources_of(runs: Runs) -> list[Source]:
    if isinstance(runs, Mapping):
        if not any(_is_run(run) for run in runs.values()):
            return [_source(runs, "run")]
        return [_rename_source(_source(run, name), name) for name, run in runs.items()]
    if isinstance(runs, str | os.PathLike):
        return [*run_files([runs])]
    if _is_single(runs) or not isinstance(runs, Iterable):
        return [_source(runs, "run")]
    several = list(runs)
    if _documents(several, "score") is not None:
        return [_source(several, "run")]
    files = [run for run in several if isinstance(run, str | os.PathLike)]
    if several and len(files) == len(several):
        return [*run_files(files)]
    sources: list[Source] = []
    for number, run in enumerate(several, 1):
        if isinstance(run, str | os.PathLike):
            sources += run_files([run])
        else:
            sources.append(_source(run, f"run{number}"))
    return sources


def check_places(qrels: Qrels, runs: Runs, error: InputError) -> None:
    """Raise MisplacedFile if judgments and runs are files that were given in each other's place.

    It is raised only if that is how this error came about.
    """
    if not isinstance(qrels, str | os.PathLike):
        return
    several = runs.values() if isinstance(runs, Mapping) else runs
    several = several if isinstance(several, Iterable) and not isinstance(runs, str) else [runs]
    paths = [run.path if isinstance(run, RunFile) else run for run in several]
    files = [os.fspath(path) for path in paths if isinstance(path, str | os.PathLike)]
    if os.fspath(qrels) not in files or not may_have_both(qrels):
        check_order(os.fspath(qrels), files, error=error)


def is_measure(value: object) -> bool:
    """Whether this is a measure, or a text that describes one or several."""
    if not isinstance(value, str):
        return isinstance(value, Measure | Aggregate) or is_ir_measure(value)
    try:
        return bool(parse_all(value))
    except MeasureError:
        return False


def check_argument_order(runs: object, measures: object, name: str = "measures") -> None:
    """An error of one line if runs were given in place of measures, or a measure in place of runs.

    `name` is the parameter of the measures.
    """
    check_measures(measures, name)
    if is_measure(runs) and not (isinstance(runs, str) and os.path.exists(runs)):
        several = [measures] if isinstance(measures, str) else measures
        if isinstance(several, Collection) and not all(is_measure(one) for one in several):
            raise RankgaugeError(f"runs: {str(runs)!r} is a measure, expected runs")


def check_measures(measures: object, name: str = "measures") -> None:
    """MeasureError if something else was given in place of measures, such as runs.

    `name` is the parameter: "measures", or "measure" if it takes only one.
    """
    if measures is None or isinstance(measures, str | int | float) or is_measure(measures):
        if isinstance(measures, str) and os.path.exists(measures) and not is_measure(measures):
            raise MeasureError(
                f"{name}: {measures!r} is a file, expected a measure such as nDCG@10"
            )
        return
    for one in measures if isinstance(measures, list | tuple) else [measures]:
        if isinstance(one, type) and issubclass(one, Measure | Aggregate):
            example = parse(one.examples[0]) if one.examples else "nDCG @ 10"
            raise MeasureError(
                f"{name}: {one.__name__} is a class, expected a measure: {example!r}"
            )
    kind = None
    several = isinstance(measures, Iterable) and not isinstance(measures, Mapping)
    if name == "measure":
        several = isinstance(measures, list | tuple) and all(map(is_measure, measures))
    if not several or _is_frame(measures):
        kind = type(measures).__name__
    elif isinstance(measures, Collection):
        others = (one for one in measures if not isinstance(one, str) and not is_measure(one))
        if (other := next(others, None)) is not None:
            kind = f"{type(measures).__name__} with a {type(other).__name__}"
    if kind is not None:
        raise MeasureError(f"{name}: a {kind} is not a measure, expected one such as nDCG@10")


def label(source: Source) -> str:
    """The name of the run that a source will give, as far as it is known."""
    return str(getattr(source, "label", None) or getattr(source, "__name__", "run"))


def place_of(source: Source) -> str:
    """How messages call the place of a run: its file or folder, or else its name."""
    if isinstance(source, RunFile | RunParts):
        return display_name(source.path)
    return label(source)


PROCESS_LOCAL_PREFIXES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""How the names of files begin that other processes do not have, beside standard input."""


def _read_if_process_local(source: Source) -> Source:
    """The source, or one that holds the run if only this process can read it."""
    if not isinstance(source, RunFile):
        return source
    path = os.fspath(source.path)
    if path != STANDARD_INPUT and not path.startswith(PROCESS_LOCAL_PREFIXES):
        return source
    try:
        return _InMemoryRun(source(), source.label)
    except InputError as error:
        return _UnreadableRun(error, source.label)


class _UnreadableRun(Record):
    """A run that could not be read."""

    error: InputError
    label: str

    def __call__(self) -> Run:
        raise self.error


class _InMemoryRun(Record):
    """A run that is there, or a dict, a frame or a list of documents of one."""

    run: Run | RunDict | Frame | list[Any]
    label: str

    def __call__(self) -> Run:
        if isinstance(self.run, Run):
            return replace(self.run, name=self.label)
        if isinstance(self.run, list):
            return Run.from_arrays(
                [document.query_id for document in self.run],
                [document.doc_id for document in self.run],
                [document.score for document in self.run],
                name=self.label,
            )
        make = Run.from_dict if isinstance(self.run, Mapping) else Run.from_frame
        return make(self.run, name=self.label)


class _RenamedRun(Record):
    """A function that gives a run, which gets another name."""

    source: Source
    label: str

    def __call__(self) -> Run:
        return replace(self.source(), name=self.label)


def _source(run: Any, name: str) -> Source:
    if isinstance(run, Run):
        return _InMemoryRun(run, run.name)
    if isinstance(run, Mapping) or _is_frame(run):
        return _InMemoryRun(run, name)
    if isinstance(run, str | os.PathLike):
        return RunFile(run)
    if wraps_a_dict(run, "run"):
        return _InMemoryRun(run.to_dict(), getattr(run, "name", None) or name)
    if callable(run):
        return run  # type: ignore[no-any-return]
    documents = _documents(run, "score")
    if documents is None:
        raise RankgaugeError(f"{run!r} {NO_RUN}")
    return _InMemoryRun(documents, name)


def _rename_source(source: Source, name: str) -> Source:
    if isinstance(source, RunFile | RunParts):
        return replace(source, name=name)
    return _RenamedRun(source, name)


# What an object is


def _is_run(value: Any) -> bool:
    """Whether this is a whole run, not one query of a run: {document: score} or a list of ids."""
    if isinstance(value, Mapping):
        return any(_is_row(row) for row in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return len(value) > 0 and is_document(value[0], "score")
    return isinstance(value, str | os.PathLike | Iterator) or _is_single(value)


def _is_row(value: Any) -> bool:
    """Whether this has the documents of a query, with scores or without."""
    return isinstance(value, Mapping | Sequence | Set | np.ndarray) and not isinstance(
        value, str | bytes
    )


def _is_single(value: Any) -> bool:
    """Whether this is one run, even where it could be taken item by item."""
    return (
        isinstance(value, Run | bytes)
        or _is_frame(value)
        or wraps_a_dict(value, "run")
        or is_document(value, "score")
        or callable(value)
    )


def _is_frame(value: Any) -> bool:
    """Whether this is a data frame of some library: an Arrow stream, polars (lazy) or pandas (old)."""
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "collect_schema", "iloc"))


def wraps_a_dict(value: Any, inside: str) -> bool:
    """Whether this is an object of ranx: `run` or `qrels` inside, and `to_dict` to get at it."""
    return hasattr(value, inside) and callable(getattr(value, "to_dict", None))


def is_document(value: Any, number: str) -> bool:
    """Whether this is a document of a query with a score or a relevance, as ir_measures has them."""
    return all(hasattr(value, name) for name in ("query_id", "doc_id", number))


def _documents(values: Any, number: str) -> list[Any] | None:
    """The documents that these are, at least one; None where anything else is among them."""
    if not isinstance(values, Iterable) or is_document(values, number):
        return None
    documents = list(values)
    if documents and all(is_document(document, number) for document in documents):
        return documents
    return None

"""What users give for judgments and runs, whatever its form: objects, dicts, frames, files, folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from rankgauge.data.errors import RankgaugeError
from rankgauge.data.model import Judgments, Run
from rankgauge.data.trec import Path, RunFile, read_qrels, run_files
from rankgauge.records import Record

Frame: TypeAlias = Any
Qrels: TypeAlias = Judgments | Mapping[str, Mapping[str, int]] | Path | Frame
Source: TypeAlias = Callable[[], Run]
AnyRun: TypeAlias = Run | Mapping[str, Mapping[str, float]] | Source | Path | Frame
Runs: TypeAlias = AnyRun | Iterable[AnyRun] | Mapping[str, AnyRun]


def judgments_of(qrels: Qrels) -> Judgments:
    """The judgments, read or made where they are not there yet."""
    if isinstance(qrels, Judgments):
        return qrels
    if isinstance(qrels, Mapping):
        return Judgments.from_dict(qrels)
    if isinstance(qrels, str | os.PathLike):
        return read_qrels(qrels)
    if _is_frame(qrels):
        return Judgments.from_frame(qrels)
    raise RankgaugeError(f"{qrels!r} is no judgments; give a qrels file, a data frame or a dict")


def sources_of(runs: Runs) -> list[Source]:
    """One function a run, to be called where the work is done."""
    if isinstance(runs, Mapping):
        if not any(_is_run(run) for run in runs.values()):
            return [_source(runs, "run")]
        return [_renamed(_source(run, name), name) for name, run in runs.items()]
    if isinstance(runs, str | os.PathLike):
        return [*run_files([runs])]
    if isinstance(runs, Iterable) and not isinstance(runs, bytes) and not _is_frame(runs):
        several = list(runs)
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
    return [_source(runs, "run")]


def label(source: Source) -> str:
    """The name of the run that a source will give, as far as it is known."""
    return str(getattr(source, "label", None) or getattr(source, "__name__", "run"))


class _Given(Record):
    """A run that is there, or a dict or a frame of one."""

    run: Run | Mapping[str, Mapping[str, float]] | Frame
    label: str

    def __call__(self) -> Run:
        if isinstance(self.run, Run):
            return replace(self.run, name=self.label)
        make = Run.from_dict if isinstance(self.run, Mapping) else Run.from_frame
        return make(self.run, name=self.label)


class _Named(Record):
    """A function that gives a run, which gets another name."""

    source: Source
    label: str

    def __call__(self) -> Run:
        return replace(self.source(), name=self.label)


def _is_run(value: Any) -> bool:
    """Whether this is a whole run, not one query of a run."""
    if isinstance(value, Mapping):
        return any(isinstance(documents, Mapping) for documents in value.values())
    return isinstance(value, Run | str | os.PathLike) or callable(value) or _is_frame(value)


def _is_frame(value: Any) -> bool:
    """Whether this is a data frame of some library: an Arrow stream, polars (lazy) or pandas (old)."""
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "collect_schema", "iloc"))


def _source(run: Any, name: str) -> Source:
    if isinstance(run, Run):
        return _Given(run, run.name)
    if isinstance(run, Mapping) or _is_frame(run):
        return _Given(run, name)
    if isinstance(run, str | os.PathLike):
        return RunFile(run)
    if callable(run):
        return run  # type: ignore[no-any-return]
    raise RankgaugeError(f"{run!r} is not a run; give a run file, a data frame or a dict")


def _renamed(source: Source, name: str) -> Source:
    if isinstance(source, RunFile):
        return replace(source, name=name)
    return _Named(source, name)

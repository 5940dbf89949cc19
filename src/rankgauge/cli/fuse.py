"""rankgauge fuse: one run from several."""

from __future__ import annotations

from dataclasses import replace

import click
import numpy as np

from rankgauge.cli.numbers import Decimal, decimal
from rankgauge.cli.options import (
    absent_option,
    method_option,
    normalize_option,
    output_option,
    parts_option,
    persistence_option,
    reading_options,
    tag_option,
)
from rankgauge.cli.output import notify, print_or_write, progress
from rankgauge.cli.output_files import OUTPUT_FILE
from rankgauge.cli.scoring import check_output, column_names
from rankgauge.core.notes import WARNING, Note
from rankgauge.core.policies import DEFAULT_FUSION, Absent
from rankgauge.data.model import decode
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.pool import Pool, pool_of
from rankgauge.fusion.runs import Fusion, check_topics
from rankgauge.io.parts import stored_runs
from rankgauge.io.trec import run_lines, write_run

WEIGHTED = ", ".join(method.name for method in METHODS.values() if method.weighted)
STANDARD_OUTPUT = "-"


def _numbers(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[float, ...] | None:
    """The numbers in `0.4,0.6`, or in several options; None where there are none."""
    try:
        return tuple(decimal(part) for text in texts for part in text.split(",")) or None
    except ValueError:
        raise click.BadParameter(f"{','.join(texts)!r}, expected numbers such as 0.4,0.6") from None


def _about(parameter: str) -> str:
    """The help of a parameter of a method."""
    for method in METHODS.values():
        for each in method.parameters:
            if each.name == parameter:
                return f"For {method.name}: {each.meaning} By default {each.default:g}."
    raise KeyError(parameter)


@click.command("fuse")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@method_option(
    "How the runs are combined. rrf needs no tuning; wsum is the weighted sum of the scores.",
    type=click.Choice(list(METHODS)),
    default=DEFAULT_FUSION,
    show_default=True,
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NUMBER,...",
    callback=_numbers,
    help=f"A weight for each run, in the order of the runs: --weight 0.4,0.6. For {WEIGHTED}. By "
    "default each run has weight 1.",
)
@normalize_option(
    "How the scores of each run are made comparable, topic by topic. Methods that look at ranks alone, "
    "such as rrf, need none."
)
@absent_option
@click.option("--k", type=Decimal(), metavar="NUMBER", help=_about("k"))
@click.option("--gamma", type=Decimal(), metavar="NUMBER", help=_about("gamma"))
@click.option("--sigma", type=Decimal(), metavar="NUMBER", help=_about("sigma"))
@persistence_option(None, _about("persistence"))
@tag_option("the name of the method")
@reading_options
@parts_option
@output_option(
    "FILE",
    "The file to write, as a TREC run. An ending .gz, .bz2, .xz or .zst compresses. By default the run "
    "goes to standard output.",
    type=OUTPUT_FILE,
)
def command(
    runs: tuple[str, ...],
    method: str,
    weights: tuple[float, ...] | None,
    normalize: str,
    absent: Absent,
    tag: str | None,
    lenient: bool,
    size_limit: int,
    query_column: tuple[str, ...],
    document_column: tuple[str, ...],
    score_column: tuple[str, ...],
    grade_column: tuple[str, ...],
    parts: bool,
    output: str | None,
    **parameters: float | None,
) -> None:
    """Combine runs into one run.

    The fused run has every document that any of the runs has for a topic. Each RUN is read as by
    `rankgauge evaluate`: a TREC file, CSV, TSV, JSON, JSON Lines or Parquet. A folder stands for all
    files in it, by name.

    \b
    rankgauge fuse bm25.run dense.run --method rrf -o fused.run
    rankgauge fuse bm25.run dense.run --weight 0.4,0.6 -o fused.run
    rankgauge fuse bm25.run dense.run splade.run --method mnz --normalize z -o fused.run.gz
    rankgauge fuse bm25.run dense.run --method rrf | rankgauge evaluate qrels.txt -

    The methods, each with its formula, are in docs/FUSION.md.

    Scores that differ also differ in single precision. So the file has the same order in trec_eval up
    to 9.0.7, which compares scores in single precision.

    The exit code is 0 when all is well, and 2 when a run could not be read or the runs do not go
    together.
    """
    fusion = Fusion.of(
        method,
        normalize=normalize,
        weights=weights,
        absent=absent,
        **{name: value for name, value in parameters.items() if value is not None},
    )
    files = stored_runs(
        runs,
        parts=parts,
        lenient=lenient,
        size_limit=size_limit,
        columns=column_names(query_column, document_column, score_column, grade_column),
    )
    check_output(output, [path for file in files for path in file.paths()])
    if len(files) < 2:
        raise RankgaugeError(f"{files[0].label}: one run alone, expected at least two to fuse")
    read = []
    with progress(len(files), "reading") as advance:
        for file in files:
            read.append(file())
            if advance is not None:
                advance(file.label)
    check_topics(read)
    union = pool_of(read)
    fused = fusion.fused(union, tag)
    dropped = [replace(note, run=run.name) for run in read for note in run.dropped]
    notify([*dropped, *about(union)])
    if output in (None, STANDARD_OUTPUT):
        print_or_write(map(decode, run_lines(fused, "standard output")), None)
    else:
        assert output is not None
        write_run(fused, output)


def about(union: Pool) -> list[Note]:
    """What to know of runs that differ in their topics, or have no document in common."""
    answered = union.lengths > 0
    notes = [
        Note(
            "lacks {topics} that other runs have; these runs alone decide there",
            run=name,
            count=count,
        )
        for name, count in zip(
            union.names, np.count_nonzero(~answered, axis=0).tolist(), strict=True
        )
        if count
    ]
    if not (np.count_nonzero(union.ranks, axis=1) > 1).any():
        notes.append(
            Note(
                "no document is in two runs",
                detail="do the runs name documents alike?",
                severity=WARNING,
            )
        )
    return notes

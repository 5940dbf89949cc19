"""rankgauge fuse: combine several runs into one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, option, takes
from rankgauge.cli.learning_options import setting_option
from rankgauge.cli.names import RegisteredName
from rankgauge.cli.numbers import Decimal, parse_decimal
from rankgauge.cli.options import (
    ABSENT,
    PERSISTENCE,
    TAG,
    RunFileOptions,
    fusion_plugin_option,
    method_option,
    normalize_option,
    output_option,
)
from rankgauge.cli.output import notify, print_or_write_run, progress
from rankgauge.cli.output_files import OUTPUT_FILE
from rankgauge.cli.scoring import check_output
from rankgauge.core.policies import DEFAULT_FUSION, Absent
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.overlap import overlap_notes
from rankgauge.fusion.pool import pool_of
from rankgauge.fusion.runs import Fusion, check_shared_queries
from rankgauge.io.parts import stored_runs

METHOD = RegisteredName(METHODS)
WEIGHTED = ", ".join(name for name in METHOD.listed if METHODS[name].weighted)


def _numbers(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[float, ...] | None:
    """The numbers in `0.4,0.6`, or in several options; None where there are none."""
    try:
        return tuple(parse_decimal(part) for text in texts for part in text.split(",")) or None
    except ValueError:
        raise click.BadParameter(f"{','.join(texts)!r}, expected numbers such as 0.4,0.6") from None


def _parameter_help(parameter: str) -> str:
    """The help of a parameter of a method."""
    for method in METHOD.listed:
        for each in METHODS[method].parameters:
            if each.name == parameter:
                return f"For {method}: {each.meaning} By default {each.default:g}."
    raise KeyError(parameter)


class FusionOptions(OptionGroup, heading="Fusion"):
    """How runs are combined."""

    method: str = method_option(
        f"How to combine the runs: {', '.join(METHOD.listed)}. rrf needs no tuning; wsum is "
        "the weighted sum of the scores.",
        type=METHOD,
        metavar="NAME",
        default=DEFAULT_FUSION,
        show_default=True,
    )
    weights: tuple[float, ...] | None = option(
        "--weight",
        multiple=True,
        metavar="NUMBER,...",
        callback=_numbers,
        help=f"The weights of the runs, in order: --weight 0.4,0.6. For {WEIGHTED}. By default, "
        "each run has weight 1.",
    )
    normalize: str = normalize_option(
        "How to normalize the scores of each run, query by query. Methods that use only "
        "ranks, such as rrf, need no normalization."
    )
    absent: Absent = ABSENT


class FusionParameters(OptionGroup, heading="Parameters of methods", common=False):
    """Parameters that some methods have."""

    k: float | None = option("--k", type=Decimal(), metavar="NUMBER", help=_parameter_help("k"))
    gamma: float | None = option(
        "--gamma", type=Decimal(), metavar="NUMBER", help=_parameter_help("gamma")
    )
    sigma: float | None = option(
        "--sigma", type=Decimal(), metavar="NUMBER", help=_parameter_help("sigma")
    )
    persistence: float | None = PERSISTENCE.but(_parameter_help("persistence"))
    settings: dict[str, Any] = setting_option(
        "A parameter of the method, such as k=10", "It also sets parameters of your own methods."
    ).but(heading="Parameters of methods", metavar="NAME=NUMBER")

    def collect(self) -> dict[str, Any]:
        """The parameters that are given, by an option of their own or by `--setting`."""
        values = {name: value for name, value in self.values().items() if value is not None}
        del values["settings"]
        for name in self.settings:
            if name in values:
                raise click.UsageError(
                    f"{name} is set by both --{name} and --setting; use one of them"
                )
        return {**values, **self.settings}


@click.command("fuse", cls=HeadedCommand)
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@takes(options=FusionOptions, parameters=FusionParameters, reading=RunFileOptions)
@output_option(
    "FILE",
    "Write the run to FILE in TREC format, compressed if FILE ends in .gz, .bz2, .xz or "
    ".zst. By default, the run goes to standard output.",
    type=OUTPUT_FILE,
)
@TAG.but("The name of the fused run. Defaults to the name of the method.")
@fusion_plugin_option
def command(
    runs: tuple[str, ...],
    options: FusionOptions,
    parameters: FusionParameters,
    reading: RunFileOptions,
    output: str | None,
    tag: str | None,
) -> None:
    """Combine runs into one run.

    For each query, the fused run has every document that any of the runs has. Each RUN is read as in
    `rankgauge evaluate`: a TREC file, CSV, TSV, JSON, JSON Lines or Parquet. A folder stands for all
    files in it, by name.

    \b
    rankgauge fuse bm25.run dense.run --method rrf -o fused.run
    rankgauge fuse bm25.run dense.run --weight 0.4,0.6 -o fused.run
    rankgauge fuse bm25.run dense.run splade.run --method mnz --normalize z -o fused.run.gz
    rankgauge fuse bm25.run dense.run --method rrf | rankgauge evaluate qrels.txt -
    \f
    docs/FUSION.md lists the methods with their formulas.

    Fused scores that differ also differ in single precision, so trec_eval up to 9.0.7, which compares
    scores in single precision, ranks the documents in the same order.

    The exit code is 0 on success, and 2 if a run could not be read or the runs cannot be combined.
    """
    fusion = Fusion.of(
        options.method,
        normalize=options.normalize,
        weights=options.weights,
        absent=options.absent,
        **parameters.collect(),
    )
    files = stored_runs(runs, parts=reading.parts, **reading.how)
    check_output(output, [path for file in files for path in file.paths()])
    if len(files) < 2:
        raise RankgaugeError(f"{files[0].label}: only one run, expected at least two to fuse")
    read = []
    with progress(len(files), "reading") as advance:
        for file in files:
            read.append(file())
            if advance is not None:
                advance(file.label)
    check_shared_queries(read)
    union = pool_of(read)
    fused = fusion.fuse_pool(union, tag)
    dropped = [replace(note, run=run.name) for run in read for note in run.dropped]
    notify([*dropped, *overlap_notes(union)])
    print_or_write_run(fused, output)

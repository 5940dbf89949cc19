"""rankgauge trec_eval: a drop-in replacement for trec_eval, with the same flags."""

from __future__ import annotations

import getopt
import sys
from typing import cast, get_args

import click

from rankgauge.cli import printable
from rankgauge.cli.output import print_bytes
from rankgauge.errors import DuplicateError, RankgaugeError
from rankgauge.trec_eval.inputs import read_inputs
from rankgauge.trec_eval.listings import NICKNAMES, requested_measures
from rankgauge.trec_eval.report import report
from rankgauge.trec_eval.settings import (
    DEFAULT_COMPAT,
    Compat,
    ParameterError,
    Settings,
    TrecEvalError,
    UsageError,
    parse_integer,
)
from rankgauge.version import __version__

SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
LONG = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
    "compat=": "compat",
}
SHORT_FORMS = {"--complete"[:length]: "--complete_rel_info_wanted" for length in range(3, 7)}
"""What --compat would make ambiguous: --c to --comp, which trec_eval understands."""
UNSUPPORTED_FORMATS = ("qrels_jg", "prefs", "qrels_prefs")
HELP = f"""\
Usage: rankgauge trec_eval [OPTIONS] QRELS RUN

Prints what trec_eval 9.0.8 (September 2023) prints, line for line. RUN may be - for standard input;
files may be compressed.

  -m NAME[.PARAMETERS]  a measure: map, P.5,10, ndcg_cut.20, ndcg.1=3,2=9, utility.2,-1,0,0, or one of
                        {", ".join(NICKNAMES)} (official is the default); may be repeated
  -q                    print each query, then the summary over all queries
  -n                    do not print the summary over queries
  -c                    average over all judged queries, not only those of the run
  -l NUMBER             the lowest grade that counts as relevant (default 1); with 0, every judged
                        document is relevant
  -J                    judged documents only: the others are removed from the run
  -M NUMBER             use only the first NUMBER documents of each query
  -N NUMBER             how many documents the collection has (for utility)
  -Z FILE               print z-scores; the means and standard deviations are read from FILE
  -R FORMAT, -T FORMAT  formats of the files: qrels and trec_results are understood
  -o, -D NUMBER         accepted, without effect
  -v                    the version
  --compat VERSION      follow another version: 9.0.7, 9.0.8 (the default) or 10.
                        9.0.7 stands for all versions up to 9.0.7, and for the tag v9.0.8 of 2020: they
                        compare scores in single precision, so more documents are tied.
                        9.0.8 is the release of September 2023; it and 10 compare in double precision.
                        10 rounds the number of documents of a recall level to the nearest whole
                        number, skips lines that start with #, scores missing queries with -c as a
                        list of one unjudged document, and has the measures rbp and unj
"""


@click.command(
    "trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Act as trec_eval, with the same flags: -m -q -c -l -n -J -M -N -Z -R -T -o -v -h."""
    sys.exit(run(list(arguments)))


def run(arguments: list[str]) -> int:
    """Evaluate as trec_eval would; the exit codes are those of trec_eval."""
    try:
        return _run(arguments)
    except (UsageError, getopt.GetoptError) as error:
        click.echo(f"trec_eval: {printable(str(error))} (-h for help)", err=True)
        return 1
    except TrecEvalError as error:
        click.echo(f"trec_eval: {printable(str(error))}", err=True)
        return error.code
    except DuplicateError as error:
        click.echo(printable(str(error)), err=True)
        return 4
    except RankgaugeError as error:
        click.echo(printable(str(error)), err=True)
        return 2


def _run(arguments: list[str]) -> int:
    arguments = [SHORT_FORMS.get(argument, argument) for argument in arguments]
    options, files = getopt.gnu_getopt(arguments, SHORT, list(LONG))
    measures: list[str] = []
    flags: dict[str, str] = {}
    for flag, value in options:
        name = LONG.get(flag[2:], LONG.get(f"{flag[2:]}=")) if flag.startswith("--") else flag[1:]
        assert name is not None
        if name == "m":
            measures.append(value)
        flags[name] = value
    compat = _version(flags.get("compat", DEFAULT_COMPAT))
    if "h" in flags:
        click.echo(HELP, nl=False)
        return 0
    if "v" in flags:
        click.echo(f"rankgauge {__version__}, as trec_eval version {compat}", err=True)
        return 0
    if len(files) != 2:
        raise UsageError(f"got {len(files)} files, expected QRELS and RUN")
    for flag, understood in (("R", "qrels"), ("T", "trec_results")):
        asked = flags.get(flag, understood)
        if flag == "R" and asked in UNSUPPORTED_FORMATS:
            raise UsageError(f"-R {asked} is not supported, only -R {understood}")
        if asked != understood:
            raise ParameterError(f"-{flag} {asked}: there is no such format, only {understood}")
    settings = Settings(
        measures=measures,
        per_query="q" in flags,
        summary="n" not in flags,
        complete="c" in flags,
        judged_only="J" in flags,
        rel=_parse_nonnegative(flags, "l", 1),
        most_retrieved=_parse_nonnegative(flags, "M", 0) if "M" in flags else None,
        collection=parse_integer(flags.get("N", "0")),
        z_scores=flags.get("Z"),
        compat=compat,
    )
    requested_measures(settings)  # an unknown measure is refused before any file is read
    lines = list(report(read_inputs(files, settings), settings))
    print_bytes("\n".join(lines) + "\n" if lines else "")
    return 0


def _version(text: str) -> Compat:
    """The version to follow. 9 and 10.0 are other names of 9.0.8 and 10."""
    version = {"9": "9.0.8", "10.0": "10"}.get(text, text)
    for known in get_args(Compat):
        if version == known:
            return cast(Compat, known)
    raise UsageError(f"--compat {text}: expected {', '.join(get_args(Compat)[:-1])} or 10")


def _parse_nonnegative(flags: dict[str, str], flag: str, default: int) -> int:
    """Parse the number of a flag as C does, and refuse a number below 0.

    Below 0, trec_eval's -l counts unjudged documents as relevant in some measures and not in
    others, and its -M breaks down.
    """
    value = parse_integer(flags.get(flag, str(default)))
    if value < 0:
        raise UsageError(f"-{flag} {flags[flag]} is not supported, expected a number from 0")
    return value

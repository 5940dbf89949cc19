"""rankgauge evaluate: score runs against judgements."""

from __future__ import annotations

from typing import Any, Literal

import click

from rankgauge.cli.options import (
    CommandWithFiles,
    level_option,
    measure_option,
    output_options,
    per_topic_option,
    plugin_option,
    samples_option,
    scoring_options,
    settled_option,
)
from rankgauge.cli.output import fail_if_incomplete, show, show_with_notes
from rankgauge.cli.output_files import OUTPUT_FILE
from rankgauge.cli.scoring import Scoring

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10")


@click.command("evaluate", cls=CommandWithFiles)
@measure_option(*DEFAULT_MEASURES, example="'gm(AP(rel=2))'")
@per_topic_option
@click.option(
    "--interval",
    is_flag=False,
    flag_value="t",
    type=click.Choice(["t", "bootstrap"]),
    help="Put a confidence interval beside each mean: by Student's t (the meaning of --interval "
    "alone), or from samples of topics (BCa).",
)
@level_option()
@samples_option()
@scoring_options
@settled_option(
    "Say of each run whether it is settled that it is better than the next run, by the first measure. "
    "No labels of the unjudged documents of the two runs can reverse a settled order."
)
@click.option(
    "--signature",
    is_flag=True,
    help="Print how each number was computed (in tsv and csv: lines with #).",
)
@click.option(
    "--save",
    type=OUTPUT_FILE,
    metavar="FILE",
    help="Also save all scores to FILE, as Parquet. `--scores FILE` of other commands and "
    "Scores.load read it.",
)
@output_options
@plugin_option
def command(
    measures: tuple[str, ...],
    per_topic: bool,
    interval: Literal["t", "bootstrap"] | None,
    level: float,
    samples: int,
    settled: bool,
    signature: bool,
    save: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **scoring: Any,
) -> None:
    """Score runs against judgements.

    QRELS and each RUN are TREC files, CSV or TSV with a header, JSON, JSON Lines or Parquet. The content
    of a file says which. Files may be compressed (gz, bz2, xz, zst); - is standard input. A folder
    stands for all files in it, and a pattern such as 'runs/*.gz' for those that match.

    JSON Lines may hold a run and its judgements, a query a line. Such a file is evaluated alone. More
    files beside it are more runs; they are scored by the judgements of the first file.

    \b
    rankgauge evaluate qrels.txt bm25.run dense.csv
    rankgauge evaluate rag.jsonl
    rankgauge evaluate ratings.csv top10.csv --document-column movie

    Printed for each run: the topics its means are over, judged topics it lacks, topics with nothing
    relevant, the judged share of its first ten documents, and the mean of each measure. Where topics
    are missing, both means are given: over all judged topics and over those the run answered.

    The exit code is 0 when all is well, 2 when nothing could be evaluated, and 3 when some runs could
    not be read or share no topic with QRELS. Then the others are printed, and standard error says which
    runs are left out and why.
    """
    if per_topic and interval is not None:
        raise click.UsageError("--interval is about the means, expected no -q beside it")
    if per_topic and settled:
        raise click.UsageError("--settled is about the means, expected no -q beside it")
    wanted = Scoring(**scoring)
    if settled:
        from rankgauge.cli.settling import check_policies

        check_policies(wanted)
    judgments, scores = wanted.scores(measures)
    if per_topic:
        table = scores.query_table(signature=signature)
    else:
        table = scores.table(
            signature=signature,
            interval=interval,
            level=level,
            samples=samples,
            seed=wanted.seed,
            notes=False,  # they go to standard error
        )
    if settled:
        from rankgauge.cli.settling import with_settled

        table = with_settled(table, wanted, judgments, scores)
    wanted.tell(judgments, scores)
    if save is not None:
        scores.save(save)
    (show if signature else show_with_notes)(table, form, digits, output)
    fail_if_incomplete(scores)

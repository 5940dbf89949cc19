"""rankgauge evaluate: score runs against judgements."""

from __future__ import annotations

from typing import Any, Literal

import click

from rankgauge.cli.options import (
    CommandWithFiles,
    level_option,
    measure_option,
    offlist_option,
    output_options,
    per_topic_option,
    plugin_option,
    samples_option,
    save_option,
    scoring_options,
    settled_option,
    signature_option,
)
from rankgauge.cli.output import fail_if_incomplete, show, show_with_notes
from rankgauge.cli.scoring import Scoring
from rankgauge.core.policies import Offlist

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10")


@click.command("evaluate", cls=CommandWithFiles)
@measure_option(*DEFAULT_MEASURES, example="'gm(AP(rel=2))'")
@per_topic_option()
@click.option(
    "--interval",
    is_flag=False,
    flag_value="t",
    type=click.Choice(["t", "bootstrap"]),
    help="Print a confidence interval next to each mean. t: by Student's t. bootstrap: BCa bootstrap "
    "over topics. Without a value: t.",
)
@level_option()
@samples_option()
@scoring_options
@settled_option(
    "Add a column: is this run certain to stay above the next run, by the first measure? yes: it stays "
    "above, however the unjudged documents of the two runs are judged."
)
@offlist_option("With --settled: whether")
@signature_option
@save_option
@output_options
@plugin_option
def command(
    measures: tuple[str, ...],
    per_topic: bool,
    interval: Literal["t", "bootstrap"] | None,
    level: float,
    samples: int,
    settled: bool,
    offlist: Offlist,
    signature: bool,
    save: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **scoring: Any,
) -> None:
    """Score runs against judgements.

    QRELS and each RUN are TREC files, CSV or TSV with a header, JSON, JSON Lines or Parquet. The format
    is detected from the content. Files may be compressed (gz, bz2, xz, zst). - is standard input. A
    folder stands for all files in it. A pattern such as 'runs/*.gz' stands for the files that match.
    With --parts, a folder or a pattern is one run.

    A JSON Lines file may hold both a run and its judgements, one query per line. Then no other file is
    needed. Any further files are runs too. They are scored with the judgements of the first file.

    \b
    rankgauge evaluate qrels.txt bm25.run dense.csv
    rankgauge evaluate rag.jsonl
    rankgauge evaluate ratings.csv top10.csv --document-column movie

    For each run it prints the mean of each measure, and:

    \b
    over         all: the means are over all judged topics
                 answered: the means are over the topics that the run answered
    topics       how many topics the means are over
    missing      how many judged topics the run lacks
    no relevant  how many topics have no relevant document
    judged@10    which share of the first ten documents is judged

    If a run lacks topics, it has two rows, one for `all` and one for `answered`.

    The exit code is 0 when all is well, and 2 when nothing could be evaluated. It is 3 when some runs
    could not be read or share no topic with QRELS: the other runs are printed. A message on stderr names
    each run that is left out, and says why.
    """
    if per_topic and interval is not None:
        raise click.UsageError("--interval is for the means; leave out -q")
    if per_topic and settled:
        raise click.UsageError("--settled is for the means; leave out -q")
    scorer = Scoring(**scoring)
    if settled:
        from rankgauge.cli.settling import check_policies

        check_policies(scorer)
    judgments, scores = scorer.scores(measures)
    if per_topic:
        table = scores.query_table(signature=signature)
    else:
        table = scores.table(
            signature=signature,
            interval=interval,
            level=level,
            samples=samples,
            seed=scorer.seed,
            notes=False,  # they go to standard error
        )
    if settled:
        from rankgauge.cli.settling import with_settled

        table = with_settled(table, scorer, judgments, scores, offlist)
    scorer.tell(judgments, scores)
    if save is not None:
        scores.save(save)
    (show if signature else show_with_notes)(table, form, digits, output)
    fail_if_incomplete(scores)

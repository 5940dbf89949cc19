"""rankgauge demo: a synthetic test collection, written as TREC files and evaluated."""

from __future__ import annotations

import click

from rankgauge.cli.groups import HeadedCommand, option
from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import output_option, queries_option, seed_option
from rankgauge.cli.output import line_width, notify
from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
from rankgauge.data.model import Judgments, Run
from rankgauge.evaluation.evaluator import evaluate
from rankgauge.io.trec import read_qrels, read_run, write_qrels, write_run
from rankgauge.simulation import simulate

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "Recall@100", "gm(AP)")
FOLDER = "rankgauge-demo"
MOST = 10_000


@click.command("demo", cls=HeadedCommand)
@queries_option(1, "How many queries to make.").but(
    old="--topics", heading="Collection", type=WholeNumber(1, MOST), default=50
)
@option(
    "--systems",
    heading="Collection",
    type=WholeNumber(1, MOST),
    default=12,
    help="How many systems to make; each writes a run.",
)
@seed_option("everything that is drawn at random", default=2026).but(heading="Collection")
@output_option("DIR", "The folder to write to.", default=FOLDER, type=OUTPUT_FOLDER)
def command(output: str, queries: int, systems: int, seed: int) -> None:
    """Make a synthetic test collection, write it as TREC files and evaluate it.

    The queries differ in difficulty. Grades go from 0 to 3. Some pooled documents are left unjudged. The
    systems differ in quality. Some systems have tied scores, miss queries or return short lists.
    """
    folder = make_folder(output)
    collection = simulate(queries=queries, systems=systems, seed=seed)
    qrels = folder / "qrels.txt"
    write_qrels(Judgments.from_dict(collection.qrels), qrels)
    runs = [folder / f"{name}.run.gz" for name in collection.runs]
    for path, (name, run) in zip(runs, collection.runs.items(), strict=True):
        write_run(Run.from_dict(run, name=name), path)
    scores = evaluate(read_qrels(qrels), [read_run(run) for run in runs], MEASURES)
    click.echo(f"{len(runs)} runs and qrels.txt written to {folder}\n")
    click.echo(scores.table().render("table", width=line_width()))
    best = max(scores.runs, key=lambda run: scores.mean()[run]["nDCG@10"])
    click.echo(f"{best}, its first queries:\n")
    first = evaluate(read_qrels(qrels), read_run(folder / f"{best}.run.gz"), MEASURES[:5])
    few = first.select(scores.queries[:5])
    click.echo(few.query_table().render("table", width=line_width()))
    notify(scores.notes)
    click.echo(f"Next: rankgauge evaluate {qrels} {folder}/*.run.gz -m nDCG@10 -m AP -q")

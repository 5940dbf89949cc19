"""rankgauge demo: a synthetic test collection, written as TREC files and evaluated."""

from __future__ import annotations

import shlex

import click

from rankgauge.cli.groups import HeadedCommand, option
from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import output_option, queries_option, seed_option
from rankgauge.cli.output import line_width, print_bytes
from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
from rankgauge.core.charts import Chart
from rankgauge.core.tables import Table
from rankgauge.data.model import Judgments, Run
from rankgauge.evaluation.evaluator import evaluate
from rankgauge.io.trec import read_qrels, read_run, write_qrels, write_run
from rankgauge.simulation import simulate

MEASURE = "nDCG@10"
READING = (
    f"Some of the first ten documents are not judged (see judged@10): their labels could put {MEASURE} "
    "anywhere between lower and upper; a random order of the judged documents gets chance."
)
SHOWN = 6
"""How many runs the table has."""
FOLDER = "rankgauge-demo"
MOST = 10_000


@click.command("demo", cls=HeadedCommand)
@queries_option(1, "The number of queries.").but(
    old="--topics", heading="Collection", type=WholeNumber(1, MOST), default=50
)
@option(
    "--systems",
    heading="Collection",
    type=WholeNumber(1, MOST),
    default=12,
    help=f"The number of systems; each produces one run. The {SHOWN} best are shown.",
)
@seed_option("everything that is drawn at random", default=2026).but(heading="Collection")
@output_option("DIR", "The folder to write to.", default=FOLDER, type=OUTPUT_FOLDER)
def command(output: str, queries: int, systems: int, seed: int) -> None:
    """Create a synthetic test collection, write it as TREC files and evaluate it.

    The queries vary in difficulty and the systems in quality. Grades range from 0 to 3, and some pooled
    documents are left unjudged. Some systems have tied scores, miss queries or return short lists.
    """
    folder = make_folder(output)
    collection = simulate(queries=queries, systems=systems, seed=seed)
    qrels = folder / "qrels.txt"
    write_qrels(Judgments.from_dict(collection.qrels), qrels)
    files = {name: folder / f"{name}.run.gz" for name in collection.runs}
    for name, run in collection.runs.items():
        write_run(Run.from_dict(run, name=name), files[name])
    judgments = read_qrels(qrels)
    best = evaluate(judgments, map(read_run, files.values()), MEASURE).sorted().runs[:SHOWN]
    table = leaderboard(judgments, [read_run(files[name]) for name in best])
    which = f"The top {SHOWN}" if len(files) > SHOWN else "All of them"
    report = ["rankgauge", "report", str(qrels), f"{folder}/*.run.gz", "--open"]
    print_bytes(
        f"{len(files)} runs and qrels.txt written to {folder}. {which} by {MEASURE}:\n\n"
        f"{table.render('table', width=line_width())}\n"
        f"Next: {shlex.join(report)}\n"
    )


def leaderboard(judgments: Judgments, runs: list[Run]) -> Table:
    """The runs with their scores, bounds and what chance gets."""
    around = [f"{name}({MEASURE})" for name in ("lower", "upper", "expected")]
    scores = evaluate(judgments, runs, [MEASURE, *around])
    table = scores.table()
    place = table.columns.index("judged@10")
    judged = {row[0]: row[place] for row in table.rows}
    rows = tuple((run, *means.values(), judged[run]) for run, means in scores.mean().items())
    columns = ("run", MEASURE, "lower", "upper", "chance", "judged@10")
    chart = Chart(MEASURE, low="lower", high="upper", mark="chance")
    return Table(columns, rows, (READING,), chart=chart)

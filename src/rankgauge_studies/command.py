"""rankgauge study: repeat a published study, and print its numbers next to ours."""

from __future__ import annotations

import sys

import click

from rankgauge.extending import LazyGroup, register_command

STUDIES = {
    "med": "Moffat: maximized effectiveness distance for recall-based metrics.",
    "optimization": "Robertson and Zaragoza: rank-based effectiveness measures and optimization.",
    "ue": "Feng and Karmaker: joint upper and expected value normalization.",
    "forecast": "Muwanei et al.: prediction of the high-cost nDCG measure.",
    "text": "Feng: BERTScore and ROUGE normalized by a random-text baseline.",
}
"""The studies: each has a folder of this name, with the module `command`."""


@register_command("Learn")
@click.group(
    "study",
    cls=LazyGroup,
    lazy=STUDIES,
    home="rankgauge_studies.{}.command".format,
    old={"optimisation": "optimization"},
    invoke_without_command=True,
    short_help="Replicate a published study. Its published numbers are printed next to ours.",
)
@click.pass_context
def command(context: click.Context) -> None:
    """Replicate a published study, and print its numbers next to ours. Without a name, list them."""
    if context.invoked_subcommand is None:
        if not sys.stdout.isatty():
            for name, summary in STUDIES.items():
                click.echo(f"{name}\t{summary}")
            return
        from rankgauge.extending import Table, show

        show(Table(("study", "what it replicates"), tuple(STUDIES.items())), "table", None, None)
        click.echo("\nrankgauge study NAME -o FOLDER runs one; --help after its name explains it.")

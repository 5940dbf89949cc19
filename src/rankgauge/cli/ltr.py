"""rankgauge ltr: train rankers on features, and rank with them."""

from __future__ import annotations

import json
from typing import Any

import click

from rankgauge.cli.options import (
    output_option,
    output_options,
    plugin_option,
    seed_option,
    tag_option,
)
from rankgauge.cli.output import notify, print_or_write, show
from rankgauge.cli.output_files import OUTPUT_FILE, OUTPUT_FOLDER
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.letor import read_letor
from rankgauge.data.model import decode
from rankgauge.data.trec import run_lines, write_run
from rankgauge.notes import Note

STANDARD_OUTPUT = "-"


@click.group("ltr")
def command() -> None:
    """Learning to rank: train a ranker on features with labels, and rank documents with it.

    DATA is a file in LETOR's form of SVMlight: a line a document, `grade qid:query 1:value 2:value …`.
    """


@command.command("methods")
@click.argument("name", required=False)
@output_options
@plugin_option
def methods(name: str | None, form: str | None, digits: int | None, output: str | None) -> None:
    """List the methods, or the settings of one."""
    from rankgauge.rankers.catalogue import methods_table, settings_table

    show(methods_table() if name is None else settings_table(name), form, digits, output)


def _settings(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """The settings in `trees=100`; values are JSON where they can be, else text."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r}, expected NAME=VALUE, such as preset=ranklib")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


@command.command("train")
@click.argument("method")
@click.argument("data")
@click.option(
    "--validation",
    metavar="FILE",
    help="Other queries, in the same form. A measure on them decides what the method leaves open, such "
    "as when to stop.",
)
@click.option(
    "--setting",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_settings,
    help="A setting of the method, such as preset=ranklib; may be repeated. `rankgauge ltr methods "
    "NAME` lists the settings.",
)
@seed_option("everything that the method draws at random")
@output_option("DIR", "The folder to write the ranker to.", required=True, type=OUTPUT_FOLDER)
@plugin_option
def train(
    method: str,
    data: str,
    validation: str | None,
    settings: dict[str, Any],
    seed: int,
    output: str,
) -> None:
    """Train a ranker, and write it to a folder.

    METHOD is a method that `rankgauge ltr methods` lists, such as LambdaMART, in any case.

    \b
    rankgauge ltr train lambdamart train.txt --validation vali.txt -o model
    rankgauge ltr rank model test.txt -o lambdamart.run
    """
    from rankgauge.rankers.registry import find_method

    ranker = find_method(method)().set_params(**{"seed": seed, **settings})
    ranker.settings()  # refused before anything is read
    features = read_letor(data)
    ranker.fit(features, None if validation is None else read_letor(validation))
    ranker.save(output)
    notify([Note(f"{ranker} learnt from {features}"), *features.dropped])


@command.command("rank")
@click.argument("model")
@click.argument("data")
@tag_option("the name of the method")
@output_option(
    "FILE",
    "The file to write, as a TREC run. An ending .gz, .bz2, .xz or .zst compresses. By default the run "
    "goes to standard output.",
    type=OUTPUT_FILE,
)
@plugin_option
def rank(model: str, data: str, tag: str | None, output: str | None) -> None:
    """Rank documents with a ranker that `rankgauge ltr train` wrote.

    Documents that DATA does not name get names such as 03-17: the 17th document of its query in the
    file. The first number is an order drawn at random, so that ties do not follow the file.
    """
    from rankgauge.rankers.ranking import run_of
    from rankgauge.rankers.saving import load

    ranker = load(model)
    features = read_letor(data)
    if not len(features.labels):
        raise RankgaugeError(f"{data}: no documents, expected some to rank")
    run = run_of(features, ranker.predict(features), tag or type(ranker).__name__)
    if output in (None, STANDARD_OUTPUT):
        print_or_write(map(decode, run_lines(run, "standard output")), None)
    elif output is not None:
        write_run(run, output)

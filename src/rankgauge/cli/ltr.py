"""rankgauge ltr: train rankers on features, and rank with them."""

from __future__ import annotations

from typing import Any, get_args

import click

from rankgauge.cli.groups import HeadedGroup, OptionGroup, argument, is_given, option, takes
from rankgauge.cli.learning_options import setting_option, training_queries_option
from rankgauge.cli.options import (
    TAG,
    Output,
    TableOptions,
    folds_option,
    measure_option,
    method_option,
    method_plugin_option,
    output_option,
    seed_option,
)
from rankgauge.cli.output import Incomplete, notify, print_or_write, print_or_write_run, progress
from rankgauge.cli.output_files import OUTPUT_FILE, OUTPUT_FOLDER
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.notes import Note, count_phrase
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.io.files import atomic_write
from rankgauge.io.letor import read_letor
from rankgauge.io.own_paths import OwnPath
from rankgauge.rankers.crossval import MEASURES
from rankgauge.rankers.evaluations import DEFAULT_EVALUATION, EvaluationName


@click.group("ltr", cls=HeadedGroup)
def command() -> None:
    """Learning to rank: train a ranker on labeled features, and rank documents with it.

    DATA is a file in LETOR's variant of the SVMlight format, with one line per document: `grade
    qid:query 1:value 2:value …`.
    """


@command.command("methods")
@click.argument("name", required=False)
@takes(output=Output)
@method_plugin_option
def methods(name: str | None, output: Output) -> None:
    """List the methods, or explain one with its settings.

    NAME is a method, such as lambdamart; case does not matter.
    """
    from rankgauge.rankers.registry import methods_table, settings_table

    if output.for_programs or output.form is not None:
        output.show(methods_table() if name is None else settings_table(name))
    else:
        text = _explanations() if name is None else _explanation(name)
        print_or_write([text, "\n"], output.file)


def _explanations() -> str:
    """All methods, in lines that fit a terminal."""
    from rankgauge.cli.measures import item
    from rankgauge.rankers.registry import methods_table

    table = methods_table()
    lines = []
    for method, what, optimizes, source in table.rows:
        lines += [str(method), *item("", str(what)), *item("  optimizes", str(optimizes))]
        lines += [*item("  source", str(source)), ""]
    return "\n".join((*lines, *table.notes))


def _explanation(name: str) -> str:
    """A method and its settings, in lines that fit a terminal."""
    from rankgauge.cli.measures import item
    from rankgauge.rankers.registry import find_method, objective_rows, settings_table

    method = find_method(name)
    lines = [f"{method.__name__}: {method.summary}", ""]
    lines += item("optimizes", method.all_objectives())
    for origin, text in objective_rows(name):
        lines += item("", origin if text == method.optimizes else f"{origin}: {text}")
    lines += [*item("source", method.source), "", "settings:"]
    for setting, usual, classical, kind, meaning in settings_table(name).rows:
        presets = f"default {usual}" + ("" if usual == classical else f", ranklib {classical}")
        lines += [f"  {setting}", *item("", str(meaning))]
        lines += item("", "; ".join(filter(None, (f"takes {kind}" if kind else "", presets))))
    return "\n".join(lines)


def _read_features(width: int, data: str) -> Features:
    """Read the features of a file, for a ranker of `width` features.

    A feature that no line has is 0, like any feature that a line lacks.
    """
    features = read_letor(data)
    own = features.values.shape[1]
    if own < width and len(features.labels):
        text = (
            f"{data} has {count_phrase(own, 'feature')}, but the training data has "
            f"{width:,}. Missing features ({width - own:,}) are set to 0 everywhere."
        )
        notify([Note(text)])
    return features.widened(width)


@command.command("train")
@click.argument("method")
@click.argument("data")
@option(
    "--validation",
    heading="Training",
    metavar="FILE",
    help="Validation queries, in the same format. They determine the choices that the method "
    "leaves open, such as when to stop training.",
)
@training_queries_option("DATA")
@setting_option("A setting of the method, such as preset=ranklib")
@seed_option("everything that is drawn at random").but(heading="Training")
@output_option("DIR", "The folder to write the ranker to.", required=True, type=OUTPUT_FOLDER)
@method_plugin_option
def train(
    method: str,
    data: str,
    validation: str | None,
    training_queries: int | None,
    settings: dict[str, Any],
    seed: int,
    output: str,
) -> None:
    """Train a ranker and save it to a folder.

    METHOD is one of the methods listed by `rankgauge ltr methods`, such as LambdaMART; case does not
    matter.

    \b
    rankgauge ltr train lambdamart train.txt --validation vali.txt -o model
    rankgauge ltr rank model test.txt -o lambdamart.run
    """
    from rankgauge.rankers.registry import with_settings
    from rankgauge.rankers.training_queries import TrainingQueries

    if "seed" in settings and is_given("seed"):
        raise click.UsageError("the seed is set twice; use either --seed or --setting seed=…")
    (ranker,) = with_settings([method], {"seed": seed, **settings})
    ranker.settings()  # refused before anything is read
    features = read_letor(data)
    width, notes = features.values.shape[1], list(features.dropped)
    if training_queries is not None:
        chosen = TrainingQueries(training_queries, ranker.settings()["seed"])
        notes.insert(0, Note(chosen.sentence(len(features.queries))))
        features = chosen.of(features)
    ranker.fit(features, None if validation is None else _read_features(width, validation))
    ranker.save(output)
    notify([Note(f"{ranker} learned from {features}"), *ranker.notes(), *notes])


@command.command("rank")
@click.argument("model")
@click.argument("data")
@TAG.but("The name of the run. Defaults to the name of the method.")
@output_option(
    "FILE",
    "Write the run to FILE in TREC format, compressed if FILE ends in .gz, .bz2, .xz or "
    ".zst. By default, the run goes to standard output.",
    type=OUTPUT_FILE,
)
@method_plugin_option
def rank(model: str, data: str, tag: str | None, output: str | None) -> None:
    """Rank documents with a ranker that was trained with `rankgauge ltr train`.

    Documents that have no name in DATA get names such as 03-17: the 17th document of its query in the
    file. The first number is drawn at random, so that ties are not broken by the order of the file.
    """
    from rankgauge.rankers.ranking import run_of
    from rankgauge.rankers.saving import load

    ranker = load(model)
    features = _read_features(ranker.n_features_in_, data)
    if not len(features.labels):
        raise RankgaugeError(f"{data}: no documents, expected some to rank")
    run = run_of(features, ranker.predict(features), tag or type(ranker).__name__)
    print_or_write_run(run, output)


@command.command("statistics")
@click.argument("folder", metavar="FOLDS")
@folds_option(
    None, 3, "If FOLDS is a single file: the number of folds to split its queries into."
).but(heading="Folds")
@seed_option("splitting a file into folds").but(heading="Folds")
@takes(output=Output)
def statistics(folder: str, folds: int | None, seed: int, output: Output) -> None:
    """Count documents, queries, features and labels in each part of each fold.

    FOLDS is a folder in one of the LETOR layouts, or a single file to be split with --folds. The first
    row is the whole collection: the test parts of all folds.

    \b
    rankgauge ltr statistics MQ2008
    """
    from rankgauge.data.folds import read_folds

    output.show(read_folds(folder, folds, seed=seed).statistics())


class TrainingOptions(OptionGroup, heading="Training"):
    """Which rankers are trained, and on what."""

    folder: str = argument("folder", metavar="FOLDS")
    method: tuple[str, ...] = method_option(
        "A method to train; may be repeated. By default all methods.", metavar="NAME", multiple=True
    )
    settings: dict[str, Any] = setting_option(
        "A setting for all methods, such as preset=ranklib, or for one of them, such as "
        "lambdamart.trees=100"
    )
    training_queries: int | None = training_queries_option("the training part of each fold")
    folds: int | None = folds_option(
        None, 3, "If FOLDS is a single file: the number of folds to split its queries into."
    )
    seed: int = seed_option("everything that is drawn at random")


class CrossValidationOutput(TableOptions):
    """What is printed, and the folder for everything."""

    output: str | None = output_option(
        "DIR",
        "Write runs, scores and the table to folder DIR. If the work is interrupted, the "
        "same command resumes it. A later command can add methods; finished ones are not "
        "trained again.",
        type=OUTPUT_FOLDER,
        common=True,
    )


@command.command("crossval")
@takes(training=TrainingOptions)
@measure_option(*MEASURES)
@option(
    "--evaluation",
    heading="Measures",
    type=click.Choice(get_args(EvaluationName)),
    default=DEFAULT_EVALUATION,
    help="How to evaluate rankings; the rankers are the same. letor: like LETOR's own program, "
    "for comparison with published values: nDCG_LETOR instead of nDCG, ties as in the "
    "file. mslr: like MSLR's program: nDCG with gain exp2 and discount log_2, P and AP "
    "with labels of 2 or more as relevant, ties as in the file.",
)
@workers_options
@takes(output=CrossValidationOutput)
@method_plugin_option
def crossval(
    training: TrainingOptions,
    measures: tuple[str, ...],
    evaluation: EvaluationName,
    output: CrossValidationOutput,
) -> None:
    """Train rankers on the folds of a collection, and compare them on all test queries.

    FOLDS is a folder with Fold1, Fold2, …, with parts S1, S2, …, or in another LETOR layout; or a single
    file to be split with --folds. Every ranker is trained on the training part of each fold and scored
    on its test part.

    \b
    rankgauge ltr crossval MQ2008 -o out
    rankgauge ltr crossval MQ2008 --method lambdamart --method logisticregression -m nDCG@10
    \f
    The table also has two baselines: the best single feature, chosen on the training data, and a random
    order. All differences between rankers are tested, with Holm's correction; with the formats tsv, csv
    and jsonl, they are only written to the folder of -o.
    """
    from rankgauge.comparison.systems import compare
    from rankgauge.data.folds import read_folds
    from rankgauge.rankers.crossval import cross_validation
    from rankgauge.rankers.registry import methods as all_methods, with_settings

    read = read_folds(training.folder, training.folds, seed=training.seed)
    notify([Note(read.layout)])
    names = list(training.method) or list(all_methods())
    chosen = with_settings(names, {"seed": training.seed, **training.settings})
    try:
        with progress(len(read) * (len(chosen) + 1), "training") as advance:
            trained = cross_validation(
                read,
                chosen,
                measures,
                evaluation=evaluation,
                training_queries=training.training_queries,
                seed=training.seed,
                output=output.output,
                executor=workers(),
                progress=advance,
            )
    except KeyboardInterrupt:
        if output.output is not None:
            notify(
                [
                    Note(
                        "run the same command again to resume from the finished work in "
                        f"{output.output}"
                    )
                ]
            )
        raise
    compared = compare(trained.scores)
    if output.output is not None:
        for name, table in {"means": trained.table(), "differences": compared.table()}.items():
            with atomic_write(OwnPath(output.output, f"{name}.csv")) as stream:
                stream.write(table.render("csv").encode("utf-8"))
        trained.scores.save(OwnPath(output.output, "scores"))
    output.show(trained.table())
    if not output.for_programs:
        output.show_whole(compared.table())
    elif output.output is None:  # a program reads one table
        notify([Note("-o DIR also writes the differences between rankers, with their tests")])
    if trained.failed:
        again = "" if output.output is None else "; run the same command again to retry only these"
        raise Incomplete(
            "\n".join((*trained.failed, f"methods with missing folds are excluded{again}"))
        )

"""What the commands of `rankgauge space` share: documents, and which weights vary."""

from __future__ import annotations

import click
from numpy.typing import ArrayLike

from rankgauge.cli.groups import OptionGroup, argument, is_given, option
from rankgauge.cli.numbers import Decimal, WholeNumber, parse_decimal, parse_integer
from rankgauge.cli.options import (
    ABSENT,
    QRELS,
    RunFileOptions,
    missing_option,
    normalization_plugin_option,
    normalize_option,
    queries_option,
    seed_option,
)
from rankgauge.cli.scoring import read_judgments
from rankgauge.core.policies import Absent, Missing
from rankgauge.data.features import Features
from rankgauge.errors import InputError
from rankgauge.fusion.weights import run_space
from rankgauge.io.diagnosis import can_be_read
from rankgauge.io.letor import read_letor
from rankgauge.io.parts import stored_runs
from rankgauge.io.trec import read_qrels, read_run
from rankgauge.query_sets.samples import query_sample
from rankgauge.space.weights import WeightSpace


def _parse_fixed_weights(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[int, float]:
    """The features and weights in `5=0.3` or `5=0.3,7=1`."""
    weights: dict[int, float] = {}
    for part in (part for text in texts for part in text.split(",")):
        number, equals, weight = part.partition("=")
        try:
            feature, value = (
                parse_integer(number),
                parse_decimal(weight) if equals else float("nan"),
            )
        except ValueError:
            feature, value = 0, float("nan")
        if feature < 1 or value != value:
            raise click.BadParameter(f"{part!r}, expected FEATURE=WEIGHT, such as 5=0.3")
        if feature in weights:
            raise click.BadParameter(f"feature {feature} twice, expected each feature once")
        weights[feature] = value
    return weights


def _parse_points(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> list[list[float]] | None:
    """The points in `1,0`, one an option; None where there are none."""
    try:
        return [[parse_decimal(part) for part in text.split(",")] for text in texts] or None
    except ValueError:
        raise click.BadParameter(f"{' '.join(texts)!r}, expected numbers such as 0.4,0.6") from None


class Range(OptionGroup, heading="Weights", common=False):
    """Between which weights is looked."""

    low: float = option(
        "--low", type=Decimal(), default=0.0, metavar="WEIGHT", help="The lowest weight."
    )
    high: float = option(
        "--high", type=Decimal(), default=1.0, metavar="WEIGHT", help="The highest weight."
    )


class PathOptions(Range):
    """A path of weights."""

    points: list[list[float]] | None = option(
        "--point",
        multiple=True,
        metavar="WEIGHT,...",
        callback=_parse_points,
        help="A point on the path: one weight per parameter or run. Give two or more points, in "
        "order. By default, the path leads from the first parameter or run alone to the "
        "next; a single parameter goes from --low to --high.",
    )

    def path(self, space: WeightSpace) -> ArrayLike:
        """The points that the path goes through: those of --point, or the usual ones."""
        if self.points is not None or len(space.parameters) > 1:
            for name in filter(is_given, ("low", "high")):
                raise click.UsageError(
                    f"--{name} is for one parameter without --point; give --point for another path"
                )
        return space.path(self.low, self.high) if self.points is None else self.points


class SpaceInputs(RunFileOptions, heading="Weights", common=True):
    """The documents and the weights that vary."""

    files: tuple[str, ...] = argument(
        "files", nargs=-1, required=True, metavar="DATA...|RUN RUN..."
    )
    qrels: str | None = QRELS.but(
        "The judgments. With this option, the files are two or more runs, as in `rankgauge "
        "tune`; without it, they are LETOR files."
    )
    parameters: tuple[int, ...] = option(
        "--parameter",
        type=WholeNumber(1),
        multiple=True,
        metavar="FEATURE",
        help="For LETOR data: the number of a feature whose weight varies; may be repeated. By "
        "default, all features that are not fixed.",
    )
    fixed: dict[int, float] = option(
        "--fixed",
        multiple=True,
        metavar="FEATURE=WEIGHT",
        callback=_parse_fixed_weights,
        help="For LETOR data: a feature with a fixed weight, such as 5=0.3; may be repeated. "
        "Features that are neither fixed nor parameters have weight 0. If nothing is "
        "fixed, weights sum to 1.",
    )
    query_ids: tuple[str, ...] = option(
        "--query",
        heading="Queries",
        common=False,
        multiple=True,
        metavar="ID",
        help="Use only this query; may be repeated. By default, all queries are used.",
    )
    queries: int | None = queries_option(1, "Use only N queries, drawn at random.").but(
        heading="Queries", common=False
    )
    missing: Missing = missing_option(
        "zero",
        "For runs: how to treat queries that some run lacks. zero: the other runs rank "
        "them; a query that all runs lack counts as an empty ranking. skip: they are "
        "excluded.",
    ).but(heading="Queries", common=False)
    normalize: str = normalize_option(
        "For runs: how to normalize the scores of each run, query by query."
    ).but(common=False)
    absent: Absent = ABSENT.but(common=False)
    jitter: float | None = option(
        "--jitter",
        common=False,
        type=Decimal(0, min_open=True),
        metavar="SIZE",
        help="Add a random number from 0 to SIZE to the score of each document, the same for "
        "all weights, so that no two flips coincide.",
    )
    seed: int = seed_option("the jitter and everything else that is drawn at random")
    plugin = normalization_plugin_option

    def space(self, depth: int | None = None) -> WeightSpace:
        """The space of weights, with only some documents of each query if there is a depth."""
        self._check_kind()
        if self.qrels is not None:
            return self._space_of_runs(self.qrels, depth)
        features = Features.joined([self._read_features(file) for file in self.files])
        chosen = self._select_queries(features.queries.texts())
        if chosen is not None:
            features = features.select(chosen)
        return WeightSpace.of_features(
            features,
            self.parameters or None,
            self.fixed,
            depth=depth,
            jitter=self.jitter,
            seed=self.seed,
        )

    def _read_features(self, file: str) -> Features:
        """The features of a file; a file in another form may be a run."""
        try:
            return read_letor(file, lenient=self.lenient, size_limit=self.size_limit)
        except InputError as error:
            if not any(can_be_read(read, file) for read in (read_run, read_qrels)):
                raise
            message = f"{error.message}; if these files are runs, give the judgments with --qrels"
            raise InputError(error.source, error.line, message) from None

    def _space_of_runs(self, qrels: str, depth: int | None) -> WeightSpace:
        judgments, _ = read_judgments(qrels, self.files, subtopics=False, **self.how)
        return run_space(
            judgments,
            stored_runs(self.files, parts=self.parts, **self.how),
            normalize=self.normalize,
            absent=self.absent,
            missing=self.missing,
            queries=self._select_queries(judgments.queries.texts()),
            depth=depth,
            jitter=self.jitter,
            seed=self.seed,
        )

    def _select_queries(self, queries: list[str]) -> list[str] | None:
        """The queries that are asked for; None for all."""
        if self.queries is None:
            return list(self.query_ids) or None
        if self.query_ids:
            raise click.UsageError("--query and --queries cannot be used together; choose one")
        return list(query_sample(queries, number=self.queries, seed=self.seed))

    def _check_kind(self) -> None:
        """UsageError for options that do not go with the kind of the files."""
        only, kind = ["normalize", "absent", "missing", "parts"], "runs, which need --qrels"
        if self.qrels is not None:
            only, kind = ["parameters", "fixed"], "LETOR files; with --qrels the files are runs"
        for name in filter(is_given, only):
            option = "parameter" if name == "parameters" else name
            raise click.UsageError(f"--{option} is for {kind}")

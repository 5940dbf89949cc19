"""Options about rankers and about sets of queries, which several commands have."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import click

from rankgauge.cli.groups import F, ParameterDeclaration, combine_options, option
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.core.policies import ChanceDifference


def _settings(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """The settings in `trees=100`; values are JSON where they can be, else text."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name in settings:
            raise click.BadParameter(f"{name} is given twice, expected each setting once")
        if not equals:
            raise click.BadParameter(f"{text!r}, expected NAME=VALUE, such as preset=ranklib")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def setting_option(what: str) -> ParameterDeclaration:
    """--setting, which may be repeated."""
    return option(
        "--setting",
        "settings",
        heading="Training",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_settings,
        help=f"{what}; may be repeated. `rankgauge ltr methods NAME` lists the settings.",
    )


def training_queries_option(part: str) -> ParameterDeclaration:
    """`--training-queries`: how many queries to learn from."""
    return option(
        "--training-queries",
        heading="Training",
        common=False,
        type=WholeNumber(1),
        metavar="N",
        help=f"Learn from only N queries of {part}, drawn by the seed; by default from all. Validation "
        "and test data stay whole.",
    )


def by_option(default: ChanceDifference | None, more: str = "") -> ParameterDeclaration:
    """`--by`: which queries are uninformative; `more` is a last sentence of the help."""
    return option(
        "--by",
        type=click.Choice(get_args(ChanceDifference)),
        default=default,
        help="Which queries are uninformative. signed: the queries with the lowest difference, so "
        "queries on which the runs are worse than a random ranking come first. absolute: the queries "
        f"with the difference nearest to 0.{more and f' {more}'}",
    )


def set_share_option(more: str) -> ParameterDeclaration:
    """`--set-share`: how large the sets `ideal` and `uninformative` are."""
    return option(
        "--set-share",
        common=False,
        type=Decimal(0, 1),
        help="Which share of the topics is in the set `ideal`. The set `uninformative` gets the same "
        f"share{more}",
    )


SET_NUMBER = option(
    "--set-number",
    common=False,
    type=WholeNumber(0),
    metavar="N",
    help="In place of --set-share: how many topics are in the set `ideal`. The set `uninformative` gets "
    "the same number.",
)


def set_size_options(more: str) -> Callable[[F], F]:
    """`--set-share` and `--set-number`: how large the sets `ideal` and `uninformative` are."""
    return combine_options(set_share_option(more), SET_NUMBER)

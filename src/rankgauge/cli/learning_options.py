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
            raise click.BadParameter(f"{name} is set twice, expected each setting once")
        if not equals:
            raise click.BadParameter(f"{text!r}, expected {option.metavar}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def setting_option(
    what: str, more: str = "`rankgauge ltr methods NAME` lists the settings."
) -> ParameterDeclaration:
    """The option `--setting NAME=VALUE`, which may be repeated.

    The command gets all settings as a dict `settings`. A value is parsed as JSON if possible; otherwise
    it is a string.

    Parameters
    ----------
    what : str
        What the settings are for: the start of the help text.
    more : str, default "`rankgauge ltr methods NAME` lists the settings."
        A last sentence of the help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import setting_option
    >>> @click.command()
    ... @setting_option("A setting of the ranker")
    ... def command(settings):
    ...     click.echo(settings)
    >>> command(["--setting", "trees=100"], standalone_mode=False)
    {'trees': 100}
    """
    return option(
        "--setting",
        "settings",
        heading="Training",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_settings,
        help=f"{what}; may be repeated.{more and f' {more}'}",
    )


def training_queries_option(part: str) -> ParameterDeclaration:
    """The option `--training-queries`: learn from this many queries, drawn at random.

    Parameters
    ----------
    part : str
        The data that the queries are drawn from, for the help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import training_queries_option
    >>> @click.command()
    ... @training_queries_option("TRAIN")
    ... def command(training_queries):
    ...     click.echo(training_queries)
    >>> command(["--training-queries", "50"], standalone_mode=False)
    50
    """
    return option(
        "--training-queries",
        heading="Training",
        common=False,
        type=WholeNumber(1),
        metavar="N",
        help=f"Train on only N queries of {part}, drawn at random; by default, on all of them. "
        "Validation and test data are not sampled.",
    )


def by_option(default: ChanceDifference | None, more: str = "") -> ParameterDeclaration:
    """The option `--by`: which queries are uninformative.

    Parameters
    ----------
    default : {"signed", "absolute"} or None
        The default.
    more : str, optional
        A last sentence of the help text.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import by_option
    >>> @click.command()
    ... @by_option("signed")
    ... def command(by):
    ...     click.echo(by)
    >>> command(["--by", "absolute"], standalone_mode=False)
    absolute
    """
    return option(
        "--by",
        type=click.Choice(get_args(ChanceDifference)),
        default=default,
        help="Which queries count as uninformative. signed: those with the lowest difference, "
        "so that queries on which the runs are worse than a random ranking come first. "
        f"absolute: those whose difference is closest to 0.{more and f' {more}'}",
    )


def set_share_option(more: str) -> ParameterDeclaration:
    """The option `--set-share`: the size of the sets `ideal` and `uninformative`, as a share.

    Parameters
    ----------
    more : str
        The end of the last sentence of the help text, with its full stop.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import set_share_option
    >>> @click.command()
    ... @set_share_option("; by default 0.25.")
    ... def command(set_share):
    ...     click.echo(set_share)
    >>> command(["--set-share", "0.1"], standalone_mode=False)
    0.1
    """
    return option(
        "--set-share",
        common=False,
        type=Decimal(0, 1),
        help="The share of the queries in the set `ideal`, and the share in the set "
        f"`uninformative`{more}",
    )


SET_NUMBER = option(
    "--set-number",
    common=False,
    type=WholeNumber(0),
    metavar="N",
    help="Instead of --set-share: the number of queries in the set `ideal`, and the number in "
    "the set `uninformative`.",
)


def set_size_options(more: str) -> Callable[[F], F]:
    """Add `--set-share` and `--set-number`: the size of the sets `ideal` and `uninformative`.

    Parameters
    ----------
    more : str
        The end of the last sentence of the help of `--set-share`, with its full stop.

    Returns
    -------
    callable
        A decorator of commands, which get `set_share` and `set_number`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import set_size_options
    >>> @click.command()
    ... @set_size_options("; by default 0.25.")
    ... def split(set_share, set_number):
    ...     click.echo((set_share, set_number))
    >>> split(["--set-number", "10"], standalone_mode=False)
    (None, 10)
    """
    return combine_options(set_share_option(more), SET_NUMBER)

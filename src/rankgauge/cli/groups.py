"""Groups of options: records that click fills, and help with a heading for each group.

>>> class Listing(OptionGroup, heading="Output"):
...     digits: int = option("--digits", type=int, default=4, help="How many decimals to print.")
>>> @click.command("show", cls=HeadedCommand)
... @takes(listing=Listing)
... def show(listing: Listing) -> None:
...     click.echo(listing)
>>> show(["--digits", "2"], standalone_mode=False)
Listing(digits=2)
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import click

from rankgauge.core.records import Record
from rankgauge.errors import warn_old_form

F = TypeVar("F", bound=Callable[..., Any])
G = TypeVar("G", bound="OptionGroup")

OTHER = "Options"
"""The heading of an option that names none."""
OUTPUT = "Output"
"""What comes last of the common options."""
HELP = "Help"
TWO_SCREENS = 48
"""How many lines of help people read. A longer text is for `--help-all`, and `--help` has the start."""
_ALL = f"{__name__}.all"


class HeadedOption(click.Option):
    """An option under a heading of the help. `--help-all` alone shows it if it is not common.

    `old` is what the last release called it; `new` is what to write in its place, by default the name.
    """

    def __init__(
        self,
        *values: Any,
        heading: str = OTHER,
        common: bool = True,
        old: str = "",
        new: str = "",
        **settings: Any,
    ):
        super().__init__(*values, **settings)
        self.heading, self.common = heading, common
        self.old, self.new = old, new or max(self.opts, key=len)


class ParameterDeclaration(Any if TYPE_CHECKING else object):  # type: ignore[misc]  # so that it fits any field
    """An option or argument that is declared once: for fields of groups, or as a decorator."""

    def __init__(
        self, kind: Callable[..., Any], names: tuple[str, ...], settings: dict[str, Any]
    ) -> None:
        self.kind, self.names, self.settings = kind, names, settings

    def __call__(self, command: F) -> F:
        """The command with this option."""
        return cast("F", self.kind(*self.names, **self.settings)(command))

    def but(self, help: str | None = None, **settings: Any) -> ParameterDeclaration:
        """The same option with the help text, and other settings, of one command."""
        if help is not None:
            settings["help"] = help
        return ParameterDeclaration(self.kind, self.names, {**self.settings, **settings})

    def in_group(self, field: str, defaults: dict[str, Any]) -> ParameterDeclaration:
        """The same for a field of a group, with the heading of the group if it has none of its own."""
        names = self.names if any(map(str.isidentifier, self.names)) else (*self.names, field)
        settings = self.settings
        if self.kind is click.option:
            settings = {**defaults, **settings}
        return ParameterDeclaration(self.kind, names, settings)

    @property
    def parameter(self) -> str:
        """The name under which click gives the value."""
        return next(filter(str.isidentifier, self.names))

    @property
    def default(self) -> Any:
        """The value without the option."""
        if self.settings.get("multiple") or self.settings.get("nargs") == -1:
            return tuple(self.settings.get("default") or ())
        return self.settings.get("default", False if self.settings.get("is_flag") else None)


def option(*names: str, **settings: Any) -> ParameterDeclaration:
    """Declare an option of a command.

    Parameters
    ----------
    *names : str
        The names, as for `click.option`, such as "-o" and "--output".
    **settings
        The other arguments of `click.option`. `show_default` is True unless set. Two more belong to the
        help of `HeadedCommand`: `heading` is where the option is listed, and with `common=False` only
        `--help-all` shows it.

    Returns
    -------
    ParameterDeclaration
        The option, usable as a decorator of commands or as a field of an `OptionGroup`.
        `but(help, ...)` returns a copy with other settings.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import HeadedCommand, option
    >>> digits = option("--digits", type=int, default=4, heading="Output", help="How many decimals.")
    >>> @click.command(cls=HeadedCommand)
    ... @digits.but("How many decimals to print.", default=3)
    ... def show(digits):
    ...     click.echo(digits)
    >>> show([], standalone_mode=False)
    3
    """
    return ParameterDeclaration(
        click.option, names, {"cls": HeadedOption, "show_default": True, **settings}
    )


def argument(*names: str, **settings: Any) -> ParameterDeclaration:
    """Declare an argument of a command.

    Parameters
    ----------
    *names, **settings
        The arguments of `click.argument`.

    Returns
    -------
    ParameterDeclaration
        The argument: a decorator of commands, or a field of an `OptionGroup`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import argument
    >>> @click.command()
    ... @argument("runs", nargs=-1, metavar="RUN...")
    ... def count(runs):
    ...     click.echo(len(runs))
    >>> count(["bm25.run", "dense.run"], standalone_mode=False)
    2
    """
    return ParameterDeclaration(click.argument, names, settings)


def combine_options(*parameters: Callable[[F], F]) -> Callable[[F], F]:
    """Combine several options and arguments into one decorator.

    Parameters
    ----------
    *parameters : callable
        Decorators such as `option` returns, in the order in which the help lists them.

    Returns
    -------
    callable
        A decorator of commands.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import combine_options, option, seed_option
    >>> drawing = combine_options(option("--draws", type=int), seed_option("the draws"))
    >>> @click.command()
    ... @drawing
    ... def draw(draws, seed):
    ...     click.echo((draws, seed))
    >>> draw(["--draws", "10"], standalone_mode=False)
    (10, 0)
    """

    def decorate(command: F) -> F:
        for parameter in reversed(parameters):
            command = parameter(command)
        return command

    return decorate


class OptionGroup(Record):
    """Base class of records whose fields are options of a command.

    Declare each field with `option` or `argument`, and pass the class to `takes`: the command then gets
    one record instead of many parameters. A group may inherit from several groups.

    Keywords of the class statement apply to all its options, unless an option has its own:
    `class Listing(OptionGroup, heading="Output", common=False)`. `heading` is where the help lists them;
    with `common=False` only `--help-all` shows them.

    Notes
    -----
    An option with `expose_value=False` is declared without a type, and is not a field.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import OptionGroup, option, takes
    >>> class Listing(OptionGroup, heading="Output"):
    ...     digits: int = option("--digits", type=int, default=4, help="How many decimals to print.")
    >>> @click.command()
    ... @takes(listing=Listing)
    ... def show(listing):
    ...     click.echo(listing)
    >>> show(["--digits", "2"], standalone_mode=False)
    Listing(digits=2)
    """

    options: ClassVar[dict[str, ParameterDeclaration]] = {}
    _placed: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, heading: str = "", common: bool | None = None, **more: Any) -> None:
        own = {
            name: each for name, each in vars(cls).items() if isinstance(each, ParameterDeclaration)
        }
        placed = {"heading": heading or None, "common": common}
        cls._placed = cls._placed | {
            name: each for name, each in placed.items() if each is not None
        }
        for name, each in own.items():
            own[name] = each.in_group(name, cls._placed)
            if name in cls.__annotations__:
                setattr(cls, name, dataclasses.field(default=each.default, kw_only=True))
            else:
                delattr(cls, name)
        inherited = [base.options for base in cls.__bases__ if issubclass(base, OptionGroup)]
        cls.options = own | {
            name: each for group in inherited for name, each in group.items() if name not in own
        }
        super().__init_subclass__(**more)

    def values(self) -> dict[str, Any]:
        """The value of each option, by the name of the field."""
        return {field.name: getattr(self, field.name) for field in self._fields}

    @classmethod
    def flat(cls, command: F) -> F:
        """Add the options of the group to a command, each as a parameter of its own.

        Parameters
        ----------
        command : callable
            The function of the command.

        Returns
        -------
        callable
            The function with the options.

        Examples
        --------
        >>> import click
        >>> from rankgauge.extending import OptionGroup, option
        >>> class Listing(OptionGroup):
        ...     digits: int = option("--digits", type=int, default=4)
        >>> @click.command()
        ... @Listing.flat
        ... def show(digits):
        ...     click.echo(digits)
        >>> show(["--digits", "2"], standalone_mode=False)
        2
        """
        return combine_options(*cls.options.values())(command)

    def part(self, group: type[G], **others: Any) -> G:
        """Another group: the fields that it shares with this one, and others."""
        fields = {field.name for field in group._fields}
        shared = {name: value for name, value in self.values().items() if name in fields}
        return group(**{**shared, **others})

    def prepare(self) -> None:
        """Check or prepare something before the command starts. A group may override it."""


def takes(**groups: type[OptionGroup]) -> Callable[[F], F]:
    """Pass groups of options to a command, one record for each group.

    Parameters
    ----------
    **groups : subclass of OptionGroup
        The groups, by the names of the parameters that get the records.

    Returns
    -------
    callable
        A decorator of commands. It also calls `prepare` of each record before the command starts.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import Output, Table, takes
    >>> @click.command()
    ... @takes(output=Output)
    ... def scores(output):
    ...     output.show(Table(("run", "AP"), (("bm25", 0.25),)))
    >>> scores(["--format", "csv"], standalone_mode=False)
    run,AP
    bm25,0.25
    """

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def call_with_records(*values: Any, **named: Any) -> Any:
            records = {
                name: group(
                    **{
                        field.name: named.pop(group.options[field.name].parameter)
                        for field in group._fields
                        if field.name in group.options
                    }
                )
                for name, group in groups.items()
            }
            for record in records.values():
                record.prepare()
            return command(*values, **records, **named)

        return combine_options(*(group.flat for group in groups.values()))(
            cast("F", call_with_records)
        )

    return decorate


def _show_all(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class HeadedCommand(click.Command):
    r"""A click command whose `--help` fits on two screens.

    `--help` shows the common options under headings. `--help-all` shows all options with their full
    help texts, and the part of the command's help text after `\f`. If all of that fits on two
    screens, `--help` shows it too.

    Parameters
    ----------
    *values, **settings
        The arguments of `click.Command`.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import HeadedCommand, option
    >>> @click.command("show", cls=HeadedCommand)
    ... @option("--digits", type=int, default=4, heading="Output", help="How many decimals to print.")
    ... def show(digits):
    ...     "Show a number."
    ...     click.echo(f"{1 / 3:.{digits}f}")
    >>> show(["--digits", "2"], standalone_mode=False)
    0.33
    """

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        self._help_all = HeadedOption(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            heading=HELP,
            callback=_show_all,
            help="Show all options and all details, and exit.",
        )

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        return [*super().get_params(context), self._help_all]

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        return super().parse_args(context, self._in_new_words(arguments))

    def _in_new_words(self, arguments: list[str]) -> list[str]:
        """The arguments, with the options of the last release under their new names."""
        options = (each for each in self.params if isinstance(each, HeadedOption))
        renamed = {each.old: each.new for each in options if each.old}
        end = arguments.index("--") if "--" in arguments else len(arguments)
        made = list(arguments)
        for place, argument in enumerate(arguments[:end]):
            name, equals, value = argument.partition("=")
            if name in renamed:
                warn_old_form(name, renamed[name].replace("=", " "))
                made[place] = renamed[name] + equals + value
        return made

    def format_help(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        whole = context.make_formatter()
        self._write(context, whole, whole=True)
        text = whole.getvalue()
        if context.meta.get(_ALL) or text.count("\n") <= TWO_SCREENS:
            formatter.write(text)
        else:
            self._write(context, formatter, whole=False)

    def _write(
        self, context: click.Context, formatter: click.HelpFormatter, *, whole: bool
    ) -> None:
        self.format_usage(context, formatter)
        first, _, details = inspect.cleandoc(self.help or "").partition("\f")
        formatter.write_paragraph()
        if self.deprecated:
            first = f"(DEPRECATED) {first}"
        with formatter.indentation():
            formatter.write_text(first.strip("\n"))
            if whole and details:
                formatter.write_paragraph()
                formatter.write_text(details.strip("\n"))
        sections: dict[str, list[tuple[str, str]]] = {}
        own = [each for each in self.params if isinstance(each, click.Option)]
        for each in sorted(own, key=lambda each: (not _is_common(each), _heading(each) == OUTPUT)):
            if whole or _is_common(each):
                row = (each if whole else _shorten_help(each)).get_help_record(context)
                sections.setdefault(_heading(each), []).extend([row] if row else [])
        asking = [self.get_help_option(context), *([] if whole else [self._help_all])]
        records = (each and each.get_help_record(context) for each in asking)
        sections[HELP] = [record for record in records if record]
        for heading in filter(sections.get, sections):
            rows = sections[heading]
            with formatter.section(heading):
                # Terms of one width, so that the texts of all sections start at one column.
                formatter.write_dl([(term.ljust(TERM), text) for term, text in rows], TERM)
        if not whole:
            formatter.write_paragraph()
            formatter.write(
                f"{context.command_path} --help-all shows all {len(own)} options, and the details.\n"
            )
        self.format_epilog(context, formatter)


class SuggestingGroup(click.Group):
    """A group that names the command that a mistyped name is nearest to."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, arguments)
        except click.NoSuchOption:
            raise
        except click.UsageError:
            import difflib

            name = arguments[0]
            near = difflib.get_close_matches(name, self.list_commands(context), n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{name}'.{hint}", context) from None


class HeadedGroup(SuggestingGroup):
    """A group of such commands."""

    command_class = HeadedCommand


class LazyGroup(SuggestingGroup):
    """A group of commands that are imported only when they are called.

    Parameters
    ----------
    *values, **settings
        The arguments of `click.Group`.
    lazy : dict of str to str
        The commands: `{name: short help}`.
    home : callable
        Returns the module of a command, given its name. The command is the variable `command` there.
    old : dict of str to str, optional
        Names of an earlier release, each with the name that replaces it.

    Examples
    --------
    >>> from rankgauge.extending import LazyGroup
    >>> studies = LazyGroup(
    ...     "studies",
    ...     lazy={"depth": "How deep to judge."},
    ...     home=lambda name: f"my_package.{name}",
    ... )
    >>> studies.list_commands(None)
    ['depth']
    """

    def __init__(
        self,
        *values: Any,
        lazy: dict[str, str],
        home: Callable[[str], str],
        old: dict[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*values, **settings)
        self.lazy, self.home, self.old = lazy, home, old or {}

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in self.old:
            warn_old_form(f"{self.name} {name}", f"{self.name} {self.old[name]}")
            name = self.old[name]
        if name not in self.lazy:
            return None
        command: click.Command = importlib.import_module(self.home(name)).command
        command.short_help = self.lazy[name]
        return command


def is_given(name: str) -> bool:
    """Whether the user gave an option or argument on the command line.

    Call it within a command.

    Parameters
    ----------
    name : str
        The name of the parameter, such as "digits" for `--digits`.

    Returns
    -------
    bool
        False if the value is a default, or comes from the environment.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import is_given, option
    >>> @click.command()
    ... @option("--digits", default=4)
    ... def show(digits):
    ...     click.echo(is_given("digits"))
    >>> show(["--digits", "4"], standalone_mode=False)
    True
    >>> show([], standalone_mode=False)
    False
    """
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


TERM = 26
"""How many columns an option and its values have. The text of a longer one begins on the next line."""


def _heading(option: click.Option) -> str:
    return getattr(option, "heading", OTHER)


def _is_common(option: click.Option) -> bool:
    return getattr(option, "common", True)


def _shorten_help(option: click.Option) -> click.Option:
    """The option with a brief help text."""
    brief = copy.copy(option)
    brief.help = brief_text(option.help or "")
    return brief


KEPT_STARTS = ("By default", "Defaults to", "May be repeated", "With --scores", "Without a value")
"""How sentences begin that the brief help keeps."""


def brief_text(text: str) -> str:
    """The first sentence of a text, and what it says about defaults.

    >>> brief_text("The seed, as in v0.1. Equal seeds give equal results. By default 0. A number.")
    'The seed, as in v0.1. By default 0.'
    """
    first, *others = re.split(r"(?<=[.?]) ", text)
    return " ".join([first, *(each for each in others if each.startswith(KEPT_STARTS))])

"""`--help` of every command: short, under headings, with the rest behind `--help-all`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click
import pytest

from command_line import called
from rankgauge.cli.commands import commands
from rankgauge.cli.groups import HeadedCommand, HeadedOption, OptionGroup, argument, option, takes

MOST_PARAMETERS = 12
TWO_SCREENS = 48
DROP_IN = "trec_eval"
"""The command that has the help of another program."""


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and every command of a group, with its name."""

    def inside(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                found = command.get_command(context, each)
                assert found is not None
                yield from inside(f"{name} {each}", found)

    for name in commands:
        yield from inside(name, commands[name])


COMMANDS = dict(all_commands())
LEAVES = sorted(
    name
    for name, command in COMMANDS.items()
    if not isinstance(command, click.Group) and name != DROP_IN
)


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def shown(name: str, option: str) -> list[str]:
    """The lines that a command prints about itself."""
    done = called(*name.split(), option)
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def options(name: str) -> list[click.Option]:
    return [each for each in COMMANDS[name].params if isinstance(each, click.Option)]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_is_a_function_of_few_parameters(name: str) -> None:
    callback = COMMANDS[name].callback
    assert callback is not None
    parameters = inspect.signature(callback).parameters.values()
    assert len(parameters) <= MOST_PARAMETERS
    assert not [each for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD]


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_has_a_heading(name: str) -> None:
    assert isinstance(COMMANDS[name], HeadedCommand)
    for each in options(name):
        assert isinstance(each, HeadedOption), each.opts
        assert each.heading != "Options", each.opts


@pytest.mark.parametrize("name", LEAVES)
def test_help_fits_two_screens(name: str) -> None:
    brief = shown(name, "--help")
    assert len(brief) <= TWO_SCREENS
    headings = [line for line in brief if line.endswith(":") and not line.startswith(" ")]
    assert headings[-1] == "Help:"
    if "--help-all" in brief[-1]:
        assert f"shows all {len(options(name))} options" in " ".join(brief[-2:])
    else:
        assert brief == shown(name, "--help-all")


@pytest.mark.parametrize("name", LEAVES)
def test_help_all_has_every_option_and_all_it_says(name: str) -> None:
    text = shown(name, "--help-all")
    joined = "".join("".join(text).split())
    terms = [line.strip().partition("  ")[0] for line in text if line.startswith("  -")]
    for each in options(name):
        assert sum(each.opts[-1] in term.split() for term in terms) == 1, each.opts
        assert "".join((each.help or "?").split()) in joined, each.opts
    headings = [line for line in text if line.endswith(":") and not line.startswith(" ")]
    assert len(set(headings)) == len(headings)


def test_a_command_has_records_of_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    class Common(OptionGroup, heading="Common"):
        file: str = argument("file")
        numbers: tuple[int, ...] = option(
            "--number", "kept", type=int, multiple=True, help="N. More."
        )

    class Both(Common, heading="Rare", common=False):
        deep: bool = option("--deep", is_flag=True, help="Deep.")
        common_too: str | None = option("--too", common=True, help="Too. By default none.")

    prepared = []

    class Prepared(OptionGroup):
        switch: bool = option("--switch", is_flag=True, help="Switch.")

        def prepare(self) -> None:
            prepared.append(self.switch)

    @click.command("mine", cls=HeadedCommand)
    @takes(both=Both, other=Prepared)
    def mine(both: Both, other: Prepared) -> None:
        """A command.\n\n\f\nDetails.\n"""
        assert prepared == [other.switch]
        click.echo(both.values())
        click.echo(both.part(Common, file="g").values())

    mine(["f", "--number", "1", "--number", "2", "--switch"], standalone_mode=False)
    first, second = capsys.readouterr().out.splitlines()
    assert first == str({"file": "f", "numbers": (1, 2), "deep": False, "common_too": None})
    assert second == str({"file": "g", "numbers": (1, 2)})
    mine(["--help"], standalone_mode=False)
    assert "Details." in capsys.readouterr().out  # all of it fits two screens


def test_a_group_says_no_more_than_what_is_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.cli.groups.TWO_SCREENS", 5)

    @click.command("mine", cls=HeadedCommand)
    @option("--seen", heading="One", help="Seen. Unseen. By default nothing.")
    @option("--rare", heading="One", common=False, help="Rare.")
    @click.option("--plain", help="Plain.")
    def mine(**values: object) -> None:
        """A command.

        \f
        Details.
        """

    context = click.Context(mine, info_name="mine")
    text = mine.get_help(context)
    assert "Seen. By default nothing." in text
    assert "Options:\n  --plain" in text
    assert text.endswith("mine --help-all shows all 3 options, and the details.")
    for absent in ("Unseen", "Rare", "Details."):
        assert absent not in text

"""Options whose values are names in a registry, those of plug-ins among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankgauge.core.registry import Registry
from rankgauge.errors import RankgaugeError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class RegisteredName(click.ParamType):  # type: ignore[type-arg]
    """A name in a registry, or one of a few other words.

    The name is looked up when the command line is parsed. `--plugin` is eager, so the names that a
    plug-in registers are known by then. Help texts list the names that are known when the option is
    declared: ours.
    """

    name = "name"

    def __init__(self, registry: Registry[Any], *others: str) -> None:
        self.registry, self.others = registry, others
        self.listed = (*registry.names(), *others)

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """The name as the registry writes it; a name that is not known gets the nearest names."""
        if value in self.others:
            return value
        try:
            self.registry.find(value, self.others)
        except RankgaugeError as error:
            self.fail(str(error), parameter, context)
        return self.registry.canonical_name(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.listed)}]"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = (*self.registry, *self.others)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

"""The command line: data on standard output, talk on standard error.

Exit codes: 0 all went well, 1 something wrong was found, 2 the call was wrong, 3 undecided; past
them what the system did: 74 input or output failed, 124 a query took too long, 130 interrupted,
143 terminated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from orchbench_analytics.cli.default_warehouse import HOW_TO_NAME_IT, default_warehouse
from orchbench_analytics.errors import PathError

# The commands in the order of work.
GROUPS = {
    "Fill a warehouse": ("demo", "ingest", "sources", "tag", "score", "remove"),
    "Look at scores": ("leaderboard", "show", "results", "report", "view"),
    "Tell which differences are real": ("compare", "trend", "consistency", "plan"),
    "Query and export": ("sql", "dictionary", "export"),
    "Rules and checks": ("profile", "audit", "check"),
}
_HELP = {"help_option_names": ["-h", "--help"]}


class Groups(TyperGroup):
    """Commands in the order of work, under headings."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of work."""
        return [name for names in GROUPS.values() for name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each group."""
        widest = max(map(len, self.commands))
        for heading, names in GROUPS.items():
            helps = [self.commands[name].get_short_help_str(formatter.width) for name in names]
            padded = [name.ljust(widest) for name in names]
            with formatter.section(heading):
                formatter.write_dl(list(zip(padded, helps, strict=True)))


class WarehouseCommand(TyperCommand):
    """A command whose first argument is the warehouse, unless a default is set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default warehouse before the arguments if they name none."""
        is_help = any(arg in _HELP["help_option_names"] for arg in args)
        if self.params and self.params[0].name == "warehouse" and not is_help:
            args = self._with_warehouse(ctx, args)
        return super().parse_args(ctx, args)

    def _with_warehouse(self, ctx: Any, args: list[str]) -> list[str]:
        positional = [p for p in self.params if p.param_type_name == "argument"]
        given = self._positional_arguments(ctx, args)
        required = sum(parameter.required for parameter in positional)
        if len(given) >= len(positional) or (given and _is_warehouse(given[0])):
            return args
        default = default_warehouse()
        if default is not None:
            return [str(default), *args]
        if not given or len(given) < required:
            raise PathError(f"no warehouse is given: {HOW_TO_NAME_IT}")
        return args

    def _positional_arguments(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the arguments without options and their values."""
        values, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
        names = [p.name for p in self.params if p.param_type_name == "argument"]
        given = [values[name] for name in names if values.get(name) is not None]
        return [
            text
            for value in (*given, *rest)
            for text in (value if isinstance(value, tuple) else (value,))
        ]


app = typer.Typer(
    cls=Groups,
    help="Analytics for OrchestrationBench: from result files to Parquet, scores and SQL.",
    epilog="Start with: orchbench demo",
    no_args_is_help=True,
    context_settings=_HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def command(
    *, example: str, on: typer.Typer = app, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with an example of its use."""
    epilog = f"\b\nExample: {example}"
    register = on.command(name, cls=WarehouseCommand, epilog=epilog, context_settings=_HELP)
    return lambda function: register(_with_options_of_dataclasses(function))


def _with_options_of_dataclasses(function: Callable[..., None]) -> Callable[..., None]:
    """The function with an option for each field of its parameters that are dataclasses.

    A field is left out where the function has a parameter of that name itself.
    """
    groups: dict[str, Callable[..., object]] = {}
    own = {}
    for name, parameter in _parameters(function).items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = kind
        else:
            own[name] = parameter
    options = {
        group: [p for name, p in _parameters(kind).items() if name not in own]
        for group, kind in groups.items()
    }

    @wraps(function)
    def command(**given: Any) -> None:
        made = {
            group: groups[group](**{option.name: given.pop(option.name) for option in chosen})
            for group, chosen in options.items()
        }
        function(**given, **made)

    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in chain(own.values(), *options.values())
    ]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(command)["__signature__"] = inspect.Signature(parameters)  # what typer reads
    return command


def _parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters


def _is_warehouse(path: str) -> bool:
    try:
        return (Path(path) / "manifest.json").is_file()
    except OSError:  # such as a query that is too long for a path
        return False


def _say_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"orchbench {version('orchbench-analytics')}")
        raise typer.Exit


@app.callback()
def _orchbench(
    _: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    """Analytics for OrchestrationBench: from result files to Parquet, scores and SQL."""

"""The options of every command that puts out rows, and what they do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from orchbench_analytics.cli.options import FormatOption, OutputOption

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.outputs.choose import Choice


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows come out, in which order, how, and where to."""

    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", metavar="GLOB", help="Only models such as graded-*."),
    ] = None
    language: Annotated[
        list[str] | None,
        typer.Option("--language", "-l", metavar="NAME", help="Only this language, such as EN."),
    ] = None
    experiment: Annotated[
        list[str] | None,
        typer.Option("--experiment", "-e", metavar="GLOB", help="Only such experiments."),
    ] = None
    sort: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Sort by a column; -COLUMN puts the largest first."),
    ] = None
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, metavar="N", help="At most N rows.")
    ] = None
    all: Annotated[bool, typer.Option("--all", help="All rows, however long the terminal.")] = False
    wide: Annotated[bool, typer.Option("--wide", help="All columns, whatever the width.")] = False
    format: FormatOption = None
    output: OutputOption = None

    @property
    def choice(self) -> Choice:
        """Which rows are wanted, and in which order."""
        from orchbench_analytics.outputs.choose import Choice

        return Choice(
            self.model or (), self.language or (), self.experiment or (), self.sort, self.limit
        )

    @property
    def is_screen(self) -> bool:
        """Whether the rows go to a terminal, as a table for the eye."""
        from orchbench_analytics.outputs.put import is_screen

        return is_screen(self.format, self.output)

    def check(self) -> None:
        """Refuse an output that cannot be, before any work is done."""
        from orchbench_analytics.outputs.put import require_writable
        from orchbench_analytics.outputs.render import agreed_format

        agreed_format(self.format, self.output)
        if self.output is not None:
            require_writable(self.output)

    def put(
        self,
        frame: pl.DataFrame,
        *,
        first: tuple[str, ...] = (),
        only: bool = False,
        is_verbatim: bool = False,
        is_prose: bool = False,
    ) -> pl.DataFrame:
        """Put out the chosen rows; returns them.

        On a terminal the columns of `first` come first, and no others unless all are asked for.
        """
        from orchbench_analytics.outputs.choose import choose
        from orchbench_analytics.outputs.labels import named_contenders
        from orchbench_analytics.outputs.put import put

        chosen = choose(frame, self.choice)
        on_screen = chosen if is_verbatim else named_contenders(chosen, among=frame)
        there = [name for name in first if name in on_screen.columns]
        others = [] if only else [name for name in on_screen.columns if name not in there]
        put(
            chosen,
            format=self.format,
            output=self.output,
            on_screen=on_screen.select(*there, *others),
            is_wide=self.wide,
            is_whole=self.all or self.limit is not None or is_prose,
            is_verbatim=is_verbatim,
            is_prose=is_prose,
        )
        return chosen


def takes_rows(function: Callable[..., None]) -> Callable[..., None]:
    """Let a command have the options of rows in place of its parameter `rows`.

    An option stays away where the command has a parameter of that name itself.
    """
    hints = get_type_hints(function, include_extras=True)
    kinds = get_type_hints(Rows, include_extras=True)
    own = inspect.signature(function).parameters
    names = [field.name for field in fields(Rows) if field.name not in own]
    defaults = {field.name: field.default for field in fields(Rows)}

    @wraps(function)
    def command(**given: Any) -> None:
        rows = Rows(**{name: given.pop(name) for name in names})
        rows.check()
        function(**given, rows=rows)

    parameters = {
        **{name: (hints[name], own[name].default) for name in own if name != "rows"},
        **{name: (kinds[name], defaults[name]) for name in names},
    }
    command.__annotations__ = {name: hint for name, (hint, _) in parameters.items()}
    signature = inspect.Signature(
        [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default
            )
            for name, (hint, default) in parameters.items()
        ]
    )
    vars(command)["__signature__"] = signature  # what typer reads
    return command

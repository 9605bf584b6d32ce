"""The command `sql`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.engine import (
    ConfOption,
    EngineName,
    EngineOption,
    MasterOption,
    running_on,
)
from orchbench_analytics.cli.options import WarehouseArgument
from orchbench_analytics.cli.rows import Rows, takes_rows
from orchbench_analytics.errors import QueryError
from orchbench_analytics.outputs import terminal


@command(example="orchbench sql orchbench-demo/warehouse 'from main.leaderboard'")
@takes_rows
def sql(
    warehouse: WarehouseArgument,
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="A query, a .sql file, or - for standard input."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A value for $NAME in the query; repeatable."),
    ] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Allow writing, and files outside the warehouse.")
    ] = False,
    engine: EngineOption = EngineName.LOCAL,
    master: MasterOption = None,
    conf: ConfOption = None,
    *,
    rows: Rows,
) -> None:
    """Ask in SQL; without a query, at a prompt.

    Where nobody can type, tables and views are listed instead.
    """
    from orchbench_analytics.views.query import fetch, parse_parameters
    from orchbench_analytics.warehouse import open_warehouse

    parameters = parse_parameters(param or ())
    with running_on(engine, master, conf) as place:
        opened = open_warehouse(warehouse, engine=place)
        if query is None:
            if parameters:
                raise QueryError("--param needs a query")
            if rows.is_screen and terminal.is_terminal(sys.stdin):
                from orchbench_analytics.cli.prompt import run_prompt

                run_prompt(opened, rows, unsafe=unsafe)
            else:
                rows.put(opened.relations(), is_prose=True)
            return
        relation = opened.sql(_text_of(query), parameters=parameters, unsafe=unsafe)
        rows.put(fetch(relation), is_verbatim=True)


def _text_of(query: str) -> str:
    """The query itself, or the text of the file or stream that was named."""
    from orchbench_analytics.views.query import query_text

    try:
        text = sys.stdin.read() if query == "-" else query_text(query)
        text.encode()  # standard input lets bytes that are not UTF-8 pass as half characters
        return text
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        where = "standard input" if query == "-" else query
        raise QueryError(f"{where} is not UTF-8 text: {error}") from error
    except OSError as error:
        raise QueryError(f"{query} cannot be read: {error.strerror or error}") from error

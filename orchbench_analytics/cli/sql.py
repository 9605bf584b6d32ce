"""The command `sql`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.engine import EngineOptions
from orchbench_analytics.cli.options import WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.errors import EngineError, QueryError
from orchbench_analytics.outputs import terminal

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection

    from orchbench_analytics.views.limits import Limits
    from orchbench_analytics.warehouse import Warehouse


@command(example="orchbench sql orchbench-demo/warehouse 'from main.leaderboard'")
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
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop a query that takes longer; exit code 124."
        ),
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(min=0.05, metavar="GB", help="Most memory; default half of the machine's."),
    ] = None,
    spill: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="GB", help="Most disk space for what memory cannot hold; default 16."
        ),
    ] = None,
    *,
    engine: EngineOptions,
    rows: RowOptions,
) -> None:
    """Run a SQL query; without one, open a prompt.

    Without a query and without a terminal, tables and views are listed.
    """
    from orchbench_analytics.views.limits import Limits
    from orchbench_analytics.views.query import parse_parameters

    limits = Limits(memory) if spill is None else Limits(memory, spill)
    parameters = parse_parameters(param or ())
    if not engine.is_local and (timeout, memory, spill) != (None, None, None):
        raise EngineError("--timeout, --memory and --spill are DuckDB's; bound Spark by --conf")
    with engine.opened(warehouse) as opened:
        if query is None:
            if parameters:
                raise QueryError("--param needs a query")
            if rows.is_screen and terminal.is_terminal(sys.stdin):
                from orchbench_analytics.cli.prompt import run_prompt

                def answer(text: str) -> None:
                    _answer(opened, text, rows, unsafe=unsafe, limits=limits, timeout=timeout)

                run_prompt(opened, rows, answer)
            else:
                rows.write(opened.relations(), is_prose=True)
            return
        text = _text_of(query)
        _answer(
            opened, text, rows, parameters=parameters, unsafe=unsafe, limits=limits, timeout=timeout
        )


def _answer(
    opened: Warehouse,
    query: str,
    rows: RowOptions,
    *,
    unsafe: bool,
    limits: Limits,
    timeout: float | None,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Write the rows of a query, as they come if the format and the options allow it."""
    import polars as pl

    from orchbench_analytics.outputs.filter_rows import RowFilter
    from orchbench_analytics.outputs.write import first_rows, write_rows
    from orchbench_analytics.views.query import connect_for_queries, fetch, fetch_batches, run_query
    from orchbench_analytics.views.running import in_batches

    if opened.engine is not None:
        found = opened.sql(query, parameters=parameters, unsafe=unsafe)
        rows.write(fetch(found), is_verbatim=True)
        return
    manifest = opened.manifest()

    def connect() -> DuckDBPyConnection:
        return connect_for_queries(opened.path, manifest, query=query, unsafe=unsafe, limits=limits)

    def ask(connection: DuckDBPyConnection) -> Iterator[pl.DataFrame]:
        relation = run_query(connection, query, parameters=parameters, unsafe=unsafe)
        return fetch_batches(relation)

    with closing(in_batches(connect, ask, timeout=timeout)) as batches:
        if not rows.is_screen and rows.filter == RowFilter(limit=rows.limit):
            limited = first_rows(batches, rows.limit)
            write_rows(limited, format=rows.wanted_format, output=rows.output)
        else:
            rows.write(pl.concat(batches), is_verbatim=True)


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

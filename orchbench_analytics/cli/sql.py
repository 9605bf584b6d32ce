"""The command `sql`, and its prompt."""

from __future__ import annotations

import json
import os
import signal
import sys
from cmd import Cmd
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchbench_analytics.cli.app import (
    EngineOptions,
    RowOptions,
    WarehouseArgument,
    command,
    forget_interrupts,
    profile_option,
    say,
    say_no_rows,
)
from orchbench_analytics.errors import EngineError, OrchbenchError, QueryError
from orchbench_analytics.outputs import terminal
from orchbench_analytics.paths import local_path
from orchbench_analytics.views.sandbox import Limits, Sandbox, gather, memory_bytes, out_of_time

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.warehouse import Warehouse

Ask = Callable[[str], Generator["pl.DataFrame"]]
_HISTORY_LENGTH = 1000
_GRACE_SECONDS = 0.5  # in which a query that has no more time is ended by itself
_TEXT_OF_ROWS = 16  # times that rows as a text table take more memory than as columns
_FIRST_LINE, _NEXT_LINE = "orchbench> ", "  ...> "
_WORDS = {
    ".tables": "list tables and views",
    ".describe NAME": "explain the columns of a table",
    ".wide": "switch between all columns and those that fit",
    ".all": "switch between all rows and those that fit",
    ".help": "show this",
    ".quit": "leave; so does Ctrl-D",
}


@command(example="orchbench sql orchbench-demo/warehouse 'from main.leaderboard'")
def sql(
    warehouse: WarehouseArgument,
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="A query, a .sql file, or - for standard input."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A value for $NAME in the query; repeatable."),
    ] = None,
    profile: Annotated[
        str | None,
        profile_option("Only this profile's rows in tables and views."),
    ] = None,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Allow writing, and files outside the warehouse.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Stop a query that takes longer, its rows included; exit code 124.",
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
    parameters = parse_parameters(param or ())
    if query is None and parameters:
        raise QueryError("--param needs a query")
    if not engine.is_local and (timeout, memory, spill) != (None, None, None):
        raise EngineError("--timeout, --memory and --spill limit DuckDB; limit Spark with --conf")
    limits = Limits(memory) if spill is None else Limits(memory, spill)
    sandboxes = [Sandbox()]  # starts while the rest is imported
    try:
        with engine.opened(warehouse) as opened:
            from orchbench_analytics.views.catalog import Scope

            scope = Scope(None if profile is None else opened.profile(profile).name)

            def ask(text: str) -> Generator[pl.DataFrame]:
                if opened.engine is not None:
                    yield opened.sql(text, parameters=parameters, profile=profile)
                    return
                with sandboxes.pop() as sandbox:
                    if query is None:
                        sandboxes.append(Sandbox())  # starts while the next query is typed
                    yield from sandbox.frames(
                        opened.path,
                        text,
                        parameters=parameters,
                        unsafe=unsafe,
                        limits=limits,
                        scope=scope,
                        timeout=timeout,
                    )

            if query is not None:
                if not _write(ask(query_text(query)), rows, limits, timeout):
                    say_no_rows()
            elif rows.is_screen and terminal.is_terminal() and terminal.is_terminal(sys.stdin):
                _Prompt(opened, ask, rows, limits, timeout).cmdloop()
            else:
                rows.write(opened.tables(), is_prose=True)
    finally:
        for sandbox in sandboxes:
            sandbox.close()


def _write(
    frames: Generator[pl.DataFrame], rows: RowOptions, limits: Limits, timeout: float | None
) -> bool:
    """Write the rows of a query, as they come if they go to a program; whether there are any.

    The time that a query has is for the writing of its rows too.
    """
    from orchbench_analytics.outputs.write import PAPER, first_rows, write_rows

    most_bytes = memory_bytes(limits)
    with closing(frames), _within(timeout):
        if rows.is_screen or rows.sort is not None:
            found = gather(frames, most_bytes=most_bytes)
            if not found.is_empty() or not rows.is_screen:
                rows.write(found, is_verbatim=True, may_be_empty=True)
            return not found.is_empty()
        heights: list[int] = []

        def counted() -> Iterator[pl.DataFrame]:
            for frame in frames:
                heights.append(frame.height)
                yield frame

        limited = first_rows(counted(), rows.limit)
        if rows.wanted_format in ("table", *PAPER, "xlsx"):
            limited = iter([gather(limited, most_bytes=most_bytes // _TEXT_OF_ROWS)])
        write_rows(limited, format=rows.wanted_format, output=rows.output, is_verbatim=True)
        return any(heights)


@contextmanager
def _within(seconds: float | None) -> Iterator[None]:
    """End what takes longer; Windows has no such timer, so there only the query is bounded."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise out_of_time(seconds)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def query_text(query: str) -> str:
    """The query itself, or the text of the .sql file or of standard input, if it names them."""
    if query != "-" and not query.endswith(".sql"):
        return query
    try:
        if query != "-" and not local_path(query).is_file():
            raise QueryError(f"no such file: {query}")
        text = sys.stdin.read() if query == "-" else local_path(query).read_text(encoding="utf-8")
        text.encode()  # standard input lets bytes that are not UTF-8 pass as half characters
        return text
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        where = "standard input" if query == "-" else query
        raise QueryError(f"{where} is not UTF-8 text: {error}") from error
    except OSError as error:
        raise QueryError(f"{query} cannot be read: {error.strerror or error}") from error


def parse_parameters(given: Iterable[str]) -> dict[str, Any]:
    """`name=value` texts as query parameters; numbers, true, false and null count as such."""
    parameters = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name.isidentifier():
            raise QueryError(f"--param {text!r}: expected name=value")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        parameters[name] = parsed if isinstance(parsed, int | float | bool | None) else value
    return parameters


class _PromptRows(RowOptions):
    """Rows as the prompt shows them."""

    mark = "."


class _Prompt(Cmd):
    """The prompt: a query ends with a semicolon, and a few words begin with a dot."""

    intro = "SQL over the warehouse; a query ends with ; and .help lists what else there is"

    def __init__(
        self, opened: Warehouse, ask: Ask, rows: RowOptions, limits: Limits, timeout: float | None
    ) -> None:
        super().__init__()
        self.prompt = _FIRST_LINE
        self._opened, self._ask, self._limits, self._timeout = opened, ask, limits, timeout
        self._rows = _PromptRows(rows.sort, rows.limit, rows.all, rows.wide)
        self._lines: list[str] = []
        self._known: list[str] | None = None

    def cmdloop(self, intro: str | None = None) -> None:
        """Answer until the input ends; Ctrl-C drops what was typed, or stops the query."""
        while True:
            try:
                super().cmdloop(intro)
            except KeyboardInterrupt:
                forget_interrupts()
                print()
                self._start_over()
                intro = ""
            else:
                return

    def preloop(self) -> None:
        """Read the history of earlier prompts, where Python has readline."""
        with suppress(ImportError, OSError):
            import readline

            readline.set_completer_delims(" \t\n,()=<>+-*/;'\"")
            readline.read_history_file(_history_file())

    def postloop(self) -> None:
        """Keep the history."""
        with suppress(ImportError, OSError):
            import readline

            readline.set_history_length(_HISTORY_LENGTH)
            _history_file().parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(_history_file())

    def onecmd(self, line: str) -> bool:
        """Take a line: a word with a dot, or a part of a query; true ends the prompt."""
        if line == "EOF":
            print()
            return True
        word, _, name = line.strip().rstrip(";").partition(" ")
        if not self._lines and word in (".quit", ".exit", "quit", "exit"):
            return True
        try:
            if not self._lines and word.startswith("."):
                self._react(word, name.strip())
            elif line.strip() or self._lines:
                self._lines.append(line)
                self.prompt = _NEXT_LINE
                if line.rstrip().endswith(";"):
                    query = "\n".join(self._lines).strip().rstrip("; \n")
                    self._start_over()
                    if query and not self._answer(query):
                        say("no rows")
        except OrchbenchError as error:
            say(str(error))
        return False

    def completenames(self, text: str, *ignored: object) -> list[str]:
        """The names of tables, views and columns, and the words of the prompt."""
        if self._known is None:
            self._known = _names_in(self._opened)
        words = (word.split()[0] for word in _WORDS)
        return [name for name in chain(words, self._known) if name.startswith(text)]

    completedefault = completenames

    def _answer(self, query: str) -> bool:
        return _write(self._ask(query), self._rows, self._limits, self._timeout)

    def _start_over(self) -> None:
        self._lines, self.prompt = [], _FIRST_LINE

    def _react(self, word: str, name: str) -> None:
        from dataclasses import replace

        from orchbench_analytics.outputs.dictionary import find_entry
        from orchbench_analytics.outputs.screen import show_table

        if word == ".tables":
            self._rows.write(self._opened.tables(), is_prose=True)
        elif word == ".wide":
            self._rows = replace(self._rows, wide=not self._rows.wide)
        elif word == ".all":
            self._rows = replace(self._rows, all=not self._rows.all)
        elif word == ".describe" and name:
            entry = find_entry(name)
            say(entry.title)
            show_table(entry.columns, is_whole=True, is_prose=True)
        else:
            for known, meaning in _WORDS.items():
                say(f"  {known:16}{meaning}")


def _names_in(opened: Warehouse) -> list[str]:
    with opened.connect() as connection:
        found = connection.execute(
            "select table_name, column_name from duckdb_columns() where schema_name = 'main'"
        ).fetchall()
    tables, columns = zip(*found, strict=True)
    return sorted({*tables, *(f"main.{name}" for name in tables), *columns})


def _history_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    base = Path(state) if state else Path.home() / ".local" / "state"
    return base / "orchbench" / "sql_history"

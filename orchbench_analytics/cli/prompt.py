"""The prompt of `orchbench sql`: history, completion, and a few words that begin with a dot."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.cli.talk import say
from orchbench_analytics.errors import OrchbenchError

if TYPE_CHECKING:
    from orchbench_analytics.cli.rows import RowOptions
    from orchbench_analytics.warehouse import Warehouse

_WORDS = {
    ".tables": "list tables and views",
    ".describe NAME": "say what a table's columns mean",
    ".help": "say this",
    ".quit": "end; so does Ctrl-D",
}
_HISTORY_LENGTH = 1000


def run_prompt(opened: Warehouse, rows: RowOptions, answer: Callable[[str], None]) -> None:
    """Have queries answered until there is no more input; a query ends with a semicolon."""
    say("SQL over the warehouse; a query ends with ; and .help says what else there is")
    with _line_editing(opened):
        while (query := _read_query()) is not None:
            try:
                _react(opened, rows, query, answer)
            except OrchbenchError as error:
                say(str(error))
            except KeyboardInterrupt:
                say("interrupted")


def _read_query() -> str | None:
    """The next query, over as many lines as it takes; none at the end of input or `.quit`."""
    lines: list[str] = []
    while True:
        try:
            line = input("  ...> " if lines else "orchbench> ")
        except EOFError:
            print()
            return None
        except KeyboardInterrupt:
            print()
            lines = []
            continue
        if not lines and line.strip() in (".quit", ".exit", "quit", "exit"):
            return None
        lines.append(line)
        text = "\n".join(lines).strip()
        if not text:
            lines = []
        elif text.startswith(".") or text.endswith(";"):
            return text.rstrip("; \n")


def _react(opened: Warehouse, rows: RowOptions, query: str, answer: Callable[[str], None]) -> None:
    from orchbench_analytics.outputs.dictionary import find_entry
    from orchbench_analytics.outputs.write import show_table

    word, _, name = query.partition(" ")
    if word == ".tables":
        rows.write(opened.relations(), is_prose=True)
    elif word == ".describe" and name.strip():
        entry = find_entry(name.strip())
        say(entry.title)
        show_table(entry.columns, is_whole=True, is_prose=True)
    elif word.startswith("."):
        for known, meaning in _WORDS.items():
            say(f"  {known:16}{meaning}")
    else:
        answer(query)


@contextlib.contextmanager
def _line_editing(opened: Warehouse) -> Iterator[None]:
    """History and completion, where Python has readline."""
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    history = _history_file()
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    words = _completions(opened)

    def complete(text: str, state: int) -> str | None:
        found = [word for word in words if word.startswith(text)]
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n,()=<>+-*/;'\"")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_history_length(_HISTORY_LENGTH)
        with contextlib.suppress(OSError):
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)


def _completions(opened: Warehouse) -> list[str]:
    """The names of tables, views and columns, and the words of the prompt."""
    with opened.connect() as connection:
        found = connection.execute(
            "select table_name, column_name from duckdb_columns() where schema_name = 'main'"
        ).fetchall()
    tables = {name for name, _ in found}
    columns = {name for _, name in found}
    dotted = {word.split()[0] for word in _WORDS}
    return sorted({*tables, *(f"main.{name}" for name in tables), *columns, *dotted})


def _history_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    base = Path(state) if state else Path.home() / ".local" / "state"
    return base / "orchbench" / "sql_history"

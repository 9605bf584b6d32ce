"""The command `demo`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.cli.app import JobsOption, QuietOption, command, say
from orchbench_analytics.cli.progress import progress_bar, say_summary
from orchbench_analytics.errors import PathError
from orchbench_analytics.paths import local_path
from orchbench_analytics.store.replace import place_for

if TYPE_CHECKING:
    from orchbench_analytics.warehouse import Warehouse

_NEXT = """
What to try next:
  {orchbench} leaderboard {warehouse} --profile upstream
  {orchbench} compare {warehouse} graded-3 graded-4
  {orchbench} show {warehouse} graded-3
  {orchbench} sql {warehouse}
  {orchbench} check {warehouse}
  {marimo} edit {notebook} -- --warehouse {warehouse}   # needs the extra [notebook]"""


@command(example="orchbench demo orchbench-demo --models 12")
def demo(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", parser=local_path, help="Where to make it; a new or empty directory."
        ),
    ] = Path("orchbench-demo"),
    models: Annotated[
        int, typer.Option(min=1, max=12, metavar="N", help="How many of its 12 models.")
    ] = 12,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Unpack a sample sweep, score it, and say what to try next."""
    from orchbench_analytics.demo import write_notebooks, write_sweep
    from orchbench_analytics.warehouse import open_warehouse

    made_with = f"models={models}\n"
    note = directory / "made-with.txt"
    place_for(directory)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        if not note.is_file() or note.read_text(encoding="utf-8") != made_with:
            raise PathError(f"{directory} holds something else; name a new or empty directory")
    else:
        if not quiet:
            say(f"writing a sample sweep of {models} models to {directory}")
        write_sweep(directory, models=models)
        write_notebooks(directory / "notebooks")
        note.write_text(made_with, encoding="utf-8")
    warehouse = directory / "warehouse"
    with progress_bar(quiet=quiet) as progress:
        summary = open_warehouse(warehouse, create=True).ingest(
            directory / "results",
            agent_cards=[directory / "agent_cards"],
            jobs=jobs,
            progress=progress,
        )
    if quiet:
        return
    say_summary(summary, warehouse)
    _show_leaderboard(open_warehouse(warehouse))
    say(
        _NEXT.format(
            orchbench=_program("orchbench", "orchbench_analytics"),
            marimo=_program("marimo", "marimo"),
            warehouse=warehouse,
            notebook=directory / "notebooks" / "tour.py",
        )
    )


def _program(name: str, module: str) -> str:
    """How to call a program: by its name, or from an environment that was not activated."""
    return name if shutil.which(name) else f"{quote(sys.executable)} -m {module}"


def _show_leaderboard(opened: Warehouse) -> None:
    """Show the leaderboard as on a terminal, even if it goes into a log."""
    from orchbench_analytics.metrics import HEADLINE
    from orchbench_analytics.outputs.leaderboard import short
    from orchbench_analytics.outputs.screen import named_contenders, show_table

    board = short(opened.leaderboard(beside=HEADLINE[:1]))
    show_table(named_contenders(board), is_whole=True)

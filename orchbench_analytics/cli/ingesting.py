"""Commands that fill a warehouse: ingest, sources, demo, dictionary."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchbench_analytics.cli.app import (
    FormatOption,
    JobsOption,
    OutputOption,
    QuietOption,
    WarehouseArgument,
    app,
    say,
)
from orchbench_analytics.errors import PathError

if TYPE_CHECKING:
    from orchbench_analytics.ingest.update import IngestSummary, Progress

_NEXT = """
What to try next:
  {orchbench} leaderboard {warehouse} --profile upstream
  {orchbench} sql {warehouse}
  {orchbench} compare {warehouse} graded-3 graded-4
  {orchbench} check {warehouse}"""


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, directories.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="The warehouse.")],
    model: Annotated[str | None, typer.Option(help="Model of all files given.")] = None,
    experiment: Annotated[str | None, typer.Option(help="Experiment of all files given.")] = None,
    language: Annotated[str | None, typer.Option(help="Language of all files given.")] = None,
    pattern: Annotated[
        str | None, typer.Option(help="Paths with named parts: {model}/{language}/{scenario}.json")
    ] = None,
    agent_cards: Annotated[
        list[Path] | None, typer.Option(help="Agent cards: tool schemas, a directory or files.")
    ] = None,
    prune: Annotated[bool, typer.Option(help="Forget files that are gone.")] = False,
    score: Annotated[bool, typer.Option(help="Score what is new under every profile.")] = True,
    verify: Annotated[
        bool, typer.Option(help="Look for damage in every byte of the warehouse, and repair it.")
    ] = False,
    fail_on_refused: Annotated[
        bool, typer.Option(help="Exit code 1 if a file was refused.")
    ] = False,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Bring a warehouse up to date with result files."""
    from orchbench_analytics.warehouse import open_warehouse

    with progress_bar(quiet=quiet) as progress:
        summary = open_warehouse(into).ingest(
            *paths,
            model=model,
            experiment=experiment,
            language=language,
            pattern=pattern,
            agent_cards=agent_cards or (),
            prune=prune,
            score=score,
            verify=verify,
            jobs=jobs,
            progress=progress,
        )
    if not quiet:
        say_summary(summary, into)
    if fail_on_refused and summary.refused:
        raise typer.Exit(1)


@app.command()
def sources(
    warehouse: WarehouseArgument,
    status: Annotated[
        Literal["taken", "ignored", "refused"] | None, typer.Option(help="Only such files.")
    ] = None,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """List input files and what became of them."""
    import polars as pl

    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    rows = open_warehouse(warehouse).table("sources")
    if status is not None:
        rows = rows.filter(pl.col("status") == status)
    columns = ("status", "reason", "place", "message", "kind", "model", "language", "path")
    show(rows.select(columns).sort("path").collect(), format=format, output=output)


@app.command()
def demo(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to make it.")] = Path(
        "orchbench-demo"
    ),
    models: Annotated[int, typer.Option(min=1, help="How many models.")] = 12,
    scenarios: Annotated[int, typer.Option(min=1, help="Scenarios of each language.")] = 12,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each scenario.")] = 3,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 7,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make a sample sweep, ingest and score it, show the leaderboard, and say what to try next."""
    from orchbench_analytics.cli.scores import show_leaderboard
    from orchbench_analytics.demo import write_sweep
    from orchbench_analytics.warehouse import open_warehouse

    made_with = f"models={models} scenarios={scenarios} runs={runs} seed={seed}\n"
    note = directory / "made-with.txt"
    if directory.exists() and any(directory.iterdir()):
        if not note.is_file() or note.read_text(encoding="utf-8") != made_with:
            raise PathError(f"{directory} holds something else; name a new or empty directory")
    else:
        if not quiet:
            say(f"making {models} models of a sample sweep in {directory}")
        write_sweep(
            directory,
            models=models,
            scenarios=scenarios,
            runs=runs,
            seed=seed,
            write_judge_logs=True,
            write_evaluations=True,
        )
        note.write_text(made_with, encoding="utf-8")
    warehouse = directory / "warehouse"
    with progress_bar(quiet=quiet) as progress:
        summary = open_warehouse(warehouse).ingest(
            directory / "results",
            agent_cards=[directory / "agent_cards"],
            jobs=jobs,
            progress=progress,
        )
    if quiet:
        return
    say_summary(summary, warehouse)
    show_leaderboard(open_warehouse(warehouse), format="table")
    orchbench = "orchbench" if shutil.which("orchbench") else sys.argv[0]
    say(_NEXT.format(orchbench=orchbench, warehouse=warehouse))


@app.command()
def dictionary() -> None:
    """Print the data dictionary: every table, view and column, as Markdown."""
    from orchbench_analytics.outputs.dictionary import dictionary as text

    print(text(), end="")


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Progress | None]:
    """A bar with files, MB/s and time left; none where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as SpeedColumn

    columns = (BarColumn(), DownloadColumn(), SpeedColumn(), TimeRemainingColumn())
    with Progress(
        "{task.description}", *columns, console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("reading", total=None)
        files = 0

        def advance(file_count: int, byte_count: int, total_bytes: int) -> None:
            nonlocal files
            files += file_count
            bar.update(task, advance=byte_count, total=total_bytes, description=f"{files:,} files")

        yield advance


def say_summary(summary: IngestSummary, warehouse: Path) -> None:
    """What an ingest did, in a few lines."""
    counts = {
        "taken": summary.taken,
        "unchanged": summary.unchanged,
        "not needed": summary.ignored,
        "removed": summary.removed,
        "refused": len(summary.refused),
    }
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    say(f"{warehouse}: {said or 'no input files found'}")
    for source in summary.refused[:5]:
        place = f" at {source.place}" if source.place else ""
        say(f"  refused {source.path}: {source.reason}{place}: {source.message}")
    if len(summary.refused) > 5:
        say(f"  … all of them: orchbench sources {warehouse} --status refused")

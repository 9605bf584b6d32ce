"""What an ingest shows while it runs, and what it says when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.cli.app import call_of, say
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.terminal import printable
from orchbench_analytics.store.manifest import Manifest, unchecked_pattern_count

if TYPE_CHECKING:
    from orchbench_analytics.engines.spark.engine import TaskProgress
    from orchbench_analytics.exports.sink import RowProgress
    from orchbench_analytics.ingest.sources import Source
    from orchbench_analytics.ingest.update import IngestSummary, Progress

_NOTHING = "no input files found: no name in the paths given ends with .json, .json.gz or .json.zst"


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Progress | None]:
    """A bar with files, MB/s and time left; then a spinner, since scoring has no known end."""
    if quiet or not terminal.is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        SpinnerColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import TransferSpeedColumn as SpeedColumn

    columns = (BarColumn(), DownloadColumn(), SpeedColumn(), TimeRemainingColumn())
    with Progress(
        "{task.description}", *columns, console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("reading", total=None)
        files = read_bytes = 0

        def advance(file_count: int, byte_count: int, total_bytes: int) -> None:
            nonlocal files, read_bytes
            files += file_count
            read_bytes += byte_count
            if read_bytes >= total_bytes:
                bar.columns = (SpinnerColumn(), "{task.description}", TimeElapsedColumn())
                bar.update(task, total=None, description=f"{files:,} files read; scoring")
            else:
                said = f"{files:,} files"
                bar.update(task, advance=byte_count, total=total_bytes, description=said)

        yield advance


@contextmanager
def spinner(said: str) -> Iterator[RowProgress | None]:
    """A sign of life on a terminal, for work that has no known end; it may be told of rows."""
    if not terminal.is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(said))) as status:

        def tell(name: str, done: int, total: int) -> None:
            status.update(Text(printable(f"{said} {name}: {done:,} of {total:,} rows")))

        yield tell


@contextmanager
def task_bar(*, quiet: bool) -> Iterator[TaskProgress | None]:
    """A bar with the tasks of the current step that Spark has finished."""
    if quiet or not terminal.is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    with Progress(
        "Spark tasks", MofNCompleteColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


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
    say(f"{warehouse}: {said or _NOTHING}")
    _say_refused(summary.refused, warehouse)
    if summary.gone:
        is_one = len(summary.gone) == 1
        many = "1 file is" if is_one else f"{len(summary.gone):,} files are"
        whose = "it still counts; forget it" if is_one else "they still count; forget them"
        say(f"  {many} gone, such as {summary.gone[0].path}: {whose} with --prune")
    if summary.is_unusable:
        say("  nothing can be scored: every result file was refused")


def _say_refused(refused: Sequence[Source], warehouse: Path) -> None:
    """Say for each reason how many files were refused, with one as an example."""
    by_reason: dict[str, list[Source]] = {}
    for source in refused:
        by_reason.setdefault(source.reason or "", []).append(source)
    for reason, sources in by_reason.items():
        first = sources[0]
        place = f" at {first.place}" if first.place else ""
        many = f"refused as {reason}: {len(sources):,} files, such as {first.path}"
        one = f"refused {first.path}: {reason}"
        say(f"  {many if len(sources) > 1 else one}{place}: {first.message}")
    if len(refused) > len(by_reason):
        say(f"  list them with: {call_of('sources', warehouse, '--status', 'refused')}")


def say_unchecked(manifest: Manifest, warehouse: Path) -> None:
    """Say how many argument keys went without the check of their pattern, if any did."""
    count = unchecked_pattern_count(manifest)
    if count:
        query = "from argument_scores where unchecked_argument_count > 0"
        say(
            "  argument keys that passed unchecked, because their pattern took too long: "
            f"{count:,}; see: {call_of('sql', warehouse, query)}"
        )

"""What `ingest --watch` shows: one live table on a terminal, on a pipe a line for each change."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from orchbench_analytics.cli.app import say
from orchbench_analytics.errors import OrchbenchError
from orchbench_analytics.outputs import terminal

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.ingest.settle import Look
    from orchbench_analytics.warehouse import Warehouse

_COUNTS = ("scenario_count", "sweep_scenario_count")
_RATE_SECONDS = 300.0  # the rate is that of the last minutes


class Pace(NamedTuple):
    """How many scenario files there are, of how many, how fast they come, and the time left."""

    done: int
    total: int
    per_minute: float | None
    seconds_left: float | None

    def __str__(self) -> str:
        said = f"{self.done:,} of {self.total:,} scenario files"
        if self.per_minute is not None:
            said += f", {self.per_minute:,.1f} a minute"
        if self.seconds_left is not None:
            hours, rest = divmod(int(self.seconds_left), 3600)
            said += f", {hours}:{rest // 60:02d}:{rest % 60:02d} left"
        return said


def show_looks(opened: Warehouse, looks: Iterable[Look], *, quiet: bool) -> None:
    """Show each look that changed something, until the user stops it."""
    counts: list[tuple[float, int]] = []
    with _display() as (show, is_live):
        for look in looks:
            has_changed = bool(look.summary.taken or look.summary.removed)
            if quiet or not (has_changed or is_live):
                continue
            standings = _standings(opened)
            pace = _pace(standings, counts)
            refused = len(look.summary.refused)
            said = f"{time.strftime('%H:%M:%S')}  {pace}"
            said += f"; {look.waiting:,} still written" if look.waiting else ""
            said += f"; {refused:,} refused" if refused else ""
            show(said, standings)


def _standings(opened: Warehouse) -> pl.DataFrame | None:
    try:
        return opened.standings()
    except OrchbenchError:  # nothing is there yet, or no answers
        return None


def _pace(standings: pl.DataFrame | None, counts: list[tuple[float, int]]) -> Pace:
    """The pace of a sweep, by how many scenario files earlier looks found."""
    done = total = 0
    if standings is not None:
        done, total = (int(standings[name].sum()) for name in _COUNTS)
    now = time.monotonic()
    counts.append((now, done))
    while now - counts[0][0] > _RATE_SECONDS:
        counts.pop(0)
    since, before = counts[0]
    if done <= before or now - since < 1:
        return Pace(done, total, None, None)
    rate = (done - before) / (now - since)
    return Pace(done, total, rate * 60, (total - done) / rate if total > done else None)


@contextmanager
def _display() -> Iterator[tuple[Callable[[str, pl.DataFrame | None], None], bool]]:
    """How a look is shown, and whether in place, as on a terminal; else each has its line."""
    if not terminal.is_terminal(sys.stdout):
        yield lambda said, rows: print(_line(said, rows), flush=True), False
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    say("watching; Ctrl-C ends it, and what was taken in stays")
    with Live(Text(""), console=Console(), auto_refresh=False, vertical_overflow="crop") as live:

        def show(said: str, rows: pl.DataFrame | None) -> None:
            live.update(Text(f"{_table(rows)}{said}"), refresh=True)

        yield show, True


def _line(said: str, standings: pl.DataFrame | None) -> str:
    if standings is None or standings.is_empty():
        return said
    best = standings.row(0, named=True)
    certain = (standings["rank_low"] == standings["rank_high"]).sum()
    first = f"first {terminal.printable_line(best['model'])} {best['average_score']:.4f}"
    return f"{said}; {first}; {certain:,} of {standings.height:,} ranks certain"


def _table(standings: pl.DataFrame | None) -> str:
    from orchbench_analytics.outputs.screen import Limits, screen

    if standings is None or standings.is_empty():
        return ""
    rows = max(5, terminal.height() - 6)
    return screen(standings, Limits(terminal.width(), rows))

"""The command `check`."""

from __future__ import annotations

import typer

from orchbench_analytics.cli.app import (
    FOUND_WRONG,
    RowOptions,
    WarehouseArgument,
    call_of,
    command,
    say,
)
from orchbench_analytics.store.manifest import remedy_for


@command(example="orchbench check orchbench-demo/warehouse")
def check(warehouse: WarehouseArgument, *, rows: RowOptions) -> None:
    """Verify files, sums, and what an evaluator reported.

    The exit code is 1 if a difference has no known and harmless cause.
    """
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    damage = opened.verify()
    for name, fault in damage:
        say(f"{warehouse / name} {fault}")
    for remedy in dict.fromkeys(remedy_for(warehouse, name) for name, _ in damage):
        say(remedy)
    if damage:
        raise typer.Exit(FOUND_WRONG)
    say("verified every byte")
    report = opened.check()
    is_scored = bool(opened.manifest().scores)
    for compared in report.compared if is_scored else ():
        say(f"compared {compared}")
    for sentence in report.stale:
        say(sentence)
    unexplained = report.differences.filter(report.differences["explanation"].is_null())
    shown = unexplained if rows.is_screen and not rows.all else report.differences
    if not shown.is_empty() or not rows.is_screen:
        rows.write(shown, may_be_empty=True)
    for explanation, count in sorted(report.explained.items()):
        say(f"{count:,} more differ, as expected: {explanation}; --all lists them")
    if unexplained.is_empty():
        see = call_of("score", warehouse, "--profile", "spec")
        nothing = f"nothing to compare: {warehouse} has no scores; see: {see}"
        agreed = "all else agrees" if report.explained else "all agree"
        say(agreed if is_scored else nothing)
        return
    say(f"{len(unexplained):,} differ")
    raise typer.Exit(FOUND_WRONG)

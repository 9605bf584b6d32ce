"""The command `audit`."""

from __future__ import annotations

from orchbench_analytics.cli.app import (
    ExperimentsOption,
    JobsOption,
    ModelsOption,
    RowOptions,
    WarehouseArgument,
    command,
    say,
)


@command(example="orchbench audit orchbench-demo/warehouse --model perfect")
def audit(
    warehouse: WarehouseArgument,
    model: ModelsOption = None,
    experiment: ExperimentsOption = None,
    jobs: JobsOption = None,
    *,
    rows: RowOptions,
) -> None:
    """Show what each scoring rule changes, from upstream to spec."""
    import polars as pl

    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.outputs.audit import ALL_RULES
    from orchbench_analytics.warehouse import open_warehouse

    table = open_warehouse(warehouse).audit(
        models=model or (), experiments=experiment or (), jobs=jobs
    )
    moved = table.filter(pl.any_horizontal(pl.col("^.*_change$") != 0))
    say(sentences.audit(table, all_rules=ALL_RULES))
    rows.write(moved, may_be_empty=True)
    rules = table["rule"].unique(maintain_order=True)
    still = [rule for rule in rules if rule not in moved["rule"]]
    if still:
        say(f"rules that change nothing here: {', '.join(still)}")

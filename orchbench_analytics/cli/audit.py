"""The command `audit`."""

from __future__ import annotations

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import JobsOption, WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import say


@command(example="orchbench audit orchbench-demo/warehouse --model perfect")
def audit(warehouse: WarehouseArgument, jobs: JobsOption = None, *, rows: RowOptions) -> None:
    """Show what each scoring rule changes, from upstream to spec."""
    import polars as pl

    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.outputs.audit import ALL_RULES
    from orchbench_analytics.outputs.filter_rows import filter_rows
    from orchbench_analytics.warehouse import open_warehouse

    opened, wanted = open_warehouse(warehouse), rows.filter._replace(sort=None, limit=None)
    filter_rows(opened.models(), wanted)  # a model that is not there is said before all is scored
    table = filter_rows(opened.audit(jobs=jobs), wanted)
    moved = table.filter(pl.any_horizontal(pl.col("^.*_change$") != 0))
    say(sentences.audit(table, all_rules=ALL_RULES))
    changes = tuple(name for name in moved.columns if name.endswith("_change"))
    rows.write(moved, first=("rule", "model", *changes))
    rules = table["rule"].unique(maintain_order=True)
    still = [rule for rule in rules if rule not in moved["rule"]]
    if still:
        say(f"rules that move nothing here: {', '.join(still)}")

"""The command `score`."""

from __future__ import annotations

from typing import Annotated

from orchbench_analytics.cli.app import (
    JobsOption,
    WarehouseArgument,
    call_of,
    command,
    profile_option,
    say,
)
from orchbench_analytics.cli.progress import say_unchecked, spinner


@command(example="orchbench score orchbench-demo/warehouse --profile strict")
def score(
    warehouse: WarehouseArgument,
    profile: Annotated[str, profile_option("A built-in profile, or a .toml file of rules.")],
    jobs: JobsOption = None,
) -> None:
    """Score a warehouse under a profile, from its tables alone."""
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    with spinner("scoring"):
        name = opened.score(profile=profile, jobs=jobs)
    see = call_of("leaderboard", warehouse, "-p", name)
    say(f"{warehouse}: scored under {name}; see: {see}")
    say_unchecked(opened.manifest(), warehouse)

"""The audit: from the public evaluator's rules to ours, one rule at a time."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics.engines.local import workers
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.profiles import SPEC, UPSTREAM, Profile, flip, rule_choices
from orchbench_analytics.score.groups import find_open_groups, is_worth_workers
from orchbench_analytics.score.pipeline import score
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.views.catalog import connect, frame_of

ALL_RULES = "all rules"


def audited_profiles(start: Profile = UPSTREAM, goal: Profile = SPEC) -> dict[str, Profile]:
    """For each rule in which two profiles differ: the first with that rule of the second."""
    differing = [r for r in rule_choices() if getattr(start, r) != getattr(goal, r)]
    flipped = {rule: flip(start, rule, goal) for rule in differing}
    return flipped | {ALL_RULES: replace(goal, name=f"{start.name}+all")}


def audit(
    root: Path,
    manifest: Manifest,
    *,
    start: Profile = UPSTREAM,
    goal: Profile = SPEC,
    jobs: int | None = None,
) -> pl.DataFrame:
    """What each rule does to each model's key metrics and rank, and all of them together.

    One row per rule, model and experiment: each metric after the change, and by how much it moved.
    """
    profiles = {"": start, **audited_profiles(start, goal)}
    with tempfile.TemporaryDirectory(prefix="orchbench-audit-") as scratch:
        borrowed = _borrow(root, manifest)
        (Path(scratch) / "plan_cache").symlink_to((root / "plan_cache").absolute())
        with workers(jobs, is_worth_it=is_worth_workers(manifest)) as pool:
            wanted = list(profiles.values())
            coverage = find_open_groups(Path(scratch), borrowed, wanted)
            scored = score(Path(scratch), borrowed, wanted, coverage, pool=pool)
        with connect(Path(scratch), scored, view="leaderboard") as connection:
            boards = frame_of(connection.sql("select * from main.leaderboard"))
    names = pl.DataFrame(
        {
            "profile": [p.name for p in profiles.values()],
            "rule": list(profiles),
            "rule_order": range(len(profiles)),
            "rule_from": [str(getattr(start, rule, start.name)) for rule in profiles],
            "rule_to": [str(getattr(goal, rule, goal.name)) for rule in profiles],
        }
    )
    boards = boards.join(names, on="profile")
    before = boards.filter(pl.col("rule") == "").select(
        "model", "experiment", *HEADLINE, "rank_number"
    )
    return (
        boards.filter(pl.col("rule") != "")
        .join(before, on=["model", "experiment"], suffix="_before")
        .sort("rule_order", "rank_number_before", "model", "experiment")
        .select(
            "rule",
            "rule_from",
            "rule_to",
            "model",
            "experiment",
            *HEADLINE,
            *((pl.col(m) - pl.col(f"{m}_before")).alias(f"{m}_change") for m in HEADLINE),
            "rank_number",
            rank_change=pl.col("rank_number") - pl.col("rank_number_before"),
        )
    )


def _borrow(root: Path, manifest: Manifest) -> Manifest:
    """The manifest with its parts where they are and no scores, for scoring elsewhere."""
    base = root.absolute()
    return msgspec.structs.replace(
        manifest,
        sources=str(base / manifest.sources) if manifest.sources else None,
        tool_parameters=str(base / manifest.tool_parameters) if manifest.tool_parameters else None,
        model_tags=None,
        gathered=None,
        parts=[
            msgspec.structs.replace(part, directory=str(base / part.directory))
            for part in manifest.parts
        ],
        prepared=[
            msgspec.structs.replace(group, directory=str(base / group.directory))
            for group in manifest.prepared
        ],
        profiles={},
        scores=[],
    )

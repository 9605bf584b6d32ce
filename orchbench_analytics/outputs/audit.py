"""The audit: what each rule in which we differ from the public evaluator does to the scores."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics.engines import Engine
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.profiles import SPEC, UPSTREAM, Profile, flip, rule_choices
from orchbench_analytics.score.group import score
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.views.catalog import connect, frame_of

ALL_RULES = "all rules"


def audited_profiles() -> dict[str, Profile]:
    """For each rule in which `upstream` and `spec` differ: `upstream` with the rule of `spec`."""
    differing = [r for r in rule_choices() if getattr(UPSTREAM, r) != getattr(SPEC, r)]
    flipped = {rule: flip(UPSTREAM, rule, SPEC) for rule in differing}
    return flipped | {ALL_RULES: replace(SPEC, name="upstream+all")}


def audit(root: Path, manifest: Manifest, engine: Engine) -> pl.DataFrame:
    """What each rule does to each model's key metrics and rank, and all of them together.

    One row per rule, model and experiment: each metric after the change, and by how much it moved.
    """
    profiles = {"": UPSTREAM, **audited_profiles()}
    with tempfile.TemporaryDirectory(prefix="orchbench-audit-") as scratch:
        unscored = msgspec.structs.replace(manifest, scores=[], profiles={})
        wanted = list(profiles.values())
        scored = score(root, unscored, wanted, engine, output=Path(scratch))
        with connect(root, scored_in(Path(scratch), scored), only=["leaderboard"]) as connection:
            boards = frame_of(connection.sql("select * from main.leaderboard"))
    rules = pl.DataFrame(
        {
            "profile": [p.name for p in profiles.values()],
            "rule": list(profiles),
            "rule_order": range(len(profiles)),
            "rule_from": [str(getattr(UPSTREAM, rule, "upstream")) for rule in profiles],
            "rule_to": [str(getattr(SPEC, rule, "spec")) for rule in profiles],
        }
    )
    boards = boards.join(rules, on="profile")
    before = boards.filter(rule="").select("model", "experiment", *HEADLINE, "rank_number")
    return (
        boards.filter(pl.col("rule") != "")
        .join(before, on=["model", "experiment"], suffix="_before")
        .sort("rule_order", "rank_number_before", "model", "experiment")
        .select(
            "rule",
            "model",
            *((pl.col(m) - pl.col(f"{m}_before")).alias(f"{m}_change") for m in HEADLINE),
            (pl.col("rank_number") - pl.col("rank_number_before")).alias("rank_change"),
            *HEADLINE,
            "rank_number",
            "rule_from",
            "rule_to",
            "experiment",
            "profile",
        )
    )


def scored_in(directory: Path, manifest: Manifest) -> Manifest:
    """The manifest with its scores in another directory than the warehouse."""
    scores = [
        msgspec.structs.replace(group, directory=str(directory / group.directory))
        for group in manifest.scores
    ]
    return msgspec.structs.replace(manifest, scores=scores)

"""Scores that a profile shares with others: same parts, same rules of steps or of plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import Profile, plan_rules_of, profile_of, step_rules_of
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.score.unscored import Coverage
from orchbench_analytics.store.manifest import Manifest, ScoreGroup
from orchbench_analytics.store.parquet import scan_files
from orchbench_analytics.store.paths import parquet_name
from orchbench_analytics.store.verify import is_damaged

_Rules = Callable[[Profile], dict[str, str | float]]


class Shared(NamedTuple):
    """The groups whose scores a profile's own would repeat, apart from the profile's name."""

    steps: ScoreGroup | None
    plans: ScoreGroup | None


def find_shared(
    root: Path, manifest: Manifest, coverage: Coverage
) -> Iterator[dict[Profile, Shared]]:
    """For each open group, what each profile that it lacks shares with scores that hold."""
    by_parts: dict[tuple[str, ...], list[ScoreGroup]] = {}
    for scored in coverage.scores:
        by_parts.setdefault(tuple(scored.part_ids), []).append(scored)
    for group in coverage.open_groups:
        same_parts = by_parts.get(tuple(sorted(part.part_id for part in group.parts)), [])
        others = [
            (other, profile_of(manifest.profiles[other.profile]))
            for other in same_parts
            if not is_damaged(root, other, read=True)
        ]
        yield {profile: _shared(profile, others) for profile in group.group_ids}


def _shared(profile: Profile, others: Sequence[tuple[ScoreGroup, Profile]]) -> Shared:
    def like(rules: _Rules) -> ScoreGroup | None:
        alike = (group for group, other in others if rules(other) == rules(profile))
        return next(alike, None)

    return Shared(like(step_rules_of), like(plan_rules_of))


def read_shared(
    root: Path, group: ScoreGroup, tables: Sequence[Table], profile: Profile
) -> list[pl.DataFrame]:
    """The tables of another profile's scores, under the name of this one."""
    frames = []
    for table in tables:
        file = root / group.directory / parquet_name(table.name)
        files = [file] if group.row_counts.get(table.name) else []
        rows = scan_files(files, polars_schema(table)).collect(engine="in-memory")
        frames.append(rows.with_columns(profile=pl.lit(profile.name)))
    return frames

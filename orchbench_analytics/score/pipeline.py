"""Scoring a warehouse from Parquet alone: one task scores a group of parts and writes its scores.

`score_group` is a function that an engine may run anywhere: a task names files or carries plain
values, and what is large is written to files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from orchbench_analytics.engines.engine import Engine
from orchbench_analytics.profiles import Profile, plan_rules_of, rules_of, step_rules_of
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.score.plans.stages import prepare_plans, score_plans
from orchbench_analytics.score.reported import reported_scores
from orchbench_analytics.score.scenarios import sum_up
from orchbench_analytics.score.steps.stages import prepare_steps, score_steps
from orchbench_analytics.score.unscored import OpenGroup, find_unscored, row_count
from orchbench_analytics.store.directories import write_directory
from orchbench_analytics.store.fingerprint import columns_id
from orchbench_analytics.store.manifest import Manifest, ScoreGroup, table_files
from orchbench_analytics.store.parquet import Frame, scan_files
from orchbench_analytics.tables import (
    JUDGEMENTS,
    PLANS,
    REPORTED_SCENARIOS,
    SCENARIOS,
    SCORED_ARGUMENTS,
    SCORED_TABLES,
    STEPS,
    TOOL_PARAMETERS,
)

_FEW_ROWS = 5_000


class GroupTask(NamedTuple):
    """A group to score, where its parts lie, and where its scores go."""

    group: OpenGroup
    root: Path
    output: Path
    tool_parameters: list[Path]

    def read(self, table: Table) -> pl.DataFrame:
        """The rows of a table in the group's parts; of judgements, all that concern them."""
        parts = self.group.judging_parts if table is JUDGEMENTS else self.group.parts
        directories = (part.directory for part in parts if part.row_counts.get(table.name))
        return _read([self.root / name / f"{table.name}.parquet" for name in directories], table)


def score(
    root: Path,
    manifest: Manifest,
    profiles: Sequence[Profile],
    engine: Engine,
    *,
    output: Path | None = None,
) -> Manifest:
    """The manifest with everything scored; scores go to `output`, or else to `root`."""
    coverage = find_unscored(root, manifest, profiles)
    tool_parameters = table_files(root, manifest, TOOL_PARAMETERS.name)
    tasks = [
        GroupTask(group, root, output or root, tool_parameters) for group in coverage.open_groups
    ]
    is_small = sum(row_count(group.parts) for group in coverage.open_groups) < _FEW_ROWS
    scored = list(engine.run(score_group, tasks, is_small=is_small))
    scores = [*coverage.scores, *(group for groups in scored for group in groups)]
    return msgspec.structs.replace(
        manifest,
        generation=manifest.generation + 1,
        profiles=manifest.profiles | {profile.name: rules_of(profile) for profile in profiles},
        scores=sorted(scores, key=lambda group: (group.profile, group.group_id)),
    )


def score_group(task: GroupTask) -> list[ScoreGroup]:
    """Score the steps and plans of a group under each profile it lacks, sum up, and write."""
    profiles = [p for p in task.group.group_ids if p.scored_from == "answers"]
    groups = [_write_reported(task, p) for p in task.group.group_ids if p not in profiles]
    if not profiles:
        return groups
    scenarios = task.read(SCENARIOS)
    steps = prepare_steps(
        task.read(STEPS), task.read(JUDGEMENTS), _read(task.tool_parameters, TOOL_PARAMETERS)
    )
    plans = prepare_plans(task.read(PLANS), profiles)
    step_scores = _by_profile(profiles, step_rules_of, partial(score_steps, steps))
    plan_scores = _by_profile(profiles, plan_rules_of, partial(score_plans, plans))
    for profile, of_steps, of_plans in zip(profiles, step_scores, plan_scores, strict=True):
        summed = sum_up(scenarios, of_steps[0], of_plans[0], profile)
        groups.append(_write_scores(task, profile, [*of_steps, *of_plans, summed]))
    return groups


def _write_reported(task: GroupTask, profile: Profile) -> ScoreGroup:
    no_rows = [pl.DataFrame(schema=polars_schema(table)) for table in SCORED_TABLES[:-1]]
    summed = reported_scores(task.read(REPORTED_SCENARIOS))
    return _write_scores(task, profile, [*no_rows, summed])


def _by_profile(
    profiles: Sequence[Profile],
    rules: Callable[[Profile], dict[str, str | float]],
    score_under: Callable[[Profile], Sequence[pl.DataFrame]],
) -> Iterator[list[pl.DataFrame]]:
    """The scores under each profile; those that agree on the rules share all but the name."""
    keys = [tuple(rules(profile).items()) for profile in profiles]
    left = Counter(keys)
    kept: dict[tuple[Any, ...], Sequence[pl.DataFrame]] = {}
    for profile, key in zip(profiles, keys, strict=True):
        frames = kept.pop(key, None) or score_under(profile)
        left[key] -= 1
        if left[key]:
            kept[key] = frames
        yield [frame.with_columns(profile=pl.lit(profile.name)) for frame in frames]


def _write_scores(task: GroupTask, profile: Profile, frames: Sequence[pl.DataFrame]) -> ScoreGroup:
    group_id = task.group.group_ids[profile]
    scored = dict(zip(SCORED_TABLES, frames, strict=True))
    tables = ((t.name, Frame(frame, t)) for t, frame in scored.items() if len(frame))
    directory = f"scores/{group_id}"
    return ScoreGroup(
        directory=directory,
        row_counts=write_directory(task.output, directory, tables),
        columns_id=columns_id(SCORED_TABLES),
        group_id=group_id,
        profile=profile.name,
        part_ids=sorted(part.part_id for part in task.group.parts),
        unchecked_pattern_count=int(scored[SCORED_ARGUMENTS]["is_pattern_unchecked"].sum()),
    )


def _read(files: list[Path], table: Table) -> pl.DataFrame:
    return scan_files(files, polars_schema(table)).collect(engine="in-memory")

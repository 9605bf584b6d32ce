"""Scoring a warehouse from Parquet alone: draw plans, measure distinct pairs, score each group.

Each of the three is a function over tasks that an engine may run anywhere: a task names files or
carries plain values, and what is large is written to files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec
import polars as pl

from orchbench_analytics.engines.engine import Engine
from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.score.plans.stages import (
    PlanWork,
    measure_graphs,
    prepare_plans,
    score_plans,
)
from orchbench_analytics.score.shared import Shared, find_shared, read_shared
from orchbench_analytics.score.steps.stages import prepare_steps, score_steps
from orchbench_analytics.score.unscored import OpenGroup, find_unscored, row_count
from orchbench_analytics.store.directories import write_directory
from orchbench_analytics.store.manifest import Manifest, ScoreGroup, table_files
from orchbench_analytics.store.parquet import Frame, scan_files, write_whole
from orchbench_analytics.tables import (
    JUDGEMENTS,
    PLAN_SCORES,
    PLANS,
    SCORED_ARGUMENTS,
    SCORED_TABLES,
    STEP_SCORES,
    STEPS,
    TOOL_PARAMETERS,
)

_MEASURED = "measured.parquet"
_FEW_ROWS = 5_000


class GroupTask(NamedTuple):
    """A group to score, where its parts lie, where its scores go, and room for what is between."""

    group: OpenGroup
    shared: dict[Profile, Shared]
    root: Path
    output: Path
    scratch: Path
    tool_parameters: list[Path]

    @property
    def profiles_to_draw(self) -> list[Profile]:
        """The profiles whose plans no other profile has scored."""
        return [profile for profile, shared in self.shared.items() if shared.plans is None]

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
    output = output or root
    scratch = output / "staging" / uuid4().hex
    tool_parameters = table_files(root, manifest, "tool_parameters")
    tasks = [
        GroupTask(group, shared, root, output, scratch / str(number), tool_parameters)
        for number, (group, shared) in enumerate(
            zip(coverage.open_groups, find_shared(root, manifest, coverage), strict=True)
        )
    ]
    is_small = sum(row_count(group.parts) for group in coverage.open_groups) < _FEW_ROWS
    try:
        to_draw = [task for task in tasks if task.profiles_to_draw]
        drawn = list(engine.run(draw_group, to_draw, is_small=is_small))
        engine.run_distinct(measure_graphs, drawn, _MEASURED, is_small=is_small)
        scored = list(engine.run(score_group, tasks, is_small=is_small))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    scores = [*coverage.scores, *(group for groups in scored for group in groups)]
    return msgspec.structs.replace(
        manifest,
        generation=manifest.generation + 1,
        profiles=manifest.profiles | {profile.name: rules_of(profile) for profile in profiles},
        scores=sorted(scores, key=lambda group: (group.profile, group.group_id)),
    )


def draw_group(task: GroupTask) -> Path:
    """Draw the plans of a group; returns the file of its distinct pairs of graphs."""
    prepared = prepare_plans(task.read(PLANS), task.profiles_to_draw)
    for name in ("plans", "texts", "pairs"):
        write_whole(getattr(prepared, name), task.scratch / f"{name}.parquet")
    return task.scratch / "pairs.parquet"


def score_group(task: GroupTask) -> list[ScoreGroup]:
    """Score a group under each profile it lacks; what the profiles share is done once."""
    scores = zip(task.group.group_ids, _step_scores(task), _plan_scores(task), strict=True)
    return [_write_scores(task, profile, (*steps, *plans)) for profile, steps, plans in scores]


def _step_scores(task: GroupTask) -> Iterator[Sequence[pl.DataFrame]]:
    """The scores of steps under each profile: shared with another, or made from common work."""
    prepared = None
    for profile, shared in task.shared.items():
        if shared.steps is not None:
            yield read_shared(task.root, shared.steps, STEP_SCORES, profile)
            continue
        prepared = prepared or prepare_steps(
            task.read(STEPS), task.read(JUDGEMENTS), _read(task.tool_parameters, TOOL_PARAMETERS)
        )
        yield score_steps(prepared, profile)


def _plan_scores(task: GroupTask) -> Iterator[Sequence[pl.DataFrame]]:
    """The scores of plans under each profile: shared with another, or merged from distances."""
    measured = None
    for profile, shared in task.shared.items():
        if shared.plans is not None:
            yield read_shared(task.root, shared.plans, PLAN_SCORES, profile)
            continue
        measured = measured or _measured_plans(task)
        yield score_plans(measured, profile)


def _measured_plans(task: GroupTask) -> PlanWork:
    """The plans of a group as they were drawn and measured; without pairs there is no such file."""
    plans, texts = (_scratch(task.scratch / f"{name}.parquet") for name in ("plans", "texts"))
    file = task.scratch / _MEASURED
    measured = _scratch(file) if file.exists() else measure_graphs(pl.DataFrame())
    return PlanWork(plans, texts=texts, measured=measured)


def _write_scores(task: GroupTask, profile: Profile, frames: Sequence[pl.DataFrame]) -> ScoreGroup:
    group_id = task.group.group_ids[profile]
    scored = dict(zip(SCORED_TABLES, frames, strict=True))
    tables = ((t.name, Frame(frame, t)) for t, frame in scored.items() if len(frame))
    directory = f"scores/{group_id}"
    return ScoreGroup(
        directory=directory,
        row_counts=write_directory(task.output, directory, tables),
        group_id=group_id,
        profile=profile.name,
        part_ids=sorted(part.part_id for part in task.group.parts),
        unchecked_pattern_count=int(scored[SCORED_ARGUMENTS]["is_pattern_unchecked"].sum()),
    )


def _read(files: list[Path], table: Table) -> pl.DataFrame:
    return scan_files(files, polars_schema(table)).collect(engine="in-memory")


def _scratch(file: Path) -> pl.DataFrame:
    return scan_files([file]).collect(engine="in-memory")

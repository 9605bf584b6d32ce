"""Scoring a warehouse from Parquet alone: what is still to score, and one task a group of parts.

`score_group` is a function that an engine may run anywhere: a task names files or carries plain
values, and what is large is written to files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from orchbench_analytics.engines.local import Engine
from orchbench_analytics.metrics import LABEL_FIGURES, SCENARIO_FIGURES
from orchbench_analytics.profiles import REPORTED, Profile, plan_rules_of, rules_of, step_rules_of
from orchbench_analytics.queries import macros, scenario_scores_query
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.score.plans.score import prepare_plans, score_plans
from orchbench_analytics.score.steps.score import prepare_steps, score_steps
from orchbench_analytics.store.directories import read_notes, write_directory
from orchbench_analytics.store.files import code_fingerprint, columns_id, name_of
from orchbench_analytics.store.manifest import (
    Manifest,
    Part,
    ScoreGroup,
    bring_tables,
    table_files,
)
from orchbench_analytics.store.parquet import Frame, scan_files
from orchbench_analytics.tables import (
    JUDGEMENTS,
    PLANS,
    RAW_TABLES,
    REPORTED_SCENARIOS,
    SCENARIO_KEY,
    SCENARIO_SCORES,
    SCENARIOS,
    SCORED_ARGUMENTS,
    SCORED_TABLES,
    STEPS,
    TOOL_PARAMETERS,
)
from orchbench_analytics.views.catalog import silent_duckdb

_CODE = ("score", "profiles.py", "tables", "texts.py")
_LIBRARIES = ("networkx", "pyyaml")  # what they return is part of a score
_GROUP_ROWS = 20_000
_FEW_ROWS = 5_000
_NOT_SCORED = ("question",)  # a long text that many steps share, which no rule looks at
_KEY = [column.name for column in SCENARIO_KEY]
_FIGURES = SCENARIO_FIGURES | {name: name for name in LABEL_FIGURES}
_OPTIONAL = ("type_mismatch_count", "failed_generation_count")  # older files lack them
_SCORES = [column for column in SCENARIO_FIGURES.values() if not column.endswith("_count")]
_COUNTS = [c for c in SCENARIO_FIGURES.values() if c not in (*_SCORES, *_OPTIONAL)]


class OpenGroup(NamedTuple):
    """Parts to be scored together, and for each profile they lack the id of the scores to come.

    Judge logs may lie in parts other than those of their runs: they may have come later.
    """

    parts: list[Part]
    judging_parts: list[Part]
    group_ids: dict[Profile, str]


class Coverage(NamedTuple):
    """The scores that still hold, and the groups that are yet to be scored."""

    scores: list[ScoreGroup]
    open_groups: list[OpenGroup]


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
    """The manifest with everything scored; the same one if nothing is left to do.

    Scores go to `output`, or else to `root`: then the caller holds the lock, and scores are taken
    over that were finished by a command that was killed or overtaken by another writer.
    """
    coverage = find_unscored(root, manifest, profiles, adopt=output is None)
    if _is_scored(manifest, profiles, coverage):
        return manifest
    tool_parameters = table_files(root, manifest, TOOL_PARAMETERS.name)
    tasks = [
        GroupTask(group, root, output or root, tool_parameters) for group in coverage.open_groups
    ]
    parts = [p for group in coverage.open_groups for p in (*group.parts, *group.judging_parts)]
    bring_tables(root, parts, {table.name for table in RAW_TABLES})
    is_small = sum(_row_count(group.parts) for group in coverage.open_groups) < _FEW_ROWS
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
    steps = prepare_steps(
        task.read(STEPS), task.read(JUDGEMENTS), _read(task.tool_parameters, TOOL_PARAMETERS)
    )
    step_scores = _by_profile(profiles, step_rules_of, partial(score_steps, steps))
    del steps  # the scores do not refer to it
    plans = prepare_plans(task.read(PLANS), profiles)
    plan_scores = _by_profile(profiles, plan_rules_of, partial(score_plans, plans))
    del plans
    summed = sum_up(
        task.read(SCENARIOS),
        pl.concat(steps for steps, _ in step_scores),
        pl.concat(plans for plans, _, _ in plan_scores),
        profiles,
    )
    for profile, of_steps, of_plans in zip(profiles, step_scores, plan_scores, strict=True):
        frames = [*of_steps, *of_plans, summed.filter(profile=profile.name)]
        groups.append(_write_scores(task, profile, frames))
    return groups


def sum_up(
    scenarios: pl.DataFrame,
    scored_steps: pl.DataFrame,
    scored_plans: pl.DataFrame,
    profiles: Sequence[Profile],
) -> pl.DataFrame:
    """A row of `scenario_scores` for each profile and scenario file, from its steps and plans."""
    rules = [{**rules_of(profile), "profile": profile.name} for profile in profiles]
    tables = {
        "profiles": pl.DataFrame(rules),
        "scenarios": scenarios,
        "scored_steps": scored_steps,
        "scored_plans": scored_plans,
    }
    # One thread: other tasks of the engine have the other cores.
    with silent_duckdb(threads=1) as connection:
        for statements in macros():
            connection.execute(statements)
        for name, rows in tables.items():
            # With polars' own texts, which DuckDB reads as they are: others would be a copy of all.
            shared = rows.to_arrow(compat_level=pl.CompatLevel.newest())
            connection.register(f"{name}_rows", shared)
            connection.execute(f"create view main.{name} as from {name}_rows")
        summed: pl.DataFrame = connection.sql(scenario_scores_query()).pl()
    types = polars_schema(SCENARIO_SCORES)
    return summed.select(pl.col(name).cast(dtype) for name, dtype in types.items()).sort(_KEY)


def reported_scores(figures: pl.DataFrame) -> pl.DataFrame:
    """A row of `scenario_scores` for each scenario with all figures of the seed's format.

    What a result file does not say, such as how many answers were left out, is null. The evaluator
    has a number for every score. Documents that we write leave undefined ones out; they are known
    by their counts of labels.
    """
    known = figures.filter(pl.col("figure").is_in(list(_FIGURES)))
    if known.is_empty():
        return pl.DataFrame(schema=polars_schema(SCENARIO_SCORES))
    wide = known.pivot("figure", index=_KEY, values="value", aggregate_function="first")
    given = {ours: seed for seed, ours in _FIGURES.items() if seed in wide.columns}
    rows = wide.select(*_KEY, *(pl.col(seed).alias(ours) for ours, seed in given.items()))
    types = polars_schema(SCENARIO_SCORES)
    absent = (pl.lit(None, types[name]).alias(name) for name in types if name not in rows.columns)
    plans = pl.col("plan_count")
    return (
        rows.with_columns(absent)
        .drop_nulls(_COUNTS)
        .filter(
            pl.all_horizontal(pl.col(_SCORES).is_not_null())
            | pl.all_horizontal(pl.col(list(LABEL_FIGURES)).is_not_null())
        )
        .with_columns(
            profile=pl.lit(REPORTED.name),
            call_label_count=pl.coalesce(
                "call_label_count",
                pl.col("true_positive_call_count") + pl.col("false_negative_call_count"),
            ),
            rejection_label_count=pl.coalesce(
                "rejection_label_count",
                pl.col("true_positive_reject_count") + pl.col("false_negative_reject_count"),
            ),
            call_scored_count=pl.col("true_negative_reject_count"),
            plan_with_failure_count=plans + pl.col("failed_plan_generation_count"),
            plan_without_failure_count=plans,
            plan_similarity_sum=plans * pl.col("read_plan_similarity").fill_null(0),
            structure_similarity_sum=plans * pl.col("structure_similarity").fill_null(0),
            component_similarity_sum=plans * pl.col("component_similarity").fill_null(0),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in types.items())
        .sort(_KEY)
    )


def _write_reported(task: GroupTask, profile: Profile) -> ScoreGroup:
    no_rows = [pl.DataFrame(schema=polars_schema(table)) for table in SCORED_TABLES[:-1]]
    summed = reported_scores(task.read(REPORTED_SCENARIOS))
    return _write_scores(task, profile, [*no_rows, summed])


def _by_profile(
    profiles: Sequence[Profile],
    rules: Callable[[Profile], dict[str, str | float]],
    score_under: Callable[[Profile], Sequence[pl.DataFrame]],
) -> list[list[pl.DataFrame]]:
    """The scores under each profile; those that agree on the rules share all but the name."""
    scored: dict[tuple[tuple[str, str | float], ...], Sequence[pl.DataFrame]] = {}
    found = []
    for profile in profiles:
        key = tuple(rules(profile).items())
        if key not in scored:
            scored[key] = score_under(profile)
        found.append([frame.with_columns(profile=pl.lit(profile.name)) for frame in scored[key]])
    return found


def _write_scores(task: GroupTask, profile: Profile, frames: Sequence[pl.DataFrame]) -> ScoreGroup:
    group_id = task.group.group_ids[profile]
    scored = dict(zip(SCORED_TABLES, frames, strict=True))
    tables = [(t.name, Frame(frame, t)) for t, frame in scored.items() if len(frame)]
    group = ScoreGroup(
        directory=f"scores/{group_id}",
        row_counts={name: len(table.rows) for name, table in tables},
        columns_id=columns_id(SCORED_TABLES),
        group_id=group_id,
        profile=profile.name,
        part_ids=sorted(part.part_id for part in task.group.parts),
        unchecked_pattern_count=int(scored[SCORED_ARGUMENTS]["is_pattern_unchecked"].sum()),
    )
    write_directory(task.output, group.directory, tables, note=msgspec.json.encode(group))
    return group


def _read(files: list[Path], table: Table) -> pl.DataFrame:
    rows = scan_files(files, table).select(pl.exclude(_NOT_SCORED))
    return rows.collect(engine="in-memory")


# What is still to score


def find_unscored(
    root: Path, manifest: Manifest, profiles: Sequence[Profile], *, adopt: bool = False
) -> Coverage:
    """What holds of the warehouse's scores, and what its parts lack.

    Scores hold while their parts are live and no judge log of theirs is new or gone, and rules,
    tool schemas and our own code are the same.

    adopt: take over scores that lie there and that the manifest does not name.
    """
    rules = manifest.profiles | {profile.name: rules_of(profile) for profile in profiles}
    made_by = (
        code_fingerprint(*_CODE, libraries=_LIBRARIES),
        scenario_scores_query(),
        macros(),
        _tool_schemas(root, manifest),
    )
    live = {part.part_id: part for part in manifest.parts}
    judging: dict[tuple[str, str, str], list[Part]] = {}
    for part in manifest.parts:
        if part.row_counts.get(JUDGEMENTS.name):
            judging.setdefault(_place(part), []).append(part)

    def judging_of(parts: Iterable[Part]) -> list[Part]:
        places = dict.fromkeys(map(_place, parts))
        return [judge for place in places for judge in judging.get(place, ())]

    def group_id(part_ids: Sequence[str], profile: str) -> str:
        judges = sorted(part.part_id for part in judging_of(live[name] for name in part_ids))
        return name_of(sorted(part_ids), judges, sorted(rules[profile].items()), *made_by)

    scores, scored = list[ScoreGroup](), set[tuple[str, str]]()
    for group in (*manifest.scores, *(_finished(root, manifest) if adopt else ())):
        covered = {(group.profile, part_id) for part_id in group.part_ids}
        if (
            group.profile in rules
            and live.keys() >= set(group.part_ids)
            and group.group_id == group_id(group.part_ids, group.profile)
            and scored.isdisjoint(covered)
        ):
            scores.append(group)
            scored |= covered
    # Parts that were scored together are so again: other profiles may share those scores.
    together = {part_id: tuple(group.part_ids) for group in scores for part_id in group.part_ids}
    by_lack: dict[tuple[tuple[Profile, ...], tuple[str, ...]], list[Part]] = {}
    for part in manifest.parts:
        lacking = tuple(p for p in profiles if (p.name, part.part_id) not in scored)
        if lacking:
            by_lack.setdefault((lacking, together.get(part.part_id, ())), []).append(part)
    open_groups = [
        OpenGroup(
            parts,
            judging_of(parts),
            {p: group_id([part.part_id for part in parts], p.name) for p in lacking},
        )
        for (lacking, _), open_parts in by_lack.items()
        for parts in _of_bounded_size(open_parts)
    ]
    return Coverage(scores, open_groups)


def _is_scored(manifest: Manifest, profiles: Sequence[Profile], coverage: Coverage) -> bool:
    """Whether every part has its scores under the profiles, and no others are left from before."""
    is_known = all(manifest.profiles.get(p.name) == rules_of(p) for p in profiles)
    return is_known and not coverage.open_groups and coverage.scores == manifest.scores


def _row_count(parts: Sequence[Part]) -> int:
    """How many steps and plans some parts have."""
    return sum(part.row_counts.get(table.name, 0) for part in parts for table in (STEPS, PLANS))


def _finished(root: Path, manifest: Manifest) -> Iterator[ScoreGroup]:
    """Scores that lie in the warehouse, whole, and that the manifest does not name."""
    live = {group.directory for group in manifest.scores}
    for directory, group in read_notes(root, "scores", ScoreGroup, without=live):
        if group.directory == directory:
            yield group


def _place(part: Part) -> tuple[str, str, str]:
    return part.model, part.experiment, part.language


def _of_bounded_size(parts: list[Part]) -> Iterator[list[Part]]:
    group: list[Part] = []
    for part in parts:
        if group and _row_count([*group, part]) > _GROUP_ROWS:
            yield group
            group = []
        group.append(part)
    yield group


def _tool_schemas(root: Path, manifest: Manifest) -> str:
    digest = hashlib.sha256()
    for file in table_files(root, manifest, "tool_parameters"):
        digest.update(file.read_bytes())
    return digest.hexdigest()

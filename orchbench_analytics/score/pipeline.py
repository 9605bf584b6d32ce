"""Scoring a warehouse: groups of parts, under each profile, from Parquet alone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics import parquet, store
from orchbench_analytics.pool import core_count, rare_collections
from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.score.groups import SCORING_VERSION, Coverage, OpenGroup
from orchbench_analytics.score.plan_cache import PlanCache
from orchbench_analytics.score.plan_pairs import Pair, pair_id_of, plan_rules
from orchbench_analytics.score.plans import score_plans
from orchbench_analytics.score.steps import prepare_steps, score_steps
from orchbench_analytics.store import Manifest, ScoreGroup
from orchbench_analytics.tables import (
    JUDGEMENTS,
    PLANS,
    SCORED_TABLES,
    STEPS,
    TOOL_PARAMETERS,
    Table,
    polars_schema,
)


def score(
    root: Path,
    manifest: Manifest,
    profiles: Sequence[Profile],
    coverage: Coverage,
    *,
    pool: Executor | None,
) -> Manifest:
    """The manifest with everything scored that its coverage says is not."""
    tool_parameters = _read(TOOL_PARAMETERS, store.table_files(root, manifest, "tool_parameters"))
    scores = list(coverage.kept)
    with rare_collections():
        for group in coverage.open_groups:
            scores += _score_group(root, group, tool_parameters, pool)
    return msgspec.structs.replace(
        manifest,
        generation=manifest.generation + 1,
        profiles=manifest.profiles | {profile.name: rules_of(profile) for profile in profiles},
        scores=sorted(scores, key=lambda group: (group.profile, group.group_id)),
    )


def _score_group(
    root: Path, group: OpenGroup, tool_parameters: pl.DataFrame, pool: Executor | None
) -> list[ScoreGroup]:
    """Score some parts under each profile they lack; what the profiles share is done once."""
    steps, judgements, plans = (
        _read(
            table,
            [
                root / p.directory / f"{table.name}.parquet"
                for p in group.parts
                if table.name in p.row_counts
            ],
        )
        for table in (STEPS, JUDGEMENTS, PLANS)
    )
    plans, pairs = _with_pair_ids(plans)
    cache = PlanCache(root, SCORING_VERSION)
    rules = {profile: plan_rules(profile) for profile in group.group_ids}
    started = cache.start(pairs, sorted(set(rules.values())), pool)
    prepared = prepare_steps(steps, judgements, tool_parameters)
    step_scores = {profile: score_steps(prepared, profile) for profile in rules}
    compared = {r: cache.finish(started, pairs, r) for r in sorted(set(rules.values()))}

    def write(profile: Profile) -> ScoreGroup:
        plan_scores = score_plans(plans, compared[rules[profile]], profile)
        return _write(root, group, profile, [*step_scores[profile], *plan_scores])

    with ThreadPoolExecutor(core_count()) as threads:  # writing Parquet leaves Python's lock alone
        return list(threads.map(write, rules))


def _write(
    root: Path, group: OpenGroup, profile: Profile, frames: Sequence[pl.DataFrame]
) -> ScoreGroup:
    group_id = group.group_ids[profile]
    directory = f"scores/profile={store.path_safe(profile.name)}/{group_id}"
    tables = {
        table.name: parquet.from_polars(frame, table)
        for table, frame in zip(SCORED_TABLES, frames, strict=True)
        if len(frame)
    }
    store.write_directory(root, directory, tables)
    return ScoreGroup(
        directory=directory,
        row_counts={name: len(table) for name, table in tables.items()},
        group_id=group_id,
        profile=profile.name,
        part_ids=sorted(part.part_id for part in group.parts),
    )


def _with_pair_ids(plans: pl.DataFrame) -> tuple[pl.DataFrame, list[Pair]]:
    """Plans with the id of their pair of texts, and each distinct pair."""
    texts = plans.select("label_content", "answer_content").unique(maintain_order=True)
    ids = [pair_id_of(*pair) for pair in texts.iter_rows()]
    named = texts.with_columns(pair_id=pl.Series(ids, dtype=pl.String))
    joined = plans.join(
        named,
        on=["label_content", "answer_content"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return joined, list(named.select("pair_id", "label_content", "answer_content").iter_rows())


def _read(table: Table, files: list[Path]) -> pl.DataFrame:
    schema = polars_schema(table)
    return pl.read_parquet(files, schema=schema) if files else pl.DataFrame(schema=schema)

"""Scoring a warehouse: groups of parts, under each profile, from Parquet alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics.engines.local import core_count, rare_collections
from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.score.groups import SCORING_VERSION, Coverage, OpenGroup
from orchbench_analytics.score.plan_cache import PlanCache
from orchbench_analytics.score.plans.pairs import plan_rules
from orchbench_analytics.score.plans.totals import prepare_plans, score_plans
from orchbench_analytics.score.prepared import PreparedGroup, load_prepared, save_prepared
from orchbench_analytics.score.steps.totals import PreparedSteps, prepare_steps, score_steps
from orchbench_analytics.store import directories
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store.manifest import Manifest, Prepared, ScoreGroup
from orchbench_analytics.store.parquet import Frame, scan_files
from orchbench_analytics.tables import JUDGEMENTS, PLANS, SCORED_TABLES, STEPS, TOOL_PARAMETERS


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
    scores, prepared = list(coverage.scores), list(coverage.prepared)
    with rare_collections():
        for group in coverage.open_groups:
            new_scores, new_prepared = _score_group(root, group, tool_parameters, pool)
            scores += new_scores
            prepared += new_prepared
    return msgspec.structs.replace(
        manifest,
        generation=manifest.generation + 1,
        profiles=manifest.profiles | {profile.name: rules_of(profile) for profile in profiles},
        scores=sorted(scores, key=lambda group: (group.profile, group.group_id)),
        prepared=sorted(prepared, key=lambda group: group.prepared_id),
    )


def _score_group(
    root: Path, group: OpenGroup, tool_parameters: pl.DataFrame, pool: Executor | None
) -> tuple[list[ScoreGroup], list[Prepared]]:
    """Score some parts under each profile they lack; what the profiles share is done once."""
    known = load_prepared(root, group.prepared)
    plans, pairs = (known.plans, None) if known else prepare_plans(_read_parts(root, group, PLANS))
    ids = plans["pair_id"].unique()
    rules = {profile: plan_rules(profile) for profile in group.group_ids}
    all_rules = sorted(set(rules.values()))
    cache = PlanCache(root, SCORING_VERSION)
    started = cache.start(
        ids, all_rules, lambda: pairs or prepare_plans(_read_parts(root, group, PLANS)).pairs, pool
    )
    # Writing Parquet leaves Python's lock alone, so threads write while there is more to score.
    with ThreadPoolExecutor(core_count() + len(all_rules) + 1) as threads:
        compared = {r: threads.submit(cache.finish, started, ids, r) for r in all_rules}
        prepared = known or PreparedGroup(plans, _prepare_steps(root, group, tool_parameters))
        saving = [] if known else [threads.submit(save_prepared, root, group, prepared)]
        writing = []
        for profile in rules:
            scored = _scored(prepared, profile, compared[rules[profile]])
            writing.append(threads.submit(_write, root, group, profile, scored))
        return [future.result() for future in writing], [future.result() for future in saving]


def _scored(
    prepared: PreparedGroup, profile: Profile, compared: Future[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """The rows of each scored table in turn: those of steps are there before those of plans."""
    yield from score_steps(prepared.steps, profile)
    yield from score_plans(prepared.plans, compared.result(), profile)


def _prepare_steps(root: Path, group: OpenGroup, tool_parameters: pl.DataFrame) -> PreparedSteps:
    steps, judgements = (_read_parts(root, group, table) for table in (STEPS, JUDGEMENTS))
    return prepare_steps(steps, judgements, tool_parameters)


def _write(
    root: Path, group: OpenGroup, profile: Profile, scored: Iterable[pl.DataFrame]
) -> ScoreGroup:
    group_id = group.group_ids[profile]
    directory = f"scores/{group_id}"
    tables = (
        (table.name, Frame(frame, table))
        for table, frame in zip(SCORED_TABLES, scored, strict=True)
        if len(frame)
    )
    return ScoreGroup(
        directory=directory,
        row_counts=directories.write_directory(root, directory, tables),
        group_id=group_id,
        profile=profile.name,
        part_ids=sorted(part.part_id for part in group.parts),
    )


def _read_parts(root: Path, group: OpenGroup, table: Table) -> pl.DataFrame:
    parts = (part for part in group.parts if table.name in part.row_counts)
    return _read(table, [root / part.directory / f"{table.name}.parquet" for part in parts])


def _read(table: Table, files: list[Path]) -> pl.DataFrame:
    return scan_files(files, polars_schema(table)).collect(engine="in-memory")

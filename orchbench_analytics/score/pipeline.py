"""Scoring a warehouse: groups of parts, under each profile, from Parquet alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics import store
from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.score.plan_cache import PlanCache
from orchbench_analytics.score.plan_pairs import Pair, pair_id_of, plan_rules
from orchbench_analytics.score.plans import score_plans
from orchbench_analytics.score.steps import prepare_steps, score_steps
from orchbench_analytics.store import Manifest, Part, ScoreGroup
from orchbench_analytics.tables import (
    JUDGEMENTS,
    PLANS,
    SCORED_TABLES,
    STEPS,
    TOOL_PARAMETERS,
    Table,
    arrow_schema,
    polars_schema,
)

SCORING_VERSION = 1  # a change of any score's meaning raises it, and everything is scored anew
_GROUP_ROWS = 80_000


def score(
    root: Path, manifest: Manifest, profiles: Sequence[Profile], *, pool: Executor | None
) -> Manifest:
    """The manifest with scores of every part under each profile; what is scored already stays."""
    rules = {profile.name: rules_of(profile) for profile in profiles}
    schemas = _file_hash(root, manifest.tool_parameters)
    live = {part.part_id for part in manifest.parts}
    kept = [
        group
        for group in manifest.scores
        if live.issuperset(group.part_ids)
        and group.group_id
        == _group_id(
            group.part_ids, rules.get(group.profile) or manifest.profiles[group.profile], schemas
        )
    ]
    tool_parameters = _read(TOOL_PARAMETERS, store.table_files(root, manifest, "tool_parameters"))
    new: list[ScoreGroup] = []
    for parts, open_profiles in _open_groups(manifest.parts, kept, profiles):
        part_ids = sorted(part.part_id for part in parts)
        names = {p.name: _group_id(part_ids, rules[p.name], schemas) for p in open_profiles}
        new += _score_group(root, parts, open_profiles, names, tool_parameters, pool)
    if not new and len(kept) == len(manifest.scores) and rules.items() <= manifest.profiles.items():
        return manifest
    return msgspec.structs.replace(
        manifest,
        generation=manifest.generation + 1,
        profiles=manifest.profiles | rules,
        scores=sorted([*kept, *new], key=lambda group: (group.profile, group.group_id)),
    )


def _open_groups(
    parts: Sequence[Part], kept: Sequence[ScoreGroup], profiles: Sequence[Profile]
) -> Iterator[tuple[list[Part], list[Profile]]]:
    """Parts that lack scores, in groups of bounded size, with the profiles they lack."""
    scored = {(group.profile, part_id) for group in kept for part_id in group.part_ids}
    by_lack: dict[tuple[str, ...], list[Part]] = {}
    for part in parts:
        lacking = tuple(p.name for p in profiles if (p.name, part.part_id) not in scored)
        if lacking:
            by_lack.setdefault(lacking, []).append(part)
    for lacking, open_parts in by_lack.items():
        group: list[Part] = []
        rows = 0
        for part in open_parts:
            size = sum(part.row_counts.get(table.name, 0) for table in (STEPS, PLANS))
            if group and rows + size > _GROUP_ROWS:
                yield group, [p for p in profiles if p.name in lacking]
                group, rows = [], 0
            group.append(part)
            rows += size
        yield group, [p for p in profiles if p.name in lacking]


def _score_group(
    root: Path,
    parts: list[Part],
    profiles: list[Profile],
    names: dict[str, str],
    tool_parameters: pl.DataFrame,
    pool: Executor | None,
) -> list[ScoreGroup]:
    """Score some parts under each profile; what the profiles share is done once."""
    steps, judgements, plans = (
        _read(
            table,
            [
                root / p.directory / f"{table.name}.parquet"
                for p in parts
                if table.name in p.row_counts
            ],
        )
        for table in (STEPS, JUDGEMENTS, PLANS)
    )
    plans, pairs = _with_pair_ids(plans)
    cache = PlanCache(root, SCORING_VERSION)
    rules = {profile.name: plan_rules(profile) for profile in profiles}
    started = cache.start(pairs, sorted(set(rules.values())), pool)
    prepared = prepare_steps(steps, judgements, tool_parameters)
    scored = {profile.name: score_steps(prepared, profile) for profile in profiles}
    compared = {r: cache.finish(started, pairs, r) for r in sorted(set(rules.values()))}
    groups = []
    for profile in profiles:
        plan_scores = score_plans(plans, compared[rules[profile.name]], profile)
        rows = (*scored.pop(profile.name), *plan_scores)
        directory = f"scores/profile={store.path_safe(profile.name)}/{names[profile.name]}"
        tables = {
            table.name: store.check_nulls(frame.to_arrow().cast(arrow_schema(table)), table)
            for table, frame in zip(SCORED_TABLES, rows, strict=True)
            if len(frame)
        }
        store.write_directory(root, directory, tables)
        groups.append(
            ScoreGroup(
                directory=directory,
                row_counts={name: len(table) for name, table in tables.items()},
                group_id=names[profile.name],
                profile=profile.name,
                part_ids=sorted(part.part_id for part in parts),
            )
        )
    return groups


def _with_pair_ids(plans: pl.DataFrame) -> tuple[pl.DataFrame, list[Pair]]:
    """Plans with the id of their pair of texts, and each distinct pair."""
    texts = plans.select("label_content", "answer_content").unique(maintain_order=True)
    ids = [pair_id_of(*pair) for pair in texts.iter_rows()]
    named = texts.with_columns(pair_id=pl.Series(ids, dtype=pl.String))
    joined = plans.join(named, on=["label_content", "answer_content"], how="left", nulls_equal=True)
    return joined, list(named.select("pair_id", "label_content", "answer_content").iter_rows())


def _read(table: Table, files: list[Path]) -> pl.DataFrame:
    schema = polars_schema(table)
    return pl.read_parquet(files, schema=schema) if files else pl.DataFrame(schema=schema)


def _group_id(part_ids: Sequence[str], rules: dict[str, str | float], schemas: str) -> str:
    content = repr((SCORING_VERSION, sorted(part_ids), sorted(rules.items()), schemas))
    return hashlib.sha256(content.encode()).hexdigest()[:20]


def _file_hash(root: Path, name: str | None) -> str:
    return hashlib.sha256((root / name).read_bytes()).hexdigest() if name else ""

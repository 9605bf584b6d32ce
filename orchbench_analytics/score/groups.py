"""Which parts lack scores under which profiles; imports nothing heavy, as often none do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store.manifest import Manifest, Part, Prepared, ScoreGroup
from orchbench_analytics.tables import PLANS, STEPS

# Raised when scores mean something else, or share something else: everything is scored anew.
SCORING_VERSION = 3
_GROUP_ROWS = 80_000
_FEW_PLANS = 2_000


class OpenGroup(NamedTuple):
    """Parts to be scored together, and for each profile they lack the id of the scores to come.

    `prepared` is what their scores share, if that was kept when they were scored before.
    """

    parts: list[Part]
    group_ids: dict[Profile, str]
    prepared_id: str
    prepared: Prepared | None


class Coverage(NamedTuple):
    """What still holds of scores and of what they share, and what is yet to be scored."""

    scores: list[ScoreGroup]
    prepared: list[Prepared]
    open_groups: list[OpenGroup]


def is_worth_workers(manifest: Manifest) -> bool:
    """Whether the warehouse has so many plans that comparing them is worth worker processes."""
    return store.row_count(manifest, PLANS.name) > _FEW_PLANS


def find_open_groups(root: Path, manifest: Manifest, profiles: Sequence[Profile]) -> Coverage:
    """What holds of the warehouse's scores, and what parts lack.

    Scores hold while their parts are live and neither rules nor tool schemas have changed.
    """
    rules = manifest.profiles | {profile.name: rules_of(profile) for profile in profiles}
    schemas = _tool_schemas_hash(root, manifest)
    live = {part.part_id for part in manifest.parts}
    scores = [
        group
        for group in manifest.scores
        if live.issuperset(group.part_ids)
        and group.group_id == _group_id(group.part_ids, schemas, rules[group.profile])
    ]
    prepared = [
        group
        for group in manifest.prepared
        if live.issuperset(group.part_ids)
        and group.prepared_id == _group_id(group.part_ids, schemas)
    ]
    scored = {(group.profile, part_id) for group in scores for part_id in group.part_ids}
    homes = {part_id: group.prepared_id for group in prepared for part_id in group.part_ids}
    by_lack: dict[tuple[tuple[Profile, ...], str | None], list[Part]] = {}
    for part in manifest.parts:
        lacking = tuple(p for p in profiles if (p.name, part.part_id) not in scored)
        if lacking:  # what was prepared together is scored together again
            by_lack.setdefault((lacking, homes.get(part.part_id)), []).append(part)
    known = {group.prepared_id: group for group in prepared}
    open_groups = []
    for (lacking, _), open_parts in by_lack.items():
        for parts in _of_bounded_size(open_parts):
            ids = [part.part_id for part in parts]
            group_ids = {p: _group_id(ids, schemas, rules[p.name]) for p in lacking}
            prepared_id = _group_id(ids, schemas)
            open_groups.append(OpenGroup(parts, group_ids, prepared_id, known.get(prepared_id)))
    return Coverage(scores, prepared, open_groups)


def _of_bounded_size(parts: list[Part]) -> Iterator[list[Part]]:
    group: list[Part] = []
    rows = 0
    for part in parts:
        size = sum(part.row_counts.get(table.name, 0) for table in (STEPS, PLANS))
        if group and rows + size > _GROUP_ROWS:
            yield group
            group, rows = [], 0
        group.append(part)
        rows += size
    yield group


def _group_id(
    part_ids: Sequence[str], schemas: str, rules: dict[str, str | float] | None = None
) -> str:
    """A name for scores of parts under some rules, or for what these share under any."""
    ruled = sorted(rules.items()) if rules is not None else None
    content = repr((SCORING_VERSION, sorted(part_ids), ruled, schemas))
    return hashlib.sha256(content.encode()).hexdigest()[:20]


def _tool_schemas_hash(root: Path, manifest: Manifest) -> str:
    digest = hashlib.sha256()
    for file in store.table_files(root, manifest, "tool_parameters"):
        digest.update(file.read_bytes())
    return digest.hexdigest()

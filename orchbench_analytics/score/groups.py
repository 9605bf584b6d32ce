"""Which parts lack scores under which profiles; imports nothing heavy, as often none do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics import store
from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.store import Manifest, Part, ScoreGroup
from orchbench_analytics.tables import PLANS, STEPS

SCORING_VERSION = 1  # a change of any score's meaning raises it, and everything is scored anew
_GROUP_ROWS = 80_000


class OpenGroup(NamedTuple):
    """Parts to be scored together, and for each profile they lack the id of the scores to come."""

    parts: list[Part]
    group_ids: dict[Profile, str]


class Coverage(NamedTuple):
    """The scores that still hold, and what is yet to be scored."""

    kept: list[ScoreGroup]
    open_groups: list[OpenGroup]


def find_open_groups(root: Path, manifest: Manifest, profiles: Sequence[Profile]) -> Coverage:
    """What holds of the warehouse's scores, and what parts lack.

    Scores hold while their parts are live and neither rules nor tool schemas have changed.
    """
    rules = manifest.profiles | {profile.name: rules_of(profile) for profile in profiles}
    schemas = _tool_schemas_hash(root, manifest)
    live = {part.part_id for part in manifest.parts}
    kept = [
        group
        for group in manifest.scores
        if live.issuperset(group.part_ids)
        and group.group_id == _group_id(group.part_ids, rules[group.profile], schemas)
    ]
    scored = {(group.profile, part_id) for group in kept for part_id in group.part_ids}
    by_lack: dict[tuple[Profile, ...], list[Part]] = {}
    for part in manifest.parts:
        lacking = tuple(p for p in profiles if (p.name, part.part_id) not in scored)
        if lacking:
            by_lack.setdefault(lacking, []).append(part)
    open_groups = [
        OpenGroup(
            parts,
            {p: _group_id([x.part_id for x in parts], rules[p.name], schemas) for p in lacking},
        )
        for lacking, open_parts in by_lack.items()
        for parts in _of_bounded_size(open_parts)
    ]
    return Coverage(kept, open_groups)


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


def _group_id(part_ids: Sequence[str], rules: dict[str, str | float], schemas: str) -> str:
    content = repr((SCORING_VERSION, sorted(part_ids), sorted(rules.items()), schemas))
    return hashlib.sha256(content.encode()).hexdigest()[:20]


def _tool_schemas_hash(root: Path, manifest: Manifest) -> str:
    digest = hashlib.sha256()
    for file in store.table_files(root, manifest, "tool_parameters"):
        digest.update(file.read_bytes())
    return digest.hexdigest()

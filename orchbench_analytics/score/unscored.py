"""What is still to score: parts that lack scores under some profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.queries import macros, scenario_scores_query
from orchbench_analytics.store.directories import read_notes
from orchbench_analytics.store.files import code_fingerprint, name_of
from orchbench_analytics.store.manifest import Manifest, Part, ScoreGroup, table_files
from orchbench_analytics.tables import JUDGEMENTS, PLANS, STEPS

_CODE = ("score", "profiles.py", "tables", "texts.py")
_LIBRARIES = ("networkx", "pyyaml")  # what they return is part of a score
_GROUP_ROWS = 20_000


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


def find_unscored(
    root: Path, manifest: Manifest, profiles: Sequence[Profile], *, adopt: bool = False
) -> Coverage:
    """What holds of the warehouse's scores, and what its parts lack.

    Scores hold while their parts are live and no judge log of theirs is new or gone, and rules,
    tool schemas and our own code are the same.

    adopt: take over scores that were finished by a command that was killed or overtaken by another
        writer; the caller holds the lock.
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


def is_scored(manifest: Manifest, profiles: Sequence[Profile], coverage: Coverage) -> bool:
    """Whether every part has its scores under the profiles, and no others are left from before."""
    is_known = all(manifest.profiles.get(p.name) == rules_of(p) for p in profiles)
    return is_known and not coverage.open_groups and coverage.scores == manifest.scores


def row_count(parts: Sequence[Part]) -> int:
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
        if group and row_count([*group, part]) > _GROUP_ROWS:
            yield group
            group = []
        group.append(part)
    yield group


def _tool_schemas(root: Path, manifest: Manifest) -> str:
    digest = hashlib.sha256()
    for file in table_files(root, manifest, "tool_parameters"):
        digest.update(file.read_bytes())
    return digest.hexdigest()

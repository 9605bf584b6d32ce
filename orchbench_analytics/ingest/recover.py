"""Damaged parts: their input files count as changed, so that an ingest reads them again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from orchbench_analytics.ingest.find import InputFile, stat_file
from orchbench_analytics.ingest.plan import State
from orchbench_analytics.ingest.sources import Source
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.stamps import fault_of
from orchbench_analytics.store.verify import damaged_parts


def read_damaged_again(
    state: State,
    manifest: Manifest,
    found: dict[str, InputFile],
    *,
    verify: bool,
    prune: bool,
) -> Manifest:
    """Give up damaged parts whose input files are still there, and a damaged table of tools.

    Files outside the paths given are found where they were. A part stays as it is if one of its
    files is gone, unless files that are gone are to be forgotten.
    """
    for part_id in damaged_parts(state.root, manifest, verify=verify):
        of_part = [source for source in state.before.values() if source.part_id == part_id]
        if _are_there(of_part, state, found, prune=prune):
            del state.parts[part_id]
            _forget_reading(state, of_part)
    cards = [s for s in state.before.values() if s.kind == "agent_card" and s.status == "taken"]
    if _is_damaged(state.root, manifest, manifest.tool_parameters) and _are_there(
        cards, state, found, prune=prune
    ):
        _forget_reading(state, cards)
        return msgspec.structs.replace(manifest, tool_parameters=None, tool_parameter_count=0)
    return manifest


def _are_there(
    sources: list[Source], state: State, found: dict[str, InputFile], *, prune: bool
) -> bool:
    """Find the files of some sources, or forget those that are gone."""
    others = {s.path: _find_again(s) for s in sources if s.path not in found}
    gone = [path for path, file in others.items() if file.reason is not None]
    if gone and not prune:
        return False
    for path in gone:
        del others[path], state.sources[path]
    found.update(others)
    return True


def _find_again(source: Source) -> InputFile:
    return stat_file(source.path)._replace(
        kind=source.kind,
        model=source.model,
        client_model=source.client_model,
        experiment=source.experiment,
        language=source.language,
        scenario=source.scenario,
        run=source.run,
    )


def _forget_reading(state: State, sources: list[Source]) -> None:
    """Keep where files belong, but neither their content nor where their rows are."""
    for source in sources:
        unread = source._replace(content_hash=None, file_stamp=None, part_id=None)
        state.before[source.path] = unread
        if source.path in state.sources:
            state.sources[source.path] = unread
    given_up = {source.path for source in sources}
    state.held[:] = [source for source in state.held if source.path not in given_up]


def _is_damaged(root: Path, manifest: Manifest, name: str | None) -> bool:
    stamp = manifest.single_files.get(name or "")
    return stamp is not None and fault_of(root / str(name), stamp, read=True) is not None

"""Which file speaks for a scenario, a run's judge or a result, where several are about the same."""

from __future__ import annotations

from collections.abc import Iterable

from orchbench_analytics.ingest.find import Found, Key
from orchbench_analytics.ingest.plan import State
from orchbench_analytics.ingest.sources import is_elsewhere, refused_as_duplicate, source_of

Claims = dict[Key, list[Found]]


def line_up(state: State, found: dict[str, Found]) -> Claims:
    """The files about the same, in the order in which they are asked, by what they are about.

    First comes the one that was taken before, then they come by path. Where that one was not
    found now but is still there, none of them is asked.
    """
    owners = {s.key: s.path for s in state.before.values() if s.has_rows}
    claims: Claims = {}
    for file in found.values():
        if file.reason is None and file.kind != "agent_card":
            claims.setdefault(file.key, []).append(file)
    for key, line in list(claims.items()):
        owner = owners.get(key)
        line.sort(key=lambda file: (file.path != owner, file.path))
        if owner is not None and owner not in found and is_elsewhere(owner, line):
            _refuse(state, claims.pop(key), owner)
    return claims


def next_to_read(state: State, claims: Claims) -> list[Found]:
    """The first of each line that must be read to go on; lines that are through are closed."""
    to_read = []
    for key, line in list(claims.items()):
        while line and line[0].path in state.settled and not state.sources[line[0].path].has_rows:
            line.pop(0)
        if line and line[0].path not in state.settled:
            to_read.append(line[0])
            continue
        _refuse(state, line[1:], line[0].path if line else "")
        del claims[key]
    return to_read


def _refuse(state: State, files: Iterable[Found], owner: str) -> None:
    for file in files:
        state.sources[file.path] = refused_as_duplicate(source_of(file), owner)
        state.settled.add(file.path)

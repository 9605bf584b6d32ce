"""Agent cards: the tool schemas that say which values a judge may be asked about."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from orchbench_analytics.ingest.decode import (
    AgentCard,
    Problem,
    UnreadableDocument,
    decode,
    decompress,
    read_bytes,
    unreadable_parts,
)
from orchbench_analytics.ingest.sources import (
    InputFile,
    Source,
    is_elsewhere,
    is_same_file,
    noted,
    refused,
    refused_as_duplicate,
    source_of,
)
from orchbench_analytics.store.directories import read_rows
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TOOL_PARAMETERS
from orchbench_analytics.texts import text_of

CardRow = tuple[Any, ...]


class Card(NamedTuple):
    """A card's row of `sources`, and its rows of `tool_parameters` but for their order."""

    source: Source
    rows: list[CardRow]

    @property
    def agent(self) -> tuple[str | None, str | None]:
        """Whose card it is: of several for one agent, one is taken."""
        return self.source.language, self.source.agent_id


def update_cards(
    root: Path,
    manifest: Manifest,
    before: dict[str, Source],
    sources: dict[str, Source],
    files: list[InputFile],
) -> list[CardRow]:
    """Bring the cards' rows of `sources` up to date; return all rows of `tool_parameters`.

    Cards are few and small: when one of them is new, changed or gone, all are read again.
    """
    known = _known_cards(root, manifest, before)
    is_same = all(f.path in sources and is_same_file(sources[f.path], f) for f in files)
    if is_same and all(_is_taken_card(sources.get(path)) for path in known):
        return [row for card in known.values() for row in card.rows]
    found = {file.path: read_card(file) for file in files}
    others = [c for p, c in known.items() if p not in found and _is_taken_card(sources.get(p))]
    in_line = sorted(  # who was there first is taken, then the first by path, then who is gone
        [*found.values(), *others],
        key=lambda card: (
            card.source.path not in found and not is_elsewhere(card.source.path, files),
            card.source.path not in known,
            card.source.path,
        ),
    )
    taken: dict[tuple[str | None, str | None], Card] = {}
    for card in in_line:
        path = card.source.path
        sources[path] = card.source
        if card.source.status == "taken" and taken.setdefault(card.agent, card) is not card:
            sources[path] = refused_as_duplicate(card.source, taken[card.agent].source.path)
            if path not in found:
                del sources[path]
    by_path = sorted(taken.values(), key=lambda card: card.source)
    return [(*row[:-1], order) for order, card in enumerate(by_path) for row in card.rows]


def read_card(file: InputFile) -> Card:
    """One card, taken or refused."""
    source = source_of(file)
    try:
        data = read_bytes(file.path)
        source = source._replace(content_hash=hashlib.sha256(data).hexdigest())
        card, problem = decode(decompress(data, file.path), AgentCard)
        source = source._replace(agent_id=_agent_id(card))
    except UnreadableDocument as error:
        return Card(refused(source, error.problem), [])
    rows, unreadable = tool_parameters(card)
    key = (file.language, source.agent_id)
    source = noted(source, problem or unreadable_parts(unreadable))
    return Card(source, [(*key, *row, 0) for row in rows])


def tool_parameters(card: AgentCard) -> tuple[list[CardRow], list[str]]:
    """(tool, key, type, has enum, pattern) of all parameters, and paths of what is none."""
    rows: list[CardRow] = []
    unreadable = []
    for index, tool in enumerate(card.tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            unreadable.append(f"$.tools[{index}]")
            continue
        parameters = tool.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        for key, schema in properties.items() if isinstance(properties, dict) else ():
            if isinstance(schema, dict):
                rows.append((name, key, *_limits(schema)))
            else:
                unreadable.append(f"$.tools[{index}].parameters.properties.{key}")
    return rows, unreadable


def _limits(schema: dict[str, Any]) -> tuple[str | None, bool, str | None]:
    type_, items, pattern = schema.get("type"), schema.get("items"), schema.get("pattern")
    if isinstance(type_, list):
        type_ = type_[0] if type_ else None
    has_enum = "enum" in schema or (isinstance(items, dict) and "enum" in items)
    return (
        text_of(type_) if type_ else None,  # "" is not a type, and 5 is one of unknown name
        has_enum,
        pattern if isinstance(pattern, str) else None,
    )


def _agent_id(card: AgentCard) -> str:
    for name in ("agent_id", "name"):
        value = card.agent_card.get(name)
        if isinstance(value, str) and value:
            return value
    raise UnreadableDocument(Problem("wrong_type", "the card names no agent", "$.agent_card"))


def _known_cards(root: Path, manifest: Manifest, before: dict[str, Source]) -> dict[str, Card]:
    """The cards taken before, by path, each with its rows of `tool_parameters`."""
    known = {s.path: Card(s, []) for s in before.values() if _is_taken_card(s)}
    by_agent = {card.agent: card for card in known.values()}
    for row in read_rows(root, manifest, TOOL_PARAMETERS) if known else ():
        by_agent[row[:2]].rows.append(row)
    return known


def _is_taken_card(source: Source | None) -> bool:
    return source is not None and source.kind == "agent_card" and source.status == "taken"

"""Agent cards: the tool schemas that say which values a judge may be asked about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from orchbench_analytics import read
from orchbench_analytics.discover import Found
from orchbench_analytics.documents import AgentCard
from orchbench_analytics.flatten import flatten_agent_card
from orchbench_analytics.sources import Source, refused, source_of
from orchbench_analytics.store import Manifest

CardRow = tuple[Any, ...]


def read_cards(files: Iterable[Found]) -> tuple[list[CardRow], list[Source]]:
    """Rows of `tool_parameters` from cards, in the order given, and their rows of `sources`."""
    rows: list[CardRow] = []
    sources = []
    for order, file in enumerate(files):
        try:
            data = read.decompress(read.read_bytes(file.path), file.path)
            card, repair = read.decode(data, AgentCard)
        except read.UnreadableDocument as trouble:
            sources.append(refused(source_of(file), trouble))
            continue
        sources.append(source_of(file)._replace(reason=repair))
        language = file.language or "unknown"
        rows += [(*row, order) for row in flatten_agent_card(language, card)]
    return rows, sources


def merge_cards(root: Path, manifest: Manifest, rows: list[CardRow]) -> list[CardRow]:
    """The warehouse's rows of `tool_parameters`, with those of agents that come anew replaced."""
    if manifest.tool_parameters is None:
        return rows
    import pyarrow.parquet as pq

    known = pq.ParquetFile(root / manifest.tool_parameters).read().to_pydict()
    new_agents = {row[:2] for row in rows}
    kept = [row for row in zip(*known.values(), strict=True) if row[:2] not in new_agents]
    return sorted(kept + rows, key=lambda row: (row[0], row[-1]))

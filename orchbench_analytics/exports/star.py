"""The star schema of `sql/star`: dimensions, facts and texts, with integer keys that stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.store.manifest import Manifest


def star_relations(
    connection: duckdb.DuckDBPyConnection, root: Path, manifest: Manifest, names: Sequence[str]
) -> list[Relation]:
    """All relations of the star, or the named ones."""
    raise NotImplementedError


def star_documents() -> dict[str, str]:
    """The files that go out with a star, by name."""
    return {}

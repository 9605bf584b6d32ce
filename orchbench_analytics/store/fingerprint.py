"""Names for what was computed, made from all it was computed by: inputs, rules and code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from orchbench_analytics.schema import Table

_PACKAGE = "orchbench_analytics"


@cache
def code_fingerprint(*rooms: str, libraries: tuple[str, ...] = ()) -> str:
    """A name for the code of some rooms: it changes with every line of theirs.

    libraries: those whose results are part of what the rooms compute; their versions count too.
    """
    digest = hashlib.sha256()
    for library in libraries:
        digest.update(f"{library} {version(library)}\n".encode())
    for room in rooms:
        for source in _sources(files(_PACKAGE) / room):
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def name_of(*content: object) -> str:
    """A short name for some content: the same content always has the same name."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:20]


def columns_id(tables: Iterable[Table]) -> str:
    """A name for the columns that tables declare: names, kinds and which may be null."""
    return name_of([(t.name, [(c.name, c.kind, c.nullable) for c in t.columns]) for t in tables])


def _sources(place: Traversable) -> list[Traversable]:
    if place.is_file():
        return [place]
    found = []
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _sources(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found

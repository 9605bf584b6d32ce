"""Names below a warehouse, and why none of them leads outside.

    DIR/manifest.json                             what is in the warehouse; replaced atomically
    DIR/sources/<generation>.parquet              every input file and what became of it
    DIR/tool_parameters/<generation>.parquet      tool schemas from agent cards
    DIR/expected_scenarios/<generation>.parquet   what the whole sweep has, if that was said
    DIR/model_tags/<generation>.parquet           what is known of models beside their names
    DIR/parts/<part>/<table>.parquet
    DIR/gathered/<parts>/<table>.parquet          small tables of all parts in one file each
    DIR/scores/<group>/<table>.parquet
    DIR/staging/…                                 directories before they are complete
    DIR/lock, DIR/writer                          who writes the warehouse, one at a time
    DIR/unfinished                                there while an ingest runs, or after it was killed

No model, language or profile names a directory: they stand in the files alone, so whatever a
model or a directory above the warehouse is called, the figures are the same.
"""

from __future__ import annotations

import re

from orchbench_analytics.errors import WarehouseError

MANIFEST = "manifest.json"
LOCK = "lock"
WRITER = "writer"
UNFINISHED = "unfinished"
STAGING = "staging"
STAMPS = "files.json"
NOTE = "part.json"
# What these directories hold is there because a manifest names it.
KEPT = (
    "parts",
    "scores",
    "sources",
    "tool_parameters",
    "expected_scenarios",
    "model_tags",
    "gathered",
)

_OUR_NAMES = {MANIFEST, LOCK, WRITER, UNFINISHED, STAGING, *KEPT}
_PLAIN_NAME = r"\w[\w-]*(?:\.\w+)*"
_PLAIN_PATH = re.compile(f"{_PLAIN_NAME}(?:/{_PLAIN_NAME})*", re.ASCII)


def is_ours(name: str) -> bool:
    """Whether an entry of a directory may belong to a warehouse."""
    return name in _OUR_NAMES or name.startswith(f"{MANIFEST}.")


def parquet_name(table: str) -> str:
    """The file of a table in its directory."""
    return f"{table}.parquet"


def require_inside(name: str) -> None:
    """Refuse a name that could lead out of the warehouse on any system.

    Each step of a path must be a plain name, which leaves no room for `..`, a drive or a root.
    """
    if _PLAIN_PATH.fullmatch(name) is None:
        raise WarehouseError(
            f"the manifest names {name!r}, which is not a path inside the warehouse; "
            "the manifest was changed by something else: ingest anew into another directory"
        )

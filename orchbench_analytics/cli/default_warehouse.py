"""The warehouse for calls that do not name one."""

from __future__ import annotations

import os
from pathlib import Path

from orchbench_analytics.errors import PathError

VARIABLE = "ORCHBENCH_WAREHOUSE"
FILE = "orchbench.toml"
HOW_TO_NAME_IT = f'name the warehouse, or set {VARIABLE}, or write warehouse = "DIR" into ./{FILE}'
_LARGEST_FILE = 64 * 1024


def default_warehouse() -> Path | None:
    """The warehouse that the environment or a file in this directory names."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    file = Path(FILE)
    return _named_in(file) if file.is_file() else None


def _named_in(file: Path) -> Path:
    import tomllib

    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise PathError(f"./{file} is larger than {_LARGEST_FILE:,} bytes")
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PathError(f"./{file} cannot be read: {error}") from error
    named = content.get("warehouse")
    if not isinstance(named, str) or not named:
        raise PathError(f'./{file}: expected a line such as warehouse = "DIR"')
    return Path(named)

"""Tags: what is known of models beside their names, from a CSV or TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl

from orchbench_analytics.errors import PathError

_KEY = ("model", "experiment")
_LARGEST_FILE = 16 * 2**20


def read_tags(path: Path) -> pl.DataFrame:
    """Tags by model, and by experiment where the file names one; types are those of the values.

    CSV has a column `model`, may have `experiment`, and any others. TOML has a table for each
    model: `["org/model"]` with `size = 7`, or an array of tables `[[model]]` with `model = "…"`.
    """
    if not path.is_file():
        what = f"{path} is a directory" if path.is_dir() else f"no such file: {path}"
        raise PathError(f"{what}; expected a CSV or TOML file of tags")
    if path.stat().st_size > _LARGEST_FILE:
        raise PathError(f"{path} is larger than {_LARGEST_FILE:,} bytes: not a file of tags")
    try:
        frame = (
            _from_toml(path)
            if path.suffix == ".toml"
            else pl.read_csv(path, infer_schema_length=None, glob=False)
        )
    except (
        pl.exceptions.PolarsError,
        tomllib.TOMLDecodeError,
        UnicodeDecodeError,
        RecursionError,
        OSError,
    ) as error:
        kind = "TOML" if path.suffix == ".toml" else "CSV"
        said = str(error).partition("\n")[0]
        raise PathError(f"{path}: cannot be read as {kind}: {said}") from error
    if "model" not in frame.columns:
        raise PathError(f"{path}: expected a column `model`, got {', '.join(frame.columns)}")
    bad = [name for name in frame.columns if not name.isidentifier()]
    if bad:
        raise PathError(f"{path}: {bad[0]!r} cannot be a column's name; use letters, digits and _")
    _require_unlike(path, frame.columns)
    if "experiment" not in frame.columns:
        frame = frame.with_columns(experiment=pl.lit(None, dtype=pl.String))
    frame = frame.with_columns(pl.col(_KEY).cast(pl.String)).select(*_KEY, pl.exclude(_KEY))
    repeated = frame.filter(pl.struct(_KEY).is_duplicated())
    if len(repeated):
        raise PathError(f"{path}: {repeated['model'][0]} is there more than once")
    if frame["model"].has_nulls():
        raise PathError(f"{path}: a row has no model")
    return frame


def _require_unlike(path: Path, names: list[str]) -> None:
    """Refuse names that differ only in the case of letters, which SQL does not tell apart."""
    seen = {name.lower(): name for name in _KEY}
    for name in names:
        if seen.setdefault(name.lower(), name) != name:
            raise PathError(f"{path}: {name!r} and {seen[name.lower()]!r} are the same name in SQL")


def _from_toml(path: Path) -> pl.DataFrame:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    rows: list[dict[str, Any]]
    if isinstance(content.get("model"), list):
        rows = content["model"]
    else:
        rows = [{"model": name, **tags} for name, tags in content.items() if isinstance(tags, dict)]
    if not rows or any("model" not in row for row in rows):
        raise PathError(f'{path}: expected a table for each model, such as ["org/model"]')
    for row in rows:
        for name, value in row.items():
            if isinstance(value, dict | list):  # may nest deeper than polars can bear
                raise PathError(f"{path}: {name[:80]!r} is not a text, number or boolean")
    return pl.DataFrame(rows, infer_schema_length=None)

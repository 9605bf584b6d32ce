"""Lists of scenarios in files, as `shortlist` writes them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from orchbench_analytics.errors import PathError
from orchbench_analytics.outputs.write import FORMULA_STARTS

_KEY = ("language", "scenario")
_LARGEST_FILE = 16 * 2**20


def read_scenarios(path: Path) -> pl.DataFrame:
    """The columns language and scenario of a .csv, .json, .jsonl or .parquet file, as texts."""
    expected = "expected a list of scenarios as .csv, .json, .jsonl or .parquet"
    if not path.is_file():
        what = f"{path} is a directory" if path.is_dir() else f"no such file: {path}"
        raise PathError(f"{what}; {expected}")
    if path.suffix not in (".csv", ".json", ".jsonl", ".parquet"):
        raise PathError(f"{path}: {expected}")
    if path.stat().st_size > _LARGEST_FILE:
        raise PathError(f"{path} is larger than {_LARGEST_FILE:,} bytes: not a list of scenarios")
    try:
        rows = _read(path)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
        said = str(error).partition("\n")[0]
        raise PathError(f"{path}: cannot be read as {path.suffix[1:]}: {said}") from error
    missing = [name for name in _KEY if name not in rows.columns]
    if missing:
        raise PathError(
            f"{path}: expected the columns language and scenario, got {', '.join(rows.columns)}"
        )
    named = rows.select(pl.col(_KEY).cast(pl.String))
    if named.select(pl.any_horizontal(pl.all().null_count() > 0)).item():
        raise PathError(f"{path}: a row has no language or no scenario")
    return named


def _read(path: Path) -> pl.DataFrame:
    if path.suffix == ".parquet":
        return pl.read_parquet(path, glob=False)
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path)
    if path.suffix == ".json":
        return pl.read_json(path)
    # Types are not inferred: the scenario 007 is not the scenario 7.
    text = pl.col(pl.String)
    is_defused = text.str.head(2).is_in([f"'{start}" for start in FORMULA_STARTS])
    rows = pl.read_csv(path, infer_schema=False, glob=False)
    return rows.with_columns(
        pl.when(is_defused).then(text.str.slice(1)).otherwise(text).name.keep()
    )

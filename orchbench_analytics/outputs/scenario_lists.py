"""Lists of scenarios in files, as `shortlist` writes them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from orchbench_analytics.errors import PathError
from orchbench_analytics.outputs.write import FORMULA_STARTS
from orchbench_analytics.paths import require_small_file

_KEY = ("language", "scenario")


def read_scenarios(path: Path) -> pl.DataFrame:
    """The columns language and scenario of a .csv, .json, .jsonl or .parquet file, as texts."""
    expected = "a list of scenarios as .csv, .json, .jsonl or .parquet"
    require_small_file(path, expected=expected)
    if path.suffix not in (".csv", ".json", ".jsonl", ".parquet"):
        raise PathError(f"{path}: expected {expected}")
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

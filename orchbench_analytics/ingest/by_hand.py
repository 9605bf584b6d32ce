"""What people say of a sweep beside its result files: tags of models, and the scenarios it has."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest.layouts import is_for_cards, language_of, stem
from orchbench_analytics.paths import require_small_file
from orchbench_analytics.store.directories import read_rows, with_table
from orchbench_analytics.store.manifest import Manifest, is_damaged
from orchbench_analytics.store.parquet import to_arrow
from orchbench_analytics.tables import EXPECTED_SCENARIOS

_KEY = ("model", "experiment")
_MOST = 1_000_000
_SCENARIO_FILES = (".yaml", ".yml", ".json", ".json.gz", ".json.zst")
_SCENARIO_DIRECTORY = "scenario_data"  # the benchmark has its scenarios in data/<L>/scenario_data
Expected = list[tuple[str | None, str | None]]  # language and scenario; null where only counted


def read_tags(path: Path) -> pl.DataFrame:
    """Tags by model, and by experiment where the file names one; types are those of the values.

    CSV has a column `model`, may have `experiment`, and any others. TOML has a table for each
    model: `["org/model"]` with `size = 7`, or an array of tables `[[model]]` with `model = "…"`.
    """
    require_small_file(path, expected="a CSV or TOML file of tags")
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


def read_expected(given: int | str | Path, *, language: str | None = None) -> Expected:
    """The scenarios of the whole sweep: counted by a number, else by language and name.

    `language` is that of scenarios which do not say theirs. 0 forgets what was expected.
    """
    path = Path(str(given))
    if str(given).isdecimal():
        count = int(str(given))
        if count > _MOST:
            raise PathError(f"{count:,} scenarios expected; at most {_MOST:,} can be")
        return [(None, None)] * count
    if path.is_dir():
        named = _scenario_files(path.absolute())
    elif path.is_file():
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        named = [PurePosixPath(text) for line in lines if (text := line.split("#")[0].strip())]
    else:
        raise PathError(
            f"expected scenarios {str(given)!r}: neither a number, nor a file that lists scenarios "
            "such as EN/12, nor a directory of them"
        )
    found = sorted({_scenario_of(name, path, language) for name in named})
    if not found or len(found) > _MOST:
        raise PathError(f"{path}: {len(found):,} scenarios in it; expected 1 to {_MOST:,}")
    return [*found]


def with_expected(root: Path, manifest: Manifest, expected: Expected) -> Manifest:
    """The manifest with these scenarios expected; the same one if they were before."""
    written = manifest.tables.get(EXPECTED_SCENARIOS.name)
    is_whole = written is None or not is_damaged(root, written, read=True)
    if is_whole and read_rows(root, manifest, EXPECTED_SCENARIOS) == expected:
        return manifest
    rows = to_arrow(EXPECTED_SCENARIOS, expected)
    return with_table(root, manifest, EXPECTED_SCENARIOS.name, rows)


def _scenario_files(directory: Path) -> list[PurePosixPath]:
    """The scenario files below a directory; where it has any, only those in `scenario_data`."""
    files = [
        PurePosixPath(path)
        for path in directory.rglob("*")
        if path.name.endswith(_SCENARIO_FILES) and not is_for_cards(path.parts[:-1])
    ]
    own = [path for path in files if _SCENARIO_DIRECTORY in path.parts]
    return own or files


def _scenario_of(name: PurePosixPath, given: Path, language: str | None) -> tuple[str, str]:
    innermost_first = reversed(name.parts[:-1])
    said = next(filter(None, map(language_of, innermost_first)), language)
    if said is None:
        raise PathError(
            f"{given}: nothing says which language {str(name)!r} is in; write EN/{name.name}, "
            "or pass --language"
        )
    plain = stem(name.name).removesuffix(".yaml").removesuffix(".yml").removesuffix("_out")
    return said, plain

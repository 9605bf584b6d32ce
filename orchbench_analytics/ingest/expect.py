"""What the whole sweep has: so many scenarios, a list of them, or the benchmark's own files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest.layouts import is_for_cards, language_of, stem
from orchbench_analytics.store.directories import read_rows, with_table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.parquet import to_arrow
from orchbench_analytics.store.verify import is_damaged
from orchbench_analytics.tables import EXPECTED_SCENARIOS

_MOST = 1_000_000
_SCENARIO_FILES = (".yaml", ".yml", ".json", ".json.gz", ".json.zst")
_SCENARIO_DIRECTORY = "scenario_data"  # the benchmark has its scenarios in data/<L>/scenario_data

Expected = list[tuple[str | None, str | None]]  # language and scenario; null where only counted


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
    said = _innermost_language(name.parts[:-1]) or language
    if said is None:
        raise PathError(
            f"{given}: nothing says which language {str(name)!r} is in; write EN/{name.name}, "
            "or pass --language"
        )
    plain = stem(name.name).removesuffix(".yaml").removesuffix(".yml").removesuffix("_out")
    return said, plain


def _innermost_language(directories: Iterable[str]) -> str | None:
    return next(filter(None, map(language_of, reversed([*directories]))), None)

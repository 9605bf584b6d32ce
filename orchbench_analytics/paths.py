"""Paths as people type them: the one place that turns a text into a path of this machine.

And the small files that they name with these.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.errors import PathError

if TYPE_CHECKING:
    import polars as pl

# With two letters or more, since one letter before a colon is a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]")
_SLASHES = "/\\"
_BUCKETS = ("s3://", "gs://", "az://")
_LARGEST_FILE = 16 * 2**20


def is_address(given: str | Path) -> bool:
    """Whether a text is the address of a bucket, or of something in it."""
    return isinstance(given, str) and given.startswith(_BUCKETS)


def require_parent(path: Path) -> None:
    """Refuse a path in a directory that is not there: most likely it was mistyped."""
    if not path.parent.is_dir():
        raise PathError(f"{path} cannot be written: there is no directory {path.parent}")


def input_path(given: str | Path) -> str | Path:
    """What was typed for input files: the address of a bucket as it is, or a path."""
    return given if is_address(given) else local_path(given)


def local_path(given: str | Path) -> Path:
    """The path that was typed, with `~` expanded; an address is refused.

    Libraries disagree about `file:/wh` and `s3:/wh`: some read them as addresses, others as names.
    A directory of such a name can still be given, as `./file:/wh`.
    """
    text = str(given)
    if not text or "\0" in text:
        raise PathError(f"{text!r} is not a path")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = text.encode(errors="replace").decode()
        raise PathError(
            f"{shown}: the name is not UTF-8 text; rename it, or give a link to it"
        ) from error
    if _ADDRESS.match(text):
        scheme, _, rest = text.partition(":")
        meant = f"{scheme.lower()}://{rest.lstrip(_SLASHES)}"
        is_mistyped = is_address(meant) and meant != text
        said = "looks like an address, and only local paths can be used"
        said = f"is not an address; {meant} was probably meant" if is_mistyped else said
        raise PathError(f"{text} {said}; a file or directory of that name is ./{text}")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise PathError(
            f"{text}: the home directory is not known; a file or directory of that name is ./{text}"
        ) from error


def require_small_file(path: Path, *, expected: str) -> None:
    """Refuse what is not a file, or is larger than any that people write by hand."""
    if not path.is_file():
        what = f"{path} is a directory" if path.is_dir() else f"no such file: {path}"
        raise PathError(f"{what}; expected {expected}")
    if path.stat().st_size > _LARGEST_FILE:
        raise PathError(f"{path} is larger than {_LARGEST_FILE:,} bytes; expected {expected}")


def read_csv(path: Path, columns: tuple[str, ...], *, expected: str) -> pl.DataFrame:
    """These columns of a CSV file, as texts: the scenario 007 is not the scenario 7.

    expected: what the columns are, for the error if the file lacks one.
    """
    import polars as pl  # not every command needs it

    require_small_file(path, expected=f"a CSV file with {expected}")
    try:
        rows = pl.read_csv(path, infer_schema=False, glob=False)
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        said = str(error).partition("\n")[0]
        raise PathError(f"{path} cannot be read as CSV: {said}") from error
    if missing := [name for name in columns if name not in rows.columns]:
        raise PathError(f"{path} has no column {', '.join(missing)}; expected {expected}")
    return rows.select(columns)

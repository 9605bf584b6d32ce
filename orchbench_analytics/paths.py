"""Paths as people type them: the one place that turns a text into a path of this machine."""

from __future__ import annotations

import re
from pathlib import Path

from orchbench_analytics.errors import PathError

# With two letters or more, since one letter before a colon is a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]")
_SLASHES = "/\\"
_BUCKETS = ("s3://", "gs://", "az://")


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

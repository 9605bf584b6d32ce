"""Whether the files of a warehouse are what was written, by their sizes or by every byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import starmap
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

import msgspec

from orchbench_analytics.errors import OrchbenchError, StorageError, WarehouseError
from orchbench_analytics.store.files import fault_of
from orchbench_analytics.store.manifest import (
    Holder,
    Manifest,
    damage_error,
    load_manifest,
    named_files,
)
from orchbench_analytics.store.mirror import bucket_of, drop_damaged, find_faults
from orchbench_analytics.store.names import parquet_name

_READERS = ("polars", "duckdb", "_duckdb", "pyarrow", "msgspec")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Finding(NamedTuple):
    """A file of a warehouse, by its path below it, and what is wrong with it."""

    name: str
    fault: str


class HasPath(Protocol):
    """An object that stands for a warehouse."""

    path: Path


Owner = TypeVar("Owner", bound=HasPath)


def verify(root: Path, manifest: Manifest, *, read: bool = True) -> list[Finding]:
    """What is wrong with the files that a manifest names; by sizes alone if they are not read.

    In a bucket every byte is read.
    """
    if bucket_of(root) is not None:
        return list(starmap(Finding, find_faults(root, named_files(manifest)).items()))
    faults = (
        (name, "has no checksum" if stamp is None else fault_of(root / name, stamp, read=read))
        for name, stamp in named_files(manifest).items()
    )
    return [Finding(name, fault) for name, fault in faults if fault is not None]


def without_damaged_scores(root: Path, manifest: Manifest, *, verify: bool = False) -> Manifest:
    """The manifest without what can be made again from its parts; the same one if all is whole."""
    kept = msgspec.structs.replace(
        manifest,
        scores=[g for g in manifest.scores if not is_damaged(root, g, read=verify)],
        gathered=[g for g in manifest.gathered if not is_damaged(root, g, read=verify)],
    )
    return manifest if kept == manifest else kept


def is_damaged(root: Path, holder: Holder, *, read: bool) -> bool:
    """Whether a table of a directory is gone or damaged, by its size or (read) by every byte.

    Buckets do not lose objects, so what lies in one is trusted unless it is to be read; whoever
    fetches a file compares its hash.
    """
    files = {f"{holder.directory}/{parquet_name(t)}": s for t, s in holder.stamps.items()}
    if bucket_of(root) is not None:
        return read and bool(find_faults(root, files))
    return any(fault_of(root / n, stamp, read=read) is not None for n, stamp in files.items())


@contextmanager
def naming_damage(*roots: Path) -> Iterator[None]:
    """Turn an error of a library that reads files into ours, if a file is damaged.

    All other errors are left alone: to find damage may mean to read the whole warehouse.
    """
    try:
        yield
    except (OrchbenchError, BrokenPipeError):
        raise
    except Exception as error:  # each library has its own for a file it cannot read
        if isinstance(error, OSError) or type(error).__module__.startswith(_READERS):
            for root in roots:
                for finding in _findings(root):
                    raise damage_error(root, *finding) from error
        raise


def names_damage(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Let a method of a warehouse name the damaged file it failed at."""

    @wraps(method)
    def wrapper(owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with naming_damage(owner.path):
            return method(owner, *args, **kwargs)

    return wrapper


def _findings(root: Path) -> list[Finding]:
    """What is wrong with a warehouse, sizes first; nothing where there is none."""
    try:
        manifest = load_manifest(root)
        if bucket_of(root) is not None:
            dropped = drop_damaged(root, named_files(manifest))
            return [Finding(name, "was damaged in the cache; run this again") for name in dropped]
        return verify(root, manifest, read=False) or verify(root, manifest)
    except (WarehouseError, StorageError):
        return []

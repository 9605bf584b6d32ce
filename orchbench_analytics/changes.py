"""What changes a warehouse: one writer at a time, seen at once or not at all."""

from __future__ import annotations

import errno
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec
import polars as pl
from filelock import BaseFileLock, FileLock, Timeout

from orchbench_analytics.engines import Engine, require_reach
from orchbench_analytics.errors import PathError, SelectionError, WarehouseError
from orchbench_analytics.ingest.by_hand import Expected, read_tags, with_expected
from orchbench_analytics.ingest.settle import Settling
from orchbench_analytics.ingest.sources import Placement, load_sources, walk
from orchbench_analytics.ingest.trees import absolute, exists, list_trees
from orchbench_analytics.ingest.update import IngestSummary, Progress, update
from orchbench_analytics.outputs.terminal import printable
from orchbench_analytics.paths import is_address
from orchbench_analytics.profiles import BUILT_IN, REPORTED, Profile, updated_profile
from orchbench_analytics.score.group import score as scored
from orchbench_analytics.selection import Contender
from orchbench_analytics.store.bucket import Overtaken
from orchbench_analytics.store.directories import (
    clear_staging,
    collect_garbage,
    collect_objects,
    compact,
    mark_finished,
    mark_unfinished,
    with_table,
)
from orchbench_analytics.store.files import LOCK, WRITER
from orchbench_analytics.store.manifest import (
    Manifest,
    load_manifest,
    load_or_start,
    save_manifest,
    table_files,
    warehouse_around,
)
from orchbench_analytics.store.mirror import bucket_of
from orchbench_analytics.store.parquet import Frame
from orchbench_analytics.tables import REPORTED_SCENARIOS, SOURCES

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_PATIENCE_SECONDS = 600.0
# With long pauses, a writer with little to do would always win.
_LONGEST_PAUSE = 0.5


def ingest(
    root: Path,
    paths: Sequence[str | Path],
    engine: Engine,
    *,
    placement: Placement,
    agent_cards: Sequence[str | Path],
    expected: Expected | None,
    prune: bool,
    verify: bool,
    is_scoring: bool,
    wait: bool,
    progress: Progress | None,
    settling: Settling | None = None,
) -> IngestSummary:
    """Take in what is new or changed, score it, and commit all of it in one step."""
    given = [*paths, *agent_cards]
    list_trees(str(path) for path in given if is_address(path))
    for path in given:
        if not (exists(absolute(path)) if is_address(path) else Path(path).exists()):
            raise PathError(f"no such file or directory: {path}")
    summary = IngestSummary()
    started = load_or_start(root)  # a directory of other things is not even locked
    _require_apart(root, given)
    if started.generation == 0 and not _finds_anything(given):
        return summary

    def change(before: Manifest) -> Manifest:
        nonlocal summary
        was_killed = mark_unfinished(root)  # first of all: it says that what follows is ours
        clear_staging(root)
        require_reach(engine, root, [Path(path) for path in given if not is_address(path)])
        manifest, summary = update(
            root,
            before,
            paths,
            engine,
            placement=placement,
            agent_cards=agent_cards,
            prune=prune,
            verify=verify,
            was_killed=was_killed,
            settling=settling,
            progress=progress,
        )
        if expected is not None:
            manifest = with_expected(root, manifest, expected)
        if is_scoring:
            manifest = scored(root, manifest, _known_profiles(manifest), engine)
        manifest = compact(root, manifest)
        collect_garbage(root, before, manifest)
        return manifest

    with hold(root, wait=wait, on_wait=_say):
        _commit(root, change, load=load_or_start)
        mark_finished(root)
    return summary


def _commit(
    root: Path,
    change: Callable[[Manifest], Manifest],
    *,
    load: Callable[[Path], Manifest] = load_manifest,
) -> None:
    """Apply a change to the manifest of a warehouse; the caller holds the lock.

    In a bucket another writer may be faster; then the change is applied again, to the new manifest.
    Work that is already done is found there and reused, as after a kill.
    """
    overtaken = 0.0  # since when
    for attempt in count(1):
        before = load(root)
        after = change(before)
        try:
            if after is not before:
                collect_objects(root, save_manifest(root, after))
            return
        except Overtaken:
            if attempt == 1:  # what follows takes less, however long the work itself took
                overtaken = time.monotonic()
                _say(f"{root} was changed by another writer; continuing from its new state")
            if time.monotonic() - overtaken >= _PATIENCE_SECONDS:
                raise WarehouseError(
                    f"{root} was changed by other writers each time before this command could "
                    f"finish ({attempt:,} times in {_PATIENCE_SECONDS / 60:.0f} minutes), so "
                    "nothing was written; try again when there are fewer writers"
                ) from None
            time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.05 * attempt)))


def _require_apart(root: Path, paths: Sequence[str | Path]) -> None:
    """Refuse to ingest a warehouse's own files, and to make a warehouse within another."""
    real = root.resolve()
    outer = warehouse_around(real.parent)
    if outer is not None:
        raise WarehouseError(f"{root} lies in the warehouse {outer}; name a directory outside")
    bucket = bucket_of(root)
    for path in paths:
        if is_address(path):
            below = bucket is not None and f"{absolute(path)}/".startswith(f"{bucket.address}/")
        else:
            below = Path(path).resolve().is_relative_to(real)
        if below:
            raise PathError(f"{path} lies in the warehouse {root}; give result files from outside")


def _finds_anything(paths: Sequence[str | Path]) -> bool:
    """Whether there is any input file, so that no warehouse is made from nothing."""
    return any(True for path in paths for _ in walk(absolute(path)))


def score(root: Path, profile: Profile, engine: Engine, *, wait: bool) -> None:
    """Score everything under a profile, from Parquet alone.

    Scores under other profiles that no longer hold, since code or rules have changed, are made
    again too, so that none is lost.
    """
    load_manifest(root)  # what is not a warehouse is not even locked

    def change(manifest: Manifest) -> Manifest:
        clear_staging(root)
        require_reach(engine, root, [])
        others = {name: updated_profile(rules) for name, rules in manifest.profiles.items()}
        wanted = [*(others | {profile.name: profile}).values()]
        return compact(root, scored(root, manifest, wanted, engine))

    with hold(root, wait=wait, on_wait=_say):
        _commit(root, change)


def tag(root: Path, path: Path, *, replace: bool) -> pl.DataFrame:
    """Store the tags that a file gives to models; returns these tags.

    Earlier tags stay unless the file has another value, or replaces all of them.
    """
    tags = read_tags(path)
    load_manifest(root)  # what is not a warehouse is not even locked

    def change(manifest: Manifest) -> Manifest:
        clear_staging(root)
        kept = tags if replace else _merged(table_files(root, manifest, "model_tags"), tags)
        return with_table(root, manifest, "model_tags", Frame(kept))

    with hold(root, wait=True, on_wait=_say):
        _commit(root, change)
    return tags


def _merged(before: Sequence[Path], tags: pl.DataFrame) -> pl.DataFrame:
    """Earlier tags, overridden by those of a file that are not null."""
    frames = [*(pl.read_parquet(file, glob=False) for file in before), tags]
    together = pl.concat(frames, how="diagonal_relaxed")
    keys = ["model", "experiment"]
    return together.group_by(keys, maintain_order=True).agg(pl.all().drop_nulls().last())


def remove(
    root: Path,
    engine: Engine,
    *,
    contenders: Sequence[Contender],
    profiles: Sequence[str],
    tags: bool,
) -> list[str]:
    """Remove models, profiles and tags from a warehouse; returns the names of what was removed."""
    load_manifest(root)  # what is not a warehouse is not even locked

    def change(manifest: Manifest) -> Manifest:
        clear_staging(root)
        _require_removable(manifest, profiles)
        if contenders:
            manifest = _without_models(root, manifest, contenders)
        kept = {n: r for n, r in manifest.profiles.items() if n not in profiles}
        manifest = msgspec.structs.replace(
            manifest,
            generation=manifest.generation + 1,
            profiles=kept,
            scores=[group for group in manifest.scores if group.profile in kept],
            tables={n: t for n, t in manifest.tables.items() if not (tags and n == "model_tags")},
            removed_models=sorted({*manifest.removed_models, *contenders}),
            removed_profiles=sorted({*manifest.removed_profiles, *profiles}),
        )
        if contenders:
            manifest = scored(root, manifest, list(map(updated_profile, kept.values())), engine)
        return compact(root, manifest)

    with hold(root, wait=True, on_wait=_say):
        _commit(root, change)
    return [*map("/".join, contenders), *profiles, *(["all tags"] if tags else [])]


def _require_removable(manifest: Manifest, profiles: Sequence[str]) -> None:
    """Refuse profiles that are not there, and built-in ones: the next ingest would score them."""
    known = sorted(manifest.profiles)
    for name in profiles:
        if name in BUILT_IN:
            raise SelectionError(f"{name} is built in: every ingest scores under it")
        if name not in known and name not in manifest.removed_profiles:
            raise SelectionError(f"no profile {name!r} here; there are {', '.join(known)}")


def _without_models(
    root: Path, manifest: Manifest, models: Collection[tuple[str, str]]
) -> Manifest:
    """The manifest without the parts and input files of some models and experiments."""
    named = pl.DataFrame(list(models), schema=["model", "experiment"], orient="row")
    named = named.cast(pl.Categorical)
    sources = load_sources(root, manifest).join(named, on=["model", "experiment"], how="anti")
    parts = [part for part in manifest.parts if (part.model, part.experiment) not in models]
    manifest = msgspec.structs.replace(manifest, parts=parts)
    return with_table(root, manifest, SOURCES.name, Frame(sources, SOURCES))


def _known_profiles(manifest: Manifest) -> list[Profile]:
    """The built-in profiles, every other that was ever asked for, and what was reported."""
    known = [updated_profile(rules) for rules in manifest.profiles.values()]
    has_results = any(part.row_counts.get(REPORTED_SCENARIOS.name) for part in manifest.parts)
    reported = [REPORTED] if has_results else []
    named = {profile.name: profile for profile in (*known, *BUILT_IN.values(), *reported)}
    return list(named.values())


# The lock: it ends with its process, however that ends


@contextmanager
def hold(root: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a warehouse; those who must wait are told which process has it."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = _acquire(root, wait=wait, on_wait=on_wait)
    except NotImplementedError as error:
        raise WarehouseError(f"{root} is on a file system without locks; name another") from error
    except OSError as error:
        said = f"cannot be written: {error.strerror or error}"
        if error.errno in _NO_LOCKS:
            said = "is on a file system without locks; name another"
        raise WarehouseError(f"{root} {said}") from error
    try:
        yield
    finally:
        lock.release()


def _acquire(root: Path, *, wait: bool, on_wait: Callable[[str], None]) -> BaseFileLock:
    for name in (LOCK, WRITER):
        if (root / name).is_symlink():  # to lock or write it would change what it points to
            raise WarehouseError(f"{root / name} is a symbolic link; remove it")
    lock = FileLock(root / LOCK)
    try:
        with warnings.catch_warnings():
            # The lock that filelock would fall back to outlives a killed process.
            warnings.simplefilter("error", UserWarning)
            lock.acquire(blocking=False)
    except UserWarning as warning:
        raise NotImplementedError from warning
    except Timeout:
        said = f"{root} is being written by {_writer(root)}"
        if not wait:
            raise WarehouseError(f"{said}; try again") from None
        on_wait(f"{said}; waiting")
        lock.acquire()
    # In a file of its own, since a locked file cannot be read on Windows.
    (root / WRITER).write_text(f"process {os.getpid()}\n", encoding="utf-8")
    return lock


def _writer(root: Path) -> str:
    try:
        return (root / WRITER).read_text(encoding="utf-8").strip() or "another process"
    except (OSError, UnicodeDecodeError):
        return "another process"


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr)

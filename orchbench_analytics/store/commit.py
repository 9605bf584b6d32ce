"""Saving a manifest: the step that makes a new state of the warehouse visible."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TypeVar

import msgspec

from orchbench_analytics.store.durable import replace_file, sync_files
from orchbench_analytics.store.manifest import (
    Holder,
    Manifest,
    checksum_of,
    encode_manifest,
    live_paths,
    load_manifest,
    named_files,
    single_files_of,
)
from orchbench_analytics.store.paths import MANIFEST, parquet_name
from orchbench_analytics.store.stamps import read_stamps, stamp_file

AnyHolder = TypeVar("AnyHolder", bound=Holder)


def save_manifest(root: Path, manifest: Manifest) -> Manifest:
    """Replace the manifest in one step; from here on readers see the new state.

    Every file it names is stamped and on the disk before it. Returns the manifest as saved.
    """
    new = [root / name for name, stamp in named_files(manifest).items() if stamp is None]
    sync_files(new, root=root)
    saved = _stamped(root, manifest)
    saved.unreferenced = _unreferenced(root, saved)
    content = encode_manifest(saved)
    replace_file(root / MANIFEST, content)
    saved.checksum = checksum_of(content)
    return saved


def _stamped(root: Path, manifest: Manifest) -> Manifest:
    """The manifest with the stamps of files that are new in it."""
    known = manifest.single_files
    gathered = manifest.gathered
    return msgspec.structs.replace(
        manifest,
        single_files={
            name: known.get(name) or stamp_file(root / name) for name in single_files_of(manifest)
        },
        parts=[_stamped_holder(root, part) for part in manifest.parts],
        scores=[_stamped_holder(root, group) for group in manifest.scores],
        gathered=None if gathered is None else _stamped_holder(root, gathered),
    )


def _stamped_holder(root: Path, holder: AnyHolder) -> AnyHolder:
    """The holder with the stamps its files had when they were written."""
    if holder.stamps:
        return holder
    written = read_stamps(root / holder.directory)
    stamps = {table: written[parquet_name(table)] for table in holder.row_counts}
    return msgspec.structs.replace(holder, stamps=stamps)


def _unreferenced(root: Path, manifest: Manifest) -> dict[str, int]:
    """What earlier manifests named and this one does not, as long as it is still there."""
    before = load_manifest(root) if (root / MANIFEST).exists() else Manifest()
    since = dict.fromkeys(live_paths(before), int(time.time())) | before.unreferenced
    live = live_paths(manifest)
    return {
        name: when
        for name, when in sorted(since.items())
        if name not in live and (root / name).exists()
    }

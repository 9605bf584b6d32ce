"""What changes a warehouse: one writer at a time, seen at once or not at all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics.engines import Engine
from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest.find import Placement
from orchbench_analytics.ingest.tags import read_tags
from orchbench_analytics.ingest.update import IngestSummary, Progress, update
from orchbench_analytics.profiles import BUILT_IN, Profile, profile_of
from orchbench_analytics.score.unscored import is_scored
from orchbench_analytics.store.commit import save_manifest
from orchbench_analytics.store.compact import compact
from orchbench_analytics.store.directories import mark_finished
from orchbench_analytics.store.lock import hold
from orchbench_analytics.store.manifest import Manifest, load_manifest, load_or_start


def ingest(
    root: Path,
    paths: Sequence[str | Path],
    engine: Engine,
    *,
    placement: Placement,
    prune: bool,
    verify: bool,
    is_scoring: bool,
    wait: bool,
    progress: Progress | None,
) -> IngestSummary:
    """Take in what is new or changed, score it, and commit all of it in one step."""
    for path in paths:
        if not Path(path).exists():
            raise PathError(f"no such file or directory: {path}")
    load_or_start(root)  # a directory of other things is not even locked
    with hold(root, wait=wait, on_wait=_say):
        before = load_or_start(root)
        manifest, summary = update(
            root,
            before,
            paths,
            engine,
            placement=placement,
            prune=prune,
            verify=verify,
            progress=progress,
        )
        if is_scoring:
            manifest = _scored(root, manifest, _known_profiles(manifest), engine)
        manifest = compact(root, manifest)
        if manifest is not before:
            save_manifest(root, manifest)
        mark_finished(root)
    return summary


def score(root: Path, profile: Profile, engine: Engine, *, wait: bool) -> None:
    """Score everything under a profile, from Parquet alone."""
    with hold(root, wait=wait, on_wait=_say):
        manifest = load_manifest(root)
        scored = _scored(root, manifest, [profile], engine)
        if scored is not manifest:
            save_manifest(root, scored)


def tag(root: Path, path: Path) -> pl.DataFrame:
    """Keep what a file says of models beside their names; earlier tags are replaced."""
    tags = read_tags(path)
    with hold(root, wait=True, on_wait=_say):
        manifest = load_manifest(root)
        generation = manifest.generation + 1
        file = f"model_tags/{generation:06d}.parquet"
        (root / "model_tags").mkdir(exist_ok=True)
        tags.write_parquet(root / file)
        changed = msgspec.structs.replace(manifest, generation=generation, model_tags=file)
        save_manifest(root, changed)
    return tags


def _scored(
    root: Path, manifest: Manifest, profiles: Sequence[Profile], engine: Engine
) -> Manifest:
    if is_scored(root, manifest, profiles):
        return manifest
    # An ingest that finds nothing new does not wait for networkx to be imported.
    from orchbench_analytics.score.pipeline import score

    return score(root, manifest, profiles, engine)


def _known_profiles(manifest: Manifest) -> list[Profile]:
    """The built-in profiles, and every other that was ever asked for."""
    known = [profile_of(rules) for rules in manifest.profiles.values()]
    return list({profile.name: profile for profile in (*known, *BUILT_IN.values())}.values())


def _say(text: str) -> None:
    print(text, file=sys.stderr)

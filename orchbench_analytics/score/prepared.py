"""What the scores of a group share under all profiles, kept for the next profile."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from orchbench_analytics.score.groups import OpenGroup
from orchbench_analytics.score.steps.totals import PreparedSteps
from orchbench_analytics.store import directories
from orchbench_analytics.store.manifest import Prepared
from orchbench_analytics.store.parquet import Frame, scan_files


class PreparedGroup(NamedTuple):
    """Plans and steps of a group, read and compared as far as no profile matters."""

    plans: pl.DataFrame
    steps: PreparedSteps


def save_prepared(root: Path, group: OpenGroup, prepared: PreparedGroup) -> Prepared:
    """Write what a group's scores share."""
    frames = {"plans": prepared.plans, **prepared.steps._asdict()}
    directory = f"prepared/{group.prepared_id}"
    return Prepared(
        directory=directory,
        row_counts=directories.write_directory(
            root, directory, ((name, Frame(frame)) for name, frame in frames.items())
        ),
        prepared_id=group.prepared_id,
        part_ids=sorted(part.part_id for part in group.parts),
    )


def load_prepared(root: Path, kept: Prepared | None) -> PreparedGroup | None:
    """What was kept of a group; none if nothing was, or if someone has cleared it away."""
    if kept is None or not (root / kept.directory).is_dir():
        return None
    directory = root / kept.directory
    frames = {
        name: scan_files([directory / f"{name}.parquet"]).collect() for name in kept.row_counts
    }
    return PreparedGroup(frames.pop("plans"), PreparedSteps(**frames))

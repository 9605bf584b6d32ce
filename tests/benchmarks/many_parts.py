"""A leaderboard over a warehouse of very many parts, on this machine and on Spark.

Every group of scores is a link to those of a small sweep: what is measured is the cost of files,
not of rows. Parts themselves are not there, since a leaderboard reads none.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchbench_analytics import open_warehouse
from orchbench_analytics.store.manifest import (
    Gathered,
    Manifest,
    ScoreGroup,
    encode_manifest,
)
from tests.benchmarks.spark import answered
from tests.sweep import write_sweep

_PARTS_OF_A_GROUP = 20


class ManyPartsRow(NamedTuple):
    """How long a leaderboard took over so many groups of scores, two files read of each."""

    engine: str
    part_count: int
    group_count: int
    start_seconds: float
    leaderboard_seconds: float
    leaderboard_cpu_seconds: float
    load: float


def many_parts_rows(
    room: Path, *, part_counts: Sequence[int] = (10_000, 100_000)
) -> Iterator[ManyPartsRow]:
    """Rows for both engines and each number of parts."""
    write_sweep(room / "sweep", models=3, scenarios=3)
    small = room / "small"
    open_warehouse(small, create=True).ingest(room / "sweep" / "results")
    for count in part_counts:
        manifest = link_many(small, room / str(count), count)
        for engine in ("local", "spark"):
            taken = answered(room, room / str(count), engine)
            yield ManyPartsRow(engine, count, len(manifest.scores), *taken)


def link_many(small: Path, many: Path, part_count: int) -> Manifest:
    """A warehouse of many parts, whose groups of scores are links to those of a small one."""
    opened = open_warehouse(small)
    manifest = opened.manifest()
    parts = [
        msgspec.structs.replace(manifest.parts[0], part_id=name, directory=f"parts/{name}")
        for name in (f"{number:020x}" for number in range(part_count))
    ]
    scores = []
    for group in {group.profile: group for group in manifest.scores}.values():
        for start in range(0, part_count, _PARTS_OF_A_GROUP):
            group_id = f"{group.profile}{start:014x}"
            part_ids = [part.part_id for part in parts[start : start + _PARTS_OF_A_GROUP]]
            scores.append(_linked(small, many, group, group_id, part_ids))
    for table in manifest.tables.values():
        (many / table.directory).mkdir(parents=True)
        for file in (small / table.directory).iterdir():
            os.link(file, many / table.directory / file.name)
    scenarios = opened.table("scenarios").collect()
    (many / "gathered" / "all").mkdir(parents=True)
    scenarios.write_parquet(many / "gathered" / "all" / "scenarios.parquet")
    gathered = Gathered(
        directory="gathered/all",
        row_counts={"scenarios": len(scenarios)},
        columns_id=manifest.parts[0].columns_id,
        covers=[part.directory for part in parts],
    )
    made = msgspec.structs.replace(
        manifest, parts=parts, scores=scores, gathered=[gathered], unreferenced={}
    )
    (many / "manifest.json").write_bytes(encode_manifest(made))
    return made


def _linked(
    small: Path, many: Path, group: ScoreGroup, group_id: str, part_ids: list[str]
) -> ScoreGroup:
    directory = many / "scores" / group_id
    directory.mkdir(parents=True)
    for file in (small / group.directory).iterdir():
        os.link(file, directory / file.name)
    return msgspec.structs.replace(
        group, directory=f"scores/{group_id}", group_id=group_id, part_ids=part_ids
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="orchbench-parts-") as scratch:
        for row in many_parts_rows(Path(scratch)):
            print(row, flush=True)

"""Writers of one warehouse in a bucket, each a process with a cache of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from orchbench_analytics import open_warehouse

_context = get_context("forkserver")
_context.set_forkserver_preload(
    ["tests.services.writers", "orchbench_analytics.score.group", "obstore"]
)


def start_writer(root: str, commits: Sequence[str | Path], directory: Path) -> BaseProcess:
    """Start a process that makes commits one by one, and notes each that is reported as done.

    A commit is the tag of a model, the ingest of a tree, or the scoring under a profile in a file.
    The directory has the writer's cache.
    """
    environment = {k: v for k, v in os.environ.items() if k.startswith(("AWS_", "ORCHBENCH_"))}
    process = _context.Process(target=_write, args=(root, commits, directory, environment))
    process.start()
    return process


def _write(
    root: str, commits: Sequence[str | Path], directory: Path, environment: dict[str, str]
) -> None:
    os.environ.update(environment)
    directory.mkdir(parents=True, exist_ok=True)
    os.environ["ORCHBENCH_CACHE"] = str(directory / "cache")
    descriptor = os.open(directory / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 2)
    warehouse = open_warehouse(root)
    with (directory / "done").open("a") as done:
        for commit in commits:
            if isinstance(commit, Path):
                if commit.suffix == ".toml":
                    warehouse.score(profile=commit, jobs=1)
                else:
                    warehouse.ingest(commit, jobs=1)
                done.write(f"{commit.name}\n")
            else:
                file = directory / "tags.csv"
                file.write_text(f"model,writer\n{commit},{directory.name}\n", encoding="utf-8")
                warehouse.tag(file)
                done.write(f"{commit}\n")
            done.flush()


def tagged(root: str) -> set[str]:
    """The models that have a tag, whether they have results or not."""
    import polars as pl

    from orchbench_analytics.store.manifest import load_manifest, table_files

    warehouse = open_warehouse(root)
    files = table_files(warehouse.path, load_manifest(warehouse.path), "model_tags")
    return set(pl.read_parquet(files)["model"]) if files else set()

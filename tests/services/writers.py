"""Writers of one warehouse in a bucket, each a process with a cache of its own."""

from __future__ import annotations

import os
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from orchbench_analytics import open_warehouse

_context = get_context("forkserver")
_context.set_forkserver_preload(["tests.services.writers", "pyarrow.parquet", "obstore"])


def start_writer(root: str, name: str, commits: int, directory: Path) -> BaseProcess:
    """Start a process that tags `commits` models, one commit each, and notes each that is done."""
    environment = {k: v for k, v in os.environ.items() if k.startswith(("AWS_", "ORCHBENCH_"))}
    process = _context.Process(target=_tag, args=(root, name, commits, directory, environment))
    process.start()
    return process


def _tag(root: str, name: str, commits: int, directory: Path, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    directory.mkdir(parents=True, exist_ok=True)
    os.environ["ORCHBENCH_CACHE"] = str(directory / "cache")
    descriptor = os.open(directory / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 2)
    warehouse = open_warehouse(root)
    with (directory / "done").open("a") as done:
        for number in range(commits):
            file = directory / f"{name}.csv"
            file.write_text(f"model,writer\n{name}-{number},{name}\n", encoding="utf-8")
            warehouse.tag(file)
            done.write(f"{name}-{number}\n")
            done.flush()


def tagged(root: str) -> set[str]:
    """The models that have a tag, whether they have results or not."""
    import polars as pl

    from orchbench_analytics.store.manifest import load_manifest, table_files

    warehouse = open_warehouse(root)
    files = table_files(warehouse.path, load_manifest(warehouse.path), "model_tags")
    return set(pl.read_parquet(files)["model"]) if files else set()

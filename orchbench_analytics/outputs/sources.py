"""Input files as people look at them: counted by status, problems first, short paths."""

from __future__ import annotations

import os.path

import polars as pl


def counted(files: pl.DataFrame) -> str:
    """How many files there are of each status, in a sentence."""
    if files.is_empty():
        return "no input files"
    counts = files.group_by("status").len("count").sort("status").iter_rows()
    said = ", ".join(f"{count:,} {status}" for status, count in counts)
    return f"{files.height:,} input file{'s' if files.height > 1 else ''}: {said}"


def refused_first(files: pl.DataFrame) -> pl.DataFrame:
    """The files that something is wrong with before all others."""
    order = pl.col("status").replace_strict({"refused": 0, "ignored": 2}, default=1)
    is_sound = (pl.col("status") == "taken") & pl.col("reason").is_null()
    return files.sort(pl.when(is_sound).then(3).otherwise(order), maintain_order=True)


def by_reason(files: pl.DataFrame) -> pl.DataFrame:
    """How many files there are of each reason, and one of them as an example."""
    return (
        files.group_by("reason", maintain_order=True)
        .agg(pl.len().alias("file_count"), pl.col("path", "message").first())
        .sort("file_count", descending=True, maintain_order=True)
    )


def without_common_path(files: pl.DataFrame) -> pl.DataFrame:
    """The files with paths as they are below the directory that all of them are in."""
    if files.height < 2:
        return files
    common = os.path.commonpath([os.path.dirname(path) for path in files["path"]])  # noqa: PTH120 (as text)
    shortened = pl.col("path").str.strip_prefix(common).str.strip_chars_start("/\\")
    return files.with_columns(path=shortened, below=pl.lit(common))

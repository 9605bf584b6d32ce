"""Input files as people look at them: how many of which fate, and short paths."""

from __future__ import annotations

import os.path

import polars as pl


def counted(files: pl.DataFrame) -> str:
    """How many files there are of each status, in a sentence."""
    if files.is_empty():
        return "no input files"
    counts = files.group_by("status").len("count").sort("status").iter_rows()
    said = ", ".join(f"{count:,} {status}" for status, count in counts)
    return f"{files.height:,} input files: {said}"


def without_common_path(files: pl.DataFrame) -> pl.DataFrame:
    """The files with paths as they are below the directory that all of them are in."""
    if files.height < 2:
        return files
    common = os.path.commonpath(files["path"].to_list())
    shortened = pl.col("path").str.strip_prefix(common).str.strip_chars_start("/\\")
    return files.with_columns(path=shortened, below=pl.lit(common))

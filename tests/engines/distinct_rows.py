"""Files that share rows, and a function over rows, for the tests of all engines."""

from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal


def with_length(rows: pl.DataFrame) -> pl.DataFrame:
    """Texts with their lengths."""
    return rows.with_columns(length=pl.col("text").str.len_chars().cast(pl.Int64))


def write_texts(directory: Path, *texts: list[str]) -> list[Path]:
    """A file of rows for each list of texts, in a directory of its own."""
    files = [directory / str(number) / "texts.parquet" for number in range(len(texts))]
    for file, own in zip(files, texts, strict=True):
        file.parent.mkdir(parents=True)
        pl.DataFrame({"text": own}, schema={"text": pl.String}).write_parquet(file)
    return files


def assert_shares(files: list[Path]) -> None:
    """Beside each file that has rows lie the same rows with their lengths."""
    for file in files:
        rows = with_length(pl.read_parquet(file, glob=False))
        if len(rows):
            made = pl.read_parquet(file.with_name("lengths.parquet"), glob=False)
            assert_frame_equal(made, rows, check_row_order=False)

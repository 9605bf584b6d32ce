"""What pages pack, read back: JSON from gzip and base64, and frames from columns."""

import base64
import gzip
from typing import Any

import msgspec
import polars as pl


def unpacked(text: str) -> Any:
    """The value that `packed` wrote."""
    return msgspec.json.decode(gzip.decompress(base64.b64decode(text)))


def frame_of_columns(table: dict[str, Any]) -> pl.DataFrame:
    """The frame that `columns_of` wrote, with 1 and 0 for true and false."""
    return pl.DataFrame(
        {name: _read(column) for name, column in table["columns"].items()}, strict=False
    )


def _read(column: dict[str, Any]) -> list[Any]:
    if "values" in column:
        return list(column["values"])
    return [None if code < 0 else column["words"][code] for code in column["codes"]]

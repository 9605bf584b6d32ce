"""Writers of the same content at the same time: none fails, and what is there is whole."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orchbench_analytics.store.directories import write_directory
from orchbench_analytics.store.files import is_as_written

WRITERS = 16
TIMES = 800
TABLE = pa.table({"number": list(range(50))})


def write_part(root: Path) -> dict[str, int]:
    return write_directory(root, "parts/same", [("steps", TABLE), ("plans", TABLE)], note=b"{}")


@pytest.mark.parametrize("is_damaged", [False, True], ids=["nothing_there", "damaged_one_there"])
def test_a_part_written_many_times_at_once_is_there_whole(tmp_path: Path, is_damaged: bool) -> None:
    if is_damaged:
        write_part(tmp_path)
        (tmp_path / "parts" / "same" / "steps.parquet").write_bytes(b"cut short")

    with ThreadPoolExecutor(WRITERS) as writers:
        counts = list(writers.map(write_part, [tmp_path] * TIMES))

    assert counts == [{"steps": 50, "plans": 50}] * TIMES
    assert is_as_written(tmp_path / "parts" / "same")
    assert pq.read_table(tmp_path / "parts" / "same" / "steps.parquet").equals(TABLE)
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["same"]

"""Files that never end or hold far more than they weigh: refused in plain words, at little cost."""

import gzip
import os
import subprocess
from pathlib import Path

import pytest

from orchbench_analytics.ingest.decode import MAX_VALUES, UnreadableDocument, decode, read_bytes
from tests.documents import scenario_path, write
from tests.processes import ORCHBENCH, run_and_weigh
from tests.warehouses import ingest, source

pytestmark = pytest.mark.long

PEAK_MB = 1000
MANY = 3_000_000
RUNS = b'{"history": {%s}}'
ENTRIES = RUNS % b'"run #1": {"main_agent_history": [%s], "sub_agent_history": [], "label": {}}'
HEAVY = {
    "empty entries": lambda: ENTRIES % b",".join([b"{}"] * MANY),
    "numbers": lambda: ENTRIES % b",".join([b"0"] * MANY),
    "empty lists": lambda: ENTRIES % b",".join([b"[]"] * MANY),
    "empty runs": lambda: RUNS % empty_objects(),
    "empty labels": lambda: RUNS % (b'"r":{"label":{%s}}' % empty_objects()),
}


def empty_objects() -> bytes:
    return b",".join(b'"%d":{}' % number for number in range(MANY))


@pytest.mark.parametrize("target", ["/proc/kmsg", "/proc/self/status", "/sys/power/state"])
def test_what_the_kernel_makes_up_is_never_read(tmp_path: Path, target: str) -> None:
    link = scenario_path(tmp_path / "tree", scenario="endless")
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    write(scenario_path(tmp_path / "tree", scenario="sound"))
    if not link.exists():
        pytest.skip(f"there is no {target}")

    ingest(tmp_path / "warehouse", tmp_path / "tree")

    row = source(tmp_path / "warehouse", link)
    assert (row["status"], row["reason"]) == ("refused", "no_file")
    assert row["message"] == "the kernel makes it up while it is read; not a file"


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")

    assert read_bytes(str(tmp_path / "pipe.json")) == b""


@pytest.mark.parametrize("what", HEAVY)
def test_a_light_file_of_many_values_is_refused_within_bounds(tmp_path: Path, what: str) -> None:
    packed = gzip.compress(HEAVY[what](), compresslevel=1)
    path = scenario_path(tmp_path / "tree").with_suffix(".json.gz")
    path.parent.mkdir(parents=True)
    path.write_bytes(packed)
    call = ("ingest", tmp_path / "tree", "--into", tmp_path / "w", "--jobs", 1)
    ended = run_and_weigh(*ORCHBENCH, *call, stderr=subprocess.DEVNULL)

    assert 50 < ended.peak_megabytes < PEAK_MB
    row = source(tmp_path / "w", path)
    assert (row["status"], row["reason"]) == ("refused", "too_large")
    assert row["message"].startswith("more than 1,000,000 values")


def test_commas_and_brackets_in_texts_are_no_values() -> None:
    text = b'"' + b'\\"{[,\\\\' * MAX_VALUES + b'"'

    document, _ = decode(b'{"text": %s}' % text, dict[str, str])

    assert len(document["text"]) == 5 * MAX_VALUES


def test_a_text_that_never_ends_is_read_once() -> None:
    with pytest.raises(UnreadableDocument):
        decode(b'{"text": ' + b'"\\"\\"{,' * MAX_VALUES, dict[str, str])

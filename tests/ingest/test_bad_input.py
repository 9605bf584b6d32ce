"""Bad input: each file costs itself at most, with a code, a place and plain words."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from orchbench_analytics.ingest.decode import MAX_DOCUMENT_BYTES
from tests.documents import judge_log, results_document, run, runs_document, write
from tests.warehouses import (
    assert_same_contents,
    contents,
    fresh_contents,
    ingest,
    refusals,
    rows,
    source,
)

GOOD = json.dumps(runs_document()).encode()
DEEP = b"[" * 10_000 + b"]" * 10_000


def as_bytes(history: dict[str, Any]) -> bytes:
    return json.dumps(runs_document(history)).encode()


def runs_with(before: bytes, after: bytes) -> bytes:
    assert before in GOOD
    return GOOD.replace(before, after, 1)


REFUSED: dict[str, tuple[bytes, str, str | None]] = {
    "empty": (b"", "empty", "byte 0"),
    "blank": (b"\n  \n", "empty", "byte 0"),
    "truncated": (GOOD[:1000], "truncated", "byte 1000"),
    "garbage": (b"\x89\xff\xfe garbage", "invalid_utf8", "byte 0"),
    "words": (b"Internal Server Error", "malformed", "byte 0"),
    "two_documents": (GOOD + GOOD, "malformed", f"byte {len(GOOD) + 1}"),
    "another_kind": (b'{"hello": "world"}', "wrong_type", "$"),
    "result_as_runs": (json.dumps(results_document()).encode(), "wrong_type", "$"),
    "list": (b"[]", "wrong_type", "$"),
    "null": (b"null", "wrong_type", "$"),
    "number": (b"12", "wrong_type", "$"),
    "history_is_list": (b'{"history": []}', "wrong_type", "$.history"),
    "history_is_null": (b'{"history": null}', "wrong_type", "$.history"),
    "only_brackets": (DEEP, "wrong_type", "$"),
    "open_brackets": (b'{"history": {"run #1": ' + b"[" * 10_000, "too_deep", None),
}
MENDED: dict[str, tuple[bytes, str | None]] = {
    "byte_order_mark": (b"\xef\xbb\xbf" + GOOD, "byte_order_mark"),
    "utf16": (GOOD.decode().encode("utf-16"), "utf16"),
    "utf16_without_mark": (GOOD.decode().encode("utf-16-le"), "utf16"),
    "invalid_utf8": (runs_with(b"weather_agent", b"weather\xff_agent"), "invalid_utf8"),
    "lone_surrogate": (runs_with(b"weather_agent", rb"weather\ud800_agent"), "lone_surrogate"),
    "nan": (runs_with(b'"total_cost": 0.5', b'"total_cost": NaN'), "not_a_number"),
    "huge_float": (runs_with(b'"total_cost": 0.5', b'"total_cost": 1e999'), "number_too_large"),
    "huge_integer": (
        runs_with(b'"total_tokens": 120', b'"total_tokens": ' + b"9" * 5000),
        "number_too_large",
    ),
    "huge_label": (runs_with(b'"sunny"', b"1e999"), None),  # no one ever needs it
    "deep_answer": (runs_with(b'"AWAITING_USER_INPUT"}]', DEEP + b"}]"), "too_deep"),
    "deep_arguments": (runs_with(rb'"{\"city\": \"Seoul\"}"', DEEP), "too_deep"),
    "deep_elsewhere": (runs_with(b'"generated_at"', b'"extra": ' + DEEP + b', "x"'), "too_deep"),
    "duplicate_keys": (runs_with(b'"run #2"', b'"run #1"'), "duplicate_keys"),
    "run_is_list": (as_bytes({"run #1": [], "run #2": run()}), "unreadable_parts"),
    "answer_is_text": (as_bytes({"run #1": run(sub_agent_history=["x"])}), "unreadable_parts"),
    "label_is_null": (as_bytes({"run #1": run(label={"3": None})}), "unreadable_parts"),
    "usage_is_text": (runs_with(b'"usage": {', b'"usage": "much", "x": {'), None),
    "gaps": (as_bytes({"run #2": run(), "run #5": run()}), None),
    "no_answers": (as_bytes({"run #1": run(sub_agent_history=[])}), None),
    "no_labels": (as_bytes({"run #1": run(label={})}), None),
}


def write_neighbours(tree: Path) -> None:
    """Files that must not suffer: of the same model, so that they share their part."""
    for scenario in ("a_first", "n_middle", "z_last"):
        write(tree / "m/EN" / f"{scenario}_out.json")


@pytest.fixture(scope="module")
def bad_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("bad") / "tree"
    write_neighbours(tree)
    for name, (data, *_) in {**REFUSED, **MENDED}.items():
        write(tree / "m/EN" / f"{name}_out.json", data)
    return tree


@pytest.fixture(scope="module")
def warehouse(bad_tree: Path) -> Path:
    ingest(bad_tree.parent / "warehouse", bad_tree)
    return bad_tree.parent / "warehouse"


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_used_is_refused_in_plain_words(
    warehouse: Path, bad_tree: Path, name: str
) -> None:
    _, reason, place = REFUSED[name]

    row = source(warehouse, bad_tree / "m/EN" / f"{name}_out.json")

    assert (row["status"], row["reason"], row["place"]) == ("refused", reason, place)
    assert row["message"]
    assert (row["kind"], row["model"], row["scenario"]) == ("runs", "m", name)


@pytest.mark.parametrize("name", MENDED)
def test_a_file_of_which_a_part_is_bad_is_taken_with_a_note(
    warehouse: Path, bad_tree: Path, name: str
) -> None:
    _, reason = MENDED[name]

    row = source(warehouse, bad_tree / "m/EN" / f"{name}_out.json")

    assert (row["status"], row["reason"]) == ("taken", reason)
    assert (row["place"] is None) == (row["message"] is None) == (reason is None)
    of_scenario = pl.col("scenario") == name
    assert len(rows(warehouse, "scenarios").filter(of_scenario)) == 1
    assert len(rows(warehouse, "steps").filter(of_scenario)) > 0


def test_all_other_files_are_unharmed(warehouse: Path, tmp_path: Path) -> None:
    write_neighbours(tmp_path / "tree")
    alone = fresh_contents(tmp_path / "warehouse", tmp_path / "tree")

    for table in ("scenarios", "steps", "plans"):
        beside = rows(warehouse, table)
        neighbours = beside.filter(pl.col("scenario").is_in(["a_first", "n_middle", "z_last"]))
        assert neighbours.equals(alone[table])


def test_every_file_has_exactly_one_row(warehouse: Path, bad_tree: Path) -> None:
    files = sorted(str(path) for path in bad_tree.rglob("*.json"))

    assert rows(warehouse, "sources")["path"].sort().to_list() == files


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("gaps", {"run_count": 2, "numbered_run_count": 1}),
        ("no_answers", {"step_count": 2, "missing_answer_count": 2}),
        ("no_labels", {"step_count": 0, "surplus_answer_count": 2}),
        ("run_is_list", {"run_count": 2, "unreadable_run_count": 1}),
        ("answer_is_text", {"unreadable_entry_count": 1, "missing_answer_count": 2}),
        ("label_is_null", {"unreadable_entry_count": 1, "step_count": 0}),
    ],
)
def test_what_is_not_scorable_is_counted(
    warehouse: Path, name: str, counts: dict[str, int]
) -> None:
    scenario = rows(warehouse, "scenarios").filter(pl.col("scenario") == name)

    assert scenario.select(counts.keys()).row(0, named=True) == counts


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "empty"),
        ({"llm_responses": 7}, "wrong_type"),
        (runs_document(), "wrong_type"),
    ],
)
def test_a_bad_judge_log_is_refused_and_its_runs_are_not(
    tmp_path: Path, document: Any, reason: str
) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/exp/step_wise_evaluation_EN/m/12_out.json")
    logs = tree / "m/exp/llm_evaluation_logs_EN"
    write(logs / "12_out_trial_run #1.json", document)
    write(logs / "12_out_trial_run #2.json", judge_log())

    ingest(tmp_path / "warehouse", tree)

    assert refusals(tmp_path / "warehouse") == {"12_out_trial_run #1.json": reason}
    assert len(rows(tmp_path / "warehouse", "judgements")) == 1


@pytest.mark.parametrize("end", [1, 40, -1])
def test_a_judge_log_that_is_cut_off_is_known_as_such(tmp_path: Path, end: int) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/exp/step_wise_evaluation_EN/m/12_out.json")
    log = tree / "m/exp/llm_evaluation_logs_EN/12_out_trial_run #1.json"
    write(log, json.dumps(judge_log()).encode()[:end])

    ingest(tmp_path / "warehouse", tree)

    (found,) = rows(tmp_path / "warehouse", "judgements").to_dicts()
    assert (found["scenario"], found["run"]) == ("12", "run #1")
    assert (found["unusable_reason"], found["call_index"]) == ("cut_off", None)
    taken = source(tmp_path / "warehouse", log)
    assert (taken["status"], taken["reason"]) == ("taken", "truncated")
    assert taken["message"].endswith("none of its verdicts counts")


def test_a_directory_named_like_a_file_is_refused_and_looked_into(tmp_path: Path) -> None:
    write(tmp_path / "tree/m/x_out.json/12_out.json")

    ingest(tmp_path / "warehouse", tmp_path / "tree")

    assert refusals(tmp_path / "warehouse") == {"x_out.json": "is_directory"}
    assert rows(tmp_path / "warehouse", "scenarios")["model"].to_list() == ["x_out.json"]


def test_files_that_belong_nowhere_are_refused(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "step_wise_evaluation_EN/12_out.json")
    write(tree / "notes.json", {"some": "notes"})
    write(tree / "log.json", judge_log())
    write(tree / "cut.json", b'{"history": ')

    ingest(tmp_path / "warehouse", tree)

    assert refusals(tmp_path / "warehouse") == {
        "12_out.json": "unplaced",
        "notes.json": "other_kind",
        "log.json": "other_kind",
        "cut.json": "truncated",
    }


def test_a_file_that_vanishes_while_others_are_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "tree/a/12_out.json")
    vanishing = write(tmp_path / "tree/b/12_out.json")

    ingest(
        tmp_path / "warehouse",
        tmp_path / "tree",
        jobs=1,
        progress=lambda *_: vanishing.unlink(missing_ok=True),
    )

    row = source(tmp_path / "warehouse", vanishing)
    assert (row["status"], row["reason"]) == ("refused", "vanished")
    assert rows(tmp_path / "warehouse", "scenarios")["model"].to_list() == ["a"]


def test_rows_of_a_file_that_vanishes_stay_as_if_it_had_been_removed(tmp_path: Path) -> None:
    first = write(tmp_path / "tree/a/12_out.json")
    vanishing = write(tmp_path / "tree/b/12_out.json")
    ingest(tmp_path / "warehouse", tmp_path / "tree")
    before = rows(tmp_path / "warehouse", "steps")
    write(first, runs_document(scenario_id="changed"))
    write(vanishing, runs_document(scenario_id="changed"))

    ingest(
        tmp_path / "warehouse",
        tmp_path / "tree",
        jobs=1,
        progress=lambda *_: vanishing.unlink(missing_ok=True),
    )

    assert rows(tmp_path / "warehouse", "steps").equals(before)


def test_packed_files_are_read_and_bad_ones_refused(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/a_out.json.gz")
    write(tree / "m/b_out.json.zst")
    write(tree / "m/c_out.json")
    (tree / "m/d_out.json.gz").write_bytes(b"no gzip")
    (tree / "m/e_out.json.zst").write_bytes((tree / "m/b_out.json.zst").read_bytes()[:-10])

    ingest(tmp_path / "warehouse", tree)

    scenarios = rows(tmp_path / "warehouse", "scenarios")
    assert scenarios["scenario"].to_list() == ["a", "b", "c"]
    assert scenarios.drop("scenario").n_unique() == 1
    assert refusals(tmp_path / "warehouse") == {
        "d_out.json.gz": "bad_compression",
        "e_out.json.zst": "bad_compression",
    }


def test_files_whose_rows_repeat_a_long_label_fill_several_parts(tmp_path: Path) -> None:
    labels = {"3": {"agent_id": "a", "content": "x" * 10_000}}
    answers = [{"step_id": "3"} for _ in range(2_000)]
    repeating = runs_document({"run #1": run(label=labels, sub_agent_history=answers)})
    for scenario in range(4):
        write(tmp_path / f"tree/m/{scenario}_out.json", repeating)

    ingest(tmp_path / "warehouse", tmp_path / "tree", jobs=1)

    assert len(rows(tmp_path / "warehouse", "steps")) == 8_000
    assert len(list((tmp_path / "warehouse/parts").glob("*"))) == 2


def test_packed_files_fill_several_parts_where_they_unpack_large(tmp_path: Path) -> None:
    large = runs_document(scenario_id="x" * 12 * 2**20)
    for scenario in range(5):
        write(tmp_path / f"tree/m/{scenario}_out.json.zst", large)

    ingest(tmp_path / "warehouse", tmp_path / "tree", jobs=1)

    assert rows(tmp_path / "warehouse", "scenarios")["scenario"].to_list() == list("01234")
    parts = list((tmp_path / "warehouse/parts").glob("*"))
    assert 1 < len(parts) < 5


INGEST_AND_REPORT = """
import ctypes, json, re, sys
from pathlib import Path
from orchbench_analytics import open_warehouse

if "--without-privileges" in sys.argv:  # those by which root may read what it has no right to
    version_3, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version_3, nothing) == 0
warehouse = open_warehouse(sys.argv[1], create=True)
warehouse.ingest(sys.argv[2], score=False, jobs=1)
rows = warehouse.table("sources").select("path", "status", "reason").collect().rows()
# Not ru_maxrss: that begins with the memory of the process this one was forked from.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps({"sources": {Path(p).name: [s, r] for p, s, r in rows}, "peak_mib": peak // 1024}))
"""


def ingest_in_another_process(warehouse: Path, tree: Path, *options: str) -> dict[str, Any]:
    """What became of each file, and how much memory it took."""
    command = [sys.executable, "-c", INGEST_AND_REPORT, str(warehouse), str(tree), *options]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tree.parent)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.skipif(sys.platform != "linux", reason="drops privileges as Linux has them")
def test_files_and_directories_without_permission_are_refused(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/open_out.json")
    write(tree / "m/locked_out.json").chmod(0)
    write(tree / "closed/12_out.json")
    (tree / "closed").chmod(0)

    report = ingest_in_another_process(tmp_path / "warehouse", tree, "--without-privileges")

    (tree / "closed").chmod(0o700)
    assert report["sources"] == {
        "open_out.json": ["taken", None],
        "locked_out.json": ["refused", "no_permission"],
        "closed": ["refused", "closed_directory"],
    }


def test_huge_files_are_refused_in_bounded_memory(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/good_out.json")
    with write(tree / "m/gigabyte_out.json", b'{"history": "').open("r+b") as file:
        file.truncate(2**30)
    write(tree / "m/bomb_out.json.gz", b" " * (MAX_DOCUMENT_BYTES + 1))
    answer = "가나다 " * (3 * 2**20)
    large = runs_document({"run #1": run(sub_agent_history=[{"step_id": "3", "content": answer}])})
    write(tree / "m/large_out.json", json.dumps(large, ensure_ascii=False).encode())

    report = ingest_in_another_process(tmp_path / "warehouse", tree)

    assert report["sources"] == {
        "good_out.json": ["taken", None],
        "large_out.json": ["taken", None],
        "gigabyte_out.json": ["refused", "too_large"],
        "bomb_out.json.gz": ["refused", "too_large"],
    }
    assert report["peak_mib"] < 800


def test_a_repaired_file_is_taken_with_the_next_ingest(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/good_out.json")
    broken = write(tree / "m/broken_out.json", GOOD[:-1])
    ingest(tmp_path / "warehouse", tree)
    assert refusals(tmp_path / "warehouse") == {"broken_out.json": "truncated"}

    write(broken, GOOD)
    summary = ingest(tmp_path / "warehouse", tree)

    assert (summary.taken, summary.unchanged, summary.refused) == (1, 1, [])
    assert_same_contents(tmp_path / "warehouse", fresh_contents(tmp_path / "fresh", tree))


def test_a_file_changed_to_garbage_loses_its_rows(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/good_out.json")
    broken = write(tree / "m/broken_out.json")
    ingest(tmp_path / "warehouse", tree)

    write(broken, GOOD[:-1])
    ingest(tmp_path / "warehouse", tree)

    assert refusals(tmp_path / "warehouse") == {"broken_out.json": "truncated"}
    assert contents(tmp_path / "warehouse")["scenarios"]["scenario"].to_list() == ["good"]
    assert_same_contents(tmp_path / "warehouse", fresh_contents(tmp_path / "fresh", tree))

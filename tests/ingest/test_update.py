"""Ingest: incremental by content, and the result is that of a fresh ingest of the same files."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.changes import hold
from orchbench_analytics.errors import PathError, WarehouseError
from orchbench_analytics.ingest import sources, update
from orchbench_analytics.ingest.update import IngestSummary
from orchbench_analytics.store.manifest import load_manifest
from tests.documents import (
    agent_card,
    judge_log,
    results_document,
    run,
    runs_document,
    scenario_path,
    write,
    write_sweep,
)
from tests.warehouses import (
    assert_same_contents,
    contents,
    fresh_contents,
    ingest,
    refusals,
    rows,
    source,
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A results tree of two models, and agent cards."""
    write(tmp_path / "tree/agent_cards/EN/weather.json", agent_card())
    write(tmp_path / "tree/agent_cards/EN/bank.json", agent_card("bank_agent", "pay"))
    return write_sweep(tmp_path / "tree")


@pytest.fixture
def warehouse(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse of the tree; its files are known by their times, however short ago those are."""
    monkeypatch.setattr(sources, "_TICK_NS", 0)
    ingest(tmp_path / "warehouse", tree)
    return tmp_path / "warehouse"


def age(tree: Path) -> None:
    """Wait until the files are old enough to be known by their times."""
    newest = max(path.stat().st_ctime for path in tree.rglob("*.json"))
    time.sleep(max(0.0, newest + 2.1 - time.time()))


def counts(summary: IngestSummary) -> tuple[int, int, int, int]:
    """Files taken, unchanged, removed and refused."""
    return summary.taken, summary.unchanged, summary.removed, len(summary.refused)


def assert_as_fresh(warehouse: Path, *paths: Path, **options: str) -> None:
    fresh = fresh_contents(warehouse.with_name("fresh"), *paths, **options)
    assert_same_contents(warehouse, fresh)


OPENED_FILES = """
import sys
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
from orchbench_analytics import open_warehouse
summary = open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2], score=False, jobs=1)
print(summary.taken, summary.unchanged, sum(sys.argv[2] in path for path in opened))
"""


def ingest_and_count_opened(warehouse: Path, tree: Path) -> str:
    """Files taken and unchanged, and how many of the tree were so much as opened."""
    command = [sys.executable, "-c", OPENED_FILES, str(warehouse), str(tree)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def test_a_fresh_ingest_takes_everything(tmp_path: Path, tree: Path) -> None:
    summary = ingest(tmp_path / "warehouse", tree)

    assert counts(summary) == (16, 0, 0, 0)
    found = contents(tmp_path / "warehouse")
    assert {name: len(frame) for name, frame in found.items()} == {
        "sources": 16,
        "tool_parameters": 2,
        "scenarios": 6,
        "steps": 24,
        "plans": 12,
        "judgements": 6,
        "reported_scenarios": 2,
        "reported_models": 6,
        "run_logs": 0,
    }


def test_an_unchanged_tree_is_recognised_without_opening_a_file(tmp_path: Path, tree: Path) -> None:
    write(tree / "some-result.json", results_document())
    write(tree / "notes.json", {"of": "another kind"})
    write(tree / "broken_out.json", b"{")
    write(tree / "model-0/exp/step_wise_evaluation_EN/model-0/1_out.json.gz")  # a duplicate
    age(tree)
    ingest(tmp_path / "warehouse", tree)
    before = load_manifest(tmp_path / "warehouse")

    assert ingest_and_count_opened(tmp_path / "warehouse", tree) == "0 17 0"
    assert load_manifest(tmp_path / "warehouse") == before


def test_files_that_changed_just_now_are_looked_at_again(tmp_path: Path, tree: Path) -> None:
    ingest(tmp_path / "warehouse", tree)

    assert counts(ingest(tmp_path / "warehouse", tree)) == (0, 16, 0, 0)


def test_a_touched_file_is_known_by_its_content(warehouse: Path, tree: Path) -> None:
    before = contents(warehouse)
    for path in tree.rglob("*.json"):
        path.touch()

    assert counts(ingest(warehouse, tree)) == (0, 16, 0, 0)
    assert_same_contents(warehouse, before)


def test_a_changed_file_replaces_its_rows(warehouse: Path, tree: Path) -> None:
    write(scenario_path(tree, "model-0", "1"), runs_document({"run #1": run()}))
    write(tree / "model-1/exp/evaluation_result_EN.json", results_document("a/model-1"))
    log = tree / "model-1/exp/llm_evaluation_logs_EN/0_out_trial_run #1.json"
    write(log, judge_log('{"city": {"fp_count": 3}}'))

    assert counts(ingest(warehouse, tree)) == (3, 13, 0, 0)
    assert_as_fresh(warehouse, tree)


def test_a_change_of_the_same_size_and_time_is_seen(warehouse: Path, tree: Path) -> None:
    path = scenario_path(tree, "model-0", "1")
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"scenario_id": "12"', b'"scenario_id": "13"'))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert counts(ingest(warehouse, tree)) == (1, 15, 0, 0)
    assert_as_fresh(warehouse, tree)


def test_removed_files_stay_until_they_are_pruned(warehouse: Path, tree: Path) -> None:
    before = contents(warehouse)
    shutil.rmtree(tree / "model-0")
    (tree / "agent_cards/EN/bank.json").unlink()

    assert counts(ingest(warehouse, tree)) == (0, 8, 0, 0)
    assert_same_contents(warehouse, before)

    assert counts(ingest(warehouse, tree, prune=True)) == (0, 8, 8, 0)
    assert_as_fresh(warehouse, tree)


def test_pruning_reaches_no_further_than_the_paths_given(warehouse: Path, tree: Path) -> None:
    before = contents(warehouse)
    shutil.rmtree(tree / "model-0")

    assert counts(ingest(warehouse, tree / "model-1", prune=True)) == (0, 7, 0, 0)
    assert_same_contents(warehouse, before)


def test_a_moved_tree_takes_the_place_of_the_old_one(warehouse: Path, tree: Path) -> None:
    moved = tree.rename(tree.with_name("elsewhere"))

    ingest(warehouse, moved)

    assert_as_fresh(warehouse, moved)


def test_a_tree_reached_by_another_path_takes_the_place_of_the_old_one(
    warehouse: Path, tree: Path
) -> None:
    link = tree.with_name("link")
    link.symlink_to(tree)

    assert ingest(warehouse, link).refused == []
    assert_as_fresh(warehouse, link)


def test_of_two_files_about_the_same_the_second_is_refused(warehouse: Path, tree: Path) -> None:
    before = contents(warehouse)
    copy = shutil.copytree(tree, tree.with_name("copy"))

    summary = ingest(warehouse, copy)

    assert counts(summary) == (0, 0, 0, 16)
    assert {refused.reason for refused in summary.refused} == {"duplicate"}
    assert str(tree / "agent_cards/EN/bank.json") in str(summary.refused[0].message)
    for table in ("scenarios", "steps", "plans", "judgements", "tool_parameters"):
        assert rows(warehouse, table).equals(before[table])


def test_a_packed_copy_beside_its_file_is_a_duplicate(tmp_path: Path, tree: Path) -> None:
    plain = scenario_path(tree, "model-0", "1")
    write(plain.with_name("1_out.json.gz"))

    ingest(tmp_path / "warehouse", tree)

    assert refusals(tmp_path / "warehouse") == {"1_out.json.gz": "duplicate"}
    assert len(rows(tmp_path / "warehouse", "scenarios")) == 6


def test_a_duplicate_is_taken_where_the_first_file_is_unreadable(
    tmp_path: Path, tree: Path
) -> None:
    first = scenario_path(tree, "model-0", "1")
    write(first, b"{")
    write(first.with_name("1_out.json.gz"))
    write(first.with_name("1_out.json.zst"))

    ingest(tmp_path / "warehouse", tree)

    assert refusals(tmp_path / "warehouse") == {
        "1_out.json": "truncated",
        "1_out.json.zst": "duplicate",
    }
    assert len(rows(tmp_path / "warehouse", "scenarios")) == 6


@pytest.mark.parametrize("problem", ["broken", "removed", "pruned"])
def test_a_duplicate_takes_over_when_the_first_file_is_lost(
    warehouse: Path, tree: Path, problem: str
) -> None:
    first = scenario_path(tree, "model-0", "1")
    write(first.with_name("1_out.json.gz"), runs_document({"run #1": run()}))
    ingest(warehouse, tree)
    assert refusals(warehouse) == {"1_out.json.gz": "duplicate"}

    if problem == "broken":
        write(first, b"{")
    else:
        first.unlink()
    ingest(warehouse, tree, prune=problem == "pruned")

    assert refusals(warehouse) == ({"1_out.json": "truncated"} if problem == "broken" else {})
    assert_as_fresh(warehouse, tree)


def test_many_small_parts_are_joined_and_keep_their_rows(warehouse: Path, tree: Path) -> None:
    for scenario in range(10, 25):
        write(scenario_path(tree, "model-0", str(scenario)))
        ingest(warehouse, tree)

    assert_as_fresh(warehouse, tree)
    assert len(load_manifest(warehouse).parts) <= 9


def test_all_files_of_a_model_can_change_at_once(warehouse: Path, tree: Path) -> None:
    for path in tree.glob("model-0/*/*/*/*_out.json"):
        write(path, runs_document({"run #7": run()}))

    ingest(warehouse, tree)

    assert_as_fresh(warehouse, tree)


@pytest.mark.parametrize("model", ["org/model:tag", "모델", "..", "x" * 500, "=cmd()", " ", "a\nb"])
def test_any_name_of_a_model_will_do(warehouse: Path, tree: Path, model: str) -> None:
    other = write(tree.with_name("other") / "12_out.json")

    ingest(warehouse, other, model=model)

    assert model in rows(warehouse, "steps")["model"].to_list()
    assert (warehouse / "parts").exists()
    inside = {path.resolve() for path in warehouse.rglob("*.parquet")}
    assert all(warehouse.resolve() in path.parents for path in inside)


@pytest.mark.parametrize("said", [{"model": "x"}, {"experiment": "x"}, {"language": "KO"}])
def test_files_placed_otherwise_move_their_rows(
    tmp_path: Path, tree: Path, said: dict[str, str]
) -> None:
    one_model = tree / "model-0"
    ingest(tmp_path / "warehouse", one_model)

    ingest(tmp_path / "warehouse", one_model, **said)

    assert_as_fresh(tmp_path / "warehouse", one_model, **said)
    ingest(tmp_path / "warehouse", one_model)
    assert_same_contents(tmp_path / "warehouse", fresh_contents(tmp_path / "plain", one_model))


def test_a_pattern_can_rename_scenarios(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tree / "m/12_out.json")
    ingest(tmp_path / "warehouse", tree)

    ingest(tmp_path / "warehouse", tree, pattern="{model}/{scenario}.json")

    assert rows(tmp_path / "warehouse", "steps")["scenario"].unique().to_list() == ["12_out"]
    assert_as_fresh(tmp_path / "warehouse", tree, pattern="{model}/{scenario}.json")


def test_result_files_are_placed_by_what_they_say(tmp_path: Path) -> None:
    tree = tmp_path / "expected"
    write(tree / "any_EN.json", results_document("r/m/seed/step_wise_evaluation_EN/m"))
    write(tree / "gpt-result.json", results_document("r/m/seed/step_wise_evaluation_KO/m"))
    write(tree / "evaluation_result_EN.json", results_document("out/other"))

    ingest(tmp_path / "warehouse", tree)

    placed = rows(tmp_path / "warehouse", "sources").select("model", "experiment", "language")
    assert sorted(placed.rows()) == [
        ("gpt", "seed", "KO"),
        ("m", "seed", "EN"),
        ("other", "default", "EN"),
    ]
    age(tree)
    ingest(tmp_path / "warehouse", tree)
    assert ingest_and_count_opened(tmp_path / "warehouse", tree) == "0 3 0"


def test_agent_cards_follow_their_files(warehouse: Path, tree: Path) -> None:
    cards = tree / "agent_cards/EN"
    write(cards / "weather.json", agent_card("weather_agent", "getStorms"))
    write(cards / "bank.json", b"{")
    write(cards / "shop.json", agent_card("shop_agent", "buy"))
    write(cards / "shop_again.json", agent_card("shop_agent", "sell"))

    ingest(warehouse, tree)

    assert refusals(warehouse) == {"bank.json": "truncated", "shop_again.json": "duplicate"}
    assert rows(warehouse, "tool_parameters")["tool"].to_list() == ["buy", "getStorms"]
    assert_as_fresh(warehouse, tree)

    (cards / "shop.json").unlink()
    ingest(warehouse, tree, prune=True)

    assert rows(warehouse, "tool_parameters")["tool"].to_list() == ["sell", "getStorms"]
    assert_same_contents(warehouse, fresh_contents(warehouse.with_name("again"), tree))


def test_cards_of_another_path_are_added(warehouse: Path, tree: Path) -> None:
    other = tree.with_name("other_cards")
    write(other / "KO/anything.json", agent_card("news_agent", "read"))

    ingest(warehouse, other)

    tools = rows(warehouse, "tool_parameters").select("language", "tool", "tool_order").rows()
    assert tools == [("EN", "pay", 1), ("EN", "getForecast", 2), ("KO", "read", 0)]


def test_a_results_tree_may_hold_its_warehouse(tree: Path) -> None:
    ingest(tree / "warehouse", tree)

    assert counts(ingest(tree / "warehouse", tree)) == (0, 16, 0, 0)


def test_an_empty_tree_makes_no_warehouse(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()

    summary = ingest(tmp_path / "warehouse", tmp_path / "tree")

    assert counts(summary) == (0, 0, 0, 0)
    assert not (tmp_path / "warehouse").exists()


def test_a_directory_that_holds_other_things_is_left_alone(tmp_path: Path, tree: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/thesis.txt").write_text("precious")

    with pytest.raises(WarehouseError, match=r"holds other things \(thesis.txt\)"):
        ingest(tmp_path / "home", tree)
    with pytest.raises(PathError, match="no such file or directory"):
        ingest(tmp_path / "warehouse", tree / "nothing")

    assert [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.txt"]
    assert not (tmp_path / "warehouse").exists()


def test_two_ingests_at_once_come_one_after_the_other(tmp_path: Path) -> None:
    trees = [write_sweep(tmp_path / name / "results", models=3) for name in ("a", "b")]
    for path in trees[1].glob("*/*"):
        path.rename(path.with_name("other"))
    command = (
        "import sys; from orchbench_analytics import open_warehouse;"
        "open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2], score=False, jobs=1)"
    )

    running = [
        subprocess.Popen([sys.executable, "-c", command, str(tmp_path / "warehouse"), str(tree)])
        for tree in trees
    ]

    assert [process.wait() for process in running] == [0, 0]
    assert_as_fresh(tmp_path / "warehouse", *trees)


def test_a_second_ingest_that_will_not_wait_says_who_is_at_it(tmp_path: Path, tree: Path) -> None:
    root = tmp_path / "warehouse"

    with (
        hold(root, wait=False, on_wait=print),
        pytest.raises(WarehouseError, match=f"is being written by process {os.getpid()}"),
    ):
        open_warehouse(root, create=True).ingest(tree, wait=False)


def test_progress_counts_files_and_bytes(tmp_path: Path, tree: Path) -> None:
    steps: list[tuple[int, int, int]] = []

    ingest(tmp_path / "warehouse", tree, jobs=1, progress=lambda *step: steps.append(step))

    files, sizes, totals = zip(*steps, strict=True)
    assert sum(files) == 14
    assert (
        sum(sizes)
        == totals[0]
        == sum(
            path.stat().st_size for path in tree.rglob("*.json") if "agent_cards" not in path.parts
        )
    )


def test_sources_keep_what_became_of_each_file(warehouse: Path, tree: Path) -> None:
    path = scenario_path(tree, "model-0", "1")

    row = source(warehouse, path)

    assert row["status"] == "taken"
    assert (row["model"], row["experiment"], row["language"]) == ("model-0", "exp", "EN")
    assert row["byte_count"] == path.stat().st_size
    assert row["part_id"] in {part.part_id for part in load_manifest(warehouse).parts}


def test_the_log_of_a_run_is_read_again_and_pruned(warehouse: Path, tree: Path) -> None:
    log = scenario_path(tree, "model-0").parents[2] / "scenario_processing_EN.log"
    line = b'INFO:httpx:HTTP Request: POST http://host "HTTP/1.1 503 Service Unavailable"\n'
    write(log, line)
    ingest(warehouse, tree)
    assert rows(warehouse, "run_logs")["failed_request_count"].to_list() == [1]

    write(log, line * 3)
    ingest(warehouse, tree)
    assert rows(warehouse, "run_logs")["failed_request_count"].to_list() == [3]
    scenarios = rows(warehouse, "scenarios")

    log.unlink()
    ingest(warehouse, tree, prune=True)
    assert rows(warehouse, "run_logs").is_empty()
    assert rows(warehouse, "scenarios").equals(scenarios)


def test_a_file_that_is_gone_is_named_until_it_is_pruned(warehouse: Path, tree: Path) -> None:
    path = scenario_path(tree, "model-0", "0")
    path.unlink()

    for _ in range(2):
        assert [source.path for source in ingest(warehouse, tree).gone] == [str(path)]
    assert ingest(warehouse, tree / "model-1").gone == []  # its place was not searched
    assert len(rows(warehouse, "scenarios").filter(model="model-0")) == 3

    pruned = ingest(warehouse, tree, prune=True)
    assert (pruned.removed, pruned.gone) == (1, [])
    assert ingest(warehouse, tree).gone == []


def test_a_second_result_file_is_refused_with_both_paths(tmp_path: Path) -> None:
    directory = "data/results/step_wise_evaluation/sim-weak_4.1"
    first = write(tmp_path / "tree/by_hand/EN/sim-weak_4.1.json", results_document(directory))
    second = write(tmp_path / "tree/again.json", results_document(directory))
    write(tmp_path / "tree/KO/again.json", results_document(directory))

    summary = ingest(tmp_path / "w", tmp_path / "tree")

    (refused,) = summary.refused
    assert (refused.path, refused.model) == (str(first), "sim-weak_4.1")
    assert str(second) in str(refused.message)
    reported = rows(tmp_path / "w", "reported_models").select("model", "experiment", "language")
    assert set(reported.rows()) == {
        ("sim-weak_4.1", "default", "EN"),
        ("sim-weak_4.1", "default", "KO"),
    }


def test_cards_without_a_directory_of_their_own_are_looked_for(tmp_path: Path) -> None:
    write(tmp_path / "schemas/KO/weather.json", agent_card())
    write(tmp_path / "schemas/KO/broken.json", b'{"agent_card": ')
    write(tmp_path / "schemas/KO/12_out.json", runs_document())
    write(tmp_path / "schemas/KO/other.json", {"count": 1})
    write(tmp_path / "tree/m/EN/12_out.json")

    summary = ingest(tmp_path / "w", tmp_path / "tree", agent_cards=tmp_path / "schemas")

    assert (summary.taken, refusals(tmp_path / "w")) == (2, {"broken.json": "truncated"})
    assert rows(tmp_path / "w", "tool_parameters")["language"].to_list() == ["KO"]


def test_an_ingest_in_which_all_was_refused_is_of_no_use(tmp_path: Path) -> None:
    write(tmp_path / "tree/m/EN/12_out.json", b"{")
    write(tmp_path / "tree/agent_cards/EN/weather.json", agent_card())

    refused = ingest(tmp_path / "w", tmp_path / "tree")
    write(tmp_path / "tree/m/EN/13_out.json")
    mixed = ingest(tmp_path / "w", tmp_path / "tree")
    cards = ingest(tmp_path / "w", tmp_path / "tree/agent_cards")

    assert (refused.is_unusable, mixed.is_unusable, cards.is_unusable) == (True, False, False)


def test_files_are_decided_alike_in_one_batch_and_in_many(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that are duplicates, cards, gone, or move from one experiment to another."""
    together, apart = tmp_path / "together", tmp_path / "apart"

    def ingest_both(*paths: Path, **options: Any) -> None:
        said = []
        for warehouse, size in ((together, update._BATCH_FILES), (apart, 1)):
            with monkeypatch.context() as changed:
                changed.setattr(update, "_BATCH_FILES", size)
                summary = ingest(warehouse, *paths, jobs=1, **options)
            said.append((counts(summary), [s.path for s in (*summary.refused, *summary.gone)]))
        assert said[0] == said[1]
        assert_same_contents(apart, contents(together))

    duplicate = scenario_path(tree, "model-0", "1").with_suffix(".json.gz")
    write(duplicate)
    write(tree / "notes.json", {"of": "another kind"})
    ingest_both(tree)
    ingest_both(scenario_path(tree, "model-1", "1").parent, experiment="other")
    scenario_path(tree, "model-0", "1").unlink()
    write(scenario_path(tree, "model-2", "1"))
    write(tree / "agent_cards/EN/weather.json", agent_card(tool="other"))
    ingest_both(tree)
    ingest_both(tree, prune=True)
    assert source(apart, duplicate)["status"] == "taken"

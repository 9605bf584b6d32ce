"""The words people type: what comes out where, and with which exit code."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from tests import documents
from tests.processes import ORCHBENCH


def test_ingest_talks_on_stderr_and_lists_refusals(orchbench, tmp_path: Path) -> None:
    tree = tmp_path / "results"
    documents.write(tree / "m" / "EN" / "1_out.json", documents.runs_document())
    (tree / "m" / "EN" / "2_out.json").write_text('{"history": ', encoding="utf-8")
    done = orchbench("ingest", tree, "--into", tmp_path / "w")
    assert done.returncode == 0
    assert done.stdout == ""
    assert "1 taken, 1 refused" in done.stderr
    assert "2_out.json: truncated" in done.stderr

    listed = orchbench("sources", tmp_path / "w", "--status", "refused", "--format", "json")
    (row,) = json.loads(listed.stdout)
    assert row["reason"] == "truncated"
    strict = orchbench("ingest", tree, "--into", tmp_path / "w", "--fail-on-refused", "--quiet")
    assert (strict.returncode, strict.stdout, strict.stderr) == (1, "", "")


def test_refusals_are_counted_by_reason_with_an_example(orchbench, tmp_path: Path) -> None:
    tree, into = tmp_path / "results", tmp_path / "w"
    documents.write(tree / "m" / "EN" / "0_out.json", documents.runs_document())
    for scenario in range(1, 31):
        (tree / "m" / "EN" / f"{scenario}_out.json").write_text('{"history": ', encoding="utf-8")
    (tree / "m" / "EN" / "31_out.json").write_text("[]", encoding="utf-8")

    said = orchbench("ingest", tree, "--into", into, "--jobs", 1).stderr.splitlines()
    assert said[0].endswith(": 1 taken, 31 refused")
    assert sum("refused" in line for line in said[1:]) == 3
    assert any("refused as truncated: 30 files, such as " in line for line in said)
    assert f"  list them with: orchbench sources {into} --status refused" in said

    refused = ("sources", into, "--status", "refused")
    summed_up = orchbench(*refused)
    assert re.search(r"^truncated +30 ", summed_up.stdout, re.M)
    assert "all 31 are listed with --all" in summed_up.stderr
    assert orchbench(*refused, "--all").stdout.count("truncated") == 30
    assert len(json.loads(orchbench(*refused, "-f", "json").stdout)) == 31


def test_ingest_says_what_is_gone_and_what_was_all_refused(orchbench, tmp_path: Path) -> None:
    tree, into = tmp_path / "results", ("--into", tmp_path / "w", "--no-score")
    for scenario in (1, 2):
        documents.write(tree / f"m/EN/{scenario}_out.json", documents.runs_document())
    orchbench("ingest", tree, *into)
    (tree / "m/EN/1_out.json").unlink()

    one = orchbench("ingest", tree, *into)
    (tree / "m/EN/2_out.json").unlink()
    both = orchbench("ingest", tree, *into)
    (tree / "m/EN/3_out.json").write_text("{", encoding="utf-8")
    pruned = orchbench("ingest", tree, *into, "--prune")

    said = f"  1 file is gone, such as {tree}/m/EN/1_out.json: it still counts; "
    assert f"{said}forget it with --prune\n" in one.stderr
    assert (one.returncode, both.returncode, pruned.returncode) == (0, 1, 1)
    assert "  2 files are gone, such as " in both.stderr
    assert "1 refused" in pruned.stderr
    assert (
        pruned.stderr.splitlines()[-1] == "  nothing can be scored: every result file was refused"
    )
    assert " gone" not in pruned.stderr


def test_a_warehouse_without_scores_says_how_to_get_them(
    orchbench, demo: Path, tmp_path: Path
) -> None:
    models = sorted(path for path in (demo / "results").iterdir() if path.is_dir())
    open_warehouse(tmp_path / "raw", create=True).ingest(models[0], score=False, jobs=1)

    done = orchbench("leaderboard", tmp_path / "raw")

    assert done.returncode == 2
    assert done.stderr.endswith(f"score it with: orchbench score {tmp_path}/raw --profile spec\n")


def test_leaderboard_in_every_format(orchbench, demo: Path, tmp_path: Path) -> None:
    table = orchbench("leaderboard", demo / "warehouse").stdout
    assert "profile spec" in table
    assert " perfect " in table
    rows = json.loads(orchbench("leaderboard", demo / "warehouse", "--format", "json").stdout)
    assert rows[0]["average_score"] == 1.0
    csv = orchbench("leaderboard", demo / "warehouse", "--format", "csv").stdout
    assert csv.startswith("rank_number,model,")
    for name in ("board.parquet", "board.xlsx", "board.jsonl", "board.md"):
        assert orchbench("leaderboard", demo / "warehouse", "-o", tmp_path / name).stdout == ""
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.long
def test_rows_are_chosen_by_the_same_words_everywhere(orchbench, demo: Path) -> None:
    def rows(*arguments: object) -> list[dict[str, object]]:
        return json.loads(orchbench(*arguments, "--format", "json").stdout)

    warehouse = demo / "warehouse"
    graded = rows("leaderboard", warehouse, "--model", "graded-*", "--sort", "Plan", "--limit", 2)
    plans = [row["workflow_similarity"] for row in graded]
    assert plans == sorted(plans)
    assert len(plans) == 2
    for command in (("consistency",), ("consistency", "gaps"), ("audit",), ("sources",)):
        found = rows(command[0], warehouse, *command[1:], "--model", "perfect")
        assert {row["model"] for row in found} == {"perfect"}
        assert command != ("audit",) or "all rules" in {row["rule"] for row in found}
    english = rows("compare", warehouse, "perfect", "silent", "--language", "en")
    assert {row["language"] for row in english} == {"EN"}
    assert [row["n"] for row in rows("sql", warehouse, "select 1 as n", "--limit", 1)] == [1]


@pytest.mark.parametrize("how", ["variable", pytest.param("file", marks=pytest.mark.long)])
def test_the_warehouse_may_be_named_elsewhere(
    orchbench, monkeypatch, demo: Path, tmp_path: Path, how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if how == "variable":
        monkeypatch.setenv("ORCHBENCH_WAREHOUSE", str(demo / "warehouse"))
    else:
        (tmp_path / "orchbench.toml").write_text(f'warehouse = "{demo / "warehouse"}"\n')
    assert orchbench("leaderboard", "-f", "csv").stdout.startswith("rank_number")
    assert orchbench("sql", "select 1 as one", "-f", "csv").stdout == "one\n1\n"
    assert json.loads(orchbench("results", "perfect", "-l", "EN").stdout)
    two = orchbench("compare", "perfect", "silent", "-f", "json")
    assert {row["candidate_model"] for row in json.loads(two.stdout)} == {"silent"}
    named = orchbench("compare", demo / "warehouse", "perfect", "silent", "-f", "json")
    assert named.stdout == two.stdout


def test_drivers_are_one_document(orchbench, demo: Path, tmp_path: Path) -> None:
    call = ("compare", demo / "warehouse", "perfect", "silent", "--drivers", 2)
    rows = json.loads(orchbench(*call, "--format", "json").stdout)
    assert [row["kind"] for row in rows].count("scenarios") == 2
    assert {row["kind"] for row in rows} == {"comparison", "scenarios", "agents", "tools"}
    orchbench(*call, "-o", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == rows
    plan = orchbench(*call, "--metric", "Plan", "--format", "json")
    drivers = [row for row in json.loads(plan.stdout) if row["kind"] == "scenarios"]
    assert {row["metric"] for row in drivers} == {"workflow_similarity"}


def test_either_name_of_a_metric_is_the_same(orchbench, demo: Path) -> None:
    call = ("compare", demo / "warehouse", "perfect", "silent", "--format", "csv", "--metric")
    label, column = orchbench(*call, "Call/Reject"), orchbench(*call, "call_rejection_f1")
    assert label.stdout == column.stdout
    assert "call_rejection_f1" in label.stdout


def test_compare_ends_with_a_sentence(orchbench, demo: Path) -> None:
    call = ("compare", demo / "warehouse", "silent", "perfect", "--metric")
    said = orchbench(*call, "Average").stderr
    assert re.search(
        r"perfect against silent: Average \+100\.0 points \[.+, 100\.0\], better\n", said
    )
    assert "; Plan +100.0 points" in orchbench(*call, "Average", "--metric", "Plan").stderr


def test_check_prints_json_whatever_it_found_and_says_that_all_agree(orchbench, demo: Path) -> None:
    done = orchbench("check", demo / "warehouse", "--format", "json")
    assert json.loads(done.stdout) == []
    assert "all agree" in done.stderr


def test_a_profile_can_be_written_scored_and_removed(
    orchbench, monkeypatch, demo: Path, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo / "warehouse", "w")
    assert orchbench("profile", "new", "mine.toml", "--base", "strict").returncode == 0
    assert "0 rules differ" in orchbench("profile", "diff", "mine.toml", "strict").stderr
    text = Path("mine.toml").read_text(encoding="utf-8")
    Path("mine.toml").write_text(text.replace('# no_arguments = "one"', 'no_arguments = "zero"'))
    assert "1 rule differs" in orchbench("profile", "diff", "mine.toml", "strict").stderr
    assert orchbench("score", "w", "--profile", "mine.toml", "--jobs", 1).returncode == 0
    assert orchbench("leaderboard", "w", "-p", "mine").returncode == 0
    assert "removed mine" in orchbench("remove", "w", "--profile", "mine").stderr
    assert orchbench("leaderboard", "w", "-p", "mine").returncode == 2


@pytest.mark.long
def test_a_removed_model_is_gone_and_the_others_are_as_before(
    orchbench, monkeypatch, demo: Path, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo / "warehouse", "w")
    before = open_warehouse("w").table("model_scores").collect().filter(pl.col("model") != "silent")
    done = orchbench("remove", "w", "--model", "silent", "--jobs", 1)
    assert "removed silent/baseline" in done.stderr
    opened = open_warehouse("w")
    assert opened.table("model_scores").collect().equals(before)
    assert "silent" not in set(opened.sources()["model"])
    assert orchbench("check", "w").returncode == 0
    orchbench("ingest", demo / "results", "--into", "w", "--jobs", 1)
    assert "silent" in set(open_warehouse("w").models()["model"])


def test_tags_add_up_until_they_are_replaced(
    orchbench, monkeypatch, demo: Path, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo / "warehouse", "w")
    Path("a.csv").write_text("model,size\nperfect,7\nnosuch,1\n")
    Path("b.csv").write_text("model,family\nperfect,x\nsilent,y\n")
    first = orchbench("tag", "w", "a.csv").stderr
    assert "1 model tagged with size" in first
    assert "not in the warehouse, kept for later: nosuch" in first
    orchbench("tag", "w", "b.csv")
    tags = open_warehouse("w").table("model_tags").collect()
    perfect = tags.filter(model="perfect").row(0, named=True)
    assert (perfect["size"], perfect["family"]) == (7, "x")
    orchbench("tag", "w", "b.csv", "--replace")
    assert "size" not in open_warehouse("w").table("model_tags").collect().columns
    orchbench("remove", "w", "--tags")
    assert open_warehouse("w").table("model_tags").collect().columns == ["model", "experiment"]


def test_one_step_is_shown_whole(orchbench, demo: Path) -> None:
    show = ("show", demo / "warehouse", "graded-2")
    scenarios = json.loads(orchbench(*show, "-f", "json").stdout)
    scenario, language = scenarios[0]["scenario"], scenarios[0]["language"]
    steps = json.loads(orchbench(*show, scenario, "-l", language, "-f", "json").stdout)
    for kind, words in (
        ("plan", ("Asked", "read as", "structure", "Label", "Answer", "workflow_1", "─ ")),
        ("decision", ("Asked", "Label", "Answer", "wanted", "answered", "counted")),
    ):
        row = next(row for row in steps if row["kind"] == kind)
        page = orchbench(*show, scenario, row["step_id"], "-l", language, "--run", row["run"])
        assert [word for word in words if word not in page.stdout] == []


def test_a_model_may_be_named_as_tables_name_it(orchbench, demo: Path) -> None:
    warehouse, name = demo / "warehouse", "graded-2/worked-examples"

    shown = json.loads(orchbench("show", warehouse, name, "-f", "json").stdout)
    assert {row["experiment"] for row in shown} == {"worked-examples"}
    board = orchbench("leaderboard", warehouse, "-m", name, "-m", "perf*", "-f", "json")
    assert [row["model"] for row in json.loads(board.stdout)] == ["perfect", "graded-2"]
    results = orchbench("results", warehouse, name, "-l", "EN")
    assert "graded-2/worked-examples" in json.loads(results.stdout)["directory"]


def test_an_ingest_says_that_upstream_lacks_agent_cards(orchbench, tmp_path: Path) -> None:
    documents.write(documents.scenario_path(tmp_path / "results"))
    documents.write(tmp_path / "agent_cards" / "weather.json", documents.agent_card())
    ingest = ("ingest", tmp_path / "results", "--into", tmp_path / "warehouse")

    assert "no agent cards" in orchbench(*ingest).stderr
    assert "no agent cards" not in orchbench(*ingest, "--agent-cards", tmp_path).stderr
    assert "no agent cards" not in orchbench(*ingest).stderr


def test_an_ingest_of_nothing_makes_no_warehouse(orchbench, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = orchbench("ingest", tmp_path / "empty", "--into", tmp_path / "w")
    assert (done.returncode, "no input files found" in done.stderr) == (1, True)
    assert not (tmp_path / "w").exists()


def test_results_are_the_seeds_json(orchbench, demo: Path) -> None:
    warehouse = demo / "warehouse"
    done = orchbench("results", warehouse, "perfect", "--language", "EN", "--profile", "spec")
    document = json.loads(done.stdout)
    assert list(document) == ["directory", "profile", "overall_statistics", "detailed_results"]
    assert document["overall_statistics"]["key_metrics"] == {
        "Average": 1.0,
        "Call Rejection Classification Accuracy": 1.0,
        "FC": 1.0,
        "Plan": 1.0,
    }


def test_a_crossed_gate_ends_with_exit_code_1(orchbench, demo: Path) -> None:
    warehouse = demo / "warehouse"
    crossed = orchbench("compare", warehouse, "perfect", "silent", "--gate", "Plan >= -0.01")
    held = orchbench("compare", warehouse, "silent", "perfect", "--gate", "Plan >= -0.01")
    assert (crossed.returncode, held.returncode) == (1, 0)
    assert "crossed" in crossed.stderr
    assert "held" in held.stderr


def test_an_undecided_gate_ends_with_exit_code_3_unless_it_may_pass(orchbench, demo: Path) -> None:
    gate = ("compare", demo / "warehouse", "perfect", "graded-1", "--gate", "Plan >= -0.02")
    failed, passed = orchbench(*gate), orchbench(*gate, "--undecided", "pass")
    assert (failed.returncode, passed.returncode) == (3, 0)
    assert "may have gone unnoticed" in failed.stderr


def test_one_against_all_and_power(orchbench, demo: Path) -> None:
    rows = json.loads(
        orchbench("compare", demo / "warehouse", "perfect", "--format", "json").stdout
    )
    assert {row["baseline_model"] for row in rows} == {"perfect"}
    planned = orchbench("power", demo / "warehouse", "--format", "json")
    assert orchbench("plan", demo / "warehouse", "--format", "json").stdout == planned.stdout
    assert {row["wanted_difference"] for row in json.loads(planned.stdout)} == {0.01}
    assert "worth more" in planned.stderr


def test_a_query_from_standard_input(orchbench, demo: Path) -> None:
    done = orchbench("sql", demo / "warehouse", "-", "--format", "csv", text="select 1 as one")
    assert done.stdout == "one\n1\n"


def test_output_into_a_closed_pipe_is_no_error(demo: Path) -> None:
    query = ["sql", demo / "warehouse", "from main.steps", "--format", "csv"]
    command = shlex.join(map(str, [*ORCHBENCH, *query]))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_demo_makes_scores_and_says_what_to_try(orchbench, monkeypatch, tmp_path: Path) -> None:
    small = ("--models", 2)
    monkeypatch.chdir(tmp_path)
    done = orchbench("demo", "sweep", *small)
    assert done.returncode == 0
    assert "perfect" in done.stdout
    assert "What to try next" in done.stderr
    again = orchbench("demo", "sweep", *small)
    assert again.returncode == 0
    assert "unchanged" in again.stderr


def test_demo_names_commands_that_work_if_the_environment_is_not_activated(
    orchbench, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = orchbench("demo", "sweep", "--models", 2)
    first = done.stderr.partition("What to try next:")[2].split("\n")[1]
    tried = subprocess.run(shlex.split(first), capture_output=True, text=True, check=False)
    assert tried.returncode == 0
    assert "perfect" in tried.stdout


def test_a_warehouse_without_scores_has_nothing_to_agree_on(
    orchbench, demo: Path, tmp_path: Path
) -> None:
    results = demo / "results" / "perfect"
    open_warehouse(tmp_path / "raw", create=True).ingest(results, score=False, jobs=1)
    done = orchbench("check", tmp_path / "raw")
    assert done.returncode == 0
    assert "nothing to compare" in done.stderr
    assert "all agree" not in done.stderr


def test_names_of_files_do_not_act_on_the_terminal(orchbench, tmp_path: Path) -> None:
    tree = tmp_path / "results"
    hostile = tree / "m\x1b]0;x\x07" / "EN" / "1\u202e_out.json"
    hostile.parent.mkdir(parents=True)
    hostile.write_text("{", encoding="utf-8")
    done = orchbench("ingest", tree, "--into", tmp_path / "w")
    assert "1 refused" in done.stderr
    assert not set(done.stderr) & set("\x1b\x07\u202e")


def test_toml_that_nests_deep_is_refused(orchbench, demo: Path, tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("[m]\n" + ".".join(["a"] * 5_000) + " = 1\n")
    (tmp_path / "lists.toml").write_text("[m]\na = " + "[" * 5_000 + "]" * 5_000 + "\n")
    for name in ("deep.toml", "lists.toml"):
        done = orchbench("tag", demo / "warehouse", tmp_path / name)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_a_group_of_models_without_the_tag_is_said(orchbench, demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo / "warehouse", tmp_path / "w")
    (tmp_path / "tags.csv").write_text("model,family\nperfect,a\nsilent,b\n", encoding="utf-8")
    orchbench("tag", tmp_path / "w", tmp_path / "tags.csv")
    done = orchbench("leaderboard", tmp_path / "w", "--by", "family", "-f", "json")
    untagged = {row["family"]: row["model_count"] for row in json.loads(done.stdout)}[None]
    assert done.stderr == f"the group without a name: {untagged} without the tag 'family'\n"


def test_no_rows_is_a_sentence_and_exit_code_1(orchbench, demo: Path) -> None:
    for call in (
        ("sources", demo / "warehouse", "--status", "refused"),
        ("sql", demo / "warehouse", "select 1 as n where false"),
    ):
        done = orchbench(*call, "-f", "json")
        assert (done.returncode, done.stdout) == (1, "[]\n")
        assert "no rows" in done.stderr


def test_the_default_warehouse_is_found_from_below_and_misspelled_keys_are_said(
    orchbench, monkeypatch, demo: Path, tmp_path: Path
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "demo").symlink_to(demo)
    (tmp_path / "orchbench.toml").write_text('warehouse = "demo/warehouse"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path / "deep" / "er")
    assert orchbench("leaderboard", "-f", "csv").returncode == 0
    (tmp_path / "orchbench.toml").write_text('warehouse = "w"\nprofil = "x"\n', encoding="utf-8")
    done = orchbench("leaderboard")
    assert (done.returncode, "unknown key 'profil'" in done.stderr) == (2, True)


def test_groups_are_made_of_the_chosen_models(orchbench, demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo / "warehouse", tmp_path / "w")
    (tmp_path / "tags.csv").write_text(
        "model,family\nperfect,a\ngraded-1,b\nsilent,b\n", encoding="utf-8"
    )
    orchbench("tag", tmp_path / "w", tmp_path / "tags.csv")
    by = ("leaderboard", tmp_path / "w", "--by", "family", "-f", "json")
    done = orchbench(*by, "-m", "perfect", "-m", "graded-1")
    assert {row["family"]: row["model_count"] for row in json.loads(done.stdout)} == {
        "a": 1,
        "b": 1,
    }


def test_a_model_that_lacks_a_few_scenarios_brings_up_min_coverage(
    orchbench, demo: Path, tmp_path: Path
) -> None:
    for model in ("perfect", "graded-1"):
        for scenario in range(20):
            path = documents.scenario_path(tmp_path / "results", model, str(scenario))
            documents.write(path, documents.runs_document())
    path.unlink()
    warehouse = tmp_path / "w"
    orchbench("ingest", tmp_path / "results", "--into", warehouse, "--jobs", 1)

    said = orchbench("leaderboard", warehouse).stderr
    assert "it has 19 of 20 scenarios\n" in said
    assert "--min-coverage 0.95 ranks models that lack a few scenarios\n" in said
    ranked = orchbench("leaderboard", warehouse, "--min-coverage", 0.95, "-f", "json")
    assert [row["rank_number"] for row in json.loads(ranked.stdout)] == [1, 1]


def test_groups_tell_languages_apart_and_say_their_profile(
    orchbench, demo: Path, tmp_path: Path
) -> None:
    shutil.copytree(demo / "warehouse", tmp_path / "w")
    (tmp_path / "tags.csv").write_text("model,family\nperfect,a\nsilent,a\n", encoding="utf-8")
    orchbench("tag", tmp_path / "w", tmp_path / "tags.csv")
    by = ("leaderboard", tmp_path / "w", "--by", "family", "-p", "strict", "-f", "json")
    rows = json.loads(orchbench(*by, "-l", "EN", "-l", "KO").stdout)
    tagged = {(row["language"], row["model_count"]) for row in rows if row["family"] == "a"}
    assert tagged == {("EN", 2), ("KO", 2)}
    assert {row["profile"] for row in rows} == {"strict"}


PROFILED = [
    ("leaderboard",),
    ("leaderboard", "-m", "perfect"),
    ("leaderboard", "--intervals"),
    ("leaderboard", "--by", "size"),
    ("compare",),
    ("compare", "perfect"),
    ("compare", "perfect", "silent"),
    ("compare", "perfect", "silent", "--metric", "Plan", "-l", "EN"),
    ("show", "perfect"),
    ("show", "perfect", "1"),
    *(("consistency", what) for what in ("flips", "pass_rates", "run_noise", "spread", "gaps")),
    ("power",),
    ("trend", "size"),
    ("costs",),
    ("shortlist", "--scenarios", "2"),
    ("audit", "--model", "graded-1"),
]


@pytest.mark.long
@pytest.mark.parametrize("call", PROFILED, ids=" ".join)
def test_every_table_says_its_profile(
    orchbench, demo: Path, make_once, call: tuple[str, ...]
) -> None:
    def tag(directory: Path) -> None:
        shutil.copytree(demo / "warehouse", directory)
        tags = directory.with_name("tags.csv")
        tags.write_text("model,size\nperfect,1\ngraded-1,2\nsilent,3\n", encoding="utf-8")
        open_warehouse(directory).tag(tags)

    command, *rest = call
    full = (command, make_once("tagged", tag), *rest)
    rows = json.loads(orchbench(*full, "-f", "json").stdout)
    read = orchbench(*full)
    page = orchbench(*full, "-f", "markdown").stdout
    assert all(row["profile"] for row in rows)
    if command == "audit":  # each row is under a profile of its own
        assert "from upstream to spec" in read.stderr
    else:
        assert "profile spec" in " ".join(read.stdout.split())
        assert "profile spec" in page


def test_a_refused_scenario_and_a_wrong_refusal_are_shown_as_such(
    orchbench, demo: Path, tmp_path: Path
) -> None:
    documents.write(documents.scenario_path(tmp_path / "results"), documents.runs_document())
    cut = documents.scenario_path(tmp_path / "results", scenario="2")
    cut.write_text('{"history": ', encoding="utf-8")
    orchbench("ingest", tmp_path / "results", "--into", tmp_path / "w", "--jobs", 1)
    model = open_warehouse(tmp_path / "w").models()["model"][0]
    done = orchbench("show", tmp_path / "w", model, "2")
    assert (done.returncode, "scenario 2 could not be read (truncated)" in done.stderr) == (2, True)

    steps = open_warehouse(demo / "warehouse").show("over-cautious", "1")
    wrong = steps.filter(pl.col("wanted") == "call", pl.col("answered") != "call")
    assert wrong.height
    assert set(wrong["score"]) == {0.0}

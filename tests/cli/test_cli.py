"""The words people type: what comes out where, and with which exit code."""

import io
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli import app, main
from tests import documents
from tests.processes import ORCHBENCH, imported_by
from tests.sample_sweep import build_demo


@pytest.fixture(scope="module")
def demo(make_once) -> Path:
    return make_once("demo", build_demo)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def orchbench(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Run a command in this process, which has imported everything already."""

    def run(*arguments: object, text: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["orchbench", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


def test_help_answers_at_once() -> None:
    subprocess.run([*ORCHBENCH, "--help"], capture_output=True, check=True)
    started = time.perf_counter()
    done = subprocess.run([*ORCHBENCH, "--help"], capture_output=True, text=True, check=True)
    assert "leaderboard" in done.stdout
    assert time.perf_counter() - started < 1.5  # 0.1 s on an idle machine


def test_help_imports_nothing_heavy() -> None:
    heavy = ("polars", "duckdb", "pyarrow", "networkx", "numpy", "scipy")
    assert imported_by("import orchbench_analytics.cli", *heavy) == []


def test_every_command_and_option_has_its_help() -> None:
    import typer

    group = typer.main.get_command(app)
    assert group.commands
    for name, command in group.commands.items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name}"


def test_every_command_is_in_the_readme() -> None:
    import typer

    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    group = typer.main.get_command(app)
    assert [name for name in group.commands if f"orchbench {name}" not in readme] == []


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ingest", "/no/such/tree", "--into", "w"), "no such file or directory"),
        (("leaderboard", "nowhere"), "nowhere is not there"),
        (("leaderboard", "{warehouse}", "--profile", "nope"), "only under spec, strict, upstream"),
        (("results", "{warehouse}", "perfcet"), "perfect"),
        (("results", "{warehouse}", "perfect"), "--language EN"),
        (("sql", "{warehouse}", "select nope from main.steps"), "nope"),
        (("sql", "{warehouse}", "copy (select 1) to 'x.csv'"), "may only read"),
        (("compare", "{warehouse}", "perfect", "--gate", "Plan >= 0"), "a gate needs two models"),
        (("compare", "{warehouse}", "perfect", "silnt"), "silent"),
        (("compare", "{warehouse}", "perfect", "silent", "--gate", "Plan"), "cannot read the gate"),
        (("export", "{warehouse}", "{warehouse}"), "there already"),
        (("score", "{warehouse}", "--profile", "nope"), "no profile named"),
        (("demo", "{warehouse}"), "something else"),
        (("tag", "{warehouse}", "nope.csv"), "no such file"),
        (("leaderboard", "{warehouse}", "--by", "size"), "no tag 'size'"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_code_2(
    orchbench, monkeypatch, demo: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = orchbench(*(a.format(warehouse=demo / "warehouse") for a in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_warehouse_without_scores_says_how_to_get_them(
    orchbench, demo: Path, tmp_path: Path
) -> None:
    models = sorted(path for path in (demo / "results").iterdir() if path.is_dir())
    open_warehouse(tmp_path / "raw", create=True).ingest(models[0], score=False, jobs=1)

    done = orchbench("leaderboard", tmp_path / "raw")

    assert done.returncode == 2
    assert done.stderr.endswith(f"score it with: orchbench score {tmp_path}/raw --profile spec\n")


def test_leaderboard_in_every_format(orchbench, demo: Path, tmp_path: Path) -> None:
    table = orchbench("leaderboard", demo / "warehouse").stdout.splitlines()
    assert table[0].split() == [
        "rank", "model", "experiment", "Average", "EN", "KO", "Call/Reject", "FC", "Plan",
        "scenarios", "refused",
    ]  # fmt: skip
    assert table[2].split()[:4] == ["1", "perfect", "baseline", "1.0000"]
    rows = json.loads(orchbench("leaderboard", demo / "warehouse", "--format", "json").stdout)
    assert rows[0]["average_score"] == 1.0
    csv = orchbench("leaderboard", demo / "warehouse", "--format", "csv").stdout
    assert csv.startswith("rank_number,model,")
    target = tmp_path / "board.parquet"
    orchbench("leaderboard", demo / "warehouse", "--format", "parquet", "--output", target)
    assert target.stat().st_size > 0


def test_results_are_the_seeds_json(orchbench, demo: Path) -> None:
    done = orchbench("results", demo / "warehouse", "perfect", "--language", "EN")
    document = json.loads(done.stdout)
    assert list(document) == ["directory", "overall_statistics", "detailed_results"]
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
    assert "could not have been missed" in failed.stderr


def test_one_against_all_and_a_plan(orchbench, demo: Path) -> None:
    rows = json.loads(
        orchbench("compare", demo / "warehouse", "perfect", "--format", "json").stdout
    )
    assert {row["baseline_model"] for row in rows} == {"perfect"}
    planned = orchbench("plan", demo / "warehouse", "--format", "json")
    assert {row["wanted_difference"] for row in json.loads(planned.stdout)} == {0.01}
    assert "worth more" in planned.stderr


def test_check_and_audit_and_consistency_run(orchbench, demo: Path) -> None:
    warehouse = demo / "warehouse"
    assert "all agree" in orchbench("check", warehouse).stderr
    audit = json.loads(orchbench("audit", warehouse, "--format", "json").stdout)
    assert {"silence", "all rules"} <= {row["rule"] for row in audit}
    for what in ("flips", "pass_rates", "run_noise", "spread", "gaps"):
        assert json.loads(orchbench("consistency", warehouse, what, "--format", "json").stdout)


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
    small = ("--models", 2, "--scenarios", 1, "--runs", 1)
    monkeypatch.chdir(tmp_path)
    done = orchbench("demo", "sweep", *small)
    assert done.returncode == 0
    assert "perfect" in done.stdout
    assert "What to try next" in done.stderr
    again = orchbench("demo", "sweep", *small)
    assert again.returncode == 0
    assert "unchanged" in again.stderr

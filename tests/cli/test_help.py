"""What people find out by asking: every command and option says what it does."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli import program
from orchbench_analytics.cli.app import GROUPS
from tests.processes import ORCHBENCH, imported_by


def commands() -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """Every command by the words one types, those of groups too."""
    for name, command in typer.main.get_command(program()).commands.items():
        if command.hidden:  # an earlier name
            continue
        members = getattr(command, "commands", None)
        if members is None:
            yield name, command
        else:
            yield from ((f"{name} {member}", found) for member, found in members.items())


def test_help_names_the_commands() -> None:
    done = subprocess.run([*ORCHBENCH, "--help"], capture_output=True, text=True, check=True)
    assert "leaderboard" in done.stdout


def test_help_imports_nothing_heavy() -> None:
    heavy = ("polars", "duckdb", "pyarrow", "networkx", "numpy", "scipy", "rich")
    assert imported_by("import orchbench_analytics.cli", *heavy) == []


def test_commands_stand_in_the_order_of_work(orchbench) -> None:
    told = orchbench("-h").stdout
    listed = [
        line.split()[0]
        for line in told.splitlines()
        if line.startswith("  ") and line[2:3].islower()
    ]
    assert listed == [name for names in GROUPS.values() for name in names]
    assert {*listed} == {name.split()[0] for name, _ in commands()}
    assert all(f"{heading}:" in told for heading in GROUPS)
    assert "..." not in told.split("Fill a warehouse")[1]


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_and_option_has_its_help(name, command) -> None:
    first = command.help.splitlines()[0]
    assert first.endswith(".")
    assert first[0].isupper()
    for parameter in command.params:
        assert parameter.help, f"{name} {parameter.name}"
        assert parameter.help.rstrip()[-1] in '.)"' or "{" in parameter.help, (
            f"{name} {parameter.name}"
        )


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_page_of_help_fits_and_has_an_example(orchbench, name, command) -> None:
    told = orchbench(*name.split(), "-h").stdout
    assert f"Example: orchbench {name}" in told
    assert "[[" not in told
    assert not re.search(r"<(Path|str|list)|\{[A-Z]|x[<>]=", told)  # Python's types, and ranges
    assert "DIR  [required]" not in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.long
@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_example_works(
    orchbench, monkeypatch, demo: Path, tmp_path: Path, name, command
) -> None:
    if name in ("demo", "view"):
        pytest.skip("made by the fixture of this test, or serves until it is interrupted")
    (tmp_path / "orchbench-demo").mkdir()
    (tmp_path / "orchbench-demo" / "results").symlink_to(demo / "results")
    shutil.copytree(demo / "warehouse", tmp_path / "orchbench-demo" / "warehouse")
    (tmp_path / "tags.csv").write_text("model,step\nperfect,1\nsilent,2\ngraded-1,3\n")
    monkeypatch.chdir(tmp_path)
    if name == "predict":
        orchbench("shortlist", "orchbench-demo/warehouse", "--scenarios", 4, "-o", "few.csv")
    orchbench("tag", "orchbench-demo/warehouse", "tags.csv")
    _, example = command.epilog.split("Example: orchbench ")
    done = orchbench(*shlex.split(example))
    assert done.returncode == 0, done.stderr


def test_the_version_is_there(orchbench) -> None:
    assert orchbench("--version").stdout.startswith("orchbench 1.")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("lead", ["leaderboard"]),
        ("show {} perf", ["perfect", "perfect/baseline"]),
        ("leaderboard {} -m over-e", ["over-eager", "over-eager/baseline"]),
        ("leaderboard {} -p str", ["strict"]),
        ("dictionary scenario_u", ["scenario_usage"]),
        ("leaderboard {} --by si", ["size"]),
        ("show nowhere perf", []),
    ],
)
def test_shells_complete_names(
    demo: Path, tmp_path: Path, words: str, completed: list[str]
) -> None:
    shutil.copytree(demo / "warehouse", tmp_path / "w")
    (tmp_path / "tags.csv").write_text("model,size\nperfect,1\n", encoding="utf-8")
    open_warehouse(tmp_path / "w").tag(tmp_path / "tags.csv")
    typed = f"orchbench {words.format('w')}"
    done = subprocess.run(
        [*ORCHBENCH, "--help"],
        cwd=tmp_path,
        env={
            "_ORCHBENCH_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == completed


def test_every_command_is_in_the_readme() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    names = {name.split()[0] for name, _ in commands()}
    assert [name for name in names if f"orchbench {name}" not in readme] == []

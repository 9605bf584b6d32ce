"""A warehouse that another release made: it opens, says what it lacks, and ingest makes it again.

The other release is a copy of this package with an edited file, in a process of its own.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import orchbench_analytics
from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import OrchbenchError
from orchbench_analytics.profiles import BUILT_IN, SPEC, UPSTREAM, rules_of, updated_profile
from tests.documents import scenario_path, write
from tests.store.roots import Root
from tests.warehouses import contents

pytestmark = pytest.mark.long

PACKAGE = Path(orchbench_analytics.__file__).parent
Edit = tuple[str, str, str]

NEW_COLUMN: Edit = (
    "tables/__init__.py",
    "        STEP_ROW,\n    ),\n)\nPLANS",
    '        STEP_ROW,\n        maybe_text("colour", "New."),\n    ),\n)\nPLANS',
)
FILLS_COLUMN: Edit = (
    "ingest/flatten.py",
    '        "step_key": _row_key(path, step, position),\n',
    '        "step_key": _row_key(path, step, position),\n        "colour": "blue",\n',
)
NEW_RULE: Edit = (
    "profiles.py",
    "    # Function calls: names, keys, values\n",
    "    name_case: str = rule(\n"
    '        "Whether case counts in names.",\n'
    '        {"counts": "It does.", "ignored": "It does not."},\n'
    '        upstream="ignored",\n'
    "    )\n",
)
OTHER_FLATTEN: Edit = (
    "ingest/flatten.py",
    '"answer_agent_id": text_of(entry.agent_id)',
    '"answer_agent_id": "blue"',
)
AGENTS = "select distinct model, answer_agent_id from main.steps order by all"


class Release:
    """A copy of the package with some edits."""

    def __init__(self, place: Path, edits: tuple[Edit, ...]) -> None:
        self.place = place
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE, place / PACKAGE.name, ignore=skip)
        shutil.copytree(PACKAGE.parent / "sql", place / "sql")
        for name, old, new in edits:
            path = place / PACKAGE.name / name
            text = path.read_text(encoding="utf-8")
            assert text.count(old) == 1, (name, old)
            path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, code: str, *arguments: object) -> Any:
        """What code that prints JSON prints, under this release."""
        head = "import json, sys; from orchbench_analytics import open_warehouse; "
        done = subprocess.run(
            [sys.executable, "-c", head + code, *map(str, arguments)],
            cwd=self.place,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def ingest(self, warehouse: str, tree: Path) -> dict[str, int]:
        code = (
            "s = open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2], jobs=1); "
            "print(json.dumps({'taken': s.taken, 'unchanged': s.unchanged}))"
        )
        return self.run(code, warehouse, tree)  # type: ignore[no-any-return]

    def ask(self, warehouse: str, query: str) -> list[list[Any]]:
        code = "print(json.dumps(open_warehouse(sys.argv[1]).sql(sys.argv[2]).rows()))"
        return self.run(code, warehouse, query)  # type: ignore[no-any-return]

    def refusal(self, warehouse: str, query: str) -> str:
        """The sentence in which this release says that it cannot answer."""
        code = (
            "from orchbench_analytics.errors import OrchbenchError\n"
            "try:\n    open_warehouse(sys.argv[1]).sql(sys.argv[2])\n"
            "except OrchbenchError as error:\n    print(json.dumps(str(error)))"
        )
        return self.run(code, warehouse, query)  # type: ignore[no-any-return]


@pytest.fixture
def release(tmp_path: Path) -> Callable[..., Release]:
    return lambda *edits: Release(tmp_path / "release", edits)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for model in ("one", "two"):
        write(scenario_path(tmp_path / "results", model))
    return tmp_path / "results"


@pytest.fixture
def warehouse(root: Root, tree: Path) -> str:
    """The address of a warehouse of this release."""
    root.open().ingest(tree, jobs=1)
    return root.address


def test_rows_are_made_again_after_a_change_of_flatten(
    release: Callable[..., Release], warehouse: str, tree: Path
) -> None:
    other = release(OTHER_FLATTEN)
    before = other.ask(warehouse, AGENTS)

    summary = other.ingest(warehouse, tree)

    assert ["one", "blue"] not in before
    assert summary == {"taken": 2, "unchanged": 0}
    assert other.ask(warehouse, AGENTS) == [["one", "blue"], ["two", "blue"]]
    assert other.ingest(warehouse, tree) == {"taken": 0, "unchanged": 2}


def test_files_outside_the_paths_given_are_read_again_too(
    release: Callable[..., Release], warehouse: str, tree: Path
) -> None:
    other = release(OTHER_FLATTEN)

    other.ingest(warehouse, tree / "one")

    assert other.ask(warehouse, AGENTS) == [["one", "blue"], ["two", "blue"]]


def test_rows_of_files_that_are_gone_stay(
    release: Callable[..., Release], warehouse: str, tree: Path
) -> None:
    shutil.rmtree(tree / "two")
    other = release(NEW_COLUMN, FILLS_COLUMN)

    other.ingest(warehouse, tree)

    colours = "select distinct model, colour from main.steps order by 1"
    assert other.ask(warehouse, colours) == [["one", "blue"], ["two", None]]
    write(scenario_path(tree, "two"))
    other.ingest(warehouse, tree)
    assert other.ask(warehouse, colours) == [["one", "blue"], ["two", "blue"]]


def test_a_new_column_is_lacking_in_a_sentence_and_then_there(
    release: Callable[..., Release], warehouse: str, tree: Path
) -> None:
    other = release(NEW_COLUMN, FILLS_COLUMN)

    said = other.refusal(warehouse, "select colour from main.steps")
    other.ingest(warehouse, tree)

    assert "the table steps was written by another release and lacks the column colour" in said
    assert "orchbench ingest PATH --into" in said
    assert other.ask(warehouse, "select distinct colour from main.steps") == [["blue"]]


def test_a_removed_column_goes(
    release: Callable[..., Release], root: Root, tmp_path: Path, tree: Path
) -> None:
    newer = release(NEW_COLUMN, FILLS_COLUMN)
    newer.ingest(root.address, tree)
    warehouse = root.fresh()

    with pytest.raises(OrchbenchError, match="has the column colour, which this release does not"):
        warehouse.sql("select count(*) from main.steps")
    warehouse.ingest(tree)

    assert "colour" not in warehouse.table("steps").collect().columns
    fresh = open_warehouse(tmp_path / "fresh", create=True)
    fresh.ingest(tree)
    found = contents(warehouse.path)
    for name, rows in contents(fresh.path).items():
        assert found[name].equals(rows)


def test_a_new_rule_is_lacking_in_a_sentence_and_then_there(
    release: Callable[..., Release], warehouse: str, tree: Path
) -> None:
    rules = "select profile, name_case from main.profiles order by 1"
    other = release(NEW_RULE)

    said = other.refusal(warehouse, rules)
    other.ingest(warehouse, tree)

    assert "scored by another release, whose rules were others (name_case)" in said
    assert other.ask(warehouse, rules) == [
        ["spec", "counts"],
        ["strict", "counts"],
        ["upstream", "ignored"],
    ]


def test_a_removed_rule_goes(release: Callable[..., Release], root: Root, tree: Path) -> None:
    release(NEW_RULE).ingest(root.address, tree)
    warehouse = root.fresh()

    with pytest.raises(OrchbenchError, match=r"whose rules were others \(name_case\)"):
        warehouse.leaderboard()
    warehouse.ingest(tree)

    assert len(warehouse.leaderboard()) == 2
    assert "name_case" not in warehouse.profiles().columns


def test_scoring_under_one_profile_after_a_change_of_code_loses_no_other(
    release: Callable[..., Release], warehouse: str
) -> None:
    other = release(("score/steps/score.py", "_CALL = pl.lit", "\n_CALL = pl.lit"))

    other.run("open_warehouse(sys.argv[1]).score(profile='strict', jobs=1)", warehouse)

    models = open_warehouse(warehouse).table("scenario_scores").collect()
    assert models.group_by("profile").len().sort("profile").rows() == [
        (profile, 2) for profile in sorted(BUILT_IN)
    ]


@pytest.mark.parametrize("base", [SPEC, UPSTREAM])
def test_a_profile_of_another_release_keeps_its_choices(base: Any) -> None:
    stored = rules_of(base) | {"name": "mine", "agent_weight": 0.5, "gone": "x", "silence": "odd"}
    del stored["rounding"]

    updated = updated_profile(stored)

    assert (updated.name, updated.agent_weight) == ("mine", 0.5)
    assert (updated.rounding, updated.silence) == (base.rounding, base.silence)


def test_stored_columns_name_what_was_written(warehouse: str) -> None:
    manifest = open_warehouse(warehouse).manifest()

    assert all(part.made_by and part.columns_id for part in manifest.parts)
    assert all(group.columns_id for group in manifest.scores)
    assert isinstance(open_warehouse(warehouse).table("steps").collect(), pl.DataFrame)

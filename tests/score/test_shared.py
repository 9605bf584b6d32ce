"""What profiles share is scored once, and is the same as if each had been scored alone."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl
import pytest

from orchbench_analytics.engines import Here
from orchbench_analytics.profiles import SPEC, UPSTREAM, Profile, flip, rule_choices
from orchbench_analytics.score import pipeline
from orchbench_analytics.store.manifest import Manifest, load_manifest, table_files
from orchbench_analytics.store.parquet import scan_files
from orchbench_analytics.tables import SCORED_TABLES
from tests.golden.pack import golden_warehouse


@pytest.fixture
def root(make_once, tmp_path: Path) -> Path:
    return Path(
        shutil.copytree(make_once("golden", golden_warehouse) / "warehouse", tmp_path / "wh")
    )


def variants() -> Iterator[Profile]:
    """Profiles that differ from a built-in one in a single rule."""
    for rule in rule_choices():
        if getattr(SPEC, rule) != getattr(UPSTREAM, rule):
            yield flip(SPEC, rule, UPSTREAM)
    yield replace(SPEC, name="weighty", agent_weight=0.5)
    yield replace(SPEC, name="renamed")


def scores(root: Path, manifest: Manifest, table: str, profile: str) -> pl.DataFrame:
    return scan_files(table_files(root, manifest, table)).filter(profile=profile).collect()


def test_shared_scores_are_what_scoring_alone_gives(root: Path, tmp_path: Path) -> None:
    profiles = list(variants())
    manifest = load_manifest(root)
    bare = msgspec.structs.replace(manifest, scores=[], profiles={})
    alone_root = Path(shutil.copytree(root, tmp_path / "alone"))
    alone = pipeline.score(alone_root, bare, profiles, Here())

    shared = pipeline.score(root, manifest, profiles, Here())

    for profile in profiles:
        for table in SCORED_TABLES:
            found = scores(root, shared, table.name, profile.name)
            wanted = scores(alone_root, alone, table.name, profile.name)
            assert found.equals(wanted), (profile.name, table.name)


@pytest.mark.parametrize(
    ("changed", "prepared", "drawn"),
    [({"silence": "call"}, 1, 0), ({"agent_weight": 0.5}, 0, 1), ({}, 0, 0)],
)
def test_only_what_the_rules_change_is_scored(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, str | float],
    prepared: int,
    drawn: int,
) -> None:
    asked = []
    for name in ("prepare_steps", "prepare_plans"):
        function = getattr(pipeline, name)

        def spy(*arguments: object, name: str = name, function=function) -> object:
            asked.append(name)
            return function(*arguments)

        monkeypatch.setattr(pipeline, name, spy)

    pipeline.score(root, load_manifest(root), [replace(SPEC, name="mine", **changed)], Here())

    assert (asked.count("prepare_steps"), asked.count("prepare_plans")) == (prepared, drawn)


def test_damaged_scores_are_not_shared(root: Path) -> None:
    manifest = load_manifest(root)
    mine = replace(SPEC, name="mine")
    wanted = scores(root, manifest, "scored_plans", "spec")["plan_similarity"]
    for group in manifest.scores:
        file = root / group.directory / "scored_plans.parquet"
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(bytes(content))

    scored = pipeline.score(root, manifest, [mine], Here())

    (group,) = (group for group in scored.scores if group.profile == "mine")
    found = pl.read_parquet(root / group.directory / "scored_plans.parquet")["plan_similarity"]
    assert found.equals(wanted)

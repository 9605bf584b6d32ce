"""Kills at random moments of everything that changes a warehouse, with readers in a loop."""

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orchbench_analytics.ingest.update
from orchbench_analytics import open_warehouse
from tests.ingest.test_kill import MODELS, change_tree, write_tree
from tests.torture.digests import EXPORTED, differences, digest_of, digest_of_export
from tests.torture.figures import Campaign
from tests.torture.leftovers import leftovers
from tests.torture.processes import Running, start

_KILLS_BETWEEN_LOOKS = 40
_LOOKS_AT_A_TREE = 2
_LONGEST_SECONDS = 300
_TARGETS = ("out", "out.csv", "out.duckdb", "out.sqlite")


# Whoever is on the leaderboard has scenarios in the same state of the warehouse.
_UNSCORED = """
    select profile, model, experiment, language, scenario
    from main.leaderboard
    left join main.scenarios using (model, experiment)
    where scenarios.scenario is null
"""


class Room(NamedTuple):
    """Where a campaign works: the tree, the warehouse, tags, a profile, and exports."""

    path: Path

    @property
    def tree(self) -> Path:
        return self.path / "tree"

    @property
    def warehouse(self) -> Path:
        return self.path / "warehouse"

    @property
    def fresh(self) -> "Room":
        """The same tree, with a warehouse that nothing disturbs."""
        beside = Room(self.path / "fresh")
        shutil.rmtree(beside.path, ignore_errors=True)
        beside.path.mkdir()
        beside.tree.symlink_to(self.tree)
        for name in ("tags.csv", "mine.toml"):
            shutil.copy(self.path / name, beside.path / name)
        return beside


def ingest(room: Room) -> None:
    orchbench_analytics.ingest.update._PART_BYTES = 10_000
    opened = open_warehouse(room.warehouse, create=True)
    opened.ingest(room.tree.resolve(), jobs=1, prune=True)


def score(room: Room) -> None:
    open_warehouse(room.warehouse).score(profile=str(room.path / "mine.toml"), jobs=1)


def tag(room: Room) -> None:
    open_warehouse(room.warehouse).tag(room.path / "tags.csv", replace=True)


def remove(room: Room) -> None:
    """Remove a model, a profile and all tags."""
    opened = open_warehouse(room.warehouse)
    model = random.Random().choice(MODELS)
    there = model in opened.models()["model"]
    profiles = [name for name in opened.manifest().profiles if name == "mine"]
    opened.remove(models=[model] if there else [], profiles=profiles, tags=True, jobs=1)


def export(room: Room) -> None:
    target = random.Random().choice(_TARGETS)
    open_warehouse(room.warehouse).export(room.path / target, tables=EXPORTED, overwrite=True)


def complete(room: Room) -> None:
    """All of it, undisturbed."""
    ingest(room)
    score(room)
    tag(room)
    opened = open_warehouse(room.warehouse)
    for target in (_TARGETS[0], random.Random().choice(_TARGETS[1:])):
        opened.export(room.path / target, tables=EXPORTED)


def digest(room: Room) -> dict[str, str]:
    return digest_of(room.warehouse) | digest_of_export(room.path / "out")


def read_once(room: Room) -> str:
    """What a reader sees is sound: scores have scenarios, and every byte is as written."""
    opened = open_warehouse(room.warehouse)
    manifest = opened.manifest()
    with opened.connect(only=["leaderboard"]) as connection:
        time.sleep(random.Random().uniform(0, 1))  # so that it goes on while others write
        offending = connection.sql(_UNSCORED).fetchall()
        assert not offending, offending
        connection.sql("from main.leaderboard").fetchall()
    findings = opened.verify()
    assert not findings or opened.manifest() != manifest, findings
    return "read"


ACTIONS: tuple[Callable[[Room], None], ...] = (ingest, ingest, score, tag, export, remove)


def kill_at_random(campaign: Campaign, path: Path, chance: random.Random) -> None:
    """Kill until there were enough; from time to time, complete it all and compare."""
    room = Room(path)
    write_tree(room.tree)
    (path / "tags.csv").write_text("model,size\nalpha,7\norg/beta,70\n", encoding="utf-8")
    (path / "mine.toml").write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    start(complete, room).result()
    expected = _expected(room)
    reader = start(read_once, room)
    next_look = _KILLS_BETWEEN_LOOKS
    longest = dict.fromkeys((action.__name__ for action in ACTIONS), 2.0)
    while campaign.goes_on:
        action = chance.choice(ACTIONS)
        began = time.monotonic()
        running = start(action, room)
        running.process.join(chance.uniform(0, longest[action.__name__]))
        took = time.monotonic() - began
        if running.process.is_alive():
            running.process.kill()
            running.process.join()
            campaign.done += 1
            campaign.counts[f"killed {action.__name__}"] += 1
            _require_clear(campaign, room, action)
        else:
            longest[action.__name__] = min(2 * took, 5.0)
            _require(campaign, running, action.__name__)
        if not reader.process.is_alive():
            if _require(campaign, reader, "a reader"):
                campaign.counts["reads beside it"] += 1
            reader = start(read_once, room)
        if campaign.done < next_look:
            continue
        next_look += _KILLS_BETWEEN_LOOKS
        _compare(campaign, room, expected)
        campaign.note()
        if campaign.counts["digests equal"] % _LOOKS_AT_A_TREE == 0:
            change_tree(room.tree, chance)
            expected = _expected(room)
    _compare(campaign, room, expected)
    reader.process.kill()


def _require_clear(campaign: Campaign, room: Room, killed: Callable[[Room], None]) -> None:
    """Let the next command clear what a killed one left: an export beside it, or any writer."""
    if leftovers(room.warehouse):
        campaign.counts["kills with leftovers"] += 1
    following = export if killed is export else tag
    if _require(campaign, start(following, room), f"{following.__name__} after a kill"):
        left = leftovers(room.warehouse)
        staged = {name for name in left if name.endswith(".part")}
        wrong = staged if killed is export else left - staged
        if wrong:
            campaign.fail(f"left after a killed {killed.__name__}: {', '.join(sorted(wrong))}")


def _expected(room: Room) -> dict[str, str]:
    fresh = room.fresh
    start(complete, fresh).result(_LONGEST_SECONDS)
    found: dict[str, str] = start(digest, fresh).result(_LONGEST_SECONDS)
    return found


def _compare(campaign: Campaign, room: Room, expected: dict[str, str]) -> None:
    """Complete what was killed; then everything must be as if nothing had happened."""
    if not _require(campaign, start(complete, room), "completing"):
        return
    found = start(digest, room).result(_LONGEST_SECONDS)
    if other := differences(found, expected):
        campaign.fail(f"after {campaign.done} kills these differ: {', '.join(other)}")
    else:
        campaign.counts["digests equal"] += 1


def _require(campaign: Campaign, running: Running, what: str) -> bool:
    try:
        running.result(_LONGEST_SECONDS)
    except AssertionError as error:
        campaign.fail(f"{what} failed: {error}")
        return False
    return True

"""Single bits flipped in all files of a warehouse: each is harmless, repaired or named."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import OrchbenchError
from tests.ingest.test_kill import write_tree
from tests.torture.digests import differences, digest_of_tables
from tests.torture.figures import Campaign
from tests.torture.kills import Room, complete
from tests.torture.processes import start

_BATCH = 50
_LONGEST_SECONDS = 600
_REPAIRED_OF_A_BATCH = 2
_ONE_READ_OF = 5


def flip_bits(campaign: Campaign, path: Path, chance: random.Random) -> None:
    """Flip bits batch after batch, each in a process of its own."""
    room = Room(path)
    _prepare(room)
    expected = start(digest_of_tables, room.warehouse).result(_LONGEST_SECONDS)
    whole = shutil.copytree(room.warehouse, path / "whole")
    while campaign.goes_on:
        seed = chance.randrange(2**32)
        try:
            outcomes = start(try_batch, room, whole, seed, expected).result(_LONGEST_SECONDS)
            campaign.counts.update(outcomes)
        except AssertionError as error:
            campaign.fail(f"batch of seed {seed}: {error}")
        campaign.done += _BATCH
        campaign.note()


def _prepare(room: Room) -> None:
    write_tree(room.tree)
    (room.path / "tags.csv").write_text("model,size\nalpha,7\n", encoding="utf-8")
    (room.path / "mine.toml").write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    start(complete, room).result(_LONGEST_SECONDS)


def try_batch(room: Room, whole: Path, seed: int, expected: dict[str, str]) -> list[str]:
    """What came of some flips; the warehouse is whole again after each."""
    chance = random.Random(seed)
    files = [path for path in sorted(whole.rglob("*")) if path.is_file() and path.stat().st_size]
    sizes = [path.stat().st_size for path in files]
    outcomes = []
    shutil.rmtree(room.warehouse)
    shutil.copytree(whole, room.warehouse)
    for number in range(_BATCH):
        # Half of them by size, half of them by file: small ones matter as much.
        (file,) = chance.choices(files, sizes if number % 2 else None)
        bit = chance.randrange(8 * file.stat().st_size)
        is_repaired = number < _REPAIRED_OF_A_BATCH
        target = room.warehouse / file.relative_to(whole)
        _flip(target, bit)
        try:
            outcomes += _outcomes(
                room, target, expected, is_repaired=is_repaired, is_read=not number % _ONE_READ_OF
            )
        except BaseException as error:
            error.add_note(f"bit {bit} of {target}")
            raise
        if is_repaired:
            shutil.rmtree(room.warehouse)
            shutil.copytree(whole, room.warehouse)
        else:
            shutil.copy2(file, target)
    return outcomes


def _flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def _outcomes(
    room: Room, flipped: Path, expected: dict[str, str], *, is_repaired: bool, is_read: bool
) -> list[str]:
    opened_names = _named(room.warehouse)
    if flipped not in opened_names:
        assert not opened_names, f"{opened_names} in place of {flipped}"
        other = differences(digest_of_tables(room.warehouse), expected)
        assert not other, f"nothing is said, yet these differ: {other}"
        return ["harmless", *_repaired(room, expected, is_wanted=is_repaired)]
    if is_read:
        said = _said_by(lambda: digest_of_tables(room.warehouse))
        assert said is None or str(flipped) in said, said
        read = "named, read all the same" if said is None else "named, by the reader too"
    else:
        read = "named"
    return [read, *_repaired(room, expected, is_wanted=is_repaired)]


def _named(warehouse: Path) -> list[Path]:
    """The files that are said to be damaged."""
    said = _said_by(lambda: open_warehouse(warehouse))
    if said is not None:
        assert str(warehouse / "manifest.json") in said, said
        return [warehouse / "manifest.json"]
    return [warehouse / finding.name for finding in open_warehouse(warehouse).verify()]


def _said_by(read: Callable[[], object]) -> str | None:
    """What is said when something cannot be read; any other error than ours is a failure."""
    try:
        read()
    except OrchbenchError as error:
        return str(error)
    return None


def _repaired(room: Room, expected: dict[str, str], *, is_wanted: bool) -> list[str]:
    """Whether the next ingest makes it good; what cannot be made again is named instead."""
    if not is_wanted:
        return []
    try:
        opened = open_warehouse(room.warehouse)
        opened.ingest(room.tree, jobs=1, verify=True)
        opened.score(profile=str(room.path / "mine.toml"), jobs=1)
    except OrchbenchError:
        return ["not repaired, and said so"]
    named = [finding.name for finding in opened.verify()]
    if named:
        assert all(name.startswith("model_tags/") for name in named), named
        return ["not repaired, and said so"]
    other = differences(digest_of_tables(room.warehouse), expected)
    assert not other, f"repaired, yet these differ: {other}"
    return ["whole after the next ingest"]

"""Damaged files: each command answers as if nothing had happened, or names the file."""

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.processes import ORCHBENCH
from tests.sample_sweep import build_demo
from tests.torture.figures import Campaign

_LONGEST_SECONDS = 300
# Steps are read without a hash: `check` is for those, and `sql` where it can.
_ROW_LEVEL = ("steps", "plans", "judgements", "arguments", "plan_edits", "plan_matches")
COMMANDS = (
    ("leaderboard", "-f", "csv"),
    ("leaderboard", "-p", "strict", "-f", "csv"),
    ("compare", "graded-1", "graded-2", "-f", "csv"),
    ("results", "perfect", "-l", "EN"),
    ("consistency", "-f", "csv"),
    ("show", "graded-1", "-f", "csv"),
    ("sources", "-f", "csv"),
    ("sql", "select * from main.model_tags order by all", "-f", "csv"),
    ("sql", "select * from main.scored_steps order by all", "-f", "csv"),
    ("check",),
)


class Answer(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    rows: str
    words: str


def spoil(campaign: Campaign, path: Path, chance: random.Random) -> None:
    """Damage one file after another, and give every command to each."""
    build_demo(path / "demo")
    whole = path / "demo" / "warehouse"
    (path / "tags.csv").write_text("model,size\nperfect,7\n", encoding="utf-8")
    _ask(whole, ("tag", str(path / "tags.csv")))
    expected = [_ask(whole, command) for command in COMMANDS]
    files = [file for file in sorted(whole.rglob("*")) if file.suffix in (".parquet", ".json")]
    named = [file for file in files if file.name not in ("files.json", "note.json")]
    while campaign.goes_on:
        # Every table as often as every other, however many files it has.
        kind = chance.choice(sorted({_kind(file) for file in named}))
        file = chance.choice([file for file in named if _kind(file) == kind])
        damage = chance.choice(DAMAGES)
        content = file.read_bytes()
        damage(file, chance)
        for command, answer in zip(COMMANDS, expected, strict=True):
            outcome = _outcome(_ask(whole, command), answer, file, is_checked=command[0] == "check")
            campaign.counts[outcome] += 1
            if outcome.startswith("wrong"):
                campaign.fail(f"{outcome}: {damage.__name__} {kind}, {' '.join(command)}")
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        campaign.done += 1
        campaign.note()


def _kind(file: Path) -> str:
    return file.parent.name if file.stem.isdigit() else file.stem


def _outcome(found: Answer, expected: Answer, file: Path, *, is_checked: bool) -> str:
    if "Traceback" in found.words:
        return "wrong: a traceback"
    if found.code in (1, 2) and str(file) in found.words:
        return "named"
    if is_checked:
        return "wrong: check did not name the file"
    if (found.code, found.rows) == (expected.code, expected.rows):
        return "not read, or harmless"
    if found.code == 0 and any(word in file.stem for word in _ROW_LEVEL):
        return "other rows of steps, which check names"
    return "wrong: another answer"


def _ask(warehouse: Path, command: tuple[str, ...]) -> Answer:
    name, *options = command
    done = subprocess.run(
        [*ORCHBENCH, name, str(warehouse), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=_LONGEST_SECONDS,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def flipped(file: Path, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    bit = chance.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


def zeroed(file: Path, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    start = chance.randrange(len(content))
    content[start : start + 64] = bytes(len(content[start : start + 64]))
    file.write_bytes(content)


def cut(file: Path, chance: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: chance.randrange(len(content))])


def swapped(file: Path, chance: random.Random) -> None:
    """Put another file of the same warehouse in its place."""
    others = sorted(file.parent.parent.rglob("*.parquet"))
    shutil.copy(chance.choice([other for other in others if other != file] or [file]), file)


def gone(file: Path, _: random.Random) -> None:
    file.unlink()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (flipped, zeroed, cut, swapped, gone)

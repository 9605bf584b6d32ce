"""What the README says the commands print is what they print."""

import subprocess
from pathlib import Path

import pytest

from tests.processes import ORCHBENCH
from tests.readme import README, Transcript, shown, transcripts

TRANSCRIPTS = list(transcripts(README.read_text(encoding="utf-8")))


def make_demo(directory: Path) -> None:
    directory.mkdir()
    subprocess.run([*ORCHBENCH, "demo", "demo", "-q"], cwd=directory, check=True)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda t: t.command.split("\n")[0])
def test_a_command_prints_what_the_readme_says(make_once, transcript: Transcript) -> None:
    assert shown(transcript, make_once("readme", make_demo)) == transcript.lines


def test_the_readme_shows_a_session() -> None:
    assert len(TRANSCRIPTS) >= 4

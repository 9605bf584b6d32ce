"""What the README and the documentation say the commands print is what they print."""

import subprocess
from pathlib import Path

import pytest

from tests.processes import ORCHBENCH
from tests.readme import PAGES, ROOT, shown, transcripts

TRANSCRIPTS = {
    str(page.relative_to(ROOT)): found
    for page in PAGES
    if (found := list(transcripts(page.read_text(encoding="utf-8"))))
}


@pytest.mark.long
@pytest.mark.parametrize("page", TRANSCRIPTS)
def test_the_commands_of_a_page_print_what_it_says(page: str, tmp_path: Path) -> None:
    """In the order of the page, on a demo of its own: a tutorial builds on what it did before."""
    subprocess.run([*ORCHBENCH, "demo", "demo", "-q"], cwd=tmp_path, check=True)
    for transcript in TRANSCRIPTS[page]:
        assert shown(transcript, tmp_path) == transcript.lines, transcript.command


def test_the_readme_and_the_start_page_show_a_session() -> None:
    assert len(TRANSCRIPTS["README.md"]) >= 4
    assert len(TRANSCRIPTS["docs/index.md"]) >= 5

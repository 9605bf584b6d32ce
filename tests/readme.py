"""The transcripts of the README and the documentation: commands are run, and output is compared.

`python -m tests.readme` writes what the commands print now into the pages; look at the diff.
A block that ends with `…` shows the first lines only.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.cli.pseudo_terminal import read_to_end
from tests.processes import ORCHBENCH

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
_COLUMNS, _LINES = 80, 50


class Transcript(NamedTuple):
    """A command of a page, and the lines that it is said to print."""

    command: str
    lines: list[str]

    @property
    def is_cut(self) -> bool:
        """Whether only the first lines are shown."""
        return self.lines[-1:] == ["…"]


def transcripts(text: str) -> Iterator[Transcript]:
    """Every command of the console blocks; a command may go on over indented lines."""
    for block in _BLOCK.findall(text):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = piece.splitlines()
            count = 1
            while lines[:count] and "\n".join(lines[:count]).count('"') % 2:
                count += 1
            yield Transcript("\n".join(lines[:count]), lines[count:])


def printed(command: str, directory: Path) -> list[str]:
    """What a command of ours prints on a terminal of 80 columns."""
    arguments = command.removeprefix("orchbench ")
    ours = " ".join(f"'{word}'" for word in ORCHBENCH)
    terminal, ours_end = pty.openpty()
    fcntl.ioctl(ours_end, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
    environment = os.environ | {"NO_COLOR": "1", "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        ["bash", "-c", f"{ours} {arguments}"],
        stdin=ours_end,
        stdout=ours_end,
        stderr=ours_end,
        cwd=directory,
        env=environment,
    )
    os.close(ours_end)
    output = read_to_end(terminal)
    process.wait()
    os.close(terminal)
    return [line.rstrip() for line in output.decode().replace("\r", "").splitlines()]


def shown(transcript: Transcript, directory: Path) -> list[str]:
    """The lines that a page should have for a command."""
    lines = printed(transcript.command, directory)
    if transcript.is_cut:
        lines = [*lines[: len(transcript.lines) - 1], "…"]
    return lines


def main() -> None:
    """Write into the pages what their commands print now; each page has a demo of its own."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = list(transcripts(text))
        if not found:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([*ORCHBENCH, "demo", "demo", "-q"], cwd=scratch, check=True)
            for transcript in found:
                old = "\n".join([f"$ {transcript.command}", *transcript.lines])
                new = "\n".join([f"$ {transcript.command}", *shown(transcript, Path(scratch))])
                text = text.replace(f"{old}\n", f"{new}\n", 1)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

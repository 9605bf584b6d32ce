"""A real pseudo-terminal to run commands on."""

import json
import os
import pty
import struct
import sys
import termios
from collections.abc import Iterable, Sequence
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

MAIN = "from orchbench_analytics.cli import main; main()"
BETWEEN = "\x1e"  # what no command prints
ONE_AFTER_ANOTHER = f"""
import json, sys
from orchbench_analytics.cli import main
for command in json.loads(sys.argv.pop()):
    sys.argv[1:] = command
    try:
        main()
    except SystemExit as ended:
        print(ended.code or 0, end={BETWEEN!r}, flush=True)
"""


class Screen(NamedTuple):
    returncode: int
    text: str


def on_terminal(
    *arguments: object,
    columns: int = 80,
    lines: int = 24,
    cwd: Path | None = None,
    typed: str = "",
    code: str = MAIN,
    **environment: str,
) -> Screen:
    """Run a command on a terminal of its own; what is typed is there from the start."""
    process, terminal = pty.fork()
    if process == 0:
        ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if cwd is not None:
            os.chdir(cwd)
        known = {"TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2])}
        variables = {**os.environ, **known, "NO_COLOR": "1", **environment}
        variables.pop("COLUMNS", None)
        variables.pop("LINES", None)
        os.execvpe(sys.executable, [sys.executable, "-c", code, *map(str, arguments)], variables)
    if typed:
        os.write(terminal, typed.encode())
    received = read_to_end(terminal)
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return Screen(os.waitstatus_to_exitcode(status), received.decode().replace("\r\n", "\n"))


def commands_on_terminal(commands: Iterable[Sequence[str]], *, cwd: Path) -> list[Screen]:
    """Run commands one after another in one process, which imports everything once."""
    together = on_terminal(json.dumps([*commands]), cwd=cwd, code=ONE_AFTER_ANOTHER)
    screens = []
    for shown in together.text.split(BETWEEN)[:-1]:
        text, _, code = shown.rpartition("\n")
        screens.append(Screen(int(code), f"{text}\n"))
    return screens


def read_to_end(terminal: int) -> bytes:
    """Everything that comes out of a terminal until its other end is closed."""
    received = bytearray()
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        received += chunk
    return bytes(received)
